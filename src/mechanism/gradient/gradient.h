/*
 * gradient.h
 *		The "gradient" mechanism: what its files share.
 *
 * gradient.c	options, charge, answers
 * train.c		training
 * rows.h		units in blocks
 * passes.c		passes over units, wherever they are
 * noise.h		how much noise
 * spread.h		what the noise does to the weights
 * sums.h		sums of clipped gradients
 */
#ifndef PRIVPRED_GRADIENT_H
#define PRIVPRED_GRADIENT_H

#include "mechanism/gradient/noise.h"
#include "mechanism/gradient/sums.h"
#include "mechanism/mechanism.h"

#define GRADIENT_DEFAULT_DELTA 1e-6

/* All of it follows from declared numbers. */
typedef struct GradientPlan
{
	GradientLoss  loss;
	int			  outputs;
	int64		  steps;
	double		  rate;	 /* of the safe step for features of the usual size; 0: by the noise */
	double		  noise; /* what gradient_rate() goes by, times the number of units */
	double		  momentum;
	double		  huber;
	double		  clip;			  /* norm of a unit's gradient; 0: by the features' size */
	int32		  clip_units;	  /* the same as an integer */
	int64		  features_limit; /* norm of a unit's features where their mean is taken */
	GradientNoise features_noise; /* of that mean, and of the number of units */
	GradientNoise step_noise;	  /* of every step */
} GradientPlan;

/* Raises 22023 if the declared numbers do not go together. */
extern void gradient_plan(const MechanismSpec *spec, GradientPlan *plan);

/* The declared rate, or that for so many units. */
extern double gradient_rate(const GradientPlan *plan, double units);

/*
 * Weights for encoded features, width and an intercept for each output; then
 * the standard deviation, at most, of the noise of each (spread.h).  In the
 * current memory context.
 */
extern double *
gradient_train(const MechanismSpec *spec, const GradientPlan *plan, UnitSource *units, Size memory);

/* passes.c: fills the work's sums with those over all units, of what comes next. */
struct GradientRows;
extern void gradient_pass(UnitSource *units, const struct GradientRows *rows);

#endif /* PRIVPRED_GRADIENT_H */
