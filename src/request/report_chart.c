/*
 * report_chart.c
 *		Spending over time: a step chart of one relation.
 *
 * The SVG holds lines only and is stretched to the width that there is; labels
 * are HTML beside it, so that they keep their size on a telephone.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "pgtime.h"
#include "utils/timestamp.h"

#include "request/report.h"

#define PLOT_WIDTH		1000
#define PLOT_HEIGHT		300

/* A limit this many times above the lines would flatten them; it is left out. */
#define WORTH_SHOWING	2.5

/*
 * Line 0 is all roles together, line n the account that spent n-th most, and the
 * last one the sum of the others.  Time is cut into equal pieces, each with
 * the sum at its last entry.  Charges to accounts of finite order are shown as
 * the epsilon they amount to; charges of different orders have no sum, so then
 * there are no lines for several accounts.
 */
static const char points_query[] =
"WITH budget AS MATERIALIZED ("
"  SELECT b.account_id, array_position($1, " SQL_RELATION("b") ") AS place, b.role IS NULL AS is_cap,"
"    " SQL_ROLE("b") " AS role_name, b.renyi_order, b.delta_limit::float8,"
"    (CASE WHEN b.refresh IS NULL THEN b.epsilon_limit ELSE b.lifetime_epsilon_limit END)::float8 AS lim"
"  FROM privpred.budgets b"
"), finite AS ("
"  SELECT DISTINCT b.place FROM budget b WHERE b.renyi_order < 'Infinity'"
"), entry AS MATERIALIZED ("
"  SELECT array_position($1, " SQL_RELATION("l") ") AS place, l.account_id, l.at, l.epsilon,"
"    l.role::text AS role_name"
"  FROM privpred.ledger l WHERE " SQL_RELATION("l") " = ANY ($1) AND l.account_id IS NOT NULL"
"), span AS ("
"  SELECT e.place, min(e.at) AS first FROM entry e GROUP BY e.place"
"), account AS ("
"  SELECT e.place, e.account_id, min(e.role_name) AS role_name, row_number() OVER (PARTITION BY e.place"
"      ORDER BY sum(e.epsilon) DESC, e.account_id) AS rank,"
"    count(*) OVER (PARTITION BY e.place) AS accounts"
"  FROM entry e WHERE e.epsilon <> 0 GROUP BY e.place, e.account_id"
"), piece AS ("
"  SELECT e.place, LEAST(a.rank, $3 + 1) AS line, e.at, e.epsilon,"
"    floor($4 * extract(epoch FROM e.at - s.first)::float8"
"      / GREATEST(extract(epoch FROM $2 - s.first)::float8, 0.001)) AS piece"
"  FROM entry e JOIN account a ON a.account_id = e.account_id AND a.place = e.place"
"    JOIN span s ON s.place = e.place"
"  WHERE e.epsilon <> 0"
"), step AS ("
"  SELECT p.place, COALESCE(p.line, 0) AS line, max(p.at) AS at, sum(p.epsilon) AS epsilon"
"  FROM piece p GROUP BY GROUPING SETS ((p.place, p.line, p.piece), (p.place, p.piece))"
") "
"SELECT s.place::bigint, s.line::bigint, extract(epoch FROM s.at)::float8,"
"  CASE WHEN b.renyi_order < 'Infinity' THEN privpred.account_epsilon("
"    (1000000000000 * sum(s.epsilon) OVER (PARTITION BY s.place, s.line ORDER BY s.at))::bigint,"
"    b.delta_limit, (1048576 * b.renyi_order)::bigint)::float8"
"  ELSE (sum(s.epsilon) OVER (PARTITION BY s.place, s.line ORDER BY s.at))::float8 END,"
"  extract(epoch FROM n.first)::float8, COALESCE(b.role_name, a.role_name),"
"  CASE WHEN s.line = 0 THEN (SELECT c.lim FROM budget c WHERE c.is_cap AND c.place = s.place)"
"    ELSE b.lim END,"
"  (SELECT max(x.accounts) FROM account x WHERE x.place = s.place) "
"FROM step s JOIN span n ON n.place = s.place"
"  LEFT JOIN account a ON a.place = s.place AND a.rank = s.line AND s.line <= $3"
"  LEFT JOIN budget b ON b.account_id = a.account_id "
"WHERE s.line BETWEEN 1 AND $3 OR s.place NOT IN (SELECT f.place FROM finite f WHERE f.place IS NOT NULL) "
"ORDER BY 1, 2, 3";

