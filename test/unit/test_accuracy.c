/*
 * test_accuracy.c
 *		A released accuracy: no unit moves the mean further than the noise covers,
 *		neither one that is held out nor one that trains.
 *
 * sources: src/mechanism/accuracy/draw.c src/mechanism/vote/draw.c
 * sources: src/account/charge.c src/account/renyi.c src/account/order.c src/account/accountant.c
 * sources: src/draw/rng.c src/draw/bernoulli.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/accuracy/accuracy.h"
#include "mechanism/vote/draw.h"
#include "unit.h"
#include "vote_vectors.h"

static const double epsilons[] = {0.001, 0.01, 0.1, 0.5, 1, 3, 20};

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

static Charge
price_of(double epsilon, double delta)
{
	return (Charge){.part[0] = {.shape = CHARGE_PURE, .times = 1, .epsilon = units_of(epsilon)},
					.delta = delta};
}

/* ---------- the noise ---------- */

static uint64 numerator;
static uint64 denominator;

int64
sample_discrete_laplace(uint64 n, uint64 d)
{
	numerator = n;
	denominator = d;
	return -7;
}

static void
test_noise(void)
{
	bool right = true;

	for (int i = 0; i < lengthof(epsilons); i++)
		for (int64 sensitivity = 1; sensitivity <= ACCURACY_ONE; sensitivity *= 32)
			right = right && accuracy_draw(1000, sensitivity, units_of(epsilons[i])) == 993 &&
					numerator == sensitivity * UINT64CONST(1000000000000) &&
					denominator == units_of(epsilons[i]);
	ok(right, "noise of scale sensitivity / epsilon is added");
	ok(ACCURACY_ONE * UINT64CONST(1000000000000) <= UINT64CONST(1) << 60,
	   "its scale is within the sampler's range");
}

/* ---------- units that are held out ---------- */

static int64
mean_of(int64 wanted, int nunits, const double *right)
{
	AccuracySum sum = {.wanted = wanted};

	for (int i = 0; i < nunits; i++)
		accuracy_add(&sum, &right[i], 1);
	return accuracy_mean(&sum);
}

/* All tables of units that are right never, at times or always, and all that one unit changes. */
static void
test_held_out(void)
{
	static const double values[] = {0, 0.3, 1};
	bool				covered = true;
	bool				tight = false;

	for (int wanted = 1; wanted <= 7; wanted++)
	{
		int64 most = accuracy_sensitivity(wanted, NULL);

		for (int code = 0; code < 729; code++)
			for (int nunits = 0; nunits <= 6; nunits++)
				for (int place = 0; place <= nunits; place++)
				{
					double table[7];
					double other[7];
					int64  mean;

					for (int i = 0, rest = code; i < 6; i++, rest /= 3)
						table[i] = values[rest % 3];
					mean = mean_of(wanted, nunits, table);
					for (int v = 0; v < 3; v++)
					{
						int64 added;

						memcpy(other, table, sizeof(double) * place);
						other[place] = values[v];
						memcpy(other + place + 1, table + place, sizeof(double) * (nunits - place));
						added = mean_of(wanted, nunits + 1, other);
						covered = covered && llabs(added - mean) <= most;
						if (place == nunits)
							continue;
						memcpy(other, table, sizeof(double) * nunits);
						other[place] = values[v];
						covered = covered && llabs(mean_of(wanted, nunits, other) - mean) <= most;
						tight = tight || llabs(mean_of(wanted, nunits, other) - mean) == most;
					}
				}
	}
	ok(covered, "a unit added, removed or changed moves the mean no further");
	ok(tight, "and sometimes as far");
}

static void
test_rows(void)
{
	AccuracySum sum = {.wanted = 1};
	double		rows[] = {1, 1, 0, 0.5, 2, -1};

	accuracy_add(&sum, rows, 0);
	ok(sum.units == 0, "a unit without rows is none");
	accuracy_add(&sum, rows, 4);
	ok(sum.units == 1 && sum.total == ACCURACY_ONE * 5 / 8, "many rows are one unit, their mean");
	accuracy_add(&sum, rows, 1);
	ok(sum.units == 1, "more units than wanted do not count");
	sum = (AccuracySum){.wanted = 1};
	accuracy_add(&sum, rows + 4, 1);
	ok(sum.total == ACCURACY_ONE, "nothing is more than right");
	sum = (AccuracySum){.wanted = 1};
	accuracy_add(&sum, rows + 5, 1);
	ok(sum.total == 0, "nor less than wrong");
}

