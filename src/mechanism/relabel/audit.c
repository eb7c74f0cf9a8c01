/*
 * audit.c
 *		Audit cases of "relabel", which are all about parts of its proof.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/drawn.h"
#include "mechanism/stable/audit.h"

#define MOST_CHUNKS 1001

/* A unit for each chunk; so many of them say b, and the rest a. */
static AuditTable
chunks_table(int chunks, int saying_b)
{
	AuditUnit *units = palloc_array(AuditUnit, chunks);

	for (int i = 0; i < chunks; i++)
		units[i] = i < saying_b ? drawn_says_b : drawn_says_a;
	return (AuditTable){chunks, units};
}

/* A group of as many units as there are chunks: kappa for each. */
static void
ask_for_vote(AuditCase *audit, double kappa)
{
	audit->places = (int) Min(Max(ceil(2 / kappa), 1), MOST_CHUNKS);
	audit->table[0] = chunks_table(audit->places, audit->places);
	audit->pair = psprintf("vote: all of %d chunks say b, or none", audit->places);
	audit->what = psprintf("a vote at kappa = %.4g for each chunk", kappa);
	audit->claim.epsilon = kappa * audit->places;
}

/*
 * Half of the units say b, or one more: weights of both stumps move by e^kappa.
 * At a kappa of 1, where it shows, the chunks are enough for a certain vote.
 */
static void
ask_for_hypothesis(AuditCase *audit, DrawnParts *parts)
{
	parts->e = 1;
	audit->places = 40;
	audit->table[0] = chunks_table(audit->places, audit->places / 2);
	audit->table[1] = chunks_table(audit->places, audit->places / 2 + 1);
}

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	RelabelParameters parameters =
		relabel_parameters(model->spec, finite_state_class(model->spec, model->state));
	DrawnParts parts = {.alpha = share_to_double(parameters.alpha),
						.q = share_to_double(parameters.q),
						.e = (double) parameters.kappa / EPSILON_UNITS_PER_ONE};
	int		   chunks;

	drawn_audit_part(audit, &parts);
	if (audit->part == DRAWN_VOTE)
		ask_for_vote(audit, parts.e);
	if (audit->part == DRAWN_HYPOTHESIS)
		ask_for_hypothesis(audit, &parts);
	chunks = Max(audit->places, 1);
	audit->options = psprintf("{\"q\": %.17g, \"alpha\": %.17g, \"kappa\": %.17g, \"j\": 1, "
							  "\"n_max\": %d, \"chunks\": %d}",
							  parts.q, parts.alpha, parts.e, chunks, chunks);
	return true;
}

const AuditCase relabel_audit_cases[] = {
	{.pair = "any",
	 .not_compared = "the proof's bound is above what tables show; its parts follow",
	 .infinite = true},
	{DRAWN_CASE(complete, DRAWN_SAMPLE), .pair = DRAWN_SAMPLE_PAIR},
	{DRAWN_CASE(complete, DRAWN_FLIP), .pair = DRAWN_FLIP_PAIR},
	{DRAWN_CASE(complete, DRAWN_VOTE), .likely = 0.75, .least = AUDIT_MOST_MODELS},
	{DRAWN_CASE(complete, DRAWN_HYPOTHESIS), .pair = "draw: half of 40 units say b, or one more",
	 .what = "weights move by e^kappa, kappa = 1", .claim = {.test = TEST_RANGE, .epsilon = 2},
	 .likely = 0.8},
	{0},
};