enum
{
	COLUMN_PLACE = 1,
	COLUMN_LINE,
	COLUMN_AT,
	COLUMN_SPENT,
	COLUMN_FIRST,
	COLUMN_ROLE,
	COLUMN_LIMIT,
	COLUMN_ACCOUNTS
};

#define LINE_TOTAL		0
#define LINE_OTHERS		(REPORT_MAX_LINES + 1)
#define MAX_LINES		(REPORT_MAX_LINES + 2)

typedef struct Line
{
	uint64		begin;			/* its points */
	uint64		end;
	double		spent;			/* at last */
	double		most;			/* ever: returned answers make lines fall */
	double		limit;
	bool		has_limit;
	char	   *role;
} Line;

typedef struct Chart
{
	const ReportRows *points;
	Line		lines[MAX_LINES];
	int64		accounts;
	double		first;			/* seconds since 1970 */
	double		last;
	double		top;			/* of the scale */
	double		step;			/* between labels */
} Chart;

ReportRows
report_chart_points(const ReportRelations *relations)
{
	Oid			types[] = {TEXTARRAYOID, TIMESTAMPTZOID, INT8OID, INT8OID};
	Datum		values[] = {relations->array, TimestampTzGetDatum(relations->now),
		Int64GetDatum(REPORT_MAX_LINES), Int64GetDatum(REPORT_MAX_POINTS)};

	return report_query(points_query, lengthof(types), types, values);
}

/*
 * ---------- scales ----------
 */

static bool
worth_showing(const Line *line, double most)
{
	return line->has_limit && line->limit <= WORTH_SHOWING * most;
}

/* All roles together are worth a line if there are several. */
static bool
is_shown(const Chart *chart, int line)
{
	return chart->lines[line].end > chart->lines[line].begin &&
		(line != LINE_TOTAL || chart->accounts > 1);
}

static void
set_scale(Chart *chart)
{
	double		most = 0;
	double		top;

	for (int i = 0; i < MAX_LINES; i++)
		if (is_shown(chart, i))
			most = Max(most, chart->lines[i].most);
	top = most;
	for (int i = 0; i < MAX_LINES; i++)
		if (is_shown(chart, i) && worth_showing(&chart->lines[i], most))
			top = Max(top, chart->lines[i].limit);
	top = Max(top, 1e-9);
	chart->step = nice_step(top, 5);
	chart->top = Max(top * 1.04, chart->step * ceil(top / chart->step - 1e-9));
}

static void
read_chart(Chart *chart, const ReportRows *points, int relation, TimestampTz now)
{
	chart->points = points;
	chart->last = (double) timestamptz_to_time_t(now);
	for (uint64 i = 0; i < points->count; i++)
	{
		ReportRow	row = report_row(points, i);
		Line	   *line = &chart->lines[row_int64(row, COLUMN_LINE)];

		if (row_int64(row, COLUMN_PLACE) != relation + 1)
			continue;
		if (line->end == 0)
			line->begin = i;
		line->end = i + 1;
		line->spent = row_double(row, COLUMN_SPENT);
		line->most = Max(line->most, line->spent);
		line->has_limit = !row_is_null(row, COLUMN_LIMIT);
		line->limit = row_double(row, COLUMN_LIMIT);
		line->role = row_text(row, COLUMN_ROLE);
		chart->accounts = row_int64(row, COLUMN_ACCOUNTS);
		chart->first = row_double(row, COLUMN_FIRST);
		chart->last = Max(chart->last, row_double(row, COLUMN_AT));
	}
	chart->last = Max(chart->last, chart->first + 1);
	set_scale(chart);
}

static double
x_of(const Chart *chart, double at)
{
	return PLOT_WIDTH * (at - chart->first) / (chart->last - chart->first);
}

