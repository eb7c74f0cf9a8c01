/*
 * grants.c
 *		Grants, revocations and caps: ordinary writes in the owner's transaction.
 *
 * They enter the hash chain through an outbox, because the ledger's process is
 * the only writer of the chain.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/snapmgr.h"

#include "account/accountant.h"
#include "catalog/by_id.h"
#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "server/query.h"
#include "server/session.h"

char *
ledger_actor(void)
{
	return GetUserNameFromId(GetUserId(), false);
}

void
ledger_put_event(int64 account_id, int64 relation_id, const LedgerEvent *event, const char *actor)
{
	const char *relation_name = population_brief(relation_id).name;
	bool		has_model = event->model_id != 0;

	query_write("INSERT INTO privpred.ledger_outbox (at, kind, account_id, role_name, relation_id, "
				"relation_name, model_id, model, version, units, limit_units, actor, pid, "
				"renyi_order, window_units, window_limit_units, delta, detail) "
				"SELECT $1, $2, a.account_id, CASE WHEN a.role <> 0 THEN a.role_name END, "
				"a.relation_id, $4, $5, $6, $7, $8, a.limit_units, $9, $10, a.renyi_order, $11, "
				"a.window_limit_units, $12, $13 FROM privpred.account a WHERE a.account_id = $3",
				ARG_TIME(GetCurrentTimestamp()), ARG_TEXT(event->kind), ARG_INT8(account_id),
				ARG_TEXT(relation_name), ARG_INT8_OR_NULL(event->model_id), ARG_TEXT(event->model),
				ARG_IF(has_model, ARG_INT4(event->version)), ARG_INT8(event->units),
				ARG_TEXT(actor), ARG_INT4(MyProcPid), ARG_INT8(event->window_units),
				ARG_FLOAT8(event->delta), ARG_TEXT(event->detail));
}

/* ---------- revoking ---------- */

/* What "condition" selects, $1 being a relation and $2 a role. */
uint64
ledger_revoke_accounts(const char *condition, int64 relation_id, Oid role, const char *kind,
					   const char *actor)
{
	const LedgerEvent event = {.kind = kind};
	SPITupleTable	 *table;
	uint64			  rows;

	query_run(NULL,
			  psprintf("UPDATE privpred.account a SET revoked_at = now() "
					   "WHERE a.revoked_at IS NULL AND $1 IS NOT NULL AND $2 IS NOT NULL "
					   "AND %s RETURNING a.account_id, a.relation_id, a.role::oid",
					   condition),
			  false, 0, QUERY_ARGUMENTS(ARG_INT8(relation_id), ARG_OID(role)));
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
	{
		SPI_tuptable = table; /* events are results, too */
		/* Tables that were dropped have taken their entries with them. */
		holder_erase(row_int8(row, 2), row_oid(row, 3));
		ledger_put_event(row_int8(row, 1), row_int8(row, 2), &event, actor);
	}
	return rows;
}

void
ledger_revoke(int64 relation_id, Oid role)
{
	char		  *actor = ledger_actor();
	char		  *name = GetUserNameFromId(role, true);
	CatalogSession session;

	catalog_begin(&session);
	if (ledger_revoke_accounts("a.role = $2 AND a.relation_id = $1", relation_id, role, "revoke",
							   actor) == 0)
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
	char		  *actor = ledger_actor();
	CatalogSession session;

	catalog_begin(&session);
	(void) ledger_revoke_accounts("a.role = $2", 0, role, "revoke", actor);
	catalog_end(&session);
	ledger_invalidate_leases();
}

uint64
ledger_relation_dropped(int64 relation_id)
{
	char		  *actor = ledger_actor();
	uint64		   count;
	CatalogSession session;

	catalog_begin(&session);
	count = ledger_revoke_accounts("a.relation_id = $1 AND a.role <> 0", relation_id, InvalidOid,
								   "relation dropped", actor);
	catalog_end(&session);
	ledger_invalidate_leases();
	return count;
}

/* ---------- terms ---------- */

/*
 * The account of a role, or of the cap, locked; opened if there is none.  Debits
 * wait until we have committed.
 */
