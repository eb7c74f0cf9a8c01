/*
 * test_renyi.c
 *		Rényi accounts against the formulas they come from.
 *
 * sources: src/account/renyi.c src/account/order.c src/account/charge.c src/account/accountant.c
 * sources: src/draw/rng.c
 */
#include "c.h"

#include <float.h>
#include <math.h>

#include "account/charge.h"
#include "account/renyi.h"
#include "draw/sampler.h"
#include "unit.h"

#define ONE ((long double) EPSILON_UNITS_PER_ONE)
#define INFINITE RENYI_ORDER_INFINITE

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rintl((long double) epsilon * ONE);
}

static RenyiOrder
order_of(double a)
{
	return (RenyiOrder) rint(a * RENYI_ORDER_ONE);
}

/* Logarithmically uniform between 10^low and 10^high. */
static double
random_magnitude(double low, double high)
{
	return pow(10, low + (high - low) * (sample_uint64() >> 11) * 0x1p-53);
}

static RenyiOrder
random_order(void)
{
	RenyiOrder order = RENYI_ORDER_ONE + (RenyiOrder) random_magnitude(0, 12.05);

	return Min(order, RENYI_ORDER_MAX);
}

/* ---------- the formulas, in long double ---------- */

/* R(a) - epsilon */
static long double
reference_conversion(double delta, RenyiOrder order)
{
	long double above_one = (long double) (order - RENYI_ORDER_ONE) / RENYI_ORDER_ONE;

	return log1pl(1 / above_one) + (logl((long double) delta / 2) + log1pl(above_one)) / above_one;
}

static long double
reference_limit(long double epsilon, double delta, RenyiOrder order)
{
	return order == INFINITE ? epsilon : epsilon + reference_conversion(delta, order);
}

static long double
reference_charge(long double epsilon, ChargeShape shape, RenyiOrder order)
{
	long double a = (long double) order / RENYI_ORDER_ONE;

	if (order == INFINITE)
		return epsilon;
	return fminl(epsilon, a * epsilon * epsilon / (shape == CHARGE_BOUNDED_RANGE ? 8 : 2));
}

/* What long double may get wrong, in epsilon. */
static long double
reference_error(long double value)
{
	return 16 * LDBL_EPSILON * (1 + fabsl(value));
}

/* ---------- grid ---------- */

static const double epsilons[] = {1e-9, 1e-4, 0.1, 0.5, 1, 3, 10, 1000, 1e6};
static const double deltas[] = {
	2.2250738585072014e-308, 1e-300, 1e-20, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.999};
static const double per_answers[] = {1e-9, 1e-5, 0.001, 0.01, 0.1, 0.5, 1, 2, 10, 100};

static Charge
one_draw(EpsilonUnits epsilon, ChargeShape shape)
{
	Charge charge = {0};

	charge.part[0].shape = shape;
	charge.part[0].times = 1;
	charge.part[0].epsilon = epsilon;
	return charge;
}

static RenyiGrant
grant_of(EpsilonUnits epsilon, double delta, EpsilonUnits per_answer, ChargeShape finite)
{
	RenyiGrant grant = {.epsilon = epsilon, .delta = delta};

	grant.finite = one_draw(per_answer, finite);
	grant.infinite = one_draw(per_answer, CHARGE_PURE);
	return grant;
}

static RenyiPlan
choose_plan(double epsilon, double delta, double per_answer, ChargeShape finite)
{
	RenyiGrant grant = grant_of(units_of(epsilon), delta, units_of(per_answer), finite);
	RenyiPlan  plan = {0};

	if (!renyi_choose(&grant, 0, INFINITE, &plan))
		plan.answers = -1;
	return plan;
}

