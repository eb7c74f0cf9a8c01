/*
 * candidate_errors.c
 *		Weighted errors of all candidates in one pass over rows.
 *
 * Rows are counted by the cell of the grid they fall into, and errors are sums
 * over cells: n rows and m candidates take n + m steps for one column, not
 * n * m.  All sums are of integers, so the order of rows does not matter.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "server/compat.h"
#include "mechanism/candidates.h"
#include "mechanism/sort.h"

/* Cells between two looks for interrupts. */
#define CELLS_PER_CHECK 65536

struct ErrorCounts
{
	const Candidates *candidates;
	int64			  ncells;
	int64			 *cells;	/* weight of label 0 minus weight of label 1 */
	int64			  total[2]; /* weight of each label */
};

/* One cell more than there are cuts, in each direction, or in their product. */
static int64
cell_count(const Candidates *candidates)
{
	bool  boxes = class_has_boxes(candidates->class);
	int64 result = boxes ? 1 : 0;

	if (candidates->class == CLASS_FINITE)
		return candidates->finite->npoints;
	for (int i = 0; i < candidates->ngrids; i++)
		result = boxes ? result * (candidates->grids[i].ncuts + 1)
					   : result + candidates->grids[i].ncuts + 1;
	return result;
}

Size
errors_memory(const Candidates *candidates)
{
	return sizeof(ErrorCounts) +
		   sizeof(int64) * (Size) (cell_count(candidates) + candidates->count);
}

ErrorCounts *
errors_create(const Candidates *candidates)
{
	ErrorCounts *result = palloc0_object(ErrorCounts);

	result->candidates = candidates;
	result->ncells = cell_count(candidates);
	result->cells = palloc0_array(int64, result->ncells);
	return result;
}

/* ---------- counting ---------- */

int
grid_cell(const Grid *grid, double x)
{
	return (int) count_up_to(grid->cut, grid->ncuts, x);
}

/* The same sum as classifier_says(), bit for bit. */
static double
score_of(const Candidates *candidates, int direction, const double *x)
{
	const double *weight;
	double		  score = 0;

	if (candidates->direction == NULL)
		return x[direction];
	weight = candidates->direction + (Size) direction * candidates->width;
	for (int i = 0; i < candidates->width; i++)
		score += weight[i] * x[i];
	return score;
}

void
errors_add(ErrorCounts *counts, const double *x, bool label, int64 weight)
{
	const Candidates *candidates = counts->candidates;
	int64			  change = label ? -weight : weight;
	int64			  cell = 0;

	/* Every hypothesis says 0 of what is no point: no difference to count. */
	if (candidates->class == CLASS_FINITE && !(x[0] >= 0 && x[0] < counts->ncells))
		return;
	counts->total[label] += weight;
	if (candidates->class == CLASS_FINITE)
		counts->cells[(int) x[0]] += change;
	else if (class_has_boxes(candidates->class))
	{
		for (int i = 0; i < candidates->width; i++)
			cell = cell * (candidates->grids[i].ncuts + 1) + grid_cell(&candidates->grids[i], x[i]);
		counts->cells[cell] += change;
	}
	else
	{
		for (int i = 0; i < candidates->ngrids; i++)
		{
			const Grid *grid = &candidates->grids[i];

			if (grid->ncuts > 0)
				counts->cells[cell + grid_cell(grid, score_of(candidates, i, x))] += change;
			cell += grid->ncuts + 1;
		}
	}
}

/* ---------- counts as sums: cells, then totals ---------- */

int64
errors_sums(const ErrorCounts *counts)
{
	return counts->ncells + lengthof(counts->total);
}

static int64 *
sum_at(ErrorCounts *counts, int64 i)
{
	return i < counts->ncells ? &counts->cells[i] : &counts->total[i - counts->ncells];
}

void
errors_flush(ErrorCounts *counts, int128 *sums)
{
	for (int64 i = 0; i < errors_sums(counts); i++)
	{
		sums[i] += *sum_at(counts, i);
		*sum_at(counts, i) = 0;
	}
}

void
errors_take(ErrorCounts *counts, const int128 *sums)
{
	for (int64 i = 0; i < errors_sums(counts); i++)
		*sum_at(counts, i) += (int64) sums[i];
}

/* ---------- errors ---------- */

