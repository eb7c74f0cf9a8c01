/*
 * erm.c
 *		Regularised empirical risk: constants, gradient, curvature, certificate.
 *
 * Rounding.  With u = 2^-53, d the dimension, B the loss's largest curvature
 * (1/4 for logistic, else 1) and S = B R^2 + lambda the smoothness of F, a
 * computed gradient differs from the true one by at most the sum of
 *	- B R (d + 2) u W R, from scores of rows, through the slope;
 *	- a few u L R, from slopes and products;
 *	- sqrt(d) 2^-61 L R, from fixed point, once per row, averaged over a unit's
 *	  rows and again over units: there are never more of them than m;
 *	- a few u (L R + lambda W), from the last steps;
 * and what counts as a point on the ball's wall may be 16 d u W away from it,
 * where the gradient differs by S times that.  All of this is below
 * 40 u (d + 32) (S W + L R), which knows nothing of the rows.
 */
#include "c.h"

#include <math.h>

#include "learner/linalg.h"
#include "mechanism/stable_erm/erm.h"

#define UNIT_ROUNDOFF 0x1p-53

/* Room for rounding to single precision, and more. */
#define FLOAT_ROOM 1e-6

/* ---------- constants ---------- */

double
erm_curvature(const ErmProblem *problem)
{
	return problem->loss == ERM_LOGISTIC ? 0.25 : 1;
}

double
erm_smoothness(const ErmProblem *problem)
{
	return erm_curvature(problem) * problem->norm * problem->norm + problem->lambda;
}

void
erm_complete(ErmProblem *problem, double share)
{
	if (problem->loss == ERM_LOGISTIC)
		problem->lipschitz = 1;
	else if (problem->loss == ERM_SQUARED)
		problem->lipschitz = problem->norm * problem->radius + 1;
	/* lambda |w| is at most the mean slope at the minimum: no wall. */
	if (problem->loss != ERM_SQUARED)
		problem->radius = problem->lipschitz * problem->norm / problem->lambda * (1 + FLOAT_ROOM);
	problem->rounding =
		40 * UNIT_ROUNDOFF * (problem->dimension + 32) *
		(erm_smoothness(problem) * problem->radius + problem->lipschitz * problem->norm);
	/* 16: the solver's last resort ends at 9 times the rounding (solve.c). */
	problem->tolerance =
		Max(share * problem->lipschitz * problem->norm / problem->units, 16 * problem->rounding);
}

double
erm_sensitivity(const ErmProblem *problem, double question_norm)
{
	double moved = 2 * problem->lipschitz * problem->norm / problem->units;
	double certified = 2 * problem->tolerance;
	double rounded = 2 * UNIT_ROUNDOFF * (problem->dimension + 16) * problem->radius;

	return question_norm * ((moved + certified) / problem->lambda + rounded) * (1 + 1e-12);
}

/* ---------- rows ---------- */

double
erm_natural_norm(int width)
{
	return sqrt(width / 4.0 + 1) * (1 + 2 * FLOAT_ROOM);
}

double
erm_features(const ErmProblem *problem, const double *features, float *x)
{
	int	   width = problem->dimension - 1;
	double most = problem->norm * (1 - FLOAT_ROOM);
	double square = 1;
	double norm;
	double scale;

	for (int j = 0; j < width; j++)
		square += (features[j] - 0.5) * (features[j] - 0.5);
	norm = sqrt(square);
	scale = norm > most ? most / norm : 1;
	for (int j = 0; j < width; j++)
		x[j] = (float) (scale * (features[j] - 0.5));
	x[width] = (float) scale;
	return Min(norm * (1 + FLOAT_ROOM), problem->norm);
}

double
erm_dot(const double *a, const double *b, int n)
{
	double sum = 0;

	for (int j = 0; j < n; j++)
		sum += a[j] * b[j];
	return sum;
}

