-- soft of more than two classes: one stream, and a score for each class.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE ROLE sc_ana;
CREATE TABLE sc_people (id int PRIMARY KEY, x float8 NOT NULL, z float8 NOT NULL, y text);
-- three places with a class each; in the other table one more, (1, 1), where teachers are for a or b, by chance, and never for c
INSERT INTO sc_people SELECT i, (i % 3 = 1)::int, (i % 3 = 2)::int, (ARRAY['a', 'b', 'c'])[1 + i % 3] FROM generate_series(1, 7200) i;
CREATE TABLE sc_tied (LIKE sc_people INCLUDING ALL);
INSERT INTO sc_tied SELECT * FROM sc_people UNION ALL SELECT i, 1, 1, CASE WHEN hashint4(i) % 2 = 0 THEN 'a' ELSE 'b' END FROM generate_series(7201, 13200) i;
SELECT privpred.protect(t) FROM unnest('{sc_people,sc_tied}'::regclass[]) t;
SELECT privpred.grant_budget('sc_ana', t, epsilon => 100000, delta => 1e-6) IS NOT NULL AS granted FROM unnest('{sc_people,sc_tied}'::regclass[]) t;
CREATE FUNCTION sc_step(state jsonb, label text, x float8[]) RETURNS jsonb IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS
	$$ SELECT coalesce(state, '{}') || jsonb_build_object(x::text, label) $$;
