-- Forgetting at the next retraining: no certificate unless absence was proved, whatever has become of ids, tables and models meanwhile.
-- And who may verify a certificate when its table is gone, unprotected or somebody else's.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
\pset tuples_only
CREATE ROLE due_owner;
CREATE ROLE due_heir;
CREATE ROLE due_ann;
CREATE ROLE due_stranger;
GRANT due_owner, due_heir TO CURRENT_USER;
CREATE SCHEMA dues;
GRANT ALL ON SCHEMA dues TO due_owner, due_heir, due_ann, due_stranger;
SET search_path = dues, public;
CREATE FUNCTION refused(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE command;
  RETURN 'ACCEPTED';
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' | ', SQLSTATE, regexp_replace(SQLERRM, 'certificate \d+', 'certificate N'));
END $$;
CREATE TYPE colour AS ENUM ('red', 'green', 'blue', 'white', 'black', 'grey');
CREATE DOMAIN short AS varchar(20);
CREATE FUNCTION make(type text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE t (id %s NOT NULL, x float8, y text)', type);
  EXECUTE format('INSERT INTO t SELECT %s, i / 60.0, CASE WHEN i %% 3 = 0 THEN ''a'' ELSE ''b'' END FROM generate_series(1, 60) i',
    CASE WHEN type = 'colour' THEN '(enum_range(NULL::dues.colour))[1 + i % 6]' ELSE format('(i %% 6)::%s', type) END);
  PERFORM privpred.protect('t', unit => 'id', declared_units => 60, max_rows_per_unit => 20);
  PERFORM privpred.create_model('due', 't', 'y', '["x"]', classes => '{a,b}', learner => 'centroid', teachers => 3, epsilon => 1);
END $$;
-- Is the certificate given although the unit is back?  And when it is not?  Each tried and undone.
CREATE FUNCTION tries(type text, unit text, change text, back text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  number bigint;
  result text := '';
BEGIN
  FOR comes IN REVERSE 1..0 LOOP
    BEGIN
      PERFORM make(type);
      number := privpred.forget('t', unit, delete_rows => true, at => 'next retrain') ->> 'certificate';
      IF comes = 1 THEN EXECUTE format('INSERT INTO t VALUES (%L, 1, ''a'')', unit); END IF;
      IF change <> '' THEN EXECUTE change; END IF;
      PERFORM privpred.retrain('due');
      result := result || (SELECT CASE WHEN complete THEN ' given' ELSE ' open' END FROM privpred.certificate WHERE certificate_id = number);
      IF back <> '' THEN
        EXECUTE back;
        PERFORM privpred.retrain('due');
        result := result || (SELECT CASE WHEN complete THEN ' given' ELSE ' open' END FROM privpred.certificate WHERE certificate_id = number);
      END IF;
      RAISE EXCEPTION USING errcode = 'UNDO1';
    EXCEPTION WHEN SQLSTATE 'UNDO1' THEN NULL;
      WHEN OTHERS THEN result := result || ' ' || SQLSTATE;
    END;
    result := result || CASE WHEN comes = 1 THEN ' |' ELSE '' END;
  END LOOP;
  RETURN result;
END $$;
-- With the unit back: not given until it is gone, under the first encoding; but for the model that is dropped, and is no more when the unit comes.
-- Without it: given, if ids are encoded as they were.
SELECT what, tries(type, unit, change, back) FROM (VALUES
  (1, 'nothing', 'int', '1', '', 'DELETE FROM t WHERE id = 1'),
  (2, 'another type', 'int', '1', 'ALTER TABLE t ALTER id TYPE text', 'ALTER TABLE t ALTER id TYPE int USING id::int; DELETE FROM t WHERE id = 1'),
  (3, 'a wider one', 'int', '1', 'ALTER TABLE t ALTER id TYPE bigint', 'ALTER TABLE t ALTER id TYPE int'),
  (4, 'digits', 'int', '1', 'ALTER TABLE t ALTER id TYPE numeric', ''),
  (5, 'a modifier', 'numeric(10,1)', '1', 'ALTER TABLE t ALTER id TYPE numeric(10,0)', ''),
  (6, 'a length', 'varchar(9)', '1', 'ALTER TABLE t ALTER id TYPE varchar(19)', ''),
  (7, 'padding', 'text', '1', 'ALTER TABLE t ALTER id TYPE char(4)', ''),
  (8, 'a collation', 'text', '1', 'ALTER TABLE t ALTER id TYPE text COLLATE "POSIX"', ''),
  (9, 'a domain', 'varchar(20)', '1', 'ALTER TABLE t ALTER id TYPE dues.short', ''),
  (10, 'labels', 'colour', 'green', 'ALTER TYPE colour RENAME VALUE ''green'' TO ''verde''', 'ALTER TYPE colour RENAME VALUE ''verde'' TO ''green'''),
  (11, 'swapped labels', 'colour', 'green', 'ALTER TYPE colour RENAME VALUE ''green'' TO ''x''; ALTER TYPE colour RENAME VALUE ''red'' TO ''green''; ALTER TYPE colour RENAME VALUE ''x'' TO ''red''', ''),
  (12, 'the column''s name', 'int', '1', 'ALTER TABLE t RENAME id TO number', ''),
  (13, 'names swapped', 'int', '1', 'ALTER TABLE t ADD other int NOT NULL DEFAULT 7; ALTER TABLE t RENAME id TO gone; ALTER TABLE t RENAME other TO id', ''),
  (14, 'the table''s name', 'int', '1', 'ALTER TABLE t RENAME TO u', 'DELETE FROM u WHERE id = 1'),
  (15, 'another schema', 'int', '1', 'CREATE SCHEMA dues2; ALTER TABLE t SET SCHEMA dues2', ''),
  (16, 'dropped', 'int', '1', 'DROP TABLE t', ''),
  (17, 'a new model', 'int', '1', 'SELECT privpred.create_model(''new'', ''t'', ''y'', ''["x"]'', classes => ''{a,b}'', learner => ''centroid'', teachers => 3, epsilon => 1); DELETE FROM t WHERE id = 1',
    'SELECT privpred.retrain(''new'')'),
  (18, 'a new model, dropped', 'int', '1', 'SELECT privpred.create_model(''new'', ''t'', ''y'', ''["x"]'', classes => ''{a,b}'', learner => ''centroid'', teachers => 3, epsilon => 1); DELETE FROM t WHERE id = 1',
    'SELECT privpred.drop_model(''new'')'),
  (19, 'the model dropped', 'int', '1', 'SELECT privpred.drop_model(''due''); SELECT privpred.create_model(''due'', ''t'', ''y'', ''["x"]'', classes => ''{a,b}'', learner => ''centroid'', teachers => 3, epsilon => 1)', ''),
  (20, 'another table joins', 'int', '1', 'DELETE FROM t WHERE id = 1; CREATE TABLE v AS SELECT i % 6 AS id, i::float8 AS x, ''a''::text AS y FROM generate_series(1, 60) i; ALTER TABLE v ALTER id SET NOT NULL;
    SELECT privpred.protect(''v'', unit => ''id'', declared_units => 60, max_rows_per_unit => 20);
    SELECT privpred.create_model(''joined'', ''v'', ''y'', ''["x"]'', classes => ''{a,b}'', learner => ''centroid'', teachers => 3, epsilon => 1);
    SELECT privpred.protect(''v'', unit => ''id'', same_units_as => ''t'')', 'DELETE FROM v WHERE id = 1; SELECT privpred.retrain(''joined'')'),
  (21, 'a view', 'int', '1', 'CREATE VIEW v AS SELECT id, x, y FROM t; SELECT privpred.protect(''v'', unit => ''id'', declared_units => 60);
    SELECT privpred.create_model(''seen'', ''v'', ''y'', ''["x"]'', classes => ''{a,b}'', learner => ''centroid'', teachers => 3, epsilon => 1); DELETE FROM t WHERE id = 1', 'SELECT privpred.retrain(''seen'')'),
  (22, 'partitions', 'int', '1', 'CREATE TABLE part (id int NOT NULL, x float8, y text); INSERT INTO part SELECT * FROM t WHERE id = 1; DELETE FROM t WHERE id = 1; ALTER TABLE part INHERIT t', 'DELETE FROM part')
) c(n, what, type, unit, change, back) ORDER BY n;

-- A view that is defined anew: the unit is looked for in what is learnt from.
CREATE FUNCTION view_tries(comes boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  number bigint;
  result text;
BEGIN
  PERFORM make('int');
  CREATE VIEW v AS SELECT id, x, y FROM t WHERE x < 0.5;
  PERFORM privpred.protect('v', unit => 'id', declared_units => 60);
  PERFORM privpred.create_model('seen', 'v', 'y', '["x"]', classes => '{a,b}', learner => 'centroid', teachers => 3, epsilon => 1);
  PERFORM privpred.drop_model('due');
  number := privpred.forget('v', '1', delete_rows => true, at => 'next retrain') ->> 'certificate';
  IF comes THEN INSERT INTO t VALUES (1, 0.9, 'a'); END IF;
  CREATE OR REPLACE VIEW v AS SELECT id, x, y FROM t WHERE x > 0.2;
  PERFORM privpred.retrain('seen');
  SELECT CASE WHEN complete THEN 'given' ELSE 'open' END INTO result FROM privpred.certificate WHERE certificate_id = number;
  RAISE EXCEPTION USING errcode = 'UNDO1', message = result;
EXCEPTION WHEN SQLSTATE 'UNDO1' THEN RETURN SQLERRM;
END $$;
SELECT view_tries(true), view_tries(false);

-- What is said: to the owner, and why.
SET client_min_messages = warning;
SELECT make('int');
SELECT privpred.forget('t', 1, delete_rows => true, at => 'next retrain') ->> 'certificate' AS number \gset
INSERT INTO t VALUES (1, 1, 'a');
ALTER TABLE t ALTER id TYPE text;
\set VERBOSITY terse
SELECT privpred.retrain('due') ->> 'version';
\set VERBOSITY default
SELECT refused(format('SELECT privpred.certificate(%s)', :number));
SELECT privpred.forget('t', 1, delete_rows => true) ->> 'certificate' AS again \gset
SELECT ok, problem FROM privpred.verify_certificate(privpred.certificate(:again), '1');
SET client_min_messages = error;
DROP TABLE t;
-- it was to be forgotten by a model that is gone with its table, and is so
SELECT ok, problem FROM privpred.verify_certificate(privpred.certificate(:number), '1');
SELECT count(*) FROM privpred.forget_due;

-- ---------- who may verify ----------

SELECT make('int');
ALTER TABLE t OWNER TO due_owner;
SET ROLE due_owner;
SELECT privpred.grant_budget('due_ann', 't', 1);
SELECT privpred.forget('t', 1, delete_rows => true) ->> 'certificate' AS number \gset
SELECT privpred.certificate(:number) AS certificate \gset
RESET ROLE;
CREATE FUNCTION who(certificate jsonb, number text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  wanted name;
  said text;
BEGIN
  FOREACH wanted IN ARRAY '{superuser,due_owner,due_heir,due_ann,due_stranger}'::name[] LOOP
    IF wanted <> 'superuser' THEN EXECUTE format('SET ROLE %I', wanted); END IF;
    BEGIN
      SELECT concat_ws(' ', v.ok, v.problem, (SELECT w.ok FROM privpred.verify_certificate(certificate, '1') w), (SELECT w.problem FROM privpred.verify_certificate(certificate, '2') w),
        privpred.certificate(number::bigint) = certificate) INTO said FROM privpred.verify_certificate(certificate) v;
    EXCEPTION WHEN OTHERS THEN
      said := SQLSTATE;
      -- strangers are told the same of what there never was
      IF SQLERRM <> replace(substr(dues.refused(format('SELECT privpred.verify_certificate(%L)', jsonb_set(certificate, '{certificate}', '987654321'))), 9), 'certificate N', 'certificate ' || number)
      THEN said := said || ' TOLD ' || SQLERRM; END IF;
    END;
    RESET ROLE;
    RETURN NEXT format('%s: %s', wanted, said);
  END LOOP;
END $$;
SELECT who(:'certificate', :'number');
-- ids of another type, since
ALTER TABLE t ALTER id TYPE text;
SELECT ok, problem FROM privpred.verify_certificate(:'certificate', '1');
-- another owner: it is the heir's now
ALTER TABLE t OWNER TO due_heir;
SELECT who(:'certificate', :'number');
-- without protection
SET ROLE due_heir;
SELECT privpred.drop_model('due');
SELECT privpred.revoke_budget('due_ann', 't');
SELECT privpred.unprotect('t');
RESET ROLE;
SELECT who(:'certificate', :'number');
-- dropped: whoever owned it then
DROP TABLE t;
SELECT who(:'certificate', :'number');
-- a table of the same name is another's, and does not open it
SET ROLE due_stranger;
CREATE TABLE t (id int PRIMARY KEY, x float8);
SELECT privpred.protect('t');
RESET ROLE;
SELECT who(:'certificate', :'number');
-- nor does a role of the same name
DROP TABLE t;
REVOKE ALL ON SCHEMA dues FROM due_heir;
ALTER ROLE due_heir RENAME TO due_other;
CREATE ROLE due_heir;
GRANT due_heir TO CURRENT_USER;
GRANT ALL ON SCHEMA dues TO due_heir;
SELECT who(:'certificate', :'number');
-- an enum that is no more
SELECT make('colour');
SELECT privpred.forget('t', 'green', delete_rows => true) ->> 'certificate' AS number \gset
SELECT privpred.certificate(:number) AS certificate \gset
DROP TABLE t;
DROP TYPE colour;
SELECT ok, problem FROM privpred.verify_certificate(:'certificate', 'green');
SELECT ok, problem FROM privpred.verify_certificate(:'certificate', 'red');
-- declared anew with another unit, while nothing was spent
CREATE TABLE t (id int PRIMARY KEY, person int NOT NULL, x float8);
SELECT privpred.protect('t', unit => 'id');
SELECT privpred.forget('t', 1) ->> 'certificate' AS number \gset
SELECT privpred.certificate(:number) AS certificate \gset
SELECT privpred.protect('t', unit => 'person');
ALTER TABLE t OWNER TO due_owner;
SELECT ok, problem FROM privpred.verify_certificate(:'certificate', '1');
SELECT ok, problem FROM privpred.verify_ledger();

DROP SCHEMA dues CASCADE;
DROP OWNED BY due_owner, due_heir, due_other, due_ann, due_stranger;
DROP ROLE due_owner, due_heir, due_other, due_ann, due_stranger;

-- A learner that forgets the unit it is being trained on: the model would be stored with it afterwards.
CREATE SCHEMA within;
CREATE TABLE within.t (u int PRIMARY KEY, x float8, y boolean);
INSERT INTO within.t SELECT i, i % 7, i % 2 = 0 FROM generate_series(1, 20) i;
SELECT privpred.protect('within.t', unit => 'u') IS NULL AS "protected";
CREATE FUNCTION within.step(state int, label boolean, x float8[]) RETURNS int LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF pg_catalog.current_setting('within.forgets', true) = 'yes' THEN
		PERFORM pg_catalog.set_config('within.forgets', 'no', false);
		BEGIN
			PERFORM privpred.forget('within.t', 5, delete_rows => true);
		EXCEPTION WHEN object_in_use THEN
			NULL;
		END;
	END IF;
	RETURN COALESCE(state, 0) + 1;
END $$;
CREATE AGGREGATE within.train(boolean, float8[]) (SFUNC = within.step, STYPE = int);
CREATE FUNCTION within.predict(state int, x float8[]) RETURNS boolean LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS 'SELECT state > 0';
SELECT privpred.create_model('within', 'within.t', 'y', '{"x": {"min": 0, "max": 7}}', learner => 'sql', teachers => 2,
	options => '{"train": "within.train", "predict": "within.predict"}') ->> 'version' AS version;
SET within.forgets = 'yes';
SELECT privpred.retrain('within') ->> 'version' AS version;
-- refused, so that there are its rows
SELECT count(*) FROM within.t WHERE u = 5;
SELECT privpred.forget('within.t', 5, delete_rows => true) -> 'models' -> 0 -> 'version_after' AS version;
SELECT privpred.drop_model('within');
DROP SCHEMA within CASCADE;
