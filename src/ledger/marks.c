/*
 * marks.c
 *		Where the chain was last found to be right, and what accounts had spent there.
 *
 * A mark says nothing that is not true of the chain that was walked: only this file writes it,
 * after a walk without a problem, for whoever keeps the ledger.  Nobody else may touch its tables,
 * and it is left out of dumps.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/lsyscache.h"

#include "ledger/walk.h"
#include "server/query.h"

bool
ledger_upkeep_lock(void)
{
	Oid		folds = get_relname_relid("ledger_fold", get_namespace_oid(PRIVPRED_SCHEMA, false));
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, folds, 0, 0);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Who cut off the end of the chain has cut off the mark, too, or has added other entries. */
static void
check_end(LedgerWalk *walk, int64 id)
{
	bytea *end;

	query_read("SELECT e.id, e.head FROM privpred.ledger_entry e ORDER BY e.id DESC LIMIT 1");
	end = SPI_processed == 0 ? NULL : row_varlena(0, 2);
	if (end == NULL || row_int8(0, 1) < id ||
		(row_int8(0, 1) == id && (VARSIZE_ANY_EXHDR(end) != HEAD_SIZE ||
								  memcmp(VARDATA_ANY(end), walk->head, HEAD_SIZE) != 0)))
		walk_problem(walk, id,
					 psprintf("the chain had another entry " INT64_FORMAT
							  " when it was last verified: an older state was restored",
							  id));
}

static void
read_tallies(LedgerWalk *walk, int64 id)
{
	query_read("SELECT account_id, spent_units, window_spent_units, delta_spent, limit_units, "
			   "window_limit_units, terms, leaving_units, leaving_delta "
			   "FROM privpred.ledger_tally WHERE mark = $1",
			   ARG_INT8(id));
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Tally *tally = walk_tally(walk, row_int8(row, 1));
		char  *terms = row_text(row, 7);

		tally->spent = row_int8(row, 2);
		tally->window_spent = row_int8(row, 3);
		tally->delta_spent = row_float8(row, 4);
		tally->has_limit = !row_isnull(row, 5);
		tally->limit = row_int8(row, 5);
		tally->has_window = !row_isnull(row, 6);
		tally->window_limit = row_int8(row, 6);
		tally->terms = terms == NULL ? NULL : MemoryContextStrdup(walk->context, terms);
		tally->leaving = row_int8(row, 8);
		tally->leaving_delta = row_float8(row, 9);
	}
}

/* A mark within a run that was folded since is of no use. */
void
mark_resume(LedgerWalk *walk)
{
	int64  id;
	bytea *head;

	query_read("SELECT m.id, m.head FROM privpred.ledger_mark m "
			   "WHERE NOT EXISTS (SELECT FROM privpred.ledger_fold f "
			   "WHERE f.first <= m.id AND f.last > m.id) ORDER BY m.id DESC LIMIT 1");
	if (SPI_processed == 0)
		return;
	id = row_int8(0, 1);
	head = row_varlena(0, 2);
	if (head == NULL || VARSIZE_ANY_EXHDR(head) != HEAD_SIZE)
		return;
	memcpy(walk->head, VARDATA_ANY(head), HEAD_SIZE);
	walk->verdict->entries = id;
	while (walk->next_fold < walk->nfolds && walk->folds[walk->next_fold].first <= id)
		walk->next_fold++;
	if (walk->expected != NULL && memcmp(walk->head, walk->expected, HEAD_SIZE) == 0)
		walk->seen = true;
	read_tallies(walk, id);
	check_end(walk, id);
}

LedgerMark *
mark_take(LedgerWalk *walk)
{
	LedgerMark	   *mark = palloc0_object(LedgerMark);
	HASH_SEQ_STATUS status;
	Tally		   *tally;

	mark->id = walk->verdict->entries;
	memcpy(mark->head, walk->head, HEAD_SIZE);
	mark->tallies = palloc0_array(Tally, hash_get_num_entries(walk->tallies) + 1);
	hash_seq_init(&status, walk->tallies);
	while ((tally = hash_seq_search(&status)) != NULL)
	{
		mark->tallies[mark->count] = *tally;
		if (tally->terms != NULL)
			mark->tallies[mark->count].terms = pstrdup(tally->terms);
		mark->count++;
	}
	return mark;
}

void
mark_keep(const LedgerMark *mark)
{
	bytea *head = palloc(VARHDRSZ + HEAD_SIZE);

	if (mark->id == 0 || !ledger_upkeep_lock())
		return;
	SET_VARSIZE(head, VARHDRSZ + HEAD_SIZE);
	memcpy(VARDATA(head), mark->head, HEAD_SIZE);
	query_write("DELETE FROM privpred.ledger_tally");
	query_write("DELETE FROM privpred.ledger_mark");
	query_write("INSERT INTO privpred.ledger_mark (id, head, at) VALUES ($1, $2, now())",
				ARG_INT8(mark->id), ARG_POINTER(BYTEAOID, head));
	for (int i = 0; i < mark->count; i++)
	{
		const Tally *tally = &mark->tallies[i];

		query_write(
			"INSERT INTO privpred.ledger_tally (mark, account_id, spent_units, "
			"window_spent_units, delta_spent, limit_units, window_limit_units, terms, "
			"leaving_units, leaving_delta) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
			ARG_INT8(mark->id), ARG_INT8(tally->account_id), ARG_INT8(tally->spent),
			ARG_INT8(tally->window_spent), ARG_FLOAT8(tally->delta_spent),
			ARG_IF(tally->has_limit, ARG_INT8(tally->limit)),
			ARG_IF(tally->has_window, ARG_INT8(tally->window_limit)), ARG_TEXT(tally->terms),
			ARG_INT8(tally->leaving), ARG_FLOAT8(tally->leaving_delta));
	}
	CommandCounterIncrement();
}
