-- Forgetting a unit: one teacher is fitted again, all others stay byte for byte, and a certificate says so.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
\pset tuples_only
CREATE ROLE forget_owner;
CREATE ROLE forget_ann;
CREATE ROLE forget_stranger;
CREATE SCHEMA forgetting AUTHORIZATION forget_owner;
GRANT USAGE ON SCHEMA forgetting TO forget_ann, forget_stranger;
SET search_path = forgetting, public;
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

-- ---------- byte for byte: every learner, every type of label ----------

CREATE TYPE forgetting.mood AS ENUM ('low', 'high');
CREATE TABLE people (id int NOT NULL, x float8, z float8, t text, b boolean, n int, m forgetting.mood, v float8);
INSERT INTO people SELECT i % 200, (i * 37 % 101) / 100.0, (i * 53 % 97) / 96.0, CASE WHEN i * 37 % 101 > 40 + i * 7 % 20 THEN 'yes' ELSE 'no' END,
  i * 37 % 101 > 40 + i * 7 % 20, (i * 37 % 101 > 40 + i * 7 % 20)::int, CASE WHEN i * 37 % 101 > 40 + i * 7 % 20 THEN 'high' ELSE 'low' END::mood,
  (i * 37 % 101) / 10.0 FROM generate_series(1, 1000) i;
SELECT privpred.protect('people', unit => 'id', declared_units => 200, max_rows_per_unit => 10);
CREATE FUNCTION sql_step(state jsonb, label anyelement, x float8[]) RETURNS jsonb LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(state, '{}') || jsonb_build_object(label::text, coalesce((state ->> label::text)::float8, 0) + x[1]) $$;
CREATE AGGREGATE sql_train(anyelement, float8[]) (SFUNC = sql_step, STYPE = jsonb);
CREATE FUNCTION sql_predict_text(state jsonb, x float8[]) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT key FROM jsonb_each_text(state) ORDER BY value::float8 DESC, key LIMIT 1 $$;
CREATE FUNCTION learners() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  PERFORM privpred.create_model('none', 'people', 't', '["x"]', classes => '{no,yes}', learner => 'none');
EXCEPTION WHEN undefined_object THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN QUERY SELECT unnest(string_to_array(substring(hint FROM ': (.*)\.$'), ', '));
END $$;
SELECT count(*) >= 11 FROM learners();

-- What the versions are, and what they would be if everything were fitted from the first row on.
CREATE FUNCTION stored(model text) RETURNS bytea LANGUAGE sql AS
  $$ SELECT decode(substr(m.predictor::text, 3), 'hex') FROM privpred.model m WHERE m.name = $1 $$;
CREATE FUNCTION from_scratch(wanted text) RETURNS bytea LANGUAGE plpgsql AS $$
BEGIN
  UPDATE privpred.model SET chunks = NULL, predictor = NULL WHERE name = wanted;
  PERFORM privpred.retrain(wanted);
  RETURN stored(wanted);
END $$;

-- Forgets units one after the other, and compares; says what is wrong.
CREATE FUNCTION check_forgetting(learner text, label text, classes text[], options jsonb) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  tried text := format('%s of %s', learner, label);
  before bytea;
  after bytea;
  answer jsonb;
  changed int := 0;
