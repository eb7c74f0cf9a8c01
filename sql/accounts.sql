-- Approximate accounts, caps, windows, and changing grants.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
SET extra_float_digits = 0;
SET timezone = 'UTC';
SET privpred.max_answers_per_statement = 100000;
\pset format unaligned
\pset tuples_only
-- what a refusal says: code, message, detail, hint
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
CREATE ROLE accounts_owner;
CREATE ROLE accounts_ann;
CREATE ROLE accounts_bob;
CREATE ROLE accounts_eve;
GRANT CREATE ON SCHEMA public TO accounts_owner;
CREATE FUNCTION spend(model text, n int) RETURNS text LANGUAGE sql AS $$
  SELECT refused(format('SELECT private_predict(%L, ARRAY[0.5]) FROM generate_series(1, %s)', model, n)) $$;
-- the ledger's process ends the leases of finished statements
CREATE FUNCTION answered(who regrole) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE result bigint;
BEGIN
  FOR i IN 1 .. 500 LOOP
    EXIT WHEN NOT EXISTS (SELECT FROM privpred.open_lease);
    PERFORM pg_sleep(0.01);
  END LOOP;
  SELECT coalesce(sum(e.answers), 0) INTO result FROM privpred.ledger e
  WHERE e.role = who AND e.relation = 'people'::regclass;
  RETURN result;
END $$;
CREATE FUNCTION budget(who regrole) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM answered(who);
  RETURN (SELECT format('(%s, %s) order %s spent (%s, %s) left %s answers %s bound by %s, %s, share %s, lifetime %s of %s',
      epsilon_limit, delta_limit, round(renyi_order::numeric, 4), epsilon_spent, delta_spent, epsilon_left, answers_left, binding_cap, status,
      round(spent_share::numeric, 4), lifetime_epsilon_spent, lifetime_epsilon_limit)
    FROM privpred.budgets WHERE role = who AND relation = 'people'::regclass);
END $$;

SET ROLE accounts_owner;
CREATE TABLE people (id int PRIMARY KEY, x float8, y text);
INSERT INTO people SELECT i, (i % 100) / 100.0, CASE WHEN i % 100 < 50 THEN 'a' ELSE 'b' END FROM generate_series(1, 400) i;
SELECT privpred.protect('people');
SELECT privpred.create_model('small', 'people', label => 'y', classes => '{a,b}', features => '["x"]', learner => 'centroid', teachers => 10, epsilon => 0.01) ->> 'epsilon';

-- ---------- pure and approximate ----------
SELECT privpred.grant_budget('accounts_ann', 'people', epsilon => 1, delta => 1e-6);
SELECT privpred.grant_budget('accounts_bob', 'people', epsilon => 1);
SELECT budget('accounts_ann');
SELECT budget('accounts_bob');
SET ROLE accounts_ann;
SELECT * FROM privpred.cost('small', 10);
SELECT fits FROM privpred.cost('small', (SELECT answers FROM privpred.answers_for(1, 1e-6, 0.01)));
SELECT fits FROM privpred.cost('small', (SELECT answers + 1 FROM privpred.answers_for(1, 1e-6, 0.01)));
SELECT spend('small', 1);
SELECT budget('accounts_ann');
SELECT * FROM privpred.cost('small', 10);
SELECT spend('small', 100000);
SELECT answered('accounts_ann') = answers AS all_of_them, answers > 10 * answers_by_summation AS over_ten_times
FROM privpred.answers_for(1, 1e-6, 0.01);
SELECT budget('accounts_ann');
SELECT * FROM privpred.cost('small');
SET ROLE accounts_bob;
SELECT spend('small', 100000);
SELECT answered('accounts_bob');
SELECT budget('accounts_bob');
-- charges in the account's own units, beside its order
SELECT role, sum(answers) AS answers, sum(epsilon) AS epsilon, max(renyi_order) AS renyi_order
FROM privpred.ledger WHERE kind IN ('lease', 'settle') GROUP BY 1;
SET ROLE accounts_ann;
SELECT role, sum(answers) AS answers, sum(epsilon) AS epsilon, round(max(renyi_order)::numeric, 4) AS renyi_order
FROM privpred.ledger WHERE kind IN ('lease', 'settle') GROUP BY 1;
SET ROLE accounts_owner;
-- an order of no use stays infinite: few large answers
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 1, delta => 1e-6, per_answer => 0.5);
SELECT budget('accounts_eve');

