/*
 * train.c
 *		Noisy gradient descent on all rows (docs/mechanisms.md, section 9).
 *
 * First the number of units and the mean of the features are released, with a
 * small part of the budget.  The mean is subtracted: centred features are
 * shorter, so that less noise is needed, and a step is of use in all
 * directions, not only along the mean.  Then come the steps, each a noisy sum of
 * clipped gradients.  All that follows from those sums is post-processing.
 *
 * Rows are kept in memory if they fit, else the server adds up for every step, wherever
 * they lie (passes.c).  The sums are the same.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "draw/record.h"
#include "mechanism/gradient/gradient.h"
#include "mechanism/gradient/rows.h"
#include "mechanism/gradient/spread.h"
#include "server/progress.h"

#define DRAWS_PER_CHECK 256

/* How long a gradient is, of centred features of the usual length, when it is clipped. */
#define CLIPPED_RESIDUAL 0.33

/* By how much a step that was halved grows again. */
#define REGROWTH 1.1

/* Parameters whose steps are of one size. */
typedef struct Stride
{
	double step;
	double longest; /* what it may grow to again */
	double product; /* of the last two slopes */
	double square;	/* of the longer one */
	bool   crossed; /* the last step led across the valley */
} Stride;

typedef struct Trainer
{
	const MechanismSpec *spec;
	const GradientPlan	*plan;
	GradientShape		 shape;
	GradientWork		 work;
	UnitSource			*units;
	GradientRows		 rows;
	Size				 memory_left;
	int16				*centre;
	double				 number;	   /* of units, as far as is known */
	Stride				 of_features;  /* their weights */
	Stride				 of_constants; /* the intercepts */
	double				*weights;	   /* of centred features */
	double				*velocity;
	double				*slope; /* the last step's */
	double				*average;
	Spread				 spread;
} Trainer;

/* ---------- rows ---------- */

/* The first pass: sums of features.  Rows are kept, unless they lie on other nodes. */
static void
sum_features(Trainer *trainer)
{
	UnitRows unit;

	if (trainer->units->far)
	{
		gradient_pass(trainer->units, &trainer->rows);
		return;
	}
	while (trainer->units->next(trainer->units, &unit))
		gradient_rows_put(&trainer->rows, &unit);
	gradient_rows_end(&trainer->rows);
}

/* ---------- the number of units and the mean of the features ---------- */

static void
release_number(Trainer *trainer)
{
	const GradientNoise *noise = &trainer->plan->features_noise;
	double				 limit = (double) trainer->plan->features_limit;
	double count = gradient_noisy_sum(trainer->work.sums[trainer->shape.width], noise) / limit;

	trainer->number = gradient_units((double) trainer->spec->declared_units, count,
									 gradient_deviation(noise) / limit);
}

/*
 * The usual square of the length of centred features, with the intercept: the
 * variance of a number in [0, 1] is at most m (1 - m), which it is if it is 0
 * or 1.
 */
static double
usual_square(const Trainer *trainer)
{
	double square = (double) GRADIENT_INTERCEPT / GRADIENT_FEATURE_ONE;

	square *= square;
	for (int i = 0; i < trainer->shape.width; i++)
	{
		double mean = (double) trainer->centre[i] / GRADIENT_FEATURE_ONE;

		square += mean * (1 - mean);
	}
	return square;
}

/* How fast the slope of the loss changes, at most, per square of the features' length. */
static double
curvature(const GradientPlan *plan)
{
	switch (plan->loss)
	{
		case GRADIENT_LOGISTIC:
			return 0.25;
		case GRADIENT_SOFTMAX:
			return (plan->outputs - 1.0) / ((double) plan->outputs * plan->outputs);
		case GRADIENT_HUBER:
			return 1;
	}
	return 1; /* not reached */
}

