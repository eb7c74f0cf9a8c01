/*
 * plan_hypotheses.c
 *		Plans of mechanisms that choose among simple classifiers: a threshold in
 *		one feature, and the like.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/cover/limits.h"
#include "mechanism/solve.h"
#include "server/number_text.h"
#include "request/plan.h"

/*
 * Of what a linear model gains over a guess, the best single feature (what
 * "cover" chose at epsilon 5) had 0.71 to 0.98 on six questions, 0.85 on average;
 * of what it gains over the commonest class 0.13 to 0.92, 0.55 on average.
 */
#define STUMP_SHARE 0.84
#define STUMP_SHARE_BEYOND 0.55

static double
stump_accuracy(const PlanQuestion *question)
{
	double beyond = question->accuracy - question->baseline;
	double share = STUMP_SHARE;

	if (question->features == 1)
		return question->accuracy;
	/* A baseline that is a guess changes nothing; half of the gain makes it lopsided. */
	if (question->baseline_declared)
		share -= (STUMP_SHARE - STUMP_SHARE_BEYOND) *
				 Min(2 * (question->baseline - 0.5) / Max(question->accuracy - 0.5, 1e-9), 1);
	return question->baseline + share * beyond;
}

static char *
two_classes(const PlanQuestion *question)
{
	return question->classes > 2 ? "for two classes" : NULL;
}

/* What an exponential mechanism among so many loses on average, per unit. */
static double
choice_loss(double candidates, double epsilon, double units)
{
	return 2 * (log(Max(candidates, 2)) + 1) / (epsilon * units);
}

/* ---------- threshold ---------- */

static const double threshold_alphas[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2};

static char *
threshold_unsuitable(const PlanQuestion *question)
{
	if (question->classes > 2 || question->features > 1)
		return "for two classes and one numeric feature";
	return NULL;
}

/* Section 7 of the book: empirical error above the best threshold's. */
static double
threshold_loss(const PlanQuestion *question, const PlanResult *result, double alpha, double units)
{
	double step = plan_epsilon(result->per_answer) / 2 / question->rows_per_unit;
	double limit = log((result->order_is_infinite ? 1 : 2) / alpha);

	return alpha / 2 + (limit + 1) / (step * units);
}

static double
threshold_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double least = 1;

	for (int i = 0; i < lengthof(threshold_alphas); i++)
	{
		double loss = threshold_loss(question, result, threshold_alphas[i], units);

		if (loss < least)
		{
			least = loss;
			result->options = psprintf("{\"alpha\": %g}", threshold_alphas[i]);
		}
	}
	return Max(question->accuracy - least, 0.5);
}

static double
threshold_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	return 12 * log(2 / PLAN_LOSS) * question->rows_per_unit /
		   (PLAN_LOSS * plan_epsilon(result->per_answer));
}

const PlannedMechanism plan_threshold = {
	.name = "threshold",
	.grounds =
		"theorem: error on the rows at most OPT + alpha/2 + (L+1)/(s n); 12 ln(2/a)/(a epsilon) rows give error e^epsilon (OPT + a), a = 0.02 (Dwork and Feldman, section 2.2); no lower bound for released thresholds applies",
	.needs_rows_per_unit = true,
	.preference = 0.01, /* no teachers to choose, and finds intervals, too */
	.unsuitable = threshold_unsuitable,
	.price = plan_price_answers,
	.accuracy = threshold_accuracy,
	.units_needed = threshold_units_needed,
};

/* ---------- stable_flip, stable, relabel ---------- */

static const double flips[] = {0.02, 0.05, 0.1, 0.2};

