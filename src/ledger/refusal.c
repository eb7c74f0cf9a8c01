/*
 * refusal.c
 *		Errors for requests that the ledger's process did not grant.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "account/accountant.h"
#include "ledger/asking.h"

static const char *
role_name(Oid role)
{
	const char *name = GetUserNameFromId(role, true);

	return name != NULL ? name : "?";
}

/* What one purchase costs, what is left and how much more it takes, in the account's units. */
static char *
exhausted_detail(const LedgerReply *reply, ChargeKind kind)
{
	static const char *const bought[] = {[CHARGE_PER_ANSWER] = "One answer",
										 [CHARGE_PER_STREAM] = "A stream",
										 [CHARGE_ONCE] = "The model"};
	EpsilonUnits			 left = Max(reply->left, 0);
	char					 charge[EPSILON_TEXT_SIZE];
	char					 available[EPSILON_TEXT_SIZE];
	char					 missing[EPSILON_TEXT_SIZE];
	StringInfoData			 detail;

	if (reply->bound == BOUND_DELTA)
		return psprintf(
			"It costs a delta of %g; %g is spent, of %g that mechanisms may spend (half of the "
			"budget's delta).",
			reply->delta_charge, reply->delta_spent, reply->delta_limit);
	initStringInfo(&detail);
	appendStringInfo(&detail, "%s costs epsilon %s", bought[kind],
					 epsilon_to_text(reply->paid.charge, charge));
	if (reply->order != RENYI_ORDER_INFINITE)
		appendStringInfo(&detail, " at Rényi order %g", renyi_order_to_double(reply->order));
	appendStringInfo(&detail, "; %s is left, and %s more would be needed.",
					 epsilon_to_text(left, available),
					 epsilon_to_text(reply->paid.charge - left, missing));
	if (reply->reserved > 0)
		appendStringInfo(&detail,
						 " Epsilon %s is reserved by running statements or was lost in a crash.",
						 epsilon_to_text(reply->reserved, charge));
	if (reply->bound == BOUND_WINDOW)
		appendStringInfo(&detail, " The budget refreshes at %s.",
						 timestamptz_to_str(reply->window_end));
	return detail.data;
}

static char *
exhausted_message(const LedgerPrice *price, const LedgerReply *reply)
{
	static const struct
	{
		const char *what;
		const char *when;
	} bounds[] = {
		[BOUND_ROLE] = {"privacy budget", ""},
		[BOUND_WINDOW] = {"privacy budget", " for the present window"},
		[BOUND_LIFETIME] = {"lifetime privacy budget", ""},
		[BOUND_DELTA] = {"delta of the privacy budget", ""},
	};

	if (reply->paid.account_role == CAP_ROLE)
		return psprintf(
			"%s of the relation behind model \"%s\" is exhausted for all roles together",
			reply->bound == BOUND_DELTA ? "delta" : "privacy budget", price->model_name);
	return psprintf("%s of role \"%s\"%s is exhausted for model \"%s\"", bounds[reply->bound].what,
					role_name(reply->paid.account_role), bounds[reply->bound].when,
					price->model_name);
}

/* What the statement has for its money: answers that the session remembers. */
static char *
paid_detail(const LedgerPrice *price, int64 answers)
{
	if (answers == 0 || price->kind != CHARGE_PER_ANSWER)
		return "";
	if (price->remembered == 0)
		return psprintf(" This statement has paid for " INT64_FORMAT " %s.", answers,
						answers == 1 ? "answer" : "answers");
	if (answers == 1)
		return " This statement has paid for 1 answer, which is free if it is asked for again in "
			   "this session.";
	if (answers <= price->remembered)
		return psprintf(" This statement has paid for " INT64_FORMAT
						" answers, which are free if they are asked for again in this session.",
						answers);
	return psprintf(" This statement has paid for " INT64_FORMAT
					" answers, of which the last " INT64_FORMAT
					" are free if they are asked for again in this session.",
					answers, price->remembered);
}

