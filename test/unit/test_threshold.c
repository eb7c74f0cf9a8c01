/*
 * test_threshold.c
 *		The threshold mechanism: private on every small table and all its
 *		neighbours, as accurate as claimed, and the checks catch its mutants.
 *
 * sources: src/learner/threshold_walk.c src/learner/predictor_format.c src/learner/forest.c
 * sources: src/mechanism/threshold/draw.c src/draw/rng.c src/draw/bernoulli.c
 */
#include "c.h"

#include <math.h>

#include "learner/predictor_format.h"
#include "mechanism/threshold/draw.h"
#include "unit.h"

#define ROUNDING 1e-12

static const char *const link_names[] = {"Laplace", "logistic"};

/* Marsaglia's xorshift: the same tables every time. */
static uint64 state = UINT64CONST(88172645463325252);

static uint64
next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int
random_below(int n)
{
	return (int) ((next_random() >> 33) % n);
}

static double
random_fraction(void)
{
	return (double) (next_random() >> 11) / (UINT64CONST(1) << 53);
}

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

static int
compare(const void *a, const void *b)
{
	return walk_row_compare(a, b);
}

static void
sort(WalkRow *rows, int64 nrows)
{
	qsort(rows, nrows, sizeof(WalkRow), compare);
}

/* Where the walk stands at x by its definition: row by row, but rows at one x together. */
static int32
simulated(const WalkRow *sorted, int64 nrows, int32 limit, double x)
{
	int64 t = 0;

	for (int64 i = 0; i < nrows && sorted[i].x <= x; i++)
	{
		t += sorted[i].label ? 1 : -1;
		if (i + 1 == nrows || sorted[i + 1].x != sorted[i].x)
			t = Min(Max(t, -(int64) limit), limit);
	}
	return (int32) t;
}

/* A stored walk against the definition, at every point and between. */
static bool
stored_walk_agrees(void)
{
	WalkRow		   rows[60];
	int			   nrows = random_below(61);
	int			   spread = 1 + random_below(30);
	int32		   limit[WALK_LINKS] = {1 + random_below(6), 1 + random_below(12)};
	int64		   points;
	int64		   capacity;
	unsigned char *body;
	double		   x[60];
	int32		   steps[WALK_LINKS][60];
	WalkPoints	   loaded = {.x = x, .steps = {steps[0], steps[1]}};
	bool		   agrees = true;

	for (int i = 0; i < nrows; i++)
	{
		rows[i].x = random_below(spread);
		rows[i].label = random_below(2);
	}
	sort(rows, nrows);
	points = walk_points(rows, nrows, limit);
	capacity = points + random_below(5);
	body = malloc(walk_body_size(capacity));
	walk_write(body, capacity, rows, nrows, limit);
	agrees = threshold_body_ok(body, walk_body_size(capacity)) && read_u32(body + 8) == points;
	loaded.n = points;
	for (int64 i = 0; i < points; i++)
	{
		x[i] = read_double(body + threshold_x(i));
		for (int link = 0; link < WALK_LINKS; link++)
			steps[link][i] = (int32) read_u32(body + threshold_steps(capacity, link, i));
	}
	for (double at = -1; at <= spread; at += 0.5)
		for (int link = 0; link < WALK_LINKS; link++)
			agrees =
				agrees && walk_at(&loaded, link, at) == simulated(rows, nrows, limit[link], at);
	free(body);
	return agrees;
}

/* Every single byte that is changed to something invalid must be noticed, or harmless. */
static bool
damage_is_noticed(void)
{
	WalkRow		   rows[3] = {{0.25, 1}, {0.5, 0}, {0.5, 0}};
	int32		   limit[WALK_LINKS] = {5, 6};
	Size		   size = walk_body_size(4);
	unsigned char *body = malloc(size);
	bool		   noticed;

	walk_write(body, 4, rows, 3, limit);
	noticed = threshold_body_ok(body, size) && !threshold_body_ok(body, size - 1) &&
			  !threshold_body_ok(body, 8);
	write_u32(body + threshold_steps(4, WALK_LOGISTIC, 1), 7); /* beyond the limit */
	noticed = noticed && !threshold_body_ok(body, size);
	walk_write(body, 4, rows, 3, limit);
	write_double(body + threshold_x(1), 0.25); /* not increasing */
	noticed = noticed && !threshold_body_ok(body, size);
	walk_write(body, 4, rows, 3, limit);
	write_double(body + threshold_x(0), NAN);
	noticed = noticed && !threshold_body_ok(body, size);
	walk_write(body, 4, rows, 3, limit);
	write_u32(body + 8, 5); /* more points than room */
	noticed = noticed && !threshold_body_ok(body, size);
	walk_write(body, 4, rows, 3, limit);
	body[threshold_x(3)] = 1; /* something in unused room */
	noticed = noticed && !threshold_body_ok(body, size);
	walk_write(body, 4, rows, 3, limit);
	write_u32(body, 0); /* no limit */
	noticed = noticed && !threshold_body_ok(body, size);
	free(body);
	return noticed;
}

