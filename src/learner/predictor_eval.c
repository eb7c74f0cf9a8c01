/*
 * predictor_eval.c
 *		Evaluation of predictors.
 *
 * Members are decoded once into a layout made for evaluation; those with
 * scores are left to the kernels of score_kernels.h.
 */
#include "postgres.h"

#include <math.h>

#include "mb/pg_wchar.h"

#include "learner/ensemble.h"

/* ---------- loading ---------- */

static void
group_init(ScoreGroup *group, ScoreKind kind, int width, int vectors, int n)
{
	char *space;

	score_group_init(group, kind, width, vectors, n);
	if (n == 0)
		return;
	space = palloc0_huge(score_group_size(group, n) + SCORE_ALIGNMENT);
	group->numbers = (double *) TYPEALIGN(SCORE_ALIGNMENT, space);
	if (kind == SCORE_LINEAR)
		group->used = palloc_array(int32, width);
}

static void
group_add(ScoreGroup *group, const unsigned char *body)
{
	Size	block = group->n / group->stride;
	double *start = group->numbers + block * group->rows * group->stride + group->n % group->stride;

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
		ensemble->names[i] = stored_text(&position);
}

static void
load_sql_member(Ensemble *ensemble, const PredictorMember *member)
{
	const unsigned char *position = member->body;
	char				*predict = stored_string(&position);
	char				*type = stored_string(&position);

	sql_members_add(ensemble->sql, predict, type, stored_string(&position));
}

Forest *
forest_read(const unsigned char *body, Size size, int nclasses, int width)
{
	Forest *forest = palloc_object(Forest);

	if (!forest_parse(body, size, nclasses, width, forest))
		elog(ERROR, "predictor_parse() accepted a malformed forest");
	forest->splits = palloc_huge(forest_splits(forest) * sizeof(ForestSplit));
	forest->leaves = palloc_huge(forest_leaves(forest) * sizeof(float));
	forest_load(body, forest);
	return forest;
}

/* No default: the compiler warns if a kind is missing. */
static void
load_member(Ensemble *ensemble, const PredictorMember *member)
{
	switch ((MemberKind) member->kind)
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
			ensemble->forests[ensemble->nforests++] =
				forest_read(member->body, member->size, ensemble->nclasses, ensemble->width);
			break;
		case MEMBER_THRESHOLD:
			ensemble->thresholds[ensemble->nthresholds++] = walk_load(member->body, member->size);
			break;
		case MEMBER_NEIGHBOURS:
			ensemble->neighbours[ensemble->nneighbours++] =
				neighbours_load(member->body, ensemble->width);
			break;
	}
}

