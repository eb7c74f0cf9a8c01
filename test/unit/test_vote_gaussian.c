/*
 * test_vote_gaussian.c
 *		Gaussian noisy max: its variance, its distribution and its price.
 *
 * sources: src/mechanism/vote/gaussian.c src/mechanism/vote/draw.c src/draw/rng.c
 * sources: src/draw/bernoulli.c src/draw/discrete.c src/account/renyi.c src/account/order.c
 * sources: src/account/charge.c src/account/accountant.c
 */
#include "c.h"

#include <math.h>

#include "account/charge.h"
#include "mechanism/vote/draw.h"
#include "draw/sampler.h"
#include "unit.h"

#define ONE EPSILON_UNITS_PER_ONE

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * (double) ONE);
}

static void
test_variance(void)
{
	bool right = true;
	bool priced = true;

	for (int i = 0; i < 20000; i++)
	{
		EpsilonUnits epsilon =
			VOTE_GAUSSIAN_MIN + (EpsilonUnits) sample_uniform(100 * ONE >> sample_uniform(40));
		RenyiOrder order =
			RENYI_ORDER_ONE + 1 + (RenyiOrder) sample_uniform(UINT64CONST(100) << RENYI_ORDER_BITS);
		long double e = (long double) epsilon / ONE;
		Charge		charge = {0};
		uint64		numerator;
		uint64		denominator;
		long double ratio;
		long double expected;

		vote_variance(epsilon, &numerator, &denominator);
		ratio = (long double) numerator / denominator * e * e / 8;
		right = right && numerator <= SAMPLER_MAX_TERM && denominator <= SAMPLER_MAX_TERM &&
				ratio >= 1 - 1e-17L && ratio < 1 + 1e-12L;

		charge.part[0].shape = CHARGE_GAUSSIAN;
		charge.part[0].times = 1;
		charge.part[0].numerator = 2 * denominator;
		charge.part[0].denominator = numerator;
		expected = (long double) order / RENYI_ORDER_ONE * e * e / 8 * ONE;
		priced = priced && charge_is_valid(&charge) &&
				 charge_units(&charge, order) <= expected + 1 &&
				 charge_units(&charge, order) >= expected * (1 - 1e-11L);
	}
	ok(right, "the variance is 8 / epsilon^2, no less, in the sampler's range");
	ok(priced, "and costs a epsilon^2 / 8");
}

/* By the definition, with everything that two or three counts can be. */
static void
reference(double epsilon, int nclasses, const int32 *votes, double *probability)
{
	double variance = 8 / (epsilon * epsilon);
	int	   reach = (int) (9 * sqrt(variance)) + 1;
	double total = 0;

	memset(probability, 0, nclasses * sizeof(double));
	for (int a = -reach; a <= reach; a++)
		for (int b = -reach; b <= reach; b++)
			for (int c = nclasses > 2 ? -reach : 0; c <= (nclasses > 2 ? reach : 0); c++)
			{
				int	   noisy[3] = {votes[0] + a, votes[1] + b, nclasses > 2 ? votes[2] + c : 0};
				double weight =
					exp(-((double) a * a + (double) b * b + (double) c * c) / (2 * variance));
				int winner = 0;

				for (int i = 1; i < nclasses; i++)
					if (noisy[i] > noisy[winner])
						winner = i;
				probability[winner] += weight;
				total += weight;
			}
	for (int i = 0; i < nclasses; i++)
		probability[i] /= total;
}

static void
test_distribution(void)
{
	static const int32	votes[][3] = {{2, 2, 2}, {4, 0, 0},	 {0, 1, 5},
									  {1, 3, 2}, {0, 0, 60}, {25, 24, 1}};
	static const double epsilons[] = {0.5, 1, 4, 30};
	double				worst = 0;

	for (int i = 0; i < lengthof(votes); i++)
		for (int j = 0; j < lengthof(epsilons); j++)
			for (int nclasses = 2; nclasses <= 3; nclasses++)
			{
				double expected[3];
				double probability[3];

				if (nclasses == 3 && epsilons[j] < 1)
					continue;
				reference(epsilons[j], nclasses, votes[i], expected);
				vote_distribution_gaussian(units_of(epsilons[j]), nclasses, votes[i], probability);
				for (int k = 0; k < nclasses; k++)
					worst = fmax(worst, fabs(probability[k] - expected[k]));
			}
	ok(worst < 1e-12, "the distribution is the definition's (%g)", worst);
}

