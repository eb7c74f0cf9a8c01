/*
 * boost_module.h
 *		What privpred asks of privpred_boost, the module that holds XGBoost.
 *
 * The module is loaded by the first training that needs it (boost.c), never by
 * loading privpred itself and never by the postmaster.
 */
#ifndef PRIVPRED_BOOST_MODULE_H
#define PRIVPRED_BOOST_MODULE_H

#include "learner/forest.h"

/* Thresholds to choose from for each feature, at its quantiles. */
#define BOOST_MAX_BINS 64

typedef struct BoostTask
{
	int64		 rows;
	int			 width;
	int			 nclasses;	  /* 1: labels are numbers */
	const float *features;	  /* width per row; NaN: missing */
	const float *classes;	  /* of each row, or its number in [0, 1] */
	bool		 independent; /* trees do not correct one another: a random forest */
	int			 rounds;	  /* of as many trees as there are scores */
	double		 rate;
	double		 subsample;	 /* share of rows each tree sees */
	double		 columns;	 /* share of features each split may choose from */
	double		 min_weight; /* of a leaf, in second derivatives of the loss */
	double		 penalty;	 /* on the square of leaves */
} BoostTask;

/*
 * Fills a forest of rounds * scores trees, the arrays of which are zero.
 * Deterministic: one thread, a fixed seed.  Checks for interrupts between
 * rounds.  False if the library's numbers are not finite.  Errors of the
 * library are raised as 38000 (external routine exception).
 *
 * The number in the name changes with BoostTask and Forest.
 */
typedef bool (*BoostFit)(const BoostTask *task, Forest *forest);

#define BOOST_MODULE "$libdir/privpred_boost"
#define BOOST_FIT "privpred_boost_fit_2"

#endif /* PRIVPRED_BOOST_MODULE_H */
