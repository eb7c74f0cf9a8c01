-- Streams: bought for a number of unstable answers, shared by sessions, never rolled back.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
DO $$ BEGIN PERFORM privpred.verify_ledger(incremental => true); END $$;	-- so that what follows looks at the rest alone
CREATE ROLE s_owner;
CREATE ROLE s_ana;
CREATE ROLE s_ben;
CREATE ROLE s_team;
CREATE ROLE s_carl;
GRANT s_team TO s_carl;
GRANT CREATE ON SCHEMA public TO s_owner;
-- after what statements leave behind has been served
CREATE FUNCTION s_streams() RETURNS SETOF privpred.streams LANGUAGE plpgsql AS $$
BEGIN
	PERFORM privpred.verify_ledger(incremental => true);
	RETURN QUERY SELECT * FROM privpred.streams ORDER BY stream;
END $$;
SET ROLE s_owner;
CREATE TABLE s_people (id int PRIMARY KEY, x float8, y text);
INSERT INTO s_people SELECT i, (i * 7919 % 20011) / 20011.0, CASE WHEN i * 7919 % 20011 > 10005 THEN 'yes' ELSE 'no' END
FROM generate_series(1, 20000) i;
SELECT privpred.protect('s_people');
SELECT privpred.create_model('s_sparse', 's_people', label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}',
	mechanism => 'sparse', learner => 'centroid', teachers => 1000, epsilon => 1) ->> 'version' AS version;
SELECT privpred.create_model('s_vote', 's_people', label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}',
	learner => 'centroid', teachers => 100) ->> 'version' AS version;
SELECT name, mechanism, charge_kind, charge, pure_charge FROM privpred.models WHERE relation = 's_people'::regclass ORDER BY 1;
SELECT privpred.grant_budget('s_ana', 's_people', epsilon => 100, delta => 1e-6);
SELECT privpred.grant_budget('s_ben', 's_people', epsilon => 100);

-- what a stream cannot be
SET ROLE s_ana;
SELECT privpred.open_stream('s_sparse', 0, 1, 1e-18);
SELECT privpred.open_stream('s_sparse', 3, 0, 1e-18);
SELECT privpred.open_stream('s_sparse', 3, 1000, 1e-18);
SELECT privpred.open_stream('s_sparse', 3, 1, 0);
SELECT privpred.open_stream('s_sparse', 3, 1, 2);
SELECT privpred.open_stream('s_sparse', 3, 1, 0.9);
SELECT privpred.open_stream('s_sparse', 3, 1, 'NaN');
SELECT privpred.open_stream('s_sparse', 3, 1, 1e-18, answers => 0);
SELECT privpred.open_stream('s_sparse', NULL, 1, 1e-18);
SELECT privpred.open_stream('s_nothing', 3, 1, 1e-18);
SELECT privpred.open_stream('s_vote', 3, 1, 1e-18);
SELECT privpred.close_stream('s_vote');
-- more than the budget's delta, or epsilon
SELECT privpred.open_stream('s_sparse', 3, 1, 1e-6);
SELECT privpred.open_stream('s_sparse', 300, 1, 1e-18);
-- a budget without delta, or none
SET ROLE s_ben;
SELECT privpred.open_stream('s_sparse', 3, 1, 1e-18);
SET ROLE s_carl;
SELECT privpred.open_stream('s_sparse', 3, 1, 1e-18);

-- no stream yet
SET ROLE s_ana;
SELECT private_predict('s_sparse', ARRAY[0.1]);
SELECT privpred.close_stream('s_sparse');
SELECT count(*) FROM privpred.ledger WHERE kind NOT IN ('grant');

-- a stream of three unstable answers
SET privpred.repeat_memory = 0;
SELECT privpred.open_stream('s_sparse', unstable => 3, epsilon => 1, delta => 1e-18, answers => 50) > 0 AS opened;
SELECT privpred.open_stream('s_sparse', unstable => 3, epsilon => 1, delta => 1e-18);
SELECT role, relation, model, version, unstable_limit, unstable_used, answers_limit, answers_left, epsilon, delta, status, opened_by
FROM s_streams();
SELECT kind, answers, epsilon <= 3 AS epsilon, delta, detail ~ '3 unstable answers, width' AS detail FROM privpred.ledger WHERE kind = 'stream';
SELECT private_predict('s_sparse', ARRAY[0.1]), private_predict('s_sparse', ARRAY[0.9]);
SELECT private_predict('s_sparse', '{"x": 0.2}'::jsonb);
SELECT private_predict('s_sparse', ARRAY[0.5]) IS NULL AS unstable;
SELECT unstable_used, answers_left, status FROM s_streams();

