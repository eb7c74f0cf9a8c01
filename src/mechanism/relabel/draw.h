/*
 * draw.h
 *		A private vote of chunks that were relabelled by one stump.
 *
 * Apart from mechanism.h so that unit tests can drive it alone and compare it
 * with its distribution.
 */
#ifndef PRIVPRED_RELABEL_DRAW_H
#define PRIVPRED_RELABEL_DRAW_H

#include "mechanism/stable/draw.h"

typedef struct Chunks Chunks;

/* chunk_of[nunits] is in [0, nchunks) and depends on the unit's id alone. */
extern Chunks *chunks_create(const LabelledUnits *units, int nchunks, const int32 *chunk_of);

/* For each feature, before its first use. */
extern void chunks_prepare(Chunks *chunks, int feature);

/*
 * How many chunks say 1 of x: each by a stump of the hypothesis's feature that is
 * consistent with its rows as the hypothesis labels them.
 */
extern int32 chunks_vote(const Chunks *chunks, const IntervalHypothesis *stump, const double *x);

/* One answer before the flip: fresh sample, fresh stump, private vote. */
extern bool
relabel_draw(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa, const double *x);

extern int chunks_count(const Chunks *chunks);

/*
 * The probability of 1, which is not private: given T, from all of H_T; and given T
 * and a stump that is drawn from it, which costs less and has the former as its mean.
 */
extern double relabel_probability(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa,
								  const double *x);
extern double
relabel_estimate(StableSampler *sampler, const Chunks *chunks, EpsilonUnits kappa, const double *x);

#endif /* PRIVPRED_RELABEL_DRAW_H */
