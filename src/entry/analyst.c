/*
 * analyst.c
 *		What an analyst calls.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "request/request.h"

PG_FUNCTION_INFO_V1(private_predict_array);
PG_FUNCTION_INFO_V1(private_predict_jsonb);
PG_FUNCTION_INFO_V1(private_predict_row);

Datum
private_predict_array(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(request_predict(fcinfo->flinfo, PG_GETARG_TEXT_PP(0),
													 INPUT_ARRAY, PG_GETARG_DATUM(1))));
}

Datum
private_predict_jsonb(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(request_predict(fcinfo->flinfo, PG_GETARG_TEXT_PP(0),
													 INPUT_JSONB, PG_GETARG_DATUM(1))));
}

Datum
private_predict_row(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(request_predict(fcinfo->flinfo, PG_GETARG_TEXT_PP(0),
													 INPUT_ROW, PG_GETARG_DATUM(1))));
}
