/*
 * order.c
 *		Choosing the Rényi order of an account.
 */
#include "c.h"

#include <math.h>

#include "account/renyi_parts.h"

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
		uint128 largest = charge * renyi_charge_divisor(part->shape) / square;

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
		full = renyi_charge_divisor(part->shape) / part->epsilon;
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
	Fixed		 inverse = renyi_ln_inverse_half(grant->delta);

	while (low < high)
	{
		RenyiOrder middle = low + (high - low) / 2;
		double	   above_one = (double) (middle - RENYI_ORDER_ONE) / RENYI_ORDER_ONE;
		double	   logs = (double) (inverse - renyi_ln_order(middle)) / one;
		double	   slope;

		/* R' (c/m + a) - R, where R has the logarithms over a - 1, too */
		slope =
			logs * (line->constant / line->slope + 2 * above_one + 1) / (above_one * above_one) -
			(double) renyi_ln_order_ratio(middle) / one - epsilon;
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

	if (!renyi_epsilon_is_valid(grant->epsilon) || !charge_is_valid(&grant->finite) ||
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

	if (plan->order == RENYI_ORDER_INFINITE || plan->charge < grant->finite.part[0].epsilon ||
		plain == 0)
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