-- what is undone is not given back
BEGIN;
SELECT private_predict('s_sparse', ARRAY[0.5]) IS NULL AS unstable;
SAVEPOINT one;
SELECT private_predict('s_sparse', ARRAY[0.1]);
ROLLBACK TO one;
ROLLBACK;
SELECT unstable_used, answers_left FROM s_streams();

-- the same question is free within a session, and a bad one too
SET privpred.repeat_memory = '4MB';
SELECT private_predict('s_sparse', ARRAY[0.15]) FROM generate_series(1, 3);
SELECT private_predict('s_sparse', ARRAY[0.1, 0.2]);
SELECT private_predict('s_sparse', NULL::float8[]);
SELECT unstable_used, answers_left FROM s_streams();
SET privpred.repeat_memory = 0;

-- blocks of answers that are not used come back
SELECT count(*) FROM (SELECT private_predict('s_sparse', ARRAY[0.1 + i / 1000.0]) FROM generate_series(1, 20) i) s;
SELECT count(a) FROM (SELECT private_predict('s_sparse', ARRAY[0.1 + i / 1000.0]) a FROM generate_series(1, 100) i LIMIT 5) s;
SELECT unstable_used, answers_left, status FROM s_streams();

-- nobody sees the threshold
SELECT threshold FROM privpred.stream;
SET ROLE s_owner;
SELECT threshold FROM privpred.stream;
SELECT role, model, unstable_used FROM s_streams();
SET ROLE s_ben;
SELECT count(*) FROM s_streams();
-- nor uses somebody else's stream, or ends it
SELECT private_predict('s_sparse', ARRAY[0.1]);
SELECT privpred.close_stream('s_sparse');

-- the last unstable answer closes it, for good
SET ROLE s_ana;
SELECT private_predict('s_sparse', ARRAY[0.5]) IS NULL AS unstable;
SELECT private_predict('s_sparse', ARRAY[0.1]);
SELECT privpred.close_stream('s_sparse');
SELECT unstable_used, status, closed_at IS NOT NULL AS closed FROM s_streams();
SELECT kind, answers, epsilon, delta, regexp_replace(detail, '\d+', 'N') AS detail FROM privpred.ledger WHERE kind IN ('unstable', 'stream closed') ORDER BY id;

-- all answers given
SELECT privpred.open_stream('s_sparse', 2, 1, 1e-18, answers => 3) > 0 AS opened;
SELECT private_predict('s_sparse', ARRAY[0.1]) FROM generate_series(1, 3);
SELECT private_predict('s_sparse', ARRAY[0.1]);
SELECT answers_limit, answers_left, unstable_used, status FROM s_streams() ORDER BY stream DESC LIMIT 1;

-- retraining ends a stream, and dropping a model does
SELECT privpred.open_stream('s_sparse', 2, 1, 1e-18) > 0 AS opened;
SET ROLE s_owner;
SELECT privpred.retrain('s_sparse') ->> 'version' AS version;
SET ROLE s_ana;
SELECT status FROM s_streams() ORDER BY stream DESC LIMIT 1;
SELECT private_predict('s_sparse', ARRAY[0.1]);
SELECT version, status FROM s_streams() ORDER BY stream DESC LIMIT 1;
SELECT privpred.open_stream('s_sparse', 2, 1, 1e-18) > 0 AS opened;
SELECT private_predict('s_sparse', ARRAY[0.1]);
SELECT version, status FROM s_streams() ORDER BY stream DESC LIMIT 1;
SELECT privpred.close_stream('s_sparse');
SELECT private_predict('s_sparse', ARRAY[0.1]);
SELECT status FROM s_streams() ORDER BY stream DESC LIMIT 1;

