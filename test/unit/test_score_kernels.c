/*
 * test_score_kernels.c
 *		Every kernel that this processor can run against a plain evaluation,
 *		member by member, bit for bit: random numbers of full precision, and
 *		numbers chosen to hurt (ties, cancellation, overflow, denormals,
 *		infinities, NaN), for members that fill blocks and members that do not.
 *		Questions that are mostly zeros and ones, as one-hot levels and pieces are,
 *		because kernels pass over zeros and the plain evaluation does not.
 *
 * sources: src/learner/score_kernels.c
 */
#include "c.h"

#include <float.h>
#include <math.h>

#include "learner/score_kernels.h"
#include "unit.h"

#define ROUNDS 4000
#define MAX_MEMBERS 70
#define MAX_WIDTH 33
#define MAX_CLASSES 12
#define MAX_KERNELS 8

static double
any_mantissa(void)
{
	double value = 0;

	for (int i = 0; i < 4; i++)
		value = (value + arbitrary(1 << 16)) / (1 << 16);
	return 2 * value - 1;
}

/* Mostly numbers that round; now and then one that is special. */
static double
any_number(int malice)
{
	static const double special[] = {
		0.0,	 -0.0,	   1.0,		  -1.0,		   1.0 + DBL_EPSILON, -1.0 - DBL_EPSILON,
		DBL_MAX, -DBL_MAX, DBL_MIN,	  DBL_MIN / 4, -DBL_MIN / 4,	  1e16,
		-1e16,	 INFINITY, -INFINITY, NAN};

	if (malice > 0 && arbitrary(malice) == 0)
		return special[arbitrary(lengthof(special))];
	return any_mantissa();
}

/* ---------- the plain evaluation ---------- */

typedef struct Members
{
	ScoreKind kind;
	int		  width;
	int		  vectors;
	int		  n;
	double	  numbers[MAX_MEMBERS][MAX_CLASSES * (1 + 2 * MAX_WIDTH)];
} Members;

static double
plain_score(const Members *members, int member, int vector, const double *x)
{
	int			  width = members->width;
	const double *numbers =
		members->numbers[member] + vector * score_vector_size(members->kind, width);
	volatile double score = members->kind == SCORE_LINEAR ? numbers[width] + 0.0 : numbers[0];

	/* volatile: each operation rounds on its own */
	for (int i = 0; i < width; i++)
	{
		volatile double product;

		if (members->kind == SCORE_LINEAR)
		{
			/* never stored: predictor_parse() */
			if (x[i] == 0 && !isfinite(numbers[i]))
				continue;
			product = x[i] * numbers[i];
			score = score + product;
		}
		else
		{
			volatile double distance = x[i] - numbers[1 + i];

			product = numbers[1 + width + i] * distance;
			product = product * distance;
			score = score - product;
		}
	}
	return score;
}

/* Of every member and vector, for the question of the round: all kernels are held against it. */
static double plain[MAX_MEMBERS][MAX_CLASSES];

static int
plain_vote(const Members *members, int member, int default_class)
{
	double best = 0;
	int	   winner = -1;

	if (members->vectors == 1)
	{
		double score = plain[member][0];

		return isfinite(score) ? score > 0 : default_class;
	}
	for (int c = 0; c < members->vectors; c++)
	{
		double score = plain[member][c];

		if (isfinite(score) && (winner < 0 || score > best))
		{
			best = score;
			winner = c;
		}
	}
	return winner < 0 ? default_class : winner;
}

/* ---------- the comparison ---------- */

static void
fill_group(const Members *members, ScoreGroup *group)
{
	size_t size;

	score_group_init(group, members->kind, members->width, members->vectors, members->n);
	size = score_group_size(group, members->n);
	group->numbers = aligned_alloc(SCORE_ALIGNMENT, TYPEALIGN(SCORE_ALIGNMENT, Max(size, 1)));
	memset(group->numbers, 0, size);
	for (int m = 0; m < members->n; m++)
		for (size_t i = 0; i < group->rows; i++)
			group->numbers[((size_t) (m / group->stride) * group->rows + i) * group->stride +
						   m % group->stride] = members->numbers[m][i];
	group->n = members->n;
	/* to the byte, so that a tool for memory sees what is written beyond it */
	group->used = members->n == 0 ? NULL : malloc(Max(members->width, 1) * sizeof(int32));
}

static bool
same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof(double)) == 0 || (isnan(a) && isnan(b));
}

