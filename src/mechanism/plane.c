/*
 * plane.c
 *		Halfspaces in the plane: their labelings of a sample, and how many rows
 *		each gets wrong.
 *
 * If a line parts T into ones and zeros, both there, then the hulls of the two have
 * exactly one common tangent that goes from a one p to a zero r with all ones
 * on its left, or on it up to p, and all zeros on its right, or on it beyond p.
 * So the labelings of T, except the constant ones, are the pairs of a point p
 * of T and a direction in which p sees another point of T.  Pairs of points of a
 * part of T are among them, so H is nested (used by the proof of "relabel").
 *
 * Points lie on a grid, so that products of differences are exact in 64 bits: an
 * error count is a sum over units of what that unit alone decides, which the
 * proof needs.  Around each point of T the directions to the others are sorted,
 * and every point of S is searched among them: m points of T and n of S take
 * about m n steps.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "mechanism/hypotheses.h"

/* Errors of so many hypotheses are kept, for an answer asks for them three times. */
#define KEPT_ERRORS (1024 * 1024)

#define BUCKETS_MAX 8192

/* Steps that listing H_T may take if it is not for an answer, and the most rows. */
#define BEST_STEPS 20000000
#define BEST_ROWS 2000

typedef struct Point
{
	int64 x;
	int64 y;
	int32 balance; /* rows labelled 0 minus rows labelled 1 here */
	bool  chosen;
} Point;

typedef struct Direction
{
	int64 dx;
	int64 dy;
} Direction;

typedef struct Plane
{
	const LabelledUnits *units;
	int32				 ones;
	int32				 npoints;
	Point				*points; /* distinct */
	int32				*point_of_row;

	/* T */
	int32  nchosen;
	int32 *chosen; /* points, rising */

	/* around one of them */
	int		   listed_block; /* which one the directions are of, or -1 */
	int32	   ndirections;
	Direction *directions; /* in which another point of T lies, by angle */
	int32	  *change;	   /* of errors, from each direction to the next */
	int		   nbuckets;
	int32	  *bucket; /* of angles: the first direction in it or beyond */

	/* errors that are kept */
	int32  most_kept;
	int32  nkept;
	int32 *kept;
	int32 *kept_from;  /* of each block; -1: not kept */
	int32 *kept_count; /* so that none is sorted again */
} Plane;

/* ---------- geometry, exact ---------- */

static int64
to_grid(double value)
{
	return (int64) rint(value * PLANE_GRID);
}

/* Components are below 2^25, products below 2^50. */
static int64
cross(const Direction *a, const Direction *b)
{
	return a->dx * b->dy - a->dy * b->dx;
}

/* Angles in [0, pi) come before those in [pi, 2 pi). */
static int
half_of(const Direction *a)
{
	return a->dy < 0 || (a->dy == 0 && a->dx < 0);
}

static int
compare_directions(const void *a, const void *b)
{
	const Direction *left = a;
	const Direction *right = b;
	int				 halves = half_of(left) - half_of(right);
	int64			 turn;

	if (halves != 0)
		return halves;
	turn = cross(left, right);
	return (turn < 0) - (turn > 0);
}

static Direction
direction_to(const Point *origin, const Point *point)
{
	return (Direction){point->x - origin->x, point->y - origin->y};
}

/* Rises with the angle from 0 to 4, as far as doubles do. */
static double
rough_angle(const Direction *a)
{
	double share = (double) a->dy / (double) (llabs(a->dx) + llabs(a->dy));

	if (a->dx < 0)
		return 2 - share;
	return a->dy < 0 ? 4 + share : share;
}

/* ---------- preparing ---------- */

static int
compare_rows(const void *a, const void *b, void *arg)
{
	const double *x = arg;
	int32		  left = *(const int32 *) a;
	int32		  right = *(const int32 *) b;

	for (int i = 0; i < 2; i++)
	{
		int64 one = to_grid(x[2 * (Size) left + i]);
		int64 other = to_grid(x[2 * (Size) right + i]);

		if (one != other)
			return one < other ? -1 : 1;
	}
	return 0;
}

#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE int32
#define ST_COMPARE_ARG_TYPE double
#define ST_COMPARE(a, b, x) compare_rows(a, b, x)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

