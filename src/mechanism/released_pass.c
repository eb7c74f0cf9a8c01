/*
 * released_pass.c
 *		A pass over all units, wherever their rows are, that counts the errors of
 *		candidates (unit_sums.h).
 *
 * What is sent out is as much of the candidates as counting needs: their cuts and
 * directions, which are public, not which classes they say where.
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "utils/memutils.h"

#include "mechanism/released.h"
#include "mechanism/unit_sums.h"

/* Of one cell and more for each candidate, and of grids that nobody cuts; of all classes. */
#define MAX_CELLS (4 * MAX_CANDIDATES)

/* A longer one takes more time than the rows would. */
#define LARGEST_PARAMETER (256 * 1024)

typedef struct Pass
{
	UnitSummer	 summer;
	Candidates	 candidates;
	FiniteClass	 finite;
	bool		 points_are_columns;
	int			 width;
	ErrorCounts *counts;
} Pass;

/* ---------- the parameter ---------- */

/* A cut of a uniform reference, as candidates.c has it. */
static double
even_cut(const Grid *grid, int number)
{
	return (number + 1.0) / (grid->ncuts + 1);
}

static bool
grid_is_even(const Grid *grid)
{
	for (int i = 0; i < grid->ncuts; i++)
		if (grid->cut[i] != even_cut(grid, i))
			return false;
	return true;
}

/* Even cuts go without saying: Citus passes the parameter on with every row. */
static void
put_grid(StringInfo bytes, const Grid *grid)
{
	bool even = grid_is_even(grid);

	pq_sendint32(bytes, grid->ncuts);
	pq_sendbyte(bytes, even);
	for (int i = 0; i < grid->ncuts && !even; i++)
		pq_sendfloat8(bytes, grid->cut[i]);
}

static void
put_parameter(StringInfo bytes, const Candidates *candidates, bool points_are_columns)
{
	initStringInfo(bytes);
	pq_sendbyte(bytes, candidates->class);
	if (candidates->class == CLASS_FINITE)
	{
		pq_sendbyte(bytes, points_are_columns);
		pq_sendint32(bytes, candidates->finite->npoints);
		return;
	}
	pq_sendbyte(bytes, candidates->direction != NULL);
	pq_sendint32(bytes, candidates->ngrids);
	for (int i = 0; i < candidates->ngrids; i++)
		put_grid(bytes, &candidates->grids[i]);
	for (int64 i = 0;
		 candidates->direction != NULL && i < (int64) candidates->ngrids * candidates->width; i++)
		pq_sendfloat8(bytes, candidates->direction[i]);
}

static void
check(bool sound)
{
	if (!sound)
		parameter_damaged();
}

/* So many numbers, if there are that many bytes. */
static double *
get_numbers(StringInfo bytes, int64 count)
{
	double *numbers;

	check(count >= 0 && count <= (bytes->len - bytes->cursor) / (int64) sizeof(double));
	numbers = MemoryContextAllocHuge(CurrentMemoryContext, Max(count, 1) * sizeof(double));
	for (int64 i = 0; i < count; i++)
	{
		numbers[i] = pq_getmsgfloat8(bytes);
		check(!isnan(numbers[i]));
	}
	return numbers;
}

static int
get_grid(StringInfo bytes, Grid *grid)
{
	grid->ncuts = pq_getmsgint(bytes, 4);
	check(grid->ncuts >= 0 && grid->ncuts <= MAX_CANDIDATES);
	if (pq_getmsgbyte(bytes) == 0)
		grid->cut = get_numbers(bytes, grid->ncuts);
	else
	{
		grid->cut = palloc_array(double, Max(grid->ncuts, 1));
		for (int i = 0; i < grid->ncuts; i++)
			grid->cut[i] = even_cut(grid, i);
	}
	return grid->ncuts;
}

static void
get_grids(StringInfo bytes, Candidates *candidates)
{
	bool  directed = pq_getmsgbyte(bytes) != 0;
	bool  boxes = class_has_boxes(candidates->class);
	int64 cells = boxes ? 1 : 0;

	candidates->ngrids = pq_getmsgint(bytes, 4);
	/* A grid takes bytes, and without directions there is one for each column. */
	check(candidates->ngrids >= 0 && candidates->ngrids <= bytes->len &&
		  (directed || candidates->ngrids == candidates->width) &&
		  (!boxes || (!directed && candidates->width <= MAX_SIDES)));
	candidates->grids = palloc0_array(Grid, Max(candidates->ngrids, 1));
	for (int i = 0; i < candidates->ngrids; i++)
	{
		int ncuts = get_grid(bytes, &candidates->grids[i]);

		cells = boxes ? cells * (ncuts + 1) : cells + ncuts + 1;
		check(cells * candidates->nclasses <= MAX_CELLS);
	}
	if (directed)
		candidates->direction = get_numbers(bytes, (int64) candidates->ngrids * candidates->width);
}

/* ---------- counting ---------- */

static void
add_unit(UnitSummer *summer, const UnitRows *unit)
{
	Pass *pass = (Pass *) summer;

	released_count(pass->counts, &pass->candidates, pass->points_are_columns, pass->width, unit);
}

static void
flush(UnitSummer *summer, int128 *sums)
{
	errors_flush(((Pass *) summer)->counts, sums);
}

static UnitSummer *
open_pass(const UnitForm *form, StringInfo bytes)
{
	Pass	   *pass = palloc0_object(Pass);
	Candidates *candidates = &pass->candidates;

	candidates->class = pq_getmsgbyte(bytes);
	check(candidates->class <= CLASS_FINITE && form->width >= 1 && form->nclasses >= 2);
	candidates->width = pass->width = form->width;
	candidates->nclasses = form->nclasses;
	if (candidates->class == CLASS_FINITE)
	{
		pass->points_are_columns = pq_getmsgbyte(bytes) != 0;
		pass->finite.npoints = pq_getmsgint(bytes, 4);
		check(pass->finite.npoints >= 1 && pass->finite.npoints <= FINITE_MAX_POINTS);
		candidates->finite = &pass->finite;
	}
	else
		get_grids(bytes, candidates);
	pass->counts = errors_create(candidates);
	pass->summer.count = errors_sums(pass->counts);
	pass->summer.add = add_unit;
	pass->summer.flush = flush;
	return &pass->summer;
}

const UnitSum released_unit_sum = {"candidates", open_pass};

bool
released_pass(UnitSource *units, const Candidates *candidates, bool points_are_columns,
			  ErrorCounts *counts)
{
	int64		   count = errors_sums(counts);
	int128		  *sums;
	StringInfoData parameter;

	put_parameter(&parameter, candidates, points_are_columns);
	if (parameter.len > LARGEST_PARAMETER)
	{
		pfree(parameter.data);
		return false;
	}
	sums = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(int128));
	unit_sums(units, &released_unit_sum, &parameter, count, sums);
	errors_take(counts, sums);
	pfree(parameter.data);
	pfree(sums);
	return true;
}
