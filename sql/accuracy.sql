-- A private accuracy, measured on units that never train and charged to everybody.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
\pset tuples_only
CREATE FUNCTION refused(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
  hint text;
BEGIN
  EXECUTE command;
  RETURN 'ACCEPTED';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE ROLE accuracy_owner;
CREATE ROLE accuracy_ann;
CREATE ROLE accuracy_bob;
CREATE ROLE accuracy_cat;
CREATE ROLE accuracy_eve;
CREATE SCHEMA accuracy AUTHORIZATION accuracy_owner;
GRANT USAGE ON SCHEMA accuracy TO PUBLIC;
SET search_path = accuracy, public;
SET ROLE accuracy_owner;
CREATE TABLE people (id int PRIMARY KEY, x float8, y text, n float8);
-- nothing to be learnt: half of the answers are right
INSERT INTO people SELECT i, (i % 100) / 100.0, CASE WHEN i * 7919 % 10007 % 2 = 0 THEN 'a' ELSE 'b' END, i % 10 FROM generate_series(1, 2000) i;
SELECT privpred.protect('people');
SELECT name, privpred.create_model(name, 'people', 'y', '["x"]', '{a,b}', mechanism, learner, teachers => 21, epsilon => 0.1, holdout => CASE name WHEN 'accuracy none' THEN 0 ELSE 0.2 END) ->> 'version'
FROM (VALUES ('accuracy none', 'vote', 'stump'), ('accuracy vote', 'vote', 'centroid'), ('accuracy sparse', 'sparse', 'stump')) m (name, mechanism, learner);

-- ---------- who may, and of what ----------

CREATE FUNCTION released(model text, epsilon text DEFAULT '0.5') RETURNS text LANGUAGE sql AS $$
  SELECT public.refused(format('SELECT privpred.release_accuracy(%L, %s)', model, epsilon)) $$;
SELECT released('accuracy none');
SELECT released('accuracy vote');
SELECT privpred.protect('people', declared_units => 2000);
SELECT privpred.create_model('accuracy number', 'people', 'n', '["x"]', mechanism => 'stable_erm', epsilon => 0.1, holdout => 0.2, options => '{"target": {"min": 0, "max": 9}}') ->> 'version';
SELECT privpred.create_model('accuracy flip', 'people', 'y', '["x"]', '{a,b}', 'stable_flip', epsilon => 0.1, holdout => 0.2) ->> 'version';
SELECT model, released(model) FROM unnest('{accuracy number,accuracy flip,accuracy sparse,none}'::text[]) model;
SELECT epsilon, released('accuracy vote', epsilon) FROM unnest('{0,-1,0.0009,101,"NULL",''NaN'',''Infinity''}'::text[]) epsilon;
RESET ROLE;
SET ROLE accuracy_eve;
SELECT released('accuracy vote'), released('none');
RESET ROLE;

-- ---------- who pays ----------

SET ROLE accuracy_owner;
CREATE VIEW spent AS SELECT coalesce(b.role::text, 'cap') AS role, b.epsilon_spent, b.epsilon_left FROM privpred.budgets b WHERE b.relation = 'people'::regclass ORDER BY 1;
SELECT privpred.protect('people', declared_units => 2000, epsilon_cap => 20);
SELECT privpred.grant_budget('accuracy_ann', 'people', 10);
SELECT privpred.grant_budget('accuracy_bob', 'people', 0.7);
SELECT accuracy BETWEEN 0 AND 1, standard_error BETWEEN 0.149 AND 0.153, units FROM privpred.release_accuracy('accuracy vote', 0.5);
SELECT * FROM spent;
SELECT name, holdout, released_accuracy IS NOT NULL, released_accuracy_error BETWEEN 0.149 AND 0.153, released_accuracy_at IS NOT NULL FROM privpred.models WHERE relation = 'people'::regclass ORDER BY 1;
-- all or nobody
SELECT released('accuracy vote', '0.5');
SELECT * FROM spent;
-- whoever comes later has paid from the start
SELECT refused($$SELECT privpred.grant_budget('accuracy_cat', 'people', 0.4)$$);
SELECT privpred.grant_budget('accuracy_cat', 'people', 5);
SELECT * FROM spent;
RESET ROLE;
SET ROLE accuracy_cat;
SELECT name, released_accuracy_error > 0 FROM privpred.models WHERE released_accuracy IS NOT NULL;
RESET ROLE;
SET ROLE accuracy_eve;
SELECT count(*) FROM privpred.models WHERE released_accuracy IS NOT NULL;
RESET ROLE;
-- a rollback takes the figure back, not the charge
SET ROLE accuracy_owner;
SELECT privpred.revoke_budget('accuracy_bob', 'people');
BEGIN;
SELECT units FROM privpred.release_accuracy('accuracy vote', 0.25);
ROLLBACK;
SELECT * FROM spent;
-- another version has not been measured
SELECT privpred.retrain('accuracy vote') ->> 'version';
SELECT released_accuracy, released_accuracy_error, released_accuracy_at FROM privpred.models WHERE name = 'accuracy vote';

-- ---------- a model that is charged once ----------

-- What is told of it costs what it costs, to whoever has not paid: 0.5 and 2.
SELECT privpred.create_model('accuracy cover', 'people', 'y', '["x"]', '{a,b}', 'cover', epsilon => 2, holdout => 0.2) ->> 'version';
RESET ROLE;
SET ROLE accuracy_ann;
SELECT private_predict('accuracy cover', ARRAY[0.5]) IS NOT NULL;
RESET ROLE;
SET ROLE accuracy_owner;
SELECT * FROM spent;
SELECT privpred.grant_budget('accuracy_cat', 'people', 3);
-- cat can pay for either, and not for both
SELECT released('accuracy cover', '0.5');
SELECT * FROM spent;
SELECT privpred.grant_budget('accuracy_cat', 'people', 3.25);
SELECT accuracy BETWEEN 0.2 AND 0.8, standard_error BETWEEN 0.02 AND 0.0285, units FROM privpred.release_accuracy('accuracy cover', 0.5);
SELECT * FROM spent;
-- so that an export costs nothing more, and later budgets begin with all of it
SELECT privpred.export_model('accuracy cover')::jsonb ->> 'model';
SELECT * FROM spent;
SELECT privpred.grant_budget('accuracy_bob', 'people', 3.25);
SELECT * FROM spent;
SELECT kind, role, model, version, epsilon FROM privpred.ledger WHERE relation = 'people'::regclass AND kind IN ('accuracy', 'export', 'release') ORDER BY id;
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();

-- ---------- how much noise ----------

-- Two draws of Laplace noise of scale s differ by more than s with probability 3/(2e), whatever is measured, and by half the noise with 2/e^2.  Pairs are counted; at most
-- 0.41 of them is too few.  Chernoff's bound says how often right noise is found guilty, and how often half of it passes.
SET ROLE accuracy_owner;
SELECT privpred.grant_budget(role::regrole, 'people', 1e5) FROM unnest('{accuracy_ann,accuracy_bob,accuracy_cat}'::text[]) role;
SELECT privpred.protect('people', declared_units => 2000, epsilon_cap => 1e6);
CREATE FUNCTION chernoff(n int, share float8, p float8) RETURNS float8 LANGUAGE sql AS $$
  SELECT exp(-n * (share * ln(share / p) + (1 - share) * ln((1 - share) / (1 - p)))) $$;
CREATE FUNCTION enough_noise(model text, epsilon float8, scale float8, pairs int = 420) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  IF greatest(chernoff(pairs, 0.41, 1.5 * exp(-1)), chernoff(pairs, 0.41, 2 * exp(-2))) > 1e-7 THEN
    RAISE 'too few draws';
  END IF;
  RETURN (SELECT count(*) FILTER (WHERE abs(first.accuracy - second.accuracy) > scale) > 0.41 * pairs
    FROM generate_series(1, pairs) i, LATERAL (SELECT i, (privpred.release_accuracy(model, epsilon)).accuracy) first,
      LATERAL (SELECT first.i, (privpred.release_accuracy(model, epsilon)).accuracy) second);
END $$;
SELECT refused($$SELECT enough_noise('accuracy vote', 1, 1, 300)$$);
-- an answer for 0.1 may move by tanh(0.05) through a unit that trains, and the mean by one unit of 340
SELECT enough_noise('accuracy vote', 1, tanh(0.05) + 1 / 340.0) AS of_answers;
-- of a model that is paid for, only one of 340 units moves
SELECT enough_noise('accuracy cover', 0.1, 10 / 340.0) AS of_a_model;
RESET ROLE;

RESET search_path;
SET client_min_messages = error;
DROP SCHEMA accuracy CASCADE;
DROP FUNCTION refused;
DROP OWNED BY accuracy_owner, accuracy_ann, accuracy_bob, accuracy_cat, accuracy_eve;
DROP ROLE accuracy_owner, accuracy_ann, accuracy_bob, accuracy_cat, accuracy_eve;
