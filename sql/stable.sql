-- Mechanisms that draw a hypothesis afresh for every answer: stable_flip, stable, relabel.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
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
\pset format unaligned
CREATE ROLE stable_owner;
CREATE ROLE stable_analyst;
CREATE SCHEMA stable AUTHORIZATION stable_owner;
GRANT USAGE ON SCHEMA stable TO stable_analyst;

-- the solvers: proved is at most what was asked for, and the book's numbers
SELECT round(q::numeric, 3) AS q, round(e, 2) AS e, proved_epsilon <= 1 AS holds, round(gamma::numeric, 3) AS gamma FROM privpred.solve_stable_flip(1);
SELECT round(q::numeric, 4) AS q, round(e, 3) AS e, proved_epsilon <= 0.1 AS holds FROM privpred.solve_stable_flip(0.1, 0.2);
-- by hand: the ratio at its largest over u
SELECT abs(max(ln((a + (1 - 2 * a) * ((1 - q) * g + q)) / (a + (1 - 2 * a) * (1 - q) * u))) - max(proved_epsilon)) < 1e-6 AS as_proved
FROM (SELECT 0.1::float8 AS a, s.q, s.proved_epsilon::float8, i / 1000.0::float8 AS u,
        exp(s.e::float8) * (i / 1000.0) / (1 - i / 1000.0 + exp(s.e::float8) * (i / 1000.0)) AS g
      FROM privpred.solve_stable_flip(1) s, generate_series(0, 1000) i) t;
SELECT j, round(kappa, 5) AS kappa, round(q::numeric, 5) AS q, round(eps1::numeric, 4) AS eps1, delta1 < 0.1 * q AS net, proved_epsilon <= 1 AS holds, units_needed FROM privpred.solve_relabel(1, 0.1, 10000);
SELECT j, round(kappa, 5) AS kappa, units_needed FROM privpred.solve_relabel(0.5, 0.1, 100000, max_rows_per_unit => 4, features => 10);
-- by hand
SELECT abs(ln((0.1 + 0.8 * (e + delta1) / (e + 1)) / (0.1 + 0.8 * (1 - delta1) / (e + 1))) - proved_epsilon::float8) < 1e-6 AS as_proved,
  abs(eps1 - (4 * kappa::float8 + ln(1 + (1 + exp(2 * kappa::float8 * (j + 1))) * q / (1 - q)))) < 1e-6 AS eps1,
  abs(delta1 / (q * (1 + q * 10000) * (1 - q) ^ (j + 1)) - 1) < 1e-6 AS delta1
FROM (SELECT *, exp(eps1) AS e FROM privpred.solve_relabel(1, 0.1, 10000)) s;
SELECT refused('SELECT privpred.solve_relabel(1, 0.1, 289)');
SELECT refused('SELECT privpred.solve_relabel(1e-6, 0.001, 1000)');
SELECT hypotheses, units_needed, j, proved_epsilon <= 1 AS holds FROM unnest('{stump,interval,halfspace}'::text[]) hypotheses, privpred.solve_relabel(1, 0.1, 10000, hypotheses => hypotheses);
SELECT size, units_needed, j, proved_epsilon <= 1 AS holds FROM unnest('{1,2,100,4096}'::int[]) size, privpred.solve_relabel(1, 0.1, 10000, class_size => size);
SELECT refused($c$SELECT privpred.solve_relabel(1, 0.1, 1000, hypotheses => 'rectangle')$c$);
SELECT refused('SELECT privpred.solve_relabel(1, 0.1, 1000, class_size => 4097)');
SELECT refused('SELECT privpred.solve_relabel(1, 0.1, 0)');
SELECT refused('SELECT privpred.solve_stable_flip(0)');
SELECT refused('SELECT privpred.solve_stable_flip(1, 0.5)');
SELECT refused($c$SELECT privpred.solve_stable_flip(1, 'NaN')$c$);

