-- Numbers are written with all their digits, whatever extra_float_digits says.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
CREATE ROLE digits_owner;
CREATE SCHEMA digits AUTHORIZATION digits_owner;
SET ROLE digits_owner;
SET search_path = digits, public;
-- numbers with many digits everywhere: bounds, targets, bins, weights, epsilons, deltas
CREATE TABLE rows (id int PRIMARY KEY, a float8 CHECK (a BETWEEN 0.1234567890123 AND 42.3570931234567), b float8, price float8, y boolean);
INSERT INTO rows SELECT i, 0.1234567890123 + (i % 97) / 3.0, (i % 89) / 7.0, 1.2345678901234 + (i % 97) / 3.0, i % 97 > 40 FROM generate_series(1, 2000) i;
CREATE TABLE public_rows AS SELECT a, b FROM rows WHERE false;
INSERT INTO public_rows SELECT i / 9.0, i / 7.0 FROM generate_series(1, 50) i;
SELECT privpred.protect('rows', declared_units => 2000);
CREATE FUNCTION declared(prefix text) RETURNS TABLE (model text, card jsonb) LANGUAGE sql AS $$
SELECT m, privpred.create_model(prefix || m, 'digits.rows', label => label, features => '{"a": {"min": 0.1234567890123, "max": 42.3570931234567}, "b": {"min": 0, "max": 13.123456789012345}}',
  mechanism => mechanism, epsilon => epsilon, options => options::jsonb, teachers => 5, learner => learner) - '{name,version}'::text[]
FROM (VALUES ('bins', 'price'::name, 'vote', 0.123456789012, '{"bins": [0.1234567890123, 1.2345678901234, 12.345678901234, 33.333333333333336]}', 'naive_bayes'),
  ('target', 'price', 'stable_erm', 1.23456789, '{"target": {"min": 1.2345678901234, "max": 33.333333333333336}}', 'logistic'),
  ('gradient', 'y', 'gradient', 1, '{"delta": 1.23456789012345e-7}', 'logistic'), ('gradient target', 'price', 'gradient', 1, '{"delta": 1e-7, "target": {"min": 1.2345678901234, "max": 33.333333333333336}}', 'logistic'),
  ('cover', 'y', 'cover', 1.1, '{"class": "rectangles"}', 'logistic'), ('halfspaces', 'y', 'cover', 1.1, '{"class": "halfspaces"}', 'logistic'),
  ('teacher', 'y', 'vote', 0.1, '{}', 'stump')) d (m, label, mechanism, epsilon, options, learner) $$;
-- the same declarations at three settings
CREATE TABLE cards (digits int, model text, card text);
SET extra_float_digits = -15;
INSERT INTO cards SELECT -15, model, card::text FROM declared('low ');
SET extra_float_digits = 0;
INSERT INTO cards SELECT 0, model, card::text FROM declared('usual ');
SET extra_float_digits = 3;
INSERT INTO cards SELECT 3, model, card::text FROM declared('high ');
SELECT model, count(*), count(DISTINCT card) AS cards FROM cards GROUP BY model ORDER BY model;
RESET extra_float_digits;
SELECT card::jsonb -> 'classes' AS bins FROM cards WHERE model = 'bins' AND digits = -15;
SELECT count(privpred.distill('low student', 'low teacher', 'public_rows', learner => 'logistic'));
SELECT privpred.grant_budget('digits_owner', 'rows', epsilon => 12.3456789012, delta => 1.23456789012345e-6);

-- everything that is said of them, at three settings: no digit is lost in any
CREATE FUNCTION said() RETURNS TABLE (what text, said text) LANGUAGE sql AS $$
SELECT 'export', privpred.export_model(name)::text FROM privpred.models WHERE relation = 'digits.rows'::regclass AND charge_kind = 'once'
UNION ALL SELECT 'evaluate', e.confusion::text || e.accuracy_by_epsilon::text FROM privpred.models m, privpred.evaluate(name, 'digits.rows') e WHERE relation = 'digits.rows'::regclass AND e.confusion IS NOT NULL
UNION ALL SELECT 'evaluate numbers', e.accuracy_by_epsilon::text FROM privpred.models m, privpred.evaluate(name, 'digits.rows') e WHERE relation = 'digits.rows'::regclass AND e.confusion IS NULL
UNION ALL SELECT 'plot', privpred.plot(name, 'digits.rows') FROM privpred.models m WHERE relation = 'digits.rows'::regclass AND name LIKE '% bins'
UNION ALL SELECT 'explain', privpred.explain(privpred.ensemble(m)) FROM (SELECT privpred.stump(y, ARRAY[a, b]) AS m FROM digits.rows UNION ALL SELECT privpred.tree(y, ARRAY[a, b]) FROM digits.rows) t
UNION ALL SELECT 'plan', concat_ws(E'\n', parameters, statements, why, advice) FROM privpred.plan(n => 100000, epsilon => 1.1234567890123, delta => 1.23456789012345e-6, answers => 100, relation => 'digits.rows', label => 'y')
UNION ALL SELECT 'models', concat_ws(' ', charge, pure_charge, classes, features) FROM privpred.models WHERE relation = 'digits.rows'::regclass
UNION ALL SELECT 'report', string_agg(m[1], ' ') FROM regexp_matches(privpred.report(), 'data-label="([^"]*">[^<]*)<', 'g') m $$;
SELECT count(privpred.export_model(name)) AS paid_for FROM privpred.models WHERE relation = 'digits.rows'::regclass AND charge_kind = 'once';
CREATE TABLE heard (digits int, what text, said text);
SET extra_float_digits = -15;
INSERT INTO heard SELECT -15, * FROM said();
SET extra_float_digits = 0;
INSERT INTO heard SELECT 0, * FROM said();
SET extra_float_digits = 3;
INSERT INTO heard SELECT 3, * FROM said();
RESET extra_float_digits;
SELECT what, count(*) / 3 AS things, count(DISTINCT said) <= count(*) / 3 AS alike FROM heard GROUP BY what ORDER BY what;
-- what is written reads back as what was declared
SELECT DISTINCT substring(said FROM '"a": {"min": [0-9.]*, "max": [0-9.]*') AS bounds, substring(said FROM 'grant_budget.*delta => ([-0-9.e]*)') AS delta, substring(said FROM '{"delta": [-0-9.e]*}') AS gradient
FROM heard WHERE what = 'plan' AND said LIKE '%gradient%grant_budget%';
SELECT count(*) AS exports, bool_and(said LIKE '%42.3570931234567%') AS whole FROM heard WHERE what = 'export';

SET client_min_messages = error;
RESET ROLE;
RESET search_path;
DROP SCHEMA digits CASCADE;
DROP OWNED BY digits_owner;
DROP ROLE digits_owner;
