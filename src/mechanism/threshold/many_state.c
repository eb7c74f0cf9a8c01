/*
 * many_state.c
 *		Walks for several classes, on several columns, as they are stored.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "learner/bytes.h"
#include "mechanism/threshold/many.h"
#include "server/compat.h"

#define MANY_HEADER 16
#define COLUMN_HEADER 8

/* ---------- where things are ---------- */

static Size
column_size(int nclasses, int64 capacity)
{
	return COLUMN_HEADER + (Size) capacity * (8 + WALK_LINKS * 4 * (Size) nclasses);
}

Size
many_body_size(int nclasses, int ncolumns, int64 capacity)
{
	return MANY_HEADER + ncolumns * column_size(nclasses, capacity);
}

static Size
x_at(int64 point)
{
	return COLUMN_HEADER + 8 * (Size) point;
}

/* The distance of class 0; those of the others follow. */
static Size
behind_at(int nclasses, int64 capacity, int link, int64 point)
{
	return x_at(capacity) + 4 * (Size) nclasses * (link * (Size) capacity + point);
}

/* ---------- writing ---------- */

int64
many_points(ManyWalk *walk)
{
	int64 points = 0;

	many_start(walk);
	while (many_next(walk))
	{
		CHECK_FOR_INTERRUPTS();
		points++;
	}
	return points;
}

void
many_write_header(unsigned char *body, int64 capacity, const int32 *limit)
{
	write_u32(body, (uint32) capacity);
	for (int link = 0; link < WALK_LINKS; link++)
		write_u32(body + 4 + 4 * link, limit[link]);
	write_u32(body + 12, 0);
}

void
many_write_column(unsigned char *body, int64 capacity, int column, ManyWalk *walk)
{
	Size		   size = column_size(walk->nclasses, capacity);
	unsigned char *to = body + MANY_HEADER + column * size;
	int64		   point = 0;

	memset(to, 0, size);
	many_start(walk);
	for (; many_next(walk); point++)
	{
		CHECK_FOR_INTERRUPTS();
		write_double(to + x_at(point), walk->x);
		for (int link = 0; link < WALK_LINKS; link++)
			for (int i = 0; i < walk->nclasses; i++)
				write_u32(to + behind_at(walk->nclasses, capacity, link, point) + 4 * i,
						  walk->behind[link][i]);
	}
	write_u32(to, (uint32) point);
}

/* ---------- reading ---------- */

static bool
all_zero(const unsigned char *bytes, Size n)
{
	for (Size i = 0; i < n; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

/* Copies one link's distances; false if they are none. */
static bool
load_behind(const unsigned char *from, int nclasses, int64 n, uint32 limit, int32 *behind)
{
	for (int64 point = 0; point < n; point++)
	{
		bool in_front = false;

		for (int i = 0; i < nclasses; i++)
		{
			uint32 steps = read_u32(from + 4 * (point * (Size) nclasses + i));

			if (steps > limit)
				return false;
			in_front = in_front || steps == 0;
			behind[point * (Size) nclasses + i] = (int32) steps;
		}
		if (!in_front)
			return false;
	}
	return true;
}

static bool
load_column(const unsigned char *from, int nclasses, int64 capacity, const uint32 *limit,
			ManyColumn *column)
{
	Size	per_point = 4 * (Size) nclasses;
	double *x;

	column->n = read_u32(from);
	if (column->n > capacity || read_u32(from + 4) != 0 ||
		!all_zero(from + x_at(column->n), 8 * (Size) (capacity - column->n)))
		return false;
	column->x = x = palloc(column->n * sizeof(double) + 1);
	for (int64 i = 0; i < column->n; i++)
	{
		x[i] = read_double(from + x_at(i));
		if (!isfinite(x[i]) || (i > 0 && x[i] <= x[i - 1]))
			return false;
	}
	for (int link = 0; link < WALK_LINKS; link++)
	{
		int32 *behind = palloc(column->n * per_point + 1);

		column->behind[link] = behind;
		if (!load_behind(from + behind_at(nclasses, capacity, link, 0), nclasses, column->n,
						 limit[link], behind) ||
			!all_zero(from + behind_at(nclasses, capacity, link, column->n),
					  per_point * (capacity - column->n)))
			return false;
	}
	return true;
}

ManyState *
many_load(const unsigned char *body, Size size, int nclasses, int ncolumns)
{
	ManyState *state = palloc0_object(ManyState);
	uint32	   limit[WALK_LINKS];
	int64	   capacity;

	if (size < MANY_HEADER)
		return NULL;
	capacity = read_u32(body);
	if (capacity > WALK_MAX_POINTS || size != many_body_size(nclasses, ncolumns, capacity) ||
		read_u32(body + 12) != 0)
		return NULL;
	for (int link = 0; link < WALK_LINKS; link++)
	{
		limit[link] = read_u32(body + 4 + 4 * link);
		if (limit[link] < 1 || limit[link] > PG_INT32_MAX / 4 / ncolumns)
			return NULL;
	}
	state->start = palloc0_array(int32, nclasses);
	state->columns = palloc0_array(ManyColumn, ncolumns);
	for (int j = 0; j < ncolumns; j++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!load_column(body + MANY_HEADER + j * column_size(nclasses, capacity), nclasses,
						 capacity, limit, &state->columns[j]))
			return NULL;
	}
	return state;
}

void
many_at(const ManyState *state, int nclasses, int ncolumns, WalkLink link, const double *x,
		const int32 **behind)
{
	for (int j = 0; j < ncolumns; j++)
	{
		const ManyColumn *column = &state->columns[j];
		int64			  points = walk_points_up_to(column->x, column->n, x[j]);

		behind[j] =
			points == 0 ? state->start : column->behind[link] + (points - 1) * (Size) nclasses;
	}
}
