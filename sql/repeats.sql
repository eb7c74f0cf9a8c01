-- A repeat of the same question in a session is free.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
DO $$ BEGIN PERFORM privpred.verify_ledger(incremental => true); END $$;	-- so that what follows looks at the rest alone
RESET client_min_messages;
LOAD 'privpred';
SELECT boot_val AS default_kb FROM pg_settings WHERE name = 'privpred.repeat_memory';
SET privpred.repeat_memory = '4MB';
CREATE ROLE repeats_ann;
CREATE ROLE repeats_bob;
CREATE TABLE repeats_people (id int PRIMARY KEY, age int, sick boolean);
INSERT INTO repeats_people SELECT i, i % 100, i % 100 > 50 FROM generate_series(1, 2000) i;
SELECT privpred.protect('repeats_people');
SELECT privpred.create_model('repeats', 'repeats_people', label => 'sick',
	features => '{"age": {"min": 0, "max": 100}}', teachers => 10, epsilon => 0.01, learner => 'stump') ->> 'version' AS version;
SELECT privpred.grant_budget('repeats_ann', 'repeats_people', epsilon => 1);
SELECT privpred.grant_budget('repeats_bob', 'repeats_people', epsilon => 1);

-- after whatever statements gave back
CREATE FUNCTION repeats_answers() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	PERFORM privpred.verify_ledger(incremental => true);
	RETURN (SELECT COALESCE(sum(answers), 0) FROM privpred.ledger
		WHERE relation = 'repeats_people'::regclass);
END $$;

-- the condition and the select list cost one answer a row, and agree
SET ROLE repeats_ann;
SELECT COALESCE(bool_and(answer = 'true'), true) AS they_agree FROM (
	SELECT private_predict('repeats', ARRAY[age]) AS answer
	FROM generate_series(0, 19) age WHERE private_predict('repeats', ARRAY[age]) = 'true' OFFSET 0) s;
SELECT repeats_answers();
-- another form of the same question
SELECT count(private_predict('repeats', jsonb_build_object('age', age))) FROM generate_series(0, 19) age;
SELECT count(private_predict('repeats', r)) FROM (SELECT age FROM generate_series(0, 19) age) r;
SELECT repeats_answers();
-- whatever becomes of the transaction: what was told was told
BEGIN;
SELECT count(private_predict('repeats', ARRAY[20])) FROM generate_series(1, 3);
ROLLBACK;
SELECT count(private_predict('repeats', ARRAY[20]));
SELECT repeats_answers();
-- the same answer each time, though a fresh one would differ (epsilon is 0.01)
SELECT count(DISTINCT private_predict('repeats', ARRAY[50])) FROM generate_series(1, 100);
SELECT repeats_answers();

-- another role pays for itself
SET ROLE repeats_bob;
SELECT count(private_predict('repeats', ARRAY[50])) FROM generate_series(1, 3);
SELECT repeats_answers();

-- a refusal costs nothing, also in between
SELECT private_predict('repeats', ARRAY['NaN'::float8]);

-- other people's grants change nothing
RESET ROLE;
SELECT privpred.grant_budget('repeats_ann', 'repeats_people', epsilon => 1);
SET ROLE repeats_bob;
SELECT count(private_predict('repeats', ARRAY[50]));
SELECT repeats_answers();

-- whoever loses the budget is refused even what is known
RESET ROLE;
SELECT privpred.revoke_budget('repeats_bob', 'repeats_people');
SET ROLE repeats_bob;
SELECT private_predict('repeats', ARRAY[50]);

-- a new version is another question; a version that was rolled back, too
RESET ROLE;
SELECT privpred.retrain('repeats') ->> 'version' AS version;
SET ROLE repeats_ann;
SELECT count(private_predict('repeats', ARRAY[50]));
SELECT repeats_answers();
RESET ROLE;
BEGIN;
SELECT privpred.retrain('repeats') ->> 'version' AS version;
ROLLBACK;
SET ROLE repeats_ann;
SELECT count(private_predict('repeats', ARRAY[50]));
SELECT repeats_answers();