static void
lock_account(const LedgerGrant *grant, const char *actor, Account *account)
{
	const char *name = OidIsValid(grant->role) ? GetUserNameFromId(grant->role, false) : "";
	Oid			relid = population_brief(grant->relation_id).relid;

	query_write("INSERT INTO privpred.account AS a (relation_id, role, role_name, granted_by) "
				"VALUES ($1, $2, $3, $4) ON CONFLICT (relation_id, role) DO NOTHING",
				ARG_INT8(grant->relation_id), ARG_OID(grant->role), ARG_TEXT(name),
				ARG_TEXT(actor));
	query_write("SELECT " ACCOUNT_COLUMNS " FROM privpred.account a "
				"WHERE a.relation_id = $1 AND a.role = $2 FOR UPDATE",
				ARG_INT8(grant->relation_id), ARG_OID(grant->role));
	if (SPI_processed != 1)
		elog(ERROR, "could not read an account");
	account_from_row(account, 0, relid);
}

static void
write_terms(const Account *account, const char *actor)
{
	bool		window = account->has_window;
	const char *name = OidIsValid(account->role) ? GetUserNameFromId(account->role, true) : NULL;

	query_write("UPDATE privpred.account SET role_name = coalesce($2, ''), limit_units = $3, "
				"renyi_order = $4, epsilon_units = $5, delta_limit = $6, delta_spent = $7, "
				"per_answer_units = $8, lifetime_epsilon_units = $9, refresh = $10, "
				"window_anchor = $11, window_start = $12, window_limit_units = $13, "
				"window_spent_units = $14, valid_until = $15, granted_by = $16, spent_units = $17, "
				"revoked_at = NULL, granted_at = now() WHERE account_id = $1",
				ARG_INT8(account->account_id), ARG_TEXT(name),
				ARG_IF(!account->unlimited, ARG_INT8(account->limit)),
				ARG_IF(account->order != RENYI_ORDER_INFINITE, ARG_INT8(account->order)),
				ARG_INT8_OR_NULL(account->epsilon), ARG_FLOAT8(account->delta),
				ARG_FLOAT8(account->delta_spent), ARG_INT8_OR_NULL(account->per_answer),
				ARG_INT8_OR_NULL(account->lifetime),
				ARG_IF(window, ARG(INTERVALOID, IntervalPGetDatum(&account->refresh))),
				ARG_IF(window, ARG_TIME(account->window_anchor)),
				ARG_IF(window, ARG_TIME(account->window_start)),
				ARG_IF(window, ARG_INT8(account->window_limit)),
				ARG_INT8(window ? account->window_spent : 0),
				ARG_IF(account->valid_until != DT_NOEND, ARG_TIME(account->valid_until)),
				ARG_TEXT(actor), ARG_INT8(account->spent));
}

static void
report_problem(TermsProblem problem, const Account *account, const LedgerGrant *grant,
			   const TermsChange *change)
{
	bool   cap = account->role == CAP_ROLE;
	double needed = 2 * account->delta_spent;

	if (problem == TERMS_LIFETIME_ALONE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("lifetime_epsilon needs refresh"),
				 errdetail("Without windows epsilon is itself the limit for ever."),
				 grant->has_refresh
					 ? errhint("Give lifetime_epsilon => 'Infinity' as well, to end both.")
					 : errhint("Give refresh, such as '1 day', or leave lifetime_epsilon out.")));
	if (problem == TERMS_NEED_DELTA)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 cap ? errmsg("what roles have spent cannot be counted by a cap without delta")
				 : errmsg(
					   "what the role has spent cannot be carried over to a budget without delta"),
			 errdetail("It was spent at Rényi order %g, which says nothing about higher orders.",
					   renyi_order_to_double(change->old_order)),
			 cap ? errhint("Give delta_cap, such as 1e-6.")
				 : errhint("Keep delta => %g, or grant a pure budget to another role.",
						   change->old_delta)));
	if (problem == TERMS_DELTA_SPENT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 cap ? errmsg("delta_cap is too small for what is already spent")
					 : errmsg("delta cannot be lowered that far"),
				 errdetail("A delta of %g is spent, which may be half of the budget's at most.",
						   account->delta_spent),
				 cap ? errhint("Give delta_cap, of at least %g.", needed)
					 : errhint("Keep a delta of at least %g, or grant a budget to another role.",
							   needed)));
	elog(ERROR, "an order was chosen that spending cannot be carried to");
}

