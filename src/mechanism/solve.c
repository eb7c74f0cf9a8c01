/*
 * solve.c
 *		The proved epsilon of "stable_flip" and "relabel" as a function of their
 *		parameters, and parameters for a given epsilon.
 *
 * The proofs are in docs/mechanisms.md.
 */
#include "c.h"

#include <math.h>

#include "mechanism/solve.h"

/*
 * Far more than a few dozen roundings can take away, relative to a number that
 * is computed from positive terms.
 */
#define MARGIN 1e-11

Share
share_from_double(double value)
{
	double scaled = ceil(value * SHARE_ONE);

	return (Share) Min(Max(scaled, 1), SHARE_ONE - 1);
}

double
share_to_double(Share share)
{
	return share / SHARE_ONE;
}

/* ln(ratio), rounded up; what is too large to mean anything becomes the largest. */
static EpsilonUnits
epsilon_of_ratio(double ratio)
{
	double units = ceil(log(ratio * (1 + MARGIN)) * EPSILON_UNITS_PER_ONE);

	if (!(units < EPSILON_MAX * EPSILON_UNITS_PER_ONE))
		return (EpsilonUnits) EPSILON_MAX * EPSILON_UNITS_PER_ONE;
	return (EpsilonUnits) Max(units, 1);
}

/*
 * The largest value up to most for which holds() is true, or 0; it must be true up
 * to some value and false from there on.
 */
typedef bool (*Holds)(int64 value, void *argument);

