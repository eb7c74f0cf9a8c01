/*
 * plan_asked.c
 *		How many calls of a plan have arguments that no other call had: see
 *		plan_calls.h.
 *
 * An argument refers to outputs of the nodes below, those to outputs further
 * below, and so on down to the node that makes a row: its source.  A call asks no
 * more than one question for each row of its sources, however often a join repeats
 * them; and two calls whose arguments come from the same columns of the same
 * sources ask the same.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/float.h"
#include "utils/lsyscache.h"

#include "server/plan_calls.h"
#include "server/privpred.h"

const Const *
plan_constant(const PlanWalk *walk, const Node *node)
{
	const Param		*param = (const Param *) node;
	ParamListInfo	 params = walk->params;
	ParamExternData	 workspace;
	ParamExternData *value;
	int16			 length;
	bool			 by_value;

	if (node == NULL || IsA(node, Const))
		return (const Const *) node;
	if (!IsA(node, Param) || param->paramkind != PARAM_EXTERN || params == NULL ||
		param->paramid < 1 || param->paramid > params->numParams)
		return NULL;
	value = params->paramFetch != NULL
				? params->paramFetch(params, param->paramid, false, &workspace)
				: &params->params[param->paramid - 1];
	if (value->ptype != param->paramtype)
		return NULL;
	get_typlenbyval(param->paramtype, &length, &by_value);
	return makeConst(param->paramtype, -1, param->paramcollid, length, value->value, value->isnull,
					 by_value);
}

typedef struct TraceContext
{
	PlanWalk   *walk;
	const Plan *plan;	 /* to whose outputs or inputs the expression refers */
	List	  **sources; /* const Plan, a column's number among them is its varno */
	Bitmapset **used;	 /* numbers of sources */
} TraceContext;

static Node *trace(Node *node, void *argument);

static Node *
trace_output(const TraceContext *context, const Plan *plan, AttrNumber column)
{
	TraceContext below = *context;

	below.plan = plan;
	return trace((Node *) list_nth_node(TargetEntry, plan->targetlist, column - 1)->expr, &below);
}

static Node *
source_column(const TraceContext *context, const Var *var)
{
	Var		 *column = copyObject(unconstify(Var *, var));
	int		  number = 0;
	ListCell *cell;

	foreach(cell, *context->sources)
	{
		if (lfirst(cell) == context->plan)
			break;
		number++;
	}
	if (number == list_length(*context->sources))
		*context->sources = lappend(*context->sources, unconstify(Plan *, context->plan));
	*context->used = bms_add_member(*context->used, number);
	column->varno = number + 1;
	return (Node *) column;
}

/* Which node's output a column is; NULL if the node itself is where it comes from. */
static const Plan *
next_node(const Plan *plan, const Var *var)
{
	const Plan *next = NULL;

	if (var->varattno <= 0)
		return NULL;
	if (var->varno == OUTER_VAR)
		next = outerPlan(plan);
	else if (var->varno == INNER_VAR)
		next = innerPlan(plan);
	else if (IsA(plan, SubqueryScan))
		next = ((const SubqueryScan *) plan)->subplan;
	return next != NULL && var->varattno <= list_length(next->targetlist) ? next : NULL;
}

/* What of the relation is in a column of its index. */
static Node *
column_of_index(const IndexOnlyScan *scan, Var *var)
{
	if (var->varno != INDEX_VAR || var->varattno < 1 ||
		var->varattno > list_length(scan->indextlist))
		return (Node *) var;
	return (Node *) list_nth_node(TargetEntry, scan->indextlist, var->varattno - 1)->expr;
}

static Node *
trace(Node *node, void *argument)
{
	TraceContext *context = argument;
	ListCell	 *cell;

	check_stack_depth();
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		const Plan *next = next_node(context->plan, (Var *) node);

		if (IsA(context->plan, IndexOnlyScan))
			node = column_of_index((const IndexOnlyScan *) context->plan, (Var *) node);
		if (!IsA(node, Var))
			return trace(node, context);

		return next != NULL ? trace_output(context, next, ((Var *) node)->varattno)
							: source_column(context, (Var *) node);
	}
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		foreach(cell, context->walk->node_params)
		{
			const PlanParam *param = lfirst(cell);
			TraceContext	 above = *context;

			above.plan = param->plan;
			if (param->id == ((Param *) node)->paramid)
				return trace(param->value, &above);
		}
	return expression_tree_mutator(node, trace, context);
}

static bool
is_relation_scan(const Plan *plan)
{
	return IsA(plan, SeqScan) || IsA(plan, IndexScan) || IsA(plan, IndexOnlyScan) ||
		   IsA(plan, BitmapHeapScan);
}

/* How many different rows a relation has, as far as a call depends on them. */
static double
different_rows(const PlanWalk *walk, const PlanCall *call, Index relation, Bitmapset *columns)
{
	Oid		  relid = rt_fetch(relation, walk->statement->rtable)->relid;
	double	  count = 1;
	int		  column = -1;
	List	 *names;
	ListCell *cell;

	while ((column = bms_next_member(columns, column)) >= 0)
	{
		AttrNumber number = column + FirstLowInvalidHeapAttributeNumber;

		if (number != 0)
			count *= plan_column_values(walk->statement, relation, number);
		else
		{
			names = walk->columns != NULL ? walk->columns(walk, call) : NIL;
			if (names == NIL)
				return get_float8_infinity();
			foreach(cell, names)
				count *=
					plan_column_values(walk->statement, relation, get_attnum(relid, lfirst(cell)));
		}
	}
	return count;
}

/* How many different rows a call sees of a node. */
static double
source_rows(const PlanWalk *walk, const Plan *source, const PlanCall *call, Bitmapset *columns)
{
	ListCell *cell;

	foreach(cell, walk->nodes)
	{
		const PlanNode *node = lfirst(cell);
		Index			relation = ((const Scan *) source)->scanrelid;
		/* A filter of the node itself sees more than the node gives. */
		double rows = source == call->plan ? call->times : node->loops * node->seen;

		if (node->plan != source)
			continue;
		if (is_relation_scan(source))
			rows = Min(rows, different_rows(walk, call, relation, columns));
		if (is_relation_scan(source) && node->loops > 1)
			rows = Min(rows, plan_relation_rows(walk->statement, relation, NIL));
		return rows;
	}
	return 1;
}

void
plan_count_questions(PlanWalk *walk)
{
	List	 *sources = NIL;
	List	 *questions = NIL;
	ListCell *cell;

	foreach(cell, walk->calls)
	{
		PlanCall	*call = lfirst(cell);
		Bitmapset	*used = NULL;
		TraceContext context = {walk, call->plan, &sources, &used};
		Node		*question = trace((Node *) unconstify(FuncExpr *, call->call), &context);
		double		 rows = 1;
		int			 number = -1;

		while ((number = bms_next_member(used, number)) >= 0)
		{
			Bitmapset *columns = NULL;

			pull_varattnos(question, number + 1, &columns);
			rows *= source_rows(walk, list_nth(sources, number), call, columns);
		}
		call->times = Min(call->times, rows);
		for (int i = 0; i < list_length(questions); i++)
			if (equal(list_nth(questions, i), question))
			{
				PlanCall *same = list_nth(walk->calls, i);

				same->times = Max(same->times, call->times);
				call->times = 0;
				break;
			}
		questions = lappend(questions, question);
	}
}
