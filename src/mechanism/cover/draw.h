/*
 * draw.h
 *		From errors of candidates to one of them, by the exponential mechanism.
 *
 * Unit tests drive this without mechanism.h.  One unit
 * moves every error by at most ERROR_ONE (candidates.h), so the draw has
 * bounded range epsilon.
 */
#ifndef PRIVPRED_COVER_DRAW_H
#define PRIVPRED_COVER_DRAW_H

#include "server/privpred.h"

/* Index of a candidate; Pr[i] is proportional to exp(-(epsilon/2) errors[i]/ERROR_ONE). */
extern int64 cover_draw(EpsilonUnits epsilon, int64 count, const int64 *errors);

/* Those probabilities, in doubles; not private. */
extern void
cover_distribution(EpsilonUnits epsilon, int64 count, const int64 *errors, double *probability);

#endif /* PRIVPRED_COVER_DRAW_H */
