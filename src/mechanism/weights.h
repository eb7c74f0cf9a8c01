/*
 * weights.h
 *		States that are a list of numbers.
 */
#ifndef PRIVPRED_WEIGHTS_H
#define PRIVPRED_WEIGHTS_H

#include "mechanism/mechanism.h"

/* The format tells the states of one mechanism, and version, from those of others. */
extern bytea *weights_write(uint32 format, int64 count, const double *weights);

/* Raises XX001 unless the state is this many finite numbers. */
extern double *weights_read(uint32 format, int64 count, bytea *state);

#endif /* PRIVPRED_WEIGHTS_H */
