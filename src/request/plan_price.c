/*
 * plan_price.c
 *		What a budget buys of each mechanism, by the accountant's own arithmetic.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/mechanism.h"
#include "request/plan.h"

/* Suggested epsilons are multiples of this, so that people can read them. */
#define PLAN_STEP (EPSILON_UNITS_PER_ONE / 1000000)
#define PLAN_LARGEST ((EpsilonUnits) EPSILON_PER_ANSWER_MAX * EPSILON_UNITS_PER_ONE)

double
plan_epsilon(EpsilonUnits units)
{
	return (double) units / EPSILON_UNITS_PER_ONE;
}

/* Sets per_answer and the kind of account; false if even the least is too much. */
bool
plan_per_answer(const PlanQuestion *question, const char *mechanism, int64 answers,
				PlanResult *result)
{
	const Mechanism *sold = mechanism_lookup(mechanism);
	RenyiGrant		 grant = {.epsilon = question->epsilon, .delta = question->delta};
	RenyiPlan		 plan;

	grant.finite.part[0].shape = sold->finite_shape;
	grant.infinite.part[0].shape = sold->infinite_shape;
	grant.finite.part[0].times = grant.infinite.part[0].times = 1;
	/* Where Gaussian noise is an option, it has the price of bounded range. */
	if (grant.finite.part[0].shape == CHARGE_GAUSSIAN)
		grant.finite.part[0].shape = CHARGE_BOUNDED_RANGE;
	if (!renyi_per_answer(&grant, answers, PLAN_STEP, PLAN_LARGEST, &plan))
	{
		result->answers_bought = plan.answers;
		return false;
	}
	result->per_answer = grant.finite.part[0].epsilon;
	result->order_is_infinite = plan.order == RENYI_ORDER_INFINITE;
	result->answers_bought = plan.answers;
	return true;
}

bool
plan_price_answers(const PlanQuestion *question, PlanResult *result)
{
	if (!plan_per_answer(question, result->mechanism->name, question->answers, result))
	{
		result->why = psprintf("the budget buys %.0f answers at most", result->answers_bought);
		return false;
	}
	result->epsilon = result->per_answer;
	result->total = question->epsilon;
	result->total_delta = result->order_is_infinite ? 0 : question->delta;
	return true;
}

/* All of the budget for one model, then any number of answers. */
bool
plan_price_once(const PlanQuestion *question, PlanResult *result)
{
	result->epsilon = Min(question->epsilon, PLAN_LARGEST);
	result->total = result->epsilon;
	result->order_is_infinite = question->delta == 0;
	result->answers_bought = PLAN_ANY_NUMBER;
	return true;
}
