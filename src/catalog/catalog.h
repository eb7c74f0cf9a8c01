/*
 * catalog.h
 *		privpred's own tables, and the encoding of rows.
 *
 * session.c		the owner switch around every access to our tables
 * relations.c		protected relations and who owns them
 * models.c			models: store, fetch, drop
 * model_cache.c	decoded models, one copy per backend
 * features.c		feature specifications: parse, check, print
 * encode.c			rows, jsonb and arrays to numbers
 */
#ifndef PRIVPRED_CATALOG_H
#define PRIVPRED_CATALOG_H

#include "mechanism/mechanism.h"
#include "privpred.h"

/*
 * ---------- session.c ----------
 *
 * Our tables belong to the extension's owner and nobody else may touch them.
 * catalog_begin() connects to SPI as that owner with a search_path that no
 * user can influence; catalog_end() undoes it.  An error in between is undone
 * by transaction or subtransaction abort.
 */
typedef struct CatalogSession
{
	Oid			saved_user;
	int			saved_security;
	int			guc_level;
} CatalogSession;

extern void catalog_begin(CatalogSession *session);
extern void catalog_end(CatalogSession *session);
extern Oid	catalog_owner(void);

/* ---------- relations.c ---------- */

typedef struct ProtectedRelation
{
	int64		relation_id;
	Oid			relid;
	int			nunits;			/* columns that identify the unit */
	char	  **unit_columns;
	bool		protects_labels;
} ProtectedRelation;

/* Raises 42501 unless the current user owns the relation. */
extern void check_relation_owner(Oid relid);

/* False if not protected; allocates in the current context. */
extern bool protected_relation_lookup(Oid relid, ProtectedRelation *result);
extern ProtectedRelation *protected_relation_by_id(int64 relation_id);

#endif							/* PRIVPRED_CATALOG_H */
