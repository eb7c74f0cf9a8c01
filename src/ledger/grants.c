/*
 * grants.c
 *		Grants, revocations and caps: ordinary writes in the owner's transaction.
 *
 * They enter the hash chain through an outbox, because the ledger's process is
 * the only writer of the chain.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "catalog/store.h"
#include "ledger/internal.h"

static int64
spi_int8(int column, bool *isnull)
{
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
									   column, isnull));
}

static void
execute(const char *query, int nargs, Oid *argtypes, Datum *args, const char *nulls)
{
	if (SPI_execute_with_args(query, nargs, argtypes, args, nulls, false, 0) < 0)
		elog(ERROR, "a query of the ledger failed");
}

/* Everything else about the event is read from the account. */
static void
put_outbox(const char *kind, int64 account_id, EpsilonUnits units, const char *actor)
{
	Oid			argtypes[] = {TEXTOID, INT8OID, INT8OID, TEXTOID, INT4OID, TIMESTAMPTZOID};
	Datum		args[] = {CStringGetTextDatum(kind), Int64GetDatum(account_id),
		Int64GetDatum(units), CStringGetTextDatum(actor), Int32GetDatum(MyProcPid),
	TimestampTzGetDatum(GetCurrentTimestamp())};

	execute("INSERT INTO privpred.ledger_outbox (at, kind, account_id, role_name, relation_id, "
			"relation_name, units, limit_units, actor, pid) "
			"SELECT $6, $1, a.account_id, CASE WHEN a.role <> 0 THEN a.role_name END, "
			"r.relation_id, "
			"CASE WHEN c.oid IS NULL THEN r.relation_name ELSE r.relation::text END, "
			"$3, a.limit_units, $4, $5 "
			"FROM privpred.account a JOIN privpred.protected_relation r USING (relation_id) "
			"LEFT JOIN pg_class c ON c.oid = r.relation WHERE a.account_id = $2",
			6, argtypes, args, NULL);
}

static char *
actor_name(void)
{
	return GetUserNameFromId(GetUserId(), false);
}

/*
 * Serialises everything that changes who holds the marker: GRANT on one object
 * in two transactions fails with "tuple concurrently updated" otherwise.
 */
static void
lock_marker(void)
{
	Oid			marker = get_relname_relid("budget_holders",
										   get_namespace_oid(PRIVPRED_SCHEMA, false));

	LockRelationOid(marker, ShareUpdateExclusiveLock);
}

static void
change_marker(const char *format, Oid role)
{
	char	   *command = psprintf(format, quote_identifier(GetUserNameFromId(role, false)));

	if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not execute \"%s\"", command);
}

/* Revokes what "condition" selects, $1 being a relation and $2 a role. */
static uint64
revoke_accounts(const char *condition, int64 relation_id, Oid role, const char *kind,
				const char *actor)
{
	Oid			argtypes[] = {INT8OID, REGROLEOID};
	Datum		args[] = {Int64GetDatum(relation_id), ObjectIdGetDatum(role)};
	char	   *query = psprintf("UPDATE privpred.account a SET revoked_at = now() "
								 "WHERE a.revoked_at IS NULL AND $1 IS NOT NULL "
								 "AND $2 IS NOT NULL AND %s RETURNING a.account_id", condition);
	SPITupleTable *table;
	uint64		rows;
	bool		isnull;

	execute(query, 2, argtypes, args, NULL);
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
		put_outbox(kind,
				   DatumGetInt64(SPI_getbinval(table->vals[row], table->tupdesc, 1, &isnull)),
				   0, actor);
	return rows;
}

/*
 * A role without the marker is new to us, or lost all budgets by DROP OWNED
 * BY: whatever accounts carry its oid are closed first.
 */
static void
give_marker(const LedgerGrant *grant, const char *actor)
{
	lock_marker();
	if (role_holds_marker(grant->role))
		return;
	(void) revoke_accounts("a.role = $2 AND a.relation_id <> $1",
						   grant->relation_id, grant->role, "revoke", actor);
	change_marker("GRANT SELECT ON TABLE privpred.budget_holders TO %s", grant->role);
}

