/*
 * plan.c
 *		privpred.plan(): all mechanisms for one question, best first.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "request/plan.h"

static const PlannedMechanism *const mechanisms[] = {
	&plan_vote,			 &plan_gradient,	&plan_distill, &plan_threshold,	  &plan_sparse,
	&plan_stable_erm,	 &plan_average,		&plan_cover,   &plan_stable_flip, &plan_relabel,
	&plan_label_private, &plan_littlestone, &plan_soft,	   &plan_stable};

/* Rows to search among: from ten to ten thousand million, in steps of 4 %. */
#define SEARCH_FIRST 10.0
#define SEARCH_STEPS 512
#define SEARCH_RATIO 1.0413

/* Below this share of what a plain model gains over a guess, nothing is recommended. */
#define WORTH_WHILE 0.5
/* The same over the commonest class, if that is declared. */
#define WORTH_WHILE_BEYOND 0.05

/* ---------- one mechanism ---------- */

static double
target(const PlanQuestion *question)
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
		if (result->mechanism->accuracy(question, units, &tried) >= target(question))
			high = middle;
		else
			low = middle;
	}
	return high == SEARCH_STEPS ? PLAN_NEVER : ceil(SEARCH_FIRST * pow(SEARCH_RATIO, high));
}

static char *
shortfall(const PlanQuestion *question, const PlanResult *result)
{
	if (isnan(result->accuracy))
		return psprintf("gives scores; it counts on %d or more teachers that agree",
						result->teachers);
	if (result->answers_bought >= 0 && result->answers_bought < question->answers)
		return psprintf("would end after about %.0f answers, as teachers do not agree enough",
						result->answers_bought);
	if (result->accuracy >= target(question))
		return "reaches the target";
	if (result->rows_needed == PLAN_NEVER)
		return "does not reach the target with any number of rows";
	if (result->mechanism->units_needed != NULL && result->rows_needed > question->units)
		return psprintf("stays below the target; its theorem asks for %.0f rows",
						result->rows_needed);
	if (result->rows_needed > question->units)
		return psprintf("stays below the target; %.0f rows would do", result->rows_needed);
	return "stays below the target on average";
}

static void
plan_one(const PlanQuestion *question, const PlannedMechanism *mechanism, PlanResult *result)
{
	memset(result, 0, sizeof(PlanResult));
	result->mechanism = mechanism;
	result->accuracy = NAN;
	result->why = mechanism->unsuitable ? mechanism->unsuitable(question) : NULL;
	if (result->why != NULL || !mechanism->price(question, result))
		return;
	result->rows_needed = mechanism->units_needed ? mechanism->units_needed(question, result)
												  : search_units_needed(question, result);
	if (question->units == 0)
	{
		/* Parameters for the rows that are needed. */
		(void) mechanism->accuracy(question, Max(result->rows_needed, 1000), result);
		result->feasible = result->rows_needed != PLAN_NEVER;
		result->why = result->feasible ? "reaches the target from rows_needed on"
									   : "does not reach the target with any number of rows";
		return;
	}
	result->accuracy = mechanism->accuracy(question, question->units, result);
	result->feasible = result->why == NULL &&
					   !(result->answers_bought >= 0 && result->answers_bought < question->answers);
	if (result->why == NULL)
		result->why = shortfall(question, result);
}

/* ---------- lower bounds ---------- */

/*
 * Dagan and Feldman, Theorem 4: (epsilon, delta)-private predictions are
 * tanh(epsilon/2) + delta stable.  Linear classifiers of d features have
 * dimension d + 1.
 */
static char *
lower_bound(const PlanQuestion *question, const PlanResult *result)
{
	double epsilon = plan_epsilon(result->per_answer > 0 ? result->per_answer : question->epsilon);
	double gamma = Min(tanh(epsilon / 2) + question->delta, 1);
	double alpha = Min(Max(1 - target(question), 1e-6), 0.25);
	bool   released = result->answers_bought == PLAN_ANY_NUMBER;

	return psprintf(
		"n >= %.0f for any private prediction, one answer at epsilon %.3g, of error %.3g on every "
		"problem that a linear classifier of %d features solves without error (Dagan and Feldman, Theorem 4)%s",
		ceil(question->features / (8 * alpha * gamma)), epsilon, alpha, question->features,
		released && question->delta == 0
			? "; released by pure privacy, no size is enough on every distribution without a public reference (Chaudhuri and Hsu, Theorem 5)"
			: "");
}

/* ---------- ranking ---------- */

