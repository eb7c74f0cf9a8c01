/*
 * space.c
 *		Halfspaces of three and four features: their labelings of a sample, and
 *		how many rows each gets wrong.
 *
 * If a hyperplane parts T into ones and zeros, it can be moved, crossing no point,
 * until as many points as there are dimensions lie on it that span it; those on
 * it are parted by a hyperplane within it, and so on down to a point.  So every
 * labeling of T is that of a chain of flats through points of T, with a label
 * for either side of each in the one before.  The corner at 0 and those beside it
 * count as points through which flats may go, so that there are enough, whatever
 * T is.  Of the chains that label T alike the first represents them.
 *
 * T is cut to its first points, in the order of units, so that a set of them is
 * one word, and an answer takes a bounded time.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "mechanism/flats.h"

#define MOST_POINTS 48
#define POOL (MOST_POINTS + SPACE_MAX_WIDTH + 1)

/* Flats between two looks for interrupts. */
#define FLATS_PER_CHECK 64

#define CONSTANT 0xff /* in the place of a chain's first point */

/* One of H_T. */
typedef struct Chain
{
	uint8 point[SPACE_MAX_WIDTH]; /* of the pool; the first i span a flat each */
	uint8 says;
} Chain;

typedef struct Space
{
	const LabelledUnits *units;
	int					 width;
	int					 most_points;
	int32				 ones;
	int32				 zeros;
	int32				 npoints;
	GridPoint			*points;  /* that rows are at, distinct */
	int32				*balance; /* rows labelled 0 minus rows labelled 1 at each */
	int32				*point_of_row;

	/* T */
	int		  nsample; /* its points come first in the pool, in their order */
	int		  npool;
	GridPoint pool[POOL];

	/* H_T */
	int32	nlisted;
	Chain  *listed;
	int32  *errors;
	int		slot_bits;
	uint64 *slots; /* a hash table of labelings, each plus one; 0: free */
	int32	above; /* zeros minus ones among rows above the present hyperplane */
	int32	below;
	int32	non_plane; /* points on it; -1: not counted yet */
	int32  *on_plane;
} Space;

#define NSLOTS(space) (UINT64CONST(1) << (space)->slot_bits)

/* ---------- preparing ---------- */

/* How many ways hyperplanes label so many points at most. */
static int32
labelings(int width, int points)
{
	double sum = 1;
	double term = 1;

	for (int i = 1; i <= width && i < points; i++)
	{
		term = term * (points - i) / i;
		sum += term;
	}
	return (int32) (2 * sum);
}

static int32
space_block_size(const void *own)
{
	const Space *space = own;

	return labelings(space->width, space->most_points);
}

#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE int32
#define ST_COMPARE_ARG_TYPE GridPoint
#define ST_COMPARE(a, b, rows) memcmp(&(rows)[*(a)], &(rows)[*(b)], sizeof(GridPoint))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Rows at the same point count together: features of few values have few points. */
static void
find_points(Space *space)
{
	const LabelledUnits *units = space->units;
	GridPoint			*rows = TAKE(GridPoint, units->nrows);
	int32				*order = TAKE(int32, units->nrows);
	int32				 n = 0;

	for (int32 i = 0; i < units->nrows; i++)
	{
		flats_point(space->width, units->x + (Size) i * units->width, &rows[i]);
		order[i] = i;
	}
	sort_rows(order, units->nrows, rows);
	for (int32 i = 0; i < units->nrows; i++)
	{
		const GridPoint *row = &rows[order[i]];

		if (n == 0 || memcmp(&space->points[n - 1], row, sizeof(GridPoint)) != 0)
		{
			space->balance[n] = 0;
			space->points[n++] = *row;
		}
		space->point_of_row[order[i]] = n - 1;
		space->balance[n - 1] += units->label[order[i]] ? -1 : 1;
	}
	space->npoints = n;
	pfree(order);
	pfree(rows);
}

static void *
space_create(const HypothesisSource *source)
{
	const LabelledUnits *units = source->units;
	Space				*space = palloc0(sizeof(Space));

	space->units = units;
	space->width = units->width;
	space->most_points = Min(source->most_points, MOST_POINTS);
	space->ones = count_ones(units);
	space->zeros = units->nrows - space->ones;
	space->points = TAKE(GridPoint, units->nrows);
	space->balance = TAKE(int32, units->nrows);
	space->point_of_row = TAKE(int32, units->nrows);
	find_points(space);
	space->listed = TAKE(Chain, space_block_size(space));
	space->errors = TAKE(int32, space_block_size(space));
	space->slot_bits = pg_leftmost_one_pos32(space_block_size(space)) + 2;
	space->slots = TAKE(uint64, NSLOTS(space));
	space->on_plane = TAKE(int32, space->npoints);
	return space;
}

