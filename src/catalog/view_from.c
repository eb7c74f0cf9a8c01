/*
 * view_from.c
 *		Members of FROM, joins, WHERE and WITH.
 *
 * Inner joins and WHERE are one set of members and conditions, whichever way they
 * are written: every local member is tied to the others by equalities of units, so
 * that each row has one owner.  In an outer join only its own ON ties: that a row
 * has no match must have been decided by rows of its owner.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "catalog/view_walk.h"

/* Inner joins, while they are collected. */
typedef struct Level
{
	List *parts;
	List *conjuncts;
} Level;

static void collect(ViewWalk *walk, Scope *scope, Node *node, Level *level);

List *
conjuncts_of(Node *condition)
{
	List	 *result = NIL;
	ListCell *cell;

	if (condition == NULL)
		return NIL;
	if (!is_andclause(condition))
		return list_make1(condition);
	foreach(cell, ((BoolExpr *) condition)->args)
		result = list_concat(result, conjuncts_of(lfirst(cell)));
	return result;
}

/* ---------- members ---------- */

static Finding *
found(Locality locality)
{
	Finding *finding = palloc0_object(Finding);

	finding->locality = locality;
	finding->name = "nothing";
	return finding;
}

/* Each is walked once, in the scope in which it is written. */
static Finding *
with_member(ViewWalk *walk, Scope *scope, RangeTblEntry *entry)
{
	Scope	 *own = outer_scope(scope, entry->ctelevelsup);
	ListCell *cell;
	int		  number = 0;

	foreach(cell, own != NULL ? own->query->cteList : NIL)
	{
		CommonTableExpr *with = lfirst(cell);

		if (strcmp(with->ctename, entry->ctename) == 0)
		{
			Finding *finding = list_nth(own->ctes, number);

			if (entry->self_reference || with->cterecursive || !IsA(with->ctequery, Query))
				break;
			if (finding == NULL)
				finding = view_query(walk, (Query *) with->ctequery, own);
			list_nth_cell(own->ctes, number)->ptr_value = finding;
			return finding;
		}
		number++;
	}
	view_unknown(walk, NULL, psprintf("\"%s\" is recursive, or not found.", entry->ctename),
				 "Use WITH without RECURSIVE.");
}

/* Functions and VALUES of FROM: rows that their arguments decide. */
static Finding *
computed_member(ViewWalk *walk, Scope *scope, RangeTblEntry *entry)
{
	Finding	 *finding = found(VIEW_PUBLIC);
	ListCell *cell;

	scope->public_only = true;
	foreach(cell, entry->functions)
		view_exact(walk, scope, ((RangeTblFunction *) lfirst(cell))->funcexpr);
	foreach(cell, entry->values_lists)
		view_exact_list(walk, scope, lfirst(cell));
	scope->public_only = false;
	finding->one_row = list_length(entry->values_lists) == 1;
	return finding;
}

static Finding *
member_of(ViewWalk *walk, Scope *scope, RangeTblEntry *entry)
{
	if (entry->tablesample != NULL)
		view_unknown(walk, (Node *) entry->tablesample,
					 "TABLESAMPLE picks rows by the place where they lie.",
					 "Read the whole table, or pick rows by a hash of their unit.");
	switch (entry->rtekind)
	{
		case RTE_RELATION:
			return view_relation(walk, entry);
		case RTE_SUBQUERY:
			return view_query(walk, entry->subquery, scope);
		case RTE_CTE:
			return with_member(walk, scope, entry);
		case RTE_FUNCTION:
		case RTE_VALUES:
			return computed_member(walk, scope, entry);
		case RTE_RESULT:
			return found(VIEW_PUBLIC);
		default:
			view_unknown(walk, NULL, "FROM has a member of a kind that is not checked.",
						 "Use tables, views, subqueries, VALUES and functions.");
	}
}

