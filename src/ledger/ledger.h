/*
 * ledger.h
 *		Spend, commit, flush: then, and only then, sample.
 *
 * lease.c		the asking side: reserve answers ahead, hand out receipts
 * worker.c		the ledger's process: the only writer of accounts and chain
 * shmem.c		request slots between the two
 * chain.c		the hash chain and its verification
 * accountant.c	pure arithmetic that rounds against the spender
 * accounts.c	grants, revocations, caps
 */
#ifndef PRIVPRED_LEDGER_H
#define PRIVPRED_LEDGER_H

#include "ledger/accountant.h"
#include "mechanism/mechanism.h"
#include "privpred.h"

/* What one answer of a model costs, in public terms. */
typedef struct LedgerPrice
{
	int64		relation_id;	/* privpred.protected_relation */
	int64		model_id;
	int32		version;
	const char *model_name;		/* for the ledger and messages */
	EpsilonUnits epsilon;		/* of one answer */
	const Mechanism *mechanism;	/* gives the shape of the charge */
} LedgerPrice;

/*
 * A lease is a block of answers already debited.  It belongs to one call site
 * of one statement and lives in a memory context; when that context goes, for
 * whatever reason, unused answers are returned.
 */
typedef struct LedgerLease LedgerLease;

/* Opens an empty lease for the role that asks; debits nothing yet. */
extern LedgerLease *ledger_open(MemoryContext context, const LedgerPrice *price);

/*
 * Pays for one answer and returns its receipt, or raises: 53400 exhausted,
 * 42501 no budget, 25006 standby, and so on.  The receipt stays valid until
 * the next call on the same lease.
 */
extern const LedgerReceipt *ledger_spend(LedgerLease *lease);

/* GUCs and hooks */
extern void ledger_init(void);

#endif							/* PRIVPRED_LEDGER_H */
