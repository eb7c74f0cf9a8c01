/*
 * hypotheses.h
 *		Classes of hypotheses whose labelings of a sample can be listed.
 *
 * hypotheses.c		thresholds, stumps, intervals
 * plane.c		halfspaces in the plane
 *
 * Unit tests drive this without mechanism.h.  S is all rows;
 * T is the rows of some chosen units.  H_T has one hypothesis for each way in
 * which the class can label T, and is a function of T alone: of the rows' values,
 * not of their order, nor of S.  (With stumps: for each way and each feature.)
 *
 * H_T is listed block by block, so that no array as long as H_T is needed.
 */
#ifndef PRIVPRED_HYPOTHESES_H
#define PRIVPRED_HYPOTHESES_H

#include "port/pg_bitutils.h"

#include "server/privpred.h"

typedef enum HypothesisClass
{
	HYPOTHESES_STUMP,	 /* thresholds of each feature, both directions */
	HYPOTHESES_INTERVAL, /* of the only feature, either class inside */
	HYPOTHESES_HALFSPACE /* of two features */
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

typedef struct Hypothesis
{
	HypothesisClass class;
	union
	{
		IntervalHypothesis	interval; /* also stumps */
		HalfspaceHypothesis halfspace;
	} u;
} Hypothesis;

extern bool hypothesis_says(const Hypothesis *hypothesis, const double *x);

typedef struct HypothesisSpace HypothesisSpace;

/*
 * The units must outlive the space.  Nothing can be chosen before each of its
 * parts, from 0 on, is prepared; preparing sorts rows and takes most of the time.
 * Memory is taken here and then only.
 */
extern HypothesisSpace *hypotheses_create(HypothesisClass class, const LabelledUnits *units);
extern int				hypotheses_parts(const HypothesisSpace *space);
extern void				hypotheses_prepare(HypothesisSpace *space, int part);

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

/* ---------- plane.c, for hypotheses.c ---------- */

typedef struct Plane Plane;

#define PLANE_MAX_ROWS 2000 /* their angles around each other are stored */

extern Plane *plane_create(const LabelledUnits *units);
extern int32  plane_points(const Plane *plane);
extern void	  plane_prepare(Plane *plane, int32 point);
extern void	  plane_choose(Plane *plane, const LabelledUnits *units, const uint64 *chosen);
extern int	  plane_blocks(const Plane *plane);
extern int32  plane_errors(Plane *plane, int block, int32 *errors);
extern HalfspaceHypothesis plane_get(Plane *plane, int block, int32 index);
extern bool				   plane_says(const HalfspaceHypothesis *hypothesis, const double *x);

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