static double
y_of(const Chart *chart, double epsilon)
{
	return PLOT_HEIGHT * (1 - epsilon / chart->top);
}

/*
 * ---------- axes ----------
 */

/* Distances between labels in time, and how they are then written. */
static const struct
{
	int			seconds;
	const char *format;
}			time_steps[] =
{
	{1, "%H:%M:%S"}, {2, "%H:%M:%S"}, {5, "%H:%M:%S"}, {10, "%H:%M:%S"}, {30, "%H:%M:%S"},
	{60, "%H:%M"}, {120, "%H:%M"}, {300, "%H:%M"}, {600, "%H:%M"}, {1800, "%H:%M"},
	{3600, "%H:%M"}, {7200, "%H:%M"}, {3 * 3600, "%d %b %H:%M"}, {6 * 3600, "%d %b %H:%M"},
	{12 * 3600, "%d %b %H:%M"}, {86400, "%d %b"}, {2 * 86400, "%d %b"}, {7 * 86400, "%d %b"},
	{14 * 86400, "%d %b"}, {30 * 86400, "%d %b"}, {91 * 86400, "%b %Y"}, {182 * 86400, "%b %Y"},
	{365 * 86400, "%b %Y"}, {5 * 365 * 86400, "%b %Y"}
};

#define MAX_TIME_LABELS 7

static void
append_time_axis(StringInfo page, const Chart *chart)
{
	double		span = chart->last - chart->first;
	pg_time_t	first = (pg_time_t) chart->first;
	struct pg_tm *local = pg_localtime(&first, session_timezone);
	int64		offset = local == NULL ? 0 : local->tm_gmtoff;
	int64		step;
	int64		tick;
	int			i = 0;

	while (i < lengthof(time_steps) - 1 && span / time_steps[i].seconds > MAX_TIME_LABELS)
		i++;
	/* Centuries of ledger get few labels, not many. */
	step = Max(time_steps[i].seconds, (int64) (span / MAX_TIME_LABELS));
	appendStringInfoString(page, "<div class=\"x\" aria-hidden=\"true\">");
	/* Midnights and full hours of the session's time zone. */
	tick = ((int64) ceil((chart->first + offset) / step)) * step - offset;
	for (; tick <= chart->last; tick += step)
	{
		pg_time_t	at = (pg_time_t) tick;
		char		label[64];

		local = pg_localtime(&at, session_timezone);
		if (local == NULL || pg_strftime(label, sizeof(label), time_steps[i].format, local) == 0)
			continue;
		appendStringInfoString(page, "<span style=\"left:");
		append_number(page, 100 * x_of(chart, tick) / PLOT_WIDTH);
		append_html(page, "%%\">%s</span>", label);
	}
	appendStringInfoString(page, "</div>\n");
}

/* The cap over all roles is the line that matters most: it has a name of its own. */
static void
append_cap_label(StringInfo page, const Chart *chart)
{
	const Line *total = &chart->lines[LINE_TOTAL];

	if (!is_shown(chart, LINE_TOTAL) || !total->has_limit || total->limit > chart->top)
		return;
	appendStringInfoString(page, "<span class=\"mark\" style=\"top:");
	append_number(page, 100 * y_of(chart, total->limit) / PLOT_HEIGHT);
	appendStringInfoString(page, "%\">cap over all roles</span>\n");
}

static void
append_epsilon_axis(StringInfo page, const Chart *chart)
{
	appendStringInfoString(page, "<div class=\"y\" aria-hidden=\"true\">");
	for (int i = 0; i * chart->step <= chart->top * (1 + 1e-9); i++)
	{
		appendStringInfoString(page, "<span style=\"top:");
		append_number(page, 100 * y_of(chart, i * chart->step) / PLOT_HEIGHT);
		appendStringInfoString(page, "%\">");
		append_epsilon(page, i * chart->step, ROUND_DOWN);
		appendStringInfoString(page, "</span>");
	}
	appendStringInfoString(page, "</div>\n");
}

/*
 * ---------- lines ----------
 */

