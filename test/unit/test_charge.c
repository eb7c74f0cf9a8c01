/*
 * test_charge.c
 *		What purchases cost: sums of draws, and their text.
 *
 * sources: src/account/charge.c src/account/renyi.c src/account/order.c src/account/accountant.c
 * sources: src/draw/rng.c
 */
#include "c.h"

#include <float.h>
#include <math.h>

#include "account/charge.h"
#include "draw/sampler.h"
#include "unit.h"

#define ONE EPSILON_UNITS_PER_ONE
#define ORDER(a) ((RenyiOrder) ((a) *RENYI_ORDER_ONE))

static ChargePart
draws(int64 times, ChargeShape shape, EpsilonUnits epsilon)
{
	return (ChargePart){.shape = shape, .times = times, .epsilon = epsilon};
}

static ChargePart
gaussian(int64 times, uint64 numerator, uint64 denominator)
{
	return (ChargePart){.shape = CHARGE_GAUSSIAN,
						.times = times,
						.numerator = numerator,
						.denominator = denominator};
}

static Charge
charge_of(ChargePart first, ChargePart second, double delta)
{
	return (Charge){.part = {first, second}, .delta = delta};
}

static const ChargePart none = {0};

static bool
same(const Charge *a, const Charge *b)
{
	for (int i = 0; i < CHARGE_PARTS; i++)
		if (a->part[i].shape != b->part[i].shape || a->part[i].times != b->part[i].times ||
			a->part[i].epsilon != b->part[i].epsilon ||
			a->part[i].numerator != b->part[i].numerator ||
			a->part[i].denominator != b->part[i].denominator)
			return false;
	return a->delta == b->delta;
}

static void
test_units(void)
{
	Charge vote = charge_of(draws(1, CHARGE_BOUNDED_RANGE, ONE / 10), none, 0);
	Charge stream = charge_of(draws(20, CHARGE_PURE, ONE / 20), none, 1e-7);
	Charge both =
		charge_of(draws(20, CHARGE_PURE, ONE / 20), draws(1, CHARGE_BOUNDED_RANGE, ONE / 10), 0);
	Charge steps = charge_of(gaussian(100, 8, 25), none, 0);
	Charge tiny = charge_of(draws(1000, CHARGE_BOUNDED_RANGE, 1), none, 0);

	ok(charge_units(&vote, ORDER(8)) == ONE / 100 &&
		   charge_units(&vote, RENYI_ORDER_INFINITE) == ONE / 10,
	   "one draw, as renyi_charge() has it");
	ok(charge_units(&stream, ORDER(8)) == 20 * (ONE / 100) &&
		   charge_units(&stream, RENYI_ORDER_INFINITE) == ONE,
	   "several draws add up");
	ok(charge_units(&stream, ORDER(100)) == ONE, "none costs more than its epsilon");
	ok(charge_units(&both, ORDER(8)) == 21 * (ONE / 100), "parts add up");
	ok(charge_units(&steps, ORDER(2)) == 32 * ONE, "a D^2 / (2 sigma^2) for each step");
	ok(charge_units(&steps, RENYI_ORDER_INFINITE) == PG_INT64_MAX,
	   "Gaussian noise fits nowhere at infinity");
	both.part[1] = gaussian(1, 1, 4);
	ok(charge_units(&both, RENYI_ORDER_INFINITE) == PG_INT64_MAX, "not in a second part either");
	ok(charge_has_gaussian(&both) && charge_has_gaussian(&steps) && !charge_has_gaussian(&stream),
	   "and can be told");
	ok(charge_units(&tiny, ORDER(2)) == 1000, "each draw is rounded up by itself");
	tiny.part[0].times = PG_INT64_MAX;
	ok(charge_units(&tiny, ORDER(2)) == PG_INT64_MAX, "a sum that overflows fits nowhere");
	tiny.part[0].times = PG_INT64_MAX - 1;
	tiny.part[1] = draws(2, CHARGE_PURE, ONE);
	ok(charge_units(&tiny, ORDER(2)) == PG_INT64_MAX,
	   "nor does one that overflows with its second part");
	ok(charge_units(&vote, RENYI_ORDER_ONE) == PG_INT64_MAX &&
		   charge_units(&vote, 0) == PG_INT64_MAX,
	   "nothing has a charge at orders out of range");
}

static void
test_validity(void)
{
	Charge good = charge_of(draws(1, CHARGE_PURE, ONE), none, 0);
	Charge bad[] = {
		charge_of(none, none, 0),
		charge_of(none, none, 1e-6),
		charge_of(draws(-1, CHARGE_PURE, ONE), none, 0),
		charge_of(draws(1, CHARGE_PURE, 0), none, 0),
		charge_of(draws(1, CHARGE_PURE, -5), none, 0),
		charge_of(draws(1, CHARGE_PURE, 1000000 * ONE + 1), none, 0),
		charge_of(draws(1, CHARGE_GAUSSIAN, ONE), none, 0),
		charge_of(draws(1, (ChargeShape) 7, ONE), none, 0),
		charge_of(gaussian(1, 0, 1), none, 0),
		charge_of(gaussian(1, 1, 0), none, 0),
		charge_of(draws(1, CHARGE_PURE, ONE), gaussian(-1, 1, 1), 0),
		charge_of(draws(1, CHARGE_PURE, ONE), none, 1),
		charge_of(draws(1, CHARGE_PURE, ONE), none, -1e-9),
		charge_of(draws(1, CHARGE_PURE, ONE), none, NAN),
		charge_of(draws(1, CHARGE_PURE, ONE), none, DBL_MIN / 2),
	};
	char text[CHARGE_TEXT_SIZE];
	bool refused = true;

	for (int i = 0; i < lengthof(bad); i++)
		refused = refused && !charge_is_valid(&bad[i]) &&
				  charge_units(&bad[i], ORDER(2)) == PG_INT64_MAX &&
				  charge_to_text(&bad[i], text) == NULL;
	ok(charge_is_valid(&good), "one draw is a charge");
	ok(refused, "what is no charge fits nowhere and has no text");
}

