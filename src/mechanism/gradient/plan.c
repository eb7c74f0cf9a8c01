/*
 * gradient/plan.c
 *		What is expected of a linear model that is released.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/gradient/noise.h"
#include "mechanism/plan.h"
#include "server/number_text.h"

#define GRADIENT_STEPS 100 /* the mechanism's default */

static double
rho_of(const PlanQuestion *question, EpsilonUnits epsilon)
{
	return gradient_rho(plan_epsilon(epsilon), question->delta, GRADIENT_STEPS + 1);
}

static const char *
gradient_unsuitable(const PlanQuestion *question)
{
	return rho_of(question, question->epsilon) <= 0 ? "needs a larger epsilon or delta" : NULL;
}

static bool
gradient_price(const PlanQuestion *question, PlanResult *result)
{
	char delta[NUMBER_TEXT_SIZE];

	result->options = psprintf("{\"delta\": %s}", number_text(Min(question->delta, 0.1), delta));
	return plan_price_once(question, result);
}

static double
noise_of(double features, double rho, double units)
{
	return sqrt((features + 1) * 2 / rho) / units;
}

static double
gradient_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double rho = rho_of(question, result->epsilon);
	int	   outputs = question->classes > 2 ? question->classes : 1;
	double of_cuts = noise_of(question->features + question->cuts, rho, units);
	double plain = law_gradient(question->accuracy, question->features, question->classes, units,
								noise_of(question->features, rho, units));
	double features = law_cut_features(question->features, question->cuts);

	/* The rule of gradient.c, not the law, says whether cuts help: it was fitted to more tables. */
	result->cuts = question->cuts > 0 && of_cuts * sqrt(outputs) <= NOISE_FOR_CUTS;
	if (!result->cuts)
		return plain;
	return Max(plain, law_gradient(law_cut_accuracy(question->accuracy, units), features,
								   question->classes, units, noise_of(features, rho, units)));
}

const MechanismPlan plan_gradient = {
	.grounds = "measured: fitted to runs on five data sets, within 1.5 points of those with 36,000 "
			   "rows and more, cuts included; with 2,000 or fewer it may be 5 points off "
			   "(docs/planning.md); "
			   "privacy: docs/mechanisms.md, section 9",
	.needs_delta = true,
	.unsuitable = gradient_unsuitable,
	.price = gradient_price,
	.accuracy = gradient_accuracy,
};
