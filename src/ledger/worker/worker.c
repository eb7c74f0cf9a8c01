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
#include "utils/guc.h"
#include "utils/ps_status.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "ledger/worker/worker.h"
#include "ledger/worker/returns.h"
#include "server/fault.h"

#define DRAIN_US INT64CONST(300000) /* at shutdown, for leases that come back */
#define LINGER_US INT64CONST(200)	/* after a batch, before going to sleep */
#define LOCK_TIMEOUT "100ms"		/* then requests go back into the queue */

volatile sig_atomic_t worker_stopping = false;
volatile sig_atomic_t worker_committing = false;
bool				  worker_draining = false;

static TimestampTz last_work = 0;

/* A batch is short and is finished; only a hanging commit must be left. */
static void
handle_sigterm(SIGNAL_ARGS)
{
	int save_errno = errno;

	worker_stopping = true;
	if (worker_committing)
		die(SIGNAL_PASSED);
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
	if (!worker_committing)
		StatementCancelHandler(SIGNAL_PASSED);
}

/* ---------- being the ledger of this database ---------- */

/*
 * Whether a batch in flight was committed is not known here.  Settling is
 * repeatable, since it removes what it settles; giving back is not.
 */
static void
delist(int code, Datum arg)
{
	LedgerShared   *shared = ledger_shared();
	LedgerDatabase *entry;

	/* An error that ends us may have left us with it, and nobody would end us then. */
	LWLockReleaseAll();
	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	entry = database_entry(shared, false);
	if (entry != NULL && entry->worker_pid == MyProcPid)
	{
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
				slot_set_state(slot, SLOT_DONE);
				SetLatch(&ProcGlobal->allProcs[slot->client].procLatch);
			}
			else if (slot_state(slot) == SLOT_TAKEN && slot->request.kind == REQUEST_SETTLE)
				slot_set_state(slot, SLOT_PENDING);
			else if (slot_state(slot) == SLOT_TAKEN || slot_state(slot) == SLOT_ABANDONED)
			{
				board_leave_unserved(&slot->request);
				slot_set_free(slot);
			}
		}
		returns_are_lost();
	}
	LWLockRelease(&shared->header.lock);
	(void) queue_delist(false, DSM_HANDLE_INVALID, 0);
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
	LedgerSlot *batch[SERVE_SLOTS];
	int64		wait_us = ledger_idle_timeout_ms * INT64CONST(1000);
	bool		idle = GetCurrentTimestamp() - last_work >= wait_us;
	int			n;

	ResetLatch(MyLatch);
	/* What woke us may have been asked since the caller has looked. */
	if (worker_stopping && stop_at == 0)
		return true;
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		set_session();
	}
	answers_publish();
	if (stop_at == 0 && hand_over(last_work))
		return false;
	n = serve_take(batch, idle, &wait_us);
	if (n > 0)
	{
		FAULT_POINT("debit_taken");
		serve_run(batch, n, false);
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
			serve_run(batch, 0, false);
		head_log(false);
		if (returns_none() && queue_delist(true, DSM_HANDLE_INVALID, 0))
			return false;
	}
	if (stop_at == 0)
		wait_us = hand_over_wait(wait_us);
	if (!linger())
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 (long) (wait_us / 1000) + 1, ledger_wait_event(WAIT_FOR_REQUESTS));
	CHECK_FOR_INTERRUPTS();
	return true;
}

void
privpred_ledger_main(Datum arg)
{
	TimestampTz stop_at = 0;
	Oid			database;
	dsm_handle	parked;

	pqsignal(SIGTERM, handle_sigterm);
	pqsignal(SIGINT, handle_sigint);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	database = queue_choose();
	if (!OidIsValid(database))
		return;
	/* Who renames or copies a database locks it, and must not keep processes from others. */
	override("lock_timeout", LOCK_TIMEOUT);
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
	before_shmem_exit(delist, (Datum) 0);
	if (!queue_enlist(&parked))
		return;
	set_ps_display(psprintf("of database %u", database));
	hand_over_take(parked);
	set_session();
	pgstat_report_appname("privpred ledger");
	last_work = GetCurrentTimestamp();

	while (stop_at == 0 || GetCurrentTimestamp() < stop_at)
	{
		if (!work(stop_at))
			break;
		if (worker_stopping && stop_at == 0)
		{
			stop_at = GetCurrentTimestamp() + DRAIN_US;
			worker_draining = true;
			/* What comes back must not wait for a standby that has gone. */
			override("synchronous_commit", "local");
		}
	}
	/* Who leaves because there is nothing to do, or for others, has left the ledger to them. */
	if (stop_at != 0)
	{
		returns_leave();
		if (returns_have_orphans())
			serve_run(NULL, 0, false);
	}
	head_log(worker_stopping);
}
