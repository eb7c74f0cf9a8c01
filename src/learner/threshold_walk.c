/*
 * threshold_walk.c
 *		One numeric feature, two classes: a walk over the sorted rows.
 */
#include "c.h"

#include <math.h>

#include "learner/predictor_format.h"
#include "learner/threshold_walk.h"

/* ---------- the walk ---------- */

static int32
limit_in_steps(double limit, double step)
{
	double steps = ceil(limit / step);

	return steps < PG_INT32_MAX ? (int32) steps : PG_INT32_MAX;
}

void
walk_limits(double alpha, double step, int32 *limit)
{
	limit[WALK_LAPLACE] = limit_in_steps(log(1 / alpha), step);
	limit[WALK_LOGISTIC] = limit_in_steps(log(2 / alpha), step);
}

void
walk_start(Walk *walk, const WalkRow *rows, int64 nrows, const int32 *limit)
{
	memset(walk, 0, sizeof(Walk));
	walk->rows = rows;
	walk->nrows = nrows;
	memcpy(walk->limit, limit, sizeof(walk->limit));
}

bool
walk_next(Walk *walk)
{
	bool moved = false;

	while (!moved && walk->next < walk->nrows)
	{
		int64 count[2] = {0, 0};

		walk->x = walk->rows[walk->next].x;
		while (walk->next < walk->nrows && walk->rows[walk->next].x == walk->x)
			count[walk->rows[walk->next++].label]++;
		/* Clipping moves no two walks apart: a row counts for one step, here too. */
		for (int link = 0; link < WALK_LINKS; link++)
		{
			int64 to = walk->steps[link] + count[1] - count[0];
			int32 steps = (int32) Min(Max(to, -(int64) walk->limit[link]), walk->limit[link]);

			moved = moved || steps != walk->steps[link];
			walk->steps[link] = steps;
		}
	}
	return moved;
}

/* ---------- stored walks ---------- */

int64
walk_points(const WalkRow *rows, int64 nrows, const int32 *limit)
{
	Walk  walk;
	int64 points = 0;

	walk_start(&walk, rows, nrows, limit);
	while (walk_next(&walk))
		points++;
	return points;
}

Size
walk_body_size(int64 capacity)
{
	return THRESHOLD_HEADER + (Size) capacity * THRESHOLD_POINT;
}

void
walk_write(unsigned char *body, int64 capacity, const WalkRow *rows, int64 nrows,
		   const int32 *limit)
{
	Walk   walk;
	uint32 points = 0;

	memset(body, 0, walk_body_size(capacity));
	walk_start(&walk, rows, nrows, limit);
	for (; walk_next(&walk); points++)
	{
		write_double(body + threshold_x(points), walk.x);
		for (int link = 0; link < WALK_LINKS; link++)
			write_u32(body + threshold_steps(capacity, link, points), walk.steps[link]);
	}
	for (int link = 0; link < WALK_LINKS; link++)
		write_u32(body + 4 * link, limit[link]);
	write_u32(body + 8, points);
}
