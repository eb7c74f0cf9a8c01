/*
 * audit_teachers.c
 *		Audits of votes, averages and students.
 *
 * One unit for each teacher, whose rows say what the teacher answers: so the
 * votes are known, and one unit changed moves one of them.  The changed unit
 * has more rows in one table than in the other, which must not matter.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "mechanism/average/draw.h"
#include "request/audit.h"
#include "request/train.h"

#define ROWS_OF_A_KIND 4 /* enough for learners that want a few in a leaf */
#define MORE_ROWS 200	 /* enough to turn every teacher that got a share of them */
#define QUESTION 1.0
#define MOST_TEACHERS 4000 /* of a made-up table */

static const char *const answers[] = {"answer a", "answer b", "answer c"};
static const char *const answers_b_first[] = {"answer b", "answer a"};

/* ---------- tables of votes ---------- */

/* Says "class" of 1, and something else of 0. */
static void
add_teacher(MadeUp *table, int64 unit, int class, int rows)
{
	for (int i = 0; i < rows; i++)
	{
		made_up_row(table, unit, QUESTION, class);
		made_up_row(table, unit, 0, class == 0 ? 1 : 0);
	}
}

/* A table where teachers vote as "aab" says; votes like "aba" differ in units 1 and 2. */
static MadeUp *
table_of_votes(const MadeUp *like, const int64 *ids, const char *votes, const char *other,
			   const Learner *learner)
{
	MadeUp *table = made_up_like(like);

	for (int i = 0; votes[i] != '\0'; i++)
		add_teacher(table, ids[i], votes[i] - 'a',
					votes[i] == other[i] || votes[i] > other[i] ? ROWS_OF_A_KIND : MORE_ROWS);
	made_up_teach(table, learner, QUESTION);
	return table;
}

static bool
votes_as_planned(const MadeUp *table, const char *votes)
{
	int32 planned[AUDIT_MAX_OUTPUTS] = {0};

	for (int i = 0; votes[i] != '\0'; i++)
		planned[votes[i] - 'a']++;
	return memcmp(planned, table->votes, table->record.spec.nclasses * sizeof(int32)) == 0;
}

/* The options of the model's own learner, without names of its classes. */
static Jsonb *
own_learner_options(const ModelRecord *model)
{
	Datum options = JsonbPGetDatum(learner_options(model));

	options = DirectFunctionCall2(jsonb_delete, options, CStringGetTextDatum("classes"));
	return DatumGetJsonbP(
		DirectFunctionCall2(jsonb_delete, options, CStringGetTextDatum("default")));
}

/*
 * Two tables that differ in one unit.  Teachers learn as the model's own do,
 * unless those run the user's functions, or make something else of so few rows.
 */
static void
make_pair(const Audit *audit, MadeUp *like, const char *before, const char *after,
		  MadeUp *tables[2])
{
	const Learner *learner = audit->model->learner;
	const Learner *simplest = learner_lookup("stump");
	int64		  *ids;

	like->record.spec.teachers = strlen(before);
	ids = made_up_ids(like, like->record.spec.teachers);
	if (learner != NULL && !learner->runs_user_code)
	{
		MadeUp *own = made_up_like(like);

		own->record.spec.options = own_learner_options(audit->model);
		tables[0] = table_of_votes(own, ids, before, after, learner);
		tables[1] = table_of_votes(own, ids, after, before, learner);
		if (votes_as_planned(tables[0], before) && votes_as_planned(tables[1], after))
			return;
	}
	tables[0] = table_of_votes(like, ids, before, after, simplest);
	tables[1] = table_of_votes(like, ids, after, before, simplest);
}

/* ---------- vote ---------- */

static int
draw_class(void *table)
{
	return made_up_answer(table);
}

