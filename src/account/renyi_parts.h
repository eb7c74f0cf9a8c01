/*
 * renyi_parts.h
 *		What renyi.c and order.c share.
 */
#ifndef PRIVPRED_RENYI_PARTS_H
#define PRIVPRED_RENYI_PARTS_H

#include "account/charge.h"
#include "account/renyi.h"

#ifndef HAVE_INT128
#error "privpred needs a compiler with 128-bit integers"
#endif

typedef int128 Fixed; /* fixed point */

#define FIXED_BITS 64 /* after the point */

/* ln(1/d) for d = delta / 2, rounded up; ln a and ln(a / (a-1)), rounded down. */
extern Fixed renyi_ln_inverse_half(double delta);
extern Fixed renyi_ln_order(RenyiOrder order);
extern Fixed renyi_ln_order_ratio(RenyiOrder order);

/* A charge is a e^2 / 2 or a e^2 / 8; in units, order * epsilon^2 divided by this. */
extern uint128 renyi_charge_divisor(ChargeShape shape);
extern bool	   renyi_epsilon_is_valid(EpsilonUnits epsilon);

#endif /* PRIVPRED_RENYI_PARTS_H */
