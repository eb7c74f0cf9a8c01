/*
 * bernoulli.c
 *		Coins whose bias is a ratio of integers, or the exponential of one.
 */
#include "c.h"

#include "sampler/sampler.h"

static bool
bernoulli_wide(uint128 numerator, uint128 denominator)
{
	/* Certain outcomes cost no randomness. */
	if (numerator >= denominator)
		return true;
	if (numerator == 0)
		return false;
	return sample_uniform_wide(denominator) < numerator;
}

bool
sample_bernoulli(uint64 numerator, uint64 denominator)
{
	if (unlikely(denominator == 0))
		sampler_out_of_range("sample_bernoulli");
	return bernoulli_wide(numerator, denominator);
}

/*
 * exp(-g) for g = numerator/denominator in [0, 1]: CKS algorithm 1, after von
 * Neumann.  The first k with a failed coin of bias g/k is odd with probability
 * 1 - g + g^2/2! - ...  The bias g/k is a coin of g and one of 1/k, so that
 * denominator * k is never formed.
 */
static bool
bernoulli_exp_fraction(uint128 numerator, uint128 denominator)
{
	uint64		k = 1;

	while (bernoulli_wide(numerator, denominator) && sample_bernoulli(1, k))
		k++;
	return k % 2 == 1;
}

/*
 * exp(-g) is exp(-1) to the power of g's whole part, times the exponential of
 * the rest.  The loop stops at the first failure, so a huge g costs little.
 */
bool
sample_bernoulli_exp_wide(uint128 numerator, uint128 denominator)
{
	uint128		whole;

	if (unlikely(denominator == 0))
		sampler_out_of_range("sample_bernoulli_exp");

	for (whole = numerator / denominator; whole > 0; whole--)
	{
		if (!bernoulli_exp_fraction(1, 1))
			return false;
	}
	return bernoulli_exp_fraction(numerator % denominator, denominator);
}

bool
sample_bernoulli_exp(uint64 factor, uint64 numerator, uint64 denominator)
{
	return sample_bernoulli_exp_wide((uint128) factor * numerator, denominator);
}