/* ---------- errors ---------- */

/* Counts the rows on either side of the first flat, once for all chains from it. */
static void
count_sides(Space *space, const SpaceHypothesis *hypothesis)
{
	space->above = space->below = space->non_plane = 0;
	for (int32 i = 0; i < space->npoints; i++)
	{
		int64 side = flats_side(hypothesis->normal[0], hypothesis->base, &space->points[i]);

		if (side > 0)
			space->above += space->balance[i];
		else if (side < 0)
			space->below += space->balance[i];
		else
			space->on_plane[space->non_plane++] = i;
	}
}

static int32
count_errors(Space *space, const SpaceHypothesis *hypothesis)
{
	int32 errors = space->ones;

	if (space->non_plane < 0)
		count_sides(space, hypothesis);
	errors += hypothesis->says & 1 ? space->above : space->below;
	for (int32 i = 0; i < space->non_plane; i++)
		if (flats_say(hypothesis, &space->points[space->on_plane[i]]))
			errors += space->balance[space->on_plane[i]];
	return errors;
}

/* ---------- H_T ---------- */

/* Is it the first with this labeling?  Then it is remembered. */
static bool
is_new(Space *space, uint64 labels)
{
	uint64 slot = ((labels + 1) * UINT64CONST(0x9e3779b97f4a7c15)) >> (64 - space->slot_bits);

	for (; space->slots[slot] != 0; slot = (slot + 1) % NSLOTS(space))
		if (space->slots[slot] == labels + 1)
			return false;
	space->slots[slot] = labels + 1;
	return true;
}

/* With all labels for either side of each flat, and for the point at the end. */
static void
list_chain(Space *space, const uint8 *chain)
{
	SpaceHypothesis hypothesis;
	uint64			above[SPACE_MAX_WIDTH + 1] = {0};
	uint64			below[SPACE_MAX_WIDTH + 1] = {0};
	int				width = space->width;

	if (!flats_of_chain(space->width, space->pool, chain, &hypothesis))
		return;
	space->non_plane = -1;
	for (int i = 0; i < space->nsample; i++)
	{
		int64 side = 0;
		int	  flat = 0;

		while (flat < width &&
			   (side = flats_side(hypothesis.normal[flat], hypothesis.base, &space->pool[i])) == 0)
			flat++;
		if (side >= 0)
			above[flat] |= UINT64CONST(1) << i;
		else
			below[flat] |= UINT64CONST(1) << i;
	}
	for (int says = 0; says < 2 << width; says++)
	{
		uint64 labels = 0;

		for (int i = 0; i <= width; i++)
			labels |= (says >> i) & 1 ? above[i] : below[i];
		if (!is_new(space, labels))
			continue;
		hypothesis.says = (uint8) says;
		memcpy(space->listed[space->nlisted].point, chain, SPACE_MAX_WIDTH);
		space->listed[space->nlisted].says = (uint8) says;
		space->errors[space->nlisted++] = count_errors(space, &hypothesis);
	}
}

/* The points of the pool on the flat through the first n of a chain, in some columns. */
static uint64
points_on(const Space *space, const uint8 *chain, int n, uint32 columns, uint64 within,
		  int64 *normal)
{
	const GridPoint *points[SPACE_MAX_WIDTH];
	uint64			 on = 0;

	for (int i = 0; i < n; i++)
		points[i] = &space->pool[chain[i]];
	if (!flats_normal(points, n, columns, normal))
		return 0;
	for (int i = 0; i < space->npool; i++)
		if ((within >> i) & 1 && flats_side(normal, points[0]->x, &space->pool[i]) == 0)
			on |= UINT64CONST(1) << i;
	return on;
}

/* The next n members of a set after these, in order; at first, the first ones. */
static bool
next_members(uint64 set, int n, uint8 *members, bool at_first)
{
	int	  count = pg_popcount64(set);
	uint8 all[64];
	int	  place[SPACE_MAX_WIDTH] = {0};
	int	  i = 0;

	for (int member = 0; member < 64; member++)
		if ((set >> member) & 1)
			all[i++] = (uint8) member;
	if (count < n)
		return false;
	for (i = 0; i < n; i++)
	{
		place[i] = i;
		while (!at_first && all[place[i]] != members[i])
			place[i]++;
	}
	if (!at_first)
	{
		for (i = n - 1; i >= 0 && place[i] == count - n + i; i--)
			;
		if (i < 0)
			return false;
		place[i]++;
		for (i++; i < n; i++)
			place[i] = place[i - 1] + 1;
	}
	for (i = 0; i < n; i++)
		members[i] = all[place[i]];
	return true;
}

