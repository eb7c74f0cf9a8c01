/*
 * draw.h
 *		From counts of votes to a private label.
 *
 * Apart from mechanism.h so that unit tests can drive the draw alone and
 * compare it with its distribution.
 *
 * votes[nclasses] are non-negative and add up to teachers, which is declared
 * and public; one unit moves one vote from a class to another.  epsilon is in
 * [1, EPSILON_PER_ANSWER_MAX] units, nclasses in [PRIVPRED_MIN_CLASSES,
 * PRIVPRED_MAX_CLASSES].
 */
#ifndef PRIVPRED_VOTE_DRAW_H
#define PRIVPRED_VOTE_DRAW_H

#include "server/privpred.h"

/*
 * Draws a class.  For an account of infinite order the draw is epsilon-DP and
 * as accurate as such a draw can be; for a finite order it has bounded range
 * epsilon, which such an account charges four times less for.
 */
extern int vote_draw(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
					 int teachers);

/* The distribution of vote_draw(); not private. */
extern void vote_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
							  const int32 *votes, int teachers, double *probability);

/*
 * The same for scores of classes, of any sign, that one unit changes by at most one each; the
 * difference of two of them fits an int32.
 */
extern int
score_draw(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *scores);
extern void score_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
							   const int32 *scores, double *probability);

/* For scores that one unit changes by at most so many steps each, at most 2^18. */
extern int	steps_draw(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
					   const int32 *scores, int32 steps);
extern void steps_distribution(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
							   const int32 *scores, int32 steps, double *probability);

/*
 * ---------- Gaussian noisy max (gaussian.c) ----------
 *
 * Discrete Gaussian noise on every count, the largest wins, ties to the
 * lowest.  For accounts of finite order; epsilon is at least
 * VOTE_GAUSSIAN_MIN.
 */
#define VOTE_GAUSSIAN_MIN (EPSILON_UNITS_PER_ONE / 1000000)

/* The variance 8 / epsilon^2, as a ratio of integers that is no smaller. */
extern void vote_variance(EpsilonUnits epsilon, uint64 *numerator, uint64 *denominator);

extern int vote_draw_gaussian(EpsilonUnits epsilon, int nclasses, const int32 *votes);

/* Its distribution; not private.  Errs by less than 10^-6. */
extern void vote_distribution_gaussian(EpsilonUnits epsilon, int nclasses, const int32 *votes,
									   double *probability);

/* The class with most votes, ties to the lowest; not private. */
extern int vote_majority(int nclasses, const int32 *votes);

#endif /* PRIVPRED_VOTE_DRAW_H */
