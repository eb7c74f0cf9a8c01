-- cover and label_private: one of many candidates, released
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
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
CREATE ROLE cover_owner;
CREATE SCHEMA cover AUTHORIZATION cover_owner;
CREATE TABLE cover.not_for_owner (age float8);
INSERT INTO cover.not_for_owner VALUES (1);
SET ROLE cover_owner;
SET search_path = cover, public;
CREATE TABLE people (id int PRIMARY KEY, age float8, bmi float8, ward text, smoker boolean,
  above text, inside text, in_b text, box text, plane text);
INSERT INTO people
SELECT id, age, bmi, ward, smoker, (ARRAY['no', 'yes'])[1 + (age >= 60)::int], (ARRAY['no', 'yes'])[1 + (age >= 20 AND age < 50)::int],
  (ARRAY['no', 'yes'])[1 + (ward = 'B')::int], (ARRAY['no', 'yes'])[1 + (age < 50 AND bmi < 25)::int],
  (ARRAY['no', 'yes'])[1 + (age + 2 * bmi >= 90)::int]
FROM (SELECT i AS id, (i * 37) % 100 AS age, (i * 61) % 50 AS bmi, (ARRAY['A', 'B', 'C'])[1 + i % 3] AS ward, i % 2 = 0 AS smoker
  FROM generate_series(1, 10000) i) s;

-- the number of units must be declared
SELECT privpred.protect('people');
SELECT refused($c$SELECT privpred.create_model('m', 'people', label => 'above', classes => '{no,yes}',
  features => '{"age": {"min": 0, "max": 100}}', mechanism => 'cover')$c$);
SELECT privpred.protect('people', declared_units => 10000);
SELECT privpred.grant_budget('cover_owner', 'people', epsilon => 1000);

-- every class is learnt
CREATE TABLE models (name text PRIMARY KEY, label text, features json, options jsonb, least float8);
INSERT INTO models VALUES
('thresholds', 'above', '{"age": {"min": 0, "max": 100}}', '{"class": "thresholds"}', 0.98),
('realizable', 'above', '{"age": {"min": 0, "max": 100}}', '{"class": "thresholds", "accuracy": 0.2, "realizable": true}', 0.98),
('intervals', 'inside', '{"age": {"min": 0, "max": 100}}', '{"class": "intervals", "accuracy": 0.2, "beta": 0.01}', 0.97),
('stumps', 'in_b', '{"age": {"min": 0, "max": 100}, "ward": {"levels": ["A", "B", "C"]}, "smoker": {}}', '{}', 0.999),
('stumps on a number', 'above', '{"bmi": {"min": 0, "max": 50}, "age": {"min": 0, "max": 100}}', '{}', 0.98),
('rectangles', 'box', '{"bmi": {"min": 0, "max": 50}, "age": {"min": 0, "max": 100}}', '{"class": "rectangles"}', 0.9),
('boxes', 'box', '{"bmi": {"min": 0, "max": 50}, "age": {"min": 0, "max": 100}, "smoker": {}}', '{"class": "rectangles"}', 0.9),
('halfspaces', 'plane', '{"bmi": {"min": 0, "max": 50}, "age": {"min": 0, "max": 100}}', '{"class": "halfspaces"}', 0.95),
('halfspaces above', 'plane', '{"bmi": {"min": 0, "max": 50}, "age": {"min": 0, "max": 100}, "ward": {"levels": ["A", "B", "C"]}}', '{"class": "halfspaces"}', 0.75);
SELECT name, privpred.create_model(name, 'people', label => label::name, classes => '{no,yes}', features => features,
  mechanism => 'cover', epsilon => 5, options => options) -> 'options' AS options FROM models ORDER BY name;
SELECT name, private_accuracy >= least AS learnt, private_accuracy = majority_accuracy AS fixed
FROM models, privpred.evaluate(name, 'people') ORDER BY name;
SELECT charge_kind, learner, teachers FROM privpred.models WHERE name = 'thresholds';

-- answers of one version agree with one another
SELECT age, private_predict('thresholds', ARRAY[age]) FROM unnest(ARRAY[-5, 0, 40, 80, 100, 1000]::float8[]) age;
SELECT count(DISTINCT private_predict('thresholds', ARRAY[60.5])) FROM generate_series(1, 20);
SELECT refused($c$SELECT private_score('thresholds', ARRAY[1.0])$c$);
-- each role paid once, at its first question, and the ledger shows it; a new version is paid for again
SELECT epsilon_spent FROM privpred.budgets;
SELECT kind, model, version, sum(epsilon) AS epsilon FROM privpred.ledger WHERE model = 'thresholds' GROUP BY kind, model, version HAVING sum(epsilon) <> 0;
SET client_min_messages = warning;
SELECT privpred.retrain('thresholds') -> 'version' AS version;
RESET client_min_messages;
SELECT private_predict('thresholds', ARRAY[age]) FROM unnest(ARRAY[1, 2, 99]::float8[]) age;
SELECT epsilon_spent FROM privpred.budgets;

