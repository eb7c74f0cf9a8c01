/*
 * test_cover.c
 *		Candidates cover their classes, errors are right, and the selection is
 *		private for all small tables; wrong selections are caught.
 *
 * sources: src/mechanism/candidates.c src/mechanism/sort.c src/mechanism/candidate_errors.c
 * sources: src/mechanism/cover/halfspaces.c src/mechanism/cover/radius.c src/mechanism/cover/draw.c
 * sources: src/mechanism/cover/limits.c
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/cover/cover.h"
#include "mechanism/cover/draw.h"
#include "mechanism/cover/limits.h"
#include "fake_coins.h"
#include "server_stubs.h"
#include "unit.h"

#define ROUNDING 1e-9

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

/* A generator of its own: the samplers here are fakes. */
static uint64 state = 1;

static double
uniform(void)
{
	state = state * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
	return (double) (state >> 11) / (double) (UINT64CONST(1) << 53);
}

static const bool numeric_columns[8] = {false};
static const bool mixed_columns[8] = {false, true, false, true};

/* ---------- errors against brute force ---------- */

#define ROWS 60

typedef struct Row
{
	double x[8];
	int	   label;
	int64  weight;
} Row;

static bool
errors_are_right(const Candidates *candidates, const bool *binary)
{
	Row			 rows[ROWS];
	ErrorCounts *counts = errors_create(candidates);
	int64		*errors;
	bool		 right = true;

	for (int i = 0; i < ROWS; i++)
	{
		for (int j = 0; j < candidates->width; j++)
		{
			/* on cuts, at the ends, and anywhere */
			double x = i % 3 == 0 ? rint(uniform() * 8) / 8 : uniform();

			rows[i].x[j] = binary[j] ? x >= 0.5 : x;
		}
		rows[i].label = (int) (uniform() * candidates->nclasses);
		rows[i].weight = ERROR_ONE / (1 + i % 4);
		errors_add(counts, rows[i].x, rows[i].label, rows[i].weight);
	}
	errors = errors_finish(counts);
	for (int64 c = 0; c < candidates->count; c++)
	{
		Classifier classifier;
		int64	   error = 0;

		candidate_get(candidates, c, &classifier);
		for (int i = 0; i < ROWS; i++)
			if (classifier_says(&classifier, candidates->width, rows[i].x) != rows[i].label)
				error += rows[i].weight;
		right = right && error == errors[c];
		if (classifier.weight != NULL)
			pfree(classifier.weight);
	}
	pfree(errors);
	return right;
}

static void
test_errors(void)
{
	static const struct
	{
		CandidateClass class;
		int			width;
		const bool *binary;
		int			resolution;
		const char *name;
		int			nclasses;
	} cases[] = {
		{CLASS_THRESHOLDS, 1, numeric_columns, 7, "thresholds", 2},
		{CLASS_THRESHOLDS, 1, numeric_columns, 0, "constants", 2},
		{CLASS_INTERVALS, 1, numeric_columns, 7, "intervals", 2},
		{CLASS_STUMPS, 4, mixed_columns, 7, "stumps", 2},
		{CLASS_RECTANGLES, 2, numeric_columns, 7, "rectangles", 2},
		{CLASS_RECTANGLES, 2, mixed_columns, 3, "rectangles, one column binary", 2},
		{CLASS_RECTANGLES, 3, numeric_columns, 3, "boxes", 2},
		{CLASS_THRESHOLDS, 1, numeric_columns, 7, "thresholds, three classes", 3},
		{CLASS_INTERVALS, 1, numeric_columns, 7, "intervals, four classes", 4},
		{CLASS_STUMPS, 4, mixed_columns, 7, "stumps, five classes", 5},
		{CLASS_RECTANGLES, 3, numeric_columns, 2, "boxes, three classes", 3},
	};

	for (int i = 0; i < lengthof(cases); i++)
	{
		Reference	reference = {.width = cases[i].width, .binary = cases[i].binary};
		Candidates *candidates =
			candidates_build(cases[i].class, &reference, cases[i].resolution, cases[i].nclasses);

		ok(errors_are_right(candidates, cases[i].binary) &&
			   candidates->count ==
				   class_pairs(cases[i].nclasses) *
					   candidates_shapes(cases[i].class, &reference, cases[i].resolution),
		   "%s: errors of all " INT64_FORMAT " candidates", cases[i].name, candidates->count);
	}
	for (int width = 1; width <= 5; width++)
	{
		Reference	reference = {.width = width, .binary = numeric_columns};
		int			nclasses = 2 + width % 3;
		Candidates *candidates = halfspaces_build(&reference, 150, nclasses);

		ok(errors_are_right(candidates, numeric_columns) &&
			   candidates->count <= 150 * class_pairs(nclasses),
		   "halfspaces in %d columns: errors of all " INT64_FORMAT " candidates", width,
		   candidates->count);
	}
}

