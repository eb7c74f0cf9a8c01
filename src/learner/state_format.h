/*
 * state_format.h
 *		The portable form of a training state, checked without the server's help.
 *
 * What one node of several learnt, for the others.  All numbers are little
 * endian; doubles are IEEE 754; text is UTF-8.  After the varlena header:
 *
 *	0	magic "PPTS"
 *	4	version, 2 bytes; bytes of a sum, 2 bytes: 1 to 15, or 0 for 16; 0 in a
 *		state of rows
 *	8	CRC-32C of all that follows, 4 bytes
 *	12	kind, label kind, width, nclasses, 4 bytes each
 *	28	shared sums, sums of a class, 4 bytes each; 0 in a state of rows
 *	36	rows, 8 bytes
 *	44	learner and options (as JSON): 4 bytes of length, then the bytes
 *		class names, in order of appearance, likewise
 *		rows of each class, 8 bytes each
 *
 *	sums	as many bytes each, two's complement: the shared ones, then each class's
 *	rows	for each feature: form (1), then a double for each row (form 0) or, if
 *			there are but zeros and ones, a bit (form 1); then each row's class (2)
 *
 * A missing feature is NaN.
 */
#ifndef PRIVPRED_STATE_FORMAT_H
#define PRIVPRED_STATE_FORMAT_H

#include "learner/predictor_format.h"

#define STATE_MAGIC "PPTS"
#define STATE_VERSION 1
#define STATE_CRC_OFFSET 8
#define STATE_HEADER_SIZE 44

/* Every sum is below rows * 2^78, see FIXED_POINT_MAX: 2^125 at most. */
#define STATE_MAX_ROWS ((uint64_t) 1 << 47)
#define STATE_SUM_BITS 78

typedef enum StateKind
{
	STATE_SUMS = 1,
	STATE_ROWS = 2
} StateKind;

/* How labels are compared, which is all that matters of their type. */
typedef enum StateLabels
{
	STATE_BOOLEANS = 1,
	STATE_INTEGERS = 2,
	STATE_TEXTS = 3
} StateLabels;

typedef enum ColumnForm
{
	COLUMN_DOUBLES = 0,
	COLUMN_BITS = 1
} ColumnForm;

typedef struct StateShape
{
	uint32_t			 kind;
	uint32_t			 labels;
	uint32_t			 width;
	uint32_t			 nclasses;
	uint32_t			 shared_sums;
	uint32_t			 class_sums;
	uint32_t			 sum_bytes;
	uint64_t			 rows;
	bool				 has_missing; /* some feature is NaN */
	const unsigned char *learner;	  /* length-prefixed, as are the next two */
	const unsigned char *options;
	const unsigned char *names;
	const unsigned char *class_rows;
	const unsigned char *body;		/* sums, or columns */
	const unsigned char *row_class; /* of a state of rows */
} StateShape;

/* NULL if every byte is as it must be, else what is wrong. */
extern const char *state_parse(const unsigned char *bytes, size_t size, StateShape *shape);

/* The checksum of everything behind it. */
extern uint32_t state_crc(const unsigned char *bytes, size_t size);

static inline size_t
column_size(unsigned char form, uint64_t rows)
{
	return form == COLUMN_BITS ? (size_t) ((rows + 7) / 8) : (size_t) rows * 8;
}

/* The value of a row in a column, which begins with its form. */
static inline double
column_value(const unsigned char *column, uint64_t row)
{
	return column[0] == COLUMN_BITS ? (column[1 + row / 8] >> (row % 8)) & 1
									: read_double(column + 1 + 8 * row);
}

#define MAX_SUM_BYTES 16

/* A sum of so many bytes, the last of which has its sign. */
static inline __int128
read_sum(const unsigned char *p, uint32_t bytes)
{
	unsigned __int128 sum = p[bytes - 1] & 0x80 ? ~(unsigned __int128) 0 : 0;

	for (uint32_t i = bytes; i > 0; i--)
		sum = sum << 8 | p[i - 1];
	return (__int128) sum;
}

static inline void
write_sum(unsigned char *p, __int128 sum, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++, sum >>= 8)
		p[i] = (unsigned char) sum;
}

#endif /* PRIVPRED_STATE_FORMAT_H */
