/*
 * test_describe.c
 *		Descriptions: the public cells, the noise that a grant pays for, who is seen
 *		through it, and that every public cell has it.
 *
 * sources: src/mechanism/describe/grid.c src/mechanism/describe/noise.c
 * sources: src/mechanism/describe/draw.c src/mechanism/gradient/noise.c src/account/renyi.c
 * sources: src/account/order.c src/account/charge.c src/account/accountant.c
 * sources: src/draw/rng.c src/draw/bernoulli.c src/draw/discrete.c
 */
#include "postgres.h"

#include <math.h>

#include "account/charge.h"
#include "mechanism/describe/describe.h"
#include "mechanism/gradient/noise.h"
#include "server_stubs.h"
#include "unit.h"

static const DescribedKind gridded[] = {DESCRIBED_INTEGER, DESCRIBED_NUMBER, DESCRIBED_DATE,
										DESCRIBED_TIME};

/* ---------- the grid ---------- */

static void
test_grid(DescribedKind kind, int cells)
{
	bool right = described_cells(kind) == cells;

	for (int edge = 0; edge < cells - 1; edge++)
	{
		double value = described_edge(kind, edge);

		right &= edge == 0 || described_edge(kind, edge - 1) < value;
		right &= described_cell(kind, value) == edge + 1;
		right &= described_cell(kind, nextafter(value, -INFINITY)) == edge;
	}
	right &= described_cell(kind, -INFINITY) == 0 && described_cell(kind, INFINITY) == cells - 1;
	ok(right, "kind %d has %d cells, closed below", kind, cells);
}

static void
test_edges(void)
{
	ok(described_edge(DESCRIBED_INTEGER, 0) == -5e12 &&
		   described_edge(DESCRIBED_INTEGER, 38) == -1 &&
		   described_edge(DESCRIBED_INTEGER, 39) == 0 &&
		   described_edge(DESCRIBED_INTEGER, 40) == 1 &&
		   described_edge(DESCRIBED_INTEGER, 78) == 5e12,
	   "integers: 1, 2, 5 and so on, and 0, on both sides");
	ok(described_edge(DESCRIBED_NUMBER, 56) == -1e-6 && described_edge(DESCRIBED_NUMBER, 57) == 0 &&
		   described_edge(DESCRIBED_NUMBER, 60) == 5e-6 &&
		   described_edge(DESCRIBED_NUMBER, 114) == 5e12,
	   "numbers: the same from a millionth on");
	ok(described_edge(DESCRIBED_DATE, 0) == -25567 && described_edge(DESCRIBED_DATE, 70) == 0 &&
		   described_edge(DESCRIBED_DATE, 100) == 10957 &&
		   described_edge(DESCRIBED_DATE, 101) == 11323 &&
		   described_edge(DESCRIBED_DATE, 200) == 47482 &&
		   described_edge(DESCRIBED_TIME, 101) == 11323.0 * 86400,
	   "days of 1 January, leap years included");
}

/* ---------- noise ---------- */

/* Pr[Z >= least] of a discrete Gaussian. */
static double
tail(uint64 variance, int64 least)
{
	int64  reach = (int64) (12 * sqrt((double) variance)) + 20;
	double all = 0;
	double above = 0;

	for (int64 z = -reach; z <= reach; z++)
	{
		double mass = exp(-(double) z * z / (2.0 * variance));

		all += mass;
		above += z >= least ? mass : 0;
	}
	return above / all;
}

