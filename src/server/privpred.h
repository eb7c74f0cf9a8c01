/*
 * privpred.h
 *		What every part of privpred shares: the unit of account and the limits.
 */
#ifndef PRIVPRED_H
#define PRIVPRED_H

#include "server/compat.h"

/*
 * Epsilon is kept in integers, one unit being 10^-12 ("pico-epsilon").  A
 * double is read as the shortest decimal that prints it, so that 0.1 is one
 * tenth and fifty answers at 0.1 fit exactly into a budget of 5.
 */
typedef int64 EpsilonUnits;

#define EPSILON_UNITS_PER_ONE INT64CONST(1000000000000)
#define EPSILON_MIN 1e-9
#define EPSILON_MAX 1e6 /* of a budget */
#define EPSILON_WITHOUT_WARNING (10 * EPSILON_UNITS_PER_ONE)
#define DELTA_WITHOUT_FORCE 0.01
#define EPSILON_PER_ANSWER_MAX 100.0

/* In doubles, for what is not charged. */
static inline double
epsilon_real(EpsilonUnits units)
{
	return (double) units / EPSILON_UNITS_PER_ONE;
}

/* How the privacy loss of one draw grows with the order of the paying account. */
typedef enum ChargeShape
{
	CHARGE_PURE,		  /* an epsilon-DP draw: min(e, a e^2 / 2) */
	CHARGE_BOUNDED_RANGE, /* min(e, a e^2 / 8) */
	CHARGE_GAUSSIAN		  /* a (sensitivity / sigma)^2 / 2; none at the infinite order */
} ChargeShape;

/* Some draws of one kind. */
typedef struct ChargePart
{
	ChargeShape	 shape;
	int64		 times;		/* how many; 0: the part is void */
	EpsilonUnits epsilon;	/* of each; Gaussian: 0 */
	uint64		 numerator; /* Gaussian: (L2 sensitivity / sigma)^2 of each */
	uint64		 denominator;
} ChargePart;

#define CHARGE_PARTS 2

/* The privacy loss of one purchase: an answer, a stream, a released model. */
typedef struct Charge
{
	ChargePart part[CHARGE_PARTS];
	double	   delta; /* 0 for most; needs an account with delta */
} Charge;

/* When an account is charged. */
typedef enum ChargeKind
{
	CHARGE_PER_ANSWER,
	CHARGE_PER_STREAM, /* a stream is bought, its answers are free */
	CHARGE_ONCE		   /* at the first use of a model's version, then free */
} ChargeKind;

#define PRIVPRED_MAX_TEACHERS 100000
#define PRIVPRED_MIN_CLASSES 2
#define PRIVPRED_MAX_CLASSES 1000
#define PRIVPRED_MAX_WIDTH 16384 /* encoded features */

/* SQL schema that holds everything except private_predict. */
#define PRIVPRED_SCHEMA "privpred"

/* Raises 22023, with errmsg() and, where they help, errdetail() and errhint(). */
#define refuse(...) ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), __VA_ARGS__)

#endif /* PRIVPRED_H */
