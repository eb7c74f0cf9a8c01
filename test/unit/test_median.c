/*
 * test_median.c
 *		The median: what its distance is, private for every pair of neighbours, of bounded
 *		range where that is claimed, drawn as claimed; and the checks reject it without its half.
 *
 * sources: src/mechanism/median/draw.c src/mechanism/vote/draw.c
 * sources: src/draw/rng.c src/draw/bernoulli.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/median/draw.h"
#include "mechanism/vote/draw.h"
#include "unit.h"
#include "vote_vectors.h"

#define ROUNDING 1e-10

static const double epsilons[] = {0.1, 0.5, 1, 3};

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

/* ---------- the distance ---------- */

static bool
is_median(int nclasses, const int32 *votes, int teachers, int class)
{
	int before = 0;
	int behind = 0;

	for (int i = 0; i < nclasses; i++)
	{
		before += i < class ? votes[i] : 0;
		behind += i > class ? votes[i] : 0;
	}
	return 2 * before <= teachers && 2 * behind <= teachers;
}

/* Teachers in which two vectors of votes differ. */
static int
moves_between(int nclasses, const int32 *a, const int32 *b)
{
	int moves = 0;

	for (int i = 0; i < nclasses; i++)
		moves += Max(a[i] - b[i], 0);
	return moves;
}

/* By all vectors of votes that there are. */
static int
distance_by_search(int nclasses, const int32 *votes, int teachers, int class)
{
	int	  least = teachers;
	int32 other[SMALL_CLASSES] = {0};

	first_votes(nclasses, teachers, other);
	do
	{
		if (is_median(nclasses, other, teachers, class))
			least = Min(least, moves_between(nclasses, votes, other));
	} while (next_votes(nclasses, other));
	return least;
}

static void
test_distance(void)
{
	bool right = true;
	bool first = true;

	for (int nclasses = 2; nclasses <= SMALL_CLASSES; nclasses++)
		for (int teachers = 1; teachers <= SMALL_TEACHERS; teachers++)
		{
			int32 votes[SMALL_CLASSES] = {0};

			first_votes(nclasses, teachers, votes);
			do
			{
				int plain = median_plain(nclasses, votes, teachers);

				first = first && is_median(nclasses, votes, teachers, plain) &&
						(plain == 0 || !is_median(nclasses, votes, teachers, plain - 1));
				for (int i = 0; i < nclasses; i++)
					right = right && median_distance(nclasses, votes, teachers, i) ==
										 distance_by_search(nclasses, votes, teachers, i);
			} while (next_votes(nclasses, votes));
		}
	ok(right, "the distance is the least number of teachers who would have to change");
	ok(first, "without noise it is the first median");
}

/* ---------- neighbours ---------- */

typedef void (*Rule)(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
					 int teachers, double *probability);

/* Wrong: without the half. */
static void
without_half(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
			 int teachers, double *probability)
{
	median_distribution(order_is_infinite, 2 * epsilon, nclasses, votes, teachers, probability);
}

/* Wrong: permute-and-flip where bounded range is claimed. */
static void
permute_always(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
			   int teachers, double *probability)
{
	median_distribution(true, epsilon, nclasses, votes, teachers, probability);
}

/* Wrong: teachers on either side count, so that one who changes sides counts twice. */
static void
by_difference(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
			  int teachers, double *probability)
{
	int32 scores[SMALL_CLASSES];
	int32 before = 0;

	for (int i = 0; i < nclasses; i++)
	{
		scores[i] = -abs(2 * before + votes[i] - teachers);
		before += votes[i];
	}
	score_distribution(order_is_infinite, epsilon, nclasses, scores, probability);
}

/* Whether a pair of neighbours is within epsilon, and within its range if that is claimed. */
static bool
pair_is_private(Rule rule, bool infinite, double epsilon, int nclasses, const int32 *votes,
				int teachers, int from, int to)
{
	int32  moved[SMALL_CLASSES];
	double p[SMALL_CLASSES];
	double q[SMALL_CLASSES];
	double largest = -INFINITY;
	double smallest = INFINITY;

	memcpy(moved, votes, sizeof(moved));
	moved[from]--;
	moved[to]++;
	rule(infinite, units_of(epsilon), nclasses, votes, teachers, p);
	rule(infinite, units_of(epsilon), nclasses, moved, teachers, q);
	for (int i = 0; i < nclasses; i++)
	{
		largest = Max(largest, log(p[i] / q[i]));
		smallest = Min(smallest, log(p[i] / q[i]));
	}
	return Max(largest, -smallest) <= epsilon + ROUNDING &&
		   (infinite || largest - smallest <= epsilon + ROUNDING);
}

static bool
is_private(Rule rule, bool infinite, double epsilon, int nclasses, int teachers)
{
	int32 votes[SMALL_CLASSES] = {0};

	first_votes(nclasses, teachers, votes);
	do
	{
		for (int from = 0; from < nclasses; from++)
			for (int to = 0; to < nclasses; to++)
				if (votes[from] > 0 && to != from &&
					!pair_is_private(rule, infinite, epsilon, nclasses, votes, teachers, from, to))
					return false;
	} while (next_votes(nclasses, votes));
	return true;
}

static bool
keeps_promise(Rule rule, bool infinite)
{
	for (int i = 0; i < lengthof(epsilons); i++)
		for (int nclasses = 2; nclasses <= SMALL_CLASSES; nclasses++)
			for (int teachers = 1; teachers <= SMALL_TEACHERS; teachers++)
				if (!is_private(rule, infinite, epsilons[i], nclasses, teachers))
					return false;
	return true;
}

static void
test_privacy(void)
{
	ok(keeps_promise(median_distribution, true), "infinite order: all neighbours within epsilon");
	ok(keeps_promise(median_distribution, false), "finite order: and within bounded range epsilon");
	ok(!keeps_promise(without_half, true), "rejected: without the half");
	ok(!keeps_promise(without_half, false), "rejected: without the half, at finite order");
	ok(!keeps_promise(permute_always, false), "rejected: permute-and-flip as bounded range");
	ok(!keeps_promise(by_difference, true), "rejected: a difference of sides");
	ok(!keeps_promise(by_difference, false), "rejected: a difference of sides, at finite order");
}

/* ---------- the draw ---------- */

static void
test_draw(bool infinite, int nclasses, const int32 *votes, int teachers)
{
	double probability[SMALL_CLASSES];
	int64  drawn[SMALL_CLASSES] = {0};

	median_distribution(infinite, units_of(0.7), nclasses, votes, teachers, probability);
	for (int i = 0; i < 100000; i++)
		drawn[median_draw(infinite, units_of(0.7), nclasses, votes, teachers)]++;
	for (int i = 0; i < nclasses; i++)
		ok(plausible(drawn[i], 100000, probability[i]),
		   "%d classes, %d teachers, %s: class %d in " INT64_FORMAT " of 100000 draws", nclasses,
		   teachers, infinite ? "infinite" : "finite", i, drawn[i]);
}

int
main(void)
{
	static const int32 votes[][SMALL_CLASSES] = {{2, 1, 0, 2}, {0, 3, 0, 3}, {5, 0, 1, 0},
												 {0, 0, 7, 0}, {3, 3},		 {3, 4}};
	static const int   teachers[] = {5, 6, 6, 7, 6, 7};

	test_distance();
	test_privacy();
	for (int i = 0; i < lengthof(teachers); i++)
		for (int infinite = 0; infinite < 2; infinite++)
			test_draw(infinite, i < 4 ? SMALL_CLASSES : 2, votes[i], teachers[i]);
	return done();
}
