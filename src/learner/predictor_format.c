/*
 * predictor_format.c
 *		Checks the stored form of predictors, byte by byte.
 *
 * Includes nothing of the server, so that a fuzzer can drive it alone.
 */
#include <math.h>

#include "learner/forest.h"
#include "learner/predictor_format.h"

/* Kept equal to privpred.h by assertions in predictor.c. */
#define MAX_CLASSES 1000
#define MAX_WIDTH 16384
#define MAX_MEMBERS 100000

const unsigned char *
predictor_next_string(const unsigned char *position, const char **string, uint32_t *length)
{
	*length = read_u32(position);
	*string = (const char *) position + 4;
	return position + 4 + *length;
}

const unsigned char *
predictor_next_member(const unsigned char *position, PredictorMember *member)
{
	member->kind = read_u32(position);
	member->size = read_u32(position + 4);
	member->body = position + PREDICTOR_MEMBER_HEADER;
	return member->body + member->size;
}

/* Takes one length-prefixed string without zero bytes off the front. */
static bool
take_string(const unsigned char **position, const unsigned char *end)
{
	size_t	 left = (size_t) (end - *position);
	uint32_t length;

	if (left < 4)
		return false;
	length = read_u32(*position);
	if (length > left - 4 || memchr(*position + 4, 0, length) != NULL)
		return false;
	*position += 4 + length;
	return true;
}

/* Quadratic, but there are at most a thousand names. */
static bool
names_are_distinct(const PredictorShape *shape)
{
	const unsigned char *a = shape->names;

	for (uint32_t i = 0; i < shape->nclasses; i++)
	{
		const unsigned char *b = shape->names;
		const char			*name;
		uint32_t			 length;

		for (uint32_t j = 0; j < i; j++)
		{
			const char *other;
			uint32_t	other_length;

			b = predictor_next_string(b, &other, &other_length);
			if (other_length == read_u32(a) && memcmp(other, a + 4, other_length) == 0)
				return false;
		}
		a = predictor_next_string(a, &name, &length);
	}
	return true;
}

static bool
all_finite(const unsigned char *body, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(read_double(body + 8 * i)))
			return false;
	return true;
}

/* A class that must never win has minus infinity here. */
static bool
finite_or_never(double value)
{
	return isfinite(value) || (isinf(value) && value < 0);
}

static bool
linear_ok(const PredictorShape *shape, const PredictorMember *member)
{
	size_t vectors = shape->nclasses == 2 ? 1 : shape->nclasses;
	size_t stride = ((size_t) shape->width + 1) * 8;

	if (member->size != vectors * stride)
		return false;
	for (size_t v = 0; v < vectors; v++)
	{
		const unsigned char *vector = member->body + v * stride;

		if (!all_finite(vector, shape->width) || !finite_or_never(read_double(vector + stride - 8)))
			return false;
	}
	return true;
}

static bool
gaussian_ok(const PredictorShape *shape, const PredictorMember *member)
{
	size_t stride = (1 + 2 * (size_t) shape->width) * 8;

	if (member->size != shape->nclasses * stride)
		return false;
	for (size_t c = 0; c < shape->nclasses; c++)
	{
		const unsigned char *block = member->body + c * stride;

		if (!finite_or_never(read_double(block)) ||
			!all_finite(block + 8, 2 * (size_t) shape->width))
			return false;
		for (size_t i = 0; i < shape->width; i++)
			if (read_double(block + 8 * (1 + shape->width + i)) < 0)
				return false;
	}
	return true;
}

static bool
stump_ok(const PredictorShape *shape, const PredictorMember *member)
{
	const unsigned char *body = member->body;

	return member->size == STUMP_SIZE && read_u32(body) < shape->width &&
		   read_u32(body + 4) < shape->nclasses && read_u32(body + 8) < shape->nclasses &&
		   read_u32(body + 12) == 0 && isfinite(read_double(body + 16));
}

static bool
sql_ok(const PredictorMember *member)
{
	const unsigned char *position = member->body;
	const unsigned char *end = member->body + member->size;

	return take_string(&position, end) && take_string(&position, end) &&
		   take_string(&position, end) && position == end;
}

static bool
forest_ok(const PredictorShape *shape, const PredictorMember *member)
{
	Forest forest;

	return forest_parse(member->body, member->size, shape->nclasses, shape->width, &forest);
}

static bool
threshold_point_ok(const unsigned char *body, size_t capacity, size_t point)
{
	double x = read_double(body + threshold_x(point));
	bool   moved = false;

	for (size_t link = 0; link < 2; link++)
	{
		int64_t limit = read_u32(body + 4 * link);
		int32_t steps = (int32_t) read_u32(body + threshold_steps(capacity, link, point));
		int32_t before =
			point == 0 ? 0 : (int32_t) read_u32(body + threshold_steps(capacity, link, point - 1));

		if (steps < -limit || steps > limit)
			return false;
		moved = moved || steps != before;
	}
	return moved && isfinite(x) && (point == 0 || read_double(body + threshold_x(point - 1)) < x);
}

