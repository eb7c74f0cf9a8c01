/*
 * relations.c
 *		Protected relations: what is protected, and what a unit is.
 *
 * A row of privpred.protected_relation is never deleted, because accounts and
 * ledger hang on it: protecting the same table again finds the same spending.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/store.h"
#include "learner/learner.h"

static void
no_such_relation(Oid relid)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid),
			 errhint("It may have been dropped meanwhile.")));
}

char *
relation_sql_name(Oid relid)
{
	char *name = get_rel_name(relid);

	if (name == NULL)
		no_such_relation(relid);
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

Relation
open_relation(Oid relid, LOCKMODE lock)
{
	char	*name = get_rel_name(relid);
	Relation relation = try_relation_open(relid, lock);

	if (relation == NULL && name != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation \"%s\" does not exist", name),
				 errhint("It was dropped meanwhile.")));
	if (relation == NULL)
		no_such_relation(relid);
	if (relation->rd_rel->relkind == RELKIND_INDEX ||
		relation->rd_rel->relkind == RELKIND_PARTITIONED_INDEX ||
		relation->rd_rel->relkind == RELKIND_COMPOSITE_TYPE)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a table", RelationGetRelationName(relation)),
						errhint("Name a table.")));
	return relation;
}

void
check_relation_owner(Oid relid)
{
	(void) relation_sql_name(relid);
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		ereport(
			ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be owner of relation \"%s\"", get_rel_name(relid)),
			 errhint(
				 "Only the owner of a table or a superuser may decide what is learnt from it.")));
}

/* Whoever waits for a lock finds another owner, or nothing, when it is there. */
void
lock_own_relation(Oid relid, LOCKMODE lock)
{
	check_relation_owner(relid);
	relation_close(open_relation(relid, lock), NoLock);
	check_relation_owner(relid);
}

/*
 * ---------- units ----------
 */

/* A unit column must identify a unit for good: there, NOT NULL, hashable. */
static void
check_unit_column(Relation relation, const char *column)
{
	AttrNumber		  attnum = get_attnum(RelationGetRelid(relation), column);
	Form_pg_attribute attribute;

	if (attnum == InvalidAttrNumber)
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("unit column \"%s\" of relation \"%s\" does not exist", column,
					RelationGetRelationName(relation)),
			 errhint(
				 "Name the column that says whose row it is; if it was renamed since, rename it back.")));
	if (attnum < 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("system column \"%s\" cannot be the unit", column),
						errdetail("It does not identify a person for good."),
						errhint("Name the column that says whose row it is.")));
	attribute = TupleDescAttr(RelationGetDescr(relation), attnum - 1);
	if (!attribute->attnotnull)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unit column \"%s\" of relation \"%s\" may be NULL", column,
					RelationGetRelationName(relation)),
			 errdetail("A row without a unit would belong to nobody and be protected for nobody."),
			 errhint("Run ALTER TABLE %s ALTER COLUMN %s SET NOT NULL first.",
					 quote_identifier(RelationGetRelationName(relation)),
					 quote_identifier(column))));
	if (!teacher_unit_type_ok(attribute->atttypid, attribute->attcollation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("unit column \"%s\" has type %s, which has no stable identity", column,
						format_type_be(attribute->atttypid)),
				 errhint("Use an integer, text, uuid, date, timestamp, numeric or bytea id.")));
}

void
check_unit_columns(const ProtectedRelation *protected)
{
	Relation relation = open_relation(protected->relid, AccessShareLock);

	for (int i = 0; i < protected->nunits; i++)
		check_unit_column(relation, protected->unit_columns[i]);
	table_close(relation, AccessShareLock);
}

