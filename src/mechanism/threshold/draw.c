/*
 * draw.c
 *		From where a walk stands to a private answer.
 *
 * The caller records what goes in (draw/record.h; inputs: threshold/threshold.c).
 */
#include "c.h"

#include <math.h>

#include "mechanism/threshold/draw.h"
#include "draw/sampler.h"

double
threshold_step_size(const ThresholdStep *step)
{
	return epsilon_real(step->epsilon) / 2 / step->rows;
}

/* True with probability exp(-|t|). */
static bool
accepts(const ThresholdStep *step, int32 steps)
{
	uint64 distance = steps < 0 ? -(int64) steps : steps;

	return sample_bernoulli_exp_wide((uint128) distance * step->epsilon,
									 (uint128) 2 * step->rows * EPSILON_UNITS_PER_ONE);
}

/* The other class than the walk's side with probability exp(-|t|) / 2. */
static bool
other_by_laplace(const ThresholdStep *step, int32 steps)
{
	return sample_bernoulli(1, 2) && accepts(step, steps);
}

/* Odds exp(-|t|) to 1, by rejection. */
static bool
other_by_logistic(const ThresholdStep *step, int32 steps)
{
	while (!sample_bernoulli(1, 2))
	{
		if (accepts(step, steps))
			return true;
	}
	return false;
}

bool
threshold_draw(WalkLink link, const ThresholdStep *step, int32 steps)
{
	bool other =
		link == WALK_LAPLACE ? other_by_laplace(step, steps) : other_by_logistic(step, steps);

	return (steps > 0) != other;
}

double
threshold_probability(WalkLink link, const ThresholdStep *step, int32 steps)
{
	double t = steps * threshold_step_size(step);

	if (link == WALK_LOGISTIC)
		return 1 / (1 + exp(-t));
	return t > 0 ? 1 - exp(-t) / 2 : exp(t) / 2;
}
