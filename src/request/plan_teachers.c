/*
 * plan_teachers.c
 *		Plans of mechanisms that ask teachers.
 */
#include "postgres.h"

#include <math.h>

#include "account/charge.h"
#include "miscadmin.h"
#include "request/plan.h"

/* Odd, so that two classes never tie. */
static const int ensembles[] = {5,	 11,  25,	51,	  75,	101,  151,	 201,	301,
								501, 751, 1001, 2001, 4001, 8001, 16001, 32001, 64001};

/* With fewer, teachers lack classes, and the law of votes does not hold. */
#define ROWS_OF_A_TEACHER 16
#define ROWS_OF_A_CLASS 5

static const PlanLearner *const learners[] = {&plan_boost, &plan_logistic};

/* With fewer in all, trees were worse than linear models (Pima, German). */
#define UNITS_FOR_TREES 1000

const PlanLearner *
plan_learner(const char *name)
{
	for (int i = 0; i < lengthof(learners); i++)
		if (strcmp(learners[i]->name, name) == 0)
			return learners[i];
	return NULL;
}

/* Accuracy of teachers' answers as a function of how many there are. */
typedef double (*EnsembleAccuracy)(const PlanQuestion *question, const TeacherLaw *law,
								   int teachers, PlanResult *result);

/* Chooses learner and number of teachers; the result keeps what was best. */
static double
best_ensemble(const PlanQuestion *question, double units, EnsembleAccuracy accuracy,
			  PlanResult *result)
{
	PlanResult best = *result;
	double	   highest = -1;
	double	   least = Max(ROWS_OF_A_TEACHER, ROWS_OF_A_CLASS * question->classes);

	for (int l = 0; l < lengthof(learners); l++)
	{
		if (question->learner && strcmp(learners[l]->name, question->learner) != 0)
			continue;
		if (!question->learner && learners[l] == &plan_boost && units < UNITS_FOR_TREES)
			continue;
		for (int i = 0; i < lengthof(ensembles); i++)
		{
			PlanLearner learner = *learners[l];
			PlanResult	tried = *result;
			TeacherLaw	law;
			double		value;

			CHECK_FOR_INTERRUPTS();
			if (i > 0 && ensembles[i] * least > units)
				break;
			/* Whoever names a learner tells its own accuracy; one feature needs no trees. */
			if (question->learner || question->features == 1)
				learner.error_factor = 1;
			law = teacher_law(&learner, question->accuracy, question->features, question->classes,
							  units / ensembles[i]);
			tried.learner = learners[l];
			tried.teachers = ensembles[i];
			value = accuracy(question, &law, ensembles[i], &tried);
			/* More teachers, or the second learner, must gain something. */
			if (value > highest + 1e-4)
			{
				highest = value;
				best = tried;
			}
		}
	}
	*result = best;
	return highest;
}

/* ---------- vote ---------- */

/* As mechanism/vote.c chooses. */
static VoteDraw
draw_of(const PlanQuestion *question, const PlanResult *result)
{
	if (result->order_is_infinite)
		return DRAW_PERMUTE_AND_FLIP;
	if (question->classes >= 7 && result->per_answer <= EPSILON_UNITS_PER_ONE / 4)
		return DRAW_GAUSSIAN;
	return DRAW_EXPONENTIAL;
}

static double
learnt_ensemble(const PlanQuestion *question, const TeacherLaw *law, int teachers,
				PlanResult *result)
{
	return law_vote(law, draw_of(question, result), teachers, plan_epsilon(result->per_answer));
}

/* With too few rows to learn from, teachers still learn the commonest class. */
static double
vote_ensemble(const PlanQuestion *question, const TeacherLaw *law, int teachers, PlanResult *result)
{
	double learnt = learnt_ensemble(question, law, teachers, result);

	if (!question->baseline_declared)
		return learnt;
	return Max(learnt, law_prior_vote(draw_of(question, result), question->classes, teachers,
									  plan_epsilon(result->per_answer), question->baseline));
}

