/*
 * cover/plan.c
 *		What is expected of one of many candidates: cover, label_private.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/cover/limits.h"
#include "mechanism/plan.h"

#define COVER_CUTS 63 /* inner cuts of a column */
#define COVER_BETA 0.05

/*
 * Few candidates come near the best, so the choice loses less than among so many
 * alike: on six questions nothing from n epsilon = 1000 on, and 0.01 at 120 to 400.
 */
#define COVER_LOSS 0.25

static double
candidates(const PlanQuestion *question)
{
	return question->features * (2.0 + 2 * COVER_CUTS);
}

static double
cover_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double loss = plan_choice_loss(candidates(question), plan_epsilon(result->epsilon), units);

	return Max(plan_stump_accuracy(question) - COVER_LOSS * loss, 1.0 / question->classes);
}

static double
cover_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	CoverPlan plan = {plan_epsilon(result->epsilon), PLAN_LOSS, COVER_BETA, false};

	return ceil(cover_units_for(&plan, candidates(question)));
}

const MechanismPlan plan_cover = {
	.grounds =
		"theorem: Chaudhuri and Hsu, Theorem 8 with smaller constants; rows needed are those "
		"to be within 0.02 of the best single feature, which is taken to gain 0.84 of what a "
		"linear model does over a guess, or 0.55 of what that gains over a declared baseline",
	.one_rule = true,
	.pure_release = true,
	.price = plan_price_once,
	.accuracy = cover_accuracy,
	.units_needed = cover_units_needed,
};

const MechanismPlan plan_label_private = {
	.grounds = "theorem: Chaudhuri and Hsu, section 4, on the rows' own features",
	.one_rule = true,
	.pure_release = true,
	.price = plan_price_once,
	.accuracy = cover_accuracy,
	.units_needed = cover_units_needed,
};
