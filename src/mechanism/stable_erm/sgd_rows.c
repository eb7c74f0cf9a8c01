/*
 * sgd_rows.c
 *		One pass over the units, in the order of their hashes.
 *
 * The server sorts them, on disk if need be; here only one unit is in memory.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "mechanism/stable_erm/rows.h"

/* Hashes are ordered as signed numbers; times are not negative. */
#define HASH_SIGN (UINT64CONST(1) << 63)

/* A unit as erm.h wants it. */
typedef struct UnitRoom
{
	int64	capacity; /* rows */
	double *label;
	float  *x;
} UnitRoom;

static void
make_room(UnitRoom *room, int64 nrows, int dimension)
{
	if (nrows <= room->capacity)
		return;
	if (room->label != NULL)
	{
		pfree(room->label);
		pfree(room->x);
	}
	room->capacity = Max(nrows, 2 * room->capacity);
	room->label = MemoryContextAllocHuge(CurrentMemoryContext, room->capacity * sizeof(double));
	room->x =
		MemoryContextAllocHuge(CurrentMemoryContext, room->capacity * dimension * sizeof(float));
}

static ErmUnit
read_unit(const ErmProblem *problem, const MechanismSpec *spec, const UnitRows *rows,
		  UnitRoom *room)
{
	make_room(room, rows->nrows, problem->dimension);
	for (int64 i = 0; i < rows->nrows; i++)
	{
		room->label[i] = erm_label(spec, rows->label[i]);
		(void) erm_features(problem, rows->x + i * spec->width, room->x + i * problem->dimension);
	}
	return (ErmUnit){rows->nrows, room->label, room->x};
}

Size
erm_sgd_workspace(const ErmProblem *problem, int fits)
{
	Size n = problem->dimension;

	return n * (((Size) fits + 1) * sizeof(int128) + sizeof(double));
}

void
erm_sgd_train(const ErmProblem *declared, const ErmSgd *sgd, const MechanismSpec *spec,
			  UnitSource *units, int fits, double *w)
{
	ErmProblem problem = *declared;
	Size	   n = problem.dimension;
	int128	*totals = palloc_extended(sizeof(int128) * n * fits, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	ErmSums	 sums = {.of_unit = palloc_array(int128, n)};
	UnitRoom room = {0};
	UnitRows rows;
	uint64	 before = 0;
	int64	 used = 0;

	/* More are read, so that what is told of the rows is of all of them, and left out. */
	for (; units->next(units, &rows); used++)
	{
		uint64	hash = rows.unit_hash ^ HASH_SIGN;
		ErmUnit unit;

		if (hash < before)
			elog(ERROR, "units are not in the order of their hashes");
		before = hash;
		if (used >= sgd->most)
			continue;
		unit = read_unit(&problem, spec, &rows, &room);
		for (int k = 0; k < fits; k++)
		{
			CHECK_FOR_INTERRUPTS();
			problem.class = k;
			sums.total = totals + k * n;
			erm_sgd_step(&problem, sgd, hash, &unit, &sums, w);
		}
	}
	for (int k = 0; k < fits; k++)
		erm_sgd_weights(&problem, sgd, totals + k * n, w + k * n);
}
