/*
 * average.c
 *		The "average" mechanism: a random teacher's opinion; of numbers, their mean.
 *
 * An answer follows the teachers' shares, so that over many questions the
 * frequencies come out right where a vote would always take the larger side.
 */
#include "postgres.h"

#include "draw/record.h"
#include "mechanism/audit.h"
#include "mechanism/average/draw.h"
#include "mechanism/stable_erm/erm.h"
#include "mechanism/teachers.h"

/* Two classes are clipped at both ends; numbers have noise, which any number of teachers may. */
static int64
fewest_teachers(const MechanismSpec *spec)
{
	if (spec->nclasses == 0)
		return 1;
	return (spec->nclasses == 2 ? 2 : 1) * average_margin(spec->epsilon);
}

static bool
average_answers_at(const MechanismSpec *spec)
{
	return spec->teachers >= fewest_teachers(spec) &&
		   (spec->nclasses > 0 || spec->epsilon >= ERM_MIN_EPSILON);
}

static void
average_validate(const MechanismSpec *spec)
{
	if (spec->nclasses == 0 && !average_answers_at(spec))
		refuse(errmsg("mechanism \"average\" needs an epsilon of at least %g for numbers",
					  epsilon_real(ERM_MIN_EPSILON)),
			   errhint("Declare a larger epsilon."));
	if (!average_answers_at(spec))
		refuse(errmsg("mechanism \"average\" needs at least " INT64_FORMAT
					  " teachers at this epsilon",
					  fewest_teachers(spec)),
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
	const MechanismSpec *spec = model->spec;
	int32				 votes[PRIVPRED_MAX_CLASSES];

	if (spec->nclasses == 2)
	{
		int32 yes = count_yes(model, x);

		RECORD_INPUT("average", INPUT_LARGEST, 1, 1, &yes);
		return average_draw(spec->epsilon, yes, spec->teachers) ? 1 : 0;
	}
	teachers_votes(model, x, votes);
	RECORD_INPUT("average", INPUT_SUM, 2, spec->nclasses, votes);
	return average_class(spec->epsilon, spec->nclasses, votes, spec->teachers);
}

static void
average_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
					 double *probability)
{
	const MechanismSpec *spec = model->spec;
	int32				 votes[PRIVPRED_MAX_CLASSES];

	if (spec->nclasses > 2)
	{
		teachers_votes(model, x, votes);
		average_classes(spec->epsilon, spec->nclasses, votes, spec->teachers, probability);
		return;
	}
	probability[1] = average_probability(spec->epsilon, count_yes(model, x), spec->teachers);
	probability[0] = 1 - probability[1];
}

/* ---------- numbers ---------- */

/* What the noise is added to. */
static int64
sum_at(const MechanismModel *model, const double *x)
{
	double *numbers = teachers_numbers(model, x);
	int64	sum = average_sum(model->spec->teachers, numbers);

	pfree(numbers);
	return sum;
}

static bool
average_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge)
{
	/* A class is drawn by a rule that is pure, whoever pays. */
	erm_noise_charge(order_is_infinite || spec->nclasses > 0, spec->epsilon, &charge->part[0]);
	return true;
}

static bool
average_score(const Receipt *receipt, const MechanismModel *model, const double *x,
			  double precision, double *score)
{
	const MechanismSpec *spec = model->spec;
	int64				 sum = sum_at(model, x);

	RECORD_INPUT("average_number", INPUT_LARGEST, AVERAGE_STEPS, 1, &sum);
	*score = label_of_share(spec, average_number(receipt_order_is_infinite(receipt), spec->epsilon,
												 sum, spec->teachers));
	return true;
}

static double
average_plain_score(const MechanismModel *model, const double *x)
{
	return label_of_share(model->spec, average_share(sum_at(model, x), model->spec->teachers));
}

static double
average_squared_error(bool order_is_infinite, const MechanismModel *model, const double *x,
					  double truth)
{
	const MechanismSpec *spec = model->spec;
	double				 range = spec->label_max - spec->label_min;

	return range * range *
		   average_number_error(order_is_infinite, spec->epsilon, sum_at(model, x), spec->teachers,
								(truth - spec->label_min) / range);
}

const Mechanism average_mechanism = {
	.name = "average",
	.charge_kind = CHARGE_PER_ANSWER,
	.asks_teachers = true,
	.numeric_labels = true,
	.scores_numbers = true,
	.validate = average_validate,
	.charge = average_charge,
	.answer = average_answer,
	.score = average_score,
	.distribution = average_distribution,
	.majority = teachers_majority,
	.plain_score = average_plain_score,
	.squared_error = average_squared_error,
	.answers_at = average_answers_at,
	.plan = &plan_average,
	.audit_cases = average_audit_cases,
};
