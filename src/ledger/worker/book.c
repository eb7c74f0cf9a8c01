/*
 * book.c
 *		The accounts that a batch works on: read or remembered, locked, written,
 *		and the entries about them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/by_id.h"
#include "ledger/worker/worker.h"
#include "server/query.h"

#define MAX_CACHED 4096

/* of privpred.account */
#define ACCOUNT_ID_COLUMN 1
#define ACCOUNT_SPENT_COLUMN 6
#define ACCOUNT_DELTA_SPENT_COLUMN 10
#define ACCOUNT_WINDOW_START_COLUMN 15
#define ACCOUNT_WINDOW_SPENT_COLUMN 17

typedef struct AccountKey
{
	int64  relation_id;
	Oid	   role;
	uint32 zero;
} AccountKey;

/*
 * An account as we last wrote it.  It is still so if the same version of its
 * row is still there, which the next write finds out; grants and caps also
 * change the epoch, which empties the cache.  So a hot row is written without
 * being read, and without a walk along its dead versions.
 */
typedef struct CachedAccount
{
	AccountKey	  key;
	bool		  missing;
	TransactionId xmin; /* of the version at held.tid */
	HeldAccount	  held;
} CachedAccount;

typedef struct NameKey
{
	int64 relation_id;
	int64 asked_id;
	int64 model_id;
} NameKey;

/* What a number of a population stands for, until populations are joined. */
typedef struct PopulationCache
{
	int64 number;
	int64 population;
} PopulationCache;

typedef struct NameCache
{
	NameKey key;
	char   *relation_name;
	char   *model;
} NameCache;

static HTAB			*cache = NULL;
static HTAB			*names = NULL;
static HTAB			*populations = NULL;
static MemoryContext names_context = NULL;

void
book_forget_rows(void)
{
	if (cache != NULL)
		hash_destroy(cache);
	if (names != NULL)
		hash_destroy(names);
	if (populations != NULL)
		hash_destroy(populations);
	if (names_context != NULL)
		MemoryContextDelete(names_context);
	cache = names = populations = NULL;
	names_context = NULL;
}

static HTAB *
make_cache(const char *name, Size keysize, Size entrysize)
{
	HASHCTL ctl = {0};

	ctl.keysize = keysize;
	ctl.entrysize = entrysize;
	return hash_create(name, 64, &ctl, HASH_ELEM | HASH_BLOBS);
}

static int64
book_population(int64 number)
{
	PopulationCache *entry;
	int64			 population;

	if (populations == NULL)
		populations = make_cache("privpred populations", sizeof(int64), sizeof(PopulationCache));
	entry = hash_search(populations, &number, HASH_FIND, NULL);
	if (entry != NULL)
		return entry->population;
	/* One that is not committed yet has no accounts, and may come. */
	population = population_brief(number).population;
	if (population == 0)
		return number;
	entry = hash_search(populations, &number, HASH_ENTER, NULL);
	entry->population = population;
	return population;
}

/*
 * Passes the gate of what is asked.  Whoever asks may not have heard yet that its
 * population was joined with another; then it is asked under the other's number.
 */
bool
book_pass(LedgerRequest *request)
{
	if (request->relation_id == 0)
		return true;
	request->relation_id = book_population(request->relation_id);
	return gate_pass(request->relation_id, false, false);
}

/* Was it joined while we were at the gate?  Then it is tried again, at the other one. */
bool
book_is_present(const LedgerRequest *request)
{
	return request->relation_id == 0 ||
		   book_population(request->relation_id) == request->relation_id;
}

static CachedAccount *
cached_account(int64 relation_id, Oid role, bool enter)
{
	AccountKey key = {.relation_id = relation_id, .role = role};

	if (cache != NULL && hash_get_num_entries(cache) >= MAX_CACHED)
	{
		hash_destroy(cache);
		cache = NULL;
	}
	if (cache == NULL)
		cache = make_cache("privpred accounts", sizeof(AccountKey), sizeof(CachedAccount));
	return hash_search(cache, &key, enter ? HASH_ENTER : HASH_FIND, NULL);
}

