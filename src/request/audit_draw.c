/*
 * audit_draw.c
 *		One draw of an audit case.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "mechanism/accuracy/accuracy.h"
#include "mechanism/describe/describe.h"
#include "request/audit.h"
#include "request/train.h"

#define STREAM_ANSWERS 10000 /* at most, as a broken threshold may never end a stream */

#define UNSTABLE (-1)
#define STREAM_ENDED (-2)

static int
ask(MadeUp *table, int question)
{
	const Mechanism *mechanism = table->record.mechanism;
	const Receipt	*receipt = audit_receipt(table->paid);
	const double	*x = table->x + question * table->record.spec.width;
	double			 score;

	if (receipt == NULL)
		return STREAM_ENDED;
	if (mechanism->asks_teachers)
		table->model.votes = table->votes[question];
	if (table->record.spec.nclasses > 2)
		table->model.score_class = question % 2 == 0 ? 2 : 1;
	if (mechanism_gives_answers(mechanism))
		return mechanism_answer(mechanism, receipt, &table->model, x);
	if (!mechanism_score(mechanism, receipt, &table->model, x, 0, &score))
		return UNSTABLE;
	return score > 0.5 ? 1 : 0;
}

static bool
score_is_above(MadeUp *table)
{
	double score;

	(void) mechanism_score(table->record.mechanism, audit_receipt(table->paid), &table->model,
						   table->x, 0, &score);
	return score >= table->plan->bound;
}

static bool
all_are_class(MadeUp *table)
{
	bool all = true;

	made_up_load(table);
	for (int i = 0; i < AUDIT_SESSION_ANSWERS; i++)
		all &= ask(table, 0) == table->plan->class;
	return all;
}

static bool
run_ends_as_planned(MadeUp *table)
{
	audit_stream_open(table->paid);
	for (int i = 0; i < AUDIT_RUN_LABELS; i++)
		if (ask(table, 0) < 0)
			return false;
	return ask(table, 1) == UNSTABLE;
}

static bool
ever_says_class(MadeUp *table)
{
	int answer = UNSTABLE;

	audit_stream_open(table->paid);
	for (int i = 0; i < STREAM_ANSWERS && answer != STREAM_ENDED; i++)
	{
		CHECK_FOR_INTERRUPTS();
		answer = ask(table, 0);
		if (answer == table->plan->class)
			return true;
	}
	return false;
}

/* As release_accuracy() does it, of units with the same row, all of the case's class. */
static bool
accuracy_is_above(MadeUp *table)
{
	const AuditCase *plan = table->plan;
	AccuracySum		 sum = {.wanted = plan->measured};
	double			 probability[AUDIT_MAX_OUTPUTS];
	int64			 noisy;

	table->model.votes = table->votes[0];
	mechanism_distribution(table->record.mechanism, true, &table->model, table->x, probability);
	for (int64 i = 0; i < plan->measured; i++)
		accuracy_add(&sum, &probability[plan->class], 1);
	noisy =
		mechanism_accuracy(audit_receipt(table->paid), accuracy_mean(&sum),
						   accuracy_sensitivity(plan->measured, plan->charge), plan->run_epsilon);
	return accuracy_number(noisy) >= plan->bound;
}

/* As describe() does it: a unit's value is the class that it votes for. */
static bool
second_looks_fuller(MadeUp *table)
{
	const AuditCase *plan = table->plan;
	int				 cell[2];
	DescribeNoise	 noise;
	Histogram		 histogram = {.kind = DESCRIBED_INTEGER};

	histogram.cells = palloc0_array(int64, described_cells(DESCRIBED_INTEGER));
	for (int i = 0; i < 2; i++)
	{
		cell[i] = described_cell(DESCRIBED_INTEGER, i);
		histogram.cells[cell[i]] = table->votes[0][i];
	}
	if (!describe_noise((double) plan->run_epsilon / EPSILON_UNITS_PER_ONE, plan->run_delta, 1, 0,
						&noise))
		elog(ERROR, "an audited description has no noise");
	mechanism_describe(audit_receipt(table->paid), &noise, 1, &histogram, NULL);
	return histogram.cells[cell[1]] > histogram.cells[cell[0]];
}

/* Teachers label the public rows, which are the questions, and a student learns them. */
static int
draw_student(MadeUp *table)
{
	ModelRecord	  *student = &table->student;
	MechanismModel model = {.spec = &student->spec};
	int			   nlabels = table->plan->questions;
	int32		   labels[AUDIT_MAX_QUESTIONS];
	int			   first;
	int			   last;

	for (int i = 0; i < nlabels; i++)
		labels[i] = ask(table, i);
	student_train(student, nlabels, table->x, labels);
	model.ensemble = ensemble_load(student->predictor);
	first = mechanism_answer(student->mechanism, audit_receipt(table->paid), &model, table->x);
	last = mechanism_answer(student->mechanism, audit_receipt(table->paid), &model,
							table->x + nlabels - 1);
	return first == last ? 2 : first == 1 ? 0 : 1;
}

int
made_up_draw(MadeUp *table)
{
	int nclasses = table->record.spec.nclasses;

	/* A model that is charged for once is what is drawn. */
	if (table->record.mechanism->charge_kind == CHARGE_ONCE)
	{
		made_up_train(table);
		made_up_load(table);
	}
	switch (table->plan->event)
	{
		case EVENT_ANSWER:
			return (ask(table, 0) + nclasses - table->plan->class) % nclasses;
		case EVENT_SESSION:
			return all_are_class(table) ? 0 : 1;
		case EVENT_SCORE:
			return score_is_above(table) ? 0 : 1;
		case EVENT_RUN:
			return run_ends_as_planned(table) ? 0 : 1;
		case EVENT_EVER:
			return ever_says_class(table) ? 0 : 1;
		case EVENT_STUDENT:
			return draw_student(table);
		case EVENT_ACCURACY:
			return accuracy_is_above(table) ? 0 : 1;
		case EVENT_DESCRIBED:
			return second_looks_fuller(table) ? 0 : 1;
		case EVENT_FAILURES:
			break;
	}
	elog(ERROR, "an audit draws no such event");
}

int64
made_up_failures(MadeUp *table)
{
	int64 failures = 0;

	audit_stream_open(table->paid);
	for (int i = 0; i < STREAM_ANSWERS; i++)
	{
		const Receipt *receipt = audit_receipt(table->paid);

		CHECK_FOR_INTERRUPTS();
		if (receipt == NULL)
			break;
		failures += receipt_stable(receipt, 0) ? 0 : 1;
	}
	return failures;
}