-- one row a unit
SET ROLE stable_owner;
CREATE TABLE stable.people (id int PRIMARY KEY, age int, weight int, ill text);
INSERT INTO stable.people SELECT i, i % 100, (i * 37) % 100, CASE WHEN i % 100 >= 40 THEN 'yes' ELSE 'no' END FROM generate_series(1, 2000) i;
CREATE TABLE stable.test AS SELECT * FROM stable.people WHERE id % 20 = 1 OR id <= 100;
SELECT privpred.protect('stable.people');
SELECT privpred.grant_budget('stable_analyst', 'stable.people', epsilon => 1e6);
SELECT privpred.create_model('flip', 'stable.people', label => 'ill', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}',
  mechanism => 'stable_flip', epsilon => 1) - 'relation' AS card;
SELECT privpred.create_model('stumps', 'stable.people', label => 'ill', classes => '{no,yes}',
  features => '{"weight": {"min": 0, "max": 100}, "age": {"min": 0, "max": 100}}', mechanism => 'stable_flip', epsilon => 2, options => '{"alpha": 0.2}') -> 'options' AS options;
SELECT charge_kind, epsilon, learner IS NULL AS no_learner, teachers FROM privpred.models WHERE name = 'flip';
SELECT private_accuracy BETWEEN 0.85 AND 0.95 AS flips, majority_accuracy FROM privpred.evaluate('flip', 'stable.test');
SELECT private_accuracy BETWEEN 0.75 AND 0.85 AS flips, majority_accuracy FROM privpred.evaluate('stumps', 'stable.test');
SET ROLE stable_analyst;
SELECT count(*) FILTER (WHERE a = 'yes') BETWEEN 140 AND 200 AS mostly_yes, count(*)
FROM (SELECT private_predict('flip', '{"age": 90}'::jsonb) a FROM generate_series(1, 200)) s;
SELECT count(*) FILTER (WHERE a = 'no') BETWEEN 140 AND 200 AS mostly_no
FROM (SELECT private_predict('flip', '{"age": 10}'::jsonb) a FROM generate_series(1, 200)) s;

-- options: what they may be, and what they must keep
SET ROLE stable_owner;
CREATE FUNCTION pg_temp.try(mechanism text, options jsonb, features json DEFAULT '{"age": {"min": 0, "max": 100}}', epsilon float8 DEFAULT 1) RETURNS text LANGUAGE sql AS $$
  SELECT refused(format('SELECT privpred.create_model(%L, %L, label => %L, classes => %L, features => %L, mechanism => %L, epsilon => %s, options => %L)',
    'tried', 'stable.people', 'ill', '{no,yes}', features, mechanism, epsilon, options)) $$;
SELECT pg_temp.try('stable_flip', '{"q": 0.3, "e": 1}');
SELECT pg_temp.try('stable_flip', '{"q": 0.3}');
SELECT pg_temp.try('stable_flip', '{"alpha": 0.5}');
SELECT pg_temp.try('stable_flip', '{"alpha": 0.01}', epsilon => 0.1);
SELECT privpred.drop_model('tried');
SELECT pg_temp.try('stable_flip', '{"hypotheses": "parabola"}');
SELECT pg_temp.try('stable_flip', '{"hypotheses": "interval"}');
SELECT pg_temp.try('stable_flip', '{"hypotheses": "halfspace"}');
SELECT pg_temp.try('stable_flip', '{"hypotheses": "threshold"}', '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 100}}');
SELECT pg_temp.try('stable_flip', '{"kappa": 1}');
SELECT pg_temp.try('relabel', '{}');
SELECT pg_temp.try('relabel', '{"n_max": 200}');
SELECT pg_temp.try('relabel', '{"n_max": 100000000}');
SELECT pg_temp.try('relabel', '{"n_max": 2000, "j": 200, "kappa": 0.05, "q": 0.1}');
SELECT pg_temp.try('relabel', '{"n_max": 2000, "chunks": 0}');
SELECT pg_temp.try('stable', '{"gamma": 0.1, "q": 0.2}');
SELECT refused($c$SELECT privpred.create_model('tried', 'stable.people', label => 'ill', classes => '{no,yes,perhaps}', features => '["age"]', mechanism => 'stable_flip')$c$);

