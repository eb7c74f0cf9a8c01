/*
 * readout.c
 *		Trees out of XGBoost's text dump.
 *
 * The dump has one line per node, in any order:
 *
 *	0:[f3<0.5] yes=1,no=2,missing=1
 *		1:leaf=-0.25
 *
 * with nine significant digits, which give a float back exactly.  Anything
 * else is refused, so that another version of the library cannot be
 * misunderstood.  Includes nothing of the server, for the unit test.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readout.h"

#define MAX_NODES (2 << FOREST_MAX_DEPTH)

typedef struct DumpedNode
{
	bool	 known;
	bool	 leaf;
	bool	 missing_left;
	unsigned feature;
	unsigned left;
	unsigned right;
	float	 number; /* threshold or leaf */
} DumpedNode;

/* Moves past a literal. */
static bool
skip(const char **position, const char *literal)
{
	size_t length = strlen(literal);

	if (strncmp(*position, literal, length) != 0)
		return false;
	*position += length;
	return true;
}

static bool
take_index(const char **position, unsigned limit, unsigned *index)
{
	char		 *end;
	unsigned long value;

	if (**position < '0' || **position > '9')
		return false;
	value = strtoul(*position, &end, 10);
	*position = end;
	*index = (unsigned) value;
	return value < limit;
}

static bool
take_number(const char **position, float *number)
{
	char *end;

	*number = strtof(*position, &end);
	if (end == *position)
		return false;
	*position = end;
	return true;
}

static bool
take_split(const char **position, unsigned width, DumpedNode *node)
{
	unsigned missing;

	if (!skip(position, "[f") || !take_index(position, width, &node->feature) ||
		!skip(position, "<") || !take_number(position, &node->number) ||
		!skip(position, "] yes=") || !take_index(position, MAX_NODES, &node->left) ||
		!skip(position, ",no=") || !take_index(position, MAX_NODES, &node->right) ||
		!skip(position, ",missing=") || !take_index(position, MAX_NODES, &missing))
		return false;
	node->missing_left = missing == node->left;
	return missing == node->left || missing == node->right;
}

static bool
take_line(const char **position, unsigned width, DumpedNode *nodes)
{
	unsigned id;

	while (**position == '\t')
		(*position)++;
	if (!take_index(position, MAX_NODES, &id) || nodes[id].known || !skip(position, ":"))
		return false;
	nodes[id].known = true;
	nodes[id].leaf = skip(position, "leaf=");
	if (!(nodes[id].leaf ? take_number(position, &nodes[id].number)
						 : take_split(position, width, &nodes[id])))
		return false;
	return skip(position, "\n");
}

/* From a node of the dump to the same place in the complete tree. */
static ReadoutResult
place(const DumpedNode *nodes, unsigned id, Forest *forest, uint32_t tree, uint32_t at,
	  uint32_t level)
{
	const DumpedNode *node = &nodes[id];
	ReadoutResult	  result;

	if (!node->known || (!node->leaf && level >= forest->depth))
		return READOUT_UNKNOWN;
	if (!isfinite(node->number))
		return READOUT_NOT_FINITE;
	if (node->leaf)
	{
		forest_set_leaf(forest, tree, at, level, &node->number);
		return READOUT_OK;
	}
	forest_set_split(forest, tree, at, node->feature, node->number, node->missing_left);
	result = place(nodes, node->left, forest, tree, 2 * at + 1, level + 1);
	return result != READOUT_OK ? result
								: place(nodes, node->right, forest, tree, 2 * at + 2, level + 1);
}

ReadoutResult
readout_tree(const char *dump, uint32_t width, Forest *forest, uint32_t tree)
{
	DumpedNode nodes[MAX_NODES];

	memset(nodes, 0, sizeof(nodes));
	while (*dump != '\0')
		if (!take_line(&dump, width, nodes))
			return READOUT_UNKNOWN;
	return place(nodes, 0, forest, tree, 0, 0);
}
