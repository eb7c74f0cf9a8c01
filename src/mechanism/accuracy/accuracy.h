/*
 * accuracy.h
 *		A model's accuracy on units that never trained it, with noise.
 *
 * docs/mechanisms.md, section 18, has the proof.  All that the noise depends on is
 * an integer; what is computed in floating point is bounded before it is rounded.
 */
#ifndef PRIVPRED_ACCURACY_H
#define PRIVPRED_ACCURACY_H

#include "account/charge.h"
#include "draw/receipt.h"

#define ACCURACY_ONE (INT64CONST(1) << 20) /* every answer is right */

typedef struct AccuracySum
{
	int64 wanted; /* units, a public number */
	int64 units;  /* so far, at most as many */
	int64 total;  /* of their means */
} AccuracySum;

/* How many units are wanted of a share of so many: a number that hardly ever is too large. */
extern int64 accuracy_units(int64 declared_units, double holdout);

/* Adds a unit: for each of its rows the probability that the answer is right. */
extern void accuracy_add(AccuracySum *sum, const double *right, int nrows);

/* The mean in parts of ACCURACY_ONE; units that are missing are right half the time. */
extern int64 accuracy_mean(const AccuracySum *sum);

/*
 * How far the mean can move if one unit changes.  Without a charge, the model is
 * known already; with one, that is the price of a single answer of it.
 */
extern int64 accuracy_sensitivity(int64 wanted, const Charge *answer);

/* One that is released, and its standard error: of the noise, and of so few units. */
extern double accuracy_number(int64 noisy);
extern double accuracy_error(int64 noisy, int64 wanted, int64 sensitivity, EpsilonUnits epsilon);

/* The draw itself, for mechanism_accuracy() alone (answer.c). */
extern int64 accuracy_draw(int64 mean, int64 sensitivity, EpsilonUnits epsilon);
extern int64
mechanism_accuracy(const Receipt *receipt, int64 mean, int64 sensitivity, EpsilonUnits epsilon);

#endif /* PRIVPRED_ACCURACY_H */
