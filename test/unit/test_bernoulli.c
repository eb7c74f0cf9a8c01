/*
 * test_bernoulli.c
 *		Coins: every path of random choices, with its exact weight.
 *
 * sources: src/draw/bernoulli.c
 */
#include "c.h"

#include <math.h>

#include "draw/sampler.h"
#include "unit.h"

static int draws;

uint64
sample_uniform(uint64 n)
{
	draws++;
	return choose((int) n, NULL);
}

uint128
sample_uniform_wide(uint128 n)
{
	return sample_uniform((uint64) n);
}

/* Of a word, the digits of the first and the last coin. */
uint64
sample_uint64(void)
{
	int digits = choose(4, NULL);

	return (digits & 1 ? 1 : 0) | (digits & 2 ? UINT64CONST(1) << 63 : 0);
}

typedef struct Coin
{
	uint64 factor;
	uint64 numerator;
	uint64 denominator;
} Coin;

static int64
flip(const void *argument)
{
	const Coin *coin = argument;

	return sample_bernoulli(coin->numerator, coin->denominator);
}

static int64
flip_exp(const void *argument)
{
	const Coin *coin = argument;

	return sample_bernoulli_exp(coin->factor, coin->numerator, coin->denominator);
}

static int64
flip_exp_wide(const void *argument)
{
	const Coin *coin = argument;

	return sample_bernoulli_exp_wide((uint128) coin->factor * coin->numerator, coin->denominator);
}

static bool
coin_is(RandomFunction function, const Coin *coin, double probability)
{
	Enumeration paths;

	enumerate(function, coin, 1e-8, &paths);
	return agrees(&paths, 1, probability) && agrees(&paths, 0, 1 - probability) &&
		   paths.unresolved < 2e-3;
}

static void
test_rational(void)
{
	bool right = true;

	for (uint64 denominator = 1; denominator <= 12; denominator++)
	{
		for (uint64 numerator = 0; numerator <= 14; numerator++)
		{
			Coin coin = {0, numerator, denominator};

			right = right && coin_is(flip, &coin, Min(1.0, (double) numerator / denominator));
		}
	}
	ok(right, "rational coins are exact, and capped at one");
}

static void
test_exponential(void)
{
	bool right = true;
	bool right_wide = true;

	for (uint64 denominator = 1; denominator <= 5; denominator++)
	{
		for (uint64 numerator = 0; numerator <= 2 * denominator + 1; numerator++)
		{
			Coin   coin = {1, numerator, denominator};
			double probability = exp(-(double) numerator / denominator);

			right = right && coin_is(flip_exp, &coin, probability);
			right_wide = right_wide && coin_is(flip_exp_wide, &coin, probability);
		}
	}
	ok(right, "exponential coins are exact below, at and above one");
	ok(right_wide, "so are wide ones");

	right = true;
	for (uint64 factor = 0; factor <= 4; factor++)
	{
		Coin coin = {factor, 3, 4};
		Coin swapped = {3, factor, 4};

		right = right && coin_is(flip_exp, &coin, exp(-0.75 * factor));
		right = right && coin_is(flip_exp, &swapped, exp(-0.75 * factor));
	}
	ok(right, "the factor multiplies the exponent");
}

/* As a number from 0 to 3, the first and the last coin. */
static int64
flip_word(const void *argument)
{
	uint64 word = sample_bernoulli_word(*(const Share *) argument);

	return (word & 1) + 2 * (int64) (word >> 63);
}

static void
test_word(void)
{
	bool right = true;

	for (Share sixteenths = 0; sixteenths < 16; sixteenths++)
	{
		Share		share = sixteenths << 28;
		double		p = sixteenths / 16.0;
		Enumeration paths;

		enumerate(flip_word, &share, 0, &paths);
		right = right && agrees(&paths, 0, (1 - p) * (1 - p)) && agrees(&paths, 1, p * (1 - p)) &&
				agrees(&paths, 2, p * (1 - p)) && agrees(&paths, 3, p * p);
	}
	ok(right, "coins of one word have their share, and are independent");
}

static void
flip_without_denominator(void)
{
	(void) sample_bernoulli(1, 0);
}

static void
flip_exp_without_denominator(void)
{
	(void) sample_bernoulli_exp(1, 1, 0);
}

static void
test_edges(void)
{
	draws = 0;
	ok(sample_bernoulli(1, 1) && sample_bernoulli(PG_UINT64_MAX, 1) &&
		   sample_bernoulli(PG_UINT64_MAX, PG_UINT64_MAX) && !sample_bernoulli(0, 1) &&
		   !sample_bernoulli(0, PG_UINT64_MAX) && draws == 0,
	   "certain coins draw nothing");
	ok(sample_bernoulli_exp(0, PG_UINT64_MAX, 1) && sample_bernoulli_exp(PG_UINT64_MAX, 0, 1) &&
		   sample_bernoulli_exp(0, 0, PG_UINT64_MAX) && draws == 0,
	   "exp(0) is certain and draws nothing");
	ok(fails_out_of_range(flip_without_denominator) &&
		   fails_out_of_range(flip_exp_without_denominator),
	   "a denominator of zero is out of range");
}

int
main(void)
{
	test_rational();
	test_exponential();
	test_word();
	test_edges();
	return done();
}
