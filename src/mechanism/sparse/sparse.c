/*
 * sparse.c
 *		The "sparse" mechanism: the teachers' exact majority where one unit
 *		cannot change it, and nothing where it could.
 *
 * A stream is bought for a number of unstable answers; stable ones are free,
 * however many they are (docs/mechanisms.md, section 6).
 */
#include "postgres.h"

#include "draw/record.h"
#include "mechanism/audit.h"
#include "mechanism/sparse/draw.h"
#include "mechanism/sparse/sparse.h"
#include "mechanism/teachers.h"

static const char *const substitutes[] = {"null", "vote", NULL};
static const Option		 options_of[] = {CHOICE_OPTION("on_unstable", substitutes), {NULL}};

bool
stream_falls_back(const MechanismSpec *spec)
{
	return option_number(spec->options, options_of) == 1;
}

/* One unstable answer of a stream as wide as the model declares. */
bool
stream_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge)
{
	charge->part[0] = (ChargePart){CHARGE_PURE, .times = 1, .epsilon = spec->epsilon};
	charge->delta = STREAM_TYPICAL_DELTA;
	return true;
}

static int
sparse_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	int32 votes[PRIVPRED_MAX_CLASSES];
	int64 distance;
	int	  top;

	teachers_votes(model, x, votes);
	distance = sparse_distance(model->spec->nclasses, votes, &top);
	RECORD_INPUT("sparse", INPUT_STABLE, 1, 2, ((int64[]){distance, top}));
	return receipt_stable(receipt, distance) ? top : -1;
}

static bool
sparse_answers_at(const MechanismSpec *spec)
{
	return true;
}

/* Shares the probability of an unstable answer among the classes, as a vote would. */
static void
add_fallback(bool order_is_infinite, const MechanismModel *model, const double *x, double unstable,
			 double *probability)
{
	double vote[PRIVPRED_MAX_CLASSES];

	vote_mechanism.distribution(order_is_infinite, model, x, vote);
	for (int i = 0; i < model->spec->nclasses; i++)
		probability[i] += unstable * vote[i];
}

/* The distribution of the first answer of a typical stream. */
static void
sparse_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
					double *probability)
{
	int32 votes[PRIVPRED_MAX_CLASSES];
	int64 distance;
	int	  top;

	teachers_votes(model, x, votes);
	distance = sparse_distance(model->spec->nclasses, votes, &top);
	memset(probability, 0, sizeof(double) * model->spec->nclasses);
	probability[top] = sparse_stable_probability(
		model->spec->epsilon, sparse_width(model->spec->epsilon, STREAM_TYPICAL_DELTA), distance);
	if (stream_falls_back(model->spec))
		add_fallback(order_is_infinite, model, x, 1 - probability[top], probability);
}

const Mechanism sparse_mechanism = {
	.name = "sparse",
	.charge_kind = CHARGE_PER_STREAM,
	.tests = 1,
	.asks_teachers = true,
	.options = options_of,
	.charge = stream_charge,
	.answer = sparse_answer,
	.distribution = sparse_distribution,
	.majority = teachers_majority,
	.answers_at = sparse_answers_at,
	.plan = &plan_sparse,
	.audit_cases = sparse_audit_cases,
};
