/*
 * test_stable.c
 *		stable_flip: its formula holds for all small tables and all their
 *		neighbours, its draw is exact, its hypotheses are all labelings once, and
 *		the checks reject it without the flip, with too large a sample, with
 *		too sharp a draw, with too many rows of a unit.
 *
 * sources: src/mechanism/hypotheses.c src/mechanism/columns.c src/mechanism/plane.c
 * sources: src/mechanism/space.c src/mechanism/flats.c src/mechanism/boxes.c src/mechanism/points.c
 * sources: src/mechanism/sort.c src/mechanism/stable/draw.c
 * sources: src/mechanism/solve.c src/draw/rng.c src/draw/bernoulli.c
 */
#include "postgres.h"

#include "mechanism/flats.h"
#include "mechanism/solve.h"
#include "small_tables.h"

#define ROUNDING 1e-9

static const char *const class_name[] = {
	"stumps", "intervals", "halfspaces", "halfspaces in space", "rectangles", "points"};

static const double line[4][SMALL_WIDTH] = {{0.2, 0}, {0.4, 0}, {0.6, 0}, {0.8, 0}};
static const double square[4][SMALL_WIDTH] = {
	{0.25, 0.25}, {0.25, 0.75}, {0.75, 0.25}, {0.75, 0.75}};

static const double cube[4][SMALL_WIDTH] = {
	{0.25, 0.25, 0.25}, {0.25, 0.75, 0.5}, {0.75, 0.25, 0.5}, {0.75, 0.75, 0.75}};
static const double three[3][SMALL_WIDTH] = {{SMALL_POINT(0)}, {SMALL_POINT(1)}, {SMALL_POINT(2)}};

/* One row a unit: each point with each label. */
static const UnitKind single[8] = {{1, {0}}, {1, {1}}, {1, {2}}, {1, {3}},
								   {1, {4}}, {1, {5}}, {1, {6}}, {1, {7}}};

/* Up to four rows on two points. */
static const UnitKind several[] = {
	{1, {0}},		   {1, {1}},		  {1, {2}},			 {1, {3}},			{2, {0, 3}},
	{2, {1, 2}},	   {4, {0, 0, 0, 0}}, {4, {1, 1, 1, 1}}, {4, {2, 2, 2, 2}}, {4, {3, 3, 3, 3}},
	{4, {0, 1, 2, 3}}, {4, {0, 0, 3, 3}}, {4, {1, 1, 2, 2}}};

static const Domain on_line = {1, 4, line, 8, single};
static const Domain on_square = {2, 4, square, 8, single};
static const Domain in_cube = {3, 4, cube, 8, single};
static const Domain on_points = {1, 3, three, 6, single};
static const Domain with_units = {1, 2, line, lengthof(several), several};

static StableParameters
solved(double epsilon, double alpha)
{
	StableParameters parameters = {.alpha = share_from_double(alpha)};

	if (!stable_flip_solve(units_of(epsilon), false, false, &parameters))
		abort();
	return parameters;
}

/* ---------- all small tables ---------- */

static double
given_sample(StableSampler *sampler, const void *argument, const double *x)
{
	return stable_probability(sampler, x);
}

/* The least number of a table with the same units in any places. */
static int64
same_units(const Domain *domain, int n, int64 number)
{
	int	  kind[SMALL_UNITS];
	int64 result = 0;

	table_digits(domain, n, number, kind);
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && kind[j] > kind[j - 1]; j--)
		{
			int other = kind[j - 1];

			kind[j - 1] = kind[j];
			kind[j] = other;
		}
	for (int i = n - 1; i >= 0; i--)
		result = result * (domain->nkinds + 1) + kind[i] + 1;
	return result;
}

