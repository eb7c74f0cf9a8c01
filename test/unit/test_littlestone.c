/*
 * test_littlestone.c
 *		Littlestone's dimension against brute force, the mistakes of the optimal
 *		algorithm, the stable learner and the stable histogram.
 *
 * sources: src/mechanism/littlestone/dimension.c src/mechanism/littlestone/optimal_algorithm.c
 * sources: src/mechanism/littlestone/stable_learner.c
 * sources: src/draw/rng.c src/draw/bernoulli.c src/draw/discrete.c
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/littlestone/littlestone.h"
#include "draw/sampler.h"
#include "server_stubs.h"
#include "unit.h"

#define ROUNDING 1e-9

static FiniteClass *
empty_class(int nhypotheses, int npoints)
{
	FiniteClass *finite = palloc0(sizeof(FiniteClass));

	finite->nhypotheses = nhypotheses;
	finite->npoints = npoints;
	finite->columns = palloc0(npoints * BITS_WORDS(nhypotheses) * sizeof(uint64));
	return finite;
}

static void
set_label(FiniteClass *finite, int h, int p)
{
	bits_add(finite->columns + p * BITS_WORDS(finite->nhypotheses), h);
}

static FiniteClass *
random_class(int nhypotheses, int npoints)
{
	FiniteClass *finite = empty_class(nhypotheses, npoints);

	for (int h = 0; h < nhypotheses; h++)
		for (int p = 0; p < npoints; p++)
			if (sample_uniform(3) == 0)
				set_label(finite, h, p);
	return finite;
}

static FiniteClass *
thresholds(int npoints)
{
	FiniteClass *finite = empty_class(npoints + 1, npoints);

	for (int h = 0; h <= npoints; h++)
		for (int p = h; p < npoints; p++)
			set_label(finite, h, p);
	return finite;
}

/* Hypothesis h says 1 of point h alone, the last of none: VC dimension 1. */
static FiniteClass *
singletons(int npoints)
{
	FiniteClass *finite = empty_class(npoints + 1, npoints);

	for (int p = 0; p < npoints; p++)
		set_label(finite, p, p);
	return finite;
}

/* ---------- the dimension ---------- */

/* By the definition; members is a set of at most 64 hypotheses. */
static int
brute_force(const FiniteClass *finite, uint64 members)
{
	int best = members == 0 ? -1 : 0;

	for (int p = 0; p < finite->npoints; p++)
	{
		uint64 ones = members & finite_class_column(finite, p)[0];

		if (ones != 0 && ones != members)
			best =
				Max(best, 1 + Min(brute_force(finite, ones), brute_force(finite, members & ~ones)));
	}
	return best;
}

static void
test_dimension(void)
{
	int wrong = 0;
	int seen[LITTLESTONE_MAX_DIMENSION + 1] = {0};

	for (int i = 0; i < 2000; i++)
	{
		FiniteClass *finite = random_class(1 + i % 20, 1 + i / 20 % 6);
		int			 expected = brute_force(finite, (UINT64CONST(1) << finite->nhypotheses) - 1);

		wrong += littlestone_dimension_of_class(finite, LITTLESTONE_WORK) != expected;
		seen[expected]++;
	}
	ok(wrong == 0, "2000 random classes (of dimensions 0 to 4: %d, %d, %d, %d, %d)", seen[0],
	   seen[1], seen[2], seen[3], seen[4]);
	for (int n = 1; n <= FINITE_MAX_POINTS; n = 2 * n + (n % 3 == 0))
		ok(littlestone_dimension_of_class(thresholds(n), LITTLESTONE_WORK) ==
			   (int) floor(log2(n + 1) + ROUNDING),
		   "thresholds over %d points", n);
	ok(littlestone_dimension_of_class(thresholds(1023), LITTLESTONE_WORK) == 10,
	   "over 1023 points");
	ok(littlestone_dimension_of_class(singletons(1000), LITTLESTONE_WORK) == 1, "singletons");
	ok(littlestone_dimension_of_class(random_class(4096, 1024), LITTLESTONE_WORK) != -1,
	   "a large random class: an answer or a refusal");
	ok(littlestone_dimension_of_class(thresholds(1023), 1000) == -2,
	   "too little work is no answer");
}

