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

static CoverPlan
rate_plan(const PlanResult *result, bool realizable)
{
	return (CoverPlan){plan_epsilon(result->epsilon), PLAN_LOSS, COVER_BETA, realizable};
}

/* One feature that plain regression never errs on has a cut that never errs. */
static bool
never_errs(const PlanQuestion *question)
{
	return question->features == 1 && question->accuracy == 1;
}

static bool
cover_price(const PlanQuestion *question, PlanResult *result)
{
	if (never_errs(question))
		result->options = "{\"realizable\": true}";
	return plan_price_once(question, result);
}

static double
cover_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	CoverPlan plan = rate_plan(result, never_errs(question));

	return ceil(cover_units_for(&plan, candidates(question)));
}

/* Both upper bounds: for the candidates here, and for a class of as many dimensions as features. */
static char *
cover_rates(const PlanQuestion *question, const PlanResult *result)
{
	CoverPlan plain = rate_plan(result, false);
	CoverPlan realizable = rate_plan(result, true);
	double	  count = candidates(question);

	return psprintf("within %g of the best of these with probability %g: n >= %.0f, or %.0f if "
					"one of them never errs (Theorem 9); of any class of doubling dimension %d, "
					"smooth features: n >= %.0f, or %.0f",
					PLAN_LOSS, 1 - COVER_BETA, ceil(cover_units_for(&plain, count)),
					ceil(cover_units_for(&realizable, count)), question->features,
					ceil(cover_units_for_dimension(&plain, question->features)),
					ceil(cover_units_for_dimension(&realizable, question->features)));
}

/* A rule says two of the classes; how accurate that is among more was not measured. */
static const char *
cover_unsuitable(const PlanQuestion *question)
{
	return question->classes > 2 ? "a rule says two of the classes only, and how accurate that is "
								   "with more was not measured"
								 : NULL;
}

#define SHARED_PLAN \
	.unsuitable = cover_unsuitable, .price = cover_price, .accuracy = cover_accuracy, \
	.units_needed = cover_units_needed, .rates = cover_rates

const MechanismPlan plan_cover = {
	.grounds =
		"theorem: Chaudhuri and Hsu, Theorem 8 with smaller constants; rows needed are those "
		"to be within 0.02 of the best single feature, which is taken to gain 0.84 of what a "
		"linear model does over a guess, or 0.55 of what that gains over a declared baseline",
	.one_rule = true,
	.pure_release = true,
	SHARED_PLAN,
};

const MechanismPlan plan_label_private = {
	.grounds = "theorem: Chaudhuri and Hsu, section 4, on the rows' own features",
	.one_rule = true,
	.pure_release = true,
	SHARED_PLAN,
};
