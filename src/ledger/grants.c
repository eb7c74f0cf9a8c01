/*
 * grants.c
 *		Grants, revocations and caps: ordinary writes in the owner's transaction.
 *
 * They enter the hash chain through an outbox, because the ledger's process is
 * the only writer of the chain.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "server/session.h"

static int64
spi_int8(int column, bool *isnull)
{
	return DatumGetInt64(
		SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, isnull));
}

static void
execute(const char *query, int nargs, Oid *argtypes, Datum *args, const char *nulls)
{
	if (SPI_execute_with_args(query, nargs, argtypes, args, nulls, false, 0) < 0)
		elog(ERROR, "a query of the ledger failed");
}

void
ledger_put_event(int64 account_id, const LedgerEvent *event, const char *actor)
{
	Oid	  argtypes[] = {TEXTOID, INT8OID, INT8OID,	 TEXTOID, INT4OID, TIMESTAMPTZOID,
						INT8OID, TEXTOID, FLOAT8OID, INT8OID, TEXTOID, INT4OID};
	char  nulls[] = "            ";
	Datum args[12];

	args[0] = CStringGetTextDatum(event->kind);
	args[1] = Int64GetDatum(account_id);
	args[2] = Int64GetDatum(event->units);
	args[3] = CStringGetTextDatum(actor);
	args[4] = Int32GetDatum(MyProcPid);
	args[5] = TimestampTzGetDatum(GetCurrentTimestamp());
	args[6] = Int64GetDatum(event->window_units);
	nulls[7] = event->detail != NULL ? ' ' : 'n';
	args[7] = event->detail != NULL ? CStringGetTextDatum(event->detail) : (Datum) 0;
	args[8] = Float8GetDatum(event->delta);
	nulls[9] = nulls[11] = event->model_id != 0 ? ' ' : 'n';
	args[9] = Int64GetDatum(event->model_id);
	nulls[10] = event->model != NULL ? ' ' : 'n';
	args[10] = event->model != NULL ? CStringGetTextDatum(event->model) : (Datum) 0;
	args[11] = Int32GetDatum(event->version);
	execute(
		"INSERT INTO privpred.ledger_outbox (at, kind, account_id, role_name, relation_id, "
		"relation_name, model_id, model, version, units, limit_units, actor, pid, renyi_order, window_units, "
		"window_limit_units, delta, detail) "
		"SELECT $6, $1, a.account_id, CASE WHEN a.role <> 0 THEN a.role_name END, "
		"r.relation_id, "
		"CASE WHEN c.oid IS NULL THEN r.relation_name ELSE r.relation::text END, "
		"$10, $11, $12, $3, a.limit_units, $4, $5, a.renyi_order, $7, a.window_limit_units, $9, $8 "
		"FROM privpred.account a JOIN privpred.protected_relation r USING (relation_id) "
		"LEFT JOIN pg_class c ON c.oid = r.relation WHERE a.account_id = $2",
		12, argtypes, args, nulls);
}

static void
put_outbox(const char *kind, int64 account_id, const char *actor)
{
	LedgerEvent event = {.kind = kind};

	ledger_put_event(account_id, &event, actor);
}

static char *
actor_name(void)
{
	return GetUserNameFromId(GetUserId(), false);
}

/* Revokes what "condition" selects, $1 being a relation and $2 a role. */
static uint64
revoke_accounts(const char *condition, int64 relation_id, Oid role, const char *kind,
				const char *actor)
{
	Oid			   argtypes[] = {INT8OID, REGROLEOID};
	Datum		   args[] = {Int64GetDatum(relation_id), ObjectIdGetDatum(role)};
	char		  *query = psprintf("UPDATE privpred.account a SET revoked_at = now() "
											 "WHERE a.revoked_at IS NULL AND $1 IS NOT NULL "
											 "AND $2 IS NOT NULL AND %s RETURNING a.account_id, a.role::oid, "
											 "(SELECT p.relation::oid FROM privpred.protected_relation p "
											 "WHERE p.relation_id = a.relation_id)",
									condition);
	SPITupleTable *table;
	uint64		   rows;
	bool		   isnull;

	execute(query, 2, argtypes, args, NULL);
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
	{
		HeapTuple account = table->vals[row];
		Oid		  holder = DatumGetObjectId(SPI_getbinval(account, table->tupdesc, 2, &isnull));
		Oid		  relid;

		put_outbox(kind, DatumGetInt64(SPI_getbinval(account, table->tupdesc, 1, &isnull)), actor);
		relid = DatumGetObjectId(SPI_getbinval(account, table->tupdesc, 3, &isnull));
		/* A table that was dropped has taken its entries with it. */
		if (!isnull)
			holder_erase(relid, holder);
	}
	return rows;
}

