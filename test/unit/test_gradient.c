/*
 * test_gradient.c
 *		Gradients: no unit moves the integer sums by more than is paid for, the
 *		order of rows does not matter, and the noise is what a grant can pay for.
 *
 * sources: src/mechanism/gradient/sums.c src/mechanism/gradient/noise.c src/account/renyi.c
 * sources: src/account/order.c src/account/charge.c src/account/accountant.c
 * sources: src/draw/rng.c src/draw/bernoulli.c src/draw/discrete.c
 */
#include "c.h"

#include <math.h>

#include "account/renyi.h"
#include "mechanism/gradient/noise.h"
#include "mechanism/gradient/sums.h"
#include "draw/sampler.h"
#include "unit.h"

#define MAX_WIDTH 12
#define MAX_OUTPUTS 5
#define MAX_ROWS 150
#define PARAMETERS (MAX_OUTPUTS * (MAX_WIDTH + 1))

static const char *const loss_name[] = {"logistic", "softmax", "huber"};

typedef struct Unit
{
	int	   rows;
	float  label[MAX_ROWS];
	double x[MAX_ROWS][MAX_WIDTH];
} Unit;

static double
uniform(void)
{
	return ldexp((double) (sample_uint64() >> 11), -53);
}

static GradientShape
make_shape(GradientLoss loss, int width, int32 clip, float residual_one)
{
	static int16  centre[MAX_WIDTH];
	GradientShape shape = {
		loss, width, loss == GRADIENT_SOFTMAX ? MAX_OUTPUTS : 1, clip, residual_one, 0.3f, centre};

	for (int i = 0; i < MAX_WIDTH; i++)
		centre[i] = (int16) sample_uniform(GRADIENT_FEATURE_ONE + 1);
	return shape;
}

/* Numbers that code forgets: ends of ranges, beyond them, and none at all. */
static double
nasty(void)
{
	static const double numbers[] = {0,		  1,	 0.5,	   -1,		  2,  1e-5,
									 0.99999, 1e300, INFINITY, -INFINITY, NAN};

	return sample_uniform(2) == 0 ? uniform() : numbers[sample_uniform(lengthof(numbers))];
}

static void
random_unit(const GradientShape *shape, int rows, bool nasty_features, Unit *unit)
{
	unit->rows = rows;
	for (int row = 0; row < rows; row++)
	{
		unit->label[row] =
			shape->loss == GRADIENT_HUBER
				? (float) uniform()
				: (float) sample_uniform(shape->loss == GRADIENT_SOFTMAX ? MAX_OUTPUTS : 2);
		for (int i = 0; i < shape->width; i++)
			unit->x[row][i] = nasty_features ? nasty() : uniform();
	}
}

/* ---------- a table through the kernel, as training puts it ---------- */

typedef struct Table
{
	GradientShape shape;
	GradientWork  work;
	char		  memory[65536];
	double		  block_memory[2][2048];
	int64		  features_limit; /* > 0: sums of features, not gradients */
} Table;

static GradientBlock *
table_block(Table *table, bool shared)
{
	return (GradientBlock *) table->block_memory[shared];
}

static void
table_begin(Table *table, const GradientShape *shape, const float *weights, int64 features_limit)
{
	table->shape = *shape;
	table->features_limit = features_limit;
	if (gradient_work_size(shape) > sizeof(table->memory) ||
		gradient_block_size(shape->width) > sizeof(table->block_memory[0]))
		abort();
	gradient_work_place(shape, table->memory, &table->work);
	memcpy(table->work.weights, weights, gradient_parameters(shape) * sizeof(float));
	gradient_block_clear(table_block(table, false), shape->width);
	gradient_block_clear(table_block(table, true), shape->width);
}

static void
table_flush(Table *table, bool shared)
{
	GradientBlock *block = table_block(table, shared);

	if (table->features_limit > 0)
		gradient_add_features(&table->shape, block, shared, table->features_limit, &table->work);
	else
	{
		gradient_block_centre(&table->shape, block, shared);
		gradient_add_block(&table->shape, block, shared, &table->work);
	}
	gradient_block_clear(block, table->shape.width);
}

