/*
 * encode.c
 *		One training row as learners see it: encode(features, row) and
 *		encode(features, VARIADIC columns).
 *
 * Every row can be encoded, whatever it holds; missing values become NULL.  The
 * second form saves making and taking apart a row, but functions have at most
 * FUNC_MAX_ARGS arguments.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/typcache.h"

#include "catalog/store.h"
#include "server/progress.h"

PG_FUNCTION_INFO_V1(privpred_encode_row);
PG_FUNCTION_INFO_V1(privpred_encode_columns);

typedef struct EncodeSite
{
	Jsonb	   *stored;
	RowEncoder *encoder;
	ArrayType  *header; /* an array of zeros, to copy the header from */
	bool		may_be_missing;
	Oid			type; /* of the row, in the first form */
	int32		typmod;
	Datum	   *values; /* of the columns, in the second form */
	bool	   *nulls;
	int			rows; /* since progress was told */
} EncodeSite;

#define ROWS_PER_REPORT 1024

static inline void
count_row(EncodeSite *site)
{
	if (++site->rows < ROWS_PER_REPORT)
		return;
	progress_rows(site->rows);
	site->rows = 0;
}

static EncodeSite *
encode_site_create(FmgrInfo *flinfo, Jsonb *stored, TupleDesc columns)
{
	MemoryContext caller = MemoryContextSwitchTo(flinfo->fn_mcxt);
	EncodeSite	 *site = palloc0_object(EncodeSite);
	FeatureSpec	 *spec;

	site->stored = (Jsonb *) PG_DETOAST_DATUM_COPY(JsonbPGetDatum(stored));
	spec = feature_spec_read(site->stored);
	site->encoder = row_encoder_create(spec, columns, true);
	site->header = construct_array(palloc0_array(Datum, spec->width), spec->width, FLOAT8OID,
								   sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	site->values = palloc_array(Datum, columns->natts);
	site->nulls = palloc_array(bool, columns->natts);
	for (int i = 0; i < spec->nfeatures; i++)
		site->may_be_missing |= spec->features[i].missing;
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
	ArrayType *result = palloc(VARSIZE(site->header));

	memcpy(result, site->header, ARR_DATA_OFFSET(site->header));
	return result;
}

/* The same array, with NULL for NaN. */
static ArrayType *
missing_as_null(const EncodeSite *site, ArrayType *encoded)
{
	const double *x = (const double *) ARR_DATA_PTR(encoded);
	int			  width = ARR_DIMS(encoded)[0];
	int			  lower = 1;
	Datum		 *values;
	bool		 *nulls;
	bool		  any = false;

	if (!site->may_be_missing)
		return encoded;
	values = palloc_array(Datum, width);
	nulls = palloc_array(bool, width);
	for (int i = 0; i < width; i++)
	{
		nulls[i] = isnan(x[i]);
		values[i] = Float8GetDatum(x[i]);
		any |= nulls[i];
	}
	return !any ? encoded
				: construct_md_array(values, nulls, 1, &width, &lower, FLOAT8OID, sizeof(float8),
									 FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}

Datum
privpred_encode_row(PG_FUNCTION_ARGS)
{
	Jsonb		   *stored = PG_GETARG_JSONB_P(0);
	HeapTupleHeader row = PG_GETARG_HEAPTUPLEHEADER(1);
	Oid				type = HeapTupleHeaderGetTypeId(row);
	int32			typmod = HeapTupleHeaderGetTypMod(row);
	EncodeSite	   *site = fcinfo->flinfo->fn_extra;
	ArrayType	   *result;

	if (site == NULL || site->type != type || site->typmod != typmod ||
		!same_features(site, stored))
	{
		site =
			encode_site_create(fcinfo->flinfo, stored, lookup_rowtype_tupdesc_copy(type, typmod));
		site->type = type;
		site->typmod = typmod;
	}
	result = encoded_array(site);
	encode_row(site->encoder, row, ENCODE_TRAINING, (double *) ARR_DATA_PTR(result));
	count_row(site);
	PG_RETURN_ARRAYTYPE_P(missing_as_null(site, result));
}

/* The types of the arguments after the first, as if they were a row's columns. */
static TupleDesc
argument_columns(FunctionCallInfo fcinfo)
{
	TupleDesc columns = CreateTemplateTupleDesc(PG_NARGS() - 1);

	for (int i = 1; i < PG_NARGS(); i++)
	{
		Oid type = get_fn_expr_argtype(fcinfo->flinfo, i);

		if (!OidIsValid(type) || type == UNKNOWNOID)
			ereport(ERROR, errcode(ERRCODE_INDETERMINATE_DATATYPE),
					errmsg("could not determine the type of column %d", i),
					errhint("Cast the value to the type of the column."));
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
	count_row(site);
	PG_RETURN_ARRAYTYPE_P(missing_as_null(site, result));
}
