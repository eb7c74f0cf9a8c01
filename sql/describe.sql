-- describe(): bounds, cuts and levels of a protected table, paid by everybody.  Noise decides what
-- is seen, so that only what it cannot hide, or invent, is looked at here; test/t/044_describe.pl
-- has the statistics.
SET client_min_messages = error;
SET timezone TO 'UTC';
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
CREATE ROLE describe_owner;
CREATE ROLE describe_ann;
CREATE ROLE describe_bob;
CREATE ROLE describe_cat;
CREATE ROLE describe_dan;
CREATE SCHEMA describe_s AUTHORIZATION describe_owner;
GRANT USAGE ON SCHEMA describe_s TO PUBLIC;
SET ROLE describe_owner;
SET search_path = describe_s, public;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN years AS int CHECK (value > -1000);
CREATE DOMAIN town AS text;
CREATE DOMAIN state AS mood;
CREATE TABLE t (id int PRIMARY KEY, gone int, age years, i2 smallint, i8 bigint, f4 real, f8 float8, n numeric, d date, ts timestamp,
  tz timestamptz, city town, v varchar(300), c char(300), nm name, b boolean, m state, j jsonb, g int GENERATED ALWAYS AS (id * 2) STORED);
ALTER TABLE t DROP gone;
INSERT INTO t SELECT i, 17 + i % 70, -i % 300, i * 1e9, (i % 10) / 8.0, i % 1000 / 1000.0, CASE WHEN i % 4 = 0 THEN NULL WHEN i % 4 = 1 THEN 'NaN'::numeric WHEN i % 1000 = 2 THEN 'Infinity' ELSE i END,
  date '1950-03-04' + i % 10000, CASE WHEN i % 50 = 0 THEN 'infinity' ELSE timestamp '2001-02-03' + i * interval '1 hour' END, timestamptz '2001-02-03 00:00+00' + i * interval '1 hour',
  (ARRAY['Rome', 'Oslo', 'Bern', 'a "b" \c'])[1 + i % 4], CASE i % 3 WHEN 0 THEN repeat('x', 255) WHEN 1 THEN repeat('y', 256) ELSE '' END, 'ab',
  'n' || i % 2, i % 2 = 0, 'sad', '{}' FROM generate_series(1, 4000) i;
INSERT INTO t (id, city) VALUES (4001, 'held by one');

-- what is refused, in the order in which it is looked at
SELECT refused($$SELECT privpred.describe('t')$$);
SELECT privpred.protect('t');
SELECT refused($$SELECT privpred.describe('t')$$);
SELECT refused($$SELECT privpred.describe_cost('t')$$);
SELECT privpred.protect('t', declared_units => 4000);
RESET ROLE;
CREATE TABLE describe_s.bare (id int PRIMARY KEY, x int);
SET ROLE describe_ann;
SELECT refused(format('SELECT privpred.%s(%L%s)', f, r, a)) FROM unnest('{describe,describe_cost}'::text[]) f, unnest('{t,bare}'::text[]) r, unnest(ARRAY['', ', epsilon => 200']) a;
SELECT count(*) FROM privpred.descriptions;
RESET ROLE;
DROP TABLE describe_s.bare;
SET ROLE describe_owner;
SELECT refused(format('SELECT privpred.describe(''t'', %s)', a)) FROM unnest(ARRAY[
  'columns => ''{}''', 'columns => ''{nothing}''', 'columns => ''{ctid}''', 'columns => ''{id}''', 'columns => ''{age,f4,age}''', 'columns => ''{age,NULL}''', 'columns => ''{{age},{f4}}''', 'columns => ''{gone}''',
  'columns => array_fill(''age''::name, ARRAY[1601])', 'epsilon => 0', 'epsilon => 101', 'epsilon => ''NaN''', 'epsilon => NULL', 'delta => 0', 'delta => 0.2', 'delta => -1', 'delta => ''NaN''', 'delta => NULL',
  'cuts => 1', 'cuts => -1', 'cuts => 257', 'epsilon => 1e-9, delta => 1e-300', 'given => NULL', 'given => ''[]''', 'given => ''3''', 'given => ''{"nothing": {}}''', 'given => ''{"id": {"min": 0, "max": 1}}''', 'given => ''{"age": {}}''',
  'given => ''{"age": 3}''', 'given => ''{"age": {"min": 3, "max": 2}}''', 'given => ''{"age": {"min": 0}}''', 'given => ''{"city": {}}''', 'given => ''{"city": {"levels": []}}''', 'given => ''{"city": {"levels": ["a", "a"]}}''',
  'given => ''{"j": {"levels": ["a"]}}''', 'given => ''{"age": {"min": 0, "max": 9, "most": 3}}''', 'given => ''{"city": {"levels": ["a"]}, "city": {"levels": ["b"]}}''',
  'columns => ''{age}'', given => ''{"city": {"levels": ["a"]}}''']) WITH ORDINALITY u(a, n) ORDER BY n;
