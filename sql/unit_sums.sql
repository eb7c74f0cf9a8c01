-- Passes of training over units: whoever adds up, in whatever order, the sums are the same, and what SQL makes of the rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE SCHEMA sums_test;
SET search_path = sums_test, pg_catalog;
CREATE FUNCTION raises(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE points AS
SELECT i AS id, i % 700 AS unit, NULLIF(i % 3, 2)::float8 AS y, ARRAY[(hashint4(i) & 1023) / 1023.0, (hashint4(i + 7777) & 1023) / 1023.0]::float8[] AS x
FROM generate_series(1, 3000) i;
ANALYZE points;
-- how rows are read: two numbers, at most max_rows rows of a unit, two classes
CREATE FUNCTION request(kind text, parameter bytea, max_rows int DEFAULT 0) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT int4send(1) || int4send(2) || int4send(max_rows) || int8send(77) || int4send(2) || '\x00' || float8send(0) || float8send(1)
		|| set_byte('\x00', 0, length(kind)) || convert_to(kind, 'UTF8') || parameter $$;
CREATE FUNCTION features(features_limit bigint) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT request('gradient', '\x0000' || int4send(1) || int4send(1000) || float4send(1) || int8send(features_limit)) $$;
CREATE FUNCTION steps(loss int, outputs int) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT request('gradient', '\x01' || set_byte('\x00', 0, loss) || int4send(outputs) || int4send(4096 * 300) || float4send(1) || int8send(4096)
		|| float4send(1000) || int2send(2000::int2) || int2send(2100::int2) || string_agg(float4send((i % 3 - 1)::float4), ''::bytea)) FROM generate_series(1, 3 * outputs) i $$;
CREATE FUNCTION cuts(max_rows int DEFAULT 0) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT request('candidates', '\x0200' || int4send(2) || int4send(3) || '\x01' || int4send(1) || '\x00' || float8send(0.3), max_rows) $$;
CREATE FUNCTION slopes(pass int) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT request('stable_erm', set_byte('\x00', 0, pass) || '\x00' || float8send(1.25) || float8send(1) || int4send(0) || float8send(0.5) || float8send(-1) || float8send(0.25)
		|| CASE WHEN pass = 3 THEN float8send(1) || float8send(2) || float8send(3) ELSE '' END) $$;
CREATE TABLE requests AS
SELECT * FROM (VALUES ('features', features(1 << 20)), ('clipped features', features(2000)), ('logistic', steps(0, 1)), ('softmax', steps(1, 2)), ('huber', steps(2, 1)), ('cuts', cuts()),
	('cuts of few rows', cuts(2)), ('gradients', slopes(0)), ('curvatures', slopes(1)), ('majorants', slopes(2)), ('products', slopes(3))) r (name, request);

-- the numbers of a sum: of rows, of rows without a label, and what was asked for
CREATE FUNCTION numbers(sums privpred.unit_sums) RETURNS numeric[] LANGUAGE plpgsql AS $$
DECLARE
	bytes bytea := decode(sums::text, 'base64');
	shift numeric := 2::numeric ^ get_byte(bytes, 36);
	result numeric[] := ARRAY[('x' || encode(substr(bytes, 13, 8), 'hex'))::bit(64)::bigint, ('x' || encode(substr(bytes, 21, 8), 'hex'))::bit(64)::bigint];
	count int := ('x' || encode(substr(bytes, 29, 8), 'hex'))::bit(64)::bigint;
	at int := 37; -- a byte
	bits int;
	number numeric;
BEGIN
	-- in blocks of 32, after a byte that says how many bits each has
	FOR i IN 0 .. count - 1 LOOP
		IF i % 32 = 0 THEN
			bits := get_byte(bytes, at);
			at := at + 1 + (bits * least(32, count - i) + 7) / 8;
		END IF;
		SELECT coalesce(sum(2::numeric ^ b * get_bit(bytes, 8 * (at - (bits * least(32, count - i / 32 * 32) + 7) / 8) + i % 32 * bits + b)), 0) INTO number FROM generate_series(0, bits - 1) b;
		result := result || trim_scale(shift * CASE WHEN number % 2 = 0 THEN div(number, 2) ELSE - div(number + 1, 2) END);
	END LOOP;
	ASSERT at = length(bytes);
	RETURN result;
END $$;
CREATE VIEW rows AS SELECT id, y, x, unit FROM points;
CREATE VIEW units AS SELECT array_agg(y ORDER BY id) AS y, array_agg(x ORDER BY id) AS x, unit FROM points GROUP BY unit;

-- features: integers of 12 bits, and a limit for each unit that has a label
SELECT numbers(privpred.sum_units(y, x, features(1 << 20))) = ARRAY[count(*), count(*) - count(y), sum(floor(x[1] * 4096 + 0.5)) FILTER (WHERE y IS NOT NULL),
	sum(floor(x[2] * 4096 + 0.5)) FILTER (WHERE y IS NOT NULL), count(y) * (1 << 20)]::numeric[] AS features FROM rows;
-- errors: cells of cuts at 1/4, 1/2, 3/4 and at 0.3, what label 1 has more than label 0; then of each label all
SELECT numbers(privpred.sum_units(y, x, cuts())) = (ARRAY[count(*), count(*) - count(y)] ||
	(SELECT array_agg(c ORDER BY n)::bigint[] || ARRAY[(SELECT count(*) FILTER (WHERE y = 0) FROM rows) << 24, (SELECT count(*) FILTER (WHERE y = 1) FROM rows) << 24] FROM
		(SELECT n, (SELECT sum(2 * y - 1) FROM rows WHERE CASE WHEN n < 4 THEN width_bucket(x[1], ARRAY[0.25, 0.5, 0.75]) = n ELSE (x[2] >= 0.3)::int = n - 4 END) * (1 << 24) AS c
		 FROM generate_series(0, 5) n) s))::numeric[] AS errors FROM rows;
-- the last sum of these counts units
SELECT (numbers(privpred.sum_units(y, x, slopes(0))))[6] = (SELECT count(DISTINCT unit) FROM rows WHERE y IS NOT NULL) AS units FROM units;

-- in any order, and in parts that travel
CREATE FUNCTION all_ways(source text, request bytea) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE format($q$
		SELECT a.s::text = b.s::text AND a.s::text = c.s::text AND a.s::text = d.s::text FROM
			(SELECT privpred.sum_units(y, x, $1) AS s FROM %1$I) a,
			(SELECT privpred.sum_units(y, x, $1 ORDER BY md5(unit::text || x::text)) AS s FROM %1$I) b,
			(SELECT privpred.merge_sums(s ORDER BY md5(s::text)) AS s FROM (SELECT privpred.sum_units(y, x, $1)::text::privpred.unit_sums AS s FROM %1$I GROUP BY unit %% 7) p) c,
			(SELECT privpred.merge_sums(s) AS s FROM (SELECT privpred.sum_units(y, x, $1) AS s FROM %1$I GROUP BY unit %% 65) p) d$q$, source) INTO result USING request;
	RETURN result;
END $$;
SELECT name, all_ways('rows', request) AS rows, all_ways('units', request) AS units FROM requests;
-- row by row, in the order of units of whatever type; what has no unit is counted and left out
SELECT name, (SELECT privpred.sum_sorted_units(request, y, x, unit ORDER BY unit)::text FROM points) = (SELECT privpred.sum_units(y, x, request)::text FROM units) AS numbers,
	(SELECT privpred.sum_sorted_units(request, y, x, unit % 30, 'é' || unit / 30 ORDER BY unit % 30 DESC, 'é' || unit / 30)::text FROM points) = (SELECT privpred.sum_units(y, x, request)::text FROM units) AS pairs,
	(SELECT privpred.sum_sorted_units(request, y, x, CASE WHEN id % 2 = 0 THEN unit ELSE unit + 0.00 END ORDER BY unit)::text FROM points) = (SELECT privpred.sum_units(y, x, request)::text FROM units) AS numerics,
	(SELECT privpred.sum_sorted_units(request, y, x, NULLIF(unit, 7) ORDER BY NULLIF(unit, 7) NULLS FIRST)::text FROM points) =
	(SELECT privpred.sum_units(y, x, request)::text FROM (SELECT array_agg(CASE WHEN unit <> 7 THEN y END) AS y, array_agg(x) AS x FROM points GROUP BY unit) u) AS of_nobody
FROM requests;
SELECT numbers(privpred.sum_sorted_units(cuts(2), y, x, NULLIF(unit, 7), unit ORDER BY unit)) = numbers(privpred.sum_sorted_units(cuts(2), CASE WHEN unit <> 7 THEN y END, x, unit ORDER BY unit)) AS without_nobody FROM points;
-- of many rows of a unit those are kept that would be of all of them
SELECT n, numbers(privpred.sum_sorted_units(cuts(2), y, x, id % n ORDER BY id % n, md5(id::text))) = (SELECT numbers(privpred.sum_units(y, x, cuts(2))) FROM (SELECT array_agg(y) AS y, array_agg(x) AS x FROM points GROUP BY id % n) u) AS same
FROM points, unnest('{1,2}'::int[]) n GROUP BY n;
SELECT raises($$SELECT privpred.sum_sorted_units(cuts(), y, x, VARIADIC ARRAY[unit] ORDER BY unit) FROM points$$);
SELECT raises($$SELECT privpred.sum_sorted_units(cuts(), y, x, point(unit, unit) ORDER BY unit) FROM points$$) AS points, raises($$SELECT privpred.sum_sorted_units(cuts(), y, x, '{}'::json ORDER BY unit) FROM points$$) AS nothing_equal;
SELECT raises($$SELECT privpred.sum_sorted_units(cuts(), y, NULL, unit ORDER BY unit) FROM points$$), raises($$SELECT privpred.sum_sorted_units(cuts(), y, x || x, unit ORDER BY unit) FROM points$$),
	raises($$SELECT privpred.sum_sorted_units(NULL, y, x, unit ORDER BY unit) FROM points$$), raises($$SELECT privpred.sum_sorted_units(cuts(), 2, x, unit ORDER BY unit) FROM points$$);
-- rows of a unit that come after its sums were read would be another unit
SELECT raises($$SELECT privpred.sum_sorted_units(cuts(), y, x, unit) OVER (ORDER BY unit, id) FROM points$$);
-- by parallel workers
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
CREATE TABLE alone (name text, s text);
SET max_parallel_workers_per_gather = 0;
INSERT INTO alone SELECT name, (SELECT privpred.sum_units(y, x, request)::text FROM points) FROM requests;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS off) SELECT privpred.sum_units(y, x, cuts()) FROM points;
DO $$
DECLARE
	r record;
	s text;
