-- Declared features: rows, jsonb and arrays encode alike; bad declarations and bad questions.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
-- what a refusal says: code, message, detail, hint
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
CREATE TYPE size AS ENUM ('small', 'large', 'huge');
CREATE DOMAIN percentage AS numeric CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE things (id bigint PRIMARY KEY, age int, share percentage, weight float4, ward text, code int, size size, ok boolean, kind text);
INSERT INTO things SELECT i, i % 100, i % 100, i % 7, CASE i % 3 WHEN 0 THEN 'A' ELSE 'B' END, i % 4, 'large', i % 2 = 0, CASE i % 2 WHEN 0 THEN 'x' ELSE 'y' END FROM generate_series(1, 200) i;
INSERT INTO things (id) SELECT i FROM generate_series(201, 210) i;
INSERT INTO things VALUES (211, 5, NULL, '-Infinity', 'unheard of', 99, 'huge', NULL, 'x');
SELECT privpred.protect('things');

-- a learner that writes down what it is asked
CREATE TABLE spied (form text, x float8[]);
CREATE FUNCTION spy_step(state text, label text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT 'seen' $$;
CREATE AGGREGATE spy_train(text, float8[]) (SFUNC = spy_step, STYPE = text);
CREATE FUNCTION spy_predict(state text, x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
$$ BEGIN INSERT INTO public.spied VALUES (current_setting('spy.form'), x); RETURN 'x'; END $$;
SELECT jsonb_pretty(privpred.create_model('spy', 'things', label => 'kind', classes => '{x,y}', learner => 'sql', teachers => 1, epsilon => 100,
  options => '{"train": "public.spy_train", "predict": "public.spy_predict"}',
  features => '{"age": {"min": 0, "max": 80}, "share": {"min": 0, "max": 100, "null": {"fill": 25}}, "weight": {"type": "numeric", "min": -1, "max": 7},
                "ward": {"levels": ["B", "A", "C"], "null": {"fill": "C"}}, "code": {"levels": [0, 1, 2, 3]}, "size": {"type": "enum"}, "ok": {"type": "boolean", "null": {"fill": true}}}')
  -> 'features');
SELECT current_user AS me \gset
SELECT privpred.grant_budget(:'me', 'things', epsilon => 100000);
CREATE TABLE questions (n int, age numeric, share float8, weight int, ward varchar, code smallint, size size, ok boolean, note text);
INSERT INTO questions VALUES
 (1, 40, 50, 3, 'A', 2, 'huge', true, 'inside'),
 (2, -5, 1000, 100, 'B', 0, 'small', false, 'clamped'),
 (3, 80, NULL, -1, NULL, 3, 'large', NULL, 'filled');
SET spy.form = 'row';
SELECT private_predict('spy', q) FROM questions q ORDER BY n;
SET spy.form = 'jsonb';
SELECT private_predict('spy', to_jsonb(q)) FROM questions q ORDER BY n;
SET spy.form = 'array';
SELECT private_predict('spy', ARRAY[40, 50, 3, 0,1,0, 0,0,1,0, 0,0,1, 1]);
SELECT private_predict('spy', ARRAY[-5, 1000, 100, 1,0,0, 1,0,0,0, 1,0,0, 0]);
SELECT private_predict('spy', ARRAY[80, NULL, -1, NULL,NULL,NULL, 0,0,0,1, 0,1,0, NULL]);
SELECT x, array_agg(form ORDER BY form) AS forms FROM spied GROUP BY x ORDER BY x;
-- the training rows' NULL, NaN, infinity and unknown level have fixed encodings
SELECT DISTINCT privpred.encode((SELECT features FROM privpred.models WHERE name = 'spy'), ROW(age, share, weight, ward, code, size, ok)) AS encoded
FROM things WHERE id > 200;

-- bad questions: the feature is named, nothing is charged
SELECT epsilon_spent AS spent FROM privpred.budgets WHERE relation = 'things'::regclass \gset
SELECT refused($c$SELECT private_predict('spy', '{"age": 1, "share": 1, "weight": 1, "ward": "Z", "code": 1, "size": "huge", "ok": true}'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', '{"age": 1, "share": 1, "weight": 1, "ward": "A", "code": 7, "size": "huge", "ok": true}'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', '{"age": null, "share": 1, "weight": 1, "ward": "A", "code": 1, "size": "huge", "ok": true}'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', '{"age": "63", "share": 1, "weight": 1, "ward": "A", "code": 1, "size": "huge", "ok": true}'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', '{"age": 1, "share": 1, "weight": 1, "ward": "A", "code": 1, "size": "huge", "ok": 1}'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', '{"age": 1, "share": 1, "weight": 1, "ward": ["A"], "code": 1, "size": "huge", "ok": true}'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', '{"age": 1e400, "share": 1, "weight": 1, "ward": "A", "code": 1, "size": "huge", "ok": true}'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', '{"age": 1}'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', '[1, 2]'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', '3'::jsonb)$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[40, 50, 3, 0,1,0, 0,0,1,0, 0,0,1])$c$);
SELECT refused($c$SELECT private_predict('spy', '{}'::float8[])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[ARRAY[40, 50, 3, 0,1,0, 0], ARRAY[0,1,0, 0,0,1, 1]])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY['NaN', 50, 3, 0,1,0, 0,0,1,0, 0,0,1, 1]::float8[])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY['Infinity', 50, 3, 0,1,0, 0,0,1,0, 0,0,1, 1]::float8[])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[NULL, 50, 3, 0,1,0, 0,0,1,0, 0,0,1, 1])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[40, 50, 3, 0,0,0, 0,0,1,0, 0,0,1, 1])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[40, 50, 3, 1,1,0, 0,0,1,0, 0,0,1, 1])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[40, 50, 3, 0.5,0.5,0, 0,0,1,0, 0,0,1, 1])$c$);
SELECT refused($c$SELECT private_predict('spy', ARRAY[40, 50, 3, 0,1,0, 0,0,1,0, 0,0,1, 2])$c$);
SELECT refused($c$SELECT private_predict('spy', q) FROM (SELECT 1 AS age, 2 AS share) q$c$);
SELECT refused($c$SELECT private_predict('spy', q) FROM (SELECT now() AS age, 2 AS share, 1 AS weight, 'A' AS ward, 1 AS code, 'huge' AS size, true AS ok) q$c$);
SELECT epsilon_spent - :spent AS charged FROM privpred.budgets WHERE relation = 'things'::regclass;