CREATE AGGREGATE sc_train(text, float8[]) (SFUNC = sc_step, STYPE = jsonb);
CREATE FUNCTION sc_predict(state jsonb, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT state ->> x::text';
CREATE FUNCTION sc_make(name text, learner text, options jsonb, of text DEFAULT 'sc_people') RETURNS jsonb LANGUAGE sql AS $$
	SELECT privpred.create_model(name, of::regclass, label => 'y', classes => '{a,b,c}', features => '{"x": {"min": 0, "max": 1}, "z": {"min": 0, "max": 1}}',
		mechanism => 'soft', learner => learner, teachers => 300, options => '{"precision": 0.5}' || options) $$;

-- every kind of member: sums, neighbours, votes, one's own function; in turns, so that no score is another's
CREATE TABLE sc_learner AS SELECT * FROM (VALUES ('logistic', '{}'::jsonb), ('svm', '{}'), ('linear', '{}'), ('centroid', '{}'), ('naive_bayes', '{}'), ('knn', '{"k": 1}'),
	('stump', '{}'), ('tree', '{"min_rows": 1}'), ('sql', '{"train": "public.sc_train", "predict": "public.sc_predict"}')) v(learner, options);
SELECT learner, sc_make('sc_' || learner, learner, options) ->> 'mechanism' AS mechanism FROM sc_learner;
SELECT sc_make('sc_tied', 'tree', '{"min_rows": 1}', 'sc_tied') ->> 'mechanism' AS mechanism;
SET ROLE sc_ana;
SELECT count(privpred.open_stream(name, 5, 1.5, 1e-18)) AS opened FROM privpred.models WHERE name LIKE 'sc\_%';
RESET ROLE;
GRANT SELECT ON sc_learner TO sc_ana;
SET ROLE sc_ana;
-- (two places are one to a stump, and centroids are not far enough apart for a share of one half)
SELECT place, learner, array_agg(private_score('sc_' || learner, ARRAY[x, z], NULL, class) ORDER BY class) AS scores
FROM (VALUES ('a', 0.0::float8, 0.0::float8), ('b', 1, 0), ('c', 0, 1)) p(place, x, z), sc_learner, unnest('{a,b,c}'::text[]) class WHERE learner NOT IN ('stump', 'centroid') GROUP BY 1, 2 ORDER BY 2, 1;
SELECT private_score('sc_stump', ARRAY[1, 0], NULL, 'c') AS stump, private_score('sc_centroid', ARRAY[1, 0], NULL, 'c') AS centroid;

-- all forms; scores need not add up to 1
SELECT private_score('sc_tree', ARRAY[1, 0], 0.1, 'b'), private_score('sc_tree', '{"x": 1, "z": 0}'::jsonb, 0.1, 'b'), private_score('sc_tree', '{"x": 1, "z": 0}'::json, 0.1, 'b'),
	private_score('sc_tree', '{1,0}', 0.1, 'b'), private_score('sc_tree', r, 0.1, 'b'), privpred.private_score('sc_tree', ARRAY[1, 0]::numeric[], "precision" => NULL, class => 'b') FROM (SELECT 1 AS x, 0 AS z) r;
SELECT sum(private_score('sc_tree', ARRAY[1, 0], 0.1, class)) AS sum FROM unnest('{a,b,c}'::text[]) class;
SELECT DISTINCT unstable_used FROM privpred.streams;

-- where teachers are divided between a and b, two tests fail for each of these; nobody is for c, which costs nothing
SET privpred.repeat_memory = '1MB';
SELECT private_score('sc_tied', ARRAY[1, 1], NULL, 'c') AS c, private_score('sc_tied', ARRAY[1, 1], NULL, 'a') AS a, private_score('sc_tied', ARRAY[1, 1], NULL, 'b') AS b;
SELECT unstable_used, status FROM privpred.streams WHERE model = 'sc_tied';
-- a repeat costs nothing, and is the same class's
SELECT private_score('sc_tied', ARRAY[1, 1], NULL, 'c') AS c, private_score('sc_tied', ARRAY[1, 1], NULL, 'a') AS a;
SELECT private_score('sc_tied', ARRAY[0, 1], NULL, class) AS score, class FROM unnest('{a,c,a,c,b}'::text[]) class;
SELECT unstable_used, status FROM privpred.streams WHERE model = 'sc_tied';
SET privpred.repeat_memory = 0;
-- the fifth is the last, whichever class it is of
SELECT private_score('sc_tied', ARRAY[1, 0.99], 0.5, 'b') AS b;
SELECT unstable_used, status FROM privpred.streams WHERE model = 'sc_tied';
SELECT private_score('sc_tied', ARRAY[0, 0.1], 0.5, 'c');

-- what is refused costs nothing
SELECT private_score('sc_knn', ARRAY[0, 0]);
SELECT private_score('sc_knn', ARRAY[0, 0], 0.5);
SELECT private_score('sc_knn', ARRAY[0, 0], 0.5, NULL);
SELECT private_score('sc_knn', ARRAY[0, 0], 0.5, 'd');
SELECT private_score('sc_knn', ARRAY[0, 0], 0.3, 'a');
SELECT private_predict('sc_knn', ARRAY[0, 0]);
SELECT private_score(NULL, ARRAY[0, 0], 0.5, 'd'), private_score('sc_knn', NULL::int[], 0.5, 'd');
CREATE TEMP TABLE sc_public AS SELECT 0.5 AS x, 0.5 AS z;
SELECT privpred.distill('sc_student', 'sc_knn', 'sc_public', 'linear');
RESET ROLE;
SELECT privpred.evaluate('sc_knn', 'sc_people');
SELECT privpred.create_model('sc_vote', 'sc_people', label => 'y', classes => '{a,b,c}', features => '["x"]', mechanism => 'vote') ->> 'mechanism' AS mechanism;
SELECT private_score('sc_vote', ARRAY[0], NULL, 'a');
SELECT privpred.create_model('sc_two', 'sc_people', label => 'y', classes => '{a,c}', features => '["x", "z"]', mechanism => 'soft', learner => 'logistic', teachers => 300, options => '{"precision": 0.5}') ->> 'mechanism' AS mechanism;
SELECT privpred.create_model('sc_bins', 'sc_people', label => 'id', features => '["x"]', mechanism => 'soft', teachers => 10, options => '{"bins": [0, 100, 9000]}') ->> 'mechanism' AS mechanism;
SELECT private_score('sc_bins', ARRAY[0], NULL, '[0,100)');

-- of two classes either can be named; the second is what is meant without a name
SET ROLE sc_ana;
SELECT privpred.open_stream('sc_two', 5, 2, 1e-18) > 0 AS opened;
SELECT private_score('sc_two', ARRAY[0, 1]) AS second, private_score('sc_two', ARRAY[0, 1], NULL, 'c') AS c, private_score('sc_two', ARRAY[0, 1], NULL, 'a') AS a;

-- a run of questions about two classes is audited as one run
RESET ROLE;
SELECT count(*) AS cases, count(*) FILTER (WHERE pair ~ '^distances') AS runs, count(*) FILTER (WHERE verdict = 'violated') AS violated FROM privpred.audit('sc_tree', draws => 2000);

DROP TABLE sc_people, sc_tied CASCADE;
DROP TABLE sc_learner;
DROP FUNCTION sc_make, sc_predict;
DROP AGGREGATE sc_train(text, float8[]);
DROP FUNCTION sc_step;
DROP OWNED BY sc_ana;
DROP ROLE sc_ana;
