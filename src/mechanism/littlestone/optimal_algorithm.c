/*
 * optimal_algorithm.c
 *		The standard optimal algorithm (Littlestone 1988): say of a point the
 *		label whose consistent hypotheses have the largest dimension.
 *
 * On examples that some hypothesis explains it makes no more mistakes than the
 * dimension of the class: two labels of as large a dimension as the set would make
 * that of the set larger, so a mistake leaves less.
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
	int				   nclasses;
	int				   words;				   /* of a set of hypotheses */
	int				   label_words;			   /* of the labels of all points */
	uint64			  *part;				   /* working memory */
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
	algorithm->nclasses = finite_class_classes(finite);
	algorithm->label_words = LABELS_WORDS(finite->npoints, algorithm->nclasses);
	algorithm->part = palloc_array(uint64, algorithm->words);
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

const PointParts *
optimal_parts(const OptimalAlgorithm *algorithm, int point)
{
	return littlestone_parts(algorithm->search, point);
}

/* Puts the consistent hypotheses that give a point one of its labels into part; their number. */
static int
take_part(OptimalAlgorithm *algorithm, const uint64 *consistent, const PointParts *parts, int i)
{
	const uint64 *of_label = parts->sets + i * (Size) algorithm->words;

	for (int w = 0; w < algorithm->words; w++)
		algorithm->part[w] = consistent[w] & of_label[w];
	return bits_count(algorithm->part, algorithm->words);
}

typedef struct Best
{
	int label;
	int value;
} Best;

/* Ties go to the first class. */
static void
take_better(Best *best, int label, int value)
{
	if (best->label < 0 || value > best->value || (value == best->value && label < best->label))
		*best = (Best){label, value};
}

/*
 * If a dimension takes too much work, the largest set decides: a rule that
 * depends on the sets alone.
 */
static int
says(OptimalAlgorithm *algorithm, const uint64 *consistent, int point)
{
	const PointParts *parts = littlestone_parts(algorithm->search, point);
	int				  all = bits_count(consistent, algorithm->words);
	Best			  by_size = {-1, 0};
	Best			  by_dimension = {-1, 0};
	bool			  known = true;

	for (int i = 0; i < parts->nlabels; i++)
	{
		int size = take_part(algorithm, consistent, parts, i);

		if (size == all)
			return parts->label[i];
		if (size == 0)
			continue;
		take_better(&by_size, parts->label[i], size);
		if (known)
		{
			int dimension = dimension_of(algorithm, algorithm->part);

			known = dimension >= 0;
			take_better(&by_dimension, parts->label[i], dimension);
		}
	}
	return known ? by_dimension.label : by_size.label;
}

void
optimal_labels(OptimalAlgorithm *algorithm, const OptimalState *state, uint64 *labels)
{
	int npoints = algorithm->distinct->npoints;

	if (!state->realizable)
	{
		memcpy(labels, state->labels, algorithm->label_words * sizeof(uint64));
		return;
	}
	memset(labels, 0, algorithm->label_words * sizeof(uint64));
	for (int p = 0; p < npoints; p++)
	{
		CHECK_FOR_INTERRUPTS();
		labels_set(labels, npoints, algorithm->nclasses, p, says(algorithm, state->consistent, p));
	}
}

void
optimal_example(OptimalAlgorithm *algorithm, OptimalState *state, int point, int label)
{
	const PointParts *parts = littlestone_parts(algorithm->search, point);

	for (int i = 0; i < parts->nlabels && state->realizable; i++)
		if (parts->label[i] == label && take_part(algorithm, state->consistent, parts, i) > 0)
		{
			memcpy(state->consistent, algorithm->part, algorithm->words * sizeof(uint64));
			return;
		}
	if (state->realizable)
		optimal_labels(algorithm, state, state->labels);
	state->realizable = false;
	labels_set(state->labels, algorithm->distinct->npoints, algorithm->nclasses, point, label);
}
