/*
 * threshold.c
 *		The aggregate threshold(label, x): one numeric feature, two classes.
 *
 * It takes the training step of mechanism "threshold" on the rows of its group:
 * its plain vote is the side of zero on which the walk stands.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "learner/learners.h"

enum
{
	EPSILON, /* of an answer */
	ALPHA
};

static const Option options_of[] = {
	[EPSILON] = {"epsilon", OPTION_NUMBER, EPSILON_MIN, EPSILON_PER_ANSWER_MAX, 0.1},
	[ALPHA] = {"alpha", OPTION_NUMBER, WALK_MIN_ALPHA, WALK_MAX_ALPHA, WALK_DEFAULT_ALPHA},
	{NULL},
};

#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE WalkRow
#define ST_COMPARE(a, b) walk_row_compare(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

void
walk_sort(WalkRow *rows, int64 nrows)
{
	sort_rows(rows, nrows);
}

WalkPoints *
walk_load(const unsigned char *body, Size size)
{
	Size		capacity = (size - THRESHOLD_HEADER) / THRESHOLD_POINT;
	WalkPoints *points = palloc0_object(WalkPoints);
	double	   *x;

	points->n = read_u32(body + 8);
	x = palloc_huge(points->n * sizeof(double) + 1);
	for (int64 i = 0; i < points->n; i++)
		x[i] = read_double(body + threshold_x(i));
	points->x = x;
	for (int link = 0; link < WALK_LINKS; link++)
	{
		int32 *steps = palloc_huge(points->n * sizeof(int32) + 1);

		for (int64 i = 0; i < points->n; i++)
			steps[i] = (int32) read_u32(body + threshold_steps(capacity, link, i));
		points->steps[link] = steps;
	}
	return points;
}

/* Copies of classes and rows; and the result, which grows in steps of two. */
static Size
fit_row_bytes(int nclasses, int width)
{
	return sizeof(int32) + sizeof(WalkRow) + 2 * THRESHOLD_POINT;
}

static bool
fit(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	WalkRow *rows;
	int32	 limit[WALK_LINKS];
	int64	 points;

	if (data->nclasses < 2)
		return false;
	if (data->nclasses > 2)
		refuse(errmsg("a threshold has two classes, not %d", data->nclasses),
			   errhint("Declare two classes; rows of others are left out: "
					   "{\"classes\": [\"a\", \"b\"]}."));
	rows = palloc_huge(data->nrows * sizeof(WalkRow) + 1);
	for (int64 i = 0; i < data->nrows; i++)
	{
		rows[i].x = data->values[i];
		rows[i].label = data->row_class[i];
	}
	walk_sort(rows, data->nrows);
	walk_limits(options->number[ALPHA], options->number[EPSILON] / 2, limit);
	points = walk_points(rows, data->nrows, limit);
	walk_write(builder_member(result, MEMBER_THRESHOLD, walk_body_size(points)), points, rows,
			   data->nrows, limit);
	return true;
}

const Learner threshold_learner = {
	.name = "threshold",
	.aggregate_only = true,
	.learns_one_class = true,
	.sorts_rows = true,
	.options = options_of,
	.fit_row_bytes = fit_row_bytes,
	.fit = fit,
};
