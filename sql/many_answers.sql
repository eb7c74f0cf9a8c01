-- Many answers within one budget: the epsilon of each falls like one over the root of their number
-- (docs/planning.md, "Many answers"), as grant_budget, cost and plan have it and as is computed here again.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE ROLE many_pure;
CREATE ROLE many_approximate;

-- Computed anew, from (Canonne, Kamath, Steinke 2020, proposition 12): at order a, the budget holds what
-- remains of epsilon after the conversion with half of delta; a draw of bounded range e costs a e^2 / 8
-- there, any other e-private one a e^2 / 2.  The largest e for one answer; T of them take its root.
CREATE FUNCTION many_law(epsilon float8, delta float8, parts float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT max(sqrt(parts * greatest(epsilon + ln(delta / 2 * a) / (a - 1) - ln(1 - 1 / a), 0) / a))
  FROM generate_series(0, 3000) i, LATERAL (SELECT 1 + exp(i / 300.0) AS a) o $$;
CREATE TABLE many_laws AS SELECT m AS mechanism, b::float8 AS epsilon, d::float8 AS delta, many_law(b, d, p) AS one
FROM (VALUES ('vote', 8), ('average', 2)) AS mechanisms (m, p), (VALUES (1, 1e-6), (4, 1e-9)) AS budgets (b, d);
SELECT mechanism, epsilon, delta, round(one::numeric, 5) AS one FROM many_laws ORDER BY 1, 2;
\set law '(SELECT one FROM many_laws WHERE mechanism = ''vote'' AND epsilon = 1)'

-- epsilon_for: the law over the root of T, with delta; 1/T without; whatever is larger where T is small
SELECT mechanism, epsilon, bool_and(abs(e.per_answer / greatest(one / sqrt(t), epsilon / t) - 1) < 1e-5) AS by_root,
  bool_and(abs(f.per_answer / (epsilon / t) - 1) < 1e-5) AS pure_by_sum, round(regr_slope(log(e.per_answer), log(t::float8)) FILTER (WHERE t >= 1000)::numeric, 3) AS slope,
  round(regr_slope(log(f.per_answer), log(t::float8))::numeric, 3) AS pure_slope
FROM many_laws l, unnest('{2,20,1000,4000,16000}'::bigint[]) t, privpred.epsilon_for(epsilon, delta, t, mechanism) e, privpred.epsilon_for(epsilon, 0, t, mechanism) f
GROUP BY mechanism, epsilon ORDER BY 1, 2;

-- grant_budget and cost: what a budget really gives at an epsilon, to the last answer
CREATE TABLE many_prices (name text, e float8);
INSERT INTO many_prices VALUES ('many_08', 0.08), ('many_04', 0.04), ('many_02', 0.02), ('many_01', 0.01);
SELECT s.* FROM many_prices, LATERAL (VALUES (1, format('CREATE TABLE %I AS SELECT i AS id, i %% 100 / 100.0::float8 AS x, i %% 100 >= 50 AS y FROM generate_series(1, 600) i', name)),
  (2, format('ALTER TABLE %I ADD PRIMARY KEY (id)', name))) v (place, statement), LATERAL (SELECT statement) s ORDER BY name, place \gexec
SELECT count(privpred.protect(name::regclass)) AS protected FROM many_prices;
SELECT count(privpred.create_model(name, name::regclass, 'y', '["x"]', learner => 'stump', teachers => 15, epsilon => e)) AS trained FROM many_prices;
SELECT count(privpred.grant_budget(r.role, name::regclass, epsilon => 1, delta => r.delta)) AS granted
FROM many_prices, (VALUES ('many_pure'::regrole, 0), ('many_approximate', 1e-6)) AS r (role, delta);
CREATE TABLE many_told (role name DEFAULT current_user, name text, given bigint, asked bigint, one_more text);
GRANT ALL ON many_told TO PUBLIC;
GRANT SELECT ON many_prices TO PUBLIC;
CREATE FUNCTION many_asked(model text, answers bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(private_predict(model, ARRAY[i % 100 / 100.0])) FROM generate_series(1, answers) i);
EXCEPTION WHEN configuration_limit_exceeded THEN
  RETURN 'refused';
END $$;
SET privpred.repeat_memory = 0;
SET ROLE many_pure;
INSERT INTO many_told (name, given) SELECT name, c.answers_left FROM many_prices, privpred.cost(name) c;
UPDATE many_told SET asked = many_asked(name, given)::bigint WHERE role = current_user;
UPDATE many_told SET one_more = many_asked(name, 1) WHERE role = current_user;
SET ROLE many_approximate;
INSERT INTO many_told (name, given) SELECT name, c.answers_left FROM many_prices, privpred.cost(name) c;
UPDATE many_told SET asked = many_asked(name, given)::bigint WHERE role = current_user;
UPDATE many_told SET one_more = many_asked(name, 1) WHERE role = current_user;
RESET ROLE;
-- half the epsilon buys four times the answers with delta, twice as many without
SELECT e AS per_answer, role, given, CASE role WHEN 'many_pure' THEN floor(1 / e + 1e-9) ELSE floor((:law / e) ^ 2) END AS by_law, asked, one_more
FROM many_told JOIN many_prices USING (name) ORDER BY 2 DESC, 1 DESC;

-- plan: the same prices, what that does to accuracy, and whom it recommends
SELECT t AS answers, max(per_answer_epsilon) FILTER (WHERE mechanism = 'vote') AS per_answer,
  abs(max(per_answer_epsilon) FILTER (WHERE mechanism = 'vote') / greatest(:law / sqrt(t), 1.0 / t) - 1) < 0.005 AS by_law,
  max(expected_accuracy) FILTER (WHERE mechanism = 'vote') AS vote, max(expected_accuracy) FILTER (WHERE mechanism = 'average') AS average,
  max(expected_accuracy) FILTER (WHERE mechanism = 'gradient') AS gradient, max(expected_accuracy) FILTER (WHERE mechanism = 'distill') AS distill,
  max(mechanism || COALESCE(' ' || substring(parameters FROM 'learner => ''(\w+)'), '')) FILTER (WHERE recommended) AS take
FROM unnest('{1,10,100,1000,10000,1000000}'::bigint[]) t, privpred.plan(39074, 50, 2, 1, 1e-6, t, 0.844) GROUP BY t ORDER BY t;
SELECT t AS answers, max(expected_accuracy) FILTER (WHERE mechanism = 'vote') AS vote, max(mechanism) FILTER (WHERE recommended) AS take_without_delta
FROM unnest('{1,10,100,1000}'::bigint[]) t, privpred.plan(39074, 50, 2, 1, 0, t, 0.844) GROUP BY t ORDER BY t;
SELECT t AS answers, max(mechanism) FILTER (WHERE recommended) AS take_of_millions_that_agree
FROM unnest('{10,10000}'::bigint[]) t, privpred.plan(20000000, 20, 2, 1, 1e-6, t, 0.999) GROUP BY t ORDER BY t;

SELECT count(privpred.revoke_budget(r, name::regclass)) AS revoked FROM many_prices, unnest('{many_pure,many_approximate}'::regrole[]) r;
SET client_min_messages = warning;
SELECT format('DROP TABLE %I', name) FROM many_prices \gexec
DROP TABLE many_laws, many_prices, many_told;
DROP FUNCTION many_law, many_asked;
DROP OWNED BY many_pure, many_approximate;
DROP ROLE many_pure, many_approximate;
