-- Mechanism threshold: one numeric feature, two classes (more: threshold_many); dates and timestamps as features;
-- the aggregate threshold(label, x).
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE SCHEMA threshold_test;
SET search_path = threshold_test, pg_catalog, public;
\pset format unaligned
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

-- The exact probability of class 1 at x, for both links: evaluate() on one row.
CREATE TABLE probe (x float8, y int);
CREATE FUNCTION chance(model text, at float8, OUT laplace numeric, OUT logistic numeric) LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE probe;
  INSERT INTO probe VALUES (at, 1);
  SELECT round(private_accuracy::numeric, 9), round(approximate_accuracy::numeric, 9) INTO laplace, logistic
  FROM privpred.evaluate(model, 'probe');
END $$;
-- The same from where the walk stands.
CREATE FUNCTION laplace(t float8) RETURNS numeric LANGUAGE sql AS
  'SELECT round((CASE WHEN t > 0 THEN 1 - exp(-t) / 2 ELSE exp(t) / 2 END)::numeric, 9)';
CREATE FUNCTION logistic(t float8) RETURNS numeric LANGUAGE sql AS
  'SELECT round((1 / (1 + exp(-t)))::numeric, 9)';
CREATE FUNCTION stands(model text, at float8, t float8) RETURNS boolean LANGUAGE sql AS
  'SELECT c = (laplace(t), logistic(t)) FROM chance(model, at) c';

----------------------------------------------------------------------
-- where the walk stands
----------------------------------------------------------------------
CREATE TABLE people (id int PRIMARY KEY, x float8, y int);
INSERT INTO people VALUES (1, 1, 1), (2, 2, 0);
SELECT privpred.protect('people');
SELECT privpred.create_model('walk', 'people', label => 'y', classes => '{0,1}', features => '{"x": {"min": 0, "max": 10}}',
  mechanism => 'threshold', epsilon => 1);
SELECT mechanism, learner, teachers, epsilon, charge_kind, features, options FROM privpred.models WHERE name = 'walk';
-- a step is epsilon/2; below all rows the walk has not moved
SELECT stands('walk', 0.5, 0), stands('walk', 1, 0.5), stands('walk', 1.5, 0.5), stands('walk', 2, 0), stands('walk', 9, 0);
SELECT * FROM chance('walk', 1);
-- the neighbour
UPDATE people SET y = 0 WHERE id = 1;
SELECT privpred.retrain('walk') ->> 'version' AS version;
SELECT stands('walk', 1, -0.5), stands('walk', 2, -1);
-- the limit: ln(1/0.05) and ln(2/0.05) are 6 and 8 steps
INSERT INTO people SELECT i, 5, 1 FROM generate_series(3, 40) i;
SELECT privpred.retrain('walk') ->> 'version' AS version;
SELECT stands('walk', 4.9, -1), chance('walk', 5) = (laplace(3), logistic(4)) AS at_the_limits;
-- ties: rows at one x are one move, by the difference of their numbers, whatever their order
TRUNCATE people;
INSERT INTO people SELECT i, 5, i % 2 FROM generate_series(1, 40) i;
SELECT privpred.retrain('walk') ->> 'version' AS version;
SELECT * FROM chance('walk', 5);
TRUNCATE people;
INSERT INTO people SELECT i, 5, (i > 20)::int FROM generate_series(1, 40) i ORDER BY i DESC;
SELECT privpred.retrain('walk') ->> 'version' AS version;
SELECT * FROM chance('walk', 5);
-- with another alpha
SELECT privpred.create_model('wide', 'people', label => 'y', classes => '{0,1}', features => '{"x": {"min": 0, "max": 10}}',
  mechanism => 'threshold', epsilon => 1, options => '{"alpha": 0.01}') -> 'options' AS options;
INSERT INTO people SELECT i, 5, 1 FROM generate_series(41, 60) i;
SELECT privpred.retrain('wide') ->> 'version' AS version;
-- 20 steps up, to limits of 10 and 11
SELECT chance('wide', 5) = (laplace(5), logistic(5.5)) AS at_their_limits;
-- a column with few values: the commoner class of each, not the one that comes last
TRUNCATE people;
INSERT INTO people SELECT i, i % 4, CASE WHEN i % 4 < 2 THEN i % 40 < 10 ELSE i % 40 < 30 END::int FROM generate_series(0, 3999) i;
SELECT privpred.retrain('walk') ->> 'version' AS version;
SELECT x, round(avg(y), 2) AS of_class_1, round((chance('walk', x)).laplace::numeric, 2) AS answered_1 FROM people GROUP BY x ORDER BY x;

