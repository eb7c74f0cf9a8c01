/*
 * analyst.c
 *		What an analyst calls.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "request/request.h"

PG_FUNCTION_INFO_V1(private_predict_array);
PG_FUNCTION_INFO_V1(private_predict_jsonb);
PG_FUNCTION_INFO_V1(private_predict_json);
PG_FUNCTION_INFO_V1(private_predict_row);
PG_FUNCTION_INFO_V1(private_predict_text);
PG_FUNCTION_INFO_V1(private_score_array);
PG_FUNCTION_INFO_V1(private_score_jsonb);
PG_FUNCTION_INFO_V1(private_score_json);
PG_FUNCTION_INFO_V1(private_score_row);
PG_FUNCTION_INFO_V1(private_score_text);

/* private_predict(model, features) */
static Datum
predict(FunctionCallInfo fcinfo, InputForm form)
{
	text *answer = request_predict(fcinfo->flinfo, PG_GETARG_TEXT_PP(0), form, PG_GETARG_DATUM(1));

	if (answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(answer);
}

Datum
private_predict_array(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, INPUT_ARRAY);
}

Datum
private_predict_jsonb(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, INPUT_JSONB);
}

Datum
private_predict_json(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, INPUT_JSON);
}

Datum
private_predict_row(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, INPUT_ROW);
}

Datum
private_predict_text(PG_FUNCTION_ARGS)
{
	return predict(fcinfo, INPUT_TEXT);
}

/* private_score(model, features [, precision]) */
static Datum
score(FunctionCallInfo fcinfo, InputForm form)
{
	bool   has_precision = PG_NARGS() > 2 && !PG_ARGISNULL(2);
	double precision = has_precision ? PG_GETARG_FLOAT8(2) : 0;
	double answer;

	/* A NULL argument gives NULL and costs nothing; no precision is the default. */
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (has_precision && !(precision > 0 && isfinite(precision)))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("precision must be a positive number"),
						errhint("Leave it out for the model's own precision.")));
	if (!request_score(fcinfo->flinfo, PG_GETARG_TEXT_PP(0), form, PG_GETARG_DATUM(1), precision,
					   &answer))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(answer);
}

Datum
private_score_array(PG_FUNCTION_ARGS)
{
	return score(fcinfo, INPUT_ARRAY);
}

Datum
private_score_jsonb(PG_FUNCTION_ARGS)
{
	return score(fcinfo, INPUT_JSONB);
}

Datum
private_score_json(PG_FUNCTION_ARGS)
{
	return score(fcinfo, INPUT_JSON);
}

Datum
private_score_row(PG_FUNCTION_ARGS)
{
	return score(fcinfo, INPUT_ROW);
}

Datum
private_score_text(PG_FUNCTION_ARGS)
{
	return score(fcinfo, INPUT_TEXT);
}
