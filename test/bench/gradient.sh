# shellcheck shell=bash disable=SC2154
# Mechanism "gradient": time against avg() of the same columns, and accuracy at
# total (epsilon, 1e-6).  DIFFPRIVLIB=DIR, a source tree of diffprivlib, adds its
# logistic regression on the same rows.

gradient() {	# gradient NAME TABLE LABEL FEATURES MORE EPSILON: the statement
	printf "SELECT privpred.create_model('%s', '%s', label => '%s', features => '%s', mechanism => 'gradient', epsilon => %s%s);" \
		"$1" "$2" "$3" "$4" "$6" "$5"
}

chapter "gradient: training on 1,000,000 rows"
sql -c "SELECT make_rows('gradient_rows', 1000000)" -c "SELECT privpred.protect('gradient_rows', declared_units => 1000000)" \
	-c "VACUUM gradient_rows" -c CHECKPOINT >/dev/null
one_process="SET max_parallel_workers_per_gather = 0;"
for ((i = 0; i <= repeat; i++)); do
	time_of_avg=$(milliseconds "$one_process" "SELECT $(each_column 'avg(f%g)') FROM gradient_rows;")
	time_of_gradient=$(milliseconds "$one_process" "$(gradient bench gradient_rows y "$features" "" 1)")
	sql -c "SELECT privpred.drop_model('bench')" >/dev/null
	[ $i -gt 0 ] || continue	# the first run warms up
	sample gradient/avg "$time_of_avg"
	sample gradient/train "$time_of_gradient"
done
sql -c "DROP TABLE gradient_rows" >/dev/null

# gradient_accuracy DATA LABEL FEATURES MORE EPSILON...
gradient_accuracy() {
	local name=$1 label=$2 list=$3 more=$4 epsilon
	shift 4
	for split in train test; do
		[ "$(sql -c "SELECT to_regclass('${name}_$split') IS NULL")" = f ] || load_data "$name" $split
	done
	sql -c "SELECT privpred.protect('${name}_train', declared_units => count(*)) FROM ${name}_train" >/dev/null
	for epsilon; do
		for ((i = 0; i < repeat; i++)); do
			sql -c "$(gradient bench "${name}_train" "$label" "$list" "$more" "$epsilon")" >/dev/null
			sample "gradient/$name/$epsilon" "$(sql -c "SELECT private_accuracy FROM privpred.evaluate('bench', '${name}_test')")"
			sql -c "SELECT privpred.drop_model('bench')" >/dev/null
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

if [ -n "$data" ]; then
	. test/bench/load.sh
	chapter "gradient: accuracy"
	gradient_accuracy adult y "[$(seq -s, -f '"f%g"' 50)]" ", classes => '{0,1}'" 0.1 0.5 1 8
	[ ! -r "$data/mnist7x7_train.csv.gz" ] ||
		gradient_accuracy mnist7x7 digit "{$(seq -s, -f '"p%g": {"min": 0, "max": 255}' 49)}" ", classes => '{0,1,2,3,4,5,6,7,8,9}'" 0.1 1 8
	[ -z "${DIFFPRIVLIB:-}" ] || diffprivlib_accuracy >>"$samples"
fi
