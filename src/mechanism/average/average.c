/*
 * average.c
 *		The "average" mechanism: a random teacher's opinion, for two classes.
 *
 * An answer follows the teachers' shares, so that over many questions the
 * frequencies come out right where a vote would always take the larger side.
 */
#include "postgres.h"

#include "draw/record.h"
#include "mechanism/audit.h"
#include "mechanism/average/draw.h"
#include "mechanism/teachers.h"

static bool
average_answers_at(const MechanismSpec *spec)
{
	return spec->teachers >= 2 * average_margin(spec->epsilon);
}

static void
average_validate(const MechanismSpec *spec)
{
	int64 margin = average_margin(spec->epsilon);

	if (!average_answers_at(spec))
		refuse(errmsg("mechanism \"average\" needs at least " INT64_FORMAT
					  " teachers at this epsilon",
					  2 * margin),
			   errdetail("There are %d.", spec->teachers),
			   errhint("Declare more teachers or a larger epsilon, or use mechanism \"vote\"."));
}

/* The second class is yes. */
static int32
count_yes(const MechanismModel *model, const double *x)
{
	int32 votes[2];

	teachers_votes(model, x, votes);
	return votes[1];
}

static int
average_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	int32 yes = count_yes(model, x);

	RECORD_INPUT("average", INPUT_LARGEST, 1, 1, &yes);
	return average_draw(model->spec->epsilon, yes, model->spec->teachers) ? 1 : 0;
}

static void
average_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
					 double *probability)
{
	probability[1] =
		average_probability(model->spec->epsilon, count_yes(model, x), model->spec->teachers);
	probability[0] = 1 - probability[1];
}

const Mechanism average_mechanism = {
	.name = "average",
	.charge_kind = CHARGE_PER_ANSWER,
	.asks_teachers = true,
	.two_classes = true,
	.validate = average_validate,
	.answer = average_answer,
	.distribution = average_distribution,
	.majority = teachers_majority,
	.answers_at = average_answers_at,
	.plan = &plan_average,
	.audit_cases = average_audit_cases,
};
