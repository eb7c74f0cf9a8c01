/*
 * solve.h
 *		The proved epsilon of "stable_flip" and "relabel" as a function of their
 *		parameters, and parameters for a given epsilon.
 *
 * Unit tests drive this without mechanism.h.  Everything here
 * is declared and public.  Shares are exact, in units of 2^-32; what is proved is
 * rounded up, so it holds for the parameters as they are drawn with.
 */
#ifndef PRIVPRED_SOLVE_H
#define PRIVPRED_SOLVE_H

#include "draw/sampler.h"
#include "mechanism/hypotheses.h"
#include "server/privpred.h"

#define ALPHA_MIN 1e-6
#define ALPHA_MAX 0.49
#define ALPHA_DEFAULT 0.1

/* Rounded to the next share, and kept inside (0, 1). */
extern Share  share_from_double(double value);
extern double share_to_double(Share share);

/* ---------- stable_flip and stable ---------- */

typedef struct StableParameters
{
	Share		 alpha; /* flips; "stable" has none */
	Share		 q;		/* units in T */
	EpsilonUnits e;		/* of the draw from H_T */
} StableParameters;

#define STABLE_E_MAX (100 * EPSILON_UNITS_PER_ONE)

extern EpsilonUnits stable_flip_epsilon(const StableParameters *parameters);

/*
 * Fills in what is not given: the q and e with the largest product, or the
 * largest one beside the given other, such that what is proved is at most
 * epsilon.  False if there is none, which only a given q or e can bring about.
 */
extern bool
stable_flip_solve(EpsilonUnits epsilon, bool q_given, bool e_given, StableParameters *parameters);

/* How far one unit moves an answer's probability without the flip. */
extern double stable_gamma(const StableParameters *parameters);
extern void	  stable_solve(double gamma, StableParameters *parameters);

/* ---------- relabel ---------- */

typedef struct RelabelParameters
{
	HypothesisClass class;		/* not of halfspaces in space, nor of rectangles */
	int			 hypotheses;	/* of a finite class */
	int64		 n_max;			/* units at most */
	int			 rows_per_unit; /* at most */
	int			 features;
	Share		 alpha;
	int64		 j; /* width of the net, in units */
	EpsilonUnits kappa;
	Share		 q;
} RelabelParameters;

#define RELABEL_N_MAX INT64CONST(2000000000)

typedef struct RelabelProof
{
	double		 eps1;
	double		 delta1;
	EpsilonUnits epsilon;
} RelabelProof;

extern RelabelProof relabel_prove(const RelabelParameters *parameters);

/*
 * Fills in what is not given: j the share alpha of n_max, the least q with which T
 * misses the net with probability at most alpha, the largest kappa such that
 * what is proved is at most epsilon.  False if there is none or a kappa that is
 * not given has kappa * j < 1.
 */
extern bool relabel_solve(EpsilonUnits epsilon, bool j_given, bool kappa_given, bool q_given,
						  RelabelParameters *parameters);

/* The least n_max for which relabel_solve() finds all three; 0: none. */
extern int64 relabel_n_needed(EpsilonUnits epsilon, const RelabelParameters *parameters);

#endif /* PRIVPRED_SOLVE_H */
