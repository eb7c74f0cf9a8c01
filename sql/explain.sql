-- Released models that can be read: read_model, explain(model), and who pays for it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\set SHOW_CONTEXT never
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
CREATE ROLE explain_owner;
CREATE ROLE explain_ann;
CREATE ROLE explain_poor;
CREATE ROLE explain_pure;
CREATE ROLE explain_stranger;
CREATE SCHEMA explain AUTHORIZATION explain_owner;
GRANT USAGE ON SCHEMA explain TO PUBLIC;
SET ROLE explain_owner;
SET search_path = explain, public;
CREATE TABLE people (id int PRIMARY KEY, age int, since date, ward text, smoker boolean, ill text, three text, height float8);
INSERT INTO people SELECT i, i % 90, DATE '2000-01-01' + i % 4000, chr(65 + i % 3), i % 5 = 0, CASE WHEN i % 90 > 45 THEN 'yes' ELSE 'no' END,
  (ARRAY['low', 'middle', 'high'])[1 + i % 90 / 30], 100 + i % 90 FROM generate_series(1, 9000) i;
SELECT privpred.protect('people', declared_units => 9000);
CREATE FUNCTION make(name text, label name, classes text[], options jsonb DEFAULT '{}', mechanism text DEFAULT 'gradient', features json DEFAULT
  '{"age": {"min": 0, "max": 90}, "since": {"min": "2000-01-01", "max": "2010-12-31", "cuts": ["2001-01-01", "2005-01-01"], "null": {"fill": "2005-05-05"}}, "ward": {"levels": ["A", "B", "C", "D"]}, "smoker": {}}')
RETURNS bigint LANGUAGE sql AS $$
  SELECT count(privpred.create_model(name, 'explain.people', label => label, classes => classes, features => features, mechanism => mechanism, epsilon => 2, options => options)) $$;
SELECT make('two', 'ill', '{no,yes}'), make('three', 'three', '{low,middle,high}'), make('number', 'height', NULL, '{"target": {"min": 50, "max": 250}}');

-- what there is: the same for every training, but for the numbers
SELECT class, feature, low, high, effect_low = effect_high AS level, effect_low = 0 AS from_zero, noise_low = 0 AS exact, noise_high > 0 AS noisy FROM privpred.explain('two');
SELECT class, count(*), count(DISTINCT feature) AS features FROM privpred.explain('three') GROUP BY class ORDER BY class;
SELECT class, effect_high BETWEEN 30 AND 150 AS in_the_label_s_unit FROM privpred.explain('number') WHERE feature = 'age';

-- the effects of a row add up to its score
CREATE TABLE question AS SELECT i, i * 7 % 90 AS age, DATE '2000-01-01' + i * 97 % 4017 AS since, chr(65 + i % 4) AS ward, i % 2 = 0 AS smoker FROM generate_series(1, 40) i;
CREATE FUNCTION part(low text, high text, at text, effect_low float8, effect_high float8) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN low = high THEN CASE WHEN low = at THEN effect_low ELSE 0 END
    WHEN low ~ '-' THEN CASE WHEN at::date BETWEEN low::date AND high::date - 1 OR at::date = high::date AND high = '2010-12-31' THEN effect_low + (effect_high - effect_low) * (at::date - low::date) / (high::date - low::date) ELSE 0 END
    ELSE effect_low + (effect_high - effect_low) * (at::float8 - low::float8) / (high::float8 - low::float8) END $$;
CREATE VIEW sums AS SELECT m AS model, class, q.i, to_jsonb(q) AS question,
  sum(CASE WHEN feature IS NULL THEN effect_low ELSE part(low, high, to_jsonb(q) ->> feature, effect_low, effect_high) END) AS sum
  FROM unnest('{two,three,number}'::text[]) m, LATERAL (SELECT * FROM privpred.explain(m)) e, question q GROUP BY m, class, q.i, to_jsonb(q);
SET ROLE explain_owner;
SELECT privpred.grant_budget('explain_owner', 'people', epsilon => 100, delta => 1e-6);
SELECT model, count(*), max(abs(CASE model WHEN 'two' THEN 1 / (1 + exp(-sum)) ELSE least(greatest(sum, 50), 250) END - private_score(model, question))) < 1e-9 AS as_answered FROM sums WHERE model <> 'three' GROUP BY model ORDER BY model;
SELECT count(*), max(abs(best - private_score('three', question))) < 1e-9 AS as_answered, bool_and(class = private_predict('three', question)) AS same_class
FROM (SELECT DISTINCT ON (i) class, question, exp(sum) / sum(exp(sum)) OVER (PARTITION BY i) AS best FROM sums WHERE model = 'three' ORDER BY i, sum DESC) s;