/*
 * The account of a role, or of the cap, locked; opened if there is none.  Debits
 * wait until we have committed.
 */
static void
lock_account(const LedgerGrant *grant, const char *actor, Account *account)
{
	Oid	  argtypes[] = {INT8OID, REGROLEOID, TEXTOID, TEXTOID};
	Datum args[4];

	args[0] = Int64GetDatum(grant->relation_id);
	args[1] = ObjectIdGetDatum(grant->role);
	args[2] =
		CStringGetTextDatum(OidIsValid(grant->role) ? GetUserNameFromId(grant->role, false) : "");
	args[3] = CStringGetTextDatum(actor);
	execute("INSERT INTO privpred.account AS a (relation_id, role, role_name, granted_by) "
			"VALUES ($1, $2, $3, $4) ON CONFLICT (relation_id, role) DO NOTHING",
			4, argtypes, args, NULL);
	execute("SELECT " ACCOUNT_COLUMNS " FROM privpred.account a "
			"WHERE a.relation_id = $1 AND a.role = $2 FOR UPDATE",
			2, argtypes, args, NULL);
	if (SPI_processed != 1)
		elog(ERROR, "could not read an account");
	account_from_spi(account, 0);
}

/*
 * Writes the terms.  An expiry that is not given stays, unless the budget was
 * revoked meanwhile.
 */
static void
write_terms(const Account *account, const LedgerGrant *grant, const char *actor)
{
	Oid	  argtypes[] = {INT8OID,		TEXTOID,		INT8OID, INT8OID, INT8OID,
						FLOAT8OID,		FLOAT8OID,		INT8OID, INT8OID, INTERVALOID,
						TIMESTAMPTZOID, TIMESTAMPTZOID, INT8OID, INT8OID, TIMESTAMPTZOID,
						TEXTOID,		INT8OID};
	Datum args[lengthof(argtypes)];
	char  nulls[lengthof(argtypes) + 1];
	bool  window = account->has_window;
	int	  n = 0;

#define PUT(present, value) \
	(nulls[n] = (present) ? ' ' : 'n', args[n] = (present) ? (value) : (Datum) 0, n++)

	PUT(true, Int64GetDatum(account->account_id));
	PUT(OidIsValid(grant->role), CStringGetTextDatum(GetUserNameFromId(grant->role, true)));
	PUT(!account->unlimited, Int64GetDatum(account->limit));
	PUT(account->order != RENYI_ORDER_INFINITE, Int64GetDatum(account->order));
	PUT(account->epsilon > 0, Int64GetDatum(account->epsilon));
	PUT(true, Float8GetDatum(account->delta));
	PUT(true, Float8GetDatum(account->delta_spent));
	PUT(account->per_answer > 0, Int64GetDatum(account->per_answer));
	PUT(account->lifetime > 0, Int64GetDatum(account->lifetime));
	PUT(window, IntervalPGetDatum(&account->refresh));
	PUT(window, TimestampTzGetDatum(account->window_anchor));
	PUT(window, TimestampTzGetDatum(account->window_start));
	PUT(window, Int64GetDatum(account->window_limit));
	PUT(true, Int64GetDatum(window ? account->window_spent : 0));
	PUT(account->valid_until != DT_NOEND, TimestampTzGetDatum(account->valid_until));
	PUT(true, CStringGetTextDatum(actor));
	PUT(true, Int64GetDatum(account->spent));
#undef PUT
	execute("UPDATE privpred.account SET role_name = coalesce($2, ''), limit_units = $3, "
			"renyi_order = $4, epsilon_units = $5, delta_limit = $6, delta_spent = $7, "
			"per_answer_units = $8, lifetime_epsilon_units = $9, refresh = $10, "
			"window_anchor = $11, window_start = $12, window_limit_units = $13, "
			"window_spent_units = $14, valid_until = $15, granted_by = $16, spent_units = $17, "
			"revoked_at = NULL, granted_at = now() WHERE account_id = $1",
			n, argtypes, args, nulls);
}

