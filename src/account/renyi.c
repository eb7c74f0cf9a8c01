/*
 * renyi.c
 *		Accounts of a fixed Rényi order: limits, charges, and the choice of the
 *		order.
 *
 * With a the order and d = delta / 2, an account may spend (Canonne, Kamath,
 * Steinke 2020, Proposition 12)
 *
 *		R(a) = epsilon + ln(a / (a - 1)) - (ln(1/d) - ln a) / (a - 1)
 *
 * Logarithms are computed here in fixed point with a proved error, instead of
 * by the C library, whose errors are only documented and differ between
 * platforms: limits must not be generous, and must not move with an upgrade.
 */
#include "c.h"

#include <float.h>
#include <math.h>

#include "port/pg_bitutils.h"

#include "account/charge.h"
#include "account/renyi.h"

#ifndef HAVE_INT128
#error "privpred needs a compiler with 128-bit integers"
#endif

/* ---------- logarithms: fixed point, 64 bits after the point ---------- */

typedef int128 Fixed;

#define FIXED_BITS 64
#define FIXED_LN2 UINT64CONST(12786308645202655659) /* rounded down */

/* fixed_ln(n) <= ln n < fixed_ln(n) + FIXED_LN_ERROR */
#define FIXED_LN_ERROR 128

/*
 * ln n, rounded down, for n from 1 to 2^63.
 *
 * With n = 2^k x, 1 <= x < 2, and t = (x-1)/(x+1) < 1/3, ln n = k ln 2 +
 * 2 (t + t^3/3 + t^5/5 + ...).  Everything is truncated, so the result is too
 * small, in units of 2^-64 by less than this: t by 1, t^2 by 2, each power by
 * 2 (2/9 + 2/3 + 1 < 2), each of at most 20 terms (3^-41 < 2^-64) by
 * 1 + 2/(2j+1), 25 in all, what follows the last term by 3; twice that is
 * 56; and k ln 2 by 63.
 */
static Fixed
fixed_ln(uint64 n)
{
	int		k = pg_leftmost_one_pos64(n);
	uint64	power_of_two = UINT64CONST(1) << k;
	uint128 t = ((uint128) (n - power_of_two) << FIXED_BITS) / ((uint128) n + power_of_two);
	uint128 square = (t * t) >> FIXED_BITS;
	uint128 sum = 0;

	for (int odd = 1; t > 0; odd += 2)
	{
		sum += t / odd;
		t = (t * square) >> FIXED_BITS;
	}
	return (Fixed) (2 * sum) + (Fixed) k * FIXED_LN2;
}

/* ln(1/d) for d = delta / 2, rounded up. */
static Fixed
ln_inverse_half(double delta)
{
	int	   exponent;
	uint64 mantissa = (uint64) ldexp(frexp(delta, &exponent), DBL_MANT_DIG);

	/* d = mantissa * 2^(exponent - DBL_MANT_DIG - 1), exactly */
	return (Fixed) (DBL_MANT_DIG + 1 - exponent) * ((Fixed) FIXED_LN2 + 1) - fixed_ln(mantissa);
}

/* ln a, rounded down. */
static Fixed
ln_order(RenyiOrder order)
{
	return fixed_ln(order) - (Fixed) RENYI_ORDER_BITS * ((Fixed) FIXED_LN2 + 1);
}

/* ln(a / (a-1)), rounded down. */
static Fixed
ln_order_ratio(RenyiOrder order)
{
	return fixed_ln(order) - fixed_ln(order - RENYI_ORDER_ONE) - FIXED_LN_ERROR;
}

static int128
divide_down(int128 dividend, int128 divisor)
{
	int128 quotient = dividend / divisor;

	return quotient - (dividend % divisor < 0 ? 1 : 0);
}

/* ---------- orders and deltas ---------- */

static bool
order_is_finite(RenyiOrder order)
{
	return order > RENYI_ORDER_ONE && order <= RENYI_ORDER_MAX;
}

