-- Learners "boost" and "forest": trees grown by XGBoost.
CREATE SCHEMA boost;
SET search_path = boost, public;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
\set VERBOSITY terse

CREATE TABLE xor AS
  SELECT i, (i % 10) / 10.0 AS a, (i / 10 % 10) / 10.0 AS b, i % 37 = 0 AS odd FROM generate_series(0, 399) i;
ALTER TABLE xor ADD COLUMN y text;
UPDATE xor SET y = CASE WHEN ((a < 0.5) <> (b < 0.5)) <> odd THEN 'yes' ELSE 'no' END;

CREATE TABLE teacher AS
  SELECT privpred.boost(y, ARRAY[a, b]::float8[]) AS boosted,
		 privpred.forest(y, ARRAY[a, b]::float8[]) AS forest FROM xor;
SELECT count(*) FILTER (WHERE privpred.predict(boosted, ARRAY[a, b]) = y) >= 388 AS boost_learns,
	   count(*) FILTER (WHERE privpred.predict(forest, ARRAY[a, b]) = y) >= 380 AS forest_learns
  FROM xor, teacher;

-- Options: some decide about the size of what is stored, and nothing else does;
-- 61 bytes are around the trees.
SELECT options, octet_length(t::text) / 2 - 1 - 61 AS bytes
  FROM (SELECT options, privpred.boost(y, ARRAY[a, b]::float8[], options) AS t
		  FROM xor, (VALUES ('{}'::jsonb), ('{"rounds": 1}'), ('{"depth": 1}'), ('{"rounds": 2, "depth": 8}')) v(options)
		 GROUP BY options) s
 ORDER BY bytes;
SELECT count(DISTINCT t::text) AS all_different
  FROM (SELECT privpred.boost(y, ARRAY[a, b]::float8[], options) AS t
		  FROM xor, (VALUES ('{}'::jsonb), ('{"rate": 0.1}'), ('{"subsample": 0.5}'), ('{"columns": 0.5}')) v(options)
		 GROUP BY options) s;
SELECT privpred.boost(y, ARRAY[a]::float8[], '{"rounds": 1001}') FROM xor;
SELECT privpred.boost(y, ARRAY[a]::float8[], '{"rate": 0}') FROM xor;
SELECT privpred.boost(y, ARRAY[a]::float8[], '{"subsample": 1.5}') FROM xor;
SELECT privpred.boost(y, ARRAY[a]::float8[], '{"subsample": null}') FROM xor;
SELECT privpred.boost(y, ARRAY[a]::float8[], '{"trees": 3}') FROM xor;
SELECT privpred.forest(y, ARRAY[a]::float8[], '{"rate": 0.5}') FROM xor;

-- The result depends on the rows alone, whatever their order and whatever was
-- trained before; samples of rows and columns included.
SELECT count(DISTINCT p::text) FROM (
  SELECT privpred.boost(y, ARRAY[a, b]::float8[], '{"subsample": 0.5, "columns": 0.5}' ORDER BY i) AS p FROM xor
  UNION ALL SELECT privpred.boost(y, ARRAY[a, b]::float8[], '{"subsample": 0.5, "columns": 0.5}' ORDER BY i DESC) FROM xor
  UNION ALL SELECT privpred.boost(y, ARRAY[a, b]::float8[], '{"subsample": 0.5, "columns": 0.5}' ORDER BY md5(i::text)) FROM xor) s;
SELECT count(DISTINCT p::text) FROM (
  SELECT privpred.forest(y, ARRAY[a, b]::float8[] ORDER BY i) AS p FROM xor
  UNION ALL SELECT privpred.forest(y, ARRAY[a, b]::float8[] ORDER BY md5(i::text)) FROM xor
  UNION ALL SELECT forest FROM teacher) s;
-- the trees of a forest differ from one another
SELECT count(DISTINCT rules) > 40 AS trees_differ
  FROM teacher, regexp_split_to_table(privpred.explain(forest), 'tree \d+:') rules;

-- Many classes, one of them without a row
CREATE TABLE digits AS SELECT i, i % 10 / 10.0 AS a, i / 10 % 10 / 10.0 AS b, (i % 10) / 3 AS y FROM generate_series(0, 299) i;
SELECT count(*) FILTER (WHERE privpred.predict(t, ARRAY[a, b]) = y::text) AS boost_right,
	   count(*) FILTER (WHERE privpred.predict(f, ARRAY[a, b]) = y::text) > 280 AS forest_right,
	   count(*) FILTER (WHERE 'none' IN (privpred.predict(t, ARRAY[a, b]), privpred.predict(f, ARRAY[a, b]))) AS never
  FROM digits, (SELECT privpred.boost(y::text, ARRAY[a, b]::float8[], '{"classes": ["none", "3", "2", "1", "0"]}') AS t,
					   privpred.forest(y::text, ARRAY[a, b]::float8[], '{"columns": 1, "classes": ["none", "3", "2", "1", "0"]}') AS f FROM digits) s;

