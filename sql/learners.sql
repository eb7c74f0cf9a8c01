-- Learners: the predictor type, aggregates, teacher_of, ensemble
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
SET client_min_messages = warning;
CREATE SCHEMA learners_test;
SET search_path = learners_test, pg_catalog;

-- What a statement raises, as SQLSTATE and message.
CREATE FUNCTION raises(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

-- Three noisy clusters, and the same rows for two classes; no random numbers.
CREATE TABLE points AS
SELECT i AS id, i % 5 AS teacher, i % 3 AS cluster, i % 3 > 0 AS positive,
	ARRAY[(i % 3 = 0)::int * 0.5 + (hashint4(i) & 1023) / 1024.0 * 0.6,
		  (i % 3 = 1)::int * 0.5 + (hashint4(i + 7777) & 1023) / 1024.0 * 0.6,
		  (i % 7 = 0)::int]::float8[] AS x
FROM generate_series(1, 3000) i;
ANALYZE points;

----------------------------------------------------------------------
-- every learner learns
----------------------------------------------------------------------
CREATE TABLE taught AS
SELECT 'logistic' AS learner, privpred.logistic(positive, x) AS two, privpred.logistic(cluster, x) AS three FROM points
UNION ALL SELECT 'svm', privpred.svm(positive, x), privpred.svm(cluster, x) FROM points
UNION ALL SELECT 'linear', privpred.linear(positive, x), privpred.linear(cluster, x) FROM points
UNION ALL SELECT 'naive_bayes', privpred.naive_bayes(positive, x), privpred.naive_bayes(cluster, x) FROM points
UNION ALL SELECT 'centroid', privpred.centroid(positive, x), privpred.centroid(cluster, x) FROM points
UNION ALL SELECT 'stump', privpred.stump(positive, x), privpred.stump(cluster, x) FROM points
UNION ALL SELECT 'knn', privpred.knn(positive, x), privpred.knn(cluster, x) FROM points;

SELECT learner,
	round(avg((privpred.predict(two, x) = positive::text)::int), 2) AS two,
	round(avg((privpred.predict(three, x) = cluster::text)::int), 2) AS three
FROM taught, points GROUP BY learner ORDER BY learner;

-- text form and binary form
SELECT learner, two::text::privpred.predictor::text = two::text AS again, left(two::text, 18) AS start
FROM taught ORDER BY learner;
SELECT octet_length(privpred.votes(two, '{0,0,0}')::text) AS length FROM taught WHERE learner = 'stump';

----------------------------------------------------------------------
-- one multiset of rows, one predictor: any order, any partition, any plan
----------------------------------------------------------------------
CREATE FUNCTION fingerprint(learner text, label text, source text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(m::text, '','' ORDER BY t)) FROM (SELECT teacher t, privpred.%I(%I, x) m FROM %s GROUP BY 1) s',
				   learner, label, source) INTO result;
	RETURN result;
END $$;

