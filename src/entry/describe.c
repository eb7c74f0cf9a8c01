/*
 * entry/describe.c
 *		describe(), describe_cost(), and the row that speaks for a unit.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "catalog/cells.h"
#include "entry/entry.h"
#include "request/request.h"
#include "server/progress.h"

PG_FUNCTION_INFO_V1(privpred_describe);
PG_FUNCTION_INFO_V1(privpred_describe_cost);
PG_FUNCTION_INFO_V1(privpred_row_cells);
PG_FUNCTION_INFO_V1(privpred_lesser_row);

#define ROWS_PER_REPORT 1024

/* describe(relation, columns, epsilon, delta, cuts, given) */
Datum
privpred_describe(PG_FUNCTION_ARGS)
{
	DescribeRequest request = {0};

	require_arguments(fcinfo, "relation", "", "epsilon", "delta", "cuts", "given");
	request.relid = PG_GETARG_OID(0);
	request.columns = PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1);
	request.epsilon = PG_GETARG_FLOAT8(2);
	request.delta = PG_GETARG_FLOAT8(3);
	request.cuts = PG_GETARG_INT32(4);
	request.given = PG_GETARG_DATUM(5);
	PG_RETURN_TEXT_P(request_describe(&request));
}

/* describe_cost(relation, columns, epsilon, delta, given) */
Datum
privpred_describe_cost(PG_FUNCTION_ARGS)
{
	DescribeRequest request = {0};
	DescribeCost	cost;
	Rows		   *row;

	require_arguments(fcinfo, "relation", "", "epsilon", "delta", "given");
	request.relid = PG_GETARG_OID(0);
	request.columns = PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1);
	request.epsilon = PG_GETARG_FLOAT8(2);
	request.delta = PG_GETARG_FLOAT8(3);
	request.given = PG_GETARG_DATUM(4);
	cost = request_describe_cost(&request);
	row = row_begin(fcinfo);
	put_int4(row, cost.histograms);
	put_float8(row, cost.sigma);
	put_int8_if(row, cost.smallest_cell > 0, cost.smallest_cell);
	put_int8_if(row, cost.smallest_level > 0, cost.smallest_level);
	put_float8(row, cost.histograms > 0 ? request.epsilon : 0);
	put_float8(row, cost.histograms > 0 ? request.delta : 0);
	PG_RETURN_DATUM(row_end(row));
}

/* ---------- the row that speaks for a unit ---------- */

typedef struct CellsSite
{
	Oid			   type; /* of the row */
	int32		   typmod;
	TupleDesc	   columns;
	Oid			  *types; /* base types of the columns */
	DescribedKind *kinds;
	Datum		  *values;
	bool		  *nulls;
	int			   rows; /* since progress was told */
} CellsSite;

static CellsSite *
cells_site_create(FmgrInfo *flinfo, Oid type, int32 typmod)
{
	MemoryContext caller = MemoryContextSwitchTo(flinfo->fn_mcxt);
	CellsSite	 *site = palloc0_object(CellsSite);

	site->type = type;
	site->typmod = typmod;
	site->columns = lookup_rowtype_tupdesc_copy(type, typmod);
	site->types = palloc_array(Oid, site->columns->natts);
	site->kinds = palloc_array(DescribedKind, site->columns->natts);
	site->values = palloc_array(Datum, site->columns->natts);
	site->nulls = palloc_array(bool, site->columns->natts);
	for (int i = 0; i < site->columns->natts; i++)
	{
		site->types[i] = getBaseType(TupleDescAttr(site->columns, i)->atttypid);
		if (!described_kind(site->types[i], &site->kinds[i]))
			ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
							errmsg("column %d of type %s has no cells", i + 1,
								   format_type_be(site->types[i])),
							errhint("Numbers, dates, timestamps and texts have them.")));
	}
	flinfo->fn_extra = site;
	MemoryContextSwitchTo(caller);
	return site;
}

/* row_cells(seed, row): its hash and its cells. */
Datum
privpred_row_cells(PG_FUNCTION_ARGS)
{
	HeapTupleHeader row = PG_GETARG_HEAPTUPLEHEADER(1);
	CellsSite	   *site = fcinfo->flinfo->fn_extra;
	HeapTupleData	tuple = {.t_len = HeapTupleHeaderGetDatumLength(row), .t_data = row};
	StringInfoData	cells;

	if (site == NULL || site->type != HeapTupleHeaderGetTypeId(row) ||
		site->typmod != HeapTupleHeaderGetTypMod(row))
		site = cells_site_create(fcinfo->flinfo, HeapTupleHeaderGetTypeId(row),
								 HeapTupleHeaderGetTypMod(row));
	heap_deform_tuple(&tuple, site->columns, site->values, site->nulls);
	initStringInfo(&cells);
	appendStringInfoSpaces(&cells, ROW_HASH_BYTES);
	for (int i = 0; i < site->columns->natts; i++)
		cell_append(&cells, site->kinds[i], site->types[i], site->values[i], site->nulls[i]);
	row_hash_put(&cells, (uint64) PG_GETARG_INT64(0));
	if (++site->rows == ROWS_PER_REPORT)
	{
		progress_rows(site->rows);
		site->rows = 0;
	}
	PG_RETURN_BYTEA_P(cstring_to_text_with_len(cells.data, cells.len));
}

/* The lesser of two rows of a unit, byte by byte: of many, the same in any order. */
Datum
privpred_lesser_row(PG_FUNCTION_ARGS)
{
	bytea *a = PG_GETARG_BYTEA_PP(0);
	bytea *b = PG_GETARG_BYTEA_PP(1);
	Size   length = Min(VARSIZE_ANY_EXHDR(a), VARSIZE_ANY_EXHDR(b));
	int	   order = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), length);

	if (order == 0)
		order = VARSIZE_ANY_EXHDR(a) < VARSIZE_ANY_EXHDR(b) ? -1 : 1;
	PG_RETURN_BYTEA_P(order < 0 ? a : b);
}
