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

#include <math.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "ledger/internal.h"

#define DEFAULT_PER_ANSWER	(EPSILON_UNITS_PER_ONE / 10)

/* ---------- the order ---------- */

/* A sum of deltas, rounded up. */
static double
add_deltas(double a, double b)
{
	double		sum = a + b;

	return sum - a < b || sum - b < a ? nextafter(sum, INFINITY) : sum;
}

/*
 * What the order is chosen for unless the grant says: the dearest model of
 * the relation.
 */
static void
describe_answers(int64 relation_id, RenyiGrant *grant)
{
	const Mechanism *mechanism = NULL;
	Oid			argtypes[] = {INT8OID};
	Datum		args[] = {Int64GetDatum(relation_id)};
	bool		isnull;

	if (SPI_execute_with_args("SELECT m.epsilon_units, m.mechanism FROM privpred.model m "
							  "WHERE m.relation_id = $1 "
							  "ORDER BY m.epsilon_units DESC, m.model_id LIMIT 1",
							  1, argtypes, args, NULL, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read models");
	grant->per_answer = DEFAULT_PER_ANSWER;
	if (SPI_processed > 0)
	{
		grant->per_answer = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
														SPI_tuptable->tupdesc, 1, &isnull));
		mechanism = mechanism_lookup(SPI_getvalue(SPI_tuptable->vals[0],
												  SPI_tuptable->tupdesc, 2));
	}
	if (mechanism == NULL || mechanism->shape == NULL)
		mechanism = &vote_mechanism;
	grant->finite = mechanism->shape(false);
	grant->infinite = mechanism->shape(true);
}

/*
 * A cap is charged for the draws that its payers get.  If they are all of
 * infinite order, a finite one must pay even for those.
 */
static bool
all_payers_are_pure(int64 relation_id)
{
	Oid			argtypes[] = {INT8OID};
	Datum		args[] = {Int64GetDatum(relation_id)};
	bool		isnull;

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
	bool		cap = account->role == CAP_ROLE;

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 cap ? errmsg("what roles have spent cannot be counted by a cap without delta") :
			 errmsg("what the role has spent cannot be carried over to a budget without delta"),
			 errdetail("It was spent at Rényi order %g, which says nothing about higher orders.",
					   renyi_order_to_double(order)),
			 cap ? errhint("Give delta_cap, such as 1e-6.") :
			 errhint("Keep delta => %g, or grant a pure budget to another role.", old_delta)));
}

static void
refuse_delta(double needed)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("delta cannot be lowered that far"),
			 errdetail("Earlier changes of the account have used up a delta of %g, which may be half of the budget's at most.",
					   needed),
			 errhint("Keep a delta of at least %g, or grant a budget to another role.", 2 * needed)));
}

/* Chooses the order; what is spent must be carried over from the present one. */
static void
choose_order(Account *account, double old_delta, TermsChange *change)
{
	RenyiGrant	grant;
	RenyiPlan	plan;
	EpsilonUnits spent = account->spent;
	RenyiOrder	highest = spent > 0 ? account->order : RENYI_ORDER_INFINITE;
	double		delta_spent = account->delta_spent;
	EpsilonUnits carried;
	char		amount[EPSILON_TEXT_SIZE];

	describe_answers(account->relation_id, &grant);
	grant.epsilon = account->epsilon;
	grant.delta = account->delta;
	if (account->per_answer > 0)
		grant.per_answer = account->per_answer;
	if (account->role == CAP_ROLE && all_payers_are_pure(account->relation_id))
		grant.finite = grant.infinite;
	if (!renyi_choose(&grant, account->has_window ? 0 : spent, highest, &plan))
		refuse_pure(account, highest, old_delta);

	if (plan.order != highest && highest != RENYI_ORDER_INFINITE)
		delta_spent = add_deltas(delta_spent, old_delta / 2);
	if (delta_spent > account->delta / 2)
		return;					/* the order stays */
	if (!renyi_carry(spent, highest, plan.order, &carried) || carried != spent)
		elog(ERROR, "an order was chosen that spending cannot be carried to");
	if (spent > 0 && plan.order != highest)
		change->conversion = psprintf("from order %g to order %g carrying %s",
									  renyi_order_to_double(highest),
									  renyi_order_to_double(plan.order),
									  epsilon_to_text(spent, amount));
	account->order = plan.order;
	account->delta_spent = delta_spent;
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
	TimestampTz now = GetCurrentTransactionStartTimestamp();	/* as granted_at */
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
	ledger_window(now, &account->refresh, now, &start, &account->window_end);
}

static void
check_lifetime(const LedgerGrant *grant, const Account *account)
{
	if (!account->has_window && account->lifetime > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lifetime_epsilon needs refresh"),
				 errdetail("Without windows epsilon is itself the limit for ever."),
				 grant->has_refresh ?
				 errhint("Give lifetime_epsilon => 'Infinity' as well, to end both.") :
				 errhint("Give refresh, such as '1 day', or leave lifetime_epsilon out.")));
}

/* ---------- applying a grant ---------- */

static void
set_limits(Account *account)
{
	EpsilonUnits limit = renyi_limit(account->epsilon, account->delta, account->order);

	account->window_limit = account->has_window ? limit : PG_INT64_MAX;
	if (account->has_window && account->lifetime > 0)
		limit = renyi_limit(account->lifetime, account->delta, account->order);
	account->unlimited = account->epsilon == 0 ||
		(account->has_window && account->lifetime == 0);
	account->limit = account->unlimited ? PG_INT64_MAX : limit;
}

void
terms_apply(Account *account, const LedgerGrant *grant, EpsilonUnits already, RenyiOrder lowest,
			TermsChange *change)
{
	EpsilonUnits window_spent = account->has_window ? account->window_spent : 0;
	double		old_delta = account->delta;
	bool		choose = account->spent == 0;

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
		if (already > 0)
			account->order = Min(account->order, lowest);
		account->spent += already;
		choose_order(account, old_delta, change);
		if (account->delta_spent > account->delta / 2)
			refuse_delta(account->delta_spent);
	}
	set_limits(account);
	change->window_units = (account->has_window ? account->window_spent : 0) - window_spent;
}

/* ---------- terms as text ---------- */

static char *
double_text(double number)
{
	char	   *text = palloc(DOUBLE_SHORTEST_DECIMAL_LEN);

	double_to_shortest_decimal_buf(number, text);
	return text;
}

/* Everything that decides how much may be spent, and nothing that changes by spending. */
char *
terms_text(const Account *account)
{
	StringInfoData text;
	char		amount[EPSILON_TEXT_SIZE];

	initStringInfo(&text);
	if (account->epsilon > 0)
		appendStringInfo(&text, "epsilon %s", epsilon_to_text(account->epsilon, amount));
	else
		appendStringInfoString(&text, "no limit");
	appendStringInfo(&text, ", delta %s", double_text(account->delta));
	if (account->delta_spent > 0)
		appendStringInfo(&text, " of which %s is spent", double_text(account->delta_spent));
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
