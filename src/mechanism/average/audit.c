/*
 * audit.c
 *		Audit cases of "average": so many teachers say b, or one more; of two classes, and of
 *		three, where one has fewer votes than it is weighed by.
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

/* Of three classes. */
enum
{
	FEW_VOTES,
	NO_VOTES
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

	if (model->spec->nclasses == 0)
		return false;
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

/* One of those who say a says b in place of it, and no other class has few votes. */
static const char *
votes_of_three(int a, int b, int c)
{
	char *votes = palloc0(a + b + c + 1);

	memset(votes, 'a', a);
	memset(votes + a, 'b', b);
	memset(votes + a + b, 'c', c);
	return votes;
}

static bool
complete_three(const AuditedModel *model, AuditCase *audit)
{
	int64 margin = average_margin(model->spec->epsilon);
	int	  votes = (int) margin;
	int	  before = audit->part == NO_VOTES ? 0 : votes - 1;

	if (model->spec->nclasses < 3 || 3 * margin + 2 > MOST_TEACHERS ||
		(audit->part == FEW_VOTES && before == 0))
		return false;
	audit->likely = (before + 1.0) / (2 * votes + before + 2);
	audit->pair = psprintf("%d or %d of %d teachers say b, of three classes", before, before + 1,
						   2 * votes + before + 2);
	audit->votes[0] = votes_of_three(votes + 2, before, votes);
	audit->votes[1] = votes_of_three(votes + 1, before + 1, votes);
	audit_votes(audit, true);
	return true;
}

/* Of one teacher, whose number is that of its unit: from one end of the range to the other. */
static const AuditUnit says_more = AUDIT_UNIT(2, 1, 1);
static const AuditUnit says_less = AUDIT_UNIT(2, 1, -1);

static bool
complete_number(const AuditedModel *model, AuditCase *audit)
{
	return model->spec->nclasses == 0;
}

#define NUMBER \
	.complete = complete_number, .numeric = true, .table = {{1, &says_more}, {1, &says_less}}, \
	.places = 1, .question = {1}, .event = EVENT_SCORE

#define CASE(share) \
	{ \
		.complete = complete, .part = share, .own_learner = true, .question = {1}, .class = 1, \
		.infinite = true \
	}

#define CASE_OF_THREE(which) \
	{ \
		.complete = complete_three, .part = which, .nclasses = 3, .own_learner = true, \
		.question = {1}, .class = 1, .infinite = true \
	}

const AuditCase average_audit_cases[] = {
	CASE(LEAST_UNCLIPPED),
	CASE(MOST_UNCLIPPED),
	CASE(UNANIMOUS),
	CASE(MANY),
	CASE_OF_THREE(FEW_VOTES),
	CASE_OF_THREE(NO_VOTES),
	{.pair = "the only teacher's number is 1 or -1; pure account",
	 .infinite = true,
	 .bound = 1,
	 .events = {"1", "less"},
	 .likely = 0.5,
	 NUMBER},
	{.pair = "the only teacher's number is 1 or -1; approximate account",
	 .bound = 0,
	 .events = {"above the middle", "below it"},
	 .likely = 0.6,
	 NUMBER},
	{0},
};
