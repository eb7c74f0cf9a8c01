/*
 * account.h
 *		Accounts: what they have left, what they can pay for, and paying.
 *
 * Pure arithmetic on an account in memory, so that unit tests can drive it
 * alone.
 *
 * afford.c		what an account can pay for, and paying
 * left.c		what is left of a budget, why and until when
 * window.c		budgets that refresh
 * terms.c		what a grant means (terms.h)
 * quote.c		what answers would cost (quote.h)
 */
#ifndef PRIVPRED_ACCOUNT_H
#define PRIVPRED_ACCOUNT_H

#include "datatype/timestamp.h"

#include "account/charge.h"

#define CAP_ROLE InvalidOid /* role of the account over all roles */

typedef struct Account
{
	int64		account_id;
	int64		relation_id;
	Oid			relid; /* InvalidOid: it was dropped */
	Oid			role;
	TimestampTz valid_until; /* DT_NOEND: for ever */
	bool		revoked;
	bool		live_role;	 /* the server knows that the role holds it */
	bool		role_exists; /* still */

	/* as granted */
	EpsilonUnits epsilon; /* of each window, or for ever; 0: no limit */
	double		 delta;
	double		 delta_spent; /* beside the half that pays for conversion */
	EpsilonUnits per_answer;  /* 0: not given */
	EpsilonUnits lifetime;	  /* beside windows; 0: no limit */

	/* the same at the account's order */
	RenyiOrder	 order;
	bool		 unlimited; /* windows alone, or a cap that only counts */
	EpsilonUnits limit;		/* for ever */
	EpsilonUnits spent;

	bool		 has_window;
	Interval	 refresh;
	TimestampTz	 window_anchor; /* start of the first window */
	TimestampTz	 window_start;
	TimestampTz	 window_end; /* not stored */
	EpsilonUnits window_limit;
	EpsilonUnits window_spent;

	bool dirty; /* was charged or refreshed since it was read */
} Account;

/*
 * The draw follows from the order of the account that pays; every account that
 * is charged for it, the cap too, is charged for that draw.
 */
static inline const Charge *
drawn_charge(const Charge *finite, const Charge *infinite, const Account *payer)
{
	return payer->order == RENYI_ORDER_INFINITE ? infinite : finite;
}

/* ---------- afford.c ---------- */

/*
 * Mechanisms may spend half of an account's delta, conversion the other.  It is
 * a limit for ever: windows refresh epsilon only, because deltas of all windows
 * add up for the same people, and there is no order at which they would add
 * more slowly.
 */
static inline double
account_delta_limit(const Account *account)
{
	return account->delta / 2;
}

/* A cap without a limit: it refuses nothing. */
extern bool account_only_counts(const Account *account);

/* Negative after a limit was lowered below what is spent; PG_INT64_MAX: no limit. */
extern EpsilonUnits account_lifetime_left(const Account *account);
extern EpsilonUnits account_window_left(const Account *account);
extern EpsilonUnits account_left(const Account *account); /* the least of them */

/* Is there a charge for this draw at the account's order, and a delta if it needs one? */
extern bool account_can_pay(const Account *account, const Charge *charge);
extern bool account_delta_fits(const Account *account, const Charge *charge);

/* How many such purchases fit; those with a delta are counted one at a time. */
extern int64 account_affords(const Account *account, const Charge *charge);

/* Charges purchases, in memory; returns what the sum has grown by, and the window's. */
extern EpsilonUnits
account_debit(Account *account, const Charge *charge, int64 times, EpsilonUnits *window_units);

/* What comes back for answers that were charged and not given. */
extern EpsilonUnits account_owed(const Account *account, int64 answers, EpsilonUnits charge);

/* ---------- left.c ---------- */

typedef enum AccountStatus
{
	BUDGET_ACTIVE,
	BUDGET_FROZEN, /* its limit was lowered below what is spent */
	BUDGET_EXPIRED,
	BUDGET_REVOKED,
	BUDGET_ROLE_DROPPED,
	BUDGET_RELATION_DROPPED
} AccountStatus;

extern AccountStatus account_status(const Account *account, TimestampTz now);

/* What the account has spent, of its window if it has windows, in its units. */
extern EpsilonUnits account_counted(const Account *account);

/* Units at the account's order, converted. */
extern EpsilonUnits account_epsilon(const Account *account, EpsilonUnits units);

/* The epsilon that is left of the grant once "more" units are spent too; PG_INT64_MAX: no limit. */
extern EpsilonUnits account_epsilon_left(const Account *account, EpsilonUnits more);

/* From 0 to 1; negative: there is no limit. */
extern double account_share_spent(const Account *account);

/* The same under the relation's cap, which may be the account itself, or NULL: there is none. */
extern EpsilonUnits budget_epsilon_left(const Account *account, const Account *cap);

/* How many purchases fit, by what is left and by the delta that is left. */
extern int64 account_purchases(const Account *account, const Charge *charge);

/* What a model sells. */
typedef struct Purchase
{
	Charge finite;
	Charge infinite; /* void: an account of infinite order cannot pay */
	bool   once;
	bool   paid;	 /* charged once: the account has paid */
	bool   cap_paid; /* and the cap */
} Purchase;

/* Of what is charged once: PG_INT64_MAX or 0. */
extern int64
budget_answers_left(const Account *account, const Account *cap, const Purchase *purchase);

/* Which limit has least room for a purchase. */
typedef enum BudgetBound
{
	BOUND_ROLE,
	BOUND_WINDOW,
	BOUND_LIFETIME,
	BOUND_RELATION, /* the cap over all roles */
	BOUND_DELTA,	/* of the role or the relation */
	BOUND_NONE
} BudgetBound;

extern BudgetBound
budget_bound(const Account *account, const Account *cap, const Purchase *purchase);

/* ---------- window.c ---------- */

/* Can budgets refresh that often?  From one minute to a hundred years. */
extern bool window_length_is_valid(const Interval *refresh);

/* The window that "at" is in; windows begin at anchor + n * refresh, in UTC. */
extern void window_of(TimestampTz anchor, const Interval *refresh, TimestampTz at,
					  TimestampTz *start, TimestampTz *end);

/* Begins a new window if the account's has ended; true if it had. */
extern bool account_roll_window(Account *account, TimestampTz now);

#endif /* PRIVPRED_ACCOUNT_H */
