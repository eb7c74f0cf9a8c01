-- Mechanism threshold for more than two classes, and on several columns: against the same written in SQL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE SCHEMA threshold_many;
SET search_path = threshold_many, pg_catalog, public;
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

CREATE TABLE people (visit int PRIMARY KEY, id int NOT NULL, a float8, b float8, c boolean, y text);

----------------------------------------------------------------------
-- the same in SQL
----------------------------------------------------------------------
-- Where the classes of one column stand at x, in steps behind the one in front.
CREATE FUNCTION behind(col text, classes text[], at float8, most int) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
  w int[] := array_fill(0, ARRAY[cardinality(classes)]);
  moves record;
BEGIN
  FOR moves IN EXECUTE format('SELECT array_agg(n ORDER BY i) AS n FROM (SELECT %1$I::int4 AS x, i, count(y) FILTER (WHERE y = k) AS n FROM people, unnest($1) WITH ORDINALITY u(k, i)
      WHERE %1$I::int4 <= $2 AND y = ANY ($1) GROUP BY 1, 2) s GROUP BY x ORDER BY x', col) USING classes, greatest(at, 0) LOOP
    w := ARRAY(SELECT w[i] + moves.n[i] FROM generate_subscripts(w, 1) i ORDER BY i);
    w := ARRAY(SELECT greatest(v, (SELECT max(m) FROM unnest(w) m) - most) FROM unnest(w) WITH ORDINALITY u(v, i) ORDER BY i);
  END LOOP;
  RETURN ARRAY(SELECT (SELECT max(m) FROM unnest(w) m) - v FROM unnest(w) WITH ORDINALITY u(v, i) ORDER BY i);
END $$;
-- Scores in steps of one column's walk: the mean of positions, or half of the median lead.
CREATE FUNCTION scores(combine text, cols text[], classes text[], at float8[], most int) RETURNS float8[] LANGUAGE sql AS $$
  SELECT array_agg(s ORDER BY k) FROM (
    SELECT k, CASE WHEN combine = 'vote' THEN percentile_cont(0.5) WITHIN GROUP (ORDER BY lead) / 2 ELSE -avg(v) END AS s FROM (
      SELECT k, v, (SELECT min(o) FROM unnest(d) WITH ORDINALITY q(o, j) WHERE j <> k) - v AS lead
      FROM unnest(cols, at) u(col, x), LATERAL behind(col, classes, x, most) d, LATERAL unnest(d) WITH ORDINALITY p(v, k)) l GROUP BY k) s $$;
-- Probabilities: permute-and-flip as a uniform one of those that are accepted, and the exponential mechanism.
CREATE FUNCTION flipped(s float8[], step float8, k int) RETURNS float8 LANGUAGE sql AS $$
  SELECT sum((SELECT exp(sum(ln(CASE WHEN chosen >> (i::int - 1) & 1 = 1 THEN e ELSE 1 - e END))) FROM unnest(s) WITH ORDINALITY u(v, i), LATERAL exp(-step * (best - v)) e)
    / length(replace(chosen::bit(8)::text, '0', '')))
  FROM generate_series(1, (1 << cardinality(s)) - 1) chosen, (SELECT max(m) AS best FROM unnest(s) m) b
  WHERE chosen >> (k - 1) & 1 = 1 AND NOT EXISTS (SELECT FROM unnest(s) WITH ORDINALITY u(v, i) WHERE v = best AND chosen >> (i::int - 1) & 1 = 0) $$;
CREATE FUNCTION weighed(s float8[], step float8, k int) RETURNS float8 LANGUAGE sql AS $$
  SELECT exp(step * s[k]) / sum(exp(step * v)) FROM unnest(s) v $$;

CREATE TABLE probe (a float8, b float8, c boolean, y text);
-- How many probabilities there are, and how many are not what they should be.
CREATE FUNCTION compared(of text, OUT probabilities int, OUT wrong int, OUT low numeric, OUT high numeric) LANGUAGE plpgsql AS $$
DECLARE
  m privpred.model;
  combine text;
  cols text[];
  rows int;
  step float8;
  n int;
  e record;
  flip float8;
  weigh float8;
