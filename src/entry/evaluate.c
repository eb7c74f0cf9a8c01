/*
 * evaluate.c
 *		How good a model is, for its owner: figures and tables.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "entry/entry.h"
#include "server/number_text.h"
#include "request/request.h"

PG_FUNCTION_INFO_V1(privpred_evaluate);
PG_FUNCTION_INFO_V1(privpred_confusion_matrix);
PG_FUNCTION_INFO_V1(privpred_accuracy_curve);

#define EVALUATE_COLUMNS 15
#define CONFUSION_COLUMNS 6
#define CURVE_COLUMNS 7
#define MAX_EPSILONS 1000

/* ---------- arguments ---------- */

/* NULL if the argument is; else *count of them. */
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

/* ---------- rows ---------- */

static void
put(Datum *values, bool *nulls, int column, double figure, bool known)
{
	nulls[column] = !known;
	values[column] = Float8GetDatum(figure);
}

static void
put_point(const Evaluation *evaluation, const EvaluationPoint *point, Datum *values, bool *nulls)
{
	bool classes = point->known && evaluation->has_classes;
	bool numbers = point->known && evaluation->has_numbers;

	memset(nulls, false, CURVE_COLUMNS * sizeof(bool));
	values[0] = units_to_numeric(point->epsilon);
	values[1] = BoolGetDatum(point->own);
	put(values, nulls, 2, point->private_accuracy, classes);
	put(values, nulls, 3, point->approximate_accuracy, classes);
	put(values, nulls, 4, point->private_rmse, numbers);
	put(values, nulls, 5, point->approximate_rmse, numbers);
	nulls[6] = point->remark == NULL;
	if (point->remark != NULL)
		values[6] = CStringGetTextDatum(point->remark);
}

/* Streams alone have unstable answers. */
static int
confusion_width(const Evaluation *evaluation)
{
	return evaluation->record->spec.nclasses +
		   (evaluation->record->mechanism->charge_kind == CHARGE_PER_STREAM ? 1 : 0);
}

static int64
confusion_cells(const Evaluation *evaluation)
{
	return (int64) evaluation->record->spec.nclasses * confusion_width(evaluation);
}

/* Cells line by line: the true class, and the answer, nclasses if it is unstable. */
static void
put_cell(const Evaluation *evaluation, int64 cell, Datum *values, bool *nulls)
{
	const MechanismSpec *spec = &evaluation->record->spec;
	int class = (int) (cell / confusion_width(evaluation));
	int	   answer = (int) (cell % confusion_width(evaluation));
	int64  place = (int64) class * (spec->nclasses + 1) + answer;
	double rows = (double) evaluation->of_class[class];

	memset(nulls, false, CONFUSION_COLUMNS * sizeof(bool));
	values[0] = CStringGetTextDatum(spec->classes[class]);
	nulls[1] = answer == spec->nclasses;
	if (!nulls[1])
		values[1] = CStringGetTextDatum(spec->classes[answer]);
	put(values, nulls, 2, evaluation->private_confusion[place], true);
	put(values, nulls, 3, rows > 0 ? evaluation->private_confusion[place] / rows : 0, rows > 0);
	put(values, nulls, 4, evaluation->approximate_confusion[place], true);
	put(values, nulls, 5, rows > 0 ? evaluation->approximate_confusion[place] / rows : 0, rows > 0);
}

/* ---------- sets ---------- */

static RowList *
confusion_all(FunctionCallInfo fcinfo)
{
	RowList *list = palloc0_object(RowList);

	list->rows = evaluate_arguments(fcinfo);
	list->count = (int) confusion_cells(list->rows);
	return list;
}

static HeapTuple
confusion_row(TupleDesc columns, const RowList *list, int number)
{
	Datum values[CONFUSION_COLUMNS];
	bool  nulls[CONFUSION_COLUMNS];

	put_cell(list->rows, number, values, nulls);
	return heap_form_tuple(columns, values, nulls);
}

/* confusion_matrix(model, test) */
Datum
privpred_confusion_matrix(PG_FUNCTION_ARGS)
{
	return next_row(fcinfo, confusion_all, confusion_row);
}

static RowList *
curve_all(FunctionCallInfo fcinfo)
{
	RowList	   *list = palloc0_object(RowList);
	Evaluation *evaluation = evaluate_arguments(fcinfo);

	list->rows = evaluation;
	list->count = evaluation->npoints;
	return list;
}

static HeapTuple
curve_row(TupleDesc columns, const RowList *list, int number)
{
	const Evaluation *evaluation = list->rows;
	Datum			  values[CURVE_COLUMNS];
	bool			  nulls[CURVE_COLUMNS];

	put_point(evaluation, &evaluation->points[number], values, nulls);
	return heap_form_tuple(columns, values, nulls);
}

