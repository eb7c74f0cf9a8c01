/*
 * answers.c
 *		Whether this server answers at all: privpred.answers (both).
 *
 * A server whose place another has taken must not answer from the same budgets
 * once more.  The ledger's process refuses then whatever it would debit, and it
 * alone knows the setting for certain: a session may have put it aside before the
 * library was loaded.  So a session believes its own setting if that says no, and
 * else what a process has last said in shared memory.
 */
#include "postgres.h"

#include "utils/guc.h"

#include "ledger/asking.h"
#include "server/session.h"

/* Longer than an idle process sleeps (MAX_IDLE_MS), so that one that is there is not asked. */
#define ANSWERS_MAX_AGE_US INT64CONST(5000000)

static bool answers_setting = true;

bool
answers_are_on(void)
{
	return answers_setting;
}

void
answers_init(void)
{
	DefineCustomBoolVariable(
		"privpred.answers", "Gives private answers.",
		"Off on a server whose place another has taken: nothing is answered or charged there.",
		&answers_setting, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
}

/*
 * Does it take what somebody is told, or will be?  What was told before is recorded in
 * any case, and what is unused comes back.
 */
static bool
is_for_answers(RequestKind kind)
{
	switch (kind)
	{
		case REQUEST_LEASE:
		case REQUEST_RELEASE:
		case REQUEST_EXPORT:
		case REQUEST_DESCRIBE:
		case REQUEST_ACCURACY:
		case REQUEST_MAY_ANSWER:
		case REQUEST_STREAM_OPEN:
		case REQUEST_STREAM_TAKE:
			return true;
		case REQUEST_SETTLE:
		case REQUEST_GIVE_BACK:
		case REQUEST_MARK_PAID:
		case REQUEST_MEMO:
		case REQUEST_SYNC:
		case REQUEST_STREAM_FAILED:
		case REQUEST_STREAM_LEAVE:
		case REQUEST_STREAM_CLOSE:
			return false;
	}
	return true;
}

bool
answers_allow(RequestKind kind)
{
	return answers_setting || !is_for_answers(kind);
}

/* Leases and remembered rights end with the epoch. */
void
answers_publish(void)
{
	LedgerShared *shared = ledger_shared();
	uint32		  off = answers_setting ? 0 : 1;

	pg_atomic_write_u64(&shared->answers_said_at, (uint64) GetCurrentTimestamp());
	if (pg_atomic_exchange_u32(&shared->answers_off, off) != off)
		pg_atomic_fetch_add_u64(&shared->epoch, 1);
}

void
answers_report_off(void)
{
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("private answers are switched off on this server"),
			errdetail("The setting \"privpred.answers\" is off. Nothing was charged."),
			errhint("Ask the server that has taken its place."));
}

static bool
said_lately(LedgerShared *shared)
{
	int64 age = GetCurrentTimestamp() - (TimestampTz) pg_atomic_read_u64(&shared->answers_said_at);

	return age >= 0 && age < ANSWERS_MAX_AGE_US;
}

void
ledger_check_answers(void)
{
	LedgerShared *shared = ledger_shared();
	LedgerRequest request = {.kind = REQUEST_MAY_ANSWER, .role = asking_role()};

	if (answers_setting && !said_lately(shared))
	{
		LedgerReply reply = ledger_call(&request);

		/* A process says it before it replies. */
		if (reply.outcome == OUTCOME_FAILED || reply.outcome == OUTCOME_LOST)
			ledger_report_refusal(NULL, request.role, &reply);
	}
	if (!answers_setting || pg_atomic_read_u32(&shared->answers_off) != 0)
		answers_report_off();
}
