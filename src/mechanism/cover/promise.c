/*
 * promise.c
 *		What is promised of a classifier that was chosen from a cover, in words: the
 *		same to the owner who trains it and to whoever reads its export.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/cover/cover.h"
#include "mechanism/released.h"

/* Three digits, of a number that must not be said to be less, or more, than it is. */
static char *
three_digits(double number, bool at_least)
{
	double said = strtod(psprintf("%.3g", number), NULL);
	double step = number > 0 ? pow(10, floor(log10(number)) - 2) : 0;

	if (at_least && said < number)
		said += step;
	if (!at_least && said > number)
		said -= step;
	return psprintf("%.3g", said);
}

/* What the candidates cover within the radius, and how that is known. */
static char *
covered(const Released *released)
{
	if (released->share == 1)
		return pstrdup("the class");
	return psprintf("a share of %s of halfspaces", three_digits(released->share, false));
}

static char *
nothing_promised(const MechanismSpec *spec, const Released *released)
{
	if (released->share == 0) /* of 0.1.0 */
		return psprintf(
			"No accuracy is promised, as nothing is proved of all halfspaces; the farthest of some "
			"random ones is %s away from the nearest candidate.",
			three_digits(released->radius, true));
	return psprintf(
		"No accuracy is promised, as all that is proved is that they cover %s within %s%s.",
		covered(released), three_digits(released->radius, true),
		option_given(spec->options, "reference") ? " of what the reference's rows were drawn from"
												 : "");
}

/* Halfspaces depend on how levels go together, other classes do not. */
static bool
tosses_coins(const MechanismSpec *spec, const Released *released)
{
	bool coins = false;

	for (int i = 0; i < spec->width; i++)
		coins = coins || spec->columns[i].binary;
	return coins && released->classifier.class == CLASS_HALFSPACES;
}

/* For whom. */
static char *
promised_to(const MechanismSpec *spec, const Released *released)
{
	if (released->smoothness == 0)
		return pstrdup("on these rows");
	if (isinf(released->smoothness))
		return pstrdup("whatever the features");
	return psprintf(
		"for features at most %s times as dense anywhere as %s",
		three_digits(released->smoothness, false),
		option_given(spec->options, "reference")
			? "what the reference's rows were drawn from, independently"
		: tosses_coins(spec, released)
			? "if numbers were uniform within their bounds and each level fell to a coin"
			: "if they were uniform within their bounds");
}

char *
released_promise(const MechanismSpec *spec, const Released *released)
{
	/* The rows of a reference may be odd ones, too. */
	int chances = option_given(spec->options, "reference") ? 2 : 1;

	if (released->accuracy == 0)
		return nothing_promised(spec, released);
	return psprintf(
		"They cover %s within %s; with " INT64_FORMAT
		" units or more, its error is within %s of the best %s with probability %s, %s.",
		covered(released), three_digits(released->radius, true), spec->declared_units,
		three_digits(released->accuracy, true),
		released->share == 1 ? "in the class" : "of those halfspaces",
		three_digits(1 - chances * cover_beta(spec), false), promised_to(spec, released));
}
