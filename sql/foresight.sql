-- What is foreseen of a statement is never wrong in the way that hurts: the plan that runs is looked at, and
-- where the planner had nothing but a guess, the least that may be counts.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
DO $$ BEGIN PERFORM privpred.verify_ledger(incremental => true); END $$;	-- so that what follows looks at the rest alone
CREATE ROLE fs_owner;
CREATE ROLE fs_analyst;
CREATE SCHEMA fs AUTHORIZATION fs_owner;
CREATE SCHEMA fs_mine AUTHORIZATION fs_analyst;
SET privpred.repeat_memory = 0;
SET ROLE fs_owner;
CREATE TABLE fs.people (id int PRIMARY KEY, x float8 NOT NULL, y text NOT NULL);
INSERT INTO fs.people SELECT i, i / 1000.0, CASE WHEN i > 500 THEN 'yes' ELSE 'no' END FROM generate_series(1, 1000) i;
SELECT privpred.protect('fs.people', declared_units => 1000);
SELECT FROM privpred.create_model('fs', 'fs.people', label => 'y', classes => '{no,yes}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'vote', epsilon => 0.1);
SELECT privpred.grant_budget('fs_analyst', 'fs.people', epsilon => 10);
SET ROLE fs_analyst;
SET search_path = fs_mine, public;
CREATE TABLE items (id int PRIMARY KEY, x float8 NOT NULL, y text, part int NOT NULL);
INSERT INTO items SELECT i, i / 9000.0, 'no' || i, i % 20 FROM generate_series(1, 9000) i;
CREATE TABLE others (id int PRIMARY KEY, part int NOT NULL);
INSERT INTO others SELECT i, i FROM generate_series(1, 900) i;
ANALYZE items;
ANALYZE others;
CREATE FUNCTION fs_left() RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM privpred.verify_ledger(incremental => true);
	RETURN (SELECT answers_left FROM privpred.cost('fs'));
END $$;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY terse

-- A statement that changes what names mean, while it runs, is not planned again: three answers each, and none if there would be too many.
CREATE TABLE kept AS SELECT set_config('search_path', 'public', false) AS path, private_predict('fs', i) IS NULL AS n FROM items i LIMIT 3;
SET search_path = fs_mine, public;
SELECT * FROM kept;
COPY (SELECT set_config('search_path', 'public', false), private_predict('fs', i) IS NULL FROM items i LIMIT 3) TO STDOUT;
SET search_path = fs_mine, public;
-- (18 counts rows in hundredths)
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT set_config('search_path', 'public', false), private_predict('fs', i) FROM items i LIMIT 3 \g | sed 's/\.00 / /'
SET search_path = fs_mine, public;
SELECT fs_left();
CREATE TABLE kept2 AS SELECT set_config('search_path', 'public', false), private_predict('fs', i) FROM items i;
COPY (SELECT set_config('search_path', 'public', false), private_predict('fs', i) FROM items i) TO STDOUT;
EXPLAIN (ANALYZE, COSTS OFF) SELECT set_config('search_path', 'public', false), private_predict('fs', i) FROM items i;
-- the same in a function with a path of its own
CREATE FUNCTION keep_some() RETURNS bigint LANGUAGE plpgsql SET search_path = fs_mine AS $$
BEGIN
	CREATE TABLE kept3 AS SELECT set_config('search_path', 'pg_catalog', true), public.private_predict('fs', i) FROM items i LIMIT 3;
	RETURN (SELECT count(*) FROM fs_mine.kept3);
END $$;
SELECT keep_some();
SELECT fs_left();
-- Several statements of a rule are looked at one by one.
CREATE TABLE asked (n boolean);
CREATE TABLE door (n int);
CREATE RULE door AS ON INSERT TO door DO INSTEAD (INSERT INTO asked SELECT private_predict('fs', ARRAY[0.5]) IS NULL;
	INSERT INTO asked SELECT private_predict('fs', i) IS NULL FROM items i);
\set VERBOSITY sqlstate
INSERT INTO door VALUES (1);
\set VERBOSITY terse
SELECT fs_left();

--
-- Guesses.  Each of these takes three answers, and the planner expects hundreds.
--
CREATE FUNCTION same(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN i; END';
CREATE TABLE statements (n serial, statement text);
INSERT INTO statements (statement) VALUES
($$SELECT count(private_predict('fs', i)) FROM items i WHERE same(id) <= 3$$),
($$SELECT count(private_predict('fs', i)) FROM items i WHERE id + 0 <= 3$$),
($$SELECT count(private_predict('fs', i)) FROM items i WHERE length(y) > 2 AND same(id) < 4$$),
($$SELECT count(private_predict('fs', i)) FROM items i WHERE same(id) BETWEEN 1 AND 3 OR id < 2$$),
($$SELECT count(private_predict('fs', i)) FROM items i WHERE (SELECT same(i.id)) <= 3$$),
($$SELECT count(private_predict('fs', i)) FROM (SELECT * FROM items OFFSET 0) i WHERE same(id) <= 3$$),
($$WITH i AS MATERIALIZED (SELECT * FROM items) SELECT count(private_predict('fs', ARRAY[i.x])) FROM i WHERE i.id <= 3$$),
($$SELECT count(private_predict('fs', i)) FROM items i JOIN others o ON same(i.id) = o.id AND same(o.part) < 4$$),
($$SELECT count(private_predict('fs', i)) FROM items i JOIN others o ON i.id = o.id WHERE same(o.part) < 4$$),
($$SELECT count(private_predict('fs', i)) FROM items i WHERE id IN (SELECT id FROM others WHERE same(part) < 4)$$),
($$SELECT count(*) FROM (SELECT same(part) % 3 FROM items GROUP BY 1 HAVING private_predict('fs', ARRAY[1]) <> 'maybe') s$$),
($$SELECT count(private_predict('fs', ARRAY[p])) FROM (SELECT DISTINCT same(part) % 3 AS p FROM items) s$$),
($$SELECT count(*) FROM items i WHERE same(id) <= 3 AND private_predict('fs', i) IS NOT NULL$$);
SELECT statement, 'SELECT fs_left()' FROM statements ORDER BY n \gexec
-- the planner's own number is what cost_of says
SELECT answers > 1000 FROM privpred.cost_of($$SELECT private_predict('fs', i) FROM items i WHERE same(id) <= 3$$);
-- a generic plan does not know the value
SET plan_cache_mode = force_generic_plan;
PREPARE up_to(int) AS SELECT count(private_predict('fs', i)) FROM items i WHERE id <= $1;
EXECUTE up_to(3);
SET plan_cache_mode = force_custom_plan;
EXECUTE up_to(3);
SELECT fs_left();
EXECUTE up_to(3000);
RESET plan_cache_mode;
SELECT fs_left();
-- What is more than a guess is still refused, with or without something that is not.
TRUNCATE statements;
INSERT INTO statements (statement) VALUES
($$SELECT private_predict('fs', i) FROM items i WHERE id <= 900$$),
($$SELECT private_predict('fs', i) FROM items i WHERE part IN (1, 2, 3)$$),
($$SELECT private_predict('fs', i) FROM items i WHERE part <> 1 AND y IS NOT NULL AND NOT id > 5000$$),
($$SELECT private_predict('fs', i) FROM items i WHERE 900 >= id$$),
($$SELECT private_predict('fs', i) FROM items i JOIN others o USING (id)$$),
($$SELECT private_predict('fs', i) FROM items i JOIN others o ON i.part = o.part$$),
($$SELECT private_predict('fs', i) FROM items i WHERE EXISTS (SELECT FROM others o WHERE o.id = i.id)$$),
($$SELECT id FROM items i WHERE id <= 900 AND private_predict('fs', i) = 'yes'$$),
($$SELECT private_predict('fs', ARRAY[id]), count(*) FROM others GROUP BY id$$),
($$SELECT private_predict('fs', ARRAY[id]) FROM (SELECT id FROM others UNION SELECT id FROM items) s$$),
($$SELECT private_predict('fs', i), (SELECT same(1)) FROM items i ORDER BY same(id)$$);
SELECT statement FROM statements ORDER BY n \gexec
SELECT fs_left();
-- A table that nobody has analyzed: what its pages must hold counts.  Here are 40 wide rows, and the planner expects thousands.
CREATE TABLE wide (id int, x float8, a text, b text) WITH (autovacuum_enabled = off);
ALTER TABLE wide ALTER a SET STORAGE PLAIN, ALTER b SET STORAGE PLAIN;
INSERT INTO wide SELECT i, i / 60.0, repeat('a', 900), repeat('b', 900) FROM generate_series(1, 40) i;
SELECT answers > 500 FROM privpred.cost_of($$SELECT private_predict('fs', w) FROM wide w LIMIT 2000$$);
SELECT reltuples FROM pg_class WHERE oid = 'wide'::regclass;
CREATE TABLE narrow (id int, x float8) WITH (autovacuum_enabled = off);
INSERT INTO narrow SELECT i, i / 9000.0 FROM generate_series(1, 9000) i;
SELECT private_predict('fs', n) FROM narrow n;
SELECT count(private_predict('fs', w)) FROM wide w LIMIT 1;
SELECT fs_left();

-- Models that one budget pays for are added up, also those of other tables about the same units; others are not.
RESET ROLE;
SET search_path = public;
SET ROLE fs_owner;
CREATE TABLE fs.visits (id int PRIMARY KEY, x float8 NOT NULL, y text NOT NULL);
INSERT INTO fs.visits SELECT * FROM fs.people;
CREATE TABLE fs.apart (id int PRIMARY KEY, x float8 NOT NULL, y text NOT NULL);
INSERT INTO fs.apart SELECT * FROM fs.people;
DO $$ BEGIN PERFORM privpred.protect('fs.visits', same_units_as => 'fs.people', declared_units => 1000), privpred.protect('fs.apart', declared_units => 1000); END $$;
SELECT count(privpred.create_model('fs_' || t, ('fs.' || t)::regclass, label => 'y', classes => '{no,yes}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'vote', epsilon => 0.1)) FROM unnest('{visits,apart}'::text[]) t;
SELECT FROM privpred.create_model('fs_dear', 'fs.people', label => 'y', classes => '{no,yes}', teachers => 9,
	features => '{"x": {"min": 0, "max": 1}}', mechanism => 'vote', epsilon => 0.4);
DO $$ BEGIN PERFORM privpred.grant_budget('fs_analyst', t::regclass, epsilon => 20) FROM unnest('{fs.people,fs.apart}'::text[]) t; END $$;
SET ROLE fs_analyst;
SET search_path = fs_mine, public;
CREATE FUNCTION cost_of_models(cond text, VARIADIC models text[]) RETURNS TABLE (model text, answers bigint, answers_left bigint, fits boolean) LANGUAGE sql AS $$
	SELECT c.model, c.answers, c.answers_left, c.fits FROM privpred.cost_of('SELECT ' || (SELECT string_agg(format('private_predict(%L, ARRAY[i.x])', m), ', ') FROM unnest(models) m)
		|| ' FROM items i WHERE i.' || cond) c ORDER BY 1 $$;
SELECT answers_left > 0 AS "left" FROM privpred.cost('fs');
SELECT answers_left * 6 / 10 AS half, answers_left * 15 / 10 AS more FROM privpred.cost('fs') \gset
SELECT model, fits FROM cost_of_models('id <= ' || :half, 'fs');
SELECT model, fits FROM cost_of_models('id <= ' || :half, 'fs', 'fs_visits');
SELECT model, fits FROM cost_of_models('id <= ' || :half, 'fs', 'fs_apart');
SELECT model, fits FROM cost_of_models('id <= ' || :half / 8, 'fs', 'fs_visits', 'fs_dear');
SELECT model, fits FROM cost_of_models('id <= ' || :half / 2, 'fs', 'fs_visits', 'fs_dear');
-- Each alone would run until the budget is used up; together they are stopped before the first charge.
SELECT count(private_predict('fs', i)), count(private_predict('fs_visits', i)) FROM items i WHERE id <= :more;
SELECT count(private_predict('fs', i)), count(private_predict('fs_apart', i)) FROM items i WHERE id <= :more;
RESET ROLE;
RESET search_path;
SET client_min_messages = error;
DROP OWNED BY fs_owner, fs_analyst CASCADE;
DROP ROLE fs_owner, fs_analyst;
