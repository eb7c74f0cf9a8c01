/*
 * left.c
 *		What is left of a budget, why and until when.
 *
 * What people are told.  It is the same arithmetic as that of debits, which
 * decide for themselves.
 */
#include "postgres.h"

#include <math.h>

#include "common/int.h"

#include "account/account.h"

static EpsilonUnits
add_units(EpsilonUnits a, EpsilonUnits b)
{
	EpsilonUnits sum;

	return pg_add_s64_overflow(a, b, &sum) ? PG_INT64_MAX : sum;
}

AccountStatus
account_status(const Account *account, TimestampTz now)
{
	if (!OidIsValid(account->relid))
		return BUDGET_RELATION_DROPPED;
	if (account->role == CAP_ROLE)
		return BUDGET_ACTIVE;
	if (account->revoked)
		return BUDGET_REVOKED;
	if (!account->role_exists)
		return BUDGET_ROLE_DROPPED;
	if (!account->live_role)
		return BUDGET_REVOKED;
	if (account->valid_until <= now)
		return BUDGET_EXPIRED;
	return account_left(account) < 0 ? BUDGET_FROZEN : BUDGET_ACTIVE;
}

EpsilonUnits
account_counted(const Account *account)
{
	return account->has_window ? account->window_spent : account->spent;
}

EpsilonUnits
account_epsilon(const Account *account, EpsilonUnits units)
{
	return renyi_to_epsilon(units, account->delta, account->order);
}

EpsilonUnits
account_epsilon_left(const Account *account, EpsilonUnits more)
{
	EpsilonUnits left = PG_INT64_MAX;

	if (account->epsilon > 0)
		left =
			account->epsilon - account_epsilon(account, add_units(account_counted(account), more));
	if (account->lifetime > 0)
		left = Min(left,
				   account->lifetime - account_epsilon(account, add_units(account->spent, more)));
	return left;
}

double
account_share_spent(const Account *account)
{
	EpsilonUnits limit = account->has_window ? account->window_limit : account->limit;

	if (account_only_counts(account))
		return -1;
	return limit == 0 ? 1 : Min(1, (double) account_counted(account) / (double) limit);
}

EpsilonUnits
budget_epsilon_left(const Account *account, const Account *cap)
{
	EpsilonUnits left = account_epsilon_left(account, 0);

	if (cap != NULL)
		left = Min(left, account_epsilon_left(cap, 0));
	return left == PG_INT64_MAX ? 0 : Max(left, 0);
}

int64
account_purchases(const Account *account, const Charge *charge)
{
	double by_delta;
	int64  fit;

	if (!charge_is_valid(charge))
		return 0;
	if (account_only_counts(account))
		return PG_INT64_MAX;
	fit = renyi_answers(account_left(account), 0, charge_units(charge, account->order));
	if (charge->delta == 0 || fit == 0)
		return fit;
	by_delta = floor(Max(account_delta_limit(account) - account->delta_spent, 0) / charge->delta);
	return by_delta < (double) fit ? (int64) by_delta : fit;
}

/* What the account pays for; of a cap, which others charge: the dearer draw. */
static const Charge *
purchase_charge(const Account *account, const Purchase *purchase)
{
	if (account->role == CAP_ROLE)
		return charge_is_valid(&purchase->infinite) ? &purchase->infinite : &purchase->finite;
	return drawn_charge(&purchase->finite, &purchase->infinite, account);
}

int64
budget_answers_left(const Account *account, const Account *cap, const Purchase *purchase)
{
	const Charge *charge = purchase_charge(account, purchase);
	int64		  own = account_purchases(account, charge);
	int64		  both = cap == NULL ? own : Min(own, account_purchases(cap, charge));

	if (!purchase->once)
		return both;
	return purchase->paid || (purchase->cap_paid ? own : both) > 0 ? PG_INT64_MAX : 0;
}

BudgetBound
budget_bound(const Account *account, const Account *cap, const Purchase *purchase)
{
	const Charge *charge = drawn_charge(&purchase->finite, &purchase->infinite, account);
	EpsilonUnits  left = account_left(account);

	if (account->epsilon == 0)
		return BOUND_NONE;
	if (account->role == CAP_ROLE)
		return BOUND_RELATION;
	/* Room is what is left divided by what a purchase costs. */
	if (cap != NULL && !cap->unlimited &&
		(int128) account_left(cap) * charge_units(charge, account->order) <
			(int128) left * charge_units(charge, cap->order))
		return BOUND_RELATION;
	if (!account->has_window)
		return BOUND_ROLE;
	return account_lifetime_left(account) <= account_window_left(account) ? BOUND_LIFETIME
																		  : BOUND_WINDOW;
}