static void
report_exhausted(const LedgerPrice *price, const LedgerReply *reply, int64 answers)
{
	static const char *const hints[] = {
		[BOUND_ROLE] = "The owner of the relation can grant more with privpred.grant_budget(). See "
					   "privpred.budgets.",
		[BOUND_WINDOW] = "Wait for the next window, or ask the owner of the relation for more. See "
						 "privpred.budgets.",
		[BOUND_LIFETIME] =
			"It does not refresh. The owner of the relation can raise lifetime_epsilon with "
			"privpred.grant_budget(). See privpred.budgets.",
		[BOUND_DELTA] = "It does not refresh. The owner of the relation can grant more with "
						"privpred.grant_budget(..., delta => ...).",
	};
	static const char *const cap_hints[] = {
		"The owner of the relation can raise its cap with privpred.protect(..., epsilon_cap => "
		"...).",
		"It does not refresh. The owner of the relation can raise it with privpred.protect(..., "
		"delta_cap => ...).",
	};

	ereport(
		ERROR,
		(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
		 errmsg("%s", exhausted_message(price, reply)),
		 errdetail("%s%s", exhausted_detail(reply, price->kind), paid_detail(price, answers)),
		 errhint("%s", reply->paid.account_role == CAP_ROLE ? cap_hints[reply->bound == BOUND_DELTA]
															: hints[reply->bound])));
}

/* Not a matter of how much is left. */
static void
report_cannot_pay(const LedgerPrice *price, const LedgerReply *reply)
{
	bool cap = reply->paid.account_role == CAP_ROLE;
	bool no_delta = reply->delta_limit == 0;

	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 cap ? errmsg("the cap of the relation cannot pay for model \"%s\"", price->model_name)
			 : errmsg("privacy budget of role \"%s\" cannot pay for model \"%s\"",
					  role_name(reply->paid.account_role), price->model_name),
		 no_delta ? errdetail("Its answers are private with a delta, and the budget has none.")
				  : errdetail("The budget is pure, and the model's noise has no finite epsilon."),
		 cap ? errhint("The owner of the relation can give the cap a delta with "
					   "privpred.protect(..., epsilon_cap => ..., delta_cap => 1e-6).")
		 : no_delta
			 ? errhint("The owner of the relation can give it one with privpred.grant_budget(..., "
					   "delta => 1e-6).")
			 : errhint("The owner of the relation can grant it again with privpred.grant_budget(), "
					   "which then chooses a finite order.")));
}

static void
report_no_budget(const LedgerPrice *price, Oid asker, LedgerOutcome outcome)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
		 errmsg("role \"%s\" has no privacy budget for model \"%s\"", role_name(asker),
				price->model_name),
		 outcome == OUTCOME_REVOKED	  ? errdetail("Its budget was revoked.")
		 : outcome == OUTCOME_EXPIRED ? errdetail("Its budget has expired.")
									  : 0,
		 errhint("The owner of the relation can grant one with privpred.grant_budget(); it counts "
				 "once that transaction has committed.")));
}

static void
report_no_stream(const char *model, Oid role)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("role \"%s\" has no open stream on model \"%s\"", role_name(role), model),
		 errdetail("A stream answers for one version of a model; retraining ends it."),
		 errhint(
			 "Open one with privpred.open_stream('%s', unstable => ..., epsilon => ..., delta => "
			 "...). See privpred.streams.",
			 model)));
}

static char *
stream_end_message(const char *model, LedgerOutcome outcome)
{
	return psprintf(outcome == OUTCOME_STREAM_ANSWERS
						? "the stream on model \"%s\" has no answers left"
						: "the stream on model \"%s\" is used up",
					model);
}

static void
report_stream_at_end(const char *model, LedgerOutcome outcome)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("%s", stream_end_message(model, outcome)),
			 outcome == OUTCOME_STREAM_ANSWERS
				 ? errdetail("All answers that it was opened for are given, or reserved by running "
							 "statements.")
				 : errdetail("It has given as many unstable answers as it was bought for."),
			 errhint("Open another with privpred.open_stream(), which is charged anew. See "
					 "privpred.streams.")));
}

static void
report_stream(const char *model, Oid asker, const LedgerReply *reply)
{
	const char *payer = role_name(reply->paid.account_role);

	if (reply->outcome == OUTCOME_NO_STREAM)
		report_no_stream(model, asker);
	if (reply->outcome == OUTCOME_STREAM_EXISTS)
		ereport(
			ERROR,
			(errcode(ERRCODE_DUPLICATE_OBJECT),
			 errmsg("a stream on model \"%s\" is open already", model),
			 errdetail("It was paid for by the budget of role \"%s\".", payer),
			 errhint(
				 "Use it, or end it with privpred.close_stream() first. Nothing was charged.")));
	if (reply->outcome == OUTCOME_STREAM_OF_OTHERS)
		ereport(
			ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("the stream on model \"%s\" was opened by somebody else", model),
			 errhint("Whoever opened it can close it, or role \"%s\", whose budget paid.", payer)));
	if (reply->outcome == OUTCOME_STREAM_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("model \"%s\" has changed meanwhile", model),
				 errdetail("A stream answers for one version of a model, as it was committed."),
				 errhint("Try again once whatever trains or drops the model has ended.")));
	report_stream_at_end(model, reply->outcome);
}

