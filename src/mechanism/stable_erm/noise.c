/*
 * noise.c
 *		A score on a grid, with noise.
 */
#include "c.h"

#include <math.h>

#include "mechanism/stable_erm/erm.h"
#include "draw/record.h"
#include "draw/sampler.h"

/* ---------- the grid ---------- */

double
erm_default_grid(double sensitivity)
{
	/* A power of two: steps and scores print short. */
	return exp2(ceil(log2(sensitivity / (ERM_MAX_SHIFT / 2))));
}

int64
erm_shift(double sensitivity, double grid)
{
	/* The product is more than the division can have taken away. */
	return (int64) floor(sensitivity / grid * (1 + 1e-12)) + 1;
}

int64
erm_steps(double score, double grid)
{
	return (int64) rint(score / grid);
}

/* ---------- draws ---------- */

/*
 * epsilon^2/4 = n/d with d a power of two.  shift <= 2^11 leaves shift^2 d below
 * the sampler's 2^60; epsilon >= 10^-4 leaves n at 687 or more, so that no more
 * than 0.2 % is lost to rounding.  epsilon <= 100: epsilon^2 in squared units
 * is below 2^94, and times 2^33 still fits.
 */
void
erm_gaussian_ratio(EpsilonUnits epsilon, uint64 *numerator, uint64 *denominator)
{
	uint128 square = (uint128) epsilon * epsilon;
	uint128 whole = (uint128) EPSILON_UNITS_PER_ONE * EPSILON_UNITS_PER_ONE * 4;
	int		bits = 38;

	while (square > (~(uint128) 0 >> bits))
		bits--;
	*numerator = (uint64) ((square << bits) / whole);
	*denominator = UINT64CONST(1) << bits;
}

int64
erm_noise(bool order_is_infinite, EpsilonUnits epsilon, int64 shift)
{
	uint64 n;
	uint64 d;

	if (order_is_infinite)
		return sample_discrete_laplace((uint64) shift * EPSILON_UNITS_PER_ONE, epsilon);
	erm_gaussian_ratio(epsilon, &n, &d);
	return sample_discrete_gaussian((uint64) shift * shift * d, n);
}

void
erm_noise_charge(bool order_is_infinite, EpsilonUnits epsilon, ChargePart *part)
{
	part->times = 1;
	if (order_is_infinite)
	{
		part->shape = CHARGE_PURE;
		part->epsilon = epsilon;
	}
	else
	{
		part->shape = CHARGE_GAUSSIAN;
		erm_gaussian_ratio(epsilon, &part->numerator, &part->denominator);
	}
}

int64
erm_draw(bool order_is_infinite, EpsilonUnits epsilon, double score, double grid, int64 shift)
{
	int64 steps = erm_steps(score, grid);

	RECORD_INPUT("stable_erm", INPUT_LARGEST, shift, 1, &steps);
	return steps + erm_noise(order_is_infinite, epsilon, shift);
}

/* ---------- their distribution, in doubles ---------- */

/* Laplace: its scale; Gaussian: sigma; in steps of the grid. */
static double
noise_scale(bool order_is_infinite, EpsilonUnits epsilon, int64 shift)
{
	uint64 n;
	uint64 d;

	if (order_is_infinite)
		return shift * ((double) EPSILON_UNITS_PER_ONE / epsilon);
	erm_gaussian_ratio(epsilon, &n, &d);
	return shift * sqrt((double) d / n);
}

/*
 * Pr[noise >= at].  The Gaussian's sum over integers from at on is an integral
 * from at - 1/2, with a correction of the midpoint rule; what is left is below
 * 10^-9 from sigma = 16 on, where it is used.
 */
static double
tail(bool order_is_infinite, double scale, int64 at)
{
	double edge = (at - 0.5) / scale;
	double sum = 0;
	double all = 0;

	if (at < 1)
		return 1 - tail(order_is_infinite, scale, 1 - at);
	if (order_is_infinite)
		return exp(-at / scale) / (1 + exp(-1 / scale));
	if (scale >= 16)
		return erfc(edge * M_SQRT1_2) / 2 -
			   edge * exp(-edge * edge / 2) / (24 * sqrt(2 * M_PI) * scale * scale);
	for (int64 i = -200; i <= 200; i++)
	{
		double mass = exp(-(i / scale) * (i / scale) / 2);

		all += mass;
		if (i >= at)
			sum += mass;
	}
	return sum / all;
}

void
erm_draw_signs(bool order_is_infinite, EpsilonUnits epsilon, double score, double grid, int64 shift,
			   double *above, double *below)
{
	int64  steps = erm_steps(score, grid);
	double scale = noise_scale(order_is_infinite, epsilon, shift);

	*above = tail(order_is_infinite, scale, 1 - steps);
	*below = tail(order_is_infinite, scale, 1 + steps);
}

/* Antiderivatives of F(t) and of 2 t F(t) for the distribution function F of noise of scale 1. */
static void
antiderivatives(bool order_is_infinite, double t, double *of_f, double *of_tf)
{
	double e = exp(-fabs(t));
	double density = exp(-t * t / 2) / sqrt(2 * M_PI);
	double below = erfc(-t * M_SQRT1_2) / 2;

	if (!order_is_infinite)
	{
		*of_f = t * below + density;
		*of_tf = (t * t - 1) * below + t * density;
	}
	else if (t < 0)
	{
		*of_f = e / 2;
		*of_tf = (t - 1) * e;
	}
	else
	{
		*of_f = t + e / 2;
		*of_tf = t * t + (t + 1) * e - 2;
	}
}

#define FAR_AWAY 40 /* scales of noise */

/* E[clamp(N, a, b)] = b - the integral of F over [a, b]; the square likewise. */
void
erm_draw_moments(bool order_is_infinite, EpsilonUnits epsilon, double score, double grid,
				 int64 shift, double from, double to, double *mean, double *square)
{
	double centre = erm_steps(score, grid) * grid;
	double scale = noise_scale(order_is_infinite, epsilon, shift) * grid;
	double a = (from - centre) / scale;
	double b = (to - centre) / scale;
	double f[2];
	double tf[2];
	double first;
	double second;

	/* Further away nothing is clamped, and only precision is lost. */
	if (a < FAR_AWAY && b > FAR_AWAY)
		b = FAR_AWAY;
	if (a < -FAR_AWAY && b > -FAR_AWAY)
		a = -FAR_AWAY;
	antiderivatives(order_is_infinite, a, &f[0], &tf[0]);
	antiderivatives(order_is_infinite, b, &f[1], &tf[1]);
	first = scale * (b - (f[1] - f[0]));
	second = scale * scale * (b * b - (tf[1] - tf[0]));
	*mean = centre + first;
	*square = centre * centre + 2 * centre * first + second;
}
