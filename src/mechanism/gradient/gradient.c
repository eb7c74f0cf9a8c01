/*
 * gradient.c
 *		The "gradient" mechanism: a released linear model, by noisy gradient
 *		descent (docs/mechanisms.md, section 9).
 *
 * The model is drawn when it is trained; each role pays for it once, at its
 * first question, and further answers are post-processing.  epsilon, with the
 * option delta, is what a grant must hold to pay for it.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "mechanism/audit.h"
#include "mechanism/gradient/gradient.h"
#include "mechanism/weights.h"
#include "server/json_text.h"

#define STATE_FORMAT 0x47524431 /* "GRD1" */

#define MAX_PARAMETERS (1 << 22)
#define MAX_STEPS 10000
#define FEATURES_SHARE 0.05 /* of rho, for mean and number */
#define CLIP_UNITS (1 << 23)

/* ---------- defaults ----------
 *
 * Chosen on public data sets by the noise alone: how long the noise of all
 * steps together is, on average, beside the longest gradient that a unit may
 * have, and over the number of units.
 */
enum
{
	DELTA,
	STEPS,
	RATE,
	MOMENTUM,
	CLIP,
	LOSS,
	HUBER
};

static const char *const losses[] = {"logistic", "huber", NULL};

static const Option options_of[] = {
	[DELTA] = {"delta", OPTION_NUMBER, DBL_MIN, 0.1, GRADIENT_DEFAULT_DELTA},
	[STEPS] = {"steps", OPTION_COUNT, 1, MAX_STEPS, 100},
	[RATE] = {"rate", OPTION_NUMBER, 1e-6, 1e6}, /* absent: gradient_rate() */
	[MOMENTUM] = {"momentum", OPTION_NUMBER, 0, 0.99, 0.8},
	[CLIP] = {"clip", OPTION_NUMBER, 0.01, 1000}, /* absent: by the features' size */
	[LOSS] = CHOICE_OPTION("loss", losses),
	[HUBER] = {"huber", OPTION_NUMBER, 0.001, 1, 0.1},
	{NULL},
};

double
gradient_rate(const GradientPlan *plan, double units)
{
	return plan->rate > 0 ? plan->rate : Min(Max(0.25 / sqrt(plan->noise / units), 0.5), 16);
}

/* ---------- what follows from the declared numbers ---------- */

static void
plan_loss(const MechanismSpec *spec, GradientPlan *plan)
{
	int	 loss = option_number(spec->options, &options_of[LOSS]);
	bool number = spec->nclasses == 0;

	if (option_given(spec->options, "loss") && (loss == 1) != number)
		refuse(errmsg("loss \"%s\" is for labels that are %s", losses[loss],
					  number ? "classes" : "numbers"),
			   errhint("Leave the option \"loss\" out."));
	if (option_given(spec->options, "huber") && !number)
		refuse(errmsg("option \"huber\" is for labels that are numbers"),
			   errhint("Leave it out, or declare a number by "
					   "options => '{\"target\": {\"min\": 0, \"max\": 100}}'."));
	plan->huber = option_number(spec->options, &options_of[HUBER]);
	plan->loss = number				   ? GRADIENT_HUBER
				 : spec->nclasses == 2 ? GRADIENT_LOGISTIC
									   : GRADIENT_SOFTMAX;
	plan->outputs = plan->loss == GRADIENT_SOFTMAX ? spec->nclasses : 1;
}

static void
plan_clip(const MechanismSpec *spec, GradientPlan *plan)
{
	/* A residual of one must not need more units than it may have. */
	const double largest = (double) GRADIENT_RESIDUAL_MAX * GRADIENT_FEATURE_ONE;

	plan->clip = option_number(spec->options, &options_of[CLIP]);
	plan->clip_units = plan->clip > 0 ? (int32) Min(plan->clip * largest, CLIP_UNITS) : CLIP_UNITS;
	plan->features_limit = (int64) (Max(sqrt(spec->width) / 2, 1) * GRADIENT_FEATURE_ONE);
}

