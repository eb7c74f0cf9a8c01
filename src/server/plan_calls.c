/*
 * plan_calls.c
 *		Which nodes of a plan call a function, and for how many rows.
 *
 * The walk goes from the top down, because what is above says how many rows are
 * wanted: a LIMIT stops what streams below it, a Sort wants everything.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "server/plan_calls.h"
#include "server/privpred.h"

/* Expressions of one node, which are evaluated for each of so many rows. */
typedef struct NoteContext
{
	PlanWalk   *walk;
	const Plan *plan;
	double		times;
	double		input; /* how often arguments of aggregates are */
} NoteContext;

static void visit(PlanWalk *walk, const Plan *plan, double loops, double rows);

/* ---------- expressions ---------- */

/* Just the first row: somewhat less, so that it is not taken for all of them. */
static double
first_row(const Plan *plan)
{
	return 0.99 * Min(plan->plan_rows, 1);
}

static void
visit_subplan(const NoteContext *context, const SubPlan *subplan)
{
	PlanWalk   *walk = context->walk;
	const Plan *plan = list_nth(walk->statement->subplans, subplan->plan_id - 1);
	bool		seen = bms_is_member(subplan->plan_id, walk->seen);
	bool		to_the_end = subplan->subLinkType != EXISTS_SUBLINK &&
					  (subplan->useHashTable || (subplan->subLinkType != ANY_SUBLINK &&
												 subplan->subLinkType != ALL_SUBLINK));
	ListCell *id;
	ListCell *value;

	forboth(id, subplan->parParam, value, subplan->args)
	{
		PlanParam *param = palloc_object(PlanParam);

		*param = (PlanParam){lfirst_int(id), lfirst(value), context->plan};
		walk->node_params = lappend(walk->node_params, param);
	}
	walk->seen = bms_add_member(walk->seen, subplan->plan_id);
	if (plan != NULL && !seen)
		visit(walk, plan, subplan->parParam != NIL ? context->times : 1,
			  to_the_end ? plan->plan_rows : first_row(plan));
}

static bool
note(Node *node, void *argument)
{
	NoteContext *context = argument;
	NoteContext	 within = *context;

	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && context->walk->wanted(((FuncExpr *) node)->funcid))
	{
		PlanCall *call = palloc_object(PlanCall);

		*call = (PlanCall){(const FuncExpr *) node, context->plan, context->times};
		context->walk->calls = lappend(context->walk->calls, call);
	}
	if (!context->walk->at_most)
	{
		/* What is evaluated only if something else has not decided already is not counted. */
		if (IsA(node, CaseExpr))
		{
			CaseExpr *choice = (CaseExpr *) node;

			return note((Node *) choice->arg, context) ||
				   note((Node *) linitial_node(CaseWhen, choice->args)->expr, context);
		}
		if (IsA(node, CoalesceExpr))
			return note(linitial(((CoalesceExpr *) node)->args), context);
		if (IsA(node, BoolExpr))
			return note(linitial(((BoolExpr *) node)->args), context);
	}
	if (IsA(node, Aggref))
		within.times = context->input;
	if (IsA(node, SubPlan))
		visit_subplan(context, (SubPlan *) node);
	return expression_tree_walker(node, note, &within);
}

static void
note_all(PlanWalk *walk, const Plan *plan, void *expressions, double times, double input)
{
	NoteContext context = {walk, plan, times, input};

	if (times > 0 || input > 0)
		(void) note(expressions, &context);
}

/* Rows for which the condition at a position of a node's filter is evaluated. */
static double
rows_reaching(PlanWalk *walk, const Plan *plan, double rows, int position)
{
	const PlannedStmt *statement = walk->statement;
	List			  *before = list_truncate(list_copy(plan->qual), position);
	double			   input = rows;

	/* It stops early; how many rows it needs for that cannot be said. */
	if (rows < plan->plan_rows)
		return rows;
	if (IsA(plan, SeqScan) || IsA(plan, IndexScan) || IsA(plan, BitmapHeapScan))
	{
		if (IsA(plan, IndexScan))
			before = list_concat(list_copy(((const IndexScan *) plan)->indexqualorig), before);
		else if (IsA(plan, BitmapHeapScan))
			before =
				list_concat(list_copy(((const BitmapHeapScan *) plan)->bitmapqualorig), before);
		if (walk->at_most || plan_conditions_are_estimated(statement, plan, before))
			input = plan_relation_rows(statement, ((const Scan *) plan)->scanrelid, before);
		if (!walk->at_most)
			input *= plan_relation_sure_share(statement, ((const Scan *) plan)->scanrelid);
	}
	else if (IsA(plan, SubqueryScan) && position == 0)
		input = ((const SubqueryScan *) plan)->subplan->plan_rows;
	else if (IsA(plan, CteScan) && position == 0)
		input = ((Plan *) list_nth(statement->subplans, ((const CteScan *) plan)->ctePlanId - 1))
					->plan_rows;
	else if (IsA(plan, ValuesScan) && position == 0)
		input = list_length(((const ValuesScan *) plan)->values_lists);
	else if (IsA(plan, Agg) && position == 0)
		input = ((const Agg *) plan)->numGroups;
	return Max(rows, input);
}

