/*
 * halfspace_probes.c
 *		How near halfspaces are to candidates: what fresh ones prove.
 *
 * A random halfspace has a direction that is uniform on the sphere, and its
 * boundary goes through a random point of the reference.  Let p(h) be the mass
 * on which h differs from a candidate that looks near it on some points.  For
 * PROBES random halfspaces p is estimated on points that had no part in anything
 * before.  What follows for all but a share of halfspaces is section 10 of
 * docs/mechanisms.md.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "server/compat.h"
#include "mechanism/cover/cover.h"
#include "mechanism/cover/public_random.h"
#include "mechanism/sort.h"

#define LOOKS (64 * PROBE_BYTES / 8) /* points on which the nearest candidate is looked for */
#define WORDS (PROBE_BYTES / 8)

/* A uniform reference: for each probe, as many points of its own. */
#define OWN_POINTS 4096
#define MISSED 0.1 /* how often a probe beyond the radius may look nearer by the slack */

/* But for so many, estimates are below the one that is taken. */
#define ESTIMATED_SHARE 0.009

/* Rows of a reference: for so many, they may differ by the slack from what they were drawn from. */
#define UNLIKE_SHARE 0.001

/*
 * What is left out is all that may be beyond: ESTIMATED_SHARE / (1 - MISSED) and
 * ESTIMATED_SHARE + UNLIKE_SHARE are 1 - PROBED_SHARE.
 */

typedef struct Probe
{
	double *weight;
	double	cut;

	/* The candidate. */
	const double *near_weight; /* NULL: a constant */
	double		  near_cut;
	bool		  negated;

	int64 differ; /* weight of the points on which they do */
} Probe;

struct HalfspaceProbes
{
	int	  width;
	Probe probe[PROBES];
};

/* ---------- the nearest candidate ---------- */

typedef struct Looks
{
	double *point;	/* LOOKS of them */
	uint64 *labels; /* WORDS for each shape: a constant, and all cuts */
	int		nshapes;
} Looks;

static void
label_points(const double *score, double cut, uint64 *labels)
{
	memset(labels, 0, PROBE_BYTES);
	for (int i = 0; i < LOOKS; i++)
		if (score[i] >= cut)
			bits_add(labels, i);
}

static void
project(const Looks *looks, const double *weight, int width, double *score)
{
	for (int i = 0; i < LOOKS; i++)
		score[i] = weighted_sum(weight, looks->point + i * (Size) width, width);
}

static void
look_at_candidates(const Candidates *candidates, const Reference *reference, uint64 *seed,
				   Looks *looks)
{
	int	   width = candidates->width;
	double score[LOOKS];

	looks->point = palloc_array(double, LOOKS *(Size) width);
	for (int i = 0; i < LOOKS; i++)
		public_point(reference, seed, looks->point + i * (Size) width);
	looks->nshapes = 1;
	for (int i = 0; i < candidates->ngrids; i++)
		looks->nshapes += candidates->grids[i].ncuts;
	looks->labels = palloc_array(uint64, looks->nshapes * (Size) WORDS);
	looks->nshapes = 1;
	memset(looks->labels, 0, PROBE_BYTES); /* never */
	for (int i = 0; i < candidates->ngrids; i++)
	{
		CHECK_FOR_INTERRUPTS();
		project(looks, candidates->direction + i * (Size) width, width, score);
		for (int j = 0; j < candidates->grids[i].ncuts; j++)
			label_points(score, candidates->grids[i].cut[j],
						 looks->labels + (Size) looks->nshapes++ * WORDS);
	}
}

static void
find_nearest(const Candidates *candidates, const Looks *looks, Probe *probe)
{
	double score[LOOKS];
	uint64 labels[WORDS];
	int	   nearest = LOOKS + 1;
	int	   shape = 0;
	int	   grid = 0;

	project(looks, probe->weight, candidates->width, score);
	label_points(score, probe->cut, labels);
	for (int i = 0; i < looks->nshapes; i++)
	{
		const uint64 *other = looks->labels + (Size) i * WORDS;
		int			  differ = 0;

		for (int j = 0; j < WORDS; j++)
			differ += pg_popcount64(labels[j] ^ other[j]);
		if (Min(differ, LOOKS - differ) >= nearest)
			continue;
		nearest = Min(differ, LOOKS - differ);
		probe->negated = LOOKS - differ < differ;
		shape = i;
	}
	/* "Never" is "always", negated. */
	probe->near_weight = NULL;
	if (shape == 0)
		probe->negated = !probe->negated;
	else
	{
		for (shape--; shape >= candidates->grids[grid].ncuts; grid++)
			shape -= candidates->grids[grid].ncuts;
		probe->near_weight = candidates->direction + grid * (Size) candidates->width;
		probe->near_cut = candidates->grids[grid].cut[shape];
	}
}

