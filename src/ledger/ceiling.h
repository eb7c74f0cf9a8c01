/*
 * ceiling.h
 *		Ceilings: how many answers a statement may take, decided by superusers.
 *
 * Kept in a table and applied by the ledger's process, not a setting: whatever
 * a session may set before our library is loaded, even what it may not, takes
 * the place of what ALTER ROLE ... SET has given it.
 */
#ifndef PRIVPRED_CEILING_H
#define PRIVPRED_CEILING_H

#include "server/privpred.h"

#define NO_CEILING PG_INT64_MAX

/* In the ledger's process: reads all of them; then what binds an asker and who pays. */
extern void	 ceilings_read(void);
extern int64 ceiling_of(Oid asker, Oid payer);

/* In a session: what would bind them, before anything is asked. */
extern int64 ceiling_look_up(Oid asker, Oid payer);

/* Answers of the current statement, a call site having taken "used" of them. */
extern int64 statement_taken(int64 used);

/* Raises 54000. */
extern void ceiling_report(int64 ceiling, bool charged);

#endif /* PRIVPRED_CEILING_H */