static void
table_put(Table *table, const Unit *unit)
{
	bool shared = unit->rows > 1;

	for (int row = 0; row < unit->rows; row++)
	{
		gradient_block_put(table_block(table, shared), table->shape.width, unit->label[row],
						   unit->x[row], shared && row == unit->rows - 1 ? unit->rows : 0);
		if (table_block(table, shared)->rows == GRADIENT_BLOCK_ROWS)
			table_flush(table, shared);
	}
}

static void
sum_units(const GradientShape *shape, const float *weights, int64 features_limit,
		  const Unit *const *units, int count, int64 *sums)
{
	static Table table;

	table_begin(&table, shape, weights, features_limit);
	for (int i = 0; i < count; i++)
		table_put(&table, units[i]);
	table_flush(&table, false);
	table_flush(&table, true);
	memcpy(sums, table.work.sums, gradient_parameters(shape) * sizeof(int64));
}

static double
distance(const int64 *a, const int64 *b, int64 count)
{
	uint128 square = 0;

	for (int64 i = 0; i < count; i++)
	{
		int128 difference = (int128) a[i] - (b != NULL ? b[i] : 0);

		square += (uint128) (difference * difference);
	}
	return sqrt((double) square);
}

/* ---------- clipping ---------- */

#define TRIES 4000

static void
test_clip(GradientLoss loss)
{
	static Unit unit;
	const Unit *units[] = {&unit};
	double		longest = 0;
	double		longest_features = 0;

	for (int try = 0; try < TRIES; try++)
	{
		GradientShape shape = make_shape(loss, 1 + (int) sample_uniform(MAX_WIDTH),
										 1 + (int32) sample_uniform(1 << 24),
										 1 + (float) sample_uniform(GRADIENT_RESIDUAL_MAX));
		float		  weights[PARAMETERS];
		int64		  sums[PARAMETERS];
		int64		  limit = 1 + sample_uniform(20000);

		for (int i = 0; i < PARAMETERS; i++)
			weights[i] = (float) (nasty() * 1e3);
		random_unit(&shape, try % 2 == 0 ? 1 : 2 + (int) sample_uniform(MAX_ROWS - 1), true, &unit);
		sum_units(&shape, weights, 0, units, 1, sums);
		longest = Max(longest, distance(sums, NULL, gradient_parameters(&shape)) / shape.clip);
		sum_units(&shape, weights, limit, units, 1, sums);
		longest_features = Max(longest_features, distance(sums, NULL, shape.width) / limit);
	}
	ok(longest <= 1 && longest > 0.99, "%s: the longest of %d nasty gradients is %.12f clip",
	   loss_name[loss], TRIES, longest);
	ok(longest_features <= 1 && longest_features > 0.99,
	   "%s: the longest of %d nasty features is %.12f of the limit", loss_name[loss], TRIES,
	   longest_features);
}

/* ---------- neighbours ---------- */

