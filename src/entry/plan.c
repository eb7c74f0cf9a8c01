/*
 * plan.c
 *		privpred.plan(): for anybody, from declared numbers, spending nothing.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"

#include "entry/entry.h"
#include "request/plan.h"

PG_FUNCTION_INFO_V1(privpred_plan);

#define ASSUMED_FEATURES 10
#define ASSUMED_ACCURACY 0.85

/* An optional count, 0 if absent. */
static int64
read_count(FunctionCallInfo fcinfo, int number, const char *name, int64 value, int64 least,
		   int64 most)
{
	if (PG_ARGISNULL(number))
		return 0;
	if (value < least || value > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be from " INT64_FORMAT " to " INT64_FORMAT, name, least, most),
				 errhint("Declare what you know without looking at the rows, or leave it out.")));
	return value;
}

/* Without an accuracy, a plain model is taken to spare a quarter of the baseline's errors. */
static double
read_accuracy(FunctionCallInfo fcinfo, int number, int classes, double baseline)
{
	double accuracy;

	if (PG_ARGISNULL(number))
		return Max(ASSUMED_ACCURACY, baseline + 0.25 * (1 - baseline));
	accuracy = PG_GETARG_FLOAT8(number);
	if (!(accuracy > 1.0 / classes && accuracy <= 1))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("accuracy must be above %.3g and at most 1", 1.0 / classes),
			 errdetail(
				 "It is the share of right answers that a plain model would reach without privacy; guessing among %d classes reaches %.3g.",
				 classes, 1.0 / classes),
			 errhint("Leave it out to have %g assumed.", ASSUMED_ACCURACY)));
	return accuracy;
}

/* A guess if there is none. */
static double
read_baseline(FunctionCallInfo fcinfo, int number, int classes)
{
	double baseline;

	if (PG_ARGISNULL(number))
		return 1.0 / classes;
	baseline = PG_GETARG_FLOAT8(number);
	if (!(baseline >= 1.0 / classes && baseline < 1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("baseline must be at least %.3g and below 1", 1.0 / classes),
						errdetail("It is the share of the commonest of %d classes.", classes),
						errhint("Declare it if it is public, or leave it out.")));
	return baseline;
}

static void
check_baseline(const PlanQuestion *question)
{
	if (question->baseline_declared && question->baseline >= question->accuracy)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("accuracy must be above baseline"),
			 errdetail(
				 "A model that is right %g times in 100 is worth nothing if the commonest class is so %g times in 100.",
				 100 * question->accuracy, 100 * question->baseline),
			 errhint("Declare what a plain model would reach, or leave out one of them.")));
}

static const char *
read_learner(FunctionCallInfo fcinfo, int number)
{
	char *name;

	if (PG_ARGISNULL(number))
		return NULL;
	name = text_to_cstring(PG_GETARG_TEXT_PP(number));
	if (plan_learner(name) == NULL)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("no measurements for learner \"%s\"", name),
						errhint("Plans are made for logistic and boost.")));
	return name;
}

