-- privpred.plan(): which mechanism, from declared numbers; and pasting what it prints.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\set SHOW_CONTEXT never
CREATE ROLE plan_reader;

-- its shape: one row for every mechanism, ranked, one recommended
SELECT count(*) AS mechanisms, min(rank), max(rank), count(DISTINCT mechanism) AS different, count(*) FILTER (WHERE recommended) AS recommended,
  bool_and(why IS NOT NULL) AS all_say_why, bool_and(grounds IS NOT NULL) AS all_have_grounds, bool_and(lower_bound LIKE 'n >= %Theorem 4%') AS all_have_bounds,
  bool_and((advice IS NOT NULL) = (rank = 1)) AS advice_first, bool_and((parameters IS NOT NULL) = (statements IS NOT NULL)) AS both
FROM privpred.plan(n => 40000, features => 50, epsilon => 1, delta => 1e-6, answers => 100);
SELECT string_agg(mechanism, ' ' ORDER BY mechanism) AS planned FROM privpred.plan();

-- what suits what
CREATE FUNCTION best(n bigint, features int, classes int, epsilon float8, delta float8, answers bigint, accuracy float8)
RETURNS text LANGUAGE sql AS $$
  SELECT mechanism || COALESCE(' ' || substring(parameters FROM 'learner => ''(\w+)'), '') FROM privpred.plan($1, $2, $3, $4, $5, $6, $7) WHERE recommended $$;
SELECT best(40000, 50, 2, 1, 0, 1, 0.85) AS one_answer, best(40000, 50, 2, 1, 1e-6, 1, 0.85) AS one_answer_with_delta,
  best(40000, 50, 2, 1, 1e-6, 10000, 0.85) AS many_answers, best(40000, 50, 2, 1, 1e-6, 1000000000, 0.85) AS any_number,
  best(20000, 1, 2, 1, 0, 1, 0.9) AS one_feature, best(60000, 50, 10, 1, 1e-6, 10000, 0.88) AS ten_classes;
SELECT best(20000000, 20, 2, 1, 1e-6, 10000, 0.999) AS millions_of_rows_that_agree;
SELECT best(20, 50, 2, 0.01, 0, 1000000, 0.85) AS hopeless;
SELECT advice FROM privpred.plan(20, 50, 2, 0.01, 0, 1000000, 0.85) WHERE rank = 1;
SELECT mechanism, why FROM privpred.plan(40000, 50, 2, 1, 0, 1, 0.85) WHERE NOT feasible ORDER BY mechanism;
SELECT mechanism, why FROM privpred.plan(40000, 50, 5, 1, 0, 1, 0.85) WHERE NOT feasible ORDER BY mechanism;

-- a student needs public rows, and says so
SELECT charged, statements LIKE '%privpred.distill(%your_public_table%' AS distills FROM privpred.plan(40000, 50, 2, 1, 1e-6, 100000, 0.85) WHERE mechanism = 'distill';

-- prices are the accountant's own, and buy what was asked for
SELECT p.mechanism, p.answers_bought >= 500 AS enough, a.answers >= 500 AS the_same, p.total_epsilon, p.total_delta, p.charged
FROM privpred.plan(n => 40000, features => 50, epsilon => 2, delta => 1e-6, answers => 500) p, privpred.answers_for(2, 1e-6, p.per_answer_epsilon::float8, p.mechanism) a
WHERE p.mechanism IN ('vote', 'average', 'stable_flip') ORDER BY p.mechanism;
SELECT per_answer_epsilon, answers_bought, total_delta FROM privpred.plan(n => 40000, epsilon => 5, answers => 50) WHERE mechanism = 'vote';
SELECT mechanism, answers_bought, charged FROM privpred.plan(n => 40000, features => 5, epsilon => 1, delta => 1e-6) WHERE mechanism IN ('gradient', 'cover') ORDER BY 1;

-- more rows, more epsilon, fewer answers and fewer features never hurt
SELECT bool_and(expected_accuracy >= before) AS monotone FROM (
  SELECT expected_accuracy, lag(expected_accuracy, 1, 0::float8) OVER (PARTITION BY mechanism ORDER BY n) AS before
  FROM generate_series(1, 5) i, LATERAL (SELECT (100 * 10 ^ i)::bigint AS n) s, LATERAL privpred.plan(n, features => 20, delta => 1e-6, answers => 50) p) s;
SELECT bool_and(expected_accuracy >= before) AS monotone FROM (
  SELECT expected_accuracy, lag(expected_accuracy, 1, 0::float8) OVER (PARTITION BY mechanism ORDER BY e) AS before
  FROM unnest('{0.1,0.5,2,8}'::float8[]) e, LATERAL privpred.plan(20000, features => 20, epsilon => e, delta => 1e-6, answers => 50) p) s;
