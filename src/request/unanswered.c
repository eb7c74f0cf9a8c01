/*
 * unanswered.c
 *		NULL in place of an error, and the warning about it.
 *
 * Whether a question is refused is decided where the error would be raised, so no
 * error is caught here.  The warning is due when the statement ends: when its
 * executor ends or, if there is none (PL/pgSQL evaluates simple expressions without),
 * before the transaction commits.  The hook is there for the rest of a statement only.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "request/foresee.h"
#include "server/plan_find.h"

#define WHY_SIZE 512

/* Of one kind: how many, and why the first. */
typedef struct Unanswered
{
	int64 count;
	char  why[WHY_SIZE];
} Unanswered;

int on_refusal = ON_REFUSAL_ERROR;

static TimestampTz statement; /* that they belong to */
static Unanswered  unpaid;
static Unanswered  problems;

static ExecutorEnd_hook_type previous_end = NULL;
static bool					 hooked = false;

static void at_executor_end(QueryDesc *query);

/* Somebody else may have put a hook before ours; then it stays, and does nothing. */
static void
clear(void)
{
	unpaid.count = 0;
	problems.count = 0;
	if (hooked && ExecutorEnd_hook == at_executor_end)
	{
		ExecutorEnd_hook = previous_end;
		hooked = false;
	}
}

static char *
in_words(const Unanswered *unanswered, const char *one, const char *several)
{
	bool ends = unanswered->why[strlen(unanswered->why) - 1] == '.';

	return psprintf(INT64_FORMAT " %s: %s%s", unanswered->count,
					unanswered->count == 1 ? one : several, unanswered->why, ends ? "" : ".");
}

static void
warn(void)
{
	int64 count = unpaid.count + problems.count;
	char *about_unpaid = "";
	char *about_problems = "";

	if (count == 0)
		return;
	if (unpaid.count > 0)
		about_unpaid = in_words(&unpaid, "could not be paid for", "could not be paid for");
	if (problems.count > 0)
		about_problems = in_words(&problems, "question cannot be answered",
								  "questions cannot be answered, the first because");
	clear();
	ereport(
		WARNING,
		(errcode(ERRCODE_WARNING),
		 errmsg_plural("%lld private answer was refused and is NULL",
					   "%lld private answers were refused and are NULL", count, (long long) count),
		 errdetail("%s%s%s", about_unpaid, *about_unpaid && *about_problems ? " " : "",
				   about_problems),
		 errhint("With privpred.on_refusal = 'error', the first of them is an error.")));
}

/* Of the statement itself; a function within it may run many more. */
static void
at_executor_end(QueryDesc *query)
{
	bool outermost = ActivePortal == NULL || portal_runs(ActivePortal, query->estate->es_query_cxt);

	if (previous_end != NULL)
		previous_end(query);
	else
		standard_ExecutorEnd(query);
	if (outermost)
		warn();
}

static void
count(Unanswered *unanswered, const char *why)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();

	if (statement != now)
		warn();
	statement = now;
	if (unanswered->count++ == 0)
		strlcpy(unanswered->why, why, pg_mbcliplen(why, strlen(why), WHY_SIZE - 1) + 1);
	if (!hooked)
	{
		previous_end = ExecutorEnd_hook;
		ExecutorEnd_hook = at_executor_end;
		hooked = true;
	}
}

void
unanswered_unpaid(const char *why)
{
	count(&unpaid, why);
}

void
unanswered_problem(const char *why)
{
	count(&problems, why);
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
		warn();
	else if (event == XACT_EVENT_ABORT)
		clear();
}

void
unanswered_init(void)
{
	static const struct config_enum_entry choices[] = {
		{"error", ON_REFUSAL_ERROR, false}, {"null", ON_REFUSAL_NULL, false}, {NULL, 0, false}};

	DefineCustomEnumVariable(
		"privpred.on_refusal", "What becomes of a question that is refused.",
		"NULL is for questions that cannot be paid for or are not valid; a warning says how many.",
		&on_refusal, ON_REFUSAL_ERROR, choices, PGC_USERSET, 0, NULL, NULL, NULL);
	RegisterXactCallback(at_transaction_end, NULL);
}
