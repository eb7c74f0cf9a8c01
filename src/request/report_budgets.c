/*
 * report_budgets.c
 *		The part of the report about one relation: budgets, and who spent what.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "request/report.h"

/*
 * ---------- budgets ----------
 */

/* Relations that spent most first; in each, the cap and then the fullest accounts. */
static const char accounts_query[] =
"WITH b AS ("
"  SELECT " SQL_RELATION("b") " AS relation, b.role IS NULL AS is_cap, " SQL_ROLE("b") " AS role_name,"
"    b.status, b.epsilon_limit::float8 AS lim, b.epsilon_spent::float8 AS spent,"
"    b.epsilon_left::float8 AS rest, b.epsilon_reserved::float8 AS reserved,"
"    b.epsilon_orphaned::float8 AS orphaned, b.delta_limit::float8 AS delta_limit,"
"    b.delta_spent::float8 AS delta_spent, b.renyi_order,"
"    ARRAY(SELECT e.key FROM jsonb_each_text(b.answers_left) e"
"      ORDER BY e.key COLLATE \"C\" LIMIT $3) AS models,"
"    ARRAY(SELECT CASE e.value WHEN '9223372036854775807' THEN 'any number of' ELSE e.value END"
"      FROM jsonb_each_text(b.answers_left) e"
"      ORDER BY e.key COLLATE \"C\" LIMIT $3) AS answers,"
"    (SELECT count(*) FROM jsonb_object_keys(b.answers_left)) AS all_models,"
"    b.binding_cap, to_char(b.valid_until, 'YYYY-MM-DD HH24:MI TZ') AS valid_until,"
"    " SQL_RESETS("j.budget") " AS resets, " SQL_LIFETIME("j.budget") " AS lifetime"
"  FROM privpred.budgets b, LATERAL (SELECT to_jsonb(b)) j(budget)"
"), total AS ("
"  SELECT relation, count(*) FILTER (WHERE NOT is_cap) AS roles,"
"    row_number() OVER (ORDER BY sum(spent) DESC, relation COLLATE \"C\") AS place,"
"    count(*) OVER () AS relations"
"  FROM b GROUP BY relation"
"), ranked AS ("
"  SELECT b.*, t.roles, t.place, t.relations, row_number() OVER (PARTITION BY b.relation, b.is_cap"
"    ORDER BY b.status NOT IN ('active', 'frozen'), b.spent / NULLIF(b.lim, 0) DESC NULLS LAST,"
"      b.spent DESC, b.role_name COLLATE \"C\") AS rank"
"  FROM b JOIN total t ON t.relation = b.relation WHERE t.place <= $1"
") "
"SELECT place, relation, is_cap, role_name, status, lim, spent, rest, reserved, orphaned,"
"  delta_limit, delta_spent, renyi_order, models, answers, all_models, binding_cap, valid_until,"
"  resets, lifetime, roles, relations "
"FROM ranked WHERE rank <= $2 ORDER BY place, is_cap DESC, rank";

enum
{
	COLUMN_PLACE = 1,
	COLUMN_RELATION,
	COLUMN_IS_CAP,
	COLUMN_ROLE,
	COLUMN_STATUS,
	COLUMN_LIMIT,
	COLUMN_SPENT,
	COLUMN_LEFT,
	COLUMN_RESERVED,
	COLUMN_ORPHANED,
	COLUMN_DELTA_LIMIT,
	COLUMN_DELTA_SPENT,
	COLUMN_ORDER,
	COLUMN_MODELS,
	COLUMN_ANSWERS,
	COLUMN_ALL_MODELS,
	COLUMN_BINDING_CAP,
	COLUMN_VALID_UNTIL,
	COLUMN_RESETS,
	COLUMN_LIFETIME,
	COLUMN_ROLES,
	COLUMN_RELATIONS
};

static void
append_segment(StringInfo page, const char *class, double amount, double whole)
{
	if (!(amount > 0))
		return;
	append_html(page, "<i class=\"%s\" style=\"width:", class);
	append_number(page, 100 * amount / whole);
	appendStringInfoString(page, "%\"></i>");
}

