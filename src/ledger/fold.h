/*
 * fold.h
 *		Runs of entries that were folded into sums; docs/compaction.md.
 *
 * A run is a range of the chain without a gap, whose entries are gone.  What is left of it are the
 * heads before and after it, sums of its entries by account, model, kind, day and so on, and what
 * every account that they touched had spent after it.  An entry of kind "checkpoint" at the end of
 * the chain says all that: heads and a digest of the sums.
 */
#ifndef PRIVPRED_LEDGER_FOLD_H
#define PRIVPRED_LEDGER_FOLD_H

#include "nodes/pg_list.h"
#include "utils/hsearch.h"

#include "ledger/chain.h"

#define CHECKPOINT_KIND "checkpoint"
#define BALANCE_KIND "balance" /* of a sum that says what an account had spent after the run */

typedef struct Fold
{
	int64 first;
	int64 last;
	uint8 before[HEAD_SIZE]; /* head of the entry before the first */
	uint8 head[HEAD_SIZE];	 /* of the last */

	/* for whoever verifies */
	char *says; /* what its checkpoint has to say; NULL: it was not looked at */
	bool  applied;
	bool  vouched; /* a checkpoint says so */
} Fold;

/* In the order of the chain; in the current context. */
extern Fold *folds_read(int *count);

/* That begins with this entry; NULL if none does. */
extern Fold *fold_find(Fold *folds, int count, int64 first);

/* What the checkpoint says about a run whose sums have this digest. */
extern char *fold_says(const Fold *fold, const uint8 *sums);

/* The first entry of a run that a checkpoint is about; 0: it is about none. */
extern int64 checkpoint_first(const LedgerEntry *entry);

/* Sums are hashed one after the other; the digest begins with the head before the run. */
extern void sums_hash(LedgerEntry *sum, uint8 *digest);

/* Reads the sums of a run, in their order, as a list of LedgerEntry in the current context. */
extern List *sums_read(int64 first);

/* ---------- making one ---------- */

typedef struct FoldRun
{
	MemoryContext context;
	Fold		  fold;
	int64		  entries;
	HTAB		 *groups;
	List		 *sums;		/* of LedgerEntry, in the order in which their entries began */
	List		 *accounts; /* their numbers, likewise: of int64 * */
	HTAB		 *known;	/* the same numbers */
} FoldRun;

extern void run_begin(FoldRun *run, int64 first, const uint8 *before);

/* The next entry of the chain.  False, and nothing is done, if a sum would be too large. */
extern bool run_add(FoldRun *run, const LedgerEntry *entry);
extern void run_end(FoldRun *run);

#endif /* PRIVPRED_LEDGER_FOLD_H */
