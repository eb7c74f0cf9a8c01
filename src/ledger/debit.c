/*
 * debit.c
 *		What the ledger's process does with a batch of requests, in one
 *		transaction: lock the accounts, decide, write accounts and entries.
 *
 * Row locks are never waited for.  Whoever holds one may be waiting for us,
 * which no deadlock detector could see; the request is put back and tried
 * again until its patience ends, without holding up other accounts.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/store.h"
#include "ledger/internal.h"

#define MAX_CACHED	4096

/* of privpred.account */
#define ACCOUNT_ID_COLUMN		1
#define ACCOUNT_SPENT_COLUMN	6
#define ACCOUNT_WINDOW_START_COLUMN	15
#define ACCOUNT_WINDOW_SPENT_COLUMN	17

typedef struct AccountKey
{
	int64		relation_id;
	Oid			role;
	uint32		zero;
} AccountKey;

/*
 * An account as we last wrote it.  It is still so if the same version of its
 * row is still there, which the next write finds out; grants and caps also
 * change the epoch, which empties the cache.  So a hot row is written without
 * being read, and without a walk along its dead versions.
 */
typedef struct CachedAccount
{
	AccountKey	key;
	bool		missing;
	TransactionId xmin;			/* of the version at account.tid */
	Account		account;
} CachedAccount;

typedef struct NameKey
{
	int64		relation_id;
	int64		model_id;
} NameKey;

typedef struct NameCache
{
	NameKey		key;
	char	   *relation_name;
	char	   *model;
} NameCache;

typedef struct Batch
{
	TimestampTz now;
	bool		careful;		/* trust no cache, lock before deciding */
	Oid			generation;
	ChainEnd	end;
	Account   **accounts;
	int			naccounts;
	int			size;
} Batch;

typedef enum Found
{
	ACCOUNT_FOUND,
	ACCOUNT_MISSING,
	ACCOUNT_LOCKED				/* by another transaction */
} Found;

static HTAB *cache = NULL;
static HTAB *names = NULL;
static MemoryContext names_context = NULL;
static uint64 seen_epoch = 0;	/* 0: look at everything anew */

static SPIPlanPtr lock_plan = NULL;
static SPIPlanPtr exists_plan = NULL;
static SPIPlanPtr groups_plan = NULL;
static SPIPlanPtr names_plan = NULL;
static SPIPlanPtr open_plan = NULL;
static SPIPlanPtr close_plan = NULL;
static SPIPlanPtr reserved_plan = NULL;

static void
forget_caches(void)
{
	if (cache != NULL)
		hash_destroy(cache);
	if (names != NULL)
		hash_destroy(names);
	if (names_context != NULL)
		MemoryContextDelete(names_context);
	cache = names = NULL;
	names_context = NULL;
}

void
debit_forget(void)
{
	SPIPlanPtr *plans[] = {&lock_plan, &exists_plan, &groups_plan, &names_plan,
	&open_plan, &close_plan, &reserved_plan};

	for (int i = 0; i < lengthof(plans); i++)
	{
		if (*plans[i] != NULL)
			SPI_freeplan(*plans[i]);
		*plans[i] = NULL;
	}
	forget_caches();
	seen_epoch = 0;
	chain_forget();
}

static void
run(SPIPlanPtr *plan, const char *query, int nargs, Oid *argtypes, Datum *args,
	const char *nulls)
{
	if (*plan == NULL)
	{
		*plan = SPI_prepare(query, nargs, argtypes);
		if (*plan == NULL || SPI_keepplan(*plan) != 0)
			elog(ERROR, "could not prepare a query of the ledger");
	}
	if (SPI_execute_plan(*plan, args, nulls, false, 0) < 0)
		elog(ERROR, "a query of the ledger failed");
}

static HTAB *
make_cache(const char *name, Size keysize, Size entrysize)
{
	HASHCTL		ctl = {0};

	ctl.keysize = keysize;
	ctl.entrysize = entrysize;
	return hash_create(name, 64, &ctl, HASH_ELEM | HASH_BLOBS);
}

