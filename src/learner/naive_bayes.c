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

static const Option options_of[] = {
	[SMOOTHING] = {"smoothing", OPTION_NUMBER, 1e-12, 1e12, 0.01}, /* added to each variance */
	{NULL},
};

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

static Size
member_size(int nclasses, int width, const LearnerOptions *options)
{
	return sizeof(double) * nclasses * (1 + 2 * (Size) width);
}

/* score = constant - sum of precision * (x - mean)^2; a class without rows never wins. */
static void
describe_class(const TrainingData *data, int class_index, double smoothing, unsigned char *body)
{
	int			   width = data->width;
	const int128  *sums = data->of_class + 2 * (Size) class_index * width;
	double		   rows = data->class_rows[class_index];
	double		   constant = rows > 0 ? log(rows / data->nrows) : -INFINITY;
	unsigned char *mean = body + sizeof(double);
	unsigned char *precision = mean + width * sizeof(double);

	for (int i = 0; i < width; i++)
	{
		double m = 0;
		double half_inverse = 0;

		if (rows > 0)
		{
			double square = (double) sums[width + i] / FIXED_POINT_ONE / FIXED_POINT_ONE / rows;
			double variance;

			m = (double) sums[i] / FIXED_POINT_ONE / rows;
			variance = Max(square - m * m, 0.0) + smoothing;
			half_inverse = 0.5 / variance;
			constant -= 0.5 * log(variance);
		}
		write_double(mean + sizeof(double) * i, m);
		write_double(precision + sizeof(double) * i, half_inverse);
	}
	write_double(body, constant);
}

static bool
fit(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	Size		   size = member_size(data->nclasses, data->width, options);
	unsigned char *body = builder_member(result, MEMBER_GAUSSIAN, size);

	for (int c = 0; c < data->nclasses; c++)
		describe_class(data, c, options->number[SMOOTHING], body + c * (size / data->nclasses));
	return true;
}

const Learner naive_bayes_learner = {
	.name = "naive_bayes",
	.additive = true,
	.options = options_of,
	.shared_sums = no_sums,
	.class_sums = class_sums,
	.add_to_class = add_to_class,
	.member_size = member_size,
	.fit = fit,
};
