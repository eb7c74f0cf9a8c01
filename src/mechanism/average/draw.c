/*
 * draw.c
 *		From the shares of teachers to a private class.
 *
 * The answer is one teacher's, chosen at random, so its randomness is the
 * teachers' own disagreement (Dwork, Feldman 2018, section 2.1).  They add
 * Laplace noise before clipping; clipping alone is enough: between counts c and
 * c + 1, both in [m, r - m], either answer's probability changes by a factor of
 * at most (m + 1) / m <= exp(epsilon), and outside nothing changes.
 *
 * Of more than two classes, those with few votes weigh more than these, and the sum of all
 * weights moves by no more than one vote (docs/mechanisms.md, section 4).
 *
 * The caller records what goes in (draw/record.h; inputs: average/average.c).
 */
#include "c.h"

#include <math.h>

#include "mechanism/average/draw.h"
#include "draw/sampler.h"

int64
average_margin(EpsilonUnits epsilon)
{
	double margin = 1 / expm1(epsilon_real(epsilon));

	/* The product is far more than rounding can have taken away. */
	return (int64) ceil(margin * (1 + 1e-12));
}

static int64
clipped(EpsilonUnits epsilon, int32 yes, int teachers)
{
	int64 margin = average_margin(epsilon);

	return Min(Max(yes, margin), teachers - margin);
}

bool
average_draw(EpsilonUnits epsilon, int32 yes, int teachers)
{
	return sample_bernoulli(clipped(epsilon, yes, teachers), teachers);
}

double
average_probability(EpsilonUnits epsilon, int32 yes, int teachers)
{
	return (double) clipped(epsilon, yes, teachers) / teachers;
}

/* ---------- more than two classes ---------- */

/*
 * The least weight of a class with so many votes, fewer than the margin, given the weight of
 * one more: then a teacher who comes to it from a class above the margin changes its
 * probability by a factor of exp(epsilon), if no other class is below.
 */
static int64
weight_below(double e, int teachers, int64 votes, int64 weight)
{
	double others = (double) (teachers - votes);
	double next = (double) weight / AVERAGE_VOTE;

	/* The product is far more than rounding can have taken away. */
	return (int64) ceil(weight * others / (e * (others - 1 + next) - next) * (1 + 1e-12));
}

/* The most votes of a class that has fewer than so many; -1 if none has. */
static int64
most_votes_below(int64 limit, int nclasses, const int32 *votes)
{
	int64 most = -1;

	for (int i = 0; i < nclasses; i++)
		if (votes[i] < limit)
			most = Max(most, votes[i]);
	return most;
}

int64
average_weights(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers,
				int64 *weights)
{
	double e = exp(epsilon_real(epsilon));
	int64  margin = average_margin(epsilon);
	int64  weight = margin * AVERAGE_VOTE;
	int64  below = margin;
	int64  next = margin;
	int64  sum = 0;

	for (int i = 0; i < nclasses; i++)
		weights[i] = votes[i] * AVERAGE_VOTE;
	while ((next = most_votes_below(next, nclasses, votes)) >= 0)
	{
		while (below > next)
			weight = weight_below(e, teachers, --below, weight);
		for (int i = 0; i < nclasses; i++)
			if (votes[i] == next)
				weights[i] = weight;
	}
	for (int i = 0; i < nclasses; i++)
		sum += weights[i];
	return sum;
}

/* A coin for each class, against those that are left. */
int
average_class(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers)
{
	int64 weights[PRIVPRED_MAX_CLASSES];
	int64 left = average_weights(epsilon, nclasses, votes, teachers, weights);
	int class = 0;

	while (class < nclasses - 1 && !sample_bernoulli(weights[class], left))
		left -= weights[class ++];
	return class;
}

void
average_classes(EpsilonUnits epsilon, int nclasses, const int32 *votes, int teachers,
				double *probability)
{
	int64  weights[PRIVPRED_MAX_CLASSES];
	double all = (double) average_weights(epsilon, nclasses, votes, teachers, weights);

	for (int i = 0; i < nclasses; i++)
		probability[i] = weights[i] / all;
}
