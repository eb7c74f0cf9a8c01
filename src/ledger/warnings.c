/*
 * warnings.c
 *		What an owner is told about a grant or a cap: nothing that weakens the promise,
 *		and nothing that ends answers, happens in silence.
 */
#include "postgres.h"

#include <math.h>

#include "account/accountant.h"
#include "ledger/asking.h"

/* Of what a promise is worth; the arguments were checked by whoever read them. */
static void
warn_about_promise(const Account *account, const LedgerGrant *grant)
{
	bool		 cap = account->role == CAP_ROLE;
	EpsilonUnits most = Max(account->epsilon, account->lifetime);
	double		 epsilon = (double) most / EPSILON_UNITS_PER_ONE;
	char		 text[EPSILON_TEXT_SIZE];

	if (most > EPSILON_WITHOUT_WARNING)
		ereport(WARNING,
				errmsg("%s %s promises little", cap ? "a cap of epsilon" : "epsilon",
					   epsilon_to_text(most, text)),
				errdetail("What is learnt may change the odds of anything about a person by a "
						  "factor of %.3g.",
						  exp(Min(epsilon, 700))),
				errhint("An epsilon of 1 or less is a strong promise, and one above 10 is hard to "
						"defend. See docs/accounts.md."));
	if (grant->declared_units > 0 && account->epsilon > 0 &&
		account->delta * (double) grant->declared_units >= 1)
		ereport(WARNING,
				errmsg("%s %g is not below one over the " INT64_FORMAT " declared units",
					   cap ? "delta_cap" : "delta", account->delta, grant->declared_units),
				errdetail("Publishing one person's rows at random would keep such a promise."),
				errhint("Give %s => %.0e or less.", cap ? "delta_cap" : "delta",
						0.01 / (double) grant->declared_units));
}

/* Of what becomes of an account that was there before. */
static void
warn_about_change(const Account *account, const TermsChange *change)
{
	const char	*what = account->role == CAP_ROLE ? "cap" : "account";
	Account		 now = *account;
	EpsilonUnits now_spent;
	char		 spent[EPSILON_TEXT_SIZE];
	char		 limit[EPSILON_TEXT_SIZE];

	if (change->converts)
		ereport(WARNING,
				errmsg("the %s changes its order from %g to %g", what,
					   renyi_order_to_double(change->old_order),
					   renyi_order_to_double(account->order)),
				change->old_order == RENYI_ORDER_INFINITE
					? errdetail("What was spent is carried over.")
					: errdetail("What was spent is carried over, and half of the old delta, %g, is "
								"spent by the change.",
								change->old_delta / 2),
				errhint("Leave delta and per_answer as they were to keep the order. See "
						"docs/accounts.md."));
	(void) account_roll_window(&now, GetCurrentTimestamp());
	now_spent = account_epsilon(&now, account_counted(&now));
	if (account_left(&now) < 0)
		ereport(
			WARNING, errmsg("the %s is frozen: less is granted than what is spent", what),
			errdetail("Epsilon %s is spent, and %s is granted.",
					  now_spent == PG_INT64_MAX ? "infinity" : epsilon_to_text(now_spent, spent),
					  epsilon_to_text(now.epsilon, limit)),
			errhint("Nothing is answered until more is granted%s.",
					now.has_window ? " or, if the lifetime limit allows it, the window ends" : ""));
}

static void
warn_about_time(const Account *account)
{
	if (account->valid_until <= GetCurrentTimestamp())
		ereport(WARNING, errmsg("the budget has expired, and the grant does not change that"),
				errhint("Grant it with a valid_until in the future, or 'infinity'."));
	if (account->has_window && account->lifetime == 0)
		ereport(
			WARNING, errmsg("the budget refreshes and has no lifetime limit"),
			errdetail(
				"Each window adds its epsilon to what is known about the same people: over time "
				"the privacy loss has no bound."),
			errhint("Give lifetime_epsilon as well. See lifetime_epsilon_spent in "
					"privpred.budgets."));
}

void
warn_about_grant(const Account *account, const LedgerGrant *grant, const TermsChange *change)
{
	warn_about_promise(account, grant);
	warn_about_change(account, change);
	if (account->role != CAP_ROLE)
		warn_about_time(account);
}
