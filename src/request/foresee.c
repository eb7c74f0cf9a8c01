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

/* What was looked at last: a run of a plan, whose accounts pay, who asks. */
#define SEEN_LAST 4

static struct
{
	uint64 run;
	int64  population;
	Oid	   role;
} seen[SEEN_LAST];

static int seen_next;

/* What a statement takes of models that one budget pays for. */
typedef struct Ahead
{
	int	   models;
	double answers;
	double share; /* of what the budget has left */
} Ahead;

/* ---------- how many ---------- */

/* They come in several schemas and forms. */
bool
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

/* Do accounts of the population pay for a model that the asker may know of? */
static bool
is_paid_by(const char *name, int64 population)
{
	int64 own;
	Oid	  relid;

	return name != NULL && model_find_relation(name, &own, &relid) && own == population &&
		   ledger_role_has_budget(population, asking_role());
}

/* Calls of models of one population, or of all (0). */
static void
count_calls(PlanWalk *walk, double rows, int64 population)
{
	ListCell *cell;

	walk->wanted = is_question;
	walk->columns = columns_asked;
	plan_walk(walk, rows);
	foreach(cell, walk->calls)
	{
		if (population != 0 && !is_paid_by(model_asked(walk, lfirst(cell)), population))
			walk->calls = foreach_delete_current(walk->calls, cell);
	}
	if (repeat_remembers())
		plan_count_questions(walk);
}

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

/* Answers of each model that calls ask. */
static void
add_calls(List **costs, const PlanWalk *walk)
{
	ListCell *cell;

	foreach(cell, walk->calls)
	{
		StatementCost *cost = cost_entry(costs, model_asked(walk, lfirst(cell)));

		cost->answers += ((PlanCall *) lfirst(cell))->times;
		cost->unsure |= walk->unsure;
	}
}

/* ---------- the running statement ---------- */

