/*
 * stream.h
 *		What the parts of streams share.
 *
 * A stream's row in privpred.stream is written by the ledger's process alone.
 * While sessions use the stream, its noisy threshold also stands on a board in
 * shared memory, where every session tests against it: draw the noise, then
 * compare under the board's lock.  A comparison that fails marks the board
 * before the lock is released, so that nobody can test until the ledger has
 * made the failure durable, drawn another threshold and put it up.  So all
 * sessions together see one run of the threshold after the other, each ended by
 * its first failure, whatever happens in between:
 *
 *	an error before the failure is recorded: the mark stays, and whoever comes
 *		next, if only the one who leaves, has it recorded;
 *	a crash: the board is lost, but the row says that the stream was in use,
 *		and since when; a failure is counted and the threshold drawn anew.
 *
 * What a failure writes can be counted by others.  A uniform stream writes the
 * same for every test, failed or not.
 *
 * board.c			the boards
 * stream.c			the asking side
 * stream_book.c	what the ledger's process does
 * stream_run.c		one threshold after the other
 */
#ifndef PRIVPRED_STREAM_H
#define PRIVPRED_STREAM_H

#include "storage/spin.h"

#include "ledger/ledger.h"

/* ---------- stream_run.c ---------- */

/* The present run of the threshold. */
typedef struct StreamRun
{
	int32		 unstable; /* failures that were bought */
	int32		 failed;   /* those so far */
	EpsilonUnits epsilon;
	int64		 width;
	int64		 threshold; /* noisy */
} StreamRun;

extern void stream_run_first(StreamRun *run, const StreamTerms *terms);

/* The threshold has seen a failure: another one, or false if it was the last. */
extern bool stream_run_next(StreamRun *run);

/* What is compared with it. */
extern int64 stream_noisy_distance(EpsilonUnits epsilon, int64 distance);

/* What requests about streams say beside the rest. */
typedef struct StreamRequest
{
	int64		id;			/* 0: whichever is open to the role */
	Oid			generation; /* of the tables that it is in */
	bool		leaves;		/* the session does not use it any more */
	bool		had_board;	/* and was counted among its board's users */
	bool		tested;		/* this stands for a test of an answer */
	StreamTerms terms;		/* of a new one */
} StreamRequest;

typedef struct StreamReply
{
	int64		 id;	/* 0: none */
	int			 board; /* -1: none was left for the role, so that it cannot be used */
	int32		 run;	/* failures so far */
	int32		 unstable;
	bool		 over; /* closed */
	bool		 uniform;
	int64		 threshold;
	EpsilonUnits epsilon;
} StreamReply;

/* ---------- board.c ---------- */

typedef enum BoardState
{
	BOARD_OPEN,	  /* may be tested against */
	BOARD_FAILED, /* not until the failure is recorded */
	BOARD_OVER	  /* never again */
} BoardState;

/* Taken and freed under the ledger's lock; what stands on it has a lock of its own. */
typedef struct StreamBoard
{
	Oid	  database; /* InvalidOid: free */
	Oid	  generation;
	int64 stream;
	Oid	  role; /* that took it */
	int32 users;

	slock_t	   mutex;
	BoardState state;
	int32	   run;
	int64	   threshold;
} StreamBoard;

#define LEDGER_BOARDS 64

typedef enum BoardResult
{
	BOARD_PASSED,
	BOARD_NOT_PASSED, /* and marked */
	BOARD_WAITS,	  /* for somebody's failure to be recorded */
	BOARD_CLOSED
} BoardResult;

extern BoardResult board_compare(StreamBoard *board, int64 noisy_distance);

/* How many of so many failures are left; 0 if it is over. */
extern int32 board_left(StreamBoard *board, int32 unstable);

/* Puts up the threshold of a later run, or that there is none. */
extern void board_put_up(StreamBoard *board, const StreamReply *reply);

/* Under the ledger's lock: the board of a stream, or -1; somebody uses it no more. */
extern int	board_find(Oid generation, int64 stream);
extern void board_lose_user(StreamBoard *board);

#endif /* PRIVPRED_STREAM_H */
