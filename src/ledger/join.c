/*
 * join.c
 *		Populations that turn out to be about the same units.
 *
 * Who is in both has lost the sum of what was spent on either.  So every account of the
 * one is counted by that of the same role in the other, at the lower of their
 * orders, with both deltas; the terms are those of the account that stays, and
 * freeze it if they are exceeded.  Both gates are passed alone, so that nothing is
 * spent or granted meanwhile.  What moves enters the chain twice, with kind "join":
 * out of an account, and into another.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "account/terms.h"
#include "catalog/by_id.h"
#include "catalog/relations.h"
#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "server/query.h"
#include "server/session.h"

typedef struct Merger
{
	int64		from;
	int64		into;
	Oid			from_relid;
	Oid			into_relid;
	const char *actor;
	List	   *live;  /* roles whose budgets go on */
	List	   *ended; /* roles whose budgets do not */
	int			moved;
	int			frozen;
} Merger;

/* ---------- what stands in the way ---------- */

/* What was committed before we passed the gates, whatever our isolation level. */
static void
read_latest(const char *sql, int64 number)
{
	PushActiveSnapshot(GetLatestSnapshot());
	query_run(NULL, sql, true, 0, QUERY_ARGUMENTS(ARG_INT8(number)));
	PopActiveSnapshot();
}

static void
check_leases(const Merger *join)
{
	query_read("SELECT o.lease FROM privpred.open_lease o WHERE o.relation_id = $1 "
			   "AND o.incarnation = $2 ORDER BY o.lease LIMIT 1",
			   ARG_INT8(join->from), ARG_INT8(ledger_incarnation()));
	if (SPI_processed > 0)
		ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
				errmsg("answers about relation \"%s\" are being given",
					   population_brief(join->from).name),
				errdetail("Lease " INT64_FORMAT " is in use.", row_int8(0, 1)),
				errhint("Try again once its statement has ended; see privpred.leases."));
}

/* A stream of a version that is no more is closed; one that may be asked is its buyer's. */
static void
check_streams(const Merger *join)
{
	SPITupleTable *table;
	uint64		   rows;

	read_latest("SELECT s.stream_id, s.model_id, s.version FROM privpred.stream s "
				"WHERE s.relation_id = $1 AND s.status = 'open' ORDER BY s.stream_id",
				join->from);
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
	{
		ModelSale *sale;

		SPI_tuptable = table; /* we look up more */
		sale = model_sale(row_int8(row, 2));
		if (sale != NULL && sale->version == row_int4(row, 3))
			ereport(
				ERROR, errcode(ERRCODE_OBJECT_IN_USE),
				errmsg("a stream of model \"%s\" is open", sale->name),
				errhint("Its buyer closes it with privpred.close_stream('%s'); a new version of "
						"the model ends it, too. See privpred.streams.",
						sale->name));
		query_write("UPDATE privpred.stream SET status = 'model changed', threshold = NULL, "
					"holders = 0, incarnation = NULL, closed_at = now() "
					"WHERE stream_id = $1 AND status = 'open'",
					ARG_INT8(row_int8(row, 1)));
	}
}

/* ---------- accounts ---------- */

static bool
lock_account(int64 population, Oid role, Oid relid, Account *account)
{
	query_write("SELECT " ACCOUNT_COLUMNS " FROM privpred.account a "
				"WHERE a.relation_id = $1 AND a.role = $2 FOR UPDATE",
				ARG_INT8(population), ARG_OID(role));
	if (SPI_processed == 0)
		return false;
	account_from_row(account, 0, relid);
	return true;
}

/* An account with the same terms, of which nothing is spent yet. */
static void
copy_account(const Merger *join, const Account *from, Account *into)
{
	query_write("INSERT INTO privpred.account (relation_id, role, role_name, limit_units, "
				"renyi_order, epsilon_units, delta_limit, per_answer_units, refresh, "
				"lifetime_epsilon_units, window_anchor, window_start, window_limit_units, "
				"valid_until, revoked_at, granted_at, granted_by) "
				"SELECT $2, a.role, a.role_name, a.limit_units, a.renyi_order, a.epsilon_units, "
				"a.delta_limit, a.per_answer_units, a.refresh, a.lifetime_epsilon_units, "
				"a.window_anchor, a.window_start, a.window_limit_units, a.valid_until, "
				"CASE WHEN $3 THEN a.revoked_at ELSE coalesce(a.revoked_at, now()) END, "
				"a.granted_at, a.granted_by FROM privpred.account a WHERE a.account_id = $1",
				ARG_INT8(from->account_id), ARG_INT8(join->into), ARG_BOOL(from->live_role));
	if (!lock_account(join->into, from->role, join->into_relid, into))
		elog(ERROR, "could not open an account");
	into->live_role = from->live_role;
}