static void
test_limits(void)
{
	long double worst = 0;
	bool		generous = false;
	bool		inverse = true;

	for (int i = 0; i < 200000; i++)
	{
		EpsilonUnits epsilon = units_of(random_magnitude(-9, 6));
		double		 delta = random_magnitude(-307, -0.0005);
		RenyiOrder	 order = random_order();
		EpsilonUnits limit = renyi_limit(epsilon, delta, order);
		long double	 conversion = reference_conversion(delta, order);
		long double	 expected = epsilon + conversion * ONE;

		if (limit > fmaxl(0, expected + reference_error(conversion) * ONE))
			generous = true;
		worst = fmaxl(worst, fmaxl(0, expected) - limit);
		if (limit > 0)
			inverse = inverse && renyi_to_epsilon(limit, delta, order) <= epsilon &&
					  renyi_to_epsilon(limit + 1, delta, order) > epsilon;
		inverse = inverse && renyi_to_epsilon(0, delta, order) == 0 &&
				  renyi_to_epsilon(1, delta, order) >=
					  fminl(PG_INT64_MAX, 1 - (conversion + reference_error(conversion)) * ONE);
	}
	ok(!generous, "no limit is above the formula");
	ok(worst < 1e-9L * ONE, "limits are within 10^-9 of the formula (%.1f units)", (double) worst);
	ok(inverse, "the limit is the most that converts to no more than the grant");
}

/* Computed with 80 decimal digits; rounded down. */
static void
test_known_limits(void)
{
	static const struct
	{
		EpsilonUnits epsilon;
		double		 delta;
		RenyiOrder	 order;
		EpsilonUnits limit;
	} known[] = {
		{INT64CONST(1000000000000), 1e-06, INT64CONST(24386271), INT64CONST(533446112623)},
		{INT64CONST(1000000000000), 1e-06, INT64CONST(16777216), INT64CONST(282133920051)},
		{INT64CONST(5000000000000), 1e-06, INT64CONST(6662088), INT64CONST(2806495555016)},
		{INT64CONST(1000000000000000000), 1e-06, INT64CONST(1053576),
		 INT64CONST(996963662071458867)},
		{INT64CONST(1000000000000000000), 1e-300, INT64CONST(1049476),
		 INT64CONST(194388663822989521)},
		{INT64CONST(1000000000000000000), 2.2250738585072014e-308, INT64CONST(1099511627776),
		 INT64CONST(999999999337933268)},
		{INT64CONST(1000000000000), 0.5, INT64CONST(2223659), INT64CONST(1071558731228)},
		{INT64CONST(1000000000000), 0.999, INT64CONST(2097153), INT64CONST(1692146681180)},
		{INT64CONST(10000000), 1e-06, INT64CONST(1099511627776), INT64CONST(10337873)},
		{INT64CONST(3000000000000), 0.001, INT64CONST(3145728), INT64CONST(154320022671)},
		{INT64CONST(10000000000000), 1e-20, INT64CONST(31457280), INT64CONST(8539292873786)},
	};

	for (int i = 0; i < lengthof(known); i++)
	{
		EpsilonUnits limit = renyi_limit(known[i].epsilon, known[i].delta, known[i].order);

		ok(limit <= known[i].limit && limit >= known[i].limit - 8,
		   "limit at delta %g, order %.9g: " INT64_FORMAT ", known to be " INT64_FORMAT,
		   known[i].delta, renyi_order_to_double(known[i].order), limit, known[i].limit);
	}
}

static void
test_unusable(void)
{
	EpsilonUnits one = EPSILON_UNITS_PER_ONE;
	RenyiPlan	 plan;
	RenyiGrant	 grant = grant_of(one, 0, one / 10, CHARGE_BOUNDED_RANGE);

	ok(renyi_limit(one, 1e-6, INFINITE) == one && renyi_limit(one, 0, INFINITE) == one,
	   "the limit at the infinite order is epsilon");
	ok(renyi_limit(one, 0, order_of(2)) == 0, "no finite order without a delta");
	ok(renyi_limit(one, 1e-6, order_of(1.5)) == 0,
	   "an order that conversion exhausts is of no use");
	ok(renyi_limit(one, 1e-6, RENYI_ORDER_ONE) == 0 && renyi_limit(one, 1e-6, 0) == 0 &&
		   renyi_limit(one, 1e-6, RENYI_ORDER_MAX + 1) == 0 && renyi_limit(one, 1e-6, -5) == 0,
	   "no limit at orders out of range");
	ok(renyi_limit(one, NAN, order_of(2)) == 0 && renyi_limit(one, 1, order_of(2)) == 0 &&
		   renyi_limit(one, -0.1, INFINITE) == 0 && renyi_limit(one, 1e-310, order_of(2)) == 0,
	   "no limit for deltas out of range");
	ok(renyi_limit(0, 0.1, INFINITE) == 0 && renyi_limit(-1, 0.1, order_of(9)) == 0 &&
		   renyi_limit(PG_INT64_MAX, 0.1, order_of(9)) == 0,
	   "no limit for epsilons out of range");
	ok(renyi_to_epsilon(5, 0, order_of(2)) == PG_INT64_MAX &&
		   renyi_to_epsilon(PG_INT64_MAX, 1e-6, order_of(2)) == PG_INT64_MAX &&
		   renyi_to_epsilon(5, 0, INFINITE) == 5,
	   "conversion saturates");
	ok(renyi_delta_is_valid(0) && renyi_delta_is_valid(-0.0) && renyi_delta_is_valid(DBL_MIN) &&
		   renyi_delta_is_valid(nextafter(1, 0)) && !renyi_delta_is_valid(nextafter(DBL_MIN, 0)) &&
		   !renyi_delta_is_valid(1) && !renyi_delta_is_valid(NAN) &&
		   !renyi_delta_is_valid(-DBL_MIN) && !renyi_delta_is_valid(INFINITY),
	   "deltas are 0 or normal and below 1");
	ok(renyi_choose(&grant, 0, INFINITE, &plan) && plan.order == INFINITE && plan.answers == 10,
	   "a pure grant has the infinite order");
	ok(!renyi_choose(&grant, 1, order_of(2), &plan), "and no finite one");
	grant.finite.part[0].epsilon = 0;
	ok(!renyi_choose(&grant, 0, INFINITE, &plan), "no order for a free answer");
}