BEGIN
  PERFORM privpred.create_model(tried, 'people', label::name, '["x", "z"]', classes => classes, learner => learner, teachers => 8, epsilon => 1, options => options);
  -- with a salt that is always the same, the outcome is, too
  UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f' WHERE name = tried;
  PERFORM privpred.retrain(tried);
  FOR unit IN 1..3 LOOP
    before := stored(tried);
    answer := privpred.forget('people', unit, delete_rows => true);
    after := stored(tried);
    changed := changed + (before <> after)::int;
    IF answer #>> '{models,0,how}' <> 'the unit''s teacher is fitted again' OR (answer ->> 'rows_deleted')::int <> 5 THEN
      RETURN NEXT format('%s: %s', tried, answer);
    END IF;
    IF after <> from_scratch(tried) THEN RETURN NEXT tried || ': not what it would be from scratch'; END IF;
    IF length(before) <> length(after) AND learner <> 'sql' THEN RETURN NEXT tried || ': its size has changed'; END IF;
    -- nothing has changed since, and retraining finds so
    IF learner <> 'sql' AND privpred.retrain(tried) ->> 'refitted' <> '0' OR stored(tried) <> after THEN RETURN NEXT tried || ': retraining has changed it'; END IF;
  END LOOP;
  IF changed = 0 AND learner <> 'stump' THEN RETURN NEXT tried || ': nothing was forgotten'; END IF;
  -- rows of one unit change; so does one teacher, to what it would be
  UPDATE people SET x = 1 - x WHERE id = 50;
  IF privpred.retrain(tried) ->> 'refitted' <> (CASE learner WHEN 'sql' THEN '8' ELSE '1' END) THEN RETURN NEXT tried || ': not one was fitted again'; END IF;
  after := stored(tried);
  IF after <> from_scratch(tried) THEN RETURN NEXT tried || ': retrained, and not what it would be from scratch'; END IF;
  PERFORM privpred.drop_model(tried);
  RAISE EXCEPTION USING errcode = 'P0001', message = 'undo';
EXCEPTION WHEN raise_exception THEN
  RETURN;
END $$;
SELECT l.learner, c.label, f.*
FROM learners() l(learner), (VALUES ('t', '{no,yes}'::text[]), ('b', '{false,true}'), ('n', '{0,1}'), ('m', '{low,high}')) c(label, classes),
  LATERAL check_forgetting(l.learner, c.label, c.classes, CASE l.learner
    WHEN 'sql' THEN '{"train": "forgetting.sql_train", "predict": "forgetting.sql_predict_text"}'::jsonb ELSE '{}' END) f
WHERE l.learner <> 'sql' OR c.label = 't';
-- bins of a number; a unit of several columns; a chunk that loses all its rows
SELECT check_forgetting('logistic', 'v', NULL, '{"bins": [0, 3, 6, 10.1]}');

-- ---------- what is said, and to whom ----------

