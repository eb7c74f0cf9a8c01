/*
 * declare.c
 *		What an owner declares about columns, checked against their types.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "catalog/features.h"
#include "server/options.h"
#include "server/privpred.h"
#include "server/query.h"
#include "server/session.h"

/* One entry of the owner's JSON, before it is understood. */
typedef struct Declaration
{
	char  *column;
	Jsonb *parameters; /* NULL in the array form */
} Declaration;

void
bad_feature(const char *feature, const char *problem, const char *hint)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("invalid declaration of feature \"%s\"", feature),
					errdetail("%s", problem), errhint("%s", hint)));
}

/* ---------- reading JSON in the order in which it was written ---------- */

static Declaration *
read_declarations(Datum json, int *count)
{
	CatalogSession session;
	Declaration	  *result;
	char		  *shape;

	catalog_begin(&session);
	query_read("SELECT pg_catalog.json_typeof($1)", ARG(JSONOID, json));
	shape = row_text(0, 1);
	if (strcmp(shape, "object") == 0)
		query_read("SELECT e.key, e.value::pg_catalog.jsonb FROM pg_catalog.json_each($1) e",
				   ARG(JSONOID, json));
	else if (strcmp(shape, "array") == 0)
		query_read("SELECT CASE WHEN pg_catalog.json_typeof(e.value) = 'string'"
				   " THEN e.value #>> '{}' END, NULL::pg_catalog.jsonb"
				   " FROM pg_catalog.json_array_elements($1) e",
				   ARG(JSONOID, json));
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("features must be a JSON object or array, not a %s", shape),
				 errhint("Declare each column, as in {\"age\": {\"min\": 0, \"max\": 110}}.")));
	session_keep(&session);
	*count = (int) SPI_processed;
	result = palloc0_array(Declaration, Max(*count, 1));
	for (int i = 0; i < *count; i++)
	{
		result[i].column = row_text(i, 1);
		result[i].parameters = row_varlena(i, 2);
		if (result[i].column == NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("a JSON array of features must hold column names only"),
							errhint("Use a JSON object to declare bounds and levels.")));
	}
	catalog_end(&session);
	return result;
}

/* A key of one feature's declaration; NULL if it is not given. */
static JsonbValue *
parameter(const Declaration *declaration, const char *key)
{
	if (declaration->parameters == NULL)
		return NULL;
	return getKeyJsonValueFromContainer(&declaration->parameters->root, key, strlen(key), NULL);
}

static void
check_parameters(const Declaration *declaration)
{
	static const char *const keys[] = {"type", "min", "max", "cuts", "levels", "null"};
	JsonbIterator			*iterator;
	JsonbValue				 key;

	if (declaration->parameters == NULL)
		return;
	if (!JB_ROOT_IS_OBJECT(declaration->parameters))
		bad_feature(declaration->column, "Its declaration must be a JSON object.",
					"Write {} for a boolean or enum column.");
	iterator = JsonbIteratorInit(&declaration->parameters->root);
	(void) JsonbIteratorNext(&iterator, &key, true);
	while (JsonbIteratorNext(&iterator, &key, true) == WJB_KEY)
	{
		char	  *name = pnstrdup(key.val.string.val, key.val.string.len);
		JsonbValue value;
		bool	   known = false;

		(void) JsonbIteratorNext(&iterator, &value, true);
		for (int i = 0; i < lengthof(keys); i++)
			known |= strcmp(name, keys[i]) == 0;
		if (!known)
			bad_feature(declaration->column, psprintf("Unknown key \"%s\".", name),
						"The keys are type, min, max, cuts, levels and null.");
	}
}

/* ---------- one feature ---------- */

bool
category_type_ok(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == BOOLOID ||
		   type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == NAMEOID ||
		   get_typtype(type) == TYPTYPE_ENUM;
}

double
declared_number(const Feature *feature, const JsonbValue *value)
{
	if (OidIsValid(feature->time_type) && value->type == jbvString)
		return time_of_text(feature->name, value->val.string.val, value->val.string.len,
							feature->time_type);
	return OidIsValid(feature->time_type) ? NAN : json_double(value);
}