-- a public reference
CREATE TABLE reference AS SELECT 50 + (i % 100) / 5.0 AS age, 'x' AS other FROM generate_series(1, 2000) i;
SELECT privpred.create_model('reference', 'people', label => 'above', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}',
  mechanism => 'cover', epsilon => 5, options => '{"class": "thresholds", "reference": "cover.reference"}') -> 'options';
SELECT private_accuracy >= 0.98 AS learnt FROM privpred.evaluate('reference', 'people');
CREATE FUNCTION declare(options jsonb, features json DEFAULT '{"age": {"min": 0, "max": 100}}', classes text[] DEFAULT '{no,yes}',
  mechanism text DEFAULT 'cover', epsilon float8 DEFAULT 5, learner text DEFAULT 'logistic') RETURNS text LANGUAGE sql AS $$
SELECT refused(format('SELECT privpred.create_model(%L, %L, label => %L, classes => %L, features => %L, mechanism => %L, epsilon => %s, options => %L, learner => %L)',
  'refused', 'cover.people', 'above', classes, features, mechanism, epsilon, options, learner)) $$;
SELECT declare('{"reference": "reference"}');
SELECT declare('{"reference": "cover.no_such"}');
SELECT declare('{"reference": "cover.people"}');
SELECT declare('{"reference": "cover.not_for_owner"}');
SELECT declare('{"reference": "cover.models"}');
SELECT declare('{"reference": 5}');
CREATE TABLE nothing (age float8);
SELECT declare('{"reference": "cover.nothing"}');
-- as many rows as the memory for training has room for, and no more than there may be
CREATE VIEW too_many AS SELECT i % 100 AS age, 'A' AS ward FROM generate_series(1, 100001) i;
SET maintenance_work_mem = '1MB';
SELECT declare('{"reference": "cover.too_many"}', features => '{"age": {"min": 0, "max": 100}, "ward": {"levels": ["A", "B"]}}');
RESET maintenance_work_mem;
SELECT declare('{"reference": "cover.too_many"}');

-- a finite class
CREATE TABLE wards (hypothesis text, point text, label boolean);
INSERT INTO wards SELECT 'only ' || h, p, h = p FROM unnest('{A,B,C}'::text[]) h, unnest('{A,B,C}'::text[]) p;
SELECT privpred.create_model('wards', 'people', label => 'in_b', classes => '{no,yes}', features => '{"ward": {"levels": ["C", "B", "A"]}}',
  mechanism => 'cover', epsilon => 5, options => '{"class_table": "cover.wards"}') -> 'options';
SELECT private_accuracy FROM privpred.evaluate('wards', 'people');
SELECT declare('{"class_table": "cover.wards", "class": "stumps"}', features => '{"ward": {"levels": ["A", "B", "C"]}}');
DROP TABLE wards;
SELECT private_predict('wards', '{"ward": "B"}'::jsonb), private_predict('wards', '{"ward": "C"}'::jsonb);
SELECT refused($c$SELECT privpred.retrain('wards')$c$);

-- refusals, from declared numbers alone
SELECT declare('{}', classes => '{no}');
SELECT declare('{"class": "circles"}');
SELECT declare('{"class": "thresholds"}', features => '{"age": {"min": 0, "max": 100}, "smoker": {}}');
SELECT declare('{"class": "intervals"}', features => '{"ward": {"levels": ["A", "B"]}}');
SELECT declare('{"class": "rectangles"}', features => '{"ward": {"levels": ["A", "B"]}}');
SELECT declare('{"class": "halfspaces"}', features => (SELECT json_build_object('ward', json_build_object('levels', json_agg(i))) FROM generate_series(1, 65) i));
SELECT declare('{"accuracy": 0.01}');
SELECT declare('{"accuracy": 0.01, "realizable": true}');
SELECT declare('{"accuracy": 2}');
SELECT declare('{"beta": 0}');
SELECT declare('{"realizable": 1}');
SELECT declare('{"class": "rectangles", "accuracy": 0.05}', features => '{"age": {"min": 0, "max": 100}, "bmi": {"min": 0, "max": 50}}');
SELECT declare('{}', epsilon => 1e-6);
SELECT split_part(declare('{"cost": 1}'), ' | ', 2);
SELECT declare('{}', learner => 'svm');
SELECT declare('{}', mechanism => 'label_private');

