/*
 * session.h
 *		The owner switch around every access to our tables, and around the code of
 *		others.
 *
 * Our tables belong to the extension's owner, and nobody else may touch them.
 * catalog_begin() becomes that owner and connects to SPI, with a search_path that
 * no user can influence; catalog_end() undoes both.  After an error, the abort of
 * the transaction or subtransaction undoes them.
 *
 * Queries with read_only = true (query_read()) see what is committed now and what
 * earlier commands of this transaction did.  Whoever writes ends with
 * CommandCounterIncrement().
 */
#ifndef PRIVPRED_SESSION_H
#define PRIVPRED_SESSION_H

#include "utils/palloc.h"

typedef struct CatalogSession
{
	Oid			  saved_user;
	int			  saved_security;
	int			  guc_level;
	bool		  pushed_snapshot;
	bool		  connected;
	MemoryContext outside; /* in which the session was begun */
} CatalogSession;

extern void catalog_begin(CatalogSession *session);
extern void catalog_end(CatalogSession *session);
extern Oid	catalog_owner(void);

/*
 * What is allocated after this call outlives the session.  Every query switches
 * back to memory that does not.
 */
static inline void
session_keep(const CatalogSession *session)
{
	MemoryContextSwitchTo(session->outside);
}

/*
 * The same as the owner of a user's relation: code that hangs on that table runs
 * with no more rights than its owner has.  Ends with catalog_end().
 */
extern void relation_owner_begin(CatalogSession *session, Oid relid);

/* Calls a function; all such sessions that it begins see the rows that are committed now. */
extern void with_rows_held(void (*work)(void *), void *argument);

/* Raises an error within such a function. */
extern void check_no_rows_held(void);

/* The owner of a relation; 42P01, or InvalidOid, if it no longer exists. */
extern Oid relation_owner(Oid relid);
extern Oid relation_owner_if_any(Oid relid);

/* Is the role the owner of a relation, or a member of it?  False if the relation does not exist. */
extern bool role_owns(Oid role, Oid relid);

/*
 * The same without SPI, around code that an owner wrote.  It also fixes all
 * settings by which an asker could change what that code sees.
 */
extern void owner_code_begin(CatalogSession *session, Oid owner);

/* Fixes those settings alone, inside a session. */
extern void owner_code_settings(void);

/* The same as the current user. */
extern void caller_begin(CatalogSession *session);

/*
 * Outside of all these: the role that asks, and pays, which is the current user.
 * A SECURITY DEFINER function asks as its definer.
 */
extern Oid asking_role(void);

/* Changes a setting until the end of the session. */
extern void session_set(const char *setting, const char *value);

#endif /* PRIVPRED_SESSION_H */
