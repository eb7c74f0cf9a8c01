/*
 * solvers.c
 *		Parameters for a given epsilon, and what is proved of them: arithmetic for
 *		anybody, spending nothing.
 */
#include "postgres.h"

#include "fmgr.h"

#include "entry/entry.h"
#include "mechanism/solve.h"

PG_FUNCTION_INFO_V1(privpred_solve_stable_flip);
PG_FUNCTION_INFO_V1(privpred_solve_relabel);

static Share
read_alpha(double alpha)
{
	if (!(alpha >= ALPHA_MIN && alpha <= ALPHA_MAX))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("alpha must be a number from %g to %g", ALPHA_MIN, ALPHA_MAX),
						errdetail("It is the share of answers that are flipped."),
						errhint("Useful values lie between 0.05 and 0.2.")));
	return share_from_double(alpha);
}

/* solve_stable_flip(epsilon, alpha) */
Datum
privpred_solve_stable_flip(PG_FUNCTION_ARGS)
{
	EpsilonUnits	 epsilon = read_epsilon(PG_GETARG_FLOAT8(0), EPSILON_PER_ANSWER_MAX, "epsilon");
	StableParameters parameters = {.alpha = read_alpha(PG_GETARG_FLOAT8(1))};
	Datum			 values[4];
	bool			 nulls[4] = {false};

	if (!stable_flip_solve(epsilon, false, false, &parameters))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("epsilon is too small for this alpha"),
						errhint("Raise epsilon or alpha.")));
	values[0] = Float8GetDatum(share_to_double(parameters.q));
	values[1] = units_to_numeric(parameters.e);
	values[2] = units_to_numeric(stable_flip_epsilon(&parameters));
	values[3] = Float8GetDatum(stable_gamma(&parameters));
	PG_RETURN_DATUM(make_row(fcinfo, values, nulls));
}

/* solve_relabel(epsilon, alpha, n_max, max_rows_per_unit, features) */
Datum
privpred_solve_relabel(PG_FUNCTION_ARGS)
{
	EpsilonUnits epsilon = read_epsilon(PG_GETARG_FLOAT8(0), EPSILON_PER_ANSWER_MAX, "epsilon");
	RelabelParameters parameters = {
		.alpha = read_alpha(PG_GETARG_FLOAT8(1)),
		.n_max = PG_GETARG_INT64(2),
		.rows_per_unit = PG_GETARG_INT32(3),
		.features = PG_GETARG_INT32(4),
	};
	int64		 needed;
	RelabelProof proof;
	Datum		 values[7];
	bool		 nulls[7] = {false};

	if (parameters.n_max < 1 || parameters.n_max > RELABEL_N_MAX || parameters.rows_per_unit < 1 ||
		parameters.features < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("n_max must be from 1 to " INT64_FORMAT
							   ", max_rows_per_unit and features at least 1",
							   RELABEL_N_MAX)));
	needed = relabel_n_needed(epsilon, &parameters);
	if (!relabel_solve(epsilon, false, false, false, &parameters))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no parameters keep this epsilon with so few units"),
				 needed > 0 ? errhint("The least n_max that will do is " INT64_FORMAT ".", needed)
							: errhint("No n_max will do: raise epsilon or alpha.")));
	proof = relabel_prove(&parameters);
	values[0] = Int64GetDatum(parameters.j);
	values[1] = units_to_numeric(parameters.kappa);
	values[2] = Float8GetDatum(share_to_double(parameters.q));
	values[3] = Float8GetDatum(proof.eps1);
	values[4] = Float8GetDatum(proof.delta1);
	values[5] = units_to_numeric(proof.epsilon);
	values[6] = Int64GetDatum(needed);
	PG_RETURN_DATUM(make_row(fcinfo, values, nulls));
}
