/*
 * test_sampler.c
 *		The samplers together, against their distributions.
 *
 * Statistical: see plausible() for how rare a false alarm is.  What is small
 * is checked exactly elsewhere (test_rng.c, test_bernoulli.c, test_discrete.c);
 * here are realistic and extreme arguments.
 *
 * sources: src/draw/rng.c src/draw/bernoulli.c src/draw/discrete.c
 */
#include "c.h"

#include <math.h>

#include "draw/sampler.h"
#include "unit.h"

#define TRIALS 200000

#define TRILLION UINT64CONST(1000000000000)

static void
test_words(void)
{
	int	 ones[64] = {0};
	bool right = true;

	for (int i = 0; i < TRIALS; i++)
	{
		uint64 word = sample_uint64();

		for (int bit = 0; bit < 64; bit++)
			ones[bit] += (word >> bit) & 1;
	}
	for (int bit = 0; bit < 64; bit++)
		right = right && plausible(ones[bit], TRIALS, 0.5);
	ok(right, "each bit of a word is fair");
}

static void
test_uniform(uint64 n, const char *name)
{
	int	 count[10] = {0};
	bool right = true;
	int	 cells = (int) Min(n, 10);

	for (int i = 0; i < TRIALS; i++)
	{
		uint64 drawn = sample_uniform(n);

		right = right && drawn < n;
		count[(int) ((uint128) drawn * cells / n)]++;
	}
	for (int i = 0; i < cells; i++)
		right = right && plausible(count[i], TRIALS, 1.0 / cells);
	ok(right, "uniform below %s", name);
}

static void
test_uniform_wide(void)
{
	uint128 n = (uint128) 10 << 100;
	int		count[10] = {0};
	bool	right = true;

	for (int i = 0; i < TRIALS; i++)
		count[(int) (sample_uniform_wide(n) >> 100)]++;
	for (int i = 0; i < 10; i++)
		right = right && plausible(count[i], TRIALS, 0.1);
	ok(right, "uniform below 10 * 2^100");
}

static void
test_coins(void)
{
	static const struct
	{
		uint64 numerator;
		uint64 denominator;
	} coins[] = {{1, 3},
				 {999, 1000},
				 {1, 1000},
				 {TRILLION, 3 * TRILLION},
				 {PG_UINT64_MAX / 2, PG_UINT64_MAX},
				 {PG_UINT64_MAX - 1, PG_UINT64_MAX},
				 {1, PG_UINT64_MAX}};

	for (int i = 0; i < lengthof(coins); i++)
	{
		double probability = (double) coins[i].numerator / coins[i].denominator;
		int	   heads = 0;

		for (int j = 0; j < TRIALS; j++)
			heads += sample_bernoulli(coins[i].numerator, coins[i].denominator);
		ok(heads == TRIALS * probability || plausible(heads, TRIALS, probability),
		   "coin of " UINT64_FORMAT "/" UINT64_FORMAT, coins[i].numerator, coins[i].denominator);
	}
}

static void
test_exponential_coins(void)
{
	static const struct
	{
		uint64 factor;
		uint64 numerator;
		uint64 denominator;
	} coins[] = {/* a vote's coin: gap, epsilon in units, twice a unit */
				 {1, TRILLION / 10, 2 * TRILLION},
				 {7, TRILLION / 10, 2 * TRILLION},
				 {100000, TRILLION / 100000, 2 * TRILLION},
				 {3, TRILLION, 2 * TRILLION},
				 {1, 1000, 2 * TRILLION},
				 {100000, 100 * TRILLION, 2 * TRILLION},
				 /* products of more than 64 bits */
				 {UINT64CONST(1) << 63, 2, PG_UINT64_MAX},
				 {PG_UINT64_MAX, PG_UINT64_MAX / 2, PG_UINT64_MAX},
				 {PG_UINT64_MAX, PG_UINT64_MAX, PG_UINT64_MAX},
				 {PG_UINT64_MAX, PG_UINT64_MAX, 1},
				 {1, PG_UINT64_MAX / 2, PG_UINT64_MAX},
				 {1, PG_UINT64_MAX - 1, PG_UINT64_MAX}};

	for (int i = 0; i < lengthof(coins); i++)
	{
		double probability =
			exp(-(double) coins[i].factor * coins[i].numerator / coins[i].denominator);
		int heads = 0;

		for (int j = 0; j < TRIALS; j++)
			heads +=
				sample_bernoulli_exp(coins[i].factor, coins[i].numerator, coins[i].denominator);
		ok(plausible(heads, TRIALS, probability),
		   "coin of exp(-" UINT64_FORMAT " * " UINT64_FORMAT " / " UINT64_FORMAT ")",
		   coins[i].factor, coins[i].numerator, coins[i].denominator);
	}
}

static void
test_wide_coins(void)
{
	/* 7/9 of a denominator near 2^124, and 16/9 */
	uint128 denominator = (uint128) 9 << 120;
	int		heads = 0;
	int		rarer_heads = 0;

	for (int i = 0; i < TRIALS; i++)
	{
		heads += sample_bernoulli_exp_wide((uint128) 7 << 120, denominator);
		rarer_heads += sample_bernoulli_exp_wide((uint128) 1 << 124, denominator);
	}
	ok(plausible(heads, TRIALS, exp(-7.0 / 9)), "coin of exp(-7/9), wide");
	ok(plausible(rarer_heads, TRIALS, exp(-16.0 / 9)), "coin of exp(-16/9), wide");
}

