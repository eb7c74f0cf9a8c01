/*
 * stable_learner.c
 *		The globally stable learner (Bun, Livni, Moran 2020) and the stable
 *		histogram (Korolova et al. 2009).
 *
 * A sample of level t is two samples of level t - 1, each with a part of the
 * batch appended, on which the optimal algorithm disagrees: at a point where it
 * does, a random one of its labels is the truth often enough (Jung, Kim and Tewari
 * 2020, for more than two), and one of the two is made to err there.  After as
 * many mistakes as the dimension allows, it is right.  Where runs agree too often
 * to find a disagreement, they agree: which is the stability that is wanted.
 *
 * In the paper all parts are of one size.  Here the last run takes all that is
 * left of the batch.
 *
 * The caller records what goes in (draw/record.h; inputs: littlestone/littlestone.c).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "mechanism/littlestone/littlestone.h"
#include "draw/sampler.h"

typedef struct Tournament
{
	OptimalAlgorithm *algorithm;
	int				  npoints;
	int				  nclasses;
	const Batch		 *batch;
	int64			  used; /* examples of the batch */
	int64			  part;
} Tournament;

/* Any order of the batch gives the same law. */
static void
shuffle(Batch *batch)
{
	for (int64 i = batch->nexamples - 1; i > 0; i--)
	{
		int64 j = (int64) sample_uniform(i + 1);
		int32 swapped = batch->examples[i];

		batch->examples[i] = batch->examples[j];
		batch->examples[j] = swapped;
	}
}

/* The next examples of the batch; false if there are not enough. */
static bool
take_part(Tournament *tournament, OptimalState *state, int64 count)
{
	if (tournament->batch->nexamples - tournament->used < count)
		return false;
	for (int64 i = 0; i < count; i++)
	{
		int32 example = tournament->batch->examples[tournament->used++];

		optimal_example(tournament->algorithm, state, example / tournament->nclasses,
						example % tournament->nclasses);
	}
	return true;
}

static int
said(const Tournament *tournament, const uint64 *labels, int point)
{
	return labels_get(labels, tournament->npoints, tournament->nclasses, point);
}

static int
first_difference(const Tournament *tournament, const uint64 *a, const uint64 *b)
{
	for (int p = 0; p < tournament->npoints; p++)
		if (said(tournament, a, p) != said(tournament, b, p))
			return p;
	return -1;
}

/* A sample of a level, as the state after it; NULL when the batch is used up. */
static OptimalState *
sample_level(Tournament *tournament, int level)
{
	OptimalState *run[2] = {NULL, NULL};
	int			  words = LABELS_WORDS(tournament->npoints, tournament->nclasses);
	uint64		 *says;

	if (level == 0)
		return optimal_start(tournament->algorithm);
	says = palloc_array(uint64, 2 * words); /* of the batch's own memory */
	for (;;)
	{
		const PointParts *parts;

		int point;
		int label;
		int wrong;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < 2; i++)
		{
			run[i] = sample_level(tournament, level - 1);
			if (run[i] == NULL || !take_part(tournament, run[i], tournament->part))
				return NULL;
			optimal_labels(tournament->algorithm, run[i], says + i * words);
		}
		point = first_difference(tournament, says, says + words);
		if (point < 0)
		{
			optimal_free(run[0]);
			optimal_free(run[1]);
			continue; /* until the batch is used up */
		}
		parts = optimal_parts(tournament->algorithm, point);
		label = parts->label[sample_uniform(parts->nlabels)];
		wrong = said(tournament, says, point) == label ? 1 : 0;
		pfree(says);
		optimal_example(tournament->algorithm, run[wrong], point, label);
		optimal_free(run[1 - wrong]);
		return run[wrong];
	}
}

void
stable_learner(OptimalAlgorithm *algorithm, const FiniteClass *finite, Batch *batch, int depth,
			   int64 part, uint64 *labels)
{
	Tournament	  tournament = {algorithm, finite->npoints, finite_class_classes(finite), batch,
								0,		   Max(part, 1)};
	int			  level = (int) sample_uniform(depth + 1);
	OptimalState *state;

	shuffle(batch);
	state = sample_level(&tournament, level);
	if (state == NULL)
	{
		/* Used up, as runs agreed or examples are few: then without a tournament. */
		tournament.used = 0;
		state = optimal_start(algorithm);
	}
	(void) take_part(&tournament, state, batch->nexamples - tournament.used);
	optimal_labels(algorithm, state, labels);
	optimal_free(state);
}

/*
 * ---------- the stable histogram ----------
 *
 * One unit changes what one batch gives: one count falls by one and another
 * rises by one.  At scale 2/epsilon the ratio for each is e^(epsilon/2).  A
 * hypothesis with one batch in one table and none in the other is kept with
 * probability Pr[noise >= threshold] = p^threshold / (1 + p), p = e^(-epsilon/2):
 * that is delta.
 */

static double
noise_ratio(EpsilonUnits epsilon)
{
	return exp(-epsilon_real(epsilon) / 2);
}

int64
histogram_threshold(EpsilonUnits epsilon, double delta)
{
	double rate = epsilon_real(epsilon) / 2;
	double threshold = (-log(delta) - log1p(noise_ratio(epsilon))) / rate;

	/* More than rounding can have taken away. */
	return (int64) Max(1, ceil(threshold * (1 + 1e-12) + 1e-9));
}

bool
histogram_keeps(EpsilonUnits epsilon, int64 threshold, int64 count)
{
	return count + sample_discrete_laplace(2 * EPSILON_UNITS_PER_ONE, epsilon) > threshold;
}

double
histogram_probability(EpsilonUnits epsilon, int64 threshold, int64 count)
{
	double p = noise_ratio(epsilon);
	int64  needed = threshold + 1 - count; /* of the noise */

	if (needed > 0)
		return pow(p, needed) / (1 + p);
	return 1 - pow(p, 1 - needed) / (1 + p);
}
