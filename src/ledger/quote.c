/*
 * quote.c
 *		What answers would cost a role, without spending.
 */
#include "postgres.h"

#include "account/quote.h"
#include "catalog/by_id.h"
#include "ledger/accounts.h"
#include "server/query.h"
#include "server/session.h"

/* Reads the accounts that may pay and, if there is one, the cap; have they paid? */
static Purse *
read_purses(const LedgerPrice *price, Oid role, int *count, Purse *cap)
{
	TimestampTz		now = GetCurrentTimestamp();
	PopulationBrief brief = population_brief(price->relation_id);
	Purse		   *purses;

	query_read("SELECT " ACCOUNT_COLUMNS ", EXISTS (SELECT FROM privpred.release r "
			   "WHERE r.account_id = a.account_id AND r.training_id = $2) "
			   "FROM privpred.account a WHERE a.relation_id = $1",
			   ARG_INT8(brief.population), ARG_INT8(price->training_id));
	purses = palloc_array(Purse, SPI_processed + 1);
	*count = 0;
	*cap = (Purse){.account = {.order = RENYI_ORDER_INFINITE, .unlimited = true}};
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Purse purse = {0};

		account_from_row(&purse.account, row, brief.relid);
		(void) account_roll_window(&purse.account, now);
		purse.paid = price->kind == CHARGE_ONCE && row_bool(row, ACCOUNT_NEXT_COLUMN);
		if (purse.account.role == CAP_ROLE)
			*cap = purse;
		else if (account_outcome(&purse.account, now) == OUTCOME_GRANTED &&
				 (purse.account.role == role || role_inherits_budget_of(role, purse.account.role)))
			purses[(*count)++] = purse;
	}
	return purses;
}

LedgerQuote
ledger_quote(const LedgerPrice *price, Oid role, int64 answers)
{
	Purchase purchase = {
		.finite = price->finite, .infinite = price->infinite, .once = price->kind == CHARGE_ONCE};
	CatalogSession session;
	LedgerQuote	   quote;
	Purse		  *purses;
	Purse		   cap;
	int			   count;

	catalog_begin(&session);
	purses = read_purses(price, role, &count, &cap);
	quote = quote_answers(purses, count, &cap, &purchase, role, answers);
	catalog_end(&session);
	return quote;
}
