-- After forgetting, a model is, bit for bit, what it would be if it were trained from scratch on the rows that are left, with the same salt:
-- every learner, in a table, a partitioned table, a view and two tables about the same units, under every mechanism that asks teachers.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
\pset tuples_only
CREATE SCHEMA forget_matrix;
SET search_path = forget_matrix, public;
CREATE FUNCTION sql_step(state jsonb, label anyelement, x float8[]) RETURNS jsonb LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(state, '{}') || jsonb_build_object(label::text, coalesce((state ->> label::text)::float8, 0) + x[1]) $$;
CREATE AGGREGATE sql_train(anyelement, float8[]) (SFUNC = sql_step, STYPE = jsonb);
CREATE FUNCTION sql_predict(state jsonb, x float8[]) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT key FROM jsonb_each_text(state) ORDER BY value::float8 DESC, key LIMIT 1 $$;
CREATE FUNCTION listed(mechanism text, learner text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  PERFORM privpred.create_model('none', 'forget_matrix.plain', 'y', '["x"]', classes => '{no,yes}', mechanism => mechanism, learner => learner);
EXCEPTION WHEN undefined_object THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN QUERY SELECT unnest(string_to_array(substring(hint FROM ': (.*)\.$'), ', '));
END $$;
CREATE TABLE plain (id int NOT NULL, x float8, z float8, y text);
CREATE TABLE parts (LIKE plain) PARTITION BY HASH (id);
CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part2 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE first (LIKE plain);
CREATE TABLE second (person int NOT NULL, x float8, z float8, y text);
INSERT INTO plain SELECT i % 60, (i * 37 % 101) / 100.0, (i * 53 % 97) / 96.0, CASE WHEN i * 37 % 101 > 40 + i * 7 % 20 THEN 'yes' ELSE 'no' END FROM generate_series(1, 300) i;
INSERT INTO parts SELECT * FROM plain;
INSERT INTO first SELECT * FROM plain;
INSERT INTO second SELECT id, 1 - x, z, y FROM plain;
CREATE TABLE under AS SELECT * FROM plain;
ALTER TABLE under ALTER id SET NOT NULL;
CREATE VIEW seen AS SELECT id, x, z, y FROM under WHERE x > 0.1;
SELECT privpred.protect(t::regclass, unit => 'id', declared_units => 60, max_rows_per_unit => 10) FROM unnest('{plain,parts,first,under,seen}'::text[]) t;
SELECT privpred.protect('second', unit => 'person', declared_units => 60, max_rows_per_unit => 10, same_units_as => 'first');
CREATE FUNCTION stored(model text) RETURNS text LANGUAGE sql AS $$ SELECT m.predictor::text FROM privpred.model m WHERE m.name = $1 $$;
-- One cell; says what is wrong, or nothing.
CREATE FUNCTION cell(relation regclass, named regclass, mechanism text, learner text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text := '';
  before text;
  after text;
  how text;
  changed int := 0;
BEGIN
  PERFORM privpred.create_model('cell', relation, 'y', '["x", "z"]', classes => '{no,yes}', mechanism => mechanism, learner => learner, teachers => 7, epsilon => 2,
    options => CASE learner WHEN 'sql' THEN '{"train": "forget_matrix.sql_train", "predict": "forget_matrix.sql_predict"}' ELSE '{}' END::jsonb);
  UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f' WHERE name = 'cell';
  PERFORM privpred.retrain('cell');
  FOR unit IN 1..2 LOOP
    before := stored('cell');
    how := privpred.forget(named, unit, delete_rows => true) #>> '{models,0,how}';
    after := stored('cell');
    changed := changed + (before <> after)::int;
    IF how <> 'the unit''s teacher is fitted again' THEN result := result || format(' %s', how); END IF;
    UPDATE privpred.model SET chunks = NULL, predictor = NULL WHERE name = 'cell';
    PERFORM privpred.retrain('cell');
    IF stored('cell') <> after THEN result := result || format(' unit %s: not what it would be', unit); END IF;
  END LOOP;
  IF changed = 0 AND learner <> 'stump' THEN result := result || ' nothing has changed'; END IF;
  RAISE EXCEPTION USING errcode = 'UNDO1', message = result;
EXCEPTION WHEN SQLSTATE 'UNDO1' THEN RETURN nullif(SQLERRM, '');
  WHEN OTHERS THEN RETURN concat_ws(' | ', SQLSTATE, SQLERRM);
END $$;
CREATE TABLE tried AS SELECT r.relation, m.mechanism, l.learner, cell(r.relation::regclass, r.named::regclass, m.mechanism, l.learner) AS problem
FROM (VALUES ('plain', 'plain'), ('parts', 'parts'), ('seen', 'seen'), ('seen', 'under'), ('first', 'second'), ('second', 'first')) r(relation, named),
  listed('vote', 'none') l(learner), listed('none', 'stump') m(mechanism)
WHERE m.mechanism = 'vote' OR (m.mechanism IN ('average', 'median', 'sparse', 'soft') AND l.learner IN ('stump', 'tree', 'centroid') AND r.named IN ('plain', 'under', 'second'));
SELECT * FROM tried WHERE problem IS NOT NULL;
SELECT mechanism, count(DISTINCT learner) >= CASE mechanism WHEN 'vote' THEN 11 ELSE 3 END AS learners, count(DISTINCT relation) FROM tried GROUP BY 1 ORDER BY 1;
-- no mechanism that asks teachers is left out
CREATE FUNCTION takes_teachers(mechanism text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM privpred.create_model('asks', 'forget_matrix.plain', 'y', '["x"]', classes => '{no,yes}', mechanism => mechanism, learner => 'stump', teachers => 7, epsilon => 2);
  RETURN true;
EXCEPTION WHEN OTHERS THEN
  RETURN false;
END $$;
SELECT takes_teachers('vote');
SELECT m FROM listed('none', 'stump') m WHERE m NOT IN (SELECT mechanism FROM tried) AND takes_teachers(m);
DROP SCHEMA forget_matrix CASCADE;
