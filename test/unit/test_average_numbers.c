/*
 * test_average_numbers.c
 *		The average of numbers: one number moves the sum by its steps at most, whatever it is; the
 *		noise makes that private, for every pair of sums; and what is expected of it is so.
 *
 * sources: src/mechanism/average/numbers.c src/mechanism/stable_erm/noise.c
 * sources: src/draw/rng.c src/draw/bernoulli.c src/draw/discrete.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/average/draw.h"
#include "mechanism/stable_erm/erm.h"
#include "unit.h"

#define ROUNDING 1e-9
#define TEACHERS 3
#define DRAWS 40000

static const double odd[] = {-INFINITY, -1e300, -1,			 -0.0,	   0,		1e-300,
							 0.0004,	0.25,	0.5 - 1e-17, 0.5,	   0.99951, 1,
							 1 + 1e-15, 2,		1e300,		 INFINITY, NAN};

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

/* Every pair of vectors of numbers that differ in one place. */
static void
test_sum(void)
{
	bool  within = true;
	bool  apart = false;
	bool  moves = true;
	int64 ends[2];

	for (int i = 0; i < lengthof(odd); i++)
		for (int j = 0; j < lengthof(odd); j++)
			for (int k = 0; k < lengthof(odd); k++)
			{
				int64 sums[2];

				for (int t = 0; t < 2; t++)
					sums[t] =
						average_sum(TEACHERS, (double[]){odd[i], odd[t == 0 ? j : k], odd[j]});
				within = within && sums[0] >= 0 && sums[0] <= TEACHERS * AVERAGE_STEPS;
				moves = moves && llabs(sums[0] - sums[1]) <= AVERAGE_STEPS;
				apart = apart || llabs(sums[0] - sums[1]) == AVERAGE_STEPS;
			}
	ok(within, "a sum is between 0 and all steps of all teachers");
	ok(moves && apart, "one number moves it by its steps at most, and as much");
	ends[0] = average_sum(2, (double[]){0, 0});
	ends[1] = average_sum(2, (double[]){1, 1});
	ok(average_share(ends[0], 2) == 0 && average_share(ends[1], 2) == 1 &&
		   average_share(-5, 2) == 0 && average_share(ends[1] + 5, 2) == 1 &&
		   average_share(AVERAGE_STEPS, 2) == 0.5,
	   "a sum stands for the mean, clamped");
}

/* Pr[noise = k] times what all of them add up to. */
static double
mass(bool order_is_infinite, double epsilon, int64 k)
{
	double scale = AVERAGE_STEPS / epsilon;

	return order_is_infinite ? exp(-llabs(k) / scale) : exp(-(double) k * k / (8 * scale * scale));
}

/* For all pairs of sums that are neighbours, and every answer, within the range or clamped. */
static void
test_private(double epsilon)
{
	double worst = 0;
	double divergence = 0;
	double all = 0;
	double order = 5;

	for (int64 sum = 0; sum <= 2 * AVERAGE_STEPS; sum += 64)
		for (int64 other = Max(0, sum - AVERAGE_STEPS); other <= sum; other += 64)
			for (int64 noisy = -4096; noisy <= 6144; noisy += 64)
				worst = Max(worst, fabs(log(mass(true, epsilon, noisy - sum) /
											mass(true, epsilon, noisy - other))));
	ok(worst <= epsilon * (1 + ROUNDING) && worst >= epsilon * (1 - ROUNDING),
	   "epsilon %g: private, and no more so than is charged", epsilon);
	for (int64 noisy = -400000; noisy <= 400000; noisy++)
	{
		double p = mass(false, epsilon, noisy);
		double q = mass(false, epsilon, noisy - AVERAGE_STEPS);

		all += p;
		if (p > 0 && q > 0)
			divergence += exp(order * log(p) + (1 - order) * log(q));
	}
	divergence = log(divergence / all) / (order - 1);
	ok(divergence <= order * epsilon * epsilon / 8 * (1 + 1e-6),
	   "epsilon %g: a divergence of %g of order 5", epsilon, divergence);
}

/* Drawn as claimed: the mean square is as expected, and an end is met as often as it should. */
static void
test_draw(bool order_is_infinite)
{
	EpsilonUnits epsilon = units_of(1);
	int64		 sum = 1024 + 300;
	int64		 top = 0;
	double		 squares = 0;
	double		 expected = average_number_error(order_is_infinite, epsilon, sum, 2, 0.4);
	double		 tail = order_is_infinite ? exp(-724.0 / 1024) / (1 + exp(-1.0 / 1024))
										  : erfc(723.5 / 2048 * M_SQRT1_2) / 2;

	for (int i = 0; i < DRAWS; i++)
	{
		double number = average_number(order_is_infinite, epsilon, sum, 2);

		squares += (number - 0.4) * (number - 0.4);
		top += number == 1 ? 1 : 0;
	}
	ok(plausible(top, DRAWS, tail), "order %s: at the upper end " INT64_FORMAT " times",
	   order_is_infinite ? "infinite" : "finite", top);
	/* A square is at most 0.36, so by Hoeffding this fails once in 10^9 runs. */
	ok(fabs(squares / DRAWS - expected) < 0.36 * sqrt(log(2e9) / (2.0 * DRAWS)) + 1e-4,
	   "order %s: a mean square of %g", order_is_infinite ? "infinite" : "finite", expected);
}

int
main(void)
{
	test_sum();
	test_private(0.1);
	test_private(1);
	test_private(3);
	test_draw(true);
	test_draw(false);
	return done();
}
