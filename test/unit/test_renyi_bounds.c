/*
 * test_renyi_bounds.c
 *		Are the charges and the conversion true?  On exact distributions, and
 *		against charges known to be too small.
 *
 * sources: src/account/renyi.c src/account/order.c src/account/charge.c src/account/accountant.c
 * sources: src/mechanism/vote/draw.c src/draw/rng.c src/draw/bernoulli.c
 */
#include "c.h"

#include <math.h>

#include "account/renyi.h"
#include "mechanism/vote/draw.h"
#include "unit.h"

#define ONE ((long double) EPSILON_UNITS_PER_ONE)
#define INFINITE RENYI_ORDER_INFINITE

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rintl((long double) epsilon * ONE);
}

static RenyiOrder
order_of(double a)
{
	return (RenyiOrder) rint(a * RENYI_ORDER_ONE);
}

static double
renyi_divergence(int n, const double *p, const double *q, double a)
{
	double largest = 0;
	double sum = 0;

	for (int i = 0; i < n; i++)
		largest = fmax(largest, (a - 1) * log(p[i] / q[i]));
	/* sum of p^a q^(1-a): without overflow, or without cancellation */
	if (largest > 1)
	{
		for (int i = 0; i < n; i++)
			sum += p[i] * exp((a - 1) * log(p[i] / q[i]) - largest);
		return (largest + log(sum)) / (a - 1);
	}
	for (int i = 0; i < n; i++)
		sum += p[i] * expm1((a - 1) * log(p[i] / q[i]));
	return log1p(sum) / (a - 1);
}

static const double test_orders[] = {1.001, 1.5, 2, 4, 23.25, 100, 10000};
static const double test_epsilons[] = {0.01, 0.1, 0.5, 1, 2, 5};

#define TEACHERS 12

/*
 * The largest ratio of the divergence between neighbouring votes to the
 * charge.
 */
static double
worst_ratio(bool infinite_draw, ChargeShape shape, double epsilon, double a)
{
	EpsilonUnits units = units_of(epsilon);
	double		 charge = (double) (renyi_charge(units, shape, order_of(a)) / ONE);
	double		 worst = 0;

	for (int first = 0; first <= TEACHERS; first++)
		for (int second = 0; first + second <= TEACHERS; second++)
			for (int move = 0; move < 6; move++)
			{
				static const int from[] = {0, 0, 1, 1, 2, 2};
				static const int to[] = {1, 2, 0, 2, 0, 1};
				int32			 votes[3] = {first, second, TEACHERS - first - second};
				double			 p[3];
				double			 q[3];
				int classes = votes[2] == 0 && to[move] != 2 && from[move] != 2 ? 2 : 3;

				if (votes[from[move]] == 0)
					continue;
				vote_distribution(infinite_draw, units, classes, votes, TEACHERS, p);
				votes[from[move]]--;
				votes[to[move]]++;
				vote_distribution(infinite_draw, units, classes, votes, TEACHERS, q);
				worst = fmax(worst, renyi_divergence(classes, p, q, a) / charge);
			}
	return worst;
}

static void
test_bounds(void)
{
	double exponential = 0;
	double pure = 0;
	double mutant = 0;

	for (int i = 0; i < lengthof(test_epsilons); i++)
		for (int j = 0; j < lengthof(test_orders); j++)
		{
			double epsilon = test_epsilons[i];
			double a = test_orders[j];

			exponential = fmax(exponential, worst_ratio(false, CHARGE_BOUNDED_RANGE, epsilon, a));
			pure = fmax(pure, worst_ratio(true, CHARGE_PURE, epsilon, a));
			mutant = fmax(mutant, worst_ratio(true, CHARGE_BOUNDED_RANGE, epsilon, a));
		}
	ok(exponential <= 1 + 1e-9, "the draw of finite orders keeps to a e^2 / 8 (%.5f of it)",
	   exponential);
	ok(exponential > 0.99, "which is tight");
	ok(pure <= 1 + 1e-9, "the draw of the infinite order keeps to a e^2 / 2 (%.5f of it)", pure);
	ok(mutant > 2, "but not to a e^2 / 8 (%.3f times)", mutant);
}

static RenyiPlan
choose_plan(double epsilon, double delta, double per_answer)
{
	RenyiGrant grant = {.epsilon = units_of(epsilon), .delta = delta};
	RenyiPlan  plan = {0};

	grant.finite.part[0] =
		(ChargePart){.shape = CHARGE_BOUNDED_RANGE, .times = 1, .epsilon = units_of(per_answer)};
	grant.infinite.part[0] =
		(ChargePart){.shape = CHARGE_PURE, .times = 1, .epsilon = units_of(per_answer)};
	if (!renyi_choose(&grant, 0, INFINITE, &plan))
		plan.answers = -1;
	return plan;
}

/*
 * Conversion, on exact distributions: n answers to two coins, whose loss is a
 * binomial, must be within (epsilon, delta / 2) of each other.
 */
static double
exact_delta(double p, double q, int n, double epsilon)
{
	double delta = 0;

	for (int k = 0; k <= n; k++)
	{
		double ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
		double here = ways + k * log(p) + (n - k) * log1p(-p);
		double there = ways + k * log(q) + (n - k) * log1p(-q);

		delta += fmax(0, exp(here) - exp(epsilon + there));
	}
	return delta;
}

static void
test_conversion(void)
{
	static const double small[] = {0.05, 0.2, 0.7};
	bool				holds = true;
	bool				mutant_caught = false;

	for (int i = 0; i < lengthof(small); i++)
		for (double epsilon = 0.5; epsilon < 8; epsilon *= 2)
			for (double delta = 1e-9; delta < 0.5; delta *= 10)
			{
				double	  e = small[i];
				RenyiPlan plan = choose_plan(epsilon, delta, e);
				/* the pair that bounded range allows: odds e^(-e/2) and e^(e/2) */
				double p = 1 / (1 + exp(-e / 2));
				double q = 1 / (1 + exp(e / 2));

				if (plan.order == INFINITE || plan.answers > 20000)
					continue;
				for (int n = 1; n <= plan.answers; n += 1 + plan.answers / 7)
				{
					EpsilonUnits spent = renyi_charge_times(plan.charge, n);
					double reported = (double) (renyi_to_epsilon(spent, delta, plan.order) / ONE);

					holds =
						holds && exact_delta(p, q, n, reported) <= delta / 2 * (1 + 1e-6) + 1e-13;
				}
				holds = holds &&
						exact_delta(p, q, plan.answers, epsilon) <= delta / 2 * (1 + 1e-6) + 1e-13;
				if (exact_delta(p, q, plan.answers * 4, epsilon) > delta / 2)
					mutant_caught = true;
			}
	ok(holds, "answers within the limit are (epsilon, delta / 2) close, exactly");
	ok(mutant_caught, "and four times as many would not be");
}

int
main(void)
{
	test_bounds();
	test_conversion();
	return done();
}
