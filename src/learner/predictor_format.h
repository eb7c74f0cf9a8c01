/*
 * predictor_format.h
 *		The stored form of predictors, checked without the server's help.
 *
 * All numbers are little endian; doubles are IEEE 754.  After the varlena
 * header:
 *
 *	0	magic "PPRD"
 *	4	version, 2 bytes; flags, 2 bytes, zero
 *	8	nclasses, width, nmembers, default class, 4 bytes each
 *	24	class names: 4 bytes of length, then the bytes, in UTF-8
 *		members: kind, size, 4 bytes each, then size bytes
 *
 *	constant	class (4), zeros
 *	linear		vectors * (width + 1) doubles, see LINEAR_VECTORS
 *	gaussian	nclasses * (1 + 2 * width) doubles: constant, means, precisions
 *	stump		feature (4), class below (4), class above (4), zero (4), threshold (8)
 *	sql			three strings as above: function, type, value
 *	forest		depth, trees, outputs, shares (4 each), then for each tree, in level
 *				order, 2^depth - 1 splits: feature (2, the top bit set if a missing
 *				value goes left), threshold (4); and 2^depth * outputs floats (4
 *				each): what its leaves add to the scores, see forest.h
 *	threshold	two limits (4 each), points (4), zero (4); then, with room for
 *				more points: their x (8 each), their steps for either limit (4
 *				each); see threshold_walk.h
 *	neighbours	k (4), room (4), rows (4), zero (4); then, with room for more rows,
 *				of each its class (4) and width doubles
 *
 * Predictors of one class, "number", give numbers in [0, 1]: a constant one half, linear its
 * product with x, a forest its sum and one half, neighbours the mean of what they have in
 * place of a class, in units of 2^-24.
 */
#ifndef PRIVPRED_PREDICTOR_FORMAT_H
#define PRIVPRED_PREDICTOR_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "learner/bytes.h"

#define PREDICTOR_MAGIC "PPRD"
#define PREDICTOR_VERSION 1
#define PREDICTOR_HEADER_SIZE 24
#define PREDICTOR_MEMBER_HEADER 8

typedef enum MemberKind
{
	MEMBER_CONSTANT = 1,
	MEMBER_LINEAR = 2,
	MEMBER_GAUSSIAN = 3,
	MEMBER_STUMP = 4,
	MEMBER_SQL = 5,
	MEMBER_FOREST = 6,
	MEMBER_THRESHOLD = 7,
	MEMBER_NEIGHBOURS = 8
} MemberKind;

typedef struct PredictorShape
{
	uint32_t			 nclasses;
	uint32_t			 width;
	uint32_t			 nmembers;
	uint32_t			 default_class;
	const unsigned char *names; /* length-prefixed */
	size_t				 names_size;
	const unsigned char *members;
	size_t				 members_size;
} PredictorShape;

typedef struct PredictorMember
{
	uint32_t			 kind;
	uint32_t			 size;
	const unsigned char *body;
} PredictorMember;

/* NULL if every byte is as it must be, else what is wrong. */
extern const char *predictor_parse(const unsigned char *bytes, size_t size, PredictorShape *shape);

/* Walks over what predictor_parse() accepted; each returns the next position. */
extern const unsigned char *
predictor_next_member(const unsigned char *position, PredictorMember *member);
extern const unsigned char *
predictor_next_string(const unsigned char *position, const char **string, uint32_t *length);

#define STUMP_SIZE 24

/* The body of a threshold: where its parts are, and whether it is one. */
#define THRESHOLD_HEADER 16
#define THRESHOLD_POINT 16

static inline size_t
threshold_x(size_t point)
{
	return THRESHOLD_HEADER + 8 * point;
}

static inline size_t
threshold_steps(size_t capacity, size_t link, size_t point)
{
	return THRESHOLD_HEADER + (8 + 4 * link) * capacity + 4 * point;
}

extern bool threshold_body_ok(const unsigned char *body, size_t size);

/* The same of neighbours. */
#define NEIGHBOURS_HEADER 16
#define NEIGHBOURS_MAX_K 100
#define NEIGHBOURS_MAX_ROWS 10000
#define NEIGHBOURS_ONE (1 << 24) /* of numbers */

static inline size_t
neighbours_row(size_t row, size_t width)
{
	return NEIGHBOURS_HEADER + row * (4 + 8 * width);
}

static inline size_t
neighbours_size(size_t room, size_t width)
{
	return neighbours_row(room, width);
}

#endif /* PRIVPRED_PREDICTOR_FORMAT_H */
