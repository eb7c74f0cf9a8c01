/*
 * accounts.c
 *		Reading accounts: who pays, what is left, and is this ledger ours.
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "ledger/accounts.h"
#include "ledger/asking.h"
#include "server/session.h"

/* By real membership with inheritance; being a superuser is not enough. */
bool
role_inherits_budget_of(Oid member, Oid role)
{
	return has_privs_of_role(member, role) && is_member_of_role_nosuper(member, role);
}

static Datum
spi_value(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
}

/* A number, or what stands for its absence. */
static int64
spi_int8(uint64 row, int column, int64 absent)
{
	bool  isnull;
	Datum value = spi_value(row, column, &isnull);

	return isnull ? absent : DatumGetInt64(value);
}

static void
window_from_spi(Account *account, uint64 row)
{
	TimestampTz ignored;
	bool		isnull;
	Datum		value = spi_value(row, 14, &isnull);

	account->has_window = !isnull;
	account->window_end = DT_NOEND;
	account->window_limit = PG_INT64_MAX;
	if (isnull)
		return;
	account->refresh = *DatumGetIntervalP(value);
	account->window_anchor = DatumGetTimestampTz(spi_value(row, 15, &isnull));
	account->window_start = DatumGetTimestampTz(spi_value(row, 16, &isnull));
	account->window_limit = spi_int8(row, 17, 0);
	account->window_spent = spi_int8(row, 18, 0);
	window_of(account->window_anchor, &account->refresh, account->window_start, &ignored,
			  &account->window_end);
}

void
account_from_spi(Account *account, uint64 row)
{
	Datum value;
	bool  isnull;

	memset(account, 0, sizeof(Account));
	account->account_id = spi_int8(row, 1, 0);
	account->relation_id = spi_int8(row, 2, 0);
	account->role = DatumGetObjectId(spi_value(row, 3, &isnull));
	(void) spi_value(row, 4, &account->unlimited);
	account->limit = spi_int8(row, 4, PG_INT64_MAX);
	account->spent = spi_int8(row, 5, 0);
	value = spi_value(row, 6, &isnull);
	account->valid_until = isnull ? DT_NOEND : DatumGetTimestampTz(value);
	(void) spi_value(row, 7, &isnull);
	account->revoked = !isnull;
	account->order = spi_int8(row, 8, RENYI_ORDER_INFINITE);
	account->epsilon = spi_int8(row, 9, 0);
	account->delta = DatumGetFloat8(spi_value(row, 10, &isnull));
	account->delta_spent = DatumGetFloat8(spi_value(row, 11, &isnull));
	account->per_answer = spi_int8(row, 12, 0);
	account->lifetime = spi_int8(row, 13, 0);
	window_from_spi(account, row);
	value = spi_value(row, 19, &isnull);
	account->relid = isnull ? InvalidOid : DatumGetObjectId(value);
	account->live_role =
		account->role == CAP_ROLE || holder_is_recorded(account->relid, account->role);
}

LedgerOutcome
account_status(const Account *account, TimestampTz now)
{
	if (!account->live_role)
		return OUTCOME_NO_BUDGET;
	if (account->revoked)
		return OUTCOME_REVOKED;
	if (account->valid_until <= now)
		return OUTCOME_EXPIRED;
	return OUTCOME_GRANTED;
}

/* ---------- what answers would cost ---------- */

/* The epsilon that units make, converted at an account's order. */
static EpsilonUnits
converted(const Account *account, EpsilonUnits units)
{
	return renyi_to_epsilon(units, account->delta, account->order);
}

/* The epsilon that is left of the grant once "more" units are spent too. */
static EpsilonUnits
epsilon_left_after(const Account *account, EpsilonUnits more)
{
	EpsilonUnits left = PG_INT64_MAX;
	EpsilonUnits spent;

	if (account->epsilon > 0)
	{
		spent = account->has_window ? account->window_spent : account->spent;
		if (pg_add_s64_overflow(spent, more, &spent))
			spent = PG_INT64_MAX;
		left = account->epsilon - converted(account, spent);
	}
	if (account->lifetime > 0)
	{
		if (pg_add_s64_overflow(account->spent, more, &spent))
			spent = PG_INT64_MAX;
		left = Min(left, account->lifetime - converted(account, spent));
	}
	return left;
}

