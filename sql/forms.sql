-- The forms in which a question may be asked, and who answers if somebody else
-- has functions of the same name.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE TABLE forms_people (id int PRIMARY KEY, age float8, smoker boolean, ill boolean, bill float8);
INSERT INTO forms_people SELECT i, i % 100, i % 2 = 0, i % 100 >= 50, i % 100 FROM generate_series(1, 2000) i;
SELECT privpred.protect('forms_people');
SELECT privpred.create_model('forms', 'forms_people', label => 'ill', classes => '{t,f}', epsilon => 100, teachers => 10,
  features => '{"age": {"min": 0, "max": 100}, "smoker": {"type": "boolean"}}') ->> 'version' AS version;
SELECT privpred.create_model('forms_score', 'forms_people', label => 'bill', options => '{"bins": [0, 50, 100]}', epsilon => 100, teachers => 10,
  features => '{"age": {"min": 0, "max": 100}, "smoker": {"type": "boolean"}}') ->> 'version' AS version;
CREATE ROLE forms_analyst;
SELECT privpred.grant_budget('forms_analyst', 'forms_people', epsilon => 100000);

-- Every shape of a call, in both schemas, for both functions.  An answer is t for 90 and f for 10.
CREATE FUNCTION forms_tries(shape text) RETURNS TABLE (call text, answer text) LANGUAGE plpgsql AS $$
DECLARE
  template text;
  age text;
BEGIN
  FOREACH template IN ARRAY ARRAY['%s.private_predict(''forms'', %s)', '(%s.private_score(''forms_score'', %s) > 50)::text'] LOOP
    FOREACH call IN ARRAY ARRAY['public', 'privpred'] LOOP
      FOREACH age IN ARRAY ARRAY['90', '10'] LOOP
        BEGIN
          EXECUTE 'SELECT ' || format(template, call, replace(shape, 'AGE', age)) INTO answer;
        EXCEPTION WHEN OTHERS THEN
          answer := SQLSTATE || ' ' || SQLERRM;
        END;
        answer := COALESCE(left(answer, 100), 'NULL');
        RETURN NEXT;
      END LOOP;
    END LOOP;
  END LOOP;