SELECT bool_and(rows_needed >= before) AS more_answers_need_more_rows FROM (
  SELECT rows_needed, lag(rows_needed, 1, 0::bigint) OVER (PARTITION BY mechanism ORDER BY m) AS before
  FROM unnest('{1,100,10000}'::bigint[]) m, LATERAL privpred.plan(features => 20, delta => 1e-6, answers => m) p WHERE mechanism IN ('vote', 'average', 'gradient', 'threshold')) s;

-- at the rows needed, the target is reached
SELECT p.mechanism, q.expected_accuracy >= 0.83 AS there, r.expected_accuracy < 0.83 AS not_before
FROM privpred.plan(features => 20, delta => 1e-6, answers => 20, accuracy => 0.85) p,
  LATERAL privpred.plan(n => p.rows_needed, features => 20, delta => 1e-6, answers => 20, accuracy => 0.85) q,
  LATERAL privpred.plan(n => p.rows_needed * 9 / 10, features => 20, delta => 1e-6, answers => 20, accuracy => 0.85) r
WHERE q.mechanism = p.mechanism AND r.mechanism = p.mechanism AND p.mechanism IN ('vote', 'gradient', 'stable_erm') ORDER BY 1;

-- lower bounds: Dagan and Feldman, Theorem 4: features / (8 alpha tanh(epsilon / 2)), alpha = 1 - (0.85 - 0.02)
SELECT substring(lower_bound FROM 'n >= (\d+)')::int = ceil(50 / (8 * 0.17 * tanh(0.5))) AS as_computed FROM privpred.plan(1000, 50, accuracy => 0.85) WHERE mechanism = 'vote';
-- the same as a number: linear classifiers, rules of one of f features (of dimension log2(f + 1) + 1 at least), what is stable with gamma 0.1; none for errors above 1/4
SELECT mechanism, rows_at_least, rows_at_least = ceil(CASE WHEN mechanism IN ('cover', 'label_private', 'stable', 'stable_flip', 'relabel') THEN floor(log(2, 51)) ELSE 50 END
  / (8 * 0.17 * CASE mechanism WHEN 'stable' THEN 0.1 ELSE tanh(0.5) END)) AS as_computed FROM privpred.plan(1000, 50, accuracy => 0.85) ORDER BY 1;
SELECT count(rows_at_least) AS above_a_quarter, count(lower_bound) AS in_words FROM privpred.plan(1000, 50, accuracy => 0.7);
SELECT answers, rows_at_least = ceil(50 / (8 * 0.17 * (tanh(per_answer_epsilon::float8 / 2) + 1e-6))) AS for_each_answer
FROM unnest('{10,1000}'::bigint[]) answers, privpred.plan(1000, 50, delta => 1e-6, answers => answers, accuracy => 0.85) WHERE mechanism = 'vote';
-- that dimension: 2^(k-1) - 1 features tell k = 4 points apart in all ways
SELECT count(DISTINCT labels) AS labelings FROM (SELECT sum((((f >> p & 1) = 1) <> turned)::int << p) AS labels FROM generate_series(0, 7) f, generate_series(0, 3) p, unnest('{false,true}'::bool[]) turned GROUP BY f, turned) s;
-- units with three rows hold three times as many examples
CREATE TABLE plan_visits (id int NOT NULL, x float8 CHECK (x BETWEEN 0 AND 1), y boolean);
SELECT privpred.protect('plan_visits', unit => 'id', max_rows_per_unit => 3);
SELECT rows_at_least = ceil(1 / (8 * 0.03 * tanh(0.5) * 3)) AS a_third FROM privpred.plan(1000, relation => 'plan_visits', label => 'y', accuracy => 0.99) WHERE mechanism = 'vote';
SELECT privpred.unprotect('plan_visits');
-- what else binds whom, whatever the budget's delta: theorem 5 thresholds under pure privacy of rows, theorems 10 and 12 also of labels, theorem 2.2 all that is private
SELECT delta, string_agg(mechanism, ' ' ORDER BY mechanism) FILTER (WHERE lower_bound LIKE '%Hsu, Theorem 5)%') AS theorem_5, string_agg(mechanism, ' ' ORDER BY mechanism) FILTER (WHERE lower_bound LIKE '%Theorem 10)') AS theorem_10,
  string_agg(mechanism, ' ' ORDER BY mechanism) FILTER (WHERE lower_bound LIKE '%(Theorem 12)%') AS theorem_12, string_agg(mechanism, ' ' ORDER BY mechanism) FILTER (WHERE lower_bound NOT LIKE '%Theorem 2.2%') AS not_2_2
