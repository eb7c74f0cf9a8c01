/*
 * hypotheses.c
 *		Classes of hypotheses whose labelings of a sample can be listed: one or
 *		another.
 */
#include "postgres.h"

#include "mechanism/hypotheses.h"

struct HypothesisSpace
{
	HypothesisClass class;
	const HypothesisListing *listing;
	void					*own;
};

static const HypothesisListing *const listings[] = {
	[HYPOTHESES_STUMP] = &columns_listing,	 [HYPOTHESES_INTERVAL] = &columns_listing,
	[HYPOTHESES_HALFSPACE] = &plane_listing, [HYPOTHESES_SPACE] = &space_listing,
	[HYPOTHESES_RECTANGLE] = &boxes_listing, [HYPOTHESES_FINITE] = &points_listing,
};

HypothesisSpace *
hypotheses_create(const HypothesisSource *source)
{
	HypothesisSpace *space = palloc0(sizeof(HypothesisSpace));

	space->class = source->class;
	space->listing = listings[source->class];
	space->own = space->listing->create(source);
	return space;
}

void
hypotheses_choose(HypothesisSpace *space, const uint64 *units)
{
	space->listing->choose(space->own, units);
}

int
hypotheses_max_blocks(const HypothesisSpace *space)
{
	return space->listing->max_blocks(space->own);
}

int32
hypotheses_block_size(const HypothesisSpace *space)
{
	return space->listing->block_size(space->own);
}

int
hypotheses_blocks(HypothesisSpace *space)
{
	return space->listing->blocks(space->own);
}

int32
hypotheses_errors(HypothesisSpace *space, int block, int32 *errors)
{
	return space->listing->errors(space->own, block, errors);
}

Hypothesis
hypotheses_get(HypothesisSpace *space, int block, int32 index)
{
	Hypothesis result = {.class = space->class};

	space->listing->get(space->own, block, index, &result);
	return result;
}

double
hypotheses_steps(const HypothesisSpace *space, double share)
{
	return space->listing->steps(space->own, share);
}

int32
hypotheses_most_rows(const HypothesisSpace *space)
{
	return space->listing->most_rows == NULL ? PG_INT32_MAX : space->listing->most_rows(space->own);
}

int32
count_ones(const LabelledUnits *units)
{
	int32 ones = 0;

	for (int32 i = 0; i < units->nrows; i++)
		ones += units->label[i];
	return ones;
}

/* ---------- what one of them says ---------- */

static bool
interval_says(const IntervalHypothesis *interval, const double *x)
{
	double value = x[interval->feature];

	return (value >= interval->low && value < interval->high) == interval->inside;
}

static bool
box_says(const BoxHypothesis *box, const double *x)
{
	bool within = true;

	for (int i = 0; i < box->sides; i++)
		within = within && x[i] >= box->low[i] && x[i] <= box->high[i];
	return within == box->inside;
}

static bool
point_says(const PointHypothesis *hypothesis, const double *x)
{
	int point = point_of(hypothesis->finite, x);

	return point >= 0 && finite_class_label(hypothesis->finite, hypothesis->number, point);
}

bool
hypothesis_says(const Hypothesis *hypothesis, const double *x)
{
	switch (hypothesis->class)
	{
		case HYPOTHESES_STUMP:
		case HYPOTHESES_INTERVAL:
			return interval_says(&hypothesis->u.interval, x);
		case HYPOTHESES_HALFSPACE:
			return plane_says(&hypothesis->u.halfspace, x);
		case HYPOTHESES_SPACE:
			return space_says(&hypothesis->u.space, x);
		case HYPOTHESES_RECTANGLE:
			return box_says(&hypothesis->u.box, x);
		case HYPOTHESES_FINITE:
			return point_says(&hypothesis->u.point, x);
	}
	return false; /* keep the compiler quiet */
}
