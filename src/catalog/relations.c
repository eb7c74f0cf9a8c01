/*
 * relations.c
 *		Protected relations: rows of privpred.protected_relation.
 *
 * A row is never deleted, because accounts and the ledger hang on it: protecting
 * the same table again finds the same spending.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/store.h"
#include "server/query.h"

/* Columns of a protected relation as they are read, in order. */
enum
{
	COLUMN_RELATION_ID = 1,
	COLUMN_UNIT_COLUMNS,
	COLUMN_PROTECTS_LABELS,
	COLUMN_DECLARED_UNITS,
	COLUMN_MAX_ROWS_PER_UNIT,
	COLUMN_POPULATION,
	COLUMN_UNIT_NUMBERS
};

#define SELECT_PROTECTED \
	"SELECT relation_id, unit_columns, protects = 'labels', declared_units, max_rows_per_unit," \
	" population, (SELECT u.numbers FROM privpred.unit_number u" \
	" WHERE u.relation_id = r.relation_id AND u.relation = r.relation)" \
	" FROM privpred.protected_relation r WHERE relation = $1"

/* ---------- reading ---------- */

static void
not_protected(Oid relid)
{
	(void) relation_sql_name(relid);
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("relation \"%s\" is not protected", get_rel_name(relid)),
			errhint("Its owner runs SELECT privpred.protect('%s') first.", get_rel_name(relid)));
}

/*
 * Looks a relation up as it is declared now, and locks the row if the query does.
 * The snapshot is the session's, which is the latest at every isolation level; a
 * query that is not read-only would otherwise take the transaction's.
 */
static bool
find_protected(Oid relid, const char *sql, bool locks)
{
	Oid		   type = REGCLASSOID;
	Datum	   value = ObjectIdGetDatum(relid);
	SPIPlanPtr plan = SPI_prepare(sql, 1, &type);

	if (plan == NULL || SPI_execute_snapshot(plan, &value, NULL, GetActiveSnapshot(),
											 InvalidSnapshot, !locks, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read protected relations");
	return SPI_processed > 0;
}

/* While we waited for the lock, the relation may have got another row. */
static bool
find_protected_again(Oid relid, const char *sql)
{
	bool found;

	PushActiveSnapshot(GetLatestSnapshot());
	found = find_protected(relid, sql, true);
	PopActiveSnapshot();
	return found;
}

static void
read_unit(ProtectedRelation *result)
{
	Datum *names;
	Datum *numbers;
	int	   count;

	deconstruct_array(row_varlena(0, COLUMN_UNIT_COLUMNS), NAMEOID, NAMEDATALEN, false,
					  TYPALIGN_CHAR, &names, NULL, &result->nunits);
	result->unit_columns = palloc_array(char *, result->nunits);
	for (int i = 0; i < result->nunits; i++)
		result->unit_columns[i] = NameStr(*DatumGetName(names[i]));
	if (row_isnull(0, COLUMN_UNIT_NUMBERS))
		return;
	deconstruct_array(row_varlena(0, COLUMN_UNIT_NUMBERS), INT2OID, sizeof(int16), true,
					  TYPALIGN_SHORT, &numbers, NULL, &count);
	if (count != result->nunits)
		return;
	result->unit_numbers = palloc_array(AttrNumber, count);
	for (int i = 0; i < count; i++)
		result->unit_numbers[i] = DatumGetInt16(numbers[i]);
}

static ProtectedRelation *
read_protected(Oid relid, const char *sql, bool locks, bool missing_ok)
{
	CatalogSession	   session;
	ProtectedRelation *result;

	catalog_begin(&session);
	if (!find_protected(relid, sql, locks) && !(locks && find_protected_again(relid, sql)))
	{
		if (!missing_ok)
			not_protected(relid);
		catalog_end(&session);
		return NULL;
	}
	session_keep(&session);
	result = palloc0_object(ProtectedRelation);
	result->relid = relid;
	result->relation_id = row_int8(0, COLUMN_RELATION_ID);
	result->population = row_int8(0, COLUMN_POPULATION);
	result->protects_labels = row_bool(0, COLUMN_PROTECTS_LABELS);
	result->declared_units = row_int8(0, COLUMN_DECLARED_UNITS);
	result->max_rows_per_unit = row_int4(0, COLUMN_MAX_ROWS_PER_UNIT);
	read_unit(result);
	catalog_end(&session);
	return result;
}

ProtectedRelation *
protected_relation_get(Oid relid)
{
	return read_protected(relid, SELECT_PROTECTED " AND active", false, false);
}

ProtectedRelation *
protected_relation_hold(Oid relid)
{
	return read_protected(relid, SELECT_PROTECTED " AND active FOR KEY SHARE", true, false);
}

ProtectedRelation *
protected_relation_hold_if_any(Oid relid)
{
	return read_protected(relid, SELECT_PROTECTED " AND active FOR KEY SHARE", true, true);
}

ProtectedRelation *
protected_relation_seize(Oid relid)
{
	return read_protected(relid, SELECT_PROTECTED " AND active FOR UPDATE", true, false);
}

bool
relation_is_protected(Oid relid)
{
	return catalog_finds(SELECT_PROTECTED " AND active", ARG(REGCLASSOID, ObjectIdGetDatum(relid)));
}

List *
protected_relations(void)
{
	CatalogSession session;
	List		  *relations;

	catalog_begin(&session);
	query_read("SELECT relation FROM privpred.protected_relation"
			   " WHERE active AND relation IS NOT NULL");
	session_keep(&session);
	relations = rows_oids(1);
	catalog_end(&session);
	return relations;
}

/* ---------- declaring ---------- */

static void
check_relation_kind(Relation relation)
{
	char kind = relation->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE &&
		kind != RELKIND_FOREIGN_TABLE && kind != RELKIND_VIEW)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is neither a table nor a view", RelationGetRelationName(relation)),
				errdetail("Its rows may be those of an earlier time."),
				errhint("Protect the tables under it, and a view over them."));
	if (relation->rd_rel->relpersistence == RELPERSISTENCE_TEMP || IsCatalogRelation(relation) ||
		RelationGetNamespace(relation) == get_namespace_oid(PRIVPRED_SCHEMA, false))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" cannot be protected", RelationGetRelationName(relation)),
				errdetail("It is a temporary table or a catalog."),
				errhint("Protect an ordinary table."));
}

