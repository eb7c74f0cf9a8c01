/*
 * explain.c
 *		The rules of trees in words.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "learner/learners.h"
#include "server/number_text.h"

typedef struct Explainer
{
	StringInfoData	out;
	const Ensemble *ensemble; /* for the names of classes */
	char		  **names;	  /* of features; NULL: numbered */
	const Forest   *forest;	  /* the member at hand */
	uint32			tree;
} Explainer;

/* Starts a line; level is that of its indentation. */
static StringInfo
start_line(Explainer *explainer, int level)
{
	appendStringInfoSpaces(&explainer->out, 2 * level);
	return &explainer->out;
}

static const char *
class_name(const Explainer *explainer, int class_index)
{
	return ensemble_class_name(explainer->ensemble, class_index);
}

static const char *
feature_name(const Explainer *explainer, uint32 feature)
{
	return explainer->names ? explainer->names[feature] : psprintf("f%u", feature + 1);
}

static char *
float_text(float number)
{
	char *text = palloc(FLOAT_SHORTEST_DECIMAL_LEN);

	float_to_shortest_decimal_buf(number, text);
	return text;
}

/* Shares of the classes in a leaf of one tree (tree.c). */
static void
append_shares(Explainer *explainer, const float *leaf)
{
	int	   nclasses = ensemble_classes(explainer->ensemble);
	int	   best = 0;
	double share;

	if (nclasses == 2)
	{
		best = leaf[0] > 0;
		share = 0.5 + fabs(leaf[0]);
	}
	else
	{
		for (int c = 1; c < nclasses; c++)
			if (leaf[c] > leaf[best])
				best = c;
		share = leaf[best];
	}
	appendStringInfo(&explainer->out, "%s (%.0f%%)", class_name(explainer, best), 100 * share);
}

static void
append_leaf(Explainer *explainer, const float *leaf, int level)
{
	const Forest *forest = explainer->forest;
	int			  of = forest->scores == 1 ? 1 : explainer->tree % forest->scores;

	(void) start_line(explainer, level);
	if (forest->shares)
		append_shares(explainer, leaf);
	else if (forest->outputs == 1)
		appendStringInfo(&explainer->out, "%s for %s", float_text(leaf[0]),
						 class_name(explainer, of));
	else
		for (uint32 c = 0; c < forest->scores; c++)
			appendStringInfo(&explainer->out, "%s%s for %s", c > 0 ? ", " : "", float_text(leaf[c]),
							 class_name(explainer, c));
	appendStringInfoChar(&explainer->out, '\n');
}

/* The leaf that a node stands for, or NULL if those below it differ. */
static const float *
only_leaf(const Forest *forest, uint32 tree, uint32 node, int level)
{
	uint32		 below = forest->depth - level;
	Size		 bottom = (Size) 1 << forest->depth;
	Size		 first = (((Size) node + 1) << below) - bottom;
	const float *leaf = forest->leaves + (tree * bottom + first) * forest->outputs;
	Size		 size = forest->outputs * sizeof(float);

	for (Size i = 1; i < (Size) 1 << below; i++)
		if (memcmp(leaf, leaf + i * forest->outputs, size) != 0)
			return NULL;
	return leaf;
}

static void
append_node(Explainer *explainer, uint32 node, int level, int indent)
{
	const Forest	  *forest = explainer->forest;
	const float		  *leaf = only_leaf(forest, explainer->tree, node, level);
	const ForestSplit *split;

	if (leaf != NULL)
	{
		append_leaf(explainer, leaf, indent);
		return;
	}
	split = &forest->splits[explainer->tree * forest_tree_splits(forest->depth) + node];
	appendStringInfo(start_line(explainer, indent), "if %s < %s%s:\n",
					 feature_name(explainer, split->feature), float_text(split->threshold),
					 split->missing_left ? " or missing" : "");
	append_node(explainer, 2 * node + 1, level + 1, indent + 1);
	appendStringInfoString(start_line(explainer, indent), "else:\n");
	append_node(explainer, 2 * node + 2, level + 1, indent + 1);
}

static void
append_forest(Explainer *explainer, const PredictorMember *member, int indent)
{
	Forest *forest = forest_read(member->body, member->size, ensemble_classes(explainer->ensemble),
								 ensemble_width(explainer->ensemble));

	explainer->forest = forest;
	for (explainer->tree = 0; explainer->tree < forest->trees; explainer->tree++)
	{
		CHECK_FOR_INTERRUPTS();
		if (forest->trees > 1)
			appendStringInfo(start_line(explainer, indent), "tree %u:\n", explainer->tree + 1);
		append_node(explainer, 0, 0, indent + (forest->trees > 1));
	}
	pfree(forest->splits);
	pfree(forest->leaves);
}

static void
append_stump(Explainer *explainer, const unsigned char *body, int indent)
{
	char threshold[NUMBER_TEXT_SIZE];

	appendStringInfo(start_line(explainer, indent), "if %s <= %s:\n",
					 feature_name(explainer, read_u32(body)),
					 number_text(read_double(body + 16), threshold));
	appendStringInfo(start_line(explainer, indent + 1), "%s\n",
					 class_name(explainer, read_u32(body + 4)));
	appendStringInfoString(start_line(explainer, indent), "else:\n");
	appendStringInfo(start_line(explainer, indent + 1), "%s\n",
					 class_name(explainer, read_u32(body + 8)));
}

/* A member that has no rules, in a line. */
static const char *
member_words(const Explainer *explainer, const PredictorMember *member)
{
	switch ((MemberKind) member->kind)
	{
		case MEMBER_CONSTANT:
			return psprintf("always %s", class_name(explainer, read_u32(member->body)));
		case MEMBER_LINEAR:
			return "a linear score, without rules";
		case MEMBER_GAUSSIAN:
			return "a naive Bayes score, without rules";
		case MEMBER_THRESHOLD:
			return "a walk along one feature, without rules";
		case MEMBER_NEIGHBOURS:
			return psprintf("the majority of the %u nearest of %u rows, without rules",
							read_u32(member->body), read_u32(member->body + 8));
		case MEMBER_SQL:
			return "a function of its own";
		case MEMBER_STUMP:
		case MEMBER_FOREST:
			break;
	}
	return "";
}

static void
append_member(Explainer *explainer, const PredictorMember *member, int indent)
{
	if (member->kind == MEMBER_FOREST)
		append_forest(explainer, member, indent);
	else if (member->kind == MEMBER_STUMP)
		append_stump(explainer, member->body, indent);
	else
		appendStringInfo(start_line(explainer, indent), "%s\n", member_words(explainer, member));
}

char *
predictor_explain(const Predictor *predictor, char **names, int nnames)
{
	Explainer			 explainer = {.ensemble = ensemble_load(predictor), .names = names};
	PredictorShape		 shape;
	const unsigned char *position;

	if (names != NULL && nnames != ensemble_width(explainer.ensemble))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("there are %d names, but the predictor has %d features", nnames,
							   ensemble_width(explainer.ensemble)),
						errhint("Name every number of a row as the learner saw it; "
								"a category has one per level.")));
	initStringInfo(&explainer.out);
	predictor_read(predictor, &shape);
	position = shape.members;
	for (uint32 i = 0; i < shape.nmembers; i++)
	{
		PredictorMember member;

		position = predictor_next_member(position, &member);
		if (shape.nmembers > 1)
			appendStringInfo(&explainer.out, "member %u:\n", i + 1);
		append_member(&explainer, &member, shape.nmembers > 1);
	}
	return explainer.out.data;
}
