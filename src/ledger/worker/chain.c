/*
 * chain.c
 *		Appending to the hash chain.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ledger/worker/worker.h"
#include "server/query.h"

/* Where we left the chain; void after an error. */
static ChainEnd known_end;
static Oid		known_generation = InvalidOid;

void
chain_forget(void)
{
	known_generation = InvalidOid;
}

/* The generation, an OID of ours, tells a ledger that was created anew. */
void
chain_read_end(ChainEnd *end, Oid generation)
{
	bytea *head;
	bool   isnull;

	if (OidIsValid(generation) && known_generation == generation)
	{
		*end = known_end;
		return;
	}
	memset(end, 0, sizeof(ChainEnd));
	query_write("SELECT e.id, e.head FROM privpred.ledger_entry e ORDER BY e.id DESC LIMIT 1");
	if (SPI_processed == 0)
		return;
	end->id = row_int8(0, 1);
	head = DatumGetByteaPP(row_value(0, 2, &isnull));
	if (VARSIZE_ANY_EXHDR(head) != HEAD_SIZE)
		elog(ERROR, "entry " INT64_FORMAT " of the ledger has a malformed head", end->id);
	memcpy(end->head, VARDATA_ANY(head), HEAD_SIZE);
	known_end = *end;
	known_generation = generation;
}

/* By hand rather than by SQL: this is half of what a single debit costs the processor. */
static void
insert_entry(const LedgerEntry *entry)
{
	Oid		  relid = get_relname_relid("ledger_entry", get_namespace_oid(PRIVPRED_SCHEMA, false));
	Relation  relation = table_open(relid, RowExclusiveLock);
	Datum	  values[ENTRY_COLUMN_COUNT];
	bool	  nulls[ENTRY_COLUMN_COUNT];
	HeapTuple tuple;

	if (RelationGetNumberOfAttributes(relation) != ENTRY_COLUMN_COUNT)
		elog(ERROR, "the ledger does not have the columns of this version");
	entry_to_row(entry, values, nulls);
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
	query_write("WITH d AS (DELETE FROM privpred.ledger_outbox RETURNING *) "
				"SELECT seq, " ENTRY_COLUMNS " FROM d ORDER BY seq");
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		LedgerEntry entry;

		entry_from_row(&entry, row);
		chain_append(end, &entry);
	}
}
