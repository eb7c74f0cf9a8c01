/*
 * gate.c
 *		What the accounts of a relation must not do at the same time.
 *
 * A debit and a grant pass the gate of their relation side by side.  Whoever
 * opens a cap sums up what was spent, and whoever exports a model charges all
 * accounts: they pass alone.  Every relation has a gate of its own, so that an
 * open transaction of one owner is nothing to the others.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/lsyscache.h"

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
