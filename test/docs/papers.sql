-- The made-up tables of docs/mechanisms.md, section 21: all features lie in [0, 1].
SET client_min_messages = error;
CREATE EXTENSION privpred;
CREATE TABLE line AS SELECT i AS id, (i * 37 % 1000 + 0.5) / 1000 AS x FROM generate_series(1, 20000) i;
ALTER TABLE line ADD PRIMARY KEY (id), ADD y boolean, ADD inside boolean;
UPDATE line SET y = x > 0.4, inside = x BETWEEN 0.2 AND 0.6;
CREATE TABLE plane AS SELECT i AS id, (i * 37 % 1000 + 0.5) / 1000 AS x, (i * 61 % 997 + 0.5) / 997 AS z FROM generate_series(1, 4000) i;
ALTER TABLE plane ADD PRIMARY KEY (id), ADD y boolean, ADD kind text, ADD price float8;
UPDATE plane SET y = x + z > 1, kind = CASE WHEN x > 0.7 THEN 'c' WHEN z > 0.5 THEN 'b' ELSE 'a' END, price = 10 * x + z;
-- few rows, for what is slow
CREATE TABLE few AS SELECT id, x, z, (id * 13 % 100 + 0.5) / 100 AS w, y FROM plane WHERE id <= 500;
ALTER TABLE few ADD PRIMARY KEY (id);
-- only labels are secret
CREATE TABLE survey AS SELECT * FROM plane;
ALTER TABLE survey ADD PRIMARY KEY (id);
-- eight points, and finite classes over them in public tables: of two labels, of three
CREATE TYPE place AS ENUM ('p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8');
CREATE TABLE sorts AS SELECT i AS id, ('p' || 1 + i % 8)::place AS point, 1 + i % 8 >= 6 AS y,
	CASE WHEN 1 + i % 8 >= 6 THEN 'c' WHEN 1 + i % 8 >= 4 THEN 'b' ELSE 'a' END AS kind FROM generate_series(1, 20000) i;
ALTER TABLE sorts ADD PRIMARY KEY (id);
CREATE TABLE at_least AS SELECT h AS hypothesis, 'p' || p AS point, p >= h AS label FROM generate_series(1, 9) h, generate_series(1, 8) p;
CREATE TABLE steps AS SELECT h AS hypothesis, 'p' || p AS point, CASE WHEN p >= h + 2 THEN 'c' WHEN p >= h THEN 'b' ELSE 'a' END AS label
	FROM generate_series(1, 9) h, generate_series(1, 8) p;
-- public rows without labels
CREATE TABLE others AS SELECT (i % 50 + 0.5) / 50 AS x, (i * 7 % 50 + 0.5) / 50 AS z FROM generate_series(1, 400) i;
SELECT privpred.protect('line', declared_units => 20000), privpred.protect('plane', declared_units => 4000), privpred.protect('few', declared_units => 500),
	privpred.protect('survey', protects => 'labels', declared_units => 4000), privpred.protect('sorts', declared_units => 20000);
SELECT privpred.grant_budget(current_user::regrole, t, epsilon => 10000, delta => 0.005) FROM unnest('{line,plane,few,survey,sorts}'::regclass[]) t;
-- teachers for distill: of classes, of numbers
SELECT privpred.create_model('teacher', 'plane', 'y', '["x", "z"]', teachers => 15, epsilon => 1),
	privpred.create_model('appraiser', 'plane', 'price', '["x", "z"]', mechanism => 'stable_erm', epsilon => 1, options => '{"target": {"min": 0, "max": 11}}');
