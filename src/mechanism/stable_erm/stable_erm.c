/*
 * stable_erm.c
 *		The "stable_erm" mechanism: noise on the score of a regularised fit
 *		(docs/mechanisms.md, section 11).
 *
 * One unit moves the score by a declared amount at most (erm.h), so noise on
 * the score makes an answer private: one draw, whatever the dimension.  Every
 * constant comes from the declaration.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/audit.h"
#include "mechanism/stable_erm/erm.h"
#include "mechanism/stable_erm/rows.h"
#include "mechanism/weights.h"
#include "server/number_text.h"

#define STATE_FORMAT 0x45524d31 /* "ERM1" */

#define MAX_UNITS INT64CONST(1000000000000)

/*
 * The default lambda makes the largest scale of the noise this much: of the
 * margin, found on Adult; of half the range of a number.
 */
#define MARGIN_NOISE 0.2
#define NUMBER_NOISE 0.03

#define DEFAULT_HUBER 0.25

typedef struct StableErm
{
	ErmProblem problem;
	double	   grid; /* in units of the score */
	double	  *w;	 /* once trained */
	float	  *x;	 /* scratch, for one question */
} StableErm;

/* ---------- the declaration ---------- */

static const char *const losses_of_classes[] = {"logistic", NULL};
static const char *const losses_of_numbers[] = {"huber", "squared", NULL};

enum
{
	LOSS,
	LAMBDA,
	HUBER,
	RADIUS,
	NORM,
	GRID,
	TOLERANCE
};

static const Option options_of[] = {
	[LOSS] = {"loss", OPTION_CHOICE},				 /* by the kind of the label */
	[LAMBDA] = {"lambda", OPTION_NUMBER, 1e-9, 1e3}, /* default_lambda() */
	[HUBER] = {"huber", OPTION_NUMBER},				 /* in units of the label */
	[RADIUS] = {"radius", OPTION_NUMBER, 1e-3, 1e3, 1},
	[NORM] = {"norm", OPTION_NUMBER, 1e-3, 1e3},	 /* that of the encoded features */
	[GRID] = {"grid", OPTION_NUMBER, 1e-300, 1e300}, /* erm_default_grid() */
	[TOLERANCE] = {"tolerance", OPTION_NUMBER, 1e-6, 1, 0.01},
	{NULL},
};

static ErmLoss
declared_loss(const MechanismSpec *spec)
{
	Option loss = options_of[LOSS];
	bool   squared;

	loss.choices = spec->nclasses > 0 ? losses_of_classes : losses_of_numbers;
	squared = option_number(spec->options, &loss) == 1;
	return spec->nclasses > 0 ? ERM_LOGISTIC : squared ? ERM_SQUARED : ERM_HUBER;
}

/* Huber's loss becomes linear at this share of half the label's range. */
static double
declared_huber(const MechanismSpec *spec, double scale)
{
	Option huber = options_of[HUBER];

	huber.min = 1e-4 * scale;
	huber.max = 10 * scale;
	return option_or(spec->options, &huber, DEFAULT_HUBER * scale) / scale;
}

static double
default_lambda(const ErmProblem *problem, const MechanismSpec *spec)
{
	double epsilon = epsilon_real(spec->epsilon);
	double noise = problem->loss == ERM_LOGISTIC ? MARGIN_NOISE : NUMBER_NOISE;
	double lipschitz = 1;

	if (problem->loss == ERM_HUBER)
		lipschitz = problem->lipschitz;
	else if (problem->loss == ERM_SQUARED)
		lipschitz = problem->norm * problem->radius + 1;
	return 2 * lipschitz * problem->norm * problem->norm / (problem->units * epsilon * noise);
}

