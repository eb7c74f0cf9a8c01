/*
 * draw.c
 *		From counts of votes for classes in an order to a private median.
 *
 * A class is a median if at most half of the teachers vote for classes before it, and at most
 * half for classes behind it.  Its score is minus the number of teachers who would have to
 * change for that (Asi, Duchi 2020: inverse sensitivity), so that one unit, who changes one
 * teacher, changes it by at most one.
 */
#include "c.h"

#include "mechanism/median/draw.h"
#include "mechanism/vote/draw.h"

int32
median_distance(int nclasses, const int32 *votes, int teachers, int class)
{
	int32 before = 0;
	int32 behind;

	for (int i = 0; i < class; i++)
		before += votes[i];
	behind = teachers - before - votes[class];
	return Max(Max(before, behind) - teachers / 2, 0);
}

static void
median_scores(int nclasses, const int32 *votes, int teachers, int32 *scores)
{
	for (int i = 0; i < nclasses; i++)
		scores[i] = -median_distance(nclasses, votes, teachers, i);
}

int
median_plain(int nclasses, const int32 *votes, int teachers)
{
	int32 scores[PRIVPRED_MAX_CLASSES];

	median_scores(nclasses, votes, teachers, scores);
	return vote_majority(nclasses, scores);
}

/* The median of two classes is the winner of a vote, for which there are better odds. */
int
median_draw(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
			int teachers)
{
	int32 scores[PRIVPRED_MAX_CLASSES];

	if (nclasses == 2)
		return vote_draw(order_is_infinite, epsilon, nclasses, votes, teachers);
	median_scores(nclasses, votes, teachers, scores);
	return score_draw(order_is_infinite, epsilon, nclasses, scores);
}

void
median_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
					int teachers, double *probability)
{
	int32 scores[PRIVPRED_MAX_CLASSES];

	if (nclasses == 2)
	{
		vote_distribution(order_is_infinite, epsilon, nclasses, votes, teachers, probability);
		return;
	}
	median_scores(nclasses, votes, teachers, scores);
	score_distribution(order_is_infinite, epsilon, nclasses, scores, probability);
}
