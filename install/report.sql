----------------------------------------------------------------------
-- report
----------------------------------------------------------------------

-- They run with the caller's rights over the views that filter by role, so a
-- page shows nothing that its reader could not select.  Every list is bounded
-- and says what it leaves out.  Text reaches a page through _html() alone.
-- Figures are numeric, so that they are the same whatever extra_float_digits is.

-- The planner assumes strings of a thousand characters, and would compile too much: JIT is off.
CREATE FUNCTION privpred._html(value text, most int DEFAULT 200) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path TO pg_catalog, pg_temp SET jit TO off AS $$
	-- Plain names are what most names are.
	SELECT CASE WHEN value OPERATOR(pg_catalog.~) '^[A-Za-z0-9_ .,:-]*$'
		AND pg_catalog.length(value) OPERATOR(pg_catalog.<=) most THEN value
		ELSE (
			SELECT pg_catalog.concat(pg_catalog.string_agg(CASE
					WHEN u.code OPERATOR(pg_catalog.=) 38 THEN '&amp;'
					WHEN u.code OPERATOR(pg_catalog.=) 60 THEN '&lt;'
					WHEN u.code OPERATOR(pg_catalog.=) 62 THEN '&gt;'
					WHEN u.code OPERATOR(pg_catalog.=) 34 THEN '&quot;'
					WHEN u.code OPERATOR(pg_catalog.=) 39 THEN '&#39;'
					-- control characters become the pictures of them
					WHEN u.code OPERATOR(pg_catalog.<) 32 THEN pg_catalog.concat('&#x',
						pg_catalog.upper(pg_catalog.to_hex(u.code OPERATOR(pg_catalog.+) 9216)),
						';')
					WHEN u.code OPERATOR(pg_catalog.<) 127 THEN c.letter
					WHEN u.code OPERATOR(pg_catalog.=) 127 THEN '&#x2421;'
					-- what HTML forbids, or what changes the order of its neighbours
					WHEN u.code OPERATOR(pg_catalog.<) 160 OR u.code OPERATOR(pg_catalog.=) 1564
						OR (u.code OPERATOR(pg_catalog.>=) 8206
							AND u.code OPERATOR(pg_catalog.<=) 8207)
						OR (u.code OPERATOR(pg_catalog.>=) 8234
							AND u.code OPERATOR(pg_catalog.<=) 8238)
						OR (u.code OPERATOR(pg_catalog.>=) 8294
							AND u.code OPERATOR(pg_catalog.<=) 8297)
						OR (u.code OPERATOR(pg_catalog.>=) 64976
							AND u.code OPERATOR(pg_catalog.<=) 65007)
						OR pg_catalog.mod(u.code, 65536) OPERATOR(pg_catalog.>=) 65534
							THEN '&#xFFFD;'
					ELSE pg_catalog.concat('&#x', pg_catalog.upper(pg_catalog.to_hex(u.code)),
						';') END,
					'' ORDER BY c.place),
				CASE WHEN pg_catalog.length(value) OPERATOR(pg_catalog.>) most THEN '&#x2026;' END)
			FROM pg_catalog.string_to_table(pg_catalog.left(value, most),
				NULL) WITH ORDINALITY c(letter, place)
			CROSS JOIN LATERAL (
				SELECT CASE
					WHEN pg_catalog.octet_length(c.letter) OPERATOR(pg_catalog.=) 1
						AND pg_catalog.ascii(c.letter) OPERATOR(pg_catalog.<) 128
						THEN pg_catalog.ascii(c.letter)
					-- nobody knows what the upper half of SQL_ASCII means
					WHEN pg_catalog.getdatabaseencoding() OPERATOR(pg_catalog.=) 'SQL_ASCII'
						THEN 65533
					ELSE (
						SELECT pg_catalog.sum((pg_catalog.get_byte(b.bytes,
							i) OPERATOR(pg_catalog.-) CASE WHEN i OPERATOR(pg_catalog.>) 0 THEN 128
								WHEN pg_catalog.octet_length(b.bytes) OPERATOR(pg_catalog.=) 2
									THEN 192
								WHEN pg_catalog.octet_length(b.bytes) OPERATOR(pg_catalog.=) 3
									THEN 224 ELSE 240 END)
							OPERATOR(pg_catalog.*) pg_catalog.power(64,
								pg_catalog.octet_length(b.bytes) OPERATOR(pg_catalog.-) 1
								OPERATOR(pg_catalog.-) i))::pg_catalog.int4
						FROM (SELECT pg_catalog.convert_to(c.letter, 'UTF8') AS bytes) b,
							pg_catalog.generate_series(0, pg_catalog.octet_length(b.bytes)
								OPERATOR(pg_catalog.-) 1) i)
					END AS code) u)
		END $$;
COMMENT ON FUNCTION privpred._html(text, int) IS
'text with the characters that HTML and XML reserve escaped, in ASCII, cut off after so many characters; for report() and plot()';

