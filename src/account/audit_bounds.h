/*
 * audit_bounds.h
 *		What counts say about a claim: exact binomial bounds, and the tests that
 *		are made of them.
 *
 * Apart from audit.h so that unit tests can drive it alone: the C library is
 * all it needs.  Everything here errs towards a smaller loss, so that a claim
 * that holds is called violated with probability at most alpha for each bound.
 */
#ifndef PRIVPRED_AUDIT_BOUNDS_H
#define PRIVPRED_AUDIT_BOUNDS_H

#include "c.h"

/*
 * One-sided bounds of Clopper and Pearson (1934): the true probability of
 * something that came up k times out of n is below (above) them with
 * probability at most alpha.
 */
extern double binomial_lower(int64 k, int64 n, double alpha);
extern double binomial_upper(int64 k, int64 n, double alpha);

typedef enum AuditTest
{
	TEST_RATIO, /* epsilon (and delta): ratio of probabilities */
	TEST_RANGE, /* bounded range: ratio of two such ratios, the odds' ratio of two answers */
	TEST_RENYI	/* Gaussian noise: Rényi divergence of all orders */
} AuditTest;

typedef struct AuditClaim
{
	AuditTest test;
	double	  epsilon; /* of Gaussian noise: see below */
	double	  delta;   /* TEST_RATIO only */
} AuditClaim;

#define AUDIT_MAX_OUTPUTS 8

/* Draws from two tables that differ in one unit. */
typedef struct AuditCounts
{
	int	  outputs; /* 2 or more */
	int64 draws[2];
	int64 count[2][AUDIT_MAX_OUTPUTS];
} AuditCounts;

/* Where the largest loss was seen. */
typedef struct AuditLoss
{
	double epsilon; /* at least; 0: nothing seen */
	int	   output;
	int	   from; /* the table that it is more likely with */
} AuditLoss;

/* How many bounds one comparison takes, for Bonferroni. */
extern int audit_bounds_taken(int outputs);

/*
 * A lower bound on the loss between the tables, all bounds holding at once
 * with probability 1 - alpha * audit_bounds_taken().
 *
 * Gaussian noise whose divergence of order a is a rho for all a has no epsilon;
 * it is told by that of a draw of bounded range at the same price,
 * a epsilon^2/8.
 */
extern AuditLoss audit_loss(const AuditClaim *claim, const AuditCounts *counts, double alpha);

/*
 * The least loss that so many draws of each table would call a violation, all
 * but certainly, if an output has probability p with one table and less with
 * the other; infinite if none would.
 */
extern double audit_detects(const AuditClaim *claim, double p, int64 draws, double alpha);

/* So many draws that a loss of factor times the claim would be seen, no more than most. */
extern int64
audit_draws_needed(const AuditClaim *claim, double factor, double p, int64 most, double alpha);

#endif /* PRIVPRED_AUDIT_BOUNDS_H */
