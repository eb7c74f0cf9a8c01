/*
 * audit.c
 *		Audit cases of "gradient".
 *
 * One unit and one step, whose gradient is clipped whatever its label is; it
 * points the same way, so the question at its own features sees it best.  The
 * labels turn its sign, so that a score of 1/2 lies in the middle.
 */
#include "postgres.h"

#include "mechanism/audit.h"
#include "mechanism/gradient/gradient.h"

static const AuditUnit one_row[] = {AUDIT_UNIT(1, 1, 1), AUDIT_UNIT(1, 1, 0)};
static const AuditUnit seven_rows[] = {AUDIT_UNIT(7, 1, 1), AUDIT_UNIT(7, 1, 0)};

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	audit->options = psprintf(
		"{\"delta\": %.17g, \"steps\": 1, \"clip\": 0.05}",
		option_number(model->spec->options, option_find(gradient_mechanism.options, "delta")));
	return true;
}

#define ONE_STEP(units) \
	.complete = complete, .declared_units = 1, .table = {{1, &units[0]}, {1, &units[1]}}, \
	.question = {1}, .event = EVENT_SCORE, .bound = 0.5, .likely = 0.6, \
	.events = {"above the middle", "below it"}

const AuditCase gradient_audit_cases[] = {
	{.pair = "the only unit, of 1 row, says b or a; one step", ONE_STEP(one_row)},
	{.pair = "the only unit, of 7 rows, says b or a; one step", ONE_STEP(seven_rows)},
	{0},
};
