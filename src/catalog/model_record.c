/*
 * model_record.c
 *		What follows from a model's record.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "catalog/models.h"
#include "server/json_text.h"

enum
{
	DEFAULT,
	TARGET,
	BINS,
	MEMOIZE,
	MEMOIZE_LIMIT
};

const Option model_options[] = {
	[DEFAULT] = {"default", OPTION_ANY},
	[TARGET] = {"target", OPTION_ANY},
	[BINS] = {"bins", OPTION_ANY},
	[MEMOIZE] = {"memoize", OPTION_FLAG},
	[MEMOIZE_LIMIT] = {"memoize_limit", OPTION_COUNT, 1, 10000000, 10000},
	{NULL},
};

ArrayType *
array_of_classes(char **classes, int nclasses)
{
	Datum *elements = palloc_array(Datum, nclasses);

	for (int i = 0; i < nclasses; i++)
		elements[i] = CStringGetTextDatum(classes[i]);
	return construct_array(elements, nclasses, TEXTOID, -1, false, TYPALIGN_INT);
}

SpecColumn *
feature_columns(const FeatureSpec *features)
{
	SpecColumn *columns = palloc0_array(SpecColumn, Max(features->width, 1));

	for (int i = 0; i < features->nfeatures; i++)
	{
		const Feature *feature = &features->features[i];
		bool		   numeric = feature->kind == FEATURE_NUMERIC;
		bool		   pieces = feature->npieces > 0;

		for (int j = 0; j < feature->width; j++)
			columns[feature->offset + j] = (SpecColumn){
				.name = feature->name,
				.level = feature->kind == FEATURE_CATEGORY ? feature->levels[j] : NULL,
				.piece = pieces ? j + 1 : 0,
				.binary = !numeric,
				.min = pieces	 ? feature->knots[j]
					   : numeric ? feature->min
								 : 0,
				.max = pieces	 ? feature->knots[j + 1]
					   : numeric ? feature->max
								 : 1,
			};
	}
	return columns;
}

int
model_memo_limit(const ModelRecord *model)
{
	int limit = option_number(model->spec.options, &model_options[MEMOIZE_LIMIT]);

	return option_number(model->spec.options, &model_options[MEMOIZE]) ? limit : 0;
}

int
model_default_class(const ModelRecord *model)
{
	JsonbValue	storage;
	JsonbValue *value;
	char	   *name;

	value = option_value(model->spec.options, "default", &storage);
	name = value ? json_scalar_text(value) : NULL;
	for (int i = 0; i < model->spec.nclasses && name != NULL; i++)
		if (strcmp(model->spec.classes[i], name) == 0)
			return i;
	return 0;
}

FeatureSpec *
label_spec(const ModelRecord *model, TupleDesc columns, const char *relation_name)
{
	StringInfoData json;

	initStringInfo(&json);
	json_open(&json, NULL, '{');
	json_open(&json, model->label, '{');
	json_number(&json, "min", model->spec.label_min);
	json_number(&json, "max", model->spec.label_max);
	json_close(&json, '}');
	json_close(&json, '}');
	return feature_spec_declare(CStringGetTextDatum(json.data), columns, relation_name);
}
