/*
 * audit.c
 *		Audit cases of released accuracies, for models that hold units out.
 *
 * One teacher, who is asked about rows that are held out.  It changes its mind
 * with the one unit that trains it, as far as a price of an answer allows.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/accuracy/accuracy.h"
#include "mechanism/audit.h"
#include "mechanism/vote/vote.h"

#define RELEASED_FOR 1 /* epsilon of the accuracy */
#define MEASURED 1000  /* units, so that one that is held out hardly matters */
#define SURE (INT64CONST(20) * EPSILON_UNITS_PER_ONE)

enum
{
	TRAINS,	 /* a unit that trains moves all answers by as much as its price allows */
	HELD_OUT /* of a model that is known: the only unit that is measured is right, or not */
};

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	bool		 once = model->mechanism->charge_kind == CHARGE_ONCE;
	EpsilonUnits price = charge_units(&model->infinite, RENYI_ORDER_INFINITE);

	if (audit->part == HELD_OUT ? !once
								: model->mechanism->charge_kind != CHARGE_PER_ANSWER || price <= 0)
		return false;
	audit->mechanism = &vote_mechanism;
	audit->epsilon = once ? SURE : Min(price, SURE);
	audit->charge = once ? NULL : &model->infinite;
	audit->bound = 1 / (1 + exp(-(double) audit->epsilon / EPSILON_UNITS_PER_ONE));
	/* what is measured is rounded */
	audit->bound = floor(audit->bound * ACCURACY_ONE) / ACCURACY_ONE;
	audit->run_epsilon = RELEASED_FOR * EPSILON_UNITS_PER_ONE;
	audit_votes(audit, true);
	return true;
}

#define CASE \
	.complete = complete, .votes = {"a", "b"}, .question = {1}, .infinite = true, \
	.event = EVENT_ACCURACY, .events = {"a high accuracy", "a low accuracy"}, .likely = 0.5, \
	.what = "accuracy released for 1", .claim = {TEST_RATIO, RELEASED_FOR, 0}

const AuditCase accuracy_audit_cases[] = {
	{CASE, .part = TRAINS, .measured = MEASURED,
	 .pair = "a unit that trains turns what is measured on others"},
	{CASE, .part = HELD_OUT, .measured = 1,
	 .pair = "the only unit that is measured is right or not"},
	{0},
};
