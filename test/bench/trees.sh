# shellcheck shell=bash disable=SC2154
# Boosted teachers on rows that were not trained on, beside logistic ones; the
# time of training and of an answer.  Needs DATA and XGBoost.

# measure_trees DATA LEARNER TEACHERS EPSILON OPTIONS LABEL FEATURES MORE: trains, and
# samples seconds and the accuracies of both kinds of account
measure_trees() {
	local answer
	sample "trees/seconds/$1/$2/$3/$4" "$(milliseconds "SET maintenance_work_mem = '1GB'; SET max_parallel_workers_per_gather = 0;" \
		"SELECT privpred.create_model('trees', '$1_train', label => '$6', features => '$7', learner => '$2',
			teachers => $3, epsilon => $4, options => '$5' $8);" | awk '{ print $1 / 1000 }')"
	answer=$(sql -F ' ' -c "SELECT private_accuracy, approximate_accuracy FROM privpred.evaluate('trees', '$1_test')")
	sample "trees/private/$1/$2/$3/$4" "${answer% *}"
	sample "trees/approximate/$1/$2/$3/$4" "${answer#* }"
	note "$1, $3 teachers of $2, epsilon $4: $answer"
}

# Microseconds of an answer by the model that was trained last, on Adult.
measure_answer() {
	local array="ARRAY[$(seq -s, -f 'f%g' 50)]" from="FROM tree_questions" with without
	sql >/dev/null <<-SQL
		SELECT privpred.grant_budget('analyst', 'adult_train', epsilon => 1000000);
		CREATE TABLE tree_questions AS SELECT $array AS a FROM adult_test, generate_series(1, 3);
		GRANT SELECT ON tree_questions TO analyst;
		VACUUM ANALYZE tree_questions;
	SQL
	local session="SET ROLE analyst; SET privpred.max_answers_per_statement = -1;
		SET max_parallel_workers_per_gather = 0;
		SELECT count(private_predict('trees', a)) FROM (SELECT a $from LIMIT 100) s;"
	for ((i = 0; i < repeat; i++)); do
		without=$(milliseconds "$session" "SELECT count(a) $from;")
		with=$(milliseconds "$session" "SELECT count(private_predict('trees', a)) $from;")
		sample trees/answer "$(awk "BEGIN { print ($with - $without) * 1000 / $(sql -c "SELECT count(*) $from") }")"
	done
}

if ! have_data adult; then
	chapter "trees: left out, they need DATA"
	sample fact:left_out "trees, without DATA"
elif ! sql -c "SELECT privpred.boost(y, ARRAY[y]) FROM generate_series(1, 2) y" >/dev/null 2>&1; then
	chapter "trees: left out, they need XGBoost"
	sample fact:left_out "trees, without XGBoost"
else
	chapter "trees: adult"
	need_data adult
	measure_trees adult boost 25 0.5 '{}' "${of_adult[@]}"
	forget trees
	for learner in tree forest; do
		measure_trees adult $learner 100 0.1 '{}' "${of_adult[@]}"
		forget trees
	done
	measure_trees adult boost 100 0.1 '{"rounds": 30, "depth": 4}' "${of_adult[@]}"
	measure_answer
	forget trees
	if have_data mnist7x7; then
		chapter "trees: mnist7x7"
		need_data mnist7x7
		measure_trees mnist7x7 logistic 50 1 '{}' "${of_mnist7x7[@]}"
		forget trees
		measure_trees mnist7x7 boost 50 1 '{"rounds": 100, "depth": 3, "rate": 0.5}' "${of_mnist7x7[@]}"
		forget trees
	fi
fi
