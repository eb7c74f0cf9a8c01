/*
 * score_kernels.c
 *		Which kernels this processor can run.
 *
 * Compiled for the oldest processor of its kind; only what carries a target
 * attribute uses more, and only after the processor was asked.
 */
#include "learner/score_kernels.h"

#include <math.h>
#include <string.h>

/* The lanes of a block of n members: from SCORE_BLOCK - n on. */
static const int64_t lanes_there[2 * SCORE_BLOCK] = {-1, -1, -1, -1, -1, -1, -1, -1,
													 -1, -1, -1, -1, -1, -1, -1, -1};

void
score_group_init(ScoreGroup *group, ScoreKind kind, int width, int vectors, int n)
{
	group->kind = kind;
	group->width = width;
	group->vectors = vectors;
	group->n = 0;
	group->stride = n >= SCORE_BLOCK / 2 ? SCORE_BLOCK : 1;
	group->rows = vectors * score_vector_size(kind, width);
	group->numbers = NULL;
	group->used = NULL;
}

size_t
score_group_size(const ScoreGroup *group, int n)
{
	size_t blocks = ((size_t) n + group->stride - 1) / group->stride;

	return blocks * group->stride * group->rows * sizeof(double);
}

/* Lists the features that are not zero; NaN is not.  Returns how many. */
static int
features_used(const ScoreGroup *group, const double *x)
{
	int32_t *used = group->used;
	int		 width = group->kind == SCORE_LINEAR && group->n > 0 ? group->width : 0;
	int		 n = 0;

	for (int i = 0; i < width; i++)
	{
		uint64_t bits;

		memcpy(&bits, &x[i], sizeof(bits));
		used[n] = i;
		n += bits << 1 != 0; /* all but the sign: faster than to compare numbers */
	}
	return n;
}

/*
 * ---------- few members ----------
 *
 * The same operations in the same order.
 */

static double
score_of_one(const ScoreGroup *group, const double *numbers, const double *x, int nused)
{
	int	   width = group->width;
	double score;

	if (group->kind == SCORE_LINEAR)
	{
		score = numbers[width] + 0.0;
		for (int i = 0; i < nused; i++)
			score += x[group->used[i]] * numbers[group->used[i]];
		return score;
	}
	score = numbers[0];
	for (int i = 0; i < width; i++)
	{
		double distance = x[i] - numbers[1 + i];

		score -= numbers[1 + width + i] * distance * distance;
	}
	return score;
}

static void
vote_singly(const ScoreGroup *group, const double *x, int default_class, int32_t *votes)
{
	size_t step = score_vector_size(group->kind, group->width);
	int	   nused = features_used(group, x);

	for (int m = 0; m < group->n; m++)
	{
		const double *numbers = group->numbers + m * group->rows;
		double		  best = group->vectors == 1 ? 0 : -INFINITY;
		int			  winner = default_class;

		if (group->vectors == 1)
		{
			double score = score_of_one(group, numbers, x, nused);

			if (isfinite(score))
				winner = score > 0;
		}
		else
			for (int c = 0; c < group->vectors; c++, numbers += step)
			{
				double score = score_of_one(group, numbers, x, nused);

				if (score > best && score < INFINITY)
				{
					best = score;
					winner = c;
				}
			}
		votes[winner]++;
	}
}

static void
margins_singly(const ScoreGroup *group, const double *x, double *margins)
{
	size_t step = score_vector_size(group->kind, group->width);
	int	   nused = features_used(group, x);

	for (int m = 0; m < group->n; m++)
	{
		const double *numbers = group->numbers + m * group->rows;

		margins[m] = score_of_one(group, numbers, x, nused);
		if (group->vectors > 1)
			margins[m] = score_of_one(group, numbers + step, x, nused) - margins[m];
	}
}

static void
sums_singly(const ScoreGroup *group, const double *x, int vector, double *sums)
{
	size_t start = vector * score_vector_size(group->kind, group->width);
	int	   nused = features_used(group, x);

	for (int m = 0; m < group->n; m++)
		sums[m] = score_of_one(group, group->numbers + m * group->rows + start, x, nused);
}

/* ---------- blocks ---------- */

#define LANES 2
#define EACH(what) what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7)
#define SPLAT(x) ((Vector){x, x})
#define TARGET
#define NAMED(name) portable_##name
#define KERNELS_NAME "portable"
#include "learner/score_lanes.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86_KERNELS

#define LANES 4
#define EACH(what) what(0) what(1) what(2) what(3)
#define SPLAT(x) ((Vector){x, x, x, x})
#define TARGET __attribute__((target("avx2")))
#define NAMED(name) avx2_##name
#define KERNELS_NAME "avx2"
#include "learner/score_lanes.h"

#define LANES 8
#define EACH(what) what(0) what(1)
#define SPLAT(x) ((Vector){x, x, x, x, x, x, x, x})
#define TARGET __attribute__((target("avx512f")))
#define NAMED(name) avx512_##name
#define KERNELS_NAME "avx512f"
#include "learner/score_lanes.h"
#endif

/* ---------- dispatch ---------- */

const ScoreKernels *
score_kernels(int number, bool *usable)
{
	*usable = true;
	switch (number)
	{
		case 0:
			return &portable_kernels;
#ifdef HAS_X86_KERNELS
		case 1:
			*usable = __builtin_cpu_supports("avx2") != 0;
			return &avx2_kernels;
		case 2:
			*usable = __builtin_cpu_supports("avx512f") != 0;
			return &avx512_kernels;
#endif
		default:
			return NULL;
	}
}

const ScoreKernels *
score_kernels_best(void)
{
	const ScoreKernels *best = &portable_kernels;
	const ScoreKernels *next;
	bool				usable;

	for (int number = 1; (next = score_kernels(number, &usable)) != NULL; number++)
		if (usable)
			best = next;
	return best;
}
