/*
 * view_setops.c
 *		UNION, INTERSECT and EXCEPT: rows compare per owner, if the key is in the same
 *		column of all private parts.
 *
 * A public row with v in the key's column is v's as well as any: it depends on
 * nobody.  But two key columns of a public row may differ, so one of them is left.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "catalog/view_walk.h"

/* Casts that the planner adds between parts must be the server's own. */
static void
check_cast(ViewWalk *walk, Node *node, Oid from, Oid to)
{
	if (from != to && (!is_built_in(from) || !is_built_in(to)))
		view_unknown(
			walk, node,
			psprintf("A set operation casts %s to %s.", format_type_be(from), format_type_be(to)),
			"Cast the column of each part to one type.");
}

/* They must keep the class of a key, too. */
static void
check_types(ViewWalk *walk, Finding *finding, List *types, List *target)
{
	ListCell *cell;
	int		  column = 0;

	foreach(cell, target)
	{
		TargetEntry *entry = lfirst(cell);
		Oid			 own = exprType((Node *) entry->expr);
		Oid			 result;

		if (entry->resjunk)
			continue;
		result = list_nth_oid(types, column++);
		check_cast(walk, (Node *) entry->expr, own, result);
		if (unit_class(own) != unit_class(result))
			finding->keys = bms_del_member(finding->keys, column);
	}
}

static Finding *
part_of_operation(ViewWalk *walk, Scope *scope, int number, List *types)
{
	RangeTblEntry *entry = rt_fetch(number, scope->query->rtable);
	Finding		  *finding;

	if (entry->rtekind != RTE_SUBQUERY)
		view_unknown(walk, NULL, "A set operation has a part of a kind that is not checked.",
					 "Use SELECT in each part.");
	finding = palloc0_object(Finding);
	*finding = *view_query(walk, entry->subquery, scope);
	finding->keys = bms_copy(finding->keys);
	check_types(walk, finding, types, entry->subquery->targetList);
	scope->members[number] = finding;
	return finding;
}

static Bitmapset *
one_of(Bitmapset *keys)
{
	int first = bms_next_member(keys, -1);

	return first < 0 ? NULL : bms_make_singleton(first);
}

static void
join_localities(ViewWalk *walk, Finding *result, Finding *left, Finding *right)
{
	Finding *private = left->locality == VIEW_PUBLIC ? right : left;

	result->locality = private->locality;
	result->name = private->name;
	result->pins = list_concat_copy(left->pins, right->pins);
	if ((left->locality == VIEW_PINNED && right->locality == VIEW_LOCAL) ||
		(left->locality == VIEW_LOCAL && right->locality == VIEW_PINNED))
		view_unpinned(
			walk, NULL,
			psprintf("One part of a set operation is, and another, which reads \"%s\", is "
					 "not.",
					 left->locality == VIEW_LOCAL ? left->name : right->name),
			"Add the equality with the unit of the row around it to WHERE of each part.");
	if (private->locality != VIEW_LOCAL)
		return;
	if (left->locality == right->locality)
		result->keys = bms_intersect(left->keys, right->keys);
	else
		result->keys = one_of(private->keys);
	if (bms_is_empty(result->keys))
		view_mixes(walk, NULL, "Parts of a set operation do not have the unit in the same column.",
				   "Select the unit column in each part, in the same place.");
}

/* Rows are compared, and one of those that are equal is kept. */
static void
join_columns(ViewWalk *walk, SetOperationStmt *operation, Finding *result)
{
	ListCell *type;
	ListCell *collation;
	int		  column = 0;

	if (operation->op == SETOP_UNION && operation->all)
		return;
	forboth(type, operation->colTypes, collation, operation->colCollations)
	{
		column++;
		if (type_has_identity(lfirst_oid(type), lfirst_oid(collation)))
			continue;
		if (!is_loose_type(lfirst_oid(type)))
			view_disorder(
				walk, NULL,
				psprintf("A set operation keeps one of equal values of type %s, which may "
						 "be written in different ways.",
						 format_type_be(lfirst_oid(type))),
				"Cast the column to text, or use UNION ALL.");
		result->loose = bms_add_member(result->loose, column);
	}
}

static Finding *
operate(ViewWalk *walk, Scope *scope, Node *node, List *types)
{
	SetOperationStmt *operation = (SetOperationStmt *) node;
	Finding			 *result;
	Finding			 *left;
	Finding			 *right;
	ListCell		 *a;
	ListCell		 *b;

	check_stack_depth();
	if (IsA(node, RangeTblRef))
		return part_of_operation(walk, scope, ((RangeTblRef *) node)->rtindex, types);
	if (!IsA(node, SetOperationStmt))
		view_unknown(walk, NULL, "A set operation has a part of a kind that is not checked.",
					 "Use SELECT in each part.");
	left = operate(walk, scope, operation->larg, operation->colTypes);
	right = operate(walk, scope, operation->rarg, operation->colTypes);
	result = palloc0_object(Finding);
	join_localities(walk, result, left, right);
	result->loose = bms_union(left->loose, right->loose);
	join_columns(walk, operation, result);
	/* An outer operation may cast its part. */
	forboth(a, types, b, operation->colTypes)
		check_cast(walk, NULL, lfirst_oid(b), lfirst_oid(a));
	forboth(a, types, b, operation->colTypes)
		if (unit_class(lfirst_oid(a)) != unit_class(lfirst_oid(b)))
			result->keys = bms_del_member(result->keys, foreach_current_index(a) + 1);
	return result;
}

Finding *
view_set_operations(ViewWalk *walk, Scope *scope)
{
	SetOperationStmt *operation = castNode(SetOperationStmt, scope->query->setOperations);

	return operate(walk, scope, (Node *) operation, operation->colTypes);
}
