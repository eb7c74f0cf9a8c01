/*
 * predictor_eval.c
 *		Evaluation of predictors.
 *
 * Scores of BLOCK members are computed together, the innermost loop running
 * over members, so that the compiler can use vector registers without
 * reordering any sum: each member's score is the same sequence of additions on
 * every machine.  That is why this file is compiled with -O3, without
 * contraction and without fast-math.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "learner/learners.h"
#include "learner/predictor_format.h"

/* Members evaluated together; fewer than half a block are done one by one. */
#define BLOCK 16
#define LANES 4

/* Compilers keep these in registers; arrays they do not. */
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double))));

/*
 * Scores of one kind of member: for each block of members, rows of stride
 * numbers.  Padding members exist at the end of the last block.
 */
typedef struct ScoreGroup
{
	int			n;
	int			stride;			/* BLOCK, or 1 */
	Size		rows;			/* numbers per member */
	double	   *numbers;
} ScoreGroup;

typedef struct Stump
{
	int			feature;
	int			class_below;
	int			class_above;
	double		threshold;
} Stump;

struct Ensemble
{
	int			nmembers;
	int			nclasses;
	int			width;
	int			default_class;
	char	  **names;
	int32	   *constant_votes;
	ScoreGroup	linear;
	ScoreGroup	gaussian;
	int			nstumps;
	Stump	   *stumps;
	int			nforests;
	Forest	  **forests;
	float	   *features;		/* of one question, as trees compare them */
	float	   *scores;
	int			nthresholds;
	WalkPoints **thresholds;
	int			nsql;
	SqlMembers *sql;
};

/*
 * ---------- loading ----------
 */

static void
group_init(ScoreGroup *group, int n, Size rows)
{
	Size		padded;

	group->n = 0;				/* counts up while members are added */
	group->stride = n >= BLOCK / 2 ? BLOCK : 1;
	group->rows = rows;
	padded = (n + group->stride - 1) / group->stride * group->stride;
	group->numbers = n == 0 ? NULL :
		MemoryContextAllocExtended(CurrentMemoryContext, padded * rows * sizeof(double),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

static void
group_add(ScoreGroup *group, const unsigned char *body)
{
	Size		block = group->n / group->stride;
	double	   *start = group->numbers + block * group->rows * group->stride +
		group->n % group->stride;

	for (Size i = 0; i < group->rows; i++)
		start[i * group->stride] = read_double(body + 8 * i);
	group->n++;
}

static void
load_names(Ensemble *ensemble, const PredictorShape *shape)
{
	const unsigned char *position = shape->names;

	ensemble->names = palloc(shape->nclasses * sizeof(char *));
	for (uint32 i = 0; i < shape->nclasses; i++)
	{
		const char *name;
		uint32		length;
		char	   *copy;

		position = predictor_next_string(position, &name, &length);
		copy = pnstrdup(name, length);
		ensemble->names[i] = pg_any_to_server(copy, length, PG_UTF8);
	}
}

static void
load_sql_member(Ensemble *ensemble, const PredictorMember *member)
{
	const unsigned char *position = member->body;
	char	   *strings[3];

	for (int i = 0; i < 3; i++)
	{
		const char *string;
		uint32		length;

		position = predictor_next_string(position, &string, &length);
		strings[i] = pnstrdup(string, length);
	}
	sql_members_add(ensemble->sql, strings[0], strings[1], strings[2]);
}

Forest *
forest_read(const unsigned char *body, Size size, int nclasses, int width)
{
	Forest	   *forest = palloc_object(Forest);

	if (!forest_parse(body, size, nclasses, width, forest))
		elog(ERROR, "predictor_parse() accepted a malformed forest");
	forest->splits = MemoryContextAllocHuge(CurrentMemoryContext,
											forest_splits(forest) * sizeof(ForestSplit));
	forest->leaves = MemoryContextAllocHuge(CurrentMemoryContext,
											forest_leaves(forest) * sizeof(float));
	forest_load(body, forest);
	return forest;
}

static void
load_member(Ensemble *ensemble, const PredictorMember *member)
{
	switch (member->kind)
	{
		case MEMBER_CONSTANT:
			ensemble->constant_votes[read_u32(member->body)]++;
			break;
		case MEMBER_LINEAR:
			group_add(&ensemble->linear, member->body);
			break;
		case MEMBER_GAUSSIAN:
			group_add(&ensemble->gaussian, member->body);
			break;
		case MEMBER_STUMP:
			ensemble->stumps[ensemble->nstumps].feature = read_u32(member->body);
			ensemble->stumps[ensemble->nstumps].class_below = read_u32(member->body + 4);
			ensemble->stumps[ensemble->nstumps].class_above = read_u32(member->body + 8);
			ensemble->stumps[ensemble->nstumps].threshold = read_double(member->body + 16);
			ensemble->nstumps++;
			break;
		case MEMBER_SQL:
			load_sql_member(ensemble, member);
			break;
		case MEMBER_FOREST:
			ensemble->forests[ensemble->nforests++] = forest_read(member->body, member->size,
																  ensemble->nclasses,
																  ensemble->width);
			break;
		case MEMBER_THRESHOLD:
			ensemble->thresholds[ensemble->nthresholds++] = walk_load(member->body, member->size);
			break;
	}
}

Ensemble *
ensemble_load(const Predictor *stored)
{
	PredictorShape shape;
	PredictorMember member;
	const char *problem = predictor_parse((const unsigned char *) VARDATA_ANY(stored),
										  VARSIZE_ANY_EXHDR(stored), &shape);
	Ensemble   *ensemble;
	const unsigned char *position;
	int			count[MEMBER_THRESHOLD + 1] = {0};

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid predictor"),
				 errdetail_internal("%s", problem)));

	position = shape.members;
	for (uint32 i = 0; i < shape.nmembers; i++)
	{
		position = predictor_next_member(position, &member);
		count[member.kind]++;
	}

	ensemble = palloc0(sizeof(Ensemble));
	ensemble->nmembers = shape.nmembers;
	ensemble->nclasses = shape.nclasses;
	ensemble->width = shape.width;
	ensemble->default_class = shape.default_class;
	load_names(ensemble, &shape);
	ensemble->constant_votes = palloc0(shape.nclasses * sizeof(int32));
	group_init(&ensemble->linear, count[MEMBER_LINEAR],
			   (Size) LINEAR_VECTORS(shape.nclasses) * (shape.width + 1));
	group_init(&ensemble->gaussian, count[MEMBER_GAUSSIAN],
			   (Size) shape.nclasses * (1 + 2 * shape.width));
	ensemble->stumps = palloc(count[MEMBER_STUMP] * sizeof(Stump) + 1);
	if (count[MEMBER_FOREST] > 0)
	{
		ensemble->forests = palloc_array(Forest *, count[MEMBER_FOREST]);
		ensemble->features = palloc_array(float, shape.width);
		ensemble->scores = palloc_array(float, shape.nclasses);
	}
	ensemble->thresholds = palloc(count[MEMBER_THRESHOLD] * sizeof(WalkPoints *) + 1);
	ensemble->nsql = count[MEMBER_SQL];
	if (ensemble->nsql > 0)
		ensemble->sql = sql_members_create(ensemble->nsql);

	position = shape.members;
	for (uint32 i = 0; i < shape.nmembers; i++)
	{
		position = predictor_next_member(position, &member);
		load_member(ensemble, &member);
	}
	return ensemble;
}

