/*
 * littlestone/plan.c
 *		What is expected of a hypothesis that many batches agree on.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/plan.h"
#include "server/number_text.h"

/* Batches that see most points: 105 units of each were enough in the tests. */
#define LITTLESTONE_BATCH 105
#define LITTLESTONE_POINTS 16

static const char *
littlestone_unsuitable(const PlanQuestion *question)
{
	if (question->classes > 2)
		return "takes more classes, but what it learns was measured of two alone";
	return question->accuracy < 0.99
			   ? "needs a classifier that is never wrong; accuracy is below 0.99"
			   : NULL;
}

static bool
littlestone_price(const PlanQuestion *question, PlanResult *result)
{
	EpsilonUnits half = question->epsilon / 4;
	ChargePart	 pure = {.shape = CHARGE_PURE, .times = 1, .epsilon = half};
	ChargePart	 bounded = {.shape = CHARGE_BOUNDED_RANGE, .times = 1, .epsilon = half};
	RenyiGrant	 grant = {.epsilon = question->epsilon, .delta = question->delta, .once = true};
	RenyiPlan	 plan;
	char		 delta[NUMBER_TEXT_SIZE];

	/* Half of epsilon at most, so that a finite order may pay, too. */
	grant.finite = (Charge){.part = {pure, bounded}};
	if (!renyi_choose(&grant, 0, RENYI_ORDER_INFINITE, &plan) || plan.answers < 1)
	{
		result->why = "the budget does not pay for it";
		return false;
	}
	(void) plan_price_once(question, result);
	result->epsilon = 2 * half;
	result->options = psprintf("{\"delta\": %s, \"points\": %d}",
							   number_text(question->delta / 2, delta), LITTLESTONE_POINTS);
	return true;
}

static double
littlestone_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	double agree = 4 / plan_epsilon(result->epsilon) * log(2 / question->delta);

	return ceil(3 * agree * LITTLESTONE_BATCH);
}

static double
littlestone_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	if (units < littlestone_units_needed(question, result))
		return 0.5;
	return question->accuracy - 0.5 / LITTLESTONE_POINTS;
}

const MechanismPlan plan_littlestone = {
	.grounds =
		"measured: 189 batches of 105 units learn thresholds over 16 points; the theorem (Bun, "
		"Livni and Moran) asks for batches doubly exponential in the Littlestone dimension, "
		"here 2^(2^6 + 1) units and more",
	.one_feature = true,
	.scope = "one feature, or a finite class in a public table",
	.needs_delta = true,
	.unsuitable = littlestone_unsuitable,
	.price = littlestone_price,
	.accuracy = littlestone_accuracy,
	.units_needed = littlestone_units_needed,
};
