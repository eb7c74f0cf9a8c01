/*
 * audit_bounds.c
 *		What counts say about a claim.
 */
#include "c.h"

#include <math.h>

#include "account/audit_bounds.h"

#define BISECTIONS 60
#define POWER_BISECTIONS 24
#define FRACTION_STEPS 1000000

/* ---------- binomial tails ---------- */

static double
nonzero(double x)
{
	return x == 0 ? 1e-300 : x;
}

/*
 * The continued fraction of the incomplete beta function (DLMF 8.17.22), by
 * Lentz's method; converges fast for x < (a + 1) / (a + b + 2).
 */
static double
beta_fraction(double a, double b, double x)
{
	double ratio = 1;
	double inverse = 1 / nonzero(1 - (a + b) * x / (a + 1));
	double value = inverse;

	for (int m = 1; m <= FRACTION_STEPS; m++)
	{
		double terms[2] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
						   -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
		double change = 1;

		for (int i = 0; i < 2; i++)
		{
			inverse = 1 / nonzero(1 + terms[i] * inverse);
			ratio = nonzero(1 + terms[i] / ratio);
			change = inverse * ratio;
			value *= change;
		}
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return value;
}

/* I_x(a, b), regularised. */
static double
incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
									 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* Pr[X >= k] for X binomial (n, p), k at least 1. */
static double
upper_tail(int64 k, int64 n, double p)
{
	return incomplete_beta((double) k, (double) (n - k) + 1, p);
}

/*
 * The bisection ends on the careful side; rounding in the logarithms of gamma
 * is far below what the factor takes away.
 */
double
binomial_lower(int64 k, int64 n, double alpha)
{
	double low = 0;
	double high = 1;

	if (k <= 0)
		return 0;
	for (int i = 0; i < BISECTIONS; i++)
	{
		double middle = (low + high) / 2;

		if (upper_tail(k, n, middle) <= alpha * (1 - 1e-6))
			low = middle;
		else
			high = middle;
	}
	return low;
}

double
binomial_upper(int64 k, int64 n, double alpha)
{
	return 1 - binomial_lower(n - k, n, alpha);
}

/* ---------- losses ---------- */

int
audit_bounds_taken(int outputs)
{
	return 4 * outputs;
}

static double
ratio_loss(double p, double q, double delta)
{
	return p - delta > q ? log((p - delta) / q) : 0;
}

/*
 * The divergence of order a between coins of biases p > q, over a; relative
 * entropy for order 1.
 */
static double
divergence_over_order(double p, double q, double order)
{
	double yes = log(p / q);
	double no = p < 1 ? log1p(-p) - log1p(-q) : 0;

	if (order == 1)
		return p * yes + (1 - p) * no;
	return log(p * exp((order - 1) * yes) + (p < 1 ? (1 - p) * exp((order - 1) * no) : 0)) /
		   ((order - 1) * order);
}

/* As the epsilon whose bounded range costs the same: rho = epsilon^2 / 8. */
static double
renyi_loss(double p, double q)
{
	static const double orders[] = {1, 1.25, 1.5, 2, 3, 4, 6, 8, 16, 32, 64};
	double				rho = 0;

	if (p <= q || q >= 1)
		return 0;
	for (int i = 0; i < lengthof(orders); i++)
		rho = Max(rho, divergence_over_order(p, q, orders[i]));
	return sqrt(8 * rho);
}

typedef struct Bounds
{
	double low;
	double high;
} Bounds;

static double
range_loss(const Bounds *from_y, const Bounds *from_z, const Bounds *to_y, const Bounds *to_z)
{
	double low = from_y->low * to_z->low;
	double high = to_y->high * from_z->high;

	return low > high ? log(low / high) : 0;
}

/* Of output y, being more likely with the first table. */
static double
output_loss(const AuditClaim *claim, int outputs, const Bounds *from, const Bounds *to, int y)
{
	double loss = 0;

	if (claim->test == TEST_RATIO)
		return ratio_loss(from[y].low, to[y].high, claim->delta);
	if (claim->test == TEST_RENYI)
		return renyi_loss(from[y].low, to[y].high);
	for (int z = 0; z < outputs; z++)
		if (z != y)
			loss = Max(loss, range_loss(&from[y], &from[z], &to[y], &to[z]));
	return loss;
}

AuditLoss
audit_loss(const AuditClaim *claim, const AuditCounts *counts, double alpha)
{
	AuditLoss largest = {0};
	Bounds	  bounds[2][AUDIT_MAX_OUTPUTS];

	for (int table = 0; table < 2; table++)
		for (int y = 0; y < counts->outputs; y++)
		{
			int64 k = counts->count[table][y];
			int64 n = counts->draws[table];

			bounds[table][y].low = binomial_lower(k, n, alpha);
			bounds[table][y].high = binomial_upper(k, n, alpha);
		}
	for (int from = 0; from < 2; from++)
		for (int y = 0; y < counts->outputs; y++)
		{
			double loss = output_loss(claim, counts->outputs, bounds[from], bounds[1 - from], y);

			if (loss > largest.epsilon)
			{
				largest.epsilon = loss;
				largest.output = y;
				largest.from = from;
			}
		}
	return largest;
}

/* ---------- power ---------- */

/* What the loss is if an output's probabilities are p > q, of two outputs. */
static double
loss_between(const AuditClaim *claim, double p, double q)
{
	if (claim->test == TEST_RATIO)
		return ratio_loss(p, q, claim->delta);
	if (claim->test == TEST_RENYI)
		return renyi_loss(p, q);
	return p > q ? log(p / q) + log1p(-q) - log1p(-p) : 0;
}

/* Would draws two standard deviations on the wrong side still tell q from p? */
static bool
would_tell(const AuditClaim *claim, double least_p, double q, int64 draws, double alpha)
{
	double n = (double) draws;
	int64  k = (int64) Min(ceil(n * q + 2 * sqrt(n * q * (1 - q))), n);

	return loss_between(claim, least_p, binomial_upper(k, draws, alpha)) > claim->epsilon;
}

double
audit_detects(const AuditClaim *claim, double p, int64 draws, double alpha)
{
	double n = (double) draws;
	double told = 0; /* q that is told from p, and one that is not */
	double not_told = p;
	double least_p;

	if (!(p > 0 && p < 1))
		return INFINITY;
	least_p =
		binomial_lower((int64) Max(floor(n * p - 2 * sqrt(n * p * (1 - p))), 0), draws, alpha);
	if (!would_tell(claim, least_p, 0, draws, alpha))
		return INFINITY;
	for (int i = 0; i < POWER_BISECTIONS; i++)
	{
		double middle = (told + not_told) / 2;

		if (would_tell(claim, least_p, middle, draws, alpha))
			told = middle;
		else
			not_told = middle;
	}
	/* Never seen at all: what that amounts to depends on how often it was looked for. */
	return loss_between(claim, p, Max(told, 1.0 / n));
}

int64
audit_draws_needed(const AuditClaim *claim, double factor, double p, int64 most, double alpha)
{
	int64 draws = 500;

	while (draws < most && !(audit_detects(claim, p, draws, alpha) < factor * claim->epsilon))
		draws *= 2;
	return Min(draws, most);
}
