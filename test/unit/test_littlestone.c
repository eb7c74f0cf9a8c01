/*
 * test_littlestone.c
 *		Littlestone's dimension against brute force, the mistakes of the optimal
 *		algorithm, the stable learner and the stable histogram.
 *
 * sources: src/mechanism/littlestone/dimension.c src/mechanism/littlestone/optimal_algorithm.c
 * sources: src/mechanism/littlestone/stable_learner.c src/mechanism/littlestone/parts.c
 * sources: src/draw/rng.c src/draw/bernoulli.c src/draw/discrete.c
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/littlestone/littlestone.h"
#include "draw/sampler.h"
#include "server_stubs.h"
#include "unit.h"

#define ROUNDING 1e-9
#define LABELS_ROOM (4 * BITS_WORDS(FINITE_MAX_POINTS)) /* of 16 classes */

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

/*
 * By the definition; members is a set of at most 64 hypotheses.  Where one side is no
 * deeper than what was found, the other does not matter.
 */
static int
brute_force(const FiniteClass *finite, uint64 members)
{
	int best = members == 0 ? -1 : 0;

	for (int p = 0; p < finite->npoints; p++)
	{
		uint64 ones = members & finite_class_column(finite, p)[0];
		int	   depth;

		if (ones == 0 || ones == members)
			continue;
		depth = brute_force(finite, ones);
		if (depth >= best)
			best = Max(best, 1 + Min(depth, brute_force(finite, members & ~ones)));
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

/* ---------- more than two classes ---------- */

static FiniteClass *
empty_classes(int nhypotheses, int npoints, int nclasses)
{
	FiniteClass *finite = empty_class(nhypotheses, npoints * class_bits(nclasses));

	finite->npoints = npoints;
	finite->planes = class_bits(nclasses);
	return finite;
}

static void
set_class(FiniteClass *finite, int h, int p, int label)
{
	for (int i = 0; i < finite->planes; i++)
		if (label >> i & 1)
			bits_add(finite->columns + (i * finite->npoints + p) * BITS_WORDS(finite->nhypotheses),
					 h);
}

static FiniteClass *
random_classes(int nhypotheses, int npoints, int nclasses)
{
	FiniteClass *finite = empty_classes(nhypotheses, npoints, nclasses);

	for (int h = 0; h < nhypotheses; h++)
		for (int p = 0; p < npoints; p++)
			set_class(finite, h, p, (int) sample_uniform(nclasses));
	return finite;
}

/* Every labelling that does not fall, as thresholds between classes in order. */
static FiniteClass *
rising(int npoints, int nclasses)
{
	int			 says[64] = {0};
	int			 count = 0;
	FiniteClass *finite = empty_classes(FINITE_MAX_HYPOTHESES, npoints, nclasses);
	FiniteClass *result;

	for (;;)
	{
		int p = npoints - 1;

		for (int i = 0; i < npoints; i++)
			set_class(finite, count, i, says[i]);
		count++;
		while (p >= 0 && says[p] == nclasses - 1)
			p--;
		if (p < 0)
			break;
		for (int next = says[p] + 1; p < npoints; p++)
			says[p] = next;
	}
	result = empty_classes(count, npoints, nclasses);
	for (int h = 0; h < count; h++)
		for (int p = 0; p < npoints; p++)
			set_class(result, h, p, finite_class_label(finite, h, p));
	return result;
}

/*
 * By the definition: a tree whose root has two different labels, each with a tree of a
 * lower depth.  Members is a set of at most 64 hypotheses.
 */
static int
brute_force_classes(const FiniteClass *finite, uint64 members)
{
	int best = 0;

	if (members == 0)
		return -1;
	for (int p = 0; p < finite->npoints; p++)
	{
		int nclasses = finite_class_classes(finite);
		int depth[16];

		for (int label = 0; label < nclasses; label++)
		{
			uint64 part = 0;

			for (int h = 0; h < finite->nhypotheses; h++)
				if (members >> h & 1 && finite_class_label(finite, h, p) == label)
					part |= UINT64CONST(1) << h;
			depth[label] = part == members ? -1 : brute_force_classes(finite, part);
			for (int other = 0; other < label; other++)
				best = Max(best, 1 + Min(depth[label], depth[other]));
		}
	}
	return best;
}

static bool
right_dimension(const FiniteClass *finite, int *seen)
{
	int expected = brute_force_classes(finite, (UINT64CONST(1) << finite->nhypotheses) - 1);

	seen[expected]++;
	return littlestone_dimension_of_class(finite, LITTLESTONE_WORK) == expected;
}

static void
test_classes_dimension(void)
{
	int wrong = 0;
	int seen[LITTLESTONE_MAX_DIMENSION + 1] = {0};

	/* All 511 classes of labellings of two points by three classes. */
	for (int members = 1; members < 512; members++)
	{
		FiniteClass *finite = empty_classes(pg_popcount32(members), 2, 3);
		int			 h = 0;

		for (int labelling = 0; labelling < 9; labelling++)
		{
			if (!(members >> labelling & 1))
				continue;
			set_class(finite, h, 0, labelling % 3);
			set_class(finite, h++, 1, labelling / 3);
		}
		wrong += !right_dimension(finite, seen);
	}
	ok(wrong == 0, "all classes of two points and three labels (dimensions 0 to 2: %d, %d, %d)",
	   seen[0], seen[1], seen[2]);
	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < 600; i++)
		wrong += !right_dimension(random_classes(1 + i % 20, 1 + i / 20 % 5, 3 + i % 9), seen);
	ok(wrong == 0,
	   "600 random classes of 3 to 11 labels (of dimensions 0 to 4: %d, %d, %d, %d, %d)", seen[0],
	   seen[1], seen[2], seen[3], seen[4]);
	for (int n = 1; n <= 5; n++)
		ok(right_dimension(rising(n, 3), seen), "rising labels of %d points", n);
}

static void
test_many_classes(void)
{
	/* One hypothesis for each label: any question tells them apart, and no tree is deep. */
	FiniteClass *constants = empty_classes(1000, 3, 1000);
	FiniteClass *cube = empty_classes(2187, 7, 3);

	for (int h = 0; h < 1000; h++)
		for (int p = 0; p < 3; p++)
			set_class(constants, h, p, h);
	ok(littlestone_dimension_of_class(constants, LITTLESTONE_WORK) == 1, "1000 constants");
	for (int h = 0; h < 2187; h++)
		for (int p = 0, left = h; p < 7; p++, left /= 3)
			set_class(cube, h, p, left % 3);
	ok(littlestone_dimension_of_class(cube, LITTLESTONE_WORK) == 7,
	   "all labellings of 7 points by 3 classes: no label more makes the tree deeper");
	for (int k = 3; k <= 10; k++)
	{
		static const int points[] = {0, 0, 0, 16, 16, 15, 10, 8, 6, 5, 5};
		FiniteClass		*finite = rising(points[k], k);
		int				 dimension = littlestone_dimension_of_class(finite, LITTLESTONE_WORK);

		ok(dimension > 0, "%d thresholds between %d classes over %d points: dimension %d",
		   finite->nhypotheses, k, points[k], dimension);
	}
	ok(littlestone_dimension_of_class(random_classes(4096, 300, 1000), LITTLESTONE_WORK) == -2,
	   "a class whose parts take too much memory is no answer");
}

/* ---------- the optimal algorithm ---------- */

/* Mistakes on random points with the labels of one hypothesis. */
static int
count_mistakes(const FiniteClass *finite, OptimalAlgorithm *algorithm, int truth)
{
	OptimalState *state = optimal_start(algorithm);
	int			  nclasses = finite_class_classes(finite);
	uint64		  says[LABELS_ROOM];
	int			  mistakes = 0;

	for (int i = 0; i < 30; i++)
	{
		int point = (int) sample_uniform(finite->npoints);
		int label = finite_class_label(finite, truth, point);

		optimal_labels(algorithm, state, says);
		mistakes += labels_get(says, finite->npoints, nclasses, point) != label;
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

	for (int i = 0; i < 300; i++)
	{
		FiniteClass		 *finite = i % 3 == 0	? random_class(30, 12)
								   : i % 3 == 1 ? thresholds(2 + i)
												: random_classes(40, 12, 3 + i % 13);
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

/* Over every sequence that some hypothesis explains. */
static int
most_mistakes(const FiniteClass *finite, OptimalAlgorithm *algorithm, const OptimalState *state)
{
	uint64 says[LABELS_ROOM];
	int	   nclasses = finite_class_classes(finite);
	int	   most = 0;

	optimal_labels(algorithm, state, says);
	for (int p = 0; p < finite->npoints; p++)
	{
		const PointParts *parts = optimal_parts(algorithm, p);

		for (int i = 0; i < parts->nlabels; i++)
		{
			OptimalState *next = optimal_copy(algorithm, state);

			optimal_example(algorithm, next, p, parts->label[i]);
			if (next->realizable &&
				labels_get(says, finite->npoints, nclasses, p) != parts->label[i])
				most = Max(most, 1 + most_mistakes(finite, algorithm, next));
			optimal_free(next);
		}
	}
	return most;
}

static void
test_worst_mistakes(void)
{
	int wrong = 0;

	for (int i = 0; i < 300; i++)
	{
		FiniteClass		 *finite = random_classes(2 + i % 14, 1 + i % 4, 3 + i % 3);
		OptimalAlgorithm *algorithm = optimal_create(finite);

		wrong += most_mistakes(finite, algorithm, optimal_start(algorithm)) !=
				 littlestone_dimension_of_class(finite, LITTLESTONE_WORK);
	}
	ok(wrong == 0, "the worst sequence has as many mistakes as the dimension");
}

static void
test_unrealizable_classes(void)
{
	FiniteClass		 *finite = rising(6, 5);
	OptimalAlgorithm *algorithm = optimal_create(finite);
	OptimalState	 *state = optimal_start(algorithm);
	uint64			  says[2][LABELS_ROOM];
	int				  differ = 0;

	optimal_example(algorithm, state, 2, 3);
	optimal_labels(algorithm, state, says[0]);
	optimal_example(algorithm, state, 4, 1);
	optimal_labels(algorithm, state, says[1]);
	for (int p = 0; p < 6; p++)
		differ += labels_get(says[0], 6, 5, p) != labels_get(says[1], 6, 5, p);
	ok(!state->realizable && differ == 1 && labels_get(says[1], 6, 5, 4) == 1,
	   "of five classes, too, it changes its own point alone");
	optimal_example(algorithm, state, 4, 4);
	optimal_labels(algorithm, state, says[1]);
	ok(labels_get(says[1], 6, 5, 4) == 4, "to the label that came last");
}

/* ---------- the stable learner ---------- */

/* How often a run on fresh examples of one hypothesis gives that hypothesis. */
static int
count_right(const FiniteClass *finite, int truth, int nexamples, int depth, int64 part)
{
	OptimalAlgorithm *algorithm = optimal_create(finite);
	int				  nclasses = finite_class_classes(finite);
	uint64			  expected[LABELS_ROOM] = {0};
	uint64			  labels[LABELS_ROOM];
	int				  right = 0;

	for (int p = 0; p < finite->npoints; p++)
		labels_set(expected, finite->npoints, nclasses, p, finite_class_label(finite, truth, p));
	for (int run = 0; run < 200; run++)
	{
		int32 examples[1000];
		Batch batch = {nexamples, examples};

		for (int i = 0; i < nexamples; i++)
		{
			int point = (int) sample_uniform(finite->npoints);

			examples[i] = nclasses * point + finite_class_label(finite, truth, point);
		}
		stable_learner(algorithm, finite, &batch, depth, part, labels);
		right +=
			memcmp(labels, expected, LABELS_WORDS(finite->npoints, nclasses) * sizeof(uint64)) == 0;
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
	/* Seen at all with probability 1 - 5 (4/5)^100 each run. */
	right = count_right(rising(5, 10), 1000, 200, 2, 20);
	ok(right >= 180, "ten classes over 5 points, 200 examples: right in %d of 200 runs", right);
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
	test_classes_dimension();
	test_many_classes();
	test_mistakes();
	test_worst_mistakes();
	test_unrealizable();
	test_unrealizable_classes();
	test_learner();
	test_histogram();
	return done();
}
