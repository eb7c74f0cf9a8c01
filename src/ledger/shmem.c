/*
 * shmem.c
 *		Request slots between sessions and the ledger's processes.
 *
 * Small enough for the slack that every server keeps, so that no preload is
 * needed; preloading merely reserves the place.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/syscache.h"

#include "ledger/shared.h"
#include "server/slack.h"

#define LEDGER_MAGIC 0x50504c36 /* "PPL6": change with the layout */

static LedgerShared *Shared = NULL;

static shmem_request_hook_type previous_request_hook = NULL;

static void
request_hook(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(MAXALIGN(sizeof(LedgerShared)));
}

void
ledger_request_shmem(void)
{
	if (process_shared_preload_libraries_in_progress)
		SET_SHMEM_REQUEST_HOOK(request_hook, &previous_request_hook);
}

static void
initialise(void *block)
{
	LedgerShared *shared = block;

	ConditionVariableInit(&shared->slot_freed);
	pg_atomic_init_u64(&shared->epoch, 1);
	pg_atomic_init_u32(&shared->answers_off, 0);
	pg_atomic_init_u64(&shared->answers_said_at, 0);
	pg_atomic_init_u32(&shared->hungry, 0);
	for (int i = 0; i < LEDGER_DATABASES; i++)
		shared->databases[i].parked = DSM_HANDLE_INVALID;
	if (!pg_strong_random(&shared->incarnation, sizeof(shared->incarnation)))
		ereport(ERROR, errcode(ERRCODE_INTERNAL_ERROR),
				errmsg("could not get random bytes to open the ledger"));
	shared->incarnation &= PG_INT64_MAX;
	for (int i = 0; i < LEDGER_SLOTS; i++)
		pg_atomic_init_u32(&shared->slots[i].state, SLOT_FREE);
	for (int i = 0; i < LEDGER_BOARDS; i++)
		SpinLockInit(&shared->boards[i].mutex);
}

LedgerShared *
ledger_shared(void)
{
	if (likely(Shared != NULL))
		return Shared;
	if (!IsUnderPostmaster)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("the privacy ledger is not available in single-user mode"),
				errhint("Start the server normally."));
	Shared = slack_attach("privpred ledger", sizeof(LedgerShared), LEDGER_MAGIC, "privpred_ledger",
						  initialise);
	if (Shared == NULL)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("the privacy ledger in memory belongs to another version of privpred"),
				errhint("Restart the server after installing a new version."));
	return Shared;
}

int64
ledger_incarnation(void)
{
	return ledger_shared()->incarnation;
}

/* The entry of this database; the caller holds the lock. */
LedgerDatabase *
database_entry(LedgerShared *shared, bool create)
{
	LedgerDatabase *unused = NULL;

	for (int i = 0; i < LEDGER_DATABASES; i++)
	{
		LedgerDatabase *entry = &shared->databases[i];

		if (entry->database == MyDatabaseId)
			return entry;
		/* Entries without a worker, and not in line for one, hold nothing that matters. */
		if (entry->worker_pid == 0 && entry->ticket == 0 && entry->parked == DSM_HANDLE_INVALID &&
			(unused == NULL || entry->head_logged < unused->head_logged))
			unused = entry;
	}
	if (!create || unused == NULL)
		return NULL;
	memset(unused, 0, sizeof(LedgerDatabase));
	unused->parked = DSM_HANDLE_INVALID;
	unused->database = MyDatabaseId;
	return unused;
}

/*
 * A role may hold as many slots as are free, and a database three times as
 * many, so that neither can take the last ones from others: alone, a role gets
 * half of them.  The caller holds the lock.
 */
static bool
may_take_slot(LedgerShared *shared, Oid role)
{
	int unused = 0;
	int of_role = 0;
	int of_database = 0;

	for (int i = 0; i < LEDGER_SLOTS; i++)
	{
		LedgerSlot *slot = &shared->slots[i];

		if (slot_state(slot) == SLOT_FREE)
			unused++;
		else
		{
			of_role += slot->request.role == role;
			of_database += slot->database == MyDatabaseId;
		}
	}
	return share_allows(of_role, of_database, unused);
}

/*
 * Queues a request and wakes the worker; returns its slot, or -1 if all that
 * the role or the database may have are taken.
 */
