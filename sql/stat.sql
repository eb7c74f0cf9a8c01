-- Counts of answers: exact, for whom they concern, cheap enough to be always on.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE ROLE st_owner;
CREATE ROLE st_ann;
CREATE ROLE st_bob;
CREATE ROLE st_team;
CREATE ROLE st_carl;
CREATE ROLE st_stranger;
CREATE ROLE st_watcher;
GRANT st_team TO st_carl;
GRANT pg_read_all_stats TO st_watcher;
GRANT CREATE ON SCHEMA public TO st_owner;
SET privpred.repeat_memory = '4MB';
SELECT privpred.stat_reset();
SET ROLE st_owner;
CREATE TABLE st_people (id int PRIMARY KEY, x float8, y boolean);
INSERT INTO st_people SELECT i, (i * 7919 % 2011) / 2011.0, i * 7919 % 2011 > 1005 FROM generate_series(1, 2000) i;
SELECT privpred.protect('st_people');
SELECT privpred.create_model('st_vote', 'st_people', label => 'y', features => '{"x": {"min": 0, "max": 1}}',
	learner => 'stump', teachers => 10, epsilon => 0.01) ->> 'version' AS version;
SELECT privpred.create_model('st_sparse', 'st_people', label => 'y', features => '{"x": {"min": 0, "max": 1}}',
	mechanism => 'sparse', learner => 'centroid', teachers => 100, epsilon => 1) ->> 'version' AS version;
SELECT privpred.grant_budget('st_ann', 'st_people', epsilon => 100, delta => 1e-6);
SELECT privpred.grant_budget('st_bob', 'st_people', epsilon => 0.05);
SELECT privpred.grant_budget('st_team', 'st_people', epsilon => 100);

-- training asks nobody
SELECT count(*) FROM privpred.stat;

-- answers and repeats
SET ROLE st_ann;
SELECT count(private_predict('st_vote', ARRAY[x / 100.0])) FROM generate_series(1, 50) x;
SELECT count(private_predict('st_vote', ARRAY[x / 100.0])) FROM generate_series(1, 60) x;
SELECT role, relation, model, answers, repeats, unstable, refusals, round_trips > 0 AS trips, ledger_ms > 0 AS waited,
	cache_hits + cache_misses AS sites, cache_misses > 0 AS missed, since <= now() AS since FROM privpred.stat;
-- bad input and unknown models are not refusals of the budget
SELECT private_predict('st_vote', ARRAY['NaN'::float8]);
SELECT private_predict('st_nothing', ARRAY[0.5]);
-- whatever becomes of the transaction
BEGIN;
SELECT count(private_predict('st_vote', ARRAY[0.77]));
SELECT 1 / 0;
ROLLBACK;
SELECT answers, repeats, refusals FROM privpred.stat;

-- refusals: no more answers, no budget
SET ROLE st_bob;
SELECT count(private_predict('st_vote', ARRAY[x / 100.0])) FROM generate_series(1, 5) x;
SELECT private_predict('st_vote', ARRAY[0.6]);
SELECT private_predict('st_vote', ARRAY[0.6]);
SET ROLE st_stranger;
SELECT private_predict('st_vote', ARRAY[0.6]);
-- each sees its own, also of what a group's budget pays
SELECT role, model, answers, refusals FROM privpred.stat;
SET ROLE st_carl;
SELECT count(private_predict('st_vote', ARRAY[x / 100.0])) FROM generate_series(1, 3) x;
SELECT role, model, answers, refusals FROM privpred.stat;
SET ROLE st_team;
SELECT role, model, answers, refusals FROM privpred.stat;
SET ROLE st_bob;
SELECT role, model, answers, refusals FROM privpred.stat;

-- unstable answers: with so small an epsilon no answer passes the threshold
SET ROLE st_ann;
SET privpred.repeat_memory = 0;
SELECT privpred.open_stream('st_sparse', 3, 0.01, 1e-18) > 0 AS opened;
SELECT private_predict('st_sparse', ARRAY[0.9]) IS NULL AS unstable FROM generate_series(1, 2);
SELECT model, answers, unstable, refusals, round_trips > 2 AS trips FROM privpred.stat WHERE model = 'st_sparse';

-- the owner sees what it was; who watches the server does not, nor what would tell it
SET ROLE st_owner;
SELECT role, model, answers, unstable, round_trips > 0 AS trips FROM privpred.stat ORDER BY 1, 2;
SET ROLE st_watcher;
SELECT role, model, answers, repeats IS NULL AS no_repeats, unstable, refusals, round_trips > 0 AS trips,
	ledger_ms > 0 AS waited, cache_hits + cache_misses AS sites FROM privpred.stat ORDER BY 1, 2;
SET ROLE st_stranger;
SELECT role, model FROM privpred.stat;
SELECT privpred.stat_reset();

-- a model that is gone leaves its counts, without a name
SET ROLE st_owner;
SELECT privpred.drop_model('st_vote');
SET ROLE st_bob;
SELECT role, relation, model, answers FROM privpred.stat;

-- another session's, and after it has ended
\c -
SET ROLE st_bob;
SELECT role, answers, refusals FROM privpred.stat;

-- no room: together, for superusers alone, and nothing is lost
RESET ROLE;
SELECT privpred.stat_reset();
SELECT count(*) FROM privpred.stat;
SET ROLE st_owner;
SELECT privpred.create_model('st_vote', 'st_people', label => 'y', features => '{"x": {"min": 0, "max": 1}}',
	learner => 'stump', teachers => 10, epsilon => 0.01) ->> 'version' AS version;
RESET ROLE;
SET client_min_messages = warning;
DO $$ BEGIN
	FOR i IN 1 .. 140 LOOP
		EXECUTE format('CREATE ROLE st_many_%s IN ROLE st_team', i);
	END LOOP;
END $$;
DO $$ BEGIN
	FOR i IN 1 .. 140 LOOP
		EXECUTE format('SET ROLE st_many_%s', i);
		PERFORM private_predict('st_vote', ARRAY[0.5]);
		RESET ROLE;
	END LOOP;
END $$;
SELECT role IS NULL AS others, model, sum(answers), count(*) FROM privpred.stat GROUP BY 1, 2 ORDER BY 1;
SET ROLE st_owner;
SELECT count(*) FROM privpred.stat;
SET ROLE st_watcher;
SELECT role, model, answers, unstable, refusals, round_trips FROM privpred.stat WHERE role IS NULL;
RESET ROLE;
SELECT privpred.stat_reset();

DO $$ BEGIN
	FOR i IN 1 .. 140 LOOP
		EXECUTE format('DROP ROLE st_many_%s', i);
	END LOOP;
END $$;
SELECT privpred.revoke_budget(r, 'st_people') FROM unnest('{st_ann,st_bob,st_team}'::regrole[]) r;
DROP TABLE st_people;
REVOKE CREATE ON SCHEMA public FROM st_owner;
DROP ROLE st_owner, st_ann, st_bob, st_team, st_carl, st_stranger, st_watcher;
