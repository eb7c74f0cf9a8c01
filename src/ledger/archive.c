/*
 * archive.c
 *		Checking what was set aside of entries that were folded: their hashes lead from the head
 *		before each run to the head after it, and they add up to the sums that its checkpoint
 *		vouches for.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "ledger/fold.h"
#include "ledger/ledger.h"
#include "server/progress.h"
#include "server/query.h"
#include "server/session.h"

#define FETCH_ROWS 1000

typedef struct ArchiveCheck
{
	LedgerArchiveVerdict *verdict;
	MemoryContext		  context; /* outlives sessions */
	Fold				 *folds;
	int					  nfolds;
	int					  now; /* the run that we are in */
	FoldRun				  run;
	uint8 (*digests)[HEAD_SIZE]; /* of the sums of each run, as the archive has it */
} ArchiveCheck;

static void
problem(ArchiveCheck *check, int64 entry, const char *text)
{
	if (check->verdict->problem != NULL)
		return;
	check->verdict->problem = MemoryContextStrdup(check->context, text);
	check->verdict->entry = entry;
}

/* The run is at its end, or should be. */
static void
end_run(ArchiveCheck *check)
{
	FoldRun	   *run = &check->run;
	const Fold *fold = &check->folds[check->now];
	uint8	   *digest = check->digests[check->now];
	ListCell   *cell;

	if (run->context == NULL)
		return;
	if (run->fold.last != fold->last)
		problem(check, run->fold.last + 1,
				psprintf("entry " INT64_FORMAT " is missing", run->fold.last + 1));
	else if (memcmp(run->fold.head, fold->head, HEAD_SIZE) != 0)
		problem(check, fold->last,
				psprintf("entry " INT64_FORMAT " is not the one that was folded", fold->last));
	memcpy(digest, fold->before, HEAD_SIZE);
	foreach(cell, run->sums)
		sums_hash(lfirst(cell), digest);
	check->folds[check->now].applied = true;
	check->verdict->runs++;
	run_end(run);
}

static void
check_entry(ArchiveCheck *check, LedgerEntry *entry)
{
	uint8 stored[HEAD_SIZE];

	while (check->now < check->nfolds && check->folds[check->now].last < entry->id)
	{
		end_run(check);
		check->now++;
	}
	if (check->now == check->nfolds || check->folds[check->now].first > entry->id)
	{
		problem(check, entry->id, psprintf("entry " INT64_FORMAT " was not folded", entry->id));
		return;
	}
	if (check->run.context == NULL)
	{
		MemoryContextSwitchTo(check->context);
		run_begin(&check->run, check->folds[check->now].first, check->folds[check->now].before);
	}
	if (entry->id != check->run.fold.last + 1)
		problem(check, check->run.fold.last + 1,
				psprintf("entry " INT64_FORMAT " is missing", check->run.fold.last + 1));
	memcpy(stored, entry->head, HEAD_SIZE);
	chain_hash(entry, check->run.fold.head);
	if (memcmp(stored, entry->head, HEAD_SIZE) != 0)
		problem(check, entry->id, psprintf("entry " INT64_FORMAT " was changed", entry->id));
	/* Entries that are not ours may lack what all entries have. */
	if (check->verdict->problem != NULL)
		return;
	if (!run_add(&check->run, entry))
		problem(check, entry->id,
				psprintf("entry " INT64_FORMAT " is too large for its sum", entry->id));
	check->verdict->entries++;
}

/* Rows are read as what our own columns are. */
static void
check_columns(Oid relid)
{
	Oid		 ours = get_relname_relid("ledger_archive", get_namespace_oid(PRIVPRED_SCHEMA, false));
	Relation relation = table_open(ours, AccessShareLock);

	for (int i = 0; i < RelationGetNumberOfAttributes(relation); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(relation), i);
		AttrNumber		  number = get_attnum(relid, NameStr(column->attname));

		if (number == InvalidAttrNumber || get_atttype(relid, number) != column->atttypid)
			ereport(ERROR,
					errcode(number == InvalidAttrNumber ? ERRCODE_UNDEFINED_COLUMN
														: ERRCODE_DATATYPE_MISMATCH),
					errmsg("an archive must have a column \"%s\" of type %s",
						   NameStr(column->attname), format_type_be(column->atttypid)),
					errhint("Create it with CREATE TABLE ... (LIKE privpred.ledger_archive)."));
	}
	table_close(relation, AccessShareLock);
}

