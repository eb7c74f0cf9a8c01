/*
 * authorise.c
 *		Who may know of a model.
 *
 * Whoever may not ask a model does not learn that it exists, let alone its
 * features or its relation.  So this comes first in every request that names a
 * model, and the refusal does not depend on whether there is one.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/timestamp.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/request.h"
#include "server/citus.h"

/*
 * Budgets that were found, remembered for as long as a lease would be good, so
 * that an answer that costs nothing does not look them up each time.
 */
typedef struct KnownBudget
{
	Oid			role; /* InvalidOid: unused */
	int64		population;
	uint64		epoch;
	TimestampTz expires;
} KnownBudget;

#define KNOWN_BUDGETS 16
#define KNOWN_BUDGET_AGE_US INT64CONST(1000000)

static KnownBudget known_budgets[KNOWN_BUDGETS];

static bool
role_has_budget(int64 population, Oid role)
{
	KnownBudget *known = &known_budgets[(uint64) (population + role) % KNOWN_BUDGETS];
	uint64		 epoch = ledger_epoch();

	if (known->role == role && known->population == population && known->epoch == epoch &&
		!ledger_time_has_come(known->expires))
		return true;
	known->role = InvalidOid;
	if (!ledger_role_has_budget(population, role))
		return false;
	known->role = role;
	known->population = population;
	known->epoch = epoch;
	known->expires = GetCurrentTimestamp() + KNOWN_BUDGET_AGE_US;
	return true;
}

/* Does the role own a protected relation or hold a budget? */
static bool
role_is_insider(Oid role)
{
	ListCell *cell;

	if (superuser_arg(role) || ledger_role_has_budget(0, role))
		return true;
	foreach(cell, protected_relations())
		if (role_owns(role, lfirst_oid(cell)))
			return true;
	return false;
}

void
refuse_without_budget(const char *model, Oid role)
{
	ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			errmsg("role \"%s\" has no privacy budget for model \"%s\"",
				   GetUserNameFromId(role, false), model),
			errhint("The owner of the relation can grant one with privpred.grant_budget(); "
					"it counts once that transaction has committed."));
}

void
check_model_known(const char *name, Oid role)
{
	const CachedModel *model = model_cache_peek(name);
	int64			   population;
	Oid				   relid;
	bool			   exists = true;

	check_citus_session();
	if (model != NULL)
	{
		population = model->record->population;
		relid = model->record->relid;
	}
	else
		exists = model_find_relation(name, &population, &relid);
	if (exists && (role_owns(role, relid) || role_has_budget(population, role)))
		return;
	if (role_is_insider(role))
		no_such_model(name);
	refuse_without_budget(name, role);
}

ModelRecord *
known_model(const char *name)
{
	check_model_known(name, GetUserId());
	return model_get(name);
}

CachedModel *
known_model_decoded(const char *name, MemoryContext context, Oid role)
{
	check_model_known(name, role);
	return model_cache_get(name, context);
}

void
check_paid_once(CachedModel *model)
{
	if (likely(model->paid_once) || !model_cache_paid_twice(model))
		return;
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("model \"%s\" cannot be asked at present", model->record->name),
			errdetail("Its relation has become part of another that is protected, or the other "
					  "way round: the same rows would be paid for by two budgets that do not know "
					  "of each other. Nothing was charged."),
			errhint("The owner of the relation can detach one of the two again, or end the "
					"protection of one with privpred.unprotect()."));
}

bool
relation_is_known(Oid relid, Oid role)
{
	return role_owns(role, relid) ||
		   role_has_budget(protected_relation_get(relid)->population, role);
}

void
check_insider(void)
{
	if (!role_is_insider(GetUserId()))
		ereport(
			ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			errmsg("role \"%s\" has no privacy budget", GetUserNameFromId(GetUserId(), false)),
			errhint("The ledger is for owners of protected tables and for roles with a budget."));
}
