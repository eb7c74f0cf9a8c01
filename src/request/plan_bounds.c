/*
 * plan_bounds.c
 *		Lower bounds for privpred.plan(): what the papers prove of every method that
 *		does what a mechanism does (docs/mechanisms.md, section 21).
 *
 * A bound is for the worst problem of a class that some classifier of it solves
 * without error; what a plan expects is for problems like those measured.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/solve.h"
#include "request/plan.h"

/* Theorem 4 of Dagan and Feldman ends there. */
#define LARGEST_ERROR 0.25

/* In the example for Theorem 5 of Chaudhuri and Hsu half of the rows lie within this share. */
#define CONCENTRATION 1e-6

static double
error_allowed(const PlanQuestion *question)
{
	return Max(1 - plan_target(question), 1e-6);
}

/* One answer is private with this epsilon; of models that are charged once, all of them. */
static double
epsilon_of(const PlanQuestion *question, const PlanResult *result)
{
	return plan_epsilon(result->per_answer > 0 ? result->per_answer : question->epsilon);
}

/* How far one unit moves the probability of an answer, at most. */
static double
stability(const PlanQuestion *question, const PlanResult *result)
{
	if (result->mechanism->owner_only)
		return GAMMA_DEFAULT;
	return Min(tanh(epsilon_of(question, result) / 2) + question->delta, 1);
}

/*
 * A class of this dimension, less one, is learnt.  Linear classifiers of f features
 * have dimension f + 1.  Rules of one feature tell k points apart in every way
 * if 2^(k-1) - 1 features split them in all the ways there are.
 */
static double
dimension_less_one(const PlanQuestion *question, const PlanResult *result)
{
	return result->mechanism->plan->one_rule ? floor(log2(question->features + 1.0))
											 : question->features;
}

/*
 * Dagan and Feldman, Theorem 4: n >= (d - 1)/(8 alpha gamma) examples.  With R
 * rows a unit, units that a point occurs in are at most R times as many as in the proof.
 */
static double
theorem_4(const PlanQuestion *question, const PlanResult *result)
{
	double error = Min(error_allowed(question), LARGEST_ERROR);

	return ceil(dimension_less_one(question, result) /
				(8 * error * stability(question, result) * question->rows_per_unit));
}

double
plan_rows_at_least(const PlanQuestion *question, const PlanResult *result)
{
	return error_allowed(question) > LARGEST_ERROR ? 0 : theorem_4(question, result);
}

/*
 * Chaudhuri and Hsu, Theorem 12, for halfspaces through a point and the uniform
 * distribution on a sphere around it: n > ln(|P| - 1)/epsilon for any set P of
 * halfspaces that disagree, any two, on more than twice the error a.  With caps of
 * angles 4 pi a and 2 pi a, |P| >= 2^(f-1) cos(2 pi a)^(f-2) (lemma 25, corrected).
 */
static double
theorem_12(const PlanQuestion *question, const PlanResult *result)
{
	double error = error_allowed(question);
	double logarithm;

	/* One number has no sphere. */
	if (question->features < 2 || error >= LARGEST_ERROR)
		return 0;
	logarithm =
		(question->features - 1) * M_LN2 + (question->features - 2) * log(cos(2 * M_PI * error));
	/* ln(|P| - 1), which |P| itself need not fit a double for */
	if (logarithm > M_LN2)
		logarithm += log1p(-exp(-logarithm));
	else
		return 0;
	return floor(logarithm / plan_epsilon(question->epsilon)) + 1;
}

/* What binds mechanisms that release a classifier under pure privacy. */
static char *
of_releases(const PlanQuestion *question, const PlanResult *result)
{
	double		epsilon = plan_epsilon(question->epsilon);
	double		separators = theorem_12(question, result);
	const char *thresholds = "";
	const char *halfspaces = "";

	/* Features are public under label privacy, so that a cover of them may be used. */
	if (!result->mechanism->labels_only)
		thresholds = psprintf(
			"; for thresholds that are released under pure privacy n >= %.0f to be wrong less "
			"than 1 time in 5 where half of the rows may lie within %g of the range, and no size "
			"is enough for all distributions without a public reference (Chaudhuri and Hsu, "
			"Theorem 5)",
			floor(log(1 / (4 * CONCENTRATION) - 1.5) / epsilon) + 1, CONCENTRATION);
	if (separators > 0)
		halfspaces = psprintf("n >= %.0f more often than not (Theorem 12), and ", separators);
	return psprintf("%s; for halfspaces that are released under pure privacy, if only of labels, "
					"%sof the order of features / (error epsilon) where both are small, without a "
					"constant (Chaudhuri and Hsu, Theorem 10)",
					thresholds, halfspaces);
}

char *
plan_lower_bound(const PlanQuestion *question, const PlanResult *result)
{
	const MechanismPlan *plan = result->mechanism->plan;
	bool				 is_private = !result->mechanism->owner_only;

	return psprintf(
		"n >= %.0f for any %s, one answer at %s %.3g, of error %.3g on every problem that a "
		"%s of %d features solves without error (Dagan and Feldman, Theorem 4%s)%s",
		theorem_4(question, result), is_private ? "private prediction" : "stable prediction",
		is_private ? "epsilon" : "gamma", is_private ? epsilon_of(question, result) : GAMMA_DEFAULT,
		Min(error_allowed(question), LARGEST_ERROR),
		plan->one_rule ? "rule of one" : "linear classifier", question->features,
		is_private ? "; Dwork and Feldman, Theorem 2.2, has its order without a constant" : "",
		plan->pure_release ? of_releases(question, result) : "");
}
