/*
 * audit.c
 *		privpred.audit(): does a model's charge cover what its draws lose?
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "entry/entry.h"
#include "request/audit.h"

PG_FUNCTION_INFO_V1(privpred_audit);

/* Columns that may be NULL. */
enum
{
	LOWER_BOUND = 7,
	WOULD_DETECT
};

static int64
read_draws(FunctionCallInfo fcinfo)
{
	int64 draws;

	if (PG_ARGISNULL(1))
		return 0;
	draws = PG_GETARG_INT64(1);
	if (draws < 1 || draws > AUDIT_MAX_DRAWS)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("draws must be from 1 to " INT64_FORMAT, AUDIT_MAX_DRAWS),
			 errhint(
				 "Leave it out to draw as often as it takes to detect a loss of 1.5 times the charge.")));
	return draws;
}

/* Four digits are more than chance leaves. */
static Datum
shown(double number)
{
	return Float8GetDatum(strtod(psprintf("%.4g", number), NULL));
}

static RowList *
audit_all(FunctionCallInfo fcinfo)
{
	RowList *list = palloc0_object(RowList);

	require_argument(fcinfo, 0, "model");
	list->rows = request_audit(text_to_cstring(PG_GETARG_TEXT_PP(0)), read_draws(fcinfo));
	list->count = list_length(list->rows);
	return list;
}

static HeapTuple
audit_row(TupleDesc columns, const RowList *list, int number)
{
	static const char *const tests[] = {
		[TEST_RATIO] = "probabilities",
		[TEST_RANGE] = "odds",
		[TEST_RENYI] = "divergence",
	};
	const AuditResult *result = list_nth(list->rows, number);
	Datum			   values[] = {
					 CStringGetTextDatum(result->mechanism),
					 CStringGetTextDatum(result->pair),
					 CStringGetTextDatum(result->event),
					 CStringGetTextDatum(result->charge),
					 CStringGetTextDatum(tests[result->claim.test]),
					 Float8GetDatum(result->claim.epsilon),
					 Float8GetDatum(result->claim.delta),
					 [LOWER_BOUND] = shown(result->loss),
					 [WOULD_DETECT] = shown(result->detects),
					 Int64GetDatum(result->draws),
					 Float8GetDatum(1 - AUDIT_FALSE_ALARM),
					 CStringGetTextDatum(result->verdict),
	 };
	bool nulls[lengthof(values)] = {
		[LOWER_BOUND] = result->draws == 0, [WOULD_DETECT] = isinf(result->detects)};

	return heap_form_tuple(columns, values, nulls);
}

/* audit(model, draws) */
Datum
privpred_audit(PG_FUNCTION_ARGS)
{
	return next_row(fcinfo, audit_all, audit_row);
}