static void
make_members(Members *members, int malice)
{
	members->kind = arbitrary(3) == 0 ? SCORE_GAUSSIAN : SCORE_LINEAR;
	members->width = arbitrary(MAX_WIDTH + 1);
	members->vectors = arbitrary(2) == 0 ? (members->kind == SCORE_LINEAR ? 1 : 2)
										 : 2 + arbitrary(MAX_CLASSES - 1);
	members->n = arbitrary(MAX_MEMBERS + 1);
	for (int m = 0; m < members->n; m++)
	{
		size_t size = score_vector_size(members->kind, members->width);

		for (size_t i = 0; i < members->vectors * size; i++)
			members->numbers[m][i] = any_number(malice);
		/* two classes that tie */
		if (members->vectors > 2 && arbitrary(4) == 0)
			memcpy(members->numbers[m] + 2 * size, members->numbers[m], size * sizeof(double));
	}
}

static bool
votes_agree(const ScoreKernels *kernels, const Members *members, const ScoreGroup *group,
			const double *x)
{
	int	  default_class = arbitrary(members->vectors == 1 ? 2 : members->vectors);
	int32 expected[MAX_CLASSES] = {0};
	int32 votes[MAX_CLASSES] = {0};

	/* votes are added to what was there */
	votes[0] = expected[0] = 7;
	for (int m = 0; m < members->n; m++)
		expected[plain_vote(members, m, default_class)]++;
	kernels->vote(group, x, default_class, votes);
	return memcmp(votes, expected, sizeof(votes)) == 0;
}

static bool
margins_agree(const ScoreKernels *kernels, const Members *members, const ScoreGroup *group,
			  const double *x)
{
	double margins[MAX_MEMBERS + 1];
	bool   agree;

	margins[members->n] = 42; /* nothing is written beyond the last */
	kernels->margins(group, x, margins);
	agree = margins[members->n] == 42;
	for (int m = 0; m < members->n; m++)
	{
		double expected = plain[m][0];

		if (members->vectors > 1)
			expected = plain[m][1] - expected;
		agree = agree && same_bits(margins[m], expected);
	}
	return agree;
}

static bool
sums_agree(const ScoreKernels *kernels, const Members *members, const ScoreGroup *group,
		   const double *x)
{
	double sums[MAX_MEMBERS + 1];
	bool   agree = true;

	for (int c = 0; c < members->vectors; c++)
	{
		sums[members->n] = 42; /* nothing is written beyond the last */
		kernels->sums(group, x, c, sums);
		agree = agree && sums[members->n] == 42;
		for (int m = 0; m < members->n; m++)
			agree = agree && same_bits(sums[m], plain[m][c]);
	}
	return agree;
}

/* As encoded: mostly zeros of either sign and ones; one in a hundred rounds has nothing else. */
static double
any_encoded(int malice, bool all)
{
	int kind = arbitrary(8);

	if (all || kind < 4)
		return kind % 2 == 0 ? 0.0 : -0.0;
	return kind < 6 ? 1 : kind == 6 ? DBL_MIN / 4 : any_number(malice);
}

static void
compare(int malice, bool encoded, const char *what)
{
	static Members		members;
	int					differ[MAX_KERNELS] = {0};
	const ScoreKernels *kernels;
	bool				usable;

	for (int round = 0; round < ROUNDS; round++)
	{
		ScoreGroup group;
		double	   x[MAX_WIDTH + 1];

		bool zeros = arbitrary(100) == 0;

		make_members(&members, malice);
		for (int i = 0; i < members.width; i++)
			x[i] = encoded ? any_encoded(malice, zeros) : any_number(malice);
		for (int m = 0; m < members.n; m++)
			for (int c = 0; c < members.vectors; c++)
				plain[m][c] = plain_score(&members, m, c, x);
		fill_group(&members, &group);
		for (int k = 0; (kernels = score_kernels(k, &usable)) != NULL; k++)
			if (usable && (!votes_agree(kernels, &members, &group, x) ||
						   !margins_agree(kernels, &members, &group, x) ||
						   !sums_agree(kernels, &members, &group, x)))
				differ[k]++;
		free(group.numbers);
		free(group.used);
	}
	for (int k = 0; (kernels = score_kernels(k, &usable)) != NULL; k++)
	{
		if (usable)
			ok(differ[k] == 0, "%s: %s as member by member, %d of %d rounds differ", kernels->name,
			   what, differ[k], ROUNDS);
		else
			note("this processor cannot run %s", kernels->name);
	}
}

int
main(void)
{
	bool usable;
	bool known = false;

	compare(0, false, "numbers that round");
	compare(50, false, "a few special numbers");
	compare(3, false, "many special numbers");
	compare(0, true, "encoded questions");
	compare(50, true, "encoded questions, a few special numbers");
	compare(3, true, "encoded questions, many special numbers");

	for (int k = 0; score_kernels(k, &usable) != NULL; k++)
		known |= usable && score_kernels(k, &usable) == score_kernels_best();
	ok(known, "what is chosen can be run: %s", score_kernels_best()->name);
	return done();
}
