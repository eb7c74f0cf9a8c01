/*
 * options.c
 *		Parsing and checking of learner options.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/numeric.h"

#include "learner/learners.h"

/* Chosen on the Adult data with a few hundred rows per teacher. */
#define DEFAULT_LOGISTIC_COST 10.0
#define DEFAULT_SVM_COST 1.0
#define DEFAULT_TOLERANCE 0.1
#define DEFAULT_RIDGE 1.0
#define DEFAULT_SMOOTHING 0.01
#define DEFAULT_BOOST_ROUNDS 30
#define DEFAULT_BOOST_DEPTH 4
#define DEFAULT_BOOST_RATE 0.3
#define DEFAULT_FOREST_TREES 50
#define DEFAULT_FOREST_DEPTH 6
#define DEFAULT_FOREST_SHARE 0.6
#define DEFAULT_FOREST_COLUMNS 0.3 /* not the square root: most are of one-hot categories */
#define DEFAULT_TREE_DEPTH 3
#define DEFAULT_TREE_ROWS 5

#define MAX_ROUNDS 1000
#define MAX_MIN_ROWS 1000000
#define DEFAULT_EPSILON 0.1

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
number_option(const char *key, const JsonbValue *value, double from, double to, const char *rule)
{
	double number;

	if (value->type != jbvNumeric)
		bad_option(key, "a number");
	number = DatumGetFloat8(
		DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)));
	if (!isfinite(number) || number < from || number > to)
		bad_option(key, rule);
	return number;
}

static double
positive_option(const char *key, const JsonbValue *value)
{
	return number_option(key, value, 1e-12, 1e12, "between 1e-12 and 1e12");
}

static double
share_option(const char *key, const JsonbValue *value)
{
	return number_option(key, value, 0.001, 1, "between 0.001 and 1");
}

static int
count_option(const char *key, const JsonbValue *value, int max)
{
	char  *rule = psprintf("a whole number from 1 to %d", max);
	double number = number_option(key, value, 1, max, rule);

	if (number != floor(number))
		bad_option(key, rule);
	return (int) number;
}

static void
classes_option(JsonbValue *value, LearnerOptions *options)
{
	JsonbIterator	  *iterator;
	JsonbIteratorToken token;
	JsonbValue		   element;

	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data) ||
		JsonContainerIsScalar(value->val.binary.data))
		bad_option("classes", "an array of strings");
	if (JsonContainerSize(value->val.binary.data) < PRIVPRED_MIN_CLASSES ||
		JsonContainerSize(value->val.binary.data) > PRIVPRED_MAX_CLASSES)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("option \"classes\" must name between %d and %d classes",
							   PRIVPRED_MIN_CLASSES, PRIVPRED_MAX_CLASSES)));

	options->classes = palloc(JsonContainerSize(value->val.binary.data) * sizeof(char *));
	iterator = JsonbIteratorInit(value->val.binary.data);
	while ((token = JsonbIteratorNext(&iterator, &element, true)) != WJB_DONE)
	{
		char *name;

		if (token != WJB_ELEM)
			continue;
		name = scalar_text("classes", &element);
		for (int i = 0; i < options->nclasses; i++)
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

static void
set_option(const Learner *learner, const char *key, JsonbValue *value, LearnerOptions *options)
{
	if (strcmp(key, "classes") == 0)
		classes_option(value, options);
	else if (strcmp(key, "default") == 0)
		options->default_class = scalar_text(key, value);
	else if (!option_key_listed(learner->option_keys, key))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
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
	else if (strcmp(key, "rounds") == 0 || strcmp(key, "trees") == 0)
		options->rounds = count_option(key, value, MAX_ROUNDS);
	else if (strcmp(key, "depth") == 0)
		options->depth = count_option(key, value, FOREST_MAX_DEPTH);
	else if (strcmp(key, "rate") == 0)
		options->rate = share_option(key, value);
	else if (strcmp(key, "subsample") == 0)
		options->subsample = share_option(key, value);
	else if (strcmp(key, "columns") == 0)
		options->columns = share_option(key, value);
	else if (strcmp(key, "min_rows") == 0)
		options->min_rows = count_option(key, value, MAX_MIN_ROWS);
	else if (strcmp(key, "epsilon") == 0)
		options->epsilon =
			number_option(key, value, EPSILON_MIN, EPSILON_PER_ANSWER_MAX, "between 1e-9 and 100");
	else if (strcmp(key, "alpha") == 0)
		options->alpha =
			number_option(key, value, WALK_MIN_ALPHA, WALK_MAX_ALPHA, "between 1e-6 and 0.5");
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
		int i = 0;

		while (i < options->nclasses && strcmp(options->classes[i], options->default_class) != 0)
			i++;
		if (i == options->nclasses)
			bad_option("default", "one of the declared classes");
	}
	if (option_key_listed(learner->option_keys, "train") && (!options->train || !options->predict))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("learner \"%s\" needs the options \"train\" and \"predict\"", learner->name),
			 errhint("Name an aggregate and a function, each with its schema: "
					 "{\"train\": \"myschema.my_train\", \"predict\": \"myschema.my_predict\"}.")));
}

static void
set_defaults(const Learner *learner, LearnerOptions *options)
{
	memset(options, 0, sizeof(*options));
	options->cost = learner == &svm_learner ? DEFAULT_SVM_COST : DEFAULT_LOGISTIC_COST;
	options->tolerance = DEFAULT_TOLERANCE;
	options->ridge = DEFAULT_RIDGE;
	options->smoothing = DEFAULT_SMOOTHING;
	options->rounds = learner == &forest_learner ? DEFAULT_FOREST_TREES : DEFAULT_BOOST_ROUNDS;
	options->depth = learner == &forest_learner ? DEFAULT_FOREST_DEPTH
					 : learner == &tree_learner ? DEFAULT_TREE_DEPTH
												: DEFAULT_BOOST_DEPTH;
	options->rate = DEFAULT_BOOST_RATE;
	options->subsample = learner == &forest_learner ? DEFAULT_FOREST_SHARE : 1;
	options->columns = learner == &forest_learner ? DEFAULT_FOREST_COLUMNS : 1;
	options->min_rows = DEFAULT_TREE_ROWS;
	options->epsilon = DEFAULT_EPSILON;
	options->alpha = WALK_DEFAULT_ALPHA;
}

void
learner_parse_options(const Learner *learner, Jsonb *json, LearnerOptions *options)
{
	set_defaults(learner, options);
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
	check_options(learner, options);
}
