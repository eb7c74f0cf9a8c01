/*
 * worker.c
 *		The ledger's process: one per active database, started on demand.
 *
 * It is the only writer of spending and chain.  Requests that arrive while it
 * commits are served together by its next commit.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/s_lock.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "ledger/worker/worker.h"
#include "ledger/worker/returns.h"

#define DRAIN_US INT64CONST(300000) /* at shutdown, for leases that come back */
#define LINGER_US INT64CONST(200)	/* after a batch, before going to sleep */
#define LOCK_TIMEOUT "100ms"		/* then requests go back into the queue */
#define MAX_ATTEMPTS 50				/* at returning unused answers */
#define RETRY_US INT64CONST(200000)
#define KEEP_US INT64CONST(10000000) /* a grant that nobody took, for the next */
#define BATCH_SIZE (2 * LEDGER_SLOTS)

static volatile sig_atomic_t stop_requested = false;
static volatile sig_atomic_t committing = false;
static bool					 draining = false; /* about to go: only what comes back is served */
static TimestampTz			 last_work = 0;

/* A batch is short and is finished; only a hanging commit must be left. */
static void
handle_sigterm(SIGNAL_ARGS)
{
	int save_errno = errno;

	stop_requested = true;
	if (committing)
		die(postgres_signal_arg);
	SetLatch(MyLatch);
	errno = save_errno;
}

/*
 * lock_timeout arrives as a cancel.  During a commit a cancel would end the
 * wait for a synchronous standby, and the answer would leave before its charge
 * is safe there.
 */
static void
handle_sigint(SIGNAL_ARGS)
{
	if (!committing)
		StatementCancelHandler(postgres_signal_arg);
}

/* ---------- being the ledger of this database ---------- */

/* False if another process is. */
static bool
enlist(void)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *entry;
	bool			mine = false;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	entry = database_entry(shared, true);
	if (entry != NULL && entry->worker_pid == 0)
	{
		entry->worker_pid = MyProcPid;
		entry->worker = MyProcNumber;
		mine = true;
	}
	LWLockRelease(&shared->lock);
	return mine;
}

/* The caller holds the lock. */
static void
reply_to(LedgerSlot *slot)
{
	slot_set_state(slot, SLOT_DONE);
	SetLatch(&ProcGlobal->allProcs[slot->client].procLatch);
}

/*
 * Whether a batch in flight was committed is not known here.  Settling is
 * repeatable, since it removes what it settles; giving back is not.
 */
static void
delist(int code, Datum arg)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *entry;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	entry = database_entry(shared, false);
	if (entry != NULL && entry->worker_pid == MyProcPid)
	{
		entry->worker_pid = 0;
		entry->started = 0;
		for (int i = 0; i < LEDGER_SLOTS; i++)
		{
			LedgerSlot *slot = &shared->slots[i];

			if (slot->database != MyDatabaseId)
				continue;
			if (slot_state(slot) == SLOT_PENDING && slot->wants_reply)
				SetLatch(&ProcGlobal->allProcs[slot->client].procLatch);
			else if (slot_state(slot) == SLOT_TAKEN && slot->wants_reply)
			{
				slot->reply.outcome = OUTCOME_LOST;
				reply_to(slot);
			}
			else if (slot_state(slot) == SLOT_TAKEN && slot->request.kind == REQUEST_SETTLE)
				slot_set_state(slot, SLOT_PENDING);
			else if (slot_state(slot) == SLOT_TAKEN || slot_state(slot) == SLOT_ABANDONED)
				slot_set_free(slot);
		}
	}
	LWLockRelease(&shared->lock);
}

/* ---------- batches ---------- */

/* What comes back is served before what is asked for. */
static int
by_urgency(const void *a, const void *b)
{
	const LedgerSlot *one = *(LedgerSlot *const *) a;
	const LedgerSlot *two = *(LedgerSlot *const *) b;

	if (one->wants_reply != two->wants_reply)
		return one->wants_reply ? 1 : -1;
	return one->serial < two->serial ? -1 : one->serial > two->serial;
}

