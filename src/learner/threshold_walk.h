/*
 * threshold_walk.h
 *		One numeric feature, two classes: a walk over the sorted rows.
 *
 * The walk starts at 0 and goes up a step for a row of class 1, down a step for
 * one of class 0, and stays within [-limit, limit] (Dwork, Feldman 2018,
 * section 2.2).  Where it stands after the rows up to x decides the answer at
 * x.  Rows at one x are one move, by the difference of their numbers: taken
 * one after another, the class that comes last would win.
 *
 * All in whole steps; what a step is worth is up to the caller.  There are two
 * walks, because answers to accounts of infinite and of finite order use
 * different limits.
 *
 * Includes nothing of the server, so that unit tests can drive it alone.
 */
#ifndef PRIVPRED_THRESHOLD_WALK_H
#define PRIVPRED_THRESHOLD_WALK_H

#include "c.h"

typedef enum WalkLink
{
	WALK_LAPLACE, /* infinite order */
	WALK_LOGISTIC /* finite orders */
} WalkLink;

#define WALK_LINKS 2

/* Options: the error that is left far from every boundary. */
#define WALK_DEFAULT_ALPHA 0.05
#define WALK_MIN_ALPHA 1e-6
#define WALK_MAX_ALPHA 0.5

/* ---------- the walk ---------- */

typedef struct WalkRow
{
	double x;
	int32  label; /* 0 or 1 */
} WalkRow;

static inline int
walk_row_compare(const WalkRow *a, const WalkRow *b)
{
	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return a->label - b->label;
}

/*
 * The limits for a step of this size: ln(1/alpha) for the Laplace link and
 * ln(2/alpha) for the logistic one, rounded up to whole steps.  Any limit is
 * as private; 2^31 steps are more than there are rows.
 */
extern void walk_limits(double alpha, double step, int32 *limit);

typedef struct Walk
{
	const WalkRow *rows; /* sorted */
	int64		   nrows;
	int64		   next;
	int32		   limit[WALK_LINKS];

	/* From x on, up to the next x, the walks stand here. */
	double x;
	int32  steps[WALK_LINKS];
} Walk;

extern void walk_start(Walk *walk, const WalkRow *rows, int64 nrows, const int32 *limit);

/* Goes on to the next x where a walk moves; false at the end. */
extern bool walk_next(Walk *walk);

/*
 * ---------- stored walks ----------
 *
 * The body of a member of kind "threshold" (predictor_format.h), with room
 * for as many points as the caller wants to show.
 */
#define WALK_MAX_POINTS (1 << 25)

extern int64 walk_points(const WalkRow *rows, int64 nrows, const int32 *limit);
extern Size	 walk_body_size(int64 capacity);
extern void	 walk_write(unsigned char *body, int64 capacity, const WalkRow *rows, int64 nrows,
						const int32 *limit);

/* A stored walk, laid out for searching. */
typedef struct WalkPoints
{
	int64		  n;
	const double *x;
	const int32	 *steps[WALK_LINKS];
} WalkPoints;

/* How many of the rising values are at most x. */
static inline int64
walk_points_up_to(const double *values, int64 n, double x)
{
	const double *first = values;

	while (n > 0)
	{
		int64 half = n / 2;

		if (first[half] <= x)
		{
			first += half + 1;
			n -= half + 1;
		}
		else
			n = half;
	}
	return first - values;
}

/* Where a walk stands at x. */
static inline int32
walk_at(const WalkPoints *points, WalkLink link, double x)
{
	int64 passed = walk_points_up_to(points->x, points->n, x);

	return passed == 0 ? 0 : points->steps[link][passed - 1];
}

#endif /* PRIVPRED_THRESHOLD_WALK_H */