/* Reads all options, and refuses values that are wrong by themselves. */
static void
describe(const MechanismSpec *spec, StableErm *erm)
{
	ErmProblem *problem = &erm->problem;
	double		natural = erm_natural_norm(spec->width);
	double		scale = erm_label_scale(spec);

	memset(erm, 0, sizeof(StableErm));
	problem->loss = declared_loss(spec);
	problem->dimension = spec->width + 1;
	problem->norm = Min(option_or(spec->options, &options_of[NORM], natural), natural);
	problem->units = spec->declared_units;
	if (problem->loss == ERM_HUBER)
		problem->lipschitz = declared_huber(spec, scale);
	if (problem->loss == ERM_SQUARED)
		problem->radius = option_number(spec->options, &options_of[RADIUS]);
	problem->lambda = option_or(spec->options, &options_of[LAMBDA], default_lambda(problem, spec));
	erm_complete(problem, option_number(spec->options, &options_of[TOLERANCE]));
	erm->grid = erm_default_grid(erm_sensitivity(problem, problem->norm));
	erm->grid = option_or(spec->options, &options_of[GRID], erm->grid * scale) / scale;
}

static void
check_loss_option(const MechanismSpec *spec, const char *key, bool applies, const char *loss)
{
	if (option_given(spec->options, key) && !applies)
		refuse(errmsg("option \"%s\" is for loss \"%s\"", key, loss),
			   errhint("Leave it out, or use that loss, which is for labels that are numbers."));
}

static void
check_sizes(const MechanismSpec *spec)
{
	if (spec->declared_units > MAX_UNITS)
		refuse(errmsg("mechanism \"stable_erm\" needs declared_units of at most " INT64_FORMAT,
					  MAX_UNITS),
			   errhint("Protect the relation again, with about as many as there are."));
	if (spec->epsilon < ERM_MIN_EPSILON)
		refuse(errmsg("mechanism \"stable_erm\" needs an epsilon of at least %g",
					  epsilon_real(ERM_MIN_EPSILON)),
			   errhint("Declare a larger epsilon."));
}

static void
stable_erm_validate(const MechanismSpec *spec)
{
	StableErm erm;
	double	  sensitivity;

	check_sizes(spec);
	describe(spec, &erm);
	check_loss_option(spec, "huber", erm.problem.loss == ERM_HUBER, "huber");
	check_loss_option(spec, "radius", erm.problem.loss == ERM_SQUARED, "squared");
	if (erm.problem.loss == ERM_SQUARED && erm.problem.dimension > ERM_MAX_DENSE)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("loss \"squared\" takes at most %d encoded features, not %d",
					   ERM_MAX_DENSE - 1, spec->width),
				errhint("Use loss \"huber\"."));
	sensitivity = erm_sensitivity(&erm.problem, erm.problem.norm);
	if (!(erm.grid >= sensitivity / (ERM_MAX_SHIFT - 1)))
		refuse(errmsg("option \"grid\" must be at least %g",
					  sensitivity / (ERM_MAX_SHIFT - 1) * erm_label_scale(spec) * 1.001),
			   errdetail("One unit may move a score by %g.", sensitivity * erm_label_scale(spec)),
			   errhint("Leave it out for a grid that is fine enough."));
}

/* ---------- the price ---------- */

static bool
stable_erm_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge)
{
	erm_noise_charge(order_is_infinite, spec->epsilon, &charge->part[0]);
	return true;
}

/* ---------- training ---------- */

static bytea *
stable_erm_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	StableErm erm;
	bool	  dense;
	Size	  workspace;

	describe(spec, &erm);
	dense = erm.problem.dimension <= ERM_MAX_DENSE &&
			(erm.problem.loss == ERM_SQUARED || erm_workspace(&erm.problem, true) <= memory / 2);
	workspace = erm_workspace(&erm.problem, dense);
	check_training_memory(workspace, memory);
	erm.w = palloc_array(double, erm.problem.dimension);
	(void) erm_solve(&erm.problem, erm_rows_open(&erm.problem, spec, units, memory - workspace),
					 dense, palloc(workspace), erm.w);
	return weights_write(STATE_FORMAT, erm.problem.dimension, erm.w);
}

static void *
stable_erm_load(const MechanismSpec *spec, bytea *state)
{
	StableErm *erm = palloc_object(StableErm);
	int		   dimension = spec->width + 1;

	describe(spec, erm);
	erm->x = palloc_array(float, dimension);
	erm->w = weights_read(STATE_FORMAT, dimension, state);
	if (sqrt(erm_dot(erm->w, erm->w, dimension)) > erm->problem.radius)
		state_damaged();
	return erm;
}