-- a version that is not committed has no streams
RESET ROLE;
SELECT privpred.grant_budget('s_owner', 's_people', epsilon => 100, delta => 1e-6);
SET ROLE s_owner;
SELECT privpred.open_stream('s_sparse', 2, 1, 1e-18) > 0 AS opened;
BEGIN;
SELECT privpred.retrain('s_sparse') ->> 'version' AS version;
SELECT private_predict('s_sparse', ARRAY[0.1]);
ROLLBACK;
SELECT private_predict('s_sparse', ARRAY[0.1]);

-- revoked is revoked; what was paid for is not lost
SET ROLE s_ana;
SELECT privpred.open_stream('s_sparse', 2, 1, 1e-18) > 0 AS opened;
SET ROLE s_owner;
SELECT privpred.revoke_budget('s_ana', 's_people');
SET ROLE s_ana;
SELECT private_predict('s_sparse', ARRAY[0.1]);
SET ROLE s_owner;
SELECT privpred.grant_budget('s_ana', 's_people', epsilon => 100, delta => 1e-6);
SET ROLE s_ana;
SELECT private_predict('s_sparse', ARRAY[0.1]);

-- groups: whoever inherits the budget may use the stream, whoever opened it may close it
SET ROLE s_owner;
SELECT privpred.grant_budget('s_team', 's_people', epsilon => 20, delta => 1e-6);
SET ROLE s_team;
SELECT privpred.open_stream('s_sparse', 2, 1, 1e-18) > 0 AS opened;
SET ROLE s_carl;
SELECT private_predict('s_sparse', ARRAY[0.9]);
SELECT role, status, opened_by FROM s_streams();
SELECT privpred.open_stream('s_sparse', 2, 1, 1e-18);
SELECT privpred.close_stream('s_sparse');
SET ROLE s_team;
SELECT privpred.close_stream('s_sparse');
SET ROLE s_carl;
SELECT privpred.open_stream('s_sparse', 2, 1, 1e-18) > 0 AS opened;
SELECT role, opened_by FROM s_streams() WHERE status = 'open';
SELECT privpred.close_stream('s_sparse');

-- a vote in place of an unstable answer is charged for itself
SET ROLE s_owner;
SELECT privpred.create_model('s_falls', 's_people', label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}',
	mechanism => 'sparse', learner => 'centroid', teachers => 1000, epsilon => 1, options => '{"on_unstable": "vote"}') ->> 'mechanism' AS mechanism;
SELECT privpred.create_model('s_wrong', 's_people', label => 'y', classes => '{no,yes}', features => '["x"]', mechanism => 'sparse',
	options => '{"on_unstable": "guess"}');
SELECT privpred.create_model('s_wrong', 's_people', label => 'y', classes => '{no,yes}', features => '["x"]', mechanism => 'sparse',
	options => '{"memoize": true}');
SELECT privpred.grant_budget('s_ben', 's_people', epsilon => 4.5, delta => 1e-6, per_answer => 1);
SET ROLE s_ben;
SELECT privpred.open_stream('s_falls', 3, 1, 1e-18) > 0 AS opened;
SELECT private_predict('s_falls', ARRAY[0.1]);
SELECT private_predict('s_falls', ARRAY[0.5]) IN ('no', 'yes') AS voted;
SELECT kind, answers FROM privpred.ledger WHERE role = 's_ben'::regrole AND kind <> 'grant' ORDER BY id;
SELECT private_predict('s_falls', ARRAY[0.5 + i / 1000.0]) IN ('no', 'yes') AS voted FROM generate_series(1, 2) i;
SELECT unstable_used, status FROM s_streams();

-- scores
SET ROLE s_owner;
SELECT privpred.create_model('s_soft', 's_people', label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}',
	mechanism => 'soft', teachers => 500, epsilon => 1, options => '{"precision": 0.5}') ->> 'mechanism' AS mechanism;
SELECT privpred.create_model('s_wrong', 's_people', label => 'y', classes => '{no,yes}', features => '["x"]', mechanism => 'soft',
	options => '{"precision": 0.3}');
