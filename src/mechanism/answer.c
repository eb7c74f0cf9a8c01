/*
 * answer.c
 *		The one door through which every draw goes.
 *
 * Models that are charged once draw nothing more: their randomness was spent
 * when they were trained.
 *
 * A mechanism's answer() and score() are called from here alone
 * (test/check_floors.sh), so that no draw is made without a receipt.
 */
#include "postgres.h"

#include "draw/record.h"
#include "mechanism/accuracy/accuracy.h"
#include "mechanism/describe/describe.h"
#include "mechanism/mechanism.h"

static inline void
check_receipt(const Receipt *receipt)
{
	if (unlikely(receipt == NULL))
		elog(ERROR, "an answer needs a receipt");
	RECORD_COINS(1);
}

int
mechanism_answer(const Mechanism *mechanism, const Receipt *receipt, const MechanismModel *model,
				 const double *x)
{
	check_receipt(receipt);
	if (mechanism->charge_kind == CHARGE_ONCE)
		return mechanism->majority(model, x);
	return mechanism->answer(receipt, model, x);
}

bool
mechanism_score(const Mechanism *mechanism, const Receipt *receipt, const MechanismModel *model,
				const double *x, double precision, double *score)
{
	check_receipt(receipt);
	if (mechanism->charge_kind != CHARGE_ONCE)
		return mechanism->score(receipt, model, x, precision, score);
	*score = mechanism->plain_score(model, x);
	return true;
}

void
mechanism_describe(const Receipt *receipt, const DescribeNoise *noise, int count,
				   Histogram *histograms, LevelSource *levels)
{
	check_receipt(receipt);
	describe_draw(noise, count, histograms, levels);
}

int64
mechanism_accuracy(const Receipt *receipt, int64 mean, int64 sensitivity, EpsilonUnits epsilon)
{
	check_receipt(receipt);
	return accuracy_draw(mean, sensitivity, epsilon);
}

void
mechanism_distribution(const Mechanism *mechanism, bool order_is_infinite,
					   const MechanismModel *model, const double *x, double *probability)
{
	if (mechanism->charge_kind != CHARGE_ONCE)
	{
		mechanism->distribution(order_is_infinite, model, x, probability);
		return;
	}
	memset(probability, 0, model->spec->nclasses * sizeof(double));
	probability[mechanism->majority(model, x)] = 1;
}