pg_noreturn static void
too_little(double epsilon, double delta)
{
	refuse(
		errmsg("mechanism \"gradient\" cannot work with epsilon %g and delta %g", epsilon, delta),
		errdetail("The noise would be beyond what can be drawn."),
		errhint("Declare a larger epsilon, such as 1, or a larger delta, such as 1e-6."));
}

/* One unit changed moves the sums by 2 clip; features and count (sums.h) by sqrt(2) limits. */
static void
plan_noise(const MechanismSpec *spec, GradientPlan *plan)
{
	double epsilon = epsilon_real(spec->epsilon);
	double delta = option_number(spec->options, &options_of[DELTA]);
	int64  parameters = (int64) plan->outputs * (spec->width + 1);
	double rho = gradient_rho(epsilon, delta, MAX_STEPS);

	if (rho <= 0)
		too_little(epsilon, delta);
	plan->noise = sqrt((spec->width + 1) * 2 / rho);
	plan->steps = option_number(spec->options, &options_of[STEPS]);
	plan->rate = option_or(spec->options, &options_of[RATE], 0);
	plan->momentum = option_number(spec->options, &options_of[MOMENTUM]);

	rho = gradient_rho(epsilon, delta, plan->steps + 1);
	if (!gradient_noise(M_SQRT2 * plan->features_limit, spec->width + 1, rho * FEATURES_SHARE,
						&plan->features_noise) ||
		!gradient_noise(2.0 * plan->clip_units, parameters,
						rho * (1 - FEATURES_SHARE) / plan->steps, &plan->step_noise))
		too_little(epsilon, delta);
}

void
gradient_plan(const MechanismSpec *spec, GradientPlan *plan)
{
	plan_loss(spec, plan);
	if ((int64) plan->outputs * (spec->width + 1) > MAX_PARAMETERS)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("mechanism \"gradient\" can have %d weights at most", MAX_PARAMETERS),
			 errdetail("There would be %d for each of %d classes.", spec->width + 1, plan->outputs),
			 errhint("Declare fewer classes, columns or levels.")));
	plan_clip(spec, plan);
	plan_noise(spec, plan);
}

static void
notice_cuts(const MechanismSpec *spec, const GradientPlan *plan)
{
	bool   cuts = false;
	double noise = plan->noise / spec->declared_units * sqrt(plan->outputs);

	for (int i = 0; i < spec->width; i++)
		cuts = cuts || spec->columns[i].piece > 0;
	if (cuts && noise > NOISE_FOR_CUTS)
		ereport(
			NOTICE,
			(errmsg("a model without cuts would probably be better"),
			 errdetail("With these declared units, epsilon, classes and %d encoded features the "
					   "noise is %.2f; cuts help below %.2f.",
					   spec->width, noise, NOISE_FOR_CUTS),
			 errhint("Leave the cuts out, declare fewer, or declare a larger epsilon.")));
}

static void
gradient_validate(const MechanismSpec *spec)
{
	GradientPlan plan;

	gradient_plan(spec, &plan);
	notice_cuts(spec, &plan);
}

static ChargePart
charge_part(const GradientNoise *noise, int64 times)
{
	return (ChargePart){CHARGE_GAUSSIAN, times, 0, noise->sensitivity_squared, noise->variance};
}

static bool
gradient_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge)
{
	GradientPlan plan;

	if (order_is_infinite)
		return false; /* needs a delta to convert with */
	gradient_plan(spec, &plan);
	charge->part[0] = charge_part(&plan.step_noise, plan.steps);
	charge->part[1] = charge_part(&plan.features_noise, 1);
	return true;
}

/* ---------- the state ---------- */

typedef struct GradientModel
{
	int			  outputs;
	int			  width;
	const double *weights;
	double		  noise; /* of each of them, at most */
} GradientModel;

static int64
state_numbers(int outputs, int width)
{
	return (int64) outputs * (width + 1) + 1;
}

static bytea *
gradient_train_state(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	GradientPlan plan;
	double		*weights;

	gradient_plan(spec, &plan);
	weights = gradient_train(spec, &plan, units, memory);
	return weights_write(STATE_FORMAT, state_numbers(plan.outputs, spec->width), weights);
}

