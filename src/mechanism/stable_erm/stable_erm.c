/*
 * stable_erm.c
 *		The "stable_erm" mechanism: noise on the score of a regularised fit
 *		(docs/mechanisms.md, section 11).
 *
 * One unit moves the score by a declared amount at most (erm.h), so noise on
 * the score makes an answer private: one draw, whatever the dimension.  Every
 * constant comes from the declaration.
 *
 * With more than two classes each has a fit against the rest, and the answer is
 * drawn by all their scores together (classes.c).
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/audit.h"
#include "mechanism/stable_erm/rows.h"
#include "mechanism/stable_erm/stable_erm.h"
#include "mechanism/weights.h"
#include "server/number_text.h"

#define STATE_FORMAT 0x45524d31 /* "ERM1" */

/* ---------- the price ---------- */

static bool
stable_erm_charge(const MechanismSpec *spec, bool order_is_infinite, Charge *charge)
{
	ChargePart *part = &charge->part[0];

	if (spec->nclasses > 2)
	{
		/* Of several classes: permute-and-flip, and the exponential mechanism. */
		part->times = 1;
		part->shape = order_is_infinite ? CHARGE_PURE : CHARGE_BOUNDED_RANGE;
		part->epsilon = spec->epsilon;
	}
	else
		erm_noise_charge(order_is_infinite, spec->epsilon, part);
	return true;
}

/* ---------- training ---------- */

/* The minimum for each class, or the only one. */
static void
solve_all(StableErm *erm, const MechanismSpec *spec, UnitSource *units, Size memory)
{
	ErmProblem *problem = &erm->problem;
	ErmSource  *rows;
	bool		dense;
	Size		workspace;
	void	   *work;

	dense = problem->dimension <= ERM_MAX_DENSE &&
			(problem->loss == ERM_SQUARED || erm_workspace(problem, true) <= memory / 2);
	workspace = erm_workspace(problem, dense);
	check_training_memory(workspace, memory);
	work = palloc(workspace);
	rows = erm_rows_open(problem, spec, units, memory - workspace);
	for (int k = 0; k < erm->fits; k++)
	{
		problem->class = k;
		(void) erm_solve(problem, rows, dense, work, erm->w + (Size) k * problem->dimension);
	}
}

static bytea *
stable_erm_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	StableErm erm;
	int64	  weights;

	stable_erm_describe(spec, &erm);
	weights = (int64) erm.fits * erm.problem.dimension;
	erm.w = palloc_array(double, weights);
	if (erm.one_pass)
	{
		check_training_memory(erm_sgd_workspace(&erm.problem, erm.fits), memory);
		erm_sgd_train(&erm.problem, &erm.sgd, spec, units, erm.fits, erm.w);
	}
	else
		solve_all(&erm, spec, units, memory);
	return weights_write(STATE_FORMAT, weights, erm.w);
}

/* What training cannot have written. */
static void
check_weights(const StableErm *erm)
{
	int n = erm->problem.dimension;

	for (int k = 0; k < erm->fits; k++)
	{
		const double *w = erm->w + (Size) k * n;
		double		  radius =
			   erm->one_pass ? sqrt(n) * erm->sgd.weight * (1 + 1e-9) : erm->problem.radius;

		if (sqrt(erm_dot(w, w, n)) > radius)
			state_damaged();
	}
}

static void *
stable_erm_load(const MechanismSpec *spec, bytea *state)
{
	StableErm *erm = palloc_object(StableErm);
	int		   dimension = spec->width + 1;

	stable_erm_describe(spec, erm);
	erm->x = palloc_array(float, dimension);
	erm->w = weights_read(STATE_FORMAT, (int64) erm->fits * dimension, state);
	check_weights(erm);
	return erm;
}

/* ---------- answers ---------- */

/* The score at x of every fit, and how many steps of the grid one unit can move each. */
static int64
scores_at(const MechanismModel *model, const double *x, double *scores)
{
	StableErm *erm = model->state;
	double	   norm = erm_features(&erm->problem, x, erm->x);

	for (int k = 0; k < erm->fits; k++)
		scores[k] = erm_score(&erm->problem, erm->w + (Size) k * erm->problem.dimension, erm->x);
	return erm_shift(stable_erm_sensitivity(erm, norm), erm->grid);
}

/* Of the only fit. */
static double
score_at(const MechanismModel *model, const double *x, int64 *shift)
{
	double score;

	*shift = scores_at(model, x, &score);
	return score;
}

