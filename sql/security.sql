-- Attacks that an analyst might try.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
CREATE ROLE sec_owner;
CREATE ROLE sec_analyst;
CREATE SCHEMA sec_o AUTHORIZATION sec_owner;
CREATE SCHEMA sec_a AUTHORIZATION sec_analyst;
GRANT USAGE ON SCHEMA sec_o TO sec_analyst;
SET ROLE sec_owner;
CREATE TABLE sec_o.t (id int PRIMARY KEY, x float8, y text);
INSERT INTO sec_o.t SELECT i, (i % 100) / 100.0, CASE WHEN i % 100 > 50 THEN 'b' ELSE 'a' END FROM generate_series(1, 400) i;
CREATE FUNCTION sec_o.step(state float8, label text, x float8[]) RETURNS float8 IMMUTABLE LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT COALESCE(state, 0) + x[1]';
CREATE AGGREGATE sec_o.train(text, float8[]) (SFUNC = sec_o.step, STYPE = float8);
-- careless: abs and > are not qualified, and it tells
CREATE FUNCTION sec_o.predict(state float8, x float8[]) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
$$ BEGIN RAISE WARNING 'teacher says %', state; RETURN CASE WHEN abs(x[1]) > 0.5 THEN 'b' ELSE 'a' END; END $$;
SELECT privpred.protect('sec_o.t');
SELECT privpred.create_model('sec', 'sec_o.t', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 5, epsilon => 100, learner => 'sql',
  options => '{"train": "sec_o.train", "predict": "sec_o.predict"}') ->> 'version';
SELECT privpred.grant_budget('sec_analyst', 'sec_o.t', epsilon => 10000);

-- the asker's objects are not found by the owner's function, and its warnings not heard
SET ROLE sec_analyst;
CREATE TABLE sec_a.loot (who text, secret float8);
GRANT ALL ON SCHEMA sec_a TO PUBLIC;
GRANT ALL ON sec_a.loot TO PUBLIC;
CREATE FUNCTION sec_a.abs(x float8) RETURNS float8 LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO sec_a.loot SELECT current_user, (SELECT sum(t.x) FROM sec_o.t t); RETURN 1; END $$;
CREATE FUNCTION sec_a.less(float8, numeric) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO sec_a.loot VALUES (current_user, $1); RETURN false; END $$;
CREATE OPERATOR sec_a.> (LEFTARG = float8, RIGHTARG = numeric, FUNCTION = sec_a.less);
SET search_path = sec_a, pg_catalog, public;
SELECT private_predict('sec', ARRAY[0.9]), private_predict('sec', ARRAY[0.1]);
RESET search_path;
SELECT count(*) AS loot FROM sec_a.loot;

-- a wrapper that runs as its definer pays with the definer's budget, and only with that
RESET ROLE;
CREATE ROLE sec_other;
CREATE FUNCTION sec_a.wrapper() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT public.private_predict('sec', ARRAY[0.9]) $$;
ALTER FUNCTION sec_a.wrapper() OWNER TO sec_analyst;
SET ROLE sec_other;
SELECT sec_a.wrapper();
RESET ROLE;

-- views filter before the asker's functions see a row
SET ROLE sec_other;
CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE WARNING 'saw %', $1; RETURN true; END $$;
SELECT count(*) FROM privpred.models WHERE pg_temp.leak(name);
SELECT count(*) FROM privpred.budgets WHERE pg_temp.leak(role_name);
SELECT count(*) FROM privpred.ledger WHERE pg_temp.leak(asked_by);

-- functions that are for the server are closed
SELECT privpred.on_sql_drop();
SELECT privpred.adopt_ledger();
RESET ROLE;

DROP SCHEMA sec_o, sec_a CASCADE;
DROP OWNED BY sec_analyst, sec_other;
DROP ROLE sec_owner, sec_other, sec_analyst;
