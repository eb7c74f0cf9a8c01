-- What owners are told: units that were not named, promises that are weak, accounts that change or stop.  Nothing is silent.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
\pset format unaligned
\pset tuples_only on
\set SHOW_CONTEXT never
CREATE ROLE gr_owner;
CREATE ROLE gr_ann;
CREATE ROLE gr_bob;
CREATE ROLE gr_group;
GRANT gr_group TO gr_bob;
CREATE SCHEMA gr AUTHORIZATION gr_owner;
CREATE FUNCTION tried(command text) RETURNS text LANGUAGE plpgsql AS $$
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
CREATE VIEW gr_terms AS SELECT role, epsilon_limit, delta_limit, epsilon_spent, renyi_order, status FROM privpred.budgets WHERE relation::text LIKE 'gr.%' ORDER BY relation, role NULLS FIRST;
GRANT SELECT ON gr_terms TO gr_owner;
SET ROLE gr_owner;

-- ---------- the unit ----------
-- a primary key that is the only id: nothing to say
CREATE TABLE gr.person (person_id int PRIMARY KEY, age int NOT NULL, paid boolean NOT NULL, valid int NOT NULL, x float8, y boolean);
SELECT privpred.protect('gr.person');
-- another id by its name, or by a foreign key; not if it may be NULL, and not if the unit is named
CREATE TABLE gr.visit (visit_id int PRIMARY KEY, patient_id int NOT NULL, x float8, y boolean);
INSERT INTO gr.visit SELECT i, i / 4, (i % 100) / 100.0, i % 100 > 50 FROM generate_series(1, 400) i;
SELECT privpred.protect('gr.visit');
CREATE TABLE gr.keyed (nr int PRIMARY KEY, who int NOT NULL REFERENCES gr.person, ward int REFERENCES gr.person, "patientId" uuid NOT NULL, x float8 NOT NULL, "grid" int NOT NULL, "id" float8 NOT NULL);
SELECT privpred.protect('gr.keyed');
CREATE TABLE gr.named (visit_id int PRIMARY KEY, patient_id int NOT NULL);
SELECT privpred.protect('gr.named', unit => 'visit_id');
CREATE TABLE gr.nullable (visit_id int PRIMARY KEY, patient_id int);
SELECT privpred.protect('gr.nullable');
-- a key of several columns, one of which is an id
CREATE TABLE gr.both (patient_id int, visit int, y boolean, PRIMARY KEY (patient_id, visit));
SELECT privpred.protect('gr.both');
CREATE TABLE gr.odd (id int PRIMARY KEY, "other
id" int NOT NULL, "x%s_id" int NOT NULL);
SELECT privpred.protect('gr.odd');

-- protecting again without a unit keeps it, whatever the primary key is; sizes and caps change
SELECT privpred.protect('gr.named', declared_units => 100);
SELECT privpred.protect('gr.visit', declared_units => 100);
-- it may change while nothing was spent, but not under models, budgets or a cap
SET client_min_messages = warning;
SELECT privpred.create_model('gr', 'gr.visit', label => 'y', features => '["x"]', teachers => 10) ->> 'unit';
RESET client_min_messages;
SELECT tried($c$SELECT privpred.protect('gr.visit', unit => 'patient_id')$c$);
SELECT privpred.drop_model('gr');
SELECT privpred.grant_budget('gr_ann', 'gr.visit', epsilon => 1);
SELECT tried($c$SELECT privpred.protect('gr.visit', unit => 'patient_id')$c$);
SELECT privpred.revoke_budget('gr_ann', 'gr.visit');
SELECT privpred.protect('gr.visit', epsilon_cap => 5);
SELECT tried($c$SELECT privpred.protect('gr.visit', unit => 'patient_id')$c$);
SELECT privpred.protect('gr.visit', unit => 'patient_id', epsilon_cap => 5, declared_units => 100);
SET client_min_messages = warning;
SELECT privpred.create_model('gr', 'gr.visit', label => 'y', features => '["x"]', teachers => 10) ->> 'unit';
RESET client_min_messages;
SELECT privpred.grant_budget('gr_ann', 'gr.visit', epsilon => 1);
TABLE gr_terms;
-- nor once something was spent, whatever is dropped, revoked or unprotected afterwards
SET ROLE gr_ann;
SELECT count(private_predict('gr', ARRAY[0.5]));
SET ROLE gr_owner;
SELECT tried($c$SELECT privpred.protect('gr.visit', unit => 'visit_id')$c$);
SELECT privpred.drop_model('gr');
SELECT privpred.revoke_budget('gr_ann', 'gr.visit');
SELECT tried($c$SELECT privpred.protect('gr.visit', unit => 'visit_id', epsilon_cap => 'Infinity')$c$);
SELECT privpred.unprotect('gr.visit');
SELECT tried($c$SELECT privpred.protect('gr.visit', unit => 'visit_id', epsilon_cap => 'Infinity')$c$);
SELECT tried($c$SELECT privpred.protect('gr.visit', unit => 'patient_id', protects => 'labels', epsilon_cap => 'Infinity')$c$);
SELECT privpred.protect('gr.visit');
TABLE gr_terms;
-- what was exported to everybody was spent, even if there was nobody to pay
SELECT privpred.protect('gr.person', declared_units => 100);
INSERT INTO gr.person SELECT i, 1, true, 1, (i % 100) / 100.0, i % 100 > 50 FROM generate_series(1, 100) i;
SET client_min_messages = warning;
SELECT privpred.create_model('gr export', 'gr.person', label => 'y', features => '["x"]', mechanism => 'cover', epsilon => 1) ->> 'unit';
RESET client_min_messages;
SELECT privpred.export_model('gr export') IS NOT NULL;
SELECT privpred.drop_model('gr export');
SELECT tried($c$SELECT privpred.protect('gr.person', unit => 'age')$c$);
-- a promise may change as the unit may
SELECT privpred.protect('gr.nullable', protects => 'labels');
SELECT privpred.protect('gr.nullable');
-- only the owner may
RESET ROLE;
SET ROLE gr_ann;
SELECT tried($c$SELECT privpred.protect('gr.nullable', unit => 'visit_id')$c$);
SET ROLE gr_owner;

-- ---------- grants ----------
CREATE TABLE gr.t (id int PRIMARY KEY, x float8, y boolean);
INSERT INTO gr.t SELECT i, (i % 100) / 100.0, i % 100 > 50 FROM generate_series(1, 400) i;
SELECT privpred.protect('gr.t');
SET client_min_messages = warning;
SELECT privpred.create_model('gr', 'gr.t', label => 'y', features => '["x"]', teachers => 10) ->> 'version';
RESET client_min_messages;
-- delta above 0.01: refused, and nothing has changed, unless it is forced
SELECT tried($c$SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1, delta => 0.0100001)$c$);
SELECT tried($c$SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1, delta => 0.5, force => NULL)$c$);
SELECT tried($c$SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1, delta => 1, force => true)$c$);
SELECT tried($c$SELECT privpred.protect('gr.t', epsilon_cap => 1, delta_cap => 0.02)$c$);
SELECT count(*) FROM privpred.budgets WHERE relation = 'gr.t'::regclass;
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1, delta => 0.01);
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1, delta => 0.02, force => true);
-- one over the declared units, or more; also if it is left out and stays
SELECT privpred.protect('gr.t', declared_units => 400);
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1);
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1, delta => 0.0025);
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1, delta => 0.00249);
SELECT privpred.protect('gr.t', epsilon_cap => 2, delta_cap => 0.005);
SELECT privpred.protect('gr.t', epsilon_cap => 2, delta_cap => 1e-4);
SELECT privpred.protect('gr.t', epsilon_cap => 'Infinity');
-- epsilon above 10, for a while or for ever
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 10, delta => 1e-6);
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 10.5);
SELECT privpred.grant_budget('gr_bob', 'gr.t', epsilon => 1, refresh => '1 day', lifetime_epsilon => 365);
SELECT privpred.grant_budget('gr_bob', 'gr.t', epsilon => 1, lifetime_epsilon => 9);
SELECT privpred.protect('gr.t', epsilon_cap => 12);
SELECT privpred.protect('gr.t', epsilon_cap => 10);
-- an order that changes: not while nothing is spent, when nothing is lost by it
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1, delta => 1e-6);
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 2, delta => 1e-5);
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 1, delta => 1e-6);
SET ROLE gr_ann;
SELECT count(private_predict('gr', ARRAY[i / 10.0])) FROM generate_series(1, 9) i;
SET ROLE gr_owner;
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 2, delta => 1e-5);
-- an account that is frozen: by a lower limit, by a cap, in a window, of a group
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 0.1);
TABLE gr_terms;
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 0.1, refresh => '1 day', lifetime_epsilon => 3);
SELECT privpred.grant_budget('gr_ann', 'gr.t', epsilon => 2, refresh => '0', lifetime_epsilon => 'Infinity');
SELECT privpred.protect('gr.t', epsilon_cap => 0.01);
SELECT privpred.protect('gr.t', epsilon_cap => 'Infinity');
SELECT privpred.grant_budget('gr_group', 'gr.t', epsilon => 0.3);
SET ROLE gr_bob;
SELECT count(private_predict('gr', ARRAY[i / 20.0])) FROM generate_series(1, 12) i;
SET ROLE gr_owner;
SELECT privpred.grant_budget('gr_group', 'gr.t', epsilon => 0.1);
-- revoked and granted again: what is spent counts, and is said
SELECT privpred.revoke_budget('gr_group', 'gr.t');
SELECT privpred.grant_budget('gr_group', 'gr.t', epsilon => 0.1);

