/*
 * weights.c
 *		States that are a list of numbers.
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"

#include "mechanism/weights.h"

bytea *
weights_write(uint32 format, int64 count, const double *weights)
{
	StringInfoData state;

	pq_begintypsend(&state);
	pq_sendint32(&state, format);
	for (int64 i = 0; i < count; i++)
		pq_sendfloat8(&state, weights[i]);
	return pq_endtypsend(&state);
}

double *
weights_read(uint32 format, int64 count, bytea *state)
{
	StringInfoData input = {.data = VARDATA_ANY(state), .len = VARSIZE_ANY_EXHDR(state)};
	double		  *weights = palloc_array(double, count);

	if (input.len != sizeof(int32) + count * sizeof(double) ||
		pq_getmsgint(&input, sizeof(int32)) != format)
		state_damaged();
	for (int64 i = 0; i < count; i++)
	{
		weights[i] = pq_getmsgfloat8(&input);
		if (!isfinite(weights[i]))
			state_damaged();
	}
	return weights;
}
