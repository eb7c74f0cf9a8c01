/*
 * test_stable_erm.c
 *		stable_erm: scores move no more than is charged for, and nearly as much;
 *		the certificate is honest; noise is drawn as claimed; the checks reject
 *		what is wrong.
 *
 * sources: src/mechanism/stable_erm/erm.c src/mechanism/stable_erm/solve.c
 * sources: src/mechanism/stable_erm/noise.c src/learner/cholesky.c src/draw/rng.c
 * sources: src/draw/bernoulli.c src/draw/discrete.c
 */
#include "c.h"

#include <math.h>

#include "learner/linalg.h"
#include "mechanism/stable_erm/erm.h"
#include "draw/sampler.h"
#include "unit.h"

/* The solver once more, with nothing but its last resort. */
#define MAX_NEWTON 0
#define erm_solve erm_solve_by_gradient
#define erm_workspace erm_workspace_by_gradient
#include "../../src/mechanism/stable_erm/solve.c"
#undef erm_solve
#undef erm_workspace

#define MAX_DIMENSION 12
#define MAX_UNITS 64
#define MAX_ROWS 5

static const ErmLoss	 losses[] = {ERM_LOGISTIC, ERM_HUBER, ERM_SQUARED};
static const char *const loss_names[] = {"logistic", "huber", "squared"};

/* ---------- tables ---------- */

typedef struct TestUnit
{
	int64  nrows;
	double label[MAX_ROWS];
	float  x[MAX_ROWS * MAX_DIMENSION];
} TestUnit;

typedef struct TestTable
{
	ErmSource source;
	int		  nunits;
	TestUnit  unit[MAX_UNITS];
	int64	  more; /* the first unit again, so often */
	int64	  position;
} TestTable;

static void
table_rewind(ErmSource *source)
{
	((TestTable *) source)->position = 0;
}

static bool
table_next(ErmSource *source, ErmUnit *unit)
{
	TestTable	   *table = (TestTable *) source;
	int64			i = table->position++;
	const TestUnit *found;

	if (i >= table->nunits + table->more)
		return false;
	found = &table->unit[i < table->nunits ? i : 0];
	unit->nrows = found->nrows;
	unit->label = found->label;
	unit->x = found->x;
	return true;
}

static void
no_pause(void)
{
}

static void
table_init(TestTable *table)
{
	memset(table, 0, sizeof(TestTable));
	table->source.rewind = table_rewind;
	table->source.next = table_next;
	table->source.pause = no_pause;
}

static double
uniform(void)
{
	return sample_uniform(UINT64CONST(1) << 53) * 0x1p-53;
}

/* Corners as often as anything else. */
static void
random_unit(const ErmProblem *problem, TestUnit *unit)
{
	double features[MAX_DIMENSION];

	unit->nrows = sample_bernoulli(1, 2) ? 1 : 1 + sample_uniform(MAX_ROWS);
	for (int i = 0; i < unit->nrows; i++)
	{
		bool corner = sample_bernoulli(1, 2);

		for (int j = 0; j < problem->dimension - 1; j++)
			features[j] = corner ? sample_uniform(2) : uniform();
		(void) erm_features(problem, features, unit->x + i * problem->dimension);
		unit->label[i] = corner || problem->loss == ERM_LOGISTIC ? (sample_bernoulli(1, 2) ? 1 : -1)
																 : 2 * uniform() - 1;
	}
}

static ErmProblem
problem_of(ErmLoss loss, int dimension, double units, double lambda, double share)
{
	ErmProblem problem = {.loss = loss,
						  .dimension = dimension,
						  .units = units,
						  .lambda = lambda,
						  .norm = erm_natural_norm(dimension - 1),
						  .lipschitz = 0.25,
						  .radius = 0.5};

	erm_complete(&problem, share);
	return problem;
}

static char workspace[1 << 20];

static void
solve(const ErmProblem *problem, TestTable *table, double *w)
{
	Assert(erm_workspace(problem, true) <= sizeof(workspace));
	(void) erm_solve(problem, &table->source, true, workspace, w);
}

