/*
 * view_rows.c
 *		Columns that no two rows of a query share: is a unit one row of a view?
 *
 * A column is *single* if no two rows have equal values in it; NULLs do not count.  A
 * key makes a column of a table single.  In a join it stays so if its value settles
 * the row of its own member, and that the rows of all others, one after the other: by
 * an equality with a single column of theirs, or because they have one row at most.
 * Of groups, the grouping expressions must be settled by it.
 *
 * Whatever else happens to rows (WHERE, HAVING, LIMIT) leaves some out.  What is not
 * known here is not single: rows are then grouped by unit, which takes longer and is
 * always right.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/view_walk.h"

/* ---------- tables ---------- */

Bitmapset *
single_columns(Relation table, bool with_children)
{
	char	   kind = table->rd_rel->relkind;
	Bitmapset *result = NULL;
	ListCell  *cell;

	/* A key of a parent says nothing about the rows of its children. */
	if (kind != RELKIND_PARTITIONED_TABLE &&
		(kind != RELKIND_RELATION || (with_children && table->rd_rel->relhassubclass)))
		return NULL;
	foreach(cell, RelationGetIndexList(table))
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index_is_key(index, table) && index->rd_index->indnkeyatts == 1)
			result = bms_add_member(result, index->rd_index->indkey.values[0]);
		index_close(index, NoLock);
	}
	return result;
}

/* ---------- what expressions depend on ---------- */

typedef struct MemberWalk
{
	Bitmapset *members;
	int		   level;
} MemberWalk;

static bool
collect_members(Node *node, MemberWalk *walk)
{
	bool result;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == walk->level)
		walk->members = bms_add_member(walk->members, ((Var *) node)->varno);
	if (IsA(node, Query))
	{
		walk->level++;
		result = query_tree_walker((Query *) node, collect_members, walk, 0);
		walk->level--;
		return result;
	}
	return expression_tree_walker(node, collect_members, walk);
}

/* Does it depend on rows of members alone, and on nothing that a subquery or an aggregate reads? */
static bool
depends_on(Node *expression, Bitmapset *members)
{
	MemberWalk walk = {0};

	if (checkExprHasSubLink(expression) || contain_aggs_of_level(expression, 0) ||
		contain_windowfuncs(expression))
		return false;
	(void) collect_members(expression, &walk);
	return bms_is_subset(walk.members, members);
}

/* Other members of FROM whose rows decide what rows this one has. */
static Bitmapset *
members_before(RangeTblEntry *entry)
{
	MemberWalk walk = {0};

	(void) collect_members((Node *) entry->subquery, &walk);
	(void) collect_members((Node *) entry->functions, &walk);
	(void) collect_members((Node *) entry->values_lists, &walk);
	return walk.members;
}

/* ---------- joins ---------- */

/* What is settled while FROM is walked. */
typedef struct Settling
{
	Scope	  *scope;
	int		   first; /* the member one of whose rows is given; 0: none is */
	Bitmapset *known; /* members whose rows are settled */
} Settling;

static bool settle(Settling *settling, Node *node, List *conjuncts);

static bool
has_member(Node *node, int number)
{
	ListCell *cell;

	if (IsA(node, RangeTblRef))
		return ((RangeTblRef *) node)->rtindex == number;
	if (IsA(node, JoinExpr))
		return has_member(((JoinExpr *) node)->larg, number) ||
			   has_member(((JoinExpr *) node)->rarg, number);
	foreach(cell, IsA(node, FromExpr) ? ((FromExpr *) node)->fromlist : NIL)
		if (has_member(lfirst(cell), number))
			return true;
	return false;
}

/* Is a side of an equality a single column of the member, and the other known? */
static bool
is_settled_by(const Settling *settling, int number, Node *column, Node *value)
{
	Var *var = key_column(column);

	return var != NULL && var->varlevelsup == 0 && var->varno == number &&
		   bms_is_member(var->varattno, settling->scope->members[number]->single) &&
		   depends_on(value, settling->known);
}

static bool
settle_member(Settling *settling, int number, List *conjuncts)
{
	const Finding *finding = settling->scope->members[number];
	ListCell	  *cell;
	bool		   settled;

	if (finding == NULL ||
		!bms_is_subset(members_before(rt_fetch(number, settling->scope->query->rtable)),
					   settling->known))
		return false;
	settled = finding->one_row || number == settling->first;
	foreach(cell, conjuncts)
	{
		Node *left;
		Node *right;

		settled = settled || (is_unit_equality(lfirst(cell), &left, &right) &&
							  (is_settled_by(settling, number, left, right) ||
							   is_settled_by(settling, number, right, left)));
	}
	if (settled)
		settling->known = bms_add_member(settling->known, number);
	return settled;
}

/*
 * Of an outer join.  A row of one side has matches, which all meet ON, or one row of
 * NULLs; so that side comes first.  If the row that is given lies on the other side,
 * it is a match.
 */
static bool
settle_sides(Settling *settling, JoinExpr *join, List *conjuncts)
{
	Node *sides[2] = {join->larg, join->rarg};
	bool  given[2] = {has_member(sides[0], settling->first), has_member(sides[1], settling->first)};
	int	  first = join->jointype == JOIN_LEFT ? 0 : 1;
	List *all = list_concat_copy(conjuncts, conjuncts_of(join->quals));
	Bitmapset *before = bms_copy(settling->known);

	if (join->jointype == JOIN_FULL && !given[0] && !given[1])
		return false;
	if (given[0] || given[1])
		first = given[0] ? 0 : 1;
	/* Rows without a match do not meet ON: it says nothing of the first side. */
	if (settle(settling, sides[first], conjuncts) && settle(settling, sides[1 - first], all))
		return true;
	settling->known = before;
	return false;
}

