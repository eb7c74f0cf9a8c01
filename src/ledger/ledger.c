/*
 * ledger.c
 *		Settings and start-up of the ledger.
 */
#include "postgres.h"

#include <limits.h>
#include <time.h>

#include "access/xact.h"
#include "utils/guc.h"

#include "ledger/accounts.h"
#include "ledger/asking.h"

#define DEFAULT_MAX_ANSWERS 10000
#define DEFAULT_TIMEOUT_MS 10000
#define MIN_TIMEOUT_MS 100
#define DEFAULT_IDLE_MS 2000
/* DROP DATABASE waits 5 s for others to leave. */
#define MAX_IDLE_MS 4000
#define DEFAULT_HEAD_LOG_S 300
#define COARSE_CLOCK_LAG_US INT64CONST(100000)

int ledger_timeout_ms = DEFAULT_TIMEOUT_MS;
int ledger_idle_timeout_ms = DEFAULT_IDLE_MS;
int ledger_head_log_interval_s = DEFAULT_HEAD_LOG_S;

static int max_answers_per_statement = DEFAULT_MAX_ANSWERS;

static bool invalidate_at_commit = false;

int64
ledger_max_answers(void)
{
	return max_answers_per_statement < 0 ? PG_INT64_MAX : max_answers_per_statement;
}

/*
 * Runs after the commit is visible and before its locks are released, so that
 * whoever then drops a lease or a cached account finds the new state.  COMMIT
 * PREPARED, in whatever session, would not come by here.
 */
static void
at_transaction_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_PREPARE && invalidate_at_commit)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot PREPARE a transaction that has changed privacy budgets or models"));
	if (event == XACT_EVENT_COMMIT && invalidate_at_commit)
		pg_atomic_fetch_add_u64(&ledger_shared()->epoch, 1);
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		invalidate_at_commit = false;
}

void
ledger_invalidate_leases(void)
{
	/* Maps shared memory now: nothing may fail after the commit. */
	(void) ledger_shared();
	invalidate_at_commit = true;
}

/*
 * The coarse clock is read in a fifth of the time; it lags behind the other by
 * a tick of the kernel, a few milliseconds, perhaps more on a machine that
 * stands still now and then.  Near the time, the exact clock decides.
 */
bool
ledger_time_has_come(TimestampTz when)
{
#ifdef CLOCK_REALTIME_COARSE
	struct timespec coarse;

	if (clock_gettime(CLOCK_REALTIME_COARSE, &coarse) == 0)
	{
		TimestampTz now = ((TimestampTz) coarse.tv_sec -
						   (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY) *
							  USECS_PER_SEC +
						  coarse.tv_nsec / 1000;

		if (now < when - COARSE_CLOCK_LAG_US)
			return false;
	}
#endif
	return GetCurrentTimestamp() >= when;
}

uint64
ledger_epoch(void)
{
	return pg_atomic_read_u64(&ledger_shared()->epoch);
}

/*
 * Nothing here protects anybody from whoever runs the session: settings can be
 * put aside before the library is loaded.  What must hold is in privpred.ceiling.
 */
void
ledger_init(void)
{
	DefineCustomIntVariable("privpred.max_answers_per_statement",
							"Most private answers that one statement may take.",
							"Stops an accidental full scan from spending a budget; -1 is no limit.",
							&max_answers_per_statement, DEFAULT_MAX_ANSWERS, -1, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("privpred.ledger_timeout",
							"Time to wait for the ledger before giving up.", NULL,
							&ledger_timeout_ms, DEFAULT_TIMEOUT_MS, MIN_TIMEOUT_MS, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"privpred.ledger_idle_timeout", "Time after which an idle ledger process ends.",
		"Below the 5 s for which DROP DATABASE waits.", &ledger_idle_timeout_ms, DEFAULT_IDLE_MS,
		100, MAX_IDLE_MS, PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"privpred.ledger_head_log_interval",
		"Time between reports of the ledger's head in the server log.",
		"A head kept elsewhere proves later that nothing was rewound; -1 is never.",
		&ledger_head_log_interval_s, DEFAULT_HEAD_LOG_S, -1, INT_MAX / 1000, PGC_SIGHUP, GUC_UNIT_S,
		NULL, NULL, NULL);

	answers_init();
	ledger_request_shmem();
	RegisterXactCallback(at_transaction_end, NULL);
	holders_watch_extension();
}
