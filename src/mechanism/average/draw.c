/*
 * draw.c
 *		From the share of teachers that say yes to a private yes or no.
 *
 * The answer is one teacher's, chosen at random, so its randomness is the
 * teachers' own disagreement (Dwork, Feldman 2018, section 2.1).  They add
 * Laplace noise before clipping; clipping alone is enough: between counts c and
 * c + 1, both in [m, r - m], either answer's probability changes by a factor of
 * at most (m + 1) / m <= exp(epsilon), and outside nothing changes.
 *
 * The caller records what goes in (draw/record.h; inputs: average/average.c).
 */
#include "c.h"

#include <math.h>

#include "mechanism/average/draw.h"
#include "draw/sampler.h"

int64
average_margin(EpsilonUnits epsilon)
{
	double margin = 1 / expm1(epsilon_real(epsilon));

	/* The product is far more than rounding can have taken away. */
	return (int64) ceil(margin * (1 + 1e-12));
}

static int64
clipped(EpsilonUnits epsilon, int32 yes, int teachers)
{
	int64 margin = average_margin(epsilon);

	return Min(Max(yes, margin), teachers - margin);
}

bool
average_draw(EpsilonUnits epsilon, int32 yes, int teachers)
{
	return sample_bernoulli(clipped(epsilon, yes, teachers), teachers);
}

double
average_probability(EpsilonUnits epsilon, int32 yes, int teachers)
{
	return (double) clipped(epsilon, yes, teachers) / teachers;
}