bool
threshold_body_ok(const unsigned char *body, size_t size)
{
	size_t capacity;
	size_t points;

	if (size < THRESHOLD_HEADER || (size - THRESHOLD_HEADER) % THRESHOLD_POINT != 0)
		return false;
	capacity = (size - THRESHOLD_HEADER) / THRESHOLD_POINT;
	points = read_u32(body + 8);
	if (points > capacity || read_u32(body + 12) != 0)
		return false;
	for (size_t link = 0; link < 2; link++)
		if (read_u32(body + 4 * link) < 1 || read_u32(body + 4 * link) > INT32_MAX)
			return false;
	for (size_t i = 0; i < points; i++)
		if (!threshold_point_ok(body, capacity, i))
			return false;
	/* unused room is zero */
	for (size_t i = points; i < capacity; i++)
		if (read_u32(body + threshold_x(i)) != 0 || read_u32(body + threshold_x(i) + 4) != 0 ||
			read_u32(body + threshold_steps(capacity, 0, i)) != 0 ||
			read_u32(body + threshold_steps(capacity, 1, i)) != 0)
			return false;
	return true;
}

static bool
all_zero(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

static bool
neighbours_ok(const PredictorShape *shape, const PredictorMember *member)
{
	const unsigned char *body = member->body;
	uint32_t			 room;
	uint32_t			 rows;
	uint32_t			 largest = shape->nclasses == 1 ? NEIGHBOURS_ONE : shape->nclasses - 1;

	if (member->size < NEIGHBOURS_HEADER)
		return false;
	room = read_u32(body + 4);
	rows = read_u32(body + 8);
	if (read_u32(body) < 1 || read_u32(body) > NEIGHBOURS_MAX_K || room > NEIGHBOURS_MAX_ROWS ||
		rows < 1 || rows > room || read_u32(body + 12) != 0 ||
		member->size != neighbours_size(room, shape->width))
		return false;
	for (uint32_t i = 0; i < rows; i++)
	{
		const unsigned char *row = body + neighbours_row(i, shape->width);

		if (read_u32(row) > largest || !all_finite(row + 4, shape->width))
			return false;
	}
	/* unused room is zero */
	return all_zero(body + neighbours_row(rows, shape->width),
					member->size - neighbours_row(rows, shape->width));
}

static bool
constant_ok(const PredictorShape *shape, const PredictorMember *member)
{
	return member->size >= 4 && read_u32(member->body) < shape->nclasses &&
		   all_zero(member->body + 4, member->size - 4);
}

static bool
member_ok(const PredictorShape *shape, const PredictorMember *member)
{
	switch (member->kind)
	{
		case MEMBER_CONSTANT:
			return constant_ok(shape, member);
		case MEMBER_LINEAR:
			return linear_ok(shape, member);
		case MEMBER_GAUSSIAN:
			return gaussian_ok(shape, member);
		case MEMBER_STUMP:
			return stump_ok(shape, member);
		case MEMBER_SQL:
			return sql_ok(member);
		case MEMBER_FOREST:
			return forest_ok(shape, member);
		case MEMBER_THRESHOLD:
			return shape->nclasses == 2 && shape->width == 1 &&
				   threshold_body_ok(member->body, member->size);
		case MEMBER_NEIGHBOURS:
			return neighbours_ok(shape, member);
	}
	return false;
}

static const char *
check_header(const unsigned char *bytes, size_t size, PredictorShape *shape)
{
	if (size < PREDICTOR_HEADER_SIZE || memcmp(bytes, PREDICTOR_MAGIC, 4) != 0)
		return "It does not start like a predictor.";
	if (bytes[4] != PREDICTOR_VERSION || bytes[5] != 0 || bytes[6] != 0 || bytes[7] != 0)
		return "Its version is unknown.";
	shape->nclasses = read_u32(bytes + 8);
	shape->width = read_u32(bytes + 12);
	shape->nmembers = read_u32(bytes + 16);
	shape->default_class = read_u32(bytes + 20);
	if (shape->nclasses < 1 || shape->nclasses > MAX_CLASSES)
		return "Its number of classes is out of range.";
	if (shape->width < 1 || shape->width > MAX_WIDTH)
		return "Its number of features is out of range.";
	if (shape->nmembers < 1 || shape->nmembers > MAX_MEMBERS)
		return "Its number of members is out of range.";
	if (shape->default_class >= shape->nclasses)
		return "Its default class is out of range.";
	return NULL;
}

const char *
predictor_parse(const unsigned char *bytes, size_t size, PredictorShape *shape)
{
	const unsigned char *end = bytes + size;
	const unsigned char *position = bytes + PREDICTOR_HEADER_SIZE;
	const char			*problem = check_header(bytes, size, shape);

	if (problem)
		return problem;

	shape->names = position;
	for (uint32_t i = 0; i < shape->nclasses; i++)
		if (!take_string(&position, end))
			return "Its class names are malformed.";
	shape->names_size = (size_t) (position - shape->names);
	if (!names_are_distinct(shape))
		return "Two of its classes have the same name.";

	shape->members = position;
	for (uint32_t i = 0; i < shape->nmembers; i++)
	{
		PredictorMember member;

		if (end - position < PREDICTOR_MEMBER_HEADER ||
			(size_t) (end - position) - PREDICTOR_MEMBER_HEADER < read_u32(position + 4))
			return "It ends too early.";
		position = predictor_next_member(position, &member);
		if (!member_ok(shape, &member))
			return "One of its members is malformed.";
	}
	shape->members_size = (size_t) (position - shape->members);
	if (position != end)
		return "It goes on after its end.";
	return NULL;
}
