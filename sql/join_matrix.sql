-- Tables that were protected apart are joined: every kind of charge on either side, spent or not, with and without caps.
-- What was spent adds up, nothing is paid for twice, the chain holds, and both go on.
\set VERBOSITY terse
SET client_min_messages = error;
SET privpred.repeat_memory = 0;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE ROLE jm_ann;
CREATE SCHEMA jm;
GRANT USAGE ON SCHEMA jm TO jm_ann;
SET search_path = jm, public;
CREATE TABLE pairs (n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a text, b text, asks_a boolean, asks_b boolean, cap text, refused text);
INSERT INTO pairs (a, b, asks_a, asks_b, cap)
	SELECT a, b, asks_a, asks_b, cap FROM unnest('{vote,gradient,sparse}'::text[]) a, unnest('{vote,gradient,sparse}'::text[]) b,
		unnest('{f,t}'::boolean[]) asks_a, unnest('{f,t}'::boolean[]) asks_b, unnest('{none,a,both}'::text[]) cap ORDER BY 1, 2, 3, 4, 5;
GRANT SELECT ON pairs TO jm_ann;
CREATE FUNCTION make(relation text, mechanism text, capped boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (u int PRIMARY KEY, x float8 NOT NULL, y boolean NOT NULL)', relation);
	EXECUTE format('INSERT INTO %I SELECT i, i / 30.0, i > 15 FROM generate_series(1, 30) i', relation);
	PERFORM privpred.protect(relation::regclass, declared_units => 30, max_rows_per_unit => 1, epsilon_cap => CASE WHEN capped THEN 200 END, delta_cap => CASE WHEN capped THEN 0.01 END);
	PERFORM privpred.create_model('jm_' || relation, relation::regclass, 'y', '{"x": {"min": 0, "max": 1}}', mechanism => mechanism, teachers => 5, epsilon => 1);
	PERFORM privpred.grant_budget('jm_ann', relation::regclass, epsilon => 40, delta => 1e-3);
END $$;
SELECT count(make('a' || n, a, cap <> 'none')), count(make('b' || n, b, cap = 'both')) FROM pairs;

-- One answer, or two where only the first is paid for.
CREATE FUNCTION ask(model text, mechanism text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF mechanism = 'sparse' THEN
		PERFORM privpred.open_stream(model, unstable => 5, epsilon => 0.2, delta => 1e-6);
	END IF;
	PERFORM public.private_predict(model, ARRAY[0.5]);
	IF mechanism <> 'vote' THEN
		PERFORM public.private_predict(model, ARRAY[0.4]);
	END IF;
	RETURN 1;
END $$;
CREATE FUNCTION closed(model text, mechanism text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF mechanism = 'sparse' THEN
		PERFORM privpred.close_stream(model);
	END IF;
	RETURN 1;
END $$;
SET ROLE jm_ann;
SELECT count(ask('jm_a' || n, a)) FILTER (WHERE asks_a) AS a, count(ask('jm_b' || n, b)) FILTER (WHERE asks_b) AS b FROM pairs;
RESET ROLE;
CREATE VIEW spent AS
	SELECT p.n, t.side, coalesce(a.role = 0, false) AS cap, sum(a.spent_units) AS spent, sum(a.delta_spent) AS delta
	  FROM pairs p, unnest('{a,b}'::text[]) t(side), privpred.protected_relation r, privpred.account a
	 WHERE r.relation = (t.side || p.n)::regclass AND a.relation_id = r.population GROUP BY 1, 2, 3;
CREATE TABLE before AS SELECT * FROM spent;
SELECT side, cap, count(*), count(*) FILTER (WHERE spent > 0) AS used FROM before GROUP BY 1, 2 ORDER BY 1, 2;

-- b joins a; refused while a stream of b is open
CREATE FUNCTION joined(n int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM privpred.protect(('b' || n)::regclass, same_units_as => ('a' || n)::regclass);
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
UPDATE pairs SET refused = joined(n);
SELECT b, asks_b, refused, count(*) FROM pairs GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SET ROLE jm_ann;
SELECT count(closed('jm_b' || n, b)) FROM pairs WHERE refused IS NOT NULL AND asks_b;
RESET ROLE;
UPDATE pairs SET refused = joined(n) WHERE refused IS NOT NULL;
SELECT count(*) AS all, count(refused) AS refused FROM pairs;

-- Sums, of the budget and of the cap.  Without a cap of its own, b brings to a's cap what its roles have spent.
CREATE TABLE after AS SELECT * FROM spent;
SELECT p.a, p.b, p.asks_a, p.asks_b, p.cap, x.cap AS of_cap, x.spent, a.spent AS a, b.spent AS b
  FROM pairs p JOIN after x ON x.n = p.n AND x.side = 'a' JOIN before a ON a.n = p.n AND a.side = 'a' AND a.cap = x.cap
  LEFT JOIN before b ON b.n = p.n AND b.side = 'b' AND b.cap = (x.cap AND p.cap = 'both')
 WHERE x.spent <> a.spent + b.spent OR x.delta < a.delta + b.delta - 1e-15 OR a.spent IS NULL OR b.spent IS NULL;
SELECT count(*) FROM after x JOIN after y ON y.n = x.n AND y.side = 'b' AND y.cap = x.cap AND x.side = 'a' WHERE x.spent IS DISTINCT FROM y.spent OR x.delta IS DISTINCT FROM y.delta;
SELECT status, count(*) FROM privpred.budgets WHERE relation::text LIKE 'a%' AND role = 'jm_ann'::regrole GROUP BY 1;
SELECT ok, problem FROM privpred.verify_ledger();

-- Where orders differ, a change of order has spent half of a delta, and more must be granted.
SELECT DISTINCT p.a, p.b, p.asks_a, p.asks_b FROM privpred.budgets b JOIN pairs p ON b.relation = ('a' || p.n)::regclass
 WHERE b.role = 'jm_ann'::regrole AND b.status = 'frozen' ORDER BY 1, 2, 3, 4;
SELECT count(privpred.grant_budget('jm_ann', ('b' || n)::regclass, epsilon => 80, delta => 4e-3)) FROM pairs;
CREATE TABLE granted AS SELECT * FROM spent;

-- Both go on: who has paid pays no more, others do, from the joined account.
CREATE FUNCTION goes_on(model text, mechanism text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF mechanism = 'sparse' AND NOT EXISTS (SELECT FROM privpred.streams s WHERE s.model = goes_on.model AND s.status = 'open') THEN
		RETURN jm.ask(model, mechanism);
	END IF;
	PERFORM public.private_predict(model, ARRAY[0.3]);
	RETURN 1;
END $$;
GRANT USAGE ON SCHEMA jm TO jm_ann;
SET ROLE jm_ann;
SELECT count(goes_on('jm_a' || n, a)) AS a, count(goes_on('jm_b' || n, b)) AS b FROM pairs;
RESET ROLE;
-- of released versions and open streams that were paid for, nothing is charged again
SELECT p.a, p.b, p.asks_a, p.asks_b, bool_and(s.spent = x.spent) AS free, bool_and(s.spent > x.spent) AS paid FROM pairs p
  JOIN spent s ON s.n = p.n AND s.side = 'a' AND NOT s.cap JOIN granted x ON x.n = p.n AND x.side = 'a' AND NOT x.cap GROUP BY 1, 2, 3, 4
HAVING bool_and(s.spent = x.spent) <> ((p.a <> 'vote' AND p.asks_a) AND (p.b = 'gradient' AND p.asks_b)) OR bool_and(s.spent > x.spent) = bool_and(s.spent = x.spent);
SELECT ok, problem FROM privpred.verify_ledger();
DROP SCHEMA jm CASCADE;
DROP OWNED BY jm_ann;
DROP ROLE jm_ann;
