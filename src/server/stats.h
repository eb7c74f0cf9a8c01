/*
 * stats.h
 *		How many answers were asked for and what they took, for the view
 *		privpred.stat.
 *
 * There are counts for each role and model.  A call site counts in its own memory,
 * and adds to shared memory when it talks to the ledger and when it ends, so that
 * an answer takes no lock.  Counts are a comfort: they survive sessions, but not
 * the server.
 *
 * No count depends on protected rows except through the asker's own answers: how
 * many of them were unstable, and what the ledger was asked because of that.
 * Whoever lists counts shows those to the asker and the relation's owner alone.
 */
#ifndef PRIVPRED_STATS_H
#define PRIVPRED_STATS_H

#include "datatype/timestamp.h"
#include "utils/palloc.h"

#include "server/privpred.h"

typedef enum StatCounter
{
	STAT_ANSWERS,	  /* paid for and drawn */
	STAT_REPEATS,	  /* from memory, free */
	STAT_UNSTABLE,	  /* answers that were NULL */
	STAT_REFUSALS,	  /* the budget or stream could not, or may not, pay */
	STAT_ROUND_TRIPS, /* to the ledger's process */
	STAT_LEDGER_US,	  /* waiting for it */
	STAT_CACHE_HITS,  /* the session had decoded the model already */
	STAT_CACHE_MISSES,
	STAT_COUNTERS
} StatCounter;

typedef struct StatKey
{
	Oid	  role; /* who asks */
	Oid	  relation;
	int64 model_id;	 /* 0: of those that had no room */
	bool  by_stream; /* unstable answers cost round trips */
} StatKey;

/* One call site's counts, not yet added. */
typedef struct StatSite
{
	StatKey				  key;
	int64				  counts[STAT_COUNTERS];
	MemoryContextCallback at_reset;
} StatSite;

/* The site lives in a context, and adds what is left when the context is reset. */
extern StatSite *stats_open(MemoryContext context, const StatKey *key);

static inline void
stats_count(StatSite *site, StatCounter counter, int64 more)
{
	site->counts[counter] += more;
}

/* Adds what was counted.  Never fails; runs while transactions abort. */
extern void stats_flush(StatSite *site);

/* Counts for another role from now on, after adding what was counted. */
extern void stats_set_role(StatSite *site, Oid role);

typedef struct StatRow
{
	StatKey		key;
	int64		counts[STAT_COUNTERS];
	TimestampTz since; /* when counting began */
} StatRow;

/* This database's counts, in the current context. */
extern StatRow *stats_list(int *nrows);

/* Forgets all counts, of all databases. */
extern void stats_reset(void);

#endif /* PRIVPRED_STATS_H */
