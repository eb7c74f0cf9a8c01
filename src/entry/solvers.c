/*
 * solvers.c
 *		Parameters for a given epsilon, and what is proved of them: arithmetic for
 *		anybody, spending nothing.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "entry/entry.h"
#include "mechanism/solve.h"

PG_FUNCTION_INFO_V1(privpred_solve_stable_flip);
PG_FUNCTION_INFO_V1(privpred_solve_relabel);

static Share
read_alpha(double alpha)
{
	if (!(alpha >= ALPHA_MIN && alpha <= ALPHA_MAX))
		refuse(errmsg("alpha must be a number from %g to %g", ALPHA_MIN, ALPHA_MAX),
			   errdetail("It is the share of answers that are flipped."),
			   errhint("Useful values lie between 0.05 and 0.2."));
	return share_from_double(alpha);
}

/* solve_stable_flip(epsilon, alpha) */
Datum
privpred_solve_stable_flip(PG_FUNCTION_ARGS)
{
	EpsilonUnits	 epsilon = read_epsilon(PG_GETARG_FLOAT8(0), EPSILON_PER_ANSWER_MAX, "epsilon");
	StableParameters parameters = {.alpha = read_alpha(PG_GETARG_FLOAT8(1))};
	Rows			*row = row_begin(fcinfo);

	if (!stable_flip_solve(epsilon, false, false, &parameters))
		refuse(errmsg("epsilon is too small for this alpha"), errhint("Raise epsilon or alpha."));
	put_float8(row, share_to_double(parameters.q));
	put_epsilon(row, parameters.e);
	put_epsilon(row, stable_flip_epsilon(&parameters));
	put_float8(row, stable_gamma(&parameters));
	PG_RETURN_DATUM(row_end(row));
}

static HypothesisClass
read_class(const char *name, int class_size)
{
	if (class_size != 0)
		return HYPOTHESES_FINITE;
	if (strcmp(name, "stump") == 0 || strcmp(name, "threshold") == 0)
		return HYPOTHESES_STUMP;
	if (strcmp(name, "interval") == 0)
		return HYPOTHESES_INTERVAL;
	if (strcmp(name, "halfspace") == 0)
		return HYPOTHESES_HALFSPACE;
	refuse(errmsg("unknown hypotheses \"%s\"", name),
		   errhint("Known are stump, threshold, interval and halfspace; of a finite class give "
				   "class_size, the number of its hypotheses."));
}

/* solve_relabel(epsilon, alpha, n_max, max_rows_per_unit, features, hypotheses, class_size) */
Datum
privpred_solve_relabel(PG_FUNCTION_ARGS)
{
	EpsilonUnits epsilon = read_epsilon(PG_GETARG_FLOAT8(0), EPSILON_PER_ANSWER_MAX, "epsilon");
	RelabelParameters parameters = {
		.alpha = read_alpha(PG_GETARG_FLOAT8(1)),
		.n_max = PG_GETARG_INT64(2),
		.rows_per_unit = PG_GETARG_INT32(3),
		.features = PG_GETARG_INT32(4),
		.class = read_class(text_to_cstring(PG_GETARG_TEXT_PP(5)), PG_GETARG_INT32(6)),
		.hypotheses = PG_GETARG_INT32(6),
	};
	int64		 needed;
	RelabelProof proof;
	Rows		*row = row_begin(fcinfo);

	if (parameters.n_max < 1 || parameters.n_max > RELABEL_N_MAX || parameters.rows_per_unit < 1 ||
		parameters.features < 1)
		refuse(errmsg("n_max must be from 1 to " INT64_FORMAT
					  ", max_rows_per_unit and features at least 1",
					  RELABEL_N_MAX));
	if (parameters.hypotheses < 0 || parameters.hypotheses > FINITE_MAX_HYPOTHESES)
		refuse(errmsg("class_size must be from 1 to %d", FINITE_MAX_HYPOTHESES),
			   errhint("Leave it out unless the class is a table of its own."));
	needed = relabel_n_needed(epsilon, &parameters);
	if (!relabel_solve(epsilon, false, false, false, &parameters))
		refuse(errmsg("no parameters keep this epsilon with so few units"),
			   needed > 0 ? errhint("The least n_max that suffices is " INT64_FORMAT ".", needed)
						  : errhint("No n_max suffices; raise epsilon or alpha."));
	proof = relabel_prove(&parameters);
	put_int8(row, parameters.j);
	put_epsilon(row, parameters.kappa);
	put_float8(row, share_to_double(parameters.q));
	put_float8(row, proof.eps1);
	put_float8(row, proof.delta1);
	put_epsilon(row, proof.epsilon);
	put_int8(row, needed);
	PG_RETURN_DATUM(row_end(row));
}
