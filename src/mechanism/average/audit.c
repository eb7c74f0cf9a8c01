/*
 * audit.c
 *		Audit cases of "average": so many teachers say b, or one more.
 */
#include "postgres.h"

#include "mechanism/audit.h"
#include "mechanism/average/draw.h"

#define MOST_TEACHERS 4000 /* of a made-up table */

enum
{
	LEAST_UNCLIPPED,
	MOST_UNCLIPPED,
	UNANIMOUS, /* but for one: an answer that is never given would tell */
	MANY	   /* teachers: rows that went astray would turn more than clipping hides */
};

static const char *
votes_for_b(int teachers, int b)
{
	char *votes = palloc0(teachers + 1);

	memset(votes, 'a', teachers);
	memset(votes, 'b', b);
	return votes;
}

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	int margin = (int) average_margin(model->spec->epsilon);
	int teachers = (audit->part == MANY ? 8 : 1) * (2 * margin + 2);
	int b[] = {[LEAST_UNCLIPPED] = margin,
			   [MOST_UNCLIPPED] = margin + 1,
			   [UNANIMOUS] = 0,
			   [MANY] = teachers / 2};
	int saying_b = b[audit->part];

	audit->likely = audit->part == UNANIMOUS ? 1.0 / teachers : 0.5;
	if (teachers > MOST_TEACHERS)
	{
		audit->pair = psprintf("%d teachers", teachers);
		audit->not_compared = "needs too many teachers";
		return audit->part == LEAST_UNCLIPPED;
	}
	audit->pair = psprintf("%d or %d of %d teachers say b", saying_b, saying_b + 1, teachers);
	audit->votes[0] = votes_for_b(teachers, saying_b);
	audit->votes[1] = votes_for_b(teachers, saying_b + 1);
	audit_votes(audit, true);
	return true;
}

#define CASE(share) \
	{ \
		.complete = complete, .part = share, .own_learner = true, .question = {1}, .class = 1, \
		.infinite = true \
	}

const AuditCase average_audit_cases[] = {
	CASE(LEAST_UNCLIPPED), CASE(MOST_UNCLIPPED), CASE(UNANIMOUS), CASE(MANY), {0},
};
