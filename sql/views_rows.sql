-- Of which views it is proved that a unit has one row.  "has" is how many rows a unit has at most, here: where it is
-- proved, it must be 1; where it is 1 and not proved, rows are grouped for nothing.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE SCHEMA vr;
SET search_path = vr;
\set ECHO none
\i test/lib/views.sql
\set ECHO all

-- NULL units, keys that are none, and children
CREATE TABLE k (u int NOT NULL, alt int UNIQUE, late int UNIQUE DEFERRABLE, part int, calc int, two int, many int, spelt text COLLATE "C", loose text);
CREATE UNIQUE INDEX ON k (part) WHERE part > 5;
CREATE UNIQUE INDEX ON k ((calc + 10 * two));
CREATE UNIQUE INDEX ON k (u, two);
CREATE UNIQUE INDEX ON k (spelt);
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
ALTER TABLE k ALTER loose TYPE text COLLATE any_case;
CREATE UNIQUE INDEX ON k (loose COLLATE "C");
INSERT INTO k SELECT i / 2, NULLIF(i, 5), i, 1 + i / 2 % 5, 1 + i / 2 % 5, i, i % 4, chr(96 + i), CASE WHEN i % 2 = 0 THEN chr(96 + i / 2 + 1) ELSE chr(64 + i / 2 + 1) END FROM generate_series(2, 13) i;
DO $$ BEGIN PERFORM privpred.protect('k', unit => 'u', same_units_as => 'p'); END $$;
CREATE TABLE keyed_parent (u int PRIMARY KEY, x int);
CREATE TABLE keyed_child (CHECK (x > 1)) INHERITS (keyed_parent);
INSERT INTO keyed_parent SELECT i, 1 FROM generate_series(1, 5) i;
INSERT INTO keyed_child SELECT i, 2 FROM generate_series(3, 8) i;
DO $$ BEGIN PERFORM privpred.protect('keyed_parent', unit => 'u', same_units_as => 'p'); END $$;
CREATE TABLE keyed_parts (u int PRIMARY KEY, x int) PARTITION BY RANGE (u);
CREATE TABLE keyed_part1 PARTITION OF keyed_parts FOR VALUES FROM (1) TO (5);
CREATE TABLE keyed_part2 PARTITION OF keyed_parts FOR VALUES FROM (5) TO (99);
INSERT INTO keyed_parts SELECT i, i FROM generate_series(1, 9) i;
DO $$ BEGIN PERFORM privpred.protect('keyed_parts', unit => 'u', same_units_as => 'p'); END $$;
CREATE TABLE q (u int NOT NULL UNIQUE, ref int, x int);
INSERT INTO q SELECT i, 1 + i % 5, i % 3 FROM generate_series(2, 9) i;
DO $$ BEGIN PERFORM privpred.protect('q', unit => 'u', same_units_as => 'p'); END $$;

CREATE FUNCTION rows_of(definition text, OUT proved text, OUT has bigint) LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		EXECUTE 'CREATE VIEW tried AS ' || definition;
		PERFORM privpred.protect('tried', unit => 'u', public_tables => '{c,d}');
		proved := privpred._plan_table('tried', NULL) ->> 'one_row_a_unit';
		SELECT max(n) INTO has FROM (SELECT count(*) AS n FROM tried WHERE u IS NOT NULL GROUP BY u) g;
		RAISE EXCEPTION USING ERRCODE = 'VR001';
	EXCEPTION
		WHEN SQLSTATE 'VR001' THEN NULL;
		WHEN OTHERS THEN proved := SQLERRM;
	END;
END $$;

