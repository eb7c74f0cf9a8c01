/*
 * lease.c
 *		The asking side: reserve answers ahead, hand out receipts.
 *
 * A lease asks for one answer first and then for as many as it has used, so
 * that a statement which takes a single answer pays for one, a crash costs at
 * most what the statement had already spent, and a million rows need a hundred
 * round trips.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "ledger/internal.h"

struct LedgerReceipt
{
	bool		order_is_infinite;
};

struct LedgerLease
{
	LedgerReceipt receipt;
	LedgerPrice price;
	Oid			payer;
	LedgerReply block;			/* what was last granted; granted = 0: nothing */
	int32		unused;
	int64		used;
	uint64		epoch;			/* as it was before the block was asked for */
	TimestampTz expires;
	MemoryContextCallback at_reset;
};

/* Answers of the current top-level statement, over all its call sites. */
static TimestampTz statement_start = 0;
static int64 statement_answers = 0;

bool
ledger_order_is_infinite(const LedgerReceipt *receipt)
{
	return receipt->order_is_infinite;
}

/*
 * Gives back what is left of the block.  Nothing of it was released: an
 * answer counts as used before it is computed.  How much is returned says how
 * many answers were taken, which the caller knows, and nothing about the data.
 */
static void
drop_block(LedgerLease *lease)
{
	LedgerRequest request = {0};
	const LedgerReply *block = &lease->block;

	/* A block of one that is used up is closed already. */
	if (block->granted > 1 || lease->unused > 0)
	{
		request.kind = block->granted > 1 ? REQUEST_SETTLE : REQUEST_GIVE_BACK;
		request.role = lease->payer;
		request.relation_id = lease->price.relation_id;
		request.model_id = lease->price.model_id;
		request.version = lease->price.version;
		request.lease = block->lease;
		request.answers = lease->unused;
		request.generation = block->generation;
		request.account_role = block->account_role;
		request.account_id = block->account_id;
		request.cap_id = block->cap_id;
		request.charge = block->charge;
		request.cap_charge = block->cap_charge;
		request.window = block->window;
		ledger_post(&request);
	}
	lease->block.granted = 0;
	lease->block.lease = 0;
	lease->unused = 0;
}

static void
lease_reset(void *arg)
{
	drop_block((LedgerLease *) arg);
}

LedgerLease *
ledger_open(MemoryContext context, const LedgerPrice *price)
{
	LedgerLease *lease;

	PreventCommandDuringRecovery("private_predict()");
	(void) ledger_shared();

	lease = MemoryContextAllocZero(context, sizeof(LedgerLease));
	lease->price = *price;
	lease->price.model_name = MemoryContextStrdup(context, price->model_name);
	lease->payer = GetOuterUserId();
	lease->at_reset.func = lease_reset;
	lease->at_reset.arg = lease;
	MemoryContextRegisterResetCallback(context, &lease->at_reset);
	return lease;
}

/* What one answer costs, what is left and what is missing, in the account's own terms. */
static char *
exhausted_detail(const LedgerReply *reply)
{
	char		requested[EPSILON_TEXT_SIZE];
	char		left[EPSILON_TEXT_SIZE];
	char		missing[EPSILON_TEXT_SIZE];
	char		reserved[EPSILON_TEXT_SIZE];
	StringInfoData detail;

	initStringInfo(&detail);
	appendStringInfo(&detail, "One answer costs epsilon %s", epsilon_to_text(reply->charge, requested));
	if (reply->order != RENYI_ORDER_INFINITE)
		appendStringInfo(&detail, " at Rényi order %g", renyi_order_to_double(reply->order));
	appendStringInfo(&detail, ", left is %s, missing is %s",
					 epsilon_to_text(Max(reply->left, 0), left),
					 epsilon_to_text(reply->charge - Max(reply->left, 0), missing));
	if (reply->reserved > 0)
		appendStringInfo(&detail, "; epsilon %s is reserved by running statements or lost in a crash",
						 epsilon_to_text(reply->reserved, reserved));
	appendStringInfoChar(&detail, '.');
	if (reply->bound == BOUND_WINDOW)
		appendStringInfo(&detail, " The budget refreshes at %s.",
						 timestamptz_to_str(reply->window_end));
	return detail.data;
}

static void
report_exhausted(const LedgerLease *lease, const LedgerReply *reply)
{
	const char *model = lease->price.model_name;
	char	   *role = GetUserNameFromId(reply->account_role, true);
	char	   *message = NULL;
	const char *hint = NULL;

	if (role == NULL)
		role = "?";
	switch (reply->bound)
	{
		case BOUND_ROLE:
			message = psprintf("privacy budget of role \"%s\" is exhausted for model \"%s\"",
							   role, model);
			hint = "The owner of the relation can grant more with privpred.grant_budget(). See privpred.budgets.";
			break;
		case BOUND_WINDOW:
			message = psprintf("privacy budget of role \"%s\" for the present window is exhausted for model \"%s\"",
							   role, model);
			hint = "Wait for the next window, or ask the owner of the relation for more. See privpred.budgets.";
			break;
		case BOUND_LIFETIME:
			message = psprintf("lifetime privacy budget of role \"%s\" is exhausted for model \"%s\"",
							   role, model);
			hint = "It does not refresh. The owner of the relation can raise lifetime_epsilon with privpred.grant_budget(). See privpred.budgets.";
			break;
		case BOUND_RELATION:
			message = psprintf("privacy budget of the relation behind model \"%s\" is exhausted for all roles together",
							   model);
			hint = "The owner of the relation can raise its cap with privpred.protect(..., epsilon_cap => ...).";
			break;
	}
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("%s", message),
			 errdetail("%s", exhausted_detail(reply)),
			 errhint("%s", hint)));
}