/*
 * Tables that are part of one another are declared one at a time, so that the later
 * declaration sees the earlier.  Such tables have a common root.  What is locked is
 * not the root itself but its place in our table, where it is in nobody's way.
 */
static void
lock_family(Oid relid)
{
	Oid table = get_relname_relid("protected_relation", get_namespace_oid(PRIVPRED_SCHEMA, false));
	CatalogSession session;

	catalog_begin(&session);
	query_read("WITH RECURSIVE up(relid) AS (SELECT $1 UNION SELECT i.inhparent"
			   " FROM pg_catalog.pg_inherits i JOIN up u ON i.inhrelid = u.relid)"
			   " SELECT u.relid FROM up u WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i"
			   " WHERE i.inhrelid = u.relid) ORDER BY u.relid",
			   ARG_OID(relid));
	for (uint64 row = 0; row < SPI_processed; row++)
		LockDatabaseObject(table, row_oid(row, 1), 0, ExclusiveLock);
	catalog_end(&session);
}

Relation
protected_relation_open(Oid relid)
{
	Relation relation = open_relation(relid, ShareUpdateExclusiveLock);

	check_relation_owner(relid);
	check_relation_kind(relation);
	/* A view's rows are those of the tables under it, whose accounts it shares. */
	if (relation->rd_rel->relkind == RELKIND_VIEW)
		return relation;
	lock_family(relid);
	check_protected_once(relid);
	return relation;
}

ProtectedRelation *
protected_relation_declared(Oid relid)
{
	return read_protected(relid, SELECT_PROTECTED " FOR NO KEY UPDATE", true, true);
}

ProtectedRelation *
protected_relation_declared_seize(Oid relid)
{
	return read_protected(relid, SELECT_PROTECTED " FOR UPDATE", true, false);
}

bool
is_unit_column(const ProtectedRelation *protected, const char *column)
{
	for (int i = 0; i < protected->nunits; i++)
		if (strcmp(protected->unit_columns[i], column) == 0)
			return true;
	return false;
}

ArrayType *
unit_array(const ProtectedRelation *protected)
{
	Datum *names = palloc_array(Datum, protected->nunits);

	for (int i = 0; i < protected->nunits; i++)
		names[i] = DirectFunctionCall1(namein, CStringGetDatum(protected->unit_columns[i]));
	return construct_array(names, protected->nunits, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR);
}

bool
same_declaration(const ProtectedRelation *protected, ArrayType *units, bool protects_labels)
{
	Datum *names;
	int	   count;

	deconstruct_array(units, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &names, NULL, &count);
	if (count != protected->nunits || protected->protects_labels != protects_labels)
		return false;
	for (int i = 0; i < count; i++)
		if (strcmp(NameStr(*DatumGetName(names[i])), protected->unit_columns[i]) != 0 ||
			!unit_column_is_same(protected, i))
			return false;
	return true;
}

bool
unit_column_is_same(const ProtectedRelation *protected, int number)
{
	return protected->unit_numbers == NULL ||
		   get_attnum(protected->relid, protected->unit_columns[number]) ==
			   protected->unit_numbers[number];
}