bool
renyi_order_is_valid(RenyiOrder order)
{
	return order == RENYI_ORDER_INFINITE || order_is_finite(order);
}

double
renyi_order_to_double(RenyiOrder order)
{
	return order == RENYI_ORDER_INFINITE ? INFINITY : (double) order / RENYI_ORDER_ONE;
}

bool
renyi_delta_is_valid(double delta)
{
	/* Written so that NaN fails. */
	return delta == 0 || (delta >= DBL_MIN && delta < 1);
}

/* ---------- charges ---------- */

#define EPSILON_UNITS_MAX ((EpsilonUnits) EPSILON_MAX * EPSILON_UNITS_PER_ONE)

static bool
epsilon_is_valid(EpsilonUnits epsilon)
{
	return epsilon > 0 && epsilon <= EPSILON_UNITS_MAX;
}

/*
 * The charge is a e^2 / 2 or a e^2 / 8; in units, order * epsilon^2 divided by
 * this.
 */
static uint128
charge_divisor(ChargeShape shape)
{
	return (uint128) (shape == CHARGE_BOUNDED_RANGE ? 8 : 2) * RENYI_ORDER_ONE *
		   EPSILON_UNITS_PER_ONE;
}

EpsilonUnits
renyi_charge(EpsilonUnits epsilon, ChargeShape shape, RenyiOrder order)
{
	uint128 divisor = charge_divisor(shape);
	uint128 product;

	if (!epsilon_is_valid(epsilon) || !renyi_order_is_valid(order))
		return PG_INT64_MAX;
	if (order == RENYI_ORDER_INFINITE)
		return epsilon;

	/* Once the quotient is known to be below epsilon, nothing overflows. */
	product = (uint128) order * epsilon;
	if (product >= divisor)
		return epsilon;
	return (EpsilonUnits) ((product * epsilon + divisor - 1) / divisor);
}

EpsilonUnits
renyi_charge_gaussian(uint64 numerator, uint64 denominator, RenyiOrder order)
{
	uint128 dividend;
	uint128 divisor;
	uint128 whole;
	uint128 units;

	/* Noise without sensitivity or without scale is a mistake, not a gift. */
	if (numerator == 0 || denominator == 0 || !order_is_finite(order))
		return PG_INT64_MAX;
	dividend = (uint128) order * numerator;
	divisor = (uint128) denominator * 2 * RENYI_ORDER_ONE;
	whole = dividend / divisor;
	if (whole > EPSILON_UNITS_MAX / EPSILON_UNITS_PER_ONE)
		return PG_INT64_MAX;
	units = ((dividend % divisor) * EPSILON_UNITS_PER_ONE + divisor - 1) / divisor;
	return (EpsilonUnits) (whole * EPSILON_UNITS_PER_ONE + units);
}

EpsilonUnits
renyi_charge_times(EpsilonUnits charge, int64 answers)
{
	int128 product = (int128) charge * answers;

	if (charge < 0 || answers < 0 || product > PG_INT64_MAX)
		return PG_INT64_MAX;
	return (EpsilonUnits) product;
}

/* ---------- limits ---------- */

/* What conversion costs, where that exceeds every budget. */
#define HOPELESS PG_INT64_MIN

/*
 * R(a) - epsilon in units, rounded down: what conversion leaves or, as a rule,
 * takes away.
 */
static EpsilonUnits
conversion(double delta, RenyiOrder order)
{
	Fixed numerator = ln_inverse_half(delta) - ln_order(order);
	Fixed difference;

	difference =
		ln_order_ratio(order) + divide_down(-numerator * RENYI_ORDER_ONE, order - RENYI_ORDER_ONE);
	if (difference < -((Fixed) (2 * EPSILON_MAX) << FIXED_BITS))
		return HOPELESS;
	return (EpsilonUnits) divide_down(difference * EPSILON_UNITS_PER_ONE, (Fixed) 1 << FIXED_BITS);
}

/* At finite orders there is nothing to convert with unless delta is positive. */
static bool
is_convertible(double delta, RenyiOrder order)
{
	return renyi_delta_is_valid(delta) && delta > 0 && order_is_finite(order);
}