static void
says(Charge charge, const char *expected)
{
	char   text[CHARGE_TEXT_SIZE];
	Charge read;

	ok(charge_to_text(&charge, text) != NULL && strcmp(text, expected) == 0, "%s", text);
	ok(charge_from_text(expected, &read) && same(&read, &charge), "and back");
}

static void
test_text(void)
{
	static const char *const wrong[] = {"",
										"pure",
										"pure ",
										"pure 0",
										"pure -1",
										"pure 1.0",
										"pure 01",
										"pure 1 ",
										" pure 1",
										"Pure 1",
										"pure 1.",
										"pure .5",
										"pure 1e-3",
										"pure 0.0000000000001",
										"pure 1000000.000000000001",
										"pure 18446744073709551617",
										"pure 1 x",
										"1 x pure 1",
										"0 x pure 1",
										"02 x pure 1",
										"-2 x pure 1",
										"2x pure 1",
										"2 pure 1",
										"18446744073709551618 x pure 1",
										"bounded 1",
										"bounded range",
										"gaussian 1",
										"gaussian 1/",
										"gaussian /2",
										"gaussian 0/2",
										"gaussian 1/0",
										"gaussian 01/2",
										"gaussian 1/2/3",
										"gaussian 18446744073709551617/2",
										"pure 1 + ",
										"pure 1 + pure 1 + pure 1",
										"pure 1+pure 1",
										"pure 1, delta",
										"pure 1, delta 0",
										"pure 1, delta 1",
										"pure 1, delta 1e-6",
										"pure 1, delta 0.10",
										"pure 1, delta nan",
										"pure 1, delta inf",
										"pure 1, delta 1e-07 ",
										"pure 1, delta -1e-07",
										"delta 1e-07",
										"pure 1, delta 1e-320"};
	Charge					 read;
	int						 taken = 0;

	says(
		charge_of(draws(20, CHARGE_PURE, ONE / 20), draws(1, CHARGE_BOUNDED_RANGE, ONE / 10), 1e-7),
		"20 x pure 0.05 + bounded range 0.1, delta 1e-07");
	says(charge_of(gaussian(100, 8, 25), none, 0), "100 x gaussian 8/25");
	says(charge_of(draws(1, CHARGE_PURE, 1), none, 0), "pure 0.000000000001");
	says(charge_of(gaussian(PG_INT64_MAX, PG_UINT64_MAX, PG_UINT64_MAX),
				   gaussian(PG_INT64_MAX, PG_UINT64_MAX, PG_UINT64_MAX), 1.2345678901234568e-300),
		 "9223372036854775807 x gaussian 18446744073709551615/18446744073709551615 + "
		 "9223372036854775807 x gaussian 18446744073709551615/18446744073709551615, "
		 "delta 1.2345678901234568e-300");
	for (int i = 0; i < lengthof(wrong); i++)
		if (charge_from_text(wrong[i], &read))
		{
			note("taken: \"%s\"", wrong[i]);
			taken++;
		}
	ok(taken == 0, "nothing else is taken");
}

static ChargePart
random_part(void)
{
	int64 times =
		sample_uint64() % 3 == 0 ? 1 : (int64) (sample_uint64() >> (1 + sample_uint64() % 63)) + 1;

	if (sample_uint64() % 3 == 0)
		return gaussian(times, sample_uint64() >> sample_uint64() % 64 | 1,
						sample_uint64() >> sample_uint64() % 64 | 1);
	return draws(times, sample_uint64() % 2 ? CHARGE_PURE : CHARGE_BOUNDED_RANGE,
				 1 + (EpsilonUnits) sample_uniform((uint64) ONE * 1000000));
}

static void
test_round_trip(void)
{
	bool back = true;

	for (int i = 0; i < 100000; i++)
	{
		Charge charge = charge_of(random_part(), i % 2 ? random_part() : none, 0);
		Charge read;
		char   text[CHARGE_TEXT_SIZE];

		if (i % 3 == 0)
			charge.delta =
				ldexp((double) (sample_uint64() >> 11) + 1, -54 - (int) sample_uniform(900));
		if (charge.part[0].times == 1 && i % 5 == 0)
			charge.part[0].times = 2;
		back = back && charge_to_text(&charge, text) != NULL && strlen(text) < CHARGE_TEXT_SIZE &&
			   charge_from_text(text, &read) && same(&read, &charge);
	}
	ok(back, "every charge comes back from its text");
}

static void
test_deltas(void)
{
	bool up = true;

	for (int i = 0; i < 100000; i++)
	{
		double a = ldexp((double) (sample_uint64() >> 11), -60 - (int) sample_uniform(60));
		double b = ldexp((double) (sample_uint64() >> 11), -60 - (int) sample_uniform(60));

		/* long double holds both terms of nearly all pairs exactly */
		up = up && (long double) delta_add(a, b) >= ((long double) a + b) * (1 - LDBL_EPSILON) &&
			 delta_add(a, b) <= nextafter(nextafter(a + b, 1), 1) && delta_add(a, b) >= a + b;
	}
	ok(up, "deltas add up, rounded up");
	ok(delta_add(0, 1e-7) == 1e-7 && delta_add(0.5, 0.25) == 0.75,
	   "exactly where that is possible");
	ok(delta_add(1, DBL_MIN) > 1, "and never lose what is small");
}

int
main(void)
{
	test_units();
	test_validity();
	test_text();
	test_round_trip();
	test_deltas();
	return done();
}
