/*
 * candidates.h
 *		Finite sets of classifiers that cover a class, made from public data alone.
 *
 * candidates.c			grids of cuts, counting, building, one candidate in full
 * candidate_errors.c	weighted errors of all candidates in one pass over the rows
 *
 * Unit tests drive these files without mechanism.h.
 *
 * A class is covered under the disagreement metric of a reference: the distance
 * between two classifiers is the mass of the points on which they differ
 * (Chaudhuri, Hsu 2011, section 4).  The reference is uniform on [0, 1] in every
 * numeric column, or a set of points.  Every shape, a set of points, comes with
 * every two classes of which one is said inside and the other outside, so every
 * class is closed under negation, except for finite classes, which are taken as
 * they are.
 */
#ifndef PRIVPRED_CANDIDATES_H
#define PRIVPRED_CANDIDATES_H

#include "mechanism/finite_class.h"
#include "server/privpred.h"

typedef enum CandidateClass
{
	CLASS_THRESHOLDS, /* x >= cut, one number */
	CLASS_INTERVALS,  /* low <= x < high, one number */
	CLASS_STUMPS,	  /* a threshold of any one column */
	CLASS_RECTANGLES, /* an interval of each column, up to MAX_SIDES */
	CLASS_HALFSPACES, /* a threshold of a weighted sum */
	CLASS_FINITE	  /* hypotheses over points */
} CandidateClass;

#define MAX_SIDES 3
#define MAX_CANDIDATES (INT64CONST(1) << 20)

/* Are the classifiers boxes, rather than cuts of a score? */
static inline bool
class_has_boxes(CandidateClass class)
{
	return class == CLASS_INTERVALS || class == CLASS_RECTANGLES;
}

typedef struct Reference
{
	int			  width;
	const bool	 *binary;  /* columns that are 0 or 1 */
	int64		  npoints; /* 0: uniform */
	const double *x;	   /* width numbers a point */
} Reference;

/* The inner cuts of one column in rising order; nothing lies beyond them. */
typedef struct Grid
{
	int		ncuts;
	double *cut;
	double	radius; /* the largest mass between a cut anywhere and the nearest one */
} Grid;

typedef struct Candidates
{
	CandidateClass class;
	int	   width;
	int	   nclasses;
	int64  count;
	double radius; /* of the cover, under its reference */
	double share;  /* of the class that it holds for; 0: not known yet */

	/*
	 * Boxes have a grid for each column.  Other classes have one for each
	 * direction, and their first shape is constant.
	 */
	int				   ngrids;
	Grid			  *grids;
	double			  *direction; /* width numbers each; NULL: direction i is column i */
	const FiniteClass *finite;
} Candidates;

/* One classifier, apart from the set it came from. */
typedef struct Classifier
{
	CandidateClass class;
	int		inside; /* what is said above the cut or inside the box */
	int		outside;
	double	cut;	/* of the weighted sum; -infinity: always */
	double *weight; /* width numbers */
	double	low[MAX_SIDES];
	double	high[MAX_SIDES];
	int		hypothesis; /* of a finite class */
} Classifier;

/*
 * ---------- candidates.c ----------
 *
 * The resolution is the number of inner cuts of each numeric column.  There are
 * fewer where a reference has fewer distinct values.
 */

/* In how many ways two of so many classes are said inside and outside. */
static inline int64
class_pairs(int nclasses)
{
	return (int64) nclasses * (nclasses - 1);
}

/* How many shapes there are at most; saturates above MAX_CANDIDATES. */
extern int64 candidates_shapes(CandidateClass class, const Reference *reference, int resolution);

/* The largest resolution with no more shapes than the limit; -1: none. */
extern int candidates_resolution(CandidateClass class, const Reference *reference, int64 limit);

/* The least resolution that covers a uniform reference within the radius. */
extern int candidates_resolution_within(CandidateClass class, int width, double radius);

/* Any class except halfspaces (cover/cover.h) and finite ones. */
extern Candidates *
candidates_build(CandidateClass class, const Reference *reference, int resolution, int nclasses);
extern Candidates *candidates_of_finite(const FiniteClass *finite, int nclasses);

extern void candidate_get(const Candidates *candidates, int64 index, Classifier *classifier);

/* The number of a class; not for finite classes. */
extern int classifier_says(const Classifier *classifier, int width, const double *x);

/*
 * ---------- candidate_errors.c ----------
 *
 * Errors are whole numbers, ERROR_ONE for a unit all of whose rows are wrong.
 * Rows of a unit of n rows weigh ERROR_ONE / n each, rounded down, so that no
 * unit adds more than ERROR_ONE to any error, exactly.
 */
#define ERROR_ONE (INT64CONST(1) << 24)

typedef struct ErrorCounts ErrorCounts;

/* Bytes that counting and the errors will take. */
extern Size			errors_memory(const Candidates *candidates);
extern ErrorCounts *errors_create(const Candidates *candidates);

/* Finite classes: x is the number of the point, or below 0 for none. */
extern void errors_add(ErrorCounts *counts, const double *x, int label, int64 weight);

/*
 * The counts as so many sums.  errors_flush() adds them to others, and counts from
 * zero; errors_take() counts on from them.
 */
extern int64 errors_sums(const ErrorCounts *counts);
extern void	 errors_flush(ErrorCounts *counts, int128 *sums);
extern void	 errors_take(ErrorCounts *counts, const int128 *sums);

/* The error of every candidate. */
extern int64 *errors_finish(ErrorCounts *counts);

/* How many cuts are at or below x. */
extern int grid_cell(const Grid *grid, double x);

#endif /* PRIVPRED_CANDIDATES_H */
