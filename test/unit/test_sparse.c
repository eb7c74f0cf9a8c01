/*
 * test_sparse.c
 *		The stability test of streams: the distance has sensitivity one, the
 *		noise is as claimed, runs are private for the worst sequences, and the
 *		checks reject the test as it was printed.
 *
 * sources: src/mechanism/sparse/draw.c src/draw/rng.c src/draw/bernoulli.c src/draw/discrete.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/sparse/draw.h"
#include "unit.h"

#define MAX_CLASSES 5

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

/* ---------- the distance ---------- */

typedef int64 (*Distance)(int n, const int32 *counts, int *top);

/* Wrong: as it was printed. */
static int64
printed_distance(int n, const int32 *counts, int *top)
{
	int32 second = 0;

	(void) sparse_distance(n, counts, top);
	for (int i = 0; i < n; i++)
		if (i != *top)
			second = Max(second, counts[i]);
	return Max(counts[*top] - second - 1, 0);
}

static int64 pairs;

/* Whether every unit moves the distance by one at most, and the top only at 0. */
static bool
neighbours_agree(Distance distance, int n, int32 *counts)
{
	int	  top;
	int64 here = distance(n, counts, &top);

	for (int from = 0; from < n; from++)
		for (int to = 0; to < n; to++)
		{
			int	  other_top;
			int64 there;

			if (from == to || counts[from] == 0)
				continue;
			counts[from]--;
			counts[to]++;
			there = distance(n, counts, &other_top);
			counts[from]++;
			counts[to]--;
			pairs++;
			if (llabs(here - there) > 1 || (top != other_top && (here != 0 || there != 0)))
				return false;
		}
	return true;
}

/* All ways to give "left" teachers to the classes from "class" on. */
static bool
all_counts_agree(Distance distance, int n, int class, int32 left, int32 *counts)
{
	if (class == n - 1)
	{
		counts[class] = left;
		return neighbours_agree(distance, n, counts);
	}
	for (int32 here = 0; here <= left; here++)
	{
		counts[class] = here;
		if (!all_counts_agree(distance, n, class + 1, left - here, counts))
			return false;
	}
	return true;
}

static bool
has_sensitivity_one(Distance distance)
{
	int32 counts[MAX_CLASSES];

	for (int n = 2; n <= MAX_CLASSES; n++)
		for (int32 teachers = 1; teachers <= (n <= 3 ? 24 : 12); teachers++)
			if (!all_counts_agree(distance, n, 0, teachers, counts))
				return false;
	return true;
}

/* ---------- the noise ---------- */

/* The scales of threshold and distances, in units of 1/epsilon. */
typedef struct Scales
{
	double threshold;
	double distance;
} Scales;

static const Scales ours = {3, 3};
static const Scales printed = {2, 4};

/* Where sums over the threshold's noise may end: e^(-80) is nothing. */
static int64
reach_of(double epsilon)
{
	return (int64) (240 / epsilon) + 100;
}

/* Pr[> x] of discrete Laplace noise with ratio a. */
static double
laplace_tail(double a, int64 x)
{
	return x >= 0 ? pow(a, (double) x + 1) / (1 + a) : 1 - pow(a, (double) -x) / (1 + a);
}

static double
laplace_mass(double a, int64 x)
{
	return (1 - a) / (1 + a) * pow(a, (double) llabs(x));
}

/* sparse_tail() by summing over the threshold's noise. */
static double
summed_tail(double epsilon, int64 excess)
{
	int64  reach = reach_of(epsilon);
	double sum = 0;

	for (int64 y = -reach; y <= reach; y++)
		sum += laplace_mass(exp(-epsilon / 3), y) * laplace_tail(exp(-epsilon / 3), excess + y);
	return sum;
}