/* A grant of one answer that its client was not there to take. */
static bool
is_untaken_grant(const LedgerSlot *slot)
{
	return !draining && !slot->wants_reply && slot->request.kind == REQUEST_GIVE_BACK &&
		   slot->request.fresh && slot->request.answers == 1;
}

/* Takes what is due, or all; *wait_us shrinks to when to look again for what is not. */
static int
take_batch(LedgerSlot **batch, bool all, int64 *wait_us)
{
	LedgerShared *shared = ledger_shared();
	TimestampTz	  now = GetCurrentTimestamp();
	int			  n = 0;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < LEDGER_SLOTS; i++)
	{
		LedgerSlot *slot = &shared->slots[i];

		if (slot->database != MyDatabaseId || slot_state(slot) != SLOT_PENDING ||
			(draining && slot->wants_reply))
			continue;
		if (is_untaken_grant(slot) && returns_keep(slot, now + KEEP_US))
		{
			slot_set_free(slot);
			continue;
		}
		all |= slot->request.kind == REQUEST_SYNC;
		slot_set_state(slot, SLOT_TAKEN);
		batch[n++] = slot;
	}
	LWLockRelease(&shared->lock);
	n += returns_due(&batch[n], BATCH_SIZE - n, all || draining, wait_us);
	qsort(batch, n, sizeof(LedgerSlot *), by_urgency);
	return n;
}

/*
 * Commits, unless asked to stop before.  An answer may leave once this returns
 * true: the commit is flushed, and on the synchronous standbys if there are any.
 */
static bool
commit_batch(void)
{
	ForceSyncCommit();
	committing = true; /* from here on a stop ends the wait for standbys */
	if (stop_requested && !draining)
	{
		committing = false;
		AbortCurrentTransaction();
		return false;
	}
	QueryCancelPending = false; /* came before we stopped listening */
	CommitTransactionCommand();
	committing = false;

	/* If the wait for a standby was cut short, nobody gets an answer. */
	CHECK_FOR_INTERRUPTS();
	return true;
}

typedef enum Served
{
	SERVED_COMMITTED,
	SERVED_NOT_TRUSTED, /* memory was stale: serve carefully */
	SERVED_STOPPED		/* we were asked to go */
} Served;

static Served
serve_batch(LedgerSlot **slots, int nslots, bool careful)
{
	bool done;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	done = debit_batch(slots, nslots, careful);
	PopActiveSnapshot();
	if (!done)
	{
		AbortCurrentTransaction();
		return SERVED_NOT_TRUSTED;
	}
	return commit_batch() ? SERVED_COMMITTED : SERVED_STOPPED;
}

/* The slot, ours or a shared one, is done with.  The caller holds the lock. */
static void
release_slot(LedgerSlot *slot)
{
	if (returns_has(slot))
		slot_set_state(slot, SLOT_FREE);
	else
		slot_set_free(slot);
}

/* For the process that comes after us. */
static void
leave_behind(LedgerSlot **slots, int nslots)
{
	LedgerShared *shared = ledger_shared();

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < nslots; i++)
		if (slot_state(slots[i]) == SLOT_ABANDONED)
			slot_set_free(slots[i]);
		else
			slot_set_state(slots[i], SLOT_PENDING);
	LWLockRelease(&shared->lock);
}

/*
 * What comes back is tried again later, and waits in our own memory: nobody may
 * fill the slots that all share by locking an account.  The caller holds the
 * lock.
 */
static void
try_later(LedgerSlot *slot)
{
	TimestampTz later = GetCurrentTimestamp() + RETRY_US;

	if (returns_has(slot))
	{
		slot->not_before = later;
		slot_set_state(slot, SLOT_PENDING);
		return;
	}
	if (!returns_keep(slot, later))
		returns_give_up(&slot->request);
	slot_set_free(slot);
}