-- ---------- what is left, in words ----------
SET client_min_messages = warning;
SELECT privpred.create_model('gr once', 'gr.t', label => 'y', features => '["x"]', mechanism => 'cover', epsilon => 1) ->> 'version';
RESET client_min_messages;
SELECT privpred.grant_budget('gr_group', 'gr.t', epsilon => 3, valid_until => '2100-01-01 UTC');
SET ROLE gr_bob;
SELECT * FROM privpred.cost('gr once');
SELECT * FROM privpred.cost('gr');
\pset null NULL
\t off
SELECT relation, granted_to, epsilon, delta, spent, "left", answers_left, refreshes_at > now() AS refreshes, expires_at IS NOT NULL AS expires, status FROM privpred.my_budget ORDER BY 2;
-- others' budgets are not mine, even if I see them
SET ROLE gr_owner;
SELECT count(*) AS seen, count(*) FILTER (WHERE yours) AS yours FROM privpred.budgets;
SELECT count(*) AS mine FROM privpred.my_budget;
RESET ROLE;
SELECT count(*) AS of_a_superuser FROM privpred.my_budget WHERE relation::text LIKE 'gr.%';
SET ROLE gr_owner;
SELECT privpred.revoke_budget('gr_bob', 'gr.t');
SET ROLE gr_bob;
SELECT granted_to FROM privpred.my_budget;
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();
DROP OWNED BY gr_ann, gr_bob, gr_group;
SET client_min_messages = warning;
DROP SCHEMA gr CASCADE;
DROP VIEW gr_terms;
DROP FUNCTION tried;
DROP ROLE gr_owner, gr_ann, gr_bob, gr_group;