/* Rows are no longer than the norm, and questions no longer than is said. */
static void
test_features(void)
{
	bool fits = true;

	for (int trial = 0; trial < 10000; trial++)
	{
		ErmProblem	problem = problem_of(ERM_HUBER, 2 + trial % 10, 10, 1, 0.01);
		double		features[MAX_DIMENSION];
		float		x[MAX_DIMENSION];
		double		bound;
		long double square = 0;

		problem.norm *= trial % 3 == 0 ? 1 : uniform();
		for (int j = 0; j < problem.dimension - 1; j++)
			features[j] = trial % 2 ? sample_uniform(2) : uniform();
		bound = erm_features(&problem, features, x);
		for (int j = 0; j < problem.dimension; j++)
			square += (long double) x[j] * x[j];
		fits = fits && sqrtl(square) <= bound && bound <= problem.norm;
	}
	ok(fits, "rows are shortened to the norm");
}

/* ---------- the gradient ---------- */

static long double
slope_by_hand(const ErmProblem *problem, long double score, long double y)
{
	switch (problem->loss)
	{
		case ERM_LOGISTIC:
			return -y / (1 + expl(y * score));
		case ERM_HUBER:
			return Max(-problem->lipschitz, Min(score - y, problem->lipschitz));
		default:
			return score - y;
	}
}

static double
gradient_error(const ErmProblem *problem, TestTable *table, const double *w, const double *gradient)
{
	long double error = 0;

	for (int j = 0; j < problem->dimension; j++)
	{
		long double sum = 0;

		for (int i = 0; i < table->nunits; i++)
		{
			const TestUnit *unit = &table->unit[i];

			for (int r = 0; r < unit->nrows; r++)
			{
				const float *x = unit->x + r * problem->dimension;
				long double	 score = 0;

				for (int k = 0; k < problem->dimension; k++)
					score += (long double) w[k] * x[k];
				sum += slope_by_hand(problem, score, unit->label[r]) * x[j] / unit->nrows;
			}
		}
		sum = sum / Max(problem->units, table->nunits) + (long double) problem->lambda * w[j];
		error += (sum - gradient[j]) * (sum - gradient[j]);
	}
	return (double) sqrtl(error);
}

/* Units, and the rows of each, in another order. */
static void
shuffle(const ErmProblem *problem, TestTable *table)
{
	for (int i = table->nunits - 1; i > 0; i--)
	{
		int		 other = (int) sample_uniform(i + 1);
		TestUnit unit = table->unit[i];

		table->unit[i] = table->unit[other];
		table->unit[other] = unit;
	}
	for (int i = 0; i < table->nunits; i++)
	{
		TestUnit unit = table->unit[i];

		for (int r = 0; r < unit.nrows; r++)
		{
			memcpy(table->unit[i].x + r * problem->dimension,
				   unit.x + (unit.nrows - 1 - r) * problem->dimension,
				   sizeof(float) * problem->dimension);
			table->unit[i].label[r] = unit.label[unit.nrows - 1 - r];
		}
	}
}

static void
test_gradient(ErmLoss loss)
{
	static int128 total[MAX_DIMENSION];
	static int128 of_unit[MAX_DIMENSION];
	ErmSums		  sums = {total, of_unit};
	double		  worst = 0;
	bool		  same = true;

	for (int trial = 0; trial < 40; trial++)
	{
		ErmProblem problem =
			problem_of(loss, 2 + trial % 8, trial % 2 ? 100 : 5, exp2(-(trial % 12)), 0.01);
		TestTable table;
		double	  w[MAX_DIMENSION];
		double	  gradient[MAX_DIMENSION];
		double	  again[MAX_DIMENSION];

		table_init(&table);
		table.nunits = 30;
		for (int i = 0; i < table.nunits; i++)
			random_unit(&problem, &table.unit[i]);
		for (int j = 0; j < problem.dimension; j++)
			w[j] = (uniform() - 0.5) * problem.radius;
		erm_project(&problem, w);
		erm_gradient(&problem, &table.source, w, &sums, gradient);
		worst = Max(worst, gradient_error(&problem, &table, w, gradient) / problem.rounding);
		shuffle(&problem, &table);
		erm_gradient(&problem, &table.source, w, &sums, again);
		same = same && memcmp(gradient, again, sizeof(double) * problem.dimension) == 0;
	}
	ok(worst <= 1, "%s: gradients are within their rounding (%g of it)", loss_names[loss], worst);
	ok(same, "%s: the gradient knows no order of units or rows", loss_names[loss]);
}

