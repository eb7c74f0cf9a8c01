-- Functions that an owner's functions call (learner sql), and that an asker has called before, under a search_path of hers:
-- what PL/pgSQL has made of their variables then must not be what runs as the owner.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
\pset tuples_only on
CREATE ROLE help_owner;
CREATE ROLE help_other;
CREATE ROLE help_ann;
CREATE SCHEMA help AUTHORIZATION help_owner;
CREATE SCHEMA help2 AUTHORIZATION help_other;
CREATE SCHEMA evil AUTHORIZATION help_ann;
CREATE SCHEMA help_ann AUTHORIZATION help_ann;
GRANT USAGE ON SCHEMA help, help2, evil, help_ann TO PUBLIC;
SET privpred.repeat_memory = 0;

-- The owner's: helpers without a search_path, one with "$user" in it; each names a type without its schema.
SET ROLE help_owner;
SET search_path = help, public;
CREATE DOMAIN help.num AS float8;
CREATE DOMAIN help.side AS text;
CREATE TABLE help.scratch (d float8);
CREATE FUNCTION help.distance(a float8[], b float8[]) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	d num := 0;
BEGIN
	FOR i IN 1 .. cardinality(a) LOOP
		d := d + abs(a[i] - b[i]);
	END LOOP;
	RETURN d;
END $$;
CREATE FUNCTION help.row_distance(a float8) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	r scratch%ROWTYPE;
	d scratch.d%TYPE := a;
BEGIN
	r.d := d;
	RETURN r.d;
