-- Declared cuts: numbers encoded by pieces, the same in rows, jsonb and arrays.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
SET datestyle = 'ISO, MDY';
SET timezone = 'UTC';
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
CREATE TABLE people (id bigint PRIMARY KEY, age int NOT NULL, income numeric NOT NULL, born date NOT NULL, seen timestamptz NOT NULL, ward text NOT NULL, ok boolean NOT NULL, kind text NOT NULL);
INSERT INTO people SELECT i, 10 + i * 7 % 90, i * 37 % 1000, date '1950-01-01' + i * 100, timestamptz '2020-01-01 UTC' + i * interval '1 day', chr(65 + i % 3), i % 2 = 0,
  CASE WHEN i * 7 % 90 BETWEEN 20 AND 50 THEN 'x' ELSE 'y' END FROM generate_series(1, 300) i;
SELECT privpred.protect('people', declared_units => 300);
SELECT current_user AS me \gset
SELECT privpred.grant_budget(:'me', 'people', epsilon => 100000, delta => 0.1, force => true);

-- A model's stored features, and the pieces of one column by the product and by the definition in SQL.
CREATE FUNCTION declared(features json) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  stored jsonb;
BEGIN
  PERFORM privpred.create_model('declared', 'people', label => 'kind', classes => '{x,y}', teachers => 1, features => features);
  stored := (SELECT m.features FROM privpred.models m WHERE name = 'declared');
  PERFORM privpred.drop_model('declared');
  RETURN stored;
END $$;
CREATE FUNCTION pieces(v float8, knots float8[]) RETURNS float8[] LANGUAGE sql AS $$
  SELECT array_agg(CASE WHEN v >= knots[i + 1] THEN 1 WHEN v <= knots[i] THEN 0 ELSE least(1, (v - knots[i]) * (1 / (knots[i + 1] - knots[i]))) END ORDER BY i)
    FROM generate_series(1, cardinality(knots) - 1) i $$;

