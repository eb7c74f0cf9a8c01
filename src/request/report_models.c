/*
 * report_models.c
 *		Cards of models: what everybody who may ask them may know.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "request/report.h"

#define MAX_CLASSES_SHOWN	12
#define MAX_LEVELS_SHOWN	12

static const char models_query[] =
"SELECT m.name, COALESCE(m.relation::text, 'a dropped table'), m.mechanism, m.learner,"
"  m.version::bigint, m.status, (m.classes)[1:$2::int], cardinality(m.classes)::bigint,"
"  m.teachers::bigint, m.epsilon::float8, m.label::text, m.created_by::text,"
"  to_char(m.trained_at, 'YYYY-MM-DD HH24:MI TZ'), m.options::text, jsonb_array_length(m.features)::bigint,"
"  count(*) OVER () "
"FROM privpred.models m ORDER BY m.relation::text COLLATE \"C\", m.name COLLATE \"C\" LIMIT $1";

enum
{
	COLUMN_NAME = 1,
	COLUMN_RELATION,
	COLUMN_MECHANISM,
	COLUMN_LEARNER,
	COLUMN_VERSION,
	COLUMN_STATUS,
	COLUMN_CLASSES,
	COLUMN_ALL_CLASSES,
	COLUMN_TEACHERS,
	COLUMN_EPSILON,
	COLUMN_LABEL,
	COLUMN_CREATED_BY,
	COLUMN_TRAINED_AT,
	COLUMN_OPTIONS,
	COLUMN_FEATURES,
	COLUMN_TOTAL
};

/* Features of the models above, in declared order. */
static const char features_query[] =
"SELECT f.value ->> 'name', f.value ->> 'kind', f.value ->> 'min', f.value ->> 'max',"
"  ARRAY(SELECT x.level FROM jsonb_array_elements_text(CASE jsonb_typeof(f.value -> 'levels')"
"      WHEN 'array' THEN f.value -> 'levels' ELSE '[]' END) WITH ORDINALITY x(level, place)"
"    ORDER BY x.place LIMIT $2),"
"  CASE jsonb_typeof(f.value -> 'levels') WHEN 'array' THEN jsonb_array_length(f.value -> 'levels')"
"    ELSE 0 END::bigint "
"FROM privpred.models m, jsonb_array_elements(m.features) WITH ORDINALITY f(value, place) "
"WHERE m.name = $1 ORDER BY f.place LIMIT $3";

enum
{
	FEATURE_NAME = 1,
	FEATURE_KIND,
	FEATURE_MIN,
	FEATURE_MAX,
	FEATURE_LEVELS,
	FEATURE_ALL_LEVELS
};

static void
append_pills(StringInfo page, char **texts, int count, int64 all)
{
	for (int i = 0; i < count; i++)
		append_html(page, "<span class=\"pill\"><bdi>%s</bdi></span> ", texts[i]);
	if (all > count)
		append_html(page, "<small>and %l more</small>", all - count);
}

static void
append_feature(StringInfo page, ReportRow row)
{
	char	  **levels;
	int			count = row_texts(row, FEATURE_LEVELS, &levels);

	append_html(page, "<tr><th scope=\"row\"><bdi>%s</bdi></th><td>%s</td><td>",
				row_text(row, FEATURE_NAME),
				row_is_null(row, FEATURE_KIND) ? "" : row_text(row, FEATURE_KIND));
	if (count > 0)
		append_pills(page, levels, count, row_int64(row, FEATURE_ALL_LEVELS));
	else if (!row_is_null(row, FEATURE_MIN) && !row_is_null(row, FEATURE_MAX))
		append_html(page, "%s &hellip; %s", row_text(row, FEATURE_MIN), row_text(row, FEATURE_MAX));
	appendStringInfoString(page, "</td></tr>\n");
}