BEGIN
	FOR r IN SELECT name, request, alone.s FROM requests JOIN alone USING (name) LOOP
		EXECUTE format('SELECT privpred.sum_units(y, x, %L)::text FROM points', r.request) INTO s;
		IF s <> r.s THEN RAISE EXCEPTION '%: parallel workers add up to something else', r.name; END IF;
	END LOOP;
END $$;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;

-- a unit of many rows weighs no more than one of one: rows are chosen by content, in any order
SELECT bool_and(largest <= 1 << 24) AS capped FROM
	(SELECT unit, (SELECT max(abs(n)) FROM unnest((numbers(privpred.sum_units(y, x, cuts(2))))[3:]) n) AS largest FROM
		(SELECT unit, array_agg(y) AS y, array_agg(x) AS x FROM points GROUP BY unit) u GROUP BY unit) s;
SELECT privpred.sum_units(y, x, cuts()) IS NULL AS of_nothing FROM points WHERE false;

-- what was not asked for by a mechanism
SELECT raises($$SELECT privpred.sum_units(y, x, '\x00') FROM points$$);
SELECT raises($$SELECT privpred.sum_units(y, x, request('nothing', '')) FROM points$$);
SELECT name, min(raises(format('SELECT privpred.sum_units(y, x, substr(%L, 1, %s)) FROM points', request, n))) <> 'no error' AS cut_short FROM requests, generate_series(0, length(request) - 1) n GROUP BY name ORDER BY name;
SELECT raises(format('SELECT privpred.sum_units(y, x, %L) FROM points', cuts() || '\x00'));
SELECT raises(format('SELECT privpred.sum_units(y, ARRAY[0.5::float8], %L) FROM points', cuts()));
SELECT raises(format('SELECT privpred.sum_units(y, ARRAY[0.5, NULL]::float8[], %L) FROM points', cuts()));
SELECT raises(format('SELECT privpred.sum_units(2::float8, x, %L) FROM points', cuts()));
SELECT raises(format('SELECT privpred.sum_units(y, NULL, %L) FROM points', cuts()));
SELECT raises(format('SELECT privpred.sum_units(NULL::float8[], x, %L) FROM points', cuts()));
SELECT raises('SELECT privpred.merge_sums(s) FROM (SELECT privpred.sum_units(y, x, r.request) AS s FROM points, requests r GROUP BY r.name) p');
SELECT raises($$SELECT privpred.unit_sums_merge(NULL, privpred.sum_units(y, x, cuts())) FROM points$$);
SELECT raises($$SELECT '?'::privpred.unit_sums$$), raises($$SELECT 'AAAAAg=='::privpred.unit_sums$$);
-- more sums than any kind has would take 512 times their bytes
SELECT n, raises(format('SELECT %L::privpred.unit_sums IS NOT NULL', translate(encode(int4send(2) || int8send(0) || int8send(0) || int8send(0) || int8send(n) || '\x00' || decode(repeat('00', (n + 31) / 32), 'hex'), 'base64'), E'\n', ''))) FROM unnest('{16385000, 16385001}'::int[]) n;
-- numbers of up to 128 bits, no more of them, and nothing in bits that no number has
SELECT raises(format('SELECT %L::privpred.unit_sums', encode(int4send(2) || int8send(0) || int8send(0) || int8send(0) || int8send(1) || '\x00' || block, 'base64')))
FROM unnest('{"\\x80ffffffffffffffffffffffffffffffff", "\\x81ffffffffffffffffffffffffffffffff01", "\\x0307", "\\x0308", "\\x00", "\\x0000", ""}'::bytea[]) block;
-- every byte of sums is read, none beyond
SELECT count(*) FILTER (WHERE raises(format('SELECT %L::privpred.unit_sums', encode(substr(bytes, 1, n), 'base64'))) = 'no error') AS accepted
FROM (SELECT decode(s, 'base64') AS bytes FROM alone WHERE name = 'cuts') a, generate_series(0, length(bytes) - 1) n;

-- models: rows that are left out are counted (test/check_inputs.sh compares what goes into draws, in all ways)
CREATE TABLE people AS SELECT id, unit, x[1] AS a, x[2] AS b, (y > 0) AS y FROM points;
ALTER TABLE people ALTER unit SET NOT NULL;
SELECT FROM privpred.protect('people', unit => 'unit', declared_units => 700, max_rows_per_unit => 3);
SET client_min_messages = notice;
SET privpred.train_by_states = on;
SELECT name, privpred.create_model(name, 'people', label => 'y', features => '{"a": {"min": 0, "max": 1, "null": "error"}, "b": {"min": 0, "max": 1, "null": "error"}}', mechanism => name, epsilon => 1,
	options => CASE name WHEN 'gradient' THEN '{"steps": 3}' ELSE '{}' END::jsonb) ->> 'mechanism' AS mechanism
FROM unnest('{gradient,stable_erm}'::text[]) name;
RESET privpred.train_by_states;
SET client_min_messages = warning;
SELECT FROM privpred.drop_model('gradient');
SELECT FROM privpred.drop_model('stable_erm');
SELECT FROM privpred.unprotect('people');
DROP SCHEMA sums_test CASCADE;