EpsilonUnits
renyi_limit(EpsilonUnits epsilon, double delta, RenyiOrder order)
{
	if (!epsilon_is_valid(epsilon) || !renyi_delta_is_valid(delta))
		return 0;
	if (order == RENYI_ORDER_INFINITE)
		return epsilon;
	if (!is_convertible(delta, order))
		return 0;
	/* One is positive and at most EPSILON_UNITS_MAX: no overflow. */
	return Max(epsilon + conversion(delta, order), 0);
}

/*
 * The proposition holds for every real epsilon: if the divergence is at most
 * spent, then P(O) <= e^x Q(O) + d with x = spent - conversion.  A negative x
 * (at orders around 1/d) gives P(O) <= Q(O) + d all the more, so reporting 0
 * is sound.  As limit = epsilon + conversion in the same integers, spent <=
 * limit gives x <= epsilon exactly.
 *
 * Already the first answer costs x >= -conversion, about half of epsilon at
 * the best order: that is what its order and delta can prove.  The figure
 * says where an account stands; the guarantee to quote is the grant, because
 * when an analyst stops may depend on the answers.
 */
EpsilonUnits
renyi_to_epsilon(EpsilonUnits spent, double delta, RenyiOrder order)
{
	int128 epsilon;

	if (spent <= 0)
		return 0;
	if (order == RENYI_ORDER_INFINITE)
		return spent;
	if (!is_convertible(delta, order))
		return PG_INT64_MAX;
	epsilon = (int128) spent - conversion(delta, order);
	return (EpsilonUnits) Max(Min(epsilon, PG_INT64_MAX), 0);
}

int64
renyi_answers(EpsilonUnits limit, EpsilonUnits spent, EpsilonUnits charge)
{
	if (charge <= 0 || charge == PG_INT64_MAX || spent < 0 || limit <= spent)
		return 0;
	return (limit - spent) / charge;
}

/*
 * Rényi divergence does not decrease with the order (van Erven, Harremoës
 * 2014, Theorem 3), so a bound at one order holds at every lower one; from
 * infinity too, whose charges are bounds on the largest privacy loss.  A bound
 * at a lower order says nothing about a higher one: the rare large losses that
 * it tolerates may be unbounded.  What was spent does not depend on delta, so
 * a change of delta alone moves the limit and nothing else.
 */
bool
renyi_carry(EpsilonUnits spent, RenyiOrder from, RenyiOrder to, EpsilonUnits *carried)
{
	if (!renyi_order_is_valid(from) || !renyi_order_is_valid(to) || spent < 0)
		return false;
	if (to > from && spent > 0)
		return false;
	*carried = spent;
	return true;
}

/* ---------- choosing an order ---------- */

static void
make_plan(const RenyiGrant *grant, EpsilonUnits spent, RenyiOrder order, RenyiPlan *plan)
{
	const Charge *charge = order == RENYI_ORDER_INFINITE ? &grant->infinite : &grant->finite;

	plan->order = order;
	plan->limit = renyi_limit(grant->epsilon, grant->delta, order);
	plan->charge = charge_units(charge, order);
	plan->answers = renyi_answers(plan->limit, spent, plan->charge);
}

/* Does it leave more room than the other, fractions of a purchase included? */
static bool
has_more_room(const RenyiPlan *plan, const RenyiPlan *than, EpsilonUnits spent)
{
	return (int128) (plan->limit - spent) * than->charge >
		   (int128) (than->limit - spent) * plan->charge;
}

static void
consider(const RenyiGrant *grant, EpsilonUnits spent, RenyiOrder order, RenyiPlan *best)
{
	RenyiPlan plan;
	bool	  better;

	make_plan(grant, spent, order, &plan);
	if (grant->once || charge_units(&grant->infinite, RENYI_ORDER_INFINITE) == PG_INT64_MAX)
		better = has_more_room(&plan, best, spent);
	else if (plan.answers != best->answers)
		better = plan.answers > best->answers;
	else
		better = plan.answers > 0 && best->order != RENYI_ORDER_INFINITE &&
				 has_more_room(&plan, best, spent);
	if (better)
		*best = plan;
}