static void
test_neighbours(GradientLoss loss)
{
	static Unit crowd[40];
	static Unit one;
	static Unit other;
	const Unit *units[lengthof(crowd) + 1];
	double		furthest = 0;
	double		furthest_features = 0;

	for (int try = 0; try < 400; try++)
	{
		GradientShape shape = make_shape(loss, MAX_WIDTH, 1 << 22, 2000);
		float		  weights[PARAMETERS];
		int64		  before[PARAMETERS];
		int64		  after[PARAMETERS];
		int64		  limit = 7000;

		for (int i = 0; i < lengthof(crowd); i++)
		{
			random_unit(&shape, i % 3 == 0 ? 2 + i : 1, false, &crowd[i]);
			units[i] = &crowd[i];
		}
		/* A steep slope between two points that are close together. */
		for (int i = 0; i < PARAMETERS; i++)
			weights[i] = 0;
		weights[0] = 1e6f;
		if (loss == GRADIENT_SOFTMAX)
			weights[MAX_WIDTH + 1] = -1e6f;
		random_unit(&shape, 1 + try % 4, false, &one);
		other = one;
		for (int row = 0; row < one.rows; row++)
		{
			one.x[row][0] = shape.centre[0] / (double) GRADIENT_FEATURE_ONE + 0.01;
			other.x[row][0] = one.x[row][0] - 0.02;
			one.label[row] = loss == GRADIENT_SOFTMAX ? 1 : 0;
			other.label[row] = loss == GRADIENT_SOFTMAX ? 0 : 1;
		}
		units[lengthof(crowd)] = &one;
		sum_units(&shape, weights, 0, units, lengthof(units), before);
		units[lengthof(crowd)] = &other;
		sum_units(&shape, weights, 0, units, lengthof(units), after);
		furthest =
			Max(furthest, distance(before, after, gradient_parameters(&shape)) / (2 * shape.clip));

		/* Features: half of them against the other half. */
		for (int i = 0; i < MAX_WIDTH; i++)
			for (int row = 0; row < one.rows; row++)
			{
				one.x[row][i] = i % 2;
				other.x[row][i] = 1 - i % 2;
			}
		units[lengthof(crowd)] = &one;
		sum_units(&shape, weights, limit, units, lengthof(units), before);
		units[lengthof(crowd)] = &other;
		sum_units(&shape, weights, limit, units, lengthof(units), after);
		furthest_features =
			Max(furthest_features, distance(before, after, MAX_WIDTH + 1) / (M_SQRT2 * limit));
	}
	ok(furthest <= 1 && furthest > 0.9, "%s: one unit moves the gradients by %.6f of 2 clip",
	   loss_name[loss], furthest);
	ok(furthest_features <= 1 && furthest_features > 0.9,
	   "%s: one unit moves the features by %.6f of sqrt(2) limit", loss_name[loss],
	   furthest_features);
}

/* One unit more, with all features. */
static void
test_count(void)
{
	static Unit	  crowd[40];
	static float  weights[PARAMETERS];
	const Unit	 *units[lengthof(crowd)];
	const int	  last = lengthof(crowd) - 1;
	const int64	  limit = 7000;
	GradientShape shape = make_shape(GRADIENT_LOGISTIC, MAX_WIDTH, 1 << 22, 2000);
	int64		  before[PARAMETERS];
	int64		  after[PARAMETERS];
	double		  moved;

	for (int i = 0; i <= last; i++)
	{
		random_unit(&shape, i % 3 == 0 ? 2 + i : 1, false, &crowd[i]);
		units[i] = &crowd[i];
	}
	for (int i = 0; i < MAX_WIDTH; i++)
		for (int row = 0; row < crowd[last].rows; row++)
			crowd[last].x[row][i] = 1;
	sum_units(&shape, weights, limit, units, last, before);
	sum_units(&shape, weights, limit, units, last + 1, after);
	moved = distance(before, after, MAX_WIDTH + 1) / (M_SQRT2 * limit);
	ok(moved <= 1 && moved > 0.99,
	   "one unit more moves features and count by %.6f of sqrt(2) limit", moved);
	ok(before[MAX_WIDTH] == last * limit && after[MAX_WIDTH] == (last + 1) * limit,
	   "units are counted, whatever the number of their rows");
}

/* ---------- order ---------- */

static void
swap_rows(Unit *unit, int a, int b)
{
	Unit saved = *unit;

	unit->label[a] = saved.label[b];
	unit->label[b] = saved.label[a];
	memcpy(unit->x[a], saved.x[b], sizeof(saved.x[b]));
	memcpy(unit->x[b], saved.x[a], sizeof(saved.x[a]));
}

static void
test_order(GradientLoss loss)
{
	static Unit	  crowd[200];
	const Unit	 *units[lengthof(crowd)];
	GradientShape shape = make_shape(loss, 7, 1 << 21, 3000);
	float		  weights[PARAMETERS];
	int64		  first[2][PARAMETERS];
	int64		  again[PARAMETERS];
	bool		  same[2] = {true, true};

	for (int i = 0; i < PARAMETERS; i++)
		weights[i] = (float) (uniform() * 4 - 2);
	for (int i = 0; i < lengthof(crowd); i++)
	{
		random_unit(&shape, i % 2 == 0 ? 1 : 1 + (int) sample_uniform(MAX_ROWS), false, &crowd[i]);
		units[i] = &crowd[i];
	}
	for (int features = 0; features < 2; features++)
		sum_units(&shape, weights, features * 9000, units, lengthof(units), first[features]);
	for (int try = 0; try < 10; try++)
	{
		for (int i = lengthof(units) - 1; i > 0; i--)
		{
			int			j = (int) sample_uniform(i + 1);
			const Unit *unit = units[i];
			Unit	   *shuffled = &crowd[sample_uniform(lengthof(crowd))];

			units[i] = units[j];
			units[j] = unit;
			swap_rows(shuffled, (int) sample_uniform(shuffled->rows),
					  (int) sample_uniform(shuffled->rows));
		}
		for (int features = 0; features < 2; features++)
		{
			sum_units(&shape, weights, features * 9000, units, lengthof(units), again);
			same[features] &=
				memcmp(again, first[features], gradient_parameters(&shape) * sizeof(int64)) == 0;
		}
	}
	ok(same[0] && same[1], "%s: sums do not depend on the order of units and of their rows",
	   loss_name[loss]);
}

