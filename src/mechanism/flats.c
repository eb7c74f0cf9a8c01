/*
 * flats.c
 *		Flats through points on a grid, in three and four dimensions: exact.
 *
 * The grid is so coarse that determinants fit into 64 bits.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/flats.h"

/* Steps from 0 to 1: w! s^w is below 2^63. */
static const double grid_steps[] = {[3] = 1048576.0, [4] = 16384.0};

int64
flats_grid(int width)
{
	return (int64) grid_steps[width];
}

void
flats_point(int width, const double *x, GridPoint *point)
{
	memset(point, 0, sizeof(GridPoint));
	for (int i = 0; i < width; i++)
		point->x[i] = (int64) rint(x[i] * grid_steps[width]);
}

/* The determinant of some rows in some columns, each a bit. */
static int64
determinant(const GridPoint *rows, int n, uint32 columns)
{
	int64 sum = 0;
	int	  sign = 1;

	if (n == 0)
		return 1;
	for (int i = 0; i < SPACE_MAX_WIDTH; i++)
	{
		if (!(columns & (1 << i)))
			continue;
		if (rows[0].x[i] != 0)
			sum += sign * rows[0].x[i] * determinant(rows + 1, n - 1, columns & ~(1 << i));
		sign = -sign;
	}
	return sum;
}

/*
 * The normal of the flat through the first n points within the flat before it,
 * which is told from its image in the given columns, n of them; false if they
 * span less.
 */
bool
flats_normal(const GridPoint *const *points, int n, uint32 columns, int64 *normal)
{
	GridPoint edges[SPACE_MAX_WIDTH];
	int		  sign = 1;
	bool	  found = false;

	for (int i = 1; i < n; i++)
		for (int j = 0; j < SPACE_MAX_WIDTH; j++)
			edges[i - 1].x[j] = points[i]->x[j] - points[0]->x[j];
	for (int j = 0; j < SPACE_MAX_WIDTH; j++)
	{
		normal[j] = 0;
		if (!(columns & (1 << j)))
			continue;
		normal[j] = sign * determinant(edges, n - 1, columns & ~(1 << j));
		sign = -sign;
		found = found || normal[j] != 0;
	}
	return found;
}

/* Without the first column in which the flat's normal is not 0, its points differ as before. */
uint32
flats_without_column(uint32 columns, const int64 *normal)
{
	for (int j = 0; j < SPACE_MAX_WIDTH; j++)
		if (normal[j] != 0)
			return columns & ~(1 << j);
	return columns;
}

/* Sums may wrap around; the result fits. */
int64
flats_side(const int64 *normal, const int64 *base, const GridPoint *point)
{
	uint64 sum = 0;

	for (int i = 0; i < SPACE_MAX_WIDTH; i++)
		sum += (uint64) normal[i] * (uint64) (point->x[i] - base[i]);
	return (int64) sum;
}

bool
flats_say(const SpaceHypothesis *hypothesis, const GridPoint *point)
{
	for (int i = 0; i < hypothesis->width; i++)
	{
		int64 side = flats_side(hypothesis->normal[i], hypothesis->base, point);

		if (side != 0)
			return (side > 0) == ((hypothesis->says >> i) & 1);
	}
	return (hypothesis->says >> hypothesis->width) & 1;
}

bool
space_says(const SpaceHypothesis *hypothesis, const double *x)
{
	GridPoint point;

	flats_point(hypothesis->width, x, &point);
	return flats_say(hypothesis, &point);
}

/* Fills in the flats of a chain; false if two of them are the same. */
bool
flats_of_chain(int width, const GridPoint *pool, const uint8 *chain, SpaceHypothesis *hypothesis)
{
	const GridPoint *points[SPACE_MAX_WIDTH];
	uint32			 columns = (1 << width) - 1;

	memset(hypothesis, 0, sizeof(SpaceHypothesis));
	hypothesis->width = width;
	for (int i = 0; i < width; i++)
		points[i] = &pool[chain[i]];
	memcpy(hypothesis->base, pool[chain[0]].x, sizeof(hypothesis->base));
	for (int i = 0; i < width; i++)
	{
		if (!flats_normal(points, width - i, columns, hypothesis->normal[i]))
			return false;
		columns = flats_without_column(columns, hypothesis->normal[i]);
	}
	return true;
}
