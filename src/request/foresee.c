/*
 * foresee.c
 *		What a statement will cost, before it does.
 *
 * The planner knows how many rows it expects, from statistics of the tables that the
 * asker reads; nothing here looks at rows, and nothing is said that EXPLAIN would not
 * tell.  Estimates err, so a statement is refused only if it needs twice
 * what is left, after what the session remembers is taken off; where the planner has
 * guessed, the least counts (server/plan_sure.c); and where the plan does not tell, it
 * is not refused (server/plan_calls.h).
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "request/foresee.h"
#include "request/request.h"
#include "server/plan_calls.h"
#include "server/plan_find.h"
#include "server/session.h"

/* By how much an estimate must exceed what is left. */
#define FORESEE_FACTOR 2

/* Fewer answers are not worth a look at the budget. */
#define FORESEE_LEAST 10

static bool foresee_wanted = true;

/* What was looked at last: a run of a plan, a model, who pays. */
static struct
{
	uint64 run;
	int64  model_id;
	Oid	   role;
} seen;

/* ---------- how many ---------- */

/* Is it one of our functions that answer?  They come in several schemas and forms. */
static bool
is_question(Oid function)
{
	HeapTuple	 tuple;
	Form_pg_proc form;
	Datum		 source;
	bool		 isnull;
	bool		 result = false;

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (form->prolang == ClanguageId && form->pronargs >= 2)
	{
		char *name;

		source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
		name = TextDatumGetCString(source);
		result = strncmp(name, "private_predict_", strlen("private_predict_")) == 0 ||
				 strncmp(name, "private_score_", strlen("private_score_")) == 0;
	}
	ReleaseSysCache(tuple);
	return result;
}

/* How many questions there are at all, if the model has no numbers; else infinitely many. */
static double
possible_questions(const FeatureSpec *features)
{
	double count = 1;

	for (int i = 0; i < features->nfeatures; i++)
	{
		const Feature *feature = &features->features[i];

		/* NULL may be one more. */
		if (feature->kind == FEATURE_NUMERIC)
			return get_float8_infinity();
		count *= (feature->kind == FEATURE_BOOLEAN ? 2 : feature->nlevels) + 1;
	}
	return count;
}

/* The model that a call asks; NULL if it is not known yet. */
static const char *
model_asked(const PlanWalk *walk, const PlanCall *call)
{
	const Const *name = plan_constant(walk, linitial(call->call->args));

	if (name == NULL || name->consttype != TEXTOID || name->constisnull)
		return NULL;
	return TextDatumGetCString(name->constvalue);
}

/* The columns that are features, after the asker was found to be one who may know of them. */
static List *
columns_asked(const PlanWalk *walk, const PlanCall *call)
{
	const char		  *name = model_asked(walk, call);
	const FeatureSpec *features;
	List			  *columns = NIL;

	if (name == NULL)
		return NIL;
	features = known_model_decoded(name, CurrentMemoryContext, asking_role())->record->features;
	for (int i = 0; i < features->nfeatures; i++)
		columns = lappend(columns, features->features[i].name);
	return columns;
}

/* Calls of one model, or of all (NULL). */
static void
count_calls(PlanWalk *walk, double rows, const char *model)
{
	ListCell *cell;

	walk->wanted = is_question;
	walk->columns = columns_asked;
	plan_walk(walk, rows);
	foreach(cell, walk->calls)
	{
		const char *name = model != NULL ? model_asked(walk, lfirst(cell)) : NULL;

		if (model != NULL && (name == NULL || strcmp(name, model) != 0))
			walk->calls = foreach_delete_current(walk->calls, cell);
	}
	if (repeat_remembers())
		plan_count_questions(walk);
}

/* Answers of a model that the rest of the running statement will take, about; 0: unknown. */
static double
answers_ahead(const FmgrInfo *site, const ModelRecord *model)
{
	PlanWalk		   walk = {0};
	const PlannedStmt *statement;
	double			   rows;
	double			   answers = 0;
	ListCell		  *cell;

	statement = plan_of_caller(site, &walk.params, &rows);
	if (statement == NULL)
		return 0;
	walk.statement = plan_surely(statement);
	count_calls(&walk, rows, model->name);
	if (walk.unsure)
		return 0;
	foreach(cell, walk.calls)
		answers += ((PlanCall *) lfirst(cell))->times;
	return repeat_remembers() ? Min(answers, possible_questions(model->features)) : answers;
}

/* ---------- the running statement ---------- */

