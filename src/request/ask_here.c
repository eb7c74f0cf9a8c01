/*
 * ask_here.c
 *		Statements that ask about rows of Citus.
 *
 * Citus sends functions to the rows, but the coordinator alone answers.  So the rows
 * that a SELECT asks about become a subquery with OFFSET 0, which Citus fetches before it
 * goes on:
 *
 *		SELECT private_predict('m', ARRAY[v.x]) FROM visit v WHERE v.id < 9
 *		SELECT private_predict('m', ARRAY[r.c1])
 *		  FROM (SELECT v.x AS c1 FROM visit v WHERE v.id < 9 OFFSET 0) r
 *
 * Where that cannot be done the statement stays as it is, and a worker refuses its part of
 * it (check_citus_session).  Without Citus there is no hook.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/guc.h"

#include "request/foresee.h"
#include "server/citus.h"
#include "server/compat.h"

static planner_hook_type previous_planner = NULL;

/* Citus plans parts of a statement on their own; what was left as it is stays so. */
static int planning = 0;

/* ---------- which statements ---------- */

static bool
has_question(Node *node, void *unused)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && is_question(((FuncExpr *) node)->funcid))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_question, unused, 0);
	return expression_tree_walker(node, has_question, unused);
}

static bool
reads_spread(Node *node, void *unused)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_RELATION &&
			   citus_spreads(((RangeTblEntry *) node)->relid);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, reads_spread, unused, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, reads_spread, unused);
}

/* Does a SELECT itself ask, not a subquery of its FROM? */
static bool
select_asks(const Query *query)
{
	return has_question((Node *) query->targetList, NULL) ||
		   has_question(query->havingQual, NULL) || has_question(query->jointree->quals, NULL);
}

static bool
can_be_wrapped(const Query *query)
{
	if (query->commandType != CMD_SELECT || query->setOperations != NULL ||
		query->rowMarks != NIL || query->hasModifyingCTE || QUERY_HAS_GROUP_RTE(query))
		return false;
	/* CTEs go with the rows; what stays may not name them. */
	return query->cteList == NIL ||
		   !(checkExprHasSubLink((Node *) query->targetList) ||
			 checkExprHasSubLink(query->havingQual) || checkExprHasSubLink(query->jointree->quals));
}

/* ---------- the rows as a subquery ---------- */

typedef struct Wrapping
{
	Query *rows;
	int	   levels; /* of subqueries that the expression is in */
} Wrapping;

/* The number of the column of rows that a Var of theirs has. */
static AttrNumber
column_of(Query *rows, Var *var)
{
	Var		 *own = copyObject(var);
	ListCell *cell;

	own->varlevelsup = 0;
	own->location = -1;
	foreach(cell, rows->targetList)
	{
		TargetEntry *entry = lfirst(cell);

		if (equal(entry->expr, own))
			return entry->resno;
	}
	rows->targetList =
		lappend(rows->targetList,
				makeTargetEntry((Expr *) own, list_length(rows->targetList) + 1,
								psprintf("c%d", list_length(rows->targetList) + 1), false));
	return list_length(rows->targetList);
}

static Node *
refer_to_rows(Node *node, Wrapping *wrapping)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == (Index) wrapping->levels)
	{
		Var *var = (Var *) node;

		return (Node *) makeVar(1, column_of(wrapping->rows, var), var->vartype, var->vartypmod,
								var->varcollid, wrapping->levels);
	}
	if (IsA(node, Query))
	{
		Query *query;

		wrapping->levels++;
		query = query_tree_mutator((Query *) node, refer_to_rows, wrapping, 0);
		wrapping->levels--;
		return (Node *) query;
	}
	return expression_tree_mutator(node, refer_to_rows, wrapping);
}

