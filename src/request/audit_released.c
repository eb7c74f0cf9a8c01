/*
 * audit_released.c
 *		Audits of released models: a draw is a training.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "mechanism/gradient/gradient.h"
#include "mechanism/littlestone/littlestone.h"
#include "request/audit.h"

static const char *const answers_b_first[] = {"answer b", "answer a"};

/* Trains anew and asks; the first outcome is the second class. */
static int
draw_model(void *argument)
{
	MadeUp *table = argument;

	made_up_train(table);
	made_up_load(table);
	return 1 - made_up_answer(table);
}

static void
compare_models(Audit *audit, AuditCase *compare, MadeUp *first, MadeUp *second)
{
	MadeUp *tables[2] = {first, second};

	for (int i = 0; i < 2; i++)
	{
		made_up_read(tables[i]);
		tables[i]->receipt = ledger_audit_receipt(&tables[i]->record, false);
		compare->table[i] = tables[i];
	}
	compare->events = answers_b_first;
	compare->outputs = 2;
	compare->most = AUDIT_MOST_MODELS;
	compare->draw = draw_model;
	audit_compare(audit, compare);
}

/* ---------- cover, label_private ---------- */

/* The hypotheses that are a bit of h on point a, and another on b. */
static FiniteClass *
make_class(int nhypotheses, const int *of_a, const int *of_b)
{
	FiniteClass *class = palloc0_object(FiniteClass);

	class->nhypotheses = nhypotheses;
	class->npoints = 2;
	class->columns = palloc0_array(uint64, 2);
	class->names = palloc_array(char *, nhypotheses);
	for (int h = 0; h < nhypotheses; h++)
	{
		class->names[h] = psprintf("h%d", h);
		if (of_a[h])
			bits_add(class->columns, h);
		if (of_b[h])
			bits_add(class->columns + 1, h);
	}
	return class;
}

/* The question is the level "b". */
static void
ask_b(MadeUp *table)
{
	table->x[0] = 0;
	table->x[1] = 1;
}

/*
 * Two candidates, always a and always b; one makes one error more than the
 * other, and with a unit turned one less: the odds move by exactly epsilon.  The
 * unit has three rows, that count as one.
 */
void
audit_cover(Audit *audit)
{
	static const int constants[] = {0, 1};
	MadeUp			*tables[2];
	AuditCase		 compare = {.pair = "two units say a, b, and a third b or a",
								.charge = &audit->price.finite,
								.likely = 0.6};

	for (int i = 0; i < 2; i++)
	{
		MadeUp *table = made_up_create(audit, audit->model->mechanism, true, 2,
									   "{\"class_table\": \"made up\", \"accuracy\": 1}");

		table->record.spec.finite_class = make_class(2, constants, constants);
		table->record.spec.declared_units = 1000000000;
		made_up_row(table, 1, 0, 0);
		made_up_row(table, 2, 1, 1);
		for (int row = 0; row < 3; row++)
			made_up_row(table, 3, 1, i == 0 ? 1 : 0);
		ask_b(table);
		tables[i] = table;
	}
	compare_models(audit, &compare, tables[0], tables[1]);
}

/* ---------- littlestone ---------- */

#define HISTOGRAM_DELTA 0.05
#define MOST_UNITS 1000 /* of a made-up table */

/* Two points, all four labellings of them. */
static MadeUp *
littlestone_table(const Audit *audit, int batches)
{
	static const int of_a[] = {0, 1, 0, 1};
	static const int of_b[] = {0, 0, 1, 1};
	MadeUp			*table =
		made_up_create(audit, &littlestone_mechanism, true, 2,
					   psprintf("{\"class_table\": \"made up\", \"batches\": %d, \"delta\": %g}",
								batches, HISTOGRAM_DELTA));

	table->record.spec.finite_class = make_class(4, of_a, of_b);
	table->record.spec.declared_units = batches;
	ask_b(table);
	return table;
}

/*
 * One batch alone has rows, and one unit alone says b of b: that hypothesis is
 * given by one batch or by none.  If it is kept, it is chosen, as all others are
 * wrong about the many units that say b of a.
 */
static MadeUp *
one_batch(const Audit *audit, int batches, int units, bool says_b)
{
	MadeUp *table = littlestone_table(audit, batches);
	int64  *ids = made_up_ids_of_first(table, batches, units);

	made_up_row(table, ids[0], 1, says_b ? 1 : 0);
	for (int i = 1; i < units; i++)
		made_up_row(table, ids[i], 0, 1);
	return table;
}

