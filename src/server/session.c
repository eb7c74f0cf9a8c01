/*
 * session.c
 *		The owner switch around every access to our own tables.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "server/privpred.h"
#include "server/session.h"

/* Our schema belongs to the owner of the extension, and so do our tables. */
Oid
catalog_owner(void)
{
	Oid		  schema = get_namespace_oid(PRIVPRED_SCHEMA, true);
	HeapTuple tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	Oid		  owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("extension \"privpred\" is not installed in this database"),
				errhint("Run CREATE EXTENSION privpred."));
	owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * A new library may meet tables of an old version, until they are updated.  The update
 * itself drops objects, of which our event triggers hear.
 */
static void
check_catalog_version(void)
{
	static Oid checked = InvalidOid;
	Oid		   schema = get_namespace_oid(PRIVPRED_SCHEMA, true);

	if (schema == checked || creating_extension)
		return;
	/* A function that came with 0.2.0. */
	if (!SearchSysCacheExists3(PROCNAMEARGSNSP, CStringGetDatum("on_rename"),
							   PointerGetDatum(buildoidvector(NULL, 0)), ObjectIdGetDatum(schema)))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("extension \"privpred\" of this database is of an earlier version than the "
					   "server's library"),
				errhint("A superuser runs ALTER EXTENSION privpred UPDATE."));
	checked = schema;
}

/* Acts as a user, with settings that no other user can influence. */
static void
rights_begin(CatalogSession *session, Oid user)
{
	GetUserIdAndSecContext(&session->saved_user, &session->saved_security);
	SetUserIdAndSecContext(user, session->saved_security | SECURITY_LOCAL_USERID_CHANGE |
									 SECURITY_RESTRICTED_OPERATION);
	session->guc_level = NewGUCNestLevel();
	session_set("search_path", "pg_catalog, pg_temp");
	session->pushed_snapshot = false;
	session->connected = false;
	session->outside = CurrentMemoryContext;
}

static void
connect_spi(CatalogSession *session)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	session->connected = true;
	/* Numbers that SQL turns into text or JSON keep all their digits. */
	session_set("extra_float_digits", "1");
}

/* What several queries are to see alike; NULL: each sees what is committed when it begins. */
static Snapshot held_rows = NULL;

/*
 * Code of the owner runs while rows are held.  If it trained or forgot anything, what is
 * being trained would afterwards be stored with rows that are older.
 */
void
check_no_rows_held(void)
{
	if (held_rows != NULL)
		ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
				errmsg("tables and models cannot be changed while a model is being trained"),
				errhint("Functions of a learner only compute."));
}

void
with_rows_held(void (*work)(void *), void *argument)
{
	Snapshot rows;

	check_no_rows_held();
	rows = RegisterSnapshot(GetLatestSnapshot());
	held_rows = rows;
	PG_TRY();
	{
		work(argument);
	}
	PG_FINALLY();
	{
		held_rows = NULL;
	}
	PG_END_TRY();
	UnregisterSnapshot(rows); /* after an error, the abort does */
}

/* Queries see what is committed now.  Parallel mode forbids a new snapshot. */
static void
look_at_now(CatalogSession *session)
{
	session->pushed_snapshot = !IsInParallelMode();
	if (session->pushed_snapshot)
		PushActiveSnapshot(GetLatestSnapshot());
}

/*
 * Our tables are read like the server's catalogs: as they are now, not as they
 * were when the statement began.
 */
void
catalog_begin(CatalogSession *session)
{
	check_catalog_version();
	rights_begin(session, catalog_owner());
	connect_spi(session);
	look_at_now(session);
}

/*
 * The same holds for rows of a user's table: its columns and keys are looked up in
 * the server's catalogs as of now, and older rows may not obey them.
 */
void
relation_owner_begin(CatalogSession *session, Oid relid)
{
	rights_begin(session, relation_owner(relid));
	connect_spi(session);
	if (held_rows != NULL)
	{
		PushActiveSnapshot(held_rows);
		session->pushed_snapshot = true;
	}
	else
		look_at_now(session);
	/* A view computes with what it reads: times and texts look as settings want them to. */
	if (get_rel_relkind(relid) == RELKIND_VIEW)
		owner_code_settings();
}

/*
 * Everything that an asker may set and that changes how a function sees numbers,
 * dates and names.  Most sessions have most of these values already, and comparing
 * is cheaper than setting.
 */
void
owner_code_settings(void)
{
	static const char *const settings[][2] = {
		{"array_nulls", "on"},
		{"backslash_quote", "safe_encoding"},
		{"bytea_output", "hex"},
		{"check_function_bodies", "on"},
		{"DateStyle", "ISO, YMD"},
		{"default_text_search_config", "pg_catalog.simple"},
		{"exit_on_error", "off"}, /* a teacher's error is not the asker's */
		{"extra_float_digits", "1"},
		{"gin_fuzzy_search_limit", "0"},
		{"IntervalStyle", "postgres"},
		{"lc_monetary", "C"},
		{"lc_numeric", "C"},
		{"lc_time", "C"},
		{"quote_all_identifiers", "off"},
		{"row_security", "on"},
		{"standard_conforming_strings", "on"},
		{"TimeZone", "UTC"},
		{"timezone_abbreviations", "Default"},
		{"transform_null_equals", "off"},
		{"xmlbinary", "base64"},
		{"xmloption", "content"},
		{"plpgsql.extra_errors", "none"}, /* absent until something has set or loaded it */
	};

	for (int i = 0; i < lengthof(settings); i++)
	{
		const char *value = GetConfigOption(settings[i][0], true, false);

		if (value != NULL && strcmp(value, settings[i][1]) != 0)
			session_set(settings[i][0], settings[i][1]);
	}
}

void
owner_code_begin(CatalogSession *session, Oid owner)
{
	rights_begin(session, owner);
	owner_code_settings();
}

/*
 * The current user asks and pays, as for every privilege of the server.  A
 * SECURITY DEFINER function asks as its definer, and code that maintenance or a
 * foreign key runs asks as the table's owner, whoever the session belongs to.
 * Inside a session, the current user would be somebody else.
 */
Oid
asking_role(void)
{
	return GetUserId();
}

/* The caller's own rights, but not the caller's search_path. */
void
caller_begin(CatalogSession *session)
{
	rights_begin(session, GetUserId());
	connect_spi(session);
}

void
session_set(const char *setting, const char *value)
{
	(void) set_config_option(setting, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}

Oid
relation_owner_if_any(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid		  owner;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

bool
role_owns(Oid role, Oid relid)
{
	Oid owner = relation_owner_if_any(relid);

	return OidIsValid(owner) && has_privs_of_role(role, owner);
}

Oid
relation_owner(Oid relid)
{
	Oid owner = relation_owner_if_any(relid);

	if (!OidIsValid(owner))
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("the protected relation no longer exists"),
				errhint("Its models were dropped with it."));
	return owner;
}

void
catalog_end(CatalogSession *session)
{
	if (session->pushed_snapshot)
		PopActiveSnapshot();
	if (session->connected && SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	AtEOXact_GUC(false, session->guc_level);
	SetUserIdAndSecContext(session->saved_user, session->saved_security);
}
