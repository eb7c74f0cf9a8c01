/*
 * arguments.c
 *		Guards on arguments that several entry points share.
 */
#include "postgres.h"

#include <float.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "entry/entry.h"
#include "learner/learner.h"
#include "account/account.h"
#include "account/accountant.h"
#include "server/number_text.h"

void
require_argument(FunctionCallInfo fcinfo, int number, const char *name)
{
	if (PG_ARGISNULL(number))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("argument \"%s\" must not be NULL", name),
				errhint("Give a value, or leave the argument out to get its default."));
}

void
require_each(FunctionCallInfo fcinfo, int count, const char *const names[])
{
	for (int i = 0; i < count; i++)
		if (names[i][0] != '\0')
			require_argument(fcinfo, i, names[i]);
}

void
require_row_features(FunctionCallInfo fcinfo, int number)
{
	if (PG_ARGISNULL(number))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("features must not be null"));
}

EpsilonUnits
read_epsilon(double epsilon, double maximum, const char *name)
{
	EpsilonUnits units;

	if (!epsilon_to_units(epsilon, maximum, &units))
		refuse(errmsg("%s must be a number from %g to %g", name, EPSILON_MIN, maximum),
			   maximum < EPSILON_MAX
				   ? errhint(
						 "It is the privacy loss of one answer; useful values lie between 0.01 and "
						 "2.")
				   : errhint("It is the privacy loss of all answers together; useful budgets lie "
							 "between 0.1 and 10."));
	return units;
}

void
check_delta(double delta, const char *name)
{
	if (!renyi_delta_is_valid(delta))
		refuse(
			errmsg("%s must be 0 or a number from %g up to but not including 1", name, DBL_MIN),
			errhint("Use 0 for a pure budget, or less than one over the number of protected units, "
					"such as 1e-6."));
}

void
check_delta_is_small(double delta, const char *name, bool force)
{
	char text[NUMBER_TEXT_SIZE];

	if (delta <= DELTA_WITHOUT_FORCE || force)
		return;
	refuse(errmsg("%s %s is too large to protect anybody", name, number_text(delta, text)),
		   errdetail("With this probability the promise may fail: a mechanism that publishes "
					 "every row with probability %s would keep it.",
					 text),
		   errhint("Use less than one over the number of protected units, such as 1e-6. "
				   "Give force => true if you mean it."));
}

void
check_refresh(const Interval *refresh)
{
	if (!window_length_is_valid(refresh))
		refuse(errmsg("refresh must be between one minute and a hundred years"),
			   errhint("Use for example '1 day' or '1 month', or '0' to end refreshing."));
}

Datum
infinite_numeric(const char *text)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

Datum
units_to_numeric(EpsilonUnits units)
{
	char buffer[EPSILON_TEXT_SIZE];

	return DirectFunctionCall3(numeric_in, CStringGetDatum(epsilon_to_text(units, buffer)),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("function can only be called as part of an aggregate"),
				errhint("Call the aggregate instead."));
	return context;
}

const unsigned char *
salt_argument(FunctionCallInfo fcinfo, int number)
{
	bytea *salt = PG_GETARG_BYTEA_PP(number);

	if (VARSIZE_ANY_EXHDR(salt) != TEACHER_SALT_BYTES)
		refuse(errmsg("salt must have %d bytes", TEACHER_SALT_BYTES));
	return (const unsigned char *) VARDATA_ANY(salt);
}
