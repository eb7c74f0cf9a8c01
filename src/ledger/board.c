/*
 * board.c
 *		Boards: the noisy thresholds of streams in use, see stream.h.
 *
 * The ledger's process puts up what it has committed, and counts who uses a
 * board; sessions only test, and count themselves out if they cannot tell it.
 */
#include "postgres.h"

#include "miscadmin.h"

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

/* ---------- who uses a board; the caller holds the ledger's lock ---------- */

int
board_find(Oid generation, int64 stream)
{
	LedgerShared *shared = ledger_shared();

	for (int i = 0; i < LEDGER_BOARDS; i++)
	{
		const StreamBoard *board = &shared->boards[i];

		if (board->database == MyDatabaseId && board->generation == generation &&
			board->stream == stream)
			return i;
	}
	return -1;
}

/* A mark that is not recorded outlives its users. */
void
board_lose_user(StreamBoard *board)
{
	if (--board->users == 0 && board->state != BOARD_FAILED)
		board->database = InvalidOid;
}

/*
 * A request that says that a session leaves a stream will never be served, or nobody
 * knows whether it was.  The stream's row goes on to say that it is in use, which costs
 * an unstable answer at the next start; but its board is free for others.
 */
void
board_leave_unserved(const LedgerRequest *request)
{
	const StreamRequest *leaver = &request->stream;
	int					 index;

	if (request->kind != REQUEST_STREAM_LEAVE || !leaver->leaves || !leaver->had_board)
		return;
	index = board_find(leaver->generation, leaver->id);
	if (index >= 0)
		board_lose_user(&ledger_shared()->boards[index]);
}
