/*
 * fold.c
 *		Runs of entries that were folded into sums, see fold.h.
 */
#include "postgres.h"

#include "common/int.h"
#include "utils/memutils.h"

#include "account/charge.h"
#include "ledger/fold.h"
#include "server/digest.h"
#include "server/query.h"

typedef struct SumGroup
{
	uint8		 key[DIGEST_BYTES];
	LedgerEntry *sum;
} SumGroup;

/* ---------- as they are stored ---------- */

static void
read_head(uint64 row, int column, uint8 *head)
{
	bytea *stored = row_varlena(row, column);

	memset(head, 0, HEAD_SIZE);
	if (stored != NULL && VARSIZE_ANY_EXHDR(stored) == HEAD_SIZE)
		memcpy(head, VARDATA_ANY(stored), HEAD_SIZE);
}

Fold *
folds_read(int *count)
{
	MemoryContext outside = CurrentMemoryContext;
	Fold		 *folds;

	query_read("SELECT first, last, before, head FROM privpred.ledger_fold ORDER BY first");
	MemoryContextSwitchTo(outside);
	*count = SPI_processed;
	folds = palloc0_array(Fold, SPI_processed + 1);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		folds[row].first = row_int8(row, 1);
		folds[row].last = row_int8(row, 2);
		read_head(row, 3, folds[row].before);
		read_head(row, 4, folds[row].head);
	}
	return folds;
}

Fold *
fold_find(Fold *folds, int count, int64 first)
{
	int low = 0;
	int high = count;

	while (low < high)
	{
		int middle = low + (high - low) / 2;

		if (folds[middle].first < first)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && folds[low].first == first ? &folds[low] : NULL;
}

char *
fold_says(const Fold *fold, const uint8 *sums)
{
	char before[DIGEST_TEXT_SIZE];
	char head[DIGEST_TEXT_SIZE];
	char digest[DIGEST_TEXT_SIZE];

	return psprintf("entries " INT64_FORMAT " to " INT64_FORMAT ", from head %s to %s, sums %s",
					fold->first, fold->last, digest_text(fold->before, before),
					digest_text(fold->head, head), digest_text(sums, digest));
}

int64
checkpoint_first(const LedgerEntry *entry)
{
	int64 first;

	return entry->detail != NULL &&
				   sscanf(entry->detail, "entries " INT64_FORMAT " to", &first) == 1
			   ? first
			   : 0;
}

void
sums_hash(LedgerEntry *sum, uint8 *digest)
{
	chain_hash(sum, digest);
	memcpy(digest, sum->head, HEAD_SIZE);
}

List *
sums_read(int64 first)
{
	MemoryContext outside = CurrentMemoryContext;
	List		 *sums = NIL;

	query_read("SELECT " SUM_COLUMNS " FROM privpred.ledger_sum WHERE first = $1 ORDER BY number",
			   ARG_INT8(first));
	MemoryContextSwitchTo(outside);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		LedgerEntry *sum = palloc_object(LedgerEntry);

		entry_from_row(sum, row);
		sums = lappend(sums, sum);
	}
	SPI_freetuptable(SPI_tuptable);
	return sums;
}

/* ---------- making one ---------- */