/*
 * ---------- voting ----------
 */

/* Scores that are not finite never win; ties go to the lower class. */
static inline void
keep_best(double score, int class_index, double *best, int *best_class)
{
	if (score > *best && score < INFINITY)
	{
		*best = score;
		*best_class = class_index;
	}
}

/* The scores of a whole block for one vector of weights. */
static pg_attribute_always_inline void
linear_block(const double *weights, const double *x, int width, double *scores)
{
	const Lanes *row = (const Lanes *) weights;
	const Lanes *bias = row + (Size) width * (BLOCK / LANES);
	Lanes		s0 = bias[0];
	Lanes		s1 = bias[1];
	Lanes		s2 = bias[2];
	Lanes		s3 = bias[3];

	for (int i = 0; i < width; i++, row += BLOCK / LANES)
	{
		Lanes		xi = {x[i], x[i], x[i], x[i]};

		s0 += xi * row[0];
		s1 += xi * row[1];
		s2 += xi * row[2];
		s3 += xi * row[3];
	}
	((Lanes *) scores)[0] = s0;
	((Lanes *) scores)[1] = s1;
	((Lanes *) scores)[2] = s2;
	((Lanes *) scores)[3] = s3;
}

static pg_attribute_always_inline void
gaussian_block(const double *numbers, const double *x, int width, double *scores)
{
	for (int lane = 0; lane < BLOCK / LANES; lane++)
	{
		const Lanes *mean = (const Lanes *) numbers + BLOCK / LANES + lane;
		const Lanes *precision = mean + (Size) width * (BLOCK / LANES);
		Lanes		score = ((const Lanes *) numbers)[lane];

		for (int i = 0; i < width; i++)
		{
			Lanes		xi = {x[i], x[i], x[i], x[i]};
			Lanes		distance = xi - mean[(Size) i * (BLOCK / LANES)];

			score -= precision[(Size) i * (BLOCK / LANES)] * distance * distance;
		}
		((Lanes *) scores)[lane] = score;
	}
}

