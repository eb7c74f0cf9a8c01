/*
 * sgd.c
 *		One pass over the units in place of the minimum.
 *
 * Rounding.  With u = 2^-53, d the dimension, B the loss's largest curvature and W
 * the bound of each weight, a unit's computed gradient differs from the true
 * one at the exact weights C(h) V by at most the sum of
 *	- B R times the error of a score: (d/4 + 6) u sum |w x| <= (d/4 + 6) u W sqrt(d) R,
 *	  for weights from integers, products and sums in four lanes;
 *	- 4 u L R, from slopes; 6 u L R, from products and the mean over rows;
 *	- sqrt(d) 2^-61 L R, from fixed point, of rows and of their mean.
 * All of this is below 2 u (d/4 + 16) (1 + sqrt(d) W B R/L) L R.  C(h) itself is a number
 * that two tables share, computed or not.
 */
#include "c.h"

#include <math.h>

#include "mechanism/stable_erm/sgd.h"

#define UNIT_ROUNDOFF 0x1p-53

/* More units than this are not to be expected, and the bound of rounding is for so many. */
#define MOST_BY_DECLARED 4
#define MOST_AT_LEAST 65536

void
erm_sgd_complete(const ErmProblem *problem, double weight, ErmSgd *sgd)
{
	double n = problem->dimension;
	double curvature = erm_curvature(problem);

	sgd->weight = weight;
	sgd->start =
		curvature * problem->norm * problem->norm / (problem->lambda * problem->units) * (1 + 1e-9);
	sgd->rounding = 2 * UNIT_ROUNDOFF * (n / 4 + 16) *
					(1 + sqrt(n) * weight * curvature * problem->norm / problem->lipschitz);
	sgd->most = (int64) (MOST_BY_DECLARED * problem->units) + MOST_AT_LEAST;
}

/* C(h) */
static double
step_at(const ErmProblem *problem, const ErmSgd *sgd, double time)
{
	return 1 / (problem->lambda * problem->units * (time + sgd->start));
}

double
erm_sgd_sensitivity(const ErmProblem *problem, const ErmSgd *sgd, double question_norm)
{
	double moved = 2 + 2 * sgd->rounding * ((double) sgd->most + 1);
	double gradient = problem->lipschitz * problem->norm;
	double rounded =
		2 * UNIT_ROUNDOFF * (problem->dimension + 16) * sqrt(problem->dimension) * sgd->weight;

	return question_norm * (moved * gradient * step_at(problem, sgd, 1) + rounded) * (1 + 1e-12);
}

/* Weights are this times the total. */
static double
factor_at(const ErmProblem *problem, const ErmSgd *sgd, double time)
{
	return -step_at(problem, sgd, time) * (problem->lipschitz * problem->norm / ERM_FIXED_ONE);
}

void
erm_sgd_weights(const ErmProblem *problem, const ErmSgd *sgd, const int128 *total, double *w)
{
	double factor = factor_at(problem, sgd, 1);

	for (int j = 0; j < problem->dimension; j++)
		w[j] = (double) total[j] * factor;
}

void
erm_sgd_step(const ErmProblem *problem, const ErmSgd *sgd, uint64 hash, const ErmUnit *unit,
			 const ErmSums *sums, double *w)
{
	double factor = factor_at(problem, sgd, (double) hash * 0x1p-64);
	/* Sums stay below 2^110, whatever is declared. */
	int128 bound = (int128) Min(sgd->weight / -factor, 0x1p120);

	for (int j = 0; j < problem->dimension; j++)
		w[j] = (double) sums->total[j] * factor;
	erm_add_unit(problem, w, unit, sums);
	for (int j = 0; j < problem->dimension; j++)
		sums->total[j] = Max(-bound, Min(sums->total[j], bound));
}
