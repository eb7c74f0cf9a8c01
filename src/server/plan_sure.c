/*
 * plan_sure.c
 *		A plan with the numbers of rows that are more than a guess: see plan_calls.h.
 *
 * Where the planner has no statistics it takes a constant for the share of rows that
 * meet a condition, and nobody can tell from the plan.  So conditions are looked at
 * again: what compares a column that has statistics with a constant was estimated,
 * as was an equality of two such columns; everything else was guessed.  Of rows
 * whose number was guessed there may be one only, and as many fewer of all that is
 * above them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_operator.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "server/plan_calls.h"
#include "server/privpred.h"

typedef struct SureContext
{
	PlannedStmt *statement;
	double		*kept; /* of each subplan: the share of its rows that is sure */
} SureContext;

static void lower(SureContext *context, Plan *plan);

/* ---------- conditions ---------- */

/* The node below whose output a column is.  Parts of one table have the same columns. */
static const Plan *
plan_of_column(const Plan *plan, const Var *var)
{
	switch (nodeTag(plan))
	{
		case T_SubqueryScan:
			return ((const SubqueryScan *) plan)->subplan;
		case T_Append:
			return linitial(((const Append *) plan)->appendplans);
		case T_MergeAppend:
			return linitial(((const MergeAppend *) plan)->mergeplans);
		default:
			return var->varno == OUTER_VAR ? outerPlan(plan) : innerPlan(plan);
	}
}

/* Follows a column down to the relation that it comes from; are there statistics of it? */
static bool
column_has_statistics(const PlannedStmt *statement, const Plan *plan, Node *node)
{
	while (node != NULL && plan != NULL)
	{
		const Var *var;

		check_stack_depth();
		while (node != NULL && IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		if (node == NULL || !IsA(node, Var) || ((Var *) node)->varattno <= 0)
			return false;
		var = (const Var *) node;
		if (IsA(plan, IndexOnlyScan) && var->varno == INDEX_VAR)
			node = (Node *) list_nth_node(TargetEntry, ((const IndexOnlyScan *) plan)->indextlist,
										  var->varattno - 1)
					   ->expr;
		else if (var->varno == OUTER_VAR || var->varno == INNER_VAR || IsA(plan, SubqueryScan))
		{
			plan = plan_of_column(plan, var);
			if (plan == NULL || var->varattno > list_length(plan->targetlist))
				return false;
			node = (Node *) list_nth_node(TargetEntry, plan->targetlist, var->varattno - 1)->expr;
		}
		else
			return !IS_SPECIAL_VARNO(var->varno) &&
				   rt_fetch(var->varno, statement->rtable)->rtekind == RTE_RELATION &&
				   plan_column_has_statistics(statement, var->varno, var->varattno);
	}
	return false;
}

/* A value that the planner knew, or that another part of the plan gives for each of its rows. */
static bool
is_known(Node *node)
{
	return node != NULL &&
		   (IsA(node, Const) || (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC));
}

static bool
comparison_is_estimated(const PlannedStmt *statement, const Plan *plan, Oid operator, List * sides)
{
	RegProcedure estimator = get_oprrest(operator);
	Node		*left = linitial(sides);
	Node		*right = list_length(sides) == 2 ? lsecond(sides) : NULL;
	bool		 left_column = column_has_statistics(statement, plan, left);
	bool		 right_column = column_has_statistics(statement, plan, right);

	if (left_column && right_column)
		return get_oprjoin(operator) == F_EQJOINSEL;
	if (!(left_column && is_known(right)) && !(right_column && is_known(left)))
		return false;
	if (estimator == F_EQSEL)
		return true;
	/* For others the value matters. */
	return (IsA(left, Const) || (right != NULL && IsA(right, Const))) &&
		   (estimator == F_NEQSEL || estimator == F_SCALARLTSEL || estimator == F_SCALARLESEL ||
			estimator == F_SCALARGTSEL || estimator == F_SCALARGESEL);
}

static bool
is_estimated(const PlannedStmt *statement, const Plan *plan, Node *condition)
{
	ListCell *cell;

	check_stack_depth();
	switch (nodeTag(condition))
	{
		case T_Const:
			return true;
		case T_Var:
			return column_has_statistics(statement, plan, condition);
		case T_NullTest:
			return column_has_statistics(statement, plan, (Node *) ((NullTest *) condition)->arg);
		case T_BooleanTest:
			return column_has_statistics(statement, plan,
										 (Node *) ((BooleanTest *) condition)->arg);
		case T_OpExpr:
			return comparison_is_estimated(statement, plan, ((OpExpr *) condition)->opno,
										   ((OpExpr *) condition)->args);
		case T_ScalarArrayOpExpr:
			return comparison_is_estimated(statement, plan, ((ScalarArrayOpExpr *) condition)->opno,
										   ((ScalarArrayOpExpr *) condition)->args);
		case T_BoolExpr:
			foreach(cell, ((BoolExpr *) condition)->args)
				if (!is_estimated(statement, plan, lfirst(cell)))
					return false;
			return true;
		default:
			return false;
	}
}

bool
plan_conditions_are_estimated(const PlannedStmt *statement, const Plan *plan, List *conditions)
{
	ListCell *cell;

	foreach(cell, conditions)
		if (!is_estimated(statement, plan, lfirst(cell)))
			return false;
	return true;
}

/* Conditions of a node beside its filter. */
static List *
other_conditions(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_IndexScan:
			return ((const IndexScan *) plan)->indexqualorig;
		case T_IndexOnlyScan:
			return ((const IndexOnlyScan *) plan)->indexqual;
		case T_BitmapHeapScan:
			return ((const BitmapHeapScan *) plan)->bitmapqualorig;
		case T_ForeignScan:
			return ((const ForeignScan *) plan)->fdw_recheck_quals;
		case T_NestLoop:
			return ((const NestLoop *) plan)->join.joinqual;
		case T_HashJoin:
			return list_concat_copy(((const HashJoin *) plan)->join.joinqual,
									((const HashJoin *) plan)->hashclauses);
		case T_MergeJoin:
			return list_concat_copy(((const MergeJoin *) plan)->join.joinqual,
									((const MergeJoin *) plan)->mergeclauses);
		default:
			return NIL;
	}
}

