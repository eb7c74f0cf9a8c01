/*
 * plan.c
 *		The figures of privpred.plan(); the install script has the words.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"

#include "account/accountant.h"
#include "entry/entry.h"
#include "request/plan.h"
#include "server/number_text.h"
#include "server/rows.h"

PG_FUNCTION_INFO_V1(privpred_plan_table);
PG_FUNCTION_INFO_V1(privpred_plan_figures);

#define PLAN_MAX_COUNT INT64CONST(1000000000000)

/* _plan_table(relation, label); NULL without a relation */
Datum
privpred_plan_table(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(request_plan_table(
		PG_GETARG_OID(0), PG_ARGISNULL(1) ? NULL : NameStr(*PG_GETARG_NAME(1)))));
}

/* ---------- the question ---------- */

static int64
check_count(const char *name, int64 value, int64 least, int64 most)
{
	if (value < least || value > most)
		refuse(errmsg("%s must be from " INT64_FORMAT " to " INT64_FORMAT, name, least, most),
			   errhint("Declare what you know without looking at the rows, or leave it out."));
	return value;
}

static void
check_accuracies(const PlanQuestion *question)
{
	double guess = 1.0 / question->classes;

	if (!(question->baseline >= guess && question->baseline < 1))
		refuse(errmsg("baseline must be at least %.3g and below 1", guess),
			   errdetail("It is the share of the commonest of %d classes.", question->classes),
			   errhint("Declare it if it is public, or leave it out."));
	if (!(question->accuracy > guess && question->accuracy <= 1))
		refuse(errmsg("accuracy must be above %.3g and at most 1", guess),
			   errdetail("It is the share of right answers that a plain model would reach "
						 "without privacy; guessing among %d classes reaches %.3g.",
						 question->classes, guess),
			   errhint("If it is left out, 0.85 is assumed."));
	if (question->baseline_declared && question->baseline >= question->accuracy)
		refuse(errmsg("accuracy must be above baseline"),
			   errdetail("A model that is right %g times in 100 is worth nothing if the "
						 "commonest class is right %g times in 100.",
						 100 * question->accuracy, 100 * question->baseline),
			   errhint("Declare what a plain model would reach, or leave out one of them."));
}

static PlanQuestion
read_question(FunctionCallInfo fcinfo)
{
	static const char *const required[] = {NULL,	"features", "classes", "epsilon",
										   "delta", "answers",	"accuracy"};
	PlanQuestion			 question = {0};

	for (int i = 1; i < lengthof(required); i++)
		require_argument(fcinfo, i, required[i]);
	if (!PG_ARGISNULL(0))
		question.units = (double) check_count("n", PG_GETARG_INT64(0), 1, PLAN_MAX_COUNT);
	question.features = check_count("features", PG_GETARG_INT32(1), 1, PRIVPRED_MAX_WIDTH);
	question.classes =
		check_count("classes", PG_GETARG_INT32(2), PRIVPRED_MIN_CLASSES, PRIVPRED_MAX_CLASSES);
	question.epsilon = read_epsilon(PG_GETARG_FLOAT8(3), EPSILON_MAX, "epsilon");
	question.delta = PG_GETARG_FLOAT8(4);
	check_delta(question.delta, "delta");
	question.answers = check_count("answers", PG_GETARG_INT64(5), 1, PLAN_MAX_COUNT);
	question.accuracy = PG_GETARG_FLOAT8(6);
	question.baseline_declared = !PG_ARGISNULL(8);
	question.baseline = PG_ARGISNULL(8) ? 1.0 / question.classes : PG_GETARG_FLOAT8(8);
	check_accuracies(&question);
	if (!PG_ARGISNULL(7))
		question.learner = text_to_cstring(PG_GETARG_TEXT_PP(7));
	if (question.learner != NULL && plan_learner(question.learner) == NULL)
		refuse(errmsg("no measurements for learner \"%s\"", question.learner),
			   errhint("Plans are made for logistic and boost."));
	question.rows_per_unit = PG_ARGISNULL(9) ? 1 : Max(PG_GETARG_INT32(9), 1);
	question.protects_labels = !PG_ARGISNULL(10) && PG_GETARG_BOOL(10);
	if (!PG_ARGISNULL(11))
		question.cuts =
			check_count("cuts", PG_GETARG_INT32(11), 0, PRIVPRED_MAX_WIDTH - question.features);
	return question;
}