/* Reads and locks an account's row. */
static Found
lock_account(int64 relation_id, Oid role, HeldAccount *held)
{
	bool isnull;

	query_write("SELECT " ACCOUNT_COLUMNS ", a.ctid FROM privpred.account a "
				"WHERE a.relation_id = $1 AND a.role = $2 FOR NO KEY UPDATE SKIP LOCKED",
				ARG_INT8(relation_id), ARG_OID(role));
	if (SPI_processed > 0)
	{
		account_from_row(&held->account, 0, population_brief(relation_id).relid);
		held->tid = *(ItemPointer) DatumGetPointer(row_value(0, ACCOUNT_NEXT_COLUMN, &isnull));
		return ACCOUNT_FOUND;
	}
	query_write("SELECT FROM privpred.account a WHERE a.relation_id = $1 AND a.role = $2",
				ARG_INT8(relation_id), ARG_OID(role));
	if (SPI_processed > 0)
		return ACCOUNT_LOCKED;
	cached_account(relation_id, role, true)->missing = true;
	return ACCOUNT_MISSING;
}

/* From memory if possible. */
static Found
read_account(Batch *batch, int64 relation_id, Oid role, HeldAccount *held)
{
	CachedAccount *cached = batch->careful ? NULL : cached_account(relation_id, role, false);
	Found		   found;

	if (cached == NULL)
	{
		found = lock_account(relation_id, role, held);
		/* A grant whose terms we see comes before what we charge under them. */
		if (found == ACCOUNT_FOUND)
			chain_drain_outbox(&batch->end);
		return found;
	}
	if (cached->missing)
		return ACCOUNT_MISSING;
	*held = cached->held;
	held->cached = true;
	return ACCOUNT_FOUND;
}

/* What relation and model are called; cached until a grant or model changes. */
static NameCache
lookup_names(const LedgerRequest *request)
{
	NameCache	  result = {.key = {request->relation_id, request->asked_id, request->model_id}};
	NameCache	 *entry;
	ModelSale	 *model;
	MemoryContext old;

	if (names == NULL)
	{
		names = make_cache("privpred names", sizeof(NameKey), sizeof(NameCache));
		names_context =
			AllocSetContextCreate(TopMemoryContext, "privpred names", ALLOCSET_SMALL_SIZES);
	}
	entry = hash_search(names, &result.key, HASH_FIND, NULL);
	if (entry != NULL)
		return *entry;

	old = MemoryContextSwitchTo(names_context);
	if (request->asked_id != 0)
		result.relation_name = relation_name_of(request->asked_id);
	if (result.relation_name == NULL)
		result.relation_name = population_brief(request->relation_id).name;
	model = request->model_id == 0 ? NULL : model_sale(request->model_id);
	MemoryContextSwitchTo(old);
	/* A model that is not there yet may come. */
	if (model != NULL && model->population == request->relation_id)
	{
		result.model = model->name;
		entry = hash_search(names, &result.key, HASH_ENTER, NULL);
		*entry = result;
	}
	return result;
}

void
book_append(Batch *batch, const char *kind, const LedgerRequest *request, LedgerEntry *entry)
{
	NameCache called = lookup_names(request);

	entry->at = batch->now;
	entry->kind = kind;
	entry->role_name = GetUserNameFromId(request->role, true);
	entry->relation_id = request->relation_id;
	entry->relation_name = called.relation_name;
	entry->model_id = request->model_id;
	entry->model = called.model;
	entry->version = request->version;
	entry->pid = request->pid;
	chain_append(&batch->end, entry);
}

void
book_describe(LedgerEntry *entry, const Account *account)
{
	entry->account_id = account->account_id;
	entry->has_limit = !account->unlimited;
	entry->limit = account->limit;
	entry->order = account->order;
	entry->has_window = account->has_window;
	entry->window_limit = account->window_limit;
}

/* A window that has ended gives way to the next before anything is decided. */
static void
refresh_account(Batch *batch, Account *account)
{
	LedgerRequest request = {.role = account->role, .relation_id = account->relation_id};
	LedgerEntry	  entry = {0};

	entry.window_units = -account->window_spent;
	if (!account_roll_window(account, batch->now))
		return;
	account->dirty = true;
	book_describe(&entry, account);
	book_append(batch, "refresh", &request, &entry);
}