SELECT declared('{"age": {"min": 17, "max": 90, "cuts": [25, 35, 45]}}');
-- a number of pieces is the same as its cuts, and what is stored can be declared again
SELECT declared('{"age": {"min": 0, "max": 80, "cuts": 4}}') = declared('{"age": {"min": 0, "max": 80, "cuts": [20, 40, 60]}}') AS same;
SELECT declared('{"income": {"min": -1, "max": 1, "cuts": 7}}') -> 0 -> 'cuts' AS cuts;
SELECT declared('{"income": {"min": 0.1, "max": 0.7, "cuts": 256}}') = declared(json_build_object('income', declared('{"income": {"min": 0.1, "max": 0.7, "cuts": 256}}') -> 0 #- '{name}' #- '{kind}')) AS same;
SELECT declared('{"income": {"min": -8e307, "max": 8e307, "cuts": 3}}') -> 0 -> 'cuts' AS wide;
SELECT jsonb_array_length(declared('{"income": {"min": 0, "max": 1e-300, "cuts": 256}}') -> 0 -> 'cuts') AS narrow;
-- dates, on whole days; timestamps
SELECT declared('{"born": {"min": "2000-01-01", "max": "2000-01-11", "cuts": 3}, "seen": {"min": "2020-01-01 00:00:00+00", "max": "2020-01-01 00:00:01+00", "cuts": 3}}');
SELECT declared('{"born": {"min": "1900-01-01", "max": "2030-01-01", "cuts": ["1930-01-01", "02/28/1960"]}}') -> 0 -> 'cuts' AS dates;
SET timezone = 'America/New_York';
SELECT declared('{"seen": {"min": "2020-01-01", "max": "2021-01-01", "cuts": ["2020-07-01", "2020-11-01 12:00"]}}') -> 0 -> 'cuts' AS new_york;
SET timezone = 'UTC';
SELECT privpred.encode('[{"name": "seen", "kind": "numeric", "type": "timestamptz", "min": "2020-01-01T00:00:00-05:00", "max": "2021-01-01T00:00:00-05:00", "cuts": ["2020-07-01T00:00:00-04:00"]}]',
  timestamptz '2020-07-01 04:00:00+00') AS on_the_cut;

-- training rows: on knots, between them, at the bounds and beyond, minus zero, infinite, NaN, NULL
SELECT v, privpred.encode(f, v) AS x FROM (SELECT declared('{"income": {"min": -10, "max": 30, "cuts": [-2, 0, 14]}}') AS f) d,
  unnest('{-Infinity,-1e308,-11,-10,-6,-2,-1,-0,0,7,13.999999999999998,14,22,30,31,1e308,Infinity,NaN,NULL}'::float8[]) v;
SELECT v, privpred.encode(f, v) AS x FROM (SELECT declared('{"income": {"min": -10, "max": 30, "cuts": [-2, 0, 14], "null": {"fill": 7}}}') AS f) d, unnest('{7,NaN,NULL}'::float8[]) v;
SELECT v, privpred.encode(f, v) AS x FROM (SELECT declared('{"income": {"min": -10, "max": 30, "cuts": [-2, 0, 14], "null": {"fill": 30}}}') AS f) d, unnest('{NULL}'::float8[]) v;
-- every number of pieces, every knot and what is next to it: as defined; within [0, 1]; the pieces add up to the value
CREATE TABLE odd AS SELECT n, ARRAY(SELECT CASE i WHEN n THEN max ELSE min + (max - min) * i / n END FROM generate_series(0, n) i) AS knots, min, max
  FROM unnest('{2,3,7,49,100}'::int[]) n, (VALUES (0::float8, 1::float8), (17, 90), (-0.1, 1e6), (-1e-9, 3e-9)) b(min, max) WHERE n < 50 OR max = 90;
WITH f AS MATERIALIZED (SELECT *, jsonb_build_array(jsonb_build_object('name', 'v', 'kind', 'numeric', 'min', min, 'max', max, 'cuts', to_jsonb(knots[2:n]))) AS features FROM odd),
  v AS MATERIALIZED (SELECT f.*, k + d * (max - min) AS v FROM f, unnest(knots) k, unnest('{0,-1e-12,0.029}'::float8[]) d UNION ALL SELECT f.*, v FROM f, unnest('{-1e308,-1,0,1e308}'::float8[]) v),
  x AS MATERIALIZED (SELECT v.*, privpred.encode(features, v) AS x FROM v)
SELECT count(*) AS checked, count(*) FILTER (WHERE x IS DISTINCT FROM pieces(v, knots)) AS not_as_defined,
  count(*) FILTER (WHERE NOT (SELECT bool_and(p BETWEEN 0 AND 1) FROM unnest(x) p)) AS outside,
  count(*) FILTER (WHERE abs((SELECT sum(x[i] * (knots[i + 1] - knots[i])) FROM generate_series(1, n) i) - (least(greatest(v, min), max) - min)) > 1e-12 * (max - min)) AS not_adding_up,
  count(*) FILTER (WHERE EXISTS (SELECT FROM generate_series(2, n) i WHERE x[i] > 0 AND x[i - 1] < 1)) AS not_in_order
FROM x;
-- whole numbers are exact: on a cut the pieces below are full, and those above are empty
WITH f AS (SELECT jsonb_build_array(jsonb_build_object('name', 'v', 'kind', 'numeric', 'min', 0, 'max', 98, 'cuts', '[1, 50, 75]'::jsonb)) AS features)
SELECT v, privpred.encode(features, v) AS x, privpred.encode(features, v::bigint) = privpred.encode(features, v::numeric) AS types_agree FROM f, unnest('{0,1,49,50,75,97,98}'::int[]) v;

-- a learner that writes down what it is asked
CREATE TABLE spied (form text, x float8[]);
CREATE FUNCTION spy_step(state text, label text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT 'seen' $$;
CREATE AGGREGATE spy_train(text, float8[]) (SFUNC = spy_step, STYPE = text);
CREATE FUNCTION spy_predict(state text, x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
$$ BEGIN INSERT INTO public.spied VALUES (current_setting('spy.form'), x); RETURN 'x'; END $$;
SELECT privpred.create_model('spy', 'people', label => 'kind', classes => '{x,y}', learner => 'sql', teachers => 1, epsilon => 100,
  options => '{"train": "public.spy_train", "predict": "public.spy_predict"}',
  features => '{"ok": {"null": {"fill": true}}, "age": {"min": 17, "max": 90, "cuts": [25, 35, 45]}, "ward": {"levels": ["A", "B", "C"], "null": {"fill": "C"}},
    "born": {"min": "1970-01-01", "max": "1970-01-31", "cuts": ["1970-01-11"], "null": {"fill": "1970-01-06"}}, "income": {"min": 0, "max": 1000, "cuts": 4, "null": {"fill": 375}}}') -> 'features' -> 3;
CREATE TABLE questions (n int, ok boolean, age float8, ward text, born date, income numeric);
INSERT INTO questions VALUES (1, true, 30, 'A', '1970-01-21', 125), (2, false, 25, 'B', '1970-01-11', 250), (3, true, 16, 'C', '1969-01-01', -1), (4, false, 200, 'A', '2030-01-01', 1e30),
  (5, NULL, 45, NULL, NULL, NULL), (6, true, 90, 'B', '1970-01-31', 1000), (7, false, 17, 'B', '1970-01-01', 0);
SET privpred.repeat_memory = 0;
SET spy.form = 'row';
SELECT string_agg(private_predict('spy', q), '') FROM questions q;
SET spy.form = 'jsonb';
SELECT string_agg(private_predict('spy', to_jsonb(q)), '') FROM questions q;
SET spy.form = 'array';
SELECT string_agg(private_predict('spy', ARRAY[ok::int, age, (ward = 'A')::int, (ward = 'B')::int, (ward = 'C')::int, extract(epoch FROM born) / 86400, income]::float8[]), '') FROM questions q;
SELECT x, array_agg(form ORDER BY form) AS forms FROM spied GROUP BY x ORDER BY x;
-- bad questions; an array has one place for a number, with cuts or without
SELECT refused($c$SELECT private_predict('spy', '{"ok": true, "age": null, "ward": "A", "born": "2000-01-01", "income": 1}'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[1, NULL, 1,0,0, 10, 20])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[1, 'NaN', 1,0,0, 10, 20]::float8[])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[1, 30, 0,1,1, 10, 20])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[2, 30, 0,0,1, 10, 20])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[1, 1,0.5,0,0, 0,1,0, 1,0.5, 1,0,0,0])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[1, 30, 0,0,1, 10])$c$);
SELECT privpred.drop_model('spy');
RESET privpred.repeat_memory;