/* Every set of points: the dimension of all 2^n labellings is n. */
static void
test_cube(void)
{
	for (int n = 1; n <= LITTLESTONE_MAX_DIMENSION; n++)
	{
		FiniteClass *finite = empty_class(1 << n, n);

		for (int h = 0; h < 1 << n; h++)
			for (int p = 0; p < n; p++)
				if (h >> p & 1)
					set_label(finite, h, p);
		ok(littlestone_dimension_of_class(finite, LITTLESTONE_WORK) == n,
		   "all labellings of %d points", n);
	}
}

/* ---------- the optimal algorithm ---------- */

/* Mistakes on random points with the labels of one hypothesis. */
static int
count_mistakes(const FiniteClass *finite, OptimalAlgorithm *algorithm, int truth)
{
	OptimalState *state = optimal_start(algorithm);
	uint64		  says[BITS_WORDS(FINITE_MAX_POINTS)];
	int			  mistakes = 0;

	for (int i = 0; i < 30; i++)
	{
		int	 point = (int) sample_uniform(finite->npoints);
		bool label = finite_class_label(finite, truth, point);

		optimal_labels(algorithm, state, says);
		mistakes += bits_member(says, point) != label;
		optimal_example(algorithm, state, point, label);
	}
	optimal_free(state);
	return mistakes;
}

static void
test_mistakes(void)
{
	int	 worst = 0;
	bool within = true;

	for (int i = 0; i < 200; i++)
	{
		FiniteClass		 *finite = i % 2 ? random_class(30, 12) : thresholds(2 + i);
		OptimalAlgorithm *algorithm = optimal_create(finite);
		int				  dimension = littlestone_dimension_of_class(finite, LITTLESTONE_WORK);
		int mistakes = count_mistakes(finite, algorithm, (int) sample_uniform(finite->nhypotheses));

		within = within && mistakes <= dimension;
		worst = Max(worst, mistakes);
	}
	ok(within, "no more mistakes than the dimension (%d at most)", worst);
}

static void
test_unrealizable(void)
{
	FiniteClass		 *finite = thresholds(8);
	OptimalAlgorithm *algorithm = optimal_create(finite);
	OptimalState	 *state = optimal_start(algorithm);
	uint64			  before;
	uint64			  after;

	optimal_example(algorithm, state, 2, true);
	optimal_labels(algorithm, state, &before);
	optimal_example(algorithm, state, 5, false);
	optimal_labels(algorithm, state, &after);
	ok(!state->realizable && after == (before & ~(UINT64CONST(1) << 5)),
	   "an example that no hypothesis explains changes its own point alone");
	optimal_example(algorithm, state, 5, true);
	optimal_labels(algorithm, state, &after);
	ok(after == before, "and can be changed back");
}

/* ---------- the stable learner ---------- */

/* How often a run on fresh examples of one hypothesis gives that hypothesis. */
static int
count_right(const FiniteClass *finite, int truth, int nexamples, int depth, int64 part)
{
	OptimalAlgorithm *algorithm = optimal_create(finite);
	uint64			  expected[BITS_WORDS(FINITE_MAX_POINTS)] = {0};
	uint64			  labels[BITS_WORDS(FINITE_MAX_POINTS)];
	int				  right = 0;

	for (int p = 0; p < finite->npoints; p++)
		if (finite_class_label(finite, truth, p))
			bits_add(expected, p);
	for (int run = 0; run < 200; run++)
	{
		int32 examples[1000];
		Batch batch = {nexamples, examples};

		for (int i = 0; i < nexamples; i++)
		{
			int point = (int) sample_uniform(finite->npoints);

			examples[i] = 2 * point + finite_class_label(finite, truth, point);
		}
		stable_learner(algorithm, finite, &batch, depth, part, labels);
		right += memcmp(labels, expected, BITS_WORDS(finite->npoints) * sizeof(uint64)) == 0;
	}
	return right;
}

