-- cover and label_private with more than two classes; halfspaces and what is promised of them
SET client_min_messages = warning;
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
CREATE ROLE classes_owner;
CREATE ROLE classes_analyst;
CREATE SCHEMA classes AUTHORIZATION classes_owner;
SET ROLE classes_owner;
SET search_path = classes, public;
GRANT USAGE ON SCHEMA classes TO classes_analyst;
CREATE TYPE state AS ENUM ('well', 'ill', 'worse');
CREATE TABLE people (id int PRIMARY KEY, age int, bmi int, ward text, smoker boolean,
  f1 float8, f2 float8, f3 float8, f4 float8, f5 float8, f6 float8, f7 float8, f8 float8, f9 float8, f10 float8,
  above text, inside state, in_b int, box text, plane text, by_ward state, far text);
INSERT INTO people
SELECT id, age, bmi, ward, smoker, f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], CASE WHEN age >= 60 THEN 'worse' ELSE 'well' END, CASE WHEN age >= 20 AND age < 50 THEN 'ill' ELSE 'worse' END::state,
  CASE WHEN ward = 'B' THEN 7 ELSE 5 END, CASE WHEN age < 50 AND bmi < 25 THEN 'ill' ELSE 'well' END,
  CASE WHEN age + 2 * bmi >= 90 THEN 'ill' ELSE 'worse' END, CASE ward WHEN 'A' THEN 'worse' WHEN 'B' THEN 'well' ELSE 'ill' END::state,
  CASE WHEN f[1] + f[2] + f[3] - f[4] >= 1 THEN 'ill' ELSE 'well' END
FROM (SELECT i AS id, (i * 37) % 100 AS age, (i * 61) % 50 AS bmi, (ARRAY['A', 'B', 'C'])[1 + i % 3] AS ward, i % 2 = 0 AS smoker,
  ARRAY(SELECT ((i * (2 * j + 1) * 7919::bigint) % (997 + 12 * j)) / (997.0 + 12 * j) FROM generate_series(1, 10) j ORDER BY j) AS f FROM generate_series(1, 10000) i) s;
SELECT privpred.protect('people', declared_units => 10000);
SELECT privpred.grant_budget('classes_analyst', 'people', epsilon => 100, force => true);

-- every class of hypotheses is learnt, with a class on each side and one that is never there
CREATE TABLE models (name text PRIMARY KEY, label text, classes text[], features json, options jsonb, least float8);
GRANT SELECT ON models TO classes_analyst;
INSERT INTO models VALUES
('thresholds', 'above', '{well,ill,worse}', '{"age": {"min": 0, "max": 100}}', '{"class": "thresholds"}', 0.98),
('realizable', 'above', '{well,ill,worse}', '{"age": {"min": 0, "max": 100}}', '{"class": "thresholds", "realizable": true}', 0.98),
('intervals', 'inside', NULL, '{"age": {"min": 0, "max": 100}}', '{"class": "intervals", "accuracy": 0.2}', 0.97),
('stumps', 'in_b', '{5,6,7,8}', '{"age": {"min": 0, "max": 100}, "ward": {"levels": ["A", "B", "C"]}, "smoker": {}}', '{}', 0.999),
('rectangles', 'box', '{well,ill,worse}', '{"bmi": {"min": 0, "max": 50}, "age": {"min": 0, "max": 100}}', '{"class": "rectangles"}', 0.9),
('boxes', 'box', '{well,ill,worse}', '{"bmi": {"min": 0, "max": 50}, "age": {"min": 0, "max": 100}, "smoker": {}}', '{"class": "rectangles", "accuracy": 0.6}', 0.85),
('halfspaces', 'plane', '{well,ill,worse}', '{"bmi": {"min": 0, "max": 50}, "age": {"min": 0, "max": 100}}', '{"class": "halfspaces"}', 0.95);
SELECT count(privpred.create_model(name, 'people', label => label::name, classes => classes, features => features,
  mechanism => 'cover', epsilon => 5, options => options)) FROM models;