/* Conditions that ask are checked here, all others where the rows are. */
static Node *
split_conditions(Node *quals, Node **of_rows)
{
	List	 *here = NIL;
	List	 *there = NIL;
	ListCell *cell;

	foreach(cell, make_ands_implicit((Expr *) quals))
	{
		if (has_question(lfirst(cell), NULL))
			here = lappend(here, lfirst(cell));
		else
			there = lappend(there, lfirst(cell));
	}
	*of_rows = there == NIL ? NULL : (Node *) make_ands_explicit(there);
	return here == NIL ? NULL : (Node *) make_ands_explicit(here);
}

/*
 * True, by a table of this node alone: else a statement about a single shard would be
 * sent there as a whole.
 */
static Node *
local_truth(void)
{
	static const char text[] = "SELECT true FROM pg_catalog.pg_am LIMIT 1";
	List			 *parsed = raw_parser(text, RAW_PARSE_DEFAULT);
	SubLink			 *truth = makeNode(SubLink);

	truth->subLinkType = EXPR_SUBLINK;
	truth->subselect = (Node *) parse_analyze_fixedparams(linitial(parsed), text, NULL, 0, NULL);
	truth->location = -1;
	return (Node *) truth;
}

/* A LIMIT that counts rows as they come holds for what is fetched. */
static void
place_limit(Query *query, Query *rows, bool filters)
{
	rows->limitOffset = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0),
										   false, FLOAT8PASSBYVAL);
	if (!filters && query->limitOffset == NULL && query->sortClause == NIL &&
		query->groupClause == NIL && query->groupingSets == NIL && query->distinctClause == NIL &&
		!query->hasAggs && query->havingQual == NULL && !query->hasWindowFuncs &&
		!query->hasTargetSRFs)
	{
		rows->limitCount = query->limitCount;
		query->limitCount = NULL;
	}
}

static RangeTblEntry *
subquery_entry(Query *rows)
{
	RangeTblEntry *entry = makeNode(RangeTblEntry);
	List		  *names = NIL;
	ListCell	  *cell;

	foreach(cell, rows->targetList)
		names = lappend(names, makeString(pstrdup(((TargetEntry *) lfirst(cell))->resname)));
	entry->rtekind = RTE_SUBQUERY;
	entry->subquery = rows;
	entry->eref = makeAlias("rows", names);
	entry->inFromCl = true;
	return entry;
}

static void
wrap_rows(Query *query)
{
	Wrapping	 wrapping = {.rows = makeNode(Query)};
	Query		*rows = wrapping.rows;
	RangeTblRef *reference = makeNode(RangeTblRef);
	Node		*there;
	Node		*here = split_conditions(query->jointree->quals, &there);

	rows->commandType = CMD_SELECT;
	rows->querySource = QSRC_ORIGINAL;
	rows->canSetTag = true;
	rows->rtable = query->rtable;
	QUERY_MOVE_PERMISSIONS(rows, query);
	rows->jointree = makeFromExpr(query->jointree->fromlist, there);
	rows->hasSubLinks = query->hasSubLinks;
	rows->hasRowSecurity = query->hasRowSecurity;
	rows->cteList = query->cteList;
	rows->hasRecursive = query->hasRecursive;
	query->cteList = NIL;
	query->hasRecursive = false;
	query->targetList = (List *) refer_to_rows((Node *) query->targetList, &wrapping);
	query->havingQual = refer_to_rows(query->havingQual, &wrapping);
	here = refer_to_rows(here, &wrapping);
	if (rows->targetList == NIL)
		rows->targetList = list_make1(
			makeTargetEntry((Expr *) makeBoolConst(true, false), 1, pstrdup("c1"), false));
	place_limit(query, rows, here != NULL);
	/* What lies outside of the query is one level further away; its own rows are not. */
	IncrementVarSublevelsUp((Node *) rows, 1, 1);
	reference->rtindex = 1;
	query->rtable = list_make1(subquery_entry(rows));
	query->jointree = makeFromExpr(list_make1(reference), make_and_qual(here, local_truth()));
	query->hasSubLinks = true;
}