pg_noreturn static void
refuse_statement(const ModelRecord *model, double answers, int64 left, int64 allowed)
{
	bool by_budget = left <= allowed;

	ereport(
		ERROR,
		(errcode(by_budget ? ERRCODE_CONFIGURATION_LIMIT_EXCEEDED : ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		 by_budget ? errmsg("statement would take about %.0f private answers of model \"%s\", and "
							"your budget pays for " INT64_FORMAT,
							answers, model->name, left)
				   : errmsg("statement would take about %.0f private answers of model \"%s\", and "
							"it may take " INT64_FORMAT,
							answers, model->name, allowed),
		 errdetail("None of them was charged. The planner expects so many; a statement is "
				   "stopped if that is more than %d times as many as it can have.",
				   FORESEE_FACTOR),
		 by_budget
			 ? errhint("Add a WHERE or LIMIT clause, or ask the owner of the relation for more. "
					   "SET privpred.on_refusal = 'null' answers as many as can be paid for. If "
					   "the estimate is wrong, ANALYZE the tables, or SET privpred.foresee = off.")
			 : errhint("Add a WHERE or LIMIT clause, or raise "
					   "privpred.max_answers_per_statement; see also privpred.ceilings. If the "
					   "estimate is wrong, ANALYZE the tables, or SET privpred.foresee = off.")));
}

/* Answers that were paid for before; those that are kept for good are remembered as well. */
static int64
answers_known(const ModelRecord *model, const LedgerPrice *price, const RepeatHandle *repeats)
{
	int64 known = repeat_count(repeats);

	return model_memo_limit(model) > 0 ? Max(known, ledger_memo_count(price, asking_role()))
									   : known;
}

void
foresee(const FmgrInfo *site, const ModelRecord *model, const LedgerPrice *price,
		const RepeatHandle *repeats)
{
	uint64		  run = plan_run_of_caller(site);
	Oid			  role = asking_role();
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	double		  answers;

	if (!foresee_wanted || unanswered_as_null() || price->kind != CHARGE_PER_ANSWER ||
		model->mechanism->owner_only)
		return;
	if (seen.run == run && seen.model_id == model->model_id && seen.role == role)
		return;
	context = AllocSetContextCreate(caller, "privpred foresight", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	answers = answers_ahead(site, model);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	if (answers >= FORESEE_LEAST)
		answers -= (double) answers_known(model, price, repeats);
	if (answers >= FORESEE_LEAST)
	{
		LedgerQuote quote = ledger_quote(price, role, 1);
		int64		left = quote.answers_left;
		int64		allowed = ledger_allowance(quote.has_account ? quote.payer : role);

		/* If nothing is left at all, the ledger says why. */
		if (left > 0 && allowed > 0 && answers > FORESEE_FACTOR * (double) Min(left, allowed))
			refuse_statement(model, answers, left, allowed);
	}
	seen.run = run;
	seen.model_id = model->model_id;
	seen.role = role;
}

/* ---------- a statement as text ---------- */

static StatementCost *
cost_entry(List **costs, const char *model)
{
	StatementCost *cost;
	ListCell	  *cell;

	foreach(cell, *costs)
	{
		cost = lfirst(cell);
		if (model == NULL ? cost->model == NULL
						  : cost->model != NULL && strcmp(cost->model, model) == 0)
			return cost;
	}
	cost = palloc0_object(StatementCost);
	cost->model = model;
	*costs = lappend(*costs, cost);
	return cost;
}

/* Authorises first: what others may not know of is as if it did not exist. */
static void
price_entry(StatementCost *cost)
{
	Oid				   role = asking_role();
	const ModelRecord *model = known_model_decoded(cost->model, CurrentMemoryContext, role)->record;
	LedgerPrice		   price = request_price(model);

	if (repeat_remembers())
		cost->answers = Min(cost->answers, possible_questions(model->features));
	cost->answers = Min(ceil(cost->answers), (double) INT_MAX);
	cost->kind = model->mechanism->charge_kind;
	cost->quote = ledger_quote(&price, role, (int64) cost->answers);
	cost->fits = cost->answers <= (double) cost->quote.answers_left;
	if (cost->kind != CHARGE_ONCE)
		cost->fits &= cost->answers <=
					  (double) ledger_allowance(cost->quote.has_account ? cost->quote.payer : role);
}

List *
request_cost_of_plans(List *plans, ParamListInfo params)
{
	List	 *costs = NIL;
	ListCell *cell;
	ListCell *call;

	foreach(cell, plans)
	{
		PlanWalk walk = {.statement = lfirst(cell), .params = params, .at_most = true};

		check_statement_rights(walk.statement);
		count_calls(&walk, get_float8_infinity(), NULL);
		foreach(call, walk.calls)
		{
			StatementCost *cost = cost_entry(&costs, model_asked(&walk, lfirst(call)));

			cost->answers += ((PlanCall *) lfirst(call))->times;
			cost->unsure |= walk.unsure;
		}
	}
	foreach(cell, costs)
		if (((StatementCost *) lfirst(cell))->model != NULL)
			price_entry(lfirst(cell));
	return costs;
}

List *
request_cost_of(const char *statement)
{
	List *plans = plan_of_text(statement, NULL);

	if (plans == NIL)
		refuse(errmsg("cannot say what that costs"),
			   errdetail("It is not one statement that the planner plans."),
			   errhint("Give one SELECT, INSERT, UPDATE, DELETE, MERGE, CREATE TABLE AS, COPY "
					   "(query) TO or DECLARE CURSOR."));
	return request_cost_of_plans(plans, NULL);
}

void
foresee_init(void)
{
	plan_find_init();
	DefineCustomBoolVariable(
		"privpred.foresee",
		"Stops a statement before its first charge if it would clearly take too many answers.",
		"How many it would take is the planner's estimate.", &foresee_wanted, true, PGC_USERSET, 0,
		NULL, NULL, NULL);
}
