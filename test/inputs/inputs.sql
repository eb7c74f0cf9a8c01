-- For test/inputs/inputs.pl: two tables that differ at one unit, and a model of every mechanism and learner.
SET client_min_messages = error;
CREATE EXTENSION privpred;
CREATE SCHEMA inputs;
SET search_path = inputs, public;
CREATE ROLE pure;
CREATE ROLE approximate;
GRANT USAGE ON SCHEMA inputs TO pure, approximate;

-- Rows are kept here, for either side of a pair, and loaded in some order.
CREATE TABLE base (side text, unit int, x float8, w text, s boolean, y text, n float8, k text);
CREATE TABLE loaded (unit int NOT NULL, x float8, w text, s boolean, y text, n float8, k text);
CREATE TABLE of_labels (LIKE loaded INCLUDING ALL);
CREATE TABLE described (LIKE loaded INCLUDING ALL); -- nobody has a budget on it
-- Small as they are, where workers cost nothing; catalogs, which are not what is tried, are read without.
ALTER TABLE loaded SET (parallel_workers = 2);
ALTER TABLE of_labels SET (parallel_workers = 2);
ALTER TABLE described SET (parallel_workers = 2);

SELECT privpred.protect(t, unit => 'unit', protects => CASE t WHEN 'of_labels'::regclass THEN 'labels' ELSE 'rows' END, declared_units => 500, max_rows_per_unit => 3)
  FROM unnest('{loaded,of_labels,described}'::regclass[]) t;
SELECT privpred.grant_budget('pure', t, epsilon => 1e6), privpred.grant_budget('approximate', t, epsilon => 1e6, delta => 0.5, force => true)
  FROM unnest('{loaded,of_labels}'::regclass[]) t;

-- A learner in SQL: the most common label on the side of 0.5.
CREATE FUNCTION sql_step(state jsonb, label text, x float8[]) RETURNS jsonb LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(state, '{}') || jsonb_build_object(k, coalesce((state ->> k)::int, 0) + 1) FROM (SELECT (x[1] > 0.5)::text || ' ' || label AS k) s $$;
CREATE AGGREGATE sql_train(text, float8[]) (SFUNC = sql_step, STYPE = jsonb);
CREATE FUNCTION sql_predict(state jsonb, x float8[]) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT split_part(key, ' ', 2) FROM jsonb_each_text(state) WHERE starts_with(key, (x[1] > 0.5)::text) ORDER BY value::int DESC, key LIMIT 1 $$;