SET ROLE s_ana;
SELECT privpred.open_stream('s_soft', 4, 1, 1e-18) > 0 AS opened;
SELECT private_predict('s_soft', ARRAY[0.1]);
SELECT private_score('s_sparse', ARRAY[0.1]);
SELECT private_score('s_soft', ARRAY[0.1], 0.3);
SELECT private_score('s_soft', ARRAY[0.01]), private_score('s_soft', ARRAY[0.99]), private_score('s_soft', ARRAY[0.99], 1);
-- teachers on both sides of an edge agree in the shifted bins
SELECT private_score('s_soft', ARRAY[0.5]);
SELECT unstable_used FROM s_streams() WHERE model = 's_soft';

-- members that only vote score 0 or 1 by it, whatever the last model's scores left in memory
SET ROLE s_owner;
SELECT privpred.create_model('s_trees', 's_people', label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}',
	mechanism => 'soft', teachers => 500, learner => 'tree', epsilon => 1, options => '{"precision": 0.5}') ->> 'mechanism' AS mechanism;
SET ROLE s_ana;
SELECT privpred.open_stream('s_trees', 1, 1, 1e-18) > 0 AS opened;
SELECT private_score('s_soft', ARRAY[0.99]), private_score('s_trees', ARRAY[0.01]), private_score('s_soft', ARRAY[0.01]), private_score('s_trees', ARRAY[0.99]);

-- the user's own scores
SET ROLE s_owner;
CREATE FUNCTION public.s_step(state float8, label text, x float8[]) RETURNS float8 IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT coalesce(state, 0) + 1';
CREATE AGGREGATE public.s_train(text, float8[]) (SFUNC = public.s_step, STYPE = float8);
CREATE FUNCTION public.s_score(state float8, x float8[]) RETURNS float8 IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT CASE WHEN x[1] > 0.9 THEN 1 / (state - state) ELSE x[1] END';
SELECT privpred.create_model('s_own', 's_people', label => 'y', classes => '{no,yes}', features => '{"x": {"min": 0, "max": 1}}',
	mechanism => 'soft', teachers => 300, learner => 'sql', options => '{"train": "public.s_train", "predict": "public.s_score"}') ->> 'mechanism' AS mechanism;
SET ROLE s_ana;
SELECT privpred.open_stream('s_own', 1, 2, 1e-18) > 0 AS opened;
-- a function that fails gives the default class
SELECT private_score('s_own', ARRAY[0.3]), private_score('s_own', ARRAY[0.72]), private_score('s_own', ARRAY[0.72], 0.01), private_score('s_own', ARRAY[0.95]);

-- what a budget buys: unstable answers
SELECT per_answer, answers_it_buys FROM privpred.epsilon_for(1, 1e-6, 20, 'sparse');
-- evaluation assumes a stream at the model's epsilon
SET ROLE s_owner;
SELECT rows, private_accuracy > 0.9 AS good, private_accuracy <= majority_accuracy AS not_better FROM privpred.evaluate('s_sparse', 's_people');
SELECT privpred.evaluate('s_soft', 's_people');

-- a stream that cannot be of use
SET client_min_messages = warning;
SET ROLE s_ana;
SELECT privpred.open_stream('s_sparse', 2, 0.01, 1e-18);
SELECT privpred.close_stream('s_sparse');
SELECT privpred.open_stream('s_sparse', 2, 0.01, 1e-18) > 0 AS opened;

RESET ROLE;
SELECT count(*) FROM s_streams() JOIN privpred.stream ON stream = stream_id WHERE holders <> 0 OR incarnation IS NOT NULL;
SELECT ok, problem FROM privpred.verify_ledger();
SELECT privpred.drop_model(name) FROM privpred.models WHERE relation = 's_people'::regclass;
DROP TABLE s_people;
DROP FUNCTION public.s_score;
DROP AGGREGATE public.s_train(text, float8[]);
DROP FUNCTION public.s_step;
SELECT DISTINCT status FROM s_streams() ORDER BY 1;
REVOKE CREATE ON SCHEMA public FROM s_owner;
DROP FUNCTION s_streams;
DROP OWNED BY s_ana, s_ben, s_carl, s_team, s_owner;
DROP ROLE s_ana, s_ben, s_carl, s_team, s_owner;
