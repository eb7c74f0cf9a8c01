/*
 * predict.c
 *		One private answer: find the model, encode the question, pay, draw.
 *
 * Nothing here reads the protected table.  The question is checked before it
 * is paid for, so that bad input costs nothing; after the debit nothing can
 * fail.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/request.h"

/* What one call site of one statement remembers about one model. */
typedef struct PredictSite
{
	CachedModel *model;
	LedgerLease *lease;
	double	   *x;				/* the encoded question */

	RowEncoder *row_encoder;	/* for the row type last seen */
	Oid			row_type;
	int32		row_typmod;

	struct PredictSite *next;	/* other models at the same call site */
} PredictSite;

LedgerPrice
request_price(const ModelRecord *model)
{
	LedgerPrice price = {
		.relation_id = model->relation_id,
		.model_id = model->model_id,
		.version = model->version,
		.model_name = model->name,
		.epsilon = model->epsilon,
		.mechanism = model->mechanism,
	};

	return price;
}

LedgerQuote
request_quote(const char *name, int64 answers)
{
	LedgerPrice price = request_price(model_cache_get(name, CurrentMemoryContext)->record);

	return ledger_quote(&price, GetOuterUserId(), answers);
}

static PredictSite *
open_site(FmgrInfo *site, text *name)
{
	MemoryContext caller = MemoryContextSwitchTo(site->fn_mcxt);
	PredictSite *result = palloc0_object(PredictSite);
	ModelRecord *record;
	LedgerPrice price;

	result->model = model_cache_get(text_to_cstring(name), site->fn_mcxt);
	ensemble_check_callable(result->model->mechanism_model.ensemble);
	record = result->model->record;
	price = request_price(record);
	result->lease = ledger_open(site->fn_mcxt, &price);
	result->x = palloc0_array(double, record->features->width);
	result->next = site->fn_extra;
	site->fn_extra = result;
	MemoryContextSwitchTo(caller);
	return result;
}

static PredictSite *
find_site(FmgrInfo *site, text *name)
{
	for (PredictSite *candidate = site->fn_extra; candidate; candidate = candidate->next)
	{
		const char *known = candidate->model->record->name;

		if (candidate->model->valid &&
			strlen(known) == VARSIZE_ANY_EXHDR(name) &&
			memcmp(known, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)) == 0)
			return candidate;
	}
	return open_site(site, name);
}

static void
encode_row_input(FmgrInfo *site, PredictSite *predict, HeapTupleHeader row)
{
	Oid			type = HeapTupleHeaderGetTypeId(row);
	int32		typmod = HeapTupleHeaderGetTypMod(row);
	MemoryContext caller;
	TupleDesc	columns;

	if (predict->row_encoder == NULL || predict->row_type != type ||
		predict->row_typmod != typmod)
	{
		caller = MemoryContextSwitchTo(site->fn_mcxt);
		columns = lookup_rowtype_tupdesc_copy(type, typmod);
		predict->row_encoder = row_encoder_create(predict->model->record->features, columns, false);
		predict->row_type = type;
		predict->row_typmod = typmod;
		MemoryContextSwitchTo(caller);
	}
	encode_row(predict->row_encoder, row, ENCODE_PREDICTION, predict->x);
}

/*
 * A learner in SQL runs the owner's function: as the owner, not as the asker,
 * and with nothing of the asker's in its search_path.
 */
static int
answer_as_owner(const LedgerReceipt *receipt, const CachedModel *model, const double *x)
{
	CatalogSession session;
	int			answer;

	owner_rights_begin(&session, model->record->relid);
	answer = model->record->mechanism->answer(receipt, &model->mechanism_model, x);
	catalog_end(&session);
	return answer;
}

const char *
request_predict(FmgrInfo *site, text *name, InputForm form, Datum input)
{
	PredictSite *predict = find_site(site, name);
	const CachedModel *model = predict->model;
	const LedgerReceipt *receipt;
	int			answer;

	switch (form)
	{
		case INPUT_ARRAY:
			encode_array(model->record->features, DatumGetArrayTypeP(input), predict->x);
			break;
		case INPUT_JSONB:
			encode_jsonb(model->record->features, DatumGetJsonbP(input), predict->x);
			break;
		case INPUT_ROW:
			encode_row_input(site, predict, DatumGetHeapTupleHeader(input));
			break;
	}

	receipt = ledger_spend(predict->lease);
	if (ensemble_runs_sql(model->mechanism_model.ensemble))
		answer = answer_as_owner(receipt, model, predict->x);
	else
		answer = model->record->mechanism->answer(receipt, &model->mechanism_model, predict->x);
	return model->record->classes[answer];
}
