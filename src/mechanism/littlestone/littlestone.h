/*
 * littlestone.h
 *		Littlestone's dimension, the standard optimal algorithm, and the stable
 *		learner (docs/mechanisms.md, section 10).
 *
 * parts.c				hypotheses told apart by what they say
 * dimension.c			the dimension, by search with a limit on work
 * optimal_algorithm.c	the standard optimal algorithm
 * stable_learner.c		the globally stable learner and the stable histogram
 *
 * Unit tests drive these without mechanism.h.
 */
#ifndef PRIVPRED_LITTLESTONE_H
#define PRIVPRED_LITTLESTONE_H

#include "mechanism/finite_class.h"
#include "server/privpred.h"

#define LITTLESTONE_MAX_DIMENSION 12 /* log2 of FINITE_MAX_HYPOTHESES */

/* Words of the sets of hypotheses that give a point a label, for all points: 64 MB. */
#define LITTLESTONE_WORDS (INT64CONST(1) << 23)

/*
 * Steps (64 hypotheses looked at for one point) that the dimension of a whole
 * class may take: well below a second.
 */
#define LITTLESTONE_WORK INT64CONST(100000000)

/* The same for each of the sets that the optimal algorithm compares. */
#define OPTIMAL_WORK INT64CONST(2000000)

/* ---------- parts.c ---------- */

/* A class from the labels of each hypothesis (labels_get()); without names. */
extern FiniteClass *
finite_class_of(int nhypotheses, int npoints, int nclasses, uint64 *const *labels);

/* Equal hypotheses merged, the rest sorted; without names. */
extern FiniteClass *finite_class_distinct(const FiniteClass *finite);

/* The labels of a point, each with the hypotheses that give it. */
typedef struct PointParts
{
	int		nlabels;
	int	   *label;
	uint64 *sets;
} PointParts;

/*
 * Of every point, labels in the order of the first hypotheses that give them; NULL if they
 * take more than LITTLESTONE_WORDS.
 */
extern PointParts *finite_class_parts(const FiniteClass *finite);

/* ---------- dimension.c ---------- */

typedef struct LittlestoneSearch LittlestoneSearch;

/*
 * For a class of distinct hypotheses, which must live as long; NULL if its parts take
 * too many words.
 */
extern LittlestoneSearch *littlestone_search(const FiniteClass *distinct);
extern const PointParts	 *littlestone_parts(const LittlestoneSearch *search, int point);

/* Bytes of a search at most, for a class of that size. */
extern Size littlestone_memory(int nhypotheses, int npoints, int nclasses);

/*
 * The dimension of a set of hypotheses: the depth of the deepest complete tree
 * of points that it shatters, each with two labels; -1 for the empty set, -2 if
 * the search takes more work, or the class more words, than allowed.  A function
 * of the set and the limit alone.
 */
extern int littlestone_dimension(LittlestoneSearch *search, const uint64 *set, int64 work);
extern int littlestone_dimension_of_class(const FiniteClass *finite, int64 work);

/* ---------- optimal_algorithm.c ---------- */

/*
 * The algorithm after some examples: hypotheses consistent with them or, from
 * the first example on that contradicts all, a fixed labelling that is
 * patched (Bun, Livni, Moran 2020, section 3.1 of Xie and Sun).
 */
typedef struct OptimalState
{
	bool	realizable;
	uint64 *consistent; /* a bit for each hypothesis */
	uint64 *labels;		/* of all points, unless realizable */
} OptimalState;

typedef struct OptimalAlgorithm OptimalAlgorithm;

/* The dimension of the class must have been found. */
extern OptimalAlgorithm *optimal_create(const FiniteClass *finite);
extern OptimalState		*optimal_start(OptimalAlgorithm *algorithm);
extern OptimalState		*optimal_copy(OptimalAlgorithm *algorithm, const OptimalState *state);
extern void				 optimal_free(OptimalState *state);
extern void optimal_example(OptimalAlgorithm *algorithm, OptimalState *state, int point, int label);

/* Its present label of every point: labels_get(), finite_class_classes() of them. */
extern void optimal_labels(OptimalAlgorithm *algorithm, const OptimalState *state, uint64 *labels);

/* Labels that hypotheses give to a point. */
extern const PointParts *optimal_parts(const OptimalAlgorithm *algorithm, int point);

/* ---------- stable_learner.c ---------- */

/* Examples as whole numbers: the point times finite_class_classes(), plus the label. */
typedef struct Batch
{
	int64  nexamples;
	int32 *examples; /* reordered by the learner */
} Batch;

/*
 * One run of the globally stable learner: at random one of the levels 0 to
 * depth, a tournament sample of it with parts of "part" examples, and
 * what the optimal algorithm says after that and the rest of the batch.  Its law
 * is a function of the multiset of examples.
 */
extern void stable_learner(OptimalAlgorithm *algorithm, const FiniteClass *finite, Batch *batch,
						   int depth, int64 part, uint64 *labels);

/*
 * The stable histogram (Korolova et al. 2009) at epsilon and delta over
 * disjoint batches, of which one unit changes one: a hypothesis that count
 * batches gave, at least one, is kept if count + noise is above the
 * threshold.  Noise is discrete Laplace of scale 2/epsilon.
 */
extern int64 histogram_threshold(EpsilonUnits epsilon, double delta);
extern bool	 histogram_keeps(EpsilonUnits epsilon, int64 threshold, int64 count);

/* Its probability, in doubles; not private. */
extern double histogram_probability(EpsilonUnits epsilon, int64 threshold, int64 count);

#endif /* PRIVPRED_LITTLESTONE_H */