/* The same for one member: the same operations in the same order. */
static double
linear_single(const double *weights, const double *x, int width)
{
	double		score = weights[width];

	for (int i = 0; i < width; i++)
		score += x[i] * weights[i];
	return score;
}

static double
gaussian_single(const double *numbers, const double *x, int width)
{
	double		score = numbers[0];

	for (int i = 0; i < width; i++)
	{
		double		distance = x[i] - numbers[1 + i];

		score -= numbers[1 + width + i] * distance * distance;
	}
	return score;
}

static pg_attribute_always_inline void
compute_scores(const double *numbers, bool gaussian, int stride, const double *x, int width,
			   double *scores)
{
	if (stride == BLOCK && gaussian)
		gaussian_block(numbers, x, width, scores);
	else if (stride == BLOCK)
		linear_block(numbers, x, width, scores);
	else
		scores[0] = gaussian ? gaussian_single(numbers, x, width) :
			linear_single(numbers, x, width);
}

/* Votes of one block of members, of which only the first n exist. */
static pg_attribute_always_inline void
vote_block(const Ensemble *ensemble, const double *numbers, bool gaussian, int stride, int n,
		   const double *x, int32 *votes)
{
	int			width = ensemble->width;
	double		scores[BLOCK];
	double		best[BLOCK];
	int			best_class[BLOCK];

	if (!gaussian && ensemble->nclasses == 2)
	{
		compute_scores(numbers, false, stride, x, width, scores);
		for (int m = 0; m < n; m++)
			votes[isfinite(scores[m]) ? scores[m] > 0 : ensemble->default_class]++;
		return;
	}
	for (int m = 0; m < stride; m++)
	{
		best[m] = -INFINITY;
		best_class[m] = ensemble->default_class;
	}
	for (int c = 0; c < ensemble->nclasses; c++)
	{
		compute_scores(numbers, gaussian, stride, x, width, scores);
		numbers += (Size) (gaussian ? 1 + 2 * width : width + 1) * stride;
		for (int m = 0; m < stride; m++)
			keep_best(scores[m], c, &best[m], &best_class[m]);
	}
	for (int m = 0; m < n; m++)
		votes[best_class[m]]++;
}

static pg_attribute_always_inline void
vote_group(const Ensemble *ensemble, const ScoreGroup *group, bool gaussian, int stride,
		   const double *x, int32 *votes)
{
	for (int first = 0; first < group->n; first += stride)
		vote_block(ensemble, group->numbers + first * group->rows, gaussian, stride,
				   Min(stride, group->n - first), x, votes);
}

/* Constant arguments, so that each loop is compiled for its stride. */
VECTOR_CLONES static void
vote_scores(const Ensemble *ensemble, const double *x, int32 *votes)
{
	if (ensemble->linear.stride == BLOCK)
		vote_group(ensemble, &ensemble->linear, false, BLOCK, x, votes);
	else
		vote_group(ensemble, &ensemble->linear, false, 1, x, votes);
	if (ensemble->gaussian.stride == BLOCK)
		vote_group(ensemble, &ensemble->gaussian, true, BLOCK, x, votes);
	else
		vote_group(ensemble, &ensemble->gaussian, true, 1, x, votes);
}

static void
vote_forests(const Ensemble *ensemble, const double *x, int32 *votes)
{
	float	   *scores = ensemble->scores;
	bool		missing = forest_features(x, ensemble->width, ensemble->features);

	for (int i = 0; i < ensemble->nforests; i++)
	{
		const Forest *forest = ensemble->forests[i];
		double		best = -INFINITY;
		int			best_class = ensemble->default_class;

		memset(scores, 0, forest->scores * sizeof(float));
		forest_add_scores(forest, ensemble->features, missing, scores);
		if (ensemble->nclasses == 2)
			votes[isfinite(scores[0]) ? scores[0] > 0 : ensemble->default_class]++;
		else
		{
			for (int c = 0; c < ensemble->nclasses; c++)
				keep_best(scores[c], c, &best, &best_class);
			votes[best_class]++;
		}
	}
}

void
ensemble_vote(const Ensemble *ensemble, const double *x, int32 *votes)
{
	for (int c = 0; c < ensemble->nclasses; c++)
		votes[c] += ensemble->constant_votes[c];
	vote_scores(ensemble, x, votes);
	for (int i = 0; i < ensemble->nstumps; i++)
	{
		const Stump *stump = &ensemble->stumps[i];

		votes[x[stump->feature] <= stump->threshold ? stump->class_below : stump->class_above]++;
	}
	if (ensemble->nforests > 0)
		vote_forests(ensemble, x, votes);
	for (int i = 0; i < ensemble->nthresholds; i++)
	{
		int32		steps = walk_at(ensemble->thresholds[i], WALK_LAPLACE, x[0]);

		votes[steps > 0 ? 1 : steps < 0 ? 0 : ensemble->default_class]++;
	}
	if (ensemble->nsql > 0)
		sql_members_vote(ensemble->sql, ensemble, x, votes);
}