static void
append_features(StringInfo page, ReportRow model)
{
	Oid			types[] = {TEXTOID, INT8OID, INT8OID};
	Datum		values[] = {0, Int64GetDatum(MAX_LEVELS_SHOWN), Int64GetDatum(REPORT_MAX_FEATURES)};
	int64		all = row_int64(model, COLUMN_FEATURES);
	bool		isnull;
	ReportRows	rows;

	values[0] = SPI_getbinval(model.tuple, model.columns, COLUMN_NAME, &isnull);
	rows = report_query(features_query, lengthof(types), types, values);
	append_html(page, "<details><summary>%l %s</summary>\n<table class=\"features\">\n<tbody>\n",
				all, all == 1 ? "feature" : "features");
	for (uint64 i = 0; i < rows.count; i++)
		append_feature(page, report_row(&rows, i));
	appendStringInfoString(page, "</tbody>\n</table>\n");
	append_left_out(page, all - (int64) rows.count, "features");
	appendStringInfoString(page, "</details>\n");
	SPI_freetuptable(rows.table);
}

static void
append_model(StringInfo page, ReportRow row)
{
	char	  **classes;
	int			count = row_texts(row, COLUMN_CLASSES, &classes);

	append_html(page, "<article class=\"model\">\n<h3><bdi>%s</bdi> <span class=\"version\">"
				"version %l</span></h3>\n<p class=\"muted\">predicts <bdi>%s</bdi> of <bdi>%s</bdi>"
				" &middot; %s</p>\n",
				row_text(row, COLUMN_NAME), row_int64(row, COLUMN_VERSION),
				row_text(row, COLUMN_LABEL), row_text(row, COLUMN_RELATION),
				row_text(row, COLUMN_STATUS));
	appendStringInfoString(page, "<dl>\n<dt>one answer costs</dt><dd>&epsilon; = ");
	append_epsilon(page, row_double(row, COLUMN_EPSILON), ROUND_UP);
	append_html(page, "</dd>\n<dt>mechanism</dt><dd>%s</dd>\n", row_text(row, COLUMN_MECHANISM));
	if (!row_is_null(row, COLUMN_LEARNER))
	{
		append_html(page, "<dt>learner</dt><dd>%s</dd>\n<dt>teachers</dt><dd>",
					row_text(row, COLUMN_LEARNER));
		append_count(page, row_int64(row, COLUMN_TEACHERS));
		appendStringInfoString(page, "</dd>\n");
	}
	append_html(page, "<dt>trained</dt><dd>%s</dd>\n"
				"<dt>created by</dt><dd><bdi>%s</bdi></dd>\n",
				row_text(row, COLUMN_TRAINED_AT), row_text(row, COLUMN_CREATED_BY));
	if (strcmp(row_text(row, COLUMN_OPTIONS), "{}") != 0)
		append_html(page, "<dt>options</dt><dd><code>%s</code></dd>\n",
					row_text(row, COLUMN_OPTIONS));
	appendStringInfoString(page, "</dl>\n<p class=\"classes\">");
	append_pills(page, classes, count, row_int64(row, COLUMN_ALL_CLASSES));
	appendStringInfoString(page, "</p>\n");
	append_features(page, row);
	appendStringInfoString(page, "</article>\n");
}

void
report_models(StringInfo page)
{
	Oid			types[] = {INT8OID, INT8OID};
	Datum		values[] = {Int64GetDatum(REPORT_MAX_MODELS), Int64GetDatum(MAX_CLASSES_SHOWN)};
	ReportRows	rows = report_query(models_query, lengthof(types), types, values);

	appendStringInfoString(page, "<section class=\"card\" id=\"models\">\n<h2>Models</h2>\n");
	if (rows.count == 0)
		appendStringInfoString(page, "<p class=\"muted\">There is no model that you may ask.</p>\n");
	else
	{
		appendStringInfoString(page, "<div class=\"models\">\n");
		for (uint64 i = 0; i < rows.count; i++)
			append_model(page, report_row(&rows, i));
		appendStringInfoString(page, "</div>\n");
		append_left_out(page, row_int64(report_row(&rows, 0), COLUMN_TOTAL) - (int64) rows.count,
						"models");
	}
	appendStringInfoString(page, "</section>\n");
}
