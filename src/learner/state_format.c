/*
 * state_format.c
 *		Checks the portable form of training states, byte by byte.
 *
 * Includes nothing of the server but its CRC, so that a fuzzer can drive it
 * alone.
 */
#include "c.h"

#include <math.h>

#include "port/pg_crc32c.h"

#include "learner/state_format.h"

/* Kept equal to privpred.h by assertions in training_portable.c. */
#define MAX_CLASSES 1000
#define MAX_WIDTH 16384

typedef struct Reader
{
	const unsigned char *at;
	const unsigned char *end;
} Reader;

uint32_t
state_crc(const unsigned char *bytes, size_t size)
{
	pg_crc32c crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, bytes + STATE_CRC_OFFSET + 4, size - STATE_CRC_OFFSET - 4);
	FIN_CRC32C(crc);
	return crc;
}

/* The next n bytes, or NULL if there are no more. */
static const unsigned char *
take(Reader *reader, size_t n)
{
	const unsigned char *taken = reader->at;

	if (n > (size_t) (reader->end - reader->at))
		return NULL;
	reader->at += n;
	return taken;
}

/* A length-prefixed string without zero bytes. */
static const unsigned char *
take_text(Reader *reader)
{
	const unsigned char *start = take(reader, 4);

	if (start == NULL || take(reader, read_u32(start)) == NULL ||
		memchr(start + 4, 0, read_u32(start)) != NULL)
		return NULL;
	return start;
}

static const char *
parse_header(const unsigned char *bytes, size_t size, StateShape *shape)
{
	if (size < STATE_HEADER_SIZE || memcmp(bytes, STATE_MAGIC, 4) != 0)
		return "It is not a training state.";
	if (read_u16(bytes + 4) != STATE_VERSION || read_u16(bytes + 6) >= MAX_SUM_BYTES)
		return "It is of a version that this server does not know.";
	if (read_u32(bytes + STATE_CRC_OFFSET) != state_crc(bytes, size))
		return "Its checksum is wrong.";
	shape->kind = read_u32(bytes + 12);
	shape->labels = read_u32(bytes + 16);
	shape->width = read_u32(bytes + 20);
	shape->nclasses = read_u32(bytes + 24);
	shape->shared_sums = read_u32(bytes + 28);
	shape->class_sums = read_u32(bytes + 32);
	shape->rows = read_u64(bytes + 36);
	shape->sum_bytes = read_u16(bytes + 6);
	if ((shape->kind != STATE_SUMS && shape->kind != STATE_ROWS) ||
		shape->labels < STATE_BOOLEANS || shape->labels > STATE_TEXTS || shape->width < 1 ||
		shape->width > MAX_WIDTH || shape->nclasses > MAX_CLASSES || shape->rows > STATE_MAX_ROWS ||
		(shape->kind == STATE_ROWS &&
		 (shape->shared_sums != 0 || shape->class_sums != 0 || shape->sum_bytes != 0)))
		return "Its sizes are out of range.";
	if (shape->sum_bytes == 0)
		shape->sum_bytes = MAX_SUM_BYTES;
	return NULL;
}

static const char *
parse_classes(Reader *reader, StateShape *shape)
{
	uint64_t rows = 0;

	shape->names = reader->at;
	for (uint32_t c = 0; c < shape->nclasses; c++)
		if (take_text(reader) == NULL)
			return "Its classes are invalid.";
	shape->class_rows = take(reader, 8 * (size_t) shape->nclasses);
	if (shape->class_rows == NULL)
		return "Its classes are invalid.";
	for (uint32_t c = 0; c < shape->nclasses; c++)
	{
		uint64_t of_class = read_u64(shape->class_rows + 8 * c);

		if (of_class > shape->rows)
			return "Its classes are invalid.";
		rows += of_class;
	}
	return rows == shape->rows ? NULL : "Its classes are invalid.";
}

/* Each sum is one of products of numbers that learners accept. */
static const char *
parse_sums(Reader *reader, StateShape *shape)
{
	size_t	 sums = shape->shared_sums + (size_t) shape->nclasses * shape->class_sums;
	__int128 limit = (__int128) shape->rows << STATE_SUM_BITS;

	shape->body = sums > SIZE_MAX / MAX_SUM_BYTES ? NULL : take(reader, shape->sum_bytes * sums);
	if (shape->body == NULL)
		return "Its sums are invalid.";
	for (size_t i = 0; i < sums; i++)
	{
		__int128 sum = read_sum(shape->body + shape->sum_bytes * i, shape->sum_bytes);

		if (sum > limit || sum < -limit)
			return "Its sums are invalid.";
	}
	return NULL;
}

static bool
column_ok(const unsigned char *column, StateShape *shape)
{
	if (column[0] == COLUMN_BITS)
		/* the last byte is filled up with zeros */
		return shape->rows % 8 == 0 || column[1 + shape->rows / 8] >> (shape->rows % 8) == 0;
	for (uint64_t i = 0; i < shape->rows; i++)
	{
		double x = column_value(column, i);

		if (isinf(x))
			return false;
		shape->has_missing |= isnan(x) != 0;
	}
	return true;
}

static const char *
parse_rows(Reader *reader, StateShape *shape)
{
	uint64_t seen[MAX_CLASSES] = {0};

	/* each row has at least its class, so that nothing below can overflow */
	if (shape->rows > (size_t) (reader->end - reader->at) / 2)
		return "Its rows are invalid.";
	shape->body = reader->at;
	for (uint32_t i = 0; i < shape->width; i++)
	{
		const unsigned char *column = take(reader, 1);

		if (column == NULL || column[0] > COLUMN_BITS ||
			take(reader, column_size(column[0], shape->rows)) == NULL || !column_ok(column, shape))
			return "Its rows are invalid.";
	}
	shape->row_class = take(reader, 2 * (size_t) shape->rows);
	if (shape->row_class == NULL)
		return "Its rows are invalid.";
	for (uint64_t i = 0; i < shape->rows; i++)
	{
		uint32_t c = read_u16(shape->row_class + 2 * i);

		if (c >= shape->nclasses)
			return "Its rows are invalid.";
		seen[c]++;
	}
	for (uint32_t c = 0; c < shape->nclasses; c++)
		if (seen[c] != read_u64(shape->class_rows + 8 * c))
			return "Its rows are invalid.";
	return NULL;
}

const char *
state_parse(const unsigned char *bytes, size_t size, StateShape *shape)
{
	Reader		reader;
	const char *problem;

	memset(shape, 0, sizeof(*shape));
	problem = parse_header(bytes, size, shape);
	if (problem != NULL)
		return problem;
	reader.at = bytes + STATE_HEADER_SIZE;
	reader.end = bytes + size;
	shape->learner = take_text(&reader);
	shape->options = shape->learner ? take_text(&reader) : NULL;
	if (shape->options == NULL)
		return "Its learner or its options are invalid.";
	problem = parse_classes(&reader, shape);
	if (problem == NULL)
		problem =
			shape->kind == STATE_SUMS ? parse_sums(&reader, shape) : parse_rows(&reader, shape);
	if (problem == NULL && reader.at != reader.end)
		problem = "There are bytes behind its end.";
	return problem;
}
