/*
 * sql_learner.c
 *		Any aggregate of the user's own as a learner.
 *
 * train is an aggregate over (label, float8[]); predict is a function of its
 * result and float8[] that returns a label.  Of numbers, both are in [0, 1].  What
 * train returns is stored as text.  Both run as the current user, in a
 * subtransaction, and whatever goes wrong in them (except cancellation) becomes a
 * vote for the default class: an error that depends on the rows would tell about them.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/queryenvironment.h"
#include "utils/tuplestore.h"

#include "learner/learners.h"
#include "server/number_text.h"

#define ROWS_NAME "privpred_rows"

/* ---------- training ---------- */

static TupleDesc
rows_descriptor(const SqlFunction *train)
{
	TupleDesc descriptor = CreateTemplateTupleDesc(2);

	TupleDescInitEntry(descriptor, 1, "label", train->arguments[0], -1, 0);
	TupleDescInitEntry(descriptor, 2, "features", FLOAT8ARRAYOID, -1, 0);
	return descriptor;
}

/* The rows in canonical order; they go to disk beyond work_mem. */
static Tuplestorestate *
store_rows(const TrainingData *data, const SqlFunction *train, TupleDesc descriptor)
{
	Tuplestorestate *store = tuplestore_begin_heap(false, false, work_mem);
	bool			 numbers = data->stride > data->width;
	Datum			*labels = palloc(data->nclasses * sizeof(Datum));
	Oid				 input;
	Oid				 parameter;

	getTypeInputInfo(train->arguments[0], &input, &parameter);
	for (int c = 0; c < data->nclasses; c++)
		if (data->class_rows[c] > 0 && !numbers)
			labels[c] = OidInputFunctionCall(input, data->classes[c], parameter, -1);

	for (int64 i = 0; i < data->nrows; i++)
	{
		Datum values[2];
		bool  nulls[2] = {false, false};
		char  text[NUMBER_TEXT_SIZE];

		values[0] =
			numbers
				? OidInputFunctionCall(input, number_text(training_row(data, i)[data->width], text),
									   parameter, -1)
				: labels[training_class(data, i)];
		values[1] = PointerGetDatum(sql_features(training_row(data, i), data->width));
		tuplestore_putvalues(store, descriptor, values, nulls);
		pfree(DatumGetPointer(values[1]));
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return store;
}

/* The text of numbers and dates must not depend on the session. */
static void
fix_text_settings(void)
{
	static const char *const settings[][2] = {
		{"extra_float_digits", "1"},
		{"datestyle", "ISO, YMD"},
		{"intervalstyle", "postgres"},
		{"bytea_output", "hex"},
	};

	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
}

/* The parser found the function by its name; it must be the one that is meant. */
static void
check_aggregate(SPIPlanPtr plan, Oid function)
{
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(plan));
	TargetEntry		 *column = linitial(linitial_node(Query, source->query_list)->targetList);

	if (!IsA(column->expr, Aggref) || ((Aggref *) column->expr)->aggfnoid != function)
		elog(ERROR, "found an aggregate other than function %u", function);
}

/* Runs the aggregate; NULL if it returned null.  The result is in context. */
static char *
run_train(const TrainingData *data, const SqlFunction *train, MemoryContext context)
{
	EphemeralNamedRelationData rows = {0};
	char					  *query =
		psprintf("SELECT %s(r.label, r.features) FROM " ROWS_NAME " r",
				 quote_qualified_identifier(get_namespace_name(get_func_namespace(train->function)),
											get_func_name(train->function)));
	int		   guc_level = NewGUCNestLevel();
	SPIPlanPtr plan;
	char	  *value;

	fix_text_settings();
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	rows.md.name = ROWS_NAME;
	rows.md.tupdesc = rows_descriptor(train);
	rows.md.enrtype = ENR_NAMED_TUPLESTORE;
	rows.md.enrtuples = data->nrows;
	rows.reldata = store_rows(data, train, rows.md.tupdesc);
	if (SPI_register_relation(&rows) != SPI_OK_REL_REGISTER)
		elog(ERROR, "SPI_register_relation failed");
	plan = SPI_prepare(query, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	check_aggregate(plan, train->function);
	if (SPI_execute_plan(plan, NULL, NULL, false, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "aggregate returned no row");
	value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (value)
		value = MemoryContextStrdup(context, value);
	tuplestore_end(rows.reldata);
	SPI_finish();
	AtEOXact_GUC(true, guc_level);
	return value;
}

/* One training: what goes in, and what comes out. */
typedef struct SqlTraining
{
	const TrainingData	 *data;
	const LearnerOptions *options;
	MemoryContext		  context; /* of the result */
	SqlFunction			  train;
	char				 *predict;
	char				 *value; /* NULL: none */
} SqlTraining;

/* A name is good for the current user's own training; models come with signatures. */
static void
find_and_train(void *arg)
{
	SqlTraining			 *training = arg;
	const LearnerOptions *options = training->options;
	SqlFunction			  predict;

	if (sql_train_find(options->name[SQL_TRAIN],
					   options->numbers ? FLOAT8OID : training->data->label_type,
					   &training->train) &&
		sql_function_find(options->name[SQL_PREDICT], false, training->train.result, &predict))
	{
		training->predict = sql_signature(predict.function);
		training->value = run_train(training->data, &training->train, training->context);
	}
}

static const Option options_of[] = {
	[SQL_TRAIN] = {"train", OPTION_NAME},
	[SQL_PREDICT] = {"predict", OPTION_NAME},
	{NULL},
};

static void
check_options(const LearnerOptions *options)
{
	if (options->name[SQL_TRAIN] == NULL || options->name[SQL_PREDICT] == NULL)
		refuse(
			errmsg("learner \"sql\" needs the options \"train\" and \"predict\""),
			errhint("Name an aggregate and a function, each with its schema: "
					"{\"train\": \"myschema.my_train\", \"predict\": \"myschema.my_predict\"}."));
}

static Size
fit_row_bytes(int nclasses, int width)
{
	/* sort keys; the rows themselves go to a tuplestore */
	return 16 + 2 * sizeof(int32);
}

static bool
fit(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	SqlTraining training = {.data = data, .options = options, .context = CurrentMemoryContext};
	ErrorData  *error = sql_try(find_and_train, &training, CurrentMemoryContext);

	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	if (error != NULL || training.value == NULL)
		return false;
	builder_sql(result, training.predict,
				format_type_extended(training.train.result, -1, FORMAT_TYPE_FORCE_QUALIFY),
				training.value);
	return true;
}

const Learner sql_learner = {
	.name = "sql",
	.aggregate = "sql_learner",
	.runs_user_code = true,
	.options = options_of,
	.check_options = check_options,
	.fit_row_bytes = fit_row_bytes,
	.fit = fit,
	.fit_numbers = fit,
};
