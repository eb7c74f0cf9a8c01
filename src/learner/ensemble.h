/*
 * ensemble.h
 *		Inside of a decoded ensemble; for predictor_eval.c and predictor_facts.c alone.
 */
#ifndef PRIVPRED_ENSEMBLE_H
#define PRIVPRED_ENSEMBLE_H

#include "learner/knn.h"
#include "learner/learners.h"
#include "learner/score_kernels.h"

typedef struct Stump
{
	int	   feature;
	int	   class_below;
	int	   class_above;
	double threshold;
} Stump;

struct Ensemble
{
	int					nmembers;
	int					nclasses;
	int					width;
	int					default_class;
	char			  **names;
	int32			   *constant_votes;
	const ScoreKernels *kernels;
	ScoreGroup			linear;
	ScoreGroup			gaussian;
	int					nstumps;
	Stump			   *stumps;
	int					nforests;
	Forest			  **forests;
	float			   *features; /* of one question, as trees compare them */
	float			   *scores;
	int					nthresholds;
	WalkPoints		  **thresholds;
	int					nneighbours;
	Neighbours		  **neighbours;
	int32			   *counts; /* of classes among neighbours */
	int					nsql;
	SqlMembers		   *sql;
};

#endif /* PRIVPRED_ENSEMBLE_H */