/* ---------- charges ---------- */

static void
test_charges(void)
{
	bool right = true;
	bool gaussian = true;

	for (int i = 0; i < 200000; i++)
	{
		EpsilonUnits epsilon = units_of(random_magnitude(-9, 2));
		RenyiOrder	 order = random_order();
		ChargeShape	 shape = i % 2 ? CHARGE_PURE : CHARGE_BOUNDED_RANGE;
		EpsilonUnits charge = renyi_charge(epsilon, shape, order);
		long double	 expected = reference_charge(epsilon / ONE, shape, order) * ONE;
		uint64		 sensitivity = 1 + (uint64) random_magnitude(0, 15);
		uint64		 noise = 1 + (uint64) random_magnitude(0, 18);
		long double	 ratio = (long double) sensitivity / noise;

		right = right && charge >= expected * (1 - 1e-15L) &&
				charge <= expected * (1 + 1e-15L) + 1 && charge > 0 && charge <= epsilon;
		expected = ratio * order / RENYI_ORDER_ONE / 2 * ONE;
		charge = renyi_charge_gaussian(sensitivity, noise, order);
		if (expected > 1e6L * ONE)
			gaussian = gaussian && charge >= fminl(PG_INT64_MAX, expected * (1 - 1e-15L));
		else
			gaussian = gaussian && charge >= expected * (1 - 1e-15L) &&
					   charge <= expected * (1 + 1e-15L) + 1;
	}
	ok(right, "charges are the formula's, rounded up to the unit");
	ok(gaussian, "and so are those of Gaussian noise");
}

