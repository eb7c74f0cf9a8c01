/*
 * refusal.c
 *		Errors for requests that the ledger's process did not grant.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

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

static void
report_exhausted(const LedgerPrice *price, const LedgerReply *reply)
{
	static const struct
	{
		const char *what;
		const char *when;
		const char *hint;
	} bounds[] = {
		[BOUND_ROLE] =
			{"privacy budget", "",
			 "The owner of the relation can grant more with privpred.grant_budget(). See "
			 "privpred.budgets."},
		[BOUND_WINDOW] =
			{"privacy budget", " for the present window",
			 "Wait for the next window, or ask the owner of the relation for more. See "
			 "privpred.budgets."},
		[BOUND_LIFETIME] =
			{"lifetime privacy budget", "",
			 "It does not refresh. The owner of the relation can raise lifetime_epsilon with "
			 "privpred.grant_budget(). See privpred.budgets."},
		[BOUND_DELTA] = {"delta of the privacy budget", "",
						 "It does not refresh. The owner of the relation can grant more with "
						 "privpred.grant_budget(..., delta => ...)."},
	};
	bool by_delta = reply->bound == BOUND_DELTA;

	if (reply->paid.account_role == CAP_ROLE)
		ereport(
			ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("%s of the relation behind model \"%s\" is exhausted for all roles together",
					by_delta ? "delta" : "privacy budget", price->model_name),
			 errdetail("%s", exhausted_detail(reply, price->kind)),
			 by_delta
				 ? errhint("It does not refresh. The owner of the relation can raise it with "
						   "privpred.protect(..., delta_cap => ...).")
				 : errhint("The owner of the relation can raise its cap with privpred.protect(..., "
						   "epsilon_cap => ...).")));
	ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
					errmsg("%s of role \"%s\"%s is exhausted for model \"%s\"",
						   bounds[reply->bound].what, role_name(reply->paid.account_role),
						   bounds[reply->bound].when, price->model_name),
					errdetail("%s", exhausted_detail(reply, price->kind)),
					errhint("%s", bounds[reply->bound].hint)));
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

static void
report_stream_at_end(const char *model, LedgerOutcome outcome)
{
	bool by_answers = outcome == OUTCOME_STREAM_ANSWERS;

	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 by_answers ? errmsg("the stream on model \"%s\" has no answers left", model)
						: errmsg("the stream on model \"%s\" is used up", model),
			 by_answers
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
