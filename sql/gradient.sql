-- Mechanism "gradient": released linear models, in memory and not, for classes and numbers.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\set SHOW_CONTEXT never

CREATE TABLE flower (id int PRIMARY KEY, x float8, z float8, two text, three text, height float8);
INSERT INTO flower SELECT i, x, z, CASE WHEN x > 0.4 THEN 'yes' ELSE 'no' END,
  CASE WHEN x < 0.3 THEN 'low' WHEN z < 0.5 THEN 'left' ELSE 'right' END, 100 + 50 * x - 20 * z
FROM (SELECT i, (i * 7919 % 1000) / 1000.0 AS x, (i * 104729 % 997) / 997.0 AS z FROM generate_series(1, 20000) i) s;
ANALYZE flower;

-- the real number of units is secret, so one must be declared
SELECT privpred.protect('flower');
SELECT privpred.create_model('two', 'flower', label => 'two', classes => '{no,yes}', features => '["x", "z"]', mechanism => 'gradient');
SELECT privpred.protect('flower', declared_units => 20000);
SELECT privpred.grant_budget(current_user::regrole, 'flower', epsilon => 1e6, delta => 1e-6);

-- two classes, three classes, a number
CREATE TEMP TABLE card AS
SELECT privpred.create_model('two', 'flower', label => 'two', classes => '{no,yes}', features => '["x", "z"]', mechanism => 'gradient', epsilon => 8) AS card;
SELECT card ->> 'mechanism' AS mechanism, card ->> 'learner' AS learner, card ->> 'teachers' AS teachers FROM card;
SELECT charge_kind FROM privpred.models WHERE name = 'two';
-- what one unit moves, squared: 2 clip in each step, and sqrt(2) limits, once, of features and count
SELECT regexp_replace(charge, '/[0-9]+', '', 'g') AS sensitivities, (2 * 2 ^ 23) ^ 2 = 281474976710656 AS of_steps, ceil(sqrt(2) * 4096) ^ 2 = 33558849 AS of_features
FROM privpred.model WHERE name = 'two';
SELECT private_accuracy > 0.97 AS good, private_accuracy = majority_accuracy AS certain FROM privpred.evaluate('two', 'flower');
SELECT private_predict('two', '{"x": 0.9, "z": 0.5}'::jsonb) AS yes, private_predict('two', '{"x": 0.1, "z": 0.5}'::jsonb) AS no,
  private_score('two', '{"x": 0.9, "z": 0.5}'::jsonb) > 0.8 AS likely, private_score('two', '{"x": 0.1, "z": 0.5}'::jsonb) < 0.2 AS unlikely;
SELECT count(privpred.create_model('three', 'flower', label => 'three', classes => '{low,left,right}', features => '["x", "z"]', mechanism => 'gradient', epsilon => 8));
SELECT private_accuracy > 0.9 AS good FROM privpred.evaluate('three', 'flower');
SELECT private_predict('three', ARRAY[0.05, 0.5]) AS low, private_predict('three', ARRAY[0.9, 0.05]) AS "left", private_predict('three', ARRAY[0.9, 0.95]) AS "right",
  private_score('three', ARRAY[0.9, 0.95]) BETWEEN 0.6 AND 1 AS sure;
SELECT count(privpred.create_model('height', 'flower', label => 'height', features => '["x", "z"]', mechanism => 'gradient', epsilon => 8, options => '{"target": {"min": 0, "max": 200}}'));
SELECT x, z, abs(private_score('height', ARRAY[x, z]) - (100 + 50 * x - 20 * z)) < 3 AS close FROM (VALUES (0.5::float8, 0.5::float8), (0.1, 0.9), (0.9, 0.1)) q (x, z);
SELECT private_predict('height', ARRAY[0.5, 0.5]);
SELECT private_score('height', ARRAY[0.5, 0.5], "precision" => 0.1);

-- a model is drawn once: the same answer for ever, another after training again
CREATE TEMP TABLE score AS SELECT private_score('two', ARRAY[0.4, 0.4]) AS score;
SELECT count(DISTINCT private_score('two', ARRAY[0.4, 0.4])) AS scores, bool_and(private_score('two', ARRAY[0.4, 0.4]) = score) AS same FROM score, generate_series(1, 5);
SELECT count(privpred.retrain('two'));
SELECT private_score('two', ARRAY[0.4, 0.4]) = score AS same FROM score;