static double
vote_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	return Max(best_ensemble(question, units, vote_ensemble, result), 1.0 / question->classes);
}

const PlannedMechanism plan_vote = {
	.name = "vote",
	.grounds =
		"measured: a law fitted to votes of 52 ensembles on five data sets, within 1.2 points of them from 8,000 rows on, 4 below (docs/planning.md); boosted trees are taken to make 0.85 of the errors of a linear model (0.78 and 0.89 measured); privacy: Dwork and Feldman, section 2.1",
	.price = plan_price_answers,
	.accuracy = vote_accuracy,
};

/* ---------- average ---------- */

static char *
average_unsuitable(const PlanQuestion *question)
{
	return question->classes > 2 ? "for two classes" : NULL;
}

static double
average_ensemble(const PlanQuestion *question, const TeacherLaw *law, int teachers,
				 PlanResult *result)
{
	double epsilon = plan_epsilon(result->per_answer);

	if (teachers < 2 * ceil(1 / expm1(epsilon)))
		return -1; /* create_model would refuse it */
	return law_average(law, teachers, epsilon);
}

static double
average_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	double value = best_ensemble(question, units, average_ensemble, result);

	if (value < 0)
	{
		result->why = psprintf("needs %.0f teachers at this epsilon, more than so many rows allow",
							   2 * ceil(1 / expm1(plan_epsilon(result->per_answer))));
		result->epsilon = 0; /* nothing to paste */
	}
	return Max(value, 0.5);
}

const PlannedMechanism plan_average = {
	.name = "average",
	.grounds =
		"the law of votes of \"vote\"; for answers that are to be counted; privacy: Dwork and Feldman, section 2.1",
	.unsuitable = average_unsuitable,
	.price = plan_price_answers,
	.accuracy = average_accuracy,
};

/* ---------- streams ---------- */

static const int unstable_limits[] = {1, 5, 20, 100};

/* The largest epsilon with which a stream of so many unstable answers is paid for. */
static EpsilonUnits
stream_epsilon(const PlanQuestion *question, int unstable)
{
	const EpsilonUnits step = EPSILON_UNITS_PER_ONE / 10000;
	EpsilonUnits	   low = 0;
	EpsilonUnits	   high = Min(question->epsilon, 10 * EPSILON_UNITS_PER_ONE) / step;

	while (low < high)
	{
		EpsilonUnits middle = low + (high - low + 1) / 2;
		RenyiGrant	 grant = {.epsilon = question->epsilon, .delta = question->delta, .once = true};
		RenyiPlan	 plan;

		grant.finite.part[0].shape = CHARGE_PURE;
		grant.finite.part[0].times = unstable;
		grant.finite.part[0].epsilon = middle * step;
		grant.infinite = grant.finite;
		if (renyi_choose(&grant, 0, RENYI_ORDER_INFINITE, &plan) && plan.answers >= 1)
			low = middle;
		else
			high = middle - 1;
	}
	return low * step;
}

static char *
stream_unsuitable(const PlanQuestion *question)
{
	if (question->delta == 0)
		return "needs a budget with delta, such as 1e-6";
	return NULL;
}

static bool
stream_price(const PlanQuestion *question, PlanResult *result)
{
	result->total = question->epsilon;
	result->total_delta = question->delta;
	StaticAssertStmt(lengthof(unstable_limits) <= PLAN_PRICES, "too many limits");
	for (int i = 0; i < lengthof(unstable_limits); i++)
		result->prices[i] = stream_epsilon(question, unstable_limits[i]);
	result->unstable = unstable_limits[0];
	result->stream_epsilon = result->prices[0];
	if (result->stream_epsilon == 0)
	{
		result->why = "the budget does not pay for a stream";
		return false;
	}
	/* Half of a grant's delta is for what mechanisms need. */
	result->stream_delta = question->delta / 2 / result->unstable;
	result->epsilon = result->stream_epsilon;
	return true;
}

