/*
 * analyst.c
 *		What an analyst calls.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"

#include "learner/learner.h"
#include "request/request.h"
#include "server/rows.h"

PG_FUNCTION_INFO_V1(privpred_read_model);
PG_FUNCTION_INFO_V1(privpred_predictor_json);

/* private_predict(model, features) */
static Datum
predict(FunctionCallInfo fcinfo, InputForm form)
{
	text *answer = request_predict(fcinfo->flinfo, PG_GETARG_TEXT_PP(0), form, PG_GETARG_DATUM(1));

	if (answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(answer);
}

/* private_score(model, features [, precision [, class]]) */
static Datum
score(FunctionCallInfo fcinfo, InputForm form)
{
	bool	   has_precision = PG_NARGS() > 2 && !PG_ARGISNULL(2);
	ScoreAsked asked = {.precision = has_precision ? PG_GETARG_FLOAT8(2) : 0};
	double	   answer;

	/* A NULL argument gives NULL and costs nothing; a NULL precision or class is the default. */
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (has_precision && !(asked.precision > 0 && isfinite(asked.precision)))
		refuse(errmsg("precision must be a positive number"),
			   errhint("Leave it out for the model's own precision."));
	if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
		asked.class_name = PG_GETARG_TEXT_PP(3);
	if (!request_score(fcinfo->flinfo, PG_GETARG_TEXT_PP(0), form, PG_GETARG_DATUM(1), &asked,
					   &answer))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(answer);
}

/* check(model, features) */
static Datum
check(FunctionCallInfo fcinfo, InputForm form)
{
	QuestionCheck found =
		request_check(text_to_cstring(PG_GETARG_TEXT_PP(0)), form, PG_GETARG_DATUM(1));
	Rows *row = row_begin(fcinfo);

	put_bool(row, found.accepted);
	put_text(row, found.problem);
	put_text(row, found.hint);
	PG_RETURN_DATUM(row_end(row));
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
DEFINE_ENTRY(privpred_check_array, check, INPUT_ARRAY)
DEFINE_ENTRY(privpred_check_jsonb, check, INPUT_JSONB)
DEFINE_ENTRY(privpred_check_json, check, INPUT_JSON)
DEFINE_ENTRY(privpred_check_row, check, INPUT_ROW)
DEFINE_ENTRY(privpred_check_text, check, INPUT_TEXT)

Datum
privpred_read_model(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(request_read_model(text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

/* A predictor that the caller holds. */
Datum
privpred_predictor_json(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(predictor_json((Predictor *) PG_GETARG_VARLENA_P(0))));
}