static void
test_walk(void)
{
	int	  wrong = 0;
	int32 limit[WALK_LINKS];

	for (int i = 0; i < 5000; i++)
		wrong += !stored_walk_agrees();
	ok(wrong == 0, "stored walks stand where the definition says");
	ok(damage_is_noticed(), "damage is noticed");
	walk_limits(0.05, 0.05, limit);
	ok(limit[WALK_LAPLACE] == 60 && limit[WALK_LOGISTIC] == 74, "limits are rounded up");
	walk_limits(WALK_MIN_ALPHA, 1e-19, limit);
	ok(limit[WALK_LAPLACE] == PG_INT32_MAX, "limits do not overflow");
}

/* ---------- privacy, exactly ---------- */

#define POINTS 4
#define KINDS (2 * POINTS) /* of a row: x and label */
#define MOST_ROWS 6

typedef struct Table
{
	int n;
	int kind[MOST_ROWS];
} Table;

/* The next multiset of at most so many rows; false after the last. */
static bool
next_table(Table *table, int most)
{
	int i = table->n - 1;

	while (i >= 0 && table->kind[i] == KINDS - 1)
		i--;
	if (i < 0)
	{
		if (++table->n > most)
			return false;
		memset(table->kind, 0, sizeof(table->kind));
		return true;
	}
	table->kind[i]++;
	for (int j = i + 1; j < table->n; j++)
		table->kind[j] = table->kind[i];
	return true;
}

/* Where the walks stand at each point, and below all of them. */
typedef struct Stand
{
	int32 steps[WALK_LINKS][POINTS + 1];
} Stand;

static Stand
stand_of(const Table *table, const int32 *limit)
{
	WalkRow rows[MOST_ROWS];
	Walk	walk;
	Stand	stand = {0};

	for (int i = 0; i < table->n; i++)
	{
		rows[i].x = 1 + table->kind[i] / 2;
		rows[i].label = table->kind[i] % 2;
	}
	sort(rows, table->n);
	walk_start(&walk, rows, table->n, limit);
	while (walk_next(&walk))
		for (int x = (int) walk.x; x <= POINTS; x++)
			for (int link = 0; link < WALK_LINKS; link++)
				stand.steps[link][x] = walk.steps[link];
	return stand;
}

/* The largest loss seen, of an answer and of its odds, as epsilon. */
typedef struct Loss
{
	double pure[WALK_LINKS];
	double range[WALK_LINKS];
	int64  pairs;
} Loss;

static void
compare_stands(const Stand *a, const Stand *b, const ThresholdStep *step, Loss *loss)
{
	loss->pairs++;
	for (int link = 0; link < WALK_LINKS; link++)
		for (int x = 0; x <= POINTS; x++)
		{
			int32  sa = a->steps[link][x];
			int32  sb = b->steps[link][x];
			double yes;
			double no;

			if (sa == sb)
				continue;
			yes =
				log(threshold_probability(link, step, sa) / threshold_probability(link, step, sb));
			/* both links are symmetric, and small numbers keep their digits */
			no = log(threshold_probability(link, step, -sa) /
					 threshold_probability(link, step, -sb));
			loss->pure[link] = Max(loss->pure[link], Max(fabs(yes), fabs(no)));
			loss->range[link] = Max(loss->range[link], fabs(yes - no));
		}
}

/* One row in each unit: a row changed in any way, removed or added. */
static Loss
rows_and_neighbours(const ThresholdStep *step, const int32 *limit)
{
	Table table = {0};
	Loss  loss = {0};

	do
	{
		Stand stand = stand_of(&table, limit);
		Table neighbour;
		Stand other;

		for (int i = 0; i < table.n; i++)
		{
			for (int kind = 0; kind < KINDS; kind++)
			{
				neighbour = table;
				neighbour.kind[i] = kind;
				other = stand_of(&neighbour, limit);
				compare_stands(&stand, &other, step, &loss);
			}
			neighbour = table;
			neighbour.kind[i] = neighbour.kind[--neighbour.n];
			other = stand_of(&neighbour, limit);
			compare_stands(&stand, &other, step, &loss);
		}
		for (int kind = 0; kind < KINDS; kind++)
		{
			neighbour = table;
			neighbour.kind[neighbour.n++] = kind;
			other = stand_of(&neighbour, limit);
			compare_stands(&stand, &other, step, &loss);
		}
	} while (next_table(&table, 4));
	return loss;
}

