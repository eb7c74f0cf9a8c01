/*
 * view_sublink.c
 *		Subqueries in expressions.
 *
 * They are public, or read rows of the owner of the row around them alone.  One that
 * is merely local may stand in "u IN (SELECT u ...)", where it is asked for the row's
 * own unit: true for v depends on v's rows.  False and NULL do not: one NULL among
 * all units, or emptiness, makes the difference; so it must be a condition by itself,
 * for which they are the same.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "catalog/view_walk.h"

/* Does a condition compare a key of the row with a key of the subquery? */
static bool
asks_for_unit(Scope *scope, Node *test, const Finding *finding)
{
	Node	 *left;
	Node	 *right;
	ListCell *cell;

	if (test != NULL && is_andclause(test))
	{
		foreach(cell, ((BoolExpr *) test)->args)
			if (asks_for_unit(scope, lfirst(cell), finding))
				return true;
		return false;
	}
	if (test == NULL || !is_unit_equality(test, &left, &right) ||
		key_expression(scope, left) == NULL)
		return false;
	while (IsA(right, RelabelType))
		right = (Node *) ((RelabelType *) right)->arg;
	return IsA(right, Param) && ((Param *) right)->paramkind == PARAM_SUBLINK &&
		   bms_is_member(((Param *) right)->paramid, finding->keys) &&
		   unit_class(exprType(right)) == unit_class(exprType(left));
}

pg_noreturn static void
refuse_local(ViewWalk *walk, SubLink *sublink, const Finding *finding)
{
	bool is_in = sublink->subLinkType == ANY_SUBLINK || sublink->subLinkType == ALL_SUBLINK;

	view_unpinned(walk, (Node *) sublink,
				  psprintf("It reads \"%s\", and rows of all units.", finding->name),
				  is_in ? "Write EXISTS or NOT EXISTS with an equality of the unit columns in its "
						  "WHERE; x IN (SELECT x ...) of unit columns may stand as a condition by "
						  "itself."
						: "Add an equality of its unit column and that of the row around it to its "
						  "WHERE.");
}

/* In functions and VALUES of FROM, there is no row yet whose unit could be meant. */
static void
check_place(ViewWalk *walk, Scope *scope, SubLink *sublink, const Finding *finding)
{
	if (scope->public_only && finding->locality != VIEW_PUBLIC)
		view_unpinned(
			walk, (Node *) sublink,
			psprintf("It reads \"%s\" inside a function or VALUES in FROM.", finding->name),
			"Use LATERAL (SELECT ...) in place of the function or VALUES.");
}

static bool
check_sublink(ViewWalk *walk, Scope *scope, SubLink *sublink, bool is_conjunct)
{
	Finding *outer_sublink = scope->sublink;
	Finding *finding;

	switch (sublink->subLinkType)
	{
		case EXISTS_SUBLINK:
		case ALL_SUBLINK:
		case ANY_SUBLINK:
		case EXPR_SUBLINK:
		case ROWCOMPARE_SUBLINK:
			break;
		case ARRAY_SUBLINK:
			view_disorder(walk, (Node *) sublink, "An array has its rows in the order they come.",
						  "Use (SELECT array_agg(x ORDER BY x) ...).");
		default:
			view_unknown(walk, (Node *) sublink, "It has a subquery of a kind that is not checked.",
						 "Use EXISTS, IN, or a subquery for one value.");
	}
	finding = view_query(walk, castNode(Query, sublink->subselect), scope);
	check_place(walk, scope, sublink, finding);
	if (finding->locality == VIEW_LOCAL && !(is_conjunct && sublink->subLinkType == ANY_SUBLINK &&
											 asks_for_unit(scope, sublink->testexpr, finding)))
		refuse_local(walk, sublink, finding);
	scope->pins = list_concat(scope->pins, finding->pins);
	scope->sublink = finding;
	if (sublink->testexpr != NULL)
		view_exact(walk, scope, sublink->testexpr);
	scope->sublink = outer_sublink;
	return sublink->subLinkType == EXPR_SUBLINK && bms_is_member(1, finding->loose);
}

bool
view_sublink(ViewWalk *walk, Scope *scope, SubLink *sublink)
{
	return check_sublink(walk, scope, sublink, false);
}

void
view_conjuncts(ViewWalk *walk, Scope *scope, List *conjuncts)
{
	ListCell *cell;

	foreach(cell, conjuncts)
	{
		Node *conjunct = lfirst(cell);

		if (IsA(conjunct, SubLink))
			(void) check_sublink(walk, scope, (SubLink *) conjunct, true);
		else
			view_exact(walk, scope, conjunct);
	}
}
