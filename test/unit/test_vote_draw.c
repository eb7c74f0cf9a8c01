/*
 * test_vote_draw.c
 *		vote_draw() has the distribution that vote_distribution() says: along
 *		every path of random choices, for every small vector of votes; and so has
 *		score_draw_within().
 *
 * sources: src/mechanism/vote/draw.c
 */
#include "c.h"

#include "fake_coins.h"
#include "mechanism/vote/draw.h"
#include "vote_vectors.h"

typedef struct Election
{
	bool		 order_is_infinite;
	EpsilonUnits epsilon;
	int			 nclasses;
	int			 teachers;
	int32		 steps; /* 0: vote_draw() */
	int32		 votes[SMALL_CLASSES];
} Election;

static int64
draw(const void *argument)
{
	const Election *e = argument;

	/* only the exponential mechanism goes back to where it began */
	trials_left = e->order_is_infinite ? -1 : 1;
	if (e->steps > 0)
		return score_draw_within(e->order_is_infinite, e->epsilon, e->steps, e->nclasses, e->votes);
	return vote_draw(e->order_is_infinite, e->epsilon, e->nclasses, e->votes, e->teachers);
}

static bool
draw_is_exact(const Election *e)
{
	double		probability[SMALL_CLASSES];
	Enumeration paths;
	bool		right;

	enumerate(draw, e, 1e-13, &paths);
	right = paths.unresolved < 1e-9 && paths.elsewhere == 0;
	if (e->steps > 0)
		score_distribution_within(e->order_is_infinite, e->epsilon, e->steps, e->nclasses, e->votes,
								  probability);
	else
		vote_distribution(e->order_is_infinite, e->epsilon, e->nclasses, e->votes, e->teachers,
						  probability);
	for (int i = 0; i < e->nclasses; i++)
		right = right && agrees(&paths, i, probability[i]);
	return right;
}

static void
test_order(bool order_is_infinite, double epsilon, int32 steps)
{
	Election e = {.order_is_infinite = order_is_infinite,
				  .steps = steps,
				  .epsilon = (EpsilonUnits) (epsilon * EPSILON_UNITS_PER_ONE)};
	int		 vectors = 0;
	bool	 right = true;

	for (e.nclasses = 2; e.nclasses <= SMALL_CLASSES; e.nclasses++)
	{
		for (e.teachers = 1; e.teachers <= SMALL_TEACHERS; e.teachers++)
		{
			first_votes(e.nclasses, e.teachers, e.votes);
			do
			{
				right = right && draw_is_exact(&e);
				vectors++;
			} while (next_votes(e.nclasses, e.votes));
		}
	}
	ok(right, "%s order, epsilon %g, %d steps: %d vectors",
	   order_is_infinite ? "infinite" : "finite", epsilon, steps, vectors);
	/* sum over k of C(k+c-1, c-1), so that the loop above is not empty */
	ok(vectors == 35 + 119 + 329, "all vectors were seen");
}

int
main(void)
{
	static const double epsilons[] = {0.1, 0.5, 1, 3};

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		test_order(true, epsilons[i], 0);
		test_order(false, epsilons[i], 0);
		test_order(true, epsilons[i], 3);
		test_order(false, epsilons[i], 3);
	}
	return done();
}
