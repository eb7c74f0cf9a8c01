/*
 * test_average.c
 *		The average: private for every count, drawn as claimed, and the checks
 *		reject it without its clip.
 *
 * sources: src/mechanism/average/draw.c src/draw/rng.c src/draw/bernoulli.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/average/draw.h"
#include "unit.h"

#define ROUNDING 1e-10

static const double epsilons[] = {0.02, 0.1, 0.5, 0.6931, 1, 3, 20};

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

typedef double (*Rule)(EpsilonUnits epsilon, int32 yes, int teachers);

/* Wrong: no clip, so that a single yes is told from none. */
static double
without_clip(EpsilonUnits epsilon, int32 yes, int teachers)
{
	return (double) yes / teachers;
}

/* Wrong: clipped one too little. */
static double
clip_too_small(EpsilonUnits epsilon, int32 yes, int teachers)
{
	int64 margin = average_margin(epsilon) - 1;

	return (double) Min(Max(yes, margin), teachers - margin) / teachers;
}

/* Whether every pair of neighbouring counts obeys epsilon, for both answers. */
static bool
is_private(Rule rule, EpsilonUnits epsilon, int teachers)
{
	double bound = exp((double) epsilon / EPSILON_UNITS_PER_ONE) * (1 + ROUNDING);

	for (int32 yes = 0; yes < teachers; yes++)
	{
		double p = rule(epsilon, yes, teachers);
		double q = rule(epsilon, yes + 1, teachers);

		if (q > bound * p || p > bound * q || 1 - q > bound * (1 - p) || 1 - p > bound * (1 - q))
			return false;
	}
	return true;
}

int
main(void)
{
	for (int i = 0; i < lengthof(epsilons); i++)
	{
		EpsilonUnits epsilon = units_of(epsilons[i]);
		int64		 margin = average_margin(epsilon);
		int			 teachers = (int) (2 * margin);

		ok(1 + 1.0 / margin <= exp(epsilons[i]) * (1 + ROUNDING) &&
			   (margin == 1 || 1 + 1.0 / (margin - 1) > exp(epsilons[i])),
		   "epsilon %g: the margin " INT64_FORMAT " is the least", epsilons[i], margin);
		ok(is_private(average_probability, epsilon, teachers) &&
			   is_private(average_probability, epsilon, teachers + 1) &&
			   is_private(average_probability, epsilon, 10 * teachers + 7),
		   "epsilon %g: private from %d teachers on", epsilons[i], teachers);
		ok(!is_private(without_clip, epsilon, teachers), "epsilon %g: caught without the clip",
		   epsilons[i]);
		ok(!is_private(clip_too_small, epsilon, 10 * teachers),
		   "epsilon %g: caught with too small a clip", epsilons[i]);
	}

	for (int32 yes = 0; yes <= 10; yes++)
	{
		int64 drawn = 0;

		for (int i = 0; i < 100000; i++)
			drawn += average_draw(units_of(0.5), yes, 10);
		ok(plausible(drawn, 100000, average_probability(units_of(0.5), yes, 10)),
		   "%d of 10 say yes: " INT64_FORMAT " of 100000 draws do", yes, drawn);
	}
	return done();
}
