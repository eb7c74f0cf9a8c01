-- Teachers of numbers: average and soft of labels that are numbers, soft of bins, students of scores and numbers.
-- What is drawn is random, so plain figures are shown, and forms by the memory of repeats.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE FUNCTION refused(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
  hint text;
BEGIN
  EXECUTE command;
  RETURN 'ACCEPTED';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset format unaligned
CREATE ROLE teachers_pure;
CREATE ROLE teachers_approximate;
CREATE SCHEMA teachers;
GRANT USAGE ON SCHEMA teachers TO teachers_pure, teachers_approximate;
SET search_path = teachers, public;
-- a rent of 200, 8 a square metre, and 100 if it is quiet; one in ten is not known
CREATE TABLE flat (id int PRIMARY KEY, area float8, quiet boolean, rent float8, dear boolean);
INSERT INTO flat SELECT i, a, q, CASE WHEN i % 10 <> 0 THEN 200 + 8 * a + 100 * q::int END, q
  FROM (SELECT i, 20 + i * 37 % 101 AS a, i % 3 = 0 AS q FROM generate_series(1, 3000) i) s;
CREATE TABLE offered AS SELECT 20 + i * 31 % 101 AS area, i % 2 = 0 AS quiet FROM generate_series(1, 80) i;
GRANT SELECT ON offered TO teachers_pure, teachers_approximate;
SELECT privpred.protect('flat', unit => 'id', declared_units => 600);
SELECT privpred.grant_budget('teachers_pure', 'flat', epsilon => 1000000), privpred.grant_budget('teachers_approximate', 'flat', epsilon => 1000000, delta => 0.001, force => true);

-- learners: a mean in SQL, of numbers in [0, 1]
CREATE FUNCTION mean_step(state float8[], number float8, x float8[]) RETURNS float8[] LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS 'SELECT ARRAY[coalesce(state[1], 0) + number, coalesce(state[2], 0) + 1]';
CREATE AGGREGATE mean_train(float8, float8[]) (SFUNC = mean_step, STYPE = float8[]);
CREATE FUNCTION mean_predict(state float8[], x float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS 'SELECT state[1] / state[2]';
CREATE FUNCTION make(name text, mechanism text, learner text, options jsonb, label name = 'rent', relation regclass = 'teachers.flat', teachers int = 3, epsilon float8 = 1, holdout float8 = 0) RETURNS jsonb LANGUAGE sql AS $$
SELECT privpred.create_model(name, relation, label, '{"area": {"min": 20, "max": 120}, "quiet": {}}', mechanism => mechanism, learner => learner, teachers => teachers, epsilon => epsilon,
  options => CASE WHEN label = 'rent' AND NOT options ? 'bins' THEN '{"target": {"min": 0, "max": 1600}}' ELSE '{}' END::jsonb || options, holdout => holdout) $$;
CREATE TABLE learner (name text, options jsonb, close float8);
INSERT INTO learner VALUES ('linear', '{"ridge": 1e-9}', 1), ('knn', '{"k": 1, "prototypes": 600}', 20), ('tree', '{"depth": 8, "min_rows": 1}', 20), ('stump', '{}', 150), ('sql', '{"train": "teachers.mean_train", "predict": "teachers.mean_predict"}', 250);
SELECT l.name, m -> 'classes' AS classes, plain_rmse < close AS close, private_rmse > plain_rmse AND approximate_rmse > private_rmse AS noisy, round(baseline_rmse)
  FROM learner l, make('rent ' || name, 'average', name, options) m, LATERAL (SELECT * FROM privpred.evaluate('rent ' || l.name, 'flat') WHERE m IS NOT NULL) e ORDER BY 1;
-- what the noise is: a scale of 1600/(3 epsilon), or as many standard deviations times two
SELECT round(sqrt(private_rmse ^ 2 - plain_rmse ^ 2) / 1600 * 1000 / sqrt(2)) AS scale FROM make('a thousand', 'average', 'linear', '{"ridge": 1e-9}', teachers => 20, epsilon => 50), privpred.evaluate('a thousand', 'flat');
SELECT pure_charge, charge FROM privpred.models WHERE name = 'rent linear';
-- the size of a model does not tell how many rows there are
CREATE TABLE bare (LIKE flat INCLUDING ALL);
SELECT privpred.protect('bare', unit => 'id');
SELECT count(make('bare ' || name, 'average', name, options, relation => 'bare')) FROM learner WHERE name <> 'sql';
SELECT l.name, pg_column_size(b.predictor) = pg_column_size(f.predictor) AS same_size FROM learner l, privpred.model b, privpred.model f
 WHERE b.name = 'bare ' || l.name AND f.name = 'rent ' || l.name ORDER BY 1;
-- without rows a teacher says the middle; a number beyond the bounds is one of them
SELECT round(plain_rmse) = round(sqrt((SELECT avg((rent - 800) ^ 2) FROM flat))) AS the_middle FROM privpred.evaluate('bare linear', 'flat');
INSERT INTO bare VALUES (1, 50, true, 1e9), (2, 50, true, NULL), (3, NULL, NULL, 1e9);
SELECT plain_rmse FROM make('beyond', 'average', 'knn', '{}', relation => 'bare', teachers => 1), privpred.evaluate('beyond', 'bare');

-- forms, and who may ask what
SET ROLE teachers_pure;
SET privpred.repeat_memory = 100;
SELECT private_score('rent linear', ARRAY[50, 1]) = private_score('rent linear', '{"area": 50, "quiet": true}'::jsonb) AS json,
  (SELECT private_score('rent linear', r) FROM (SELECT 50::float8 AS area, true AS quiet) r) = private_score('rent linear', ARRAY[50, 1]) AS row,
  private_score('rent linear', ARRAY[50, 1]) BETWEEN 0 AND 1600 AS within;
SELECT refused($$SELECT private_predict('rent linear', ARRAY[50, 1])$$);
SELECT refused($$SELECT private_score('rent linear', ARRAY[50, 1], 0.1)$$);
SELECT refused($$SELECT private_score('rent linear', ARRAY[50])$$);
SELECT private_score('rent knn', ARRAY[50, 1]) BETWEEN 0 AND 1600, private_score('rent tree', ARRAY[50, 1]) BETWEEN 0 AND 1600, private_score('rent stump', ARRAY[50, 1]) BETWEEN 0 AND 1600, private_score('rent sql', ARRAY[50, 1]) BETWEEN 0 AND 1600;
SET ROLE teachers_approximate;
SELECT private_score('rent linear', ARRAY[50, 1]) BETWEEN 0 AND 1600 AS within;
RESET ROLE;
RESET privpred.repeat_memory;
SELECT role, epsilon_spent FROM privpred.budgets WHERE role = 'teachers_pure'::regrole;

-- refusals
SELECT name, refused(format('SELECT teachers.make(''no'', ''average'', %L, ''{}'')', name)) FROM unnest('{centroid,logistic,naive_bayes,svm}'::text[]) name;
SELECT refused($$SELECT teachers.make('no', 'vote', 'linear', '{}')$$);
SELECT refused($$SELECT teachers.make('no', 'average', 'linear', '{"default": "a"}')$$);
SELECT refused($$SELECT teachers.make('no', 'average', 'linear', '{"numbers": true}', 'dear')$$);
SELECT refused($$SELECT teachers.make('no', 'average', 'linear', '{}', epsilon => 0.00001)$$);
SELECT refused($$SELECT teachers.make('no', 'average', 'sql', '{"train": "teachers.mean_predict", "predict": "teachers.mean_predict"}')$$);
SELECT refused($$SELECT privpred.linear('number'::text, ARRAY[1.0], '{"numbers": true}')$$);
SELECT refused($$SELECT privpred.export_model('rent linear')$$);
SELECT refused($$SELECT privpred.release_accuracy('rent linear', 1)$$);

-- any order of rows, any number of workers, the same teachers; and what they say in words
SELECT privpred.explain(p, '{area}') FROM (SELECT privpred.tree('number'::text, ARRAY[x, y], '{"numbers": true, "depth": 1, "min_rows": 1}') AS p FROM (VALUES (0, 0.25), (1, 0.75), (0, 0.5)) v (x, y)) s;
SELECT privpred.explain(privpred.knn('number'::text, ARRAY[x, y], '{"numbers": true}')) FROM (VALUES (0, 0.25), (1, 0.75)) v (x, y);
SELECT privpred.explain(privpred.knn('number'::text, ARRAY[x, y], '{"numbers": true}') FILTER (WHERE false)) FROM (VALUES (0, 0.25)) v (x, y);
SELECT l.name, count(DISTINCT p) FROM (SELECT name, s, privpred.linear('number'::text, ARRAY[area / 120, rent / 1600], '{"numbers": true}' ORDER BY id * s % 601)::text AS p FROM (VALUES ('linear')) l (name), flat, generate_series(1, 3) s WHERE rent < 1600 GROUP BY 1, 2
  UNION ALL SELECT 'tree', s, privpred.tree('number'::text, ARRAY[area / 120, rent / 1600], '{"numbers": true}' ORDER BY id * s % 601)::text FROM flat, generate_series(1, 3) s WHERE rent < 1600 GROUP BY 2
  UNION ALL SELECT 'knn', s, privpred.knn('number'::text, ARRAY[area / 120, rent / 1600], '{"numbers": true}' ORDER BY id * s % 601)::text FROM flat, generate_series(1, 3) s WHERE rent < 1600 GROUP BY 2) l GROUP BY 1 ORDER BY 1;

-- retrained, forgotten, held out, on a view, memoized
SELECT privpred.retrain('rent tree') -> 'refitted' AS refitted;
DELETE FROM flat WHERE id = 11;
SELECT privpred.forget('flat', 11) IS NOT NULL AS forgotten;
SELECT version FROM privpred.models WHERE name IN ('rent linear', 'rent knn') ORDER BY name;
SELECT rows BETWEEN 1000 AND 1700 AS half, plain_rmse < 100 AS close FROM make('held', 'average', 'linear', '{}', holdout => 0.5), privpred.evaluate('held');
CREATE VIEW cheap AS SELECT id, area, quiet, rent FROM flat WHERE rent < 1000;
SELECT privpred.protect('cheap', unit => 'id');
SELECT plain_rmse < 20 AS close FROM make('of a view', 'average', 'linear', '{"ridge": 1e-9}', relation => 'cheap'), privpred.evaluate('of a view', 'cheap');
SELECT make('memoized', 'average', 'linear', '{"memoize": true}') ->> 'name';
SET ROLE teachers_pure;
SELECT private_score('memoized', ARRAY[50, 1]) AS first \gset
SET privpred.repeat_memory = 0;
SELECT private_score('memoized', ARRAY[50, 1]) = :first AS again;
RESET privpred.repeat_memory;
RESET ROLE;

-- soft: a number, and bins of one, that all teachers agree on
SELECT make('soft', 'soft', 'linear', '{"ridge": 1e-9}', teachers => 60) ->> 'version';
-- all rents are in the first
SELECT make('soft bins', 'soft', 'tree', '{"bins": [0, 1600, 3200]}', teachers => 60) ->> 'version';
SELECT refused($$SELECT privpred.evaluate('soft', 'teachers.flat')$$);
SET ROLE teachers_approximate;
SELECT privpred.open_stream('soft', 40, 10, 1e-12) > 0, privpred.open_stream('soft bins', 40, 10, 1e-12) > 0;
-- 200 + 8 * 72 is 776, and precision a share of the range
SELECT private_score('soft', ARRAY[72, 0], 0.05) AS twentieth, private_score('soft', ARRAY[72, 0], 0.5) AS half, private_score('soft bins', ARRAY[30, 0], 0.5) AS bin, private_score('soft bins', ARRAY[30, 0], 0.25) AS half_a_bin;
SELECT refused($$SELECT private_predict('soft bins', ARRAY[30, 0])$$);
SELECT refused($$SELECT private_score('soft', ARRAY[72, 0], 0.3)$$);

-- students of scores and numbers
SELECT s ->> 'labels' AS labels, (s ->> 'rmse')::float8 < 100 AS close, s ->> 'charge' AS charge FROM privpred.distill('of soft', 'soft', 'offered', 'linear') s;
RESET ROLE;
SELECT s ->> 'labels' AS labels, s ->> 'charge' AS charge, s ? 'agreement' AS agreement FROM privpred.distill('of rent', 'rent linear', 'offered', 'knn') s;
SELECT make('dear', 'soft', 'tree', '{"precision": 0.5, "min_rows": 1}', 'dear', teachers => 60) ->> 'classes';
SELECT refused($$SELECT privpred.distill('no', 'rent linear', 'teachers.offered', 'logistic')$$);
SELECT refused($$SELECT privpred.distill('no', 'rent linear', 'teachers.offered', 'linear', options => '{"default": "a"}')$$);
SELECT refused($$SELECT privpred.distill('no', 'of rent', 'teachers.offered', 'linear')$$);
SET ROLE teachers_approximate;
SELECT privpred.open_stream('dear', 40, 10, 1e-12) > 0;
SELECT s ->> 'labels' AS labels, s ->> 'rmse' AS rmse FROM privpred.distill('of dear', 'dear', 'offered', 'tree') s;
SELECT private_score('of dear', ARRAY[25, 0]) AS cheap, private_score('of dear', ARRAY[25, 1]) AS dear, abs(private_score('of soft', ARRAY[72, 0]) - 776) < 80 AS of_soft, private_score('of rent', ARRAY[72, 0]) BETWEEN 0 AND 1600 AS of_rent;
SELECT refused($$SELECT private_predict('of dear', ARRAY[25, 0])$$);
SELECT refused($$SELECT private_score('of dear', ARRAY[25, 0], 0.1)$$);
SET ROLE teachers_pure;
SELECT refused($$SELECT private_score('of soft', ARRAY[25, 0])$$);
RESET ROLE;
SELECT round(private_rmse - plain_rmse) AS free, plain_rmse < 100 AS close FROM privpred.evaluate('of soft', 'flat');
SELECT refused($$SELECT privpred.evaluate('of dear', 'teachers.flat')$$);
SELECT privpred.revoke_budget('teachers_pure', 'flat');
SELECT e -> 'target', e -> 'classes', e -> 'predictor' -> 'classes', e -> 'predictor' -> 'members' -> 0 ->> 'kind' FROM privpred.export_model('of soft') e;
SELECT jsonb_object_keys((privpred.export_model('of rent') -> 'predictor' -> 'members' -> 0 -> 'rows' -> 0)::jsonb);
SELECT count(*) FROM privpred.explain('of soft');

-- classes, more than two
SELECT privpred.create_model('third', 'flat', 'id', '["quiet"]', classes => '{1,2,3}', mechanism => 'average', learner => 'stump', epsilon => 1, teachers => 9) -> 'classes';
SELECT privpred.drop_model('memoized');
DROP SCHEMA teachers CASCADE;
DROP FUNCTION IF EXISTS refused(text);
DROP ROLE teachers_pure, teachers_approximate;
