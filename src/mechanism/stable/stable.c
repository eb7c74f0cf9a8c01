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

/* ---------- options ---------- */

static const char *const class_names[] = {DRAWN_CLASSES, "rectangle", NULL};

enum
{
	HYPOTHESES,
	BOUND, /* on flips, or on gamma */
	Q,
	E,
	CLASS_TABLE
};

#define SHARED_OPTIONS \
	[HYPOTHESES] = CHOICE_OPTION("hypotheses", class_names), \
	[Q] = {"q", OPTION_NUMBER, 1e-9, 0.999999, 0.5}, [E] = {"e", OPTION_NUMBER, 1e-9, 100, 1}, \
	[CLASS_TABLE] = {"class_table", OPTION_NAME}

static const Option flip_options[] = {
	[BOUND] = {"alpha", OPTION_NUMBER, ALPHA_MIN, ALPHA_MAX, ALPHA_DEFAULT},
	SHARED_OPTIONS,
	{NULL},
};

static const Option stable_options[] = {
	[BOUND] = {"gamma", OPTION_NUMBER, 1e-6, 0.99, 0.1},
	SHARED_OPTIONS,
	{NULL},
};

static HypothesisClass
read_class(const MechanismSpec *spec)
{
	return drawn_class(spec, &stable_options[HYPOTHESES], SPACE_MAX_WIDTH);
}

/* Of the declared rows, the share that the sample may be. */
static Share
most_share(const MechanismSpec *spec)
{
	double rows = (double) spec->declared_units * spec->max_rows_per_unit;
	double share = drawn_most_sample(spec, read_class(spec), spec->declared_units) / Max(rows, 1);

	return share < 1 ? share_from_double(share) : PG_UINT32_MAX;
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
	bool			 q_given = option_given(spec->options, "q");
	bool			 e_given = option_given(spec->options, "e");
	bool			 solved;

	read_given(spec, &parameters);
	parameters.alpha = share_from_double(option_number(spec->options, &flip_options[BOUND]));
	solved = stable_flip_solve(spec->epsilon, q_given, e_given, &parameters);
	if (solved && !q_given && parameters.q > most_share(spec))
	{
		/* A smaller sample than privacy would allow for, and a sharper draw from it. */
		parameters.q = most_share(spec);
		solved = stable_flip_solve(spec->epsilon, true, e_given, &parameters);
	}
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
	parameters.q = option_given(spec->options, "q") ? given.q : Min(parameters.q, most_share(spec));
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

static StableParameters
parameters_of(const MechanismSpec *spec)
{
	return spec->mechanism == &stable_mechanism ? stable_parameters(spec)
												: stable_flip_parameters(spec);
}

static void
stable_validate(const MechanismSpec *spec)
{
	HypothesisClass class = read_class(spec);

	finite_state_validate(spec, drawn_most_units(spec, class));
	drawn_check_sample(spec, class, spec->declared_units, parameters_of(spec).q);
}

/* ---------- state ---------- */

static bytea *
stable_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	return finite_state_train(spec, units, memory, drawn_most_units(spec, read_class(spec)));
}

/* The draw from H_T: odds move by e^e if weights do by e^(+-e/2). */
static void *
stable_load(const MechanismSpec *spec, bytea *state)
{
	StableParameters parameters = parameters_of(spec);
	DrawnModel		*model = drawn_load(spec, state);

	model->alpha = parameters.alpha;
	model->source.class = read_class(spec);
	model->source.most_points =
		(int) Min(drawn_most_sample(spec, model->source.class, spec->declared_units), PG_INT32_MAX);
	drawn_prepare(spec, model, parameters.q, parameters.e);
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
