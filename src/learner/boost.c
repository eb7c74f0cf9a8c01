/*
 * boost.c
 *		Boosted trees and random forests, by XGBoost (Chen and Guestrin 2016).
 *
 * XGBoost is C++ and lives in a module of its own, see boost_module.h.  It
 * grows the trees; they are kept and evaluated in our own form (forest.c).
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"

#include "learner/boost_module.h"
#include "learner/learners.h"

/* Options of both learners; only boost has a rate. */
enum
{
	ROUNDS,
	DEPTH,	   /* splits above a leaf */
	SUBSAMPLE, /* share of the rows that each tree sees */
	COLUMNS,   /* share of the features that each split chooses from */
	RATE
};

#define MAX_ROUNDS 1000

/* Defaults and constants were chosen on the Adult data with a few hundred rows per teacher. */
static const Option boost_options[] = {
	[ROUNDS] = {"rounds", OPTION_COUNT, 1, MAX_ROUNDS, 30},
	[DEPTH] = {"depth", OPTION_COUNT, 1, FOREST_MAX_DEPTH, 4},
	[SUBSAMPLE] = {"subsample", OPTION_NUMBER, 0.001, 1, 1},
	[COLUMNS] = {"columns", OPTION_NUMBER, 0.001, 1, 1},
	[RATE] = {"rate", OPTION_NUMBER, 0.001, 1, 0.3},
	{NULL},
};

static const Option forest_options[] = {
	[ROUNDS] = {"trees", OPTION_COUNT, 1, MAX_ROUNDS, 50},
	[DEPTH] = {"depth", OPTION_COUNT, 1, FOREST_MAX_DEPTH, 6},
	[SUBSAMPLE] = {"subsample", OPTION_NUMBER, 0.001, 1, 0.6},
	/* not the square root: most features are levels of a category */
	[COLUMNS] = {"columns", OPTION_NUMBER, 0.001, 1, 0.3},
	{NULL},
};

#define BOOST_MIN_WEIGHT 0.1
#define BOOST_PENALTY 1.0
#define FOREST_MIN_WEIGHT 0.5
#define FOREST_PENALTY 0.1

/*
 * What XGBoost keeps: a value with its feature's number, a second copy sorted
 * by feature; per row two derivatives and two scores for each class, and its
 * place in the tree.
 */
#define LIBRARY_VALUE_BYTES 16
#define LIBRARY_SCORE_BYTES 16
#define LIBRARY_ROW_BYTES 64
#define LIBRARY_BIN_BYTES 16
#define LIBRARY_TREE_FACTOR 20 /* 60 bytes a node, and its text */

static BoostFit boost_fit = NULL;

/* Raises an error that says what to install, unless the module can be loaded. */
static void
load_module(void)
{
	MemoryContext caller = CurrentMemoryContext;

	if (boost_fit != NULL)
		return;
	PG_TRY();
	{
		boost_fit = (BoostFit) load_external_function(BOOST_MODULE, BOOST_FIT, true, NULL);
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		ereport(
			ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("learners \"boost\" and \"forest\" need XGBoost, "
				   "which is not installed with privpred"),
			errdetail_internal("%s", error->message),
			errhint(
				"Install XGBoost (Debian: libxgboost-dev), then build and install privpred again; "
				"or use learner \"tree\", which does not need it."));
	}
	PG_END_TRY();
}

Forest *
forest_create(int depth, int trees, int nclasses, bool leaf_per_score)
{
	Forest *forest = palloc0_object(Forest);

	forest->depth = depth;
	forest->trees = trees;
	forest->scores = LINEAR_VECTORS(nclasses);
	forest->outputs = leaf_per_score ? forest->scores : 1;
	forest->splits = palloc0_huge(forest_splits(forest) * sizeof(ForestSplit));
	forest->leaves = palloc0_huge(forest_leaves(forest) * sizeof(float));
	return forest;
}

