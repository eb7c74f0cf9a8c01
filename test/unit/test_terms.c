/*
 * test_terms.c
 *		Grants that are applied one after another, and what is then said to be left.
 *
 * sources: src/account/terms.c src/account/left.c src/account/quote.c src/account/afford.c
 * sources: src/account/window.c src/account/charge.c src/account/renyi.c src/account/order.c
 * sources: src/account/accountant.c src/draw/rng.c
 */
#include "postgres.h"

#include "account/quote.h"
#include "account/terms.h"
#include "unit.h"

#define ONE EPSILON_UNITS_PER_ONE
#define NOW INT64CONST(800000000000000)
#define PERCENT (ONE / 100)

static const Purchase vote = {
	.finite = {.part = {{.shape = CHARGE_BOUNDED_RANGE, .times = 1, .epsilon = PERCENT}}},
	.infinite = {.part = {{.shape = CHARGE_PURE, .times = 1, .epsilon = PERCENT}}}};

static const Purchase gaussian = {
	.finite = {.part = {{.shape = CHARGE_GAUSSIAN, .times = 1, .numerator = 1, .denominator = 25}}},
	.once = true};

static Account
new_account(Oid role)
{
	return (Account){.account_id = 1,
					 .relid = 1,
					 .role = role,
					 .live_role = true,
					 .role_exists = true,
					 .order = RENYI_ORDER_INFINITE,
					 .valid_until = DT_NOEND,
					 .window_end = DT_NOEND,
					 .window_limit = PG_INT64_MAX};
}

static TermsProblem
apply(Account *account, LedgerGrant grant, TermsChange *change)
{
	TermsBasis basis = {.now = NOW, .dearest = vote};

	return terms_apply(account, &grant, &basis, change);
}

static void
buy(Account *account, const Purchase *purchase, int64 times)
{
	EpsilonUnits ignored;

	(void) account_debit(account, drawn_charge(&purchase->finite, &purchase->infinite, account),
						 times, &ignored);
}

static void
test_pure(void)
{
	Account		account = new_account(1);
	TermsChange change;
	char		text[TERMS_TEXT_SIZE];

	ok(apply(&account, (LedgerGrant){.epsilon = ONE}, &change) == TERMS_GOOD &&
		   account.order == RENYI_ORDER_INFINITE && account.limit == ONE && !change.converts,
	   "a pure budget adds up epsilons");
	ok(strcmp(terms_to_text(&account, text), "epsilon 1, delta 0") == 0, "and says so: %s", text);
	ok(budget_answers_left(&account, NULL, &vote) == 100 &&
		   budget_answers_left(&account, NULL, &gaussian) == 0,
	   "it buys a hundred votes, and no Gaussian noise");
	buy(&account, &vote, 30);
	ok(budget_epsilon_left(&account, NULL) == 70 * PERCENT &&
		   account_share_spent(&account) == 0.3 && budget_answers_left(&account, NULL, &vote) == 70,
	   "after thirty, seventy are left");
	ok(apply(&account, (LedgerGrant){.epsilon = 20 * PERCENT}, &change) == TERMS_GOOD &&
		   account_status(&account, NOW) == BUDGET_FROZEN &&
		   budget_epsilon_left(&account, NULL) == 0,
	   "a limit below what is spent freezes it");
}

static void
test_conversion(void)
{
	Account		account = new_account(1);
	LedgerGrant grant = {.epsilon = ONE, .has_delta = true, .delta = 1e-6};
	TermsChange change;
	RenyiOrder	order;

	ok(apply(&account, grant, &change) == TERMS_GOOD && account.order < RENYI_ORDER_INFINITE,
	   "with delta the order is finite");
	order = account.order;
	ok(budget_answers_left(&account, NULL, &vote) > 1000, "and buys ten times as many votes");
	buy(&account, &vote, 1);
	grant.delta = 0;
	{
		Account copy = account;

		ok(apply(&copy, grant, &change) == TERMS_NEED_DELTA && change.old_order == order,
		   "what is spent at it fits into no pure budget");
	}
	grant.delta = 1e-4;
	ok(apply(&account, grant, &change) == TERMS_GOOD && account.order <= order &&
		   change.converts == (account.order < order) &&
		   account.delta_spent == (change.converts ? 5e-7 : 0),
	   "another delta goes down, and pays for it with half of the old one");
	account.delta_spent = 1e-4;
	grant.delta = 1.5e-4;
	ok(apply(&account, grant, &change) == TERMS_DELTA_SPENT,
	   "what is spent must be half of delta at most");
}

