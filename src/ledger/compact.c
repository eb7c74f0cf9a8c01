/*
 * compact.c
 *		Folding old entries: debits and what came back of them become sums.
 *
 * All of it happens in the transaction of whoever asks: entries go, sums come, and a checkpoint
 * waits in the outbox, or nothing of that.  The ledger's process chains the checkpoint as it does a
 * grant.  It never touches an entry again that it has written, so neither waits for the other,
 * and no account is locked.
 *
 * What is folded was verified on the way, from the first entry on: a sum never covers up for an
 * entry that was changed.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "ledger/walk.h"
#include "server/progress.h"
#include "server/query.h"
#include "server/session.h"

#define RUN_MOST_ENTRIES 1000000
#define RUN_MOST_SUMS 10000
#define SAVES 2 /* a run is folded if it has so many times more entries than rows are left */

typedef struct Compaction
{
	LedgerWalk		  walk;
	TimestampTz		  until;  /* younger entries stay */
	int64			  newest; /* the last of all, from which the chain goes on */
	int64			  at_most;
	bool			  archive;
	const char		 *actor;
	HTAB			 *open; /* leases */
	FoldRun			  run;
	ItemPointerData	 *tids; /* of its entries */
	LedgerCompaction *result;
} Compaction;

bool
ledger_is_kept_by(Oid role)
{
	return superuser_arg(role) || has_privs_of_role(role, catalog_owner());
}

/* ---------- how long entries are kept ---------- */

void
ledger_set_retention(const LedgerRetention *retention)
{
	char		  *actor = ledger_actor();
	CatalogSession session;

	catalog_begin(&session);
	query_write("DELETE FROM privpred.ledger_retention");
	if (retention != NULL)
		query_write("INSERT INTO privpred.ledger_retention (older_than, archive, set_by) "
					"VALUES ($1, $2, $3)",
					ARG(INTERVALOID, IntervalPGetDatum(&retention->older_than)),
					ARG_BOOL(retention->archive), ARG_TEXT(actor));
	CommandCounterIncrement();
	catalog_end(&session);
}

bool
ledger_retention(LedgerRetention *retention)
{
	CatalogSession session;
	bool		   found;
	bool		   isnull;

	catalog_begin(&session);
	query_read("SELECT older_than, archive FROM privpred.ledger_retention "
			   "ORDER BY older_than DESC LIMIT 1");
	found = SPI_processed > 0;
	if (found)
	{
		retention->older_than = *DatumGetIntervalP(row_value(0, 1, &isnull));
		retention->archive = row_bool(0, 2);
	}
	catalog_end(&session);
	return found;
}

/* ---------- what is folded ---------- */

/*
 * Debits, what came back of them, windows that ended, and tests of uniform streams, which are
 * free: nobody reads them again.  Everything else is rare, and is read: grants are the terms,
 * purchases say what was paid for, certificates and joins are found by what they say.
 */
static bool
is_foldable(const Compaction *compaction, const LedgerEntry *entry)
{
	static const char *const kinds[] = {"lease", "settle", "refresh", "tested"};
	bool					 listed = false;

	for (int i = 0; i < lengthof(kinds); i++)
		listed |= strcmp(entry->kind, kinds[i]) == 0;
	/* What is out, or was lost in a crash, may still be forgiven. */
	return listed && hash_search(compaction->open, &entry->lease, HASH_FIND, NULL) == NULL;
}

static void
read_open_leases(Compaction *compaction)
{
	HASHCTL ctl = {.keysize = sizeof(int64), .entrysize = sizeof(int64)};

	ctl.hcxt = CurrentMemoryContext;
	compaction->open =
		hash_create("privpred leases", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	query_read("SELECT o.lease FROM privpred.open_lease o");
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		int64 lease = row_int8(row, 1);

		(void) hash_search(compaction->open, &lease, HASH_ENTER, NULL);
	}
}

/* ---------- folding a run ---------- */