/* ---------- the certificate ---------- */

static double
distance(const double *a, const double *b, int n)
{
	double sum = 0;

	for (int j = 0; j < n; j++)
		sum += (a[j] - b[j]) * (a[j] - b[j]);
	return sqrt(sum);
}

/* dense, by conjugate gradients, or by the last resort */
static void
solve_some_way(const ErmProblem *problem, TestTable *table, int way, double *w)
{
	if (way == 2)
		(void) erm_solve_by_gradient(problem, &table->source, true, workspace, w);
	else
		(void) erm_solve(problem, &table->source, way == 0, workspace, w);
}

static void
test_certificate(ErmLoss loss)
{
	static const char *const ways[] = {"dense", "conjugate", "gradient steps"};
	double					 worst[3] = {0};
	int						 steps = 0;

	for (int trial = 0; trial < 60; trial++)
	{
		ErmProblem tight = problem_of(loss, 2 + trial % 10, 40, exp2(-(trial % 6)), 1e-6);
		TestTable  table;
		double	   minimum[MAX_DIMENSION];

		table_init(&table);
		table.nunits = trial % MAX_UNITS;
		for (int i = 0; i < table.nunits; i++)
			random_unit(&tight, &table.unit[i]);
		steps = Max(steps, erm_solve(&tight, &table.source, true, workspace, minimum));
		for (int way = 0; way < 3; way++)
		{
			ErmProblem loose = tight;
			double	   w[MAX_DIMENSION];

			if (way == 1 && loss == ERM_SQUARED)
				continue;
			erm_complete(&loose, 0.3);
			solve_some_way(&loose, &table, way, w);
			worst[way] = Max(worst[way], distance(w, minimum, tight.dimension) * tight.lambda /
											 (loose.tolerance + tight.tolerance));
		}
	}
	for (int way = 0; way < 3; way++)
		ok(worst[way] <= 1,
		   "%s, %s: the minimum is where it is certified to be (%g of the distance)",
		   loss_names[loss], ways[way], worst[way]);
	ok(steps < 50, "%s: no more than %d steps", loss_names[loss], steps);
}

/* As precise as floating point can promise, and no worse. */
static void
test_floor(ErmLoss loss)
{
	ErmProblem problem = problem_of(loss, 8, 1e12, 1e-3, 1e-6);
	TestTable  table;
	double	   w[MAX_DIMENSION];

	table_init(&table);
	table.nunits = 50;
	for (int i = 0; i < table.nunits; i++)
		random_unit(&problem, &table.unit[i]);
	problem.units = 40; /* the rows matter again; the tolerance stays */
	ok(problem.tolerance == 16 * problem.rounding &&
		   erm_solve(&problem, &table.source, true, workspace, w) < 50,
	   "%s: ends at the precision of floating point", loss_names[loss]);
}

/* ---------- sensitivity ---------- */

typedef double (*Claim)(const ErmProblem *problem, double question_norm);

/* Wrong: as if a unit could only come or go. */
static double
halved(const ErmProblem *problem, double question_norm)
{
	return erm_sensitivity(problem, question_norm) / 2;
}

/* Wrong: as if the solver were exact. */
static double
uncertified(const ErmProblem *problem, double question_norm)
{
	return question_norm * 2 * problem->lipschitz * problem->norm /
		   (problem->lambda * problem->units);
}

