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

#define MAX_EPSILONS 1000
#define MAX_COLUMNS 15

/*
 * A row of a result, filled column by column in the order of its SQL declaration.  Columns with a
 * key are also collected as the members of a JSON object, if one is wanted.
 */
typedef struct ResultRow
{
	int		   count;
	Datum	   values[MAX_COLUMNS];
	bool	   nulls[MAX_COLUMNS];
	StringInfo json; /* or NULL */
} ResultRow;

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
	epsilons = palloc_array(EpsilonUnits, *count + 1);
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

/* text is the value in JSON, or NULL where that is null. */
static void
put(ResultRow *row, const char *key, Datum value, bool isnull, const char *text)
{
	row->values[row->count] = value;
	row->nulls[row->count++] = isnull;
	if (row->json != NULL && key != NULL)
		appendStringInfo(row->json, "%s\"%s\": %s", row->count > 1 ? ", " : "", key,
						 text != NULL ? text : "null");
}

static void
put_number(ResultRow *row, const char *key, double figure, bool known)
{
	char text[NUMBER_TEXT_SIZE];

	/* JSON has no infinities: errors of huge numbers. */
	put(row, key, Float8GetDatum(figure), !known,
		known && isfinite(figure) ? number_text(figure, text) : NULL);
}

static void
put_text(ResultRow *row, const char *key, const char *string)
{
	StringInfoData escaped;

	if (string == NULL)
	{
		put(row, key, (Datum) 0, true, NULL);
		return;
	}
	initStringInfo(&escaped);
	escape_json(&escaped, string);
	put(row, key, CStringGetTextDatum(string), false, escaped.data);
}

/* Cells line by line: the true class, and the answer, after all classes if it is unstable. */
static void
put_cell(const Evaluation *evaluation, int cell, ResultRow *row)
{
	char **classes = evaluation->spec->classes;
	int class = cell / evaluation->nanswers;
	int	   answer = cell % evaluation->nanswers;
	double of_class = (double) evaluation->of_class[class];

	row->count = 0;
	put_text(row, "class", classes[class]);
	put_text(row, "answer", answer < evaluation->spec->nclasses ? classes[answer] : NULL);
	for (int account = 0; account < ACCOUNT_KINDS; account++)
	{
		double rows = evaluation->confusion[account][cell];

		put_number(row, account == PURE_ACCOUNT ? "rows" : "approximate_rows", rows, true);
		put_number(row, NULL, of_class > 0 ? rows / of_class : 0, of_class > 0);
	}
}

static void
put_point(const Evaluation *evaluation, int number, ResultRow *row)
{
	const EvaluationPoint *point = &evaluation->points[number];
	bool				   classes = point->known && evaluation->has_classes;
	bool				   numbers = point->known && evaluation->has_numbers;
	Datum				   epsilon = units_to_numeric(point->spec.epsilon);

	row->count = 0;
	put(row, "epsilon", epsilon, false, DatumGetCString(DirectFunctionCall1(numeric_out, epsilon)));
	put(row, "own", BoolGetDatum(point->own), false, point->own ? "true" : "false");
	put_number(row, "private_accuracy", point->accuracy[PURE_ACCOUNT], classes);
	put_number(row, "approximate_accuracy", point->accuracy[DELTA_ACCOUNT], classes);
	put_number(row, "private_rmse", point->rmse[PURE_ACCOUNT], numbers);
	put_number(row, "approximate_rmse", point->rmse[DELTA_ACCOUNT], numbers);
	put_text(row, "remark", point->remark);
}

/* ---------- sets ---------- */

static int
confusion_cells(const Evaluation *evaluation)
{
	return evaluation->spec->nclasses * evaluation->nanswers;
}

/* What next_row() walks through: the rows that put() makes of an evaluation. */
typedef struct ResultSet
{
	Evaluation *evaluation;
	void (*put)(const Evaluation *evaluation, int number, ResultRow *row);
} ResultSet;

