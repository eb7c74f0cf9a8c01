-- littlestone with more than two classes, and numbers in bins
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
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
CREATE ROLE ways_owner;
CREATE ROLE ways_analyst;
CREATE SCHEMA ways AUTHORIZATION ways_owner;
SET ROLE ways_owner;
SET search_path = ways, public;
GRANT USAGE ON SCHEMA ways TO ways_analyst;
CREATE TYPE state AS ENUM ('well', 'ill', 'worse');

-- the dimension: names, numbers and booleans are told apart and no more
CREATE TABLE by_name AS SELECT h AS hypothesis, p AS point, (enum_range(NULL::state))[1 + (h / 3 ^ (ascii(p) - 65))::int % 3] AS label FROM generate_series(0, 26) h, unnest('{A,B,C}'::text[]) p;
CREATE TABLE by_text AS SELECT hypothesis, point, label::text FROM by_name;
CREATE TABLE by_number AS SELECT hypothesis, point, array_position(enum_range(NULL::state), label) - 1 AS label FROM by_name;
CREATE TABLE by_boolean AS SELECT hypothesis, point, label = 'ill' AS label FROM by_name;
CREATE TABLE far_numbers AS SELECT hypothesis, point, 1000000007::bigint * label - 7 AS label FROM by_number;
CREATE TABLE constants AS SELECT h AS hypothesis, p AS point, h AS label FROM generate_series(1, 1000) h, generate_series(1, 3) p;
CREATE TABLE rising AS SELECT concat_ws(' ', a, b) AS hypothesis, p AS point, (p > a)::int + (p > b)::int AS label FROM generate_series(0, 16) a, generate_series(0, 16) b, generate_series(1, 16) p WHERE a <= b;
SELECT t, privpred.littlestone_dimension(t::regclass) FROM unnest('{by_name,by_text,by_number,by_boolean,far_numbers,constants,rising}'::text[]) t;
INSERT INTO constants SELECT h, p, h FROM generate_series(1001, 1001) h, generate_series(1, 3) p;
SELECT refused($c$SELECT privpred.littlestone_dimension('constants')$c$);
CREATE TABLE wide AS SELECT h AS hypothesis, p AS point, (h * p) % 997 AS label FROM generate_series(1, 997) h, generate_series(1, 600) p;
SELECT refused($c$SELECT privpred.littlestone_dimension('wide')$c$);
DROP TABLE wide;
UPDATE far_numbers SET label = NULL WHERE hypothesis = 5 AND point = 'A';
SELECT refused($c$SELECT privpred.littlestone_dimension('far_numbers')$c$);
ALTER TABLE far_numbers ALTER label TYPE float8;
SELECT refused($c$SELECT privpred.littlestone_dimension('far_numbers')$c$);

-- what never errs is learnt, of every type of label; a unit may have several rows
CREATE TABLE people (id int NOT NULL, x float8, ward text, rises state, named text, numbered int, by_ward state, amount float8);
INSERT INTO people SELECT i / 2, x, (ARRAY['A', 'B', 'C'])[1 + i % 3], CASE WHEN x < 5 THEN 'well' WHEN x < 11 THEN 'ill' ELSE 'worse' END::state, CASE WHEN x < 3 THEN 'low' WHEN x < 12 THEN 'middle' ELSE 'high' END,
  CASE WHEN x < 6.4 THEN 3 WHEN x < 12.8 THEN 4 ELSE 8 END, (ARRAY['worse', 'well', 'ill'])[1 + i % 3]::state, CASE WHEN x < 8 THEN 12 ELSE 37 + x / 16 END
