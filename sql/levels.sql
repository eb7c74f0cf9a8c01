-- Levels that are read from a public table when a model is declared.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
\pset format unaligned
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
CREATE TYPE shade AS ENUM ('dark', 'bright');
CREATE TABLE stays (id bigint PRIMARY KEY, code text NOT NULL, ward int NOT NULL, kind text NOT NULL);
INSERT INTO stays SELECT i, 'I' || i % 5, i % 4, CASE WHEN i % 5 > 2 THEN 'x' ELSE 'y' END FROM generate_series(1, 100) i;
SELECT privpred.protect('stays', declared_units => 100);
CREATE SCHEMA lists;
CREATE TABLE lists.codes (code text, padded char(6), short varchar(5), plain name, number smallint, big bigint, shade shade, sure boolean, share float8, "odd ""name""" text);
INSERT INTO lists.codes VALUES ('I1', 'I1', 'I1', 'I1', 10, 10, 'bright', true, 0.5, 'a'), ('i1', 'i1', 'i1', 'i1', 9, -9, 'dark', false, 1, 'b'), ('~', '~', '~', '~', 100, 100, 'bright', NULL, 1, 'c'),
  ('I0', 'I0', 'I0', 'I0', 1, 1, 'bright', true, 1, 'd'), ('I1', 'I1', 'I1', 'I1', 9, 9, 'bright', true, 1, 'e'), ('', '', '', '', 0, 0, NULL, true, 1, 'e'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE FUNCTION levels(of text, source text, OUT levels jsonb) LANGUAGE plpgsql AS $$
BEGIN
  levels := privpred.create_model('levels', 'stays', label => 'kind', classes => '{x,y}', teachers => 1, epsilon => 10, features => format('{%s: {"levels": %s}}', to_json(of), source)::json) -> 'features' -> 0 -> 'levels';
  PERFORM privpred.drop_model('levels');
END $$;
-- in the order of their bytes, whatever the collation; each once; no NULL
SELECT c, levels('code', format('{"table": "lists.codes", "column": "%s"}', c)) FROM unnest('{code,padded,short,plain,number,big,shade,sure}'::text[]) c;
SELECT levels('code', '{"column": "odd \"name\"", "table": "lists.codes"}');
SELECT levels('ward', '{"table": "lists.codes", "column": "number"}') = levels('ward', '["0", "1", "10", "100", "9"]') AS as_listed;
CREATE VIEW lists.some AS SELECT code FROM lists.codes WHERE code > 'I0';
SELECT levels('code', '{"table": "\"lists\".\"some\"", "column": "code"}');
-- stored as listed: the table may change or go, and retraining does not look
SELECT privpred.create_model('kept', 'stays', label => 'kind', classes => '{x,y}', teachers => 1, epsilon => 10, features => '{"code": {"levels": {"table": "lists.some", "column": "code"}, "null": {"fill": "I1"}}}') -> 'features' AS features;
DROP VIEW lists.some;
SELECT privpred.retrain('kept') -> 'features' -> 0 -> 'levels' AS levels;
SELECT accepted FROM privpred.check('kept', '{"code": "i1"}'::jsonb);
-- what is refused
CREATE TABLE other (id int PRIMARY KEY, code text);
SELECT privpred.protect('other');
CREATE VIEW lists.through AS SELECT code FROM other;
CREATE FUNCTION lists.any_codes() RETURNS SETOF text LANGUAGE sql AS $$ SELECT code FROM public.stays $$;
CREATE VIEW lists.by_function AS SELECT c AS code FROM lists.any_codes() c;
CREATE TABLE lists.empty (code text);
CREATE TABLE lists.many AS SELECT 'c' || i AS code FROM generate_series(1, 16385) i;
SELECT source, refused(format('SELECT levels(%L, %L)', 'code', source)) FROM unnest(ARRAY['{"table": "public.stays", "column": "code"}', '{"table": "public.other", "column": "code"}', '{"table": "lists.through", "column": "code"}',
  '{"table": "lists.by_function", "column": "code"}', '{"table": "pg_catalog.pg_stats", "column": "tablename"}', '{"table": "privpred.model", "column": "name"}', '{"table": "lists.empty", "column": "code"}',
  '{"table": "lists.many", "column": "code"}', '{"table": "lists.codes", "column": "share"}', '{"table": "lists.codes", "column": "none"}', '{"table": "lists.codes", "column": "ctid"}', '{"table": "lists.none", "column": "code"}',
  '{"table": "none.codes", "column": "code"}', '{"table": "codes", "column": "code"}', '{"table": "a.b.codes", "column": "code"}', '{"table": "lists.codes; DROP TABLE stays", "column": "code"}',
  '{"table": "lists.codes", "column": "code FROM stays"}', '{"table": "lists.codes"}', '{"column": "code"}', '{"table": 5, "column": "code"}', '{"table": "lists.codes", "column": "code", "where": "true"}', '{}', '"lists.codes"', '5', 'null']) WITH ORDINALITY u(source, n) ORDER BY n;
-- read with the rights of the table's owner
CREATE ROLE lev_owner;
GRANT CREATE ON SCHEMA public TO lev_owner;
ALTER TABLE stays OWNER TO lev_owner;
SELECT refused($c$SELECT levels('code', '{"table": "lists.codes", "column": "code"}')$c$);
GRANT USAGE ON SCHEMA lists TO lev_owner;
SELECT refused($c$SELECT levels('code', '{"table": "lists.codes", "column": "code"}')$c$);
GRANT SELECT (code) ON lists.codes TO lev_owner;
SELECT refused($c$SELECT levels('code', '{"table": "lists.codes", "column": "code"}')$c$);
-- a cast of somebody's own is not run
CREATE TABLE lev_ran (who name);
GRANT INSERT ON lev_ran TO PUBLIC;
CREATE FUNCTION shade_text(shade) RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.lev_ran VALUES (current_user); RETURN 'ran'; END $$;
CREATE CAST (shade AS text) WITH FUNCTION shade_text(shade);
GRANT SELECT ON lists.codes TO lev_owner;
SELECT levels('code', '{"table": "lists.codes", "column": "shade"}');
SELECT count(*) AS ran FROM lev_ran;
SELECT privpred.drop_model('kept');
DROP CAST (shade AS text);
DROP SCHEMA lists CASCADE;
DROP TABLE stays, other, lev_ran;
DROP FUNCTION levels, refused, shade_text;
DROP TYPE shade;
REVOKE ALL ON SCHEMA public FROM lev_owner;
DROP ROLE lev_owner;