/* ---------- who takes fewer rows ---------- */

/* Does it ask about the same rows, however few of its own are taken? */
static bool
asks_anyway(const Query *query)
{
	return query->limitCount != NULL || query->hasAggs || query->groupClause != NIL ||
		   query->distinctClause != NIL || query->hasWindowFuncs;
}

typedef struct Narrowing
{
	const Query *query;
	bool		 of_rows;	 /* a column of a subquery, */
	bool		 of_answers; /* and one that asks */
} Narrowing;

static bool
find_columns(Node *node, Narrowing *narrowing)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0)
	{
		Var			  *var = (Var *) node;
		RangeTblEntry *entry = rt_fetch(var->varno, narrowing->query->rtable);

		if (entry->rtekind != RTE_SUBQUERY && entry->rtekind != RTE_JOIN)
			return false;
		narrowing->of_rows = true;
		if (entry->rtekind == RTE_SUBQUERY && var->varattno > 0)
			narrowing->of_answers =
				narrowing->of_answers ||
				has_question(list_nth(entry->subquery->targetList, var->varattno - 1), NULL);
		return false;
	}
	return expression_tree_walker(node, find_columns, narrowing);
}

/* The server applies conditions on a subquery's columns, but on answers, before it asks. */
static bool
narrowed_by(Node *node, const Query *query)
{
	ListCell *cell;

	if (node == NULL)
		return false;
	if (IsA(node, JoinExpr))
	{
		JoinExpr *join = (JoinExpr *) node;

		return narrowed_by(join->larg, query) || narrowed_by(join->rarg, query) ||
			   narrowed_by(join->quals, query);
	}
	if (IsA(node, RangeTblRef))
		return false;
	foreach(cell, make_ands_implicit((Expr *) node))
	{
		Narrowing narrowing = {.query = query};

		(void) find_columns(lfirst(cell), &narrowing);
		if (narrowing.of_rows && !narrowing.of_answers)
			return true;
	}
	return false;
}

static bool
narrows(const Query *query)
{
	ListCell *cell;

	if (query->limitCount != NULL && query->sortClause == NIL && !query->hasAggs &&
		query->groupClause == NIL && !query->hasWindowFuncs)
		return true;
	foreach(cell, query->jointree->fromlist)
		if (narrowed_by(lfirst(cell), query))
			return true;
	return narrowed_by(query->jointree->quals, query);
}

/*
 * Every SELECT of the statement, from the inside out.  What Citus fetches is fetched as a
 * whole: if the SELECT around it wants but some of it, the rest would be paid for, too.
 */
static bool
wrap_selects(Node *node, bool *narrowed)
{
	Query *query = (Query *) node;
	bool   inside;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, wrap_selects, narrowed);
	inside = (*narrowed && !asks_anyway(query)) || narrows(query);
	(void) query_tree_walker(query, wrap_selects, &inside, 0);
	if ((!*narrowed || asks_anyway(query)) && can_be_wrapped(query) && select_asks(query) &&
		reads_spread(node, NULL))
		wrap_rows(query);
	return false;
}

static PlannedStmt *
plan_here(PLANNER_ARGUMENTS)
{
	PlannedStmt *result;
	bool		 narrowed = false;

	if (planning == 0 && has_question((Node *) query, NULL) && citus_is_installed())
		(void) wrap_selects((Node *) query, &narrowed);
	planning++;
	PG_TRY();
	{
		result =
			previous_planner ? previous_planner(PLANNER_PASSED) : standard_planner(PLANNER_PASSED);
	}
	PG_FINALLY();
	{
		planning--;
	}
	PG_END_TRY();
	return result;
}

/* Citus is loaded before all others, so that its settings are there. */
void
ask_here_init(void)
{
	if (GetConfigOption("citus.shard_count", true, false) == NULL)
		return;
	previous_planner = planner_hook;
	planner_hook = plan_here;
}
