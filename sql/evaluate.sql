-- evaluate(), confusion_matrix(), accuracy_curve(), plot(): exact, for the owner, free.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
\set SHOW_CONTEXT never
SET extra_float_digits = 0;
SET privpred.repeat_memory = 0;
SET privpred.max_answers_per_statement = -1;
CREATE ROLE ev_owner;
CREATE ROLE ev_delta;
CREATE ROLE ev_other;
GRANT CREATE ON SCHEMA public TO ev_owner;
SET ROLE ev_owner;
CREATE TABLE ev_train (id int PRIMARY KEY, x float8 NOT NULL, z float8 NOT NULL, y text, amount float8);
INSERT INTO ev_train SELECT i, (i * 7919 % 1009) / 1008.0, (i * 104729 % 997) / 996.0,
  CASE WHEN (i * 7919 % 1009) / 1008.0 + (i * 31 % 101) / 200.0 > 0.75 THEN 'b' ELSE 'a' END, 10 * (i * 7919 % 1009) / 1008.0 FROM generate_series(1, 3000) i;
-- 22 rows, two of which have a label that nobody declared
CREATE TABLE ev_test AS SELECT i AS id, i / 21.0 AS x, (i * 5 % 21) / 21.0 AS z, CASE WHEN i < 9 OR i = 14 THEN 'a' WHEN i < 20 THEN 'b' WHEN i = 20 THEN 'other' END AS y, i / 2.1 AS amount
FROM generate_series(0, 21) i;
SELECT privpred.protect('ev_train', declared_units => 3000);
CREATE FUNCTION ev_create(name text, mechanism text, teachers int, epsilon float8, options jsonb DEFAULT '{}', features json DEFAULT '["x", "z"]') RETURNS text LANGUAGE sql AS $$
  SELECT privpred.create_model($1, 'ev_train', label => 'y', classes => '{a,b}', features => features, mechanism => $2,
    learner => CASE WHEN $2 IN ('vote', 'average', 'sparse') THEN 'stump' ELSE 'logistic' END, teachers => $3, epsilon => $4, options => $5) ->> 'version' $$;
SELECT ev_create('ev_vote', 'vote', 15, 0.3), ev_create('ev_even', 'vote', 16, 0.3), ev_create('ev_average', 'average', 15, 0.3), ev_create('ev_sparse', 'sparse', 15, 4),
  ev_create('ev_fallback', 'sparse', 15, 4, '{"on_unstable": "vote"}'), ev_create('ev_threshold', 'threshold', 1, 0.1, features => '["x"]'),
  ev_create('ev_erm', 'stable_erm', 1, 0.5), ev_create('ev_gradient', 'gradient', 1, 1, '{"delta": 1e-6}'), ev_create('ev_cover', 'cover', 1, 1),
  ev_create('ev_flip', 'stable_flip', 1, 1);

