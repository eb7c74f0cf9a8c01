/*
 * centroid.c
 *		The nearest class mean.
 */
#include "postgres.h"

#include <math.h>

#include "learner/learners.h"

/* The distance |x - c|^2 without |x|^2 is linear: x.c - |c|^2 / 2. */
static void
mean_scores(const TrainingData *data, int class_index, double *weights)
{
	double norm = 0;

	for (int i = 0; i < data->width; i++)
	{
		double sum = (double) data->of_class[class_index * data->width + i];

		weights[i] = sum / FIXED_POINT_ONE / data->class_rows[class_index];
		norm += weights[i] * weights[i];
	}
	weights[data->width] = -norm / 2;
}

static bool
fit(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	int		stride = data->width + 1;
	double *weights = palloc0((Size) data->nclasses * stride * sizeof(double));

	for (int c = 0; c < data->nclasses; c++)
	{
		if (data->class_rows[c] > 0)
			mean_scores(data, c, weights + c * stride);
		else
			weights[c * stride + data->width] = -INFINITY;
	}
	if (data->nclasses == 2)
		for (int i = 0; i < stride; i++)
			weights[i] = weights[stride + i] - weights[i];
	builder_linear(result, weights);
	return true;
}

const Learner centroid_learner = {
	.name = "centroid",
	.additive = true,
	.shared_sums = no_sums,
	.class_sums = feature_sums,
	.add_to_class = add_features,
	.member_size = linear_member_size,
	.fit = fit,
};
