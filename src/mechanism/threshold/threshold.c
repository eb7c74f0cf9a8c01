/*
 * threshold.c
 *		The "threshold" mechanism: one numeric feature, two classes.
 *
 * Thresholds and unions of intervals, whatever the domain, without teachers:
 * the answer at x depends on where a walk over the rows up to x stands
 * (learner/threshold_walk.h), which one unit moves by at most epsilon.
 *
 * The state holds a point for every x where the walk moves, so its size could
 * tell how many different values there are.  It has room for a power of two of
 * points, and for all rows of the declared units if they are declared: then
 * its size is that of the declaration.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "draw/record.h"
#include "learner/predictor_format.h"
#include "mechanism/audit.h"
#include "mechanism/mechanism.h"
#include "mechanism/threshold/draw.h"
#include "server/progress.h"

/* The state: magic, version, epsilon, rows of a unit; then the body of a predictor's member. */
#define STATE_MAGIC "PPTH"
#define STATE_VERSION 1
#define STATE_HEADER 20

#define FIRST_ROWS 1024
#define LEAST_POINTS 1024

/* ---------- declarations ---------- */

static const Option options_of[] = {
	{"alpha", OPTION_NUMBER, WALK_MIN_ALPHA, WALK_MAX_ALPHA, WALK_DEFAULT_ALPHA},
	{NULL},
};

static ThresholdStep
declared_step(const MechanismSpec *spec)
{
	ThresholdStep step = {.epsilon = spec->epsilon, .rows = spec->max_rows_per_unit};

	return step;
}

static void
threshold_validate(const MechanismSpec *spec)
{
	if (spec->width != 1)
		refuse(
			errmsg("mechanism \"threshold\" needs one number as its feature, not %d", spec->width),
			errhint(
				"Declare one column of numbers, dates or timestamps, or use mechanism \"vote\"."));
}

/* ---------- training ---------- */

/* Grows in steps of two, up to what memory there is. */
static WalkRow *
reserve_rows(WalkRow *rows, int64 nrows, int64 *capacity, Size memory)
{
	if (nrows <= *capacity)
		return rows;
	check_training_memory(nrows * sizeof(WalkRow), memory);
	*capacity = Min(Max(2 * *capacity, nrows), (int64) (memory / sizeof(WalkRow)));
	return repalloc_huge(rows, *capacity * sizeof(WalkRow));
}

static WalkRow *
collect_rows(UnitSource *units, Size memory, int64 *nrows)
{
	int64	 capacity = FIRST_ROWS;
	WalkRow *rows = palloc_array(WalkRow, capacity);
	UnitRows unit;

	*nrows = 0;
	while (units->next(units, &unit))
	{
		CHECK_FOR_INTERRUPTS();
		rows = reserve_rows(rows, *nrows + unit.nrows, &capacity, memory);
		for (int i = 0; i < unit.nrows; i++)
		{
			rows[*nrows].x = unit.x[i];
			rows[*nrows].label = unit.label[i] > 0 ? 1 : 0;
			(*nrows)++;
		}
	}
	return rows;
}

/* Room for points, as everybody may see it. */
static int64
shown_capacity(const MechanismSpec *spec, int64 points)
{
	int64 declared =
		Min(spec->declared_units, WALK_MAX_POINTS) * Min(spec->max_rows_per_unit, WALK_MAX_POINTS);
	int64 capacity = LEAST_POINTS;

	while (capacity < Max(points, Min(declared, WALK_MAX_POINTS)))
		capacity *= 2;
	return capacity;
}

static void
write_state_header(unsigned char *state, const MechanismSpec *spec)
{
	memcpy(state, STATE_MAGIC, 4);
	write_u32(state + 4, STATE_VERSION);
	write_u32(state + 8, (uint32) spec->epsilon);
	write_u32(state + 12, (uint32) ((uint64) spec->epsilon >> 32));
	write_u32(state + 16, spec->max_rows_per_unit);
}