/* Pr[1] before the flip, for every table and point. */
static double *
all_probabilities(HypothesisClass class, const Domain *domain, int n, Share q, EpsilonUnits e,
				  int rows_per_unit)
{
	int64	count = count_tables(domain, n);
	double *p = malloc(sizeof(double) * count * domain->npoints);

	for (int64 i = 0; i < count; i++)
	{
		int			   kind[SMALL_UNITS];
		SmallTable	   table;
		StableSampler *sampler;
		int64		   same = same_units(domain, n, i);

		if (same < i)
		{
			memcpy(p + i * domain->npoints, p + same * domain->npoints,
				   sizeof(double) * domain->npoints);
			continue;
		}
		table_digits(domain, n, i, kind);
		fill_table(domain, n, kind, &table);
		sampler = stable_sampler_create(prepared_space(class, &table.units), &table.units, q, e,
										(uint64) 2 * rows_per_unit * EPSILON_UNITS_PER_ONE);
		for (int j = 0; j < domain->npoints; j++)
			p[i * domain->npoints + j] = mean_over_samples(sampler, share_to_double(q),
														   given_sample, NULL, domain->point[j]);
		arena_reset();
	}
	return p;
}

static double
loss(HypothesisClass class, const Domain *domain, int n, const StableParameters *parameters,
	 int rows_per_unit, double alpha)
{
	double *p = all_probabilities(class, domain, n, parameters->q, parameters->e, rows_per_unit);
	double	result = largest_loss(domain, n, p, alpha);

	free(p);
	return result;
}

static void
test_small_tables(HypothesisClass class, const Domain *domain, int n, int rows_per_unit,
				  double epsilon, double alpha)
{
	StableParameters parameters = solved(epsilon, alpha);
	StableParameters mutant = parameters;
	double			 claimed = real(stable_flip_epsilon(&parameters));
	double			 found =
		loss(class, domain, n, &parameters, rows_per_unit, share_to_double(parameters.alpha));
	const char *name = class_name[class];
	int			times;

	ok(found <= claimed + ROUNDING,
	   "%s, %d rows a unit, epsilon %g, alpha %g: all tables of %d units lose at most %.6f "
	   "(found %.6f)",
	   name, rows_per_unit, epsilon, alpha, n, claimed, found);
	found =
		loss(class, domain, n, &parameters, rows_per_unit, share_to_double(parameters.alpha) / 10);
	ok(found > claimed, "%s: caught with a tenth of the flips (%.3f)", name, found);
	/* Boxes around so few points lose less than is claimed. */
	times = class == HYPOTHESES_RECTANGLE ? 3 : 2;
	mutant.q = times * parameters.q;
	found = loss(class, domain, n, &mutant, rows_per_unit, share_to_double(parameters.alpha));
	ok(found > claimed, "%s: caught with %d times the sample (%.3f)", name, times, found);
	if (rows_per_unit == 1)
		return;
	found = loss(class, domain, n, &parameters, 1, share_to_double(parameters.alpha));
	ok(found > claimed, "%s: caught counting %d rows of a unit as if of as many units (%.3f)", name,
	   rows_per_unit, found);
}

/*
 * Given a sample without the unit, changing the unit moves the odds of an answer
 * by e^e at most, and by as much if all its rows are at the question.
 */
static void
test_odds(HypothesisClass class, const Domain *domain, int rows_per_unit, double e)
{
	int	   n = 3;
	double most = 0;

	for (int64 i = 0; i < count_tables(domain, n); i++)
	{
		int kind[SMALL_UNITS];
		int first;

		table_digits(domain, n, i, kind);
		if (kind[0] < 0 || kind[1] < 0 || kind[2] < 0)
			continue;
		for (first = 0; first < domain->nkinds; first++)
		{
			int			   changed[3] = {first, kind[1], kind[2]};
			SmallTable	   tables[2];
			StableSampler *samplers[2];

			fill_table(domain, n, kind, &tables[0]);
			fill_table(domain, n, changed, &tables[1]);
			for (int j = 0; j < 2; j++)
				samplers[j] = stable_sampler_create(
					prepared_space(class, &tables[j].units), &tables[j].units, 1, units_of(e),
					(uint64) 2 * rows_per_unit * EPSILON_UNITS_PER_ONE);
			for (uint64 chosen = 0; chosen < 8; chosen += 2)
			{
				for (int j = 0; j < domain->npoints; j++)
				{
					double p[2];

					for (int k = 0; k < 2; k++)
					{
						stable_choose_these(samplers[k], &chosen);
						p[k] = stable_probability(samplers[k], domain->point[j]);
					}
					if (p[0] > 0 && p[0] < 1)
						most = Max(most, fabs(log(p[0] / (1 - p[0]) / (p[1] / (1 - p[1])))));
				}
			}
			arena_reset();
		}
	}
	ok(fabs(most - e) < ROUNDING, "%s, %d rows a unit, e %g: one unit moves odds by e^%.6f at most",
	   class_name[class], rows_per_unit, e, most);
}

