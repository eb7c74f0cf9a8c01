/*
 * teachers.h
 *		Votes and scores of an ensemble, for mechanisms that ask teachers.
 */
#ifndef PRIVPRED_TEACHERS_H
#define PRIVPRED_TEACHERS_H

#include "mechanism/mechanism.h"

/* How teachers vote on x, and their majority. */
extern void teachers_votes(const MechanismModel *model, const double *x, int32 *votes);
extern int	teachers_majority(const MechanismModel *model, const double *x);

/* The score that each of the spec's teachers gives the class that is asked. */
extern double *teachers_scores(const MechanismModel *model, const double *x);

/*
 * The same as numbers in [0, 1]: of a label that is a number its place between the bounds,
 * and of bins that of the middle of the bin that each teacher votes for.
 */
extern double *teachers_numbers(const MechanismModel *model, const double *x);

/* Such a number in the label's own units; a share of two classes stays. */
extern double label_of_share(const MechanismSpec *spec, double share);

#endif /* PRIVPRED_TEACHERS_H */