BEGIN
  SELECT * INTO m FROM privpred.model WHERE name = of;
  cols := ARRAY(SELECT f ->> 'name' FROM jsonb_array_elements(to_jsonb(m.features)) f);
  n := cardinality(cols);
  combine := CASE WHEN n = 1 THEN 'sum' ELSE coalesce(m.options ->> 'combine', 'vote') END;
  rows := current_setting('many.rows')::int;
  step := (SELECT epsilon FROM privpred.models WHERE name = of) / 2 / rows;
  probabilities := 0;
  wrong := 0;
  FOR e IN SELECT x, z, k FROM (VALUES (-1.0), (1), (2.5), (4), (7), (9)) v(x), (VALUES (0), (3), (8)) w(z), generate_subscripts(m.classes, 1) k
           WHERE z = 0 OR 'b' = ANY (cols) LOOP
    TRUNCATE probe;
    INSERT INTO probe VALUES (e.x, e.z, e.z = 3, m.classes[e.k]);
    SELECT v.private_accuracy, v.approximate_accuracy INTO flip, weigh FROM privpred.evaluate(of, 'probe') v;
    probabilities := probabilities + 2;
    wrong := wrong + (abs(flip - flipped(scores(combine, cols, m.classes, (ARRAY[e.x, e.z, (e.z = 3)::int])[1:n], ceil(ln((cardinality(m.classes) - 1) / 0.05) / step * CASE combine WHEN 'sum' THEN n ELSE 1 END)::int), step, e.k)) > 1e-9)::int
      + (abs(weigh - weighed(scores(combine, cols, m.classes, (ARRAY[e.x, e.z, (e.z = 3)::int])[1:n], ceil(ln(2 * (cardinality(m.classes) - 1) / 0.05) / step * CASE combine WHEN 'sum' THEN n ELSE 1 END)::int), step, e.k)) > 1e-9)::int;
    low := least(low, round(flip::numeric, 3));
    high := greatest(high, round(flip::numeric, 3));
  END LOOP;
END $$;

INSERT INTO people SELECT i, i, i * 7 % 11, i * 5 % 9, i % 3 = 0, CASE WHEN i % 13 = 0 THEN NULL WHEN i * 7 % 11 < 3 THEN 'p' WHEN i * 7 % 11 < 6 THEN 'q' WHEN i % 4 = 0 THEN 'p' ELSE 'r' END FROM generate_series(1, 60) i;
SELECT privpred.protect('people', unit => 'id', max_rows_per_unit => 1);
CREATE FUNCTION model(name text, features text, classes text DEFAULT '{p,q,r}', options text DEFAULT '{}', epsilon float8 DEFAULT 1) RETURNS text LANGUAGE sql AS $$
  SELECT privpred.create_model(name, 'people', label => 'y', classes => classes::text[], features => features::json, mechanism => 'threshold', epsilon => epsilon, options => options::jsonb) ->> 'version' $$;
SELECT model('three', '{"a": {"min": 0, "max": 10}}'), model('four', '{"a": {"min": 0, "max": 10}}', '{p,none,q,r}'),
  model('two columns', '{"a": {"min": 0, "max": 10}, "b": {"min": 0, "max": 10}}'),
  model('two columns added', '{"a": {"min": 0, "max": 10}, "b": {"min": 0, "max": 10}}', options => '{"combine": "sum"}'),
  model('three columns', '{"a": {"min": 0, "max": 10}, "b": {"min": 0, "max": 10}, "c": {}}', '{r,p}'),
  model('three columns added', '{"a": {"min": 0, "max": 10}, "b": {"min": 0, "max": 10}, "c": {}}', '{r,p}', '{"combine": "sum"}'),
  model('all', '{"a": {"min": 0, "max": 10}, "b": {"min": 0, "max": 10}, "c": {}}', epsilon => 3),
  model('all added', '{"a": {"min": 0, "max": 10}, "b": {"min": 0, "max": 10}, "c": {}}', options => '{"combine": "sum"}', epsilon => 3);
