/*
 * test_vote.c
 *		The vote's distributions: private, of bounded range where that is
 *		claimed, as accurate as claimed, and drawn from.
 *
 * Every check takes the rule as an argument and is also shown to reject rules
 * known to be wrong.
 *
 * sources: src/mechanism/vote/draw.c src/draw/rng.c src/draw/bernoulli.c
 */
#include "c.h"

#include <math.h>

#include "mechanism/vote/draw.h"
#include "unit.h"
#include "vote_vectors.h"

#define ROUNDING 1e-10

static const double epsilons[] = {0.1, 0.5, 1, 3};

static EpsilonUnits
units_of(double epsilon)
{
	return (EpsilonUnits) rint(epsilon * EPSILON_UNITS_PER_ONE);
}

/* ---------- rules ---------- */

typedef void (*Rule)(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
					 int teachers, double *probability);

/* Wrong: exp(epsilon * count), without the half. */
static void
exponential_without_half(bool order_is_infinite, EpsilonUnits epsilon, int nclasses,
						 const int32 *votes, int teachers, double *probability)
{
	vote_distribution(false, 2 * epsilon, nclasses, votes, teachers, probability);
}

/* Wrong: permute-and-flip without the half; an even number avoids the odd rule. */
static void
permute_without_half(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
					 int teachers, double *probability)
{
	vote_distribution(true, 2 * epsilon, nclasses, votes, 2, probability);
}

/* Wrong: permute-and-flip where bounded range is claimed. */
static void
permute_always(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
			   int teachers, double *probability)
{
	vote_distribution(true, epsilon, nclasses, votes, 2, probability);
}

/* Wrong: the rule for odd numbers of teachers, applied to even ones. */
static void
odd_rule_always(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
				int teachers, double *probability)
{
	double e = (double) epsilon / EPSILON_UNITS_PER_ONE;
	int	   winner = vote_majority(2, votes);
	int	   gap = votes[winner] - votes[1 - winner];

	probability[1 - winner] = exp(-e * (gap - 1) / 2) / (1 + exp(e));
	probability[winner] = 1 - probability[1 - winner];
}

/* Private, but not the best: the exponential mechanism everywhere. */
static void
exponential_always(bool order_is_infinite, EpsilonUnits epsilon, int nclasses, const int32 *votes,
				   int teachers, double *probability)
{
	vote_distribution(false, epsilon, nclasses, votes, teachers, probability);
}

/* ---------- neighbours ---------- */

typedef struct Setting
{
	Rule		 rule;
	bool		 order_is_infinite;
	EpsilonUnits epsilon;
	int			 nclasses;
	int			 teachers;
} Setting;

typedef struct Loss
{
	double ratio; /* largest ln(p/q) of any output */
	double range; /* largest difference of two outputs' ln(p/q) */
} Loss;

/* Adds one pair of neighbours: a vote moved between two classes. */
static void
add_loss(const Setting *s, const int32 *votes, int from, int to, Loss *loss)
{
	int32  moved[SMALL_CLASSES];
	double p[SMALL_CLASSES];
	double q[SMALL_CLASSES];
	double largest = -INFINITY;
	double smallest = INFINITY;

	memcpy(moved, votes, sizeof(moved));
	moved[from]--;
	moved[to]++;
	s->rule(s->order_is_infinite, s->epsilon, s->nclasses, votes, s->teachers, p);
	s->rule(s->order_is_infinite, s->epsilon, s->nclasses, moved, s->teachers, q);
	for (int i = 0; i < s->nclasses; i++)
	{
		largest = Max(largest, log(p[i] / q[i]));
		smallest = Min(smallest, log(p[i] / q[i]));
	}
	loss->ratio = Max(loss->ratio, Max(largest, -smallest));
	loss->range = Max(loss->range, largest - smallest);
}