ALTER TABLE people OWNER TO forget_owner;
GRANT forget_owner TO CURRENT_USER;
SET ROLE forget_owner;
SELECT privpred.create_model('votes', 'people', 't', '["x", "z"]', classes => '{no,yes}', learner => 'linear', teachers => 8, epsilon => 1, options => '{"memoize": true}') ->> 'version';
SELECT privpred.create_model('held', 'people', 't', '["x", "z"]', classes => '{no,yes}', learner => 'linear', teachers => 8, epsilon => 1, holdout => 0.5) ->> 'version';
SELECT privpred.create_model('drawn', 'people', 'b', '["x", "z"]', mechanism => 'gradient', epsilon => 1, classes => '{false,true}') ->> 'version';
SELECT privpred.grant_budget('forget_ann', 'people', 10, delta => 1e-6);
SELECT privpred.forget('people', 7, dry_run => true) - 'models';
-- 'held' forgets nothing if it has held the unit out: that depends on its salt alone
SELECT m ->> 'model', m ->> 'how' FROM jsonb_array_elements(privpred.forget('people', 7, dry_run => true) -> 'models') m WHERE m ->> 'model' <> 'held' ORDER BY 1;
SELECT version FROM privpred.models ORDER BY name;
SELECT refused('SELECT privpred.forget(''people'', 7)');
SELECT refused('SELECT privpred.forget(''people'', ''seven'')');
SELECT refused('SELECT privpred.forget(''people'', NULL::text)');
SELECT refused('SELECT privpred.forget(''people'', ''{7,8}''::text, at => ''tomorrow'')');
SELECT refused('SELECT privpred.forget(''people'', ROW(7, 8))');
SELECT refused('SELECT privpred.forget(''people'', 7, delete_rows => NULL)');
RESET ROLE;
SET ROLE forget_stranger;
SELECT refused('SELECT privpred.forget(''forgetting.people'', 7)');
SELECT refused('SELECT privpred.forget(''forgetting.people'', ''seven'', at => ''tomorrow'')');
SELECT refused('SELECT privpred.certificate(1)') = replace(refused('SELECT privpred.certificate(1000000)'), '1000000', '1');
SELECT refused('SELECT privpred.verify_certificate(''{"certificate": 1}'')');
SELECT refused('SELECT privpred.chunk_index(''votes'')');
RESET ROLE;
SET ROLE forget_ann;
SELECT refused('SELECT privpred.forget(''forgetting.people'', 7)');
SELECT refused('SELECT privpred.chunk_index(''votes'')');
SELECT refused('SELECT privpred.verify_certificate(''{"certificate": 1}'')');
-- what is remembered for ann: two answers, one paid
SELECT count(DISTINCT a) FROM (SELECT private_predict('votes', ARRAY[0.1, 0.1]) a UNION ALL SELECT private_predict('votes', ARRAY[0.1, 0.1])) x;
RESET ROLE;
SELECT count(*), sum(entries) FROM privpred.memo_size WHERE role = 'forget_ann'::regrole;
SET ROLE forget_owner;
SELECT answer ->> 'rows_deleted' AS rows, (SELECT count(*) FROM jsonb_array_elements(answer -> 'models')) AS models, answer -> 'stays' AS stays, answer ->> 'certificate' AS certificate
FROM privpred.forget('people', 7, delete_rows => true) answer \gset forgot_
SELECT :'forgot_rows', :'forgot_models', :'forgot_stays';
SELECT name, version FROM privpred.models WHERE name <> 'held' ORDER BY name;
RESET ROLE;
SELECT count(*) FROM privpred.memo WHERE role = 'forget_ann'::regrole;
-- the certificate: no id, everything keyed, and in the chain
SET ROLE forget_owner;
SELECT privpred.certificate(:forgot_certificate) AS certificate \gset
SELECT jsonb_object_keys(:'certificate'::jsonb) ORDER BY 1;
SELECT m ->> 'model', m ->> 'how', m ->> 'version_before', m ->> 'version_after', m ->> 'other_teachers', m ->> 'teacher_before' <> m ->> 'teacher_after' AS changed,
  m ->> 'digest_before' <> m ->> 'digest_after' AS other, length(m ->> 'others_before_and_after')
FROM jsonb_array_elements(:'certificate'::jsonb -> 'models') m WHERE m ->> 'model' <> 'held' ORDER BY 1;
SELECT ok, problem, entry IS NOT NULL FROM privpred.verify_certificate(:'certificate');
SELECT ok, problem FROM privpred.verify_certificate(:'certificate', '7');
SELECT ok, problem FROM privpred.verify_certificate(:'certificate', '8');
SELECT ok, problem FROM privpred.verify_certificate(jsonb_set(:'certificate', '{models,0,version_after}', '9'));
SELECT ok, problem FROM privpred.verify_certificate(jsonb_set(:'certificate', '{ledger,head}', '"00"'));
SELECT ok, problem FROM privpred.verify_certificate(:'certificate'::jsonb - 'ledger');
SELECT refused('SELECT privpred.verify_certificate(''{"certificate": 999999}'')');
SELECT refused('SELECT privpred.verify_certificate(''[1]'')');
SELECT kind, model, answers, epsilon, detail ~ '^certificate \d+ sha256 [0-9a-f]{64}$' FROM privpred.ledger WHERE kind = 'forget' ORDER BY id DESC LIMIT 1;
-- whether the unit had rows: others see the same
SELECT (privpred.forget('people', 987654321) ->> 'rows_deleted')::int;
SELECT name, version FROM privpred.models WHERE name <> 'held' ORDER BY name;
RESET ROLE;
SET ROLE forget_ann;
SELECT count(*) FROM privpred.ledger WHERE kind = 'forget';
RESET ROLE;

-- ---------- one who was held out; what cannot be recalled ----------

