/*
 * draw.c
 *		Scores in [0, 1] as counts of bins (Bassily, Thakkar, Thakurta 2018,
 *		algorithms 6 to 8).
 */
#include "c.h"

#include <math.h>

#include "mechanism/soft/draw.h"

int
soft_bins(double precision)
{
	double bins;

	if (!(precision > 0 && precision <= 1))
		return 0;
	bins = rint(1 / precision);
	/* 0.1 is no binary number: what is meant is that ten of them make one. */
	if (bins > SOFT_MAX_BINS || fabs(bins * precision - 1) > 1e-9)
		return 0;
	return (int) bins;
}

/* Where a score lies, counted in bins: in [0, bins]. */
static double
place(int bins, double score)
{
	if (!(score > 0))
		return 0;
	return Min(score, 1.0) * bins;
}

void
soft_count(int bins, int nscores, const double *scores, int32 *counts)
{
	memset(counts, 0, sizeof(int32) * bins);
	for (int i = 0; i < nscores; i++)
		counts[Min((int) place(bins, scores[i]), bins - 1)]++;
}

void
soft_count_shifted(int bins, int nscores, const double *scores, int32 *counts)
{
	memset(counts, 0, sizeof(int32) * (bins - 1));
	for (int i = 0; i < nscores; i++)
	{
		int bin = (int) (place(bins, scores[i]) + 0.5) - 1;

		if (bin >= 0 && bin < bins - 1)
			counts[bin]++;
	}
}

double
soft_middle(int bins, int bin)
{
	return (bin + 0.5) / bins;
}

double
soft_middle_shifted(int bins, int bin)
{
	return (double) (bin + 1) / bins;
}