/* Five points, five hypotheses, labels in planes of bits. */
static void
test_finite_errors(int nclasses)
{
	uint64		columns[15] = {0x15, 0x0b, 0x1f, 0x00, 0x12, 0x07, 0x10, 0x00, 0x1c, 0x01};
	FiniteClass finite = {
		.nhypotheses = 5, .npoints = 5, .columns = columns, .planes = class_bits(nclasses)};
	Candidates	*candidates = candidates_of_finite(&finite, nclasses);
	ErrorCounts *counts = errors_create(candidates);
	int64		*errors;
	int64		 expected[5] = {0};
	int			 most = 0;

	for (int i = 0; i < 200; i++)
	{
		double point = (int) (uniform() * 6) - 1;
		int	   label = (int) (uniform() * nclasses);

		errors_add(counts, &point, label, ERROR_ONE);
		for (int h = 0; h < 5 && point >= 0; h++)
		{
			most = Max(most, finite_class_label(&finite, h, (int) point));
			if (finite_class_label(&finite, h, (int) point) != label)
				expected[h] += ERROR_ONE;
		}
	}
	errors = errors_finish(counts);
	ok(memcmp(errors, expected, sizeof(expected)) == 0 && most == nclasses - 1,
	   "finite class of %d labels: errors of all hypotheses", nclasses);
}

/* ---------- covers ---------- */

#define MOST_POINTS 900
#define ANSWER_WORDS ((MOST_POINTS + 63) / 64)

/* What a classifier of two classes says of each point, a bit each. */
static void
answers_of(const Classifier *classifier, int width, int n, const double *x, uint64 *answers)
{
	memset(answers, 0, ANSWER_WORDS * sizeof(uint64));
	for (int i = 0; i < n; i++)
		answers[i / 64] |= (uint64) classifier_says(classifier, width, x + i * width) << i % 64;
}

/* The same of every candidate, asked once for all the members that are held against them. */
static uint64 *
answers_of_all(const Candidates *candidates, int n, const double *x)
{
	uint64 *answers = palloc(candidates->count * ANSWER_WORDS * sizeof(uint64));

	for (int64 c = 0; c < candidates->count; c++)
	{
		Classifier candidate;

		candidate_get(candidates, c, &candidate);
		answers_of(&candidate, candidates->width, n, x, answers + c * ANSWER_WORDS);
		if (candidate.weight != NULL)
			pfree(candidate.weight);
	}
	return answers;
}

/* The least weight of points at which a candidate differs from the member, of all the weight. */
static double
nearest_candidate(const Candidates *candidates, const uint64 *answers, const Classifier *member,
				  int n, const double *x, const int64 *weight)
{
	uint64 own[ANSWER_WORDS];
	int64  total = 0;
	int64  nearest;

	answers_of(member, candidates->width, n, x, own);
	for (int i = 0; i < n; i++)
		total += weight[i];
	nearest = total;
	for (int64 c = 0; c < candidates->count; c++)
	{
		int64 differ = 0;

		for (int word = 0; word < ANSWER_WORDS && differ < nearest; word++)
			for (uint64 rest = own[word] ^ answers[c * ANSWER_WORDS + word]; rest != 0;
				 rest &= rest - 1)
				differ += weight[word * 64 + __builtin_ctzll(rest)];
		nearest = Min(nearest, differ);
	}
	return (double) nearest / total;
}

