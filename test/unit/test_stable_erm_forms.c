/*
 * test_stable_erm_forms.c
 *		stable_erm with more than two classes, and in one pass: over all small tables
 *		and all their neighbours no score moves by more than is charged for, and
 *		some move by nearly as much; steps never drive two sums apart, and are nobody
 *		else's business; classes are drawn as claimed; the checks reject what is wrong.
 *
 * sources: src/mechanism/stable_erm/erm.c src/mechanism/stable_erm/solve.c
 * sources: src/mechanism/stable_erm/sgd.c src/mechanism/stable_erm/classes.c
 * sources: src/mechanism/stable_erm/noise.c src/learner/cholesky.c src/mechanism/vote/draw.c
 * sources: src/draw/rng.c src/draw/bernoulli.c src/draw/discrete.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/stable_erm/sgd.h"
#include "draw/sampler.h"
#include "unit.h"

#define DIMENSION 2
#define CLASSES 3
#define SLOTS 4 /* units, each at a hash of its own */
#define MAX_KINDS 12
#define QUESTIONS 5

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

/* ---------- all small tables ---------- */

/* What a unit may be: nothing, a row, or two rows. */
typedef struct Kind
{
	int	   nrows;
	double label[2];
	float  x[2 * DIMENSION];
} Kind;

static Kind kinds[MAX_KINDS];
static int	nkinds;

static const uint64 hashes[SLOTS] = {0, UINT64CONST(1) << 61, UINT64CONST(3) << 62,
									 ~UINT64CONST(0)};

static void
add_kind(const ErmProblem *problem, int nrows, double x0, double label0, double x1, double label1)
{
	Kind *kind = &kinds[nkinds++];

	kind->nrows = nrows;
	kind->label[0] = label0;
	kind->label[1] = label1;
	(void) erm_features(problem, &x0, kind->x);
	(void) erm_features(problem, &x1, kind->x + DIMENSION);
}

/* Corners, the middle, and units of two rows that pull in different directions. */
static void
make_kinds(const ErmProblem *problem)
{
	nkinds = 0;
	add_kind(problem, 0, 0, 0, 0, 0);
	for (int x = 0; x < 2; x++)
		for (int label = 0; label < (problem->one_class ? CLASSES : 2); label++)
			add_kind(problem, 1, x, problem->one_class ? label : 2 * label - 1, 0, 0);
	add_kind(problem, 1, 0.5, problem->one_class ? 2 : 0.3, 0, 0);
	add_kind(problem, 2, 1, 1, 0, problem->one_class ? 0 : -1);
	add_kind(problem, 2, 1, 1, 1, 1);
}

typedef struct Table
{
	ErmSource source;
	int		  kind[SLOTS];
	int		  position;
} Table;

static void
table_rewind(ErmSource *source)
{
	((Table *) source)->position = 0;
}

static bool
table_next(ErmSource *source, ErmUnit *unit)
{
	Table *table = (Table *) source;

	while (table->position < SLOTS && kinds[table->kind[table->position]].nrows == 0)
		table->position++;
	if (table->position == SLOTS)
		return false;
	*unit =
		(ErmUnit){kinds[table->kind[table->position]].nrows,
				  kinds[table->kind[table->position]].label, kinds[table->kind[table->position]].x};
	table->position++;
	return true;
}

static void
no_pause(void)
{
}

static Table
table_of(int number)
{
	Table table = {.source = {table_rewind, table_next, no_pause}};

	for (int i = 0; i < SLOTS; i++, number /= nkinds)
		table.kind[i] = number % nkinds;
	return table;
}

static int
number_of_tables(void)
{
	int number = 1;

	for (int i = 0; i < SLOTS; i++)
		number *= nkinds;
	return number;
}

/* ---------- how a table is fitted ---------- */

typedef void (*Fit)(const ErmProblem *problem, const ErmSgd *sgd, Table *table, double *w);
typedef double (*Claim)(const ErmProblem *problem, const ErmSgd *sgd, double norm);

static void
fit_exactly(const ErmProblem *problem, const ErmSgd *sgd, Table *table, double *w)
{
	static char workspace[4096];

	Assert(erm_workspace(problem, true) <= sizeof(workspace));
	(void) erm_solve(problem, &table->source, true, workspace, w);
}

static double
claim_exactly(const ErmProblem *problem, const ErmSgd *sgd, double norm)
{
	return erm_sensitivity(problem, norm);
}

