-- Every mechanism and every learner on a view, proved to have one row for each unit or not, beside the flat table that was
-- made of it by hand: what is learnt is the same bit for bit, wherever it is not drawn, and so are refusals.
\set VERBOSITY terse
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE SCHEMA vm;
SET search_path = vm, public;
CREATE TABLE person (u int PRIMARY KEY, born int NOT NULL, y boolean NOT NULL, z float8 NOT NULL);
CREATE TABLE visit (id int PRIMARY KEY, u int NOT NULL, cost int NOT NULL);
INSERT INTO person SELECT i, 1930 + i * 37 % 70, i * 7 % 20 > 9, i % 10 / 10.0 FROM generate_series(1, 80) i;
INSERT INTO visit SELECT i, 1 + i % 70, i * 13 % 11 FROM generate_series(1, 300) i;
SELECT count(privpred.protect('person', unit => 'u')), count(privpred.protect('visit', unit => 'u', same_units_as => 'person'));
CREATE VIEW one AS
	SELECT p.u, (2026 - p.born)::float8 AS x, v.n, p.y, p.z FROM person p LEFT JOIN (SELECT u, count(*)::int AS n FROM visit GROUP BY u) v ON v.u = p.u;
CREATE VIEW many AS SELECT * FROM one UNION ALL SELECT * FROM one WHERE false;
CREATE TABLE flat AS SELECT * FROM one ORDER BY x, u;
ALTER TABLE flat ADD PRIMARY KEY (u);
SELECT r, privpred.protect(r::regclass, unit => 'u', declared_units => 100, max_rows_per_unit => 1) IS NULL AS null FROM unnest('{flat,one,many}'::text[]) r;
SELECT r, privpred._plan_table(r::regclass, NULL) ->> 'one_row_a_unit' AS one_row FROM unnest('{flat,one,many}'::text[]) r;

-- a learner in SQL: the most common label on the side of 0.5
CREATE FUNCTION step(state jsonb, label text, x float8[]) RETURNS jsonb LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(state, '{}') || jsonb_build_object(k, coalesce((state ->> k)::int, 0) + 1) FROM (SELECT (x[1] > 0.5)::text || ' ' || label AS k) s $$;
CREATE AGGREGATE sql_train(text, float8[]) (SFUNC = step, STYPE = jsonb);
CREATE FUNCTION sql_predict(state jsonb, x float8[]) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT split_part(key, ' ', 2) FROM jsonb_each_text(state) WHERE starts_with(key, (x[1] > 0.5)::text) ORDER BY value::int DESC, key LIMIT 1 $$;

-- what the product names
CREATE FUNCTION named(argument text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE format('SELECT privpred.create_model(''none'', ''flat'', ''y'', ''{"x": {"min": 0, "max": 100}}'', %I => ''none'')', argument);
EXCEPTION WHEN undefined_object THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN QUERY SELECT unnest(string_to_array(substring(hint FROM ': (.*)\.$'), ', '));
END $$;

/*
 * Trains with a salt that is always the same; returns what was learnt, unless that is drawn, or why not.
 */
CREATE FUNCTION learnt(relation text, mechanism text, learner text, target text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	options jsonb := CASE learner WHEN 'sql' THEN '{"train": "vm.sql_train", "predict": "vm.sql_predict"}' WHEN 'boost' THEN '{"rounds": 3, "depth": 2}' ELSE '{}' END;
	result text;
BEGIN
	IF target = 'z' THEN
		options := options || '{"bins": [0, 0.25, 0.5, 0.75, 1]}';
	END IF;
	IF mechanism = 'soft' THEN
		options := options || '{"precision": 0.5}';
	END IF;
	PERFORM privpred.create_model('m', relation::regclass, target, CASE WHEN mechanism IN ('threshold', 'cover', 'littlestone') THEN '{"x": {"min": 0, "max": 100, "cuts": [30, 60]}}'
		ELSE '{"x": {"min": 0, "max": 100}, "n": {"min": 0, "max": 10, "null": {"fill": 0}}}' END::json, mechanism => mechanism, learner => learner,
		teachers => 5, epsilon => 1, options => options);
	UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f' WHERE name = 'm';
	PERFORM privpred.retrain('m');
	result := (SELECT CASE charge_kind WHEN 'once' THEN 'is drawn' ELSE md5(concat(m.predictor::text, m.state::text)) END FROM privpred.model m WHERE name = 'm');
	PERFORM privpred.drop_model('m');
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN replace(concat_ws(' ', SQLSTATE, SQLERRM), format('"%s"', relation), 'it');
END $$;

CREATE TABLE cells AS
	SELECT mechanism, learner, target, learnt('flat', mechanism, learner, target) AS flat, learnt('one', mechanism, learner, target) AS one, learnt('many', mechanism, learner, target) AS many
	  FROM named('mechanism') mechanism, named('learner') learner, unnest('{y,z}'::name[]) target
	 WHERE mechanism NOT IN ('label_private', 'relabel');
-- All that differs; nothing should.  (stable_erm is within its tolerance of the same minimum: its curvatures are added up in the order of rows.)
SELECT * FROM cells WHERE (flat <> one OR flat <> many) AND mechanism <> 'stable_erm' ORDER BY 1, 2, 3;
-- It was tried: of what is not drawn, of what is, and with every learner.
SELECT count(*) FILTER (WHERE flat ~ '^[0-9a-f]{32}$') > 60 AS same, count(*) FILTER (WHERE flat = 'is drawn') > 2 AS drawn FROM cells;
-- of these none: a student has no table
SELECT mechanism FROM cells GROUP BY 1 HAVING bool_and(flat !~ '^([0-9a-f]{32}|is drawn)$');
SELECT learner FROM cells WHERE learner <> 'boost' GROUP BY 1 HAVING bool_and(flat !~ '^([0-9a-f]{32}|is drawn)$');
SELECT DISTINCT left(flat, 60) FROM cells WHERE flat ~ '^(XX|42|22P|P0)' AND flat !~ '^42704';

DROP SCHEMA vm CASCADE;
