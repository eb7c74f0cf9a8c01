/*
 * explain_privacy.c
 *		EXPLAIN (PRIVACY): how many answers a plan is expected to take, and their price.
 *
 * Extensions may add options to EXPLAIN since 18.
 */
#include "postgres.h"

#include "request/foresee.h"

#if PG_VERSION_NUM >= 180000

#include "commands/defrem.h"
#include "commands/explain.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"

static int						  extension_id;
static explain_per_plan_hook_type previous_per_plan = NULL;

static void
read_option(ExplainState *state, DefElem *option, ParseState *parse)
{
	bool *wanted = palloc_object(bool);

	*wanted = defGetBoolean(option);
	SetExplainExtensionState(state, extension_id, wanted);
}

static char *
cost_in_words(const StatementCost *cost)
{
	char  charge[EPSILON_TEXT_SIZE];
	bool  priced = cost->model != NULL && cost->kind != CHARGE_PER_STREAM;
	char *text = psprintf("about %.0f", cost->answers);

	if (cost->model != NULL)
		text = psprintf("%s of model \"%s\"", text, cost->model);
	if (priced && cost->quote.has_account && cost->quote.can_pay)
		text = psprintf("%s, epsilon %s", text, epsilon_to_text(cost->quote.cost, charge));
	if (priced)
		text = psprintf("%s, %s", text, cost->fits ? "which fits" : "which does not fit");
	return text;
}

static void
explain_plan(PlannedStmt *plan, IntoClause *into, ExplainState *state, const char *text,
			 ParamListInfo params, QueryEnvironment *environment)
{
	const bool *wanted = GetExplainExtensionState(state, extension_id);
	List	   *words = NIL;
	ListCell   *cell;

	if (previous_per_plan != NULL)
		previous_per_plan(plan, into, state, text, params, environment);
	if (wanted == NULL || !*wanted)
		return;
	foreach(cell, request_cost_of_plans(list_make1(plan), params))
		words = lappend(words, cost_in_words(lfirst(cell)));
	if (words != NIL)
		ExplainPropertyList("Private Answers", words, state);
}

void
explain_privacy_init(void)
{
	extension_id = GetExplainExtensionId("privpred");
	register_explain_option("privacy", read_option);
	previous_per_plan = explain_per_plan_hook;
	explain_per_plan_hook = explain_plan;
}

#else

void
explain_privacy_init(void)
{
}

#endif
