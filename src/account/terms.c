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

#include "common/int.h"

#include "account/accountant.h"
#include "account/terms.h"
#include "server/number_text.h"

#define DEFAULT_PER_ANSWER (EPSILON_UNITS_PER_ONE / 10)
#define COMPARED_AT (16 * RENYI_ORDER_ONE) /* about the order of (1, 1e-6) */

/* ---------- the order ---------- */

/* One vote at an epsilon, which is what most models sell. */
static Purchase
one_vote(EpsilonUnits epsilon)
{
	Purchase vote = {0};

	vote.finite.part[0] =
		(ChargePart){.shape = CHARGE_BOUNDED_RANGE, .times = 1, .epsilon = epsilon};
	vote.infinite.part[0] = (ChargePart){.shape = CHARGE_PURE, .times = 1, .epsilon = epsilon};
	return vote;
}

Purchase
terms_dearest(const Purchase *models, int nmodels)
{
	Purchase	 dearest = one_vote(DEFAULT_PER_ANSWER);
	EpsilonUnits most = 0;

	for (int i = 0; i < nmodels; i++)
	{
		EpsilonUnits units = charge_units(&models[i].finite, COMPARED_AT);

		if (!charge_is_valid(&models[i].finite) || units <= most)
			continue;
		most = units;
		dearest = models[i];
	}
	return dearest;
}

Purchase
terms_typical(const Account *account, const Purchase *models, int nmodels)
{
	Purchase	 typical = one_vote(DEFAULT_PER_ANSWER);
	EpsilonUnits most = 0;

	if (account->per_answer > 0)
		return one_vote(account->per_answer);
	for (int i = 0; i < nmodels; i++)
	{
		const Charge *charge = drawn_charge(&models[i].finite, &models[i].infinite, account);
		EpsilonUnits  units = charge_units(charge, account->order);

		if (units == PG_INT64_MAX || units <= most)
			continue;
		most = units;
		typical = models[i];
	}
	return typical;
}

/* A grant that names an epsilon means draws like those of the dearest model, if that has one. */
static Purchase
purchase_at(EpsilonUnits epsilon, const Purchase *dearest)
{
	const ChargePart *part = dearest->finite.part;
	Purchase		  purchase = *dearest;

	if (dearest->once || part[0].times != 1 || part[1].times != 0 ||
		part[0].shape == CHARGE_GAUSSIAN || !charge_is_valid(&dearest->infinite))
		return one_vote(epsilon);
	purchase.finite.part[0].epsilon = purchase.infinite.part[0].epsilon = epsilon;
	return purchase;
}

/* Chooses the order; what is spent must be carried over from the present one. */
static TermsProblem
choose_order(Account *account, const TermsBasis *basis, TermsChange *change)
{
	Purchase	 bought = basis->dearest;
	EpsilonUnits spent = account->spent;
	RenyiOrder	 highest = spent > 0 ? account->order : RENYI_ORDER_INFINITE;
	double		 delta = change->delta;
	RenyiGrant	 grant = {.epsilon = account->epsilon, .delta = account->delta};
	RenyiPlan	 plan;
	EpsilonUnits carried;

	if (account->per_answer > 0)
		bought = purchase_at(account->per_answer, &basis->dearest);
	/* A cap is charged for the draws that its payers get, even if its own order is finite. */
	if (account->role == CAP_ROLE && charge_is_valid(&bought.infinite) && basis->payers_are_pure)
		bought.finite = bought.infinite;
	if (basis->finite_only && account->delta > 0)
		bought.infinite = (Charge){0};
	grant.finite = bought.finite;
	grant.infinite = bought.infinite;
	grant.once = bought.once;
	change->old_order = highest;
	if (!renyi_choose(&grant, account->has_window ? 0 : spent, highest, &plan))
		return TERMS_NEED_DELTA;

	if (plan.order != highest && highest != RENYI_ORDER_INFINITE)
		delta = delta_add(delta, change->old_delta / 2);
	if (delta_add(account->delta_spent, delta) > account_delta_limit(account))
		return TERMS_GOOD; /* the order stays */
	if (!renyi_carry(spent, highest, plan.order, &carried) || carried != spent)
		return TERMS_NOT_CARRIED;
	change->converts = spent > 0 && plan.order != highest;
	account->order = plan.order;
	change->delta = delta;
	return TERMS_GOOD;
}

/* ---------- windows ---------- */

static bool
same_interval(const Interval *a, const Interval *b)
{
	return a->month == b->month && a->day == b->day && a->time == b->time;
}

/*
 * A window that opens, or whose length changes, begins now and with what was
 * spent before: a change of terms is no refresh.
 */
