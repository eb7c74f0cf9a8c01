/*
 * release.c
 *		What everybody pays for, exports and accuracies of models and descriptions of
 *		tables: the asking side.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "draw/receipt_maker.h"
#include "ledger/asking.h"
#include "server/session.h"

/* Those who cannot pay, in words. */
static char *
unable_names(const LedgerReply *reply)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < Min(reply->nunable, UNABLE_NAMED); i++)
	{
		char *role = GetUserNameFromId(reply->unable[i], true);

		appendStringInfoString(&names, i > 0 ? ", " : "");
		if (reply->unable[i] == CAP_ROLE)
			appendStringInfoString(&names, "the cap of the relation");
		else
			appendStringInfo(&names, "\"%s\"", role ? role : "?");
	}
	if (reply->nunable > UNABLE_NAMED)
		appendStringInfo(&names, " and %d more", reply->nunable - UNABLE_NAMED);
	return names.data;
}

/* Nobody can be charged later on for a relation that may never have been protected. */
static void
report_uncommitted(const LedgerReply *reply, const char *relation)
{
	if (reply->outcome == OUTCOME_NO_BUDGET)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("the protection of %s has not been committed", relation),
						errdetail("Budgets that are granted later start with the charge, "
								  "so the relation must be known for good. Nothing was charged."),
						errhint("Commit the transaction that calls privpred.protect() first.")));
}

void
ledger_release_to_all(const LedgerPrice *price)
{
	LedgerRequest request = {.kind = REQUEST_EXPORT};
	Oid			  asker = asking_role();
	LedgerReply	  reply;

	PreventCommandDuringRecovery("export of a model");
	if (price->kind != CHARGE_ONCE)
		elog(ERROR, "model \"%s\" is not charged once", price->model_name);
	ledger_request_describe(&request, price, asker);
	reply = ledger_call(&request);
	if (reply.nunable > 0)
		ereport(
			ERROR, errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			errmsg("not every privacy budget can pay for the export of model \"%s\"",
				   price->model_name),
			errdetail(
				"What is exported is known to everybody and is charged to every budget on the "
				"relation. Unable to pay: %s. Nothing was charged.",
				unable_names(&reply)),
			errhint("Raise these budgets with privpred.grant_budget(), with a delta if the model "
					"needs one, or revoke them. See privpred.budgets."));
	report_uncommitted(&reply, psprintf("model \"%s\"'s relation", price->model_name));
	ledger_report_refusal(price, asker, &reply);
}

/* ---------- descriptions ---------- */

static void
report_no_description(const char *relation, const LedgerReply *reply)
{
	bool never = reply->outcome == OUTCOME_CANNOT_PAY;

	if (reply->nunable > 0)
		ereport(ERROR,
				errcode(never ? ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE
							  : ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				errmsg("not every privacy budget can pay for a description of \"%s\"", relation),
				errdetail("A description is known to everybody and is charged to every budget on "
						  "the relation. Unable to pay: %s. Nothing was charged.",
						  unable_names(reply)),
				never ? errhint("Its noise is paid by budgets of finite order alone. Grant these "
								"budgets anew, with a delta such as 1e-6 and per_answer => 0.001, "
								"or revoke them. See renyi_order in privpred.budgets.")
					  : errhint("Raise these budgets with privpred.grant_budget(), revoke them, "
								"or describe with a smaller epsilon. See privpred.budgets."));
	report_uncommitted(reply, psprintf("\"%s\"", relation));
}

const Receipt *
ledger_describe(const LedgerPrice *price)
{
	static const Receipt receipt = {.order_is_infinite = false};
	LedgerRequest		 request = {.kind = REQUEST_DESCRIBE};
	Oid					 asker = asking_role();
	LedgerReply			 reply;

	ledger_request_describe(&request, price, asker);
	reply = ledger_call(&request);
	report_no_description(price->model_name, &reply);
	ledger_report_refusal(price, asker, &reply);
	return &receipt;
}

/* ---------- accuracies ---------- */

const Receipt *
ledger_release_accuracy(const LedgerPrice *accuracy, const LedgerPrice *model)
{
	static const Receipt receipt = {.order_is_infinite = true};
	LedgerRequest		 request = {.kind = REQUEST_ACCURACY};
	Oid					 asker = asking_role();
	LedgerReply			 reply;

	PreventCommandDuringRecovery("release_accuracy()");
	ledger_request_describe(&request, accuracy, asker);
	if (model != NULL)
	{
		request.told_of = model->training_id;
		request.told_finite = model->finite;
		request.told_infinite = model->infinite;
	}
	reply = ledger_call(&request);
	if (reply.nunable > 0)
		ereport(
			ERROR, errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			errmsg("not every privacy budget can pay for the accuracy of model \"%s\"",
				   accuracy->model_name),
			errdetail("It is known to everybody and is charged to every budget on the relation, "
					  "with the model itself if that is charged once and was not paid for. "
					  "Unable to pay: %s. Nothing was charged.",
					  unable_names(&reply)),
			errhint("Raise these budgets with privpred.grant_budget(), with a delta if the "
					"model needs one, revoke them, or take a smaller epsilon. See "
					"privpred.budgets."));
	report_uncommitted(&reply, psprintf("model \"%s\"'s relation", accuracy->model_name));
	ledger_report_refusal(accuracy, asker, &reply);
	return &receipt;
}
