/*
 * predictor_json.c
 *		A predictor in words: what somebody needs to evaluate it elsewhere.
 *
 * Numbers are printed so that they are read back bit for bit.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/json.h"

#include "learner/learners.h"
#include "server/number_text.h"

/* JSON has no infinity; it stands for "never" and "always" in our formats. */
static void
append_number(StringInfo json, double number)
{
	char text[NUMBER_TEXT_SIZE];

	if (isinf(number))
		appendStringInfoString(json, number < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
		appendStringInfoString(json, number_text(number, text));
}

/* rows * columns doubles: "key": [[...], ...] */
static const unsigned char *
append_matrix(StringInfo json, const char *key, const unsigned char *numbers, int rows, int columns)
{
	appendStringInfo(json, "\"%s\": [", key);
	for (int row = 0; row < rows; row++)
	{
		appendStringInfoString(json, row > 0 ? ", [" : "[");
		for (int column = 0; column < columns; column++)
		{
			appendStringInfoString(json, column > 0 ? ", " : "");
			append_number(json, read_double(numbers));
			numbers += sizeof(double);
		}
		appendStringInfoChar(json, ']');
	}
	appendStringInfoChar(json, ']');
	return numbers;
}

/* constants, means and precisions of each class lie together */
static void
append_gaussian(StringInfo json, const unsigned char *body, const PredictorShape *shape)
{
	for (uint32 i = 0; i < shape->nclasses; i++)
	{
		appendStringInfoString(json, i > 0 ? ", {\"constant\": " : "{\"constant\": ");
		append_number(json, read_double(body));
		appendStringInfoString(json, ", ");
		body = append_matrix(json, "mean", body + sizeof(double), 1, shape->width);
		appendStringInfoString(json, ", ");
		body = append_matrix(json, "precision", body, 1, shape->width);
		appendStringInfoChar(json, '}');
	}
}

/* Arrays in level order, as forest.h describes them. */
static void
append_forest(StringInfo json, const PredictorMember *member, const PredictorShape *shape)
{
	Forest *forest = forest_read(member->body, member->size, shape->nclasses, shape->width);
	Size	splits = forest_tree_splits(forest->depth);
	Size	leaves = forest_leaves(forest) / forest->trees;

	appendStringInfo(json, "{\"kind\": \"forest\", \"depth\": %u, \"outputs\": %u, \"trees\": [",
					 forest->depth, forest->outputs);
	for (uint32 tree = 0; tree < forest->trees; tree++)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(json, tree > 0 ? ", {\"splits\": [" : "{\"splits\": [");
		for (Size i = 0; i < splits; i++)
		{
			const ForestSplit *split = &forest->splits[tree * splits + i];

			appendStringInfo(
				json, "%s{\"feature\": %u, \"missing\": \"%s\", \"below\": ", i > 0 ? ", " : "",
				split->feature, split->missing_left ? "left" : "right");
			append_number(json, split->threshold);
			appendStringInfoChar(json, '}');
		}
		appendStringInfoString(json, "], \"leaves\": [");
		for (Size i = 0; i < leaves; i++)
		{
			appendStringInfoString(json, i > 0 ? ", " : "");
			append_number(json, forest->leaves[tree * leaves + i]);
		}
		appendStringInfoString(json, "]}");
	}
	appendStringInfoString(json, "]}");
}

/* From each x on, the walk stands so many steps from zero; below the first, at zero. */
static void
append_threshold(StringInfo json, const PredictorMember *member)
{
	Size capacity = (member->size - THRESHOLD_HEADER) / THRESHOLD_POINT;

	for (uint32 i = 0; i < read_u32(member->body + 8); i++)
	{
		appendStringInfoString(json, i > 0 ? ", [" : "[");
		append_number(json, read_double(member->body + threshold_x(i)));
		appendStringInfo(
			json, ", %d]",
			(int32) read_u32(member->body + threshold_steps(capacity, WALK_LAPLACE, i)));
	}
}

static void
append_neighbours(StringInfo json, const PredictorMember *member, const PredictorShape *shape)
{
	uint32 rows = read_u32(member->body + 8);

	appendStringInfo(json, "{\"kind\": \"neighbours\", \"k\": %u, \"rows\": [",
					 read_u32(member->body));
	for (uint32 i = 0; i < rows; i++)
	{
		const unsigned char *row = member->body + neighbours_row(i, shape->width);

		appendStringInfo(json, "%s{\"class\": %u, ", i > 0 ? ", " : "", read_u32(row));
		append_matrix(json, "x", row + 4, 1, shape->width);
		appendStringInfoChar(json, '}');
	}
	appendStringInfoString(json, "]}");
}

static void
append_member(StringInfo json, const PredictorMember *member, const PredictorShape *shape)
{
	switch ((MemberKind) member->kind)
	{
		case MEMBER_CONSTANT:
			appendStringInfo(json, "{\"kind\": \"constant\", \"class\": %u}",
							 read_u32(member->body));
			break;
		case MEMBER_LINEAR:
			appendStringInfoString(json, "{\"kind\": \"linear\", ");
			append_matrix(json, "weights", member->body, LINEAR_VECTORS(shape->nclasses),
						  shape->width + 1);
			appendStringInfoChar(json, '}');
			break;
		case MEMBER_GAUSSIAN:
			appendStringInfoString(json, "{\"kind\": \"gaussian\", \"classes\": [");
			append_gaussian(json, member->body, shape);
			appendStringInfoString(json, "]}");
			break;
		case MEMBER_STUMP:
			appendStringInfo(json,
							 "{\"kind\": \"stump\", \"feature\": %u, \"class_below\": %u, "
							 "\"class_above\": %u, \"threshold\": ",
							 read_u32(member->body), read_u32(member->body + 4),
							 read_u32(member->body + 8));
			append_number(json, read_double(member->body + 16));
			appendStringInfoChar(json, '}');
			break;
		case MEMBER_FOREST:
			append_forest(json, member, shape);
			break;
		case MEMBER_THRESHOLD:
			appendStringInfoString(json, "{\"kind\": \"threshold\", \"points\": [");
			append_threshold(json, member);
			appendStringInfoString(json, "]}");
			break;
		case MEMBER_NEIGHBOURS:
			append_neighbours(json, member, shape);
			break;
		case MEMBER_SQL:
			ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							errmsg("a predictor of learner \"sql\" cannot be written as JSON"),
							errhint("What your aggregate returned is its form.")));
	}
}

void
predictor_append_json(StringInfo json, const Predictor *stored)
{
	PredictorShape		 shape;
	PredictorMember		 member;
	const unsigned char *position;

	predictor_read(stored, &shape);
	position = shape.members;
	appendStringInfoChar(json, '[');
	for (uint32 i = 0; i < shape.nmembers; i++)
	{
		position = predictor_next_member(position, &member);
		appendStringInfoString(json, i > 0 ? ", " : "");
		append_member(json, &member, &shape);
	}
	appendStringInfoChar(json, ']');
}
