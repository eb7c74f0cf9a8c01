/*
 * release.c
 *		Releasing a version to everybody: the asking side.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "ledger/asking.h"
#include "server/session.h"

static void
report_unable(const LedgerPrice *price, const LedgerReply *reply)
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
	ereport(
		ERROR,
		(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
		 errmsg("not every privacy budget can pay for the export of model \"%s\"",
				price->model_name),
		 errdetail("What is exported is known to everybody and is charged to every budget on the "
				   "relation. Unable to pay: %s. Nothing was charged.",
				   names.data),
		 errhint(
			 "Raise these budgets with privpred.grant_budget(), with a delta if the model needs "
			 "one, or revoke them. See privpred.budgets.")));
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
		report_unable(price, &reply);
	ledger_report_refusal(price, asker, &reply);
}