static void
compare_votes(Audit *audit, MadeUp *like, const char *before, const char *after,
			  bool order_is_infinite, bool gaussian, const Charge *charge, double likely)
{
	MadeUp	 *tables[2];
	AuditCase compare = {.events = answers,
						 .outputs = like->record.spec.nclasses,
						 .charge = charge,
						 .likely = likely,
						 .most = AUDIT_MOST_ANSWERS,
						 .draw = draw_class};

	make_pair(audit, like, before, after, tables);
	for (int i = 0; i < 2; i++)
	{
		tables[i]->receipt = ledger_audit_receipt(&tables[i]->record, order_is_infinite);
		tables[i]->model.gaussian_noise = gaussian;
		compare.table[i] = tables[i];
	}
	compare.pair = psprintf("teachers say %s or %s%s, %s account", before, after,
							like->record.spec.nclasses > 2 ? " of three classes" : "",
							order_is_infinite ? "pure" : "approximate");
	audit_compare(audit, &compare);
}

void
audit_vote(Audit *audit, const Charge *finite, const Charge *infinite, bool gaussian)
{
	const MechanismSpec *spec = &audit->model->spec;
	double				 epsilon = (double) spec->epsilon / EPSILON_UNITS_PER_ONE;
	MadeUp				*two = made_up_create(audit, &vote_mechanism, false, 2, "{}");

	/* An even number: ties; an odd one has a rule of its own, for two classes. */
	compare_votes(audit, two, "aabb", "abbb", true, false, infinite, 0.5);
	compare_votes(audit, two, "aaaaaaaabbbbbbbb", "aaaaaaabbbbbbbbb", true, false, infinite, 0.5);
	compare_votes(audit, two, "abb", "bbb", true, false, infinite, 1 / (1 + exp(epsilon)));
	compare_votes(audit, two, "aab", "abb", false, gaussian, finite, 0.5);
	if (spec->nclasses > 2)
	{
		MadeUp *three = made_up_create(audit, &vote_mechanism, false, 3, "{}");

		compare_votes(audit, three, "aabb", "abbb", true, false, infinite, 0.45);
		compare_votes(audit, three, "aabb", "abbb", false, gaussian, finite, 0.45);
	}
}

/* ---------- average ---------- */

static int
draw_b_first(void *table)
{
	return 1 - made_up_answer(table);
}

static char *
votes_for_b(int teachers, int b)
{
	char *votes = palloc(teachers + 1);

	for (int i = 0; i < teachers; i++)
		votes[i] = i < b ? 'b' : 'a';
	votes[teachers] = '\0';
	return votes;
}

static void
compare_shares(Audit *audit, MadeUp *like, int teachers, int b, double likely)
{
	MadeUp	 *tables[2];
	AuditCase compare = {.events = answers_b_first,
						 .outputs = 2,
						 .charge = &audit->price.infinite,
						 .likely = likely,
						 .most = AUDIT_MOST_ANSWERS,
						 .draw = draw_b_first};

	make_pair(audit, like, votes_for_b(teachers, b), votes_for_b(teachers, b + 1), tables);
	for (int i = 0; i < 2; i++)
	{
		tables[i]->receipt = ledger_audit_receipt(&tables[i]->record, true);
		compare.table[i] = tables[i];
	}
	compare.pair = psprintf("%d or %d of %d teachers say b", b, b + 1, teachers);
	audit_compare(audit, &compare);
}

void
audit_average(Audit *audit)
{
	MadeUp *like = made_up_create(audit, &average_mechanism, false, 2, "{}");
	int		margin = (int) average_margin(audit->model->spec.epsilon);
	int		teachers = 2 * margin + 2;

	if (teachers > MOST_TEACHERS)
	{
		audit_not_compared(audit, psprintf("%d teachers", teachers), "needs too many teachers",
						   &audit->price.infinite);
		return;
	}
	compare_shares(audit, like, teachers, margin, 0.5);
	/* At the other end of what is not clipped. */
	compare_shares(audit, like, teachers, teachers - margin - 1, 0.5);
	/* Unanimous, but for one: an answer that is never given would tell. */
	compare_shares(audit, like, teachers, 0, 1.0 / teachers);
	/* So many that rows which went astray would turn more of them than clipping hides. */
	if (8 * teachers <= MOST_TEACHERS)
		compare_shares(audit, like, 8 * teachers, 4 * teachers, 0.5);
}

/* ---------- students ---------- */

/* Public rows: half of them lie near 0, the others near 1. */
#define MAX_LABELS 8

