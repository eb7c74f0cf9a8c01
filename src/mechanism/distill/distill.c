/*
 * distill.c
 *		The "distill" mechanism: a student of private labels (book, section 14;
 *		paper 003, algorithm 5).
 *
 * Public rows were labelled by another model, and that was the privacy loss;
 * the student learnt from them and is post-processing.  So it answers without
 * noise, to whoever has paid for the labels once.  request/distill.c makes it.
 */
#include "postgres.h"

#include "mechanism/audit.h"
#include "mechanism/mechanism.h"

static void
distill_validate(const MechanismSpec *spec)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("a student is made by privpred.distill"),
		 errhint(
			 "Use SELECT privpred.distill(student, teacher, public_relation, learner); to train it anew, drop it first.")));
}

/* The labels, whose draws are those that the teacher's mechanism makes. */
static ChargeShape
distill_shape(bool order_is_infinite)
{
	return CHARGE_PURE;
}

static int
distill_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	return teachers_majority(model, x);
}

static void
distill_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
					 double *probability)
{
	memset(probability, 0, model->spec->nclasses * sizeof(double));
	probability[teachers_majority(model, x)] = 1;
}

extern const MechanismPlan plan_distill;		  /* plan.c */
extern const AuditCase	   distill_audit_cases[]; /* audit.c */

const Mechanism distill_mechanism = {
	.name = "distill",
	.charge_kind = CHARGE_ONCE,
	.asks_teachers = true,
	.validate = distill_validate,
	.shape = distill_shape,
	.answer = distill_answer,
	.distribution = distill_distribution,
	.majority = teachers_majority,
	.plan = &plan_distill,
	.audit_cases = distill_audit_cases,
};
