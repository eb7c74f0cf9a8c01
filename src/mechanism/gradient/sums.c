/*
 * sums.c
 *		Sums of clipped gradients, in integers.
 */
#include "c.h"

#include <math.h>

#include "mechanism/gradient/sums.h"

#define ROWS GRADIENT_BLOCK_ROWS
#define FINE_BITS 24		 /* of residuals of units with several rows */
#define SHRINK (1 - 0x1p-40) /* far more than rounding in double can add */

/* ---------- blocks ---------- */

Size
gradient_block_size(int width)
{
	return offsetof(GradientBlock, x) + (Size) width * ROWS * sizeof(int16);
}

void
gradient_block_clear(GradientBlock *block, int width)
{
	memset(block, 0, gradient_block_size(width));
}

void
gradient_block_put(GradientBlock *block, int width, float label, const double *x, int32 unit_rows)
{
	int row = block->rows++;

	block->label[row] = label;
	block->unit_rows[row] = unit_rows;
	for (int i = 0; i < width; i++)
	{
		/* Written so that NaN is 0. */
		double inside = x[i] > 0 ? Min(x[i], 1) : 0;

		block->x[i * ROWS + row] = (int16) (inside * GRADIENT_FEATURE_ONE + 0.5);
	}
}

/* The largest integer whose square is at most that. */
static int64
root(int64 square)
{
	int64 result = (int64) sqrt((double) square);

	while (result * result > square)
		result--;
	while ((result + 1) * (result + 1) <= square)
		result++;
	return result;
}

void
gradient_block_centre(const GradientShape *shape, GradientBlock *block, bool shared)
{
	int64 square[ROWS];

	for (int row = 0; row < ROWS; row++)
		square[row] = GRADIENT_INTERCEPT * GRADIENT_INTERCEPT;
	for (int i = 0; i < shape->width; i++)
	{
		int16 *column = &block->x[i * ROWS];

		for (int row = 0; row < ROWS; row++)
		{
			column[row] -= shape->centre[i];
			square[row] += column[row] * column[row];
		}
	}
	if (shared)
		return;
	/* cap^2 square <= clip^2; rows that are not there have no residual */
	for (int row = 0; row < ROWS; row++)
		block->cap[row] =
			row >= block->rows ? 0 : (int32) root((int64) shape->clip * shape->clip / square[row]);
}

/* ---------- working memory ---------- */

Size
gradient_work_size(const GradientShape *shape)
{
	Size parameters = gradient_parameters(shape);
	Size residuals = (Size) shape->outputs * ROWS;

	return (2 * parameters + shape->width) * sizeof(int64) +
		   (parameters + residuals) * sizeof(float) + residuals * sizeof(int16);
}

void
gradient_work_place(const GradientShape *shape, char *memory, GradientWork *work)
{
	Size parameters = gradient_parameters(shape);

	memset(memory, 0, gradient_work_size(shape));
	work->sums = (int64 *) memory;
	work->unit = work->sums + parameters;
	work->row = work->unit + parameters;
	work->weights = (float *) (work->row + shape->width);
	work->residual = work->weights + parameters;
	work->integer_residual = (int16 *) (work->residual + (Size) shape->outputs * ROWS);
}

/* ---------- clipping units of several rows ---------- */

/*
 * Adds a vector to the sums, scaled down towards zero if its norm exceeds
 * the limit.  Rounding towards zero does not lengthen it; should floating
 * point ever fail, the vector is left out.
 */
static void
add_clipped(const int64 *vector, int64 count, int64 limit, int64 *sums)
{
	uint128 bound = (uint128) limit * limit;
	uint128 square = 0;
	double	factor;

	for (int64 i = 0; i < count; i++)
		square += (uint128) ((int128) vector[i] * vector[i]);
	if (square <= bound)
	{
		for (int64 i = 0; i < count; i++)
			sums[i] += vector[i];
		return;
	}

	factor = limit / sqrt((double) square) * SHRINK;
	square = 0;
	for (int64 i = 0; i < count; i++)
	{
		int64 scaled = (int64) (vector[i] * factor);

		square += (uint128) ((int128) scaled * scaled);
	}
	if (square > bound)
		return;
	for (int64 i = 0; i < count; i++)
		sums[i] += (int64) (vector[i] * factor);
}

/* ---------- the features and the units ---------- */

void
gradient_add_features(const GradientShape *shape, const GradientBlock *block, bool shared,
					  int64 limit, GradientWork *work)
{
	/* Blocks of both kinds may alternate, in the middle of a unit. */
	int64 *unit = shared ? work->unit : work->row;

	for (int row = 0; row < block->rows; row++)
	{
		int32 unit_rows = shared ? block->unit_rows[row] : 1;

		for (int i = 0; i < shape->width; i++)
			unit[i] += block->x[i * ROWS + row];
		if (unit_rows == 0)
			continue;
		for (int i = 0; i < shape->width && unit_rows > 1; i++)
			unit[i] /= unit_rows;
		add_clipped(unit, shape->width, limit, work->sums);
		work->sums[shape->width] += limit;
		memset(unit, 0, shape->width * sizeof(int64));
	}
}

