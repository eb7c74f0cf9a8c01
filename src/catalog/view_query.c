/*
 * view_query.c
 *		One query: what its rows and columns are, from FROM to LIMIT.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "catalog/view_walk.h"

/* ---------- before anything else ---------- */

static void
check_kind(ViewWalk *walk, Query *query)
{
	const char *what = NULL;

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
		what = "A part of it changes rows";
	else if (query->hasRecursive)
		what = "WITH RECURSIVE is used";
	else if (query->rowMarks != NIL || query->hasForUpdate)
		what = "It locks rows (FOR UPDATE or FOR SHARE)";
	else if (query->groupingSets != NIL)
		what = "Grouping sets group rows without their unit";
	if (what != NULL)
		view_unknown(walk, NULL, psprintf("%s.", what),
					 query->groupingSets != NIL
						 ? "Use one GROUP BY with the unit column for each set, and UNION ALL."
						 : "Use plain SELECT.");
}

/* A copy in which columns of joins are those of their members. */
static Query *
flattened(Query *query)
{
	ListCell *cell;

	query = copyObject(query);
	flatten_group_columns(query);
	query->targetList = (List *) flatten_join_columns(query, (Node *) query->targetList);
	query->jointree = (FromExpr *) flatten_join_columns(query, (Node *) query->jointree);
	query->havingQual = flatten_join_columns(query, query->havingQual);
	foreach(cell, query->rtable)
	{
		RangeTblEntry *entry = lfirst(cell);

		if (entry->rtekind == RTE_SUBQUERY && entry->lateral)
			entry->subquery = (Query *) flatten_join_columns(query, (Node *) entry->subquery);
		else if (entry->rtekind == RTE_FUNCTION)
			entry->functions = (List *) flatten_join_columns(query, (Node *) entry->functions);
		else if (entry->rtekind == RTE_VALUES)
			entry->values_lists =
				(List *) flatten_join_columns(query, (Node *) entry->values_lists);
	}
	return query;
}

/* ---------- groups ---------- */

/* InvalidOid: there is no such constraint. */
static Oid
get_constraint_relation(Oid constraint)
{
	HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	Oid		  relid = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		relid = ((Form_pg_constraint) GETSTRUCT(tuple))->conrelid;
		ReleaseSysCache(tuple);
	}
	return relid;
}

/*
 * A column of a table whose primary key is grouped by need not be named.  A key of a
 * parent says nothing about the rows of its children, and the server does not look.
 */
static void
check_dependent_columns(ViewWalk *walk, Query *query)
{
	ListCell *key;
	ListCell *cell;

	foreach(key, query->constraintDeps)
		foreach(cell, query->rtable)
		{
			RangeTblEntry *entry = lfirst(cell);

			if (entry->rtekind == RTE_RELATION && entry->relkind == RELKIND_RELATION &&
				entry->inh && get_constraint_relation(lfirst_oid(key)) == entry->relid &&
				has_subclass(entry->relid))
				view_disorder(
					walk, NULL,
					psprintf("Columns of \"%s\" are selected that are not grouped by, and its "
							 "primary key is not one of the tables that inherit from it.",
							 get_rel_name(entry->relid)),
					"Name all columns in GROUP BY, or use ONLY.");
		}
}

/* Rows become groups.  Sets which keys remain, and what the grouping expressions are. */
static void
check_groups(ViewWalk *walk, Scope *scope, Finding *finding, Bitmapset **keys)
{
	Query	  *query = scope->query;
	Bitmapset *own = NULL;
	ListCell  *cell;

	foreach(cell, query->groupClause)
	{
		Node *node = get_sortgroupclause_expr(lfirst(cell), query->targetList);

		(void) view_expr(walk, scope, node);
		if (!has_identity(node) && !is_loose_type(exprType(node)))
			view_disorder(walk, node,
						  psprintf("GROUP BY keeps one of equal values of type %s, which may be "
								   "written in different ways.",
								   format_type_be(exprType(node))),
						  "Cast it to text.");
		scope->group_exprs = lappend(scope->group_exprs, node);
		own = bms_add_members(own, key_expression(scope, node));
	}
	check_dependent_columns(walk, query);
	if (finding->locality == VIEW_LOCAL)
	{
		*keys = bms_int_members(*keys, keys_within(scope, own));
		if (bms_is_empty(*keys))
			view_mixes(
				walk, (Node *) query->targetList,
				psprintf("An aggregate has rows of different units of \"%s\".", finding->name),
				scope->outer == NULL
					? "Add the unit column to GROUP BY."
					: "Add the unit column to GROUP BY, or, if a row around it is meant, an "
					  "equality of the unit columns to WHERE.");
	}
	scope->grouped = true;
	view_conjuncts(walk, scope, conjuncts_of(query->havingQual));
}

/* ---------- columns ---------- */

static Bitmapset *
check_columns(ViewWalk *walk, Scope *scope)
{
	Bitmapset *loose = NULL;
	ListCell  *cell;

	foreach(cell, scope->query->targetList)
	{
		TargetEntry *entry = lfirst(cell);

		if (view_expr(walk, scope, (Node *) entry->expr) && !entry->resjunk)
			loose = bms_add_member(loose, entry->resno);
	}
	return loose;
}

static Bitmapset *
key_columns(Scope *scope, Bitmapset *keys)
{
	Bitmapset *result = NULL;
	ListCell  *cell;

	foreach(cell, scope->query->targetList)
	{
		TargetEntry *entry = lfirst(cell);
		Bitmapset	*own = entry->resjunk ? NULL : key_expression(scope, (Node *) entry->expr);

		if (own != NULL && bms_is_subset(own, keys))
			result = bms_add_member(result, entry->resno);
	}
	return result;
}

/* ---------- rows that are left out ---------- */

