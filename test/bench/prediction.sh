# shellcheck shell=bash disable=SC2154
# Microseconds of one private answer in a warm session: a statement with
# private_predict(), less the same statement without, over its rows.

chapter "prediction: training the models"
sql >/dev/null <<-SQL
	SELECT make_rows('of_2', 50000);
	SELECT make_rows('of_10', 50000, 'floor(5 * (f1 + f2))::int');
	SELECT privpred.grant_budget('analyst', t, epsilon => 1000000) FROM unnest('{of_2,of_10}'::regclass[]) t;
	SELECT make_rows('source', 100000, 0.25);
	CREATE TABLE questions AS
	  SELECT s.*, $array AS a, to_jsonb(s) AS j FROM source s;
	CREATE VIEW rows_alone AS SELECT id, $(each_column 'f%g') FROM questions;
	GRANT SELECT ON questions, rows_alone TO analyst;
	VACUUM ANALYZE questions;
SQL
for classes in 2 10; do
	for teachers in 10 100 1000; do
		sql -o /dev/null -c "SET client_min_messages = warning" \
			-c "$(train "predict_${classes}_$teachers" "of_$classes" logistic "$teachers" \
				"$([ "$classes" = 2 ] || echo ", classes => '{0,1,2,3,4,5,6,7,8,9}'")")"
	done
done
sql -c CHECKPOINT

# measure_prediction FORM CLASSES TEACHERS
measure_prediction() {
	local model="predict_$2_$3" from=questions input count=100000 with without
	[ "$3" -lt 1000 ] || count=20000
	case $1 in
		array) input=$array ;;
		jsonb) input=q.j ;;
		row) input=q from=rows_alone ;;
	esac
	from="FROM $from q WHERE id <= $count"
	local session="SET ROLE analyst; SET privpred.max_answers_per_statement = -1;
		SET max_parallel_workers_per_gather = 0;
		SELECT count($input) $from;
		SELECT count(private_predict('$model', $input)) $from AND id <= 100;"
	without=$(milliseconds "$session" "SELECT count($input) $from;")
	with=$(milliseconds "$session" "SELECT count(private_predict('$model', $input)) $from;")
	sample "answer/$1/$2/$3" "$(awk "BEGIN { print ($with - $without) * 1000 / $count }")"
}

chapter "prediction: measuring"
for ((i = 0; i < repeat; i++)); do
	for classes in 2 10; do
		for teachers in 10 100 1000; do
			for form in array jsonb row; do
				measure_prediction $form $classes $teachers
			done
		done
	done
done
