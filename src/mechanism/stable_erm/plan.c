/*
 * stable_erm/plan.c
 *		What is expected of noise on the scores of a regularised fit.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/plan.h"

/*
 * On Adult the loss was 0.040, 0.013 and 0.008 at epsilon 0.1, 0.5 and 1.  What
 * is left of a fit that is regularised that much is the commonest class, down to
 * n epsilon = 20 (Adult and Bank, 2,000 and 8,000 rows).
 */
static double
two_class_accuracy(const PlanQuestion *question, double strength)
{
	double learnt = question->accuracy - 0.85 * pow(question->features / strength, 0.7);
	double turned = 0.5 * exp(-strength / 20);

	if (!question->baseline_declared)
		return Max(learnt, 0.5);
	return Max(learnt, question->baseline - turned * (2 * question->baseline - 1));
}

/* On MNIST, ten classes, the loss was 0.27, 0.11 and 0.08 at epsilon 0.1, 0.5 and 1. */
static double
stable_erm_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double strength = units * plan_epsilon(result->epsilon);

	if (question->classes <= 2)
		return two_class_accuracy(question, strength);
	return Max(question->accuracy - sqrt(question->features * (question->classes - 1.0) / strength),
			   1.0 / question->classes);
}

const MechanismPlan plan_stable_erm = {
	.grounds =
		"measured on Adult alone: loss 0.85 (features / (n epsilon))^0.7, and on MNIST for more "
		"than two classes: (features (classes - 1) / (n epsilon))^0.5; privacy: Dwork and Feldman, "
		"section 2.1. For numbers it is the first choice. Option solver sgd reads rows once: for n "
		"(features + 1) * 4 bytes beyond maintenance_work_mem; there it lost up to 0.01, most with "
		"many classes, and won nothing",
	.price = plan_price_answers,
	.accuracy = stable_erm_accuracy,
};