static Part *
add_member(ViewWalk *walk, Scope *scope, int number)
{
	RangeTblEntry *entry = rt_fetch(number, scope->query->rtable);
	Finding		  *finding = member_of(walk, scope, entry);
	Part		  *part = palloc0_object(Part);
	int			   column = -1;

	/* Nothing could tie it, and without keys it would pass for public. */
	if (finding->locality == VIEW_LOCAL && bms_is_empty(finding->keys))
		view_mixes(walk, NULL,
				   psprintf("\"%s\" has rows of \"%s\", and not their unit.",
							entry->eref->aliasname, finding->name),
				   "Select the unit column in it, and compare it with that of the row around it.");
	while (finding->locality == VIEW_LOCAL &&
		   (column = bms_next_member(finding->keys, column)) >= 0)
		part->keys = bms_add_member(part->keys, KEY_NUMBER(number, column));
	part->name = entry->eref != NULL ? entry->eref->aliasname : finding->name;
	scope->keys = bms_add_members(scope->keys, part->keys);
	scope->pins = list_concat(scope->pins, finding->pins);
	scope->members[number] = finding;
	return part;
}

/* ---------- joins ---------- */

/* Where equalities hold, their keys are not NULL. */
static void
add_null_rule(Scope *scope, Bitmapset *region, List *conjuncts)
{
	NullRule *rule = palloc0_object(NullRule);
	ListCell *cell;

	rule->region = region;
	foreach(cell, conjuncts)
	{
		Node *sides[2];

		if (!is_unit_equality(lfirst(cell), &sides[0], &sides[1]))
			continue;
		for (int i = 0; i < 2; i++)
			if (key_column(sides[i]) != NULL)
				rule->never_null =
					bms_add_members(rule->never_null, key_expression(scope, sides[i]));
	}
	if (rule->never_null != NULL)
		scope->null_rules = lappend(scope->null_rules, rule);
}

static Bitmapset *
keys_of_parts(List *parts)
{
	Bitmapset *keys = NULL;
	ListCell  *cell;

	foreach(cell, parts)
		keys = bms_add_members(keys, ((Part *) lfirst(cell))->keys);
	return keys;
}

pg_noreturn static void
refuse_join(ViewWalk *walk, Node *place, const Part *a, const Part *b, const char *where)
{
	view_mixes(
		walk, place,
		psprintf("\"%s\" and \"%s\" have rows of protected tables and are joined, and not by "
				 "their units%s.",
				 a->name, b->name, where),
		psprintf("Add an equality of the unit columns of \"%s\" and \"%s\" to the condition.",
				 a->name, b->name));
}

/* The first two parts with keys that are not tied; false: all are. */
static bool
find_untied(Ties *ties, List *parts, int *a, int *b)
{
	*a = -1;
	for (int i = 0; i < list_length(parts); i++)
	{
		if (((Part *) list_nth(parts, i))->keys == NULL)
			continue;
		if (*a < 0)
			*a = i;
		else if (!ties_hold(ties, *a, i))
		{
			*b = i;
			return true;
		}
	}
	return false;
}

/* One part of several that are joined, all of whose keys are tied. */
static Part *
join_parts(List *parts)
{
	Part	 *result = palloc0_object(Part);
	ListCell *cell;

	result->keys = keys_of_parts(parts);
	foreach(cell, parts)
	{
		Part *part = lfirst(cell);

		if (result->name == NULL || (part->keys != NULL && result->keys != NULL))
			result->name = part->name;
		if (part->keys != NULL)
			break;
	}
	return result;
}

/* One side of an outer join. */
static Part *
side_of_join(ViewWalk *walk, Scope *scope, Node *node)
{
	Level level = {0};
	Ties *ties;
	int	  a;
	int	  b;

	collect(walk, scope, node, &level);
	view_conjuncts(walk, scope, level.conjuncts);
	ties = ties_begin(scope, level.parts);
	ties_add(ties, level.conjuncts);
	if (find_untied(ties, level.parts, &a, &b))
		refuse_join(walk, (Node *) level.conjuncts, list_nth(level.parts, a),
					list_nth(level.parts, b), " on this side of the outer join");
	add_null_rule(scope, keys_of_parts(level.parts), level.conjuncts);
	return join_parts(level.parts);
}

