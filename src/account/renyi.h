/*
 * renyi.h
 *		Accounts of a fixed Rényi order: what they hold, what an answer costs.
 *
 * An account of order a spends bounds on the Rényi divergence of order a.  At
 * one fixed order charges simply add, however adaptively they are chosen
 * (Feldman, Zrnic 2021).  A budget (epsilon, delta) becomes a limit at the
 * account's order when it is granted; the infinite order is plain epsilon.
 *
 * Pure integer arithmetic: charges are rounded up, limits down, and no float
 * decides.  Apart from ledger.h so that unit tests can drive it alone.
 */
#ifndef PRIVPRED_RENYI_H
#define PRIVPRED_RENYI_H

#include "server/privpred.h"

/*
 * An order in units of 2^-20, above 1 and up to 2^20, or infinite.  Orders
 * compare as integers.
 */
typedef int64 RenyiOrder;

#define RENYI_ORDER_BITS 20
#define RENYI_ORDER_ONE (INT64CONST(1) << RENYI_ORDER_BITS)
#define RENYI_ORDER_MAX (INT64CONST(1) << (2 * RENYI_ORDER_BITS)) /* finite */
#define RENYI_ORDER_INFINITE PG_INT64_MAX

extern bool	  renyi_order_is_valid(RenyiOrder order);
extern double renyi_order_to_double(RenyiOrder order); /* exact, or infinity */

/* 0 (pure) or a normal double below 1; it is the dyadic rational that it is. */
extern bool renyi_delta_is_valid(double delta);

/* ---------- charges ----------
 *
 * Rounded up; whatever has no charge (an order or epsilon out of range, a
 * Gaussian at the infinite order) costs PG_INT64_MAX, more than any limit.
 */

/* Of one answer at epsilon. */
extern EpsilonUnits renyi_charge(EpsilonUnits epsilon, ChargeShape shape, RenyiOrder order);

/* Of Gaussian noise, (L2 sensitivity / sigma)^2 being numerator / denominator. */
extern EpsilonUnits renyi_charge_gaussian(uint64 numerator, uint64 denominator, RenyiOrder order);

/* Of several answers; saturates at PG_INT64_MAX. */
extern EpsilonUnits renyi_charge_times(EpsilonUnits charge, int64 answers);

/* ---------- limits ----------
 *
 * Half of delta pays for the conversion, half is for mechanisms that have a
 * delta of their own; all these functions take the whole delta of the grant.
 */

/*
 * What an account of this order may spend within (epsilon, delta); 0: the
 * order is of no use.  Never above the true bound.
 */
extern EpsilonUnits renyi_limit(EpsilonUnits epsilon, double delta, RenyiOrder order);

/*
 * The epsilon that spent units amount to beside delta; never below the true
 * conversion, never above the grant while spent is within renyi_limit().
 */
extern EpsilonUnits renyi_to_epsilon(EpsilonUnits spent, double delta, RenyiOrder order);

/* How many charges still fit. */
extern int64 renyi_answers(EpsilonUnits limit, EpsilonUnits spent, EpsilonUnits charge);

/*
 * Carries what was spent at one order over to another, never understating it.
 * False: it cannot be, the old order must stay.
 */
extern bool renyi_carry(EpsilonUnits spent, RenyiOrder from, RenyiOrder to, EpsilonUnits *carried);

/* ---------- choosing an order ---------- */

typedef struct RenyiGrant
{
	EpsilonUnits epsilon;
	double		 delta;
	Charge		 finite;   /* to optimise for, at a finite order */
	Charge		 infinite; /* and at the infinite one; void: it cannot pay */
	bool		 once;	   /* such a purchase is made once, not over and over */
} RenyiGrant;

typedef struct RenyiPlan
{
	RenyiOrder	 order;
	EpsilonUnits limit;
	EpsilonUnits charge;  /* of one purchase */
	int64		 answers; /* purchases that still fit */
} RenyiPlan;

/*
 * Chooses the order that buys most answers; ties go to the infinite order.
 * For what is bought once, the order whose limit it takes the smallest share
 * of.  For a new account spent is 0 and highest RENYI_ORDER_INFINITE; for an
 * account that has spent, highest is its order, see renyi_carry().  False if
 * there is no order up to highest for this grant (delta is 0 and highest is
 * finite) or an argument is out of range.
 */
extern bool
renyi_choose(const RenyiGrant *grant, EpsilonUnits spent, RenyiOrder highest, RenyiPlan *plan);

/*
 * Sets the epsilon of the grant's charges, one draw each, to the largest
 * multiple of step up to maximum at which the grant buys that many answers, and
 * the plan for it; or to the largest for the infinite order, if a finite one
 * gains no more than delta.  False if step itself is too much; the plan then
 * says what step buys.
 */
extern bool renyi_per_answer(RenyiGrant *grant, int64 answers, EpsilonUnits step,
							 EpsilonUnits maximum, RenyiPlan *plan);

#endif /* PRIVPRED_RENYI_H */
