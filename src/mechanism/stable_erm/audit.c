/*
 * audit.c
 *		Audit cases of "stable_erm".
 *
 * Huber's loss, one unit at a corner, with its label turned: the score moves by
 * all that is charged for, from 1/2 to -1/2.  R^2 = 5/4, slopes up to 1/4.
 */
#include "postgres.h"

#include "mechanism/audit.h"

static const AuditUnit says_more = AUDIT_UNIT(2, 1, 1);
static const AuditUnit says_less = AUDIT_UNIT(2, 1, -1);

#define TURNED \
	.numeric = true, .options = "{\"huber\": 0.25, \"lambda\": 0.0625}", .declared_units = 10, \
	.table = {{1, &says_more}, {1, &says_less}}, .question = {1}, .event = EVENT_SCORE

const AuditCase stable_erm_audit_cases[] = {
	{.pair = "the only unit's label is 1 or -1; pure account",
	 .infinite = true,
	 .bound = 0.5,
	 .events = {"above the first table's score", "below it"},
	 .likely = 0.5,
	 TURNED},
	{.pair = "the only unit's label is 1 or -1; approximate account",
	 .bound = 0,
	 .events = {"above the middle", "below it"},
	 .likely = 0.6,
	 TURNED},
	{0},
};