END $$;
CREATE FUNCTION help.any_side(a anyelement, b text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	s side := b;
BEGIN
	RETURN s;
END $$;
CREATE FUNCTION help.nested(a float8[], b float8[]) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	RETURN row_distance(distance(a, b));
EXCEPTION WHEN division_by_zero THEN
	RETURN 0;
END $$;
CREATE FUNCTION help.of_user(a float8) RETURNS float8 LANGUAGE plpgsql SET search_path = "$user", help, pg_catalog, pg_temp AS $$
DECLARE
	d num := a;
BEGIN
	RETURN d;
END $$;
CREATE FUNCTION help.keep(m float8[], label text, x float8[]) RETURNS float8[] LANGUAGE sql SET search_path = pg_catalog, pg_temp
	AS $$ SELECT CASE WHEN label = 'yes' THEN x ELSE m END $$;
CREATE AGGREGATE help.train(text, float8[]) (SFUNC = help.keep, STYPE = float8[], INITCOND = '{0}');
CREATE FUNCTION help.predict(m float8[], x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = help, pg_catalog, pg_temp AS $$
BEGIN
	IF nested(m, x) + of_user(0) > 0.25 THEN
		RETURN any_side(1, 'no');
	END IF;
	RETURN any_side('a'::text, 'yes');
EXCEPTION WHEN OTHERS THEN
	RETURN 'no';
END $$;
CREATE TABLE help.people (id int PRIMARY KEY, x float8 NOT NULL, y text NOT NULL);
INSERT INTO help.people SELECT i, CASE WHEN i % 2 = 0 THEN 1 ELSE 0 END, CASE WHEN i % 2 = 0 THEN 'yes' ELSE 'no' END FROM generate_series(1, 200) i;
SELECT privpred.protect('help.people', declared_units => 200);
SELECT FROM privpred.create_model('help', 'help.people', label => 'y', classes => '{no,yes}', teachers => 11, epsilon => 2,
	features => '{"x": {"min": 0, "max": 1}}', learner => 'sql', options => '{"train": "help.train", "predict": "help.predict"}');
SELECT privpred.grant_budget('help_ann', 'help.people', epsilon => 1000);

-- The asker's: types of the same names, whose checks look who runs them.
SET ROLE help_ann;
CREATE TABLE evil.loot (who name, rows bigint);
GRANT ALL ON evil.loot TO PUBLIC;
CREATE FUNCTION evil.steal() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'help_ann' THEN
		INSERT INTO evil.loot SELECT current_user, count(*) FROM help.people;
	END IF;
	RETURN true;
END $$;
CREATE DOMAIN evil.num AS float8 CHECK (evil.steal());
CREATE DOMAIN evil.side AS text CHECK (evil.steal());
CREATE DOMAIN help_ann.num AS float8 CHECK (evil.steal());
CREATE TABLE evil.scratch (d evil.num);

-- She calls the helpers first, and then asks.
SET search_path = evil, help, public;
SELECT distance('{1}', '{2}'), row_distance(1), nested('{1}', '{2}'), any_side(1, 'a'), any_side('a'::text, 'b'), of_user(1);
SELECT count(*) FILTER (WHERE private_predict('help', ARRAY[1]) = 'yes') > 15 AS yes, count(*) FILTER (WHERE private_predict('help', ARRAY[0]) = 'no') > 15 AS no FROM generate_series(1, 20);
SELECT who, count(*) > 0 FROM evil.loot GROUP BY who;
-- from within a helper that runs, which is compiled as she likes, and goes on as it was
CREATE FUNCTION evil.abs(x float8) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	IF current_user = 'help_ann' AND current_setting('evil.go', true) = 'yes' THEN
		PERFORM set_config('evil.go', 'no', false);
		PERFORM public.private_predict('help', ARRAY[1]);
		RETURN 10;
	END IF;
	RETURN CASE WHEN x < 0 THEN -x ELSE x END;
END $$;
SET search_path = evil, pg_catalog, help, public;
SET evil.go = 'yes';
SELECT help.distance('{1,1}', '{2,2}');
SHOW evil.go;
SELECT help.distance('{1,1}', '{2,2}');
SELECT who, count(*) > 0 FROM evil.loot GROUP BY who;
-- replaced meanwhile, it is compiled again by whoever comes first
RESET ROLE;
ALTER FUNCTION help.distance COST 101;
ALTER FUNCTION help.row_distance COST 101;
SET ROLE help_ann;
SELECT help.distance('{1}', '{2}'), help.row_distance(1);
SELECT count(private_predict('help', ARRAY[0.5])) FROM generate_series(1, 3);
SELECT who, count(*) > 0 FROM evil.loot GROUP BY who;

-- Another owner, who calls the same helpers, compiles them for himself: neither does it for the other.
RESET ROLE;
GRANT help_other TO help_ann;
SET ROLE help_other;
SET client_min_messages = error;
SET search_path = help2, help;
CREATE FUNCTION help2.steal() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF current_user = 'help_owner' THEN
		INSERT INTO evil.loot SELECT current_user, count(*) FROM help.people;
	END IF;
	RETURN true;
END $$;
CREATE DOMAIN help2.num AS float8 CHECK (help2.steal());
CREATE FUNCTION help2.keep(m float8[], label text, x float8[]) RETURNS float8[] LANGUAGE sql SET search_path = pg_catalog, pg_temp
	AS $$ SELECT m || 1.0 $$;
CREATE AGGREGATE help2.train(text, float8[]) (SFUNC = help2.keep, STYPE = float8[], INITCOND = '{}');
CREATE FUNCTION help2.predict(m float8[], x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = help2, help, pg_catalog, pg_temp AS $$
BEGIN
	RETURN CASE WHEN distance(m, m) = 0 THEN 'yes' ELSE 'no' END;
END $$;
CREATE TABLE help2.people AS SELECT i AS id, 0.5::float8 AS x, CASE WHEN i % 2 = 0 THEN 'yes' ELSE 'no' END AS y FROM generate_series(1, 200) i;
ALTER TABLE help2.people ADD PRIMARY KEY (id);
SELECT privpred.protect('help2.people', declared_units => 200);
SELECT FROM privpred.create_model('help2', 'help2.people', label => 'y', classes => '{no,yes}', teachers => 11, epsilon => 2,
	features => '{"x": {"min": 0, "max": 1}}', learner => 'sql', options => '{"train": "help2.train", "predict": "help2.predict"}');
SELECT privpred.grant_budget('help_ann', 'help2.people', epsilon => 1000);
RESET ROLE;
ALTER FUNCTION help.distance COST 102;
SET ROLE help_ann;
SET search_path = public;
SELECT count(*) FILTER (WHERE private_predict('help2', ARRAY[1]) = 'yes') > 15 AS yes FROM generate_series(1, 20);
SELECT count(*) FILTER (WHERE private_predict('help', ARRAY[1]) = 'yes') > 15 AS yes FROM generate_series(1, 20);
SELECT count(*) FILTER (WHERE private_predict('help2', ARRAY[1]) = 'yes') > 15 AS yes FROM generate_series(1, 20);
SELECT count(*) FILTER (WHERE private_predict('help', ARRAY[1]) = 'yes') > 15 AS yes FROM generate_series(1, 20);
SELECT who, count(*) > 0 FROM evil.loot GROUP BY who;

-- An owner's function that asks other predictors, and calls helpers before and after: of the same owner, and of another.
RESET ROLE;
CREATE FUNCTION public.help_all(a float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RETURN a; END $$;
SET ROLE help_other;
CREATE FUNCTION help2.predict_all(m float8[], x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = help2, help, pg_catalog, pg_temp AS $$
BEGIN
	RETURN CASE WHEN public.help_all(x[1]) > 0.5 THEN 'yes' ELSE 'no' END;
END $$;
SELECT FROM privpred.create_model('help2 all', 'help2.people', label => 'y', classes => '{no,yes}', teachers => 11, epsilon => 2,
	features => '{"x": {"min": 0, "max": 1}}', learner => 'sql', options => '{"train": "help2.train", "predict": "help2.predict_all"}');
SELECT privpred.grant_budget('help_ann', 'help2.people', epsilon => 100000), privpred.grant_budget('help_owner', 'help2.people', epsilon => 100000);
RESET ROLE;
SET ROLE help_owner;
CREATE FUNCTION help.predict_inner(m float8[], x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = help, pg_catalog, pg_temp AS $$
BEGIN
	RETURN CASE WHEN public.help_all(x[1]) > 0.5 THEN 'yes' ELSE 'no' END;
END $$;
CREATE TABLE help.inner AS SELECT privpred.sql_learner(y, ARRAY[x], '{"train": "help.train", "predict": "help.predict_inner"}') AS p FROM help.people;
CREATE FUNCTION help.predict_own(m float8[], x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = help, pg_catalog, pg_temp AS $$
DECLARE
	d float8 := public.help_all(0);
	answer text := (SELECT privpred.predict(p, x) FROM help.inner);
BEGIN
	RETURN CASE WHEN public.help_all(0) + of_user(0) + row_distance(0) = d THEN answer END;
END $$;
CREATE FUNCTION help.predict_other(m float8[], x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = help, pg_catalog, pg_temp AS $$
DECLARE
	d float8 := public.help_all(0);
	answer text := public.private_predict('help2 all', x);
BEGIN
	RETURN CASE WHEN public.help_all(0) + of_user(0) + row_distance(0) = d THEN answer END;
END $$;
SELECT FROM unnest('{own,other}'::text[]) n, LATERAL privpred.create_model('help ' || n, 'help.people', label => 'y', classes => '{no,yes}', teachers => 3, epsilon => 8,
	features => '{"x": {"min": 0, "max": 1}}', learner => 'sql', options => jsonb_build_object('train', 'help.train', 'predict', 'help.predict_' || n));
SELECT privpred.grant_budget('help_ann', 'help.people', epsilon => 100000);
-- and one with more helpers than one would write
DO $$
DECLARE
	calls text := '';
BEGIN
	FOR i IN 1 .. 100 LOOP
		EXECUTE format('CREATE FUNCTION help.many_%s() RETURNS int LANGUAGE plpgsql AS %L', i, 'BEGIN RETURN 1; END');
		calls := calls || format('PERFORM help.many_%s(); ', i);
	END LOOP;
	EXECUTE format('CREATE FUNCTION help.predict_many(m float8[], x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = help, pg_catalog, pg_temp AS %L',
		'BEGIN ' || calls || ' RETURN CASE WHEN x[1] > 0.5 THEN ''yes'' ELSE ''no'' END; END');
END $$;
SELECT FROM privpred.create_model('help many', 'help.people', label => 'y', classes => '{no,yes}', teachers => 3, epsilon => 8,
	features => '{"x": {"min": 0, "max": 1}}', learner => 'sql', options => '{"train": "help.train", "predict": "help.predict_many"}');
RESET ROLE;
SET ROLE help_ann;
SET search_path = evil, help, public;
SELECT public.help_all(1), of_user(1), row_distance(1);
SET search_path = public;
SELECT n, count(*) FILTER (WHERE private_predict('help ' || n, ARRAY[1]) = 'yes') > 15 AS yes, count(*) FILTER (WHERE private_predict('help ' || n, ARRAY[0]) = 'no') > 15 AS no
FROM unnest('{own,other,many,own}'::text[]) WITH ORDINALITY n(n, o), generate_series(1, 20) GROUP BY n, o ORDER BY o;
SELECT who, count(*) > 0 FROM evil.loot GROUP BY who;
RESET ROLE;
RESET search_path;
SET client_min_messages = error;
DROP OWNED BY help_owner, help_other, help_ann CASCADE;
DROP FUNCTION public.help_all;
DROP ROLE help_owner, help_other, help_ann;
