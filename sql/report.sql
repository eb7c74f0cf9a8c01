-- The report: shows what its reader may see, says what it leaves out, and is deaf to hostile names.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
\pset format unaligned
SET jit = off;
CREATE FUNCTION times(page text, needle text) RETURNS bigint LANGUAGE sql AS
  $$ SELECT (length(page) - length(replace(page, needle, ''))) / length(needle) $$;
-- tags that are opened and not closed, or the other way round
CREATE FUNCTION unbalanced(page text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT tag FROM unnest('{html,head,style,title,body,header,main,footer,section,article,figure,figcaption,svg,div,table,
    thead,tbody,tr,th,td,ul,li,dl,dt,dd,details,summary,h1,h2,h3,p,i,b,bdi,small,span,code,sup,time}'::text[]) tag
  WHERE times(page, '<' || tag || '>') + times(page, '<' || tag || ' ') <> times(page, '</' || tag || '>') $$;
-- what is in the page, without what depends on the day
CREATE FUNCTION contents(page text) RETURNS TABLE (relations bigint, accounts bigint, caps bigint, charts bigint, lines bigint,
  spenders bigint, models bigint, warnings bigint) LANGUAGE sql AS $$
  SELECT times(page, '<section class="card relation">'), times(page, '<td class="use">'), times(page, '<tr class="cap">'),
    times(page, '<svg '), times(page, '<path class="line '), times(page, '<table class="spenders">'),
    times(page, '<article class="model">'), times(page, '<li class="bad">') + times(page, '<li class="warn">') + times(page, '<li class="note">') $$;
CREATE FUNCTION warnings(page text) RETURNS SETOF text LANGUAGE sql AS
  $$ SELECT regexp_replace(m[1], '<[^>]*>', '', 'g') FROM regexp_matches(page, '<li class="[a-z]+?">(.*?)</li>', 'g') m $$;

CREATE ROLE report_owner;
CREATE ROLE report_ann;
CREATE ROLE report_bob;
CREATE ROLE report_group;
CREATE ROLE report_member IN ROLE report_group;
CREATE ROLE report_stranger;
CREATE ROLE "report <i>'&""
next";

-- nothing to show is a page, too
SET ROLE report_stranger;
SELECT * FROM contents(privpred.report());
SELECT page LIKE '%Nothing needs attention%' AS calm, page LIKE '%You hold no budget%' AS no_budget,
  page LIKE '%no model that you may ask%' AS no_model FROM privpred.report() page;
SELECT unbalanced(privpred.report());
RESET ROLE;

CREATE SCHEMA report AUTHORIZATION report_owner;
SET ROLE report_owner;
CREATE TABLE report.visits (id int PRIMARY KEY, age int, "<b>x" float8, sick text);
INSERT INTO report.visits SELECT i, i % 90, i, CASE WHEN i % 90 > 45 THEN 'yes' ELSE 'no' END FROM generate_series(1, 900) i;
CREATE TABLE report."a <table> & more" (LIKE report.visits INCLUDING ALL);
SELECT privpred.protect('report.visits', epsilon_cap => 30), privpred.protect('report."a <table> & more"');
SELECT privpred.create_model('report plain', 'report.visits', label => 'sick', classes => '{no,yes}',
  features => '{"age": {"min": 0, "max": 90}}', teachers => 10, epsilon => 1) IS NOT NULL AS trained;
SELECT privpred.create_model(E'report </script>\n"''&', 'report.visits', label => 'sick',
  classes => ARRAY['no', 'yes', '<img src=x onerror=alert(1)>', U&'\202Egnorw'],
  features => '{"age": {"min": 0, "max": 90}, "<b>x": {"min": 0, "max": 1000}}', teachers => 10, epsilon => 0.25) IS NOT NULL AS trained;
SELECT privpred.grant_budget('report_ann', 'report.visits', epsilon => 10),
  privpred.grant_budget('report_bob', 'report.visits', epsilon => 4),
  privpred.grant_budget('report_group', 'report.visits', epsilon => 20),
  privpred.grant_budget('report_ann', 'report."a <table> & more"', epsilon => 3),
  privpred.grant_budget(E'"report <i>''&""\nnext"', 'report."a <table> & more"', epsilon => 2.5);
-- no spending yet
SELECT * FROM contents(privpred.report());
SELECT warnings(privpred.report());

-- everybody asks, in statements of their own
SET ROLE report_ann;
SELECT count(private_predict('report plain', ARRAY[80])) FROM generate_series(1, 9);
SET ROLE report_bob;
SELECT count(private_predict(E'report </script>\n"''&', ARRAY[80, 1])) FROM generate_series(1, 4);
SET ROLE report_member;
SELECT count(private_predict('report plain', ARRAY[80])) FROM generate_series(1, 5);
SET ROLE report_owner;
-- what a statement reserved and did not use comes back a moment later
DO $$ BEGIN
  FOR i IN 1 .. 100 LOOP
    EXIT WHEN NOT EXISTS (SELECT FROM privpred.leases);
    PERFORM pg_sleep(0.1);
    COMMIT;
  END LOOP;
END $$;

-- the owner sees all, a role its own, a member its group's, a stranger nothing
SELECT * FROM contents(privpred.report());
SELECT warnings(privpred.report());
SELECT unbalanced(privpred.report());
SELECT m[1] AS asked_by FROM privpred.report() page, regexp_matches(page, '<tr><th scope="row"><bdi>(report_[^<]*)</bdi></th><td class="number', 'g') m;
SET ROLE report_ann;
SELECT * FROM contents(privpred.report());
SELECT warnings(privpred.report());
SELECT page LIKE '%report_ann%' AS own, page LIKE '%report_bob%' AS of_bob, page LIKE '%report_group%' AS of_group FROM privpred.report() page;
SET ROLE report_member;
SELECT * FROM contents(privpred.report());
SELECT page LIKE '%report_ann%' AS of_ann, page LIKE '%report_bob%' AS of_bob, page LIKE '%report_group%' AS of_group FROM privpred.report() page;
SET ROLE report_stranger;
SELECT * FROM contents(privpred.report());

-- names are text, never markup; the page is ASCII and loads nothing
SET ROLE report_owner;
SELECT times(page, '<script') + times(page, '</script') AS scripts, times(page, '<img') AS images, times(page, '<i>&#39;') AS italics,
  times(page, '<b>x') AS bold, page LIKE '%report &lt;/script&gt;&#x240A;&quot;&#39;&amp;%' AS model_shown,
  page LIKE '%report &lt;i&gt;&#39;&amp;&quot;&#x240A;next%' AS role_shown, page LIKE '%a &lt;table&gt; &amp; more%' AS table_shown,
  page LIKE '%&#xFFFD;gnorw%' AS no_reversal, page LIKE '%&lt;b&gt;x</bdi>%' AS feature_shown
FROM privpred.report() page;
SELECT octet_length(page) = length(page) AS ascii, page !~* '<[^>]*\m(src|href|on[a-z]+) *=|url\(|@import' AS self_contained,
  page LIKE '<!DOCTYPE html>%' AS html, page LIKE E'%</html>\n' AS whole, times(page, 'default-src ''none''') AS policy FROM privpred.report() page;
SELECT page LIKE '%prefers-color-scheme:dark%' AS dark, page LIKE '%@media print%' AS print, page LIKE '%max-width:760px%' AS narrow FROM privpred.report() page;

-- axes have titles, limits are drawn, and the key to the bars is there
SELECT times(page, '&epsilon; spent so far') AS y_titles, times(page, '<span class="xtitle">time (') AS x_titles, times(page, '<path class="limit c') AS limits,
  times(page, '<path class="limit total') AS caps, times(page, 'cap over all roles') AS named, times(page, 'above this scale') AS above FROM privpred.report() page;
-- a limit far above what is spent is not drawn to scale, but it is named
SELECT privpred.grant_budget('report_bob', 'report.visits', epsilon => 4000);
SELECT m[1] AS above FROM privpred.report() page, regexp_matches(page, 'limits above this scale: (.*?) &uarr;', 'g') m;
SELECT privpred.grant_budget('report_bob', 'report.visits', epsilon => 4);

-- limits that change are warned of
SELECT privpred.grant_budget('report_ann', 'report.visits', epsilon => 5), privpred.revoke_budget('report_bob', 'report.visits'),
  privpred.protect('report.visits', epsilon_cap => 15);
SELECT warnings(privpred.report());
SET ROLE report_member;
SELECT warnings(privpred.report());
SET ROLE report_owner;

-- what is said of prices: by answers, once, by streams
SELECT privpred.protect('report.visits', declared_units => 900);
SET client_min_messages = warning;
SELECT privpred.create_model('report once', 'report.visits', label => 'sick', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 90}}', mechanism => 'cover', epsilon => 1) IS NOT NULL AS once,
  privpred.create_model('report stream', 'report.visits', label => 'sick', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 90}}', mechanism => 'sparse', teachers => 10, epsilon => 4) IS NOT NULL AS stream;
