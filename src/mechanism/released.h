/*
 * released.h
 *		A classifier that is released as a whole: stored, asked, exported.
 *
 * What "cover", "label_private" and "littlestone" leave behind.  Its size
 * depends on the declaration alone.
 */
#ifndef PRIVPRED_RELEASED_H
#define PRIVPRED_RELEASED_H

#include "mechanism/candidates.h"
#include "mechanism/mechanism.h"

typedef struct Released
{
	Classifier classifier; /* unless it is over points */

	/* CLASS_FINITE */
	int		npoints;
	bool	points_are_columns; /* levels; else equal parts of the only column */
	uint64 *labels;				/* of all points: labels_get() */
	char	name[NAMEDATALEN];	/* of the hypothesis, or empty */

	/* What may be said about it: all public. */
	int64  candidates; /* how many there were; 0: not fixed beforehand */
	double radius;	   /* of the cover they are */
	double share;	   /* of the class that it is proved of; 0: none */
	double accuracy;   /* 0: not promised */
	double smoothness; /* how much denser than the reference; 0: says nothing */
} Released;

/* In the order of CandidateClass, without the finite ones; ends with NULL. */
extern const char *const candidate_class_names[];

extern bytea *released_write(const MechanismSpec *spec, const Released *released);

/* The point that x is, or -1. */
extern int released_point(bool points_are_columns, int npoints, int width, const double *x);

/* The error of every candidate, over all rows with a label. */
extern int64 *released_errors(const MechanismSpec *spec, const Candidates *candidates,
							  bool points_are_columns, UnitSource *units);

/* Counts the errors of one unit: its rows, of that width, weigh ERROR_ONE together. */
extern void released_count(ErrorCounts *counts, const Candidates *candidates,
						   bool points_are_columns, int width, const UnitRows *unit);

/*
 * released_pass.c: counts those of all units, wherever their rows are.  Returns false
 * if rows are better read.
 */
extern bool released_pass(UnitSource *units, const Candidates *candidates, bool points_are_columns,
						  ErrorCounts *counts);

/* cover/promise.c: the option "beta", and what is promised of a classifier, as a sentence. */
extern double cover_beta(const MechanismSpec *spec);
extern char	 *released_promise(const MechanismSpec *spec, const Released *released);

/* The functions of a mechanism that has a Released as its state. */
extern void *released_load(const MechanismSpec *spec, bytea *state);
extern int	 released_majority(const MechanismModel *model, const double *x);
extern char *released_export(const MechanismModel *model);

#endif /* PRIVPRED_RELEASED_H */
