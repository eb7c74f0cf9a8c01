/*
 * family.c
 *		Tables that have rows in common because one inherits from the other.
 *
 * A protected table is read with its partitions and children, and these may be part
 * of other tables.  The rule is that of shared_rows.c.  But it is applied here for
 * whoever asks, who must not hold locks on tables of others: so it is read from
 * the server's catalog, and read again after one of the family was altered, which
 * every session is told by an invalidation.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "catalog/store.h"
#include "server/query.h"

List *
relation_family(Oid relid)
{
	List		  *family = NIL;
	CatalogSession session;

	catalog_begin(&session);
	query_read("WITH RECURSIVE down(relid) AS (SELECT $1 UNION SELECT i.inhrelid"
			   " FROM pg_catalog.pg_inherits i JOIN down d ON i.inhparent = d.relid),"
			   " up(relid) AS (SELECT d.relid FROM down d UNION SELECT i.inhparent"
			   " FROM pg_catalog.pg_inherits i JOIN up u ON i.inhrelid = u.relid)"
			   " SELECT u.relid, p.relation_id, p.active, p.population FROM up u"
			   " LEFT JOIN privpred.protected_relation p ON p.relation = u.relid ORDER BY 1",
			   ARG_OID(relid));
	session_keep(&session);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Relative *relative = palloc_object(Relative);

		relative->relid = row_oid(row, 1);
		relative->relation_id = row_int8(row, 2);
		relative->is_protected = row_bool(row, 3);
		relative->population = row_int8(row, 4);
		family = lappend(family, relative);
	}
	catalog_end(&session);
	return family;
}

const Relative *
protected_relative(const List *family, Oid relid)
{
	ListCell *cell;

	foreach(cell, family)
	{
		const Relative *relative = lfirst(cell);

		if (relative->is_protected && relative->relid != relid)
			return relative;
	}
	return NULL;
}