static void
find_points(Plane *plane)
{
	const LabelledUnits *units = plane->units;
	double				*x = unconstify(double *, units->x);
	int32				*order = TAKE(int32, units->nrows);
	int32				 n = 0;

	for (int32 i = 0; i < units->nrows; i++)
		order[i] = i;
	sort_rows(order, units->nrows, x);
	for (int32 i = 0; i < units->nrows; i++)
	{
		int32 row = order[i];

		if (i == 0 || compare_rows(&order[i - 1], &row, x) != 0)
			plane->points[n++] =
				(Point){to_grid(x[2 * (Size) row]), to_grid(x[2 * (Size) row + 1]), 0, false};
		plane->point_of_row[row] = n - 1;
		plane->points[n - 1].balance += units->label[row] ? -1 : 1;
	}
	pfree(order);
	plane->npoints = n;
}

static void *
plane_create(const HypothesisSource *source)
{
	Plane *plane = palloc0(sizeof(Plane));
	int32  nrows = source->units->nrows;

	plane->units = source->units;
	plane->ones = count_ones(source->units);
	plane->points = TAKE(Point, nrows);
	plane->point_of_row = TAKE(int32, nrows);
	find_points(plane);
	plane->chosen = TAKE(int32, plane->npoints);
	plane->directions = TAKE(Direction, plane->npoints);
	plane->change = TAKE(int32, plane->npoints + 1);
	plane->bucket = TAKE(int32, Min(4 * plane->npoints, BUCKETS_MAX) + 5);
	plane->most_kept = (int32) Min((int64) plane->npoints * plane->npoints, KEPT_ERRORS);
	plane->kept = TAKE(int32, plane->most_kept);
	plane->kept_from = TAKE(int32, plane->npoints);
	plane->kept_count = TAKE(int32, plane->npoints);
	return plane;
}

/* ---------- T ---------- */

static void
plane_choose(void *own, const uint64 *units)
{
	Plane *plane = own;

	for (int32 i = 0; i < plane->npoints; i++)
		plane->points[i].chosen = false;
	FOR_CHOSEN_ROWS(row, plane->units, units)
	plane->points[plane->point_of_row[row]].chosen = true;
	plane->nchosen = 0;
	for (int32 i = 0; i < plane->npoints; i++)
	{
		if (!plane->points[i].chosen)
			continue;
		plane->kept_from[plane->nchosen] = -1;
		plane->chosen[plane->nchosen++] = i;
	}
	plane->listed_block = -1;
	plane->nkept = 0;
}

/* A block for each point of T, and one for the constants. */
static int
plane_max_blocks(const void *own)
{
	return ((const Plane *) own)->npoints + 1;
}

static int32
plane_block_size(const void *own)
{
	return ((const Plane *) own)->npoints + 2;
}

static int
plane_blocks(void *own)
{
	return ((Plane *) own)->nchosen + 1;
}

/* ---------- around one point of T ---------- */

static int
bucket_of(const Plane *plane, const Direction *direction)
{
	return (int) (rough_angle(direction) * plane->nbuckets / 4);
}

/* The directions in which other points of T are seen, each once. */
static void
list_directions(Plane *plane, int block)
{
	const Point *origin = &plane->points[plane->chosen[block]];
	Direction	*directions = plane->directions;
	int32		 n = 0;
	int32		 next = 0;

	if (plane->listed_block == block)
		return;
	for (int32 i = 0; i < plane->nchosen; i++)
		if (i != block)
			directions[n++] = direction_to(origin, &plane->points[plane->chosen[i]]);
	qsort(directions, n, sizeof(Direction), compare_directions);
	plane->ndirections = 0;
	for (int32 i = 0; i < n; i++)
		if (i == 0 || compare_directions(&directions[plane->ndirections - 1], &directions[i]) != 0)
			directions[plane->ndirections++] = directions[i];
	plane->nbuckets = Max(Min(4 * plane->ndirections, BUCKETS_MAX), 4);
	for (int32 i = 0; i < plane->ndirections; i++)
		for (int bucket = bucket_of(plane, &directions[i]); next <= bucket; next++)
			plane->bucket[next] = i;
	while (next <= plane->nbuckets + 1)
		plane->bucket[next++] = plane->ndirections;
	plane->listed_block = block;
}

/*
 * How many directions come before this one.  Roundings may put an angle into the
 * bucket beside its own; the exact comparisons at the end do not rely on more.
 */
