/*
 * gradient.c
 *		The "gradient" mechanism: a released linear model, by noisy gradient
 *		descent (book, section 16).
 *
 * The model is drawn when it is trained; each role pays for it once, at its
 * first question, and further answers are post-processing.  epsilon, with the
 * option delta, is what a grant must hold to pay for it.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "learner/predictor_format.h"
#include "mechanism/audit.h"
#include "mechanism/gradient/gradient.h"
#include "server/number_text.h"

#define STATE_MAGIC "PPGR"
#define STATE_VERSION 1
#define STATE_HEADER_SIZE 20 /* magic, version, loss, outputs, width */

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
#define DEFAULT_DELTA GRADIENT_DEFAULT_DELTA
#define DEFAULT_HUBER 0.1
#define DEFAULT_MOMENTUM 0.8

static int64
default_steps(double noise)
{
	return 100;
}

static double
default_rate(double noise)
{
	return Min(Max(0.25 / sqrt(noise), 0.5), 16);
}

/* ---------- what follows from the declared numbers ---------- */

static void
require_size(const MechanismSpec *spec)
{
	if (spec->declared_units == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("mechanism \"gradient\" needs the declared size of the relation"),
			 errdetail("How many units there really are is secret, so it cannot be used."),
			 errhint(
				 "Declare about how many there are, as in privpred.protect(..., declared_units => 10000).")));
}

static void
plan_loss(const MechanismSpec *spec, GradientPlan *plan)
{
	static const char *const losses[] = {"logistic", "huber", NULL};
	int						 loss = option_choice(spec, "loss", losses);
	bool					 number = spec->nclasses == 0;

	if (option_given(spec, "loss") && (loss == 1) != number)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("loss \"%s\" is for labels that are %s", losses[loss],
							   number ? "classes" : "numbers"),
						errhint("Leave the option \"loss\" out.")));
	if (option_given(spec, "huber") && !number)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("option \"huber\" is for labels that are numbers"),
			 errhint(
				 "Leave it out, or declare a number by options => '{\"target\": {\"min\": 0, \"max\": 100}}'.")));
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
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("mechanism \"gradient\" cannot work with epsilon %g and delta %g", epsilon, delta),
		 errdetail("The noise would be beyond what can be drawn."),
		 errhint("Declare a larger epsilon, such as 1, or a larger delta, such as 1e-6.")));
}

/* One unit changed moves the sums by 2 clip; non-negative features by sqrt(2). */
static void
plan_noise(const MechanismSpec *spec, GradientPlan *plan)
{
	double epsilon = (double) spec->epsilon / EPSILON_UNITS_PER_ONE;
	double delta = option_number(spec, "delta", DEFAULT_DELTA, DBL_MIN, 0.1);
	int64  parameters = (int64) plan->outputs * (spec->width + 1);
	double rho = gradient_rho(epsilon, delta, MAX_STEPS);
	double noise;

	if (rho <= 0)
		too_little(epsilon, delta);
	noise = sqrt((spec->width + 1) * 2 / rho) / spec->declared_units;
	plan->steps = option_integer(spec, "steps", default_steps(noise), 1, MAX_STEPS);
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
	require_size(spec);
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

static ChargeShape
gradient_shape(bool order_is_infinite)
{
	return CHARGE_GAUSSIAN;
}

static void
charge_part(const GradientNoise *noise, int64 times, ChargePart *part)
{
	part->shape = CHARGE_GAUSSIAN;
	part->times = times;
	part->numerator = noise->sensitivity_squared;
	part->denominator = noise->variance;
}

static bool
gradient_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge)
{
	GradientPlan plan;

	if (order_is_infinite)
		return false; /* needs a delta to convert with */
	gradient_plan(spec, &plan);
	charge_part(&plan.step_noise, plan.steps, &charge->part[0]);
	charge_part(&plan.features_noise, 1, &charge->part[1]);
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
	GradientPlan   plan;
	double		  *weights;
	int64		   parameters;
	Size		   size;
	bytea		  *state;
	unsigned char *bytes;

	gradient_plan(spec, &plan);
	weights = gradient_train(spec, &plan, units, memory);
	parameters = (int64) plan.outputs * (spec->width + 1);
	size = VARHDRSZ + STATE_HEADER_SIZE + parameters * sizeof(double);
	state = palloc(size);
	SET_VARSIZE(state, size);
	bytes = (unsigned char *) VARDATA(state);
	memcpy(bytes, STATE_MAGIC, 4);
	write_u32(bytes + 4, STATE_VERSION);
	write_u32(bytes + 8, plan.loss);
	write_u32(bytes + 12, plan.outputs);
	write_u32(bytes + 16, spec->width);
	for (int64 i = 0; i < parameters; i++)
		write_double(bytes + STATE_HEADER_SIZE + i * sizeof(double), weights[i]);
	return state;
}

