/*
 * forest.h
 *		Trees as flat arrays: stored, checked and evaluated without the server's
 *		help.
 *
 * Every tree is a complete binary tree of the declared depth, in level order,
 * so that the size of a teacher tells nothing about its rows and a walk
 * takes the same steps for every question.  A leaf above the bottom is a
 * subtree whose leaves are all equal.
 *
 * A row goes left if its feature is less than the threshold; a missing feature
 * (NaN) goes where the split says.
 */
#ifndef PRIVPRED_FOREST_H
#define PRIVPRED_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FOREST_MAX_DEPTH 8
#define FOREST_MAX_TREES 1000000

/* In a stored split, the bit above the number of the feature. */
#define FOREST_MISSING_LEFT 0x8000

typedef struct ForestSplit
{
	float	 threshold;
	uint16_t feature;
	uint16_t missing_left; /* 0 or 1 */
} ForestSplit;

/*
 * scores is 1 for two classes (above zero means the second) and the number of
 * classes otherwise.  Either each leaf has one number and tree t adds to score
 * t % scores (outputs = 1), or each leaf has a number for every score (outputs
 * = scores).
 */
typedef struct Forest
{
	uint32_t	 depth;
	uint32_t	 trees;
	uint32_t	 scores;
	uint32_t	 outputs;
	bool		 shares; /* leaves are shares of classes; of two, that of the second less 1/2 */
	ForestSplit *splits; /* 2^depth - 1 per tree */
	float		*leaves; /* 2^depth * outputs per tree */
} Forest;

static inline size_t
forest_tree_splits(uint32_t depth)
{
	return ((size_t) 1 << depth) - 1;
}

/* How many splits and numbers the arrays of a forest hold. */
static inline size_t
forest_splits(const Forest *forest)
{
	return forest->trees * forest_tree_splits(forest->depth);
}

static inline size_t
forest_leaves(const Forest *forest)
{
	return ((size_t) forest->trees << forest->depth) * forest->outputs;
}

/*
 * ---------- building ----------
 *
 * Here and not in forest.c, because the module that holds XGBoost builds trees, too,
 * and shares no symbols with ours.
 */

/* Writes a split at a node in level order; the root is 0. */
static inline void
forest_set_split(Forest *forest, uint32_t tree, uint32_t node, uint32_t feature, float threshold,
				 bool missing_left)
{
	ForestSplit *split = &forest->splits[tree * forest_tree_splits(forest->depth) + node];

	split->feature = (uint16_t) feature;
	split->threshold = threshold;
	split->missing_left = missing_left;
}

/* Makes a leaf, of outputs numbers, of a node that lies level steps below the root. */
static inline void
forest_set_leaf(Forest *forest, uint32_t tree, uint32_t node, uint32_t level, const float *values)
{
	uint32_t below = forest->depth - level;
	size_t	 bottom = (size_t) 1 << forest->depth;
	size_t	 first = (((size_t) node + 1) << below) - bottom;
	float	*leaf = forest->leaves + (tree * bottom + first) * forest->outputs;

	/* Splits below stay as they are: whatever they say, the leaves agree. */
	for (size_t i = 0; i < (size_t) 1 << below; i++, leaf += forest->outputs)
		memcpy(leaf, values, forest->outputs * sizeof(float));
}

/* ---------- stored form ---------- */

/* Bytes of a stored forest. */
extern size_t forest_stored_size(const Forest *forest);
extern void	  forest_store(const Forest *forest, unsigned char *body);

/* Reads the shape; false if any byte is not as it must be. */
extern bool forest_parse(const unsigned char *body, size_t size, uint32_t nclasses, uint32_t width,
						 Forest *shape);

/* Fills the arrays, which the caller made, of a shape that forest_parse() read. */
extern void forest_load(const unsigned char *body, Forest *forest);

/* ---------- evaluation ---------- */

/* Features as trees compare them; true if one is missing. */
extern bool forest_features(const double *x, uint32_t width, float *features);

/* scores[] += what the trees say, one tree after the other. */
extern void
forest_add_scores(const Forest *forest, const float *features, bool missing, float *scores);

#endif /* PRIVPRED_FOREST_H */
