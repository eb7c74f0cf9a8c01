/*
 * halfspaces.c
 *		Candidates for halfspaces: directions and offsets, packed by
 *		farthest-first traversal.
 *
 * The family to choose from has directions, from a net of the sphere in up to
 * three columns and random in more, and for each direction offsets at equal
 * shares of the reference.  It is thinned by Gonzalez' traversal: the next
 * candidate is always the member farthest from all candidates so far.  After k
 * steps the candidates are an r-packing and an r-cover of the family for the
 * same r, the last distance, which is what Chaudhuri and Hsu ask for.
 *
 * The family is not the class, and its members are compared on few points, so
 * nothing is proved of all halfspaces.  The radius reported is an observation:
 * the largest distance found, of halfspaces and on points that had no part in
 * the choice.  Everything here is public and the same in every run: the
 * pseudo-random numbers hide nothing.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "server/compat.h"
#include "mechanism/cover/cover.h"
#include "mechanism/sort.h"

#define PROBES 512 /* points on which halfspaces are compared */
#define PROBE_WORDS (PROBES / 64)
#define FAMILY 8192			 /* about how many halfspaces there are to choose from */
#define PLANE_DIRECTIONS 128 /* of the half circle */
#define SPACE_STEPS 9		 /* along each edge of the half cube: 243 directions */
#define RANDOM_DIRECTIONS 512

typedef struct Family
{
	int		width;
	double *probe; /* PROBES points */
	int		ndirections;
	double *direction;
	int		noffsets; /* of each direction */
	double *offset;
	uint64 *labels; /* PROBE_WORDS a member */
} Family;

/* ---------- public pseudo-random numbers (splitmix64) ---------- */

