/*
 * populations.c
 *		Which protected relations are about the same units.
 *
 * What is spent is spent for people, not for a table.  Relations about the same
 * units are one population, and its accounts pay for all of them.  It has the
 * number of its first relation, and keeps it when that is dropped; a number is
 * never used again.  Populations may be joined and never part: what was asked of
 * one table was asked of the people in the others.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "server/query.h"

HeapTuple
population_begin(Relation table, HeapTuple row)
{
	TupleDesc columns = RelationGetDescr(table);
	int		  population = get_attnum(RelationGetRelid(table), "population");
	int		  relation_id = get_attnum(RelationGetRelid(table), "relation_id");
	bool	  isnull;
	Datum	  first;

	if (population <= 0 || relation_id <= 0)
		elog(ERROR, "table \"%s\" is not ours", RelationGetRelationName(table));
	(void) heap_getattr(row, population, columns, &isnull);
	if (!isnull)
		return row;
	first = heap_getattr(row, relation_id, columns, &isnull);
	return heap_modify_tuple_by_cols(row, columns, 1, &population, &first, &isnull);
}

int64
population_of_relation(Oid relid)
{
	CatalogSession session;
	int64		   population;

	catalog_begin(&session);
	query_read("SELECT r.population FROM privpred.protected_relation r"
			   " WHERE r.relation = $1 AND r.active",
			   ARG(REGCLASSOID, ObjectIdGetDatum(relid)));
	population = SPI_processed > 0 ? row_int8(0, 1) : 0;
	catalog_end(&session);
	return population;
}

bool
population_is_active(int64 population)
{
	return catalog_finds("SELECT FROM privpred.protected_relation r"
						 " WHERE r.population = $1 AND r.active AND r.relation IS NOT NULL LIMIT 1",
						 ARG_INT8(population));
}

bool
population_has_others(const ProtectedRelation *protected, bool active)
{
	return catalog_finds("SELECT FROM privpred.protected_relation r"
						 " WHERE r.population = $1 AND r.relation_id <> $2"
						 " AND r.relation IS NOT NULL AND (r.active OR NOT $3) LIMIT 1",
						 ARG_INT8(protected->population), ARG_INT8(protected->relation_id),
						 ARG_BOOL(active));
}

List *
population_protected(int64 population)
{
	CatalogSession session;
	List		  *relations;

	catalog_begin(&session);
	query_read("SELECT r.relation::oid FROM privpred.protected_relation r"
			   " WHERE r.population = $1 AND r.active AND r.relation IS NOT NULL"
			   " ORDER BY r.relation_id",
			   ARG_INT8(population));
	session_keep(&session);
	relations = rows_oids(1);
	catalog_end(&session);
	return relations;
}

ArrayType *
population_numbers(int64 population)
{
	CatalogSession session;
	ArrayType	  *numbers;

	catalog_begin(&session);
	query_read("SELECT pg_catalog.array_agg(r.relation_id) FROM privpred.protected_relation r"
			   " WHERE r.population = $1",
			   ARG_INT8(population));
	session_keep(&session);
	numbers = row_varlena(0, 1);
	catalog_end(&session);
	return numbers;
}

void
check_population_owner(int64 population)
{
	ListCell *cell;

	foreach(cell, population_protected(population))
	{
		/* One that is being dropped belongs to nobody. */
		if (get_rel_name(lfirst_oid(cell)) == NULL || role_owns(GetUserId(), lfirst_oid(cell)))
			continue;
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("must be owner of relation \"%s\", which is about the same units",
					   get_rel_name(lfirst_oid(cell))),
				errdetail("Its budgets and caps are those of all relations about these units."),
				errhint("Whoever has the rights of all their owners can do this."));
	}
}

void
populations_merge(int64 from, int64 into)
{
	CatalogSession session;

	catalog_begin(&session);
	query_write("UPDATE privpred.protected_relation SET population = $2 WHERE population = $1",
				ARG_INT8(from), ARG_INT8(into));
	models_changed();
	catalog_end(&session);
}

/* ---------- the same units ---------- */

/* Types whose equal values are equal units; InvalidOid: those of this type alone. */
static Oid
unit_class(Oid type)
{
	type = getBaseType(type);
	if (type == INT2OID || type == INT4OID)
		return INT8OID;
	return type == VARCHAROID ? TEXTOID : type;
}

void
check_same_units(Relation relation, ArrayType *units, bool protects_labels,
				 const ProtectedRelation *other)
{
	const char *name = RelationGetRelationName(relation);
	const char *other_name = get_rel_name(other->relid);
	Datum	   *columns;
	int			ncolumns;
	bool		alike;

	if (protects_labels || other->protects_labels)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("relation \"%s\" protects labels only", protects_labels ? name : other_name),
				errdetail("What is known of its units beside their labels is not counted."),
				errhint("Protect both with protects => 'rows', or apart."));
	deconstruct_array(units, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &columns, NULL, &ncolumns);
	alike = ncolumns == other->nunits;
	for (int i = 0; alike && i < ncolumns; i++)
	{
		AttrNumber ours =
			get_attnum(RelationGetRelid(relation), NameStr(*DatumGetName(columns[i])));
		AttrNumber theirs = get_attnum(other->relid, other->unit_columns[i]);

		alike = unit_class(get_atttype(RelationGetRelid(relation), ours)) ==
				unit_class(get_atttype(other->relid, theirs));
	}
	if (!alike)
		ereport(
			ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("units of relations \"%s\" and \"%s\" cannot be the same", name, other_name),
			errdetail("Their unit columns have different types."),
			errhint("Name the column that says whose row it is by \"unit\"; cast it to the other's "
					"type if need be."));
}