-- Total: rows all alike, few rows, numbers beyond the floats
SELECT privpred.predict(privpred.boost(y, ARRAY[1.0]), '{1}'), privpred.predict(privpred.forest(y, ARRAY[1.0]), '{1}')
  FROM (VALUES ('a'), ('b'), ('b')) v(y);
SELECT privpred.predict(privpred.boost(y, ARRAY[x]), '{1}') FROM (VALUES ('a', 1), ('b', 2)) v(y, x);
SELECT privpred.predict(privpred.boost(y, ARRAY[x]), '{-1e300}'), privpred.predict(privpred.boost(y, ARRAY[x]), '{1e300}')
  FROM (SELECT CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, (i % 2 - 0.5)::float8 * 1e300 FROM generate_series(1, 50) i) v(y, x);
SELECT privpred.predict(privpred.boost(y, ARRAY[x]::float8[]), '{NULL}') FROM (VALUES ('a', NULL), ('b', NULL), ('b', NULL)) v(y, x);

-- A missing feature has a direction: the one that fits.
CREATE TABLE gaps AS
  SELECT i, CASE WHEN i % 4 > 0 THEN i % 4 END AS x, CASE WHEN i % 4 IN (0, 3) THEN 'b' ELSE 'a' END AS y
	FROM generate_series(1, 80) i;
\pset format unaligned
\pset tuples_only
SELECT regexp_replace(privpred.explain(privpred.boost(y, ARRAY[x]::float8[], '{"rounds": 1, "depth": 1}'), '{x}'), '[0-9.]+', '?', 'g') FROM gaps;
SELECT regexp_replace(privpred.explain(privpred.boost(y, ARRAY[-x]::float8[], '{"rounds": 1, "depth": 1}'), '{x}'), '[0-9.]+', '?', 'g') FROM gaps;
\pset format aligned
\pset tuples_only
SELECT count(*) FILTER (WHERE privpred.predict(t, ARRAY[x]::float8[]) = y) FROM gaps, (SELECT privpred.boost(y, ARRAY[x]::float8[]) AS t FROM gaps) s;

-- A model, in one process or several
CREATE TABLE people (id int PRIMARY KEY, age int, ward text, ill boolean);
INSERT INTO people
  SELECT i, CASE WHEN i % 5 > 0 THEN i * 7 % 100 END, CASE WHEN i % 3 > 0 THEN chr(64 + i % 3) END, i % 3 = 0 OR i % 5 = 0
	FROM generate_series(1, 4000) i;
SELECT privpred.protect('people');
\set missing '{"age": {"min": 0, "max": 110, "null": "missing"}, "ward": {"levels": ["A", "B"], "null": "missing"}}'
SELECT privpred.create_model('gaps', 'people', label => 'ill', features => :'missing', learner => 'boost',
	   teachers => 11, epsilon => 5, options => '{"rounds": 5, "depth": 3}') ->> 'learner' AS learner;
SELECT rows, private_accuracy > 0.999 AS private, majority_accuracy FROM privpred.evaluate('gaps', 'people');
SELECT privpred.grant_budget(current_user::regrole, 'people', 100);
SELECT private_predict('gaps', '{NULL,1,0}'::float8[]), private_predict('gaps', '{"age": 44, "ward": "A"}'::jsonb);
-- memory is priced before it is taken
SET maintenance_work_mem = '1MB';
SELECT privpred.create_model('large', 'people', label => 'ill', features => :'missing', learner => 'boost',
	   teachers => 1, options => '{"rounds": 1000, "depth": 8}');
RESET maintenance_work_mem;
SELECT privpred.create_model('large', 'people', label => 'ill', features => :'missing', learner => 'boost',
	   teachers => 1000, options => '{"rounds": 1000, "depth": 8}');
SELECT privpred.drop_model('gaps');

-- a tie is the first declared class's of those that tie
SELECT classes, privpred.predict(privpred.boost(y, '{1}'::float8[], jsonb_build_object('classes', string_to_array(classes, ' '))), '{1}') AS boost,
	   privpred.predict(privpred.forest(y, '{1}'::float8[], jsonb_build_object('classes', string_to_array(classes, ' '))), '{1}') AS forest
  FROM (VALUES ('a'), ('b'), ('a'), ('b')) v(y), unnest('{a b,b a,c b a,c a b}'::text[]) WITH ORDINALITY o(classes, n) GROUP BY classes, n ORDER BY n;

-- one thread, and nothing of the library's on anybody's screen
SELECT count(*) FROM pg_ls_dir('/proc/' || pg_backend_pid() || '/task') t;

SET client_min_messages = warning;
DROP SCHEMA boost CASCADE;
