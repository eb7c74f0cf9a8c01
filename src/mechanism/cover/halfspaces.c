/*
 * halfspaces.c
 *		Candidates for halfspaces: directions, and offsets of each.
 *
 * Directions are at equal angles in the plane, from a net of the sphere in three
 * columns and random in more.  Offsets are at equal shares of the reference.
 * Everything here is public and the same in every run.
 *
 * Of two uniform numbers, or one, all halfspaces are near a candidate: see
 * plane_radius().  Otherwise halfspace_probes.c says how many are.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "server/compat.h"
#include "mechanism/cover/cover.h"
#include "mechanism/cover/public_random.h"
#include "mechanism/sort.h"

#define MAX_DIRECTIONS 4096 /* every row is projected on each */
#define POINTS 512			/* on which equal shares are found, unless they are known */

/* What rounding may add to a radius. */
#define ROUNDING 1e-9

/*
 * Bell-shaped enough for directions that favour no axis, from additions alone:
 * candidates are the same on every machine.
 */
static double
public_bell(uint64 *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += public_uniform(seed);
	return sum;
}

/* ---------- directions ---------- */

static void
normalise(double *direction, int width)
{
	double norm = sqrt(weighted_sum(direction, direction, width));

	for (int i = 0; i < width; i++)
		direction[i] /= norm;
}

/* The points of a square grid on three faces of a cube: all directions up to sign. */
static void
space_directions(int steps, double *direction)
{
	for (int i = 0; i < 3 * steps * steps; i++)
	{
		double *d = direction + 3 * i;
		int		face = i / (steps * steps);

		d[face] = 1;
		d[(face + 1) % 3] = (2 * (i / steps % steps) + 1.0) / steps - 1;
		d[(face + 2) % 3] = (2 * (i % steps) + 1.0) / steps - 1;
		normalise(d, 3);
	}
}

static double *
make_directions(int width, int count, uint64 *seed)
{
	double *direction = palloc_array(double, count *(Size) width);

	if (width == 3)
	{
		space_directions((int) sqrt(count / 3.0), direction);
		return direction;
	}
	for (int i = 0; i < count; i++)
	{
		double *d = direction + i * (Size) width;

		for (int j = 0; j < width && width != 2; j++)
			d[j] = width == 1 ? 1 : public_bell(seed);
		if (width == 2)
		{
			d[0] = cos(M_PI * i / count);
			d[1] = sin(M_PI * i / count);
		}
		normalise(d, width);
	}
	return direction;
}

/* How many directions, of at most so many shapes. */
static int
direction_count(int width, int shapes)
{
	int offsets = Max(LEAST_OFFSETS, (int) rint(pow(shapes, 1.0 / width)));
	int count = Min(Max(1, shapes / offsets), MAX_DIRECTIONS);
	int steps = Max(1, (int) sqrt(count / 3.0));

	if (width == 1)
		return 1;
	return width == 3 ? 3 * steps * steps : count;
}

/* ---------- offsets ---------- */

static bool
is_uniform(const Reference *reference)
{
	for (int i = 0; i < reference->width; i++)
		if (reference->binary[i])
			return false;
	return reference->npoints == 0;
}

/*
 * Where the sum of a uniform number times d[0] and another times d[1] has this
 * share below.  The density rises up to the smaller weight, is level up to the
 * larger one, and falls.
 */
static double
plane_quantile(const double *d, double share)
{
	double large = Max(fabs(d[0]), fabs(d[1]));
	double small = Min(fabs(d[0]), fabs(d[1]));
	double least = Min(d[0], 0) + Min(d[1], 0);
	double tail = Min(share, 1 - share);
	double from;

	if (tail * 2 * large < small)
		from = sqrt(2 * tail * small * large);
	else
		from = tail * large + small / 2;
	return share < 0.5 ? least + from : least + small + large - from;
}

static void
make_offsets(const Reference *reference, const double *direction, const double *points, Grid *grid)
{
	double score[POINTS];

	for (int i = 0; i < POINTS; i++)
		score[i] = weighted_sum(direction, points + i * (Size) reference->width, reference->width);
	sort_doubles(score, POINTS);
	for (int i = 0; i < grid->ncuts; i++)
	{
		double share = (i + 1.0) / (grid->ncuts + 1);
		int	   rank = Min(Max((int) (share * POINTS), 1), POINTS - 1);

		if (is_uniform(reference) && reference->width == 1)
			grid->cut[i] = share;
		else if (is_uniform(reference) && reference->width == 2)
			grid->cut[i] = plane_quantile(direction, share);
		else /* Between two points, as far from both as possible. */
			grid->cut[i] = (score[rank - 1] + score[rank]) / 2;
	}
}

/* ---------- what is proved of all halfspaces ---------- */

/*
 * A line through the unit square is turned about its point next to the centre
 * until its direction is one of n, by an angle t of at most pi/2n.  Of all places
 * along the line only those within h of that point are in the square, h being
 * half of the square's extent along it, at most the root of a half; there the
 * two lines are tan(t) times as far from each other as the place is from the
 * point.  So the two halfspaces differ on tan(t) h^2 <= tan(t)/2 at most, and the turned
 * one from a candidate on half of what lies between two neighbouring offsets.
 */
static double
plane_radius(int width, int ndirections, int noffsets)
{
	double turned = width == 1 ? 0 : tan(M_PI / 2 / ndirections) / 2;

	return ndirections == 1 && width == 2 ? 1 : turned + 0.5 / (noffsets + 1) + ROUNDING;
}

Candidates *
halfspaces_build(const Reference *reference, int64 limit, int nclasses)
{
	Candidates *result = palloc0_object(Candidates);
	int			width = reference->width;
	int			shapes = (int) Min(limit, MAX_HALFSPACES) - 1;
	double	   *points = palloc_array(double, POINTS *(Size) width);
	uint64		seed = 0;
	int			noffsets;

	for (int i = 0; i < POINTS; i++)
		public_point(reference, &seed, points + i * (Size) width);
	result->class = CLASS_HALFSPACES;
	result->width = width;
	result->nclasses = nclasses;
	result->ngrids = direction_count(width, shapes);
	result->direction = make_directions(width, result->ngrids, &seed);
	result->grids = palloc0_array(Grid, result->ngrids);
	noffsets = shapes / result->ngrids;
	for (int i = 0; i < result->ngrids; i++)
	{
		CHECK_FOR_INTERRUPTS();
		result->grids[i].ncuts = noffsets;
		result->grids[i].cut = palloc_array(double, noffsets);
		make_offsets(reference, result->direction + i * (Size) width, points, &result->grids[i]);
	}
	result->count = class_pairs(nclasses) * (1 + (int64) result->ngrids * noffsets);
	result->share = width <= 2 && is_uniform(reference) ? 1 : 0;
	result->radius = result->share == 1 ? plane_radius(width, result->ngrids, noffsets) : 1;
	pfree(points);
	return result;
}
