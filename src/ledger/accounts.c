/*
 * accounts.c
 *		Reading accounts: who pays, what is left, and is this ledger ours.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "catalog/store.h"
#include "ledger/internal.h"

/*
 * An account is live only while its role holds SELECT on the marker.  The
 * grant makes DROP ROLE fail until the budget is revoked, and ends with DROP
 * OWNED BY, so that a later role with the same oid inherits nothing.
 */
bool
role_holds_marker(Oid role)
{
	Oid			schema = get_namespace_oid(PRIVPRED_SCHEMA, true);
	HeapTuple	tuple;
	Datum		datum;
	bool		isnull;
	bool		holds = false;

	/* An owner's rights are not in the list, and an owner cannot be dropped. */
	if (role == catalog_owner())
		return true;

	tuple = SearchSysCache2(RELNAMENSP, CStringGetDatum("budget_holders"),
							ObjectIdGetDatum(schema));
	if (!HeapTupleIsValid(tuple))
		return false;
	datum = SysCacheGetAttr(RELNAMENSP, tuple, Anum_pg_class_relacl, &isnull);
	if (!isnull)
	{
		Acl		   *acl = DatumGetAclP(datum);
		AclItem    *items = ACL_DAT(acl);

		for (int i = 0; i < ACL_NUM(acl) && !holds; i++)
			holds = items[i].ai_grantee == role &&
				(ACLITEM_GET_PRIVS(items[i]) & ACL_SELECT) != 0;
	}
	ReleaseSysCache(tuple);
	return holds;
}

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

void
account_from_spi(Account *account, uint64 row)
{
	Datum		value;
	bool		isnull;

	memset(account, 0, sizeof(Account));
	account->account_id = DatumGetInt64(spi_value(row, 1, &isnull));
	account->relation_id = DatumGetInt64(spi_value(row, 2, &isnull));
	account->role = DatumGetObjectId(spi_value(row, 3, &isnull));
	value = spi_value(row, 4, &isnull);
	account->unlimited = isnull;
	account->limit = isnull ? PG_INT64_MAX : DatumGetInt64(value);
	account->spent = DatumGetInt64(spi_value(row, 5, &isnull));
	value = spi_value(row, 6, &isnull);
	account->valid_until = isnull ? DT_NOEND : DatumGetTimestampTz(value);
	(void) spi_value(row, 7, &isnull);
	account->revoked = !isnull;
	value = spi_value(row, 8, &isnull);
	account->order_is_infinite = isnull;
	account->order = isnull ? INFINITY : DatumGetFloat8(value);
	account->tid = *(ItemPointer) DatumGetPointer(spi_value(row, 9, &isnull));
	account->live_role = account->role == CAP_ROLE || role_holds_marker(account->role);
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

/* Negative after the limit was lowered below what is spent. */
EpsilonUnits
account_left(const Account *account)
{
	return account->limit - account->spent;
}

EpsilonUnits
account_charge(EpsilonUnits epsilon, ChargeShape shape, const Account *account)
{
	/* At infinite order every shape costs its epsilon. */
	if (account->order_is_infinite)
		return epsilon;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("account " INT64_FORMAT " has a finite Rényi order, which this version does not know",
					account->account_id),
			 errhint("Install the version of privpred that made it.")));
	return 0;
}

/*
 * What answers would cost a role: its own account first, then those of its
 * groups, all under the relation's cap.
 */
LedgerQuote
ledger_quote(const LedgerPrice *price, Oid role, int64 answers)
{
	const Mechanism *mechanism = price->mechanism;
	ChargeShape shape = mechanism && mechanism->shape ? mechanism->shape(false) : CHARGE_PURE;
	LedgerQuote quote = {0};
	EpsilonUnits cap_left = PG_INT64_MAX;
	TimestampTz now = GetCurrentTimestamp();
	Oid			argtypes[] = {INT8OID};
	Datum		args[] = {Int64GetDatum(price->relation_id)};
	CatalogSession session;

	catalog_begin(&session);
	if (SPI_execute_with_args("SELECT " ACCOUNT_COLUMNS
							  " FROM privpred.account a WHERE a.relation_id = $1",
							  1, argtypes, args, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read accounts");
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Account		account;
		EpsilonUnits left;

		account_from_spi(&account, row);
		left = Max(account_left(&account), 0);
		if (account.role == CAP_ROLE)
			cap_left = left;
		else if (account_status(&account, now) == OUTCOME_GRANTED &&
				 (account.role == role || role_inherits_budget_of(role, account.role)))
		{
			quote.has_account = true;
			quote.answers_left += left / account_charge(price->epsilon, shape, &account);
			if (pg_add_s64_overflow(quote.left, left, &quote.left))
				quote.left = PG_INT64_MAX;
		}
	}
	catalog_end(&session);

	quote.left = Min(quote.left, cap_left);
	quote.answers_left = Min(quote.answers_left, cap_left / price->epsilon);
	if (pg_mul_s64_overflow(price->epsilon, answers, &quote.cost))
		quote.cost = PG_INT64_MAX;
	return quote;
}

/*
 * A restored dump or a clone would spend the same budget a second time.  The
 * identity is left out of dumps but copied by CREATE DATABASE and pg_upgrade:
 * missing, with a ledger in use, it tells a restored dump; of another
 * database, a clone.  (pg_upgrade keeps the database's oid.)
 */
bool
ledger_is_ours(void)
{
	bool		isnull;
	Datum		database;
	bool		used;

	if (SPI_execute("SELECT i.database, EXISTS (SELECT FROM privpred.account) "
					"OR EXISTS (SELECT FROM privpred.ledger_entry) "
					"FROM (SELECT) one LEFT JOIN privpred.ledger_identity i ON true",
					false, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "could not read the identity of the ledger");
	used = DatumGetBool(spi_value(0, 2, &isnull));
	database = spi_value(0, 1, &isnull);
	if (isnull)
		return !used;
	return DatumGetObjectId(database) == MyDatabaseId;
}

/* Before the first account is opened. */
void
ledger_claim(void)
{
	Oid			argtypes[] = {OIDOID};
	Datum		args[] = {ObjectIdGetDatum(MyDatabaseId)};

	if (!ledger_is_ours())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the privacy ledger of this database is a copy"),
				 errdetail("It was restored from a dump or cloned from a template, so spending since then may be missing."),
				 errhint("A superuser can accept it with SELECT privpred.adopt_ledger(), after comparing it with the original.")));
	if (SPI_execute_with_args("INSERT INTO privpred.ledger_identity (database) VALUES ($1) "
							  "ON CONFLICT DO NOTHING",
							  1, argtypes, args, NULL, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not claim the ledger");
}
