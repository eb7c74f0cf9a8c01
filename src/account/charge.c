/*
 * charge.c
 *		What purchases cost, as units of an order and as text.
 */
#include "c.h"

#include <math.h>

#include "common/int.h"

#include "account/accountant.h"
#include "account/charge.h"
#include "server/number_text.h"

#define EPSILON_UNITS_MAX ((EpsilonUnits) EPSILON_MAX * EPSILON_UNITS_PER_ONE)

static const char *const shape_names[] = {
	[CHARGE_PURE] = "pure",
	[CHARGE_BOUNDED_RANGE] = "bounded range",
	[CHARGE_GAUSSIAN] = "gaussian",
};

/* ---------- arithmetic ---------- */

static bool
part_is_valid(const ChargePart *part)
{
	if (part->shape == CHARGE_GAUSSIAN)
		return part->epsilon == 0 && part->numerator > 0 && part->denominator > 0;
	return (part->shape == CHARGE_PURE || part->shape == CHARGE_BOUNDED_RANGE) &&
		   part->epsilon > 0 && part->epsilon <= EPSILON_UNITS_MAX && part->numerator == 0 &&
		   part->denominator == 0;
}

bool
charge_is_valid(const Charge *charge)
{
	bool draws = false;

	for (int i = 0; i < CHARGE_PARTS; i++)
	{
		if (charge->part[i].times == 0)
			continue;
		if (charge->part[i].times < 0 || !part_is_valid(&charge->part[i]))
			return false;
		draws = true;
	}
	return draws && renyi_delta_is_valid(charge->delta);
}

bool
charge_has_gaussian(const Charge *charge)
{
	for (int i = 0; i < CHARGE_PARTS; i++)
		if (charge->part[i].times > 0 && charge->part[i].shape == CHARGE_GAUSSIAN)
			return true;
	return false;
}

EpsilonUnits
charge_units(const Charge *charge, RenyiOrder order)
{
	EpsilonUnits sum = 0;

	if (!charge_is_valid(charge))
		return PG_INT64_MAX;
	for (int i = 0; i < CHARGE_PARTS; i++)
	{
		const ChargePart *part = &charge->part[i];
		EpsilonUnits	  draw;

		if (part->times == 0)
			continue;
		draw = part->shape == CHARGE_GAUSSIAN
				   ? renyi_charge_gaussian(part->numerator, part->denominator, order)
				   : renyi_charge(part->epsilon, part->shape, order);
		if (pg_add_s64_overflow(sum, renyi_charge_times(draw, part->times), &sum))
			return PG_INT64_MAX;
	}
	return sum;
}

double
delta_add(double a, double b)
{
	double sum = a + b;

	return sum - a < b || sum - b < a ? nextafter(sum, INFINITY) : sum;
}

/* ---------- text ---------- */

/* Room for it is certain: see CHARGE_TEXT_SIZE. */
static int
print_part(const ChargePart *part, char *out, int room)
{
	char amount[EPSILON_TEXT_SIZE];
	int	 length = 0;

	if (part->times > 1)
		length = snprintf(out, room, INT64_FORMAT " x ", part->times);
	if (part->shape == CHARGE_GAUSSIAN)
		return length + snprintf(out + length, room - length, "%s " UINT64_FORMAT "/" UINT64_FORMAT,
								 shape_names[part->shape], part->numerator, part->denominator);
	return length + snprintf(out + length, room - length, "%s %s", shape_names[part->shape],
							 epsilon_to_text(part->epsilon, amount));
}

char *
charge_to_text(const Charge *charge, char buffer[CHARGE_TEXT_SIZE])
{
	char delta[NUMBER_TEXT_SIZE];
	int	 length = 0;

	if (!charge_is_valid(charge))
		return NULL;
	for (int i = 0; i < CHARGE_PARTS; i++)
	{
		if (charge->part[i].times == 0)
			continue;
		if (length > 0)
			length += snprintf(buffer + length, CHARGE_TEXT_SIZE - length, " + ");
		length += print_part(&charge->part[i], buffer + length, CHARGE_TEXT_SIZE - length);
	}
	if (charge->delta > 0)
		snprintf(buffer + length, CHARGE_TEXT_SIZE - length, ", delta %s",
				 number_text(charge->delta, delta));
	return buffer;
}

/* Moves past a word, if it is there. */
static bool
skip(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*text, word, length) != 0)
		return false;
	*text += length;
	return true;
}

/* Digits; what overflows comes out wrong, which printing it shows. */
static uint64
parse_digits(const char **text)
{
	uint64 number = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++)
		number = number * 10 + (uint64) (**text - '0');
	return number;
}

/* A decimal of at most 12 places, in units. */
static EpsilonUnits
parse_units(const char **text)
{
	uint64 units = parse_digits(text) * EPSILON_UNITS_PER_ONE;
	uint64 place = EPSILON_UNITS_PER_ONE / 10;

	if (skip(text, "."))
		for (; **text >= '0' && **text <= '9'; (*text)++, place /= 10)
			units += place * (uint64) (**text - '0');
	return (EpsilonUnits) units;
}

static bool
parse_part(const char **text, ChargePart *part)
{
	part->times = 1;
	if (**text >= '0' && **text <= '9')
	{
		part->times = (int64) parse_digits(text);
		if (!skip(text, " x "))
			return false;
	}
	if (skip(text, "gaussian "))
	{
		part->shape = CHARGE_GAUSSIAN;
		part->numerator = parse_digits(text);
		if (!skip(text, "/"))
			return false;
		part->denominator = parse_digits(text);
		return true;
	}
	part->shape = skip(text, "bounded range ") ? CHARGE_BOUNDED_RANGE : CHARGE_PURE;
	if (part->shape == CHARGE_PURE && !skip(text, "pure "))
		return false;
	part->epsilon = parse_units(text);
	return true;
}

/* Reads generously, and takes what prints as it was read. */
bool
charge_from_text(const char *text, Charge *charge)
{
	const char *rest = text;
	char		printed[CHARGE_TEXT_SIZE];

	memset(charge, 0, sizeof(Charge));
	for (int i = 0; i < CHARGE_PARTS; i++)
	{
		if (i > 0 && !skip(&rest, " + "))
			break;
		if (!parse_part(&rest, &charge->part[i]))
			return false;
	}
	if (skip(&rest, ", delta "))
		charge->delta = strtod(rest, NULL);
	return charge_to_text(charge, printed) != NULL && strcmp(text, printed) == 0;
}
