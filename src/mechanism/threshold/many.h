/*
 * many.h
 *		Walks for several classes, on several columns.
 *
 * With two classes and one column there is one walk, of one number
 * (learner/threshold_walk.h).  Here every class has a position of its own: a row
 * takes its class a step up, and no class stays more than the limit behind the
 * one in front.  Only distances to that one are kept: of two classes, the larger
 * is the walk of one number.  Why this is private: docs/mechanisms.md, section 7.
 *
 * Unit tests drive this without mechanism.h.
 */
#ifndef PRIVPRED_THRESHOLD_MANY_H
#define PRIVPRED_THRESHOLD_MANY_H

#include "learner/threshold_walk.h"

typedef struct ManyWalk
{
	const WalkRow *rows; /* sorted; labels from 0 to nclasses - 1 */
	int64		   nrows;
	int64		   next;
	int			   nclasses;
	int32		   limit[WALK_LINKS];
	int64		  *count; /* nclasses; of rows at x */

	/* From x on, up to the next x: steps behind the class in front, nclasses each. */
	double x;
	int32 *behind[WALK_LINKS];
} ManyWalk;

/* The caller has filled in what is above; count and behind are its memory. */
extern void many_start(ManyWalk *walk);

/* Goes on to the next x where a walk moves; false at the end. */
extern bool many_next(ManyWalk *walk);

/* How the walks of several columns become scores of classes. */
typedef enum Combination
{
	COMBINE_VOTE, /* of each class, the median of its leads over the best other */
	COMBINE_SUM	  /* positions added up */
} Combination;

/*
 * Limits for columns that are combined: where all (by vote), or one with the
 * others undecided (by sum), stand at their limit, the error is at most alpha/2.
 * Low enough that sums of all columns fit an int32.
 */
extern void many_limits(Combination combination, int nclasses, int ncolumns, double alpha,
						double step, int32 *limit);

/*
 * Scores, from each column's distances; scratch has room for three times
 * ncolumns.  One unit of so many rows moves each, up to a constant that is the
 * same for all, by at most many_most().
 */
extern void	 many_scores(Combination combination, int nclasses, int ncolumns,
						 const int32 *const *behind, int32 *scratch, int32 *scores);
extern int64 many_most(Combination combination, int ncolumns, int rows);

/*
 * ---------- stored walks (many_state.c) ----------
 *
 * capacity (4), two limits (4 each), zero (4); then for each column its points
 * (4), zero (4), with room for capacity of them: x (8 each) and, for each link, point
 * and class, steps behind (4 each).  Unused room is zero.
 */
typedef struct ManyColumn
{
	int64		  n;
	const double *x;
	const int32	 *behind[WALK_LINKS]; /* nclasses for each point */
} ManyColumn;

typedef struct ManyState
{
	const int32 *start;	  /* nclasses zeros: where every walk stands before its first row */
	ManyColumn	*columns; /* ncolumns */
} ManyState;

extern Size	 many_body_size(int nclasses, int ncolumns, int64 capacity);
extern int64 many_points(ManyWalk *walk);
extern void	 many_write_header(unsigned char *body, int64 capacity, const int32 *limit);
extern void	 many_write_column(unsigned char *body, int64 capacity, int column, ManyWalk *walk);

/* NULL: it is no such thing. */
extern ManyState *many_load(const unsigned char *body, Size size, int nclasses, int ncolumns);

/* Each column's distances at x, for many_scores(). */
extern void many_at(const ManyState *state, int nclasses, int ncolumns, WalkLink link,
					const double *x, const int32 **behind);

#endif /* PRIVPRED_THRESHOLD_MANY_H */
