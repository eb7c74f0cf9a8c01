-- Training on a view: by every mechanism, and the same bits as on a table of the same rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
\pset tuples_only
CREATE SCHEMA vt;
SET search_path = vt, public;
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

CREATE TABLE person (person_id int PRIMARY KEY, age int NOT NULL, sick boolean NOT NULL);
CREATE TABLE visit (visit_id int PRIMARY KEY, person_id int NOT NULL, kind int, cost numeric);
CREATE TABLE concept (kind int PRIMARY KEY, name text);
INSERT INTO concept SELECT i, 'kind ' || i FROM generate_series(0, 3) i;
INSERT INTO person SELECT i, 20 + i * 7 % 60, i * 7 % 60 > 30 FROM generate_series(1, 300) i;
INSERT INTO visit SELECT i, 1 + i % 280, i % 4, (i * 13 % 50)::numeric / 10 FROM generate_series(1, 2000) i;
SELECT privpred.protect('person', declared_units => 300, max_rows_per_unit => 1);
SELECT privpred.protect('visit', unit => 'person_id', same_units_as => 'person');
CREATE VIEW history AS
  SELECT p.person_id, p.age, p.sick, count(v.visit_id) AS visits, max(v.cost) AS most,
    (SELECT c.name FROM concept c JOIN visit w USING (kind) WHERE w.person_id = p.person_id ORDER BY w.cost DESC, c.name LIMIT 1) AS kind
  FROM person p LEFT JOIN visit v ON v.person_id = p.person_id GROUP BY p.person_id;
SELECT refused($$SELECT privpred.protect('history')$$);
SELECT refused($$SELECT privpred.protect('history', unit => 'person_id')$$);
SELECT refused($$SELECT privpred.protect('history', unit => 'person_id', public_tables => '{concept}')$$);
CREATE OR REPLACE VIEW history AS
  SELECT p.person_id, p.age, p.sick, count(v.visit_id) AS visits, max(v.cost) AS most,
    (SELECT min(c.name) FROM concept c JOIN visit w USING (kind) WHERE w.person_id = p.person_id) AS kind
  FROM person p LEFT JOIN visit v ON v.person_id = p.person_id GROUP BY p.person_id;
SELECT privpred.protect('history', unit => 'person_id', declared_units => 300, max_rows_per_unit => 1, public_tables => '{concept}');
SELECT public_relation FROM privpred.public_table WHERE relation_id = (SELECT relation_id FROM privpred.protected_relation WHERE relation = 'history'::regclass);
-- what is public is kept, and may change
SELECT privpred.protect('history', unit => 'person_id');
SELECT public_relation FROM privpred.public_table WHERE relation_id = (SELECT relation_id FROM privpred.protected_relation WHERE relation = 'history'::regclass);
SELECT refused($$SELECT privpred.protect('history', unit => 'person_id', public_tables => '{}')$$);
SELECT refused($$SELECT privpred.protect('history', unit => 'person_id', public_tables => '{concept,NULL}')$$);
SELECT refused($$SELECT privpred.protect('person', public_tables => '{concept}')$$);
SELECT refused($$SELECT privpred.protect('history', unit => 'person_id', protects => 'labels')$$);
SELECT refused($$SELECT privpred.protect('history', unit => 'person_id', same_units_as => 'person')$$);
SELECT refused($$SELECT privpred.protect('history', unit => 'no_such')$$);
SELECT refused($$SELECT privpred.protect('history', unit => 'age')$$);
-- one account with its tables
SELECT population = (SELECT population FROM privpred.protected_relation WHERE relation = 'person'::regclass) FROM privpred.protected_relation WHERE relation = 'history'::regclass;

CREATE TABLE flat AS SELECT * FROM history;
ALTER TABLE flat ADD PRIMARY KEY (person_id);
SELECT privpred.protect('flat', declared_units => 300, max_rows_per_unit => 1);

-- ---------- all mechanisms ----------

