/*
 * holders.c
 *		Roles that hold budgets, as the server knows them.
 *
 * Every account that was not revoked stands in pg_shdepend as a sub-object of
 * the type privpred.budget that depends on its role.  So DROP ROLE is refused
 * until the budget is revoked, and a later role with the same oid inherits
 * nothing, because an account without its entry is dead.  An entry belongs to
 * one account: whoever grants or revokes one waits for nobody who grants or
 * revokes another, not even for the same role.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "catalog/store.h"
#include "ledger/internal.h"

/* InvalidOid if the extension is gone. */
static Oid
budget_type(void)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("budget"),
						   ObjectIdGetDatum(get_namespace_oid(PRIVPRED_SCHEMA, true)));
}

/* The server counts sub-objects with 32 bits; more accounts than that there will not be. */
static int32
sub_object(int64 account_id)
{
	if (account_id > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("there have been too many privacy budgets in this database"),
				 errhint("Move relations to another database.")));
	return (int32) account_id;
}

/* Roles of the server itself cannot be dropped, and it records nothing about them. */
static bool
role_is_pinned(Oid role)
{
	return role < FirstNormalObjectId;
}

bool
holder_is_recorded(int64 account_id, Oid role)
{
	Relation	relation;
	SysScanDesc scan;
	ScanKeyData key[4];
	HeapTuple	tuple;
	bool		found = false;

	if (role_is_pinned(role))
		return true;
	if (account_id > PG_INT32_MAX)
		return false;
	relation = table_open(SharedDependRelationId, AccessShareLock);
	ScanKeyInit(&key[0], Anum_pg_shdepend_dbid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(MyDatabaseId));
	ScanKeyInit(&key[1], Anum_pg_shdepend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(TypeRelationId));
	ScanKeyInit(&key[2], Anum_pg_shdepend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(budget_type()));
	ScanKeyInit(&key[3], Anum_pg_shdepend_objsubid, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(sub_object(account_id)));
	scan = systable_beginscan(relation, SharedDependDependerIndexId, true, NULL, 4, key);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_shdepend entry = (Form_pg_shdepend) GETSTRUCT(tuple);

		found = entry->refclassid == AuthIdRelationId && entry->refobjid == role;
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	return found;
}

/* The caller has locked the account; the role stays until we have committed. */
void
holder_record(int64 account_id, Oid role)
{
	ObjectAddress budget;
	ObjectAddress holder;

	if (role_is_pinned(role) || holder_is_recorded(account_id, role))
		return;
	ObjectAddressSubSet(budget, TypeRelationId, budget_type(), sub_object(account_id));
	ObjectAddressSet(holder, AuthIdRelationId, role);
	recordSharedDependencyOn(&budget, &holder, SHARED_DEPENDENCY_ACL);
}

/* The lock keeps a second one from deleting the same entry, which is an error. */
void
holder_erase(int64 account_id)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, budget_type(), (Oid) account_id, 0);
	(void) LockAcquire(&tag, AccessExclusiveLock, false, false);
	deleteSharedDependencyRecordsFor(TypeRelationId, budget_type(), sub_object(account_id));
}

/*
 * Dumps and pg_upgrade do not carry entries over, so they are made anew for
 * the accounts of a ledger that was adopted or has come to another cluster.
 */
void
holders_record_all(void)
{
	SPITupleTable *table;
	uint64		rows;
	bool		isnull;

	if (SPI_execute("SELECT a.account_id, a.role::oid FROM privpred.account a "
					"JOIN pg_roles r ON r.oid = a.role WHERE a.revoked_at IS NULL",
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read accounts");
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
		holder_record(DatumGetInt64(SPI_getbinval(table->vals[row], table->tupdesc, 1, &isnull)),
					  DatumGetObjectId(SPI_getbinval(table->vals[row], table->tupdesc, 2,
													 &isnull)));
}
