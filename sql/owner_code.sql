-- Functions of a table's owner (learner sql) in the session of an asker: whatever the asker or a third
-- role has put in their way, answers are the same, or are refused and cost nothing; and nothing else runs.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE ROLE code_owner;
CREATE ROLE code_heir;
CREATE ROLE code_other;
CREATE ROLE code_analyst;
CREATE SCHEMA code AUTHORIZATION code_owner;
CREATE SCHEMA code_a AUTHORIZATION code_analyst;
GRANT CREATE, USAGE ON SCHEMA code TO code_other, code_heir;
GRANT USAGE ON SCHEMA code TO code_analyst;
GRANT USAGE ON SCHEMA code_a TO PUBLIC;
-- what ran that should not have
CREATE TABLE public.code_loot (who text);
GRANT ALL ON public.code_loot TO PUBLIC;

SET ROLE code_owner;
CREATE TABLE code.patients (id int PRIMARY KEY, x float8, y text);
INSERT INTO code.patients SELECT i, (i % 100) / 100.0, CASE WHEN i % 100 > 50 THEN 'yes' ELSE 'no' END FROM generate_series(1, 2000) i;
CREATE TABLE code.points AS SELECT x::float8 FROM unnest('{0.1,0.2,0.3,0.7,0.8,0.9}'::float8[]) x;
GRANT SELECT ON code.points TO code_analyst;
CREATE TABLE code.known AS SELECT x, CASE WHEN x > 0.5 THEN 'yes' ELSE 'no' END AS y FROM code.points;
-- careless: what it finds depends on names, and what it says on settings
CREATE TABLE code.weights (w float8);
INSERT INTO code.weights VALUES (0.1), (0.2);
CREATE FUNCTION code.twice(float8) RETURNS float8 IMMUTABLE LANGUAGE sql AS 'SELECT 2 * $1';
CREATE DOMAIN code.share AS numeric CHECK (VALUE BETWEEN 0 AND 1);
CREATE OPERATOR code.|> (LEFTARG = float8, RIGHTARG = float8, FUNCTION = float8gt);
CREATE FUNCTION code.fingerprint() RETURNS text LANGUAGE plpgsql SET search_path = code AS $$
DECLARE
  one float8;
BEGIN
  SELECT w INTO one FROM weights ORDER BY w;	-- of two rows
  RETURN concat_ws(' ', one, (SELECT sum(w) FROM weights), twice(1), 0.5::share, 2::float8 |> 1::float8,
    1 / 3::float8, '01/02/03'::date, '2020-06-01 12:00+00'::timestamptz, '1 day 2 hours'::interval, '\x01ff'::bytea, one = NULL, '{NULL}'::text[],
    to_tsvector('walking'), quote_ident('plain'), to_char('2020-06-01'::date, 'TMMonth'), to_char(0.5, '9D9'), 'a\\b',
    (SELECT count(*) FROM code.known));