static CachedAccount *
cached_account(int64 relation_id, Oid role, bool enter)
{
	AccountKey	key = {.relation_id = relation_id,.role = role};

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
lock_account(int64 relation_id, Oid role, Account *account)
{
	Oid			argtypes[] = {INT8OID, REGROLEOID};
	Datum		args[] = {Int64GetDatum(relation_id), ObjectIdGetDatum(role)};

	run(&lock_plan,
		"SELECT " ACCOUNT_COLUMNS " FROM privpred.account a "
		"WHERE a.relation_id = $1 AND a.role = $2 FOR NO KEY UPDATE SKIP LOCKED",
		2, argtypes, args, NULL);
	if (SPI_processed > 0)
	{
		account_from_spi(account, 0);
		return ACCOUNT_FOUND;
	}
	run(&exists_plan,
		"SELECT FROM privpred.account a WHERE a.relation_id = $1 AND a.role = $2",
		2, argtypes, args, NULL);
	if (SPI_processed > 0)
		return ACCOUNT_LOCKED;
	cached_account(relation_id, role, true)->missing = true;
	return ACCOUNT_MISSING;
}

/* From memory if possible. */
static Found
read_account(Batch *batch, int64 relation_id, Oid role, Account *account)
{
	CachedAccount *cached = batch->careful ? NULL : cached_account(relation_id, role, false);
	Found		found;

	if (cached == NULL)
	{
		found = lock_account(relation_id, role, account);
		/* A grant whose terms we see comes before what we charge under them. */
		if (found == ACCOUNT_FOUND)
			chain_drain_outbox(&batch->end);
		return found;
	}
	if (cached->missing)
		return ACCOUNT_MISSING;
	*account = cached->account;
	account->cached = true;
	account->live_role = role == CAP_ROLE || role_holds_marker(role);
	return ACCOUNT_FOUND;
}

static void append_entry(Batch *batch, const char *kind, const LedgerRequest *request,
						 LedgerEntry *entry);

/* What an entry says about the account that it is charged to. */
static void
describe_account(LedgerEntry *entry, const Account *account)
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
	LedgerRequest request = {.role = account->role,.relation_id = account->relation_id};
	LedgerEntry entry = {0};

	entry.window_units = -account->window_spent;
	if (!account_roll_window(account, batch->now))
		return;
	account->dirty = true;
	describe_account(&entry, account);
	append_entry(batch, "refresh", &request, &entry);
}

/* The batch's own copy of an account; *result is NULL if there is none. */
static Found
batch_account(Batch *batch, int64 relation_id, Oid role, Account **result)
{
	Account    *account;
	Found		found;

	*result = NULL;
	for (int i = 0; i < batch->naccounts; i++)
	{
		account = batch->accounts[i];
		if (account->relation_id == relation_id && account->role == role)
		{
			if (account->account_id == 0)
				return ACCOUNT_MISSING;
			*result = account;
			return ACCOUNT_FOUND;
		}
	}

	account = palloc0(sizeof(Account));
	found = read_account(batch, relation_id, role, account);
	if (found == ACCOUNT_LOCKED)
		return found;
	account->relation_id = relation_id;
	account->role = role;
	if (batch->naccounts == batch->size)
	{
		batch->size *= 2;
		batch->accounts = repalloc(batch->accounts, batch->size * sizeof(Account *));
	}
	batch->accounts[batch->naccounts++] = account;
	if (found == ACCOUNT_FOUND)
	{
		refresh_account(batch, account);
		*result = account;
	}
	return found;
}

