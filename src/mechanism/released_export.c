/*
 * released_export.c
 *		A released classifier in words: a JSON object, in the columns' own units.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/json.h"

#include "mechanism/released.h"
#include "server/number_text.h"

/* JSON has no infinities: null is no bound. */
static void
append_number(StringInfo json, double number)
{
	char text[NUMBER_TEXT_SIZE];

	appendStringInfoString(json, isfinite(number) ? number_text(number, text) : "null");
}

static void
append_member(StringInfo json, const char *key, double number)
{
	appendStringInfo(json, ", \"%s\": ", key);
	append_number(json, number);
}

/* From [0, 1] to the column's own units. */
static double
own_units(const SpecColumn *column, double x)
{
	return column->min + x * (column->max - column->min);
}

/* "age", or "ward = B" for a level. */
static void
append_column(StringInfo json, const SpecColumn *column)
{
	escape_json(json, column->level == NULL ? column->name
											: psprintf("%s = %s", column->name, column->level));
}

static void
append_then_else(StringInfo json, const MechanismSpec *spec, bool inside)
{
	appendStringInfoString(json, ", \"then\": ");
	escape_json(json, spec->classes[inside]);
	appendStringInfoString(json, ", \"else\": ");
	escape_json(json, spec->classes[!inside]);
}

/* The weighted sum of encoded numbers as one of the columns' own. */
static void
append_cut(StringInfo json, const MechanismSpec *spec, const Classifier *classifier)
{
	double cut = classifier->cut;
	bool   first = true;

	appendStringInfoString(json, "\"sum\": {");
	for (int i = 0; i < spec->width; i++)
	{
		const SpecColumn *column = &spec->columns[i];
		double			  weight = classifier->weight[i] / (column->max - column->min);

		if (weight == 0)
			continue;
		cut += weight * column->min;
		if (!first)
			appendStringInfoString(json, ", ");
		first = false;
		append_column(json, column);
		appendStringInfoString(json, ": ");
		append_number(json, weight);
	}
	appendStringInfoChar(json, '}');
	append_member(json, "at_least", cut);
}

/* A threshold of one column, without a weight. */
static void
append_threshold(StringInfo json, const MechanismSpec *spec, const Classifier *classifier)
{
	for (int i = 0; i < spec->width; i++)
	{
		if (classifier->weight[i] == 0)
			continue;
		appendStringInfoString(json, "\"column\": ");
		append_column(json, &spec->columns[i]);
		append_member(json, "at_least", own_units(&spec->columns[i], classifier->cut));
		return;
	}
	appendStringInfoString(json, "\"always\": true");
}

static void
append_box(StringInfo json, const MechanismSpec *spec, const Classifier *classifier)
{
	appendStringInfoString(json, "\"inside\": {");
	for (int i = 0; i < spec->width; i++)
	{
		if (i > 0)
			appendStringInfoString(json, ", ");
		append_column(json, &spec->columns[i]);
		appendStringInfoString(json, ": [");
		append_number(json, own_units(&spec->columns[i], classifier->low[i]));
		appendStringInfoString(json, ", ");
		append_number(json, own_units(&spec->columns[i], classifier->high[i]));
		appendStringInfoChar(json, ']');
	}
	appendStringInfoChar(json, '}');
}

/* Levels with their labels, or the parts of a number's range in order. */
static void
append_points(StringInfo json, const MechanismSpec *spec, const Released *released)
{
	appendStringInfoString(json, "\"name\": ");
	if (released->name[0] != '\0')
		escape_json(json, released->name);
	else
		appendStringInfoString(json, "null");
	appendStringInfoString(json,
						   released->points_are_columns ? ", \"labels\": {" : ", \"parts\": [");
	for (int i = 0; i < released->npoints; i++)
	{
		const char *label = spec->classes[bits_member(released->labels, i)];

		if (i > 0)
			appendStringInfoString(json, ", ");
		if (released->points_are_columns)
		{
			escape_json(json, spec->columns[i].level);
			appendStringInfoString(json, ": ");
			escape_json(json, label);
			continue;
		}
		appendStringInfoString(json, "{\"from\": ");
		append_number(json, own_units(&spec->columns[0], (double) i / released->npoints));
		appendStringInfoString(json, ", \"label\": ");
		escape_json(json, label);
		appendStringInfoChar(json, '}');
	}
	appendStringInfoChar(json, released->points_are_columns ? '}' : ']');
}

char *
released_export(const MechanismModel *model)
{
	static const char *const names[] = {"thresholds", "intervals",	"stumps",
										"rectangles", "halfspaces", "finite"};
	const Released			*released = model->state;
	const Classifier		*classifier = &released->classifier;
	StringInfoData			 json;

	initStringInfo(&json);
	appendStringInfo(&json, "{\"class\": \"%s\", \"classifier\": {", names[classifier->class]);
	switch (classifier->class)
	{
		case CLASS_THRESHOLDS:
		case CLASS_STUMPS:
			append_threshold(&json, model->spec, classifier);
			break;
		case CLASS_HALFSPACES:
			append_cut(&json, model->spec, classifier);
			break;
		case CLASS_INTERVALS:
		case CLASS_RECTANGLES:
			append_box(&json, model->spec, classifier);
			break;
		case CLASS_FINITE:
			append_points(&json, model->spec, released);
			break;
	}
	if (classifier->class != CLASS_FINITE)
		append_then_else(&json, model->spec, classifier->inside);
	appendStringInfoChar(&json, '}');
	if (released->candidates > 0)
	{
		appendStringInfo(&json, ", \"candidates\": " INT64_FORMAT, released->candidates);
		append_member(&json,
					  classifier->class == CLASS_HALFSPACES ? "farthest_found" : "cover_radius",
					  released->radius);
	}
	if (released->accuracy > 0)
		append_member(&json, "accuracy", released->accuracy);
	if (released->smoothness > 0)
		append_member(&json, "smoothness", released->smoothness);
	if (released->candidates > 0)
	{
		appendStringInfoString(&json, ", \"promise\": ");
		escape_json(&json, released_promise(model->spec, released));
	}
	appendStringInfoChar(&json, '}');
	return json.data;
}
