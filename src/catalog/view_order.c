/*
 * view_order.c
 *		Types whose equal values are the same bytes, and orders that decide everything.
 *
 * Where rows lie decides in which order they come, and that may depend on rows of
 * others.  So whatever picks a row, or reads rows one after the other, needs an
 * order in which rows that tie are alike, or no rows tie.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/view_walk.h"

bool
is_loose_type(Oid type)
{
	type = getBaseType(type);
	return type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID;
}

/* Btrees ask the same before they store equal values once. */
bool
type_has_identity(Oid type, Oid collation)
{
	Oid opclass;
	Oid family;
	Oid input;
	Oid equal_image;

	type = getBaseType(type);
	opclass = GetDefaultOpClass(type, BTREE_AM_OID);
	if (type == BPCHAROID || !OidIsValid(opclass) ||
		(OidIsValid(get_typcollation(type)) && !OidIsValid(collation)))
		return false;
	family = get_opclass_family(opclass);
	input = get_opclass_input_type(opclass);
	equal_image = get_opfamily_proc(family, input, input, BTEQUALIMAGE_PROC);
	return OidIsValid(equal_image) &&
		   DatumGetBool(OidFunctionCall1Coll(equal_image, collation, ObjectIdGetDatum(input)));
}

bool
has_identity(Node *node)
{
	return type_has_identity(exprType(node), exprCollation(node));
}

bool
is_default_equality(SortGroupClause *clause, Node *node)
{
	Oid opclass = GetDefaultOpClass(getBaseType(exprType(node)), BTREE_AM_OID);

	return OidIsValid(opclass) &&
		   get_op_opfamily_strategy(clause->eqop, get_opclass_family(opclass)) ==
			   BTEqualStrategyNumber;
}

/* Expressions of clauses in which rows that tie have the same bytes. */
static List *
exact_expressions(Scope *scope, List *clauses)
{
	List	 *result = NIL;
	ListCell *cell;

	foreach(cell, clauses)
	{
		SortGroupClause *clause = lfirst(cell);
		Node			*node = get_sortgroupclause_expr(clause, scope->query->targetList);

		if (is_default_equality(clause, node) && has_identity(node))
			result = lappend(result, node);
	}
	return result;
}

/* ---------- keys of a table ---------- */

static bool
has_column(List *expressions, int member, AttrNumber column)
{
	ListCell *cell;

	foreach(cell, expressions)
	{
		Var *var = lfirst(cell);

		if (IsA(var, Var) && var->varlevelsup == 0 && var->varno == member &&
			var->varattno == column)
			return true;
	}
	return false;
}

/* Is the index a key that holds now, all of whose columns are ordered by? */
static bool
index_is_ordered(Relation table, Relation index, List *expressions, int member)
{
	Form_pg_index form = index->rd_index;

	if (!index_is_key(index, table))
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber column = form->indkey.values[i];

		if (!column_is_not_null(RelationGetDescr(table), column) ||
			!has_column(expressions, member, column))
			return false;
	}
	return true;
}

/* Do the expressions contain a key of the only table in FROM? */
static bool
has_key_of_table(Scope *scope, List *expressions)
{
	List		  *from = scope->query->jointree->fromlist;
	RangeTblEntry *entry;
	Relation	   table;
	bool		   found = false;
	ListCell	  *cell;

	if (list_length(from) != 1 || !IsA(linitial(from), RangeTblRef))
		return false;
	entry = rt_fetch(linitial_node(RangeTblRef, from)->rtindex, scope->query->rtable);
	if (entry->rtekind != RTE_RELATION ||
		(entry->relkind != RELKIND_RELATION && entry->relkind != RELKIND_PARTITIONED_TABLE))
		return false;
	table = table_open(entry->relid, NoLock);
	/* A key of a parent says nothing about the rows of its children. */
	if (entry->relkind == RELKIND_PARTITIONED_TABLE || !entry->inh ||
		!table->rd_rel->relhassubclass)
		foreach(cell, RelationGetIndexList(table))
		{
			Relation index = index_open(lfirst_oid(cell), AccessShareLock);

			found = found || index_is_ordered(table, index, expressions,
											  linitial_node(RangeTblRef, from)->rtindex);
			index_close(index, NoLock);
		}
	table_close(table, NoLock);
	return found;
}

/* ---------- what is selected ---------- */

typedef struct CoverWalk
{
	List *expressions;
	bool  in_windows; /* is it the order of a window that is asked for? */
	int	  level;
} CoverWalk;

/* True: there is something that the expressions do not decide. */
static bool
is_uncovered(Node *node, CoverWalk *walk)
{
	bool result;

	if (node == NULL || (walk->level == 0 && list_member(walk->expressions, node)))
		return false;
	if (IsA(node, Var))
	{
		Var	 own = *(Var *) node;
		bool here = own.varlevelsup == walk->level;

		own.varlevelsup = 0;
		return here && !list_member(walk->expressions, &own);
	}
	/* Those of subqueries may have our columns inside. */
	if (walk->level == 0 && (IsA(node, Aggref) || IsA(node, GroupingFunc) ||
							 (IsA(node, WindowFunc) && !walk->in_windows)))
		return true;
	if (IsA(node, Query))
	{
		walk->level++;
		result = query_tree_walker((Query *) node, is_uncovered, walk, 0);
		walk->level--;
		return result;
	}
	return expression_tree_walker(node, is_uncovered, walk);
}

/* Of groups, the grouping expressions decide everything. */
static bool
orders_groups(Scope *scope, List *expressions)
{
	ListCell *cell;

	foreach(cell, scope->group_exprs)
		if (!has_identity(lfirst(cell)) || !list_member(expressions, lfirst(cell)))
			return false;
	return true;
}

OrderKind
total_order(Scope *scope, List *clauses, bool of_window)
{
	Query	 *query = scope->query;
	CoverWalk walk = {exact_expressions(scope, clauses), of_window, 0};
	bool	  groups = query->hasAggs || query->groupClause != NIL || query->havingQual != NULL;

	/* Rows that a select list multiplies are sorted before or after it. */
	if (query->hasTargetSRFs)
		return ORDER_NONE;
	if (groups ? orders_groups(scope, walk.expressions) : has_key_of_table(scope, walk.expressions))
		return ORDER_UNIQUE;
	return is_uncovered((Node *) query->targetList, &walk) ? ORDER_NONE : ORDER_COVERS;
}