/* The worst of all vectors of votes and all their neighbours. */
static Loss
worst_loss(const Setting *s)
{
	Loss  loss = {0, 0};
	int32 votes[SMALL_CLASSES];

	memset(votes, 0, sizeof(votes));
	first_votes(s->nclasses, s->teachers, votes);
	do
	{
		for (int from = 0; from < s->nclasses; from++)
		{
			for (int to = 0; to < s->nclasses; to++)
			{
				if (votes[from] > 0 && to != from)
					add_loss(s, votes, from, to, &loss);
			}
		}
	} while (next_votes(s->nclasses, votes));
	return loss;
}

/* Whether a rule keeps its promise for all small settings of one order. */
static bool
keeps_promise(Rule rule, bool order_is_infinite, int max_classes)
{
	Setting s = {.rule = rule, .order_is_infinite = order_is_infinite};

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		s.epsilon = units_of(epsilons[i]);
		for (s.nclasses = 2; s.nclasses <= max_classes; s.nclasses++)
		{
			for (s.teachers = 1; s.teachers <= SMALL_TEACHERS; s.teachers++)
			{
				Loss loss = worst_loss(&s);

				if (loss.ratio > epsilons[i] + ROUNDING ||
					(!order_is_infinite && loss.range > epsilons[i] + ROUNDING))
					return false;
			}
		}
	}
	return true;
}

static void
test_privacy(void)
{
	bool attained = true;

	ok(keeps_promise(vote_distribution, true, SMALL_CLASSES),
	   "infinite order: every pair of neighbours is within epsilon");
	ok(keeps_promise(vote_distribution, false, SMALL_CLASSES),
	   "finite order: and within bounded range epsilon");

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		for (int teachers = 1; teachers <= SMALL_TEACHERS; teachers++)
		{
			Setting s = {vote_distribution, true, units_of(epsilons[i]), 2, teachers};

			attained = attained && worst_loss(&s).ratio > epsilons[i] - ROUNDING;
		}
	}
	ok(attained, "two classes: epsilon is attained, nothing is given away");

	ok(!keeps_promise(exponential_without_half, false, SMALL_CLASSES),
	   "rejected: exponential mechanism without the half");
	ok(!keeps_promise(exponential_without_half, true, SMALL_CLASSES),
	   "rejected: the same at infinite order");
	ok(!keeps_promise(permute_without_half, true, SMALL_CLASSES),
	   "rejected: permute-and-flip without the half");
	ok(!keeps_promise(permute_always, false, SMALL_CLASSES),
	   "rejected: permute-and-flip charged as bounded range");
	ok(!keeps_promise(odd_rule_always, true, 2),
	   "rejected: the odd rule for an even number of teachers");
}

/* ---------- accuracy ---------- */

/* How many votes the answer has less than the winner, on average. */
static double
expected_shortfall(Rule rule, double epsilon, int nclasses, const int32 *votes, int teachers)
{
	double probability[SMALL_CLASSES];
	int32  most = votes[vote_majority(nclasses, votes)];
	double shortfall = 0;

	rule(true, units_of(epsilon), nclasses, votes, teachers, probability);
	for (int i = 0; i < nclasses; i++)
		shortfall += probability[i] * (most - votes[i]);
	return shortfall;
}

static bool
never_worse(Rule rule, Rule other)
{
	bool  result = true;
	int32 votes[SMALL_CLASSES];

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		for (int nclasses = 2; nclasses <= SMALL_CLASSES; nclasses++)
		{
			for (int teachers = 1; teachers <= SMALL_TEACHERS; teachers++)
			{
				first_votes(nclasses, teachers, votes);
				do
				{
					result = result &&
							 expected_shortfall(rule, epsilons[i], nclasses, votes, teachers) <=
								 expected_shortfall(other, epsilons[i], nclasses, votes, teachers) +
									 ROUNDING;
				} while (next_votes(nclasses, votes));
			}
		}
	}
	return result;
}

/*
 * The least error at distance steps below x = Pr[answer 1] that DP allows:
 * walking away from the tie, each move may divide Pr[answer 1] by e^epsilon
 * and multiply Pr[answer 0] by it.
 */