static int
pass(const ErmProblem *problem, const ErmSgd *sgd, Table *table, double *w)
{
	int128	total[DIMENSION] = {0};
	int128	of_unit[DIMENSION];
	ErmSums sums = {total, of_unit};
	double	scratch[DIMENSION];
	ErmUnit unit;
	int		used = 0;

	table_rewind(&table->source);
	while (used < sgd->most && table_next(&table->source, &unit))
	{
		erm_sgd_step(problem, sgd, hashes[table->position - 1], &unit, &sums, scratch);
		used++;
	}
	erm_sgd_weights(problem, sgd, total, w);
	return used;
}

static void
fit_in_one_pass(const ErmProblem *problem, const ErmSgd *sgd, Table *table, double *w)
{
	(void) pass(problem, sgd, table, w);
}

/* Wrong: over the units that there are, in place of those that are declared. */
static void
fit_by_number(const ErmProblem *problem, const ErmSgd *sgd, Table *table, double *w)
{
	int used = pass(problem, sgd, table, w);

	for (int j = 0; j < DIMENSION; j++)
		w[j] *= problem->units / Max(used, 1);
}

static double
claim_in_one_pass(const ErmProblem *problem, const ErmSgd *sgd, double norm)
{
	return erm_sgd_sensitivity(problem, sgd, norm);
}

static double
half_of_it(const ErmProblem *problem, const ErmSgd *sgd, double norm)
{
	return erm_sgd_sensitivity(problem, sgd, norm) / 2;
}

/* ---------- neighbours ---------- */

#define MAX_TABLES 20736

static double scores[MAX_TABLES][QUESTIONS];

static double
question_score(const ErmProblem *problem, const double *w, int question, double *norm)
{
	double feature = question / (QUESTIONS - 1.0);
	float  x[DIMENSION];

	*norm = erm_features(problem, &feature, x);
	return erm_score(problem, w, x);
}

/* The largest share of the claim that any pair of neighbours uses up, at any question. */
static double
largest_share(const ErmProblem *problem, const ErmSgd *sgd, Fit fit, Claim claim)
{
	int	   tables;
	double claims[QUESTIONS];
	double most = 0;

	make_kinds(problem);
	tables = number_of_tables();
	Assert(tables <= MAX_TABLES);
	for (int t = 0; t < tables; t++)
	{
		Table  table = table_of(t);
		double w[DIMENSION];

		fit(problem, sgd, &table, w);
		for (int q = 0; q < QUESTIONS; q++)
		{
			double norm;

			scores[t][q] = question_score(problem, w, q, &norm);
			claims[q] = claim(problem, sgd, norm);
		}
	}
	/* Units that are changed, that come and that go: whatever differs at one place. */
	for (int t = 0; t < tables; t++)
		for (int place = 1; place < tables; place *= nkinds)
			for (int other = t + place; other / place % nkinds != 0; other += place)
				for (int q = 0; q < QUESTIONS; q++)
					most = Max(most, fabs(scores[t][q] - scores[other][q]) / claims[q]);
	return most;
}

static ErmProblem
problem_of(ErmLoss loss, double lambda, double units, int class)
{
	ErmProblem problem = {.loss = loss,
						  .dimension = DIMENSION,
						  .units = units,
						  .lambda = lambda,
						  .norm = erm_natural_norm(DIMENSION - 1),
						  .lipschitz = 0.25,
						  .one_class = class >= 0,
						  .class = Max(class, 0)};

	erm_complete(&problem, 0.01);
	return problem;
}

static ErmSgd
sgd_of(const ErmProblem *problem)
{
	ErmSgd sgd;

	erm_sgd_complete(problem, ERM_SGD_WEIGHT, &sgd);
	return sgd;
}

static const double lambdas[] = {2, 0.25, 0.01};

/* What a unit's label or place can do to a logistic fit is half of what its direction can. */
static void
test_classes(void)
{
	double most = 0;

	for (int i = 0; i < lengthof(lambdas); i++)
		for (int class = 0; class < CLASSES; class ++)
		{
			ErmProblem problem = problem_of(ERM_LOGISTIC, lambdas[i], i == 0 ? 2 : 4, class);
			ErmSgd	   sgd = sgd_of(&problem);

			most = Max(most, largest_share(&problem, &sgd, fit_exactly, claim_exactly));
		}
	ok(most <= 1 && most >= 0.35,
	   "one class against the rest, all small tables: scores move by %g of the claim", most);
}

