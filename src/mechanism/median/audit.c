/*
 * audit.c
 *		Audit cases of "median": teachers on either side of it, and one who changes sides.
 */
#include "postgres.h"

#include "mechanism/audit.h"

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	if (audit->nclasses > model->spec->nclasses)
		return false;
	audit_votes(audit, true);
	audit->pair = psprintf("teachers say %s or %s%s, %s account", audit->votes[0], audit->votes[1],
						   audit->nclasses > 2 ? " of three classes" : "",
						   audit->infinite ? "pure" : "approximate");
	return true;
}

#define TEACHERS_SAY(first, second) \
	.complete = complete, .own_learner = true, .votes = {first, second}, .question = {1}

const AuditCase median_audit_cases[] = {
	{TEACHERS_SAY("aabb", "abbb"), .infinite = true, .likely = 0.5},
	{TEACHERS_SAY("aab", "abb"), .likely = 0.5},
	{TEACHERS_SAY("aab", "abb"), .nclasses = 3, .infinite = true, .likely = 0.5},
	{TEACHERS_SAY("aab", "abb"), .nclasses = 3, .likely = 0.4},
	{TEACHERS_SAY("aabb", "abbb"), .nclasses = 3, .infinite = true, .likely = 0.4},
	{0},
};