/* An account that was made for it can pay, and with less noise it could not. */
static void
test_affordable(double epsilon, double delta, int histograms, int categories)
{
	DescribeNoise noise;
	RenyiGrant grant = {.epsilon = (EpsilonUnits) (epsilon * 1e12), .delta = delta, .once = true};
	RenyiPlan  plan;
	double	   rho = gradient_rho(epsilon, delta, 1);
	bool	   least;

	if (!describe_noise(epsilon, delta, histograms, categories, &noise))
	{
		ok(false, "epsilon %g, delta %g: there is noise for it", epsilon, delta);
		return;
	}
	least = histograms <= rho * noise.variance &&
			(noise.variance == 1 || histograms > rho * (noise.variance - 1) * (1 - 1e-12));
	grant.finite = describe_charge(&noise);
	ok(least && grant.finite.part[0].numerator == 2 * histograms &&
		   grant.finite.part[0].denominator == noise.variance && grant.finite.part[1].times == 0,
	   "epsilon %g, delta %g, %d histograms: variance " UINT64_FORMAT " is the least, charged 2m/v",
	   epsilon, delta, histograms, noise.variance);
	ok(renyi_choose(&grant, 0, RENYI_ORDER_INFINITE, &plan) && plan.answers >= 1 &&
		   grant.finite.delta == (categories > 0 ? delta / 4 : 0),
	   "and a budget made for it pays, with a quarter of delta if there are levels");
	if (categories == 0 || noise.variance > 1000000)
		return;
	ok(categories * tail(noise.variance, noise.level_threshold - 1) <= delta / 4,
	   "a level of one unit is listed with %g in all %d categories, %g at most",
	   categories * tail(noise.variance, noise.level_threshold - 1), categories, delta / 4);
}

static void
test_cell_thresholds(void)
{
	DescribeNoise noise;

	(void) describe_noise(1, 1e-6, 14, 8, &noise);
	for (int i = 0; i < lengthof(gridded); i++)
	{
		int64  threshold = describe_cell_threshold(&noise, gridded[i]);
		double of_any = described_cells(gridded[i]) * tail(noise.variance, threshold);

		ok(of_any <= 0.05 && of_any >= 0.001, "kind %d: a false cell in %.3f of columns",
		   gridded[i], of_any);
	}
	ok(tail(noise.variance, describe_cell_threshold(&noise, DESCRIBED_CATEGORY)) <= 0.05,
	   "NULL of a category likewise");
	ok(!describe_noise(1e-9, 1e-300, 5, 0, &noise) &&
		   !describe_noise(1e-9, 1e-6, PG_INT32_MAX, 0, &noise),
	   "too little is refused");
}

/* ---------- the draw ---------- */

typedef struct Levels
{
	LevelSource source;
	int			count;
	int			next;
	int64		units; /* of each */
	char		name[20];
} Levels;

static bool
next_of(LevelSource *source, int *histogram, const char **level, int64 *count)
{
	Levels *levels = (Levels *) source;

	if (levels->next == levels->count)
		return false;
	snprintf(levels->name, sizeof(levels->name), "l%07d", levels->next++);
	*histogram = 1;
	*level = levels->name;
	*count = levels->units;
	return true;
}

#define DRAWS 400

/* Every public cell, be it empty or full, has noise of the variance that is charged. */
static void
test_noise_is_drawn(int64 units)
{
	DescribeNoise noise = {.histograms = 2, .categories = 1, .variance = 9, .level_threshold = 5};
	int			  cells = described_cells(DESCRIBED_NUMBER);
	int64		  above = 0;
	int64		  zero = 0;
	int64		  nulls = 0;
	int64		  listed = 0;

	for (int draw = 0; draw < DRAWS; draw++)
	{
		Histogram histograms[2] = {{.kind = DESCRIBED_NUMBER, .nulls = units},
								   {.kind = DESCRIBED_CATEGORY, .nulls = units}};
		Levels	  levels = {.source = {next_of}, .count = 100, .units = 1};

		histograms[0].cells = palloc_array(int64, cells);
		for (int cell = 0; cell < cells; cell++)
			histograms[0].cells[cell] = units;
		describe_draw(&noise, 2, histograms, &levels.source);
		for (int cell = 0; cell < cells; cell++)
		{
			above += histograms[0].cells[cell] >= units + 3;
			zero += histograms[0].cells[cell] == units;
		}
		nulls += histograms[0].nulls > units;
		nulls += histograms[1].nulls > units;
		listed += histograms[1].nlevels;
	}
	ok(plausible(above, (int64) DRAWS * cells, tail(9, 3)) &&
		   plausible(zero, (int64) DRAWS * cells, tail(9, 0) - tail(9, 1)),
	   "cells of " INT64_FORMAT " units have the noise that is charged", units);
	ok(fabs(nulls - 2 * DRAWS * tail(9, 1)) < 200, "NULLs too");
	ok(plausible(listed, (int64) DRAWS * 100, tail(9, 4)),
	   "levels of one unit are listed as often");
}

