/*
 * describe/noise.c
 *		How much noise a description has, which counts are seen through it, and what is
 *		charged, from declared numbers alone (docs/mechanisms.md, section 17).
 *
 * One unit changed moves one count of each histogram down by one and another up
 * by one, at most: as one vector, an L2 sensitivity of sqrt(2 histograms).
 */
#include "c.h"

#include <math.h>

#include "mechanism/describe/describe.h"
#include "mechanism/gradient/noise.h"

#define MAX_VARIANCE 0x1p58 /* the sampler's limit is 2^60 */
#define FALSE_CELLS 20		/* in one of so many columns a cell is seen that is none, at most */
#define MARGIN 1e-9			/* for rounding */

/* From which count on noise alone gets with this probability, at most: it is subgaussian. */
static int64
noise_reach(uint64 variance, double log_of_inverse)
{
	return (int64) ceil(sqrt(2.0 * (double) variance * log_of_inverse) * (1 + MARGIN));
}

bool
describe_noise(double epsilon, double delta, int histograms, int categories, DescribeNoise *noise)
{
	double rho = gradient_rho(epsilon, delta, 1);
	double variance = ceil(histograms / rho);

	*noise = (DescribeNoise){.histograms = histograms, .categories = categories};
	if (!(rho > 0) || !(variance <= MAX_VARIANCE))
		return false;
	noise->variance = Max((uint64) variance, 1);
	if (categories > 0)
	{
		noise->delta = delta / 4;
		noise->level_threshold =
			1 + noise_reach(noise->variance, log(4.0 * categories) - log(delta));
	}
	return true;
}

int64
describe_cell_threshold(const DescribeNoise *noise, DescribedKind kind)
{
	return noise_reach(noise->variance, log((double) FALSE_CELLS * Max(described_cells(kind), 1)));
}

Charge
describe_charge(const DescribeNoise *noise)
{
	return (Charge){.part = {{.shape = CHARGE_GAUSSIAN,
							  .times = 1,
							  .numerator = 2 * (uint64) noise->histograms,
							  .denominator = noise->variance}},
					.delta = noise->delta};
}
