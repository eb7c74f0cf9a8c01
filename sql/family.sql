-- Tables that become part of one another after they were protected: the same rows would be paid for by two budgets.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY terse
CREATE ROLE fam_owner;
CREATE ROLE fam_ann;
CREATE SCHEMA fam AUTHORIZATION fam_owner;
GRANT USAGE ON SCHEMA fam TO fam_ann;
SET privpred.repeat_memory = '4MB';
SET ROLE fam_owner;
CREATE FUNCTION fam.fill(relation regclass, first int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %s SELECT i, (i %% 100) / 100.0, i %% 100 > 50 FROM generate_series(%s, %s) i', relation, first, first + 99);
END $$;
-- protects a table, trains a model that has its name, and grants
CREATE FUNCTION fam.offer(relation regclass) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM privpred.protect(relation, unit => 'id', declared_units => 200);
	PERFORM privpred.create_model(relation::text, relation, label => 'y', features => '["x"]', teachers => 10, epsilon => 0.1);
	PERFORM privpred.grant_budget('fam_ann', relation, epsilon => 5);
	RETURN 'offered';
END $$;
CREATE FUNCTION fam.withdraw(relation regclass) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM privpred.drop_model(relation::text);
	PERFORM privpred.revoke_budget('fam_ann', relation);
	PERFORM privpred.unprotect(relation);
	RETURN 'withdrawn';
END $$;
-- Asks a model as the analyst: how many answers, or why not; and what was spent.
RESET ROLE;
CREATE FUNCTION ask(model text, x float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM private_predict(model, ARRAY[x]);
	RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION tried(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'ACCEPTED';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE VIEW spent AS SELECT relation_name, epsilon_spent FROM privpred.budgets WHERE role_name = 'fam_ann' AND relation_name LIKE 'fam.%' ORDER BY 1;
SET ROLE fam_owner;
CREATE TABLE fam.p (id int NOT NULL, x float8, y boolean) PARTITION BY RANGE (id);
CREATE TABLE fam.p1 PARTITION OF fam.p FOR VALUES FROM (1) TO (101);
CREATE TABLE fam.c (id int NOT NULL, x float8, y boolean);
SELECT fam.fill('fam.p1', 1), fam.fill('fam.c', 101);
SELECT fam.offer('fam.p'), fam.offer('fam.c');
SET ROLE fam_ann;
SELECT ask('fam.p', 0.1), ask('fam.c', 0.1);

-- A partition with an account of its own: neither is asked any more, in a session that has asked before; what was told is told again.
SET ROLE fam_owner;
ALTER TABLE fam.p ATTACH PARTITION fam.c FOR VALUES FROM (101) TO (201);
SET ROLE fam_ann;
SELECT ask('fam.p', 0.2), ask('fam.c', 0.2);
SELECT ask('fam.p', 0.1), ask('fam.c', 0.1);
\set VERBOSITY default
SELECT private_predict('fam.c', ARRAY[0.2]);
SET privpred.on_refusal = 'null';
SELECT private_predict('fam.c', ARRAY[0.2]);
RESET privpred.on_refusal;
\set VERBOSITY terse
RESET ROLE;
SELECT ok FROM privpred.verify_ledger();
SELECT * FROM spent;
-- and in a new one
\c
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY terse
SET ROLE fam_ann;
SELECT ask('fam.p', 0.3), ask('fam.c', 0.3);
SET ROLE fam_owner;
SELECT tried($c$SELECT privpred.retrain('fam.p')$c$);
SELECT tried($c$SELECT privpred.protect('fam.p', unit => 'id')$c$);
-- detached, both go on
ALTER TABLE fam.p DETACH PARTITION fam.c;
SET ROLE fam_ann;
SELECT ask('fam.p', 0.3), ask('fam.c', 0.3);
RESET ROLE;
SELECT ok FROM privpred.verify_ledger();
SELECT * FROM spent;
-- within one transaction, rolled back
SET ROLE fam_owner;
BEGIN;
ALTER TABLE fam.p ATTACH PARTITION fam.c FOR VALUES FROM (101) TO (201);
SET ROLE fam_ann;
SELECT ask('fam.p', 0.4), ask('fam.c', 0.4);
ROLLBACK;
SET ROLE fam_ann;
SELECT ask('fam.p', 0.4), ask('fam.c', 0.4);
-- within one statement: the first answer is paid for, the second is not
RESET ROLE;
CREATE FUNCTION fam.attach() RETURNS float8 LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	ALTER TABLE fam.c INHERIT fam.q;
	RETURN 0.6;
END $$;
SET ROLE fam_owner;
CREATE TABLE fam.q (id int NOT NULL, x float8, y boolean);
SELECT fam.fill('fam.q', 1), fam.offer('fam.q');
RESET ROLE;
ALTER FUNCTION fam.attach() OWNER TO fam_owner;
GRANT EXECUTE ON FUNCTION fam.attach() TO fam_ann;
SET ROLE fam_ann;
DO $$ BEGIN
	RAISE WARNING '%', ask('fam.c', 0.5) || ', ' || ask('fam.c', fam.attach()) || ', ' || ask('fam.q', 0.5);
END $$;
-- that was inheritance; and it is over
SELECT ask('fam.q', 0.7), ask('fam.c', 0.7);
SET ROLE fam_owner;
ALTER TABLE fam.c NO INHERIT fam.q;
SET ROLE fam_ann;
SELECT ask('fam.q', 0.7), ask('fam.c', 0.7);

-- With a table between them, which is not protected, wherever the new link is; and a child in common.
SET ROLE fam_owner;
CREATE TABLE fam.middle (id int NOT NULL, x float8, y boolean);
ALTER TABLE fam.c INHERIT fam.middle;
SET ROLE fam_ann;
SELECT ask('fam.q', 0.8), ask('fam.c', 0.8);
SET ROLE fam_owner;
ALTER TABLE fam.middle INHERIT fam.q;
SET ROLE fam_ann;
SELECT ask('fam.q', 0.81), ask('fam.c', 0.81);
SET ROLE fam_owner;
ALTER TABLE fam.c NO INHERIT fam.middle;
SET ROLE fam_ann;
SELECT ask('fam.q', 0.81), ask('fam.c', 0.81);
SET ROLE fam_owner;
ALTER TABLE fam.c INHERIT fam.middle;
SET ROLE fam_ann;
SELECT ask('fam.q', 0.82), ask('fam.c', 0.82);
SET ROLE fam_owner;
ALTER TABLE fam.c NO INHERIT fam.middle;
ALTER TABLE fam.middle NO INHERIT fam.q;
ALTER TABLE fam.middle INHERIT fam.c;
SET ROLE fam_ann;
SELECT ask('fam.q', 0.83), ask('fam.c', 0.83);
SET ROLE fam_owner;
ALTER TABLE fam.middle INHERIT fam.q;
SET ROLE fam_ann;
SELECT ask('fam.q', 0.84), ask('fam.c', 0.84);
SET ROLE fam_owner;
DROP TABLE fam.middle;
SET ROLE fam_ann;
SELECT ask('fam.q', 0.84), ask('fam.c', 0.84);

-- Whatever else is paid for: streams, models that are charged once, labels, accuracies, descriptions.
SET ROLE fam_owner;
SELECT FROM privpred.create_model('fam_stream', 'fam.c', label => 'y', features => '["x"]', teachers => 10, mechanism => 'sparse');
SELECT FROM privpred.create_model('fam_once', 'fam.c', label => 'y', features => '["x"]', mechanism => 'cover', epsilon => 1, options => '{"class": "thresholds"}');
SELECT FROM privpred.create_model('fam_held', 'fam.c', label => 'y', features => '["x"]', teachers => 10, epsilon => 0.1, holdout => 0.3);
CREATE TABLE fam.public AS SELECT i / 10.0::float8 AS x FROM generate_series(1, 5) i;
GRANT SELECT ON fam.public TO fam_ann;
ALTER TABLE fam.c INHERIT fam.q;
SET ROLE fam_ann;
SELECT tried($c$SELECT privpred.open_stream('fam_stream', unstable => 1, epsilon => 0.1, delta => 1e-5)$c$);
SELECT ask('fam_once', 0.5);
SELECT tried($c$SELECT privpred.read_model('fam_once')$c$);
SELECT tried($c$SELECT privpred.distill('fam_student', 'fam.c', 'fam.public', labels => 2)$c$);
SET ROLE fam_owner;
SELECT tried($c$SELECT privpred.export_model('fam_once')$c$);
SELECT tried($c$SELECT privpred.release_accuracy('fam_held', 0.1)$c$);
SELECT tried($c$SELECT privpred.describe('fam.c', epsilon => 0.1)$c$);
ALTER TABLE fam.c NO INHERIT fam.q;
SET ROLE fam_ann;
SELECT ask('fam_once', 0.5);
RESET ROLE;
SELECT ok FROM privpred.verify_ledger();
SELECT * FROM spent;

--
-- The other way round: no longer protected, then part of something that is.  What was spent on its rows is not forgotten.
--
SET ROLE fam_owner;
SELECT privpred.drop_model(m) FROM unnest('{fam_stream,fam_once,fam_held}'::text[]) m;
SELECT fam.withdraw('fam.c');
CREATE TABLE fam.n (id int NOT NULL, x float8, y boolean) PARTITION BY RANGE (id);
ALTER TABLE fam.n ATTACH PARTITION fam.c FOR VALUES FROM (101) TO (201);
\set VERBOSITY default
SELECT privpred.protect('fam.n', unit => 'id');
\set VERBOSITY terse
-- protected first, and then joined: nothing new is learnt from it
ALTER TABLE fam.n DETACH PARTITION fam.c;
SELECT fam.offer('fam.n');
ALTER TABLE fam.n ATTACH PARTITION fam.c FOR VALUES FROM (101) TO (201);
SELECT tried($c$SELECT privpred.retrain('fam.n')$c$);
SELECT tried($c$SELECT privpred.describe('fam.n', epsilon => 0.1)$c$);
SELECT tried($c$SELECT privpred.create_model('fam_more', 'fam.n', label => 'y', features => '["x"]', teachers => 10)$c$);
-- what was trained before knows nothing of its rows
SET ROLE fam_ann;
SELECT ask('fam.n', 0.1);
SET ROLE fam_owner;
-- a child of one that was
SELECT fam.withdraw('fam.n');
ALTER TABLE fam.n DETACH PARTITION fam.c;
CREATE TABLE fam.n1 PARTITION OF fam.n FOR VALUES FROM (1) TO (101);
SELECT tried($c$SELECT privpred.protect('fam.n1', unit => 'id')$c$);
-- the table itself finds its own; nothing was spent on these, so they may
SELECT privpred.protect('fam.n', unit => 'id'), privpred.protect('fam.c', unit => 'id');
RESET ROLE;
SELECT ok FROM privpred.verify_ledger();
SELECT * FROM spent;
SET ROLE fam_owner;
SELECT privpred.unprotect('fam.n'), privpred.unprotect('fam.c');
CREATE TABLE fam.r (id int NOT NULL, x float8, y boolean);
CREATE TABLE fam.s () INHERITS (fam.r);
SELECT privpred.protect('fam.s', unit => 'id');
SELECT privpred.unprotect('fam.s');
SELECT privpred.protect('fam.r', unit => 'id');
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();
SET client_min_messages = error;
DROP VIEW spent;
DROP FUNCTION ask, tried;
DROP OWNED BY fam_owner, fam_ann CASCADE;
DROP ROLE fam_owner, fam_ann;
