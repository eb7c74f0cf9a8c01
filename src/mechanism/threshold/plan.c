/*
 * threshold/plan.c
 *		What is expected of a threshold.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/plan.h"

static const double alphas[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2};

/* Empirical error above that of the best threshold, negated (docs/mechanisms.md, section 7). */
static double
choose_alpha(const PlanQuestion *question, double units, int choice, PlanResult *result)
{
	double alpha = alphas[choice];
	double step = plan_epsilon(result->per_answer) / 2 / question->rows_per_unit;
	int	   others = question->classes - 1;
	double limit = log((result->order_is_infinite ? 1 : 2) * others / alpha);
	double start = others > 1 ? (others + 1) * log(question->classes) : 1;

	result->options = psprintf("{\"alpha\": %g}", alpha);
	return -(alpha / 2 + (others * limit + start) / (step * units));
}

static double
threshold_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double gain = plan_best(question, units, lengthof(alphas), choose_alpha, result);

	return Max(question->accuracy + gain, 1.0 / question->classes);
}

static double
threshold_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	double epsilon = plan_epsilon(result->per_answer);
	int	   others = question->classes - 1;
	double errors = 3 * log(2 / PLAN_LOSS);

	/* 4 (k L + (k + 1) ln C)/(a epsilon), where L was rounded up to steps. */
	if (others > 1)
		errors = others * (log(2 * others / PLAN_LOSS) + epsilon / 2) +
				 (others + 1) * log(question->classes);
	return 4 * errors * question->rows_per_unit / (PLAN_LOSS * epsilon);
}

const MechanismPlan plan_threshold = {
	.grounds =
		"theorem: error on the rows at most OPT + alpha/2 + (L+1)/(s n); 12 ln(2/a)/(a epsilon) "
		"rows give error e^epsilon (OPT + a), a = 0.02 (Dwork and Feldman, section 2.2); more "
		"classes: one piece each, docs/mechanisms.md, section 7; no lower bound for released "
		"thresholds applies",
	.virtue = "one feature decides, and it wastes no rows on teachers",
	.preference = 0.01, /* it has no teachers to choose, and also finds intervals */
	.one_feature = true,
	.scope = "one numeric feature: with several, nothing is known in advance",
	.price = plan_price_answers,
	.accuracy = threshold_accuracy,
	.units_needed = threshold_units_needed,
};
