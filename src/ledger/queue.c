/*
 * queue.c
 *		Databases in line for one of the ledger's processes (both).
 *
 * A process serves one database for as long as it lives, and the server has
 * max_worker_processes for everything.  If none is free, a database stands in line.
 * Processes that see somebody wait there leave when they have nothing to do, or
 * have had their share of time (worker/hand_over.c); whoever waits tries every few
 * milliseconds to have a process started, and the new process takes the database
 * that has waited longest, whosever it is.
 *
 * Functions here say if the caller holds the lock.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/latch.h"
#include "storage/proc.h"

#include "ledger/shared.h"

#define START_RETRY_US INT64CONST(500000) /* a start may fail silently */
#define LEAVING_US INT64CONST(100000)	  /* until a process that leaves has left, at most */
#define MOST_TRIES 3					  /* the database may have been dropped */

/* ---------- who needs a process; under the lock ---------- */

static bool
has_pending(LedgerShared *shared, Oid database, bool client)
{
	for (int i = 0; i < LEDGER_SLOTS; i++)
	{
		LedgerSlot *slot = &shared->slots[i];

		if (slot->database == database && slot_state(slot) == SLOT_PENDING &&
			(!client || slot->wants_reply))
			return true;
	}
	return false;
}

static void
leave_line(LedgerDatabase *entry)
{
	entry->ticket = 0;
	entry->hungry = false;
	entry->left_to = 0;
	entry->started = 0;
	entry->chosen = 0;
	entry->tries = 0;
}

static void
stand_in_line(LedgerShared *shared, LedgerDatabase *entry)
{
	if (entry->ticket == 0)
		entry->ticket = ++shared->next_ticket;
}

/* Does it need a process now?  Who was in line, and went, does not stay there. */
static bool
is_in_line(LedgerShared *shared, LedgerDatabase *entry, TimestampTz now)
{
	if (entry->ticket == 0 || entry->worker_pid != 0)
		return false;
	if (has_pending(shared, entry->database, false))
		return true;
	if (entry->parked == DSM_HANDLE_INVALID)
		leave_line(entry);
	return entry->parked != DSM_HANDLE_INVALID && now >= entry->parked_until;
}

typedef enum Stage
{
	STAGE_UNSTARTED, /* no process was asked for, lately */
	STAGE_UNCHOSEN,	 /* no process has chosen it, lately */
	STAGE_HUNGRY	 /* no process can be started, and a session waits */
} Stage;

static bool
is_at(const LedgerDatabase *entry, Stage stage, TimestampTz now)
{
	switch (stage)
	{
		case STAGE_UNSTARTED:
			return now - entry->started >= START_RETRY_US;
		case STAGE_UNCHOSEN:
			return now - entry->chosen >= START_RETRY_US;
		case STAGE_HUNGRY:
			return entry->hungry;
	}
	return false;
}

/* Who has waited longest, and how many there are. */
static LedgerDatabase *
first_in_line(LedgerShared *shared, Stage stage, TimestampTz now, int *count)
{
	LedgerDatabase *first = NULL;

	*count = 0;
	for (int i = 0; i < LEDGER_DATABASES; i++)
	{
		LedgerDatabase *entry = &shared->databases[i];

		if (!is_in_line(shared, entry, now) || !is_at(entry, stage, now))
			continue;
		(*count)++;
		if (first == NULL || entry->ticket < first->ticket)
			first = entry;
	}
	return first;
}

/* ---------- starting processes ---------- */

static bool
start_worker(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "privpred");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "privpred_ledger_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "privpred ledger");
	snprintf(worker.bgw_type, BGW_MAXLEN, "privpred ledger");
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/* No process could be started: those that run are told who is waiting. */
static void
tell_processes(void)
{
	LedgerShared *shared = ledger_shared();
	TimestampTz	  now = GetCurrentTimestamp();
	int			  workers[LEDGER_DATABASES];
	int			  nworkers = 0;
	bool		  news = false;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	for (int i = 0; i < LEDGER_DATABASES; i++)
	{
		LedgerDatabase *entry = &shared->databases[i];

		if (entry->worker_pid != 0)
			workers[nworkers++] = entry->worker;
		else if (is_in_line(shared, entry, now) && is_at(entry, STAGE_UNSTARTED, now) &&
				 !entry->hungry && now - entry->left_to >= LEAVING_US &&
				 has_pending(shared, entry->database, true))
			news = entry->hungry = true;
	}
	if (news)
		pg_atomic_write_u32(&shared->hungry, 1);
	LWLockRelease(&shared->header.lock);
	for (int i = 0; news && i < nworkers; i++)
		SetLatch(&ProcGlobal->allProcs[workers[i]].procLatch);
}