-- sizes that are declared: limits of intervals and halfspaces
SELECT privpred.protect('stable.people', declared_units => 3000);
SELECT pg_temp.try('stable_flip', '{"hypotheses": "halfspace"}', '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 100}}');
SELECT privpred.drop_model('tried');
SELECT privpred.protect('stable.people', declared_units => 20000);
SELECT pg_temp.try('stable_flip', '{"hypotheses": "interval"}');
SELECT privpred.drop_model('tried');
SELECT privpred.protect('stable.people', declared_units => 500);
SELECT pg_temp.try('stable_flip', '{"hypotheses": "interval"}');
-- of 2000 units 500 are used
SELECT private_accuracy BETWEEN 0.82 AND 0.95 AS good FROM privpred.evaluate('tried', 'stable.test');
SELECT privpred.drop_model('tried');
SELECT pg_temp.try('stable_flip', '{"hypotheses": "halfspace"}', '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 100}}');
SELECT private_accuracy BETWEEN 0.75 AND 0.95 AS good, majority_accuracy > 0.95 AS better FROM privpred.evaluate('tried', 'stable.test');
SELECT privpred.drop_model('tried');

-- a given q is not lowered; of more rows a smaller share is sampled
SELECT privpred.protect('stable.people', declared_units => 1000000);
SELECT pg_temp.try('stable_flip', '{"hypotheses": "interval", "q": 0.1}');
SELECT pg_temp.try('stable_flip', '{"hypotheses": "rectangle", "q": 0.1}');
SELECT pg_temp.try('stable_flip', '{"hypotheses": "interval"}');
SELECT privpred.drop_model('tried');
SELECT privpred.protect('stable.people', declared_units => 1000001);
SELECT pg_temp.try('stable_flip', '{"hypotheses": "rectangle"}');
SELECT pg_temp.try('stable_flip', '{"hypotheses": "halfspace"}', '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 100}}');

-- rectangles, halfspaces of three features, a finite class, of each mechanism that has them
SELECT privpred.protect('stable.people', declared_units => 2000);
CREATE TABLE stable.tens AS SELECT format('from %s', h) AS hypothesis, p::text AS point, p >= h AS label FROM generate_series(0, 100, 10) h, generate_series(0, 90, 10) p;
ALTER TABLE stable.people ADD ten text, ADD old boolean;
UPDATE stable.people SET ten = (age / 10 * 10)::text, old = age >= 70;
DROP TABLE stable.test;
CREATE TABLE stable.test AS SELECT * FROM stable.people WHERE id <= 100;
CREATE TABLE stable.kinds AS SELECT n, mechanism, features::text, options FROM (VALUES
  (1, '{stable_flip,stable}'::text[], '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 100}}', '{"hypotheses": "rectangle"}'),
  (2, '{stable_flip,stable}', '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 100}, "old": {}}', '{"hypotheses": "rectangle"}'),
  (3, '{stable_flip,stable}', '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 100}, "old": {}}', '{"hypotheses": "halfspace"}'),
  (4, '{stable_flip,stable,relabel}', '{"ten": {"levels": [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]}}', '{"class_table": "stable.tens"}'),
  (5, '{relabel}', '{"age": {"min": 0, "max": 100}}', '{"hypotheses": "interval"}'),
  (6, '{relabel}', '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 100}}', '{"hypotheses": "halfspace"}')) k(n, mechanism, features, options);
SELECT n, m AS mechanism, refused(format('SELECT privpred.create_model(%L, %L, label => %L, classes => %L, features => %L, mechanism => %L, epsilon => 2, options => %L)',
  m || n, 'stable.people', 'ill', '{no,yes}', replace(features, '0, 10, 20, 30, 40, 50, 60, 70, 80, 90', '"0", "10", "20", "30", "40", "50", "60", "70", "80", "90"'), m, options)) FROM stable.kinds, unnest(mechanism) m ORDER BY n, m;