/* How relation and model are called; cached until a grant or model changes. */
static NameCache
lookup_names(int64 relation_id, int64 model_id)
{
	NameCache	result = {.key = {relation_id, model_id}};
	NameCache  *entry;
	Oid			argtypes[] = {INT8OID, INT8OID};
	Datum		args[] = {Int64GetDatum(relation_id), Int64GetDatum(model_id)};
	bool		found;
	MemoryContext old;

	if (names == NULL)
	{
		names = make_cache("privpred names", sizeof(NameKey), sizeof(NameCache));
		names_context = AllocSetContextCreate(TopMemoryContext, "privpred names",
											  ALLOCSET_SMALL_SIZES);
	}
	entry = hash_search(names, &result.key, HASH_FIND, &found);
	if (found)
		return *entry;

	run(&names_plan,
		"SELECT CASE WHEN c.oid IS NULL THEN r.relation_name ELSE r.relation::text END, m.name "
		"FROM privpred.protected_relation r LEFT JOIN pg_class c ON c.oid = r.relation "
		"LEFT JOIN privpred.model m ON m.model_id = $2 AND m.relation_id = r.relation_id "
		"WHERE r.relation_id = $1", 2, argtypes, args, NULL);
	if (SPI_processed == 0)
		return result;
	old = MemoryContextSwitchTo(names_context);
	result.relation_name = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	result.model = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2);
	MemoryContextSwitchTo(old);
	/* A model that is not there yet may come. */
	if (result.model != NULL)
	{
		entry = hash_search(names, &result.key, HASH_ENTER, &found);
		*entry = result;
	}
	return result;
}

static void
append_entry(Batch *batch, const char *kind, const LedgerRequest *request,
			 LedgerEntry *entry)
{
	NameCache	called = lookup_names(request->relation_id, request->model_id);

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

/*
 * Blocks of more than one answer are listed while they are out, so that what a
 * crash costs can be shown.
 */
static void
list_block(const LedgerRequest *request, const LedgerReply *reply, TimestampTz now)
{
	Oid			argtypes[] = {INT8OID, INT8OID, INT8OID, INT8OID, INT4OID, INT8OID,
	INT8OID, TIMESTAMPTZOID, INT4OID, INT8OID, TIMESTAMPTZOID};
	char		nulls[] = "           ";
	Datum		args[11];

	args[0] = Int64GetDatum(reply->lease);
	args[1] = Int64GetDatum(request->relation_id);
	args[2] = Int64GetDatum(reply->account_id);
	args[3] = Int64GetDatum(reply->cap_id);
	nulls[3] = reply->cap_id != 0 ? ' ' : 'n';
	args[4] = Int32GetDatum(reply->granted);
	args[5] = Int64GetDatum(reply->charge);
	args[6] = Int64GetDatum(reply->cap_charge);
	args[7] = TimestampTzGetDatum(now);
	args[8] = Int32GetDatum(request->pid);
	args[9] = Int64GetDatum(ledger_incarnation());
	args[10] = TimestampTzGetDatum(reply->window);
	nulls[10] = reply->window != 0 ? ' ' : 'n';
	run(&open_plan,
		"INSERT INTO privpred.open_lease AS o (lease, relation_id, account_id, cap_id, answers, "
		"charge, cap_charge, at, pid, incarnation, window_start) "
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
		"ON CONFLICT (lease) DO UPDATE SET account_id = excluded.account_id, "
		"cap_id = excluded.cap_id, answers = excluded.answers, charge = excluded.charge, "
		"cap_charge = excluded.cap_charge, at = excluded.at, "
		"window_start = excluded.window_start",
		11, argtypes, args, nulls);
}

/* Answers of the block that was listed, or -1 if none was. */
static int64
unlist_block(int64 lease)
{
	Oid			argtypes[] = {INT8OID};
	Datum		args[] = {Int64GetDatum(lease)};
	bool		isnull;

	run(&close_plan, "DELETE FROM privpred.open_lease WHERE lease = $1 RETURNING answers",
		1, argtypes, args, NULL);
	if (SPI_processed == 0)
		return -1;
	return DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
									   1, &isnull));
}

