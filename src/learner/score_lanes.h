/*
 * score_lanes.h
 *		The kernels of score_kernels.c, included once per width of vectors.
 *
 * Before: LANES, doubles of one vector, 2, 4 or 8; EACH(what), which repeats
 * what(0), what(1), ... for the vectors of a block, because compilers keep
 * variables in registers where they do not keep arrays; SPLAT(x), a vector of
 * x; TARGET, for which processor; and NAMED(name), what functions are called.
 */

typedef double
	NAMED(Vector) __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double))));
typedef int64_t
	NAMED(Mask) __attribute__((vector_size(LANES * sizeof(int64_t)), aligned(sizeof(int64_t))));

#define Vector NAMED(Vector)
#define Mask NAMED(Mask)
#define VECTORS (SCORE_BLOCK / LANES)

/* Scores of a block for one vector of weights. */
TARGET static inline __attribute__((always_inline)) void
NAMED(linear)(const double *numbers, const double *x, int width, const int32_t *used, int nused,
			  Vector *scores)
{
	const Vector *rows = (const Vector *) numbers;
	const Vector *bias = rows + (size_t) width * VECTORS;
	const Vector  zero = SPLAT(0.0);

#define BEGIN(v) Vector s##v = bias[v] + zero;
#define ADD(v) s##v += xi * row[v];
#define END(v) scores[v] = s##v;
	EACH(BEGIN)
	for (int i = 0; i < nused; i++)
	{
		const Vector *row = rows + (size_t) used[i] * VECTORS;
		Vector		  xi = SPLAT(x[used[i]]);

		EACH(ADD)
	}
	EACH(END)
#undef BEGIN
#undef ADD
#undef END
}

TARGET static inline __attribute__((always_inline)) void
NAMED(gaussian)(const double *numbers, const double *x, int width, Vector *scores)
{
	const Vector *row = (const Vector *) numbers;
	const Vector *precision = row + (size_t) (1 + width) * VECTORS;

#define BEGIN(v) Vector s##v = row[v];
#define SUBTRACT(v) \
	{ \
		Vector distance = xi - row[v]; \
\
		s##v -= precision[v] * distance * distance; \
	}
#define END(v) scores[v] = s##v;
	EACH(BEGIN)
	row += VECTORS;
	for (int i = 0; i < width; i++, row += VECTORS, precision += VECTORS)
	{
		Vector xi = SPLAT(x[i]);

		EACH(SUBTRACT)
	}
	EACH(END)
#undef BEGIN
#undef SUBTRACT
#undef END
}

TARGET static inline __attribute__((always_inline)) void
NAMED(scores)(const ScoreGroup *group, const double *numbers, const double *x, int nused,
			  Vector *scores)
{
	if (group->kind == SCORE_GAUSSIAN)
		NAMED(gaussian)(numbers, x, group->width, scores);
	else
		NAMED(linear)(numbers, x, group->width, group->used, nused, scores);
}

/* The sign of one score; members beyond n are not there. */
TARGET static void
NAMED(vote_by_sign)(const ScoreGroup *group, const double *x, int default_class, int32_t *votes)
{
	const Vector zero = SPLAT(0.0);
	const Vector infinity = SPLAT((double) INFINITY);
	Mask		 second = (Mask) SPLAT(0.0); /* all bits zero; a true comparison counts -1 */
	int32_t		 count = 0;
	int			 nused = features_used(group, x);

	for (int first = 0; first < group->n; first += SCORE_BLOCK)
	{
		int			n = group->n - first < SCORE_BLOCK ? group->n - first : SCORE_BLOCK;
		const Mask *there = (const Mask *) (lanes_there + SCORE_BLOCK - n);
		Vector		scores[VECTORS];

		NAMED(scores)(group, group->numbers + first * group->rows, x, nused, scores);
		/* the second comparison of each is about what is not finite; NaN fails both */
#define IF_FIRST(v) second += (scores[v] > zero) & (scores[v] < infinity) & there[v];
#define IF_SECOND(v) second += ~((scores[v] <= zero) & (scores[v] > -infinity)) & there[v];
		if (default_class == 0)
		{
			EACH(IF_FIRST)
		}
		else
		{
			EACH(IF_SECOND)
		}
#undef IF_FIRST
#undef IF_SECOND
	}
	for (int lane = 0; lane < LANES; lane++)
		count -= (int32_t) second[lane];
	votes[1] += count;
	votes[0] += group->n - count;
}

