/*
 * numbers.c
 *		From teachers' numbers to a private mean.
 *
 * Each number is rounded to a step of its own, so that their sum is an integer that one unit
 * moves by AVERAGE_STEPS at most, whatever floating point does; the noise is on that.  A
 * random teacher's number would be worse (docs/mechanisms.md, section 4).
 *
 * The caller records what goes in (draw/record.h; inputs: average/average.c).
 */
#include "c.h"

#include <math.h>

#include "mechanism/average/draw.h"
#include "mechanism/stable_erm/erm.h"

StaticAssertDecl(AVERAGE_STEPS < ERM_MAX_SHIFT, "the noise would not be exact");

int64
average_sum(int n, const double *numbers)
{
	int64 sum = 0;

	/* What is not a number is 0. */
	for (int i = 0; i < n; i++)
		if (numbers[i] > 0)
			sum += (int64) rint(Min(numbers[i], 1.0) * AVERAGE_STEPS);
	return sum;
}

double
average_share(int64 sum, int teachers)
{
	int64 most = (int64) teachers * AVERAGE_STEPS;

	return (double) Min(Max(sum, 0), most) / most;
}

double
average_number(bool order_is_infinite, EpsilonUnits epsilon, int64 sum, int teachers)
{
	return average_share(sum + erm_noise(order_is_infinite, epsilon, AVERAGE_STEPS), teachers);
}

double
average_number_error(bool order_is_infinite, EpsilonUnits epsilon, int64 sum, int teachers,
					 double truth)
{
	double most = (double) teachers * AVERAGE_STEPS;
	double mean;
	double square;

	erm_draw_moments(order_is_infinite, epsilon, (double) sum, 1, AVERAGE_STEPS, 0, most, &mean,
					 &square);
	return square / most / most - 2 * truth * mean / most + truth * truth;
}
