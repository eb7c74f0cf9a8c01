/*
 * options.c
 *		Reading a model's options.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "mechanism/mechanism.h"

static JsonbValue *
find_option(const MechanismSpec *spec, const char *key, JsonbValue *storage)
{
	return getKeyJsonValueFromContainer(&spec->options->root, key, strlen(key), storage);
}

bool
option_given(const MechanismSpec *spec, const char *key)
{
	JsonbValue storage;

	return find_option(spec, key, &storage) != NULL;
}

/* Is the key there?  A value that is no number is NaN. */
static bool
find_number(const MechanismSpec *spec, const char *key, double *number)
{
	JsonbValue	storage;
	JsonbValue *value = find_option(spec, key, &storage);

	*number = NAN;
	if (value != NULL && value->type == jbvNumeric)
		*number = DatumGetFloat8(
			DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)));
	return value != NULL;
}

double
option_number(const MechanismSpec *spec, const char *key, double absent, double from, double to)
{
	double number;

	if (!find_number(spec, key, &number))
		return absent;
	if (!isfinite(number) || number < from || number > to)
		refuse_spec(errmsg("option \"%s\" must be a number from %g to %g", key, from, to));
	return number;
}

int64
option_integer(const MechanismSpec *spec, const char *key, int64 absent, int64 from, int64 to)
{
	double number;

	if (!find_number(spec, key, &number))
		return absent;
	if (!isfinite(number) || number != rint(number) || number < from || number > to)
		refuse_spec(errmsg("option \"%s\" must be a whole number from " INT64_FORMAT
						   " to " INT64_FORMAT,
						   key, from, to));
	return (int64) number;
}

bool
option_flag(const MechanismSpec *spec, const char *key, bool absent)
{
	JsonbValue	storage;
	JsonbValue *value = find_option(spec, key, &storage);

	if (value == NULL)
		return absent;
	if (value->type != jbvBool)
		refuse_spec(errmsg("option \"%s\" must be true or false", key));
	return value->val.boolean;
}

char *
option_text(const MechanismSpec *spec, const char *key)
{
	JsonbValue	storage;
	JsonbValue *value = find_option(spec, key, &storage);

	if (value == NULL)
		return NULL;
	if (value->type != jbvString || value->val.string.len == 0)
		refuse_spec(errmsg("option \"%s\" must be a string that is not empty", key));
	return pnstrdup(value->val.string.val, value->val.string.len);
}

int
option_choice(const MechanismSpec *spec, const char *key, const char *const *choices)
{
	char		  *given = option_text(spec, key);
	StringInfoData names;

	if (given == NULL)
		return 0;
	initStringInfo(&names);
	for (int i = 0; choices[i] != NULL; i++)
	{
		if (strcmp(choices[i], given) == 0)
			return i;
		appendStringInfo(&names, "%s\"%s\"", i > 0 ? ", " : "", choices[i]);
	}
	refuse_spec(errmsg("option \"%s\" cannot be \"%s\"", key, given),
				errhint("Choose one of: %s.", names.data));
}
