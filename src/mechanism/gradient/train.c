/*
 * gradient_train.c
 *		Noisy gradient descent on all rows (book, section 16).
 *
 * First the mean of the features is released, with a small part of the
 * budget, and subtracted.  Centred features are shorter, so that less noise is
 * needed, and a step is of use in all directions, not only along the mean.
 * Then come the steps, each a noisy sum of clipped gradients.  All that follows
 * from those sums is post-processing.
 *
 * Rows are kept in memory if they fit, else read again for every step.  The
 * sums are the same.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "mechanism/gradient/gradient.h"
#include "server/progress.h"

#define SLAB_BYTES (1024 * 1024)
#define DRAWS_PER_CHECK 256

/* How long a gradient is, of centred features of the usual length, when it is clipped. */
#define CLIPPED_RESIDUAL 0.33

typedef struct Slab
{
	struct Slab *next;
	int			 blocks;
	int			 capacity;
	char		*memory;
} Slab;

/* Units of one row, or of several. */
typedef struct Rows
{
	bool		   shared;
	GradientBlock *buffer; /* being filled */
	Slab		  *slabs;  /* newest first */
} Rows;

typedef struct Trainer
{
	const MechanismSpec *spec;
	const GradientPlan	*plan;
	GradientShape		 shape;
	GradientWork		 work;
	UnitSource			*units;
	Rows				 single;
	Rows				 several;
	MemoryContext		 kept; /* slabs; NULL: rows are read again */
	Size				 memory_left;
	int16				*centre;
	bool				 centred; /* is the mean released? */
	double				 step_size;
	double				*weights; /* of centred features */
	double				*velocity;
	double				*slope; /* the last step's */
	double				*average;
} Trainer;

/* ---------- rows ---------- */

/* Keeps a copy of a block, or gives up keeping any. */
static void
keep_block(Trainer *trainer, Rows *rows)
{
	Size  size = MAXALIGN(gradient_block_size(trainer->shape.width));
	Slab *slab = rows->slabs;

	if (slab == NULL || slab->blocks == slab->capacity)
	{
		int	 capacity = Max(SLAB_BYTES / size, 1);
		Size bytes = capacity * size + sizeof(Slab);

		if (bytes > trainer->memory_left)
		{
			MemoryContextDelete(trainer->kept);
			trainer->kept = NULL;
			return;
		}
		trainer->memory_left -= bytes;
		slab = MemoryContextAllocZero(trainer->kept, sizeof(Slab));
		slab->memory = MemoryContextAlloc(trainer->kept, capacity * size);
		slab->capacity = capacity;
		slab->next = rows->slabs;
		rows->slabs = slab;
	}
	memcpy(slab->memory + slab->blocks++ * size, rows->buffer,
		   gradient_block_size(trainer->shape.width));
}

static void
finish_block(Trainer *trainer, Rows *rows)
{
	CHECK_FOR_INTERRUPTS();
	if (trainer->centred)
	{
		gradient_block_centre(&trainer->shape, rows->buffer, rows->shared);
		gradient_add_block(&trainer->shape, rows->buffer, rows->shared, &trainer->work);
	}
	else
	{
		gradient_add_features(&trainer->shape, rows->buffer, rows->shared,
							  trainer->plan->features_limit, &trainer->work);
		if (trainer->kept != NULL)
			keep_block(trainer, rows);
	}
	gradient_block_clear(rows->buffer, trainer->shape.width);
}

static float
label_number(const MechanismSpec *spec, double label)
{
	if (spec->nclasses > 0)
		return label;
	return (label - spec->label_min) / (spec->label_max - spec->label_min);
}

static void
put_unit(Trainer *trainer, const UnitRows *unit)
{
	Rows *rows = unit->nrows == 1 ? &trainer->single : &trainer->several;
	int	  width = trainer->shape.width;

	for (int i = 0; i < unit->nrows; i++)
	{
		bool ends = rows->shared && i == unit->nrows - 1;

		gradient_block_put(rows->buffer, width, label_number(trainer->spec, unit->label[i]),
						   unit->x + (Size) i * width, ends ? unit->nrows : 0);
		if (rows->buffer->rows == GRADIENT_BLOCK_ROWS)
			finish_block(trainer, rows);
	}
}

static void
read_rows(Trainer *trainer)
{
	UnitRows unit;

	while (trainer->units->next(trainer->units, &unit))
		put_unit(trainer, &unit);
	finish_block(trainer, &trainer->single);
	finish_block(trainer, &trainer->several);
}

typedef void (*BlockAction)(Trainer *trainer, GradientBlock *block, bool shared);

/* Units of several rows go on from block to block, so the order matters. */
static void
for_slabs(Trainer *trainer, Slab *slab, bool shared, BlockAction action)
{
	Size size = MAXALIGN(gradient_block_size(trainer->shape.width));

	for (; slab != NULL; slab = slab->next)
		for (int i = 0; i < slab->blocks; i++)
		{
			CHECK_FOR_INTERRUPTS();
			action(trainer, (GradientBlock *) (slab->memory + i * size), shared);
		}
}

static Slab *
reverse(Slab *slabs)
{
	Slab *result = NULL;

	while (slabs != NULL)
	{
		Slab *next = slabs->next;

		slabs->next = result;
		result = slabs;
		slabs = next;
	}
	return result;
}