static RowList *
result_set(FunctionCallInfo fcinfo, bool cells)
{
	RowList	  *list = palloc0_object(RowList);
	ResultSet *set = list->rows = palloc_object(ResultSet);

	set->evaluation = evaluate_arguments(fcinfo);
	set->put = cells ? put_cell : put_point;
	list->count = cells ? confusion_cells(set->evaluation) : set->evaluation->npoints;
	return list;
}

static RowList *
confusion_all(FunctionCallInfo fcinfo)
{
	return result_set(fcinfo, true);
}

static RowList *
curve_all(FunctionCallInfo fcinfo)
{
	return result_set(fcinfo, false);
}

static HeapTuple
result_tuple(TupleDesc columns, const RowList *list, int number)
{
	const ResultSet *set = list->rows;
	ResultRow		 row = {0};

	set->put(set->evaluation, number, &row);
	return heap_form_tuple(columns, row.values, row.nulls);
}

/* confusion_matrix(model, test) */
Datum
privpred_confusion_matrix(PG_FUNCTION_ARGS)
{
	return next_row(fcinfo, confusion_all, result_tuple);
}

/* accuracy_curve(model, test, epsilons) */
Datum
privpred_accuracy_curve(PG_FUNCTION_ARGS)
{
	return next_row(fcinfo, curve_all, result_tuple);
}

/* ---------- all in one row ---------- */

/* The same rows as a JSON array; cells in which nothing is expected are left out. */
static Datum
rows_json(const Evaluation *evaluation, bool cells)
{
	StringInfoData json;
	ResultRow	   row = {.json = &json};
	int			   count = cells ? confusion_cells(evaluation) : evaluation->npoints;

	initStringInfo(&json);
	for (int i = 0; i < count; i++)
	{
		if (cells && evaluation->confusion[PURE_ACCOUNT][i] == 0 &&
			evaluation->confusion[DELTA_ACCOUNT][i] == 0)
			continue;
		appendStringInfoString(&json, json.len > 0 ? ", {" : "[{");
		(cells ? put_cell : put_point)(evaluation, i, &row);
		appendStringInfoChar(&json, '}');
	}
	appendStringInfoString(&json, json.len > 0 ? "]" : "[]");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/* evaluate(model, test) */
Datum
privpred_evaluate(PG_FUNCTION_ARGS)
{
	const Evaluation	  *result = evaluate_arguments(fcinfo);
	const EvaluationPoint *own = result->own;
	bool				   classes = result->rows > 0 && result->has_classes;
	bool				   numbers = result->rows > 0 && result->has_numbers;
	bool				   noises = result->rows > 0 && result->has_noises;
	ResultRow			   row = {0};

	put(&row, NULL, Int64GetDatum(result->rows), false, NULL);
	put_number(&row, NULL, own->accuracy[PURE_ACCOUNT], classes);
	put_number(&row, NULL, result->majority_accuracy, classes);
	put_number(&row, NULL, result->baseline_accuracy, classes);
	put_number(&row, NULL, own->accuracy[DELTA_ACCOUNT], classes);
	put_number(&row, NULL, result->noise_accuracy[0], noises);
	put_number(&row, NULL, result->noise_accuracy[1], noises);
	put_number(&row, NULL, own->rmse[PURE_ACCOUNT], numbers);
	put_number(&row, NULL, own->rmse[DELTA_ACCOUNT], numbers);
	put_number(&row, NULL, result->plain_rmse, numbers);
	put_number(&row, NULL, result->baseline_rmse, numbers);
	put(&row, NULL, BoolGetDatum(result->exact), false, NULL);
	put(&row, NULL, classes ? rows_json(result, true) : (Datum) 0, !classes, NULL);
	put(&row, NULL, result->rows > 0 ? rows_json(result, false) : (Datum) 0, result->rows == 0,
		NULL);
	put_number(&row, NULL, result->margin, classes);
	PG_RETURN_DATUM(make_row(fcinfo, row.values, row.nulls));
}
