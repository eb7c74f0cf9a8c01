-- privpred.on_refusal = null: what cannot be paid for and what is no valid question has NULL for an answer, and
-- one warning at the statement's end says how many and why.  All else is an error as ever.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
DO $$ BEGIN PERFORM privpred.verify_ledger(incremental => true); END $$;	-- so that what follows looks at the rest alone
CREATE ROLE unanswered_owner;
CREATE ROLE unanswered_ann;
CREATE ROLE unanswered_bob;
CREATE ROLE unanswered_eve;
GRANT CREATE ON SCHEMA public TO unanswered_owner, unanswered_ann;
SET ROLE unanswered_owner;
CREATE TABLE unanswered_people (id int PRIMARY KEY, x float8 NOT NULL, c text NOT NULL, y text NOT NULL);
INSERT INTO unanswered_people SELECT i, i / 1000.0, 'a', CASE WHEN i > 500 THEN 'yes' ELSE 'no' END FROM generate_series(1, 1000) i;
SELECT privpred.protect('unanswered_people', declared_units => 1000);
SELECT FROM privpred.create_model('unanswered', 'unanswered_people', label => 'y', classes => '{no,yes}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}, "c": {"levels": ["a", "b"]}}', mechanism => 'vote', epsilon => 0.1);
SELECT FROM privpred.create_model('unanswered_score', 'unanswered_people', label => 'id', teachers => 9, options => '{"bins": [0, 500, 1000]}',
	features => '{"x": {"min": 0, "max": 1}, "c": {"levels": ["a", "b"]}}', mechanism => 'vote', epsilon => 0.1);
SELECT FROM privpred.create_model('unanswered_release', 'unanswered_people', label => 'y', classes => '{no,yes}',
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'cover', epsilon => 1, options => '{"class": "thresholds"}');
SELECT FROM privpred.create_model('unanswered_stream', 'unanswered_people', label => 'y', classes => '{no,yes}', teachers => 50,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'sparse');
SELECT FROM privpred.create_model('unanswered_soft', 'unanswered_people', label => 'y', classes => '{no,yes}', teachers => 50,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'soft');
SELECT FROM privpred.create_model('unanswered_voted', 'unanswered_people', label => 'y', classes => '{no,yes}', teachers => 50,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'sparse', epsilon => 1.5, options => '{"on_unstable": "vote"}');
SELECT privpred.grant_budget('unanswered_ann', 'unanswered_people', epsilon => 1);
SET ROLE unanswered_ann;
CREATE TABLE unanswered_asked AS SELECT i AS id, i / 30.0::float8 AS x, 'a' AS c FROM generate_series(1, 30) i;
ANALYZE unanswered_asked;
CREATE FUNCTION unanswered_left() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM privpred.verify_ledger(incremental => true);
	RETURN (SELECT answers_left FROM privpred.cost('unanswered'));
END $$;

-- 10 of 30 are paid for; with an error there would be none.
SELECT count(private_predict('unanswered', a)), count(*) FROM unanswered_asked a;
SET privpred.on_refusal = 'null';
SELECT count(private_predict('unanswered', a)), count(*) FROM unanswered_asked a;
SELECT unanswered_left();
-- Numbers are refused in the same way.
SELECT count(private_score('unanswered_score', a)), count(*) FROM unanswered_asked a WHERE id < 4;

-- Bad questions of every form, and one budget that is gone: one warning for all of them.
SELECT private_predict('unanswered', ARRAY[1, 2]) AS length,
	private_predict('unanswered', '{{0.1,1,0}}'::float8[]) AS dimensions,
	private_predict('unanswered', ARRAY[0.1, 1, 1]) AS not_one_hot,
	private_predict('unanswered', '{"x": 0.1, "c": "z"}'::jsonb) AS level,
	private_predict('unanswered', '{"x": 0.1}'::json) AS missing,
	private_predict('unanswered', '[1]'::jsonb) AS no_object,
	private_predict('unanswered', 'nonsense'::text) AS no_form,
	private_predict('unanswered', r) AS no_column,
	private_predict('unanswered', '{"x": null, "c": "a"}'::jsonb) AS no_value,
	private_score('unanswered_score', ARRAY['NaN', 1, 0]::float8[]) AS not_a_number,
	private_predict('unanswered', ARRAY[0.1, 1, 0]) AS unpaid
	FROM (SELECT 0.1::float8 AS x) r;