SELECT bool_or(m ->> 'how' = 'held out: the model never sees the unit') AND bool_or(m ->> 'how' = 'the unit''s teacher is fitted again')
FROM generate_series(8, 40) i, LATERAL privpred.forget('people', i, dry_run => true) f, jsonb_array_elements(f -> 'models') m WHERE m ->> 'model' = 'held';
CREATE TABLE questions AS SELECT i / 10.0::float8 AS x, (10 - i) / 10.0::float8 AS z FROM generate_series(1, 10) i;
ALTER TABLE questions OWNER TO forget_owner;
SET ROLE forget_owner;
SELECT privpred.distill('student', 'votes', 'questions') ->> 'version';
SELECT length(privpred.export_model('drawn')::text) > 0;
SELECT privpred.forget('people', 9, dry_run => true) -> 'stays';
SELECT privpred.forget('people', 9, delete_rows => true) -> 'stays';
SELECT version FROM privpred.models WHERE name = 'student';
SELECT refused('SELECT privpred.chunk_index(''student'')'), refused('SELECT privpred.chunk_index(''drawn'')');
SELECT regexp_replace(privpred.chunk_index('votes'), '[0-9a-f]{32}', 'salt');

-- ---------- at the next retraining ----------

SELECT privpred.drop_model(n) FROM unnest('{held,student}'::text[]) n;
SELECT name, version AS was FROM privpred.models WHERE name = 'votes' \gset votes_
SELECT answer ->> 'certificate' AS certificate, answer -> 'models' AS models FROM privpred.forget('people', 11, delete_rows => true, at => 'next retrain') answer \gset later_
SELECT m ->> 'model', m ->> 'how', m ->> 'version_before' = m ->> 'version_after' FROM jsonb_array_elements(:'later_models') m ORDER BY 1;
SELECT version = :votes_was FROM privpred.models WHERE name = 'votes';
SELECT regexp_replace(refused(format('SELECT privpred.certificate(%s)', :later_certificate)), 'certificate \d+', 'certificate N');
-- a unit that comes back is not certified
INSERT INTO people (id, x, z, t) VALUES (11, 0.5, 0.5, 'yes');
SET client_min_messages = error;
SELECT privpred.retrain('votes') ->> 'version';
DELETE FROM people WHERE id = 11;
SELECT privpred.retrain('votes') ->> 'refitted';
SELECT regexp_replace(refused(format('SELECT privpred.certificate(%s)', :later_certificate)), 'certificate \d+', 'certificate N');
SELECT length((privpred.retrain('drawn') ->> 'version')) > 0;
SET client_min_messages = warning;
SELECT ok, problem FROM privpred.verify_certificate(privpred.certificate(:later_certificate), '11');
SELECT count(*) FROM privpred.ledger WHERE detail LIKE 'certificate ' || :'later_certificate' || ' %';
-- a model that is dropped has forgotten
SELECT answer ->> 'certificate' AS certificate FROM privpred.forget('people', 12, delete_rows => true, at => 'next retrain') answer \gset later_
SELECT privpred.drop_model(n) FROM unnest('{drawn,votes}'::text[]) n;
SELECT ok, problem FROM privpred.verify_certificate(privpred.certificate(:later_certificate));
RESET ROLE;
SELECT count(*) FROM privpred.forget_due;

-- ---------- somebody changes what was certified ----------

SET ROLE forget_owner;
SELECT privpred.create_model('votes', 'people', 't', '["x", "z"]', classes => '{no,yes}', learner => 'linear', teachers => 8, epsilon => 1) ->> 'version';
RESET ROLE;
SELECT predictor AS kept FROM privpred.model WHERE name = 'votes' \gset
SELECT privpred.forget('people', 13, delete_rows => true) ->> 'certificate' AS certificate \gset
SELECT ok FROM privpred.verify_certificate(privpred.certificate(:certificate));
UPDATE privpred.model SET predictor = :'kept' WHERE name = 'votes';
SELECT ok, problem FROM privpred.verify_certificate(privpred.certificate(:certificate));
-- all-or-nothing: a certificate without its versions does not exist
BEGIN;
SELECT privpred.forget('people', 14, delete_rows => true) ->> 'certificate' AS certificate \gset
SELECT regexp_replace(refused(format('SELECT privpred.certificate(%s)', :certificate)), 'certificate \d+', 'certificate N');
ROLLBACK;
SELECT regexp_replace(refused(format('SELECT privpred.certificate(%s)', :certificate)), 'certificate \d+', 'certificate N');
-- nothing of units is stored: neither the id nor its rows
SELECT count(*) FROM privpred.certificate c WHERE c::text LIKE '%987654321%' OR c::text ~ encode(int4send(987654321), 'hex');
SELECT count(*) FROM privpred.ledger_entry e WHERE e::text LIKE '%987654321%';

