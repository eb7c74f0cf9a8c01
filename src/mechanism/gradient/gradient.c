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
#define FEATURES_SHARE 0.05 /* of rho, for the mean of the features */
#define CLIP_UNITS (1 << 23)

/* ---------- defaults ----------
 *
 * Chosen on public data sets by the noise alone, so from declared numbers.
 * noise is how long the noise of all steps together is, on average, beside
 * the longest gradient that a unit may have.
 */
#define DEFAULT_STEPS 100
#define DEFAULT_HUBER 0.1
#define DEFAULT_MOMENTUM 0.8

static double
default_rate(double noise)
{
	return Min(Max(0.25 / sqrt(noise), 0.5), 16);
}

/* ---------- what follows from the declared numbers ---------- */

static void
plan_loss(const MechanismSpec *spec, GradientPlan *plan)
{
	static const char *const losses[] = {"logistic", "huber", NULL};
	int						 loss = option_choice(spec, "loss", losses);
	bool					 number = spec->nclasses == 0;

	if (option_given(spec, "loss") && (loss == 1) != number)
		refuse_spec(errmsg("loss \"%s\" is for labels that are %s", losses[loss],
						   number ? "classes" : "numbers"),
					errhint("Leave the option \"loss\" out."));
	if (option_given(spec, "huber") && !number)
		refuse_spec(errmsg("option \"huber\" is for labels that are numbers"),
					errhint("Leave it out, or declare a number by "
							"options => '{\"target\": {\"min\": 0, \"max\": 100}}'."));
	plan->huber = option_number(spec, "huber", DEFAULT_HUBER, 0.001, 1);
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

	plan->clip = option_number(spec, "clip", 0, 0.01, 1000);
	plan->clip_units = plan->clip > 0 ? (int32) Min(plan->clip * largest, CLIP_UNITS) : CLIP_UNITS;
	plan->features_limit = (int64) (Max(sqrt(spec->width) / 2, 1) * GRADIENT_FEATURE_ONE);
}

pg_noreturn static void
too_little(double epsilon, double delta)
{
	refuse_spec(
		errmsg("mechanism \"gradient\" cannot work with epsilon %g and delta %g", epsilon, delta),
		errdetail("The noise would be beyond what can be drawn."),
		errhint("Declare a larger epsilon, such as 1, or a larger delta, such as 1e-6."));
}

/* One unit changed moves the sums by 2 clip; non-negative features by sqrt(2). */
static void
plan_noise(const MechanismSpec *spec, GradientPlan *plan)
{
	double epsilon = epsilon_real(spec->epsilon);
	double delta = option_number(spec, "delta", GRADIENT_DEFAULT_DELTA, DBL_MIN, 0.1);
	int64  parameters = (int64) plan->outputs * (spec->width + 1);
	double rho = gradient_rho(epsilon, delta, MAX_STEPS);
	double noise;

	if (rho <= 0)
		too_little(epsilon, delta);
	noise = sqrt((spec->width + 1) * 2 / rho) / spec->declared_units;
	plan->steps = option_integer(spec, "steps", DEFAULT_STEPS, 1, MAX_STEPS);
	plan->rate = option_number(spec, "rate", default_rate(noise), 1e-6, 1e6);
	plan->momentum = option_number(spec, "momentum", DEFAULT_MOMENTUM, 0, 0.99);

	rho = gradient_rho(epsilon, delta, plan->steps + 1);
	if (!gradient_noise(M_SQRT2 * plan->features_limit, spec->width, rho * FEATURES_SHARE,
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
gradient_validate(const MechanismSpec *spec)
{
	GradientPlan plan;

	gradient_plan(spec, &plan);
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
} GradientModel;

static bytea *
gradient_train_state(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	GradientPlan plan;
	double		*weights;

	gradient_plan(spec, &plan);
	weights = gradient_train(spec, &plan, units, memory);
	return weights_write(STATE_FORMAT, (int64) plan.outputs * (spec->width + 1), weights);
}

static void *
gradient_load(const MechanismSpec *spec, bytea *state)
{
	GradientModel *model = palloc_object(GradientModel);
	GradientPlan   plan;

	plan_loss(spec, &plan);
	model->outputs = plan.outputs;
	model->width = spec->width;
	model->weights = weights_read(STATE_FORMAT, (int64) plan.outputs * (spec->width + 1), state);
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

/*
 * Features are encoded, numbers scaled to [0, 1] and one for each level, in
 * the order of the array form.
 */
static char *
gradient_export(const MechanismModel *model)
{
	const GradientModel *state = model->state;
	const MechanismSpec *spec = model->spec;
	StringInfoData		 json;

	initStringInfo(&json);
	json_open(&json, NULL, '{');
	json_string(&json, "model",
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
	else
	{
		json_open(&json, "classes", '[');
		for (int i = 0; i < spec->nclasses; i++)
			json_string(&json, NULL, spec->classes[i]);
		json_close(&json, ']');
	}
	json_open(&json, "outputs", '[');
	for (int k = 0; k < state->outputs; k++)
	{
		const double *weights = &state->weights[(int64) k * (state->width + 1)];

		json_open(&json, NULL, '{');
		json_number(&json, "intercept", weights[state->width]);
		json_open(&json, "weights", '[');
		for (int i = 0; i < state->width; i++)
			json_number(&json, NULL, weights[i]);
		json_close(&json, ']');
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	return json.data;
}

const Mechanism gradient_mechanism = {
	.name = "gradient",
	.charge_kind = CHARGE_ONCE,
	.numeric_labels = true,
	.needs_units = true,
	.option_keys = "delta, steps, rate, momentum, clip, loss, huber",
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
