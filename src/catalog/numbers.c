/*
 * numbers.c
 *		Values of columns as numbers; dates and timestamps are days and seconds since
 *		1970-01-01.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "catalog/features.h"

#define EPOCH_DAYS (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define EPOCH_SECONDS ((double) EPOCH_DAYS * SECS_PER_DAY)

bool
number_type_ok(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == FLOAT4OID ||
		   type == FLOAT8OID || type == NUMERICOID;
}

bool
time_type_ok(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

double
time_of_datum(Datum value, Oid type)
{
	DateADT	  date;
	Timestamp timestamp;

	if (type == DATEOID)
	{
		date = DatumGetDateADT(value);
		if (DATE_NOT_FINITE(date))
			return DATE_IS_NOBEGIN(date) ? -INFINITY : INFINITY;
		return (double) date + EPOCH_DAYS;
	}
	/* with and without time zone are the same inside */
	timestamp = DatumGetTimestamp(value);
	if (TIMESTAMP_NOT_FINITE(timestamp))
		return TIMESTAMP_IS_NOBEGIN(timestamp) ? -INFINITY : INFINITY;
	return (double) timestamp / USECS_PER_SEC + EPOCH_SECONDS;
}

double
time_of_text(const char *feature, const char *text, int length, Oid type)
{
	MemoryContext  caller = CurrentMemoryContext;
	volatile Datum value = (Datum) 0;
	Oid			   input;
	Oid			   parameter;

	getTypeInputInfo(type, &input, &parameter);
	PG_TRY();
	{
		value = OidInputFunctionCall(input, pnstrdup(text, length), parameter, -1);
	}
	PG_CATCH();
	{
		ErrorData *error;

		/* The same error, with the feature's name; nothing goes on. */
		if (ERRCODE_TO_CATEGORY(geterrcode()) != ERRCODE_DATA_EXCEPTION)
			PG_RE_THROW();
		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("invalid value for feature \"%s\"", feature),
						errdetail_internal("%s.", error->message),
						errhint("Give a string such as \"%s\".",
								type == DATEOID ? "2024-05-17" : "2024-05-17 13:45:00")));
	}
	PG_END_TRY();
	return time_of_datum(value, type);
}

char *
time_to_text(double value, Oid type)
{
	char *text = palloc(MAXDATELEN + 1);
	Datum datum =
		type == DATEOID
			? DateADTGetDatum((DateADT) (value - EPOCH_DAYS))
			: TimestampGetDatum((Timestamp) rint((value - EPOCH_SECONDS) * USECS_PER_SEC));

	return JsonEncodeDateTime(text, datum, type, NULL);
}

double
number_of_datum(Datum value, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return (double) DatumGetInt64(value);
		case FLOAT4OID:
			return DatumGetFloat4(value);
		case FLOAT8OID:
			return DatumGetFloat8(value);
		case NUMERICOID:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
		default:
			/* callers admit nothing else */
			return time_of_datum(value, type);
	}
}