/* The unit as an array of column names: the given one, or the primary key. */
static ArrayType *
resolve_unit(Relation relation, const char *unit)
{
	Oid		   relid = RelationGetRelid(relation);
	Datum	   names[INDEX_MAX_KEYS];
	int		   count = 0;
	int		   position = -1;
	Oid		   constraint;
	Bitmapset *key;

	if (unit != NULL)
		names[count++] = DirectFunctionCall1(namein, CStringGetDatum(unit));
	else
	{
		key = get_primary_key_attnos(relid, false, &constraint);
		if (key == NULL)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("relation \"%s\" has no primary key and no unit was given",
						RelationGetRelationName(relation)),
				 errdetail(
					 "Privacy is promised to units; the rows alone do not say which rows belong together."),
				 errhint("Pass unit => 'column', the column that says whose row it is.")));
		while ((position = bms_next_member(key, position)) >= 0)
		{
			AttrNumber attnum = position + FirstLowInvalidHeapAttributeNumber;

			names[count++] =
				DirectFunctionCall1(namein, CStringGetDatum(get_attname(relid, attnum, false)));
		}
	}
	for (int i = 0; i < count; i++)
		check_unit_column(relation, NameStr(*DatumGetName(names[i])));
	return construct_array(names, count, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

static void
check_relation_kind(Relation relation)
{
	char kind = relation->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE &&
		kind != RELKIND_FOREIGN_TABLE)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a table", RelationGetRelationName(relation)),
						errdetail("Only a table can promise that its unit column is never NULL."),
						errhint("Protect the tables under the view.")));
	if (relation->rd_rel->relpersistence == RELPERSISTENCE_TEMP || IsCatalogRelation(relation) ||
		RelationGetNamespace(relation) == get_namespace_oid(PRIVPRED_SCHEMA, false))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" cannot be protected", RelationGetRelationName(relation)),
						errdetail("It is a temporary table or a catalog."),
						errhint("Protect an ordinary table.")));
}

/*
 * ---------- rows of privpred.protected_relation ----------
 */

/* Changes nothing that earlier charges relied on: unit and what is protected. */
static void
check_same_declaration(HeapTuple row, TupleDesc columns, Datum units, bool protects_labels,
					   const char *relation_name)
{
	bool  isnull;
	Datum old_units = SPI_getbinval(row, columns, 2, &isnull);
	char *old_protects = SPI_getvalue(row, columns, 3);

	if (!DatumGetBool(OidFunctionCall2Coll(F_ARRAY_EQ, C_COLLATION_OID, old_units, units)) ||
		strcmp(old_protects, protects_labels ? "labels" : "rows") != 0)
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
						errmsg("relation \"%s\" was protected before with another unit or promise",
							   relation_name),
						errdetail("What has been spent was spent under the earlier declaration."),
						errhint("Use the same unit and protects; sizes and caps may change.")));
}

/*
 * One declaration at a time of tables that are part of one another, so that of
 * two the later sees the earlier.  Such tables have a common root; what is locked
 * is not the root itself but its place in our table, where it is in nobody's way.
 */
static void
lock_family(Oid relid)
{
	Oid table = get_relname_relid("protected_relation", get_namespace_oid(PRIVPRED_SCHEMA, false));
	CatalogSession session;
	Oid			   type = OIDOID;
	Datum		   value = ObjectIdGetDatum(relid);
	bool		   isnull;

	catalog_begin(&session);
	SPI_execute_with_args(
		"WITH RECURSIVE up(relid) AS (SELECT $1"
		" UNION SELECT i.inhparent FROM pg_catalog.pg_inherits i JOIN up u ON i.inhrelid = u.relid)"
		" SELECT u.relid FROM up u WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i"
		" WHERE i.inhrelid = u.relid) ORDER BY u.relid",
		1, &type, &value, NULL, true, 0);
	for (uint64 row = 0; row < SPI_processed; row++)
		LockDatabaseObject(table,
						   DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[row],
														  SPI_tuptable->tupdesc, 1, &isnull)),
						   0, ExclusiveLock);
	catalog_end(&session);
}

