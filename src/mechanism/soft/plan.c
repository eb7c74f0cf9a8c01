/*
 * soft/plan.c
 *		What is expected of a stream of scores.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/plan.h"

/* Scores have no accuracy; the parameters are those of labels that agree. */
static double
soft_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	(void) plan_stream_accuracy(question, units, result);
	result->answers_bought = result->unstable;
	return NAN;
}

static double
soft_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	return PLAN_NEVER;
}

const MechanismPlan plan_soft = {
	.grounds = "no figure: gives scores, not labels, and how far teachers' scores agree is not "
			   "known; parameters as for \"sparse\", answers for the worst case; privacy: Bassily, "
			   "Thakkar and Thakurta, algorithms 6 to 8, corrected",
	.needs_delta = true,
	.price = plan_price_stream,
	.accuracy = soft_accuracy,
	.units_needed = soft_units_needed,
};
