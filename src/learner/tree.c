/*
 * tree.c
 *		One small classification tree (Breiman et al. 1984): greedy splits by
 *		Gini impurity, down to a declared depth.
 *
 * It does not need XGBoost, so that a learner with readable rules is always there.
 * Rows in which a feature is missing go to the side where they do least harm.
 * Every choice is made by counts between distinct values, so the order of rows
 * does not matter.
 *
 * Of numbers it is a regression tree, whose splits leave the least squared error; their
 * sums are of integers, so that the order does not matter, either.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "learner/learners.h"

enum
{
	DEPTH,
	MIN_ROWS
};

static const Option options_of[] = {
	[DEPTH] = {"depth", OPTION_COUNT, 1, FOREST_MAX_DEPTH, 3},
	[MIN_ROWS] = {"min_rows", OPTION_COUNT, 1, 1000000, 5}, /* in a leaf */
	{NULL},
};

#define HALF (1 << (FIXED_POINT_BITS - 1))

typedef struct Point
{
	float value;
	int32 label; /* a class, or a number less one half, in fixed point */
} Point;

typedef struct Split
{
	double purity;	/* sum over sides of sum of squared counts / count */
	int	   feature; /* -1: none */
	float  threshold;
	bool   missing_left;
} Split;

/* Counts of classes on one side, and the sum of their squares; or the sum of its numbers. */
typedef struct Side
{
	int64  rows;
	int64  squares; /* at most the square of the rows of one chunk */
	int64 *counts;	/* NULL: numbers */
	int64  sum;
} Side;

typedef struct Grower
{
	const TrainingData *data;
	int64				min_rows; /* in a leaf */
	Forest			   *forest;
	float			   *values; /* width per row */
	int32			   *rows;	/* permuted so that each node's are together */
	Point			   *points;
	Side				left;
	Side				right;
	float			   *leaf;
} Grower;

Size
tree_fit_row_bytes(int nclasses, int width)
{
	return 16 + width * sizeof(float) + 2 * sizeof(int32) + sizeof(Point);
}

static Size
member_size(int nclasses, int width, const LearnerOptions *options)
{
	Forest shape = {.depth = options->number[DEPTH], .trees = 1};

	shape.outputs = LINEAR_VECTORS(nclasses);
	return forest_stored_size(&shape);
}

static void
move_row(Side *side, int32 label, int sign)
{
	side->rows += sign;
	if (side->counts == NULL)
	{
		side->sum += sign * (int64) label;
		return;
	}
	/* (n + s)^2 - n^2 = 2 s n + 1 */
	side->squares += 2 * sign * side->counts[label] + 1;
	side->counts[label] += sign;
}

static void
clear_side(Side *side, int nclasses)
{
	side->rows = 0;
	side->squares = 0;
	side->sum = 0;
	if (side->counts != NULL)
		memset(side->counts, 0, nclasses * sizeof(int64));
}

/* What is left is least where this is largest: counts squared, or the sum, by rows. */
static double
purity(const Side *side)
{
	if (side->counts == NULL)
		return (double) side->sum / side->rows * side->sum;
	return (double) side->squares / side->rows;
}

#define ST_SORT sort_points
#define ST_ELEMENT_TYPE Point
#define ST_COMPARE(a, b) (((a)->value > (b)->value) - ((a)->value < (b)->value))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Half way to the next point, but never so that rounding puts this one on the
 * right; just above the last one, which leaves what is missing alone.
 */
static float
threshold_after(const Point *points, int64 i, int64 present)
{
	float middle;

	if (i + 1 == present)
		return nextafterf(points[i].value, INFINITY);
	middle = points[i].value / 2 + points[i + 1].value / 2;
	return middle > points[i].value ? middle : points[i + 1].value;
}

/*
 * Sweeps over the sorted points of one feature, with the rows in which it is
 * missing (at the end) on one side.  The threshold belongs to the right.
 */
static void
sweep(Grower *grower, int64 present, int64 n, int feature, bool missing_left, Split *best)
{
	const Point *points = grower->points;
	Side		*left = &grower->left;
	Side		*right = &grower->right;
	int			 nclasses = grower->data->nclasses;

	clear_side(left, nclasses);
	clear_side(right, nclasses);
	for (int64 i = 0; i < n; i++)
		move_row(i >= present && missing_left ? left : right, points[i].label, 1);
	for (int64 i = 0; i < present; i++)
	{
		float threshold;

		move_row(left, points[i].label, 1);
		move_row(right, points[i].label, -1);
		if ((i + 1 < present && points[i].value == points[i + 1].value) ||
			left->rows < grower->min_rows || right->rows < grower->min_rows)
			continue;
		threshold = threshold_after(points, i, present);
		if (purity(left) + purity(right) > best->purity && isfinite(threshold))
		{
			best->purity = purity(left) + purity(right);
			best->feature = feature;
			best->threshold = threshold;
			best->missing_left = missing_left;
		}
	}
}

static int32
label_of(const Grower *grower, int32 row)
{
	if (grower->left.counts == NULL)
		return training_number(grower->data, row) - HALF;
	return grower->data->row_class[row];
}