static void
test_exact_charges(void)
{
	EpsilonUnits one = EPSILON_UNITS_PER_ONE;

	ok(renyi_charge(one / 10, CHARGE_BOUNDED_RANGE, order_of(8)) == one / 100 &&
		   renyi_charge(one / 10, CHARGE_PURE, order_of(8)) == one / 25,
	   "a e^2 / 8 and a e^2 / 2, exactly");
	ok(renyi_charge(one / 10, CHARGE_BOUNDED_RANGE, order_of(8) + 1) > one / 100, "rounded up");
	ok(renyi_charge(1, CHARGE_BOUNDED_RANGE, RENYI_ORDER_ONE + 1) == 1, "no charge is zero");
	ok(renyi_charge(one, CHARGE_BOUNDED_RANGE, order_of(8)) == one &&
		   renyi_charge(one, CHARGE_BOUNDED_RANGE, order_of(9)) == one &&
		   renyi_charge(100 * one, CHARGE_PURE, RENYI_ORDER_MAX) == 100 * one &&
		   renyi_charge(1000000 * one, CHARGE_PURE, RENYI_ORDER_ONE + 1) == 1000000 * one &&
		   renyi_charge(one, CHARGE_BOUNDED_RANGE, INFINITE) == one,
	   "no charge is above epsilon");
	ok(renyi_charge(0, CHARGE_PURE, INFINITE) == PG_INT64_MAX &&
		   renyi_charge(-1, CHARGE_PURE, order_of(2)) == PG_INT64_MAX &&
		   renyi_charge(PG_INT64_MAX, CHARGE_PURE, order_of(2)) == PG_INT64_MAX &&
		   renyi_charge(one, CHARGE_PURE, RENYI_ORDER_ONE) == PG_INT64_MAX &&
		   renyi_charge(one, CHARGE_PURE, 0) == PG_INT64_MAX,
	   "what is out of range fits nowhere");
	ok(renyi_charge_gaussian(2, 100, order_of(10)) == one / 10 &&
		   renyi_charge_gaussian(1, 3, order_of(2)) == (one + 2) / 3,
	   "a D^2 / (2 sigma^2), rounded up");
	ok(renyi_charge_gaussian(1, 1, INFINITE) == PG_INT64_MAX &&
		   renyi_charge_gaussian(0, 1, order_of(2)) == PG_INT64_MAX &&
		   renyi_charge_gaussian(1, 0, order_of(2)) == PG_INT64_MAX &&
		   renyi_charge_gaussian(PG_UINT64_MAX, 1, RENYI_ORDER_MAX) == PG_INT64_MAX &&
		   renyi_charge_gaussian(1, PG_UINT64_MAX, RENYI_ORDER_ONE + 1) == 1,
	   "Gaussian noise at the ends of its range");
	ok(renyi_charge_times(3, 4) == 12 && renyi_charge_times(PG_INT64_MAX, 2) == PG_INT64_MAX &&
		   renyi_charge_times(PG_INT64_MAX, PG_INT64_MAX) == PG_INT64_MAX &&
		   renyi_charge_times(-1, 2) == PG_INT64_MAX && renyi_charge_times(1, -2) == PG_INT64_MAX &&
		   renyi_charge_times(7, 0) == 0,
	   "multiples saturate");
	ok(renyi_answers(10, 0, 3) == 3 && renyi_answers(10, 10, 3) == 0 &&
		   renyi_answers(10, 12, 3) == 0 && renyi_answers(10, 0, 0) == 0 &&
		   renyi_answers(10, -5, 3) == 0 && renyi_answers(10, 0, PG_INT64_MAX) == 0 &&
		   renyi_answers(PG_INT64_MAX, 0, PG_INT64_MAX) == 0,
	   "answers that fit");
}

/* ---------- the choice of the order ---------- */

/* The most answers of any order on a grid of 8,000, by the formulas alone. */
static long double
most_answers(double epsilon, double delta, double per_answer, ChargeShape finite)
{
	long double most = (long double) units_of(epsilon) / units_of(per_answer);

	for (int i = 0; i < 8000; i++)
	{
		RenyiOrder	order = RENYI_ORDER_ONE + 1 + (RenyiOrder) exp2(i * 0.005);
		long double limit;
		long double charge;

		if (order > RENYI_ORDER_MAX)
			break;
		limit = reference_limit(epsilon, delta, order) * ONE;
		charge = ceill(reference_charge(per_answer, finite, order) * ONE * (1 - 1e-17L));
		most = fmaxl(most, limit / charge);
	}
	return most;
}

/*
 * The reference's limit is not rounded down, so that it may be ahead by the
 * few units of rounding, spread over the answers.
 */
static void
test_choice(void)
{
	int poor = 0;
	int generous = 0;
	int checked = 0;

	for (int i = 0; i < lengthof(epsilons) * lengthof(deltas) * lengthof(per_answers) * 2; i++)
	{
		double		epsilon = epsilons[i / 2 % lengthof(epsilons)];
		double		delta = deltas[i / 2 / lengthof(epsilons) % lengthof(deltas)];
		double		per_answer = per_answers[i / 2 / lengthof(epsilons) / lengthof(deltas)];
		ChargeShape finite = i % 2 ? CHARGE_PURE : CHARGE_BOUNDED_RANGE;
		RenyiPlan	plan = choose_plan(epsilon, delta, per_answer, finite);
		long double most = most_answers(epsilon, delta, per_answer, finite);
		long double own;

		own = (reference_limit(units_of(epsilon) / ONE, delta, plan.order) +
			   reference_error(epsilon)) /
			  reference_charge(units_of(per_answer) / ONE, finite, plan.order);
		checked++;
		if (plan.answers < floorl(most * (1 - 1e-9L)) - 8 / plan.charge)
		{
			note("(%g, %g) at %g: " INT64_FORMAT " answers at order %.9g, possible: %.1f", epsilon,
				 delta, per_answer, plan.answers, renyi_order_to_double(plan.order), (double) most);
			poor++;
		}
		if (plan.answers > own || plan.answers < (units_of(epsilon) / units_of(per_answer)))
			generous++;
	}
	ok(poor == 0, "no order on a dense grid buys more answers (%d grants, %d poor)", checked, poor);
	ok(generous == 0, "no choice gives more answers than its own order has, or less than a sum");
}