void
run_begin(FoldRun *run, int64 first, const uint8 *before)
{
	HASHCTL groups = {.keysize = DIGEST_BYTES, .entrysize = sizeof(SumGroup)};
	HASHCTL known = {.keysize = sizeof(int64), .entrysize = sizeof(int64)};

	memset(run, 0, sizeof(FoldRun));
	run->context =
		AllocSetContextCreate(CurrentMemoryContext, "privpred fold", ALLOCSET_DEFAULT_SIZES);
	groups.hcxt = known.hcxt = run->context;
	run->fold.first = first;
	run->fold.last = first - 1;
	memcpy(run->fold.before, before, HEAD_SIZE);
	memcpy(run->fold.head, before, HEAD_SIZE);
	run->groups = hash_create("privpred sums", 64, &groups, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	run->known =
		hash_create("privpred accounts", 64, &known, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void
run_end(FoldRun *run)
{
	if (run->context != NULL)
		MemoryContextDelete(run->context);
	memset(run, 0, sizeof(FoldRun));
}

static void
add_text(Digest *digest, const char *text)
{
	bool isnull = text == NULL;

	digest_add(digest, &isnull, sizeof(isnull));
	if (!isnull)
		digest_add_piece(digest, text, strlen(text));
}

/* Entries that are alike in all this are added up; days are those of UTC. */
static void
group_key(const LedgerEntry *entry, uint8 *key)
{
	int64  numbers[] = {entry->account_id,
						entry->cap_id,
						entry->relation_id,
						entry->model_id,
						entry->version,
						entry->order,
						entry->at / USECS_PER_DAY - (entry->at % USECS_PER_DAY < 0)};
	Digest digest;

	digest_begin(&digest);
	digest_add(&digest, numbers, sizeof(numbers));
	add_text(&digest, entry->kind);
	add_text(&digest, entry->role_name);
	add_text(&digest, entry->relation_name);
	add_text(&digest, entry->model);
	digest_end(&digest, key);
}

static char *
copy_text(const char *text)
{
	return text == NULL ? NULL : pstrdup(text);
}

static LedgerEntry *
new_sum(FoldRun *run, const LedgerEntry *entry)
{
	LedgerEntry *sum = palloc0_object(LedgerEntry);

	run->sums = lappend(run->sums, sum);
	sum->id = list_length(run->sums);
	sum->kind = pstrdup(entry->kind);
	sum->account_id = entry->account_id;
	sum->cap_id = entry->cap_id;
	sum->role_name = copy_text(entry->role_name);
	sum->relation_id = entry->relation_id;
	sum->relation_name = copy_text(entry->relation_name);
	sum->model_id = entry->model_id;
	sum->model = copy_text(entry->model);
	sum->version = entry->version;
	sum->order = entry->order;
	return sum;
}

static void
note_account(FoldRun *run, int64 account_id)
{
	bool   found;
	int64 *known;

	if (account_id == 0)
		return;
	known = hash_search(run->known, &account_id, HASH_ENTER, &found);
	if (!found)
		run->accounts = lappend(run->accounts, known);
}

bool
run_add(FoldRun *run, const LedgerEntry *entry)
{
	MemoryContext old = MemoryContextSwitchTo(run->context);
	uint8		  key[DIGEST_BYTES];
	LedgerEntry	  none = {0};
	LedgerEntry	 *sum = &none;
	int64		  totals[4];
	SumGroup	 *group;
	bool		  found;
	bool		  fits;

	group_key(entry, key);
	group = hash_search(run->groups, key, HASH_FIND, &found);
	if (found)
		sum = group->sum;
	fits = !pg_add_s64_overflow(sum->answers, entry->answers, &totals[0]) &&
		   !pg_add_s64_overflow(sum->units, entry->units, &totals[1]) &&
		   !pg_add_s64_overflow(sum->cap_units, entry->cap_units, &totals[2]) &&
		   !pg_add_s64_overflow(sum->window_units, entry->window_units, &totals[3]);
	if (fits)
	{
		if (!found)
		{
			group = hash_search(run->groups, key, HASH_ENTER, NULL);
			sum = group->sum = new_sum(run, entry);
		}
		sum->lease++;
		sum->at = Max(sum->at, entry->at);
		if (sum->lease == 1)
			sum->at = entry->at;
		sum->answers = totals[0];
		sum->units = totals[1];
		sum->cap_units = totals[2];
		sum->window_units = totals[3];
		sum->delta = delta_add(sum->delta, entry->delta);
		note_account(run, entry->account_id);
		note_account(run, entry->cap_id);
		run->entries++;
		run->fold.last = entry->id;
		memcpy(run->fold.head, entry->head, HEAD_SIZE);
	}
	MemoryContextSwitchTo(old);
	return fits;
}