static void
publish(LedgerSlot **slots, int nslots)
{
	LedgerShared *shared = ledger_shared();
	int			  clients[LEDGER_SLOTS];
	int			  nclients = 0;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < nslots; i++)
	{
		LedgerSlot		  *slot = slots[i];
		const LedgerReply *reply = &slot->reply;

		if (reply->outcome != OUTCOME_LOCKED)
			board_publish(slot);
		if (reply->outcome == OUTCOME_LOCKED && !slot->wants_reply)
			try_later(slot);
		else if (slot_state(slot) == SLOT_TAKEN && slot->wants_reply)
		{
			slot_set_state(slot, SLOT_DONE);
			clients[nclients++] = slot->client;
		}
		else if (slot->wants_reply && reply->outcome == OUTCOME_GRANTED && reply->granted > 0)
			slot_give_back(slot); /* the client has gone */
		else
			release_slot(slot);
	}
	LWLockRelease(&shared->lock);

	/* Whoever wakes takes the lock: let go of it first. */
	for (int i = 0; i < nclients; i++)
		SetLatch(&ProcGlobal->allProcs[clients[i]].procLatch);
}

/* One request failed for good, or is tried again later if something comes back. */
static void
publish_failure(LedgerSlot *slot, int sqlstate)
{
	LedgerShared *shared = ledger_shared();

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (slot_state(slot) == SLOT_ABANDONED)
		slot_set_free(slot);
	else if (slot->wants_reply)
	{
		memset(&slot->reply, 0, sizeof(LedgerReply));
		slot->reply.outcome = OUTCOME_FAILED;
		slot->reply.sqlstate = sqlstate;
		reply_to(slot);
	}
	else if (++slot->attempts < MAX_ATTEMPTS)
		try_later(slot);
	else
		release_slot(slot);
	LWLockRelease(&shared->lock);
}

/* Errors of ours become errors of the client; never those of a lost connection. */
static int
client_sqlstate(int sqlstate)
{
	switch (sqlstate)
	{
		case ERRCODE_LOCK_NOT_AVAILABLE:
		case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE:
		case ERRCODE_FEATURE_NOT_SUPPORTED:
		case ERRCODE_DISK_FULL:
			return sqlstate;
		case ERRCODE_UNDEFINED_TABLE:
		case ERRCODE_UNDEFINED_SCHEMA:
		case ERRCODE_UNDEFINED_COLUMN:
			return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
		default:
			return ERRCODE_SYSTEM_ERROR;
	}
}

/* Serves a batch in one transaction; returns an error code of the client's, or 0. */
static int
try_batch(LedgerSlot **slots, int nslots, bool careful, Served *served)
{
	MemoryContext context = CurrentMemoryContext;
	volatile int  sqlstate = 0;

	PG_TRY();
	{
		*served = serve_batch(slots, nslots, careful);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		HOLD_INTERRUPTS();
		committing = false;
		sqlstate = client_sqlstate(geterrcode());
		if (careful && sqlstate != ERRCODE_LOCK_NOT_AVAILABLE)
			EmitErrorReport();
		FlushErrorState();
		AbortCurrentTransaction();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	if (sqlstate != 0 || *served != SERVED_COMMITTED)
		debit_forget();
	return sqlstate;
}

/*
 * A failed batch is served again carefully, then request by request, so that
 * one does not fail the others.
 */
static void
run_batch(LedgerSlot **slots, int nslots, bool careful)
{
	Served served = SERVED_STOPPED;
	int	   sqlstate = try_batch(slots, nslots, careful, &served);

	if (sqlstate == 0 && served == SERVED_COMMITTED)
	{
		returns_end_batch();
		publish(slots, nslots);
		head_log_changed();
	}
	else if (sqlstate == 0 && served == SERVED_STOPPED)
		leave_behind(slots, nslots);
	else if (!careful)
		run_batch(slots, nslots, true);
	else if (nslots == 1 && sqlstate == ERRCODE_LOCK_NOT_AVAILABLE)
	{
		slots[0]->reply.outcome = OUTCOME_LOCKED;
		publish(slots, 1);
	}
	else if (nslots == 1)
		publish_failure(slots[0], sqlstate);
	else
		for (int i = 0; i < nslots; i++)
			run_batch(&slots[i], 1, true);
}

/* ---------- main ---------- */

static void
override(const char *name, const char *value)
{
	SetConfigOption(name, value, PGC_SUSET, PGC_S_OVERRIDE);
}

/* What a database's settings must not change. */
static void
set_session(void)
{
	if (synchronous_commit < SYNCHRONOUS_COMMIT_ON)
		override("synchronous_commit", "on");
	override("default_transaction_read_only", "off");
	override("default_transaction_isolation", "read committed");
	override("search_path", "pg_catalog, pg_temp");
	override("statement_timeout", "0");
	override("lock_timeout", LOCK_TIMEOUT);
	override("idle_in_transaction_session_timeout", "0");
	override("session_replication_role", "origin");
	override("row_security", "off");
	override("jit", "off");
	override("plan_cache_mode", "force_generic_plan");
	override("application_name", "privpred ledger");
}

/* Leaves only if nobody is waiting, which is decided under the lock. */
static bool
may_leave(void)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *entry;
	bool			idle = returns_none();

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < LEDGER_SLOTS && idle; i++)
		idle = shared->slots[i].database != MyDatabaseId ||
			   slot_state(&shared->slots[i]) != SLOT_PENDING;
	entry = database_entry(shared, false);
	if (idle && entry != NULL && entry->worker_pid == MyProcPid)
	{
		entry->worker_pid = 0;
		entry->started = 0;
	}
	LWLockRelease(&shared->lock);
	return idle;
}