int
slot_post(const LedgerRequest *request, bool wants_reply)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *entry;
	int				found = -1;
	int				worker = -1;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	if (may_take_slot(shared, request->role))
		for (int i = 0; i < LEDGER_SLOTS && found < 0; i++)
			if (slot_state(&shared->slots[i]) == SLOT_FREE)
				found = i;
	if (found >= 0)
	{
		LedgerSlot *slot = &shared->slots[found];

		slot->database = MyDatabaseId;
		slot->wants_reply = wants_reply;
		slot->client = MyProcNumber;
		slot->attempts = 0;
		slot->serial = shared->next_serial++;
		slot->not_before = 0;
		slot->request = *request;
		slot->request.pid = MyProcPid;
		slot_set_state(slot, SLOT_PENDING);

		entry = database_entry(shared, false);
		if (entry != NULL && entry->worker_pid != 0)
			worker = entry->worker;
	}
	LWLockRelease(&shared->header.lock);

	if (worker >= 0)
		SetLatch(&ProcGlobal->allProcs[worker].procLatch);
	return found;
}

/* The caller holds the lock. */
void
slot_set_free(LedgerSlot *slot)
{
	slot_set_state(slot, SLOT_FREE);
	/* Whoever is first in line may have its share already. */
	ConditionVariableBroadcast(&ledger_shared()->slot_freed);
}

/* Turns a granted request into the return of it; the caller holds the lock. */
void
slot_give_back(LedgerSlot *slot)
{
	LedgerRequest	  *request = &slot->request;
	const LedgerReply *reply = &slot->reply;

	request->fresh = request->kind == REQUEST_LEASE && request->paid.lease == 0;
	if (request->kind == REQUEST_STREAM_TAKE)
	{
		request->kind = REQUEST_STREAM_LEAVE;
		request->stream.leaves = request->stream.id == 0;
		request->stream.had_board = reply->stream.board >= 0;
		request->stream.id = reply->stream.id;
		request->stream.generation = reply->paid.generation;
	}
	else
		request->kind = REQUEST_GIVE_BACK;
	request->paid = reply->paid;
	request->answers = reply->granted;
	slot->wants_reply = false;
	slot->attempts = 0;
	slot->not_before = 0;
	slot_set_state(slot, SLOT_PENDING);
}

/* The caller holds the lock. */
static void
reclaim_database(Oid database)
{
	LedgerShared *shared = ledger_shared();

	for (int i = 0; i < LEDGER_SLOTS; i++)
	{
		LedgerSlot *slot = &shared->slots[i];

		if (slot_state(slot) == SLOT_PENDING && !slot->wants_reply && slot->database == database)
			slot_set_free(slot);
	}
	for (int i = 0; i < LEDGER_BOARDS; i++)
		if (shared->boards[i].database == database)
			shared->boards[i].database = InvalidOid;
	for (int i = 0; i < LEDGER_DATABASES; i++)
	{
		LedgerDatabase *entry = &shared->databases[i];

		if (entry->database == database && entry->parked != DSM_HANDLE_INVALID)
		{
			dsm_unpin_segment(entry->parked);
			entry->parked = DSM_HANDLE_INVALID;
		}
	}
}

/*
 * A lease or a stream that was left just before its database was dropped leaves
 * a request that nobody will ever take, and a board.
 */
void
slot_reclaim_dropped_databases(void)
{
	LedgerShared *shared = ledger_shared();
	Oid			  orphans[LEDGER_SLOTS + LEDGER_BOARDS + LEDGER_DATABASES];
	int			  norphans = 0;

	LWLockAcquire(&shared->header.lock, LW_SHARED);
	for (int i = 0; i < LEDGER_SLOTS; i++)
	{
		LedgerSlot *slot = &shared->slots[i];

		if (slot_state(slot) == SLOT_PENDING && !slot->wants_reply &&
			slot->database != MyDatabaseId)
			orphans[norphans++] = slot->database;
	}
	for (int i = 0; i < LEDGER_BOARDS; i++)
		if (OidIsValid(shared->boards[i].database) && shared->boards[i].database != MyDatabaseId)
			orphans[norphans++] = shared->boards[i].database;
	for (int i = 0; i < LEDGER_DATABASES; i++)
		if (shared->databases[i].parked != DSM_HANDLE_INVALID)
			orphans[norphans++] = shared->databases[i].database;
	LWLockRelease(&shared->header.lock);

	for (int i = 0; i < norphans; i++)
	{
		if (SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(orphans[i])))
			continue;
		LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
		reclaim_database(orphans[i]);
		LWLockRelease(&shared->header.lock);
	}
}
