-- Every mechanism: declarations, refusals, charges, sizes and cards are the same whether the table is empty, has one row or ten thousand.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\pset format unaligned
CREATE SCHEMA flow;
SET search_path = flow, public;
CREATE ROLE flow_analyst;
GRANT USAGE ON SCHEMA flow TO flow_analyst;
CREATE TABLE none (id int PRIMARY KEY, a float8, b float8, ward text, sick text, days float8);
CREATE TABLE one (LIKE none INCLUDING ALL);
CREATE TABLE many (LIKE none INCLUDING ALL);
INSERT INTO many SELECT i, (i % 97) / 96.0, (i % 89) / 88.0, 'p' || i % 4, CASE WHEN i % 97 > 40 THEN 'yes' ELSE 'no' END, i % 60
FROM generate_series(1, 10000) i;
INSERT INTO one SELECT * FROM many WHERE id = 4711;
CREATE TABLE wards AS SELECT 'h' || h AS hypothesis, 'p' || p AS point, (p >= h)::int AS label FROM generate_series(0, 4) h, generate_series(0, 3) p;
CREATE TABLE points AS SELECT i / 50.0 AS a, i / 50.0 AS b FROM generate_series(0, 49) i;
SELECT count(privpred.protect(t::regclass, declared_units => 10000)), count(privpred.grant_budget('flow_analyst', t::regclass, epsilon => 1000, delta => 0.1, force => true))
FROM unnest('{none,one,many}'::text[]) t;