/*
 * A cap is charged for the draws that its payers get.  If they are all of
 * infinite order, a finite one must pay even for those.
 */
static bool
all_payers_are_pure(int64 relation_id)
{
	query_write("SELECT count(*) > 0 AND count(a.renyi_order) = 0 FROM privpred.account a "
				"WHERE a.relation_id = $1 AND a.role <> 0 AND a.revoked_at IS NULL",
				ARG_INT8(relation_id));
	return row_bool(0, 1);
}

static void
read_basis(TermsBasis *basis, const Account *account)
{
	List	 *sales = population_sales(account->relation_id);
	Purchase *models = ledger_purchases(sales);

	/* Streams are bought like models, not over and over. */
	for (int i = 0; i < list_length(sales); i++)
		models[i].once = ((ModelSale *) list_nth(sales, i))->kind != CHARGE_PER_ANSWER;
	basis->now = GetCurrentTransactionStartTimestamp(); /* as granted_at */
	basis->dearest = terms_dearest(models, list_length(sales));
	basis->finite_only = exports_need_delta(account->relation_id);
	basis->payers_are_pure = account->role == CAP_ROLE && all_payers_are_pure(account->relation_id);
}

/*
 * Applies a grant to its account and tells the chain.  An expiry that is not given
 * stays, unless the budget was revoked meanwhile.
 */
static TermsChange
set_terms(Account *account, const LedgerGrant *grant, TermsBasis *basis, const char *actor)
{
	LedgerEvent	 event = {.kind = "convert"};
	TermsChange	 change;
	TermsProblem problem;
	char		 text[TERMS_TEXT_SIZE];

	read_basis(basis, account);
	problem = terms_apply(account, grant, basis, &change);
	if (problem != TERMS_GOOD)
		report_problem(problem, account, grant, &change);
	if (grant->has_valid_until)
		account->valid_until = grant->valid_until;
	else if (account->revoked)
		account->valid_until = DT_NOEND;
	write_terms(account, actor);
	if (change.converts)
	{
		event.detail = psprintf(
			"from order %g to order %g carrying %s", renyi_order_to_double(change.old_order),
			renyi_order_to_double(account->order), epsilon_to_text(account->spent, text));
		ledger_put_event(account->account_id, account->relation_id, &event, actor);
	}
	event.kind = account->role == CAP_ROLE ? "cap" : "grant";
	event.units = basis->already;
	event.window_units = change.window_units;
	event.delta = change.delta;
	event.detail = terms_to_text(account, text);
	ledger_put_event(account->account_id, account->relation_id, &event, actor);
	return change;
}

/* ---------- granting ---------- */

void
ledger_grant(LedgerGrant *grant)
{
	char		  *actor = ledger_actor();
	TermsBasis	   basis = {0};
	TermsChange	   change;
	CatalogSession session;
	Account		   account;

	catalog_begin(&session);
	ledger_claim();
	grant->relation_id = gate_pass_present(grant->relation_id, false);
	lock_account(grant, actor, &account);
	change = set_terms(&account, grant, &basis, actor);
	holder_record(grant->relation_id, grant->role);
	exports_charge(&account, false, actor);
	catalog_end(&session);
	ledger_invalidate_leases();
	warn_about_grant(&account, grant, &change);
}

/* ---------- caps ---------- */

/*
 * A cap counts from the beginning: it opens with what the roles have spent, at
 * the lowest of their orders; and with their deltas, what changes of their own
 * orders took included, which is too much rather than too little.  The gate
 * keeps debits of the relation out between the sum and our commit.
 */
void
ledger_read_already(int64 relation_id, TermsBasis *basis)
{
	ArrayType *deltas;
	double	  *delta;
	bool	   isnull;

	/* What was committed before we passed the gate alone, whatever our isolation level. */
	PushActiveSnapshot(GetLatestSnapshot());
	query_read("SELECT least(coalesce(sum(a.spent_units), 0), 9223372036854775807)::int8, "
			   "min(a.renyi_order), coalesce(array_agg(a.delta_spent), '{}') "
			   "FROM privpred.account a "
			   "WHERE a.relation_id = $1 AND a.role <> 0 AND a.spent_units > 0",
			   ARG_INT8(relation_id));
	PopActiveSnapshot();
	basis->already = row_int8(0, 1);
	basis->already_order = row_int8_or(0, 2, RENYI_ORDER_INFINITE);
	deltas = DatumGetArrayTypeP(row_value(0, 3, &isnull));
	delta = (double *) ARR_DATA_PTR(deltas);
	for (int i = 0; i < ArrayGetNItems(ARR_NDIM(deltas), ARR_DIMS(deltas)); i++)
		basis->already_delta = delta_add(basis->already_delta, delta[i]);
}

