/*
 * draw.h
 *		A private vote of chunks that were relabelled by one hypothesis.
 *
 * Apart from mechanism.h so that unit tests can drive it alone and compare it
 * with its distribution.
 */
#ifndef PRIVPRED_RELABEL_DRAW_H
#define PRIVPRED_RELABEL_DRAW_H

#include "mechanism/stable/draw.h"

typedef struct Chunks Chunks;

/* chunk_of[nunits] is in [0, nchunks) and depends on the unit's id alone. */
extern Chunks *chunks_create(const HypothesisSource *source, int nchunks, const int32 *chunk_of);
extern int	   chunks_count(const Chunks *chunks);
extern const HypothesisSource *chunks_source(const Chunks *chunks);

/*
 * How many chunks say 1 of x: each by a hypothesis of the class (stumps: and the
 * feature) that is consistent with its rows as the given one labels them.
 */
extern int32 chunks_vote(const Chunks *chunks, const Hypothesis *hypothesis, const double *x);

/* About how many steps that takes. */
extern double chunks_steps(const Chunks *chunks);

/* One answer before the flip: fresh sample, fresh hypothesis, private vote. */
extern bool
relabel_draw(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa, const double *x);

/*
 * The probability of 1, which is not private: given T, from all of H_T; and given T
 * and a hypothesis that is drawn from it, which costs less and has the former as its mean.
 */
extern double relabel_probability(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa,
								  const double *x);
extern double
relabel_estimate(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa, const double *x);

#endif /* PRIVPRED_RELABEL_DRAW_H */