/* ---------- hypotheses ---------- */

#define MANY 40

typedef struct ManyRows
{
	LabelledUnits units;
	int32		  first_row[MANY + 1];
	uint8		  label[MANY];
	double		  x[SMALL_WIDTH * MANY];
} ManyRows;

/* Values on a coarse grid, so that ties and lines of many points are common; 0: points, or none. */
static void
random_rows(ManyRows *rows, int n, int width, int grid, int rows_per_unit)
{
	memset(rows, 0, sizeof(ManyRows));
	rows->units.width = width;
	rows->units.nrows = n;
	for (int i = 0; i < n; i++)
	{
		rows->label[i] = (uint8) sample_uniform(2);
		for (int j = 0; j < width; j++)
			rows->x[i * width + j] =
				grid > 0 ? (double) sample_uniform(grid) / grid : SMALL_POINT(sample_uniform(4));
		if (i % rows_per_unit == rows_per_unit - 1 || i == n - 1)
			rows->first_row[++rows->units.nunits] = i + 1;
	}
	rows->units.first_row = rows->first_row;
	rows->units.label = rows->label;
	rows->units.x = rows->x;
}

/* The labels of T's rows as bits, of rows in order. */
static uint64
labeling(const Hypothesis *hypothesis, const LabelledUnits *units, uint64 chosen)
{
	uint64 result = 0;
	int	   bit = 0;

	FOR_CHOSEN_ROWS(row, units, &chosen)
	{
		if (hypothesis_says(hypothesis, units->x + (Size) row * units->width))
			result |= UINT64CONST(1) << bit;
		bit++;
	}
	return result;
}

#define MAX_LISTED 20000

static uint64	  listed[MAX_LISTED];
static Hypothesis listed_hypothesis[MAX_LISTED];
static int		  nlisted;

/* Lists H_T, with stumps of one feature only; false if an error count is wrong. */
static bool
list_hypotheses(HypothesisSpace *space, const LabelledUnits *units, uint64 chosen, int only_block)
{
	int32 *errors = palloc(sizeof(int32) * hypotheses_block_size(space));
	int	   blocks;
	bool   right = true;

	hypotheses_choose(space, &chosen);
	blocks = hypotheses_blocks(space);
	right = blocks <= hypotheses_max_blocks(space);
	nlisted = 0;
	for (int block = 0; block < blocks; block++)
	{
		int32 count = hypotheses_errors(space, block, errors);

		right = right && count <= hypotheses_block_size(space);
		for (int32 i = 0; i < count; i++)
		{
			Hypothesis hypothesis = hypotheses_get(space, block, i);
			int32	   wrong = 0;

			for (int32 row = 0; row < units->nrows; row++)
				wrong += hypothesis_says(&hypothesis, units->x + (Size) row * units->width) !=
						 units->label[row];
			right = right && wrong == errors[i];
			if (only_block >= 0 && block != only_block)
				continue;
			listed_hypothesis[nlisted] = hypothesis;
			listed[nlisted++] = labeling(&hypothesis, units, chosen);
		}
	}
	return right;
}

static bool
is_listed(uint64 labels)
{
	for (int i = 0; i < nlisted; i++)
		if (listed[i] == labels)
			return true;
	return false;
}

static bool
listed_twice(void)
{
	for (int i = 0; i < nlisted; i++)
		for (int j = 0; j < i; j++)
			if (listed[i] == listed[j])
				return true;
	return false;
}