static double
stable_flip_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double highest = 0.5;

	for (int i = 0; i < lengthof(flips); i++)
	{
		StableParameters parameters = {.alpha = share_from_double(flips[i])};
		double			 q;
		double			 inner;
		double			 value;

		if (!stable_flip_solve(result->per_answer, false, false, &parameters))
			continue;
		q = share_to_double(parameters.q);
		inner = stump_accuracy(question) - 1 / (q * units) -
				choice_loss(2 * question->features * q * units,
							plan_epsilon(parameters.e) / question->rows_per_unit, units);
		value = flips[i] + (1 - 2 * flips[i]) * Max(inner, 0.5);
		if (value > highest || result->options == NULL)
		{
			highest = Max(value, highest);
			result->options = psprintf("{\"alpha\": %g}", flips[i]);
		}
	}
	return highest;
}

const PlannedMechanism plan_stable_flip = {
	.name = "stable_flip",
	.grounds =
		"theorem: Dagan and Feldman, Theorem 1 and Corollary 1, with the solver's q and e; the best single feature is taken to gain 0.84 of what a linear model does over a guess (0.71 to 0.98 measured), or 0.55 of what that gains over a declared baseline",
	.needs_rows_per_unit = true,
	.unsuitable = two_classes,
	.price = plan_price_answers,
	.accuracy = stable_flip_accuracy,
};

static char *
stable_unsuitable(const PlanQuestion *question)
{
	return "answers its owner alone: it is stable and not private, and no budget can pay for it";
}

const PlannedMechanism plan_stable = {
	.name = "stable",
	.grounds = "Dagan and Feldman, Theorem 1: (0, gamma)-stability",
	.unsuitable = stable_unsuitable,
};

static RelabelParameters
relabel_parameters(const PlanQuestion *question, double units)
{
	RelabelParameters parameters = {0};

	parameters.n_max = (int64) Min(Max(units, 1), RELABEL_N_MAX);
	parameters.rows_per_unit = question->rows_per_unit;
	parameters.features = question->features;
	parameters.alpha = share_from_double(ALPHA_DEFAULT);
	return parameters;
}

static double
relabel_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	RelabelParameters parameters = relabel_parameters(question, 1);

	return (double) relabel_n_needed(result->per_answer, &parameters);
}

/* Flips, and a net whose gaps hold alpha of the units. */
static double
relabel_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	RelabelParameters parameters = relabel_parameters(question, units);
	double			  inner;

	if (!relabel_solve(result->per_answer, false, false, false, &parameters))
	{
		result->why = "privacy itself needs more units";
		result->epsilon = 0; /* nothing to paste */
		return 0.5;
	}
	inner = stump_accuracy(question) - ALPHA_DEFAULT -
			choice_loss(2 * question->features * share_to_double(parameters.q) * units,
						2 * plan_epsilon(parameters.kappa), units);
	return ALPHA_DEFAULT + (1 - 2 * ALPHA_DEFAULT) * Max(inner, 0.5);
}

const PlannedMechanism plan_relabel = {
	.name = "relabel",
	.grounds =
		"theorem: Dagan and Feldman, Theorem 2, with the solver's constants; rows needed are those for privacy, accuracy takes ten times as many",
	.needs_size = true,
	.needs_rows_per_unit = true,
	.unsuitable = two_classes,
	.price = plan_price_answers,
	.accuracy = relabel_accuracy,
	.units_needed = relabel_units_needed,
};

/* ---------- released: cover, label_private, littlestone ---------- */

#define COVER_CUTS 63 /* inner cuts of a column */
#define COVER_BETA 0.05

static double
cover_candidates(const PlanQuestion *question)
{
	return question->features * (2.0 + 2 * COVER_CUTS);
}

/*
 * Few candidates come near the best, so it loses less than among so many alike:
 * on the same four, nothing from n epsilon = 1000 on and 0.01 at 120 to 400.
 */
#define COVER_LOSS 0.25

static double
cover_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double loss =
		COVER_LOSS * choice_loss(cover_candidates(question), plan_epsilon(result->epsilon), units);

	return Max(stump_accuracy(question) - loss, 0.5);
}