typedef int64 (*NoiseSampler)(uint64 numerator, uint64 denominator);
typedef double (*NoiseMass)(int64 x, double parameter);

static double
laplace_mass(int64 x, double scale)
{
	return tanh(0.5 / scale) * exp(-fabs((double) x) / scale);
}

static double
gaussian_mass(int64 x, double variance)
{
	static double last_variance = 0;
	static double total;

	if (variance != last_variance)
	{
		total = 0;
		for (int i = -1000; i <= 1000; i++)
			total += exp(-0.5 * i * i / variance);
		last_variance = variance;
	}
	return exp(-0.5 * x * x / variance) / total;
}

/* Small noise: value by value. */
static void
test_mass(const char *name, NoiseSampler sample, NoiseMass mass, uint64 numerator,
		  uint64 denominator)
{
	int	 count[21] = {0};
	bool right = true;

	for (int i = 0; i < TRIALS; i++)
	{
		int64 drawn = sample(numerator, denominator);

		if (drawn >= -10 && drawn <= 10)
			count[drawn + 10]++;
	}
	for (int x = -10; x <= 10; x++)
		right =
			right && plausible(count[x + 10], TRIALS, mass(x, (double) numerator / denominator));
	ok(right, "%s of " UINT64_FORMAT "/" UINT64_FORMAT, name, numerator, denominator);
}

static double
laplace_below(double x, double scale)
{
	return x < 0 ? exp(x / scale) / 2 : 1 - exp(-x / scale) / 2;
}

static double
gaussian_below(double x, double variance)
{
	return erfc(-x / sqrt(2 * variance)) / 2;
}

/* Noise so large that its grid is too fine to see: by its continuous limit. */
static void
test_limit(const char *name, NoiseSampler sample, double (*below)(double, double), uint64 numerator,
		   uint64 denominator, double unit)
{
	static const double steps[] = {-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3};
	int					count[lengthof(steps)] = {0};
	bool				right = true;

	for (int i = 0; i < TRIALS / 2; i++)
	{
		int64 drawn = sample(numerator, denominator);

		for (int j = 0; j < lengthof(steps); j++)
			count[j] += drawn <= steps[j] * unit;
	}
	for (int j = 0; j < lengthof(steps); j++)
		right = right && plausible(count[j], TRIALS / 2,
								   below(steps[j] * unit, (double) numerator / denominator));
	ok(right, "%s of " UINT64_FORMAT "/" UINT64_FORMAT, name, numerator, denominator);
}

int
main(void)
{
	test_words();
	test_uniform(1, "1");
	test_uniform(2, "2");
	test_uniform(3, "3");
	test_uniform(10, "10");
	test_uniform(1000000007, "1000000007");
	test_uniform(PG_UINT64_MAX / 3 * 2, "2/3 of 2^64");
	test_uniform(PG_UINT64_MAX, "2^64 - 1");
	test_uniform_wide();
	test_coins();
	test_exponential_coins();
	test_wide_coins();

	test_mass("Laplace scale", sample_discrete_laplace, laplace_mass, 1, 1);
	test_mass("Laplace scale", sample_discrete_laplace, laplace_mass, 20 * TRILLION, 3 * TRILLION);
	test_mass("Laplace scale", sample_discrete_laplace, laplace_mass, 1, SAMPLER_MAX_TERM);
	test_mass("Laplace scale", sample_discrete_laplace, laplace_mass, SAMPLER_MAX_TERM,
			  SAMPLER_MAX_TERM - 1);
	test_limit("Laplace scale", sample_discrete_laplace, laplace_below, SAMPLER_MAX_SCALE - 1, 1,
			   SAMPLER_MAX_SCALE);
	test_limit("Laplace scale", sample_discrete_laplace, laplace_below, SAMPLER_MAX_TERM,
			   UINT64CONST(1) << 20, UINT64CONST(1) << 40);

	test_mass("Gaussian variance", sample_discrete_gaussian, gaussian_mass, 1, 1);
	test_mass("Gaussian variance", sample_discrete_gaussian, gaussian_mass, 123 * TRILLION / 10,
			  TRILLION);
	test_mass("Gaussian variance", sample_discrete_gaussian, gaussian_mass, 1, SAMPLER_MAX_TERM);
	test_mass("Gaussian variance", sample_discrete_gaussian, gaussian_mass, SAMPLER_MAX_TERM,
			  SAMPLER_MAX_TERM - 1);
	test_limit("Gaussian variance", sample_discrete_gaussian, gaussian_below, SAMPLER_MAX_TERM, 1,
			   UINT64CONST(1) << 30);
	test_limit("Gaussian variance", sample_discrete_gaussian, gaussian_below, SAMPLER_MAX_TERM - 1,
			   7, sqrt((double) SAMPLER_MAX_TERM / 7));
	return done();
}
