/*
 * encode.c
 *		One training row as learners see it: encode(features, row) and
 *		encode(features, VARIADIC columns).
 *
 * Total: whatever the row holds, it encodes.  The second form saves making and
 * taking apart a row, but functions have at most FUNC_MAX_ARGS arguments.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/typcache.h"

#include "catalog/store.h"

PG_FUNCTION_INFO_V1(privpred_encode_row);
PG_FUNCTION_INFO_V1(privpred_encode_columns);

typedef struct EncodeSite
{
	Jsonb	   *stored;
	RowEncoder *encoder;
	ArrayType  *header;			/* an array of zeros, to copy the header from */
	Oid			type;			/* of the row, in the first form */
	int32		typmod;
	Datum	   *values;			/* of the columns, in the second form */
	bool	   *nulls;
} EncodeSite;

static EncodeSite *
encode_site_create(FmgrInfo *flinfo, Jsonb *stored, TupleDesc columns)
{
	MemoryContext caller = MemoryContextSwitchTo(flinfo->fn_mcxt);
	EncodeSite *site = palloc0_object(EncodeSite);
	FeatureSpec *spec;

	site->stored = (Jsonb *) PG_DETOAST_DATUM_COPY(JsonbPGetDatum(stored));
	spec = feature_spec_read(site->stored);
	site->encoder = row_encoder_create(spec, columns, true);
	site->header = construct_array(palloc0_array(Datum, spec->width), spec->width, FLOAT8OID,
								   sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	site->values = palloc_array(Datum, columns->natts);
	site->nulls = palloc_array(bool, columns->natts);
	flinfo->fn_extra = site;
	MemoryContextSwitchTo(caller);
	return site;
}

static bool
same_features(const EncodeSite *site, const Jsonb *stored)
{
	return VARSIZE(site->stored) == VARSIZE(stored) &&
		memcmp(site->stored, stored, VARSIZE(stored)) == 0;
}

static ArrayType *
encoded_array(const EncodeSite *site)
{
	ArrayType  *result = palloc(VARSIZE(site->header));

	memcpy(result, site->header, ARR_DATA_OFFSET(site->header));
	return result;
}

Datum
privpred_encode_row(PG_FUNCTION_ARGS)
{
	Jsonb	   *stored = PG_GETARG_JSONB_P(0);
	HeapTupleHeader row = PG_GETARG_HEAPTUPLEHEADER(1);
	Oid			type = HeapTupleHeaderGetTypeId(row);
	int32		typmod = HeapTupleHeaderGetTypMod(row);
	EncodeSite *site = fcinfo->flinfo->fn_extra;
	ArrayType  *result;

	if (site == NULL || site->type != type || site->typmod != typmod ||
		!same_features(site, stored))
	{
		site = encode_site_create(fcinfo->flinfo, stored,
								  lookup_rowtype_tupdesc_copy(type, typmod));
		site->type = type;
		site->typmod = typmod;
	}
	result = encoded_array(site);
	encode_row(site->encoder, row, ENCODE_TRAINING, (double *) ARR_DATA_PTR(result));
	PG_RETURN_ARRAYTYPE_P(result);
}

/* The types of the arguments after the first, as if they were a row's columns. */
static TupleDesc
argument_columns(FunctionCallInfo fcinfo)
{
	TupleDesc	columns = CreateTemplateTupleDesc(PG_NARGS() - 1);

	for (int i = 1; i < PG_NARGS(); i++)
	{
		Oid			type = get_fn_expr_argtype(fcinfo->flinfo, i);

		if (!OidIsValid(type) || type == UNKNOWNOID)
			ereport(ERROR,
					(errcode(ERRCODE_INDETERMINATE_DATATYPE),
					 errmsg("could not determine the type of column %d", i),
					 errhint("Cast the value to the type of the column.")));
		TupleDescInitEntry(columns, i, NULL, type, -1, 0);
	}
	return columns;
}

Datum
privpred_encode_columns(PG_FUNCTION_ARGS)
{
	Jsonb	   *stored;
	EncodeSite *site = fcinfo->flinfo->fn_extra;
	ArrayType  *result;

	if (PG_ARGISNULL(0) || get_fn_expr_variadic(fcinfo->flinfo))
		PG_RETURN_NULL();
	stored = PG_GETARG_JSONB_P(0);
	if (site == NULL || !same_features(site, stored))
		site = encode_site_create(fcinfo->flinfo, stored, argument_columns(fcinfo));
	for (int i = 1; i < PG_NARGS(); i++)
	{
		site->values[i - 1] = PG_GETARG_DATUM(i);
		site->nulls[i - 1] = PG_ARGISNULL(i);
	}
	result = encoded_array(site);
	encode_values(site->encoder, site->values, site->nulls, ENCODE_TRAINING,
				  (double *) ARR_DATA_PTR(result));
	PG_RETURN_ARRAYTYPE_P(result);
}
