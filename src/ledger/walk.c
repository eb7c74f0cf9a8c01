/*
 * walk.c
 *		Walking along the chain, see walk.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "account/accountant.h"
#include "ledger/walk.h"
#include "server/progress.h"
#include "server/query.h"

#define FETCH_ROWS 1000

void
walk_problem(LedgerWalk *walk, int64 entry, const char *text)
{
	LedgerVerdict *verdict = walk->verdict;

	if (verdict->problem != NULL)
		return;
	verdict->problem = MemoryContextStrdup(walk->context, text);
	verdict->entry = entry;
}

Tally *
walk_tally(LedgerWalk *walk, int64 account_id)
{
	bool   found;
	Tally *tally = hash_search(walk->tallies, &account_id, HASH_ENTER, &found);

	if (!found)
	{
		memset(tally, 0, sizeof(Tally));
		tally->account_id = account_id;
	}
	return tally;
}

/* The terms that entries recorded last. */
static void
note_terms(LedgerWalk *walk, Tally *tally, const LedgerEntry *entry, const char *terms)
{
	tally->has_limit = entry->has_limit;
	tally->limit = entry->limit;
	tally->has_window = entry->has_window;
	tally->window_limit = entry->window_limit;
	if (tally->terms != NULL)
		pfree(tally->terms);
	tally->terms = terms == NULL ? NULL : MemoryContextStrdup(walk->context, terms);
}

/* All that an account had spent leaves it, and nothing else. */
static void
leave(LedgerWalk *walk, Tally *tally, const LedgerEntry *entry)
{
	if (tally->spent != 0 || tally->window_spent != 0 || tally->delta_spent != -entry->delta)
		walk_problem(walk, entry->id,
					 psprintf("account " INT64_FORMAT
							  " was joined with another, and not as a whole",
							  entry->account_id));
	tally->delta_spent = 0;
	tally->leaving = -entry->units;
	tally->leaving_delta = -entry->delta;
}

/* It arrives at another, and its delta with more where an order has changed. */
static void
arrive(LedgerWalk *walk, int64 whence, const LedgerEntry *entry)
{
	Tally *tally = walk_tally(walk, whence);

	if (entry->delta < tally->leaving_delta ||
		(entry->units != tally->leaving &&
		 walk_tally(walk, entry->account_id)->spent != PG_INT64_MAX))
		walk_problem(walk, entry->id,
					 psprintf("what account " INT64_FORMAT " had spent was lost when it was joined",
							  whence));
	tally->leaving = 0;
	tally->leaving_delta = 0;
}

/* See src/ledger/join.c; what was exported before is charged under the same kind. */
static void
follow_join(LedgerWalk *walk, const LedgerEntry *entry)
{
	const char *terms = entry->detail == NULL ? NULL : strstr(entry->detail, ": ");
	int64		whence;

	if (entry->detail == NULL)
		walk_problem(walk, entry->id, "an entry about a join does not say with what");
	else if (strncmp(entry->detail, "to ", 3) == 0)
		leave(walk, walk_tally(walk, entry->account_id), entry);
	else if (strncmp(entry->detail, "from ", 5) == 0)
	{
		if (sscanf(entry->detail, "from account " INT64_FORMAT ":", &whence) == 1)
			arrive(walk, whence, entry);
		note_terms(walk, walk_tally(walk, entry->account_id), entry,
				   terms == NULL ? NULL : terms + 2);
	}
}

static bool
is_charge(const LedgerEntry *entry)
{
	static const char *const kinds[] = {"lease",  "stream",	  "release",
										"export", "describe", "accuracy"};

	for (int i = 0; i < lengthof(kinds); i++)
		if (strcmp(entry->kind, kinds[i]) == 0)
			return true;
	return false;
}

/* ---------- what was folded ---------- */

/* Adds what a run had to the tallies; what it says that accounts had spent after it must fit. */
static void
add_sum(LedgerWalk *walk, const Fold *fold, const LedgerEntry *sum)
{
	Tally *tally = sum->account_id == 0 ? NULL : walk_tally(walk, sum->account_id);

	if (strcmp(sum->kind, BALANCE_KIND) == 0 && tally != NULL)
	{
		if (tally->spent != sum->units || tally->window_spent != sum->window_units ||
			sum->delta < tally->delta_spent)
			walk_problem(walk, 0,
						 psprintf("entries " INT64_FORMAT " to " INT64_FORMAT
								  " were folded, and their sums do not fit account " INT64_FORMAT,
								  fold->first, fold->last, sum->account_id));
		tally->delta_spent = sum->delta; /* rounding depends on the order of what is added */
		return;
	}
	if (tally != NULL)
	{
		tally->spent += sum->units;
		tally->window_spent += sum->window_units;
	}
	if (sum->cap_id != 0)
		walk_tally(walk, sum->cap_id)->spent += sum->cap_units;
}