/* An expiry that is not given stays, unless the budget was revoked meanwhile. */
static int64
write_grant(const LedgerGrant *grant, const char *actor, bool *expired)
{
	Oid			argtypes[] = {INT8OID, REGROLEOID, TEXTOID, INT8OID, INT8OID,
	TIMESTAMPTZOID, TEXTOID};
	char		nulls[] = "       ";
	Datum		args[7];
	Datum		value;
	int64		account_id;
	bool		isnull;

	args[0] = Int64GetDatum(grant->relation_id);
	args[1] = ObjectIdGetDatum(grant->role);
	args[2] = CStringGetTextDatum(GetUserNameFromId(grant->role, false));
	args[3] = Int64GetDatum(grant->limit);
	args[4] = Int64GetDatum(grant->per_answer);
	nulls[4] = grant->per_answer > 0 ? ' ' : 'n';
	args[5] = TimestampTzGetDatum(grant->valid_until);
	nulls[5] = grant->has_valid_until ? ' ' : 'n';
	args[6] = CStringGetTextDatum(actor);
	execute("INSERT INTO privpred.account AS a (relation_id, role, role_name, limit_units, "
			"per_answer_units, valid_until, granted_by) VALUES ($1, $2, $3, $4, $5, $6, $7) "
			"ON CONFLICT (relation_id, role) DO UPDATE SET role_name = excluded.role_name, "
			"limit_units = excluded.limit_units, "
			"per_answer_units = coalesce(excluded.per_answer_units, a.per_answer_units), "
			"valid_until = coalesce(excluded.valid_until, "
			"CASE WHEN a.revoked_at IS NULL THEN a.valid_until END), "
			"revoked_at = NULL, granted_at = now(), granted_by = excluded.granted_by "
			"RETURNING a.account_id, a.valid_until",
			7, argtypes, args, nulls);
	account_id = spi_int8(1, &isnull);
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2, &isnull);
	*expired = !isnull && DatumGetTimestampTz(value) <= GetCurrentTimestamp();
	return account_id;
}

void
ledger_grant(const LedgerGrant *grant)
{
	char	   *actor = actor_name();
	CatalogSession session;
	bool		expired;
	int64		account_id;

	catalog_begin(&session);
	ledger_claim();
	give_marker(grant, actor);
	account_id = write_grant(grant, actor, &expired);
	put_outbox("grant", account_id, 0, actor);
	catalog_end(&session);
	ledger_invalidate_leases();
	if (expired)
		ereport(WARNING,
				(errmsg("the budget has expired and stays so"),
				 errhint("Grant it with a valid_until in the future, or 'infinity'.")));
}

void
ledger_revoke(int64 relation_id, Oid role)
{
	char	   *actor = actor_name();
	char	   *name = GetUserNameFromId(role, true);
	Oid			argtypes[] = {REGROLEOID};
	Datum		args[] = {ObjectIdGetDatum(role)};
	CatalogSession session;

	catalog_begin(&session);
	lock_marker();
	if (revoke_accounts("a.role = $2 AND a.relation_id = $1", relation_id, role, "revoke",
						actor) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role \"%s\" has no budget on this relation",
						name ? name : psprintf("%u", role)),
				 errhint("See privpred.budgets.")));
	execute("SELECT FROM privpred.account a WHERE a.role = $1 AND a.revoked_at IS NULL LIMIT 1",
			1, argtypes, args, NULL);
	if (SPI_processed == 0 && name != NULL && role != catalog_owner())
		change_marker("REVOKE SELECT ON TABLE privpred.budget_holders FROM %s", role);
	catalog_end(&session);
	ledger_invalidate_leases();
}

/*
 * A cap counts from the beginning: it opens with what the roles have spent.
 * The table lock keeps debits out between the sum and our commit; with no
 * account on the relation there is nothing to sum, and a debit needs one.
 */
static int64
open_cap(int64 relation_id, const char *actor, EpsilonUnits *already)
{
	Oid			argtypes[] = {INT8OID, TEXTOID};
	Datum		args[] = {Int64GetDatum(relation_id), CStringGetTextDatum(actor)};
	bool		isnull;

	execute("LOCK TABLE privpred.account IN SHARE ROW EXCLUSIVE MODE", 0, NULL, NULL, NULL);
	execute("INSERT INTO privpred.account (relation_id, role, role_name, spent_units, granted_by) "
			"SELECT $1, '-'::regrole, '', coalesce(sum(a.spent_units), 0)::int8, $2 "
			"FROM privpred.account a WHERE a.relation_id = $1 RETURNING account_id, spent_units",
			2, argtypes, args, NULL);
	*already = spi_int8(2, &isnull);
	return spi_int8(1, &isnull);
}

void
ledger_set_cap(int64 relation_id, bool has_cap, EpsilonUnits limit)
{
	char	   *actor = actor_name();
	Oid			argtypes[] = {INT8OID, INT8OID};
	Datum		args[] = {Int64GetDatum(relation_id), Int64GetDatum(limit)};
	char		nulls[] = "  ";
	EpsilonUnits already = 0;
	CatalogSession session;
	int64		account_id = 0;
	bool		isnull;

	catalog_begin(&session);
	execute("SELECT a.account_id FROM privpred.account a "
			"WHERE a.relation_id = $1 AND a.role = 0 AND $2 IS NOT NULL",
			2, argtypes, args, NULL);
	if (SPI_processed > 0)
		account_id = spi_int8(1, &isnull);
	else if (has_cap)
	{
		ledger_claim();
		account_id = open_cap(relation_id, actor, &already);
	}
	if (account_id != 0)
	{
		args[0] = Int64GetDatum(account_id);
		nulls[1] = has_cap ? ' ' : 'n';
		execute("UPDATE privpred.account SET limit_units = $2, revoked_at = NULL, "
				"granted_at = now() WHERE account_id = $1",
				2, argtypes, args, nulls);
		put_outbox("cap", account_id, already, actor);
	}
	catalog_end(&session);
	ledger_invalidate_leases();
}

