/*
 * afford.c
 *		What an account has left, what it can pay for, and paying.
 *
 * Nothing but arithmetic on an account in memory, so that unit tests can try
 * all kinds of accounts.
 *
 * A charge without bound, PG_INT64_MAX, fits into no limit.  What has no limit,
 * a cap that only counts or the lifetime of a budget that refreshes for ever,
 * refuses nothing: it counts up to PG_INT64_MAX and then says that the sum is
 * beyond counting, for good.
 */
#include "postgres.h"

#include "account/account.h"

#define BEYOND_COUNTING PG_INT64_MAX

bool
account_only_counts(const Account *account)
{
	return account->unlimited && !account->has_window;
}

EpsilonUnits
account_lifetime_left(const Account *account)
{
	return account->unlimited ? PG_INT64_MAX : account->limit - account->spent;
}

EpsilonUnits
account_window_left(const Account *account)
{
	return account->has_window ? account->window_limit - account->window_spent : PG_INT64_MAX;
}

/* A delta that is overspent, after populations were joined, is a broken promise all the same. */
EpsilonUnits
account_left(const Account *account)
{
	if (account->delta_spent > account_delta_limit(account) && !account_only_counts(account))
		return Min(-1, Min(account_lifetime_left(account), account_window_left(account)));
	return Min(account_lifetime_left(account), account_window_left(account));
}

bool
account_can_pay(const Account *account, const Charge *charge)
{
	if (account_only_counts(account))
		return true;
	return charge_is_valid(charge) && (charge->delta == 0 || account->delta > 0) &&
		   (account->order != RENYI_ORDER_INFINITE || !charge_has_gaussian(charge));
}

bool
account_delta_fits(const Account *account, const Charge *charge)
{
	return charge->delta == 0 || account_only_counts(account) ||
		   delta_add(account->delta_spent, charge->delta) <= account_delta_limit(account);
}

int64
account_affords(const Account *account, const Charge *charge)
{
	int64 fit = PG_INT64_MAX;

	if (!account_only_counts(account))
		fit = renyi_answers(account_left(account), 0, charge_units(charge, account->order));
	if (charge->delta == 0)
		return fit;
	return account_delta_fits(account, charge) ? Min(fit, 1) : 0;
}

/* What lies in the window is below its limit; the sum of all windows need not be. */
EpsilonUnits
account_debit(Account *account, const Charge *charge, int64 times, EpsilonUnits *window_units)
{
	EpsilonUnits units = renyi_charge_times(charge_units(charge, account->order), times);
	EpsilonUnits counted = Min(units, BEYOND_COUNTING - account->spent);

	account->spent += counted;
	account->delta_spent = delta_add(account->delta_spent, charge->delta);
	*window_units = account->has_window ? units : 0;
	account->window_spent += *window_units;
	account->dirty = true;
	return counted;
}

EpsilonUnits
account_owed(const Account *account, int64 answers, EpsilonUnits charge)
{
	return account->spent == BEYOND_COUNTING ? 0 : renyi_charge_times(charge, answers);
}
