/*
 * stream.c
 *		SQL entry points of streams.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "entry/entry.h"
#include "request/request.h"

#define MAX_UNSTABLE 1000000

PG_FUNCTION_INFO_V1(privpred_open_stream);
PG_FUNCTION_INFO_V1(privpred_close_stream);

static void
check_positive_delta(double delta)
{
	check_delta(delta, "delta");
	if (delta == 0)
		refuse(
			errmsg("delta of a stream must be positive"),
			errdetail(
				"It bounds the chance that an answer which a single person could change passes "
				"as stable."),
			errhint(
				"Choose it so that unstable times delta is at most half of the budget's delta."));
}

/* open_stream(model, unstable, epsilon, delta, answers, uniform) */
Datum
privpred_open_stream(PG_FUNCTION_ARGS)
{
	StreamTerms terms = {0};

	require_argument(fcinfo, 0, "model");
	require_argument(fcinfo, 1, "unstable");
	require_argument(fcinfo, 2, "epsilon");
	require_argument(fcinfo, 3, "delta");
	terms.unstable = PG_GETARG_INT32(1);
	if (terms.unstable < 1 || terms.unstable > MAX_UNSTABLE)
		refuse(errmsg("unstable must be between 1 and %d", MAX_UNSTABLE),
			   errdetail("It is the number of unstable answers that the stream is bought for."),
			   errhint("Start with 20."));
	terms.epsilon = read_epsilon(PG_GETARG_FLOAT8(2), EPSILON_PER_ANSWER_MAX, "epsilon");
	terms.delta = PG_GETARG_FLOAT8(3);
	check_positive_delta(terms.delta);
	if (!PG_ARGISNULL(4))
	{
		terms.answers = PG_GETARG_INT64(4);
		if (terms.answers < 1)
			refuse(errmsg("answers must be positive"),
				   errhint("Leave it out for a stream without such a limit."));
	}
	terms.uniform = !PG_ARGISNULL(5) && PG_GETARG_BOOL(5);
	PG_RETURN_INT64(request_open_stream(text_to_cstring(PG_GETARG_TEXT_PP(0)), &terms));
}

/* close_stream(model) */
Datum
privpred_close_stream(PG_FUNCTION_ARGS)
{
	request_close_stream(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}
