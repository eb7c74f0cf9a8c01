/*
 * points.c
 *		Finite classes: their labelings of a sample, and how many rows each gets
 *		wrong.
 *
 * Of all hypotheses that label T alike, the first represents them.  So H is
 * nested: the first of a set is the first of every part of it that it is in, and
 * without some unit's rows H_T loses hypotheses and gains none (used by the proof
 * of "relabel").  What a hypothesis gets wrong does not depend on T.
 */
#include "postgres.h"

#include "mechanism/hypotheses.h"

typedef struct Points
{
	const FiniteClass	*finite;
	const LabelledUnits *units;
	int					 words;	 /* of a set of points */
	uint64				*rows;	 /* of each hypothesis: the points it labels 1 */
	int32				*errors; /* of each hypothesis */

	/* T */
	uint64 *chosen; /* its points */
	int32	nlisted;
	int32  *listed; /* H_T, rising */
	int		nslots;
	int16  *slots; /* a hash table of the listed; -1: free */
} Points;

static const double *
row_of(const LabelledUnits *units, int32 row)
{
	return units->x + (Size) row * units->width;
}

/* Every hypothesis says 0 of what is no point. */
static void
count_errors(Points *points)
{
	const FiniteClass	*finite = points->finite;
	const LabelledUnits *units = points->units;
	int32				*balance = palloc0(sizeof(int32) * (finite->npoints + 1));
	int32				 ones = count_ones(units);

	for (int32 i = 0; i < units->nrows; i++)
	{
		int point = point_of(finite, row_of(units, i));

		if (point >= 0)
			balance[point] += units->label[i] ? -1 : 1;
	}
	for (int h = 0; h < finite->nhypotheses; h++)
	{
		points->errors[h] = ones;
		for (int p = 0; p < finite->npoints; p++)
			if (bits_member(points->rows + (Size) h * points->words, p))
				points->errors[h] += balance[p];
	}
	pfree(balance);
}

static void *
points_create(const HypothesisSource *source)
{
	Points			  *points = palloc0(sizeof(Points));
	const FiniteClass *finite = source->finite;

	points->finite = finite;
	points->units = source->units;
	points->words = BITS_WORDS(finite->npoints);
	points->rows = palloc0(sizeof(uint64) * (finite->nhypotheses * (Size) points->words + 1));
	for (int p = 0; p < finite->npoints; p++)
		for (int h = 0; h < finite->nhypotheses; h++)
			if (finite_class_label(finite, h, p))
				bits_add(points->rows + (Size) h * points->words, p);
	points->errors = TAKE(int32, finite->nhypotheses);
	points->listed = TAKE(int32, finite->nhypotheses);
	points->chosen = TAKE(uint64, points->words);
	points->nslots = 4 * finite->nhypotheses;
	points->slots = TAKE(int16, points->nslots);
	count_errors(points);
	return points;
}

/* ---------- T ---------- */

static bool
alike(const Points *points, int h, int other)
{
	const uint64 *left = points->rows + (Size) h * points->words;
	const uint64 *right = points->rows + (Size) other * points->words;

	for (int i = 0; i < points->words; i++)
		if (((left[i] ^ right[i]) & points->chosen[i]) != 0)
			return false;
	return true;
}

static uint64
hash_of(const Points *points, int h)
{
	const uint64 *row = points->rows + (Size) h * points->words;
	uint64		  hash = 0;

	for (int i = 0; i < points->words; i++)
	{
		hash = (hash ^ (row[i] & points->chosen[i])) * UINT64CONST(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

static void
points_choose(void *own, const uint64 *units)
{
	Points *points = own;

	memset(points->chosen, 0, sizeof(uint64) * points->words);
	FOR_CHOSEN_ROWS(row, points->units, units)
	{
		int point = point_of(points->finite, row_of(points->units, row));

		if (point >= 0)
			bits_add(points->chosen, point);
	}
	points->nlisted = 0;
	memset(points->slots, 0xff, sizeof(int16) * points->nslots);
	for (int h = 0; h < points->finite->nhypotheses; h++)
	{
		uint64 slot = hash_of(points, h) % points->nslots;

		while (points->slots[slot] >= 0 && !alike(points, h, points->slots[slot]))
			slot = (slot + 1) % points->nslots;
		if (points->slots[slot] >= 0)
			continue;
		points->slots[slot] = (int16) h;
		points->listed[points->nlisted++] = h;
	}
}

static int
points_max_blocks(const void *own)
{
	return 1;
}

static int32
points_block_size(const void *own)
{
	return ((const Points *) own)->finite->nhypotheses;
}

static int
points_blocks(void *own)
{
	return 1;
}

static int32
points_errors(void *own, int block, int32 *errors)
{
	const Points *points = own;

	for (int32 i = 0; i < points->nlisted; i++)
		errors[i] = points->errors[points->listed[i]];
	return points->nlisted;
}

static void
points_get(void *own, int block, int32 index, Hypothesis *hypothesis)
{
	const Points *points = own;

	hypothesis->u.point.finite = points->finite;
	hypothesis->u.point.number = points->listed[index];
}

static double
points_steps(const void *own, double share)
{
	const Points *points = own;

	return share * points->units->nrows +
		   (double) points->finite->nhypotheses * (points->words + 2);
}

const HypothesisListing points_listing = {
	.create = points_create,
	.choose = points_choose,
	.max_blocks = points_max_blocks,
	.block_size = points_block_size,
	.blocks = points_blocks,
	.errors = points_errors,
	.get = points_get,
	.steps = points_steps,
};
