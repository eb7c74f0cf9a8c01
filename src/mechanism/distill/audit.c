/*
 * audit.c
 *		Audit cases of students.
 *
 * A student's charge says what its labels cost: a teacher of that price labels
 * some public rows, and a student learns them.  If the labels came through a
 * stream, that is audited.
 */
#include "postgres.h"

#include "mechanism/audit.h"

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	Charge *label = palloc0_object(Charge);

	label->part[0] = model->finite.part[audit->part];
	if (model->finite.delta > 0 || label->part[0].times == 0)
		return false;
	/* Of Gaussian noise one event shows less, so that it takes more labels. */
	audit->gaussian = label->part[0].shape == CHARGE_GAUSSIAN;
	if (audit->questions > 2 && !audit->gaussian)
		return false;
	label->part[0].times = 1;
	audit->charge = label;
	audit->infinite = label->part[0].shape == CHARGE_PURE;
	audit->epsilon = audit->gaussian ? 0 : label->part[0].epsilon;
	audit_votes(audit, false);
	/* Half of the public rows lie near 0, the others near 1. */
	for (int i = 0; i < audit->questions; i++)
		audit->question[i] = (i < audit->questions / 2 ? 0 : 0.9) + 0.01 * i;
	audit->pair = psprintf("%d public rows are labelled by teachers aab or abb", audit->questions);
	return true;
}

static bool
came_through_stream(const AuditedModel *model, AuditCase *audit)
{
	audit->run_epsilon = model->finite.part[0].epsilon;
	return model->finite.delta > 0;
}

#define STUDENT(number, labels) \
	{ \
		.complete = complete, .part = number, .mechanism = &vote_mechanism, \
		.votes = {"aab", "abb"}, .questions = labels, .event = EVENT_STUDENT, .likely = 0.4, \
		.events = {"the student says b, then a", "the student says a, then b", \
				   "the student says the same of all"}, \
	}

StaticAssertDecl(CHARGE_PARTS == 2, "every part of a charge needs its cases");

const AuditCase distill_audit_cases[] = {
	{.complete = came_through_stream, .cases_of = &sparse_mechanism},
	STUDENT(0, 2),
	STUDENT(0, AUDIT_MAX_QUESTIONS),
	STUDENT(1, 2),
	STUDENT(1, AUDIT_MAX_QUESTIONS),
	{0},
};
