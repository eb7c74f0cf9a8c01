/*
 * average/plan.c
 *		What is expected of a random teacher's opinion.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/plan.h"

/* create_model refuses fewer. */
static double
fewest_teachers(const PlanQuestion *question, const PlanResult *result)
{
	return (question->classes == 2 ? 2 : 1) * ceil(1 / expm1(plan_epsilon(result->per_answer)));
}

/* Of more than two classes, each may have that much more weight than votes. */
static double
average_ensemble(const PlanQuestion *question, const TeacherLaw *law, int teachers,
				 PlanResult *result)
{
	double fewest = fewest_teachers(question, result);

	if (teachers < fewest)
		return -1;
	if (question->classes == 2)
		return law_average(law, teachers, plan_epsilon(result->per_answer));
	return law_single(law) * teachers / (teachers + (question->classes - 1) * fewest);
}

static double
average_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double value = plan_best_ensemble(question, units, average_ensemble, result);

	if (value < 0)
	{
		result->why = psprintf("needs %.0f teachers at this epsilon, more than so many rows allow",
							   fewest_teachers(question, result));
		result->epsilon = 0;
	}
	return Max(value, 1.0 / question->classes);
}

const MechanismPlan plan_average = {
	.grounds =
		"the law of votes of \"vote\"; for answers that are to be counted; privacy: Dwork and "
		"Feldman, section 2.1",
	.price = plan_price_answers,
	.accuracy = average_accuracy,
};