static Charge
random_charge(void)
{
	Charge charge = {0};

	for (int i = 0; i < CHARGE_PARTS; i++)
	{
		ChargePart *part = &charge.part[i];

		part->times = i > 0 && sample_uint64() % 2 ? 0 : 1 + (int64) random_magnitude(0, 3);
		part->shape = (ChargeShape) (sample_uint64() % 3);
		if (part->times == 0)
			continue;
		if (part->shape == CHARGE_GAUSSIAN)
		{
			part->numerator = 1 + (uint64) random_magnitude(0, 6);
			part->denominator = 1 + (uint64) random_magnitude(0, 6);
		}
		else
			part->epsilon = units_of(random_magnitude(-4, 0));
	}
	return charge;
}

/* The ratio of limit and charge, on a grid; tiny charges are test_choice()'s. */
static void
test_choice_in_general(void)
{
	int poor = 0;

	for (int i = 0; i < 1000; i++)
	{
		RenyiGrant	grant = {.epsilon = units_of(random_magnitude(-1, 1)), .once = i % 2 == 0};
		RenyiPlan	plan;
		long double most = 0;
		long double had;

		grant.delta = random_magnitude(-12, -0.5);
		grant.finite = random_charge();
		if (!renyi_choose(&grant, 0, INFINITE, &plan))
		{
			poor++;
			continue;
		}
		for (int j = 0; j < 1000; j++)
		{
			RenyiOrder order =
				Min(RENYI_ORDER_ONE + 1 + (RenyiOrder) exp2(j * 0.04), RENYI_ORDER_MAX);

			most = fmaxl(most, reference_limit(grant.epsilon / ONE, grant.delta, order) * ONE /
								   charge_units(&grant.finite, order));
		}
		had = (long double) plan.limit / plan.charge;
		if (most > 1e-3L && (had < most * (1 - 1e-4L) - 1e-9L || plan.order == INFINITE))
		{
			note("(%g, %g): %.9g at order %.9g, possible: %.9g", (double) (grant.epsilon / ONE),
				 grant.delta, (double) had, renyi_order_to_double(plan.order), (double) most);
			poor++;
		}
	}
	ok(poor == 0, "no order on a dense grid is better for charges of several draws (%d poor)",
	   poor);
}

/* A release fits about once at any order: which leaves most room? */
static void
test_choice_once(void)
{
	RenyiGrant grant = grant_of(units_of(1), 1e-6, units_of(0.3), CHARGE_BOUNDED_RANGE);
	RenyiPlan  many;
	RenyiPlan  once;

	grant.finite.part[0].times = grant.infinite.part[0].times = 3;
	renyi_choose(&grant, 0, INFINITE, &many);
	grant.once = true;
	renyi_choose(&grant, 0, INFINITE, &once);
	ok(many.order == INFINITE && many.answers == 1, "a tie goes to infinity for answers");
	ok(once.order != INFINITE && once.answers == 1 &&
		   (long double) once.limit / once.charge > (long double) many.limit / many.charge,
	   "but to the order with most room for what is bought once");
	grant = grant_of(units_of(1), 0, units_of(0.3), CHARGE_BOUNDED_RANGE);
	memset(&grant.infinite, 0, sizeof(Charge));
	ok(renyi_choose(&grant, 0, INFINITE, &once) && once.order == INFINITE && once.answers == 0,
	   "without delta there is the infinite order even for what it cannot pay for");
}

