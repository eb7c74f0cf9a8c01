/*
 * sgd.h
 *		One pass over the units in place of the minimum (docs/mechanisms.md, section
 *		11; Hardt, Recht, Singer 2016).
 *
 * Units come in the order of a keyed hash of their ids, which is a time h in
 * [0, 1].  The pass keeps V, the sum of minus the gradients of the units so far,
 * each at the weights of its time:
 *
 *	  w(h) = C(h) V,   C(h) = 1/(lambda n0 (h + h0)),   V := clip(V - g(w(h)))
 *
 * where g is the gradient of the unit's mean loss, and the weights at 1 are the
 * result.  The step of a unit, C(h), is a matter of its own hash and of declared
 * numbers, so no unit changes the step of another; the sum forgets nobody, so
 * all units move the result alike.
 *
 * h0 is such that C(h) B R^2 <= 1: V - g(C(h) V) is then a step of gradient descent
 * on a convex function that is smooth enough not to drive two sums apart (2
 * would do).  clip() keeps each coordinate within bounds that grow with h, and
 * drives nothing apart either.  So the result moves by C(1) times what one unit
 * adds: C(1) 2 L R if it changes, C(1) L R if it comes or goes.  No more than a
 * declared number of units are used, the first ones by hash; if one comes, the last
 * may have to go, which makes it 2 L R again.
 *
 * Sums and clips are exact, in integers; a computed gradient may be off by a
 * declared bound, once for each unit in each of two tables.
 */
#ifndef PRIVPRED_ERM_SGD_H
#define PRIVPRED_ERM_SGD_H

#include "mechanism/stable_erm/erm.h"

/* Unless it is declared: no weight is larger. */
#define ERM_SGD_WEIGHT 100

/* All of it follows from the declaration. */
typedef struct ErmSgd
{
	double weight;	 /* no weight is larger in the pass */
	double start;	 /* h0 */
	double rounding; /* how far a computed gradient may be off, in units of L R */
	int64  most;	 /* units that are used */
} ErmSgd;

/* The problem must be complete; its loss is not the squared one. */
extern void erm_sgd_complete(const ErmProblem *problem, double weight, ErmSgd *sgd);

/* What erm_sensitivity() is for the minimum. */
extern double
erm_sgd_sensitivity(const ErmProblem *problem, const ErmSgd *sgd, double question_norm);

/*
 * The step of one unit: the sums' total is minus V, zero at first.  Hashes must not
 * decrease.  w is scratch.
 */
extern void erm_sgd_step(const ErmProblem *problem, const ErmSgd *sgd, uint64 hash,
						 const ErmUnit *unit, const ErmSums *sums, double *w);

/* The weights at the end. */
extern void
erm_sgd_weights(const ErmProblem *problem, const ErmSgd *sgd, const int128 *total, double *w);

#endif /* PRIVPRED_ERM_SGD_H */