-- total: no rows, no labels, garbage
TRUNCATE people;
SELECT privpred.retrain('walk') ->> 'version' AS version;
SELECT stands('walk', 0, 0), stands('walk', 10, 0);
INSERT INTO people VALUES (1, 'NaN', 1), (2, 'Infinity', 1), (3, '-Infinity', 0), (4, NULL, 1), (5, 3, NULL), (6, 3, 7);
SELECT privpred.retrain('walk') ->> 'version' AS version;
SELECT stands('walk', -5, -0.5), stands('walk', 4.9, -0.5), stands('walk', 5, 0.5), stands('walk', 10, 1), stands('walk', 1000, 1);

-- the size of what is stored does not tell the number of rows, up to a power of two ...
CREATE FUNCTION state_size(model text) RETURNS int LANGUAGE sql AS
  'SELECT octet_length(state) FROM privpred.model WHERE name = $1';
SELECT state_size('walk') AS few;
INSERT INTO people SELECT i, (i * 7 % 997) / 100.0, i % 2 FROM generate_series(10, 1000) i;
SELECT privpred.retrain('walk') ->> 'version' AS version, state_size('walk') AS some;
INSERT INTO people SELECT i, (i * 7 % 9973) / 1000.0, i % 2 FROM generate_series(1001, 3000) i;
SELECT privpred.retrain('walk') ->> 'version' AS version, state_size('walk') AS many;
-- ... and not at all up to what is declared
SELECT privpred.protect('people', declared_units => 5000);
SELECT privpred.retrain('walk') ->> 'version' AS version, state_size('walk') AS declared;
TRUNCATE people;
SELECT privpred.retrain('walk') ->> 'version' AS version, state_size('walk') AS declared;

-- damage is noticed
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 1000);
BEGIN;
UPDATE privpred.model SET state = overlay(state PLACING '\x07'::bytea FROM 29) WHERE name = 'walk';
SELECT refused($$SELECT private_predict('wide', '{"x": 1}'::jsonb)$$);
SELECT refused($$SELECT private_predict('walk', '{"x": 1}'::jsonb)$$);
ROLLBACK;

----------------------------------------------------------------------
-- refusals, from declarations alone
----------------------------------------------------------------------
CREATE TABLE visits (visit int PRIMARY KEY, patient int NOT NULL, x float8, y int, ward text);
SELECT privpred.protect('visits', unit => 'patient');
CREATE FUNCTION try_model(more text, features text DEFAULT '{"x": {"min": 0, "max": 10}}', classes text DEFAULT '{0,1}') RETURNS text LANGUAGE sql AS $$
  SELECT refused(format($f$SELECT privpred.create_model('tried', 'visits', label => 'y', classes => %L, features => %L, %s)$f$, classes, features, more)) $$;
SELECT try_model($$mechanism => 'threshold'$$);
SELECT privpred.protect('visits', unit => 'patient', max_rows_per_unit => 4);
SELECT try_model($$mechanism => 'threshold'$$, '{"ward": {"levels": ["a", "b"]}}');
SELECT try_model($$mechanism => 'threshold', learner => 'stump'$$);
SELECT try_model($$mechanism => 'threshold', options => '{"alpha": 0}'$$);
SELECT try_model($$mechanism => 'threshold', options => '{"alpha": "small"}'$$);
SELECT split_part(try_model($$mechanism => 'threshold', options => '{"beta": 1}'$$), ' | ', 2) AS try_model;
SELECT split_part(try_model($$learner => 'threshold'$$), ' | ', 2) AS try_model;
SET maintenance_work_mem = '1MB';
SELECT privpred.protect('visits', unit => 'patient', max_rows_per_unit => 4, declared_units => 1000000);
SELECT try_model($$mechanism => 'threshold'$$);
RESET maintenance_work_mem;
SELECT privpred.protect('visits', unit => 'patient', max_rows_per_unit => 4, declared_units => 100);

