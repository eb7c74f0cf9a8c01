/*
 * view_store.c
 *		What is stored of views: the tables that they may read beside protected ones, and
 *		how they were defined when a model was trained on them.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "server/query.h"

List *
public_tables_of_view(int64 relation_id)
{
	CatalogSession session;
	List		  *tables;

	catalog_begin(&session);
	query_read("SELECT public_relation FROM privpred.public_table WHERE relation_id = $1"
			   " ORDER BY public_relation",
			   ARG_INT8(relation_id));
	session_keep(&session);
	tables = rows_oids(1);
	catalog_end(&session);
	return tables;
}

/* By what the server has written down of their queries, whatever functions they call. */
Oid
protected_view_over(const ProtectedRelation *protected)
{
	CatalogSession session;
	Oid			   view = InvalidOid;

	catalog_begin(&session);
	query_read("WITH RECURSIVE over(relid) AS (SELECT $1 UNION SELECT w.ev_class FROM over o"
			   " JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = o.relid"
			   " JOIN pg_rewrite w ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid)"
			   " SELECT r.relation FROM privpred.protected_relation r JOIN over o"
			   " ON o.relid = r.relation JOIN pg_class c ON c.oid = r.relation"
			   " WHERE r.active AND r.population = $2 AND c.relkind = 'v' AND r.relation <> $1"
			   " ORDER BY r.relation_id LIMIT 1",
			   ARG_OID(protected->relid), ARG_INT8(protected->population));
	if (SPI_processed > 0)
		view = row_oid(0, 1);
	catalog_end(&session);
	return view;
}

List *
public_tables_of_array(ArrayType *array)
{
	List  *tables = NIL;
	Datum *elements;
	bool  *nulls;
	int	   count;

	deconstruct_array(array, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT, &elements, &nulls,
					  &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			refuse(errmsg("public_tables must not contain NULL"),
				   errhint("Name the tables that the view reads and that are about nobody."));
		(void) relation_sql_name(DatumGetObjectId(elements[i]));
		tables = list_append_unique_oid(tables, DatumGetObjectId(elements[i]));
	}
	return tables;
}

void
public_tables_write(int64 relation_id, const List *tables)
{
	ListCell *cell;

	catalog_write("DELETE FROM privpred.public_table WHERE relation_id = $1",
				  ARG_INT8(relation_id));
	foreach(cell, tables)
		catalog_write("INSERT INTO privpred.public_table VALUES ($1, $2)", ARG_INT8(relation_id),
					  ARG(REGCLASSOID, ObjectIdGetDatum(lfirst_oid(cell))));
	CommandCounterIncrement();
}

/* Its number may one day be that of another table, which is not public. */
void
public_tables_forget(void)
{
	query_write("DELETE FROM privpred.public_table t USING pg_event_trigger_dropped_objects() d"
				" WHERE d.classid = 'pg_class'::regclass AND d.objsubid = 0"
				" AND (t.public_relation = d.objid OR t.relation_id IN (SELECT r.relation_id"
				" FROM privpred.protected_relation r WHERE r.relation = d.objid))");
}

/* Of a view, its text and those of views under it. */
static char *
view_text_now(Oid view)
{
	CatalogSession session;
	char		  *result;

	catalog_begin(&session);
	query_read("WITH RECURSIVE under(relid) AS (SELECT $1 UNION SELECT c.oid FROM under u"
			   " JOIN pg_rewrite w ON w.ev_class = u.relid"
			   " JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid"
			   " AND d.refclassid = 'pg_class'::regclass"
			   " JOIN pg_class c ON c.oid = d.refobjid AND c.relkind = 'v')"
			   " SELECT string_agg(pg_get_viewdef(relid), E'\\n'"
			   " ORDER BY relid <> $1, relid::regclass::text COLLATE \"C\") FROM under",
			   ARG_OID(view));
	session_keep(&session);
	result = row_text(0, 1);
	catalog_end(&session);
	return result;
}

char *
definition_now(const ProtectedRelation *protected)
{
	StringInfoData result;

	initStringInfo(&result);
	if (get_rel_relkind(protected->relid) == RELKIND_VIEW)
		appendStringInfo(&result, "%s\n", view_text_now(protected->relid));
	for (int i = 0; i < protected->nunits; i++)
		appendStringInfo(&result, "%s ", quote_identifier(protected->unit_columns[i]));
	appendStringInfoString(&result, unit_encoding(protected));
	return result.data;
}

char *
model_definition(const char *name)
{
	CatalogSession session;
	char		  *definition = NULL;

	catalog_begin(&session);
	query_read("SELECT definition FROM privpred.model WHERE name = $1", ARG_TEXT(name));
	session_keep(&session);
	if (SPI_processed > 0)
		definition = row_text(0, 1);
	catalog_end(&session);
	return definition;
}

void
model_store_definition(const char *name, const char *definition)
{
	catalog_write("UPDATE privpred.model SET definition = $2 WHERE name = $1", ARG_TEXT(name),
				  ARG_TEXT(definition));
	CommandCounterIncrement();
}
