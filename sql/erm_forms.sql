-- stable_erm with more than two classes, and in one pass: everything that meets them.
SET client_min_messages = warning;
SET privpred.repeat_memory = 100;
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
CREATE ROLE ef_owner;
CREATE ROLE ef_pure;
CREATE ROLE ef_approximate;
CREATE SCHEMA ef AUTHORIZATION ef_owner;
GRANT USAGE ON SCHEMA ef TO ef_pure, ef_approximate;
SET ROLE ef_owner;
SET search_path = ef, public;
CREATE TYPE size AS ENUM ('small', 'medium', 'large');
-- three sizes by x and z, units of one to three rows, some of no use
CREATE TABLE visit (person int NOT NULL, x float8, z text, kind size, code int, amount float8);
INSERT INTO visit SELECT i / 2, x, CASE WHEN x > 0.5 THEN 'b' ELSE 'a' END, (enum_range(NULL::size))[1 + least((x * 3)::int, 2)], least((x * 3)::int, 2), 10 * x
FROM (SELECT i, (i * 7919 % 1009) / 1008.0 AS x FROM generate_series(1, 6000) i) s;
INSERT INTO visit VALUES (1, 'NaN', NULL, 'small', 7, 'Infinity'), (3, NULL, 'c', NULL, NULL, NULL), (5, 1e308, 'a', 'large', 2, -1e308);
SELECT privpred.protect('visit', unit => 'person', declared_units => 3000);
CREATE TABLE test AS SELECT x, z, kind, code, amount FROM visit WHERE amount BETWEEN 0 AND 10 LIMIT 200;
GRANT SELECT ON test TO ef_pure, ef_approximate;

CREATE FUNCTION declared(name text, label name, options jsonb DEFAULT '{}', epsilon float8 DEFAULT 1, classes text[] DEFAULT NULL, relation regclass DEFAULT 'ef.visit', holdout float8 DEFAULT 0) RETURNS jsonb LANGUAGE sql AS $$
SELECT privpred.create_model(name, relation, label => label, features => '{"x": {"min": 0, "max": 1}, "z": {"levels": ["a", "b"]}}', mechanism => 'stable_erm', classes => classes,
  epsilon => epsilon, options => options, holdout => holdout) $$;
CREATE TEMP TABLE form (name text, label name, options jsonb, classes text[]);
INSERT INTO form VALUES ('kind', 'kind', '{}', NULL), ('kind, sgd', 'kind', '{"solver": "sgd"}', NULL), ('code', 'code', '{}', '{0,1,2}'), ('code, sgd', 'code', '{"solver": "sgd"}', '{0,1,2}'),
  ('bins', 'amount', '{"bins": [0, 2, 5, 10]}', NULL), ('bins, sgd', 'amount', '{"bins": [0, 2, 5, 10], "solver": "sgd"}', NULL),
  ('two', 'code', '{}', '{0,2}'), ('two, sgd', 'code', '{"solver": "sgd"}', '{0,2}'), ('amount', 'amount', '{"target": {"min": 0, "max": 10}}', NULL),
  ('amount, sgd', 'amount', '{"target": {"min": 0, "max": 10}, "solver": "sgd"}', NULL);
SELECT name, declared(name, label, options, classes => classes) - '{name,features,relation,trained_at}'::text[] AS card FROM form;

-- all of them have learnt
SELECT name, rows, private_accuracy > 0.5 AS private, majority_accuracy > 0.6 AS plain, private_rmse < 2 AS private_rmse, plain_rmse < 2 AS plain_rmse, exact FROM form, privpred.evaluate(name, 'test') ORDER BY name;
SELECT name, count(*) AS cells, round(sum(share)::numeric, 9) AS share FROM form, privpred.confusion_matrix(name, 'test') WHERE label <> 'amount' GROUP BY name ORDER BY name;
SELECT name, regexp_replace(remark, '[0-9.]{6,}', 'number') AS remark, count(private_accuracy) AS accuracies, count(private_rmse) AS errors FROM form, privpred.accuracy_curve(name, 'test', '{0.5,1,2}') GROUP BY 1, 2 ORDER BY 1, 2;

-- a curve is that of models with the same lambda
SELECT substring(remark FROM '[0-9.]{6,}') AS lambda FROM privpred.accuracy_curve('kind', 'test') LIMIT 1 \gset
SELECT declared('kind 2', 'kind', jsonb_build_object('lambda', :lambda), 2) ->> 'version' AS version;
SELECT abs(c.private_accuracy - e.private_accuracy) < 1e-9 AS private, abs(c.approximate_accuracy - e.approximate_accuracy) < 1e-9 AS approximate
FROM privpred.accuracy_curve('kind', 'test', '{2}') c, privpred.evaluate('kind 2', 'test') e WHERE NOT own;

