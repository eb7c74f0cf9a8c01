/*
 * distill/plan.c
 *		What is expected of a student.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/plan.h"

static const int label_counts[] = {100, 200, 400, 800, 1600, 3200, 6400};

static bool
distill_price(const PlanQuestion *question, PlanResult *result)
{
	StaticAssertStmt(lengthof(label_counts) <= PLAN_PRICES, "too many numbers of labels");
	for (int i = 0; i < lengthof(label_counts); i++)
	{
		if (!plan_per_answer(question, &vote_mechanism, label_counts[i], result))
			break;
		result->prices[i] = result->per_answer;
		result->prices_infinite[i] = result->order_is_infinite;
	}
	if (result->prices[0] == 0)
	{
		result->why = "the budget does not pay for 100 labels";
		return false;
	}
	(void) plan_price_once(question, result);
	result->total_delta = question->delta;
	return true;
}

/* Variance of a student per feature and row: without wrong labels, and what they add. */
#define STUDENT_CLEAN 0.25
#define STUDENT_NOISE 6.0

/*
 * The student learns from labels, a share of which the draw turned at random.
 * That weakens what it sees by a factor, whose square it costs in rows, and
 * makes each row less certain (fitted to students on Adult).  Turned labels go
 * to all classes alike, so more classes take the root of what teachers need.
 */
static double
student_accuracy(const PlanQuestion *question, double label_accuracy, int labels)
{
	double		guess = 1.0 / question->classes;
	double		plain = Max(question->accuracy, guess + 1e-3);
	double		signal = Min(Max((label_accuracy - guess) / (plain - guess), 1e-3), 1);
	PlanLearner student = plan_logistic;
	TeacherLaw	law;

	student.per_feature = STUDENT_CLEAN + STUDENT_NOISE * (1 - signal) / 2;
	law = teacher_law(&student, plain, question->features, question->classes,
					  labels * signal * signal * sqrt(question->classes - 1));
	return law_single(&law);
}

static double
choose_labels(const PlanQuestion *question, double units, int choice, PlanResult *result)
{
	if (result->prices[choice] == 0)
		return -1;
	result->epsilon = result->per_answer = result->prices[choice];
	result->order_is_infinite = result->prices_infinite[choice];
	result->labels = label_counts[choice];
	/* Labels that are all alike teach nothing, so the commonest class does not count. */
	return student_accuracy(question,
							plan_best_ensemble(question, units, plan_vote_ensemble, result),
							label_counts[choice]);
}

static double
distill_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	PlanQuestion plain = *question;
	double		 value;

	plain.cuts = 0; /* a student would have them, and none was measured */
	value = plan_best(&plain, units, lengthof(label_counts), choose_labels, result);
	result->per_answer = 0;
	return value;
}

const MechanismPlan plan_distill = {
	.grounds = "the law of votes for the labels, that of a linear model on as many rows with wrong "
			   "labels for the student (24 students on Adult); privacy: Bassily, Thakkar and "
			   "Thakurta, algorithm 5",
	.virtue = "public rows, labelled once, teach a model that answers any number of questions",
	.created_as = "vote",
	.preference = -0.005, /* it needs public rows */
	.price = distill_price,
	.accuracy = distill_accuracy,
};
