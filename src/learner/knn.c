/*
 * knn.c
 *		The k nearest neighbours among some rows of the chunk.
 *
 * The size of a teacher must not tell how many rows it has, so a declared number
 * of rows, its prototypes, is kept.  They are taken at even distances from the
 * canonical order, which is that of a hash of the content (training_fit.c): the
 * first ones would be copies of a few rows where features have few values.
 */
#include "postgres.h"

#include <math.h>

#include "learner/knn.h"
#include "learner/learners.h"

enum
{
	K,
	PROTOTYPES /* rows that a teacher keeps */
};

static const Option options_of[] = {
	[K] = {"k", OPTION_COUNT, 1, NEIGHBOURS_MAX_K, 5},
	[PROTOTYPES] = {"prototypes", OPTION_COUNT, 1, NEIGHBOURS_MAX_ROWS, 64},
	{NULL},
};

/* Sort keys, and the classes in their final order. */
static Size
fit_row_bytes(int nclasses, int width)
{
	return 16 + sizeof(int32);
}

static Size
member_size(int nclasses, int width, const LearnerOptions *options)
{
	return neighbours_size(options->number[PROTOTYPES], width);
}

static Size
fit_bytes(const TrainingData *data, const LearnerOptions *options)
{
	return member_size(data->nclasses, data->width, options);
}

/* Of numbers, a row has its number in fixed point in place of its class. */
static bool
fit(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	uint32		   room = options->number[PROTOTYPES];
	uint32		   rows = Min(data->nrows, room);
	Size		   size = neighbours_size(room, data->width);
	unsigned char *body;

	if (rows == 0)
		return false;
	body = builder_member(result, MEMBER_NEIGHBOURS, size);
	memset(body, 0, size);
	write_u32(body, options->number[K]);
	write_u32(body + 4, room);
	write_u32(body + 8, rows);
	for (uint32 i = 0; i < rows; i++)
	{
		int64		   position = i * data->nrows / rows;
		const double  *x = training_row(data, position);
		unsigned char *row = body + neighbours_row(i, data->width);

		write_u32(row, options->numbers ? training_number(data, data->order[position])
										: training_class(data, position));
		for (int j = 0; j < data->width; j++)
			write_double(row + 4 + 8 * j, x[j]);
	}
	return true;
}

const Learner knn_learner = {
	.name = "knn",
	.options = options_of,
	.fit_row_bytes = fit_row_bytes,
	.member_size = member_size,
	.fit_bytes = fit_bytes,
	.fit = fit,
	.fit_numbers = fit,
	.learns_one_class = true, /* a constant teacher would be quicker to ask, which tells */
};

/* ---------- evaluation ---------- */

/* Room that is not used is filled with rows that are never near, so that it takes its time. */
Neighbours *
neighbours_load(const unsigned char *body, int width)
{
	Neighbours *neighbours = palloc_object(Neighbours);
	int			room = read_u32(body + 4);
	int			rows = read_u32(body + 8);
	double	   *x;

	neighbours->k = Min(read_u32(body), rows);
	neighbours->room = room;
	neighbours->width = width;
	neighbours->classes = palloc_array(int32, room);
	x = palloc_huge((Size) room * width * sizeof(double));
	for (int i = 0; i < room; i++)
	{
		const unsigned char *row = body + neighbours_row(i, width);

		neighbours->classes[i] = i < rows ? (int32) read_u32(row) : PG_INT32_MAX;
		for (int j = 0; j < width; j++)
			x[(Size) i * width + j] = i < rows ? read_double(row + 4 + 8 * j) : INFINITY;
	}
	neighbours->x = x;
	return neighbours;
}

/* Rows at one distance are taken in the order of their classes, or numbers. */
static bool
is_nearer(double distance, int32 of_class, double other, int32 other_class)
{
	return distance < other || (distance == other && of_class < other_class);
}

/* Fills the classes, or numbers, of the nearest rows; returns how many there are. */
static int
nearest(const Neighbours *neighbours, const double *x, int32 *classes)
{
	double distances[NEIGHBOURS_MAX_K];
	int	   found = 0;

	for (int row = 0; row < neighbours->room; row++)
	{
		const double *y = neighbours->x + (Size) row * neighbours->width;
		int32		  of_class = neighbours->classes[row];
		double		  distance = 0;
		int			  place;

		for (int i = 0; i < neighbours->width; i++)
			distance += (x[i] - y[i]) * (x[i] - y[i]);
		if (found < neighbours->k)
			found++;
		else if (!is_nearer(distance, of_class, distances[found - 1], classes[found - 1]))
			continue;
		for (place = found - 1; place > 0; place--)
		{
			if (!is_nearer(distance, of_class, distances[place - 1], classes[place - 1]))
				break;
			distances[place] = distances[place - 1];
			classes[place] = classes[place - 1];
		}
		distances[place] = distance;
		classes[place] = of_class;
	}
	return found;
}

void
neighbours_count(const Neighbours *neighbours, const double *x, int32 *counts)
{
	int32 classes[NEIGHBOURS_MAX_K];
	int	  found = nearest(neighbours, x, classes);

	for (int i = 0; i < found; i++)
		counts[classes[i]]++;
}

double
neighbours_mean(const Neighbours *neighbours, const double *x)
{
	int32 numbers[NEIGHBOURS_MAX_K];
	int	  found = nearest(neighbours, x, numbers);
	int64 sum = 0;

	for (int i = 0; i < found; i++)
		sum += numbers[i];
	return sum / FIXED_POINT_ONE / found;
}
