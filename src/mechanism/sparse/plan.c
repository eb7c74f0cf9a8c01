/*
 * sparse/plan.c
 *		What is expected of a stream of labels.
 */
#include "postgres.h"

#include "mechanism/plan.h"

static const int unstable_limits[] = {1, 5, 20, 100};

/* The largest epsilon with which a stream of so many unstable answers is paid for. */
static EpsilonUnits
stream_epsilon(const PlanQuestion *question, int unstable)
{
	const EpsilonUnits step = EPSILON_UNITS_PER_ONE / 10000;
	EpsilonUnits	   low = 0;
	EpsilonUnits	   high = Min(question->epsilon, 10 * EPSILON_UNITS_PER_ONE) / step;

	while (low < high)
	{
		EpsilonUnits middle = low + (high - low + 1) / 2;
		RenyiGrant	 grant = {.epsilon = question->epsilon, .delta = question->delta, .once = true};
		RenyiPlan	 plan;

		grant.finite.part[0] =
			(ChargePart){.shape = CHARGE_PURE, .times = unstable, .epsilon = middle * step};
		grant.infinite = grant.finite;
		if (renyi_choose(&grant, 0, RENYI_ORDER_INFINITE, &plan) && plan.answers >= 1)
			low = middle;
		else
			high = middle - 1;
	}
	return low * step;
}

/* Half of a grant's delta is for what mechanisms need. */
static void
set_terms(const PlanQuestion *question, int choice, PlanResult *result)
{
	result->unstable = unstable_limits[choice];
	result->epsilon = result->prices[choice];
	result->stream_delta = question->delta / 2 / result->unstable;
}

bool
plan_price_stream(const PlanQuestion *question, PlanResult *result)
{
	StaticAssertStmt(lengthof(unstable_limits) <= PLAN_PRICES, "too many limits");
	for (int i = 0; i < lengthof(unstable_limits); i++)
		result->prices[i] = stream_epsilon(question, unstable_limits[i]);
	result->total = question->epsilon;
	result->total_delta = question->delta;
	set_terms(question, 0, result);
	if (result->epsilon == 0)
		result->why = "the budget does not pay for a stream";
	return result->epsilon > 0;
}

static double
stream_ensemble(const PlanQuestion *question, const TeacherLaw *law, int teachers,
				PlanResult *result)
{
	double stable;
	double right;
	double lasts;

	law_stream(law, teachers, result->epsilon, result->stream_delta, &stable, &right);
	lasts = result->unstable / Max(1 - stable, 1e-15);
	result->answers_bought = Min(lasts, 1e15);
	return right * Min(lasts / question->answers, 1);
}

static double
choose_limit(const PlanQuestion *question, double units, int choice, PlanResult *result)
{
	set_terms(question, choice, result);
	return result->epsilon == 0 ? -1 : plan_best_ensemble(question, units, stream_ensemble, result);
}

double
plan_stream_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	return plan_best(question, units, lengthof(unstable_limits), choose_limit, result);
}

const MechanismPlan plan_sparse = {
	.grounds = "the law of votes of \"vote\" and the exact tail of the stability test; unstable "
			   "answers, and those after the end of the stream, count as wrong; privacy: Bassily, "
			   "Thakkar and Thakurta, algorithms 1 to 4, corrected",
	.virtue = "so many teachers agree that nearly all answers are free",
	.needs_delta = true,
	.price = plan_price_stream,
	.accuracy = plan_stream_accuracy,
};