Found
book_account(Batch *batch, int64 relation_id, Oid role, Account **result)
{
	HeldAccount *held;
	Found		 found;

	*result = NULL;
	for (int i = 0; i < batch->naccounts; i++)
	{
		Account *account = &batch->accounts[i]->account;

		if (account->relation_id == relation_id && account->role == role)
		{
			if (account->account_id == 0)
				return ACCOUNT_MISSING;
			*result = account;
			return ACCOUNT_FOUND;
		}
	}

	held = palloc0_object(HeldAccount);
	found = read_account(batch, relation_id, role, held);
	if (found == ACCOUNT_LOCKED)
		return found;
	held->account.relation_id = relation_id;
	held->account.role = role;
	if (batch->naccounts == batch->size)
	{
		batch->size *= 2;
		batch->accounts = repalloc_array(batch->accounts, HeldAccount *, batch->size);
	}
	batch->accounts[batch->naccounts++] = held;
	if (found == ACCOUNT_FOUND)
	{
		refresh_account(batch, &held->account);
		*result = &held->account;
	}
	return found;
}

/* To write to a row that is locked would be to wait for whoever has locked it. */
static bool
is_locked(HeapTupleHeader row)
{
	if (row->t_infomask & HEAP_XMAX_INVALID)
		return false;
	if (row->t_infomask & HEAP_XMAX_IS_MULTI)
		return true; /* perhaps */
	return !TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmax(row)) &&
		   TransactionIdIsInProgress(HeapTupleHeaderGetRawXmax(row));
}

/*
 * Finds the version of the row that we know: by its place and, unless we hold
 * its lock, by who wrote it, since places are used again.
 */
static HeapTuple
fetch_known(Relation relation, const HeldAccount *held, TupleTableSlot *slot)
{
	const Account *account = &held->account;
	HeapTuple	   tuple;
	bool		   should_free;
	bool		   isnull;

	if (!table_tuple_fetch_row_version(relation, (ItemPointer) &held->tid, SnapshotSelf, slot))
		return NULL;
	tuple = ExecFetchSlotHeapTuple(slot, true, &should_free);
	if (DatumGetInt64(heap_getattr(tuple, ACCOUNT_ID_COLUMN, RelationGetDescr(relation),
								   &isnull)) != account->account_id)
		return NULL;
	if (held->cached && (HeapTupleHeaderGetRawXmin(tuple->t_data) !=
							 cached_account(account->relation_id, account->role, false)->xmin ||
						 is_locked(tuple->t_data)))
		return NULL;
	return tuple;
}

/*
 * By hand rather than by SQL, for speed.  Fails if someone else updates the
 * row at the same time.  False if the row is no longer the one that we knew.
 */
bool
book_write(Batch *batch, HeldAccount *held)
{
	Account		   *account = &held->account;
	Relation		relation = table_open(batch->generation, NoLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	HeapTuple		tuple = fetch_known(relation, held, slot);
	CachedAccount  *cached;

	if (tuple == NULL && !held->cached)
		elog(ERROR, "account " INT64_FORMAT " changed while it was locked", account->account_id);
	if (tuple != NULL)
	{
		int		  columns[] = {ACCOUNT_SPENT_COLUMN, ACCOUNT_DELTA_SPENT_COLUMN,
							   ACCOUNT_WINDOW_START_COLUMN, ACCOUNT_WINDOW_SPENT_COLUMN};
		Datum	  values[] = {Int64GetDatum(account->spent), Float8GetDatum(account->delta_spent),
							  TimestampTzGetDatum(account->window_start),
							  Int64GetDatum(account->has_window ? account->window_spent : 0)};
		bool	  nulls[] = {false, false, !account->has_window, false};
		HeapTuple changed = heap_modify_tuple_by_cols(tuple, RelationGetDescr(relation),
													  lengthof(columns), columns, values, nulls);

		CatalogTupleUpdate(relation, &held->tid, changed);
		held->tid = changed->t_self;
		account->dirty = false;
		cached = cached_account(account->relation_id, account->role, true);
		cached->missing = false;
		cached->xmin = GetCurrentTransactionId();
		cached->held = *held;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, NoLock);
	return tuple != NULL;
}