static EpsilonUnits
reserved_units(int64 account_id)
{
	Oid			argtypes[] = {INT8OID};
	Datum		args[] = {Int64GetDatum(account_id)};
	Datum		value;
	bool		isnull;

	run(&reserved_plan,
		"SELECT least(coalesce(sum(o.answers::numeric * CASE WHEN o.account_id = $1 THEN o.charge "
		"ELSE o.cap_charge END), 0), 9223372036854775807)::int8 "
		"FROM privpred.open_lease o WHERE $1 IN (o.account_id, o.cap_id)",
		1, argtypes, args, NULL);
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	return isnull ? 0 : DatumGetInt64(value);
}

/* How many answers an account can pay for. */
static int64
affordable(const LedgerRequest *request, const Account *account)
{
	ChargeShape shape = drawn_shape(request->finite, request->infinite, account);

	return renyi_answers(account_left(account), 0,
						 renyi_charge(request->epsilon, shape, account->order));
}

/*
 * The group budget that buys most, among those that the role inherits.
 */
static Found
richest_group(Batch *batch, const LedgerRequest *request, Account **richest)
{
	Oid			argtypes[] = {INT8OID, REGROLEOID};
	Datum		args[] = {Int64GetDatum(request->relation_id), ObjectIdGetDatum(request->role)};
	SPITupleTable *table;
	uint64		rows;

	*richest = NULL;
	run(&groups_plan,
		"SELECT a.role::oid FROM privpred.account a "
		"WHERE a.relation_id = $1 AND a.role NOT IN (0, $2) AND a.revoked_at IS NULL",
		2, argtypes, args, NULL);
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
	{
		bool		isnull;
		Oid			role = DatumGetObjectId(SPI_getbinval(table->vals[row], table->tupdesc,
														  1, &isnull));
		Account    *account;

		if (!role_inherits_budget_of(request->role, role))
			continue;
		if (batch_account(batch, request->relation_id, role, &account) == ACCOUNT_LOCKED)
			return ACCOUNT_LOCKED;
		if (account == NULL || account_status(account, batch->now) != OUTCOME_GRANTED)
			continue;
		if (*richest == NULL || affordable(request, account) > affordable(request, *richest))
			*richest = account;
	}
	return ACCOUNT_FOUND;
}

/*
 * Who pays for one answer: the role's own budget, then a group's.  Sets the
 * reply's outcome; the account is the one that pays or that is exhausted.
 */
static Found
choose_payer(Batch *batch, const LedgerRequest *request, LedgerReply *reply,
			 Account **payer)
{
	Account    *own;
	Account    *group;

	if (batch_account(batch, request->relation_id, request->role, &own) == ACCOUNT_LOCKED)
		return ACCOUNT_LOCKED;
	reply->outcome = own != NULL ? account_status(own, batch->now) : OUTCOME_NO_BUDGET;
	*payer = reply->outcome == OUTCOME_GRANTED ? own : NULL;
	if (*payer != NULL && affordable(request, own) > 0)
		return ACCOUNT_FOUND;

	if (richest_group(batch, request, &group) == ACCOUNT_LOCKED)
		return ACCOUNT_LOCKED;
	if (group != NULL && affordable(request, group) > 0)
	{
		reply->outcome = OUTCOME_GRANTED;
		*payer = group;
		return ACCOUNT_FOUND;
	}
	if (*payer == NULL)
		*payer = group;
	if (*payer != NULL)
		reply->outcome = OUTCOME_EXHAUSTED;
	return ACCOUNT_FOUND;
}

static void
refuse(LedgerReply *reply, const Account *bound, EpsilonUnits charge)
{
	reply->account_role = bound->role;
	reply->order = bound->order;
	reply->left = account_left(bound);
	reply->window_end = bound->window_end;
	if (bound->role == CAP_ROLE)
		reply->bound = BOUND_RELATION;
	else if (!bound->has_window)
		reply->bound = BOUND_ROLE;
	else if (account_lifetime_left(bound) < charge)
	{
		/* Named even if the window is exhausted too: waiting would not help. */
		reply->bound = BOUND_LIFETIME;
		reply->left = account_lifetime_left(bound);
	}
	else
		reply->bound = BOUND_WINDOW;
	reply->charge = charge;
	reply->reserved = reserved_units(bound->account_id);
	reply->outcome = OUTCOME_EXHAUSTED;
}