static void
require_total_order(ViewWalk *walk, Scope *scope, const char *what)
{
	Query *query = scope->query;

	/* An aggregate without groups is one row. */
	if ((query->hasAggs && query->groupClause == NIL) ||
		total_order(scope, query->sortClause, false) != ORDER_NONE)
		return;
	view_disorder(
		walk, query->limitCount, psprintf("%s picks rows among those that tie.", what),
		"Name more columns in ORDER BY: a key of the table if it is the only one in FROM, "
		"or all columns that are selected, of types whose equal values are the same.");
}

static void
check_distinct(ViewWalk *walk, Scope *scope, Finding *finding)
{
	Query	  *query = scope->query;
	Bitmapset *own = NULL;
	ListCell  *cell;

	if (query->distinctClause == NIL)
		return;
	foreach(cell, query->distinctClause)
	{
		TargetEntry *entry = get_sortgroupclause_tle(lfirst(cell), query->targetList);
		Node		*node = (Node *) entry->expr;

		own = bms_add_members(own, key_expression(scope, node));
		if (query->hasDistinctOn || has_identity(node))
			continue;
		if (!is_loose_type(exprType(node)))
			view_disorder(walk, node,
						  psprintf("DISTINCT keeps one of equal values of type %s, which may be "
								   "written in different ways.",
								   format_type_be(exprType(node))),
						  "Cast it to text.");
		finding->loose = bms_add_member(finding->loose, entry->resno);
	}
	if (query->hasDistinctOn)
		require_total_order(walk, scope, "DISTINCT ON");
	if (finding->locality != VIEW_LOCAL)
		return;
	finding->keys = bms_int_members(finding->keys, key_columns(scope, keys_within(scope, own)));
	if (bms_is_empty(finding->keys))
		view_mixes(walk, (Node *) query->targetList,
				   psprintf("DISTINCT compares rows of different units of \"%s\".", finding->name),
				   query->hasDistinctOn ? "Add the unit column to DISTINCT ON."
										: "Select the unit column, too.");
}

static bool
is_no_limit(Node *node, bool zero)
{
	if (node == NULL)
		return true;
	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == F_INT8_INT4)
	{
		node = linitial(((FuncExpr *) node)->args);
		return zero && IsA(node, Const) && !((Const *) node)->constisnull &&
			   DatumGetInt32(((Const *) node)->constvalue) == 0;
	}
	return IsA(node, Const) && (((Const *) node)->constisnull ||
								(zero && DatumGetInt64(((Const *) node)->constvalue) == 0));
}

static void
check_limit(ViewWalk *walk, Scope *scope, const Finding *finding)
{
	Query *query = scope->query;

	if (is_no_limit(query->limitCount, false) && is_no_limit(query->limitOffset, true))
		return;
	view_exact(walk, scope, query->limitCount);
	view_exact(walk, scope, query->limitOffset);
	if (finding->locality == VIEW_LOCAL)
		view_mixes(
			walk, query->limitCount ? query->limitCount : query->limitOffset,
			psprintf("LIMIT or OFFSET counts rows of all units of \"%s\".", finding->name),
			"Put it into a LATERAL subquery whose WHERE has an equality of the unit columns.");
	require_total_order(walk, scope, "LIMIT or OFFSET");
}

/* ---------- the whole ---------- */

static bool
is_here(const Scope *scope, const Pin *pin)
{
	return pin->scope == scope;
}

/* Pins to rows of this query are met: they have one owner.  Others are pins of the query. */
static void
settle_pins(ViewWalk *walk, Scope *scope, Finding *finding)
{
	ListCell *cell;

	foreach(cell, scope->pins)
		if (!is_here(scope, lfirst(cell)))
			finding->pins = lappend(finding->pins, lfirst(cell));
	if (finding->pins == NIL)
		return;
	if (finding->locality == VIEW_LOCAL)
		view_unpinned(walk, NULL,
					  psprintf("It reads \"%s\", and a subquery in it asks for the unit of a row "
							   "further out.",
							   finding->name),
					  "Add an equality of its unit column and that of the outer row to its WHERE.");
	finding->locality = VIEW_PINNED;
}

/* Everything behind FROM and WHERE. */
static void
check_rows(ViewWalk *walk, Scope *scope, Finding *finding)
{
	Query	  *query = scope->query;
	Bitmapset *keys = bms_copy(scope->keys);

	if (query->hasAggs || query->groupClause != NIL || query->havingQual != NULL)
		check_groups(walk, scope, finding, &keys);
	view_windows(walk, scope, finding, &keys);
	finding->loose = check_columns(walk, scope);
	if (finding->locality == VIEW_LOCAL)
		finding->keys = key_columns(scope, keys);
	check_distinct(walk, scope, finding);
}

Finding *
view_query(ViewWalk *walk, Query *query, Scope *outer)
{
	Scope	*scope = palloc0_object(Scope);
	Finding *finding;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	check_kind(walk, query);
	scope->outer = outer;
	scope->query = flattened(query);
	scope->members = palloc0_array(Finding *, list_length(query->rtable) + 1);
	for (int i = 0; i < list_length(query->cteList); i++)
		scope->ctes = lappend(scope->ctes, NULL);
	if (query->setOperations != NULL)
	{
		finding = view_set_operations(walk, scope);
		/* Its columns are those of its parts, which were checked. */
		if (query->hasSubLinks || query->hasAggs || query->hasWindowFuncs)
			view_unknown(walk, NULL, "A set operation is ordered by a subquery.",
						 "Order by columns.");
	}
	else
	{
		finding = view_from(walk, scope);
		check_rows(walk, scope, finding);
	}
	check_limit(walk, scope, finding);
	view_rows(scope, finding);
	settle_pins(walk, scope, finding);
	return finding;
}