SELECT name, mechanism, learner, teachers, charge_kind, options FROM privpred.models WHERE name IN ('three', 'all added') ORDER BY name;
CREATE TEMP VIEW all_models AS SELECT name, c.* FROM privpred.models, compared(name::text) c WHERE mechanism = 'threshold' AND relation = 'people'::regclass ORDER BY name COLLATE "C";
SET many.rows = 1;
SELECT * FROM all_models;
-- several rows of a unit: smaller steps
INSERT INTO people SELECT 100 + visit, id, 10 - a, 9 - b, NOT c, y FROM people WHERE visit % 2 = 0;
SELECT privpred.protect('people', unit => 'id', max_rows_per_unit => 2);
SELECT count(privpred.retrain(name)) AS trained FROM privpred.models WHERE relation = 'people'::regclass;
SET many.rows = 2;
SELECT * FROM all_models;

----------------------------------------------------------------------
-- answers follow these probabilities
----------------------------------------------------------------------
CREATE ROLE many_pure;
CREATE ROLE many_finite;
GRANT USAGE ON SCHEMA threshold_many TO many_pure, many_finite;
-- (warnings say that so much promises little)
SET client_min_messages = error;
SELECT privpred.grant_budget('many_pure', 'people', epsilon => 100000);
SELECT privpred.grant_budget('many_finite', 'people', epsilon => 10000, delta => 1e-6, per_answer => 1, force => true);
-- By Hoeffding's inequality 9000 draws are off by 0.031 with probability below 10^-7; any other column, link or step is further off.
CREATE TABLE drawn (role text, y text, n int);
GRANT INSERT ON drawn TO many_pure, many_finite;
SET privpred.repeat_memory = 0;
SET ROLE many_pure;
INSERT INTO drawn SELECT 'pure', y, count(*) FROM (SELECT private_predict('two columns', '{2.5, 3}'::float8[]) AS y FROM generate_series(1, 9000)) s GROUP BY y;
RESET ROLE;
SET ROLE many_finite;
INSERT INTO drawn SELECT 'finite', y, count(*) FROM (SELECT private_predict('two columns', '{"a": 2.5, "b": 3}'::jsonb) AS y FROM generate_series(1, 9000)) s GROUP BY y;
RESET ROLE;
SELECT role, k, abs(coalesce((SELECT n FROM drawn d WHERE d.role = r.role AND d.y = ('{p,q,r}'::text[])[k]), 0) / 9000.0
  - CASE role WHEN 'pure' THEN flipped(s, 0.25, k) ELSE weighed(s, 0.25, k) END) < 0.031 AS as_expected
FROM unnest('{pure,finite}'::text[]) r(role), generate_series(1, 3) k, LATERAL scores('vote', '{a,b}', '{p,q,r}', '{2.5,3}', ceil(ln(CASE role WHEN 'pure' THEN 40 ELSE 80 END) / 0.25)::int) s ORDER BY 1 DESC, 2;
-- rows, too; and the price is one draw's
SET ROLE many_finite;
SELECT count(private_predict('all', p)) FROM (SELECT 1 AS a, 2 AS b, true AS c) p;
SELECT epsilon, delta FROM privpred.cost('all');
RESET ROLE;