CREATE TEMP TABLE tries (n int GENERATED ALWAYS AS IDENTITY, name text, definition text);
INSERT INTO tries (name, definition) VALUES
-- tables
('a primary key', $$SELECT u, born FROM p$$),
('a unique column that is NOT NULL', $$SELECT u, x FROM q$$),
('cast, filtered, ordered, windows', $$SELECT u::int8 AS u, rank() OVER (PARTITION BY u ORDER BY born) AS r FROM p WHERE born > 1950$$),
('no key', $$SELECT u, cost FROM v$$),
('a key of two columns', $$SELECT u, two FROM k$$),
('a parent with children', $$SELECT u, x FROM keyed_parent$$),
('ONLY the parent', $$SELECT u, x FROM ONLY keyed_parent$$),
('a partitioned table', $$SELECT u, x FROM keyed_parts$$),
('a function that makes rows', $$SELECT u, generate_series(1, 2) AS g FROM p$$),
('a function in FROM that makes rows', $$SELECT p.u, g FROM p, generate_series(1, 2) g$$),
-- inner joins
('two keys', $$SELECT p.u, q.x FROM p JOIN q ON q.u = p.u$$),
('two keys, in WHERE, the other one', $$SELECT q.u, p.born FROM p, q WHERE q.u = p.u$$),
('a key and no key', $$SELECT p.u, v.cost FROM p JOIN v ON v.u = p.u$$),
('a public table by its key', $$SELECT q.u, c.code FROM q JOIN c ON c.id = q.ref$$),
('a public table by its key and a number', $$SELECT q.u, c.code FROM q JOIN c ON c.id = q.ref + 1$$),
('a public table by something else', $$SELECT q.u, c.code FROM q JOIN c ON c.weight = q.ref$$),
('a public table by its key, or not', $$SELECT q.u, c.code FROM q JOIN c ON c.id = q.ref OR c.id = 1$$),
('a public table by more than its key', $$SELECT q.u, c.code FROM q JOIN c ON c.id > q.ref$$),
('a public table by a constant', $$SELECT q.u, c.code FROM q JOIN c ON c.id = 3$$),
('a public table by itself', $$SELECT q.u, c.code FROM q JOIN c ON c.id = c.id$$),
('three in a row, backwards', $$SELECT q.u, d.code FROM c d, c, q WHERE d.id = c.weight::int AND c.id = q.ref$$),
('a ring that begins nowhere', $$SELECT q.u, a.code FROM q, c a, c b WHERE a.id = b.id$$),
('by a subquery of others', $$SELECT q.u, c.code FROM q JOIN c ON c.id = (SELECT max(d.id) FROM c d WHERE d.weight = c.weight)$$),
('VALUES of one row', $$SELECT q.u, w.x FROM q, (VALUES (1)) w(x)$$),
('VALUES of two rows', $$SELECT q.u, w.x FROM q, (VALUES (1), (2)) w(x)$$),
('a public aggregate', $$SELECT q.u, w.x FROM q, (SELECT max(id) AS x FROM c) w$$),
('a public row', $$SELECT q.u, w.id FROM q, (SELECT id FROM c ORDER BY id LIMIT 1) w$$),
('two public rows', $$SELECT q.u, w.id FROM q, (SELECT id FROM c ORDER BY id LIMIT 2) w$$),
('WITH TIES', $$SELECT q.u, w.x FROM q, (SELECT id / 4 AS x FROM c ORDER BY id / 4 FETCH FIRST 1 ROW WITH TIES) w$$),
-- keys that do not hold
('a key that may be NULL', $$SELECT q.u, k.many FROM q JOIN k ON k.alt = q.ref AND k.u = q.u$$),
('a deferrable key', $$SELECT q.u, k.many FROM q JOIN k ON k.late = q.ref AND k.u = q.u$$),
('a partial key', $$SELECT q.u, k.many FROM q JOIN k ON k.part = q.ref AND k.u = q.u$$),
('a key of an expression', $$SELECT q.u, k.many FROM q JOIN k ON k.calc = q.ref AND k.u = q.u$$),
('a key by letters', $$SELECT q.u, k.many FROM q JOIN k ON k.spelt = chr(96 + 2 * q.u) AND k.u = q.u$$),
('a key of other letters', $$SELECT q.u, k.many FROM q JOIN k ON k.loose = chr(96 + q.u + 1) COLLATE any_case AND k.u = q.u$$),
('a key of other letters, compared by them', $$SELECT q.u, k.many FROM q JOIN k ON k.loose = chr(96 + q.u + 1) COLLATE "C" AND k.u = q.u$$),
-- outer joins
('left join of groups', $$SELECT p.u, w.n FROM p LEFT JOIN (SELECT u, count(*) AS n FROM v GROUP BY u) w ON w.u = p.u$$),
('two of them', $$SELECT p.u, w.n, x.s FROM p LEFT JOIN (SELECT u, count(*) AS n FROM v GROUP BY u) w ON w.u = p.u LEFT JOIN (SELECT u, sum(value) AS s FROM m GROUP BY u) x ON x.u = p.u$$),
('their unit', $$SELECT w.u, w.n, p.born FROM p LEFT JOIN (SELECT u, count(*) AS n FROM v GROUP BY u) w ON w.u = p.u$$),
('right join', $$SELECT p.u, w.n FROM visits_of w RIGHT JOIN p ON w.u = p.u$$),
('left join of rows', $$SELECT p.u, v.cost FROM p LEFT JOIN v ON v.u = p.u$$),
('ON does not settle the left side', $$SELECT p.u, a.id FROM (p CROSS JOIN c a) LEFT JOIN q ON q.u = p.u AND a.id = p.u$$),
('WHERE does', $$SELECT p.u, a.id FROM (p CROSS JOIN c a) LEFT JOIN q ON q.u = p.u WHERE a.id = p.u$$),
('ON settles a join on the right', $$SELECT p.u, c.code FROM p LEFT JOIN (q JOIN c ON c.id = q.ref) ON q.u = p.u$$),
('nothing settles it', $$SELECT p.u, c.code FROM p LEFT JOIN (q JOIN c ON c.id <> q.ref) ON q.u = p.u$$),
('full join of keys, one side', $$SELECT p.u, q.x FROM p FULL JOIN q ON q.u = p.u$$),
('full join of keys that do not match', $$SELECT COALESCE(p.u, q.u) AS u, q.x FROM p FULL JOIN q ON q.u = p.u AND q.x = 5$$),
('a full join of one row beside', $$SELECT q.u, c.code FROM q, ((VALUES (1)) w(x) FULL JOIN c ON c.id = w.x)$$),
('a full join beside', $$SELECT q.u, a.code FROM q LEFT JOIN (c a FULL JOIN c b ON a.id = b.id AND b.id < 0) ON a.id = q.ref OR b.id = q.ref$$),
-- subqueries
('LATERAL aggregate', $$SELECT p.u, l.n FROM p, LATERAL (SELECT count(*) AS n FROM v WHERE v.u = p.u) l$$),
('LATERAL row', $$SELECT p.u, l.cost FROM p LEFT JOIN LATERAL (SELECT cost FROM v WHERE v.u = p.u ORDER BY at, id LIMIT 1) l ON true$$),
('LATERAL rows', $$SELECT p.u, l.cost FROM p LEFT JOIN LATERAL (SELECT cost FROM v WHERE v.u = p.u ORDER BY at, id LIMIT 2) l ON true$$),
('LATERAL of a member that is not settled', $$SELECT p.u, l.n FROM p JOIN v ON v.u = p.u, LATERAL (SELECT count(*) AS n FROM m WHERE m.u = v.u) l$$),
('the unit of a LATERAL', $$SELECT l.u, v.cost FROM v, LATERAL (SELECT q.u FROM q WHERE q.u = v.u) l$$),
('a subquery in FROM', $$SELECT s.u, s.b FROM (SELECT u, born AS b FROM p WHERE born > 0) s$$),
('WITH', $$WITH s AS (SELECT u, max(cost) AS x FROM v GROUP BY u) SELECT s.u, s.x, q.ref FROM s LEFT JOIN q ON q.u = s.u$$),
('a view below', $$SELECT w.u, w.n FROM visits_of w$$),
('WITH twice', $$WITH s AS (SELECT u, cost FROM v) SELECT a.u, b.cost FROM s a JOIN s b ON b.u = a.u$$),
-- groups
('GROUP BY the unit', $$SELECT u, count(*) AS n FROM v GROUP BY u$$),
('GROUP BY the unit, cast', $$SELECT u::int8 AS u, count(*) AS n FROM v GROUP BY u::int8$$),
('GROUP BY more', $$SELECT u, kind, count(*) AS n FROM v GROUP BY u, kind$$),
('GROUP BY more of the same row', $$SELECT p.u, p.born, count(*) AS n FROM p LEFT JOIN v ON v.u = p.u GROUP BY p.u, p.born, p.born + 1$$),
('GROUP BY more of another row', $$SELECT p.u, count(*) AS n FROM p LEFT JOIN v ON v.u = p.u GROUP BY p.u, p.born, v.kind$$),
('GROUP BY more of both', $$SELECT p.u, count(*) AS n FROM p LEFT JOIN v ON v.u = p.u GROUP BY p.u, p.born + v.kind$$),
('GROUP BY a key, and another column', $$SELECT p.u, p.sex, count(v.id) AS n FROM p LEFT JOIN v ON v.u = p.u GROUP BY p.u$$),
('GROUP BY the unit, and rows are made', $$SELECT u, generate_series(1, 2) AS g FROM v GROUP BY u$$),
('HAVING', $$SELECT u FROM v GROUP BY u HAVING count(*) > 1$$),
('DISTINCT unit', $$SELECT DISTINCT u FROM v$$),
('DISTINCT more', $$SELECT DISTINCT u, kind FROM v$$),
('DISTINCT more of the same row', $$SELECT DISTINCT p.u, p.born FROM p JOIN v ON v.u = p.u$$),
('DISTINCT and a window', $$SELECT DISTINCT p.u, rank() OVER (PARTITION BY p.u ORDER BY v.id) AS r FROM p JOIN v ON v.u = p.u$$),
('DISTINCT ON the unit', $$SELECT DISTINCT ON (u) u, cost FROM v ORDER BY u, at, id$$),
('DISTINCT ON more', $$SELECT DISTINCT ON (u, kind) u, cost FROM v ORDER BY u, kind, at, id$$),
-- a LATERAL member has rows of its own for each row before it
('GROUP BY what a LATERAL took in', $$SELECT l.u, count(*) AS n FROM c, LATERAL (SELECT q.u, c.id AS o FROM q) l GROUP BY l.u, l.o$$),
('DISTINCT of it', $$SELECT DISTINCT l.u, l.o FROM c, LATERAL (SELECT q.u, c.id AS o FROM q) l$$),
('GROUP BY the unit of a LATERAL', $$SELECT l.u, count(*) AS n FROM c, LATERAL (SELECT q.u, c.id AS o FROM q) l GROUP BY l.u$$),
-- set operations are not looked into
('UNION ALL', $$SELECT u, born FROM p UNION ALL SELECT u, ref FROM q$$),
('UNION', $$SELECT u FROM p UNION SELECT u FROM q$$),
('EXCEPT', $$SELECT u FROM p EXCEPT SELECT u FROM q$$);
SELECT name, proved, has, CASE WHEN proved = 'true' AND has > 1 THEN 'WRONG' ELSE '' END AS verdict
  FROM tries, rows_of(definition) ORDER BY n;