/* One unit of at most two rows becomes any other, among two rows of others. */
static Loss
units_and_neighbours(const ThresholdStep *step, const int32 *limit)
{
	Table others = {0};
	Loss  loss = {0};

	do
	{
		Stand stands[45];
		int	  nstands = 0;
		Table unit = {0};

		do
		{
			Table table = others;

			for (int i = 0; i < unit.n; i++)
				table.kind[table.n++] = unit.kind[i];
			stands[nstands++] = stand_of(&table, limit);
		} while (next_table(&unit, 2));
		for (int i = 0; i < nstands; i++)
			for (int j = 0; j < i; j++)
				compare_stands(&stands[i], &stands[j], step, &loss);
	} while (next_table(&others, 3));
	return loss;
}

typedef Loss (*Neighbours)(const ThresholdStep *step, const int32 *limit);

static void
test_privacy_of(Neighbours neighbours, int rows, double epsilon, double alpha)
{
	ThresholdStep step = {.epsilon = units_of(epsilon), .rows = rows};
	ThresholdStep twice = {.epsilon = units_of(2 * epsilon), .rows = rows};
	ThresholdStep one_row = {.epsilon = units_of(epsilon), .rows = 1};
	int32		  limit[WALK_LINKS];
	Loss		  loss;
	Loss		  mutant;

	walk_limits(alpha, threshold_step_size(&step), limit);
	loss = neighbours(&step, limit);
	ok(loss.pure[WALK_LAPLACE] <= epsilon + ROUNDING &&
		   loss.range[WALK_LOGISTIC] <= epsilon + ROUNDING &&
		   loss.pure[WALK_LOGISTIC] <= epsilon + ROUNDING,
	   "epsilon %g, alpha %g, %d rows a unit: private in all " INT64_FORMAT
	   " pairs (limits %d, %d)",
	   epsilon, alpha, rows, loss.pairs, limit[0], limit[1]);
	/* From -2R steps to 0; a limit that is nearer leaves something over. */
	if (limit[WALK_LAPLACE] < 2 * rows)
		return;
	ok(loss.pure[WALK_LAPLACE] >= epsilon - 1e-9 && loss.range[WALK_LOGISTIC] >= epsilon - 1e-9,
	   "and attained");
	/* Why the two links are charged differently. */
	ok(loss.range[WALK_LAPLACE] > epsilon + 1e-9, "the Laplace link is not of bounded range");

	mutant = neighbours(&twice, limit);
	ok(mutant.pure[WALK_LAPLACE] > epsilon + 1e-9 && mutant.range[WALK_LOGISTIC] > epsilon + 1e-9,
	   "caught: a step of epsilon");
	if (rows > 1)
	{
		mutant = neighbours(&one_row, limit);
		ok(mutant.pure[WALK_LAPLACE] > epsilon + 1e-9 &&
			   mutant.range[WALK_LOGISTIC] > epsilon + 1e-9,
		   "caught: steps as if a unit were a row");
	}
}

static void
test_privacy(void)
{
	static const double epsilons[] = {0.1, 0.5, 1, 3};
	static const double alphas[] = {0.5, 0.05};

	for (int i = 0; i < lengthof(epsilons); i++)
		for (int j = 0; j < lengthof(alphas); j++)
		{
			test_privacy_of(rows_and_neighbours, 1, epsilons[i], alphas[j]);
			test_privacy_of(units_and_neighbours, 2, epsilons[i], alphas[j]);
		}
}

/* ---------- the draw ---------- */

static void
test_draw(void)
{
	static const int32 stands[] = {-40, -5, -1, 0, 1, 2, 7, -PG_INT32_MAX};
	static const int   rows[] = {1, 3, PG_INT32_MAX};
	const int		   draws = 50000;

	for (int link = 0; link < WALK_LINKS; link++)
		for (int r = 0; r < lengthof(rows); r++)
			for (int i = 0; i < lengthof(stands); i++)
			{
				ThresholdStep step = {.epsilon = units_of(0.5), .rows = rows[r]};
				int64		  yes = 0;

				for (int j = 0; j < draws; j++)
					yes += threshold_draw(link, &step, stands[i]);
				ok(plausible(yes, draws, threshold_probability(link, &step, stands[i])),
				   "%s link, %d rows a unit, %d steps: class 1 in " INT64_FORMAT " of %d draws",
				   link_names[link], rows[r], stands[i], yes, draws);
			}
}

/* ---------- accuracy ---------- */

/*
 * Each time the truth switches, a walk at one limit needs 2 limit steps to the
 * other, and errs limit times in all, since the links are symmetric; it errs at
 * most 1/step times after it starts; and at its limit with probability
 * exp(-L)/2 (Laplace) or less than exp(-L) (logistic), which is alpha/2.  So on n
 * rows without noise the mean error is at most
 *		alpha/2 + (switches L + 1) / (step n),
 * and on fresh points exp(epsilon) times that.
 */
