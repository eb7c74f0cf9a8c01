/*
 * exports.c
 *		What was exported or described before a budget was granted.
 *
 * A model in the clear, or a description, is known to whoever comes later, so a
 * new budget starts with its charge.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "ledger/asking.h"
#include "server/query.h"

/* An export, in the order of the query below. */
typedef struct Export
{
	int64 training_id;
	int64 model_id;
	int32 version;
	char *model;  /* NULL: unknown */
	char *charge; /* NULL: cannot be paid so */
	char *pure_charge;
	bool  accuracy; /* of the version, and not the version itself */
} Export;

static void
refuse_small_grant(const Account *account, const Charge *drawn, const Export *export)
{
	bool		cap = account->role == CAP_ROLE;
	bool		described = export->model_id == 0;
	const char *model = export->model ? export->model : "?";
	const char *what =
		described ? psprintf("description " INT64_FORMAT " of the relation", export->training_id)
		: export->accuracy ? psprintf("the accuracy of model \"%s\", which was released", model)
						   : psprintf("model \"%s\", which was exported", model);
	const char *known = psprintf("What was %s is known to everybody, so that every budget on the "
								 "relation starts with its charge",
								 described			? "described"
								 : export->accuracy ? "released"
													: "exported");

	if (!account_can_pay(account, drawn))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("the budget cannot pay for %s", what),
						errdetail("%s; that has a delta, and the budget has none.", known),
						cap ? errhint("Give delta_cap, such as 1e-6.")
							: errhint("Give delta, such as 1e-6.")));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the budget is too small to pay for %s", what), errdetail("%s.", known),
			 cap		 ? errhint("Give a larger epsilon_cap or delta_cap.")
			 : described ? errhint("Give a larger epsilon or delta, or a small per_answer, such "
								   "as 0.001, for which the account's order is chosen.")
						 : errhint("Give a larger epsilon or delta.")));
}

static void
write_payment(const Account *account, const Export *export)
{
	query_write("WITH mark AS (INSERT INTO privpred.release (account_id, training_id, "
				"relation_id, model_id, model, version, at, charge, pure_charge, accuracy) "
				"VALUES ($1, $2, $3, $4, $5, $6, now(), $7, $8, $12)) "
				"UPDATE privpred.account SET spent_units = $9, "
				"window_spent_units = $10, delta_spent = $11 WHERE account_id = $1",
				ARG_INT8(account->account_id), ARG_INT8(export->training_id),
				ARG_INT8(account->relation_id), ARG_INT8(export->model_id), ARG_TEXT(export->model),
				ARG_INT4(export->version), ARG_TEXT(export->charge), ARG_TEXT(export->pure_charge),
				ARG_INT8(account->spent), ARG_INT8(account->has_window ? account->window_spent : 0),
				ARG_FLOAT8(account->delta_spent), ARG_BOOL(export->accuracy));
}

/* Of a population that is joined with another: its exports are known to those who ask the other. */
static void
refuse_join(const Account *account)
{
	char *role = GetUserNameFromId(account->role, true);

	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("%s cannot pay for what was exported or described",
				   account->role == CAP_ROLE
					   ? "the cap"
					   : psprintf("the budget of role \"%s\"", role ? role : "?")),
			errdetail("What is known to everybody is counted by every budget. That has a delta, "
					  "and the budget has none."),
			account->role == CAP_ROLE
				? errhint("Give delta_cap, such as 1e-6, before the relations are joined.")
				: errhint("Grant it a delta, such as 1e-6, or revoke it, before the relations are "
						  "joined."));
}

static void
pay_export(Account *account, const Export *export, bool joins, const char *actor)
{
	bool		pure = account->order == RENYI_ORDER_INFINITE && !account_only_counts(account);
	char	   *text = pure ? export->pure_charge : export->charge;
	bool		described = export->model_id == 0;
	LedgerEvent event = {.kind = joins				? "join"
								 : described		? "describe"
								 : export->accuracy ? "accuracy"
													: "export",
						 .detail = psprintf("%s " INT64_FORMAT,
											described		   ? "description"
											: export->accuracy ? "accuracy"
															   : "training",
											export->training_id),
						 .model_id = export->model_id,
						 .model = export->model,
						 .version = export->version};
	Charge		drawn = {0};

	if (text != NULL && !charge_from_text(text, &drawn))
		elog(ERROR, "malformed charge \"%s\"", text);
	if (joins && !account_can_pay(account, &drawn))
		refuse_join(account);
	if (!joins && account_affords(account, &drawn) == 0)
		refuse_small_grant(account, &drawn, export);
	event.delta = drawn.delta;
	event.units = account_debit(account, &drawn, 1, &event.window_units);
	write_payment(account, export);
	ledger_put_event(account->account_id, account->relation_id, &event, actor);
}

void
exports_charge(Account *account, bool joins, const char *actor)
{
	SPITupleTable *table;
	uint64		   rows;

	/* What was committed before we wrote, whatever our isolation level. */
	PushActiveSnapshot(GetLatestSnapshot());
	query_read("SELECT e.training_id, e.model_id, e.version, e.model, e.charge, e.pure_charge, "
			   "e.accuracy FROM privpred.release e WHERE e.account_id = 0 AND e.relation_id = $1 "
			   "AND NOT EXISTS (SELECT FROM privpred.release p WHERE p.account_id = $2 "
			   "AND p.training_id = e.training_id) ORDER BY e.training_id",
			   ARG_INT8(account->relation_id), ARG_INT8(account->account_id));
	PopActiveSnapshot();
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
	{
		Export export;

		SPI_tuptable = table; /* payments are queries, too */
		export.training_id = row_int8(row, 1);
		export.model_id = row_int8(row, 2);
		export.version = row_int4(row, 3);
		export.model = row_text(row, 4);
		export.charge = row_text(row, 5);
		export.pure_charge = row_text(row, 6);
		export.accuracy = row_bool(row, 7);
		pay_export(account, &export, joins, actor);
	}
}

bool
exports_need_delta(int64 relation_id)
{
	return catalog_finds("SELECT FROM privpred.release e WHERE e.account_id = 0 "
						 "AND e.relation_id = $1 AND e.pure_charge IS NULL",
						 ARG_INT8(relation_id));
}