void
ledger_relation_dropped(int64 relation_id)
{
	char	   *actor = actor_name();
	CatalogSession session;

	catalog_begin(&session);
	(void) revoke_accounts("a.relation_id = $1 AND a.role <> 0", relation_id, InvalidOid,
						   "relation dropped", actor);
	catalog_end(&session);
	ledger_invalidate_leases();
}

bool
ledger_relation_has_budgets(int64 relation_id)
{
	Oid			argtypes[] = {INT8OID};
	Datum		args[] = {Int64GetDatum(relation_id)};
	CatalogSession session;
	bool		found;

	catalog_begin(&session);
	execute("SELECT FROM privpred.account a WHERE a.relation_id = $1 AND a.role <> 0 "
			"AND a.revoked_at IS NULL LIMIT 1", 1, argtypes, args, NULL);
	found = SPI_processed > 0;
	catalog_end(&session);
	return found;
}

/*
 * Roles are found by name in a restored dump; an account whose role has
 * another name here, or none, is closed.
 */
void
ledger_adopt(void)
{
	char	   *actor = actor_name();
	Oid			argtypes[] = {OIDOID, TEXTOID, INT4OID};
	Datum		args[] = {ObjectIdGetDatum(MyDatabaseId), CStringGetTextDatum(actor),
	Int32GetDatum(MyProcPid)};
	CatalogSession session;

	catalog_begin(&session);
	lock_marker();
	(void) revoke_accounts("a.role <> 0 AND NOT EXISTS (SELECT FROM pg_roles r "
						   "WHERE r.oid = a.role AND r.rolname = a.role_name)",
						   0, InvalidOid, "revoke", actor);
	execute("INSERT INTO privpred.ledger_identity (database) VALUES ($1) "
			"ON CONFLICT (only_row) DO UPDATE SET database = excluded.database",
			1, argtypes, args, NULL);
	execute("INSERT INTO privpred.ledger_outbox (kind, actor, pid) "
			"SELECT 'adopt', $2, $3 WHERE $1 IS NOT NULL", 3, argtypes, args, NULL);
	catalog_end(&session);
	ledger_invalidate_leases();
}

Oid
ledger_lease_relation(int64 lease)
{
	Oid			argtypes[] = {INT8OID};
	Datum		args[] = {Int64GetDatum(lease)};
	CatalogSession session;
	Datum		relation;
	bool		isnull;

	catalog_begin(&session);
	execute("SELECT r.relation FROM privpred.open_lease o "
			"JOIN privpred.protected_relation r USING (relation_id) WHERE o.lease = $1",
			1, argtypes, args, NULL);
	if (SPI_processed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("lease " INT64_FORMAT " is not open", lease),
				 errhint("See privpred.leases.")));
	relation = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	catalog_end(&session);
	return isnull ? InvalidOid : DatumGetObjectId(relation);
}

/*
 * Some of the lease's answers may have been given before the crash; only the
 * owner can know better.  What is returned is written to the chain.
 */
void
ledger_forgive(int64 lease)
{
	char	   *actor = actor_name();
	Oid			argtypes[] = {INT8OID, INT8OID, TEXTOID, INT4OID};
	Datum		args[] = {Int64GetDatum(lease), Int64GetDatum(ledger_incarnation()),
	CStringGetTextDatum(actor), Int32GetDatum(MyProcPid)};
	CatalogSession session;

	catalog_begin(&session);
	execute("WITH gone AS (DELETE FROM privpred.open_lease o WHERE o.lease = $1 "
			"AND o.incarnation <> $2 RETURNING *), "
			"paid AS (UPDATE privpred.account a SET spent_units = a.spent_units - g.answers * "
			"CASE WHEN a.account_id = g.account_id THEN g.charge ELSE g.cap_charge END "
			"FROM gone g WHERE a.account_id IN (g.account_id, g.cap_id)) "
			"INSERT INTO privpred.ledger_outbox (kind, account_id, cap_id, role_name, relation_id, "
			"relation_name, lease, answers, units, cap_units, actor, pid) "
			"SELECT 'forgive', g.account_id, g.cap_id, a.role_name, g.relation_id, "
			"r.relation_name, g.lease, -g.answers, -g.answers * g.charge, "
			"-g.answers * g.cap_charge, $3, $4 "
			"FROM gone g JOIN privpred.account a USING (account_id) "
			"JOIN privpred.protected_relation r ON r.relation_id = g.relation_id",
			4, argtypes, args, NULL);
	if (SPI_processed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("lease " INT64_FORMAT " is in use", lease),
				 errdetail("It was taken since the server started; what is unused of it comes back by itself."),
				 errhint("End the session that holds it; see privpred.leases.")));
	catalog_end(&session);
	ledger_invalidate_leases();
}