static void *
gradient_load(const MechanismSpec *spec, bytea *state)
{
	GradientModel *model = palloc_object(GradientModel);
	GradientPlan   plan;

	plan_loss(spec, &plan);
	model->outputs = plan.outputs;
	model->width = spec->width;
	model->weights = weights_read(STATE_FORMAT, state_numbers(plan.outputs, spec->width), state);
	model->noise = model->weights[state_numbers(plan.outputs, spec->width) - 1];
	return model;
}

/* ---------- answers ---------- */

static double
output(const GradientModel *model, int k, const double *x)
{
	const double *weights = &model->weights[(int64) k * (model->width + 1)];
	double		  sum = weights[model->width];

	for (int i = 0; i < model->width; i++)
		sum += weights[i] * x[i];
	return sum;
}

/* The class, and its margin: its output beside those of the others. */
static int
gradient_class(const MechanismModel *model, const double *x)
{
	const GradientModel *state = model->state;
	int					 best = 0;
	double				 largest;

	if (state->outputs == 1)
		return output(state, 0, x) > 0 ? 1 : 0;
	largest = output(state, 0, x);
	for (int k = 1; k < state->outputs; k++)
	{
		double value = output(state, k, x);

		if (value > largest)
		{
			best = k;
			largest = value;
		}
	}
	return best;
}

/* The probability of the answer: 1 / sum of e^(z - largest z). */
static double
answer_probability(const GradientModel *state, const double *x, int answer)
{
	double largest = output(state, answer, x);
	double sum = 0;

	for (int k = 0; k < state->outputs; k++)
		sum += exp(output(state, k, x) - largest);
	return 1 / sum;
}

/*
 * Of a number: the number.  Of two classes: the probability of the second; of
 * more: that of the answer.
 */
static double
gradient_plain_score(const MechanismModel *model, const double *x)
{
	const MechanismSpec *spec = model->spec;

	if (spec->nclasses == 0)
		return spec->label_min +
			   (spec->label_max - spec->label_min) * Min(Max(output(model->state, 0, x), 0), 1);
	if (spec->nclasses == 2)
		return 1 / (1 + exp(-output(model->state, 0, x)));
	return answer_probability(model->state, x, gradient_class(model, x));
}

/* Of encoded features, as a linear member of an ensemble is (learner/predictor_json.c). */
static char *
gradient_export(const MechanismModel *model)
{
	const GradientModel *state = model->state;
	const MechanismSpec *spec = model->spec;
	StringInfoData		 json;

	initStringInfo(&json);
	json_open(&json, NULL, '{');
	json_string(&json, "kind", "linear");
	json_string(&json, "loss",
				spec->nclasses == 0	 ? "huber"
				: state->outputs > 1 ? "softmax"
									 : "logistic");
	if (spec->nclasses == 0)
	{
		json_open(&json, "target", '{');
		json_number(&json, "min", spec->label_min);
		json_number(&json, "max", spec->label_max);
		json_close(&json, '}');
	}
	json_open(&json, "weights", '[');
	for (int k = 0; k < state->outputs; k++)
	{
		json_open(&json, NULL, '[');
		for (int i = 0; i <= state->width; i++)
			json_number(&json, NULL, state->weights[(int64) k * (state->width + 1) + i]);
		json_close(&json, ']');
	}
	json_close(&json, ']');
	json_number(&json, "noise", state->noise);
	json_close(&json, '}');
	return json.data;
}

const Mechanism gradient_mechanism = {
	.name = "gradient",
	.charge_kind = CHARGE_ONCE,
	.numeric_labels = true,
	.needs_units = true,
	.options = options_of,
	.validate = gradient_validate,
	.finite_shape = CHARGE_GAUSSIAN,
	.infinite_shape = CHARGE_GAUSSIAN,
	.charge = gradient_charge,
	.train = gradient_train_state,
	.load = gradient_load,
	.majority = gradient_class,
	.plain_score = gradient_plain_score,
	.export_json = gradient_export,
	.plan = &plan_gradient,
	.audit_cases = gradient_audit_cases,
};
