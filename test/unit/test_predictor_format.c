/*
 * test_predictor_format.c
 *		Mutated predictors must be accepted or refused, and never read beyond
 *		their end: each is a block of its own, for the address sanitizer.
 *
 * sources: src/learner/predictor_format.c src/learner/forest.c
 */
#include "c.h"

#include "learner/predictor_format.h"
#include "unit.h"

#define ROUNDS 400000
#define MAX_SIZE 1024

static size_t
put_u32(unsigned char *bytes, size_t at, uint32_t value)
{
	write_u32(bytes + at, value);
	return at + 4;
}

static size_t
put_string(unsigned char *bytes, size_t at, const char *string)
{
	at = put_u32(bytes, at, strlen(string));
	memcpy(bytes + at, string, strlen(string));
	return at + strlen(string);
}

static size_t
put_doubles(unsigned char *bytes, size_t at, int n)
{
	for (int i = 0; i < n; i++, at += 8)
		write_double(bytes + at, i * 0.25);
	return at;
}

/* An ensemble of three classes, two features and one member of each kind. */
static size_t
make_valid(unsigned char *bytes)
{
	size_t at = 8;

	memset(bytes, 0, PREDICTOR_HEADER_SIZE);
	memcpy(bytes, PREDICTOR_MAGIC, 4);
	bytes[4] = PREDICTOR_VERSION;
	at = put_u32(bytes, at, 3);
	at = put_u32(bytes, at, 2);
	at = put_u32(bytes, at, 7);
	at = put_u32(bytes, at, 1);
	at = put_string(bytes, at, "low");
	at = put_string(bytes, at, "");
	at = put_string(bytes, at, "high");
	at = put_u32(bytes, at, MEMBER_CONSTANT);
	at = put_u32(bytes, at, 4);
	at = put_u32(bytes, at, 2);
	at = put_u32(bytes, at, MEMBER_LINEAR);
	at = put_u32(bytes, at, 3 * 3 * 8);
	at = put_doubles(bytes, at, 9);
	at = put_u32(bytes, at, MEMBER_GAUSSIAN);
	at = put_u32(bytes, at, 3 * 5 * 8);
	at = put_doubles(bytes, at, 15);
	at = put_u32(bytes, at, MEMBER_STUMP);
	at = put_u32(bytes, at, 24);
	at = put_u32(bytes, at, 1);
	at = put_u32(bytes, at, 0);
	at = put_u32(bytes, at, 2);
	at = put_u32(bytes, at, 0);
	at = put_doubles(bytes, at, 1);
	at = put_u32(bytes, at, MEMBER_SQL);
	at = put_u32(bytes, at, 12 + 3);
	at = put_string(bytes, at, "f");
	at = put_string(bytes, at, "t");
	at = put_string(bytes, at, "v");
	/* three trees of one split and two leaves, all zero */
	at = put_u32(bytes, at, MEMBER_FOREST);
	at = put_u32(bytes, at, 16 + 3 * 14);
	at = put_u32(bytes, at, 1);
	at = put_u32(bytes, at, 3);
	at = put_u32(bytes, at, 1);
	memset(bytes + at, 0, 4 + 3 * 14);
	at += 4 + 3 * 14;
	/* two of at most three rows */
	at = put_u32(bytes, at, MEMBER_NEIGHBOURS);
	at = put_u32(bytes, at, neighbours_size(3, 2));
	at = put_u32(bytes, at, 5);
	at = put_u32(bytes, at, 3);
	at = put_u32(bytes, at, 2);
	at = put_u32(bytes, at, 0);
	for (int row = 0; row < 2; row++)
	{
		at = put_u32(bytes, at, row);
		at = put_doubles(bytes, at, 2);
	}
	memset(bytes + at, 0, 4 + 2 * 8);
	return at + 4 + 2 * 8;
}

/* Walks over everything that was accepted, as the server does. */
static size_t
walk(const PredictorShape *shape)
{
	const unsigned char *position = shape->names;
	size_t				 sum = 0;

	for (uint32_t i = 0; i < shape->nclasses; i++)
	{
		const char *name;
		uint32_t	length;

		position = predictor_next_string(position, &name, &length);
		for (uint32_t j = 0; j < length; j++)
			sum += (unsigned char) name[j];
	}
	position = shape->members;
	for (uint32_t i = 0; i < shape->nmembers; i++)
	{
		PredictorMember member;

		position = predictor_next_member(position, &member);
		for (uint32_t j = 0; j < member.size; j++)
			sum += member.body[j];
	}
	return sum;
}

