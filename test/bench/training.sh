# shellcheck shell=bash disable=SC2154
# 100 teachers on n rows x 20 columns, against reading the same rows for avg(),
# and against taking them out of the database for one scikit-learn model.

serial="SET max_parallel_workers_per_gather = 0;"
parallel="SET max_parallel_workers_per_gather = 2;"
avg="SELECT $(each_column 'avg(f%g)') FROM"

# measure_training NAME SETUP TABLE LEARNER
measure_training() {
	sample "$1" "$(milliseconds "$2" "$(train bench "$3" "$4" 100)")"
	sql -c "SELECT privpred.drop_model('bench')" >/dev/null
}

for size in $sizes; do
	chapter "training on $size rows"
	table=rows_$size
	sql -c "SELECT make_rows('$table', $size)" -c "VACUUM $table" -c CHECKPOINT >/dev/null
	sample fact:size "$size"
	milliseconds "$serial" "$avg $table;" >/dev/null
	for ((i = 0; i < repeat; i++)); do
		sample "avg/$size" "$(milliseconds "$serial" "$avg $table;")"
		measure_training "logistic/$size" "$serial" "$table" logistic
		measure_training "logistic, 1 GB/$size" "$serial SET maintenance_work_mem = '1GB';" "$table" logistic
		measure_training "linear/$size" "$serial" "$table" linear
		sample "avg, parallel/$size" "$(milliseconds "$parallel" "$avg $table;")"
		measure_training "logistic, parallel/$size" "$parallel" "$table" logistic
		measure_training "logistic, 1 GB, parallel/$size" "$parallel SET maintenance_work_mem = '1GB';" "$table" logistic
		measure_training "linear, parallel/$size" "$parallel" "$table" linear
		if have_sklearn; then
			"$python" test/bench/sklearn_route.py "$table" >"$sandbox/tmp/sklearn"
			read -r copied total <"$sandbox/tmp/sklearn"
			sample "copy to numpy/$size" "$copied"
			sample "scikit-learn/$size" "$total"
		fi
	done
done
have_sklearn || sample fact:no_sklearn 1