/* A finite JSON number, or time in a string, or an error that names feature and key. */
static double
number_parameter(const Feature *feature, const char *key, const JsonbValue *value)
{
	double result = declared_number(feature, value);

	if (!isfinite(result) && OidIsValid(feature->time_type))
		bad_feature(
			feature->name,
			psprintf("\"%s\" must be a finite %s in a string.", key,
					 format_type_be(feature->time_type)),
			"Declare bounds as in {\"born\": {\"min\": \"1900-01-01\", \"max\": \"2030-01-01\"}}.");
	if (!isfinite(result))
		bad_feature(feature->name, psprintf("\"%s\" must be a finite number.", key),
					"Declare bounds as in {\"age\": {\"min\": 0, \"max\": 110}}.");
	return result;
}

/* Text of a JSON scalar, as a level is compared: 3, true and "x" are 3, true and x. */
char *
json_scalar_text(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		case jbvNumeric:
			return DatumGetCString(
				DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
		default:
			return NULL;
	}
}

/* What is declared of NULL. */
static void
declare_null(Feature *feature, const JsonbValue *value)
{
	const char *hint =
		"Use {\"null\": \"error\"}, {\"null\": \"none\"}, {\"null\": \"missing\"} or "
		"{\"null\": {\"fill\": value}}, the value in the column's own units.";
	JsonbValue *fill = NULL;
	char	   *level;

	feature->null_declared = true;
	if (value->type == jbvString)
	{
		char *policy = json_scalar_text(value);

		feature->missing = strcmp(policy, "missing") == 0;
		feature->none = strcmp(policy, "none") == 0;
		if (feature->missing || feature->none || strcmp(policy, "error") == 0)
			return;
	}
	if (value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data) &&
		JsonContainerSize(value->val.binary.data) == 1)
		fill = getKeyJsonValueFromContainer(value->val.binary.data, "fill", 4, NULL);
	if (fill == NULL)
		bad_feature(feature->name, "\"null\" is not understood.", hint);

	feature->fill_declared = true;
	switch (feature->kind)
	{
		case FEATURE_NUMERIC:
			feature->fill = number_parameter(feature, "fill", fill);
			if (feature->fill < feature->min || feature->fill > feature->max)
				bad_feature(feature->name, "\"fill\" lies outside the declared bounds.", hint);
			break;
		case FEATURE_BOOLEAN:
			if (fill->type != jbvBool)
				bad_feature(feature->name, "\"fill\" must be true or false.", hint);
			feature->fill = fill->val.boolean ? 1 : 0;
			break;
		case FEATURE_CATEGORY:
			level = json_scalar_text(fill);
			feature->fill_level = level ? feature_level(feature, level, strlen(level)) : -1;
			if (feature->fill_level < 0)
				bad_feature(feature->name, "\"fill\" is not one of the declared levels.", hint);
			break;
	}
}

/* What the declaration leaves open follows from the column's type. */
static void
declare_from_type(Feature *feature, Oid type, bool is_array_form)
{
	if (type == BOOLOID)
		feature->kind = FEATURE_BOOLEAN;
	else if (get_typtype(type) == TYPTYPE_ENUM)
	{
		feature->kind = FEATURE_CATEGORY;
		feature->levels = enum_levels(type, &feature->nlevels);
	}
	else if (number_type_ok(type) || time_type_ok(type))
	{
		if (!is_array_form || time_type_ok(type))
			bad_feature(
				feature->name, "A numeric feature needs \"min\" and \"max\".",
				"Bounds are declared, never read from the data; choose them from what you know "
				"of the quantity.");
		feature->kind = FEATURE_NUMERIC;
		feature->min = 0;
		feature->max = 1;
	}
	else
		bad_feature(
			feature->name, "A feature of this column's type needs \"levels\".",
			"Levels are declared, never read from the data: {\"ward\": {\"levels\": [\"A\", "
			"\"B\"]}}.");
}

static void
check_declared_type(const Feature *feature, const JsonbValue *declared, Oid type)
{
	static const struct
	{
		const char *name;
		FeatureKind kind;
	} types[] = {
		{"boolean", FEATURE_BOOLEAN},
		{"numeric", FEATURE_NUMERIC},
		{"category", FEATURE_CATEGORY},
		{"enum", FEATURE_CATEGORY},
	};
	char *name = declared->type == jbvString ? json_scalar_text(declared) : "";
	bool  agrees = false;

	for (int i = 0; i < lengthof(types); i++)
		agrees |= strcmp(name, types[i].name) == 0 && feature->kind == types[i].kind;
	if (!agrees || (strcmp(name, "enum") == 0 && get_typtype(type) != TYPTYPE_ENUM))
		bad_feature(
			feature->name, "\"type\" is unknown or disagrees with the other keys.",
			"The types are numeric (with min and max), category (with levels), boolean and enum.");
}