END $$;
CREATE TYPE forms_row AS (smoker boolean, age int);
CREATE DOMAIN forms_numbers AS numeric[];
CREATE TABLE forms_shapes (n serial, shape text);
GRANT SELECT ON forms_shapes TO PUBLIC;
INSERT INTO forms_shapes (shape) VALUES
  ('ARRAY[AGE, 0]'), ('ARRAY[AGE.5, 0]'), ('ARRAY[AGE::float8, 0]'), ('ARRAY[AGE::numeric, 1]'), ('ARRAY[AGE, 0]::int2[]'), ('ARRAY[AGE, 0]::int8[]'),
  ('ARRAY[AGE, 0]::float4[]'), ('ARRAY[AGE, 0]::forms_numbers'), ('''{AGE, 0}'''), (''' { AGE.25 , 0 } '''), ('''{AGE,0}''::text'),
  ('''{AGE,0}''::varchar'), ('''{AGE,0}''::char(20)'), ('''{"age": AGE, "smoker": true}'''), ('E'' \n{ "age": AGE, "smoker": true}'''),
  ('''{"age": AGE, "smoker": true}''::text'), ('''{"age": AGE, "smoker": true}''::varchar'), ('''{"smoker": null, "age": AGE}''::json'),
  ('''{"age": AGE, "smoker": true}''::json'), ('''{"age": AGE, "smoker": true}''::jsonb'), ('ROW(false, AGE)::forms_row'),
  ('(SELECT r FROM (SELECT AGE AS age, false AS smoker) r)'), ('NULL'), ('NULL::float8[]'), ('NULL::jsonb'), ('NULL::record'),
  ('ARRAY[]::float8[]'), ('ARRAY[NULL, 0]'), ('ARRAY[NULL, 0.5]'), ('ARRAY[''NaN''::numeric, 0]'), ('ARRAY[1e400, 0]'), ('ARRAY[[1, 2], [3, 4]]'),
  ('''{}'''), ('''[AGE, 0]'''), ('''[AGE, 0]''::jsonb'), ('''AGE'''), (''''''), ('''(AGE,f)'''), ('''{AGE,NULL}'''), ('''{AGE,x}'''), ('''{"age": }''');
SET ROLE forms_analyst;
SELECT s.shape, string_agg(DISTINCT t.answer, ' / ' ORDER BY t.answer DESC) AS answers
FROM forms_shapes s, forms_tries(s.shape) t GROUP BY s.n, s.shape ORDER BY s.n;

-- parameters without a type, as drivers send them
PREPARE forms_unknown AS SELECT private_predict('forms', $1), private_predict($2, '{90,0}');
EXECUTE forms_unknown('{"age": 90, "smoker": false}', 'forms');
EXECUTE forms_unknown('{10, 0}', 'forms');
EXECUTE forms_unknown(ARRAY[10, 0], 'forms');
PREPARE forms_varchar(varchar, varchar) AS SELECT private_predict($1, $2), private_score($1 || '_score', $2) > 50 AS high;
EXECUTE forms_varchar('forms', '{"age": 90, "smoker": false}');
SELECT private_score('forms_score', '{90,0}', "precision" => NULL) > 50 AS high, private_score('forms_score', ARRAY[90, 0], NULL) > 50 AS high;
SELECT private_score('forms_score', '{90,0}', "precision" => 1);
SELECT private_score('forms_score', ARRAY[90, 0], 0);
-- all forms of one question are the same question
SET privpred.repeat_memory = 100;
SELECT spent.e AS before FROM (SELECT epsilon_spent AS e FROM privpred.budgets) spent \gset
SELECT private_predict('forms', ARRAY[33, 1]), private_predict('forms', ARRAY[33.0, 1]), private_predict('forms', '{33,1}'),
  private_predict('forms', '{"age": 33, "smoker": true}'), private_predict('forms', '{"age": 33, "smoker": true}'::json);
SELECT epsilon_spent - :before AS spent FROM privpred.budgets;
RESET privpred.repeat_memory;
RESET ROLE;

-- Somebody who may create functions beside ours has one for every other type; the
-- calls above still are ours.
CREATE SEQUENCE forms_captured;
GRANT USAGE ON SEQUENCE forms_captured TO PUBLIC;
DO $$
DECLARE
  t regtype;
BEGIN
  FOR t IN SELECT oid FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype <> 'p' AND typname !~ '^_?pg_' AND typrelid = 0 ORDER BY oid LOOP
    CONTINUE WHEN t = ANY ('{varchar,bpchar}'::regtype[]);	-- what the docs warn of
    BEGIN
      EXECUTE format('CREATE FUNCTION public.private_predict(text, %s) RETURNS text LANGUAGE sql AS $f$ SELECT ''captured '' || nextval(''forms_captured'') $f$', t);
    EXCEPTION WHEN duplicate_function THEN NULL;	-- ours
    END;
    BEGIN
      EXECUTE format('CREATE FUNCTION public.private_score(text, %s) RETURNS float8 LANGUAGE sql AS $f$ SELECT nextval(''forms_captured'')::float8 $f$', t);
    EXCEPTION WHEN duplicate_function THEN NULL;	-- ours
    END;
  END LOOP;
END $$;
SET ROLE forms_analyst;
SELECT s.shape, t.call, t.answer FROM forms_shapes s, forms_tries(s.shape) t WHERE t.answer LIKE 'captured%';
RESET ROLE;
SELECT is_called AS captured FROM forms_captured;
-- the documented call
SET ROLE forms_analyst;
SELECT private_predict('forms', ARRAY[90, 31.2 - 31.2]), private_score('forms_score', ARRAY[90, 31.2 - 31.2]) > 50 AS high;
RESET ROLE;
-- the alias is where nobody but superusers can put anything, whatever the types
SELECT has_schema_privilege('forms_analyst', 'privpred', 'CREATE') AS open;
SELECT count(*) AS forms, count(DISTINCT p.proargtypes::text) AS differing, bool_and(obj_description(p.oid, 'pg_proc') IS NOT NULL) AS explained
FROM pg_proc p WHERE p.pronamespace = 'privpred'::regnamespace AND p.proname IN ('private_predict', 'private_score');
-- and is the same in all respects
SELECT a.oid::regprocedure FROM pg_proc a LEFT JOIN pg_proc b ON (a.proname, a.proargtypes, a.prosrc, a.probin, a.provolatile, a.proparallel, a.proisstrict, a.procost, a.pronargdefaults)
  = (b.proname, b.proargtypes, b.prosrc, b.probin, b.provolatile, b.proparallel, b.proisstrict, b.procost, b.pronargdefaults) AND b.pronamespace = 'public'::regnamespace
WHERE a.pronamespace = 'privpred'::regnamespace AND a.proname LIKE 'private%' AND (b.oid IS NULL
  OR NOT has_function_privilege('forms_analyst', a.oid, 'EXECUTE') OR NOT has_function_privilege('forms_analyst', b.oid, 'EXECUTE'));

DO $$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.pronamespace = 'public'::regnamespace AND p.proname LIKE 'private\_%' AND l.lanname = 'sql' LOOP
    EXECUTE 'DROP FUNCTION ' || f;
  END LOOP;
END $$;
SELECT privpred.revoke_budget('forms_analyst', 'forms_people');
DROP TABLE forms_people, forms_shapes;
DROP FUNCTION forms_tries;
DROP TYPE forms_row;
DROP DOMAIN forms_numbers;
DROP SEQUENCE forms_captured;
DROP ROLE forms_analyst;
