-- The learner that docs/owner.md shows, word for word (test/check_docs.sh compares).
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
CREATE ROLE docs_owner;
CREATE ROLE docs_analyst;
CREATE SCHEMA docs AUTHORIZATION docs_owner;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO docs_owner', current_database()); END $$;
SET ROLE docs_owner;
SET search_path = docs, public;
CREATE TABLE patients (stay_id int PRIMARY KEY, patient_id int NOT NULL, age int, ward text, smoker boolean, readmitted text);
INSERT INTO patients
SELECT i, i / 2, (i * 37) % 100, (ARRAY['A', 'B', 'C'])[1 + i % 3], i % 2 = 0,
  CASE WHEN (i * 37) % 100 > 50 THEN 'yes' ELSE 'no' END
FROM generate_series(1, 2000) i;
SELECT privpred.protect('patients', unit => 'patient_id');

-- begin docs/owner.md
CREATE SCHEMA nn;
CREATE TYPE nn.example AS (label text, x float8[]);

-- train: an aggregate over (label, float8[]); what it returns is the teacher
CREATE FUNCTION nn.keep(model nn.example[], label text, x float8[]) RETURNS nn.example[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  model := array_append(model, ROW(label, x)::nn.example);
  RETURN model;
END $$;
CREATE AGGREGATE nn.train(text, float8[]) (SFUNC = nn.keep, STYPE = nn.example[], INITCOND = '{}');

-- predict: a function of the teacher and float8[] that returns a label
CREATE FUNCTION nn.distance(a float8[], b float8[]) RETURNS float8
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  d float8 := 0;
BEGIN
  FOR i IN 1 .. cardinality(a) LOOP
    d := d + (a[i] - b[i]) ^ 2;
  END LOOP;
  RETURN d;
END $$;
CREATE FUNCTION nn.predict(model nn.example[], x float8[]) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (SELECT n.label
            FROM (SELECT e.label FROM unnest(model) e
                  ORDER BY nn.distance(e.x, predict.x) FETCH FIRST 9 ROWS WITH TIES) n
           GROUP BY n.label ORDER BY count(*) DESC, n.label LIMIT 1);
END $$;

SELECT privpred.create_model('neighbours', 'patients',
         label    => 'readmitted', classes => '{no,yes}',
         features => '{"age": {"min": 0, "max": 110}, "ward": {"levels": ["A", "B", "C"]}, "smoker": {}}',
         learner  => 'sql', options => '{"train": "nn.train", "predict": "nn.predict"}',
         teachers => 20, epsilon => 1) ->> 'version' AS version;
-- end docs/owner.md

-- it has learnt, and evaluate runs it
CREATE TABLE known AS SELECT * FROM patients WHERE stay_id % 37 = 0;
SELECT rows, private_accuracy > 0.85 AS private, majority_accuracy > 0.85 AS majority FROM privpred.evaluate('neighbours', 'known');

-- an analyst without any right on schema nn gets answers, and pays; gap 20 at epsilon 1 errs with probability 2e-5
SELECT privpred.grant_budget('docs_analyst', 'patients', epsilon => 2);
SET ROLE docs_analyst;
SELECT nn.predict('{}', '{}');
SELECT private_predict('neighbours', '{"age": 95, "ward": "A", "smoker": true}'::jsonb) AS old,
  private_predict('neighbours', '{"age": 5, "ward": "A", "smoker": false}'::jsonb) AS young;
SELECT epsilon_left FROM privpred.budgets;

-- training and the answer are functions of the rows, not of their order: retraining on shuffled rows changes no vote
RESET ROLE;
CREATE TABLE docs.teachers AS SELECT version, predictor FROM privpred.model WHERE name = 'neighbours';
CREATE TABLE docs.shuffled AS SELECT * FROM docs.patients ORDER BY md5(stay_id::text);
TRUNCATE docs.patients;
INSERT INTO docs.patients SELECT * FROM docs.shuffled;
SELECT privpred.retrain('neighbours') ->> 'version' AS version;
INSERT INTO docs.teachers SELECT version, predictor FROM privpred.model WHERE name = 'neighbours';
GRANT SELECT ON docs.teachers TO docs_owner;
-- a superuser does not run what others wrote
\set VERBOSITY sqlstate
SELECT privpred.votes(predictor, ARRAY[0, 0, 1, 0, 0]) FROM docs.teachers;
\set VERBOSITY default
SET ROLE docs_owner;
SELECT count(*) AS changed FROM docs.teachers b, docs.teachers m, generate_series(0, 20) a
WHERE b.version = 1 AND m.version = 2 AND
  privpred.votes(b.predictor, ARRAY[a / 20.0, 0, 1, 0, 0]) IS DISTINCT FROM privpred.votes(m.predictor, ARRAY[a / 20.0, 0, 1, 0, 0]);

-- a predict function that fails votes the default class; the asker hears nothing of it
SET ROLE docs_owner;
CREATE OR REPLACE FUNCTION nn.distance(a float8[], b float8[]) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RAISE INFO 'a row is %', a;
  RAISE EXCEPTION 'a row is %', a;
END $$;
SELECT privpred.grant_budget('docs_analyst', 'patients', epsilon => 3);
SET ROLE docs_analyst;
SELECT private_predict('neighbours', '{"age": 95, "ward": "A", "smoker": true}'::jsonb) AS default_class;

SET ROLE docs_owner;
SELECT privpred.revoke_budget('docs_analyst', 'patients');
RESET ROLE;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA docs, nn CASCADE;
DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM docs_owner', current_database()); END $$;
DROP ROLE docs_owner, docs_analyst;
