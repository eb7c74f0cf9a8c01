/*
 * noise.c
 *		How much noise pays for a released model, from declared numbers alone.
 *
 * Discrete Gaussian noise of variance v on integer vectors of L2 sensitivity D
 * has Rényi divergence at most a D^2 / (2 v) at order a, as if it were
 * continuous (Canonne, Kamath, Steinke 2020, Theorem 14).  What is charged is
 * the exact ratio of the integers D^2 and v; floating point only chooses them.
 */
#include "c.h"

#include <math.h>

#include "mechanism/gradient/noise.h"
#include "draw/record.h"
#include "draw/sampler.h"

#define MAX_ORDER 0x1p20	/* of accounts */
#define MARGIN 1e-6			/* for rounding, here and in the ledger */
#define MAX_VARIANCE 0x1p58 /* the sampler's limit is 2^60 */
#define MAX_SHIFT 32

/*
 * R(a) / a, see account/renyi.c: half of delta pays for conversion; and each
 * draw's charge is rounded up to a unit.
 */
static double
held_per_order(double epsilon, double delta, int64 draws, double order)
{
	double above_one = order - 1;
	double held = epsilon + log1p(1 / above_one) - (log(2 / delta) - log(order)) / above_one;

	return (held - epsilon_real(draws)) / order;
}

/*
 * The function has one peak (renyi.c, best_order()), but any order's value is
 * a valid answer: a search that failed would cost accuracy, not privacy.
 */
double
gradient_rho(double epsilon, double delta, int64 draws)
{
	double low = log(0x1p-10);
	double high = log(MAX_ORDER - 1);
	double best = 0;

	for (int i = 0; i < 100; i++)
	{
		double left = low + (high - low) / 3;
		double right = high - (high - low) / 3;
		double at_left = held_per_order(epsilon, delta, draws, 1 + exp(left));
		double at_right = held_per_order(epsilon, delta, draws, 1 + exp(right));

		best = Max(best, Max(at_left, at_right));
		if (at_left < at_right)
			low = left;
		else
			high = right;
	}
	return best * (1 - MARGIN);
}

bool
gradient_noise(double sensitivity, int64 count, double rho, GradientNoise *noise)
{
	for (int shift = 0; shift <= MAX_SHIFT; shift++)
	{
		/* Sums that differ by d differ, once cut, by less than d / 2^shift + 1. */
		double left =
			ceil(ldexp(sensitivity, -shift)) + (shift > 0 ? ceil(sqrt((double) count)) : 0);
		double variance = ceil(left * left / (2 * rho));

		if (!(variance <= MAX_VARIANCE))
			continue;
		noise->shift = shift;
		noise->sensitivity_squared = (uint64) left * (uint64) left;
		noise->variance = Max((uint64) variance, 1);
		return true;
	}
	return false;
}

/* Towards minus infinity, also where >> of negative numbers does not. */
static int64
cut_off(int64 sum, int shift)
{
	int64 unit = INT64CONST(1) << shift;

	return sum / unit - (sum % unit < 0 ? 1 : 0);
}

#ifdef PRIVPRED_RECORD_INPUTS
void
gradient_record(const char *draw, int64 count, const int64 *sums, const GradientNoise *noise)
{
	record_open(draw, INPUT_SQUARES, noise->sensitivity_squared);
	for (int64 i = 0; i < count; i++)
		record_put(i, cut_off(sums[i], noise->shift));
	record_close();
}
#endif

double
gradient_noisy_sum(int64 sum, const GradientNoise *noise)
{
	int64 cut = RECORD_FIXED(cut_off(sum, noise->shift));

	return ldexp((double) (cut + sample_discrete_gaussian(noise->variance, 1)), noise->shift);
}

double
gradient_deviation(const GradientNoise *noise)
{
	return ldexp(sqrt((double) noise->variance), noise->shift);
}

/* The mean of the two, each by its variance: half of what was declared is its deviation. */
double
gradient_units(double declared, double count, double deviation)
{
	double known = declared + (count - declared) / (1 + pow(2 * deviation / declared, 2));

	return Max(known, declared / 8);
}
