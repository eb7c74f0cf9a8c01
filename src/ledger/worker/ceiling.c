/*
 * ceiling.c
 *		Ceilings, as the ledger's process applies them.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/memutils.h"

#include "ledger/worker/worker.h"

#define EVERYBODY InvalidOid

typedef struct Ceiling
{
	Oid	  role; /* or EVERYBODY */
	int64 answers;
} Ceiling;

static Ceiling *ceilings = NULL;
static int		nceilings = 0;

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
