/*
 * bernoulli.c
 *		Coins whose bias is a ratio of integers, or the exponential of one.
 */
#include "c.h"

#include "draw/sampler.h"

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

/* The same where 64 bits suffice, as they mostly do. */
static inline bool
bernoulli_narrow(uint64 numerator, uint64 denominator)
{
	if (numerator >= denominator)
		return true;
	if (numerator == 0)
		return false;
	return sample_uniform(denominator) < numerator;
}

bool
sample_bernoulli(uint64 numerator, uint64 denominator)
{
	if (unlikely(denominator == 0))
		sampler_out_of_range("sample_bernoulli");
	return bernoulli_narrow(numerator, denominator);
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
	uint64 k = 1;

	while (bernoulli_wide(numerator, denominator) && sample_bernoulli(1, k))
		k++;
	return k % 2 == 1;
}

static bool
bernoulli_exp_fraction_narrow(uint64 numerator, uint64 denominator)
{
	uint64 k = 1;

	while (bernoulli_narrow(numerator, denominator) && bernoulli_narrow(1, k))
		k++;
	return k % 2 == 1;
}

static bool
bernoulli_exp_narrow(uint64 numerator, uint64 denominator)
{
	for (uint64 whole = numerator / denominator; whole > 0; whole--)
	{
		if (!bernoulli_exp_fraction_narrow(1, 1))
			return false;
	}
	return bernoulli_exp_fraction_narrow(numerator % denominator, denominator);
}

/*
 * exp(-g) is exp(-1) to the power of g's whole part, times the exponential of
 * the rest.  The loop stops at the first failure, so a huge g costs little.
 */
bool
sample_bernoulli_exp_wide(uint128 numerator, uint128 denominator)
{
	uint128 whole;

	if (unlikely(denominator == 0))
		sampler_out_of_range("sample_bernoulli_exp");
	if (numerator <= PG_UINT64_MAX && denominator <= PG_UINT64_MAX)
		return bernoulli_exp_narrow((uint64) numerator, (uint64) denominator);

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

/*
 * Each coin compares a uniform number below one with the share, binary digit by
 * digit from the top, and is decided by the first digit that differs: set if
 * the number's is the smaller.  One word has a digit for each of 64 coins, and
 * about seven words decide them all.
 */
uint64
sample_bernoulli_word(Share share)
{
	uint64 open = ~UINT64CONST(0);
	uint64 result = 0;

	for (int digit = 31; digit >= 0 && open != 0; digit--)
	{
		uint64 word = sample_uint64();

		if (share >> digit & 1)
		{
			result |= open & ~word;
			open &= word;
		}
		else
			open &= ~word;
		/* What is equal up to the share's last set digit is not smaller. */
		if ((share & (((Share) 1 << digit) - 1)) == 0)
			break;
	}
	return result;
}