static void
report_no_budget(const LedgerLease *lease, const LedgerReply *reply)
{
	char	   *who = GetUserNameFromId(lease->payer, true);

	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("role \"%s\" has no privacy budget for model \"%s\"",
					who ? who : "?", lease->price.model_name),
			 reply->outcome == OUTCOME_REVOKED ? errdetail("Its budget was revoked.") :
			 reply->outcome == OUTCOME_EXPIRED ? errdetail("Its budget has expired.") : 0,
			 errhint("The owner of the relation can grant one with privpred.grant_budget(); it counts once that transaction has committed.")));
}

/* Any outcome but a grant ends here. */
static void
report_refusal(const LedgerLease *lease, const LedgerReply *reply)
{
	switch (reply->outcome)
	{
		case OUTCOME_GRANTED:
			break;
		case OUTCOME_EXHAUSTED:
			report_exhausted(lease, reply);
			break;
		case OUTCOME_NO_BUDGET:
		case OUTCOME_REVOKED:
		case OUTCOME_EXPIRED:
			report_no_budget(lease, reply);
			break;
		case OUTCOME_LOCKED:
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("the privacy ledger is locked by another transaction"),
					 errdetail("Nothing was charged."),
					 errhint("A transaction that changes budgets must commit before the budget can be used, also in the same session.")));
			break;
		case OUTCOME_FOREIGN:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the privacy ledger of this database is a copy"),
					 errdetail("It was restored from a dump or cloned from a template, so spending since then may be missing."),
					 errhint("A superuser can accept it with SELECT privpred.adopt_ledger(), after comparing it with the original.")));
			break;
		case OUTCOME_FAILED:
			ereport(ERROR,
					(errcode(reply->sqlstate),
					 errmsg("the privacy ledger could not record the charge"),
					 errdetail("Nothing was charged."),
					 errhint("The server log has the error of the \"privpred ledger\" process.")));
			break;
		case OUTCOME_LOST:
			ereport(ERROR,
					(errcode(ERRCODE_SYSTEM_ERROR),
					 errmsg("the privacy ledger became unavailable"),
					 errdetail("No answer was given. The charge may have been recorded."),
					 errhint("Try again.")));
			break;
	}
}

static void
request_block(LedgerLease *lease, int64 allowed)
{
	LedgerRequest request = {0};
	LedgerReply reply;
	uint64		epoch = pg_atomic_read_u64(&ledger_shared()->epoch);

	request.kind = REQUEST_LEASE;
	request.role = lease->payer;
	request.relation_id = lease->price.relation_id;
	request.model_id = lease->price.model_id;
	request.version = lease->price.version;
	request.epsilon = lease->price.epsilon;
	request.finite = ledger_price_shape(&lease->price, false);
	request.infinite = ledger_price_shape(&lease->price, true);
	request.want = Max(1, Min(Min(lease->used, allowed), LEASE_MAX_ANSWERS));
	request.lease = lease->block.lease;

	reply = ledger_call(&request);
	report_refusal(lease, &reply);

	lease->block = reply;
	lease->unused = reply.granted;
	lease->epoch = epoch;
	lease->expires = Min(reply.valid_until, GetCurrentTimestamp() + LEASE_MAX_AGE_US);
	lease->receipt.order_is_infinite = reply.order_is_infinite;
}

/* Answers that the statement may still take; raises if there is none. */
static int64
statement_allowance(LedgerLease *lease)
{
	TimestampTz start = GetCurrentStatementStartTimestamp();
	int64		limit = ledger_settings().max_answers_per_statement;

	if (start != statement_start)
	{
		statement_start = start;
		statement_answers = 0;
	}

	/* A cursor is one statement, however it is fetched. */
	if (unlikely(Max(statement_answers, lease->used) >= limit))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("statement takes more than " INT64_FORMAT " private answers", limit),
				 errdetail("Each answer is charged to a privacy budget. The answers given so far stay charged."),
				 errhint("Add a WHERE or LIMIT clause, or raise privpred.max_answers_per_statement (a superuser may have set privpred.max_answers_ceiling).")));
	return limit - Max(statement_answers, lease->used);
}

const LedgerReceipt *
ledger_spend(LedgerLease *lease)
{
	LedgerShared *shared = ledger_shared();
	int64		allowed = statement_allowance(lease);

	/* A plpgsql function may change roles under a call site. */
	if (unlikely(lease->payer != GetOuterUserId()))
	{
		drop_block(lease);
		lease->payer = GetOuterUserId();
	}

	for (;;)
	{
		if (likely(lease->unused > 0))
		{
			if (likely(lease->epoch == pg_atomic_read_u64(&shared->epoch) &&
					   GetCurrentTimestamp() < lease->expires))
				break;
			/* Revoked, expired or merely old: ask again. */
			drop_block(lease);
		}
		CHECK_FOR_INTERRUPTS();
		request_block(lease, allowed);
	}

	lease->unused--;
	lease->used++;
	statement_answers++;
	return &lease->receipt;
}
