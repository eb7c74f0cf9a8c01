/*
 * holders.h
 *		Whose budgets are whose, and who may change a relation's accounts when.
 */
#ifndef PRIVPRED_HOLDERS_H
#define PRIVPRED_HOLDERS_H

/* ---------- holders.c ---------- */

/* Does the server know that the role has a budget on the relation? */
extern bool holder_is_recorded(Oid relid, Oid role);
extern void holder_record(Oid relid, Oid role);
extern void holder_erase(Oid relid, Oid role);

/* Within catalog_begin(): of all accounts that were not revoked. */
extern void holders_record_all(void);

/* When the library is loaded: DROP EXTENSION is to leave no entries behind. */
extern void holders_watch_extension(void);

/* ---------- gate.c ---------- */

/* Until the end of the transaction; false if it would have to wait but must not. */
extern bool gate_pass(int64 relation_id, bool alone, bool wait);

#endif /* PRIVPRED_HOLDERS_H */
