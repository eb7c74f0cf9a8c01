/*
 * plan_calls.h
 *		How often a plan will call functions, as the planner expects.
 *
 * plan_calls.c	which nodes call them, and for how many rows
 * plan_asked.c	how many of the calls have arguments that no other call had
 * plan_rows.c	rows of relations
 * plan_sure.c	which numbers of rows are more than a guess
 *
 * Estimates err, and whoever refuses something because of one must not refuse too
 * much.  So wherever the plan does not tell, what is counted is what is certain:
 * the rows that a LIMIT lets through, not those that a filter may cost; the first
 * branch of a CASE, not the others.
 */
#ifndef PRIVPRED_PLAN_CALLS_H
#define PRIVPRED_PLAN_CALLS_H

#include "nodes/params.h"
#include "nodes/plannodes.h"

/* One call in the text of a statement. */
typedef struct PlanCall
{
	const FuncExpr *call;  /* its arguments refer to the outputs of the plan's nodes */
	const Plan	   *plan;  /* the node that evaluates it */
	double			times; /* how often, about */
} PlanCall;

/* A node of the plan. */
typedef struct PlanNode
{
	const Plan *plan;
	double		loops; /* how often it runs */
	double		rows;  /* that are taken from it, each time */
	double		seen;  /* by its filter, each time, at least those */
} PlanNode;

/* Where a parameter comes from that one part of a plan sets for another. */
typedef struct PlanParam
{
	int			id;
	Node	   *value;
	const Plan *plan;
} PlanParam;

typedef struct PlanWalk PlanWalk;

struct PlanWalk
{
	const PlannedStmt *statement;
	ParamListInfo	   params; /* NULL: none */
	bool (*wanted)(Oid function);
	bool	   at_most;		/* counts what is evaluated under conditions, too */
	List	  *calls;		/* of PlanCall */
	List	  *nodes;		/* of PlanNode */
	List	  *node_params; /* of PlanParam */
	Bitmapset *seen;		/* numbers of subplans */
	bool	   unsure;		/* some number of rows is the planner's invention */

	/* The columns of a whole row that a call depends on; NIL: all.  Or NULL. */
	List *(*columns)(const PlanWalk *walk, const PlanCall *call);
};

/*
 * Fills in the calls of wanted functions by a statement of which so many rows are
 * fetched (infinity: all).
 */
extern void plan_walk(PlanWalk *walk, double rows);

/*
 * The same call with the same arguments, wherever it stands, counts once for
 * each value of the rows that it depends on.
 */
extern void plan_count_questions(PlanWalk *walk);

/* What an argument is before the statement runs; NULL if it is not known. */
extern const Const *plan_constant(const PlanWalk *walk, const Node *node);

/* ---------- plan_rows.c ---------- */

/* Rows of a relation in the statement's range table that meet some conditions. */
extern double plan_relation_rows(const PlannedStmt *statement, Index relation, List *conditions);

/* How many values a column of it has, NULL included; infinity if there are no statistics. */
extern double plan_column_values(const PlannedStmt *statement, Index relation, AttrNumber column);
extern bool
plan_column_has_statistics(const PlannedStmt *statement, Index relation, AttrNumber column);

/* Has the planner made up the size of the relation? */
extern bool plan_relation_is_guess(const PlannedStmt *statement, Index relation);

/* Which share of the rows that the planner expects must be there, by the size of the relation. */
extern double plan_relation_sure_share(const PlannedStmt *statement, Index relation);

/* ---------- plan_sure.c ---------- */

/* The same plan, with as many rows at each node as the planner has grounds for. */
extern PlannedStmt *plan_surely(const PlannedStmt *statement);

/* Did it have statistics for all of some conditions that a node checks? */
extern bool
plan_conditions_are_estimated(const PlannedStmt *statement, const Plan *plan, List *conditions);

#endif /* PRIVPRED_PLAN_CALLS_H */
