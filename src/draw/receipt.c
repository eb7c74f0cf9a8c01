/*
 * receipt.c
 *		What a receipt tells the mechanism that draws.
 */
#include "postgres.h"

#include "draw/receipt_maker.h"

bool
receipt_order_is_infinite(const Receipt *receipt)
{
	return receipt->order_is_infinite;
}

static const StabilityTest *
test_of(const Receipt *receipt)
{
	if (receipt->test == NULL)
		elog(ERROR, "a stability test needs a stream");
	return receipt->test;
}

bool
receipt_stable(const Receipt *receipt, int64 distance)
{
	return test_of(receipt)->stable(receipt->run, distance);
}

int64
receipt_failures_left(const Receipt *receipt)
{
	return test_of(receipt)->failures_left(receipt->run);
}