/* A hypothesis of the class, anywhere. */
static Hypothesis
random_hypothesis(HypothesisClass class, int width, int feature)
{
	Hypothesis result = {.class = class};
	double	   a = sample_uniform(1000) / 1000.0;
	double	   b = sample_uniform(1000) / 1000.0;

	if (class == HYPOTHESES_HALFSPACE)
	{
		result.u.halfspace.x = sample_uniform((uint64) PLANE_GRID);
		result.u.halfspace.y = sample_uniform((uint64) PLANE_GRID);
		result.u.halfspace.dx = (int64) sample_uniform(2001) - 1000;
		result.u.halfspace.dy = (int64) sample_uniform(2001) - 1000;
		return result;
	}
	if (class == HYPOTHESES_SPACE)
	{
		result.u.space.width = width;
		for (int i = 0; i < width; i++)
		{
			result.u.space.base[i] = sample_uniform(flats_grid(width));
			result.u.space.normal[0][i] = (int64) sample_uniform(21) - 10;
		}
		result.u.space.says = (uint8) sample_uniform(2 << width);
		return result;
	}
	if (class == HYPOTHESES_RECTANGLE)
	{
		result.u.box.sides = width;
		for (int i = 0; i < width; i++)
		{
			result.u.box.low[i] = sample_uniform(1000) / 1000.0;
			result.u.box.high[i] = sample_uniform(1000) / 1000.0;
		}
		result.u.box.inside = sample_uniform(2);
		return result;
	}
	if (class == HYPOTHESES_FINITE)
	{
		result.u.point.finite = small_class();
		result.u.point.number = (int) sample_uniform(5);
		return result;
	}
	result.u.interval.feature = feature;
	result.u.interval.low = Min(a, b);
	result.u.interval.high = class == HYPOTHESES_STUMP ? INFINITY : Max(a, b);
	result.u.interval.inside = sample_uniform(2);
	return result;
}

static void
test_hypotheses(HypothesisClass class, int width, int rows_per_unit)
{
	bool counts = true;
	bool once = true;
	bool complete = true;

	for (int round = 0; round < 200; round++)
	{
		ManyRows		 rows;
		HypothesisSpace *space;
		uint64			 chosen;
		int				 feature = (int) sample_uniform(width);
		int				 only = class == HYPOTHESES_STUMP ? feature : -1;

		random_rows(&rows, (int) sample_uniform(17), width,
					class == HYPOTHESES_FINITE ? 0 : 2 + (int) sample_uniform(8), rows_per_unit);
		chosen = sample_uint64() & ((UINT64CONST(1) << rows.units.nunits) - 1);
		space = prepared_space(class, &rows.units);
		counts = list_hypotheses(space, &rows.units, chosen, only) && counts;
		once = once && (class == HYPOTHESES_RECTANGLE || !listed_twice());
		for (int i = 0; i < 200; i++)
		{
			Hypothesis other = random_hypothesis(class, width, feature);

			complete = complete && is_listed(labeling(&other, &rows.units, chosen));
		}
		arena_reset();
	}
	ok(counts, "%s, %d rows a unit: errors are counted over all rows", class_name[class],
	   rows_per_unit);
	ok(once, "%s: no labeling twice", class_name[class]);
	ok(complete, "%s: every labeling that the class has", class_name[class]);
}

/* Halfspaces label n points of which no three are in line in n^2 - n + 2 ways. */
static void
test_general_position(void)
{
	ManyRows rows;

	random_rows(&rows, 20, 2, 1000003, 1);
	list_hypotheses(prepared_space(HYPOTHESES_HALFSPACE, &rows.units), &rows.units,
					(UINT64CONST(1) << 20) - 1, -1);
	ok(nlisted == 20 * 20 - 20 + 2, "20 points anywhere: %d halfspaces", nlisted);
	arena_reset();
}

/* Do they say the same everywhere, as far as some places tell? */
static bool
same_hypothesis(const Hypothesis *a, const Hypothesis *b)
{
	for (int i = 0; i < 30; i++)
	{
		double x[2] = {i / 29.0, 0};

		if (a->class == HYPOTHESES_FINITE)
			return a->u.point.number == b->u.point.number;
		for (int j = 0; j < 30; j++)
		{
			x[1] = j / 29.0;
			if (hypothesis_says(a, x) != hypothesis_says(b, x))
				return false;
		}
	}
	return true;
}