-- a wrong number of units costs next to nothing, as they are counted, and the count has no charge of its own
CREATE TEMP TABLE declared (units int, charge text, accuracy float8);
CREATE PROCEDURE try_declared(number int) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM privpred.protect('flower', declared_units => number);
  PERFORM privpred.create_model('declared', 'flower', label => 'two', classes => '{no,yes}', features => '["x", "z"]', mechanism => 'gradient', epsilon => 8);
  INSERT INTO declared SELECT number, m.charge, e.private_accuracy FROM privpred.model m, privpred.evaluate('declared', 'flower') e WHERE m.name = 'declared';
  PERFORM privpred.drop_model('declared');
END $$;
CALL try_declared(10000);
CALL try_declared(20000);
CALL try_declared(200000);
SELECT count(DISTINCT charge) AS charges, min(accuracy) > 0.993 AS good FROM declared;
SELECT privpred.protect('flower', declared_units => 20000);
DROP PROCEDURE try_declared;

-- what is refused is refused by declared numbers
CREATE FUNCTION refused(options jsonb, epsilon float8 = 1, label name = 'two', learner text = 'logistic') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM privpred.create_model('refused', 'flower', label => refused.label, classes => '{no,yes}', features => '["x", "z"]', mechanism => 'gradient',
    epsilon => refused.epsilon, options => refused.options, learner => refused.learner);
  PERFORM privpred.drop_model('refused');
  RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT o AS options, refused(o) FROM unnest(ARRAY['{"steps": 1}', '{"delta": 1e-9, "steps": 5, "rate": 1, "momentum": 0, "clip": 1, "loss": "logistic"}', '{"steps": 0}', '{"steps": 1.5}', '{"steps": 10001}',
  '{"delta": 0}', '{"delta": 0.5}', '{"rate": 0}', '{"rate": "fast"}', '{"momentum": 1}', '{"clip": 0}', '{"loss": "hinge"}', '{"loss": "huber"}', '{"huber": 0.1}', '{"cost": 1}']::jsonb[]) WITH ORDINALITY u (o, n) ORDER BY n;
SELECT refused('{"delta": 1e-12}', epsilon => 1e-9);
SELECT refused('{}', learner => 'linear');
SELECT privpred.create_model('refused', 'flower', label => 'height', features => '["x"]', mechanism => 'gradient', options => '{"target": {"min": 0, "max": 200}, "loss": "logistic"}');
SET maintenance_work_mem = '1MB';
SELECT privpred.create_model('refused', 'flower', label => 'two', classes => (SELECT array_agg(i::text) FROM generate_series(1, 1000) i),
  features => (SELECT json_build_object('three', json_build_object('levels', json_agg(i::text))) FROM generate_series(1, 100) i), mechanism => 'gradient');
RESET maintenance_work_mem;

-- a budget of the model's epsilon and delta, granted for it, pays for all answers, once for each version; one without delta cannot
SELECT privpred.drop_model(name) FROM unnest('{two,three,height}'::text[]) name;
SELECT count(privpred.create_model('once', 'flower', label => 'two', classes => '{no,yes}', features => '["x", "z"]', mechanism => 'gradient', epsilon => 1));
CREATE ROLE gradient_analyst;
CREATE ROLE gradient_purist;
SELECT privpred.grant_budget('gradient_analyst', 'flower', epsilon => 1, delta => 1e-6);
SELECT privpred.grant_budget('gradient_purist', 'flower', epsilon => 100);
SET ROLE gradient_analyst;
SELECT fits FROM privpred.cost('once');
SELECT count(private_predict('once', ARRAY[i / 1000.0, 0.5])) AS answers FROM generate_series(1, 1000) i;
SELECT epsilon_spent <= 1 AS within, epsilon_spent > 0.99 AS exactly, delta_spent FROM privpred.budgets;
SET ROLE gradient_purist;
SELECT private_predict('once', ARRAY[0.5, 0.5]);
RESET ROLE;
SELECT count(privpred.retrain('once'));
SET ROLE gradient_analyst;
\set VERBOSITY sqlstate
SELECT private_predict('once', ARRAY[0.5, 0.5]);
\set VERBOSITY default
RESET ROLE;
SELECT privpred.revoke_budget(r, 'flower') FROM unnest('{gradient_analyst,gradient_purist}'::regrole[]) r;

-- visits of patients: several rows a unit, a few with one; in memory, and read again for every step
CREATE TABLE visit (patient int NOT NULL, x float8, z float8, y text, height float8);
INSERT INTO visit SELECT i % 7919, x, z, CASE WHEN x > 0.4 THEN 'yes' ELSE 'no' END, 100 + 50 * x FROM flower, generate_series(0, 2), LATERAL (SELECT id + 20000 * generate_series AS i) s;
INSERT INTO visit SELECT 100000 + id, x, z, two, 100 + 50 * x FROM flower WHERE id <= 1000;
ANALYZE visit;
SELECT privpred.protect('visit', unit => 'patient', declared_units => 8919);
SELECT privpred.grant_budget(current_user::regrole, 'visit', epsilon => 1e6, delta => 1e-6);
SELECT count(privpred.create_model('visit ' || l, 'visit', label => l, classes => CASE l WHEN 'y' THEN '{no,yes}'::text[] END, features => '["x", "z"]', mechanism => 'gradient', epsilon => 100,
  options => CASE l WHEN 'y' THEN '{}' ELSE '{"target": {"min": 0, "max": 200}}' END::jsonb || '{"steps": 20, "rate": 1}')) FROM unnest('{y,height}'::name[]) l;
