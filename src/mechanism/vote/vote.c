/*
 * vote.c
 *		The "vote" mechanism: subsample and aggregate.
 *
 * Each teacher saw one chunk of the units, so one unit moves one vote; the
 * label is drawn from the counts (draw.c, gaussian.c).
 */
#include "postgres.h"

#include "draw/record.h"
#include "mechanism/audit.h"
#include "mechanism/teachers.h"
#include "mechanism/vote/draw.h"
#include "mechanism/vote/vote.h"

/*
 * ---------- noise ----------
 *
 * At finite orders the option "noise" decides.  At the same price Gaussian noise
 * is the more accurate from seven classes on: with 100 teachers that are right
 * 65 to 90 times in 100, it loses up to 3 points with two classes and 2 with
 * five, and gains up to 3 with ten, 8 with twenty and 23 with a hundred.  Epsilon
 * does not bound its price, as it does for the exponential mechanism from the
 * order 8 / epsilon on; small budgets have orders of about 30, hence the largest
 * epsilon for which Gaussian noise is chosen.
 */
static const char *const noises[] = {"exponential", "gaussian", NULL};
static const Option		 options_of[] = {CHOICE_OPTION("noise", noises), {NULL}};

/* A vote that moves changes two counts by one each. */
#define VOTE_SQUARES 2

#define GAUSSIAN_CLASSES 7
#define GAUSSIAN_EPSILON (EPSILON_UNITS_PER_ONE / 4)

bool
vote_noise_is_gaussian(const MechanismSpec *spec)
{
	bool usually = spec->nclasses >= GAUSSIAN_CLASSES && spec->epsilon <= GAUSSIAN_EPSILON &&
				   spec->epsilon >= VOTE_GAUSSIAN_MIN;

	return option_or(spec->options, options_of, usually) == 1;
}

static bool
vote_answers_at(const MechanismSpec *spec)
{
	return !vote_noise_is_gaussian(spec) || spec->epsilon >= VOTE_GAUSSIAN_MIN;
}

static void
vote_validate(const MechanismSpec *spec)
{
	if (!vote_answers_at(spec))
		refuse(errmsg("Gaussian noise needs an epsilon of at least %g",
					  epsilon_real(VOTE_GAUSSIAN_MIN)),
			   errhint("Use the option \"noise\": \"exponential\"."));
}

/* What is charged is the noise that is drawn, to the last bit. */
static bool
vote_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge)
{
	ChargePart *part = &charge->part[0];

	part->times = 1;
	if (!order_is_infinite && vote_noise_is_gaussian(spec))
	{
		part->shape = CHARGE_GAUSSIAN;
		vote_variance(spec->epsilon, &part->denominator, &part->numerator);
		part->numerator *= VOTE_SQUARES;
		return true;
	}
	part->shape = order_is_infinite ? CHARGE_PURE : CHARGE_BOUNDED_RANGE;
	part->epsilon = spec->epsilon;
	return true;
}

static int
vote_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	int32 votes[PRIVPRED_MAX_CLASSES];

	teachers_votes(model, x, votes);
	if (!receipt_order_is_infinite(receipt) && model->gaussian_noise)
	{
		RECORD_INPUT("gaussian", INPUT_SQUARES, VOTE_SQUARES, model->spec->nclasses, votes);
		return vote_draw_gaussian(model->spec->epsilon, model->spec->nclasses, votes);
	}
	RECORD_INPUT("vote", INPUT_SUM, 2, model->spec->nclasses, votes);
	return vote_draw(receipt_order_is_infinite(receipt), model->spec->epsilon,
					 model->spec->nclasses, votes, model->spec->teachers);
}

static void
distribution_with(bool order_is_infinite, bool gaussian, const MechanismModel *model,
				  const double *x, double *probability)
{
	const MechanismSpec *spec = model->spec;
	int32				 votes[PRIVPRED_MAX_CLASSES];

	teachers_votes(model, x, votes);
	if (gaussian && !order_is_infinite)
		vote_distribution_gaussian(spec->epsilon, spec->nclasses, votes, probability);
	else
		vote_distribution(order_is_infinite, spec->epsilon, spec->nclasses, votes, spec->teachers,
						  probability);
}

static void
vote_noise_distribution(bool gaussian, const MechanismModel *model, const double *x,
						double *probability)
{
	distribution_with(false, gaussian, model, x, probability);
}

static void
vote_answer_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
						 double *probability)
{
	distribution_with(order_is_infinite, model->gaussian_noise, model, x, probability);
}

const Mechanism vote_mechanism = {
	.name = "vote",
	.charge_kind = CHARGE_PER_ANSWER,
	.asks_teachers = true,
	.options = options_of,
	.validate = vote_validate,
	.finite_shape = CHARGE_BOUNDED_RANGE, /* the exponential mechanism; permute-and-flip is not */
	.charge = vote_charge,
	.answer = vote_answer,
	.distribution = vote_answer_distribution,
	.noise_distribution = vote_noise_distribution,
	.majority = teachers_majority,
	.answers_at = vote_answers_at,
	.plan = &plan_vote,
	.audit_cases = vote_audit_cases,
};