/*
 * A classifier that says 1 on a set A and 0 elsewhere errs on all of label 1
 * outside A and all of label 0 inside: total[1] plus the cells of A.
 */
static void
put_pair(const ErrorCounts *counts, int64 *errors, int64 shape, int64 inside)
{
	errors[2 * shape] = counts->total[1] + inside;
	errors[2 * shape + 1] = counts->total[0] - inside;
}

static void
cut_errors(const ErrorCounts *counts, int64 *errors)
{
	const Candidates *candidates = counts->candidates;
	int64			  everything = counts->total[0] - counts->total[1];
	int64			  shape = 0;
	int64			  cell = 0;

	put_pair(counts, errors, shape++, everything);
	for (int i = 0; i < candidates->ngrids; i++)
	{
		int64 above = everything;

		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < candidates->grids[i].ncuts; j++)
		{
			above -= counts->cells[cell++];
			put_pair(counts, errors, shape++, above);
		}
		cell++; /* above the last cut */
	}
}

/* Turns cells into sums over all cells that are not above in any side. */
static void
sum_cells(ErrorCounts *counts)
{
	const Candidates *candidates = counts->candidates;
	int64			  stride = 1;

	for (int side = candidates->width - 1; side >= 0; side--)
	{
		int n = candidates->grids[side].ncuts + 1;

		for (int64 cell = 0; cell < counts->ncells; cell++)
		{
			if (cell % CELLS_PER_CHECK == 0)
				CHECK_FOR_INTERRUPTS();
			if (cell / stride % n > 0)
				counts->cells[cell] += counts->cells[cell - stride];
		}
		stride *= n;
	}
}

/* Sum over the cells from low to high - 1 in every side, by inclusion and exclusion. */
static int64
box_sum(const ErrorCounts *counts, const int *low, const int *high)
{
	const Candidates *candidates = counts->candidates;
	int64			  result = 0;

	for (int corner = 0; corner < 1 << candidates->width; corner++)
	{
		int64 cell = 0;
		int64 sign = 1;
		bool  empty = false;

		for (int side = 0; side < candidates->width; side++)
		{
			bool lower = corner >> side & 1;
			int	 last = (lower ? low[side] : high[side]) - 1;

			empty = empty || last < 0;
			sign = lower ? -sign : sign;
			cell = cell * (candidates->grids[side].ncuts + 1) + last;
		}
		if (!empty)
			result += sign * counts->cells[cell];
	}
	return result;
}

/* In the order of candidate_get(): the last side moves fastest, its upper boundary first. */
static void
box_errors(ErrorCounts *counts, int64 *errors)
{
	const Candidates *candidates = counts->candidates;
	int				  low[MAX_SIDES] = {0, 0, 0};
	int				  high[MAX_SIDES] = {1, 1, 1};

	sum_cells(counts);
	for (int64 shape = 0; 2 * shape < candidates->count; shape++)
	{
		int side = candidates->width - 1;

		if (shape % CELLS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		put_pair(counts, errors, shape, box_sum(counts, low, high));
		while (side >= 0)
		{
			int last = candidates->grids[side].ncuts + 1;

			if (high[side] == last && ++low[side] == last)
			{
				low[side] = 0;
				high[side--] = 1;
				continue;
			}
			high[side] = high[side] == last ? low[side] + 1 : high[side] + 1;
			break;
		}
	}
}

static void
finite_errors(const ErrorCounts *counts, int64 *errors)
{
	const FiniteClass *finite = counts->candidates->finite;

	for (int h = 0; h < finite->nhypotheses; h++)
		errors[h] = counts->total[1];
	for (int p = 0; p < finite->npoints; p++)
	{
		const uint64 *column = finite_class_column(finite, p);

		CHECK_FOR_INTERRUPTS();
		for (int h = 0; h < finite->nhypotheses; h++)
			if (bits_member(column, h))
				errors[h] += counts->cells[p];
	}
}

int64 *
errors_finish(ErrorCounts *counts)
{
	const Candidates *candidates = counts->candidates;
	int64			 *errors = palloc_array(int64, candidates->count);

	if (candidates->class == CLASS_FINITE)
		finite_errors(counts, errors);
	else if (class_has_boxes(candidates->class))
		box_errors(counts, errors);
	else
		cut_errors(counts, errors);
	return errors;
}