/* Debits a block; false if an account is locked by another transaction. */
static bool
grant_block(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
{
	Account    *payer = NULL;
	Account    *cap;
	ChargeShape shape;
	LedgerEntry entry = {0};
	int64		answers;

	if (batch_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED ||
		choose_payer(batch, request, reply, &payer) == ACCOUNT_LOCKED)
		return false;
	if (payer == NULL)
		return true;

	shape = drawn_shape(request->finite, request->infinite, payer);
	reply->charge = renyi_charge(request->epsilon, shape, payer->order);
	if (reply->outcome == OUTCOME_EXHAUSTED)
	{
		refuse(reply, payer, reply->charge);
		return true;
	}
	answers = account_left(payer) / reply->charge;
	if (cap != NULL)
	{
		reply->cap_id = cap->account_id;
		reply->cap_charge = renyi_charge(request->epsilon, shape, cap->order);
		if (account_left(cap) < reply->cap_charge)
		{
			refuse(reply, cap, reply->cap_charge);
			return true;
		}
		answers = Min(answers, account_left(cap) / reply->cap_charge);
	}
	answers = Max(1, Min(request->want, answers / LEASE_SHARE));

	payer->spent += answers * reply->charge;
	if (payer->has_window)
	{
		payer->window_spent += answers * reply->charge;
		entry.window_units = answers * reply->charge;
	}
	payer->dirty = true;
	if (cap != NULL)
	{
		cap->spent += answers * reply->cap_charge;
		cap->dirty = true;
	}

	describe_account(&entry, payer);
	entry.cap_id = reply->cap_id;
	entry.lease = request->lease != 0 ? request->lease : -1;
	entry.answers = answers;
	entry.units = answers * reply->charge;
	entry.cap_units = answers * reply->cap_charge;
	append_entry(batch, "lease", request, &entry);

	reply->granted = answers;
	reply->lease = entry.lease;
	reply->generation = batch->generation;
	reply->account_id = payer->account_id;
	reply->account_role = payer->role;
	reply->order_is_infinite = payer->order == RENYI_ORDER_INFINITE;
	reply->window = payer->has_window ? payer->window_start : 0;
	reply->valid_until = Min(payer->valid_until, payer->window_end);
	if (answers > 1)
		list_block(request, reply, batch->now);
	else if (request->lease != 0)
		(void) unlist_block(request->lease);
	return true;
}

/*
 * Returns unused answers.  Whatever does not match what was debited is ignored:
 * an error here can only over-charge.
 */
static bool
take_back(Batch *batch, const LedgerRequest *request)
{
	Account    *payer;
	Account    *cap = NULL;
	LedgerEntry entry = {0};
	int64		listed;

	if (request->generation != batch->generation)
		return true;			/* the extension was dropped in between */
	if (batch_account(batch, request->relation_id, request->account_role, &payer) == ACCOUNT_LOCKED)
		return false;
	if (request->cap_id != 0 &&
		batch_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED)
		return false;

	listed = unlist_block(request->lease);
	if (request->kind == REQUEST_SETTLE && listed < request->answers)
		return true;
	if (payer == NULL || payer->account_id != request->account_id ||
		(request->cap_id != 0 && (cap == NULL || cap->account_id != request->cap_id)))
		return true;

	entry.account_id = request->account_id;
	entry.order = payer->order;
	entry.cap_id = request->cap_id;
	entry.lease = request->lease;
	entry.answers = -(int64) request->answers;
	entry.units = -(request->answers * request->charge);
	entry.cap_units = -(request->answers * request->cap_charge);
	if (payer->spent + entry.units < 0 || (cap != NULL && cap->spent + entry.cap_units < 0))
		return true;
	/* A window that has ended keeps what it was charged. */
	if (payer->has_window && payer->window_start == request->window &&
		payer->window_spent + entry.units >= 0)
		entry.window_units = entry.units;
	payer->window_spent += entry.window_units;
	payer->spent += entry.units;
	payer->dirty = true;
	if (cap != NULL)
	{
		cap->spent += entry.cap_units;
		cap->dirty = true;
	}
	append_entry(batch, "settle", request, &entry);
	return true;
}

/*
 * Finds the version of the row that we know: by its place and, unless we hold
 * its lock, by who wrote it, since places are used again.
 */
static HeapTuple
fetch_known(Relation relation, const Account *account, TupleTableSlot *slot)
{
	HeapTuple	tuple;
	bool		should_free;
	bool		isnull;

	if (!table_tuple_fetch_row_version(relation, (ItemPointer) &account->tid,
									   SnapshotSelf, slot))
		return NULL;
	tuple = ExecFetchSlotHeapTuple(slot, true, &should_free);
	if (DatumGetInt64(heap_getattr(tuple, ACCOUNT_ID_COLUMN, RelationGetDescr(relation),
								   &isnull)) != account->account_id)
		return NULL;
	if (account->cached &&
		HeapTupleHeaderGetRawXmin(tuple->t_data) !=
		cached_account(account->relation_id, account->role, false)->xmin)
		return NULL;
	return tuple;
}

/*
 * By hand rather than by SQL, for speed.  Fails if someone else updates the
 * row at the same time.  False if the row is no longer the one that we knew.
 */
static bool
write_account(Batch *batch, Account *account)
{
	Relation	relation = table_open(batch->generation, NoLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	HeapTuple	tuple = fetch_known(relation, account, slot);
	CachedAccount *cached;

	if (tuple == NULL && !account->cached)
		elog(ERROR, "account " INT64_FORMAT " changed while it was locked",
			 account->account_id);
	if (tuple != NULL)
	{
		int			columns[] = {ACCOUNT_SPENT_COLUMN, ACCOUNT_WINDOW_START_COLUMN,
		ACCOUNT_WINDOW_SPENT_COLUMN};
		Datum		values[] = {Int64GetDatum(account->spent),
			TimestampTzGetDatum(account->window_start),
		Int64GetDatum(account->has_window ? account->window_spent : 0)};
		bool		nulls[] = {false, !account->has_window, false};
		HeapTuple	changed = heap_modify_tuple_by_cols(tuple, RelationGetDescr(relation),
														lengthof(columns), columns, values, nulls);

		CatalogTupleUpdate(relation, &account->tid, changed);
		account->tid = changed->t_self;
		account->dirty = false;
		cached = cached_account(account->relation_id, account->role, true);
		cached->missing = false;
		cached->xmin = GetCurrentTransactionId();
		cached->account = *account;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, NoLock);
	return tuple != NULL;
}

/* Blocks that were out when the server crashed stay spent, and are shown. */
static void
note_orphans(Batch *batch)
{
	Oid			argtypes[] = {INT8OID, TIMESTAMPTZOID};
	Datum		args[] = {Int64GetDatum(ledger_incarnation()), TimestampTzGetDatum(batch->now)};
	SPITupleTable *table;
	uint64		rows;

	if (SPI_execute_with_args("UPDATE privpred.open_lease o SET orphaned_at = $2 "
							  "WHERE o.incarnation <> $1 AND o.orphaned_at IS NULL "
							  "RETURNING o.lease, o.account_id, o.relation_id, o.answers, o.pid, "
							  "(SELECT a.renyi_order FROM privpred.account a "
							  "WHERE a.account_id = o.account_id)",
							  2, argtypes, args, NULL, false, 0) != SPI_OK_UPDATE_RETURNING)
		elog(ERROR, "could not mark orphaned leases");
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
	{
		LedgerRequest request = {0};
		LedgerEntry entry = {0};
		bool		isnull;

#define GET(column) SPI_getbinval(table->vals[row], table->tupdesc, column, &isnull)
		entry.order = DatumGetInt64(GET(6));
		if (isnull)
			entry.order = RENYI_ORDER_INFINITE;
		entry.lease = DatumGetInt64(GET(1));
		entry.account_id = DatumGetInt64(GET(2));
		request.relation_id = DatumGetInt64(GET(3));
		entry.answers = DatumGetInt32(GET(4));
		request.pid = DatumGetInt32(GET(5));
		append_entry(batch, "orphan", &request, &entry);
	}
}

/* After a start, an error, a grant or a changed model; false if not ours. */
static bool
look_around(Batch *batch)
{
	uint64		epoch = pg_atomic_read_u64(&ledger_shared()->epoch);

	if (seen_epoch == epoch)
		return true;
	if (!ledger_is_ours())
		return false;
	forget_caches();
	if (seen_epoch == 0)
		note_orphans(batch);
	chain_drain_outbox(&batch->end);
	seen_epoch = epoch;
	return true;
}

static bool
serve(Batch *batch, LedgerSlot *slot)
{
	switch (slot->request.kind)
	{
		case REQUEST_LEASE:
			return grant_block(batch, &slot->request, &slot->reply);
		case REQUEST_SETTLE:
		case REQUEST_GIVE_BACK:
			return take_back(batch, &slot->request);
		case REQUEST_SYNC:
			chain_drain_outbox(&batch->end);
			slot->reply.outcome = OUTCOME_GRANTED;
			return true;
	}
	return true;
}

/* A refusal must not rest on memory. */
static bool
rests_on_memory(const Batch *batch, const LedgerSlot *slot)
{
	return !batch->careful && slot->request.kind == REQUEST_LEASE &&
		slot->reply.outcome != OUTCOME_GRANTED;
}

static bool
serve_all(Batch *batch, LedgerSlot **slots, int nslots, bool ours)
{
	for (int i = 0; i < nslots; i++)
	{
		LedgerReply *reply = &slots[i]->reply;

		memset(reply, 0, sizeof(LedgerReply));
		reply->valid_until = DT_NOEND;
		if (!ours)
			reply->outcome = OUTCOME_FOREIGN;
		else if (!serve(batch, slots[i]))
			reply->outcome = OUTCOME_LOCKED;
		else if (rests_on_memory(batch, slots[i]))
			return false;
	}
	for (int i = 0; i < batch->naccounts; i++)
		if (batch->accounts[i]->dirty && !write_account(batch, batch->accounts[i]))
			return false;
	return true;
}

/*
 * Serves the slots in the given order.  An outcome of OUTCOME_LOCKED means
 * that nothing was done and the request may be tried again.  Returns false if
 * the transaction must be rolled back, debit_forget() called, and the batch
 * served again carefully.
 */
bool
debit_batch(LedgerSlot **slots, int nslots, bool careful)
{
	CatalogSession session;
	Batch		batch = {.careful = careful};
	bool		ours;
	bool		done;

	catalog_begin(&session);
	batch.now = GetCurrentTimestamp();
	batch.generation = get_relname_relid("account", get_namespace_oid(PRIVPRED_SCHEMA, false));
	batch.size = nslots + 2;
	batch.accounts = palloc(batch.size * sizeof(Account *));

	/*
	 * Serialises with the opening of a cap, which sums over accounts; whoever
	 * held a stronger lock has changed the epoch before letting go.
	 */
	LockRelationOid(batch.generation, RowExclusiveLock);
	chain_read_end(&batch.end, batch.generation);
	ours = look_around(&batch);
	done = serve_all(&batch, slots, nslots, ours);
	catalog_end(&session);
	return done;
}
