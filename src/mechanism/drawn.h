/*
 * drawn.h
 *		What "stable_flip", "stable" and "relabel" share: answers by a hypothesis
 *		that is drawn anew for each.
 */
#ifndef PRIVPRED_DRAWN_H
#define PRIVPRED_DRAWN_H

#include "mechanism/mechanism.h"
#include "mechanism/relabel/draw.h"
#include "mechanism/solve.h"
#include "mechanism/unit_table.h"

typedef struct DrawnModel
{
	Share		   alpha; /* of answers are flipped; 0: none */
	UnitTable	  *table;
	StableSampler *sampler;
	Chunks		  *chunks; /* NULL: no vote */
	EpsilonUnits   kappa;  /* of the vote */
	bool		   best_known;
	Hypothesis	   best; /* of all units; not private */
} DrawnModel;

/*
 * Loads the rows and sorts them.  One unit changes err_S, a number of rows, by at
 * most R; so weights of exp(-(rate / R) err_S) move by a factor within
 * e^(+-rate).  The rate is in halves of units.
 */
extern DrawnModel *drawn_load(const MechanismSpec *spec, bytea *state, HypothesisClass class,
							  Share q, EpsilonUnits twice_the_rate);

/* The parameters of their draws, declared or solved for; 22023 if they do not go together. */
extern StableParameters	 stable_flip_parameters(const MechanismSpec *spec);
extern StableParameters	 stable_parameters(const MechanismSpec *spec);
extern RelabelParameters relabel_parameters(const MechanismSpec *spec);

extern int	drawn_answer(const Receipt *receipt, const MechanismModel *model, const double *x);
extern void drawn_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
							   double *probability);
extern double drawn_estimate_steps(const MechanismModel *model);
extern int	  drawn_majority(const MechanismModel *model, const double *x);

#endif /* PRIVPRED_DRAWN_H */