/* Candidates are tried this far to both sides, against rounding. */
#define NEIGHBOURS 8

static void
consider_around(const RenyiGrant *grant, EpsilonUnits spent, RenyiOrder order, RenyiOrder highest,
				RenyiPlan *best)
{
	RenyiOrder last = Min(order + NEIGHBOURS, highest);

	for (order = Max(order - NEIGHBOURS, RENYI_ORDER_ONE + 1); order <= last; order++)
		consider(grant, spent, order, best);
}

/*
 * Small charges are few units, so that it matters where they are rounded: tries
 * the largest order of each charge near that of the given order.
 */
static void
consider_charges(const RenyiGrant *grant, EpsilonUnits spent, const ChargePart *part,
				 RenyiOrder order, RenyiOrder highest, RenyiPlan *best)
{
	EpsilonUnits charge = renyi_charge(part->epsilon, part->shape, order);
	EpsilonUnits last = Min(charge + NEIGHBOURS, part->epsilon - 1);
	uint128		 square = (uint128) part->epsilon * part->epsilon;

	for (charge = Max(charge - NEIGHBOURS, 1); charge <= last; charge++)
	{
		uint128 largest = charge * charge_divisor(part->shape) / square;

		if (largest > RENYI_ORDER_ONE)
			consider(grant, spent, (RenyiOrder) Min(largest, (uint128) highest), best);
	}
}

/*
 * A charge is a straight line of the order, up to the order where one of its
 * parts reaches its epsilon and after that goes on without it.
 */
typedef struct ChargeLine
{
	double	   constant; /* parts that have reached their epsilon */
	double	   slope;
	RenyiOrder ends; /* the last order, or RENYI_ORDER_MAX */
} ChargeLine;

/* The line at an order. */
static ChargeLine
charge_line(const Charge *charge, RenyiOrder order)
{
	ChargeLine line = {.ends = RENYI_ORDER_MAX};

	for (int i = 0; i < CHARGE_PARTS; i++)
	{
		const ChargePart *part = &charge->part[i];
		double			  epsilon = (double) part->epsilon / EPSILON_UNITS_PER_ONE;
		uint128			  full;

		if (part->times == 0)
			continue;
		if (part->shape == CHARGE_GAUSSIAN)
		{
			line.slope += part->times * ((double) part->numerator / part->denominator) / 2;
			continue;
		}
		full = charge_divisor(part->shape) / part->epsilon;
		if (full < (uint128) order)
			line.constant += part->times * epsilon;
		else
		{
			line.slope +=
				part->times * epsilon * epsilon / (part->shape == CHARGE_BOUNDED_RANGE ? 8 : 2);
			line.ends = (RenyiOrder) Min((uint128) line.ends, full);
		}
	}
	return line;
}

/*
 * The order between low and high where (R(a) - spent) / (c + m a) is largest.
 * Its derivative has the sign of
 *
 *		R'(a) (c / m + a) - (R(a) - spent),  R'(a) = (ln(1/d) - ln a) / (a - 1)^2
 *
 * While a < 1/d, R' falls, and so the derivative of that, R''(a) (c / m + a),
 * is negative: bisection finds the place.  The floats here only propose.
 */