static void
test_noise(double epsilon)
{
	EpsilonUnits units = units_of(epsilon);
	double		 worst = 0;

	for (int64 excess = -40; excess <= 60; excess++)
	{
		double expected = summed_tail(epsilon, excess);

		worst = Max(worst, fabs(sparse_tail(units, excess) / expected - 1));
	}
	ok(worst < 1e-9, "epsilon %g: the tail is the convolution's (off by %g)", epsilon, worst);

	for (double delta = 0.4; delta > 1e-300; delta = delta > 1e-3 ? delta / 3 : delta * delta)
	{
		int64 width = sparse_width(units, delta);

		ok(sparse_tail(units, width) <= delta &&
			   (width == 0 || sparse_tail(units, width - 1) * (1 + 1e-8) > delta),
		   "epsilon %g, delta %g: " INT64_FORMAT " is the least width", epsilon, delta, width);
	}
}

static void
test_draws(double epsilon)
{
	EpsilonUnits units = units_of(epsilon);
	int64		 width = sparse_width(units, 0.02);
	int			 draws = 50000;

	for (int64 distance = 0; distance <= 2 * width; distance += width / 2 + 1)
	{
		int64 stable = 0;

		for (int i = 0; i < draws; i++)
			stable += distance + sparse_noise(units) > sparse_threshold(units, width);
		ok(plausible(stable, draws, sparse_stable_probability(units, width, distance)),
		   "epsilon %g, width " INT64_FORMAT ": distance " INT64_FORMAT
		   " is stable in " INT64_FORMAT " of %d draws",
		   epsilon, width, distance, stable, draws);
	}
}

/* ---------- runs ---------- */

/* "labels" answers at one distance, then NULL at another, from a fresh threshold. */
static double
run_probability(Scales scales, double epsilon, int64 width, int64 distance, int labels, int64 last)
{
	double a = exp(-epsilon / scales.distance);
	double b = exp(-epsilon / scales.threshold);
	int64  reach = reach_of(epsilon);
	double sum = 0;

	for (int64 y = -reach; y <= reach; y++)
		sum += laplace_mass(b, y) * pow(laplace_tail(a, width + y - distance), labels) *
			   (1 - laplace_tail(a, width + y - last));
	return sum;
}

static int64
of_two(Distance distance, int32 first, int32 second)
{
	int32 counts[2] = {first, second};
	int	  top;

	return distance(2, counts, &top);
}

/* ln of the odds of "20 labels then NULL" between the errata's two tables. */
static double
errata_loss(Scales scales, Distance distance, double *p)
{
	double q;

	*p = run_probability(scales, 1, 26, of_two(distance, 113, 88), 20, of_two(distance, 114, 87));
	q = run_probability(scales, 1, 26, of_two(distance, 112, 89), 20, of_two(distance, 115, 86));
	return log(*p / q);
}

/* The largest loss over runs of neighbouring tables: distances off by one, for and against. */
static double
worst_loss(Scales scales, double epsilon, int64 width, int step)
{
	double worst = 0;

	for (int64 distance = 0; distance <= 2 * width; distance += 2)
		for (int labels = 0; labels <= 64; labels = 4 * labels + 1)
			for (int64 last = 0; last <= 2 * width; last++)
			{
				double p = run_probability(scales, epsilon, width, distance + step, labels, last);
				double q = run_probability(scales, epsilon, width, distance, labels, last + step);

				worst = Max(worst, fabs(log(p / q)));
			}
	return worst;
}

/* ---------- runs over scores of several classes ---------- */

#define VOTERS 5
#define VOTES 243 /* three to the power of these */

/* The distance of the score of a class, which is 0 or 1 by vote; sets which of them it is. */
static int64
of_class(int votes, int class_index, int *top)
{
	int32 counts[2] = {0, 0};

	for (int i = 0; i < VOTERS; i++, votes /= 3)
		counts[votes % 3 == class_index]++;
	return sparse_distance(2, counts, top);
}

