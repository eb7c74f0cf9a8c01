/*
 * stable.c
 *		The mechanisms "stable_flip" and "stable": a hypothesis that is drawn anew
 *		for every answer from those that a sample of the units suggests, with and
 *		without a flip of the answer (Dagan, Feldman 2020, section 3;
 *		docs/mechanisms.md, section 5).
 *
 * The flip makes a stable answer private: no answer's probability is below
 * alpha.  Without it an answer may be certain over one table and not over its
 * neighbour, so no epsilon bounds the loss: delta would be gamma, which is useful
 * against poisoned rows and useless as privacy.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/audit.h"
#include "mechanism/drawn.h"
#include "mechanism/solve.h"

/* Rows of a sample, as declared: more have too many labelings for one answer. */
#define INTERVAL_MAX_SAMPLE 2000.0

/* ---------- options ---------- */

static const char *const	 class_names[] = {"stump", "threshold", "interval", "halfspace", NULL};
static const HypothesisClass classes[] = {HYPOTHESES_STUMP, HYPOTHESES_STUMP, HYPOTHESES_INTERVAL,
										  HYPOTHESES_HALFSPACE};
static const int			 needed_width[] = {0, 1, 1, 2};

enum
{
	HYPOTHESES,
	BOUND, /* on flips, or on gamma */
	Q,
	E
};

#define SHARED_OPTIONS \
	[HYPOTHESES] = CHOICE_OPTION("hypotheses", class_names), \
	[Q] = {"q", OPTION_NUMBER, 1e-9, 0.999999, 0.5}, [E] = {"e", OPTION_NUMBER, 1e-9, 100, 1}

static const Option flip_options[] = {
	[BOUND] = {"alpha", OPTION_NUMBER, ALPHA_MIN, ALPHA_MAX, ALPHA_DEFAULT},
	SHARED_OPTIONS,
	{NULL},
};

static const Option stable_options[] = {
	[BOUND] = {"gamma", OPTION_NUMBER, 1e-6, 0.99, GAMMA_DEFAULT},
	SHARED_OPTIONS,
	{NULL},
};

static HypothesisClass
read_class(const MechanismSpec *spec)
{
	int choice = option_number(spec->options, &stable_options[HYPOTHESES]);

	if (needed_width[choice] != 0 && spec->width != needed_width[choice])
		refuse(errmsg("hypotheses \"%s\" need %d encoded %s, not %d", class_names[choice],
					  needed_width[choice], needed_width[choice] == 1 ? "feature" : "features",
					  spec->width),
			   errdetail("A number or a boolean is one feature, a category one for each level."),
			   errhint("Declare other features, or use hypotheses \"stump\"."));
	return classes[choice];
}

/* Where answers or memory grow with the square of the rows, units are capped. */
static int64
most_units(const MechanismSpec *spec, HypothesisClass class)
{
	return class == HYPOTHESES_STUMP ? 0 : spec->declared_units;
}

static void
read_given(const MechanismSpec *spec, StableParameters *parameters)
{
	parameters->q = share_from_double(option_number(spec->options, &stable_options[Q]));
	parameters->e = rint(option_number(spec->options, &stable_options[E]) * EPSILON_UNITS_PER_ONE);
}

StableParameters
stable_flip_parameters(const MechanismSpec *spec)
{
	StableParameters parameters;
	bool			 solved;

	read_given(spec, &parameters);
	parameters.alpha = share_from_double(option_number(spec->options, &flip_options[BOUND]));
	solved = stable_flip_solve(spec->epsilon, option_given(spec->options, "q"),
							   option_given(spec->options, "e"), &parameters);
	if (!solved)
		refuse(
			errmsg("the options would exceed the epsilon of the model"),
			errdetail(
				"With alpha = %.6g, q = %.6g, e = %.6g the proved epsilon is %.6g, more than %.6g.",
				share_to_double(parameters.alpha), share_to_double(parameters.q),
				epsilon_real(parameters.e), epsilon_real(stable_flip_epsilon(&parameters)),
				epsilon_real(spec->epsilon)),
			errhint(
				"Leave out q and e, or take those of privpred.solve_stable_flip(epsilon, alpha)."));
	return parameters;
}

