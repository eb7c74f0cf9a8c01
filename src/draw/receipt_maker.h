/*
 * receipt_maker.h
 *		What a receipt is made of.
 *
 * Receipts are made by the ledger after its debit is durable (ledger/lease.c,
 * ledger/release.c, ledger/stream.c), and for made-up rows by the audit (request/audit_receipt.c).
 * test/check_floors.sh lets nobody else include this.
 */
#ifndef PRIVPRED_RECEIPT_MAKER_H
#define PRIVPRED_RECEIPT_MAKER_H

#include "draw/receipt.h"

/* The stability test of a stream, see receipt_stable() and receipt_failures_left(). */
typedef struct StabilityTest
{
	bool (*stable)(void *run, int64 distance);
	int64 (*failures_left)(void *run);
} StabilityTest;

struct Receipt
{
	bool				 order_is_infinite;
	const StabilityTest *test; /* NULL unless a stream gave the receipt */
	void				*run;  /* of the test */
};

#endif /* PRIVPRED_RECEIPT_MAKER_H */