----------------------------------------------------------------------
-- what else is asked of models
----------------------------------------------------------------------
-- far from every boundary the error is at most alpha/2 for each of two classes, four, and all columns
TRUNCATE people;
INSERT INTO people SELECT i, i, i / 100, (999 - i) / 100, i >= 500, ('{p,p,p,q,q,q,r,r,r,r}'::text[])[1 + i / 100] FROM generate_series(0, 999) i;
SELECT privpred.protect('people', unit => 'id', max_rows_per_unit => 1);
SELECT count(privpred.retrain(name)) AS trained FROM privpred.models WHERE relation = 'people'::regclass;
CREATE TABLE held AS SELECT a, b, c, y FROM people WHERE visit % 100 = 50 AND visit / 100 NOT IN (0, 3, 6);
SELECT name, majority_accuracy, round(private_accuracy::numeric, 3) >= 0.975 AS pure, round(approximate_accuracy::numeric, 3) >= 0.975 AS finite
FROM unnest('{three,four,two columns}'::text[]) name, privpred.evaluate(name, 'held') ORDER BY 1;
SELECT class, answer FROM privpred.confusion_matrix('three', 'held') WHERE share > 0.9 AND approximate_share > 0.9 ORDER BY 1, 2;
SELECT epsilon, own, remark FROM privpred.accuracy_curve('three', 'held', '{0.25}') ORDER BY 1;
SELECT refused($$SELECT privpred.export_model('three')$$);
SELECT m AS model, pair, compared, verdict FROM unnest('{three,two columns,all added}'::text[]) m, privpred.audit(m) ORDER BY 1, 2;
CREATE TABLE public_rows AS SELECT i / 10.0 AS a, (99 - i) / 10.0 AS b, i >= 50 AS c FROM generate_series(0, 99) i;
SELECT model('sure', '{"a": {"min": 0, "max": 10}, "b": {"min": 0, "max": 10}, "c": {}}', options => '{"alpha": 0.000001}', epsilon => 100);
SELECT privpred.grant_budget(current_user::regrole, 'people', epsilon => 100000);
SELECT privpred.distill('student', 'sure', 'public_rows', learner => 'tree') ->> 'mechanism' AS mechanism;
SELECT a, private_predict('student', p) FROM public_rows p WHERE a IN (1.5, 4.5, 8.5) ORDER BY a;
SELECT refused($$SELECT privpred.explain('three')$$);
SELECT version FROM privpred.models WHERE name = 'three';
SELECT privpred.forget('people', 7, delete_rows => true) IS NOT NULL AS forgotten;
SELECT version FROM privpred.models WHERE name = 'three';

-- numbers by bins, dates, views
CREATE TABLE visits (id int PRIMARY KEY, day date, age int, cost numeric);
INSERT INTO visits SELECT i, '2000-01-01'::date + i, i % 90, i % 300 FROM generate_series(1, 600) i;
CREATE VIEW some_visits AS SELECT id, day, age, cost FROM visits WHERE age < 80;
SELECT privpred.protect('visits'), privpred.protect('some_visits', unit => 'id', max_rows_per_unit => 1);
SELECT privpred.create_model('bins ' || r, r::regclass, label => 'cost', features => '{"day": {"min": "2000-01-01", "max": "2001-12-31"}, "age": {"min": 0, "max": 90}}', mechanism => 'threshold', epsilon => 100,
  options => '{"bins": [0, 100, 200, 300], "combine": "sum"}') -> 'classes' AS classes FROM unnest('{visits,some_visits}'::text[]) r;
SELECT privpred.grant_budget(current_user::regrole, 'visits', epsilon => 1000);
SELECT private_predict('bins visits', '{"day": "2000-03-01", "age": 60}'::jsonb) IS NOT NULL AS answered;