/* Spent, reserved, lost, left, and what a cap withholds, as shares of the limit. */
static void
append_bar(StringInfo page, ReportRow row)
{
	double		limit = row_double(row, COLUMN_LIMIT);
	double		spent = row_double(row, COLUMN_SPENT);
	double		reserved = row_double(row, COLUMN_RESERVED);
	double		orphaned = row_double(row, COLUMN_ORPHANED);
	double		whole = Max(limit, spent);
	const char *fullness = "spent";

	if (row_is_null(row, COLUMN_LIMIT) || whole <= 0)
		return;
	if (strcmp(row_text(row, COLUMN_STATUS), "active") != 0)
		fullness = spent > limit ? "spent full" : "spent closed";
	else if (spent >= limit)
		fullness = "spent full";
	else if (spent >= REPORT_NEARLY_SPENT * limit)
		fullness = "spent nearly";
	append_html(page, "<div class=\"bar\" role=\"img\" aria-label=\"%d%% spent\">",
				(int) (100 * Min(spent / limit, 1e6)));
	append_segment(page, fullness, spent - reserved - orphaned, whole);
	append_segment(page, "reserved", reserved, whole);
	append_segment(page, "orphaned", orphaned, whole);
	append_segment(page, "left", row_double(row, COLUMN_LEFT), whole);
	append_segment(page, "withheld", limit - spent - row_double(row, COLUMN_LEFT), whole);
	appendStringInfoString(page, "</div>");
}

static void
append_part(StringInfo page, double amount, const char *what)
{
	if (!(amount > 0))
		return;
	appendStringInfoString(page, "<small>");
	append_epsilon(page, amount, ROUND_UP);
	append_html(page, " %s</small>", what);
}

static void
append_answers_left(StringInfo page, ReportRow row)
{
	char	  **models;
	char	  **answers;
	int			count = row_texts(row, COLUMN_MODELS, &models);

	appendStringInfoString(page, "<td class=\"answers\" data-label=\"Answers left\">");
	if (count == 0 || !(row_double(row, COLUMN_LEFT) > 0))
		appendStringInfoString(page, "<span class=\"muted\">none</span>");
	else
	{
		(void) row_texts(row, COLUMN_ANSWERS, &answers);
		for (int i = 0; i < count; i++)
			append_html(page, "<span class=\"pill\"><b>%s</b> <bdi>%s</bdi></span> ", answers[i],
						models[i]);
		if (row_int64(row, COLUMN_ALL_MODELS) > count)
			append_html(page, "<small>%l more models</small>",
						row_int64(row, COLUMN_ALL_MODELS) - count);
	}
	appendStringInfoString(page, "</td>");
}

/* Whose account, and what is special about it. */
static void
append_holder(StringInfo page, ReportRow row)
{
	char	   *status = row_text(row, COLUMN_STATUS);

	appendStringInfoString(page, "<th scope=\"row\">");
	if (row_bool(row, COLUMN_IS_CAP))
		appendStringInfoString(page, "<span class=\"all\">all roles together</span>");
	else
		append_name(page, row_text(row, COLUMN_ROLE));
	if (strcmp(status, "active") != 0)
		append_html(page, " <span class=\"status\">%s</span>", status);
	if (!row_is_null(row, COLUMN_VALID_UNTIL))
		append_html(page, "<small>until %s</small>", row_text(row, COLUMN_VALID_UNTIL));
	if (!row_is_null(row, COLUMN_RESETS))
		append_html(page, "<small>refilled at %s; %s</small>", row_text(row, COLUMN_RESETS),
					row_is_null(row, COLUMN_LIFETIME) ? "no lifetime limit" :
					row_text(row, COLUMN_LIFETIME));
	appendStringInfoString(page, "</th>");
}

/* The cell with the amount that may still be spent, and what bounds it. */
static void
append_left(StringInfo page, ReportRow row)
{
	double		left = row_double(row, COLUMN_LEFT);
	char	   *cap = row_text(row, COLUMN_BINDING_CAP);

	appendStringInfoString(page, "<td class=\"number\" data-label=\"Left\">");
	if (row_is_null(row, COLUMN_LEFT))
		appendStringInfoString(page, "<span class=\"muted\">no limit</span>");
	else
		append_epsilon(page, left, ROUND_DOWN);
	if (cap != NULL && strcmp(cap, "role") != 0 && !row_bool(row, COLUMN_IS_CAP) &&
		strcmp(row_text(row, COLUMN_STATUS), "active") == 0)
		append_html(page, "<small>by the %s&#39;s cap</small>", strcmp(cap, "relation") == 0 ? "table" : cap);
	appendStringInfoString(page, "</td>");
}

