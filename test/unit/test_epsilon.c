/*
 * test_epsilon.c
 *		Epsilon as a decimal in units of 10^-12.
 *
 * sources: src/account/accountant.c
 */
#include "c.h"

#include <math.h>

#include "account/accountant.h"
#include "unit.h"

static void
reads_as(double epsilon, EpsilonUnits expected)
{
	EpsilonUnits units = -1;

	ok(epsilon_to_units(epsilon, EPSILON_MAX, &units) && units == expected,
	   "%.17g is " INT64_FORMAT " units (read as " INT64_FORMAT ")", epsilon, expected, units);
}

static void
is_refused(double epsilon, double maximum)
{
	EpsilonUnits units = -1;

	ok(!epsilon_to_units(epsilon, maximum, &units) && units == -1, "%g is refused below %g",
	   epsilon, maximum);
}

static void
test_reading(void)
{
	reads_as(0.1, INT64CONST(100000000000));
	reads_as(0.3, INT64CONST(300000000000));
	reads_as(0.1 + 0.2, INT64CONST(300000000000)); /* 0.30000000000000004 */
	reads_as(5, INT64CONST(5000000000000));
	reads_as(1, EPSILON_UNITS_PER_ONE);
	reads_as(100, INT64CONST(100000000000000));
	reads_as(1e-9, 1000);
	reads_as(1.5e-9, 1500);
	reads_as(1.2345e-9, 1234); /* down */
	reads_as(0.0000123, 12300000);
	reads_as(1e6, INT64CONST(1000000000000000000));
	reads_as(999999.99999999988, INT64CONST(999999999999999900));
	reads_as(123456.789, INT64CONST(123456789000000000));
	reads_as(0.99999999999999989, INT64CONST(999999999999)); /* down */
	reads_as(1.0000000000000002, EPSILON_UNITS_PER_ONE);
	reads_as(M_PI, INT64CONST(3141592653589));
	reads_as(300000, INT64CONST(300000000000000000));
}

static void
test_refusing(void)
{
	is_refused(NAN, EPSILON_MAX);
	is_refused(-NAN, EPSILON_MAX);
	is_refused(INFINITY, EPSILON_MAX);
	is_refused(INFINITY, INFINITY);
	is_refused(-INFINITY, EPSILON_MAX);
	is_refused(0, EPSILON_MAX);
	is_refused(-0.0, EPSILON_MAX);
	is_refused(-1, EPSILON_MAX);
	is_refused(1e-320, EPSILON_MAX);
	is_refused(5e-324, EPSILON_MAX);
	is_refused(2.3e-308, EPSILON_MAX);
	is_refused(nextafter(1e-9, 0), EPSILON_MAX);
	is_refused(nextafter(1e6, 1e7), EPSILON_MAX);
	is_refused(1e7, 1e300); /* a careless maximum does not overflow */
	is_refused(nextafter(100, 101), EPSILON_PER_ANSWER_MAX);
	is_refused(1, NAN);
}

/* n / 10^d is read as that decimal, for every short decimal. */
static void
test_short_decimals(void)
{
	bool		 right = true;
	EpsilonUnits scale = EPSILON_UNITS_PER_ONE;
	double		 power = 1;

	for (int digits = 0; digits <= 6; digits++, scale /= 10, power *= 10)
	{
		for (int n = 1; n <= 9999; n++)
		{
			EpsilonUnits units;

			right = right && epsilon_to_units(n / power, EPSILON_MAX, &units) && units == n * scale;
		}
	}
	ok(right, "decimals of up to four digits are read exactly");
}

static void
prints_as(EpsilonUnits units, const char *expected)
{
	char text[EPSILON_TEXT_SIZE];

	ok(strcmp(epsilon_to_text(units, text), expected) == 0, INT64_FORMAT " units print as %s (%s)",
	   units, expected, text);
}

static void
test_printing(void)
{
	prints_as(0, "0");
	prints_as(1, "0.000000000001");
	prints_as(1000, "0.000000001");
	prints_as(INT64CONST(100000000000), "0.1");
	prints_as(INT64CONST(1050000000000), "1.05");
	prints_as(INT64CONST(5000000000000), "5");
	prints_as(INT64CONST(-2500000000000), "-2.5");
	prints_as(INT64CONST(1000000000000000000), "1000000");
	prints_as(PG_INT64_MAX, "9223372.036854775807");
	prints_as(PG_INT64_MIN, "-9223372.036854775808");
}

int
main(void)
{
	test_reading();
	test_refusing();
	test_short_decimals();
	test_printing();
	return done();
}
