/*
 * spread.h
 *		How far the noise of all steps carries a weight at most.
 *
 * Follows the variance of one weight, of its velocity, and of the average of
 * its iterates, where the loss is flat: nothing but noise moves such a weight,
 * for example that of a level that no row has.  Where the loss is curved, what
 * a draw did decays (docs/mechanisms.md, section 9), so the variance is smaller
 * in every direction.  All of it follows from the noise and from the steps that
 * were taken, which are released anyway.
 */
#ifndef PRIVPRED_GRADIENT_SPREAD_H
#define PRIVPRED_GRADIENT_SPREAD_H

typedef struct Spread
{
	double velocity; /* variances */
	double weight;
	double average;
	double velocity_weight; /* covariances */
	double velocity_average;
	double weight_average;
} Spread;

/* velocity = momentum * velocity - noise; weight += velocity */
static inline void
spread_step(Spread *spread, double momentum, double noise)
{
	spread->velocity = momentum * momentum * spread->velocity + noise * noise;
	spread->velocity_weight *= momentum;
	spread->velocity_average *= momentum;
	spread->weight += 2 * spread->velocity_weight + spread->velocity;
	spread->velocity_weight += spread->velocity;
	spread->weight_average += spread->velocity_average;
}

/* average += share * weight */
static inline void
spread_average(Spread *spread, double share)
{
	spread->average += share * (2 * spread->weight_average + share * spread->weight);
	spread->velocity_average += share * spread->velocity_weight;
	spread->weight_average += share * spread->weight;
}

#endif /* PRIVPRED_GRADIENT_SPREAD_H */
