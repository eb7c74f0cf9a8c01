/*
 * forest.c
 *		Trees as flat arrays.  Includes nothing of the server, so that a fuzzer
 *		can drive it alone.
 */
#include <float.h>
#include <math.h>

#include "learner/bytes.h"
#include "learner/forest.h"

/* Stored: depth, trees, outputs, shares; then the trees. */
#define HEADER_SIZE 16
#define SPLIT_SIZE 6
#define LEAF_SIZE 4

/* Walks of this many trees overlap in time, because none waits for another. */
#define TREES_TOGETHER 4

/* ---------- stored form ---------- */

static size_t
tree_size(const Forest *forest)
{
	return forest_tree_splits(forest->depth) * SPLIT_SIZE +
		   ((size_t) forest->outputs << forest->depth) * LEAF_SIZE;
}

size_t
forest_stored_size(const Forest *forest)
{
	return HEADER_SIZE + forest->trees * tree_size(forest);
}

void
forest_store(const Forest *forest, unsigned char *body)
{
	const ForestSplit *split = forest->splits;
	const float		  *leaf = forest->leaves;

	write_u32(body, forest->depth);
	write_u32(body + 4, forest->trees);
	write_u32(body + 8, forest->outputs);
	write_u32(body + 12, forest->shares);
	body += HEADER_SIZE;
	for (uint32_t tree = 0; tree < forest->trees; tree++)
	{
		for (size_t i = 0; i < forest_tree_splits(forest->depth); i++, split++, body += SPLIT_SIZE)
		{
			uint32_t where = split->feature | (split->missing_left ? FOREST_MISSING_LEFT : 0);

			write_u16(body, where);
			write_float(body + 2, split->threshold);
		}
		for (size_t i = 0; i < (size_t) forest->outputs << forest->depth; i++, body += LEAF_SIZE)
			write_float(body, *leaf++);
	}
}

bool
forest_parse(const unsigned char *body, size_t size, uint32_t nclasses, uint32_t width,
			 Forest *shape)
{
	uint32_t shares;

	if (size < HEADER_SIZE)
		return false;
	shape->depth = read_u32(body);
	shape->trees = read_u32(body + 4);
	shape->outputs = read_u32(body + 8);
	shape->scores = nclasses == 2 ? 1 : nclasses;
	shape->splits = NULL;
	shape->leaves = NULL;
	shares = read_u32(body + 12);
	shape->shares = shares == 1;
	if (shares > 1 || shape->depth < 1 || shape->depth > FOREST_MAX_DEPTH || shape->trees < 1 ||
		shape->trees > FOREST_MAX_TREES ||
		(shape->outputs != 1 && shape->outputs != shape->scores) ||
		(shape->outputs == 1 && shape->trees % shape->scores != 0) ||
		size != forest_stored_size(shape))
		return false;
	body += HEADER_SIZE;
	for (uint32_t tree = 0; tree < shape->trees; tree++)
	{
		for (size_t i = 0; i < forest_tree_splits(shape->depth); i++, body += SPLIT_SIZE)
			if ((read_u16(body) & ~(uint32_t) FOREST_MISSING_LEFT) >= width ||
				!isfinite(read_float(body + 2)))
				return false;
		for (size_t i = 0; i < (size_t) shape->outputs << shape->depth; i++, body += LEAF_SIZE)
			if (!isfinite(read_float(body)))
				return false;
	}
	return true;
}

void
forest_load(const unsigned char *body, Forest *forest)
{
	ForestSplit *split = forest->splits;
	float		*leaf = forest->leaves;

	body += HEADER_SIZE;
	for (uint32_t tree = 0; tree < forest->trees; tree++)
	{
		for (size_t i = 0; i < forest_tree_splits(forest->depth); i++, split++, body += SPLIT_SIZE)
		{
			uint32_t where = read_u16(body);

			split->feature = where & ~(uint32_t) FOREST_MISSING_LEFT;
			split->missing_left = (where & FOREST_MISSING_LEFT) != 0;
			split->threshold = read_float(body + 2);
		}
		for (size_t i = 0; i < (size_t) forest->outputs << forest->depth; i++, body += LEAF_SIZE)
			*leaf++ = read_float(body);
	}
}

/* ---------- evaluation ---------- */

bool
forest_features(const double *x, uint32_t width, float *features)
{
	bool missing = false;

	for (uint32_t i = 0; i < width; i++)
	{
		double value = x[i];

		/* a double beyond the floats has no defined conversion */
		value = value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : value;
		missing |= isnan(value);
		features[i] = (float) value;
	}
	return missing;
}

/* No branch depends on the data, so neither does the running time. */
static inline uint32_t
go_right(const ForestSplit *split, const float *features, bool missing)
{
	float	 value = features[split->feature];
	uint32_t right = value >= split->threshold;

	if (missing)
		right |= (value != value) & !split->missing_left;
	return right;
}

/* The leaves that n trees from the given one lead to; n is a constant where it matters. */
static inline void
walk_trees(const Forest *forest, uint32_t first, uint32_t n, const float *features, bool missing,
		   uint32_t *leaf)
{
	size_t			   stride = forest_tree_splits(forest->depth);
	const ForestSplit *tree[TREES_TOGETHER];
	size_t			   node[TREES_TOGETHER];

	for (uint32_t t = 0; t < n; t++)
	{
		tree[t] = forest->splits + (first + t) * stride;
		node[t] = 0;
	}
	for (uint32_t level = 0; level < forest->depth; level++)
		for (uint32_t t = 0; t < n; t++)
			node[t] = 2 * node[t] + 1 + go_right(tree[t] + node[t], features, missing);
	for (uint32_t t = 0; t < n; t++)
		leaf[t] = (uint32_t) (node[t] - stride);
}

static inline void
add_scores(const Forest *forest, const float *features, bool missing, float *scores)
{
	size_t	 leaves = ((size_t) 1 << forest->depth) * forest->outputs;
	uint32_t leaf[TREES_TOGETHER];
	uint32_t score = 0;

	for (uint32_t first = 0; first < forest->trees; first += TREES_TOGETHER)
	{
		uint32_t n = forest->trees - first;

		if (n >= TREES_TOGETHER)
		{
			n = TREES_TOGETHER;
			walk_trees(forest, first, TREES_TOGETHER, features, missing, leaf);
		}
		else
			walk_trees(forest, first, n, features, missing, leaf);
		for (uint32_t t = 0; t < n; t++)
		{
			const float *values =
				forest->leaves + (first + t) * leaves + (size_t) leaf[t] * forest->outputs;

			if (forest->outputs == 1)
			{
				scores[score] += values[0];
				score = score + 1 == forest->scores ? 0 : score + 1;
			}
			else
				for (uint32_t c = 0; c < forest->scores; c++)
					scores[c] += values[c];
		}
	}
}

void
forest_add_scores(const Forest *forest, const float *features, bool missing, float *scores)
{
	/* constants, so that questions without a missing feature do not look for one */
	if (missing)
		add_scores(forest, features, true, scores);
	else
		add_scores(forest, features, false, scores);
}
