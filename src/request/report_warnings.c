/*
 * report_warnings.c
 *		What in the report needs somebody's attention.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "request/report.h"

/*
 * One row per warning, those of a kind by size.  What the roles of a relation may learn together is the
 * greater of limit and spending for accounts that are open, and the spending
 * of those that are not; the sum is shown to owners, who see every account.
 */
static const char warnings_query[] =
"WITH b AS ("
"  SELECT " SQL_RELATION("b") " AS relation, " SQL_ROLE("b") " AS role_name, b.role IS NULL AS is_cap,"
"    b.status, b.epsilon_limit::float8 AS lim, b.epsilon_spent::float8 AS spent,"
"    b.epsilon_left::float8 AS rest, b.delta_limit::float8 AS delta,"
"    to_char(b.valid_until, 'YYYY-MM-DD HH24:MI TZ') AS ended,"
"    " SQL_RESETS("j.budget") " AS resets, " SQL_LIFETIME("j.budget") " AS lifetime,"
"    EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = b.relation"
"      AND pg_has_role(c.relowner, 'USAGE')) AS owned"
"  FROM privpred.budgets b, LATERAL (SELECT to_jsonb(b)) j(budget)"
"), together AS ("
"  SELECT relation, count(*) FILTER (WHERE NOT is_cap AND (status = 'active' OR spent > 0)) AS roles,"
"    sum(CASE WHEN status = 'active' THEN GREATEST(lim, spent) ELSE spent END)"
"      FILTER (WHERE NOT is_cap) AS total,"
"    sum(delta) FILTER (WHERE NOT is_cap) AS delta,"
"    max(lim) FILTER (WHERE is_cap) AS cap"
"  FROM b WHERE owned GROUP BY relation"
"), orphan AS ("
"  SELECT l.role::text AS role_name, COALESCE(l.relation::text, 'a dropped table') AS relation,"
"    count(*) AS leases, sum(l.epsilon)::float8 AS epsilon,"
"    array_to_string((array_agg(l.lease ORDER BY l.lease))[1:5], ', ') AS which"
"  FROM privpred.leases l WHERE l.orphaned GROUP BY 1, 2"
"), w AS ("
"  SELECT 1 AS place, 'frozen' AS kind, role_name, relation, spent, lim, delta, 0::bigint AS n,"
"    NULL AS note FROM b WHERE status = 'frozen'"
"  UNION ALL SELECT 2, 'spent', role_name, relation, spent, lim, delta, 0, NULL FROM b"
"    WHERE status = 'active' AND spent > 0 AND rest <= 0 AND spent >= lim"
"  UNION ALL SELECT 3, 'blocked', role_name, relation, spent, lim, delta, 0, NULL FROM b"
"    WHERE status = 'active' AND rest <= 0 AND spent < lim AND NOT owned"
"  UNION ALL SELECT 4, 'orphaned', role_name, relation, epsilon, 0, 0, leases, which FROM orphan"
"  UNION ALL SELECT 5, 'nearly', role_name, relation, spent, lim, delta, 0, NULL FROM b"
"    WHERE status = 'active' AND spent >= $1 * lim AND spent < lim"
"  UNION ALL SELECT 6, 'uncapped', NULL, relation, total, 0, delta, roles, NULL FROM together"
"    WHERE cap IS NULL AND roles > 1"
"  UNION ALL SELECT 7, 'refreshes', role_name, relation, spent, lim, delta, 0,"
"    resets || COALESCE('; ' || lifetime, '') FROM b WHERE resets IS NOT NULL"
"  UNION ALL SELECT 8, 'capped', NULL, relation, total, cap, delta, roles, NULL FROM together"
"    WHERE cap < total AND roles > 1"
"  UNION ALL SELECT 9, 'expired', role_name, relation, spent, lim, delta, 0, ended FROM b"
"    WHERE status = 'expired' AND spent > 0"
"  UNION ALL SELECT 10, 'closed', role_name, relation, spent, lim, delta, 0, status FROM b"
"    WHERE status NOT IN ('active', 'frozen', 'expired') AND spent > 0 AND NOT is_cap"
"), ranked AS ("
"  SELECT w.*, count(*) OVER () AS total, row_number() OVER (PARTITION BY place"
"    ORDER BY spent DESC, relation COLLATE \"C\", role_name COLLATE \"C\") AS rank FROM w"
") "
"SELECT kind, role_name, relation, spent, lim, delta::float8, n, note, total "
"FROM ranked WHERE rank <= $2 ORDER BY place, rank";

