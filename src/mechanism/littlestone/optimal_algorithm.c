/*
 * optimal_algorithm.c
 *		The standard optimal algorithm (Littlestone 1988): say of a point the
 *		label whose consistent hypotheses have the larger dimension.
 *
 * On examples that some hypothesis explains it makes no more mistakes than the
 * dimension of the class.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "server/compat.h"
#include "mechanism/littlestone/littlestone.h"

#define REMEMBERED 4096 /* dimensions, a power of two */

struct OptimalAlgorithm
{
	FiniteClass		  *distinct;
	LittlestoneSearch *search;
	int				   words;				   /* of a set of hypotheses */
	int				   label_words;			   /* of a set of points */
	uint64			  *half[2];				   /* working memory */
	int				   remembered[REMEMBERED]; /* 3 + dimension, 0: none */
	uint64			  *remembered_sets;
};

OptimalAlgorithm *
optimal_create(const FiniteClass *finite)
{
	OptimalAlgorithm *algorithm = palloc0_object(OptimalAlgorithm);

	algorithm->distinct = finite_class_distinct(finite);
	algorithm->search = littlestone_search(algorithm->distinct);
	algorithm->words = BITS_WORDS(algorithm->distinct->nhypotheses);
	algorithm->label_words = BITS_WORDS(finite->npoints);
	algorithm->half[0] = palloc_array(uint64, algorithm->words);
	algorithm->half[1] = palloc_array(uint64, algorithm->words);
	algorithm->remembered_sets = palloc_array(uint64, REMEMBERED * (Size) algorithm->words);
	return algorithm;
}

OptimalState *
optimal_start(OptimalAlgorithm *algorithm)
{
	OptimalState *state = palloc_object(OptimalState);

	state->realizable = true;
	state->consistent = palloc0_array(uint64, algorithm->words);
	state->labels = palloc0_array(uint64, algorithm->label_words);
	for (int h = 0; h < algorithm->distinct->nhypotheses; h++)
		bits_add(state->consistent, h);
	return state;
}

OptimalState *
optimal_copy(OptimalAlgorithm *algorithm, const OptimalState *state)
{
	OptimalState *copy = optimal_start(algorithm);

	copy->realizable = state->realizable;
	memcpy(copy->consistent, state->consistent, algorithm->words * sizeof(uint64));
	memcpy(copy->labels, state->labels, algorithm->label_words * sizeof(uint64));
	return copy;
}

void
optimal_free(OptimalState *state)
{
	pfree(state->consistent);
	pfree(state->labels);
	pfree(state);
}

/* Remembered or not, the same for the same set. */
static int
dimension_of(OptimalAlgorithm *algorithm, const uint64 *set)
{
	Size	bytes = algorithm->words * sizeof(uint64);
	uint32	slot = hash_bytes((const unsigned char *) set, bytes) % REMEMBERED;
	uint64 *known = algorithm->remembered_sets + slot * (Size) algorithm->words;

	if (algorithm->remembered[slot] == 0 || memcmp(known, set, bytes) != 0)
	{
		memcpy(known, set, bytes);
		algorithm->remembered[slot] =
			3 + littlestone_dimension(algorithm->search, set, OPTIMAL_WORK);
	}
	return algorithm->remembered[slot] - 3;
}

/* Puts the consistent hypotheses that give the point each label into half[]. */
static void
split(OptimalAlgorithm *algorithm, const uint64 *consistent, int point)
{
	const uint64 *column = finite_class_column(algorithm->distinct, point);

	for (int i = 0; i < algorithm->words; i++)
	{
		algorithm->half[0][i] = consistent[i] & ~column[i];
		algorithm->half[1][i] = consistent[i] & column[i];
	}
}

/*
 * Ties go to 0.  If a dimension takes too much work, the larger set decides:
 * a rule that depends on the two sets alone.
 */
static bool
says(OptimalAlgorithm *algorithm, const uint64 *consistent, int point)
{
	int size[2];
	int dimension[2];

	split(algorithm, consistent, point);
	for (int label = 0; label < 2; label++)
		size[label] = bits_count(algorithm->half[label], algorithm->words);
	if (size[0] == 0 || size[1] == 0)
		return size[0] == 0;
	for (int label = 0; label < 2; label++)
		dimension[label] = dimension_of(algorithm, algorithm->half[label]);
	if (dimension[0] < 0 || dimension[1] < 0)
		return size[1] > size[0];
	return dimension[1] > dimension[0];
}

void
optimal_labels(OptimalAlgorithm *algorithm, const OptimalState *state, uint64 *labels)
{
	if (!state->realizable)
	{
		memcpy(labels, state->labels, algorithm->label_words * sizeof(uint64));
		return;
	}
	memset(labels, 0, algorithm->label_words * sizeof(uint64));
	for (int p = 0; p < algorithm->distinct->npoints; p++)
	{
		CHECK_FOR_INTERRUPTS();
		if (says(algorithm, state->consistent, p))
			bits_add(labels, p);
	}
}

void
optimal_example(OptimalAlgorithm *algorithm, OptimalState *state, int point, bool label)
{
	uint64 bit = UINT64CONST(1) << (point % 64);

	if (state->realizable)
	{
		split(algorithm, state->consistent, point);
		if (bits_count(algorithm->half[label], algorithm->words) > 0)
		{
			memcpy(state->consistent, algorithm->half[label], algorithm->words * sizeof(uint64));
			return;
		}
		optimal_labels(algorithm, state, state->labels);
		state->realizable = false;
	}
	if (label)
		state->labels[point / 64] |= bit;
	else
		state->labels[point / 64] &= ~bit;
}