/* Names of units become numbers, of one relation or of all that have none here (0). */
static void
number_units(int64 relation_id)
{
	query_write("INSERT INTO privpred.unit_number (relation_id, relation, numbers)"
				" SELECT r.relation_id, r.relation, ARRAY(SELECT a.attnum"
				" FROM unnest(r.unit_columns) WITH ORDINALITY u(name, n) JOIN pg_attribute a"
				" ON a.attrelid = r.relation AND a.attname = u.name AND NOT a.attisdropped"
				" ORDER BY u.n) FROM privpred.protected_relation r WHERE r.relation IS NOT NULL"
				" AND $1 IN (0, r.relation_id) ON CONFLICT (relation_id) DO UPDATE SET"
				" relation = excluded.relation, numbers = excluded.numbers"
				" WHERE unit_number.relation <> excluded.relation",
				ARG_INT8(relation_id));
}

void
protected_relations_adopt(void)
{
	number_units(0);
}

void
protected_relation_write(Relation relation, ArrayType *units, const ProtectOptions *options,
						 int64 relation_id, int64 population)
{
	CatalogSession session;
	QueryArgument  args[] = {
		 ARG(REGCLASSOID, ObjectIdGetDatum(RelationGetRelid(relation))),
		 ARG(NAMEARRAYOID, PointerGetDatum(units)),
		 ARG_TEXT(options->protects_labels ? "labels" : "rows"),
		 ARG_INT8_OR_NULL(options->declared_units),
		 ARG_INT4_OR_NULL(options->max_rows_per_unit),
		 ARG_TEXT(relation_sql_name(RelationGetRelid(relation))),
		 ARG_INT8(relation_id),
		 ARG_INT8_OR_NULL(population),
	 };

	catalog_begin(&session);
	query_run(NULL,
			  relation_id != 0
				  ? "UPDATE privpred.protected_relation"
					" SET declared_units = COALESCE($4, declared_units),"
					" max_rows_per_unit = COALESCE($5, max_rows_per_unit), relation_name = $6,"
					" known_as = CASE WHEN $6 = ANY (known_as) THEN known_as"
					" ELSE pg_catalog.array_append(known_as, $6) END,"
					" relation = $1, active = true, dropped_at = NULL, dropped_owner = NULL,"
					" dropped_owner_name = NULL"
					" WHERE relation_id = $7 AND unit_columns = $2 AND protects = $3"
					" AND (relation IS NULL OR relation = $1)"
					" AND population = COALESCE($8, population) RETURNING relation_id"
				  : "INSERT INTO privpred.protected_relation"
					" (relation, unit_columns, protects, declared_units, max_rows_per_unit,"
					" relation_name, known_as, population)"
					" SELECT $1, $2, $3, $4, $5, $6, ARRAY[$6], $8 WHERE $7 = 0"
					" RETURNING relation_id",
			  false, 0, lengthof(args), args);
	if (SPI_processed == 0)
		ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
				errmsg("another relation has taken over the account meanwhile"),
				errhint("Protect \"%s\" again to see which.", RelationGetRelationName(relation)));
	number_units(row_int8(0, 1));
	CommandCounterIncrement();
	catalog_end(&session);
}

bool
protected_relation_follow(Oid from, Oid to)
{
	CatalogSession session;
	bool		   found;

	catalog_begin(&session);
	query_run(NULL,
			  "UPDATE privpred.protected_relation r SET relation = $2 WHERE relation = $1"
			  " AND NOT EXISTS (SELECT FROM privpred.protected_relation o WHERE o.relation = $2)"
			  " RETURNING relation_id",
			  false, 0, 2,
			  (QueryArgument[]){ARG(REGCLASSOID, ObjectIdGetDatum(from)),
								ARG(REGCLASSOID, ObjectIdGetDatum(to))});
	found = SPI_processed > 0;
	if (found)
		number_units(row_int8(0, 1));
	CommandCounterIncrement();
	catalog_end(&session);
	return found;
}

/* The unit has changed: nothing that was promised before concerns the table any more. */
void
protected_relation_retire(const ProtectedRelation *protected)
{
	Oid owner = relation_owner(protected->relid); /* of what was certified, too */

	catalog_write("UPDATE privpred.protected_relation SET active = false, relation = NULL,"
				  " dropped_at = pg_catalog.now(), known_as = '{}', dropped_owner = $2,"
				  " dropped_owner_name = $3 WHERE relation_id = $1",
				  ARG_INT8(protected->relation_id), ARG_OID(owner),
				  ARG_TEXT(GetUserNameFromId(owner, false)));
}

void
protected_relation_remove(const ProtectedRelation *protected)
{
	catalog_write("UPDATE privpred.protected_relation SET active = false WHERE relation_id = $1",
				  ARG_INT8(protected->relation_id));
}
