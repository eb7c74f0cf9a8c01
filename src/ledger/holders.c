/*
 * holders.c
 *		Roles that hold budgets, as the server knows them.
 *
 * A budget that was not revoked stands in pg_shdepend as an entry of its role
 * and the row type of each protected table that it pays for.  So DROP ROLE is
 * refused until the budget is revoked or the last of the tables is dropped, and a
 * later role with the same oid inherits nothing, because an account without its
 * entry is dead.  An entry belongs to one account: whoever grants or revokes one
 * waits for nobody who grants or revokes another, not even for the same role.
 *
 * Of the kinds of entries that the server knows, those of owners, privileges
 * and policies are made and removed by GRANT, REVOKE, ALTER and DROP OWNED as
 * well.  The kind that is left is for tablespaces; no type has one, so nobody
 * else makes or removes such entries.  DROP TABLE removes all kinds; when the
 * extension is dropped we remove ours.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "catalog/by_id.h"
#include "ledger/accounts.h"
#include "server/query.h"

#define HOLDER_ENTRY SHARED_DEPENDENCY_TABLESPACE

/* Roles of the server itself cannot be dropped, and it records nothing about them. */
static bool
role_is_pinned(Oid role)
{
	return role < FirstNormalObjectId;
}

/*
 * Is there an entry of a role and a type, or of any (InvalidOid)?  Removes them, if
 * asked to.  Ours are the only ones of their kind that refer to a role.
 */
static bool
find_entries(Oid type, Oid role, bool removes)
{
	LOCKMODE	mode = removes ? RowExclusiveLock : AccessShareLock;
	Relation	relation = table_open(SharedDependRelationId, mode);
	bool		found = false;
	ScanKeyData key[3];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_shdepend_dbid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(MyDatabaseId));
	ScanKeyInit(&key[1], Anum_pg_shdepend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(TypeRelationId));
	ScanKeyInit(&key[2], Anum_pg_shdepend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(type));
	scan = systable_beginscan(relation, SharedDependDependerIndexId, true, NULL,
							  OidIsValid(type) ? 3 : 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_shdepend entry = (Form_pg_shdepend) GETSTRUCT(tuple);

		if (entry->refclassid != AuthIdRelationId || entry->deptype != HOLDER_ENTRY ||
			(OidIsValid(role) && entry->refobjid != role))
			continue;
		found = true;
		if (removes)
			CatalogTupleDelete(relation, &tuple->t_self);
	}
	systable_endscan(scan);
	table_close(relation, mode);
	return found;
}

bool
holder_is_recorded(Oid relid, Oid role)
{
	Oid type = get_rel_type_id(relid);

	return role_is_pinned(role) || (OidIsValid(type) && find_entries(type, role, false));
}

/* A table that is being dropped takes its entries with it. */
static void
record(Oid relid, Oid role)
{
	ObjectAddress type;
	ObjectAddress holder;

	LockRelationOid(relid, AccessShareLock);
	if (!OidIsValid(get_rel_type_id(relid)) || holder_is_recorded(relid, role))
		return;
	ObjectAddressSet(type, TypeRelationId, get_rel_type_id(relid));
	ObjectAddressSet(holder, AuthIdRelationId, role);
	recordSharedDependencyOn(&type, &holder, HOLDER_ENTRY);
}

/* The caller has locked the account; the role stays until we have committed. */
void
holder_record(int64 population, Oid role)
{
	ListCell *cell;

	foreach(cell, population_relations(population))
		record(lfirst_oid(cell), role);
}

/* The lock keeps a second one from deleting the same entry, which is an error. */
static void
erase(Oid relid, Oid role)
{
	Oid		type = get_rel_type_id(relid);
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, relid, role, 1);
	(void) LockAcquire(&tag, AccessExclusiveLock, false, false);
	if (OidIsValid(type))
		(void) find_entries(type, role, true);
}

void
holder_erase(int64 population, Oid role)
{
	ListCell *cell;

	foreach(cell, population_relations(population))
		erase(lfirst_oid(cell), role);
}

/* Roles and numbers of the accounts that a query has found. */
static void
record_found(void)
{
	SPITupleTable *table = SPI_tuptable;
	uint64		   rows = SPI_processed;

	for (uint64 row = 0; row < rows; row++)
	{
		SPI_tuptable = table; /* we look up more */
		holder_record(row_int8(row, 1), row_oid(row, 2));
	}
}

List *
holders_of(int64 population, Oid relid)
{
	List	 *live = NIL;
	ListCell *cell;

	PushActiveSnapshot(GetLatestSnapshot());
	query_read("SELECT a.role::oid FROM privpred.account a "
			   "WHERE a.relation_id = $1 AND a.role <> 0 AND a.revoked_at IS NULL",
			   ARG_INT8(population));
	PopActiveSnapshot();
	foreach(cell, rows_oids(1))
		if (holder_is_recorded(relid, lfirst_oid(cell)))
			live = lappend_oid(live, lfirst_oid(cell));
	return live;
}

/* A table that is new has no entries yet: those that an older one has are meant for it, too. */
void
holders_record_new(int64 population, Oid older, Oid newer)
{
	ListCell *cell;

	foreach(cell, OidIsValid(older) ? NIL : population_relations(population))
		if (lfirst_oid(cell) != newer)
			older = lfirst_oid(cell);
	foreach(cell, holders_of(population, older))
		holder_record(population, lfirst_oid(cell));
}

/*
 * Dumps and pg_upgrade do not carry entries over, so they are made anew for
 * the accounts of a ledger that was adopted or has come to another cluster.
 */
void
holders_record_all(void)
{
	query_read("SELECT a.relation_id, a.role::oid FROM privpred.account a "
			   "JOIN pg_roles r ON r.oid = a.role WHERE a.revoked_at IS NULL");
	record_found();
}

static object_access_hook_type previous_access_hook = NULL;

static void
access_hook(ObjectAccessType access, Oid class, Oid object, int part, void *arg)
{
	if (previous_access_hook)
		previous_access_hook(access, class, object, part, arg);
	if (access == OAT_DROP && class == ExtensionRelationId &&
		object == get_extension_oid("privpred", true))
		(void) find_entries(InvalidOid, InvalidOid, true);
}

void
holders_watch_extension(void)
{
	previous_access_hook = object_access_hook;
	object_access_hook = access_hook;
}