CREATE FUNCTION privpred._amount(amount numeric, up boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE WHEN amount OPERATOR(pg_catalog.=) 'Infinity' THEN '&infin;'
		WHEN up THEN pg_catalog.trim_scale(pg_catalog.round(pg_catalog.ceil(amount
			OPERATOR(pg_catalog.*) s.scale) OPERATOR(pg_catalog./) s.scale,
			s.decimals))::pg_catalog.text
		ELSE pg_catalog.trim_scale(pg_catalog.round(pg_catalog.floor(amount
			OPERATOR(pg_catalog.*) s.scale) OPERATOR(pg_catalog./) s.scale,
			s.decimals))::pg_catalog.text END
	FROM (
		SELECT d.decimals, pg_catalog.round(pg_catalog.power(10::pg_catalog.numeric,
			d.decimals)) AS scale
		FROM (
			-- small amounts keep four digits that are not zero
			SELECT CASE WHEN pg_catalog.abs(amount) OPERATOR(pg_catalog.>=) 0.1
				OR amount OPERATOR(pg_catalog.=) 0 THEN 4
				ELSE LEAST(12,
					3 OPERATOR(pg_catalog.-) pg_catalog.floor(pg_catalog.log(pg_catalog.abs(
					amount))))::pg_catalog.int4 END AS decimals) d) s $$;
COMMENT ON FUNCTION privpred._amount(numeric, boolean) IS
'an epsilon in a few digits; what is spent is rounded up and what is left down, so that rounding never flatters; for report()';

CREATE FUNCTION privpred._loss(epsilon numeric, delta numeric, pure boolean,
	up boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE WHEN pure THEN privpred._amount(epsilon, up)
		ELSE pg_catalog.concat('(', privpred._amount(epsilon, up), ', ', CASE
			WHEN delta OPERATOR(pg_catalog.=) 0 THEN '0'
			ELSE pg_catalog.regexp_replace(pg_catalog.btrim(pg_catalog.to_char(delta, '9.99EEEE')),
				'\.?0*e', 'e') END, ')') END $$;
COMMENT ON FUNCTION privpred._loss(numeric, numeric, boolean, boolean) IS
'an epsilon, or (epsilon, delta) of an account that is not pure; for report() and plot()';

CREATE FUNCTION privpred._nice_step(range numeric, pieces int) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.trim_scale(p.power OPERATOR(pg_catalog.*) CASE
		WHEN p.least OPERATOR(pg_catalog.<=) p.power THEN 1
		WHEN p.least OPERATOR(pg_catalog.<=) (2 OPERATOR(pg_catalog.*) p.power) THEN 2
		WHEN p.least OPERATOR(pg_catalog.<=) (5 OPERATOR(pg_catalog.*) p.power) THEN 5 ELSE 10 END)
	FROM (
		SELECT l.least, pg_catalog.power(10::pg_catalog.numeric,
			pg_catalog.floor(pg_catalog.log(l.least))) AS power
		FROM (SELECT range OPERATOR(pg_catalog./) pieces AS least) l) p $$;
COMMENT ON FUNCTION privpred._nice_step(numeric, int) IS
'the least of 1, 2, 5, 10, ... that cuts a range into few enough pieces: for axes of report() and plot()';

CREATE FUNCTION privpred._left_out(number bigint, what text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT CASE WHEN number OPERATOR(pg_catalog.>) 0
		THEN pg_catalog.format(e'<p class="more">and %s more %s, not shown</p>\n',
		pg_catalog.to_char(number, 'FM999,999,999,999,999,990'), what) END $$;
COMMENT ON FUNCTION privpred._left_out(bigint, text) IS 'what a list of report() leaves out';

CREATE FUNCTION privpred._report_style() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT $css$
:root{--page:#f4f5f8;--card:#fff;--ink:#1a1f2b;--muted:#667085;--rule:#e3e6ed;--track:#eceff4;
--spent:#3566c5;--nearly:#d98a1f;--full:#c8413b;--left:#cfe3d4;--heat-rgb:53,102,197;
--bad:#c8413b;--warn:#d98a1f;--note:#5b7cb8;--good:#3c8a57;--c0:#3d4657;--c1:#3566c5;
--c2:#d3722c;--c3:#2f8f6b;--c4:#a64ca6;--c5:#c2a21b;--c6:#2a9bb8;--c7:#b8455f;--c8:#98a1b2}
@media screen and (prefers-color-scheme:dark){:root{--page:#12151b;--card:#1b1f28;--ink:#e4e8f0;
--muted:#98a2b5;--rule:#2d3341;--track:#272d39;--spent:#6f9cf0;--nearly:#e8a94a;--full:#ea6f68;
--left:#2f5a42;--heat-rgb:111,156,240;--bad:#ea6f68;--warn:#e8a94a;--note:#86a5de;
--good:#63b982;--c0:#d5dbe8;--c1:#6f9cf0;--c2:#f09a5a;--c3:#57c79b;--c4:#d083d0;--c5:#e0c64f;
--c6:#5cc6e0;--c7:#ef7f98;--c8:#7d8798}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,
"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:1120px;margin:0 auto;padding:0 24px}
header{padding-top:36px;padding-bottom:8px}
h1{font-size:28px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
h2{font-size:18px;margin:0 0 14px}
h3{font-size:15px;margin:0}
header p,.muted,small{color:var(--muted)}
p{margin:0 0 8px}
small{display:block;font-size:12px;font-weight:400;line-height:1.35}
code{font:13px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.card{background:var(--card);border:1px solid var(--rule);border-radius:12px;padding:22px 24px;
margin:16px 0}
.quiet{border-left:4px solid var(--good)}
.quiet h2{margin:0}
.more{color:var(--muted);font-size:13px;margin:10px 0 0}
/* warnings */
.warnings{list-style:none;margin:0;padding:0}
.warnings li{position:relative;padding:7px 0 7px 22px;border-top:1px solid var(--rule)}
.warnings li:first-child{border-top:0}
.warnings li::before{content:"";position:absolute;left:2px;top:14px;width:9px;height:9px;
border-radius:50%;background:var(--note)}
.warnings .bad::before{background:var(--bad);border-radius:2px}
.warnings .warn::before{background:var(--warn)}
/* figures */
.figures{display:grid;grid-template-columns:repeat(4,1fr);gap:16px;margin:16px 0}
.figures div{background:var(--card);border:1px solid var(--rule);border-radius:12px;
padding:14px 20px;color:var(--muted);font-size:13px}
.figures b{display:block;font-size:26px;line-height:1.2;color:var(--ink);
font-variant-numeric:tabular-nums}
/* tables */
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:9px 12px;border-top:1px solid var(--rule);vertical-align:middle}
tbody th{font-weight:600}
thead th{border-top:0;padding-top:0;color:var(--muted);font-size:12px;font-weight:500;
white-space:nowrap}
th:first-child{padding-left:0}
tr>:last-child{padding-right:0}
.number{text-align:right}
.scroll{overflow-x:auto}
.budgets th:first-child{min-width:104px}
.cap .all{font-style:italic}
.use{width:24%;min-width:150px}
.answers{max-width:280px}
.budgets td.number{white-space:nowrap}
.status{display:inline-block;font-size:11px;font-weight:600;padding:0 7px;border-radius:9px;
border:1px solid var(--bad);color:var(--bad);vertical-align:1px}
.pill{display:inline-block;font-size:12px;line-height:1.5;padding:0 8px;border-radius:9px;
background:var(--track);margin:1px 0}
/* bars */
.bar{display:flex;height:14px;border-radius:4px;overflow:hidden;background:var(--track)}
i.spent{background:var(--spent)}
i.nearly{background:var(--nearly)}
i.full{background:var(--full)}
i.closed{background:var(--c8)}
i.left{background:var(--left)}
i.reserved{background:repeating-linear-gradient(135deg,var(--spent) 0 3px,var(--card) 3px 6px)}
i.orphaned{background:repeating-linear-gradient(135deg,var(--full) 0 3px,var(--card) 3px 6px)}
i.withheld{background:repeating-linear-gradient(135deg,var(--rule) 0 3px,var(--card) 3px 6px)}
.key{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:12px;color:var(--muted);margin:12px 0 0}
.key i{display:inline-block;width:18px;height:10px;border-radius:3px;margin-right:6px}
/* chart */
.chart{margin:26px 0}
figcaption{display:flex;gap:12px;align-items:baseline;flex-wrap:wrap}
figcaption p{font-size:12px;margin:0}
.plot{position:relative;margin:14px 0 58px 66px;height:280px}
.plot svg{display:block;width:100%;height:100%;overflow:visible}
.y span{position:absolute;right:100%;margin-right:8px;transform:translateY(-50%);
white-space:nowrap;font-size:12px;color:var(--muted);font-variant-numeric:tabular-nums}
.x span{position:absolute;top:100%;margin-top:6px;transform:translateX(-50%);white-space:nowrap;
font-size:12px;color:var(--muted)}
.ytitle,.xtitle{position:absolute;font-size:12px;color:var(--muted);white-space:nowrap}
.ytitle{right:100%;top:50%;margin-right:34px;writing-mode:vertical-rl;
transform:rotate(180deg) translateY(50%)}
.xtitle{top:100%;left:50%;margin-top:28px;transform:translateX(-50%)}
.above{position:absolute;right:0;top:2px;font-size:12px;color:var(--muted)}
.mark{position:absolute;left:8px;margin-top:3px;font-size:12px;color:var(--bad)}
path{fill:none;vector-effect:non-scaling-stroke}
.grid{stroke:var(--rule)!important;stroke-width:1}
.line{stroke-width:2;stroke-linejoin:round}
.line.c0{stroke-width:1.5}
.limit{stroke-width:1.25;stroke-dasharray:5 5;opacity:.75}
.limit.total{stroke:var(--bad)!important;stroke-width:1.75;opacity:1}
.c0{stroke:var(--c0);background:var(--c0)}
.c1{stroke:var(--c1);background:var(--c1)}
.c2{stroke:var(--c2);background:var(--c2)}
.c3{stroke:var(--c3);background:var(--c3)}
.c4{stroke:var(--c4);background:var(--c4)}
.c5{stroke:var(--c5);background:var(--c5)}
.c6{stroke:var(--c6);background:var(--c6)}
.c7{stroke:var(--c7);background:var(--c7)}
.c8{stroke:var(--c8);background:var(--c8)}
.legend{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:4px 20px;
font-size:13px;font-variant-numeric:tabular-nums}
.legend i{display:inline-block;width:16px;height:3px;border-radius:2px;margin-right:7px;
vertical-align:4px}
/* who spent what */
.spenders{width:auto;min-width:60%;margin-top:8px}
.spenders td,.spenders th{white-space:nowrap}
.spenders bdi{display:inline-block;max-width:180px;white-space:normal;overflow-wrap:break-word}
.spenders th:first-child{padding-right:24px}
.heat{background:rgba(var(--heat-rgb),var(--heat));border:2px solid var(--card)}
.heat small{color:inherit;opacity:.75}
.none{color:var(--muted)}
.sum{font-weight:600}
/* models */
.models{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:16px}
.model{border:1px solid var(--rule);border-radius:10px;padding:16px 18px;min-width:0}
.model p{font-size:13px}
.version{color:var(--muted);font-weight:400;font-size:12px}
dl{display:grid;grid-template-columns:auto 1fr;gap:5px 16px;margin:10px 0;font-size:13px}
dt{color:var(--muted);white-space:nowrap}
dd{margin:0;text-align:right}
summary{cursor:pointer;font-size:13px;color:var(--muted)}
.features{font-size:12px;margin-top:6px}
.features th,.features td{padding:4px 6px 4px 0}
.head{display:inline-block;background:var(--track);border-radius:6px;padding:4px 10px}
footer{color:var(--muted);font-size:13px;padding-top:8px;padding-bottom:40px}
/* telephones */
@media screen and (max-width:760px){header,main,footer{padding-left:12px;padding-right:12px}
header{padding-top:20px}h1{font-size:22px}.card{padding:16px 14px}
.figures{grid-template-columns:repeat(2,1fr);gap:10px}.figures div{padding:10px 14px}
.budgets thead{display:none}.budgets,.budgets tbody{display:block}
.budgets tr{display:grid;grid-template-columns:repeat(4,1fr);gap:4px 10px;padding:12px 0;
border-top:1px solid var(--rule)}
.budgets tr:first-child{border-top:0}
.budgets th,.budgets td{border:0;padding:0;text-align:left;max-width:none;width:auto}
.budgets th,.budgets .use,.budgets .answers{grid-column:1/-1}
.budgets td.number{white-space:normal}
.budgets [data-label]::before{content:attr(data-label);display:block;font-size:11px;
color:var(--muted)}
.plot{height:220px;margin-left:56px}.x span:nth-child(even){display:none}
.models{grid-template-columns:1fr}}
/* paper */
@media print{:root{--page:#fff}body{font-size:11px;-webkit-print-color-adjust:exact;
print-color-adjust:exact}header,main,footer{max-width:none;padding-left:0;padding-right:0}
header{padding-top:0}small,.pill,.status,thead th,.key,.legend,.x span,.y span{font-size:9px}
th,td{padding:4px 8px}h2{font-size:14px}h3,.model p,dl{font-size:11px}code{font-size:10px}
.figures b{font-size:18px}#ledger{break-inside:avoid}.card,.figures div{padding:12px 14px}.plot{
height:200px}
figure,.model,tr,.warnings li{break-inside:avoid}h2,h3{break-after:avoid}}
$css$ $$;
COMMENT ON FUNCTION privpred._report_style() IS
'the style sheet of report(): light, dark, narrow and on paper';

CREATE FUNCTION privpred._report_warnings() RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- Nothing can be done about a table that is gone, so it needs no attention.
	WITH b AS MATERIALIZED (
		SELECT b.relation::pg_catalog.text AS relation, b.role IS NULL AS is_cap, n.role, b.status,
			b.epsilon_limit AS lim, b.epsilon_spent AS spent, b.epsilon_left AS rest,
			b.delta_limit AS delta, b.refresh, b.window_resets_at, b.valid_until,
			b.lifetime_epsilon_limit AS lifetime, b.lifetime_epsilon_spent AS lifetime_spent,
			COALESCE(pg_catalog.pg_has_role(c.relowner, 'USAGE'), false) AS owned,
			CASE WHEN b.role IS NULL THEN pg_catalog.format('The cap on <b><bdi>%s</bdi></b>',
					privpred._html(b.relation::pg_catalog.text))
				ELSE pg_catalog.format('<b><bdi>%s</bdi></b> on <b><bdi>%s</bdi></b>',
					privpred._html(n.role), privpred._html(b.relation::pg_catalog.text))
						END AS account,
			pg_catalog.format('&epsilon; = %s', privpred._amount(b.epsilon_spent, true)) AS amount,
			pg_catalog.format('&epsilon; = %s of %s', privpred._amount(b.epsilon_spent, true),
				privpred._amount(b.epsilon_limit, false)) AS of_limit
		FROM privpred.budgets b
		LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) b.relation::pg_catalog.oid
		LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) b.role::pg_catalog.oid
		CROSS JOIN LATERAL (SELECT COALESCE(r.rolname::pg_catalog.text, b.role_name) AS role) n
		WHERE b.relation IS NOT NULL
	), orphan AS (
		SELECT l.relation::pg_catalog.text AS relation, l.role::pg_catalog.text AS role,
			pg_catalog.count(*) AS leases,
			pg_catalog.sum(l.epsilon) AS spent,
			pg_catalog.array_to_string((pg_catalog.array_agg(l.lease ORDER BY l.lease))[1:5],
				', ') AS which
		FROM privpred.leases l WHERE l.orphaned AND l.relation IS NOT NULL
		GROUP BY l.relation, l.role
	), together AS (
		-- What the roles of a table may learn if they share their answers: the greater of limit
		-- and spending for accounts that are open, else the spending.  Owners see every account.
		SELECT b.relation, pg_catalog.sum(CASE WHEN b.status OPERATOR(pg_catalog.=) 'active'
			THEN GREATEST(b.lim, b.spent)
				ELSE b.spent END) FILTER (WHERE NOT b.is_cap) AS total,
			pg_catalog.max(b.lim) FILTER (WHERE b.is_cap) AS cap,
			pg_catalog.format('The %s roles on <b><bdi>%s</bdi></b> hold %s%s together',
				pg_catalog.count(*) FILTER (WHERE NOT b.is_cap
					AND (b.status OPERATOR(pg_catalog.=) 'active'
					OR b.spent OPERATOR(pg_catalog.>) 0)),
				privpred._html(b.relation),
				CASE WHEN pg_catalog.sum(b.delta)
					FILTER (WHERE NOT b.is_cap) OPERATOR(pg_catalog.>) 0
					THEN '(&epsilon;, &delta;) = ' ELSE '&epsilon; = ' END,
				privpred._loss(pg_catalog.sum(CASE WHEN b.status OPERATOR(pg_catalog.=) 'active'
					THEN GREATEST(b.lim, b.spent)
						ELSE b.spent END) FILTER (WHERE NOT b.is_cap),
					pg_catalog.sum(b.delta) FILTER (WHERE NOT b.is_cap),
					pg_catalog.sum(b.delta) FILTER (WHERE NOT b.is_cap) OPERATOR(pg_catalog.=) 0,
						true)) AS said
		FROM b WHERE b.owned GROUP BY b.relation
		HAVING pg_catalog.count(*) FILTER (WHERE NOT b.is_cap
			AND (b.status OPERATOR(pg_catalog.=) 'active' OR b.spent OPERATOR(pg_catalog.>) 0))
			OPERATOR(pg_catalog.>) 1
	), warning AS (
		SELECT 1 AS place, 'bad' AS class, b.spent, b.relation, b.role,
			pg_catalog.format(
				'%s is frozen: it has spent %s. Nothing is answered until the limit is above '
				'what was spent.', b.account, b.of_limit) AS said
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'frozen'
		UNION ALL
		SELECT 2, 'bad', b.spent, b.relation, b.role, pg_catalog.format('%s is used up: %s%s.',
			b.account,
			CASE WHEN b.spent OPERATOR(pg_catalog.>=) b.lim THEN b.of_limit
				ELSE pg_catalog.format('&epsilon; = %s of %s for ever',
				privpred._amount(b.lifetime_spent, true), privpred._amount(b.lifetime, false)) END,
			CASE WHEN b.lifetime_spent OPERATOR(pg_catalog.<) b.lifetime
				THEN pg_catalog.to_char(b.window_resets_at,
					'". It is refilled at" YYYY-MM-DD HH24:MI TZ') END)
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'active' AND b.spent OPERATOR(pg_catalog.>) 0
			AND b.rest OPERATOR(pg_catalog.<=) 0
			AND (b.spent OPERATOR(pg_catalog.>=) b.lim
				OR b.lifetime_spent OPERATOR(pg_catalog.>=) b.lifetime)
		UNION ALL
		-- for those who do not see the cap itself
		SELECT 3, 'bad', b.spent, b.relation, b.role,
			pg_catalog.format(
				'%s gets no more answers, with %s spent: the cap over all roles is used up.',
				b.account, b.of_limit)
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'active' AND b.rest OPERATOR(pg_catalog.<=) 0
			AND b.spent OPERATOR(pg_catalog.<) b.lim
			AND b.lifetime_spent OPERATOR(pg_catalog.<) b.lifetime AND NOT b.owned
		UNION ALL
		SELECT 4, 'bad', o.spent, o.relation, o.role,
			pg_catalog.format(
				'<b><bdi>%s</bdi></b> on <b><bdi>%s</bdi></b> lost %s %s in a crash, &epsilon; = '
				'%s, which stays spent: some of the answers may have been given. An owner '
				'who knows '
				'better may call <code>privpred.forgive_lease</code> (%s%s).',
				privpred._html(o.role), privpred._html(o.relation), o.leases,
				CASE WHEN o.leases OPERATOR(pg_catalog.=) 1 THEN 'lease' ELSE 'leases' END,
				privpred._amount(o.spent, true), o.which, CASE
					WHEN o.leases OPERATOR(pg_catalog.>) 5 THEN ', ...' END)
		FROM orphan o
		UNION ALL
		SELECT 5, 'warn', b.spent, b.relation, b.role,
			pg_catalog.format('%s has spent %s%% of its budget: %s.',
			b.account, pg_catalog.floor(100 OPERATOR(pg_catalog.*) b.spent
				OPERATOR(pg_catalog./) b.lim), b.of_limit)
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'active'
			AND b.spent OPERATOR(pg_catalog.>=) (0.8 OPERATOR(pg_catalog.*) b.lim)
			AND b.spent OPERATOR(pg_catalog.<) b.lim AND b.lim OPERATOR(pg_catalog.>) 0
		UNION ALL
		SELECT 6, 'warn', t.total, t.relation, NULL,
			pg_catalog.concat(t.said,
				' if they share their answers, and no cap bounds the sum. Declare one: '
				'<code>privpred.protect(&hellip;, epsilon_cap =&gt; &hellip;)</code>.')
		FROM together t WHERE t.cap IS NULL
		UNION ALL
		SELECT 7, 'warn', b.lifetime_spent, b.relation, b.role,
			pg_catalog.format(
				'%s is refilled for ever: over time its privacy loss has no bound. So far '
				'&epsilon; '
				'= %s is spent. Grant it with a <code>lifetime_epsilon</code>.', b.account,
				privpred._amount(b.lifetime_spent, true))
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'active' AND b.refresh IS NOT NULL
			AND b.lifetime OPERATOR(pg_catalog.=) 'Infinity'
		UNION ALL
		SELECT 8, 'note', t.total, t.relation, NULL,
			pg_catalog.format(
				'%s, more than the cap of %s. The cap holds: whoever asks last may be refused with '
				'budget left.', t.said, privpred._amount(t.cap, false))
		FROM together t WHERE t.cap OPERATOR(pg_catalog.<) t.total
		UNION ALL
		SELECT 9, 'note', b.spent, b.relation, b.role,
			pg_catalog.format('%s expired at %s; %s stays spent.',
			b.account, pg_catalog.to_char(b.valid_until, 'YYYY-MM-DD HH24:MI TZ'), b.amount)
		FROM b WHERE b.status OPERATOR(pg_catalog.=) 'expired' AND b.spent OPERATOR(pg_catalog.>) 0
		UNION ALL
		SELECT 10, 'note', b.spent, b.relation, b.role,
			pg_catalog.format('%s is closed (%s); %s stays spent.',
			b.account, b.status, b.amount)
		FROM b WHERE (b.status OPERATOR(pg_catalog.=) 'revoked'
			OR b.status OPERATOR(pg_catalog.=) 'role dropped') AND b.spent OPERATOR(pg_catalog.>) 0
	), ranked AS (
		SELECT w.*, pg_catalog.row_number() OVER (PARTITION BY w.place ORDER BY w.spent DESC,
			w.relation COLLATE pg_catalog."C", w.role COLLATE pg_catalog."C") AS rank
		FROM warning w
	)
	SELECT CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.=) 0
		THEN e'<section class="card quiet" id="warnings">\n'
			'<h2>Nothing needs attention</h2>\n</section>\n'
		ELSE pg_catalog.concat(e'<section class="card" id="warnings">\n<h2>Needs attention</h2>\n'
			'<ul class="warnings">\n',
			pg_catalog.string_agg(pg_catalog.format(e'<li class="%s">%s</li>\n', r.class, r.said),
				''
				ORDER BY r.place, r.rank) FILTER (WHERE r.rank OPERATOR(pg_catalog.<=) 6),
			e'</ul>\n', privpred._left_out(pg_catalog.count(*)
				FILTER (WHERE r.rank OPERATOR(pg_catalog.>) 6), 'warnings'),
			e'</section>\n') END
	FROM ranked r $$;
COMMENT ON FUNCTION privpred._report_warnings() IS 'what in report() needs somebody''s attention';

CREATE FUNCTION privpred._report_budgets(relations text[])
RETURNS TABLE (relation text, html text)
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- In each table the cap comes first, then the fullest accounts.
	WITH b AS (
		SELECT x.relation, n.role, b.role IS NULL AS is_cap, b.status, b.epsilon_limit AS lim,
			b.epsilon_spent AS spent, b.epsilon_left AS rest, b.epsilon_reserved AS reserved,
			b.epsilon_orphaned AS orphaned, b.delta_limit AS delta, b.delta_spent, b.renyi_order,
			b.answers_left, b.binding_cap, b.valid_until, b.window_resets_at AS resets,
			b.lifetime_epsilon_limit AS lifetime, b.lifetime_epsilon_spent AS lifetime_spent,
			GREATEST(b.epsilon_limit, CASE WHEN b.epsilon_spent OPERATOR(pg_catalog.<) 'Infinity'
				THEN b.epsilon_spent END) AS whole,
			pg_catalog.row_number() OVER (PARTITION BY x.relation, b.role IS NULL
				ORDER BY b.status OPERATOR(pg_catalog.<>) 'active'
					AND b.status OPERATOR(pg_catalog.<>) 'frozen',
					CASE WHEN b.epsilon_limit OPERATOR(pg_catalog.>) 0
						THEN b.epsilon_spent OPERATOR(pg_catalog./) b.epsilon_limit END
						DESC NULLS LAST, b.epsilon_spent DESC,
							n.role COLLATE pg_catalog."C") AS rank
		FROM privpred.budgets b
		LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) b.role::pg_catalog.oid
		CROSS JOIN LATERAL (
			SELECT COALESCE(b.relation::pg_catalog.text, pg_catalog.concat(b.relation_name,
				' (dropped)')) AS relation) x
		CROSS JOIN LATERAL (SELECT COALESCE(r.rolname::pg_catalog.text, b.role_name) AS role) n
		WHERE x.relation OPERATOR(pg_catalog.=) ANY (relations)
	), line AS (
		SELECT b.relation, b.is_cap, b.rank, pg_catalog.concat(
			'<tr', CASE WHEN b.is_cap THEN ' class="cap"' END, '><th scope="row">',
			CASE WHEN b.is_cap THEN '<span class="all">all roles together</span>'
				ELSE pg_catalog.format('<bdi>%s</bdi>', privpred._html(b.role)) END,
			CASE WHEN b.status OPERATOR(pg_catalog.<>) 'active'
				THEN pg_catalog.format(' <span class="status">%s</span>', privpred._html(b.status))
					END,
			pg_catalog.to_char(b.valid_until, '"<small>until" YYYY-MM-DD HH24:MI TZ"</small>"'),
			CASE WHEN b.resets IS NOT NULL
				THEN pg_catalog.format('<small>refilled at %s; for ever %s of %s</small>',
				pg_catalog.to_char(b.resets, 'YYYY-MM-DD HH24:MI TZ'),
					privpred._amount(b.lifetime_spent, true),
				privpred._amount(b.lifetime, false)) END,
			'</th><td class="use">',
			CASE WHEN b.whole OPERATOR(pg_catalog.>) 0
				THEN pg_catalog.format(
				'<div class="bar" role="img" aria-label="%s%% spent">%s</div>',
				CASE WHEN b.lim OPERATOR(pg_catalog.>) 0
					THEN LEAST(pg_catalog.floor(100 OPERATOR(pg_catalog.*) b.spent
					OPERATOR(pg_catalog./) b.lim), 100000000) ELSE 100 END,
				(SELECT pg_catalog.string_agg(pg_catalog.format(
					'<i class="%s" style="width:%s%%"></i>', s.class,
						pg_catalog.trim_scale(pg_catalog.round(100 OPERATOR(pg_catalog.*) s.amount
							OPERATOR(pg_catalog./) b.whole, 2))), '' ORDER BY s.place)
					FROM (VALUES
						(1, CASE WHEN b.spent OPERATOR(pg_catalog.>=) b.lim THEN 'spent full'
							WHEN b.status OPERATOR(pg_catalog.<>) 'active' THEN 'spent closed'
							WHEN b.spent OPERATOR(pg_catalog.>=) (0.8 OPERATOR(pg_catalog.*) b.lim)
								THEN 'spent nearly'
							ELSE 'spent' END, LEAST(b.spent, b.whole) OPERATOR(pg_catalog.-) b.reserved
								OPERATOR(pg_catalog.-) b.orphaned),
						(2, 'reserved', b.reserved), (3, 'orphaned', b.orphaned), (4, 'left',
							b.rest),
						(5, 'withheld', b.lim OPERATOR(pg_catalog.-) b.spent
							OPERATOR(pg_catalog.-) b.rest)) s(place, class, amount)
					WHERE s.amount OPERATOR(pg_catalog.>) 0)) END,
			'</td><td class="number" data-label="Spent">',
			privpred._loss(b.spent, b.delta_spent, b.delta OPERATOR(pg_catalog.=) 0, true),
			CASE WHEN b.reserved OPERATOR(pg_catalog.>) 0
				THEN pg_catalog.format('<small>%s of it reserved</small>',
				privpred._amount(b.reserved, true)) END,
			CASE WHEN b.orphaned OPERATOR(pg_catalog.>) 0
				THEN pg_catalog.format('<small>%s of it lost</small>',
				privpred._amount(b.orphaned, true)) END,
			'</td><td class="number" data-label="Limit">',
			COALESCE(privpred._loss(b.lim, b.delta, b.delta OPERATOR(pg_catalog.=) 0, false),
				'<span class="muted">none</span>'),
			'</td><td class="number" data-label="Left">',
			COALESCE(privpred._amount(b.rest, false), '<span class="muted">no limit</span>'),
			CASE WHEN b.binding_cap OPERATOR(pg_catalog.<>) 'role' AND NOT b.is_cap
				AND b.status OPERATOR(pg_catalog.=) 'active'
				THEN pg_catalog.format('<small>by the %s&#39;s cap</small>', CASE
					WHEN b.binding_cap OPERATOR(pg_catalog.=) 'relation' THEN 'table'
						ELSE privpred._html(b.binding_cap) END)
				END,
			'</td><td class="number" data-label="Order">',
				privpred._amount(b.renyi_order::pg_catalog.numeric, true),
			'</td><td class="answers" data-label="Answers left">',
			COALESCE(CASE WHEN b.rest OPERATOR(pg_catalog.>) 0 OR b.lim IS NULL THEN a.pills END,
				'<span class="muted">none</span>'),
			e'</td></tr>\n') AS html
		FROM b LEFT JOIN LATERAL (
			SELECT pg_catalog.concat(pg_catalog.string_agg(pg_catalog.format(
				'<span class="pill"><b>%s</b> <bdi>%s</bdi></span> ',
						CASE WHEN e.answers OPERATOR(pg_catalog.=) 'unlimited'
							THEN 'any number of'
							ELSE e.answers END, privpred._html(e.model)), '' ORDER BY e.place)
					FILTER (WHERE e.place OPERATOR(pg_catalog.<=) 6),
				CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.>) 6
					THEN pg_catalog.format('<small>%s more models</small>',
					pg_catalog.count(*) OPERATOR(pg_catalog.-) 6) END)
				AS pills
			FROM (
				SELECT j.key AS model, j.value AS answers,
					pg_catalog.row_number() OVER (ORDER BY j.key COLLATE pg_catalog."C") AS place
				FROM pg_catalog.jsonb_each_text(b.answers_left) j) e
			HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0) a ON true
		WHERE b.rank OPERATOR(pg_catalog.<=) 20
	)
	SELECT l.relation,
		pg_catalog.concat(e'<table class="budgets">\n<thead><tr><th scope="col">Role</th>'
		'<th scope="col">Use</th><th scope="col" class="number">Spent</th>'
		'<th scope="col" class="number">Limit</th><th scope="col" class="number">Left</th>'
		'<th scope="col" class="number">Order</th><th scope="col">Answers left</th></tr></thead>\n'
		'<tbody>\n', pg_catalog.string_agg(l.html, '' ORDER BY l.is_cap DESC, l.rank),
		e'</tbody>\n</table>\n<p class="key"><span><i class="spent"></i>spent</span> '
		'<span><i class="reserved"></i>reserved by running statements</span> '
		'<span><i class="orphaned"></i>lost in a crash</span> '
		'<span><i class="left"></i>left</span> '
		'<span><i class="withheld"></i>not available</span></p>\n',
		privpred._left_out((SELECT pg_catalog.count(*) FROM b
			WHERE b.relation OPERATOR(pg_catalog.=) l.relation AND NOT b.is_cap)
			OPERATOR(pg_catalog.-) pg_catalog.count(*) FILTER (WHERE NOT l.is_cap), 'roles'))
	FROM line l GROUP BY l.relation $$;
COMMENT ON FUNCTION privpred._report_budgets(text[]) IS 'the budgets of each table in report()';

CREATE FUNCTION privpred._report_charts(relations text[], until timestamptz)
RETURNS TABLE (relation text, html text)
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- The loss of every account at the terms that were in force: charges are added up, and the
	-- sum is converted at the order and delta of the last grant before it, not of today's.
	WITH entry AS MATERIALIZED (
		SELECT x.relation, l.account_id, l.role, l.at, l.epsilon,
			CASE WHEN l.kind OPERATOR(pg_catalog.=) 'grant' THEN l.detail END AS terms,
			CASE WHEN l.kind OPERATOR(pg_catalog.=) 'grant' THEN l.asked_by END AS role_name,
			pg_catalog.count(*) FILTER (WHERE l.kind OPERATOR(pg_catalog.=) 'grant')
				OVER (PARTITION BY l.account_id ORDER BY l.at)
				AS grants
		FROM privpred.ledger l
		CROSS JOIN LATERAL (
			SELECT COALESCE(l.relation::pg_catalog.text, pg_catalog.concat(l.relation_name,
				' (dropped)')) AS relation) x
		WHERE l.role IS NOT NULL AND x.relation OPERATOR(pg_catalog.=) ANY (relations)
	), span AS (
		SELECT e.relation, pg_catalog.min(e.at) AS first,
			GREATEST(until, pg_catalog.max(e.at),
				pg_catalog.min(e.at) OPERATOR(pg_catalog.+) '1 s'::pg_catalog.interval) AS last
		FROM entry e GROUP BY e.relation
	), step AS MATERIALIZED (
		-- Time is cut into 200 pieces, and at each grant; each has the sum at its last entry.
		SELECT e.relation, e.account_id, p.piece, e.grants, pg_catalog.max(e.at) AS at,
			pg_catalog.sum(e.epsilon) AS epsilon,
			pg_catalog.min(e.role::pg_catalog.oid) AS role,
				pg_catalog.max(e.role_name) AS role_name, pg_catalog.max(e.terms) AS terms
		FROM entry e JOIN span s ON s.relation OPERATOR(pg_catalog.=) e.relation
		CROSS JOIN LATERAL (SELECT pg_catalog.floor(200 OPERATOR(pg_catalog.*) pg_catalog.date_part(
			'epoch', e.at OPERATOR(pg_catalog.-) s.first)
			OPERATOR(pg_catalog./) pg_catalog.date_part('epoch',
				s.last OPERATOR(pg_catalog.-) s.first)) AS piece) p
		GROUP BY e.relation, e.account_id, p.piece, e.grants
	), state AS MATERIALIZED (
		SELECT s.relation, s.account_id, s.role, s.role_name, s.at, s.epsilon,
			s.terms IS NOT NULL AS granted,
			o.renyi_order, CASE WHEN o.renyi_order IS NULL THEN s.units
				ELSE privpred.account_epsilon((1000000000000
					OPERATOR(pg_catalog.*) s.units)::pg_catalog.int8,
					pg_catalog.substring(o.terms, 'delta ([0-9.e+-]+)')::pg_catalog.float8,
						o.renyi_order) END AS spent,
			CASE WHEN o.terms OPERATOR(pg_catalog.~) ', every ' THEN pg_catalog.substring(o.terms,
				'lifetime epsilon ([0-9.e+-]+)')
				ELSE pg_catalog.substring(o.terms, '^epsilon ([0-9.e+-]+)') END::pg_catalog.numeric
					AS lim
		FROM (
			SELECT s.*, pg_catalog.sum(s.epsilon) OVER past AS units,
				pg_catalog.array_agg(s.terms) FILTER (WHERE s.terms IS NOT NULL)
					OVER past AS history
			FROM step s
			WINDOW past AS (PARTITION BY s.relation, s.account_id ORDER BY s.piece, s.grants)) s
		CROSS JOIN LATERAL (SELECT s.history[pg_catalog.cardinality(s.history)] AS terms) t
		CROSS JOIN LATERAL (SELECT t.terms,
			(1048576 OPERATOR(pg_catalog.*) pg_catalog.substring(t.terms,
				'order ([0-9.e+-]+)')::pg_catalog.numeric)::pg_catalog.int8 AS renyi_order) o
	), account AS MATERIALIZED (
		SELECT a.*, pg_catalog.row_number() OVER (PARTITION BY a.relation ORDER BY a.spent DESC,
			a.account_id)
				AS line, pg_catalog.count(*) OVER (PARTITION BY a.relation) AS accounts,
			-- losses at finite orders have no sum
			pg_catalog.bool_and(a.pure) OVER (PARTITION BY a.relation) AS adds_up
		FROM (
			SELECT s.relation, s.account_id, pg_catalog.min(s.role) AS role,
				pg_catalog.max(s.role_name) AS role_name,
				pg_catalog.bool_and(s.renyi_order IS NULL) AS pure,
				(pg_catalog.array_agg(s.spent ORDER BY s.at DESC))[1] AS spent,
				(pg_catalog.array_agg(s.lim ORDER BY s.at DESC))[1] AS lim
			FROM state s GROUP BY s.relation, s.account_id
			HAVING pg_catalog.bool_or(s.epsilon OPERATOR(pg_catalog.<>) 0)) a
	), point AS MATERIALIZED (
		SELECT s.relation, a.line, s.at, s.spent, s.lim, s.granted
		FROM state s JOIN account a ON a.relation OPERATOR(pg_catalog.=) s.relation
			AND a.account_id OPERATOR(pg_catalog.=) s.account_id
		WHERE a.line OPERATOR(pg_catalog.<=) 7
		UNION ALL
		-- line 0 is all roles together, and 8 those that have no line of their own
		SELECT s.relation, g.line, pg_catalog.max(s.at), pg_catalog.sum(pg_catalog.sum(s.epsilon))
			OVER (
				PARTITION BY s.relation, g.line ORDER BY s.piece), NULL, false
		FROM step s JOIN account a ON a.relation OPERATOR(pg_catalog.=) s.relation
			AND a.account_id OPERATOR(pg_catalog.=) s.account_id
		CROSS JOIN LATERAL (SELECT 0 AS line UNION ALL SELECT 8
			WHERE a.line OPERATOR(pg_catalog.>) 7) g
		WHERE a.adds_up AND a.accounts OPERATOR(pg_catalog.>) 1
		GROUP BY s.relation, g.line, s.piece
	), cap AS (
		SELECT b.relation::pg_catalog.text AS relation, b.epsilon_limit AS lim
			FROM privpred.budgets b
		WHERE b.role IS NULL AND b.epsilon_limit IS NOT NULL
			AND b.relation::pg_catalog.text OPERATOR(pg_catalog.=) ANY (relations)
	), line AS MATERIALIZED (
		-- What is now, for the legend.
		SELECT a.relation, a.line, a.spent, a.lim, pg_catalog.format('<bdi>%s</bdi>',
			privpred._html(COALESCE(
			(SELECT r.rolname::pg_catalog.text FROM pg_catalog.pg_roles r
				WHERE r.oid OPERATOR(pg_catalog.=) a.role), a.role_name, '?')))
			AS name
		FROM account a WHERE a.line OPERATOR(pg_catalog.<=) 7
		UNION ALL
		SELECT a.relation, 0, pg_catalog.sum(a.spent), (SELECT c.lim FROM cap c
			WHERE c.relation OPERATOR(pg_catalog.=) a.relation),
			'<b>all roles</b>'
		FROM account a WHERE a.adds_up AND a.accounts OPERATOR(pg_catalog.>) 1 GROUP BY a.relation
		UNION ALL
		SELECT a.relation, 8, CASE WHEN a.adds_up THEN pg_catalog.sum(a.spent) END, NULL,
			pg_catalog.format('%s others', pg_catalog.count(*))
		FROM account a WHERE a.line OPERATOR(pg_catalog.>) 7 GROUP BY a.relation, a.adds_up
	), level AS MATERIALIZED (
		-- Limits, from each grant to the next.
		SELECT p.relation, p.line, p.lim, p.at,
			COALESCE(pg_catalog.lead(p.at) OVER (PARTITION BY p.relation, p.line ORDER BY p.at),
				s.last) AS until
		FROM point p JOIN span s ON s.relation OPERATOR(pg_catalog.=) p.relation WHERE p.granted
		UNION ALL
		SELECT l.relation, 0, l.lim, s.first, s.last
		FROM line l JOIN span s ON s.relation OPERATOR(pg_catalog.=) l.relation
			WHERE l.line OPERATOR(pg_catalog.=) 0
	), scale AS (
		SELECT m.relation, t.step, GREATEST(m.top OPERATOR(pg_catalog.*) 1.04,
			t.step OPERATOR(pg_catalog.*) pg_catalog.ceil(m.top OPERATOR(pg_catalog./) t.step))
			AS top
		FROM (
			-- A limit belongs on the scale, unless it would flatten everything.
			SELECT p.relation, GREATEST(pg_catalog.max(p.spent), 0.000000001, (
				SELECT pg_catalog.max(l.lim) FROM level l
				WHERE l.relation OPERATOR(pg_catalog.=) p.relation
					AND l.lim OPERATOR(pg_catalog.<=) (20 OPERATOR(pg_catalog.*) pg_catalog.max(
					p.spent)))) AS top
			FROM point p GROUP BY p.relation) m
		CROSS JOIN LATERAL (SELECT privpred._nice_step(m.top, 5) AS step) t
	), frame AS MATERIALIZED (
		SELECT s.relation, s.top, s.step, n.first, n.last, pg_catalog.extract('epoch',
			n.first) AS zero,
			pg_catalog.extract('epoch', n.last) OPERATOR(pg_catalog.-) pg_catalog.extract('epoch',
				n.first) AS width
		FROM scale s JOIN span n ON n.relation OPERATOR(pg_catalog.=) s.relation
	), tick AS (
		-- Seconds, midnights and so on of the session's time zone, at most seven.
		SELECT f.relation,
			pg_catalog.string_agg(pg_catalog.format('<span style="left:%s%%">%s</span>',
			pg_catalog.trim_scale(pg_catalog.round(100 OPERATOR(pg_catalog.*) (pg_catalog.extract(
				'epoch', t.at::pg_catalog.timestamptz) OPERATOR(pg_catalog.-) f.zero)
				OPERATOR(pg_catalog./) f.width, 2)),
			pg_catalog.to_char(t.at, u.format)), '' ORDER BY t.at) AS html
		FROM frame f
		CROSS JOIN LATERAL (
			SELECT pg_catalog.make_interval(secs => GREATEST(v.seconds,
				f.width OPERATOR(pg_catalog./) 7)::pg_catalog.float8) AS step, v.format
			FROM (VALUES (1, 'HH24:MI:SS'), (2, 'HH24:MI:SS'), (5, 'HH24:MI:SS'), (10,
				'HH24:MI:SS'),
				(30, 'HH24:MI:SS'), (60, 'HH24:MI'), (120, 'HH24:MI'), (300, 'HH24:MI'),
				(600, 'HH24:MI'), (1800, 'HH24:MI'), (3600, 'HH24:MI'), (7200, 'HH24:MI'),
				(10800, 'DD Mon HH24:MI'), (21600, 'DD Mon HH24:MI'), (43200, 'DD Mon HH24:MI'),
				(86400, 'DD Mon'), (172800, 'DD Mon'), (604800, 'DD Mon'), (1209600, 'DD Mon'),
				(2592000, 'DD Mon'), (7862400, 'Mon YYYY'), (15724800, 'Mon YYYY'),
				(31536000, 'Mon YYYY'), (157680000, 'Mon YYYY')) v(seconds, format)
			WHERE f.width OPERATOR(pg_catalog./) v.seconds OPERATOR(pg_catalog.<=) 7
				OR v.seconds OPERATOR(pg_catalog.=) 157680000
			ORDER BY v.seconds LIMIT 1) u
		CROSS JOIN LATERAL pg_catalog.generate_series(pg_catalog.date_bin(u.step,
			f.first::pg_catalog.timestamp,
			'2001-01-01'::pg_catalog.timestamp), f.last::pg_catalog.timestamp, u.step) t(at)
		WHERE t.at::pg_catalog.timestamptz OPERATOR(pg_catalog.>=) f.first
			AND t.at::pg_catalog.timestamptz OPERATOR(pg_catalog.<=) f.last
		GROUP BY f.relation
	), drawn AS (
		SELECT f.relation, pg_catalog.concat(
			(SELECT pg_catalog.string_agg(pg_catalog.format('<path class="grid" d="M0 %sH1000"/>',
					pg_catalog.trim_scale(pg_catalog.round(300 OPERATOR(pg_catalog.*) (1
						OPERATOR(pg_catalog.-) (i OPERATOR(pg_catalog.*) f.step
						OPERATOR(pg_catalog./) f.top)), 1))), '' ORDER BY i)
				FROM pg_catalog.generate_series(0,
					pg_catalog.floor(f.top OPERATOR(pg_catalog./) f.step)::pg_catalog.int4) i),
					e'\n',
			(SELECT pg_catalog.string_agg(pg_catalog.format(
				'<path class="limit%s c%s" d="M%s %sH%s"/>',
					CASE WHEN l.line OPERATOR(pg_catalog.=) 0 THEN ' total' END, l.line,
					pg_catalog.trim_scale(pg_catalog.round(1000 OPERATOR(pg_catalog.*) (
						pg_catalog.extract('epoch', l.at) OPERATOR(pg_catalog.-) f.zero)
						OPERATOR(pg_catalog./) f.width, 1)),
					pg_catalog.trim_scale(pg_catalog.round(300 OPERATOR(pg_catalog.*) (1
						OPERATOR(pg_catalog.-) (l.lim OPERATOR(pg_catalog./) f.top)), 1)),
					pg_catalog.trim_scale(pg_catalog.round(1000 OPERATOR(pg_catalog.*) (
						pg_catalog.extract('epoch', l.until) OPERATOR(pg_catalog.-) f.zero)
						OPERATOR(pg_catalog./) f.width, 1))),
					'' ORDER BY l.line, l.at)
				FROM level l WHERE l.relation OPERATOR(pg_catalog.=) f.relation
					AND l.lim OPERATOR(pg_catalog.<=) f.top), e'\n',
			(SELECT pg_catalog.string_agg(pg_catalog.format(
				e'<path class="line c%s" d="M0 300%sH1000"/>\n', d.line, d.path),
					'' ORDER BY d.line DESC)
				FROM (
					SELECT p.line, pg_catalog.string_agg(pg_catalog.format('H%sV%s',
						pg_catalog.trim_scale(pg_catalog.round(1000 OPERATOR(pg_catalog.*) (
							pg_catalog.extract('epoch', p.at) OPERATOR(pg_catalog.-) f.zero)
							OPERATOR(pg_catalog./) f.width, 1)),
						pg_catalog.trim_scale(pg_catalog.round(300 OPERATOR(pg_catalog.*) (1
							OPERATOR(pg_catalog.-) (p.spent OPERATOR(pg_catalog./) f.top)), 1))), ''
							ORDER BY p.at) AS path
					FROM point p
						WHERE p.relation OPERATOR(pg_catalog.=) f.relation GROUP BY p.line) d))
						AS svg,
			(SELECT pg_catalog.string_agg(pg_catalog.format('<span style="top:%s%%">%s</span>',
					pg_catalog.trim_scale(pg_catalog.round(100 OPERATOR(pg_catalog.*) (1
						OPERATOR(pg_catalog.-) (i OPERATOR(pg_catalog.*) f.step
						OPERATOR(pg_catalog./) f.top)), 2)),
					privpred._amount(i OPERATOR(pg_catalog.*) f.step, false)), '' ORDER BY i)
				FROM pg_catalog.generate_series(0,
					pg_catalog.floor(f.top OPERATOR(pg_catalog./) f.step)::pg_catalog.int4) i)
					AS labels,
			(SELECT pg_catalog.format(
				e'<span class="mark" style="top:%s%%">cap over all roles</span>\n',
					pg_catalog.trim_scale(pg_catalog.round(100 OPERATOR(pg_catalog.*) (1
						OPERATOR(pg_catalog.-) (l.lim OPERATOR(pg_catalog./) f.top)), 2)))
				FROM line l WHERE l.relation OPERATOR(pg_catalog.=) f.relation
					AND l.line OPERATOR(pg_catalog.=) 0
					AND l.lim OPERATOR(pg_catalog.<=) f.top) AS mark,
			(SELECT pg_catalog.string_agg(pg_catalog.format('%s %s', l.name, privpred._amount(l.lim,
				false)), ', '
					ORDER BY l.line)
				FROM line l WHERE l.relation OPERATOR(pg_catalog.=) f.relation
					AND l.lim OPERATOR(pg_catalog.>) f.top) AS above,
			(SELECT pg_catalog.string_agg(pg_catalog.format(
				e'<li><i class="c%s"></i>%s %s%s</li>\n', l.line, l.name,
					COALESCE(privpred._amount(l.spent, true),
						'<span class="muted">not drawn</span>'),
					CASE WHEN l.lim IS NOT NULL
						THEN pg_catalog.format(' <span class="muted">of %s</span>',
						privpred._amount(l.lim, false)) END), '' ORDER BY l.line)
				FROM line l WHERE l.relation OPERATOR(pg_catalog.=) f.relation) AS legend
		FROM frame f
	)
	SELECT d.relation, pg_catalog.concat(
		e'<figure class="chart">\n<figcaption><h3>Spent over time</h3>'
		'<p class="muted">dashed: limits</p></figcaption>\n<div class="plot">\n'
		'<span class="ytitle">&epsilon; spent so far</span><div class="y" aria-hidden="true">',
		d.labels, e'</div>\n<svg viewBox="0 0 1000 300" preserveAspectRatio="none" role="img" '
		'aria-label="Epsilon spent over time, one line per role">\n', d.svg, e'</svg>\n', d.mark,
		CASE WHEN d.above IS NOT NULL THEN pg_catalog.format(
			e'<span class="above">limits above this scale: %s &uarr;</span>\n', d.above) END,
		'<div class="x" aria-hidden="true">', t.html, e'</div>\n',
		pg_catalog.format(e'<span class="xtitle">time (%s)</span>\n', pg_catalog.to_char(until,
			'TZ')),
		e'</div>\n<ul class="legend">\n', d.legend, e'</ul>\n</figure>\n')
	FROM drawn d LEFT JOIN tick t ON t.relation OPERATOR(pg_catalog.=) d.relation $$;
COMMENT ON FUNCTION privpred._report_charts(text[], timestamptz) IS
'the spending on each table over time, in report()';

CREATE FUNCTION privpred._report_spenders(relations text[])
RETURNS TABLE (relation text, html text)
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- Who asked may differ from who paid: members of a group spend its budget.
	WITH spent AS (
		SELECT x.relation, COALESCE(l.asked_by, '?') AS who, x.model,
			pg_catalog.sum(l.answers) AS answers, pg_catalog.sum(l.epsilon) AS epsilon,
			pg_catalog.bool_or(l.kind OPERATOR(pg_catalog.=) 'release'
				OR l.kind OPERATOR(pg_catalog.=) 'export' OR l.kind OPERATOR(pg_catalog.=) 'describe'
				OR l.kind OPERATOR(pg_catalog.=) 'accuracy') AS once
		FROM privpred.ledger l
		CROSS JOIN LATERAL (
			SELECT COALESCE(l.relation::pg_catalog.text, pg_catalog.concat(l.relation_name,
				' (dropped)')) AS relation,
				COALESCE(l.model, CASE WHEN l.kind OPERATOR(pg_catalog.=) 'describe' THEN 'description'
					ELSE 'forgiven' END) AS model) x
		WHERE l.role IS NOT NULL AND l.epsilon OPERATOR(pg_catalog.<>) 0
			AND x.relation OPERATOR(pg_catalog.=) ANY (relations)
		GROUP BY x.relation, COALESCE(l.asked_by, '?'), x.model
	), total AS (
		SELECT s.*, pg_catalog.sum(s.epsilon) OVER (PARTITION BY s.relation, s.who) AS by_who,
			pg_catalog.sum(s.epsilon) OVER (PARTITION BY s.relation, s.model) AS by_model
		FROM spent s
	), ranked AS MATERIALIZED (
		SELECT t.*, pg_catalog.dense_rank() OVER (PARTITION BY t.relation
				ORDER BY t.by_who DESC, t.who COLLATE pg_catalog."C") AS y,
			pg_catalog.dense_rank() OVER (PARTITION BY t.relation
				ORDER BY t.by_model DESC, t.model COLLATE pg_catalog."C") AS x
		FROM total t
	), cell AS MATERIALIZED (
		SELECT r.relation, LEAST(r.y, 21) AS y, LEAST(r.x, 7) AS x,
			pg_catalog.sum(r.answers) AS answers,
			pg_catalog.sum(r.epsilon) AS epsilon, pg_catalog.bool_and(r.once) AS once
		FROM ranked r GROUP BY r.relation, LEAST(r.y, 21), LEAST(r.x, 7)
	), line_of AS (
		SELECT r.relation, LEAST(r.y, 21) AS y, pg_catalog.max(r.y) AS last,
			pg_catalog.sum(r.epsilon) AS epsilon,
			pg_catalog.min(r.who) AS who
		FROM ranked r GROUP BY r.relation, LEAST(r.y, 21)
	), col AS MATERIALIZED (
		SELECT r.relation, LEAST(r.x, 7) AS x, CASE WHEN LEAST(r.x, 7) OPERATOR(pg_catalog.<) 7
			THEN pg_catalog.min(r.model)
			ELSE pg_catalog.format('%s other models', pg_catalog.max(r.x) OPERATOR(pg_catalog.-) 6)
				END AS model
		FROM ranked r GROUP BY r.relation, LEAST(r.x, 7)
	), line AS (
		SELECT r.relation, r.y, pg_catalog.concat('<tr><th scope="row"><bdi>', CASE
			WHEN r.y OPERATOR(pg_catalog.<) 21
				THEN privpred._html(r.who) ELSE pg_catalog.format('%s others',
					r.last OPERATOR(pg_catalog.-) 20) END, '</bdi></th>',
			pg_catalog.string_agg(CASE WHEN c.epsilon IS NULL
				THEN '<td class="number none">&middot;</td>'
				-- the more was spent, the darker
				ELSE pg_catalog.format(
					'<td class="number heat" style="--heat:%s">%s<small>%s</small></td>',
					pg_catalog.trim_scale(pg_catalog.round(0.08 OPERATOR(pg_catalog.+) (0.62
						OPERATOR(pg_catalog.*) LEAST(1, GREATEST(c.epsilon, 0)
						OPERATOR(pg_catalog./) GREATEST(m.most, 0.000000000001))), 2)),
							privpred._amount(c.epsilon, true),
					CASE WHEN c.once AND c.answers OPERATOR(pg_catalog.=) 0 THEN 'charged once'
						WHEN c.answers OPERATOR(pg_catalog.=) 1 THEN '1 answer'
							ELSE pg_catalog.concat(pg_catalog.to_char(c.answers,
							'FM999,999,999,999,999,990'), ' answers') END) END, '' ORDER BY o.x),
			pg_catalog.format(e'<td class="number sum">%s</td></tr>\n', privpred._amount(r.epsilon,
				true))) AS html
		FROM line_of r JOIN col o ON o.relation OPERATOR(pg_catalog.=) r.relation
		JOIN (SELECT c.relation, pg_catalog.max(c.epsilon)
			FILTER (WHERE c.y OPERATOR(pg_catalog.<) 21 AND c.x OPERATOR(pg_catalog.<) 7) AS most
			FROM cell c GROUP BY c.relation) m ON m.relation OPERATOR(pg_catalog.=) r.relation
		LEFT JOIN cell c ON c.relation OPERATOR(pg_catalog.=) r.relation
			AND c.y OPERATOR(pg_catalog.=) r.y AND c.x OPERATOR(pg_catalog.=) o.x
		GROUP BY r.relation, r.y, r.who, r.last, r.epsilon
	)
	SELECT l.relation,
		pg_catalog.concat(e'<h3>Who spent what on which model</h3>\n<p class="muted">charges, in '
		'the units of the account that paid: its order</p>\n<div class="scroll">'
		'<table class="spenders">\n<thead><tr><th scope="col">Asked by</th>',
		(SELECT pg_catalog.string_agg(pg_catalog.format(
			'<th scope="col" class="number"><bdi>%s</bdi></th>',
			privpred._html(o.model)), '' ORDER BY o.x) FROM col o
				WHERE o.relation OPERATOR(pg_catalog.=) l.relation),
		e'<th scope="col" class="number">all</th></tr></thead>\n<tbody>\n',
		pg_catalog.string_agg(l.html, '' ORDER BY l.y), e'</tbody>\n</table></div>\n')
	FROM line l GROUP BY l.relation $$;
COMMENT ON FUNCTION privpred._report_spenders(text[]) IS
'who spent what on which model of each table, in report()';

CREATE FUNCTION privpred._report_relations() RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- Tables that spent most first, and those that are gone last.
	WITH ranked AS (
		SELECT x.relation, pg_catalog.row_number() OVER (
			ORDER BY pg_catalog.bool_and(b.relation IS NULL),
			pg_catalog.sum(b.epsilon_spent) DESC, x.relation COLLATE pg_catalog."C") AS place
		FROM privpred.budgets b
		CROSS JOIN LATERAL (
			SELECT COALESCE(b.relation::pg_catalog.text, pg_catalog.concat(b.relation_name,
				' (dropped)')) AS relation) x
		GROUP BY x.relation
	), shown AS MATERIALIZED (
		SELECT pg_catalog.array_agg(r.relation ORDER BY r.place)
			FILTER (WHERE r.place OPERATOR(pg_catalog.<=) 20) AS relations,
			pg_catalog.count(*) FILTER (WHERE r.place OPERATOR(pg_catalog.>) 20) AS hidden
		FROM ranked r
	)
	SELECT CASE WHEN s.relations IS NULL
		THEN e'<section class="card" id="budgets">\n<h2>Budgets</h2>\n'
			'<p class="muted">You hold no budget and own no table that has one.</p>\n</section>\n'
		ELSE pg_catalog.concat((
			SELECT pg_catalog.string_agg(pg_catalog.concat(
				e'<section class="card relation">\n<h2>Budgets on <bdi>',
					privpred._html(b.relation),
				e'</bdi></h2>\n', b.html,
				COALESCE(c.html, e'<p class="muted">Nothing was spent yet.</p>\n'), w.html,
				e'</section>\n'), '' ORDER BY pg_catalog.array_position(s.relations, b.relation))
			FROM privpred._report_budgets(s.relations) b
			LEFT JOIN privpred._report_charts(s.relations, pg_catalog.clock_timestamp()) c
				ON c.relation OPERATOR(pg_catalog.=) b.relation
			LEFT JOIN privpred._report_spenders(s.relations) w
				ON w.relation OPERATOR(pg_catalog.=) b.relation),
			privpred._left_out(s.hidden, 'tables')) END
	FROM shown s $$;
COMMENT ON FUNCTION privpred._report_relations() IS 'the part of report() about each table';

CREATE FUNCTION privpred._report_models() RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	WITH model AS (
		SELECT m.*, pg_catalog.row_number() OVER (
			ORDER BY m.relation::pg_catalog.text COLLATE pg_catalog."C",
			m.name COLLATE pg_catalog."C")
			AS place
		FROM privpred.models m
	), card AS (
		SELECT m.place, pg_catalog.concat(e'<article class="model">\n<h3><bdi>',
			privpred._html(m.name),
			'</bdi> <span class="version">version ', m.version,
				e'</span></h3>\n<p class="muted">predicts <bdi>',
			privpred._html(m.label::pg_catalog.text), '</bdi> of <bdi>',
				privpred._html(m.relation::pg_catalog.text),
			'</bdi> &middot; ', privpred._html(m.status), e'</p>\n<dl>\n',
			CASE WHEN m.charge_kind OPERATOR(pg_catalog.=) 'once'
				THEN pg_catalog.format('<dt>charged once</dt><dd>&epsilon; = %s'
					'<small>then its answers are free</small></dd>', privpred._amount(m.epsilon,
						true))
				WHEN m.charge_kind OPERATOR(pg_catalog.=) 'per_stream'
					THEN pg_catalog.format('<dt>charged by streams</dt><dd>&epsilon; = '
					'%s<small>planned for an unstable answer; stable ones are free</small></dd>',
					privpred._amount(m.epsilon, true))
				ELSE pg_catalog.format('<dt>one answer costs</dt><dd>&epsilon; = %s</dd>',
					privpred._amount(m.epsilon, true)) END,
			CASE WHEN m.charge IS NULL AND m.pure_charge IS NULL
					THEN e'\n<dt>paid by</dt><dd>no budget: it is for its owner alone</dd>'
				WHEN m.pure_charge IS NULL THEN e'\n<dt>paid by</dt><dd>budgets with &delta;</dd>'
				WHEN m.charge IS NULL THEN e'\n<dt>paid by</dt><dd>budgets without &delta;</dd>'
					END,
			e'\n<dt>mechanism</dt><dd>', privpred._html(m.mechanism), e'</dd>\n',
			CASE WHEN m.learner IS NOT NULL THEN pg_catalog.format(
				e'<dt>learner</dt><dd>%s</dd>\n<dt>teachers</dt><dd>%s</dd>\n',
				privpred._html(m.learner), pg_catalog.to_char(m.teachers, 'FM999,999,999,990')) END,
			'<dt>trained</dt><dd>', pg_catalog.to_char(m.trained_at, 'YYYY-MM-DD HH24:MI TZ'),
			e'</dd>\n<dt>created by</dt><dd><bdi>', privpred._html(m.created_by::pg_catalog.text),
				e'</bdi></dd>\n',
			CASE WHEN m.options OPERATOR(pg_catalog.<>) '{}'
				THEN pg_catalog.format(e'<dt>options</dt><dd><code>%s</code></dd>\n',
				privpred._html(m.options::pg_catalog.text)) END,
			e'</dl>\n<p class="classes">', (
				SELECT pg_catalog.concat(pg_catalog.string_agg(pg_catalog.format(
					'<span class="pill"><bdi>%s</bdi></span> ',
						privpred._html(c.class)), '' ORDER BY c.place)
							FILTER (WHERE c.place OPERATOR(pg_catalog.<=) 12),
					CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.>) 12
						THEN pg_catalog.format('<small>and %s more</small>',
						pg_catalog.count(*) OPERATOR(pg_catalog.-) 12) END)
				FROM pg_catalog.unnest(m.classes) WITH ORDINALITY c(class, place)),
			e'</p>\n<details><summary>', pg_catalog.jsonb_array_length(m.features),
			CASE WHEN pg_catalog.jsonb_array_length(m.features) OPERATOR(pg_catalog.=) 1
				THEN ' feature' ELSE ' features' END,
			e'</summary>\n<table class="features">\n<tbody>\n', (
				SELECT pg_catalog.string_agg(pg_catalog.format(
					e'<tr><th scope="row"><bdi>%s</bdi></th><td>%s</td><td>%s</td></tr>'
					'\n', privpred._html(f.feature OPERATOR(pg_catalog.->>) 'name'),
						privpred._html(f.feature OPERATOR(pg_catalog.->>) 'kind'),
					CASE WHEN pg_catalog.jsonb_typeof(f.feature OPERATOR(pg_catalog.->) 'levels')
						OPERATOR(pg_catalog.=) 'array' THEN (
						SELECT pg_catalog.concat(pg_catalog.string_agg(pg_catalog.format(
							'<span class="pill"><bdi>%s</bdi></span> ',
								privpred._html(v.level)), '' ORDER BY v.place)
								FILTER (WHERE v.place OPERATOR(pg_catalog.<=) 12),
							CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.>) 12
								THEN pg_catalog.format('<small>and %s more</small>',
									pg_catalog.count(*) OPERATOR(pg_catalog.-) 12) END)
						FROM pg_catalog.jsonb_array_elements_text(f.feature
							OPERATOR(pg_catalog.->) 'levels')
							WITH ORDINALITY v(level, place))
						ELSE pg_catalog.concat_ws(' &hellip; ',
							privpred._html(f.feature OPERATOR(pg_catalog.->>) 'min'),
							privpred._html(f.feature OPERATOR(pg_catalog.->>) 'max')) END), ''
								ORDER BY f.place)
				FROM pg_catalog.jsonb_array_elements(m.features) WITH ORDINALITY f(feature, place)
				WHERE f.place OPERATOR(pg_catalog.<=) 200),
			e'</tbody>\n</table>\n', privpred._left_out(pg_catalog.jsonb_array_length(m.features)
				OPERATOR(pg_catalog.-) 200, 'features'),
			e'</details>\n</article>\n') AS html
		FROM model m WHERE m.place OPERATOR(pg_catalog.<=) 20
	)
	SELECT pg_catalog.concat(e'<section class="card" id="models">\n<h2>Models</h2>\n',
		COALESCE((SELECT pg_catalog.concat(e'<div class="models">\n', pg_catalog.string_agg(c.html,
			'' ORDER BY c.place),
				e'</div>\n') FROM card c HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0),
			e'<p class="muted">There is no model that you may ask.</p>\n'),
		privpred._left_out((SELECT pg_catalog.count(*) OPERATOR(pg_catalog.-) 20 FROM model m),
			'models'), e'</section>\n') $$;