/* The largest share of the claim that the scores of two fits use up. */
static double
used_up(const ErmProblem *problem, Claim claim, const double *w, const double *other)
{
	int	   n = problem->dimension;
	double most = 0;

	for (int trial = 0; trial < 20; trial++)
	{
		double features[MAX_DIMENSION];
		float  x[MAX_DIMENSION];
		double norm;

		/* The corner along the difference, then anything. */
		for (int j = 0; j < n - 1; j++)
			features[j] = trial > 0
							  ? uniform()
							  : ((w[j] - other[j] > 0) == (w[n - 1] - other[n - 1] > 0) ? 1 : 0);
		norm = erm_features(problem, features, x);
		most = Max(most, fabs(erm_score(problem, w, x) - erm_score(problem, other, x)) /
							 claim(problem, norm));
	}
	return most;
}

/* Replaces, takes away or adds one unit. */
static void
change_one(const ErmProblem *problem, TestTable *table)
{
	int		  which = (int) sample_uniform(table->nunits);
	TestUnit *unit = &table->unit[which];

	switch (sample_uniform(4))
	{
		case 0:
			*unit = table->unit[--table->nunits];
			break;
		case 1:
			random_unit(problem, &table->unit[table->nunits++]);
			break;
		case 2:
			random_unit(problem, unit);
			break;
		default:
			for (int i = 0; i < unit->nrows; i++)
				unit->label[i] = -unit->label[i];
	}
}

static void
test_random_changes(ErmLoss loss)
{
	double worst = 0;

	for (int trial = 0; trial < 400; trial++)
	{
		/* Fewer units than declared, and more. */
		ErmProblem problem =
			problem_of(loss, 2 + trial % 5, trial % 3 ? 12 : 4, exp2(-(trial % 8)), 0.01);
		TestTable table;
		double	  w[MAX_DIMENSION];
		double	  other[MAX_DIMENSION];

		table_init(&table);
		table.nunits = 1 + trial % 13;
		for (int i = 0; i < table.nunits; i++)
			random_unit(&problem, &table.unit[i]);
		solve(&problem, &table, w);
		change_one(&problem, &table);
		solve(&problem, &table, other);
		worst = Max(worst, used_up(&problem, erm_sensitivity, w, other));
	}
	ok(worst <= 1, "%s: 400 changes move scores by %g of the sensitivity at most", loss_names[loss],
	   worst);
}

/* As far along x as the certificate lets it be. */
static bool
push(const ErmProblem *problem, TestTable *table, double towards, double *w)
{
	static int128 total[MAX_DIMENSION];
	ErmSums		  sums = {total, total};
	double		  gradient[MAX_DIMENSION];
	double		  length = (problem->tolerance - 2 * problem->rounding) / problem->lambda;

	for (int j = 0; j < problem->dimension; j++)
		w[j] += towards * length * table->unit[0].x[j] / problem->norm;
	erm_gradient(problem, &table->source, w, &sums, gradient);
	return erm_residual(problem, w, gradient) <= problem->tolerance * (1 + 1e-6);
}

/*
 * The worst case: one unit at a corner, its label turned, both slopes L; if
 * pushed, solved as badly as can be.  The share of the claim that it uses up.
 */
static double
worst_case(Claim claim, bool pushed)
{
	double share = pushed ? 0.1 : 0.01;
	double most = 0;

	for (int dimension = 2; dimension <= 9; dimension++)
	{
		/* L R^2/(lambda n0) = 1/2: the fit stays L away from either label */
		double	   square = erm_natural_norm(dimension - 1) * erm_natural_norm(dimension - 1);
		ErmProblem problem = problem_of(ERM_HUBER, dimension, 10, 0.25 * square / 5, 1e-6);
		double	   features[MAX_DIMENSION];
		double	   fits[2][MAX_DIMENSION];
		TestTable  table;

		table_init(&table);
		table.nunits = 1;
		table.unit[0].nrows = 1;
		for (int j = 0; j < dimension - 1; j++)
			features[j] = j % 2;
		(void) erm_features(&problem, features, table.unit[0].x);
		for (int i = 0; i < 2; i++)
		{
			ErmProblem loose = problem;

			table.unit[0].label[0] = i == 0 ? 1 : -1;
			solve(&problem, &table, fits[i]);
			erm_complete(&loose, share);
			if (pushed && !push(&loose, &table, i == 0 ? 0.999 : -0.999, fits[i]))
				return NAN;
		}
		erm_complete(&problem, share);
		most = Max(most, fabs(erm_score(&problem, fits[0], table.unit[0].x) -
							  erm_score(&problem, fits[1], table.unit[0].x)) /
							 claim(&problem, problem.norm));
	}
	return most;
}

