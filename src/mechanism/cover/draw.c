/*
 * draw.c
 *		From errors of candidates to one of them, by the exponential mechanism.
 *
 * A uniform candidate is accepted with probability exp(-(epsilon/2) e), e being
 * its error beyond the least; otherwise all is tried again.  So the law is
 * exact, and since a candidate of least error is always accepted, count trials
 * are expected at most, of a few random words each: a fraction of a second for
 * a million candidates, once per training.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "mechanism/candidates.h"
#include "mechanism/cover/draw.h"
#include "draw/record.h"
#include "draw/sampler.h"

static int64
least(int64 count, const int64 *errors)
{
	int64 result = errors[0];

	for (int64 i = 1; i < count; i++)
		result = Min(result, errors[i]);
	return result;
}

int64
cover_draw(EpsilonUnits epsilon, int64 count, const int64 *errors)
{
	int64	best = least(count, errors);
	uint128 one = (uint128) 2 * EPSILON_UNITS_PER_ONE * ERROR_ONE;

	RECORD_INPUT("cover", INPUT_LARGEST, ERROR_ONE, count, errors);
	RECORD_COINS(1);
	for (;;)
	{
		int64	candidate = (int64) sample_uniform(count);
		uint128 excess = (uint128) RECORD_FIXED(errors[candidate] - best) * epsilon;

		CHECK_FOR_INTERRUPTS();
		if (sample_bernoulli_exp_wide(excess, one))
			return candidate;
	}
}

void
cover_distribution(EpsilonUnits epsilon, int64 count, const int64 *errors, double *probability)
{
	int64  best = least(count, errors);
	double rate = epsilon_real(epsilon) / 2 / ERROR_ONE;
	double total = 0;

	for (int64 i = 0; i < count; i++)
		total += probability[i] = exp(-rate * (errors[i] - best));
	for (int64 i = 0; i < count; i++)
		probability[i] /= total;
}
