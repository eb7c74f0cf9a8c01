-- Tables about units, tables about nobody, and a function that tries a view, in the current schema.
CREATE TABLE p (u int PRIMARY KEY, born int NOT NULL, sex text, weight float8, income numeric, back boolean NOT NULL, same int);
CREATE TABLE v (id int PRIMARY KEY, u int NOT NULL, kind int, at date, cost numeric, score float8, note text, code char(3), span interval, more jsonb, same int);
CREATE TABLE m (id int PRIMARY KEY, u bigint NOT NULL, kind int, value numeric, f float8, at timestamptz, same int);
CREATE TABLE c (id int PRIMARY KEY, code text, weight float8);
CREATE TABLE d (d date PRIMARY KEY);
CREATE TABLE other (u int NOT NULL, x int);
INSERT INTO p SELECT i, 1950 + i % 5, CASE i % 3 WHEN 0 THEN 'm' WHEN 1 THEN 'f' END, i / 7.0, i::numeric / 3, i % 2 = 0, i FROM generate_series(1, 12) i;
INSERT INTO v SELECT i, 1 + i % 11, 9200 + i % 5, '2026-01-01'::date + i % 6, (i % 7)::numeric(10, 2), i / 3.0, 'n' || i % 4,
	'c' || i % 3, i % 4 * interval '1 hour', jsonb_build_object('k', i % 3), 1 + i % 11 FROM generate_series(1, 44) i;
INSERT INTO m SELECT i, 1 + i % 10, 9200 + i % 5, (i % 11)::numeric, i / 7.0, '2026-01-01'::timestamptz + i * interval '1 hour', 1 + i % 10 FROM generate_series(1, 40) i;
INSERT INTO c SELECT i, 'c' || i, i FROM generate_series(1, 5) i UNION ALL SELECT 9200 + i, 'c' || i, i FROM generate_series(0, 6) i;
INSERT INTO d SELECT '2026-01-01'::date + i FROM generate_series(0, 5) i;
INSERT INTO other SELECT i, i FROM generate_series(1, 5) i;
DO $$ BEGIN PERFORM privpred.protect('p', unit => 'u'); END $$;
DO $$ BEGIN PERFORM privpred.protect('v', unit => 'u', same_units_as => 'p'); END $$;
DO $$ BEGIN PERFORM privpred.protect('m', unit => 'u', same_units_as => 'p'); END $$;

-- Every column "same" is equal to the unit, and nobody knows.
CREATE TABLE part (u int NOT NULL, x int) PARTITION BY LIST (x);
CREATE TABLE part1 PARTITION OF part FOR VALUES IN (1);
CREATE TABLE part2 PARTITION OF part FOR VALUES IN (2);
INSERT INTO part SELECT i, 1 + i % 2 FROM generate_series(1, 10) i;
DO $$ BEGIN PERFORM privpred.protect('part', unit => 'u', same_units_as => 'p'); END $$;
CREATE MATERIALIZED VIEW old AS SELECT u, born FROM p;
CREATE TABLE foreign_to_us (u int NOT NULL, x int);
INSERT INTO foreign_to_us SELECT i, i FROM generate_series(1, 5) i;
DO $$ BEGIN PERFORM privpred.protect('foreign_to_us', unit => 'u'); END $$;
CREATE TABLE policed (id int PRIMARY KEY, x int);
INSERT INTO policed SELECT i, i FROM generate_series(1, 5) i;
ALTER TABLE policed ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY few ON policed USING (x IN (SELECT u FROM p));
CREATE TABLE parent (id int PRIMARY KEY, u int NOT NULL, x int);
CREATE TABLE child () INHERITS (parent);
INSERT INTO parent SELECT i, i, i FROM generate_series(1, 5) i;
INSERT INTO child SELECT i, i, i FROM generate_series(6, 9) i;
DO $$ BEGIN PERFORM privpred.protect('parent', unit => 'u', same_units_as => 'p'); END $$;
CREATE SEQUENCE counter;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN plain AS int;

CREATE FUNCTION twice(x int) RETURNS int IMMUTABLE RETURN x * 2;
CREATE FUNCTION twice_text(x int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT x * 2';
CREATE FUNCTION twice_plpgsql(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x * 2; END';
CREATE FUNCTION twice_volatile(x int) RETURNS int RETURN x * 2;
CREATE FUNCTION twice_definer(x int) RETURNS int IMMUTABLE SECURITY DEFINER RETURN x * 2;
CREATE FUNCTION twice_set(x int) RETURNS int IMMUTABLE SET work_mem = '1MB' RETURN x * 2;
CREATE FUNCTION twice_default(x int, y int DEFAULT 2) RETURNS int IMMUTABLE RETURN x * y;
CREATE FUNCTION twice_reading(x int) RETURNS int STABLE RETURN x * 2 + 0 * (SELECT count(*)::int FROM p);
CREATE FUNCTION twice_calling(x int) RETURNS int IMMUTABLE RETURN twice_text(x);
CREATE FUNCTION twice_atomic(x int) RETURNS int IMMUTABLE BEGIN ATOMIC SELECT x * 2; END;
CREATE FUNCTION twice_twice(x int) RETURNS int IMMUTABLE BEGIN ATOMIC SELECT 1; SELECT x * 2; END;
CREATE FUNCTION both_equal(a int, b int) RETURNS boolean IMMUTABLE RETURN a = b;
CREATE OPERATOR === (FUNCTION = both_equal, LEFTARG = int, RIGHTARG = int);
CREATE FUNCTION add_up(a int, b int) RETURNS int IMMUTABLE RETURN COALESCE(a, 0) * 2 + COALESCE(b, 0);
CREATE AGGREGATE adder (int) (SFUNC = add_up, STYPE = int);
CREATE VIEW visits_of AS SELECT v.u, count(*) AS n FROM v GROUP BY v.u;

-- NULL: the view was accepted; else the SQLSTATE and what was wrong.  Nothing is left behind.
CREATE FUNCTION try_view(definition text, unit name DEFAULT 'u', publics regclass[] DEFAULT '{c,d}') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	code text; message text; detail text; hint text;
BEGIN
	EXECUTE 'CREATE VIEW tried AS ' || definition;
	BEGIN
		PERFORM privpred.protect('tried', unit => unit, public_tables => publics);
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
		DROP VIEW tried;
		IF COALESCE(detail, '') = '' OR COALESCE(hint, '') = '' THEN
			message := message || ' [WITHOUT DETAIL OR HINT]';
		END IF;
		RETURN format('%s %s | %s', code, message, detail);
	END;
	PERFORM privpred.unprotect('tried');
	DROP VIEW tried;
	RETURN NULL;
END $$;
