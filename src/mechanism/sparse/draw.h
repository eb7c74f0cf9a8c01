/*
 * draw.h
 *		The stability test of streams: how far a vote is from changing, against
 *		a noisy threshold (docs/mechanisms.md, section 6).
 *
 * Unit tests drive this without mechanism.h.  One unit moves
 * one teacher from a count to another; epsilon is that of one run of the
 * threshold, in [1, EPSILON_PER_ANSWER_MAX] units, delta a normal number below 1.
 */
#ifndef PRIVPRED_SPARSE_DRAW_H
#define PRIVPRED_SPARSE_DRAW_H

#include "server/privpred.h"

/*
 * How many teachers must change before the largest count can be another, less
 * one; *top is its index, ties to the lowest.  Moves by at most one with a
 * unit, and is 0 wherever a unit can change *top.
 */
extern int64 sparse_distance(int n, const int32 *counts, int *top);

/* What distance w at least a noisy one must exceed, noise aside. */
extern int64 sparse_width(EpsilonUnits epsilon, double delta);

/* A fresh noisy threshold, and the noise of one distance. */
extern int64 sparse_threshold(EpsilonUnits epsilon, int64 width);
extern int64 sparse_noise(EpsilonUnits epsilon);

/* Pr[noise of a distance - noise of the threshold > excess], in doubles. */
extern double sparse_tail(EpsilonUnits epsilon, int64 excess);

/* The chance that a distance passes a fresh threshold; not private. */
extern double sparse_stable_probability(EpsilonUnits epsilon, int64 width, int64 distance);

#endif /* PRIVPRED_SPARSE_DRAW_H */
