/*
 * owner_code.c
 *		Functions of a relation's owner (learner "sql") in an asker's session.
 *
 * They run with the owner's rights, so nothing of the asker's may run or be read
 * in their place: names are not found in the session's temporary schema,
 * because there is nothing in it; settings are fixed; and the functions are those
 * that the owner trained with.  All of this is checked before an answer is paid
 * for.  What is checked is what runs: as the owner of that moment.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/train.h"

/* A stranger does not learn how a model is made, not even when it cannot answer. */
static void
check_asker(const ModelRecord *model)
{
	LedgerPrice price = request_price(model);
	Oid			role = asking_role();

	if (!object_ownercheck(RelationRelationId, model->relid, role) &&
		!ledger_quote(&price, role, 1).has_account)
		refuse_without_budget(model->name, role);
}

/* pg_temp is searched first unless a function's search_path puts it last. */
pg_noreturn static void
refuse_temporary_objects(const ModelRecord *model)
{
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("model \"%s\" cannot be used in a session with temporary objects", model->name),
			errdetail("It runs functions of the owner of its relation, which could find them."),
			errhint("Use another session, or DISCARD TEMP."));
}

static bool
functions_unchanged(const ModelRecord *model, Oid owner)
{
	CatalogSession session;
	bool		   unchanged;

	if (model->functions == NULL)
		return false;
	if (sql_binding_was_checked(model->functions, owner))
		return true;
	owner_code_begin(&session, owner);
	unchanged = sql_binding_check(model->functions, owner);
	catalog_end(&session);
	return unchanged;
}

Oid
owner_code_check(const CachedModel *model)
{
	const ModelRecord *record = model->record;
	const Ensemble	  *ensemble = model->mechanism_model.ensemble;
	Oid				   owner;

	if (ensemble == NULL || !ensemble_runs_sql(ensemble))
		return InvalidOid;
	owner = relation_owner(record->relid);
	if (sql_session_has_temporary_objects())
	{
		check_asker(record);
		refuse_temporary_objects(record);
	}
	if (functions_unchanged(record, owner))
		return owner;
	check_asker(record);
	ereport(
		ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		errmsg("functions of model \"%s\" are not those that it was trained with", record->name),
		errdetail("Their definition or owner, or the owner of the relation, has changed. "
				  "Nothing was charged."),
		errhint("The owner of the relation can take them as they are now with "
				"privpred.retrain()."));
}

void
owner_code_enter(CatalogSession *session, Oid owner)
{
	if (OidIsValid(owner))
		owner_code_begin(session, owner);
}

void
owner_code_leave(CatalogSession *session, Oid owner)
{
	if (OidIsValid(owner))
		catalog_end(session);
}

void
owner_code_bind(ModelRecord *model, const LearnerOptions *options, Oid label_type)
{
	CatalogSession session;
	Oid			   owner = relation_owner(model->relid);

	owner_code_begin(&session, owner);
	model->functions = sql_binding_create(options, label_type, owner);
	catalog_end(&session);
	if (sql_session_has_temporary_objects())
		refuse_temporary_objects(model);
}
