/*
 * terms.c
 *		What a grant means: order, limits, windows, and conversions.
 *
 * An account keeps its order for good.  Only a change of delta or of the
 * answers that it is to pay for chooses anew and, once something is spent,
 * only downwards: what is spent at one order bounds what was spent at every
 * lower one (renyi_carry).
 *
 * Whoever decides on such a change may have seen answers.  So the transcripts
 * that end before the change and those that go through it each need a
 * conversion of their own, and their deltas add: half of the old delta moves
 * to delta_spent, which must fit into the half of the new delta that is not
 * for conversion.  If it does not, the order stays, which is always possible:
 * at one order any delta will do.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "ledger/asking.h"
#include "server/number_text.h"

#define DEFAULT_PER_ANSWER (EPSILON_UNITS_PER_ONE / 10)
#define COMPARED_AT (16 * RENYI_ORDER_ONE) /* about the order of (1, 1e-6) */

/* ---------- the order ---------- */

/* One vote at an epsilon, which is what most models sell. */
static void
describe_vote(EpsilonUnits epsilon, RenyiGrant *grant)
{
	memset(&grant->finite, 0, sizeof(Charge));
	grant->finite.part[0].shape = CHARGE_BOUNDED_RANGE;
	grant->finite.part[0].times = 1;
	grant->finite.part[0].epsilon = epsilon;
	grant->infinite = grant->finite;
	grant->infinite.part[0].shape = CHARGE_PURE;
	grant->once = false;
}

/* Charges of row "row", as model rows have them: charge, pure_charge, charge_kind. */
static bool
read_charges(uint64 row, RenyiGrant *grant)
{
	HeapTuple tuple = SPI_tuptable->vals[row];
	char	 *finite = SPI_getvalue(tuple, SPI_tuptable->tupdesc, 1);
	char	 *infinite = SPI_getvalue(tuple, SPI_tuptable->tupdesc, 2);
	char	 *kind = SPI_getvalue(tuple, SPI_tuptable->tupdesc, 3);

	if (finite == NULL || !charge_from_text(finite, &grant->finite))
		return false;
	if (infinite == NULL || !charge_from_text(infinite, &grant->infinite))
		memset(&grant->infinite, 0, sizeof(Charge));
	grant->once = strcmp(kind, "per_answer") != 0;
	return true;
}

/*
 * What the order is chosen for unless the grant says: the dearest model of
 * the relation.
 */
static void
describe_purchases(int64 relation_id, RenyiGrant *grant)
{
	Oid			 argtypes[] = {INT8OID};
	Datum		 args[] = {Int64GetDatum(relation_id)};
	EpsilonUnits most = 0;
	RenyiGrant	 model;

	if (SPI_execute_with_args("SELECT m.charge, m.pure_charge, m.charge_kind "
							  "FROM privpred.model m WHERE m.relation_id = $1 "
							  "ORDER BY m.model_id",
							  1, argtypes, args, NULL, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read models");
	describe_vote(DEFAULT_PER_ANSWER, grant);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		if (!read_charges(row, &model) || charge_units(&model.finite, COMPARED_AT) <= most)
			continue;
		most = charge_units(&model.finite, COMPARED_AT);
		grant->finite = model.finite;
		grant->infinite = model.infinite;
		grant->once = model.once;
	}
}

/* A grant that names an epsilon means draws like those of the dearest model, if that has one. */
static void
set_per_answer(EpsilonUnits epsilon, RenyiGrant *grant)
{
	const ChargePart *part = grant->finite.part;

	if (grant->once || part[0].times != 1 || part[1].times != 0 ||
		part[0].shape == CHARGE_GAUSSIAN || !charge_is_valid(&grant->infinite))
		describe_vote(epsilon, grant);
	else
		grant->finite.part[0].epsilon = grant->infinite.part[0].epsilon = epsilon;
}

/*
 * A cap is charged for the draws that its payers get.  If they are all of
 * infinite order, a finite one must pay even for those.
 */
static bool
all_payers_are_pure(int64 relation_id)
{
	Oid	  argtypes[] = {INT8OID};
	Datum args[] = {Int64GetDatum(relation_id)};
	bool  isnull;

	if (SPI_execute_with_args("SELECT count(*) > 0 AND count(a.renyi_order) = 0 "
							  "FROM privpred.account a WHERE a.relation_id = $1 AND a.role <> 0 "
							  "AND a.revoked_at IS NULL",
							  1, argtypes, args, NULL, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read accounts");
	return DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
}

static void
refuse_pure(const Account *account, RenyiOrder order, double old_delta)
{
	bool cap = account->role == CAP_ROLE;

	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 cap ? errmsg("what roles have spent cannot be counted by a cap without delta")
			 : errmsg("what the role has spent cannot be carried over to a budget without delta"),
		 errdetail("It was spent at Rényi order %g, which says nothing about higher orders.",
				   renyi_order_to_double(order)),
		 cap ? errhint("Give delta_cap, such as 1e-6.")
			 : errhint("Keep delta => %g, or grant a pure budget to another role.", old_delta)));
}

static void
refuse_delta(const Account *account)
{
	double needed = account->delta_spent;
	bool   cap = account->role == CAP_ROLE;

	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					cap ? errmsg("delta_cap is less than what is spent needs")
						: errmsg("delta cannot be lowered that far"),
					errdetail("A delta of %g is spent, which may be half of the budget's at most.",
							  needed),
					cap ? errhint("Give delta_cap, of at least %g.", 2 * needed)
						: errhint("Keep a delta of at least %g, or grant a budget to another role.",
								  2 * needed)));
}