static double
cover_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	CoverPlan plan = {plan_epsilon(result->epsilon), PLAN_LOSS, COVER_BETA, false};

	return ceil(cover_units_for(&plan, cover_candidates(question)));
}

const PlannedMechanism plan_cover = {
	.name = "cover",
	.grounds =
		"theorem: Chaudhuri and Hsu, Theorem 8 with smaller constants; rows needed are those to be within 0.02 of the best single feature, which is taken to gain 0.84 of what a linear model does over a guess, or 0.55 of what that gains over a declared baseline",
	.needs_size = true,
	.unsuitable = two_classes,
	.price = plan_price_once,
	.accuracy = cover_accuracy,
	.units_needed = cover_units_needed,
};

static char *
label_private_unsuitable(const PlanQuestion *question)
{
	if (!question->protects_labels)
		return "only for tables under protects => 'labels', where who is in the table and all features are public";
	return two_classes(question);
}

const PlannedMechanism plan_label_private = {
	.name = "label_private",
	.grounds = "theorem: Chaudhuri and Hsu, section 4, on the rows' own features",
	.needs_size = true,
	.unsuitable = label_private_unsuitable,
	.price = plan_price_once,
	.accuracy = cover_accuracy,
	.units_needed = cover_units_needed,
};

/* Batches that see most points: 105 units of each were enough in the tests. */
#define LITTLESTONE_BATCH 105
#define LITTLESTONE_POINTS 16

static char *
littlestone_unsuitable(const PlanQuestion *question)
{
	if (question->classes > 2 || question->features > 1)
		return "for two classes and one feature, or a finite class in a public table";
	if (question->delta == 0)
		return "needs a budget with delta, such as 1e-6";
	if (question->accuracy < 0.99)
		return "needs a classifier that is never wrong; accuracy is below 0.99";
	return NULL;
}

static double
littlestone_delta(const PlanQuestion *question)
{
	return question->delta / 2;
}

static bool
littlestone_price(const PlanQuestion *question, PlanResult *result)
{
	RenyiGrant	 grant = {.epsilon = question->epsilon, .delta = question->delta, .once = true};
	EpsilonUnits half = question->epsilon / 4;
	RenyiPlan	 plan;
	char		 delta[NUMBER_TEXT_SIZE];

	/* Half of epsilon at most, so that a finite order may pay, too. */
	grant.finite.part[0].shape = CHARGE_PURE;
	grant.finite.part[1].shape = CHARGE_BOUNDED_RANGE;
	for (int i = 0; i < CHARGE_PARTS; i++)
	{
		grant.finite.part[i].times = 1;
		grant.finite.part[i].epsilon = half;
	}
	if (!renyi_choose(&grant, 0, RENYI_ORDER_INFINITE, &plan) || plan.answers < 1)
	{
		result->why = "the budget does not pay for it";
		return false;
	}
	(void) plan_price_once(question, result);
	result->epsilon = 2 * half;
	result->total_delta = question->delta;
	result->options = psprintf("{\"delta\": %s, \"points\": %d}",
							   number_text(littlestone_delta(question), delta), LITTLESTONE_POINTS);
	return true;
}

static double
littlestone_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	double agree = 4 / plan_epsilon(result->epsilon) * log(1 / littlestone_delta(question));

	return ceil(3 * agree * LITTLESTONE_BATCH);
}

static double
littlestone_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	if (units < littlestone_units_needed(question, result))
		return 0.5;
	return question->accuracy - 0.5 / LITTLESTONE_POINTS;
}

const PlannedMechanism plan_littlestone = {
	.name = "littlestone",
	.grounds =
		"measured: 189 batches of 105 units learn thresholds over 16 points; the theorem (Bun, Livni and Moran) asks for batches doubly exponential in the Littlestone dimension, here 2^(2^6 + 1) units and more",
	.needs_size = true,
	.unsuitable = littlestone_unsuitable,
	.price = littlestone_price,
	.accuracy = littlestone_accuracy,
	.units_needed = littlestone_units_needed,
};
