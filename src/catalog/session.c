/*
 * session.c
 *		The owner switch around every access to our own tables.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/syscache.h"

#include "catalog/catalog.h"

/* Our schema belongs to the owner of the extension, and so do our tables. */
Oid
catalog_owner(void)
{
	Oid			schema = get_namespace_oid(PRIVPRED_SCHEMA, true);
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"privpred\" is not installed in this database"),
				 errhint("Run CREATE EXTENSION privpred.")));
	owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	return owner;
}

void
catalog_begin(CatalogSession *session)
{
	Oid			owner = catalog_owner();

	GetUserIdAndSecContext(&session->saved_user, &session->saved_security);
	SetUserIdAndSecContext(owner,
						   session->saved_security | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	session->guc_level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

void
catalog_end(CatalogSession *session)
{
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	AtEOXact_GUC(false, session->guc_level);
	SetUserIdAndSecContext(session->saved_user, session->saved_security);
}
