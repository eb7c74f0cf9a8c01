/*
 * plan_find.c
 *		The plan of the running statement, and of a statement that is given as text.
 *
 * Our library may be loaded by the very statement that is to be looked at, too late
 * for a hook of the executor.  So the plan is taken from the portal that runs.
 */
#include "postgres.h"

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
				lappend(plans, pg_plan_query(lfirst(cell), text, CURSOR_OPT_PARALLEL_OK, params));
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

/* How many rows of a cursor are fetched, if the statement is a plain FETCH; else 0. */
static double
rows_of_fetch(Portal cursor)
{
	const char *text = debug_query_string;
	List	   *statements;
	FetchStmt  *fetch;

	if (text == NULL)
		return 0;
	text += strspn(text, " \t\n\r");
	if (pg_strncasecmp(text, "fetch", 5) != 0 && pg_strncasecmp(text, "move", 4) != 0)
		return 0;
	statements = pg_parse_query(text);
	if (list_length(statements) != 1 || !IsA(linitial_node(RawStmt, statements)->stmt, FetchStmt))
		return 0;
	fetch = (FetchStmt *) linitial_node(RawStmt, statements)->stmt;
	if (fetch->direction != FETCH_FORWARD || strcmp(fetch->portalname, cursor->name) != 0)
		return 0;
	return (double) fetch->howMany;
}

/* Does a command run a query that is planned as it is written in the command? */
static bool
command_runs_query(Node *command)
{
	return IsA(command, CreateTableAsStmt) || IsA(command, CopyStmt) || IsA(command, ExplainStmt);
}

PlannedStmt *
plan_of_caller(const FmgrInfo *site, ParamListInfo *params, double *rows)
{
	Portal		 portal = ActivePortal;
	PlannedStmt *statement;
	const char	*text;
	List		*plans;

	/* Rules may have made several statements of one. */
	if (portal == NULL || list_length(portal->stmts) != 1 || !portal_runs(portal, site->fn_mcxt))
		return NULL;
	statement = linitial_node(PlannedStmt, portal->stmts);
	*params = portal->portalParams;
	*rows = get_float8_infinity();
	if (statement->commandType != CMD_UTILITY)
	{
		/* Drivers fetch from named portals bit by bit, and so does FETCH. */
		if (portal->strategy == PORTAL_ONE_SELECT && portal->visible && portal->name[0] != '\0')
			*rows = Min(rows_of_fetch(portal),
						Max(statement->planTree->plan_rows - (double) portal->portalPos, 0));
		return *rows > 0 ? statement : NULL;
	}
	/* Its plan is out of reach, so it is made again.  The planner has changed what was parsed. */
	if (!command_runs_query(statement->utilityStmt) || portal->sourceText == NULL)
		return NULL;
	text = portal->sourceText;
	if (statement->stmt_location >= 0)
		text += statement->stmt_location;
	if (statement->stmt_len > 0)
		text = pnstrdup(text, statement->stmt_len);
	plans = plan_of_text(text, *params);
	return list_length(plans) == 1 ? linitial(plans) : NULL;
}

int
plan_location(void)
{
	Portal portal = ActivePortal;

	return portal != NULL && portal->stmts != NIL
			   ? linitial_node(PlannedStmt, portal->stmts)->stmt_location
			   : -1;
}
