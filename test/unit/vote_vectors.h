/*
 * vote_vectors.h
 *		All ways in which k teachers can vote for a few classes.
 */
#ifndef PRIVPRED_VOTE_VECTORS_H
#define PRIVPRED_VOTE_VECTORS_H

#define SMALL_CLASSES 4
#define SMALL_TEACHERS 7

/* Starts with all votes on the last class; false after the last vector. */
static bool
next_votes(int nclasses, int32 *votes)
{
	int last = nclasses - 1;

	/* Take one from the last class; if it is empty, collect and carry. */
	for (int i = last - 1; i >= 0; i--)
	{
		if (votes[last] > 0)
		{
			votes[last]--;
			votes[i]++;
			return true;
		}
		votes[last] += votes[i];
		votes[i] = 0;
	}
	return false;
}

static void
first_votes(int nclasses, int teachers, int32 *votes)
{
	memset(votes, 0, sizeof(int32) * nclasses);
	votes[nclasses - 1] = teachers;
}

#endif /* PRIVPRED_VOTE_VECTORS_H */
