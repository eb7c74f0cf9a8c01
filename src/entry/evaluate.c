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
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("epsilons must be a list of at most %d numbers", MAX_EPSILONS),
						errhint("Use '{0.1, 0.5, 1}', for example, or leave it out.")));
	epsilons = palloc_array(EpsilonUnits, Max(*count, 1));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							errmsg("epsilons must not contain nulls"),
							errhint("Use '{0.1, 0.5, 1}', for example, or leave it out.")));
		epsilons[i] = read_epsilon(DatumGetFloat8(elements[i]), EPSILON_PER_ANSWER_MAX, "epsilon");
	}
	return epsilons;
}

/* The first two arguments, and the third if there is one. */
static Evaluation *
evaluate_arguments(FunctionCallInfo fcinfo)
{
	EpsilonUnits *epsilons = NULL;
	int			  count = 0;

	require_argument(fcinfo, 0, "model");
	require_argument(fcinfo, 1, "test");
	if (PG_NARGS() > 2)
		epsilons = read_epsilons(fcinfo, 2, &count);
	return request_evaluate(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_OID(1), epsilons,
							count);
}

/* ---------- the confusion matrix ---------- */

typedef struct Cell
{
	const char *class;
	const char *answer; /* NULL: unstable */
	double		class_rows;
	double		rows;
	double		approximate_rows;
} Cell;

/* Streams alone have unstable answers. */
static int
confusion_width(const Evaluation *evaluation)
{
	return evaluation->record->spec.nclasses +
		   (evaluation->record->mechanism->charge_kind == CHARGE_PER_STREAM ? 1 : 0);
}

/* The expected number of rows of a class that get an answer, which is nclasses if unstable. */
static Cell
confusion_cell(const Evaluation *evaluation, int class, int answer)
{
	const MechanismSpec *spec = &evaluation->record->spec;
	int64				 place = (int64) class * (spec->nclasses + 1) + answer;

	return (Cell){
		.class = spec->classes[class],
		.answer = answer < spec->nclasses ? spec->classes[answer] : NULL,
		.class_rows = (double) evaluation->of_class[class],
		.rows = evaluation->private_confusion[place],
		.approximate_rows = evaluation->approximate_confusion[place],
	};
}

/* confusion_matrix(model, test) */
Datum
privpred_confusion_matrix(PG_FUNCTION_ARGS)
{
	Rows	   *rows = rows_begin(fcinfo);
	Evaluation *evaluation = evaluate_arguments(fcinfo);

	for (int class = 0; class < evaluation->record->spec.nclasses; class ++)
		for (int answer = 0; answer < confusion_width(evaluation); answer++)
		{
			Cell cell = confusion_cell(evaluation, class, answer);
			bool any = cell.class_rows > 0;

			put_text(rows, cell.class);
			put_text(rows, cell.answer);
			put_float8(rows, cell.rows);
			put_float8_if(rows, any, any ? cell.rows / cell.class_rows : 0);
			put_float8(rows, cell.approximate_rows);
			put_float8_if(rows, any, any ? cell.approximate_rows / cell.class_rows : 0);
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
	for (int class = 0; class < evaluation->record->spec.nclasses; class ++)
		for (int answer = 0; answer < confusion_width(evaluation); answer++)
		{
			Cell cell = confusion_cell(evaluation, class, answer);

			if (cell.rows == 0 && cell.approximate_rows == 0)
				continue;
			json_open(&json, NULL, '{');
			json_string(&json, "class", cell.class);
			json_string(&json, "answer", cell.answer);
			json_number(&json, "rows", cell.rows);
			json_number(&json, "approximate_rows", cell.approximate_rows);
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

		put_epsilon(rows, point->epsilon);
		put_bool(rows, point->own);
		put_float8_if(rows, classes, point->private_accuracy);
		put_float8_if(rows, classes, point->approximate_accuracy);
		put_float8_if(rows, numbers, point->private_rmse);
		put_float8_if(rows, numbers, point->approximate_rmse);
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
		json_literal(&json, "epsilon", epsilon_to_text(point->epsilon, epsilon));
		json_literal(&json, "own", point->own ? "true" : "false");
		json_number(&json, "private_accuracy", classes ? point->private_accuracy : NAN);
		json_number(&json, "approximate_accuracy", classes ? point->approximate_accuracy : NAN);
		json_number(&json, "private_rmse", numbers ? point->private_rmse : NAN);
		json_number(&json, "approximate_rmse", numbers ? point->approximate_rmse : NAN);
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
	Rows	   *row = row_begin(fcinfo);
	Evaluation *result = evaluate_arguments(fcinfo);
	bool		any = result->rows > 0;
	bool		classes = any && result->has_classes;
	bool		numbers = any && result->has_numbers;
	bool		noises = any && result->has_noises;

	put_int8(row, result->rows);
	put_float8_if(row, classes, result->own->private_accuracy);
	put_float8_if(row, classes, result->majority_accuracy);
	put_float8_if(row, classes, result->baseline_accuracy);
	put_float8_if(row, classes, result->own->approximate_accuracy);
	put_float8_if(row, noises, result->exponential_accuracy);
	put_float8_if(row, noises, result->gaussian_accuracy);
	put_float8_if(row, numbers, result->own->private_rmse);
	put_float8_if(row, numbers, result->own->approximate_rmse);
	put_float8_if(row, numbers, result->plain_rmse);
	put_float8_if(row, numbers, result->baseline_rmse);
	put_bool(row, result->exact);
	put_if(row, classes, classes ? JsonbPGetDatum(confusion_json(result)) : (Datum) 0);
	put_if(row, any, any ? JsonbPGetDatum(curve_json(result)) : (Datum) 0);
	put_float8_if(row, classes, result->margin);
	PG_RETURN_DATUM(row_end(row));
}
