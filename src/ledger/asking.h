/*
 * asking.h
 *		What the files of the asking side share; they run in sessions.
 */
#ifndef PRIVPRED_LEDGER_ASKING_H
#define PRIVPRED_LEDGER_ASKING_H

#include "ledger/shared.h"

#define LEASE_MAX_ANSWERS 100000			 /* a million rows need 26 round trips */
#define LEASE_MAX_AGE_US INT64CONST(1000000) /* bounds what a missed epoch costs */
#define ROW_LOCK_PATIENCE_US INT64CONST(2000000)

/* ---------- client.c ---------- */

extern LedgerReply ledger_call(const LedgerRequest *request);

/* The same, counted where the price says: the round trip, its time, a refusal. */
extern LedgerReply ledger_call_counted(const LedgerPrice *price, const LedgerRequest *request);
extern void		   ledger_post(const LedgerRequest *request);

/* ---------- lease.c ---------- */

/* Warns if it is not recorded. */
extern void ledger_call_mark_paid(const LedgerPrice *price, const LedgerRequest *request);

/* What is asked for, and what it costs. */
extern void ledger_request_describe(LedgerRequest *request, const LedgerPrice *price, Oid asker);

/* Who pays for what from which account, as requests about a lease say it. */
extern void ledger_lease_describe(const LedgerLease *lease, LedgerRequest *request);

/* ---------- refusal.c ---------- */

/* Raises unless the request was granted. */
extern void ledger_report_refusal(const LedgerPrice *price, Oid asker, const LedgerReply *reply);

/* What was used up a moment ago is not asked for again and again. */
typedef struct UsedUp
{
	MemoryContext context; /* of the message */
	char		 *message; /* how the error would begin; NULL: it was not used up */
	Oid			  role;
	uint64		  epoch;
	TimestampTz	  until;
} UsedUp;

/*
 * One counted round trip; raises unless the request is granted.  But if used_up is
 * not NULL, it returns false where a budget or stream is used up.
 */
extern bool ledger_call_granted(const LedgerPrice *price, const LedgerRequest *request,
								LedgerReply *reply, UsedUp *used_up);

/* Raises 55000: the ledger was restored or cloned. */
extern void ledger_report_copy(void);

/* ---------- statement.c ---------- */

/* Answers of the current statement, a call site having taken "used" of them. */
extern int64 statement_taken(int64 used);

/* Answers that it may still take; raises if none. */
extern int64 statement_allowance(int64 used);
extern void	 statement_count_answer(bool charged);

/* Answers of the current statement that were charged one by one. */
extern int64 statement_paid(void);

/* Raises 54000: the statement has reached a ceiling. */
extern void ceiling_report(int64 ceiling);

/* ---------- warnings.c ---------- */

/* Once its terms are set: warns about what the owner may not have meant. */
extern void
warn_about_grant(const Account *account, const LedgerGrant *grant, const TermsChange *change);

/* ---------- grants.c ---------- */

/* What enters the chain about an account; everything else is read from it. */
typedef struct LedgerEvent
{
	const char	*kind;
	EpsilonUnits units;
	EpsilonUnits window_units;
	double		 delta;
	const char	*detail;   /* NULL: none */
	int64		 model_id; /* 0: none */
	const char	*model;	   /* NULL: none or unknown */
	int32		 version;
} LedgerEvent;

/* Into the outbox, with the caller's transaction. */
extern void
ledger_put_event(int64 account_id, int64 relation_id, const LedgerEvent *event, const char *actor);

/* Outside of sessions: who does it, for the chain. */
extern char *ledger_actor(void);

/* Revokes what "condition" selects, $1 being a relation and $2 a role; returns how many. */
extern uint64 ledger_revoke_accounts(const char *condition, int64 relation_id, Oid role,
									 const char *kind, const char *actor);

/* Within catalog_begin(), alone behind the gate: what the roles of a population have spent. */
extern void ledger_read_already(int64 relation_id, TermsBasis *basis);

/* Likewise: a cap that counts what roles have spent has paid for what they have. */
extern void ledger_inherit_releases(int64 relation_id, int64 cap_id);

/* ---------- budgets.c ---------- */

/* What models sell, as many as there are in a list of ModelSale. */
extern Purchase *ledger_purchases(List *sales);

/* ---------- exports.c ---------- */

/*
 * Charges an account for all that was exported and that it has not paid for;
 * raises if it is too small, unless populations are joined.  The caller has passed
 * the population's gate, which keeps exports out until it ends.
 */
extern void exports_charge(Account *account, bool joins, const char *actor);

/* Was anything exported that an account of infinite order cannot pay for? */
extern bool exports_need_delta(int64 relation_id);

#endif /* PRIVPRED_LEDGER_ASKING_H */
