/*
 * limits.h
 *		How many candidates a declared number of units can choose among.
 *
 * Unit tests drive this without mechanism.h.  With n units,
 * accuracy a and privacy e, the error of the chosen candidate exceeds that of
 * the best classifier of the class by at most a, but with probability beta, if
 * the candidates cover the class within a/4 and there are no more than
 *
 *	exp(n a^2/8) beta/4, so that no candidate's error is off by a/4 (Hoeffding),
 *	exp(e n a/8) beta/2, so that the draw loses at most a/4.
 *
 * If some classifier of the class makes no error, a smaller n will do:
 *
 *	exp(n a/32) beta/4: with probability 1 - beta/2 candidates whose error is
 *	above a show at least 3a/4, and the one next to the best, whose error is at
 *	most a/4, shows at most a/2 (Chernoff: exp(-n a/32) and exp(-n a/12)),
 *	exp(e n a/8) beta/2 as above.
 *
 * These are Theorems 8 and 9 of Chaudhuri and Hsu (2011) with the constants 32,
 * 400 and 40/3 lowered to 8, 32 and 8.
 */
#ifndef PRIVPRED_COVER_PLAN_H
#define PRIVPRED_COVER_PLAN_H

#include "server/privpred.h"

typedef struct CoverPlan
{
	double epsilon;
	double accuracy;
	double beta;
	bool   realizable;
} CoverPlan;

/* The natural logarithm of the largest number of candidates; may be negative. */
extern double cover_log_limit(const CoverPlan *plan, double units);

/* The least number of units that allows this many candidates. */
extern double cover_units_for(const CoverPlan *plan, double candidates);
extern double cover_units_for_log(const CoverPlan *plan, double log_candidates);

/*
 * The same for any class of this doubling dimension, if the features are no denser
 * anywhere than the reference: a packing at a/4 of a class whose diameter is 1 has
 * at most (16/a)^d members.
 */
extern double cover_units_for_dimension(const CoverPlan *plan, double dimension);

#endif /* PRIVPRED_COVER_PLAN_H */
