/*
 * median/plan.c
 *		What is expected of a median: as much as of a vote, if classes have no order.
 */
#include "postgres.h"

#include "mechanism/plan.h"

static const char *
median_unsuitable(const PlanQuestion *question)
{
	return question->classes == 2
			   ? "with two classes it is mechanism \"vote\""
			   : "is for classes in an order, and how far teachers err there was not declared";
}

static double
median_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	return plan_best_ensemble(question, units, plan_vote_ensemble, result);
}

const MechanismPlan plan_median = {
	.grounds = "inverse sensitivity, Asi and Duchi 2020; accuracy was not measured",
	.unsuitable = median_unsuitable,
	.price = plan_price_answers,
	.accuracy = median_accuracy,
};