/*
 * ---------- scores ----------
 */

/*
 * How much a block of members is for the second of two classes: by the odds
 * that the margin is the logarithm of.
 */
static pg_attribute_always_inline void
score_block(const Ensemble *ensemble, const double *numbers, bool gaussian, int stride, int n,
			const double *x, double *scores)
{
	double		first[BLOCK] = {0};
	double		second[BLOCK];

	if (gaussian)
	{
		compute_scores(numbers, true, stride, x, ensemble->width, first);
		numbers += (Size) (1 + 2 * ensemble->width) * stride;
	}
	compute_scores(numbers, gaussian, stride, x, ensemble->width, second);
	for (int m = 0; m < n; m++)
	{
		double		margin = second[m] - first[m];

		scores[m] = isfinite(margin) ? 1 / (1 + exp(-margin)) : ensemble->default_class;
	}
}

static pg_attribute_always_inline double *
score_group(const Ensemble *ensemble, const ScoreGroup *group, bool gaussian, int stride,
			const double *x, double *scores)
{
	for (int first = 0; first < group->n; first += stride)
		score_block(ensemble, group->numbers + first * group->rows, gaussian, stride,
					Min(stride, group->n - first), x, scores + first);
	return scores + group->n;
}

VECTOR_CLONES static double *
score_margins(const Ensemble *ensemble, const double *x, double *scores)
{
	if (ensemble->linear.stride == BLOCK)
		scores = score_group(ensemble, &ensemble->linear, false, BLOCK, x, scores);
	else
		scores = score_group(ensemble, &ensemble->linear, false, 1, x, scores);
	if (ensemble->gaussian.stride == BLOCK)
		return score_group(ensemble, &ensemble->gaussian, true, BLOCK, x, scores);
	return score_group(ensemble, &ensemble->gaussian, true, 1, x, scores);
}

void
ensemble_scores(const Ensemble *ensemble, const double *x, double *scores)
{
	Assert(ensemble->nclasses == 2);
	scores = score_margins(ensemble, x, scores);
	for (int c = 0; c < 2; c++)
		for (int i = 0; i < ensemble->constant_votes[c]; i++)
			*scores++ = c;
	for (int i = 0; i < ensemble->nstumps; i++)
	{
		const Stump *stump = &ensemble->stumps[i];

		*scores++ = x[stump->feature] <= stump->threshold ? stump->class_below :
			stump->class_above;
	}
	if (ensemble->nsql > 0)
		sql_members_score(ensemble->sql, ensemble, x, scores);
}

void
ensemble_check_callable(const Ensemble *ensemble)
{
	if (ensemble->nsql > 0 && !INTERNAL_SUBTRANSACTION_OK())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a predictor of learner \"sql\" cannot be used in a parallel query"),
				 errhint("Set max_parallel_workers_per_gather to 0.")));
}

/*
 * ---------- facts ----------
 */

int
ensemble_members(const Ensemble *ensemble)
{
	return ensemble->nmembers;
}

int
ensemble_fitted(const Ensemble *ensemble)
{
	int			fitted = ensemble->nmembers;

	for (int i = 0; i < ensemble->nclasses; i++)
		fitted -= ensemble->constant_votes[i];
	return fitted;
}

int
ensemble_classes(const Ensemble *ensemble)
{
	return ensemble->nclasses;
}

int
ensemble_width(const Ensemble *ensemble)
{
	return ensemble->width;
}

int
ensemble_default_class(const Ensemble *ensemble)
{
	return ensemble->default_class;
}

const char *
ensemble_class_name(const Ensemble *ensemble, int class_index)
{
	return ensemble->names[class_index];
}

int
ensemble_class_index(const Ensemble *ensemble, const char *name, int length)
{
	for (int i = 0; i < ensemble->nclasses; i++)
		if (strncmp(ensemble->names[i], name, length) == 0 && ensemble->names[i][length] == '\0')
			return i;
	return -1;
}

bool
ensemble_accepts_missing(const Ensemble *ensemble)
{
	return ensemble->linear.n == 0 && ensemble->gaussian.n == 0 && ensemble->nstumps == 0 &&
		ensemble->nthresholds == 0 && ensemble->nsql == 0;
}

bool
ensemble_runs_sql(const Ensemble *ensemble)
{
	return ensemble->nsql > 0;
}
