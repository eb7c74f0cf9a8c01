/*
 * draw.c
 *		The stability test of streams (Bassily, Thakkar, Thakurta 2018,
 *		algorithms 1 to 4, corrected as in docs/mechanisms.md, section 15).
 *
 * The distance is of sensitivity one.  (The paper's, gap - 1, is of sensitivity
 * two: a vote that moves takes from one count and gives to the other.)
 *
 * The threshold and each distance have discrete Laplace noise of scale
 * 3/epsilon, so that a run up to and with its first failure is epsilon-DP: a
 * threshold lower by one lets all that passed pass for a neighbour too, and
 * costs epsilon/3; the failing distance then moves by two, and costs
 * 2 epsilon/3.  Integers move exactly.  (The paper gives both halves: scales
 * 2/epsilon and 4/epsilon.  What decides how far teachers must agree is the
 * noise of the distances, so less of it is worth a wider threshold: of 4,000
 * teachers that agree, a stream of 20 runs within (1, 1e-6) lasts for 100
 * million answers instead of 130,000.)
 *
 * The caller records what goes in (draw/record.h; inputs: sparse/sparse.c).
 */
#include "c.h"

#include <math.h>

#include "mechanism/sparse/draw.h"
#include "draw/sampler.h"

int64
sparse_distance(int n, const int32 *counts, int *top)
{
	int32 second = 0;

	*top = 0;
	for (int i = 1; i < n; i++)
	{
		if (counts[i] > counts[*top])
		{
			second = counts[*top];
			*top = i;
		}
		else
			second = Max(second, counts[i]);
	}
	/* A gap of 1 or 2 can be turned by one teacher, 3 or 4 by two, and so on. */
	return Max(counts[*top] - second - 1, 0) / 2;
}

int64
sparse_noise(EpsilonUnits epsilon)
{
	return sample_discrete_laplace(3 * EPSILON_UNITS_PER_ONE, epsilon);
}

int64
sparse_threshold(EpsilonUnits epsilon, int64 width)
{
	return width + sparse_noise(epsilon);
}

/*
 * With a = exp(-epsilon/3), for w >= 0, summing the noises' convolution gives
 *
 *		Pr[> w] = a^(w+1) ((w+2) (1 - a) + a + 2 a^2 / (1 + a)) / (1 + a)^2
 */
double
sparse_tail(EpsilonUnits epsilon, int64 excess)
{
	double third = epsilon_real(epsilon) / 3;
	double a = exp(-third);
	double w = (double) excess;

	if (excess < 0)
		return 1 - sparse_tail(epsilon, -excess - 1); /* the sum is symmetric */
	return exp(-third * (w + 1)) * (-expm1(-third) * (w + 2) + a + 2 * a * a / (1 + a)) /
		   ((1 + a) * (1 + a));
}

/*
 * The least w with Pr[> w] <= delta, which is about (3/epsilon) times the
 * logarithm of 1/delta, and one or two more.  Exponents stay below 800, so that
 * rounding takes away less than 1e-12 of the probability; the factor is far
 * more.
 */
int64
sparse_width(EpsilonUnits epsilon, double delta)
{
	int64 low = -1; /* too small, unless delta is one half */
	int64 high = 1;

	while (sparse_tail(epsilon, high) * (1 + 1e-9) > delta)
	{
		low = high;
		high *= 2;
	}
	while (high - low > 1)
	{
		int64 middle = low + (high - low) / 2;

		if (sparse_tail(epsilon, middle) * (1 + 1e-9) > delta)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double
sparse_stable_probability(EpsilonUnits epsilon, int64 width, int64 distance)
{
	return sparse_tail(epsilon, width - distance);
}
