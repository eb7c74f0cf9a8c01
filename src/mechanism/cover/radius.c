/*
 * radius.c
 *		How far classifiers of a class are from the nearest candidate: what is
 *		proved about all of them.
 *
 * A cut between two neighbouring cuts of a grid parts what lies there in two.
 * It differs from the cut below it on the one part and from the cut above on
 * the other, so from one of them on at most half.  Beyond the last cuts are the
 * constants.
 */
#include "postgres.h"

#include <math.h>

#include "server/compat.h"
#include "mechanism/cover/cover.h"

struct RadiusCounts
{
	const Candidates *candidates;
	int64			**gap; /* weight between the cuts of each column; NULL: binary */
};

RadiusCounts *
radius_create(const Candidates *candidates, const bool *binary)
{
	RadiusCounts *result = palloc0_object(RadiusCounts);

	result->candidates = candidates;
	result->gap = palloc0_array(int64 *, candidates->width);
	for (int i = 0; i < candidates->width; i++)
		if (!binary[i])
			result->gap[i] = palloc0_array(int64, candidates->grids[i].ncuts + 1);
	return result;
}

void
radius_add(RadiusCounts *counts, const double *x, int64 weight)
{
	for (int i = 0; i < counts->candidates->width; i++)
		if (counts->gap[i] != NULL)
			counts->gap[i][grid_cell(&counts->candidates->grids[i], x[i])] += weight;
}

/* A box has two faces in each column, each of which may be off. */
double
radius_finish(const RadiusCounts *counts, double total)
{
	double radius = 0;

	for (int i = 0; i < counts->candidates->width && total > 0; i++)
	{
		int64 most = 0;

		for (int j = 0; counts->gap[i] != NULL && j <= counts->candidates->grids[i].ncuts; j++)
			most = Max(most, counts->gap[i][j]);
		if (class_has_boxes(counts->candidates->class))
			radius += most / total;
		else
			radius = Max(radius, most / total / 2);
	}
	return radius;
}

/*
 * Dvoretzky, Kiefer and Wolfowitz with Massart's constant: the share of rows
 * below any point is off by at most the root, but with probability beta in all
 * columns together; an interval has two ends, and a box two faces in each
 * column.
 */
double
radius_beyond_reference(const Candidates *candidates, const Reference *reference, double beta)
{
	int	   columns = 0;
	double off;

	for (int i = 0; i < reference->width; i++)
		columns += reference->binary[i] ? 0 : 1;
	if (columns == 0 || reference->npoints == 0)
		return 0;
	off = 2 * sqrt(log(2 * columns / beta) / (2 * (double) reference->npoints));
	return class_has_boxes(candidates->class) ? 2 * columns * off : off;
}