/* ---------- are they gradients at all? ---------- */

static void
true_gradient(const GradientShape *shape, const float *weights, const Unit *unit, int row,
			  double *gradient)
{
	double z[MAX_OUTPUTS];
	double x[MAX_WIDTH + 1];
	double total = 0;

	for (int i = 0; i < shape->width; i++)
		x[i] = unit->x[row][i] - (double) shape->centre[i] / GRADIENT_FEATURE_ONE;
	x[shape->width] = (double) GRADIENT_INTERCEPT / GRADIENT_FEATURE_ONE;
	for (int k = 0; k < shape->outputs; k++)
	{
		z[k] = 0;
		for (int i = 0; i <= shape->width; i++)
			z[k] += weights[k * (shape->width + 1) + i] * x[i];
		total += exp(z[k]);
	}
	for (int k = 0; k < shape->outputs; k++)
	{
		double r;

		if (shape->loss == GRADIENT_SOFTMAX)
			r = exp(z[k]) / total - (unit->label[row] == k);
		else if (shape->loss == GRADIENT_LOGISTIC)
			r = 1 / (1 + exp(-z[k])) - unit->label[row];
		else
			r = Min(Max(z[k] - unit->label[row], -shape->huber), shape->huber);
		for (int i = 0; i <= shape->width; i++)
			gradient[k * (shape->width + 1) + i] += r * x[i] / unit->rows;
	}
}

static void
test_truth(GradientLoss loss)
{
	static Unit	  crowd[500];
	const Unit	 *units[lengthof(crowd)];
	GradientShape shape = make_shape(loss, 9, GRADIENT_CLIP_MAX, GRADIENT_RESIDUAL_MAX);
	float		  weights[PARAMETERS];
	double		  gradient[PARAMETERS] = {0};
	int64		  sums[PARAMETERS];
	double		  worst = 0;

	for (int i = 0; i < PARAMETERS; i++)
		weights[i] = (float) (uniform() * 6 - 3);
	for (int i = 0; i < lengthof(crowd); i++)
	{
		random_unit(&shape, i % 3 == 0 ? 2 + i % 50 : 1, false, &crowd[i]);
		units[i] = &crowd[i];
		for (int row = 0; row < crowd[i].rows; row++)
			true_gradient(&shape, weights, &crowd[i], row, gradient);
	}
	sum_units(&shape, weights, 0, units, lengthof(units), sums);
	for (int i = 0; i < gradient_parameters(&shape); i++)
		worst = Max(worst, fabs(sums[i] / ((double) shape.residual_one * GRADIENT_FEATURE_ONE) -
								gradient[i]));
	/* 500 roundings of 1/8192 at most, as a random walk */
	ok(worst < 0.02, "%s: without clipping, sums of 500 units are right to %.5f", loss_name[loss],
	   worst);
}

/* ---------- noise ---------- */

/* The most that part of a grant's limit is used, over orders: 1 is just affordable. */
static double
least_use(double epsilon, double delta, int64 steps, const GradientNoise *step,
		  const GradientNoise *features)
{
	double least = INFINITY;

	for (double power = -9; power < 20; power += 0.002)
	{
		RenyiOrder	 order = RENYI_ORDER_ONE + (RenyiOrder) ldexp(exp2(power), RENYI_ORDER_BITS);
		EpsilonUnits limit =
			renyi_limit((EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE), delta, order);
		double charge =
			(double) renyi_charge_times(
				renyi_charge_gaussian(step->sensitivity_squared, step->variance, order), steps) +
			(double) renyi_charge_gaussian(features->sensitivity_squared, features->variance,
										   order);

		if (limit > 0)
			least = Min(least, charge / limit);
	}
	return least;
}

