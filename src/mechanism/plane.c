/*
 * plane.c
 *		Halfspaces in the plane: their labelings of a sample, and how many rows
 *		each gets wrong.
 *
 * If a line parts T into ones and zeros, both there, then the hulls of the two have
 * exactly one common tangent that goes from a one p to a zero r with all ones
 * on its left, or on it up to p, and all zeros on its right, or on it beyond p.
 * So the labelings of T, except the constant ones, are the pairs of a point p
 * of T and a direction in which p sees another point of T.
 *
 * Points lie on a grid, so that products of differences are exact in 64 bits: an
 * error count is a sum over units of what that unit alone decides, which the
 * proof needs.  Rows sorted by their angle around each point are stored, so
 * that an answer goes once around every point of T.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/hypotheses.h"

typedef struct Point
{
	int64 x;
	int64 y;
	int32 balance; /* rows labelled 0 minus rows labelled 1 here */
	bool  chosen;
} Point;

struct Plane
{
	int32	ones;
	int32	npoints;
	Point  *points; /* distinct */
	int32  *point_of_row;
	uint16 *around; /* npoints - 1 for each: the others by angle */

	/* T */
	int32  nchosen;
	int32 *chosen;		 /* points, rising */
	int32  listed_block; /* which one directions[] is of, or -1 */
	int32  ndirections;
	int32 *directions; /* a point of T in each direction */
	int32 *run;		   /* balances added up twice around */
};

/* ---------- geometry, exact ---------- */

static int64
to_grid(double value)
{
	return (int64) rint(value * PLANE_GRID);
}

/* Differences are below 2^25, products below 2^50. */
static int64
cross(const Point *origin, const Point *a, const Point *b)
{
	return (a->x - origin->x) * (b->y - origin->y) - (a->y - origin->y) * (b->x - origin->x);
}

static int64
dot(const Point *origin, const Point *a, const Point *b)
{
	return (a->x - origin->x) * (b->x - origin->x) + (a->y - origin->y) * (b->y - origin->y);
}

/* Is the angle from a to b, counter-clockwise, in (0, pi]? */
static bool
within_half_turn(const Point *origin, const Point *a, const Point *b)
{
	int64 turn = cross(origin, a, b);

	return turn > 0 || (turn == 0 && dot(origin, a, b) < 0);
}

/* Angles in [0, pi) come before those in [pi, 2 pi). */
static int
half_of(const Point *origin, const Point *a)
{
	return a->y < origin->y || (a->y == origin->y && a->x < origin->x);
}

typedef struct AngleOrder
{
	const Point *points;
	const Point *origin;
} AngleOrder;

static int
compare_angles(const void *a, const void *b, void *arg)
{
	const AngleOrder *order = arg;
	const Point		 *left = &order->points[*(const uint16 *) a];
	const Point		 *right = &order->points[*(const uint16 *) b];
	int				  halves = half_of(order->origin, left) - half_of(order->origin, right);
	int64			  turn;

	if (halves != 0)
		return halves;
	turn = cross(order->origin, left, right);
	return (turn < 0) - (turn > 0);
}

static bool
same_direction(const Point *origin, const Point *a, const Point *b)
{
	return cross(origin, a, b) == 0 && dot(origin, a, b) > 0;
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
		int64 one = to_grid(x[2 * left + i]);
		int64 other = to_grid(x[2 * right + i]);

		if (one != other)
			return one < other ? -1 : 1;
	}
	return 0;
}

Plane *
plane_create(const LabelledUnits *units)
{
	Plane *plane = palloc0(sizeof(Plane));
	int32  nrows = units->nrows;
	int32 *order = palloc(sizeof(int32) * (nrows + 1));
	int32  n = 0;

	plane->points = palloc0(sizeof(Point) * (nrows + 1));
	plane->point_of_row = palloc(sizeof(int32) * (nrows + 1));
	for (int32 i = 0; i < nrows; i++)
		order[i] = i;
	qsort_arg(order, nrows, sizeof(int32), compare_rows, unconstify(double *, units->x));
	for (int32 i = 0; i < nrows; i++)
	{
		int32 row = order[i];

		if (i == 0 || compare_rows(&order[i - 1], &row, unconstify(double *, units->x)) != 0)
		{
			plane->points[n].x = to_grid(units->x[2 * row]);
			plane->points[n++].y = to_grid(units->x[2 * row + 1]);
		}
		plane->point_of_row[row] = n - 1;
		plane->points[n - 1].balance += units->label[row] ? -1 : 1;
		plane->ones += units->label[row];
	}
	pfree(order);
	plane->npoints = n;
	plane->around = palloc_extended(sizeof(uint16) * ((Size) n * n + 1), MCXT_ALLOC_HUGE);
	plane->chosen = palloc(sizeof(int32) * (n + 1));
	plane->directions = palloc(sizeof(int32) * (n + 1));
	plane->run = palloc(sizeof(int32) * (2 * n + 1));
	return plane;
}