int64
protected_relation_declare(Oid relid, const ProtectOptions *options)
{
	Relation	   relation = open_relation(relid, ShareUpdateExclusiveLock);
	CatalogSession session;
	Oid			   types[] = {REGCLASSOID, NAMEARRAYOID, TEXTOID, INT8OID, INT4OID, TEXTOID};
	char		   nulls[] = "      ";
	Datum		   values[6];
	int64		   relation_id;
	bool		   isnull;

	check_relation_owner(relid);
	check_relation_kind(relation);
	lock_family(relid);
	check_protected_once(relid);
	values[0] = ObjectIdGetDatum(relid);
	values[1] = PointerGetDatum(resolve_unit(relation, options->unit));
	values[2] = CStringGetTextDatum(options->protects_labels ? "labels" : "rows");
	values[3] = Int64GetDatum(options->declared_units);
	values[4] = Int32GetDatum(options->max_rows_per_unit);
	values[5] = CStringGetTextDatum(relation_sql_name(relid));
	if (options->declared_units == 0)
		nulls[3] = 'n';
	if (options->max_rows_per_unit == 0)
		nulls[4] = 'n';

	catalog_begin(&session);
	SPI_execute_with_args("SELECT relation_id, unit_columns, protects,"
						  " COALESCE(declared_units, 0), COALESCE(max_rows_per_unit, 0)"
						  " FROM privpred.protected_relation WHERE relation = $1 FOR NO KEY UPDATE",
						  1, types, values, NULL, false, 0);
	if (SPI_processed > 0)
	{
		check_same_declaration(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, values[1],
							   options->protects_labels, RelationGetRelationName(relation));
		SPI_execute_with_args("UPDATE privpred.protected_relation"
							  " SET declared_units = COALESCE($4, declared_units),"
							  " max_rows_per_unit = COALESCE($5, max_rows_per_unit),"
							  " relation_name = $6, active = true"
							  " WHERE relation = $1 RETURNING relation_id",
							  6, types, values, nulls, false, 0);
	}
	else
		SPI_execute_with_args("INSERT INTO privpred.protected_relation"
							  " (relation, unit_columns, protects, declared_units,"
							  " max_rows_per_unit, relation_name)"
							  " VALUES ($1, $2, $3, $4, $5, $6) RETURNING relation_id",
							  6, types, values, nulls, false, 0);
	relation_id =
		DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	CommandCounterIncrement();
	catalog_end(&session);
	table_close(relation, NoLock);
	return relation_id;
}

/*
 * Looks a relation up as it is declared now, and locks the row that says so if
 * there is a clause for it.  The snapshot is the latest at every isolation level.
 */
static void
find_protected(Oid relid, const char *lock_clause)
{
	char	  *query = psprintf("SELECT relation_id, unit_columns, protects,"
									 " COALESCE(declared_units, 0), COALESCE(max_rows_per_unit, 0)"
									 " FROM privpred.protected_relation WHERE relation = $1 AND active%s",
								lock_clause);
	Oid		   type = REGCLASSOID;
	Datum	   value = ObjectIdGetDatum(relid);
	SPIPlanPtr plan = SPI_prepare(query, 1, &type);

	if (plan == NULL ||
		SPI_execute_snapshot(plan, &value, NULL, GetActiveSnapshot(), InvalidSnapshot,
							 lock_clause[0] == '\0', false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read protected relations");
	if (SPI_processed == 0)
	{
		(void) relation_sql_name(relid);
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("relation \"%s\" is not protected", get_rel_name(relid)),
						errhint("Its owner runs SELECT privpred.protect('%s') first.",
								get_rel_name(relid))));
	}
}

