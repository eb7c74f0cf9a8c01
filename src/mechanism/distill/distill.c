/*
 * distill.c
 *		The "distill" mechanism: a student of private labels
 *		(docs/mechanisms.md, section 8).
 *
 * Public rows were labelled by another model, and that was the privacy loss;
 * the student learnt from them and is post-processing.  So it answers without
 * noise, to whoever has paid for the labels once.  request/distill.c makes it.
 */
#include "postgres.h"

#include "mechanism/audit.h"
#include "mechanism/teachers.h"

static void
distill_validate(const MechanismSpec *spec)
{
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("a student is made by privpred.distill"),
			errhint("Use SELECT privpred.distill(student, teacher, public_relation, learner); "
					"to train it anew, drop it first."));
}

/* Of students of numbers. */
static double
distill_plain_score(const MechanismModel *model, const double *x)
{
	double *number = teachers_numbers(model, x);
	double	label = label_of_share(model->spec, *number);

	pfree(number);
	return label;
}

const Mechanism distill_mechanism = {
	.name = "distill",
	.charge_kind = CHARGE_ONCE,
	.asks_teachers = true,
	.makes_students = true,
	.validate = distill_validate,
	.scores_numbers = true,
	.majority = teachers_majority,
	.plain_score = distill_plain_score,
	.plan = &plan_distill,
	.audit_cases = distill_audit_cases,
};
