/*
 * features.c
 *		The stored form of a feature specification: a JSON array, one object
 *		per feature in declared order, with kinds and levels spelled out.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

#include "catalog/features.h"
#include "server/json_text.h"
#include "server/privpred.h"

static const char *const kind_names[] = {
	[FEATURE_NUMERIC] = "numeric",
	[FEATURE_CATEGORY] = "category",
	[FEATURE_BOOLEAN] = "boolean",
};

static const struct
{
	const char *name;
	Oid			type;
} time_types[] = {
	{"date", DATEOID},
	{"timestamp", TIMESTAMPOID},
	{"timestamptz", TIMESTAMPTZOID},
};

/* We wrote the specification ourselves, so anything odd in it means that the catalog is damaged. */
static void
damaged(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED), errmsg("stored feature specification is damaged"),
			 errdetail("Problem with %s.", what)));
}

static char *
read_string(const JsonbValue *value)
{
	if (value == NULL || value->type != jbvString)
		damaged("a string");
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static double
read_double(const JsonbValue *value)
{
	if (value == NULL || value->type != jbvNumeric)
		damaged("a number");
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8, NumericGetDatum(value->val.numeric)));
}

/* A bound or fill of a numeric feature: a number, or a time in a string. */
static double
read_number(const Feature *feature, const JsonbValue *value)
{
	if (!OidIsValid(feature->time_type))
		return read_double(value);
	if (value == NULL || value->type != jbvString)
		damaged("a time");
	return time_of_text(feature->name, value->val.string.val, value->val.string.len,
						feature->time_type);
}

static JsonbValue *
json_field(JsonbContainer *object, const char *key)
{
	return getKeyJsonValueFromContainer(object, key, strlen(key), NULL);
}

static int
compare_levels(const void *a, const void *b, void *arg)
{
	char **levels = arg;

	return strcmp(levels[*(const int *) a], levels[*(const int *) b]);
}

/* If all features are numbers without cuts their encoding is a loop over two arrays. */
static void
gather_ranges(FeatureSpec *spec)
{
	for (int i = 0; i < spec->nfeatures; i++)
		if (spec->features[i].kind != FEATURE_NUMERIC || spec->features[i].npieces > 0)
			return;
	spec->minima = palloc_array(double, spec->nfeatures);
	spec->scales = palloc_array(double, spec->nfeatures);
	for (int i = 0; i < spec->nfeatures; i++)
	{
		spec->minima[i] = spec->features[i].min;
		spec->scales[i] = spec->features[i].scale;
	}
}

void
feature_spec_complete(FeatureSpec *spec)
{
	spec->width = spec->places = 0;
	for (int i = 0; i < spec->nfeatures; i++)
	{
		Feature *feature = &spec->features[i];

		feature->scale = 1 / (feature->max - feature->min);
		feature->offset = spec->width;
		feature->place = spec->places;
		feature->width = feature->kind == FEATURE_CATEGORY ? feature->nlevels
						 : feature->npieces > 0			   ? feature->npieces
														   : 1;
		spec->width += feature->width;
		spec->places += feature->kind == FEATURE_CATEGORY ? feature->nlevels : 1;
		if (feature->kind == FEATURE_CATEGORY)
		{
			feature->level_order = palloc_array(int, feature->nlevels);
			for (int j = 0; j < feature->nlevels; j++)
				feature->level_order[j] = j;
			qsort_arg(feature->level_order, feature->nlevels, sizeof(int), compare_levels,
					  feature->levels);
		}
	}
	gather_ranges(spec);
}

char *
feature_spec_drop_cuts(FeatureSpec *spec)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < spec->nfeatures; i++)
	{
		if (spec->features[i].npieces == 0)
			continue;
		spec->features[i].npieces = 0;
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", spec->features[i].name);
	}
	feature_spec_complete(spec);
	return names.len > 0 ? names.data : NULL;
}

int
feature_level(const Feature *feature, const char *level, int length)
{
	int low = 0;
	int high = feature->nlevels - 1;

	while (low <= high)
	{
		int			middle = (low + high) / 2;
		const char *candidate = feature->levels[feature->level_order[middle]];
		int			order = strncmp(level, candidate, length);

		if (order == 0 && candidate[length] != '\0')
			order = -1;
		if (order == 0)
			return feature->level_order[middle];
		if (order < 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return -1;
}

bool
feature_fits(const Feature *feature, Oid type)
{
	switch (feature->kind)
	{
		case FEATURE_NUMERIC:
			/* Types of times are told apart because their units differ. */
			return OidIsValid(feature->time_type) ? type == feature->time_type
												  : number_type_ok(type);
		case FEATURE_CATEGORY:
			return category_type_ok(type);
		case FEATURE_BOOLEAN:
			return type == BOOLOID;
	}
	return false;
}

static void
read_levels(Feature *feature, const JsonbValue *value)
{
	JsonbContainer *array;

	if (value == NULL || value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data))
		damaged("levels");
	array = value->val.binary.data;
	feature->nlevels = JsonContainerSize(array);
	if (feature->nlevels < 1 || feature->nlevels > PRIVPRED_MAX_WIDTH)
		damaged("number of levels");
	feature->levels = palloc_array(char *, feature->nlevels);
	for (int i = 0; i < feature->nlevels; i++)
		feature->levels[i] = read_string(getIthJsonbValueFromContainer(array, i));
}

static void
read_cuts(Feature *feature, const JsonbValue *value)
{
	JsonbContainer *array;
	int				count;

	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data))
		damaged("cuts");
	array = value->val.binary.data;
	count = JsonContainerSize(array);
	if (count < MIN_PIECES - 1 || count > MAX_PIECES - 1)
		damaged("number of cuts");
	feature->knots = palloc_array(double, count + 2);
	for (int i = 0; i < count; i++)
		feature->knots[i + 1] = read_number(feature, getIthJsonbValueFromContainer(array, i));
	if (cuts_complete(feature, count) != NULL)
		damaged("cuts");
}