Ensemble *
ensemble_load(const Predictor *stored)
{
	PredictorShape		 shape;
	PredictorMember		 member;
	Ensemble			*ensemble;
	const unsigned char *position;
	int					 count[MEMBER_NEIGHBOURS + 1] = {0};

	predictor_read(stored, &shape);
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
	ensemble->kernels = score_kernels_best();
	group_init(&ensemble->linear, SCORE_LINEAR, shape.width, LINEAR_VECTORS(shape.nclasses),
			   count[MEMBER_LINEAR]);
	group_init(&ensemble->gaussian, SCORE_GAUSSIAN, shape.width, shape.nclasses,
			   count[MEMBER_GAUSSIAN]);
	ensemble->stumps = palloc(count[MEMBER_STUMP] * sizeof(Stump) + 1);
	if (count[MEMBER_FOREST] > 0)
	{
		ensemble->forests = palloc_array(Forest *, count[MEMBER_FOREST]);
		ensemble->features = palloc_array(float, shape.width);
		ensemble->scores = palloc_array(float, shape.nclasses);
	}
	ensemble->thresholds = palloc(count[MEMBER_THRESHOLD] * sizeof(WalkPoints *) + 1);
	ensemble->neighbours = palloc(count[MEMBER_NEIGHBOURS] * sizeof(Neighbours *) + 1);
	ensemble->counts = palloc_array(int32, shape.nclasses);
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

/* ---------- voting ---------- */

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

static inline int
stump_vote(const Stump *stump, const double *x)
{
	return x[stump->feature] <= stump->threshold ? stump->class_below : stump->class_above;
}

/* Votes on the features that forest_features() stored in the ensemble. */
static int
forest_vote(const Ensemble *ensemble, const Forest *forest, bool missing)
{
	float *scores = ensemble->scores;
	double best = -INFINITY;
	int	   best_class = ensemble->default_class;

	memset(scores, 0, forest->scores * sizeof(float));
	forest_add_scores(forest, ensemble->features, missing, scores);
	if (ensemble->nclasses == 2)
		return isfinite(scores[0]) ? scores[0] > 0 : ensemble->default_class;
	for (int c = 0; c < forest->scores; c++)
		keep_best(scores[c], c, &best, &best_class);
	return best_class;
}

static inline int
threshold_vote(const Ensemble *ensemble, const WalkPoints *points, const double *x)
{
	int32 steps = walk_at(points, WALK_LAPLACE, x[0]);

	return steps > 0 ? 1 : steps < 0 ? 0 : ensemble->default_class;
}

/* Counts the classes of a member's neighbours; most of them decide, ties to the lowest. */
static int
neighbours_vote(const Ensemble *ensemble, const Neighbours *neighbours, const double *x)
{
	int best = 0;

	memset(ensemble->counts, 0, ensemble->nclasses * sizeof(int32));
	neighbours_count(neighbours, x, ensemble->counts);
	for (int c = 1; c < ensemble->nclasses; c++)
		if (ensemble->counts[c] > ensemble->counts[best])
			best = c;
	return best;
}

void
ensemble_vote(const Ensemble *ensemble, const double *x, int32 *votes)
{
	if (ensemble->nclasses == 1)
	{
		votes[0] += ensemble->nmembers;
		return;
	}
	for (int c = 0; c < ensemble->nclasses; c++)
		votes[c] += ensemble->constant_votes[c];
	ensemble->kernels->vote(&ensemble->linear, x, ensemble->default_class, votes);
	ensemble->kernels->vote(&ensemble->gaussian, x, ensemble->default_class, votes);
	for (int i = 0; i < ensemble->nstumps; i++)
		votes[stump_vote(&ensemble->stumps[i], x)]++;
	if (ensemble->nforests > 0)
	{
		bool missing = forest_features(x, ensemble->width, ensemble->features);

		for (int i = 0; i < ensemble->nforests; i++)
			votes[forest_vote(ensemble, ensemble->forests[i], missing)]++;
	}
	for (int i = 0; i < ensemble->nthresholds; i++)
		votes[threshold_vote(ensemble, ensemble->thresholds[i], x)]++;
	for (int i = 0; i < ensemble->nneighbours; i++)
		votes[neighbours_vote(ensemble, ensemble->neighbours[i], x)]++;
	if (ensemble->nsql > 0)
		sql_members_ask(ensemble->sql, ensemble, x, votes, 0, NULL);
}

/* ---------- scores ---------- */

/* Scores of a class of which there are two: the margin is taken as the logarithm of the odds. */
static void
score_of_two(const Ensemble *ensemble, const ScoreGroup *group, const double *x, int class_index,
			 double *scores)
{
	ensemble->kernels->margins(group, x, scores);
	for (int m = 0; m < group->n; m++)
	{
		double margin = class_index == 1 ? scores[m] : -scores[m];

		scores[m] =
			isfinite(margin) ? 1 / (1 + exp(-margin)) : class_index == ensemble->default_class;
	}
}

/*
 * A class's share of the sum of all e^sum, where sums[c * n] is that of class c.  Sums
 * that are not finite never win.  Below one half unless the vote is for this class.
 */
static double
share_of_sums(const Ensemble *ensemble, const double *sums, int n, int class_index)
{
	double own = sums[(Size) class_index * n];
	double total = 1;
	bool   any = isfinite(own);
	bool   voted = true;

	for (int c = 0; c < ensemble->nclasses; c++)
	{
		double other = sums[(Size) c * n];

		if (c == class_index || !isfinite(other))
			continue;
		any = true;
		total += exp(other - own);
		voted &= c < class_index ? other < own : other <= own;
	}
	if (!any)
		return class_index == ensemble->default_class;
	if (!isfinite(own))
		return 0;
	return voted ? 1 / total : Min(1 / total, nextafter(0.5, 0));
}

/* The same of more classes.  All sums of the group are taken, so that no class is faster. */
static void
score_of_many(const Ensemble *ensemble, const ScoreGroup *group, const double *x, int class_index,
			  double *scores)
{
	double *sums = palloc_huge(sizeof(double) * group->n * group->vectors);

	for (int c = 0; c < group->vectors; c++)
		ensemble->kernels->sums(group, x, c, sums + (Size) c * group->n);
	for (int m = 0; m < group->n; m++)
		scores[m] = share_of_sums(ensemble, sums + m, group->n, class_index);
	pfree(sums);
}

/* Returns where the next group's scores go. */
static double *
score_group(const Ensemble *ensemble, const ScoreGroup *group, const double *x, int class_index,
			double *scores)
{
	if (group->n > 0 && ensemble->nclasses == 2)
		score_of_two(ensemble, group, x, class_index, scores);
	else if (group->n > 0)
		score_of_many(ensemble, group, x, class_index, scores);
	return scores + group->n;
}

/* The share of the class among the neighbours; below one half if the vote is another's. */
static double
neighbours_score(const Ensemble *ensemble, const Neighbours *neighbours, const double *x,
				 int class_index)
{
	int	   vote = neighbours_vote(ensemble, neighbours, x);
	double share = (double) ensemble->counts[class_index] / neighbours->k;

	return vote != class_index && share == 0.5 ? nextafter(0.5, 0) : share;
}

/* Members without a margin. */
static double *
score_votes(const Ensemble *ensemble, const double *x, int class_index, double *scores)
{
	for (int c = 0; c < ensemble->nclasses; c++)
		for (int i = 0; i < ensemble->constant_votes[c]; i++)
			*scores++ = c == class_index;
	for (int i = 0; i < ensemble->nstumps; i++)
		*scores++ = stump_vote(&ensemble->stumps[i], x) == class_index;
	if (ensemble->nforests > 0)
	{
		bool missing = forest_features(x, ensemble->width, ensemble->features);

		for (int i = 0; i < ensemble->nforests; i++)
			*scores++ = forest_vote(ensemble, ensemble->forests[i], missing) == class_index;
	}
	for (int i = 0; i < ensemble->nthresholds; i++)
		*scores++ = threshold_vote(ensemble, ensemble->thresholds[i], x) == class_index;
	for (int i = 0; i < ensemble->nneighbours; i++)
		*scores++ = neighbours_score(ensemble, ensemble->neighbours[i], x, class_index);
	return scores;
}

/* The sum of a forest for numbers, or two classes. */
static double
forest_number(const Ensemble *ensemble, const Forest *forest, bool missing)
{
	ensemble->scores[0] = 0;
	forest_add_scores(forest, ensemble->features, missing, ensemble->scores);
	return ensemble->scores[0] + 0.5;
}

/* Numbers, in [0, 1] whatever members make of x; those that have none say one half. */
static int
ensemble_numbers(const Ensemble *ensemble, const double *x, double *numbers)
{
	int	 n = ensemble->linear.n;
	bool missing = false;

	ensemble->kernels->margins(&ensemble->linear, x, numbers);
	if (ensemble->nforests > 0)
		missing = forest_features(x, ensemble->width, ensemble->features);
	for (int i = 0; i < ensemble->nforests; i++)
		numbers[n++] = forest_number(ensemble, ensemble->forests[i], missing);
	for (int i = 0; i < ensemble->nneighbours; i++)
		numbers[n++] = neighbours_mean(ensemble->neighbours[i], x);
	if (ensemble->nsql > 0)
		sql_members_ask(ensemble->sql, ensemble, x, NULL, 0, numbers + n);
	n += ensemble->nsql;
	while (n < ensemble->nmembers)
		numbers[n++] = 0.5;
	for (int i = 0; i < n; i++)
		numbers[i] = isnan(numbers[i]) ? 0.5 : Min(Max(numbers[i], 0), 1);
	return n;
}

int
ensemble_scores(const Ensemble *ensemble, const double *x, int class_index, double *scores)
{
	double *next = scores;

	if (ensemble->nclasses == 1)
		return ensemble_numbers(ensemble, x, scores);
	next = score_group(ensemble, &ensemble->linear, x, class_index, next);
	next = score_group(ensemble, &ensemble->gaussian, x, class_index, next);
	next = score_votes(ensemble, x, class_index, next);
	if (ensemble->nsql > 0)
		sql_members_ask(ensemble->sql, ensemble, x, NULL, class_index, next);
	return next - scores + ensemble->nsql;
}
