/*
 * describe/draw.c
 *		The noise of a description, and what is read off noisy counts.
 *
 * Every public cell gets noise, empty ones too.  Of a category every level that
 * occurs does, and those that do not stay away; what that tells is paid for
 * with delta, because a level that one unit has alone is hardly ever listed.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "draw/record.h"
#include "draw/sampler.h"
#include "mechanism/describe/describe.h"

static int64
noisy(const DescribeNoise *noise, int64 count)
{
	return count + sample_discrete_gaussian(noise->variance, 1);
}

/* ---------- what is recorded for tests ---------- */

#ifdef PRIVPRED_RECORD_INPUTS
static void
record_cell(int histogram, int cell, int64 count)
{
	record_put(record_key((int[]){histogram, cell}, 2 * sizeof(int)), count);
}

static void
record_level(int histogram, const char *level, int64 count)
{
	record_put(record_key(level, strlen(level)) * 31 + histogram, count);
}

static void
record_cells(const DescribeNoise *noise, int count, const Histogram *histograms)
{
	Charge charge = describe_charge(noise);

	record_open("describe", INPUT_SQUARES, charge.part[0].numerator);
	for (int i = 0; i < count; i++)
	{
		record_cell(i, -1, histograms[i].nulls);
		for (int cell = 0; cell < described_cells(histograms[i].kind); cell++)
			record_cell(i, cell, histograms[i].cells[cell]);
	}
}
#define record_end() record_close()
#else
#define record_level(histogram, level, count) ((void) 0)
#define record_cells(noise, count, histograms) ((void) 0)
#define record_end() ((void) 0)
#endif

/* ---------- levels ---------- */

/* Heavier levels come first; equal ones by name. */
static bool
outweighs(int64 count, const char *level, const ListedLevel *other)
{
	return count > other->count || (count == other->count && strcmp(level, other->level) < 0);
}

/* Keeps the heaviest ones, sorted by weight. */
static void
list_level(Histogram *histogram, const char *level, int64 count)
{
	ListedLevel *levels = histogram->levels;
	int			 place;

	if (histogram->nlevels == DESCRIBED_MAX_LEVELS)
	{
		ListedLevel *last = &levels[DESCRIBED_MAX_LEVELS - 1];

		if (!outweighs(count, level, last))
			return;
		pfree(last->level);
		histogram->nlevels--;
	}
	for (place = histogram->nlevels; place > 0 && outweighs(count, level, &levels[place - 1]);
		 place--)
		levels[place] = levels[place - 1];
	levels[place] = (ListedLevel){pstrdup(level), count};
	histogram->nlevels++;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const ListedLevel *) a)->level, ((const ListedLevel *) b)->level);
}

static void
draw_levels(const DescribeNoise *noise, Histogram *histograms, LevelSource *source)
{
	int			histogram;
	const char *level;
	int64		count;

	while (source->next(source, &histogram, &level, &count))
	{
		int64 seen = noisy(noise, count);

		record_level(histogram, level, count);

		CHECK_FOR_INTERRUPTS();
		if (seen >= noise->level_threshold)
			list_level(&histograms[histogram], level, seen);
	}
}

void
describe_draw(const DescribeNoise *noise, int count, Histogram *histograms, LevelSource *levels)
{
	record_cells(noise, count, histograms);
	for (int i = 0; i < count; i++)
	{
		Histogram *histogram = &histograms[i];

		histogram->nulls = noisy(noise, histogram->nulls);
		for (int cell = 0; cell < described_cells(histogram->kind); cell++)
			histogram->cells[cell] = noisy(noise, histogram->cells[cell]);
		if (histogram->kind == DESCRIBED_CATEGORY)
			histogram->levels = palloc(DESCRIBED_MAX_LEVELS * sizeof(ListedLevel));
	}
	if (noise->categories > 0)
		draw_levels(noise, histograms, levels);
	record_end();
	for (int i = 0; i < count; i++)
		if (histograms[i].nlevels > 0)
			qsort(histograms[i].levels, histograms[i].nlevels, sizeof(ListedLevel), by_name);
}

/* ---------- what is read off ---------- */

bool
histogram_bounds(const Histogram *histogram, int64 threshold, double *min, double *max)
{
	int last = described_cells(histogram->kind) - 1;
	int from = 1;
	int to = last - 1;

	while (from <= to && histogram->cells[from] < threshold)
		from++;
	while (to >= from && histogram->cells[to] < threshold)
		to--;
	if (from > to)
		return false;
	*min = described_edge(histogram->kind, from - 1);
	*max = described_edge(histogram->kind, to);
	return true;
}

double
histogram_middle(const Histogram *histogram)
{
	int	   heaviest = 1;
	double middle;

	for (int cell = 2; cell < described_cells(histogram->kind) - 1; cell++)
		if (histogram->cells[cell] > histogram->cells[heaviest])
			heaviest = cell;
	middle = (described_edge(histogram->kind, heaviest - 1) +
			  described_edge(histogram->kind, heaviest)) /
			 2;
	return histogram->kind == DESCRIBED_NUMBER ? middle : floor(middle);
}

const char *
histogram_level(const Histogram *histogram)
{
	const ListedLevel *heaviest = histogram->levels;

	for (int i = 1; i < histogram->nlevels; i++)
		if (outweighs(histogram->levels[i].count, histogram->levels[i].level, heaviest))
			heaviest = &histogram->levels[i];
	return histogram->nlevels > 0 ? heaviest->level : NULL;
}