-- the memory is bounded: the oldest go first
SET privpred.repeat_memory = '1kB';
SELECT count(private_predict('repeats', ARRAY[age])) FROM generate_series(0, 19) age;
SELECT repeats_answers();
SELECT count(private_predict('repeats', ARRAY[19])), count(private_predict('repeats', ARRAY[18]));
SELECT repeats_answers();
SELECT count(private_predict('repeats', ARRAY[0]));
SELECT repeats_answers();
-- none: each call is charged
SET privpred.repeat_memory = 0;
SELECT count(private_predict('repeats', ARRAY[0])) FROM generate_series(1, 3);
SELECT repeats_answers();

-- memoize: repeats are free in every session, for each role
RESET ROLE;
SELECT privpred.create_model('memo', 'repeats_people', label => 'sick',
	features => '{"age": {"min": 0, "max": 100}}', teachers => 10, epsilon => 0.001, learner => 'stump',
	options => '{"memoize": true, "memoize_limit": 30}') ->> 'version' AS version;
SELECT privpred.grant_budget('repeats_bob', 'repeats_people', epsilon => 1);
SELECT repeats_answers();
SET ROLE repeats_ann;
SELECT string_agg(private_predict('memo', ARRAY[age]), ' ' ORDER BY age) AS first
FROM generate_series(0, 19) age \gset
SELECT repeats_answers();
\c -
SET privpred.repeat_memory = 0;
SET ROLE repeats_ann;
SELECT string_agg(private_predict('memo', ARRAY[age]), ' ' ORDER BY age) = :'first' AS same
FROM generate_series(0, 19) age;
SELECT repeats_answers();
-- not for others
SET ROLE repeats_bob;
SELECT count(private_predict('memo', ARRAY[age])) FROM generate_series(0, 4) age;
SELECT repeats_answers();
-- rolled back or not
SET ROLE repeats_ann;
BEGIN;
SELECT count(private_predict('memo', ARRAY[20]));
ROLLBACK;
SELECT count(private_predict('memo', ARRAY[20]));
SELECT repeats_answers();
-- the memory is bounded: the first 30 stay, others are asked anew
SELECT count(private_predict('memo', ARRAY[age])) FROM generate_series(21, 39) age;
SELECT repeats_answers();
SELECT count(private_predict('memo', ARRAY[age])) FROM generate_series(0, 39) age;
SELECT repeats_answers();
-- nobody reads it
SELECT count(*) FROM privpred.memo;
-- a budget that was revoked takes its answers along
RESET ROLE;
SELECT privpred.revoke_budget('repeats_bob', 'repeats_people');
SET ROLE repeats_bob;
SELECT private_predict('memo', ARRAY[0]);
-- a new version starts anew
RESET ROLE;
SELECT privpred.retrain('memo') ->> 'version' AS version;
SELECT count(*) FROM privpred.memo;
SET ROLE repeats_ann;
SELECT count(private_predict('memo', ARRAY[0])) FROM generate_series(1, 2);
SELECT repeats_answers();
RESET ROLE;
SELECT count(*) FROM privpred.memo;
-- a damaged one is noticed
UPDATE privpred.memo SET class_index = 1000000;
SET ROLE repeats_ann;
SELECT private_predict('memo', ARRAY[0]);
RESET ROLE;
SELECT privpred.drop_model('memo');
SELECT count(*) FROM privpred.memo;
SELECT privpred.create_model('memo', 'repeats_people', label => 'sick',
	features => '{"age": {"min": 0, "max": 100}}', options => '{"memoize": "yes"}');
SELECT privpred.create_model('memo', 'repeats_people', label => 'sick',
	features => '{"age": {"min": 0, "max": 100}}', options => '{"memoize": true, "memoize_limit": 0}');

SELECT privpred.drop_model('repeats');
SELECT privpred.revoke_budget('repeats_ann', 'repeats_people');
DROP FUNCTION repeats_answers;
DROP TABLE repeats_people;
DROP ROLE repeats_ann, repeats_bob;
