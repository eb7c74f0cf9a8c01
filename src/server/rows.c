/*
 * rows.c
 *		Results of SQL functions that return a row or a set of rows.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "server/privpred.h"
#include "server/rows.h"

struct Rows
{
	TupleDesc		 columns;
	Tuplestorestate *store; /* NULL: there is a single row */
	int				 nput;	/* columns of the current row */
	Datum			*values;
	bool			*nulls;
};

Rows *
row_begin(FunctionCallInfo fcinfo)
{
	Rows *rows = palloc0_object(Rows);

	if (get_call_result_type(fcinfo, NULL, &rows->columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	rows->columns = BlessTupleDesc(rows->columns);
	rows->values = palloc_array(Datum, rows->columns->natts);
	rows->nulls = palloc_array(bool, rows->columns->natts);
	return rows;
}

Rows *
rows_begin(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext  caller;
	Rows		  *rows;

	if (result == NULL || !IsA(result, ReturnSetInfo) ||
		(result->allowedModes & SFRM_Materialize) == 0)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("set-valued function called in context that cannot accept a set"));
	/* The descriptor and the rows outlive this call. */
	caller = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	rows = row_begin(fcinfo);
	rows->store = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0,
										false, work_mem);
	MemoryContextSwitchTo(caller);
	result->returnMode = SFRM_Materialize;
	result->setResult = rows->store;
	result->setDesc = rows->columns;
	return rows;
}

void
put_if(Rows *rows, bool known, Datum value)
{
	if (rows->nput >= rows->columns->natts)
		elog(ERROR, "result has more than %d columns", rows->columns->natts);
	rows->nulls[rows->nput] = !known;
	rows->values[rows->nput++] = value;
}

void
put_text(Rows *rows, const char *string)
{
	put_if(rows, string != NULL, string != NULL ? CStringGetTextDatum(string) : (Datum) 0);
}

/* The current row has all its columns, and the next begins. */
static void
end_row(Rows *rows)
{
	if (rows->nput != rows->columns->natts)
		elog(ERROR, "result has %d columns instead of %d", rows->nput, rows->columns->natts);
	rows->nput = 0;
}

void
rows_next(Rows *rows)
{
	end_row(rows);
	tuplestore_putvalues(rows->store, rows->columns, rows->values, rows->nulls);
}

Datum
row_end(Rows *row)
{
	end_row(row);
	return HeapTupleGetDatum(heap_form_tuple(row->columns, row->values, row->nulls));
}