/*
 * Squared loss without its ball: many units with small features and large
 * labels make the fit steep, and one unit with large features meets a residual
 * far above what labels within [-1, 1] would suggest.
 */
static double
squared_with_radius(double radius, double claimed)
{
	ErmProblem problem = {.loss = ERM_SQUARED,
						  .dimension = 1,
						  .norm = 1,
						  .units = 1e5,
						  .lambda = 1e-4,
						  .radius = radius};
	TestTable  table;
	double	   w;
	double	   other;

	erm_complete(&problem, 0.01);
	table_init(&table);
	table.nunits = 2;
	table.more = 99998;
	for (int i = 0; i < 2; i++)
	{
		table.unit[i].nrows = 1;
		table.unit[i].label[0] = 1;
		table.unit[i].x[0] = 0.01f;
	}
	solve(&problem, &table, &w);
	table.unit[1].label[0] = -1;
	table.unit[1].x[0] = 1;
	solve(&problem, &table, &other);
	if (claimed == 0)
		claimed = erm_sensitivity(&problem, 1);
	return fabs(w - other) / claimed;
}

static void
test_squared_ball(void)
{
	ErmProblem ball = {
		.loss = ERM_SQUARED, .dimension = 1, .norm = 1, .units = 1e5, .lambda = 1e-4, .radius = 1};
	double inside;
	double outside;

	erm_complete(&ball, 0.01);
	inside = squared_with_radius(1, 0);
	outside = squared_with_radius(1000, erm_sensitivity(&ball, 1));
	ok(inside <= 1, "squared, within its ball: %g of the sensitivity", inside);
	ok(outside > 3, "squared, without the ball: %g times it", outside);
}

/* ---------- noise ---------- */

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

typedef int64 (*ShiftRule)(double sensitivity, double grid);

/* Wrong: rounding to the grid can add a step. */
static int64
shift_too_small(double sensitivity, double grid)
{
	return Max(1, (int64) floor(sensitivity / grid));
}

/* Whether the sign of a noisy score obeys epsilon between scores s apart. */
static bool
is_private(ShiftRule rule, double epsilon)
{
	double sensitivity = 0.37;
	double grid = 0.1;
	int64  shift = rule(sensitivity, grid);
	double bound = exp(epsilon) * (1 + 1e-9);

	for (double score = -2; score < 2; score += 0.007)
	{
		double p[2];
		double q[2];

		erm_draw_signs(true, units_of(epsilon), score, grid, shift, &p[1], &p[0]);
		erm_draw_signs(true, units_of(epsilon), score + sensitivity, grid, shift, &q[1], &q[0]);
		if (q[1] > bound * p[1] || p[0] > bound * q[0])
			return false;
	}
	return true;
}

static void
test_draws(bool order_is_infinite, double epsilon, double score)
{
	double grid = 0.25;
	int64  shift = erm_shift(0.9, grid);
	int64  above = 0;
	int64  below = 0;
	double p_above;
	double p_below;

	for (int i = 0; i < 50000; i++)
	{
		int64 steps = erm_draw(order_is_infinite, units_of(epsilon), score, grid, shift);

		above += steps > 0;
		below += steps < 0;
	}
	erm_draw_signs(order_is_infinite, units_of(epsilon), score, grid, shift, &p_above, &p_below);
	ok(plausible(above, 50000, p_above) && plausible(below, 50000, p_below),
	   "%s, epsilon %g, score %g: " INT64_FORMAT " above and " INT64_FORMAT
	   " below 0 for %g and %g",
	   order_is_infinite ? "Laplace" : "Gaussian", epsilon, score, above, below, p_above, p_below);
}

