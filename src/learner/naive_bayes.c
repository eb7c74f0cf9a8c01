/*
 * naive_bayes.c
 *		Gaussian naive Bayes: every class has its own mean and variance of each
 *		feature.
 */
#include "postgres.h"

#include <math.h>

#include "learner/learners.h"

enum
{
	SMOOTHING
};

static const LearnerOption options_of[] = {
	[SMOOTHING] = {"smoothing", OPTION_NUMBER, 1e-12, 1e12, 0.01}, /* added to each variance */
	{NULL},
};

static int64
no_sums(int width)
{
	return 0;
}

/* sums of x, then sums of squares */
static int64
class_sums(int width)
{
	return 2 * (int64) width;
}

static void
add_to_class(int128 *of_class, const int64 *x, int width)
{
	int128 *squares = of_class + width;

	for (int i = 0; i < width; i++)
	{
		of_class[i] += x[i];
		squares[i] += (int128) x[i] * x[i];
	}
}

static bool
fit(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	int		width = data->width;
	Size	n = (Size) data->nclasses * width;
	double *constant = palloc(data->nclasses * sizeof(double));
	double *mean = palloc0(n * sizeof(double));
	double *precision = palloc0(n * sizeof(double));

	for (int c = 0; c < data->nclasses; c++)
	{
		const int128 *sums = data->of_class + 2 * (Size) c * width;
		double		  rows = data->class_rows[c];

		constant[c] = rows > 0 ? log(rows / data->nrows) : -INFINITY;
		for (int i = 0; i < width && rows > 0; i++)
		{
			double m = (double) sums[i] / FIXED_POINT_ONE / rows;
			double square = (double) sums[width + i] / FIXED_POINT_ONE / FIXED_POINT_ONE / rows;
			double variance = Max(square - m * m, 0.0) + options->number[SMOOTHING];

			mean[c * (Size) width + i] = m;
			precision[c * (Size) width + i] = 0.5 / variance;
			constant[c] -= 0.5 * log(variance);
		}
	}
	builder_gaussian(result, constant, mean, precision);
	return true;
}

const Learner naive_bayes_learner = {
	.name = "naive_bayes",
	.additive = true,
	.options = options_of,
	.shared_sums = no_sums,
	.class_sums = class_sums,
	.add_to_class = add_to_class,
	.member_size = gaussian_member_size,
	.fit = fit,
};