static void
note_conditions(PlanWalk *walk, PlanNode *node, double input)
{
	const Plan *plan = node->plan;
	double		loops = node->loops;
	double		rows = node->rows;
	List	   *conditions = plan->qual;
	ListCell   *cell;

	foreach(cell, conditions)
		/* Rows of relations take a while to find out. */
		if (contain_volatile_functions(lfirst(cell)) || contain_subplans(lfirst(cell)))
		{
			double reaching = rows_reaching(walk, plan, rows, foreach_current_index(cell));

			note_all(walk, plan, lfirst(cell), loops * reaching, input);
			node->seen = Max(node->seen, reaching);
		}
	if (!IsA(plan, NestLoop) && !IsA(plan, HashJoin) && !IsA(plan, MergeJoin))
		return;
	conditions = ((const Join *) plan)->joinqual;
	foreach(cell, conditions)
	{
		bool every_pair =
			IsA(plan, NestLoop) && foreach_current_index(cell) == 0 && rows >= plan->plan_rows;

		note_all(walk, plan, lfirst(cell),
				 loops *
					 (every_pair ? outerPlan(plan)->plan_rows * innerPlan(plan)->plan_rows : rows),
				 0);
	}
}

/* ---------- nodes ---------- */

static double
share(const Plan *plan, double rows)
{
	return rows >= plan->plan_rows ? 1 : rows / plan->plan_rows;
}

static void
visit_limit(PlanWalk *walk, const Limit *limit, double loops, double rows)
{
	const Plan	*below = outerPlan(limit);
	const Const *count = plan_constant(walk, limit->limitCount);
	const Const *offset = plan_constant(walk, limit->limitOffset);

	if (limit->limitCount != NULL && count == NULL)
		rows = Min(rows, 1);
	else if (count != NULL && !count->constisnull)
		rows = Min(rows, (double) DatumGetInt64(count->constvalue));
	else if (rows >= limit->plan.plan_rows)
		rows = below->plan_rows;
	if (offset != NULL && !offset->constisnull && rows > 0)
		rows += (double) DatumGetInt64(offset->constvalue);
	visit(walk, below, loops, Min(Max(rows, 0), below->plan_rows));
}

static void
visit_loop(PlanWalk *walk, const NestLoop *loop, double loops, double rows)
{
	const Plan *outer = outerPlan(loop);
	const Plan *inner = innerPlan(loop);
	double		taken = outer->plan_rows * share(&loop->join.plan, rows);
	bool		first_only = loop->join.inner_unique || loop->join.jointype == JOIN_SEMI ||
					  loop->join.jointype == JOIN_ANTI;
	ListCell *cell;

	foreach(cell, loop->nestParams)
	{
		NestLoopParam *given = lfirst(cell);
		PlanParam	  *param = palloc_object(PlanParam);

		*param = (PlanParam){given->paramno, (Node *) given->paramval, &loop->join.plan};
		walk->node_params = lappend(walk->node_params, param);
	}
	visit(walk, outer, loops, taken);
	/* The same rows again ask the same questions. */
	visit(walk, inner, loop->nestParams != NIL ? loops * taken : loops,
		  first_only ? first_row(inner) : inner->plan_rows);
}

static void
visit_list(PlanWalk *walk, List *plans, double loops, double rows)
{
	ListCell *cell;

	foreach(cell, plans)
	{
		const Plan *plan = lfirst(cell);
		double		taken = Min(plan->plan_rows, rows);

		visit(walk, plan, loops, taken);
		rows -= taken;
	}
}

/* It runs once, in however many places it is read. */
static void
visit_cte(PlanWalk *walk, int id, double part)
{
	const Plan *plan = list_nth(walk->statement->subplans, id - 1);
	bool		seen = bms_is_member(id, walk->seen);

	walk->seen = bms_add_member(walk->seen, id);
	if (!seen)
		visit(walk, plan, 1, part * plan->plan_rows);
}

/* Does a node take all rows from below before it gives its first? */
static bool
takes_everything(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Sort:
		case T_Hash:
		case T_ModifyTable:
			return true;
		case T_Agg:
			return ((const Agg *) plan)->aggstrategy != AGG_SORTED;
		case T_SetOp:
			return ((const SetOp *) plan)->strategy == SETOP_HASHED;
		default:
			return false;
	}
}

