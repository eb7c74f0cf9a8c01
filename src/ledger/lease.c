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

#include "draw/receipt_maker.h"
#include "ledger/asking.h"
#include "server/session.h"

struct LedgerLease
{
	Receipt				  receipt;
	LedgerPrice			  price;
	Oid					  payer;
	LedgerReply			  block; /* what was last granted; granted = 0: nothing */
	int32				  unused;
	int64				  used;
	int64				  in_a_row;		  /* of those, by the present payer */
	bool				  several_payers; /* not one account has paid for all that was used */
	uint64				  epoch;		  /* as it was before the block was asked for */
	TimestampTz			  expires;
	MemoryContextCallback at_reset;
};

/* Answers of the current top-level statement, over all its call sites. */
static TimestampTz statement_start = 0;
static int64	   statement_answers = 0;

void
ledger_mark_paid(const LedgerPrice *price, const LedgerLease *lease)
{
	LedgerRequest request = {.kind = REQUEST_MARK_PAID};

	ledger_lease_describe(lease, &request);
	ledger_request_describe(&request, price, lease->payer);
	if (!lease->several_payers)
		ledger_call_mark_paid(price, &request);
}

void
ledger_call_mark_paid(const LedgerPrice *price, const LedgerRequest *request)
{
	if (ledger_call(request).outcome != OUTCOME_GRANTED)
		ereport(WARNING, (errmsg("the privacy ledger did not record that model \"%s\" is paid for",
								 price->model_name),
						  errdetail("Its first use will be charged.")));
}

const Receipt *
ledger_owner_receipt(void)
{
	static const Receipt receipt = {.order_is_infinite = false};

	return &receipt;
}

void
ledger_lease_describe(const LedgerLease *lease, LedgerRequest *request)
{
	ledger_request_describe(request, &lease->price, lease->payer);
	request->generation = lease->block.generation;
	request->account_role = lease->block.account_role;
	request->account_id = lease->block.account_id;
	request->cap_id = lease->block.cap_id;
}

/*
 * Gives back what is left of the block.  Nothing of it was released: an
 * answer counts as used before it is computed.  How much is returned says how
 * many answers were taken, which the caller knows, and nothing about the data.
 */
