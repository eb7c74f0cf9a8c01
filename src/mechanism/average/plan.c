/*
 * average/plan.c
 *		What is expected of a random teacher's opinion.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/plan.h"

/* create_model refuses fewer. */
static double
fewest_teachers(const PlanResult *result)
{
	return 2 * ceil(1 / expm1(plan_epsilon(result->per_answer)));
}

static double
average_ensemble(const PlanQuestion *question, const TeacherLaw *law, int teachers,
				 PlanResult *result)
{
	return teachers < fewest_teachers(result)
			   ? -1
			   : law_average(law, teachers, plan_epsilon(result->per_answer));
}

static double
average_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double value = plan_best_ensemble(question, units, average_ensemble, result);

	if (value < 0)
	{
		result->why = psprintf("needs %.0f teachers at this epsilon, more than so many rows allow",
							   fewest_teachers(result));
		result->epsilon = 0;
	}
	return Max(value, 0.5);
}

const MechanismPlan plan_average = {
	.grounds =
		"the law of votes of \"vote\"; for answers that are to be counted; privacy: Dwork and "
		"Feldman, section 2.1",
	.price = plan_price_answers,
	.accuracy = average_accuracy,
};
