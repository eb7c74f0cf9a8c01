/*
 * audit.c
 *		privpred.audit(): does a model's charge cover what its draws lose?
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "entry/entry.h"
#include "request/audit.h"

PG_FUNCTION_INFO_V1(privpred_audit);

static int64
read_draws(FunctionCallInfo fcinfo)
{
	int64 draws;

	if (PG_ARGISNULL(1))
		return 0;
	draws = PG_GETARG_INT64(1);
	if (draws < 1 || draws > AUDIT_MAX_DRAWS)
		refuse(
			errmsg("draws must be from 1 to " INT64_FORMAT, AUDIT_MAX_DRAWS),
			errhint("Leave it out to draw as often as it takes to detect a loss of 1.5 times the "
					"charge."));
	return draws;
}

/* Four digits are more than chance leaves. */
static Datum
shown(double number)
{
	return Float8GetDatum(strtod(psprintf("%.4g", number), NULL));
}

static void
put_result(Rows *rows, const AuditResult *result)
{
	static const char *const tests[] = {
		[TEST_RATIO] = "probabilities",
		[TEST_RANGE] = "odds",
		[TEST_RENYI] = "divergence",
	};

	put_text(rows, result->mechanism);
	put_text(rows, result->pair);
	put_text(rows, result->event);
	put_text(rows, result->charge);
	put_text(rows, tests[result->claim.test]);
	put_float8(rows, result->claim.epsilon);
	put_float8(rows, result->claim.delta);
	put_if(rows, result->draws > 0, shown(result->loss));
	put_if(rows, !isinf(result->detects), shown(result->detects));
	put_int8(rows, result->draws);
	put_float8(rows, 1 - AUDIT_FALSE_ALARM);
	put_text(rows, result->verdict);
}

/* audit(model, draws) */
Datum
privpred_audit(PG_FUNCTION_ARGS)
{
	Rows	 *rows = rows_begin(fcinfo);
	List	 *results;
	ListCell *cell;

	require_argument(fcinfo, 0, "model");
	results = request_audit(text_to_cstring(PG_GETARG_TEXT_PP(0)), read_draws(fcinfo));
	foreach(cell, results)
	{
		put_result(rows, lfirst(cell));
		rows_next(rows);
	}
	return (Datum) 0;
}
