/*
 * sampler.h
 *		Exact random draws from pg_strong_random.
 *
 * Nothing here knows the server: no catalogs, no settings, no floating point.
 * Probabilities are ratios of integers and every draw has exactly the stated
 * distribution, given uniform random bits (Canonne, Kamath, Steinke 2020).
 * The number of random bits consumed depends on the outcome.
 */
#ifndef PRIVPRED_SAMPLER_H
#define PRIVPRED_SAMPLER_H

/* rng.c */

/* Called when the operating system has no randomness to give; must not return. */
extern void sampler_no_entropy(void) pg_attribute_noreturn();

extern uint64 sample_uint64(void);

/* Uniform in [0, n); n > 0. */
extern uint64 sample_uniform(uint64 n);

/* bernoulli.c */

/* True with probability numerator / denominator (capped at one); denominator > 0. */
extern bool sample_bernoulli(uint64 numerator, uint64 denominator);

/*
 * True with probability exp(-(factor * numerator) / denominator).  The product
 * may exceed 64 bits.
 */
extern bool sample_bernoulli_exp(uint64 factor, uint64 numerator, uint64 denominator);

/* discrete.c */

/* Pr[x] proportional to exp(-|x| * denominator / numerator): scale numerator/denominator. */
extern int64 sample_discrete_laplace(uint64 numerator, uint64 denominator);

/* Pr[x] proportional to exp(-x^2 / (2 sigma^2)), sigma^2 = numerator/denominator. */
extern int64 sample_discrete_gaussian(uint64 numerator, uint64 denominator);

#endif							/* PRIVPRED_SAMPLER_H */
