/*
 * receipt.h
 *		A receipt is the right to draw.
 *
 * Whoever has debited an account gives out a receipt, and mechanism_answer()
 * draws nothing without one.  Mechanisms only ask it the questions below; what
 * it is made of is known to its makers (receipt_maker.h).
 */
#ifndef PRIVPRED_RECEIPT_H
#define PRIVPRED_RECEIPT_H

#include "c.h"

typedef struct Receipt Receipt;

/* Is the order of the account that has paid infinite?  The shape of a draw depends on it. */
extern bool receipt_order_is_infinite(const Receipt *receipt);

/*
 * For streams (docs/mechanisms.md, section 6): is this distance, with noise,
 * above the noisy threshold?  If it is not, the failure is durable and the
 * threshold is drawn anew before this returns.  It may raise an error; then
 * nothing may be answered.
 */
extern bool receipt_stable(const Receipt *receipt, int64 distance);

/* How many more tests may fail before the stream ends. */
extern int64 receipt_failures_left(const Receipt *receipt);

#endif /* PRIVPRED_RECEIPT_H */