static void
visit_children(PlanWalk *walk, const Plan *plan, double loops, double rows)
{
	double part = takes_everything(plan) ? 1 : share(plan, rows);

	switch (nodeTag(plan))
	{
		case T_Limit:
			visit_limit(walk, (const Limit *) plan, loops, rows);
			return;
		case T_NestLoop:
			visit_loop(walk, (const NestLoop *) plan, loops, rows);
			return;
		case T_Append:
			/* Partitions that are pruned while it runs are not read. */
			if (PRUNES_AT_RUN_TIME((const Append *) plan))
				walk->unsure = true;
			visit_list(walk, ((const Append *) plan)->appendplans, loops, rows);
			return;
		case T_MergeAppend:
			if (PRUNES_AT_RUN_TIME((const MergeAppend *) plan))
				walk->unsure = true;
			visit_list(walk, ((const MergeAppend *) plan)->mergeplans, loops, rows);
			return;
		case T_SubqueryScan:
			plan = ((const SubqueryScan *) plan)->subplan;
			visit(walk, plan, loops, part * plan->plan_rows);
			return;
		case T_CteScan:
			visit_cte(walk, ((const CteScan *) plan)->ctePlanId, part);
			return;
		case T_Gather:
			loops *= 1 + ((const Gather *) plan)->num_workers;
			break;
		case T_GatherMerge:
			loops *= 1 + ((const GatherMerge *) plan)->num_workers;
			break;
		case T_ForeignScan:
			/* What is below is for rows that were changed meanwhile. */
			return;
		default:
			break;
	}
	if (outerPlan(plan) != NULL)
		visit(walk, outerPlan(plan), loops, part * outerPlan(plan)->plan_rows);
	if (innerPlan(plan) != NULL)
		visit(walk, innerPlan(plan), loops, part * innerPlan(plan)->plan_rows);
}

/* For each row that is changed, at most; which ones are, the planner does not say. */
static void
note_changes(PlanWalk *walk, const ModifyTable *change, double rows)
{
	const Plan *plan = &change->plan;

	if (change->returningLists != NIL)
		note_all(walk, plan, linitial(change->returningLists), rows, 0);
	if (!walk->at_most)
		return;
	note_all(walk, plan, change->onConflictSet, rows, 0);
	note_all(walk, plan, change->onConflictWhere, rows, 0);
	/* One list for each partition, of the same actions. */
	if (MERGE_ACTIONS(change) != NIL)
		note_all(walk, plan, linitial(MERGE_ACTIONS(change)), rows, 0);
}

/* What else of a node is evaluated, and how often it is; and what cannot be foreseen. */
static void
note_particulars(PlanWalk *walk, const Plan *plan, double loops, double rows)
{
	ListCell *cell;

	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_ForeignScan:
			if (((const Scan *) plan)->scanrelid == 0 ||
				plan_relation_is_guess(walk->statement, ((const Scan *) plan)->scanrelid))
				walk->unsure = true;
			break;
		case T_FunctionScan:
			foreach(cell, ((const FunctionScan *) plan)->functions)
			{
				Node *function = ((RangeTblFunction *) lfirst(cell))->funcexpr;

				/* Only a support function knows, and only if it sees the arguments. */
				if (!IsA(function, FuncExpr) || contain_var_clause(function) ||
					!OidIsValid(get_func_support(((FuncExpr *) function)->funcid)))
					walk->unsure = true;
				note_all(walk, plan, function, loops, 0);
			}
			break;
		case T_ValuesScan:
			note_all(walk, plan, ((const ValuesScan *) plan)->values_lists,
					 loops * share(plan, rows), 0);
			break;
		case T_ModifyTable:
			note_changes(walk, (const ModifyTable *) plan, loops * outerPlan(plan)->plan_rows);
			break;
		case T_Result:
			note_all(walk, plan, ((const Result *) plan)->resconstantqual, loops, 0);
			break;
		case T_ProjectSet:
		case T_RecursiveUnion:
		case T_TableFuncScan:
		case T_CustomScan:
			walk->unsure = true;
			break;
		default:
			break;
	}
}

static void
visit(PlanWalk *walk, const Plan *plan, double loops, double rows)
{
	PlanNode *node;
	ListCell *cell;
	double	  input = 0;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	node = palloc_object(PlanNode);
	*node = (PlanNode){plan, loops, rows, rows};
	walk->nodes = lappend(walk->nodes, node);

	foreach(cell, plan->initPlan)
	{
		SubPlan	   *subplan = lfirst(cell);
		NoteContext once = {walk, plan, 1, 0};

		if (subplan->subLinkType != CTE_SUBLINK ||
			IsA(list_nth(walk->statement->subplans, subplan->plan_id - 1), ModifyTable))
			visit_subplan(&once, subplan);
	}
	if (IsA(plan, Agg))
		input =
			loops * outerPlan(plan)->plan_rows * (takes_everything(plan) ? 1 : share(plan, rows));
	note_all(walk, plan, plan->targetlist, loops * rows, input);
	note_conditions(walk, node, input);
	note_particulars(walk, plan, loops, rows);
	visit_children(walk, plan, loops, rows);
}

void
plan_walk(PlanWalk *walk, double rows)
{
	const Plan *plan = walk->statement->planTree;

	if (plan != NULL)
		visit(walk, plan, 1, Min(plan->plan_rows, rows));
}
