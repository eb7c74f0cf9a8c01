/*
 * hypotheses.h
 *		Classes of hypotheses whose labelings of a sample can be listed.
 *
 * hypotheses.c		one class or another
 * columns.c		thresholds, stumps, intervals
 * plane.c			halfspaces in the plane
 * space.c			halfspaces of three and four features
 * boxes.c			rectangles
 * points.c			finite classes
 *
 * Unit tests drive this without mechanism.h.  S is all rows;
 * T is the rows of some chosen units.  H_T has one hypothesis for each way in
 * which the class can label T, and is a function of T alone: of the rows' values,
 * not of their order, nor of S.  (With stumps: for each way and each feature.
 * With rectangles, two for some.  Boxes and spaces cut T to so many points, in
 * the order of the units.)
 *
 * H_T is listed block by block, so that no array as long as H_T is needed.
 */
#ifndef PRIVPRED_HYPOTHESES_H
#define PRIVPRED_HYPOTHESES_H

#include "port/pg_bitutils.h"

#include "mechanism/finite_class.h"
#include "server/privpred.h"

typedef enum HypothesisClass
{
	HYPOTHESES_STUMP,	  /* thresholds of each feature, both directions */
	HYPOTHESES_INTERVAL,  /* of the only feature, either class inside */
	HYPOTHESES_HALFSPACE, /* of two features */
	HYPOTHESES_SPACE,	  /* halfspaces of three or four */
	HYPOTHESES_RECTANGLE, /* of up to three, either class inside */
	HYPOTHESES_FINITE	  /* over points */
} HypothesisClass;

/* Rows of a unit are next to each other. */
typedef struct LabelledUnits
{
	int32		  nunits;
	int32		  nrows;
	int			  width;
	const int32	 *first_row; /* nunits + 1 */
	const uint8	 *label;	 /* 0 or 1, of each row */
	const double *x;		 /* width numbers a row, in [0, 1] */
} LabelledUnits;

/* Says 1 for low <= x[feature] < high if inside, else for all other x. */
typedef struct IntervalHypothesis
{
	int	   feature;
	double low;
	double high;
	bool   inside;
} IntervalHypothesis;

/*
 * Says 1 left of the line through a point in a direction, and on the line up to
 * the point.  Without direction: the same everywhere.  Whole numbers, so that
 * no rounding can make the answer depend on anything else.
 */
#define PLANE_GRID 16777216.0 /* 2^24 steps from 0 to 1 */

typedef struct HalfspaceHypothesis
{
	int64 x;
	int64 y;
	int64 dx;
	int64 dy;
	bool  everywhere; /* without direction: 1? */
} HalfspaceHypothesis;

/*
 * Says of x what its side of the first hyperplane is, or if x lies on that, of the
 * second, and so on, each within the one before; of the base, which lies on
 * all, it says what is said last.  Whole numbers again.
 */
#define SPACE_MAX_WIDTH 4

typedef struct SpaceHypothesis
{
	int	  width;
	int64 base[SPACE_MAX_WIDTH];
	int64 normal[SPACE_MAX_WIDTH][SPACE_MAX_WIDTH];
	uint8 says; /* bit i: above hyperplane i; bit width: at the base */
} SpaceHypothesis;

/* Says 1 for low <= x <= high in every feature if inside, else for all other x. */
#define BOX_MAX_SIDES 3

typedef struct BoxHypothesis
{
	int	   sides; /* 0: the whole space */
	double low[BOX_MAX_SIDES];
	double high[BOX_MAX_SIDES];
	bool   inside;
} BoxHypothesis;

/* Of a finite class x is the number of a point by POINT_SCALE, or 1 for none. */
#define POINT_SCALE ((double) FINITE_MAX_POINTS)

typedef struct PointHypothesis
{
	const FiniteClass *finite;
	int				   number;
} PointHypothesis;

typedef struct Hypothesis
{
	HypothesisClass class;
	union
	{
		IntervalHypothesis	interval; /* also stumps */
		HalfspaceHypothesis halfspace;
		SpaceHypothesis		space;
		BoxHypothesis		box;
		PointHypothesis		point;
	} u;
} Hypothesis;

extern bool hypothesis_says(const Hypothesis *hypothesis, const double *x);

