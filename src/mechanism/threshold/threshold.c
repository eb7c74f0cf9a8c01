/*
 * threshold.c
 *		The "threshold" mechanism: numeric features, no teachers.
 *
 * Thresholds and unions of intervals, whatever the domain: the answer at x
 * depends on where a walk over the rows up to x stands, which one unit moves by
 * at most epsilon.  Two classes and one column have a walk of one number
 * (learner/threshold_walk.h); more of either have those of many.h.
 *
 * train.c		from rows to a stored state
 * many.h		walks of several classes, on several columns
 */
#include "postgres.h"

#include "draw/record.h"
#include "learner/predictor_format.h"
#include "mechanism/audit.h"
#include "mechanism/threshold/draw.h"
#include "mechanism/threshold/threshold.h"
#include "mechanism/vote/draw.h"

/* ---------- declarations ---------- */

enum
{
	ALPHA, /* comes first: audit.c */
	COMBINE
};

static const char *const combination_names[] = {
	[COMBINE_VOTE] = "vote", [COMBINE_SUM] = "sum", [COMBINE_SUM + 1] = NULL};

static const Option options_of[] = {
	[ALPHA] = {"alpha", OPTION_NUMBER, WALK_MIN_ALPHA, WALK_MAX_ALPHA, WALK_DEFAULT_ALPHA},
	[COMBINE] = CHOICE_OPTION("combine", combination_names),
	{NULL},
};

static ThresholdStep
declared_step(const MechanismSpec *spec)
{
	ThresholdStep step = {.epsilon = spec->epsilon, .rows = spec->max_rows_per_unit};

	return step;
}

static Combination
declared_combination(const MechanismSpec *spec)
{
	return (Combination) option_number(spec->options, &options_of[COMBINE]);
}

const char *
threshold_combine(const MechanismSpec *spec)
{
	return combination_names[declared_combination(spec)];
}

void
threshold_limits(const MechanismSpec *spec, int32 *limit)
{
	ThresholdStep step = declared_step(spec);
	double		  alpha = option_number(spec->options, &options_of[ALPHA]);
	double		  size = threshold_step_size(&step);

	if (threshold_is_single(spec))
		walk_limits(alpha, size, limit);
	else
		many_limits(declared_combination(spec), spec->nclasses, spec->width, alpha, size, limit);
}

static void
threshold_validate(const MechanismSpec *spec)
{
	for (int i = 0; spec->width > 1 && i < spec->width; i++)
		if (spec->columns[i].level != NULL)
			refuse(errmsg("mechanism \"threshold\" needs numbers as its features, and \"%s\" has "
						  "levels",
						  spec->columns[i].name),
				   errhint("Declare columns of numbers, dates, timestamps or booleans, or use "
						   "mechanism \"vote\"."));
	if (spec->width == 1 && option_given(spec->options, "combine"))
		refuse(errmsg("option \"combine\" needs several features"),
			   errhint("Leave it out: a single column has nothing to be combined with."));
	if (threshold_most_points(spec) < THRESHOLD_LEAST_POINTS)
		refuse(errmsg("mechanism \"threshold\" has no room for %d classes and %d features",
					  spec->nclasses, spec->width),
			   errhint("Declare fewer of either, or use mechanism \"vote\"."));
}

/* ---------- answers ---------- */

static bool
state_header_ok(const MechanismSpec *spec, const unsigned char *state, Size size)
{
	unsigned char expected[THRESHOLD_STATE_HEADER];

	threshold_write_header(expected, spec);
	return size >= THRESHOLD_STATE_HEADER && memcmp(state, expected, THRESHOLD_STATE_HEADER) == 0;
}

static void *
threshold_load(const MechanismSpec *spec, bytea *stored)
{
	const unsigned char *state = (const unsigned char *) VARDATA_ANY(stored);
	Size				 size = VARSIZE_ANY_EXHDR(stored);

	ManyState *many = NULL;

	if (!state_header_ok(spec, state, size))
		state_damaged();
	if (threshold_is_single(spec))
	{
		if (!threshold_body_ok(state + THRESHOLD_STATE_HEADER, size - THRESHOLD_STATE_HEADER))
			state_damaged();
		return walk_load(state + THRESHOLD_STATE_HEADER, size - THRESHOLD_STATE_HEADER);
	}
	many = many_load(state + THRESHOLD_STATE_HEADER, size - THRESHOLD_STATE_HEADER, spec->nclasses,
					 spec->width);
	if (many == NULL)
		state_damaged();
	return many;
}

