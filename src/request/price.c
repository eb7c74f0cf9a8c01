/*
 * price.c
 *		What answers of a model cost, and whoever asks for them.
 */
#include "postgres.h"

#include "account/charge.h"
#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/request.h"
#include "server/session.h"

LedgerPrice
request_price(const ModelRecord *model)
{
	LedgerPrice price = {
		.relation_id = model->population,
		.asked_id = model->relation_id,
		.model_id = model->model_id,
		.version = model->version,
		.training_id = model->training_id,
		.model_name = model->name,
		.kind = model->mechanism->charge_kind,
	};

	/* A charge that is not set cannot be paid by any budget. */
	if ((model->charge != NULL && !charge_from_text(model->charge, &price.finite)) ||
		(model->pure_charge != NULL && !charge_from_text(model->pure_charge, &price.infinite)))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("stored charge of model \"%s\" cannot be read", model->name),
						errhint("Retrain the model.")));
	return price;
}

StatSite *
request_stats(const ModelRecord *model, MemoryContext context)
{
	StatKey key = {
		.role = asking_role(),
		.relation = model->relid,
		.model_id = model->model_id,
		.by_stream = model->mechanism->charge_kind == CHARGE_PER_STREAM,
	};

	return stats_open(context, &key);
}

LedgerQuote
request_quote(const char *name, int64 answers)
{
	Oid			asker = asking_role();
	LedgerPrice price =
		request_price(known_model_decoded(name, CurrentMemoryContext, asker)->record);

	return ledger_quote(&price, asker, answers);
}