bool
queue_start_processes(void)
{
	LedgerShared *shared = ledger_shared();

	for (;;)
	{
		TimestampTz		now = GetCurrentTimestamp();
		LedgerDatabase *first;
		bool			started;
		int				count;

		LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
		first = first_in_line(shared, STAGE_UNSTARTED, now, &count);
		if (first != NULL)
			first->started = now;
		LWLockRelease(&shared->header.lock);
		if (first == NULL)
			return true;
		started = start_worker();

		LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
		if (started)
			first->hungry = false;
		else if (first->worker_pid == 0 && first->started == now)
			first->started = 0; /* the next attempt may come at once */
		LWLockRelease(&shared->header.lock);
		if (!started)
		{
			tell_processes();
			return false;
		}
	}
}

bool
queue_ensure_process(void)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *entry;
	bool			there;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	entry = database_entry(shared, true);
	there = entry != NULL && entry->worker_pid != 0;
	if (entry != NULL && !there)
		stand_in_line(shared, entry);
	LWLockRelease(&shared->header.lock);
	return there || (queue_start_processes() && entry != NULL);
}

/* ---------- for the ledger's processes ---------- */

/* The database cannot be connected to, or was dropped.  Who waits there lines up again. */
static void
give_up(LedgerDatabase *entry)
{
	leave_line(entry);
	if (entry->parked != DSM_HANDLE_INVALID)
		dsm_unpin_segment(entry->parked);
	entry->parked = DSM_HANDLE_INVALID;
}

Oid
queue_choose(void)
{
	LedgerShared   *shared = ledger_shared();
	TimestampTz		now = GetCurrentTimestamp();
	LedgerDatabase *first;
	Oid				database = InvalidOid;
	int				count;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	while ((first = first_in_line(shared, STAGE_UNCHOSEN, now, &count)) != NULL &&
		   !OidIsValid(database))
	{
		first->chosen = now;
		if (first->tries++ < MOST_TRIES)
			database = first->database;
		else
			give_up(first);
	}
	LWLockRelease(&shared->header.lock);
	return database;
}

bool
queue_enlist(dsm_handle *parked)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *entry;
	bool			mine = false;

	*parked = DSM_HANDLE_INVALID;
	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	entry = database_entry(shared, true);
	if (entry != NULL && entry->worker_pid == 0)
	{
		leave_line(entry);
		entry->worker_pid = MyProcPid;
		entry->worker = MyProcNumber;
		*parked = entry->parked;
		entry->parked = DSM_HANDLE_INVALID;
		mine = true;
	}
	LWLockRelease(&shared->header.lock);
	return mine;
}

int
queue_hungry(void)
{
	LedgerShared *shared = ledger_shared();
	int			  count;

	if (likely(pg_atomic_read_u32(&shared->hungry) == 0))
		return 0;
	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	(void) first_in_line(shared, STAGE_HUNGRY, GetCurrentTimestamp(), &count);
	if (count == 0)
		pg_atomic_write_u32(&shared->hungry, 0);
	LWLockRelease(&shared->header.lock);
	return count;
}

bool
queue_leave_for_first(void)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *first;
	int				count;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	first = first_in_line(shared, STAGE_HUNGRY, GetCurrentTimestamp(), &count);
	if (first != NULL)
	{
		first->hungry = false;
		first->left_to = GetCurrentTimestamp();
	}
	LWLockRelease(&shared->header.lock);
	return first != NULL;
}

bool
queue_delist(bool only_if_idle, dsm_handle parked, TimestampTz parked_until)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *entry;
	bool			pending;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	pending = has_pending(shared, MyDatabaseId, false);
	entry = database_entry(shared, false);
	if (entry != NULL && entry->worker_pid == MyProcPid && !(pending && only_if_idle))
	{
		leave_line(entry);
		entry->worker_pid = 0;
		entry->parked = parked;
		entry->parked_until = parked_until;
		if (pending || parked != DSM_HANDLE_INVALID)
			stand_in_line(shared, entry);
	}
	LWLockRelease(&shared->header.lock);
	return !(pending && only_if_idle);
}
