/*
 * relabel/plan.c
 *		What is expected of a vote of relabelled units.
 */
#include "postgres.h"

#include "mechanism/plan.h"
#include "mechanism/solve.h"

static RelabelParameters
relabel_parameters(const PlanQuestion *question, double units)
{
	return (RelabelParameters){
		.n_max = (int64) Min(Max(units, 1), RELABEL_N_MAX),
		.rows_per_unit = question->rows_per_unit,
		.features = question->features,
		.alpha = share_from_double(ALPHA_DEFAULT),
	};
}

static double
relabel_units_needed(const PlanQuestion *question, const PlanResult *result)
{
	RelabelParameters parameters = relabel_parameters(question, 1);

	return (double) relabel_n_needed(result->per_answer, &parameters);
}

/* Flips, and a net whose gaps hold alpha of the units. */
static double
relabel_accuracy(const PlanQuestion *question, double units, PlanResult *result)
{
	RelabelParameters parameters = relabel_parameters(question, units);
	double			  inner;

	if (!relabel_solve(result->per_answer, false, false, false, &parameters))
	{
		result->why = "privacy itself needs more units";
		result->epsilon = 0;
		return 0.5;
	}
	inner = plan_stump_accuracy(question) - ALPHA_DEFAULT -
			plan_choice_loss(2 * question->features * share_to_double(parameters.q) * units,
							 2 * plan_epsilon(parameters.kappa), units);
	return ALPHA_DEFAULT + (1 - 2 * ALPHA_DEFAULT) * Max(inner, 0.5);
}

const MechanismPlan plan_relabel = {
	.grounds =
		"theorem: Dagan and Feldman, Theorem 2, with the solver's constants; rows needed are "
		"those for privacy, accuracy takes ten times as many",
	.wants_units = true,
	.one_rule = true,
	.price = plan_price_answers,
	.accuracy = relabel_accuracy,
	.units_needed = relabel_units_needed,
};
