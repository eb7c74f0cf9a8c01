/*
 * linalg.h
 *		The little linear algebra that learners need.
 *
 * cholesky.c
 *
 * Nothing here knows the server.  Loops that can be long are given to the
 * caller in steps, so that it can check for interrupts in between.
 */
#ifndef PRIVPRED_LINALG_H
#define PRIVPRED_LINALG_H

#include <stdbool.h>
#include <stddef.h>

/* Symmetric matrices are packed by rows of the lower triangle. */
#define PACKED_ROW(i) ((size_t) (i) * ((size_t) (i) + 1) / 2)
#define PACKED_SIZE(n) PACKED_ROW(n)

/*
 * Replaces row i of a positive definite matrix by row i of its Cholesky
 * factor; rows 0 .. i-1 must have been replaced already.  False if the matrix
 * is not numerically positive definite.
 */
extern bool cholesky_row(double *a, int i);

/* Solves (factor * factor') x = b in place. */
extern void cholesky_solve(const double *factor, int n, double *b);

#endif /* PRIVPRED_LINALG_H */