SELECT count(*) FROM privpred.descriptions;

-- what is seen: at epsilon 100 the noise has a variance of 1
CREATE TABLE seen AS SELECT privpred.describe('t', cuts => 0, epsilon => 100) AS f;
SELECT json_object_keys(f) FROM seen;
SELECT k, (f -> k ->> 'min')::float8 <= lo AND (f -> k ->> 'min')::float8 < (f -> k ->> 'max')::float8 AND hi <= (f -> k ->> 'max')::float8 AS within, f -> k -> 'cuts'
FROM seen, (VALUES ('age', 17.0, 86.0), ('i2', -299, 0), ('i8', 1e11, 4e12), ('f4', 0, 1.125), ('f8', 0.05, 0.999), ('n', 100, 3999)) v(k, lo, hi);
SELECT k, (f -> k ->> 'min')::timestamptz <= lo AND hi <= (f -> k ->> 'max')::timestamptz AS within, f -> k ->> 'min' ~ '^\d{4}-01-01(T00:00:00(\+00:00)?)?$' AS whole
FROM seen, (VALUES ('d', timestamptz '1950-03-04 00:00+00', timestamptz '1961-02-14 00:00+00'), ('ts', '2001-02-03 01:00+00', '2001-07-19 15:00+00'), ('tz', '2001-02-03 01:00+00', '2001-07-19 15:00+00')) v(k, lo, hi);
SELECT f -> 'city' -> 'levels', (SELECT string_agg(left(l, 1) || length(l), ',') FROM json_array_elements_text(f -> 'v' -> 'levels') l), f -> 'c' -> 'levels', f -> 'nm' -> 'levels', f -> 'b', f -> 'm' FROM seen;
SELECT (f #>> '{n,"null",fill}') IS NOT NULL AS n_filled FROM seen;
SELECT columns, left_out, (null_shares ->> 'n')::float8 BETWEEN 0.49 AND 0.51 AS n, (null_shares ->> 'age')::float8 < 0.01 AS age, (SELECT count(*) FROM jsonb_object_keys(null_shares)) FROM privpred.descriptions ORDER BY id DESC LIMIT 1;
-- the model takes it as it is, and the same from the view
SELECT privpred.create_model('described', 't', label => 'b', features => privpred.describe('t', columns => '{age,f8,n,d,tz,city,v,c,m}', epsilon => 100), teachers => 10) -> 'version';
SELECT privpred.create_model('described2', 't', label => 'b', features => (SELECT features FROM privpred.descriptions ORDER BY id DESC LIMIT 1), teachers => 10) -> 'version';
SELECT bool_and(a.features = b.features) FROM privpred.models a, privpred.models b WHERE a.name = 'described' AND b.name = 'described2';
SELECT privpred.drop_model('described'), privpred.drop_model('described2');
-- in the order of columns, whatever is asked for; a generated column if it is named
SELECT json_object_keys(privpred.describe('t', columns => '{g,city,age}', epsilon => 100));
-- what is given is not looked for: fewer histograms, less noise
SELECT histograms, round(sigma ^ 2) AS variance, smallest_cell, smallest_level, epsilon, delta FROM privpred.describe_cost('t', columns => '{age,f8,city,b}');
SELECT histograms, round(sigma ^ 2) AS variance, smallest_cell, smallest_level, epsilon, delta FROM privpred.describe_cost('t', columns => '{age,f8,city,b}', given => '{"f8": {"min": 0, "max": 1}, "city": {"levels": ["Oslo", "Paris"]}}');
SELECT f ->> 'f8', f ->> 'city', f ->> 'b' FROM privpred.describe('t', columns => '{age,f8,city,b}', epsilon => 100, cuts => 8, given => '{"f8": {"min": 0, "max": 1 } , "city": {"levels": ["Oslo", "Paris"]}}') f;
SELECT f ->> 'f8' FROM privpred.describe('t', columns => '{age,f8}', epsilon => 100, cuts => 0, given => '{"f8": {"min": 0, "max": 1}}') f;
-- and has cuts if there is room for them
SELECT privpred.describe('t', columns => '{d,ts}', given => format('{"d": {"min": "2000-01-01", "max": "%s"}, "ts": {"min": "2000-01-01", "max": "2000-01-02"}}', most)::json) FROM unnest('{2000-01-16,2000-01-17}'::text[]) most;
-- of nothing but such columns nothing is drawn or paid
SELECT * FROM privpred.describe_cost('t', columns => '{b,m,j,f8}', given => '{"f8": {"min": 0, "max": 1}}');
SELECT privpred.describe('t', columns => '{b,m,j,f8}', cuts => 0, given => '{"f8": {"min": 0, "max": 1}}');
SELECT charge, null_shares, left_out FROM privpred.descriptions ORDER BY id DESC LIMIT 1;

-- a unit gives one row, the least by a keyed hash of its cells: not by their order, number or plan
CREATE TABLE visits (clinic int NOT NULL, patient text NOT NULL, x float8, y text);
INSERT INTO visits SELECT i % 2, 'p' || i / 2 % 1000, i % 7, 'l' || i % 5 FROM generate_series(1, 10000) i;
CREATE FUNCTION chosen(salt text, ordered text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE format('SELECT md5(string_agg(r, '','' ORDER BY clinic, patient)) FROM (SELECT clinic, patient,
    privpred.least_row(privpred.row_cells(privpred.unit_hash(ROW(clinic, patient), decode(%L, ''hex'')), ROW(x, y)))::text AS r
    FROM (SELECT * FROM visits ORDER BY %s) v GROUP BY 1, 2) s', repeat(salt, 16), ordered) INTO result;
  RETURN result;
END $$;
CREATE TABLE choices AS SELECT s, o, chosen(s, o) FROM unnest('{00,01,fe}'::text[]) s, unnest('{"x, y","y DESC, x DESC",random()}'::text[]) o;
SELECT count(DISTINCT chosen), count(*) FROM choices;
INSERT INTO visits SELECT * FROM visits;
SELECT bool_and(chosen(s, 'random()') = chosen) FROM choices;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT bool_and(chosen(s, 'x') = chosen) FROM choices;
SET enable_hashagg = off;
SELECT bool_and(chosen(s, 'x') = chosen) FROM choices;
RESET enable_hashagg;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- all values of a unit have their turn, and units with equal rows need not choose alike
SELECT count(DISTINCT substr(r, 9)) FROM (SELECT privpred.least_row(privpred.row_cells(privpred.unit_hash(k, decode(repeat('00', 16), 'hex')), ROW(x))) AS r FROM generate_series(1, 1000) k, generate_series(1, 7) x GROUP BY k) s;
SELECT refused($$SELECT privpred.row_cells(0, ROW(true))$$);
SELECT privpred.row_cells(0, ROW(NULL::int, 0, 0.5::float8, '2000-01-01'::date, NULL::text, 'ab'::char(5), repeat('z', 256)));
-- composite units, parts and children; memory
CREATE TABLE stays (clinic int, patient text, x float8, y text, PRIMARY KEY (clinic, patient)) PARTITION BY LIST (clinic);
CREATE TABLE stays_0 PARTITION OF stays FOR VALUES IN (0);
CREATE TABLE stays_1 PARTITION OF stays FOR VALUES IN (1);
INSERT INTO stays SELECT DISTINCT ON (clinic, patient) * FROM visits;
CREATE TABLE more (LIKE visits);
INSERT INTO more SELECT * FROM visits WHERE clinic = 0;
CREATE TABLE less (CHECK (clinic = 1)) INHERITS (more);
INSERT INTO less SELECT * FROM visits WHERE clinic = 1;
SELECT r, privpred.protect(r, declared_units => 4000) FROM unnest('{stays}'::regclass[]) r;
SELECT r, privpred.protect(r, unit => 'patient', declared_units => 2000) FROM unnest('{visits,more}'::regclass[]) r;
ALTER TABLE visits ADD nulls int;
ALTER TABLE stays ADD nulls int;
ALTER TABLE more ADD nulls int;
-- as many units as there are, however many rows they have
SELECT r, (SELECT f -> 'y' ->> 'levels' FROM (SELECT privpred.describe(r, columns => '{y,nulls}', epsilon => 100, cuts => 0)) s(f)) FROM unnest('{visits,stays,more}'::regclass[]) r;
SELECT d.relation, abs((null_shares ->> 'nulls')::float8 - 0.5) < 0.01
FROM privpred.descriptions d WHERE d.columns @> '{nulls}' ORDER BY d.id;
SET maintenance_work_mem = '1MB';
CREATE TABLE many (id int PRIMARY KEY, y text);
INSERT INTO many SELECT i, CASE WHEN i % 10 = 0 THEN 'common' ELSE repeat(md5(i::text), 6) END FROM generate_series(1, 40000) i;
SELECT privpred.protect('many', declared_units => 40000);
SELECT f -> 'y' ->> 'levels' FROM privpred.describe('many', epsilon => 100) f;
RESET maintenance_work_mem;
-- a thousand levels, the heaviest
TRUNCATE many;
INSERT INTO many SELECT i, 'l' || CASE WHEN i <= 11000 THEN i % 1100 WHEN i <= 31000 THEN i % 1000 ELSE 5000 + i END FROM generate_series(1, 31500) i;
SELECT json_array_length(f -> 'y' -> 'levels'), (SELECT count(*) FROM json_array_elements_text(f -> 'y' -> 'levels') l WHERE substr(l, 2)::int < 1000) FROM privpred.describe('many', epsilon => 100) f;

-- no rows, one row, many rows: the same noise, price and words, even to those who cannot pay
CREATE TABLE none (id int PRIMARY KEY, x float8, i int, y text, at date);
CREATE TABLE one (LIKE none INCLUDING ALL);
CREATE TABLE all_of_them (LIKE none INCLUDING ALL);
INSERT INTO one VALUES (1, 2, 3, 'a', '2000-01-01');
INSERT INTO all_of_them SELECT i, i, i, 'a', '2000-01-01' FROM generate_series(1, 10000) i;
SELECT privpred.protect(r, declared_units => 100) FROM unnest('{none,one,all_of_them}'::regclass[]) r;
SELECT privpred.grant_budget('describe_ann', r, 2, delta => 1e-5, per_answer => 0.01) FROM unnest('{none,one,all_of_them}'::regclass[]) r;
SELECT DISTINCT c.histograms, round(c.sigma ^ 2), c.smallest_cell, c.smallest_level, c.epsilon, c.delta FROM unnest('{none,one,all_of_them}'::regclass[]) r, privpred.describe_cost(r, epsilon => 0.5) c;
SELECT count(privpred.describe(r, epsilon => 0.5)) FROM unnest('{none,one,all_of_them}'::regclass[]) r;
SELECT count(*), charge FROM privpred.descriptions WHERE relation IN ('none'::regclass, 'one'::regclass, 'all_of_them'::regclass) GROUP BY 2;
SELECT count(*), count(DISTINCT (epsilon_spent, delta_spent, epsilon_left)) FROM privpred.budgets WHERE role = 'describe_ann'::regrole;
SELECT count(*), said FROM (SELECT replace(refused(format('SELECT privpred.describe(%L, epsilon => 20)', r)), r, 'NAME') AS said FROM unnest('{none,one,all_of_them}'::text[]) r) s GROUP BY 2;
SET client_min_messages = warning;
SELECT privpred.describe('none', epsilon => 0.01) IS NOT NULL;
SELECT privpred.describe('one', epsilon => 0.01) IS NOT NULL;
SELECT privpred.describe('all_of_them', epsilon => 0.01) IS NOT NULL;
SET client_min_messages = error;
-- by the formula: the variance is the least at which m / v is within what (epsilon, delta) holds at its best order
WITH orders AS (SELECT 1 + exp(k / 1000.0) AS a FROM generate_series(-5000, 12000) k),
  held AS (SELECT max((0.5 + ln(1 + 1 / (a - 1)) - (ln(2 / 1e-6) - ln(a)) / (a - 1)) / a) * (1 - 1e-6) AS rho FROM orders)
SELECT abs(ceil(4 / rho) - sigma ^ 2) <= 1 AS variance, abs(smallest_cell - sqrt(2 * sigma ^ 2 * ln(20 * 202))) < 1.001 AS cell, abs(smallest_level - 1 - sqrt(2 * sigma ^ 2 * ln(4 / 1e-6))) < 1.001 AS level
FROM held, privpred.describe_cost('none', epsilon => 0.5);
RESET ROLE;
SELECT DISTINCT e.kind, e.detail ~ '^description \d+$' AS detail, e.model, e.answers, e.units - ceil(e.renyi_order / 1048576.0 * 4 / v.variance * 1e12) AS off, e.delta, e.actor
FROM privpred.ledger_entry e, (SELECT round(sigma ^ 2)::numeric AS variance FROM privpred.describe_cost('describe_s.none', epsilon => 0.5)) v WHERE e.kind = 'describe' AND e.delta > 0 AND e.relation_name ~ 'none' AND e.units > 1e9;
SET ROLE describe_owner;

-- everybody pays, or nobody
CREATE TABLE p (id int PRIMARY KEY, x float8, y text, j jsonb);
SELECT privpred.protect('p', declared_units => 100000, epsilon_cap => 3, delta_cap => 1e-4);
SELECT privpred.grant_budget('describe_ann', 'p', 1, delta => 1e-5, per_answer => 0.01);
SELECT privpred.grant_budget('describe_bob', 'p', 0.1, delta => 1e-5, per_answer => 0.001);
SELECT privpred.grant_budget('describe_cat', 'p', 5);
CREATE VIEW paid AS SELECT role, epsilon_spent > 0 AS has_paid, delta_spent, (SELECT count(*) FROM privpred.ledger l WHERE l.account_id = b.account_id AND l.kind = 'describe') AS entries FROM privpred.budgets b WHERE relation = 'p'::regclass ORDER BY role_name;
SELECT refused($$SELECT privpred.describe('p')$$);
SELECT privpred.revoke_budget('describe_cat', 'p');
-- (who is refused is told nothing else)
SET client_min_messages = notice;
SELECT privpred.describe('p');
SET client_min_messages = error;
SELECT refused($$SELECT privpred.describe('p')$$);
SELECT * FROM paid;
SELECT count(*) FROM privpred.descriptions WHERE relation = 'p'::regclass;
SELECT privpred.grant_budget('describe_bob', 'p', 1, delta => 1e-5, per_answer => 0.01);
SELECT privpred.describe('p') IS NOT NULL;
SELECT * FROM paid;
SET ROLE describe_ann;
SELECT count(*), count(features) FROM privpred.descriptions WHERE relation = 'p'::regclass;
SELECT histograms, smallest_level FROM privpred.describe_cost('p');
SET ROLE describe_cat;
SELECT count(*) FROM privpred.descriptions WHERE relation = 'p'::regclass;
SET ROLE describe_owner;
-- reading it again is free, another draw is not
SELECT count(features) FROM privpred.descriptions;
SELECT * FROM paid WHERE role = 'describe_ann'::regrole;
SELECT privpred.describe('p', epsilon => 0.1) IS NOT NULL;
SELECT * FROM paid WHERE role = 'describe_ann'::regrole;
-- whoever comes later starts with it, a pure budget and one that is too small cannot come
SELECT refused($$SELECT privpred.grant_budget('describe_dan', 'p', 5)$$) ~ '^55000 \| the budget cannot pay for description \d+ of the relation \|';
SELECT refused($$SELECT privpred.grant_budget('describe_dan', 'p', 0.2, delta => 1e-5)$$) ~ '^22023 \| the budget is too small to pay for description \d+ of the relation \|';
SELECT refused($$SELECT privpred.grant_budget('describe_cat', 'p', 5)$$) ~ '^55000 ';
SELECT privpred.grant_budget('describe_dan', 'p', 1, delta => 1e-5);
SELECT * FROM paid WHERE role = 'describe_dan'::regrole;
-- a later cap, too
SELECT refused($$SELECT privpred.protect('none', epsilon_cap => 5)$$);
SELECT privpred.protect('none', epsilon_cap => 5, delta_cap => 1e-5);
SELECT epsilon_spent > 0 AS has_paid, delta_spent FROM privpred.budgets WHERE relation = 'none'::regclass AND role IS NULL;
-- a budget with a delta may be of infinite order all the same; what the hints say works
CREATE TABLE pure (id int PRIMARY KEY, x float8);
SELECT privpred.protect('pure', declared_units => 100000);
SELECT privpred.grant_budget('describe_ann', 'pure', 0.5, delta => 1e-6);
SELECT delta_limit, renyi_order FROM privpred.budgets WHERE relation = 'pure'::regclass;
SELECT refused($$SELECT privpred.describe('pure', epsilon => 0.1)$$);
SELECT privpred.grant_budget('describe_ann', 'pure', 0.5, delta => 1e-6, per_answer => 0.001);
SELECT privpred.describe('pure', epsilon => 0.1) IS NOT NULL;
SELECT substring(refused($$SELECT privpred.grant_budget('describe_bob', 'pure', 0.5, delta => 1e-6)$$), 'Give.*');
SELECT privpred.grant_budget('describe_bob', 'pure', 0.5, delta => 1e-6, per_answer => 0.001);
SELECT role, epsilon_spent > 0, renyi_order < 'Infinity' FROM privpred.budgets WHERE relation = 'pure'::regclass ORDER BY role_name;
-- columns without categories cost no delta
SELECT charge ~ 'delta' FROM privpred.descriptions d, (SELECT privpred.describe('p', columns => '{x}', epsilon => 0.1)) s WHERE d.relation = 'p'::regclass ORDER BY id DESC LIMIT 1;
SELECT charge ~ '^gaussian 2/\d+$' FROM privpred.descriptions WHERE relation = 'p'::regclass ORDER BY id DESC LIMIT 1;
-- what is rolled back stays paid
CREATE TABLE before AS SELECT * FROM paid;
BEGIN;
SELECT privpred.describe('p', epsilon => 0.1) IS NOT NULL;
ROLLBACK;
SELECT role, a.entries - b.entries FROM paid a JOIN before b USING (role);
-- and what is not known for good cannot be described
BEGIN;
CREATE TABLE fresh (id int PRIMARY KEY, x int);
SELECT privpred.protect('fresh', declared_units => 10);
SELECT refused($$SELECT privpred.describe('fresh')$$);
ROLLBACK;
BEGIN READ ONLY;
SELECT refused($$SELECT privpred.describe('p')$$);
ROLLBACK;
CREATE TABLE labels_only (id int PRIMARY KEY, x int, y text);
SELECT privpred.protect('labels_only', protects => 'labels', declared_units => 10);
SELECT refused($$SELECT privpred.describe('labels_only')$$);
-- what is unprotected and protected again has not been forgotten
SELECT privpred.protect('one', declared_units => 100);
SELECT privpred.revoke_budget('describe_ann', 'one'), privpred.unprotect('one');
SELECT refused($$SELECT privpred.describe('one')$$);
SELECT privpred.protect('one');
SELECT refused($$SELECT privpred.grant_budget('describe_bob', 'one', 5)$$) ~ '^55000 ';
DROP TABLE many;
RESET ROLE;
SELECT count(*) FROM privpred.description d JOIN privpred.protected_relation r USING (relation_id) WHERE r.relation IS NULL;
SELECT ok, problem FROM privpred.verify_ledger();
SELECT privpred.report() ~ 'description';
DROP TABLE describe_s.p, describe_s.none, describe_s.one, describe_s.all_of_them CASCADE;
SELECT ok, problem FROM privpred.verify_ledger();
SET client_min_messages = error;
DROP SCHEMA describe_s CASCADE;
RESET search_path;
DROP FUNCTION refused;
DROP ROLE describe_ann, describe_bob, describe_cat, describe_dan, describe_owner;