/* ---------- predictions and residuals ---------- */

/* w x for all rows of a block and all outputs, into residual. */
static void
predict(const GradientShape *shape, const GradientBlock *block, const float *weights,
		float *residual)
{
	const float scale = 1.0f / GRADIENT_FEATURE_ONE;

	for (int k = 0; k < shape->outputs; k++)
	{
		float weight = weights[(int64) k * (shape->width + 1) + shape->width];

		for (int row = 0; row < ROWS; row++)
			residual[k * ROWS + row] = weight * (GRADIENT_INTERCEPT * scale);
	}
	for (int i = 0; i < shape->width; i++)
	{
		const int16 *column = &block->x[i * ROWS];
		float		 feature[ROWS];

		for (int row = 0; row < ROWS; row++)
			feature[row] = column[row] * scale;
		for (int k = 0; k < shape->outputs; k++)
		{
			float  weight = weights[(int64) k * (shape->width + 1) + i];
			float *out = &residual[k * ROWS];

			for (int row = 0; row < ROWS; row++)
				out[row] += weight * feature[row];
		}
	}
}

/*
 * e^x for x in [-80, 80], to six digits: the C library's cannot be vectorised,
 * and nothing private depends on it.  2^n is made of its bits; 2^f, f in
 * [-1/2, 1/2], is a Taylor polynomial.
 */
static inline float
exponential(float x)
{
	union
	{
		int32 bits;
		float value;
	} power;
	float t = x * 1.442695041f;
	int32 n = (int32) (t + 128.5f) - 128;
	float f = (t - n) * 0.693147181f;

	power.bits = (n + 127) << 23;
	return power.value *
		   (1 + f * (1 + f * (1.0f / 2 + f * (1.0f / 6 + f * (1.0f / 24 + f * (1.0f / 120))))));
}

static inline float
clamp(float x, float limit)
{
	x = x < limit ? x : limit;
	return x > -limit ? x : -limit;
}

static void
logistic_residuals(const float *label, float *residual)
{
	for (int row = 0; row < ROWS; row++)
		residual[row] = 1 / (1 + exponential(-clamp(residual[row], 40))) - label[row];
}

static void
huber_residuals(const float *label, float huber, float *residual)
{
	for (int row = 0; row < ROWS; row++)
		residual[row] = clamp(residual[row] - label[row], huber);
}

static void
softmax_residuals(const GradientShape *shape, const float *label, float *residual)
{
	float largest[ROWS];
	float total[ROWS] = {0};

	memcpy(largest, residual, sizeof(largest));
	for (int k = 1; k < shape->outputs; k++)
		for (int row = 0; row < ROWS; row++)
		{
			float z = residual[k * ROWS + row];

			largest[row] = z > largest[row] ? z : largest[row];
		}
	for (int k = 0; k < shape->outputs; k++)
		for (int row = 0; row < ROWS; row++)
		{
			float e = exponential(clamp(residual[k * ROWS + row] - largest[row], 60));

			residual[k * ROWS + row] = e;
			total[row] += e;
		}
	for (int row = 0; row < ROWS; row++)
		total[row] = 1 / total[row];
	for (int k = 0; k < shape->outputs; k++)
		for (int row = 0; row < ROWS; row++)
			residual[k * ROWS + row] =
				residual[k * ROWS + row] * total[row] - (label[row] == k ? 1.0f : 0.0f);
}

static void
find_residuals(const GradientShape *shape, const GradientBlock *block, GradientWork *work)
{
	predict(shape, block, work->weights, work->residual);
	switch (shape->loss)
	{
		case GRADIENT_LOGISTIC:
			logistic_residuals(block->label, work->residual);
			break;
		case GRADIENT_SOFTMAX:
			softmax_residuals(shape, block->label, work->residual);
			break;
		case GRADIENT_HUBER:
			huber_residuals(block->label, shape->huber, work->residual);
			break;
	}
}

/* ---------- units of one row ---------- */

/* To the nearest integer, within +-GRADIENT_RESIDUAL_MAX whatever the argument is. */
static inline int32
round_residual(float x)
{
	x = x < GRADIENT_RESIDUAL_MAX ? x : GRADIENT_RESIDUAL_MAX;
	x = x > -GRADIENT_RESIDUAL_MAX ? x : -GRADIENT_RESIDUAL_MAX; /* NaN, too */
	return (int32) (x + (GRADIENT_RESIDUAL_MAX + 0.5f)) - GRADIENT_RESIDUAL_MAX;
}

