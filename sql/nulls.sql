-- NULL in features: what may be declared of it, who is told, and whether a question would be taken.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
\pset format unaligned
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
CREATE DOMAIN certain AS int NOT NULL;
CREATE DOMAIN more_certain AS certain;
CREATE TYPE size AS ENUM ('small', 'large');
CREATE TABLE nulls (id bigint PRIMARY KEY, age int, income float8, born date, ward text, size size, ok boolean, there int NOT NULL, sure certain, surer more_certain, kind text);
ALTER TABLE nulls DROP COLUMN income;
ALTER TABLE nulls ADD COLUMN income float8;
INSERT INTO nulls SELECT i, i, date '2000-01-01' + i, chr(65 + i % 2), 'small', i % 2 = 0, i, i, i, CASE WHEN i > 50 THEN 'x' ELSE 'y' END, i FROM generate_series(1, 100) i;
INSERT INTO nulls (id, there, sure, surer, kind) VALUES (101, 1, 1, 1, 'x');
SELECT privpred.protect('nulls', declared_units => 101);
SELECT current_user AS me \gset
SELECT privpred.grant_budget(:'me', 'nulls', epsilon => 10000, delta => 0.1, force => true);

-- zeros, for every kind of feature
SELECT privpred.create_model('none', 'nulls', label => 'kind', classes => '{x,y}', teachers => 1, epsilon => 10,
  features => '{"age": {"min": 1, "max": 100, "null": "none"}, "income": {"min": 0, "max": 100, "cuts": 4, "null": "none"}, "born": {"min": "2000-01-01", "max": "2001-01-01", "null": "none"},
    "ward": {"levels": ["A", "B"], "null": "none"}, "size": {"null": "none"}, "ok": {"null": "none"}}') -> 'features' AS features;
SELECT privpred.encode(features, NULL::int, NULL::float8, NULL::date, NULL::text, NULL::size, NULL::boolean) AS all_null, privpred.encode(features, 1, 'NaN'::float8, date '2000-01-01', 'C'::text, 'large'::size, false) AS none_null
  FROM privpred.models WHERE name = 'none';
SET privpred.repeat_memory = 100;
SELECT private_predict('none', ARRAY[NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL]::float8[]) = private_predict('none', '{"age": null, "income": null, "born": null, "ward": null, "size": null, "ok": null}'::jsonb)
   AND private_predict('none', n) = private_predict('none', ARRAY[NULL, NULL, NULL, NULL, 0, 0, NULL, NULL]::float8[]) AS forms_agree FROM nulls n WHERE id = 101;
-- by every learner and mechanism
DO $$
DECLARE
  l text;
BEGIN
  FOREACH l IN ARRAY '{logistic,svm,linear,naive_bayes,centroid,knn,stump,tree}'::text[] LOOP
    PERFORM privpred.create_model('none ' || l, 'nulls', label => 'kind', classes => '{x,y}', teachers => 1, learner => l, epsilon => 10, features => '{"age": {"min": 1, "max": 100, "null": "none"}, "ok": {"null": "none"}}');
  END LOOP;
  FOREACH l IN ARRAY '{gradient,stable_erm}'::text[] LOOP
    PERFORM privpred.create_model('none ' || l, 'nulls', label => 'kind', classes => '{x,y}', mechanism => l, epsilon => 10, features => '{"age": {"min": 1, "max": 100, "null": "none"}, "ok": {"null": "none"}}');
  END LOOP;
END $$;
SELECT name, private_predict(name, '{"age": null, "ok": null}'::jsonb) IN ('x', 'y') AS answers FROM privpred.models WHERE name LIKE 'none %' ORDER BY 1;

-- whoever declares nothing is told, from the catalog and never from rows
SELECT privpred.create_model('told', 'nulls', label => 'kind', classes => '{x,y}', teachers => 1, epsilon => 10, features => '{"age": {"min": 1, "max": 100}, "there": {"min": 0, "max": 1}, "sure": {"min": 0, "max": 1}, "surer": {"min": 0, "max": 1}}') IS NOT NULL AS told;
DELETE FROM nulls WHERE id = 101;
SELECT privpred.create_model('told twice', 'nulls', label => 'kind', classes => '{x,y}', teachers => 1, epsilon => 10, features => '{"age": {"min": 1, "max": 100}, "income": {"min": 1, "max": 100}, "ok": {}, "ward": {"levels": ["A"], "null": "error"}, "born": {"min": "2000-01-01", "max": "2001-01-01", "null": {"fill": "2000-02-02"}}}') IS NOT NULL AS told;
SELECT privpred.create_model('not told', 'nulls', label => 'kind', classes => '{x,y}', teachers => 1, epsilon => 10, features => '{"age": {"min": 1, "max": 100, "null": "error"}, "there": {"min": 0, "max": 1}}') IS NOT NULL AS told;
SELECT refused($c$SELECT privpred.create_model('bad', 'nulls', label => 'kind', classes => '{x,y}', features => '{"age": {"min": 1, "max": 100, "null": "zero"}}')$c$);