/* ---------- units that train ---------- */

/* So many that the share of each is next to nothing. */
#define MANY (1 << 20)

static int64
mean_of_many(double right)
{
	AccuracySum sum = {.wanted = MANY};

	accuracy_add(&sum, &right, 1);
	sum.units = MANY;
	sum.total *= MANY;
	return accuracy_mean(&sum);
}

static bool
moves_no_further(double before, double after, int64 most)
{
	return llabs(mean_of_many(before) - mean_of_many(after)) <= most;
}

/* One vote that moves, for whichever class is right, in all rows at once. */
static void
test_votes(double epsilon)
{
	Charge price = price_of(epsilon, 0);
	int64  most = accuracy_sensitivity(MANY, &price);
	int32  votes[SMALL_CLASSES];
	double before[SMALL_CLASSES];
	double after[SMALL_CLASSES];
	bool   covered = true;

	for (int nclasses = 2; nclasses <= SMALL_CLASSES; nclasses++)
		for (int teachers = 1; teachers <= SMALL_TEACHERS; teachers++)
		{
			first_votes(nclasses, teachers, votes);
			do
			{
				vote_distribution(true, units_of(epsilon), nclasses, votes, teachers, before);
				for (int move = 0; move < nclasses * nclasses; move++)
				{
					int from = move / nclasses;
					int to = move % nclasses;

					if (votes[from] == 0)
						continue;
					votes[from]--;
					votes[to]++;
					vote_distribution(true, units_of(epsilon), nclasses, votes, teachers, after);
					votes[from]++;
					votes[to]--;
					for (int class = 0; class < nclasses; class ++)
						covered = covered && moves_no_further(before[class], after[class], most);
				}
			} while (next_votes(nclasses, votes));
		}
	ok(covered, "votes, epsilon %g: a unit that trains moves the mean no further", epsilon);
}

/* The pair of probabilities that epsilon and delta allow and that is furthest apart. */
static void
test_furthest(double epsilon, double delta)
{
	Charge price = price_of(epsilon, delta);
	double high = (exp(epsilon) + delta) / (1 + exp(epsilon));
	int64  most = accuracy_sensitivity(MANY, &price);

	ok(moves_no_further(1 - high, high, most) &&
		   (most == ACCURACY_ONE || !moves_no_further(1 - high, high,
													  most - accuracy_sensitivity(MANY, NULL) - 5 -
														  (int64) (delta * ACCURACY_ONE))),
	   "epsilon %g, delta %g: the furthest that it allows, and no more", epsilon, delta);
}

/* ---------- what is public ---------- */

static void
test_public(void)
{
	double little = accuracy_error(ACCURACY_ONE / 2, 1000000, 2, units_of(1));
	double noisy = accuracy_error(ACCURACY_ONE / 2, 1000000, ACCURACY_ONE / 10, units_of(1));

	ok(accuracy_units(10000, 0.1) == 905 && accuracy_units(40, 0.1) == 2 &&
		   accuracy_units(9, 0.1) == 0,
	   "fewer units are wanted than are expected");
	ok(accuracy_number(-5) == 0 && accuracy_number(ACCURACY_ONE + 5) == 1 &&
		   accuracy_number(ACCURACY_ONE / 4) == 0.25,
	   "an accuracy is within 0 and 1");
	ok(fabs(little - 0.0005) < 1e-5 && fabs(noisy - sqrt(2) * 0.1) < 1e-4,
	   "the standard error is that of the units and of the noise");
	ok(accuracy_error(ACCURACY_ONE, 10, 1, units_of(1)) > 0.05, "it is never 0");
}

int
main(void)
{
	test_noise();
	test_held_out();
	test_rows();
	for (int i = 0; i < lengthof(epsilons); i++)
	{
		test_votes(epsilons[i]);
		test_furthest(epsilons[i], 0);
		test_furthest(epsilons[i], 1e-3);
	}
	test_public();
	return done();
}