static void
put_sum(int64 first, const LedgerEntry *sum)
{
	query_write(
		"INSERT INTO privpred.ledger_sum (first, number, at, kind, account_id, cap_id, "
		"role_name, relation_id, relation_name, model_id, model, version, entries, answers, "
		"units, cap_units, renyi_order, window_units, delta) VALUES ($1, $2, $3, $4, $5, "
		"$6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
		ARG_INT8(first), ARG_INT8(sum->id), ARG_TIME(sum->at), ARG_TEXT(sum->kind),
		ARG_INT8_OR_NULL(sum->account_id), ARG_INT8_OR_NULL(sum->cap_id), ARG_TEXT(sum->role_name),
		ARG_INT8_OR_NULL(sum->relation_id), ARG_TEXT(sum->relation_name),
		ARG_INT8_OR_NULL(sum->model_id), ARG_TEXT(sum->model), ARG_INT4_OR_NULL(sum->version),
		ARG_INT8_OR_NULL(sum->lease), ARG_INT8(sum->answers), ARG_INT8(sum->units),
		ARG_INT8(sum->cap_units), ARG_IF(sum->order != RENYI_ORDER_INFINITE, ARG_INT8(sum->order)),
		ARG_INT8(sum->window_units), ARG_FLOAT8(sum->delta));
}

/* What the accounts of the run have spent after it, as sums of no entries. */
static void
add_balances(Compaction *compaction)
{
	FoldRun			  *run = &compaction->run;
	const LedgerEntry *last = llast(run->sums);
	MemoryContext	   old = MemoryContextSwitchTo(run->context);
	ListCell		  *cell;

	foreach(cell, run->accounts)
	{
		const Tally *tally = walk_tally(&compaction->walk, *(int64 *) lfirst(cell));
		LedgerEntry *balance = palloc0_object(LedgerEntry);

		run->sums = lappend(run->sums, balance);
		balance->id = list_length(run->sums);
		balance->at = last->at;
		balance->kind = BALANCE_KIND;
		balance->account_id = tally->account_id;
		balance->order = RENYI_ORDER_INFINITE;
		balance->units = tally->spent;
		balance->window_units = tally->window_spent;
		balance->delta = tally->delta_spent;
	}
	MemoryContextSwitchTo(old);
}

static bytea *
head_bytes(const uint8 *head)
{
	bytea *bytes = palloc(VARHDRSZ + HEAD_SIZE);

	SET_VARSIZE(bytes, VARHDRSZ + HEAD_SIZE);
	memcpy(VARDATA(bytes), head, HEAD_SIZE);
	return bytes;
}

/* What is left of the run, and the checkpoint that says so. */
static void
put_run(FoldRun *run, const char *actor)
{
	const Fold *fold = &run->fold;
	bytea	   *before = head_bytes(fold->before);
	bytea	   *head = head_bytes(fold->head);
	uint8		digest[HEAD_SIZE];
	ListCell   *cell;

	query_write(
		"INSERT INTO privpred.ledger_fold (first, last, before, head) VALUES ($1, $2, $3, $4)",
		ARG_INT8(fold->first), ARG_INT8(fold->last), ARG_POINTER(BYTEAOID, before),
		ARG_POINTER(BYTEAOID, head));
	memcpy(digest, fold->before, HEAD_SIZE);
	foreach(cell, run->sums)
	{
		put_sum(fold->first, lfirst(cell));
		sums_hash(lfirst(cell), digest);
	}
	query_write("INSERT INTO privpred.ledger_outbox (kind, actor, pid, detail) "
				"VALUES ($1, $2, $3, $4)",
				ARG_TEXT(CHECKPOINT_KIND), ARG_TEXT(actor), ARG_INT4(MyProcPid),
				ARG_TEXT(fold_says(fold, digest)));
}

static void
set_aside(const FoldRun *run)
{
	query_write("INSERT INTO privpred.ledger_archive SELECT e.* FROM privpred.ledger_entry e "
				"WHERE e.id BETWEEN $1 AND $2",
				ARG_INT8(run->fold.first), ARG_INT8(run->fold.last));
	if (SPI_processed != run->entries)
		ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg("entries came while the ledger was compacted"),
				errhint("Compact it at isolation level READ COMMITTED."));
}

/* By hand: nobody else may remove entries, which a trigger sees to. */
static void
remove_entries(const Compaction *compaction)
{
	Oid		 relid = get_relname_relid("ledger_entry", get_namespace_oid(PRIVPRED_SCHEMA, false));
	Relation relation = table_open(relid, RowExclusiveLock);

	for (int64 i = 0; i < compaction->run.entries; i++)
	{
		CHECK_FOR_INTERRUPTS();
		CatalogTupleDelete(relation, &compaction->tids[i]);
	}
	table_close(relation, NoLock);
}

