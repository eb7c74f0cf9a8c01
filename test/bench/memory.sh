# shellcheck shell=bash disable=SC2154
# Private memory (RssAnon) of the backend that trains, at its peak, beyond what
# it had before; with maintenance_work_mem as shipped.

rows=2000000
[ "${BIG:-0}" != 1 ] || rows=10000000
chapter "memory: training on $rows rows"
table=rows_$rows
[ "$(sql -c "SELECT to_regclass('$table')")" ] || sql -c "SELECT make_rows('$table', $rows)" >/dev/null
sample fact:memory_rows "$rows"
sample fact:maintenance_work_mem "$(sql -c "SELECT setting::bigint / 1024 FROM pg_settings WHERE name = 'maintenance_work_mem'")"
for learner in linear naive_bayes centroid logistic; do
	train memory "$table" $learner 100 >"$sandbox/tmp/train.sql"
	perl test/bench/watch_memory.pl "$sandbox/tmp/train.sql" >"$sandbox/tmp/memory"
	read -r growth highest <"$sandbox/tmp/memory"
	sample "memory/growth/$learner" "$growth"
	sample "memory/VmHWM/$learner" "$highest"
	sample "memory/model/$learner" "$(sql -c "SELECT pg_column_size(predictor) / 1048576.0 FROM privpred.model WHERE name = 'memory'")"
	sql -c "SELECT privpred.drop_model('memory')" >/dev/null
done
