/*
 * board.c
 *		Boards: the noisy thresholds of streams in use, see stream.h.
 *
 * The ledger's process puts up what it has committed, and counts who uses a
 * board; sessions only test.
 */
#include "postgres.h"

#include "ledger/shared.h"

/* Spinlocks guard a few instructions each, and nothing in between can fail. */

BoardResult
board_compare(StreamBoard *board, int64 noisy_distance)
{
	BoardResult result;

	SpinLockAcquire(&board->mutex);
	if (board->state == BOARD_OVER)
		result = BOARD_CLOSED;
	else if (board->state == BOARD_FAILED)
		result = BOARD_WAITS;
	else if (noisy_distance > board->threshold)
		result = BOARD_PASSED;
	else
	{
		board->state = BOARD_FAILED;
		result = BOARD_NOT_PASSED;
	}
	SpinLockRelease(&board->mutex);
	return result;
}

int32
board_left(StreamBoard *board, int32 unstable)
{
	int32 left;

	SpinLockAcquire(&board->mutex);
	left = board->state == BOARD_OVER ? 0 : unstable - board->run;
	SpinLockRelease(&board->mutex);
	return left;
}

void
board_put_up(StreamBoard *board, const StreamReply *reply)
{
	SpinLockAcquire(&board->mutex);
	if (reply->over)
		board->state = BOARD_OVER;
	else if (reply->run > board->run)
	{
		board->run = reply->run;
		board->threshold = reply->threshold;
		board->state = BOARD_OPEN;
	}
	SpinLockRelease(&board->mutex);
}