RESET client_min_messages;
SELECT m[1] AS model, m[2] AS price, regexp_replace(m[3], '<[^>]*>', ' ', 'g') AS amount FROM privpred.report() page,
  regexp_matches(page, '<h3><bdi>(report [a-z]+)</bdi>[^\n]*\n[^\n]*\n<dl>\n<dt>([^<]*)</dt><dd>([^\n]*)</dd>\n', 'g') m;
SELECT count(privpred.drop_model(name)) FROM privpred.models WHERE name IN ('report once', 'report stream');

-- a budget that is refilled needs attention if nothing bounds it
SELECT privpred.grant_budget('report_ann', 'report."a <table> & more"', epsilon => 3, refresh => '1 week', lifetime_epsilon => 20);
SELECT warnings(privpred.report()) ~ 'refilled' AS bounded;
SET client_min_messages = error;
SELECT privpred.grant_budget('report_ann', 'report."a <table> & more"', epsilon => 3, lifetime_epsilon => 'Infinity');
RESET client_min_messages;
SELECT w FROM warnings(privpred.report()) w WHERE w ~ 'refilled';
SELECT privpred.grant_budget('report_ann', 'report."a <table> & more"', epsilon => 3, refresh => '0');

-- history stays as it was when the account gets another order: the line goes through what was true then
CREATE TABLE report.turn (LIKE report.visits INCLUDING ALL);
INSERT INTO report.turn SELECT * FROM report.visits;
SELECT privpred.protect('report.turn');
SELECT privpred.create_model('report turn', 'report.turn', label => 'sick', classes => '{no,yes}', features => '{"age": {"min": 0, "max": 90}}', teachers => 10, epsilon => 0.25) IS NOT NULL AS trained;
SELECT privpred.grant_budget('report_ann', 'report.turn', epsilon => 10);
SET ROLE report_ann;
SELECT count(private_predict('report turn', ARRAY[80])) FROM generate_series(1, 4);
SET ROLE report_owner;
DO $$ BEGIN
  FOR i IN 1 .. 100 LOOP
    EXIT WHEN NOT EXISTS (SELECT FROM privpred.leases);
    PERFORM pg_sleep(0.1);
    COMMIT;
  END LOOP;