/* Many units of the class along the first axis, and one of another class between the axes. */
typedef struct Crowd
{
	ErmSource source;
	int		  size;
	int		  position;
	double	  label[2];
	float	  x[2][2];
} Crowd;

static void
crowd_rewind(ErmSource *source)
{
	((Crowd *) source)->position = 0;
}

static bool
crowd_next(ErmSource *source, ErmUnit *unit)
{
	Crowd *crowd = (Crowd *) source;
	int	   which = crowd->position == 0 ? 1 : 0;

	if (crowd->position++ == crowd->size)
		return false;
	*unit = (ErmUnit){1, &crowd->label[which], crowd->x[which]};
	return true;
}

/*
 * What it takes to move a logistic fit by nearly all of the claim: the crowd makes it steep and
 * says nothing of the second axis, so that the one unit has a slope of nearly 1 on either side.
 */
static void
test_classes_attained(void)
{
	ErmProblem problem = {.loss = ERM_LOGISTIC,
						  .dimension = 2,
						  .norm = 1,
						  .units = 1e5,
						  .lambda = 1e-5,
						  .one_class = true,
						  .class = 1};
	ErmSgd	   none = {0};
	double	   at[2];
	double	   share;

	erm_complete(&problem, 0.01);
	for (int i = 0; i < 2; i++)
	{
		Crowd  crowd = {.source = {crowd_rewind, crowd_next, no_pause},
						.size = 100000,
						.label = {1, 0},
						.x = {{1, 0}, {0.4f, i == 0 ? 0.916f : -0.916f}}};
		double w[2];

		fit_exactly(&problem, &none, (Table *) &crowd, w);
		at[i] = w[1];
	}
	share = fabs(at[0] - at[1]) / erm_sensitivity(&problem, 1);
	ok(share <= 1 && share > 0.85, "one class, a crowd: the score moves by %g of the claim", share);
}

static void
test_one_pass(void)
{
	double most = 0;
	double least = 1;
	double by_number = 0;

	for (int i = 0; i < lengthof(lambdas) * 2; i++)
	{
		double	lambda = lambdas[i / 2];
		ErmLoss loss = i % 2 == 0 ? ERM_LOGISTIC : ERM_HUBER;

		for (int class = -1; class < (loss == ERM_LOGISTIC ? CLASSES : 0); class ++)
		{
			ErmProblem problem = problem_of(loss, lambda, 4, class);
			ErmSgd	   sgd = sgd_of(&problem);
			double	   share = largest_share(&problem, &sgd, fit_in_one_pass, claim_in_one_pass);

			most = Max(most, share);
			if (loss == ERM_HUBER)
			{
				least = Min(least, share);
				ok(largest_share(&problem, &sgd, fit_in_one_pass, half_of_it) > 1,
				   "caught: half of it (lambda %g)", lambda);
			}
			by_number =
				Max(by_number, largest_share(&problem, &sgd, fit_by_number, claim_in_one_pass));
		}
	}
	ok(most <= 1 && least >= 0.99,
	   "one pass, all small tables: scores move by %g of the claim, Huber's by %g or more", most,
	   least);
	ok(by_number > 1, "caught: divided by the number of units (%g of the claim)", by_number);
}

/*
 * Two tables whose first units differ, and one more unit that is nearly at right angles: if its
 * step is too long, it throws the sums further apart in its own direction.
 */
static double
thrown_apart(double start)
{
	static const float x[2][2] = {{1, 0}, {0.1f, 0.99f}};
	ErmProblem		   problem = {.loss = ERM_HUBER, .dimension = 2, .norm = 1};
	ErmSgd			   sgd;
	int128			   total[2][2] = {{0}};
	double			   apart[2];

	problem.units = 10;
	problem.lambda = 1;
	problem.lipschitz = 0.25;
	erm_complete(&problem, 0.01);
	sgd = sgd_of(&problem);
	sgd.start *= start;
	for (int i = 0; i < 2; i++)
		for (int unit = 0; unit < 2; unit++)
		{
			double	label = unit > 0 ? 0 : i == 0 ? 1 : -1;
			ErmUnit one = {1, &label, x[unit]};
			int128	of_unit[2];
			ErmSums sums = {total[i], of_unit};
			double	w[2];

			erm_sgd_step(&problem, &sgd, 0, &one, &sums, w);
		}
	for (int j = 0; j < 2; j++)
		apart[j] = (double) (total[0][j] - total[1][j]) / ERM_FIXED_ONE;
	return sqrt(erm_dot(apart, apart, 2));
}