-- A row type that does not fit is looked at for every row.
SELECT count(private_predict('unanswered', r)) FROM (SELECT i::text AS x, 'a' AS c FROM generate_series(1, 5) i OFFSET 0) r;
SELECT count(private_predict('unanswered', r)), count(*) FROM (SELECT 0.2::float8 AS x, 'a' AS c FROM generate_series(1, 5) i OFFSET 0) r;
-- What is not even JSON, or an array of numbers, is an error of its type.
SELECT private_predict('unanswered', '{"x": '::text);
SELECT private_predict('unanswered', '{0.1, b}'::text);

-- Everything else is an error as ever.
SELECT private_predict('no_such_model', ARRAY[1]);
SELECT private_score('unanswered', ARRAY[0.1, 1, 0]);
SELECT private_predict('unanswered_stream', ARRAY[1]);
SELECT private_score('unanswered_score', ARRAY[0.1, 1, 0], 0.01);
RESET ROLE;
SET ROLE unanswered_bob;
SELECT private_predict('unanswered', ARRAY[0.1, 1, 0]);
RESET ROLE;
SET ROLE unanswered_owner;
SELECT private_predict('unanswered', ARRAY[0.1, 1, 0]);
RESET ROLE;
SET ROLE unanswered_ann;
SET privpred.max_answers_per_statement = 0;
SELECT private_predict('unanswered', ARRAY[0.1, 1, 0]);
RESET privpred.max_answers_per_statement;
SET privpred.on_refusal = 'nothing';