/* Chooses the order; what is spent must be carried over from the present one. */
static void
choose_order(Account *account, double old_delta, TermsChange *change)
{
	RenyiGrant	 grant;
	RenyiPlan	 plan;
	EpsilonUnits spent = account->spent;
	RenyiOrder	 highest = spent > 0 ? account->order : RENYI_ORDER_INFINITE;
	double		 delta = change->delta;
	EpsilonUnits carried;
	char		 amount[EPSILON_TEXT_SIZE];

	describe_purchases(account->relation_id, &grant);
	grant.epsilon = account->epsilon;
	grant.delta = account->delta;
	if (account->per_answer > 0)
		set_per_answer(account->per_answer, &grant);
	if (account->role == CAP_ROLE && charge_is_valid(&grant.infinite) &&
		all_payers_are_pure(account->relation_id))
		grant.finite = grant.infinite;
	if (!renyi_choose(&grant, account->has_window ? 0 : spent, highest, &plan))
		refuse_pure(account, highest, old_delta);

	if (plan.order != highest && highest != RENYI_ORDER_INFINITE)
		delta = delta_add(delta, old_delta / 2);
	if (delta_add(account->delta_spent, delta) > account_delta_limit(account))
		return; /* the order stays */
	if (!renyi_carry(spent, highest, plan.order, &carried) || carried != spent)
		elog(ERROR, "an order was chosen that spending cannot be carried to");
	if (spent > 0 && plan.order != highest)
		change->conversion =
			psprintf("from order %g to order %g carrying %s", renyi_order_to_double(highest),
					 renyi_order_to_double(plan.order), epsilon_to_text(spent, amount));
	account->order = plan.order;
	change->delta = delta;
}

/* ---------- windows ---------- */

static bool
same_interval(const Interval *a, const Interval *b)
{
	return a->month == b->month && a->day == b->day && a->time == b->time;
}

static bool
is_zero(const Interval *interval)
{
	return interval->month == 0 && interval->day == 0 && interval->time == 0;
}

/*
 * A window that opens, or whose length changes, begins now and with what was
 * spent before: a change of terms is no refresh.
 */
static void
apply_refresh(Account *account, const LedgerGrant *grant)
{
	TimestampTz now = GetCurrentTransactionStartTimestamp(); /* as granted_at */
	TimestampTz start;

	if (!grant->has_refresh ||
		(account->has_window && same_interval(&account->refresh, &grant->refresh)))
		return;
	if (is_zero(&grant->refresh))
	{
		account->has_window = false;
		return;
	}
	if (!account->has_window)
		account->window_spent = account->spent;
	account->has_window = true;
	account->refresh = grant->refresh;
	account->window_anchor = account->window_start = now;
	window_of(now, &account->refresh, now, &start, &account->window_end);
}

