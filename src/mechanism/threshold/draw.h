/*
 * draw.h
 *		From where a walk stands to a private answer.
 *
 * Unit tests drive this without mechanism.h.  A step is
 * worth epsilon / (2 rows): a unit has at most so many rows, each of which
 * moves the walk by at most one step when it goes and one when it comes.
 */
#ifndef PRIVPRED_THRESHOLD_DRAW_H
#define PRIVPRED_THRESHOLD_DRAW_H

#include "learner/threshold_walk.h"
#include "server/privpred.h"

typedef struct ThresholdStep
{
	EpsilonUnits epsilon;
	int			 rows; /* of one unit, at most */
} ThresholdStep;

/* What a step is worth, in doubles: for limits and probabilities. */
extern double threshold_step_size(const ThresholdStep *step);

/*
 * True is class 1.  With t = steps * size, its probability is the Laplace
 * distribution's F(t), which is epsilon-DP, or for finite orders the logistic
 * 1 / (1 + exp(-t)), whose odds move by a factor of at most exp(epsilon): it
 * has bounded range epsilon.
 */
extern bool threshold_draw(WalkLink link, const ThresholdStep *step, int32 steps);

/* That probability, in doubles; not private. */
extern double threshold_probability(WalkLink link, const ThresholdStep *step, int32 steps);

#endif /* PRIVPRED_THRESHOLD_DRAW_H */