/* The best split of some rows; feature -1 if none makes them purer. */
static Split
find_split(Grower *grower, const int32 *rows, int64 n)
{
	const TrainingData *data = grower->data;
	Split				best = {.feature = -1};

	clear_side(&grower->left, data->nclasses);
	for (int64 i = 0; i < n; i++)
		move_row(&grower->left, label_of(grower, rows[i]), 1);
	/* not by rounding alone */
	best.purity = purity(&grower->left) * (1 + 1e-9);
	for (int feature = 0; feature < data->width; feature++)
	{
		int64 present = 0;
		int64 end = n;

		CHECK_FOR_INTERRUPTS();
		for (int64 i = 0; i < n; i++)
		{
			float  value = grower->values[(Size) rows[i] * data->width + feature];
			Point *point = &grower->points[isnan(value) ? --end : present++];

			point->value = value;
			point->label = label_of(grower, rows[i]);
		}
		sort_points(grower->points, present);
		CHECK_FOR_INTERRUPTS();
		sweep(grower, present, n, feature, false, &best);
		if (present < n)
			sweep(grower, present, n, feature, true, &best);
	}
	return best;
}

static bool
goes_right(const Grower *grower, int32 row, const Split *split)
{
	float value = grower->values[(Size) row * grower->data->width + split->feature];

	return isnan(value) ? !split->missing_left : value >= split->threshold;
}

/* Moves the rows that go left to the front; returns how many. */
static int64
partition(const Grower *grower, int32 *rows, int64 n, const Split *split)
{
	int64 left = 0;

	for (int64 i = 0; i < n; i++)
		if (!goes_right(grower, rows[i], split))
		{
			int32 row = rows[i];

			rows[i] = rows[left];
			rows[left++] = row;
		}
	return left;
}

/*
 * A leaf holds the share of each class; of two, how far that of the second is above one half,
 * and so does the mean of numbers.
 */
static void
make_leaf(Grower *grower, const int32 *rows, int64 n, uint32 node, uint32 level)
{
	const TrainingData *data = grower->data;
	int64			   *counts = grower->left.counts;

	clear_side(&grower->left, data->nclasses);
	for (int64 i = 0; i < n; i++)
		move_row(&grower->left, label_of(grower, rows[i]), 1);
	if (counts == NULL)
		grower->leaf[0] = (float) (grower->left.sum / FIXED_POINT_ONE / n);
	else if (data->nclasses == 2)
		grower->leaf[0] = (float) ((double) counts[1] / n - 0.5);
	else
		for (int c = 0; c < data->nclasses; c++)
			grower->leaf[c] = (float) ((double) counts[c] / n);
	forest_set_leaf(grower->forest, 0, node, level, grower->leaf);
}

/* Recursion is as deep as the tree, at most FOREST_MAX_DEPTH. */
static void
grow(Grower *grower, int32 *rows, int64 n, uint32 node, uint32 level)
{
	Split split = {.feature = -1};
	int64 left;

	if (level < grower->forest->depth)
		split = find_split(grower, rows, n);
	if (split.feature < 0)
	{
		make_leaf(grower, rows, n, node, level);
		return;
	}
	forest_set_split(grower->forest, 0, node, split.feature, split.threshold, split.missing_left);
	left = partition(grower, rows, n, &split);
	grow(grower, rows, left, 2 * node + 1, level + 1);
	grow(grower, rows + left, n - left, 2 * node + 2, level + 1);
}

static bool
fit_tree(const TrainingData *data, bool numbers, int depth, int min_rows, PredictorBuilder *result)
{
	Grower grower = {.data = data, .min_rows = min_rows};

	if (data->nrows > PG_INT32_MAX)
		return false;
	grower.forest = forest_create(depth, 1, data->nclasses, true);
	grower.forest->shares = true;
	grower.values = palloc_huge(data->nrows * data->width * sizeof(float));
	grower.rows = palloc_huge(data->nrows * sizeof(int32));
	grower.points = palloc_huge(data->nrows * sizeof(Point));
	if (!numbers)
	{
		grower.left.counts = palloc_array(int64, data->nclasses);
		grower.right.counts = palloc_array(int64, data->nclasses);
	}
	grower.leaf = palloc_array(float, data->nclasses);
	for (int64 i = 0; i < data->nrows; i++)
	{
		(void) forest_features(data->values + i * data->stride, data->width,
							   grower.values + i * data->width);
		grower.rows[i] = i;
	}
	grow(&grower, grower.rows, data->nrows, 0, 0);
	builder_forest(result, grower.forest);
	return true;
}

static bool
fit(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	return fit_tree(data, false, options->number[DEPTH], options->number[MIN_ROWS], result);
}

bool
tree_fit_numbers(const TrainingData *data, int depth, int min_rows, PredictorBuilder *result)
{
	return fit_tree(data, true, depth, min_rows, result);
}

static bool
fit_numbers(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	return tree_fit_numbers(data, options->number[DEPTH], options->number[MIN_ROWS], result);
}

const Learner tree_learner = {
	.name = "tree",
	.accepts_missing = true,
	.finds_cuts = true,
	.options = options_of,
	.fit_row_bytes = tree_fit_row_bytes,
	.member_size = member_size,
	.fit = fit,
	.fit_numbers = fit_numbers,
};
