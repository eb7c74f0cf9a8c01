-- Units that are held out never train, whatever trains, and tell how good a model is.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
\pset tuples_only
CREATE ROLE holdout_owner;
CREATE SCHEMA holdout AUTHORIZATION holdout_owner;
SET search_path = holdout, public;
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

-- ---------- which units ----------

-- With a known salt we know which: the second salt was computed beside the product, by SipHash of the first.
CREATE FUNCTION is_held_out(id int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT privpred.unit_share('\xbd56ee206d125f46ff62f13fa7b29cb0', 1073741824, id) < 966367642 $$;
-- Units that train are b, units that do not are a: whoever has seen the others says a.
CREATE FUNCTION fill(relation regclass, twice boolean DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO %s SELECT i, (i * 37 %% 100) / 100.0 + j / 1000.0, CASE WHEN holdout.is_held_out(i) THEN ''a'' ELSE ''b'' END '
    'FROM generate_series(1, 1000) i, generate_series(0, $1) j', relation) USING twice::int;
END $$;
CREATE TABLE one_row (id int PRIMARY KEY, x float8, y text);
CREATE TABLE two_rows (id int NOT NULL, x float8, y text);
CREATE TABLE parts (id int NOT NULL, x float8, y text) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (500);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM (500) TO (2000);
CREATE TABLE labels (id int PRIMARY KEY, x float8, y text);
SELECT fill(r, r = 'two_rows'::regclass) FROM unnest('{one_row,two_rows,parts,labels}'::regclass[]) r;
SELECT count(*) FILTER (WHERE y = 'a') AS held_out, count(*) FILTER (WHERE y = 'b') AS train FROM one_row;
SELECT privpred.protect(r, unit => 'id', declared_units => 1000, max_rows_per_unit => 2, protects => CASE r WHEN 'labels'::regclass THEN 'labels' ELSE 'rows' END)
FROM unnest('{one_row,two_rows,parts,labels}'::regclass[]) r;

-- ---------- every mechanism and learner ----------

CREATE FUNCTION sql_step(state jsonb, label text, x float8[]) RETURNS jsonb LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(state, '{}') || jsonb_build_object(label, coalesce((state ->> label)::int, 0) + 1) $$;
CREATE AGGREGATE sql_train(text, float8[]) (SFUNC = sql_step, STYPE = jsonb);
CREATE FUNCTION sql_predict(state jsonb, x float8[]) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT key FROM jsonb_each_text(state) ORDER BY value::int DESC, key LIMIT 1 $$;
CREATE FUNCTION named(argument text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  EXECUTE format('SELECT privpred.create_model(''none'', ''one_row'', ''y'', ''["x"]'', classes => ''{a,b}'', %I => ''none'')', argument);
EXCEPTION WHEN undefined_object THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN QUERY SELECT unnest(string_to_array(substring(hint FROM ': (.*)\.$'), ', '));
END $$;

-- The model's accuracy on the units held out, as it answers without noise: 0 if none of them has trained it.
CREATE FUNCTION accuracy(mechanism text, learner text, relation regclass, by_states boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  PERFORM set_config('privpred.train_by_states', by_states::text, true);
  PERFORM privpred.create_model('holdout', relation, 'y', '["x"]', '{a,b}', mechanism, learner, teachers => 5, epsilon => 100, holdout => 0.9,
    options => (CASE mechanism WHEN 'littlestone' THEN '{"class": "thresholds", "points": 2, "batches": 9}' ELSE '{}' END::jsonb ||
      CASE learner WHEN 'sql' THEN '{"train": "holdout.sql_train", "predict": "holdout.sql_predict"}' ELSE '{}' END::jsonb));
  UPDATE privpred.model SET salt = '\x000102030405060708090a0b0c0d0e0f' WHERE name = 'holdout';
  PERFORM privpred.retrain('holdout');
  SELECT e.majority_accuracy || CASE WHEN e.rows = (SELECT count(*) FROM one_row WHERE y = 'a') * (1 + (relation = 'two_rows'::regclass)::int) THEN '' ELSE ' of ' || e.rows END
    INTO result FROM privpred.evaluate('holdout') e;
  PERFORM privpred.drop_model('holdout');
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM);
END $$;
-- (boost and forest need a library; a student is trained on public rows; nothing can be expected of soft, which has the teachers of sparse)
CREATE VIEW cell AS SELECT m.m AS mechanism, l.l AS learner, r::text AS relation, false AS by_states, accuracy(m.m, l.l, r) AS result
  FROM named('mechanism') m, named('learner') l, unnest('{one_row,two_rows,parts}'::regclass[]) r
  WHERE m.m IN ('vote', 'average', 'median', 'sparse') AND l.l NOT IN ('boost', 'forest')
  UNION ALL SELECT 'vote', l.l, r::text, true, accuracy('vote', l.l, r, true) FROM named('learner') l, unnest('{one_row,two_rows,parts}'::regclass[]) r
  WHERE l.l NOT IN ('boost', 'forest', 'sql')
  UNION ALL SELECT m.m, '-', r::text, false, accuracy(m.m, 'logistic', r) FROM named('mechanism') m, unnest('{one_row,two_rows,parts}'::regclass[]) r
  WHERE m.m NOT IN ('vote', 'average', 'median', 'sparse', 'soft', 'label_private', 'distill')
  UNION ALL SELECT 'label_private', '-', 'labels', false, accuracy('label_private', 'logistic', 'labels');
SELECT mechanism, by_states, count(*), string_agg(DISTINCT result, ', ') FROM cell GROUP BY mechanism, by_states ORDER BY mechanism, by_states;

-- with workers that take some of the teachers each, and with those that take some of the rows
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT accuracy('vote', 'knn', 'two_rows'), accuracy('vote', 'linear', 'two_rows'), accuracy('threshold', 'logistic', 'two_rows');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- ---------- one unit ----------

SET ROLE holdout_owner;
CREATE TABLE small (id int NOT NULL, x float8, y text);
INSERT INTO small SELECT i, (i * 37 % 100) / 100.0 + j / 1000.0, CASE WHEN i * 37 % 100 < 50 THEN 'a' ELSE 'b' END FROM generate_series(1, 40) i, generate_series(1, 3) j;
SELECT privpred.protect('small', 'id', declared_units => 40);
SELECT card -> 'holdout' FROM privpred.create_model('holdout small', 'small', 'y', '["x"]', '{a,b}', learner => 'knn', teachers => 3, epsilon => 1, holdout => 0.5) card;
SELECT privpred.protect('small', 'id', declared_units => 40, max_rows_per_unit => 2);
SELECT card -> 'holdout' FROM privpred.create_model('holdout walk', 'small', 'y', '["x"]', '{a,b}', 'threshold', holdout => 0.5) card;
RESET ROLE;
-- What a model is once a unit's rows are gone: the same bytes, or one unit less among those held out.
CREATE FUNCTION influence(named text, OUT of_those_who_train int, OUT of_those_held_out int, OUT of_both_or_none int, OUT held_out int) LANGUAGE plpgsql AS $$
DECLARE
  bytes text;
  rows_before bigint;
  rows_after bigint;
  same boolean;
BEGIN
  PERFORM privpred.retrain(named);
  SELECT md5(m::text) INTO bytes FROM (SELECT predictor, state FROM privpred.model WHERE name = named) m;
  rows_before := (privpred.evaluate(named)).rows;
  of_those_who_train := 0;
  of_those_held_out := 0;
  of_both_or_none := 0;
  held_out := rows_before / 3;
  FOR unit IN 1..40 LOOP
    BEGIN
      DELETE FROM small WHERE id = unit;
      PERFORM privpred.retrain(named);
      SELECT md5(m::text) = bytes INTO same FROM (SELECT predictor, state FROM privpred.model WHERE name = named) m;
      rows_after := (privpred.evaluate(named)).rows;
      RAISE EXCEPTION USING ERRCODE = 'PP000';
    EXCEPTION WHEN SQLSTATE 'PP000' THEN
      of_those_who_train := of_those_who_train + (NOT same AND rows_after = rows_before)::int;
      of_those_held_out := of_those_held_out + (same AND rows_after = rows_before - 3)::int;
      of_both_or_none := of_both_or_none + (same = (rows_after = rows_before))::int;
    END;
  END LOOP;
END $$;
SELECT model, of_those_who_train + of_those_held_out AS units, of_those_held_out = held_out AS as_evaluated, held_out BETWEEN 1 AND 39 AS some, of_both_or_none
FROM unnest('{holdout small,holdout walk}'::text[]) model, influence(model);

-- ---------- evaluate ----------

SET ROLE holdout_owner;
CREATE TABLE fresh AS SELECT i / 20.0 AS x, CASE WHEN i < 10 THEN 'a' ELSE 'b' END AS y FROM generate_series(0, 19) i;
CREATE VIEW over_small AS SELECT y, x FROM small WHERE id < 5;
CREATE VIEW over_fresh AS SELECT y, x FROM fresh;
SELECT rows FROM privpred.evaluate('holdout small', 'fresh');
SELECT rows FROM privpred.evaluate('holdout small', 'over_fresh');
SELECT rows FROM privpred.evaluate('holdout small', 'small');
SELECT rows FROM privpred.evaluate('holdout small', 'over_small');
SELECT sum(rows)::int = (SELECT rows FROM privpred.evaluate('holdout small')) FROM privpred.confusion_matrix('holdout small');
SELECT epsilon, private_accuracy IS NOT NULL FROM privpred.accuracy_curve('holdout small', epsilons => '{0.5, 10}');
SELECT privpred.create_model('holdout all', 'small', 'y', '["x"]', '{a,b}', learner => 'centroid', teachers => 3, epsilon => 1) ->> 'holdout';
SELECT rows FROM privpred.evaluate('holdout all', 'small');
SELECT refused($$SELECT privpred.evaluate('holdout all')$$);
SELECT refused($$SELECT privpred.confusion_matrix('holdout all')$$);
SELECT refused(format($$SELECT privpred.create_model('bad', 'small', 'y', '["x"]', '{a,b}', holdout => %L)$$, holdout))
FROM unnest('{-0.1,0.0001,0.91,1,NaN,Infinity,NULL}'::float8[]) holdout;

-- a student has its teacher's units to be judged by
SELECT privpred.distill('holdout student', 'holdout small', 'fresh', 'stump') -> 'holdout';
SELECT (SELECT rows FROM privpred.evaluate('holdout student')) = (SELECT rows FROM privpred.evaluate('holdout small'));

-- a part of a partitioned table, and its whole
RESET ROLE;
SELECT privpred.create_model('holdout parts', 'parts', 'y', '["x"]', '{a,b}', holdout => 0.1) -> 'holdout';
SELECT rows FROM privpred.evaluate('holdout parts', 'part_2');
SELECT pg_typeof(privpred.evaluate('holdout parts'));

RESET search_path;
DROP SCHEMA holdout CASCADE;
DROP OWNED BY holdout_owner;
DROP ROLE holdout_owner;
