/*
 * gate.c
 *		What the accounts of a population must not do at the same time.
 *
 * A debit and a grant pass the gate of their population side by side.  Whoever
 * opens a cap sums up what was spent, whoever exports a model charges all
 * accounts, and whoever joins populations moves them: they pass alone.  Every
 * population has a gate of its own, so that an open transaction of one owner is
 * nothing to the others.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/lsyscache.h"

#include "catalog/by_id.h"
#include "ledger/accounts.h"

bool
gate_pass(int64 relation_id, bool alone, bool wait)
{
	Oid		accounts = get_relname_relid("account", get_namespace_oid(PRIVPRED_SCHEMA, false));
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, accounts, (Oid) relation_id, 0);
	return LockAcquire(&tag, alone ? ShareRowExclusiveLock : RowExclusiveLock, false, !wait) !=
		   LOCKACQUIRE_NOT_AVAIL;
}

/* While we waited, it may have been joined with another. */
int64
gate_pass_present(int64 number, bool alone)
{
	for (;;)
	{
		int64 present = population_brief(number).population;

		/* One that nobody has heard of is of this transaction. */
		if (present == 0)
			elog(ERROR, "there is no population " INT64_FORMAT, number);
		(void) gate_pass(present, alone, true);
		if (population_brief(number).population == present)
			return present;
	}
}