static void
drop_block(LedgerLease *lease)
{
	LedgerRequest	   request = {0};
	const LedgerReply *block = &lease->block;

	/* A block of one that is used up is closed already. */
	if (block->granted > 1 || lease->unused > 0)
	{
		request.kind = block->granted > 1 ? REQUEST_SETTLE : REQUEST_GIVE_BACK;
		ledger_lease_describe(lease, &request);
		request.lease = block->lease;
		request.fresh = lease->used == 0;
		request.answers = lease->unused;
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
	lease->payer = asking_role();
	lease->at_reset.func = lease_reset;
	lease->at_reset.arg = lease;
	MemoryContextRegisterResetCallback(context, &lease->at_reset);
	return lease;
}

/* What one answer costs, what is left and what is missing, in the account's own terms. */
static char *
exhausted_detail(const LedgerReply *reply, ChargeKind kind)
{
	char		   requested[EPSILON_TEXT_SIZE];
	char		   left[EPSILON_TEXT_SIZE];
	char		   missing[EPSILON_TEXT_SIZE];
	char		   reserved[EPSILON_TEXT_SIZE];
	StringInfoData detail;

	initStringInfo(&detail);
	if (reply->bound == BOUND_DELTA)
	{
		appendStringInfo(
			&detail,
			"It costs a delta of %g; %g is spent, of %g that mechanisms may spend (half of the budget's delta).",
			reply->delta_charge, reply->delta_spent, reply->delta_limit);
		return detail.data;
	}
	appendStringInfo(&detail, "%s costs epsilon %s",
					 kind == CHARGE_PER_ANSWER	 ? "One answer"
					 : kind == CHARGE_PER_STREAM ? "A stream"
												 : "The model",
					 epsilon_to_text(reply->charge, requested));
	if (reply->order != RENYI_ORDER_INFINITE)
		appendStringInfo(&detail, " at Rényi order %g", renyi_order_to_double(reply->order));
	appendStringInfo(&detail, ", left is %s, missing is %s",
					 epsilon_to_text(Max(reply->left, 0), left),
					 epsilon_to_text(reply->charge - Max(reply->left, 0), missing));
	if (reply->reserved > 0)
		appendStringInfo(&detail,
						 "; epsilon %s is reserved by running statements or lost in a crash",
						 epsilon_to_text(reply->reserved, reserved));
	appendStringInfoChar(&detail, '.');
	if (reply->bound == BOUND_WINDOW)
		appendStringInfo(&detail, " The budget refreshes at %s.",
						 timestamptz_to_str(reply->window_end));
	return detail.data;
}

static void
report_exhausted(const LedgerPrice *price, const LedgerReply *reply)
{
	const char *model = price->model_name;
	char	   *role = GetUserNameFromId(reply->account_role, true);
	char	   *message = NULL;
	const char *hint = NULL;

	if (role == NULL)
		role = "?";
	switch (reply->bound)
	{
		case BOUND_ROLE:
			message = psprintf("privacy budget of role \"%s\" is exhausted for model \"%s\"", role,
							   model);
			hint =
				"The owner of the relation can grant more with privpred.grant_budget(). See privpred.budgets.";
			break;
		case BOUND_WINDOW:
			message = psprintf(
				"privacy budget of role \"%s\" for the present window is exhausted for model \"%s\"",
				role, model);
			hint =
				"Wait for the next window, or ask the owner of the relation for more. See privpred.budgets.";
			break;
		case BOUND_LIFETIME:
			message =
				psprintf("lifetime privacy budget of role \"%s\" is exhausted for model \"%s\"",
						 role, model);
			hint =
				"It does not refresh. The owner of the relation can raise lifetime_epsilon with privpred.grant_budget(). See privpred.budgets.";
			break;
		case BOUND_RELATION:
			message = psprintf(
				"privacy budget of the relation behind model \"%s\" is exhausted for all roles together",
				model);
			hint =
				"The owner of the relation can raise its cap with privpred.protect(..., epsilon_cap => ...).";
			break;
		case BOUND_DELTA:
			if (reply->account_role == CAP_ROLE)
			{
				message = psprintf(
					"delta of the relation behind model \"%s\" is exhausted for all roles together",
					model);
				hint =
					"It does not refresh. The owner of the relation can raise it with privpred.protect(..., delta_cap => ...).";
			}
			else
			{
				message = psprintf(
					"delta of the privacy budget of role \"%s\" is exhausted for model \"%s\"",
					role, model);
				hint =
					"It does not refresh. The owner of the relation can grant more with privpred.grant_budget(..., delta => ...).";
			}
			break;
	}
	ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("%s", message),
					errdetail("%s", exhausted_detail(reply, price->kind)), errhint("%s", hint)));
}

/* Not a matter of how much is left. */
static void
report_cannot_pay(const LedgerPrice *price, const LedgerReply *reply)
{
	bool  cap = reply->account_role == CAP_ROLE;
	char *role = GetUserNameFromId(reply->account_role, true);

	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 cap ? errmsg("the cap of the relation cannot pay for model \"%s\"", price->model_name)
			 : errmsg("privacy budget of role \"%s\" cannot pay for model \"%s\"",
					  role ? role : "?", price->model_name),
		 reply->delta_limit == 0
			 ? errdetail("Its answers are private with a delta, and the budget has none.")
			 : errdetail("The budget adds up epsilons, at which the model's noise has no price."),
		 cap ? errhint(
				   "The owner of the relation can give the cap a delta with privpred.protect(..., epsilon_cap => ..., delta_cap => 1e-6).")
		 : reply->delta_limit == 0
			 ? errhint(
				   "The owner of the relation can give it one with privpred.grant_budget(..., delta => 1e-6).")
			 : errhint(
				   "The owner of the relation can grant it again with privpred.grant_budget(), which then chooses another way of adding up.")));
}