/* The largest distance of random members of the class to the nearest candidate. */
static double
covered_within(const Candidates *candidates, int n, const double *x)
{
	double	worst = 0;
	int		width = candidates->width;
	uint64 *answers = answers_of_all(candidates, n, x);
	int64	alike[MOST_POINTS];

	for (int i = 0; i < n; i++)
		alike[i] = 1;
	for (int trial = 0; trial < 100; trial++)
	{
		Classifier member = {.class = candidates->class, .inside = 1};
		double	   weight[8] = {0};

		member.weight = weight;
		weight[(int) (uniform() * width)] = 1;
		member.cut = uniform();
		for (int i = 0; i < Min(width, MAX_SIDES); i++)
		{
			double a = uniform();
			double b = uniform();

			member.low[i] = Min(a, b);
			member.high[i] = Max(a, b);
		}
		worst = Max(worst, nearest_candidate(candidates, answers, &member, n, x, alike));
	}
	pfree(answers);
	return worst;
}

static void
test_covers(void)
{
	static double x[900 * 2];
	Reference	  uniform_line = {.width = 1, .binary = numeric_columns};
	Reference	  uniform_square = {.width = 2, .binary = numeric_columns};
	Reference	  skewed = {.width = 1, .binary = numeric_columns, .npoints = 900, .x = x};
	Reference	  lumps = skewed;
	static double lump[900];
	Candidates	 *candidates;

	for (int i = 0; i < 900; i++)
		x[i] = (i + 0.5) / 900;
	for (int resolution = 0; resolution < 30; resolution += 7)
	{
		candidates = candidates_build(CLASS_THRESHOLDS, &uniform_line, resolution, 2);
		ok(covered_within(candidates, 900, x) <= candidates->radius + 2.0 / 900,
		   "thresholds are covered within %g", candidates->radius);
		ok(candidates_resolution_within(CLASS_THRESHOLDS, 1, candidates->radius) == resolution,
		   "and less would not do");
	}
	candidates = candidates_build(CLASS_INTERVALS, &uniform_line, 9, 2);
	ok(covered_within(candidates, 900, x) <= candidates->radius + 4.0 / 900,
	   "intervals are covered within %g", candidates->radius);
	for (int i = 0; i < 900; i++)
		lump[i] = i < 500 ? 0.25 : x[i] * x[i];
	for (int i = 0; i < 900; i++)
		x[i] = x[i] * x[i] * x[i];
	candidates = candidates_build(CLASS_THRESHOLDS, &skewed, 9, 2);
	ok(candidates->radius < 0.06 &&
		   covered_within(candidates, 900, x) <= candidates->radius + ROUNDING,
	   "thresholds are covered within %g of a skewed reference", candidates->radius);
	lumps.x = lump;
	candidates = candidates_build(CLASS_THRESHOLDS, &lumps, 9, 2);
	ok(covered_within(candidates, 900, lump) <= candidates->radius + ROUNDING,
	   "and within %g of one with an atom, with %d cuts", candidates->radius,
	   candidates->grids[0].ncuts);
	for (int i = 0; i < 900; i++)
	{
		x[2 * i] = (i / 30 + 0.5) / 30;
		x[2 * i + 1] = (i % 30 + 0.5) / 30;
	}
	candidates = candidates_build(CLASS_RECTANGLES, &uniform_square, 5, 2);
	ok(covered_within(candidates, 900, x) <= candidates->radius + 4.0 / 30,
	   "rectangles are covered within %g", candidates->radius);
	for (int limit = 10; limit < 100000; limit *= 3)
	{
		int resolution = candidates_resolution(CLASS_RECTANGLES, &uniform_square, limit);

		ok(candidates_shapes(CLASS_RECTANGLES, &uniform_square, resolution) <= limit &&
			   candidates_shapes(CLASS_RECTANGLES, &uniform_square, resolution + 1) > limit,
		   "%d cuts are as many as %d shapes allow", resolution, limit);
	}
}

/* ---------- what is proved of all the class ---------- */

#define MANY 400
#define FEW 40

