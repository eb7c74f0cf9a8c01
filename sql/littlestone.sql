-- littlestone: a hypothesis that many batches agree on, released
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
CREATE ROLE littlestone_owner;
CREATE SCHEMA littlestone AUTHORIZATION littlestone_owner;
SET ROLE littlestone_owner;
SET search_path = littlestone, public;

-- the dimension of a class on its own
CREATE TABLE thresholds AS SELECT h AS hypothesis, p AS point, p >= h AS label FROM generate_series(1, 17) h, generate_series(1, 16) p;
CREATE TABLE singletons AS SELECT 'only ' || h AS hypothesis, 'p' || p AS point, (h = p)::int AS label FROM generate_series(0, 12) h, generate_series(1, 12) p;
CREATE TABLE labellings AS SELECT h AS hypothesis, p AS point, h >> p & 1 AS label FROM generate_series(0, 255) h, generate_series(0, 7) p;
CREATE TABLE constant AS SELECT h AS hypothesis, p AS point, true AS label FROM generate_series(1, 3) h, generate_series(1, 3) p;
SELECT privpred.littlestone_dimension('thresholds') AS thresholds, privpred.littlestone_dimension('singletons') AS singletons,
  privpred.littlestone_dimension('labellings') AS labellings, privpred.littlestone_dimension('constant') AS constant;
CREATE TABLE large AS SELECT h AS hypothesis, p AS point, p >= h AS label FROM generate_series(1, 1025) h, generate_series(1, 1024) p;
SELECT privpred.littlestone_dimension('large');
DROP TABLE large;
CREATE TABLE bad (hypothesis text, point text, label int);
SELECT refused($c$SELECT privpred.littlestone_dimension('bad')$c$);
INSERT INTO bad VALUES ('a', 'x', 1), ('a', 'y', 0), ('b', 'x', 1);
SELECT refused($c$SELECT privpred.littlestone_dimension('bad')$c$);
INSERT INTO bad VALUES ('b', 'x', 1);
SELECT refused($c$SELECT privpred.littlestone_dimension('bad')$c$);
UPDATE bad SET point = 'y', label = 2 WHERE ctid = (SELECT max(ctid) FROM bad);
SELECT refused($c$SELECT privpred.littlestone_dimension('bad')$c$);
UPDATE bad SET label = NULL WHERE label = 2;
SELECT refused($c$SELECT privpred.littlestone_dimension('bad')$c$);
UPDATE bad SET label = 0, hypothesis = repeat('b', 64) WHERE label IS NULL;
SELECT refused($c$SELECT privpred.littlestone_dimension('bad')$c$);
SELECT refused($c$SELECT privpred.littlestone_dimension('pg_class')$c$);
ALTER TABLE bad ALTER label TYPE text;
SELECT refused($c$SELECT privpred.littlestone_dimension('bad')$c$);
RESET ROLE;
CREATE TABLE littlestone.not_for_owner AS SELECT 1 AS hypothesis, 1 AS point, 1 AS label;
CREATE TABLE littlestone.too_many AS SELECT 1 AS hypothesis, p AS point, 1 AS label FROM generate_series(1, 1025) p;
ALTER TABLE littlestone.too_many OWNER TO littlestone_owner;
SET ROLE littlestone_owner;
SELECT refused($c$SELECT privpred.littlestone_dimension('not_for_owner')$c$);
SELECT refused($c$SELECT privpred.littlestone_dimension('too_many')$c$);

-- a realizable target over 16 points, and one of a class of VC dimension 1
CREATE TABLE people (id int PRIMARY KEY, x float8, grade text, high boolean, odd boolean);
INSERT INTO people SELECT i, x, 'p' || 1 + x % 12, x >= 11, x % 12 = 4 FROM (SELECT i, (i * 7) % 16 AS x FROM generate_series(1, 20000) i) s;
SELECT privpred.protect('people');
CREATE FUNCTION declare(options jsonb DEFAULT '{}', features json DEFAULT '{"x": {"min": 0, "max": 16}}', label text DEFAULT 'high',
  classes text[] DEFAULT NULL, epsilon float8 DEFAULT 1, model text DEFAULT 'refused') RETURNS text LANGUAGE sql AS $$
SELECT refused(format('SELECT privpred.create_model(%L, %L, label => %L, classes => %L, features => %L, mechanism => %L, epsilon => %s, options => %L)',
  model, 'littlestone.people', label, classes, features, 'littlestone', epsilon, options)) $$;
