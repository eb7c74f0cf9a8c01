/*
 * export.c
 *		A released model as JSON, for use elsewhere.
 *
 * What leaves the database is released to everybody, so that everybody pays
 * before it does.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/request.h"

static void
append_string(StringInfo json, const char *key, const char *value)
{
	appendStringInfo(json, "\"%s\": ", key);
	escape_json(json, value);
	appendStringInfoString(json, ", ");
}

static bool
is_released(const ModelRecord *record)
{
	return record->mechanism->charge_kind == CHARGE_ONCE &&
		   (record->predictor != NULL || record->mechanism->export_json != NULL);
}

text *
request_export(const char *name)
{
	const CachedModel *model = known_model_decoded(name, CurrentMemoryContext, GetUserId());
	const ModelRecord *record = model->record;
	Jsonb			  *features;
	StringInfoData	   json;
	LedgerPrice		   price;

	check_relation_owner(record->relid);
	if (!is_released(record))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("model \"%s\" cannot be exported", name),
				 errdetail("Its answers are private one by one; the model itself is not."),
				 errhint("Make a student of it with privpred.distill, or use a mechanism that is "
						 "charged once.")));
	features = feature_spec_write(record->features);
	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	append_string(&json, "model", record->name);
	appendStringInfo(&json, "\"version\": %d, ", record->version);
	append_string(&json, "mechanism", record->mechanism->name);
	append_string(&json, "charge", record->charge);
	if (record->spec.nclasses > 0)
		appendStringInfo(&json, "\"classes\": %s, ", classes_json(&record->spec));
	appendStringInfo(&json, "\"features\": %s, \"predictor\": ",
					 JsonbToCString(NULL, &features->root, VARSIZE(features)));
	if (record->predictor != NULL)
		predictor_append_json(&json, record->predictor);
	else
		appendStringInfoString(&json, record->mechanism->export_json(&model->mechanism_model));
	appendStringInfoChar(&json, '}');

	/* Nothing can fail after this. */
	price = request_price(record);
	ledger_release_to_all(&price);
	return cstring_to_text(json.data);
}