/* By one budget: the answers that it pays for, in the proportions that are asked. */
pg_noreturn static void
refuse_statement(const ModelRecord *model, const Ahead *ahead, int64 allowed)
{
	double		left = floor(ahead->answers / ahead->share * (1 + 1e-9));
	bool		by_budget = left <= (double) allowed;
	const char *whose = ahead->models == 1 ? psprintf("model \"%s\"", model->name)
										   : psprintf("%d models of one population", ahead->models);

	ereport(
		ERROR,
		(errcode(by_budget ? ERRCODE_CONFIGURATION_LIMIT_EXCEEDED : ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		 by_budget ? errmsg("statement would take about %.0f private answers of %s, and "
							"your budget pays for %.0f",
							ahead->answers, whose, left)
				   : errmsg("statement would take about %.0f private answers of %s, and "
							"it may take " INT64_FORMAT,
							ahead->answers, whose, allowed),
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
answers_known(const ModelRecord *model, const LedgerPrice *price)
{
	RepeatHandle repeats = repeat_open(model);
	int64		 known = repeat_count(&repeats);

	return model_memo_limit(model) > 0 ? Max(known, ledger_memo_count(price, asking_role()))
									   : known;
}

/* A model of which so many answers are taken, before those that are known are taken off. */
static void
add_model(Ahead *ahead, const StatementCost *cost, Oid *payer)
{
	Oid				   role = asking_role();
	const ModelRecord *model = known_model_decoded(cost->model, CurrentMemoryContext, role)->record;
	LedgerPrice		   price = request_price(model);
	double			   answers = cost->answers;
	LedgerQuote		   quote;

	if (price.kind != CHARGE_PER_ANSWER || model->mechanism->owner_only)
		return;
	if (repeat_remembers())
		answers = Min(answers, possible_questions(model->features));
	answers -= (double) answers_known(model, &price);
	if (answers <= 0)
		return;
	quote = ledger_quote(&price, role, 1);
	/* If nothing is left at all, the ledger says why. */
	if (quote.answers_left <= 0)
		return;
	*payer = quote.has_account ? quote.payer : role;
	ahead->models++;
	ahead->answers += answers;
	ahead->share += answers / (double) quote.answers_left;
}

/* What the rest of the running statement will take of models of a population, about. */
static Ahead
look_ahead(const FmgrInfo *site, int64 population, Oid *payer)
{
	Ahead			   ahead = {0};
	PlanWalk		   walk = {0};
	List			  *costs = NIL;
	const PlannedStmt *statement;
	double			   rows;
	ListCell		  *cell;

	statement = plan_of_caller(site, &walk.params, &rows);
	if (statement == NULL)
		return ahead;
	walk.statement = plan_surely(statement);
	count_calls(&walk, rows, population);
	if (walk.unsure)
		return ahead;
	add_calls(&costs, &walk);
	foreach(cell, costs)
		add_model(&ahead, lfirst(cell), payer);
	return ahead;
}

static bool
was_seen(uint64 run, int64 population, Oid role)
{
	for (int i = 0; i < SEEN_LAST; i++)
		if (seen[i].run == run && seen[i].population == population && seen[i].role == role)
			return true;
	return false;
}

void
foresee(const FmgrInfo *site, const ModelRecord *model, const LedgerPrice *price)
{
	uint64		  run = plan_run_of_caller(site);
	Oid			  role = asking_role();
	Oid			  payer = role;
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	Ahead		  ahead;

	if (!foresee_wanted || unanswered_as_null() || price->kind != CHARGE_PER_ANSWER ||
		model->mechanism->owner_only)
		return;
	if (was_seen(run, model->population, role))
		return;
	context = AllocSetContextCreate(caller, "privpred foresight", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	ahead = look_ahead(site, model->population, &payer);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	if (ahead.answers >= FORESEE_LEAST)
	{
		int64 allowed = ledger_allowance(payer);

		if (allowed > 0 &&
			(ahead.share > FORESEE_FACTOR || ahead.answers > FORESEE_FACTOR * (double) allowed))
			refuse_statement(model, &ahead, allowed);
	}
	seen[seen_next].run = run;
	seen[seen_next].population = model->population;
	seen[seen_next].role = role;
	seen_next = (seen_next + 1) % SEEN_LAST;
}

/* ---------- a statement as text ---------- */

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
	cost->population = model->population;
	cost->quote = ledger_quote(&price, role, (int64) cost->answers);
	cost->fits = cost->answers <= (double) cost->quote.answers_left;
	if (cost->kind == CHARGE_PER_ANSWER && cost->quote.answers_left > 0)
		cost->share = cost->answers / (double) cost->quote.answers_left;
	else if (cost->kind == CHARGE_ONCE && cost->quote.cost > 0)
		cost->share = (double) cost->quote.cost /
					  Max((double) cost->quote.cost + (double) cost->quote.left_after, 1);
}

/* Models of one population are paid for by one budget, and a statement has one allowance. */
static void
fit_together(StatementCost *cost, const List *costs)
{
	Oid		  payer = cost->quote.has_account ? cost->quote.payer : asking_role();
	double	  answers = 0;
	double	  others = 0;
	ListCell *cell;

	foreach(cell, costs)
	{
		const StatementCost *other = lfirst(cell);

		if (other->model != NULL && other->kind != CHARGE_ONCE)
			answers += other->answers;
		if (other->model != NULL && other != cost && other->population == cost->population)
			others += other->share;
	}
	if (others > 0)
		cost->fits &= cost->share + others <= 1;
	if (cost->kind != CHARGE_ONCE)
		cost->fits &= answers <= (double) ledger_allowance(payer);
}

List *
request_cost_of_plans(List *plans, ParamListInfo params)
{
	List	 *costs = NIL;
	ListCell *cell;

	foreach(cell, plans)
	{
		PlanWalk walk = {.statement = lfirst(cell), .params = params, .at_most = true};

		check_statement_rights(walk.statement);
		count_calls(&walk, get_float8_infinity(), 0);
		add_calls(&costs, &walk);
	}
	foreach(cell, costs)
		if (((StatementCost *) lfirst(cell))->model != NULL)
			price_entry(lfirst(cell));
	foreach(cell, costs)
		if (((StatementCost *) lfirst(cell))->model != NULL)
			fit_together(lfirst(cell), costs);
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
