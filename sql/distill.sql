-- Students: public rows labelled privately teach a model whose answers are free.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
\pset format unaligned
\pset tuples_only on
CREATE ROLE distill_owner;
CREATE ROLE distill_ann;
CREATE ROLE distill_bob;
CREATE ROLE distill_eve;
CREATE TABLE distill_people (id int PRIMARY KEY, age int, weight int, sick boolean);
INSERT INTO distill_people SELECT i, i % 100, i % 37, i % 100 > 50 FROM generate_series(1, 4000) i;
ALTER TABLE distill_people OWNER TO distill_owner;
CREATE TABLE distill_public AS SELECT (i * 7) % 100 AS age, i % 37 AS weight FROM generate_series(1, 200) i;
GRANT SELECT ON distill_public TO distill_owner, distill_ann, distill_bob;
-- what a refusal says: code, message, detail, hint
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
GRANT CREATE ON SCHEMA public TO distill_owner;

SET ROLE distill_owner;
SELECT privpred.protect('distill_people');
SELECT privpred.create_model('distill_vote', 'distill_people', label => 'sick',
	features => '{"age": {"min": 0, "max": 100}, "weight": {"min": 0, "max": 40}}',
	learner => 'stump', teachers => 20, epsilon => 2) ->> 'mechanism';
SELECT privpred.grant_budget('distill_ann', 'distill_people', epsilon => 500);
SELECT privpred.grant_budget('distill_bob', 'distill_people', epsilon => 1000);
SELECT privpred.grant_budget('distill_eve', 'distill_people', epsilon => 10);

-- the asker pays for the labels, once
SET ROLE distill_ann;
SELECT card - 'features' - 'agreement', (card ->> 'agreement')::float8 > 0.95
FROM privpred.distill('distill_student', 'distill_vote', 'distill_public', 'stump') card;
SELECT problem FROM privpred.verify_ledger();	-- waits for what is given back
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'distill_ann'::regrole;
SELECT kind, sum(answers), sum(epsilon) FROM privpred.ledger WHERE kind <> 'grant' GROUP BY 1 ORDER BY 1;
SELECT name, mechanism, learner, charge_kind, epsilon, charge, pure_charge FROM privpred.models WHERE name = 'distill_student';
SELECT * FROM privpred.cost('distill_student', 1000);
-- and has the student's answers for nothing
SELECT count(private_predict('distill_student', ARRAY[age, 1])), count(*) FILTER (WHERE (private_predict('distill_student', ARRAY[age, 1]) = 'true') = (age > 50)) > 90
FROM generate_series(0, 99) age;
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'distill_ann'::regrole;

-- others pay for all labels at their first use
SET ROLE distill_bob;
SELECT epsilon, epsilon_left_after, fits FROM privpred.cost('distill_student');
SELECT count(private_predict('distill_student', ARRAY[age, 1])) FROM generate_series(0, 99) age;
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'distill_bob'::regrole;
SELECT epsilon, fits FROM privpred.cost('distill_student');
SET ROLE distill_eve;
SELECT refused($$SELECT private_predict('distill_student', ARRAY[1, 1])$$);

-- an owner without a budget: each role pays at its first use
SET ROLE distill_owner;
SELECT privpred.distill('distill_owned', 'distill_vote', 'distill_public', 'logistic', labels => 50) ->> 'labels';
SELECT charge, pure_charge FROM privpred.models WHERE name = 'distill_owned';
SELECT private_accuracy = majority_accuracy, private_accuracy > 0.8 FROM privpred.evaluate('distill_owned', 'distill_people');
SET ROLE distill_ann;
SELECT count(private_predict('distill_owned', ARRAY[age, 1])) FROM generate_series(0, 9) age;
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'distill_ann'::regrole;

-- exported: everybody pays who has not yet, or nobody
SET ROLE distill_owner;
SELECT refused($$SELECT privpred.export_model('distill_student')$$);
SELECT refused($$SELECT privpred.export_model('distill_vote')$$);
SELECT privpred.revoke_budget('distill_eve', 'distill_people');
SELECT e ->> 'model', e ->> 'charge', e -> 'classes', e -> 'predictor' -> 'members' -> 0 ->> 'kind', e -> 'predictor' -> 'members' -> 0 ->> 'feature'
FROM privpred.export_model('distill_student') e;
SELECT role, epsilon_spent FROM privpred.budgets WHERE role IS NOT NULL ORDER BY 1;
SELECT json_array_length(privpred.export_model('distill_owned') -> 'predictor' -> 'members' -> 0 -> 'weights' -> 0);
SELECT role, epsilon_spent FROM privpred.budgets WHERE role IS NOT NULL ORDER BY 1;
-- and so does who comes later
SELECT refused($$SELECT privpred.grant_budget('distill_eve', 'distill_people', epsilon => 10)$$);
SELECT privpred.grant_budget('distill_eve', 'distill_people', epsilon => 600);
SELECT role, epsilon_spent FROM privpred.budgets WHERE role = 'distill_eve'::regrole;
SET ROLE distill_ann;
SELECT refused($$SELECT privpred.export_model('distill_student')$$);

-- refusals; none costs anything
SELECT refused($$SELECT privpred.distill('distill_student', 'distill_vote', 'distill_public')$$);
SELECT refused($$SELECT privpred.distill('distill_2', 'nobody', 'distill_public')$$);
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_vote', 'distill_public', 'sql')$$);
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_vote', 'distill_public', 'vodka')$$);
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_vote', 'distill_people')$$);
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_student', 'distill_public')$$);
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_vote', 'pg_class')$$);
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_vote', 'distill_public', labels => 0)$$);
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_vote', 'distill_public', options => '{"vodka": 1}')$$);
SELECT refused(format($$SELECT privpred.distill('distill_2', 'distill_vote', 'distill_public', options => %L)$$, o))
FROM unnest('{"{\"memoize\": true}","{\"memoize\": \"x\"}","{\"memoize_limit\": 5}","{\"bins\": [0, 1, 2]}","{\"target\": {\"min\": 0, \"max\": 1}}","{\"classes\": [\"a\"]}","[1, \"default\", 3]",5}'::text[]) o;
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_vote', 'distill_public')$$);
SELECT refused($$SELECT privpred.retrain('distill_student')$$);
SET privpred.max_answers_per_statement = 20;
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_vote', 'distill_public', labels => 21)$$);
RESET privpred.max_answers_per_statement;
SELECT epsilon_spent FROM privpred.budgets WHERE role = 'distill_ann'::regrole;
SET ROLE distill_owner;
SELECT refused($$SELECT privpred.retrain('distill_student')$$);
SELECT refused($$SELECT privpred.create_model('distill_2', 'distill_people', label => 'sick', features => '{"age": {"min": 0, "max": 100}}', mechanism => 'distill')$$);
RESET ROLE;
CREATE TABLE distill_empty (age int, weight int);
SELECT refused($$SELECT privpred.distill('distill_2', 'distill_vote', 'distill_empty')$$);
SELECT ok, problem FROM privpred.verify_ledger();

SELECT privpred.drop_model(m) FROM unnest('{distill_vote,distill_student,distill_owned}'::text[]) m;
SELECT privpred.revoke_budget(r::regrole, 'distill_people') FROM unnest('{distill_ann,distill_bob,distill_eve}'::text[]) r;
DROP FUNCTION refused;
DROP TABLE distill_people, distill_public, distill_empty;
REVOKE CREATE ON SCHEMA public FROM distill_owner;
DROP ROLE distill_owner, distill_ann, distill_bob, distill_eve;
