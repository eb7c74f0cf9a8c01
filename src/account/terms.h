/*
 * terms.h
 *		What a grant means: order, limits, windows, and conversions.
 */
#ifndef PRIVPRED_TERMS_H
#define PRIVPRED_TERMS_H

#include "account/account.h"

/* What is granted to a role, or a cap over all roles; what is not given stays as it was. */
typedef struct LedgerGrant
{
	int64		 relation_id;
	Oid			 role;	  /* CAP_ROLE: the cap */
	EpsilonUnits epsilon; /* of each window, or for ever; 0: no cap */
	bool		 has_delta;
	double		 delta;
	EpsilonUnits per_answer; /* 0: not given */
	bool		 has_valid_until;
	TimestampTz	 valid_until;
	bool		 has_refresh;
	Interval	 refresh; /* zero: no windows */
	bool		 has_lifetime;
	EpsilonUnits lifetime;		 /* 0: no limit */
	int64		 declared_units; /* of the relation, for warnings; 0: not declared */
} LedgerGrant;

/* What is known about a relation when a grant is made. */
typedef struct TermsBasis
{
	TimestampTz now;
	Purchase	dearest;		 /* what the order is chosen for, unless the grant says */
	bool		payers_are_pure; /* of a cap: it pays for draws of pure accounts alone */
	bool		finite_only;	 /* it starts with a charge that has no infinite order */

	/* of a cap that opens: what it counts as spent although it was not charged with it */
	EpsilonUnits already;
	RenyiOrder	 already_order; /* at no order below this */
	double		 already_delta;
} TermsBasis;

/* The dearest of some models, or one vote at 0.1 if there is none. */
extern Purchase terms_dearest(const Purchase *models, int nmodels);

/* What an account pays for most: as its grant says, or the dearest that it can pay for. */
extern Purchase terms_typical(const Account *account, const Purchase *models, int nmodels);

/* What terms_apply() did besides setting limits. */
typedef struct TermsChange
{
	RenyiOrder	 old_order; /* the highest that could have been chosen */
	double		 old_delta;
	bool		 converts;	   /* what is spent was carried over from the old order */
	EpsilonUnits window_units; /* change of what the window has spent */
	double		 delta;		   /* added to delta_spent */
} TermsChange;

typedef enum TermsProblem
{
	TERMS_GOOD,
	TERMS_LIFETIME_ALONE, /* a limit for ever beside no windows */
	TERMS_NEED_DELTA,	  /* spending at a finite order fits into no pure budget */
	TERMS_DELTA_SPENT,	  /* more than half of the new delta is spent */
	TERMS_NOT_CARRIED	  /* cannot happen */
} TermsProblem;

/* Applies a grant to an account, in memory; after a problem the account is void. */
extern TermsProblem terms_apply(Account *account, const LedgerGrant *grant, const TermsBasis *basis,
								TermsChange *change);

/*
 * Counts what another account of the same role has spent, of a population that is joined with this
 * one's; the terms stay, at the lower of the two orders.  What was spent may then exceed them.
 */
typedef struct TermsJoin
{
	EpsilonUnits units; /* added to what is spent */
	EpsilonUnits window_units;
	double		 delta;
} TermsJoin;

extern TermsJoin terms_join(Account *account, const Account *other);

/*
 * The terms in a canonical form that people can read: everything that decides how
 * much may be spent, and nothing that changes by spending.
 */
#define TERMS_TEXT_SIZE 256
extern char *terms_to_text(const Account *account, char buffer[TERMS_TEXT_SIZE]);

#endif /* PRIVPRED_TERMS_H */
