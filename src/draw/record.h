/*
 * record.h
 *		What goes into draws, written down for a test (test/inputs).
 *
 * "make RECORD_INPUTS=yes" alone compiles any of this; elsewhere it is nothing at
 * all (test/check_inputs.sh looks at the objects).  Then every mechanism writes the
 * integers that its noise is added to, or that weigh its answers, with how far its
 * charge assumes that one unit can move them.  So that two tables can be compared,
 * coins are the same in both, and what a table's first draws gave does not steer
 * its later ones.  Nothing is private in such a build.
 */
#ifndef PRIVPRED_RECORD_H
#define PRIVPRED_RECORD_H

#include "c.h"

/* How the inputs of two tables are compared with the bound. */
typedef enum InputNorm
{
	INPUT_LARGEST, /* the largest difference */
	INPUT_SUM,	   /* the sum of the differences */
	INPUT_SQUARES, /* the sum of their squares */
	INPUT_PLACES,  /* how many differ */
	INPUT_STABLE   /* a distance, and a place that is the same unless it is 0 */
} InputNorm;

#ifdef PRIVPRED_RECORD_INPUTS

/* Values of int32 or int64. */
#define RECORD_INPUT(draw, norm, bound, count, values) \
	record_input(draw, norm, bound, count, values, sizeof(*(values)))
/* In place of a value that steers what is compared later. */
#define RECORD_FIXED(value) record_fixed(value)
/* From here on, these coins. */
#define RECORD_COINS(number) record_coins(number)

extern void record_input(const char *draw, InputNorm norm, uint64 bound, int64 count,
						 const void *values, size_t size);

/* The same one by one, each under a key; what is not there is 0. */
extern void record_open(const char *draw, InputNorm norm, uint64 bound);
extern void record_put(uint64 key, int64 value);
extern void record_close(void);

/* A key for any bytes. */
extern uint64 record_key(const void *bytes, size_t size);

extern int64 record_fixed(int64 value);
extern void	 record_coins(uint64 number);
extern void	 record_coins_at(uint64 number); /* record.c; rng.c forgets its own */
extern bool	 record_random(void *buffer, size_t size);

#define pg_strong_random record_random

#else

#define RECORD_INPUT(draw, norm, bound, count, values) ((void) 0)
#define RECORD_FIXED(value) (value)
#define RECORD_COINS(number) ((void) 0)

#endif

#endif /* PRIVPRED_RECORD_H */
