-- Views that are proved to keep units apart.  Each is protected, trained on by nobody, and
-- unprotected; what is printed is its name, or why it was refused.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE SCHEMA va;
SET search_path = va;
\set ECHO none
\i test/lib/views.sql
\set ECHO all

CREATE TEMP TABLE accepted (n int GENERATED ALWAYS AS IDENTITY, name text, definition text, unit name DEFAULT 'u');
INSERT INTO accepted (name, definition) VALUES
-- rows
('a table', $$SELECT p.u, p.born FROM p$$),
('ONLY', $$SELECT p.u, p.born FROM ONLY p$$),
('rows are filtered and computed', $$SELECT u, 2026 - born AS age, CASE WHEN sex = 'm' THEN 1 ELSE 0 END AS m FROM p WHERE born > 1960$$),
('casts keep the unit', $$SELECT u::bigint AS u, born::text FROM p$$),
('a set-returning function in the select list', $$SELECT u, generate_series(1, born - 1949) AS g FROM p$$),
('a public table beside', $$SELECT p.u, c.code FROM p, c$$),
('VALUES beside', $$SELECT p.u, w.x FROM p, (VALUES (1), (2)) w(x)$$),
('a function in FROM', $$SELECT p.u, g FROM p, generate_series(1, p.born - 1949) g$$),
('unnest of a column of the row', $$SELECT p.u, t FROM p, unnest(string_to_array(p.sex, 'x')) t$$),
-- joins
('inner join by units', $$SELECT p.u, v.cost FROM p JOIN v ON v.u = p.u$$),
('join in WHERE', $$SELECT p.u, v.cost FROM p, v WHERE v.u = p.u$$),
('join with USING', $$SELECT u, v.cost FROM p JOIN v USING (u)$$),
('natural join', $$SELECT u, x FROM (SELECT u FROM p) p NATURAL JOIN (SELECT u, cost AS x FROM v) w$$),
('integers of different widths', $$SELECT p.u, m.value FROM p JOIN m ON m.u = p.u$$),
('equality turned round and cast', $$SELECT p.u, m.value FROM p JOIN m ON p.u::bigint = m.u$$),
('three tables', $$SELECT v.u, m.value FROM p JOIN v ON v.u = p.u JOIN m ON m.u = v.u$$),
('tied through another column', $$SELECT p.u, v.cost FROM p, v, c WHERE p.u = c.id AND c.id = v.u$$),
('tied by a row comparison', $$SELECT p.u, v.cost FROM p JOIN v ON (v.u, v.kind) = (p.u, 9201)$$),
('a public table in between', $$SELECT p.u, c.code, v.cost FROM p JOIN (v JOIN c ON c.id = v.kind) ON v.u = p.u$$),
('left join', $$SELECT p.u, v.cost FROM p LEFT JOIN v ON v.u = p.u AND v.cost > 3$$),
('right join', $$SELECT p.u, v.cost FROM v RIGHT JOIN p ON v.u = p.u$$),
('full join with COALESCE', $$SELECT COALESCE(p.u, v.u) AS u, v.cost, p.born FROM p FULL JOIN v ON v.u = p.u$$),
('full join with USING', $$SELECT u, v.cost, p.born FROM p FULL JOIN v USING (u)$$),
('public left join private: rows of nobody stay out', $$SELECT v.u, d.d FROM d LEFT JOIN v ON v.at = d.d$$),
('private left join public', $$SELECT v.u, c.code FROM v LEFT JOIN c ON c.id = v.kind$$),
('left join, then inner join', $$SELECT p.u, m.value FROM p LEFT JOIN v ON v.u = p.u JOIN m ON m.u = p.u$$),
('inner join inside an outer one', $$SELECT p.u, m.value FROM p LEFT JOIN (v JOIN m ON m.u = v.u) ON v.u = p.u$$),
('self-join', $$SELECT a.u, b.cost - a.cost AS change FROM v a JOIN v b ON b.u = a.u AND b.id = a.id + 1$$),
-- lateral
('LATERAL pinned by its WHERE', $$SELECT p.u, l.n FROM p, LATERAL (SELECT count(*) AS n FROM v WHERE v.u = p.u) l$$),
('LATERAL with LIMIT and a key', $$SELECT p.u, l.cost FROM p LEFT JOIN LATERAL (SELECT v.cost FROM v WHERE v.u = p.u ORDER BY v.at DESC, v.id LIMIT 1) l ON true$$),
('LATERAL with LIMIT and all columns ordered', $$SELECT p.u, l.kind FROM p, LATERAL (SELECT v.kind, v.at FROM v WHERE v.u = p.u ORDER BY v.at, v.kind LIMIT 2) l$$),
('LATERAL local and tied outside', $$SELECT p.u, l.cost FROM p, LATERAL (SELECT v.u, v.cost FROM v WHERE v.kind > p.born) l WHERE l.u = p.u$$),
('public LATERAL', $$SELECT p.u, l.code FROM p, LATERAL (SELECT c.code FROM c WHERE c.id > p.born ORDER BY c.id LIMIT 1) l$$),
-- subqueries
('EXISTS', $$SELECT p.u FROM p WHERE EXISTS (SELECT FROM v WHERE v.u = p.u AND v.kind = 9203)$$),
('NOT EXISTS', $$SELECT p.u, NOT EXISTS (SELECT FROM v WHERE v.u = p.u) AS none FROM p$$),
('a scalar subquery', $$SELECT p.u, (SELECT avg(m.value) FROM m JOIN c ON c.id = m.kind WHERE m.u = p.u AND c.code = 'c3') AS a FROM p$$),
('a subquery two levels deep', $$SELECT p.u, (SELECT count(*) FROM v WHERE v.u = p.u AND EXISTS (SELECT FROM m WHERE m.u = v.u AND m.kind = v.kind)) AS n FROM p$$),
('a subquery that asks two levels out', $$SELECT p.u, (SELECT count(*) FROM v WHERE v.u = p.u AND EXISTS (SELECT FROM m WHERE m.u = p.u)) AS n FROM p$$),
('a private subquery inside a public one', $$SELECT p.u, (SELECT count(*) FROM c WHERE EXISTS (SELECT FROM v WHERE v.u = p.u AND v.kind = c.id)) AS n FROM p$$),
('public subquery', $$SELECT p.u, (SELECT max(c.id) FROM c) AS n FROM p$$),
('IN of units', $$SELECT p.u FROM p WHERE p.u IN (SELECT v.u FROM v WHERE v.kind = 9203)$$),
('IN of rows with the unit', $$SELECT v.u, v.cost FROM v WHERE (v.u, v.at) IN (SELECT w.u, max(w.at) FROM v w GROUP BY w.u)$$),
('IN in ON', $$SELECT p.u, v.cost FROM p LEFT JOIN v ON v.u = p.u AND v.u IN (SELECT m.u FROM m)$$),
('IN of a public list anywhere', $$SELECT p.u, p.born IN (SELECT c.id FROM c) AS i FROM p$$),
-- groups
('aggregates by unit', $$SELECT v.u, count(*) AS n, sum(v.cost) AS s, avg(v.kind) AS a, bool_or(v.kind = 9203) AS e FROM v GROUP BY v.u$$),
('columns of the primary key', $$SELECT p.u, p.born, count(v.id) AS n FROM p LEFT JOIN v ON v.u = p.u GROUP BY p.u$$),
('groups within units', $$SELECT v.u, v.kind, count(*) AS n FROM v GROUP BY v.u, v.kind HAVING count(*) > 1$$),
('min, max and mode', $$SELECT v.u, min(v.at) AS a, max(v.note) AS n, mode() WITHIN GROUP (ORDER BY v.kind) AS k FROM v GROUP BY v.u$$),
('min and max of numbers, returned', $$SELECT v.u, max(v.cost) AS c, min(v.score) AS s FROM v GROUP BY v.u$$),
('max cast and computed with', $$SELECT v.u, max(v.cost)::float8 - min(v.cost)::float8 AS r FROM v GROUP BY v.u$$),
('percentiles', $$SELECT v.u, percentile_disc(0.5) WITHIN GROUP (ORDER BY v.at) AS p FROM v GROUP BY v.u$$),
('floats by way of numeric', $$SELECT v.u, avg(v.score::numeric) AS a, stddev(v.score::numeric) AS s FROM v GROUP BY v.u$$),
('floats in order', $$SELECT v.u, avg(v.score ORDER BY v.score) AS a FROM v GROUP BY v.u$$),
('arrays in order', $$SELECT v.u, array_agg(v.kind ORDER BY v.kind) AS a, string_agg(v.note, ',' ORDER BY v.note) AS s FROM v GROUP BY v.u$$),
('count(DISTINCT)', $$SELECT v.u, count(DISTINCT v.kind) AS n, array_agg(DISTINCT v.kind) AS a FROM v GROUP BY v.u$$),
('FILTER', $$SELECT v.u, count(*) FILTER (WHERE v.cost > 2) AS n FROM v GROUP BY v.u$$),
('groups by a number', $$SELECT v.u, v.cost, count(*) AS n FROM v GROUP BY v.u, v.cost HAVING v.cost > 2$$),
-- windows
('rank in the unit', $$SELECT v.u, rank() OVER (PARTITION BY v.u ORDER BY v.at) AS r FROM v$$),
('sums over windows', $$SELECT v.u, sum(v.cost) OVER (PARTITION BY v.u ORDER BY v.at) AS s FROM v$$),
('row_number by a key', $$SELECT v.u, v.note, row_number() OVER (PARTITION BY v.u ORDER BY v.at, v.id) AS r FROM v$$),
('lag with all columns ordered', $$SELECT v.u, v.kind - lag(v.kind) OVER (PARTITION BY v.u ORDER BY v.kind) AS d FROM v$$),
('the unit of a joined table partitions', $$SELECT p.u, count(*) OVER (PARTITION BY v.u) AS n FROM p JOIN v ON v.u = p.u$$),
-- DISTINCT and set operations
('DISTINCT', $$SELECT DISTINCT v.u, v.kind FROM v$$),
('DISTINCT ON with a key', $$SELECT DISTINCT ON (v.u) v.u, v.note FROM v ORDER BY v.u, v.at, v.id$$),
('UNION ALL', $$SELECT u, at::timestamptz AS at FROM v UNION ALL SELECT u, at FROM m$$),
('UNION', $$SELECT u, kind FROM v UNION SELECT u, kind FROM m$$),
('EXCEPT', $$SELECT u, kind FROM v EXCEPT SELECT u, kind FROM m$$),
('UNION ALL with a public part', $$SELECT u, kind FROM v UNION ALL SELECT id, id FROM c$$),
-- WITH and views
('WITH', $$WITH w AS (SELECT v.u, count(*) AS n FROM v GROUP BY v.u) SELECT p.u, w.n FROM p LEFT JOIN w ON w.u = p.u$$),
('WITH used twice', $$WITH w AS (SELECT v.u, v.kind FROM v) SELECT a.u, b.kind FROM w a JOIN w b ON a.u = b.u$$),
('a view of a view', $$SELECT u, n + 1 AS n FROM visits_of$$),
('a view joined to its table', $$SELECT p.u, o.n FROM p JOIN visits_of o USING (u)$$),
-- functions and order
('text, time and json', $$SELECT u, upper(note) AS n, to_char(at, 'YYYY') AS y, date_trunc('month', at) AS m, now() - at AS age, ('{"a": 1}'::jsonb -> 'a') AS j FROM v$$),
('an SQL function with RETURN', $$SELECT u, va.twice(born) AS t FROM p$$),
('CASE with a value, NULLIF, GREATEST', $$SELECT u, CASE kind WHEN 9201 THEN 1 ELSE 2 END AS a, NULLIF(kind, 9201) AS b, GREATEST(cost, 3) AS g FROM v$$),
('a null test and comparisons of a maximum', $$SELECT u, max(cost) IS NULL AS a, max(cost) > 3 AS b, CASE WHEN max(cost) > 3 THEN 1 ELSE 0 END AS c FROM v GROUP BY u$$),
('operators with one operand', $$SELECT u, -born AS a, @ cost AS b, NOT (kind > 9201) AS c FROM p JOIN v USING (u)$$),
('CASE of a maximum', $$SELECT u, CASE max(cost) WHEN 3 THEN 1 WHEN 4 THEN 2 END AS a, NULLIF(max(cost), 3) AS b, COALESCE(max(cost), 0) AS c FROM v GROUP BY u$$),
('a subquery with an aggregate of both rows, ordered by all', $$SELECT p.u, (SELECT (SELECT sum(c.id + v.kind) FROM c) FROM v WHERE v.u = p.u ORDER BY v.at, v.kind LIMIT 1) AS s FROM p$$),
('OFFSET 0', $$SELECT u, born FROM p OFFSET 0$$),
('ORDER BY of the view itself', $$SELECT u, born FROM p ORDER BY born$$),
('a constant column', $$SELECT u, 7 AS seven, 'x'::text AS x, CURRENT_DATE AS today FROM p$$);

DO $$
DECLARE a record; problem text;
BEGIN
	FOR a IN SELECT * FROM accepted ORDER BY n LOOP
		problem := try_view(a.definition, a.unit);
		RAISE INFO '%: %', a.name, COALESCE('REFUSED: ' || problem, 'accepted');
	END LOOP;
END $$;
SELECT count(*) >= 60 AS enough FROM accepted;
DROP SCHEMA va CASCADE;
