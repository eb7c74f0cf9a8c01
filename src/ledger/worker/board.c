/*
 * board.c
 *		Boards: putting up what streams have come to, see ledger/stream.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "ledger/worker/worker.h"

bool
board_has_failed(Oid generation, int64 stream, int32 run)
{
	LedgerShared *shared = ledger_shared();
	bool		  failed = false;
	int			  index;

	LWLockAcquire(&shared->header.lock, LW_SHARED);
	index = board_find(generation, stream);
	if (index >= 0)
	{
		StreamBoard *board = &shared->boards[index];

		SpinLockAcquire(&board->mutex);
		failed = board->state == BOARD_FAILED && board->run == run;
		SpinLockRelease(&board->mutex);
	}
	LWLockRelease(&shared->header.lock);
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

/*
 * After the commit of what a request about a stream has done.  The caller
 * holds the ledger's lock.
 */
void
board_publish(LedgerSlot *slot)
{
	const LedgerRequest *request = &slot->request;
	StreamReply			*reply = &slot->reply.stream;
	Oid					 generation = slot->reply.paid.generation;
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
	index = board_find(generation, reply->id);
	if (index < 0 && request->kind == REQUEST_STREAM_TAKE && slot->reply.granted > 0)
		index = take_board(generation, reply, request->role);
	reply->board = index;
	if (index < 0)
		return;

	board = &ledger_shared()->boards[index];
	board_put_up(board, reply);
	if (request->kind == REQUEST_STREAM_TAKE && slot->reply.granted > 0 && request->stream.id == 0)
		board->users++;
	if (request->stream.leaves && request->stream.had_board)
		board_lose_user(board);
}