static void
test_step(void)
{
	double right = thrown_apart(1);
	double wrong = thrown_apart(0.02);

	ok(right <= 2 && right > 1.9, "a step drives no sums apart: %g of L R", right);
	ok(wrong > 2.5, "caught: a step that is too long, %g of L R", wrong);
}

/* More units than are used: if one comes, the last one goes. */
static void
test_most(void)
{
	double most = 0;

	for (int i = 0; i < lengthof(lambdas); i++)
	{
		ErmProblem problem = problem_of(ERM_HUBER, lambdas[i], 4, -1);
		ErmSgd	   sgd = sgd_of(&problem);

		sgd.most = 2;
		most = Max(most, largest_share(&problem, &sgd, fit_in_one_pass, claim_in_one_pass));
	}
	ok(most <= 1 && most > 0.9, "units beyond those that are used: %g of the claim", most);
}

/* Weights end at their bound, which moves nothing by more either. */
static void
test_weight(void)
{
	double most = 0;
	bool   bounded = true;

	for (int i = 0; i < lengthof(lambdas); i++)
	{
		ErmProblem problem = problem_of(ERM_HUBER, lambdas[i], 4, -1);
		ErmSgd	   sgd;

		erm_sgd_complete(&problem, 0.01, &sgd);
		most = Max(most, largest_share(&problem, &sgd, fit_in_one_pass, claim_in_one_pass));
		for (int t = 0; t < number_of_tables(); t++)
			bounded = bounded && fabs(scores[t][QUESTIONS - 1]) <= 0.01 * 1.5 + 1e-9;
	}
	ok(bounded && most <= 1, "bounded weights: %g of the claim", most);
}

/* ---------- rounding ---------- */

/* A step in long doubles, from the same sums. */
static void
test_rounding(void)
{
	double worst = 0;

	for (int trial = 0; trial < 2000; trial++)
	{
		ErmProblem	problem = problem_of(trial % 2 ? ERM_LOGISTIC : ERM_HUBER, 0.01, 1000, -1);
		ErmSgd		sgd = sgd_of(&problem);
		uint64		hash = sample_uint64();
		int128		total[DIMENSION];
		int128		before[DIMENSION];
		int128		of_unit[DIMENSION];
		ErmSums		sums = {total, of_unit};
		double		w[DIMENSION];
		ErmUnit		unit;
		Kind	   *kind;
		long double gradient[DIMENSION] = {0};
		long double unit_length = (long double) problem.lipschitz * problem.norm;
		long double error = 0;
		/* the step as it is computed: two tables share it */
		double time = (double) hash * 0x1p-64;
		double step = 1 / (problem.lambda * problem.units * (time + sgd.start));

		make_kinds(&problem);
		kind = &kinds[1 + sample_uniform(nkinds - 1)];
		unit = (ErmUnit){kind->nrows, kind->label, kind->x};
		for (int j = 0; j < DIMENSION; j++)
			before[j] = total[j] =
				(int128) ((double) sample_uniform(2000001) - 1000000) * (int128) (1e-5 * 0x1p61);
		erm_sgd_step(&problem, &sgd, hash, &unit, &sums, w);
		for (int r = 0; r < kind->nrows; r++)
		{
			const float *x = kind->x + r * DIMENSION;
			long double	 y = kind->label[r];
			long double	 score = 0;
			long double	 slope;

			for (int j = 0; j < DIMENSION; j++)
				score -= (long double) before[j] / 0x1p61L * unit_length * step * x[j];
			slope = problem.loss == ERM_LOGISTIC
						? -y / (1 + expl(y * score))
						: Max(-problem.lipschitz, Min(score - y, problem.lipschitz));
			for (int j = 0; j < DIMENSION; j++)
				gradient[j] += slope * x[j] / kind->nrows;
		}
		for (int j = 0; j < DIMENSION; j++)
		{
			long double moved = (long double) (total[j] - before[j]) / 0x1p61L;

			error += (moved - gradient[j] / unit_length) * (moved - gradient[j] / unit_length);
		}
		worst = Max(worst, (double) sqrtl(error) / sgd.rounding);
	}
	ok(worst <= 1, "steps are within their rounding (%g of it)", worst);
}

/* ---------- the draw ---------- */

#define GRID 1.0
#define SHIFT 2
#define WIDEST 5 /* scores from 0 to this */