----------------------------------------------------------------------
-- several rows per unit
----------------------------------------------------------------------
INSERT INTO visits SELECT i, 7, i, 1 FROM generate_series(1, 4) i;
SELECT privpred.create_model('four', 'visits', label => 'y', classes => '{0,1}', features => '{"x": {"min": 0, "max": 10}}',
  mechanism => 'threshold', epsilon => 1) ->> 'version' AS version;
-- a step is epsilon/8, so that the whole unit moves epsilon/2
SELECT stands('four', 1, 0.125), stands('four', 2, 0.25), stands('four', 3, 0.375), stands('four', 4, 0.5);
-- at most two of them: a step is epsilon/4
SELECT privpred.protect('visits', unit => 'patient', max_rows_per_unit => 2);
SELECT stands('four', 4, 0.5) AS old_version_stays;
SELECT privpred.retrain('four') ->> 'version' AS version;
SELECT stands('four', 0, 0), stands('four', 4, 0.5);
-- which two, no other unit can change
CREATE TEMP TABLE before AS SELECT x, c.* FROM generate_series(1, 4) x, chance('four', x) c;
INSERT INTO visits SELECT 100 + i, 100 + i % 30, 5 + i % 5, i % 2 FROM generate_series(1, 200) i;
CLUSTER visits USING visits_pkey;
SELECT privpred.retrain('four') ->> 'version' AS version;
SELECT count(*) AS same FROM before b, chance('four', b.x) c WHERE (b.laplace, b.logistic) = (c.laplace, c.logistic);

----------------------------------------------------------------------
-- dates and timestamps; epsilon 100 is one step to the limit, so answers are certain
----------------------------------------------------------------------
CREATE TABLE events (id int PRIMARY KEY, d date, t timestamp, z timestamptz, late boolean);
SET timezone = 'Europe/Athens';
INSERT INTO events SELECT i, '2000-01-01'::date + i, '2000-01-01'::timestamp + i * interval '1 day',
  '2000-01-01 00:00:00+00'::timestamptz + i * interval '24 hours', i >= 100 FROM generate_series(1, 200) i;
-- twice, so that each day takes the walk to its limit
INSERT INTO events SELECT id + 500, d, t, z, late FROM events;
INSERT INTO events VALUES (1000, 'infinity', 'infinity', 'infinity', true), (1001, '-infinity', '-infinity', '-infinity', false), (1002, NULL, NULL, NULL, NULL);
SELECT privpred.protect('events');
SELECT privpred.grant_budget(current_user::regrole, 'events', epsilon => 100000);
CREATE FUNCTION event_model(name text, features text) RETURNS text LANGUAGE sql AS $$
  SELECT privpred.create_model(name, 'events', label => 'late', features => features::json, mechanism => 'threshold', epsilon => 100) ->> 'features' $$;
SELECT event_model('by_date', '{"d": {"min": "1990-01-01", "max": "2030-01-01", "null": {"fill": "1995-05-05"}}}');
SELECT event_model('by_timestamp', '{"t": {"min": "1990-01-01", "max": "2030-01-01 12:00:00.5"}}');
SELECT event_model('by_timestamptz', '{"z": {"type": "numeric", "min": "1990-01-01", "max": "2030-01-01 12:00:00+00"}}');
SET timezone = 'UTC';
SET datestyle = 'SQL, DMY';
-- rows
SELECT id, private_predict('by_date', e) AS d, private_predict('by_timestamp', e) AS t, private_predict('by_timestamptz', e) AS z
FROM events e WHERE id IN (1, 99, 100, 200) ORDER BY id;
SELECT private_predict('by_timestamp', p) AS a_moment_before, private_predict('by_timestamptz', p) AS here
FROM (SELECT '2000-04-09 23:59:59.999999'::timestamp t, '2000-04-10 02:00:00+02'::timestamptz z) p WHERE true;
-- strings, numbers, arrays: days and seconds since 1970
SELECT private_predict('by_date', '{"d": "2000-04-09"}'::jsonb) AS before, private_predict('by_date', '{"d": "10/04/2000"}'::jsonb) AS after,
  private_predict('by_date', ARRAY['2000-04-09'::date - '1970-01-01'::date]::float8[]) AS before,
  private_predict('by_date', ARRAY['2000-04-10'::date - '1970-01-01'::date]::float8[]) AS after,
  private_predict('by_date', '{"d": null}'::jsonb) AS filled;