/* Are these the first of the points on a flat that span it? */
static bool
is_first_of(const Space *space, uint64 on, const uint8 *chain, int n, uint32 columns)
{
	uint8 first[SPACE_MAX_WIDTH];
	int64 normal[SPACE_MAX_WIDTH];
	bool  more = next_members(on, n, first, true);

	while (more && points_on(space, first, n, columns, on, normal) == 0)
		more = next_members(on, n, first, false);
	return memcmp(first, chain, n) == 0;
}

/*
 * Chains within the flat that these points span, n dimensions of it told by the
 * columns.  Each flat within is taken once, with the first points that span it; if
 * no others lie on it, all orders of its points are alike.  A point off it spans
 * the flat before, and so on.
 */
static void
walk(Space *space, uint64 within, int n, uint32 columns, const uint8 *before)
{
	uint8 chain[SPACE_MAX_WIDTH];
	int	  flats = 0;

	memcpy(chain, before, sizeof(chain));
	for (bool more = next_members(within, n, chain, true); more;
		 more = next_members(within, n, chain, false))
	{
		int64  normal[SPACE_MAX_WIDTH];
		uint64 on = points_on(space, chain, n, columns, within, normal);

		if (++flats % FLATS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (on == 0)
			continue;
		if (n < space->width)
			chain[n] = (uint8) pg_rightmost_one_pos64(within & ~on);
		if (pg_popcount64(on) == n)
			list_chain(space, chain);
		else if (is_first_of(space, on, chain, n, columns))
			walk(space, on, n - 1, flats_without_column(columns, normal), chain);
	}
}

/* ---------- T ---------- */

static void
take_point(Space *space, const GridPoint *point)
{
	for (int i = 0; i < space->npool; i++)
		if (memcmp(&space->pool[i], point, sizeof(GridPoint)) == 0)
			return;
	space->pool[space->npool++] = *point;
}

static void
list_constant(Space *space, bool one)
{
	(void) is_new(space, one ? (UINT64CONST(1) << space->nsample) - 1 : 0);
	space->listed[space->nlisted].point[0] = CONSTANT;
	space->listed[space->nlisted].says = one;
	space->errors[space->nlisted++] = one ? space->zeros : space->ones;
}

static void
space_choose(void *own, const uint64 *units)
{
	Space	 *space = own;
	GridPoint corner = {0};
	uint8	  chain[SPACE_MAX_WIDTH] = {0};

	space->npool = space->nlisted = 0;
	memset(space->slots, 0, sizeof(uint64) * NSLOTS(space));
	FOR_CHOSEN_ROWS(row, space->units, units)
	{
		if (space->npool < space->most_points)
			take_point(space, &space->points[space->point_of_row[row]]);
	}
	space->nsample = space->npool;
	list_constant(space, false);
	if (space->nsample == 0)
		return;
	list_constant(space, true);
	take_point(space, &corner);
	for (int i = 0; i < space->width; i++)
	{
		memset(&corner, 0, sizeof(GridPoint));
		corner.x[i] = flats_grid(space->width);
		take_point(space, &corner);
	}
	walk(space, (UINT64CONST(1) << space->npool) - 1, space->width, (1 << space->width) - 1, chain);
}

static int
space_blocks(void *own)
{
	return 1;
}

static int
space_max_blocks(const void *own)
{
	return 1;
}

static int32
space_errors(void *own, int block, int32 *errors)
{
	const Space *space = own;

	memcpy(errors, space->errors, sizeof(int32) * space->nlisted);
	return space->nlisted;
}

static void
space_get(void *own, int block, int32 index, Hypothesis *hypothesis)
{
	const Space *space = own;
	const Chain *chain = &space->listed[index];

	if (chain->point[0] != CONSTANT)
		(void) flats_of_chain(space->width, space->pool, chain->point, &hypothesis->u.space);
	hypothesis->u.space.says = chain->says;
}

/* A hyperplane for each choice of as many points as there are dimensions. */
static double
space_steps(const void *own, double share)
{
	const Space *space = own;
	double		 rows = space->units->nrows;
	double		 points = Min(share * rows + 1, space->most_points) + space->width + 1;
	double		 planes = 1;

	for (int i = 0; i < space->width; i++)
		planes *= (points - i) / (i + 1);
	return planes * (space->npoints + 1000);
}

const HypothesisListing space_listing = {
	.create = space_create,
	.choose = space_choose,
	.max_blocks = space_max_blocks,
	.block_size = space_block_size,
	.blocks = space_blocks,
	.errors = space_errors,
	.get = space_get,
	.steps = space_steps,
};
