/*
 * protect.c
 *		Protecting a relation, and what happens when protection ends.
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/request.h"

void
request_protect(Oid relid, const ProtectOptions *options, LedgerGrant *cap)
{
	int64 relation_id;

	check_relation_owner(relid);
	relation_id = protected_relation_declare(relid, options);
	if (cap != NULL)
	{
		cap->relation_id = relation_id;
		ledger_set_cap(cap);
	}
}

void
request_unprotect(Oid relid)
{
	ProtectedRelation *protected;

	lock_own_relation(relid, AccessShareLock);
	protected = protected_relation_seize(relid);
	if (relation_has_models(protected->relation_id) ||
		ledger_relation_has_budgets(protected->relation_id))
		ereport(
			ERROR,
			(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			 errmsg("relation \"%s\" still has models or budgets", get_rel_name(relid)),
			 errhint(
				 "Use privpred.drop_model and privpred.revoke_budget first; the ledger stays.")));
	protected_relation_remove(protected);
}

void
request_forget_dropped_relations(void)
{
	int64 *dropped;
	int	   count = protected_relations_dropped(&dropped);

	for (int i = 0; i < count; i++)
		ledger_relation_dropped(dropped[i]);
}
