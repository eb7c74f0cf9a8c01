/*
 * walk.h
 *		Walking along the chain from its beginning, or from where it was last verified: every
 *		hash is recomputed, and what accounts have spent is added up.
 */
#ifndef PRIVPRED_LEDGER_WALK_H
#define PRIVPRED_LEDGER_WALK_H

#include "storage/itemptr.h"
#include "utils/hsearch.h"

#include "ledger/fold.h"
#include "ledger/ledger.h"

/* What the entries say about an account. */
typedef struct Tally
{
	int64		 account_id;
	EpsilonUnits spent;
	EpsilonUnits window_spent;
	double		 delta_spent;
	bool		 has_limit;
	EpsilonUnits limit;
	bool		 has_window;
	EpsilonUnits window_limit;
	char		*terms; /* of the last grant; NULL: none */

	/* of an account whose population was joined: what has left it, and has not arrived yet */
	EpsilonUnits leaving;
	double		 leaving_delta;
} Tally;

/*
 * Is called for every entry whose hash is right, before it is added to the tallies; false ends the
 * walk before the entry.  Before a run that was folded it is called without an entry.
 */
typedef bool (*EntryVisitor)(void *visitor, const LedgerEntry *entry, const uint8 *previous,
							 ItemPointer tid);

typedef struct LedgerWalk
{
	LedgerVerdict *verdict; /* entries: how far we are */
	MemoryContext  context; /* outlives the session with our tables */
	HTAB		  *tallies;
	uint8		   head[HEAD_SIZE];
	const uint8	  *expected;
	bool		   seen; /* the expected head */
	Fold		  *folds;
	int			   nfolds;
	int			   next_fold; /* that was not passed yet */
	bool		   keeps;	  /* where it was right, for the next */
	EntryVisitor   visit;	  /* NULL: nobody does */
	void		  *visitor;
} LedgerWalk;

/* Within catalog_begin(): at the beginning of the chain. */
extern void walk_begin(LedgerWalk *walk);

/* Along the chain to its end, and along what is not chained yet. */
extern void walk_chain(LedgerWalk *walk);
extern void walk_outbox(LedgerWalk *walk);

/* All that was passed is vouched for by a checkpoint. */
extern void walk_check_folds(LedgerWalk *walk);

/* The first problem counts. */
extern void walk_problem(LedgerWalk *walk, int64 entry, const char *text);

extern Tally *walk_tally(LedgerWalk *walk, int64 account_id);

/* ---------- marks.c ---------- */

/* All tallies at a point of the chain, for whoever goes on from there. */
typedef struct LedgerMark
{
	int64  id;
	uint8  head[HEAD_SIZE];
	Tally *tallies;
	int	   count;
} LedgerMark;

/* Goes to where the chain was last verified, if anywhere; and is it longer since? */
extern void mark_resume(LedgerWalk *walk);

/* Where the walk is; in the current context. */
extern LedgerMark *mark_take(LedgerWalk *walk);

/* Keeps it in place of others, unless somebody does so at the same time. */
extern void mark_keep(const LedgerMark *mark);

/* Whoever folds entries, or keeps a mark, does so alone; false if somebody else does. */
extern bool ledger_upkeep_lock(void);

#endif /* PRIVPRED_LEDGER_WALK_H */