END $$;
CREATE FUNCTION code.step(state text, label text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
'SELECT COALESCE(state, code.fingerprint())';
CREATE AGGREGATE code.train(text, float8[]) (SFUNC = code.step, STYPE = text);
CREATE FUNCTION code.predict(state text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
$$ SELECT CASE WHEN x[1] > 0.5 AND state = code.fingerprint() THEN 'yes' ELSE 'no' END $$;
CREATE FUNCTION code.score(state text, x float8[]) RETURNS float8 LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
$$ SELECT CASE WHEN x[1] > 0.5 AND state = code.fingerprint() THEN 1 ELSE 0 END $$;
-- for these there can be a better match
CREATE FUNCTION code.any_step(state text, label anyelement, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
'SELECT COALESCE(state, code.fingerprint())';
CREATE AGGREGATE code.any_train(anyelement, float8[]) (SFUNC = code.any_step, STYPE = text);
CREATE FUNCTION code.any_predict(state anyelement, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
$$ SELECT CASE WHEN x[1] > 0.5 AND state::text = code.fingerprint() THEN 'yes' ELSE 'no' END $$;
SELECT privpred.protect('code.patients');
CREATE FUNCTION code.create_model(model text, mechanism text, functions json) RETURNS text LANGUAGE sql AS $$
SELECT privpred.create_model(model, 'code.patients', label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}', mechanism => mechanism,
  learner => 'sql', teachers => 40, epsilon => 100, options => functions::jsonb) ->> 'version' $$;
SELECT code.create_model('code_vote', 'vote', '{"train": "code.train", "predict": "code.predict"}'),
  code.create_model('code_any', 'vote', '{"train": "code.any_train", "predict": "code.any_predict"}'),
  code.create_model('code_average', 'average', '{"train": "code.train", "predict": "code.predict"}'),
  code.create_model('code_sparse', 'sparse', '{"train": "code.train", "predict": "code.predict"}'),
  code.create_model('code_soft', 'soft', '{"train": "code.train", "predict": "code.score"}'),
  code.create_model('code_again', 'vote', '{"train": "code.any_train", "predict": "code.any_predict"}');
SELECT privpred.grant_budget('code_analyst', 'code.patients', epsilon => 1000000, delta => 1e-6);

-- what may not be declared
CREATE FUNCTION code.refused(command text) RETURNS text LANGUAGE plpgsql AS $$
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
CREATE FUNCTION code.open(state text, x float8[]) RETURNS text LANGUAGE sql AS 'SELECT state';
\pset format unaligned
\pset tuples_only on
SELECT setting, code.refused($$SELECT code.create_model('code_open', 'vote', '{"train": "code.train", "predict": "code.open"}')$$)
FROM (VALUES (NULL), ('public'), ('''code'), ('"code, pg_temp"'), ('pg_temp, code'), ('pg_temp, code, pg_temp'), ('''''')) v(setting),
LATERAL (SELECT code.refused(format('ALTER FUNCTION code.open SET search_path = %s', setting)) WHERE setting IS NOT NULL UNION ALL SELECT NULL WHERE setting IS NULL) altered;
ALTER FUNCTION code.open SET search_path = pg_catalog, pg_temp;
CREATE FUNCTION code.open_step(state text, label text, x float8[]) RETURNS text LANGUAGE sql AS 'SELECT state';
CREATE AGGREGATE code.open_train(text, float8[]) (SFUNC = code.open_step, STYPE = text);
SELECT code.refused($$SELECT code.create_model('code_open', 'vote', '{"train": "code.open_train", "predict": "code.open"}')$$);
SET ROLE code_other;
CREATE FUNCTION code.foreign(state text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT state';
CREATE FUNCTION code.foreign_step(state text, label text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT state';
CREATE DOMAIN code.foreign_type AS text;
SET ROLE code_owner;
CREATE AGGREGATE code.foreign_train(text, float8[]) (SFUNC = code.foreign_step, STYPE = text);
CREATE FUNCTION code.final(state text) RETURNS code.foreign_type[] LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT ARRAY[state]';
CREATE AGGREGATE code.typed_train(text, float8[]) (SFUNC = code.step, STYPE = text, FINALFUNC = code.final);
CREATE FUNCTION code.typed(state code.foreign_type[], x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT state[1]';
CREATE FUNCTION code.state_step(state code.foreign_type, label text, x float8[]) RETURNS code.foreign_type LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT state';
CREATE FUNCTION code.state_final(state code.foreign_type) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT state::text';
CREATE AGGREGATE code.state_train(text, float8[]) (SFUNC = code.state_step, STYPE = code.foreign_type, FINALFUNC = code.state_final);
CREATE FUNCTION code.says(state text, x float8[]) RETURNS code.foreign_type LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT state';
SELECT code.refused(format($$SELECT code.create_model('code_open', 'vote', '{"train": "code.%s", "predict": "code.%s"}')$$, train, predict))
FROM (VALUES ('train', 'foreign'), ('foreign_train', 'predict'), ('typed_train', 'typed'), ('state_train', 'predict'), ('train', 'says')) v(train, predict);
-- not for a superuser either, who acts for the owner
RESET ROLE;
SELECT code.refused($$SELECT code.create_model('code_open', 'vote', '{"train": "code.train", "predict": "code.foreign"}')$$);
\pset format aligned
\pset tuples_only off

-- ---------- the matrix ----------

CREATE TABLE public.code_channel (n int GENERATED ALWAYS AS IDENTITY, channel text, role text, before text, after text);
CREATE TABLE public.code_outcome (n int GENERATED ALWAYS AS IDENTITY, channel text, what text, outcome text);
CREATE SEQUENCE public.code_question;
GRANT ALL ON public.code_outcome TO PUBLIC;
GRANT ALL ON SEQUENCE public.code_question TO PUBLIC;
-- every way to have teachers asked, or taught; a question is asked once
CREATE FUNCTION public.code_teachers(model text) RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$ SELECT md5(predictor::text) FROM privpred.model WHERE name = $1 $$;
CREATE PROCEDURE public.code_attempt(channel text) LANGUAGE plpgsql AS $_$
DECLARE
  way text[];
  answer text;
  n int;
BEGIN
  FOREACH way SLICE 1 IN ARRAY CASE WHEN current_user = 'code_analyst' THEN ARRAY[
    ARRAY['vote', $$SELECT public.private_predict('code_vote', ARRAY[0.9 - $1 / 10000.0]::float8[])$$],
    ARRAY['any', $$SELECT public.private_predict('code_any', ARRAY[0.9 - $1 / 10000.0]::float8[])$$],
    ARRAY['average', $$SELECT CASE WHEN public.private_predict('code_average', ARRAY[0.9 - $1 / 10000.0]::float8[]) IN ('no', 'yes') THEN 'yes' END$$],
    ARRAY['sparse', $$SELECT public.private_predict('code_sparse', ARRAY[0.9 - $1 / 10000.0]::float8[])$$],
    ARRAY['soft', $$SELECT CASE WHEN public.private_score('code_soft', ARRAY[0.9 - $1 / 10000.0]::float8[]) OPERATOR(pg_catalog.>) 0.9 THEN 'yes' ELSE 'no' END$$],
    ARRAY['distill', $$SELECT CASE WHEN (privpred.distill('code_student' || $1, 'code_vote', 'code.points', 'stump') ->> 'labels')::int = 6
      THEN public.private_predict('code_student' || $1, ARRAY[0.9]::float8[]) END$$]]
  ELSE ARRAY[
    ARRAY['evaluate', $$SELECT CASE WHEN majority_accuracy = 1 AND $1 > 0 THEN 'yes' ELSE 'no' END FROM privpred.evaluate('code_vote', 'code.known')$$],
    ARRAY['retrain', $$SELECT CASE WHEN public.code_teachers('code_again') IS NOT DISTINCT FROM
      CASE WHEN privpred.retrain('code_again') IS NOT NULL AND $1 > 0 THEN public.code_teachers('code_again') END THEN 'yes' ELSE 'no' END$$]] END
  LOOP
    n := nextval('public.code_question');
    BEGIN
      EXECUTE way[2] INTO answer USING n;
      answer := CASE answer WHEN 'yes' THEN 'same' ELSE 'WRONG: ' || COALESCE(answer, 'null') END;
    EXCEPTION WHEN OTHERS THEN
      answer := 'refused ' || SQLSTATE;
    END;
    INSERT INTO public.code_outcome (channel, what, outcome) VALUES (channel, way[1], answer);
  END LOOP;
END $_$;
INSERT INTO public.code_channel (channel, role, before, after) VALUES
  ('nothing', 'code_analyst', '', ''),
  -- the temporary schema
  ('temporary table', 'code_analyst', 'CREATE TEMP TABLE weights AS SELECT 7::float8 AS w', 'DROP TABLE pg_temp.weights'),
  ('temporary view', 'code_analyst', 'CREATE TEMP VIEW weights AS SELECT 7::float8 AS w', 'DROP VIEW pg_temp.weights'),
  ('temporary view of something else', 'code_analyst', 'CREATE TEMP VIEW harmless AS SELECT 1 AS a', 'DISCARD TEMP'),
  ('temporary sequence', 'code_analyst', 'CREATE TEMP SEQUENCE weights', 'DROP SEQUENCE pg_temp.weights'),
  ('temporary function', 'code_analyst', $b$CREATE FUNCTION pg_temp.twice(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 7::float8'$b$, 'DROP FUNCTION pg_temp.twice'),
  ('temporary aggregate', 'code_analyst', $b$CREATE AGGREGATE pg_temp.any_train(text, float8[]) (SFUNC = code_a.step, STYPE = text)$b$, 'DISCARD TEMP'),
  ('temporary domain', 'code_analyst', 'CREATE DOMAIN pg_temp.share AS text', 'DROP DOMAIN pg_temp.share'),
  ('temporary row type', 'code_analyst', 'CREATE TYPE pg_temp.share AS (a int)', 'DROP TYPE pg_temp.share'),
  ('temporary operator', 'code_analyst', 'CREATE OPERATOR pg_temp.|> (LEFTARG = float8, RIGHTARG = float8, FUNCTION = float8lt)', 'DROP OPERATOR pg_temp.|> (float8, float8)'),
  ('temporary collation', 'code_analyst', 'CREATE COLLATION pg_temp.c FROM "C"', 'DROP COLLATION pg_temp.c'),
  ('temporary text search configuration', 'code_analyst', 'CREATE TEXT SEARCH CONFIGURATION pg_temp.simple (COPY = pg_catalog.english)', 'DROP TEXT SEARCH CONFIGURATION pg_temp.simple'),
  ('a temporary table that went', 'code_analyst', 'CREATE TEMP TABLE weights AS SELECT 7::float8 AS w; DROP TABLE weights', ''),
  -- names that are found
  ('search_path', 'code_analyst', $b$CREATE TABLE code_a.weights AS SELECT 7::float8 AS w; GRANT SELECT ON code_a.weights TO PUBLIC;
    CREATE FUNCTION code_a.twice(float8) RETURNS float8 LANGUAGE sql AS 'INSERT INTO public.code_loot VALUES (current_user) RETURNING 7::float8';
    CREATE OPERATOR code_a.|> (LEFTARG = float8, RIGHTARG = float8, FUNCTION = float8lt); SET search_path = code_a, pg_catalog$b$, 'RESET search_path'),
  ('overload of predict', 'code_other', $b$CREATE FUNCTION code.any_predict(text, float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
    $f$INSERT INTO public.code_loot VALUES (current_user) RETURNING 'no'$f$ $b$, 'DROP FUNCTION code.any_predict(text, float8[])'),
  ('overload of train', 'code_other', $b$CREATE FUNCTION code.evil_step(text, text, float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
    $f$INSERT INTO public.code_loot VALUES (current_user) RETURNING 'evil'$f$; CREATE AGGREGATE code.any_train(text, float8[]) (SFUNC = code.evil_step, STYPE = text)$b$,
    'DROP AGGREGATE code.any_train(text, float8[])'),
  ('overloads of operators in public', 'superuser', 'CREATE OPERATOR public.> (LEFTARG = float8, RIGHTARG = numeric, FUNCTION = code_a.greater)', 'DROP OPERATOR public.> (float8, numeric)'),
  ('prepared statement and cursor', 'code_analyst', 'PREPARE weights AS SELECT 7::float8 AS w; DECLARE weights CURSOR WITH HOLD FOR SELECT 7::float8 AS w', 'DEALLOCATE weights; CLOSE weights'),
  -- definitions
  ('predict changed', 'code_owner', $b$CREATE OR REPLACE FUNCTION code.predict(state text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
    $f$INSERT INTO public.code_loot VALUES (current_user) RETURNING 'no'$f$ $b$,
    $b$CREATE OR REPLACE FUNCTION code.predict(state text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
    $f$ SELECT CASE WHEN x[1] > 0.5 AND state = code.fingerprint() THEN 'yes' ELSE 'no' END $f$ $b$),
  ('a step changed', 'code_owner', $b$ALTER FUNCTION code.step(text, text, float8[]) COST 17$b$, $b$ALTER FUNCTION code.step(text, text, float8[]) COST 100$b$),
  ('train changed', 'code_owner', $b$CREATE OR REPLACE AGGREGATE code.train(text, float8[]) (SFUNC = code.step, STYPE = text, INITCOND = 'x')$b$,
    $b$CREATE OR REPLACE AGGREGATE code.train(text, float8[]) (SFUNC = code.step, STYPE = text)$b$),
  ('search_path of predict opened', 'code_owner', 'ALTER FUNCTION code.predict RESET search_path', 'ALTER FUNCTION code.predict SET search_path = pg_catalog, pg_temp'),
  ('predict replaced by its like', 'code_owner', $b$DROP FUNCTION code.predict; CREATE FUNCTION code.predict(state text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
    $f$ SELECT CASE WHEN x[1] > 0.5 AND state = code.fingerprint() THEN 'yes' ELSE 'no' END $f$ $b$, ''),
  ('predict renamed', 'code_owner', 'ALTER FUNCTION code.predict RENAME TO predicts', 'ALTER FUNCTION code.predicts RENAME TO predict'),
  ('predict not executable', 'code_owner', 'REVOKE EXECUTE ON FUNCTION code.predict FROM PUBLIC, code_owner', 'GRANT EXECUTE ON FUNCTION code.predict TO PUBLIC, code_owner'),
  -- owners
  ('predict given to another role', 'superuser', 'ALTER FUNCTION code.predict OWNER TO code_other', 'ALTER FUNCTION code.predict OWNER TO code_owner'),
  ('a step given to another role', 'superuser', 'ALTER FUNCTION code.step(text, text, float8[]) OWNER TO code_other', 'ALTER FUNCTION code.step(text, text, float8[]) OWNER TO code_owner'),
  ('relation given to another role', 'superuser', 'ALTER TABLE code.patients OWNER TO code_heir', 'ALTER TABLE code.patients OWNER TO code_owner'),
  ('schema of functions renamed', 'superuser', 'ALTER SCHEMA code RENAME TO code_2; ALTER SCHEMA code_2 RENAME TO code', '');
CREATE FUNCTION code_a.step(text, text, float8[]) RETURNS text LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION code_a.greater(float8, numeric) RETURNS boolean LANGUAGE sql AS 'INSERT INTO public.code_loot VALUES (current_user) RETURNING false';
-- settings that anybody may change
INSERT INTO public.code_channel (channel, role, before, after)
SELECT setting || ' = ' || value, 'code_analyst', format('SET %s = %L', setting, value), format('RESET %s', setting)
FROM (VALUES ('extra_float_digits', '-15'), ('DateStyle', 'SQL, DMY'), ('DateStyle', 'German'), ('TimeZone', 'Asia/Tokyo'), ('IntervalStyle', 'iso_8601'), ('bytea_output', 'escape'),
  ('transform_null_equals', 'on'), ('array_nulls', 'off'), ('default_text_search_config', 'pg_catalog.english'), ('quote_all_identifiers', 'on'),
  ('lc_time', 'POSIX'), ('lc_numeric', 'POSIX'), ('standard_conforming_strings', 'off'),
  ('row_security', 'off'), ('plpgsql.extra_errors', 'all'), ('timezone_abbreviations', 'Australia')) v(setting, value);

SET ROLE code_analyst;
SELECT privpred.open_stream('code_sparse', 100, 50, 1e-9) > 0 AND privpred.open_stream('code_soft', 100, 50, 1e-9) > 0 AS opened;
RESET ROLE;
\set ECHO none
SELECT statement FROM public.code_channel,
  LATERAL (VALUES (1, 'SET ROLE ' || CASE role WHEN 'superuser' THEN 'NONE' ELSE role END), (2, NULLIF(before, '')),
    (3, 'SET ROLE code_analyst'), (4, format('CALL public.code_attempt(%L)', channel)),
    (5, 'SET ROLE code_owner'), (6, format('CALL public.code_attempt(%L)', channel)),
    (7, 'SET ROLE ' || CASE role WHEN 'superuser' THEN 'NONE' ELSE role END), (8, NULLIF(after, ''))) s(i, statement)
WHERE statement IS NOT NULL ORDER BY n, i \gexec
\set ECHO all
RESET ROLE;
SELECT channel, string_agg(what, ', ' ORDER BY n) AS ways, outcome FROM public.code_outcome GROUP BY channel, outcome ORDER BY min(n);
SELECT count(*) AS loot FROM public.code_loot;
SELECT count(*) AS unstable FROM privpred.streams WHERE role = 'code_analyst'::regrole AND unstable_used > 0;

-- objects that come between two answers of one statement
SET ROLE code_analyst;
CREATE FUNCTION code_a.plant() RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN CREATE TEMP TABLE IF NOT EXISTS weights AS SELECT 7::float8 AS w; RETURN 0.87; END $$;
SELECT private_predict('code_vote', ARRAY[0.88]), private_predict('code_vote', ARRAY[code_a.plant()]);
RESET ROLE;

-- nor does a stranger learn how the model is made
CREATE ROLE code_poor;
GRANT USAGE ON SCHEMA code TO code_poor;
SET ROLE code_poor;
CREATE TEMP TABLE harmless (a int);
SELECT private_predict('code_vote', ARRAY[0.9]);
DISCARD TEMP;
RESET ROLE;

-- refusals cost nothing: of a budget of one answer, one answer is left
SET ROLE code_owner;
SELECT privpred.grant_budget('code_poor', 'code.patients', epsilon => 100);
ALTER FUNCTION code.predict COST 17;
SET ROLE code_poor;
SELECT private_predict('code_vote', ARRAY[0.9]);
SET ROLE code_owner;
ALTER FUNCTION code.predict COST 100;
SET ROLE code_poor;
CREATE TEMP VIEW weights AS SELECT 7::float8 AS w;
SELECT private_predict('code_vote', ARRAY[0.9]);
DROP VIEW pg_temp.weights;
SELECT private_predict('code_vote', ARRAY[0.9]);
SELECT private_predict('code_vote', ARRAY[0.9]);

-- a superuser who trains does so as the owner, with the same settings and the same rules
RESET ROLE;
SELECT public.code_teachers('code_again') AS teachers \gset
SET DateStyle = 'SQL, DMY';
SET search_path = code_a, public;
SELECT privpred.retrain('code_again') ->> 'name' AS name, public.code_teachers('code_again') = :'teachers' AS same;
RESET search_path;
RESET DateStyle;
CREATE TEMP TABLE harmless (a int);
SELECT privpred.retrain('code_again') ->> 'name';
DISCARD TEMP;

-- a changed definition: the owner takes it
SET ROLE code_owner;
CREATE OR REPLACE FUNCTION code.predict(state text, x float8[]) RETURNS text LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
$$ SELECT CASE WHEN state = code.fingerprint() THEN 'yes' ELSE 'no' END $$;
SET ROLE code_analyst;
SELECT private_predict('code_vote', ARRAY[0.1]);
SET ROLE code_owner;
SELECT privpred.retrain('code_vote') ->> 'version' > '1' AS retrained;
SET ROLE code_analyst;
SELECT private_predict('code_vote', ARRAY[0.1]);

-- a new owner of the table: nothing runs until the functions are hers, and she has trained
RESET ROLE;
ALTER TABLE code.patients OWNER TO code_heir;
SET ROLE code_heir;
SELECT privpred.retrain('code_vote');
RESET ROLE;
ALTER FUNCTION code.predict OWNER TO code_heir;
ALTER FUNCTION code.step(text, text, float8[]) OWNER TO code_heir;
ALTER AGGREGATE code.train(text, float8[]) OWNER TO code_heir;
GRANT SELECT ON ALL TABLES IN SCHEMA code TO code_heir;
SET ROLE code_analyst;
SELECT private_predict('code_vote', ARRAY[0.1]);
SET ROLE code_heir;
SELECT privpred.retrain('code_vote') ->> 'version' > '1' AS retrained;
SET ROLE code_analyst;
SELECT private_predict('code_vote', ARRAY[0.1]);
-- a superuser's functions are anybody's, until that is no superuser
RESET ROLE;
CREATE ROLE code_super SUPERUSER;
ALTER FUNCTION code.predict OWNER TO code_super;
SELECT privpred.retrain('code_vote') ->> 'version' > '1' AS retrained;
SET ROLE code_analyst;
SELECT private_predict('code_vote', ARRAY[0.1]);
RESET ROLE;
ALTER ROLE code_super NOSUPERUSER;
SET ROLE code_analyst;
SELECT private_predict('code_vote', ARRAY[0.1]);

RESET ROLE;
SELECT count(*) AS loot FROM public.code_loot;
DROP SCHEMA code, code_a CASCADE;
DROP TABLE public.code_loot, public.code_channel, public.code_outcome;
DROP SEQUENCE public.code_question;
DROP PROCEDURE public.code_attempt;
DROP FUNCTION public.code_teachers;
DROP OWNED BY code_owner, code_heir, code_other, code_analyst, code_poor, code_super;
DROP ROLE code_owner, code_heir, code_other, code_analyst, code_poor, code_super;