-- One warning for each statement, when it ends: in a block, of a function that asks for each row, of DO, of CALL.
BEGIN;
SELECT private_predict('unanswered', a) AS answer FROM unanswered_asked a LIMIT 2;
SELECT 'after the first warning' AS t;
SELECT private_predict('unanswered', a) AS answer FROM unanswered_asked a LIMIT 1;
COMMIT;
CREATE FUNCTION unanswered_ask(x float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	SELECT private_predict('unanswered', ARRAY[x, 1, 0]) INTO answer FROM pg_catalog.pg_class LIMIT 1;
	answer := private_predict('unanswered', ARRAY[x, 0, 1]);
	RETURN answer;
END $$;
SELECT count(unanswered_ask(x)) FROM unanswered_asked WHERE id < 4;
DO $$ BEGIN PERFORM unanswered_ask(0.1); PERFORM unanswered_ask(0.2); END $$;
CREATE PROCEDURE unanswered_work() LANGUAGE plpgsql AS $$
BEGIN
	PERFORM unanswered_ask(0.1);
	COMMIT;
	PERFORM unanswered_ask(0.2);
END $$;
CALL unanswered_work();
-- Cursors, one of which outlives its transaction; a prepared statement; what writes.
BEGIN;
DECLARE unanswered_cursor CURSOR FOR SELECT private_predict('unanswered', a) AS answer FROM unanswered_asked a;
FETCH 2 FROM unanswered_cursor;
FETCH 1 FROM unanswered_cursor;
CLOSE unanswered_cursor;
COMMIT;
BEGIN;
DECLARE unanswered_cursor CURSOR WITH HOLD FOR SELECT private_predict('unanswered', a) AS answer FROM unanswered_asked a WHERE id < 3;
COMMIT;
FETCH ALL FROM unanswered_cursor;
CLOSE unanswered_cursor;
PREPARE unanswered_prepared AS SELECT count(private_predict('unanswered', a)) FROM unanswered_asked a;
EXECUTE unanswered_prepared;
CREATE TABLE unanswered_kept AS SELECT id, private_predict('unanswered', a) AS answer FROM unanswered_asked a;
INSERT INTO unanswered_kept SELECT id, private_predict('unanswered', a) AS answer FROM unanswered_asked a;
COPY (SELECT private_predict('unanswered', a) FROM unanswered_asked a WHERE id < 3) TO STDOUT;
SELECT count(*), count(answer) FROM unanswered_kept;
-- No warning if the statement fails, nor by a later one; and one if only a part fails.
SELECT private_predict('unanswered', a), 1 / (id - 2) FROM unanswered_asked a;
SELECT 1 AS one;
DO $$
BEGIN
	PERFORM private_predict('unanswered', ARRAY[0.1, 1, 0]);
	RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
	NULL;
END $$;
-- A new budget is noticed.
SET privpred.repeat_memory = 0;
RESET ROLE;
SELECT privpred.grant_budget('unanswered_ann', 'unanswered_people', epsilon => 1.5);
SET ROLE unanswered_ann;
SELECT count(private_predict('unanswered', a)), count(*) FROM unanswered_asked a;
SELECT unanswered_left();

-- The other kinds of charge: models that are charged once, streams by answers and by unstable ones.
SELECT private_predict('unanswered_release', ARRAY[0.5]);
RESET ROLE;
SET ROLE unanswered_owner;
SELECT privpred.grant_budget('unanswered_bob', 'unanswered_people', epsilon => 0.5, delta => 1e-3);
RESET ROLE;
GRANT SELECT ON unanswered_asked TO unanswered_bob;
SET ROLE unanswered_bob;
SELECT private_predict('unanswered_release', ARRAY[0.5]) AS n, private_predict('unanswered_release', ARRAY[0.6]) AS n;
SELECT private_predict('unanswered_stream', ARRAY[0.5]);
RESET ROLE;
SET ROLE unanswered_owner;
SELECT privpred.grant_budget('unanswered_bob', 'unanswered_people', epsilon => 100, delta => 1e-3);
RESET ROLE;
SET ROLE unanswered_bob;
SELECT privpred.open_stream('unanswered_stream', unstable => 1, epsilon => 6, delta => 1e-5, answers => 7) > 0 AS opened;
SELECT count(*), count(private_predict('unanswered_stream', ARRAY[1])) FROM generate_series(1, 10) i;
-- Far too small an epsilon: answers are unstable, so they are NULL without a warning, and the 20th ends the stream, while
-- more are reserved.
SET client_min_messages = error;
SELECT privpred.open_stream('unanswered_stream', unstable => 20, epsilon => 0.01, delta => 1e-9) > 0 AS opened;
SET client_min_messages = warning;
SELECT count(*), count(private_predict('unanswered_stream', ARRAY[0.5])) FROM generate_series(1, 30) i;
SELECT private_predict('unanswered_stream', ARRAY[0.5]);
SET client_min_messages = error;
SELECT privpred.open_stream('unanswered_soft', unstable => 21, epsilon => 0.01, delta => 1e-9) > 0 AS opened;
SET client_min_messages = warning;
SELECT count(*), count(private_score('unanswered_soft', ARRAY[0.5])) FROM generate_series(1, 30) i;
SELECT model, unstable_used, status FROM privpred.streams WHERE status <> 'open' ORDER BY stream;
-- A vote takes the place of an unstable answer while it can be paid for: once here.  Whether what is written for an
-- answer tells it or not (uniform).
RESET ROLE;
SET ROLE unanswered_owner;
SELECT privpred.grant_budget('unanswered_eve', 'unanswered_people', epsilon => 2, delta => 1e-3);
RESET ROLE;
SET ROLE unanswered_eve;
SET client_min_messages = error;
SELECT privpred.open_stream('unanswered_voted', unstable => 5, epsilon => 0.01, delta => 1e-9) > 0 AS opened;
SET client_min_messages = warning;
SELECT count(*), count(private_predict('unanswered_voted', ARRAY[0.5])) FROM generate_series(1, 4) i;
SELECT privpred.close_stream('unanswered_voted');
SET client_min_messages = error;
SELECT privpred.open_stream('unanswered_voted', unstable => 5, epsilon => 0.01, delta => 1e-9, uniform => true) > 0 AS opened;
SET client_min_messages = warning;
SELECT count(*), count(private_predict('unanswered_voted', ARRAY[0.5])) FROM generate_series(1, 4) i;
SELECT unstable_used, unstable_limit, status FROM privpred.streams WHERE model = 'unanswered_voted' ORDER BY stream;

RESET ROLE;
DROP FUNCTION unanswered_left, unanswered_ask;
DROP PROCEDURE unanswered_work;
DROP TABLE unanswered_asked, unanswered_kept, unanswered_people;
REVOKE CREATE ON SCHEMA public FROM unanswered_owner, unanswered_ann;
DROP OWNED BY unanswered_owner, unanswered_ann, unanswered_bob, unanswered_eve;
DROP ROLE unanswered_owner, unanswered_ann, unanswered_bob, unanswered_eve;