COMMENT ON FUNCTION privpred._report_models() IS 'the cards of models in report()';

CREATE FUNCTION privpred._report_ledger(entries bigint, chained bigint, head bigint, at timestamptz)
RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	-- Any head that the ledger ever had proves later that it was not rewound.
	SELECT pg_catalog.concat(e'<section class="card" id="ledger">\n<h2>Ledger</h2>\n<p>',
		pg_catalog.to_char(entries, 'FM999,999,999,999,999,990'),
		CASE WHEN entries OPERATOR(pg_catalog.=) 1 THEN ' entry' ELSE ' entries' END,
			' that you may see',
		pg_catalog.to_char(at, '", the last of" YYYY-MM-DD HH24:MI:SS TZ'),
		CASE WHEN entries OPERATOR(pg_catalog.>) chained
			THEN pg_catalog.format(', %s of them not chained yet',
			entries OPERATOR(pg_catalog.-) chained) END,
		e'.</p>\n',
		(SELECT pg_catalog.format(
			e'<p>Head after entry %s:</p>\n<p><code class="head">%s</code></p>\n'
				'<p class="muted">Keep it. '
				'<code>SELECT * FROM privpred.verify_ledger(&#39;\\x&hellip;&#39;)</code> '
				'with this head tells later whether the ledger was rewound or rewritten.</p>\n',
				h.id, pg_catalog.encode(h.head, 'hex'))
			FROM privpred.ledger h WHERE h.id OPERATOR(pg_catalog.=) _report_ledger.head LIMIT 1),
		e'</section>\n') $$;