-- a model with cuts is the model on columns that are computed in SQL
CREATE TABLE spread (id bigint PRIMARY KEY, age int NOT NULL, a1 int NOT NULL, a2 int NOT NULL, a3 int NOT NULL, a4 int NOT NULL, ok boolean NOT NULL, kind text NOT NULL);
INSERT INTO spread SELECT id, age, age, age, age, age, ok, kind FROM people;
SELECT privpred.protect('spread', declared_units => 300);
DO $$
DECLARE
  learner text;
BEGIN
  FOREACH learner IN ARRAY '{centroid,knn,linear,logistic,naive_bayes,svm}'::text[] LOOP
    PERFORM privpred.create_model('cut ' || learner, 'spread', label => 'kind', classes => '{x,y}', learner => learner, teachers => 1,
      features => '{"age": {"min": 17, "max": 90, "cuts": [25, 35, 45]}, "ok": {}}');
    PERFORM privpred.create_model('spread ' || learner, 'spread', label => 'kind', classes => '{x,y}', learner => learner, teachers => 1,
      features => '{"a1": {"min": 17, "max": 25}, "a2": {"min": 25, "max": 35}, "a3": {"min": 35, "max": 45}, "a4": {"min": 45, "max": 90}, "ok": {}}');
  END LOOP;
END $$;
SELECT c.learner, c.predictor::text = s.predictor::text AS same FROM privpred.model c JOIN privpred.model s ON s.name = 'spread ' || c.learner WHERE c.name = 'cut ' || c.learner ORDER BY 1;
CREATE TABLE copied AS SELECT age, ok, kind FROM people;
-- a line cannot say that those in the middle are x; one with cuts can
SELECT privpred.create_model('line', 'spread', label => 'kind', classes => '{x,y}', teachers => 1, features => '{"age": {"min": 17, "max": 90}, "ok": {}}') IS NOT NULL AS line;
SELECT name, majority_accuracy > 0.9 AS right FROM unnest('{line,cut logistic}'::text[]) name, privpred.evaluate(name, 'copied') ORDER BY name;
SELECT privpred.drop_model(name) FROM privpred.models WHERE relation = 'spread'::regclass AND name <> 'cut logistic' \g /dev/null

-- retraining keeps them; students have their teacher's; released models list them
SELECT privpred.retrain('cut logistic') -> 'features' -> 0 -> 'cuts' AS cuts;
CREATE TABLE public_rows AS SELECT 10 + i AS age, i % 2 = 0 AS ok FROM generate_series(1, 80) i;
SELECT privpred.grant_budget(:'me', 'spread', epsilon => 10000, delta => 0.1, force => true);
SELECT privpred.distill('student', 'cut logistic', 'public_rows', learner => 'stump') -> 'features' = (SELECT features FROM privpred.models WHERE name = 'cut logistic') AS same;
SELECT private_predict('student', ARRAY[30, 1]) = private_predict('student', '{"age": 30, "ok": true}'::jsonb) AND private_predict('student', ARRAY[30, 1]) = private_predict('student', q) AS forms_agree
  FROM (SELECT 30 AS age, true AS ok) q;
