/*
 * chain.c
 *		Appending to the hash chain.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ledger/worker/worker.h"

static SPIPlanPtr end_plan = NULL;
static SPIPlanPtr drain_plan = NULL;

/* Where we left the chain; void after an error. */
static ChainEnd known_end;
static Oid		known_generation = InvalidOid;

static void
prepare(SPIPlanPtr *plan, const char *query)
{
	if (*plan != NULL)
		return;
	*plan = SPI_prepare(query, 0, NULL);
	if (*plan == NULL || SPI_keepplan(*plan) != 0)
		elog(ERROR, "could not prepare a query of the ledger");
}

void
chain_forget(void)
{
	SPIPlanPtr *plans[] = {&end_plan, &drain_plan};

	for (int i = 0; i < lengthof(plans); i++)
	{
		if (*plans[i] != NULL)
			SPI_freeplan(*plans[i]);
		*plans[i] = NULL;
	}
	known_generation = InvalidOid;
}

/* The generation, an oid of ours, tells a ledger that was created anew. */
void
chain_read_end(ChainEnd *end, Oid generation)
{
	bool   isnull;
	bytea *head;

	if (OidIsValid(generation) && known_generation == generation)
	{
		*end = known_end;
		return;
	}
	memset(end, 0, sizeof(ChainEnd));
	prepare(&end_plan,
			"SELECT e.id, e.head FROM privpred.ledger_entry e ORDER BY e.id DESC LIMIT 1");
	if (SPI_execute_plan(end_plan, NULL, NULL, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read the end of the ledger");
	if (SPI_processed == 0)
		return;
	end->id =
		DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	head = DatumGetByteaPP(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2, &isnull));
	if (VARSIZE_ANY_EXHDR(head) != HEAD_SIZE)
		elog(ERROR, "entry " INT64_FORMAT " of the ledger has a malformed head", end->id);
	memcpy(end->head, VARDATA_ANY(head), HEAD_SIZE);
	known_end = *end;
	known_generation = generation;
}

/*
 * By hand rather than by SQL: this is half of what a single debit costs the
 * processor.  Columns in the order of the install script.
 */
#define ENTRY_COLUMNS 24

static void
insert_entry(const LedgerEntry *entry)
{
	Oid		  relid = get_relname_relid("ledger_entry", get_namespace_oid(PRIVPRED_SCHEMA, false));
	Relation  relation = table_open(relid, RowExclusiveLock);
	bytea	 *head = palloc(VARHDRSZ + HEAD_SIZE);
	Datum	  values[ENTRY_COLUMNS];
	bool	  nulls[ENTRY_COLUMNS];
	HeapTuple tuple;
	int		  n = 0;

#define PUT(present, value) \
	(nulls[n] = !(present), values[n] = (present) ? (value) : (Datum) 0, n++)
#define PUT_TEXT(text) PUT((text) != NULL, CStringGetTextDatum(text))

	SET_VARSIZE(head, VARHDRSZ + HEAD_SIZE);
	memcpy(VARDATA(head), entry->head, HEAD_SIZE);
	PUT(true, Int64GetDatum(entry->id));
	PUT(true, TimestampTzGetDatum(entry->at));
	PUT_TEXT(entry->kind);
	PUT(entry->account_id != 0, Int64GetDatum(entry->account_id));
	PUT(entry->cap_id != 0, Int64GetDatum(entry->cap_id));
	PUT_TEXT(entry->role_name);
	PUT(entry->relation_id != 0, Int64GetDatum(entry->relation_id));
	PUT_TEXT(entry->relation_name);
	PUT(entry->model_id != 0, Int64GetDatum(entry->model_id));
	PUT_TEXT(entry->model);
	PUT(entry->version != 0, Int32GetDatum(entry->version));
	PUT(entry->lease != 0, Int64GetDatum(entry->lease));
	PUT(true, Int64GetDatum(entry->answers));
	PUT(true, Int64GetDatum(entry->units));
	PUT(true, Int64GetDatum(entry->cap_units));
	PUT(entry->has_limit, Int64GetDatum(entry->limit));
	PUT_TEXT(entry->actor);
	PUT(true, Int32GetDatum(entry->pid));
	PUT(entry->order != RENYI_ORDER_INFINITE, Int64GetDatum(entry->order));
	PUT(true, Int64GetDatum(entry->window_units));
	PUT(entry->has_window, Int64GetDatum(entry->window_limit));
	PUT(true, Float8GetDatum(entry->delta));
	PUT_TEXT(entry->detail);
	PUT(true, PointerGetDatum(head));
	Assert(n == ENTRY_COLUMNS);
	if (RelationGetNumberOfAttributes(relation) != ENTRY_COLUMNS)
		elog(ERROR, "the ledger does not have the columns of this version");

	tuple = heap_form_tuple(RelationGetDescr(relation), values, nulls);
	CatalogTupleInsert(relation, tuple);
	heap_freetuple(tuple);
	table_close(relation, NoLock);
}

void
chain_append(ChainEnd *end, LedgerEntry *entry)
{
	entry->id = end->id + 1;
	if (entry->lease < 0)
		entry->lease = entry->id; /* the first entry names the lease */
	chain_hash(entry, end->head);
	insert_entry(entry);

	end->id = entry->id;
	memcpy(end->head, entry->head, HEAD_SIZE);
	known_end = *end;
}

/*
 * Grants and revocations are written by their owners' transactions; they enter
 * the chain when this sees them committed.
 */
void
chain_drain_outbox(ChainEnd *end)
{
	SPITupleTable *table;
	uint64		   rows;

	prepare(
		&drain_plan,
		"WITH d AS (DELETE FROM privpred.ledger_outbox RETURNING *) "
		"SELECT at, kind, account_id, cap_id, role_name, relation_id, relation_name, "
		"model_id, model, version, lease, answers, units, cap_units, limit_units, actor, pid, renyi_order, "
		"window_units, window_limit_units, delta, detail FROM d ORDER BY seq");
	if (SPI_execute_plan(drain_plan, NULL, NULL, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the outbox of the ledger");
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
	{
		LedgerEntry entry = {0};
		bool		isnull;
		Datum		value;

#define GET(column) (value = SPI_getbinval(table->vals[row], table->tupdesc, column, &isnull))
#define GET_TEXT(column) (GET(column), isnull ? NULL : TextDatumGetCString(value))
#define GET_INT8(column) (GET(column), isnull ? 0 : DatumGetInt64(value))

		entry.at = DatumGetTimestampTz(GET(1));
		entry.kind = GET_TEXT(2);
		entry.account_id = GET_INT8(3);
		entry.cap_id = GET_INT8(4);
		entry.role_name = GET_TEXT(5);
		entry.relation_id = GET_INT8(6);
		entry.relation_name = GET_TEXT(7);
		entry.model_id = GET_INT8(8);
		entry.model = GET_TEXT(9);
		entry.version = (GET(10), isnull ? 0 : DatumGetInt32(value));
		entry.lease = GET_INT8(11);
		entry.answers = GET_INT8(12);
		entry.units = GET_INT8(13);
		entry.cap_units = GET_INT8(14);
		entry.limit = GET_INT8(15);
		entry.has_limit = !isnull;
		entry.actor = GET_TEXT(16);
		entry.pid = DatumGetInt32(GET(17));
		entry.order = GET_INT8(18);
		if (isnull)
			entry.order = RENYI_ORDER_INFINITE;
		entry.window_units = GET_INT8(19);
		entry.window_limit = GET_INT8(20);
		entry.has_window = !isnull;
		entry.delta = DatumGetFloat8(GET(21));
		entry.detail = GET_TEXT(22);
		chain_append(end, &entry);
	}
}
