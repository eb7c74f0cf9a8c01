-- Where names, parts, populations and views meet: the same people have one account.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE ROLE joint_owner;
CREATE ROLE joint_other;
CREATE ROLE joint_ann;
CREATE ROLE joint_ben;
GRANT CREATE ON SCHEMA public TO joint_owner, joint_other;
CREATE VIEW bud AS SELECT b.role, b.relation, b.population, b.status, b.epsilon_limit AS "limit", round(b.epsilon_spent, 6) AS spent, round(b.epsilon_left, 6) AS "left" FROM privpred.budgets b;
GRANT SELECT ON bud TO PUBLIC;
CREATE FUNCTION mk(name text, relation regclass, mechanism text DEFAULT 'vote', epsilon float8 DEFAULT 1, options jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT privpred.create_model($1, $2, label => 'y', classes => '{t,f}', features => '{"x": {"min": 0, "max": 1, "null": "error"}}', teachers => 10, mechanism => $3,
		epsilon => $4, options => $5) ->> 'name' $$;
CREATE FUNCTION ask(model text, answers int, first int DEFAULT 1) RETURNS bigint LANGUAGE sql VOLATILE AS
	$$ SELECT count(private_predict($1, ARRAY[i / 1000.0])) FROM generate_series($3, $3 + $2 - 1) i $$;
CREATE FUNCTION fill(relation regclass, units int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
	EXECUTE format('INSERT INTO %s (person, x, y) SELECT i, i %% 10 / 10.0, CASE WHEN i %% 10 > 4 THEN %L ELSE %L END FROM generate_series(1, %s) i', relation, 't', 'f', units); END $$;
CREATE FUNCTION tab(name text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  EXECUTE format('CREATE TABLE %I (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, person bigint NOT NULL, x float8, y text)', name); PERFORM fill(name::regclass, 100); END $$;
CREATE FUNCTION pro(name text, same text DEFAULT NULL, unit text DEFAULT 'person') RETURNS void LANGUAGE sql AS $$ SELECT privpred.protect($1::regclass, unit => $3, declared_units => 100, max_rows_per_unit => 1, same_units_as => $2::regclass) $$;
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
\pset tuples_only

-- a table that was asked is dropped; no view, and no table of other units, takes its name and a new account
SET ROLE joint_owner;
SELECT tab('t'), pro('t');
SELECT mk('m', 't'), privpred.grant_budget('joint_ann', 't', 4);
SET ROLE joint_ann;
SELECT ask('m', 2);
SET ROLE joint_owner;
DROP TABLE t;
SELECT tab('p'), pro('p');
CREATE VIEW v AS SELECT person, x, y FROM p;
SELECT pro('v');
SELECT refused('ALTER VIEW v RENAME TO t');
SELECT refused('ALTER TABLE v RENAME TO t');
-- past the trigger: nobody else is stopped
RESET ROLE;
ALTER EVENT TRIGGER privpred_on_rename DISABLE;
ALTER VIEW v RENAME TO t;
ALTER EVENT TRIGGER privpred_on_rename ENABLE;
SET ROLE joint_other;
CREATE TABLE mine (a int);
ALTER TABLE mine ADD b int;
DROP TABLE mine;
SET ROLE joint_owner;
SELECT refused('ALTER TABLE p ADD z int');
DROP VIEW t;
CREATE VIEW t AS SELECT person, x, y FROM p;
SELECT refused($$SELECT pro('t')$$);
DROP VIEW t;
-- the same by another unit that becomes the earlier one, with a companion
SELECT tab('t'), pro('t', unit => 'id'), tab('u');
SELECT privpred.protect('u', unit => 'id', declared_units => 100, max_rows_per_unit => 1, same_units_as => 't');
SELECT refused($$SELECT pro('t')$$);
DROP TABLE t, u, p;

-- a table of a population gets the name of a dropped one while it is not protected: nobody leaves a population, so the account comes to it
SELECT tab('p'), pro('p'), tab('w');
SELECT pro('w', 'p'), mk('mp', 'p'), privpred.grant_budget('joint_ann', 'p', 4), privpred.unprotect('w');
ALTER TABLE w RENAME TO t;
SELECT spent FROM bud WHERE role = 'joint_ann'::regrole AND relation = 'p'::regclass;
SELECT pro('t');
SELECT spent FROM bud WHERE role = 'joint_ann'::regrole AND relation = 'p'::regclass;
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();
SET ROLE joint_owner;
SELECT pro('t');
SELECT privpred.drop_model('mp');
DROP TABLE t, p;

-- the owner of a schema renames it, and with it tables of others: their names are remembered, and none gets an account beside the one of its name
RESET ROLE;
CREATE SCHEMA theirs AUTHORIZATION joint_other;
CREATE SCHEMA also_theirs AUTHORIZATION joint_other;
GRANT ALL ON SCHEMA theirs, also_theirs TO joint_owner;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO joint_other', current_database()); END $$;
SET ROLE joint_owner;
SELECT tab('r1');
SELECT pro('r1'), mk('m1', 'r1'), privpred.grant_budget('joint_ann', 'r1', 4);
ALTER TABLE r1 SET SCHEMA theirs;
SET ROLE joint_ann;
SELECT ask('m1', 1);
SET ROLE joint_other;
ALTER SCHEMA theirs RENAME TO once_theirs;
SET ROLE joint_owner;
DROP TABLE once_theirs.r1;
-- it is remembered under each name that it had
RESET ROLE;
SELECT name, (SELECT count(*) FROM privpred.protected_relation WHERE name = ANY (known_as)) FROM unnest('{public.r1,theirs.r1,once_theirs.r1}'::text[]) name;
SET ROLE joint_owner;
SELECT tab('r1');
ALTER TABLE r1 SET SCHEMA also_theirs;
SELECT pro('also_theirs.r1'), mk('m2', 'also_theirs.r1'), privpred.grant_budget('joint_ann', 'also_theirs.r1', 4);
SET ROLE joint_other;
ALTER SCHEMA once_theirs RENAME TO no_longer;
ALTER SCHEMA also_theirs RENAME TO once_theirs;
SET ROLE joint_owner;
SELECT refused($$SELECT privpred.retrain('m2')$$);
SELECT refused($$SELECT mk('m3', 'once_theirs.r1')$$);
SELECT refused($$SELECT privpred.describe('once_theirs.r1', columns => '{x}', epsilon => 0.5)$$);
SELECT refused($$ALTER TABLE once_theirs.r1 SET SCHEMA public$$);
SELECT privpred.drop_model('m2'), privpred.revoke_budget('joint_ann', 'once_theirs.r1'), privpred.unprotect('once_theirs.r1'), pro('once_theirs.r1');
SELECT spent FROM bud WHERE role = 'joint_ann'::regrole AND relation = 'once_theirs.r1'::regclass;
SELECT mk('m3', 'once_theirs.r1');
DROP TABLE once_theirs.r1;
RESET ROLE;
DROP SCHEMA once_theirs, no_longer;
SET ROLE joint_owner;

-- a parent and its child, both of one population, come back
CREATE TABLE pt (person bigint NOT NULL, x float8, y text) PARTITION BY RANGE (person);
CREATE TABLE c0 PARTITION OF pt FOR VALUES FROM (1) TO (51);
CREATE TABLE c (person bigint NOT NULL, x float8, y text);
INSERT INTO c SELECT i, i % 10 / 10.0, 't' FROM generate_series(51, 100) i;
INSERT INTO c0 SELECT i, i % 10 / 10.0, 't' FROM generate_series(1, 50) i;
SELECT pro('pt'), pro('c', 'pt'), mk('mc', 'c'), privpred.grant_budget('joint_ann', 'c', 4);
SET ROLE joint_ann;
SELECT ask('mc', 1);
SET ROLE joint_owner;
SELECT privpred.drop_model('mc'), privpred.revoke_budget('joint_ann', 'c'), privpred.unprotect('c'), privpred.unprotect('pt');
ALTER TABLE pt ATTACH PARTITION c FOR VALUES FROM (51) TO (200);
SELECT refused($$SELECT pro('pt')$$);
SELECT spent FROM bud WHERE role = 'joint_ann'::regrole AND relation = 'pt'::regclass;
SELECT privpred.unprotect('pt');
DROP TABLE pt;

-- tables under a view that become parts of others with another account
CREATE TABLE pt (person bigint NOT NULL, x float8, y text) PARTITION BY RANGE (person);
CREATE TABLE c0 PARTITION OF pt FOR VALUES FROM (1) TO (51);
CREATE TABLE c2 (person bigint NOT NULL, x float8, y text);
INSERT INTO c2 SELECT i, i % 10 / 10.0, 't' FROM generate_series(51, 100) i;
INSERT INTO c0 SELECT i, i % 10 / 10.0, 't' FROM generate_series(1, 50) i;
SELECT pro('c2'), mk('mc', 'c2'), privpred.grant_budget('joint_ben', 'c2', 4);
SET ROLE joint_ben;
SELECT ask('mc', 4);
SET ROLE joint_owner;
SELECT pro('pt', unit => 'person');
CREATE VIEW v AS SELECT person, x, y FROM pt;
SELECT pro('v'), mk('mv', 'v'), privpred.grant_budget('joint_ben', 'v', 4, delta => 1e-6);
ALTER TABLE pt ATTACH PARTITION c2 FOR VALUES FROM (51) TO (200);
SELECT refused($$SELECT privpred.retrain('mv')$$);
SELECT refused($$SELECT mk('mv2', 'v')$$);
SELECT refused($$SELECT privpred.describe('v', '{x}')$$);
SELECT refused($$SELECT pro('v')$$);
SELECT privpred.drop_model('mc'), privpred.revoke_budget('joint_ben', 'c2'), privpred.unprotect('c2');
SELECT refused($$SELECT privpred.retrain('mv')$$);
ALTER TABLE pt DETACH PARTITION c2;
SELECT refused($$SELECT privpred.retrain('mv')$$);

-- queries within queries are walked once
CREATE TABLE pub (k int PRIMARY KEY);
DO $$
DECLARE
	s text := 'SELECT 1';
BEGIN
	FOR i IN 1 .. 12 LOOP
		s := format('SELECT (%s) AS a FROM pub GROUP BY 1', s);
	END LOOP;
	EXECUTE 'CREATE VIEW deep AS SELECT person, x, y, (' || s || ') AS e FROM pt';
END $$;
SELECT left(refused($$SELECT privpred.protect('deep', unit => 'person', public_tables => '{pub}')$$), 60);

RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();
\pset tuples_only off
\pset format aligned
DROP OWNED BY joint_owner, joint_other, joint_ann, joint_ben;
DROP VIEW bud;
DROP FUNCTION mk, ask, fill, tab, pro, refused;
DROP ROLE joint_owner, joint_other, joint_ann, joint_ben;

-- a table that a view's owner may not read is not his to declare public, to lock or to learn of
CREATE ROLE j_reader;
CREATE ROLE j_keeper;
GRANT CREATE ON SCHEMA public TO j_reader, j_keeper;
SET ROLE j_keeper;
CREATE TABLE j_kept (k int PRIMARY KEY);
CREATE TABLE j_kept_too (k int PRIMARY KEY);
SELECT privpred.protect('j_kept');
SET ROLE j_reader;
CREATE TABLE j_read (person int PRIMARY KEY, x int);
SELECT privpred.protect('j_read');
CREATE VIEW j_reading AS SELECT person, x FROM j_read;
SELECT privpred.protect('j_reading', unit => 'person', public_tables => '{j_kept}');
SELECT privpred.protect('j_reading', unit => 'person', public_tables => '{j_kept_too}');
SET ROLE j_keeper;
GRANT SELECT (k) ON j_kept_too TO j_reader;
SET ROLE j_reader;
SELECT privpred.protect('j_reading', unit => 'person', public_tables => '{j_kept_too}');
-- what is grouped by is looked at once: the time and memory do not double with each query around it
DO $$ DECLARE s text := 'SELECT 1'; BEGIN
	FOR i IN 1..12 LOOP s := format('SELECT (%s) AS a FROM j_kept_too GROUP BY 1', s); END LOOP;
	EXECUTE format('CREATE VIEW j_deep AS SELECT person, x, (%s) AS e FROM j_read', s); END $$;
SELECT privpred.protect('j_deep', unit => 'person', public_tables => '{j_kept_too}');
RESET ROLE;
DROP OWNED BY j_reader, j_keeper;
DROP ROLE j_reader, j_keeper;