-- bad declarations
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '[]')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '7')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '[1]')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '["no such column"]')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '["ward"]')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '["tableoid"]')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 0}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 5, "max": 5}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": "low", "max": 5}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": -1e308, "max": 1e308}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 0, "max": 1e-310}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 0, "max": 1e999}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 0, "max": 5, "maximum": 3}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 0, "max": 5, "levels": ["a"]}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 0, "max": 5, "type": "boolean"}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 0, "max": 5, "null": "ignore"}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 0, "max": 5, "null": {"fill": 6}}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 0, "max": 5}, "age": {"min": 0, "max": 6}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"ward": {"min": 0, "max": 5}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"ward": {"levels": []}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"ward": {"levels": ["A", "A"]}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"ward": {"levels": ["A", null]}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"ward": {"levels": ["A", "B"], "null": {"fill": "C"}}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"weight": {"levels": ["1"]}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"ok": {"null": {"fill": 1}}}')$c$);
SELECT refused($c$SELECT privpred.create_model('bad', 'things', label => 'kind', classes => '{x,y}', features => '{"ok": true}')$c$);
SELECT count(*) FROM privpred.models WHERE name = 'bad';
SELECT privpred.drop_model('spy');
DROP TABLE things, questions, spied;
DROP FUNCTION spy_predict;
DROP AGGREGATE spy_train(text, float8[]);
DROP FUNCTION spy_step;
DROP TYPE size;
DROP DOMAIN percentage;
DROP FUNCTION refused;