static void
check_column_type(const Feature *feature, Oid type)
{
	if (!feature_fits(feature, type))
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of type %s cannot be a feature of this kind", feature->name,
					format_type_be(type)),
			 errhint(
				 "Numbers need a column of numbers, dates or timestamps, levels a text, integer, "
				 "boolean or enum column.")));
}

static void
declare_bounds(Feature *feature, const JsonbValue *min, const JsonbValue *max, Oid type)
{
	const char *hint = "Values are clamped to the bounds and scaled to [0, 1].";

	feature->kind = FEATURE_NUMERIC;
	feature->time_type = time_type_ok(type) ? type : InvalidOid;
	feature->min = number_parameter(feature, "min", min);
	feature->max = number_parameter(feature, "max", max);
	if (!(feature->min < feature->max))
		bad_feature(feature->name, "\"min\" must be less than \"max\".", hint);
	if (isinf(feature->max - feature->min) || isinf(1 / (feature->max - feature->min)))
		bad_feature(feature->name,
					"\"min\" and \"max\" are too far from, or too close to, each other.", hint);
}

static void
declare_feature(Feature *feature, const Declaration *declaration, Oid type, Oid relid)
{
	JsonbValue *levels = parameter(declaration, "levels");
	JsonbValue *min = parameter(declaration, "min");
	JsonbValue *max = parameter(declaration, "max");
	JsonbValue *cuts = parameter(declaration, "cuts");
	JsonbValue *declared_type = parameter(declaration, "type");

	feature->name = declaration->column;
	feature->fill_level = -1;
	if (levels && (min || max))
		bad_feature(feature->name, "It has both levels and bounds.",
					"A category has levels, a number has min and max.");
	if (levels)
		levels_declare(feature, levels, relid);
	else if (min && max)
		declare_bounds(feature, min, max, type);
	else
		declare_from_type(feature, type, declaration->parameters == NULL);
	check_column_type(feature, type);
	if (declared_type)
		check_declared_type(feature, declared_type, type);
	if (cuts)
		cuts_declare(feature, cuts);
}

static Oid
column_type(TupleDesc columns, const char *name, const char *relation_name)
{
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(columns, i);

		if (!attribute->attisdropped && strcmp(NameStr(attribute->attname), name) == 0)
			return getBaseType(attribute->atttypid);
	}
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
					errmsg("column \"%s\" of relation \"%s\" does not exist", name, relation_name),
					errhint("Features are declared under the names of the table's columns.")));
	return InvalidOid; /* keep compiler quiet */
}

FeatureSpec *
feature_spec_declare(Datum json, TupleDesc columns, const char *relation_name)
{
	FeatureSpec *spec = palloc0_object(FeatureSpec);
	Declaration *declarations = read_declarations(json, &spec->nfeatures);

	if (spec->nfeatures == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("no features are declared"),
			 errhint("Declare at least one column, as in {\"age\": {\"min\": 0, \"max\": 110}}.")));
	spec->features = palloc0_array(Feature, spec->nfeatures);
	for (int i = 0; i < spec->nfeatures; i++)
	{
		for (int j = 0; j < i; j++)
			if (strcmp(declarations[i].column, declarations[j].column) == 0)
				ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
								errmsg("feature \"%s\" is declared more than once",
									   declarations[i].column),
								errhint("Declare each column once.")));
		check_parameters(&declarations[i]);
		declare_feature(&spec->features[i], &declarations[i],
						column_type(columns, declarations[i].column, relation_name),
						TupleDescAttr(columns, 0)->attrelid);
	}
	feature_spec_complete(spec);
	if (spec->width > PRIVPRED_MAX_WIDTH)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("features encode to %d numbers, more than the limit of %d",
							   spec->width, PRIVPRED_MAX_WIDTH),
						errhint("Declare fewer columns, levels or cuts.")));

	/* A fill may name a level, so levels come first. */
	for (int i = 0; i < spec->nfeatures; i++)
	{
		JsonbValue *policy = parameter(&declarations[i], "null");

		if (spec->features[i].kind == FEATURE_CATEGORY)
			levels_check(&spec->features[i]);
		if (policy)
			declare_null(&spec->features[i], policy);
	}
	return spec;
}