/* Folds the run, if anything is saved by that, and forgets it. */
static void
close_run(Compaction *compaction)
{
	FoldRun			 *run = &compaction->run;
	LedgerCompaction *result = compaction->result;
	int				  rows = 2 + list_length(run->sums) + list_length(run->accounts);

	if (run->context == NULL)
		return;
	/* The last entry of the run was added up after it was visited. */
	if (compaction->walk.verdict->problem == NULL && run->entries >= SAVES * rows)
	{
		add_balances(compaction);
		if (compaction->archive)
			set_aside(run);
		put_run(run, compaction->actor);
		remove_entries(compaction);
		result->folded += run->entries;
		result->sums += list_length(run->sums);
		result->runs++;
	}
	run_end(run);
}

static bool
visit_entry(void *visitor, const LedgerEntry *entry, const uint8 *previous, ItemPointer tid)
{
	Compaction *compaction = visitor;
	FoldRun	   *run = &compaction->run;
	bool		enough;

	if (entry == NULL) /* a run ends before what was folded, and its balances are of there */
	{
		close_run(compaction);
		return true;
	}
	enough = entry->at >= compaction->until || entry->id >= compaction->newest ||
			 compaction->result->folded + run->entries >= compaction->at_most;
	if (enough || !is_foldable(compaction, entry) || run->entries == RUN_MOST_ENTRIES ||
		list_length(run->sums) >= RUN_MOST_SUMS)
		close_run(compaction);
	if (enough || compaction->walk.verdict->problem != NULL)
		return false;
	if (!is_foldable(compaction, entry))
		return true;
	if (run->context != NULL && !run_add(run, entry))
		close_run(compaction);
	else if (run->context != NULL)
	{
		compaction->tids[run->entries - 1] = *tid;
		return true;
	}
	MemoryContextSwitchTo(compaction->walk.context);
	run_begin(run, entry->id, previous);
	if (!run_add(run, entry))
		elog(ERROR, "entry " INT64_FORMAT " cannot be added to nothing", entry->id);
	compaction->tids[0] = *tid;
	return true;
}

static void
report_problem(const LedgerVerdict *verdict)
{
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("the privacy ledger is not right, and is not compacted"),
			errdetail("%s", verdict->problem), errhint("See privpred.verify_ledger()."));
}

LedgerCompaction
ledger_compact(const LedgerRetention *retention, int64 at_most)
{
	LedgerCompaction result = {0};
	LedgerVerdict	 verdict = {0};
	Compaction		 compaction = {.at_most = at_most,
								   .archive = retention->archive,
								   .actor = ledger_actor(),
								   .result = &result,
								   .walk = {.verdict = &verdict, .visit = visit_entry}};
	CatalogSession	 session;

	ledger_sync();
	if (!ledger_upkeep_lock())
		ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
				errmsg("the privacy ledger is being compacted or verified by another session"),
				errhint("Try again when its transaction has ended."));
	compaction.until = DatumGetTimestampTz(
		DirectFunctionCall2(timestamptz_mi_interval, TimestampTzGetDatum(GetCurrentTimestamp()),
							IntervalPGetDatum(&retention->older_than)));
	progress_begin("", InvalidOid);
	progress_show_to(asking_role());
	catalog_begin(&session);
	ledger_claim();
	compaction.walk.context = CurrentMemoryContext;
	compaction.walk.visitor = &compaction;
	compaction.tids = MemoryContextAllocHuge(CurrentMemoryContext, Min(at_most, RUN_MOST_ENTRIES) *
																	   sizeof(ItemPointerData));
	query_read("SELECT max(e.id) FROM privpred.ledger_entry e");
	compaction.newest = row_int8(0, 1);
	progress_phase("compacting entries", compaction.newest);
	read_open_leases(&compaction);
	walk_begin(&compaction.walk);
	walk_chain(&compaction.walk);
	close_run(&compaction);
	if (verdict.problem != NULL)
		report_problem(&verdict);
	query_read("SELECT count(*) FROM privpred.ledger_entry");
	result.entries = row_int8(0, 1) - result.folded;
	CommandCounterIncrement();
	catalog_end(&session);
	progress_end();
	return result;
}