static Part *
outer_join(ViewWalk *walk, Scope *scope, JoinExpr *join)
{
	Part *left = side_of_join(walk, scope, join->larg);
	Part *right = side_of_join(walk, scope, join->rarg);
	List *conjuncts = conjuncts_of(join->quals);
	List *parts = list_make2(left, right);
	Ties *ties;
	int	  a;
	int	  b;

	view_conjuncts(walk, scope, conjuncts);
	ties = ties_begin(scope, parts);
	ties_add(ties, conjuncts);
	if (find_untied(ties, parts, &a, &b))
		refuse_join(walk, join->quals, left, right, " in ON, which alone decides what has a match");
	if (join->jointype == JOIN_LEFT)
		add_null_rule(scope, right->keys, conjuncts);
	else if (join->jointype == JOIN_RIGHT)
		add_null_rule(scope, left->keys, conjuncts);
	else if (join->jointype != JOIN_FULL)
		view_unknown(walk, join->quals, "It has a join of a kind that is not checked.",
					 "Use inner and outer joins.");
	return join_parts(parts);
}

static void
collect(ViewWalk *walk, Scope *scope, Node *node, Level *level)
{
	ListCell *cell;

	check_stack_depth();
	if (IsA(node, RangeTblRef))
		level->parts =
			lappend(level->parts, add_member(walk, scope, ((RangeTblRef *) node)->rtindex));
	else if (IsA(node, FromExpr))
	{
		foreach(cell, ((FromExpr *) node)->fromlist)
			collect(walk, scope, lfirst(cell), level);
		level->conjuncts = list_concat(level->conjuncts, conjuncts_of(((FromExpr *) node)->quals));
	}
	else if (IsA(node, JoinExpr) && ((JoinExpr *) node)->jointype == JOIN_INNER)
	{
		collect(walk, scope, ((JoinExpr *) node)->larg, level);
		collect(walk, scope, ((JoinExpr *) node)->rarg, level);
		level->conjuncts = list_concat(level->conjuncts, conjuncts_of(((JoinExpr *) node)->quals));
	}
	else if (IsA(node, JoinExpr))
		level->parts = lappend(level->parts, outer_join(walk, scope, (JoinExpr *) node));
	else
		view_unknown(walk, NULL, "FROM has a member of a kind that is not checked.",
					 "Use tables, views, subqueries, VALUES and functions.");
}

/*
 * Parts that are not tied to each other may each be tied to a row outside: all of
 * them are then pinned.
 */
static bool
pin_parts(Scope *scope, Ties *ties, List *parts)
{
	List *pins = NIL;

	for (int i = 0; i < list_length(parts); i++)
	{
		Pin *pin = palloc0_object(Pin);

		if (((Part *) list_nth(parts, i))->keys == NULL)
			continue;
		if (!ties_to_outer(ties, i, pin))
			return false;
		pins = lappend(pins, pin);
	}
	scope->pins = list_concat(scope->pins, pins);
	return pins != NIL;
}

Finding *
view_from(ViewWalk *walk, Scope *scope)
{
	Level	 level = {0};
	Finding *finding;
	Part	*all;
	Ties	*ties;
	int		 a;
	int		 b;

	collect(walk, scope, (Node *) scope->query->jointree, &level);
	view_conjuncts(walk, scope, level.conjuncts);
	ties = ties_begin(scope, level.parts);
	ties_add(ties, level.conjuncts);
	add_null_rule(scope, scope->keys, level.conjuncts);
	all = join_parts(level.parts);
	if (all->keys == NULL || pin_parts(scope, ties, level.parts))
	{
		finding = found(VIEW_PUBLIC); /* or pinned: the scope's pins tell */
		if (all->keys != NULL)
			finding->name = all->name;
		return finding;
	}
	if (find_untied(ties, level.parts, &a, &b))
		refuse_join(walk, (Node *) level.conjuncts, list_nth(level.parts, a),
					list_nth(level.parts, b), "");
	finding = found(VIEW_LOCAL);
	finding->name = all->name;
	return finding;
}
