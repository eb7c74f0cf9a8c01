/*
 * options.c
 *		Parsing and checking of learner options.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/numeric.h"

#include "learner/learner.h"

/* Chosen on the Adult data with a few hundred rows per teacher. */
#define DEFAULT_LOGISTIC_COST	10.0
#define DEFAULT_SVM_COST		1.0
#define DEFAULT_TOLERANCE		0.1
#define DEFAULT_RIDGE			1.0
#define DEFAULT_SMOOTHING		0.01

pg_noreturn static void
bad_option(const char *key, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("option \"%s\" must be %s", key, rule)));
}

/* Numbers and booleans may stand for the text of a label. */
static char *
scalar_text(const char *key, const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return numeric_normalize(value->val.numeric);
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		default:
			bad_option(key, "a string");
	}
}

static char *
string_option(const char *key, const JsonbValue *value)
{
	if (value->type != jbvString || value->val.string.len == 0)
		bad_option(key, "a string that is not empty");
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static double
positive_option(const char *key, const JsonbValue *value)
{
	double		number;

	if (value->type != jbvNumeric)
		bad_option(key, "a number");
	number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
												NumericGetDatum(value->val.numeric)));
	if (!isfinite(number) || number < 1e-12 || number > 1e12)
		bad_option(key, "between 1e-12 and 1e12");
	return number;
}

static void
classes_option(JsonbValue *value, LearnerOptions *options)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	element;

	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data) ||
		JsonContainerIsScalar(value->val.binary.data))
		bad_option("classes", "an array of strings");
	if (JsonContainerSize(value->val.binary.data) < PRIVPRED_MIN_CLASSES ||
		JsonContainerSize(value->val.binary.data) > PRIVPRED_MAX_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"classes\" must name between %d and %d classes",
						PRIVPRED_MIN_CLASSES, PRIVPRED_MAX_CLASSES)));

	options->classes = palloc(JsonContainerSize(value->val.binary.data) * sizeof(char *));
	iterator = JsonbIteratorInit(value->val.binary.data);
	while ((token = JsonbIteratorNext(&iterator, &element, true)) != WJB_DONE)
	{
		char	   *name;

		if (token != WJB_ELEM)
			continue;
		name = scalar_text("classes", &element);
		for (int i = 0; i < options->nclasses; i++)
			if (strcmp(options->classes[i], name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("class \"%s\" is declared twice", name)));
		options->classes[options->nclasses++] = name;
	}
}

static bool
key_allowed(const Learner *learner, const char *key)
{
	const char *found = learner->option_keys;
	size_t		length = strlen(key);

	while ((found = strstr(found, key)) != NULL)
	{
		if ((found == learner->option_keys || found[-1] == ' ') &&
			(found[length] == '\0' || found[length] == ','))
			return true;
		found += length;
	}
	return false;
}

static void
set_option(const Learner *learner, const char *key, JsonbValue *value, LearnerOptions *options)
{
	if (strcmp(key, "classes") == 0)
		classes_option(value, options);
	else if (strcmp(key, "default") == 0)
		options->default_class = scalar_text(key, value);
	else if (key[0] == '\0' || !key_allowed(learner, key))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown option \"%s\" of learner \"%s\"", key, learner->name),
				 errhint("Its options are: %s%sclasses, default.", learner->option_keys,
						 learner->option_keys[0] ? ", " : "")));
	else if (strcmp(key, "cost") == 0)
		options->cost = positive_option(key, value);
	else if (strcmp(key, "tolerance") == 0)
		options->tolerance = positive_option(key, value);
	else if (strcmp(key, "ridge") == 0)
		options->ridge = positive_option(key, value);
	else if (strcmp(key, "smoothing") == 0)
		options->smoothing = positive_option(key, value);
	else if (strcmp(key, "train") == 0)
		options->train = string_option(key, value);
	else if (strcmp(key, "predict") == 0)
		options->predict = string_option(key, value);
}

static void
check_options(const Learner *learner, const LearnerOptions *options)
{
	if (options->default_class && options->nclasses > 0)
	{
		int			i = 0;

		while (i < options->nclasses && strcmp(options->classes[i], options->default_class) != 0)
			i++;
		if (i == options->nclasses)
			bad_option("default", "one of the declared classes");
	}
	if (key_allowed(learner, "train") && (!options->train || !options->predict))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("learner \"%s\" needs the options \"train\" and \"predict\"", learner->name),
				 errhint("Name an aggregate and a function, each with its schema: "
						 "{\"train\": \"myschema.my_train\", \"predict\": \"myschema.my_predict\"}.")));
}

void
learner_parse_options(const Learner *learner, Jsonb *json, LearnerOptions *options)
{
	memset(options, 0, sizeof(*options));
	options->cost = strcmp(learner->name, "svm") == 0 ? DEFAULT_SVM_COST : DEFAULT_LOGISTIC_COST;
	options->tolerance = DEFAULT_TOLERANCE;
	options->ridge = DEFAULT_RIDGE;
	options->smoothing = DEFAULT_SMOOTHING;

	if (json != NULL)
	{
		JsonbIterator *iterator;
		JsonbIteratorToken token;
		JsonbValue	value;
		char	   *key = NULL;

		if (!JB_ROOT_IS_OBJECT(json))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("options must be a JSON object")));
		iterator = JsonbIteratorInit(&json->root);
		while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
		{
			if (token == WJB_KEY)
				key = pnstrdup(value.val.string.val, value.val.string.len);
			else if (token == WJB_VALUE)
				set_option(learner, key, &value, options);
		}
	}
	check_options(learner, options);
}
