/*
 * stump.c
 *		One feature, one threshold, two classes: the split with the fewest
 *		training errors.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "learner/learners.h"

typedef struct Point
{
	double value;
	int32  class_index;
} Point;

typedef struct Split
{
	int64  correct;
	int	   feature;
	double threshold;
	int	   class_below;
	int	   class_above;
} Split;

static Size
fit_row_bytes(int nclasses, int width)
{
	Size bytes = 16 + sizeof(int32) + sizeof(Point) + sizeof(int64) + sizeof(int32);

	/* one class, as far as is known: perhaps numbers */
	return nclasses == 1 ? Max(bytes, tree_fit_row_bytes(nclasses, width)) : bytes;
}

static Size
member_size(int nclasses, int width, const LearnerOptions *options)
{
	Forest shape = {.depth = 1, .trees = 1, .outputs = 1};

	return options->numbers ? forest_stored_size(&shape) : STUMP_SIZE;
}

#define ST_SORT sort_points
#define ST_ELEMENT_TYPE Point
#define ST_COMPARE(a, b) (((a)->value > (b)->value) - ((a)->value < (b)->value))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

static int
most_common(const int64 *counts, int n)
{
	int best = 0;

	for (int c = 1; c < n; c++)
		if (counts[c] > counts[best])
			best = c;
	return best;
}

/*
 * Sorted points of one feature.  From the right we note, for each cut, how many
 * rows above it are in their most common class; then we sweep from the left.
 * Only counts between distinct values matter, so ties in the sort do not.
 */
static void
best_split(const Point *points, int64 n, int nclasses, int feature, int64 *right_best,
		   int64 *counts, Split *best)
{
	int64 top = 0;

	memset(counts, 0, nclasses * sizeof(int64));
	for (int64 i = n - 1; i > 0; i--)
	{
		int64 count = ++counts[points[i].class_index];

		top = Max(top, count);
		right_best[i] = top;
	}
	memset(counts, 0, nclasses * sizeof(int64));
	top = 0;
	for (int64 i = 0; i + 1 < n; i++)
	{
		double low = points[i].value;
		double high = points[i + 1].value;
		int64  count = ++counts[points[i].class_index];

		top = Max(top, count);
		if (low < high && top + right_best[i + 1] > best->correct)
		{
			double middle = low / 2 + high / 2;

			best->correct = top + right_best[i + 1];
			best->feature = feature;
			/* halves of neighbouring numbers may round up */
			best->threshold = middle < high ? middle : low;
		}
	}
}

/* The classes on both sides of the split, ties to the lower one. */
static void
name_sides(const TrainingData *data, int64 *counts, Split *best)
{
	int64 *above = palloc0(data->nclasses * sizeof(int64));

	memset(counts, 0, data->nclasses * sizeof(int64));
	for (int64 i = 0; i < data->nrows; i++)
	{
		if (data->values[i * data->width + best->feature] <= best->threshold)
			counts[data->row_class[i]]++;
		else
			above[data->row_class[i]]++;
	}
	best->class_below = most_common(counts, data->nclasses);
	best->class_above = most_common(above, data->nclasses);
}

static bool
fit(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	Point		  *points = palloc_huge(data->nrows * sizeof(Point));
	int64		  *right_best = palloc_huge(data->nrows * sizeof(int64));
	int64		  *counts = palloc(data->nclasses * sizeof(int64));
	Split		   best = {.feature = -1};
	unsigned char *body;

	for (int feature = 0; feature < data->width; feature++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int64 i = 0; i < data->nrows; i++)
		{
			points[i].value = data->values[i * data->width + feature];
			points[i].class_index = data->row_class[i];
		}
		sort_points(points, data->nrows);
		best_split(points, data->nrows, data->nclasses, feature, right_best, counts, &best);
	}
	if (best.feature < 0)
		return false; /* all rows are equal */
	name_sides(data, counts, &best);
	body = builder_member(result, MEMBER_STUMP, STUMP_SIZE);
	write_u32(body, best.feature);
	write_u32(body + 4, best.class_below);
	write_u32(body + 8, best.class_above);
	write_u32(body + 12, 0);
	write_double(body + 16, best.threshold);
	return true;
}

/* A tree of one split; so it is stored as one. */
static bool
fit_numbers(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	return tree_fit_numbers(data, 1, 1, result);
}

const Learner stump_learner = {
	.name = "stump",
	.finds_cuts = true,
	.fit_row_bytes = fit_row_bytes,
	.member_size = member_size,
	.fit = fit,
	.fit_numbers = fit_numbers,
};