static Size
fit_row_bytes(int nclasses, int width)
{
	return width * (sizeof(float) + LIBRARY_VALUE_BYTES) +
		   LINEAR_VECTORS(nclasses) * LIBRARY_SCORE_BYTES + LIBRARY_ROW_BYTES;
}

static Size
member_size(int nclasses, int width, const LearnerOptions *options)
{
	Forest shape = {.depth = options->number[DEPTH], .outputs = 1};

	shape.trees = options->number[ROUNDS] * LINEAR_VECTORS(nclasses);
	return forest_stored_size(&shape);
}

/* Whether all values of a feature are 0, 1 or missing: then it has two bins. */
static bool
is_indicator(const TrainingData *data, int feature)
{
	for (int64 row = 0; row < data->nrows; row++)
	{
		double value = data->values[row * data->stride + feature];

		if (value != 0 && value != 1 && !isnan(value))
			return false;
	}
	return true;
}

/* The trees, here and as the library dumps them, and its histograms. */
static Size
fit_bytes(const TrainingData *data, const LearnerOptions *options)
{
	Size nodes = Min((int64) 1 << (int) options->number[DEPTH], 2 * data->nrows);
	Size bins = 0;

	for (int feature = 0; feature < data->width; feature++)
		bins += is_indicator(data, feature) ? 2 : Min(BOOST_MAX_BINS, data->nrows);
	return bins * nodes * LIBRARY_BIN_BYTES +
		   LIBRARY_TREE_FACTOR * member_size(data->nclasses, data->width, options);
}

/* Rows in canonical order: the library sums, and samples, in the order it gets. */
static bool
fit_task(BoostTask *task, const TrainingData *data, const LearnerOptions *options,
		 PredictorBuilder *result)
{
	float  *features = palloc_huge(data->nrows * data->width * sizeof(float));
	float  *classes = palloc_huge(data->nrows * sizeof(float));
	Forest *forest = forest_create(options->number[DEPTH],
								   options->number[ROUNDS] * LINEAR_VECTORS(data->nclasses),
								   data->nclasses, false);

	load_module();
	for (int64 i = 0; i < data->nrows; i++)
	{
		(void) forest_features(training_row(data, i), data->width, features + i * data->width);
		classes[i] = options->numbers
						 ? (float) (training_number(data, data->order[i]) / FIXED_POINT_ONE)
						 : training_class(data, i);
	}
	task->rows = data->nrows;
	task->width = data->width;
	task->nclasses = data->nclasses;
	task->features = features;
	task->classes = classes;
	task->rounds = options->number[ROUNDS];
	task->subsample = options->number[SUBSAMPLE];
	task->columns = options->number[COLUMNS];
	if (!boost_fit(task, forest))
		return false;
	builder_forest(result, forest);
	return true;
}

static bool
fit_boost(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	BoostTask task = {
		.rate = options->number[RATE], .min_weight = BOOST_MIN_WEIGHT, .penalty = BOOST_PENALTY};

	return fit_task(&task, data, options, result);
}

static bool
fit_forest(const TrainingData *data, const LearnerOptions *options, PredictorBuilder *result)
{
	BoostTask task = {.independent = true,
					  .rate = 1.0 / options->number[ROUNDS],
					  .min_weight = FOREST_MIN_WEIGHT,
					  .penalty = FOREST_PENALTY};

	return fit_task(&task, data, options, result);
}

const Learner boost_learner = {
	.name = "boost",
	.accepts_missing = true,
	.finds_cuts = true,
	.options = boost_options,
	.prepare = load_module,
	.fit_row_bytes = fit_row_bytes,
	.member_size = member_size,
	.fit_bytes = fit_bytes,
	.fit = fit_boost,
	.fit_numbers = fit_boost,
};

const Learner forest_learner = {
	.name = "forest",
	.accepts_missing = true,
	.finds_cuts = true,
	.options = forest_options,
	.prepare = load_module,
	.fit_row_bytes = fit_row_bytes,
	.member_size = member_size,
	.fit_bytes = fit_bytes,
	.fit = fit_forest,
	.fit_numbers = fit_forest,
};
