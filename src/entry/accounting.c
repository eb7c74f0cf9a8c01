/*
 * accounting.c
 *		What a budget buys: arithmetic for anybody, spending nothing.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "entry/entry.h"
#include "account/account.h"
#include "ledger/ledger.h"
#include "mechanism/mechanism.h"

PG_FUNCTION_INFO_V1(privpred_answers_for);
PG_FUNCTION_INFO_V1(privpred_epsilon_for);
PG_FUNCTION_INFO_V1(privpred_account_epsilon);
PG_FUNCTION_INFO_V1(privpred_account_charge);
PG_FUNCTION_INFO_V1(privpred_account_purchases);
PG_FUNCTION_INFO_V1(privpred_account_window);

/* epsilon_for() answers in multiples of this, which people can read. */
#define PER_ANSWER_STEP (EPSILON_UNITS_PER_ONE / 1000000000)
#define PER_ANSWER_LARGEST ((EpsilonUnits) EPSILON_PER_ANSWER_MAX * EPSILON_UNITS_PER_ONE)

/* Reads (epsilon, delta, ..., mechanism), all but the price of an answer. */
static RenyiGrant
read_grant(double epsilon, double delta, text *mechanism_name)
{
	char			*name = text_to_cstring(mechanism_name);
	const Mechanism *mechanism = mechanism_lookup(name);
	RenyiGrant		 grant = {0};

	grant.epsilon = read_epsilon(epsilon, EPSILON_MAX, "epsilon");
	check_delta(delta, "delta");
	if (mechanism == NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("mechanism \"%s\" does not exist", name),
				errhint("The mechanisms are: %s.", mechanism_names()));
	/* Of streams: the unstable answers. */
	if (mechanism->charge_kind == CHARGE_ONCE || mechanism->owner_only)
		refuse(
			errmsg("answers of mechanism \"%s\" are not sold one by one", name),
			errhint("privpred.models says what a model costs, privpred.cost() what it would cost "
					"you."));
	grant.delta = delta;
	grant.finite.part[0].shape = mechanism->finite_shape;
	grant.infinite.part[0].shape = mechanism->infinite_shape;
	grant.finite.part[0].times = grant.infinite.part[0].times = 1;
	return grant;
}

/* answers_for(epsilon, delta, per_answer, mechanism) */
Datum
privpred_answers_for(PG_FUNCTION_ARGS)
{
	RenyiGrant	 grant = read_grant(PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1), PG_GETARG_TEXT_PP(3));
	EpsilonUnits per_answer;
	RenyiPlan	 plan;
	Rows		*row = row_begin(fcinfo);

	if (!epsilon_to_units(PG_GETARG_FLOAT8(2), EPSILON_PER_ANSWER_MAX, &per_answer))
		refuse(errmsg("per_answer must be a number from %g to %g", EPSILON_MIN,
					  EPSILON_PER_ANSWER_MAX),
			   errdetail("It is the privacy loss of one answer."),
			   errhint("Useful values lie between 0.01 and 2."));
	grant.finite.part[0].epsilon = grant.infinite.part[0].epsilon = per_answer;
	if (!renyi_choose(&grant, 0, RENYI_ORDER_INFINITE, &plan))
		elog(ERROR, "no Rényi order for a valid grant");
	put_int8(row, plan.answers);
	put_float8(row, renyi_order_to_double(plan.order));
	put_epsilon(row, plan.limit);
	put_epsilon(row, plan.charge);
	put_int8(row, renyi_answers(grant.epsilon, 0, per_answer));
	PG_RETURN_DATUM(row_end(row));
}