/* ---------- probes ---------- */

/* Uniform on the sphere, as what is claimed is claimed of that. */
static void
random_direction(double *direction, int width, uint64 *seed)
{
	double norm = 0;

	for (int i = 0; i < width; i++)
	{
		direction[i] = sqrt(-2 * log(public_uniform(seed))) * cos(2 * M_PI * public_uniform(seed));
		norm += direction[i] * direction[i];
	}
	for (int i = 0; i < width; i++)
		direction[i] /= sqrt(norm);
}

HalfspaceProbes *
probes_create(const Candidates *candidates, const Reference *reference)
{
	HalfspaceProbes *probes = palloc0_object(HalfspaceProbes);
	int				 width = candidates->width;
	double			*x = palloc_array(double, width);
	uint64			 seed = UINT64CONST(1) << 63; /* candidates began at 0 */
	Looks			 looks;

	probes->width = width;
	look_at_candidates(candidates, reference, &seed, &looks);
	for (int i = 0; i < PROBES; i++)
	{
		Probe *probe = &probes->probe[i];

		CHECK_FOR_INTERRUPTS();
		probe->weight = palloc_array(double, width);
		random_direction(probe->weight, width, &seed);
		public_point(reference, &seed, x);
		probe->cut = weighted_sum(probe->weight, x, width);
		find_nearest(candidates, &looks, probe);
	}
	pfree(looks.labels);
	pfree(looks.point);
	return probes;
}

static bool
differs(const Probe *probe, int width, const double *x)
{
	bool near =
		probe->near_weight == NULL || weighted_sum(probe->near_weight, x, width) >= probe->near_cut;

	return (weighted_sum(probe->weight, x, width) >= probe->cut) != (near != probe->negated);
}

void
probes_add(HalfspaceProbes *probes, const double *x, int64 weight)
{
	for (int i = 0; i < PROBES; i++)
		if (differs(&probes->probe[i], probes->width, x))
			probes->probe[i].differ += weight;
}

/*
 * How many estimates may be above the one that is taken: the most for which so
 * few would be found with probability PROBED_ODDS only, if more than ESTIMATED_SHARE of
 * all were above it.
 */
static int
left_above(void)
{
	double chance = pow(1 - ESTIMATED_SHARE, PROBES);
	double total = chance;
	int	   result = 0;

	while (total <= PROBED_ODDS)
	{
		chance *= (PROBES - result) * ESTIMATED_SHARE / ((result + 1) * (1 - ESTIMATED_SHARE));
		total += chance;
		result++;
	}
	return result - 1;
}

double
probes_finish(const HalfspaceProbes *probes, double total)
{
	double estimate[PROBES];

	for (int i = 0; i < PROBES; i++)
		estimate[i] = probes->probe[i].differ / Max(total, 1);
	sort_doubles(estimate, PROBES);
	return estimate[PROBES - 1 - left_above()];
}

double
probes_radius(HalfspaceProbes *probes, const Reference *reference, double beta)
{
	int		width = probes->width;
	double *x = palloc_array(double, width);
	uint64	seed = UINT64CONST(1) << 62;
	int64	aside = 0;

	for (int i = 0; i < PROBES && reference->npoints == 0; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < OWN_POINTS; j++)
		{
			public_point(reference, &seed, x);
			probes->probe[i].differ += differs(&probes->probe[i], width, x) ? 1 : 0;
		}
	}
	pfree(x);
	if (reference->npoints == 0)
		return Min(1,
				   probes_finish(probes, OWN_POINTS) + sqrt(log(1 / MISSED) / (2.0 * OWN_POINTS)));
	for (int64 i = 0; i < reference->npoints; i++)
	{
		if (!public_set_aside(i))
			continue;
		CHECK_FOR_INTERRUPTS();
		probes_add(probes, reference->x + i * width, 1);
		aside++;
	}
	if (aside == 0)
		return 1;
	return Min(1, probes_finish(probes, (double) aside) +
					  sqrt(log(1 / (UNLIKE_SHARE * beta)) / (2 * (double) aside)));
}