/* Applies a grant to its account and tells the chain. */
static void
set_terms(Account *account, const LedgerGrant *grant, const Already *already, const char *actor)
{
	LedgerEvent event = {0};
	TermsChange change;

	terms_apply(account, grant, already, &change);
	if (grant->has_valid_until)
		account->valid_until = grant->valid_until;
	else if (account->revoked)
		account->valid_until = DT_NOEND;
	write_terms(account, grant, actor);
	if (change.conversion != NULL)
	{
		event.kind = "convert";
		event.detail = change.conversion;
		ledger_put_event(account->account_id, &event, actor);
	}
	event.kind = account->role == CAP_ROLE ? "cap" : "grant";
	event.units = already != NULL ? already->units : 0;
	event.window_units = change.window_units;
	event.delta = change.delta;
	event.detail = terms_text(account);
	ledger_put_event(account->account_id, &event, actor);
}

static void
warn_about(const Account *account, const LedgerGrant *grant)
{
	if (account->valid_until <= GetCurrentTimestamp())
		ereport(WARNING, (errmsg("the budget has expired and stays so"),
						  errhint("Grant it with a valid_until in the future, or 'infinity'.")));
	if (account->has_window && account->lifetime == 0)
		ereport(
			WARNING,
			(errmsg("the budget refreshes and has no lifetime limit"),
			 errdetail(
				 "Each window adds its epsilon to what is known about the same people: over time the privacy loss has no bound."),
			 errhint(
				 "Give lifetime_epsilon as well. See lifetime_epsilon_spent in privpred.budgets.")));
}

void
ledger_grant(const LedgerGrant *grant)
{
	char		  *actor = actor_name();
	CatalogSession session;
	Account		   account;

	catalog_begin(&session);
	ledger_claim();
	(void) gate_pass(grant->relation_id, false, true);
	lock_account(grant, actor, &account);
	set_terms(&account, grant, NULL, actor);
	holder_record(account.relid, grant->role);
	exports_charge(&account, actor);
	catalog_end(&session);
	ledger_invalidate_leases();
	warn_about(&account, grant);
}

void
ledger_revoke(int64 relation_id, Oid role)
{
	char		  *actor = actor_name();
	char		  *name = GetUserNameFromId(role, true);
	CatalogSession session;

	catalog_begin(&session);
	if (revoke_accounts("a.role = $2 AND a.relation_id = $1", relation_id, role, "revoke", actor) ==
		0)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						errmsg("role \"%s\" has no budget on this relation",
							   name ? name : psprintf("%u", role)),
						errhint("See privpred.budgets.")));
	catalog_end(&session);
	ledger_invalidate_leases();
}

void
ledger_disown(Oid role)
{
	CatalogSession session;

	catalog_begin(&session);
	(void) revoke_accounts("a.role = $2", 0, role, "revoke", actor_name());
	catalog_end(&session);
	ledger_invalidate_leases();
}

static void
add_up_deltas(ArrayType *deltas, Already *already)
{
	double *delta = (double *) ARR_DATA_PTR(deltas);

	for (int i = 0; i < ArrayGetNItems(ARR_NDIM(deltas), ARR_DIMS(deltas)); i++)
		already->delta = delta_add(already->delta, delta[i]);
}

/*
 * A cap counts from the beginning: it opens with what the roles have spent, at
 * the lowest of their orders; and with their deltas, what changes of their own
 * orders took included, which is too much rather than too little.  The gate
 * keeps debits of the relation out between the sum and our commit.
 */