-- votes are known to the owner, so everything can be computed by hand
RESET ROLE;
CREATE TEMP TABLE vote AS SELECT m.name, t.id, t.y, (v ->> 'a')::float8 AS a, (v ->> 'b')::float8 AS b FROM privpred.model m, ev_test t, LATERAL privpred.votes(m.predictor, ARRAY[t.x, t.z]) v
WHERE m.name IN ('ev_vote', 'ev_even', 'ev_average') AND t.y IN ('a', 'b');
GRANT SELECT ON vote TO ev_owner;
SET ROLE ev_owner;
SELECT name, count(*), min(a + b) AS teachers, count(DISTINCT a) > 2 AS different FROM vote GROUP BY 1 ORDER BY 1;
-- with delta: the exponential mechanism; without: permute-and-flip, or the better rule for two classes and an odd number of teachers
CREATE FUNCTION exponential(epsilon float8, a float8, b float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / (1 + exp(epsilon / 2 * (b - a)))';
CREATE FUNCTION pure(epsilon float8, a float8, b float8) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN (a + b)::int % 2 = 1 THEN CASE WHEN a > b THEN 1 - s ELSE s END
    WHEN a >= b THEN 1 - f / 2 ELSE f / 2 END FROM (SELECT exp(-epsilon * (abs(a - b) - 1) / 2) / (1 + exp(epsilon)) AS s, exp(-epsilon * abs(a - b) / 2) AS f) s $$;
SELECT name, rows, abs(private_accuracy - p) < 1e-12 AS private, abs(approximate_accuracy - q) < 1e-12 AS approximate, abs(majority_accuracy - m) < 1e-12 AS majority, baseline_accuracy, exact
FROM (SELECT name, avg(CASE y WHEN 'a' THEN pure(0.3, a, b) ELSE pure(0.3, b, a) END) AS p, avg(CASE y WHEN 'a' THEN exponential(0.3, a, b) ELSE exponential(0.3, b, a) END) AS q,
  avg((y = CASE WHEN a >= b THEN 'a' ELSE 'b' END)::int) AS m FROM vote WHERE name IN ('ev_vote', 'ev_even') GROUP BY 1) v, LATERAL privpred.evaluate(name, 'ev_test') e ORDER BY 1;
-- the matrix, cell by cell
SELECT name, class, answer, abs(rows - p) < 1e-9 AS rows, abs(share - p / n) < 1e-9 AS share, abs(approximate_rows - q) < 1e-9 AS approximate_rows, abs(approximate_share - q / n) < 1e-9 AS approximate_share
FROM (SELECT name, y AS class, answer, count(*) AS n, sum(CASE answer WHEN 'a' THEN pure(0.3, a, b) ELSE pure(0.3, b, a) END) AS p,
  sum(CASE answer WHEN 'a' THEN exponential(0.3, a, b) ELSE exponential(0.3, b, a) END) AS q FROM vote, unnest('{a,b}'::text[]) answer WHERE name IN ('ev_vote', 'ev_even') GROUP BY 1, 2, 3) v
JOIN (SELECT n AS name, c.* FROM unnest('{ev_vote,ev_even}'::text[]) n, privpred.confusion_matrix(n, 'ev_test') c) c USING (name, class, answer) ORDER BY 1, 2, 3;
-- every epsilon
SELECT name, count(*), bool_and(abs(private_accuracy - p) < 1e-12) AS private, bool_and(abs(approximate_accuracy - q) < 1e-12) AS approximate, sum(own::int) AS own, bool_and(remark IS NULL) AS nothing_to_say
FROM (SELECT n AS name, c.*, (SELECT avg(CASE y WHEN 'a' THEN pure(epsilon::float8, a, b) ELSE pure(epsilon::float8, b, a) END) FROM vote v WHERE v.name = n) AS p,
  (SELECT avg(CASE y WHEN 'a' THEN exponential(epsilon::float8, a, b) ELSE exponential(epsilon::float8, b, a) END) FROM vote v WHERE v.name = n) AS q
  FROM unnest('{ev_vote,ev_even}'::text[]) n, privpred.accuracy_curve(n, 'ev_test') c) c GROUP BY 1 ORDER BY 1;
SELECT epsilon, own FROM privpred.accuracy_curve('ev_vote', 'ev_test');
SELECT epsilon, own FROM privpred.accuracy_curve('ev_vote', 'ev_test', '{3, 0.3, 0.123456789, 3}');
SELECT epsilon, own FROM privpred.accuracy_curve('ev_vote', 'ev_test', '{}');
-- a random teacher's opinion, as far as epsilon allows
SELECT epsilon, abs(private_accuracy - p) < 1e-12 AS private, remark FROM (SELECT c.*, (SELECT avg(least(greatest(CASE y WHEN 'a' THEN a ELSE b END, ceil(1 / (exp(epsilon::float8) - 1))), 15 - ceil(1 / (exp(epsilon::float8) - 1))) / 15)
  FROM vote WHERE name = 'ev_average') AS p FROM privpred.accuracy_curve('ev_average', 'ev_test', '{0.1, 0.2, 1}') c) c;
-- streams: unstable answers are a column of their own, and a vote if the model says so
SELECT class, answer, rows >= 0 AS rows, abs(rows - approximate_rows) < 1e-12 AS alike, abs(sum(rows) OVER (PARTITION BY class) - 10) < 1e-9 AS ten_of_each, rows > 0 AS some FROM privpred.confusion_matrix('ev_sparse', 'ev_test') ORDER BY 1, 2;
SELECT abs(private_accuracy * rows - (SELECT sum(c.rows) FROM privpred.confusion_matrix('ev_sparse', 'ev_test') c WHERE class = answer)) < 1e-9 AS unstable_is_wrong FROM privpred.evaluate('ev_sparse', 'ev_test');
SELECT bool_and(rows < 1e-9) AS none_unstable FROM (SELECT sum(rows) AS rows FROM privpred.confusion_matrix('ev_fallback', 'ev_test') WHERE answer IS NULL) s;
CREATE TABLE ev_agreed AS SELECT * FROM ev_test WHERE id = 0;
SELECT abs(f.private_accuracy - (s.private_accuracy + (1 - s.private_accuracy) * pure(0.5, 15, 0))) < 1e-12 AS private,
  abs(f.approximate_accuracy - (s.approximate_accuracy + (1 - s.approximate_accuracy) * exponential(0.5, 15, 0))) < 1e-12 AS approximate, s.private_accuracy < 0.1 AS mostly_unstable
FROM privpred.accuracy_curve('ev_fallback', 'ev_agreed', '{0.5}') f, privpred.accuracy_curve('ev_sparse', 'ev_agreed', '{0.5}') s WHERE f.epsilon = 0.5 AND s.epsilon = 0.5;

-- the noise of many classes depends on epsilon: Gaussian up to 0.25
SELECT count(privpred.create_model('ev_many_' || e, 'ev_train', label => 'y', classes => '{a,b,c,d,e,f,g,h}', features => '["x", "z"]', learner => 'stump', teachers => 15, epsilon => e::float8)) FROM unnest('{0.2,0.5}'::text[]) e;
SELECT abs(c.approximate_accuracy - e.approximate_accuracy) < 1e-12 AS the_same, e.approximate_accuracy = e.gaussian_accuracy AS gaussian, abs(e.gaussian_accuracy - e.exponential_accuracy) > 0.001 AS another
FROM privpred.accuracy_curve('ev_many_0.5', 'ev_agreed', '{0.2}') c, privpred.evaluate('ev_many_0.2', 'ev_agreed') e WHERE NOT own;

-- one scan of the rows, whatever is asked
CREATE SEQUENCE ev_seen;
CREATE VIEW ev_counted AS SELECT id, x, z, y, nextval('ev_seen') AS seen FROM ev_test;
SELECT count(*) FROM privpred.accuracy_curve('ev_vote', 'ev_counted', '{0.1,0.2,0.5,1,2}');
SELECT last_value AS rows_read FROM ev_seen;

-- what evaluate says is in the tables as well
SELECT jsonb_array_length(confusion) AS cells, jsonb_array_length(accuracy_by_epsilon) AS epsilons,
  (SELECT bool_and(abs(j.rows - c.rows) < 1e-12 AND abs(j.approximate_rows - c.approximate_rows) < 1e-12) FROM jsonb_to_recordset(confusion) AS j(class text, answer text, rows float8, approximate_rows float8)
   JOIN privpred.confusion_matrix('ev_vote', 'ev_test') c USING (class, answer)) AS same_cells,
  (SELECT bool_and(abs(j.private_accuracy - c.private_accuracy) < 1e-12) FROM jsonb_to_recordset(accuracy_by_epsilon) AS j(epsilon numeric, private_accuracy float8)
   JOIN privpred.accuracy_curve('ev_vote', 'ev_test') c USING (epsilon)) AS same_curve
FROM privpred.evaluate('ev_vote', 'ev_test');
SELECT j.remark = c.remark AS same_remark FROM privpred.evaluate('ev_gradient', 'ev_test'), jsonb_to_recordset(accuracy_by_epsilon) AS j(epsilon numeric, remark text) JOIN privpred.accuracy_curve('ev_gradient', 'ev_test') c USING (epsilon);
SELECT name, exact FROM unnest('{ev_vote,ev_threshold,ev_erm,ev_gradient,ev_cover,ev_flip}'::text[]) name, privpred.evaluate(name, 'ev_test') ORDER BY 1;

-- another epsilon that must be trained for has no figure
SELECT name, epsilon, own, private_accuracy IS NOT NULL AS known, remark FROM unnest('{ev_threshold,ev_gradient,ev_cover,ev_flip}'::text[]) name, privpred.accuracy_curve(name, 'ev_test', '{0.25}') ORDER BY 1, 2;
SELECT count(*) FROM privpred.accuracy_curve('ev_gradient', 'ev_test');
-- stable_erm: the curve is that of models with the lambda that the remark names
SELECT epsilon, regexp_replace(remark, '[0-9.]{6,}', 'number') AS remark FROM privpred.accuracy_curve('ev_erm', 'ev_test', '{2}');
SELECT substring(remark FROM '[0-9.]{6,}') AS lambda FROM privpred.accuracy_curve('ev_erm', 'ev_test') LIMIT 1 \gset
SELECT ev_create('ev_erm2', 'stable_erm', 1, 2, jsonb_build_object('lambda', :lambda));
SELECT abs(c.private_accuracy - e.private_accuracy) < 1e-9 AS private, abs(c.approximate_accuracy - e.approximate_accuracy) < 1e-9 AS approximate, (SELECT bool_and(remark IS NULL) FROM privpred.accuracy_curve('ev_erm2', 'ev_test')) AS nothing_to_say
FROM privpred.accuracy_curve('ev_erm', 'ev_test', '{2}') c, privpred.evaluate('ev_erm2', 'ev_test') e WHERE NOT own;

-- numbers have errors instead
SELECT privpred.create_model('ev_number', 'ev_train', label => 'amount', features => '["x"]', mechanism => 'stable_erm', epsilon => 0.5, options => '{"target": {"min": 0, "max": 10}}') ->> 'version';
SELECT epsilon, private_accuracy, private_rmse > 0 AS error, private_rmse < lag(private_rmse, 1, 'Infinity') OVER (ORDER BY epsilon) AS falls FROM privpred.accuracy_curve('ev_number', 'ev_test', '{0.1,1,10}');
SELECT abs(c.private_rmse - e.private_rmse) < 1e-12 AND abs(c.approximate_rmse - e.approximate_rmse) < 1e-12 AS same, e.private_accuracy, e.confusion FROM privpred.accuracy_curve('ev_number', 'ev_test') c, privpred.evaluate('ev_number', 'ev_test') e WHERE own;
SELECT count(*) FROM privpred.confusion_matrix('ev_number', 'ev_test');

-- answers that are drawn come out as expected
RESET ROLE;
SELECT privpred.grant_budget(r::regrole, 'ev_train', epsilon => 1e6, delta => CASE r WHEN 'ev_delta' THEN 1e-6 ELSE 0 END) FROM unnest('{ev_owner,ev_delta}'::text[]) r;
CREATE TEMP TABLE drawn (account text, name text, class text, answer text, n bigint);
GRANT INSERT ON drawn TO ev_owner, ev_delta;
GRANT SELECT ON ev_test TO ev_delta;
SET ROLE ev_owner;
INSERT INTO drawn SELECT 'pure', name, y, a, count(*) FROM (SELECT name, y, private_predict(name, t) AS a FROM unnest('{ev_vote,ev_even,ev_average,ev_threshold,ev_erm,ev_cover}'::text[]) name, ev_test t, generate_series(1, 1500)
  WHERE y IN ('a', 'b')) s GROUP BY 1, 2, 3, 4;
SET ROLE ev_delta;
INSERT INTO drawn SELECT 'delta', name, y, a, count(*) FROM (SELECT name, y, private_predict(name, t) AS a FROM unnest('{ev_vote,ev_even,ev_average,ev_threshold,ev_erm,ev_gradient,ev_cover}'::text[]) name, ev_test t, generate_series(1, 1500)
  WHERE y IN ('a', 'b')) s GROUP BY 1, 2, 3, 4;
RESET ROLE;
-- Of 15,000 answers about each class; a class for which a count is less likely than 10^-9 by Chernoff's bound, which holds for rows that differ, too, is not as expected.  52 cells
-- raise a false alarm with at most 2 * 10^-9 each.  By Pinsker, counts that pass have a share within sqrt(ln(10^9) / (2 n)); so, by Hoeffding, this is how often an answer passes whose
-- probability is wrong by 0.05:
SELECT exp(-2 * n * (0.05 - sqrt(ln(1e9) / (2 * n))) ^ 2) < 1e-7 AS told, count(*) FROM (SELECT sum(n) AS n FROM drawn GROUP BY name, account, class) s GROUP BY 1;
CREATE FUNCTION ev_likely(n float8, k float8, p float8) RETURNS bool LANGUAGE sql AS $$
  SELECT CASE WHEN p <= 1e-12 THEN k = 0 WHEN p >= 1 - 1e-12 THEN k = n ELSE
    n * ((k / n) * ln(greatest(k / n, 1e-300) / p) + (1 - k / n) * ln(greatest(1 - k / n, 1e-300) / (1 - p))) < ln(1e9) END $$;
SELECT name, account, sum(n) AS answers, bool_and(ev_likely(15000, COALESCE(n, 0), expected / 10)) AS as_expected, bool_or(ev_likely(15000, COALESCE(n, 0), expected / 10 + CASE WHEN expected > 5 THEN -0.05 ELSE 0.05 END)) AS as_mistaken
FROM (SELECT d.name, d.account, c.class, c.answer, CASE d.account WHEN 'pure' THEN c.rows ELSE c.approximate_rows END AS expected
  FROM (SELECT DISTINCT name, account FROM drawn) d, LATERAL privpred.confusion_matrix(d.name, 'ev_test') c) c LEFT JOIN drawn USING (name, account, class, answer) GROUP BY 1, 2 ORDER BY 1, 2;
DROP FUNCTION ev_likely;

-- pictures: XML in ASCII that shows names as they are
SET ROLE ev_owner;
SELECT privpred.create_model('<b>"R&D"</b> ''é'' ' || repeat('long ', 9), 'ev_train', label => 'y', classes => ARRAY['a', 'b', '<script>alert("&")</script>', 'ä'], features => '["x", "z"]', learner => 'stump', teachers => 9, epsilon => 0.2) ->> 'version' AS version;
CREATE TEMP TABLE picture AS SELECT kind, privpred.plot('<b>"R&D"</b> ''é'' ' || repeat('long ', 9), 'ev_test', kind, epsilon => 2, delta => 1e-6) AS svg FROM unnest('{accuracy,answers,confusion}'::text[]) kind;
SELECT kind, svg LIKE '<svg xmlns="http://www.w3.org/2000/svg" viewBox=%</svg>' || E'\n' AS svg, svg !~ '[^\n -~]' AS ascii, svg !~* '<script|javascript|href|<b>|on[a-z]+=|url\(' AS harmless,
  svg LIKE '%of model &lt;b&gt;&quot;R&amp;D&quot;&lt;/b&gt; &#39;&#xE9;&#39; long%' AS named, svg LIKE '%&#x2026;%' AS cut_short, svg ~ '&(?!(lt|gt|amp|quot|#39|#x[0-9A-F]+);)' AS unknown_entity,
  svg LIKE '%prefers-color-scheme:dark%' AS dark FROM picture ORDER BY 1;
SELECT svg LIKE '%>&lt;script&gt;alert(&quot;&amp;&#x2026;<%' AS class_shown FROM picture WHERE kind = 'confusion';
-- every element is closed: nothing is left if elements without children are taken away, from inside out
CREATE FUNCTION ev_peel(svg text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE before text := '';
BEGIN
  svg := regexp_replace(svg, '<[a-z]+( [a-zA-Z0-9:-]+="[^"<>]*")*/>', '', 'g');
  WHILE svg <> before LOOP
    before := svg;
    svg := regexp_replace(svg, '<([a-z]+)( [a-zA-Z0-9:-]+="[^"<>]*")*>[^<>]*</\1>', '', 'g');
  END LOOP;
  RETURN trim(svg, E'\n');
END $$;
SELECT kind, ev_peel(svg) AS left_over FROM picture ORDER BY 1;
-- a dot for every epsilon on both lines, two levels, the model's own marked; shares in percent
SELECT kind, (SELECT count(*) FROM regexp_matches(svg, '<circle', 'g')) AS dots, (SELECT count(*) FROM regexp_matches(svg, 'r="5"', 'g')) AS large_dots,
  (SELECT count(*) FROM regexp_matches(svg, 'class="level', 'g')) AS levels, (SELECT count(*) FROM regexp_matches(svg, 'class="heat"', 'g')) AS cells FROM picture ORDER BY 1;
SELECT m[1] AS what_is_said FROM regexp_matches(privpred.plot('ev_gradient', 'ev_test'), '<text class="small muted" x="16"[^>]*>([^<]*)<', 'g') m;
-- both axes have titles, the shades a scale, and every cell of many classes a figure
SELECT kind, (SELECT array_agg(m[1]) FROM regexp_matches(svg, '<text class="middle"[^>]*>([^<]*)<', 'g') m) AS titles FROM picture ORDER BY 1;
SELECT privpred.create_model('ev_thirty', 'ev_train', label => 'y', classes => (SELECT array_agg(x) FROM (SELECT 'a' UNION ALL SELECT 'b' UNION ALL SELECT 'class ' || i FROM generate_series(3, 30) i) c(x)), features => '["x"]', learner => 'stump', teachers => 9) ->> 'version' AS version;
SELECT (SELECT count(*) FROM regexp_matches(svg, 'class="heat"', 'g')) AS cells, (SELECT count(*) FROM regexp_matches(svg, '<text class="tiny middle o[nf]+"[^>]*>[0-9]+<', 'g')) AS figures,
  (SELECT count(*) FROM regexp_matches(svg, 'class="shade"', 'g')) AS shades, (SELECT array_agg(m[1]) FROM regexp_matches(svg, '>([0-9]+%)<', 'g') m) AS scale FROM privpred.plot('ev_thirty', 'ev_test', 'confusion') svg;
-- figures do not depend on settings
SET extra_float_digits = -15;
SELECT privpred.plot('ev_vote', 'ev_test') AS accuracy, privpred.plot('ev_vote', 'ev_test', 'confusion') AS confusion \gset short_
SET extra_float_digits = 3;
SELECT privpred.plot('ev_vote', 'ev_test') = :'short_accuracy' AS accuracy, privpred.plot('ev_vote', 'ev_test', 'confusion') = :'short_confusion' AS confusion;
SET extra_float_digits = 0;
SELECT privpred.plot('ev_number', 'ev_test') LIKE '%expected root mean squared error%' AS errors, privpred.plot('ev_sparse', 'ev_test', 'confusion') LIKE '%>unstable<%' AS unstable,
  privpred.plot('ev_vote', 'ev_test', 'confusion') LIKE '%>unstable<%' AS vote_unstable;
-- points of a picture are those of the table: the line of answers to accounts without delta
SELECT count(*) AS points, regr_r2(y, private_accuracy) > 0.99999 AND regr_slope(y, private_accuracy) < 0 AS where_they_belong
FROM (SELECT row_number() OVER () AS i, (m[1])::float8 AS y FROM regexp_matches(privpred.plot('ev_vote', 'ev_test', epsilons => '{0.02,1}'), 'cy="([0-9.]+)" r="[35]" class="f1"', 'g') m) p
JOIN (SELECT row_number() OVER (ORDER BY epsilon) AS i, private_accuracy FROM privpred.accuracy_curve('ev_vote', 'ev_test', '{0.02,1}')) c USING (i);

-- refused, each with a reason
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said text; detail text; hint text;
BEGIN
  EXECUTE statement;
  RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' / ', SQLSTATE || ' ' || said, NULLIF(detail, ''), NULLIF(hint, ''));
END $$;
SELECT privpred.create_model('ev_soft', 'ev_train', label => 'y', classes => '{a,b}', features => '["x"]', mechanism => 'soft', learner => 'logistic', teachers => 15) ->> 'version';
CREATE VIEW ev_unlabelled AS SELECT x FROM ev_test;
CREATE VIEW ev_featureless AS SELECT y FROM ev_test;
SELECT call, refused('SELECT count(*) FROM privpred.' || call) FROM unnest(ARRAY['evaluate(''none'', ''ev_test'')', 'confusion_matrix(''ev_soft'', ''ev_test'')', 'accuracy_curve(NULL, ''ev_test'')', 'accuracy_curve(''ev_vote'', NULL)',
  'accuracy_curve(''ev_vote'', ''ev_test'', ''{0}'')', 'accuracy_curve(''ev_vote'', ''ev_test'', ''{-1}'')', 'accuracy_curve(''ev_vote'', ''ev_test'', ''{NaN}'')', 'accuracy_curve(''ev_vote'', ''ev_test'', ''{Infinity}'')',
  'accuracy_curve(''ev_vote'', ''ev_test'', ''{101}'')', 'accuracy_curve(''ev_vote'', ''ev_test'', ''{NULL}'')', 'accuracy_curve(''ev_vote'', ''ev_test'', ''{{1,2},{3,4}}'')',
  'accuracy_curve(''ev_vote'', ''ev_test'', (SELECT array_agg(i / 100.0) FROM generate_series(1, 1001) i)::float8[])', 'accuracy_curve(''ev_vote'', ''pg_class'')', 'evaluate(''ev_vote'', ''ev_unlabelled'')', 'evaluate(''ev_vote'', ''ev_featureless'')', 'evaluate(''ev_number'', ''ev_unlabelled'')', 'confusion_matrix(''ev_vote'', ''ev_unlabelled'')', 'plot(''ev_vote'', ''ev_unlabelled'')', 'evaluate(''ev_vote'', 0::regclass)',
  'plot(''ev_vote'', ''ev_test'', ''pie'')', 'plot(''ev_vote'', ''ev_test'', NULL)', 'plot(''ev_vote'', ''ev_test'', ''answers'')', 'plot(''ev_vote'', ''ev_test'', ''answers'', epsilon => 0)',
  'plot(''ev_vote'', ''ev_test'', ''answers'', epsilon => 1, delta => 2)', 'plot(''ev_vote'', ''ev_test'', ''answers'', epsilon => 1e-9)', 'plot(''ev_gradient'', ''ev_test'', ''answers'', epsilon => 1)',
  'plot(''ev_sparse'', ''ev_test'', ''answers'', epsilon => 1)', 'plot(''ev_threshold'', ''ev_test'', ''answers'', epsilon => 1)', 'plot(''ev_number'', ''ev_test'', ''confusion'')']) WITH ORDINALITY u (call, i) ORDER BY i;
CREATE TABLE ev_empty (LIKE ev_test);
SELECT refused($$SELECT privpred.plot('ev_vote', 'ev_empty')$$) AS nothing_to_draw, (SELECT bool_and(private_accuracy IS NULL) FROM privpred.accuracy_curve('ev_vote', 'ev_empty')) AS no_figures,
  (SELECT concat(rows, confusion, accuracy_by_epsilon, exact) FROM privpred.evaluate('ev_vote', 'ev_empty')) AS empty, (SELECT count(share) FROM privpred.confusion_matrix('ev_vote', 'ev_empty')) AS shares;
-- nobody but the owner
GRANT SELECT ON ev_test TO ev_other;
SET ROLE ev_other;
SELECT refused('SELECT * FROM privpred.' || call) FROM unnest(ARRAY['evaluate(''ev_vote'', ''ev_test'')', 'confusion_matrix(''ev_vote'', ''ev_test'')', 'accuracy_curve(''ev_vote'', ''ev_test'')',
  'plot(''ev_vote'', ''ev_test'')', 'plot(''ev_vote'', ''ev_test'', ''answers'', epsilon => 1)', 'plot(''ev_number'', ''ev_test'', ''confusion'')']) call;
-- nothing was spent on all of this but by who asked
RESET ROLE;
SELECT DISTINCT role FROM privpred.ledger WHERE relation = 'ev_train'::regclass AND answers > 0 ORDER BY 1;
-- and it can be cancelled
CREATE TABLE ev_many AS SELECT t.* FROM ev_test t, generate_series(1, 20000);
SET statement_timeout = '50ms';
SELECT count(*) FROM privpred.accuracy_curve('ev_vote', 'ev_many');
RESET statement_timeout;

-- errors whose squares are beyond all numbers
SELECT privpred.create_model('ev_huge', 'ev_train', label => 'amount', features => '["x"]', mechanism => 'stable_erm', epsilon => 0.5, options => '{"target": {"min": -1e300, "max": 1e300}}') ->> 'version' AS version;
SELECT e.private_rmse, p.point -> 'private_rmse' AS of_point FROM privpred.evaluate('ev_huge', 'ev_test') e, jsonb_array_elements(e.accuracy_by_epsilon) p(point) WHERE (p.point ->> 'own')::boolean;
SELECT refused('SELECT privpred.plot(''ev_huge'', ''ev_test'')');
SELECT privpred.drop_model('ev_huge');

-- what is estimated takes a bounded number of steps, however many rows and questions there are, and says by how much it may be off
RESET ROLE;
CREATE TABLE ev_large (id int PRIMARY KEY, x float8 NOT NULL, z float8 NOT NULL, y text);
INSERT INTO ev_large SELECT i, (i * 7919 % 20000) / 20000.0, (i * 104729 % 20000) / 20000.0, CASE WHEN i * 7919 % 20000 > 12000 THEN 'b' ELSE 'a' END FROM generate_series(1, 20000) i;
SELECT privpred.protect('ev_large', declared_units => 20000);
SELECT count(privpred.create_model('ev_large ' || m, 'ev_large', label => 'y', classes => '{a,b}', features => '["x", "z"]', mechanism => m, epsilon => 1)) FROM unnest('{relabel,stable_flip}'::text[]) m;
SELECT rows, exact, margin < 0.02 AS near, private_accuracy = approximate_accuracy AS alike, private_accuracy BETWEEN 0.7 AND 0.9 AS flips, majority_accuracy FROM privpred.evaluate('ev_large relabel', 'ev_large');
CREATE VIEW ev_larger AS SELECT l.* FROM ev_large l, generate_series(1, 5);
SELECT m, rows < 100000 AS some_of_them, rows >= 100 AS enough, exact, abs(margin - sqrt(ln(200) / (2 * rows))) < 1e-12 AS off_by, private_accuracy BETWEEN 0.7 AND 0.93 AS flips, majority_accuracy
FROM unnest('{stable_flip}'::text[]) m, privpred.evaluate('ev_large ' || m, 'ev_larger');
SELECT exact, margin FROM privpred.evaluate('ev_vote', 'ev_test');
SELECT privpred.drop_model('ev_large ' || m) FROM unnest('{relabel,stable_flip}'::text[]) m;
DROP TABLE ev_large CASCADE;

SELECT count(privpred.drop_model(name)) FROM privpred.models WHERE relation = 'ev_train'::regclass;
DROP OWNED BY ev_owner, ev_delta, ev_other CASCADE;
DROP TABLE ev_many, drawn, vote;
DROP ROLE ev_owner, ev_delta, ev_other;