-- what is said does not depend on how a session writes times and numbers
CREATE TABLE said AS SELECT m, e.low, e.high FROM unnest('{two,number}'::text[]) m, LATERAL (SELECT * FROM privpred.explain(m)) e;
SET datestyle = 'German';
SET extra_float_digits = -10;
SELECT count(*) AS differing FROM (SELECT m, e.low, e.high FROM unnest('{two,number}'::text[]) m, LATERAL (SELECT * FROM privpred.explain(m)) e EXCEPT SELECT * FROM said) s;
RESET datestyle;
RESET extra_float_digits;

-- the noise: of a thousand levels that nobody has, where there is nothing to be learnt, the weights are nothing else (test/README.md has the sizes)
ALTER TABLE people ADD COLUMN coin text, ADD COLUMN die text, ADD COLUMN same float8;
UPDATE people SET coin = CASE WHEN id / 90 % 2 = 0 THEN 'yes' ELSE 'no' END, die = (ARRAY['low', 'middle', 'high'])[1 + id / 90 % 3], same = 150;
CREATE FUNCTION spread(name text, label name, classes text[], options jsonb) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
  PERFORM make(name, label, classes, options, features => (SELECT json_build_object('age', json_build_object('min', 0, 'max', 90), 'ward', json_build_object('levels', json_agg('no ' || i))) FROM generate_series(1, 1000) i));
  RETURN (SELECT sqrt(avg(effect_low ^ 2)) / max(noise_low) FROM privpred.explain(name) WHERE feature = 'ward');
END $$;
SELECT name, abs(spread(name, label::name, classes::text[], options::jsonb) - 1) < 0.2 AS as_said FROM (VALUES ('n1', 'coin', '{no,yes}', '{}'), ('n2', 'coin', '{no,yes}', '{"steps": 7, "momentum": 0.3, "clip": 0.5}'),
  ('n3', 'coin', '{no,yes}', '{"steps": 1}'), ('n4', 'die', '{low,middle,high}', '{"rate": 3, "steps": 30}'), ('n5', 'same', NULL, '{"target": {"min": 50, "max": 250}}')) m(name, label, classes, options);
SELECT count(privpred.drop_model('n' || i)) FROM generate_series(1, 5) i;

-- classifiers that are no sums: where they say which class
CREATE TABLE singles AS SELECT h AS hypothesis, p AS point, (h = p)::int AS label FROM unnest('{A,B,C}'::text[]) h, unnest('{A,B,C}'::text[]) p;
ALTER TABLE people ADD COLUMN in_b text, ADD COLUMN box text, ADD COLUMN half text;
UPDATE people SET in_b = CASE WHEN ward = 'B' THEN 'yes' ELSE 'no' END, box = CASE WHEN age >= 60 AND smoker THEN 'yes' ELSE 'no' END, half = CASE WHEN age >= 45 THEN 'yes' ELSE 'no' END;
SELECT make('cut', 'ill', '{no,yes}', '{"class": "thresholds"}', 'cover', '{"age": {"min": 0, "max": 90}}'), make('level', 'in_b', '{no,yes}', '{"class": "stumps"}', 'cover'),
  make('box', 'box', '{no,yes}', '{"class": "rectangles"}', 'cover', '{"age": {"min": 0, "max": 90}, "smoker": {}}'),
  make('plane', 'ill', '{no,yes}', '{"class": "halfspaces"}', 'cover', '{"age": {"min": 0, "max": 90}, "height": {"min": 0, "max": 250}}'),
  make('points', 'in_b', '{no,yes}', '{"class_table": "explain.singles"}', 'littlestone', '{"ward": {"levels": ["A", "B", "C"]}}'),
  make('parts', 'half', '{no,yes}', '{"class": "thresholds", "points": 4}', 'littlestone', '{"age": {"min": 0, "max": 90}}'),
  make('dates', 'ill', '{no,yes}', '{"class": "thresholds", "points": 4}', 'littlestone', '{"since": {"min": "2000-01-01", "max": "2000-12-30"}}');
SELECT class, feature, abs(CASE class WHEN 'yes' THEN low ELSE high END::float8 - 46) < 3 AS near, effect_low FROM privpred.explain('cut');
SELECT class, feature, low, high FROM privpred.explain('level');
SELECT feature, low, high FROM privpred.explain('box') WHERE feature = 'smoker';
SELECT feature, count(*) FROM privpred.explain('plane') GROUP BY feature ORDER BY feature;
SELECT class, feature, low, high FROM privpred.explain('points') ORDER BY low;
SELECT class, feature, low, high FROM privpred.explain('parts');
SELECT feature, low, high FROM privpred.explain('dates');
SELECT count(*), bool_and(CASE WHEN sum >= 0 THEN class ELSE 'no yes' END LIKE '%' || private_predict('plane', question) || '%') AS as_answered
FROM (SELECT e.class, jsonb_build_object('age', q.age, 'height', q.i * 5) AS question, sum(CASE WHEN feature IS NULL THEN effect_low ELSE effect_high * CASE feature WHEN 'age' THEN q.age / 90.0 ELSE q.i * 5 / 250.0 END END) AS sum
  FROM privpred.explain('plane') e, question q GROUP BY e.class, q.age, q.i) s;

