/*
 * audit_streams.c
 *		Audits of streams: runs of the noisy threshold over chosen sequences of
 *		questions.
 *
 * A stream is priced when it is opened.  Tiny deltas cannot be audited, so it is
 * opened with a large one; the code is the same.  Teachers are stumps, so that
 * scores are 0 or 1, and "soft" is asked the same questions as "sparse".
 */
#include "postgres.h"

#include "miscadmin.h"

#include "mechanism/sparse/draw.h"
#include "request/audit.h"

#define RUN_DELTA 0.02
#define LABELS 5 /* before the unstable answer */
#define TIE_ANSWERS 10000
#define MAX_TEACHERS 2000 /* of an audited stream */

/* Questions, and what a teacher may say of each: "ba" is b of the first. */
static const double questions[] = {0.5, 1};

typedef struct Sequence
{
	MadeUp			  *table;
	LedgerAuditStream *stream;
	StreamTerms		   terms;
	int32			   votes[2][2]; /* on each question */
} Sequence;

/* ---------- tables ---------- */

/* A stump needs rows of both classes: the third lies at 0. */
static void
add_teacher(MadeUp *table, int64 unit, int first, int second)
{
	made_up_row(table, unit, questions[0], first);
	made_up_row(table, unit, questions[1], second);
	made_up_row(table, unit, 0, first == second ? 1 - first : first);
}

static Sequence *
make_sequence(const Audit *audit, MadeUp *table, const StreamTerms *terms)
{
	Sequence *sequence = palloc0_object(Sequence);

	made_up_teach(table, learner_lookup("stump"), questions[0]);
	for (int i = 0; i < 2; i++)
	{
		made_up_ask(table, questions[i]);
		memcpy(sequence->votes[i], table->votes, sizeof(sequence->votes[i]));
	}
	sequence->table = table;
	sequence->stream = ledger_audit_stream(&table->record);
	sequence->terms = *terms;
	return sequence;
}

static MadeUp *
stream_table(const Audit *audit, int teachers)
{
	const Mechanism *mechanism =
		audit->model->mechanism == &soft_mechanism ? &soft_mechanism : &sparse_mechanism;
	MadeUp *table = made_up_create(audit, mechanism, false, 2, "{}");

	table->record.spec.teachers = teachers;
	return table;
}

/* ---------- answers ---------- */

/* 1: b, 0: a, -1: unstable, -2: the stream is used up. */
static int
ask(Sequence *sequence, int question)
{
	MadeUp *table = sequence->table;
	double	score;

	table->receipt = ledger_audit_stream_answer(sequence->stream);
	if (table->receipt == NULL)
		return -2;
	table->x[0] = questions[question];
	table->model.votes = sequence->votes[question];
	if (table->record.mechanism->answer != NULL)
		return made_up_answer(table);
	if (!mechanism_score(table->record.mechanism, table->receipt, &table->model, table->x, 0,
						 &score))
		return -1;
	return score > 0.5 ? 1 : 0;
}

/* So many labels of the first question, then none of the second? */
static int
draw_run(void *argument)
{
	Sequence *sequence = argument;

	ledger_audit_stream_open(sequence->stream, &sequence->terms);
	for (int i = 0; i < LABELS; i++)
		if (ask(sequence, 0) < 0)
			return 1;
	return ask(sequence, 1) == -1 ? 0 : 1;
}

/* Is b said before the stream ends?  A broken threshold may let it go on for ever. */
static int
draw_tie(void *argument)
{
	Sequence *sequence = argument;
	int		  answer = 0;

	ledger_audit_stream_open(sequence->stream, &sequence->terms);
	for (int i = 0; i < TIE_ANSWERS && answer != -2; i++)
	{
		CHECK_FOR_INTERRUPTS();
		answer = ask(sequence, 0);
		if (answer == 1)
			return 0;
	}
	return 1;
}

/* ---------- cases ---------- */

/*
 * Distances of d, then d - 2, with one table; d - 1 throughout with the other:
 * one unit that says b of the first question and a of the second, or the other
 * way round.
 */
static Sequence *
make_run(const Audit *audit, int64 distance, bool turned, const StreamTerms *terms)
{
	int		teachers = (int) (2 * distance + 5);
	MadeUp *table = stream_table(audit, teachers);
	int64  *ids = made_up_ids(table, teachers);

	for (int i = 0; i < teachers; i++)
	{
		int first = i < teachers - 2;
		int second = i >= 2 && i < teachers - 2;

		if (i == 0 && turned)
			add_teacher(table, ids[i], second, first);
		else
			add_teacher(table, ids[i], first, second);
	}
	return make_sequence(audit, table, terms);
}