enum
{
	COLUMN_KIND = 1,
	COLUMN_ROLE,
	COLUMN_RELATION,
	COLUMN_SPENT,
	COLUMN_LIMIT,
	COLUMN_DELTA,
	COLUMN_COUNT,
	COLUMN_NOTE,
	COLUMN_TOTAL
};

/* A role and its table, or a table's cap. */
static void
append_account(StringInfo page, ReportRow row)
{
	if (row_is_null(row, COLUMN_ROLE))
		append_html(page, "The cap on <b><bdi>%s</bdi></b>", row_text(row, COLUMN_RELATION));
	else
		append_html(page, "<b><bdi>%s</bdi></b> on <b><bdi>%s</bdi></b>",
					row_text(row, COLUMN_ROLE), row_text(row, COLUMN_RELATION));
}

static void
append_spent(StringInfo page, ReportRow row)
{
	appendStringInfoString(page, "&epsilon; = ");
	append_epsilon(page, row_double(row, COLUMN_SPENT), ROUND_UP);
}

static void
append_spent_of_limit(StringInfo page, ReportRow row)
{
	append_spent(page, row);
	appendStringInfoString(page, " of ");
	append_epsilon(page, row_double(row, COLUMN_LIMIT), ROUND_DOWN);
}

static void
warn_frozen(StringInfo page, ReportRow row)
{
	append_account(page, row);
	appendStringInfoString(page, " is frozen: it has spent ");
	append_spent_of_limit(page, row);
	appendStringInfoString(page, ". Nothing is answered until the limit is above what was spent.");
}

static void
warn_spent(StringInfo page, ReportRow row)
{
	append_account(page, row);
	appendStringInfoString(page, " is used up: ");
	append_spent_of_limit(page, row);
	appendStringInfoChar(page, '.');
}

/* For those who do not see the cap itself. */
static void
warn_blocked(StringInfo page, ReportRow row)
{
	append_account(page, row);
	appendStringInfoString(page, " gets no more answers, with ");
	append_spent_of_limit(page, row);
	appendStringInfoString(page, " spent: the cap over all roles is used up.");
}

static void
warn_nearly(StringInfo page, ReportRow row)
{
	append_account(page, row);
	append_html(page, " has spent %d%% of its budget: ",
				(int) (100 * row_double(row, COLUMN_SPENT) / row_double(row, COLUMN_LIMIT)));
	append_spent_of_limit(page, row);
	appendStringInfoChar(page, '.');
}

static void
warn_orphaned(StringInfo page, ReportRow row)
{
	int64		leases = row_int64(row, COLUMN_COUNT);

	append_account(page, row);
	append_html(page, " lost %l %s in a crash, ", leases, leases == 1 ? "lease" : "leases");
	append_spent(page, row);
	append_html(page, ", which stays spent: some of the answers may have been given. An owner who "
				"knows better may call <code>privpred.forgive_lease</code> (%s%s).",
				row_text(row, COLUMN_NOTE), leases > 5 ? ", ..." : "");
}