-- ---------- several relations about the same units; keys of several columns ----------

CREATE TABLE visits (person int NOT NULL, x float8, t text);
INSERT INTO visits SELECT i % 200, i / 1000.0, CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END FROM generate_series(1, 1000) i;
ALTER TABLE visits OWNER TO forget_owner;
SET ROLE forget_owner;
SELECT privpred.protect('visits', unit => 'person', declared_units => 200, max_rows_per_unit => 10, same_units_as => 'people');
SELECT privpred.create_model('seen', 'visits', 't', '["x"]', classes => '{no,yes}', learner => 'stump', teachers => 8, epsilon => 1) ->> 'version';
SELECT f ->> 'rows', m ->> 'model', m ->> 'how' FROM privpred.forget('people', 15, dry_run => true) f, jsonb_array_elements(f -> 'models') m ORDER BY 2;
DELETE FROM people WHERE id = 15;
SELECT refused('SELECT privpred.forget(''people'', 15)');
SELECT f ->> 'rows_deleted', m ->> 'model', m ->> 'version_after' FROM privpred.forget('people', 15, delete_rows => true) f, jsonb_array_elements(f -> 'models') m ORDER BY 2;
SELECT count(*) FROM visits WHERE person = 15;
RESET ROLE;
CREATE TABLE pairs (a int, b text, x float8, t text, PRIMARY KEY (a, b));
INSERT INTO pairs SELECT i, 'k' || i % 7, i / 100.0, CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END FROM generate_series(1, 100) i;
SELECT privpred.protect('pairs');
SELECT privpred.create_model('pairs', 'pairs', 't', '["x"]', classes => '{no,yes}', learner => 'centroid', teachers => 200, epsilon => 1) ->> 'version';
SELECT privpred.forget('pairs', ROW(3, 'k3'), delete_rows => true) ->> 'rows_deleted', privpred.forget('pairs', '{4,k4}', delete_rows => true) ->> 'rows_deleted';
SELECT refused('SELECT privpred.forget(''pairs'', ''{4}'')');
SELECT refused('SELECT privpred.forget(''pairs'', ''{4,NULL}'')');
SELECT stored('pairs') = from_scratch('pairs');
-- the index is used, and nothing else changes
SELECT privpred.chunk_index('pairs') AS statement \gset
:statement;
SELECT privpred.forget('pairs', ROW(5, 'k5'), delete_rows => true) ->> 'rows_deleted';
SELECT stored('pairs') = from_scratch('pairs');
-- ---------- what decides on a unit's teacher has changed since ----------

