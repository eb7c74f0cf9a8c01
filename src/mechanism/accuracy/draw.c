/*
 * accuracy/draw.c
 *		The accuracy of a model on units that are held out, in integers.
 */
#include "c.h"

#include <math.h>

#include "draw/record.h"
#include "draw/sampler.h"
#include "mechanism/accuracy/accuracy.h"

/*
 * What rounding adds to the distance of two means: that of probabilities, of a
 * unit's mean, and of the mean itself.
 */
#define ROUNDING 3

int64
accuracy_units(int64 declared_units, double holdout)
{
	double expected = declared_units * holdout;

	return (int64) Max(expected - 3 * sqrt(expected), expected / 2);
}

void
accuracy_add(AccuracySum *sum, const double *right, int nrows)
{
	int64 total = 0;

	if (nrows == 0 || sum->units == sum->wanted)
		return;
	for (int i = 0; i < nrows; i++)
		total += (int64) rint(Min(Max(right[i], 0), 1) * ACCURACY_ONE);
	sum->total += total / nrows;
	sum->units++;
}

int64
accuracy_mean(const AccuracySum *sum)
{
	return (sum->total + (sum->wanted - sum->units) * (ACCURACY_ONE / 2)) / sum->wanted;
}

int64
accuracy_sensitivity(int64 wanted, const Charge *answer)
{
	int64  of_one = (ACCURACY_ONE + wanted - 1) / wanted;
	double epsilon;
	double distance;

	if (answer == NULL)
		return of_one;
	epsilon = charge_units(answer, RENYI_ORDER_INFINITE) / (double) EPSILON_UNITS_PER_ONE;
	distance = tanh(epsilon / 2) + answer->delta;
	/* Both: a unit that has trained may be held out later, if its id is written in another type. */
	return Min(of_one + (int64) ceil(distance * ACCURACY_ONE) + ROUNDING, ACCURACY_ONE);
}

double
accuracy_number(int64 noisy)
{
	return Min(Max(noisy, 0), ACCURACY_ONE) / (double) ACCURACY_ONE;
}

double
accuracy_error(int64 noisy, int64 wanted, int64 sensitivity, EpsilonUnits epsilon)
{
	double scale = (double) sensitivity / ACCURACY_ONE / epsilon * EPSILON_UNITS_PER_ONE;
	double share = (accuracy_number(noisy) * wanted + 2) / (wanted + 4); /* never 0 or 1 */

	return sqrt(2 * scale * scale + share * (1 - share) / wanted);
}

int64
accuracy_draw(int64 mean, int64 sensitivity, EpsilonUnits epsilon)
{
	RECORD_INPUT("accuracy", INPUT_LARGEST, sensitivity, 1, &mean);
	return mean + sample_discrete_laplace((uint64) sensitivity * EPSILON_UNITS_PER_ONE, epsilon);
}
