/*
 * renyi.c
 *		Accounts of a fixed Rényi order: limits and charges.
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

#include "account/renyi_parts.h"

/* ---------- logarithms: fixed point, 64 bits after the point ---------- */

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

Fixed
renyi_ln_inverse_half(double delta)
{
	int	   exponent;
	uint64 mantissa = (uint64) ldexp(frexp(delta, &exponent), DBL_MANT_DIG);

	/* d = mantissa * 2^(exponent - DBL_MANT_DIG - 1), exactly */
	return (Fixed) (DBL_MANT_DIG + 1 - exponent) * ((Fixed) FIXED_LN2 + 1) - fixed_ln(mantissa);
}

Fixed
renyi_ln_order(RenyiOrder order)
{
	return fixed_ln(order) - (Fixed) RENYI_ORDER_BITS * ((Fixed) FIXED_LN2 + 1);
}

Fixed
renyi_ln_order_ratio(RenyiOrder order)
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

bool
renyi_epsilon_is_valid(EpsilonUnits epsilon)
{
	return epsilon > 0 && epsilon <= EPSILON_UNITS_MAX;
}

uint128
renyi_charge_divisor(ChargeShape shape)
{
	return (uint128) (shape == CHARGE_BOUNDED_RANGE ? 8 : 2) * RENYI_ORDER_ONE *
		   EPSILON_UNITS_PER_ONE;
}

EpsilonUnits
renyi_charge(EpsilonUnits epsilon, ChargeShape shape, RenyiOrder order)
{
	uint128 divisor = renyi_charge_divisor(shape);
	uint128 product;

	if (!renyi_epsilon_is_valid(epsilon) || !renyi_order_is_valid(order))
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

/* R(a) - epsilon in units, rounded down: what conversion leaves or, as a rule, takes away. */
static EpsilonUnits
conversion(double delta, RenyiOrder order)
{
	Fixed numerator = renyi_ln_inverse_half(delta) - renyi_ln_order(order);
	Fixed difference;

	difference = renyi_ln_order_ratio(order) +
				 divide_down(-numerator * RENYI_ORDER_ONE, order - RENYI_ORDER_ONE);
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
	if (!renyi_epsilon_is_valid(epsilon) || !renyi_delta_is_valid(delta))
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