static void
apply_refresh(Account *account, const Interval *refresh, TimestampTz now)
{
	const Interval zero = {0};
	TimestampTz	   start;

	if (account->has_window && same_interval(&account->refresh, refresh))
		return;
	if (!account->has_window)
		account->window_spent = account->spent;
	account->has_window = !same_interval(refresh, &zero);
	if (!account->has_window)
		return;
	account->refresh = *refresh;
	account->window_anchor = account->window_start = now;
	window_of(now, &account->refresh, now, &start, &account->window_end);
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
needs_finite_order(const Account *account, const TermsBasis *basis)
{
	return account->order == RENYI_ORDER_INFINITE && account->delta > 0 &&
		   (basis->finite_only ||
			charge_units(&basis->dearest.infinite, RENYI_ORDER_INFINITE) == PG_INT64_MAX);
}

/* Takes over what was granted; true if the order is to be chosen anew. */
static bool
take_over(Account *account, const LedgerGrant *grant, const TermsBasis *basis)
{
	bool choose = account->spent == 0 || needs_finite_order(account, basis);

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
	if (grant->has_refresh)
		apply_refresh(account, &grant->refresh, basis->now);
	return choose && account->epsilon > 0;
}

TermsProblem
terms_apply(Account *account, const LedgerGrant *grant, const TermsBasis *basis,
			TermsChange *change)
{
	EpsilonUnits window_spent = account->has_window ? account->window_spent : 0;
	TermsProblem problem;
	bool		 choose;

	*change = (TermsChange){.old_delta = account->delta};
	choose = take_over(account, grant, basis);
	if (!account->has_window && account->lifetime > 0)
		return TERMS_LIFETIME_ALONE;

	if (choose)
	{
		if (basis->already > 0)
		{
			account->order = Min(account->order, basis->already_order);
			account->spent += basis->already;
			change->delta = basis->already_delta;
		}
		problem = choose_order(account, basis, change);
		if (problem != TERMS_GOOD)
			return problem;
		account->delta_spent = delta_add(account->delta_spent, change->delta);
		if (account->delta_spent > account_delta_limit(account))
			return TERMS_DELTA_SPENT;
	}
	set_limits(account);
	change->window_units = (account->has_window ? account->window_spent : 0) - window_spent;
	return TERMS_GOOD;
}

/* ---------- joining ---------- */

/*
 * A window has seen all that the other account's has if that began no later, and
 * may have seen everything otherwise.
 */
static EpsilonUnits
spent_in_window(const Account *account, const Account *other)
{
	return other->has_window && other->window_start <= account->window_start ? other->window_spent
																			 : other->spent;
}

static EpsilonUnits
join_units(EpsilonUnits *sum, EpsilonUnits more)
{
	EpsilonUnits before = *sum;

	if (pg_add_s64_overflow(before, more, sum))
		*sum = PG_INT64_MAX;
	return *sum - before;
}

/* By the argument above, whoever decides to join has seen answers at both orders. */
static double
delta_of_change(const Account *account, RenyiOrder order)
{
	bool changes =
		account->spent > 0 && account->order != RENYI_ORDER_INFINITE && account->order != order;

	return changes ? account->delta / 2 : 0;
}

TermsJoin
terms_join(Account *account, const Account *other)
{
	RenyiOrder order = other->spent > 0 ? Min(account->order, other->order) : account->order;
	TermsJoin  joined = {.delta = other->delta_spent};

	joined.delta = delta_add(joined.delta, delta_of_change(account, order));
	joined.delta = delta_add(joined.delta, delta_of_change(other, order));
	account->delta_spent = delta_add(account->delta_spent, joined.delta);
	account->order = order;
	if (account->has_window)
		joined.window_units = join_units(&account->window_spent, spent_in_window(account, other));
	joined.units = join_units(&account->spent, other->spent);
	set_limits(account);
	return joined;
}

/* ---------- terms as text ---------- */

char *
terms_to_text(const Account *account, char buffer[TERMS_TEXT_SIZE])
{
	char amount[EPSILON_TEXT_SIZE];
	char number[NUMBER_TEXT_SIZE];
	int	 length = 0;

#define SAY(...) (length += snprintf(buffer + length, TERMS_TEXT_SIZE - length, __VA_ARGS__))
	if (account->epsilon > 0)
		SAY("epsilon %s", epsilon_to_text(account->epsilon, amount));
	else
		SAY("no limit");
	SAY(", delta %s", number_text(account->delta, number));
	if (account->order != RENYI_ORDER_INFINITE)
		SAY(", order %s", number_text(renyi_order_to_double(account->order), number));
	if (account->has_window)
	{
		SAY(", every %d months %d days " INT64_FORMAT " microseconds", account->refresh.month,
			account->refresh.day, account->refresh.time);
		if (account->lifetime > 0)
			SAY(", lifetime epsilon %s", epsilon_to_text(account->lifetime, amount));
		else
			SAY(", no lifetime limit");
	}
#undef SAY
	return buffer;
}