SET client_min_messages = error;
SELECT name, private_accuracy >= least AS learnt, private_accuracy = majority_accuracy AS fixed FROM models, privpred.evaluate(name, 'people') ORDER BY name;
SET ROLE classes_analyst;
SELECT private_predict('thresholds', ARRAY[5]) AS by_array, private_predict('thresholds', '{"age": 95}'::jsonb) AS by_jsonb, private_predict('thresholds', r) AS by_row FROM (VALUES (95)) r (age);
-- where which class is said, in the columns' own units; the last line is for what is left
SELECT class, feature, low::float8 BETWEEN 55 AND 65 AS about, high FROM privpred.explain('thresholds');
SELECT class, feature, low IS NOT NULL AS from_here FROM privpred.explain('rectangles');
SELECT class, feature, effect_high > effect_low AS rises FROM privpred.explain('halfspaces');
SELECT class, feature, low, high FROM privpred.explain('stumps');
SELECT * FROM privpred.cost('thresholds', 5);
RESET ROLE;
SET ROLE classes_owner;
SELECT name, p ->> 'kind' AS kind, p -> 'inside' AS inside, p -> 'outside' AS outside FROM models, LATERAL (SELECT privpred.export_model(name)::jsonb -> 'predictor') e (p) WHERE name IN ('thresholds', 'stumps', 'rectangles', 'halfspaces') ORDER BY name;
SELECT verdict, count(*) FROM unnest('{thresholds,halfspaces}'::text[]) m, privpred.audit(m) GROUP BY verdict;
SELECT refused($c$SELECT privpred.distill('student', 'thresholds', 'classes.models', learner => 'tree')$c$);
SELECT m ->> 'model' AS model, m -> 'version' AS version FROM privpred.forget('people', 1, delete_rows => true) f, jsonb_array_elements(f -> 'models') m ORDER BY 1;

-- a finite class whose labels are names, or numbers from 0
CREATE TABLE by_name AS SELECT h AS hypothesis, p AS point, (enum_range(NULL::state))[1 + (h / 3 ^ (ascii(p) - 65))::int % 3] AS label FROM generate_series(0, 26) h, unnest('{A,B,C}'::text[]) p;
CREATE TABLE by_text AS SELECT hypothesis, point, label::text FROM by_name;
CREATE TABLE by_number AS SELECT hypothesis, point, array_position(enum_range(NULL::state), label) - 1 AS label FROM by_name;
CREATE TABLE by_boolean AS SELECT hypothesis, point, label = 'ill' AS label FROM by_name;
CREATE TABLE of_labels (LIKE people INCLUDING ALL);
SELECT privpred.protect('of_labels', protects => 'labels', declared_units => 10000);
CREATE FUNCTION finite(of text, label name DEFAULT 'by_ward', classes text[] DEFAULT NULL, mechanism text DEFAULT 'cover') RETURNS text LANGUAGE sql AS $$
  SELECT refused(format('SELECT privpred.create_model(%L, %L, label => %L, classes => %L, features => %L, mechanism => %L, epsilon => 5, options => %L)',
    of || mechanism, CASE mechanism WHEN 'label_private' THEN 'of_labels' ELSE 'people' END, label, classes, '{"ward": {"levels": ["C", "B", "A"]}}', mechanism, jsonb_build_object('class_table', 'classes.' || of))) $$;
SELECT f, finite(f) FROM unnest('{by_name,by_text,by_number,by_boolean}'::text[]) f;
SELECT f, private_accuracy FROM unnest('{by_name,by_text,by_number}'::text[]) f, privpred.evaluate(f || 'cover', 'people') ORDER BY f;
SELECT private_accuracy < 0.7 AS of_two_classes_only FROM privpred.evaluate('by_booleancover', 'people');
SELECT f, e.* FROM unnest('{by_name,by_number}'::text[]) f, LATERAL (SELECT class, feature, low FROM privpred.explain(f || 'cover')) e ORDER BY f, low;
SELECT privpred.export_model('by_textcover') #> '{predictor,labels}' AS labels;
SELECT finite('by_text', 'above', '{well,ill,bad}', mechanism => 'label_private');
SELECT finite('by_name', mechanism => 'label_private');
UPDATE by_number SET label = 3 WHERE hypothesis = 5 AND point = 'A';
SELECT finite('by_number', mechanism => 'label_private');
ALTER TABLE by_boolean ALTER label TYPE float8 USING 1;
SELECT finite('by_boolean', 'in_b', '{5,6,7}', mechanism => 'label_private');

-- many classes leave room for few shapes, and say so
SELECT n, refused(format('SELECT privpred.create_model(%L, %L, label => %L, classes => %L, features => %L, mechanism => %L, options => %L)', 'many' || n, 'people', 'in_b',
  (SELECT array_agg(c) FROM generate_series(1, n) c), '{"age": {"min": 0, "max": 100}}', 'cover', '{"class": "thresholds", "accuracy": 0.2}')) FROM unnest('{100,1000}'::int[]) n;

-- halfspaces: of one and two numbers all are near a candidate, of more a share of 0.99; the radius is added to what is promised
CREATE FUNCTION promise(model text) RETURNS text LANGUAGE sql AS $$
  SELECT regexp_replace(p ->> 'promise', '\d+(\.\d+)?(e[-+]\d+)?', '#', 'g') || ' ' || concat_ws(' ', round((p ->> 'cover_radius')::numeric, 2), p ->> 'cover_share', round((p ->> 'accuracy')::numeric, 2), p ->> 'farthest_found')
  FROM (SELECT privpred.export_model(model)::jsonb -> 'predictor') e (p) $$;
