# shellcheck shell=bash disable=SC2154
# How long a statement takes to end after it is cancelled, at a few moments spread
# over its run.  With so few and large teachers nobody would train: their fits
# are the longest that there are without a look for interrupts.

cancel_times=${CANCEL_TIMES:-3}
cancel_setup="SET maintenance_work_mem = '1GB'; SET max_parallel_workers_per_gather = 0; SET privpred.max_answers_per_statement = -1;"
cancelled_model="SELECT privpred.drop_model('cancelled');"

# cancel NAME STATEMENT [CLEANUP]: samples the moments, in milliseconds
cancel() {
	local all each
	all=$(perl test/bench/watch_cancel.pl "$cancel_times" "$cancel_setup" "$2" "${3:-}")
	sample "cancel/whole/$1" "${all##* }"
	for each in ${all% *}; do
		sample "cancel/$1" "$each"
	done
	note "$(printf '%-40s %8.0f ms; cancelled: %s' "$1" "${all##* }" "${all% *}")"
}

# cancel_training NAME ARGUMENTS: of create_model after its first
cancel_training() { cancel "$1" "SELECT privpred.create_model('cancelled', $2);" "$cancelled_model"; }

wide="label => 'y', features => '$features'"
narrow="label => 'y', features => '[\"f1\"]'"
square="label => 'y', features => '[\"f1\", \"f2\"]'"

chapter "cancel: making tables"
need_rows 100000
need_rows 1000000
sql >/dev/null <<-SQL
	SET client_min_messages = warning;
	SELECT make_rows('rows_2000', 2000);
	CREATE TABLE cancel_points AS SELECT id, y, f1 * 1000 AS x FROM rows_100000;
	ALTER TABLE cancel_points ADD PRIMARY KEY (id);
	SELECT privpred.protect('cancel_points', declared_units => 100000);
	CREATE TABLE cancel_class AS
	  SELECT h AS hypothesis, p AS point, (hashint4(p * 1000 + h) & 1)::boolean AS label
	    FROM generate_series(1, 2000) h, generate_series(1, 500) p;
	$(train cancel_teacher rows_100000 logistic 1000 ", epsilon => 0.01")
	SELECT privpred.create_model('cancel_drawn', 'rows_2000', $wide, mechanism => 'stable_flip');
	SET maintenance_work_mem = '1GB';
	SELECT privpred.create_model('cancel_loaded', 'rows_1000000', $wide, mechanism => 'stable_flip');
	SELECT privpred.grant_budget('analyst', 'rows_1000000', epsilon => 1000000);
	CREATE TABLE cancel_public AS SELECT * FROM rows_100000;
SQL

chapter "cancel: measuring"
cancel_training "logistic, 100 teachers" "'rows_1000000', $wide, teachers => 100"
for learner in logistic svm stump tree; do
	cancel_training "$learner, 1 teacher of 100,000 rows" "'rows_100000', $wide, teachers => 1, learner => '$learner'"
done
for learner in linear naive_bayes centroid; do
	cancel_training "$learner, 1 teacher" "'rows_1000000', $wide, teachers => 1, learner => '$learner'"
done
! sql -c "SELECT privpred.boost(y, ARRAY[y]) FROM generate_series(1, 2) y" >/dev/null 2>&1 ||
	for learner in boost forest; do
		cancel_training "$learner, teachers of 50,000 rows" "'rows_100000', $wide, teachers => 2, learner => '$learner'"
	done
cancel_training "gradient" "'rows_1000000', $wide, mechanism => 'gradient'"
cancel_training "stable_erm, 100,000 rows" "'rows_100000', $wide, mechanism => 'stable_erm'"
cancel_training "threshold" "'rows_1000000', $narrow, mechanism => 'threshold'"
cancel_training "stable_flip" "'rows_1000000', $wide, mechanism => 'stable_flip'"
cancel_training "stable_flip, halfspaces, 2,000 rows" "'rows_2000', $square, mechanism => 'stable_flip', options => '{\"hypotheses\": \"halfspace\"}'"
cancel_training "relabel" "'rows_1000000', $narrow, mechanism => 'relabel', options => '{\"n_max\": 1000000}'"
cancel_training "cover, stumps, 100,000 rows" "'rows_100000', $wide, mechanism => 'cover', options => '{\"class\": \"stumps\"}'"
cancel_training "cover, rectangles" "'rows_1000000', label => 'y', features => '[\"f1\", \"f2\", \"f3\"]', mechanism => 'cover', options => '{\"class\": \"rectangles\", \"accuracy\": 1}'"
cancel_training "cover, halfspaces, 100,000 rows" "'rows_100000', $wide, mechanism => 'cover', options => '{\"class\": \"halfspaces\", \"accuracy\": 1}'"
cancel_training "littlestone, 100,000 rows" "'cancel_points', label => 'y', features => '{\"x\": {\"min\": 0, \"max\": 1000}}', mechanism => 'littlestone', epsilon => 4"
cancel "littlestone_dimension" "SELECT privpred.littlestone_dimension('cancel_class');"
cancel "evaluate, 1,000 teachers, 100,000 rows" "SELECT privpred.evaluate('cancel_teacher', 'rows_100000');"
cancel "evaluate, stable_flip, 2,000 rows" "SELECT privpred.evaluate('cancel_drawn', 'rows_2000');"
cancel "first answer of stable_flip" "SET ROLE analyst; SELECT private_predict('cancel_loaded', ARRAY[$(seq -s, -f '0.%02g' 11 30)]);"
cancel "distill, 100,000 rows" "SELECT privpred.distill('cancelled', 'cancel_teacher', 'cancel_public');" "$cancelled_model"
