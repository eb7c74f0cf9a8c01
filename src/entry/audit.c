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

#define AUDIT_COLUMNS 12

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
				 "Leave it out for as many as it takes to see half as much again as is charged.")));
	return draws;
}

/* Four digits are more than chance leaves. */
static Datum
shown(double number)
{
	return Float8GetDatum(strtod(psprintf("%.4g", number), NULL));
}

static void
put_result(const AuditResult *result, Datum *values, bool *nulls)
{
	static const char *const tests[] = {
		[TEST_RATIO] = "probabilities",
		[TEST_RANGE] = "odds",
		[TEST_RENYI] = "divergence",
	};

	memset(nulls, false, AUDIT_COLUMNS * sizeof(bool));
	values[0] = CStringGetTextDatum(result->mechanism);
	values[1] = CStringGetTextDatum(result->pair);
	values[2] = CStringGetTextDatum(result->event);
	values[3] = CStringGetTextDatum(result->charge);
	values[4] = CStringGetTextDatum(tests[result->claim.test]);
	values[5] = Float8GetDatum(result->claim.epsilon);
	values[6] = Float8GetDatum(result->claim.delta);
	values[7] = shown(result->loss);
	nulls[7] = result->draws == 0;
	values[8] = shown(result->detects);
	nulls[8] = isinf(result->detects);
	values[9] = Int64GetDatum(result->draws);
	values[10] = Float8GetDatum(1 - AUDIT_FALSE_ALARM);
	values[11] = CStringGetTextDatum(result->verdict);
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
	Datum values[AUDIT_COLUMNS];
	bool  nulls[AUDIT_COLUMNS];

	put_result(list_nth(list->rows, number), values, nulls);
	return heap_form_tuple(columns, values, nulls);
}

/* audit(model, draws) */
Datum
privpred_audit(PG_FUNCTION_ARGS)
{
	return next_row(fcinfo, audit_all, audit_row);
}