static void
append_budget(StringInfo page, ReportRow row)
{
	bool		pure = row_double(row, COLUMN_DELTA_LIMIT) == 0;

	appendStringInfo(page, "<tr%s>", row_bool(row, COLUMN_IS_CAP) ? " class=\"cap\"" : "");
	append_holder(page, row);
	appendStringInfoString(page, "<td class=\"use\">");
	append_bar(page, row);
	appendStringInfoString(page, "</td><td class=\"number\" data-label=\"Spent\">");
	append_loss(page, row_double(row, COLUMN_SPENT), row_double(row, COLUMN_DELTA_SPENT), pure,
				ROUND_UP);
	append_part(page, row_double(row, COLUMN_RESERVED), "of it reserved");
	append_part(page, row_double(row, COLUMN_ORPHANED), "of it lost");
	appendStringInfoString(page, "</td><td class=\"number\" data-label=\"Limit\">");
	if (row_is_null(row, COLUMN_LIMIT))
		appendStringInfoString(page, "<span class=\"muted\">none</span>");
	else
		append_loss(page, row_double(row, COLUMN_LIMIT), row_double(row, COLUMN_DELTA_LIMIT), pure,
					ROUND_DOWN);
	appendStringInfoString(page, "</td>");
	append_left(page, row);
	appendStringInfoString(page, "<td class=\"number\" data-label=\"Order\">");
	append_epsilon(page, row_double(row, COLUMN_ORDER), ROUND_UP);
	appendStringInfoString(page, "</td>");
	append_answers_left(page, row);
	appendStringInfoString(page, "</tr>\n");
}

static void
append_budgets(StringInfo page, const ReportRows *accounts, uint64 first, uint64 end)
{
	ReportRow	row = report_row(accounts, first);
	int64		shown = 0;

	appendStringInfoString(page, "<table class=\"budgets\">\n<thead><tr><th scope=\"col\">Role</th>"
						   "<th scope=\"col\">Use</th>"
						   "<th scope=\"col\" class=\"number\">Spent</th>"
						   "<th scope=\"col\" class=\"number\">Limit</th>"
						   "<th scope=\"col\" class=\"number\">Left</th>"
						   "<th scope=\"col\" class=\"number\">Order</th>"
						   "<th scope=\"col\">Answers left</th></tr></thead>\n<tbody>\n");
	for (uint64 i = first; i < end; i++)
	{
		row = report_row(accounts, i);
		shown += row_bool(row, COLUMN_IS_CAP) ? 0 : 1;
		append_budget(page, row);
	}
	appendStringInfoString(page, "</tbody>\n</table>\n"
						   "<p class=\"key\"><span><i class=\"spent\"></i>spent</span> "
						   "<span><i class=\"reserved\"></i>reserved by running statements</span> "
						   "<span><i class=\"orphaned\"></i>lost in a crash</span> "
						   "<span><i class=\"left\"></i>left</span> "
						   "<span><i class=\"withheld\"></i>not available</span></p>\n");
	append_left_out(page, row_int64(row, COLUMN_ROLES) - shown, "roles");
}

/*
 * ---------- who spent what on which model ----------
 */