-- ---------- changing a grant ----------
-- epsilon alone: order and delta stay, and what was spent
SELECT privpred.grant_budget('accounts_ann', 'people', epsilon => 2);
SELECT budget('accounts_ann');
-- below what is spent: frozen
SELECT privpred.grant_budget('accounts_ann', 'people', epsilon => 0.9);
SELECT budget('accounts_ann');
SET ROLE accounts_ann;
SELECT spend('small', 1);
SET ROLE accounts_owner;
SELECT frozen_accounts FROM privpred.verify_ledger();
-- a larger delta: another order, lower, with everything that was spent
SELECT privpred.grant_budget('accounts_ann', 'people', epsilon => 2, delta => 1e-4);
SELECT budget('accounts_ann');
-- back again: the order stays; half of the first delta was used up by the change
SELECT refused($c$SELECT privpred.grant_budget('accounts_ann', 'people', epsilon => 2, delta => 1e-7)$c$);
SELECT privpred.grant_budget('accounts_ann', 'people', epsilon => 2, delta => 1e-5);
SELECT budget('accounts_ann');
-- a pure budget cannot hold what was spent at a finite order
SELECT refused($c$SELECT privpred.grant_budget('accounts_ann', 'people', epsilon => 100, delta => 0)$c$);
-- but what was spent purely can be carried to a finite one
SELECT privpred.grant_budget('accounts_bob', 'people', epsilon => 3, delta => 1e-6);
SELECT budget('accounts_bob');
SET ROLE accounts_bob;
SELECT spend('small', 100);
SET ROLE accounts_owner;
SELECT budget('accounts_bob');
-- nothing spent: everything can be chosen anew
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 1, per_answer => 0.001);
SELECT budget('accounts_eve');
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 1, delta => 0);
SELECT budget('accounts_eve');
SELECT role, kind, detail FROM privpred.ledger WHERE kind IN ('grant', 'convert') ORDER BY id, at;
SELECT ok, problem FROM privpred.verify_ledger();

-- ---------- windows ----------
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 0.05, refresh => '1 day');
SELECT budget('accounts_eve');
SELECT window_resets_at = granted_at + interval '1 day' AS resets_in_a_day, refresh FROM privpred.budgets WHERE role = 'accounts_eve'::regrole;
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 0.05, lifetime_epsilon => 0.12);
SET ROLE accounts_eve;
SELECT regexp_replace(spend('small', 100), '\d{4}-\d\d-\d\d [0-9:.+]*\d', 'WHEN');
SELECT answered('accounts_eve');
SELECT budget('accounts_eve');
SELECT fits, answers_left FROM privpred.cost('small');
-- a day passes
RESET ROLE;
UPDATE privpred.account SET window_anchor = window_anchor - interval '1 day', window_start = window_start - interval '1 day' WHERE refresh IS NOT NULL;
SET ROLE accounts_eve;
SELECT budget('accounts_eve');
SELECT answers_left, epsilon_left_after FROM privpred.cost('small');
SELECT split_part(spend('small', 100), '|', 2);
SELECT answered('accounts_eve');
-- and ten more: only the lifetime is left
RESET ROLE;
UPDATE privpred.account SET window_anchor = window_anchor - interval '10 days', window_start = window_start - interval '10 days' WHERE refresh IS NOT NULL;
SET ROLE accounts_eve;
SELECT budget('accounts_eve');
SELECT spend('small', 100);
SELECT answered('accounts_eve');
SELECT budget('accounts_eve');
SELECT kind = 'refresh' AS refresh, sum(answers) AS answers, sum(epsilon) AS epsilon, count(*) FILTER (WHERE kind = 'refresh') AS times
FROM privpred.ledger WHERE role = 'accounts_eve'::regrole AND kind IN ('lease', 'settle', 'refresh') GROUP BY 1 ORDER BY 1;
SET ROLE accounts_owner;
SELECT ok, problem FROM privpred.verify_ledger();
-- what is unspecified stays; another length begins now, with what the window has spent
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 0.03);
SELECT refresh, lifetime_epsilon_limit, epsilon_spent, binding_cap FROM privpred.budgets WHERE role = 'accounts_eve'::regrole;
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 0.03, refresh => '1 month');
SELECT refresh, lifetime_epsilon_limit, epsilon_spent, window_resets_at = granted_at + interval '1 month' AS resets_in_a_month FROM privpred.budgets WHERE role = 'accounts_eve'::regrole;
-- no windows: everything that was ever spent counts
SELECT refused($c$SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 0.03, refresh => '0')$c$);
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 0.03, refresh => '0', lifetime_epsilon => 'Infinity');
SELECT budget('accounts_eve');
-- a window on an account that has spent begins with that
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 0.2, refresh => '1 hour', lifetime_epsilon => 1);
SELECT budget('accounts_eve');
-- a revoked budget that is granted again has no windows unless they are given
SELECT privpred.revoke_budget('accounts_eve', 'people');
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 0.2);
SELECT refresh IS NULL AS no_window, epsilon_spent, lifetime_epsilon_limit FROM privpred.budgets WHERE role = 'accounts_eve'::regrole;
SELECT refused(format($c$SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 1, %s)$c$, a))
FROM unnest(ARRAY['refresh => ''59 seconds''', 'refresh => ''-1 day''', 'refresh => ''1 month -1 day''', 'refresh => ''101 years''', 'lifetime_epsilon => 1',
  'refresh => ''1 day'', lifetime_epsilon => ''NaN''', 'refresh => ''1 day'', lifetime_epsilon => ''-Infinity''', 'refresh => ''1 day'', lifetime_epsilon => 0',
  'delta => 1', 'delta => ''NaN''', 'delta => 1e-310', 'delta => -1e-9', 'per_answer => 0', 'per_answer => 101']) a;
