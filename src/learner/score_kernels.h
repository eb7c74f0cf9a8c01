/*
 * score_kernels.h
 *		Scores of many members for one question, and the votes that follow.
 *
 * score_kernels.c	which kernels this processor can run
 * score_lanes.h	the kernels, compiled once per width of vectors
 *
 * Members are laid out in blocks, one member per lane: vectors run across
 * members, never across features, so each score is the same sequence of
 * additions and multiplications whatever the width of a vector.  Nothing is
 * contracted or reordered: all kernels give the same bits.
 *
 * Linear members pass over features that are zero: levels that do not hold, pieces
 * above the value.  Stored weights are finite, so each would add a zero, and a sum
 * that began at bias + 0 is not changed by one, not even in its sign.  So time depends
 * on the question, which is the asker's own, and on shapes; never on the numbers
 * of members.
 */
#ifndef PRIVPRED_SCORE_KERNELS_H
#define PRIVPRED_SCORE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Members of one block; fewer than half a block are done one by one. */
#define SCORE_BLOCK 16
#define SCORE_ALIGNMENT 64

typedef enum ScoreKind
{
	SCORE_LINEAR,  /* of each vector: width weights, then the bias */
	SCORE_GAUSSIAN /* a constant, width means, width precisions */
} ScoreKind;

/*
 * Members of one kind.  Each has a vector per class, or one alone if the sign
 * of its score tells two classes apart.  Number i of member m of a block is at
 * i * stride + m; what fills the last block is zero.
 */
typedef struct ScoreGroup
{
	ScoreKind kind;
	int		  width;   /* features */
	int		  vectors; /* per member */
	int		  n;	   /* members */
	int		  stride;  /* SCORE_BLOCK, or 1 */
	size_t	  rows;	   /* numbers per member */
	double	 *numbers; /* aligned to SCORE_ALIGNMENT */
	int32_t	 *used;	   /* linear: work space, width numbers; where a question is not zero */
} ScoreGroup;

/* Numbers of one vector of a member. */
static inline size_t
score_vector_size(ScoreKind kind, int width)
{
	return kind == SCORE_GAUSSIAN ? 1 + 2 * (size_t) width : 1 + (size_t) width;
}

/* The shape of a group of n members, none of which is there yet. */
extern void score_group_init(ScoreGroup *group, ScoreKind kind, int width, int vectors, int n);

/* Bytes that its numbers need; they are to be zero at first. */
extern size_t score_group_size(const ScoreGroup *group, int n);

typedef struct ScoreKernels
{
	const char *name;

	/*
	 * Adds one vote per member: for the class of its best score, the lowest of
	 * equals.  Scores that are not finite never win; without any other the
	 * vote is for the default class.
	 */
	void (*vote)(const ScoreGroup *group, const double *x, int default_class, int32_t *votes);

	/* Of two classes: how much the score of the second exceeds that of the first. */
	void (*margins)(const ScoreGroup *group, const double *x, double *margins);

	/* The score of one vector of each member. */
	void (*sums)(const ScoreGroup *group, const double *x, int vector, double *sums);
} ScoreKernels;

/*
 * The kernels by number, for tests: NULL after the last one, without a name if this
 * machine cannot run them.
 */
extern const ScoreKernels *score_kernels(int number, bool *usable);

/* Those for this processor. */
extern const ScoreKernels *score_kernels_best(void);

#endif /* PRIVPRED_SCORE_KERNELS_H */
