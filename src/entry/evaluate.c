/*
 * evaluate.c
 *		How good a model is, for its owner: figures and tables.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "account/accountant.h"
#include "entry/entry.h"
#include "request/request.h"
#include "server/json_text.h"

PG_FUNCTION_INFO_V1(privpred_evaluate);
PG_FUNCTION_INFO_V1(privpred_confusion_matrix);
PG_FUNCTION_INFO_V1(privpred_accuracy_curve);
PG_FUNCTION_INFO_V1(privpred_release_accuracy);

#define MAX_EPSILONS 1000

/* ---------- arguments ---------- */

/* NULL if the argument is; otherwise *count of them. */
static EpsilonUnits *
read_epsilons(FunctionCallInfo fcinfo, int number, int *count)
{
	ArrayType	 *array;
	EpsilonUnits *epsilons;
	Datum		 *elements;
	bool		 *nulls;

	*count = 0;
	if (PG_ARGISNULL(number))
		return NULL;
	array = PG_GETARG_ARRAYTYPE_P(number);
	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements,
					  &nulls, count);
	if (*count > MAX_EPSILONS || ARR_NDIM(array) > 1)
		refuse(errmsg("epsilons must be a list of at most %d numbers", MAX_EPSILONS),
			   errhint("Use '{0.1, 0.5, 1}', for example, or leave it out."));
	epsilons = palloc_array(EpsilonUnits, Max(*count, 1));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					errmsg("epsilons must not contain nulls"),
					errhint("Use '{0.1, 0.5, 1}', for example, or leave it out."));
		epsilons[i] = read_epsilon(DatumGetFloat8(elements[i]), EPSILON_PER_ANSWER_MAX, "epsilon");
	}
	return epsilons;
}

/* The model, the rows if they are named, and the third argument if there is one. */
static Evaluation *
evaluate_arguments(FunctionCallInfo fcinfo)
{
	EpsilonUnits *epsilons = NULL;
	int			  count = 0;
	Oid			  test;

	require_arguments(fcinfo, "model");
	if (PG_NARGS() > 2)
		epsilons = read_epsilons(fcinfo, 2, &count);
	test = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	return request_evaluate(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_ARGISNULL(1) ? NULL : &test,
							epsilons, count);
}

/* ---------- the confusion matrix ---------- */

/* An answer after all classes is unstable. */
static const char *
answer_name(const Evaluation *evaluation, int answer)
{
	return answer < evaluation->spec->nclasses ? evaluation->spec->classes[answer] : NULL;
}

/* confusion_matrix(model, test) */
Datum
privpred_confusion_matrix(PG_FUNCTION_ARGS)
{
	Rows	   *rows = rows_begin(fcinfo);
	Evaluation *evaluation = evaluate_arguments(fcinfo);

	for (int cell = 0; cell < evaluation->spec->nclasses * evaluation->nanswers; cell++)
	{
		int	   label = cell / evaluation->nanswers;
		double of_label = (double) evaluation->of_class[label];

		put_text(rows, evaluation->spec->classes[label]);
		put_text(rows, answer_name(evaluation, cell % evaluation->nanswers));
		for (int account = 0; account < ACCOUNT_KINDS; account++)
		{
			double expected = evaluation->confusion[account][cell];

			put_float8(rows, expected);
			put_float8_if(rows, of_label > 0, of_label > 0 ? expected / of_label : 0);
		}
		rows_next(rows);
	}
	return (Datum) 0;
}

