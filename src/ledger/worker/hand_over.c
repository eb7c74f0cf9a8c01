/*
 * hand_over.c
 *		Leaving for a database that waits for a process: see queue.c.
 *
 * Requests that are pending stay in their slots, and this database goes to the end
 * of the line.  What has come back to accounts that somebody has locked goes to the
 * next process through memory that outlives us: no lock keeps a process from
 * leaving, and nothing is given up.
 */
#include "postgres.h"

#include "ledger/worker/returns.h"
#include "ledger/worker/worker.h"

#define TURN_US INT64CONST(2000000) /* shared by all who wait, but for each */
#define MIN_TURN_US INT64CONST(100000)
#define MAX_TURN_US INT64CONST(1000000)
#define PAUSE_US INT64CONST(20000)	  /* so long nobody asks in an idle database */
#define PARKED_US INT64CONST(5000000) /* before locked accounts are tried again */
#define CARE_US INT64CONST(1000000)	  /* between looks at who waits without a session */

static TimestampTz turn_began = 0;
static TimestampTz cared = 0;

void
hand_over_take(dsm_handle parked)
{
	turn_began = GetCurrentTimestamp();
	if (parked != DSM_HANDLE_INVALID)
		returns_unpark(parked);
}

/*
 * A session that asks answer by answer pauses in between; it may go on for as long as
 * its turn.
 */
static bool
is_time(int hungry, TimestampTz last_work)
{
	TimestampTz now = GetCurrentTimestamp();
	int64		turn = Min(Max(TURN_US / hungry, MIN_TURN_US), MAX_TURN_US);

	return now - turn_began >= turn || now - last_work >= PAUSE_US;
}

/* Puts back what can be put back. */
static void
clear_desk(void)
{
	LedgerSlot *batch[SERVE_SLOTS];
	int64		wait_us = 0;
	int			n = returns_due(batch, SERVE_SLOTS, true, &wait_us);

	if (n > 0 || returns_have_orphans())
		serve_run(batch, n, false);
	head_log(false);
}

/* Whose sessions have gone, but left something, gets a process if one is free. */
static void
care_for_others(void)
{
	if (GetCurrentTimestamp() - cared < CARE_US)
		return;
	cared = GetCurrentTimestamp();
	(void) queue_start_processes();
}

bool
hand_over(TimestampTz last_work)
{
	int		   hungry;
	dsm_handle parked;

	care_for_others();
	hungry = queue_hungry();
	if (hungry == 0 || !is_time(hungry, last_work) || !queue_leave_for_first())
		return false;
	clear_desk();
	if (worker_stopping || !returns_park(&parked))
	{
		turn_began = GetCurrentTimestamp();
		return false;
	}
	return queue_delist(false, parked, GetCurrentTimestamp() + PARKED_US);
}

int64
hand_over_wait(int64 wait_us)
{
	return queue_hungry() > 0 ? Min(wait_us, PAUSE_US) : Min(wait_us, CARE_US);
}