static void
write_joined(const Account *account)
{
	query_write("UPDATE privpred.account SET spent_units = $2, delta_spent = $3, "
				"window_spent_units = $4, renyi_order = $5, limit_units = $6, "
				"window_limit_units = $7 WHERE account_id = $1",
				ARG_INT8(account->account_id), ARG_INT8(account->spent),
				ARG_FLOAT8(account->delta_spent),
				ARG_INT8(account->has_window ? account->window_spent : 0),
				ARG_IF(account->order != RENYI_ORDER_INFINITE, ARG_INT8(account->order)),
				ARG_IF(!account->unlimited, ARG_INT8(account->limit)),
				ARG_IF(account->has_window, ARG_INT8(account->window_limit)));
}

/* It stays for the entries that name it, and pays for nothing any more. */
static void
empty_account(const Merger *join, const Account *from, int64 into_id)
{
	LedgerEvent event = {.kind = "join",
						 .units = -from->spent,
						 .window_units = from->has_window ? -from->window_spent : 0,
						 .delta = -from->delta_spent,
						 .detail = psprintf("to account " INT64_FORMAT, into_id)};

	query_write("UPDATE privpred.account SET spent_units = 0, delta_spent = 0, "
				"window_spent_units = 0, revoked_at = coalesce(revoked_at, now()) "
				"WHERE account_id = $1",
				ARG_INT8(from->account_id));
	ledger_put_event(from->account_id, join->from, &event, join->actor);
}

/* Counts what was spent and tells the chain; whence is what it comes from, in words. */
static void
count_spent(const Merger *join, const Account *from, Account *into, const char *whence)
{
	TermsJoin	joined = terms_join(into, from);
	char		terms[TERMS_TEXT_SIZE];
	LedgerEvent event = {.kind = "join",
						 .units = joined.units,
						 .window_units = joined.window_units,
						 .delta = joined.delta,
						 .detail = psprintf("from %s: %s", whence, terms_to_text(into, terms))};

	write_joined(into);
	ledger_put_event(into->account_id, join->into, &event, join->actor);
}

/* What an account has paid for, and what it may get back, is the other's. */
static void
move_rights(const Merger *join, int64 from_id, int64 into_id, int64 cap_id)
{
	query_write("INSERT INTO privpred.release (account_id, training_id, relation_id, model_id, "
				"model, version, at, charge, pure_charge, accuracy) SELECT $2, r.training_id, $3, "
				"r.model_id, r.model, r.version, r.at, r.charge, r.pure_charge, r.accuracy "
				"FROM privpred.release r WHERE r.account_id = $1 ON CONFLICT DO NOTHING",
				ARG_INT8(from_id), ARG_INT8(into_id), ARG_INT8(join->into));
	query_write("UPDATE privpred.memo SET account_id = $2 WHERE account_id = $1", ARG_INT8(from_id),
				ARG_INT8(into_id));
	query_write("UPDATE privpred.open_lease SET account_id = $2, relation_id = $3, cap_id = $4 "
				"WHERE account_id = $1",
				ARG_INT8(from_id), ARG_INT8(into_id), ARG_INT8(join->into),
				ARG_INT8_OR_NULL(cap_id));
}

/* Of a role, or of both caps. */
static void
join_accounts(Merger *join, Account *from, int64 cap_id)
{
	Account into;
	bool	opens = !lock_account(join->into, from->role, join->into_relid, &into);
	bool	was_live = !from->revoked && from->live_role;

	if (opens)
		copy_account(join, from, &into);
	empty_account(join, from, into.account_id);
	count_spent(join, from, &into, psprintf("account " INT64_FORMAT, from->account_id));
	move_rights(join, from->account_id, into.account_id, cap_id);
	join->moved++;
	if (from->role == CAP_ROLE)
		return;
	if (!into.revoked && into.live_role)
		join->live = list_append_unique_oid(join->live, from->role);
	else if (was_live)
		join->ended = lappend_oid(join->ended, from->role);
}

/* Roles of a population whose accounts count; a role that was dropped leaves what it has spent. */
static List *
roles_of(int64 population)
{
	read_latest("SELECT a.role::oid FROM privpred.account a WHERE a.relation_id = $1 "
				"AND a.role <> 0 ORDER BY 1",
				population);
	return rows_oids(1);
}

/* Returns the cap that stays; 0: there is none. */
static int64
join_caps(Merger *join)
{
	Account		from = {.order = RENYI_ORDER_INFINITE};
	Account		into;
	TermsBasis	already = {.already_order = RENYI_ORDER_INFINITE};
	bool		from_has = lock_account(join->from, CAP_ROLE, join->from_relid, &from);
	bool		into_has = lock_account(join->into, CAP_ROLE, join->into_relid, &into);
	const char *kept = population_brief(join->into).name;

	if (!into_has && from_has && from.epsilon > 0)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("relation \"%s\" has a cap, and \"%s\" has none",
					   population_brief(join->from).name, kept),
				errdetail("A cap over all roles would be lost."),
				errhint("Run SELECT privpred.protect('%s', epsilon_cap => ...) first.", kept));
	if (!into_has)
		return 0;
	/* Counted before the roles' accounts are emptied. */
	ledger_inherit_releases(join->from, into.account_id);
	if (from_has)
	{
		join_accounts(join, &from, 0);
		return into.account_id;
	}
	ledger_read_already(join->from, &already);
	from = (Account){.spent = already.already,
					 .order = already.already_order,
					 .delta_spent = already.already_delta};
	count_spent(join, &from, &into, psprintf("population " INT64_FORMAT, join->from));
	return into.account_id;
}