static void
report_no_budget(const LedgerPrice *price, Oid asker, const LedgerReply *reply)
{
	char *who = GetUserNameFromId(asker, true);

	ereport(
		ERROR,
		(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
		 errmsg("role \"%s\" has no privacy budget for model \"%s\"", who ? who : "?",
				price->model_name),
		 reply->outcome == OUTCOME_REVOKED	 ? errdetail("Its budget was revoked.")
		 : reply->outcome == OUTCOME_EXPIRED ? errdetail("Its budget has expired.")
											 : 0,
		 errhint(
			 "The owner of the relation can grant one with privpred.grant_budget(); it counts once that transaction has committed.")));
}

void
ledger_report_refusal(const LedgerPrice *price, Oid asker, const LedgerReply *reply)
{
	switch (reply->outcome)
	{
		case OUTCOME_GRANTED:
			break;
		case OUTCOME_EXHAUSTED:
			report_exhausted(price, reply);
			break;
		case OUTCOME_CANNOT_PAY:
			report_cannot_pay(price, reply);
			break;
		case OUTCOME_NO_BUDGET:
		case OUTCOME_REVOKED:
		case OUTCOME_EXPIRED:
			report_no_budget(price, asker, reply);
			break;
		case OUTCOME_NO_STREAM:
		case OUTCOME_STREAM_USED_UP:
		case OUTCOME_STREAM_ANSWERS:
		case OUTCOME_STREAM_VERSION:
		case OUTCOME_STREAM_EXISTS:
		case OUTCOME_STREAM_OF_OTHERS:
			elog(ERROR, "a lease was refused because of a stream");
			break;
		case OUTCOME_CEILING:
			ceiling_report(reply->ceiling, true);
			break;
		case OUTCOME_LOCKED:
			ereport(
				ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("the privacy ledger is locked by another transaction"),
				 errdetail("Nothing was charged."),
				 errhint(
					 "A transaction that changes budgets must commit before the budget can be used, also in the same session.")));
			break;
		case OUTCOME_FOREIGN:
			ereport(
				ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the privacy ledger of this database is a copy"),
				 errdetail(
					 "It was restored from a dump or cloned from a template, so spending since then may be missing."),
				 errhint(
					 "A superuser can accept it with SELECT privpred.adopt_ledger(), after comparing it with the original.")));
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
					(errcode(ERRCODE_SYSTEM_ERROR), errmsg("the privacy ledger became unavailable"),
					 errdetail("No answer was given. The charge may have been recorded."),
					 errhint("Try again.")));
			break;
	}
}

void
ledger_request_describe(LedgerRequest *request, const LedgerPrice *price, Oid asker)
{
	request->role = asker;
	request->relation_id = price->relation_id;
	request->model_id = price->model_id;
	request->version = price->version;
	request->training_id = price->training_id;
	request->finite = price->finite;
	request->infinite = price->infinite;
}

/* Asks for what the lease is about; returns only if it is granted. */
static void
call_for_lease(LedgerLease *lease, LedgerRequest *request)
{
	uint64		epoch = ledger_epoch();
	LedgerReply reply;

	ledger_request_describe(request, &lease->price, lease->payer);
	reply = ledger_call_counted(&lease->price, request);
	ledger_report_refusal(&lease->price, lease->payer, &reply);

	lease->several_payers |=
		lease->block.account_id != 0 && lease->block.account_id != reply.account_id;
	lease->block = reply;
	lease->epoch = epoch;
	lease->expires = Min(reply.valid_until, GetCurrentTimestamp() + LEASE_MAX_AGE_US);
	lease->receipt.order_is_infinite = reply.order_is_infinite;
}

static void
request_block(LedgerLease *lease, int64 allowed)
{
	LedgerRequest request = {.kind = REQUEST_LEASE};

	request.want = Max(1, Min(Min(lease->in_a_row, allowed), LEASE_MAX_ANSWERS));
	request.taken = statement_taken(lease->used);
	request.lease = lease->block.lease;
	call_for_lease(lease, &request);
	lease->unused = lease->block.granted;
}

static void
begin_statement(void)
{
	TimestampTz start = GetCurrentStatementStartTimestamp();

	if (start != statement_start)
	{
		statement_start = start;
		statement_answers = 0;
	}
}