static void
test_noise(void)
{
	static const double epsilons[] = {0.001, 0.01, 0.1, 0.5, 1, 3, 8, 40, 100};
	static const double deltas[] = {1e-12, 1e-6, 1e-3, 0.1};
	static const int64	steps[] = {1, 100, 10000};
	double				most = 0;
	double				least = 1;
	int					tried = 0;

	for (int i = 0; i < lengthof(epsilons) * lengthof(deltas) * lengthof(steps); i++)
	{
		double		  epsilon = epsilons[i % lengthof(epsilons)];
		double		  delta = deltas[i / lengthof(epsilons) % lengthof(deltas)];
		int64		  t = steps[i / lengthof(epsilons) / lengthof(deltas)];
		double		  rho = gradient_rho(epsilon, delta, t + 1);
		GradientNoise step;
		GradientNoise features;
		double		  use;

		if (!gradient_noise(20000, 50, rho * 0.05, &features) ||
			!gradient_noise(1 << 24, 510, rho * 0.95 / t, &step))
			continue;
		tried++;
		use = least_use(epsilon, delta, t, &step, &features);
		most = Max(most, use);
		least = Min(least, use);
	}
	ok(tried > 90, "%d of 108 grants can be met", tried);
	ok(most <= 1, "every grant pays for its model (%.9f of the limit)", most);
	ok(least > 0.99, "and for hardly more (%.9f)", least);
	ok(gradient_rho(1e-9, 1e-12, 100) == 0, "no order holds anything for a hopeless grant");
}

/* Sums that are cut move by less than one more. */
static void
test_cut(void)
{
	GradientNoise fine;
	GradientNoise coarse;
	int64		  hits = 0;

	ok(gradient_noise(1000, 100, 0.5, &fine) && fine.shift == 0 &&
		   fine.sensitivity_squared == 1000000 && fine.variance == 1000000,
	   "nothing is cut if the noise is small");
	ok(gradient_noise(1 << 24, 100, 1e-8, &coarse) && coarse.shift > 0 &&
		   coarse.variance <= SAMPLER_MAX_TERM &&
		   sqrt(coarse.sensitivity_squared) >= ldexp(1, 24 - coarse.shift) + 10,
	   "cut sums are as sensitive as before, and by one each more");
	ok(!gradient_noise(1 << 24, 100, 1e-300, &coarse), "some noise is too much");

	/* floor(-5 / 4) is -2, and noise of variance 1 is 0 with probability 0.39894 */
	coarse.shift = 2;
	coarse.variance = 1;
	for (int i = 0; i < 100000; i++)
		hits += gradient_noisy_sum(-5, &coarse) == -8;
	ok(plausible(hits, 100000, 0.3989422), "negative sums are cut downwards (" INT64_FORMAT ")",
	   hits);
}

/* Of what was declared and what was counted, the surer one counts more. */
static void
test_units(void)
{
	GradientNoise noise = {.shift = 3, .sensitivity_squared = 1, .variance = 10000};
	double		  balance = gradient_units(1000, 2000, 500);

	ok(gradient_deviation(&noise) == 800, "the deviation is that of the sum, not of what was cut");
	ok(fabs(gradient_units(1000, 3000, 1) - 3000) < 0.1, "a count without noise is believed");
	ok(fabs(gradient_units(1000, 3000, 1e6) - 1000) < 0.1, "a count that is all noise is not");
	ok(fabs(balance - 1500) < 1e-9, "in between lies the mean (%g)", balance);
	ok(gradient_units(1000, -1e9, 1) == 125 && gradient_units(1, 0, 0) > 0,
	   "there are always some units");
}

int
main(void)
{
	for (int loss = GRADIENT_LOGISTIC; loss <= GRADIENT_HUBER; loss++)
	{
		test_clip(loss);
		test_neighbours(loss);
		test_order(loss);
		test_truth(loss);
	}
	test_count();
	test_noise();
	test_cut();
	test_units();
	return done();
}