CREATE FUNCTION is_parallel(learner text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found boolean := false;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT teacher t, privpred.%I(cluster, x) m FROM points GROUP BY 1', learner) LOOP
		found := found OR line LIKE '%Partial%';
	END LOOP;
	RETURN found;
END $$;

SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial_prints AS
SELECT learner, label, fingerprint(learner, label, 'points') AS print
FROM unnest(ARRAY['logistic', 'svm', 'linear', 'naive_bayes', 'centroid', 'stump', 'knn']) learner,
	unnest(ARRAY['positive', 'cluster']) label;

SELECT learner, label,
	fingerprint(learner, label, '(SELECT * FROM points ORDER BY id DESC) p') = print AS backwards,
	fingerprint(learner, label, '(SELECT * FROM points ORDER BY md5(id::text)) p') = print AS shuffled,
	fingerprint(learner, label, '(SELECT * FROM points ORDER BY x) p') = print AS sorted
FROM serial_prints ORDER BY 1, 2;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT learner, label, is_parallel(learner), fingerprint(learner, label, 'points') = print AS same
FROM serial_prints ORDER BY 1, 2;
SET max_parallel_workers_per_gather = 4;
SELECT bool_and(fingerprint(learner, label, 'points') = print) AS same FROM serial_prints;
SET enable_hashagg = off;
SELECT bool_and(fingerprint(learner, label, 'points') = print) AS same FROM serial_prints;
RESET enable_hashagg;

-- ensemble, too
SELECT count(DISTINCT e) AS prints FROM (
	SELECT md5((SELECT privpred.ensemble(m)::text FROM
		(SELECT privpred.linear(cluster, x) m FROM points GROUP BY id % 5 ORDER BY md5(seed::text || (id % 5)::text)) s)) e
	FROM generate_series(1, 5) seed) prints;
RESET max_parallel_workers_per_gather;

-- minus zero is zero
SELECT privpred.logistic(l, ARRAY[x])::text = privpred.logistic(l, ARRAY[CASE WHEN x = 0 THEN '-0' ELSE x END])::text AS same
FROM (VALUES ('a', 0::float8), ('b', 1), ('a', 0), ('b', 0.5)) v(l, x);

-- small and large features share one state exactly
SELECT privpred.linear(l, ARRAY[x, 1 - x] ORDER BY x)::text = privpred.linear(l, ARRAY[x, 1 - x] ORDER BY x DESC)::text AS same
FROM (SELECT (i % 2)::text l, CASE WHEN i % 50 = 0 THEN 1000 + i / 7.0 ELSE i / 1000.0 END::float8 x FROM generate_series(1, 700) i) s;

----------------------------------------------------------------------
-- labels
----------------------------------------------------------------------
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN grade AS int CHECK (VALUE > 0);
CREATE DOMAIN mood_domain AS mood;
SELECT
	privpred.votes(privpred.centroid(i > 5, ARRAY[i]), '{9}') AS bool,
	privpred.votes(privpred.centroid((9 + i / 6)::int2, ARRAY[i]), '{9}') AS int2,
	privpred.votes(privpred.centroid((9 + i / 6)::int4, ARRAY[i]), '{9}') AS int4,
	privpred.votes(privpred.centroid((9 + i / 6)::int8, ARRAY[i]), '{9}') AS int8,
	privpred.votes(privpred.centroid((9 + i / 6)::grade, ARRAY[i]), '{9}') AS domain
FROM generate_series(1, 10) i;
SELECT
	privpred.votes(privpred.centroid(l::text, ARRAY[i]), '{9}') AS text,
	privpred.votes(privpred.centroid(l::varchar(9), ARRAY[i]), '{9}') AS varchar,
	privpred.votes(privpred.centroid(l::char(9), ARRAY[i]), '{9}') AS bpchar,
	privpred.votes(privpred.centroid(l::name, ARRAY[i]), '{9}') AS name,
	privpred.votes(privpred.centroid(l::mood, ARRAY[i]), '{9}') AS enum,
	privpred.votes(privpred.centroid(l::mood::mood_domain, ARRAY[i]), '{9}') AS enum_domain
FROM (SELECT i, CASE WHEN i > 5 THEN 'happy' ELSE 'sad' END l FROM generate_series(1, 10) i) s;
SELECT raises($$SELECT privpred.centroid(1.5::float8, '{1}')$$);
SELECT raises($$SELECT privpred.centroid(now(), '{1}')$$);

-- collected classes are sorted, numbers by value; many classes
SELECT (SELECT string_agg(convert_from(substr(b, 29 + 5 * i, 1), 'UTF8'), '' ORDER BY i) FROM generate_series(0, 2) i) AS classes
FROM (SELECT privpred.predictor_send(privpred.centroid(l, ARRAY[1.0])) b FROM (VALUES ('c'), ('a'), ('b')) v(l)) s;
SELECT (SELECT count(*) FROM jsonb_object_keys(privpred.votes(p, '{0}'))) AS classes, privpred.predict(p, '{77.4}') AS predicted
FROM (SELECT privpred.centroid(i % 500, ARRAY[i % 500]) p FROM generate_series(1, 2000) i) s;
SELECT raises('SELECT privpred.centroid(i, ARRAY[i]) FROM generate_series(1, 1001) i');

-- declared classes: other labels and nulls are left out
SELECT privpred.logistic(l, ARRAY[x], '{"classes": ["yes", "no"]}')::text = privpred.logistic(l, ARRAY[x], '{"classes": ["yes", "no"]}') FILTER (WHERE l IN ('yes', 'no'))::text AS same
FROM (SELECT (ARRAY['yes', 'no', 'maybe', NULL])[i % 4 + 1] l, i % 4 + (i % 10) / 10.0 x FROM generate_series(1, 100) i) s;

----------------------------------------------------------------------
-- rows of one class vote it, no rows and what cannot be fitted vote the default class
----------------------------------------------------------------------
SELECT privpred.votes(privpred.logistic('yes'::text, ARRAY[i], '{"classes": ["no", "yes"]}'), '{1}') AS one_class,
	privpred.votes(privpred.logistic(NULL::text, ARRAY[i], '{"classes": ["no", "yes"], "default": "yes"}'), '{1}') AS default_given,
	privpred.votes(privpred.logistic(NULL::text, ARRAY[i], '{"classes": ["no", "yes"]}'), '{1}') AS no_labels,
	privpred.votes(privpred.stump(i % 2 = 0, '{7,7}'), '{1,2}') AS equal_rows,
	privpred.votes(privpred.linear('a'::text, ARRAY[i], '{"default": "z"}'), '{1}') AS default_unseen,
	privpred.linear(NULL::text, ARRAY[i]) IS NULL AS nothing
FROM generate_series(1, 3) i;
SELECT privpred.logistic(positive, x) IS NULL AS empty FROM points WHERE false;
-- one of ten classes
SELECT privpred.predict(m, '{0.5}') AS vote, count(*) AS learners FROM (
	SELECT unnest(ARRAY[privpred.logistic(7, ARRAY[i], o), privpred.svm(7, ARRAY[i], o), privpred.linear(7, ARRAY[i], o), privpred.naive_bayes(7, ARRAY[i], o),
		privpred.centroid(7, ARRAY[i], o), privpred.stump(7, ARRAY[i], o), privpred.knn(7, ARRAY[i], o), privpred.tree(7, ARRAY[i], o)]) AS m
	FROM generate_series(1, 3) i, (SELECT '{"classes": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "default": 3}'::jsonb AS o) s) s GROUP BY 1;

-- nor can features beyond all reason, on which the solver would never end
SELECT privpred.votes(privpred.logistic(i % 2, ARRAY[i * 1e300 / 10, i]), '{1,1}') AS logistic, privpred.votes(privpred.svm(i % 2, ARRAY[i * -1e300 / 10, i]), '{1,1}') AS svm FROM generate_series(1, 10) i;

-- a class that a teacher never saw never wins
CREATE TABLE opts AS SELECT '{"classes": [0, 1, 2]}'::jsonb AS o;
SELECT learner, max((SELECT privpred.votes(m, ARRAY[i / 10.0, j / 10.0, 0]) ->> '2')) AS votes FROM (
	SELECT 'logistic' learner, privpred.logistic(cluster, x, o) m FROM points, opts WHERE cluster < 2
	UNION ALL SELECT 'svm', privpred.svm(cluster, x, o) FROM points, opts WHERE cluster < 2
	UNION ALL SELECT 'linear', privpred.linear(cluster, x, o) FROM points, opts WHERE cluster < 2
	UNION ALL SELECT 'naive_bayes', privpred.naive_bayes(cluster, x, o) FROM points, opts WHERE cluster < 2
	UNION ALL SELECT 'centroid', privpred.centroid(cluster, x, o) FROM points, opts WHERE cluster < 2
	UNION ALL SELECT 'stump', privpred.stump(cluster, x, o) FROM points, opts WHERE cluster < 2
	UNION ALL SELECT 'knn', privpred.knn(cluster, x, o) FROM points, opts WHERE cluster < 2) s,
	generate_series(-20, 20, 5) i, generate_series(-20, 20, 5) j
GROUP BY 1 ORDER BY 1;

----------------------------------------------------------------------
-- bad input
----------------------------------------------------------------------
SELECT l, f, raises(format('SELECT privpred.%I(true, %s)', l, f))
FROM unnest(ARRAY['logistic', 'linear']) l,
	unnest(ARRAY['NULL', $$'{1,NULL}'$$, $$'{1,NaN}'$$, $$'{Infinity}'$$, $$'{-Infinity}'$$, $$'{}'$$, $$'{{1},{2}}'$$,
				 'array_fill(1::float8, ARRAY[16385])', $$'{40000}'$$]) f
ORDER BY 1, 2;
SELECT raises($$SELECT privpred.svm(true, CASE WHEN i = 1 THEN '{1}' ELSE '{1,2}' END::float8[]) FROM generate_series(1, 2) i$$);
SELECT o, raises(format('SELECT privpred.logistic(true, ''{1}'', %L)', o))
FROM unnest(ARRAY['[]', '1', '{"costs": 1}', '{"ridge": 1}', '{"": 1}', '{"cost": "1"}', '{"cost": 0}', '{"cost": -1}', '{"cost": 1e-320}', '{"cost": 1e400}',
	'{"tolerance": null}', '{"classes": "a"}', '{"classes": ["a"]}', '{"classes": []}', '{"classes": ["a", "a"]}', '{"classes": ["a", null]}', '{"classes": ["a", ["b"]]}',
	'{"classes": ["a", "b"], "default": "c"}', '{"default": {}}']) o;
SELECT raises($$SELECT privpred.ensemble(p) FROM (SELECT privpred.centroid(i, '{1}') p FROM generate_series(1, 2) i GROUP BY i) s$$);
SELECT raises($$SELECT privpred.predict(privpred.centroid(i, '{1}'), '{1,2}') FROM generate_series(1, 2) i$$);
SELECT t, raises(format('SELECT %L::privpred.predictor', t))
FROM unnest(ARRAY['', 'x', '\x', '\x0', '\xzz', '\x50505244', '\x5050524402000000020000000100000001000000000000000100000061010000006201000000040000000000000000',
	'\x5050524401000000020000000100000001000000000000000100000061010000006101000000040000000000000000',
	'\x50505244010000000200000001000000010000000000000001000000610100000062010000000400000002000000',
	'\x505052440100000002000000010000000100000000000000010000006101000000620100000004000000']) t;

-- memory is priced before it is taken
SET maintenance_work_mem = '1MB';
SELECT raises('SELECT privpred.logistic(i % 2 = 0, array_fill(i::float8, ARRAY[100])) FROM generate_series(1, 10000) i');
SELECT raises('SELECT privpred.linear(i % 2 = 0, array_fill(1::float8, ARRAY[1000])) FROM generate_series(1, 2) i');
SELECT raises('SELECT privpred.centroid(i % 2 = 0, array_fill(i::float8, ARRAY[100])) FROM generate_series(1, 10000) i');
RESET maintenance_work_mem;

-- the solver can be cancelled: this takes it a thousand steps
CREATE TABLE hard AS
SELECT sin(i / 300.0) > 0 AS label,
	(SELECT array_agg(sin(i * j / 300.0) * 0.9 ^ (j % 60) + (hashint4(i * 1000 + j) & 1023) / 1e5) FROM generate_series(1, 100) j WHERE i > 0)::float8[] AS x
FROM generate_series(1, 3000) i;
SET maintenance_work_mem = '256MB';
SET statement_timeout = '600ms';
SELECT privpred.svm(label, x, '{"tolerance": 1e-12, "cost": 1e9}') IS NULL FROM hard, generate_series(1, 6);
RESET statement_timeout;
RESET maintenance_work_mem;

----------------------------------------------------------------------
-- the user's own aggregate: one nearest neighbour in PL/pgSQL
----------------------------------------------------------------------
CREATE TYPE neighbour AS (label text, x float8[]);
CREATE FUNCTION remember(known neighbour[], label text, x float8[]) RETURNS neighbour[] LANGUAGE plpgsql AS $$
BEGIN
	RETURN known || ROW(label, x)::neighbour;
END $$;
CREATE AGGREGATE remember_all(text, float8[]) (SFUNC = remember, STYPE = neighbour[], INITCOND = '{}');
CREATE FUNCTION nearest(known neighbour[], x float8[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RAISE INFO 'the client must not see this';
	RETURN (SELECT k.label FROM unnest(known) k
			ORDER BY (SELECT sum((a - b) ^ 2) FROM unnest(k.x, nearest.x) u(a, b)) LIMIT 1);
END $$;
CREATE TABLE own AS
SELECT privpred.sql_learner(cluster, x, '{"train": "learners_test.remember_all", "predict": "learners_test.nearest", "classes": [0, 1, 2]}') AS p
FROM points WHERE id <= 200;
SELECT round(avg((privpred.predict((SELECT p FROM own), x) = cluster::text)::int), 1) AS accuracy FROM points WHERE id BETWEEN 201 AND 300;
SELECT privpred.sql_learner(cluster, x, '{"train": "learners_test.remember_all", "predict": "learners_test.nearest", "classes": [0, 1, 2]}' ORDER BY id DESC)::text = (SELECT p::text FROM own) AS same
FROM points WHERE id <= 200;

-- labels keep their type if the aggregate wants it; polymorphic functions; built-in values
CREATE FUNCTION add_up(total float8, label int, x float8[]) RETURNS float8 LANGUAGE sql AS 'SELECT total + label';
CREATE AGGREGATE add_labels(int, float8[]) (SFUNC = add_up, STYPE = float8, INITCOND = '0');
CREATE FUNCTION any_predict(value anyelement, x float8[]) RETURNS boolean LANGUAGE sql AS 'SELECT value::text = ''30''';
SELECT privpred.votes(privpred.sql_learner(i % 2 + 1, ARRAY[i], '{"train": "learners_test.add_labels", "predict": "learners_test.any_predict", "classes": [1, 2]}'), '{1}') AS not_a_class,
	privpred.votes(privpred.sql_learner((i % 2 + 1)::int, ARRAY[i], '{"train": "learners_test.add_labels", "predict": "learners_test.any_predict", "default": true}'), '{1}') AS predicted
FROM generate_series(1, 20) i;

-- errors are votes for the default class
CREATE FUNCTION fails(known neighbour[], x float8[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF x[1] > 5 THEN RAISE WARNING 'warned'; RAISE EXCEPTION 'failed'; END IF;
	RETURN CASE WHEN x[1] > 4 THEN 'none' WHEN x[1] > 3 THEN NULL ELSE '2' END;
END $$;
CREATE FUNCTION remember_badly(known neighbour[], label text, x float8[]) RETURNS neighbour[] LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'failed';
END $$;
CREATE AGGREGATE remember_nothing(text, float8[]) (SFUNC = remember_badly, STYPE = neighbour[], INITCOND = '{}');
SELECT f, privpred.votes(bad_predict, ARRAY[f, 0, 0]) AS bad_predict, privpred.votes(bad_train, ARRAY[f, 0, 0]) AS bad_train
FROM (SELECT privpred.sql_learner(cluster, x, '{"train": "learners_test.remember_all", "predict": "learners_test.fails", "classes": [0, 1, 2], "default": 1}') AS bad_predict,
		privpred.sql_learner(cluster, x, '{"train": "learners_test.remember_nothing", "predict": "learners_test.fails", "classes": [0, 1, 2], "default": 1}') AS bad_train
	FROM points WHERE id < 10) s, unnest('{1,3.5,4.5,6}'::float8[]) f;
-- but nothing is asked about rows of one class
SELECT privpred.votes(privpred.sql_learner(2, x, '{"train": "learners_test.remember_nothing", "predict": "learners_test.fails", "classes": [0, 1, 2], "default": 1}'), '{6,0,0}') AS one_class
FROM points WHERE id < 10;

SELECT o, raises(format('SELECT privpred.sql_learner(1, ''{1}'', %L)', o))
FROM unnest(ARRAY['{}', '{"train": "a.b"}', '{"train": "remember_all", "predict": "learners_test.nearest"}', '{"train": "learners_test.absent", "predict": "learners_test.nearest"}',
	'{"train": "learners_test.nearest", "predict": "learners_test.nearest"}', '{"train": "learners_test.remember_all", "predict": "learners_test.absent"}',
	'{"train": "learners_test.remember_all", "predict": "learners_test.add_up"}']) o;

----------------------------------------------------------------------
-- teacher_of: these numbers must never change
----------------------------------------------------------------------
\set salt '\'\\x000102030405060708090a0b0c0d0e0f\'::bytea'
-- the test vector of the SipHash paper, 0xa129ca6149be45e5
SELECT privpred.teacher_of('\x000102030405060708090a0b0c0d0e'::bytea, :salt, 100000) = 79557 AS siphash;
CREATE TYPE pair AS (a int, b text);
SELECT kind, teacher FROM (VALUES
	('int2', privpred.teacher_of(42::int2, :salt, 100000)),
	('int4', privpred.teacher_of(42, :salt, 100000)),
	('int8', privpred.teacher_of(42::int8, :salt, 100000)),
	('int domain', privpred.teacher_of(42::grade, :salt, 100000)),
	('negative', privpred.teacher_of(-42, :salt, 100000)),
	('text', privpred.teacher_of('forty-two'::text, :salt, 100000)),
	('varchar', privpred.teacher_of('forty-two'::varchar(20), :salt, 100000)),
	('bpchar', privpred.teacher_of('forty-two'::char(20), :salt, 100000)),
	('name', privpred.teacher_of('forty-two'::name, :salt, 100000)),
	('bytea', privpred.teacher_of('forty-two'::bytea, :salt, 100000)),
	('uuid', privpred.teacher_of('00000000-0000-0000-0000-00000000002a'::uuid, :salt, 100000)),
	('date', privpred.teacher_of('2000-02-12'::date, :salt, 100000)),
	('timestamp', privpred.teacher_of('2000-02-12 00:00'::timestamp, :salt, 100000)),
	('timestamptz', privpred.teacher_of('2000-02-12 00:00+00'::timestamptz, :salt, 100000)),
	('numeric', privpred.teacher_of(42.5, :salt, 100000)),
	('numeric, zeros', privpred.teacher_of(42.5000, :salt, 100000)),
	('enum', privpred.teacher_of('happy'::mood, :salt, 100000)),
	('record', privpred.teacher_of(ROW(42, 'forty-two'::text), :salt, 100000)),
	('composite', privpred.teacher_of(ROW(42, 'forty-two')::pair, :salt, 100000)),
	('other record', privpred.teacher_of(ROW(42::int8, 'forty-tw'::text, 'o'::text), :salt, 100000)),
	('null field', privpred.teacher_of(ROW(42, NULL)::pair, :salt, 100000))) v(kind, teacher);
SELECT privpred.teacher_of(NULL::int, :salt, 10) IS NULL AS null_unit;
SELECT min(n) > 850 AND max(n) < 1150 AND count(*) = 10 AS even
FROM (SELECT privpred.teacher_of(i, :salt, 10) t, count(*) n FROM generate_series(1, 10000) i GROUP BY 1) s;
SELECT k, raises(format('SELECT privpred.teacher_of(1, %L, %s)', :salt, k)) FROM unnest(ARRAY[0, -1, 100001, 1000000000]) k;
SELECT raises($$SELECT privpred.teacher_of(1, '\x00', 10)$$);
SELECT t, raises(format('SELECT privpred.teacher_of(%s, %L, 10)', t, :salt))
FROM unnest(ARRAY['1.5::float8', 'true', 'ARRAY[1]', 'ROW(1, 2::float8)', $$'{}'::jsonb$$, $$'1 day'::interval$$]) t;

----------------------------------------------------------------------
-- many members at a time vote as they do one by one
----------------------------------------------------------------------
CREATE TABLE member_rows AS
SELECT k, (hashint4(i + 1000 * k) & 1023) / 1023.0::float8 AS a, (hashint4(-i - 1000 * k) & 1023) / 1023.0::float8 AS b
FROM generate_series(1, 37) k, generate_series(1, 30) i;
CREATE TABLE members AS
SELECT k, privpred.linear(a + b > 1, ARRAY[a, b]) AS linear_2, privpred.linear(floor(1.5 * (a + b))::int, ARRAY[a, b]) AS linear_3,
	privpred.naive_bayes(a > b, ARRAY[a, b]) AS gaussian_2, privpred.naive_bayes(floor(1.5 * (a + b))::int, ARRAY[a, b]) AS gaussian_3
FROM member_rows WHERE floor(1.5 * (a + b)) < 3 GROUP BY k;
CREATE TABLE member_questions AS SELECT ARRAY[a / 20.0, b / 20.0]::float8[] AS q FROM generate_series(-2, 22) a, generate_series(-2, 22) b;
SELECT kind, count(*) AS votes_of_classes, count(*) FILTER (WHERE votes IS DISTINCT FROM one_by_one) AS different FROM (
	SELECT kind, q, class, votes, (SELECT count(*) FROM members m, LATERAL (VALUES ('linear_2', m.linear_2), ('linear_3', m.linear_3),
			('gaussian_2', m.gaussian_2), ('gaussian_3', m.gaussian_3)) one(kind, p)
		WHERE one.kind = s.kind AND privpred.predict(p, q) = class) AS one_by_one
	FROM (SELECT kind, q, v.key AS class, v.value::bigint AS votes
		FROM (SELECT privpred.ensemble(linear_2) l2, privpred.ensemble(linear_3) l3, privpred.ensemble(gaussian_2) g2,
				privpred.ensemble(gaussian_3) g3 FROM members) e,
			LATERAL (VALUES ('linear_2', l2), ('linear_3', l3), ('gaussian_2', g2), ('gaussian_3', g3)) of(kind, ensemble),
			member_questions, jsonb_each_text(privpred.votes(of.ensemble, q)) v) s) t
GROUP BY kind ORDER BY kind;

RESET search_path;
SET client_min_messages = error;
DROP SCHEMA learners_test CASCADE;
