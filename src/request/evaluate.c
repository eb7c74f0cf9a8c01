/*
 * evaluate.c
 *		How good a model's private answers are on labelled rows.
 *
 * The expectation is computed from the exact distribution of the answer, not
 * by drawing, so it costs no budget; and it is not private, so it is for the
 * owner alone.
 */
#include "postgres.h"

#include <math.h>

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "progress/progress.h"
#include "request/train.h"

#define ROWS_PER_FETCH 1000

typedef struct Tally
{
	const CachedModel *model;
	MechanismModel counted;		/* the model, with the teachers' votes on x */
	int32	   *votes;
	const double *x;			/* encoded */
	int64		rows;

	/* classes, and bins of a number */
	double	   *probability;
	int64	   *of_class;		/* rows per true class */
	int64		majority_right;
	double		private_right;
	double		approximate_right;
	double		noise_right[2]; /* exponential, Gaussian */

	/* numbers, and their bins: sums of squared errors */
	double		private_error;
	double		approximate_error;
	double		plain_error;
	double		label_sum;		/* of differences to the middle of the bounds */
	double		label_squares;
} Tally;

/* True class, true number, features of each row. */
static void
append_test_query(TrainingQuery *query, const ModelRecord *model, Oid test_relation)
{
	StringInfo	text = &query->text;
	const char *label = quote_identifier(model->label);

	appendStringInfoString(text, "SELECT ");
	if (model->nbins > 0)
		append_label_number(text, model);
	else
		appendStringInfo(text, "pg_catalog.array_position($%d, r.%s::pg_catalog.text) - 1",
						 PARAMETER_CLASSES, label);
	if (model->nbins > 0 || model->spec.nclasses == 0)
	{
		appendStringInfo(text, ", CASE WHEN r.%s IS NOT NULL THEN ", label);
		append_scaled_label(text, model);
		appendStringInfoString(text, " END, ");
	}
	else
		appendStringInfoString(text, ", NULL, ");
	append_encoding(text, model->features, psprintf("$%d", PARAMETER_FEATURES));
	appendStringInfo(text, " FROM %s r", relation_sql_name(test_relation));
}

/* ---------- one row ---------- */

static void
tally_class(Tally *tally, int truth)
{
	const MechanismModel *model = &tally->counted;
	const Mechanism *mechanism = tally->model->record->mechanism;

	tally->of_class[truth]++;
	mechanism->distribution(true, model, tally->x, tally->probability);
	tally->private_right += tally->probability[truth];
	mechanism->distribution(false, model, tally->x, tally->probability);
	tally->approximate_right += tally->probability[truth];
	for (int i = 0; i < 2 && mechanism->noise_distribution != NULL; i++)
	{
		mechanism->noise_distribution(i == 1, model, tally->x, tally->probability);
		tally->noise_right[i] += tally->probability[truth];
	}
	if (mechanism->majority(model, tally->x) == truth)
		tally->majority_right++;
}

/* What private_score is off by, squared, in expectation. */
static double
squared_error(const Tally *tally, bool order_is_infinite, double plain, double truth)
{
	const ModelRecord *record = tally->model->record;
	const MechanismModel *model = &tally->counted;
	double		sum = 0;

	if (record->nbins == 0 && record->mechanism->squared_error != NULL)
		return record->mechanism->squared_error(order_is_infinite, model, tally->x, truth);
	if (record->nbins == 0)
		return (plain - truth) * (plain - truth);
	record->mechanism->distribution(order_is_infinite, model, tally->x, tally->probability);
	for (int i = 0; i < record->nbins; i++)
		sum += tally->probability[i] * (bin_middle(record, i) - truth) *
			(bin_middle(record, i) - truth);
	return sum;
}

static void
tally_number(Tally *tally, double truth)
{
	const ModelRecord *record = tally->model->record;
	const MechanismModel *model = &tally->counted;
	double		off_middle = truth - (record->spec.label_min / 2 + record->spec.label_max / 2);
	double		plain = record->nbins > 0 ?
		bin_middle(record, record->mechanism->majority(model, tally->x)) :
		record->mechanism->plain_score(model, tally->x);

	tally->private_error += squared_error(tally, true, plain, truth);
	tally->approximate_error += squared_error(tally, false, plain, truth);
	tally->plain_error += (plain - truth) * (plain - truth);
	tally->label_sum += off_middle;
	tally->label_squares += off_middle * off_middle;
}

