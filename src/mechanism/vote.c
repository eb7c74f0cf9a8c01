/*
 * vote.c
 *		The "vote" mechanism: subsample and aggregate.
 *
 * Each teacher saw one chunk of the units, so one unit moves one vote; the
 * label is drawn from the counts by vote_draw.c.
 */
#include "postgres.h"

#include "mechanism/mechanism.h"
#include "mechanism/vote_draw.h"

static void
vote_validate(int teachers, int nclasses, EpsilonUnits epsilon)
{
	if (teachers < 1 || teachers > PRIVPRED_MAX_TEACHERS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of teachers must be between 1 and %d", PRIVPRED_MAX_TEACHERS),
				 errhint("About 25 divided by epsilon is enough for two classes.")));
	if (nclasses < PRIVPRED_MIN_CLASSES || nclasses > PRIVPRED_MAX_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of classes must be between %d and %d",
						PRIVPRED_MIN_CLASSES, PRIVPRED_MAX_CLASSES),
				 errhint("List the classes that the model may answer.")));
	if (epsilon < EPSILON_MIN * EPSILON_UNITS_PER_ONE ||
		epsilon > EPSILON_PER_ANSWER_MAX * EPSILON_UNITS_PER_ONE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon of an answer must be between %g and %g",
						EPSILON_MIN, EPSILON_PER_ANSWER_MAX),
				 errhint("Typical values lie between 0.05 and 1.")));
}

/* Permute-and-flip is not of bounded range; the exponential mechanism is. */
static ChargeShape
vote_shape(bool order_is_infinite)
{
	return order_is_infinite ? CHARGE_PURE : CHARGE_BOUNDED_RANGE;
}

/* How many teachers could be fitted is secret; how many vote is not. */
static void
count_votes(const MechanismModel *model, const double *x, int32 *votes)
{
	int			absent = model->teachers - ensemble_members(model->ensemble);

	if (absent < 0 || ensemble_classes(model->ensemble) != model->nclasses ||
		model->nclasses > PRIVPRED_MAX_CLASSES ||
		model->default_class < 0 || model->default_class >= model->nclasses)
		elog(ERROR, "ensemble does not match its model");

	memset(votes, 0, sizeof(int32) * model->nclasses);
	ensemble_vote(model->ensemble, x, votes);
	votes[model->default_class] += absent;
}

static int
vote_answer(const LedgerReceipt *receipt, const MechanismModel *model, const double *x)
{
	int32		votes[PRIVPRED_MAX_CLASSES];

	if (receipt == NULL)
		elog(ERROR, "an answer needs a receipt");

	count_votes(model, x, votes);
	return vote_draw(ledger_order_is_infinite(receipt), model->epsilon,
					 model->nclasses, votes, model->teachers);
}

static void
vote_answer_distribution(bool order_is_infinite, const MechanismModel *model,
						 const double *x, double *probability)
{
	int32		votes[PRIVPRED_MAX_CLASSES];

	count_votes(model, x, votes);
	vote_distribution(order_is_infinite, model->epsilon, model->nclasses,
					  votes, model->teachers, probability);
}

static int
vote_answer_majority(const MechanismModel *model, const double *x)
{
	int32		votes[PRIVPRED_MAX_CLASSES];

	count_votes(model, x, votes);
	return vote_majority(model->nclasses, votes);
}

const Mechanism vote_mechanism = {
	.name = "vote",
	.charge_kind = "per_answer",
	.validate = vote_validate,
	.shape = vote_shape,
	.answer = vote_answer,
	.distribution = vote_answer_distribution,
	.majority = vote_answer_majority,
};
