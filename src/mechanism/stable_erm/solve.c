/*
 * solve.c
 *		The minimum of a regularised empirical risk, certified.
 *
 * Newton's method on the residual, which certifies the result: a step, or a
 * part of it, is taken if it lessens the residual.  If none does, the minimum
 * of a parabola above F is taken instead, which always lessens F.
 *
 * After MAX_NEWTON rounds only projected gradient steps of length 1/S are taken,
 * S being the smoothness.  They end: while the gradient mapping G of such a
 * step is longer than four times the rounding e, F falls by more than
 * |G|^2/(4 S), and F is bounded below; and once |G| <= 4 e, the residual after
 * the step is at most 2 |G| + e = 9 e, below the tolerance (erm_complete).
 */
#include "c.h"

#include <math.h>

#include "learner/linalg.h"
#include "mechanism/stable_erm/erm.h"

#ifndef MAX_NEWTON /* a unit test wants none */
#define MAX_NEWTON 200
#endif
#define MAX_HALVINGS 5
#define MAX_WALL_STEPS 40
#define MAX_CONJUGATE 300
#define CONJUGATE_PRECISION 0.05

typedef struct Solver
{
	const ErmProblem *problem;
	ErmSource		 *source;
	bool			  dense;
	ErmSums			  sums;
	double			 *w;
	double			 *gradient;
	double			  residual;
	double			 *target; /* where a whole step leads to */
	double			 *candidate;
	double			 *candidate_gradient;
	double			 *spare[3];
	double			 *hessian; /* dense only */
	double			 *factor;
} Solver;

#define VECTORS 8 /* of doubles, besides w */

Size
erm_workspace(const ErmProblem *problem, bool dense)
{
	Size n = problem->dimension;

	return n * (2 * sizeof(int128) + VECTORS * sizeof(double)) +
		   (dense ? 2 * PACKED_SIZE(n) * sizeof(double) : 0);
}

static void
lay_out(Solver *solver, char *workspace)
{
	Size	n = solver->problem->dimension;
	double *vectors;

	solver->sums.total = (int128 *) workspace;
	solver->sums.of_unit = solver->sums.total + n;
	vectors = (double *) (solver->sums.of_unit + n);
	solver->gradient = vectors;
	solver->target = vectors + n;
	solver->candidate = vectors + 2 * n;
	solver->candidate_gradient = vectors + 3 * n;
	for (int i = 0; i < lengthof(solver->spare); i++)
		solver->spare[i] = vectors + (4 + i) * n;
	solver->hessian = vectors + VECTORS * n;
	solver->factor = solver->hessian + PACKED_SIZE(n);
}

/* ---------- where to go ---------- */

/* Factors hessian + shift. */
static bool
factorise(Solver *solver, double shift)
{
	int n = solver->problem->dimension;

	memcpy(solver->factor, solver->hessian, sizeof(double) * PACKED_SIZE(n));
	for (int j = 0; j < n; j++)
	{
		solver->source->pause();
		solver->factor[PACKED_ROW(j) + j] += shift;
		if (!cholesky_row(solver->factor, j))
			return false;
	}
	return true;
}

/* hessian * w - gradient */
static void
right_side(const Solver *solver, double *result)
{
	int n = solver->problem->dimension;

	for (int j = 0; j < n; j++)
		result[j] = -solver->gradient[j];
	for (int j = 0; j < n; j++)
	{
		const double *row = solver->hessian + PACKED_ROW(j);

		result[j] += row[j] * solver->w[j];
		for (int k = 0; k < j; k++)
		{
			result[j] += row[k] * solver->w[k];
			result[k] += row[k] * solver->w[j];
		}
	}
}

/*
 * The minimum within the ball of the parabola at w: solves (H + t) v = H w - g
 * for the least t >= 0 with |v| <= W, by Newton's method on 1/|v| (Moré,
 * Sorensen 1983), which comes from below.
 */
