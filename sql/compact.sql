-- Compaction: old debits become sums, and the chain still proves what was spent.
-- A database of its own, because compaction takes the entries of all tables.
SET client_min_messages = warning;
SELECT current_database() AS regression \gset
CREATE DATABASE compaction;
\c compaction
SET client_min_messages = error;
\pset format unaligned
\pset tuples_only
CREATE EXTENSION privpred;
CREATE ROLE compact_owner;
CREATE ROLE compact_other;
CREATE ROLE compact_ann;
CREATE ROLE compact_ben;
GRANT CREATE ON SCHEMA public TO compact_owner, compact_other;
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
-- so many statements of one answer each
CREATE FUNCTION ask(model text, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1..n LOOP
    EXECUTE 'SELECT private_predict($1, ARRAY[0.5])' USING model;
  END LOOP;
END $$;
CREATE FUNCTION make(t text, e float8 DEFAULT 0.1, cap float8 DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, x float8, y text)', t);
  PERFORM privpred.protect(t::regclass, epsilon_cap => cap);
  PERFORM privpred.create_model(t, t::regclass, label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1000, epsilon => e);
END $$;
-- what must not change
CREATE VIEW what AS SELECT role, relation, epsilon_limit, epsilon_spent, delta_spent, epsilon_left, renyi_order, answers_left, status, lifetime_epsilon_spent FROM privpred.budgets;
CREATE VIEW totals AS SELECT role, relation, model, version, kind, asked_by, sum(answers) AS answers, sum(epsilon) AS epsilon, sum(COALESCE(folded, 1)) AS entries
  FROM privpred.ledger WHERE kind <> 'checkpoint' GROUP BY 1, 2, 3, 4, 5, 6;
GRANT SELECT ON what, totals TO PUBLIC;
SET ROLE compact_owner;
SELECT make('capped', cap => 50), make('windows'), make('finite');
SELECT privpred.grant_budget('compact_ann', 'capped', 20), privpred.grant_budget('compact_ben', 'capped', 20),
  privpred.grant_budget('compact_ann', 'windows', 10, refresh => '1 day', lifetime_epsilon => 100), privpred.grant_budget('compact_ben', 'finite', 20, delta => 1e-6);
SELECT privpred.create_model('uniform', 'finite', label => 'y', classes => '{t,f}', features => '["x"]', teachers => 1000, epsilon => 0.1, mechanism => 'sparse') IS NOT NULL;
SET ROLE compact_ann;
SELECT ask('capped', 20), ask('windows', 20);
SELECT count(private_predict('capped', ARRAY[0.5])) FROM generate_series(1, 20);
SET ROLE compact_ben;
SELECT ask('capped', 20), ask('finite', 20);
-- many small blocks, and what is unused of the last comes back
SELECT count(private_predict('finite', ARRAY[0.5])) FROM generate_series(1, 5);
-- a stream that writes for each of its answers
SELECT privpred.open_stream('uniform', 20, 0.1, 1e-8, uniform => true) > 0;
SELECT ask('uniform', 10);
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();
SELECT kind, count(*) > 1 AS several, max(delta) FROM privpred.ledger WHERE kind NOT IN ('unstable', 'settle') GROUP BY 1 ORDER BY 1;
CREATE TABLE what_before AS SELECT * FROM what;
CREATE TABLE totals_before AS SELECT * FROM totals;
CREATE TABLE entries_before AS SELECT * FROM privpred.ledger_entry;

-- ---------- who may, and what is no age ----------

SET ROLE compact_owner;
SELECT refused('SELECT privpred.compact(''0'')');
SELECT refused('SELECT privpred.set_retention(''0'')');
SELECT refused('SELECT privpred.verify_archive()');
SELECT refused('SELECT count(*) FROM privpred.' || t) FROM unnest('{ledger_fold,ledger_sum,ledger_archive,ledger_retention,ledger_mark,ledger_tally}'::text[]) t;
RESET ROLE;
GRANT EXECUTE ON FUNCTION privpred.compact, privpred.set_retention, privpred.verify_archive TO compact_owner;
SET ROLE compact_owner;
SELECT refused('SELECT privpred.compact(''0'')');
SELECT refused('SELECT privpred.set_retention(''0'')');
SELECT refused('SELECT privpred.verify_archive()');
RESET ROLE;
SELECT refused('SELECT privpred.compact()');
SELECT refused('SELECT privpred.compact(''-1 day'')');
SELECT refused('SELECT privpred.compact(''1 day'', at_most => 0)');
SELECT refused('SELECT privpred.set_retention(''-1 s'')');
SELECT refused('SELECT privpred.set_retention(''1001 years'')');
BEGIN READ ONLY;
SELECT refused('SELECT privpred.compact(''0'')');
SELECT refused('SELECT privpred.set_retention(''1 day'')');
COMMIT;
SELECT folded, checkpoints, sums, entries_left = (SELECT count(*) FROM privpred.ledger_entry) FROM privpred.compact('1 day');
SELECT privpred.set_retention('2 days');
SELECT refused('SELECT privpred.compact(''1 day'')');
SELECT folded, checkpoints, sums FROM privpred.compact();
SELECT privpred.set_retention('1 hour', archive => true);
SELECT older_than, archive, set_by = current_user FROM privpred.ledger_retention;
SELECT privpred.set_retention(NULL);
SELECT count(*) FROM privpred.ledger_retention;

-- ---------- folding ----------

-- nothing of it stays if the transaction does not
BEGIN;
SELECT folded > 0 FROM privpred.compact('0', archive => true);
SELECT ok, problem FROM privpred.verify_ledger();
ROLLBACK;
SELECT count(*) FROM (TABLE entries_before EXCEPT TABLE privpred.ledger_entry) e;
SELECT (SELECT count(*) FROM privpred.ledger_fold), (SELECT count(*) FROM privpred.ledger_sum), (SELECT count(*) FROM privpred.ledger_archive);
SELECT folded, checkpoints FROM privpred.compact('0', at_most => 10);
SELECT folded, checkpoints, entries_left, sums FROM privpred.compact('0', archive => true) \gset
SELECT ok, problem FROM privpred.verify_ledger();
SELECT :folded = (SELECT count(*) FROM privpred.ledger_archive), true, :entries_left + :checkpoints = (SELECT count(*) FROM privpred.ledger_entry) AS with_checkpoints;
SELECT folded, checkpoints FROM privpred.compact('0');
SELECT ok, problem FROM privpred.verify_ledger();
-- grants and the like stay, and so does the last entry
SELECT kind, count(*) FROM privpred.ledger_entry WHERE kind NOT IN ('unstable', 'tested', 'checkpoint') GROUP BY 1 ORDER BY 1;
SELECT kind, sum(entries) > 0 FROM privpred.ledger_sum GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM (SELECT * FROM what EXCEPT SELECT * FROM what_before) e;
SELECT count(*) FROM (SELECT * FROM totals EXCEPT SELECT * FROM totals_before) e;
SELECT count(*) FROM (SELECT * FROM totals_before EXCEPT SELECT * FROM totals) e;
SELECT privpred.report() ~ '>\d+ entries that you may see', privpred.report() ~ ('<b>' || (SELECT sum(answers) FROM totals_before) || '</b> answers paid for');
-- each sees his own
SET ROLE compact_ann;
SELECT role, relation, sum(answers), sum(epsilon), sum(folded) > 10, min(id), min(encode(head, 'hex')) FROM privpred.ledger WHERE folded IS NOT NULL GROUP BY 1, 2 ORDER BY 2;
SET ROLE compact_other;
SELECT count(*) FROM privpred.ledger;
RESET ROLE;
-- heads: one that is left, the last of a run, and one that is gone
SELECT ok FROM privpred.verify_ledger((SELECT head FROM entries_before WHERE kind = 'grant' ORDER BY id DESC LIMIT 1));
SELECT ok FROM privpred.verify_ledger((SELECT head FROM privpred.ledger_fold ORDER BY first LIMIT 1));
SELECT problem FROM privpred.verify_ledger((SELECT b.head FROM entries_before b JOIN privpred.ledger_fold f ON b.id = f.first ORDER BY b.id LIMIT 1));
-- the recipe of docs/ledger.md, with what is left of runs
SELECT bool_and(f.before = b.head) FROM privpred.ledger_fold f JOIN entries_before b ON b.id = f.first - 1;
SELECT bool_and(f.head = b.head) FROM privpred.ledger_fold f JOIN entries_before b ON b.id = f.last;

-- ---------- whoever changes what is left is found out ----------

CREATE FUNCTION tampered(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found text;
BEGIN
  SET LOCAL session_replication_role = replica;
  EXECUTE command;
  SET LOCAL session_replication_role = origin;
  SELECT COALESCE(regexp_replace(problem, ', entries \d+.*', ''), 'NOTHING') INTO found FROM privpred.verify_ledger();
  RAISE EXCEPTION '%', found USING ERRCODE = 'ZZ001';
EXCEPTION WHEN SQLSTATE 'ZZ001' THEN
  RETURN regexp_replace(SQLERRM, '\d+', 'N', 'g');
END $$;
SELECT tampered('UPDATE privpred.ledger_sum SET answers = answers - 1 WHERE number = 1');
SELECT tampered('UPDATE privpred.ledger_sum SET units = units - 1 WHERE number = 1');
SELECT tampered('UPDATE privpred.ledger_sum SET cap_units = cap_units - 1 WHERE number = 1');
SELECT tampered('UPDATE privpred.ledger_sum SET model = ''other'' WHERE number = 1');
SELECT tampered('UPDATE privpred.ledger_sum SET at = at - interval ''1 us'' WHERE number = 1');
SELECT tampered('UPDATE privpred.ledger_sum SET entries = entries + 1 WHERE number = 1');
SELECT tampered('UPDATE privpred.ledger_sum SET delta = 1e-9 WHERE kind = ''balance''');
SELECT tampered('DELETE FROM privpred.ledger_sum WHERE kind = ''balance''');
-- a sum, its balance and the account, so that all of them agree
SELECT tampered('WITH s AS (SELECT first, account_id FROM privpred.ledger_sum WHERE kind = ''lease'' ORDER BY first DESC, number LIMIT 1),
  x AS (UPDATE privpred.ledger_sum u SET units = u.units - 1 FROM s WHERE u.account_id = s.account_id AND u.first = s.first AND u.number = (SELECT min(number) FROM privpred.ledger_sum m WHERE m.first = s.first AND m.account_id = s.account_id AND m.kind = ''lease'')),
  y AS (UPDATE privpred.account a SET spent_units = a.spent_units - 1 FROM s WHERE a.account_id = s.account_id)
  SELECT') LIKE 'entries N to N were folded, and their sums do not fit account N';
SELECT tampered('UPDATE privpred.ledger_sum SET units = units - 1 WHERE first = (SELECT max(first) FROM privpred.ledger_sum WHERE kind = ''lease'') AND account_id = 4 AND (kind = ''balance'' OR number = (SELECT min(number) FROM privpred.ledger_sum WHERE account_id = 4 AND kind = ''lease'' AND first = (SELECT max(first) FROM privpred.ledger_sum WHERE kind = ''lease''))); UPDATE privpred.account SET spent_units = spent_units - 1 WHERE account_id = 4');
SELECT tampered('DELETE FROM privpred.ledger_fold WHERE first = (SELECT min(first) FROM privpred.ledger_fold)');
SELECT tampered('UPDATE privpred.ledger_fold SET head = sha256(head)');
SELECT tampered('UPDATE privpred.ledger_fold SET before = sha256(before)');
SELECT tampered('DELETE FROM privpred.ledger_entry WHERE id = (SELECT max(id) FROM privpred.ledger_entry)');
SELECT tampered('DELETE FROM privpred.ledger_entry WHERE id = (SELECT min(id) FROM privpred.ledger_entry WHERE kind = ''checkpoint'')');
SELECT tampered('UPDATE privpred.ledger_entry SET detail = replace(detail, ''sums'', ''sum'') WHERE kind = ''checkpoint''');
SELECT tampered('INSERT INTO privpred.ledger_entry SELECT * FROM entries_before WHERE id = (SELECT min(first) FROM privpred.ledger_fold)');
SELECT tampered('INSERT INTO privpred.ledger_fold SELECT last + 1000, last + 1001, before, head FROM privpred.ledger_fold');
SELECT refused('UPDATE privpred.ledger_sum SET units = 0');
SELECT refused('DELETE FROM privpred.ledger_fold');
SELECT refused('TRUNCATE privpred.ledger_sum');

-- ---------- the archive ----------

SELECT ok, problem, entries = (SELECT count(*) FROM privpred.ledger_archive), runs > 0, runs_absent FROM privpred.verify_archive();
SELECT count(*) FROM (TABLE privpred.ledger_archive EXCEPT TABLE entries_before) e;
CREATE TEMP TABLE aside AS TABLE privpred.ledger_archive;
SELECT ok, problem FROM privpred.verify_archive('aside');
CREATE FUNCTION aside_is(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found text;
BEGIN
  EXECUTE command;
  SELECT COALESCE(problem, 'NOTHING') INTO found FROM privpred.verify_archive('aside');
  RAISE EXCEPTION '%', found USING ERRCODE = 'ZZ001';
EXCEPTION WHEN SQLSTATE 'ZZ001' THEN
  RETURN regexp_replace(SQLERRM, '\d+', 'N', 'g');
END $$;
SELECT aside_is('UPDATE aside SET pid = pid + 1 WHERE id = (SELECT max(id) - 3 FROM aside)');
SELECT aside_is('UPDATE aside SET head = sha256(head) WHERE id = (SELECT max(id) FROM aside)');
SELECT aside_is('DELETE FROM aside WHERE id = (SELECT min(id) + 3 FROM aside)');
SELECT aside_is('DELETE FROM aside WHERE id = (SELECT min(id) FROM aside)');
SELECT aside_is('DELETE FROM aside WHERE id = (SELECT max(id) FROM aside)');
SELECT aside_is('INSERT INTO aside SELECT * FROM entries_before WHERE kind = ''grant''');
SELECT aside_is('ALTER TABLE privpred.ledger_sum DISABLE TRIGGER append_only; UPDATE privpred.ledger_sum SET units = units + 1 WHERE kind = ''balance''');
CREATE VIEW aside_view AS TABLE aside;
SELECT refused('SELECT privpred.verify_archive(''aside_view'')');
SELECT refused('SELECT privpred.verify_archive(''privpred.ledger_fold'')') ~ '^42703';
-- columns of other types, and entries that lack what all entries have
CREATE TABLE aside_types (LIKE privpred.ledger_archive);
ALTER TABLE aside_types ALTER head TYPE int USING 7;
SELECT refused('SELECT privpred.verify_archive(''aside_types'')');
CREATE TABLE aside_nulls (LIKE privpred.ledger_archive);
ALTER TABLE aside_nulls ALTER kind DROP NOT NULL, ALTER head DROP NOT NULL;
INSERT INTO aside_nulls (id, at, answers, units, cap_units, pid, window_units, delta) SELECT first, now(), 1, 1, 1, 1, 1, 0 FROM privpred.ledger_fold ORDER BY first LIMIT 1;
SELECT ok, regexp_replace(problem, '\d+', 'N'), entries FROM privpred.verify_archive('aside_nulls');
DROP TABLE aside_types, aside_nulls;

-- ---------- verifying from where it was verified ----------

SELECT ok, problem FROM privpred.verify_ledger(incremental => true);
SELECT id = (SELECT max(id) FROM privpred.ledger_entry), head = (SELECT head FROM privpred.verify_ledger()) FROM privpred.ledger_mark;
SET ROLE compact_ann;
SELECT ask('capped', 3);
SELECT ok, problem FROM privpred.verify_ledger(incremental => true);
RESET ROLE;
-- an analyst does not move the mark
SELECT id = (SELECT max(id) FROM privpred.ledger_entry) FROM privpred.ledger_mark;
SELECT ok, problem FROM privpred.verify_ledger((SELECT head FROM privpred.ledger_mark), incremental => true);
SELECT id = (SELECT max(id) FROM privpred.ledger_entry) FROM privpred.ledger_mark;
SELECT ok, problem FROM privpred.verify_ledger((SELECT head FROM privpred.ledger_entry WHERE id = 3), incremental => true);
SELECT problem FROM privpred.verify_ledger(sha256('other'), incremental => true);
CREATE FUNCTION since(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found text;
BEGIN
  SET LOCAL session_replication_role = replica;
  EXECUTE command;
  SET LOCAL session_replication_role = origin;
  SELECT concat('incremental: ', COALESCE(i.problem, 'nothing'), '; full: ', COALESCE(f.problem, 'nothing')) INTO found
  FROM privpred.verify_ledger(incremental => true) i, privpred.verify_ledger() f;
  RAISE EXCEPTION '%', found USING ERRCODE = 'ZZ001';
EXCEPTION WHEN SQLSTATE 'ZZ001' THEN
  RETURN regexp_replace(SQLERRM, '\d+', 'N', 'g');
END $$;
SET ROLE compact_ann;
SELECT ask('capped', 3);
RESET ROLE;
SELECT since('UPDATE privpred.ledger_entry SET pid = pid + 1 WHERE id = (SELECT max(id) FROM privpred.ledger_entry)');
SELECT since('UPDATE privpred.ledger_entry SET actor = ''nobody'' WHERE id = 2');
SELECT since('DELETE FROM privpred.ledger_entry WHERE id >= (SELECT id FROM privpred.ledger_mark)');
SELECT since('UPDATE privpred.account SET spent_units = spent_units - 1 WHERE account_id = 2');
-- a mark within a run that is folded later is of no use, and does no harm
SET ROLE compact_ann;
SELECT ask('capped', 20);
RESET ROLE;
SELECT folded > 20 FROM privpred.compact('0');
SELECT count(*) FROM privpred.ledger_mark m JOIN privpred.ledger_fold f ON m.id >= f.first AND m.id < f.last;
SELECT ok, problem FROM privpred.verify_ledger(incremental => true);
SELECT id = (SELECT max(id) FROM privpred.ledger_entry) FROM privpred.ledger_mark;
BEGIN READ ONLY;
SELECT ok, problem FROM privpred.verify_ledger(incremental => true);
COMMIT;

-- ---------- an entry that was changed is not folded away ----------

SET ROLE compact_ann;
SELECT ask('capped', 20);
RESET ROLE;
BEGIN;
SET LOCAL session_replication_role = replica;
UPDATE privpred.ledger_entry SET units = units / 2, cap_units = cap_units / 2 WHERE id = (SELECT max(id) - 5 FROM privpred.ledger_entry);
SELECT regexp_replace(refused('SELECT privpred.compact(''0'')'), '\d+ or', 'N or');
ROLLBACK;
BEGIN;
SET LOCAL session_replication_role = replica;
UPDATE privpred.ledger_sum SET units = units - 1 WHERE number = 1;
SELECT regexp_replace(regexp_replace(refused('SELECT privpred.compact(''0'')'), 'entries \d+ to \d+', 'N'), 'account \d+', 'account N');
ROLLBACK;

-- ---------- windows, joins, certificates, tables that come back ----------

UPDATE privpred.account SET window_anchor = window_anchor - interval '1 day', window_start = window_start - interval '1 day' WHERE refresh IS NOT NULL;
SET ROLE compact_ann;
SELECT ask('windows', 20);
SELECT epsilon_spent, lifetime_epsilon_spent FROM privpred.budgets WHERE relation = 'windows'::regclass;
RESET ROLE;
SELECT folded > 0 FROM privpred.compact('0');
SET ROLE compact_ann;
SELECT ask('windows', 20);
SELECT epsilon_spent, lifetime_epsilon_spent FROM privpred.budgets WHERE relation = 'windows'::regclass;
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();

SET ROLE compact_owner;
SELECT make('other');
SELECT privpred.grant_budget('compact_ann', 'other', 10), privpred.grant_budget('compact_ben', 'other', 10, delta => 1e-6);
SET ROLE compact_ben;
SELECT privpred.close_stream('uniform');
SET ROLE compact_ann;
SELECT ask('other', 30);
SET ROLE compact_ben;
SELECT ask('other', 30);
RESET ROLE;
SELECT folded > 0 FROM privpred.compact('0');
SET ROLE compact_owner;
SELECT privpred.protect('other', same_units_as => 'finite');
SELECT role, relation, epsilon_spent > 3 AS spent FROM privpred.budgets WHERE relation = 'finite'::regclass AND role IS NOT NULL ORDER BY 1;
SET ROLE compact_ann;
SELECT ask('other', 30);
RESET ROLE;
SELECT ok, problem FROM privpred.verify_ledger();
SELECT folded > 0 FROM privpred.compact('0');
SELECT ok, problem FROM privpred.verify_ledger();
SELECT count(*) > 0 FROM privpred.ledger_entry WHERE kind = 'join';

SET ROLE compact_owner;
INSERT INTO capped SELECT i, 0.5, 't' FROM generate_series(1, 10) i;
SELECT privpred.retrain('capped') IS NOT NULL;
SELECT privpred.forget('capped', '3', delete_rows => true) ->> 'certificate' AS certificate \gset
SET ROLE compact_ann;
SELECT ask('capped', 20);
RESET ROLE;
SELECT folded > 0 FROM privpred.compact('0');
SET ROLE compact_owner;
SELECT ok FROM privpred.verify_certificate(privpred.certificate(:certificate), '3');
DROP TABLE capped;
SELECT make('capped');
SELECT privpred.grant_budget('compact_ann', 'capped', 20);
SET ROLE compact_ann;
SELECT epsilon_spent > 5 FROM privpred.budgets WHERE relation = 'capped'::regclass;
RESET ROLE;
SELECT folded FROM privpred.compact('0', at_most => NULL);
SELECT ok, problem FROM privpred.verify_ledger();
SELECT ok, problem, runs_absent > 0 FROM privpred.verify_archive();

-- ---------- the extension's owner ----------

SET ROLE compact_other;
SELECT refused('SELECT privpred.compact(''0'')') ~ '^42501';
RESET ROLE;
DROP TABLE finite, other, windows, capped, what_before, totals_before, entries_before CASCADE;
DROP EXTENSION privpred CASCADE;
\c :regression
DROP DATABASE compaction WITH (FORCE);
DROP ROLE compact_owner, compact_other, compact_ann, compact_ben;
