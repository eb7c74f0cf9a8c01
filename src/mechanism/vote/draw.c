/*
 * draw.c
 *		From counts of votes to a private label.
 *
 * Every rule draws a class with odds that fall by exp(-epsilon/2) for each
 * vote it has less than the winner.  One unit moves one vote, so it changes
 * the distance of a class to the winner by at most two.
 *
 * The caller records what goes in (draw/record.h; inputs: vote/vote.c).
 */
#include "c.h"

#include <math.h>

#include "mechanism/vote/draw.h"
#include "draw/sampler.h"

int
vote_majority(int nclasses, const int32 *votes)
{
	int best = 0;

	for (int i = 1; i < nclasses; i++)
	{
		if (votes[i] > votes[best])
			best = i;
	}
	return best;
}

/* Two classes can not tie when an odd number of teachers vote. */
static bool
is_odd_binary(int nclasses, int teachers)
{
	return nclasses == 2 && teachers % 2 == 1;
}

/* exp(-(epsilon/2) * behind/steps) */
static bool
accepts(EpsilonUnits epsilon, int32 behind, int32 steps)
{
	return sample_bernoulli_exp(behind, epsilon, 2 * EPSILON_UNITS_PER_ONE * steps);
}

/*
 * The loser with probability exp(-epsilon (gap - 1)/2) / (1 + exp(epsilon)).
 * No epsilon-DP rule errs less: the two outcomes of gap 1 are neighbours, so
 * its error is at least 1/(1 + exp(epsilon)), and each further flip can divide
 * the error by exp(epsilon) at most.
 */
static int
draw_odd_binary(EpsilonUnits epsilon, const int32 *votes)
{
	int	   winner = vote_majority(2, votes);
	uint64 gap = votes[winner] - votes[1 - winner];

	if (!sample_bernoulli_exp((gap - 1) / 2, epsilon, EPSILON_UNITS_PER_ONE))
		return winner;

	/* Odds 1 to exp(-epsilon), by rejection. */
	for (;;)
	{
		if (sample_bernoulli(1, 2))
			return winner;
		if (sample_bernoulli_exp(1, epsilon, EPSILON_UNITS_PER_ONE))
			return 1 - winner;
	}
}

/*
 * Permute-and-flip (McKenna, Sheldon 2020): the exponential mechanism without
 * replacement.  Ends at the latest at a winner, who is always accepted.
 */
static int
draw_permute_and_flip(EpsilonUnits epsilon, int nclasses, const int32 *votes, int32 steps)
{
	int32 most = votes[vote_majority(nclasses, votes)];
	int16 waiting[PRIVPRED_MAX_CLASSES];

	for (int i = 0; i < nclasses; i++)
		waiting[i] = i;
	for (int left = nclasses;; left--)
	{
		int pick = (int) sample_uniform(left);
		int candidate = waiting[pick];

		if (accepts(epsilon, most - votes[candidate], steps))
			return candidate;
		waiting[pick] = waiting[left - 1];
	}
}

/* The exponential mechanism (McSherry, Talwar 2007), by rejection. */
static int
draw_exponential(EpsilonUnits epsilon, int nclasses, const int32 *votes, int32 steps)
{
	int32 most = votes[vote_majority(nclasses, votes)];

	for (;;)
	{
		int candidate = (int) sample_uniform(nclasses);

		if (accepts(epsilon, most - votes[candidate], steps))
			return candidate;
	}
}

int
steps_draw(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *scores,
		   int32 steps)
{
	if (!order_is_infinite)
		return draw_exponential(epsilon, nclasses, scores, steps);
	return draw_permute_and_flip(epsilon, nclasses, scores, steps);
}

int
score_draw(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *scores)
{
	return steps_draw(order_is_infinite, epsilon, nclasses, scores, 1);
}

int
vote_draw(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
		  int teachers)
{
	if (order_is_infinite && is_odd_binary(nclasses, teachers))
		return draw_odd_binary(epsilon, votes);
	return score_draw(order_is_infinite, epsilon, nclasses, votes);
}

/* ---------- distributions, in doubles ---------- */

static void
distribution_odd_binary(double epsilon, const int32 *votes, double *probability)
{
	int	   winner = vote_majority(2, votes);
	int	   flips = (votes[winner] - votes[1 - winner] - 1) / 2;
	double error = exp(-epsilon * (flips + 1)) / (1 + exp(-epsilon));

	probability[1 - winner] = error;
	probability[winner] = 1 - error;
}

/*
 * The k-th root of the Legendre polynomial of a degree, by Newton's method, as
 * a node of Gauss-Legendre quadrature on [0, 1], and its weight.
 */
static void
gauss_legendre(int degree, int k, double *node, double *weight)
{
	double x = cos(M_PI * (k + 0.75) / (degree + 0.5));
	double slope;

	for (int iteration = 0;; iteration++)
	{
		double value = 1;
		double before = 0;
		double step;

		for (int j = 0; j < degree; j++)
		{
			double next = ((2 * j + 1) * x * value - j * before) / (j + 1);

			before = value;
			value = next;
		}
		slope = degree * (before - x * value) / ((1 - x) * (1 + x));
		step = value / slope;
		x -= step;
		if (fabs(step) < 1e-15 || iteration == 20)
			break;
	}
	*node = (1 + x) / 2;
	*weight = 1 / ((1 - x) * (1 + x) * slope * slope);
}

/*
 * Give each class a uniform time of arrival: y is drawn if it is accepted and
 * whoever came before was not, which has probability
 * a_y * integral over t in [0, 1] of prod_{j != y} (1 - t a_j).
 * The integrand is a polynomial of degree nclasses - 1, which quadrature with
 * half as many nodes integrates exactly; all terms are positive.
 */
static void
distribution_permute_and_flip(int nclasses, const double *acceptance, double *probability)
{
	int degree = (nclasses + 1) / 2;

	memset(probability, 0, sizeof(double) * nclasses);
	for (int k = 0; k < degree; k++)
	{
		double node;
		double weight;

		gauss_legendre(degree, k, &node, &weight);
		for (int i = 0; i < nclasses; i++)
			weight *= 1 - node * acceptance[i];
		for (int i = 0; i < nclasses; i++)
			probability[i] += weight * acceptance[i] / (1 - node * acceptance[i]);
	}
}

static void
distribution_exponential(int nclasses, const double *acceptance, double *probability)
{
	double total = 0;

	for (int i = 0; i < nclasses; i++)
		total += acceptance[i];
	for (int i = 0; i < nclasses; i++)
		probability[i] = acceptance[i] / total;
}

void
steps_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *scores,
				   int32 steps, double *probability)
{
	int32  most = scores[vote_majority(nclasses, scores)];
	double acceptance[PRIVPRED_MAX_CLASSES];

	/* Relative to the winner, so that the largest is one: nothing overflows. */
	for (int i = 0; i < nclasses; i++)
		acceptance[i] = exp(-epsilon_real(epsilon) / 2 * (most - scores[i]) / steps);
	if (order_is_infinite)
		distribution_permute_and_flip(nclasses, acceptance, probability);
	else
		distribution_exponential(nclasses, acceptance, probability);
}

void
score_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *scores,
				   double *probability)
{
	steps_distribution(order_is_infinite, epsilon, nclasses, scores, 1, probability);
}

void
vote_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
				  int teachers, double *probability)
{
	if (order_is_infinite && is_odd_binary(nclasses, teachers))
		distribution_odd_binary(epsilon_real(epsilon), votes, probability);
	else
		score_distribution(order_is_infinite, epsilon, nclasses, votes, probability);
}