static void
test_heaviest_levels(void)
{
	DescribeNoise noise = {.histograms = 2, .categories = 1, .variance = 1, .level_threshold = 50};
	Histogram	  histograms[2] = {{.kind = DESCRIBED_CATEGORY}, {.kind = DESCRIBED_CATEGORY}};
	Levels		  levels = {.source = {next_of}, .count = 3000, .units = 1000};
	bool		  sorted = true;
	const char	 *heaviest;

	describe_draw(&noise, 2, histograms, &levels.source);
	for (int i = 1; i < histograms[1].nlevels; i++)
		sorted &= strcmp(histograms[1].levels[i - 1].level, histograms[1].levels[i].level) < 0;
	ok(histograms[0].nlevels == 0 && histograms[1].nlevels == DESCRIBED_MAX_LEVELS && sorted,
	   "%d levels are listed at most, by name", DESCRIBED_MAX_LEVELS);
	heaviest = histogram_level(&histograms[1]);
	for (int i = 0; i < histograms[1].nlevels; i++)
	{
		const ListedLevel *level = &histograms[1].levels[i];

		sorted &= level->count >= 1000; /* the upper third */
		if (strcmp(level->level, heaviest) == 0)
			for (int j = 0; j < histograms[1].nlevels; j++)
				sorted &= histograms[1].levels[j].count <= level->count;
	}
	ok(sorted && histogram_level(&histograms[0]) == NULL, "those are the heaviest ones");
}

static void
test_reading(void)
{
	int		  cells = described_cells(DESCRIBED_INTEGER);
	Histogram histogram = {.kind = DESCRIBED_INTEGER, .cells = palloc0_array(int64, cells)};
	double	  min;
	double	  max;

	histogram.cells[0] = histogram.cells[cells - 1] = 1000;
	ok(!histogram_bounds(&histogram, 10, &min, &max), "open cells are no bounds");
	histogram.cells[described_cell(DESCRIBED_INTEGER, 17)] = 10;
	ok(histogram_bounds(&histogram, 10, &min, &max) && min == 10 && max == 20, "one cell is seen");
	histogram.cells[described_cell(DESCRIBED_INTEGER, 90)] = 50;
	histogram.cells[described_cell(DESCRIBED_INTEGER, -3)] = 9;
	ok(histogram_bounds(&histogram, 10, &min, &max) && min == 10 && max == 100,
	   "from the first to the last that is seen");
	ok(histogram_middle(&histogram) == 75, "the middle of the heaviest");
	histogram.cells[1] = histogram.cells[cells - 2] = 10;
	ok(histogram_bounds(&histogram, 10, &min, &max) && min == -5e12 && max == 5e12,
	   "up to the outermost edges");
}

int
main(void)
{
	test_grid(DESCRIBED_INTEGER, 80);
	test_grid(DESCRIBED_NUMBER, 116);
	test_grid(DESCRIBED_DATE, 202);
	test_grid(DESCRIBED_TIME, 202);
	test_edges();
	for (int m = 1; m <= 1600; m = 3 * m + 1)
		for (int d = 1; d <= 9; d += 4)
			for (int e = 0; e < 5; e++)
				test_affordable((double[]){0.01, 0.3, 1, 8, 100}[e], pow(10, -d), m, m / 2);
	test_cell_thresholds();
	test_noise_is_drawn(0);
	test_noise_is_drawn(1000);
	test_heaviest_levels();
	test_reading();
	return done();
}
