/*
 * ledger.h
 *		Spend, commit, flush: then, and only then, sample.
 *
 * ledger.c		settings and start-up
 * lease.c		the asking side: reserve answers ahead, hand out receipts
 * client.c		one round trip to the ledger's process
 * shmem.c		request slots between the two
 * worker.c		the ledger's process: start, signals, main loop
 * debit.c		what it does with a batch of requests, in one transaction
 * book.c		the accounts and entries of a batch
 * accounts.c	reading accounts: who pays, what is left
 * grants.c		grants, revocations, caps: the owner's side
 * terms.c		what a grant means: order, limits, windows, conversions
 * window.c		budgets that refresh
 * renyi.c		arithmetic of accounts of a fixed Rényi order
 * chain.c		the hash chain
 * head_log.c	its head in the server log
 * verify.c		recomputing it
 * accountant.c	pure arithmetic that rounds against the spender
 */
#ifndef PRIVPRED_LEDGER_H
#define PRIVPRED_LEDGER_H

#include "datatype/timestamp.h"

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
	const Mechanism *mechanism; /* gives the shape of the charge */
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
 * 42501 no budget, 25006 standby, 54000 too many answers for one statement,
 * and so on.  The receipt stays valid until the next call on the same lease.
 */
extern const LedgerReceipt *ledger_spend(LedgerLease *lease);

/*
 * Makes every session drop its leases at its next answer, from the commit of
 * the current transaction on.  To be called by whatever changes what an answer
 * costs or who may have it: grants, revocations, retraining, dropping.
 */
extern void ledger_invalidate_leases(void);

/* ---------- grants.c ----------
 *
 * Ordinary writes in the caller's transaction.  The caller has checked who
 * owns the relation and that it is protected.
 */
typedef struct LedgerGrant
{
	int64		relation_id;
	Oid			role;			/* InvalidOid: the cap over all roles together */
	EpsilonUnits epsilon;		/* of each window, or for ever */
	bool		has_delta;		/* what is not given stays as it was */
	double		delta;
	EpsilonUnits per_answer;	/* 0: not given */
	bool		has_valid_until;
	TimestampTz valid_until;
	bool		has_refresh;
	Interval	refresh;		/* zero: no windows */
	bool		has_lifetime;
	EpsilonUnits lifetime;		/* 0: no limit */
} LedgerGrant;

extern void ledger_grant(const LedgerGrant *grant);
extern void ledger_revoke(int64 relation_id, Oid role);

/* Epsilon 0 removes the cap; totals are still kept. */
extern void ledger_set_cap(const LedgerGrant *cap);

/* After DROP TABLE: closes all budgets of the relation. */
extern void ledger_relation_dropped(int64 relation_id);

/* Is there a budget that was not revoked? */
extern bool ledger_relation_has_budgets(int64 relation_id);

/* Makes a restored or cloned ledger this database's own.  Superusers only. */
extern void ledger_adopt(void);

/* Returns an orphaned lease to its account, knowingly; see docs/ledger.md. */
extern void ledger_forgive(int64 lease);

/* The relation that an open lease draws on; raises 42704 if there is no such lease. */
extern Oid	ledger_lease_relation(int64 lease);

/* ---------- window.c ---------- */

/* Raises 22023 unless budgets can refresh that often. */
extern void ledger_check_refresh(const Interval *refresh);

/* The window that "at" is in; windows begin at anchor + n * refresh, in UTC. */
extern void ledger_window(TimestampTz anchor, const Interval *refresh, TimestampTz at,
						  TimestampTz *start, TimestampTz *end);

/* ---------- accounts.c ---------- */

/* What answers would cost a role, without spending. */
typedef struct LedgerQuote
{
	bool		has_account;	/* else the rest is void */
	EpsilonUnits cost;			/* epsilon, converted; saturates */
	double		delta;
	EpsilonUnits left_after;	/* likewise; negative if it does not fit */
	int64		answers_left;
} LedgerQuote;

extern LedgerQuote ledger_quote(const LedgerPrice *price, Oid role, int64 answers);

/* ---------- verify.c ---------- */

typedef struct LedgerVerdict
{
	const char *problem;		/* NULL: none found */
	int64		entry;			/* where; 0 if not at one entry */
	int64		entries;
	uint8		head[32];
	int			frozen_accounts;	/* limit lowered below what was spent */
	int			orphaned_leases;
} LedgerVerdict;

/* expected_head may be NULL; any head the chain ever had proves no rewind. */
extern LedgerVerdict ledger_verify(const uint8 *expected_head);

/* Identifies this start of the server; leases of earlier ones are orphaned. */
extern int64 ledger_incarnation(void);

/* GUCs and hooks */
extern void ledger_init(void);

#endif							/* PRIVPRED_LEDGER_H */