/* What roles have spent is counted, so the cap has paid for what they have. */
void
ledger_inherit_releases(int64 relation_id, int64 cap_id)
{
	query_write(
		"INSERT INTO privpred.release (account_id, training_id, relation_id, model_id, "
		"model, version, at, charge, pure_charge, accuracy) SELECT DISTINCT ON (r.training_id) $2, "
		"r.training_id, r.relation_id, r.model_id, r.model, r.version, r.at, r.charge, "
		"r.pure_charge, r.accuracy FROM privpred.release r WHERE r.relation_id = $1 "
		"AND r.account_id <> 0 ORDER BY r.training_id, r.at ON CONFLICT DO NOTHING",
		ARG_INT8(relation_id), ARG_INT8(cap_id));
}

void
ledger_set_cap(LedgerGrant *cap)
{
	char		  *actor = ledger_actor();
	TermsBasis	   basis = {0};
	TermsChange	   change = {0};
	CatalogSession session;
	Account		   account;
	bool		   exists;

	catalog_begin(&session);
	cap->relation_id = population_brief(cap->relation_id).population;
	query_write("SELECT FROM privpred.account a WHERE a.relation_id = $1 AND a.role = 0",
				ARG_INT8(cap->relation_id));
	exists = SPI_processed > 0;
	if (!exists && cap->epsilon > 0)
	{
		ledger_claim();
		cap->relation_id = gate_pass_present(cap->relation_id, true);
		ledger_read_already(cap->relation_id, &basis);
	}
	if (exists || cap->epsilon > 0)
	{
		cap->relation_id = gate_pass_present(cap->relation_id, false);
		lock_account(cap, actor, &account);
		/* Another session may have opened it while we waited for the lock. */
		if (account.epsilon > 0 || account.spent > 0)
			basis.already = 0;
		else if (!exists)
			ledger_inherit_releases(cap->relation_id, account.account_id);
		change = set_terms(&account, cap, &basis, actor);
		exports_charge(&account, false, actor);
	}
	catalog_end(&session);
	ledger_invalidate_leases();
	change.converts &= basis.already == 0; /* a cap that opens has no order to change */
	if (exists || cap->epsilon > 0)
		warn_about_grant(&account, cap, &change);
}

/* As it is now, whatever our isolation level. */
bool
ledger_relation_has_budgets(int64 relation_id)
{
	return catalog_finds("SELECT FROM privpred.account a WHERE a.relation_id = $1 "
						 "AND a.role <> 0 AND a.revoked_at IS NULL",
						 ARG_INT8(relation_id));
}

bool
ledger_relation_is_used(int64 relation_id)
{
	return catalog_finds("SELECT FROM privpred.account a WHERE a.relation_id = $1 LIMIT 1",
						 ARG_INT8(relation_id));
}

bool
ledger_relation_has_cap(int64 relation_id)
{
	return catalog_finds("SELECT FROM privpred.account a WHERE a.relation_id = $1 "
						 "AND a.role = 0 AND a.epsilon_units > 0",
						 ARG_INT8(relation_id));
}

/* What was exported to everybody counts as well, even if there was nobody to pay. */
int64
ledger_relation_spent(int64 relation_id)
{
	CatalogSession session;
	int64		   spent;

	catalog_begin(&session);
	query_read("SELECT least(coalesce(sum(a.spent_units), 0) + count(*) FILTER (WHERE "
			   "a.delta_spent > 0) + (SELECT count(*) FROM privpred.release r WHERE "
			   "r.relation_id = $1), 9223372036854775807)::int8 "
			   "FROM privpred.account a WHERE a.relation_id = $1",
			   ARG_INT8(relation_id));
	spent = row_int8(0, 1);
	catalog_end(&session);
	return spent;
}