SELECT n, m AS mechanism, e.private_accuracy > 0.55 AS learns, n < 4 OR e.majority_accuracy > 0.9 AS plainly, e.margin < 0.5 AS has_margin
FROM stable.kinds, unnest(mechanism) m, privpred.evaluate(m || n, 'stable.test') e ORDER BY n, m;
-- the other class as the default: the hypotheses of a table mean the same
SELECT pg_temp.try('stable_flip', '{"class_table": "stable.tens", "default": "yes"}', '{"ten": {"levels": ["0", "10", "20", "30", "40", "50", "60", "70", "80", "90"]}}');
SELECT majority_accuracy > 0.9 AS plainly FROM privpred.evaluate('tried', 'stable.test');
SELECT privpred.drop_model('tried');
SELECT pg_temp.try('stable_flip', '{"class_table": "stable.tens", "hypotheses": "stump"}', '{"ten": {"levels": ["0", "10", "20", "30", "40", "50", "60", "70", "80", "90"]}}');
SELECT pg_temp.try('relabel', '{"hypotheses": "rectangle"}');
SELECT pg_temp.try('relabel', '{"hypotheses": "halfspace"}', '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 100}, "old": {}}');
SELECT pg_temp.try('relabel', '{"hypotheses": "interval", "n_max": 579}');
SET ROLE stable_analyst;
SELECT count(private_predict('stable_flip4', '{"ten": "90"}'::jsonb)) AS answers FROM generate_series(1, 50);
SELECT refused($c$SELECT private_predict('stable_flip4', '{"ten": "95"}'::jsonb)$c$);
SELECT private_predict('relabel6', ARRAY[90, 10]::float8[]) IN ('no', 'yes') AS array_form, private_predict('stable_flip3', ARRAY[90, 10, 1]::float8[]) IN ('no', 'yes') AS space;
RESET ROLE;
SET ROLE stable_owner;
-- the class is part of the model: its table is not needed for answers, and is for training
ALTER TABLE stable.tens RENAME TO gone;
SET ROLE stable_analyst;
SELECT private_predict('relabel4', '{"ten": "90"}'::jsonb) IN ('no', 'yes') AS answers;
SET ROLE stable_owner;
SELECT refused($c$SELECT privpred.retrain('relabel4')$c$);
ALTER TABLE stable.gone RENAME TO tens;
SELECT privpred.retrain('relabel4') -> 'version' AS version;
SELECT every(verdict <> 'violated') AS parts_hold FROM privpred.audit('relabel4', 500);
RESET ROLE;
UPDATE privpred.model SET state = set_byte(state, 9, 255) WHERE name = 'stable_flip4';
SET ROLE stable_analyst;
SELECT refused($c$SELECT private_predict('stable_flip4', '{"ten": "90"}'::jsonb)$c$);
SET ROLE stable_owner;
SELECT count(privpred.drop_model(m || n)) AS dropped FROM stable.kinds, unnest(mechanism) m;

-- relabel, solved and declared
SELECT privpred.protect('stable.people', declared_units => 2000);
SELECT pg_temp.try('relabel', '{}', '{"weight": {"min": 0, "max": 100}, "age": {"min": 0, "max": 100}}', epsilon => 2);
SELECT private_accuracy > 0.55 AS learns, majority_accuracy FROM privpred.evaluate('tried', 'stable.test');
SELECT privpred.drop_model('tried');
SELECT pg_temp.try('relabel', '{"alpha": 0.2, "n_max": 1500, "j": 150, "kappa": 0.01, "q": 0.03, "chunks": 201}');
SET ROLE stable_analyst;
SELECT count(*), count(DISTINCT a) FROM (SELECT private_predict('tried', '{"age": 90}'::jsonb) a FROM generate_series(1, 100)) s;
SET ROLE stable_owner;
SELECT privpred.drop_model('tried');

-- stable: the owner alone, free of charge, whatever the budget
SELECT privpred.create_model('steady', 'stable.people', label => 'ill', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}',
  mechanism => 'stable', options => '{"gamma": 0.2}') -> 'mechanism' AS mechanism;
SELECT count(*) FILTER (WHERE a = 'yes') >= 95 AS hardly_ever_no FROM (SELECT private_predict('steady', '{"age": 99}'::jsonb) a FROM generate_series(1, 100)) s;
SET ROLE stable_analyst;
SELECT refused($c$SELECT private_predict('steady', '{"age": 99}'::jsonb)$c$);
SET ROLE stable_owner;

