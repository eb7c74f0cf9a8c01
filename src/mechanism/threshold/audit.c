/*
 * audit.c
 *		Audit cases of "threshold": where a walk ends.
 */
#include "postgres.h"

#include "mechanism/audit.h"
#include "mechanism/threshold/threshold.h"

static const AuditUnit says_b[] = {AUDIT_UNIT(1, 0.25, 1), AUDIT_UNIT(1, 0.5, 0)};
static const AuditUnit says_a[] = {AUDIT_UNIT(1, 0.25, 0), AUDIT_UNIT(1, 0.5, 0)};

#define MOST_CLASSES 3
#define MOST_COLUMNS 5

/* Columns that say the same move together, as far as one unit can move any. */
static bool
complete(const AuditedModel *model, AuditCase *audit)
{
	const MechanismSpec *spec = model->spec;
	double				 alpha = option_number(spec->options, threshold_mechanism.options);

	audit->nclasses = Min(spec->nclasses, MOST_CLASSES);
	audit->columns = Min(spec->width, MOST_COLUMNS);
	if (audit->nclasses > 2)
		audit->likely = 0.38;
	if (audit->columns > 1)
		audit->options =
			psprintf("{\"alpha\": %.17g, \"combine\": \"%s\"}", alpha, threshold_combine(spec));
	else
		audit->options = psprintf("{\"alpha\": %.17g}", alpha);
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
