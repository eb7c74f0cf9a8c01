/*
 * audit.c
 *		Audits: is what a model's account pays for one draw all that a unit can
 *		lose by it?  See audit.h.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "account/charge.h"
#include "catalog/cells.h"
#include "request/audit.h"
#include "request/train.h"
#include "server/progress.h"

#define MAX_BOUNDS 512 /* that an audit may take */
#define ALPHA (AUDIT_FALSE_ALARM / MAX_BOUNDS)
#define DRAWS_PER_REPORT 256
#define COUNTED_STREAMS 20

/* A claim with a delta is audited by events that are this many times as likely. */
#define DELTA_TOLD 2.5

static const char *const answers[] = {"answer a", "answer b", "answer c"};

/* ---------- claims ---------- */

static bool
all_bounded_range(const Charge *charge)
{
	for (int i = 0; i < CHARGE_PARTS; i++)
		if (charge->part[i].times > 0 && charge->part[i].shape != CHARGE_BOUNDED_RANGE)
			return false;
	return charge->delta == 0;
}

/*
 * By the ledger's own arithmetic: epsilon is what an account of infinite order
 * pays, and Gaussian noise costs order times rho.  Bounded ranges add up.
 */
static AuditClaim
claim_of(const Charge *charge)
{
	AuditClaim claim = {.test = TEST_RATIO, .delta = charge->delta};
	RenyiOrder two = 2 * RENYI_ORDER_ONE;

	if (charge_has_gaussian(charge))
	{
		claim.test = TEST_RENYI;
		claim.epsilon = sqrt(8.0 * (charge_units(charge, two) / 2.0 / EPSILON_UNITS_PER_ONE));
		return claim;
	}
	if (all_bounded_range(charge))
		claim.test = TEST_RANGE;
	claim.epsilon = (double) charge_units(charge, RENYI_ORDER_INFINITE) / EPSILON_UNITS_PER_ONE;
	return claim;
}

/* Streams are charged for by their terms, and students by their labels. */
static Charge
charge_of(const Audit *audit, const AuditedModel *model, const AuditCase *plan)
{
	Charge charge = plan->infinite ? model->infinite : model->finite;

	if (plan->charge != NULL)
		charge = *plan->charge;
	if (plan->event == EVENT_STUDENT)
	{
		LedgerPrice label = {.finite = charge};

		charge = student_charge(&label, plan->questions, 0);
	}
	if (plan->unstable > 0)
	{
		StreamTerms terms = audit_terms(plan);

		charge = stream_price(audit->model, &terms).finite;
		charge.delta = plan->no_ties ? 0 : charge.delta;
	}
	return charge;
}

/* ---------- power ---------- */

/*
 * The least loss that would have been seen, given how likely the first event
 * was, or would be with the mistake that the case is about.
 */
static double
detected(const AuditClaim *claim, const AuditCounts *counts, double likely)
{
	double p = likely;

	for (int table = 0; table < 2; table++)
		p = Max(p, (double) counts->count[table][0] / counts->draws[table]);
	if (claim->delta > 0)
		p = Min(Max(p, DELTA_TOLD * claim->delta), (1 + claim->delta) / 2);
	return audit_detects(claim, p, counts->draws[0], ALPHA);
}

static int64
draws_needed(const Audit *audit, const AuditCase *plan, const AuditClaim *claim)
{
	double likely = Max(plan->likely, claim->delta > 0 ? DELTA_TOLD * claim->delta : 0);
	double factor = 1.5; /* a loss of this many times the claim should be seen */
	int64  most = plan->most;

	if (audit->draws > 0)
		return audit->draws;
	if (most == 0)
		most = plan->event == EVENT_STUDENT					 ? AUDIT_MANY_ANSWERS
			   : plan->mechanism->charge_kind == CHARGE_ONCE ? AUDIT_MOST_MODELS
															 : AUDIT_MOST_ANSWERS;

	/*
	 * With Gaussian noise no event shows more than 0.8 of this epsilon, so a smaller
	 * loss should be seen where draws are cheap.
	 */
	if (claim->test == TEST_RENYI && most > AUDIT_MOST_MODELS)
		factor = 1.1;
	return Max(plan->least, audit_draws_needed(claim, factor, likely, most, ALPHA));
}

static const char *
verdict(const AuditResult *result, double mistake)
{
	if (result->loss > result->claim.epsilon)
		return "violated";
	if (isinf(result->detects))
		return "no power";
	/* With a delta, a likelier event is detected: see detected(). */
	if (result->claim.delta == 0 && result->detects > Max(2 * result->claim.epsilon, mistake))
		return "no power";
	return "consistent";
}

/* ---------- cases ---------- */