static uint64
public_bits(uint64 *seed)
{
	uint64 z = *seed += UINT64CONST(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static double
public_uniform(uint64 *seed)
{
	return ((public_bits(seed) >> 11) + 0.5) / (double) (UINT64CONST(1) << 53);
}

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

/* ---------- the reference, as a few points ---------- */

static double *
make_points(const Reference *reference, int count, uint64 *seed)
{
	int		width = reference->width;
	double *point = palloc_array(double, count *(Size) width);

	for (int i = 0; i < count; i++)
	{
		int64 row = reference->npoints > 0 ? public_bits(seed) % reference->npoints : 0;

		for (int j = 0; j < width; j++)
		{
			double x = public_uniform(seed);

			if (reference->npoints > 0)
				x = reference->x[row * width + j];
			else if (reference->binary[j])
				x = x < 0.5 ? 0 : 1;
			point[i * (Size) width + j] = x;
		}
	}
	return point;
}

static void
project(const double *points, int count, int width, const double *direction, double *score)
{
	for (int i = 0; i < count; i++)
	{
		score[i] = 0;
		for (int j = 0; j < width; j++)
			score[i] += direction[j] * points[i * (Size) width + j];
	}
}

/* How a halfspace labels points with these scores. */
static void
label_points(const double *score, int count, double offset, uint64 *labels)
{
	memset(labels, 0, BITS_WORDS(count) * sizeof(uint64));
	for (int i = 0; i < count; i++)
		if (score[i] >= offset)
			bits_add(labels, i);
}

/* A halfspace and its complement are both candidates: the nearer counts. */
static int
distance(const uint64 *a, const uint64 *b, int words)
{
	int differ = 0;

	for (int i = 0; i < words; i++)
		differ += pg_popcount64(a[i] ^ b[i]);
	return Min(differ, 64 * words - differ);
}

/* ---------- directions ---------- */

static void
normalise(double *direction, int width)
{
	double norm = 0;

	for (int i = 0; i < width; i++)
		norm += direction[i] * direction[i];
	norm = sqrt(norm);
	for (int i = 0; i < width; i++)
		direction[i] /= norm;
}

static void
random_direction(double *direction, int width, uint64 *seed)
{
	for (int i = 0; i < width; i++)
		direction[i] = public_bell(seed);
	normalise(direction, width);
}

/* The points of a square grid on three faces of a cube: all directions up to sign. */
static int
space_directions(double *direction)
{
	int n = 0;

	for (int face = 0; face < 3; face++)
		for (int i = 0; i < SPACE_STEPS; i++)
			for (int j = 0; j < SPACE_STEPS; j++)
			{
				double *d = direction + 3 * n++;

				d[face] = 1;
				d[(face + 1) % 3] = (2 * i + 1.0) / SPACE_STEPS - 1;
				d[(face + 2) % 3] = (2 * j + 1.0) / SPACE_STEPS - 1;
				normalise(d, 3);
			}
	return n;
}

static void
make_directions(Family *family, uint64 *seed)
{
	int width = family->width;

	family->direction = palloc_array(double, RANDOM_DIRECTIONS *(Size) width);
	if (width == 1)
	{
		family->ndirections = 1;
		family->direction[0] = 1;
	}
	else if (width == 2)
	{
		family->ndirections = PLANE_DIRECTIONS;
		for (int i = 0; i < PLANE_DIRECTIONS; i++)
		{
			family->direction[2 * i] = cos(M_PI * i / PLANE_DIRECTIONS);
			family->direction[2 * i + 1] = sin(M_PI * i / PLANE_DIRECTIONS);
		}
	}
	else if (width == 3)
		family->ndirections = space_directions(family->direction);
	else
	{
		family->ndirections = RANDOM_DIRECTIONS;
		for (int i = 0; i < RANDOM_DIRECTIONS; i++)
			random_direction(family->direction + i * (Size) width, width, seed);
	}
}

/* ---------- the family ---------- */

static void
make_members(Family *family)
{
	double score[PROBES];
	double sorted[PROBES];

	family->noffsets = Min(FAMILY / family->ndirections, PROBES - 1);
	family->offset = palloc_array(double, family->ndirections *(Size) family->noffsets);
	family->labels =
		palloc_array(uint64, family->ndirections * (Size) family->noffsets * PROBE_WORDS);
	for (int i = 0; i < family->ndirections; i++)
	{
		CHECK_FOR_INTERRUPTS();
		project(family->probe, PROBES, family->width, family->direction + i * (Size) family->width,
				score);
		memcpy(sorted, score, sizeof(score));
		sort_doubles(sorted, PROBES);
		for (int j = 0; j < family->noffsets; j++)
		{
			int member = i * family->noffsets + j;
			int rank = (j + 1) * PROBES / (family->noffsets + 1);

			/* Between two probes, as far from both as possible. */
			family->offset[member] = (sorted[rank - 1] + sorted[rank]) / 2;
			label_points(score, PROBES, family->offset[member],
						 family->labels + (Size) member * PROBE_WORDS);
		}
	}
}

/* ---------- thinning ---------- */

/*
 * Marks at most count members, farthest first, starting from the constants;
 * ends early when the rest differ from candidates on no probe.
 */
static void
thin(const Family *family, int count, bool *chosen)
{
	int			  n = family->ndirections * family->noffsets;
	int			 *nearest = palloc_array(int, n);
	uint64		  nothing[PROBE_WORDS] = {0};
	const uint64 *last = nothing;

	memset(chosen, 0, n * sizeof(bool));
	for (int i = 0; i < n; i++)
		nearest[i] = PROBES;
	for (int step = 0; step <= count; step++)
	{
		int farthest = 0;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
		{
			nearest[i] = Min(nearest[i],
							 distance(last, family->labels + (Size) i * PROBE_WORDS, PROBE_WORDS));
			if (nearest[i] > nearest[farthest])
				farthest = i;
		}
		if (nearest[farthest] == 0 || step == count)
			break;
		chosen[farthest] = true;
		last = family->labels + (Size) farthest * PROBE_WORDS;
	}
}

/* ---------- what is found of the radius ---------- */

#define FRESH_WORDS (FRESH_POINTS / 64)

static uint64 *
label_chosen(const Candidates *candidates, const double *points, int *count)
{
	uint64 *labels = palloc_array(uint64, (candidates->count / 2) * (Size) FRESH_WORDS);
	double	score[FRESH_POINTS];

	memset(labels, 0, FRESH_WORDS * sizeof(uint64)); /* a constant */
	*count = 1;
	for (int i = 0; i < candidates->ngrids; i++)
	{
		CHECK_FOR_INTERRUPTS();
		project(points, FRESH_POINTS, candidates->width,
				candidates->direction + i * (Size) candidates->width, score);
		for (int j = 0; j < candidates->grids[i].ncuts; j++)
			label_points(score, FRESH_POINTS, candidates->grids[i].cut[j],
						 labels + (Size) (*count)++ * FRESH_WORDS);
	}
	return labels;
}

static double
found_radius(const Candidates *candidates, const Reference *reference, uint64 *seed)
{
	int		width = candidates->width;
	double *points = make_points(reference, FRESH_POINTS, seed);
	double *direction = palloc_array(double, width);
	double	score[FRESH_POINTS];
	uint64	labels[FRESH_WORDS];
	uint64 *chosen;
	int		nchosen;
	int		worst = 0;

	chosen = label_chosen(candidates, points, &nchosen);
	for (int i = 0; i < FRESH_HALFSPACES; i++)
	{
		int through = public_bits(seed) % FRESH_POINTS;
		int nearest = FRESH_POINTS;

		CHECK_FOR_INTERRUPTS();
		random_direction(direction, width, seed);
		project(points, FRESH_POINTS, width, direction, score);
		label_points(score, FRESH_POINTS, score[through], labels);
		for (int j = 0; j < nchosen && nearest > worst; j++)
			nearest = Min(nearest, distance(labels, chosen + (Size) j * FRESH_WORDS, FRESH_WORDS));
		worst = Max(worst, nearest);
	}
	return (double) worst / FRESH_POINTS;
}

Candidates *
halfspaces_build(const Reference *reference, int64 limit)
{
	Candidates *result = palloc0_object(Candidates);
	Family		family = {.width = reference->width};
	uint64		seed = 0;
	bool	   *chosen;
	int64		shapes = 1; /* the constants */

	family.probe = make_points(reference, PROBES, &seed);
	make_directions(&family, &seed);
	make_members(&family);
	chosen = palloc_array(bool, family.ndirections *family.noffsets);
	thin(&family, (int) (Min(limit, MAX_HALFSPACES) / 2 - 1), chosen);

	result->class = CLASS_HALFSPACES;
	result->width = reference->width;
	result->ngrids = family.ndirections;
	result->direction = family.direction;
	result->grids = palloc0_array(Grid, family.ndirections);
	for (int i = 0; i < family.ndirections; i++)
	{
		Grid *grid = &result->grids[i];

		grid->cut = palloc_array(double, family.noffsets);
		for (int j = 0; j < family.noffsets; j++)
			if (chosen[i * family.noffsets + j])
				grid->cut[grid->ncuts++] = family.offset[i * family.noffsets + j];
		shapes += grid->ncuts;
	}
	result->count = 2 * shapes;
	result->radius = found_radius(result, reference, &seed);
	return result;
}
