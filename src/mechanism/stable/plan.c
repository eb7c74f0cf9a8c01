/*
 * stable/plan.c
 *		What is expected of hypotheses that are drawn for each answer.
 */
#include "postgres.h"

#include "mechanism/plan.h"
#include "mechanism/solve.h"

static const double flips[] = {0.02, 0.05, 0.1, 0.2};

static double
choose_flips(const PlanQuestion *question, double units, int choice, PlanResult *result)
{
	StableParameters parameters = {.alpha = share_from_double(flips[choice])};
	double			 q;
	double			 inner;

	if (!stable_flip_solve(result->per_answer, false, false, &parameters))
		return -1;
	q = share_to_double(parameters.q);
	inner = plan_stump_accuracy(question) - 1 / (q * units) -
			plan_choice_loss(2 * question->features * q * units,
							 plan_epsilon(parameters.e) / question->rows_per_unit, units);
	result->options = psprintf("{\"alpha\": %g}", flips[choice]);
	return flips[choice] + (1 - 2 * flips[choice]) * Max(inner, 0.5);
}

static double
stable_flip_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	return Max(plan_best(question, units, lengthof(flips), choose_flips, result), 0.5);
}

const MechanismPlan plan_stable_flip = {
	.grounds =
		"theorem: Dagan and Feldman, Theorem 1 and Corollary 1, with the solver's q and e; the "
		"best single feature is taken to gain 0.84 of what a linear model does over a guess "
		"(0.71 to 0.98 measured), or 0.55 of what that gains over a declared baseline",
	.one_rule = true,
	.price = plan_price_answers,
	.accuracy = stable_flip_accuracy,
};

/* It answers its owner alone, so nothing is priced. */
const MechanismPlan plan_stable = {
	.grounds = "Dagan and Feldman, Theorem 1: (0, gamma)-stability",
	.one_rule = true,
};