static ProtectedRelation *
read_protected(Oid relid, const char *lock_clause)
{
	MemoryContext	   caller = CurrentMemoryContext;
	MemoryContext	   spi;
	CatalogSession	   session;
	ProtectedRelation *result;
	HeapTuple		   row;
	TupleDesc		   columns;
	ArrayType		  *units;
	Datum			  *names;
	bool			   isnull;

	catalog_begin(&session);
	find_protected(relid, lock_clause);
	spi = MemoryContextSwitchTo(caller);
	row = SPI_tuptable->vals[0];
	columns = SPI_tuptable->tupdesc;
	result = palloc0_object(ProtectedRelation);
	result->relid = relid;
	result->relation_id = DatumGetInt64(SPI_getbinval(row, columns, 1, &isnull));
	units = DatumGetArrayTypePCopy(SPI_getbinval(row, columns, 2, &isnull));
	result->protects_labels = strcmp(SPI_getvalue(row, columns, 3), "labels") == 0;
	result->declared_units = DatumGetInt64(SPI_getbinval(row, columns, 4, &isnull));
	result->max_rows_per_unit = DatumGetInt32(SPI_getbinval(row, columns, 5, &isnull));
	deconstruct_array(units, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &names, NULL,
					  &result->nunits);
	result->unit_columns = palloc_array(char *, result->nunits);
	for (int i = 0; i < result->nunits; i++)
		result->unit_columns[i] = NameStr(*DatumGetName(names[i]));
	MemoryContextSwitchTo(spi);
	catalog_end(&session);
	return result;
}

ProtectedRelation *
protected_relation_get(Oid relid)
{
	return read_protected(relid, "");
}

ProtectedRelation *
protected_relation_hold(Oid relid)
{
	return read_protected(relid, " FOR KEY SHARE");
}

ProtectedRelation *
protected_relation_seize(Oid relid)
{
	return read_protected(relid, " FOR UPDATE");
}

bool
relation_is_protected(Oid relid)
{
	CatalogSession session;
	Oid			   type = REGCLASSOID;
	Datum		   value = ObjectIdGetDatum(relid);
	bool		   found;

	catalog_begin(&session);
	SPI_execute_with_args("SELECT FROM privpred.protected_relation WHERE relation = $1 AND active",
						  1, &type, &value, NULL, true, 0);
	found = SPI_processed > 0;
	catalog_end(&session);
	return found;
}

List *
protected_relations(void)
{
	MemoryContext  caller = CurrentMemoryContext;
	MemoryContext  spi;
	CatalogSession session;
	List		  *relations = NIL;
	bool		   isnull;

	catalog_begin(&session);
	SPI_execute("SELECT relation FROM privpred.protected_relation"
				" WHERE active AND relation IS NOT NULL",
				true, 0);
	spi = MemoryContextSwitchTo(caller);
	for (uint64 row = 0; row < SPI_processed; row++)
		relations = lappend_oid(relations,
								DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[row],
															   SPI_tuptable->tupdesc, 1, &isnull)));
	MemoryContextSwitchTo(spi);
	catalog_end(&session);
	return relations;
}

void
protected_relation_remove(const ProtectedRelation *protected)
{
	CatalogSession session;
	Oid			   type = INT8OID;
	Datum		   value = Int64GetDatum(protected->relation_id);

	catalog_begin(&session);
	SPI_execute_with_args("UPDATE privpred.protected_relation SET active = false"
						  " WHERE relation_id = $1",
						  1, &type, &value, NULL, false, 0);
	CommandCounterIncrement();
	catalog_end(&session);
}

/*
 * A dropped table's id may be given to another table one day, so it must not
 * stay in our catalog.  Its models go with it; accounts and ledger stay.
 */
int
protected_relations_dropped(int64 **relation_ids)
{
	MemoryContext  caller = CurrentMemoryContext;
	CatalogSession session;
	int			   count;
	bool		   isnull;

	catalog_begin(&session);
	SPI_execute(
		"UPDATE privpred.protected_relation SET relation = NULL, active = false,"
		" dropped_at = pg_catalog.now()"
		" WHERE relation IN (SELECT d.objid FROM pg_catalog.pg_event_trigger_dropped_objects() d"
		" WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid = 0)"
		" RETURNING relation_id",
		false, 0);
	count = (int) SPI_processed;
	*relation_ids = MemoryContextAlloc(caller, Max(count, 1) * sizeof(int64));
	for (int i = 0; i < count; i++)
		(*relation_ids)[i] =
			DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &isnull));
	if (count > 0)
		models_of_dropped_relations_delete();
	catalog_end(&session);
	return count;
}
