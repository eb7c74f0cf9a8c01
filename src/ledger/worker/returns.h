/*
 * returns.h
 *		What comes back to the ledger's process and waits in its memory.
 */
#ifndef PRIVPRED_RETURNS_H
#define PRIVPRED_RETURNS_H

#include "ledger/worker/worker.h"

/* Is it one of those that are kept here? */
extern bool returns_has(const LedgerSlot *slot);
extern bool returns_none(void);

/* Keeps a copy of a request without reply; false if there is no room. */
extern bool returns_keep(const LedgerSlot *slot, TimestampTz not_before);
extern void returns_give_up(const LedgerRequest *request);

/* The process ends: gives up leases, and leaves the rest to the next process. */
extern void returns_leave(void);

/*
 * Leaves all that is kept to the next process, in memory that outlives us; false if that is
 * not to be had.  And takes it over, as far as there is room.
 */
extern bool returns_park(dsm_handle *parked);
extern void returns_unpark(dsm_handle parked);

/* It ends at once.  The caller holds the ledger's lock. */
extern void returns_are_lost(void);

/* Takes what is due, or all; *wait_us shrinks to when to look again. */
extern int returns_due(LedgerSlot **batch, int size, bool all, int64 *wait_us);

/* What a batch settles counts once it has committed. */
extern void returns_begin_batch(void);
extern void returns_end_batch(void);

/* A grant that nobody took and that would do for a request; -1: none. */
extern int returns_find_grant(const LedgerRequest *wanted);

/* What is kept of a relation, one after the other from -1 on. */
extern int					returns_find_relation(int64 relation_id, int after);
extern const LedgerRequest *returns_request(int place);
extern void					returns_settle(int place);

extern bool returns_have_orphans(void);
extern void returns_list_orphans(void);

#endif /* PRIVPRED_RETURNS_H */
