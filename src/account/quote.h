/*
 * quote.h
 *		What answers would cost a role, without spending.
 */
#ifndef PRIVPRED_QUOTE_H
#define PRIVPRED_QUOTE_H

#include "account/account.h"

/* An account that a role may draw on, or the cap over all of them. */
typedef struct Purse
{
	Account account;
	bool	paid; /* for this version, which is charged once */

	/* what it would pay; quote_answers() says */
	bool		  own;
	const Charge *drawn;
	EpsilonUnits  charge;
	EpsilonUnits  cap_charge;
} Purse;

typedef struct LedgerQuote
{
	bool		 has_account; /* else the rest is void */
	bool		 can_pay;	  /* an account has a price for such a draw */
	EpsilonUnits cost;		  /* epsilon, converted; saturates */
	double		 delta;
	EpsilonUnits left_after;   /* likewise; negative if it does not fit */
	int64		 answers_left; /* charged once: PG_INT64_MAX or 0 */
	Oid			 payer;		   /* whose account comes first */
} LedgerQuote;

/*
 * A role's own account pays first, then those of its groups, all under the cap.
 * The cost is shown as if the first account that can pay paid for all answers.
 * Sorts the purses.
 */
extern LedgerQuote quote_answers(Purse *purses, int count, const Purse *cap,
								 const Purchase *purchase, Oid role, int64 answers);

#endif /* PRIVPRED_QUOTE_H */