CREATE FUNCTION plane(name text, width int, options jsonb DEFAULT '{}', mechanism text DEFAULT 'cover', relation text DEFAULT 'people') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM privpred.create_model(name, relation::regclass, label => 'far', classes => '{well,ill}', mechanism => mechanism, epsilon => 5,
    features => (SELECT json_object_agg('f' || j, '{"min": 0, "max": 1}'::json) FROM generate_series(1, width) j), options => '{"class": "halfspaces"}' || options);
  RETURN promise(name);
END $$;
SELECT plane('one', 1);
SELECT plane('two', 2);
SELECT plane('two, never errs', 2, '{"realizable": true, "accuracy": 0.05}');
SELECT plane('three', 3);
SELECT plane('ten', 10, '{"accuracy": 0.12}');
SELECT plane('ten, never errs', 10, '{"realizable": true, "accuracy": 0.12}');
SELECT name, private_accuracy > 0.7 AS learnt FROM unnest('{three,two}'::text[]) name, privpred.evaluate(name, 'people') ORDER BY name;
CREATE TABLE rows_like AS SELECT f1, f2, f3 FROM people;
SELECT plane('reference', 3, '{"reference": "classes.rows_like"}');
CREATE TABLE few_rows AS SELECT * FROM rows_like LIMIT 40;
SELECT plane('few', 3, '{"reference": "classes.few_rows"}');
CREATE TABLE answers (id int PRIMARY KEY, f1 float8, f2 float8, f3 float8, far text);
INSERT INTO answers SELECT id, f1, f2, f3, far FROM people;
SELECT privpred.protect('answers', unit => 'id', protects => 'labels', declared_units => 10000, max_rows_per_unit => 1);
-- (its figures depend on the salt a little)
SELECT regexp_replace(plane('own', 3, mechanism => 'label_private', relation => 'answers'), ' 0\.0\d 0\.99 0\.(0[89]|1[0-2])$', '') AS plane;
-- what it is does not depend on rows, except where those are public
DELETE FROM people WHERE id > 5;
SELECT privpred.retrain('three') -> 'version' AS version;
SELECT privpred.retrain('halfspaces') -> 'version' AS version;
SELECT promise('three');
SELECT promise('halfspaces');

-- both upper bounds; the better one where one cut never errs
SELECT rows_needed, substring(grounds FROM 'within.*; (within.*)') AS rates FROM privpred.plan(100000, 10, 2, 1) WHERE mechanism = 'cover';
SELECT accuracy, mechanism, rows_needed, parameters FROM unnest('{0.95,1}'::float8[]) accuracy, privpred.plan(1000000, 1, 2, 1, accuracy => accuracy) WHERE mechanism = 'cover';
SELECT mechanism, why FROM privpred.plan(100000, 10, 3, 1) WHERE mechanism = 'cover';

-- models of the version before are asked as they were, and damaged ones are refused
RESET ROLE;
CREATE FUNCTION pg_temp.before(state bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT '\x00000001' || substr(state, 5, 8) || substr(state, 17, 32) || substr(state, 57) $$;
CREATE TEMP TABLE stored AS SELECT name, state FROM privpred.model WHERE name IN ('two', 'three', 'thresholds', 'by_textcover');
CREATE TEMP TABLE said AS SELECT name, privpred.read_model(name)::jsonb -> 'predictor' AS predictor FROM unnest('{two,three}'::text[]) name;
UPDATE privpred.model SET state = pg_temp.before(state) WHERE name IN ('two', 'three');
ANALYZE privpred.model;
SELECT name, (privpred.read_model(name)::jsonb -> 'predictor') @> (predictor - '{promise,cover_radius,cover_share,accuracy,smoothness}'::text[]) AS same FROM said;
SELECT classes.promise('two');
UPDATE privpred.model SET state = pg_temp.before(state) WHERE name = 'thresholds';
ANALYZE privpred.model;
SELECT refused($c$SELECT privpred.evaluate('thresholds', 'classes.people')$c$);
UPDATE privpred.model m SET state = set_byte(s.state, v.byte, v.new) FROM stored s, (VALUES ('thresholds', 11, 3), ('by_textcover', 71, 255)) v (name, byte, new) WHERE s.name = m.name AND v.name = m.name;
ANALYZE privpred.model;
SELECT name, refused(format('SELECT privpred.evaluate(%L, %L)', name, 'classes.people')) FROM unnest('{thresholds,by_textcover}'::text[]) name;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA classes CASCADE;
DROP OWNED BY classes_owner, classes_analyst;
DROP ROLE classes_owner, classes_analyst;
DROP FUNCTION refused;