/* ---------- nodes ---------- */

/* Lowers a node below, and returns which share of its rows is left. */
static double
lower_below(SureContext *context, Plan *plan)
{
	double before;

	if (plan == NULL)
		return 1;
	before = plan->plan_rows;
	lower(context, plan);
	return before > 0 ? plan->plan_rows / before : 1;
}

static double
lower_list(SureContext *context, List *plans)
{
	double	  before = 0;
	double	  after = 0;
	ListCell *cell;

	foreach(cell, plans)
	{
		Plan *plan = lfirst(cell);

		before += plan->plan_rows;
		lower(context, plan);
		after += plan->plan_rows;
	}
	return before > 0 ? after / before : 1;
}

static double
lower_children(SureContext *context, Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Append:
			return lower_list(context, ((Append *) plan)->appendplans);
		case T_MergeAppend:
			return lower_list(context, ((MergeAppend *) plan)->mergeplans);
		case T_SubqueryScan:
			return lower_below(context, ((SubqueryScan *) plan)->subplan);
		case T_CteScan:
			return context->kept[((CteScan *) plan)->ctePlanId - 1];
		default:
			return lower_below(context, outerPlan(plan)) * lower_below(context, innerPlan(plan));
	}
}

/* Is the number of groups one that the planner had statistics for? */
static bool
groups_are_estimated(const PlannedStmt *statement, const Plan *plan, int count,
					 const AttrNumber *columns)
{
	const Plan *below = outerPlan(plan);

	for (int i = 0; i < count; i++)
		if (!column_has_statistics(
				statement, below,
				(Node *) list_nth_node(TargetEntry, below->targetlist, columns[i] - 1)->expr))
			return false;
	return true;
}

/* A node that merges rows: how many it leaves depends on their values. */
static bool
merges_by_guess(const PlannedStmt *statement, const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Agg:
			return !groups_are_estimated(statement, plan, ((const Agg *) plan)->numCols,
										 ((const Agg *) plan)->grpColIdx);
		case T_Group:
			return !groups_are_estimated(statement, plan, ((const Group *) plan)->numCols,
										 ((const Group *) plan)->grpColIdx);
		case T_Unique:
			return !groups_are_estimated(statement, plan, ((const Unique *) plan)->numCols,
										 ((const Unique *) plan)->uniqColIdx);
		case T_SetOp:
			return true;
		default:
			return false;
	}
}

static void
lower(SureContext *context, Plan *plan)
{
	double rows = plan->plan_rows;
	double kept;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	kept = lower_children(context, plan);
	switch (nodeTag(plan))
	{
		case T_Limit:
			rows = Min(rows, outerPlan(plan)->plan_rows);
			break;
		case T_Agg:
		case T_Group:
		case T_Unique:
			rows = Min(rows, Max(outerPlan(plan)->plan_rows, 1));
			break;
		case T_SeqScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
			rows *= plan_relation_sure_share(context->statement, ((Scan *) plan)->scanrelid);
			break;
		default:
			rows *= kept;
			break;
	}
	if (merges_by_guess(context->statement, plan) ||
		!plan_conditions_are_estimated(context->statement, plan, plan->qual) ||
		!plan_conditions_are_estimated(context->statement, plan, other_conditions(plan)))
		rows = Min(rows, 1);
	plan->plan_rows = rows;
}

PlannedStmt *
plan_surely(const PlannedStmt *statement)
{
	PlannedStmt *copy = copyObject(unconstify(PlannedStmt *, statement));
	SureContext	 context = {copy, palloc_array(double, list_length(copy->subplans) + 1)};
	ListCell	*cell;

	/* A subplan comes after those that it reads. */
	foreach(cell, copy->subplans)
		context.kept[foreach_current_index(cell)] = 1;
	foreach(cell, copy->subplans)
		context.kept[foreach_current_index(cell)] = lower_below(&context, lfirst(cell));
	if (copy->planTree != NULL)
		lower(&context, copy->planTree);
	return copy;
}