/* ---------- answers ---------- */

/* The score at x, and how many steps of the grid one unit can move it. */
static double
score_at(const MechanismModel *model, const double *x, int64 *shift)
{
	StableErm *erm = model->state;
	double	   norm = erm_features(&erm->problem, x, erm->x);

	*shift = erm_shift(erm_sensitivity(&erm->problem, norm), erm->grid);
	return erm_score(&erm->problem, erm->w, erm->x);
}

static int64
draw_steps(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	int64  shift;
	double score = score_at(model, x, &shift);

	return erm_draw(receipt_order_is_infinite(receipt), model->spec->epsilon, score,
					((StableErm *) model->state)->grid, shift);
}

static int
class_of(const MechanismSpec *spec, double score)
{
	return score > 0 ? 1 : score < 0 ? 0 : spec->default_class;
}

static int
stable_erm_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	return class_of(model->spec, (double) draw_steps(receipt, model, x));
}

static bool
stable_erm_score(const Receipt *receipt, const MechanismModel *model, const double *x,
				 double precision, double *score)
{
	double noisy = draw_steps(receipt, model, x) * ((StableErm *) model->state)->grid;

	*score = model->spec->nclasses > 0 ? 1 / (1 + exp(-noisy)) : erm_number(model->spec, noisy);
	return true;
}

/* ---------- for the owner ---------- */

static void
stable_erm_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
						double *probability)
{
	int64  shift;
	double score = score_at(model, x, &shift);

	erm_draw_signs(order_is_infinite, model->spec->epsilon, score,
				   ((StableErm *) model->state)->grid, shift, &probability[1], &probability[0]);
	probability[model->spec->default_class] += Max(0, 1 - probability[0] - probability[1]);
}

static int
stable_erm_majority(const MechanismModel *model, const double *x)
{
	int64 shift;

	return class_of(model->spec, score_at(model, x, &shift));
}

static bool
stable_erm_answers_at(const MechanismSpec *spec)
{
	return spec->epsilon >= ERM_MIN_EPSILON;
}

/* By default lambda follows epsilon; the fit has the one that it has. */
static char *
stable_erm_answers_at_if(const MechanismModel *model)
{
	char lambda[NUMBER_TEXT_SIZE];

	if (option_given(model->spec->options, "lambda"))
		return NULL;
	return psprintf("with option \"lambda\": %s, as this model has it",
					number_text(((StableErm *) model->state)->problem.lambda, lambda));
}

static double
stable_erm_squared_error(bool order_is_infinite, const MechanismModel *model, const double *x,
						 double truth)
{
	double scale = erm_label_scale(model->spec);
	double label = erm_label(model->spec, truth);
	int64  shift;
	double score = score_at(model, x, &shift);
	double mean;
	double square;

	erm_draw_moments(order_is_infinite, model->spec->epsilon, score,
					 ((StableErm *) model->state)->grid, shift, -1, 1, &mean, &square);
	return scale * scale * (square - 2 * label * mean + label * label);
}

static double
stable_erm_plain_score(const MechanismModel *model, const double *x)
{
	int64 shift;

	return erm_number(model->spec, score_at(model, x, &shift));
}

const Mechanism stable_erm_mechanism = {
	.name = "stable_erm",
	.charge_kind = CHARGE_PER_ANSWER,
	.numeric_labels = true,
	.two_classes = true,
	.needs_units = true,
	.options = options_of,
	.validate = stable_erm_validate,
	.finite_shape = CHARGE_BOUNDED_RANGE, /* what the Gaussian noise is set to cost */
	.charge = stable_erm_charge,
	.train = stable_erm_train,
	.load = stable_erm_load,
	.answer = stable_erm_answer,
	.score = stable_erm_score,
	.distribution = stable_erm_distribution,
	.majority = stable_erm_majority,
	.plain_score = stable_erm_plain_score,
	.squared_error = stable_erm_squared_error,
	.answers_at = stable_erm_answers_at,
	.answers_at_if = stable_erm_answers_at_if,
	.plan = &plan_stable_erm,
	.audit_cases = stable_erm_audit_cases,
};
