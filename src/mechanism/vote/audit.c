/*
 * audit.c
 *		Audit cases of "vote", and tables of votes for other mechanisms.
 *
 * One unit for each teacher, whose rows say what the teacher answers: so the
 * votes are known, and one unit changed moves one of them.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/audit.h"
#include "mechanism/vote/vote.h"

#define ENOUGH_ROWS 4 /* of a kind, for learners that want a few in a leaf */
#define MORE_ROWS 200 /* to turn every teacher that got a share of them */

void
audit_votes(AuditCase *audit, bool enough)
{
	audit->places = strlen(audit->votes[0]);
	for (int t = 0; t < 2; t++)
	{
		AuditUnit *units = palloc_array(AuditUnit, audit->places);

		for (int i = 0; i < audit->places; i++)
		{
			char vote = audit->votes[t][i];
			int	 rows = vote < audit->votes[1 - t][i] ? MORE_ROWS : ENOUGH_ROWS;

			units[i] = (AuditUnit){enough ? rows : 1, 2, {{1, vote - 'a'}, {0, vote == 'a'}}};
		}
		audit->table[t] = (AuditTable){audit->places, units};
	}
}

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	double epsilon = (double) model->spec->epsilon / EPSILON_UNITS_PER_ONE;

	if (audit->nclasses > model->spec->nclasses)
		return false;
	audit_votes(audit, true);
	audit->gaussian = !audit->infinite && vote_noise_is_gaussian(model->spec);
	if (audit->likely == 0)
		audit->likely = 1 / (1 + exp(epsilon));
	audit->pair = psprintf("teachers say %s or %s%s, %s account", audit->votes[0], audit->votes[1],
						   audit->nclasses > 2 ? " of three classes" : "",
						   audit->infinite ? "pure" : "approximate");
	return true;
}

#define TEACHERS_SAY(first, second) \
	.complete = complete, .own_learner = true, .votes = {first, second}, .question = {1}

/* An even number of teachers: ties; an odd one has a rule of its own, for two classes. */
const AuditCase vote_audit_cases[] = {
	{TEACHERS_SAY("aabb", "abbb"), .infinite = true, .likely = 0.5},
	{TEACHERS_SAY("aaaaaaaabbbbbbbb", "aaaaaaabbbbbbbbb"), .infinite = true, .likely = 0.5},
	{TEACHERS_SAY("abb", "bbb"), .infinite = true},
	{TEACHERS_SAY("aab", "abb"), .likely = 0.5},
	{TEACHERS_SAY("aabb", "abbb"), .nclasses = 3, .infinite = true, .likely = 0.45},
	{TEACHERS_SAY("aabb", "abbb"), .nclasses = 3, .likely = 0.45},
	{0},
};
