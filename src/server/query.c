/*
 * query.c
 *		SQL statements with typed arguments.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "server/privpred.h"
#include "server/query.h"
#include "server/session.h"

typedef struct ArgumentArrays
{
	Oid	  *types;
	Datum *values;
	char  *nulls;
} ArgumentArrays;

/* Arguments as SPI wants them. */
static ArgumentArrays
argument_arrays(int nargs, const QueryArgument *args)
{
	ArgumentArrays arrays = {palloc_array(Oid, nargs + 1), palloc_array(Datum, nargs + 1),
							 palloc0_array(char, nargs + 1)};

	for (int i = 0; i < nargs; i++)
	{
		arrays.types[i] = args[i].type;
		arrays.values[i] = args[i].value;
		arrays.nulls[i] = args[i].isnull ? 'n' : ' ';
	}
	return arrays;
}

static void
free_arrays(ArgumentArrays *arrays)
{
	pfree(arrays->types);
	pfree(arrays->values);
	pfree(arrays->nulls);
}

/* Where plans are kept. */
static List *kept = NIL;

static void
keep_plan(SPIPlanPtr *plan, const char *sql, int nargs, Oid *types)
{
	SPIPlanPtr	  prepared = SPI_prepare(sql, nargs, types);
	MemoryContext caller;

	if (prepared == NULL)
		elog(ERROR, "could not prepare \"%s\"", sql);
	if (*plan != NULL)
		SPI_freeplan(*plan);
	*plan = NULL;
	caller = MemoryContextSwitchTo(TopMemoryContext);
	kept = list_append_unique_ptr(kept, plan);
	MemoryContextSwitchTo(caller);
	if (SPI_keepplan(prepared) != 0)
		elog(ERROR, "could not keep the plan of \"%s\"", sql);
	*plan = prepared;
}

/* The extension's own types are others once it was dropped and created again. */
static bool
takes(SPIPlanPtr plan, int nargs, const Oid *types)
{
	for (int i = 0; i < nargs; i++)
		if (SPI_getargtypeid(plan, i) != types[i])
			return false;
	return true;
}

void
query_forget_plans(void)
{
	ListCell *cell;

	foreach(cell, kept)
	{
		SPIPlanPtr *plan = lfirst(cell);

		if (*plan != NULL)
			SPI_freeplan(*plan);
		*plan = NULL;
	}
}

void
query_run(SPIPlanPtr *plan, const char *sql, bool read_only, int64 limit, int nargs,
		  const QueryArgument *args)
{
	ArgumentArrays arrays = argument_arrays(nargs, args);
	int			   result;

	if (plan != NULL && (*plan == NULL || !takes(*plan, nargs, arrays.types)))
		keep_plan(plan, sql, nargs, arrays.types);
	result = plan != NULL ? SPI_execute_plan(*plan, arrays.values, arrays.nulls, read_only, limit)
						  : SPI_execute_with_args(sql, nargs, arrays.types, arrays.values,
												  arrays.nulls, read_only, limit);
	if (result < 0)
		elog(ERROR, "could not execute \"%s\": %s", sql, SPI_result_code_string(result));
	free_arrays(&arrays);
}

uint64
query_alone(SPIPlanPtr *plan, const char *sql, bool read_only, int nargs, const QueryArgument *args)
{
	CatalogSession session;
	uint64		   rows;

	catalog_begin(&session);
	query_run(plan, sql, read_only, 0, nargs, args);
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

int64
row_int8_or(uint64 row, int column, int64 absent)
{
	return row_isnull(row, column) ? absent : row_int8(row, column);
}

List *
rows_oids(int column)
{
	List *oids = NIL;

	for (uint64 row = 0; row < SPI_processed; row++)
		oids = lappend_oid(oids, row_oid(row, column));
	return oids;
}

/* ---------- scans ---------- */

void
scan_open(QueryScan *scan, long fetch, const char *sql, int nargs, const QueryArgument *args)
{
	ArgumentArrays arrays = argument_arrays(nargs, args);

	memset(scan, 0, sizeof(QueryScan));
	scan->fetch = fetch;
	scan->portal = SPI_cursor_open_with_args(NULL, sql, nargs, arrays.types, arrays.values,
											 arrays.nulls, true, CURSOR_OPT_NO_SCROLL);
	free_arrays(&arrays);
}

bool
scan_next(QueryScan *scan)
{
	CHECK_FOR_INTERRUPTS();
	if (scan->next == scan->count)
	{
		if (scan->batch != NULL)
			SPI_freetuptable(scan->batch);
		SPI_cursor_fetch(scan->portal, true, scan->fetch);
		scan->batch = SPI_tuptable;
		scan->count = SPI_processed;
		scan->next = 0;
	}
	if (scan->count == 0)
		return false;
	scan->next++;
	return true;
}

Datum
scan_value(const QueryScan *scan, int column, bool *isnull)
{
	return SPI_getbinval(scan->batch->vals[scan->next - 1], scan->batch->tupdesc, column, isnull);
}

void
scan_close(QueryScan *scan)
{
	if (scan->batch != NULL)
		SPI_freetuptable(scan->batch);
	if (scan->portal != NULL)
		SPI_cursor_close(scan->portal);
	memset(scan, 0, sizeof(QueryScan));
}
