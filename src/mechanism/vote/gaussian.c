/*
 * gaussian.c
 *		Gaussian noisy max: for votes over many classes (docs/mechanisms.md, section 4).
 *
 * One unit moves one vote, so two counts change by one: the L2 sensitivity is
 * sqrt(2), and noise of variance s costs a / s at order a (Canonne, Kamath,
 * Steinke 2020, Theorem 4, for each of the two).  With s = 8 / epsilon^2 that
 * is a epsilon^2 / 8, the price of the exponential mechanism at epsilon.
 *
 * Gaussian tails are lighter, and nobody is far ahead of many by chance: it
 * wins against the exponential mechanism from about seven classes on.
 *
 * The caller records what goes in (draw/record.h; inputs: vote/vote.c).
 */
#include "c.h"

#include <math.h>

#include "mechanism/vote/draw.h"
#include "draw/sampler.h"

/* The largest numerator that is doubled. */
#define NUMERATOR_ENOUGH (UINT64CONST(1) << 58)
#define DENOMINATOR_MAX (UINT64CONST(1) << 59)

void
vote_variance(EpsilonUnits epsilon, uint64 *numerator, uint64 *denominator)
{
	uint128 square = (uint128) epsilon * epsilon;
	uint128 eight = (uint128) 8 * EPSILON_UNITS_PER_ONE * EPSILON_UNITS_PER_ONE;
	uint128 remainder = eight % square;

	*numerator = (uint64) (eight / square);
	*denominator = 1;
	while (remainder != 0 && *numerator < NUMERATOR_ENOUGH && *denominator < DENOMINATOR_MAX)
	{
		remainder *= 2;
		*numerator *= 2;
		*denominator *= 2;
		if (remainder >= square)
		{
			remainder -= square;
			(*numerator)++;
		}
	}
	if (remainder != 0)
		(*numerator)++;
}

int
vote_draw_gaussian(EpsilonUnits epsilon, int nclasses, const int32 *votes)
{
	uint64 numerator;
	uint64 denominator;
	int64  most = 0;
	int	   winner = -1;

	vote_variance(epsilon, &numerator, &denominator);
	for (int i = 0; i < nclasses; i++)
	{
		int64 noisy = votes[i] + sample_discrete_gaussian(numerator, denominator);

		if (winner < 0 || noisy > most)
		{
			most = noisy;
			winner = i;
		}
	}
	return winner;
}

/* ---------- the distribution, in doubles ---------- */

#define TAIL 8.5		  /* standard deviations: beyond it is 10^-16 */
#define EXACT_SIGMA 256.0 /* up to here noise is summed value by value */
#define EXACT_REACH 2177  /* TAIL times that */
#define STEPS 8			  /* to a standard deviation, beyond */

/*
 * Adds, for one value of the largest noisy count, the probability that each
 * class has it, those before it have less, and those after it no more.
 */
static void
add_winners(int nclasses, const double *has, const double *less, const double *no_more,
			double *probability)
{
	double after[PRIVPRED_MAX_CLASSES];
	double before = 1;

	after[nclasses - 1] = 1;
	for (int i = nclasses - 1; i > 0; i--)
		after[i - 1] = after[i] * no_more[i];
	for (int i = 0; i < nclasses; i++)
	{
		probability[i] += has[i] * before * after[i];
		before *= less[i];
	}
}

/* The noise's probabilities and their sums from below, for values in [-reach, reach]. */
static void
tabulate(double sigma, int reach, double *mass, double *sum)
{
	double total = 0;

	for (int z = -reach; z <= reach; z++)
	{
		mass[z + reach] = exp(-(double) z * z / (2 * sigma * sigma));
		total += mass[z + reach];
		sum[z + reach] = total;
	}
	for (int i = 0; i <= 2 * reach; i++)
	{
		mass[i] /= total;
		sum[i] /= total;
	}
}

static double
up_to(const double *sum, int reach, int64 z)
{
	return z < -reach ? 0 : z > reach ? 1 : sum[z + reach];
}

/* The winner has a value near the largest count, whoever it is. */
static void
distribution_exact(double sigma, int nclasses, const int32 *votes, double *probability)
{
	int	   reach = (int) (TAIL * sigma) + 1;
	int32  most = votes[vote_majority(nclasses, votes)];
	double mass[2 * EXACT_REACH + 1];
	double sum[2 * EXACT_REACH + 1];
	double has[PRIVPRED_MAX_CLASSES];
	double less[PRIVPRED_MAX_CLASSES];
	double no_more[PRIVPRED_MAX_CLASSES];

	tabulate(sigma, reach, mass, sum);
	for (int64 value = (int64) most - reach; value <= (int64) most + reach; value++)
	{
		for (int i = 0; i < nclasses; i++)
		{
			int64 z = value - votes[i];

			has[i] = z > reach ? 0 : mass[z + reach];
			less[i] = up_to(sum, reach, z - 1);
			no_more[i] = up_to(sum, reach, z);
		}
		add_winners(nclasses, has, less, no_more, probability);
	}
}

static double
normal_up_to(double z)
{
	return erfc(-z * M_SQRT1_2) / 2;
}

/*
 * Noise that wide is as good as continuous: sums up to an integer are those
 * up to the middle of the next interval, within 1 / (24 sigma^2), and the
 * trapezoidal rule is exact for what is smooth at that scale.
 */
static void
distribution_wide(double sigma, int nclasses, const int32 *votes, double *probability)
{
	int32  most = votes[vote_majority(nclasses, votes)];
	double half = 0.5 / sigma;
	double has[PRIVPRED_MAX_CLASSES];
	double less[PRIVPRED_MAX_CLASSES];
	double no_more[PRIVPRED_MAX_CLASSES];

	for (int step = (int) (-TAIL * STEPS); step <= (int) (TAIL * STEPS); step++)
	{
		for (int i = 0; i < nclasses; i++)
		{
			double z = (double) step / STEPS + ((double) most - votes[i]) / sigma;

			has[i] = exp(-z * z / 2) / sqrt(2 * M_PI) / STEPS;
			less[i] = normal_up_to(z - half);
			no_more[i] = normal_up_to(z + half);
		}
		add_winners(nclasses, has, less, no_more, probability);
	}
}

void
vote_distribution_gaussian(EpsilonUnits epsilon, int nclasses, const int32 *votes,
						   double *probability)
{
	double sigma = sqrt(8) * EPSILON_UNITS_PER_ONE / (double) epsilon;

	memset(probability, 0, nclasses * sizeof(double));
	if (sigma <= EXACT_SIGMA)
		distribution_exact(sigma, nclasses, votes, probability);
	else
		distribution_wide(sigma, nclasses, votes, probability);
}
