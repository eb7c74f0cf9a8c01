/*
 * test_audit_bounds.c
 *		The statistics that privpred.audit() rests on, against known values.
 *
 * sources: src/account/audit_bounds.c
 */
#include "c.h"

#include <math.h>

#include "account/audit_bounds.h"
#include "unit.h"

/* Bounds give away a millionth of alpha. */
static void
near(double got, double expected, const char *what)
{
	ok(fabs(got - expected) <= 2e-6 * fabs(expected), "%s: %.12g (%.12g)", what, expected, got);
}

/* Reference values by exact rational arithmetic, as in test/t/000_stats_lib.pl. */
static void
test_known(void)
{
	near(binomial_upper(0, 10, 0.025), 1 - pow(0.025, 0.1), "none of 10: 1 - alpha^(1/n)");
	near(binomial_lower(10, 10, 0.025), pow(0.025, 0.1), "all of 10: alpha^(1/n)");
	near(binomial_lower(1, 20, 0.05), 0.0025613787765302798, "lower bound, 1 of 20");
	near(binomial_lower(5, 10, 0.025), 0.18708602844739852, "lower bound, 5 of 10");
	near(binomial_lower(5, 10, 0.0005), 0.07732535492721446, "lower bound at 0.05%");
	near(binomial_lower(70, 100, 0.0005), 0.5333135794551582, "lower bound, 70 of 100");
	near(binomial_upper(30, 100, 0.0005), 0.4666864205448418, "upper bound, 30 of 100");
	near(binomial_lower(5300, 10000, 1.0380168479603624e-09), 0.5, "a tail of 1e-9");
	ok(binomial_lower(0, 10, 0.05) == 0, "none: no lower bound");
	ok(binomial_upper(10, 10, 0.05) == 1, "all: no upper bound");
	near(binomial_lower(1000000, 2000000, 0.022750131948179), 0.5 - 2 * 0.5 / sqrt(2e6),
		 "a million of two: two standard deviations below");
}

/* Pr[X = k], for few. */
static double
mass(int k, int n, double p)
{
	return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
			   (n - k) * log1p(-p));
}

/* Exactly: the bounds miss with probability at most alpha. */
static void
test_coverage(double p)
{
	double low = 0;
	double high = 0;

	for (int k = 0; k <= 60; k++)
	{
		low += binomial_lower(k, 60, 0.01) > p ? mass(k, 60, p) : 0;
		high += binomial_upper(k, 60, 0.01) < p ? mass(k, 60, p) : 0;
	}
	ok(low <= 0.01 && high <= 0.01, "bounds cover %g (missed by %g and %g)", p, low, high);
}

/* Counts as one expects them of two coins. */
static AuditLoss
expected_loss(const AuditClaim *claim, double p, double q, int64 n)
{
	AuditCounts counts = {.outputs = 2, .draws = {n, n}};

	counts.count[0][0] = (int64) (n * p);
	counts.count[0][1] = n - counts.count[0][0];
	counts.count[1][0] = (int64) (n * q);
	counts.count[1][1] = n - counts.count[1][0];
	return audit_loss(claim, &counts, 1e-9);
}

static void
test_losses(void)
{
	AuditClaim ratio = {TEST_RATIO, 1, 0};
	AuditClaim delta = {TEST_RATIO, 1, 0.05};
	AuditClaim range = {TEST_RANGE, 1, 0};
	AuditClaim gaussian = {TEST_RENYI, 1, 0};
	AuditLoss  loss;

	/* a vote at a tie, and with one flip; right, and with half the flips */
	loss = expected_loss(&ratio, 0.5, exp(-1) / 2, 10000);
	ok(loss.epsilon > 0.8 && loss.epsilon <= 1, "a ratio of e: at least %g", loss.epsilon);
	ok(loss.output == 0 && loss.from == 0, "of the first output, from the first table");
	ok(expected_loss(&ratio, 0.5, exp(-2) / 2, 2000).epsilon > 1, "a ratio of e^2 is told");
	ok(expected_loss(&ratio, 0.5, 0.5, 1000000).epsilon == 0, "equal tables lose nothing");

	ok(expected_loss(&delta, 0.05, 0, 100000).epsilon == 0, "what delta allows");
	ok(expected_loss(&delta, 0.16, 0, 2000).epsilon > 1, "and more than that");

	/* gap -1 and +1: exponential mechanism; permute-and-flip is no bounded range */
	loss = expected_loss(&range, 1 / (1 + exp(-0.5)), 1 / (1 + exp(0.5)), 100000);
	ok(loss.epsilon > 0.9 && loss.epsilon <= 1, "odds that move by e: at least %g", loss.epsilon);
	ok(expected_loss(&range, 1 - exp(-0.5) / 2, exp(-0.5) / 2, 10000).epsilon > 1,
	   "permute-and-flip at the price of the exponential mechanism is told");
	ok(expected_loss(&ratio, 1 - exp(-0.5) / 2, exp(-0.5) / 2, 10000).epsilon <= 1,
	   "though its ratio is right");

	/* means half a standard deviation apart: rho = 1/8; a whole one: rho = 1/2 */
	loss = expected_loss(&gaussian, 0.598706, 0.401294, 1000000);
	ok(loss.epsilon > 0.7 && loss.epsilon <= 1, "Gaussian noise: at least %g", loss.epsilon);
	ok(expected_loss(&gaussian, 0.691462, 0.308538, 10000).epsilon > 1, "half of it is told");
}

static void
test_power(void)
{
	AuditClaim ratio = {TEST_RATIO, 1, 0};
	AuditClaim small = {TEST_RANGE, 0.01, 0};
	AuditClaim large = {TEST_RATIO, 30, 0};
	double	   told = audit_detects(&ratio, 0.5, 10000, 1e-9);
	int64	   needed = audit_draws_needed(&ratio, 1.5, 0.5, 1000000, 1e-9);

	ok(told > 1 && told < 1.5, "10,000 draws tell a loss of %g from 1", told);
	ok(audit_detects(&ratio, 0.5, 1000, 1e-9) > told, "1,000 draws less");
	ok(isinf(audit_detects(&ratio, 0.5, 20, 1e-9)), "20 draws tell nothing");
	ok(needed >= 500 && needed <= 16000,
	   "some thousand draws are needed for 1.5 instead of 1 (" INT64_FORMAT ")", needed);
	ok(audit_detects(&small, 0.5, 10000, 1e-9) > 0.02, "10,000 draws do not tell 0.02 from 0.01");
	ok(isinf(audit_detects(&large, 0.5, 1000000, 1e-9)), "nothing tells a loss of 30");
	ok(audit_draws_needed(&large, 1.5, 0.5, 12345, 1e-9) == 12345,
	   "and no more draws are made than may be");
}

int
main(void)
{
	test_known();
	for (int i = 0; i < 4; i++)
		test_coverage((double[]){0.02, 0.3, 0.5, 0.9}[i]);
	test_losses();
	test_power();
	return done();
}
