/*
 * query.c
 *		SQL statements with typed arguments.
 */
#include "postgres.h"

#include "access/xact.h"

#include "server/privpred.h"
#include "server/query.h"
#include "server/session.h"

void
query_run(SPIPlanPtr *plan, const char *sql, bool read_only, int64 limit, int nargs,
		  const QueryArgument *args)
{
	Oid	  *types = palloc_array(Oid, nargs + 1);
	Datum *values = palloc_array(Datum, nargs + 1);
	char  *nulls = palloc0_array(char, nargs + 1);
	int	   result;

	for (int i = 0; i < nargs; i++)
	{
		types[i] = args[i].type;
		values[i] = args[i].value;
		nulls[i] = args[i].isnull ? 'n' : ' ';
	}
	if (plan != NULL && *plan == NULL)
	{
		SPIPlanPtr prepared = SPI_prepare(sql, nargs, types);

		if (prepared == NULL || SPI_keepplan(prepared) != 0)
			elog(ERROR, "could not prepare \"%s\"", sql);
		*plan = prepared;
	}
	result = plan != NULL
				 ? SPI_execute_plan(*plan, values, nulls, read_only, limit)
				 : SPI_execute_with_args(sql, nargs, types, values, nulls, read_only, limit);
	if (result < 0)
		elog(ERROR, "could not execute \"%s\": %s", sql, SPI_result_code_string(result));
	pfree(types);
	pfree(values);
	pfree(nulls);
}

uint64
query_alone(const char *sql, bool read_only, int nargs, const QueryArgument *args)
{
	CatalogSession session;
	uint64		   rows;

	catalog_begin(&session);
	query_run(NULL, sql, read_only, 0, nargs, args);
	rows = SPI_processed;
	if (!read_only)
		CommandCounterIncrement();
	catalog_end(&session);
	return rows;
}

Datum
row_value(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
}

bool
row_isnull(uint64 row, int column)
{
	bool isnull;

	(void) row_value(row, column, &isnull);
	return isnull;
}

#define DEFINE_READER(type, name, from_datum) \
	type name(uint64 row, int column) \
	{ \
		bool  isnull; \
		Datum value = row_value(row, column, &isnull); \
\
		return isnull ? 0 : from_datum(value); \
	}

DEFINE_READER(bool, row_bool, DatumGetBool)
DEFINE_READER(int32, row_int4, DatumGetInt32)
DEFINE_READER(int64, row_int8, DatumGetInt64)
DEFINE_READER(double, row_float8, DatumGetFloat8)
DEFINE_READER(Oid, row_oid, DatumGetObjectId)
DEFINE_READER(TimestampTz, row_time, DatumGetTimestampTz)

/* SPI_getvalue() allocates in the current context. */
char *
row_text(uint64 row, int column)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

void *
row_varlena(uint64 row, int column)
{
	bool  isnull;
	Datum value = row_value(row, column, &isnull);

	return isnull ? NULL : PG_DETOAST_DATUM_COPY(value);
}