-- what is seen of a declaration: its refusal, or all but the answers
CREATE FUNCTION seen(of text, mechanism text, learner text, features text, options text, epsilon float8, label text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
  hint text;
  card text;
BEGIN
  card := privpred.create_model('flow', of::regclass, label::name, features::json, classes => CASE label WHEN 'sick' THEN '{no,yes}'::text[] END,
    mechanism => mechanism, learner => learner, teachers => 40, epsilon => epsilon, options => options::jsonb) - 'relation';
  RETURN concat_ws(' ', card, privpred.retrain('flow') ->> 'version',
    (SELECT concat_ws(' ', charge, pure_charge, octet_length(state), octet_length(privpred.predictor_send(predictor))) FROM privpred.model WHERE name = 'flow'));
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
-- and what an analyst sees: that there is an answer, and what it costs
CREATE FUNCTION asked(mechanism text, label text, width int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  question float8[] := CASE width WHEN 4 THEN '{0,1,0,0}' ELSE array_fill(0.5::float8, ARRAY[width]) END;
  answer boolean;
BEGIN
  IF mechanism IN ('sparse', 'soft') THEN
    PERFORM privpred.open_stream('flow', unstable => 3, epsilon => 5, delta => 0.001);
  END IF;
  IF mechanism = 'soft' OR label = 'days' THEN
    answer := private_score('flow', question) IS NOT NULL;
  ELSE
    answer := private_predict('flow', question) IS NOT NULL;
  END IF;
  -- whether an answer of a stream is unstable depends on the rows, at its price
  RETURN concat_ws(' ', CASE WHEN mechanism NOT IN ('sparse', 'soft') THEN answer END, (SELECT concat_ws(' ', epsilon, fits) FROM privpred.cost('flow', 3)));
EXCEPTION WHEN OTHERS THEN
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM);
END $$;

CREATE TABLE declarations (number int GENERATED ALWAYS AS IDENTITY, mechanism text, learner text, width int, options text, epsilon float8, label text DEFAULT 'sick');
INSERT INTO declarations (mechanism, learner, width, options, epsilon) VALUES
('vote', 'logistic', 2, '{}', 1), ('vote', 'svm', 2, '{}', 1), ('vote', 'linear', 2, '{}', 1), ('vote', 'naive_bayes', 2, '{}', 1),
('vote', 'centroid', 2, '{}', 1), ('vote', 'stump', 2, '{}', 1), ('vote', 'tree', 2, '{}', 1), ('vote', 'linear', 2, '{"noise": "gaussian"}', 1),
('average', 'linear', 2, '{}', 1), ('average', 'linear', 2, '{}', 0.01),
('sparse', 'linear', 2, '{}', 1), ('soft', 'logistic', 2, '{}', 1), ('soft', 'linear', 2, '{"precision": 0.3}', 1),
('threshold', 'logistic', 1, '{}', 1), ('threshold', 'logistic', 2, '{}', 1), ('threshold', 'logistic', 1, '{"alpha": 0}', 1),
('stable_flip', 'logistic', 1, '{"hypotheses": "threshold"}', 1), ('stable_flip', 'logistic', 2, '{}', 1), ('stable_flip', 'logistic', 1, '{"hypotheses": "interval"}', 0.1),
('stable_flip', 'logistic', 2, '{"hypotheses": "halfspace"}', 1), ('stable_flip', 'logistic', 1, '{"q": 0.9, "e": 9}', 1),
('stable', 'logistic', 1, '{}', 1), ('relabel', 'logistic', 1, '{}', 1), ('relabel', 'logistic', 2, '{}', 0.1), ('relabel', 'logistic', 1, '{"n_max": 10}', 1),
('cover', 'logistic', 2, '{}', 1), ('cover', 'logistic', 2, '{"class": "rectangles"}', 1), ('cover', 'logistic', 2, '{"class": "halfspaces"}', 1),
('cover', 'logistic', 2, '{"class": "stumps", "reference": "flow.points"}', 1), ('cover', 'logistic', 4, '{"class_table": "flow.wards"}', 1), ('cover', 'logistic', 2, '{"accuracy": 0.01}', 1),
('littlestone', 'logistic', 1, '{"points": 8}', 1), ('littlestone', 'logistic', 4, '{"class_table": "flow.wards"}', 1), ('littlestone', 'logistic', 1, '{}', 0.001),
('stable_erm', 'logistic', 2, '{}', 1), ('stable_erm', 'logistic', 2, '{"grid": 9}', 1), ('gradient', 'logistic', 2, '{}', 1), ('gradient', 'logistic', 2, '{"delta": 0}', 1);
INSERT INTO declarations (mechanism, learner, width, options, epsilon, label) VALUES
('vote', 'linear', 2, '{"bins": [0, 20, 40, 60]}', 1, 'days'), ('stable_erm', 'logistic', 2, '{"target": {"min": 0, "max": 60}}', 1, 'days'),
('stable_erm', 'logistic', 2, '{"loss": "squared", "target": {"min": 0, "max": 60}}', 1, 'days'), ('gradient', 'logistic', 2, '{"target": {"min": 0, "max": 60}}', 1, 'days'),
('threshold', 'logistic', 1, '{"target": {"min": 0, "max": 60}}', 1, 'days');
INSERT INTO declarations (mechanism, learner, width, options, epsilon) VALUES
('stable_flip', 'logistic', 2, '{"hypotheses": "rectangle"}', 1), ('stable_flip', 'logistic', 4, '{"class_table": "flow.wards"}', 1), ('stable_flip', 'logistic', 4, '{"hypotheses": "halfspace"}', 1),
('relabel', 'logistic', 1, '{"hypotheses": "interval"}', 1), ('relabel', 'logistic', 2, '{"hypotheses": "halfspace"}', 1), ('relabel', 'logistic', 4, '{"class_table": "flow.wards"}', 1), ('relabel', 'logistic', 2, '{"hypotheses": "rectangle"}', 1);
CREATE FUNCTION features_of(width int) RETURNS text LANGUAGE sql AS $$
SELECT CASE width WHEN 1 THEN '{"a": {"min": 0, "max": 1}}' WHEN 2 THEN '{"a": {"min": 0, "max": 1}, "b": {"min": 0, "max": 1}}'
  ELSE '{"ward": {"levels": ["p0", "p1", "p2", "p3"]}}' END $$;

CREATE TABLE results (of text, number int, seen text, asked text);
CREATE PROCEDURE look() LANGUAGE plpgsql AS $$
DECLARE
  d flow.declarations;
  t text;
  s text;
  a text;
BEGIN
  FOR d IN SELECT * FROM flow.declarations ORDER BY number LOOP
    FOREACH t IN ARRAY '{none,one,many}'::text[] LOOP
      s := seen(t, d.mechanism, d.learner, features_of(d.width), d.options, d.epsilon, d.label);
      a := NULL;
      COMMIT;
      IF s LIKE '{%' THEN
        SET ROLE flow_analyst;
        a := asked(d.mechanism, d.label, d.width);
        RESET ROLE;
        PERFORM privpred.drop_model('flow');
      END IF;
      INSERT INTO results VALUES (t, d.number, s, a);
    END LOOP;
  END LOOP;
END $$;
CALL look();
SELECT number, mechanism, learner, width, options, count(*) AS tables, count(DISTINCT (seen, asked)) AS ways,
  CASE WHEN min(seen) LIKE '{%' THEN min(asked) ELSE split_part(min(seen), ' | ', 2) END AS seen
FROM declarations JOIN results USING (number) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1;
SELECT ok, problem FROM privpred.verify_ledger();
SELECT count(privpred.revoke_budget('flow_analyst', t::regclass)) FROM unnest('{none,one,many}'::text[]) t;
DROP SCHEMA flow CASCADE;
DROP ROLE flow_analyst;
