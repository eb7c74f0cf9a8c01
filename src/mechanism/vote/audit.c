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

#define ROWS_OF_A_KIND 4 /* enough for learners that want a few in a leaf */
#define MORE_ROWS 200	 /* enough to turn every teacher that got a share of them */

void
audit_votes(AuditCase *audit, const char *const votes[2], bool enough)
{
	audit->places = strlen(votes[0]);
	audit->question[0] = 1;
	for (int t = 0; t < 2; t++)
	{
		AuditUnit *units = palloc0_array(AuditUnit, audit->places);

		for (int i = 0; i < audit->places; i++)
		{
			int class = votes[t][i] - 'a';

			units[i].times = !enough						 ? 1
							 : votes[t][i] < votes[1 - t][i] ? MORE_ROWS
															 : ROWS_OF_A_KIND;
			units[i].nrows = 2;
			units[i].row[0].x = 1;
			units[i].row[0].label = class;
			units[i].row[1].label = class == 0 ? 1 : 0;
		}
		audit->table[t].nunits = audit->places;
		audit->table[t].units = units;
	}
}

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	/* An even number of teachers: ties; an odd one has a rule of its own, for two classes. */
	static const char *const votes[][2] = {
		{"aabb", "abbb"},
		{"aaaaaaaabbbbbbbb", "aaaaaaabbbbbbbbb"},
		{"abb", "bbb"},
		{"aab", "abb"},
	};
	double epsilon = (double) model->spec->epsilon / EPSILON_UNITS_PER_ONE;

	if (audit->nclasses > model->spec->nclasses)
		return false;
	audit_votes(audit, votes[audit->part], true);
	audit->own_learner = true;
	audit->gaussian = !audit->infinite && vote_noise_is_gaussian(model->spec);
	if (audit->likely == 0)
		audit->likely = 1 / (1 + exp(epsilon));
	audit->pair = psprintf("teachers say %s or %s%s, %s account", votes[audit->part][0],
						   votes[audit->part][1], audit->nclasses > 2 ? " of three classes" : "",
						   audit->infinite ? "pure" : "approximate");
	return true;
}

const AuditCase vote_audit_cases[] = {
	{.complete = complete, .part = 0, .infinite = true, .likely = 0.5},
	{.complete = complete, .part = 1, .infinite = true, .likely = 0.5},
	{.complete = complete, .part = 2, .infinite = true},
	{.complete = complete, .part = 3, .likely = 0.5},
	{.complete = complete, .part = 0, .nclasses = 3, .infinite = true, .likely = 0.45},
	{.complete = complete, .part = 0, .nclasses = 3, .likely = 0.45},
	{0},
};