-- what the draw costs: of several classes the exponential mechanism's range, of numbers and two classes Gaussian noise
RESET ROLE;
SELECT name, pure_charge, regexp_replace(charge, '[0-9]{6,}', 'n', 'g') AS charge, length(state) AS bytes FROM privpred.model JOIN form USING (name) ORDER BY name;
SELECT count(DISTINCT answers) AS prices FROM privpred.answers_for(1, 1e-6, 0.1, 'stable_erm');
SET ROLE ef_owner;

-- analysts, of either kind, in every form of a question
SET client_min_messages = error;
SELECT privpred.grant_budget('ef_pure', 'visit', epsilon => 1000), privpred.grant_budget('ef_approximate', 'visit', epsilon => 1000, delta => 1e-6);
SELECT privpred.protect('visit', unit => 'person', declared_units => 3000, epsilon_cap => 3000, delta_cap => 1e-5);
CREATE TEMP TABLE asked (role text, name text, form text, answer text);
GRANT ALL ON asked, form TO PUBLIC;
CREATE FUNCTION ask(asker text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  f record;
  how text;
  q text;
BEGIN
  FOR f IN SELECT * FROM form ORDER BY name LOOP
    FOREACH how IN ARRAY '{private_predict,private_score}'::text[] LOOP
      FOREACH q IN ARRAY ARRAY['ARRAY[0.95, 0, 1]', '''{"x": 0.95, "z": "b"}''::jsonb', 't'] LOOP
        BEGIN
          EXECUTE format('INSERT INTO asked SELECT %L, %L, %L, %s(%L, %s) FROM (SELECT 0.95::float8 AS x, ''b'' AS z) t', asker, f.name, how, how, f.name, q);
        EXCEPTION WHEN OTHERS THEN
          INSERT INTO asked VALUES (asker, f.name, how, SQLSTATE || ' ' || SQLERRM);
        END;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
SET ROLE ef_pure;
SELECT ask('pure');
SET ROLE ef_approximate;
SELECT ask('approximate');
RESET ROLE;
-- three forms agree: the session remembers what it was told
SELECT name, form, count(DISTINCT role) AS roles, CASE WHEN bool_and(answer ~ '^5') THEN min(answer) WHEN bool_and(m.classes IS NULL OR answer = ANY (m.classes) OR form = 'private_score') THEN 'as declared' END AS answers,
  count(DISTINCT (role, answer)) <= 2 AS agree FROM asked JOIN privpred.model m USING (name) GROUP BY name, form ORDER BY name, form;
SELECT role, round(epsilon_spent::numeric, 6) AS spent FROM privpred.budgets WHERE relation = 'ef.visit'::regclass AND role = 'ef_pure'::regrole;
SELECT bool_and(answer::float8 IN (1, 3.5, 7.5)) AS middles FROM asked WHERE name ~ 'bins' AND form = 'private_score';
SET ROLE ef_pure;
SELECT epsilon, fits FROM privpred.cost('kind, sgd', 5);
SET ROLE ef_owner;

-- one pass: the same model from the same rows in any order, in any way to read them
RESET ROLE;
UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f' WHERE name IN (SELECT name FROM form);
CREATE TABLE ef.states (name text, state bytea);
SELECT count(privpred.retrain(name)) FROM form;
INSERT INTO ef.states SELECT name, state FROM privpred.model JOIN form USING (name);
CREATE TEMP TABLE shuffled AS SELECT * FROM ef.visit ORDER BY hashint4(person + 17), x;
TRUNCATE ef.visit;
INSERT INTO ef.visit TABLE shuffled;
SET enable_hashagg = off;
SET work_mem = '64kB';
SET maintenance_work_mem = '1MB';
SELECT count(privpred.retrain(name)) FROM form;
INSERT INTO ef.states SELECT name, state FROM privpred.model JOIN form USING (name);
RESET enable_hashagg;
RESET work_mem;
RESET maintenance_work_mem;
SELECT count(*) AS models, bool_and(states = 1) AS same FROM (SELECT name, count(DISTINCT state) AS states FROM ef.states WHERE name ~ 'sgd' GROUP BY name) s;
-- as a table of one row a unit, and as a view
SET ROLE ef_owner;
CREATE TABLE person (id int PRIMARY KEY, x float8, z text, kind size);
INSERT INTO person SELECT DISTINCT ON (person) person, x, z, kind FROM visit WHERE kind IS NOT NULL AND x BETWEEN 0 AND 1 ORDER BY person, x;
SELECT privpred.protect('person', declared_units => 3000);
CREATE VIEW seen AS SELECT id, x, z, kind FROM person WHERE x < 2;
SELECT privpred.protect('seen', unit => 'id', declared_units => 3000);
SELECT declared('one row ' || s, 'kind', jsonb_build_object('solver', s), relation => 'person') ->> 'mechanism' AS rows, declared('view ' || s, 'kind', jsonb_build_object('solver', s), relation => 'seen') ->> 'mechanism' AS view
FROM unnest('{exact,sgd}'::text[]) s;
RESET ROLE;
UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f' WHERE name ~ '^(one row|view)';
SELECT count(privpred.retrain(name)) FROM privpred.models WHERE name ~ '^(one row|view)';
SELECT count(DISTINCT state) AS states FROM privpred.model WHERE name ~ '^(one row|view)';

-- students, accuracies for everybody, what the audit and the plan say, what is forgotten
SET ROLE ef_owner;
CREATE TABLE known AS SELECT i / 60.0 AS x, CASE WHEN i > 30 THEN 'b' ELSE 'a' END AS z FROM generate_series(0, 60) i;
SELECT f.name, privpred.distill(f.name || ' student', f.name, 'known', learner => 'logistic') -> 'classes' AS classes FROM form f WHERE f.name IN ('kind', 'kind, sgd', 'bins, sgd', 'two, sgd') ORDER BY 1;
SELECT refused($c$SELECT privpred.distill('none', 'amount, sgd', 'known')$c$);
SELECT (declared('held ' || s, 'kind', jsonb_build_object('solver', s), 0.5, holdout => 0.2)) ->> 'mechanism' AS mechanism, (privpred.release_accuracy('held ' || s, 1)).accuracy BETWEEN 0 AND 1 AS accuracy FROM unnest('{exact,sgd}'::text[]) s;
SELECT name, a.pair, a.compared, round(a.claimed_epsilon::numeric, 3) AS epsilon, a.verdict FROM form, privpred.audit(name, 3000) a WHERE label IN ('kind', 'amount') ORDER BY name, a.pair;
SELECT refused($c$SELECT privpred.export_model('kind, sgd')$c$);
SELECT refused(format('SELECT privpred.explain(%L)', name)) FROM form WHERE name IN ('kind', 'kind, sgd');
SELECT mechanism, feasible, round(expected_accuracy::numeric, 3) AS accuracy, statements LIKE '%stable_erm%' AS statements, grounds ~ 'solver sgd' AS solvers FROM privpred.plan(n => 60000, features => 49, classes => 10, epsilon => 1, answers => 1, accuracy => 0.9) WHERE mechanism = 'stable_erm';
SELECT privpred.forget('visit', 7, delete_rows => true) -> 'certificate' IS NOT NULL AS certified;
SELECT count(*) AS left FROM visit WHERE person = 7;

-- what is refused, by the declaration alone
SELECT refused($c$SELECT declared('x', 'amount', '{"solver": "sgd", "loss": "squared", "target": {"min": 0, "max": 10}}')$c$);
SELECT refused($c$SELECT declared('x', 'kind', '{"solver": "sgd", "tolerance": 0.1}')$c$);
SELECT refused($c$SELECT declared('x', 'kind', '{"solver": "newton"}')$c$);
SELECT refused($c$SELECT declared('x', 'kind', '{"radius": 2}')$c$);
SELECT refused($c$SELECT declared('x', 'kind', '{"solver": "sgd", "radius": 1e4}')$c$);
SELECT refused($c$SELECT declared('x', 'kind', '{"loss": "huber"}')$c$);
SELECT refused($c$SELECT declared('x', 'kind', epsilon => 0.00001)$c$);
SELECT declared('short', 'kind', '{"solver": "sgd", "radius": 0.5, "norm": 0.7, "grid": 0.01, "lambda": 0.1}') -> 'options' AS options;
-- damaged states are noticed
RESET ROLE;
UPDATE privpred.model SET state = substr(state, 1, length(state) - 8) WHERE name = 'kind';
UPDATE privpred.model SET state = overlay(state PLACING '\x7fe0000000000000' FROM length(state) - 7) WHERE name = 'kind, sgd';
\c
SET ROLE ef_pure;
SELECT refused(format('SELECT private_predict(%L, ARRAY[0.5, 1, 0])', name)) FROM unnest('{kind,"kind, sgd"}'::text[]) name;
RESET ROLE;
DROP FUNCTION refused(text);
SET client_min_messages = warning;
DROP SCHEMA ef CASCADE;
DROP OWNED BY ef_owner, ef_pure, ef_approximate;
DROP ROLE ef_owner, ef_pure, ef_approximate;