-- Whatever there is, by the hints that list it.
CREATE FUNCTION named(argument text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  EXECUTE format('SELECT privpred.create_model(''none'', ''loaded'', ''y'', ''["s"]'', classes => ''{a,b}'', %I => ''none'')', argument);
EXCEPTION WHEN undefined_object THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN QUERY SELECT unnest(string_to_array(substring(hint FROM ': (.*)\.$'), ', '));
END $$;

CREATE TABLE model (name text, mechanism text, learner text, label text, question jsonb[]);

-- With many features, with one alone, or on protected labels, whichever the mechanism takes.
CREATE FUNCTION declare(name text, mechanism text, learner text, label text, options jsonb, holdout float8 DEFAULT 0) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  attempt record;
  problem text;
BEGIN
  FOR attempt IN SELECT * FROM (VALUES
      ('loaded'::regclass, '{"x": {"min": 0, "max": 10}, "w": {"levels": ["A", "B", "C"]}, "s": {}}', '{"x": 3, "w": "A", "s": true}'::jsonb, '{"x": 10, "w": "C", "s": false}'::jsonb),
      ('loaded', '{"x": {"min": 0, "max": 10}}', '{"x": 3}', '{"x": 7}'),
      ('of_labels', '{"x": {"min": 0, "max": 10}}', '{"x": 3}', '{"x": 7}')) a (relation, features, q1, q2), unnest('{1,100}'::float8[]) e ORDER BY e LOOP
    BEGIN
      PERFORM privpred.create_model(declare.name, attempt.relation, label::pg_catalog.name, attempt.features::json,
        classes => CASE label WHEN 'y' THEN '{no,yes}'::text[] WHEN 'k' THEN '{k0,k1,k2,k3}' END, mechanism => declare.mechanism, learner => CASE declare.learner WHEN 'none' THEN 'logistic' ELSE declare.learner END, teachers => 7, epsilon => attempt.e,
        options => options || CASE label WHEN 'n' THEN '{"target": {"min": 0, "max": 10}}' ELSE '{}' END::jsonb, holdout => declare.holdout);
      INSERT INTO inputs.model VALUES (declare.name, declare.mechanism, declare.learner, declare.label, ARRAY[attempt.q1, attempt.q2]);
      RETURN NULL;
    EXCEPTION WHEN OTHERS THEN
      problem := concat_ws('; ', problem, SQLERRM);
    END;
  END LOOP;
  RETURN problem;
END $$;

-- What could not be declared, for any label.
CREATE FUNCTION declare_all() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  m text;
  l text;
  of text;
  options jsonb;
  n int;
BEGIN
  FOR m IN SELECT * FROM inputs.named('mechanism') LOOP
    CONTINUE WHEN m = 'distill'; -- draws nothing: its labels are answers of others
    n := 0;
    FOR l IN SELECT 'none' UNION ALL SELECT * FROM inputs.named('learner') LOOP
      options := CASE l WHEN 'sql' THEN '{"train": "inputs.sql_train", "predict": "inputs.sql_predict"}' WHEN 'boost' THEN '{"rounds": 3, "depth": 2}'
        WHEN 'forest' THEN '{"trees": 3, "depth": 2}' WHEN 'tree' THEN '{"min_rows": 1}' WHEN 'knn' THEN '{"k": 1, "prototypes": 4}' ELSE '{}' END::jsonb || CASE m WHEN 'gradient' THEN '{"steps": 4}' WHEN 'soft' THEN '{"precision": 0.25}' ELSE '{}' END::jsonb;
      FOREACH of IN ARRAY '{y,k,n}'::text[] LOOP
        IF (of <> 'k' OR l IN ('none', 'stump')) AND inputs.declare(concat_ws('_', m, l, of), m, l, of, options) IS NULL THEN
          n := n + 1;
        END IF;
      END LOOP;
      -- a mechanism without teachers has no learner: once is enough
      EXIT WHEN EXISTS (SELECT FROM privpred.model WHERE mechanism = m AND teachers = 0);
    END LOOP;
    IF n = 0 THEN
      RETURN NEXT m || ': ' || coalesce(inputs.declare(m, m, 'none', 'y', '{}'), 'nothing');
    END IF;
  END LOOP;
  PERFORM inputs.declare('gaussian', 'vote', 'linear', 'k', '{"noise": "gaussian"}');
  PERFORM inputs.declare('sgd_' || label, 'stable_erm', 'none', label, '{"solver": "sgd"}') FROM unnest('{y,k,n}'::text[]) label;
  PERFORM inputs.declare('held', 'vote', 'linear', 'y', '{}', 0.3);
  PERFORM inputs.declare('held_cover', 'cover', 'none', 'y', '{}', 0.3);
END $$;
SELECT * FROM declare_all();

-- Teachers differ by salt alone, so they are the same in every run.
UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f';

CREATE PROCEDURE load(of text) LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE inputs.loaded, inputs.of_labels, inputs.described;
  INSERT INTO inputs.loaded SELECT unit, x, w, s, y, n, k FROM inputs.base WHERE side = of ORDER BY random();
  INSERT INTO inputs.described SELECT * FROM inputs.loaded ORDER BY random();
  -- labels alone are protected: the features are the same on both sides, and so are labels of other units
  INSERT INTO inputs.of_labels SELECT a.unit, a.x, a.w, a.s, l.y, l.n, l.k FROM (SELECT *, row_number() OVER (PARTITION BY unit ORDER BY ctid) AS i FROM inputs.base WHERE side = 'A') a
    LEFT JOIN (SELECT *, row_number() OVER (PARTITION BY unit ORDER BY ctid) AS i FROM inputs.base WHERE side = of) l USING (unit, i) ORDER BY random();
END $$;

CREATE FUNCTION ask_as(asker text, of text, question jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  streams boolean := (SELECT charge_kind = 'per_stream' FROM privpred.models WHERE name = of);
  -- whose score, if there are many; the same on both sides
  class text := (SELECT m.classes[1 + length(question::text) % cardinality(m.classes)] FROM privpred.model m
                  WHERE m.name = of AND m.mechanism = 'soft' AND m.bin_edges IS NULL AND cardinality(m.classes) > 2);
  hint text;
BEGIN
  PERFORM set_config('role', asker, false);
  IF streams THEN
    PERFORM privpred.open_stream(of, unstable => 20, epsilon => 1, delta => 1e-9);
  END IF;
  BEGIN
    PERFORM private_predict(of, question);
  EXCEPTION WHEN object_not_in_prerequisite_state THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    IF hint <> 'Use private_score.' THEN
      RAISE;
    END IF;
    PERFORM private_score(of, question, NULL, class);
  END;
  IF streams THEN
    PERFORM privpred.close_stream(of);
  END IF;
END $$;

-- By whoever can pay; Gaussian noise by a budget with delta.
CREATE FUNCTION ask(of text, question jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  asker text;
  problem text;
BEGIN
  FOREACH asker IN ARRAY CASE of WHEN 'gaussian' THEN '{approximate}' ELSE '{pure,approximate,none}' END::text[] LOOP
    BEGIN
      PERFORM inputs.ask_as(asker, of, question);
      problem := NULL;
    EXCEPTION WHEN OTHERS THEN
      problem := SQLERRM;
    END;
    PERFORM set_config('role', 'none', false);
    EXIT WHEN problem IS NULL OR problem !~ 'cannot pay|answers the owner';
  END LOOP;
  IF problem IS NOT NULL THEN
    RAISE '%: %', of, problem;
  END IF;
END $$;