/* The point that x is, or -1. */
static inline int
point_of(const FiniteClass *finite, const double *x)
{
	return x[0] * POINT_SCALE < finite->npoints ? (int) (x[0] * POINT_SCALE) : -1;
}

/* What H_T is a function of, beside T: all of it declared, but for the units. */
typedef struct HypothesisSource
{
	HypothesisClass class;
	const LabelledUnits *units;
	const FiniteClass	*finite;	  /* of class FINITE */
	int					 most_points; /* of T that are used, of classes RECTANGLE and SPACE */
} HypothesisSource;

typedef struct HypothesisSpace HypothesisSpace;

/*
 * The units must outlive the space.  Sorts rows, and can be cancelled.  Memory is
 * taken here and then only.
 */
extern HypothesisSpace *hypotheses_create(const HypothesisSource *source);

/* Chooses T: a bit for each unit; kept by reference. */
extern void hypotheses_choose(HypothesisSpace *space, const uint64 *units);

/*
 * H_T: its blocks, and in each the number of rows of all S that each hypothesis
 * gets wrong.  errors has room for hypotheses_block_size(); returns how many
 * there are, at least one over all blocks.  A hypothesis is got from the block
 * whose errors were listed last.
 */
extern int		  hypotheses_max_blocks(const HypothesisSpace *space);
extern int32	  hypotheses_block_size(const HypothesisSpace *space);
extern int		  hypotheses_blocks(HypothesisSpace *space);
extern int32	  hypotheses_errors(HypothesisSpace *space, int block, int32 *errors);
extern Hypothesis hypotheses_get(HypothesisSpace *space, int block, int32 index);

/* About how many steps it takes to list H_T if T has a share of the units. */
extern double hypotheses_steps(const HypothesisSpace *space, double share);

/* How many rows T may have if it is not for an answer: more would take too long. */
extern int32 hypotheses_most_rows(const HypothesisSpace *space);

/* ---------- for hypotheses.c: how each file does this ---------- */

typedef struct HypothesisListing
{
	void *(*create)(const HypothesisSource *source);
	void (*choose)(void *own, const uint64 *units);
	int (*max_blocks)(const void *own);
	int32 (*block_size)(const void *own);
	int (*blocks)(void *own);
	int32 (*errors)(void *own, int block, int32 *errors);
	void (*get)(void *own, int block, int32 index, Hypothesis *hypothesis);
	double (*steps)(const void *own, double share);
	int32 (*most_rows)(const void *own); /* NULL: any number */
} HypothesisListing;

extern const HypothesisListing columns_listing;
extern const HypothesisListing plane_listing;
extern const HypothesisListing space_listing;
extern const HypothesisListing boxes_listing;
extern const HypothesisListing points_listing;

extern bool plane_says(const HalfspaceHypothesis *hypothesis, const double *x);
/* Through one point in the direction of another. */
extern HalfspaceHypothesis plane_line(const double *from, const double *to);

extern bool space_says(const SpaceHypothesis *hypothesis, const double *x);

/* The rows labelled 1. */
extern int32 count_ones(const LabelledUnits *units);

#define TAKE(type, count) \
	((type *) palloc_extended(sizeof(type) * ((Size) (count) + 1), MCXT_ALLOC_HUGE))

/* The first chosen unit from this one on, or nunits; no bit is set beyond. */
static inline int32
next_chosen(const uint64 *chosen, int32 nunits, int32 from)
{
	int32  word = from / 64;
	uint64 rest;

	if (from >= nunits)
		return nunits;
	rest = chosen[word] & (~UINT64CONST(0) << (from % 64));
	while (rest == 0)
	{
		if (++word >= (nunits + 63) / 64)
			return nunits;
		rest = chosen[word];
	}
	return word * 64 + pg_rightmost_one_pos64(rest);
}

/* A loop over the rows of the chosen units. */
#define FOR_CHOSEN_ROWS(row, units, chosen) \
	for (int32 chosen_unit_ = next_chosen((chosen), (units)->nunits, 0); \
		 chosen_unit_ < (units)->nunits; \
		 chosen_unit_ = next_chosen((chosen), (units)->nunits, chosen_unit_ + 1)) \
		for (int32 row = (units)->first_row[chosen_unit_]; \
			 row < (units)->first_row[chosen_unit_ + 1]; row++)

#endif /* PRIVPRED_HYPOTHESES_H */
