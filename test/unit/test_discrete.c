/*
 * test_discrete.c
 *		Discrete noise: every path of random choices, with its exact weight.
 *
 * sources: src/draw/discrete.c
 */
#include "c.h"

#include "fake_coins.h"

#define REACH 12

static int64
draw_laplace(const void *argument)
{
	const uint64 *ratio = argument;

	trials_left = 1;
	return sample_discrete_laplace(ratio[0], ratio[1]);
}

static int64
draw_gaussian(const void *argument)
{
	const uint64 *ratio = argument;

	trials_left = 1;
	return sample_discrete_gaussian(ratio[0], ratio[1]);
}

static double
laplace(int64 x, double scale)
{
	return tanh(0.5 / scale) * exp(-fabs((double) x) / scale);
}

static double
gaussian(int64 x, double variance)
{
	double total = 0;

	for (int i = -1000; i <= 1000; i++)
		total += exp(-0.5 * i * i / variance);
	return exp(-0.5 * x * x / variance) / total;
}

static void
test_noise(const char *name, RandomFunction draw, double (*probability)(int64, double),
		   const uint64 *ratio)
{
	Enumeration paths;
	bool		right = true;

	enumerate(draw, ratio, 1e-9, &paths);
	for (int64 x = -REACH; x <= REACH; x++)
		right = right && agrees(&paths, x, probability(x, (double) ratio[0] / ratio[1]));
	ok(right && paths.unresolved < 1e-6, "%s " UINT64_FORMAT "/" UINT64_FORMAT " (unresolved %.1e)",
	   name, ratio[0], ratio[1], paths.unresolved);
}

static void
laplace_too_wide(void)
{
	(void) sample_discrete_laplace(SAMPLER_MAX_SCALE, 1);
}

static void
laplace_too_long(void)
{
	(void) sample_discrete_laplace(SAMPLER_MAX_TERM + 1, SAMPLER_MAX_TERM);
}

static void
laplace_zero(void)
{
	(void) sample_discrete_laplace(0, 1);
}

static void
gaussian_zero(void)
{
	(void) sample_discrete_gaussian(1, 0);
}

static void
gaussian_too_long(void)
{
	(void) sample_discrete_gaussian(1, SAMPLER_MAX_TERM + 1);
}

int
main(void)
{
	static const uint64 laplace_scales[][2] = {{1, 1}, {2, 1}, {1, 2}, {3, 2},
											   {5, 3}, {2, 7}, {4, 1}};
	static const uint64 variances[][2] = {{1, 1}, {1, 4}, {2, 1},	{5, 2},
										  {7, 3}, {4, 1}, {1, 100}, {9, 1}};

	for (int i = 0; i < lengthof(laplace_scales); i++)
		test_noise("discrete Laplace of scale", draw_laplace, laplace, laplace_scales[i]);
	for (int i = 0; i < lengthof(variances); i++)
		test_noise("discrete Gaussian of variance", draw_gaussian, gaussian, variances[i]);

	ok(fails_out_of_range(laplace_too_wide) && fails_out_of_range(laplace_too_long) &&
		   fails_out_of_range(laplace_zero) && fails_out_of_range(gaussian_zero) &&
		   fails_out_of_range(gaussian_too_long),
	   "arguments out of range are refused");
	return done();
}
