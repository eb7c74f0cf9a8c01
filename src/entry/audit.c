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

#define AUDIT_COLUMNS	12

typedef struct Audited
{
	const char *mechanism;
	List	   *results;
} Audited;

static int64
read_draws(FunctionCallInfo fcinfo)
{
	int64		draws;

	if (PG_ARGISNULL(1))
		return 0;
	draws = PG_GETARG_INT64(1);
	if (draws < 1 || draws > AUDIT_MAX_DRAWS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("draws must be from 1 to " INT64_FORMAT, AUDIT_MAX_DRAWS),
				 errhint("Leave it out for as many as it takes to see half as much again as is charged.")));
	return draws;
}

/* Four digits are more than chance leaves. */
static Datum
shown(double number)
{
	return Float8GetDatum(strtod(psprintf("%.4g", number), NULL));
}

static void
put_result(const Audited *audited, const AuditResult *result, Datum *values, bool *nulls)
{
	static const char *const tests[] = {
		[TEST_RATIO] = "probabilities",
		[TEST_RANGE] = "odds",
		[TEST_RENYI] = "divergence",
	};

	memset(nulls, false, AUDIT_COLUMNS * sizeof(bool));
	values[0] = CStringGetTextDatum(audited->mechanism);
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

/* audit(model, draws) */
Datum
privpred_audit(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	Audited    *audited;
	Datum		values[AUDIT_COLUMNS];
	bool		nulls[AUDIT_COLUMNS];

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;
		TupleDesc	columns;
		char	   *model;

		require_argument(fcinfo, 0, "model");
		call = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "audit must return rows");
		call->tuple_desc = BlessTupleDesc(columns);
		model = text_to_cstring(PG_GETARG_TEXT_PP(0));
		audited = palloc0_object(Audited);
		audited->results = request_audit(model, read_draws(fcinfo), &audited->mechanism);
		call->user_fctx = audited;
		MemoryContextSwitchTo(caller);
	}
	call = SRF_PERCALL_SETUP();
	audited = call->user_fctx;
	if (call->call_cntr >= list_length(audited->results))
		SRF_RETURN_DONE(call);
	put_result(audited, list_nth(audited->results, call->call_cntr), values, nulls);
	SRF_RETURN_NEXT(call, HeapTupleGetDatum(heap_form_tuple(call->tuple_desc, values, nulls)));
}
