-- protect, create_model and their bad arguments; what depends on rows never fails.
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
CREATE TABLE t (id int PRIMARY KEY, patient int, x float8, y text);
INSERT INTO t SELECT i, i, (i % 100) / 100.0, CASE WHEN i % 100 > 50 THEN 'b' ELSE 'a' END FROM generate_series(1, 1000) i;
CREATE TABLE no_key (id int, x float8, y text);
CREATE TABLE odd_unit (id json NOT NULL, x float8, y text);
CREATE VIEW v AS SELECT * FROM t;
CREATE TEMP TABLE tt (id int PRIMARY KEY);

-- protect
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.protect('t', unit => 'patient')$c$);
SELECT refused($c$SELECT privpred.protect('t', unit => 'nobody')$c$);
SELECT refused($c$SELECT privpred.protect('t', unit => 'ctid')$c$);
SELECT refused($c$SELECT privpred.protect('no_key')$c$);
SELECT refused($c$SELECT privpred.protect('odd_unit', unit => 'id')$c$);
SELECT refused($c$SELECT privpred.protect('v', unit => 'id')$c$);
SELECT refused($c$SELECT privpred.protect('tt')$c$);
SELECT refused($c$SELECT privpred.protect('privpred.model')$c$);
SELECT refused($c$SELECT privpred.protect('pg_class', unit => 'oid')$c$);
SELECT refused($c$SELECT privpred.protect(NULL)$c$);
SELECT refused($c$SELECT privpred.protect('no such table')$c$);
SELECT refused($c$SELECT privpred.protect('t', protects => 'everything')$c$);
SELECT refused($c$SELECT privpred.protect('t', declared_units => 0)$c$);
SELECT refused($c$SELECT privpred.protect('t', max_rows_per_unit => -1)$c$);
SELECT refused($c$SELECT privpred.protect('t', epsilon_cap => 0)$c$);
SELECT refused($c$SELECT privpred.protect('t', epsilon_cap => 'NaN')$c$);
SELECT refused($c$SELECT privpred.unprotect('t')$c$);
SELECT privpred.protect('t');
SELECT privpred.protect('t', declared_units => 1000);
ALTER TABLE t ALTER patient SET NOT NULL;
SELECT refused($c$SELECT privpred.protect('t', unit => 'patient')$c$);

-- create_model
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,a}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,NULL}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{{a,b},{c,d}}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'x', classes => '{a,b}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'z', classes => '{a,b}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'patient', classes => '{1,01}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'patient', classes => '{1,one}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('', 't', label => 'y', classes => '{a,b}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model(NULL, 't', label => 'y', classes => '{a,b}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 0)$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 1000000000)$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', epsilon => 0)$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', epsilon => -1)$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', epsilon => 'NaN')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', epsilon => 'Infinity')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', epsilon => 1e-320)$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', mechanism => 'magic')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', mechanism => 'average', teachers => 19, epsilon => 0.1)$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b,c}', features => '["x"]', mechanism => 'average', teachers => 9, epsilon => 0.1)$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', learner => 'oracle')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', options => '[]')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', options => '{"colour": "red"}')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', options => '{"cost": -1}')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', options => '{"default": "c"}')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', options => '{"classes": ["a", "b"]}')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', learner => 'sql')$c$);
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', learner => 'sql', options => '{"train": "nowhere.train", "predict": "nowhere.predict"}')$c$);
SELECT count(*) FROM privpred.models;
SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 10, epsilon => 20) ->> 'version';
SELECT refused($c$SELECT privpred.create_model('m', 't', label => 'y', classes => '{a,b}', features => '["x"]')$c$);
SELECT refused($c$SELECT privpred.retrain('nothing')$c$);
SELECT refused($c$SELECT privpred.drop_model('nothing')$c$);
SELECT refused($c$SELECT privpred.evaluate('nothing', 't')$c$);

-- what depends on rows never fails: labels outside the classes, no rows, one class, more teachers than rows
SELECT current_user AS me \gset
SELECT privpred.grant_budget(:'me', 't', epsilon => 1000);
UPDATE t SET y = NULL WHERE id <= 5;
UPDATE t SET y = 'c' WHERE id BETWEEN 6 AND 9;
SELECT privpred.retrain('m') ->> 'version';
SELECT private_predict('m', ARRAY[0.95]), private_predict('m', ARRAY[0.05]);
UPDATE t SET y = 'b';
SELECT privpred.retrain('m') ->> 'version';
SELECT private_predict('m', ARRAY[0.95]);
DELETE FROM t;
SELECT privpred.retrain('m') ->> 'version';
SELECT private_predict('m', ARRAY[0.95]);
SELECT * FROM privpred.evaluate('m', 't');
INSERT INTO t SELECT i, i, i / 10.0, 'a' FROM generate_series(1, 10) i;
SELECT privpred.create_model('few', 't', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 50, epsilon => 20, options => '{"default": "b"}') ->> 'version';
SELECT private_predict('few', ARRAY[0.05]);

-- every learner, boolean, integer and enum labels, more than two classes, composite keys
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE people (a int, b text, x float8, z float8, flag boolean, n smallint, mood mood, PRIMARY KEY (a, b));
INSERT INTO people SELECT i, 'p' || i, (i % 90) / 90.0, (i % 7) / 7.0, i % 90 > 45, (i % 90) / 30, (enum_range(NULL::mood))[1 + (i % 90) / 30]
FROM generate_series(1, 3000) i;
SELECT privpred.protect('people');
SELECT privpred.grant_budget(:'me', 'people', epsilon => 10000);
DO $$
DECLARE
  learner text;
BEGIN
  FOREACH learner IN ARRAY ARRAY['logistic', 'svm', 'linear', 'naive_bayes', 'centroid', 'stump'] LOOP
    PERFORM privpred.create_model(learner || ' flag', 'people', label => 'flag', features => '["x", "z"]', learner => learner, teachers => 10, epsilon => 20);
    PERFORM privpred.create_model(learner || ' n', 'people', label => 'n', classes => '{0,1,2}', features => '["x", "z"]', learner => learner, teachers => 10, epsilon => 20);
    PERFORM privpred.create_model(learner || ' mood', 'people', label => 'mood', features => '["x", "z"]', learner => learner, teachers => 10, epsilon => 20);
  END LOOP;
END $$;
SET client_min_messages = error;
SELECT m.name, m.classes,
  -- one cut cannot tell three classes apart, and which two it tells depends on the salt
  CASE WHEN m.learner <> 'stump' THEN private_predict(m.name, ARRAY[0.02, 0.5]) END AS low,
  CASE WHEN m.learner <> 'stump' THEN private_predict(m.name, ARRAY[0.98, 0.5]) END AS high,
  (privpred.evaluate(m.name, 'people')).majority_accuracy > 0.6 AS learnt
FROM privpred.models m WHERE relation = 'people'::regclass ORDER BY m.name COLLATE "C";
RESET client_min_messages;
DROP TABLE t, no_key, odd_unit, people CASCADE;
DROP TYPE mood;
DROP FUNCTION refused;