/* What a checkpoint must say about a run; its sums are added up if the walk has come to it. */
static void
read_fold(LedgerWalk *walk, Fold *fold, bool apply)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "privpred sums", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	uint8		  digest[HEAD_SIZE];
	int64		  entries = 0;
	ListCell	 *cell;

	memcpy(digest, fold->before, HEAD_SIZE);
	foreach(cell, sums_read(fold->first))
	{
		LedgerEntry *sum = lfirst(cell);

		entries += sum->lease;
		if (apply)
			add_sum(walk, fold, sum);
		sums_hash(sum, digest);
	}
	if (entries != fold->last - fold->first + 1)
		walk_problem(walk, 0,
					 psprintf("entries " INT64_FORMAT " to " INT64_FORMAT
							  " were folded, and their sums are of " INT64_FORMAT " entries",
							  fold->first, fold->last, entries));
	fold->says = MemoryContextStrdup(walk->context, fold_says(fold, digest));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Passes what was folded of the chain next. */
static void
pass_folds(LedgerWalk *walk)
{
	while (walk->next_fold < walk->nfolds &&
		   walk->folds[walk->next_fold].first == walk->verdict->entries + 1)
	{
		Fold *fold = &walk->folds[walk->next_fold++];

		CHECK_FOR_INTERRUPTS();
		if (walk->visit != NULL)
			(void) walk->visit(walk->visitor, NULL, walk->head, NULL);
		if (memcmp(fold->before, walk->head, HEAD_SIZE) != 0)
			walk_problem(walk, 0,
						 psprintf("entries " INT64_FORMAT " to " INT64_FORMAT
								  " were folded, and do not follow the entry before them",
								  fold->first, fold->last));
		read_fold(walk, fold, true);
		fold->applied = true;
		memcpy(walk->head, fold->head, HEAD_SIZE);
		walk->verdict->entries = fold->last;
		if (walk->expected != NULL && memcmp(fold->head, walk->expected, HEAD_SIZE) == 0)
			walk->seen = true;
		progress_update(fold->last);
	}
}

/* A checkpoint vouches for a run, if the run is what it says. */
static void
check_checkpoint(LedgerWalk *walk, const LedgerEntry *entry)
{
	Fold *fold = fold_find(walk->folds, walk->nfolds, checkpoint_first(entry));

	if (fold != NULL && fold->says == NULL)
		read_fold(walk, fold, false);
	if (fold == NULL || strcmp(fold->says, entry->detail) != 0)
		walk_problem(walk, entry->id,
					 psprintf("the sums of folded entries are not those of their checkpoint, %s",
							  entry->detail ? entry->detail : ""));
	else
		fold->vouched = true;
}

void
walk_check_folds(LedgerWalk *walk)
{
	for (int i = 0; i < walk->nfolds; i++)
	{
		const Fold *fold = &walk->folds[i];

		if (i >= walk->next_fold)
			walk_problem(walk, 0,
						 psprintf("entries " INT64_FORMAT " to " INT64_FORMAT
								  " were folded, and have no place in the chain",
								  fold->first, fold->last));
		else if (fold->applied && !fold->vouched)
			walk_problem(walk, 0,
						 psprintf("entries " INT64_FORMAT " to " INT64_FORMAT
								  " were folded, and no checkpoint says so",
								  fold->first, fold->last));
	}
}

/* Adds an entry to the sums of its accounts; deltas in the order they were spent. */
static void
add_up(LedgerWalk *walk, const LedgerEntry *entry)
{
	Tally *tally;

	if (strcmp(entry->kind, CHECKPOINT_KIND) == 0)
		check_checkpoint(walk, entry);
	if (entry->cap_id != 0)
	{
		tally = walk_tally(walk, entry->cap_id);
		tally->spent += entry->cap_units;
		tally->delta_spent = delta_add(tally->delta_spent, entry->delta);
	}
	if (entry->account_id == 0)
		return;
	tally = walk_tally(walk, entry->account_id);
	tally->spent += entry->units;
	if (entry->delta >= 0)
		tally->delta_spent = delta_add(tally->delta_spent, entry->delta);
	tally->window_spent += entry->window_units;
	if (strcmp(entry->kind, "grant") == 0 || strcmp(entry->kind, "cap") == 0)
		note_terms(walk, tally, entry, entry->detail);
	if (strcmp(entry->kind, "join") == 0)
		follow_join(walk, entry);
	if (is_charge(entry) && ((entry->has_limit && tally->spent > entry->limit) ||
							 (entry->has_window && tally->window_spent > entry->window_limit)))
		walk_problem(
			walk, entry->id,
			psprintf("account " INT64_FORMAT " was charged beyond its limit", entry->account_id));
	if (tally->spent < 0 || tally->window_spent < 0)
		walk_problem(walk, entry->id,
					 psprintf("account " INT64_FORMAT " was returned more than it was charged",
							  entry->account_id));
}

