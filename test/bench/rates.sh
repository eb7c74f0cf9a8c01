# shellcheck shell=bash disable=SC2154
# Error against the number of rows, all at epsilon 0.5 an answer, on one
# threshold of one number: the expectation over the noise, to accounts without
# delta.  Parameters are declared for the number of rows, as its owner would:
# so that what they leave with ever more rows and what the rows leave are alike.

sql >/dev/null <<-'SQL'
	CREATE TABLE rates_test AS SELECT i AS id, (i - 0.5) / 500 AS x, (i - 0.5) / 500 > 0.4 AS y FROM generate_series(1, 500) i;
	-- relabel estimates from samples of all rows for each question: every 20th
	CREATE TABLE rates_test_few AS SELECT * FROM rates_test WHERE id % 20 = 10;
	CREATE FUNCTION rate(name text, mechanism text, learner text, teachers int, options jsonb, test regclass) RETURNS text
	LANGUAGE plpgsql AS $$
	DECLARE
		error float8;
	BEGIN
		PERFORM privpred.create_model('rate', 'rates_rows', label => 'y', features => '["x"]', mechanism => mechanism,
			learner => learner, teachers => teachers, epsilon => 0.5, options => options);
		SELECT 1 - private_accuracy INTO error FROM privpred.evaluate('rate', test);
		PERFORM privpred.drop_model('rate');
		RETURN name || chr(9) || error;
	END $$;
SQL

# rates_of NOISE ROWS TABLES: samples rate/NOISE/MECHANISM/ROWS for so many tables
rates_of() {
	local i relabel="" alpha teachers voters flip
	alpha=$(awk "BEGIN { a = 10 / $2; print a < 0.05 ? a : 0.05 }")
	flip=$(awk "BEGIN { a = 1.2 / sqrt($2); print a < 0.2 ? a : 0.2 }")
	voters=$(awk "BEGIN { print 2 * int(1.5 * log($2)) + 1 }")
	teachers=$(awk "BEGIN { print 2 * int(sqrt($2)) }")
	# It refuses fewer rows; for its time few sizes, one table.
	case $1/$2 in
		0/4000 | 0/16000)
			relabel="SELECT rate('rate/$1/relabel/$2', 'relabel', 'logistic', 1, '{\"alpha\": 0.05}', 'rates_test_few');" ;;
	esac
	for ((i = 0; i < $3; i++)); do
		sql <<-SQL >>"$samples"
			SET client_min_messages = warning;
			\\o /dev/null
			SELECT setseed(($2 % 997 + $i) / 1100.0);
			CREATE TABLE rates_rows (id int PRIMARY KEY, x float8, y boolean);
			INSERT INTO rates_rows SELECT j, x, (x > 0.4) <> (random() < $1)
			  FROM (SELECT j, random() AS x FROM generate_series(1, $2) j) s;
			SELECT privpred.protect('rates_rows', declared_units => $2);
			\\o
			SELECT rate('rate/$1/threshold/$2', 'threshold', 'logistic', 1, '{"alpha": $alpha}', 'rates_test');
			SELECT rate('rate/$1/vote/$2', 'vote', 'stump', $voters, '{}', 'rates_test');
			SELECT rate('rate/$1/average/$2', 'average', 'stump', $teachers, '{}', 'rates_test');
			SELECT rate('rate/$1/stable_flip/$2', 'stable_flip', 'logistic', 1,
				'{"alpha": $flip, "hypotheses": "threshold"}', 'rates_test');
			$relabel
			\\o /dev/null
			SELECT privpred.unprotect('rates_rows');
			DROP TABLE rates_rows;
		SQL
		relabel=""
	done
}

sample rate/relabel_needs "$(sql -c "SELECT units_needed FROM privpred.solve_relabel(0.5, 0.05, 100000)")"
chapter "rates: up to 64,000 rows"
for rows in 64 125 250 500 1000 2000 4000 8000 16000 32000 64000; do
	tables=$((rows > 2000 ? 3 : 10))
	rates_of 0 $rows $tables
done
