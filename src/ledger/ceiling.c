/*
 * ceiling.c
 *		Ceilings, see ceiling.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "catalog/store.h"
#include "ledger/ceiling.h"
#include "ledger/ledger.h"

#define EVERYBODY InvalidOid

typedef struct Ceiling
{
	Oid	  role; /* or EVERYBODY */
	int64 answers;
} Ceiling;

static Ceiling *ceilings = NULL;
static int		nceilings = 0;

/* ---------- the ledger's process ---------- */

void
ceilings_read(void)
{
	Ceiling *all;
	bool	 isnull;

	if (SPI_execute("SELECT c.role::oid, c.answers FROM privpred.ceiling c", true, 0) !=
		SPI_OK_SELECT)
		elog(ERROR, "could not read ceilings");
	all = MemoryContextAlloc(TopMemoryContext, Max(SPI_processed, 1) * sizeof(Ceiling));
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		HeapTuple tuple = SPI_tuptable->vals[row];

		all[row].role = DatumGetObjectId(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 1, &isnull));
		all[row].answers = DatumGetInt64(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 2, &isnull));
	}
	if (ceilings != NULL)
		pfree(ceilings);
	ceilings = all;
	nceilings = (int) SPI_processed;
}

/* A group's ceiling is for what the group's budget pays. */
int64
ceiling_of(Oid asker, Oid payer)
{
	int64 least = NO_CEILING;

	for (int i = 0; i < nceilings; i++)
		if (ceilings[i].role == asker || ceilings[i].role == payer || ceilings[i].role == EVERYBODY)
			least = Min(least, ceilings[i].answers);
	return least;
}

/* ---------- sessions ---------- */

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
