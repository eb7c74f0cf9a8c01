/*
 * sampler.h
 *		Exact random draws from pg_strong_random.
 *
 * Nothing here knows the server: no catalogs, no settings, no floating point.
 * Probabilities are ratios of integers and every draw has exactly the stated
 * distribution, given uniform random bits (Canonne, Kamath, Steinke 2020,
 * "The Discrete Gaussian for Differential Privacy", cited as CKS below).
 * The number of random bits consumed depends on the outcome.
 *
 * rng.c		buffered uniform integers
 * bernoulli.c	coins of rational and exponential bias
 * discrete.c	discrete Laplace and discrete Gaussian noise
 * entropy.c	the two failures, as server errors
 */
#ifndef PRIVPRED_SAMPLER_H
#define PRIVPRED_SAMPLER_H

#include "server/compat.h"

#ifndef HAVE_INT128
#error "privpred needs a compiler with 128-bit integers"
#endif

/*
 * Provided by the host, and must not return: entropy.c in the server, the
 * harness in unit tests.  The first is called when the operating system has no
 * randomness to give, the second when an argument is outside the range stated
 * here, which is always a bug of the caller.
 */
pg_noreturn extern void sampler_no_entropy(void);
pg_noreturn extern void sampler_out_of_range(const char *function);

/* rng.c */

extern uint64 sample_uint64(void);

/* Uniform in [0, n); n > 0. */
extern uint64  sample_uniform(uint64 n);
extern uint128 sample_uniform_wide(uint128 n);

/* bernoulli.c */

/* True with probability numerator / denominator (capped at one); denominator > 0. */
extern bool sample_bernoulli(uint64 numerator, uint64 denominator);

/*
 * True with probability exp(-(factor * numerator) / denominator);
 * denominator > 0.  The product may exceed 64 bits.
 */
extern bool sample_bernoulli_exp(uint64 factor, uint64 numerator, uint64 denominator);
extern bool sample_bernoulli_exp_wide(uint128 numerator, uint128 denominator);

/*
 * 64 coins at once, each a bit of the result that is set with probability
 * share / 2^32, independently.
 */
typedef uint32 Share;

#define SHARE_ONE 4294967296.0 /* 2^32 */

extern uint64 sample_bernoulli_word(Share share);

/* discrete.c */

/*
 * Noise takes numerators and denominators in [1, 2^60], a Laplace scale below
 * 2^42.  Then no intermediate value overflows (see discrete.c), and a result
 * that int64 cannot hold has probability below e^(-10^6).
 */
#define SAMPLER_MAX_TERM (UINT64CONST(1) << 60)
#define SAMPLER_MAX_SCALE (UINT64CONST(1) << 42)

/* Pr[x] proportional to exp(-|x| * denominator / numerator): scale numerator/denominator. */
extern int64 sample_discrete_laplace(uint64 numerator, uint64 denominator);

/* Pr[x] proportional to exp(-x^2 / (2 sigma^2)), sigma^2 = numerator/denominator. */
extern int64 sample_discrete_gaussian(uint64 numerator, uint64 denominator);

#endif /* PRIVPRED_SAMPLER_H */
