# shellcheck shell=bash disable=SC2154
# Mechanism "gradient": time against avg() of the same columns, and accuracy at
# total (epsilon, 1e-6).  DIFFPRIVLIB=DIR, a source tree of diffprivlib, adds its
# logistic regression on the same rows.

gradient() {	# gradient NAME TABLE LABEL FEATURES MORE EPSILON: the statement
	printf "SELECT privpred.create_model('%s', '%s', label => '%s', features => '%s', mechanism => 'gradient', epsilon => %s%s);" \
		"$1" "$2" "$3" "$4" "$6" "$5"
}

chapter "gradient: training on 1,000,000 rows"
need_rows 1000000
for ((i = 0; i <= repeat; i++)); do
	time_of_avg=$(milliseconds "$serial" "$avg rows_1000000;")
	time_of_gradient=$(milliseconds "$serial" "$(gradient gradient rows_1000000 y "$features" "" 1)")
	forget gradient
	[ $i -gt 0 ] || continue	# the first run warms up
	sample gradient/avg "$time_of_avg"
	sample gradient/train "$time_of_gradient"
done

# gradient_accuracy DATA LABEL FEATURES MORE EPSILON...
gradient_accuracy() {
	local name=$1 label=$2 list=$3 more=$4 epsilon
	shift 4
	need_data "$name"
	for epsilon; do
		for ((i = 0; i < repeat; i++)); do
			sql -c "$(gradient gradient "${name}_train" "$label" "$list" "$more" "$epsilon")" >/dev/null
			sample "gradient/$name/$epsilon" "$(sql -c "SELECT private_accuracy FROM privpred.evaluate('gradient', '${name}_test')")"
			forget gradient
		done
	done
}

# diffprivlib's logistic regression, features as above, rows of norm 4 at most
diffprivlib_accuracy() {
	PYTHONPATH=$DIFFPRIVLIB "$python" - "$data" "$repeat" <<-'PYTHON'
		import gzip, sys, warnings
		import numpy as np
		from diffprivlib.models import LogisticRegression
		warnings.simplefilter("ignore")
		def read(split):
		    rows = np.loadtxt(gzip.open("%s/adult_%s.csv.gz" % (sys.argv[1], split), "rt"), delimiter=",", skiprows=1)
		    return rows[:, 1:-1], rows[:, -1]
		(x, y), (tx, ty) = read("train"), read("test")
		for epsilon in (0.1, 0.5, 1, 8):
		    for seed in range(int(sys.argv[2])):
		        model = LogisticRegression(epsilon=epsilon, data_norm=4, random_state=seed, max_iter=500).fit(x, y)
		        print("diffprivlib/adult/%g\t%g" % (epsilon, model.score(tx, ty)))
	PYTHON
}

if have_data adult; then
	chapter "gradient: accuracy"
	gradient_accuracy adult "${of_adult[@]}" 0.1 0.5 1 8
	! have_data mnist7x7 || gradient_accuracy mnist7x7 "${of_mnist7x7[@]}" 0.1 1 8
	if [ -n "${DIFFPRIVLIB:-}" ]; then
		chapter "gradient: diffprivlib"
		diffprivlib_accuracy >>"$samples"
	fi
fi