static void
test_learner(void)
{
	FiniteClass *finite = thresholds(16);
	int			 right;

	/* All points are seen but with probability 16 (15/16)^150 = 0.001 each run. */
	right = count_right(finite, 9, 300, 2, 20);
	ok(right >= 180, "thresholds over 16 points, 300 examples: right in %d of 200 runs", right);
	right = count_right(singletons(16), 3, 300, 1, 20);
	ok(right >= 180, "singletons, 300 examples: right in %d of 200 runs", right);
	/* A tournament of the full depth and little else: five times more often than by chance. */
	right = count_right(finite, 9, 31, 4, 1);
	ok(right > 60, "with parts of one example: right in %d of 200 runs", right);
	right = count_right(finite, 16, 0, 4, 1);
	ok(right <= 200, "nothing to learn from is no error");
}

/* ---------- the stable histogram ---------- */

static double
units(EpsilonUnits epsilon)
{
	return (double) epsilon / EPSILON_UNITS_PER_ONE;
}

/*
 * Two neighbouring tables: hypothesis A has a batch more in the first, B in the
 * second.  Outputs are which of the two is kept.  The least delta for which
 * all sets of outputs obey epsilon, both ways.
 */
static double
least_delta(EpsilonUnits epsilon, int64 threshold, int64 a, int64 b)
{
	double p[4];
	double q[4];
	double worst = 0;
	double first[2] = {histogram_probability(epsilon, threshold, a + 1),
					   b > 0 ? histogram_probability(epsilon, threshold, b) : 0};
	double second[2] = {a > 0 ? histogram_probability(epsilon, threshold, a) : 0,
						histogram_probability(epsilon, threshold, b + 1)};

	for (int o = 0; o < 4; o++)
	{
		p[o] = (o & 1 ? first[0] : 1 - first[0]) * (o & 2 ? first[1] : 1 - first[1]);
		q[o] = (o & 1 ? second[0] : 1 - second[0]) * (o & 2 ? second[1] : 1 - second[1]);
	}
	for (int way = 0; way < 2; way++)
	{
		double delta = 0;

		for (int o = 0; o < 4; o++)
			delta += Max(0, way == 0 ? p[o] - exp(units(epsilon)) * q[o]
									 : q[o] - exp(units(epsilon)) * p[o]);
		worst = Max(worst, delta);
	}
	return worst;
}

static double
worst_delta(EpsilonUnits epsilon, int64 threshold)
{
	double worst = 0;

	for (int64 a = 0; a < 3 * threshold; a++)
		for (int64 b = 0; b < 3 * threshold; b++)
			worst = Max(worst, least_delta(epsilon, threshold, a, b));
	return worst;
}

static void
test_histogram(void)
{
	static const double epsilons[] = {0.1, 0.5, 2, 10};
	static const double deltas[] = {0.2, 0.05, 1e-3, 1e-7};

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		for (int j = 0; j < lengthof(deltas); j++)
		{
			EpsilonUnits epsilon = (EpsilonUnits) rint(epsilons[i] * EPSILON_UNITS_PER_ONE);
			int64		 threshold = histogram_threshold(epsilon, deltas[j]);
			double		 delta = threshold < 400 ? worst_delta(epsilon, threshold)
												 : least_delta(epsilon, threshold, 0, 0);

			ok(delta <= deltas[j] * (1 + ROUNDING),
			   "epsilon %g, delta %g, threshold " INT64_FORMAT ": %g in all pairs", epsilons[i],
			   deltas[j], threshold, delta);
			ok(threshold == 1 ||
				   histogram_probability(epsilon, threshold - 1, 1) > deltas[j] * (1 - ROUNDING),
			   "a smaller threshold would not do");
			if (threshold > 4)
				ok(least_delta(epsilon, threshold / 2, 0, 0) > deltas[j], "half of it is caught");
		}
	}
	for (int64 count = 1; count < 12; count += 2)
	{
		EpsilonUnits epsilon = EPSILON_UNITS_PER_ONE;
		int64		 kept = 0;

		for (int i = 0; i < 50000; i++)
			kept += histogram_keeps(epsilon, 5, count);
		ok(plausible(kept, 50000, histogram_probability(epsilon, 5, count)),
		   "a count of " INT64_FORMAT " is kept as often as it should", count);
	}
}

int
main(void)
{
	test_dimension();
	test_cube();
	test_mistakes();
	test_unrealizable();
	test_learner();
	test_histogram();
	return done();
}
