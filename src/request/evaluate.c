/*
 * evaluate.c
 *		How good a model's private answers are on labelled rows.
 *
 * The expectation is computed from the exact distribution of the answer, not
 * by drawing, so it costs no budget; and it is not private, so it is for the
 * owner alone.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "request/request.h"

#define ROWS_PER_FETCH 1000

typedef struct Tally
{
	const CachedModel *model;
	double	   *x;
	double	   *probability;
	int64	   *of_class;		/* rows per true class */
	int64		rows;
	int64		majority_right;
	double		private_right;
	double		approximate_right;
} Tally;

static char *
test_query(const ModelRecord *model, Oid test_relation)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT pg_catalog.array_position($2, r.%s::pg_catalog.text), ",
					 quote_identifier(model->label));
	append_encoding(&query, model->features, "$1");
	appendStringInfo(&query, " FROM %s r",
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(test_relation)),
												get_rel_name(test_relation)));
	return query.data;
}

static void
tally_row(Tally *tally, HeapTuple row, TupleDesc columns)
{
	const MechanismModel *model = &tally->model->mechanism_model;
	const Mechanism *mechanism = tally->model->record->mechanism;
	CatalogSession session;
	bool		isnull;
	int			truth = DatumGetInt32(SPI_getbinval(row, columns, 1, &isnull)) - 1;
	ArrayType  *encoded;

	if (isnull)
		return;					/* not one of the declared classes */
	encoded = DatumGetArrayTypeP(SPI_getbinval(row, columns, 2, &isnull));
	memcpy(tally->x, ARR_DATA_PTR(encoded),
		   tally->model->record->features->width * sizeof(double));
	tally->rows++;
	tally->of_class[truth]++;
	/* A learner in SQL runs the owner's functions. */
	owner_rights_begin(&session, tally->model->record->relid);
	mechanism->distribution(true, model, tally->x, tally->probability);
	tally->private_right += tally->probability[truth];
	mechanism->distribution(false, model, tally->x, tally->probability);
	tally->approximate_right += tally->probability[truth];
	if (mechanism->majority(model, tally->x) == truth)
		tally->majority_right++;
	catalog_end(&session);
}

static Evaluation
summarise(const Tally *tally)
{
	Evaluation	result = {0};
	int64		most = 0;

	for (int i = 0; i < tally->model->record->nclasses; i++)
		most = Max(most, tally->of_class[i]);
	result.rows = tally->rows;
	if (tally->rows > 0)
	{
		result.private_accuracy = tally->private_right / tally->rows;
		result.approximate_accuracy = tally->approximate_right / tally->rows;
		result.majority_accuracy = (double) tally->majority_right / tally->rows;
		result.baseline_accuracy = (double) most / tally->rows;
	}
	return result;
}

Evaluation
request_evaluate(const char *name, Oid test_relation)
{
	Tally		tally = {0};
	const ModelRecord *record;
	CatalogSession session;
	Oid			types[] = {JSONBOID, TEXTARRAYOID};
	Datum		values[lengthof(types)];
	Portal		portal;

	tally.model = model_cache_get(name, CurrentMemoryContext);
	record = tally.model->record;
	check_relation_owner(record->relid);
	tally.x = palloc_array(double, record->features->width);
	tally.probability = palloc_array(double, record->nclasses);
	tally.of_class = palloc0_array(int64, record->nclasses);
	values[0] = JsonbPGetDatum(feature_spec_write(record->features));
	values[1] = PointerGetDatum(array_of_classes(record->classes, record->nclasses));

	caller_begin(&session);
	portal = SPI_cursor_open_with_args(NULL, test_query(record, test_relation), lengthof(types),
									   types, values, NULL, true, CURSOR_OPT_NO_SCROLL);
	do
	{
		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, ROWS_PER_FETCH);
		for (uint64 i = 0; i < SPI_processed; i++)
			tally_row(&tally, SPI_tuptable->vals[i], SPI_tuptable->tupdesc);
		SPI_freetuptable(SPI_tuptable);
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
	catalog_end(&session);
	return summarise(&tally);
}
