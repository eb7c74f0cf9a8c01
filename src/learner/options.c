/*
 * options.c
 *		Parsing and checking of learner options.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "learner/learners.h"
#include "server/json_text.h"

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

static void
classes_option(JsonbValue *value, LearnerOptions *options)
{
	JsonbContainer *array = value->type == jbvBinary ? value->val.binary.data : NULL;

	if (array == NULL || !JsonContainerIsArray(array) || JsonContainerIsScalar(array))
		bad_option("classes", "an array of strings");
	if (JsonContainerSize(array) < PRIVPRED_MIN_CLASSES ||
		JsonContainerSize(array) > PRIVPRED_MAX_CLASSES)
		refuse(errmsg("option \"classes\" must name between %d and %d classes",
					  PRIVPRED_MIN_CLASSES, PRIVPRED_MAX_CLASSES));

	options->classes = palloc_array(char *, JsonContainerSize(array));
	for (int n = 0; n < JsonContainerSize(array); n++)
	{
		char *name = scalar_text("classes", getIthJsonbValueFromContainer(array, n));

		for (int i = 0; i < n; i++)
			if (strcmp(options->classes[i], name) == 0)
				refuse(errmsg("class \"%s\" is declared twice", name));
		options->classes[options->nclasses++] = name;
	}
}

static void
numbers_option(const Learner *learner, const JsonbValue *value, LearnerOptions *options)
{
	if (value->type != jbvBool)
		bad_option("numbers", "true or false");
	options->numbers = value->val.boolean;
	if (options->numbers && learner->fit_numbers == NULL)
		refuse(errmsg("learner \"%s\" learns classes, not numbers", learner->name),
			   errhint("Learners of numbers are: %s.", learner_names_of_numbers()));
}

/* All rows are of one class; its number is their last feature. */
static void
complete_numbers(LearnerOptions *options)
{
	if (!options->numbers)
		return;
	if (options->nclasses > 0)
		refuse(errmsg("option \"numbers\" is not for labels that have classes"),
			   errhint("Leave it out."));
	if (options->default_class != NULL)
		refuse(errmsg("option \"default\" is for classes, not for numbers"),
			   errdetail("A teacher without rows says the middle of the bounds."),
			   errhint("Leave it out."));
	options->classes = palloc_array(char *, 1);
	options->classes[0] = pstrdup(NUMBERS_CLASS);
	options->nclasses = 1;
}

pg_noreturn static void
unknown_option(const Learner *learner, const char *key)
{
	StringInfoData keys;

	initStringInfo(&keys);
	options_append_keys(&keys, learner->options);
	refuse(errmsg("unknown option \"%s\" of learner \"%s\"", key, learner->name),
		   errhint("Its options are: %sclasses, default.", keys.data));
}

static void
set_option(const Learner *learner, const char *key, JsonbValue *value, LearnerOptions *options)
{
	const Option *option = option_find(learner->options, key);

	if (strcmp(key, "classes") == 0)
		classes_option(value, options);
	else if (strcmp(key, "numbers") == 0)
		numbers_option(learner, value, options);
	else if (strcmp(key, "default") == 0)
		options->default_class = scalar_text(key, value);
	else if (option == NULL)
		unknown_option(learner, key);
	else if (option->kind == OPTION_NAME)
		options->name[option - learner->options] = option_read_name(key, value);
	else
		options->number[option - learner->options] = option_read_number(option, value);
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

		iterator = JsonbIteratorInit(&options_object(json)->root);
		while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
		{
			if (token == WJB_KEY)
				key = pnstrdup(value.val.string.val, value.val.string.len);
			else if (token == WJB_VALUE)
				set_option(learner, key, &value, options);
		}
	}
	complete_numbers(options);
	check_default(options);
	if (learner->check_options)
		learner->check_options(options);
}

void
learner_parse_options_text(const Learner *learner, const char *json, LearnerOptions *options)
{
	learner_parse_options(learner, json_to_jsonb(json), options);
}