static void
centre_block(Trainer *trainer, GradientBlock *block, bool shared)
{
	gradient_block_centre(&trainer->shape, block, shared);
}

static void
add_block(Trainer *trainer, GradientBlock *block, bool shared)
{
	gradient_add_block(&trainer->shape, block, shared, &trainer->work);
}

/* ---------- the mean of the features ---------- */

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

	for (int i = 0; i < trainer->shape.width; i++)
	{
		double mean = gradient_noisy_sum(trainer->work.sums[i], &plan->features_noise) /
					  trainer->spec->declared_units;

		if (i % DRAWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		trainer->centre[i] = (int16) Min(Max(rint(mean), 0), GRADIENT_FEATURE_ONE);
	}
	trainer->centred = true;

	square = usual_square(trainer);
	clip = plan->clip > 0
			   ? plan->clip
			   : sqrt(square) * (plan->loss == GRADIENT_HUBER ? plan->huber : CLIPPED_RESIDUAL);
	trainer->shape.residual_one =
		Min(plan->clip_units / (clip * GRADIENT_FEATURE_ONE), GRADIENT_RESIDUAL_MAX);
	trainer->step_size = plan->rate / (curvature(plan) * square);
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
	if (trainer->kept != NULL)
	{
		for_slabs(trainer, trainer->single.slabs, false, add_block);
		for_slabs(trainer, trainer->several.slabs, true, add_block);
	}
	else
	{
		trainer->units->rewind(trainer->units);
		read_rows(trainer);
	}
}

/*
 * Slopes that point against each other, by more than noise explains, mean that
 * steps jump across the valley: features that go together make it narrow.
 * Four standard deviations of the noise, given either slope.
 */
static bool
overshoots(const Trainer *trainer, double product, double square, double noise)
{
	return product <
		   -4 * noise * (sqrt(square) + noise * sqrt(gradient_parameters(&trainer->shape)));
}

static void
take_step(Trainer *trainer)
{
	const GradientPlan *plan = trainer->plan;
	int64				parameters = gradient_parameters(&trainer->shape);
	double				unit =
		(double) trainer->shape.residual_one * GRADIENT_FEATURE_ONE * trainer->spec->declared_units;
	double noise = ldexp(sqrt(plan->step_noise.variance), plan->step_noise.shift) / unit;
	double product = 0;
	double square = 0;
	double momentum = plan->momentum;

	for (int64 i = 0; i < parameters; i++)
	{
		double slope = gradient_noisy_sum(trainer->work.sums[i], &plan->step_noise) / unit;

		if (i % DRAWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		product += slope * trainer->slope[i];
		square += Max(slope * slope, trainer->slope[i] * trainer->slope[i]);
		trainer->slope[i] = slope;
	}
	if (overshoots(trainer, product, square, noise))
	{
		trainer->step_size /= 2;
		momentum = 0;
	}
	for (int64 i = 0; i < parameters; i++)
	{
		trainer->velocity[i] =
			momentum * trainer->velocity[i] - trainer->step_size * trainer->slope[i];
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

static GradientBlock *
make_buffer(int width)
{
	GradientBlock *block = palloc(gradient_block_size(width));

	gradient_block_clear(block, width);
	return block;
}

static void
prepare(Trainer *trainer, Size memory)
{
	int	  width = trainer->shape.width;
	int64 parameters = gradient_parameters(&trainer->shape);
	Size  vector = parameters * sizeof(double);
	Size fixed = gradient_work_size(&trainer->shape) + 4 * vector + 2 * gradient_block_size(width) +
				 width * sizeof(int16);

	if (fixed > memory)
		ereport(
			ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg(
				 "mechanism \"gradient\" needs %zu kB for this model, more than maintenance_work_mem (%zu kB)",
				 fixed / 1024 + 1, memory / 1024),
			 errhint("Raise maintenance_work_mem, or use fewer features or classes.")));
	trainer->memory_left = memory - fixed;
	gradient_work_place(
		&trainer->shape,
		MemoryContextAllocHuge(CurrentMemoryContext, gradient_work_size(&trainer->shape)),
		&trainer->work);
	trainer->weights = palloc_extended(vector, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	trainer->velocity = palloc_extended(vector, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	trainer->slope = palloc_extended(vector, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	trainer->average = palloc_extended(vector, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	trainer->centre = palloc0_array(int16, width);
	trainer->shape.centre = trainer->centre;
	trainer->single.buffer = make_buffer(width);
	trainer->several.buffer = make_buffer(width);
	trainer->several.shared = true;
	trainer->kept = AllocSetContextCreate(CurrentMemoryContext, "privpred gradient rows",
										  ALLOCSET_DEFAULT_SIZES);
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

	read_rows(&trainer);
	release_centre(&trainer);
	if (trainer.kept != NULL)
	{
		for_slabs(&trainer, trainer.single.slabs, false, centre_block);
		trainer.several.slabs = reverse(trainer.several.slabs);
		for_slabs(&trainer, trainer.several.slabs, true, centre_block);
	}
	/* A number starts in the middle. */
	if (plan->loss == GRADIENT_HUBER)
		trainer.weights[spec->width] = 0.5 * GRADIENT_FEATURE_ONE / GRADIENT_INTERCEPT;
	descend(&trainer);
	uncentre(&trainer);
	return trainer.average;
}
