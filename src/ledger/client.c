/*
 * client.c
 *		One round trip to the ledger's process.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/wait_event.h"

#include "ledger/asking.h"
#include "server/fault.h"

#define POLL_MS 100
#define LINE_POLL_MS 25 /* while no worker process is free */
#define ROW_LOCK_RETRY_MS 20
#define POST_PATIENCE 2000				  /* ms, when all slots are taken at abort */
#define POST_PAUSE_US INT64CONST(1000000) /* then there is none for so long */

/*
 * The client goes, by error or exit, before it has its reply.  No answer was
 * released, so whatever was or will be granted goes back.
 */
static void
abandon(int code, Datum arg)
{
	LedgerShared *shared = ledger_shared();
	LedgerSlot	 *slot = &shared->slots[DatumGetInt32(arg)];
	int			  worker = -1;

	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	switch (slot_state(slot))
	{
		case SLOT_PENDING:
			slot_set_free(slot);
			break;
		case SLOT_TAKEN:
			slot_set_state(slot, SLOT_ABANDONED);
			break;
		case SLOT_DONE:
			if (slot->reply.outcome == OUTCOME_GRANTED && slot->reply.granted > 0)
			{
				LedgerDatabase *entry = database_entry(shared, false);

				slot_give_back(slot);
				if (entry != NULL && entry->worker_pid != 0)
					worker = entry->worker;
			}
			else
				slot_set_free(slot);
			break;
		case SLOT_FREE:
		case SLOT_ABANDONED:
			break;
	}
	LWLockRelease(&shared->header.lock);
	if (worker >= 0)
		SetLatch(&ProcGlobal->allProcs[worker].procLatch);
}

static void
report_timeout(void)
{
	ereport(
		ERROR, errcode(ERRCODE_SYSTEM_ERROR), errmsg("the privacy ledger did not reply in time"),
		errdetail("No answer was given. The charge may have been recorded; it is returned when the "
				  "ledger's process gets to it."),
		errhint(
			"Look for waits of the \"privpred ledger\" process in pg_stat_activity, for example "
			"for a synchronous standby."));
}

/* Waits in line for a slot.  Interruptible, unlike the abort path below. */
static int
post_patiently(const LedgerRequest *request, TimestampTz deadline)
{
	int slot = slot_post(request, true);

	if (slot >= 0)
		return slot;

	slot_reclaim_dropped_databases();
	ConditionVariablePrepareToSleep(&ledger_shared()->slot_freed);
	while ((slot = slot_post(request, true)) < 0)
	{
		if (GetCurrentTimestamp() > deadline)
		{
			ConditionVariableCancelSleep();
			ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					errmsg("too many sessions are waiting for the privacy ledger"),
					errdetail("Nothing was charged."),
					errhint("Try again, with fewer sessions of the same role."));
		}
		(void) ConditionVariableTimedSleep(&ledger_shared()->slot_freed, POLL_MS,
										   ledger_wait_event(WAIT_FOR_SLOT));
	}
	ConditionVariableCancelSleep();
	return slot;
}

static void
report_no_process(void)
{
	ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_RESOURCES),
			errmsg("no worker process became free for the privacy ledger"),
			errdetail("Nothing was charged."),
			errhint("Try again, or raise max_worker_processes: databases that are asked at the "
					"same time take turns if there is not one for each of them."));
}

static void
wait_for_reply(LedgerSlot *slot, TimestampTz deadline)
{
	FAULT_POINT("ask_posted");
	for (;;)
	{
		bool has_process;

		ResetLatch(MyLatch);
		if (slot_state(slot) == SLOT_DONE)
			break;
		CHECK_FOR_INTERRUPTS();

		has_process = queue_ensure_process();
		if (GetCurrentTimestamp() > deadline)
		{
			if (!has_process)
				report_no_process();
			report_timeout();
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 has_process ? POLL_MS : LINE_POLL_MS,
						 ledger_wait_event(has_process ? WAIT_FOR_REPLY : WAIT_FOR_PROCESS));
	}
	FAULT_POINT("ask_answered");
}