COMMENT ON FUNCTION privpred._report_ledger(bigint, bigint, bigint,
	timestamptz) IS 'the ledger''s head in report()';

CREATE FUNCTION privpred._report_figures(answers numeric) RETURNS text
LANGUAGE sql STABLE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.concat(e'<section class="figures" aria-label="In short">\n',
		pg_catalog.string_agg(
		pg_catalog.format(e'<div><b>%s</b> %s</div>\n', pg_catalog.to_char(f.number,
			'FM999,999,999,999,999,990'),
			CASE WHEN f.number OPERATOR(pg_catalog.=) 1 THEN f.one ELSE f.many END), ''
				ORDER BY f.place), e'</section>\n')
	FROM (
		SELECT 1 AS place, pg_catalog.count(DISTINCT b.relation) AS number, 'table' AS one,
			'tables' AS many
		FROM privpred.budgets b
		UNION ALL
		SELECT 2, pg_catalog.count(DISTINCT b.role), 'role with a budget', 'roles with a budget'
		FROM privpred.budgets b WHERE b.relation IS NOT NULL
		UNION ALL
		SELECT 3, pg_catalog.count(*), 'model', 'models' FROM privpred.models m
		UNION ALL
		SELECT 4, COALESCE(answers, 0), 'answer paid for', 'answers paid for') f $$;
