/*
 * answer.c
 *		The one door through which every draw goes.
 *
 * A mechanism's answer() and score() are called from here alone
 * (test/check_floors.sh), so that no draw is made without a receipt.
 */
#include "postgres.h"

#include "mechanism/mechanism.h"

static inline void
check_receipt(const Receipt *receipt)
{
	if (unlikely(receipt == NULL))
		elog(ERROR, "an answer needs a receipt");
}

int
mechanism_answer(const Mechanism *mechanism, const Receipt *receipt, const MechanismModel *model,
				 const double *x)
{
	check_receipt(receipt);
	return mechanism->answer(receipt, model, x);
}

bool
mechanism_score(const Mechanism *mechanism, const Receipt *receipt, const MechanismModel *model,
				const double *x, double precision, double *score)
{
	check_receipt(receipt);
	return mechanism->score(receipt, model, x, precision, score);
}
