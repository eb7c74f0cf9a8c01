/*
 * discrete.c
 *		Discrete Laplace and discrete Gaussian noise (CKS, algorithms 2 and 3).
 */
#include "c.h"

#include "draw/sampler.h"

/*
 * The geometric part of a Laplace draw stops counting here.  It gets here with
 * probability exp(-2^20), and it bounds everything computed from a draw.
 */
#define MAX_WHOLE (1 << 20)

static void
check_terms(uint64 numerator, uint64 denominator, const char *function)
{
	if (numerator < 1 || numerator > SAMPLER_MAX_TERM || denominator < 1 ||
		denominator > SAMPLER_MAX_TERM)
		sampler_out_of_range(function);
}

/*
 * fraction + numerator * whole is geometric with ratio exp(-1/numerator);
 * dividing by the denominator makes the ratio exp(-denominator/numerator), and
 * a sign, with negative zero rejected, makes it two-sided.
 *
 * The sum stays below 2^81 and the result below 2^63.
 */
int64
sample_discrete_laplace(uint64 numerator, uint64 denominator)
{
	check_terms(numerator, denominator, "sample_discrete_laplace");
	if (numerator / denominator >= SAMPLER_MAX_SCALE)
		sampler_out_of_range("sample_discrete_laplace");

	for (;;)
	{
		uint64 fraction = sample_uniform(numerator);
		uint64 whole = 0;
		int64  magnitude;
		bool   negative;

		if (!sample_bernoulli_exp(1, fraction, numerator))
			continue;
		while (whole < MAX_WHOLE && sample_bernoulli_exp(1, 1, 1))
			whole++;
		magnitude = (int64) (((uint128) numerator * whole + fraction) / denominator);

		negative = sample_bernoulli(1, 2);
		if (negative && magnitude == 0)
			continue;
		return negative ? -magnitude : magnitude;
	}
}

/* floor(sqrt(n)), one binary digit at a time */
static uint64
integer_sqrt(uint64 n)
{
	uint64 root = 0;

	for (uint64 bit = UINT64CONST(1) << 31; bit > 0; bit >>= 1)
	{
		if ((root + bit) * (root + bit) <= n)
			root += bit;
	}
	return root;
}

/*
 * Accepts a Laplace draw y of scale t with probability
 * exp(-(|y| - v/t)^2 / (2v)), where v = n/d is the variance.
 *
 * With |y| - v/t = +-(w + r/(dt)), w whole and r < dt, the exponent splits into
 * w^2 d/(2n) + w r/(t n) + r^2/(2 n d t^2), and the exponential of a sum is a
 * coin for each term.  For n, d <= 2^60 we have t <= 2^30 + 1 and
 * d t^2 <= (sqrt(n) + sqrt(d))^2 <= 2^62, hence |y| d t < 2^83, w^2 d < 2^104,
 * r^2 < 2^123 and 2 n d t^2 <= 2^123: all fit.
 */
static bool
accept_gaussian(uint64 magnitude, uint64 n, uint64 d, uint64 t)
{
	uint128 left = (uint128) magnitude * d * t;
	uint128 distance = left > n ? left - n : n - left;
	uint128 unit = (uint128) d * t;
	uint128 w = distance / unit;
	uint128 r = distance % unit;

	return sample_bernoulli_exp_wide(w * w * d, (uint128) 2 * n) &&
		   sample_bernoulli_exp_wide(w * r, (uint128) t * n) &&
		   sample_bernoulli_exp_wide(r * r, unit * t * 2 * n);
}

int64
sample_discrete_gaussian(uint64 numerator, uint64 denominator)
{
	uint64 t;

	check_terms(numerator, denominator, "sample_discrete_gaussian");

	/* Any t would do; floor(sigma) + 1 is near the best. */
	t = integer_sqrt(numerator / denominator) + 1;
	for (;;)
	{
		int64  draw = sample_discrete_laplace(t, 1);
		uint64 magnitude = draw < 0 ? -draw : draw;

		if (accept_gaussian(magnitude, numerator, denominator, t))
			return draw;
	}
}