static int
read_fill_level(const Feature *feature, const char *fill)
{
	for (int i = 0; i < feature->nlevels; i++)
		if (strcmp(feature->levels[i], fill) == 0)
			return i;
	damaged("fill");
	return -1;
}

static Oid
read_time_type(const JsonbValue *value)
{
	char *name = value == NULL ? NULL : read_string(value);

	if (name == NULL)
		return InvalidOid;
	for (int i = 0; i < lengthof(time_types); i++)
		if (strcmp(name, time_types[i].name) == 0)
			return time_types[i].type;
	damaged("type of a time");
	return InvalidOid;
}

static void
read_feature(Feature *feature, JsonbContainer *object)
{
	char	   *kind = read_string(json_field(object, "kind"));
	JsonbValue *fill = json_field(object, "fill");
	JsonbValue *cuts;

	feature->name = read_string(json_field(object, "name"));
	feature->fill_declared = fill != NULL;
	feature->missing = json_field(object, "missing") != NULL;
	feature->none = json_field(object, "none") != NULL;
	feature->fill_level = -1;
	if (strcmp(kind, kind_names[FEATURE_NUMERIC]) == 0)
	{
		feature->kind = FEATURE_NUMERIC;
		feature->time_type = read_time_type(json_field(object, "type"));
		feature->min = read_number(feature, json_field(object, "min"));
		feature->max = read_number(feature, json_field(object, "max"));
		if (!(feature->min < feature->max))
			damaged("bounds");
		cuts = json_field(object, "cuts");
		if (cuts)
			read_cuts(feature, cuts);
		if (fill)
			feature->fill = read_number(feature, fill);
	}
	else if (strcmp(kind, kind_names[FEATURE_CATEGORY]) == 0)
	{
		feature->kind = FEATURE_CATEGORY;
		read_levels(feature, json_field(object, "levels"));
		if (fill)
			feature->fill_level = read_fill_level(feature, read_string(fill));
	}
	else if (strcmp(kind, kind_names[FEATURE_BOOLEAN]) == 0)
	{
		feature->kind = FEATURE_BOOLEAN;
		if (fill && fill->type != jbvBool)
			damaged("fill");
		feature->fill = fill && fill->val.boolean ? 1 : 0;
	}
	else
		damaged("kind of feature");
}

FeatureSpec *
feature_spec_read(Jsonb *stored)
{
	FeatureSpec *spec = palloc0_object(FeatureSpec);

	if (!JB_ROOT_IS_ARRAY(stored) || JB_ROOT_IS_SCALAR(stored))
		damaged("top level");
	spec->nfeatures = JB_ROOT_COUNT(stored);
	spec->features = palloc0_array(Feature, Max(spec->nfeatures, 1));
	for (int i = 0; i < spec->nfeatures; i++)
	{
		JsonbValue *item = getIthJsonbValueFromContainer(&stored->root, i);

		if (item->type != jbvBinary || !JsonContainerIsObject(item->val.binary.data))
			damaged("a feature");
		read_feature(&spec->features[i], item->val.binary.data);
	}
	feature_spec_complete(spec);
	if (spec->width < 1 || spec->width > PRIVPRED_MAX_WIDTH)
		damaged("width");
	return spec;
}

/* A number, or a time in a string. */
static void
write_number(StringInfo json, const Feature *feature, const char *key, double value)
{
	if (OidIsValid(feature->time_type))
		json_string(json, key, time_to_text(value, feature->time_type));
	else
		json_number(json, key, value);
}

static void
write_fill(StringInfo json, const Feature *feature)
{
	switch (feature->kind)
	{
		case FEATURE_NUMERIC:
			write_number(json, feature, "fill", feature->fill);
			break;
		case FEATURE_BOOLEAN:
			json_literal(json, "fill", feature->fill == 1 ? "true" : "false");
			break;
		case FEATURE_CATEGORY:
			json_string(json, "fill", feature->levels[feature->fill_level]);
			break;
	}
}

static void
write_feature(StringInfo json, const Feature *feature)
{
	json_open(json, NULL, '{');
	json_string(json, "name", feature->name);
	json_string(json, "kind", kind_names[feature->kind]);
	if (feature->kind == FEATURE_NUMERIC)
	{
		for (int i = 0; i < lengthof(time_types); i++)
			if (feature->time_type == time_types[i].type)
				json_string(json, "type", time_types[i].name);
		write_number(json, feature, "min", feature->min);
		write_number(json, feature, "max", feature->max);
		if (feature->npieces > 0)
		{
			json_open(json, "cuts", '[');
			for (int i = 1; i < feature->npieces; i++)
				write_number(json, feature, NULL, feature->knots[i]);
			json_close(json, ']');
		}
	}
	if (feature->kind == FEATURE_CATEGORY)
	{
		json_open(json, "levels", '[');
		for (int i = 0; i < feature->nlevels; i++)
			json_string(json, NULL, feature->levels[i]);
		json_close(json, ']');
	}
	if (feature->fill_declared)
		write_fill(json, feature);
	if (feature->missing)
		json_literal(json, "missing", "true");
	if (feature->none)
		json_literal(json, "none", "true");
	json_close(json, '}');
}

Jsonb *
feature_spec_write(const FeatureSpec *spec)
{
	StringInfoData json;

	initStringInfo(&json);
	json_open(&json, NULL, '[');
	for (int i = 0; i < spec->nfeatures; i++)
		write_feature(&json, &spec->features[i]);
	json_close(&json, ']');
	return json_to_jsonb(json.data);
}