static double
merit(const PlanResult *result)
{
	double value;

	if (result->accuracy > 0)
		value = result->accuracy;
	else if (isnan(result->accuracy) && result->rows_needed > 0)
		value = 1 - log(result->rows_needed) / 100; /* no size is declared: fewer rows */
	else
		value = 0;
	return value + result->mechanism->preference;
}

/* Feasible ones first, by merit; the order of the table decides between equals. */
static int
compare_results(const void *a, const void *b)
{
	const PlanResult *left = a;
	const PlanResult *right = b;
	double			  difference = merit(right) - merit(left);

	if (left->feasible != right->feasible)
		return left->feasible ? -1 : 1;
	if (fabs(difference) > 1e-9)
		return difference > 0 ? 1 : -1;
	for (int i = 0; i < lengthof(mechanisms); i++)
		if (mechanisms[i] == left->mechanism || mechanisms[i] == right->mechanism)
			return mechanisms[i] == left->mechanism ? -1 : 1;
	return 0;
}

/* What distinguishes it, in a few words. */
static const char *
virtue(const PlanQuestion *question, const PlanResult *result)
{
	if (result->mechanism == &plan_threshold)
		return "one feature decides, and it wastes no rows on teachers";
	if (result->mechanism == &plan_sparse)
		return "so many teachers agree that nearly all answers are free";
	if (result->mechanism == &plan_distill)
		return "public rows, labelled once, teach a model that answers for ever";
	if (result->answers_bought == PLAN_ANY_NUMBER)
		return "it is paid for once and then answers any number of questions";
	if (result->learner == &plan_boost)
		return "few answers leave each a large epsilon, and boosted trees make the most of mixed columns";
	return "few answers leave each a large epsilon";
}

static char *
advise(const PlanQuestion *question, const PlanResult *best, const PlanResult *next)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "Take %s%s%s, because %s", best->mechanism->name,
					 best->learner ? " with learner " : "",
					 best->learner ? best->learner->name : "", virtue(question, best));
	if (!isnan(best->accuracy))
		appendStringInfo(&text, "; it is expected to be right %.1f times in 100",
						 100 * best->accuracy);
	if (next != NULL && next->feasible && !isnan(next->accuracy))
		appendStringInfo(&text, ", the next best (%s) %.1f times", next->mechanism->name,
						 100 * next->accuracy);
	appendStringInfoChar(&text, '.');
	if (best->learner == &plan_boost)
		appendStringInfoString(
			&text,
			" Learner boost needs XGBoost (Debian: libxgboost0); without it write learner => 'logistic'.");
	if (question->delta == 0 && question->answers > 100 && best->mechanism != &plan_threshold)
		appendStringInfoString(&text,
							   " With a delta, such as 1e-6, so many answers cost much less.");
	if (question->accuracy_assumed)
		appendStringInfo(
			&text,
			" All of it assumes that plain logistic regression would be right %.0f times in 100; say accuracy => otherwise.",
			100 * question->accuracy);
	if (question->features_assumed)
		appendStringInfo(&text, " It also assumes %d features; say features =>.",
						 question->features);
	if (question->units == 0)
		appendStringInfoString(&text, " Say n => for expected accuracies.");
	return text.data;
}

static bool
is_worth_while(const PlanQuestion *question, const PlanResult *result)
{
	double guess = 1.0 / question->classes;

	return isnan(result->accuracy) ||
		   (result->accuracy > guess + WORTH_WHILE * (question->accuracy - guess) &&
			(!question->baseline_declared ||
			 result->accuracy > question->baseline + WORTH_WHILE_BEYOND * (question->accuracy -
																		   question->baseline)));
}

PlanResult *
request_plan(const PlanQuestion *question, int *count)
{
	PlanResult *results = palloc_array(PlanResult, lengthof(mechanisms));

	*count = lengthof(mechanisms);
	for (int i = 0; i < *count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		plan_one(question, mechanisms[i], &results[i]);
		results[i].lower_bound = lower_bound(question, &results[i]);
	}
	qsort(results, *count, sizeof(PlanResult), compare_results);
	if (results[0].feasible && is_worth_while(question, &results[0]))
	{
		results[0].recommended = true;
		results[0].advice = advise(question, &results[0], &results[1]);
	}
	else
		results[0].advice = psprintf(
			"None is %s: raise epsilon, give a delta, ask for fewer answers, or gather more rows.",
			question->baseline_declared
				? "expected to be worth more than always the commonest class"
				: "of use here");
	return results;
}