static bool
dense_target(Solver *solver, ErmCurvature which)
{
	const ErmProblem *problem = solver->problem;
	int				  n = problem->dimension;
	double			  shift = 0;

	erm_hessian(problem, solver->source, solver->w, which, solver->hessian);
	right_side(solver, solver->spare[0]);
	for (int i = 0; i < MAX_WALL_STEPS; i++)
	{
		double length;

		if (!factorise(solver, shift))
			return false;
		memcpy(solver->target, solver->spare[0], sizeof(double) * n);
		cholesky_solve(solver->factor, n, solver->target);
		length = sqrt(erm_dot(solver->target, solver->target, n));
		if (!isfinite(length))
			return false;
		if (length <= problem->radius * (1 + 1e-14 * n))
			break;
		memcpy(solver->spare[1], solver->target, sizeof(double) * n);
		cholesky_solve(solver->factor, n, solver->spare[1]);
		shift += length * length / erm_dot(solver->target, solver->spare[1], n) *
				 (length / problem->radius - 1);
	}
	return true;
}

/* The same without the Hessian, nor the ball: conjugate gradients. */
static bool
conjugate_target(Solver *solver)
{
	int		n = solver->problem->dimension;
	double *rest = solver->spare[0];
	double *along = solver->spare[1];
	double *product = solver->spare[2];
	double	square = erm_dot(solver->gradient, solver->gradient, n);
	double	enough = square * CONJUGATE_PRECISION * CONJUGATE_PRECISION;

	memcpy(solver->target, solver->w, sizeof(double) * n);
	for (int j = 0; j < n; j++)
		rest[j] = along[j] = -solver->gradient[j];
	for (int i = 0; i < MAX_CONJUGATE && square > enough; i++)
	{
		double before = square;
		double length;

		erm_hessian_times(solver->problem, solver->source, solver->w, along, product);
		length = square / erm_dot(along, product, n);
		if (!isfinite(length))
			return false;
		for (int j = 0; j < n; j++)
		{
			solver->target[j] += length * along[j];
			rest[j] -= length * product[j];
		}
		square = erm_dot(rest, rest, n);
		for (int j = 0; j < n; j++)
			along[j] = rest[j] + square / before * along[j];
	}
	return true;
}

/* ---------- steps ---------- */

static double
look_at(Solver *solver, const double *w, double *gradient)
{
	erm_gradient(solver->problem, solver->source, w, &solver->sums, gradient);
	return erm_residual(solver->problem, w, gradient);
}

/* Part of the way to the target; returns the residual there. */
static double
look_ahead(Solver *solver, double part)
{
	int n = solver->problem->dimension;

	for (int j = 0; j < n; j++)
		solver->candidate[j] = solver->w[j] + part * (solver->target[j] - solver->w[j]);
	erm_project(solver->problem, solver->candidate);
	return look_at(solver, solver->candidate, solver->candidate_gradient);
}

static void
go_ahead(Solver *solver, double residual)
{
	Size size = sizeof(double) * solver->problem->dimension;

	memcpy(solver->w, solver->candidate, size);
	memcpy(solver->gradient, solver->candidate_gradient, size);
	solver->residual = residual;
}

static bool
newton_step(Solver *solver)
{
	double part = 1;

	if (!(solver->dense ? dense_target(solver, ERM_CURVATURE) : conjugate_target(solver)))
		return false;
	for (int i = 0; i <= MAX_HALVINGS; i++, part /= 2)
	{
		double residual = look_ahead(solver, part);

		if (residual <= (1 - part / 4) * solver->residual)
		{
			go_ahead(solver, residual);
			return true;
		}
	}
	return false;
}

static bool
majorant_step(Solver *solver)
{
	if (!solver->dense || !dense_target(solver, ERM_MAJORANT))
		return false;
	go_ahead(solver, look_ahead(solver, 1));
	return true;
}

static void
gradient_step(Solver *solver)
{
	double length = 1 / erm_smoothness(solver->problem);

	for (int j = 0; j < solver->problem->dimension; j++)
		solver->target[j] = solver->w[j] - length * solver->gradient[j];
	go_ahead(solver, look_ahead(solver, 1));
}

int
erm_solve(const ErmProblem *problem, ErmSource *source, bool dense, void *workspace, double *w)
{
	Solver solver = {.problem = problem, .source = source, .dense = dense, .w = w};
	int	   steps = 0;

	lay_out(&solver, workspace);
	memset(w, 0, sizeof(double) * problem->dimension);
	solver.residual = look_at(&solver, w, solver.gradient);
	while (solver.residual > problem->tolerance)
	{
		if (steps++ >= MAX_NEWTON || (!newton_step(&solver) && !majorant_step(&solver)))
			gradient_step(&solver);
	}
	return steps;
}