CREATE TEMP TABLE visit_score AS SELECT name, private_score(name, ARRAY[0.4, 0.4]) AS score FROM unnest('{visit y,visit height}'::text[]) name;
SET maintenance_work_mem = '1MB';
SELECT count(privpred.retrain(name)) FROM visit_score;
SELECT name, score BETWEEN CASE name WHEN 'visit y' THEN 0.3 ELSE 110 END AND CASE name WHEN 'visit y' THEN 0.7 ELSE 130 END AS sensible, abs(private_score(name, ARRAY[0.4, 0.4]) - score) < 0.01 * score AS same FROM visit_score ORDER BY name;
RESET maintenance_work_mem;

-- training is total, and nothing outside the answers tells how many rows there were
CREATE TABLE ward (id int PRIMARY KEY, x float8, z float8, y text, h float8);
CREATE FUNCTION fill_ward(n int, y text = NULL) RETURNS void LANGUAGE sql AS $$
  TRUNCATE ward;
  INSERT INTO ward SELECT i, CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 'Infinity' ELSE random() END, random(),
    coalesce(fill_ward.y, CASE WHEN random() < 0.5 THEN 'a' ELSE 'b' END), CASE i % 3 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN '-Infinity' ELSE 5 END FROM generate_series(1, n) i;
$$;
SELECT privpred.protect('ward', declared_units => 1000);
SELECT privpred.grant_budget(current_user::regrole, 'ward', epsilon => 1e6, delta => 1e-6);
CREATE FUNCTION outside() RETURNS text LANGUAGE plpgsql AS $$
DECLARE seen text := ''; statement text; result text;
BEGIN
  FOREACH statement IN ARRAY ARRAY[
    $q$SELECT privpred.create_model('w', 'ward', label => 'y', classes => '{a,b}', features => '["x", "z"]', mechanism => 'gradient', epsilon => 1)$q$,
    $q$SELECT privpred.create_model('h', 'ward', label => 'h', features => '["x", "z"]', mechanism => 'gradient', epsilon => 1, options => '{"target": {"min": 0, "max": 10}, "steps": 7}')$q$,
    $q$SELECT privpred.create_model('k', 'ward', label => 'y', classes => '{a,b,c}', features => '["x", "z"]', mechanism => 'gradient', epsilon => 0.01)$q$,
    $q$SELECT privpred.create_model('n', 'ward', label => 'y', classes => '{a,b}', features => '["x"]', mechanism => 'gradient', epsilon => 1e-9, options => '{"delta": 1e-12}')$q$,
    $q$SELECT octet_length(state), version, status, declared_units FROM privpred.model WHERE name IN ('w', 'h', 'k') ORDER BY name$q$,
    $q$SELECT private_predict('w', ARRAY[0.5, 0.5]) IN ('a', 'b')$q$,
    $q$SELECT private_score('h', ARRAY[0.5, 0.5]) BETWEEN 0 AND 10$q$,
    $q$SELECT private_predict('k', ARRAY[0.5, 0.5]) IN ('a', 'b', 'c')$q$,
    $q$SELECT private_predict('w', ARRAY['NaN', 0.5])$q$,
    $q$SELECT cost.epsilon, cost.delta, cost.fits FROM privpred.cost('w')$q$,
    $q$SELECT privpred.drop_model('w'), privpred.drop_model('h'), privpred.drop_model('k')$q$]
  LOOP
    BEGIN
      EXECUTE 'SELECT string_agg(s::text, chr(10)) FROM (' || statement || ') s' INTO result;
    EXCEPTION WHEN OTHERS THEN
      result := SQLSTATE || SQLERRM;
    END;
    seen := seen || coalesce(result, 'NULL') || chr(10);
  END LOOP;
  RETURN seen;
