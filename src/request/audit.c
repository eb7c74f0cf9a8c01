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
#include "mechanism/sparse/sparse.h"
#include "mechanism/vote/vote.h"
#include "server/mutant.h"
#include "server/progress.h"
#include "request/audit.h"

#define DRAWS_PER_REPORT 256

/* A claim with a delta is audited by events that are so many times as likely. */
#define DELTA_TOLD 2.5

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
AuditClaim
audit_claim(const Charge *charge)
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

static const char *
charge_text(Audit *audit, const Charge *charge)
{
	return charge_to_text(charge, MemoryContextAlloc(audit->context, CHARGE_TEXT_SIZE));
}

/* ---------- results ---------- */

static AuditResult *
add_result(Audit *audit, const char *pair, const char *event)
{
	MemoryContext caller = MemoryContextSwitchTo(audit->context);
	AuditResult	 *result = palloc0_object(AuditResult);

	result->pair = pstrdup(pair);
	result->event = pstrdup(event);
	audit->results = lappend(audit->results, result);
	MemoryContextSwitchTo(caller);
	return result;
}

static const char *
verdict(const AuditResult *result, double mistake)
{
	if (result->loss > result->claim.epsilon)
		return "violated";
	if (isinf(result->detects))
		return "no power";
	/* With a delta, what is told is a likelier event: see detected(). */
	if (result->claim.delta == 0 && result->detects > Max(2 * result->claim.epsilon, mistake))
		return "no power";
	return "consistent";
}

static void
draw_all(Audit *audit, const AuditCase *compare, AuditCounts *counts, int64 draws)
{
	MemoryContext caller = MemoryContextSwitchTo(audit->draw_context);

	for (int table = 0; table < 2; table++)
	{
		counts->draws[table] = draws;
		for (int64 i = 0; i < draws; i++)
		{
			int outcome = compare->draw(compare->table[table]);

			CHECK_FOR_INTERRUPTS();
			if (outcome < 0 || outcome >= compare->outputs)
				elog(ERROR, "an audited draw has no outcome %d", outcome);
			counts->count[table][outcome]++;
			MemoryContextReset(audit->draw_context);
			if (++audit->drawn % DRAWS_PER_REPORT == 0)
				progress_report(audit->drawn);
		}
	}
	MemoryContextSwitchTo(caller);
}

/*
 * What would have been seen, given how likely the first event was, or would be
 * by the mistake that it is asked for.
 */
static double
detected(const AuditClaim *claim, const AuditCounts *counts, double likely)
{
	double p = likely;

	for (int table = 0; table < 2; table++)
		p = Max(p, (double) counts->count[table][0] / counts->draws[table]);
	if (claim->delta > 0)
		p = Min(Max(p, DELTA_TOLD * claim->delta), (1 + claim->delta) / 2);
	return audit_detects(claim, p, counts->draws[0], AUDIT_ALPHA);
}

/*
 * How many times the claim is to be told from it.  Of Gaussian noise no event
 * shows more than 0.8 of this epsilon, so that more is to be told, where draws
 * are cheap.
 */
static double
told_factor(const AuditCase *compare, const AuditClaim *claim)
{
	return claim->test == TEST_RENYI && compare->most > AUDIT_MOST_MODELS ? 1.1 : 1.5;
}

void
audit_compare_claim(Audit *audit, const AuditCase *compare, const AuditClaim *claim,
					const char *what)
{
	AuditCounts	 counts = {.outputs = compare->outputs};
	double		 likely = Max(compare->likely, claim->delta > 0 ? DELTA_TOLD * claim->delta : 0);
	int64		 draws = audit->draws;
	AuditLoss	 loss;
	AuditResult *result;

	if (draws == 0)
		draws = Max(compare->least, audit_draws_needed(claim, told_factor(compare, claim), likely,
													   compare->most, AUDIT_ALPHA));
	audit->bounds += audit_bounds_taken(compare->outputs);
	if (audit->bounds > AUDIT_MAX_BOUNDS)
		elog(ERROR, "an audit takes more than %d bounds", AUDIT_MAX_BOUNDS);
	draw_all(audit, compare, &counts, draws);
	loss = audit_loss(claim, &counts, AUDIT_ALPHA);
	result = add_result(audit, compare->pair, compare->events[loss.output]);
	result->charge = MemoryContextStrdup(audit->context, what);
	result->claim = *claim;
	result->loss = loss.epsilon;
	result->draws = draws;
	result->detects = detected(claim, &counts, compare->likely);
	result->verdict = verdict(result, compare->mistake);
}

