-- Training states that travel: what partial_state, merge_states and finish_state make of rows is what the learner makes of them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE SCHEMA states_test;
SET search_path = states_test, pg_catalog;
CREATE FUNCTION raises(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || message || COALESCE(': ' || NULLIF(detail, ''), '');
END $$;
CREATE TYPE mood AS ENUM ('sad', 'happy', 'so so');
CREATE TABLE points AS
SELECT i AS id, i % 5 AS teacher, i % 3 AS number, (i % 3)::int2 AS small, i % 3 > 0 AS truth, (ARRAY['null', 'eins', 'zwölf'])[i % 3 + 1] AS word,
	(ARRAY['sad', 'happy', 'so so'])[i % 3 + 1]::mood AS mood,
	ARRAY[(i % 3 = 0)::int * 0.5 + (hashint4(i) & 1023) / 1024.0 * 0.6, (i % 3 = 1)::int * 0.5 + (hashint4(i + 7777) & 1023) / 1024.0 * 0.6, (i % 7 = 0)::int]::float8[] AS x
FROM generate_series(1, 3000) i;
ANALYZE points;

-- one multiset of rows, one predictor: however the rows are spread, in whatever order the states come
CREATE FUNCTION both_ways(learner text, label text, source text DEFAULT 'points') RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE format($q$
		SELECT bool_and(m::text = p::text) AND count(*) = 5 FROM
			(SELECT teacher, privpred.%1$I(%2$I, x) m FROM %3$s GROUP BY 1) whole JOIN
			(SELECT teacher, privpred.finish_state(privpred.merge_states(state ORDER BY md5(node::text || teacher::text))) p FROM
				(SELECT teacher, id %% 4 AS node, privpred.partial_state(%2$I, x, '{"learner": "%1$s"}')::text::privpred.training_state state
				 FROM %3$s GROUP BY 1, 2) nodes GROUP BY 1) parts USING (teacher)$q$, learner, label, source) INTO result;
	RETURN result;
END $$;
SELECT learner, both_ways(learner, 'truth') AS truth, both_ways(learner, 'number') AS number, both_ways(learner, 'small') AS small,
	both_ways(learner, 'word') AS word, both_ways(learner, 'mood') AS mood
FROM unnest('{logistic,svm,linear,naive_bayes,centroid,stump,tree,knn}'::text[]) learner;
-- in parallel, where states are combined as they are
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT learner, both_ways(learner, 'number') AS number FROM unnest('{logistic,linear}'::text[]) learner;
RESET max_parallel_workers_per_gather;
-- a state of states; of no rows; of rows without labels; kept in a table
CREATE TABLE kept AS SELECT id % 3 AS node, privpred.partial_state(word, x, '{"learner": "svm", "cost": 2, "classes": ["eins", "zwölf"], "default": "eins"}') AS state FROM points GROUP BY 1;
SELECT privpred.finish_state(privpred.merge_states(m))::text = (SELECT privpred.svm(word, x, '{"cost": 2, "classes": ["eins", "zwölf"], "default": "eins"}')::text FROM points) AS same
FROM (SELECT privpred.merge_states(state) m FROM kept GROUP BY node % 2) s;
SELECT privpred.merge_states(state) IS NULL AS none, privpred.finish_state(privpred.merge_states(state)) IS NULL AS nothing FROM kept WHERE false;
SELECT privpred.votes(privpred.finish_state(privpred.partial_state(NULL::text, x, '{"learner": "linear", "classes": ["a", "b"]}')), '{0,0,0}') AS no_labels FROM points;
SELECT privpred.finish_state(privpred.partial_state(NULL::text, x, '{"learner": "linear"}')) IS NULL AS no_classes FROM points;
-- features may be missing where the learner can do without
SELECT privpred.finish_state(privpred.merge_states(s))::text = (SELECT privpred.tree(number, x[1:2] || CASE WHEN id % 4 > 0 THEN x[3] END)::text FROM points) AS same
FROM (SELECT privpred.partial_state(number, x[1:2] || CASE WHEN id % 4 > 0 THEN x[3] END, '{"learner": "tree"}')::text::privpred.training_state s FROM points GROUP BY id % 2) s;
-- zeros and ones take a bit each
SELECT octet_length(privpred.training_state_send(privpred.partial_state(truth, ARRAY[(id % 2)::float8, 0, 1], '{"learner": "stump"}'))) AS bytes FROM points WHERE id <= 1000;
SELECT octet_length(privpred.training_state_send(privpred.partial_state(truth, ARRAY[id % 2 + 0.5, 0, 1], '{"learner": "stump"}'))) AS bytes FROM points WHERE id <= 1000;

-- shares are teachers
\set salt '\'\\x000102030405060708090a0b0c0d0e0f\'::bytea'
SELECT bool_and(privpred.unit_share(:salt, 1000, id) = privpred.teacher_of(id, :salt, 1000)) AS one, bool_and(privpred.unit_share(:salt, 1000, small, word) = privpred.teacher_of(ROW(small, word), :salt, 1000)) AS two,
	bool_and(privpred.unit_share(:salt, 7 * 13, mood) % 7 = privpred.teacher_of(mood, :salt, 7)) AS chunks, bool_and(privpred.unit_share(:salt, 9, id, NULL::text) IS NULL) AS nobody FROM points;
SELECT call, raises('SELECT privpred.unit_share(' || call || ')') FROM unnest(ARRAY[$$'\x00', 10, 1$$, $$'\x000102030405060708090a0b0c0d0e0f', 0, 1$$, $$'\x000102030405060708090a0b0c0d0e0f', 10, 1.5::float8$$,
	$$'\x000102030405060708090a0b0c0d0e0f', 10, VARIADIC ARRAY[1]$$]) call;

-- a node says what it is
SELECT extversion AS version FROM pg_extension WHERE extname = 'privpred' \gset
SELECT privpred.node_agrees(replace('["VERSION", "UTF8", "integer", "pg_catalog.text", "states_test.mood"]', 'VERSION', :'version')::jsonb, id, word, mood) FROM points LIMIT 1;
SELECT expected, replace(raises(format('SELECT privpred.node_agrees(%L, id, word) FROM states_test.points', replace(expected, 'VERSION', :'version'))), :'version', 'VERSION') AS raises
FROM unnest(ARRAY['["older", "UTF8", "integer", "pg_catalog.text"]', '["VERSION", "LATIN1", "integer", "pg_catalog.text"]', '["VERSION", "UTF8", "bigint", "pg_catalog.text"]',
	'["VERSION", "UTF8", "integer", "uuid"]', '["VERSION", "UTF8", "integer"]', '["VERSION", "UTF8", "integer", 7]', '{}']) expected;

-- what does not belong together is not merged
SELECT raises($$SELECT privpred.merge_states(s ORDER BY i) FROM (SELECT 1, privpred.partial_state(1, '{1}', '{"learner": "linear"}') UNION ALL SELECT 2, privpred.partial_state(1, '{1,2}', '{"learner": "linear"}')) u(i, s)$$) AS width;
SELECT raises($$SELECT privpred.merge_states(s) FROM (SELECT privpred.partial_state(1, '{1}', '{"learner": "linear"}') UNION ALL SELECT privpred.partial_state(1, '{1}', '{"learner": "linear", "ridge": 2}')) u(s)$$) AS options;
SELECT raises($$SELECT privpred.merge_states(s) FROM (SELECT privpred.partial_state(1, '{1}', '{"learner": "linear"}') UNION ALL SELECT privpred.partial_state(1, '{1}', '{"learner": "centroid"}')) u(s)$$) AS learner;
SELECT raises($$SELECT privpred.merge_states(s) FROM (SELECT privpred.partial_state(1, '{1}', '{"learner": "linear"}') UNION ALL SELECT privpred.partial_state('1'::text, '{1}', '{"learner": "linear"}')) u(s)$$) AS labels;
SELECT raises($$SELECT privpred.partial_state(1, x, '{"learner": "linear"}') FROM (VALUES ('{1}'::float8[]), ('{1,2}')) v(x)$$) AS width;
SELECT options, raises(format('SELECT privpred.partial_state(1, ''{1}'', %L)', options))
FROM unnest(ARRAY['{}', '[]', '{"learner": "none"}', '{"learner": 7}', '{"learner": "sql"}', '{"learner": "threshold"}', '{"learner": "linear", "cost": 1}', '{"learner": "svm", "cost": -1}', NULL]) options;
SELECT x, raises(format('SELECT privpred.partial_state(1, %L, ''{"learner": "svm"}'')', x)) FROM unnest(ARRAY['{}', '{{1}}', '{NULL}', '{NaN}', NULL]) x;
SELECT raises($$SELECT privpred.state_merge(state, state) FROM states_test.kept$$) AS not_an_aggregate;
SELECT raises($$SELECT privpred.state_transition(state, 1, '{1}', '{}') FROM states_test.kept$$) AS not_an_aggregate;

-- memory is priced here, too
SET maintenance_work_mem = '1MB';
SELECT raises($$SELECT privpred.partial_state(true, array_fill(i::float8, ARRAY[100]), '{"learner": "logistic"}') FROM generate_series(1, 10000) i$$);
SELECT raises($$SELECT privpred.merge_states(s) FROM (SELECT privpred.partial_state(true, array_fill(i::float8, ARRAY[100]), '{"learner": "logistic"}') s FROM generate_series(1, 10000) i GROUP BY i % 100) u$$);
RESET maintenance_work_mem;

-- damage is noticed, wherever it is
SELECT t, raises(format('SELECT %L::privpred.training_state', t)) FROM unnest(ARRAY['', 'x', '====', 'UFBUUw==', '\x00']) t;
CREATE FUNCTION damaged(state privpred.training_state) RETURNS TABLE (tried bigint, refused bigint) LANGUAGE plpgsql AS $$
DECLARE
	bytes bytea := privpred.training_state_send(state);
	changed bytea;
BEGIN
	tried := 0;
	refused := 0;
	FOR i IN 0 .. octet_length(bytes) - 1 LOOP
		FOR how IN 0 .. 1 LOOP
			changed := CASE how WHEN 0 THEN set_byte(bytes, i, get_byte(bytes, i) # (1 << i % 8)) ELSE substr(bytes, 1, i) END;
			tried := tried + 1;
			BEGIN
				PERFORM privpred.finish_state(replace(encode(changed, 'base64'), E'\n', '')::privpred.training_state);
			EXCEPTION WHEN invalid_text_representation THEN
				refused := refused + 1;
			END;
		END LOOP;
	END LOOP;
	RETURN NEXT;
END $$;
SELECT learner, tried > 300 AS tried, tried - refused AS accepted FROM (SELECT 'linear' AS learner, privpred.partial_state(number, x, '{"learner": "linear"}') state FROM points WHERE id < 50
	UNION ALL SELECT 'stump', privpred.partial_state(number, x, '{"learner": "stump"}') FROM points WHERE id < 50) s, damaged(state);

-- anybody may aggregate rows that he can read, and nobody else's
CREATE ROLE states_reader;
GRANT USAGE ON SCHEMA states_test TO states_reader;
SET ROLE states_reader;
SELECT privpred.finish_state(privpred.partial_state(i % 2, ARRAY[i], '{"learner": "centroid"}')) IS NOT NULL AS own FROM generate_series(1, 10) i;
SELECT raises('SELECT privpred.partial_state(number, x, ''{"learner": "centroid"}'') FROM states_test.points') AS others;
SELECT raises($$SELECT privpred.state_merge(NULL, NULL)$$) AS inside;
RESET ROLE;
RESET search_path;
SET client_min_messages = error;
DROP SCHEMA states_test CASCADE;
DROP ROLE states_reader;