/* ---------- the walk ---------- */

static bool
is_right(LedgerWalk *walk, LedgerEntry *entry)
{
	uint8 stored[HEAD_SIZE];

	memcpy(stored, entry->head, HEAD_SIZE);
	if (entry->id <= walk->verdict->entries)
		walk_problem(walk, entry->id,
					 psprintf("entry " INT64_FORMAT " was folded, and is there again", entry->id));
	else if (entry->id != walk->verdict->entries + 1)
		walk_problem(walk, entry->id,
					 psprintf("entries are missing before entry " INT64_FORMAT, entry->id));
	chain_hash(entry, walk->head);
	if (memcmp(stored, entry->head, HEAD_SIZE) != 0)
		walk_problem(walk, entry->id,
					 psprintf("entry " INT64_FORMAT " or one before it was changed", entry->id));
	memcpy(entry->head, stored, HEAD_SIZE);
	return walk->verdict->problem == NULL;
}

/* False if the visitor does not want to see more. */
static bool
pass_entry(LedgerWalk *walk, LedgerEntry *entry, ItemPointer tid)
{
	bool right;

	pass_folds(walk);
	right = is_right(walk, entry);
	if (walk->visit != NULL && (!right || !walk->visit(walk->visitor, entry, walk->head, tid)))
		return false;
	memcpy(walk->head, entry->head, HEAD_SIZE);
	if (walk->expected != NULL && memcmp(entry->head, walk->expected, HEAD_SIZE) == 0)
		walk->seen = true;
	add_up(walk, entry);
	walk->verdict->entries = entry->id;
	progress_update(entry->id);
	return true;
}

/* One row of a query; false: it is enough. */
static bool
pass_row(LedgerWalk *walk, uint64 row, bool chained)
{
	LedgerEntry entry;
	bool		isnull;
	Datum		tid;

	CHECK_FOR_INTERRUPTS();
	entry_from_row(&entry, row);
	if (!chained)
	{
		add_up(walk, &entry);
		return true;
	}
	tid = row_value(row, ENTRY_COLUMN_COUNT + 1, &isnull);
	return pass_entry(walk, &entry, (ItemPointer) DatumGetPointer(tid));
}

static void
pass_rows(LedgerWalk *walk, const char *query, bool chained)
{
	QueryArgument after = ARG_INT8(walk->verdict->entries);
	SPIPlanPtr	  plan = SPI_prepare(query, 1, &after.type);
	Portal		  portal = SPI_cursor_open(NULL, plan, &after.value, NULL, true);
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "privpred ledger entry",
													  ALLOCSET_DEFAULT_SIZES);
	bool		  enough = false;

	while (!enough)
	{
		SPITupleTable *table;
		uint64		   count;

		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		table = SPI_tuptable;
		count = SPI_processed;
		if (count == 0)
			break;
		for (uint64 row = 0; row < count && !enough; row++)
		{
			MemoryContext old = MemoryContextSwitchTo(row_context);

			SPI_tuptable = table; /* sums and what visitors do are results, too */
			SPI_processed = count;
			enough = !pass_row(walk, row, chained);
			MemoryContextSwitchTo(old);
			MemoryContextReset(row_context);
		}
		SPI_freetuptable(table);
	}
	SPI_cursor_close(portal);
	MemoryContextDelete(row_context);
}

void
walk_begin(LedgerWalk *walk)
{
	HASHCTL ctl = {.keysize = sizeof(int64), .entrysize = sizeof(Tally)};

	ctl.hcxt = CurrentMemoryContext;
	walk->tallies =
		hash_create("privpred tallies", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	walk->folds = folds_read(&walk->nfolds);
	walk->next_fold = 0;
}

void
walk_chain(LedgerWalk *walk)
{
	pass_rows(walk,
			  "SELECT id, " ENTRY_COLUMNS ", head, ctid FROM privpred.ledger_entry "
			  "WHERE id > $1 ORDER BY id",
			  true);
}

void
walk_outbox(LedgerWalk *walk)
{
	pass_folds(walk); /* whose checkpoint is not chained yet */
	pass_rows(walk,
			  "SELECT seq, " ENTRY_COLUMNS " FROM privpred.ledger_outbox "
			  "WHERE $1 IS NOT NULL ORDER BY seq",
			  false);
}
