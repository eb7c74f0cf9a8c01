-- Models that are charged once: at the first use of a version, then never again.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
\pset tuples_only
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
CREATE ROLE releases_owner;
CREATE ROLE releases_ann;
CREATE ROLE releases_bob;
CREATE ROLE releases_cat;
CREATE ROLE releases_group;
CREATE ROLE releases_eve;
GRANT releases_group TO releases_bob, releases_cat;
CREATE TABLE releases_t (id int PRIMARY KEY, x float8, y text);
INSERT INTO releases_t SELECT i, i % 10, CASE WHEN i % 10 < 5 THEN 'a' ELSE 'b' END FROM generate_series(1, 200) i;
ALTER TABLE releases_t OWNER TO releases_owner;
CREATE TABLE releases_public AS SELECT i AS x FROM generate_series(0, 9, 2) i;
GRANT SELECT ON releases_public TO releases_owner;
CREATE FUNCTION ask(model text, n int DEFAULT 1) RETURNS text LANGUAGE sql AS $$
  SELECT refused(format('SELECT private_predict(%L, ARRAY[3.0]) FROM generate_series(1, %s)', model, n)) $$;
CREATE VIEW charged AS SELECT e.kind, e.role, e.version, e.answers, e.epsilon, trim_scale(x.cap_units / 1e12) AS cap_epsilon
FROM privpred.ledger e JOIN privpred.ledger_entry x USING (id) WHERE e.kind IN ('release', 'export') AND e.relation = 'releases_t'::regclass ORDER BY e.id;
GRANT SELECT ON charged TO releases_owner;

-- a student of five labels, which cost its owner nothing and everybody else 0.5
SET ROLE releases_owner;
SELECT privpred.protect('releases_t');
SELECT privpred.create_model('teacher', 'releases_t', label => 'y', classes => '{a,b}', features => '{"x": {"min": 0, "max": 9}}',
  learner => 'stump', teachers => 10, epsilon => 0.1) ->> 'version';
SELECT privpred.distill('m', 'teacher', 'releases_public', 'stump') ->> 'version';
SELECT charge_kind, charge, pure_charge FROM privpred.models WHERE name = 'm';
SELECT privpred.grant_budget('releases_ann', 'releases_t', 1);
SELECT privpred.grant_budget('releases_group', 'releases_t', 1);
SELECT privpred.grant_budget('releases_eve', 'releases_t', 0.4);
SELECT role, answers_left -> 'm' FROM privpred.budgets ORDER BY role_name;

SET ROLE releases_ann;
SELECT * FROM privpred.cost('m', 1000);
SELECT ask('m', 1000);
SELECT ask('m');
SELECT * FROM privpred.cost('m', 1000);
-- a group pays for all its members
SET ROLE releases_bob;
SELECT ask('m', 3);
SET ROLE releases_cat;
SELECT epsilon, answers_left FROM privpred.cost('m');
SELECT ask('m', 3);
SET ROLE releases_eve;
SELECT epsilon, fits, answers_left FROM privpred.cost('m');
SELECT ask('m');
RESET ROLE;
SELECT * FROM charged;
SET ROLE releases_owner;
SELECT role, epsilon_spent, answers_left -> 'm' FROM privpred.budgets ORDER BY role_name;

-- who has paid may still be refused, and need not pay again
SELECT privpred.revoke_budget('releases_ann', 'releases_t');
SET ROLE releases_ann;
SELECT ask('m');
SET ROLE releases_owner;
SELECT privpred.grant_budget('releases_ann', 'releases_t', 1);
SET ROLE releases_ann;
SELECT ask('m');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'releases_ann'::regrole;

-- a cap has paid for what its roles have; what is new it pays for once
SET ROLE releases_owner;
SELECT privpred.protect('releases_t', epsilon_cap => 1.6);
SELECT epsilon_spent, answers_left -> 'm' FROM privpred.budgets WHERE role IS NULL;
SELECT privpred.grant_budget('releases_eve', 'releases_t', 1);
SET ROLE releases_eve;
SELECT ask('m');
SET ROLE releases_owner;
SELECT epsilon_spent FROM privpred.budgets WHERE role IS NULL;
SELECT privpred.distill('n', 'teacher', 'releases_public', 'stump') ->> 'version';
SET ROLE releases_ann;
SELECT ask('n');
SET ROLE releases_bob;
SELECT epsilon, fits FROM privpred.cost('n');
SELECT ask('n');
SET ROLE releases_owner;
SELECT epsilon_spent FROM privpred.budgets WHERE role IS NULL;
RESET ROLE;
SELECT * FROM charged;
-- the cap refuses what it has no room for
SET ROLE releases_owner;
SELECT privpred.grant_budget('releases_ann', 'releases_t', 5);
SELECT privpred.distill('o', 'teacher', 'releases_public', 'stump') ->> 'version';
SET ROLE releases_ann;
SELECT fits, answers_left FROM privpred.cost('o');
SELECT ask('o');
SET ROLE releases_owner;
SELECT privpred.protect('releases_t', epsilon_cap => 100);

-- what is rolled back was paid for, and is another draw than what comes after it
BEGIN;
SELECT privpred.distill('p', 'teacher', 'releases_public', 'stump') ->> 'version';
SET LOCAL ROLE releases_ann;
SELECT ask('p');
ROLLBACK;
SET ROLE releases_owner;
SELECT privpred.distill('p', 'teacher', 'releases_public', 'stump') ->> 'version';
SET ROLE releases_ann;
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'releases_ann'::regrole;
SELECT ask('p');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'releases_ann'::regrole;

-- an export is charged to everybody, or to nobody
SET ROLE releases_owner;
SELECT refused($$SELECT privpred.export_model('p')$$);
SELECT role, epsilon_spent FROM privpred.budgets ORDER BY role_name;
SELECT privpred.grant_budget('releases_group', 'releases_t', 5);
SELECT refused($$SELECT privpred.export_model('p')$$);
SELECT refused($$SELECT privpred.export_model('p')$$);
SELECT role, epsilon_spent FROM privpred.budgets ORDER BY role_name;
RESET ROLE;
SELECT * FROM charged WHERE kind = 'export';
-- and to whoever comes later
SET ROLE releases_owner;
SELECT refused($$SELECT privpred.grant_budget('releases_cat', 'releases_t', 0.4)$$);
SELECT privpred.grant_budget('releases_cat', 'releases_t', 0.7);
SET ROLE releases_cat;
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'releases_cat'::regrole;
SELECT epsilon FROM privpred.cost('p');
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();
SELECT * FROM charged WHERE kind = 'export';
-- nobody becomes one who has paid
BEGIN;
INSERT INTO privpred.release (account_id, training_id, relation_id, model_id, version, at)
SELECT account_id, 1000000, relation_id, 1, 1, now() FROM privpred.account WHERE role = 'releases_eve'::regrole;
SELECT ok, regexp_replace(problem, '\d+', 'N') FROM privpred.verify_ledger();
ROLLBACK;

DROP VIEW charged;
SELECT privpred.revoke_budget(role, relation) FROM privpred.budgets WHERE role IS NOT NULL AND relation = 'releases_t'::regclass AND status <> 'revoked' ORDER BY role_name;
DROP TABLE releases_t, releases_public;
DROP FUNCTION refused, ask;
DROP ROLE releases_ann, releases_bob, releases_cat, releases_group, releases_eve, releases_owner;