static void
check_lifetime(const LedgerGrant *grant, const Account *account)
{
	if (!account->has_window && account->lifetime > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("lifetime_epsilon needs refresh"),
				 errdetail("Without windows epsilon is itself the limit for ever."),
				 grant->has_refresh
					 ? errhint("Give lifetime_epsilon => 'Infinity' as well, to end both.")
					 : errhint("Give refresh, such as '1 day', or leave lifetime_epsilon out.")));
}

/* ---------- applying a grant ---------- */

static void
set_limits(Account *account)
{
	EpsilonUnits limit = renyi_limit(account->epsilon, account->delta, account->order);

	account->window_limit = account->has_window ? limit : PG_INT64_MAX;
	if (account->has_window && account->lifetime > 0)
		limit = renyi_limit(account->lifetime, account->delta, account->order);
	account->unlimited = account->epsilon == 0 || (account->has_window && account->lifetime == 0);
	account->limit = account->unlimited ? PG_INT64_MAX : limit;
}

/* Everything at the infinite order is carried to another one for nothing. */
static bool
needs_finite_order(const Account *account)
{
	RenyiGrant grant;

	if (account->order != RENYI_ORDER_INFINITE || account->delta == 0)
		return false;
	describe_purchases(account->relation_id, &grant);
	return charge_units(&grant.infinite, RENYI_ORDER_INFINITE) == PG_INT64_MAX;
}

void
terms_apply(Account *account, const LedgerGrant *grant, const Already *already, TermsChange *change)
{
	EpsilonUnits window_spent = account->has_window ? account->window_spent : 0;
	double		 old_delta = account->delta;
	bool		 choose = account->spent == 0 || needs_finite_order(account);

	memset(change, 0, sizeof(TermsChange));
	if (account->revoked && !grant->has_refresh)
	{
		account->has_window = false;
		account->lifetime = 0;
	}
	if (grant->has_delta && grant->delta != account->delta)
	{
		account->delta = grant->delta;
		choose = true;
	}
	if (grant->per_answer > 0 && grant->per_answer != account->per_answer)
	{
		account->per_answer = grant->per_answer;
		choose = true;
	}
	if (grant->has_lifetime)
		account->lifetime = grant->lifetime;
	account->epsilon = grant->epsilon;
	apply_refresh(account, grant);
	check_lifetime(grant, account);

	if (account->epsilon > 0 && choose)
	{
		if (already != NULL && already->units > 0)
		{
			account->order = Min(account->order, already->lowest);
			account->spent += already->units;
			change->delta = already->delta;
		}
		choose_order(account, old_delta, change);
		account->delta_spent = delta_add(account->delta_spent, change->delta);
		if (account->delta_spent > account_delta_limit(account))
			refuse_delta(account);
	}
	set_limits(account);
	change->window_units = (account->has_window ? account->window_spent : 0) - window_spent;
}

/* ---------- terms as text ---------- */

static char *
double_text(double number)
{
	return number_text(number, palloc(NUMBER_TEXT_SIZE));
}

/* Everything that decides how much may be spent, and nothing that changes by spending. */
char *
terms_text(const Account *account)
{
	StringInfoData text;
	char		   amount[EPSILON_TEXT_SIZE];

	initStringInfo(&text);
	if (account->epsilon > 0)
		appendStringInfo(&text, "epsilon %s", epsilon_to_text(account->epsilon, amount));
	else
		appendStringInfoString(&text, "no limit");
	appendStringInfo(&text, ", delta %s", double_text(account->delta));
	if (account->order != RENYI_ORDER_INFINITE)
		appendStringInfo(&text, ", order %s", double_text(renyi_order_to_double(account->order)));
	if (account->has_window)
	{
		appendStringInfo(&text, ", every %d months %d days " INT64_FORMAT " microseconds",
						 account->refresh.month, account->refresh.day, account->refresh.time);
		if (account->lifetime > 0)
			appendStringInfo(&text, ", lifetime epsilon %s",
							 epsilon_to_text(account->lifetime, amount));
		else
			appendStringInfoString(&text, ", no lifetime limit");
	}
	return text.data;
}
