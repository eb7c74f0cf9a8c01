/*
 * test_soft.c
 *		Bins of scores: what is counted where, and that one score moves the
 *		distance of either count by one at most.
 *
 * sources: src/mechanism/soft/draw.c src/mechanism/sparse/draw.c src/draw/rng.c
 * sources: src/draw/bernoulli.c src/draw/discrete.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/soft/draw.h"
#include "mechanism/sparse/draw.h"
#include "unit.h"

static bool
counted(int bins, bool shifted, double score, int expected)
{
	int32 counts[SOFT_MAX_BINS] = {0};
	int	  n = shifted ? bins - 1 : bins;
	int32 total = 0;

	if (shifted)
		soft_count_shifted(bins, 1, &score, counts);
	else
		soft_count(bins, 1, &score, counts);
	for (int i = 0; i < n; i++)
		total += counts[i];
	return expected < 0 ? total == 0 : total == 1 && counts[expected] == 1;
}

typedef void (*Count)(int bins, int nscores, const double *scores, int32 *counts);

/* Four scores on a grid, one of them changed: all pairs. */
static bool
moves_by_one(Count count, int bins, int n)
{
	static const int grid = 9;

	for (int code = 0; code < grid * grid * grid * grid * grid; code++)
	{
		double scores[4];
		int32  counts[SOFT_MAX_BINS];
		int	   rest = code / grid;
		int	   top[2];
		int64  distance[2];

		for (int i = 0; i < 4; i++, rest /= grid)
			scores[i] = (rest % grid) / (grid - 1.0);
		for (int side = 0; side < 2; side++)
		{
			count(bins, 4, scores, counts);
			distance[side] = sparse_distance(n, counts, &top[side]);
			scores[0] = (code % grid) / (grid - 1.0);
		}
		if (llabs(distance[0] - distance[1]) > 1 ||
			(top[0] != top[1] && (distance[0] != 0 || distance[1] != 0)))
			return false;
	}
	return true;
}

int
main(void)
{
	int worst = 0;

	ok(soft_bins(0.1) == 10 && soft_bins(1) == 1 && soft_bins(1.0 / 3) == 3 &&
		   soft_bins(0.001) == 1000,
	   "bins of a precision");
	ok(soft_bins(0.3) == 0 && soft_bins(0) == 0 && soft_bins(-0.5) == 0 && soft_bins(2) == 0 &&
		   soft_bins(NAN) == 0 && soft_bins(0.0009) == 0 && soft_bins(1e-300) == 0,
	   "precisions that make no bins");
	for (int bins = 1; bins <= SOFT_MAX_BINS; bins++)
		worst += soft_bins(1.0 / bins) != bins;
	ok(worst == 0, "every whole number of bins can be asked for");

	ok(counted(10, false, 0, 0) && counted(10, false, 0.05, 0) && counted(10, false, 0.1, 1) &&
		   counted(10, false, 0.95, 9) && counted(10, false, 1, 9),
	   "bins are closed below, the last also above");
	ok(counted(10, false, -3, 0) && counted(10, false, 7, 9) && counted(10, false, NAN, 0) &&
		   counted(10, false, INFINITY, 9),
	   "what is no score counts at an end");
	ok(counted(10, true, 0.04, -1) && counted(10, true, 0.05, 0) && counted(10, true, 0.1, 0) &&
		   counted(10, true, 0.149, 0) && counted(10, true, 0.151, 1) &&
		   counted(10, true, 0.949, 8) && counted(10, true, 0.951, -1) && counted(10, true, 1, -1),
	   "shifted bins leave out both ends");
	ok(soft_middle(10, 0) == 0.05 && soft_middle(1, 0) == 0.5 &&
		   soft_middle_shifted(10, 0) == 0.1 && soft_middle_shifted(10, 8) == 0.9,
	   "middles of bins");

	for (int bins = 1; bins <= 5; bins++)
	{
		ok(moves_by_one(soft_count, bins, bins), "%d bins: a score moves the distance by one",
		   bins);
		if (bins > 1)
			ok(moves_by_one(soft_count_shifted, bins, bins - 1), "%d bins, shifted: too", bins);
	}
	return done();
}
