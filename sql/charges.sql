-- What purchases cost: Gaussian noise, deltas, and budgets that cannot pay.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS privpred;
SET extra_float_digits = 0;
\pset format unaligned
\pset tuples_only
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
CREATE ROLE charges_ann;
CREATE ROLE charges_bob;
CREATE TABLE charges_t (id int PRIMARY KEY, x float8, y text);
SELECT privpred.protect('charges_t');
CREATE FUNCTION make(name text, classes text[], mechanism text, epsilon float8, options jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
  SELECT privpred.create_model($1, 'charges_t', label => 'y', classes => $2, features => '{"x": {"min": 0, "max": 1}}',
    mechanism => $3, teachers => 100, epsilon => $4, options => $5) ->> 'version' $$;

-- noise by the number of classes, or as wanted
SELECT make('two', '{a,b}', 'vote', 0.1);
SELECT make('many', '{a,b,c,d,e,f,g}', 'vote', 0.1);
SELECT make('many and dear', '{a,b,c,d,e,f,g}', 'vote', 0.5);
SELECT make('two, gaussian', '{a,b}', 'vote', 0.1, '{"noise": "gaussian"}');
SELECT make('many, exponential', '{a,b,c,d,e,f,g}', 'vote', 0.1, '{"noise": "exponential"}');
SELECT refused($$SELECT make('wrong', '{a,b}', 'vote', 0.1, '{"noise": "uniform"}')$$);
SELECT refused($$SELECT make('wrong', '{a,b}', 'vote', 1e-8, '{"noise": "gaussian"}')$$);
SELECT make('tiny', '{a,b,c,d,e,f,g}', 'vote', 1e-8);
SELECT name, charge_kind, charge, pure_charge FROM privpred.models WHERE relation = 'charges_t'::regclass ORDER BY name;
-- what evaluate says is what is drawn
CREATE TABLE charges_q AS SELECT 0.5::float8 AS x, 'a'::text AS y;
SELECT approximate_accuracy = gaussian_accuracy AND gaussian_accuracy <> exponential_accuracy FROM privpred.evaluate('two, gaussian', 'charges_q');
DROP TABLE charges_q;
-- at one order both noises have one price; the infinite order has none for a Gaussian
SELECT privpred.account_charge('bounded range 0.1', NULL, 10 << 20, 10 << 20) = privpred.account_charge('gaussian 2/800', NULL, 10 << 20, 10 << 20) AS same,
  privpred.account_charge('gaussian 2/800', NULL, 10 << 20, NULL) AS none,
  privpred.account_charge('20 x pure 0.05 + bounded range 0.1, delta 1e-07', NULL, 8 << 20, 8 << 20) AS several;
SELECT refused($$SELECT privpred.account_charge('20 x pure 0.050', NULL, 1, 1)$$);
SELECT privpred.account_purchases('pure 0.1', NULL, 10 << 20, NULL, 250000000000, NULL) AS two,
  privpred.account_purchases('pure 0.1, delta 1e-07', NULL, 10 << 20, NULL, 9000000000000, 3.5e-7) AS three,
  privpred.account_purchases('pure 0.1', NULL, NULL, NULL, 250000000000, NULL) AS cannot;
SELECT privpred.drop_model(name) FROM (VALUES ('many and dear'), ('many, exponential'), ('two, gaussian'), ('tiny')) m (name);

-- each kind of account pays for its own draw
SELECT privpred.grant_budget('charges_ann', 'charges_t', 1);
SELECT privpred.grant_budget('charges_bob', 'charges_t', 1, 1e-6);
SET ROLE charges_ann;
SELECT count(private_predict('many', ARRAY[0.5])) FROM generate_series(1, 2);
SET ROLE charges_bob;
SELECT count(private_predict('many', ARRAY[0.5])) FROM generate_series(1, 2);
RESET ROLE;
SELECT e.role, e.answers, e.units = e.answers * privpred.account_charge(m.charge, m.pure_charge, e.renyi_order, e.renyi_order) AS right
FROM (SELECT a.role, l.answers, l.units, l.renyi_order FROM privpred.ledger_entry l JOIN privpred.account a USING (account_id) WHERE l.kind = 'lease' AND l.relation_name LIKE '%charges_t') e,
  privpred.models m WHERE m.name = 'many' ORDER BY 1;

-- a delta of its own: from accounts that have one, up to half of it, for good
SELECT make('stream', '{a,b}', 'sparse', 0.1);
SET ROLE charges_ann;
SELECT refused($$SELECT privpred.open_stream('stream', 5, 0.02, 1e-8)$$);
SET ROLE charges_bob;
SELECT privpred.open_stream('stream', 10, 0.02, 2e-8) > 0;
SELECT privpred.close_stream('stream');
SELECT delta_limit, delta_spent FROM privpred.budgets WHERE role = 'charges_bob'::regrole;
SELECT refused($$SELECT privpred.open_stream('stream', 20, 0.02, 2e-8)$$);
SELECT privpred.open_stream('stream', 14, 0.001, 2e-8) > 0;
SELECT privpred.close_stream('stream');
SELECT refused($$SELECT privpred.open_stream('stream', 1, 0.001, 3e-8)$$);
RESET ROLE;
SELECT delta_limit, delta_spent FROM privpred.budgets WHERE role = 'charges_bob'::regrole;
SELECT kind, delta FROM privpred.ledger WHERE delta > 0 AND relation = 'charges_t'::regclass ORDER BY id;
-- more delta is granted, less is not
SELECT refused($$SELECT privpred.grant_budget('charges_bob', 'charges_t', 1, 9e-7)$$);
SELECT privpred.grant_budget('charges_bob', 'charges_t', 1, 1e-5);
SET ROLE charges_bob;
SELECT privpred.open_stream('stream', 1, 0.001, 1e-7) > 0;
SELECT privpred.close_stream('stream');
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();

-- a cap counts deltas, of what was spent before it as well
SELECT refused($$SELECT privpred.protect('charges_t', epsilon_cap => 2)$$);
SELECT refused($$SELECT privpred.protect('charges_t', epsilon_cap => 5, delta_cap => 1e-6)$$);
SELECT privpred.protect('charges_t', epsilon_cap => 5, delta_cap => 4e-6);
SELECT delta_limit, c.delta_spent = b.delta_spent AS as_the_role FROM privpred.account c, LATERAL
  (SELECT delta_spent FROM privpred.account WHERE relation_id = c.relation_id AND role = 'charges_bob'::regrole) b WHERE c.role = 0 AND c.relation_id = (SELECT relation_id FROM privpred.protected_relation WHERE relation = 'charges_t'::regclass);
SET ROLE charges_bob;
SELECT refused($$SELECT privpred.open_stream('stream', 2, 0.001, 1e-6)$$);
SELECT privpred.open_stream('stream', 1, 0.001, 1e-7) > 0;
SELECT privpred.close_stream('stream');
RESET ROLE;
SELECT delta_limit, c.delta_spent = b.delta_spent AS as_the_role FROM privpred.account c, LATERAL
  (SELECT delta_spent FROM privpred.account WHERE relation_id = c.relation_id AND role = 'charges_bob'::regrole) b WHERE c.role = 0 AND c.relation_id = (SELECT relation_id FROM privpred.protected_relation WHERE relation = 'charges_t'::regclass);
SELECT ok, problem FROM privpred.verify_ledger();
-- and what is spent cannot be changed unseen
CREATE FUNCTION tampered(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
  EXECUTE 'UPDATE privpred.account SET ' || change || ' WHERE role = ''charges_bob''::regrole';
  SELECT regexp_replace(problem, 'account \d+', 'account N') INTO result FROM privpred.verify_ledger();
  RAISE EXCEPTION USING MESSAGE = result;
EXCEPTION WHEN raise_exception THEN
  RETURN SQLERRM;
END $$;
SELECT tampered('delta_spent = 0') LIKE 'account N says that delta 0 is spent, its entries add up to %';

SELECT privpred.revoke_budget('charges_ann', 'charges_t');
SELECT privpred.revoke_budget('charges_bob', 'charges_t');
DROP TABLE charges_t;
DROP FUNCTION refused, make, tampered;
DROP ROLE charges_ann, charges_bob;