/*
 * A session that asks answer by answer comes back within a fraction of a
 * millisecond.  Being woken takes about as long as a flush, so we stay up for
 * it; true if it came.
 */
static bool
linger(void)
{
	while (GetCurrentTimestamp() - last_work < LINGER_US)
	{
		if (MyLatch->is_set)
			return true;
		SPIN_DELAY();
	}
	return false;
}

/* One turn; false when it is time to go. */
static bool
work(TimestampTz stop_at)
{
	LedgerSlot *batch[BATCH_SIZE];
	int64		wait_us = ledger_idle_timeout_ms() * INT64CONST(1000);
	bool		idle = GetCurrentTimestamp() - last_work >= wait_us;
	int			n;

	ResetLatch(MyLatch);
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		set_session();
	}
	n = take_batch(batch, idle, &wait_us);
	if (n > 0)
	{
		run_batch(batch, n, false);
		/* Else autovacuum would never hear of the dead rows. */
		pgstat_report_stat(false);
		last_work = GetCurrentTimestamp();
		if (last_work - head_log_last_look() >= USECS_PER_SEC)
			head_log(false);
		return true;
	}
	if (stop_at != 0)
		wait_us = Min(wait_us, 10000);
	else if (idle)
	{
		if (returns_have_orphans())
			run_batch(batch, 0, false);
		head_log(false);
		if (may_leave())
			return false;
	}
	if (!linger())
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 (long) (wait_us / 1000) + 1, PG_WAIT_EXTENSION);
	CHECK_FOR_INTERRUPTS();
	return true;
}

void
privpred_ledger_main(Datum arg)
{
	TimestampTz stop_at = 0;

	pqsignal(SIGTERM, handle_sigterm);
	pqsignal(SIGINT, handle_sigint);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(arg), InvalidOid,
											  BGWORKER_BYPASS_ALLOWCONN);
	before_shmem_exit(delist, (Datum) 0);
	if (!enlist())
		return;
	set_session();
	pgstat_report_appname("privpred ledger");
	last_work = GetCurrentTimestamp();

	while (stop_at == 0 || GetCurrentTimestamp() < stop_at)
	{
		if (!work(stop_at))
			break;
		if (stop_requested && stop_at == 0)
		{
			stop_at = GetCurrentTimestamp() + DRAIN_US;
			draining = true;
			/* What comes back must not wait for a standby that has gone. */
			override("synchronous_commit", "local");
		}
	}
	/* Who leaves because there is nothing to do has left the ledger to others. */
	if (stop_at != 0)
	{
		returns_leave();
		if (returns_have_orphans())
			run_batch(NULL, 0, false);
	}
	head_log(stop_requested);
}
