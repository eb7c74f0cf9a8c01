/*
 * board.c
 *		Boards: the noisy thresholds of streams in use, see stream.h.
 *
 * The ledger's process puts up what it has committed, and counts who uses a
 * board; sessions only test.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "ledger/internal.h"

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

BoardResult
board_test(int index, int64 noisy_distance)
{
	return board_compare(&ledger_shared()->boards[index], noisy_distance);
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

int32
board_failures_left(int index, int32 unstable)
{
	return board_left(&ledger_shared()->boards[index], unstable);
}

/* The caller holds the ledger's lock. */
static int
find_board(Oid generation, int64 stream)
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

bool
board_has_failed(Oid generation, int64 stream, int32 run)
{
	LedgerShared *shared = ledger_shared();
	bool		  failed = false;
	int			  index;

	LWLockAcquire(&shared->lock, LW_SHARED);
	index = find_board(generation, stream);
	if (index >= 0)
	{
		StreamBoard *board = &shared->boards[index];

		SpinLockAcquire(&board->mutex);
		failed = board->state == BOARD_FAILED && board->run == run;
		SpinLockRelease(&board->mutex);
	}
	LWLockRelease(&shared->lock);
	return failed;
}

/* As slots of requests are shared, so are boards. */
static bool
may_take_board(LedgerShared *shared, Oid role)
{
	int unused = 0;
	int of_role = 0;
	int of_database = 0;

	for (int i = 0; i < LEDGER_BOARDS; i++)
	{
		const StreamBoard *board = &shared->boards[i];

		if (!OidIsValid(board->database))
			unused++;
		else
		{
			of_role += board->role == role;
			of_database += board->database == MyDatabaseId;
		}
	}
	return share_allows(of_role, of_database, unused);
}

static int
take_board(Oid generation, const StreamReply *reply, Oid role)
{
	LedgerShared *shared = ledger_shared();

	if (!may_take_board(shared, role))
		return -1;
	for (int i = 0; i < LEDGER_BOARDS; i++)
	{
		StreamBoard *board = &shared->boards[i];

		if (OidIsValid(board->database))
			continue;
		board->database = MyDatabaseId;
		board->generation = generation;
		board->stream = reply->id;
		board->role = role;
		board->users = 0;
		board->state = BOARD_OPEN;
		board->run = reply->run;
		board->threshold = reply->threshold;
		return i;
	}
	return -1;
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

/*
 * After the commit of what a request about a stream has done.  The caller
 * holds the ledger's lock.
 */
void
board_publish(LedgerSlot *slot)
{
	const LedgerRequest *request = &slot->request;
	StreamReply			*reply = &slot->reply.stream;
	Oid					 generation = slot->reply.generation;
	StreamBoard			*board;
	int					 index;

	/* It was in tables that are gone, and need not be put up, but left. */
	if (reply->id == 0)
	{
		if (!request->stream.leaves)
			return;
		reply->id = request->stream.id;
		reply->over = true;
		generation = request->stream.generation;
	}
	index = find_board(generation, reply->id);
	if (index < 0 && request->kind == REQUEST_STREAM_TAKE && slot->reply.granted > 0)
		index = take_board(generation, reply, request->role);
	reply->board = index;
	if (index < 0)
		return;

	board = &ledger_shared()->boards[index];
	board_put_up(board, reply);
	if (request->kind == REQUEST_STREAM_TAKE && slot->reply.granted > 0 && request->stream.id == 0)
		board->users++;
	/* A mark that is not recorded outlives its users. */
	if (request->stream.leaves && request->stream.had_board && --board->users == 0 &&
		board->state != BOARD_FAILED)
		board->database = InvalidOid;
}
