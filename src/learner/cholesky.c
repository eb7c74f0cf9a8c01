/*
 * cholesky.c
 *		Cholesky factorization of packed matrices, one row at a time.
 */
#include "learner/linalg.h"

#include <math.h>

/* A pivot that lost this much to cancellation is noise. */
#define PIVOT_TOLERANCE 1e-13

bool
cholesky_row(double *a, int i)
{
	double *row = a + PACKED_ROW(i);
	double	diagonal = row[i];
	double	pivot = diagonal;

	for (int j = 0; j < i; j++)
	{
		const double *other = a + PACKED_ROW(j);
		double		  sum = row[j];

		for (int k = 0; k < j; k++)
			sum -= row[k] * other[k];
		row[j] = sum / other[j];
		pivot -= row[j] * row[j];
	}
	/* written so that NaN fails */
	if (!(pivot > PIVOT_TOLERANCE * diagonal) || !isfinite(pivot))
		return false;
	row[i] = sqrt(pivot);
	return true;
}

void
cholesky_solve(const double *factor, int n, double *b)
{
	for (int i = 0; i < n; i++)
	{
		const double *row = factor + PACKED_ROW(i);
		double		  sum = b[i];

		for (int k = 0; k < i; k++)
			sum -= row[k] * b[k];
		b[i] = sum / row[i];
	}
	for (int i = n - 1; i >= 0; i--)
	{
		const double *row = factor + PACKED_ROW(i);

		b[i] /= row[i];
		for (int k = 0; k < i; k++)
			b[k] -= row[k] * b[i];
	}
}
