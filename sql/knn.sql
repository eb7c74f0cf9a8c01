-- Learner knn: nearest neighbours within a chunk
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE SCHEMA knn_test;
SET search_path = knn_test, pg_catalog;
CREATE FUNCTION raises(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE points AS
SELECT i AS id, i % 5 AS teacher, i % 3 AS cluster, i % 3 > 0 AS positive,
	ARRAY[(i % 3 = 0)::int * 0.5 + (hashint4(i) & 7) / 8.0 * 0.6, (i % 3 = 1)::int * 0.5 + (hashint4(i + 7777) & 7) / 8.0 * 0.6, (i % 7 = 0)::int]::float8[] AS x
FROM generate_series(1, 600) i;
ANALYZE points;
CREATE TABLE question AS SELECT ARRAY[i / 10.0, j / 10.0, (i + j) % 2]::float8[] AS x FROM generate_series(-2, 12, 2) i, generate_series(-2, 12, 2) j;

-- the same in SQL: rows at one distance by class, the class that most neighbours have, ties to the lowest
CREATE FUNCTION nearest(q float8[], k int, chunk int) RETURNS int LANGUAGE sql AS $$
	SELECT cluster FROM (SELECT cluster FROM points WHERE teacher = chunk
		ORDER BY 0 + (q[1] - x[1]) * (q[1] - x[1]) + (q[2] - x[2]) * (q[2] - x[2]) + (q[3] - x[3]) * (q[3] - x[3]), cluster LIMIT k) s
	GROUP BY cluster ORDER BY count(*) DESC, cluster LIMIT 1 $$;
SELECT k, count(*) AS answers, count(*) FILTER (WHERE privpred.predict(m, x) = nearest(x, k, teacher)::text) AS the_same FROM
	(SELECT k, teacher, privpred.knn(cluster, x, jsonb_build_object('k', k, 'prototypes', 200)) AS m FROM points, unnest('{1,2,5,100}'::int[]) k GROUP BY 1, 2) s, question
GROUP BY 1 ORDER BY 1;
-- five neighbours, or all rows if there are fewer
SELECT privpred.predict(privpred.knn(y, ARRAY[x]), '{0}') AS five, privpred.predict(privpred.knn(y, ARRAY[x], '{"k": 6}'), '{0}') AS six,
	privpred.predict(privpred.knn(y, ARRAY[x], '{"k": 100}'), '{0}') AS all_rows
FROM (VALUES ('b', 1), ('b', 2), ('c', 3), ('b', 4), ('a', 5), ('c', 6), ('c', 7), ('c', 8)) s(y, x);

-- rows beyond the declared number are left out by their content: any order, any plan, any partition
SELECT bool_and(octet_length(m::text) = octet_length(o::text)) AS one_size, count(DISTINCT octet_length(m::text)) AS sizes, bool_and(m::text = s::text) AS any_order, bool_and(m::text = p::text) AS any_node FROM
	(SELECT teacher, privpred.knn(cluster, x, '{"prototypes": 20, "classes": [0, 1, 2]}' ORDER BY id) m, privpred.knn(cluster, x, '{"prototypes": 20, "classes": [0, 1, 2]}' ORDER BY md5(id::text)) s,
		privpred.knn(cluster, x, '{"prototypes": 20, "classes": [0, 1, 2]}') FILTER (WHERE id <= 30) o FROM points GROUP BY 1) whole JOIN
	(SELECT teacher, privpred.finish_state(privpred.merge_states(state)) p FROM
		(SELECT teacher, privpred.partial_state(cluster, x, '{"learner": "knn", "prototypes": 20, "classes": [0, 1, 2]}') AS state FROM points GROUP BY teacher, id % 3) s GROUP BY 1) parts USING (teacher);
SELECT m::text::privpred.predictor::text = m::text AS again, privpred.explain(m) FROM (SELECT privpred.knn(cluster, x, '{"prototypes": 20}') AS m FROM points) s;
SELECT privpred.votes(privpred.ensemble(m), '{0,0.9,0}') FROM (SELECT privpred.knn(cluster, x) AS m FROM points GROUP BY teacher) s;
-- numbers beyond all reason
SELECT privpred.predict(privpred.knn(i % 2, ARRAY[i * 1e307, -1e308]), '{-1e308,1e308}') FROM generate_series(1, 10) i;

-- refusals
SELECT o, raises(format('SELECT privpred.knn(cluster, x, %L) FROM points', o))
FROM unnest(ARRAY['{"k": 0}', '{"k": 101}', '{"k": 2.5}', '{"k": "5"}', '{"prototypes": 0}', '{"prototypes": 10001}', '{"cost": 1}']) o;
SELECT raises('SELECT privpred.knn(true, ARRAY[1, NULL])');
SELECT raises($$SELECT privpred.predict(privpred.knn(i % 2 = 0, ARRAY[i]), '{NULL}') FROM generate_series(1, 9) i$$);
SELECT raises(format('SELECT %L::privpred.predictor', overlay(m::text PLACING 'ff' FROM 2 + 2 * 58 + 1))) FROM (SELECT privpred.knn(positive, x) AS m FROM points) s;

-- models: how large they are is declared, not learnt
ALTER TABLE points ADD PRIMARY KEY (id), ADD COLUMN v float8;
UPDATE points SET v = x[1];
SELECT privpred.protect('points');
SELECT privpred.create_model('near', 'points', label => 'positive', learner => 'knn', teachers => 9, epsilon => 100,
	features => '{"v": {"min": 0, "max": 1}}', options => '{"k": 3, "prototypes": 10}') -> 'learner' AS learner;
SELECT octet_length(predictor::text) AS size FROM privpred.model WHERE name = 'near';
-- a student, and its form for others
CREATE TABLE public_rows AS SELECT i / 20.0 AS v FROM generate_series(1, 20) i;
SELECT privpred.distill('student', 'near', 'public_rows', 'knn') ->> 'labels' AS labels;
SELECT m ->> 'kind' AS kind, m ->> 'k' AS k, jsonb_array_length(m -> 'rows') AS rows, m -> 'rows' -> 0 ? 'class' AS class, jsonb_array_length(m -> 'rows' -> 0 -> 'x') AS width
FROM (SELECT privpred.export_model('student')::jsonb -> 'predictor' -> 'members' -> 0 AS m) s;
-- fewer rows than prototypes
DELETE FROM points WHERE id > 20;
SELECT privpred.retrain('near') ->> 'version' AS version;
SELECT octet_length(predictor::text) AS size FROM privpred.model WHERE name = 'near';
SELECT privpred.drop_model('student'), privpred.drop_model('near'), privpred.unprotect('points');
DROP SCHEMA knn_test CASCADE;