/* H without a unit is part of H with it. */
static void
test_nested(HypothesisClass class, int width)
{
	bool nested = true;

	for (int round = 0; round < 30; round++)
	{
		ManyRows		 rows;
		HypothesisSpace *space;
		uint64			 chosen;
		Hypothesis		*smaller = malloc(sizeof(listed_hypothesis));
		int				 nsmaller;

		random_rows(&rows, 20, width, class == HYPOTHESES_FINITE ? 0 : 10, 2);
		chosen = sample_uint64() & sample_uint64() & 0x3ff & ~UINT64CONST(8);
		space = prepared_space(class, &rows.units);
		list_hypotheses(space, &rows.units, chosen, -1);
		nsmaller = nlisted;
		memcpy(smaller, listed_hypothesis, sizeof(listed_hypothesis));
		list_hypotheses(space, &rows.units, chosen | 8, -1);
		for (int i = 0; i < nsmaller; i++)
		{
			bool found = false;

			for (int j = 0; j < nlisted && !found; j++)
				found = same_hypothesis(&smaller[i], &listed_hypothesis[j]);
			nested = nested && found;
		}
		free(smaller);
		arena_reset();
	}
	ok(nested, "%s without a unit are among those with it", class_name[class]);
}

/* ---------- the draw ---------- */

static void
test_draw(HypothesisClass class, int width, double e)
{
	ManyRows	   rows;
	StableSampler *sampler;
	double		   x[3][3] = {{0.3, 0.6, 0.1}, {0.5, 0.1, 0.7}, {0.9, 0.8, 0.5}};
	int64		   says[3] = {0};
	int64		   draws = 50000;

	random_rows(&rows, 10, width, class == HYPOTHESES_FINITE ? 0 : 7, 1);
	for (int j = 0; j < 3 && class == HYPOTHESES_FINITE; j++)
		x[j][0] = SMALL_POINT(j);
	sampler = stable_sampler_create(prepared_space(class, &rows.units), &rows.units,
									share_from_double(0.3), units_of(e), 2 * EPSILON_UNITS_PER_ONE);
	for (int64 i = 0; i < draws; i++)
	{
		Hypothesis drawn = stable_draw(sampler);

		for (int j = 0; j < 3; j++)
			says[j] += hypothesis_says(&drawn, x[j]);
	}
	for (int j = 0; j < 3; j++)
	{
		double exact =
			mean_over_samples(sampler, share_to_double(sampler->q), given_sample, NULL, x[j]);

		ok(plausible(says[j], draws, exact), "%s, e %g: %.4f of draws say 1, exactly %.4f",
		   class_name[class], e, (double) says[j] / draws, exact);
	}
	arena_reset();
}

/* Weights over many levels, the last included, given T. */
static void
test_levels(double e)
{
	ManyRows	   rows;
	StableSampler *sampler;
	double		   x[2] = {0.35, 0};
	int64		   says = 0;
	int64		   draws = 50000;
	uint64		   all = (UINT64CONST(1) << MANY) - 1;
	double		   exact;

	random_rows(&rows, MANY, 1, 1000, 1);
	for (int i = 0; i < MANY; i++)
		rows.label[i] = rows.x[i] > 0.35;
	sampler = stable_sampler_create(prepared_space(HYPOTHESES_STUMP, &rows.units), &rows.units,
									share_from_double(0.3), units_of(e), 2 * EPSILON_UNITS_PER_ONE);
	stable_choose_these(sampler, &all);
	exact = stable_probability(sampler, x);
	for (int64 i = 0; i < draws; i++)
	{
		Hypothesis drawn = stable_draw_chosen(sampler);

		says += hypothesis_says(&drawn, x);
	}
	ok(plausible(says, draws, exact), "e %g: %.4f of draws say 1, exactly %.4f", e,
	   (double) says / draws, exact);
	arena_reset();
}

