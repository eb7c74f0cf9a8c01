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
 */
#ifndef PRIVPRED_PREDICTOR_FORMAT_H
#define PRIVPRED_PREDICTOR_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PREDICTOR_MAGIC			"PPRD"
#define PREDICTOR_VERSION		1
#define PREDICTOR_HEADER_SIZE	24
#define PREDICTOR_MEMBER_HEADER	8

typedef enum MemberKind
{
	MEMBER_CONSTANT = 1,
	MEMBER_LINEAR = 2,
	MEMBER_GAUSSIAN = 3,
	MEMBER_STUMP = 4,
	MEMBER_SQL = 5
} MemberKind;

typedef struct PredictorShape
{
	uint32_t	nclasses;
	uint32_t	width;
	uint32_t	nmembers;
	uint32_t	default_class;
	const unsigned char *names; /* length-prefixed */
	size_t		names_size;
	const unsigned char *members;
	size_t		members_size;
} PredictorShape;

typedef struct PredictorMember
{
	uint32_t	kind;
	uint32_t	size;
	const unsigned char *body;
} PredictorMember;

/* NULL if every byte is as it must be, else what is wrong. */
extern const char *predictor_parse(const unsigned char *bytes, size_t size, PredictorShape *shape);

/* Walks over what predictor_parse() accepted; each returns the next position. */
extern const unsigned char *predictor_next_member(const unsigned char *position,
												  PredictorMember *member);
extern const unsigned char *predictor_next_string(const unsigned char *position,
												  const char **string, uint32_t *length);

static inline uint32_t
read_u32(const unsigned char *p)
{
	return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}

static inline void
write_u32(unsigned char *p, uint32_t value)
{
	p[0] = (unsigned char) value;
	p[1] = (unsigned char) (value >> 8);
	p[2] = (unsigned char) (value >> 16);
	p[3] = (unsigned char) (value >> 24);
}

static inline double
read_double(const unsigned char *p)
{
	uint64_t	bits = (uint64_t) read_u32(p) | (uint64_t) read_u32(p + 4) << 32;
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline void
write_double(unsigned char *p, double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	write_u32(p, (uint32_t) bits);
	write_u32(p + 4, (uint32_t) (bits >> 32));
}

#endif							/* PRIVPRED_PREDICTOR_FORMAT_H */
