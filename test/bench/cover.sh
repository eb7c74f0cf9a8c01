# shellcheck shell=bash disable=SC2154
# Error of "cover" on thresholds against the number of units: the mean excess over
# the best threshold in repeated training, beside what is promised (docs/mechanisms.md)
# and what the paper's constants would promise.

chapter "cover: error against the number of units"
sql >/dev/null <<'SQL'
SET client_min_messages = warning;
-- One in ten labels is wrong: the best threshold errs with probability 0.1.
CREATE TABLE threshold_test AS
SELECT (i - 0.5) / 2000 AS x, (i > 740) <> (j = 1) AS y FROM generate_series(1, 2000) i, generate_series(1, 10) j;
CREATE FUNCTION cover_errors(units int, eps float8, times int, OUT excess float8, OUT worst float8, OUT promised float8)
LANGUAGE plpgsql AS $$
DECLARE
  seen float8[] = '{}';
  refusal text;
BEGIN
  DROP TABLE IF EXISTS threshold_train;
  CREATE TABLE threshold_train (id int PRIMARY KEY, x float8, y boolean);
  PERFORM privpred.protect('threshold_train', declared_units => units);
  PERFORM setseed(0.5);
  INSERT INTO threshold_train SELECT i, x, (x > 0.37) <> (random() < 0.1) FROM (SELECT i, random() AS x FROM generate_series(1, units) i) s;
  PERFORM privpred.create_model('threshold', 'threshold_train', label => 'y', features => '["x"]', mechanism => 'cover',
    epsilon => eps, options => '{"class": "thresholds"}');
  FOR i IN 1 .. times LOOP
    PERFORM privpred.retrain('threshold');
    seen = seen || (SELECT 1 - private_accuracy - 0.1 FROM privpred.evaluate('threshold', 'threshold_test'));
  END LOOP;
  PERFORM privpred.drop_model('threshold');
  SELECT avg(e), max(e) INTO excess, worst FROM unnest(seen) e;
  -- the least accuracy that is not refused is named in the hint
  BEGIN
    PERFORM privpred.create_model('threshold', 'threshold_train', label => 'y', features => '["x"]', mechanism => 'cover',
      epsilon => eps, options => '{"class": "thresholds", "accuracy": 0.0001}');
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS refusal = PG_EXCEPTION_HINT;
  END;
  promised = substring(refusal FROM 'accuracy of ([0-9.]+) or more');
EXCEPTION WHEN invalid_parameter_value THEN
  NULL;  -- too few units for any promise
END $$;
SQL

# The least accuracy of theorem 8 with its own constants, for thresholds, kappa = 1 and beta = 0.05.
paper_bound() {
	awk -v n="$1" -v e="$2" 'BEGIN {
		for (a = 0.001; a <= 1; a += 0.001) {
			g = log(16 / a)
			if (g + log(4 / 0.05) <= n * a * a / 32 && g + log(2 / 0.05) <= e * n * a / 8) { print a; exit }
		}
		print "none"
	}'
}

for epsilon in 0.1 1; do
	for units in 300 1000 3000 10000 30000 100000; do
		read -r excess worst promised < <(sql -F ' ' -c "SET client_min_messages = warning" \
			-c "SELECT excess, worst, promised FROM cover_errors($units, $epsilon, 20)")
		# nothing: too few units for any promise
		[ -n "$excess" ] || continue
		sample "cover/mean/$epsilon/$units" "$excess"
		sample "cover/worst/$epsilon/$units" "$worst"
		sample "cover/promised/$epsilon/$units" "$promised"
		sample "cover/paper/$epsilon/$units" "$(paper_bound $units $epsilon)"
	done
done
