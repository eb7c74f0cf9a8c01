/*
 * sums.h
 *		Sums of clipped gradients, in integers.
 *
 * Features are integers of GRADIENT_FEATURE_BITS bits, less a public centre;
 * the residual of a row (what its prediction is off by) is an integer, too; and
 * a row's gradient is their product, without any further rounding.  Whatever
 * the floating-point arithmetic before it does, the integer gradient of a unit
 * has a norm of at most clip, and integer sums do not depend on the order of
 * units: this is all that privacy rests on.
 *
 * Nothing here knows the server, so that unit tests can drive it alone.  A
 * block is small enough to be worked on without looking for interrupts.
 */
#ifndef PRIVPRED_GRADIENT_SUMS_H
#define PRIVPRED_GRADIENT_SUMS_H

#include "server/privpred.h"

#define GRADIENT_BLOCK_ROWS 64
#define GRADIENT_FEATURE_BITS 12
#define GRADIENT_FEATURE_ONE (1 << GRADIENT_FEATURE_BITS)
/* The feature that is always there; centred features vary by about as much. */
#define GRADIENT_INTERCEPT (GRADIENT_FEATURE_ONE / 2)
/* 2^12 features times 2^12 residuals times 64 rows: partial sums fit into 31 bits. */
#define GRADIENT_RESIDUAL_MAX 4096
#define GRADIENT_CLIP_MAX (1 << 28)

typedef enum GradientLoss
{
	GRADIENT_LOGISTIC, /* two classes, one vector of weights */
	GRADIENT_SOFTMAX,  /* a vector for each class */
	GRADIENT_HUBER	   /* a number in [0, 1] */
} GradientLoss;

typedef struct GradientShape
{
	GradientLoss loss;
	int			 width;
	int			 outputs;	   /* vectors of weights */
	int32		 clip;		   /* largest norm of a unit's integer gradient */
	float		 residual_one; /* integer units of a residual of one, up to GRADIENT_RESIDUAL_MAX */
	float		 huber;		   /* largest residual, up to 1 */
	const int16 *centre;	   /* of the integer features; each in [0, GRADIENT_FEATURE_ONE] */
} GradientShape;

/* Weights of each output: one for each feature, then that of the intercept. */
static inline int64
gradient_parameters(const GradientShape *shape)
{
	return (int64) shape->outputs * (shape->width + 1);
}

/*
 * Rows by columns.  A block has either units of one row, or units of several
 * rows, which may begin in an earlier and end in a later block.
 */
typedef struct GradientBlock
{
	int32 rows;
	float label[GRADIENT_BLOCK_ROWS]; /* class, or number in [0, 1] */
	union
	{
		int32 cap[GRADIENT_BLOCK_ROWS];		  /* one row: largest norm of its residuals */
		int32 unit_rows[GRADIENT_BLOCK_ROWS]; /* several: how many, at the last, else 0 */
	};
	int16 x[FLEXIBLE_ARRAY_MEMBER]; /* column after column */
} GradientBlock;

extern Size gradient_block_size(int width);
extern void gradient_block_clear(GradientBlock *block, int width);

/* Appends a row; x is clamped to [0, 1].  unit_rows is 0, except for the last row of several. */
extern void
gradient_block_put(GradientBlock *block, int width, float label, const double *x, int32 unit_rows);

/* What one step over blocks works on. */
typedef struct GradientWork
{
	float *weights; /* of centred features; the caller sets them */
	int64 *sums;
	/* private */
	float *residual; /* a block's, output after output */
	int16 *integer_residual;
	int64 *unit; /* sum of the rows so far of a unit of several */
	int64 *row;	 /* features of one row */
} GradientWork;

/* Bytes for all of it, and laying it out in them; sums are zero. */
extern Size gradient_work_size(const GradientShape *shape);
extern void gradient_work_place(const GradientShape *shape, char *memory, GradientWork *work);

/*
 * First: adds features, as they were put, each unit's mean clipped to a norm
 * of limit, to sums[width + 1], of which the last counts units: limit for each.
 * A unit that changes keeps its count, and features are not negative; one that
 * comes or goes moves count and features.  Either way the sums move by at
 * most sqrt(2) limit.
 */
extern void gradient_add_features(const GradientShape *shape, const GradientBlock *block,
								  bool shared, int64 limit, GradientWork *work);

/* Then, once for each block: subtracts the centre, and finds how far to clip. */
extern void gradient_block_centre(const GradientShape *shape, GradientBlock *block, bool shared);

/* Then, as often as there are steps: adds gradients to sums[gradient_parameters()]. */
extern void gradient_add_block(const GradientShape *shape, const GradientBlock *block, bool shared,
							   GradientWork *work);

#endif /* PRIVPRED_GRADIENT_SUMS_H */
