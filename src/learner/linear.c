/*
 * linear.c
 *		Ridge least squares, one class against the rest, from sums alone.
 *
 * With a constant 1 appended to each row, the shared sums are the lower
 * triangle of X'X and the sums of a class are its part of X'1.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "learner/learners.h"
#include "learner/linalg.h"

enum
{
	RIDGE
};

static const Option options_of[] = {
	[RIDGE] = {"ridge", OPTION_NUMBER, 1e-12, 1e12, 1}, /* added to the diagonal */
	{NULL},
};

static int64
shared_sums(int width)
{
	return PACKED_SIZE(width);
}

static void
add_to_shared(int128 *shared, const int64 *x, int width)
{
	for (int i = 0; i < width; i++)
	{
		for (int j = 0; j <= i; j++)
			shared[j] += (int128) x[i] * x[j];
		shared += i + 1;
	}
}

VECTOR_CLONES static void
add_small_to_shared(int64 *shared, const int32 *x, int width)
{
	for (int i = 0; i < width; i++)
	{
		int64 xi = x[i];

		for (int j = 0; j <= i; j++)
			shared[j] += xi * x[j];
		shared += i + 1;
	}
}

/* X'X + ridge; the bias, last, is not shrunk. */
static double *
gram_matrix(const TrainingData *data, double ridge)
{
	int		width = data->width;
	double *gram = palloc_huge(PACKED_SIZE(width + 1) * sizeof(double));
	double *last = gram + PACKED_ROW(width);

	for (size_t i = 0; i < PACKED_SIZE(width); i++)
		gram[i] = (double) data->shared[i] / FIXED_POINT_ONE / FIXED_POINT_ONE;
	for (int i = 0; i < width; i++)
	{
		int128 sum = 0;

		gram[PACKED_ROW(i) + i] += ridge;
		for (int c = 0; c < data->nclasses; c++)
			sum += data->of_class[(Size) c * data->stride + i];
		last[i] = (double) sum / FIXED_POINT_ONE;
	}
	last[width] = data->nrows;
	return gram;
}

/* The normal equations are solved in place. */
static bool
factor(double *gram, int dimension)
{
	for (int i = 0; i < dimension; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!cholesky_row(gram, i))
			return false;
	}
	return true;
}

static bool
fit(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	int		width = data->width;
	int		vectors = LINEAR_VECTORS(data->nclasses);
	double *gram = gram_matrix(data, options->number[RIDGE]);
	double *totals = palloc((width + 1) * sizeof(double));
	double *weights = palloc0((Size) vectors * (width + 1) * sizeof(double));

	memcpy(totals, gram + PACKED_ROW(width), (width + 1) * sizeof(double));
	if (!factor(gram, width + 1))
		return false;
	for (int v = 0; v < vectors; v++)
	{
		/* of two classes, the second is the positive one */
		int			  c = vectors == 1 ? 1 : v;
		const int128 *sums = data->of_class + (Size) c * width;
		double		 *w = weights + (Size) v * (width + 1);

		/* targets +1 and -1 */
		for (int i = 0; i < width; i++)
			w[i] = 2 * ((double) sums[i] / FIXED_POINT_ONE) - totals[i];
		w[width] = 2 * (double) data->class_rows[c] - totals[width];
		cholesky_solve(gram, width + 1, w);
		for (int i = 0; i <= width; i++)
			if (!isfinite(w[i]))
				return false;
		if (data->class_rows[c] == 0)
			w[width] = -INFINITY;
	}
	builder_linear(result, weights);
	return true;
}

/* The number is the last feature, so that its products with the others are sums, too. */
static bool
fit_numbers(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	int			  width = data->width;
	double		 *gram = gram_matrix(data, options->number[RIDGE]);
	double		 *w = palloc((width + 1) * sizeof(double));
	const int128 *products = data->shared + PACKED_ROW(width);

	if (!factor(gram, width + 1))
		return false;
	for (int i = 0; i < width; i++)
		w[i] = (double) products[i] / FIXED_POINT_ONE / FIXED_POINT_ONE;
	w[width] = (double) data->of_class[width] / FIXED_POINT_ONE;
	cholesky_solve(gram, width + 1, w);
	for (int i = 0; i <= width; i++)
		if (!isfinite(w[i]))
			return false;
	builder_linear(result, w);
	return true;
}

const Learner linear_learner = {
	.name = "linear",
	.additive = true,
	.options = options_of,
	.shared_sums = shared_sums,
	.class_sums = feature_sums,
	.add_to_class = add_features,
	.add_to_shared = add_to_shared,
	.add_small_to_shared = add_small_to_shared,
	.member_size = linear_member_size,
	.fit = fit,
	.fit_numbers = fit_numbers,
};
