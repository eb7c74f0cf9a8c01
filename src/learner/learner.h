/*
 * learner.h
 *		Learners fit one teacher to one chunk of rows; predictors are what they
 *		leave behind.
 *
 * registry.c		names to learners
 * training.c		the aggregate state shared by all learners: class dictionary,
 *					sums or rows, combine, serialize
 * predictor.c		the stored form: building, checking, evaluating
 * logistic.c ...	one learner each
 */
#ifndef PRIVPRED_LEARNER_H
#define PRIVPRED_LEARNER_H

#include "privpred.h"
#include "utils/jsonb.h"

/*
 * ---------- stored predictors ----------
 *
 * A varlena with a versioned header that rejects what it does not know
 * (predictor.c).  It is a single teacher or an ensemble.  Every byte is
 * checked before it is used, because any user can write one as text.
 */
typedef struct varlena Predictor;

/* A checked predictor, laid out for evaluation. */
typedef struct Ensemble Ensemble;

/*
 * Checks the bytes and builds the evaluation layout in the current memory
 * context.  Raises 22P03 (invalid binary representation) on anything unknown
 * or inconsistent.  nclasses and width come from the bytes.
 */
extern Ensemble *ensemble_load(const Predictor *stored);

extern int	ensemble_members(const Ensemble *ensemble);
extern int	ensemble_classes(const Ensemble *ensemble);
extern int	ensemble_width(const Ensemble *ensemble);
extern const char *ensemble_class_name(const Ensemble *ensemble, int class_index);

/*
 * Adds each member's vote for x (width finite doubles) to votes[nclasses].  A
 * member's vote is its highest score, ties to the lowest class.  Total: any x
 * gives every member exactly one vote, whatever the weights (non-finite
 * scores never win; if none is left the default class is voted).  No
 * allocation for native members.
 */
extern void ensemble_vote(const Ensemble *ensemble, const double *x, int32 *votes);

/*
 * ---------- learners ----------
 *
 * A learner is a deterministic function from a multiset of (class, x) rows to a
 * predictor.  Deterministic means: whatever the order of the rows, the plan,
 * the number of parallel workers.  Otherwise one unit, by moving the
 * physical order, could change more than one teacher, and the privacy proof
 * (one unit, one vote) would be void.  There are two families:
 *
 *  - additive: the state is integer sums (fixed point), a shared block and one
 *	  block per class; merging two states adds them.  One pass, constant memory.
 *  - buffered: the state is the rows; before fit they are put into a canonical
 *	  order that depends on their content alone.
 *
 * In both families: accumulate two halves and merge = accumulate the whole,
 * bit for bit.
 *
 * fit() is total: on too few rows, a single class or a numerical failure it
 * returns false and the teacher votes the declared default class.  It
 * allocates in the current context, which the caller resets, checks for
 * interrupts, and never raises an error that depends on the rows, except for
 * memory.
 */
typedef struct LearnerOptions
{
	double		cost;			/* logistic, svm: C, weight of the loss */
	double		tolerance;		/* logistic, svm: stopping criterion */
	double		ridge;			/* linear: added to the diagonal */
	double		smoothing;		/* naive_bayes: added to each variance */
	const char *train;			/* sql: the user's aggregate */
	const char *predict;		/* sql: the user's function */
	const char *default_class;	/* vote of a teacher that could not be fitted; NULL: first */
	int			nclasses;		/* declared classes, or 0 to collect them */
	char	  **classes;
} LearnerOptions;

/* Rows of a buffered learner, in canonical order, or sums of an additive one. */
typedef struct TrainingData TrainingData;
typedef struct PredictorBuilder PredictorBuilder;

typedef struct Learner
{
	const char *name;
	bool		additive;

	/* additive: how many int128 sums, as a function of the width */
	int			(*shared_sums) (int width);
	int			(*class_sums) (int width);
	/* additive: add one row (fixed-point features) to the sums */
	void		(*accumulate) (int128 *shared, int128 *of_class, const int64 *x, int width);

	/* both: fit and describe the result through the builder; false = default */
	bool		(*fit) (const TrainingData *data, const LearnerOptions *options,
						PredictorBuilder *result);
} Learner;

extern const Learner *learner_lookup(const char *name);	/* NULL if unknown */
extern char *learner_names(void);	/* "centroid, linear, ...", for hints */

/*
 * Parses and checks an options object for one learner.  Unknown keys, wrong
 * types, non-finite or non-positive numbers: 22023 with the key's name.
 * "classes" and "default" are accepted for every learner.  NULL: defaults.
 */
extern void learner_parse_options(const Learner *learner, Jsonb *json, LearnerOptions *options);

#endif							/* PRIVPRED_LEARNER_H */