/* An empty table says 0, and a sampler has no memory of the answer before. */
static void
test_empty(void)
{
	static const Domain *const domains[] = {&on_line, &on_line,	  &on_square,
											&in_cube, &on_square, &on_points};

	for (int i = 0; i < lengthof(domains); i++)
	{
		int		   none[1] = {-1};
		double	   x[SMALL_WIDTH] = {SMALL_POINT(1), 0.5, 0.5};
		SmallTable table;
		Hypothesis drawn;

		fill_table(domains[i], 1, none, &table);
		drawn = stable_draw(stable_sampler_create(prepared_space(i, &table.units), &table.units,
												  share_from_double(0.5), units_of(1),
												  2 * EPSILON_UNITS_PER_ONE));
		ok(!hypothesis_says(&drawn, x), "%s of no rows: 0", class_name[i]);
		arena_reset();
	}
}

/* ---------- the formula and the solver ---------- */

/* The ratio of section 5 of docs/mechanisms.md at one u. */
static double
ratio_at(const StableParameters *parameters, double u)
{
	double alpha = share_to_double(parameters->alpha);
	double q = share_to_double(parameters->q);
	double k = exp(real(parameters->e));
	double g = k * u / (1 - u + k * u);

	return (alpha + (1 - 2 * alpha) * ((1 - q) * g + q)) / (alpha + (1 - 2 * alpha) * (1 - q) * u);
}

static void
test_formula(void)
{
	bool above = true;
	bool tight = true;

	for (double alpha = 0.001; alpha < 0.49; alpha *= 1.7)
		for (double q = 0.0001; q < 1; q *= 2.1)
			for (double e = 0.0001; e < 50; e *= 2.3)
			{
				StableParameters parameters = {share_from_double(alpha), share_from_double(q),
											   units_of(e)};
				double			 claimed = real(stable_flip_epsilon(&parameters));
				double			 largest = 0;

				for (int i = 0; i <= 3000; i++)
					largest = Max(largest, log(ratio_at(&parameters, pow(i / 3000.0, 4))));
				above = above && claimed >= largest;
				tight = tight && claimed <= largest + 1e-5;
			}
	ok(above, "no u gives more than the proved epsilon");
	ok(tight, "and some u gives as much");
}

static void
test_solver(void)
{
	static const double epsilons[] = {0.01, 0.1, 0.5, 1, 2, 5, 100};
	StableParameters	book = solved(1, 0.1);

	ok(fabs(share_to_double(book.q) - 0.1875) < 0.002 && fabs(real(book.e) - 1.34) < 0.01,
	   "epsilon 1, alpha 0.1: q = %.4f, e = %.4f as documented", share_to_double(book.q),
	   real(book.e));
	for (int i = 0; i < lengthof(epsilons); i++)
	{
		StableParameters found = solved(epsilons[i], 0.1);
		double			 best = 0;

		ok(stable_flip_epsilon(&found) <= units_of(epsilons[i]), "epsilon %g: proved is %.9f",
		   epsilons[i], real(stable_flip_epsilon(&found)));
		for (int j = 1; j < 300; j++)
		{
			StableParameters other = {.alpha = found.alpha, .q = share_from_double(j / 300.0)};

			if (stable_flip_solve(units_of(epsilons[i]), true, false, &other))
				best = Max(best, share_to_double(other.q) * real(other.e));
		}
		ok(share_to_double(found.q) * real(found.e) >= best * (1 - 1e-4),
		   "epsilon %g: no q has a larger product with its e (%g)", epsilons[i], best);
	}
	for (double gamma = 0.001; gamma < 1; gamma *= 2)
	{
		StableParameters found = {0};

		stable_solve(gamma, &found);
		ok(stable_gamma(&found) <= gamma && stable_gamma(&found) > 0.7 * gamma,
		   "gamma %g: proved %.6f", gamma, stable_gamma(&found));
	}
}

/* Without the flip, one unit moves no probability by more than gamma. */
static void
test_stability(void)
{
	StableParameters parameters = {0};
	double			*p;
	double			 most = 0;
	int64			 count = count_tables(&on_line, 4);

	stable_solve(0.3, &parameters);
	p = all_probabilities(HYPOTHESES_STUMP, &on_line, 4, parameters.q, parameters.e, 1);
	for (int64 table = 0; table < count; table++)
		for (int64 other = table % 9 + 1; other < 9; other++)
			for (int i = 0; i < 4; i++)
				most = Max(most, fabs(p[table * 4 + i] - p[(table - table % 9 + other) * 4 + i]));
	ok(most <= stable_gamma(&parameters) && most > 0.3 * stable_gamma(&parameters),
	   "stable, gamma 0.3: one unit moves a probability by %.4f at most", most);
	free(p);
}

