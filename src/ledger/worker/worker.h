/*
 * worker.h
 *		What the files share that run in the ledger's process.
 *
 * worker.c			start, signals, main loop
 * serve.c			batches of requests, commits, replies
 * debit.c			what is done with a batch of requests, in one transaction
 * book.c			the accounts and entries of a batch
 * payer.c			which account pays, and what prevents it
 * release.c		versions that are paid for once
 * stream_book.c	streams
 * memo.c			answers that are kept for good
 * ceiling.c		how many answers a statement may take
 * chain.c			appending to the hash chain
 * board.c			putting up what streams have come to
 * returns.c		what comes back and waits in memory
 * hand_over.c		leaving for a database that waits
 * head_log.c		the head of the chain in the server log
 */
#ifndef PRIVPRED_LEDGER_WORKER_H
#define PRIVPRED_LEDGER_WORKER_H

#include <signal.h>

#include "executor/spi.h"
#include "nodes/pg_list.h"
#include "storage/itemptr.h"

#include "ledger/accounts.h"
#include "ledger/chain.h"
#include "ledger/shared.h"

/* ---------- worker.c ---------- */

extern PGDLLEXPORT void privpred_ledger_main(Datum arg);

extern volatile sig_atomic_t worker_stopping;	/* we were asked to go */
extern volatile sig_atomic_t worker_committing; /* a stop ends it */
extern bool					 worker_draining;	/* only what comes back is served */

/* ---------- serve.c ---------- */

#define SERVE_SLOTS (2 * LEDGER_SLOTS)

/* Takes what is due, or all; *wait_us shrinks to when to look again for what is not. */
extern int serve_take(LedgerSlot **batch, bool all, int64 *wait_us);

/*
 * A failed batch is served again carefully, then request by request, so that
 * one does not fail the others.
 */
extern void serve_run(LedgerSlot **slots, int nslots, bool careful);

/* ---------- hand_over.c ---------- */

/* Takes over what the process before has parked, if anything. */
extern void hand_over_take(dsm_handle parked);

/* Leaves if another database waits for a process and it is time; true if it has left. */
extern bool hand_over(TimestampTz last_work);

/* How long to sleep, if it is not time. */
extern int64 hand_over_wait(int64 wait_us);

/* ---------- head_log.c ---------- */

extern void		   head_log_changed(void);
extern TimestampTz head_log_last_look(void);

/* Logs the head if it changed and is due, or if this is the last chance; never fails. */
extern void head_log(bool now_or_never);

/* ---------- debit.c ---------- */

/* Within a transaction; replies are written but not yet published. */
extern bool debit_batch(LedgerSlot **slots, int nslots, bool careful);
extern void debit_forget(void);

/* ---------- chain.c ---------- */

/* Where the chain ends, to be continued. */
typedef struct ChainEnd
{
	int64 id;
	uint8 head[HEAD_SIZE];
} ChainEnd;

extern void chain_read_end(ChainEnd *end, Oid generation);
extern void chain_append(ChainEnd *end, LedgerEntry *entry);
extern void chain_drain_outbox(ChainEnd *end);
extern void chain_forget(void);

/* ---------- book.c ---------- */

/* An account as a batch has it. */
typedef struct HeldAccount
{
	Account			account;
	ItemPointerData tid;	/* of its row */
	bool			cached; /* from our memory, not locked */
} HeldAccount;

typedef struct Batch
{
	TimestampTz	  now;
	bool		  careful; /* trust no cache, lock before deciding */
	Oid			  generation;
	ChainEnd	  end;
	HeldAccount **accounts;
	int			  naccounts;
	int			  size;
} Batch;

typedef enum Found
{
	ACCOUNT_FOUND,
	ACCOUNT_MISSING,
	ACCOUNT_LOCKED /* by another transaction */
} Found;

/* The batch's own copy of an account; *result is NULL if there is none. */
/*
 * Passes the gate of the population that is asked, under the number that it has today.  Once the
 * epoch was looked at: has it that number still?
 */
extern bool book_pass(LedgerRequest *request);
extern bool book_is_present(const LedgerRequest *request);

extern Found book_account(Batch *batch, int64 relation_id, Oid role, Account **result);

/* False if the row is no longer the one that we knew. */
extern bool book_write(Batch *batch, HeldAccount *held);

/* What an entry says about the account that it is charged to. */
extern void book_describe(LedgerEntry *entry, const Account *account);
extern void
book_append(Batch *batch, const char *kind, const LedgerRequest *request, LedgerEntry *entry);

extern void book_forget_rows(void);

/* ---------- payer.c ---------- */

/* What the request costs if this account pays. */
extern const Charge *payer_charge(const LedgerRequest *request, const Account *payer);

/* The accounts of groups whose budgets the role inherits, as far as they may be used. */
extern Found payer_groups(Batch *batch, const LedgerRequest *request, List **groups);

/*
 * Who pays: the role's own budget, then a group's.  Sets the reply's outcome;
 * the account is the one that pays or that is exhausted.
 */
extern Found
payer_choose(Batch *batch, const LedgerRequest *request, LedgerReply *reply, Account **payer);

/* Says in the reply which limit of an account has no room for a purchase. */
extern void payer_refuse(LedgerReply *reply, const Account *bound, const Charge *drawn);

/*
 * True, with the reason in the reply, if the chosen payer or the cap (NULL:
 * none) has no room for a purchase.
 */
extern bool
payer_refuses(LedgerReply *reply, const Account *payer, const Account *cap, const Charge *drawn);

/* Charges purchases to an account and the cap, and says so in the entry. */
extern void
payer_pay(Account *payer, Account *cap, const Charge *drawn, int64 times, LedgerEntry *entry);

/* ---------- release.c ---------- */

/* False if an account is locked by another transaction. */
extern bool release_grant(Batch *batch, const LedgerRequest *request, LedgerReply *reply);
extern bool release_export(Batch *batch, const LedgerRequest *request, LedgerReply *reply);
extern bool release_mark(Batch *batch, const LedgerRequest *request, LedgerReply *reply);

/* ---------- stream_book.c ---------- */

/* in privpred.stream.status */
#define STREAM_USED_UP "used up"
#define STREAM_ANSWERED "all answers given"

/* Buys a stream, which stays bought even if the client has gone before it knows. */
extern bool stream_book_buy(Batch *batch, const LedgerRequest *request, LedgerReply *reply);

/* Any other request about a stream. */
extern bool stream_book_serve(Batch *batch, const LedgerRequest *request, LedgerReply *reply);

/* ---------- memo.c ---------- */

extern void memo_keep(const LedgerRequest *request, LedgerReply *reply);

/* ---------- ceiling.c ---------- */

/* Reads all ceilings; then what binds an asker and who pays. */
extern void	 ceilings_read(void);
extern int64 ceiling_of(Oid asker, Oid payer);

/* ---------- board.c ---------- */

extern void board_publish(LedgerSlot *slot);

/* Did run "run" of a stream of this database fail, unrecorded as yet? */
extern bool board_has_failed(Oid generation, int64 stream, int32 run);

#endif /* PRIVPRED_LEDGER_WORKER_H */
