/*
 * noise.h
 *		How much noise pays for a released model, from declared numbers alone.
 *
 * Apart from mechanism.h so that unit tests can compare it with what accounts
 * charge and hold (account/renyi.h).
 */
#ifndef PRIVPRED_GRADIENT_NOISE_H
#define PRIVPRED_GRADIENT_NOISE_H

#include "server/privpred.h"

/*
 * Discrete Gaussian noise on integer sums.  If the sums are finer than the
 * sampler can be, their last bits are cut off first, which may move each
 * by one more.
 */
typedef struct GradientNoise
{
	int	   shift;				/* bits that are cut off */
	uint64 sensitivity_squared; /* L2, of what is left */
	uint64 variance;			/* of the noise of each */
} GradientNoise;

/*
 * The largest rho such that this many draws, whose Rényi divergences add up to
 * rho * a at every order a, are paid for by a grant of (epsilon, delta) made
 * for them: there is an order where an account holds that much.  A little
 * less, against rounding; 0 if there is no such order.
 */
extern double gradient_rho(double epsilon, double delta, int64 draws);

/*
 * Of the noise of one step, relative to the units and times the root of the outputs: above this,
 * plain columns were better than cuts on five public data sets (docs/features.md).
 */
#define NOISE_FOR_CUTS 0.08

/*
 * Noise for count sums of L2 sensitivity at most that, for a share of rho.
 * False if there is none: rho is too small.
 */
extern bool gradient_noise(double sensitivity, int64 count, double rho, GradientNoise *noise);

/* Of sums that get their noise next (draw/record.h). */
#ifdef PRIVPRED_RECORD_INPUTS
extern void
gradient_record(const char *draw, int64 count, const int64 *sums, const GradientNoise *noise);
#else
#define gradient_record(draw, count, sums, noise) ((void) 0)
#endif

/* A sum, cut and with its noise, in its own unit again. */
extern double gradient_noisy_sum(int64 sum, const GradientNoise *noise);

/* The standard deviation of that noise, in the same unit. */
extern double gradient_deviation(const GradientNoise *noise);

/*
 * How many units there are, as far as is known: the declared number may be
 * wrong, by a factor of two, say, and the count by its noise.  Where budget and
 * table are small this is nearly what was declared, else nearly the count.
 */
extern double gradient_units(double declared, double count, double deviation);

#endif /* PRIVPRED_GRADIENT_NOISE_H */
