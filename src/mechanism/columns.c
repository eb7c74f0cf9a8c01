/*
 * columns.c
 *		Thresholds, stumps and intervals: their labelings of a sample, and how
 *		many rows each gets wrong.
 *
 * A threshold lies at a value of T, a_1 < ... < a_k in one feature.  "x >= a_i"
 * for all i and "never" are k + 1 labelings; "x < a_i" for i > 1 are those with
 * the ones below that are not among them.  In the order "never, x >= a by
 * falling a, x < a by falling a" over all thresholds, each is the least with its
 * labeling of T.  Hence H is nested: without some unit's rows, H_T loses
 * hypotheses and gains none (used by the proof of "relabel").
 *
 * With prefix sums over the sorted rows of S an error count is one subtraction.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "mechanism/hypotheses.h"

/* One feature of all rows. */
typedef struct Column
{
	int32	nvalues;
	double *value; /* distinct, rising */
	int32  *below; /* ones minus zeros among rows with smaller values; nvalues + 1 */
	int32  *rank;  /* of each row's value */
} Column;

typedef struct Columns
{
	HypothesisClass class;
	const LabelledUnits *units;
	int32				 ones; /* rows labelled 1 */
	int					 ncolumns;
	Column				*columns;

	/* T */
	const uint64 *chosen;
	int			  sorted_column; /* which one ranks[] is of, or -1 */
	int32		  nranks;
	int32		 *ranks; /* of T's distinct values, rising */
	uint64		 *marks; /* a bit for each value; clear between calls */
} Columns;

/* ---------- preparing ---------- */

typedef struct SortedRow
{
	double value;
	int32  row;
} SortedRow;

#define ST_SORT sort_by_value
#define ST_ELEMENT_TYPE SortedRow
#define ST_COMPARE(a, b) (((a)->value > (b)->value) - ((a)->value < (b)->value))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

static void
prepare_column(Columns *space, int part)
{
	const LabelledUnits *units = space->units;
	int32				 nrows = units->nrows;
	Column				*column = &space->columns[part];
	SortedRow			*rows = TAKE(SortedRow, nrows);

	for (int32 i = 0; i < nrows; i++)
	{
		rows[i].value = units->x[(Size) i * units->width + part];
		rows[i].row = i;
	}
	sort_by_value(rows, nrows);
	CHECK_FOR_INTERRUPTS();

	column->rank = TAKE(int32, nrows);
	for (int32 i = 0; i < nrows; i++)
	{
		if (i == 0 || rows[i].value != rows[i - 1].value)
			column->nvalues++;
		column->rank[rows[i].row] = column->nvalues - 1;
	}
	column->value = TAKE(double, column->nvalues);
	column->below = TAKE(int32, column->nvalues + 1);
	memset(column->below, 0, sizeof(int32) * (column->nvalues + 1));
	for (int32 i = 0; i < nrows; i++)
	{
		int32 rank = column->rank[rows[i].row];

		column->value[rank] = rows[i].value;
		column->below[rank + 1] += units->label[rows[i].row] ? 1 : -1;
	}
	for (int32 i = 1; i <= column->nvalues; i++)
		column->below[i] += column->below[i - 1];
	pfree(rows);
}

static void *
columns_create(const HypothesisSource *source)
{
	const LabelledUnits *units = source->units;
	Columns				*space = palloc0(sizeof(Columns));

	space->class = source->class;
	space->units = units;
	space->ones = count_ones(units);
	space->sorted_column = -1;
	space->ncolumns = source->class == HYPOTHESES_INTERVAL ? 1 : units->width;
	space->columns = palloc0(sizeof(Column) * space->ncolumns);
	space->ranks = TAKE(int32, units->nrows);
	space->marks = TAKE(uint64, units->nrows / 64 + 1);
	memset(space->marks, 0, sizeof(uint64) * (units->nrows / 64 + 1));
	for (int i = 0; i < space->ncolumns; i++)
	{
		CHECK_FOR_INTERRUPTS();
		prepare_column(space, i);
	}
	return space;
}

/* ---------- T ---------- */

static void
columns_choose(void *own, const uint64 *units)
{
	Columns *space = own;

	space->chosen = units;
	space->sorted_column = -1;
}

/* T's distinct values of a column, in order: a sort by marking and reading off. */
static const Column *
sort_column(Columns *space, int number)
{
	const Column *column = &space->columns[number];

	if (space->sorted_column == number)
		return column;
	FOR_CHOSEN_ROWS(row, space->units, space->chosen)
	space->marks[column->rank[row] / 64] |= UINT64CONST(1) << (column->rank[row] % 64);
	space->nranks = 0;
	for (int32 word = 0; word <= column->nvalues / 64; word++)
	{
		while (space->marks[word] != 0)
		{
			space->ranks[space->nranks++] = word * 64 + pg_rightmost_one_pos64(space->marks[word]);
			space->marks[word] &= space->marks[word] - 1;
		}
	}
	space->sorted_column = number;
	return column;
}

