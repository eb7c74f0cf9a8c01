/*
 * plan_law.h
 *		How accurate private answers will be, from declared numbers alone.
 *
 * Apart from plan.h so that unit tests can drive it without a server.
 *
 * The law of votes.  A question has a margin z, normal with mean mu and
 * variance 1; a plain model is right where z > 0.  A teacher sees z through
 * noise of variance spread^2, so that a share Phi(z / spread) of the teachers is
 * right; the others agree on one wrong class.  spread^2 grows with the number
 * of the learner's parameters per row of a teacher, and all teachers alike lose
 * a little accuracy.  The constants of a learner were fitted to the votes of real
 * ensembles on five data sets (docs/planning.md has the residuals,
 * test/bench/plan_calibration.py the fit).
 */
#ifndef PRIVPRED_PLAN_LAW_H
#define PRIVPRED_PLAN_LAW_H

#include "server/privpred.h"

typedef struct PlanLearner
{
	const char *name;
	double		per_feature;  /* of spread^2, times classes - 1, per row */
	double		constant;	  /* counts like that many features */
	double		bias;		  /* accuracy lost where spread is infinite */
	double		error_factor; /* plain error beside that of logistic regression */
	bool		cuts;		  /* sees numbers by pieces */
} PlanLearner;

extern const PlanLearner plan_logistic;
extern const PlanLearner plan_boost;
extern const PlanLearner plan_logistic_cuts;

/*
 * What cuts change for a linear model of so many rows in all: its plain accuracy,
 * and how many features it is like, as the numbers that cuts add are nearly alike.
 */
extern double law_cut_accuracy(double accuracy, double rows);
extern double law_cut_features(int features, int cuts);

typedef struct TeacherLaw
{
	int	   classes;
	double mu;
	double spread;
} TeacherLaw;

/* Teachers with so many rows each; accuracy is that of plain logistic regression. */
extern TeacherLaw
teacher_law(const PlanLearner *learner, double accuracy, double features, int classes, double rows);

typedef enum VoteDraw
{
	DRAW_PERMUTE_AND_FLIP, /* and the better rule for two classes, odd teachers */
	DRAW_EXPONENTIAL,
	DRAW_GAUSSIAN
} VoteDraw;

/*
 * The chance that a draw gives a class with right votes, if another class has
 * all others; epsilon is that of vote/draw.h.
 */
extern double law_draw(VoteDraw draw, double epsilon, int classes, int teachers, double right);

/* Expected accuracy of a vote, of a random teacher's opinion, of one model on all rows. */
extern double law_vote(const TeacherLaw *law, VoteDraw draw, int teachers, double epsilon);
extern double law_average(const TeacherLaw *law, int teachers, double epsilon);
extern double law_single(const TeacherLaw *law);

/* The same if teachers know nothing but the commonest class, which has that share. */
extern double
law_prior_vote(VoteDraw draw, int classes, int teachers, double epsilon, double commonest);

/* Streams: the share of questions with a stable answer, and with a right one. */
extern void law_stream(const TeacherLaw *law, int teachers, EpsilonUnits epsilon, double delta,
					   double *stable_share, double *right_share);

/* A model released by noisy gradient descent; noise as in gradient/gradient.c. */
extern double
law_gradient(double accuracy, double features, int classes, double rows, double noise);

/* The normal distribution function, and its inverse for 0 < p < 1. */
extern double normal_cdf(double x);
extern double normal_quantile(double p);

#endif /* PRIVPRED_PLAN_LAW_H */
