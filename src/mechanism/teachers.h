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

/* The score that each of the spec's teachers gives x. */
extern double *teachers_scores(const MechanismModel *model, const double *x);

#endif /* PRIVPRED_TEACHERS_H */
