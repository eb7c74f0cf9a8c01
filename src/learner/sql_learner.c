/*
 * sql_learner.c
 *		Any aggregate of the user's own as a learner.
 *
 * train is an aggregate over (label, float8[]); predict is a function of its
 * result and float8[] that returns a label.  What train returns is stored as
 * text.  Both run as the current user, in a subtransaction, and whatever goes
 * wrong in them (except cancellation) becomes a vote for the default class:
 * an error that depends on the rows would tell about them.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/queryenvironment.h"
#include "utils/regproc.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

#include "learner/learners.h"

#define ROWS_NAME "privpred_rows"

/*
 * ---------- finding functions ----------
 */

static List *
qualified_name(const char *name)
{
	List	   *names = parse_qualified_name(name);

	if (list_length(names) != 2)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function name \"%s\" must have the form schema.name", name),
				 errhint("A name without its schema would mean different things to different users.")));
	return names;
}

bool
sql_function_find(const char *name, bool aggregate, Oid first, SqlFunction *found)
{
	Oid			arguments[2] = {first, FLOAT8ARRAYOID};
	Oid		   *declared;
	FuncDetailCode code;
	bool		retset;
	int			nvariadic;
	Oid			variadic;

	code = func_get_detail(qualified_name(name), NIL, NIL, 2, arguments, false, false, false,
						   &found->function, &found->result, &retset, &nvariadic, &variadic,
						   &declared, NULL);
	if (code != (aggregate ? FUNCDETAIL_AGGREGATE : FUNCDETAIL_NORMAL) || retset)
		return false;
	for (int i = 0; i < 2; i++)
	{
		/* we call it without a parser, so nothing can be converted */
		if (!IsPolymorphicType(declared[i]) && !IsBinaryCoercible(arguments[i], declared[i]))
			return false;
		found->arguments[i] = arguments[i];
	}
	found->result = enforce_generic_type_consistency(arguments, declared, 2, found->result, false);
	if (get_typtype(found->result) == TYPTYPE_PSEUDO)
		return false;			/* has no text that could be read again */
	if (function_aclcheck(found->function, GetUserId(), ACL_EXECUTE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, aggregate ? OBJECT_AGGREGATE : OBJECT_FUNCTION, name);
	return true;
}

/* The aggregate for the label's own type, or else for its text. */
static bool
find_train(const char *name, Oid label_type, SqlFunction *found)
{
	return sql_function_find(name, true, label_type, found) ||
		(label_type != TEXTOID && sql_function_find(name, true, TEXTOID, found));
}

void
learner_check_sql_functions(const LearnerOptions *options, Oid label_type)
{
	Oid			base_type = getBaseType(label_type);
	SqlFunction train;
	SqlFunction predict;

	if (!find_train(options->train, base_type, &train))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("aggregate %s(%s, double precision[]) does not exist",
						options->train, format_type_be(base_type)),
				 errhint("Option \"train\" must name an aggregate over the label, or its text, "
						 "and an array of features.")));
	if (!sql_function_find(options->predict, false, train.result, &predict))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function %s(%s, double precision[]) does not exist",
						options->predict, format_type_be(train.result)),
				 errhint("Option \"predict\" must name a function of the aggregate's result "
						 "and an array of features.")));
}

/*
 * ---------- training ----------
 */

static TupleDesc
rows_descriptor(const SqlFunction *train)
{
	TupleDesc	descriptor = CreateTemplateTupleDesc(2);

	TupleDescInitEntry(descriptor, 1, "label", train->arguments[0], -1, 0);
	TupleDescInitEntry(descriptor, 2, "features", FLOAT8ARRAYOID, -1, 0);
	return descriptor;
}

static ArrayType *
features_array(const double *x, int width)
{
	Datum	   *elements = palloc(width * sizeof(Datum));
	ArrayType  *array;

	for (int i = 0; i < width; i++)
		elements[i] = Float8GetDatum(x[i]);
	array = construct_array(elements, width, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	pfree(elements);
	return array;
}

/* The rows in canonical order; they go to disk beyond work_mem. */
static Tuplestorestate *
store_rows(const TrainingData *data, const SqlFunction *train, TupleDesc descriptor)
{
	Tuplestorestate *store = tuplestore_begin_heap(false, false, work_mem);
	Datum	   *labels = palloc(data->nclasses * sizeof(Datum));
	Oid			input;
	Oid			parameter;

	getTypeInputInfo(train->arguments[0], &input, &parameter);
	for (int c = 0; c < data->nclasses; c++)
		if (data->class_rows[c] > 0)
			labels[c] = OidInputFunctionCall(input, data->classes[c], parameter, -1);

	for (int64 i = 0; i < data->nrows; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		values[0] = labels[training_class(data, i)];
		values[1] = PointerGetDatum(features_array(training_row(data, i), data->width));
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

/* Runs the aggregate; NULL if it returned null.  The result is in context. */
static char *
run_train(const TrainingData *data, const SqlFunction *train, const char *name,
		  MemoryContext context)
{
	EphemeralNamedRelationData rows = {0};
	List	   *names = qualified_name(name);
	char	   *query = psprintf("SELECT %s(r.label, r.features) FROM " ROWS_NAME " r",
								 quote_qualified_identifier(strVal(linitial(names)),
															strVal(lsecond(names))));
	int			guc_level = NewGUCNestLevel();
	char	   *value;

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
	if (SPI_execute(query, false, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "aggregate returned no row");
	value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (value)
		value = MemoryContextStrdup(context, value);
	tuplestore_end(rows.reldata);
	SPI_finish();
	AtEOXact_GUC(true, guc_level);
	return value;
}

/* In a subtransaction, so that an error leaves nothing behind. */
static char *
try_train(const TrainingData *data, const LearnerOptions *options, SqlFunction *train)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	char	   *volatile value = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		if (find_train(options->train, data->label_type, train))
			value = run_train(data, train, options->train, context);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		value = NULL;
	}
	PG_END_TRY();
	return value;
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
	SqlFunction train;
	char	   *value = try_train(data, options, &train);

	if (value == NULL)
		return false;
	builder_sql(result, options->predict,
				format_type_extended(train.result, -1, FORMAT_TYPE_FORCE_QUALIFY), value);
	return true;
}

const Learner sql_learner = {
	.name = "sql",
	.aggregate = "sql_learner",
	.additive = false,
	.runs_user_code = true,
	.option_keys = "train, predict",
	.fit_row_bytes = fit_row_bytes,
	.fit = fit,
};
