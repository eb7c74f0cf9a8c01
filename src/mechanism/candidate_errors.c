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
	int64			 *cells; /* weight of each label, ncells after ncells */
	int64			 *total; /* weight of each label in all cells */
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
		   sizeof(int64) *
			   (Size) (candidates->nclasses * (cell_count(candidates) + 1) + candidates->count);
}

ErrorCounts *
errors_create(const Candidates *candidates)
{
	ErrorCounts *result = palloc0_object(ErrorCounts);

	result->candidates = candidates;
	result->ncells = cell_count(candidates);
	result->cells = palloc_extended(sizeof(int64) * candidates->nclasses * (Size) result->ncells,
									MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	result->total = palloc0_array(int64, candidates->nclasses);
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
errors_add(ErrorCounts *counts, const double *x, int label, int64 weight)
{
	const Candidates *candidates = counts->candidates;
	int64			 *cells = counts->cells + label * counts->ncells;
	int64			  cell = 0;

	/* Every hypothesis says the same of what is no point: no difference to count. */
	if (candidates->class == CLASS_FINITE && !(x[0] >= 0 && x[0] < counts->ncells))
		return;
	counts->total[label] += weight;
	if (candidates->class == CLASS_FINITE)
		cells[(int) x[0]] += weight;
	else if (class_has_boxes(candidates->class))
	{
		for (int i = 0; i < candidates->width; i++)
			cell = cell * (candidates->grids[i].ncuts + 1) + grid_cell(&candidates->grids[i], x[i]);
		cells[cell] += weight;
	}
	else
	{
		for (int i = 0; i < candidates->ngrids; i++)
		{
			const Grid *grid = &candidates->grids[i];

			if (grid->ncuts > 0)
				cells[cell + grid_cell(grid, score_of(candidates, i, x))] += weight;
			cell += grid->ncuts + 1;
		}
	}
}

/*
 * ---------- counts as sums: cells, then totals ----------
 *
 * Two classes that are said inside and outside differ by what one has more than the
 * other; so of each cell it is sent what each label has more than the first.  A hypothesis of a
 * finite class may say any class of a point, and that is all there is to it.
 */

static bool
sends_first(const ErrorCounts *counts)
{
	return counts->candidates->class == CLASS_FINITE;
}

int64
errors_sums(const ErrorCounts *counts)
{
	return counts->ncells * (counts->candidates->nclasses - (sends_first(counts) ? 0 : 1)) +
		   counts->candidates->nclasses;
}

static int64 *
sum_at(ErrorCounts *counts, int64 i)
{
	int64 of_cells = errors_sums(counts) - counts->candidates->nclasses;

	if (i >= of_cells)
		return &counts->total[i - of_cells];
	return &counts->cells[sends_first(counts) ? i : i + counts->ncells];
}

/* Nothing that is computed of the counts changes. */
static void
subtract_first(ErrorCounts *counts)
{
	for (int k = 1; k < counts->candidates->nclasses; k++)
		for (int64 i = 0; i < counts->ncells; i++)
			counts->cells[k * counts->ncells + i] -= counts->cells[i];
	memset(counts->cells, 0, counts->ncells * sizeof(int64));
}

void
errors_flush(ErrorCounts *counts, int128 *sums)
{
	if (!sends_first(counts))
		subtract_first(counts);
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
 * A classifier that says one class on a set A and another elsewhere is right on
 * the one class in A and on the other outside.  The pairs are in the order of
 * candidate_get().
 */
static void
put_shape(const ErrorCounts *counts, int64 *errors, int64 shape, const int64 *inside)
{
	int64  everything = 0;
	int64 *error = errors + shape * class_pairs(counts->candidates->nclasses);

	for (int i = 0; i < counts->candidates->nclasses; i++)
		everything += counts->total[i];
	for (int i = counts->candidates->nclasses - 1; i >= 0; i--)
		for (int j = 0; j < counts->candidates->nclasses; j++)
			if (j != i)
				*error++ = everything - inside[i] - (counts->total[j] - inside[j]);
}

static void
cut_errors(const ErrorCounts *counts, int64 *errors)
{
	const Candidates *candidates = counts->candidates;
	Size			  bytes = candidates->nclasses * sizeof(int64);
	int64			 *above = palloc(bytes);
	int64			  shape = 0;
	int64			  cell = 0;

	put_shape(counts, errors, shape++, counts->total);
	for (int i = 0; i < candidates->ngrids; i++)
	{
		CHECK_FOR_INTERRUPTS();
		memcpy(above, counts->total, bytes);
		for (int j = 0; j < candidates->grids[i].ncuts; j++, cell++)
		{
			for (int k = 0; k < candidates->nclasses; k++)
				above[k] -= counts->cells[k * counts->ncells + cell];
			put_shape(counts, errors, shape++, above);
		}
		cell++; /* above the last cut */
	}
	pfree(above);
}

/* Turns cells of one label into sums over all cells that are not above in any side. */
static void
sum_cells(const ErrorCounts *counts, int64 *cells)
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
				cells[cell] += cells[cell - stride];
		}
		stride *= n;
	}
}

/* Sum over the cells from low to high - 1 in every side, by inclusion and exclusion. */
static int64
box_sum(const ErrorCounts *counts, const int64 *cells, const int *low, const int *high)
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
			result += sign * cells[cell];
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
	int64			  shapes = candidates->count / class_pairs(candidates->nclasses);
	int64			 *inside = palloc_array(int64, candidates->nclasses);

	for (int k = 0; k < candidates->nclasses; k++)
		sum_cells(counts, counts->cells + k * counts->ncells);
	for (int64 shape = 0; shape < shapes; shape++)
	{
		int side = candidates->width - 1;

		if (shape % CELLS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < candidates->nclasses; k++)
			inside[k] = box_sum(counts, counts->cells + k * counts->ncells, low, high);
		put_shape(counts, errors, shape, inside);
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
	int64			   everything = 0;

	for (int k = 0; k < counts->candidates->nclasses; k++)
		everything += counts->total[k];
	for (int h = 0; h < finite->nhypotheses; h++)
		errors[h] = everything;
	for (int p = 0; p < finite->npoints; p++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int h = 0; h < finite->nhypotheses; h++)
			errors[h] -= counts->cells[finite_class_label(finite, h, p) * counts->ncells + p];
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
