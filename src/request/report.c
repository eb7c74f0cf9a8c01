/*
 * report.c
 *		privpred.report(): one HTML page about budgets, spending and models.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "catalog/store.h"
#include "request/report.h"
#include "request/request.h"

/* The head of the page; nothing may be loaded, and only styles may be applied. */
static void
begin_page(StringInfo page, TimestampTz now)
{
	Oid			types[] = {TIMESTAMPTZOID};
	Datum		values[] = {TimestampTzGetDatum(now)};
	ReportRows	rows = report_query("SELECT to_char($1, 'YYYY-MM-DD HH24:MI:SS TZ'), "
									"current_database()::text, current_user::text",
									lengthof(types), types, values);
	ReportRow	row = report_row(&rows, 0);

	append_html(page,
				"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
				"<meta http-equiv=\"Content-Security-Policy\" "
				"content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
				"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
				"<meta name=\"color-scheme\" content=\"light dark\">\n"
				"<title>Privacy budgets of %s</title>\n<style>\n", row_text(row, 2));
	appendStringInfoString(page, report_style);
	append_html(page,
				"</style>\n</head>\n<body>\n<header>\n<h1>Privacy budgets of <bdi>%s</bdi></h1>\n"
				"<p><time>%s</time> &middot; as seen by <b><bdi>%s</bdi></b> &middot; "
				"privpred %s</p>\n</header>\n<main>\n",
				row_text(row, 2), row_text(row, 1), row_text(row, 3), PRIVPRED_VERSION);
}

static void
append_figure(StringInfo page, int64 value, const char *one, const char *many)
{
	appendStringInfoString(page, "<div><b>");
	append_count(page, value);
	append_html(page, "</b> %s</div>\n", value == 1 ? one : many);
}

static void
report_figures(StringInfo page)
{
	ReportRows	rows = report_query(
									"SELECT "
									"(SELECT count(DISTINCT " SQL_RELATION("b") ") FROM privpred.budgets b), "
									"(SELECT count(DISTINCT b.role) FROM privpred.budgets b), "
									"(SELECT count(*) FROM privpred.models), "
									"(SELECT COALESCE(sum(l.answers), 0)::bigint FROM privpred.ledger l)",
									0, NULL, NULL);
	ReportRow	row = report_row(&rows, 0);

	appendStringInfoString(page, "<section class=\"figures\" aria-label=\"In short\">\n");
	append_figure(page, row_int64(row, 1), "table", "tables");
	append_figure(page, row_int64(row, 2), "role with a budget", "roles with a budget");
	append_figure(page, row_int64(row, 3), "model", "models");
	append_figure(page, row_int64(row, 4), "answer paid for", "answers paid for");
	appendStringInfoString(page, "</section>\n");
}

/* Any head that the ledger ever had proves later that it was not rewound. */
static void
report_ledger(StringInfo page)
{
	ReportRows	rows = report_query(
									"SELECT count(*), count(*) - count(l.head), max(l.id), "
									"to_char(max(l.at), 'YYYY-MM-DD HH24:MI:SS TZ'), "
									"(SELECT encode(h.head, 'hex') FROM privpred.ledger h "
									"WHERE h.head IS NOT NULL ORDER BY h.id DESC LIMIT 1) "
									"FROM privpred.ledger l", 0, NULL, NULL);
	ReportRow	row = report_row(&rows, 0);

	appendStringInfoString(page, "<section class=\"card\" id=\"ledger\">\n<h2>Ledger</h2>\n<p>");
	append_count(page, row_int64(row, 1));
	appendStringInfoString(page, row_int64(row, 1) == 1 ? " entry that you may see" :
						   " entries that you may see");
	if (!row_is_null(row, 4))
		append_html(page, ", the last of %s", row_text(row, 4));
	if (row_int64(row, 2) > 0)
		append_html(page, ", %l of them not chained yet", row_int64(row, 2));
	appendStringInfoString(page, ".</p>\n");
	if (!row_is_null(row, 5))
		append_html(page,
					"<p>Head after entry %l:</p>\n<p><code class=\"head\">%s</code></p>\n"
					"<p class=\"muted\">Keep it. "
					"<code>SELECT * FROM privpred.verify_ledger('\\x&hellip;')</code> "
					"with this head tells later whether the ledger was rewound or rewritten.</p>\n",
					row_int64(row, 3), row_text(row, 5));
	appendStringInfoString(page, "</section>\n");
}

static void
end_page(StringInfo page)
{
	appendStringInfoString(page,
						   "</main>\n<footer>\n<p>Epsilon (&epsilon;) is the privacy loss of one unit, "
						   "the person or thing that a table was declared to be about: one answer, or a "
						   "whole account, changes the odds of anything that is learnt about a unit by a "
						   "factor of at most e<sup>&epsilon;</sup>, except with probability &delta;; "
						   "amounts are kept in units of 10<sup>&minus;12</sup> and rounded against "
						   "the spender. "
						   "Losses add up: a group of <i>g</i> units that belong together has <i>g</i> "
						   "times the &epsilon; (a family of four, four times), and roles that share "
						   "their answers hold the sum of their budgets, which only a cap over all "
						   "roles bounds.</p>\n</footer>\n</body>\n</html>\n");
}

text *
request_report(void)
{
	TimestampTz now = GetCurrentTimestamp();
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext saved;
	CatalogSession session;
	StringInfoData page;
	text	   *result;

	caller_begin(&session);
	initStringInfo(&page);
	begin_page(&page, now);
	report_warnings(&page);
	report_figures(&page);
	report_relations(&page, now);
	report_models(&page);
	report_ledger(&page);
	end_page(&page);
	saved = MemoryContextSwitchTo(caller);
	result = cstring_to_text_with_len(page.data, page.len);
	MemoryContextSwitchTo(saved);
	catalog_end(&session);
	return result;
}
