/*
 * ceiling.c
 *		Ceilings of a statement's answers, as the ledger's process applies them.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "ledger/worker/worker.h"
#include "server/query.h"

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

	query_read("SELECT c.role::oid, c.answers FROM privpred.ceiling c");
	all = MemoryContextAlloc(TopMemoryContext, (SPI_processed + 1) * sizeof(Ceiling));
	for (uint64 row = 0; row < SPI_processed; row++)
		all[row] = (Ceiling){row_oid(row, 1), row_int8(row, 2)};
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
