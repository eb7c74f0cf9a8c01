/*
 * options.c
 *		Parsing and checking of learner options.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "learner/learners.h"

pg_noreturn static void
bad_option(const char *key, const char *rule)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
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
number_option(const LearnerOption *option, const JsonbValue *value)
{
	bool   count = option->kind == OPTION_COUNT;
	double number;

	if (value->type != jbvNumeric)
		bad_option(option->key, "a number");
	number = DatumGetFloat8(
		DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)));
	if (!isfinite(number) || number < option->min || number > option->max ||
		(count && number != floor(number)))
		bad_option(option->key,
				   count ? psprintf("a whole number from %.0f to %.0f", option->min, option->max)
						 : psprintf("between %g and %g", option->min, option->max));
	return number;
}

static void
classes_option(JsonbValue *value, LearnerOptions *options)
{
	JsonbContainer *array = value->type == jbvBinary ? value->val.binary.data : NULL;

	if (array == NULL || !JsonContainerIsArray(array) || JsonContainerIsScalar(array))
		bad_option("classes", "an array of strings");
	if (JsonContainerSize(array) < PRIVPRED_MIN_CLASSES ||
		JsonContainerSize(array) > PRIVPRED_MAX_CLASSES)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("option \"classes\" must name between %d and %d classes",
							   PRIVPRED_MIN_CLASSES, PRIVPRED_MAX_CLASSES)));

	options->classes = palloc_array(char *, JsonContainerSize(array));
	for (int n = 0; n < JsonContainerSize(array); n++)
	{
		char *name = scalar_text("classes", getIthJsonbValueFromContainer(array, n));

		for (int i = 0; i < n; i++)
			if (strcmp(options->classes[i], name) == 0)
				ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
								errmsg("class \"%s\" is declared twice", name)));
		options->classes[options->nclasses++] = name;
	}
}

bool
option_key_listed(const char *keys, const char *key)
{
	const char *found = keys;
	size_t		length = strlen(key);

	while (found != NULL && length > 0 && (found = strstr(found, key)) != NULL)
	{
		if ((found == keys || found[-1] == ' ') && (found[length] == '\0' || found[length] == ','))
			return true;
		found += length;
	}
	return false;
}

pg_noreturn static void
unknown_option(const Learner *learner, const char *key)
{
	StringInfoData keys;

	initStringInfo(&keys);
	for (const LearnerOption *option = learner->options; option && option->key; option++)
		appendStringInfo(&keys, "%s, ", option->key);
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unknown option \"%s\" of learner \"%s\"", key, learner->name),
					errhint("Its options are: %sclasses, default.", keys.data)));
}

static void
set_option(const Learner *learner, const char *key, JsonbValue *value, LearnerOptions *options)
{
	const LearnerOption *option = learner->options;

	if (strcmp(key, "classes") == 0)
		classes_option(value, options);
	else if (strcmp(key, "default") == 0)
		options->default_class = scalar_text(key, value);
	else
	{
		while (option && option->key && strcmp(option->key, key) != 0)
			option++;
		if (option == NULL || option->key == NULL)
			unknown_option(learner, key);
		if (option->kind == OPTION_NAME)
			options->name[option - learner->options] = string_option(key, value);
		else
			options->number[option - learner->options] = number_option(option, value);
	}
}

static void
check_default(const LearnerOptions *options)
{
	if (options->default_class == NULL || options->nclasses == 0)
		return;
	for (int i = 0; i < options->nclasses; i++)
		if (strcmp(options->classes[i], options->default_class) == 0)
			return;
	bad_option("default", "one of the declared classes");
}

void
learner_parse_options(const Learner *learner, Jsonb *json, LearnerOptions *options)
{
	memset(options, 0, sizeof(*options));
	for (int i = 0; learner->options && learner->options[i].key; i++)
	{
		Assert(i < LEARNER_MAX_OPTIONS);
		options->number[i] = learner->options[i].fallback;
	}
	options->json = json ? JsonbToCString(NULL, &json->root, VARSIZE(json)) : pstrdup("{}");
	if (json != NULL)
	{
		JsonbIterator	  *iterator;
		JsonbIteratorToken token;
		JsonbValue		   value;
		char			  *key = NULL;

		if (!JB_ROOT_IS_OBJECT(json))
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
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
	check_default(options);
	if (learner->check_options)
		learner->check_options(options);
}

void
learner_parse_options_text(const Learner *learner, const char *json, LearnerOptions *options)
{
	Datum parsed = DirectFunctionCall1(jsonb_in, CStringGetDatum(json));

	learner_parse_options(learner, DatumGetJsonbP(parsed), options);
}
