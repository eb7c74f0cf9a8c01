/*
 * audit.c
 *		Audit cases of "cover" and "label_private".
 *
 * Two candidates, always a and always b; one makes one error more than the
 * other, and with a unit turned one less: the odds move by exactly epsilon.  The
 * unit has three rows, which count as one.  The same once more with the first
 * and the last of three classes.
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

static char				*outer_names[] = {"always a", "always c"};
static uint64			 outer_columns[] = {0, 0, 2, 2};
static const FiniteClass outer = {2, 2, outer_names, outer_columns, .planes = 2};

static const AuditUnit third_says_c[] = {AUDIT_UNIT(1, 0, 0), AUDIT_UNIT(1, 1, 2),
										 AUDIT_UNIT(3, 1, 2)};
static const AuditUnit not_c[] = {AUDIT_UNIT(1, 0, 0), AUDIT_UNIT(1, 1, 2), AUDIT_UNIT(3, 1, 0)};

const AuditCase cover_audit_cases[] = {
	{.pair = "two units say a, b, and a third b or a",
	 .options = "{\"class_table\": \"made up\", \"accuracy\": 1}",
	 .finite_class = &constants,
	 .declared_units = 1000000000,
	 .table = {{3, third_says_b}, {3, third_says_a}},
	 .question = {1},
	 .class = 1,
	 .likely = 0.6},
	{.pair = "two units say a, c, and a third c or a",
	 .options = "{\"class_table\": \"made up\", \"accuracy\": 1}",
	 .finite_class = &outer,
	 .nclasses = 3,
	 .declared_units = 1000000000,
	 .table = {{3, third_says_c}, {3, not_c}},
	 .question = {1},
	 .class = 2,
	 .likely = 0.6},
	{0},
};
