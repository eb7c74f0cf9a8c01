/*
 * stable_erm.h
 *		The "stable_erm" mechanism: what its files share.
 *
 * declare.c	options, and the constants that follow from them
 * stable_erm.c	price, training, answers
 */
#ifndef PRIVPRED_STABLE_ERM_H
#define PRIVPRED_STABLE_ERM_H

#include "mechanism/mechanism.h"
#include "mechanism/stable_erm/erm.h"
#include "mechanism/stable_erm/sgd.h"

typedef struct StableErm
{
	ErmProblem problem;
	bool	   one_pass; /* in place of the minimum */
	ErmSgd	   sgd;
	int		   fits; /* one, or one for each of more than two classes */
	double	   grid; /* in units of the score */
	double	  *w;	 /* once trained; of one fit after the other */
	float	  *x;	 /* scratch, for one question */
} StableErm;

extern const Option stable_erm_options[];

/* Reads all options, and refuses values that are wrong by themselves. */
extern void stable_erm_describe(const MechanismSpec *spec, StableErm *erm);

/* How much a score at a question of this norm can differ between neighbouring tables. */
extern double stable_erm_sensitivity(const StableErm *erm, double norm);

extern void stable_erm_validate(const MechanismSpec *spec);
extern bool stable_erm_wants_order(const MechanismSpec *spec);

#endif /* PRIVPRED_STABLE_ERM_H */
