/*
 * accounting.c
 *		What a budget buys: arithmetic for anybody, spending nothing.
 */
#include "postgres.h"

#include <float.h>

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "ledger/accountant.h"
#include "ledger/renyi.h"
#include "mechanism/mechanism.h"

PG_FUNCTION_INFO_V1(privpred_answers_for);
PG_FUNCTION_INFO_V1(privpred_epsilon_for);

/* epsilon_for() answers in multiples of this, which people can read. */
#define PER_ANSWER_STEP		(EPSILON_UNITS_PER_ONE / 1000000000)
#define PER_ANSWER_LARGEST	((EpsilonUnits) EPSILON_PER_ANSWER_MAX * EPSILON_UNITS_PER_ONE)

static void
check_delta(double delta)
{
	if (!renyi_delta_is_valid(delta))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be 0 or a number from %g up to but not including 1", DBL_MIN),
				 errhint("Use 0 for a pure budget, or less than one over the number of protected units, such as 1e-6.")));
}

/* Reads (epsilon, delta, ..., mechanism), all but the price of an answer. */
static RenyiGrant
read_grant(double epsilon, double delta, text *mechanism_name)
{
	char	   *name = text_to_cstring(mechanism_name);
	const Mechanism *mechanism = mechanism_lookup(name);
	RenyiGrant	grant = {0};

	if (!epsilon_to_units(epsilon, EPSILON_MAX, &grant.epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be a number from %g to %g", EPSILON_MIN, EPSILON_MAX),
				 errdetail("It is the privacy loss of all answers together."),
				 errhint("Useful budgets lie between 0.1 and 10.")));
	check_delta(delta);
	if (mechanism == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("mechanism \"%s\" does not exist", name),
				 errhint("The mechanisms are: %s.", mechanism_names())));
	grant.delta = delta;
	grant.finite = mechanism->shape(false);
	grant.infinite = mechanism->shape(true);
	return grant;
}

static Datum
units_to_numeric(EpsilonUnits units)
{
	char		buffer[EPSILON_TEXT_SIZE];

	return DirectFunctionCall3(numeric_in, CStringGetDatum(epsilon_to_text(units, buffer)),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

static Datum
make_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	columns;

	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

/* answers_for(epsilon, delta, per_answer, mechanism) */
Datum
privpred_answers_for(PG_FUNCTION_ARGS)
{
	RenyiGrant	grant = read_grant(PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1), PG_GETARG_TEXT_PP(3));
	RenyiPlan	plan;
	Datum		values[5];
	bool		nulls[5] = {false};

	if (!epsilon_to_units(PG_GETARG_FLOAT8(2), EPSILON_PER_ANSWER_MAX, &grant.per_answer))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("per_answer must be a number from %g to %g", EPSILON_MIN,
						EPSILON_PER_ANSWER_MAX),
				 errdetail("It is the privacy loss of one answer."),
				 errhint("Useful values lie between 0.01 and 2.")));
	if (!renyi_choose(&grant, 0, RENYI_ORDER_INFINITE, &plan))
		elog(ERROR, "no Rényi order for a valid grant");
	values[0] = Int64GetDatum(plan.answers);
	values[1] = Float8GetDatum(renyi_order_to_double(plan.order));
	values[2] = units_to_numeric(plan.limit);
	values[3] = units_to_numeric(plan.charge);
	values[4] = Int64GetDatum(renyi_answers(grant.epsilon, 0, grant.per_answer));
	PG_RETURN_DATUM(make_row(fcinfo, values, nulls));
}

/* epsilon_for(epsilon, delta, answers, mechanism) */
Datum
privpred_epsilon_for(PG_FUNCTION_ARGS)
{
	RenyiGrant	grant = read_grant(PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1), PG_GETARG_TEXT_PP(3));
	int64		answers = PG_GETARG_INT64(2);
	RenyiPlan	plan;
	Datum		values[3];
	bool		nulls[3] = {false};

	if (answers < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("answers must be at least 1"),
				 errhint("Say how many answers the budget has to pay for.")));
	if (!renyi_per_answer(&grant, answers, PER_ANSWER_STEP, PER_ANSWER_LARGEST, &plan))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the budget does not buy that many answers"),
				 errdetail("At the smallest epsilon per answer, %g, it buys " INT64_FORMAT ".",
						   EPSILON_MIN, plan.answers),
				 errhint("Ask for fewer answers, or raise epsilon or delta.")));
	values[0] = units_to_numeric(grant.per_answer);
	values[1] = Float8GetDatum(renyi_order_to_double(plan.order));
	values[2] = Int64GetDatum(plan.answers);
	PG_RETURN_DATUM(make_row(fcinfo, values, nulls));
}