static void
release_centre(Trainer *trainer)
{
	const GradientPlan *plan = trainer->plan;
	double				square;
	double				clip;

	RECORD_COINS(1);
	gradient_record("gradient_mean", trainer->shape.width + 1, trainer->work.sums,
					&plan->features_noise);
	release_number(trainer);
	for (int i = 0; i < trainer->shape.width; i++)
	{
		double mean =
			gradient_noisy_sum(trainer->work.sums[i], &plan->features_noise) / trainer->number;

		if (i % DRAWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		trainer->centre[i] = (int16) Min(Max(rint(mean), 0), GRADIENT_FEATURE_ONE);
	}
	square = usual_square(trainer);
	clip = plan->clip > 0
			   ? plan->clip
			   : sqrt(square) * (plan->loss == GRADIENT_HUBER ? plan->huber : CLIPPED_RESIDUAL);
	trainer->shape.residual_one =
		Min(plan->clip_units / (clip * GRADIENT_FEATURE_ONE), GRADIENT_RESIDUAL_MAX);
	trainer->of_features.longest =
		gradient_rate(plan, trainer->number) / (curvature(plan) * square);
	trainer->of_features.step = trainer->of_features.longest;
	trainer->of_constants = trainer->of_features;
}

/* ---------- steps ---------- */

static void
sum_gradients(Trainer *trainer)
{
	int64 parameters = gradient_parameters(&trainer->shape);

	/* Nesterov's: the slope where momentum is about to lead. */
	for (int64 i = 0; i < parameters; i++)
		trainer->work.weights[i] =
			trainer->weights[i] + trainer->plan->momentum * trainer->velocity[i];
	memset(trainer->work.sums, 0, parameters * sizeof(int64));
	if (trainer->rows.keeps)
		gradient_rows_visit(&trainer->rows);
	else
		gradient_pass(trainer->units, &trainer->rows);
}

/*
 * Slopes that point against each other, by more than noise explains, mean that
 * steps jump across the valley: features that go together make it narrow, and
 * the step is halved.  Where slopes agree again, it grows back.  Four standard
 * deviations of the noise, given either slope.
 */
static void
adjust(Stride *stride, double noise, int64 parameters)
{
	double beyond_noise = 4 * noise * (sqrt(stride->square) + noise * sqrt(parameters));

	stride->crossed = stride->product < -beyond_noise;
	if (stride->crossed)
		stride->step /= 2;
	else if (stride->product > beyond_noise)
		stride->step = Min(stride->step * REGROWTH, stride->longest);
	stride->product = 0;
	stride->square = 0;
}

/*
 * All rows have the intercept, but the others of a row's features may hardly
 * vary, so that a step that is right for them crosses the valley along the
 * intercepts.  These have a step size of their own, or all would be slowed down.
 */
static Stride *
stride_of(Trainer *trainer, int64 parameter)
{
	bool constant = parameter % (trainer->shape.width + 1) == trainer->shape.width;

	return constant ? &trainer->of_constants : &trainer->of_features;
}

static void
take_step(Trainer *trainer)
{
	const GradientPlan *plan = trainer->plan;
	int64				parameters = gradient_parameters(&trainer->shape);
	int					outputs = trainer->shape.outputs;
	double unit = (double) trainer->shape.residual_one * GRADIENT_FEATURE_ONE * trainer->number;
	double noise = gradient_deviation(&plan->step_noise) / unit;

	gradient_record("gradient", parameters, trainer->work.sums, &plan->step_noise);
	for (int64 i = 0; i < parameters; i++)
	{
		double	slope = gradient_noisy_sum(trainer->work.sums[i], &plan->step_noise) / unit;
		double	before = trainer->slope[i];
		Stride *stride = stride_of(trainer, i);

		if (i % DRAWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		stride->product += slope * before;
		stride->square += Max(slope * slope, before * before);
		trainer->slope[i] = slope;
	}
	adjust(&trainer->of_features, noise, parameters - outputs);
	adjust(&trainer->of_constants, noise, outputs);
	spread_step(&trainer->spread, trainer->of_features.crossed ? 0 : plan->momentum,
				trainer->of_features.step * noise);
	for (int64 i = 0; i < parameters; i++)
	{
		const Stride *stride = stride_of(trainer, i);
		double		  momentum = stride->crossed ? 0 : plan->momentum;

		trainer->velocity[i] = momentum * trainer->velocity[i] - stride->step * trainer->slope[i];
		trainer->weights[i] += trainer->velocity[i];
	}
}

/* Averaging the second half of the steps averages their noise. */
static void
descend(Trainer *trainer)
{
	int64 parameters = gradient_parameters(&trainer->shape);
	int64 steps = trainer->plan->steps;
	int64 first = steps / 2;

	progress_phase("gradient steps", steps);
	for (int64 step = 0; step < steps; step++)
	{
		sum_gradients(trainer);
		take_step(trainer);
		for (int64 i = 0; i < parameters && step >= first; i++)
			trainer->average[i] += trainer->weights[i] / (steps - first);
		if (step >= first)
			spread_average(&trainer->spread, 1.0 / (steps - first));
		progress_update(step + 1);
	}
}

/* Of features as they come, not centred, and an intercept of one. */
static void
uncentre(Trainer *trainer)
{
	int width = trainer->shape.width;

	for (int k = 0; k < trainer->shape.outputs; k++)
	{
		double *weights = &trainer->average[(int64) k * (width + 1)];

		weights[width] *= (double) GRADIENT_INTERCEPT / GRADIENT_FEATURE_ONE;
		for (int i = 0; i < width; i++)
			weights[width] -= weights[i] * trainer->centre[i] / GRADIENT_FEATURE_ONE;
	}
}

/* ---------- all of it ---------- */

static void
prepare(Trainer *trainer, Size memory)
{
	int	  width = trainer->shape.width;
	int64 parameters = gradient_parameters(&trainer->shape);
	Size  vector = parameters * sizeof(double);
	Size fixed = gradient_work_size(&trainer->shape) + 4 * vector + 2 * gradient_block_size(width) +
				 width * sizeof(int16);

	check_training_memory(fixed, memory);
	trainer->memory_left = memory - fixed;
	gradient_work_place(
		&trainer->shape,
		MemoryContextAllocHuge(CurrentMemoryContext, gradient_work_size(&trainer->shape)),
		&trainer->work);
	trainer->weights =
		palloc_extended(4 * vector + sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	trainer->velocity = trainer->weights + parameters;
	trainer->slope = trainer->velocity + parameters;
	trainer->average = trainer->slope + parameters;
	trainer->centre = palloc0_array(int16, width);
	trainer->shape.centre = trainer->centre;
	trainer->rows.shape = &trainer->shape;
	trainer->rows.work = &trainer->work;
	trainer->rows.form = trainer->units->form;
	trainer->rows.features_limit = trainer->plan->features_limit;
	gradient_rows_open(&trainer->rows, trainer->units->far ? NULL : &trainer->memory_left);
}

double *
gradient_train(const MechanismSpec *spec, const GradientPlan *plan, UnitSource *units, Size memory)
{
	Trainer trainer = {.spec = spec, .plan = plan, .units = units};

	trainer.shape.loss = plan->loss;
	trainer.shape.width = spec->width;
	trainer.shape.outputs = plan->outputs;
	trainer.shape.clip = plan->clip_units;
	trainer.shape.huber = plan->huber;
	prepare(&trainer, memory);

	sum_features(&trainer);
	release_centre(&trainer);
	gradient_rows_centre(&trainer.rows);
	/* A number starts in the middle. */
	if (plan->loss == GRADIENT_HUBER)
		trainer.weights[spec->width] = 0.5 * GRADIENT_FEATURE_ONE / GRADIENT_INTERCEPT;
	descend(&trainer);
	uncentre(&trainer);
	trainer.average[gradient_parameters(&trainer.shape)] = sqrt(trainer.spread.average);
	return trainer.average;
}