static void
test_headline(void)
{
	RenyiPlan	  plan = choose_plan(1, 1e-6, 0.01, CHARGE_BOUNDED_RANGE);
	RenyiGrant	  grant = grant_of(units_of(1), 1e-6, 0, CHARGE_BOUNDED_RANGE);
	EpsilonUnits *per_answer = &grant.finite.part[0].epsilon;

	ok(plan.answers > 1000, "(1, 1e-6) at 0.01 buys " INT64_FORMAT " answers instead of 100",
	   plan.answers);
	ok(choose_plan(1, 1e-6, 0.5, CHARGE_BOUNDED_RANGE).order == INFINITE, "ties go to infinity");
	ok(choose_plan(0.1, 1e-6, 0.5, CHARGE_BOUNDED_RANGE).order == INFINITE,
	   "so do budgets that buy nothing");
	plan = choose_plan(1, 0.5, 1.2, CHARGE_PURE);
	ok(plan.answers == 1 && plan.order != INFINITE && plan.charge == units_of(1.2),
	   "where delta is large, the limit alone can make the difference");
	ok(renyi_per_answer(&grant, 1000, 1000, units_of(100), &plan) && plan.answers >= 1000 &&
		   *per_answer % 1000 == 0,
	   "1000 answers can be had");
	note("for %.9g each", (double) (*per_answer / ONE));
	*per_answer += 1000;
	ok(renyi_choose(&grant, 0, INFINITE, &plan) && plan.answers < 1000, "but not for more");
	ok(renyi_per_answer(&grant, 1, 1000, units_of(100), &plan) && *per_answer == units_of(1) &&
		   plan.order == INFINITE,
	   "one answer costs the budget");
	ok(!renyi_per_answer(&grant, PG_INT64_MAX, 1000, units_of(100), &plan) && plan.answers > 0,
	   "not any number of answers can be had");
}

static void
test_monotone(void)
{
	int64 before = 0;
	bool  rises = true;

	for (int i = 1; i <= 400; i++)
	{
		int64 answers = choose_plan(i * 0.025, 1e-6, 0.03, CHARGE_BOUNDED_RANGE).answers;

		rises = rises && answers >= before;
		before = answers;
	}
	ok(rises, "more epsilon buys no fewer answers");
	before = 0;
	for (int i = -307; i < 0; i++)
	{
		int64 answers = choose_plan(2, pow(10, i), 0.03, CHARGE_BOUNDED_RANGE).answers;

		rises = rises && answers >= before;
		before = answers;
	}
	ok(rises, "more delta buys no fewer answers");
	before = PG_INT64_MAX;
	for (int i = 1; i < 400; i++)
	{
		int64 answers = choose_plan(2, 1e-6, i * 0.001, CHARGE_BOUNDED_RANGE).answers;

		rises = rises && answers <= before;
		before = answers;
	}
	ok(rises, "dearer answers are no more");
}

/* ---------- accounts in use ---------- */

typedef struct TestAccount
{
	RenyiGrant	 grant;
	RenyiPlan	 plan;
	EpsilonUnits spent;
	/* the same by the formulas: order, and the exact sum of divergences */
	long double divergence;
} TestAccount;

#define CAPS 4

static bool
within_grant(const TestAccount *account)
{
	long double reference = account->divergence;

	if (account->plan.order != INFINITE)
		reference -= reference_conversion(account->grant.delta, account->plan.order);
	return account->spent <= account->plan.limit &&
		   renyi_to_epsilon(account->spent, account->grant.delta, account->plan.order) <=
			   account->grant.epsilon &&
		   (account->spent == 0 ||
			(reference <= account->grant.epsilon / ONE + reference_error(reference) &&
			 renyi_to_epsilon(account->spent, account->grant.delta, account->plan.order) / ONE >=
				 fmaxl(reference, 0) * (1 - 1e-12L) - 1e-12L));
}

/* One answer against all caps at once, as adversarial as chance can be. */
static bool
spend_somewhere(TestAccount *accounts, unsigned applies)
{
	EpsilonUnits epsilon = units_of(random_magnitude(-4, 0.5));
	ChargeShape	 finite = sample_uint64() % 2 ? CHARGE_PURE : CHARGE_BOUNDED_RANGE;
	EpsilonUnits charge[CAPS];

	for (int i = 0; i < CAPS; i++)
	{
		ChargeShape shape = accounts[i].plan.order == INFINITE ? CHARGE_PURE : finite;

		charge[i] = renyi_charge(epsilon, shape, accounts[i].plan.order);
		if (applies & (1 << i) &&
			renyi_answers(accounts[i].plan.limit, accounts[i].spent, charge[i]) < 1)
			return false;
	}
	for (int i = 0; i < CAPS; i++)
	{
		if (!(applies & (1 << i)))
			continue;
		accounts[i].spent += charge[i];
		accounts[i].divergence += reference_charge(epsilon / ONE, finite, accounts[i].plan.order);
	}
	return true;
}