-- approximate windows
SELECT privpred.grant_budget('accounts_eve', 'people', epsilon => 0.6, delta => 1e-6, refresh => '1 day', lifetime_epsilon => 3);
SELECT budget('accounts_eve');
SET ROLE accounts_eve;
SELECT spend('small', 20);
SET ROLE accounts_owner;
SELECT budget('accounts_eve');
SELECT ok, problem FROM privpred.verify_ledger();

-- which window a time is in, by months and in UTC whatever the session's zone
SET timezone = 'America/New_York';
SELECT starts AT TIME ZONE 'UTC', ends AT TIME ZONE 'UTC' FROM privpred.account_window('2026-01-31 00:00:00Z', '1 month', '2026-03-30 12:00:00Z');
SELECT starts AT TIME ZONE 'UTC', ends AT TIME ZONE 'UTC' FROM privpred.account_window('2026-01-31 00:00:00Z', '1 day', '2026-03-08 23:59:59Z');
SET timezone = 'UTC';
SELECT count(*) AS windows, bool_and(starts <= at AND at < ends AND starts = anchor + n * refresh) AS right
FROM (SELECT timestamptz '2026-01-01 00:00:00Z' AS anchor, r AS refresh, (timestamptz '2026-01-01 00:00:00Z' + i * interval '7 hours 11 minutes') AS at
  FROM generate_series(0, 200) i, unnest(ARRAY[interval '1 minute', '90 minutes', '1 day', '36 hours']) r) s,
  LATERAL privpred.account_window(anchor, refresh, at),
  LATERAL (SELECT floor(extract(epoch FROM at - anchor) / extract(epoch FROM refresh))::int AS n) t;

-- ---------- the cap over all roles ----------
-- it counts what was spent at the lowest order in use, or not at all
SELECT refused($c$SELECT privpred.protect('people', epsilon_cap => 10)$c$);
SELECT refused($c$SELECT privpred.protect('people', delta_cap => 1e-6)$c$);
SELECT refused($c$SELECT privpred.protect('people', epsilon_cap => 10, delta_cap => 1)$c$);
SELECT privpred.protect('people', epsilon_cap => 10, delta_cap => 1e-6);
RESET ROLE;
SELECT b.epsilon_limit, b.delta_limit, b.binding_cap, b.status,
  a.spent_units = (SELECT sum(spent_units) FROM privpred.account r WHERE r.relation_id = a.relation_id AND r.role <> 0) AS all_counted,
  a.renyi_order <= (SELECT min(renyi_order) FROM privpred.account r WHERE r.relation_id = a.relation_id AND r.role <> 0 AND spent_units > 0) AS at_no_higher_order
FROM privpred.budgets b JOIN privpred.account a USING (account_id) WHERE b.role IS NULL AND b.relation = 'people'::regclass;
SET ROLE accounts_owner;
SELECT ok, problem FROM privpred.verify_ledger();

-- the cap is charged for the draw that the payer gets: permute-and-flip costs it
-- four times what the exponential mechanism does
CREATE TABLE others (id int PRIMARY KEY, x float8, y text);
SELECT privpred.protect('others', epsilon_cap => 1, delta_cap => 1e-6);
SET client_min_messages = warning;
SELECT privpred.create_model('other', 'others', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 10, epsilon => 0.01) ->> 'epsilon';
RESET client_min_messages;
SELECT privpred.grant_budget('accounts_ann', 'others', epsilon => 1, delta => 1e-6);
SELECT privpred.grant_budget('accounts_bob', 'others', epsilon => 1);
SET ROLE accounts_ann;
SELECT spend('other', 1);
SET ROLE accounts_bob;
SELECT spend('other', 1);
RESET ROLE;
SELECT e.role_name, e.units = e.cap_units AS same, e.units = 10000000000 AS plain, c.cap AS bounded_range, e.cap_units = c.pure AS pure
FROM privpred.ledger_entry e JOIN privpred.account cap ON cap.account_id = e.cap_id,
  LATERAL (SELECT privpred.account_charge('bounded range 0.01', 'pure 0.01', cap.renyi_order, cap.renyi_order) = e.cap_units AS cap,
    privpred.account_charge('bounded range 0.01', 'pure 0.01', NULL, cap.renyi_order) AS pure) c
