/*
 * plan_linear.c
 *		Plans of mechanisms that fit one linear model to all rows.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/gradient/noise.h"
#include "server/number_text.h"
#include "request/plan.h"

#define GRADIENT_STEPS 100 /* the mechanism's default */

/* ---------- gradient ---------- */

static char *
gradient_unsuitable(const PlanQuestion *question)
{
	if (question->delta == 0)
		return "needs a budget with delta, such as 1e-6";
	if (gradient_rho(plan_epsilon(question->epsilon), question->delta, GRADIENT_STEPS + 1) <= 0)
		return "needs a larger epsilon or delta";
	return NULL;
}

static bool
gradient_price(const PlanQuestion *question, PlanResult *result)
{
	char delta[NUMBER_TEXT_SIZE];

	(void) plan_price_once(question, result);
	result->total_delta = question->delta;
	result->options = psprintf("{\"delta\": %s}", number_text(Min(question->delta, 0.1), delta));
	return true;
}

static double
gradient_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double rho = gradient_rho(plan_epsilon(result->epsilon), question->delta, GRADIENT_STEPS + 1);
	double noise = sqrt((question->features + 1) * 2 / rho) / units;

	return law_gradient(question->accuracy, question->features, question->classes, units, noise);
}

const PlannedMechanism plan_gradient = {
	.name = "gradient",
	.grounds =
		"measured: fitted to 48 runs on five data sets, within 2 points of those with 36,000 rows and more; with 2,000 or fewer it may be 5 points off (docs/planning.md); privacy: book section 16",
	.needs_size = true,
	.unsuitable = gradient_unsuitable,
	.price = gradient_price,
	.accuracy = gradient_accuracy,
};

/* ---------- stable_erm ---------- */

static char *
stable_erm_unsuitable(const PlanQuestion *question)
{
	return question->classes > 2 ? "for two classes, and for numbers" : NULL;
}

/*
 * On Adult the loss was 0.040, 0.013 and 0.008 at epsilon 0.1, 0.5 and 1.  What
 * is left of a fit that is regularised that much is the commonest class, down to
 * n epsilon = 20 (Adult and Bank, 2,000 and 8,000 rows).
 */
static double
stable_erm_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double strength = units * plan_epsilon(result->epsilon);
	double learnt = question->accuracy - 0.85 * pow(question->features / strength, 0.7);
	double turned = 0.5 * exp(-strength / 20);

	if (!question->baseline_declared)
		return Max(learnt, 0.5);
	return Max(learnt, question->baseline - turned * (2 * question->baseline - 1));
}

const PlannedMechanism plan_stable_erm = {
	.name = "stable_erm",
	.grounds =
		"measured on Adult alone: loss 0.85 (features / (n epsilon))^0.7; privacy: Dwork and Feldman, section 2.1. For numbers it is the first choice",
	.needs_size = true,
	.unsuitable = stable_erm_unsuitable,
	.price = plan_price_answers,
	.accuracy = stable_erm_accuracy,
};
