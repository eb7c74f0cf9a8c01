/*
 * audit.c
 *		Audit cases of "average": a share of the teachers, or one teacher more.
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
	MANY	   /* rows that went astray would turn more of them than clipping hides */
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
	int b = audit->part == LEAST_UNCLIPPED	? margin
			: audit->part == MOST_UNCLIPPED ? teachers - margin - 1
			: audit->part == UNANIMOUS		? 0
											: teachers / 2;

	audit->class = 1;
	audit->infinite = true;
	audit->own_learner = true;
	audit->likely = audit->part == UNANIMOUS ? 1.0 / teachers : 0.5;
	if (teachers > MOST_TEACHERS)
	{
		audit->pair = psprintf("%d teachers", teachers);
		audit->not_compared = "needs too many teachers";
		return audit->part == LEAST_UNCLIPPED;
	}
	audit->pair = psprintf("%d or %d of %d teachers say b", b, b + 1, teachers);
	audit_votes(audit,
				(const char *const[2]){votes_for_b(teachers, b), votes_for_b(teachers, b + 1)},
				true);
	return true;
}

const AuditCase average_audit_cases[] = {
	{.complete = complete, .part = LEAST_UNCLIPPED},
	{.complete = complete, .part = MOST_UNCLIPPED},
	{.complete = complete, .part = UNANIMOUS},
	{.complete = complete, .part = MANY},
	{0},
};
