/*
 * predictor_json.c
 *		A predictor as JSON: what somebody needs to evaluate it elsewhere.
 *
 * Numbers are printed so that they are read back bit for bit.  How they are
 * used is in docs/export.md.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "learner/learners.h"
#include "server/json_text.h"

/* JSON has no infinity; it stands for "never" and "always" in our formats. */
static void
add_number(StringInfo json, const char *key, double number)
{
	if (isinf(number))
		json_string(json, key, number < 0 ? "-Infinity" : "Infinity");
	else
		json_number(json, key, number);
}

static void
add_integer(StringInfo json, const char *key, int number)
{
	json_literal(json, key, psprintf("%d", number));
}

/* n doubles; returns what follows them. */
static const unsigned char *
add_vector(StringInfo json, const char *key, const unsigned char *numbers, int n)
{
	json_open(json, key, '[');
	for (int i = 0; i < n; i++)
		add_number(json, NULL, read_double(numbers + 8 * i));
	json_close(json, ']');
	return numbers + 8 * n;
}

static void
add_linear(StringInfo json, const unsigned char *body, const PredictorShape *shape)
{
	json_open(json, "weights", '[');
	for (uint32 i = 0; i < LINEAR_VECTORS(shape->nclasses); i++)
		body = add_vector(json, NULL, body, shape->width + 1);
	json_close(json, ']');
}

/* constants, means and precisions of each class lie together */
static void
add_gaussian(StringInfo json, const unsigned char *body, const PredictorShape *shape)
{
	json_open(json, "classes", '[');
	for (uint32 i = 0; i < shape->nclasses; i++)
	{
		json_open(json, NULL, '{');
		add_number(json, "constant", read_double(body));
		body = add_vector(json, "mean", body + 8, shape->width);
		body = add_vector(json, "precision", body, shape->width);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void
add_stump(StringInfo json, const unsigned char *body)
{
	add_integer(json, "feature", read_u32(body));
	add_integer(json, "class_below", read_u32(body + 4));
	add_integer(json, "class_above", read_u32(body + 8));
	add_number(json, "threshold", read_double(body + 16));
}

static void
add_split(StringInfo json, const ForestSplit *split)
{
	json_open(json, NULL, '{');
	add_integer(json, "feature", split->feature);
	json_string(json, "missing", split->missing_left ? "left" : "right");
	add_number(json, "below", split->threshold);
	json_close(json, '}');
}

/* Arrays in level order, as forest.h describes them. */
static void
add_forest(StringInfo json, const PredictorMember *member, const PredictorShape *shape)
{
	Forest *forest = forest_read(member->body, member->size, shape->nclasses, shape->width);
	Size	splits = forest_tree_splits(forest->depth);
	Size	leaves = forest_leaves(forest) / forest->trees;

	add_integer(json, "depth", forest->depth);
	add_integer(json, "outputs", forest->outputs);
	json_literal(json, "shares", forest->shares ? "true" : "false");
	json_open(json, "trees", '[');
	for (uint32 tree = 0; tree < forest->trees; tree++)
	{
		CHECK_FOR_INTERRUPTS();
		json_open(json, NULL, '{');
		json_open(json, "splits", '[');
		for (Size i = 0; i < splits; i++)
			add_split(json, &forest->splits[tree * splits + i]);
		json_close(json, ']');
		json_open(json, "leaves", '[');
		for (Size i = 0; i < leaves; i++)
			add_number(json, NULL, forest->leaves[tree * leaves + i]);
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
	pfree(forest->splits);
	pfree(forest->leaves);
}

/* From each x on, the walk stands so many steps from zero; below the first, at zero. */
static void
add_threshold(StringInfo json, const PredictorMember *member)
{
	Size capacity = (member->size - THRESHOLD_HEADER) / THRESHOLD_POINT;

	json_open(json, "points", '[');
	for (uint32 i = 0; i < read_u32(member->body + 8); i++)
	{
		json_open(json, NULL, '[');
		add_number(json, NULL, read_double(member->body + threshold_x(i)));
		add_integer(json, NULL,
					(int32) read_u32(member->body + threshold_steps(capacity, WALK_LAPLACE, i)));
		json_close(json, ']');
	}
	json_close(json, ']');
}

static void
add_neighbours(StringInfo json, const unsigned char *body, const PredictorShape *shape)
{
	add_integer(json, "k", read_u32(body));
	json_open(json, "rows", '[');
	for (uint32 i = 0; i < read_u32(body + 8); i++)
	{
		const unsigned char *row = body + neighbours_row(i, shape->width);

		json_open(json, NULL, '{');
		if (shape->nclasses == 1)
			add_number(json, "number", (double) read_u32(row) / NEIGHBOURS_ONE);
		else
			add_integer(json, "class", read_u32(row));
		add_vector(json, "x", row + 4, shape->width);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* No default: the compiler warns if a kind is missing. */
static void
add_member(StringInfo json, const PredictorMember *member, const PredictorShape *shape)
{
	static const char *const kinds[] = {
		[MEMBER_CONSTANT] = "constant",
		[MEMBER_LINEAR] = "linear",
		[MEMBER_GAUSSIAN] = "gaussian",
		[MEMBER_STUMP] = "stump",
		[MEMBER_SQL] = "sql",
		[MEMBER_FOREST] = "forest",
		[MEMBER_THRESHOLD] = "threshold",
		[MEMBER_NEIGHBOURS] = "neighbours",
	};

	json_open(json, NULL, '{');
	json_string(json, "kind", kinds[member->kind]);
	switch ((MemberKind) member->kind)
	{
		case MEMBER_CONSTANT:
			add_integer(json, "class", read_u32(member->body));
			break;
		case MEMBER_LINEAR:
			add_linear(json, member->body, shape);
			break;
		case MEMBER_GAUSSIAN:
			add_gaussian(json, member->body, shape);
			break;
		case MEMBER_STUMP:
			add_stump(json, member->body);
			break;
		case MEMBER_FOREST:
			add_forest(json, member, shape);
			break;
		case MEMBER_THRESHOLD:
			add_threshold(json, member);
			break;
		case MEMBER_NEIGHBOURS:
			add_neighbours(json, member->body, shape);
			break;
		case MEMBER_SQL:
			break; /* what it is stays with its function */
	}
	json_close(json, '}');
}

char *
predictor_json(const Predictor *stored)
{
	StringInfoData		 json;
	PredictorShape		 shape;
	PredictorMember		 member;
	const unsigned char *position;

	predictor_read(stored, &shape);
	initStringInfo(&json);
	json_open(&json, NULL, '{');
	json_open(&json, "classes", '[');
	position = shape.names;
	for (uint32 i = 0; i < shape.nclasses; i++)
		json_string(&json, NULL, stored_text(&position));
	json_close(&json, ']');
	add_integer(&json, "width", shape.width);
	add_integer(&json, "default", shape.default_class);
	json_open(&json, "members", '[');
	position = shape.members;
	for (uint32 i = 0; i < shape.nmembers; i++)
	{
		position = predictor_next_member(position, &member);
		add_member(&json, &member, &shape);
	}
	json_close(&json, ']');
	json_close(&json, '}');
	return json.data;
}