StableParameters
stable_parameters(const MechanismSpec *spec)
{
	StableParameters parameters;
	StableParameters given;
	double			 gamma = option_number(spec->options, &stable_options[BOUND]);
	double			 proved;

	stable_solve(gamma, &parameters);
	read_given(spec, &given);
	if (option_given(spec->options, "q"))
		parameters.q = given.q;
	if (option_given(spec->options, "e"))
		parameters.e = given.e;
	proved = stable_gamma(&parameters);
	if (proved > gamma && option_given(spec->options, "gamma"))
		refuse(errmsg("the options would exceed gamma"),
			   errdetail("With q = %.6g and e = %.6g it is %.6g, more than %.6g.",
						 share_to_double(parameters.q), epsilon_real(parameters.e), proved, gamma),
			   errhint("Leave out q and e, or gamma."));
	parameters.alpha = 0;
	return parameters;
}

/* ---------- declared sizes ---------- */

static void
check_limits(const MechanismSpec *spec, HypothesisClass class, Share q)
{
	double rows = (double) spec->declared_units * spec->max_rows_per_unit;
	bool   halfspaces = class == HYPOTHESES_HALFSPACE;
	double most = halfspaces ? PLANE_MAX_ROWS : INTERVAL_MAX_SAMPLE / share_to_double(q);

	unit_table_validate(spec, most_units(spec, class));
	if (class == HYPOTHESES_STUMP)
		return;
	if (spec->declared_units == 0)
		refuse(errmsg("these hypotheses need a declared number of units"),
			   errdetail("The time of an answer grows with the square of the rows."),
			   errhint("Declare it by privpred.protect(..., declared_units => N); of more units, N "
					   "are used."));
	if (rows > most)
		refuse(
			errmsg("too many rows are declared for these hypotheses"),
			errdetail("%.0f units of at most %d rows are declared; %s may have %.0f rows%s.",
					  (double) spec->declared_units, spec->max_rows_per_unit,
					  halfspaces ? "halfspaces" : "intervals", floor(most),
					  halfspaces ? "" : " at this q"),
			errhint("Declare fewer units, so that fewer are used, or use hypotheses \"stump\"."));
}

static StableParameters
parameters_of(const MechanismSpec *spec)
{
	return spec->mechanism == &stable_mechanism ? stable_parameters(spec)
												: stable_flip_parameters(spec);
}

static void
stable_validate(const MechanismSpec *spec)
{
	check_limits(spec, read_class(spec), parameters_of(spec).q);
}

/* ---------- state ---------- */

static bytea *
stable_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	return unit_table_train(spec, units, memory, most_units(spec, read_class(spec)));
}

/* The draw from H_T: odds move by e^e if weights do by e^(+-e/2). */
static void *
stable_load(const MechanismSpec *spec, bytea *state)
{
	StableParameters parameters = parameters_of(spec);
	DrawnModel		*model = drawn_load(spec, state, read_class(spec), parameters.q, parameters.e);

	model->alpha = parameters.alpha;
	return model;
}

#define SHARED_FACTS \
	.charge_kind = CHARGE_PER_ANSWER, .two_classes = true, .needs_unit_rows = true, \
	.finds_cuts = true, .validate = stable_validate, .train = stable_train, .load = stable_load, \
	.answer = drawn_answer, .distribution = drawn_distribution, \
	.estimate_steps = drawn_estimate_steps, .majority = drawn_majority, \
	.audit_cases = stable_audit_cases

const Mechanism stable_flip_mechanism = {
	.name = "stable_flip",
	.options = flip_options,
	.plan = &plan_stable_flip,
	SHARED_FACTS,
};

const Mechanism stable_mechanism = {
	.name = "stable",
	.owner_only = true, /* nobody can pay for a delta as large as gamma */
	.options = stable_options,
	.plan = &plan_stable,
	SHARED_FACTS,
};
