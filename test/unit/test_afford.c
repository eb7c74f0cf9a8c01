/*
 * test_afford.c
 *		Accounts of every kind against purchases of every size: what is said to
 *		be affordable can be bought, one after another, without overflow, and what
 *		comes next gets an honest answer.
 *
 * sources: src/account/afford.c src/account/charge.c src/account/renyi.c src/account/order.c
 * sources: src/account/accountant.c src/draw/rng.c
 */
#include "postgres.h"

#include "account/account.h"
#include "unit.h"

#define ONE EPSILON_UNITS_PER_ONE
#define MOST ((EpsilonUnits) EPSILON_MAX * ONE)
#define ORDER(a) ((RenyiOrder) ((a) *RENYI_ORDER_ONE))
#define IN_A_ROW 40

typedef enum Kind
{
	LIMITED,
	ONLY_COUNTS,
	WINDOWS_LIMITED,
	WINDOWS_FOR_EVER,
	KINDS
} Kind;

static const RenyiOrder orders[] = {RENYI_ORDER_INFINITE, RENYI_ORDER_ONE + 1, ORDER(2), ORDER(16),
									RENYI_ORDER_MAX};
static const EpsilonUnits limits[] = {1, 999, ONE / 10, 10 * ONE, MOST};
static const EpsilonUnits spendings[] = {
	0, 1, ONE / 10, 10 * ONE, MOST, PG_INT64_MAX - MOST, PG_INT64_MAX - 1, PG_INT64_MAX};
static const double deltas[] = {0, 1e-6};

static const Charge charges[] = {
	{.part = {{.shape = CHARGE_PURE, .times = 1, .epsilon = 1}}},
	{.part = {{.shape = CHARGE_PURE, .times = 1, .epsilon = ONE / 10}}},
	{.part = {{.shape = CHARGE_BOUNDED_RANGE, .times = 1, .epsilon = ONE / 3}}},
	{.part = {{.shape = CHARGE_PURE, .times = 1, .epsilon = MOST}}},
	{.part = {{.shape = CHARGE_PURE, .times = 9, .epsilon = MOST}}},
	{.part = {{.shape = CHARGE_PURE, .times = PG_INT64_MAX, .epsilon = ONE}}},
	{.part = {{.shape = CHARGE_PURE, .times = 1, .epsilon = ONE},
			  {.shape = CHARGE_BOUNDED_RANGE, .times = 7, .epsilon = ONE}}},
	{.part = {{.shape = CHARGE_GAUSSIAN, .times = 1, .numerator = 1, .denominator = 1000000}}},
	{.part = {{.shape = CHARGE_GAUSSIAN, .times = 100, .numerator = 8, .denominator = 25}}},
	{.part =
		 {{.shape = CHARGE_GAUSSIAN, .times = 1, .numerator = PG_UINT64_MAX, .denominator = 1}}},
	{.part = {{.shape = CHARGE_PURE, .times = 20, .epsilon = ONE / 20}}, .delta = 1e-7},
	{.part = {{.shape = CHARGE_PURE, .times = 1, .epsilon = ONE}}, .delta = 0.5},
	{.part = {{.shape = CHARGE_GAUSSIAN, .times = 1, .numerator = 1, .denominator = 4}},
	 .delta = 1e-9},
	{.delta = 0}, /* void: it cannot be had */
};

static Account
account_of(Kind kind, RenyiOrder order, EpsilonUnits limit, EpsilonUnits spent, double delta)
{
	Account account = {.order = order, .delta = delta, .spent = spent};

	account.role = kind == ONLY_COUNTS ? CAP_ROLE : 1;
	account.unlimited = kind == ONLY_COUNTS || kind == WINDOWS_FOR_EVER;
	account.limit = account.unlimited ? PG_INT64_MAX : limit;
	account.has_window = kind == WINDOWS_LIMITED || kind == WINDOWS_FOR_EVER;
	account.window_limit = account.has_window ? Max(limit / 2, 1) : PG_INT64_MAX;
	return account;
}

/* Is a sum what it should be: exact, or beyond counting and for good? */
static bool
sum_is(const Account *account, int128 exact)
{
	return account->spent == (EpsilonUnits) Min(exact, (int128) PG_INT64_MAX);
}

static bool
within_limits(const Account *account)
{
	return (account->unlimited || account->spent <= account->limit) &&
		   (!account->has_window || account->window_spent <= account->window_limit);
}