static void
check_state(bool good)
{
	if (!good)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("the stored model of mechanism \"gradient\" is damaged"),
						errhint("Use privpred.retrain.")));
}

static void *
gradient_load(const MechanismSpec *spec, bytea *state)
{
	GradientModel		*model = palloc0_object(GradientModel);
	const unsigned char *bytes = (const unsigned char *) VARDATA_ANY(state);
	Size				 size = VARSIZE_ANY_EXHDR(state);
	GradientPlan		 plan;
	int64				 parameters;
	double				*weights;

	plan_loss(spec, &plan);
	parameters = (int64) plan.outputs * (spec->width + 1);
	check_state(size == STATE_HEADER_SIZE + parameters * sizeof(double) &&
				memcmp(bytes, STATE_MAGIC, 4) == 0 && read_u32(bytes + 4) == STATE_VERSION &&
				read_u32(bytes + 8) == plan.loss && read_u32(bytes + 12) == plan.outputs &&
				read_u32(bytes + 16) == spec->width);
	weights = palloc_array(double, parameters);
	for (int64 i = 0; i < parameters; i++)
	{
		weights[i] = read_double(bytes + STATE_HEADER_SIZE + i * sizeof(double));
		check_state(isfinite(weights[i]));
	}
	model->outputs = plan.outputs;
	model->width = spec->width;
	model->weights = weights;
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

static int
gradient_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	return gradient_class(model, x);
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

static bool
gradient_score(const Receipt *receipt, const MechanismModel *model, const double *x,
			   double precision, double *score)
{
	*score = gradient_plain_score(model, x);
	return true;
}

/* The randomness is in the model, not in its answers. */
static void
gradient_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
					  double *probability)
{
	memset(probability, 0, model->spec->nclasses * sizeof(double));
	probability[gradient_class(model, x)] = 1;
}

static void
append_number(StringInfo json, double number)
{
	char text[NUMBER_TEXT_SIZE];

	appendStringInfoString(json, number_text(number, text));
}

/*
 * Features are encoded, numbers scaled to [0, 1] and one for each level, in
 * the order of the array form.
 */
static char *
gradient_export(const MechanismModel *model)
{
	static const char *const losses[] = {"logistic", "softmax", "huber"};
	const GradientModel		*state = model->state;
	const MechanismSpec		*spec = model->spec;
	StringInfoData			 json;

	initStringInfo(&json);
	appendStringInfo(&json, "{\"model\": \"%s\", ",
					 losses[spec->nclasses == 0 ? 2 : state->outputs > 1]);
	if (spec->nclasses == 0)
	{
		appendStringInfoString(&json, "\"target\": {\"min\": ");
		append_number(&json, spec->label_min);
		appendStringInfoString(&json, ", \"max\": ");
		append_number(&json, spec->label_max);
		appendStringInfoString(&json, "}, ");
	}
	else
	{
		appendStringInfoString(&json, "\"classes\": [");
		for (int i = 0; i < spec->nclasses; i++)
		{
			appendStringInfoString(&json, i > 0 ? ", " : "");
			escape_json(&json, spec->classes[i]);
		}
		appendStringInfoString(&json, "], ");
	}
	appendStringInfoString(&json, "\"outputs\": [");
	for (int k = 0; k < state->outputs; k++)
	{
		const double *weights = &state->weights[(int64) k * (state->width + 1)];

		appendStringInfo(&json, "%s{\"intercept\": ", k > 0 ? ", " : "");
		append_number(&json, weights[state->width]);
		appendStringInfoString(&json, ", \"weights\": [");
		for (int i = 0; i < state->width; i++)
		{
			appendStringInfoString(&json, i > 0 ? ", " : "");
			append_number(&json, weights[i]);
		}
		appendStringInfoString(&json, "]}");
	}
	appendStringInfoString(&json, "]}");
	return json.data;
}

extern const MechanismPlan plan_gradient;		   /* plan.c */
extern const AuditCase	   gradient_audit_cases[]; /* audit.c */

const Mechanism gradient_mechanism = {
	.name = "gradient",
	.charge_kind = CHARGE_ONCE,
	.numeric_labels = true,
	.option_keys = "delta, steps, rate, momentum, clip, loss, huber",
	.validate = gradient_validate,
	.shape = gradient_shape,
	.charge = gradient_charge,
	.train = gradient_train_state,
	.load = gradient_load,
	.answer = gradient_answer,
	.score = gradient_score,
	.distribution = gradient_distribution,
	.majority = gradient_class,
	.plain_score = gradient_plain_score,
	.export_json = gradient_export,
	.plan = &plan_gradient,
	.audit_cases = gradient_audit_cases,
};
