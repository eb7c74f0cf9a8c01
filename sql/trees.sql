-- Learner "tree": one small tree, native; its rules in words; missing features.
-- The trees of XGBoost are in boost.sql.
CREATE SCHEMA trees;
SET search_path = trees, public;
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;

-- XOR, with some rows wrong: no linear rule does much better than chance
CREATE TABLE xor AS
  SELECT i, (i % 10) / 10.0 AS a, (i / 10 % 10) / 10.0 AS b, i % 37 = 0 AS odd FROM generate_series(0, 399) i;
ALTER TABLE xor ADD COLUMN y text;
UPDATE xor SET y = CASE WHEN ((a < 0.5) <> (b < 0.5)) <> odd THEN 'yes' ELSE 'no' END;

CREATE VIEW teacher AS
  SELECT privpred.tree(y, ARRAY[a, b]::float8[], '{"depth": 4, "min_rows": 20}') AS t,
		 privpred.logistic(y, ARRAY[a, b]::float8[]) AS l FROM xor;
SELECT count(*) FILTER (WHERE privpred.predict(t, ARRAY[a, b]) = y) AS tree_right,
	   count(*) FILTER (WHERE privpred.predict(l, ARRAY[a, b]) = y) < 300 AS logistic_fails
  FROM xor, teacher;

\pset format unaligned
\pset tuples_only
SELECT privpred.explain(t, '{dose,age}') FROM teacher;
SELECT privpred.explain(t) FROM teacher;
-- more than two classes, a leaf above the bottom
SELECT privpred.explain(privpred.tree(y, ARRAY[x], '{"depth": 3, "min_rows": 1}'))
  FROM (VALUES ('low', 1), ('low', 2), ('middle', 3), ('middle', 4), ('high', 5), ('high', 6)) v(y, x);
-- a tie is the first declared class's of those that tie
SELECT privpred.predict(privpred.tree(y, ARRAY[1.0]::float8[], jsonb_build_object('min_rows', 1, 'classes', string_to_array(classes, ' '))), '{1}')
  FROM (VALUES ('a'), ('b'), ('a'), ('b')) v(y), unnest('{a b,b a,c b a,c a b}'::text[]) WITH ORDINALITY o(classes, n) GROUP BY n ORDER BY n;
-- an ensemble, and members without rules
SELECT privpred.explain(privpred.ensemble(p), '{x}')
  FROM (SELECT privpred.tree(y, ARRAY[x], '{"min_rows": 1}')
		  FROM (VALUES ('a', 1.0::float8), ('b', 2.0)) v(y, x)
		UNION ALL
		SELECT privpred.stump(y, ARRAY[x]) FROM (VALUES ('a', 1.0::float8), ('b', 2.0)) v(y, x)
		UNION ALL
		SELECT privpred.linear(y, ARRAY[x]) FROM (VALUES ('a', 1.0::float8), ('b', 2.0)) v(y, x)
		UNION ALL
		SELECT privpred.tree(y, ARRAY[x], '{"classes": ["a", "b"]}') FROM (VALUES ('b', 1.0::float8)) v(y, x)) s(p);
SELECT privpred.explain(NULL::privpred.predictor) IS NULL;
\pset format aligned
\pset tuples_only
SELECT privpred.explain(t, '{dose}') FROM teacher;
SELECT privpred.explain(t, '{dose,NULL}') FROM teacher;

-- The result depends on the rows alone, not on their order or the plan.
SELECT count(DISTINCT p::text) FROM (
  SELECT privpred.tree(y, ARRAY[a, b]::float8[] ORDER BY i) AS p FROM xor
  UNION ALL SELECT privpred.tree(y, ARRAY[a, b]::float8[] ORDER BY i DESC) FROM xor
  UNION ALL SELECT privpred.tree(y, ARRAY[a, b]::float8[] ORDER BY md5(i::text)) FROM xor) s;

-- Total: rows that are all alike, one row of each class, one class
SELECT privpred.predict(privpred.tree(y, ARRAY[1.0]), '{1}') FROM (VALUES ('a'), ('b'), ('b')) v(y);
SELECT privpred.predict(privpred.tree(y, ARRAY[1.0]), '{1}') FROM (VALUES ('b'), ('b')) v(y);
SELECT privpred.predict(privpred.tree(y, ARRAY[x], '{"min_rows": 1}'), '{1e300}')
  FROM (VALUES ('a', -1e300), ('b', 1e300)) v(y, x);

-- A leaf has at least min_rows rows.
SELECT privpred.votes(privpred.tree(y, ARRAY[x]), '{9}') FROM (SELECT CASE WHEN x = 9 THEN 'b' ELSE 'a' END, x FROM generate_series(0, 9) x) v(y, x);

-- What is missing takes the side where it does least harm, here the right.
CREATE TABLE gaps AS
  SELECT i, CASE WHEN i % 4 > 0 THEN i % 4 END AS x, CASE WHEN i % 4 IN (0, 3) THEN 'b' ELSE 'a' END AS y
	FROM generate_series(1, 80) i;