/* Does one purchase do what was promised?  *exact is the sum that there should be. */
static bool
purchase_holds(Account *account, const Charge *charge, int64 times, int128 *exact)
{
	EpsilonUnits units = charge_units(charge, account->order);
	Account		 before = *account;
	EpsilonUnits window_units;
	EpsilonUnits counted = account_debit(account, charge, times, &window_units);

	*exact += (int128) units * times;
	return sum_is(account, *exact) && counted == account->spent - before.spent &&
		   window_units == account->window_spent - before.window_spent &&
		   window_units == (account->has_window ? units * times : 0) && within_limits(account) &&
		   account_owed(account, times, units) == (account->spent == PG_INT64_MAX ? 0 : counted) &&
		   account->delta_spent >= before.delta_spent + charge->delta;
}

static bool
bulk_holds(Account account, const Charge *charge, int64 fit)
{
	EpsilonUnits units = charge_units(charge, account.order);
	int128		 exact = account.spent;

	if (fit == 0)
		return true;
	return purchase_holds(&account, charge, fit, &exact) &&
		   (account_only_counts(&account)
				? account_affords(&account, charge) > 0
				: charge->delta > 0 ||
					  (account_affords(&account, charge) == 0 && account_left(&account) >= 0 &&
					   account_left(&account) < units));
}

static bool
in_a_row_holds(Account account, const Charge *charge, int64 fit)
{
	int128 exact = account.spent;

	for (int i = 0; i < IN_A_ROW && account_affords(&account, charge) > 0; i++)
	{
		/* What is left follows from what was bought. */
		if (charge->delta == 0 && !account_only_counts(&account) &&
			account_affords(&account, charge) != fit - i)
			return false;
		if (!purchase_holds(&account, charge, 1, &exact))
			return false;
	}
	return !account_only_counts(&account) || account_affords(&account, charge) > 0;
}

static bool
holds(const Account *account, const Charge *charge)
{
	EpsilonUnits units = charge_units(charge, account->order);
	int64		 fit = account_affords(account, charge);

	if (fit < 0 || (charge->delta > 0 && fit > 1))
		return false;
	if (account_only_counts(account))
	{
		if (fit == 0 || !account_can_pay(account, charge))
			return false;
	}
	else if (units == PG_INT64_MAX && fit != 0)
		return false;
	if (fit > 0 && !(account_can_pay(account, charge) && account_delta_fits(account, charge)))
		return false;
	return bulk_holds(*account, charge, fit) && in_a_row_holds(*account, charge, fit);
}

static void
test_all(Kind kind, const char *name)
{
	int tried = 0;
	int wrong = 0;

	for (int o = 0; o < lengthof(orders); o++)
		for (int l = 0; l < lengthof(limits); l++)
			for (int s = 0; s < lengthof(spendings); s++)
				for (int d = 0; d < lengthof(deltas); d++)
					for (int c = 0; c < lengthof(charges); c++)
					{
						Account account =
							account_of(kind, orders[o], limits[l], spendings[s], deltas[d]);

						tried++;
						if (!holds(&account, &charges[c]) && wrong++ == 0)
							note("order %d, limit %d, spent %d, delta %d, charge %d", o, l, s, d,
								 c);
					}
	ok(wrong == 0, "%s: %d cases", name, tried);
}

/* What was reported: the cap is taken away, somebody buys what it has no price for. */
static void
test_later_answers(void)
{
	Account		 cap = account_of(ONLY_COUNTS, RENYI_ORDER_INFINITE, 0, 0, 0);
	EpsilonUnits none;

	ok(charge_units(&charges[8], cap.order) == PG_INT64_MAX &&
		   account_affords(&cap, &charges[8]) > 0,
	   "a cap without limit lets through what it cannot count");
	(void) account_debit(&cap, &charges[8], 1, &none);
	ok(cap.spent == PG_INT64_MAX && account_affords(&cap, &charges[1]) > 0, "and what comes later");
	ok(account_debit(&cap, &charges[1], 1, &none) == 0 && cap.spent == PG_INT64_MAX &&
		   account_owed(&cap, 1, charge_units(&charges[1], cap.order)) == 0,
	   "its sum stays beyond counting");
	cap.unlimited = false;
	cap.limit = MOST;
	ok(account_affords(&cap, &charges[0]) == 0, "with a limit again, it is full");
}

int
main(void)
{
	test_all(LIMITED, "with a limit");
	test_all(ONLY_COUNTS, "a cap that only counts");
	test_all(WINDOWS_LIMITED, "windows, and a limit for ever");
	test_all(WINDOWS_FOR_EVER, "windows for ever");
	test_later_answers();
	return done();
}
