/*
 * boxes.c
 *		Rectangles: their labelings of a sample, and how many rows each gets
 *		wrong.
 *
 * The points of T that a box holds are those of the least box around them, so
 * the labelings with ones inside are the boxes each side of which touches a
 * point of T within; the same boxes with zeros inside are the others, some of them
 * the same as with ones.  T is cut to its first points, in the order of units,
 * so that a set of them is one word, and an answer takes a bounded time.
 *
 * With sums over the grid of T's values an error count is a few additions.
 */
#include "postgres.h"

#include "mechanism/hypotheses.h"
#include "mechanism/sort.h"

#define MOST_POINTS 64

typedef struct Side
{
	int	   nvalues;
	double value[MOST_POINTS];	/* of T, distinct, rising */
	uint64 points[MOST_POINTS]; /* that have it */
} Side;

/* Numbers of values. */
typedef struct Box
{
	uint8 first[BOX_MAX_SIDES];
	uint8 last[BOX_MAX_SIDES];
} Box;

typedef struct Boxes
{
	const LabelledUnits *units;
	int					 nsides;
	int					 most_points;
	int32				 ones;

	/* T */
	int	   npoints;
	double x[MOST_POINTS][BOX_MAX_SIDES];
	Side   sides[BOX_MAX_SIDES];
	int	   width[BOX_MAX_SIDES]; /* of the grid: before, at and after each value, and a border */
	int32 *below;				 /* zeros minus ones in cells below this one in every side */

	/* the block that was listed last */
	Box	   box; /* that the walk is at */
	int32 *errors;
	int32  count;
	Box	  *listed;
} Boxes;

/* Between T's values, and at them: 2 i + 1 at value i. */
static int
cell_of(const Side *side, double x)
{
	int before = (int) count_below(side->value, side->nvalues, x);

	return 2 * before + (before < side->nvalues && side->value[before] == x);
}

/* A block for each interval of the first side, and one for "never". */
static int
intervals_of(int values)
{
	return values * (values + 1) / 2;
}

static int
boxes_max_blocks(const void *own)
{
	return intervals_of(((const Boxes *) own)->most_points) + 1;
}

static int32
boxes_block_size(const void *own)
{
	const Boxes *boxes = own;
	int32		 size = 2;

	for (int i = 1; i < boxes->nsides; i++)
		size *= intervals_of(boxes->most_points);
	return size;
}

static void *
boxes_create(const HypothesisSource *source)
{
	Boxes *boxes = palloc0(sizeof(Boxes));
	Size   cells = 1;

	boxes->units = source->units;
	boxes->nsides = source->units->width;
	boxes->most_points = Min(source->most_points, MOST_POINTS);
	boxes->ones = count_ones(source->units);
	for (int i = 0; i < boxes->nsides; i++)
		cells *= 2 * boxes->most_points + 2;
	boxes->below = TAKE(int32, cells);
	boxes->listed = TAKE(Box, boxes_block_size(boxes) / 2);
	return boxes;
}

/* ---------- T ---------- */

static void
take_point(Boxes *boxes, const double *x)
{
	Size bytes = sizeof(double) * boxes->nsides;

	for (int i = 0; i < boxes->npoints; i++)
		if (memcmp(boxes->x[i], x, bytes) == 0)
			return;
	if (boxes->npoints < boxes->most_points)
		memcpy(boxes->x[boxes->npoints++], x, bytes);
}

static void
list_side(Boxes *boxes, int number)
{
	Side  *side = &boxes->sides[number];
	double values[MOST_POINTS];

	for (int i = 0; i < boxes->npoints; i++)
		values[i] = boxes->x[i][number];
	sort_doubles(values, boxes->npoints);
	memset(side, 0, sizeof(Side));
	for (int i = 0; i < boxes->npoints; i++)
		if (i == 0 || values[i] != values[i - 1])
			side->value[side->nvalues++] = values[i];
	for (int i = 0; i < boxes->npoints; i++)
		side->points[cell_of(side, boxes->x[i][number]) / 2] |= UINT64CONST(1) << i;
	boxes->width[number] = 2 * side->nvalues + 2;
}

/* Adds up along one side after the other. */
static void
add_up(Boxes *boxes, Size cells)
{
	Size step = 1;

	for (int side = boxes->nsides - 1; side >= 0; side--)
	{
		for (Size i = 0; i < cells; i++)
			if (i / step % boxes->width[side] != 0)
				boxes->below[i] += boxes->below[i - step];
		step *= boxes->width[side];
	}
}

static void
boxes_choose(void *own, const uint64 *units)
{
	Boxes				*boxes = own;
	const LabelledUnits *all = boxes->units;
	Size				 cells = 1;

	boxes->npoints = 0;
	FOR_CHOSEN_ROWS(row, all, units)
	take_point(boxes, all->x + (Size) row * all->width);
	for (int i = 0; i < boxes->nsides; i++)
	{
		list_side(boxes, i);
		cells *= boxes->width[i];
	}
	memset(boxes->below, 0, sizeof(int32) * cells);
	for (int32 row = 0; row < all->nrows; row++)
	{
		Size cell = 0;

		for (int i = 0; i < boxes->nsides; i++)
			cell = cell * boxes->width[i] + 1 +
				   cell_of(&boxes->sides[i], all->x[(Size) row * all->width + i]);
		boxes->below[cell] += all->label[row] ? -1 : 1;
	}
	add_up(boxes, cells);
}

