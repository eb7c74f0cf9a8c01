# shellcheck shell=bash disable=SC2154
# A stream beside votes: how many answers of 4,000 teachers one budget of (1, 1e-6)
# buys, and how good they are.  Two classes with a margin, 5% of the labels
# wrong; questions off the margin.  What has no answer counts as wrong.

stream_rows=${STREAM_ROWS:-1000000}
stream_teachers=4000
unstable=20
counts="20 200 2000 20000 200000"

chapter "streams: $stream_rows rows, $stream_teachers teachers"
sql <<-SQL >/dev/null
	SELECT setseed(0.7);
	CREATE FUNCTION off_margin(n bigint) RETURNS TABLE (id int, a float8, b float8, y boolean) LANGUAGE sql AS \$\$
		SELECT (row_number() OVER ())::int, a, b, (a + b > 1) <> (random() < 0.05)
		FROM (SELECT random() AS a, random() AS b FROM generate_series(1, 2 * n)) s
		WHERE abs(a + b - 1) > 0.2 LIMIT n \$\$;
	CREATE TABLE margin AS SELECT * FROM off_margin($stream_rows);
	CREATE TABLE margin_questions AS SELECT * FROM off_margin(200000);
	CREATE TABLE margin_sample AS SELECT * FROM margin_questions LIMIT 20000;
	ALTER TABLE margin ADD PRIMARY KEY (id);
	ANALYZE margin;
	SELECT privpred.protect('margin');
	GRANT SELECT ON margin_questions TO analyst;
SQL

# model_on_margin NAME MECHANISM EPSILON
model_on_margin() {
	sql <<-SQL >/dev/null
		SET client_min_messages = warning;
		SET maintenance_work_mem = '1GB';
		SELECT privpred.create_model('$1', 'margin', label => 'y', features => '["a", "b"]', mechanism => '$2',
			learner => 'centroid', teachers => $stream_teachers, epsilon => $3);
	SQL
}

# Votes: the expectation, at the largest epsilon at which the budget buys so many.
for count in $counts; do
	epsilon=$(sql -c "SELECT per_answer FROM privpred.epsilon_for(1, 1e-6, $count, 'vote')")
	model_on_margin "vote_$count" vote "$epsilon"
	# The majority is the same for all; where it counts, it is that of all questions.
	questions=margin_sample
	[ "$count" != 200000 ] || questions=margin_questions
	# shellcheck disable=SC2046
	set -- $(sql -F ' ' -c "SELECT approximate_accuracy, majority_accuracy FROM privpred.evaluate('vote_$count', '$questions')")
	sample "stream/vote/$count" "$1"
	[ "$count" != 200000 ] || sample stream/majority "$2"
	sql -c "SELECT privpred.drop_model('vote_$count')" >/dev/null
done

# The stream: its answers, as they come.
epsilon=$(sql -c "SELECT per_answer FROM privpred.epsilon_for(1, 1e-6, $unstable, 'sparse')")
model_on_margin stream sparse "$epsilon"
sql -c "SELECT privpred.grant_budget('analyst', 'margin', epsilon => 1, delta => 1e-6)" >/dev/null
stream_ms=$(sql -U analyst <<-SQL | awk '/^Time:/ { time = $2 } END { print time }'
	SET privpred.max_answers_per_statement = -1;
	\\o /dev/null
	SELECT privpred.open_stream('stream', unstable => $unstable, epsilon => $epsilon, delta => 2.5e-8);
	\\timing on
	CREATE TABLE stream_answers AS SELECT id, y, private_predict('stream', ARRAY[a, b]) AS answer FROM margin_questions;
SQL
)
for count in $counts; do
	sample "stream/sparse/$count" "$(sql -c "SELECT (count(*) FILTER (WHERE answer = y::text))::float8 / $count FROM stream_answers WHERE id <= $count")"
done
sample stream/answered "$(sql -c "SELECT count(answer) FROM stream_answers")"
sample stream/unstable "$(sql -c "SELECT unstable_used FROM privpred.streams")"
sample stream/epsilon "$epsilon"
sample stream/microseconds "$(awk -v ms="$stream_ms" 'BEGIN { print ms / 200 }')"
sample fact:stream_rows "$stream_rows"