/* epsilon_for(epsilon, delta, answers, mechanism) */
Datum
privpred_epsilon_for(PG_FUNCTION_ARGS)
{
	RenyiGrant grant = read_grant(PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1), PG_GETARG_TEXT_PP(3));
	int64	   answers = PG_GETARG_INT64(2);
	RenyiPlan  plan;
	Rows	  *row = row_begin(fcinfo);

	if (answers < 1)
		refuse(errmsg("answers must be at least 1"),
			   errhint("Say how many answers the budget has to pay for."));
	if (!renyi_per_answer(&grant, answers, PER_ANSWER_STEP, PER_ANSWER_LARGEST, &plan))
		refuse(errmsg("the budget does not buy that many answers"),
			   errdetail("At the smallest epsilon per answer, %g, it buys " INT64_FORMAT ".",
						 EPSILON_MIN, plan.answers),
			   errhint("Ask for fewer answers, or raise epsilon or delta."));
	put_epsilon(row, grant.finite.part[0].epsilon);
	put_float8(row, renyi_order_to_double(plan.order));
	put_int8(row, plan.answers);
	PG_RETURN_DATUM(row_end(row));
}

/* ---------- accounts as they are stored ---------- */

/* An order in units of 2^-20; NULL is infinite. */
static RenyiOrder
order_argument(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? RENYI_ORDER_INFINITE : PG_GETARG_INT64(n);
}

/* account_epsilon(spent_units, delta, renyi_order) */
Datum
privpred_account_epsilon(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(units_to_numeric(
		renyi_to_epsilon(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), order_argument(fcinfo, 2))));
}

/* Arguments (charge, pure_charge, payer_order); false: such a payer cannot pay. */
static bool
charge_arguments(FunctionCallInfo fcinfo, Charge *charge)
{
	int	  n = order_argument(fcinfo, 2) == RENYI_ORDER_INFINITE ? 1 : 0;
	char *written;

	if (PG_ARGISNULL(n))
		return false;
	written = text_to_cstring(PG_GETARG_TEXT_PP(n));
	if (!charge_from_text(written, charge))
		refuse(errmsg("invalid charge: \"%s\"", written),
			   errhint("Charges look like '20 x pure 0.05 + bounded range 0.1, delta 1e-07'."));
	return true;
}

/* account_charge(charge, pure_charge, payer_order, renyi_order) */
Datum
privpred_account_charge(PG_FUNCTION_ARGS)
{
	Charge charge;

	if (!charge_arguments(fcinfo, &charge))
		PG_RETURN_INT64(PG_INT64_MAX);
	PG_RETURN_INT64(charge_units(&charge, order_argument(fcinfo, 3)));
}

/* account_purchases(charge, pure_charge, payer_order, renyi_order, left_units, delta_left) */
Datum
privpred_account_purchases(PG_FUNCTION_ARGS)
{
	Account account = {.order = order_argument(fcinfo, 3), .window_limit = PG_INT64_MAX};
	Charge	charge;

	if (!charge_arguments(fcinfo, &charge))
		PG_RETURN_INT64(0);
	account.unlimited = PG_ARGISNULL(4);
	account.limit = account.unlimited ? 0 : PG_GETARG_INT64(4);
	account.delta = PG_ARGISNULL(5) ? 0 : 2 * PG_GETARG_FLOAT8(5); /* of which half is left */
	PG_RETURN_INT64(account_purchases(&account, &charge));
}

/* account_window(anchor, refresh, at) */
Datum
privpred_account_window(PG_FUNCTION_ARGS)
{
	TimestampTz start;
	TimestampTz end;
	Rows	   *row = row_begin(fcinfo);

	if (TIMESTAMP_NOT_FINITE(PG_GETARG_TIMESTAMPTZ(0)) ||
		TIMESTAMP_NOT_FINITE(PG_GETARG_TIMESTAMPTZ(2)))
		refuse(errmsg("windows need finite times"));
	check_refresh(PG_GETARG_INTERVAL_P(1));
	window_of(PG_GETARG_TIMESTAMPTZ(0), PG_GETARG_INTERVAL_P(1), PG_GETARG_TIMESTAMPTZ(2), &start,
			  &end);
	put_time(row, start);
	put_time(row, end);
	PG_RETURN_DATUM(row_end(row));
}
