/*
 * accountant.c
 *		Pure arithmetic that rounds against the spender.
 */
#include "c.h"

#include "account/accountant.h"
#include "server/number_text.h"

#define UNIT_DIGITS 12 /* a unit is 10^-12 */

/*
 * Reads "ddd.ddde[+-]dd", the only form the shortest-decimal printer has for
 * positive numbers, as digits * 10^exponent.  It prints at most 17 digits,
 * besides leading zeros and the trailing zeros of a whole number.
 */
static uint64
parse_decimal(const char *text, int *exponent)
{
	uint64 digits = 0;
	bool   after_point = false;

	*exponent = 0;
	for (; *text != '\0' && *text != 'e'; text++)
	{
		if (*text == '.')
		{
			after_point = true;
			continue;
		}
		digits = digits * 10 + (*text - '0');
		if (after_point)
			(*exponent)--;
	}
	if (*text == 'e')
		*exponent += atoi(text + 1);
	return digits;
}

bool
epsilon_to_units(double epsilon, double maximum, EpsilonUnits *units)
{
	char   text[NUMBER_TEXT_SIZE];
	uint64 scaled;
	int	   exponent;

	/* Written so that NaN fails; above EPSILON_MAX units would overflow. */
	if (!(epsilon >= EPSILON_MIN && epsilon <= maximum && epsilon <= EPSILON_MAX))
		return false;

	scaled = parse_decimal(number_text(epsilon, text), &exponent);
	for (exponent += UNIT_DIGITS; exponent > 0; exponent--)
		scaled *= 10;
	for (; exponent < 0; exponent++)
		scaled /= 10;
	*units = (EpsilonUnits) scaled;
	return true;
}

char *
epsilon_to_text(EpsilonUnits units, char buffer[EPSILON_TEXT_SIZE])
{
	uint64 magnitude = units < 0 ? -(uint64) units : (uint64) units;
	uint64 whole = magnitude / EPSILON_UNITS_PER_ONE;
	uint64 fraction = magnitude % EPSILON_UNITS_PER_ONE;
	int	   width = UNIT_DIGITS;
	int	   length;

	length = snprintf(buffer, EPSILON_TEXT_SIZE, "%s" UINT64_FORMAT, units < 0 ? "-" : "", whole);
	if (fraction == 0)
		return buffer;

	for (; fraction % 10 == 0; fraction /= 10)
		width--;
	snprintf(buffer + length, EPSILON_TEXT_SIZE - length, ".%0*llu", width,
			 (unsigned long long) fraction);
	return buffer;
}