/* Who asked may differ from who paid: members of a group spend its budget. */
static const char spenders_query[] =
"WITH spent AS ("
"  SELECT array_position($1, " SQL_RELATION("l") ")::bigint AS place,"
"    COALESCE(l.asked_by, '?') AS who, COALESCE(l.model, 'forgiven') AS model,"
"    sum(l.answers) AS answers, sum(l.epsilon) AS epsilon"
"  FROM privpred.ledger l WHERE " SQL_RELATION("l") " = ANY ($1) AND l.epsilon <> 0"
"  GROUP BY 1, 2, 3"
"), total AS ("
"  SELECT s.*, sum(s.epsilon) OVER (PARTITION BY s.place, s.who) AS by_who,"
"    sum(s.epsilon) OVER (PARTITION BY s.place, s.model) AS by_model FROM spent s"
"), ranked AS ("
"  SELECT t.*, dense_rank() OVER (PARTITION BY t.place"
"      ORDER BY t.by_who DESC, t.who COLLATE \"C\") AS row,"
"    dense_rank() OVER (PARTITION BY t.place"
"      ORDER BY t.by_model DESC, t.model COLLATE \"C\") AS col FROM total t"
") "
"SELECT r.place, LEAST(r.row, $2 + 1)::bigint, LEAST(r.col, $3 + 1)::bigint,"
"  min(r.who), min(r.model), sum(r.answers)::bigint, sum(r.epsilon)::float8,"
"  max(max(r.row)) OVER (PARTITION BY r.place)::bigint,"
"  max(max(r.col)) OVER (PARTITION BY r.place)::bigint "
"FROM ranked r GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";

enum
{
	SPENDER_PLACE = 1,
	SPENDER_ROW,
	SPENDER_COLUMN,
	SPENDER_WHO,
	SPENDER_MODEL,
	SPENDER_ANSWERS,
	SPENDER_EPSILON,
	SPENDER_ALL_ROWS,
	SPENDER_ALL_COLUMNS
};

#define MATRIX_ROWS		(REPORT_MAX_ROLES + 1)
#define MATRIX_COLUMNS	(REPORT_MAX_COLUMNS + 1)

typedef struct Matrix
{
	int			rows;
	int			columns;
	char	   *who[MATRIX_ROWS];
	char	   *model[MATRIX_COLUMNS];
	int64		answers[MATRIX_ROWS][MATRIX_COLUMNS];
	double		epsilon[MATRIX_ROWS][MATRIX_COLUMNS];
	double		most;
} Matrix;

static Matrix *
read_matrix(const ReportRows *spenders, int relation)
{
	Matrix	   *matrix = palloc0_object(Matrix);

	for (uint64 i = 0; i < spenders->count; i++)
	{
		ReportRow	row = report_row(spenders, i);
		int			y = (int) row_int64(row, SPENDER_ROW) - 1;
		int			x = (int) row_int64(row, SPENDER_COLUMN) - 1;

		if (row_int64(row, SPENDER_PLACE) != relation + 1)
			continue;
		matrix->rows = Max(matrix->rows, y + 1);
		matrix->columns = Max(matrix->columns, x + 1);
		matrix->who[y] = y < REPORT_MAX_ROLES ? row_text(row, SPENDER_WHO) :
			psprintf(INT64_FORMAT " others", row_int64(row, SPENDER_ALL_ROWS) - REPORT_MAX_ROLES);
		matrix->model[x] = x < REPORT_MAX_COLUMNS ? row_text(row, SPENDER_MODEL) :
			psprintf(INT64_FORMAT " other models",
					 row_int64(row, SPENDER_ALL_COLUMNS) - REPORT_MAX_COLUMNS);
		matrix->answers[y][x] = row_int64(row, SPENDER_ANSWERS);
		matrix->epsilon[y][x] = row_double(row, SPENDER_EPSILON);
		if (y < REPORT_MAX_ROLES && x < REPORT_MAX_COLUMNS)
			matrix->most = Max(matrix->most, matrix->epsilon[y][x]);
	}
	return matrix;
}

/* The more was spent, the darker. */
static void
append_matrix_cell(StringInfo page, const Matrix *matrix, int y, int x)
{
	double		epsilon = matrix->epsilon[y][x];

	if (epsilon == 0 && matrix->answers[y][x] == 0)
	{
		appendStringInfoString(page, "<td class=\"number none\">&middot;</td>");
		return;
	}
	appendStringInfoString(page, "<td class=\"number heat\" style=\"--heat:");
	append_number(page, 0.08 + 0.62 * Min(1, Max(epsilon, 0) / Max(matrix->most, 1e-12)));
	appendStringInfoString(page, "\">");
	append_epsilon(page, epsilon, ROUND_UP);
	appendStringInfoString(page, "<small>");
	append_count(page, matrix->answers[y][x]);
	append_html(page, " %s</small></td>", matrix->answers[y][x] == 1 ? "answer" : "answers");
}