----------------------------------------------------------------------
-- sizes, damage, refusals, no rows
----------------------------------------------------------------------
CREATE FUNCTION state_size(model text) RETURNS int LANGUAGE sql AS 'SELECT octet_length(state) FROM privpred.model WHERE name = $1';
SELECT state_size('three') = 20 + 16 + 8 + 1024 * (8 + 8 * 3) AS three, state_size('all') = 20 + 16 + 3 * (8 + 1024 * (8 + 8 * 3)) AS all_columns;
SELECT privpred.protect('people', unit => 'id', max_rows_per_unit => 1, declared_units => 2000);
SELECT privpred.retrain('all') ->> 'version' AS version, state_size('all') = 20 + 16 + 3 * (8 + 2048 * (8 + 8 * 3)) AS declared;
TRUNCATE people;
SELECT privpred.retrain('all') ->> 'version' AS version, state_size('all') = 20 + 16 + 3 * (8 + 2048 * (8 + 8 * 3)) AS declared;
SET many.rows = 1;
SELECT low AS undecided, wrong FROM compared('all');
INSERT INTO people VALUES (1, 1, 'NaN', 'Infinity', NULL, 'q'), (2, 2, NULL, '-Infinity', true, 'q'), (3, 3, 1, 1, true, 'nothing declared');
SELECT privpred.retrain('all') ->> 'version' AS version;
CREATE FUNCTION damage(at int, with_bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  UPDATE privpred.model SET state = overlay(state PLACING with_bytes FROM at) WHERE name = 'all';
  result := refused($q$SELECT private_predict('all', '{1, 1, 0}'::float8[])$q$);
  RAISE EXCEPTION '%', result;
EXCEPTION WHEN raise_exception THEN
  RETURN split_part(SQLERRM, ' | ', 2);
END $$;
-- version, capacity, a limit of none and of too many, what must be zero, points, an x, a distance, unused room
SELECT at, damage(at, b) FROM (VALUES (5, '\x01'::bytea), (21, '\x01'), (25, '\x00000000'), (25, '\xffffff7f'), (33, '\x01'), (37, '\xffff'), (45, '\x000000000000f07f'), (20 + 16 + 8 + 2048 * 8 + 1, '\x01010101010101010101010101010101'),
  (20 + 16 + 8 + 2048 * 8 + 12 * 2047 + 1, '\x01')) v(at, b);
CREATE FUNCTION try(more text, features text, classes text DEFAULT '{p,q,r}') RETURNS text LANGUAGE sql AS $$
  SELECT refused(format($f$SELECT privpred.create_model('tried', 'people', label => 'y', classes => %L, features => %L, mechanism => 'threshold' %s)$f$, classes, features, more)) $$;
SELECT try('', '{"y": {"levels": ["p", "q", "r"]}}'), try('', '{"a": {"min": 0, "max": 10}, "y": {"levels": ["p", "q"]}}');
SELECT try($$, options => '{"combine": "sum"}'$$, '{"a": {"min": 0, "max": 10}}');
SELECT try($$, options => '{"combine": "product"}'$$, '{"a": {"min": 0, "max": 10}, "c": {}}');
SELECT try($$, learner => 'tree'$$, '{"a": {"min": 0, "max": 10}, "c": {}}');
SET maintenance_work_mem = '1MB';
SELECT privpred.protect('people', unit => 'id', max_rows_per_unit => 1, declared_units => 1000000);
SELECT try('', '{"a": {"min": 0, "max": 10}, "c": {}}');
RESET maintenance_work_mem;
-- more than a stored value has room for, whatever the memory
CREATE TABLE wide (id int NOT NULL, y text);
SELECT 'ALTER TABLE wide ' || string_agg(format('ADD COLUMN f%s float8', i), ', ') FROM generate_series(1, 140) i \gexec
SELECT privpred.protect('wide', unit => 'id', max_rows_per_unit => 1);
SELECT refused(format($f$SELECT privpred.create_model('wide', 'wide', label => 'y', classes => %L, features => %L, mechanism => 'threshold')$f$,
  (SELECT array_agg('k' || i) FROM generate_series(1, 1000) i), (SELECT json_object_agg('f' || i, '{"min": 0, "max": 10}'::json) FROM generate_series(1, 140) i)));

DROP SCHEMA threshold_many CASCADE;
SELECT count(*) AS models_left FROM privpred.models WHERE name IN ('three', 'all', 'student');
DROP OWNED BY many_pure, many_finite;
DROP ROLE many_pure;
DROP ROLE many_finite;