/* Cells in which nothing is expected are left out. */
static Jsonb *
confusion_json(const Evaluation *evaluation)
{
	StringInfoData json;

	initStringInfo(&json);
	json_open(&json, NULL, '[');
	for (int cell = 0; cell < evaluation->spec->nclasses * evaluation->nanswers; cell++)
	{
		double expected = evaluation->confusion[PURE_ACCOUNT][cell];
		double approximate = evaluation->confusion[DELTA_ACCOUNT][cell];

		if (expected == 0 && approximate == 0)
			continue;
		json_open(&json, NULL, '{');
		json_string(&json, "class", evaluation->spec->classes[cell / evaluation->nanswers]);
		json_string(&json, "answer", answer_name(evaluation, cell % evaluation->nanswers));
		json_number(&json, "rows", expected);
		json_number(&json, "approximate_rows", approximate);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	return json_to_jsonb(json.data);
}

/* ---------- accuracy by epsilon ---------- */

/* accuracy_curve(model, test, epsilons) */
Datum
privpred_accuracy_curve(PG_FUNCTION_ARGS)
{
	Rows	   *rows = rows_begin(fcinfo);
	Evaluation *evaluation = evaluate_arguments(fcinfo);

	for (int i = 0; i < evaluation->npoints; i++)
	{
		const EvaluationPoint *point = &evaluation->points[i];
		bool				   classes = point->known && evaluation->has_classes;
		bool				   numbers = point->known && evaluation->has_numbers;

		put_epsilon(rows, point->spec.epsilon);
		put_bool(rows, point->own);
		put_float8_if(rows, classes, point->accuracy[PURE_ACCOUNT]);
		put_float8_if(rows, classes, point->accuracy[DELTA_ACCOUNT]);
		put_float8_if(rows, numbers, point->rmse[PURE_ACCOUNT]);
		put_float8_if(rows, numbers, point->rmse[DELTA_ACCOUNT]);
		put_text(rows, point->remark);
		rows_next(rows);
	}
	return (Datum) 0;
}

static Jsonb *
curve_json(const Evaluation *evaluation)
{
	StringInfoData json;

	initStringInfo(&json);
	json_open(&json, NULL, '[');
	for (int i = 0; i < evaluation->npoints; i++)
	{
		const EvaluationPoint *point = &evaluation->points[i];
		bool				   classes = point->known && evaluation->has_classes;
		bool				   numbers = point->known && evaluation->has_numbers;
		char				   epsilon[EPSILON_TEXT_SIZE];

		json_open(&json, NULL, '{');
		json_literal(&json, "epsilon", epsilon_to_text(point->spec.epsilon, epsilon));
		json_literal(&json, "own", point->own ? "true" : "false");
		json_number(&json, "private_accuracy", classes ? point->accuracy[PURE_ACCOUNT] : NAN);
		json_number(&json, "approximate_accuracy", classes ? point->accuracy[DELTA_ACCOUNT] : NAN);
		json_number(&json, "private_rmse", numbers ? point->rmse[PURE_ACCOUNT] : NAN);
		json_number(&json, "approximate_rmse", numbers ? point->rmse[DELTA_ACCOUNT] : NAN);
		json_string(&json, "remark", point->remark);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	return json_to_jsonb(json.data);
}

/* ---------- everything in one row ---------- */

/* evaluate(model, test) */
Datum
privpred_evaluate(PG_FUNCTION_ARGS)
{
	Rows				  *row = row_begin(fcinfo);
	Evaluation			  *result = evaluate_arguments(fcinfo);
	const EvaluationPoint *own = result->own;
	bool				   any = result->rows > 0;
	bool				   classes = any && result->has_classes;
	bool				   numbers = any && result->has_numbers;
	bool				   noises = any && result->has_noises;

	put_int8(row, result->rows);
	put_float8_if(row, classes, own->accuracy[PURE_ACCOUNT]);
	put_float8_if(row, classes, result->majority_accuracy);
	put_float8_if(row, classes, result->baseline_accuracy);
	put_float8_if(row, classes, own->accuracy[DELTA_ACCOUNT]);
	put_float8_if(row, noises, result->noise_accuracy[0]);
	put_float8_if(row, noises, result->noise_accuracy[1]);
	put_float8_if(row, numbers, own->rmse[PURE_ACCOUNT]);
	put_float8_if(row, numbers, own->rmse[DELTA_ACCOUNT]);
	put_float8_if(row, numbers, result->plain_rmse);
	put_float8_if(row, numbers, result->baseline_rmse);
	put_bool(row, result->exact);
	put_if(row, classes, classes ? JsonbPGetDatum(confusion_json(result)) : (Datum) 0);
	put_if(row, any, any ? JsonbPGetDatum(curve_json(result)) : (Datum) 0);
	put_float8_if(row, classes, result->margin);
	PG_RETURN_DATUM(row_end(row));
}

/* release_accuracy(model, epsilon) */
Datum
privpred_release_accuracy(PG_FUNCTION_ARGS)
{
	Rows			*row = row_begin(fcinfo);
	ReleasedAccuracy released;

	require_arguments(fcinfo, "model", "epsilon");
	released = request_release_accuracy(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_FLOAT8(1));
	put_float8(row, released.accuracy);
	put_float8(row, released.error);
	put_int8(row, released.units);
	PG_RETURN_DATUM(row_end(row));
}