static void
tally_row(Tally *tally, HeapTuple row, TupleDesc columns)
{
	const ModelRecord *record = tally->model->record;
	const MechanismSpec *spec = &record->spec;
	CatalogSession session;
	bool		class_isnull;
	bool		number_isnull;
	bool		isnull;
	int			class = DatumGetInt32(SPI_getbinval(row, columns, 1, &class_isnull));
	Datum		number = SPI_getbinval(row, columns, 2, &number_isnull);
	int			width;

	if (class_isnull && number_isnull)
		return;					/* not one of the declared classes */
	tally->x = features_from_array(DatumGetArrayTypeP(SPI_getbinval(row, columns, 3, &isnull)),
								   true, &width);
	tally->rows++;
	/* A learner in SQL runs the owner's functions. */
	owner_rights_begin(&session, record->relid);
	if (tally->votes != NULL)
		teachers_votes(&tally->model->mechanism_model, tally->x, tally->votes);
	if (!class_isnull)
		tally_class(tally, class);
	if (!number_isnull)
		tally_number(tally, spec->label_min +
					 DatumGetFloat8(number) * (spec->label_max - spec->label_min));
	catalog_end(&session);
}

/* ---------- all of them ---------- */

static double
root_mean(double sum, int64 rows)
{
	return sqrt(Max(sum, 0) / rows);
}

static Evaluation
summarise(const Tally *tally)
{
	const ModelRecord *record = tally->model->record;
	Evaluation	result = {0};
	int64		most = 0;

	for (int i = 0; i < record->spec.nclasses; i++)
		most = Max(most, tally->of_class[i]);
	result.rows = tally->rows;
	result.has_noises = record->mechanism->noise_distribution != NULL;
	result.has_classes = record->spec.nclasses > 0;
	result.has_numbers = record->spec.nclasses == 0 || record->nbins > 0;
	if (tally->rows > 0)
	{
		result.private_accuracy = tally->private_right / tally->rows;
		result.approximate_accuracy = tally->approximate_right / tally->rows;
		result.exponential_accuracy = tally->noise_right[0] / tally->rows;
		result.gaussian_accuracy = tally->noise_right[1] / tally->rows;
		result.majority_accuracy = (double) tally->majority_right / tally->rows;
		result.baseline_accuracy = (double) most / tally->rows;
		result.private_rmse = root_mean(tally->private_error, tally->rows);
		result.approximate_rmse = root_mean(tally->approximate_error, tally->rows);
		result.plain_rmse = root_mean(tally->plain_error, tally->rows);
		result.baseline_rmse = root_mean(tally->label_squares -
										 tally->label_sum * tally->label_sum / tally->rows,
										 tally->rows);
	}
	return result;
}

/* Some mechanisms cannot tell what to expect of their answers. */
static void
check_evaluable(const ModelRecord *record)
{
	const Mechanism *mechanism = record->mechanism;

	if (record->spec.nclasses > 0 ? mechanism->distribution == NULL || mechanism->majority == NULL :
		mechanism->plain_score == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("models of mechanism \"%s\" cannot be evaluated", mechanism->name),
				 errdetail("What to expect of their answers is not known without drawing them."),
				 errhint("Evaluate a model of mechanism \"vote\" with the same teachers.")));
}

Evaluation
request_evaluate(const char *name, Oid test_relation)
{
	Tally		tally = {0};
	TrainingQuery query;
	const ModelRecord *record;
	CatalogSession session;
	Portal		portal;

	tally.model = model_cache_get(name, CurrentMemoryContext);
	record = tally.model->record;
	check_relation_owner(record->relid);
	check_evaluable(record);
	progress_begin(name, record->relid);
	tally.counted = tally.model->mechanism_model;
	if (tally.counted.ensemble != NULL)
		tally.counted.votes = tally.votes = palloc_array(int32, record->spec.nclasses);
	tally.probability = palloc_array(double, Max(record->spec.nclasses, 1));
	tally.of_class = palloc0_array(int64, Max(record->spec.nclasses, 1));
	training_query_begin(&query, record);
	append_test_query(&query, record, test_relation);

	caller_begin(&session);
	progress_phase("evaluating rows", (int64) estimated_rows(relation_sql_name(test_relation)));
	portal = SPI_cursor_open_with_args(NULL, query.text.data, TRAINING_PARAMETERS, query.types,
									   query.values, NULL, true, CURSOR_OPT_NO_SCROLL);
	do
	{
		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, ROWS_PER_FETCH);
		for (uint64 i = 0; i < SPI_processed; i++)
		{
			tally_row(&tally, SPI_tuptable->vals[i], SPI_tuptable->tupdesc);
			progress_update(tally.rows);
		}
		SPI_freetuptable(SPI_tuptable);
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
	catalog_end(&session);
	progress_end();
	return summarise(&tally);
}
