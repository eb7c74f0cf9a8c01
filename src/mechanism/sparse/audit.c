/*
 * audit.c
 *		Audit cases of streams, "sparse" and "soft": runs of the noisy threshold
 *		over chosen sequences of questions.
 *
 * A stream is priced when it is opened.  Tiny deltas cannot be audited, so it is
 * opened with a large one; the code is the same.  Teachers are stumps, so that
 * scores are 0 or 1, and "soft" is asked the same questions as "sparse".
 */
#include "postgres.h"

#include "mechanism/audit.h"
#include "mechanism/sparse/draw.h"
#include "mechanism/sparse/sparse.h"
#include "mechanism/vote/vote.h"

#define RUN_DELTA 0.02
#define MAX_TEACHERS 2000 /* of an audited stream */

/*
 * What teachers say of 1/2 and of 1; and of 0, as a stump needs rows of both
 * classes.  Of three from the first one, two say b; of three from the second, one.
 */
static const AuditUnit ties[] = {
	{1, 3, {{0.5, 1}, {1, 1}, {0, 0}}},
	{1, 3, {{0.5, 1}, {1, 1}, {0, 0}}},
	{1, 3, {{0.5, 0}, {1, 0}, {0, 1}}},
	{1, 3, {{0.5, 0}, {1, 0}, {0, 1}}},
};

/* Whoever opens a stream chooses its epsilon. */
static EpsilonUnits
run_epsilon(const AuditedModel *model)
{
	if (model->run_epsilon > 0)
		return model->run_epsilon;
	return Min(Max(model->spec->epsilon, EPSILON_UNITS_PER_ONE / 2), 3 * EPSILON_UNITS_PER_ONE);
}

/*
 * Distances of d, then d - 2, with one table; d - 1 throughout with the other:
 * the first unit says b of the first question and a of the second, or the other
 * way round.
 */
static AuditTable
run_table(int teachers, bool turned)
{
	AuditUnit *units = palloc_array(AuditUnit, teachers);

	for (int i = 0; i < teachers; i++)
	{
		bool first = i < teachers - 2 && !(turned && i == 0);
		bool second = (i >= 2 && i < teachers - 2) || (turned && i == 0);

		units[i] =
			(AuditUnit){1, 3, {{0.5, first}, {1, second}, {0, first == second ? !first : first}}};
	}
	return (AuditTable){teachers, units};
}

static bool
complete_run(const AuditedModel *model, AuditCase *audit)
{
	int64 width = sparse_width(run_epsilon(model), RUN_DELTA);
	int64 distance = Max((width + 1) / audit->part, 3);

	audit->run_epsilon = run_epsilon(model);
	audit->pair = psprintf("distances of " INT64_FORMAT " five times, then " INT64_FORMAT
						   ", or " INT64_FORMAT " throughout",
						   distance, distance - 2, distance - 1);
	if (2 * distance + 5 > MAX_TEACHERS)
	{
		audit->not_compared = "needs too many teachers";
		return true;
	}
	audit->places = (int) (2 * distance + 5);
	audit->table[0] = run_table(audit->places, false);
	audit->table[1] = run_table(audit->places, true);
	return true;
}

/* The same as scores of one class, then of another: one run, whichever class is asked about. */
static bool
complete_classes(const AuditedModel *model, AuditCase *audit)
{
	return model->spec->nclasses > 2 && mechanism_scores_classes(model->mechanism, model->spec) &&
		   complete_run(model, audit);
}

static bool
complete_tie(const AuditedModel *model, AuditCase *audit)
{
	audit->run_epsilon = run_epsilon(model);
	if (audit->unstable > 1)
	{
		/* Deltas add up, too; a small epsilon hides none of them. */
		audit->run_epsilon = Min(audit->run_epsilon, EPSILON_UNITS_PER_ONE / 2);
		/* Scores are tested twice, so that it takes twice as many for two of these. */
		if (audit->event == EVENT_EVER)
			audit->unstable *= model->mechanism->tests;
	}
	audit->pair =
		audit->event == EVENT_FAILURES
			? psprintf("ties until the stream ends; %d unstable answers bought", audit->unstable)
			: psprintf("two of three teachers say b, or one; %d unstable answer%s bought",
					   audit->unstable, audit->unstable > 1 ? "s" : "");
	return true;
}

static bool
falls_back(const AuditedModel *model, AuditCase *audit)
{
	return model->run_epsilon == 0 && stream_falls_back(model->spec);
}

/* The distance is divided by "number": at half of it, one that moves by two would show. */
#define RUN(completed, number, of_classes) \
	{ \
		.complete = completed, .part = number, .nclasses = of_classes, .questions = 2, \
		.question = {0.5, 1}, .event = EVENT_RUN, \
		.events = {"five labels, then an unstable answer", "anything else"}, .unstable = 1, \
		.run_delta = RUN_DELTA, .no_ties = true, .likely = 0.08, \
	}
#define TIE(what, bought) \
	{ \
		.complete = complete_tie, .table = {{3, ties}, {3, ties + 1}}, .places = 3, \
		.question = {0.5}, .class = 1, .event = what, \
		.events = {"b before the stream ends", "no b"}, .unstable = bought, \
		.run_delta = RUN_DELTA, .least = AUDIT_MANY_ANSWERS, \
	}

const AuditCase sparse_audit_cases[] = {
	RUN(complete_run, 1, 0),
	RUN(complete_run, 2, 0),
	RUN(complete_classes, 2, 3),
	TIE(EVENT_EVER, 1),
	TIE(EVENT_EVER, 2),
	TIE(EVENT_FAILURES, 5),
	{.complete = falls_back, .cases_of = &vote_mechanism},
	{0},
};