/* "a label of one class, one of another, then NULL of a third". */
static double
classes_probability(Scales scales, double epsilon, int64 width, const int64 *distance)
{
	double a = exp(-epsilon / scales.distance);
	double b = exp(-epsilon / scales.threshold);
	int64  reach = reach_of(epsilon);
	double sum = 0;

	for (int64 y = -reach; y <= reach; y++)
		sum += laplace_mass(b, y) * laplace_tail(a, width + y - distance[0]) *
			   laplace_tail(a, width + y - distance[1]) *
			   (1 - laplace_tail(a, width + y - distance[2]));
	return sum;
}

/* The largest loss over all votes, all changes of one, and all orders of classes. */
static double
worst_classes(Scales scales, double epsilon, int64 width)
{
	double worst = 0;

	for (int code = 0; code < VOTES * 3 * 27; code++)
	{
		int	  votes = code / 81;
		int	  other = votes / 3 * 3 + code / 27 % 3;
		int	  classes = code % 27;
		bool  same = true;
		int64 distance[2][3];

		for (int i = 0; i < 3; i++, classes /= 3)
		{
			int top[2];

			distance[0][i] = of_class(votes, classes % 3, &top[0]);
			distance[1][i] = of_class(other, classes % 3, &top[1]);
			/* labels that differ are what delta is for */
			same = same && (i == 2 || top[0] == top[1]);
		}
		if (same)
			worst = Max(worst, fabs(log(classes_probability(scales, epsilon, width, distance[0]) /
										classes_probability(scales, epsilon, width, distance[1]))));
	}
	return worst;
}

int
main(void)
{
	static const double epsilons[] = {0.1, 0.5, 1, 4, 100};
	double				p;
	double				loss;
	bool				one = has_sensitivity_one(sparse_distance);

	ok(one,
	   "the distance has sensitivity one, and is 0 where the top changes (" INT64_FORMAT " pairs)",
	   pairs);
	ok(!has_sensitivity_one(printed_distance), "the printed distance has not");
	ok(of_two(sparse_distance, 7, 7) == 0 && of_two(sparse_distance, 8, 6) == 0 &&
		   of_two(sparse_distance, 9, 6) == 1 && of_two(sparse_distance, 2, 9) == 3 &&
		   of_two(sparse_distance, 0, 21) == 10,
	   "distances of two counts");

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		if (epsilons[i] < 10)
			test_noise(epsilons[i]);
		test_draws(epsilons[i]);
	}
	ok(sparse_width(units_of(1), 0.02) == 13 && sparse_width(units_of(0.5), 0.02) == 26,
	   "widths for audits: " INT64_FORMAT " and " INT64_FORMAT, sparse_width(units_of(1), 0.02),
	   sparse_width(units_of(0.5), 0.02));
	ok(sparse_width(1000, 1e-300) > INT64CONST(2000000000000) &&
		   sparse_width(1000, 1e-300) < INT64CONST(2200000000000),
	   "the widest width: " INT64_FORMAT, sparse_width(1000, 1e-300));

	loss = worst_classes(ours, 1, 2);
	ok(loss > 0.1 && loss <= 1, "a run over scores of three classes loses %g of 1", loss);
	loss = errata_loss(printed, printed_distance, &p);
	ok(fabs(p / 1.302e-4 - 1) < 1e-3 && fabs(loss - 2) < 1e-3,
	   "errata: the printed distance has probability %g and loses %g", p, loss);
	loss = errata_loss(printed, sparse_distance, &p);
	ok(fabs(loss) <= 1 + 1e-9, "errata: ours loses %g", loss);
	loss = errata_loss(ours, printed_distance, &p);
	ok(loss > 1.8, "with our noise: the printed distance loses %g", loss);
	loss = errata_loss(ours, sparse_distance, &p);
	ok(fabs(loss) <= 1 + 1e-9, "with our noise: ours loses %g", loss);
	loss = worst_loss(ours, 1, sparse_width(units_of(1), 0.02), 1);
	ok(loss <= 1 + 1e-9 && loss > 0.9, "no run loses more than epsilon: %g at most", loss);
	loss = worst_loss(ours, 1, sparse_width(units_of(1), 0.02), 2);
	ok(loss > 1.5, "distances off by two would: %g", loss);
	return done();
}