SELECT private_predict('by_timestamp', '{"t": "2000-04-09 23:59:59"}'::jsonb) AS before,
  private_predict('by_timestamp', ARRAY[extract(epoch FROM '2000-04-10'::timestamp)]::float8[]) AS after,
  private_predict('by_timestamptz', '{"z": "2000-04-10 02:59:59.999+03"}'::jsonb) AS before,
  private_predict('by_timestamptz', jsonb_build_object('z', extract(epoch FROM '2000-04-10 00:00+00'::timestamptz))) AS after;
-- not infinite, not garbage, not of another type
SELECT refused($$SELECT private_predict('by_date', p) FROM (SELECT 'infinity'::date AS d) p$$);
SELECT refused($$SELECT private_predict('by_timestamp', '{"t": "-infinity"}'::jsonb)$$);
SELECT refused($$SELECT private_predict('by_date', '{"d": "2000-13-01"}'::jsonb)$$);
SELECT refused($$SELECT private_predict('by_timestamptz', '{"z": "soon"}'::jsonb)$$);
SELECT refused($$SELECT private_predict('by_date', '{"d": true}'::jsonb)$$);
SELECT refused($$SELECT private_predict('by_date', p) FROM (SELECT 10957 AS d) p$$);
SELECT refused($$SELECT private_predict('by_date', p) FROM (SELECT now() AS d) p$$);
SELECT refused($$SELECT event_model('wrong', '["d"]')$$);
SELECT refused($$SELECT event_model('wrong', '{"d": {}}')$$);
SELECT refused($$SELECT event_model('wrong', '{"d": {"min": 0, "max": 1}}')$$);
SELECT refused($$SELECT event_model('wrong', '{"d": {"min": "1990-01-01", "max": "infinity"}}')$$);
SELECT refused($$SELECT event_model('wrong', '{"d": {"min": "1990-01-01", "max": "someday"}}')$$);
SELECT refused($$SELECT event_model('wrong', '{"d": {"min": "1990-01-01", "max": "1990-01-01"}}')$$);
SELECT refused($$SELECT event_model('wrong', '{"d": {"levels": ["1990-01-01"]}}')$$);
-- the others take dates, too
SELECT privpred.create_model('voted', 'events', label => 'late', features => '{"d": {"min": "2000-01-01", "max": "2000-08-01"}, "z": {"min": "2000-01-01", "max": "2000-08-01"}}',
  learner => 'stump', teachers => 5, epsilon => 100) -> 'features' AS features;
SELECT id, private_predict('voted', e) FROM events e WHERE id IN (50, 150) ORDER BY id;
RESET datestyle;

----------------------------------------------------------------------
-- what an account is charged
----------------------------------------------------------------------
CREATE ROLE threshold_pure;
CREATE ROLE threshold_finite;
GRANT USAGE ON SCHEMA threshold_test TO threshold_pure, threshold_finite;
SELECT privpred.create_model('priced', 'events', label => 'late', features => '{"d": {"min": "1990-01-01", "max": "2030-01-01"}}', mechanism => 'threshold', epsilon => 0.1) ->> 'epsilon' AS epsilon;
SELECT privpred.grant_budget('threshold_pure', 'events', epsilon => 1);
SELECT privpred.grant_budget('threshold_finite', 'events', epsilon => 10, delta => 1e-6, per_answer => 0.1);
SET ROLE threshold_pure;
SELECT epsilon, answers_left FROM privpred.cost('priced');
SELECT count(private_predict('priced', '{"d": "2000-01-01"}'::jsonb)) FROM generate_series(1, 10);
SELECT refused($$SELECT private_predict('priced', '{"d": "2000-01-01"}'::jsonb)$$) LIKE '53400%' AS refused;
SET ROLE threshold_finite;
SELECT c.answers_left = a.answers AS as_for_bounded_range, a.answers > 2 * b.answers AS more_than_twice_as_many
FROM privpred.cost('priced') c, privpred.answers_for(10, 1e-6, 0.1, 'threshold') a, privpred.answers_for(10, 1e-6, 0.1, 'average') b;
SELECT count(private_predict('priced', '{"d": "2000-01-01"}'::jsonb)) FROM generate_series(1, 20);
RESET ROLE;