static void
test_windows(void)
{
	Account		account = new_account(1);
	LedgerGrant grant = {.epsilon = 10 * PERCENT, .has_refresh = true, .refresh = {.day = 1}};
	TermsChange change;

	ok(apply(&account, grant, &change) == TERMS_GOOD && account.unlimited &&
		   account.window_limit == 10 * PERCENT && account.window_start == NOW &&
		   account.window_end == NOW + USECS_PER_DAY,
	   "windows without a limit for ever");
	ok(budget_bound(&account, NULL, &vote) == BOUND_WINDOW &&
		   budget_answers_left(&account, NULL, &vote) == 10,
	   "the window binds");
	buy(&account, &vote, 4);
	grant.has_lifetime = true;
	grant.lifetime = 7 * PERCENT;
	ok(apply(&account, grant, &change) == TERMS_GOOD && account.window_spent == 4 * PERCENT &&
		   budget_bound(&account, NULL, &vote) == BOUND_LIFETIME &&
		   budget_answers_left(&account, NULL, &vote) == 3,
	   "a limit for ever counts all windows");
	grant.refresh.day = 0;
	ok(apply(&account, grant, &change) == TERMS_LIFETIME_ALONE, "and needs windows");
}

static void
test_cap(void)
{
	Account		account = new_account(1);
	Account		cap = new_account(CAP_ROLE);
	TermsBasis	basis = {.now = NOW,
						 .dearest = vote,
						 .already = 95 * PERCENT,
						 .already_order = RENYI_ORDER_INFINITE};
	LedgerGrant grant = {.epsilon = ONE};
	TermsChange change;
	Purse		purse = {0};
	LedgerQuote quote;

	(void) apply(&account, grant, &change);
	ok(terms_apply(&cap, &grant, &basis, &change) == TERMS_GOOD && cap.spent == 95 * PERCENT,
	   "a cap opens with what was spent");
	ok(budget_bound(&account, &cap, &vote) == BOUND_RELATION &&
		   budget_answers_left(&account, &cap, &vote) == 5 &&
		   budget_epsilon_left(&account, &cap) == 5 * PERCENT,
	   "and then binds");
	purse.account = account;
	quote = quote_answers(&purse, 1, &(Purse){.account = cap}, &vote, 1, 3);
	ok(quote.can_pay && quote.cost == 3 * PERCENT && quote.answers_left == 5 &&
		   quote.left_after == 2 * PERCENT && quote.payer == 1,
	   "which a quote says, too");
	quote = quote_answers(&purse, 0, &(Purse){.account = cap}, &vote, 1, 3);
	ok(!quote.has_account, "without an account there is none");
	grant.epsilon = 0;
	ok(terms_apply(&cap, &grant, &(TermsBasis){.now = NOW, .dearest = vote}, &change) ==
			   TERMS_GOOD &&
		   account_only_counts(&cap) && account_share_spent(&cap) < 0 &&
		   budget_bound(&cap, &cap, &vote) == BOUND_NONE &&
		   budget_answers_left(&account, &cap, &vote) == 100,
	   "taken away, it only counts");
}

static void
test_once(void)
{
	Account	 account = new_account(1);
	Account	 cap = new_account(CAP_ROLE);
	Purchase once = vote;

	once.once = true;
	account.limit = cap.limit = 2 * PERCENT;
	account.epsilon = cap.epsilon = 2 * PERCENT;
	ok(budget_answers_left(&account, &cap, &once) == PG_INT64_MAX, "what can be paid for once");
	cap.spent = 2 * PERCENT;
	ok(budget_answers_left(&account, &cap, &once) == 0, "not beyond the cap");
	once.cap_paid = true;
	ok(budget_answers_left(&account, &cap, &once) == PG_INT64_MAX, "unless that has paid");
	account.spent = 2 * PERCENT;
	ok(budget_answers_left(&account, &cap, &once) == 0, "nor beyond the budget");
	once.paid = true;
	ok(budget_answers_left(&account, &cap, &once) == PG_INT64_MAX, "unless that has paid");
}

static void
test_status(void)
{
	Account account = new_account(1);

	account.limit = ONE;
	ok(account_status(&account, NOW) == BUDGET_ACTIVE, "active");
	account.valid_until = NOW;
	ok(account_status(&account, NOW) == BUDGET_EXPIRED, "expired");
	account.live_role = false;
	ok(account_status(&account, NOW) == BUDGET_REVOKED, "a later role of the same OID has none");
	account.role_exists = false;
	ok(account_status(&account, NOW) == BUDGET_ROLE_DROPPED, "the role was dropped");
	account.relid = InvalidOid;
	ok(account_status(&account, NOW) == BUDGET_RELATION_DROPPED, "the table was dropped");
}

