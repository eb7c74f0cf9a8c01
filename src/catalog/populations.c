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

List *
population_relations(int64 population)
{
	CatalogSession session;
	List		  *relations;

	catalog_begin(&session);
	query_read("SELECT r.relation::pg_catalog.oid FROM privpred.protected_relation r"
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