/* With the rights of whoever asks, unless it is our own. */
static void
check_entries(ArchiveCheck *check, Oid relid)
{
	char	  *name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
												 get_rel_name(relid));
	char	  *sql = psprintf("SELECT id, " ENTRY_COLUMNS ", head FROM %s ORDER BY id", name);
	SPIPlanPtr plan = SPI_prepare(sql, 0, NULL);
	Portal	   portal;

	if (plan == NULL)
		elog(ERROR, "could not prepare \"%s\"", sql);
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	for (;;)
	{
		MemoryContext old;
		MemoryContext rows =
			AllocSetContextCreate(CurrentMemoryContext, "privpred archive", ALLOCSET_DEFAULT_SIZES);

		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		for (uint64 row = 0; row < SPI_processed; row++)
		{
			LedgerEntry entry;

			CHECK_FOR_INTERRUPTS();
			old = MemoryContextSwitchTo(rows);
			entry_from_row(&entry, row);
			check_entry(check, &entry);
			MemoryContextSwitchTo(old);
		}
		MemoryContextDelete(rows);
		progress_update(check->verdict->entries);
		if (SPI_processed == 0 || check->verdict->problem != NULL)
			break;
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	if (check->now < check->nfolds)
		end_run(check);
}

/* The archive's sums, with balances as we have them, are what the checkpoint says. */
static void
check_checkpoints(ArchiveCheck *check)
{
	for (int i = 0; i < check->nfolds && check->verdict->problem == NULL; i++)
	{
		const Fold *fold = &check->folds[i];
		ListCell   *cell;

		CHECK_FOR_INTERRUPTS();
		if (!fold->applied)
		{
			check->verdict->absent++;
			continue;
		}
		foreach(cell, sums_read(fold->first))
		{
			LedgerEntry *sum = lfirst(cell);

			if (strcmp(sum->kind, BALANCE_KIND) == 0)
				sums_hash(sum, check->digests[i]);
		}
		query_read("SELECT FROM privpred.ledger_entry e WHERE e.kind = $1 AND e.detail = $2 "
				   "UNION ALL SELECT FROM privpred.ledger_outbox o "
				   "WHERE o.kind = $1 AND o.detail = $2",
				   ARG_TEXT(CHECKPOINT_KIND), ARG_TEXT(fold_says(fold, check->digests[i])));
		if (SPI_processed == 0)
			problem(check, 0,
					psprintf("entries " INT64_FORMAT " to " INT64_FORMAT
							 " do not add up to the sums that a checkpoint vouches for",
							 fold->first, fold->last));
	}
}

LedgerArchiveVerdict
ledger_verify_archive(Oid relid)
{
	LedgerArchiveVerdict verdict = {0};
	ArchiveCheck		 check = {.verdict = &verdict, .context = CurrentMemoryContext};
	CatalogSession		 session;
	bool				 ours = !OidIsValid(relid);

	progress_begin("", InvalidOid);
	progress_show_to(asking_role());
	progress_phase("verifying an archive", -1);
	catalog_begin(&session);
	if (ours)
		relid = get_relname_relid("ledger_archive", get_namespace_oid(PRIVPRED_SCHEMA, false));
	session_keep(&session);
	check.folds = folds_read(&check.nfolds);
	check.digests = palloc0(mul_size(check.nfolds + 1, HEAD_SIZE));
	if (!ours)
	{
		catalog_end(&session);
		caller_begin(&session);
	}
	check_columns(relid);
	check_entries(&check, relid);
	if (!ours)
	{
		catalog_end(&session);
		catalog_begin(&session);
	}
	check_checkpoints(&check);
	catalog_end(&session);
	progress_end();
	return verdict;
}
