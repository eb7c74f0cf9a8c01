/*
 * estimate_plan.c
 *		How many questions, and draws for each, an estimate may take.
 */
#include "c.h"

#include <math.h>

#include "request/estimate_plan.h"

EstimatePlan
estimate_plan(int64 rows, double steps)
{
	double		 draws = floor(ESTIMATE_WORK / Max(steps, 1));
	EstimatePlan plan;

	/* Several draws for a question help less than other questions do. */
	plan.rows = (int64) Min((double) rows, Max(draws, ESTIMATE_LEAST_ROWS));
	plan.draws = (int) Max(1, Min(draws / Max(plan.rows, 1), ESTIMATE_MOST_DRAWS));
	return plan;
}

/*
 * Hoeffding's inequality for draws in [0, 1].  The draws for one question are
 * not drawn from all questions, so that of a sample each question counts once;
 * that none is asked twice only helps.
 */
double
estimate_margin(int64 rows, int draws, bool sampled)
{
	double terms = (double) rows * (sampled ? 1 : draws);

	return terms > 0 ? Min(1, sqrt(log(2 / (1 - ESTIMATE_CONFIDENCE)) / (2 * terms))) : 1;
}