static int
columns_max_blocks(const void *own)
{
	const Columns *space = own;

	return space->class == HYPOTHESES_STUMP ? space->ncolumns : space->columns[0].nvalues + 1;
}

static int32
columns_block_size(const void *own)
{
	const Columns *space = own;
	int32		   most = 1;

	for (int i = 0; i < space->ncolumns; i++)
		most = Max(most, space->columns[i].nvalues);
	return 2 * most;
}

static int
columns_blocks(void *own)
{
	Columns *space = own;

	if (space->class == HYPOTHESES_STUMP)
		return space->ncolumns;
	sort_column(space, 0);
	return space->nranks + 1;
}

static double
columns_steps(const void *own, double share)
{
	const Columns *space = own;
	double		   chosen = share * space->units->nrows;
	double		   steps = 0;

	for (int i = 0; i < space->ncolumns; i++)
	{
		double values = Min(chosen, space->columns[i].nvalues);

		steps += chosen + space->columns[i].nvalues / 64 + 1 +
				 (space->class == HYPOTHESES_INTERVAL ? values * values : 2 * values);
	}
	return steps;
}

/* Intervals of so many values are listed in a second. */
static int32
columns_most_rows(const void *own)
{
	const Columns *space = own;

	return space->class == HYPOTHESES_INTERVAL ? 10000 : PG_INT32_MAX;
}

/* ---------- stumps: never; from a_i on; below a_i, except the least ---------- */

static int32
stump_errors(Columns *space, int feature, int32 *errors)
{
	const Column *column = sort_column(space, feature);
	int32		  nrows = space->units->nrows;
	int32		  zeros = nrows - space->ones;
	int32		  count = 0;

	errors[count++] = space->ones;
	for (int32 i = 0; i < space->nranks; i++)
		errors[count++] = zeros + column->below[space->ranks[i]];
	for (int32 i = 1; i < space->nranks; i++)
		errors[count++] = nrows - (zeros + column->below[space->ranks[i]]);
	return count;
}

static void
stump_get(Columns *space, int feature, int32 index, IntervalHypothesis *stump)
{
	const Column *column = sort_column(space, feature);

	stump->feature = feature;
	stump->high = INFINITY;
	stump->inside = index <= space->nranks;
	if (index == 0)
		stump->low = INFINITY;
	else if (stump->inside)
		stump->low = column->value[space->ranks[index - 1]];
	else
		stump->low = column->value[space->ranks[index - space->nranks]];
}

/*
 * ---------- intervals ----------
 *
 * Block i < k has those from a_i on: ones inside [a_i, a_j) for j = i+1..k, where
 * the last has no end; then zeros inside for those that leave ones on
 * both sides (the others were listed, from the other end).  Block k: never.
 */

static int32
interval_errors(Columns *space, int block, int32 *errors)
{
	const Column *column = sort_column(space, 0);
	int32		  nrows = space->units->nrows;
	int32		  last = space->nranks;
	int32		  count = 0;
	int32		  outside;

	if (block == last)
	{
		errors[0] = space->ones;
		return 1;
	}
	/* Every one inside is an error less, every zero one more. */
	outside = space->ones + column->below[space->ranks[block]];
	for (int32 j = block + 1; j < last; j++)
		errors[count++] = outside - column->below[space->ranks[j]];
	errors[count++] = outside - column->below[column->nvalues];
	for (int32 j = block + 1; block > 0 && j < last; j++)
		errors[count++] = nrows - (outside - column->below[space->ranks[j]]);
	return count;
}

static void
interval_get(Columns *space, int block, int32 index, IntervalHypothesis *interval)
{
	const Column *column = sort_column(space, 0);
	int32		  ends = space->nranks - block; /* with ones inside */
	int32		  end;

	interval->feature = 0;
	interval->low = interval->high = INFINITY;
	interval->inside = true;
	if (block == space->nranks)
		return;
	interval->inside = index < ends;
	end = block + 1 + (interval->inside ? index : index - ends);
	interval->low = column->value[space->ranks[block]];
	if (end < space->nranks)
		interval->high = column->value[space->ranks[end]];
}

/* ---------- either ---------- */

static int32
columns_errors(void *own, int block, int32 *errors)
{
	Columns *space = own;

	return space->class == HYPOTHESES_STUMP ? stump_errors(space, block, errors)
											: interval_errors(space, block, errors);
}

static void
columns_get(void *own, int block, int32 index, Hypothesis *hypothesis)
{
	Columns *space = own;

	if (space->class == HYPOTHESES_STUMP)
		stump_get(space, block, index, &hypothesis->u.interval);
	else
		interval_get(space, block, index, &hypothesis->u.interval);
}

const HypothesisListing columns_listing = {
	.create = columns_create,
	.choose = columns_choose,
	.max_blocks = columns_max_blocks,
	.block_size = columns_block_size,
	.blocks = columns_blocks,
	.errors = columns_errors,
	.get = columns_get,
	.steps = columns_steps,
	.most_rows = columns_most_rows,
};