/* Units of one to four rows: skewed, with an atom, a binary column among them. */
static void
make_rows(int width, const bool *binary, double *x, int64 *weight)
{
	int left = 0;
	int size = 1;

	for (int i = 0; i < MANY; i++)
	{
		if (left == 0)
			left = size = Min(1 + (int) (uniform() * 4), MANY - i);
		left--;
		weight[i] = ERROR_ONE / size;
		for (int j = 0; j < width; j++)
		{
			double u = uniform();

			x[i * width + j] = binary[j] ? u < 0.3 : u < 0.2 ? 0.25 : u * u * u;
		}
	}
}

/* The farthest member: every cut at a value, or boxes with faces at values, in one side of all. */
static double
farthest_member(const Candidates *candidates, const double *x, const int64 *weight)
{
	int		width = candidates->width;
	bool	boxes = class_has_boxes(candidates->class);
	int		step = !boxes ? 1 : width == 1 ? 7 : 29;
	uint64 *answers = answers_of_all(candidates, MANY, x);
	double	farthest = 0;

	for (int column = 0; column < width; column++)
		for (int i = 0; i < MANY; i += step)
			for (int k = 0; k < (boxes ? MANY : 1); k += step)
			{
				Classifier member = {.class = candidates->class, .inside = 1};
				double	   unit[8] = {0};
				double	   a = x[i * width + column];
				double	   b = x[k * width + column];

				member.weight = unit;
				unit[column] = 1;
				member.cut = a;
				for (int side = 0; side < Min(width, MAX_SIDES); side++)
				{
					member.low[side] = side == column ? Min(a, b) : x[k * width + side] / 3;
					member.high[side] = side == column ? Max(a, b) : 1;
				}
				farthest =
					Max(farthest, nearest_candidate(candidates, answers, &member, MANY, x, weight));
			}
	pfree(answers);
	return farthest;
}

static void
test_radius_of_rows(CandidateClass class, const char *name, int width, const bool *binary,
					int resolution)
{
	static double x[MANY * 8];
	static int64  weight[MANY];
	double		  worst = 0;
	double		  proved = 0;
	double		  sampled = 0;

	for (int trial = 0; trial < 3; trial++)
	{
		Reference	  sample = {.width = width, .binary = binary, .npoints = FEW, .x = x};
		Candidates	 *candidates;
		RadiusCounts *counts;
		double		  total = 0;
		double		  farthest;

		make_rows(width, binary, x, weight);
		candidates = candidates_build(class, &sample, resolution, 2);
		counts = radius_create(candidates, binary);
		for (int i = 0; i < MANY; i++)
		{
			radius_add(counts, x + i * width, weight[i]);
			total += weight[i];
		}
		farthest = farthest_member(candidates, x, weight);
		worst = Max(worst, farthest - radius_finish(counts, total));
		proved = Max(proved, radius_finish(counts, total));
		sampled = Max(sampled, farthest - candidates->radius);
	}
	ok(worst <= ROUNDING, "%s: no member is farther than is proved (%g)", name, proved);
	note("%s: a member is farther than the sample's radius by %g", name, sampled);
}

/* Thresholds under a uniform distribution, of which the reference has some rows. */
static void
test_radius_beyond_reference(int n)
{
	static double x[2000];
	Reference	  reference = {.width = 1, .binary = numeric_columns, .npoints = n, .x = x};
	int			  beyond_rows = 0;
	bool		  held = true;

	for (int trial = 0; trial < 200; trial++)
	{
		Candidates *candidates;
		double		last = 0;
		double		most = 0;

		for (int i = 0; i < n; i++)
			x[i] = uniform();
		candidates = candidates_build(CLASS_THRESHOLDS, &reference, 50, 2);
		for (int i = 0; i <= candidates->grids[0].ncuts; i++)
		{
			double cut = i < candidates->grids[0].ncuts ? candidates->grids[0].cut[i] : 1;

			most = Max(most, (cut - last) / 2);
			last = cut;
		}
		beyond_rows += most > candidates->radius;
		/* But with probability 1e-10 for each. */
		if (most > candidates->radius + radius_beyond_reference(candidates, &reference, 1e-10))
			held = false;
	}
	ok(held, "%d rows of a reference: the radius holds for what they were drawn from", n);
	ok(beyond_rows > 150, "and that of the rows alone did not, %d times of 200", beyond_rows);
}

