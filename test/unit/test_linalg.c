/*
 * test_linalg.c
 *		Cholesky factorization against matrices with known answers.
 *
 * sources: src/learner/cholesky.c
 */
#include "c.h"

#include <math.h>

#include "learner/linalg.h"
#include "unit.h"

static bool
factor(double *a, int n)
{
	for (int i = 0; i < n; i++)
		if (!cholesky_row(a, i))
			return false;
	return true;
}

/* The Hilbert matrix plus a ridge, and the answer of all ones. */
static void
check_solution(int n)
{
	double *a = malloc(PACKED_SIZE(n) * sizeof(double));
	double *b = calloc(n, sizeof(double));
	double	worst = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
		{
			double value = 1.0 / (i + j + 1) + (i == j ? 0.01 : 0);

			a[PACKED_ROW(i) + j] = value;
			b[i] += value;
			if (i != j)
				b[j] += value;
		}
	ok(factor(a, n), "a positive definite matrix is factored");
	cholesky_solve(a, n, b);
	for (int i = 0; i < n; i++)
		worst = fmax(worst, fabs(b[i] - 1));
	ok(worst < 1e-10, "the solution is all ones");
	free(a);
	free(b);
}

int
main(void)
{
	double known[] = {4, 12, 37, -16, -43, 98};
	double expected[] = {2, 6, 1, -8, 5, 3};
	double singular[] = {1, 1, 1};
	double indefinite[] = {1, 2, 1};
	double zero[] = {0};
	double undefined[] = {1, NAN, 1};
	double infinite[] = {INFINITY};

	ok(factor(known, 3), "a textbook matrix is factored");
	for (int i = 0; i < 6; i++)
		ok(fabs(known[i] - expected[i]) < 1e-12, "its factor is the textbook's");
	ok(!factor(singular, 2), "a singular matrix is refused");
	ok(!factor(indefinite, 2), "an indefinite matrix is refused");
	ok(!factor(zero, 1), "zero is refused");
	ok(!factor(undefined, 2), "NaN is refused");
	ok(!factor(infinite, 1), "infinity is refused");
	for (int n = 1; n <= 64; n *= 4)
		check_solution(n);
	return done();
}