/* ---------- the answer ---------- */

/* Numbers in text, for statements; 0 stands for none. */
static char *
units_text(EpsilonUnits units)
{
	return units > 0 ? epsilon_to_text(units, palloc(EPSILON_TEXT_SIZE)) : NULL;
}

static char *
delta_text(double delta)
{
	return delta > 0 ? number_text(delta, palloc(NUMBER_TEXT_SIZE)) : NULL;
}

static char *
budget_text(const PlanQuestion *question)
{
	char *delta = delta_text(question->delta);

	return psprintf("epsilon => %s%s%s", units_text(question->epsilon), delta ? ", delta => " : "",
					delta ? delta : "");
}

static void
put_units(Rows *rows, EpsilonUnits units)
{
	put_if(rows, units > 0, units > 0 ? units_to_numeric(units) : (Datum) 0);
}

static void
put_count_if(Rows *rows, bool known, double count)
{
	put_int8_if(rows, known, (int64) Min(count, 9e18));
}

static void
put_result(Rows *rows, const PlanQuestion *question, const PlanResult *result)
{
	const Mechanism		*mechanism = result->mechanism;
	const MechanismPlan *plan = mechanism->plan;
	bool				 priced = result->epsilon > 0;

	put_text(rows, mechanism->name);
	put_text(rows, plan->created_as ? plan->created_as : mechanism->name);
	put_text(rows, charge_kind_name(mechanism->charge_kind));
	put_text(rows, result->why);
	put_count_if(rows, result->rows_needed > 0, ceil(result->rows_needed));
	put_count_if(rows, plan_rows_at_least(question, result) > 0,
				 plan_rows_at_least(question, result));
	put_float8_if(rows, !isnan(result->accuracy), result->accuracy);
	put_units(rows, result->per_answer);
	put_units(rows, priced ? result->total : 0);
	put_float8_if(rows, priced, result->total_delta);
	put_count_if(rows, priced && mechanism->charge_kind != CHARGE_ONCE,
				 floor(result->answers_bought));
	put_text(rows, units_text(result->epsilon));
	put_text(rows, result->learner ? result->learner->name : NULL);
	put_int8_if(rows, result->teachers > 0, result->teachers);
	put_text(rows, result->options);
	put_int8_if(rows, result->unstable > 0, result->unstable);
	put_text(rows, delta_text(result->stream_delta));
	put_int8_if(rows, result->labels > 0, result->labels);
	put_text(rows, budget_text(question));
	put_bool(rows, mechanism->needs_units || plan->wants_units);
	put_bool(rows, mechanism->needs_unit_rows);
	put_bool(rows, plan->units_needed != NULL);
	put_float8(rows, plan->preference);
	put_text(rows, plan->virtue);
	put_text(rows, plan->rates && result->why == NULL
					   ? psprintf("%s; %s", plan->grounds, plan->rates(question, result))
					   : plan->grounds);
	put_text(rows, plan_lower_bound(question, result));
	put_text(rows, mechanism_gives_answers(mechanism) ? "private_predict" : "private_score");
	/* what teachers of numbers are worth was not measured */
	put_bool(rows, mechanism->numeric_labels && !mechanism->asks_teachers);
	put_bool(rows, result->cuts);
	rows_next(rows);
}

/* _plan_figures(n, features, classes, epsilon, delta, answers, accuracy, learner, baseline, ...) */
Datum
privpred_plan_figures(PG_FUNCTION_ARGS)
{
	Rows		*rows = rows_begin(fcinfo);
	PlanQuestion question = read_question(fcinfo);
	ListCell	*cell;

	foreach(cell, request_plan(&question))
		put_result(rows, &question, lfirst(cell));
	return (Datum) 0;
}
