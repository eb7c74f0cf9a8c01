/*
 * median.c
 *		The "median" mechanism: the median of what teachers say, for classes in an order.
 *
 * Classes are in the order of their declaration, bins in that of numbers.  Where a vote counts
 * only those who agree exactly, here teachers who err to either side hold each other up.
 */
#include "postgres.h"

#include "draw/record.h"
#include "mechanism/audit.h"
#include "mechanism/median/draw.h"
#include "mechanism/teachers.h"

static int
median_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	const MechanismSpec *spec = model->spec;
	int32				 votes[PRIVPRED_MAX_CLASSES];

	teachers_votes(model, x, votes);
	RECORD_INPUT("median", INPUT_SUM, 2, spec->nclasses, votes);
	return median_draw(receipt_order_is_infinite(receipt), spec->epsilon, spec->nclasses, votes,
					   spec->teachers);
}

static void
median_answer_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
						   double *probability)
{
	const MechanismSpec *spec = model->spec;
	int32				 votes[PRIVPRED_MAX_CLASSES];

	teachers_votes(model, x, votes);
	median_distribution(order_is_infinite, spec->epsilon, spec->nclasses, votes, spec->teachers,
						probability);
}

static int
median_majority(const MechanismModel *model, const double *x)
{
	int32 votes[PRIVPRED_MAX_CLASSES];

	teachers_votes(model, x, votes);
	return median_plain(model->spec->nclasses, votes, model->spec->teachers);
}

static bool
median_answers_at(const MechanismSpec *spec)
{
	return true;
}

const Mechanism median_mechanism = {
	.name = "median",
	.charge_kind = CHARGE_PER_ANSWER,
	.asks_teachers = true,
	.finite_shape = CHARGE_BOUNDED_RANGE, /* the exponential mechanism; permute-and-flip is not */
	.answer = median_answer,
	.distribution = median_answer_distribution,
	.majority = median_majority,
	.answers_at = median_answers_at,
	.plan = &plan_median,
	.audit_cases = median_audit_cases,
};