-- would a question be taken?
CREATE ROLE nul_analyst;
CREATE ROLE nul_stranger;
SELECT privpred.grant_budget('nul_analyst', 'nulls', epsilon => 1);
SET ROLE nul_analyst;
SELECT * FROM privpred.check('told twice', '{"age": 1, "income": 2, "ok": true, "ward": "A", "born": null}'::jsonb);
SELECT * FROM privpred.check('told twice', '{"age": null, "income": 2, "ok": true, "ward": "A", "born": null}'::jsonb);
SELECT * FROM privpred.check('told twice', '{"age": 1, "income": 2, "ok": true, "ward": "B", "born": null}'::json);
SELECT * FROM privpred.check('told twice', '{"age": 1}');
SELECT * FROM privpred.check('told twice', '{"age": 1, "income": 2, "ok": true, "ward": "A", "born": "soon"}');
SELECT * FROM privpred.check('told twice', '{"age": 1');
SELECT * FROM privpred.check('told twice', 'nonsense');
SELECT * FROM privpred.check('told twice', '{1,2,3,4,5}');
SELECT * FROM privpred.check('told twice', '{1,2,3,1,5}');
SELECT * FROM privpred.check('told twice', ARRAY[1, 2, 1, 1, 5]);
SELECT * FROM privpred.check('told twice', ARRAY[1, 2, 1, 1, 1e300::numeric]);
SELECT * FROM privpred.check('told twice', ARRAY[1, 2, 1, 1, NULL, 5]);
SELECT * FROM privpred.check('told twice', ARRAY[1, 'Infinity', 1, 1, NULL]::float8[]);
SELECT * FROM privpred.check('told twice', '{{1,2,1,1,5},{1,2,1,1,5}}'::float8[]);
SELECT c.* FROM (SELECT 1 AS age, 2 AS income, true AS ok, 'A' AS ward, NULL::date AS born) q, privpred.check('told twice', q) c;
SELECT c.* FROM (SELECT 1 AS age, 2 AS income, true AS ok, 'A' AS ward, 5 AS born) q, privpred.check('told twice', q) c;
SELECT c.* FROM (SELECT 1 AS age, 2 AS income, true AS ok, 'A' AS ward) q, privpred.check('told twice', q) c;
SELECT privpred.check('told twice', NULL::jsonb) IS NULL AND privpred.check(NULL, '{}'::jsonb) IS NULL AS nothing_asked;
-- many at once, beside what a statement does otherwise
SELECT accepted, count(*) FROM generate_series(1, 1000) i, privpred.check('told twice', ARRAY[i, i, i % 2, i % 3 / 2, i]) c GROUP BY 1 ORDER BY 1;
-- it costs nothing, and whoever may not ask learns nothing
SELECT epsilon_spent FROM privpred.budgets WHERE relation = 'nulls'::regclass AND role = 'nul_analyst'::regrole;
SELECT refused($c$SELECT privpred.check('no such model', '{}'::jsonb)$c$);
SET ROLE nul_stranger;
SELECT refused(format($c$SELECT privpred.check(%L, %L%s)$c$, m, q, t)) FROM unnest('{told twice,no such model}'::text[]) m, (VALUES ('{"age": 1}', '::jsonb'), ('{1,2}', '::float8[]'), ('nonsense', '')) q(q, t);
RESET ROLE;
SELECT privpred.revoke_budget('nul_analyst', 'nulls');
SET ROLE nul_analyst;
SELECT refused($c$SELECT privpred.check('told twice', '{"age": 1}'::jsonb)$c$);
RESET ROLE;
-- the owner needs no budget, as nobody's is charged
SELECT accepted FROM privpred.check('told twice', ARRAY[1, 2, 1, 1, 5]);
SELECT privpred.drop_model(name) FROM privpred.models WHERE relation = 'nulls'::regclass \g /dev/null
DROP TABLE nulls;
DROP DOMAIN more_certain, certain;
DROP TYPE size;
DROP ROLE nul_analyst, nul_stranger;
DROP FUNCTION refused;