void
ledger_report_copy(void)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("the privacy ledger of this database is a copy"),
		 errdetail(
			 "It was restored from a dump or cloned from a template, so spending since then may "
			 "be missing."),
		 errhint(
			 "A superuser can accept it with SELECT privpred.adopt_ledger(), after comparing it "
			 "with the original.")));
}

/* What lies in the state of the ledger, not of a budget. */
static void
report_trouble(const LedgerReply *reply)
{
	if (reply->outcome == OUTCOME_LOCKED)
		ereport(
			ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("the privacy ledger is locked by another transaction"),
			 errdetail("Nothing was charged."),
			 errhint(
				 "A transaction that changes budgets must commit before the budget can be used, "
				 "also in the same session.")));
	if (reply->outcome == OUTCOME_FAILED)
		ereport(ERROR,
				(errcode(reply->sqlstate), errmsg("the privacy ledger could not record the charge"),
				 errdetail("Nothing was charged."),
				 errhint("The server log has the error of the \"privpred ledger\" process.")));
	ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR), errmsg("the privacy ledger became unavailable"),
					errdetail("No answer was given. The charge may have been recorded."),
					errhint("Try again.")));
}

/* How the error begins if a budget or stream is used up; NULL if it is anything else. */
static char *
end_message(const LedgerPrice *price, const LedgerReply *reply)
{
	switch (reply->outcome)
	{
		case OUTCOME_EXHAUSTED:
			return exhausted_message(price, reply);
		case OUTCOME_STREAM_USED_UP:
		case OUTCOME_STREAM_ANSWERS:
			return stream_end_message(price->model_name, reply->outcome);
		default:
			return NULL;
	}
}

void
ledger_report_refusal(const LedgerPrice *price, Oid asker, const LedgerReply *reply)
{
	switch (reply->outcome)
	{
		case OUTCOME_GRANTED:
			break;
		case OUTCOME_EXHAUSTED:
			report_exhausted(price, reply, statement_paid());
			break;
		case OUTCOME_CANNOT_PAY:
			report_cannot_pay(price, reply);
			break;
		case OUTCOME_NO_BUDGET:
		case OUTCOME_REVOKED:
		case OUTCOME_EXPIRED:
			report_no_budget(price, asker, reply->outcome);
			break;
		case OUTCOME_NO_STREAM:
		case OUTCOME_STREAM_USED_UP:
		case OUTCOME_STREAM_ANSWERS:
		case OUTCOME_STREAM_VERSION:
		case OUTCOME_STREAM_EXISTS:
		case OUTCOME_STREAM_OF_OTHERS:
			report_stream(price->model_name, asker, reply);
			break;
		case OUTCOME_CEILING:
			ceiling_report(reply->ceiling);
			break;
		case OUTCOME_OFF:
			answers_report_off();
			break;
		case OUTCOME_FOREIGN:
			ledger_report_copy();
			break;
		case OUTCOME_LOCKED:
		case OUTCOME_FAILED:
		case OUTCOME_LOST:
			report_trouble(reply);
			break;
	}
}

bool
ledger_call_granted(const LedgerPrice *price, const LedgerRequest *request, LedgerReply *reply,
					UsedUp *used_up)
{
	uint64 epoch = ledger_epoch();
	char  *message;

	if (used_up != NULL && used_up->message != NULL && used_up->role == request->role &&
		used_up->epoch == epoch && !ledger_time_has_come(used_up->until))
		return false;
	*reply = ledger_call_counted(price, request);
	message = used_up != NULL ? end_message(price, reply) : NULL;
	if (message == NULL)
	{
		ledger_report_refusal(price, request->role, reply);
		return true;
	}
	if (used_up->message != NULL)
		pfree(used_up->message);
	used_up->message = MemoryContextStrdup(used_up->context, message);
	used_up->role = request->role;
	used_up->epoch = epoch;
	used_up->until = GetCurrentTimestamp() + LEASE_MAX_AGE_US;
	return false;
}
