/*
 * audit.c
 *		Audit cases of "threshold": where a walk ends.
 */
#include "postgres.h"

#include "mechanism/audit.h"

static const AuditUnit says_b[] = {AUDIT_UNIT(1, 0.25, 1), AUDIT_UNIT(1, 0.5, 0)};
static const AuditUnit says_a[] = {AUDIT_UNIT(1, 0.25, 0), AUDIT_UNIT(1, 0.5, 0)};

static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	audit->options = psprintf("{\"alpha\": %.17g}",
							  option_number(model->spec->options, threshold_mechanism.options));
	return true;
}

#define UNITS(number) \
	.complete = complete, .table = {{number, says_b}, {number, says_a}}, .cut_rows = true, \
	.question = {0.75}, .class = 1, .likely = 0.5

/* The walk ends at 0 or at -epsilon; for odds at epsilon/2 or -epsilon/2. */
const AuditCase threshold_audit_cases[] = {
	{.pair = "a unit below x says b or a, another says a; pure account",
	 .infinite = true,
	 UNITS(2)},
	{.pair = "the only unit below x says b or a; approximate account", UNITS(1)},
	{0},
};
