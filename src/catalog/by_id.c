/*
 * by_id.c
 *		Relations and models by their numbers.
 */
#include "postgres.h"

#include "catalog/by_id.h"
#include "server/query.h"
#include "server/session.h"

/* Those that are left come first, and of them the protected ones, and of them the first. */
#define FIRST_OF_ALL \
	" ORDER BY m.relation IS NULL, NOT m.active, m.relation_id <> m.population, m.relation_id " \
	"LIMIT 1"

PopulationBrief
population_brief(int64 number)
{
	MemoryContext	caller = CurrentMemoryContext;
	PopulationBrief brief = {0};
	CatalogSession	session;

	catalog_begin(&session);
	query_read("SELECT m.population, m.relation::oid, m.relation_name, "
			   "CASE WHEN c.oid IS NULL THEN m.relation_name ELSE m.relation::text END "
			   "FROM privpred.protected_relation n "
			   "JOIN privpred.protected_relation m ON m.population = n.population "
			   "LEFT JOIN pg_class c ON c.oid = m.relation WHERE n.relation_id = $1" FIRST_OF_ALL,
			   ARG_INT8(number));
	if (SPI_processed > 0)
	{
		brief.population = row_int8(0, 1);
		brief.relid = row_oid(0, 2);
		brief.last_seen = MemoryContextStrdup(caller, row_text(0, 3));
		brief.name = MemoryContextStrdup(caller, row_text(0, 4));
	}
	catalog_end(&session);
	return brief;
}

List *
population_relations(int64 population)
{
	CatalogSession session;
	List		  *relations;

	catalog_begin(&session);
	query_read("SELECT m.relation::oid FROM privpred.protected_relation m "
			   "WHERE m.population = $1 AND m.relation IS NOT NULL ORDER BY 1",
			   ARG_INT8(population));
	session_keep(&session);
	relations = rows_oids(1);
	catalog_end(&session);
	return relations;
}

/* Those whose owners have a say. */
static List *
owned_relations(int64 number)
{
	CatalogSession session;
	List		  *relations;

	catalog_begin(&session);
	query_read("SELECT m.relation::oid FROM privpred.protected_relation n "
			   "JOIN privpred.protected_relation m ON m.population = n.population "
			   "WHERE n.relation_id = $1 AND m.relation IS NOT NULL AND (m.active OR NOT EXISTS "
			   "(SELECT FROM privpred.protected_relation o WHERE o.population = n.population "
			   "AND o.active AND o.relation IS NOT NULL)) ORDER BY 1",
			   ARG_INT8(number));
	session_keep(&session);
	relations = rows_oids(1);
	catalog_end(&session);
	return relations;
}

bool
population_is_partly_owned(int64 number, Oid role)
{
	ListCell *cell;

	foreach(cell, owned_relations(number))
		if (role_owns(role, lfirst_oid(cell)))
			return true;
	return false;
}

bool
population_is_owned(int64 number, Oid role)
{
	List	 *relations = owned_relations(number);
	ListCell *cell;

	foreach(cell, relations)
		if (!role_owns(role, lfirst_oid(cell)))
			return false;
	return relations != NIL;
}

char *
relation_name_of(int64 relation_id)
{
	MemoryContext  caller = CurrentMemoryContext;
	char		  *name = NULL;
	CatalogSession session;

	catalog_begin(&session);
	query_read("SELECT CASE WHEN c.oid IS NULL THEN r.relation_name ELSE r.relation::text END "
			   "FROM privpred.protected_relation r LEFT JOIN pg_class c ON c.oid = r.relation "
			   "WHERE r.relation_id = $1",
			   ARG_INT8(relation_id));
	if (SPI_processed > 0)
		name = MemoryContextStrdup(caller, row_text(0, 1));
	catalog_end(&session);
	return name;
}

static ChargeKind
kind_of(const char *name)
{
	if (strcmp(name, "per_answer") == 0)
		return CHARGE_PER_ANSWER;
	return strcmp(name, "per_stream") == 0 ? CHARGE_PER_STREAM : CHARGE_ONCE;
}

#define SALE_COLUMNS \
	"m.model_id, m.relation_id, r.population, m.name, m.version, m.training_id, m.charge_kind, " \
	"m.charge, m.pure_charge FROM privpred.model m " \
	"JOIN privpred.protected_relation r ON r.relation_id = m.relation_id"

/* In the order of SALE_COLUMNS. */
static ModelSale *
sale_from_row(uint64 row)
{
	ModelSale *sale = palloc_object(ModelSale);
	int		   column = 0;

	sale->model_id = row_int8(row, ++column);
	sale->relation_id = row_int8(row, ++column);
	sale->population = row_int8(row, ++column);
	sale->name = row_text(row, ++column);
	sale->version = row_int4(row, ++column);
	sale->training_id = row_int8(row, ++column);
	sale->kind = kind_of(row_text(row, ++column));
	sale->charge = row_text(row, ++column);
	sale->pure_charge = row_text(row, ++column);
	return sale;
}

/* In the current context, although SPI has another one. */
static List *
read_sales(SPIPlanPtr *plan, const char *sql, int64 id)
{
	MemoryContext  caller = CurrentMemoryContext;
	CatalogSession session;
	MemoryContext  spi;
	List		  *sales = NIL;

	catalog_begin(&session);
	query_run(plan, sql, true, 0, QUERY_ARGUMENTS(ARG_INT8(id)));
	spi = MemoryContextSwitchTo(caller);
	for (uint64 row = 0; row < SPI_processed; row++)
		sales = lappend(sales, sale_from_row(row));
	MemoryContextSwitchTo(spi);
	catalog_end(&session);
	return sales;
}

ModelSale *
model_sale(int64 model_id)
{
	List *sales = read_sales(PLAN_HERE, "SELECT " SALE_COLUMNS " WHERE m.model_id = $1", model_id);

	return sales == NIL ? NULL : linitial(sales);
}

List *
population_sales(int64 population)
{
	return read_sales(PLAN_HERE,
					  "SELECT " SALE_COLUMNS " WHERE r.population = $1 ORDER BY m.model_id",
					  population);
}