CREATE FUNCTION named(argument text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  EXECUTE format('SELECT privpred.create_model(''none'', ''vt.flat'', ''sick'', ''{"age": {"min": 0, "max": 100}}'', %I => ''none'')', argument);
EXCEPTION WHEN undefined_object THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN QUERY SELECT unnest(string_to_array(substring(hint FROM ': (.*)\.$'), ', '));
END $$;
-- The same model on both, with one salt.  Mechanisms that draw while they train learn the same only up to noise.
CREATE FUNCTION compare(mechanism text, learner text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  of text;
  options jsonb := CASE learner WHEN 'boost' THEN '{"rounds": 3, "depth": 2}' WHEN 'forest' THEN '{"trees": 3, "depth": 2}' ELSE '{}' END;
  features json := CASE WHEN mechanism IN ('threshold', 'littlestone') THEN '{"age": {"min": 0, "max": 100}}'
    ELSE '{"age": {"min": 0, "max": 100}, "visits": {"min": 0, "max": 20}, "most": {"min": 0, "max": 5, "null": {"fill": 0}}, "kind": {"levels": ["kind 0", "kind 1", "kind 2", "kind 3"], "null": "none"}}' END;
BEGIN
  IF mechanism = 'soft' THEN
    options := options || '{"precision": 0.5}';
  END IF;
  BEGIN
    FOREACH of IN ARRAY '{flat,history}'::text[] LOOP
      PERFORM privpred.create_model('on_' || of, of::regclass, 'sick', features, mechanism => mechanism, learner => learner, teachers => 7, epsilon => 10, options => options);
      UPDATE privpred.model SET salt = '\x00112233445566778899aabbccddeeff' WHERE name = 'on_' || of;
      PERFORM privpred.retrain('on_' || of);
    END LOOP;
  EXCEPTION WHEN OTHERS THEN
    RETURN format('%s on %s', SQLERRM, of);
  END;
  RETURN (SELECT CASE WHEN a.predictor::text = b.predictor::text THEN 'same teachers'
      WHEN a.charge_kind = 'once' AND octet_length(a.state) = octet_length(b.state) THEN 'drawn while trained, same size'
      WHEN a.state = b.state THEN 'same state' ELSE 'DIFFERENT' END
    FROM privpred.model a, privpred.model b WHERE a.name = 'on_flat' AND b.name = 'on_history');
END $$;
CREATE FUNCTION compared(mechanism text, learner text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text := vt.compare(mechanism, learner);
BEGIN
  PERFORM privpred.drop_model(name) FROM privpred.model WHERE name IN ('on_flat', 'on_history');
  RETURN result;
END $$;
SELECT m, compared(m, 'logistic') FROM named('mechanism') m ORDER BY m COLLATE "C";
SELECT l, compared('vote', l) FROM named('learner') l WHERE l NOT IN ('sql', 'boost') ORDER BY l COLLATE "C";

-- ---------- a model's life ----------

SET client_min_messages = notice;
CREATE FUNCTION make(name text, holdout float8 DEFAULT 0) RETURNS boolean LANGUAGE sql AS $$
  SELECT privpred.create_model(name, 'vt.history', 'sick', '{"age": {"min": 0, "max": 100}, "visits": {"min": 0, "max": 20}}', teachers => 7, epsilon => 1, holdout => holdout) IS NOT NULL $$;
SET client_min_messages = warning;
SELECT make('m');
CREATE ROLE vt_analyst;
SELECT privpred.grant_budget('vt_analyst', 'person', epsilon => 10, delta => 1e-6);
SET ROLE vt_analyst;
SELECT private_predict('m', '{"age": 70, "visits": 3}') IS NOT NULL;
SELECT relation, population, epsilon_spent > 0 FROM privpred.budgets WHERE role = 'vt_analyst'::regrole;
RESET ROLE;
SELECT definition LIKE '%FROM (vt.person p%' FROM privpred.model WHERE name = 'm';
-- not changed, changed, and changed so that it is no longer proved
SET client_min_messages = notice;
SELECT privpred.retrain('m') ->> 'version';
CREATE OR REPLACE VIEW history AS
  SELECT p.person_id, p.age, p.sick, count(v.visit_id) FILTER (WHERE v.kind = 2) AS visits, max(v.cost) AS most,
    (SELECT min(c.name) FROM concept c JOIN visit w USING (kind) WHERE w.person_id = p.person_id) AS kind
  FROM person p LEFT JOIN visit v ON v.person_id = p.person_id GROUP BY p.person_id;
SELECT privpred.retrain('m') ->> 'version';
SELECT privpred.retrain('m') ->> 'version';
SET client_min_messages = warning;
CREATE OR REPLACE VIEW history AS
  SELECT p.person_id, p.age, p.sick, (SELECT count(*) FROM visit v) AS visits, NULL::numeric AS most, NULL::text AS kind FROM person p;
SELECT refused($$SELECT privpred.retrain('m')$$);
SELECT refused($$SELECT make('n')$$);
-- the old version stays
SET ROLE vt_analyst;
SELECT version, private_predict('m', '{"age": 70, "visits": 3}') IS NOT NULL FROM privpred.models WHERE name = 'm';
RESET ROLE;
CREATE OR REPLACE VIEW history AS
  SELECT p.person_id, p.age, p.sick, count(v.visit_id) AS visits, max(v.cost) AS most, NULL::text AS kind
  FROM person p LEFT JOIN visit v ON v.person_id = p.person_id GROUP BY p.person_id;
-- columns, renamed and renamed back
ALTER VIEW history RENAME COLUMN visits TO stays;
SELECT refused($$SELECT privpred.retrain('m')$$);
ALTER VIEW history RENAME COLUMN stays TO visits;
ALTER VIEW history RENAME COLUMN person_id TO id;
SELECT refused($$SELECT privpred.retrain('m')$$);
ALTER VIEW history RENAME COLUMN id TO person_id;
ALTER TABLE visit RENAME COLUMN person_id TO who;
SELECT refused($$SELECT privpred.retrain('m')$$);
ALTER TABLE visit RENAME COLUMN who TO person_id;
SELECT privpred.retrain('m') ->> 'version';

-- ---------- everything else ----------

SELECT make('held', 0.3);
SELECT rows BETWEEN 30 AND 170 FROM privpred.evaluate('held');
SELECT rows FROM privpred.evaluate('m', 'flat');
SELECT units > 0, accuracy BETWEEN -1 AND 2 FROM privpred.release_accuracy('held', 1);
SELECT json_typeof(privpred.describe('history', '{age,visits}', epsilon => 1, delta => 1e-7));
SELECT count(*) > 0 FROM privpred.plan(relation => 'history', label => 'sick');
SELECT bool_and(verdict <> 'violated') FROM privpred.audit('m', draws => 1000);
CREATE TABLE synthetic AS SELECT i AS age, i % 9 AS visits FROM generate_series(1, 90) i;
SELECT privpred.distill('student', 'm', 'synthetic') IS NOT NULL;
CREATE VIEW leak AS SELECT age, 3::bigint AS visits FROM history;
SELECT refused($$SELECT privpred.distill('thief', 'm', 'leak')$$);
SELECT refused($$SELECT privpred.distill('thief', 'm', 'history')$$);
SELECT refused($$SELECT privpred.protect('leak', unit => 'age')$$);
BEGIN;
SET LOCAL privpred.train_by_states = on;
SELECT privpred.retrain('m') ->> 'version';
ROLLBACK;

-- ---------- owners ----------

CREATE ROLE vt_owner;
ALTER VIEW history OWNER TO vt_owner;
SELECT refused($$SELECT privpred.retrain('m')$$);
GRANT USAGE, CREATE ON SCHEMA vt TO vt_owner;
GRANT SELECT ON ALL TABLES IN SCHEMA vt TO vt_owner;
SET ROLE vt_owner;
SELECT vt.refused($$SELECT privpred.retrain('m')$$);
CREATE VIEW mine AS SELECT person_id, age FROM person;
SELECT vt.refused($$SELECT privpred.protect('vt.mine', unit => 'person_id')$$);
RESET ROLE;
ALTER VIEW history OWNER TO CURRENT_USER;
-- a view in between that belongs to somebody else
CREATE VIEW yours AS SELECT person_id, age FROM mine;
SELECT refused($$SELECT privpred.protect('vt.yours', unit => 'person_id')$$);
DROP VIEW yours;

-- ---------- protection ends ----------

SELECT refused($$SELECT privpred.unprotect('visit')$$);
SELECT refused($$SELECT privpred.unprotect('history')$$);
SELECT privpred.drop_model(name) FROM privpred.models WHERE name IN ('m', 'held', 'student') ORDER BY name;
SELECT privpred.unprotect('history');
SELECT privpred.unprotect('visit');
SELECT refused($$SELECT privpred.protect('history', unit => 'person_id')$$);

-- a public table that was dropped is no longer public, and nothing is left of views that were
CREATE TABLE passing (x int);
CREATE VIEW short_lived AS SELECT person_id, x FROM person, passing;
SELECT privpred.protect('short_lived', unit => 'person_id', public_tables => '{passing}');
CREATE OR REPLACE VIEW short_lived AS SELECT person_id, 1 AS x FROM person;
DROP TABLE passing;
SELECT count(*) FROM privpred.public_table WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = public_relation);
SELECT privpred.protect('short_lived', unit => 'person_id', public_tables => '{concept}');
DROP VIEW short_lived;
SELECT count(*) FROM privpred.public_table WHERE relation_id NOT IN (SELECT relation_id FROM privpred.protected_relation WHERE active OR relation IS NOT NULL);

-- ---------- forgetting ----------

CREATE TABLE forgotten (id int PRIMARY KEY, x float8 NOT NULL, y text NOT NULL);
INSERT INTO forgotten SELECT i, i / 400.0, CASE WHEN i % 400 > 200 THEN 'yes' ELSE 'no' END FROM generate_series(1, 400) i;
CREATE VIEW of_forgotten AS SELECT id, x, y FROM forgotten WHERE x > 0.1;
SELECT privpred.protect('forgotten', declared_units => 400);
SELECT privpred.protect('of_forgotten', unit => 'id', declared_units => 400);
SELECT privpred.create_model('ft', 'forgotten', 'y', '["x"]', classes => '{no,yes}', learner => 'linear', teachers => 8) ->> 'version',
  privpred.create_model('fv', 'of_forgotten', 'y', '["x"]', classes => '{no,yes}', learner => 'linear', teachers => 8) ->> 'version';
CREATE FUNCTION forgot(f jsonb) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT (m - 'teacher_rows') ::text FROM jsonb_array_elements(f -> 'models') m ORDER BY m ->> 'model' $$;
SELECT forgot(privpred.forget('of_forgotten', 200, dry_run => true));
SELECT forgot(privpred.forget('forgotten', 200, delete_rows => true));
-- a view of another definition: all of its teachers are fitted again
CREATE OR REPLACE VIEW of_forgotten AS SELECT id, x / 2 AS x, y FROM forgotten WHERE x > 0.3;
SELECT forgot(privpred.forget('forgotten', 300, delete_rows => true));
SELECT privpred.retrain('fv') -> 'refitted' AS refitted, ok, problem FROM privpred.verify_certificate(privpred.certificate((SELECT max(certificate_id) FROM privpred.certificate)), '300');
SELECT refused($$SELECT privpred.chunk_index('fv')$$);
SELECT privpred.drop_model('ft'), privpred.drop_model('fv');

-- ---------- row security ----------

ALTER TABLE flat ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_or_none ON flat USING ((SELECT count(*) FROM vt.flat f) > 299);
SELECT privpred.create_model('f', 'flat', 'sick', '{"age": {"min": 0, "max": 100}}', teachers => 7) ->> 'version';
ALTER TABLE flat FORCE ROW LEVEL SECURITY;
SELECT refused($$SELECT privpred.retrain('f')$$);
SELECT refused($$SELECT privpred.protect('flat')$$);
SELECT refused($$SELECT privpred.describe('flat', '{age}')$$);
ALTER TABLE flat NO FORCE ROW LEVEL SECURITY;
SELECT privpred.retrain('f') ->> 'version';
SELECT privpred.drop_model('f');

-- ---------- 0 and -0, 1.0 and 1.00 ----------

SELECT privpred.encode('[{"name": "x", "kind": "numeric", "min": -1, "max": 1}]', x) = privpred.encode('[{"name": "x", "kind": "numeric", "min": -1, "max": 1}]', y)
  FROM (VALUES ('0'::float8, '-0'::float8), ('-0'::float8, 0)) v(x, y);
SELECT privpred.encode(f, 1.0)::text = privpred.encode(f, 1.00)::text, privpred.encode(f, '0'::float8)::text = privpred.encode(f, '-0'::float8)::text, privpred.encode(f, '-0'::float8)::text
  FROM (VALUES ('[{"name": "x", "kind": "numeric", "min": 0, "max": 4}]'::jsonb), ('[{"name": "x", "kind": "numeric", "min": -3, "max": 4}]'), ('[{"name": "x", "kind": "numeric", "min": 0, "max": 4, "cuts": [1, 2]}]')) v(f);
SELECT privpred.lesser_row(privpred.row_cells(1, ROW('-0'::float8, 1.0)), NULL) IS NULL, privpred.row_cells(1, ROW('-0'::float8, 1.0)) = privpred.row_cells(1, ROW('0'::float8, 1.00));

RESET client_min_messages;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP OWNED BY vt_owner;
DROP SCHEMA vt CASCADE;
DROP ROLE vt_analyst;
DROP ROLE vt_owner;