int
main(void)
{
	test_formula();
	test_solver();
	test_hypotheses(HYPOTHESES_STUMP, 1, 1);
	test_hypotheses(HYPOTHESES_STUMP, 2, 3);
	test_hypotheses(HYPOTHESES_INTERVAL, 1, 2);
	test_hypotheses(HYPOTHESES_HALFSPACE, 2, 1);
	test_hypotheses(HYPOTHESES_HALFSPACE, 2, 2);
	test_general_position();
	test_hypotheses(HYPOTHESES_SPACE, 3, 1);
	test_hypotheses(HYPOTHESES_SPACE, 4, 2);
	test_hypotheses(HYPOTHESES_RECTANGLE, 1, 1);
	test_hypotheses(HYPOTHESES_RECTANGLE, 2, 2);
	test_hypotheses(HYPOTHESES_RECTANGLE, 3, 1);
	test_hypotheses(HYPOTHESES_FINITE, 1, 2);
	test_nested(HYPOTHESES_STUMP, 1);
	test_nested(HYPOTHESES_INTERVAL, 1);
	test_nested(HYPOTHESES_HALFSPACE, 2);
	test_nested(HYPOTHESES_FINITE, 1);
	test_empty();
	test_draw(HYPOTHESES_STUMP, 1, 0.5);
	test_draw(HYPOTHESES_STUMP, 2, 2);
	test_draw(HYPOTHESES_INTERVAL, 1, 1);
	test_draw(HYPOTHESES_HALFSPACE, 2, 1);
	test_draw(HYPOTHESES_SPACE, 3, 1);
	test_draw(HYPOTHESES_RECTANGLE, 2, 1);
	test_draw(HYPOTHESES_FINITE, 1, 1);
	test_levels(0.05);
	test_levels(1);
	test_levels(7);
	test_levels(40);
	test_small_tables(HYPOTHESES_STUMP, &on_line, 4, 1, 1, 0.1);
	test_small_tables(HYPOTHESES_STUMP, &on_line, 4, 1, 0.3, 0.1);
	test_small_tables(HYPOTHESES_STUMP, &on_line, 4, 1, 2, 0.05);
	test_small_tables(HYPOTHESES_STUMP, &on_square, 4, 1, 1, 0.1);
	test_small_tables(HYPOTHESES_INTERVAL, &on_line, 4, 1, 1, 0.1);
	test_small_tables(HYPOTHESES_HALFSPACE, &on_square, 4, 1, 1, 0.1);
	test_small_tables(HYPOTHESES_STUMP, &with_units, 3, 4, 1, 0.1);
	test_small_tables(HYPOTHESES_SPACE, &in_cube, 4, 1, 1, 0.1);
	test_small_tables(HYPOTHESES_RECTANGLE, &on_square, 4, 1, 1, 0.1);
	test_small_tables(HYPOTHESES_FINITE, &on_points, 4, 1, 1, 0.1);
	small_most_points = 2;
	test_small_tables(HYPOTHESES_SPACE, &in_cube, 4, 1, 1, 0.1);
	test_small_tables(HYPOTHESES_RECTANGLE, &on_square, 4, 1, 1, 0.1);
	test_odds(HYPOTHESES_RECTANGLE, &on_square, 1, 1);
	small_most_points = 20;
	test_odds(HYPOTHESES_STUMP, &on_line, 1, 1.3);
	test_odds(HYPOTHESES_INTERVAL, &on_line, 1, 0.4);
	test_odds(HYPOTHESES_HALFSPACE, &on_square, 1, 2);
	test_odds(HYPOTHESES_SPACE, &in_cube, 1, 0.7);
	test_odds(HYPOTHESES_RECTANGLE, &on_square, 1, 1);
	test_odds(HYPOTHESES_FINITE, &on_points, 1, 1);
	test_odds(HYPOTHESES_STUMP, &with_units, 4, 1.3);
	test_stability();
	return done();
}