/* Accounts a role may draw on, in the order in which they pay. */
typedef struct Purse
{
	Account		  account;
	bool		  paid; /* for this version, which is charged once */
	const Charge *drawn;
	EpsilonUnits  charge;
	EpsilonUnits  cap_charge;
} Purse;

/* Own first; then, as the cap counts, dear draws before cheap ones. */
static int
compare_purses(const void *a, const void *b, void *role)
{
	const Purse *left = a;
	const Purse *right = b;
	bool		 left_own = left->account.role == *(Oid *) role;
	bool		 right_own = right->account.role == *(Oid *) role;

	if (left_own != right_own)
		return left_own ? -1 : 1;
	if (left->cap_charge != right->cap_charge)
		return left->cap_charge > right->cap_charge ? -1 : 1;
	return left->account.account_id < right->account.account_id ? -1 : 1;
}

/* Reads the accounts that may pay and, if there is one, the cap; have they paid? */
static Purse *
read_purses(const LedgerPrice *price, Oid role, int *count, Purse *cap)
{
	TimestampTz now = GetCurrentTimestamp();
	Oid			argtypes[] = {INT8OID, INT8OID};
	Datum		args[] = {Int64GetDatum(price->relation_id), Int64GetDatum(price->training_id)};
	Purse	   *purses;

	if (SPI_execute_with_args("SELECT " ACCOUNT_COLUMNS ", EXISTS (SELECT FROM privpred.release r "
							  "WHERE r.account_id = a.account_id AND r.training_id = $2)"
							  " FROM privpred.account a WHERE a.relation_id = $1",
							  2, argtypes, args, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read accounts");
	purses = palloc(Max(SPI_processed, 1) * sizeof(Purse));
	*count = 0;
	cap->account.order = RENYI_ORDER_INFINITE;
	cap->account.unlimited = true;
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Purse purse = {0};
		bool  isnull;

		account_from_spi(&purse.account, row);
		(void) account_roll_window(&purse.account, now);
		purse.paid = price->kind == CHARGE_ONCE &&
					 DatumGetBool(spi_value(row, ACCOUNT_COLUMN_COUNT + 1, &isnull));
		if (purse.account.role == CAP_ROLE)
			*cap = purse;
		else if (account_status(&purse.account, now) == OUTCOME_GRANTED &&
				 (purse.account.role == role || role_inherits_budget_of(role, purse.account.role)))
			purses[(*count)++] = purse;
	}
	return purses;
}

/* How many purchases fit into an account, by its units and by its delta. */
static int64
purchases_left(const Account *account, EpsilonUnits left, EpsilonUnits charge, double delta)
{
	int64  fit = renyi_answers(left, 0, charge);
	double by_delta;

	if (account_only_counts(account))
		return PG_INT64_MAX;
	if (delta == 0 || fit == 0)
		return fit;
	by_delta = floor(Max(account_delta_limit(account) - account->delta_spent, 0) / delta);
	return by_delta < (double) fit ? (int64) by_delta : fit;
}

/* The price, as one account would pay it for all purchases. */
static void
quote_purchases(LedgerQuote *quote, const Purse *payer, int64 purchases)
{
	const Account *account = &payer->account;
	EpsilonUnits   spent = account->has_window ? account->window_spent : account->spent;
	EpsilonUnits   after;

	if (pg_add_s64_overflow(spent, renyi_charge_times(payer->charge, purchases), &after))
		after = PG_INT64_MAX;
	quote->has_account = true;
	quote->can_pay = payer->paid || account_can_pay(account, payer->drawn);
	quote->cost = converted(account, after) - converted(account, spent);
	quote->delta = payer->drawn->delta * purchases;
	if (account->order != RENYI_ORDER_INFINITE && spent == 0 && purchases > 0)
		quote->delta += account->delta / 2;
}

/* What all accounts together have left of their grants. */
static EpsilonUnits
left_together(const Purse *purses, int count)
{
	EpsilonUnits left = 0;

	for (int i = 0; i < count; i++)
		if (pg_add_s64_overflow(left, Max(epsilon_left_after(&purses[i].account, 0), 0), &left))
			left = PG_INT64_MAX;
	return left;
}

/*
 * Charged once: free if an account has paid, else what the first pays that
 * can.  As many answers are left as numbers can say, or none.
 */
static const Purse *
quote_once(const Purse *purses, int count, const Purse *cap, LedgerQuote *quote)
{
	const Purse *payer = NULL;

	for (int i = 0; i < count; i++)
	{
		bool fits = purses[i].paid || account_affords(&purses[i].account, purses[i].drawn) > 0;

		if (fits && !purses[i].paid && cap->account.account_id != 0 && !cap->paid)
			fits = account_affords(&cap->account, purses[i].drawn) > 0;
		if (payer == NULL || (fits && quote->answers_left == 0) || (purses[i].paid && !payer->paid))
			payer = &purses[i];
		if (fits)
			quote->answers_left = PG_INT64_MAX;
	}
	if (payer != NULL)
		quote_purchases(quote, payer, payer->paid ? 0 : 1);
	return payer;
}

/* Charged for each answer: all accounts pay in turn, under the cap. */
static const Purse *
quote_each(const Purse *purses, int count, const Purse *cap, int64 answers, LedgerQuote *quote)
{
	Account		 total = cap->account;
	EpsilonUnits cap_left = account_left(&total);
	const Purse *payer = NULL;

	for (int i = 0; i < count; i++)
	{
		const Account *account = &purses[i].account;
		double		   delta = purses[i].drawn->delta;
		int64 fit = purchases_left(account, account_left(account), purses[i].charge, delta);

		if (payer == NULL || (fit > 0 && account_left(&payer->account) < payer->charge))
			payer = &purses[i];
		fit = Min(fit, purchases_left(&total, cap_left, purses[i].cap_charge, delta));
		if (!account_only_counts(&total))
			cap_left -= fit * purses[i].cap_charge;
		total.delta_spent += fit * delta;
		quote->answers_left += fit;
	}
	if (payer != NULL)
		quote_purchases(quote, payer, answers);
	return payer;
}

/*
 * What answers would cost a role: its own account first, then those of its
 * groups, all under the relation's cap.  The cost is shown as if the first
 * account that can pay paid for all of them.
 */
LedgerQuote
ledger_quote(const LedgerPrice *price, Oid role, int64 answers)
{
	LedgerQuote	   quote = {0};
	CatalogSession session;
	Purse		   cap = {0};
	const Purse	  *payer;
	Purse		  *purses;
	int			   count;

	catalog_begin(&session);
	purses = read_purses(price, role, &count, &cap);
	for (int i = 0; i < count; i++)
	{
		purses[i].drawn = drawn_charge(&price->finite, &price->infinite, &purses[i].account);
		purses[i].charge = charge_units(purses[i].drawn, purses[i].account.order);
		purses[i].cap_charge = charge_units(purses[i].drawn, cap.account.order);
	}
	qsort_arg(purses, count, sizeof(Purse), compare_purses, &role);

	if (price->kind == CHARGE_ONCE)
	{
		payer = quote_once(purses, count, &cap, &quote);
		answers = payer == NULL || payer->paid || cap.paid ? 0 : 1;
	}
	else
		payer = quote_each(purses, count, &cap, answers, &quote);
	quote.payer = payer != NULL ? payer->account.role : InvalidOid;
	if (payer != NULL)
		quote.left_after =
			Min(left_together(purses, count) - quote.cost,
				epsilon_left_after(&cap.account, renyi_charge_times(payer->cap_charge, answers)));
	catalog_end(&session);
	return quote;
}

/*
 * In a ledger that comes from another database or cluster the server's entries
 * are not there yet: the account alone lets its role ask, and what is wrong with
 * the ledger is said, or mended, by the ledger's process.
 */
bool
ledger_role_has_budget(int64 relation_id, Oid role)
{
	Oid			   argtypes[] = {INT8OID};
	Datum		   args[] = {Int64GetDatum(relation_id)};
	CatalogSession session;
	bool		   found = false;
	bool		   moved;
	bool		   settled;

	catalog_begin(&session);
	/* An asker waits for locks no longer than the ledger's process would. */
	if (LockTimeout == 0 || LockTimeout > ROW_LOCK_PATIENCE_US / 1000)
		session_set("lock_timeout", psprintf("%d", (int) (ROW_LOCK_PATIENCE_US / 1000)));
	settled = ledger_is_ours(&moved) && !moved;
	if (SPI_execute_with_args("SELECT a.role::oid, p.relation::oid FROM privpred.account a "
							  "JOIN privpred.protected_relation p USING (relation_id) "
							  "WHERE a.role <> 0 AND a.revoked_at IS NULL "
							  "AND p.relation IS NOT NULL AND $1 IN (0, a.relation_id)",
							  1, argtypes, args, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read accounts");
	for (uint64 row = 0; row < SPI_processed && !found; row++)
	{
		bool isnull;
		Oid	 holder = DatumGetObjectId(spi_value(row, 1, &isnull));

		found =
			(holder == role || role_inherits_budget_of(role, holder)) &&
			(!settled || holder_is_recorded(DatumGetObjectId(spi_value(row, 2, &isnull)), holder));
	}
	catalog_end(&session);
	return found;
}

/*
 * A restored dump or a clone would spend the same budget a second time.  The
 * identity is left out of dumps but copied by CREATE DATABASE and pg_upgrade:
 * missing, with a ledger in use, it tells a restored dump; of another
 * database, a clone; of another cluster, pg_upgrade, which keeps the
 * database's oid.
 */
bool
ledger_is_ours(bool *moved)
{
	bool  isnull;
	Datum database;
	bool  used;

	if (SPI_execute(
			"SELECT i.database, EXISTS (SELECT FROM privpred.account) "
			"OR EXISTS (SELECT FROM privpred.ledger_entry), i.system "
			"FROM (SELECT) one LEFT JOIN (SELECT * FROM privpred.ledger_identity LIMIT 1) i "
			"ON true",
			true, 0) != SPI_OK_SELECT ||
		SPI_processed != 1)
		elog(ERROR, "could not read the identity of the ledger");
	used = DatumGetBool(spi_value(0, 2, &isnull));
	*moved = spi_int8(0, 3, (int64) GetSystemIdentifier()) != (int64) GetSystemIdentifier();
	database = spi_value(0, 1, &isnull);
	if (isnull)
		return !used;
	return DatumGetObjectId(database) == MyDatabaseId;
}

/*
 * Several transactions may do so at the same time, and must not wait for each
 * other; then there are several rows, which say the same.
 */
void
ledger_make_ours(void)
{
	Oid	  argtypes[] = {OIDOID, INT8OID};
	Datum args[] = {ObjectIdGetDatum(MyDatabaseId), Int64GetDatum((int64) GetSystemIdentifier())};

	if (SPI_execute_with_args(
			"DELETE FROM privpred.ledger_identity WHERE database <> $1 OR system <> $2", 2,
			argtypes, args, NULL, false, 0) != SPI_OK_DELETE ||
		SPI_execute_with_args(
			"INSERT INTO privpred.ledger_identity (database, system) SELECT $1, $2 "
			"WHERE NOT EXISTS (SELECT FROM privpred.ledger_identity)",
			2, argtypes, args, NULL, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not claim the ledger");
}

/* Before the first account is opened. */
void
ledger_claim(void)
{
	bool moved;

	if (!ledger_is_ours(&moved))
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the privacy ledger of this database is a copy"),
			 errdetail(
				 "It was restored from a dump or cloned from a template, so spending since then may be missing."),
			 errhint(
				 "A superuser can accept it with SELECT privpred.adopt_ledger(), after comparing it with the original.")));
	/* The ledger's process does the rest when it comes. */
	if (!moved)
		ledger_make_ours();
}