static int64
draw_steps(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	int64  shift;
	double score = score_at(model, x, &shift);

	return erm_draw(receipt_order_is_infinite(receipt), model->spec->epsilon, score,
					((StableErm *) model->state)->grid, shift);
}

static int
class_of(const MechanismSpec *spec, double score)
{
	return score > 0 ? 1 : score < 0 ? 0 : spec->default_class;
}

static int
stable_erm_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	const StableErm *erm = model->state;
	double			 scores[PRIVPRED_MAX_CLASSES];
	int64			 shift;

	if (erm->fits == 1)
		return class_of(model->spec, (double) draw_steps(receipt, model, x));
	shift = scores_at(model, x, scores);
	return erm_draw_class(receipt_order_is_infinite(receipt), model->spec->epsilon, erm->fits,
						  scores, erm->grid, shift);
}

static bool
stable_erm_score(const Receipt *receipt, const MechanismModel *model, const double *x,
				 double precision, double *score)
{
	double noisy = draw_steps(receipt, model, x) * ((StableErm *) model->state)->grid;

	*score = model->spec->nclasses > 0 ? 1 / (1 + exp(-noisy)) : erm_number(model->spec, noisy);
	return true;
}

/* ---------- for the owner ---------- */

static void
stable_erm_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
						double *probability)
{
	const StableErm *erm = model->state;
	double			 scores[PRIVPRED_MAX_CLASSES];
	int64			 shift = scores_at(model, x, scores);

	if (erm->fits > 1)
	{
		erm_class_distribution(order_is_infinite, model->spec->epsilon, erm->fits, scores,
							   erm->grid, shift, probability);
		return;
	}
	erm_draw_signs(order_is_infinite, model->spec->epsilon, scores[0], erm->grid, shift,
				   &probability[1], &probability[0]);
	probability[model->spec->default_class] += Max(0, 1 - probability[0] - probability[1]);
}

static int
stable_erm_majority(const MechanismModel *model, const double *x)
{
	const StableErm *erm = model->state;
	double			 scores[PRIVPRED_MAX_CLASSES];
	int				 best = 0;

	(void) scores_at(model, x, scores);
	if (erm->fits == 1)
		return class_of(model->spec, scores[0]);
	for (int k = 1; k < erm->fits; k++)
	{
		if (scores[k] > scores[best])
			best = k;
	}
	return best;
}

static bool
stable_erm_answers_at(const MechanismSpec *spec)
{
	return spec->epsilon >= ERM_MIN_EPSILON;
}

/* By default lambda follows epsilon; the fit has the one that it has. */
static char *
stable_erm_answers_at_if(const MechanismModel *model)
{
	char lambda[NUMBER_TEXT_SIZE];

	if (option_given(model->spec->options, "lambda"))
		return NULL;
	return psprintf("with option \"lambda\": %s, as this model has it",
					number_text(((StableErm *) model->state)->problem.lambda, lambda));
}

static double
stable_erm_squared_error(bool order_is_infinite, const MechanismModel *model, const double *x,
						 double truth)
{
	double scale = erm_label_scale(model->spec);
	double label = erm_label(model->spec, truth);
	int64  shift;
	double score = score_at(model, x, &shift);
	double mean;
	double square;

	erm_draw_moments(order_is_infinite, model->spec->epsilon, score,
					 ((StableErm *) model->state)->grid, shift, -1, 1, &mean, &square);
	return scale * scale * (square - 2 * label * mean + label * label);
}

static double
stable_erm_plain_score(const MechanismModel *model, const double *x)
{
	int64 shift;

	return erm_number(model->spec, score_at(model, x, &shift));
}

const Mechanism stable_erm_mechanism = {
	.name = "stable_erm",
	.charge_kind = CHARGE_PER_ANSWER,
	.numeric_labels = true,
	.scores_two_classes = true,
	.needs_units = true,
	.wants_order = stable_erm_wants_order,
	.options = stable_erm_options,
	.validate = stable_erm_validate,
	.finite_shape = CHARGE_BOUNDED_RANGE, /* what the Gaussian noise is set to cost */
	.charge = stable_erm_charge,
	.train = stable_erm_train,
	.load = stable_erm_load,
	.answer = stable_erm_answer,
	.score = stable_erm_score,
	.distribution = stable_erm_distribution,
	.majority = stable_erm_majority,
	.plain_score = stable_erm_plain_score,
	.squared_error = stable_erm_squared_error,
	.answers_at = stable_erm_answers_at,
	.answers_at_if = stable_erm_answers_at_if,
	.plan = &plan_stable_erm,
	.audit_cases = stable_erm_audit_cases,
};
