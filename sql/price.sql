-- The price of a statement before it runs: privpred.cost_of, the refusal before the first charge,
-- NULL in place of refusals, and what an exhausted budget has paid for.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
DO $$ BEGIN PERFORM privpred.verify_ledger(incremental => true); END $$;	-- so that what follows looks at the rest alone
CREATE ROLE price_owner;
CREATE ROLE price_analyst;
CREATE ROLE price_buyer;
CREATE ROLE price_stranger;
GRANT CREATE ON SCHEMA public TO price_owner, price_analyst;
SET privpred.repeat_memory = '4MB';
SET ROLE price_owner;
CREATE TABLE price_people (id int PRIMARY KEY, x float8 NOT NULL, y text NOT NULL);
INSERT INTO price_people SELECT i, i / 1000.0, CASE WHEN i > 500 THEN 'yes' ELSE 'no' END FROM generate_series(1, 1000) i;
SELECT privpred.protect('price_people', declared_units => 1000);
SELECT FROM privpred.create_model('price', 'price_people', label => 'y', classes => '{no,yes}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'vote', epsilon => 0.1);
SELECT FROM privpred.create_model('price_kept', 'price_people', label => 'y', classes => '{no,yes}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'vote', epsilon => 0.1, options => '{"memoize": true}');
SELECT FROM privpred.create_model('price_level', 'price_people', label => 'y', classes => '{no,yes}', teachers => 9,
	features => '{"y": {"levels": ["no", "yes"]}}', mechanism => 'vote', epsilon => 0.1);
SELECT FROM privpred.create_model('price_score', 'price_people', label => 'id', teachers => 9, options => '{"bins": [0, 500, 1000]}',
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'vote', epsilon => 0.1);
SELECT FROM privpred.create_model('price_stream', 'price_people', label => 'y', classes => '{no,yes}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'sparse');
SELECT FROM privpred.create_model('price_release', 'price_people', label => 'y', classes => '{no,yes}',
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'cover', epsilon => 1, options => '{"class": "thresholds"}');
SELECT privpred.grant_budget('price_analyst', 'price_people', epsilon => 5);
SET ROLE price_analyst;

-- The analyst's own tables: 9,221 rows, and 20 groups of them.
CREATE TABLE price_mine (id int PRIMARY KEY, x float8 NOT NULL, y text, part int NOT NULL);
INSERT INTO price_mine SELECT i, i / 9221.0, 'no', i % 20 FROM generate_series(1, 9221) i;
CREATE INDEX ON price_mine (part);
CREATE TABLE price_few (x float8 NOT NULL);
INSERT INTO price_few SELECT i % 20 / 20.0 FROM generate_series(1, 1000) i;
CREATE TABLE price_part (part int PRIMARY KEY, x float8 NOT NULL);
INSERT INTO price_part SELECT i, i / 20.0 FROM generate_series(0, 19) i;
CREATE TABLE price_split (id int, x float8 NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE price_split_1 PARTITION OF price_split FOR VALUES FROM (1) TO (301);
CREATE TABLE price_split_2 PARTITION OF price_split FOR VALUES FROM (301) TO (601);
INSERT INTO price_split SELECT i, i / 600.0 FROM generate_series(1, 600) i;
CREATE TABLE price_kept_answers (id int, answer text);
ANALYZE price_mine;
ANALYZE price_part;
ANALYZE price_few;
ANALYZE price_split;
-- after whatever statements gave back
CREATE FUNCTION price_left() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM privpred.verify_ledger(incremental => true);
	RETURN (SELECT answers_left FROM privpred.cost('price'));
END $$;

--
-- The two situations that this is for: nothing is spent, and the message says what to do.
--
CREATE TABLE price_all AS SELECT id, private_predict('price', m) FROM price_mine m;
SELECT price_left();
SELECT id FROM price_mine m ORDER BY private_predict('price', m) LIMIT 1;
SELECT price_left();
SELECT * FROM privpred.cost_of($$CREATE TABLE price_all AS SELECT id, private_predict('price', m) FROM price_mine m$$);
SELECT * FROM privpred.cost_of($$SELECT id FROM price_mine m ORDER BY private_predict('price', m) LIMIT 1$$);
-- The same without the guess: everything is spent, and nothing returned; but it is remembered.
SET privpred.foresee = off;
SELECT count(*) FROM (SELECT private_predict('price', m) FROM price_mine m OFFSET 0) s;
SELECT count(*) FROM (SELECT private_predict('price', m) FROM price_mine m ORDER BY id LIMIT 50) s;
SELECT price_left();
RESET privpred.foresee;
-- What is remembered is free, so the rest of the statement is what counts.
RESET ROLE;
SELECT privpred.grant_budget('price_analyst', 'price_people', epsilon => 15);
SET ROLE price_analyst;
SELECT price_left();
SELECT count(*) FROM (SELECT private_predict('price', m) FROM price_mine m WHERE id <= 100 ORDER BY id OFFSET 0) s;
SELECT price_left();
\c
SET client_min_messages = warning;
SET privpred.repeat_memory = '4MB';
SET ROLE price_analyst;

--
-- Every kind of statement: what it is expected to take, what happens, what is left.  50 answers are
-- left at first; what is refused is charged nothing.
--
CREATE TABLE price_statements (n serial, statement text);
\set VERBOSITY terse
INSERT INTO price_statements (statement) VALUES
-- too much, wherever the call stands
($$SELECT private_predict('price', m) FROM price_mine m$$),
($$SELECT private_predict('price', ARRAY[x]) FROM price_mine WHERE id < 901$$),
($$SELECT private_predict('price', m) FROM price_mine m JOIN price_part p USING (part)$$),
($$WITH a AS MATERIALIZED (SELECT private_predict('price', m) AS answer FROM price_mine m) SELECT * FROM a WHERE answer = 'yes' UNION ALL SELECT * FROM a$$),
($$SELECT (SELECT private_predict('price', ARRAY[m.x])) FROM price_mine m$$),
($$SELECT id FROM price_mine m WHERE private_predict('price', m) = 'yes'$$),
($$SELECT id FROM price_mine m WHERE private_predict('price', m) = 'yes' AND part < 10$$),
($$SELECT id FROM price_mine m WHERE id < 901 AND private_predict('price', m) = 'yes'$$),
($$SELECT id, private_predict('price', m) FROM price_mine m WHERE private_predict('price', m) = 'yes'$$),
($$SELECT id FROM price_mine m ORDER BY private_predict('price', m) LIMIT 1$$),
($$SELECT private_predict('price', m) FROM price_mine m LIMIT 300$$),
($$SELECT private_predict('price', m) FROM price_mine m OFFSET 300 LIMIT 1$$),
($$SELECT count(private_predict('price', m)) FROM price_mine m$$),
($$SELECT part FROM price_mine m GROUP BY part HAVING count(private_predict('price', m)) > 1$$),
($$SELECT rank() OVER (ORDER BY private_predict('price', m)) FROM price_mine m LIMIT 1$$),
($$SELECT DISTINCT private_predict('price', m) FROM price_mine m$$),
($$SELECT id FROM price_mine m WHERE EXISTS (SELECT FROM price_part p WHERE private_predict('price', ARRAY[m.x + p.x]) = 'maybe')$$),
($$SELECT private_predict('price', s) FROM price_split s$$),
($$SELECT private_predict('price', ARRAY[x]) FROM price_split UNION ALL SELECT private_predict('price', ARRAY[x / 2]) FROM price_split$$),
($$SELECT private_predict('price', ARRAY[i / 300.0]) FROM generate_series(1, 300) i$$),
($$SELECT private_predict('price', ARRAY[p.x + q.x]) FROM price_part p CROSS JOIN price_part q$$),
($$SELECT a.answer FROM price_mine m, LATERAL (SELECT private_predict('price', ARRAY[m.x]) AS answer OFFSET 0) a$$),
($$INSERT INTO price_kept_answers SELECT id, private_predict('price', m) FROM price_mine m$$),
($$INSERT INTO price_kept_answers SELECT id, '' FROM price_mine m RETURNING private_predict('price', ARRAY[id])$$),
($$UPDATE price_mine m SET y = private_predict('price', m)$$),
($$DELETE FROM price_mine m WHERE private_predict('price', m) = 'maybe'$$),
($$CREATE TABLE price_all AS SELECT id, private_predict('price', m) FROM price_mine m$$),
($$CREATE TEMPORARY TABLE price_all AS SELECT id, private_predict('price', m) FROM price_mine m$$),
($$SELECT id, private_predict('price', m) INTO price_all FROM price_mine m$$),
($$COPY (SELECT private_predict('price', m) FROM price_mine m) TO STDOUT$$),
($$EXPLAIN (ANALYZE, COSTS OFF) SELECT private_predict('price', m) FROM price_mine m$$);
SELECT format('SELECT answers, fits FROM privpred.cost_of(%L)', statement), statement FROM price_statements ORDER BY n \gexec
SELECT price_left();

-- Enough is left.  Questions that are asked twice are asked once, and count so.
TRUNCATE price_statements;
INSERT INTO price_statements (statement) VALUES
($$SELECT count(private_predict('price', ARRAY[p.x])) FROM price_mine m JOIN price_part p USING (part)$$),
($$SELECT count((SELECT private_predict('price', ARRAY[p.x]) FROM price_part p WHERE p.part = m.part)) FROM price_mine m$$),
($$SELECT count(*) FROM (SELECT private_predict('price', m) FROM price_mine m LIMIT 3) s$$),
($$SELECT count(*) FROM (SELECT private_predict('price', m) FROM price_mine m ORDER BY id LIMIT 3) s$$),
($$SELECT count(*) FROM (SELECT private_predict('price', m) FROM price_mine m OFFSET 3 LIMIT 1) s$$),
($$WITH a AS (SELECT id, private_predict('price', m) FROM price_mine m) SELECT id FROM a LIMIT 1$$),
($$SELECT count(*) FROM (SELECT id FROM price_mine m WHERE private_predict('price', m) IS NOT NULL LIMIT 3) s$$),
($$SELECT count(*) FROM price_mine m WHERE private_predict('price', m) IS NOT NULL AND id < 5$$),
($$SELECT count(*) FROM price_mine m WHERE EXISTS (SELECT private_predict('price', m)) AND id < 5$$),
($$SELECT private_predict('price', ARRAY[0.5]) IS NULL AS n FROM price_part LIMIT 1$$),
($$SELECT count(private_predict('price', ARRAY[part / 20.0])), count(private_predict('price', jsonb_build_object('x', part / 20.0))) FROM price_mine m$$),
($$SELECT count(private_predict('price', f)) FROM price_few f$$),
($$SELECT count(private_predict('price_level', m)) FROM price_mine m$$);
SELECT format('SELECT answers, fits FROM privpred.cost_of(%L)', statement), statement, 'SELECT price_left()' FROM price_statements ORDER BY n \gexec

-- What cannot be foreseen is not refused: CASE, functions and their own statements, tables that nobody has
-- analyzed and that are small, rows that only a function knows, recursion.
CREATE TABLE price_fresh AS SELECT i AS id, i / 7.0::float8 AS x FROM generate_series(1, 7) i;
CREATE FUNCTION price_three() RETURNS SETOF float8 LANGUAGE plpgsql AS 'BEGIN RETURN QUERY VALUES (0.1::float8), (0.2), (0.3); END';
CREATE FUNCTION price_loop(n int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	answers bigint := 0;
BEGIN
	FOR answer IN SELECT private_predict('price', m) FROM price_mine m ORDER BY id LOOP
		answers := answers + 1;
		EXIT WHEN answers = n;
	END LOOP;
	RETURN answers;
END $$;
TRUNCATE price_statements;
INSERT INTO price_statements (statement) VALUES
($$SELECT count(*) FROM (SELECT CASE WHEN id < 3 THEN private_predict('price', m) END FROM price_mine m OFFSET 0) s$$),
($$SELECT count(*) FROM (SELECT private_predict('price', f) FROM price_fresh f OFFSET 0) s$$),
($$SELECT count(*) FROM (SELECT private_predict('price', ARRAY[x]) FROM price_three() x OFFSET 0) s$$),
($$WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3) SELECT count(private_predict('price', ARRAY[i])) FROM r$$),
($$SELECT count(*) FROM (SELECT unnest(ARRAY[1, 2]), private_predict('price', m) FROM price_mine m LIMIT 2) s$$),
($$SELECT price_loop(5)$$);
SELECT format('SELECT answers, fits FROM privpred.cost_of(%L)', statement), statement, 'SELECT price_left()' FROM price_statements ORDER BY n \gexec

-- Prepared statements, with plans for given parameters and for all; the model may be a parameter.
SET plan_cache_mode = force_generic_plan;
PREPARE price_ask(text, bigint) AS SELECT count(*) FROM (SELECT private_predict($1, m) FROM price_mine m ORDER BY id LIMIT $2) s;
EXECUTE price_ask('price', 300);
EXECUTE price_ask('price', 2);
SET plan_cache_mode = force_custom_plan;
EXECUTE price_ask('price', 300);
EXECUTE price_ask('price', 2);
RESET plan_cache_mode;
CREATE TABLE price_all AS EXECUTE price_ask('price', 300);
SELECT price_left();

-- Statements that are sent together are looked at one by one (psql 14 shows the last result alone).
\set SHOW_ALL_RESULTS off
SELECT private_predict('price', ARRAY[0.98765]) IS NULL AS n\; SELECT private_predict('price', m) FROM price_mine m;
\set SHOW_ALL_RESULTS on

-- A cursor is charged for what is fetched.
BEGIN;
DECLARE price_cursor CURSOR FOR SELECT private_predict('price', m) IS NULL AS n FROM price_mine m ORDER BY id;
FETCH 1 FROM price_cursor;
FETCH FORWARD 2 FROM price_cursor;
SAVEPOINT s;
FETCH 200 FROM price_cursor;
ROLLBACK TO s;
COMMIT;
BEGIN;
DECLARE price_cursor CURSOR FOR SELECT private_predict('price', m) IS NULL AS n FROM price_mine m ORDER BY id;
FETCH ALL FROM price_cursor;
COMMIT;
BEGIN;
DECLARE price_cursor CURSOR FOR SELECT id FROM price_mine m ORDER BY private_predict('price', m);
FETCH 1 FROM price_cursor;
COMMIT;
SELECT price_left();

-- The safety catch counts as well, and so does a ceiling.
SET privpred.max_answers_per_statement = 4;
SELECT private_predict('price', m) FROM price_mine m LIMIT 60;
RESET privpred.max_answers_per_statement;
RESET ROLE;
SELECT privpred.set_ceiling('price_analyst', 3);
SET ROLE price_analyst;
SELECT private_predict('price', m) FROM price_mine m LIMIT 60;
SELECT answers, fits FROM privpred.cost_of($$SELECT private_predict('price', m) FROM price_mine m LIMIT 60$$);
RESET ROLE;
SELECT privpred.set_ceiling('price_analyst', NULL);
SET ROLE price_analyst;
-- Without a memory, every call is charged.
SET privpred.repeat_memory = 0;
SELECT private_predict('price', ARRAY[p.x]) FROM price_mine m JOIN price_part p USING (part);
SELECT answers, fits FROM privpred.cost_of($$SELECT private_predict('price', ARRAY[p.x]) FROM price_mine m JOIN price_part p USING (part)$$);
SET privpred.repeat_memory = '4MB';
SELECT price_left();

--
-- cost_of
--
\set VERBOSITY default
SELECT model, answers, epsilon, answers_left, fits, remark FROM privpred.cost_of($$
	SELECT private_predict('price', m), private_score('price_score', m), private_predict('price_release', m),
		private_predict('price_stream', m), private_predict(y, m)
	FROM price_mine m LIMIT 20$$) ORDER BY model;
-- What is asked for rows in conflict, and by actions of MERGE (from 15 on), is counted as well; which rows these are, no plan says.
CREATE TABLE price_once (id int PRIMARY KEY, answer text);
SELECT answers FROM privpred.cost_of($$INSERT INTO price_once SELECT id, '' FROM price_mine
	ON CONFLICT (id) DO UPDATE SET answer = private_predict('price', ARRAY[excluded.id])$$);
SELECT answers FROM privpred.cost_of($$INSERT INTO price_once SELECT id, '' FROM price_mine
	ON CONFLICT (id) DO UPDATE SET answer = '' WHERE private_predict('price', ARRAY[excluded.id]) = 'yes'$$);
SELECT answers FROM privpred.cost_of(CASE WHEN current_setting('server_version_num')::int < 150000
	THEN $$SELECT private_predict('price', m) FROM price_mine m$$
	ELSE $$MERGE INTO price_once o USING price_mine m ON o.id = m.id WHEN MATCHED AND private_predict('price', m) = 'yes'
		THEN UPDATE SET answer = private_predict('price', m) WHEN NOT MATCHED THEN INSERT VALUES (m.id, private_predict('price', m))$$ END);
INSERT INTO price_once SELECT id, '' FROM price_mine ON CONFLICT (id) DO UPDATE SET answer = private_predict('price', ARRAY[excluded.id]);
DROP TABLE price_once;
SELECT * FROM privpred.cost_of('SELECT 1');
SELECT privpred.cost_of('SELECT 1; SELECT 2');
SELECT privpred.cost_of('');
SELECT privpred.cost_of('DROP TABLE price_mine');
SELECT privpred.cost_of('SELECT nonsense');
SELECT privpred.cost_of($$SELECT private_predict('no_such_model', m) FROM price_mine m$$);
SELECT privpred.cost_of($$SELECT x FROM price_people$$);
SELECT privpred.cost_of($$SELECT private_predict('price', p) FROM price_people p$$);
SELECT * FROM privpred.cost_of(NULL);
RESET ROLE;
GRANT SELECT ON price_mine TO price_stranger;
GRANT SELECT ON price_fresh TO price_owner;
SET ROLE price_stranger;
SELECT privpred.cost_of($$SELECT private_predict('price', m) FROM price_mine m$$);
RESET ROLE;
SET ROLE price_owner;
ANALYZE price_people;
SELECT * FROM privpred.cost_of($$SELECT private_predict('price', p) FROM price_people p$$);
SELECT remark FROM privpred.cost_of($$SELECT private_predict('price', f) FROM price_fresh f$$);

-- Repeats of answers that are kept for good are taken off, in every session: 20 are, so 25 questions are 5.
SELECT privpred.grant_budget('price_analyst', 'price_people', epsilon => 16.5);
RESET ROLE;
SET ROLE price_analyst;
\set VERBOSITY terse
SELECT count(*) FROM (SELECT private_predict('price_kept', m) FROM price_mine m WHERE id <= 20 OFFSET 0) s;
\c
SET client_min_messages = warning;
SET privpred.repeat_memory = '4MB';
SET ROLE price_analyst;
SELECT price_left();
SELECT count(*) FROM (SELECT private_predict('price_kept', m) FROM price_mine m WHERE id <= 25 OFFSET 0) s;
SELECT price_left();
SELECT private_predict('price_kept', m) FROM price_mine m WHERE id <= 50;
SELECT private_score('price_score', m) FROM price_mine m WHERE id <= 50;
SELECT price_left();

-- Streams, and models that are charged once, are never refused in this way.
RESET ROLE;
SET ROLE price_owner;
SELECT privpred.grant_budget('price_buyer', 'price_people', epsilon => 3, delta => 1e-3);
RESET ROLE;
GRANT SELECT ON price_mine TO price_buyer;
SET ROLE price_buyer;
SET client_min_messages = error;
SELECT privpred.open_stream('price_stream', unstable => 5, epsilon => 0.1, delta => 1e-5) > 0 AS opened;
SET client_min_messages = warning;
SELECT count(*) FROM (SELECT private_predict('price_release', m) FROM price_mine m OFFSET 0) s;
SELECT count(*) FROM (SELECT private_predict('price_stream', ARRAY[id]) FROM price_mine m WHERE id > 5000 OFFSET 0) s;

-- A SECURITY DEFINER function pays with its owner's budget, and its statements are its own: not foreseen.
RESET ROLE;
SET ROLE price_analyst;
CREATE FUNCTION price_service(x float8) RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = public
	AS $$ SELECT private_predict('price', ARRAY[x]) $$;
CREATE VIEW price_view AS SELECT id, private_predict('price', m) AS answer FROM price_mine m;
GRANT SELECT ON price_view TO price_buyer;
RESET ROLE;
SET ROLE price_buyer;
SELECT count(*) FROM (SELECT price_service(x) FROM price_mine WHERE id > 4000 OFFSET 0) s;
CREATE TEMPORARY TABLE price_served AS SELECT price_service(x) FROM price_mine WHERE id > 4000;
-- A view is part of the statement, and whoever asks pays.
SELECT answers, fits FROM privpred.cost_of('SELECT * FROM price_view');
SELECT answer FROM price_view;
RESET ROLE;
SET ROLE price_analyst;
SELECT price_left();

RESET ROLE;
SELECT privpred.drop_model('price_kept');
DROP VIEW price_view;
DROP FUNCTION price_left, price_three, price_loop, price_service;
DROP TABLE price_mine, price_part, price_split, price_few, price_fresh, price_statements, price_kept_answers, price_people;
REVOKE CREATE ON SCHEMA public FROM price_owner, price_analyst;
DROP OWNED BY price_owner, price_analyst, price_buyer, price_stranger;
DROP ROLE price_owner, price_analyst, price_buyer, price_stranger;
