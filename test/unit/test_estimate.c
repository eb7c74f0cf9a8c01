/*
 * test_estimate.c
 *		Estimates end: their work is bounded, counted in steps; what they may be
 *		off by is true, by exact summation; and a cheaper draw has the same mean.
 *
 * sources: src/request/estimate_plan.c src/mechanism/hypotheses.c src/mechanism/columns.c
 * sources: src/mechanism/plane.c src/mechanism/space.c src/mechanism/flats.c
 * sources: src/mechanism/boxes.c src/mechanism/points.c src/mechanism/stable/draw.c
 * sources: src/mechanism/relabel/chunks.c
 * sources: src/mechanism/relabel/draw.c src/mechanism/sort.c src/mechanism/vote/draw.c
 * sources: src/mechanism/solve.c
 * sources: src/draw/rng.c src/draw/bernoulli.c
 */
#include "postgres.h"

#include <math.h>

#include "request/estimate_plan.h"
#include "mechanism/relabel/draw.h"
#include "mechanism/solve.h"
#include "server_stubs.h"
#include "unit.h"

#define UNITS 1500
#define WIDTH 2

static double			   x[UNITS * WIDTH];
static uint8			   label[UNITS];
static int32			   first_row[UNITS + 1];
static const LabelledUnits units = {UNITS, UNITS, WIDTH, first_row, label, x};
static const LabelledUnits on_line = {UNITS, UNITS, 1, first_row, label, x};

static void
make_units(void)
{
	for (int i = 0; i < UNITS; i++)
	{
		for (int j = 0; j < WIDTH; j++)
			x[i * WIDTH + j] = arbitrary(1000) / 1000.0;
		label[i] = x[i * WIDTH] + arbitrary(300) / 1000.0 > 0.6;
		first_row[i + 1] = i + 1;
	}
}

/* ---------- work ---------- */

static void
test_plan(void)
{
	bool bounded = true;
	bool sensible = true;

	for (double steps = 0; steps < 1e13; steps = steps * 7 + 1)
		for (int64 rows = 0; rows < INT64CONST(100000000000); rows = rows * 5 + 1)
		{
			EstimatePlan plan = estimate_plan(rows, steps);
			double		 most = Max(ESTIMATE_WORK, ESTIMATE_LEAST_ROWS * Max(steps, 1));

			if ((double) plan.rows * plan.draws * steps > most)
				bounded = false;
			if (plan.rows > rows || plan.rows < Min(rows, ESTIMATE_LEAST_ROWS) || plan.draws < 1 ||
				plan.draws > ESTIMATE_MOST_DRAWS || (plan.rows < rows && plan.draws > 1))
				sensible = false;
		}
	ok(bounded, "whatever the rows and a draw's steps, the work is bounded");
	ok(sensible, "a sample has one draw for each of its rows, and is not smaller than need be");
	ok(estimate_plan(1000, 1000).rows == 1000 &&
		   estimate_plan(1000, 1000).draws == ESTIMATE_MOST_DRAWS,
	   "few rows are all asked about, several times");
}

/* What is listed for a sample of the units, counted. */
static double
listed(HypothesisClass class, const LabelledUnits *of, Share q)
{
	HypothesisSource source = {class, of, NULL, 64};
	HypothesisSpace *space = hypotheses_create(&source);
	StableSampler	*sampler;
	int32			*errors;
	double			 count = 0;
	int				 blocks;

	sampler = stable_sampler_create(space, of, q, 1, 2);
	errors = palloc(sizeof(int32) * hypotheses_block_size(space));
	stable_choose(sampler);
	blocks = hypotheses_blocks(space);
	for (int i = 0; i < blocks; i++)
		count += hypotheses_errors(space, i, errors);
	return count / hypotheses_steps(space, q / SHARE_ONE);
}

static void
test_steps(void)
{
	static const double shares[] = {0.01, 0.1, 0.5, 0.9};

	for (int i = 0; i < lengthof(shares); i++)
	{
		Share q = share_from_double(shares[i]);

		/* T may be larger than expected: by a half with probability far below 1e-9, and some. */
		ok(listed(HYPOTHESES_STUMP, &units, q) < 4 &&
			   listed(HYPOTHESES_INTERVAL, &on_line, q) < 9 &&
			   listed(HYPOTHESES_HALFSPACE, &units, q) < 4 &&
			   listed(HYPOTHESES_RECTANGLE, &units, q) < 9,
		   "with %g of the units, no more is listed than steps are counted", shares[i]);
	}
}

/* ---------- margins ---------- */

/* The probability that a mean of n coins is off by more. */
static double
off_by_more(int n, double p, double margin)
{
	double sum = 0;

	for (int k = 0; k <= n; k++)
		if (fabs((double) k / n - p) > margin)
			sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
					   (n - k) * log1p(-p));
	return sum;
}

static void
test_margins(void)
{
	double worst = 0;

	for (int n = 1; n < 5000; n = n * 3 + 1)
		for (double p = 0.05; p < 1; p += 0.05)
			worst = Max(worst, off_by_more(n, p, estimate_margin(n, 1, true)));
	ok(worst <= 1 - ESTIMATE_CONFIDENCE,
	   "a mean is off by more than the margin with probability %g at most", worst);
	ok(estimate_margin(100, 8, false) < estimate_margin(100, 1, false) &&
		   estimate_margin(100, 8, true) == estimate_margin(100, 1, true),
	   "draws for one question do not stand for other questions");
	ok(estimate_margin(0, 1, true) == 1, "without rows nothing is known");
}

/* ---------- the draw ---------- */

static void
test_mean(void)
{
	HypothesisSource source = {HYPOTHESES_STUMP, &units, NULL, 0};
	StableSampler	*sampler;
	int32			 chunk_of[UNITS];
	Chunks			*chunks;
	int				 draws = 40000;

	sampler =
		stable_sampler_create(hypotheses_create(&source), &units, share_from_double(0.05), 1, 10);
	for (int i = 0; i < UNITS; i++)
		chunk_of[i] = i % 20;
	chunks = chunks_create(&source, 20, chunk_of);
	for (int i = 0; i < 3; i++)
	{
		double question[WIDTH] = {0.3 + 0.1 * i, 0.5};
		double sum = 0;
		double exact;

		stable_choose(sampler);
		exact = relabel_probability(sampler, chunks, EPSILON_UNITS_PER_ONE / 10, question);
		for (int j = 0; j < draws; j++)
			sum += relabel_estimate(sampler, chunks, EPSILON_UNITS_PER_ONE / 10, question);
		/* Hoeffding: a right one fails with probability below 1e-9. */
		ok(fabs(sum / draws - exact) < sqrt(log(2e9) / (2 * draws)),
		   "the mean of draws is %g, the sum over all stumps %g", sum / draws, exact);
	}
}

int
main(void)
{
	make_units();
	test_plan();
	test_steps();
	test_margins();
	test_mean();
	return done();
}