static RenyiOrder
best_order(const RenyiGrant *grant, EpsilonUnits spent, const ChargeLine *line, RenyiOrder low,
		   RenyiOrder high)
{
	const double one = ldexp(1, FIXED_BITS);
	double		 epsilon = (double) (grant->epsilon - spent) / EPSILON_UNITS_PER_ONE;
	Fixed		 inverse = ln_inverse_half(grant->delta);

	while (low < high)
	{
		RenyiOrder middle = low + (high - low) / 2;
		double	   above_one = (double) (middle - RENYI_ORDER_ONE) / RENYI_ORDER_ONE;
		double	   logs = (double) (inverse - ln_order(middle)) / one;
		double	   slope;

		/* R' (c/m + a) - R, where R has the logarithms over a - 1, too */
		slope =
			logs * (line->constant / line->slope + 2 * above_one + 1) / (above_one * above_one) -
			(double) ln_order_ratio(middle) / one - epsilon;
		if (slope > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * R rises until a = 1/d and falls after it, so that the best order is the best
 * of one of the charge's lines, 1/d, or infinity.
 */
bool
renyi_choose(const RenyiGrant *grant, EpsilonUnits spent, RenyiOrder highest, RenyiPlan *plan)
{
	RenyiOrder last = Min(highest, RENYI_ORDER_MAX);
	RenyiOrder peak = last;
	ChargeLine line;

	if (!epsilon_is_valid(grant->epsilon) || !charge_is_valid(&grant->finite) ||
		!renyi_delta_is_valid(grant->delta) || !renyi_order_is_valid(highest) || spent < 0 ||
		(grant->delta == 0 && highest != RENYI_ORDER_INFINITE))
		return false;
	make_plan(grant, spent, highest, plan);
	if (grant->delta == 0)
		return true;

	if (2 / grant->delta < (double) last / RENYI_ORDER_ONE)
		peak = (RenyiOrder) (2 / grant->delta * RENYI_ORDER_ONE);
	for (RenyiOrder order = RENYI_ORDER_ONE + 1; order <= peak; order = line.ends + 1)
	{
		RenyiOrder best;

		line = charge_line(&grant->finite, order);
		if (line.slope == 0)
			break; /* where R is largest: at the peak */
		best = best_order(grant, spent, &line, order, Min(line.ends, peak));
		consider_around(grant, spent, best, last, plan);
		for (int i = 0; i < CHARGE_PARTS; i++)
			if (grant->finite.part[i].times > 0 && grant->finite.part[i].shape != CHARGE_GAUSSIAN)
				consider_charges(grant, spent, &grant->finite.part[i], best, peak, plan);
	}
	consider_around(grant, spent, peak, last, plan);
	return true;
}

static EpsilonUnits
per_answer_of(const RenyiGrant *grant)
{
	return grant->finite.part[0].epsilon;
}

static void
set_per_answer(RenyiGrant *grant, EpsilonUnits epsilon)
{
	grant->finite.part[0].epsilon = grant->infinite.part[0].epsilon = epsilon;
}

/*
 * A finite order that charges the plain epsilon gains no more than
 * -ln(1 - d), by way of the limit, and loses the better draws of the infinite
 * order.  Not worth it: 1 for one answer, rather than 1.0000003.
 */
static void
prefer_plain(RenyiGrant *grant, int64 answers, EpsilonUnits step, EpsilonUnits maximum,
			 RenyiPlan *plan)
{
	EpsilonUnits plain = Min(grant->epsilon / answers, maximum) / step * step;

	if (plan->order == RENYI_ORDER_INFINITE || plan->charge < per_answer_of(grant) || plain == 0)
		return;
	set_per_answer(grant, plain);
	make_plan(grant, 0, RENYI_ORDER_INFINITE, plan);
}

bool
renyi_per_answer(RenyiGrant *grant, int64 answers, EpsilonUnits step, EpsilonUnits maximum,
				 RenyiPlan *plan)
{
	int64	  low = 1;
	int64	  high = maximum / step;
	RenyiPlan tried;

	set_per_answer(grant, step);
	if (!renyi_choose(grant, 0, RENYI_ORDER_INFINITE, plan) || plan->answers < answers)
		return false;
	while (low < high)
	{
		int64 middle = low + (high - low + 1) / 2;

		set_per_answer(grant, middle * step);
		if (renyi_choose(grant, 0, RENYI_ORDER_INFINITE, &tried) && tried.answers >= answers)
		{
			low = middle;
			*plan = tried;
		}
		else
			high = middle - 1;
	}
	set_per_answer(grant, low * step);
	prefer_plain(grant, answers, step, maximum, plan);
	return true;
}
