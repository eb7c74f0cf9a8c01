/*
 * many.c
 *		Walks for several classes, on several columns.
 */
#include "c.h"

#include "mechanism/threshold/many.h"

/* ---------- the walk ---------- */

void
many_start(ManyWalk *walk)
{
	walk->next = 0;
	for (int link = 0; link < WALK_LINKS; link++)
		memset(walk->behind[link], 0, walk->nclasses * sizeof(int32));
}

/*
 * Everybody moves up by their rows; whoever is further behind than the limit is
 * taken along.  Both maps are monotone and commute with adding a constant to all
 * positions: no two walks come further apart.
 */
static bool
move(ManyWalk *walk, int32 *behind, int32 limit)
{
	int64 front = PG_INT64_MIN;
	bool  moved = false;

	for (int i = 0; i < walk->nclasses; i++)
		front = Max(front, walk->count[i] - behind[i]);
	for (int i = 0; i < walk->nclasses; i++)
	{
		int32 to = (int32) Min(front - (walk->count[i] - behind[i]), limit);

		moved = moved || to != behind[i];
		behind[i] = to;
	}
	return moved;
}

bool
many_next(ManyWalk *walk)
{
	bool moved = false;

	while (!moved && walk->next < walk->nrows)
	{
		memset(walk->count, 0, walk->nclasses * sizeof(int64));
		walk->x = walk->rows[walk->next].x;
		while (walk->next < walk->nrows && walk->rows[walk->next].x == walk->x)
			walk->count[walk->rows[walk->next++].label]++;
		for (int link = 0; link < WALK_LINKS; link++)
			moved = move(walk, walk->behind[link], walk->limit[link]) || moved;
	}
	return moved;
}

void
many_limits(Combination combination, int nclasses, int ncolumns, double alpha, double step,
			int32 *limit)
{
	/* A step in one of several columns is worth as much less in their sum. */
	if (combination == COMBINE_SUM)
		step /= ncolumns;
	walk_limits(alpha / (nclasses - 1), step, limit);
	for (int link = 0; link < WALK_LINKS; link++)
		limit[link] = Min(limit[link], PG_INT32_MAX / 4 / ncolumns);
}

/* ---------- several columns ---------- */

static int
compare_leads(const void *a, const void *b)
{
	int32 x = *(const int32 *) a;
	int32 y = *(const int32 *) b;

	return (x > y) - (x < y);
}

/* The class in front, and how far the next one is behind it. */
static int
find_front(int nclasses, const int32 *behind, int32 *lead)
{
	int front = -1;

	*lead = PG_INT32_MAX;
	for (int i = 0; i < nclasses; i++)
	{
		if (front < 0 && behind[i] == 0)
			front = i;
		else
			*lead = Min(*lead, behind[i]);
	}
	return front;
}

/* Twice the median; sorts what is given. */
static int32
twice_median(int32 *values, int n)
{
	qsort(values, n, sizeof(int32), compare_leads);
	return values[(n - 1) / 2] + values[n / 2];
}

static void
vote_scores(int nclasses, int ncolumns, const int32 *const *behind, int32 *scratch, int32 *scores)
{
	int32 *leads = scratch;
	int32 *front = scratch + ncolumns;
	int32 *front_lead = scratch + 2 * ncolumns;

	for (int j = 0; j < ncolumns; j++)
		front[j] = find_front(nclasses, behind[j], &front_lead[j]);
	for (int i = 0; i < nclasses; i++)
	{
		for (int j = 0; j < ncolumns; j++)
			leads[j] = i == front[j] ? front_lead[j] : -behind[j][i];
		scores[i] = twice_median(leads, ncolumns);
	}
}

static void
sum_scores(int nclasses, int ncolumns, const int32 *const *behind, int32 *scores)
{
	memset(scores, 0, nclasses * sizeof(int32));
	for (int j = 0; j < ncolumns; j++)
		for (int i = 0; i < nclasses; i++)
			scores[i] -= behind[j][i];
}

void
many_scores(Combination combination, int nclasses, int ncolumns, const int32 *const *behind,
			int32 *scratch, int32 *scores)
{
	/* One column has nothing to be combined with. */
	if (combination == COMBINE_VOTE && ncolumns > 1)
		vote_scores(nclasses, ncolumns, behind, scratch, scores);
	else
		sum_scores(nclasses, ncolumns, behind, scores);
}

/*
 * A row that changes moves every column's positions by at most one step, up to a
 * constant; a lead, as the difference of two, by at most two, and twice the
 * median of leads by at most four.
 */
int64
many_most(Combination combination, int ncolumns, int rows)
{
	if (combination == COMBINE_VOTE && ncolumns > 1)
		return (int64) 4 * rows;
	return (int64) ncolumns * rows;
}
