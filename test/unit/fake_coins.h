/*
 * fake_coins.h
 *		Samplers whose every outcome is enumerated, for tests of what is built
 *		on exact coins (which test_bernoulli.c and test_rng.c check).
 */
#ifndef PRIVPRED_FAKE_COINS_H
#define PRIVPRED_FAKE_COINS_H

#include <math.h>

#include "draw/sampler.h"
#include "unit.h"

static bool
enumerated_coin(double probability)
{
	double weights[2] = {1 - probability, probability};

	return choose(2, weights);
}

/*
 * A rejection sampler under test begins each trial with a uniform draw: set
 * trials_left to 1 before it.  Otherwise leave it negative.
 */
static int trials_left = -1;

uint64
sample_uniform(uint64 n)
{
	if (trials_left-- == 0)
		start_over();
	return choose((int) n, NULL);
}

bool
sample_bernoulli(uint64 numerator, uint64 denominator)
{
	return enumerated_coin(Min(1.0, (double) numerator / denominator));
}

bool
sample_bernoulli_exp(uint64 factor, uint64 numerator, uint64 denominator)
{
	return enumerated_coin(exp(-(double) factor * numerator / denominator));
}

bool
sample_bernoulli_exp_wide(uint128 numerator, uint128 denominator)
{
	return enumerated_coin(exp(-(double) numerator / (double) denominator));
}

#endif /* PRIVPRED_FAKE_COINS_H */