/* The same for a threshold, which is alone: two classes, one feature. */
static size_t
make_threshold(unsigned char *bytes)
{
	size_t at = 8;

	memset(bytes, 0, PREDICTOR_HEADER_SIZE);
	memcpy(bytes, PREDICTOR_MAGIC, 4);
	bytes[4] = PREDICTOR_VERSION;
	at = put_u32(bytes, at, 2);
	at = put_u32(bytes, at, 1);
	at = put_u32(bytes, at, 1);
	at = put_u32(bytes, at, 0);
	at = put_string(bytes, at, "no");
	at = put_string(bytes, at, "yes");
	at = put_u32(bytes, at, MEMBER_THRESHOLD);
	at = put_u32(bytes, at, THRESHOLD_HEADER + 4 * THRESHOLD_POINT);
	at = put_u32(bytes, at, 60);
	at = put_u32(bytes, at, 74);
	at = put_u32(bytes, at, 3);
	at = put_u32(bytes, at, 0);
	at = put_doubles(bytes, at, 3);
	memset(bytes + at, 0, 8);
	at += 8;
	for (int link = 0; link < 2; link++)
	{
		for (int point = 0; point < 3; point++)
			at = put_u32(bytes, at, 1 - 2 * point);
		at = put_u32(bytes, at, 0);
	}
	return at;
}

/* Of numbers: neighbours that have numbers up to one in place of classes, and a linear one. */
static size_t
make_numbers(unsigned char *bytes)
{
	size_t at = 8;

	memset(bytes, 0, PREDICTOR_HEADER_SIZE);
	memcpy(bytes, PREDICTOR_MAGIC, 4);
	bytes[4] = PREDICTOR_VERSION;
	at = put_u32(bytes, at, 1);
	at = put_u32(bytes, at, 2);
	at = put_u32(bytes, at, 2);
	at = put_u32(bytes, at, 0);
	at = put_string(bytes, at, "number");
	at = put_u32(bytes, at, MEMBER_NEIGHBOURS);
	at = put_u32(bytes, at, neighbours_size(2, 2));
	at = put_u32(bytes, at, 1);
	at = put_u32(bytes, at, 2);
	at = put_u32(bytes, at, 2);
	at = put_u32(bytes, at, 0);
	for (int row = 0; row < 2; row++)
	{
		at = put_u32(bytes, at, row * NEIGHBOURS_ONE);
		at = put_doubles(bytes, at, 2);
	}
	at = put_u32(bytes, at, MEMBER_LINEAR);
	at = put_u32(bytes, at, 3 * 8);
	return put_doubles(bytes, at, 3);
}

static void
test_format(const char *what, const unsigned char *valid, size_t size)
{
	PredictorShape shape;
	size_t		   cut_accepted = 0;
	size_t		   accepted = 0;
	size_t		   sum = 0;

	ok(predictor_parse(valid, size, &shape) == NULL, "%s is accepted", what);
	ok(shape.members + shape.members_size == valid + size, "up to its end");
	for (size_t cut = 0; cut < size; cut++)
	{
		unsigned char *copy = malloc(Max(cut, 1));

		memcpy(copy, valid, cut);
		cut_accepted += predictor_parse(copy, cut, &shape) == NULL;
		free(copy);
	}
	ok(cut_accepted == 0, "and refused when cut anywhere");
	for (int round = 0; round < ROUNDS; round++)
	{
		unsigned char  work[MAX_SIZE];
		size_t		   mutated;
		unsigned char *copy;

		memcpy(work, valid, size);
		mutated = mutate(work, size);
		copy = malloc(mutated);
		memcpy(copy, work, mutated);
		if (predictor_parse(copy, mutated, &shape) == NULL)
		{
			accepted++;
			sum += walk(&shape);
		}
		free(copy);
	}
	/* some mutations only change a weight or a name */
	ok(accepted > 0 && accepted < ROUNDS && sum > 0, "%d mutations", ROUNDS);
}

int
main(void)
{
	unsigned char  valid[MAX_SIZE];
	size_t		   size = make_valid(valid);
	PredictorShape shape;

	test_format("one member of each kind", valid, size);
	size = make_threshold(valid);
	test_format("a threshold", valid, size);
	size = make_numbers(valid);
	test_format("numbers", valid, size);
	put_u32(valid, size - 3 * 8 - 8 - 20, NEIGHBOURS_ONE + 1);
	ok(predictor_parse(valid, size, &shape) != NULL, "a number above one is refused");
	return done();
}
