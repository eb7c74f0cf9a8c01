-- A teacher depends on its rows alone: not on their order, the plan, or the number of workers.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE TABLE rows_of (id int PRIMARY KEY, visit int, x float8, z float8, ward text, y text);
INSERT INTO rows_of SELECT i, i % 3, (i * 7919 % 1000) / 1000.0, (i * 104729 % 997) / 997.0, chr(65 + i % 4),
  CASE (i * 7919 % 1000) / 400 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END FROM generate_series(1, 6000) i;
ANALYZE rows_of;
SELECT privpred.protect('rows_of');
CREATE FUNCTION first_step(state text, label text, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT COALESCE(state, label)';
CREATE AGGREGATE first_train(text, float8[]) (SFUNC = first_step, STYPE = text);
CREATE FUNCTION first_predict(state text, x float8[]) RETURNS text IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT state';
CREATE TABLE learner (name text, options jsonb);
INSERT INTO learner SELECT unnest('{logistic,svm,linear,naive_bayes,centroid,stump,knn}'::text[]), '{}';
INSERT INTO learner VALUES ('sql', '{"train": "public.first_train", "predict": "public.first_predict"}');
SELECT count(privpred.create_model(name, 'rows_of', label => 'y', classes => '{a,b,c}', teachers => 10, epsilon => 1, learner => name, options => options,
  features => '{"x": {"min": 0, "max": 1}, "z": {"min": 0, "max": 1}, "ward": {"levels": ["A", "B", "C", "D"]}}')) FROM learner;
CREATE TABLE trained (how text, name text, predictor text);
INSERT INTO trained SELECT 'first', name, md5(predictor::text) FROM privpred.model WHERE name IN (SELECT name FROM learner);

-- the same table again, sorting instead of hashing, because the states would not fit
SET maintenance_work_mem = '1MB';
SELECT count(privpred.retrain(name)) FROM learner;
INSERT INTO trained SELECT 'sorted', name, md5(predictor::text) FROM privpred.model WHERE name IN (SELECT name FROM learner);
RESET maintenance_work_mem;

-- with workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT count(privpred.retrain(name)) FROM learner;
INSERT INTO trained SELECT 'parallel', name, md5(predictor::text) FROM privpred.model WHERE name IN (SELECT name FROM learner);
RESET max_parallel_workers_per_gather;

-- by way of states
SET privpred.train_by_states = on;
SELECT count(privpred.retrain(name)) FROM learner;
INSERT INTO trained SELECT 'states', name, md5(predictor::text) FROM privpred.model WHERE name IN (SELECT name FROM learner);
RESET privpred.train_by_states;

-- in another physical order
CREATE TABLE shuffled AS SELECT * FROM rows_of ORDER BY hashint4(id);
TRUNCATE rows_of;
INSERT INTO rows_of SELECT * FROM shuffled;
SELECT count(privpred.retrain(name)) FROM learner;
INSERT INTO trained SELECT 'shuffled', name, md5(predictor::text) FROM privpred.model WHERE name IN (SELECT name FROM learner);
SELECT name, count(DISTINCT predictor) AS different_predictors, count(*) AS trainings FROM trained GROUP BY name ORDER BY name COLLATE "C";

-- by states, too: labels in bins, and more columns than a function takes
DO $$
BEGIN
  EXECUTE (SELECT format('CREATE TABLE broad (id int PRIMARY KEY, bill numeric, %s)', string_agg(format('c%s float8', c), ', ')) FROM generate_series(1, 120) c);
  EXECUTE (SELECT format('INSERT INTO broad SELECT i, i %% 90, %s FROM generate_series(1, 300) i', string_agg(format('(i * %s %% 97) / 97.0', c), ', ')) FROM generate_series(1, 120) c);
END $$;
SELECT privpred.protect('broad');
CREATE FUNCTION trained_broad(learner text, by_states boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('privpred.train_by_states', by_states::text, true);
  PERFORM privpred.create_model('broad', 'broad', label => 'bill', teachers => 5, epsilon => 1, learner => learner, options => '{"bins": [0, 30, 60, 90]}',
    features => (SELECT jsonb_object_agg('c' || i, '{"min": 0, "max": 1}'::jsonb)::json FROM generate_series(1, 120) i));
  UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f' WHERE name = 'broad';
  PERFORM privpred.retrain('broad');
  RETURN (SELECT predictor::text FROM privpred.model m, privpred.drop_model('broad') WHERE m.name = 'broad');
END $$;
SELECT learner, trained_broad(learner, true) = trained_broad(learner, false) AS same FROM unnest('{centroid,stump}'::text[]) learner;

-- more rows than a cache holds
CREATE TABLE many AS SELECT i, i % 3 AS class, ARRAY[(hashint4(i) & 1023) / 1024.0 + (i % 3 = 1)::int, (hashint4(i + 7777) & 1023) / 1024.0 + (i % 3 = 2)::int]::float8[] AS x
FROM generate_series(1, 40000) i;
CREATE TABLE fitted AS
SELECT privpred.logistic(class, x ORDER BY i) AS logistic, privpred.svm(class, x ORDER BY i) AS svm FROM many
UNION ALL SELECT privpred.logistic(class, x ORDER BY hashint4(i)), privpred.svm(class, x ORDER BY i DESC) FROM many
UNION ALL SELECT privpred.logistic(class, x ORDER BY i DESC), privpred.svm(class, x ORDER BY hashint4(i)) FROM many;
SELECT count(DISTINCT logistic::text) AS logistic, count(DISTINCT svm::text) AS svm FROM fitted;
SELECT round(avg((privpred.predict(logistic, x) = class::text)::int), 2) AS logistic, round(avg((privpred.predict(svm, x) = class::text)::int), 2) AS svm
FROM many, (SELECT * FROM fitted LIMIT 1) f;
-- a class of one row
SELECT privpred.predict(privpred.logistic(i = 20003, ARRAY[i = 20003, i % 2]::int[]::float8[], '{"cost": 1000}'), '{1,1}') FROM generate_series(1, 40000) i;

-- one unit changed, in any way, moves one vote at most, whatever the question
CREATE TABLE question AS SELECT ARRAY[a / 10.0, b / 10.0, (c = 0)::int, (c = 1)::int, (c = 2)::int, (c = 3)::int]::float8[] AS x
FROM generate_series(0, 10) a, generate_series(0, 10) b, generate_series(0, 3) c;
CREATE TABLE vote AS SELECT m.name, q.x, privpred.votes(m.predictor, q.x) AS votes FROM privpred.model m, question q WHERE m.name IN (SELECT name FROM learner);
UPDATE rows_of SET x = 1 - x, z = 0.5, y = 'c', ward = 'D' WHERE id = 4711;
SELECT count(privpred.retrain(name)) FROM learner;
SELECT v.name, max((SELECT sum(abs((v.votes ->> c)::int - (privpred.votes(m.predictor, v.x) ->> c)::int)) FROM unnest('{a,b,c}'::text[]) c)) <= 2 AS one_vote_at_most
FROM vote v JOIN privpred.model m USING (name) GROUP BY v.name ORDER BY v.name COLLATE "C";
DELETE FROM rows_of WHERE id = 4711;
SELECT count(privpred.retrain(name)) FROM learner;
SELECT v.name, max((SELECT sum(abs((v.votes ->> c)::int - (privpred.votes(m.predictor, v.x) ->> c)::int)) FROM unnest('{a,b,c}'::text[]) c)) <= 2 AS one_vote_at_most
FROM vote v JOIN privpred.model m USING (name) GROUP BY v.name ORDER BY v.name COLLATE "C";

-- training can be cancelled, and then nothing has changed
\set SHOW_CONTEXT never
SET statement_timeout = '1ms';
SELECT privpred.retrain('svm');
RESET statement_timeout;
SELECT version FROM privpred.model WHERE name = 'svm';

-- more columns than a function has arguments, and a column of every awkward name
DO $$ BEGIN
  EXECUTE 'CREATE TABLE wide (id int PRIMARY KEY, "select ""it""" boolean, y boolean, '
    || (SELECT string_agg(format('"F %s" float4 DEFAULT 0.5', i), ', ') FROM generate_series(1, 150) i) || ')';
END $$;
INSERT INTO wide (id, y, "select ""it""", "F 150") SELECT i, i % 2 = 0, i % 2 = 0, 1 FROM generate_series(1, 200) i;
SELECT privpred.protect('wide');
SELECT jsonb_array_length(privpred.create_model('wide', 'wide', label => 'y', teachers => 5, epsilon => 1,
  features => (SELECT json_agg(attname) FROM pg_attribute WHERE attrelid = 'wide'::regclass AND attnum > 0 AND attname NOT IN ('id', 'y'))) -> 'features') AS features;
SELECT rows, majority_accuracy FROM privpred.evaluate('wide', 'wide');
DROP TABLE rows_of, wide;
DROP AGGREGATE first_train(text, float8[]);
DROP FUNCTION first_step, first_predict;

-- how large a stored model is does not depend on what was learnt: few rows, no rows, one class
CREATE TABLE sizes (id int PRIMARY KEY, x float8, y text);
INSERT INTO sizes SELECT i, i / 1000.0, CASE WHEN i > 500 THEN 'b' ELSE 'a' END FROM generate_series(1, 1000) i;
SELECT privpred.protect('sizes');
SELECT count(privpred.create_model(name, 'sizes', label => 'y', classes => '{a,b,c}', features => '["x"]', teachers => 50, epsilon => 1, learner => name))
FROM learner WHERE name <> 'sql';
CREATE TABLE size AS SELECT name, pg_column_size(predictor) FROM privpred.model;
DELETE FROM sizes WHERE id % 50 <> 0;
SELECT count(privpred.retrain(name)) FROM learner WHERE name <> 'sql';
INSERT INTO size SELECT name, pg_column_size(predictor) FROM privpred.model;
DELETE FROM sizes;
SELECT count(privpred.retrain(name)) FROM learner WHERE name <> 'sql';
INSERT INTO size SELECT name, pg_column_size(predictor) FROM privpred.model;
SELECT name, count(DISTINCT pg_column_size) AS different_sizes FROM size GROUP BY name ORDER BY name COLLATE "C";
DROP TABLE sizes;

-- a chunk of one class votes that class, whatever is declared first: two in a hundred are ill,
-- so that at most 40 of 101 teachers have seen one
CREATE TABLE ward (id int PRIMARY KEY, x float8, z float8, y text);
INSERT INTO ward SELECT i, (i * 7919 % 1000) / 1000.0, (i * 104729 % 997) / 997.0, CASE WHEN i % 50 = 7 THEN 'ill' ELSE 'well' END FROM generate_series(1, 2000) i;
SELECT privpred.protect('ward');
INSERT INTO learner VALUES ('tree', '{}');
SELECT count(privpred.create_model(name, 'ward', label => 'y', classes => '{ill,well}', features => '["x", "z"]', teachers => 101, epsilon => 5, learner => name))
FROM learner WHERE name <> 'sql';
SELECT name, e.private_accuracy >= 0.95 AS private, e.majority_accuracy FROM learner, privpred.evaluate(name, 'ward') e WHERE name <> 'sql' ORDER BY name COLLATE "C";
-- and so does a student whose labels are all the same
CREATE TABLE beds AS SELECT i / 20.0 AS x, i / 20.0 AS z FROM generate_series(0, 20) i;
SELECT name, card ->> 'agreement' AS agreement, e.private_accuracy
FROM learner, privpred.distill('student of ' || name, 'centroid', 'beds', name) card, LATERAL privpred.evaluate(card ->> 'name', 'ward') e WHERE name <> 'sql' ORDER BY name COLLATE "C";
-- the size of what is stored knows nothing of it
CREATE TEMP TABLE ward_size AS SELECT name, pg_column_size(predictor) FROM privpred.model WHERE label = 'y';
UPDATE ward SET y = CASE WHEN x > 0.5 THEN 'ill' ELSE 'well' END;
SELECT count(privpred.retrain(name)) FROM learner WHERE name <> 'sql';
SELECT count(*) AS as_large FROM learner JOIN privpred.model m USING (name) JOIN ward_size s USING (name) WHERE pg_column_size(m.predictor) = s.pg_column_size;
DROP TABLE ward, beds, ward_size;
DROP TABLE size, learner, trained, shuffled, many, fitted, question, vote;

-- what the rows made of a declaration is said to the owner, not to whoever sets a training off
CREATE ROLE training_owner;
CREATE ROLE training_app;
CREATE SCHEMA training_told AUTHORIZATION training_owner;
SET ROLE training_owner;
SET search_path = training_told, public;
CREATE TABLE told (id int PRIMARY KEY, x float8, y text);
INSERT INTO told SELECT i, i / 100.0, CASE i WHEN 1 THEN 'ill' WHEN 2 THEN NULL ELSE 'well' END FROM generate_series(1, 100) i;
CREATE TABLE told_labels (LIKE told INCLUDING ALL);
INSERT INTO told_labels TABLE told;
SELECT privpred.protect('told'), privpred.protect('told_labels', protects => 'labels', declared_units => 100);
SELECT count(privpred.create_model('told', 'told', label => 'y', classes => '{ill,well}', features => '{"x": {"min": 0, "max": 1}}', teachers => 5));
SELECT count(privpred.create_model('told labels', 'told_labels', label => 'y', classes => '{ill,well}', features => '{"x": {"min": 0, "max": 1}}', mechanism => 'label_private', epsilon => 10,
  options => '{"class": "thresholds", "accuracy": 1}'));
CREATE FUNCTION refresh() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT count(privpred.retrain(m)) FROM unnest('{told,told labels}'::text[]) m $$;
CREATE FUNCTION refresh_told() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN PERFORM training_told.refresh(); RETURN NULL; END $$;
CREATE TRIGGER refresh AFTER INSERT ON told EXECUTE FUNCTION refresh_told();
GRANT USAGE ON SCHEMA training_told TO training_app;
GRANT INSERT ON told TO training_app;
SET client_min_messages = notice;
SELECT refresh();
SET ROLE training_app;
SELECT refresh();
INSERT INTO told VALUES (101, 1, 'well');
SET client_min_messages = error;
RESET ROLE;
RESET search_path;
DROP SCHEMA training_told CASCADE;
DROP OWNED BY training_owner, training_app;
DROP ROLE training_owner, training_app;
