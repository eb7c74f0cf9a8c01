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

/* Permute-and-flip is not of bounded range; the exponential mechanism is. */
static ChargeShape
vote_shape(bool order_is_infinite)
{
	return order_is_infinite ? CHARGE_PURE : CHARGE_BOUNDED_RANGE;
}

static void
count_votes(const MechanismModel *model, const double *x, int32 *votes)
{
	memset(votes, 0, sizeof(int32) * model->nclasses);
	ensemble_vote(model->ensemble, x, votes);
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

int
teachers_majority(const MechanismModel *model, const double *x)
{
	int32		votes[PRIVPRED_MAX_CLASSES];

	count_votes(model, x, votes);
	return vote_majority(model->nclasses, votes);
}

const Mechanism vote_mechanism = {
	.name = "vote",
	.charge_kind = "per_answer",
	.shape = vote_shape,
	.answer = vote_answer,
	.distribution = vote_answer_distribution,
	.majority = teachers_majority,
};
