/*
 * exports.c
 *		What was exported before a budget was granted.
 *
 * A model in the clear is known to whoever comes later, so a new budget starts
 * with its charge.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "ledger/asking.h"

static void
refuse_small_grant(const Account *account, const Charge *drawn, const char *model)
{
	bool cap = account->role == CAP_ROLE;

	if (!account_can_pay(account, drawn))
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the budget cannot pay for model \"%s\", which was exported", model),
			 errdetail(
				 "What was exported is known to everybody, so that every budget on the relation starts with its charge; that has a delta, and the budget has none."),
			 cap ? errhint("Give delta_cap, such as 1e-6.")
				 : errhint("Give delta, such as 1e-6.")));
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("the budget is less than model \"%s\" costs, which was exported", model),
		 errdetail(
			 "What was exported is known to everybody, so that every budget on the relation starts with its charge."),
		 cap ? errhint("Give a larger epsilon_cap or delta_cap.")
			 : errhint("Give a larger epsilon or delta.")));
}

/* An export, as the query below has it. */
typedef struct Export
{
	int64 training_id;
	int64 model_id;
	char *model; /* NULL: unknown */
	int32 version;
	char *charge; /* NULL: cannot be paid so */
	char *pure_charge;
} Export;

static void
write_payment(const Account *account, const Export *export)
{
	Oid	  argtypes[] = {INT8OID, INT8OID, INT8OID, INT8OID, TEXTOID,  INT4OID,
						TEXTOID, TEXTOID, INT8OID, INT8OID, FLOAT8OID};
	Datum args[lengthof(argtypes)];
	char  nulls[] = "           ";
	int	  n = 0;

#define PUT(value) (args[n++] = (value))
#define PUT_TEXT(text) \
	(nulls[n] = (text) != NULL ? ' ' : 'n', \
	 PUT((text) != NULL ? CStringGetTextDatum(text) : (Datum) 0))
	PUT(Int64GetDatum(account->account_id));
	PUT(Int64GetDatum(export->training_id));
	PUT(Int64GetDatum(account->relation_id));
	PUT(Int64GetDatum(export->model_id));
	PUT_TEXT(export->model);
	PUT(Int32GetDatum(export->version));
	PUT_TEXT(export->charge);
	PUT_TEXT(export->pure_charge);
	PUT(Int64GetDatum(account->spent));
	PUT(Int64GetDatum(account->has_window ? account->window_spent : 0));
	PUT(Float8GetDatum(account->delta_spent));
#undef PUT_TEXT
#undef PUT
	if (SPI_execute_with_args(
			"WITH mark AS (INSERT INTO privpred.release (account_id, training_id, "
			"relation_id, model_id, model, version, at, charge, pure_charge) "
			"VALUES ($1, $2, $3, $4, $5, $6, now(), $7, $8)) "
			"UPDATE privpred.account SET spent_units = $9, "
			"window_spent_units = $10, delta_spent = $11 WHERE account_id = $1",
			n, argtypes, args, nulls, false, 0) != SPI_OK_UPDATE)
		elog(ERROR, "could not charge an export");
}

static void
pay_export(Account *account, const Export *export, const char *actor)
{
	bool		pure = account->order == RENYI_ORDER_INFINITE && !account_only_counts(account);
	char	   *text = pure ? export->pure_charge : export->charge;
	LedgerEvent event = {.kind = "export"};
	Charge		drawn = {0};

	if (text != NULL && !charge_from_text(text, &drawn))
		elog(ERROR, "malformed charge \"%s\"", text);
	if (account_affords(account, &drawn) == 0)
		refuse_small_grant(account, &drawn, export->model ? export->model : "?");
	event.delta = drawn.delta;
	event.detail = psprintf("training " INT64_FORMAT, export->training_id);
	event.model_id = export->model_id;
	event.model = export->model;
	event.version = export->version;
	event.units = account_debit(account, &drawn, 1, &event.window_units);
	write_payment(account, export);
	ledger_put_event(account->account_id, &event, actor);
}

void
exports_charge(Account *account, const char *actor)
{
	Oid	  argtypes[] = {INT8OID, INT8OID};
	Datum args[] = {Int64GetDatum(account->relation_id), Int64GetDatum(account->account_id)};
	SPITupleTable *table;
	uint64		   rows;

	/* What was committed before we wrote, whatever our isolation level. */
	PushActiveSnapshot(GetLatestSnapshot());
	if (SPI_execute_with_args("SELECT e.training_id, e.model_id, e.version, e.model, e.charge, "
							  "e.pure_charge FROM privpred.release e WHERE e.account_id = 0 "
							  "AND e.relation_id = $1 AND NOT EXISTS (SELECT "
							  "FROM privpred.release p WHERE p.account_id = $2 "
							  "AND p.training_id = e.training_id) ORDER BY e.training_id",
							  2, argtypes, args, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read exports");
	PopActiveSnapshot();
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
	{
		HeapTuple tuple = table->vals[row];
		TupleDesc columns = table->tupdesc;
		bool	  isnull;
		Export export;

		export.training_id = DatumGetInt64(SPI_getbinval(tuple, columns, 1, &isnull));
		export.model_id = DatumGetInt64(SPI_getbinval(tuple, columns, 2, &isnull));
		export.version = DatumGetInt32(SPI_getbinval(tuple, columns, 3, &isnull));
		export.model = SPI_getvalue(tuple, columns, 4);
		export.charge = SPI_getvalue(tuple, columns, 5);
		export.pure_charge = SPI_getvalue(tuple, columns, 6);
		pay_export(account, &export, actor);
	}
}
