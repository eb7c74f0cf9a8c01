-- Labels that are numbers: stable_erm, and votes on bins; stable_erm for classes.
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
CREATE ROLE numbers_owner;
CREATE ROLE numbers_analyst;
CREATE SCHEMA numbers AUTHORIZATION numbers_owner;
SET ROLE numbers_owner;
-- a price of 1000 a square metre and 20000 a room; one house in a hundred is a palace
CREATE TABLE numbers.houses (id int PRIMARY KEY, area float8, rooms int, sold boolean, price float8);
INSERT INTO numbers.houses
SELECT i, 50 + (i * 37) % 151, 1 + (i * 7) % 8, (i * 37) % 151 > 75,
  CASE WHEN i % 100 = 0 THEN 1e9 ELSE 1000 * (50 + (i * 37) % 151) + 20000 * (1 + (i * 7) % 8) END
FROM generate_series(1, 4000) i;

-- the declared size is needed, and says so
SELECT privpred.protect('numbers.houses');
SELECT refused($c$SELECT privpred.create_model('price', 'numbers.houses', label => 'price', features => '{"area": {"min": 50, "max": 200}, "rooms": {"min": 1, "max": 8}}',
  mechanism => 'stable_erm', options => '{"target": {"min": 0, "max": 500000}}')$c$);
SELECT privpred.protect('numbers.houses', declared_units => 4000);
SELECT privpred.create_model('price', 'numbers.houses', label => 'price', features => '{"area": {"min": 50, "max": 200}, "rooms": {"min": 1, "max": 8}}',
  mechanism => 'stable_erm', epsilon => 1, options => '{"target": {"min": 0, "max": 500000}}') - '{features,relation}'::text[] AS card;
SELECT rows, private_accuracy, majority_accuracy, baseline_accuracy, approximate_accuracy, private_rmse < 50000 AS private, approximate_rmse > private_rmse AS noisier,
  plain_rmse < private_rmse AS plain, baseline_rmse BETWEEN 60000 AND 80000 AS baseline
FROM privpred.evaluate('price', 'numbers.houses');
-- palaces count as their bound; without them the fit is near
CREATE TABLE numbers.ordinary AS SELECT * FROM numbers.houses WHERE price < 1e9;
SELECT rows, private_rmse < 12000 AS private, plain_rmse < 8000 AS plain FROM privpred.evaluate('price', 'numbers.ordinary');

-- squared loss in a ball; classes by their margin; bins of the number
SELECT privpred.create_model('price, squared', 'numbers.houses', label => 'price', features => '{"area": {"min": 50, "max": 200}, "rooms": {"min": 1, "max": 8}}',
  mechanism => 'stable_erm', epsilon => 1, options => '{"target": {"min": 0, "max": 500000}, "loss": "squared", "radius": 0.8, "lambda": 0.05, "grid": 1000}') -> 'options' AS options;
SELECT rows, private_rmse < 30000 AS private, plain_rmse < 25000 AS plain FROM privpred.evaluate('price, squared', 'numbers.ordinary');
SELECT privpred.create_model('sold', 'numbers.houses', label => 'sold', features => '{"area": {"min": 50, "max": 200}, "rooms": {"min": 1, "max": 8}}',
  mechanism => 'stable_erm', epsilon => 1) -> 'classes' AS classes;
SELECT rows, private_accuracy > 0.9 AS private, majority_accuracy > private_accuracy AS plain, private_accuracy > approximate_accuracy AS noisier, private_rmse
FROM privpred.evaluate('sold', 'numbers.houses');
SELECT privpred.create_model('price, bins', 'numbers.houses', label => 'price', features => '{"area": {"min": 50, "max": 200}, "rooms": {"min": 1, "max": 8}}',
  learner => 'naive_bayes', teachers => 20, epsilon => 4, options => '{"bins": [0, 100000, 200000, 300000, 400000]}') -> 'classes' AS classes;
