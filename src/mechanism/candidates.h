/*
 * candidates.h
 *		Finite sets of classifiers that cover a class, from public things alone.
 *
 * candidates.c		grids of cuts, counting, building, one candidate in full
 * halfspaces.c		directions and offsets, packed by farthest-first traversal
 * candidate_errors.c	weighted errors of all candidates in one pass over rows
 * cover_radius.c	what is proved of the distance to the nearest candidate
 *
 * Apart from mechanism.h so that unit tests can drive it alone.
 *
 * A class is covered under the disagreement metric of a reference: the
 * distance of two classifiers is the mass of the points on which they differ
 * (Chaudhuri, Hsu 2011, section 4).  The reference is uniform on [0, 1] in every
 * numeric column, or a set of points.  Candidates come in pairs that differ in
 * which class is said where, so every class here is closed under negation,
 * but for finite classes, which are taken as they are.
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

typedef struct Reference
{
	int			  width;
	const bool	 *binary;  /* columns that are 0 or 1 */
	int64		  npoints; /* 0: uniform */
	const double *x;	   /* width numbers a point */
} Reference;

/* The inner cuts of one column, increasing; beyond them is everything. */
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
	int64  count;
	double radius; /* of the cover, under its reference; halfspaces: found, not proved */

	/* Thresholds, stumps, halfspaces: cuts of scores; candidates 0, 1 are constant. */
	int		ndirections;
	double *direction; /* width numbers each; NULL: direction i is column i */
	Grid   *cuts;	   /* of each direction */

	/* Intervals, rectangles. */
	Grid *side; /* of each column */

	const FiniteClass *finite;
} Candidates;

/* One classifier, apart from the set it came from. */
typedef struct Classifier
{
	CandidateClass class;
	bool	inside; /* what is said above the cut or inside the box */
	double	cut;	/* of the weighted sum; -infinity: always */
	double *weight; /* width numbers */
	double	low[MAX_SIDES];
	double	high[MAX_SIDES];
	int		hypothesis; /* of a finite class */
} Classifier;

/*
 * ---------- candidates.c ----------
 *
 * resolution is the number of inner cuts of each numeric column: as many as
 * that, or fewer where a reference has fewer distinct values.
 */

/* How many candidates there are at most; saturates above MAX_CANDIDATES. */
extern int64 candidates_count(CandidateClass class, const Reference *reference, int resolution);

/* The largest resolution with no more candidates than the limit; -1: none. */
extern int candidates_resolution(CandidateClass class, const Reference *reference, int64 limit);

/* The least resolution that covers a uniform reference within the radius. */
extern int candidates_resolution_within(CandidateClass class, int width, double radius);

/* Any class but halfspaces and finite ones. */
extern Candidates *
candidates_build(CandidateClass class, const Reference *reference, int resolution);
extern Candidates *candidates_of_finite(const FiniteClass *finite);

extern void candidate_get(const Candidates *candidates, int64 index, Classifier *classifier);

/* Says 0 or 1; not for finite classes. */
extern bool classifier_says(const Classifier *classifier, int width, const double *x);

/*
 * ---------- halfspaces.c ----------
 *
 * At most limit candidates.  What holds of all halfspaces is not known: radius is
 * the distance of the farthest of some fresh halfspaces, on fresh points.
 */
#define MAX_HALFSPACES 2048
#define FRESH_HALFSPACES 2048
#define FRESH_POINTS 4096

extern Candidates *halfspaces_build(const Reference *reference, int64 limit);

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
extern void errors_add(ErrorCounts *counts, const double *x, bool label, int64 weight);

/* The error of every candidate. */
extern int64 *errors_finish(ErrorCounts *counts);

/* How many cuts are at or below x. */
extern int grid_cell(const Grid *grid, double x);

/*
 * ---------- cover_radius.c ----------
 *
 * Neither for halfspaces nor for finite classes.
 */
typedef struct RadiusCounts RadiusCounts;

/* A bound on the radius under all rows that are added, with their weights. */
extern RadiusCounts *radius_create(const Candidates *candidates, const bool *binary);
extern void			 radius_add(RadiusCounts *counts, const double *x, int64 weight);
extern double		 radius_finish(const RadiusCounts *counts, double total);

/*
 * What to add to the radius under a reference's rows to have that under the
 * distribution from which the rows are independent draws, but with probability
 * beta.
 */
extern double
radius_beyond_reference(const Candidates *candidates, const Reference *reference, double beta);

#endif /* PRIVPRED_CANDIDATES_H */