/* Against the sum over all integers, for a score on the grid. */
static void
test_moments(bool order_is_infinite, double epsilon, double score)
{
	double grid = 0x1p-9;
	int64  shift = erm_shift(0.3, grid);
	double scale = order_is_infinite ? shift / epsilon : 2 * shift / epsilon;
	double all = 0;
	double first = 0;
	double second = 0;
	double mean;
	double square;

	for (int64 i = -200000; i <= 200000; i++)
	{
		double away = fabs(i / scale);
		double mass = exp(order_is_infinite ? -away : -away * away / 2);
		double value = Max(-1, Min(score + i * grid, 1));

		all += mass;
		first += mass * value;
		second += mass * value * value;
	}
	erm_draw_moments(order_is_infinite, units_of(epsilon), score, grid, shift, -1, 1, &mean,
					 &square);
	ok(fabs(mean - first / all) < 1e-4 && fabs(square - second / all) < 1e-4,
	   "%s, epsilon %g, score %g: mean %.5f and mean square %.5f",
	   order_is_infinite ? "Laplace" : "Gaussian", epsilon, score, mean, square);
}

static void
test_ratio(double epsilon)
{
	uint64 n;
	uint64 d;
	double ratio;

	erm_gaussian_ratio(units_of(epsilon), &n, &d);
	ratio = ((double) n / d) / (epsilon * epsilon / 4);
	ok(ratio <= 1 + 1e-12 && ratio > 0.998 && n <= SAMPLER_MAX_TERM &&
		   d <= SAMPLER_MAX_TERM / ERM_MAX_SHIFT / ERM_MAX_SHIFT,
	   "epsilon %g: (shift/sigma)^2 is %.6f of epsilon^2/4", epsilon, ratio);
}

static void
test_noise(void)
{
	static const double epsilons[] = {1e-4, 0.01, 0.5, 1, 3, 20, 100};
	bool				fits = true;

	for (int i = 0; i < lengthof(epsilons); i++)
		test_ratio(epsilons[i]);
	for (double s = 1e-12; s < 1e12; s *= 1.7)
	{
		int64 shift = erm_shift(s, erm_default_grid(s));

		fits = fits && shift > ERM_MAX_SHIFT / 4 && shift <= ERM_MAX_SHIFT / 2 + 1;
	}
	ok(fits, "the default grid is fine enough, and not too fine");
	ok(is_private(erm_shift, 1) && is_private(erm_shift, 0.3), "signs of noisy scores are private");
	ok(!is_private(shift_too_small, 1), "caught: a shift without rounding");
	for (int order = 0; order < 2; order++)
	{
		test_draws(order, 1, 0);
		test_draws(order, 0.3, 2.1);
		test_draws(order, 8, -0.3);
		test_moments(order, 1, 0);
		test_moments(order, 0.5, 0.90625);
		test_moments(order, 5, -1.375);
	}
}

int
main(void)
{
	double most;

	test_features();
	for (int i = 0; i < lengthof(losses); i++)
	{
		test_gradient(losses[i]);
		test_certificate(losses[i]);
		test_floor(losses[i]);
		test_random_changes(losses[i]);
	}
	most = worst_case(erm_sensitivity, false);
	ok(most <= 1 && most >= 0.9, "the worst case moves the score by %g of the sensitivity", most);
	most = worst_case(erm_sensitivity, true);
	ok(most <= 1 && most >= 0.99, "as badly solved as can be certified, by %g of it", most);
	ok(worst_case(halved, false) > 1, "caught: half of it");
	ok(worst_case(uncertified, true) > 1, "caught: nothing for certification");
	test_squared_ball();
	test_noise();
	return done();
}