COMMENT ON FUNCTION privpred._report_figures(numeric) IS 'report() in four figures';

-- The parts are STABLE, so all of them see the same snapshot.
CREATE FUNCTION privpred.report() RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp SET jit TO off AS $$
	SELECT pg_catalog.concat(e'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
		'<meta http-equiv="Content-Security-Policy" '
		'content="default-src ''none''; style-src ''unsafe-inline''">\n'
		'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
		'<meta name="color-scheme" content="light dark">\n<title>Privacy budgets of ', p.database,
		e'</title>\n<style>', privpred._report_style(), e'</style>\n</head>\n<body>\n<header>\n'
		'<h1>Privacy budgets of <bdi>', p.database, e'</bdi></h1>\n<p><time>',
		pg_catalog.to_char(pg_catalog.clock_timestamp(), 'YYYY-MM-DD HH24:MI:SS TZ'),
			'</time> &middot; as seen by <b><bdi>',
		privpred._html(CURRENT_USER::pg_catalog.text), '</bdi></b> &middot; privpred ',
		privpred._html(privpred.build()), e'</p>\n</header>\n<main>\n',
		privpred._report_warnings(), privpred._report_figures(p.answers),
			privpred._report_relations(),
		privpred._report_models(), privpred._report_ledger(p.entries, p.chained, p.head, p.at),
		e'</main>\n<footer>\n<p>Epsilon (&epsilon;) is the privacy loss of one unit, '
		'the person or thing that a table was declared to be about: one answer, or a '
		'whole account, changes the odds of anything that is learnt about a unit by a '
		'factor of at most e<sup>&epsilon;</sup>, except with probability &delta;; '
		'amounts are kept in units of 10<sup>&minus;12</sup> and rounded against the spender. '
		'Losses add up: a group of <i>g</i> units that belong together has <i>g</i> '
		'times the &epsilon; (a family of four, four times), and roles that share '
		'their answers hold the sum of their budgets, which only a cap over all '
		'roles bounds.</p>\n</footer>\n</body>\n</html>\n')
	FROM (
		SELECT privpred._html(pg_catalog.current_database()::pg_catalog.text) AS database,
			pg_catalog.sum(l.answers) AS answers,
			COALESCE(pg_catalog.sum(COALESCE(l.folded, 1)), 0)::pg_catalog.int8 AS entries,
			COALESCE(pg_catalog.sum(CASE WHEN l.id IS NULL THEN l.folded ELSE 1 END),
				0)::pg_catalog.int8 AS chained,
				pg_catalog.max(l.id) AS head, pg_catalog.max(l.at) AS at
		FROM privpred.ledger l) p $$;
COMMENT ON FUNCTION privpred.report() IS
'anyone: one HTML page on the budgets, spending and models that you may see in privpred.budgets, ledger, leases and models; save it with \t \a \o report.html';