static void
append_together(StringInfo page, ReportRow row)
{
	double		delta = row_double(row, COLUMN_DELTA);

	append_html(page, "The %l roles on <b><bdi>%s</bdi></b> hold ",
				row_int64(row, COLUMN_COUNT), row_text(row, COLUMN_RELATION));
	appendStringInfoString(page, delta > 0 ? "(&epsilon;, &delta;) = " : "&epsilon; = ");
	append_loss(page, row_double(row, COLUMN_SPENT), delta, delta == 0, ROUND_UP);
	appendStringInfoString(page, " together");
}

static void
warn_uncapped(StringInfo page, ReportRow row)
{
	append_together(page, row);
	appendStringInfoString(page, " if they share their answers, and no cap bounds the sum. Declare one: "
						   "<code>privpred.protect(&hellip;, epsilon_cap =&gt; &hellip;)</code>.");
}

static void
warn_capped(StringInfo page, ReportRow row)
{
	append_together(page, row);
	appendStringInfoString(page, ", more than the cap of ");
	append_epsilon(page, row_double(row, COLUMN_LIMIT), ROUND_DOWN);
	appendStringInfoString(page, ". The cap holds: whoever asks last may be refused with budget left.");
}

static void
warn_refreshes(StringInfo page, ReportRow row)
{
	append_account(page, row);
	append_html(page, " is refilled at %s. Refilled budgets add up: what counts in the end is the "
				"lifetime figure.", row_text(row, COLUMN_NOTE));
}

static void
warn_expired(StringInfo page, ReportRow row)
{
	append_account(page, row);
	append_html(page, " expired at %s; ", row_text(row, COLUMN_NOTE));
	append_spent(page, row);
	appendStringInfoString(page, " stays spent.");
}

static void
warn_closed(StringInfo page, ReportRow row)
{
	append_account(page, row);
	append_html(page, " is closed (%s); ", row_text(row, COLUMN_NOTE));
	append_spent(page, row);
	appendStringInfoString(page, " stays spent.");
}

static const struct
{
	const char *kind;
	const char *class;
	void		(*append) (StringInfo page, ReportRow row);
}			warnings[] =
{
	{"frozen", "bad", warn_frozen},
	{"spent", "bad", warn_spent},
	{"blocked", "bad", warn_blocked},
	{"orphaned", "bad", warn_orphaned},
	{"nearly", "warn", warn_nearly},
	{"uncapped", "warn", warn_uncapped},
	{"refreshes", "warn", warn_refreshes},
	{"capped", "note", warn_capped},
	{"expired", "note", warn_expired},
	{"closed", "note", warn_closed}
};

static void
append_warning(StringInfo page, ReportRow row)
{
	char	   *kind = row_text(row, COLUMN_KIND);

	for (int i = 0; i < lengthof(warnings); i++)
		if (strcmp(warnings[i].kind, kind) == 0)
		{
			append_html(page, "<li class=\"%s\">", warnings[i].class);
			warnings[i].append(page, row);
			appendStringInfoString(page, "</li>\n");
		}
}

void
report_warnings(StringInfo page)
{
	Oid			types[] = {FLOAT8OID, INT8OID};
	Datum		values[] = {Float8GetDatum(REPORT_NEARLY_SPENT), Int64GetDatum(REPORT_MAX_WARNINGS)};
	ReportRows	rows = report_query(warnings_query, lengthof(types), types, values);

	if (rows.count == 0)
	{
		appendStringInfoString(page, "<section class=\"card quiet\" id=\"warnings\">\n"
							   "<h2>Nothing needs attention</h2>\n</section>\n");
		return;
	}
	appendStringInfoString(page, "<section class=\"card\" id=\"warnings\">\n"
						   "<h2>Needs attention</h2>\n<ul class=\"warnings\">\n");
	for (uint64 i = 0; i < rows.count; i++)
		append_warning(page, report_row(&rows, i));
	appendStringInfoString(page, "</ul>\n");
	append_left_out(page, row_int64(report_row(&rows, 0), COLUMN_TOTAL) - (int64) rows.count,
					"warnings");
	appendStringInfoString(page, "</section>\n");
}