/* Everybody knows what was exported of either: who has not paid for it does now. */
static void
share_exports(Merger *join)
{
	List	 *roles = lappend_oid(roles_of(join->into), CAP_ROLE);
	ListCell *cell;
	Account	  account;

	query_write("UPDATE privpred.release SET relation_id = $2 WHERE relation_id = $1",
				ARG_INT8(join->from), ARG_INT8(join->into));
	foreach(cell, roles)
	{
		if (!lock_account(join->into, lfirst_oid(cell), join->into_relid, &account))
			continue;
		if (account.role != CAP_ROLE && !list_member_oid(join->live, account.role))
			continue;
		exports_charge(&account, true, join->actor);
	}
}

/* Of budgets that are in use, and the cap. */
static int
count_frozen(const Merger *join)
{
	List	 *roles = list_copy(join->live);
	int		  frozen = 0;
	ListCell *cell;
	Account	  account;

	foreach(cell, lappend_oid(roles, CAP_ROLE))
		if (lock_account(join->into, lfirst_oid(cell), join->into_relid, &account) &&
			account_left(&account) < 0)
			frozen++;
	return frozen;
}

/* ---------- joining ---------- */

/* Alone behind both gates, in the order of their numbers; false: they are one already. */
static bool
pass_both(Merger *join)
{
	for (;;)
	{
		int64 from = population_brief(join->from).population;
		int64 into = population_brief(join->into).population;

		if (from == into)
			return false;
		(void) gate_pass(Min(from, into), true, true);
		(void) gate_pass(Max(from, into), true, true);
		if (population_brief(from).population == from && population_brief(into).population == into)
		{
			join->from = from;
			join->into = into;
			return true;
		}
	}
}

static void
move_accounts(Merger *join)
{
	List	 *roles = roles_of(join->from);
	int64	  cap_id;
	ListCell *cell;

	join->live = holders_of(join->into, join->into_relid);
	join->frozen = -count_frozen(join);
	cap_id = join_caps(join);
	foreach(cell, roles)
	{
		Account account;

		if (!lock_account(join->from, lfirst_oid(cell), join->from_relid, &account))
			ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("budgets changed while their relations were joined"),
					errhint("Try again."));
		join_accounts(join, &account, cap_id);
	}
}

static void
tell(const Merger *join)
{
	if (join->moved > 0)
		ereport(NOTICE,
				errmsg_plural("%d budget or cap is joined, and what was spent adds up",
							  "%d budgets and caps are joined, and what was spent adds up",
							  join->moved, join->moved),
				errdetail("The terms are those of \"%s\"; roles that had a budget on the other "
						  "relation alone keep theirs.",
						  population_brief(join->into).name));
	if (join->frozen > 0)
		ereport(WARNING,
				errmsg_plural("%d budget is frozen", "%d budgets are frozen", join->frozen,
							  join->frozen),
				errdetail("More has been spent for the same units than they grant."),
				errhint("See privpred.budgets. Grant more, if that is what is meant."));
}

void
ledger_join(int64 from, int64 into)
{
	Merger		   join = {.from = from, .into = into, .actor = ledger_actor()};
	LedgerRequest  sync = {.kind = REQUEST_SYNC};
	ListCell	  *cell;
	CatalogSession session;

	/* Statements that have ended give back what they did not use. */
	if (ledger_relation_is_used(from))
		(void) ledger_call(&sync);
	catalog_begin(&session);
	ledger_claim();
	if (pass_both(&join))
	{
		join.from_relid = population_brief(join.from).relid;
		join.into_relid = population_brief(join.into).relid;
		check_leases(&join);
		check_streams(&join);
		move_accounts(&join);
		share_exports(&join);
		join.frozen += count_frozen(&join);
		populations_merge(join.from, join.into);
		foreach(cell, join.live)
			holder_record(join.into, lfirst_oid(cell));
		foreach(cell, join.ended)
			holder_erase(join.into, lfirst_oid(cell));
	}
	catalog_end(&session);
	ledger_invalidate_leases();
	tell(&join);
}

void
ledger_relation_added(int64 population, Oid relid, Oid instead_of)
{
	CatalogSession session;

	catalog_begin(&session);
	population = gate_pass_present(population, true);
	holders_record_new(population, instead_of, relid);
	catalog_end(&session);
	ledger_invalidate_leases();
}
