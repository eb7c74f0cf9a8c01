/*
 * session.h
 *		The owner switch around every access to our tables.
 *
 * Our tables belong to the extension's owner and nobody else may touch them.
 * catalog_begin() connects to SPI as that owner with a search_path that no
 * user can influence; catalog_end() undoes it.  An error in between is undone
 * by transaction or subtransaction abort.  Queries with read_only = true see
 * what is committed now, and what this transaction's earlier commands did;
 * whoever writes ends with CommandCounterIncrement().
 */
#ifndef PRIVPRED_SESSION_H
#define PRIVPRED_SESSION_H

typedef struct CatalogSession
{
	Oid			saved_user;
	int			saved_security;
	int			guc_level;
	bool		pushed_snapshot;
	bool		connected;
} CatalogSession;

extern void catalog_begin(CatalogSession *session);
extern void catalog_end(CatalogSession *session);
extern Oid	catalog_owner(void);

/*
 * The same, as the owner of a user's relation: whatever code hangs on that
 * table runs with no more rights than its owner has.  Ends with catalog_end().
 */
extern void relation_owner_begin(CatalogSession *session, Oid relid);
extern Oid	relation_owner(Oid relid);

/*
 * The same without SPI, as an owner, around code that the owner wrote: also with
 * fixed settings for all that an asker could change in what it sees.
 */
extern void owner_code_begin(CatalogSession *session, Oid owner);

/* Those settings alone, inside a session. */
extern void owner_code_settings(void);

/* The same as the current user. */
extern void caller_begin(CatalogSession *session);

/*
 * Outside of all these: who asks, and pays, which is the current user.  A
 * SECURITY DEFINER function asks as its definer.
 */
extern Oid	asking_role(void);

/* Changes a setting until the end of the session. */
extern void session_set(const char *setting, const char *value);

#endif							/* PRIVPRED_SESSION_H */
