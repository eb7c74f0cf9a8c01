-- Owner protects, trains, grants; analyst asks, is charged, is refused.
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
CREATE ROLE story_owner;
CREATE ROLE story_analyst;
CREATE ROLE story_stranger;
CREATE SCHEMA story AUTHORIZATION story_owner;
GRANT USAGE ON SCHEMA story TO story_analyst, story_stranger;
SET ROLE story_owner;
CREATE TABLE story.visits (visit int PRIMARY KEY, patient int NOT NULL, age int, smoker boolean, readmitted text);
INSERT INTO story.visits
SELECT i, i / 3, (i * 37) % 90, i % 2 = 0, CASE WHEN (i * 37) % 90 > 45 THEN 'yes' ELSE 'no' END
FROM generate_series(1, 3000) i;

SELECT privpred.protect('story.visits', unit => 'patient');
SELECT privpred.create_model('story', 'story.visits', label => 'readmitted', classes => '{no,yes}',
  features => '{"age": {"min": 0, "max": 90}, "smoker": {}}', teachers => 20, epsilon => 2);
SELECT rows, private_accuracy > 0.95 AS good, majority_accuracy > 0.95 AS better, round(baseline_accuracy::numeric, 2) AS baseline
FROM privpred.evaluate('story', 'story.visits');
SELECT privpred.grant_budget('story_analyst', 'story.visits', epsilon => 10);

-- the analyst: three forms, one answer each; gap 20 at epsilon 2 errs with probability 1e-9
SET ROLE story_analyst;
SELECT refused($c$SELECT private_predict('story', ROW(80, true)) AS positions_have_no_names$c$);
SELECT private_predict('story', p) FROM (SELECT 'x' AS other, 80 AS age, true AS smoker) p;
SELECT private_predict('story', '{"age": 5, "smoker": false}'::jsonb);
SELECT private_predict('story', ARRAY[85, 1]);
SELECT role, relation, epsilon_limit, epsilon_spent, epsilon_left, renyi_order, answers_left, binding_cap FROM privpred.budgets;
SELECT * FROM privpred.cost('story', 2);
SELECT fits FROM privpred.cost('story', 3);
SELECT name, relation, mechanism, learner, version, status, classes, teachers, epsilon, charge_kind, created_by FROM privpred.models;
-- a NULL question costs nothing, EXPLAIN costs nothing
SELECT private_predict('story', NULL::jsonb), private_predict(NULL, ARRAY[1.0, 0]);
EXPLAIN (COSTS OFF) SELECT private_predict('story', ARRAY[85, 1]);
SELECT epsilon_spent FROM privpred.budgets;
-- two more fit, and no third
SELECT private_predict('story', ARRAY[85, 1]);
SELECT refused($c$SELECT private_predict('story', ARRAY[85, 1]) FROM generate_series(1, 3)$c$);
SELECT refused($c$SELECT private_predict('story', ARRAY[85, 1])$c$);
SELECT epsilon_spent <= 10 AS never_more FROM privpred.budgets;

-- what the analyst cannot do
SELECT refused($c$SELECT count(*) FROM story.visits$c$);
SELECT refused($c$SELECT count(*) FROM privpred.model$c$);
SELECT refused($c$SELECT count(*) FROM privpred.account$c$);
SELECT refused($c$SELECT count(*) FROM privpred.ledger_entry$c$);
SELECT refused($c$SELECT count(*) FROM privpred.protected_relation$c$);
SELECT refused($c$SELECT privpred.protect('story.visits', unit => 'patient')$c$);
SELECT refused($c$SELECT privpred.create_model('mine', 'story.visits', label => 'readmitted', classes => '{no,yes}', features => '["age"]')$c$);
SELECT refused($c$SELECT privpred.retrain('story')$c$);
SELECT refused($c$SELECT privpred.drop_model('story')$c$);
SELECT refused($c$SELECT privpred.evaluate('story', 'pg_class')$c$);
SELECT refused($c$SELECT privpred.grant_budget('story_analyst', 'story.visits', epsilon => 100)$c$);
SELECT refused($c$SELECT privpred.unprotect('story.visits')$c$);

-- a stranger sees nothing and gets nothing
SET ROLE story_stranger;
SELECT count(*) FROM privpred.models;
SELECT count(*) FROM privpred.budgets;
SELECT count(*) FROM privpred.ledger;
SELECT refused($c$SELECT private_predict('story', ARRAY[85, 1])$c$);
SELECT refused($c$SELECT private_predict('no such model', ARRAY[85, 1])$c$);

-- the owner changes the limit; what was spent stays spent
SET ROLE story_owner;
SELECT privpred.grant_budget('story_analyst', 'story.visits', epsilon => 14);
SELECT epsilon_limit, epsilon_left FROM privpred.budgets;
SELECT privpred.retrain('story') -> 'version' AS version;
SET ROLE story_analyst;
SELECT private_predict('story', ARRAY[85, 1]);
SELECT kind, sum(answers) AS answers, sum(epsilon) AS epsilon FROM privpred.ledger WHERE model = 'story' GROUP BY kind HAVING sum(epsilon) <> 0 ORDER BY kind;

-- no way round through search_path or a function of the caller's
RESET ROLE;
CREATE SCHEMA story_evil AUTHORIZATION story_analyst;
SET ROLE story_analyst;
CREATE FUNCTION story_evil.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz';
CREATE TABLE story_evil.model AS SELECT 1 AS model_id;
SET search_path = story_evil, pg_catalog, public;
SELECT private_predict('story', ARRAY[85, 1]);
SELECT epsilon_left FROM privpred.budgets;
RESET search_path;

-- the end of it
SET ROLE story_owner;
SELECT refused($c$SELECT privpred.unprotect('story.visits')$c$);
SELECT privpred.drop_model('story');
SELECT privpred.revoke_budget('story_analyst', 'story.visits');
SELECT privpred.unprotect('story.visits');
SELECT privpred.protect('story.visits', unit => 'patient');
SELECT privpred.grant_budget('story_analyst', 'story.visits', epsilon => 14);
SELECT epsilon_spent FROM privpred.budgets;
SELECT privpred.revoke_budget('story_analyst', 'story.visits');
RESET ROLE;
DROP SCHEMA story CASCADE;
DROP SCHEMA story_evil CASCADE;
DROP ROLE story_owner, story_analyst, story_stranger;
DROP FUNCTION refused;
