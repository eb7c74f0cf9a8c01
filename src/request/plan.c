/*
 * plan.c
 *		privpred.plan(): what every mechanism makes of one question.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "request/plan.h"

/* Rows to search among: from ten to ten thousand million, in steps of 4 %. */
#define SEARCH_FIRST 10.0
#define SEARCH_STEPS 512
#define SEARCH_RATIO 1.0413

double
plan_target(const PlanQuestion *question)
{
	return Max(question->accuracy - PLAN_LOSS, 1.0 / question->classes);
}

/* More rows never hurt, so bisect. */
static double
search_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	int low = -1;
	int high = SEARCH_STEPS;

	while (high - low > 1)
	{
		int		   middle = (low + high) / 2;
		PlanResult tried = *result;
		double	   units = SEARCH_FIRST * pow(SEARCH_RATIO, middle);

		CHECK_FOR_INTERRUPTS();
		if (result->mechanism->plan->accuracy(question, units, &tried) >= plan_target(question))
			high = middle;
		else
			low = middle;
	}
	return high == SEARCH_STEPS ? PLAN_NEVER : ceil(SEARCH_FIRST * pow(SEARCH_RATIO, high));
}

/* Why it is out of the question whatever the size; NULL: it is not. */
static const char *
unsuitable(const PlanQuestion *question, const Mechanism *mechanism)
{
	const MechanismPlan *plan = mechanism->plan;

	if (mechanism->owner_only)
		return "answers its owner alone: it is stable and not private, and no budget can pay "
			   "for it";
	if (mechanism->labels_only && !question->protects_labels)
		return "only for tables under protects => 'labels', where who is in the table and all "
			   "features are public";
	if ((mechanism->two_classes && question->classes > 2) ||
		(plan->one_feature && question->features > 1))
		return psprintf("for %s", plan->scope ? plan->scope : "two classes");
	if (plan->needs_delta && question->delta == 0)
		return "needs a budget with delta, such as 1e-6";
	return plan->unsuitable ? plan->unsuitable(question) : NULL;
}

static PlanResult *
plan_one(const PlanQuestion *question, const Mechanism *mechanism)
{
	const MechanismPlan *plan = mechanism->plan;
	PlanResult			*result = palloc0_object(PlanResult);

	result->mechanism = mechanism;
	result->accuracy = NAN;
	result->why = unsuitable(question, mechanism);
	if (result->why != NULL || !plan->price(question, result))
		return result;
	result->rows_needed = plan->units_needed ? plan->units_needed(question, result)
											 : search_units_needed(question, result);
	if (question->units > 0)
		result->accuracy = plan->accuracy(question, question->units, result);
	else
	{
		/* Parameters for the rows that are needed, which are enough. */
		(void) plan->accuracy(question, Max(result->rows_needed, 1000), result);
		result->why = NULL;
	}
	return result;
}

List *
request_plan(const PlanQuestion *question)
{
	List			*results = NIL;
	const Mechanism *mechanism;

	while ((mechanism = mechanism_number(list_length(results))) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		results = lappend(results, plan_one(question, mechanism));
	}
	return results;
}