-- the accuracy that is named in a hint will do, and the number of units, too
SELECT privpred.protect('people', declared_units => 3000);
SELECT declare('{"class": "thresholds", "accuracy": 0.1}');
SELECT declare('{"class": "thresholds", "accuracy": 0.144}');
SELECT privpred.drop_model('refused');
SELECT privpred.protect('people', declared_units => 6458);
SELECT declare('{"class": "thresholds", "accuracy": 0.1}');

-- what is proved of the class is promised, in the notices above and in the export
SELECT name, round((p ->> 'accuracy')::numeric, 3) AS accuracy, round((p ->> 'cover_radius')::numeric, 6) AS cover_radius, p -> 'cover_share' AS share, p ->> 'promise' AS promise
FROM unnest('{thresholds,intervals,rectangles,halfspaces,halfspaces above,reference,wards}'::text[]) WITH ORDINALITY u (name, i), LATERAL (SELECT privpred.export_model(name)::jsonb -> 'predictor') e (p) ORDER BY i;
-- a reference stands for what its rows were drawn from: with 50,000 of them, some of it is known
CREATE TABLE large_reference AS SELECT (i * 7919 % 50000) / 500.0 AS age FROM generate_series(1, 50000) i;
SELECT privpred.create_model('large reference', 'people', label => 'above', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}',
  mechanism => 'cover', epsilon => 5, options => '{"class": "thresholds", "reference": "cover.large_reference", "accuracy": 0.2}') -> 'options';
SELECT abs((p ->> 'cover_radius')::float8 - 2 * sqrt(ln(2 / 0.05) / (2 * 50000))) < 1e-9 AS a_term_for_it, p -> 'accuracy' AS accuracy FROM (SELECT privpred.export_model('large reference')::jsonb -> 'predictor') e (p);

-- empty, one row, ten thousand: the same but for the answers
CREATE TABLE empty (LIKE people INCLUDING ALL);
CREATE TABLE one (LIKE people INCLUDING ALL);
INSERT INTO one SELECT * FROM people LIMIT 1;
CREATE TABLE many (LIKE people INCLUDING ALL);
INSERT INTO many SELECT * FROM people;
CREATE TABLE flow AS SELECT t.name AS of, m.name, m.features, m.options FROM unnest('{empty,one,many}'::text[]) t(name), models m;
SELECT count(privpred.protect(t::regclass, declared_units => 10000)), count(privpred.grant_budget('cover_owner', t::regclass, epsilon => 1000))
FROM unnest('{empty,one,many}'::text[]) t;
SET client_min_messages = warning;
SELECT count(privpred.create_model(of || ' ' || name, of::regclass, label => 'above', classes => '{no,yes}', features => features,
  mechanism => 'cover', epsilon => 0.5, options => options)) FROM flow;
SELECT name, count(*), count(DISTINCT refused) AS ways, min(refused) AS way FROM (
SELECT name, refused(format('SELECT privpred.create_model(%L, %L, label => %L, classes => %L, features => %L, mechanism => %L, epsilon => %s, options => %L)',
  of || name, of, 'above', '{no,yes}', features, 'cover', 0.001, options)) FROM flow) s GROUP BY name ORDER BY name;
RESET client_min_messages;
RESET ROLE;
SELECT f.name, count(DISTINCT length(m.state)) AS sizes, count(*) FROM cover.flow f JOIN privpred.model m ON m.name = f.of || ' ' || f.name GROUP BY f.name ORDER BY 1;
SET ROLE cover_owner;
SELECT count(*) AS answered FROM flow, (SELECT 5.0 AS age, 5.0 AS bmi, 'A' AS ward, true AS smoker) p
WHERE private_predict(of || ' ' || name, p) IN ('no', 'yes');
-- what the owner is told, too
SELECT privpred.retrain('empty thresholds') -> 'version' AS version;
SELECT privpred.retrain('one thresholds') -> 'version' AS version;
SELECT privpred.retrain('many thresholds') -> 'version' AS version;

-- rows that cannot be used are no error
UPDATE many SET age = CASE id % 3 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN 'Infinity' END, above = CASE id % 5 WHEN 0 THEN 'no' WHEN 1 THEN 'maybe' END;
SELECT privpred.retrain('many thresholds') -> 'version' AS version;

