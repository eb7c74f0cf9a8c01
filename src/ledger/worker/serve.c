/*
 * serve.c
 *		From the request slots to the debits and back: batches, commits, replies.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/snapmgr.h"

#include "ledger/worker/returns.h"
#include "ledger/worker/worker.h"
#include "server/fault.h"

#define MAX_ATTEMPTS 50 /* at returning unused answers */
#define RETRY_US INT64CONST(200000)
#define KEEP_US INT64CONST(10000000) /* a grant that nobody took, for the next */

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
	return !worker_draining && !slot->wants_reply && slot->request.kind == REQUEST_GIVE_BACK &&
		   slot->request.fresh && slot->request.answers == 1;
}

int
serve_take(LedgerSlot **batch, bool all, int64 *wait_us)
{
	LedgerShared *shared = ledger_shared();
	TimestampTz	  now = GetCurrentTimestamp();
	int			  n = 0;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	for (int i = 0; i < LEDGER_SLOTS; i++)
	{
		LedgerSlot *slot = &shared->slots[i];

		if (slot->database != MyDatabaseId || slot_state(slot) != SLOT_PENDING ||
			(worker_draining && slot->wants_reply))
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
	LWLockRelease(&shared->header.lock);
	n += returns_due(&batch[n], SERVE_SLOTS - n, all || worker_draining, wait_us);
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
	FAULT_POINT("debit_written");
	ForceSyncCommit();
	worker_committing = true; /* from here on a stop ends the wait for standbys */
	if (worker_stopping && !worker_draining)
	{
		worker_committing = false;
		AbortCurrentTransaction();
		return false;
	}
	QueryCancelPending = false; /* came before we stopped listening */
	CommitTransactionCommand();
	FAULT_POINT("debit_committed");

	/*
	 * If the wait for a standby was cut short, nobody gets an answer.  No cancel is heard
	 * before: what was committed would be served again, and returned twice.
	 */
	CHECK_FOR_INTERRUPTS();
	worker_committing = false;
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

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	for (int i = 0; i < nslots; i++)
		if (slot_state(slots[i]) == SLOT_ABANDONED)
			slot_set_free(slots[i]);
		else
			slot_set_state(slots[i], SLOT_PENDING);
	LWLockRelease(&shared->header.lock);
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
	{
		returns_give_up(&slot->request);
		board_leave_unserved(&slot->request);
	}
	slot_set_free(slot);
}

static void
publish(LedgerSlot **slots, int nslots)
{
	LedgerShared *shared = ledger_shared();
	int			  clients[LEDGER_SLOTS];
	int			  nclients = 0;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
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
	LWLockRelease(&shared->header.lock);

	/* Whoever wakes takes the lock: let go of it first. */
	for (int i = 0; i < nclients; i++)
		SetLatch(&ProcGlobal->allProcs[clients[i]].procLatch);
}

/* One request failed for good, or is tried again later if something comes back. */
static void
publish_failure(LedgerSlot *slot, int sqlstate)
{
	LedgerShared *shared = ledger_shared();

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	if (slot_state(slot) == SLOT_ABANDONED)
		slot_set_free(slot);
	else if (slot->wants_reply)
	{
		memset(&slot->reply, 0, sizeof(LedgerReply));
		slot->reply.outcome = OUTCOME_FAILED;
		slot->reply.sqlstate = sqlstate;
		slot_set_state(slot, SLOT_DONE);
		SetLatch(&ProcGlobal->allProcs[slot->client].procLatch);
	}
	else if (++slot->attempts < MAX_ATTEMPTS)
		try_later(slot);
	else
	{
		board_leave_unserved(&slot->request);
		release_slot(slot);
	}
	LWLockRelease(&shared->header.lock);
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
		worker_committing = false;
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

void
serve_run(LedgerSlot **slots, int nslots, bool careful)
{
	Served served = SERVED_STOPPED;
	int	   sqlstate = try_batch(slots, nslots, careful, &served);

	if (sqlstate == 0 && served == SERVED_COMMITTED)
	{
		returns_end_batch();
		publish(slots, nslots);
		FAULT_POINT("debit_published");
		head_log_changed();
	}
	else if (sqlstate == 0 && served == SERVED_STOPPED)
		leave_behind(slots, nslots);
	else if (!careful)
		serve_run(slots, nslots, true);
	else if (nslots == 1 && sqlstate == ERRCODE_LOCK_NOT_AVAILABLE)
	{
		slots[0]->reply.outcome = OUTCOME_LOCKED;
		publish(slots, 1);
	}
	else if (nslots == 1)
		publish_failure(slots[0], sqlstate);
	else
		for (int i = 0; i < nslots; i++)
			serve_run(&slots[i], 1, true);
}
