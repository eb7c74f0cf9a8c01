/*
 * public_random.h
 *		Pseudo-random numbers that hide nothing (splitmix64): from the same seed
 *		they are the same in every run.
 */
#ifndef PRIVPRED_PUBLIC_RANDOM_H
#define PRIVPRED_PUBLIC_RANDOM_H

#include "mechanism/candidates.h"

static inline uint64
public_bits(uint64 *seed)
{
	uint64 z = *seed += UINT64CONST(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline double
public_uniform(uint64 *seed)
{
	return ((public_bits(seed) >> 11) + 0.5) / (double) (UINT64CONST(1) << 53);
}

/*
 * About half of a reference's rows take no part in making candidates, so that
 * they can tell how near candidates are.  Which ones does not depend on them.
 */
static inline bool
public_set_aside(int64 row)
{
	uint64 seed = (uint64) row;

	return public_bits(&seed) & 1;
}

/* A point of the reference that is not set aside; of few rows it may be any. */
static inline void
public_point(const Reference *reference, uint64 *seed, double *x)
{
	int64 row = 0;

	for (int i = 0; i < 64 && reference->npoints > 0; i++)
	{
		row = (int64) (public_bits(seed) % (uint64) reference->npoints);
		if (!public_set_aside(row))
			break;
	}
	for (int i = 0; i < reference->width; i++)
	{
		if (reference->npoints > 0)
			x[i] = reference->x[row * reference->width + i];
		else if (reference->binary[i])
			x[i] = public_uniform(seed) < 0.5 ? 0 : 1;
		else
			x[i] = public_uniform(seed);
	}
}

static inline double
weighted_sum(const double *weight, const double *x, int width)
{
	double sum = 0;

	for (int i = 0; i < width; i++)
		sum += weight[i] * x[i];
	return sum;
}

#endif /* PRIVPRED_PUBLIC_RANDOM_H */
