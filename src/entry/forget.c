/*
 * forget.c
 *		SQL entry points of forgetting: forget, certificate, verify_certificate,
 *		chunk_index.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "entry/entry.h"
#include "request/forget.h"

PG_FUNCTION_INFO_V1(privpred_forget);
PG_FUNCTION_INFO_V1(privpred_certificate);
PG_FUNCTION_INFO_V1(privpred_verify_certificate);
PG_FUNCTION_INFO_V1(privpred_chunk_index);

static char *
text_of_value(Datum value, Oid type)
{
	Oid	 output;
	bool is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, value);
}

/* A unit of several columns as a row; a null among them is refused later. */
static UnitText
text_of_row(Datum row)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(row);
	TupleDesc		columns =
		lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	UnitText text = {0, palloc_array(const char *, columns->natts)};

	for (int i = 0; i < columns->natts; i++)
	{
		bool  isnull;
		Datum value = GetAttributeByNum(header, i + 1, &isnull);

		if (!TupleDescAttr(columns, i)->attisdropped)
			text.columns[text.count++] =
				isnull ? NULL : text_of_value(value, TupleDescAttr(columns, i)->atttypid);
	}
	ReleaseTupleDesc(columns);
	return text;
}

static UnitText
unit_argument(FunctionCallInfo fcinfo, int number)
{
	Oid			 type = get_fn_expr_argtype(fcinfo->flinfo, number);
	Datum		 value = PG_GETARG_DATUM(number);
	const char **column = palloc_array(const char *, 1);

	if (type_is_rowtype(type))
		return text_of_row(value);
	*column = text_of_value(value, OidIsValid(type) ? type : TEXTOID);
	return (UnitText){1, column};
}

/* forget(relation, unit, delete_rows, dry_run, at) */
Datum
privpred_forget(PG_FUNCTION_ARGS)
{
	ForgetRequest request;
	UnitText	  unit;

	require_arguments(fcinfo, "relation", "unit", "delete_rows", "dry_run", "at");
	unit = unit_argument(fcinfo, 1);
	request.relid = PG_GETARG_OID(0);
	request.unit = &unit;
	request.delete_rows = PG_GETARG_BOOL(2);
	request.dry_run = PG_GETARG_BOOL(3);
	request.at = text_to_cstring(PG_GETARG_TEXT_PP(4));
	if (!request.dry_run)
		PreventCommandIfReadOnly("privpred.forget()");
	PG_RETURN_JSONB_P(request_forget(&request));
}

Datum
privpred_certificate(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(request_certificate(PG_GETARG_INT64(0)));
}

/* verify_certificate(certificate, unit) returns ok, problem, entry */
Datum
privpred_verify_certificate(PG_FUNCTION_ARGS)
{
	const char *unit = PG_ARGISNULL(1) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(1));
	const char *problem;
	int64		entry = 0;
	TupleDesc	columns;
	Datum		values[3];
	bool		nulls[3];

	require_arguments(fcinfo, "certificate", "");
	problem = request_verify_certificate(PG_GETARG_JSONB_P(0), unit, &entry);
	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = BoolGetDatum(problem == NULL);
	values[1] = problem ? CStringGetTextDatum(problem) : (Datum) 0;
	values[2] = Int64GetDatum(entry);
	nulls[0] = false;
	nulls[1] = problem == NULL;
	nulls[2] = entry == 0;
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls)));
}

Datum
privpred_chunk_index(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("privpred.chunk_index()");
	PG_RETURN_TEXT_P(cstring_to_text(request_chunk_index(text_to_cstring(PG_GETARG_TEXT_PP(0)))));
}