FROM unnest('{0,1e-6}'::float8[]) delta, privpred.plan(1000, 50, delta => delta, accuracy => 0.99) GROUP BY 1 ORDER BY 1;
SELECT substring(lower_bound FROM 'Hsu.*') = 'Hsu, Theorem 10)' AS alone FROM privpred.plan(1000, 50, accuracy => 0.85) WHERE mechanism = 'label_private';
SELECT substring(lower_bound FROM 'privacy n >= (\d+)')::int = floor(ln((1e6 - 6) / 4) / 0.1) + 1 AS theorem_5 FROM privpred.plan(1000, 50, epsilon => 0.1, accuracy => 0.99) WHERE mechanism = 'cover';
-- theorem 12 with caps of a sphere measured by a sum: what is printed is no more, and little less
CREATE FUNCTION log_cap(f int, angle float8) RETURNS float8 LANGUAGE sql AS $$ SELECT ln(sum(exp(greatest((f - 2) * ln(sin(angle * (i - 0.5) / 20000) / sin(angle)), -500))) * angle) + (f - 2) * ln(sin(angle)) FROM generate_series(1, 20000) i $$;
SELECT f, error, printed, floor(ln(exp(log_cap(f, 4 * pi() * error) - log_cap(f, 2 * pi() * error)) - 1) / 0.01) + 1 AS measured
FROM (VALUES (3, 0.03), (10, 0.03), (50, 0.03), (50, 0.1), (200, 0.1)) v (f, error), LATERAL (SELECT substring(lower_bound FROM 'n >= (\d+) more often')::int AS printed
  FROM privpred.plan(1000, f, epsilon => 0.01, accuracy => 1.02 - error) WHERE mechanism = 'label_private') p ORDER BY 1, 2;
SELECT count(*) AS none FROM privpred.plan(1000, 1, accuracy => 0.82) WHERE lower_bound LIKE '%(Theorem 12)%';
-- where vote and gradient are both expected to do better, why says so
SELECT mechanism, why FROM privpred.plan(39074, 50, delta => 1e-6, answers => 100, accuracy => 0.844) WHERE why LIKE '%; vote and gradient are expected%' ORDER BY 1;
SELECT mechanism, why FROM privpred.plan(39074, 50, answers => 10, accuracy => 0.844) WHERE why LIKE '%; vote%' ORDER BY 1;
SELECT count(*) AS none FROM privpred.plan(features => 50, delta => 1e-6) WHERE why LIKE '%; vote%';
SELECT count(*) AS recommended_and_worse FROM unnest('{5000,20000,100000}'::bigint[]) n, privpred.plan(n, 1, delta => 1e-6, answers => 10, accuracy => 0.95) WHERE recommended AND why LIKE '%; vote%';
-- a rule of one feature says two classes at most
SELECT count(*) FILTER (WHERE expected_accuracy > 0.2) AS above_two_of_ten FROM privpred.plan(20000, 49, 10, accuracy => 0.88) WHERE mechanism IN ('cover', 'stable_flip', 'relabel');