SELECT declare();
SELECT privpred.protect('people', declared_units => 20000);
SELECT declare(model => 'thresholds', options => '{"class": "thresholds", "points": 16}');
SELECT declare(model => 'coarse', options => '{"points": 4, "batches": 300, "delta": 1e-6}', epsilon => 2);
SELECT declare(model => 'singletons', options => '{"class_table": "littlestone.singletons"}', label => 'odd',
  features => (SELECT json_build_object('grade', json_build_object('levels', json_agg('p' || p))) FROM generate_series(1, 12) p));
SELECT name, round(private_accuracy::numeric, 3) FROM unnest('{coarse,singletons,thresholds}'::text[]) name, privpred.evaluate(name, 'people') ORDER BY 1;
-- who has no delta cannot pay; others pay once
SELECT privpred.grant_budget('littlestone_owner', 'people', epsilon => 1000);
SELECT refused($c$SELECT private_predict('thresholds', ARRAY[1.0])$c$);
SELECT privpred.grant_budget('littlestone_owner', 'people', epsilon => 1000, delta => 1e-3);
SELECT x, private_predict('thresholds', ARRAY[x]) FROM unnest(ARRAY[-1, 0, 10.9, 11, 16, 20]::float8[]) x;
SELECT private_predict('singletons', '{"grade": "p5"}'::jsonb), private_predict('singletons', '{"grade": "p6"}'::jsonb);
SELECT charge_kind FROM privpred.models WHERE name = 'thresholds';
SELECT kind, model, count(*), sum(delta) AS delta FROM privpred.ledger WHERE model IS NOT NULL AND epsilon > 0 GROUP BY kind, model ORDER BY 1, 2;

-- refusals, from declared numbers alone
SELECT declare(classes => '{true,false,NULL}');
SELECT declare('{"class": "intervals"}');
SELECT declare('{"points": 1}');
SELECT declare('{"points": 2000}');
SELECT declare('{"batches": 60}');
SELECT declare('{"batches": 50000}');
SELECT declare('{"delta": 0}');
SELECT declare('{"class_table": "littlestone.singletons", "points": 3}',
  features => (SELECT json_build_object('grade', json_build_object('levels', json_agg('p' || p))) FROM generate_series(1, 12) p));
SELECT declare(epsilon => 0.001);
SELECT declare(features => '{"grade": {"levels": ["p1", "p2"]}}');
SELECT declare('{"class_table": "littlestone.singletons"}');
SELECT declare('{"class_table": "littlestone.singletons"}', features => '{"grade": {"levels": ["p1", "p2"]}}');
SELECT declare('{"class_table": "littlestone.singletons"}',
  features => (SELECT json_build_object('grade', json_build_object('levels', json_agg('q' || p))) FROM generate_series(1, 12) p));
SELECT declare('{"class_table": "singletons"}');
SELECT declare('{"class_table": "littlestone.people"}');
SELECT declare('{"class_table": "littlestone.not_for_owner"}');
SELECT split_part(declare('{"accuracy": 0.1}'), ' | ', 2);

-- empty, one row, ten thousand: the same but for the answers
CREATE TABLE empty (LIKE people INCLUDING ALL);
CREATE TABLE one (LIKE people INCLUDING ALL);
INSERT INTO one SELECT * FROM people LIMIT 1;
CREATE TABLE many (LIKE people INCLUDING ALL);
INSERT INTO many SELECT * FROM people WHERE id <= 10000;
SELECT count(privpred.protect(t::regclass, declared_units => 10000)) FROM unnest('{empty,one,many}'::text[]) t;
SELECT count(privpred.grant_budget('littlestone_owner', t::regclass, epsilon => 100, delta => 1e-3)) FROM unnest('{empty,one,many}'::text[]) t;
SELECT privpred.create_model(t, t::regclass, label => 'high', features => '{"x": {"min": 0, "max": 16}}', mechanism => 'littlestone', epsilon => 1) - 'name' - 'relation' AS card
FROM unnest('{empty,one,many}'::text[]) t;
SELECT t, private_predict(t, ARRAY[3.0]) IN ('true', 'false') AS answered FROM unnest('{empty,one,many}'::text[]) t;
RESET ROLE;
SELECT count(DISTINCT length(state)) AS sizes FROM privpred.model WHERE name IN ('empty', 'one', 'many');
SET ROLE littlestone_owner;
-- labels that no hypothesis explains, and rows that cannot be used
UPDATE many SET high = CASE id % 3 WHEN 0 THEN true WHEN 1 THEN false END, x = CASE WHEN id % 7 > 0 THEN x END;
SELECT privpred.retrain('many') -> 'version' AS version;

RESET ROLE;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA littlestone CASCADE;
DROP OWNED BY littlestone_owner;
DROP ROLE littlestone_owner;
DROP FUNCTION refused;