----------------------------------------------------------------------
-- the aggregate
----------------------------------------------------------------------
CREATE TABLE points AS
SELECT i AS id, i % 3 AS grp, hashint4(i) & 4095 AS x, ((hashint4(i) & 4095) BETWEEN 1000 AND 2000 OR (hashint4(i) & 4095) > 3000) AS y
FROM generate_series(1, 20000) i;
ANALYZE points;
CREATE TABLE serial AS SELECT grp, privpred.threshold(y, x) AS m FROM points GROUP BY grp;
SELECT grp, round(avg((privpred.predict(m, ARRAY[x]) = y::text)::int), 2) AS accuracy, privpred.votes(max(m::text)::privpred.predictor, '{1500}')
FROM serial JOIN points USING (grp) GROUP BY grp ORDER BY grp;
-- any order of rows, any plan, any cast: the same
CREATE FUNCTION in_parallel(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line LIKE '%Partial%Aggregate%' THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT in_parallel('SELECT grp, privpred.threshold(y, x) FROM points GROUP BY grp') AS is_parallel;
SELECT s.grp, s.m::text = p.m::text AS same FROM serial s JOIN (SELECT grp, privpred.threshold(y, x) AS m FROM points GROUP BY grp) p USING (grp) ORDER BY grp;
SET max_parallel_workers_per_gather = 0;
SELECT s.grp, s.m::text = p.m::text AS same FROM serial s JOIN (SELECT grp, privpred.threshold(y, x::numeric ORDER BY id DESC) AS m FROM points GROUP BY grp) p USING (grp) ORDER BY grp;
RESET max_parallel_workers_per_gather;
SELECT m::text::privpred.predictor::text = m::text AS again FROM serial ORDER BY grp;
-- dates and timestamps: days and seconds since 1970
SELECT privpred.predict(privpred.threshold(late, d), ARRAY['2000-07-01'::date - '1970-01-01'::date]::float8[]) AS late,
  privpred.predict(privpred.threshold(late, t), ARRAY[extract(epoch FROM '2000-03-01'::timestamp)]::float8[]) AS early,
  privpred.predict(privpred.threshold(late, z), ARRAY[extract(epoch FROM '2000-07-01'::timestamptz)]::float8[]) AS late
FROM events WHERE id <= 800;
-- options; a walk that has not moved votes the default
SELECT privpred.predict(privpred.threshold(y, x, '{"classes": ["a", "b"], "default": "b", "epsilon": 1, "alpha": 0.1}'), '{0}') AS undecided,
  privpred.predict(privpred.threshold(y, x, '{"classes": ["a", "b"]}'), '{2}') AS above,
  privpred.threshold(y, x) IS NULL AS known
FROM (VALUES ('b', 1), ('b', 2), (NULL, 3)) v(y, x);
SELECT privpred.threshold(y, x) IS NULL AS no_rows FROM points WHERE false;
SELECT refused($$SELECT privpred.threshold(id, x) FROM points WHERE id < 4$$);
SELECT refused($$SELECT privpred.threshold(y, x::text) FROM points$$);
SELECT refused($$SELECT privpred.threshold(y, nullif(x, x)) FROM points$$);
SELECT refused($$SELECT privpred.threshold(y, 'NaN'::numeric) FROM points$$);
SELECT refused($$SELECT privpred.threshold(y, 'infinity'::date) FROM points$$);
SELECT refused($$SELECT privpred.threshold(y, x, '{"epsilon": 0}') FROM points$$);
SELECT refused($$SELECT privpred.threshold(y, x, '{"alpha": 0.7}') FROM points$$);
SELECT refused($$SELECT privpred.threshold(y, x, '{"cost": 1}') FROM points$$);
-- thresholds can be packed like other predictors
SELECT privpred.votes(privpred.ensemble(m), '{1500}') FROM serial;

DROP SCHEMA threshold_test CASCADE;
SELECT count(*) AS models_left FROM privpred.models WHERE name IN ('walk', 'four', 'by_date');
DROP OWNED BY threshold_pure, threshold_finite;
DROP ROLE threshold_pure;
DROP ROLE threshold_finite;