static void
append_level(StringInfo page, const Chart *chart, const char *class, int line, double epsilon)
{
	appendStringInfo(page, "<path class=\"%s c%d\" d=\"M0 ", class, line);
	append_number(page, y_of(chart, epsilon));
	appendStringInfo(page, "H%d\"/>", PLOT_WIDTH);
}

static void
append_line(StringInfo page, const Chart *chart, int number)
{
	const Line *line = &chart->lines[number];

	appendStringInfo(page, "<path class=\"line c%d\" d=\"M0 %d", number, PLOT_HEIGHT);
	for (uint64 i = line->begin; i < line->end; i++)
	{
		ReportRow	row = report_row(chart->points, i);

		appendStringInfoChar(page, 'H');
		append_number(page, x_of(chart, row_double(row, COLUMN_AT)));
		appendStringInfoChar(page, 'V');
		append_number(page, y_of(chart, row_double(row, COLUMN_SPENT)));
	}
	appendStringInfo(page, "H%d\"/>\n", PLOT_WIDTH);
}

static void
append_plot(StringInfo page, const Chart *chart)
{
	appendStringInfo(page, "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
					 "aria-label=\"Epsilon spent over time, one line per role\">\n",
					 PLOT_WIDTH, PLOT_HEIGHT);
	for (int i = 0; i * chart->step <= chart->top * (1 + 1e-9); i++)
		append_level(page, chart, "grid", 0, i * chart->step);
	appendStringInfoChar(page, '\n');
	for (int i = 0; i < MAX_LINES; i++)
		if (is_shown(chart, i) && chart->lines[i].has_limit && chart->lines[i].limit <= chart->top)
			append_level(page, chart, i == LINE_TOTAL ? "limit total" : "limit", i,
						 chart->lines[i].limit);
	appendStringInfoChar(page, '\n');
	for (int i = MAX_LINES - 1; i >= 0; i--)
		if (is_shown(chart, i))
			append_line(page, chart, i);
	appendStringInfoString(page, "</svg>\n");
}

static void
append_legend(StringInfo page, const Chart *chart)
{
	appendStringInfoString(page, "<ul class=\"legend\">\n");
	for (int i = 0; i < MAX_LINES; i++)
	{
		const Line *line = &chart->lines[i];

		if (!is_shown(chart, i))
			continue;
		appendStringInfo(page, "<li><i class=\"c%d\"></i>", i);
		if (i == LINE_TOTAL)
			appendStringInfoString(page, "<b>all roles</b> ");
		else if (i == LINE_OTHERS)
			append_html(page, "%l others ", chart->accounts - REPORT_MAX_LINES);
		else
			append_html(page, "<bdi>%s</bdi> ", line->role == NULL ? "?" : line->role);
		append_epsilon(page, line->spent, ROUND_UP);
		if (line->has_limit)
		{
			appendStringInfoString(page, " <span class=\"muted\">of ");
			append_epsilon(page, line->limit, ROUND_DOWN);
			appendStringInfoString(page, line->limit > chart->top ? " (off the scale)</span>" :
								   "</span>");
		}
		appendStringInfoString(page, "</li>\n");
	}
	appendStringInfoString(page, "</ul>\n");
}

void
report_chart(StringInfo page, const ReportRows *points, int relation,
			 const ReportRelations *relations)
{
	Chart		chart = {0};

	read_chart(&chart, points, relation, relations->now);
	if (chart.accounts == 0)
	{
		appendStringInfoString(page, "<p class=\"muted\">Nothing was spent yet.</p>\n");
		return;
	}
	appendStringInfoString(page, "<figure class=\"chart\">\n<figcaption><h3>Spent over time</h3>"
						   "<p class=\"muted\">&epsilon;, cumulative; dashed: limits</p></figcaption>\n"
						   "<div class=\"plot\">\n");
	append_epsilon_axis(page, &chart);
	append_plot(page, &chart);
	append_cap_label(page, &chart);
	append_time_axis(page, &chart);
	appendStringInfoString(page, "</div>\n");
	append_legend(page, &chart);
	appendStringInfoString(page, "</figure>\n");
}