/* A grant is changed: more or less, another delta; nothing is forgotten. */
static bool
change_grant(TestAccount *account)
{
	RenyiGrant	 changed = account->grant;
	RenyiPlan	 plan;
	EpsilonUnits carried;

	changed.epsilon = units_of(random_magnitude(-1, 1));
	changed.delta = sample_uint64() % 4 == 0 ? 0 : random_magnitude(-12, -0.5);
	if (!renyi_choose(&changed, account->spent, account->plan.order, &plan))
		return account->plan.order != INFINITE && changed.delta == 0;
	if (!renyi_carry(account->spent, account->plan.order, plan.order, &carried) ||
		carried < account->spent)
		return false;
	account->grant = changed;
	account->plan = plan;
	account->spent = carried;
	return true;
}

static void
test_adaptive_spending(void)
{
	bool  within = true;
	bool  changes = true;
	int64 given = 0;

	for (int round = 0; round < 2000; round++)
	{
		TestAccount accounts[CAPS] = {0};

		for (int i = 0; i < CAPS; i++)
		{
			RenyiGrant *grant = &accounts[i].grant;

			*grant = grant_of(units_of(random_magnitude(-1, 1)),
							  i == 0 ? 0 : random_magnitude(-12, -0.5),
							  units_of(random_magnitude(-3, 0)),
							  sample_uint64() % 2 ? CHARGE_PURE : CHARGE_BOUNDED_RANGE);
			within = within && renyi_choose(grant, 0, INFINITE, &accounts[i].plan);
		}
		for (int i = 0; i < 100; i++)
		{
			given += spend_somewhere(accounts, (unsigned) (sample_uint64() % (1 << CAPS)));
			for (int j = 0; j < CAPS; j++)
				within = within && within_grant(&accounts[j]);
		}
		for (int j = 0; j < CAPS; j++)
			changes = changes && change_grant(&accounts[j]);
		/* An account that was lowered below what it spent gives nothing more. */
		for (int j = 0; j < CAPS; j++)
			if (accounts[j].spent > accounts[j].plan.limit)
				changes =
					changes && accounts[j].plan.answers == 0 && !spend_somewhere(accounts, 1 << j);
			else
				changes = changes && within_grant(&accounts[j]);
	}
	ok(within, "random sequences over several caps never exceed a grant (" INT64_FORMAT " answers)",
	   given);
	ok(changes, "nor do changed grants, and what was spent stays spent");
}

static void
test_carrying(void)
{
	EpsilonUnits carried = -1;

	ok(renyi_carry(7, order_of(8), order_of(8), &carried) && carried == 7,
	   "carried to the same order");
	ok(renyi_carry(7, order_of(8), order_of(3), &carried) && carried == 7,
	   "carried to a lower order");
	ok(renyi_carry(7, INFINITE, order_of(3), &carried) && carried == 7, "carried from infinity");
	carried = -1;
	ok(!renyi_carry(7, order_of(3), order_of(3) + 1, &carried) && carried == -1,
	   "not to a higher order");
	ok(!renyi_carry(7, order_of(3), INFINITE, &carried) && carried == -1, "not to infinity");
	ok(renyi_carry(0, order_of(3), INFINITE, &carried) && carried == 0,
	   "nothing spent can go anywhere");
	ok(!renyi_carry(-1, INFINITE, INFINITE, &carried) && !renyi_carry(0, 0, INFINITE, &carried) &&
		   !renyi_carry(0, INFINITE, RENYI_ORDER_ONE, &carried),
	   "nonsense is not carried");
}

int
main(void)
{
	test_limits();
	test_known_limits();
	test_unusable();
	test_charges();
	test_exact_charges();
	test_choice();
	test_choice_in_general();
	test_choice_once();
	test_headline();
	test_monotone();
	test_adaptive_spending();
	test_carrying();
	return done();
}