/* So many batches of a unit that says b of b, one of them or not. */
static MadeUp *
many_batches(const Audit *audit, int batches, int saying, int turned)
{
	MadeUp *table = littlestone_table(audit, batches);
	int64  *ids = made_up_ids(table, batches);

	for (int i = 0; i < saying; i++)
		made_up_row(table, ids[i], 1, i < turned ? 0 : 1);
	return table;
}

void
audit_littlestone(Audit *audit)
{
	EpsilonUnits half = audit->model->spec.epsilon / 2;
	double		 rate = (double) half / 2 / EPSILON_UNITS_PER_ONE; /* of the choice */
	int64		 threshold = histogram_threshold(half, HISTOGRAM_DELTA);
	double		 units = 1 + ceil(10 / rate);
	Charge		 charge = audit->price.finite;
	AuditCase	 compare = {.charge = &charge};

	charge.delta = HISTOGRAM_DELTA;
	if (units > MOST_UNITS)
	{
		audit_not_compared(audit, "one batch has rows", "needs too many units", &charge);
		return;
	}
	compare.pair = "one batch has rows, and one of its units tells its hypothesis";
	compare_models(audit, &compare, one_batch(audit, threshold + 1, units, true),
				   one_batch(audit, threshold + 1, units, false));

	/* What the threshold's noise is for: a count of one more than it, or equal. */
	compare.pair = "batches that give a hypothesis: one more than the threshold, or as many";
	compare_models(audit, &compare, many_batches(audit, threshold + 2, threshold + 1, 0),
				   many_batches(audit, threshold + 2, threshold + 1, 1));
}

/* ---------- gradient ---------- */

#define PILOT_MODELS 100 /* of each table, to find an event with */

typedef struct Steps
{
	MadeUp *table;
	double	bound;
} Steps;

static double
draw_step(Steps *steps)
{
	MadeUp *table = steps->table;
	double	score;

	made_up_train(table);
	made_up_load(table);
	(void) mechanism_score(&gradient_mechanism, table->receipt, &table->model, table->x, 0, &score);
	return score;
}

static int
draw_above(void *argument)
{
	Steps *steps = argument;

	return draw_step(steps) >= steps->bound ? 0 : 1;
}

/*
 * One unit and one step, whose gradient is clipped whatever its label is; it
 * points the same way, so the question at its own features sees it best.
 */
static Steps *
make_steps(const Audit *audit, double delta, int rows, bool says_b)
{
	Steps  *steps = palloc0_object(Steps);
	MadeUp *table =
		made_up_create(audit, &gradient_mechanism, false, 2,
					   psprintf("{\"delta\": %.17g, \"steps\": 1, \"clip\": 0.05}", delta));

	table->record.spec.declared_units = 1;
	for (int i = 0; i < rows; i++)
		made_up_row(table, 1, 1, says_b ? 1 : 0);
	made_up_read(table);
	table->x[0] = 1;
	table->receipt = ledger_audit_receipt(&table->record, false);
	steps->table = table;
	return steps;
}

static int
compare_doubles(const void *a, const void *b)
{
	double left = *(const double *) a;
	double right = *(const double *) b;

	return (left > right) - (left < right);
}

/* Draws of their own, so that the event does not depend on what is counted. */
static double
middle_score(Audit *audit, Steps *tables[2])
{
	double		  scores[2 * PILOT_MODELS];
	MemoryContext caller = MemoryContextSwitchTo(audit->draw_context);

	for (int i = 0; i < 2 * PILOT_MODELS; i++)
	{
		CHECK_FOR_INTERRUPTS();
		scores[i] = draw_step(tables[i % 2]);
		MemoryContextReset(audit->draw_context);
	}
	MemoryContextSwitchTo(caller);
	qsort(scores, 2 * PILOT_MODELS, sizeof(double), compare_doubles);
	return scores[PILOT_MODELS];
}

void
audit_gradient(Audit *audit)
{
	static const char *const events[] = {"above the middle", "below it"};
	double delta = option_number(&audit->model->spec, "delta", GRADIENT_DEFAULT_DELTA, 0, 1);

	for (int rows = 1; rows <= 7; rows += 6)
	{
		AuditCase compare = {.events = events,
							 .outputs = 2,
							 .charge = &audit->price.finite,
							 .likely = 0.6,
							 .most = AUDIT_MOST_MODELS,
							 .draw = draw_above};
		Steps	 *tables[2];

		for (int i = 0; i < 2; i++)
			compare.table[i] = tables[i] = make_steps(audit, delta, rows, i == 0);
		tables[0]->bound = tables[1]->bound = middle_score(audit, tables);
		compare.pair = psprintf("the only unit, of %d row%s, says b or a; one step", rows,
								rows > 1 ? "s" : "");
		audit_compare(audit, &compare);
	}
}
