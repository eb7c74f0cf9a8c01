-- From CREATE EXTENSION to the first answer: psql -f first.sql, in any database, as a superuser.
-- 20,000 made-up patients; what is asked of them is private, each answer at epsilon 0.1.
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE TABLE first_patients (id int PRIMARY KEY, age float8, smoker boolean, ill boolean);
INSERT INTO first_patients
SELECT i, i % 90, i % 3 = 0, i % 90 > 60 OR (i % 3 = 0 AND i % 90 > 40) FROM generate_series(1, 20000) i;

\o /dev/null
SELECT privpred.protect('first_patients', declared_units => 20000);
SELECT privpred.create_model('first_model', 'first_patients', label => 'ill', epsilon => 0.1,
	features => '{"age": {"min": 0, "max": 90}, "smoker": {}}', teachers => 101);
SELECT privpred.grant_budget(current_user::regrole, 'first_patients', epsilon => 1);
\o
SELECT private_predict('first_model', '{"age": 80, "smoker": true}'::jsonb) AS ill;
SELECT epsilon, spent, answers_left FROM privpred.my_budget WHERE relation = 'first_patients'::regclass;
