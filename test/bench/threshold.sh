# shellcheck shell=bash disable=SC2154
# Microseconds of one answer of mechanism "threshold" in a warm session, for
# both kinds of account, beyond what the call itself takes: the same statement
# with a vote of one teacher.  Then milliseconds of one of "stable_flip" that samples
# 10,000 of 20,000 units.

threshold_rows=${THRESHOLD_ROWS:-1000000}
sample fact:threshold_rows "$threshold_rows"
chapter "threshold: training on $threshold_rows rows"
sql >/dev/null <<-SQL
	CREATE TABLE readings (id int PRIMARY KEY, x float8, y boolean);
	-- two intervals with noise: most rows move the walk
	INSERT INTO readings
	  SELECT i, x, (hashint4(-i) & 1023) < CASE WHEN x BETWEEN 0.2 AND 0.4 OR x > 0.7 THEN 716 ELSE 307 END
	    FROM (SELECT i, (hashint4(i)::float8 + 2147483648) / 4294967296 AS x FROM generate_series(1, $threshold_rows) i) s;
	CREATE TABLE hardly (id int PRIMARY KEY, x float8, y boolean);
	INSERT INTO hardly VALUES (1, 0.2, false), (2, 0.8, true);
	CREATE TABLE numbers AS SELECT ARRAY[(hashint4(i + 5000000)::float8 + 2147483648) / 4294967296] AS a
	  FROM generate_series(1, 1000000) i;
	VACUUM ANALYZE readings, numbers;
	CREATE ROLE analyst_finite;
	GRANT SELECT ON numbers TO analyst, analyst_finite;
	SELECT privpred.protect(t), privpred.grant_budget('analyst', t, epsilon => 1000000),
	       privpred.grant_budget('analyst_finite', t, epsilon => 1000000, delta => 1e-6)
	  FROM unnest('{readings,hardly}'::regclass[]) t;
	SELECT privpred.create_model('readings', 'readings', label => 'y', features => '["x"]', mechanism => 'threshold');
	SELECT privpred.create_model('one_teacher', 'hardly', label => 'y', features => '["x"]', learner => 'stump', teachers => 1);
SQL
sql -c CHECKPOINT

# threshold_answer NAME ROLE
threshold_answer() {
	local session="SET ROLE $2; SET privpred.max_answers_per_statement = -1;
		SET max_parallel_workers_per_gather = 0; SELECT count(a) FROM numbers;"
	local ask="SELECT count(private_predict('MODEL', a)) FROM numbers" with without
	local warm="${ask/MODEL/readings} WHERE a[1] < 0.001; ${ask/MODEL/one_teacher} WHERE a[1] < 0.001;"
	without=$(milliseconds "$session $warm" "${ask/MODEL/one_teacher};")
	with=$(milliseconds "$session $warm" "${ask/MODEL/readings};")
	sample "threshold/$1" "$(awk "BEGIN { print ($with - $without) / 1000 }")"
}

sql >/dev/null <<-SQL
	CREATE TABLE flips AS SELECT * FROM readings ORDER BY id LIMIT 20000;
	ALTER TABLE flips ADD PRIMARY KEY (id);
	SELECT privpred.protect('flips'), privpred.grant_budget('analyst', 'flips', epsilon => 1000000);
	SELECT privpred.create_model('flips', 'flips', label => 'y', features => '["x"]', mechanism => 'stable_flip',
		epsilon => 3, options => '{"q": 0.5, "alpha": 0.2, "hypotheses": "threshold"}');
SQL

# Milliseconds of an answer, over a thousand.
flip_answer() {
	local ask="SELECT count(private_predict('flips', a)) FROM (SELECT a FROM numbers LIMIT"
	sample stable_flip/answer "$(milliseconds "SET ROLE analyst; SET privpred.max_answers_per_statement = -1; $ask 10) s;" "$ask 1000) s;" |
		awk '{ print $1 / 1000 }')"
}

chapter "threshold: measuring"
for ((i = 0; i < repeat; i++)); do
	threshold_answer pure analyst
	threshold_answer finite analyst_finite
	flip_answer
done