static void
test_radius(void)
{
	test_radius_of_rows(CLASS_THRESHOLDS, "thresholds", 1, numeric_columns, 12);
	test_radius_of_rows(CLASS_STUMPS, "stumps", 4, mixed_columns, 7);
	test_radius_of_rows(CLASS_INTERVALS, "intervals", 1, numeric_columns, 9);
	test_radius_of_rows(CLASS_RECTANGLES, "rectangles", 2, mixed_columns, 6);
	test_radius_of_rows(CLASS_RECTANGLES, "rectangles of numbers", 2, numeric_columns, 4);
	test_radius_beyond_reference(100);
	test_radius_beyond_reference(2000);
}

/* ---------- privacy ---------- */

/*
 * Tables of UNITS units.  A unit has no row, one row, or two, each in one of
 * four places with any label.
 */
#define UNITS 3
#define PLACES 4
#define KINDS (1 + labels * PLACES + 3)

static int labels = 2; /* how many there are */

typedef void (*Selection)(EpsilonUnits epsilon, int64 count, const int64 *errors,
						  double *probability);

/* Wrong: sensitivity taken for a half. */
static void
without_half(EpsilonUnits epsilon, int64 count, const int64 *errors, double *probability)
{
	cover_distribution(2 * epsilon, count, errors, probability);
}

static bool normalised = true; /* false: wrong, each row weighs a unit */

static void
add_unit(ErrorCounts *counts, int kind)
{
	int nrows = kind == 0 ? 0 : kind <= labels * PLACES ? 1 : 2;

	for (int row = 0; row < nrows; row++)
	{
		int	   what = nrows == 1 ? kind - 1 : (kind + 3 * row) % (labels * PLACES);
		double x = (what / labels + 0.5) / PLACES;

		errors_add(counts, &x, what % labels, normalised ? ERROR_ONE / nrows : ERROR_ONE);
	}
}

static void
probabilities_of(const Candidates *candidates, Selection selection, EpsilonUnits epsilon,
				 const int *kinds, double *probability)
{
	ErrorCounts *counts = errors_create(candidates);
	int64		*errors;

	for (int i = 0; i < UNITS; i++)
		add_unit(counts, kinds[i]);
	errors = errors_finish(counts);
	selection(epsilon, candidates->count, errors, probability);
	pfree(errors);
	pfree(counts);
}

/* The largest bounded range of any pair of neighbouring tables, over epsilon; at most 1. */
static double
worst_range(CandidateClass class, Selection selection, double epsilon)
{
	Reference	reference = {.width = 1, .binary = numeric_columns};
	Candidates *candidates = candidates_build(class, &reference, PLACES - 1, labels);
	int			tables = KINDS * KINDS * KINDS;
	double	   *all = palloc(tables * candidates->count * sizeof(double));
	double		worst = 0;

	for (int table = 0; table < tables; table++)
	{
		int kinds[UNITS] = {table % KINDS, table / KINDS % KINDS, table / KINDS / KINDS};

		probabilities_of(candidates, selection, units_of(epsilon), kinds,
						 all + table * candidates->count);
	}
	for (int table = 0; table < tables; table++)
	{
		for (int unit = 0, step = 1; unit < UNITS; unit++, step *= KINDS)
		{
			for (int kind = 0; kind < KINDS; kind++)
			{
				int	   other = table + (kind - table / step % KINDS) * step;
				double low = INFINITY;
				double high = -INFINITY;

				for (int64 c = 0; c < candidates->count; c++)
				{
					double loss = log(all[table * candidates->count + c] /
									  all[other * candidates->count + c]);

					low = Min(low, loss);
					high = Max(high, loss);
				}
				/* Not only the range: either end is within epsilon, too. */
				worst = Max(worst, Max(high - low, Max(high, -low)));
			}
		}
	}
	pfree(all);
	return worst / epsilon;
}