static PlanQuestion
read_question(FunctionCallInfo fcinfo)
{
	PlanQuestion		question = {0};
	const PlanRelation *relation = NULL;

	require_argument(fcinfo, 3, "epsilon");
	require_argument(fcinfo, 4, "delta");
	require_argument(fcinfo, 5, "answers");
	question.units =
		(double) read_count(fcinfo, 0, "n", PG_GETARG_INT64(0), 1, INT64CONST(1000000000000));
	question.features =
		read_count(fcinfo, 1, "features", PG_GETARG_INT32(1), 1, PRIVPRED_MAX_WIDTH);
	question.classes = read_count(fcinfo, 2, "classes", PG_GETARG_INT32(2), PRIVPRED_MIN_CLASSES,
								  PRIVPRED_MAX_CLASSES);
	question.epsilon = read_epsilon(PG_GETARG_FLOAT8(3), EPSILON_MAX, "epsilon");
	question.delta = PG_GETARG_FLOAT8(4);
	check_delta(question.delta, "delta");
	question.answers =
		read_count(fcinfo, 5, "answers", PG_GETARG_INT64(5), 1, INT64CONST(1000000000000));
	if (!PG_ARGISNULL(7))
		relation =
			plan_relation(PG_GETARG_OID(7), PG_ARGISNULL(8) ? NULL : NameStr(*PG_GETARG_NAME(8)));
	question.relation = relation;
	if (relation != NULL)
	{
		if (question.units == 0)
			question.units = (double) relation->declared_units;
		if (question.features == 0)
			question.features = relation->width;
		if (question.classes == 0)
			question.classes = relation->nclasses;
		question.protects_labels = relation->protects_labels;
		question.rows_per_unit = relation->one_row_a_unit ? 1 : relation->max_rows_per_unit;
	}
	question.rows_per_unit = Max(question.rows_per_unit, 1);
	if (question.classes == 0)
		question.classes = PRIVPRED_MIN_CLASSES;
	question.features_assumed = question.features == 0;
	if (question.features_assumed)
		question.features = ASSUMED_FEATURES;
	question.accuracy_assumed = PG_ARGISNULL(6);
	question.baseline_declared = !PG_ARGISNULL(10);
	question.baseline = read_baseline(fcinfo, 10, question.classes);
	question.accuracy = read_accuracy(fcinfo, 6, question.classes, question.baseline);
	check_baseline(&question);
	question.learner = read_learner(fcinfo, 9);
	return question;
}

static void
put_count_if(Rows *rows, bool known, double count)
{
	put_int8_if(rows, known, (int64) Min(count, 9e18));
}

static void
put_epsilon_if_any(Rows *rows, EpsilonUnits units)
{
	put_if(rows, units > 0, units > 0 ? units_to_numeric(units) : (Datum) 0);
}

static void
put_result(Rows *rows, const PlanQuestion *question, const PlanResult *result, int rank)
{
	bool   priced = result->epsilon > 0;
	double accuracy = rint(result->accuracy * 10000) / 10000;

	put_int4(rows, rank);
	put_text(rows, result->mechanism->name);
	put_bool(rows, result->recommended);
	put_bool(rows, result->feasible);
	put_text(rows, result->why);
	put_count_if(rows, result->rows_needed > 0, ceil(result->rows_needed));
	put_float8_if(rows, !isnan(accuracy), accuracy);
	put_float8_if(rows, !isnan(accuracy), rint((1 - accuracy) * 10000) / 10000);
	put_epsilon_if_any(rows, result->per_answer);
	put_epsilon_if_any(rows, priced ? result->total : 0);
	put_float8_if(rows, priced, result->total_delta);
	put_count_if(rows, priced && result->answers_bought != PLAN_ANY_NUMBER,
				 floor(result->answers_bought));
	put_text(rows, !priced									   ? NULL
				   : result->answers_bought == PLAN_ANY_NUMBER ? "once, then any number of answers"
				   : result->unstable > 0					   ? "per stream"
															   : "per answer");
	put_text(rows, plan_parameters(question, result));
	put_text(rows, plan_statements(question, result));
	put_text(rows, result->mechanism->grounds);
	put_text(rows, result->lower_bound);
	put_text(rows, result->advice);
}

/* plan(n, features, classes, epsilon, delta, answers, accuracy, relation, label, learner, baseline) */
Datum
privpred_plan(PG_FUNCTION_ARGS)
{
	Rows		*rows = rows_begin(fcinfo);
	PlanQuestion question = read_question(fcinfo);
	int			 count;
	PlanResult	*results = request_plan(&question, &count);

	for (int i = 0; i < count; i++)
	{
		put_result(rows, &question, &results[i], i + 1);
		rows_next(rows);
	}
	return (Datum) 0;
}
