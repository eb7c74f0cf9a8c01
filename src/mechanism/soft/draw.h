/*
 * draw.h
 *		Scores in [0, 1] as counts of bins (docs/mechanisms.md, section 6).
 *
 * Unit tests drive this without mechanism.h.  The width of a
 * bin is 1/bins.  One unit changes one score, so it moves one between counts, or
 * into or out of the half-shifted ones, which leave out both ends.
 */
#ifndef PRIVPRED_SOFT_DRAW_H
#define PRIVPRED_SOFT_DRAW_H

#include "server/privpred.h"

#define SOFT_MAX_BINS 1000

/* How many bins of this width make up [0, 1]; 0: not a whole number, or too many. */
extern int soft_bins(double precision);

/* Counts scores by bins; those that are not numbers count as 0. */
extern void soft_count(int bins, int nscores, const double *scores, int32 *counts);

/* The same for bins shifted by half, of which there are bins - 1. */
extern void soft_count_shifted(int bins, int nscores, const double *scores, int32 *counts);

/* The middle of a bin. */
extern double soft_middle(int bins, int bin);
extern double soft_middle_shifted(int bins, int bin);

#endif /* PRIVPRED_SOFT_DRAW_H */
