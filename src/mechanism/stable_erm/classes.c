/*
 * classes.c
 *		A class by the scores of several fits, each of one class against the rest.
 *
 * The draw knows nothing but how far each class is behind the best.  All
 * scores move by shift steps at most, and so does the best, so a class that is
 * further behind than FARTHEST can be moved up to there: what it then has
 * is the larger of two numbers that move by shift steps at most.
 */
#include "c.h"

#include "draw/record.h"
#include "mechanism/stable_erm/erm.h"
#include "mechanism/vote/draw.h"

/* Weights exp(-26) or less of the best at the least epsilon and the largest shift. */
#define FARTHEST (1 << 30)

static void
all_steps(int nclasses, const double *scores, double grid, int64 *steps)
{
	for (int k = 0; k < nclasses; k++)
		steps[k] = erm_steps(scores[k], grid);
}

static void
behind_the_best(int nclasses, const int64 *steps, int32 *relative)
{
	int64 most = steps[0];

	for (int k = 1; k < nclasses; k++)
		most = Max(most, steps[k]);
	for (int k = 0; k < nclasses; k++)
		relative[k] = (int32) Max(steps[k] - most, -FARTHEST);
}

int
erm_draw_class(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const double *scores,
			   double grid, int64 shift)
{
	int64 steps[PRIVPRED_MAX_CLASSES];
	int32 relative[PRIVPRED_MAX_CLASSES];

	all_steps(nclasses, scores, grid, steps);
	RECORD_INPUT("stable_erm_classes", INPUT_LARGEST, shift, nclasses, steps);
	behind_the_best(nclasses, steps, relative);
	return score_draw_within(order_is_infinite, epsilon, shift, nclasses, relative);
}

void
erm_class_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
					   const double *scores, double grid, int64 shift, double *probability)
{
	int64 steps[PRIVPRED_MAX_CLASSES];
	int32 relative[PRIVPRED_MAX_CLASSES];

	all_steps(nclasses, scores, grid, steps);
	behind_the_best(nclasses, steps, relative);
	score_distribution_within(order_is_infinite, epsilon, shift, nclasses, relative, probability);
}