static int64
largest(int64 most, Holds holds, void *argument)
{
	int64 low = 0;
	int64 high = most + 1;

	while (high - low > 1)
	{
		int64 middle = low + (high - low) / 2;

		if (holds(middle, argument))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * ---------- stable_flip ----------
 *
 * Let u be the probability of an answer over neighbour S', given that T lacks the
 * unit that differs, and g(u) = Ku / (1 + (K-1)u), K = e^e, the most that it can be
 * over S: the weights move by a factor within e^(+-e/2), so odds by K at
 * most, and g is concave, so this survives the mean over T.  With T's
 * coin for that unit and the flip, the ratio of the answer's probabilities is at most
 *
 *		max over u of (A + s K u / (1 + r u)) / (alpha + s u),
 *		r = K - 1, s = (1-2 alpha)(1-q), A = alpha + (1-2 alpha) q.
 *
 * Its derivative has the sign of (K alpha - A) - 2 A r u - (A r^2 + s K r) u^2, which
 * falls in u >= 0; at u = 1 it is K (alpha - A K - s r) <= 0.  So the maximum
 * is at the positive root, or at 0 if there is none.  A root that is off by some
 * rounding d lowers the value by the order of d^2 only.
 */
EpsilonUnits
stable_flip_epsilon(const StableParameters *parameters)
{
	double alpha = share_to_double(parameters->alpha);
	double q = share_to_double(parameters->q);
	double k = exp(epsilon_real(parameters->e));
	double r = expm1(epsilon_real(parameters->e));
	double s = (1 - 2 * alpha) * (1 - q);
	double a = alpha + (1 - 2 * alpha) * q;
	double slope = k * alpha - a;
	double u = 0;

	if (slope > 0)
		u = slope / (a * r + sqrt(a * a * r * r + (a * r * r + s * k * r) * slope));
	return epsilon_of_ratio((a + s * k * u / (1 + r * u)) / (alpha + s * u));
}

typedef struct StableSearch
{
	EpsilonUnits	 epsilon;
	StableParameters parameters;
} StableSearch;

static bool
e_holds(int64 e, void *argument)
{
	StableSearch *search = argument;

	search->parameters.e = e;
	return stable_flip_epsilon(&search->parameters) <= search->epsilon;
}

static bool
q_holds(int64 q, void *argument)
{
	StableSearch *search = argument;

	search->parameters.q = (Share) q;
	return stable_flip_epsilon(&search->parameters) <= search->epsilon;
}

static double
largest_product(Share q, StableSearch *search)
{
	search->parameters.q = q;
	return share_to_double(q) * epsilon_real(largest(STABLE_E_MAX, e_holds, search));
}

/* The largest e falls in q and is concave, so the product has one maximum. */
static Share
best_share(StableSearch *search)
{
	int64 low = 1;
	int64 high;

	search->parameters.e = 1;
	high = largest(PG_UINT32_MAX, q_holds, search);
	while (high - low > 2)
	{
		int64 third = (high - low) / 3;

		if (largest_product((Share) (low + third), search) <
			largest_product((Share) (high - third), search))
			low += third;
		else
			high -= third;
	}
	return (Share) Max(low, 1);
}

bool
stable_flip_solve(EpsilonUnits epsilon, bool q_given, bool e_given, StableParameters *parameters)
{
	StableSearch search = {epsilon, *parameters};

	if (!q_given)
		parameters->q =
			e_given ? (Share) largest(PG_UINT32_MAX, q_holds, &search) : best_share(&search);
	search.parameters.q = parameters->q;
	if (!e_given)
		parameters->e = largest(STABLE_E_MAX, e_holds, &search);
	return parameters->q > 0 && parameters->e > 0 && stable_flip_epsilon(parameters) <= epsilon;
}

/*
 * ---------- stable ----------
 *
 * Without the flip: q for the samples with the unit, and g(u) - u <= tanh(e/4)
 * for those without.
 */
double
stable_gamma(const StableParameters *parameters)
{
	double q = share_to_double(parameters->q);

	return (q + (1 - q) * tanh(epsilon_real(parameters->e) / 4)) * (1 + MARGIN);
}

/* Half of gamma for the sample, the other half for the draw. */
void
stable_solve(double gamma, StableParameters *parameters)
{
	double half = gamma / 2 * (1 - 4 * MARGIN);

	parameters->q = (Share) Max(half * SHARE_ONE, 1);
	parameters->e = (EpsilonUnits) (4 * atanh(half) * EPSILON_UNITS_PER_ONE);
	parameters->e = Min(Max(parameters->e, 1), STABLE_E_MAX);
}

/* ---------- relabel ---------- */

/*
 * How many pairs there are on average of a hypothesis of H_T and one that a unit adds,
 * or of gaps in T, that may show that T is no net: before so many units are left
 * out of T.  x is the number of rows in T on average, R that of a unit.
 */
static double
pairs(const RelabelParameters *parameters, double q)
{
	double rows = (double) parameters->n_max * parameters->rows_per_unit;
	double x = q * rows;
	double r = parameters->rows_per_unit;
	double n = parameters->hypotheses;

	switch (parameters->class)
	{
		case HYPOTHESES_HALFSPACE:
			return r * (2 + x) * (r + x) * (5 * r + 2 * x);
		case HYPOTHESES_FINITE:
			return n * (n - 1) / 2;
		default:
			return parameters->features * (1 + x);
	}
}

/* An interval may be off at both ends. */
static int64
sides_of(const RelabelParameters *parameters)
{
	return parameters->class == HYPOTHESES_INTERVAL ? 2 : 1;
}

/* The units that one of them must have missed. */
static double
missed(const RelabelParameters *parameters)
{
	return (double) (parameters->j / sides_of(parameters) + 1);
}

/* Times (1-q) for each of these: how probably T is no net. */
static double
miss_probability(const RelabelParameters *parameters, Share share)
{
	double q = share_to_double(share);

	return pairs(parameters, q) * exp(missed(parameters) * log1p(-q) * (1 - MARGIN)) * (1 + MARGIN);
}

/*
 * How many hypotheses a unit adds for one of H_T at most: one less than there are
 * labelings of its rows.
 */
static double
added(const RelabelParameters *parameters)
{
	double r = parameters->rows_per_unit;

	switch (parameters->class)
	{
		case HYPOTHESES_INTERVAL:
		case HYPOTHESES_HALFSPACE:
			return r * (r - 1) + 1;
		case HYPOTHESES_FINITE:
			return Min(exp2(Min(r, 60)), parameters->hypotheses) - 1;
		default:
			return 2 * r - 1;
	}
}

/*
 * Samples without the unit: weights move by e^(2 kappa), and the vote by
 * e^(2 kappa), as one unit may stand in the place of another after the choice
 * among too many.  Samples with it: each hypothesis is near one of H without
 * it, by at most j + 1 units unless T is no net, and so many new ones as added()
 * says are near the same, which costs e^c in weight and e^c in the vote.  For (eps1,
 * delta1) the flip leaves the larger of the ratios at the two ends of
 * p <= E p' + delta1.
 */
RelabelProof
relabel_prove(const RelabelParameters *parameters)
{
	RelabelProof proof;
	double		 alpha = share_to_double(parameters->alpha);
	double		 q = share_to_double(parameters->q);
	double		 kappa = epsilon_real(parameters->kappa);
	double		 c = kappa * (parameters->j + 1);
	double		 near = 1 + added(parameters) * exp(2 * c);
	double		 keep = 1 - 2 * alpha;
	double		 e;
	double		 middle;

	proof.eps1 = (4 * kappa + log1p(near * q / (1 - q))) * (1 + MARGIN);
	proof.delta1 = q * miss_probability(parameters, parameters->q);
	e = exp(proof.eps1);
	if (proof.delta1 >= 1 || !isfinite(e))
	{
		/* The flip alone. */
		proof.epsilon = epsilon_of_ratio((1 - alpha) / alpha);
		return proof;
	}
	middle = (alpha + keep * (e + proof.delta1) / (e + 1)) /
			 (alpha + keep * (1 - proof.delta1) / (e + 1));
	proof.epsilon = epsilon_of_ratio(Max(1 + proof.delta1 * keep / alpha, middle));
	return proof;
}

static bool
misses_too_often(int64 q, void *argument)
{
	RelabelParameters *parameters = argument;

	return miss_probability(parameters, (Share) q) > share_to_double(parameters->alpha);
}

/*
 * The probability of a miss may rise in q at first, from at least one.  Its factors
 * are linear and rise in q, or are powers of 1 - q, so it has one maximum and falls
 * from there on.  (Of finite classes it falls, from 0 or at least one.)
 */
static Share
net_share(RelabelParameters *parameters)
{
	return (Share) Min(largest(PG_UINT32_MAX, misses_too_often, parameters) + 1, PG_UINT32_MAX);
}

typedef struct RelabelSearch
{
	EpsilonUnits	  epsilon;
	RelabelParameters parameters;
} RelabelSearch;

static bool
kappa_holds(int64 kappa, void *argument)
{
	RelabelSearch *search = argument;

	search->parameters.kappa = kappa;
	return relabel_prove(&search->parameters).epsilon <= search->epsilon;
}

bool
relabel_solve(EpsilonUnits epsilon, bool j_given, bool kappa_given, bool q_given,
			  RelabelParameters *parameters)
{
	RelabelSearch search;

	if (!j_given)
	{
		int64 sides = sides_of(parameters);

		parameters->j = (int64) (share_to_double(parameters->alpha) * parameters->n_max);
		parameters->j -= parameters->j % sides;
	}
	if (!q_given)
		parameters->q = net_share(parameters);
	search.epsilon = epsilon;
	search.parameters = *parameters;
	if (!kappa_given)
	{
		parameters->kappa = largest(EPSILON_UNITS_PER_ONE, kappa_holds, &search);
		if (epsilon_real(parameters->kappa) * parameters->j < 1)
			return false;
	}
	return relabel_prove(parameters).epsilon <= epsilon;
}

/* The least number of units for a net of so many steps of j. */
static int64
size_of_net(const RelabelParameters *parameters, int64 steps)
{
	return (int64) ceil(steps * sides_of(parameters) / share_to_double(parameters->alpha));
}

static bool
net_too_narrow(int64 steps, void *argument)
{
	RelabelSearch *search = argument;

	search->parameters.n_max = size_of_net(&search->parameters, steps);
	return !relabel_solve(search->epsilon, false, false, false, &search->parameters);
}

/* A size where j steps up is better than those after it. */
int64
relabel_n_needed(EpsilonUnits epsilon, const RelabelParameters *parameters)
{
	RelabelSearch search = {epsilon, *parameters};
	int64		  most =
		(int64) (share_to_double(parameters->alpha) * RELABEL_N_MAX) / sides_of(parameters);
	int64 steps = largest(most, net_too_narrow, &search) + 1;

	return steps > most ? 0 : size_of_net(parameters, steps);
}