static bytea *
threshold_train(const MechanismSpec *spec, UnitSource *units, Size memory)
{
	ThresholdStep step = declared_step(spec);
	int32		  limit[WALK_LINKS];
	WalkRow		 *rows;
	int64		  nrows;
	int64		  points;
	int64		  capacity;
	Size		  size;
	bytea		 *state;

	/* What is declared does not depend on the rows: it is refused before they are read. */
	check_training_memory(walk_body_size(shown_capacity(spec, 0)), memory);
	rows = collect_rows(units, memory, &nrows);
	progress_phase("sorting", -1);
	walk_sort(rows, nrows);
	walk_limits(option_number(spec->options, options_of), threshold_step_size(&step), limit);
	points = walk_points(rows, nrows, limit);
	if (points > WALK_MAX_POINTS)
		ereport(
			ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("mechanism \"threshold\" can keep at most %d different values", WALK_MAX_POINTS),
			errhint("Round the column, in a generated column for instance."));
	capacity = shown_capacity(spec, points);
	size = STATE_HEADER + walk_body_size(capacity);
	check_training_memory(size + nrows * sizeof(WalkRow), memory);
	state = palloc(VARHDRSZ + size);
	SET_VARSIZE(state, VARHDRSZ + size);
	write_state_header((unsigned char *) VARDATA(state), spec);
	walk_write((unsigned char *) VARDATA(state) + STATE_HEADER, capacity, rows, nrows, limit);
	return state;
}

/* ---------- answers ---------- */

static bool
state_header_ok(const MechanismSpec *spec, const unsigned char *state, Size size)
{
	unsigned char expected[STATE_HEADER];

	write_state_header(expected, spec);
	return size >= STATE_HEADER && memcmp(state, expected, STATE_HEADER) == 0;
}

static void *
threshold_load(const MechanismSpec *spec, bytea *stored)
{
	const unsigned char *state = (const unsigned char *) VARDATA_ANY(stored);
	Size				 size = VARSIZE_ANY_EXHDR(stored);

	if (!state_header_ok(spec, state, size) ||
		!threshold_body_ok(state + STATE_HEADER, size - STATE_HEADER))
		state_damaged();
	return walk_load(state + STATE_HEADER, size - STATE_HEADER);
}

static int32
steps_at(const MechanismModel *model, WalkLink link, const double *x)
{
	return walk_at(model->state, link, x[0]);
}

static WalkLink
link_for(bool order_is_infinite)
{
	return order_is_infinite ? WALK_LAPLACE : WALK_LOGISTIC;
}

static int
threshold_answer(const Receipt *receipt, const MechanismModel *model, const double *x)
{
	ThresholdStep step = declared_step(model->spec);
	WalkLink	  link;
	int32		  steps;

	link = link_for(receipt_order_is_infinite(receipt));
	steps = steps_at(model, link, x);
	RECORD_INPUT("threshold", INPUT_LARGEST,
				 epsilon_real(step.epsilon) / threshold_step_size(&step) + 0.5, 1, &steps);
	return threshold_draw(link, &step, steps) ? 1 : 0;
}

static void
threshold_distribution(bool order_is_infinite, const MechanismModel *model, const double *x,
					   double *probability)
{
	ThresholdStep step = declared_step(model->spec);
	WalkLink	  link = link_for(order_is_infinite);

	probability[1] = threshold_probability(link, &step, steps_at(model, link, x));
	probability[0] = 1 - probability[1];
}

static int
threshold_majority(const MechanismModel *model, const double *x)
{
	int32 steps = steps_at(model, WALK_LAPLACE, x);

	return steps > 0 ? 1 : steps < 0 ? 0 : model->spec->default_class;
}

const Mechanism threshold_mechanism = {
	.name = "threshold",
	.charge_kind = CHARGE_PER_ANSWER,
	.two_classes = true,
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