static void
test_privacy(void)
{
	static const double epsilons[] = {0.1, 1, 5};

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		double worst = worst_range(CLASS_THRESHOLDS, cover_distribution, epsilons[i]);

		ok(worst <= 1 + ROUNDING && worst > 0.99,
		   "thresholds, epsilon %g: all tables of %d units, worst loss %g of it", epsilons[i],
		   UNITS, worst);
	}
	ok(worst_range(CLASS_INTERVALS, cover_distribution, 1) <= 1 + ROUNDING, "intervals, epsilon 1");
	labels = 3;
	for (int i = 0; i < lengthof(epsilons); i++)
	{
		double worst = worst_range(CLASS_THRESHOLDS, cover_distribution, epsilons[i]);

		ok(worst <= 1 + ROUNDING && worst > 0.99,
		   "the same with three classes, epsilon %g: worst loss %g of it", epsilons[i], worst);
	}
	ok(worst_range(CLASS_THRESHOLDS, without_half, 1) > 1.5, "and caught without the half");
	labels = 2;
	ok(worst_range(CLASS_THRESHOLDS, without_half, 1) > 1.5, "caught without the half");
	normalised = false;
	ok(worst_range(CLASS_THRESHOLDS, cover_distribution, 1) > 1.5,
	   "caught with two rows of a unit counted twice");
	normalised = true;
}

/* ---------- privacy of the other classes, on random tables ---------- */

static void
add_random_unit(ErrorCounts *counts, int width, const bool *binary)
{
	int nrows = (int) (uniform() * 4);

	for (int row = 0; row < nrows; row++)
	{
		double x[8];

		for (int i = 0; i < width; i++)
			x[i] = binary[i] ? uniform() < 0.5 : uniform();
		errors_add(counts, x, uniform() < 0.5, ERROR_ONE / nrows);
	}
}

/* Tables that share nineteen units and differ in the last. */
static double
random_range(const Candidates *candidates, const bool *binary, double epsilon)
{
	double *p[2];
	double	low = INFINITY;
	double	high = -INFINITY;
	uint64	shared = state;

	for (int table = 0; table < 2; table++)
	{
		ErrorCounts *counts = errors_create(candidates);

		state = shared;
		for (int unit = 0; unit < 19; unit++)
			add_random_unit(counts, candidates->width, binary);
		state += table;
		add_random_unit(counts, candidates->width, binary);
		p[table] = palloc(candidates->count * sizeof(double));
		cover_distribution(units_of(epsilon), candidates->count, errors_finish(counts), p[table]);
	}
	for (int64 c = 0; c < candidates->count; c++)
	{
		low = Min(low, log(p[0][c] / p[1][c]));
		high = Max(high, log(p[0][c] / p[1][c]));
	}
	return Max(high - low, Max(high, -low)) / epsilon;
}

static void
test_random_neighbours(void)
{
	Reference				 mixed = {.width = 4, .binary = mixed_columns};
	Reference				 square = {.width = 2, .binary = numeric_columns};
	Candidates				*classes[3];
	const bool				*binary[3] = {mixed_columns, numeric_columns, mixed_columns};
	static const char *const names[] = {"stumps", "rectangles", "halfspaces"};

	classes[0] = candidates_build(CLASS_STUMPS, &mixed, 9, 2);
	classes[1] = candidates_build(CLASS_RECTANGLES, &square, 5, 2);
	classes[2] = halfspaces_build(&mixed, 200, 2);
	for (int i = 0; i < 3; i++)
	{
		double worst = 0;

		for (int trial = 0; trial < 200; trial++)
			worst = Max(worst, random_range(classes[i], binary[i], 1));
		ok(worst <= 1 + ROUNDING && worst > 0.9, "%s: worst loss %g of 200 pairs", names[i], worst);
	}
}

/* ---------- accuracy ---------- */

static void
test_plan(void)
{
	bool right = true;

	for (int i = 0; i < 1000; i++)
	{
		CoverPlan plan = {exp(8 * uniform() - 5), exp(-6 * uniform()), 0.5 * uniform() + 1e-6,
						  i % 2};
		double	  candidates = exp(12 * uniform()) + 1;
		double	  units = cover_units_for(&plan, candidates);

		right = right && cover_log_limit(&plan, units) >= log(candidates) &&
				cover_log_limit(&plan, units - 3) < log(candidates);
	}
	ok(right, "the number of units that a hint names is the least that will do");
	for (int realizable = 0; realizable < 2; realizable++)
	{
		CoverPlan plan = {0.5, 0.1, 0.05, realizable};
		double	  log_count = 10 * log(16 / 0.1);
		double	  sampling = (log_count + log(4 / 0.05)) * (realizable ? 32 / 0.1 : 8 / 0.01);
		double	  privacy = (log_count + log(2 / 0.05)) * 8 / (0.5 * 0.1);
		double	  units = cover_units_for_dimension(&plan, 10);

		ok(units >= Max(sampling, privacy) && units <= Max(sampling, privacy) + 3,
		   "ten dimensions, realizable or not (%d): %.0f units", realizable, units);
	}
}