-- refused: what is not a number to plan with
CREATE FUNCTION refused(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said text; hint text;
BEGIN
  EXECUTE 'SELECT count(*) FROM privpred.plan(' || call || ')';
  RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ' ' || said || ' / ' || hint;
END $$;
SELECT call, refused(call) FROM unnest(ARRAY['n => 0', 'n => -1', 'features => 0', 'features => 16385', 'classes => 1', 'classes => 1001', 'epsilon => 0', 'epsilon => ''NaN''',
  'epsilon => ''Infinity''', 'epsilon => -1', 'epsilon => NULL', 'delta => 1', 'delta => -1e-6', 'delta => ''NaN''', 'delta => NULL', 'answers => 0', 'answers => -5',
  'accuracy => 0.5', 'accuracy => 1.01', 'accuracy => ''NaN''', 'accuracy => 0.1, classes => 10', 'learner => ''stump''', 'relation => ''pg_views''']) WITH ORDINALITY u (call, i) ORDER BY i;
SELECT call, refused(call) FROM unnest(ARRAY['n => 1', 'n => 1000000000000, answers => 1000000000000, delta => 1e-9', 'classes => 1000, n => 100000', 'epsilon => 1e-9', 'epsilon => 1e6, delta => 0.9', 'accuracy => 1, n => 1000', 'features => 16384, n => 1000']) WITH ORDINALITY u (call, i) ORDER BY i;

-- a table: bounds, levels and classes come from types and constraints, never from rows
CREATE TYPE plan_ward AS ENUM ('A', 'B', 'C');
CREATE TABLE plan_patient (
  id int PRIMARY KEY,
  age smallint CHECK (age BETWEEN 0 AND 110),
  bmi numeric CHECK (bmi >= 10 AND 60 >= bmi),
  pulse real CHECK (pulse > 20) CHECK (pulse < 250.5),
  born date CHECK (born BETWEEN '1900-01-01' AND '2030-01-01'),
  ward plan_ward,
  smoker boolean,
  sex varchar(1) CHECK (sex IN ('f', 'm')),
  notes text,
  weight float8 CHECK (weight > 0),
  "group""s" int CHECK ("group""s" IN (1, 2, 3)),
  readmitted text NOT NULL CHECK (readmitted IN ('no', 'yes')));
INSERT INTO plan_patient SELECT i, i % 100, 20 + i % 30, 60 + i % 60, '1950-01-01'::date + i, (ARRAY['A', 'B', 'C'])[1 + i % 3]::plan_ward, i % 2 = 0, CASE WHEN i % 4 < 2 THEN 'f' ELSE 'm' END,
  'note', 50 + i % 50, 1 + i % 3, CASE WHEN i % 100 > 50 THEN 'yes' ELSE 'no' END FROM generate_series(1, 4000) i;
\pset format unaligned
\pset tuples_only on
-- what is not told is asked for, not guessed; what is told is complete
\set VERBOSITY default
SET client_min_messages = notice;
SELECT statements FROM privpred.plan(n => 4000, relation => 'plan_patient', learner => 'logistic') WHERE mechanism = 'vote';
SELECT statements FROM privpred.plan(n => 4000, relation => 'plan_patient', label => 'readmitted', answers => 5, role => 'plan_reader', learner => 'logistic') WHERE recommended;
SELECT left(statements, 120) FROM privpred.plan(n => 4000, relation => 'plan_patient', label => 'readmitted', role => 'plan_reader', delta => 1e-6) WHERE mechanism IN ('gradient', 'sparse') ORDER BY mechanism;
SET client_min_messages = warning;
SELECT statements FROM privpred.plan(n => 4000, delta => 1e-6, answers => 100000, relation => 'plan_patient', label => 'smoker') WHERE mechanism = 'gradient';
-- cuts and descriptions are for tables that are large enough for them
SELECT n, statements LIKE '%"cuts"%' AS cuts, statements LIKE '%describe%' AS describe
FROM unnest('{200,1000,4000}'::bigint[]) n, LATERAL privpred.plan(n => n, delta => 1e-6, answers => 100000, relation => 'plan_patient', label => 'smoker') p WHERE mechanism = 'gradient' ORDER BY 1;

-- pasted, statement by statement, it leads to a first private answer
CREATE TEMP TABLE answer (mechanism text, answer text);
CREATE PROCEDURE paste(mechanism text, statement text) LANGUAGE plpgsql AS $$
DECLARE said text;
BEGIN
  EXECUTE statement INTO said;
  IF statement LIKE 'SELECT private_%' THEN
    INSERT INTO answer VALUES (mechanism, said);
  END IF;
END $$;
SELECT format('CALL paste(%L, %L)', p.mechanism, statement)
FROM privpred.plan(n => 4000, epsilon => 5, relation => 'plan_patient', learner => 'logistic', label => 'readmitted', answers => 1, role => current_user::regrole) p, regexp_split_to_table(replace(statements, quote_literal(current_user), 'current_user::regrole'), E';\n?') WITH ORDINALITY s (statement, i)
WHERE p.mechanism = 'vote' AND statement <> '' ORDER BY i \gexec
SELECT mechanism, answer IN ('no', 'yes') AS answered FROM answer;
\pset format aligned
\pset tuples_only off
SELECT name, mechanism, learner, features ->> 0 AS first_feature FROM privpred.models WHERE name = 'plan_patient_vote';
SELECT epsilon_limit, epsilon_spent FROM privpred.budgets WHERE relation = 'plan_patient'::regclass;

-- every mechanism's statements work as they are printed, on a table that suits it
CREATE TABLE plan_one (id int PRIMARY KEY, x float8 NOT NULL CHECK (x BETWEEN 0 AND 1), y boolean NOT NULL);
INSERT INTO plan_one SELECT i, i / 3000.0, i > 1400 FROM generate_series(1, 3000) i;
CREATE TEMP TABLE planned AS SELECT mechanism FROM privpred.plan(n => 3000, epsilon => 4, delta => 1e-6, accuracy => 0.999, relation => 'plan_one', label => 'y', answers => 1, role => current_user::regrole) WHERE statements IS NOT NULL AND mechanism <> 'distill';
SELECT format('CREATE TABLE plan_%s (LIKE plan_one INCLUDING ALL)', mechanism), format('INSERT INTO plan_%s SELECT * FROM plan_one', mechanism) FROM planned ORDER BY mechanism \gexec
TRUNCATE answer;
SELECT format('CALL paste(%L, %L)', p.mechanism, statement)
FROM planned, LATERAL privpred.plan(n => 3000, epsilon => 4, delta => 1e-6, accuracy => 0.999, relation => ('plan_' || planned.mechanism)::regclass, learner => 'logistic', label => 'y', answers => 1, role => current_user::regrole) p, regexp_split_to_table(replace(statements, quote_literal(current_user), 'current_user::regrole'), E';\n?') WITH ORDINALITY s (statement, i)
WHERE p.mechanism = planned.mechanism AND statement <> '' ORDER BY p.mechanism, i \gexec
SELECT mechanism, count(answer) AS answers FROM planned LEFT JOIN answer USING (mechanism) WHERE mechanism NOT IN ('sparse', 'soft') GROUP BY 1 ORDER BY 1;
-- a student, with the one name replaced that it asks for; and labels alone
CREATE TABLE plan_distill (LIKE plan_one INCLUDING ALL);
INSERT INTO plan_distill SELECT * FROM plan_one;
CREATE TABLE plan_public AS SELECT (i % 1000 + 0.5) / 1000 AS x FROM generate_series(1, 7000) i;
CREATE TABLE plan_label_private (LIKE plan_one INCLUDING ALL);
INSERT INTO plan_label_private SELECT * FROM plan_one;
SELECT privpred.protect('plan_label_private', protects => 'labels');
SELECT format('CALL paste(%L, %L)', p.mechanism, statement)
FROM privpred.plan(n => 3000, epsilon => 4, delta => 1e-6, accuracy => 0.999, relation => 'plan_distill', learner => 'logistic', label => 'y', answers => 1, role => current_user::regrole) p, regexp_split_to_table(replace(replace(statements, quote_literal(current_user), 'current_user::regrole'), 'your_public_table', 'plan_public'), E';\n?') WITH ORDINALITY s (statement, i)
WHERE p.mechanism = 'distill' AND statement <> '' ORDER BY i \gexec
SELECT format('CALL paste(%L, %L)', p.mechanism, statement)
FROM privpred.plan(n => 3000, epsilon => 4, accuracy => 0.999, relation => 'plan_label_private', label => 'y', answers => 1, role => current_user::regrole) p, regexp_split_to_table(replace(statements, quote_literal(current_user), 'current_user::regrole'), E';\n?') WITH ORDINALITY s (statement, i)
WHERE p.mechanism = 'label_private' AND statement <> '' ORDER BY i \gexec
SELECT mechanism, answer IN ('false', 'true') AS answered FROM answer WHERE mechanism IN ('distill', 'label_private') ORDER BY 1;
-- streams may be unstable on so few rows, but they were opened
SELECT model, unstable_limit FROM privpred.streams WHERE model LIKE 'plan_%' ORDER BY 1;

-- what is expected is what evaluate() finds, within 2 points, on a table of its own
CREATE TABLE plan_flower (id int PRIMARY KEY, a float8 CHECK (a BETWEEN 0 AND 1), b float8 CHECK (b BETWEEN 0 AND 1), c float8 CHECK (c BETWEEN 0 AND 1), y boolean);
INSERT INTO plan_flower SELECT i, a, b, c, a + b / 2 + (hashint4(i + 300000) / 2147483648.0) / 2 > 0.75
FROM generate_series(1, 20000) i, LATERAL (SELECT abs(hashint4(i) / 2147483648.0) AS a, abs(hashint4(i + 100000) / 2147483648.0) AS b, abs(hashint4(i + 200000) / 2147483648.0) AS c) s;
CREATE TABLE plan_flower_test AS SELECT * FROM plan_flower WHERE id > 15000;
DELETE FROM plan_flower WHERE id > 15000;
SELECT privpred.protect('plan_flower', declared_units => 15000);
SELECT count(privpred.create_model('plan_plain', 'plan_flower', label => 'y', features => '["a", "b", "c"]', teachers => 1));
SELECT majority_accuracy AS plain FROM privpred.evaluate('plan_plain', 'plan_flower_test') \gset
SELECT count(privpred.create_model(format('plan_%s_%s', mechanism, delta <> 0), 'plan_flower', label => 'y', features => '["a", "b", "c"]', mechanism => mechanism,
  learner => 'logistic', teachers => COALESCE(substring(parameters FROM 'teachers => (\d+)')::int, 100), epsilon => substring(parameters FROM 'epsilon => ([0-9.]+)')::float8))
FROM (VALUES (0::float8, 20), (1e-6, 500)) v (delta, m), LATERAL privpred.plan(relation => 'plan_flower', label => 'y', epsilon => 1, delta => v.delta, answers => m, accuracy => :plain, learner => 'logistic') p
WHERE mechanism IN ('vote', 'gradient') AND feasible;
SELECT mechanism, delta, abs(expected_accuracy - CASE delta WHEN 0 THEN private_accuracy ELSE approximate_accuracy END) < 0.02 AS close
FROM (VALUES (0::float8, 20), (1e-6, 500)) v (delta, m), LATERAL privpred.plan(relation => 'plan_flower', label => 'y', epsilon => 1, delta => v.delta, answers => m, accuracy => :plain, learner => 'logistic') p,
  LATERAL privpred.evaluate(format('plan_%s_%s', mechanism, delta <> 0), 'plan_flower_test') e
WHERE mechanism IN ('vote', 'gradient') AND feasible ORDER BY 1, 2;

-- whatever is suggested, create_model takes it
CREATE FUNCTION created(parameters text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT privpred.create_model(''plan_any'', ''plan_flower'', label => ''y'', features => ''["a", "b", "c"]'', %s)', parameters);
  PERFORM privpred.drop_model('plan_any');
  RETURN 'created';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;
SELECT e, d, m, mechanism, result FROM (VALUES (1::float8, 0::float8, 1), (1, 0, 1000), (1, 1e-6, 10000), (0.1, 1e-9, 100), (20, 1e-6, 10)) v (e, d, m),
  LATERAL privpred.plan(relation => 'plan_flower', label => 'y', epsilon => e, delta => d, answers => m, learner => 'logistic'), created(parameters) result WHERE parameters IS NOT NULL AND result <> 'created';
SELECT mechanism, feasible, why, parameters, statements FROM privpred.plan(8000, 50, 2, 1, 1e-6, 10000, 0.843) WHERE mechanism IN ('average', 'relabel') ORDER BY 1;

-- a public share of the commonest class: nothing is recommended that is no better, and simple rules are judged by it
SELECT b, count(*) FILTER (WHERE recommended) AS recommended, max(expected_accuracy) FILTER (WHERE mechanism = 'cover') AS cover, min(advice) AS advice
FROM (VALUES (NULL::float8), (0.6), (0.884), (0.9045)) v (b), LATERAL privpred.plan(2000, 51, 2, 0.5, 0, 10, 0.905, baseline => b) GROUP BY 1 ORDER BY 1;
SELECT abs(max(expected_accuracy) FILTER (WHERE mechanism = 'cover') - 0.89555) < 0.0002 AS half_way, max(expected_accuracy) FILTER (WHERE mechanism = 'vote') > 0.9 AS vote FROM privpred.plan(1000000000, 51, accuracy => 0.905, baseline => 0.884);
SELECT p.expected_accuracy < q.expected_accuracy AS prior_helps, q.expected_accuracy BETWEEN 0.84 AND 0.884 AS below_it FROM privpred.plan(9042, 51, 2, 1, 1e-6, 1000, 0.903, learner => 'logistic') p
JOIN privpred.plan(9042, 51, 2, 1, 1e-6, 1000, 0.903, learner => 'logistic', baseline => 0.884) q USING (mechanism) WHERE mechanism = 'vote';
-- one that is a guess changes nothing
SELECT count(*) AS changed FROM privpred.plan(5000, 20, 2, 1, 1e-6, 20, 0.8) p JOIN privpred.plan(5000, 20, 2, 1, 1e-6, 20, 0.8, baseline => 0.5) q USING (mechanism) WHERE p IS DISTINCT FROM q;
SELECT substring(advice FROM 'right [0-9]+ times in 100; pass accuracy') AS assumed FROM privpred.plan(100000, baseline => 0.96) WHERE rank = 1;
SELECT call, refused(call) FROM unnest(ARRAY['baseline => 0.4', 'baseline => 1', 'baseline => ''NaN''', 'baseline => -1', 'baseline => 0.9, accuracy => 0.9', 'baseline => 0.05, classes => 10, accuracy => 0.8']) WITH ORDINALITY u (call, i) ORDER BY i;

-- what is declared by protect() is used; the unit is no feature; sizes are declared once
SELECT privpred.protect('plan_patient', declared_units => 5000);
SELECT p.expected_accuracy = q.expected_accuracy AS declared_size, p.statements NOT LIKE '%protect(%' AS nothing_to_protect
FROM privpred.plan(relation => 'plan_patient', label => 'readmitted') p JOIN privpred.plan(n => 5000, features => 13) q USING (mechanism) WHERE mechanism = 'vote';
CREATE TABLE plan_labels (id int PRIMARY KEY, x float8 CHECK (x BETWEEN 0 AND 1), y boolean);
SELECT privpred.protect('plan_labels', protects => 'labels', declared_units => 1000);
SELECT feasible, parameters FROM privpred.plan(relation => 'plan_labels', label => 'y') WHERE mechanism = 'label_private';

-- what a table does not tell is named, and left to be filled in
CREATE TABLE plan_bare (who text, amount float8, outcome text);
\pset format unaligned
\pset tuples_only on
SELECT statements FROM privpred.plan(n => 1000, relation => 'plan_bare', learner => 'logistic') WHERE mechanism = 'vote';
\pset format aligned
\pset tuples_only off
SELECT count(*) FROM privpred.plan(relation => 'plan_patient', label => 'nothing');

-- a unit that may be another, and labels that are numbers, with bounds and without: what is printed works once it is complete
CREATE TABLE plan_visit (visit_id int PRIMARY KEY, patient_id int NOT NULL, ward_id int REFERENCES plan_patient, age int CHECK (age BETWEEN 0 AND 110), notes text, photo bytea, born date,
  cost float8 CHECK (cost BETWEEN 0 AND 1000), days int, y boolean);
INSERT INTO plan_visit SELECT i, i / 2, NULL, i % 100, 'n', NULL, NULL, i % 1000, i % 7, i % 2 = 0 FROM generate_series(1, 3000) i;
\pset format unaligned
\pset tuples_only on
SELECT statements FROM privpred.plan(n => 1500, relation => 'plan_visit', label => 'y', answers => 10, role => 'plan_reader', learner => 'logistic') WHERE mechanism = 'vote';
SELECT mechanism, recommended, why, expected_accuracy, statements FROM privpred.plan(n => 1500, relation => 'plan_visit', label => 'cost', answers => 10, role => 'plan_reader') WHERE feasible OR mechanism IN ('gradient', 'vote') ORDER BY rank;
SELECT mechanism, recommended, parameters, advice FROM privpred.plan(n => 1500, relation => 'plan_visit', label => 'days', answers => 1000, delta => 1e-6) WHERE feasible ORDER BY rank;
SELECT statements FROM privpred.plan(n => 1500, relation => 'plan_visit', label => 'days', answers => 10, role => 'plan_reader') WHERE rank = 1;
-- a number that is a code has classes
SELECT mechanism, statements LIKE '%classes => your_classes%' FROM privpred.plan(n => 1500, classes => 7, relation => 'plan_visit', label => 'days', answers => 10, learner => 'logistic') WHERE mechanism = 'vote';
TRUNCATE answer;
CREATE TABLE plan_visit_2 (LIKE plan_visit INCLUDING ALL);
INSERT INTO plan_visit_2 SELECT * FROM plan_visit;
CREATE TABLE plan_visit_3 (LIKE plan_visit INCLUDING ALL);
SELECT format('CALL paste(%L, %L)', p.mechanism, statement)
FROM (VALUES (1, 'plan_visit'), (1000, 'plan_visit_2')) v (m, r), privpred.plan(n => 1500, epsilon => 4, delta => 1e-6, relation => r::regclass, label => 'cost', answers => m, role => current_user::regrole) p,
  regexp_split_to_table(replace(replace(statements, quote_literal(current_user), 'current_user::regrole'), 'your_unit', 'patient_id'), E';\n?') WITH ORDINALITY s (statement, i)
WHERE p.recommended AND statement <> '' ORDER BY m, i \gexec
SELECT mechanism, answer::float8 BETWEEN -1000 AND 2000 AS answered FROM answer;
-- as they are, they fail, at whatever is left to be replaced
CREATE FUNCTION fails(statements text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE statements; RETURN 'ran'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM; END $$;
CREATE TABLE plan_whole (id int PRIMARY KEY, x float8 CHECK (x BETWEEN 0 AND 1), t text, k float8, y boolean);
SELECT what, fails(statements) FROM (VALUES ('unit', 'plan_visit_3', 'y', 10, 'plan_reader'), ('label', 'plan_whole', NULL, 10, 'plan_reader'), ('classes', 'plan_whole', 't', 10, 'plan_reader'),
  ('bounds', 'plan_whole', 'k', 10, 'plan_reader'), ('answers', 'plan_whole', 'y', NULL, 'plan_reader'), ('role', 'plan_whole', 'y', 10, NULL)) v (what, r, l, a, o),
  privpred.plan(n => 1500, relation => r::regclass, label => l, answers => a, role => o::regrole, learner => 'logistic') p WHERE p.mechanism = CASE what WHEN 'bounds' THEN 'stable_erm' ELSE 'vote' END;
-- create_model says the same of numbers
SELECT privpred.protect('plan_whole');
\set VERBOSITY default
SELECT privpred.create_model('plan_k', 'plan_whole', label => 'k', features => '["x"]');
SELECT privpred.create_model('plan_k', 'plan_visit', label => 'days', features => '["cost"]');
SELECT privpred.create_model('plan_k', 'plan_whole', label => 'k', features => '["x"]', options => '{"target": {"min": 0, "max": 1}}');
\pset format aligned
\pset tuples_only off

-- columns that were dropped are no columns, wherever they were
CREATE TABLE plan_dropped (gone_first int, id int PRIMARY KEY, x float8 CHECK (x BETWEEN 0 AND 1), gone boolean, y boolean, gone_last plan_ward);
ALTER TABLE plan_dropped DROP gone_first, DROP gone, DROP gone_last;
\pset format unaligned
\pset tuples_only on
SELECT statements FROM privpred.plan(n => 1000, relation => 'plan_dropped', learner => 'logistic') WHERE mechanism = 'vote';
-- names that would leave a comment, a literal or an identifier do not
CREATE TABLE "plan_odd
DROP TABLE plan_bare; --" ("id" int PRIMARY KEY, "n
DROP TABLE plan_bare; --" float8, "r" float8, "x'); DROP TABLE plan_bare; --" float8 CHECK ("x'); DROP TABLE plan_bare; --" BETWEEN 0 AND 1),
  "y"", '}'; DROP TABLE plan_bare; --
DROP TABLE plan_bare; --" boolean);
DO $$ BEGIN EXECUTE (SELECT format('ALTER TABLE %s RENAME r TO %I', oid::regclass, E'r\rDROP TABLE plan_bare; --') FROM pg_class WHERE relname LIKE 'plan_odd%' AND relkind = 'r'); END $$;
SELECT statements FROM pg_class c, privpred.plan(n => 1000, relation => c.oid::regclass, learner => 'logistic') WHERE relname LIKE 'plan_odd%' AND relkind = 'r' AND mechanism = 'vote';
DO $$ BEGIN
  EXECUTE (SELECT regexp_replace(statements, 'SELECT private_predict.*', '') FROM pg_class c, privpred.plan(n => 1000, relation => c.oid::regclass, learner => 'logistic', label => E'y", ''}''; DROP TABLE plan_bare; --\nDROP TABLE plan_bare; --', answers => 1, role => current_user::regrole)
    WHERE relname LIKE 'plan_odd%' AND relkind = 'r' AND mechanism = 'vote');
END $$;
-- nor does that of a table whose description is suggested
CREATE TABLE "plan_line
DROP TABLE plan_bare; --" (id int PRIMARY KEY, t text, y boolean);
SELECT statements FROM pg_class c, privpred.plan(n => 1000000, delta => 1e-6, relation => c.oid::regclass, label => 'y', answers => 1, role => 'plan_reader') WHERE relname LIKE 'plan_line%' AND relkind = 'r' AND mechanism = 'gradient';
DROP TABLE "plan_line
DROP TABLE plan_bare; --";
-- dates have cuts if they have room for them
CREATE TABLE plan_days (id int PRIMARY KEY, d date CHECK (d BETWEEN '2000-01-01' AND '2000-01-16'), e date CHECK (e BETWEEN '2000-01-01' AND '2000-01-17'),
  ts timestamp CHECK (ts BETWEEN '2000-01-01' AND '2000-01-02'), i int CHECK (i BETWEEN 0 AND 3), b boolean, y boolean);
SET client_min_messages = error;
DO $$ BEGIN EXECUTE (SELECT regexp_replace(statements, 'SELECT private_predict.*', '') FROM privpred.plan(n => 1000000, delta => 1e-6, relation => 'plan_days', label => 'y', answers => 1, role => 'plan_reader') WHERE mechanism = 'gradient'); END $$;
SET client_min_messages = warning;
SELECT f ->> 'name', jsonb_array_length(f -> 'cuts') FROM privpred.models, jsonb_array_elements(features) f WHERE name = 'plan_days_gradient';
SELECT privpred.revoke_budget('plan_reader', 'plan_days'), privpred.drop_model('plan_days_gradient');
DROP TABLE plan_days;
\pset format aligned
\pset tuples_only off
SELECT to_regclass('plan_bare') IS NOT NULL AS still_there, count(*) AS made, count(private_predict(name, '{"x''); DROP TABLE plan_bare; --": 0.5}'::jsonb)) AS answered FROM privpred.models WHERE name LIKE 'plan_odd%';
SELECT count(privpred.revoke_budget(role, relation)) FROM privpred.budgets WHERE relation::text LIKE '"plan_odd%';
SELECT count(privpred.drop_model(name)) FROM privpred.models WHERE name LIKE 'plan_odd%';

-- neither rows nor statistics change a plan, and constraints run nobody's code
CREATE TEMP TABLE before AS SELECT * FROM privpred.plan(relation => 'plan_patient');
DELETE FROM plan_patient WHERE id > 7;
VACUUM ANALYZE plan_patient;
SELECT count(*) AS changed FROM (SELECT * FROM before EXCEPT SELECT * FROM privpred.plan(relation => 'plan_patient')) s;
CREATE FUNCTION plan_trap(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'run'; RETURN $1; END $$;
CREATE TABLE plan_trapped (id int PRIMARY KEY, x int CHECK (x BETWEEN plan_trap(0) AND plan_trap(9)), y boolean);
SELECT statements LIKE '%not used%"x": {"min"%' AS left_out FROM privpred.plan(n => 100, relation => 'plan_trapped') WHERE mechanism = 'vote';

-- anybody may ask, without any right on the table
SET ROLE plan_reader;
SELECT count(*) FROM privpred.plan(relation => 'plan_patient');
RESET ROLE;

SELECT format('DROP TABLE plan_%s CASCADE', mechanism) FROM planned ORDER BY mechanism \gexec
DROP TABLE plan_dropped, "plan_odd
DROP TABLE plan_bare; --";
DROP TABLE plan_visit, plan_visit_2, plan_visit_3, plan_whole;
DROP FUNCTION fails;
DROP TABLE plan_flower, plan_flower_test, plan_patient, plan_one, plan_labels, plan_bare, plan_trapped, plan_distill, plan_label_private, plan_public;
DROP TYPE plan_ward;
DROP ROLE plan_reader;
DROP PROCEDURE paste;
DROP FUNCTION best, refused, plan_trap, created;
