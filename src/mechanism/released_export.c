/*
 * released_export.c
 *		A released classifier as JSON, of encoded features; docs/export.md says how
 *		it is evaluated, and privpred.explain says it in the columns' own units.
 */
#include "postgres.h"

#include "mechanism/released.h"
#include "server/json_text.h"

const char *const candidate_class_names[] = {"thresholds", "intervals",	 "stumps",
											 "rectangles", "halfspaces", NULL};

/* n numbers; null is one that bounds nothing. */
static void
append_numbers(StringInfo json, const char *key, const double *numbers, int n)
{
	json_open(json, key, '[');
	for (int i = 0; i < n; i++)
		json_number(json, NULL, numbers[i]);
	json_close(json, ']');
}

/* A label for each level, or for each of equal parts of a number's range. */
static void
append_points(StringInfo json, const MechanismSpec *spec, const Released *released)
{
	json_string(json, "kind", released->points_are_columns ? "levels" : "parts");
	json_string(json, "name", released->name[0] != '\0' ? released->name : NULL);
	json_open(json, "labels", '[');
	for (int i = 0; i < released->npoints; i++)
		json_literal(
			json, NULL,
			psprintf("%d", labels_get(released->labels, released->npoints, spec->nclasses, i)));
	json_close(json, ']');
}

static void
append_classifier(StringInfo json, const MechanismSpec *spec, const Released *released)
{
	const Classifier *classifier = &released->classifier;

	if (classifier->class == CLASS_FINITE)
	{
		append_points(json, spec, released);
		return;
	}
	if (class_has_boxes(classifier->class))
	{
		json_string(json, "kind", "box");
		append_numbers(json, "low", classifier->low, spec->width);
		append_numbers(json, "high", classifier->high, spec->width);
	}
	else
	{
		json_string(json, "kind", "cut");
		append_numbers(json, "weights", classifier->weight, spec->width);
		json_number(json, "cut", classifier->cut);
	}
	json_literal(json, "inside", psprintf("%d", classifier->inside));
	json_literal(json, "outside", psprintf("%d", classifier->outside));
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
		json_number(&json, released->share == 0 ? "farthest_found" : "cover_radius",
					released->radius);
	}
	if (released->candidates > 0 && released->share > 0 && released->share < 1)
		json_number(&json, "cover_share", released->share);
	if (released->accuracy > 0)
		json_number(&json, "accuracy", released->accuracy);
	if (released->smoothness > 0)
		json_number(&json, "smoothness", released->smoothness);
	if (released->candidates > 0)
		json_string(&json, "promise", released_promise(model->spec, released));
	json_close(&json, '}');
	return json.data;
}