END $$;
CREATE TEMP TABLE seen (rows text, seen text);
INSERT INTO seen SELECT 'none', outside() FROM fill_ward(0);
INSERT INTO seen SELECT 'one', outside() FROM fill_ward(1);
INSERT INTO seen SELECT '10,000', outside() FROM fill_ward(10000);
INSERT INTO seen SELECT 'one class', outside() FROM fill_ward(500, 'a');
INSERT INTO seen SELECT 'unknown class', outside() FROM fill_ward(500, 'z');
SELECT count(*), count(DISTINCT seen) AS different FROM seen;
SELECT line FROM seen, regexp_split_to_table(seen, '\n') WITH ORDINALITY l (line, n) WHERE rows = 'none' AND line !~ '(name|,0,t)' ORDER BY n;

-- cuts that the noise would drown are told of, by declared numbers, and used all the same
CREATE FUNCTION bent(epsilon float8, cuts text = ', "cuts": 8', label name = 'two', classes text[] = '{no,yes}') RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  PERFORM privpred.create_model('bent', 'flower', label => bent.label, classes => bent.classes, features => format('{"x": {"min": 0, "max": 1%s}, "z": {"min": 0, "max": 1}}', cuts)::json,
    mechanism => 'gradient', epsilon => bent.epsilon, options => '{"steps": 1}');
  PERFORM privpred.retrain('bent');
  PERFORM privpred.drop_model('bent');
  RETURN true;
END $$;
SET client_min_messages = notice;
SELECT bent(0.01);
SELECT bent(0.01, cuts => '');
SELECT bent(0.018);
SELECT bent(0.018, label => 'three', classes => '{low,left,right}');
SET client_min_messages = warning;
DROP FUNCTION bent;

-- a damaged model is noticed
SELECT count(privpred.create_model('damaged', 'ward', label => 'y', classes => '{a,b}', features => '["x", "z"]', mechanism => 'gradient'));
UPDATE privpred.model SET state = overlay(state PLACING '\x7ff8000000000000' FROM 5 FOR 8) WHERE name = 'damaged';
SELECT private_predict('damaged', ARRAY[0.5, 0.5]);
UPDATE privpred.model SET state = substr(state, 1, 20) WHERE name = 'damaged';
SELECT private_predict('damaged', ARRAY[0.5, 0.5]);
SELECT count(privpred.retrain('damaged'));
SELECT private_predict('damaged', ARRAY[0.5, 0.5]) IN ('a', 'b') AS answers;

-- training leaves the table to others, in the same transaction too, and nothing in the view
SELECT * FROM privpred.progress;
BEGIN;
SELECT count(privpred.retrain('damaged'));
SELECT privpred.drop_model('damaged');
DROP TABLE ward;
COMMIT;

-- a cap that was taken away lets through what it has no price for, and what comes after
CREATE TABLE cell (id int PRIMARY KEY, x float8, y text);
INSERT INTO cell SELECT i, (i % 100) / 100.0, CASE WHEN i % 100 > 50 THEN 'b' ELSE 'a' END FROM generate_series(1, 400) i;
SELECT privpred.protect('cell', declared_units => 400, epsilon_cap => 10);
SELECT count(privpred.create_model('noisy', 'cell', label => 'y', classes => '{a,b}', features => '["x"]', mechanism => 'gradient', epsilon => 1));
SELECT count(privpred.create_model('voted', 'cell', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 9, epsilon => 0.01));
SELECT count(privpred.create_model('sparse', 'cell', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 9, mechanism => 'sparse'));
SELECT privpred.grant_budget(current_user::regrole, 'cell', epsilon => 8, delta => 1e-5);
SELECT private_predict('noisy', ARRAY[0.5]);
SELECT privpred.protect('cell', epsilon_cap => 'Infinity');
SELECT (privpred.cost('noisy', 1)).fits, (privpred.cost('voted', 1)).fits;
SELECT private_predict('noisy', ARRAY[0.5]) IN ('a', 'b') AS noisy, private_predict('voted', ARRAY[0.5]) IN ('a', 'b') AS voted,
  count(private_predict('voted', ARRAY[i / 100.0])) AS votes, (privpred.cost('voted', 1)).fits FROM generate_series(1, 50) i GROUP BY 1, 2;
SELECT privpred.open_stream('sparse', 2, 0.01, 1e-7) > 0 AS streams;
SELECT role IS NULL AS cap, epsilon_limit, answers_left FROM privpred.budgets WHERE relation = 'cell'::regclass AND role IS NULL;
-- with a limit again, it is full: what it has seen is beyond counting
SELECT privpred.protect('cell', epsilon_cap => 100, delta_cap => 1e-5);
SELECT private_predict('voted', ARRAY[0.77]);
SELECT ok, problem FROM privpred.verify_ledger();
SELECT privpred.protect('cell', epsilon_cap => 'Infinity');
DROP TABLE cell;
DROP TABLE flower, visit;
DROP FUNCTION refused, fill_ward, outside;
DROP ROLE gradient_analyst, gradient_purist;
