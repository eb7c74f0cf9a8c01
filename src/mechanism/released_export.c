/*
 * released_export.c
 *		A released classifier in words: a JSON object, in the columns' own units.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/released.h"
#include "server/json_text.h"

const char *const candidate_class_names[] = {"thresholds", "intervals",	 "stumps",
											 "rectangles", "halfspaces", NULL};

/* From [0, 1] to the column's own units. */
static double
own_units(const SpecColumn *column, double x)
{
	return column->min + x * (column->max - column->min);
}

/* "age", or "ward = B" for a level. */
static const char *
column_name(const SpecColumn *column)
{
	return column->level == NULL ? column->name : psprintf("%s = %s", column->name, column->level);
}

/* The weighted sum of encoded numbers as one of the columns' own. */
static void
append_sum(StringInfo json, const MechanismSpec *spec, const Classifier *classifier)
{
	double cut = classifier->cut;

	json_open(json, "sum", '{');
	for (int i = 0; i < spec->width; i++)
	{
		const SpecColumn *column = &spec->columns[i];
		double			  weight = classifier->weight[i] / (column->max - column->min);

		if (weight == 0)
			continue;
		cut += weight * column->min;
		json_number(json, column_name(column), weight);
	}
	json_close(json, '}');
	json_number(json, "at_least", cut);
}

/* A threshold of one column, without a weight. */
static void
append_threshold(StringInfo json, const MechanismSpec *spec, const Classifier *classifier)
{
	for (int i = 0; i < spec->width; i++)
	{
		if (classifier->weight[i] == 0)
			continue;
		json_string(json, "column", column_name(&spec->columns[i]));
		json_number(json, "at_least", own_units(&spec->columns[i], classifier->cut));
		return;
	}
	json_literal(json, "always", "true");
}

static void
append_box(StringInfo json, const MechanismSpec *spec, const Classifier *classifier)
{
	json_open(json, "inside", '{');
	for (int i = 0; i < spec->width; i++)
	{
		json_open(json, column_name(&spec->columns[i]), '[');
		json_number(json, NULL, own_units(&spec->columns[i], classifier->low[i]));
		json_number(json, NULL, own_units(&spec->columns[i], classifier->high[i]));
		json_close(json, ']');
	}
	json_close(json, '}');
}

/* Levels with their labels, or the parts of a number's range in order. */
static void
append_points(StringInfo json, const MechanismSpec *spec, const Released *released)
{
	bool columns = released->points_are_columns;

	json_string(json, "name", released->name[0] != '\0' ? released->name : NULL);
	json_open(json, columns ? "labels" : "parts", columns ? '{' : '[');
	for (int i = 0; i < released->npoints; i++)
	{
		const char *label = spec->classes[bits_member(released->labels, i)];

		if (columns)
			json_string(json, spec->columns[i].level, label);
		else
		{
			json_open(json, NULL, '{');
			json_number(json, "from", own_units(&spec->columns[0], (double) i / released->npoints));
			json_string(json, "label", label);
			json_close(json, '}');
		}
	}
	json_close(json, columns ? '}' : ']');
}

static void
append_classifier(StringInfo json, const MechanismSpec *spec, const Released *released)
{
	const Classifier *classifier = &released->classifier;

	json_open(json, "classifier", '{');
	if (classifier->class == CLASS_FINITE)
		append_points(json, spec, released);
	else
	{
		if (class_has_boxes(classifier->class))
			append_box(json, spec, classifier);
		else if (classifier->class == CLASS_HALFSPACES)
			append_sum(json, spec, classifier);
		else
			append_threshold(json, spec, classifier);
		json_string(json, "then", spec->classes[classifier->inside]);
		json_string(json, "else", spec->classes[!classifier->inside]);
	}
	json_close(json, '}');
}

char *
released_export(const MechanismModel *model)
{
	const Released *released = model->state;
	CandidateClass class = released->classifier.class;
	StringInfoData json;

	initStringInfo(&json);
	json_open(&json, NULL, '{');
	json_string(&json, "class", class == CLASS_FINITE ? "finite" : candidate_class_names[class]);
	append_classifier(&json, model->spec, released);
	if (released->candidates > 0)
	{
		json_literal(&json, "candidates", psprintf(INT64_FORMAT, released->candidates));
		json_number(&json, class == CLASS_HALFSPACES ? "farthest_found" : "cover_radius",
					released->radius);
	}
	if (released->accuracy > 0)
		json_number(&json, "accuracy", released->accuracy);
	if (released->smoothness > 0)
		json_number(&json, "smoothness", released->smoothness);
	if (released->candidates > 0)
		json_string(&json, "promise", released_promise(model->spec, released));
	json_close(&json, '}');
	return json.data;
}
