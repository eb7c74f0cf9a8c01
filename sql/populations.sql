-- Populations: tables about the same units have one account for each role, and never part.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE ROLE u_owner;
CREATE ROLE u_other;
CREATE ROLE u_ann;
CREATE ROLE u_ben;
CREATE ROLE u_cleo;
CREATE ROLE u_dora;
GRANT CREATE ON SCHEMA public TO u_owner, u_other;
CREATE VIEW u_budgets AS SELECT b.role, b.relation, b.population, b.status, b.epsilon_limit AS "limit", round(b.epsilon_spent, 6) AS spent, round(b.epsilon_left, 6) AS "left",
	b.delta_limit, b.delta_spent, round(b.renyi_order::numeric, 3) AS "order", b.answers_left FROM privpred.budgets b;
GRANT SELECT ON u_budgets TO PUBLIC;
-- a model with one feature, of which nothing is learnt but the price
CREATE FUNCTION u_model(name text, relation regclass, mechanism text DEFAULT 'vote', epsilon float8 DEFAULT 1, options jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT privpred.create_model($1, $2, label => 'y', classes => '{t,f}', features => '{"x": {"min": 0, "max": 1, "null": "error"}}', teachers => 10, mechanism => $3,
		epsilon => $4, options => $5) ->> 'name' $$;
CREATE FUNCTION u_ask(model text, answers int, first int DEFAULT 1) RETURNS bigint LANGUAGE sql VOLATILE AS
	$$ SELECT count(private_predict($1, ARRAY[i / 1000.0])) FROM generate_series($3, $3 + $2 - 1) i $$;
CREATE FUNCTION u_rows(relation regclass, units int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
	EXECUTE format('INSERT INTO %s (person, x, y) SELECT i, i %% 10 / 10.0, CASE WHEN i %% 10 > 4 THEN %L ELSE %L END FROM generate_series(1, %s) i', relation, 't', 'f', units); END $$;

SET ROLE u_owner;
CREATE TABLE u_person (person int PRIMARY KEY, x float8, y text);
CREATE TABLE u_visit (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, person bigint NOT NULL, x float8, y text);
CREATE TABLE u_letter (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, person text NOT NULL, x float8, y text);
CREATE TABLE u_lab (LIKE u_visit INCLUDING ALL);
SELECT u_rows('u_person', 100), u_rows('u_visit', 100), u_rows('u_lab', 100);

-- what cannot be the same
SELECT privpred.protect('u_visit', unit => 'person', same_units_as => 'u_person');
SELECT privpred.protect('u_person', declared_units => 100);
SELECT privpred.protect('u_visit', unit => 'person', same_units_as => 'u_visit');
SELECT privpred.protect('u_letter', unit => 'person', same_units_as => 'u_person');
SELECT privpred.protect('u_visit', unit => 'person', protects => 'labels', same_units_as => 'u_person');
SELECT privpred.protect('u_visit', unit => 'person', same_units_as => 0::regclass);
SELECT privpred.protect('u_visit', unit => 'person', public_tables => '{u_lab}');
SET ROLE u_other;
CREATE TABLE u_theirs (id int PRIMARY KEY, person bigint NOT NULL, x float8, y text);
SELECT privpred.protect('u_theirs', unit => 'person', same_units_as => 'u_person');
SET ROLE u_owner;

-- one budget
RESET ROLE;
SELECT privpred.stat_reset();
SET ROLE u_owner;
SELECT privpred.protect('u_visit', unit => 'person', max_rows_per_unit => 1, declared_units => 100, same_units_as => 'u_person');
SELECT u_model('u_p', 'u_person'), u_model('u_v', 'u_visit');
SELECT privpred.grant_budget('u_ann', 'u_visit', 4);
SELECT * FROM u_budgets ORDER BY relation::text, role::text NULLS FIRST;
SET ROLE u_ann;
SELECT name, relation FROM privpred.models ORDER BY name;
SELECT u_ask('u_p', 1), u_ask('u_v', 1);
SELECT * FROM privpred.cost('u_v', 2);
SELECT * FROM privpred.cost('u_p', 1);
SELECT model, answers, epsilon, answers_left, fits FROM privpred.cost_of($$SELECT private_predict('u_p', ARRAY[x]), private_predict('u_v', ARRAY[x]) FROM generate_series(0, 1) x$$) ORDER BY 1;
SELECT u_ask('u_p', 1, 3), u_ask('u_v', 1, 3);
SELECT u_ask('u_v', 1, 100);
SELECT u_ask('u_v', 1, 200);
SELECT u_ask('u_p', 1, 200);
SELECT relation, granted_to, epsilon, spent, "left", answers_left, status FROM privpred.my_budget;
SELECT kind, relation, population, relation_name, model, epsilon FROM privpred.ledger ORDER BY id;
SELECT relation, model, answers, refusals FROM privpred.stat WHERE model IN ('u_p', 'u_v') ORDER BY 2;
RESET ROLE;
SELECT population = min(relation_id) OVER (PARTITION BY population) AS numbered_by_the_first, relation FROM privpred.protected_relation WHERE relation IN ('u_person'::regclass, 'u_visit') ORDER BY 2;
SELECT position('u_visit' IN r) > 0 AS reported FROM privpred.report() r;

-- a third table finds the holders of budgets; they cannot be dropped while one is left
SET ROLE u_owner;
SELECT privpred.protect('u_lab', unit => 'person', same_units_as => 'u_visit', declared_units => 100, max_rows_per_unit => 1);
SELECT * FROM u_budgets ORDER BY relation::text, role::text NULLS FIRST;
RESET ROLE;
DROP ROLE u_ann;
-- the unit of one table may not change once something was spent for another
SET ROLE u_owner;
SELECT privpred.protect('u_lab', unit => 'id');

-- owners: grants and caps are for those who own all, revocations and models for those who own one
RESET ROLE;
ALTER TABLE u_lab OWNER TO u_other;
SET ROLE u_owner;
SELECT privpred.grant_budget('u_ben', 'u_person', 4);
SELECT privpred.protect('u_person', epsilon_cap => 20);
SELECT privpred.protect('u_person', declared_units => 90);
SET ROLE u_other;
SELECT privpred.grant_budget('u_ben', 'u_lab', 4);
SELECT u_model('u_l', 'u_lab');
SELECT * FROM u_budgets ORDER BY relation::text, role::text NULLS FIRST;
SELECT privpred.grant_budget('u_ben', 'u_person', 4);
SELECT privpred.revoke_budget('u_ann', 'u_person');
SELECT privpred.revoke_budget('u_ann', 'u_lab');
SELECT privpred.revoke_budget('u_ann', 'u_lab');
SET ROLE u_ann;
SELECT u_ask('u_v', 1, 300);
RESET ROLE;
SELECT privpred.grant_budget('u_ann', 'u_lab', 8);
ALTER TABLE u_lab OWNER TO u_owner;

-- an end of protection: budgets count for the last table
SET ROLE u_owner;
SELECT privpred.unprotect('u_lab');
SELECT privpred.drop_model('u_l');
SELECT privpred.unprotect('u_lab');
SELECT relation, population, status FROM u_budgets WHERE role = 'u_ann'::regrole;
SELECT privpred.grant_budget('u_ben', 'u_lab', 4);
SELECT privpred.protect('u_lab');
SELECT privpred.drop_model('u_p');
SELECT privpred.drop_model('u_v');
SELECT privpred.unprotect('u_person');
SELECT privpred.unprotect('u_visit');
SELECT relation, population, status FROM u_budgets WHERE role = 'u_ann'::regrole;
SELECT privpred.unprotect('u_lab');
SELECT privpred.protect('u_visit'), privpred.protect('u_person');
SELECT u_model('u_p', 'u_person'), u_model('u_v', 'u_visit'), u_model('u_l', 'u_lab');

-- drop, rename, re-create
ALTER TABLE u_person RENAME TO u_people;
SELECT relation, population, status, spent FROM u_budgets WHERE role = 'u_ann'::regrole;
DROP TABLE u_people;
SELECT relation, population, status, spent, answers_left FROM u_budgets WHERE role = 'u_ann'::regrole;
SET ROLE u_ann;
SELECT u_ask('u_v', 1, 400);
SELECT u_ask('u_p', 1, 400);
SET ROLE u_owner;
CREATE TABLE u_people (person int PRIMARY KEY, x float8, y text);
SELECT privpred.protect('u_people');
SELECT relation, population, status, spent FROM u_budgets WHERE role = 'u_ann'::regrole;
DROP TABLE u_visit, u_lab;
SELECT relation, population, status, spent FROM u_budgets WHERE role = 'u_ann'::regrole;
SELECT u_model('u_p', 'u_people');
SET ROLE u_ann;
SELECT u_ask('u_p', 1, 500);
SET ROLE u_owner;
DROP TABLE u_people;
SELECT relation, population, status, spent FROM u_budgets WHERE role = 'u_ann'::regrole;
-- the account waits for any of them
CREATE TABLE u_visit (id int PRIMARY KEY, person bigint NOT NULL, x float8, y text);
SELECT privpred.protect('u_visit', unit => 'person');
SELECT relation, population, status, spent FROM u_budgets WHERE role = 'u_ann'::regrole;
SELECT privpred.grant_budget('u_ann', 'u_visit', 7);
SELECT relation, population, status, spent, "left" FROM u_budgets WHERE role = 'u_ann'::regrole;
SELECT privpred.revoke_budget('u_ann', 'u_visit');
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();
DROP OWNED BY u_ann;
DROP TABLE u_visit;

-- a member that comes back, of units for which nothing was spent yet; and by way of another number
SET ROLE u_owner;
CREATE TABLE u_one (person int PRIMARY KEY, x float8, y text);
CREATE TABLE u_two (LIKE u_one INCLUDING ALL);
SELECT privpred.protect('u_two'), privpred.protect('u_one', same_units_as => 'u_two');
DROP TABLE u_one;
CREATE TABLE u_one (LIKE u_two INCLUDING ALL);
SELECT privpred.protect('u_one'), privpred.grant_budget('u_dora', 'u_one', 1);
SELECT relation, population FROM u_budgets;
SELECT privpred.revoke_budget('u_dora', 'u_two');
-- its unit may change while nothing is spent, and it stays where it is
ALTER TABLE u_one ADD other int NOT NULL DEFAULT 1;
SELECT privpred.protect('u_one', unit => 'other');
SELECT privpred.grant_budget('u_dora', 'u_one', 1);
SELECT relation, population, status FROM u_budgets;
DROP TABLE u_one, u_two;

-- joining: b was protected apart
SET ROLE u_owner;
CREATE TABLE u_a (person int PRIMARY KEY, x float8, y text);
CREATE TABLE u_b (LIKE u_a INCLUDING ALL);
CREATE TABLE u_c (LIKE u_a INCLUDING ALL);
SELECT u_rows('u_a', 100), u_rows('u_b', 100), u_rows('u_c', 100);
SELECT privpred.protect('u_a', declared_units => 100), privpred.protect('u_b', declared_units => 100, epsilon_cap => 30, delta_cap => 1e-3), privpred.protect('u_c');
SELECT u_model('u_a', 'u_a'), u_model('u_b', 'u_b'), u_model('u_bs', 'u_b', 'sparse'), u_model('u_bm', 'u_b', options => '{"memoize": true}');
SELECT privpred.grant_budget('u_ann', 'u_a', 10, delta => 1e-5, per_answer => 0.1), privpred.grant_budget('u_ann', 'u_b', 20, delta => 1e-4, per_answer => 1);
SELECT privpred.grant_budget('u_ben', 'u_a', 5), privpred.grant_budget('u_ben', 'u_b', 20);
SELECT privpred.grant_budget('u_cleo', 'u_b', 6, refresh => '100 years', lifetime_epsilon => 9), privpred.grant_budget('u_dora', 'u_a', 3);
SET ROLE u_ann;
SELECT u_ask('u_a', 2), u_ask('u_b', 3);
SELECT privpred.open_stream('u_bs', 2, 0.5, 1e-6) > 0 AS opened;
SET ROLE u_ben;
SELECT u_ask('u_a', 3), u_ask('u_b', 4), u_ask('u_bm', 1);
SET ROLE u_cleo;
SELECT u_ask('u_b', 2);
SET ROLE u_owner;
SELECT * FROM u_budgets ORDER BY relation::text, role::text NULLS FIRST;
-- a stream is open; then, the cap would be lost
SELECT privpred.protect('u_b', same_units_as => 'u_a');
SET ROLE u_ann;
SELECT privpred.close_stream('u_bs');
SET ROLE u_owner;
SELECT privpred.protect('u_b', same_units_as => 'u_a');
SELECT privpred.protect('u_a', epsilon_cap => 60, delta_cap => 4e-3);
SET client_min_messages = notice;
SELECT privpred.protect('u_b', same_units_as => 'u_a');
SET client_min_messages = warning;
SELECT * FROM u_budgets ORDER BY relation::text, role::text NULLS FIRST;
SELECT kind, role, relation_name, model, answers, round(epsilon, 6) AS epsilon, delta, regexp_replace(detail, 'account \d+', 'account N') AS detail FROM privpred.ledger
	WHERE population = '{u_a,u_b}' AND kind = 'join' ORDER BY role NULLS FIRST, epsilon;
RESET ROLE;
SELECT ok, problem, frozen_accounts FROM privpred.verify_ledger();
-- ben has spent 8 of 5; ann's sum is at the lower order
SET ROLE u_ben;
SELECT u_ask('u_a', 1, 50);
SELECT u_ask('u_b', 1, 50);
SET ROLE u_owner;
SELECT privpred.grant_budget('u_ben', 'u_b', 9);
SET ROLE u_ben;
SELECT u_ask('u_b', 1, 50);
SELECT u_ask('u_a', 1, 50);
-- what is kept stays kept
SELECT u_ask('u_bm', 1);
SET ROLE u_cleo;
SELECT u_ask('u_a', 1, 60);
SELECT relation, population, status, spent, "left" FROM u_budgets;
SET ROLE u_dora;
SELECT u_ask('u_b', 1, 60);
SET ROLE u_owner;
-- again: nothing happens
SELECT privpred.protect('u_a', same_units_as => 'u_b');
SELECT privpred.protect('u_b', same_units_as => 'u_a');
-- a third, of which nothing was ever spent, and all of it from the other side
SELECT privpred.protect('u_c', same_units_as => 'u_b');
SELECT DISTINCT relation, population FROM u_budgets WHERE status <> 'relation dropped';
SET ROLE u_ann;
SELECT u_ask('u_a', 1, 70);
SELECT relation, model, status FROM privpred.streams ORDER BY stream;
RESET ROLE;
SELECT ok, problem, frozen_accounts FROM privpred.verify_ledger();
-- nobody leaves
SET ROLE u_owner;
SELECT privpred.drop_model(m.name) FROM privpred.models m WHERE relation = 'u_b'::regclass;
DROP TABLE u_b;
CREATE TABLE u_b (LIKE u_a INCLUDING ALL);
SELECT privpred.protect('u_b');
SELECT DISTINCT population FROM u_budgets WHERE status <> 'relation dropped';
-- leaving by another unit is not possible either
ALTER TABLE u_c ADD other int NOT NULL DEFAULT 1;
SELECT privpred.protect('u_c', unit => 'other');
RESET ROLE;

-- releases, exports, descriptions: known to everybody who asks either
SET ROLE u_owner;
CREATE TABLE u_r (person int PRIMARY KEY, x float8, y text);
CREATE TABLE u_s (LIKE u_r INCLUDING ALL);
SELECT u_rows('u_r', 200), u_rows('u_s', 200);
SELECT privpred.protect('u_r', declared_units => 200, max_rows_per_unit => 1, epsilon_cap => 50, delta_cap => 1e-3), privpred.protect('u_s', declared_units => 200, max_rows_per_unit => 1);
SELECT u_model('u_rg', 'u_r', 'gradient'), u_model('u_sg', 'u_s', 'gradient'), u_model('u_sh', 'u_s', 'gradient');
SELECT privpred.grant_budget('u_ann', 'u_r', 10, delta => 1e-4), privpred.grant_budget('u_ann', 'u_s', 10, delta => 1e-4), privpred.grant_budget('u_ben', 'u_r', 10, delta => 1e-4);
SELECT privpred.grant_budget('u_cleo', 'u_s', 10, delta => 1e-4), privpred.grant_budget('u_dora', 'u_r', 2);
SET ROLE u_ann;
SELECT u_ask('u_rg', 2), u_ask('u_sg', 2);
SET ROLE u_owner;
SELECT privpred.export_model('u_sh') IS NOT NULL AS exported;
SELECT privpred.describe('u_s', columns => '{x}', epsilon => 0.5, given => '{}') IS NOT NULL AS described;
SELECT role, relation, model, kind, detail ~ '^(training|description) \d+$' AS detail FROM privpred.ledger WHERE relation IN ('u_r'::regclass, 'u_s') AND kind NOT IN ('grant', 'cap') ORDER BY id;
-- dora's budget is pure: it cannot count what has a delta
SELECT privpred.protect('u_s', same_units_as => 'u_r');
SELECT privpred.revoke_budget('u_dora', 'u_r');
SELECT privpred.protect('u_s', same_units_as => 'u_r');
SELECT coalesce(role::text, 'cap') AS role, relation, model, kind, regexp_replace(detail, '\d+(:.*)?$', 'N') AS detail FROM privpred.ledger WHERE population = '{u_r,u_s}' AND kind = 'join'
	AND (role IS NULL OR role <> 'u_dora'::regrole) ORDER BY role NULLS FIRST, detail;
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();
SET ROLE u_ann;
CREATE TEMP TABLE u_before AS SELECT spent FROM u_budgets WHERE relation = 'u_r'::regclass;
SELECT u_ask('u_rg', 2, 20), u_ask('u_sg', 2, 20), u_ask('u_sh', 2, 20);
SELECT b.spent = u.spent AS nothing_is_paid_twice FROM u_budgets u, u_before b WHERE relation = 'u_r'::regclass;
SELECT relation FROM privpred.descriptions WHERE relation = 'u_s'::regclass;
SET ROLE u_ben;
SELECT relation FROM privpred.descriptions WHERE relation = 'u_s'::regclass;
SET ROLE u_owner;
-- a later budget starts with all that was exported
SELECT privpred.grant_budget('u_dora', 'u_s', 10, delta => 1e-4);
SELECT count(*) FROM privpred.ledger WHERE role = 'u_dora'::regrole AND population = '{u_r,u_s}' AND kind IN ('export', 'describe');
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();

-- the chain tells if a join was falsified
BEGIN;
ALTER TABLE privpred.ledger_entry DISABLE TRIGGER append_only;
UPDATE privpred.account SET spent_units = spent_units - 1 WHERE account_id = (SELECT account_id FROM privpred.budgets WHERE role = 'u_ann'::regrole AND relation = 'u_a'::regclass);
SELECT ok, regexp_replace(problem, '\d+', 'N', 'g') ~ 'entries add up' AS told FROM privpred.verify_ledger();
ROLLBACK;

RESET ROLE;
DROP FUNCTION u_model, u_ask, u_rows;
DROP VIEW u_budgets;
SET client_min_messages = error;
DROP OWNED BY u_owner, u_other, u_ann, u_ben, u_cleo, u_dora;
DROP ROLE u_owner, u_other, u_ann, u_ben, u_cleo, u_dora;