WHERE e.relation_name LIKE '%others' AND e.kind = 'lease' ORDER BY e.id;
SELECT privpred.account_charge('bounded range 0.01', 'pure 0.01', NULL, 10 << 20) AS pure, privpred.account_charge('bounded range 0.01', 'pure 0.01', 10 << 20, 10 << 20) AS bounded_range;
-- of both limits the least
SET ROLE accounts_bob;
SELECT answers_left, binding_cap FROM privpred.budgets WHERE relation = 'others'::regclass;
SELECT answers_left FROM privpred.cost('other');
SELECT split_part(spend('other', 10000), ' | ', 2);
SET ROLE accounts_ann;
SELECT b.answers_left -> 'other' = to_jsonb(c.answers_left) AS agree, binding_cap FROM privpred.budgets b, privpred.cost('other') c WHERE relation = 'others'::regclass;
SELECT spend('other', 10000);
SET ROLE accounts_owner;
SELECT ok, problem FROM privpred.verify_ledger();

-- ---------- groups: the one that buys most pays, whatever its units ----------
RESET ROLE;
CREATE ROLE accounts_pure_team;
CREATE ROLE accounts_fine_team;
GRANT accounts_pure_team, accounts_fine_team TO accounts_eve;
SET ROLE accounts_owner;
CREATE TABLE teams (id int PRIMARY KEY, x float8, y text);
SELECT privpred.protect('teams', epsilon_cap => 100);
SET client_min_messages = warning;
SELECT privpred.create_model('team', 'teams', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 10, epsilon => 0.01) ->> 'epsilon';
RESET client_min_messages;
SELECT privpred.grant_budget('accounts_pure_team', 'teams', epsilon => 1);
SELECT privpred.grant_budget('accounts_fine_team', 'teams', epsilon => 1, delta => 1e-6);
SET ROLE accounts_eve;
SELECT answers_left FROM privpred.cost('team');
SELECT spend('team', 1);
SELECT role, answers FROM privpred.ledger WHERE relation = 'teams'::regclass AND kind = 'lease';
SELECT spend('team', 10000);
SELECT role, sum(answers) FROM privpred.ledger WHERE relation = 'teams'::regclass AND kind IN ('lease', 'settle') GROUP BY role ORDER BY role::text;
SET ROLE accounts_owner;
-- under an infinite cap everything costs its epsilon
SELECT epsilon_spent, renyi_order FROM privpred.budgets WHERE relation = 'teams'::regclass AND role IS NULL;
SELECT ok, problem FROM privpred.verify_ledger();

-- ---------- tampering is noticed ----------
RESET ROLE;
CREATE FUNCTION tampered(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
  EXECUTE 'UPDATE privpred.account SET ' || change || ' WHERE role = ''accounts_eve''::regrole';
  SELECT regexp_replace(problem, 'account \d+', 'account N') INTO result FROM privpred.verify_ledger();
  RAISE EXCEPTION '%', result;
EXCEPTION WHEN raise_exception THEN
  RETURN SQLERRM;
END $$;
SELECT c, tampered(c) FROM unnest(ARRAY['renyi_order = renyi_order - 1', 'renyi_order = NULL', 'delta_limit = delta_limit * 2', 'epsilon_units = epsilon_units + 1',
  'window_limit_units = window_limit_units + 1', 'limit_units = limit_units + 1', 'lifetime_epsilon_units = lifetime_epsilon_units + 1', 'limit_units = NULL',
  'window_spent_units = 0', 'refresh = ''1 minute''', 'delta_spent = 1e-9']) c;
SELECT ok FROM privpred.verify_ledger();

SET ROLE accounts_owner;
SELECT privpred.drop_model('small');
SELECT privpred.drop_model('other');
SELECT privpred.drop_model('team');
SELECT privpred.revoke_budget(role, relation) FROM privpred.budgets WHERE role IS NOT NULL;
RESET ROLE;
DROP TABLE people, others, teams;
REVOKE CREATE ON SCHEMA public FROM accounts_owner;
DROP ROLE accounts_owner, accounts_ann, accounts_bob, accounts_eve, accounts_pure_team, accounts_fine_team;
DROP FUNCTION spend, refused, answered, budget, tampered;