/* Right answers among all that are asked; the stream may end before. */
static double
sparse_ensemble(const PlanQuestion *question, const TeacherLaw *law, int teachers,
				PlanResult *result)
{
	double stable;
	double right;
	double lasts;

	law_stream(law, teachers, result->stream_epsilon, result->stream_delta, &stable, &right);
	lasts = result->unstable / Max(1 - stable, 1e-15);
	result->answers_bought = Min(lasts, 1e15);
	return right * Min(lasts / question->answers, 1);
}

static double
sparse_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	PlanResult best = *result;
	double	   highest = -1;

	for (int i = 0; i < lengthof(unstable_limits); i++)
	{
		PlanResult tried = *result;
		double	   value;

		tried.unstable = unstable_limits[i];
		tried.stream_epsilon = result->prices[i];
		if (tried.stream_epsilon == 0)
			break;
		tried.stream_delta = question->delta / 2 / tried.unstable;
		tried.epsilon = tried.stream_epsilon;
		value = best_ensemble(question, units, sparse_ensemble, &tried);
		if (value > highest)
		{
			highest = value;
			best = tried;
		}
	}
	*result = best;
	return highest;
}

const PlannedMechanism plan_sparse = {
	.name = "sparse",
	.grounds =
		"the law of votes of \"vote\" and the exact tail of the stability test; unstable answers, and those after the end of the stream, count as wrong; privacy: Bassily, Thakkar and Thakurta, algorithms 1 to 4, corrected",
	.unsuitable = stream_unsuitable,
	.price = stream_price,
	.accuracy = sparse_accuracy,
};

static char *
soft_unsuitable(const PlanQuestion *question)
{
	if (question->classes > 2)
		return "for two classes";
	return stream_unsuitable(question);
}

/* Scores have no accuracy; parameters are those of labels that agree. */
static double
soft_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	(void) sparse_accuracy(question, units, result);
	result->answers_bought = result->unstable;
	return NAN;
}

static double
soft_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	return PLAN_NEVER;
}

const PlannedMechanism plan_soft = {
	.name = "soft",
	.grounds =
		"no figure: gives scores, not labels, and how far teachers' scores agree is not known; parameters as for \"sparse\", answers for the worst case; privacy: Bassily, Thakkar and Thakurta, algorithms 6 to 8, corrected",
	.unsuitable = soft_unsuitable,
	.price = stream_price,
	.accuracy = soft_accuracy,
	.units_needed = soft_units_needed,
};

/* ---------- distill ---------- */

static const int label_counts[] = {100, 200, 400, 800, 1600, 3200, 6400};

static bool
distill_price(const PlanQuestion *question, PlanResult *result)
{
	StaticAssertStmt(lengthof(label_counts) <= PLAN_PRICES, "too many numbers of labels");
	for (int i = 0; i < lengthof(label_counts); i++)
	{
		if (!plan_per_answer(question, "vote", label_counts[i], result))
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
distill_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	PlanResult best = *result;
	double	   highest = -1;

	for (int i = 0; i < lengthof(label_counts); i++)
	{
		PlanResult tried = *result;
		double	   student;

		if (result->prices[i] == 0)
			break;
		tried.epsilon = tried.per_answer = result->prices[i];
		tried.order_is_infinite = result->prices_infinite[i];
		/* Labels that are all alike teach nothing. */
		student = student_accuracy(
			question, best_ensemble(question, units, learnt_ensemble, &tried), label_counts[i]);
		if (student > highest)
		{
			highest = student;
			best = tried;
			best.labels = label_counts[i];
		}
	}
	*result = best;
	result->answers_bought = PLAN_ANY_NUMBER;
	result->per_answer = 0;
	return highest;
}

const PlannedMechanism plan_distill = {
	.name = "distill",
	.grounds =
		"the law of votes for the labels, that of a linear model on as many rows with wrong labels for the student (24 students on Adult); privacy: Bassily, Thakkar and Thakurta, algorithm 5",
	.needs_public_rows = true,
	.preference = -0.005,
	.price = distill_price,
	.accuracy = distill_accuracy,
};
