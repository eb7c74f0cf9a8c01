/*
 * ceiling.c
 *		Ceilings: how many answers a statement may take, decided by superusers.
 *
 * Kept in a table and applied by the ledger's process, not a setting: whatever
 * a session may set before our library is loaded, even what it may not, takes
 * the place of what ALTER ROLE ... SET has given it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "ledger/asking.h"
#include "server/session.h"

int64
ceiling_look_up(Oid asker, Oid payer)
{
	Oid			   argtypes[] = {OIDOID, OIDOID};
	Datum		   args[] = {ObjectIdGetDatum(asker), ObjectIdGetDatum(payer)};
	CatalogSession session;
	Datum		   least;
	bool		   isnull;

	catalog_begin(&session);
	if (SPI_execute_with_args(
			"SELECT min(c.answers) FROM privpred.ceiling c WHERE c.role IN (0, $1, $2)", 2,
			argtypes, args, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read ceilings");
	least = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	catalog_end(&session);
	return isnull ? NO_CEILING : DatumGetInt64(least);
}

void
ceiling_report(int64 ceiling, bool charged)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		 errmsg("statement takes more than " INT64_FORMAT " private answers", ceiling),
		 charged
			 ? errdetail(
				   "Each answer is charged to a privacy budget. The answers given so far stay charged.")
			 : errdetail("Each answer is charged to a privacy budget. Nothing was charged."),
		 errhint(
			 "Add a WHERE or LIMIT clause. A superuser has set this ceiling with privpred.set_ceiling(); see privpred.ceilings.")));
}

void
ledger_set_ceiling(Oid role, int64 answers)
{
	Oid			   argtypes[] = {OIDOID, INT8OID, TEXTOID};
	Datum		   args[] = {ObjectIdGetDatum(role), Int64GetDatum(answers),
							 CStringGetTextDatum(GetUserNameFromId(GetUserId(), false))};
	CatalogSession session;

	catalog_begin(&session);
	if (SPI_execute_with_args("DELETE FROM privpred.ceiling c WHERE c.role = $1", 1, argtypes, args,
							  NULL, false, 0) != SPI_OK_DELETE)
		elog(ERROR, "could not remove a ceiling");
	if (answers != NO_CEILING &&
		SPI_execute_with_args("INSERT INTO privpred.ceiling (role, answers, set_by) "
							  "VALUES ($1, $2, $3)",
							  3, argtypes, args, NULL, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not set a ceiling");
	catalog_end(&session);
	ledger_invalidate_leases();
}