SELECT rows, private_accuracy > 0.7 AS private, private_rmse < 50000 AS private_rmse, abs(plain_rmse - approximate_rmse) < 1000 AS hardly_noisy, baseline_rmse > 60000 AS baseline
FROM privpred.evaluate('price, bins', 'numbers.ordinary');

-- the analyst
SELECT privpred.grant_budget('numbers_analyst', 'numbers.houses', epsilon => 1000);
SET ROLE numbers_analyst;
-- noise of scale s/epsilon: 100 answers' mean is within 30000 but for one case in a billion
SELECT abs(avg(private_score('price', ARRAY[100.0, 4])) - 180000) < 30000 AS near, count(DISTINCT private_score('price', ARRAY[100.0, 4])) > 30 AS noisy FROM generate_series(1, 100);
SELECT bool_and(s BETWEEN 0 AND 500000 AND s = 1000 * round(s / 1000)) AS on_the_grid
FROM (SELECT private_score('price, squared', '{"area": 200, "rooms": 8}'::jsonb) AS s FROM generate_series(1, 20)) t;
SELECT bool_and(private_score('sold', ARRAY[a, 4]) BETWEEN 0 AND 1) AS shares, count(DISTINCT private_predict('sold', ARRAY[a, 4])) AS answers
FROM generate_series(50.0, 200, 10) a;
SELECT private_predict('price, bins', ARRAY[100.0, 2]) AS bin, private_score('price, bins', ARRAY[190.0, 8]) AS middle;
SELECT refused($c$SELECT private_predict('price', ARRAY[100.0, 4])$c$);
SELECT refused($c$SELECT private_score('price', ARRAY[100.0, 4], 10)$c$);
SELECT refused($c$SELECT private_score('price, bins', ARRAY[100.0, 4], 10)$c$);
SELECT refused($c$SELECT private_score('price', ARRAY[100.0, 'NaN'])$c$);
SELECT epsilon, fits FROM privpred.cost('price', 3);

-- with delta: Gaussian noise, charged as a draw of bounded range is
SET ROLE numbers_owner;
SELECT privpred.revoke_budget('numbers_analyst', 'numbers.houses');
SELECT name, charge, pure_charge FROM privpred.models WHERE name LIKE 'price%' ORDER BY name COLLATE "C";
CREATE TABLE numbers.more AS TABLE numbers.houses;
ALTER TABLE numbers.more ADD PRIMARY KEY (id);
SELECT privpred.protect('numbers.more', declared_units => 4000);
SELECT privpred.create_model('price, more', 'numbers.more', label => 'price', features => '["sold"]', mechanism => 'stable_erm', epsilon => 0.1,
  options => '{"target": {"min": 0, "max": 500000}}') -> 'version' AS version;
SELECT privpred.grant_budget('numbers_analyst', 'numbers.more', epsilon => 1, delta => 1e-6);
SET ROLE numbers_analyst;
SELECT private_score('price, more', ARRAY[1.0]) BETWEEN 0 AND 500000 AS answered;
SELECT answers_left, round(renyi_order::numeric, 3) AS renyi_order FROM privpred.budgets WHERE delta_limit > 0;
SELECT mechanism, answers, round(renyi_order::numeric, 3) AS renyi_order FROM unnest('{stable_erm,vote}'::text[]) mechanism, privpred.answers_for(1, 1e-6, 0.1, mechanism);

-- a page with models that have no learner, and no classes
SELECT privpred.report() LIKE '%<dt>mechanism</dt><dd>stable_erm</dd>%' AS reported;

-- scores of a stream have no accuracy
RESET ROLE;
SELECT privpred.create_model('sold, soft', 'numbers.houses', label => 'sold', features => '["rooms"]', mechanism => 'soft', teachers => 4) -> 'version' AS version;
SELECT refused($c$SELECT privpred.evaluate('sold, soft', 'numbers.houses')$c$);