/* |r| <= cap, in integers. */
static void
clip_single(const GradientShape *shape, const GradientBlock *block, GradientWork *work)
{
	for (int row = 0; row < ROWS; row++)
	{
		int32 r = round_residual(work->residual[row] * shape->residual_one);

		r = r < block->cap[row] ? r : block->cap[row];
		r = r > -block->cap[row] ? r : -block->cap[row];
		work->integer_residual[row] = (int16) r;
	}
}

/*
 * The norm of the residuals of all outputs is at most cap.  They are scaled to
 * cap less what rounding to the nearest may add; should floating point ever
 * fail, the row is left out.
 */
static void
clip_several(const GradientShape *shape, const GradientBlock *block, GradientWork *work)
{
	float scale[ROWS] = {0};
	int64 square[ROWS] = {0};
	float rounding = 0.5f * sqrtf(shape->outputs) + 0.01f;

	for (int k = 0; k < shape->outputs; k++)
		for (int row = 0; row < ROWS; row++)
		{
			float r = work->residual[k * ROWS + row] * shape->residual_one;

			scale[row] += r * r;
		}
	for (int row = 0; row < ROWS; row++)
	{
		float target = block->cap[row] - rounding;
		float norm = sqrtf(scale[row]);

		target = target > 0 ? target : 0;
		scale[row] = shape->residual_one * (norm > target ? target / norm : 1);
	}
	for (int k = 0; k < shape->outputs; k++)
		for (int row = 0; row < ROWS; row++)
		{
			int32 r = round_residual(work->residual[k * ROWS + row] * scale[row]);

			work->integer_residual[k * ROWS + row] = (int16) r;
			square[row] += r * r;
		}
	for (int row = 0; row < block->rows; row++)
	{
		if (likely(square[row] <= (int64) block->cap[row] * block->cap[row]))
			continue;
		for (int k = 0; k < shape->outputs; k++)
			work->integer_residual[k * ROWS + row] = 0;
	}
	/* Rows that are not there are no rows of zeros, once they are centred. */
	for (int row = block->rows; row < ROWS; row++)
		for (int k = 0; k < shape->outputs; k++)
			work->integer_residual[k * ROWS + row] = 0;
}

static void
add_products(const GradientShape *shape, const GradientBlock *block, GradientWork *work)
{
	for (int k = 0; k < shape->outputs; k++)
	{
		const int16 *r = &work->integer_residual[k * ROWS];
		int64		*sums = &work->sums[(int64) k * (shape->width + 1)];
		int32		 intercept = 0;

		for (int i = 0; i < shape->width; i++)
		{
			const int16 *x = &block->x[i * ROWS];
			int32		 sum = 0;

			for (int row = 0; row < ROWS; row++)
				sum += r[row] * x[row];
			sums[i] += sum;
		}
		for (int row = 0; row < ROWS; row++)
			intercept += r[row];
		sums[shape->width] += (int64) intercept * GRADIENT_INTERCEPT;
	}
}

/* ---------- units of several rows ---------- */

static void
add_row_to_unit(const GradientShape *shape, const GradientBlock *block, int row, GradientWork *work)
{
	for (int k = 0; k < shape->outputs; k++)
	{
		int64 *unit = &work->unit[(int64) k * (shape->width + 1)];
		int64  r = (int64) (work->residual[k * ROWS + row] * (1 << FINE_BITS));

		for (int i = 0; i < shape->width; i++)
			unit[i] += r * block->x[i * ROWS + row];
		unit[shape->width] += r * GRADIENT_INTERCEPT;
	}
}

/*
 * The mean is a function of integer sums, so that the order of the unit's rows
 * does not matter either: others could change it.
 */
static void
add_unit(const GradientShape *shape, int32 unit_rows, GradientWork *work)
{
	int64  parameters = gradient_parameters(shape);
	double factor = (double) shape->residual_one / ((double) (1 << FINE_BITS) * unit_rows);

	for (int64 i = 0; i < parameters; i++)
		work->unit[i] = (int64) floor(work->unit[i] * factor + 0.5);
	add_clipped(work->unit, parameters, shape->clip, work->sums);
	memset(work->unit, 0, parameters * sizeof(int64));
}

/* ---------- all of it ---------- */

void
gradient_add_block(const GradientShape *shape, const GradientBlock *block, bool shared,
				   GradientWork *work)
{
	find_residuals(shape, block, work);
	if (!shared)
	{
		if (shape->outputs == 1)
			clip_single(shape, block, work);
		else
			clip_several(shape, block, work);
		add_products(shape, block, work);
		return;
	}
	for (int row = 0; row < block->rows; row++)
	{
		add_row_to_unit(shape, block, row, work);
		if (block->unit_rows[row] > 0)
			add_unit(shape, block->unit_rows[row], work);
	}
}