/* Waits for the reply, or leaves nothing behind. */
static void
await(int slot, TimestampTz deadline)
{
	PG_ENSURE_ERROR_CLEANUP(abandon, Int32GetDatum(slot));
	{
		wait_for_reply(&ledger_shared()->slots[slot], deadline);
	}
	PG_END_ENSURE_ERROR_CLEANUP(abandon, Int32GetDatum(slot));
}

static LedgerReply
call_once(const LedgerRequest *request, TimestampTz deadline)
{
	LedgerShared *shared = ledger_shared();
	int			  slot = post_patiently(request, deadline);
	LedgerReply	  reply;

	await(slot, deadline);
	LWLockAcquire(&shared->header.lock, LW_EXCLUSIVE);
	reply = shared->slots[slot].reply;
	slot_set_free(&shared->slots[slot]);
	LWLockRelease(&shared->header.lock);
	return reply;
}

/*
 * Sends a request and waits for its reply.  The caller's transaction is not
 * involved: what the worker commits stays, whatever becomes of the caller.
 * While an account is locked we wait here, not in a slot that others need.
 */
LedgerReply
ledger_call(const LedgerRequest *request)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz deadline = now + ledger_timeout_ms * INT64CONST(1000);
	TimestampTz patience = Min(deadline, now + ROW_LOCK_PATIENCE_US);
	LedgerReply reply;

	for (;;)
	{
		reply = call_once(request, deadline);
		if (reply.outcome != OUTCOME_LOCKED || GetCurrentTimestamp() > patience)
			return reply;
		ResetLatch(MyLatch);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 ROW_LOCK_RETRY_MS, ledger_wait_event(WAIT_FOR_ACCOUNT));
		CHECK_FOR_INTERRUPTS();
	}
}

/* Not granted for a reason that lies in the budget or the stream, not in the ledger. */
static bool
is_refusal(LedgerOutcome outcome)
{
	switch (outcome)
	{
		case OUTCOME_GRANTED:
		case OUTCOME_OFF:
		case OUTCOME_LOCKED:
		case OUTCOME_FOREIGN:
		case OUTCOME_FAILED:
		case OUTCOME_LOST:
			return false;
		default:
			return true;
	}
}

LedgerReply
ledger_call_counted(const LedgerPrice *price, const LedgerRequest *request)
{
	StatSite   *stats = price->stats;
	TimestampTz start;
	LedgerReply reply;

	if (stats == NULL)
		return ledger_call(request);
	stats_set_role(stats, request->role);
	stats_count(stats, STAT_ROUND_TRIPS, 1);
	start = GetCurrentTimestamp();
	reply = ledger_call(request);
	stats_count(stats, STAT_LEDGER_US, Max(GetCurrentTimestamp() - start, 0));
	if (is_refusal(reply.outcome))
		stats_count(stats, STAT_REFUSALS, 1);
	stats_flush(stats);
	return reply;
}

/*
 * Leaves a request without waiting for a reply.  Runs while transactions abort
 * and backends exit, so: no catalog, no error, no long wait.  If it cannot be
 * left the lease stays spent.
 */
void
ledger_post(const LedgerRequest *request)
{
	static TimestampTz impatient_until = 0;

	FAULT_POINT("block_returned");
	for (int i = 0; slot_post(request, false) < 0; i++)
	{
		/* Many call sites may end at the same time; one of them waits. */
		if (i >= POST_PATIENCE || GetCurrentTimestamp() < impatient_until)
		{
			impatient_until = GetCurrentTimestamp() + POST_PAUSE_US;
			LWLockAcquire(&ledger_shared()->header.lock, LW_EXCLUSIVE);
			board_leave_unserved(request);
			LWLockRelease(&ledger_shared()->header.lock);
			ereport(LOG,
					errmsg("%d unused private answers could not be returned to their account",
						   request->answers),
					errdetail(
						"All requests to the privacy ledger that the role or the database may have "
						"were in use."));
			return;
		}
		pg_usleep(1000);
	}
	(void) queue_ensure_process();
}
