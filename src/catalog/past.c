/*
 * past.c
 *		Tables that were protected under a name before.
 *
 * What was spent was spent on people, not on a table, so a table that is dropped
 * and comes back must find its account.  It is known by all names that it had
 * from when it was first protected until it was dropped.  Nobody else may learn of the
 * account, or pay from it: a past table concerns those alone who have the rights
 * of its owner, who is remembered by number and by name, as either may be given
 * to another role one day.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/store.h"
#include "server/query.h"

/* ---------- looking back ---------- */

List *
past_relations(Relation relation, ArrayType *units, bool protects_labels)
{
	MemoryContext  caller = CurrentMemoryContext;
	List		  *result = NIL;
	CatalogSession session;

	catalog_begin(&session);
	query_read("SELECT r.relation_id, r.relation::oid, r.unit_columns = $2 AND (r.protects = "
			   "'labels') = $3, COALESCE(c.oid::regclass::text, r.relation_name), "
			   "r.relation_name = $1, r.population,"
			   " EXISTS (SELECT FROM privpred.protected_relation s "
			   "WHERE s.population = r.population AND s.relation_id <> r.relation_id"
			   " AND s.relation IS NOT NULL)"
			   " FROM privpred.protected_relation r LEFT JOIN pg_class c ON c.oid = r.relation"
			   " LEFT JOIN pg_roles o ON o.oid = COALESCE(c.relowner, CASE WHEN r.relation IS NULL"
			   " THEN r.dropped_owner END)"
			   " WHERE $1 = ANY (r.known_as) AND r.relation IS DISTINCT FROM $4"
			   " AND (c.oid IS NOT NULL OR o.rolname = r.dropped_owner_name)"
			   " AND pg_has_role($5, o.oid, 'USAGE')"
			   " ORDER BY r.dropped_at DESC NULLS FIRST, r.relation_id DESC",
			   ARG_TEXT(relation_sql_name(RelationGetRelid(relation))),
			   ARG(NAMEARRAYOID, PointerGetDatum(units)), ARG_BOOL(protects_labels),
			   ARG(REGCLASSOID, ObjectIdGetDatum(RelationGetRelid(relation))),
			   ARG_OID(relation->rd_rel->relowner));
	MemoryContextSwitchTo(caller);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		PastRelation *past = palloc_object(PastRelation);

		past->relation_id = row_int8(row, 1);
		past->relid = row_oid(row, 2);
		past->same_declaration = row_bool(row, 3);
		past->name = row_text(row, 4);
		past->is_renamed = OidIsValid(past->relid) && row_bool(row, 5);
		past->population = row_int8(row, 6);
		past->has_others = row_bool(row, 7);
		result = lappend(result, past);
	}
	catalog_end(&session);
	return result;
}

/* ---------- renaming ---------- */

/* Written as relation_sql_name() does. */
#define PRESENT_NAME "format('%I.%I', n.nspname, c.relname)"

#define FROM_RENAMED \
	" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace" \
	" WHERE c.oid = r.relation AND NOT " PRESENT_NAME " = ANY (r.known_as)"

List *
relations_renamed(void)
{
	CatalogSession session;
	List		  *relations;

	catalog_begin(&session);
	query_read("SELECT r.relation::oid FROM privpred.protected_relation r WHERE EXISTS (SELECT"
			   " " FROM_RENAMED ") ORDER BY r.relation_id");
	session_keep(&session);
	relations = rows_oids(1);
	catalog_end(&session);
	return relations;
}

void
relation_note_name(Oid relid)
{
	catalog_write("UPDATE privpred.protected_relation r SET known_as ="
				  " array_append(r.known_as, " PRESENT_NAME ")" FROM_RENAMED " AND c.oid = $1",
				  ARG_OID(relid));
}

bool
relation_is_renamed(Oid relid)
{
	return catalog_finds("SELECT FROM privpred.protected_relation r JOIN pg_class c ON c.oid = "
						 "r.relation JOIN pg_namespace n ON n.oid = c.relnamespace "
						 "WHERE r.relation = $1 AND r.relation_name <> " PRESENT_NAME,
						 ARG(REGCLASSOID, ObjectIdGetDatum(relid)));
}

/* ---------- dropping ---------- */

/*
 * The owner of a table that this transaction has dropped.  Its entry is deleted
 * but still there: the last version is the one that was not followed by another.
 */
static Oid
owner_when_dropped(Oid relid)
{
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	Oid			owner = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, ClassOidIndexId, true, SnapshotAny, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		HeapTupleHeader header = tuple->t_data;

		if (!(header->t_infomask & HEAP_XMAX_INVALID) &&
			!HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask) &&
			TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(header)) &&
			ItemPointerEquals(&tuple->t_self, &header->t_ctid))
			owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return owner;
}

static void
forget(int64 relation_id, Oid owner, const char *name)
{
	query_write("UPDATE privpred.protected_relation SET relation = NULL, active = false,"
				" dropped_at = pg_catalog.now(), relation_name = $2, dropped_owner = $3,"
				" dropped_owner_name = $4, known_as = CASE WHEN $2 = ANY (known_as) THEN known_as"
				" ELSE pg_catalog.array_append(known_as, $2) END WHERE relation_id = $1",
				ARG_INT8(relation_id), ARG_TEXT(name), ARG_OID(owner),
				ARG_TEXT(GetUserNameFromId(owner, true)));
}

/*
 * A dropped table's id may be given to another table one day, so it must not
 * stay in our catalog.  Its models go with it; accounts and the ledger stay.
 */
List *
protected_relations_dropped(void)
{
	MemoryContext  caller = CurrentMemoryContext;
	List		  *dropped = NIL;
	ListCell	  *cell;
	CatalogSession session;

	catalog_begin(&session);
	query_read("SELECT r.relation_id, r.relation::oid, d.object_identity, r.population"
			   " FROM pg_event_trigger_dropped_objects() d"
			   " JOIN privpred.protected_relation r ON r.relation = d.objid"
			   " WHERE d.classid = 'pg_class'::regclass AND d.objsubid = 0 ORDER BY 1");
	MemoryContextSwitchTo(caller);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		PastRelation *past = palloc0_object(PastRelation);

		past->relation_id = row_int8(row, 1);
		past->relid = row_oid(row, 2);
		past->name = row_text(row, 3);
		past->population = row_int8(row, 4);
		dropped = lappend(dropped, past);
	}
	public_tables_forget();
	foreach(cell, dropped)
	{
		const PastRelation *past = lfirst(cell);

		forget(past->relation_id, owner_when_dropped(past->relid), past->name);
	}
	if (dropped != NIL)
		models_of_dropped_relations_delete();
	catalog_end(&session);
	return dropped;
}

/* Roles have other numbers in another server; whether a name is the same role, its DBA says. */
void
past_relations_adopt(void)
{
	query_write("UPDATE privpred.protected_relation r SET dropped_owner = o.oid FROM pg_roles o"
				" WHERE o.rolname = r.dropped_owner_name AND r.dropped_owner <> o.oid");
}