/* The best of a score per class. */
TARGET static void
NAMED(vote_by_best)(const ScoreGroup *group, const double *x, int default_class, int32_t *votes)
{
	const Vector infinity = SPLAT((double) INFINITY);
	size_t		 step = score_vector_size(group->kind, group->width) * SCORE_BLOCK;
	int			 nused = features_used(group, x);

	for (int first = 0; first < group->n; first += SCORE_BLOCK)
	{
		int			  n = group->n - first < SCORE_BLOCK ? group->n - first : SCORE_BLOCK;
		const double *numbers = group->numbers + first * group->rows;
		int64_t		  winners[SCORE_BLOCK];

#define BEGIN(v) \
	Vector best##v = -infinity; \
	Mask   winner##v = (Mask) SPLAT(0.0) + default_class;
#define KEEP(v) \
	{ \
		Mask better = (scores[v] > best##v) & (scores[v] < infinity); \
\
		best##v = (Vector) (((Mask) scores[v] & better) | ((Mask) best##v & ~better)); \
		winner##v = (c & better) | (winner##v & ~better); \
	}
#define END(v) ((Mask *) winners)[v] = winner##v;
		EACH(BEGIN)
		for (int64_t c = 0; c < group->vectors; c++, numbers += step)
		{
			Vector scores[VECTORS];

			NAMED(scores)(group, numbers, x, nused, scores);
			EACH(KEEP)
		}
		EACH(END)
#undef BEGIN
#undef KEEP
#undef END
		for (int m = 0; m < n; m++)
			votes[winners[m]]++;
	}
}

TARGET static void
NAMED(vote)(const ScoreGroup *group, const double *x, int default_class, int32_t *votes)
{
	if (group->stride == 1)
		vote_singly(group, x, default_class, votes);
	else if (group->vectors == 1)
		NAMED(vote_by_sign)(group, x, default_class, votes);
	else
		NAMED(vote_by_best)(group, x, default_class, votes);
}

TARGET static void
NAMED(margins)(const ScoreGroup *group, const double *x, double *margins)
{
	size_t step = score_vector_size(group->kind, group->width) * SCORE_BLOCK;
	int	   nused;

	if (group->stride == 1)
	{
		margins_singly(group, x, margins);
		return;
	}
	nused = features_used(group, x);
	for (int first = 0; first < group->n; first += SCORE_BLOCK)
	{
		int			  n = group->n - first < SCORE_BLOCK ? group->n - first : SCORE_BLOCK;
		const double *numbers = group->numbers + first * group->rows;
		Vector		  scores[VECTORS];

		NAMED(scores)(group, numbers, x, nused, scores);
		if (group->vectors > 1)
		{
			Vector second[VECTORS];

			NAMED(scores)(group, numbers + step, x, nused, second);
			for (int v = 0; v < VECTORS; v++)
				scores[v] = second[v] - scores[v];
		}
		memcpy(margins + first, scores, n * sizeof(double));
	}
}

TARGET static void
NAMED(sums)(const ScoreGroup *group, const double *x, int vector, double *sums)
{
	size_t start = vector * score_vector_size(group->kind, group->width) * SCORE_BLOCK;
	int	   nused;

	if (group->stride == 1)
	{
		sums_singly(group, x, vector, sums);
		return;
	}
	nused = features_used(group, x);
	for (int first = 0; first < group->n; first += SCORE_BLOCK)
	{
		int	   n = group->n - first < SCORE_BLOCK ? group->n - first : SCORE_BLOCK;
		Vector scores[VECTORS];

		NAMED(scores)(group, group->numbers + first * group->rows + start, x, nused, scores);
		memcpy(sums + first, scores, n * sizeof(double));
	}
}

static const ScoreKernels NAMED(kernels) = {
	.name = KERNELS_NAME,
	.vote = NAMED(vote),
	.margins = NAMED(margins),
	.sums = NAMED(sums),
};

#undef Vector
#undef Mask
#undef VECTORS
#undef LANES
#undef EACH
#undef SPLAT
#undef TARGET
#undef NAMED
#undef KERNELS_NAME