FROM (SELECT i, (i * 7) % 160 / 10.0 AS x FROM generate_series(0, 39999) i) s;
SELECT privpred.protect('people', unit => 'id', declared_units => 20000);
SELECT count(privpred.grant_budget(r, 'people', epsilon => 1000, delta => 1e-3, force => true)) FROM unnest('{ways_owner,ways_analyst}'::regrole[]) r;
CREATE FUNCTION declare(model text, label text, options jsonb DEFAULT '{}', features json DEFAULT '{"x": {"min": 0, "max": 16}}', classes text[] DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
SELECT refused(format('SELECT privpred.create_model(%L, %L, label => %L, classes => %L, features => %L, mechanism => %L, epsilon => 2, options => %L)',
  model, 'ways.people', label, classes, features, 'littlestone', options)) $$;
SELECT declare('enum', 'rises');
SELECT declare('text', 'named', classes => '{low,middle,high}');
SELECT declare('ten', 'numbered', classes => '{0,1,2,3,4,5,6,7,8,9}');
SELECT declare('bins', 'amount', '{"bins": [0, 10, 20, 30, 40]}');
SELECT f, declare(f, 'by_ward', jsonb_build_object('class_table', 'ways.' || f), '{"ward": {"levels": ["C", "B", "A"]}}') FROM unnest('{by_name,by_text,by_number,by_boolean}'::text[]) f;
SET client_min_messages = error;
SELECT name, round(private_accuracy::numeric, 3) FROM unnest('{enum,text,ten,bins,by_name,by_text,by_number}'::text[]) name, privpred.evaluate(name, 'people') ORDER BY 1;
SET ROLE ways_analyst;
SELECT x, private_predict('enum', ARRAY[x]) AS enum, private_predict('text', jsonb_build_object('x', x)) AS text, private_predict('ten', r) AS ten, private_predict('bins', ARRAY[x]) AS bins, private_score('bins', ARRAY[x]) AS middle
FROM (VALUES (-1::float8), (4.9), (5), (8), (13), (20)) r (x);
SELECT class, feature, low, high FROM privpred.explain('enum');
SELECT class, feature, low FROM privpred.explain('by_name') ORDER BY low;
SELECT class, low, high FROM privpred.explain('bins');
RESET ROLE;
SET ROLE ways_owner;
SELECT name, privpred.export_model(name) #> '{predictor,labels}' AS labels FROM unnest('{enum,ten,by_text}'::text[]) name;
SELECT charge_kind, count(*) FROM privpred.models WHERE relation = 'people'::regclass GROUP BY 1;
SELECT model, count(*), sum(delta) AS delta FROM privpred.ledger WHERE model IN ('enum', 'ten') AND epsilon > 0 GROUP BY 1 ORDER BY 1;
SELECT verdict, count(*) FROM privpred.audit('ten') GROUP BY 1;
SELECT m ->> 'model' AS model, m -> 'version' AS version FROM privpred.forget('people', 1, delete_rows => true) f, jsonb_array_elements(f -> 'models') m ORDER BY 1;
-- the state's size, and what is refused, depend on declarations alone
RESET ROLE;
CREATE TEMP TABLE size AS SELECT name, length(state) AS bytes FROM privpred.model WHERE name IN ('enum', 'ten', 'by_name');
SET ROLE ways_owner;
UPDATE people SET x = CASE WHEN id % 7 > 0 THEN x END, ward = CASE WHEN id % 5 > 0 THEN ward END, rises = (enum_range(NULL::state))[1 + id % 4], numbered = id % 12;
SELECT name, privpred.retrain(name) -> 'version' AS version FROM unnest('{by_name,enum,ten}'::text[]) name;
DELETE FROM people;
SELECT name, privpred.retrain(name) -> 'version' AS version FROM unnest('{by_name,enum,ten}'::text[]) name;
RESET ROLE;
SELECT name, length(state) = bytes AS same FROM privpred.model JOIN size USING (name) ORDER BY name;
SET ROLE ways_owner;
SELECT declare('refused', 'numbered', '{"points": 6}', classes => '{0,1,2,3,4,5,6,7,8,9}');
SELECT declare('refused', 'numbered', classes => (SELECT array_agg(c::text) FROM generate_series(1, 91) c));
SELECT declare('refused', 'amount', '{"target": {"min": 0, "max": 40}}');
UPDATE by_number SET label = 3 WHERE hypothesis = 5 AND point = 'A';
SELECT declare('refused', 'by_ward', '{"class_table": "ways.by_number"}', '{"ward": {"levels": ["C", "B", "A"]}}');
SET maintenance_work_mem = '1MB';
SELECT split_part(declare('refused', 'numbered', classes => '{0,1,2,3,4,5,6,7,8,9}'), ' ', 1);
RESET maintenance_work_mem;
SELECT mechanism, why FROM privpred.plan(1000000, 1, 3, 1, delta => 1e-6) WHERE mechanism = 'littlestone';

RESET ROLE;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA ways CASCADE;
DROP OWNED BY ways_owner, ways_analyst;
DROP ROLE ways_owner, ways_analyst;
DROP FUNCTION refused;