/* Teachers and the student that labels of theirs make. */
typedef struct Class
{
	MadeUp	   *teachers;
	ModelRecord student;
	int			labels;
	double		points[MAX_LABELS];
	int32		votes[MAX_LABELS][2];
} Class;

static int
draw_student(void *argument)
{
	Class *class = argument;
	MadeUp		  *teachers = class->teachers;
	ModelRecord	  *student = &class->student;
	MechanismModel model = {.spec = &student->spec};
	int32		   labels[MAX_LABELS];
	int			   first;
	int			   last;

	for (int i = 0; i < class->labels; i++)
	{
		teachers->x[0] = class->points[i];
		teachers->model.votes = class->votes[i];
		labels[i] = made_up_answer(teachers);
	}
	student_train(student, class->labels, class->points, labels);
	model.ensemble = ensemble_load(student->predictor);
	first = mechanism_answer(&distill_mechanism, teachers->receipt, &model, &class->points[0]);
	last = mechanism_answer(&distill_mechanism, teachers->receipt, &model,
							&class->points[class->labels - 1]);
	return first == last ? 2 : first == 1 ? 0 : 1;
}

/* Each teacher says one thing near 0 and the other near 1. */
static Class *
make_class(const MadeUp *like, const char *votes, const ChargePart *label, int labels)
{
	Class *class = palloc0_object(Class);
	MadeUp *teachers = made_up_like(like);
	int64  *ids = made_up_ids(like, like->record.spec.teachers);

	for (int i = 0; votes[i] != '\0'; i++)
		add_teacher(teachers, ids[i], votes[i] - 'a', 1);
	made_up_teach(teachers, learner_lookup("stump"), QUESTION);
	class->labels = labels;
	for (int i = 0; i < labels; i++)
	{
		class->points[i] = (i < labels / 2 ? 0 : 0.9) + 0.01 * i;
		made_up_ask(teachers, class->points[i]);
		memcpy(class->votes[i], teachers->votes, sizeof(class->votes[i]));
	}
	teachers->receipt = ledger_audit_receipt(&teachers->record, label->shape == CHARGE_PURE);
	teachers->model.gaussian_noise = label->shape == CHARGE_GAUSSIAN;
	class->teachers = teachers;
	class->student = teachers->record;
	class->student.mechanism = &distill_mechanism;
	class->student.spec.teachers = 1;
	return class;
}

/*
 * A student's charge says what its labels cost; a teacher of that price labels
 * some public rows, and a student learns them.
 */
static void
compare_students(Audit *audit, const ChargePart *part, int labels)
{
	static const char *const events[] = {"the student says b, then a", "the student says a, then b",
										 "the student says the same of all"};
	MadeUp					*like = made_up_create(audit, &vote_mechanism, false, 2, "{}");
	LedgerPrice				 label = {.finite.part[0] = *part};
	Charge					 charge;
	AuditCase				 compare = {.events = events,
										.outputs = 3,
										.likely = 0.4,
										.most = AUDIT_MANY_ANSWERS,
										.draw = draw_student};

	label.finite.part[0].times = 1;
	charge = student_charge(&label, labels, 0);
	compare.pair = psprintf("%d public rows are labelled by teachers aab or abb", labels);
	compare.charge = &charge;
	like->record.spec.teachers = 3;
	if (part->shape != CHARGE_GAUSSIAN)
		like->record.spec.epsilon = part->epsilon;
	compare.table[0] = make_class(like, "aab", part, labels);
	compare.table[1] = make_class(like, "abb", part, labels);
	audit_compare(audit, &compare);
}

void
audit_student(Audit *audit)
{
	const Charge *charge = &audit->price.finite;

	if (charge->delta > 0)
	{
		/* Its labels came through a stream. */
		audit_streams(audit, charge->part[0].epsilon);
		return;
	}
	for (int i = 0; i < CHARGE_PARTS; i++)
		if (charge->part[i].times > 0)
		{
			compare_students(audit, &charge->part[i], 2);
			/* Of Gaussian noise one event shows less, so that it takes more labels. */
			if (charge->part[i].shape == CHARGE_GAUSSIAN)
				compare_students(audit, &charge->part[i], MAX_LABELS);
		}
}