-- Keys that come and go: a proof is as old as a training.
CREATE VIEW history AS SELECT q.u, q.x, c.weight, q.x > 0 AS y FROM q LEFT JOIN c ON c.id = q.ref;
SELECT privpred.protect('history', unit => 'u', public_tables => '{c}', declared_units => 100) IS NULL AS "protected";
CREATE FUNCTION proved() RETURNS text LANGUAGE sql AS $$ SELECT privpred._plan_table('history', NULL) ->> 'one_row_a_unit' $$;
SELECT proved();
ALTER TABLE c DROP CONSTRAINT c_pkey;
SELECT proved();
CREATE UNIQUE INDEX c_key ON c (id);
SELECT proved();
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'c_key'::regclass;
SELECT proved();
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'c_key'::regclass;
DROP INDEX c_key;
ALTER TABLE c ADD CONSTRAINT c_key UNIQUE (id) DEFERRABLE INITIALLY IMMEDIATE;
SELECT proved();
ALTER TABLE c DROP CONSTRAINT c_key, ADD PRIMARY KEY (id);
SELECT proved();
CREATE TABLE c_child () INHERITS (c);
SELECT proved();
DROP TABLE c_child;
VACUUM c;	-- forgets that there were children
ANALYZE c;
SELECT proved();
CREATE OR REPLACE VIEW history AS SELECT q.u, q.x, c.weight, q.x > 0 AS y FROM q LEFT JOIN c ON c.id >= q.ref;
SELECT proved();

-- A mechanism that must know how many rows a unit has takes the proof for it.
\set VERBOSITY default
SELECT privpred.create_model('cut', 'history', label => 'y', classes => '{false,true}', features => '{"x": {"min": 0, "max": 9}}', mechanism => 'threshold', epsilon => 1);
CREATE OR REPLACE VIEW history AS SELECT q.u, q.x, c.weight, q.x > 0 AS y FROM q LEFT JOIN c ON c.id = q.ref;
SELECT privpred.create_model('cut', 'history', label => 'y', classes => '{false,true}', features => '{"x": {"min": 0, "max": 9}}', mechanism => 'threshold', epsilon => 1) IS NULL AS made;
-- and no longer, once the view has changed
CREATE OR REPLACE VIEW history AS SELECT q.u, q.x, c.weight, q.x > 0 AS y FROM q LEFT JOIN c ON c.id >= q.ref;
SELECT privpred.retrain('cut');
-- To whoever may not lock rows it is not known.
BEGIN READ ONLY;
SELECT proved();
ROLLBACK;
SELECT privpred.drop_model('cut');
SET client_min_messages = error;
DROP SCHEMA vr CASCADE;
