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

/* Answers that the statement may still take, a call site having taken "used"; raises if none. */
extern int64 statement_allowance(int64 used);
extern void	 statement_count_answer(void);

/* Raises unless the request was granted. */
extern void ledger_report_refusal(const LedgerPrice *price, Oid asker, const LedgerReply *reply);

/* Warns if it is not recorded. */
extern void ledger_call_mark_paid(const LedgerPrice *price, const LedgerRequest *request);

/* What is asked for, and what it costs. */
extern void ledger_request_describe(LedgerRequest *request, const LedgerPrice *price, Oid asker);

/* Who pays for what from which account, as requests about a lease say it. */
extern void ledger_lease_describe(const LedgerLease *lease, LedgerRequest *request);

/* Answers of the current statement, a call site having taken "used" of them. */
extern int64 statement_taken(int64 used);

/* ---------- ceiling.c ---------- */

/* What would bind an asker and who pays, before anything is asked. */
extern int64 ceiling_look_up(Oid asker, Oid payer);

/* Raises 54000. */
extern void ceiling_report(int64 ceiling, bool charged);

/* ---------- terms.c ---------- */

/* What terms_apply() did beside setting limits. */
typedef struct TermsChange
{
	char		*conversion;   /* for the chain; NULL: the order stays */
	EpsilonUnits window_units; /* change of what the window has spent */
	double		 delta;		   /* what was added to delta_spent */
} TermsChange;

/* What a cap that opens counts as spent although it was not charged with it. */
typedef struct Already
{
	EpsilonUnits units; /* at no order below lowest */
	RenyiOrder	 lowest;
	double		 delta;
} Already;

/* Applies a grant to an account, in memory; already is NULL but for such a cap. */
extern void terms_apply(Account *account, const LedgerGrant *grant, const Already *already,
						TermsChange *change);

/* The terms of an account in a canonical form that people can read. */
extern char *terms_text(const Account *account);

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
extern void ledger_put_event(int64 account_id, const LedgerEvent *event, const char *actor);

/* ---------- exports.c ---------- */

/*
 * Charges an account for all that was exported and that it has not paid for;
 * raises if it is too small.  The caller has passed the relation's gate, which
 * keeps exports out until it ends.
 */
extern void exports_charge(Account *account, const char *actor);

#endif /* PRIVPRED_LEDGER_ASKING_H */