-- units of several rows: a bound must be declared
CREATE TABLE stable.visits (visit int PRIMARY KEY, patient int NOT NULL, age int, ill text);
INSERT INTO stable.visits SELECT i, i / 4, (i / 4) % 100, CASE WHEN (i / 4) % 100 >= 40 THEN 'yes' ELSE 'no' END FROM generate_series(0, 3999) i;
CREATE TABLE stable.some_visits AS SELECT * FROM stable.visits WHERE visit < 400 AND visit % 4 = 0;
SELECT privpred.protect('stable.visits', unit => 'patient');
SELECT privpred.grant_budget('stable_analyst', 'stable.visits', epsilon => 1e6);
SELECT refused($c$SELECT privpred.create_model('visits', 'stable.visits', label => 'ill', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}', mechanism => 'stable_flip')$c$);
SELECT privpred.protect('stable.visits', unit => 'patient', max_rows_per_unit => 4, declared_units => 1000);
SELECT privpred.create_model('visits', 'stable.visits', label => 'ill', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}', mechanism => 'stable_flip', epsilon => 1) -> 'version' AS version;
SELECT private_accuracy BETWEEN 0.85 AND 0.95 AS flips, majority_accuracy FROM privpred.evaluate('visits', 'stable.some_visits');
RESET ROLE;
SELECT pg_column_size(state) AS bytes FROM privpred.model WHERE name = 'visits' \gset before_
-- rows beyond the fourth of a unit are left out; the size does not tell
SET ROLE stable_owner;
INSERT INTO stable.visits SELECT 10000 + i, 7, 90, 'no' FROM generate_series(1, 500) i;
SELECT privpred.retrain('visits') -> 'version' AS version;
RESET ROLE;
SELECT pg_column_size(state) = :before_bytes AS same_size FROM privpred.model WHERE name = 'visits';
SET ROLE stable_owner;
SELECT majority_accuracy > 0.85 AS hardly_moved FROM privpred.evaluate('visits', 'stable.some_visits');

-- of so many rows each weighs next to nothing: 64 bits would not hold the odds
CREATE TABLE stable.long_stays (day int PRIMARY KEY, patient int NOT NULL, age int NOT NULL, ill text);
INSERT INTO stable.long_stays SELECT i, i % 100, 50, 'yes' FROM generate_series(1, 1000) i;
CREATE TABLE stable.some_stays AS SELECT * FROM stable.long_stays LIMIT 20;
SELECT privpred.protect('stable.long_stays', unit => 'patient', max_rows_per_unit => 9223373);
SELECT privpred.create_model('stays', 'stable.long_stays', label => 'ill', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}', mechanism => 'stable_flip', epsilon => 1) -> 'version' AS version;
SELECT private_accuracy BETWEEN 0.499 AND 0.501 AS undecided FROM privpred.evaluate('stays', 'stable.some_stays');

-- empty, one class, nothing but garbage: the declared default, flipped as ever
TRUNCATE stable.people;
SELECT privpred.retrain(name) -> 'version' AS version FROM privpred.models WHERE relation = 'stable.people'::regclass ORDER BY name;
SET ROLE stable_analyst;
SELECT count(*) FILTER (WHERE a = 'no') BETWEEN 150 AND 200 AS default_class FROM (SELECT private_predict('flip', '{"age": 90}'::jsonb) a FROM generate_series(1, 200)) s;
SET ROLE stable_owner;
SELECT privpred.create_model('default', 'stable.people', label => 'ill', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 100}}',
  mechanism => 'relabel', epsilon => 2, options => '{"default": "yes"}') -> 'version' AS version;
INSERT INTO stable.people VALUES (1, NULL, NULL, 'perhaps'), (2, 50, 50, NULL);
SELECT privpred.retrain('default') -> 'version' AS version;
SET ROLE stable_analyst;
SELECT count(*) FILTER (WHERE a = 'yes') BETWEEN 100 AND 200 AS default_class FROM (SELECT private_predict('default', '{"age": 90}'::jsonb) a FROM generate_series(1, 200)) s;

-- a damaged state is noticed
RESET ROLE;
UPDATE privpred.model SET state = set_byte(state, 5, 255) WHERE name = 'flip';
SET ROLE stable_owner;
SELECT refused($c$SELECT private_predict('steady', '{"age": 99}'::jsonb)$c$) AS others_work;
SET ROLE stable_analyst;
SELECT refused($c$SELECT private_predict('flip', '{"age": 99}'::jsonb)$c$);
RESET ROLE;
SET client_min_messages = warning;
DROP FUNCTION pg_temp.try;
DROP SCHEMA stable CASCADE;
DROP OWNED BY stable_analyst;
DROP ROLE stable_owner, stable_analyst;
DROP FUNCTION refused CASCADE;
