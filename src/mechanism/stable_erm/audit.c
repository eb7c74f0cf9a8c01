/*
 * audit.c
 *		Audit cases of "stable_erm".
 *
 * Huber's loss, one unit at a corner, with its label turned: the score moves by
 * all that is charged for, from 1/2 to -1/2.  R^2 = 5/4, slopes up to 1/4.  In one pass
 * the score is L R^2/(lambda n0 + R^2) = 1/6.  With classes a turned label moves two
 * scores by half of what is charged for at most: slopes of either label add up to 1.
 */
#include "postgres.h"

#include "mechanism/audit.h"
#include "mechanism/stable_erm/stable_erm.h"

static const AuditUnit says_more = AUDIT_UNIT(2, 1, 1);
static const AuditUnit says_less = AUDIT_UNIT(2, 1, -1);
static const AuditUnit is_first = AUDIT_UNIT(2, 1, 0);
static const AuditUnit is_second = AUDIT_UNIT(2, 1, 1);

/* The case is for models of the same form. */
static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	return (model->spec->nclasses > 2) == (audit->nclasses > 2) &&
		   stable_erm_wants_order(model->spec) == (strstr(audit->options, "sgd") != NULL);
}

#define TURNED(more_options) \
	.complete = complete, .numeric = true, \
	.options = "{\"huber\": 0.25, \"lambda\": 0.0625" more_options "}", .declared_units = 10, \
	.table = {{1, &says_more}, {1, &says_less}}, .question = {1}, .event = EVENT_SCORE

#define OTHER_CLASS(more_options) \
	.complete = complete, .nclasses = 3, .options = "{\"lambda\": 0.25" more_options "}", \
	.declared_units = 10, .table = {{1, &is_first}, {1, &is_second}}, .question = {1}, \
	.event = EVENT_ANSWER, .likely = 0.45

#define ONE_PASS ", \"solver\": \"sgd\""

const AuditCase stable_erm_audit_cases[] = {
	{.pair = "the only unit's label is 1 or -1; pure account",
	 .infinite = true,
	 .bound = 0.5,
	 .events = {"above the first table's score", "below it"},
	 .likely = 0.5,
	 TURNED("")},
	{.pair = "the only unit's label is 1 or -1; approximate account",
	 .bound = 0,
	 .events = {"above the middle", "below it"},
	 .likely = 0.6,
	 TURNED("")},
	{.pair = "the only unit's label is 1 or -1; one pass, pure account",
	 .infinite = true,
	 .bound = 1.0 / 6,
	 .events = {"above the first table's score", "below it"},
	 .likely = 0.5,
	 TURNED(ONE_PASS)},
	{.pair = "the only unit's label is 1 or -1; one pass, approximate account",
	 .bound = 0,
	 .events = {"above the middle", "below it"},
	 .likely = 0.6,
	 TURNED(ONE_PASS)},
	{.pair = "the only unit is of class a or b; pure account", .infinite = true, OTHER_CLASS("")},
	{.pair = "the only unit is of class a or b; approximate account", OTHER_CLASS("")},
	{.pair = "the only unit is of class a or b; one pass, pure account",
	 .infinite = true,
	 OTHER_CLASS(ONE_PASS)},
	{.pair = "the only unit is of class a or b; one pass, approximate account",
	 OTHER_CLASS(ONE_PASS)},
	{0},
};