SELECT privpred.create_model('released', 'spread', label => 'kind', classes => '{x,y}', mechanism => 'gradient', epsilon => 8, features => '{"age": {"min": 17, "max": 90, "cuts": 8}, "ok": {}}') -> 'features' -> 0 -> 'cuts' AS cuts;
SELECT jsonb_array_length(privpred.create_model('erm', 'spread', label => 'kind', classes => '{x,y}', mechanism => 'stable_erm', epsilon => 8, features => '{"age": {"min": 17, "max": 90, "cuts": 8}, "ok": {}}') -> 'features' -> 0 -> 'cuts') AS cuts;
-- nobody who finds cuts takes any
SELECT privpred.create_model('tree', 'spread', label => 'kind', classes => '{x,y}', learner => 'tree', teachers => 1, features => '{"age": {"min": 17, "max": 90, "cuts": 8, "null": "missing"}, "ok": {}}') -> 'features' -> 0;
SELECT privpred.create_model('stump', 'spread', label => 'kind', classes => '{x,y}', learner => 'stump', teachers => 1, features => '{"age": {"min": 17, "max": 90, "cuts": 8}, "a1": {"min": 17, "max": 90, "cuts": [20]}, "ok": {}}') -> 'features' -> 1;
SELECT privpred.create_model('cover', 'spread', label => 'kind', classes => '{x,y}', mechanism => 'cover', epsilon => 8, features => '{"age": {"min": 17, "max": 90, "cuts": 8}}', options => '{"class": "thresholds"}') -> 'features' -> 0;
SELECT privpred.create_model('threshold', 'spread', label => 'kind', classes => '{x,y}', mechanism => 'threshold', epsilon => 1, features => '{"age": {"min": 17, "max": 90, "cuts": 8}}') -> 'features' -> 0;
SELECT refused($c$SELECT privpred.create_model('bad', 'spread', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 17, "max": 90, "cuts": 8, "null": "missing"}}')$c$);

-- bad declarations
SELECT cuts, regexp_replace(refused(format($c$SELECT declared('{"income": {"min": 0, "max": 100, "cuts": %s}}')$c$, cuts)), ' \| Declare cuts as in .*', ' | ...') AS refusal
  FROM unnest('{[],0,1,257,-3,2.5,1e400,"null",true,"\"16\"","[10, 10]","[20, 10]","[0, 50]","[50, 100]","[-1]","[101]","[\"50\"]","[null]","[[50]]","[1e400]","[10, 10.00000000000000000000001]","{\"at\": 5}"}'::text[]) WITH ORDINALITY u(cuts, n) ORDER BY n;
SELECT refused($c$SELECT declared(json_build_object('income', json_build_object('min', 0, 'max', 1000, 'cuts', ARRAY(SELECT generate_series(1, 256)))))$c$);
SELECT refused($c$SELECT declared('{"income": {"min": 1, "max": 1.0000000000000004, "cuts": 16}}')$c$);
SELECT refused($c$SELECT declared('{"income": {"min": 0, "max": 1, "cuts": [1e-310]}}')$c$);
SELECT refused($c$SELECT declared('{"income": {"cuts": 4}}')$c$);
SELECT refused($c$SELECT declared('{"income": {"min": 0, "cuts": 4}}')$c$);
SELECT refused($c$SELECT declared('{"ward": {"levels": ["A", "B"], "cuts": 4}}')$c$);
SELECT refused($c$SELECT declared('{"ok": {"cuts": 4}}')$c$);
SELECT refused($c$SELECT declared('{"ok": {"min": 0, "max": 1, "cuts": 4}}')$c$);
SELECT refused($c$SELECT declared('{"born": {"min": "2000-01-01", "max": "2000-01-04", "cuts": 4}}')$c$);
SELECT refused($c$SELECT declared('{"born": {"min": "2000-01-01", "max": "2001-01-01", "cuts": [10000]}}')$c$);
SELECT refused($c$SELECT declared('{"born": {"min": "2000-01-01", "max": "2001-01-01", "cuts": ["infinity"]}}')$c$);
SELECT refused($c$SELECT declared('{"born": {"min": "2000-01-01", "max": "2001-01-01", "cuts": ["June"]}}')$c$);
SELECT refused($c$SELECT declared(json_object_agg(c, '{"min": 0, "max": 1e6, "cuts": 256}'::json)) FROM unnest('{id,age,income}'::text[]) c$c$);
-- what anybody may write as a stored specification
SELECT refused(format($c$SELECT privpred.encode('[{"name": "v", "kind": "numeric", "min": 0, "max": 100, "cuts": %s}]', 1)$c$, cuts))
  FROM unnest('{[],"[1, 1]","[2, 1]","[0]","[100]",16,"[\"1\"]","[1e-320]","[null]","{}"}'::text[]) WITH ORDINALITY u(cuts, n) ORDER BY n;
SELECT count(*) FROM privpred.models WHERE name IN ('bad', 'declared');
SELECT privpred.drop_model(name) FROM privpred.models WHERE relation = 'spread'::regclass \g /dev/null
DROP TABLE people, copied, questions, spied, spread, public_rows, odd;
DROP FUNCTION spy_predict;
DROP AGGREGATE spy_train(text, float8[]);
DROP FUNCTION spy_step, declared, pieces, refused;