static double
least_error(double x, int steps, double epsilon)
{
	for (int i = 0; i < steps; i++)
		x = Max(0, Max(x * exp(-epsilon), 1 - (1 - x) * exp(epsilon)));
	return x;
}

/*
 * Whether no epsilon-DP rule of two classes has a smaller sum of errors at
 * ones and teachers - ones votes for class 1.  A rule is free to choose its
 * probability x at one place; what follows on both sides is least_error().
 */
static bool
is_optimal_at(Rule rule, double epsilon, int teachers, int ones)
{
	int32  votes[2] = {teachers - ones, ones};
	int32  mirrored[2] = {ones, teachers - ones};
	int	   middle = teachers / 2;
	double p[2];
	double q[2];
	double best = 2;

	for (int i = 0; i <= 100000; i++)
	{
		double x = i / 100000.0;
		double error = least_error(x, middle - ones, epsilon);
		double mirrored_error = least_error(1 - x, teachers - ones - middle, epsilon);

		best = Min(best, error + mirrored_error);
	}
	rule(true, units_of(epsilon), 2, votes, teachers, p);
	rule(true, units_of(epsilon), 2, mirrored, teachers, q);
	/* the grid can miss the optimum, but only upwards */
	return p[1] + q[0] <= best + ROUNDING && best <= (p[1] + q[0]) * 1.001;
}

static bool
is_optimal(Rule rule, int teachers)
{
	bool optimal = true;

	for (int i = 0; i < lengthof(epsilons); i++)
	{
		for (int ones = 0; 2 * ones < teachers; ones++)
			optimal = optimal && is_optimal_at(rule, epsilons[i], teachers, ones);
	}
	return optimal;
}

static void
test_accuracy(void)
{
	ok(never_worse(vote_distribution, exponential_always),
	   "infinite order is never worse than the exponential mechanism");
	ok(!never_worse(exponential_always, vote_distribution), "and sometimes better");
	for (int teachers = 1; teachers <= 6; teachers++)
		ok(is_optimal(vote_distribution, teachers), "two classes, %d teachers: optimal", teachers);
	ok(!is_optimal(exponential_always, 4) && !is_optimal(exponential_always, 5) &&
		   !is_optimal(permute_always, 5),
	   "rejected as optimal: rules that are not");
}

/* ---------- large votes ---------- */

/* One winner ahead of many equals: probabilities in closed form. */
static bool
matches_closed_form(int nclasses, double epsilon, int ahead)
{
	int32  votes[PRIVPRED_MAX_CLASSES];
	double probability[PRIVPRED_MAX_CLASSES];
	double a = exp(-epsilon / 2 * ahead);
	double winner = ahead == 0 ? 1.0 / nclasses : -expm1(nclasses * log1p(-a)) / (nclasses * a);
	double exponential_winner = 1 / (1 + (nclasses - 1) * a);
	bool   right = true;
	int	   place = nclasses / 3;

	for (int i = 0; i < nclasses; i++)
		votes[i] = 5 + (i == place ? ahead : 0);
	vote_distribution(true, units_of(epsilon), nclasses, votes, 2, probability);
	for (int i = 0; i < nclasses; i++)
	{
		double expected = i == place ? winner : (1 - winner) / (nclasses - 1);

		right = right && fabs(probability[i] - expected) <= 1e-12;
	}
	vote_distribution(false, units_of(epsilon), nclasses, votes, 2, probability);
	for (int i = 0; i < nclasses; i++)
	{
		double expected = i == place ? exponential_winner : exponential_winner * a;

		right = right && fabs(probability[i] - expected) <= 1e-12;
	}
	return right;
}

static bool
is_distribution(bool order_is_infinite, double epsilon, int nclasses, const int32 *votes,
				int teachers)
{
	double probability[PRIVPRED_MAX_CLASSES];
	double total = 0;

	vote_distribution(order_is_infinite, units_of(epsilon), nclasses, votes, teachers, probability);
	for (int i = 0; i < nclasses; i++)
	{
		if (!(probability[i] >= 0))
			return false;
		total += probability[i];
	}
	return fabs(total - 1) < 1e-12;
}