-- label_private: a cover of the rows' own features, where those are not protected
CREATE TABLE survey (id int NOT NULL, age float8, answer text);
INSERT INTO survey SELECT i / 2, 70 + (i * 7) % 10 + (i % 9973) / 9973.0, CASE WHEN (i * 7) % 10 >= 5 THEN 'yes' ELSE 'no' END FROM generate_series(1, 20000) i;
SELECT privpred.protect('survey', unit => 'id', protects => 'labels', declared_units => 10000, max_rows_per_unit => 1);
SELECT privpred.create_model('survey', 'survey', label => 'answer', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 1000000}}',
  mechanism => 'label_private', epsilon => 5, options => '{"class": "thresholds"}') -> 'options';
SELECT private_accuracy >= 0.95 AS learnt FROM privpred.evaluate('survey', 'survey');
SELECT privpred.create_model('survey, uniform', 'survey', label => 'answer', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 1000000}}',
  mechanism => 'cover', epsilon => 5, options => '{"class": "thresholds"}') -> 'options';
SELECT private_accuracy < 0.6 AS a_uniform_reference_does_not_help FROM privpred.evaluate('survey, uniform', 'survey');
SELECT split_part(refused($c$SELECT privpred.create_model('m', 'survey', label => 'answer', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 1000000}}',
  mechanism => 'label_private', options => '{"reference": "cover.reference"}')$c$), ' | ', 2);
-- the cover is made from some of the rows, and what is said of it holds for all of them; 49 cuts of equal shares would be within 0.01
CREATE TABLE large (id int PRIMARY KEY, age float8, answer text);
INSERT INTO large SELECT i, (i * 7919::bigint % 60000) / 600.0, CASE WHEN i % 2 = 0 THEN 'yes' ELSE 'no' END FROM generate_series(1, 60000) i;
SELECT privpred.protect('large', protects => 'labels', declared_units => 60000);
SET client_min_messages = warning;
SELECT privpred.create_model('large', 'large', label => 'answer', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}',
  mechanism => 'label_private', epsilon => 5, options => '{"class": "thresholds", "accuracy": 0.04}') -> 'version' AS version;
SELECT privpred.create_model('large, plane', 'large', label => 'answer', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}',
  mechanism => 'label_private', epsilon => 5, options => '{"class": "halfspaces"}') -> 'version' AS version;
RESET client_min_messages;
SELECT p -> 'candidates' AS candidates, (p ->> 'cover_radius')::float8 > 0.0101 AS of_all_rows, abs((p ->> 'accuracy')::float8 - (p ->> 'cover_radius')::float8 - 0.01) < 1e-12 AS and_the_draw
FROM (SELECT privpred.export_model('large')::jsonb -> 'predictor') e (p);
SELECT p ? 'accuracy' AS promised, p ? 'cover_radius' AS proved FROM (SELECT privpred.export_model('large, plane')::jsonb -> 'predictor') e (p);
-- no label decides what the cover is: the same radius, whatever the labels
UPDATE survey SET answer = NULL;
SELECT privpred.retrain('survey') -> 'version' AS version;
UPDATE survey SET answer = 'maybe';
SELECT privpred.retrain('survey') -> 'version' AS version;
DELETE FROM survey;
SELECT privpred.retrain('survey') -> 'version' AS version;

-- a stored model with a changed byte, or without its last ones, is refused or asked, and never worse
RESET ROLE;
CREATE FUNCTION damage(which text, OUT bytes int, OUT cut_off int, OUT changed int, OUT other int) LANGUAGE plpgsql AS $$
DECLARE
  stored bytea = (SELECT state FROM privpred.model WHERE name = which);
BEGIN
  bytes = length(stored);
  cut_off = 0; changed = 0; other = 0;
  FOR i IN 0 .. 2 * bytes - 1 LOOP
    UPDATE privpred.model SET state = CASE WHEN i < bytes THEN substr(stored, 1, i) ELSE set_byte(stored, i - bytes, 255 - get_byte(stored, i - bytes)) END WHERE name = which;
    ANALYZE privpred.model;  -- makes sessions forget their copies
    BEGIN
      PERFORM privpred.evaluate(which, 'cover.people');
      changed = changed + 1;
    EXCEPTION WHEN data_corrupted THEN
      IF i < bytes THEN cut_off = cut_off + 1; ELSE changed = changed + 1; END IF;
    WHEN OTHERS THEN
      other = other + 1;
    END;
  END LOOP;
  UPDATE privpred.model SET state = stored WHERE name = which;
END $$;
DELETE FROM cover.people WHERE id > 3;
SET client_min_messages = error;
SELECT m, bytes = cut_off AND bytes = changed AS handled, other FROM unnest('{thresholds,wards}'::text[]) m, damage(m);
DROP FUNCTION damage;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA cover CASCADE;
DROP OWNED BY cover_owner;
DROP ROLE cover_owner;
DROP FUNCTION refused;
