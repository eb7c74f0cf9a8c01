/*
 * export.c
 *		A released model as JSON, for use elsewhere.
 *
 * What an owner exports is released to everybody, so that everybody pays before
 * it leaves.  Whoever reads it pays for it as for a first answer: with it, all
 * answers can be computed.  The owner has seen the rows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/request.h"
#include "server/json_text.h"

static bool
is_released(const ModelRecord *record)
{
	return record->mechanism->charge_kind == CHARGE_ONCE &&
		   (record->predictor != NULL || record->mechanism->export_json != NULL);
}

static char *
released_json(const CachedModel *model)
{
	const ModelRecord *record = model->record;
	Jsonb			  *features = feature_spec_write(record->features);
	StringInfoData	   json;

	if (!is_released(record))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("model \"%s\" is not released", record->name),
				 errdetail("Its answers are private one by one; the model itself is not."),
				 errhint("Make a student of it with privpred.distill, or use a mechanism that is "
						 "charged once.")));
	initStringInfo(&json);
	json_open(&json, NULL, '{');
	json_string(&json, "model", record->name);
	json_literal(&json, "version", psprintf("%d", record->version));
	json_string(&json, "mechanism", record->mechanism->name);
	json_string(&json, "charge", record->charge);
	if (record->spec.nclasses > 0)
		json_literal(&json, "classes", classes_json(&record->spec));
	else if (record->predictor != NULL)
	{
		json_open(&json, "target", '{');
		json_number(&json, "min", record->spec.label_min);
		json_number(&json, "max", record->spec.label_max);
		json_close(&json, '}');
	}
	json_literal(&json, "features", JsonbToCString(NULL, &features->root, VARSIZE(features)));
	json_literal(&json, "predictor",
				 record->predictor != NULL
					 ? predictor_json(record->predictor)
					 : record->mechanism->export_json(&model->mechanism_model));
	json_close(&json, '}');
	return json.data;
}

/* In both, nothing can fail after the model is paid for. */

text *
request_export(const char *name)
{
	CachedModel *model = known_model_decoded(name, CurrentMemoryContext, GetUserId());
	LedgerPrice	 price;
	char		*json;

	check_relation_owner(model->record->relid);
	check_paid_once(model);
	json = released_json(model);
	price = request_price(model->record);
	ledger_release_to_all(&price);
	return cstring_to_text(json);
}

text *
request_read_model(const char *name)
{
	CachedModel *model = known_model_decoded(name, CurrentMemoryContext, asking_role());
	LedgerPrice	 price = request_price(model->record);
	text		*json = cstring_to_text(released_json(model));

	check_paid_once(model);
	if (!role_owns(asking_role(), model->record->relid))
		(void) ledger_spend(ledger_open(CurrentMemoryContext, &price), NULL);
	return json;
}