pg_noreturn static void
report_too_many(int64 limit, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("statement takes more than " INT64_FORMAT " private answers", limit),
			 errdetail("%s", detail),
			 errhint("Add a WHERE or LIMIT clause, or raise privpred.max_answers_per_statement.")));
}

/* A cursor is one statement, however it is fetched. */
int64
statement_taken(int64 used)
{
	begin_statement();
	return Max(statement_answers, used);
}

int64
statement_allowance(int64 used)
{
	int64 limit = ledger_settings().max_answers_per_statement;
	int64 taken = statement_taken(used);

	if (unlikely(taken >= limit))
		report_too_many(
			limit,
			"Each answer is charged to a privacy budget. The answers given so far stay charged.");
	return limit - taken;
}

void
statement_count_answer(void)
{
	statement_answers++;
}

void
ledger_check_allowance(int64 answers, Oid payer)
{
	int64 limit = ledger_settings().max_answers_per_statement;
	int64 ceiling = ceiling_look_up(asking_role(), payer);

	if (answers > limit - statement_taken(0))
		report_too_many(limit, "Each answer is charged to a privacy budget. Nothing was charged.");
	if (answers > ceiling - statement_taken(0))
		ceiling_report(ceiling, false);
}

/* ---------- charged once ---------- */

/*
 * That a role may use a version is remembered for as long as a lease would be
 * good, so that not every statement asks the ledger's process.
 */
typedef struct PaidRelease
{
	Oid			role;
	int64		training_id; /* 0: unused */
	uint64		epoch;
	TimestampTz expires;
	bool		order_is_infinite;
} PaidRelease;

#define PAID_RELEASES 16

static PaidRelease paid_releases[PAID_RELEASES];

static bool
still_good(uint64 epoch, TimestampTz expires)
{
	return epoch == ledger_epoch() && !ledger_time_has_come(expires);
}

static const Receipt *
use_release(LedgerLease *lease)
{
	int64		 training_id = lease->price.training_id;
	PaidRelease *paid = &paid_releases[training_id % PAID_RELEASES];
	Oid			 role = asking_role();

	if (lease->payer == role && still_good(lease->epoch, lease->expires))
		return &lease->receipt;
	lease->payer = role;
	if (paid->training_id != training_id || paid->role != role ||
		!still_good(paid->epoch, paid->expires))
	{
		LedgerRequest request = {.kind = REQUEST_RELEASE};

		CHECK_FOR_INTERRUPTS();
		call_for_lease(lease, &request);
		paid->role = role;
		paid->training_id = training_id;
		paid->epoch = lease->epoch;
		paid->expires = lease->expires;
		paid->order_is_infinite = lease->receipt.order_is_infinite;
	}
	lease->epoch = paid->epoch;
	lease->expires = paid->expires;
	lease->receipt.order_is_infinite = paid->order_is_infinite;
	return &lease->receipt;
}

const Receipt *
ledger_spend(LedgerLease *lease)
{
	LedgerShared *shared = ledger_shared();
	Oid			  role = asking_role();
	int64		  allowed;

	if (lease->price.kind == CHARGE_ONCE)
		return use_release(lease);
	allowed = statement_allowance(lease->used);

	/* Roles may change under a call site: each pays for what it asks. */
	if (unlikely(lease->payer != role))
	{
		drop_block(lease);
		lease->payer = role;
		lease->in_a_row = 0;
	}

	for (;;)
	{
		if (likely(lease->unused > 0))
		{
			if (likely(lease->epoch == pg_atomic_read_u64(&shared->epoch) &&
					   !ledger_time_has_come(lease->expires)))
				break;
			/* Revoked, expired or merely old: ask again. */
			drop_block(lease);
		}
		CHECK_FOR_INTERRUPTS();
		request_block(lease, allowed);
	}

	/* Other call sites may have used up what there was when the block was granted. */
	if (unlikely(statement_taken(lease->used) >= lease->block.ceiling))
		ceiling_report(lease->block.ceiling, true);
	lease->unused--;
	lease->used++;
	lease->in_a_row++;
	statement_count_answer();
	return &lease->receipt;
}
