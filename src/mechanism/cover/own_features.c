/*
 * own_features.c
 *		The rows' own features as a reference, where labels alone are protected.
 *
 * No label is looked at.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "mechanism/cover/cover.h"
#include "mechanism/released.h"

/* How many rows the sample has. */
#define MIN_REFERENCE_ROWS 256
#define MAX_REFERENCE_ROWS 16384

typedef struct SampledRow
{
	uint64	unit_hash;
	double *x;
} SampledRow;

/* By unit and content, so that the order of the table does not matter. */
static int
compare_sampled(const void *a, const void *b, void *bytes)
{
	const SampledRow *left = a;
	const SampledRow *right = b;

	if (left->unit_hash != right->unit_hash)
		return left->unit_hash < right->unit_hash ? -1 : 1;
	return memcmp(left->x, right->x, *(Size *) bytes);
}

void
own_reference(const MechanismSpec *spec, UnitSource *units, Size memory, Reference *reference)
{
	Size		each = (spec->width + 4) * sizeof(double);
	int			most = (int) Max(MIN_REFERENCE_ROWS, Min(MAX_REFERENCE_ROWS, memory / (4 * each)));
	SampledRow *rows = palloc_array(SampledRow, 2 * most);
	Size		bytes = spec->width * sizeof(double);
	double	   *x;
	uint64		bound = PG_UINT64_MAX;
	int			count = 0;
	UnitRows	unit;

	check_training_memory(4 * most * each, memory);
	for (int i = 0; i < 2 * most; i++)
		rows[i].x = palloc(bytes);
	while (units->next(units, &unit))
	{
		for (int i = 0; i < unit.nrows && unit.unit_hash <= bound; i++)
		{
			rows[count].unit_hash = unit.unit_hash;
			memcpy(rows[count++].x, unit.x + (Size) i * spec->width, bytes);
			if (count < 2 * most)
				continue;
			qsort_arg(rows, count, sizeof(SampledRow), compare_sampled, &bytes);
			count = most;
			bound = rows[count - 1].unit_hash;
		}
	}
	qsort_arg(rows, count, sizeof(SampledRow), compare_sampled, &bytes);
	count = Min(count, most);
	x = MemoryContextAllocHuge(CurrentMemoryContext, Max(count, 1) * bytes);
	for (int i = 0; i < count; i++)
		memcpy(x + (Size) i * spec->width, rows[i].x, bytes);
	reference->npoints = count;
	reference->x = x;
	units->rewind(units);
}

double
own_radius(const Candidates *candidates, const Reference *reference, UnitSource *units)
{
	bool			 probing = candidates->class == CLASS_HALFSPACES;
	HalfspaceProbes *probes = probing ? probes_create(candidates, reference) : NULL;
	RadiusCounts	*counts = probing ? NULL : radius_create(candidates, reference->binary);
	double			 nunits = 0;
	int				 most_rows = 0;
	double			 radius;
	UnitRows		 unit;

	while (units->next(units, &unit))
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < unit.nrows; i++)
		{
			const double *x = unit.x + (Size) i * candidates->width;

			if (probing)
				probes_add(probes, x, ERROR_ONE / unit.nrows);
			else
				radius_add(counts, x, ERROR_ONE / unit.nrows);
		}
		nunits++;
		most_rows = Max(most_rows, unit.nrows);
	}
	units->rewind(units);
	radius = probing ? probes_finish(probes, nunits * ERROR_ONE)
					 : radius_finish(counts, nunits * ERROR_ONE);
	/* Weights are rounded down, a unit's by less than its number of rows. */
	return radius + (double) most_rows / ERROR_ONE;
}