static int32
steps_at(const MechanismModel *model, WalkLink link, const double *x)
{
	return walk_at(model->state, link, x[0]);
}

/* Scores of all classes, which one unit moves by at most declared_most() each, up to a constant. */
static void
scores_at(const MechanismModel *model, WalkLink link, const double *x, int32 *scores)
{
	const MechanismSpec *spec = model->spec;
	const int32		   **behind = palloc_array(const int32 *, spec->width);
	int32				*scratch = palloc_array(int32, 3 * spec->width);

	many_at(model->state, spec->nclasses, spec->width, link, x, behind);
	many_scores(declared_combination(spec), spec->nclasses, spec->width, behind, scratch, scores);
	pfree(behind);
	pfree(scratch);
}

static int64
declared_most(const MechanismSpec *spec)
{
	return many_most(declared_combination(spec), spec->width, spec->max_rows_per_unit);
}

static WalkLink
link_for(bool order_is_infinite)
{
	return order_is_infinite ? WALK_LAPLACE : WALK_LOGISTIC;
}

static int
answer_single(bool order_is_infinite, const MechanismModel *model, const double *x)
{
	ThresholdStep step = declared_step(model->spec);
	WalkLink	  link = link_for(order_is_infinite);
	int32		  steps = steps_at(model, link, x);

	RECORD_INPUT("threshold", INPUT_LARGEST,
				 epsilon_real(step.epsilon) / threshold_step_size(&step) + 0.5, 1, &steps);
	return threshold_draw(link, &step, steps) ? 1 : 0;
}

#ifdef PRIVPRED_RECORD_INPUTS
/* How far every class is behind the one in front, which is what is drawn from. */
static void
record_scores(const MechanismSpec *spec, const int32 *scores)
{
	int32 behind[PRIVPRED_MAX_CLASSES];
	int32 best = scores[vote_majority(spec->nclasses, scores)];

	for (int i = 0; i < spec->nclasses; i++)
		behind[i] = best - scores[i];
	RECORD_INPUT("threshold_many", INPUT_LARGEST, 2 * declared_most(spec), spec->nclasses, behind);
}
#else
#define record_scores(spec, scores) ((void) 0)
#endif

static int
threshold_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	const MechanismSpec *spec = model->spec;
	bool				 order_is_infinite = receipt_order_is_infinite(receipt);
	int32				 scores[PRIVPRED_MAX_CLASSES];

	if (threshold_is_single(spec))
		return answer_single(order_is_infinite, model, x);
	scores_at(model, link_for(order_is_infinite), x, scores);
	record_scores(spec, scores);
	return score_draw_within(order_is_infinite, spec->epsilon, declared_most(spec), spec->nclasses,
							 scores);
}

static void
threshold_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
					   double *probability)
{
	const MechanismSpec *spec = model->spec;
	ThresholdStep		 step = declared_step(spec);
	WalkLink			 link = link_for(order_is_infinite);
	int32				 scores[PRIVPRED_MAX_CLASSES];

	if (threshold_is_single(spec))
	{
		probability[1] = threshold_probability(link, &step, steps_at(model, link, x));
		probability[0] = 1 - probability[1];
		return;
	}
	scores_at(model, link, x, scores);
	score_distribution_within(order_is_infinite, spec->epsilon, declared_most(spec), spec->nclasses,
							  scores, probability);
}

/* Whoever is in front; the default, if it is among several. */
static int
threshold_majority(const MechanismModel *model, const double *x)
{
	const MechanismSpec *spec = model->spec;
	int32				 scores[PRIVPRED_MAX_CLASSES];
	int					 front;

	if (threshold_is_single(spec))
	{
		int32 steps = steps_at(model, WALK_LAPLACE, x);

		return steps > 0 ? 1 : steps < 0 ? 0 : spec->default_class;
	}
	scores_at(model, WALK_LAPLACE, x, scores);
	front = vote_majority(spec->nclasses, scores);
	return scores[spec->default_class] == scores[front] ? spec->default_class : front;
}

const Mechanism threshold_mechanism = {
	.name = "threshold",
	.charge_kind = CHARGE_PER_ANSWER,
	.needs_unit_rows = true,
	.finds_cuts = true,
	.options = options_of,
	.validate = threshold_validate,
	.finite_shape = CHARGE_BOUNDED_RANGE, /* the Laplace link is not; the logistic one is */
	.train = threshold_train,
	.load = threshold_load,
	.answer = threshold_answer,
	.distribution = threshold_distribution,
	.majority = threshold_majority,
	.plan = &plan_threshold,
	.audit_cases = threshold_audit_cases,
};