double
erm_score(const ErmProblem *problem, const double *w, const float *x)
{
	int	   n = problem->dimension;
	double sum[4] = {0};
	int	   j = 0;

	for (; j + 4 <= n; j += 4)
	{
		sum[0] += w[j] * x[j];
		sum[1] += w[j + 1] * x[j + 1];
		sum[2] += w[j + 2] * x[j + 2];
		sum[3] += w[j + 3] * x[j + 3];
	}
	for (; j < n; j++)
		sum[0] += w[j] * x[j];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* ---------- losses ---------- */

static double
label_of(const ErmProblem *problem, const ErmUnit *unit, int64 row)
{
	if (problem->one_class)
		return unit->label[row] == problem->class ? 1 : -1;
	return unit->label[row];
}

static double
slope(const ErmProblem *problem, double score, double label)
{
	double difference = score - label;

	switch (problem->loss)
	{
		case ERM_LOGISTIC:
			return -label / (1 + exp(label * score));
		case ERM_HUBER:
			return Max(-problem->lipschitz, Min(difference, problem->lipschitz));
		case ERM_SQUARED:
			return difference;
	}
	return 0; /* not reached */
}

/* The majorant of an even loss: a parabola with the same centre that touches it on both sides. */
static double
curvature(const ErmProblem *problem, double score, double label, ErmCurvature which)
{
	double distance = fabs(problem->loss == ERM_LOGISTIC ? score : score - label);
	double p;

	switch (problem->loss)
	{
		case ERM_LOGISTIC:
			if (which == ERM_MAJORANT)
				return distance < 1e-4 ? 0.25 : tanh(distance / 2) / (2 * distance);
			p = 1 / (1 + exp(distance));
			return p * (1 - p);
		case ERM_HUBER:
			if (distance <= problem->lipschitz)
				return 1;
			return which == ERM_MAJORANT ? problem->lipschitz / distance : 0;
		case ERM_SQUARED:
			return 1;
	}
	return 0; /* not reached */
}

/* ---------- passes ---------- */

/* What sums are divided by. */
static double
normaliser(const ErmProblem *problem, int64 units)
{
	return Max(problem->units, (double) units);
}

static void
add_row(const ErmProblem *problem, const double *w, const float *x, double label, int128 *sum)
{
	/* |x| <= R and |slope| <= L: at most ERM_FIXED_ONE, nearly. */
	double factor = slope(problem, erm_score(problem, w, x), label) *
					(ERM_FIXED_ONE / (problem->lipschitz * problem->norm));

	for (int j = 0; j < problem->dimension; j++)
		sum[j] += (int64) rint(factor * x[j]);
}

/* The mean of a unit's rows, from exact sums. */
void
erm_add_unit(const ErmProblem *problem, const double *w, const ErmUnit *unit, const ErmSums *sums)
{
	int n = problem->dimension;

	if (unit->nrows == 1)
	{
		add_row(problem, w, unit->x, label_of(problem, unit, 0), sums->total);
		return;
	}
	memset(sums->of_unit, 0, sizeof(int128) * n);
	for (int64 i = 0; i < unit->nrows; i++)
		add_row(problem, w, unit->x + i * n, label_of(problem, unit, i), sums->of_unit);
	for (int j = 0; j < n; j++)
		sums->total[j] += (int64) rint((double) sums->of_unit[j] / unit->nrows);
}

void
erm_gradient(const ErmProblem *problem, ErmSource *source, const double *w, const ErmSums *sums,
			 double *gradient)
{
	int		n = problem->dimension;
	int64	units = 0;
	double	scale;
	ErmUnit unit;

	memset(sums->total, 0, sizeof(int128) * n);
	source->rewind(source);
	if (source->sum != NULL)
		units = source->sum(source, ERM_GRADIENTS, w, NULL, sums->total, NULL);
	else
		while (source->next(source, &unit))
		{
			erm_add_unit(problem, w, &unit, sums);
			units++;
		}
	scale = problem->lipschitz * problem->norm / ERM_FIXED_ONE / normaliser(problem, units);
	for (int j = 0; j < n; j++)
		gradient[j] = (double) sums->total[j] * scale + problem->lambda * w[j];
}

double
erm_row_curvature(const ErmProblem *problem, const double *w, const ErmUnit *unit, int64 row,
				  ErmCurvature which)
{
	double score = erm_score(problem, w, unit->x + row * problem->dimension);

	return curvature(problem, score, label_of(problem, unit, row), which) / unit->nrows;
}

void
erm_hessian(const ErmProblem *problem, ErmSource *source, const double *w, ErmCurvature which,
			double *hessian)
{
	int		n = problem->dimension;
	int64	units = 0;
	ErmUnit unit;

	memset(hessian, 0, sizeof(double) * PACKED_SIZE(n));
	source->rewind(source);
	if (source->sum != NULL)
		units = source->sum(source, which == ERM_MAJORANT ? ERM_MAJORANTS : ERM_CURVATURES, w, NULL,
							NULL, hessian);
	while (source->sum == NULL && source->next(source, &unit))
	{
		units++;
		for (int64 i = 0; i < unit.nrows; i++)
		{
			const float *x = unit.x + i * n;
			double		 weight = erm_row_curvature(problem, w, &unit, i, which);

			for (int j = 0; j < n && weight > 0; j++)
			{
				double *row = hessian + PACKED_ROW(j);
				double	factor = weight * x[j];

				for (int k = 0; k <= j; k++)
					row[k] += factor * x[k];
			}
		}
	}
	for (size_t k = 0; k < PACKED_SIZE(n); k++)
		hessian[k] /= normaliser(problem, units);
	for (int j = 0; j < n; j++)
		hessian[PACKED_ROW(j) + j] += problem->lambda;
}

void
erm_hessian_times(const ErmProblem *problem, ErmSource *source, const double *w,
				  const double *vector, double *product)
{
	int		n = problem->dimension;
	int64	units = 0;
	ErmUnit unit;

	memset(product, 0, sizeof(double) * n);
	source->rewind(source);
	if (source->sum != NULL)
		units = source->sum(source, ERM_PRODUCTS, w, vector, NULL, product);
	while (source->sum == NULL && source->next(source, &unit))
	{
		units++;
		for (int64 i = 0; i < unit.nrows; i++)
		{
			const float *x = unit.x + i * n;
			double		 factor = erm_row_curvature(problem, w, &unit, i, ERM_CURVATURE) *
							erm_score(problem, vector, x);

			for (int j = 0; j < n; j++)
				product[j] += factor * x[j];
		}
	}
	for (int j = 0; j < n; j++)
		product[j] = product[j] / normaliser(problem, units) + problem->lambda * vector[j];
}

/* ---------- the certificate ---------- */

/*
 * Let g be the gradient at w and v in the normal cone of the ball there: 0, or
 * on the wall any t w with t >= 0.  Then with w* the minimum, lambda |w - w*|^2
 * <= (g - g*).(w - w*) <= (g + v).(w - w*), so |w - w*| <= |g + v| / lambda.
 */
double
erm_residual(const ErmProblem *problem, const double *w, const double *gradient)
{
	int	   n = problem->dimension;
	double square = erm_dot(w, w, n);
	double wall = problem->radius * (1 - 16 * UNIT_ROUNDOFF * n);
	double t = 0;
	double sum = 0;

	if (sqrt(square) >= wall)
		t = Max(0, -erm_dot(gradient, w, n) / square);
	for (int j = 0; j < n; j++)
		sum += (gradient[j] + t * w[j]) * (gradient[j] + t * w[j]);
	return sqrt(sum) * (1 + 1e-9) + problem->rounding;
}

void
erm_project(const ErmProblem *problem, double *w)
{
	int	   n = problem->dimension;
	double length = sqrt(erm_dot(w, w, n));

	/* Below the radius by more than rounding, above what counts as the wall. */
	double most = problem->radius * (1 - 8 * UNIT_ROUNDOFF * n);

	if (length <= most)
		return;
	for (int j = 0; j < n; j++)
		w[j] *= most / length;
}