void
audit_compare(Audit *audit, const AuditCase *compare)
{
	AuditClaim claim = audit_claim(compare->charge);

	audit_compare_claim(audit, compare, &claim, charge_text(audit, compare->charge));
}

void
audit_not_compared(Audit *audit, const char *pair, const char *why, const Charge *charge)
{
	AuditResult *result = add_result(audit, pair, why);

	result->charge = charge_text(audit, charge);
	result->claim = audit_claim(charge);
	result->detects = INFINITY;
	result->verdict = "no power";
}

void
audit_counted(Audit *audit, const char *pair, const char *event, const Charge *charge, double loss,
			  int64 draws)
{
	AuditResult *result = add_result(audit, pair, event);

	result->charge = charge_text(audit, charge);
	result->claim = audit_claim(charge);
	result->loss = loss;
	result->draws = draws;
	result->detects = loss;
	result->verdict = loss > result->claim.epsilon ? "violated" : "consistent";
}

/* ---------- the request ---------- */

typedef struct MechanismAudit
{
	const Mechanism *mechanism;
	void (*run)(Audit *audit);
} MechanismAudit;

static void
run_vote(Audit *audit)
{
	audit_vote(audit, &audit->price.finite, &audit->price.infinite,
			   vote_noise_is_gaussian(&audit->model->spec));
}

/* Streams are priced when they are opened, at an epsilon that the asker chooses. */
static void
run_streams(Audit *audit)
{
	const MechanismSpec *spec = &audit->model->spec;
	Charge				 finite;
	Charge				 infinite;

	audit_streams(audit,
				  Min(Max(spec->epsilon, EPSILON_UNITS_PER_ONE / 2), 3 * EPSILON_UNITS_PER_ONE));
	if (!stream_falls_back(spec))
		return;
	(void) mechanism_charge(&vote_mechanism, spec, false, &finite);
	(void) mechanism_charge(&vote_mechanism, spec, true, &infinite);
	audit_vote(audit, &finite, &infinite, vote_noise_is_gaussian(spec));
}

static const MechanismAudit audits[] = {
	{&average_mechanism, audit_average},	   {&cover_mechanism, audit_cover},
	{&distill_mechanism, audit_student},	   {&gradient_mechanism, audit_gradient},
	{&label_private_mechanism, audit_cover},   {&littlestone_mechanism, audit_littlestone},
	{&relabel_mechanism, audit_relabel},	   {&soft_mechanism, run_streams},
	{&sparse_mechanism, run_streams},		   {&stable_mechanism, audit_stable},
	{&stable_erm_mechanism, audit_stable_erm}, {&stable_flip_mechanism, audit_stable_flip},
	{&threshold_mechanism, audit_threshold},   {&vote_mechanism, run_vote},
};

static void
run(Audit *audit)
{
	for (int i = 0; i < lengthof(audits); i++)
		if (audits[i].mechanism == audit->model->mechanism)
		{
			audits[i].run(audit);
			return;
		}
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("models of mechanism \"%s\" cannot be audited",
						   audit->model->mechanism->name)));
}

/* Each of thousands of trainings may have something to say. */
static int
silence(void)
{
	int level = NewGUCNestLevel();

	session_set("client_min_messages", "error");
	if (log_min_messages <= NOTICE)
		(void) set_config_option("log_min_messages", "warning", PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

List *
request_audit(const char *name, int64 draws, const char **mechanism)
{
	Audit		  audit = {0};
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work;
	int			  level;

	if (MUTANT_BUILD)
		mutant_warn();
	audit.model = known_model(name);
	check_relation_owner(audit.model->relid);
	audit.price = request_price(audit.model);
	*mechanism = audit.model->mechanism->name;
	audit.draws = draws;
	audit.context = caller;
	work = AllocSetContextCreate(caller, "privpred audit", ALLOCSET_DEFAULT_SIZES);
	audit.draw_context =
		AllocSetContextCreate(work, "privpred audited draw", ALLOCSET_DEFAULT_SIZES);
	level = silence();
	progress_begin(name, audit.model->relid);
	progress_report_as("auditing");
	MemoryContextSwitchTo(work);
	run(&audit);
	MemoryContextSwitchTo(caller);
	progress_end();
	AtEOXact_GUC(false, level);
	MemoryContextDelete(work);
	return audit.results;
}