/* accuracy_curve(model, test, epsilons) */
Datum
privpred_accuracy_curve(PG_FUNCTION_ARGS)
{
	return next_row(fcinfo, curve_all, curve_row);
}

/* ---------- the same as JSON ---------- */

static void
append_value(StringInfo json, const char *key, Datum value, bool isnull)
{
	char text[NUMBER_TEXT_SIZE];

	/* JSON has no infinities: errors of huge numbers. */
	appendStringInfo(json, ", \"%s\": %s", key,
					 isnull || !isfinite(DatumGetFloat8(value))
						 ? "null"
						 : number_text(DatumGetFloat8(value), text));
}

/* Cells that nothing is expected in are left out. */
static Datum
confusion_json(const Evaluation *evaluation)
{
	StringInfoData json;
	Datum		   values[CONFUSION_COLUMNS];
	bool		   nulls[CONFUSION_COLUMNS];

	initStringInfo(&json);
	appendStringInfoChar(&json, '[');
	for (int64 i = 0; i < confusion_cells(evaluation); i++)
	{
		put_cell(evaluation, i, values, nulls);
		if (DatumGetFloat8(values[2]) == 0 && DatumGetFloat8(values[4]) == 0)
			continue;
		appendStringInfo(&json, "%s{\"class\": ", json.len > 1 ? ", " : "");
		escape_json(&json, TextDatumGetCString(values[0]));
		appendStringInfoString(&json, ", \"answer\": ");
		if (nulls[1])
			appendStringInfoString(&json, "null");
		else
			escape_json(&json, TextDatumGetCString(values[1]));
		append_value(&json, "rows", values[2], nulls[2]);
		append_value(&json, "approximate_rows", values[4], nulls[4]);
		appendStringInfoChar(&json, '}');
	}
	appendStringInfoChar(&json, ']');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

static Datum
curve_json(const Evaluation *evaluation)
{
	static const char *const keys[] = {"private_accuracy", "approximate_accuracy", "private_rmse",
									   "approximate_rmse"};
	StringInfoData			 json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '[');
	for (int i = 0; i < evaluation->npoints; i++)
	{
		Datum values[CURVE_COLUMNS];
		bool  nulls[CURVE_COLUMNS];

		put_point(evaluation, &evaluation->points[i], values, nulls);
		appendStringInfo(&json, "%s{\"epsilon\": %s, \"own\": %s", i > 0 ? ", " : "",
						 DatumGetCString(DirectFunctionCall1(numeric_out, values[0])),
						 evaluation->points[i].own ? "true" : "false");
		for (int j = 0; j < lengthof(keys); j++)
			append_value(&json, keys[j], values[2 + j], nulls[2 + j]);
		appendStringInfoString(&json, ", \"remark\": ");
		if (nulls[6])
			appendStringInfoString(&json, "null");
		else
			escape_json(&json, TextDatumGetCString(values[6]));
		appendStringInfoChar(&json, '}');
	}
	appendStringInfoChar(&json, ']');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/* evaluate(model, test) */
Datum
privpred_evaluate(PG_FUNCTION_ARGS)
{
	Evaluation *result = evaluate_arguments(fcinfo);
	bool		classes = result->rows > 0 && result->has_classes;
	bool		numbers = result->rows > 0 && result->has_numbers;
	bool		noises = result->rows > 0 && result->has_noises;
	Datum		values[EVALUATE_COLUMNS];
	bool		nulls[EVALUATE_COLUMNS] = {false};

	values[0] = Int64GetDatum(result->rows);
	put(values, nulls, 1, result->own->private_accuracy, classes);
	put(values, nulls, 2, result->majority_accuracy, classes);
	put(values, nulls, 3, result->baseline_accuracy, classes);
	put(values, nulls, 4, result->own->approximate_accuracy, classes);
	put(values, nulls, 5, result->exponential_accuracy, noises);
	put(values, nulls, 6, result->gaussian_accuracy, noises);
	put(values, nulls, 7, result->own->private_rmse, numbers);
	put(values, nulls, 8, result->own->approximate_rmse, numbers);
	put(values, nulls, 9, result->plain_rmse, numbers);
	put(values, nulls, 10, result->baseline_rmse, numbers);
	values[11] = BoolGetDatum(result->exact);
	nulls[12] = !classes;
	if (classes)
		values[12] = confusion_json(result);
	nulls[13] = result->rows == 0;
	if (result->rows > 0)
		values[13] = curve_json(result);
	put(values, nulls, 14, result->margin, classes);
	PG_RETURN_DATUM(make_row(fcinfo, values, nulls));
}
