-- Whoever may not ask a model learns nothing of it, not even that it exists: every
-- function gives the same for a model that is there and for one that is not.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE TABLE str_secret (id int PRIMARY KEY, x float8, y text);
INSERT INTO str_secret SELECT i, i / 100.0, CASE WHEN i > 50 THEN 't' ELSE 'f' END FROM generate_series(1, 100) i;
CREATE TABLE str_other (LIKE str_secret INCLUDING ALL);
CREATE TABLE str_public AS SELECT 0.5::float8 AS x, 't'::text AS y;
CREATE TABLE str_mine (LIKE str_secret INCLUDING ALL);
CREATE ROLE str_stranger;
CREATE ROLE str_tenant;
CREATE ROLE str_gone;
CREATE ROLE str_owner;
CREATE ROLE str_group;
CREATE ROLE str_member IN ROLE str_group;
GRANT SELECT ON str_public TO PUBLIC;
SELECT privpred.protect('str_secret', declared_units => 43211);
SELECT privpred.protect('str_other');
ALTER TABLE str_mine OWNER TO str_owner;
SELECT privpred.protect('str_mine');
SELECT privpred.create_model(m.name, 'str_secret', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, epsilon => 1, mechanism => m.mechanism) ->> 'version'
FROM (VALUES ('model1', 'vote'), ('model2', 'sparse'), ('model3', 'threshold')) m(name, mechanism);
SELECT count(*) FROM privpred.models WHERE relation = 'str_secret'::regclass;
SELECT privpred.grant_budget('str_tenant', 'str_other', 1);
SELECT privpred.grant_budget('str_group', 'str_other', 1);
SELECT privpred.grant_budget('str_gone', 'str_secret', 100);
SET ROLE str_gone;
SELECT count(private_predict('model1', ARRAY[0.5]));
RESET ROLE;
SELECT privpred.revoke_budget('str_gone', 'str_secret');

-- NAME stands for the model; arguments that are wrong come with it, too
CREATE TABLE str_calls (n serial, call text);
GRANT SELECT ON str_calls TO PUBLIC;
INSERT INTO str_calls (call) VALUES
  ('private_predict(NAME, ARRAY[0.5])'), ('privpred.check(NAME, ARRAY[0.5])'), ('privpred.check(NAME, ''nonsense'')'), ('private_predict(NAME, ARRAY[0.5, 1])'), ('private_predict(NAME, ARRAY[NULL::float8])'), ('private_predict(NAME, ''{"x": 2}'')'),
  ('private_predict(NAME, ''{"z": 2}''::jsonb)'), ('private_predict(NAME, ''{}''::json)'), ('private_predict(NAME, ''nonsense'')'), ('private_predict(NAME, r) FROM (SELECT 1 AS z) r'),
  ('private_score(NAME, ARRAY[0.5])'), ('private_score(NAME, ARRAY[0.5], -1)'), ('private_score(NAME, ''{"z": 2}'')'), ('privpred.private_predict(NAME, ARRAY[0.5])'),
  ('privpred.private_score(NAME, ''{1,2}'')'), ('privpred.cost(NAME)'), ('privpred.cost(NAME, 0)'), ('privpred.cost_of(format(''SELECT private_predict(%L, ARRAY[0.5])'', NAME))'), ('privpred.open_stream(NAME, 1, 0.1, 1e-6)'), ('privpred.open_stream(NAME, 0, -1, 2)'),
  ('privpred.close_stream(NAME)'), ('privpred.retrain(NAME)'), ('privpred.drop_model(NAME)'), ('privpred.export_model(NAME)'), ('privpred.read_model(NAME)'), ('privpred.chunk_index(NAME)'), ('privpred.explain(NAME::text)'), ('privpred.plot(NAME)'), ('privpred.distill(''student'', NAME, ''str_public'')'),
  ('privpred.distill(NAME, ''nobody'', ''str_public'')'), ('privpred.distill(''student'', NAME, ''str_public'', ''vodka'', -1)'), ('privpred.evaluate(NAME, ''str_public'')'), ('privpred.evaluate(NAME)'), ('privpred.release_accuracy(NAME, 1)'), ('privpred.release_accuracy(NAME, -1)'),
  ('privpred.confusion_matrix(NAME, ''str_public'')'), ('privpred.accuracy_curve(NAME, ''str_public'')'), ('privpred.accuracy_curve(NAME, ''str_public'', ARRAY[-1.0])'),
  ('privpred.plot(NAME, ''str_public'')'), ('privpred.plot(NAME, ''str_public'', ''answers'', epsilon => 1)'), ('privpred.plot(NAME, ''str_public'', ''confusion'')'),
  ('privpred.plot(NAME, ''str_public'', ''cake'')'), ('privpred.audit(NAME)'), ('privpred.audit(NAME, -1)'),
  ('privpred.create_model(NAME, ''str_secret'', label => ''y'', features => ''["x"]'')');