/*
 * One in ten labels is wrong, evenly: the law of the draw is known exactly.
 * It keeps the promise, and what it loses falls as one over n.
 */
static void
test_accuracy(void)
{
	double before = 1;

	for (int n = 2000; n <= 200000; n *= 10)
	{
		Reference	 reference = {.width = 1, .binary = numeric_columns};
		CoverPlan	 plan = {.epsilon = 0.5, .beta = 0.05};
		Candidates	*candidates;
		ErrorCounts *counts;
		int64		*errors;
		double		*p;
		double		 best = 1;
		double		 lost = 0;
		double		 broken = 0;
		int			 resolution;

		for (plan.accuracy = 0.01;; plan.accuracy *= 1.01)
		{
			resolution = candidates_resolution_within(CLASS_THRESHOLDS, 1, plan.accuracy / 4);
			if (log(2 * candidates_shapes(CLASS_THRESHOLDS, &reference, resolution)) <=
				cover_log_limit(&plan, n))
				break;
		}
		candidates = candidates_build(CLASS_THRESHOLDS, &reference, resolution, 2);
		counts = errors_create(candidates);
		for (int i = 0; i < n; i++)
		{
			double x = (i + 0.5) / n;

			errors_add(counts, &x, (x >= 0.37) != (i % 10 == 0), ERROR_ONE);
		}
		errors = errors_finish(counts);
		p = palloc(candidates->count * sizeof(double));
		cover_distribution(units_of(plan.epsilon), candidates->count, errors, p);
		for (int64 c = 0; c < candidates->count; c++)
			best = Min(best, (double) errors[c] / ERROR_ONE / n);
		for (int64 c = 0; c < candidates->count; c++)
		{
			double error = (double) errors[c] / ERROR_ONE / n;

			lost += p[c] * (error - best);
			if (error > 0.1 + plan.accuracy)
				broken += p[c];
		}
		ok(broken <= plan.beta, "%d units: within %.3f of the best with probability 1 - %g", n,
		   plan.accuracy, broken);
		ok(lost < 2 * (log(candidates->count) + 1) / (plan.epsilon * n) && lost < before,
		   "and the draw loses %g on average", lost);
		before = lost;
	}
}

/* ---------- the draw ---------- */

static int64 some_errors[12];

static int64
draw_one(const void *epsilon)
{
	trials_left = 1;
	return cover_draw(*(const EpsilonUnits *) epsilon, lengthof(some_errors), some_errors);
}

static void
test_draw(void)
{
	static const double epsilons[] = {0.001, 0.5, 3};

	for (int i = 0; i < lengthof(some_errors); i++)
		some_errors[i] = 7 * ERROR_ONE + (int64) (uniform() * 3 * ERROR_ONE);
	for (int i = 0; i < lengthof(epsilons); i++)
	{
		EpsilonUnits epsilon = units_of(epsilons[i]);
		double		 probability[lengthof(some_errors)];
		Enumeration	 enumeration;
		bool		 same = true;

		cover_distribution(epsilon, lengthof(some_errors), some_errors, probability);
		enumerate(draw_one, &epsilon, 1e-12, &enumeration);
		for (int o = 0; o < lengthof(some_errors); o++)
			same = same && agrees(&enumeration, o, probability[o]);
		ok(same, "epsilon %g: drawn as distributed", epsilons[i]);
	}
}

int
main(void)
{
	test_errors();
	test_finite_errors(2);
	test_finite_errors(4);
	test_covers();
	test_privacy();
	test_random_neighbours();
	test_plan();
	test_accuracy();
	test_draw();
	test_radius();
	return done();
}
