/*
 * options.c
 *		Options that are given as a JSON object, and tables that declare them.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "server/options.h"
#include "server/privpred.h"

void
bad_option(const char *key, const char *rule)
{
	refuse(errmsg("option \"%s\" must be %s", key, rule));
}

const Option *
option_find(const Option *table, const char *key)
{
	while (table != NULL && table->key != NULL && strcmp(table->key, key) != 0)
		table++;
	return table != NULL && table->key != NULL ? table : NULL;
}

void
options_append_keys(StringInfo keys, const Option *table)
{
	for (; table != NULL && table->key != NULL; table++)
		appendStringInfo(keys, "%s, ", table->key);
}

Jsonb *
options_object(Jsonb *options)
{
	if (!JB_ROOT_IS_OBJECT(options))
		refuse(errmsg("options must be a JSON object"),
			   errhint("Pass options => '{\"key\": value}'."));
	return options;
}

/* ---------- one value ---------- */

double
json_double(const JsonbValue *value)
{
	if (value == NULL || value->type != jbvNumeric)
		return NAN;
	return DatumGetFloat8(
		DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)));
}

char *
option_read_name(const char *key, const JsonbValue *value)
{
	if (value->type != jbvString || value->val.string.len == 0)
		bad_option(key, "a string that is not empty");
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static int
read_choice(const Option *option, const JsonbValue *value)
{
	char		  *given = option_read_name(option->key, value);
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; option->choices[i] != NULL; i++)
	{
		if (strcmp(option->choices[i], given) == 0)
			return i;
		appendStringInfo(&names, "%s\"%s\"", i > 0 ? ", " : "", option->choices[i]);
	}
	refuse(errmsg("option \"%s\" cannot be \"%s\"", option->key, given),
		   errhint("Choose one of: %s.", names.data));
}

double
option_read_number(const Option *option, const JsonbValue *value)
{
	bool   count = option->kind == OPTION_COUNT;
	double number;

	if (option->kind == OPTION_CHOICE)
		return read_choice(option, value);
	if (option->kind == OPTION_FLAG)
	{
		if (value->type != jbvBool)
			bad_option(option->key, "true or false");
		return value->val.boolean;
	}
	number = json_double(value);
	if (!isfinite(number) || number < option->min || number > option->max ||
		(count && number != rint(number)))
		bad_option(option->key,
				   count ? psprintf("a whole number from %.0f to %.0f", option->min, option->max)
						 : psprintf("a number from %g to %g", option->min, option->max));
	return number;
}

/* ---------- an object ---------- */

JsonbValue *
option_value(Jsonb *options, const char *key, JsonbValue *storage)
{
	return getKeyJsonValueFromContainer(&options->root, key, strlen(key), storage);
}

bool
option_given(Jsonb *options, const char *key)
{
	JsonbValue storage;

	return option_value(options, key, &storage) != NULL;
}

double
option_or(Jsonb *options, const Option *option, double absent)
{
	JsonbValue	storage;
	JsonbValue *value = option_value(options, option->key, &storage);

	return value != NULL ? option_read_number(option, value) : absent;
}

double
option_number(Jsonb *options, const Option *option)
{
	return option_or(options, option, option->fallback);
}

char *
option_name(Jsonb *options, const char *key)
{
	JsonbValue	storage;
	JsonbValue *value = option_value(options, key, &storage);

	return value != NULL ? option_read_name(key, value) : NULL;
}

void
options_check(Jsonb *options, const Option *table)
{
	for (; table != NULL && table->key != NULL; table++)
	{
		if (table->kind == OPTION_NAME)
			(void) option_name(options, table->key);
		else if (table->kind == OPTION_FLAG || table->min < table->max)
			(void) option_number(options, table);
	}
}
