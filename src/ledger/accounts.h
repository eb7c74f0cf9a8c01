/*
 * accounts.h
 *		Accounts as they are stored: reading them, whose they are, and who may change
 *		a relation's accounts when.  For both sides.
 */
#ifndef PRIVPRED_LEDGER_ACCOUNTS_H
#define PRIVPRED_LEDGER_ACCOUNTS_H

#include "account/account.h"
#include "ledger/shared.h"

/* ---------- accounts.c ---------- */

#define ACCOUNT_COLUMNS \
	"a.account_id, a.relation_id, a.role, a.limit_units, a.spent_units, a.valid_until, " \
	"a.revoked_at, a.renyi_order, a.epsilon_units, a.delta_limit, a.delta_spent, " \
	"a.per_answer_units, a.lifetime_epsilon_units, a.refresh, a.window_anchor, a.window_start, " \
	"a.window_limit_units, a.window_spent_units"
#define ACCOUNT_NEXT_COLUMN 19

/* From a row of a query's result that begins with ACCOUNT_COLUMNS; relid may be invalid. */
extern void account_from_row(Account *account, uint64 row, Oid relid);

/* What prevents an account from paying; OUTCOME_GRANTED if nothing does. */
extern LedgerOutcome account_outcome(const Account *account, TimestampTz now);

extern bool role_inherits_budget_of(Oid member, Oid role);

/* False if the ledger was cloned or restored; *moved: pg_upgrade has brought it here. */
extern bool ledger_is_ours(bool *moved);

/* Raises 55000 if it was; makes it ours if it is new. */
extern void ledger_claim(void);
extern void ledger_make_ours(void);

/* ---------- holders.c ---------- */

/* Does the server know that the role has a budget that pays for the relation? */
extern bool holder_is_recorded(Oid relid, Oid role);

/* Of all relations of a population. */
extern void holder_record(int64 population, Oid role);
extern void holder_erase(int64 population, Oid role);

/*
 * Within catalog_begin(): of all live accounts, once a relation has come to an older one
 * (InvalidOid: any).
 */
extern void holders_record_new(int64 population, Oid older, Oid newer);

/* Within catalog_begin(): roles with a budget that is not revoked, as the server knows them. */
extern List *holders_of(int64 population, Oid relid);

/* Within catalog_begin(): of all accounts that were not revoked. */
extern void holders_record_all(void);

/* When the library is loaded: DROP EXTENSION is to leave no entries behind. */
extern void holders_watch_extension(void);

/* ---------- gate.c ---------- */

/* Until the end of the transaction; false if it would have to wait but must not. */
extern bool gate_pass(int64 relation_id, bool alone, bool wait);

/* Waits at the gate of the population that has a number today, and returns its present number. */
extern int64 gate_pass_present(int64 number, bool alone);

#endif /* PRIVPRED_LEDGER_ACCOUNTS_H */
