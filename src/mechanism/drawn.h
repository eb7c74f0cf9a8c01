/*
 * drawn.h
 *		What "stable_flip", "stable" and "relabel" share: answers by a hypothesis
 *		that is drawn anew for each.
 */
#ifndef PRIVPRED_DRAWN_H
#define PRIVPRED_DRAWN_H

#include "mechanism/finite_state.h"
#include "mechanism/mechanism.h"
#include "mechanism/relabel/draw.h"
#include "mechanism/solve.h"

typedef struct DrawnModel
{
	Share			 alpha; /* of answers are flipped; 0: none */
	UnitTable		*table;
	HypothesisSource source;
	StableSampler	*sampler;
	Chunks			*chunks; /* NULL: no vote */
	EpsilonUnits	 kappa;	 /* of the vote */
	bool			 best_known;
	Hypothesis		 best; /* of all units; not private */
} DrawnModel;

/*
 * Loads the rows, and the class if it is finite; then, with the class and the points
 * of T in its source, makes it ready to draw.  One unit changes err_S, a number
 * of rows, by at most R; so weights of exp(-(rate / R) err_S) move by a factor
 * within e^(+-rate).  The rate is in halves of units.
 */
extern DrawnModel *drawn_load(const MechanismSpec *spec, bytea *state);
extern void
drawn_prepare(const MechanismSpec *spec, DrawnModel *model, Share q, EpsilonUnits twice_the_rate);

/*
 * ---------- drawn_limits.c: from what is declared ----------
 *
 * The class of the option "hypotheses", whose choices are the first of those
 * below, or of "class_table"; 22023 unless it suits the features, which for
 * halfspaces may be so many.
 */
#define DRAWN_CLASSES "stump", "threshold", "interval", "halfspace"

extern HypothesisClass drawn_class(const MechanismSpec *spec, const Option *option, int halfspace);

/* The rows that T may have on average, for the time of an answer; or, if it is cut, has at most. */
extern double drawn_most_sample(const MechanismSpec *spec, HypothesisClass class, int64 units);

/* Where the time of an answer grows with the rows' square, no more than the declared units. */
extern int64 drawn_most_units(const MechanismSpec *spec, HypothesisClass class);

/* Raises 22023 unless the units, as declared, are so few that the sample is within its limit. */
extern void
drawn_check_sample(const MechanismSpec *spec, HypothesisClass class, int64 units, Share q);

/* The parameters of their draws, declared or solved for; 22023 if they do not go together. */
extern StableParameters	 stable_flip_parameters(const MechanismSpec *spec);
extern StableParameters	 stable_parameters(const MechanismSpec *spec);
extern RelabelParameters relabel_parameters(const MechanismSpec *spec, const FiniteClass *finite);

extern int	drawn_answer(const Receipt *receipt, const MechanismModel *model, const double *x);
extern void drawn_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
							   double *probability);
extern double drawn_estimate_steps(const MechanismModel *model);
extern int	  drawn_majority(const MechanismModel *model, const double *x);

#endif /* PRIVPRED_DRAWN_H */
