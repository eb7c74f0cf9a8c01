/*
 * draw.h
 *		A hypothesis drawn from those that a fresh sample of the units suggests.
 *
 * Apart from mechanism.h so that unit tests can drive it alone and compare it
 * with its distribution.
 */
#ifndef PRIVPRED_STABLE_DRAW_H
#define PRIVPRED_STABLE_DRAW_H

#include "mechanism/hypotheses.h"
#include "draw/sampler.h"

/*
 * Weights in the draw are exp(-errors * numerator / denominator).  Excess errors
 * are grouped by the whole part of that exponent; beyond the last, all are one.
 */
#define WEIGHT_LEVELS 30

typedef struct StableSampler
{
	HypothesisSpace		*space;
	const LabelledUnits *units;
	Share				 q; /* of the units, in T */
	uint64				 numerator;
	uint128				 denominator;
	int64				 level_start[WEIGHT_LEVELS]; /* least excess of level i + 1 */

	/* scratch */
	uint64 *chosen;		  /* T */
	int		listed_block; /* which one errors[] is of, or -1 */
	int32	listed_count;
	int32  *errors;
	uint64 *block_weight;
} StableSampler;

/*
 * The space must be prepared.  numerator is in [1, 2^47), denominator in
 * [1, 2^80): as many rows as may be declared of a unit are more than 64 bits hold.
 * Memory is taken here and then only.
 */
extern StableSampler *stable_sampler_create(HypothesisSpace *space, const LabelledUnits *units,
											Share q, uint64 numerator, uint128 denominator);

/* A fresh sample of the units, and a fresh draw: no two answers may share one. */
extern Hypothesis stable_draw(StableSampler *sampler);

/* The two steps of it. */
extern void		  stable_choose(StableSampler *sampler);
extern void		  stable_choose_these(StableSampler *sampler, const uint64 *units); /* not random */
extern Hypothesis stable_draw_chosen(StableSampler *sampler);

/*
 * Not private.  The probability that the hypothesis drawn says 1 of x, in
 * doubles, given T; and the sum over H_T of weight times value, over the sum of
 * weights, for any function of the hypothesis.
 */
extern double stable_probability(StableSampler *sampler, const double *x);
typedef double (*HypothesisFunction)(const Hypothesis *hypothesis, const void *argument);
extern double
stable_expectation(StableSampler *sampler, HypothesisFunction function, const void *argument);

/* About how many steps it takes to choose T, to go through H_T and to draw from it. */
extern double stable_steps(const StableSampler *sampler);

/*
 * Not private: the first of the hypotheses with the fewest errors, T being all units,
 * or the first of them if all would take too long.
 */
extern Hypothesis stable_best(StableSampler *sampler);

#endif /* PRIVPRED_STABLE_DRAW_H */
