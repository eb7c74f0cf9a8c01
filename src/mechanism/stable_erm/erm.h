/*
 * erm.h
 *		Regularised empirical risk whose scores hardly move (docs/mechanisms.md, section 11;
 *		Dwork, Feldman 2018, section 2.1).
 *
 * erm.c		the objective: constants, gradient, curvature, certificate
 * solve.c	its minimum, certified
 * sgd.h		one pass over the units in its place
 * noise.c	a score on a grid, with noise
 * classes.c	a class by the scores of several fits
 *
 * Minimised over |w| <= W is
 *
 *	  F(w) = (1/m) sum over units of the unit's mean loss(w.x, y) + (lambda/2) |w|^2
 *
 * where |x| <= R, the loss has slopes up to L in the score w.x, and m is the
 * larger of the declared n0 and the number of units n.
 *
 * One unit changes the gradient of F by at most 2 L R/n0: if n stays, by two
 * unit gradients over m >= n0; if a unit comes and n < n0, by one over n0; if
 * n >= n0, by (g - mean of the others)/(n + 1).  F is lambda-strongly convex, so
 * its minimum moves by at most 2 L R/(lambda n0), and the score at x by |x| times
 * that.  Dividing by m, not n0, changes nothing for tables up to the
 * declared size and keeps every constant below a function of declared
 * numbers for larger ones.
 *
 * Apart from mechanism.h so that unit tests can drive it alone: nothing here
 * knows the server, allocates or fails.
 */
#ifndef PRIVPRED_ERM_H
#define PRIVPRED_ERM_H

#include "server/privpred.h"

typedef enum ErmLoss
{
	ERM_LOGISTIC, /* ln(1 + exp(-y score)), y is -1 or 1: slopes up to 1 */
	ERM_HUBER,	  /* squares up to a difference of L, linear beyond */
	ERM_SQUARED	  /* (score - y)^2 / 2, |y| <= 1: slopes up to R W + 1 in the ball */
} ErmLoss;

/* All of it is declared, or follows from what is. */
typedef struct ErmProblem
{
	ErmLoss loss;
	int		dimension; /* of x, the intercept included */
	double	norm;	   /* R */
	double	lipschitz; /* L; given for Huber's loss */
	double	radius;	   /* W; given for squared loss */
	double	lambda;
	double	units;	   /* n0 */
	bool	one_class; /* labels are classes: 1 for the one below, -1 for all others */
	int class;
	double rounding;  /* how far a computed gradient may be off */
	double tolerance; /* certified norm of the gradient */
} ErmProblem;

/*
 * Fills in the rest.  Certification may add this share to the sensitivity; more
 * is added only if floating point could not promise it.
 */
extern void erm_complete(ErmProblem *problem, double share);

/*
 * How much the computed score at a question of this norm can differ between
 * neighbouring tables: 2 L R/(lambda n0) and twice the certified distance from
 * the minimum, tolerance/lambda, times the norm; and the rounding of the score.
 */
extern double erm_sensitivity(const ErmProblem *problem, double question_norm);

/*
 * ---------- rows ----------
 *
 * The exact numbers that the objective is made of: whatever they were rounded
 * from was a function of the row alone.  |x| <= R, |label| <= 1.
 */
typedef struct ErmUnit
{
	int64		  nrows; /* at least 1 */
	const double *label; /* or classes */
	const float	 *x;	 /* dimension numbers a row */
} ErmUnit;

/* What a pass adds up. */
typedef enum ErmPass
{
	ERM_GRADIENTS,
	ERM_CURVATURES, /* packed */
	ERM_MAJORANTS,	/* the same of parabolas */
	ERM_PRODUCTS	/* of curvatures and a vector */
} ErmPass;

typedef struct ErmSource ErmSource;

struct ErmSource
{
	void (*rewind)(ErmSource *source);
	bool (*next)(ErmSource *source, ErmUnit *unit);
	void (*pause)(void); /* between long steps: may not return */

	/*
	 * NULL, or: the sums of a pass, made where the rows are; returns the number of units.
	 * Those of gradients are what erm_add_unit() adds up, exactly; curvature is
	 * rounded, which changes how the minimum is found, not what is certified.
	 */
	int64 (*sum)(ErmSource *source, ErmPass pass, const double *w, const double *vector,
				 int128 *total, double *curvature);
};

/*
 * A row of features in [0, 1], and a one for the intercept: centred at 1/2, so
 * that |x|^2 <= width/4 + 1, and shortened to the problem's norm.  Returns a bound
 * of its norm.
 */
extern double erm_features(const ErmProblem *problem, const double *features, float *x);

/* The least norm that shortens nothing. */
extern double erm_natural_norm(int width);

extern double erm_score(const ErmProblem *problem, const double *w, const float *x);

/* ---------- passes over the rows ---------- */

typedef struct ErmSums
{
	int128 *total; /* dimension each */
	int128 *of_unit;
} ErmSums;

/* Adds the gradient of a unit's mean loss at w to the total, in units of 2^-61 L R. */
#define ERM_FIXED_ONE 0x1p61

