/*
 * charge.h
 *		What purchases cost: several draws, at the order of the paying account.
 *
 * Pure integer arithmetic; apart from ledger.h so that unit tests can drive it
 * alone.
 */
#ifndef PRIVPRED_CHARGE_H
#define PRIVPRED_CHARGE_H

#include "account/renyi.h"
#include "server/privpred.h"

/* At least one draw, and every number within its range. */
extern bool charge_is_valid(const Charge *charge);

/* Gaussian noise has no charge at the infinite order. */
extern bool charge_has_gaussian(const Charge *charge);

/*
 * What it takes from an account of an order: each draw rounded up, the sum
 * saturating.  PG_INT64_MAX, more than any limit, if it has no charge there.
 */
extern EpsilonUnits charge_units(const Charge *charge, RenyiOrder order);

/*
 * "20 x pure 0.05 + bounded range 0.1, delta 1e-07": for people, exact, and in
 * one form only.  A charge that is not valid has no text: NULL.
 */
#define CHARGE_TEXT_SIZE 192
extern char *charge_to_text(const Charge *charge, char buffer[CHARGE_TEXT_SIZE]);

/* False unless charge_to_text() wrote it. */
extern bool charge_from_text(const char *text, Charge *charge);

/* A sum of deltas, rounded up. */
extern double delta_add(double a, double b);

#endif /* PRIVPRED_CHARGE_H */