static void
compare_runs(Audit *audit, int64 distance, const StreamTerms *terms, const Charge *charge)
{
	static const char *const events[] = {"five labels, then an unstable answer", "anything else"};
	AuditCase				 compare = {.events = events,
										.outputs = 2,
										.charge = charge,
										.likely = 0.08,
										.most = AUDIT_MOST_ANSWERS,
										.draw = draw_run};

	compare.pair = psprintf("distances of " INT64_FORMAT " five times, then " INT64_FORMAT
							", or " INT64_FORMAT " throughout",
							distance, distance - 2, distance - 1);
	if (2 * distance + 5 > MAX_TEACHERS)
	{
		audit_not_compared(audit, compare.pair, "needs too many teachers", charge);
		return;
	}
	compare.table[0] = make_run(audit, distance, false, terms);
	compare.table[1] = make_run(audit, distance, true, terms);
	audit_compare(audit, &compare);
}

/* Two of three teachers say b, or one. */
static Sequence *
make_tie(const Audit *audit, int b, const StreamTerms *terms)
{
	MadeUp *table = stream_table(audit, 3);
	int64  *ids = made_up_ids(table, 3);

	for (int i = 0; i < 3; i++)
		add_teacher(table, ids[i], i < b, i < b);
	return make_sequence(audit, table, terms);
}

static void
compare_ties(Audit *audit, const StreamTerms *terms, const Charge *charge)
{
	static const char *const events[] = {"b before the stream ends", "no b"};
	AuditCase				 compare = {.events = events,
										.outputs = 2,
										.charge = charge,
										.least = AUDIT_MANY_ANSWERS,
										.most = AUDIT_MOST_ANSWERS,
										.draw = draw_tie};

	compare.pair = psprintf("two of three teachers say b, or one; %d unstable answer%s bought",
							terms->unstable, terms->unstable > 1 ? "s" : "");
	compare.table[0] = make_tie(audit, 2, terms);
	compare.table[1] = make_tie(audit, 1, terms);
	audit_compare(audit, &compare);
}

/* Every failed test is a run, and costs what a run costs. */
static void
count_failures(Audit *audit, const StreamTerms *terms, const Charge *charge)
{
	Sequence *sequence = make_tie(audit, 2, terms);
	int64	  most = 0;
	double	  of_run = (double) terms->epsilon / EPSILON_UNITS_PER_ONE;
	const int streams = 20;

	for (int i = 0; i < streams; i++)
	{
		int64 failures = 0;

		ledger_audit_stream_open(sequence->stream, terms);
		for (int j = 0; j < TIE_ANSWERS; j++)
		{
			CHECK_FOR_INTERRUPTS();
			sequence->table->receipt = ledger_audit_stream_answer(sequence->stream);
			if (sequence->table->receipt == NULL)
				break;
			if (!receipt_stable(sequence->table->receipt, 0))
				failures++;
		}
		most = Max(most, failures);
	}
	audit_counted(
		audit, psprintf("ties until the stream ends; %d unstable answers bought", terms->unstable),
		psprintf(INT64_FORMAT " unstable answers", most), charge, most * of_run, streams);
}

void
audit_streams(Audit *audit, EpsilonUnits epsilon)
{
	StreamTerms terms = {.unstable = 1, .epsilon = epsilon, .delta = RUN_DELTA};
	Charge		charge = stream_price(audit->model, &terms).finite;
	Charge		run = charge;
	int64		width = sparse_width(epsilon, RUN_DELTA);

	/* A run without ties has no delta. */
	run.delta = 0;
	compare_runs(audit, Max(width + 1, 3), &terms, &run);
	/* Where a distance that moves by two would show. */
	compare_runs(audit, Max((width + 1) / 2, 3), &terms, &run);
	compare_ties(audit, &terms, &charge);

	/*
	 * Deltas add up, too; a small epsilon hides none of them.  Scores are tested
	 * twice, so that it takes twice as many for two of these.
	 */
	terms.unstable = audit->model->mechanism == &soft_mechanism ? 4 : 2;
	terms.epsilon = Min(epsilon, EPSILON_UNITS_PER_ONE / 2);
	charge = stream_price(audit->model, &terms).finite;
	compare_ties(audit, &terms, &charge);

	terms.unstable = 5;
	charge = stream_price(audit->model, &terms).finite;
	count_failures(audit, &terms, &charge);
}