-- students
CREATE TABLE pool AS SELECT age, since, ward, smoker FROM people WHERE id <= 300;
SELECT count(privpred.create_model('teachers', 'people', label => 'ill', classes => '{no,yes}', features => (SELECT json_build_object('age', json_build_object('min', 0, 'max', 90), 'smoker', json_build_object())), teachers => 50, epsilon => 0.1));
SELECT count(privpred.distill('line', 'teachers', 'pool', 'logistic')), count(privpred.distill('leaves', 'teachers', 'pool', 'tree'));
SELECT class, feature, low, high, noise_high FROM privpred.explain('line');

-- pictures
SELECT m AS model, svg ~ '^<svg [^>]*>.*</svg>\s*$' AS whole, svg !~ '<script|href|url\(' AS nothing_outside, octet_length(svg) = length(svg) AS ascii, (length(svg) - length(replace(svg, 'class="title"', ''))) / length('class="title"') - 1 AS panels,
  svg ~ 'class="band f1"' AS shaded FROM unnest('{two,three,number,line,plane}'::text[]) m, LATERAL privpred.plot(m) svg;
SELECT make('many', 'ill', '{no,yes}', '{}', 'gradient', '{"ward": {"levels": ["<b>&amp;", "A", "B", "C", "D", "E", "F", "G", "H"]}}');
SELECT svg ~ '7 of 9 levels' AS says_so, svg ~ '<b>' AS unescaped FROM privpred.plot('many') svg;

-- what is refused
\pset format unaligned
SELECT refused($$SELECT privpred.explain('leaves')$$);
SELECT refused($$SELECT privpred.explain('teachers')$$);
SELECT refused($$SELECT privpred.read_model('teachers')$$);
SELECT refused($$SELECT privpred.explain('nothing')$$);
SELECT refused($$SELECT privpred.plot('cut')$$);
SELECT privpred.plot(NULL) IS NULL AS nothing;
SELECT count(*) FROM privpred.explain(NULL::text);

-- who pays: each role once, as for a first answer; the owner does not
SELECT privpred.revoke_budget('explain_owner', 'people');
SELECT count(*) > 0 AS seen FROM privpred.explain('two');
SELECT count(*) AS entries FROM privpred.ledger WHERE model IN ('cut', 'box', 'points', 'parts');
SELECT privpred.grant_budget('explain_ann', 'people', epsilon => 2, delta => 1e-6);
SELECT privpred.grant_budget('explain_poor', 'people', epsilon => 1, delta => 1e-6);
SELECT privpred.grant_budget('explain_pure', 'people', epsilon => 100);
SET ROLE explain_ann;
SELECT epsilon_spent > 0 AS spent FROM privpred.budgets WHERE role = 'explain_ann'::regrole;
SELECT count(*) FROM privpred.explain('two');
SELECT epsilon_spent AS paid FROM privpred.budgets WHERE role = 'explain_ann'::regrole \gset
SELECT :paid BETWEEN 1 AND 2 AS paid;
SELECT count(*) FROM privpred.explain('two');
RESET ROLE;
GRANT SELECT ON explain.question TO PUBLIC;
SET ROLE explain_ann;
SELECT count(privpred.read_model('two')) AS read, count(private_predict('two', to_jsonb(q))) AS answers FROM question q;
SELECT epsilon_spent = :paid AS nothing_more FROM privpred.budgets WHERE role = 'explain_ann'::regrole;
SELECT refused($$SELECT privpred.export_model('two')$$);
SET ROLE explain_poor;
SELECT split_part(refused($$SELECT privpred.explain('two')$$), ' | ', 1);
SET ROLE explain_pure;
SELECT split_part(refused($$SELECT privpred.read_model('two')$$), ' | ', 1);
SET ROLE explain_stranger;
SELECT refused($$SELECT privpred.explain('two')$$);
SELECT refused($$SELECT privpred.explain('nothing')$$);
SELECT refused($$SELECT privpred.read_model('two')$$);
SELECT refused($$SELECT privpred.plot('two')$$);
-- what is trained anew is paid for anew
SET ROLE explain_owner;
SELECT privpred.retrain('two') ->> 'version' AS version;
SET ROLE explain_ann;
SELECT split_part(refused($$SELECT privpred.explain('two')$$), ' | ', 1) AS cannot_pay_twice;
SELECT epsilon_spent = :paid AS nothing_more FROM privpred.budgets WHERE role = 'explain_ann'::regrole;
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();

DROP FUNCTION public.refused(text);
DROP SCHEMA explain CASCADE;
DROP OWNED BY explain_owner, explain_ann, explain_poor, explain_pure, explain_stranger;
DROP ROLE explain_owner, explain_ann, explain_poor, explain_pure, explain_stranger;