static void
test_large(void)
{
	static const int classes[] = {2, 3, 4, 7, 10, 99, 100, 999, 1000};
	int32			 votes[PRIVPRED_MAX_CLASSES];
	bool			 right = true;
	bool			 whole = true;

	for (int i = 0; i < lengthof(classes); i++)
	{
		for (int ahead = 0; ahead <= 40; ahead += 8)
			right = right && matches_closed_form(classes[i], 0.3, ahead);
	}
	ok(right, "one winner ahead of up to 999 equals: as in closed form");

	for (int i = 0; i < PRIVPRED_MAX_CLASSES; i++)
		votes[i] = i * 37 % 100;
	for (int i = 0; i < lengthof(classes); i++)
	{
		for (int order_is_infinite = 0; order_is_infinite <= 1; order_is_infinite++)
			whole = whole && is_distribution(order_is_infinite, 0.1, classes[i], votes, 2);
	}
	ok(whole, "up to 1000 different classes: probabilities add up to one");

	memset(votes, 0, sizeof(votes));
	votes[1] = PRIVPRED_MAX_TEACHERS - 1;
	for (int order_is_infinite = 0; order_is_infinite <= 1; order_is_infinite++)
		whole =
			whole && is_distribution(order_is_infinite, 100, 2, votes, PRIVPRED_MAX_TEACHERS - 1) &&
			is_distribution(order_is_infinite, 100, 1000, votes, PRIVPRED_MAX_TEACHERS - 1) &&
			vote_draw(order_is_infinite, units_of(100), 2, votes, PRIVPRED_MAX_TEACHERS - 1) == 1 &&
			vote_draw(order_is_infinite, units_of(100), 1000, votes, PRIVPRED_MAX_TEACHERS - 1) ==
				1;
	ok(whole, "the largest gap at the largest epsilon is certain, without overflow");
}

/* ---------- draws ---------- */

static void
test_draws(const char *name, bool order_is_infinite, double epsilon, int nclasses,
		   const int32 *votes)
{
	int		  count[10] = {0};
	double	  probability[10];
	int		  teachers = 0;
	bool	  right = true;
	const int trials = 100000;

	for (int i = 0; i < nclasses; i++)
		teachers += votes[i];
	for (int i = 0; i < trials; i++)
		count[vote_draw(order_is_infinite, units_of(epsilon), nclasses, votes, teachers)]++;
	vote_distribution(order_is_infinite, units_of(epsilon), nclasses, votes, teachers, probability);
	for (int i = 0; i < nclasses; i++)
		right = right && plausible(count[i], trials, probability[i]);
	ok(right, "%s, %s order: drawn as distributed", name,
	   order_is_infinite ? "infinite" : "finite");
}

static void
test_all_draws(void)
{
	static const int32 even[] = {90, 110};
	static const int32 odd[] = {54, 47};
	static const int32 narrow[] = {50, 51};
	static const int32 three[] = {40, 38, 22};
	static const int32 ten[] = {20, 0, 5, 17, 17, 3, 9, 0, 19, 10};

	for (int order_is_infinite = 0; order_is_infinite <= 1; order_is_infinite++)
	{
		test_draws("200 teachers", order_is_infinite, 0.1, 2, even);
		test_draws("101 teachers", order_is_infinite, 0.1, 2, odd);
		test_draws("101 teachers, gap one", order_is_infinite, 1, 2, narrow);
		test_draws("three classes", order_is_infinite, 0.5, 3, three);
		test_draws("ten classes", order_is_infinite, 0.25, 10, ten);
	}
}

static void
test_majority(void)
{
	static const int32 tied[] = {1, 3, 3, 0};
	static const int32 last[] = {0, 1, 2, 3};

	ok(vote_majority(4, tied) == 1 && vote_majority(4, last) == 3,
	   "the majority goes to the lowest class of the most voted");
}

int
main(void)
{
	test_privacy();
	test_accuracy();
	test_large();
	test_majority();
	test_all_draws();
	return done();
}