-- what is refused, all of it from the declaration
SET ROLE numbers_owner;
CREATE FUNCTION numbers.declared(label name, options jsonb, classes text[] DEFAULT NULL, mechanism text DEFAULT 'stable_erm', epsilon float8 DEFAULT 1) RETURNS text LANGUAGE sql AS $f$
SELECT refused(format('SELECT privpred.create_model(''x'', ''numbers.houses'', label => %L, features => ''["sold"]'', mechanism => %L, epsilon => %s, classes => %L, options => %L)',
  label, mechanism, epsilon, classes, options)) $f$;
SELECT numbers.declared('rooms', '{}', '{1,2}', epsilon => 0.00001);
SELECT numbers.declared('rooms', '{"loss": "huber"}', '{1,2}');
SELECT numbers.declared('rooms', '{"huber": 1}', '{1,2}');
SELECT numbers.declared('rooms', '{"loss": "logistic", "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"radius": 1, "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"loss": "squared", "huber": 1, "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"lambda": 0, "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"lambda": "much", "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"norm": -1, "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"tolerance": 2, "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"grid": 1e-9, "lambda": 0.001, "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"cost": 1, "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"target": {"min": 1, "max": 8}}', mechanism => 'vote');
SELECT numbers.declared('rooms', '{"target": {"min": 8, "max": 1}}');
SELECT numbers.declared('rooms', '{"target": {"min": 1}}');
SELECT numbers.declared('rooms', '{"target": 8}');
SELECT numbers.declared('rooms', '{"bins": [1, 2, 2]}', mechanism => 'vote');
SELECT numbers.declared('rooms', '{"bins": [1, 8]}', mechanism => 'vote');
SELECT numbers.declared('rooms', '{"bins": "many"}', mechanism => 'vote');
SELECT numbers.declared('rooms', '{"bins": [1, 2, 3], "target": {"min": 1, "max": 8}}');
SELECT numbers.declared('rooms', '{"bins": [1, 2, 3]}', '{1,2}');

SELECT privpred.grant_budget('numbers_analyst', 'numbers.houses', epsilon => 1000);
-- bins outlive a new version; values outside count as the outer bins
UPDATE numbers.houses SET price = -5 WHERE rooms = 1;
SELECT privpred.retrain('price, bins') -> 'version' AS version;
SET ROLE numbers_analyst;
SELECT private_predict('price, bins', ARRAY[200.0, 1]) AS lowest_now, private_score('price, bins', ARRAY[200.0, 8]) AS highest;
SET ROLE numbers_owner;

