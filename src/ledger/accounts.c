/*
 * accounts.c
 *		Reading accounts, and is this ledger ours?  For both sides.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/syscache.h"

#include "catalog/by_id.h"
#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "server/query.h"
#include "server/session.h"

/* By real membership with inheritance; being a superuser is not enough. */
bool
role_inherits_budget_of(Oid member, Oid role)
{
	return has_privs_of_role(member, role) && is_member_of_role_nosuper(member, role);
}

/* In the order of ACCOUNT_COLUMNS. */
void
account_from_row(Account *account, uint64 row, Oid relid)
{
	int			column = 0;
	TimestampTz ignored;
	Datum		refresh;

	memset(account, 0, sizeof(Account));
	account->account_id = row_int8(row, ++column);
	account->relation_id = row_int8(row, ++column);
	account->role = row_oid(row, ++column);
	account->limit = row_int8_or(row, ++column, PG_INT64_MAX);
	account->unlimited = row_isnull(row, column);
	account->spent = row_int8(row, ++column);
	account->valid_until = row_int8_or(row, ++column, DT_NOEND);
	account->revoked = !row_isnull(row, ++column);
	account->order = row_int8_or(row, ++column, RENYI_ORDER_INFINITE);
	account->epsilon = row_int8(row, ++column);
	account->delta = row_float8(row, ++column);
	account->delta_spent = row_float8(row, ++column);
	account->per_answer = row_int8(row, ++column);
	account->lifetime = row_int8(row, ++column);
	refresh = row_value(row, ++column, &account->has_window);
	account->has_window = !account->has_window;
	account->window_anchor = row_time(row, ++column);
	account->window_start = row_time(row, ++column);
	account->window_limit = row_int8_or(row, ++column, PG_INT64_MAX);
	account->window_spent = row_int8(row, ++column);
	account->window_end = DT_NOEND;
	Assert(column + 1 == ACCOUNT_NEXT_COLUMN);
	if (account->has_window)
	{
		account->refresh = *DatumGetIntervalP(refresh);
		window_of(account->window_anchor, &account->refresh, account->window_start, &ignored,
				  &account->window_end);
	}
	account->relid = relid;
	account->role_exists = SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(account->role));
	account->live_role = account->role == CAP_ROLE || holder_is_recorded(relid, account->role);
}

/* A later role of the same OID, or that of a copied ledger, does not learn what became of it. */
LedgerOutcome
account_outcome(const Account *account, TimestampTz now)
{
	if (!account->live_role)
		return OUTCOME_NO_BUDGET;
	if (account->revoked)
		return OUTCOME_REVOKED;
	return account->valid_until <= now ? OUTCOME_EXPIRED : OUTCOME_GRANTED;
}

/*
 * In a ledger that comes from another database or cluster the server's entries
 * are not there yet: the account alone lets its role ask, and the ledger's process
 * reports what is wrong with the ledger, or mends it.
 */
bool
ledger_role_has_budget(int64 relation_id, Oid role)
{
	CatalogSession session;
	bool		   found = false;
	bool		   moved;
	bool		   settled;

	catalog_begin(&session);
	/* An asker waits for locks no longer than the ledger's process would. */
	if (LockTimeout == 0 || LockTimeout > ROW_LOCK_PATIENCE_US / 1000)
		session_set("lock_timeout", psprintf("%d", (int) (ROW_LOCK_PATIENCE_US / 1000)));
	settled = ledger_is_ours(&moved) && !moved;
	if (relation_id != 0)
		relation_id = population_brief(relation_id).population;
	query_read("SELECT a.role::oid, a.relation_id FROM privpred.account a "
			   "WHERE a.role <> 0 AND a.revoked_at IS NULL AND $1 IN (0, a.relation_id)",
			   ARG_INT8(relation_id));
	for (uint64 row = 0; row < SPI_processed && !found; row++)
	{
		Oid holder = row_oid(row, 1);

		if (holder == role || role_inherits_budget_of(role, holder))
		{
			Oid relid = population_brief(row_int8(row, 2)).relid;

			found = OidIsValid(relid) && (!settled || holder_is_recorded(relid, holder));
		}
	}
	catalog_end(&session);
	return found;
}

/* ---------- is it ours? ---------- */

/*
 * A restored dump or a clone would spend the same budget a second time.  The
 * identity is left out of dumps but copied by CREATE DATABASE and pg_upgrade:
 * if it is missing although the ledger is in use, a dump was restored; if it is
 * of another database, that was cloned; if it is of another cluster, pg_upgrade
 * has brought it here, which keeps the database's OID.
 */
bool
ledger_is_ours(bool *moved)
{
	int64 here = (int64) GetSystemIdentifier();

	query_read("SELECT i.database, i.system, EXISTS (SELECT FROM privpred.account) "
			   "OR EXISTS (SELECT FROM privpred.ledger_entry) "
			   "OR EXISTS (SELECT FROM privpred.release) FROM (SELECT) one "
			   "LEFT JOIN (SELECT * FROM privpred.ledger_identity LIMIT 1) i ON true");
	if (SPI_processed != 1)
		elog(ERROR, "could not read the identity of the ledger");
	*moved = row_int8_or(0, 2, here) != here;
	return row_isnull(0, 1) ? !row_bool(0, 3) : row_oid(0, 1) == MyDatabaseId;
}

/*
 * Several transactions may do so at the same time, and must not wait for each
 * other; then there are several rows, which say the same.
 */
void
ledger_make_ours(void)
{
	int64 here = (int64) GetSystemIdentifier();

	query_write("DELETE FROM privpred.ledger_identity WHERE database <> $1 OR system <> $2",
				ARG_OID(MyDatabaseId), ARG_INT8(here));
	query_write("INSERT INTO privpred.ledger_identity (database, system) SELECT $1, $2 "
				"WHERE NOT EXISTS (SELECT FROM privpred.ledger_identity)",
				ARG_OID(MyDatabaseId), ARG_INT8(here));
}

/* Before the first account is opened. */
void
ledger_claim(void)
{
	bool moved;

	if (!ledger_is_ours(&moved))
		ledger_report_copy();
	/* The ledger's process does the rest when it comes. */
	if (!moved)
		ledger_make_ours();
}