-- no function that is given a model is missing above
SELECT p.oid::regprocedure AS not_called FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'privpred') AND d.deptype = 'e'
  AND EXISTS (SELECT FROM unnest(p.proargnames, p.proallargtypes) a(name, type) WHERE a.name IN ('model', 'name', 'teacher', 'student')
  UNION ALL SELECT WHERE p.proargnames && '{model,name,teacher,student}' AND p.proallargtypes IS NULL)
  AND has_function_privilege('str_stranger', p.oid, 'EXECUTE') AND p.proname <> 'progress_entries'
  AND NOT EXISTS (SELECT FROM str_calls c WHERE c.call LIKE '%' || p.proname || '(NAME%' OR c.call LIKE '%' || p.proname || '(''student'', NAME%' OR c.call LIKE '%' || p.proname || '(format(%NAME%');

CREATE FUNCTION str_try(call text, model text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  message text; detail text; hint text; context text; result text := '';
BEGIN
  BEGIN
    FOR message IN EXECUTE 'SELECT row_to_json(r)::text FROM (SELECT ' || replace(call, 'NAME', quote_literal(model)) || ') r' LOOP
      result := result || message;
    END LOOP;
    RETURN result;
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
    RETURN replace(concat_ws(' | ', SQLSTATE, message, NULLIF(detail, ''), hint, md5(replace(context, model, 'NAME'))), model, 'NAME');
  END;
END $$;
-- what differs, between models that are there and one that is not; and all that is said
CREATE FUNCTION str_all() RETURNS TABLE (state text, calls bigint, differ bigint) LANGUAGE sql AS $$
  SELECT left(absent.said, 5), count(*), count(*) FILTER (WHERE EXISTS (
      SELECT FROM unnest('{model1,model2,model3}'::text[]) m WHERE str_try(c.call, m) IS DISTINCT FROM absent.said))
  FROM str_calls c CROSS JOIN LATERAL (SELECT str_try(c.call, 'absent') AS said) absent GROUP BY 1 ORDER BY 1 $$;
SET ROLE str_stranger;
SELECT * FROM str_all();
SET ROLE str_gone;
SELECT * FROM str_all();
SET ROLE str_tenant;
SELECT * FROM str_all();
SET ROLE str_member;
SELECT * FROM str_all();
SET ROLE str_owner;
SELECT * FROM str_all();
-- in words
SET ROLE str_stranger;
SELECT split_part(str_try(c.call, 'model1'), ' | ', 1) AS state, split_part(str_try(c.call, 'model1'), ' | ', 2) AS message, count(*) FROM str_calls c GROUP BY 1, 2 ORDER BY 1, 2;
SET ROLE str_tenant;
SELECT split_part(str_try(c.call, 'model1'), ' | ', 1) AS state, split_part(str_try(c.call, 'model1'), ' | ', 2) AS message, count(*) FROM str_calls c GROUP BY 1, 2 ORDER BY 1, 2;
RESET ROLE;

-- what takes no model: nothing of the secret table or its models is in it, nor how much there is
CREATE FUNCTION str_views() RETURNS TABLE (view regclass, rows bigint, secrets bigint) LANGUAGE plpgsql AS $$
BEGIN
  FOR view IN SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'privpred'::regnamespace AND c.relkind IN ('v', 'r') AND has_table_privilege(c.oid, 'SELECT') ORDER BY c.relname LOOP
    EXECUTE format('SELECT count(*), count(*) FILTER (WHERE r::text ~ ''secret|model\d|43211'') FROM %s r', view) INTO rows, secrets;
    RETURN NEXT;
  END LOOP;
END $$;
SET ROLE str_stranger;
SELECT * FROM str_views();
SELECT str_try('privpred.verify_ledger()', '-') ~ '^42501 ' AS refused, str_try('privpred.forgive_lease(1)', '-') ~ '^42501 ' AS refused;
SELECT count(*) > 0 AS plans, count(*) FILTER (WHERE p::text LIKE '%43211%') AS secrets FROM privpred.plan(relation => 'str_secret', label => 'y', n => 1000) p;
SELECT privpred.report() ~ 'secret|model1' AS secrets;
SET ROLE str_tenant;
SELECT * FROM str_views();
SELECT ok FROM privpred.verify_ledger();
SELECT privpred.report() ~ 'secret|model1' AS secrets;
-- nor whether a table is protected that one may not read, not even behind a view of one's own
RESET ROLE;
SELECT privpred.create_model('model4', 'str_other', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 10, epsilon => 1) ->> 'version';
CREATE TABLE str_unprotected (LIKE str_secret);
CREATE SCHEMA str_views AUTHORIZATION str_tenant;
SET ROLE str_tenant;
CREATE VIEW str_views.secret AS SELECT * FROM str_secret;
CREATE VIEW str_views.unprotected AS SELECT * FROM str_unprotected;
SELECT r, str_try('privpred.distill(''student'', NAME, ' || quote_literal(r) || ')', 'model4') ~ '^42501 \| permission denied for table str_(secret|unprotected) \|' AS refused
FROM unnest('{str_secret,str_unprotected,str_views.secret,str_views.unprotected}'::text[]) r;
RESET ROLE;
DROP SCHEMA str_views CASCADE;
DROP TABLE str_unprotected;
SET ROLE str_gone;
SELECT view, secrets FROM str_views() WHERE view::text IN ('privpred.models', 'privpred.progress', 'privpred.streams');
RESET ROLE;

-- who may ask is told what is wrong
SELECT privpred.grant_budget('str_group', 'str_secret', 100);
SET ROLE str_member;
SELECT str_try('private_predict(NAME, ARRAY[0.5, 1])', 'model1') ~ '^22023 .*needs? 1' AS told, str_try('privpred.retrain(NAME)', 'model1') ~ '^42501 \| must be owner' AS told,
  str_try('private_predict(NAME, ARRAY[0.5])', 'absent') ~ '^42704 ' AS told, private_predict('model1', ARRAY[0.5]) IS NOT NULL AS answered;
RESET ROLE;
-- also at a call site that has been another's
GRANT str_stranger, str_member TO CURRENT_USER;
DO $$
DECLARE
  answer text;
BEGIN
  FOR i IN 1 .. 2 LOOP
    EXECUTE 'SET LOCAL ROLE ' || (ARRAY['str_member', 'str_stranger'])[i];
    BEGIN
      answer := private_predict('model1', (ARRAY['{0.5}', '{0.5,1}'])[i]::float8[]) IS NOT NULL;
    EXCEPTION WHEN OTHERS THEN
      answer := SQLSTATE || ' ' || SQLERRM;
    END;
    RESET ROLE;
    RAISE WARNING '%', answer;
  END LOOP;
END $$;

-- and that outlives the error, as those of a domain's checks do
CREATE TYPE str_question AS (x float8[]);
CREATE DOMAIN str_asked AS str_question CHECK ((VALUE).x IS NULL OR private_predict('model1', (VALUE).x) IS NOT NULL);
DO $$
DECLARE
  question str_asked;
BEGIN
  FOR i IN 1 .. 3 LOOP
    EXECUTE 'SET LOCAL ROLE ' || (ARRAY['str_member', 'str_stranger', 'str_stranger'])[i];
    BEGIN
      question.x := (ARRAY['{0.5}', '{0.5,1}', '{0.5,1}'])[i]::float8[];
      RAISE WARNING '%: answered', current_user;
    EXCEPTION WHEN OTHERS THEN
      RAISE WARNING '%: % %', current_user, SQLSTATE, SQLERRM;
    END;
    RESET ROLE;
  END LOOP;
END $$;
DROP DOMAIN str_asked;
DROP TYPE str_question;

SELECT privpred.revoke_budget('str_group', 'str_secret');
SELECT privpred.revoke_budget('str_group', 'str_other');
SELECT privpred.revoke_budget('str_tenant', 'str_other');
DROP TABLE str_secret, str_other, str_public, str_mine, str_calls;
DROP FUNCTION str_all, str_try, str_views;
DROP ROLE str_stranger, str_tenant, str_gone, str_owner, str_member, str_group;
