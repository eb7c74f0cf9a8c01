# shellcheck shell=bash disable=SC2154
# Ten times the rows: the time, and the private memory (RssAnon) of the backend
# that trains at its peak, beyond what it had before, with maintenance_work_mem as
# shipped.  Each measurement stands between two with 1,000,000 rows.

small=1000000
large=0
for size in $sizes; do
	[ "$size" -le "$large" ] || large=$size
done

# watch LEARNER SIZE: trains in one process, and samples time and memory
watch() {
	local growth highest time
	train growth "rows_$2" "$1" 100 >"$sandbox/tmp/train.sql"
	perl test/bench/watch_memory.pl "$sandbox/tmp/train.sql" >"$sandbox/tmp/memory"
	read -r growth highest time <"$sandbox/tmp/memory"
	sample "memory/growth/$1/$2" "$growth"
	sample "memory/VmHWM/$1/$2" "$highest"
	sample "memory/model/$1" "$(sql -c "SELECT pg_column_size(predictor) / 1048576.0 FROM privpred.model WHERE name = 'growth'")"
	forget growth
	if [ "$2" = "$large" ]; then
		sample "$1/$large" "$time"
		sample "large/$1" "$time"	# one for each neighbour
		sample "large/$1" "$time"
	else
		sample "small/$1" "$time"
	fi
}

# in_parallel NAME STATEMENT: with two workers, once
in_parallel() { sample "$1, parallel/$large" "$(milliseconds "$parallel" "$2")"; }

if [ "$large" -le $small ]; then
	chapter "growth: left out, the largest size is $large"
else
	chapter "growth: making $large rows"
	need_rows $small
	need_rows "$large"
	sample fact:size "$large"
	sample fact:large "$large"
	sample fact:maintenance_work_mem "$(sql -c "SELECT setting::bigint / 1024 FROM pg_settings WHERE name = 'maintenance_work_mem'")"
	for learner in linear naive_bayes centroid logistic; do
		chapter "growth: $learner"
		sample "avg/$large" "$(milliseconds "$serial" "$avg rows_$large;")"
		watch $learner $small
		watch $learner "$large"
		watch $learner $small
	done
	chapter "growth: two workers"
	in_parallel avg "$avg rows_$large;"
	for learner in linear logistic; do
		in_parallel $learner "$(train growth "rows_$large" $learner 100)"
		forget growth
	done
	# It has them three times in memory.
	if have_sklearn && [ "$(awk '/^MemAvailable/ { print int($2 / 1024 / 1024) }' /proc/meminfo)" -ge $((large / 700000)) ]; then
		chapter "growth: scikit-learn"
		sklearn_route "$large" copy
	fi
	sql -c "DROP TABLE rows_$large" >/dev/null
fi
