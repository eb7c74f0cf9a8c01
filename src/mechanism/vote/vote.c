/*
 * vote.c
 *		The "vote" mechanism: subsample and aggregate.
 *
 * Each teacher saw one chunk of the units, so one unit moves one vote; the
 * label is drawn from the counts by vote_draw.c.
 */
#include "postgres.h"

#include "mechanism/audit.h"
#include "mechanism/mechanism.h"
#include "mechanism/vote/draw.h"

/* Permute-and-flip is not of bounded range; the exponential mechanism is. */
static ChargeShape
vote_shape(bool order_is_infinite)
{
	return order_is_infinite ? CHARGE_PURE : CHARGE_BOUNDED_RANGE;
}

void
teachers_votes(const MechanismModel *model, const double *x, int32 *votes)
{
	if (model->votes != NULL)
	{
		memcpy(votes, model->votes, sizeof(int32) * model->spec->nclasses);
		return;
	}
	memset(votes, 0, sizeof(int32) * model->spec->nclasses);
	ensemble_vote(model->ensemble, x, votes);
}

/*
 * ---------- noise ----------
 *
 * At finite orders, by the option "noise".  At one price Gaussian noise is the
 * more accurate from seven classes on: for 100 teachers that are right 65 to
 * 90 times in 100, it loses up to 3 points with two classes, 2 with five and
 * gains up to 3 with ten, 8 with twenty and 23 with a hundred.  Its price has
 * no bound by epsilon, which binds at the order 8 / epsilon; small budgets have
 * orders about 30, hence the largest epsilon that it is chosen for.
 */
static const char *const noises[] = {"exponential", "gaussian", NULL};

#define GAUSSIAN_CLASSES 7
#define GAUSSIAN_EPSILON (EPSILON_UNITS_PER_ONE / 4)

bool
vote_noise_is_gaussian(const MechanismSpec *spec)
{
	if (option_given(spec, "noise"))
		return option_choice(spec, "noise", noises) == 1;
	return spec->nclasses >= GAUSSIAN_CLASSES && spec->epsilon <= GAUSSIAN_EPSILON &&
		   spec->epsilon >= VOTE_GAUSSIAN_MIN;
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
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("Gaussian noise needs an epsilon of at least %g",
							   (double) VOTE_GAUSSIAN_MIN / EPSILON_UNITS_PER_ONE),
						errhint("Use the option \"noise\": \"exponential\".")));
}

/* What is charged is the noise that is drawn, to the last bit. */
static bool
vote_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge)
{
	uint64 numerator;
	uint64 denominator;

	charge->part[0].times = 1;
	charge->part[0].shape = vote_shape(order_is_infinite);
	if (order_is_infinite || !vote_noise_is_gaussian(spec))
	{
		charge->part[0].epsilon = spec->epsilon;
		return true;
	}
	vote_variance(spec->epsilon, &numerator, &denominator);
	charge->part[0].shape = CHARGE_GAUSSIAN;
	charge->part[0].numerator = 2 * denominator;
	charge->part[0].denominator = numerator;
	return true;
}

static int
vote_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	int32 votes[PRIVPRED_MAX_CLASSES];

	teachers_votes(model, x, votes);
	if (!receipt_order_is_infinite(receipt) && model->gaussian_noise)
		return vote_draw_gaussian(model->spec->epsilon, model->spec->nclasses, votes);
	return vote_draw(receipt_order_is_infinite(receipt), model->spec->epsilon,
					 model->spec->nclasses, votes, model->spec->teachers);
}

static void
vote_noise_distribution(bool gaussian, const MechanismModel *model, const double *x,
						double *probability)
{
	int32 votes[PRIVPRED_MAX_CLASSES];

	teachers_votes(model, x, votes);
	if (gaussian)
		vote_distribution_gaussian(model->spec->epsilon, model->spec->nclasses, votes, probability);
	else
		vote_distribution(false, model->spec->epsilon, model->spec->nclasses, votes,
						  model->spec->teachers, probability);
}

static void
vote_answer_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
						 double *probability)
{
	int32 votes[PRIVPRED_MAX_CLASSES];

	if (!order_is_infinite && model->gaussian_noise)
	{
		vote_noise_distribution(true, model, x, probability);
		return;
	}
	teachers_votes(model, x, votes);
	vote_distribution(order_is_infinite, model->spec->epsilon, model->spec->nclasses, votes,
					  model->spec->teachers, probability);
}

int
teachers_majority(const MechanismModel *model, const double *x)
{
	int32 votes[PRIVPRED_MAX_CLASSES];

	teachers_votes(model, x, votes);
	return vote_majority(model->spec->nclasses, votes);
}

extern const MechanismPlan plan_vote;		   /* plan.c */
extern const AuditCase	   vote_audit_cases[]; /* audit.c */

const Mechanism vote_mechanism = {
	.name = "vote",
	.charge_kind = CHARGE_PER_ANSWER,
	.asks_teachers = true,
	.option_keys = "noise",
	.validate = vote_validate,
	.shape = vote_shape,
	.charge = vote_charge,
	.answer = vote_answer,
	.distribution = vote_answer_distribution,
	.noise_distribution = vote_noise_distribution,
	.majority = teachers_majority,
	.answers_at = vote_answers_at,
	.plan = &plan_vote,
	.audit_cases = vote_audit_cases,
};