static void
spent_by_roles(int64 relation_id, Already *already)
{
	Oid	  argtypes[] = {INT8OID, INT8OID};
	Datum args[] = {Int64GetDatum(relation_id), Int64GetDatum(RENYI_ORDER_INFINITE)};
	bool  isnull;

	(void) gate_pass(relation_id, true, true);
	/* What was committed before we passed, whatever our isolation level. */
	PushActiveSnapshot(GetLatestSnapshot());
	if (SPI_execute_with_args(
			"SELECT least(coalesce(sum(a.spent_units), 0), 9223372036854775807)::int8, "
			"coalesce(min(a.renyi_order), $2), "
			"coalesce(array_agg(a.delta_spent), '{}') FROM privpred.account a "
			"WHERE a.relation_id = $1 AND a.role <> 0 AND a.spent_units > 0",
			2, argtypes, args, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read accounts");
	PopActiveSnapshot();
	already->units = spi_int8(1, &isnull);
	already->lowest = spi_int8(2, &isnull);
	add_up_deltas(
		DatumGetArrayTypeP(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 3, &isnull)),
		already);
}

/* What roles have spent is counted, so the cap has paid for what they have. */
static void
inherit_releases(int64 relation_id, int64 cap_id)
{
	Oid	  argtypes[] = {INT8OID, INT8OID};
	Datum args[] = {Int64GetDatum(relation_id), Int64GetDatum(cap_id)};

	execute(
		"INSERT INTO privpred.release (account_id, training_id, relation_id, model_id, model, "
		"version, at, charge, pure_charge) SELECT DISTINCT ON (r.training_id) $2, r.training_id, "
		"r.relation_id, r.model_id, r.model, r.version, r.at, r.charge, r.pure_charge FROM privpred.release r WHERE r.relation_id = $1 "
		"AND r.account_id <> 0 ORDER BY r.training_id, r.at "
		"ON CONFLICT DO NOTHING",
		2, argtypes, args, NULL);
}

static bool
cap_exists(int64 relation_id)
{
	Oid	  argtypes[] = {INT8OID};
	Datum args[] = {Int64GetDatum(relation_id)};

	execute("SELECT FROM privpred.account a WHERE a.relation_id = $1 AND a.role = 0", 1, argtypes,
			args, NULL);
	return SPI_processed > 0;
}

void
ledger_set_cap(const LedgerGrant *cap)
{
	char		  *actor = actor_name();
	Already		   already = {.lowest = RENYI_ORDER_INFINITE};
	CatalogSession session;
	Account		   account;
	bool		   exists;

	catalog_begin(&session);
	exists = cap_exists(cap->relation_id);
	if (!exists && cap->epsilon > 0)
	{
		ledger_claim();
		spent_by_roles(cap->relation_id, &already);
	}
	if (exists || cap->epsilon > 0)
	{
		(void) gate_pass(cap->relation_id, false, true);
		lock_account(cap, actor, &account);
		/* Another session may have opened it while we waited for the lock. */
		if (account.epsilon > 0 || account.spent > 0)
			already.units = 0;
		else if (!exists)
			inherit_releases(cap->relation_id, account.account_id);
		set_terms(&account, cap, &already, actor);
		exports_charge(&account, actor);
	}
	catalog_end(&session);
	ledger_invalidate_leases();
}

void
ledger_relation_dropped(int64 relation_id)
{
	char		  *actor = actor_name();
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
	Oid			   argtypes[] = {INT8OID};
	Datum		   args[] = {Int64GetDatum(relation_id)};
	CatalogSession session;
	bool		   found;

	catalog_begin(&session);
	/* As it is now, whatever our isolation level. */
	if (SPI_execute_with_args(
			"SELECT FROM privpred.account a WHERE a.relation_id = $1 AND a.role <> 0 "
			"AND a.revoked_at IS NULL",
			1, argtypes, args, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read accounts");
	found = SPI_processed > 0;
	catalog_end(&session);
	return found;
}

/*
 * Roles are found by name in a restored dump; an account whose role has
 * another name here, or none, is closed.  So are all streams: the original may
 * have gone on with the same thresholds.
 */
void
ledger_adopt(void)
{
	char		  *actor = actor_name();
	Oid			   argtypes[] = {TEXTOID, INT4OID};
	Datum		   args[] = {CStringGetTextDatum(actor), Int32GetDatum(MyProcPid)};
	CatalogSession session;

	catalog_begin(&session);
	(void) revoke_accounts("a.role <> 0 AND NOT EXISTS (SELECT FROM pg_roles r "
						   "WHERE r.oid = a.role AND r.rolname = a.role_name)",
						   0, InvalidOid, "revoke", actor);
	execute("UPDATE privpred.stream SET status = 'ledger adopted', threshold = NULL, holders = 0, "
			"incarnation = NULL, closed_at = now() WHERE status = 'open'",
			0, NULL, NULL, NULL);
	holders_record_all();
	ledger_make_ours();
	execute("INSERT INTO privpred.ledger_outbox (kind, actor, pid) VALUES ('adopt', $1, $2)", 2,
			argtypes, args, NULL);
	catalog_end(&session);
	ledger_invalidate_leases();
}

bool
ledger_lease_relation(int64 lease, Oid *relation)
{
	Oid			   argtypes[] = {INT8OID};
	Datum		   args[] = {Int64GetDatum(lease)};
	CatalogSession session;
	bool		   found;
	bool		   isnull = true;

	catalog_begin(&session);
	execute("SELECT r.relation FROM privpred.open_lease o "
			"JOIN privpred.protected_relation r USING (relation_id) WHERE o.lease = $1",
			1, argtypes, args, NULL);
	*relation = InvalidOid;
	found = SPI_processed > 0;
	if (found)
	{
		Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);

		if (!isnull)
			*relation = DatumGetObjectId(value);
	}
	catalog_end(&session);
	return found;
}

/*
 * Some of the lease's answers may have been given before the crash; only the
 * owner can know better.  What is returned is written to the chain.
 */
void
ledger_forgive(int64 lease)
{
	char		  *actor = actor_name();
	Oid			   argtypes[] = {INT8OID, INT8OID, TEXTOID, INT4OID};
	Datum		   args[] = {Int64GetDatum(lease), Int64GetDatum(ledger_incarnation()),
							 CStringGetTextDatum(actor), Int32GetDatum(MyProcPid)};
	CatalogSession session;

	catalog_begin(&session);
	execute(
		"WITH gone AS (DELETE FROM privpred.open_lease o WHERE o.lease = $1 "
		"AND o.incarnation <> $2 RETURNING *), "
		"paid AS (UPDATE privpred.account a SET spent_units = CASE "
		"WHEN a.spent_units = 9223372036854775807 THEN a.spent_units "
		"WHEN a.account_id = g.account_id THEN a.spent_units - g.answers * g.charge "
		"ELSE a.spent_units - g.answers * g.cap_charge END, "
		"window_spent_units = a.window_spent_units - CASE WHEN a.account_id = g.account_id "
		"AND a.window_start = g.window_start THEN g.answers * g.charge ELSE 0 END "
		"FROM gone g WHERE a.account_id IN (g.account_id, g.cap_id) "
		"RETURNING a.account_id, a.role_name, a.renyi_order, CASE WHEN a.window_start = "
		"g.window_start THEN -g.answers * g.charge ELSE 0 END AS window_units, "
		"a.spent_units = 9223372036854775807 AS beyond_counting) "
		"INSERT INTO privpred.ledger_outbox (kind, account_id, cap_id, role_name, relation_id, "
		"relation_name, lease, answers, units, cap_units, actor, pid, renyi_order, window_units) "
		"SELECT 'forgive', g.account_id, g.cap_id, a.role_name, g.relation_id, "
		"r.relation_name, g.lease, -g.answers, "
		"CASE WHEN a.beyond_counting THEN 0 ELSE -g.answers * g.charge END, "
		"CASE WHEN c.beyond_counting THEN 0 ELSE -g.answers * g.cap_charge END, "
		"$3, $4, a.renyi_order, a.window_units "
		"FROM gone g JOIN paid a USING (account_id) "
		"LEFT JOIN paid c ON c.account_id = g.cap_id "
		"JOIN privpred.protected_relation r ON r.relation_id = g.relation_id",
		4, argtypes, args, NULL);
	if (SPI_processed == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE), errmsg("lease " INT64_FORMAT " is in use", lease),
			 errdetail(
				 "It was taken since the server started; what is unused of it comes back by itself."),
			 errhint("End the session that holds it; see privpred.leases.")));
	catalog_end(&session);
	ledger_invalidate_leases();
}
