/*
 * by_id.c
 *		Relations and models by their numbers.
 */
#include "postgres.h"

#include "catalog/by_id.h"
#include "server/query.h"
#include "server/session.h"

RelationBrief
relation_brief(int64 relation_id)
{
	static SPIPlanPtr plan = NULL;
	MemoryContext	  caller = CurrentMemoryContext;
	RelationBrief	  brief = {0};
	CatalogSession	  session;

	catalog_begin(&session);
	query_run(&plan,
			  "SELECT r.relation::oid, r.relation_name, "
			  "CASE WHEN c.oid IS NULL THEN r.relation_name ELSE r.relation::text END "
			  "FROM privpred.protected_relation r LEFT JOIN pg_class c ON c.oid = r.relation "
			  "WHERE r.relation_id = $1",
			  true, 0, QUERY_ARGUMENTS(ARG_INT8(relation_id)));
	if (SPI_processed > 0)
	{
		brief.relid = row_oid(0, 1);
		brief.last_seen = MemoryContextStrdup(caller, row_text(0, 2));
		brief.name = MemoryContextStrdup(caller, row_text(0, 3));
	}
	catalog_end(&session);
	return brief;
}

static ChargeKind
kind_of(const char *name)
{
	if (strcmp(name, "per_answer") == 0)
		return CHARGE_PER_ANSWER;
	return strcmp(name, "per_stream") == 0 ? CHARGE_PER_STREAM : CHARGE_ONCE;
}

#define SALE_COLUMNS \
	"m.model_id, m.relation_id, m.name, m.version, m.training_id, m.charge_kind, m.charge, " \
	"m.pure_charge FROM privpred.model m"

/* In the order of SALE_COLUMNS. */
static ModelSale *
sale_from_row(uint64 row)
{
	ModelSale *sale = palloc_object(ModelSale);
	int		   column = 0;

	sale->model_id = row_int8(row, ++column);
	sale->relation_id = row_int8(row, ++column);
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
	static SPIPlanPtr plan = NULL;
	List *sales = read_sales(&plan, "SELECT " SALE_COLUMNS " WHERE m.model_id = $1", model_id);

	return sales == NIL ? NULL : linitial(sales);
}

List *
relation_sales(int64 relation_id)
{
	static SPIPlanPtr plan = NULL;

	return read_sales(&plan, "SELECT " SALE_COLUMNS " WHERE m.relation_id = $1 ORDER BY m.model_id",
					  relation_id);
}
