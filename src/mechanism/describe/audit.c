/*
 * audit.c
 *		The audit case of descriptions, for models of relations that were described.
 */
#include "postgres.h"

#include "mechanism/audit.h"
#include "mechanism/describe/describe.h"
#include "mechanism/vote/vote.h"

/* More than anybody should pay, so that few draws tell. */
#define DESCRIBED_EPSILON 4
#define DESCRIBED_DELTA 0.01
#define DRAWS 8000 /* each of all cells of a histogram */

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	DescribeNoise noise;
	Charge		 *charge = palloc_object(Charge);

	if (!describe_noise(DESCRIBED_EPSILON, DESCRIBED_DELTA, 1, 0, &noise))
		elog(ERROR, "an audited description has no noise");
	*charge = describe_charge(&noise);
	audit->mechanism = &vote_mechanism;
	audit->charge = charge;
	audit->run_epsilon = DESCRIBED_EPSILON * EPSILON_UNITS_PER_ONE;
	audit->run_delta = DESCRIBED_DELTA;
	audit_votes(audit, true);
	return true;
}

/* Each unit has one value, as each teacher of the made-up table has one unit. */
const AuditCase describe_audit_cases[] = {
	{
		.complete = complete,
		.pair = "of three units in two cells one moves to the other cell",
		.votes = {"aab", "abb"},
		.question = {1},
		.event = EVENT_DESCRIBED,
		.events = {"the second cell looks fuller", "it does not"},
		.likely = 0.5,
		.least = DRAWS,
		.most = DRAWS,
	},
	{0},
};