extern void
erm_add_unit(const ErmProblem *problem, const double *w, const ErmUnit *unit, const ErmSums *sums);

/*
 * The gradient of F at w, no further than problem->rounding from the true one,
 * whatever the order of units and of rows within a unit.
 */
extern void erm_gradient(const ErmProblem *problem, ErmSource *source, const double *w,
						 const ErmSums *sums, double *gradient);

typedef enum ErmCurvature
{
	ERM_CURVATURE, /* of F at w */
	ERM_MAJORANT   /* of a parabola above F that touches it at w */
} ErmCurvature;

/* The curvature at a row, as part of its unit's mean. */
extern double erm_row_curvature(const ErmProblem *problem, const double *w, const ErmUnit *unit,
								int64 row, ErmCurvature which);

/* The packed Hessian (linalg.h); only ever decides how fast the solver is. */
extern void erm_hessian(const ErmProblem *problem, ErmSource *source, const double *w,
						ErmCurvature which, double *hessian);

/* The Hessian at w times a vector. */
extern void erm_hessian_times(const ErmProblem *problem, ErmSource *source, const double *w,
							  const double *vector, double *product);

/*
 * A bound of |w - minimum| * lambda, given the computed gradient at w within
 * the ball: its norm, less what the ball's wall takes, and rounding.
 */
extern double erm_residual(const ErmProblem *problem, const double *w, const double *gradient);

/* Shortens w to the ball. */
extern void erm_project(const ErmProblem *problem, double *w);

/* Of a unit's loss in the score, and of the objective. */
extern double erm_curvature(const ErmProblem *problem);
extern double erm_smoothness(const ErmProblem *problem);

extern double erm_dot(const double *a, const double *b, int n);

/* ---------- solve.c ---------- */

/* Up to here the Hessian is stored. */
#define ERM_MAX_DENSE 1024

extern Size erm_workspace(const ErmProblem *problem, bool dense);

/*
 * Fills w with a point whose residual is at most the tolerance.  Cannot fail,
 * only take longer.  Squared loss must be dense.  Returns the number of steps.
 */
extern int
erm_solve(const ErmProblem *problem, ErmSource *source, bool dense, void *workspace, double *w);

/*
 * ---------- noise.c ----------
 *
 * A score is rounded to the nearest multiple of the grid; if scores differ by
 * at most s, those differ by at most shift = floor(s/grid) + 1 steps.  To it is
 * added discrete Laplace noise of scale shift/epsilon, which is epsilon-DP
 * or, for accounts of finite order, discrete Gaussian noise of
 * sigma = 2 shift/epsilon, whose divergence of order a is a epsilon^2/8: what a
 * draw of bounded range epsilon costs.
 */
#define ERM_MAX_SHIFT 2048
#define ERM_MIN_EPSILON (EPSILON_UNITS_PER_ONE / 10000)

/* Such that the largest shift is between half of ERM_MAX_SHIFT and a quarter. */
extern double erm_default_grid(double sensitivity);

extern int64 erm_shift(double sensitivity, double grid);

/*
 * (shift/sigma)^2 = epsilon^2/4 as a ratio, rounded down: charge and noise are
 * made from the same integers.
 */
extern void erm_gaussian_ratio(EpsilonUnits epsilon, uint64 *numerator, uint64 *denominator);

/* Noise for an integer that one unit moves by shift at most. */
extern int64 erm_noise(bool order_is_infinite, EpsilonUnits epsilon, int64 shift);

/* What that costs. */
extern void erm_noise_charge(bool order_is_infinite, EpsilonUnits epsilon, ChargePart *part);

/* The noisy score, in steps of the grid. */
extern int64
erm_draw(bool order_is_infinite, EpsilonUnits epsilon, double score, double grid, int64 shift);

/* Pr[the noisy score is above 0] and below, in doubles; not private. */
extern void erm_draw_signs(bool order_is_infinite, EpsilonUnits epsilon, double score, double grid,
						   int64 shift, double *above, double *below);

/*
 * Mean and mean square of score + noise, clamped to [from, to]; not private.
 * The noise is taken as continuous: its variance is then off by 1 part in
 * 12 (scale/grid)^2 at most.
 */
extern void
erm_draw_moments(bool order_is_infinite, EpsilonUnits epsilon, double score, double grid,
				 int64 shift, double from, double to, double *mean, double *square);

/*
 * ---------- classes.c ----------
 *
 * With more than two classes each has a fit of its own, against the rest, and a
 * score that one unit moves by shift steps at most.  A class is drawn with
 * odds that fall by exp(-epsilon/(2 shift)) for each step that it is behind: by
 * permute-and-flip, which is epsilon-DP, or, for accounts of finite order, by
 * the exponential mechanism, which has bounded range epsilon.
 */
extern int erm_draw_class(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
						  const double *scores, double grid, int64 shift);

/* Its distribution, in doubles; not private. */
extern void
erm_class_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
					   const double *scores, double grid, int64 shift, double *probability);

/* On the grid; nobody's score is further from another's than the draw can tell. */
extern int64 erm_steps(double score, double grid);

#endif /* PRIVPRED_ERM_H */