/* Inner joins, in whatever order their members settle. */
static void
collect_inner(Node *node, List **parts, List **conjuncts)
{
	ListCell *cell;

	if (IsA(node, FromExpr))
	{
		foreach(cell, ((FromExpr *) node)->fromlist)
			collect_inner(lfirst(cell), parts, conjuncts);
		*conjuncts = list_concat(*conjuncts, conjuncts_of(((FromExpr *) node)->quals));
	}
	else if (IsA(node, JoinExpr) && ((JoinExpr *) node)->jointype == JOIN_INNER)
	{
		collect_inner(((JoinExpr *) node)->larg, parts, conjuncts);
		collect_inner(((JoinExpr *) node)->rarg, parts, conjuncts);
		*conjuncts = list_concat(*conjuncts, conjuncts_of(((JoinExpr *) node)->quals));
	}
	else
		*parts = lappend(*parts, node);
}

static bool
settle_part(Settling *settling, Node *part, List *conjuncts)
{
	JoinExpr *join = (JoinExpr *) part;

	if (IsA(part, RangeTblRef))
		return settle_member(settling, ((RangeTblRef *) part)->rtindex, conjuncts);
	return IsA(part, JoinExpr) &&
		   (join->jointype == JOIN_LEFT || join->jointype == JOIN_RIGHT ||
			join->jointype == JOIN_FULL) &&
		   settle_sides(settling, join, conjuncts);
}

/*
 * Given rows of the members that are known, is there one row at most that meets all
 * conditions?  If not, members that were settled on the way are forgotten.
 */
static bool
settle(Settling *settling, Node *node, List *conjuncts)
{
	Bitmapset *before = bms_copy(settling->known);
	List	  *own = list_copy(conjuncts);
	List	  *parts = NIL;
	bool	   moved = true;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	collect_inner(node, &parts, &own);
	while (moved && parts != NIL)
	{
		ListCell *cell;

		moved = false;
		foreach(cell, parts)
			if (settle_part(settling, lfirst(cell), own))
			{
				parts = foreach_delete_current(parts, cell);
				moved = true;
			}
	}
	if (parts != NIL)
		settling->known = before;
	return parts == NIL;
}

/* Are all rows of FROM one, given a row of the member (0: given nothing)? */
static bool
from_is_settled(Scope *scope, int member)
{
	Settling settling = {.scope = scope, .first = member};

	return settle(&settling, (Node *) scope->query->jointree, NIL);
}

/* ---------- queries ---------- */

static bool
is_single(Scope *scope, const Var *var)
{
	const Finding *finding = scope->members[var->varno];

	return finding != NULL && bms_is_member(var->varattno, finding->single);
}

/*
 * Rows for which these clauses are equal become one.  Are they equal for all rows with
 * one value in the column?  What a LATERAL member selects has other rows, with the same
 * value, for each row of the members before it.
 */
static bool
clauses_are_settled(Scope *scope, List *clauses, const Var *var)
{
	bool by_row = is_single(scope, var) &&
				  bms_is_empty(members_before(rt_fetch(var->varno, scope->query->rtable)));
	ListCell *cell;

	foreach(cell, clauses)
	{
		SortGroupClause *clause = lfirst(cell);
		Node			*node = get_sortgroupclause_expr(clause, scope->query->targetList);
		Var				*own = key_column(node);
		bool is_column = own != NULL && own->varlevelsup == 0 && own->varno == var->varno &&
						 own->varattno == var->varattno && is_default_equality(clause, node);

		if (!is_column && !(by_row && depends_on(node, bms_make_singleton(var->varno))))
			return false;
	}
	return clauses != NIL;
}

static bool
is_one(Node *limit)
{
	if (limit != NULL && IsA(limit, FuncExpr) && ((FuncExpr *) limit)->funcid == F_INT8_INT4)
	{
		limit = linitial(((FuncExpr *) limit)->args);
		return IsA(limit, Const) && !((Const *) limit)->constisnull &&
			   DatumGetInt32(((Const *) limit)->constvalue) == 1;
	}
	return limit != NULL && IsA(limit, Const) && ((Const *) limit)->consttype == INT8OID &&
		   !((Const *) limit)->constisnull && DatumGetInt64(((Const *) limit)->constvalue) == 1;
}

void
view_rows(Scope *scope, Finding *finding)
{
	Query	 *query = scope->query;
	bool	  groups = query->hasAggs || query->groupClause != NIL || query->havingQual != NULL;
	ListCell *cell;

	if (is_one(query->limitCount) && query->limitOption == LIMIT_OPTION_COUNT)
		finding->one_row = true;
	/* The select list makes several rows of one. */
	if (query->hasTargetSRFs || query->setOperations != NULL)
		return;
	finding->one_row |= groups ? query->groupClause == NIL : from_is_settled(scope, 0);
	foreach(cell, query->targetList)
	{
		TargetEntry *entry = lfirst(cell);
		Var			*var = entry->resjunk ? NULL : key_column((Node *) entry->expr);

		if (var == NULL || var->varlevelsup > 0)
			continue;
		if ((!groups && is_single(scope, var) && from_is_settled(scope, var->varno)) ||
			(groups && clauses_are_settled(scope, query->groupClause, var)) ||
			clauses_are_settled(scope, query->distinctClause, var))
			finding->single = bms_add_member(finding->single, entry->resno);
	}
}
