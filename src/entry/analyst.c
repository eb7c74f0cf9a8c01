/*
 * analyst.c
 *		What an analyst calls.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "request/request.h"

/* private_predict(model, features) */
static Datum
predict(FunctionCallInfo fcinfo, InputForm form)
{
	text *answer = request_predict(fcinfo->flinfo, PG_GETARG_TEXT_PP(0), form, PG_GETARG_DATUM(1));

	if (answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(answer);
}

/* private_score(model, features [, precision]) */
static Datum
score(FunctionCallInfo fcinfo, InputForm form)
{
	bool   has_precision = PG_NARGS() > 2 && !PG_ARGISNULL(2);
	double precision = has_precision ? PG_GETARG_FLOAT8(2) : 0;
	double answer;

	/* A NULL argument gives NULL and costs nothing; a NULL precision is the default. */
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

/* Each function comes in one form for each type of features. */
#define DEFINE_ENTRY(function, kind, form) \
	PG_FUNCTION_INFO_V1(function); \
	Datum function(PG_FUNCTION_ARGS) \
	{ \
		return kind(fcinfo, form); \
	}

DEFINE_ENTRY(private_predict_array, predict, INPUT_ARRAY)
DEFINE_ENTRY(private_predict_jsonb, predict, INPUT_JSONB)
DEFINE_ENTRY(private_predict_json, predict, INPUT_JSON)
DEFINE_ENTRY(private_predict_row, predict, INPUT_ROW)
DEFINE_ENTRY(private_predict_text, predict, INPUT_TEXT)
DEFINE_ENTRY(private_score_array, score, INPUT_ARRAY)
DEFINE_ENTRY(private_score_jsonb, score, INPUT_JSONB)
DEFINE_ENTRY(private_score_json, score, INPUT_JSON)
DEFINE_ENTRY(private_score_row, score, INPUT_ROW)
DEFINE_ENTRY(private_score_text, score, INPUT_TEXT)
