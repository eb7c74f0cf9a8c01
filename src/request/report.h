/*
 * report.h
 *		The parts of privpred.report().
 *
 * report.c				the page: order of sections, head, ledger, notes
 * report_warnings.c	what needs attention
 * report_budgets.c		one relation: budgets as bars, who spent what on which model
 * report_chart.c		one relation: spending over time
 * report_models.c		cards of models
 * report_html.c		HTML from untrusted text; rows of queries
 * report_style.c		the style sheet
 *
 * Everything is read from the views that filter by role, as the caller.  Every
 * list is bounded and says what it leaves out.  The page is ASCII, whatever
 * the encodings of server and client, and runs no scripts.
 */
#ifndef PRIVPRED_REPORT_H
#define PRIVPRED_REPORT_H

#include "datatype/timestamp.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"

#include "privpred.h"

#define REPORT_MAX_RELATIONS	20
#define REPORT_MAX_ROLES		20	/* rows of one table */
#define REPORT_MAX_MODELS		20
#define REPORT_MAX_COLUMNS		6	/* models beside one another */
#define REPORT_MAX_LINES		7	/* of one chart, besides "others" and the total */
#define REPORT_MAX_POINTS		200 /* of one line */
#define REPORT_MAX_WARNINGS		6	/* of one kind */
#define REPORT_MAX_FEATURES		200

/* From this share of its limit on, an account is shown as nearly spent. */
#define REPORT_NEARLY_SPENT		0.8

/*
 * SQL: how the relation of a row of budgets (or ledger) is called here, and the
 * role of a row of budgets, NULL for the cap over all roles.  The search_path
 * makes the first one qualified.
 */
#define SQL_RELATION(row) \
	"COALESCE(" row ".relation::text, " row ".relation_name || ' (dropped)')"
#define SQL_ROLE(row) \
	"CASE WHEN " row ".role IS NOT NULL THEN COALESCE((SELECT r.rolname::text " \
	"FROM pg_catalog.pg_roles r WHERE r.oid = " row ".role), " row ".role_name) END"

/*
 * SQL: when an account is refilled, and its lifetime figures in words, from a
 * row of budgets as jsonb: NULL where there are none.
 */
#define SQL_RESETS(json) \
	"to_char((" json " ->> 'window_resets_at')::timestamptz, 'YYYY-MM-DD HH24:MI TZ')"
#define SQL_LIFETIME(json) \
	"(SELECT string_agg(replace(x.key, '_', ' ') || ' ' || x.value, ', ' ORDER BY x.key) " \
	"FROM jsonb_each_text(" json ") x WHERE x.key LIKE 'lifetime%' AND x.value IS NOT NULL)"

/* ---------- report_html.c ---------- */

/* Rounding never flatters: what is spent goes up, what is left goes down. */
typedef enum RoundTo
{
	ROUND_UP,
	ROUND_DOWN
} RoundTo;

/*
 * append_html() is appendStringInfo() for markup: %s takes untrusted text and
 * escapes it, %d an int, %l an int64, and %% is a percent sign.  There is
 * no way to write untrusted text unescaped.
 */
extern void append_html(StringInfo page, const char *format,...);

/* Escaped, and in <bdi> so that no name can reorder its surroundings. */
extern void append_name(StringInfo page, const char *name);
extern void append_text(StringInfo page, const char *text);
/* At most so many characters of it, and dots. */
extern void append_text_up_to(StringInfo page, const char *text, int most);

/* Four significant digits at most. */
extern void append_epsilon(StringInfo page, double epsilon, RoundTo direction);
/* Epsilon alone for a pure account, else (epsilon, delta). */
extern void append_loss(StringInfo page, double epsilon, double delta, bool pure,
						RoundTo direction);
/* A number for CSS and SVG. */
extern void append_number(StringInfo page, double number);
extern void append_count(StringInfo page, int64 count);
/* The least of 1, 2, 5, 10, ... that cuts the range into few enough pieces. */
extern double nice_step(double range, int pieces);
extern void append_left_out(StringInfo page, int64 count, const char *what);

/* One row of a result; columns count from 1, NULL is NULL, 0 or false. */
typedef struct ReportRow
{
	HeapTuple	tuple;
	TupleDesc	columns;
} ReportRow;

typedef struct ReportRows
{
	SPITupleTable *table;
	uint64		count;
} ReportRows;

/* Runs a query in the caller's session; values may be NULL. */
extern ReportRows report_query(const char *query, int nargs, Oid *types, Datum *values);
extern ReportRow report_row(const ReportRows *rows, uint64 index);
extern bool row_is_null(ReportRow row, int column);
extern char *row_text(ReportRow row, int column);
extern double row_double(ReportRow row, int column);
extern int64 row_int64(ReportRow row, int column);
extern bool row_bool(ReportRow row, int column);
/* Elements of a text[]; NULL elements are empty strings. */
extern int	row_texts(ReportRow row, int column, char ***texts);

/* ---------- the sections ---------- */

/* The relations on the page, in order; queries refer to them by position. */
typedef struct ReportRelations
{
	int			count;
	char	   *names[REPORT_MAX_RELATIONS];
	Datum		array;			/* the same as text[] */
	TimestampTz now;
} ReportRelations;

extern void report_warnings(StringInfo page);
extern void report_relations(StringInfo page, TimestampTz now);
extern void report_models(StringInfo page);

/* report_chart.c: draws those of the points that belong to one relation. */
extern ReportRows report_chart_points(const ReportRelations *relations);
extern void report_chart(StringInfo page, const ReportRows *points, int relation,
						 const ReportRelations *relations);

/* report_style.c */
extern const char report_style[];

#endif							/* PRIVPRED_REPORT_H */
