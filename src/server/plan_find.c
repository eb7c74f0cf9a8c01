/*
 * plan_find.c
 *		The plan of the running statement, and of a statement that is given as text.
 *
 * Our library may be loaded by the very statement that is to be looked at.  That is
 * while its executor starts, which looks functions up; so a hook on its run sees it.
 * What runs is looked at, and never planned again: the statement itself may have
 * changed what a name means by then.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "server/plan_find.h"
#include "server/privpred.h"

/* ---------- text ---------- */

static Query *
analyze(RawStmt *statement, const char *text, ParamListInfo params)
{
	int	 count = params != NULL ? params->numParams : 0;
	Oid *types = palloc_array(Oid, count + 1);

	for (int i = 0; i < count; i++)
		types[i] = params->params[i].ptype;
	return parse_analyze_fixedparams(statement, text, types, count, NULL);
}

/* The query within a command that runs one; NULL if there is none. */
static Query *
query_within(Query *query, const char *text, ParamListInfo params)
{
	while (query != NULL && query->commandType == CMD_UTILITY)
	{
		Node *command = query->utilityStmt;

		if (IsA(command, CreateTableAsStmt))
			query = castNode(Query, ((CreateTableAsStmt *) command)->query);
		else if (IsA(command, ExplainStmt))
			query = castNode(Query, ((ExplainStmt *) command)->query);
		else if (IsA(command, DeclareCursorStmt))
			query = castNode(Query, ((DeclareCursorStmt *) command)->query);
		else if (IsA(command, CopyStmt) && ((CopyStmt *) command)->query != NULL)
		{
			RawStmt *statement = makeNode(RawStmt);

			statement->stmt = ((CopyStmt *) command)->query;
			query = analyze(statement, text, params);
		}
		else
			query = NULL;
	}
	return query;
}

static List *
plan_all(const char *text, ParamListInfo params)
{
	List	 *statements = pg_parse_query(text);
	List	 *plans = NIL;
	Query	 *query;
	ListCell *cell;

	if (list_length(statements) != 1)
		return NIL;
	query = query_within(analyze(linitial_node(RawStmt, statements), text, params), text, params);
	if (query == NULL)
		return NIL;
	foreach(cell, QueryRewrite(query))
		if (lfirst_node(Query, cell)->commandType != CMD_UTILITY)
			plans =
				lappend(plans, plan_rewritten(lfirst(cell), text, CURSOR_OPT_PARALLEL_OK, params));
	return plans;
}

/* Positions of errors are in the given text, not in the statement that gives it. */
static void
point_into_text(void *text)
{
	int position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(text);
	}
}

List *
plan_of_text(const char *text, ParamListInfo params)
{
	ErrorContextCallback context = {.previous = error_context_stack,
									.callback = point_into_text,
									.arg = unconstify(char *, text)};
	List				*plans;

	error_context_stack = &context;
	plans = plan_all(text, params);
	error_context_stack = context.previous;
	return plans;
}

/* ---------- the running statement ---------- */

bool
portal_runs(Portal portal, MemoryContext executor)
{
	MemoryContext parent = MemoryContextGetParent(executor);

	/* COPY has memory of its own in between. */
	if (parent != NULL && strcmp(parent->name, "COPY") == 0)
		parent = MemoryContextGetParent(parent);
	return parent == portal->portalContext;
}

/* What the executor runs, the innermost first. */
typedef struct Run
{
	QueryDesc  *query;
	uint64		count;	/* rows that are fetched; 0: all */
	uint64		number; /* of this process */
	struct Run *outer;
} Run;

static Run					*innermost = NULL;
static ExecutorRun_hook_type previous_run = NULL;

static void
at_executor_run(EXECUTOR_RUN_ARGUMENTS)
{
	static uint64 runs = 0;
	Run			  run = {queryDesc, count, ++runs, innermost};

	innermost = &run;
	PG_TRY();
	{
		if (previous_run != NULL)
			previous_run(EXECUTOR_RUN_PASSED);
		else
			standard_ExecutorRun(EXECUTOR_RUN_PASSED);
	}
	PG_FINALLY();
	{
		innermost = run.outer;
	}
	PG_END_TRY();
}

static const Run *
run_of_caller(const FmgrInfo *site)
{
	const Run *run = innermost;

	while (run != NULL &&
		   (run->query->estate == NULL || run->query->estate->es_query_cxt != site->fn_mcxt))
		run = run->outer;
	return run;
}

const PlannedStmt *
plan_of_caller(const FmgrInfo *site, ParamListInfo *params, double *rows)
{
	Portal			   portal = ActivePortal;
	const Run		  *run = run_of_caller(site);
	const PlannedStmt *statement;

	if (run == NULL || portal == NULL || !portal_runs(portal, site->fn_mcxt))
		return NULL;
	statement = run->query->plannedstmt;
	*params = run->query->params;
	*rows = run->count > 0 ? (double) run->count : get_float8_infinity();
	/* Rows of a cursor that were fetched before. */
	if (portal->strategy == PORTAL_ONE_SELECT && portal->queryDesc == run->query)
		*rows = Min(*rows, Max(statement->planTree->plan_rows - (double) portal->portalPos, 0));
	return *rows > 0 ? statement : NULL;
}

uint64
plan_run_of_caller(const FmgrInfo *site)
{
	const Run *run = run_of_caller(site);

	return run != NULL ? run->number : 0;
}

void
plan_find_init(void)
{
	previous_run = ExecutorRun_hook;
	ExecutorRun_hook = at_executor_run;
}
