/*
 * unit.h
 *		What unit tests share: TAP, a host for the samplers, statistics, and an
 *		enumerator of random choices.
 */
#ifndef PRIVPRED_UNIT_H
#define PRIVPRED_UNIT_H

#include "c.h"

#include "server/compat.h"

/* ---------- TAP ---------- */

extern void ok(bool passed, const char *format, ...) pg_attribute_printf(2, 3);
extern void note(const char *format, ...) pg_attribute_printf(1, 2);
extern int	done(void); /* prints the plan; the exit code */

/*
 * ---------- the same numbers every time ----------
 */
extern uint32 arbitrary(uint32 n); /* below n */

/* Changes some bytes of a stored predictor, or cuts it; returns its size. */
extern size_t mutate(unsigned char *bytes, size_t size);

/*
 * ---------- the samplers' host ----------
 *
 * pg_strong_random here is a generator seeded by the system, or by UNIT_SEED to
 * repeat a run, unless a test gives another source.
 */
typedef bool (*EntropySource)(uint64 *words, int count);

extern void unit_entropy_source(EntropySource source); /* NULL: the usual one */

/* True if the call ended in the sampler's named failure instead of returning. */
extern bool fails_no_entropy(void (*call)(void));
extern bool fails_out_of_range(void (*call)(void));

/* ---------- statistics ---------- */

/*
 * Whether successes out of trials are plausible for a probability.  False for
 * a right sampler with probability below 10^-9 (Chernoff's bound holds for
 * every number of trials), so that all tests together raise a false alarm
 * less than once in a million runs.
 *
 * True for a sampler that is off by NOTICED or more with probability below
 * 10^-7: the test bails out, and says how many trials were enough, if there are
 * too few.
 */
#define NOTICED 0.03

extern bool plausible(int64 successes, int64 trials, double probability);

/* Is what is wrong plausible with probability below 10^-7? */
extern bool told_apart(int64 trials, double probability, double wrong);

/*
 * ---------- the enumerator ----------
 *
 * Runs a randomised function along every path of its random choices.  Fake
 * samplers ask choose() for one of n outcomes; each path has an exact weight.
 * Paths whose weight falls below the cutoff are given up and counted as
 * unresolved.  A rejection loop is cut by start_over(), where it has come back
 * to its beginning: the probability of an outcome is its weight divided by
 * the weight of all paths that did not start over, up to what is unresolved.
 */
typedef int64 (*RandomFunction)(const void *argument);

#define ENUMERATED_OUTCOMES 64 /* outcome o is counted at index o + 32 */

typedef struct Enumeration
{
	double weight[ENUMERATED_OUTCOMES];
	double elsewhere; /* outcomes outside the array */
	double started_over;
	double unresolved;
} Enumeration;

/* weights: NULL for equal ones */
extern int				choose(int n, const double *weights);
pg_noreturn extern void start_over(void);
extern void
enumerate(RandomFunction function, const void *argument, double cutoff, Enumeration *result);

/* Within the unresolved weight, and rounding. */
extern bool agrees(const Enumeration *enumeration, int64 outcome, double probability);

#endif /* PRIVPRED_UNIT_H */
