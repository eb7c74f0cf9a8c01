/*
 * quote.c
 *		What answers would cost a role, without spending.
 */
#include "postgres.h"

#include "common/int.h"

#include "account/quote.h"

/* Own first; then, as the cap counts, dear draws before cheap ones. */
static int
compare_purses(const void *a, const void *b)
{
	const Purse *left = a;
	const Purse *right = b;

	if (left->own != right->own)
		return left->own ? -1 : 1;
	if (left->cap_charge != right->cap_charge)
		return left->cap_charge > right->cap_charge ? -1 : 1;
	return left->account.account_id < right->account.account_id ? -1 : 1;
}

/* The price, as one account would pay it for all purchases. */
static void
quote_purchases(LedgerQuote *quote, const Purse *payer, int64 purchases)
{
	const Account *account = &payer->account;
	EpsilonUnits   spent = account_counted(account);
	EpsilonUnits   after;

	if (pg_add_s64_overflow(spent, renyi_charge_times(payer->charge, purchases), &after))
		after = PG_INT64_MAX;
	quote->has_account = true;
	quote->payer = account->role;
	quote->can_pay = payer->paid || account_can_pay(account, payer->drawn);
	quote->cost = account_epsilon(account, after) - account_epsilon(account, spent);
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
	{
		EpsilonUnits of_one = account_epsilon_left(&purses[i].account, 0);

		if (pg_add_s64_overflow(left, Max(of_one, 0), &left))
			left = PG_INT64_MAX;
	}
	return left;
}

/*
 * Charged once: free if an account has paid, else what the first pays that
 * can.  As many answers are left as numbers can say, or none.
 */
static const Purse *
quote_once(const Purse *purses, int count, const Purse *cap, LedgerQuote *quote)
{
	const Purse *first = NULL;

	for (int i = 0; i < count; i++)
	{
		const Purse *purse = &purses[i];
		bool		 fits = purse->paid || account_affords(&purse->account, purses[i].drawn) > 0;

		if (fits && !purse->paid && cap->account.account_id != 0 && !cap->paid)
			fits = account_affords(&cap->account, purses[i].drawn) > 0;
		if (first == NULL || (fits && quote->answers_left == 0) || (purse->paid && !first->paid))
			first = &purses[i];
		if (fits)
			quote->answers_left = PG_INT64_MAX;
	}
	return first;
}

/* Charged for each answer: all accounts pay in turn, under the cap. */
static const Purse *
quote_each(const Purse *purses, int count, const Purse *cap, LedgerQuote *quote)
{
	Account		 total = cap->account;
	const Purse *first = NULL;

	for (int i = 0; i < count; i++)
	{
		const Charge *drawn = purses[i].drawn;
		int64		  fit = account_purchases(&purses[i].account, drawn);

		if (first == NULL || (fit > 0 && account_left(&first->account) < first->charge))
			first = &purses[i];
		fit = Min(fit, account_purchases(&total, drawn));
		if (!account_only_counts(&total))
			total.spent += fit * purses[i].cap_charge;
		total.delta_spent += fit * drawn->delta;
		quote->answers_left += fit;
	}
	return first;
}

LedgerQuote
quote_answers(Purse *purses, int count, const Purse *cap, const Purchase *purchase, Oid role,
			  int64 answers)
{
	LedgerQuote	 quote = {0};
	const Purse *first;
	int64		 by_cap = answers;

	for (int i = 0; i < count; i++)
	{
		Purse *purse = &purses[i];

		purse->own = purse->account.role == role;
		purse->drawn = drawn_charge(&purchase->finite, &purchase->infinite, &purse->account);
		purse->charge = charge_units(purse->drawn, purse->account.order);
		purse->cap_charge = charge_units(purse->drawn, cap->account.order);
	}
	qsort(purses, count, sizeof(Purse), compare_purses);

	first = purchase->once ? quote_once(purses, count, cap, &quote)
						   : quote_each(purses, count, cap, &quote);
	if (first == NULL)
		return quote;
	if (purchase->once)
	{
		answers = first->paid ? 0 : 1;
		by_cap = cap->paid ? 0 : answers;
	}
	quote_purchases(&quote, first, answers);
	quote.left_after =
		Min(left_together(purses, count) - quote.cost,
			account_epsilon_left(&cap->account, renyi_charge_times(first->cap_charge, by_cap)));
	return quote;
}