/* Two accounts of one role, in populations that are joined. */
static void
test_join(void)
{
	Account		pure = new_account(1);
	Account		low = new_account(1);
	Account		high;
	Account		joined;
	TermsJoin	change;
	TermsChange ignored;
	RenyiOrder	order;

	(void) apply(&pure, (LedgerGrant){.epsilon = ONE}, &ignored);
	buy(&pure, &vote, 30);
	joined = pure;
	change = terms_join(&joined, &pure);
	ok(joined.spent == 60 * PERCENT && change.units == 30 * PERCENT && change.delta == 0 &&
		   joined.order == RENYI_ORDER_INFINITE && joined.limit == ONE,
	   "what is spent adds up");
	(void) terms_join(&joined, &joined);
	ok(joined.spent == 120 * PERCENT && account_status(&joined, NOW) == BUDGET_FROZEN &&
		   account_affords(&joined, &vote.infinite) == 0,
	   "beyond the limit it is frozen");

	(void) apply(&low, (LedgerGrant){.epsilon = ONE, .has_delta = true, .delta = 1e-4}, &ignored);
	high = new_account(1);
	(void) apply(&high, (LedgerGrant){.epsilon = ONE, .has_delta = true, .delta = 1e-9}, &ignored);
	ok(low.order < high.order, "a larger delta has a lower order");
	buy(&low, &vote, 10);
	buy(&high, &vote, 10);
	low.delta_spent = 1e-5;
	high.delta_spent = 1e-10;
	order = low.order;
	joined = low;
	change = terms_join(&joined, &high);
	ok(joined.order == order && joined.spent == low.spent + high.spent &&
		   change.delta == delta_add(1e-10, 5e-10) && joined.limit == low.limit,
	   "the lower order stays, and the other pays for its change");
	joined = high;
	change = terms_join(&joined, &low);
	ok(joined.order == order && change.delta == delta_add(1e-5, 5e-10) &&
		   joined.limit == renyi_limit(ONE, 1e-9, order),
	   "the higher one goes down, and its limit with it");
	ok(joined.delta_spent > joined.delta / 2 && account_left(&joined) < 0 &&
		   account_affords(&joined, &vote.finite) == 0,
	   "an overspent delta freezes it, even for draws without one");

	joined = pure;
	change = terms_join(&joined, &low);
	ok(joined.order == order && joined.spent == pure.spent + low.spent && joined.limit == 0 &&
		   account_status(&joined, NOW) == BUDGET_FROZEN,
	   "a pure budget cannot promise what was spent at a finite order");
	joined = new_account(1);
	(void) apply(&joined, (LedgerGrant){.epsilon = ONE}, &ignored);
	low.spent = low.delta_spent = 0;
	(void) terms_join(&joined, &low);
	ok(joined.order == RENYI_ORDER_INFINITE && joined.limit == ONE,
	   "nothing spent changes nothing");
}

/* What the other's window has seen is counted at least. */
static void
test_join_windows(void)
{
	LedgerGrant grant = {.epsilon = ONE, .has_refresh = true, .refresh = {.day = 1}};
	Account		account = new_account(1);
	Account		other = new_account(1);
	Account		joined;
	TermsChange ignored;

	(void) apply(&account, grant, &ignored);
	(void) apply(&other, grant, &ignored);
	account.spent = 50 * PERCENT;
	account.window_spent = 10 * PERCENT;
	other.spent = 40 * PERCENT;
	other.window_spent = 20 * PERCENT;
	joined = account;
	ok(terms_join(&joined, &other).window_units == 20 * PERCENT && joined.spent == 90 * PERCENT &&
		   joined.window_spent == 30 * PERCENT,
	   "windows that began together add up");
	other.window_start++;
	joined = account;
	ok(terms_join(&joined, &other).window_units == 40 * PERCENT,
	   "of one that began later, all is counted");
	other.has_window = false;
	joined = account;
	ok(terms_join(&joined, &other).window_units == 40 * PERCENT, "and of one without windows");
	account.has_window = false;
	other.has_window = true;
	ok(terms_join(&account, &other).window_units == 0 && account.spent == 90 * PERCENT,
	   "without a window, the sum of all");
	account.spent = PG_INT64_MAX - 1;
	ok(terms_join(&account, &other).units == 1 && account.spent == PG_INT64_MAX,
	   "a sum beyond counting stays there");
}

int
main(void)
{
	test_pure();
	test_conversion();
	test_windows();
	test_cap();
	test_once();
	test_status();
	test_join();
	test_join_windows();
	return done();
}