static void
append_spenders(StringInfo page, const ReportRows *spenders, int relation)
{
	Matrix	   *matrix = read_matrix(spenders, relation);

	if (matrix->rows == 0)
		return;
	appendStringInfoString(page, "<h3>Who spent what on which model</h3>\n"
						   "<p class=\"muted\">charges, in the units of the account that paid: its order</p>\n"
						   "<div class=\"scroll\">"
						   "<table class=\"spenders\">\n<thead><tr><th scope=\"col\">Asked by</th>");
	for (int x = 0; x < matrix->columns; x++)
		append_html(page, "<th scope=\"col\" class=\"number\"><bdi>%s</bdi></th>", matrix->model[x]);
	appendStringInfoString(page, "<th scope=\"col\" class=\"number\">all</th></tr></thead>\n<tbody>\n");
	for (int y = 0; y < matrix->rows; y++)
	{
		double		sum = 0;

		append_html(page, "<tr><th scope=\"row\"><bdi>%s</bdi></th>", matrix->who[y]);
		for (int x = 0; x < matrix->columns; x++)
		{
			append_matrix_cell(page, matrix, y, x);
			sum += matrix->epsilon[y][x];
		}
		appendStringInfoString(page, "<td class=\"number sum\">");
		append_epsilon(page, sum, ROUND_UP);
		appendStringInfoString(page, "</td></tr>\n");
	}
	appendStringInfoString(page, "</tbody>\n</table></div>\n");
}

/*
 * ---------- all relations ----------
 */

/* Accounts come ordered by relation; finds where each begins. */
static void
list_relations(const ReportRows *accounts, ReportRelations *relations, uint64 *begin)
{
	Datum		names[REPORT_MAX_RELATIONS];

	relations->count = 0;
	for (uint64 i = 0; i < accounts->count; i++)
	{
		ReportRow	row = report_row(accounts, i);

		if (row_int64(row, COLUMN_PLACE) == relations->count)
			continue;
		relations->names[relations->count] = row_text(row, COLUMN_RELATION);
		names[relations->count] = CStringGetTextDatum(relations->names[relations->count]);
		begin[relations->count++] = i;
	}
	begin[relations->count] = accounts->count;
	relations->array = PointerGetDatum(construct_array(names, relations->count, TEXTOID, -1, false,
													   TYPALIGN_INT));
}

void
report_relations(StringInfo page, TimestampTz now)
{
	Oid			limit_types[] = {INT8OID, INT8OID, INT8OID};
	Datum		limits[] = {Int64GetDatum(REPORT_MAX_RELATIONS), Int64GetDatum(REPORT_MAX_ROLES),
	Int64GetDatum(REPORT_MAX_COLUMNS)};
	Oid			spender_types[] = {TEXTARRAYOID, INT8OID, INT8OID};
	Datum		spender_values[lengthof(spender_types)];
	ReportRelations relations;
	uint64		begin[REPORT_MAX_RELATIONS + 1];
	ReportRows	accounts = report_query(accounts_query, lengthof(limit_types), limit_types, limits);
	ReportRows	points;
	ReportRows	spenders;

	if (accounts.count == 0)
	{
		appendStringInfoString(page, "<section class=\"card\" id=\"budgets\">\n<h2>Budgets</h2>\n"
							   "<p class=\"muted\">You hold no budget and own no table that has one."
							   "</p>\n</section>\n");
		return;
	}
	list_relations(&accounts, &relations, begin);
	relations.now = now;
	spender_values[0] = relations.array;
	spender_values[1] = limits[1];
	spender_values[2] = limits[2];
	points = report_chart_points(&relations);
	spenders = report_query(spenders_query, lengthof(spender_types), spender_types, spender_values);
	for (int i = 0; i < relations.count; i++)
	{
		append_html(page, "<section class=\"card relation\">\n<h2>Budgets on <bdi>%s</bdi></h2>\n",
					relations.names[i]);
		append_budgets(page, &accounts, begin[i], begin[i + 1]);
		report_chart(page, &points, i, &relations);
		append_spenders(page, &spenders, i);
		appendStringInfoString(page, "</section>\n");
	}
	append_left_out(page, row_int64(report_row(&accounts, 0), COLUMN_RELATIONS) - relations.count,
					"tables");
}
