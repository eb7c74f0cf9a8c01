/*
 * relabel.c
 *		The "relabel" mechanism: a hypothesis that is drawn anew relabels all rows,
 *		chunks of them vote, and the answer is flipped now and then (Dagan,
 *		Feldman 2020, section 4; docs/mechanisms.md, section 5).
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/audit.h"
#include "mechanism/drawn.h"
#include "mechanism/solve.h"

/* ---------- options ---------- */

enum
{
	ALPHA,
	N_MAX,
	J,
	KAPPA,
	Q,
	CHUNKS,
	HYPOTHESES,
	CLASS_TABLE
};

static const char *const class_names[] = {DRAWN_CLASSES, NULL};

static const Option options_of[] = {
	[ALPHA] = {"alpha", OPTION_NUMBER, ALPHA_MIN, ALPHA_MAX, ALPHA_DEFAULT},
	[N_MAX] = {"n_max", OPTION_COUNT, 1, RELABEL_N_MAX}, /* the declared units */
	[J] = {"j", OPTION_COUNT, 0, RELABEL_N_MAX},
	[KAPPA] = {"kappa", OPTION_NUMBER, 1e-9, 100, 1},
	[Q] = {"q", OPTION_NUMBER, 1e-9, 0.999999, 0.5},
	[CHUNKS] = {"chunks", OPTION_COUNT, 1, PRIVPRED_MAX_TEACHERS}, /* enough of them */
	[HYPOTHESES] = CHOICE_OPTION("hypotheses", class_names),
	[CLASS_TABLE] = {"class_table", OPTION_NAME},
	{NULL},
};

static HypothesisClass
read_class(const MechanismSpec *spec)
{
	return drawn_class(spec, &options_of[HYPOTHESES], 2);
}

pg_noreturn static void
refuse_parameters(const MechanismSpec *spec, const RelabelParameters *parameters)
{
	int64 needed = relabel_n_needed(spec->epsilon, parameters);

	refuse(
		errmsg("the declared parameters would exceed the epsilon of the model"),
		errdetail("With n_max = " INT64_FORMAT ", alpha = %.6g, j = " INT64_FORMAT
				  ", kappa = %.6g, q = %.6g the proved epsilon is %.6g; it must be at most %.6g, "
				  "and kappa * j at least 1.",
				  parameters->n_max, share_to_double(parameters->alpha), parameters->j,
				  epsilon_real(parameters->kappa), share_to_double(parameters->q),
				  epsilon_real(relabel_prove(parameters).epsilon), epsilon_real(spec->epsilon)),
		needed > 0
			? errhint("Without j, kappa and q, the least n_max that suffices is " INT64_FORMAT ".",
					  needed)
			: errhint("No n_max suffices; raise epsilon or alpha, or use mechanism \"vote\"."));
}

/* Only declared numbers decide, also whether they are refused. */
RelabelParameters
relabel_parameters(const MechanismSpec *spec, const FiniteClass *finite)
{
	RelabelParameters parameters = {.class = read_class(spec)};
	Jsonb			 *options = spec->options;

	parameters.n_max = option_or(options, &options_of[N_MAX], spec->declared_units);
	parameters.rows_per_unit = spec->max_rows_per_unit;
	parameters.features = spec->width;
	parameters.hypotheses = finite != NULL ? finite->nhypotheses : FINITE_MAX_HYPOTHESES;
	parameters.alpha = share_from_double(option_number(options, &options_of[ALPHA]));
	parameters.j = option_number(options, &options_of[J]);
	parameters.kappa = rint(option_number(options, &options_of[KAPPA]) * EPSILON_UNITS_PER_ONE);
	parameters.q = share_from_double(option_number(options, &options_of[Q]));
	if (parameters.n_max == 0)
		refuse(errmsg("mechanism \"relabel\" needs a declared number of units"),
			   errhint("Declare it by privpred.protect(..., declared_units => N) or "
					   "options => '{\"n_max\": N}'; of more units, N are used."));
	if (!relabel_solve(spec->epsilon, option_given(options, "j"), option_given(options, "kappa"),
					   option_given(options, "q"), &parameters))
		refuse_parameters(spec, &parameters);
	return parameters;
}

/*
 * Enough chunks that the vote, should they agree, errs no more often than the
 * flip, but no more than a chunk for every unit.
 */
static int
read_chunks(const MechanismSpec *spec, const RelabelParameters *parameters)
{
	double enough = ceil(2 * log(1 / (2 * share_to_double(parameters->alpha))) /
						 epsilon_real(parameters->kappa));
	double most = Min(parameters->n_max, PRIVPRED_MAX_TEACHERS);

	return (int) option_or(spec->options, &options_of[CHUNKS], floor(Min(Max(enough, 1), most)));
}

static void
relabel_validate(const MechanismSpec *spec)
{
	RelabelParameters parameters = relabel_parameters(spec, spec->finite_class);

	finite_state_validate(spec, parameters.n_max);
	drawn_check_sample(spec, parameters.class, parameters.n_max, parameters.q);
}

/* ---------- state ---------- */

/* The bound on what T may miss holds for at most n_max units, so no more are kept. */
static bytea *
relabel_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	return finite_state_train(spec, units, memory,
							  relabel_parameters(spec, spec->finite_class).n_max);
}

/* Chunks are made of units by their id alone. */
static Chunks *
make_chunks(const DrawnModel *model, int nchunks)
{
	const UnitTable *table = model->table;
	int32			*chunk_of = TAKE(int32, table->units.nunits);
	Chunks			*chunks;

	for (int32 i = 0; i < table->units.nunits; i++)
		chunk_of[i] = (int32) (table->hash[i] % nchunks);
	chunks = chunks_create(&model->source, nchunks, chunk_of);
	pfree(chunk_of);
	return chunks;
}

static void *
relabel_load(const MechanismSpec *spec, bytea *state)
{
	DrawnModel		 *model = drawn_load(spec, state);
	RelabelParameters parameters = relabel_parameters(spec, model->source.finite);

	model->alpha = parameters.alpha;
	model->kappa = parameters.kappa;
	model->source.class = parameters.class;
	drawn_prepare(spec, model, parameters.q, 2 * parameters.kappa);
	model->chunks = make_chunks(model, read_chunks(spec, &parameters));
	return model;
}

const Mechanism relabel_mechanism = {
	.name = "relabel",
	.charge_kind = CHARGE_PER_ANSWER,
	.two_classes = true,
	.needs_unit_rows = true,
	.finds_cuts = true,
	.options = options_of,
	.validate = relabel_validate,
	.train = relabel_train,
	.load = relabel_load,
	.answer = drawn_answer,
	.distribution = drawn_distribution,
	.estimate_steps = drawn_estimate_steps,
	.majority = drawn_majority,
	.plan = &plan_relabel,
	.audit_cases = relabel_audit_cases,
};