int32
plane_points(const Plane *plane)
{
	return plane->npoints;
}

static uint16 *
others_around(const Plane *plane, int32 point)
{
	return plane->around + (Size) point * (plane->npoints - 1);
}

void
plane_prepare(Plane *plane, int32 point)
{
	AngleOrder order = {plane->points, &plane->points[point]};
	uint16	  *others = others_around(plane, point);
	int32	   n = 0;

	for (int32 i = 0; i < plane->npoints; i++)
		if (i != point)
			others[n++] = (uint16) i;
	qsort_arg(others, n, sizeof(uint16), compare_angles, &order);
}

/* ---------- T ---------- */

void
plane_choose(Plane *plane, const LabelledUnits *units, const uint64 *chosen)
{
	for (int32 i = 0; i < plane->npoints; i++)
		plane->points[i].chosen = false;
	FOR_CHOSEN_ROWS(row, units, chosen)
	plane->points[plane->point_of_row[row]].chosen = true;
	plane->nchosen = 0;
	for (int32 i = 0; i < plane->npoints; i++)
		if (plane->points[i].chosen)
			plane->chosen[plane->nchosen++] = i;
	plane->listed_block = -1;
}

/* A block for each point of T, and one for the constants. */
int
plane_blocks(const Plane *plane)
{
	return plane->nchosen + 1;
}

/*
 * Goes around one point of T.  Ones are the point itself and what lies at angles
 * in (direction, direction + half a turn], so the end of that range moves on as
 * the direction does.
 */
int32
plane_errors(Plane *plane, int block, int32 *errors)
{
	const Point	 *origin;
	const uint16 *others;
	int32		  n = plane->npoints - 1;
	int32		  end = 0;

	plane->listed_block = block;
	plane->ndirections = 0;
	if (block == plane->nchosen)
	{
		errors[0] = plane->ones;
		errors[1] = 0;
		for (int32 i = 0; i < plane->npoints; i++)
			errors[1] += plane->points[i].balance;
		errors[1] += plane->ones;
		return plane->nchosen > 0 ? 2 : 1;
	}
	origin = &plane->points[plane->chosen[block]];
	others = others_around(plane, plane->chosen[block]);
	plane->run[0] = 0;
	for (int32 i = 0; i < 2 * n; i++)
		plane->run[i + 1] = plane->run[i] + plane->points[others[i % n]].balance;
	for (int32 start = 0; start < n;)
	{
		const Point *direction = &plane->points[others[start]];
		int32		 of_sample = -1;
		int32		 next = start;

		for (; next < n && same_direction(origin, direction, &plane->points[others[next]]); next++)
			if (plane->points[others[next]].chosen)
				of_sample = others[next];
		end = Max(end, next);
		while (end < start + n &&
			   within_half_turn(origin, direction, &plane->points[others[end % n]]))
			end++;
		if (of_sample >= 0)
		{
			errors[plane->ndirections] =
				plane->ones + origin->balance + plane->run[end] - plane->run[next];
			plane->directions[plane->ndirections++] = of_sample;
		}
		start = next;
	}
	return plane->ndirections;
}

HalfspaceHypothesis
plane_get(Plane *plane, int block, int32 index)
{
	HalfspaceHypothesis result = {0};

	if (block == plane->nchosen)
		result.everywhere = index == 1;
	else
	{
		const Point *origin = &plane->points[plane->chosen[block]];
		const Point *toward = &plane->points[plane->directions[index]];

		Assert(plane->listed_block == block);
		result.x = origin->x;
		result.y = origin->y;
		result.dx = toward->x - origin->x;
		result.dy = toward->y - origin->y;
	}
	return result;
}

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