static int32
directions_before(const Plane *plane, const Direction *direction, int bucket)
{
	int32 low = plane->bucket[Max(bucket - 1, 0)];
	int32 high = plane->bucket[Min(bucket + 2, plane->nbuckets + 1)];

	while (low < high)
	{
		int32 middle = (low + high) / 2;

		if (compare_directions(&plane->directions[middle], direction) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 0 && compare_directions(&plane->directions[low - 1], direction) >= 0)
		low--;
	while (low < plane->ndirections && compare_directions(&plane->directions[low], direction) < 0)
		low++;
	return low;
}

/*
 * Ones are the origin itself and what lies at angles in (direction, direction + half
 * a turn].  So a point at angle t counts for the directions in [t - half a turn,
 * t), a range that goes through 0 if t is less than half a turn.
 */
static void
count_around(Plane *plane, const Point *origin, int32 *errors)
{
	int32 n = plane->ndirections;
	int32 sum = plane->ones + origin->balance;

	memset(plane->change, 0, sizeof(int32) * (n + 1));
	for (int32 i = 0; i < plane->npoints; i++)
	{
		const Point *point = &plane->points[i];
		Direction	 to = direction_to(origin, point);
		Direction	 back = {-to.dx, -to.dy};
		int			 bucket;
		int			 opposite;

		if (point == origin || point->balance == 0)
			continue;
		bucket = bucket_of(plane, &to);
		opposite = (bucket + plane->nbuckets / 2) % plane->nbuckets;
		plane->change[directions_before(plane, &back, opposite)] += point->balance;
		plane->change[directions_before(plane, &to, bucket)] -= point->balance;
		if (half_of(&to) == 0)
			sum += point->balance;
	}
	for (int32 i = 0; i < n; i++)
		errors[i] = sum += plane->change[i];
}

static int32
constant_errors(const Plane *plane, int32 *errors)
{
	errors[0] = errors[1] = plane->ones;
	for (int32 i = 0; i < plane->npoints; i++)
		errors[1] += plane->points[i].balance;
	return plane->nchosen > 0 ? 2 : 1;
}

static int32
plane_errors(void *own, int block, int32 *errors)
{
	Plane *plane = own;
	int32 *from = &plane->kept_from[block];

	if (block == plane->nchosen)
		return constant_errors(plane, errors);
	if (*from >= 0)
	{
		memcpy(errors, plane->kept + *from, sizeof(int32) * plane->kept_count[block]);
		return plane->kept_count[block];
	}
	CHECK_FOR_INTERRUPTS();
	list_directions(plane, block);
	count_around(plane, &plane->points[plane->chosen[block]], errors);
	if (plane->nkept + plane->ndirections <= plane->most_kept)
	{
		*from = plane->nkept;
		plane->kept_count[block] = plane->ndirections;
		memcpy(plane->kept + *from, errors, sizeof(int32) * plane->ndirections);
		plane->nkept += plane->ndirections;
	}
	return plane->ndirections;
}

static void
plane_get(void *own, int block, int32 index, Hypothesis *hypothesis)
{
	Plane				*plane = own;
	HalfspaceHypothesis *halfspace = &hypothesis->u.halfspace;

	if (block == plane->nchosen)
		halfspace->everywhere = index == 1;
	else
	{
		const Point *origin = &plane->points[plane->chosen[block]];

		list_directions(plane, block);
		halfspace->x = origin->x;
		halfspace->y = origin->y;
		halfspace->dx = plane->directions[index].dx;
		halfspace->dy = plane->directions[index].dy;
	}
}

/* Of a point some four times what a step is elsewhere. */
static double
plane_steps(const void *own, double share)
{
	const Plane *plane = own;

	return (share * plane->units->nrows + 1) * (4.0 * plane->npoints + 1);
}

static int32
plane_most_rows(const void *own)
{
	return Min(BEST_STEPS / Max(((const Plane *) own)->npoints, 1) + 1, BEST_ROWS);
}

const HypothesisListing plane_listing = {
	.create = plane_create,
	.choose = plane_choose,
	.max_blocks = plane_max_blocks,
	.block_size = plane_block_size,
	.blocks = plane_blocks,
	.errors = plane_errors,
	.get = plane_get,
	.steps = plane_steps,
	.most_rows = plane_most_rows,
};

/* ---------- what one says ---------- */

bool
plane_says(const HalfspaceHypothesis *hypothesis, const double *x)
{
	int64 dx = to_grid(x[0]) - hypothesis->x;
	int64 dy = to_grid(x[1]) - hypothesis->y;
	int64 turn = hypothesis->dx * dy - hypothesis->dy * dx;

	if (hypothesis->dx == 0 && hypothesis->dy == 0)
		return hypothesis->everywhere;
	return turn > 0 || (turn == 0 && hypothesis->dx * dx + hypothesis->dy * dy <= 0);
}

HalfspaceHypothesis
plane_line(const double *from, const double *to)
{
	HalfspaceHypothesis result = {.x = to_grid(from[0]), .y = to_grid(from[1])};

	result.dx = to_grid(to[0]) - result.x;
	result.dy = to_grid(to[1]) - result.y;
	return result;
}