-- empty, one row, garbage, 10,000 rows: the same control flow, the same sizes
CREATE TABLE numbers.any (id int NOT NULL, x float8, z text, y float8, c text);
SELECT privpred.protect('numbers.any', unit => 'id', declared_units => 1000);
RESET ROLE;
SELECT privpred.grant_budget(current_user::regrole, 'numbers.any', epsilon => 100000);
CREATE FUNCTION numbers.flow(label text, classes text, options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  result := concat_ws(' ', label, options, refused(format('SELECT privpred.create_model(''any'', ''numbers.any'', label => %L, classes => %L,
      features => ''{"x": {"min": 0, "max": 1}, "z": {"levels": ["a", "b"]}}'', mechanism => ''stable_erm'', epsilon => 20, options => %L)', label, classes, options)),
    privpred.retrain('any') ->> 'version',
    private_score('any', ARRAY[0.5, 1, 0]) BETWEEN 0 AND 1,
    refused('SELECT private_predict(''any'', ARRAY[0.5, 1, 0])'),
    refused('SELECT private_score(''any'', ARRAY[0.5, 1])'),
    (SELECT concat_ws(' ', epsilon, fits) FROM privpred.cost('any', 2)));
  result := concat_ws(' ', result, (SELECT length(state) FROM privpred.model WHERE name = 'any'), 'bytes');
  PERFORM privpred.drop_model('any');
  RETURN result;
END $$;
CREATE TABLE numbers.seen (rows text, flow text);
CREATE PROCEDURE numbers.look(rows text) LANGUAGE sql AS $p$
INSERT INTO numbers.seen SELECT rows, numbers.flow(f.label, f.classes, f.options)
FROM (VALUES ('y', NULL, '{"target": {"min": 0, "max": 1}}'), ('y', NULL, '{"loss": "squared", "target": {"min": 0, "max": 1}}'), ('c', '{no,yes}', '{}')) f (label, classes, options) $p$;
CALL numbers.look('none');
INSERT INTO numbers.any VALUES (1, 0.3, 'a', 0.9, 'yes');
CALL numbers.look('one');
INSERT INTO numbers.any VALUES (1, 'NaN', 'b', 'Infinity', 'perhaps'), (2, '-Infinity', NULL, 'NaN', NULL), (3, NULL, 'c', NULL, 'no'), (4, 1e308, 'a', -1e308, 'no');
CALL numbers.look('garbage');
INSERT INTO numbers.any SELECT i % 3000, (i % 97) / 96.0, CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END, (i % 89) / 88.0, CASE WHEN i % 97 > 50 THEN 'yes' ELSE 'no' END FROM generate_series(1, 10000) i;
CALL numbers.look('10,000');
SELECT flow, count(DISTINCT rows) AS tables FROM numbers.seen GROUP BY flow ORDER BY flow;

-- rows that do not fit into memory are scanned again and again, to the same end
SET ROLE numbers_owner;
CREATE TABLE numbers.wide AS SELECT i AS id, (i * 31 % 101) / 100.0::float8 AS a, (i * 57 % 103) / 102.0::float8 AS b, i % 2 = 0 AS c, repeat('x', i % 7) AS w,
  (i * 31 % 101) / 200.0::float8 + (i * 57 % 103) / 204.0 AS y FROM generate_series(1, 12000) i;
ALTER TABLE numbers.wide ADD PRIMARY KEY (id);
SELECT privpred.protect('numbers.wide', declared_units => 12000);
CREATE FUNCTION numbers.wide_model(name text) RETURNS void LANGUAGE sql AS $f$
SELECT privpred.create_model(name, 'numbers.wide', label => 'y', mechanism => 'stable_erm',
  features => '{"a": {"min": 0, "max": 1}, "b": {"min": 0, "max": 1}, "c": {}, "w": {"levels": ["", "x", "xx", "xxx", "xxxx", "xxxxx", "xxxxxx"]}}',
  options => '{"target": {"min": 0, "max": 1}, "norm": 1.5}') $f$;
SELECT numbers.wide_model('kept');
SET maintenance_work_mem = '1MB';
SELECT numbers.wide_model('scanned');
RESET maintenance_work_mem;
SELECT plain_rmse < 0.1 AS learnt FROM privpred.evaluate('kept', 'numbers.wide');
RESET ROLE;
SELECT abs(k.plain_rmse - s.plain_rmse) < 1e-6 AS the_same FROM privpred.evaluate('kept', 'numbers.wide') k, privpred.evaluate('scanned', 'numbers.wide') s;

-- a damaged state is noticed
CREATE FUNCTION numbers.damaged(damage text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE privpred.model SET state = %s, version = version + 1 WHERE name = ''kept''', damage);
  RETURN refused('SELECT privpred.evaluate(''kept'', ''numbers.wide'')');
END $$;
SELECT count(*) AS cached FROM privpred.evaluate('scanned', 'numbers.wide');
\c -
SELECT numbers.damaged($d$substr(state, 1, 20)$d$);
SELECT numbers.damaged($d$overlay(state PLACING '\x00' FROM 1)$d$);
SELECT numbers.damaged($d$(SELECT overlay(s.state PLACING '\x7ff8000000000000' FROM 5) FROM privpred.model s WHERE s.name = 'scanned')$d$);
SELECT numbers.damaged($d$(SELECT overlay(s.state PLACING '\x7fe0000000000000' FROM 5) FROM privpred.model s WHERE s.name = 'scanned')$d$);

SET client_min_messages = warning;
DROP SCHEMA numbers CASCADE;
DROP FUNCTION refused;
DROP OWNED BY numbers_owner, numbers_analyst;
DROP ROLE numbers_owner, numbers_analyst;
