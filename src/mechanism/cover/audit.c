/*
 * audit.c
 *		Audit case of "cover" and "label_private".
 *
 * Two candidates, always a and always b; one makes one error more than the
 * other, and with a unit turned one less: the odds move by exactly epsilon.  The
 * unit has three rows, which count as one.
 */
#include "postgres.h"

#include "mechanism/audit.h"

static char				*names[] = {"always a", "always b"};
static uint64			 columns[] = {2, 2};
static const FiniteClass constants = {2, 2, names, columns};

static const AuditUnit third_says_b[] = {AUDIT_UNIT(1, 0, 0), AUDIT_UNIT(1, 1, 1),
										 AUDIT_UNIT(3, 1, 1)};
static const AuditUnit third_says_a[] = {AUDIT_UNIT(1, 0, 0), AUDIT_UNIT(1, 1, 1),
										 AUDIT_UNIT(3, 1, 0)};

const AuditCase cover_audit_cases[] = {
	{.pair = "two units say a, b, and a third b or a",
	 .options = "{\"class_table\": \"made up\", \"accuracy\": 1}",
	 .finite_class = &constants,
	 .declared_units = 1000000000,
	 .table = {{3, third_says_b}, {3, third_says_a}},
	 .question = {1},
	 .class = 1,
	 .likely = 0.6},
	{0},
};