END $$;
SELECT privpred.grant_budget('report_ann', 'report.turn', epsilon => 10, delta => 1e-6);
SELECT renyi_order < 'Infinity' AS finite, epsilon_spent > 2 AS converted, epsilon_spent FROM privpred.budgets WHERE relation = 'report.turn'::regclass \gset now_
SELECT :'now_finite' AS finite, :'now_converted' AS converted;
WITH level AS (
  SELECT DISTINCT 300 - m[1]::numeric AS height FROM privpred._report_charts('{report.turn}', now()) c, regexp_matches(c.html, '<path class="line c1" d="([^"]*)"') p, regexp_matches(p[1], 'V([0-9.]+)', 'g') m)
SELECT max(height) > 0 AS drawn, bool_or(abs(height / (SELECT max(height) FROM level) - 1 / :now_epsilon_spent) < 0.01) AS was_one FROM level;
SELECT privpred.drop_model('report turn'), privpred.revoke_budget('report_ann', 'report.turn');

-- the caller's objects are not found in place of ours
CREATE TABLE report.budgets (x int);
CREATE FUNCTION report.count(text) RETURNS bigint LANGUAGE sql AS 'SELECT 4711::bigint';
CREATE FUNCTION report.concat(text, text) RETURNS text LANGUAGE sql AS $$ SELECT 'hijacked' $$;
CREATE FUNCTION report.hijacked(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT 1 / 0 = 1';
CREATE OPERATOR report.= (LEFTARG = text, RIGHTARG = text, FUNCTION = report.hijacked);
CREATE OPERATOR report.~ (LEFTARG = text, RIGHTARG = text, FUNCTION = report.hijacked);
CREATE TEMP TABLE pg_class (oid oid, relowner oid);
SET search_path = report, pg_temp, pg_catalog, privpred, public;
SELECT relations, accounts, caps, charts, lines, spenders, models, warnings FROM public.contents(privpred.report());
SELECT privpred._html('<a> &"''');
SHOW search_path;
RESET search_path;
DROP TABLE pg_temp.pg_class;
DROP OPERATOR report.= (text, text), report.~ (text, text);
DROP TABLE report.turn;

-- figures do not depend on settings
SET extra_float_digits = -15;
SELECT html AS short FROM privpred._report_budgets('{report.visits}') \gset
SET extra_float_digits = 3;
SELECT html = :'short' AS the_same FROM privpred._report_budgets('{report.visits}');
RESET extra_float_digits;
SELECT privpred._amount(x, true) AS up, privpred._amount(x, false) AS down FROM unnest('{0,1,0.3,2.00001,0.00012345678,1e-12,1234567.89012,Infinity}'::numeric[]) x;
SELECT privpred._html(x), privpred._html(x, 3) FROM unnest(ARRAY['plain name', U&'\00E4\20AC\+01F600', E'\t\x7F', U&'\202E\061C\0085', '<&>"''']) x;
SELECT privpred._loss(1, 5e-7, false, true), privpred._loss(0.5, 0, true, true), privpred._nice_step(30, 5), privpred._nice_step(0.0007, 5);

-- in a read-only transaction, twice in a statement
BEGIN READ ONLY;
SELECT count(*) FROM generate_series(1, 2) i, LATERAL (SELECT privpred.report() || i) r(page) WHERE page LIKE '%</html>%';
COMMIT;

-- many roles: twenty are listed and the rest is counted
RESET ROLE;
DO $$ BEGIN
  FOR i IN 1 .. 25 LOOP
    EXECUTE format('CREATE ROLE report_%s', i);
    PERFORM privpred.grant_budget(format('report_%s', i)::regrole, 'report.visits', epsilon => i);
  END LOOP;
END $$;
SET ROLE report_owner;
SELECT * FROM contents(privpred.report());
SELECT m[1] FROM privpred.report() page, regexp_matches(page, '<p class="more">(.*?)</p>', 'g') m;

-- the end of it
RESET ROLE;
DO $$ BEGIN
  FOR i IN 1 .. 25 LOOP
    PERFORM privpred.revoke_budget(format('report_%s', i)::regrole, 'report.visits');
    EXECUTE format('DROP ROLE report_%s', i);
  END LOOP;
END $$;
SET client_min_messages = warning;
DROP SCHEMA report CASCADE;
RESET client_min_messages;
SET ROLE report_ann;
SELECT * FROM contents(privpred.report());
SELECT warnings(privpred.report());
RESET ROLE;
DROP OWNED BY report_ann, report_bob, report_group, "report <i>'&""
next";
DROP ROLE report_ann, report_bob, report_group, report_member, report_stranger, report_owner;
DROP ROLE "report <i>'&""
next";
DROP FUNCTION contents, warnings, unbalanced, times;