/* ---------- boxes ---------- */

/* Zeros minus ones inside: over the corners, with signs. */
static int32
balance_inside(const Boxes *boxes)
{
	int32 sum = 0;

	for (int corner = 0; corner < 1 << boxes->nsides; corner++)
	{
		Size cell = 0;
		bool minus = false;

		for (int i = 0; i < boxes->nsides; i++)
		{
			bool low = (corner >> i) & 1;

			cell = cell * boxes->width[i] +
				   (low ? 2 * boxes->box.first[i] + 1 : 2 * boxes->box.last[i] + 2);
			minus = minus != low;
		}
		sum += minus ? -boxes->below[cell] : boxes->below[cell];
	}
	return sum;
}

/* Do all sides so far touch one of these points? */
static bool
touched(const Boxes *boxes, int sides, uint64 points)
{
	for (int i = 0; i < sides; i++)
		if ((points & boxes->sides[i].points[boxes->box.first[i]]) == 0 ||
			(points & boxes->sides[i].points[boxes->box.last[i]]) == 0)
			return false;
	return true;
}

/* Ones inside, then zeros inside. */
static void
list_box(Boxes *boxes)
{
	int32 wrong = boxes->ones + balance_inside(boxes);

	boxes->listed[boxes->count] = boxes->box;
	boxes->errors[2 * boxes->count] = wrong;
	boxes->errors[2 * boxes->count + 1] = boxes->units->nrows - wrong;
	boxes->count++;
}

/* Lists the boxes around some of these points, from this side on. */
static void
walk(Boxes *boxes, int number, uint64 points)
{
	const Side *side = &boxes->sides[number];

	if (number == boxes->nsides)
	{
		list_box(boxes);
		return;
	}
	for (int first = 0; first < side->nvalues; first++)
	{
		uint64 within = 0;

		boxes->box.first[number] = first;
		if ((points & side->points[first]) == 0)
			continue;
		for (int last = first; last < side->nvalues; last++)
		{
			within |= points & side->points[last];
			boxes->box.last[number] = last;
			if (touched(boxes, number + 1, within))
				walk(boxes, number + 1, within);
		}
	}
}

/* The box of the block so far; returns the points in it. */
static uint64
begin_block(Boxes *boxes, int block)
{
	const Side *side = &boxes->sides[0];
	uint64		points = 0;
	int			first = 0;

	for (; block >= side->nvalues - first; first++)
		block -= side->nvalues - first;
	for (int i = first; i <= first + block; i++)
		points |= side->points[i];
	boxes->box.first[0] = (uint8) first;
	boxes->box.last[0] = (uint8) (first + block);
	return points;
}

static int
boxes_blocks(void *own)
{
	return intervals_of(((const Boxes *) own)->sides[0].nvalues) + 1;
}

static int32
boxes_errors(void *own, int block, int32 *errors)
{
	Boxes *boxes = own;

	if (block == boxes_blocks(boxes) - 1)
	{
		errors[0] = boxes->ones;
		return 1;
	}
	boxes->errors = errors;
	boxes->count = 0;
	walk(boxes, 1, begin_block(boxes, block));
	return 2 * boxes->count;
}

static void
boxes_get(void *own, int block, int32 index, Hypothesis *hypothesis)
{
	Boxes		  *boxes = own;
	BoxHypothesis *box = &hypothesis->u.box;
	const Box	  *listed = &boxes->listed[index / 2];

	if (block == boxes_blocks(boxes) - 1)
		return; /* no sides, and zeros inside */
	box->sides = boxes->nsides;
	box->inside = index % 2 == 0;
	for (int i = 0; i < box->sides; i++)
	{
		box->low[i] = boxes->sides[i].value[listed->first[i]];
		box->high[i] = boxes->sides[i].value[listed->last[i]];
	}
}

static double
boxes_steps(const void *own, double share)
{
	const Boxes *boxes = own;
	double		 rows = boxes->units->nrows;
	double		 points = Min(share * rows + 1, boxes->most_points);
	double		 steps = 1 << boxes->nsides;

	for (int i = 0; i < boxes->nsides; i++)
		steps *= points * (points + 1) / 2;
	return steps + 8 * rows * boxes->nsides;
}

const HypothesisListing boxes_listing = {
	.create = boxes_create,
	.choose = boxes_choose,
	.max_blocks = boxes_max_blocks,
	.block_size = boxes_block_size,
	.blocks = boxes_blocks,
	.errors = boxes_errors,
	.get = boxes_get,
	.steps = boxes_steps,
};