SELECT privpred.explain(privpred.tree(y, ARRAY[x]::float8[])) FROM gaps;
SELECT privpred.explain(privpred.tree(y, ARRAY[-x]::float8[])) FROM gaps;
-- alone, if it is a class of its own
SELECT privpred.explain(privpred.tree(CASE WHEN x IS NULL THEN 'gone' ELSE 'there' END, ARRAY[x]::float8[])) FROM gaps;
SELECT privpred.predict(t, '{NULL}') AS missing, privpred.predict(t, '{1}') AS one, privpred.predict(t, '{3}') AS three
  FROM (SELECT privpred.tree(y, ARRAY[x]::float8[]) AS t FROM gaps) s;
SELECT privpred.predict(t, '{NaN}') FROM (SELECT privpred.tree(y, ARRAY[x]::float8[]) AS t FROM gaps) s;
SELECT privpred.predict(t, '{Infinity,NULL}') FROM (SELECT privpred.tree(y, ARRAY[x, x]::float8[]) AS t FROM gaps) s;
-- other learners have no direction for it
SELECT privpred.stump(y, ARRAY[x]::float8[]) FROM gaps;
SELECT privpred.predict(l, '{NULL}') FROM (SELECT privpred.logistic(y, ARRAY[coalesce(x, 0)]::float8[]) AS l FROM gaps) s;

-- Options
SELECT privpred.tree(y, ARRAY[a]::float8[], '{"depth": 0}') FROM xor;
SELECT privpred.tree(y, ARRAY[a]::float8[], '{"depth": 9}') FROM xor;
SELECT privpred.tree(y, ARRAY[a]::float8[], '{"depth": 2.5}') FROM xor;
SELECT privpred.tree(y, ARRAY[a]::float8[], '{"depth": "deep"}') FROM xor;
SELECT privpred.tree(y, ARRAY[a]::float8[], '{"min_rows": 0}') FROM xor;
SELECT privpred.tree(y, ARRAY[a]::float8[], '{"rounds": 3}') FROM xor;

-- Models: "missing" is declared, for trees alone.
CREATE TABLE people (id int PRIMARY KEY, age int, ward text, smoker boolean, ill boolean);
INSERT INTO people
  SELECT i, CASE WHEN i % 5 > 0 THEN i * 7 % 100 END, CASE WHEN i % 3 > 0 THEN chr(64 + i % 3) END,
		 CASE WHEN i % 7 > 0 THEN i % 2 = 0 END, i % 3 = 0 OR i % 5 = 0
	FROM generate_series(1, 4000) i;
SELECT privpred.protect('people');
\set missing '{"age": {"min": 0, "max": 110, "null": "missing"}, "ward": {"levels": ["A", "B"], "null": "missing"}, "smoker": {"null": "missing"}}'
SELECT privpred.create_model('refused', 'people', label => 'ill', features => :'missing');
SELECT privpred.create_model('refused', 'people', label => 'ill', features => '{"age": {"min": 0, "max": 1, "null": "absent"}}');
SELECT jsonb_pretty(privpred.create_model('gaps', 'people', label => 'ill', features => :'missing',
	   learner => 'tree', teachers => 11, epsilon => 5) -> 'features') AS features;
SELECT rows, private_accuracy > 0.999 AS private, majority_accuracy, baseline_accuracy FROM privpred.evaluate('gaps', 'people');
SELECT privpred.grant_budget(current_user::regrole, 'people', 1000);
-- encoded: what is missing is NULL
SELECT privpred.encode(features, NULL::int, NULL::text, NULL::boolean), privpred.encode(features, 55, 'B'::text, true),
	   privpred.encode(features, ROW(NULL::int, 'C'::text, NULL::boolean)) FROM privpred.models WHERE name = 'gaps';
-- as a row, as jsonb and as an array; NULL is missing in each
SELECT private_predict('gaps', p) FROM (SELECT NULL::int AS age, 'A'::text AS ward, true AS smoker) p;
SELECT private_predict('gaps', '{"age": 44, "ward": null, "smoker": null}'::jsonb);
SELECT private_predict('gaps', '{44,NULL,NULL,0}'::float8[]), private_predict('gaps', '{44,1,0,NULL}'::float8[]);
SELECT private_predict('gaps', '{NaN,1,0,1}'::float8[]);
SELECT private_predict('gaps', '{"age": 44, "ward": null}'::jsonb);
-- The size of what is stored does not depend on the rows.
SELECT octet_length(predictor::text) AS size FROM privpred.model WHERE name = 'gaps' \gset
SET client_min_messages = warning;
DELETE FROM people WHERE id > 1;
SELECT privpred.retrain('gaps') ->> 'version' AS version;
SELECT octet_length(predictor::text) = :size AS same_size FROM privpred.model WHERE name = 'gaps';
RESET client_min_messages;
-- and is priced by what is declared
SELECT privpred.create_model('large', 'people', label => 'ward', classes => (SELECT array_agg('c' || i) FROM generate_series(1, 100) i),
	   features => '{"smoker": {}}', learner => 'tree', teachers => 10000, options => '{"depth": 8}');

SELECT privpred.drop_model('gaps');
SET client_min_messages = warning;
DROP SCHEMA trees CASCADE;
