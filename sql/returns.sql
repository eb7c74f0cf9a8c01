-- Tables that were protected, dropped and created again: what was spent stays spent, for their owner, and nobody else learns of it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
\pset format unaligned
\pset tuples_only on
\set SHOW_CONTEXT never
CREATE ROLE ret_owner;
CREATE ROLE ret_other;
CREATE ROLE ret_member;
CREATE ROLE ret_ann;
GRANT ret_owner TO ret_member;
CREATE SCHEMA ret;
GRANT USAGE, CREATE ON SCHEMA ret TO ret_owner, ret_other, ret_member;
-- makes a table of 200 rows
CREATE PROCEDURE make(name text, owner text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SET ROLE %I', owner);
  EXECUTE format('CREATE TABLE %s (id int PRIMARY KEY, person int NOT NULL, x float8, y boolean)', name);
  EXECUTE format('INSERT INTO %s SELECT i, i, (i %% 100) / 100.0, i %% 100 > 50 FROM generate_series(1, 200) i', name);
  RESET ROLE;
END $$;
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
-- what superusers see of the accounts of a table that exists
CREATE VIEW ret_state AS SELECT b.relation_name, b.role_name, b.status, b.epsilon_limit, b.epsilon_spent FROM privpred.budgets b
  WHERE b.relation_name LIKE 'ret.%' AND b.role IS NOT NULL ORDER BY b.account_id;

-- dropped with a budget of which half is spent: a warning, and the account is found
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.t', unit => 'id', epsilon_cap => 2);
SET client_min_messages = warning;
SELECT privpred.create_model('ret', 'ret.t', label => 'y', features => '["x"]', teachers => 10) ->> 'version';
RESET client_min_messages;
SELECT privpred.grant_budget('ret_ann', 'ret.t', epsilon => 1);
SET ROLE ret_ann;
SELECT count(private_predict('ret', ARRAY[i / 10.0])) FROM generate_series(1, 5) i;
SELECT epsilon_spent, answers_left FROM privpred.budgets;
SET ROLE ret_owner;
DROP TABLE ret.t;
RESET ROLE;
TABLE ret_state;
SELECT relation IS NULL AS dropped, relation_name, known_as, dropped_owner_name FROM privpred.protected_relation WHERE relation_name LIKE 'ret.%';
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.t', unit => 'id');
SET client_min_messages = warning;
SELECT privpred.create_model('ret', 'ret.t', label => 'y', features => '["x"]', teachers => 10) ->> 'version';
RESET client_min_messages;
-- budgets have ended; a new grant to the role goes on, as does the cap
SET ROLE ret_ann;
SELECT tried($c$SELECT private_predict('ret', ARRAY[0.1])$c$);
SET ROLE ret_owner;
SELECT privpred.grant_budget('ret_ann', 'ret.t', epsilon => 1);
SELECT role, epsilon_limit, epsilon_spent, answers_left, status FROM privpred.budgets WHERE relation = 'ret.t'::regclass ORDER BY role NULLS FIRST;
SET ROLE ret_ann;
SELECT count(private_predict('ret', ARRAY[i / 10.0])) FROM generate_series(1, 5) i;
SELECT tried($c$SELECT private_predict('ret', ARRAY[0.77])$c$);
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();

-- the same, renamed and moved before it is dropped, or dropped under another name: any name that it was protected or dropped under
SET ROLE ret_owner;
ALTER TABLE ret.t RENAME TO renamed;
DROP TABLE ret.renamed;
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT epsilon_spent, status FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
DROP TABLE ret.t;
CALL make('ret.renamed', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.renamed', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.renamed'::regclass;
RESET ROLE;
CREATE SCHEMA ret2 AUTHORIZATION ret_owner;
SET ROLE ret_owner;
ALTER TABLE ret.renamed SET SCHEMA ret2;
DROP TABLE ret2.renamed;
CALL make('ret2.renamed', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret2.renamed', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret2.renamed'::regclass;
-- unprotected first: no budget ends, nothing is said, and it is found all the same
SELECT privpred.unprotect('ret2.renamed');
DROP TABLE ret2.renamed;
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;

-- swapped: the old table is still there, so it must be said which of them is meant
ALTER TABLE ret.t RENAME TO t_old;
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
SELECT tried($c$SELECT privpred.protect('ret.t', unit => 'id')$c$);
DROP TABLE ret.t_old;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
-- if both stay, each has its account; once both are gone, the next finds the one with most spent
ALTER TABLE ret.t RENAME TO t_old;
SELECT privpred.protect('ret.t_old', unit => 'id');
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT privpred.grant_budget('ret_ann', 'ret.t', epsilon => 1);
SELECT relation, epsilon_spent, status FROM privpred.budgets WHERE role = 'ret_ann'::regrole ORDER BY 1;
DROP TABLE ret.t_old;
DROP TABLE ret.t;
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
DROP TABLE ret.t;
-- protected under another name before it takes the place of the dropped one: it cannot have the name together with an account of its own
CALL make('ret.next', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.next', unit => 'id', epsilon_cap => 1);
ALTER TABLE ret.next RENAME TO t;
\set VERBOSITY terse
ALTER INDEX ret.next RENAME TO t;
ALTER TABLE ret.next RENAME TO renamed;
-- under any name that was ever held, even between two others
ALTER TABLE ret.next RENAME TO t_old;
ALTER TABLE ret.next RENAME TO fine;
ALTER TABLE ret.fine RENAME TO next;
-- unprotected, it may; and then finds the account, unless something is there to lose
SELECT privpred.unprotect('ret.next');
ALTER TABLE ret.next RENAME TO t;
SELECT tried($c$SELECT privpred.protect('ret.t', unit => 'id')$c$);
SELECT privpred.protect('ret.t', unit => 'id', epsilon_cap => 3);
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
-- names held between protect and drop, by every way to get one
ALTER TABLE ret.t RENAME TO between1;
ALTER INDEX ret.between1 RENAME TO between2;
ALTER TABLE ret.between2 SET SCHEMA ret2;
RESET ROLE;
ALTER SCHEMA ret2 RENAME TO ret4;
SET ROLE ret_owner;
ALTER TABLE ret4.between2 SET SCHEMA ret;
RESET ROLE;
ALTER SCHEMA ret4 RENAME TO ret2;
SET ROLE ret_owner;
ALTER TABLE ret.between2 RENAME TO last;
BEGIN;
ALTER TABLE ret.last RENAME TO never;
ROLLBACK;
SELECT privpred.unprotect('ret.last');
ALTER TABLE ret.last RENAME TO between3;
DROP TABLE ret.between3;
RESET ROLE;
CREATE SCHEMA ret4 AUTHORIZATION ret_owner;
SELECT count(*) FROM privpred.protected_relation WHERE 'ret.never' = ANY (known_as);
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY '{ret.between1,ret.between2,ret2.between2,ret4.between2,ret.last,ret.between3,ret.never}'::text[] LOOP
    CALL make(name, 'ret_owner');
    SET ROLE ret_owner;
    SET client_min_messages = warning;
    PERFORM privpred.protect(name::regclass, unit => 'id');
    RESET client_min_messages;
    RAISE NOTICE '%: %', name, (SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = name::regclass);
    EXECUTE 'DROP TABLE ' || name;
    RESET ROLE;
  END LOOP;
END $$;
DROP SCHEMA ret4;
-- swapped by renaming: the old one is still there, so it must be said first that both are to stay; a stranger's tables are free
CALL make('ret.t', 'ret_owner');
CALL make('ret.t_new', 'ret_owner');
CALL make('ret.theirs', 'ret_other');
SET ROLE ret_owner;
SELECT privpred.protect('ret.t', unit => 'id'), privpred.protect('ret.t_new', unit => 'id');
ALTER TABLE ret.t RENAME TO t_gone;
ALTER TABLE ret.t_new RENAME TO t;
SET ROLE ret_other;
SELECT privpred.protect('ret.theirs', unit => 'id');
ALTER TABLE ret.theirs RENAME TO t;
DROP TABLE ret.t;
SET ROLE ret_owner;
SELECT privpred.protect('ret.t_gone', unit => 'id');
ALTER TABLE ret.t_new RENAME TO t;
-- another unit or promise is another declaration, here, too
DROP TABLE ret.t;
DROP TABLE ret.t_gone;
CALL make('ret.next', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.next', unit => 'person');
ALTER TABLE ret.next RENAME TO t;
DROP TABLE ret.t;
\set VERBOSITY default

-- the unit is the column, not its name: columns that are renamed change nothing
CALL make('ret.u', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.u', unit => 'id');
SET client_min_messages = warning;
SELECT privpred.create_model('ret_u', 'ret.u', label => 'y', features => '["x"]', teachers => 10) ->> 'version';
RESET client_min_messages;
SELECT privpred.grant_budget('ret_ann', 'ret.u', epsilon => 1);
SET ROLE ret_ann;
SELECT count(private_predict('ret_u', ARRAY[0.5]));
SET ROLE ret_owner;
BEGIN;
ALTER TABLE ret.u RENAME id TO row_id;
ALTER TABLE ret.u RENAME person TO id;
SELECT tried($c$SELECT privpred.protect('ret.u', unit => 'id')$c$);
SELECT tried($c$SELECT privpred.protect('ret.u')$c$);
SELECT tried($c$SELECT privpred.protect('ret.u', unit => 'row_id')$c$);
SELECT tried($c$SELECT privpred.retrain('ret_u')$c$);
SELECT tried($c$SELECT privpred.describe('ret.u', epsilon => 0.1)$c$);
ROLLBACK;
BEGIN;
ALTER TABLE ret.u DROP id;
ALTER TABLE ret.u RENAME person TO id;
SELECT tried($c$SELECT privpred.protect('ret.u', unit => 'id')$c$);
SELECT tried($c$SELECT privpred.retrain('ret_u')$c$);
-- what was trained still answers
SET ROLE ret_ann;
SELECT count(private_predict('ret_u', ARRAY[0.7]));
ROLLBACK;
SET ROLE ret_owner;
-- other changes change nothing
ALTER TABLE ret.u ALTER id TYPE bigint;
ALTER TABLE ret.u DROP CONSTRAINT u_pkey;
ALTER TABLE ret.u RENAME person TO somebody;
SELECT privpred.protect('ret.u', unit => 'id'), privpred.protect('ret.u');
-- a new table has columns with other numbers; the name is what it is found by
DROP TABLE ret.u;
CREATE TABLE ret.u (gone int, x float8, y boolean, id int NOT NULL);
ALTER TABLE ret.u DROP gone;
INSERT INTO ret.u SELECT i / 100.0, i > 50, i FROM generate_series(1, 100) i;
SELECT privpred.protect('ret.u', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.u'::regclass;
SET client_min_messages = warning;
SELECT privpred.create_model('ret_u', 'ret.u', label => 'y', features => '["x"]', teachers => 10) ->> 'version';
RESET client_min_messages;
DROP TABLE ret.u;
-- while nothing was spent, another column may be declared under the same name
CALL make('ret.w', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.w', unit => 'id');
ALTER TABLE ret.w RENAME id TO row_id;
ALTER TABLE ret.w RENAME person TO id;
SELECT tried($c$SELECT privpred.create_model('ret_w', 'ret.w', label => 'y', features => '["x"]', teachers => 10)$c$);
SELECT privpred.protect('ret.w', unit => 'id');
SET client_min_messages = warning;
SELECT privpred.create_model('ret_w', 'ret.w', label => 'y', features => '["x"]', teachers => 10) ->> 'version';
RESET client_min_messages;
DROP TABLE ret.w;

-- another unit: what was spent is not counted, which is said; and the earlier unit finds it
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
ALTER TABLE ret.t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (person);
SELECT privpred.protect('ret.t');
SELECT count(*) FROM privpred.budgets WHERE relation = 'ret.t'::regclass;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
DROP TABLE ret.t;
-- another promise is another declaration
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.t', unit => 'id', protects => 'labels');
DROP TABLE ret.t;
-- another type of the unit is the same people
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
ALTER TABLE ret.t ALTER id TYPE text;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
DROP TABLE ret.t;
-- a partitioned table of that name is a table of that name; a temporary one cannot be protected
CREATE TABLE ret.t (id int NOT NULL, x float8, y boolean) PARTITION BY RANGE (id);
CREATE TABLE ret.t1 PARTITION OF ret.t DEFAULT;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
DROP TABLE ret.t;
-- within one transaction, and one that is rolled back
BEGIN;
CREATE TABLE ret.t (id int PRIMARY KEY);
SELECT privpred.protect('ret.t');
DROP TABLE ret.t;
CREATE TABLE ret.t (id int PRIMARY KEY);
SELECT privpred.protect('ret.t');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
SAVEPOINT s;
DROP TABLE ret.t;
ROLLBACK TO s;
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
ROLLBACK;
RESET ROLE;
SELECT count(*) FROM privpred.protected_relation WHERE relation::text LIKE 'ret.%';

-- who else uses the name: a stranger finds, and is told, nothing; even if a superuser does it for him
CALL make('ret.t', 'ret_other');
SET ROLE ret_other;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT count(*) FROM privpred.budgets;
SELECT count(*) FROM privpred.ledger;
SELECT privpred.grant_budget('ret_ann', 'ret.t', epsilon => 1);
SELECT epsilon_spent FROM privpred.budgets;
SELECT privpred.revoke_budget('ret_ann', 'ret.t');
DROP TABLE ret.t;
CALL make('ret.t', 'ret_other');
SELECT privpred.protect('ret.t', unit => 'id');
SELECT count(*) FROM privpred.budgets WHERE relation = 'ret.t'::regclass;
-- nor does he with a table that the owner gives him before it is protected
DROP TABLE ret.t;
CALL make('ret.t', 'ret_owner');
ALTER TABLE ret.t OWNER TO ret_other;
SET ROLE ret_other;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT count(*) FROM privpred.budgets WHERE relation = 'ret.t'::regclass;
DROP TABLE ret.t;
RESET ROLE;
-- a member of the owner has the owner's rights, and so has a superuser; who owned the table last counts
CALL make('ret.t', 'ret_member');
SET ROLE ret_member;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
RESET ROLE;
ALTER TABLE ret.t OWNER TO ret_other;
DROP TABLE ret.t;
CALL make('ret.t', 'ret_owner');
SET ROLE ret_owner;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT count(*) FROM privpred.budgets WHERE relation = 'ret.t'::regclass;
DROP TABLE ret.t;
CALL make('ret.t', 'ret_other');
SET ROLE ret_other;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'ret_ann'::regrole AND relation = 'ret.t'::regclass;
DROP TABLE ret.t;
RESET ROLE;
-- a later role of the same name is another role, and one of the same number as well
CREATE ROLE ret_gone;
GRANT USAGE, CREATE ON SCHEMA ret TO ret_gone;
CALL make('ret.t', 'ret_gone');
SET ROLE ret_gone;
SELECT privpred.protect('ret.t', unit => 'id');
SET client_min_messages = warning;
SELECT privpred.create_model('ret', 'ret.t', label => 'y', features => '["x"]', teachers => 10) ->> 'version';
RESET client_min_messages;
SELECT privpred.grant_budget('ret_gone', 'ret.t', epsilon => 1);
SELECT count(private_predict('ret', ARRAY[0.5]));
DROP TABLE ret.t;
RESET ROLE;
DROP OWNED BY ret_gone;
DROP ROLE ret_gone;
CREATE ROLE ret_gone;
GRANT USAGE, CREATE ON SCHEMA ret TO ret_gone;
CALL make('ret.t', 'ret_gone');
SET ROLE ret_gone;
SELECT privpred.protect('ret.t', unit => 'id');
SELECT count(*) FROM privpred.budgets WHERE relation = 'ret.t'::regclass;
DROP TABLE ret.t;
RESET ROLE;
BEGIN;
UPDATE privpred.protected_relation SET dropped_owner = 'ret_other'::regrole WHERE dropped_owner_name = 'ret_gone';
CALL make('ret.u', 'ret_other');
UPDATE privpred.protected_relation SET known_as = '{ret.u}' WHERE dropped_owner_name = 'ret_gone';
SELECT privpred.protect('ret.u', unit => 'id');
SELECT count(*) FROM privpred.budgets WHERE relation = 'ret.u'::regclass;
ROLLBACK;

-- all ways by which a table goes end in the same place: with its schema, with its owner, by a cascade
CALL make('ret.t', 'ret_other');
SELECT privpred.protect('ret.t', unit => 'id');
DROP OWNED BY ret_other;
SELECT active, dropped_owner_name FROM privpred.protected_relation WHERE relation_name = 'ret.t' ORDER BY dropped_at DESC LIMIT 1;
GRANT USAGE, CREATE ON SCHEMA ret TO ret_other;
CREATE TYPE ret.row AS (id int, x float8);
CREATE TABLE ret.typed OF ret.row (PRIMARY KEY (id));
SELECT privpred.protect('ret.typed');
SELECT privpred.grant_budget('ret_ann', 'ret.typed', epsilon => 1);
DROP TYPE ret.row CASCADE;
CALL make('ret.v', 'ret_other');
ALTER TABLE ret.v OWNER TO ret_owner;
SELECT privpred.protect('ret.v', unit => 'id');
DROP SCHEMA ret CASCADE;
SELECT relation_name, active, dropped_owner_name = current_user AS mine, dropped_owner_name = 'ret_owner' AS the_owners FROM privpred.protected_relation
WHERE relation_name IN ('ret.typed', 'ret.v') ORDER BY 1;
SELECT ok, problem FROM privpred.verify_ledger();
DROP SCHEMA ret2;
DROP OWNED BY ret_owner, ret_other, ret_member, ret_ann, ret_gone;
DROP VIEW ret_state;
DROP PROCEDURE make;
DROP FUNCTION tried;
DROP ROLE ret_owner, ret_other, ret_member, ret_ann, ret_gone;