static void
draw_all(Audit *audit, MadeUp *tables[2], AuditCounts *counts, int64 draws)
{
	MemoryContext of_draw = AllocSetContextCreate(CurrentMemoryContext, "privpred audited draw",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(of_draw);

	for (int table = 0; table < 2; table++)
	{
		counts->draws[table] = draws;
		for (int64 i = 0; i < draws; i++)
		{
			int outcome = made_up_draw(tables[table]);

			CHECK_FOR_INTERRUPTS();
			if (outcome < 0 || outcome >= counts->outputs)
				elog(ERROR, "an audited draw has no outcome %d", outcome);
			counts->count[table][outcome]++;
			MemoryContextReset(of_draw);
			if (++audit->drawn % DRAWS_PER_REPORT == 0)
				progress_report(audit->drawn);
		}
	}
	MemoryContextSwitchTo(caller);
}

/* Every failed test is a run, and costs what a run costs. */
static void
count_failures(const Audit *audit, MadeUp *table, AuditResult *result)
{
	int64 most = 0;

	for (int i = 0; i < COUNTED_STREAMS; i++)
		most = Max(most, made_up_failures(table));
	result->event =
		MemoryContextStrdup(audit->context, psprintf(INT64_FORMAT " unstable answers", most));
	result->loss = most * ((double) table->plan->run_epsilon / EPSILON_UNITS_PER_ONE);
	result->detects = result->loss;
	result->draws = COUNTED_STREAMS;
	result->verdict = result->loss > result->claim.epsilon ? "violated" : "consistent";
}

static void
compare(Audit *audit, MadeUp *tables[2], const AuditCase *plan, AuditResult *result)
{
	AuditCounts counts = {.outputs = plan->event == EVENT_STUDENT ? 3 : Max(plan->nclasses, 2)};
	AuditLoss	loss;

	audit->bounds += audit_bounds_taken(counts.outputs);
	if (audit->bounds > MAX_BOUNDS)
		elog(ERROR, "an audit takes more than %d bounds", MAX_BOUNDS);
	result->draws = draws_needed(audit, plan, &result->claim);
	draw_all(audit, tables, &counts, result->draws);
	loss = audit_loss(&result->claim, &counts, ALPHA);
	result->event = plan->events[0] != NULL ? plan->events[loss.output]
											: answers[(loss.output + plan->class) % counts.outputs];
	result->loss = loss.epsilon;
	result->detects = detected(&result->claim, &counts, plan->likely);
	result->verdict = verdict(result, plan->mistake);
}

/* The result is kept; tables and models are not. */
static void
run_case(Audit *audit, const AuditedModel *model, const AuditCase *plan)
{
	Charge		  charge = charge_of(audit, model, plan);
	AuditResult	 *result = palloc0_object(AuditResult);
	MadeUp		 *tables[2];
	MemoryContext work;

	audit->results = lappend(audit->results, result);
	result->mechanism = audit->model->mechanism->name;
	result->pair = plan->pair;
	result->charge = plan->what;
	result->claim = plan->claim;
	if (plan->what == NULL)
	{
		result->charge = charge_to_text(&charge, palloc(CHARGE_TEXT_SIZE));
		result->claim = claim_of(&charge);
	}
	if (plan->not_compared != NULL)
	{
		result->event = plan->not_compared;
		result->detects = INFINITY;
		result->verdict = "no power";
		return;
	}
	work = AllocSetContextCreate(audit->context, "privpred audit", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(work);
	made_up_pair(audit, plan, tables);
	if (plan->event == EVENT_FAILURES)
		count_failures(audit, tables[0], result);
	else
		compare(audit, tables, plan, result);
	MemoryContextSwitchTo(audit->context);
	MemoryContextDelete(work);
}

static void run_mechanism(Audit *audit, const AuditedModel *model);

static void
run_cases(Audit *audit, const AuditedModel *model, const AuditCase *offered)
{
	for (; offered->pair != NULL || offered->complete != NULL; offered++)
	{
		AuditCase plan = *offered;

		if (plan.mechanism == NULL)
			plan.mechanism = model->mechanism;
		if (plan.complete != NULL && !plan.complete(model, &plan))
			continue;
		if (plan.cases_of != NULL)
		{
			AuditedModel other = {
				.mechanism = plan.cases_of, .spec = model->spec, .run_epsilon = plan.run_epsilon};

			(void) mechanism_charge(other.mechanism, other.spec, false, &other.finite);
			(void) mechanism_charge(other.mechanism, other.spec, true, &other.infinite);
			run_mechanism(audit, &other);
		}
		else
			run_case(audit, model, &plan);
	}
}

static void
run_mechanism(Audit *audit, const AuditedModel *model)
{
	if (model->mechanism->audit_cases == NULL)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("models of mechanism \"%s\" cannot be audited", model->mechanism->name));
	run_cases(audit, model, model->mechanism->audit_cases);
}

/* What may be released beside the model. */
static void
run_releases(Audit *audit, const AuditedModel *model)
{
	if (audit->model->holdout > 0 && audit->model->spec.nclasses > 0)
		run_cases(audit, model, accuracy_audit_cases);
	if (description_exists(audit->model->relation_id))
		run_cases(audit, model, describe_audit_cases);
}

/* ---------- the request ---------- */

/* Thousands of trainings would repeat their notices. */
static int
silence(void)
{
	int level = NewGUCNestLevel();

	session_set("client_min_messages", "error");
	if (LOG_LEVEL_HERE <= NOTICE)
		(void) set_config_option("log_min_messages", "warning", PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

List *
request_audit(const char *name, int64 draws)
{
	Audit		 audit = {0};
	AuditedModel model;
	LedgerPrice	 price;
	int			 level;

	audit.model = known_model(name);
	check_relation_owner(audit.model->relid);
	price = request_price(audit.model);
	model = (AuditedModel){.mechanism = audit.model->mechanism,
						   .spec = &audit.model->spec,
						   .state = audit.model->state,
						   .finite = price.finite,
						   .infinite = price.infinite};
	audit.draws = draws;
	audit.context = CurrentMemoryContext;
	level = silence();
	progress_begin(name, audit.model->relid);
	progress_report_as("auditing");
	run_mechanism(&audit, &model);
	run_releases(&audit, &model);
	progress_end();
	AtEOXact_GUC(false, level);
	return audit.results;
}