-- Of another type, an id has another hash: the teacher of now is not the one that saw it, nor are those now held out who were.
CREATE TABLE retyped (id int NOT NULL, x float8, t text);
INSERT INTO retyped SELECT i, i / 200.0, CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END FROM generate_series(1, 200) i;
SELECT privpred.protect('retyped', unit => 'id', declared_units => 200, max_rows_per_unit => 1);
SELECT privpred.create_model(m, 'retyped', 't', '["x"]', classes => '{no,yes}', learner => 'knn', teachers => 8, epsilon => 1, holdout => h) ->> 'version'
FROM (VALUES ('retyped', 0), ('retyped and held', 0.5)) v(m, h);
ALTER TABLE retyped ALTER id TYPE text;
SELECT m ->> 'model', m ->> 'how' FROM privpred.forget('retyped', 1, dry_run => true) f, jsonb_array_elements(f -> 'models') m ORDER BY 1;
SELECT privpred.forget('retyped', 1, delete_rows => true) ->> 'certificate' AS certificate \gset
SELECT ok, problem FROM privpred.verify_certificate(privpred.certificate(:certificate), '1');
SELECT m, stored(m) = from_scratch(m) FROM unnest('{retyped,retyped and held}'::text[]) m;
ALTER TABLE retyped ALTER id TYPE numeric USING id::numeric;
SELECT privpred.forget('retyped', 2, delete_rows => true, at => 'next retrain') ->> 'certificate' AS certificate \gset
ALTER TABLE retyped RENAME id TO number;
SELECT refused('SELECT privpred.retrain(''retyped'')');
ALTER TABLE retyped RENAME number TO id;
SELECT m, privpred.retrain(m) ->> 'version', stored(m) = from_scratch(m) FROM unnest('{retyped,retyped and held}'::text[]) m;
SELECT ok, problem FROM privpred.verify_certificate(privpred.certificate(:certificate), '2');
-- the next is one teacher's again
SELECT m ->> 'how' FROM privpred.forget('retyped', 3, delete_rows => true) f, jsonb_array_elements(f -> 'models') m WHERE m ->> 'model' = 'retyped';
SELECT stored('retyped') = from_scratch('retyped');
-- a view that was defined otherwise
CREATE VIEW high AS SELECT id, x, t FROM retyped WHERE x > 0.1;
SELECT privpred.protect('high', unit => 'id', declared_units => 200);
SELECT privpred.create_model('high', 'high', 't', '["x"]', classes => '{no,yes}', learner => 'knn', teachers => 8, epsilon => 1) ->> 'version';
SELECT m ->> 'how' FROM privpred.forget('high', 101, delete_rows => true) f, jsonb_array_elements(f -> 'models') m WHERE m ->> 'model' = 'high';
CREATE OR REPLACE VIEW high AS SELECT id, x / 2 AS x, t FROM retyped WHERE x > 0.2;
SELECT m ->> 'how' FROM privpred.forget('retyped', 102, delete_rows => true) f, jsonb_array_elements(f -> 'models') m WHERE m ->> 'model' = 'high';
CREATE VIEW under AS SELECT id, x, t FROM retyped;
CREATE VIEW over AS SELECT id, x, t FROM under;
SELECT privpred.protect('over', unit => 'id', declared_units => 200);
SELECT privpred.create_model('over', 'over', 't', '["x"]', classes => '{no,yes}', learner => 'knn', teachers => 8, epsilon => 1) ->> 'version';
CREATE OR REPLACE VIEW under AS SELECT id, x / 2 AS x, t FROM retyped;
SELECT m ->> 'how' FROM privpred.forget('retyped', 103, delete_rows => true) f, jsonb_array_elements(f -> 'models') m WHERE m ->> 'model' = 'over';
SELECT m, stored(m) = from_scratch(m) FROM unnest('{retyped,high,over}'::text[]) m;
SELECT refused('SELECT privpred.chunk_index(''high'')');
-- a rule
CREATE TABLE ruled (id int PRIMARY KEY, x float8);
INSERT INTO ruled VALUES (1, 1);
CREATE RULE kept AS ON DELETE TO ruled DO INSTEAD NOTHING;
SELECT privpred.protect('ruled');
SELECT refused('SELECT privpred.forget(''ruled'', 1, delete_rows => true)');
-- checks of a domain are the owner's code, and do not run as whoever forgets
CREATE FUNCTION runs() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'runs as %', current_user; END $$;
CREATE DOMAIN checked AS int CHECK (forgetting.runs());
CREATE TABLE checked_people (id checked PRIMARY KEY, x float8);
SELECT privpred.protect('checked_people');
SELECT privpred.forget('checked_people', 1, delete_rows => true) ->> 'rows_deleted';
SELECT ok, problem FROM privpred.verify_ledger();

SET client_min_messages = error;
DROP SCHEMA forgetting CASCADE;
DROP OWNED BY forget_owner, forget_ann, forget_stranger;
DROP ROLE forget_owner, forget_ann, forget_stranger;