static double
error_bound(double epsilon, double alpha, int switches, int n, WalkLink link)
{
	ThresholdStep step = {.epsilon = units_of(epsilon), .rows = 1};
	double		  size = threshold_step_size(&step);
	int32		  limit[WALK_LINKS];

	walk_limits(alpha, size, limit);
	return exp(epsilon) * (exp(-limit[link] * size) / (link == WALK_LAPLACE ? 2 : 1) +
						   (switches * limit[link] * size + 1) / (size * n));
}

static int
truth(const double *switches, int nswitches, double x)
{
	int label = 0;

	for (int i = 0; i < nswitches; i++)
		label ^= x >= switches[i];
	return label;
}

/* The error on uniform x of a walk that stands there from one x to another. */
static double
error_between(double from, double to, double yes, const double *switches, int nswitches)
{
	double error = 0;

	for (int i = 0; i <= nswitches; i++)
	{
		double low = Max(from, i == 0 ? 0 : switches[i - 1]);
		double high = Min(to, i == nswitches ? 1 : switches[i]);

		if (low < high)
			error += (high - low) * (i % 2 == 1 ? 1 - yes : yes);
	}
	return error;
}

/* The exact expected error of one table, for both links. */
static void
add_error(const WalkRow *rows, int n, const ThresholdStep *step, const int32 *limit,
		  const double *switches, int nswitches, double *error)
{
	Walk   walk;
	double from = 0;
	double yes[WALK_LINKS] = {0.5, 0.5};
	bool   more = true;

	walk_start(&walk, rows, n, limit);
	while (more)
	{
		more = walk_next(&walk);
		for (int link = 0; link < WALK_LINKS; link++)
		{
			error[link] += error_between(from, more ? walk.x : 1, yes[link], switches, nswitches);
			yes[link] = threshold_probability(link, step, walk.steps[link]);
		}
		from = walk.x;
	}
}

static void
mean_error(double epsilon, const int32 *limit, int tables, int n, const double *switches,
		   int nswitches, double *error)
{
	ThresholdStep step = {.epsilon = units_of(epsilon), .rows = 1};
	WalkRow		 *rows = malloc(n * sizeof(WalkRow));

	error[WALK_LAPLACE] = error[WALK_LOGISTIC] = 0;
	for (int table = 0; table < tables; table++)
	{
		for (int i = 0; i < n; i++)
		{
			rows[i].x = random_fraction();
			rows[i].label = truth(switches, nswitches, rows[i].x);
		}
		sort(rows, n);
		add_error(rows, n, &step, limit, switches, nswitches, error);
	}
	error[WALK_LAPLACE] /= tables;
	error[WALK_LOGISTIC] /= tables;
	free(rows);
}

static void
test_accuracy_of(const char *what, const double *switches, int nswitches, int n)
{
	const double epsilon = 0.1;
	const double alpha = 0.05;
	const double claim = exp(epsilon) * alpha;
	const int32	 no_limit[WALK_LINKS] = {PG_INT32_MAX, PG_INT32_MAX};
	int32		 limit[WALK_LINKS];
	double		 error[WALK_LINKS];

	walk_limits(alpha, epsilon / 2, limit);
	mean_error(epsilon, limit, 200, n, switches, nswitches, error);
	for (int link = 0; link < WALK_LINKS; link++)
	{
		double bound = error_bound(epsilon, alpha, nswitches, n, link);

		ok(error[link] <= bound && error[link] <= claim,
		   "%s, %d rows, %s link: error %.4f, by the proof %.4f, as claimed %.4f", what, n,
		   link_names[link], error[link], bound, claim);
	}
	mean_error(epsilon, no_limit, 10, n, switches, nswitches, error);
	ok(error[WALK_LAPLACE] > claim && error[WALK_LOGISTIC] > claim,
	   "caught: a walk without a limit (errors %.4f, %.4f)", error[0], error[1]);
}

static void
test_accuracy(void)
{
	static const double threshold[] = {0.37};
	static const double intervals[] = {0.15, 0.4, 0.55, 0.8};
	double				least = 12 * log(2 / 0.05) / (0.05 * 0.1);

	test_accuracy_of("a threshold", threshold, 1, (int) ceil(least));
	/* (4 L + 1) / (step n) <= alpha/2 for the larger L */
	test_accuracy_of("two intervals", intervals, 4,
					 (int) ceil((4 * (log(2 / 0.05) + 0.05) + 1) / (0.05 * 0.05 / 2)));
}

int
main(void)
{
	test_walk();
	test_privacy();
	test_draw();
	test_accuracy();
	return done();
}