/* Where summing gives way to integrating, and far beyond. */
static void
test_wide(void)
{
	static const int32 votes[] = {300, 100, 90, 310, 0, 0, 200};
	double			   narrow[lengthof(votes)];
	double			   wide[lengthof(votes)];
	double			   jump = 0;
	double			   sum = 0;

	vote_distribution_gaussian(units_of(0.01104854346), lengthof(votes), votes, narrow);
	vote_distribution_gaussian(units_of(0.01104854345), lengthof(votes), votes, wide);
	for (int i = 0; i < lengthof(votes); i++)
		jump = fmax(jump, fabs(narrow[i] - wide[i]));
	ok(jump < 1e-6 && jump > 0, "wide noise is as good as continuous (%g)", jump);
	vote_distribution_gaussian(VOTE_GAUSSIAN_MIN, lengthof(votes), votes, wide);
	for (int i = 0; i < lengthof(votes); i++)
	{
		sum += wide[i];
		jump = fmax(jump, fabs(wide[i] - 1.0 / lengthof(votes)));
	}
	ok(fabs(sum - 1) < 1e-9 && jump < 1e-3, "the smallest epsilon tells next to nothing");
}

static void
test_draws(void)
{
	static const int32	votes[] = {5, 30, 27, 5, 0, 20, 3, 0, 0, 10};
	static const double epsilons[] = {0.05, 0.4, 3};
	bool				right = true;

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		double	  probability[lengthof(votes)];
		int64	  counts[lengthof(votes)] = {0};
		const int trials = 50000;

		vote_distribution_gaussian(units_of(epsilons[i]), lengthof(votes), votes, probability);
		for (int j = 0; j < trials; j++)
			counts[vote_draw_gaussian(units_of(epsilons[i]), lengthof(votes), votes)]++;
		for (int j = 0; j < lengthof(votes); j++)
			right = right && plausible(counts[j], trials, probability[j]);
	}
	ok(right, "draws have that distribution");
}

/* Without outcomes so rare that doubles have lost them. */
static double
divergence(const double *p, const double *q, int n, double a)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		if (p[i] > 1e-12 && q[i] > 1e-12)
			sum += pow(p[i], a) * pow(q[i], 1 - a);
	return log(sum) / (a - 1);
}

/* The largest divergence between neighbours, as a share of its price. */
static double
worst_ratio(double epsilon, double drawn)
{
	static const double orders[] = {1.01, 1.5, 2, 5, 20};
	double				worst = 0;

	for (int32 gap = -9; gap <= 9; gap++)
		for (int i = 0; i < lengthof(orders); i++)
		{
			int32  votes[3] = {20 + gap, 20, 12};
			int32  moved[3] = {21 + gap, 19, 12};
			double p[3];
			double q[3];

			vote_distribution_gaussian(units_of(drawn), 3, votes, p);
			vote_distribution_gaussian(units_of(drawn), 3, moved, q);
			worst =
				fmax(worst, divergence(p, q, 3, orders[i]) / (orders[i] * epsilon * epsilon / 8));
			worst =
				fmax(worst, divergence(q, p, 3, orders[i]) / (orders[i] * epsilon * epsilon / 8));
		}
	return worst;
}

static void
test_price(void)
{
	double worst = 0;
	double mutant = INFINITY;

	for (double epsilon = 0.1; epsilon < 4; epsilon *= 1.7)
	{
		worst = fmax(worst, worst_ratio(epsilon, epsilon));
		mutant = fmin(mutant, worst_ratio(epsilon, 2 * epsilon));
	}
	ok(worst <= 1 + 1e-9, "neighbours keep to a epsilon^2 / 8 (%.4f of it)", worst);
	ok(mutant > 1.5, "with half the noise they would not (%.4f times)", mutant);
}

int
main(void)
{
	test_variance();
	test_distribution();
	test_wide();
	test_draws();
	test_price();
	return done();
}