/* Wrong: as if the best did not move, too. */
static void
one_sided(bool infinite, EpsilonUnits epsilon, const double *of, double *probability)
{
	erm_class_distribution(infinite, 2 * epsilon, CLASSES, of, GRID, SHIFT, probability);
}

static void
as_claimed(bool infinite, EpsilonUnits epsilon, const double *of, double *probability)
{
	erm_class_distribution(infinite, epsilon, CLASSES, of, GRID, SHIFT, probability);
}

/* Wrong: permute-and-flip is not of bounded range. */
static void
flipped(bool infinite, EpsilonUnits epsilon, const double *of, double *probability)
{
	erm_class_distribution(true, epsilon, CLASSES, of, GRID, SHIFT, probability);
}

typedef void (*Rule)(bool infinite, EpsilonUnits epsilon, const double *of, double *probability);

static void
steps_of_number(int number, int base, int least, double *steps)
{
	for (int k = 0; k < CLASSES; k++, number /= base)
		steps[k] = least + number % base;
}

/* All scores, and all that may become of them; the largest loss, or range, by epsilon. */
static double
largest_loss(Rule rule, bool infinite, double epsilon)
{
	double most = 0;

	for (int a = 0; a < WIDEST * WIDEST * WIDEST; a++)
		for (int b = 0; b < 125; b++)
		{
			double from[CLASSES];
			double to[CLASSES];
			double p[CLASSES];
			double q[CLASSES];
			double largest = -INFINITY;
			double smallest = INFINITY;

			steps_of_number(a, WIDEST, 0, from);
			steps_of_number(b, 2 * SHIFT + 1, -SHIFT, to);
			for (int k = 0; k < CLASSES; k++)
				to[k] += from[k];
			rule(infinite, units_of(epsilon), from, p);
			rule(infinite, units_of(epsilon), to, q);
			for (int k = 0; k < CLASSES; k++)
			{
				largest = Max(largest, log(p[k] / q[k]));
				smallest = Min(smallest, log(p[k] / q[k]));
			}
			most = Max(most, Max(largest, -smallest));
			if (!infinite)
				most = Max(most, largest - smallest);
		}
	return most / epsilon;
}

static void
test_draw_privacy(double epsilon)
{
	for (int infinite = 0; infinite < 2; infinite++)
	{
		const char *order = infinite ? "infinite" : "finite";
		double		most = largest_loss(as_claimed, infinite, epsilon);

		ok(most <= 1 + 1e-10 && most > 0.7,
		   "epsilon %g, %s order: all neighbours lose up to %g of epsilon", epsilon, order, most);
		ok(largest_loss(one_sided, infinite, epsilon) > 1, "caught: without the half");
	}
	ok(largest_loss(flipped, false, epsilon) > 1, "caught: permute-and-flip as bounded range");
}

static void
test_draw(bool infinite)
{
	static const double of[] = {3.1, 1.4, -2.6};
	double				probability[CLASSES];
	int64				drawn[CLASSES] = {0};

	erm_class_distribution(infinite, units_of(1), CLASSES, of, 0.25, 5, probability);
	for (int i = 0; i < 50000; i++)
		drawn[erm_draw_class(infinite, units_of(1), CLASSES, of, 0.25, 5)]++;
	for (int k = 0; k < CLASSES; k++)
		ok(plausible(drawn[k], 50000, probability[k]),
		   "%s order: class %d in " INT64_FORMAT " of 50000 draws for %g",
		   infinite ? "infinite" : "finite", k, drawn[k], probability[k]);
}

/* Scores that no int32 holds. */
static void
test_far_apart(void)
{
	static const double of[] = {-1e15, 0, 1e15};
	double				probability[CLASSES];

	erm_class_distribution(true, ERM_MIN_EPSILON, CLASSES, of, 1, ERM_MAX_SHIFT, probability);
	ok(probability[2] > 1 - 1e-10 &&
		   erm_draw_class(true, ERM_MIN_EPSILON, CLASSES, of, 1, ERM_MAX_SHIFT) == 2,
	   "scores that are far apart");
}

int
main(void)
{
	test_classes();
	test_classes_attained();
	test_one_pass();
	test_step();
	test_most();
	test_weight();
	test_rounding();
	test_draw_privacy(0.5);
	test_draw_privacy(2);
	test_draw(true);
	test_draw(false);
	test_far_apart();
	return done();
}
