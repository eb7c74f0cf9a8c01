/*
 * distill.c
 *		Students: public rows, labelled by a private model, teach a model whose
 *		answers are free (docs/mechanisms.md, section 8).
 *
 * Whoever calls pays for the labels as for any other answers.  The owner of
 * the protected relation may go without a budget, since nobody else sees the
 * labels; each role then pays for all of them at its first use of the student.
 */
#include "postgres.h"

#include <math.h>

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "account/charge.h"
#include "ledger/ledger.h"
#include "mechanism/teachers.h"
#include "server/citus.h"
#include "server/progress.h"
#include "request/train.h"

typedef struct Distillation
{
	CachedModel	  *teacher;
	const Learner *learner;
	int64		   nrows;
	int			   width;
	double		  *x;		/* nrows * width */
	bool		   numbers; /* the labels are numbers, or scores of two classes */
	int32		  *label;	/* -1: unstable */
	double		  *number;	/* in its place: within the bounds; NaN: unstable */
	int64		   labelled;
	int64		   asked;
	int64		   by_infinite; /* labels paid by accounts of infinite order */

	/* who pays: one of these, or nobody if the owner asks */
	LedgerLease	 *lease;
	LedgerStream *stream;
	StatSite	 *stats;
} Distillation;

/* ---------- who, and from what ---------- */

static void
check_teacher(const ModelRecord *teacher)
{
	if (teacher->mechanism->charge_kind == CHARGE_ONCE || teacher->mechanism->owner_only)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("answers of model \"%s\" cannot teach a student", teacher->name),
				errdetail("Its mechanism is \"%s\".", teacher->mechanism->name),
				errhint("Ask that model itself, or distill one whose answers are charged."));
	if (teacher->spec.nclasses > 2 && mechanism_scores_classes(teacher->mechanism, &teacher->spec))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("answers of model \"%s\" cannot teach a student", teacher->name),
				errdetail("They are scores of %d classes, and a student learns one number.",
						  teacher->spec.nclasses),
				errhint("Distill a model with mechanism \"sparse\", or one of two classes."));
}

/* The caller must be able to read the rows, and none of them may be protected. */
static void
check_public(Oid relid, const FeatureSpec *features)
{
	CatalogSession session;

	relation_close(open_relation(relid, AccessShareLock), NoLock); /* until the student is stored */
	caller_begin(&session);
	query_run(NULL, psprintf("SELECT FROM %s LIMIT 0", relation_sql_name(relid)), true, 0, 0, NULL);
	catalog_end(&session);
	require_features(relid, features,
					 "Public rows need all features of the model, under the same names; "
					 "a view can rename them.");
	check_public_rows(relid,
					  "What a student learns from its rows would be charged to nobody's budget.");
}

/* Code that the caller has chosen would run as the owner of the relation. */
static void
check_learner(const Learner *learner)
{
	if (learner->runs_user_code)
		ereport(
			ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("a student cannot be trained by learner \"%s\"", learner->name),
			errhint("Label the rows with private_predict, and train on them whatever you like."));
}

/* ---------- public rows ---------- */

/* All rows, or the first of them, with the caller's rights. */
static void
read_rows(Distillation *task, Oid relid, int64 most)
{
	Size row_size = task->width * sizeof(double) + (task->numbers ? sizeof(double) : sizeof(int32));
	int64		   fitting = (Size) maintenance_work_mem * 1024 / row_size;
	MemoryContext  caller = CurrentMemoryContext;
	CatalogSession session;

	caller_begin(&session);
	citus_settings(false);
	progress_phase_rows("reading public rows", estimated_rows(relid));
	task->x = read_public_rows(relid, task->teacher->record->features, most, fitting, caller,
							   &task->nrows);
	catalog_end(&session);
	if (task->nrows > fitting)
		ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY),
				errmsg("public rows do not fit into maintenance_work_mem"),
				errdetail("Nothing was charged."),
				errhint("Raise maintenance_work_mem, or pass labels => %d.",
						(int) Min(fitting, PG_INT32_MAX)));
	if (task->nrows == 0)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("relation \"%s\" has no rows to label", get_rel_name(relid)),
				errdetail("Nothing was charged."), errhint("A few hundred rows are a good start."));
}

/* ---------- labels ---------- */

static void
open_purse(Distillation *task, const LedgerPrice *price)
{
	const ModelRecord *teacher = task->teacher->record;
	LedgerQuote		   quote;

	if (price->kind == CHARGE_PER_STREAM)
	{
		ledger_check_allowance(task->nrows, asking_role());
		task->stream = ledger_stream_use(CurrentMemoryContext, price);
		return;
	}
	quote = ledger_quote(price, asking_role(), task->nrows);
	ledger_check_allowance(task->nrows, quote.has_account ? quote.payer : asking_role());
	if (!quote.has_account)
	{
		if (object_ownercheck(RelationRelationId, teacher->relid, asking_role()))
		{
			ledger_check_answers();
			return;
		}
		refuse_without_budget(teacher->name, asking_role());
	}
	if (quote.answers_left < task->nrows)
		ereport(ERROR, errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				errmsg("the privacy budget does not cover " INT64_FORMAT " labels of model \"%s\"",
					   task->nrows, teacher->name),
				errdetail("It covers " INT64_FORMAT ". Nothing was charged.", quote.answers_left),
				errhint("Pass labels => " INT64_FORMAT ", or take a model with a smaller epsilon.",
						Max(quote.answers_left, 1)));
	check_paid_once(task->teacher);
	task->lease = ledger_open(CurrentMemoryContext, price);
}

static const Receipt *
pay_for_label(Distillation *task)
{
	if (task->stream != NULL)
		return ledger_stream_answer(task->stream, NULL);
	if (task->lease != NULL)
		return ledger_spend(task->lease, NULL);
	return ledger_owner_receipt();
}

/* Draws one label; false: it is unstable. */
static bool
draw_label(Distillation *task, const Receipt *receipt)
{
	const Mechanism		 *mechanism = task->teacher->record->mechanism;
	const MechanismModel *model = &task->teacher->mechanism_model;
	const double		 *x = task->x + task->asked * task->width;
	double				 *number;

	if (!task->numbers)
	{
		task->label[task->asked] = mechanism_answer(mechanism, receipt, model, x);
		return task->label[task->asked] >= 0;
	}
	number = &task->number[task->asked];
	if (mechanism_score(mechanism, receipt, model, x, 0, number))
		return true;
	*number = NAN;
	return false;
}

/* A stream may end before all rows are labelled. */
static void
label_rows(Distillation *task)
{
	const CachedModel *teacher = task->teacher;
	CatalogSession	   session;
	bool			   more = true;

	if (task->numbers)
		task->number = MemoryContextAllocHuge(CurrentMemoryContext, task->nrows * sizeof(double));
	else
		task->label = MemoryContextAllocHuge(CurrentMemoryContext, task->nrows * sizeof(int32));
	progress_phase("labelling", task->nrows);
	while (more && task->asked < task->nrows)
	{
		const Receipt *receipt;
		Oid			   owner;
		bool		   stable;

		CHECK_FOR_INTERRUPTS();
		owner = owner_code_check(teacher);
		receipt = pay_for_label(task);
		stats_count(task->stats, STAT_ANSWERS, 1);
		task->by_infinite += receipt_order_is_infinite(receipt) ? 1 : 0;
		owner_code_enter(&session, owner);
		stable = draw_label(task, receipt);
		owner_code_leave(&session, owner);
		if (task->stream != NULL)
			ledger_stream_even_out(task->stream, teacher->record->mechanism->tests);
		task->asked++;
		task->labelled += stable ? 1 : 0;
		stats_count(task->stats, STAT_UNSTABLE, stable ? 0 : 1);
		more = task->stream == NULL || receipt_failures_left(receipt) > 0;
		progress_update(task->asked);
	}
}

/* ---------- the student ---------- */

/* A student of numbers has its teacher's bounds; scores of two classes are in [0, 1]. */
static void
declare_number(ModelRecord *student)
{
	if (student->spec.nclasses > 0 && student->nbins == 0)
	{
		student->spec.label_min = 0;
		student->spec.label_max = 1;
	}
	student->nbins = 0;
	student->bin_edges = NULL;
	student->spec.bin_edges = NULL;
	student->spec.nclasses = 0;
	student->spec.classes = NULL;
}

static ModelRecord *
declare_student(const Distillation *task, const char *name, Jsonb *options)
{
	const ModelRecord *teacher = task->teacher->record;
	ModelRecord		  *student = palloc0_object(ModelRecord);

	check_model_name(name);
	*student = *teacher;
	student->name = pstrdup(name);
	student->spec.mechanism = student->mechanism = &distill_mechanism;
	student->learner = task->learner;
	student->spec.teachers = 1;
	if (task->numbers)
		declare_number(student);
	student->spec.options = options_object(options);
	student->spec.default_class = model_default_class(student);
	student->predictor = NULL;
	student->state = NULL;
	student->functions = NULL;
	check_student(student);
	return student;
}

/* How far the student's numbers are from those it learnt: the root of the mean square. */
static double
distance(const Distillation *task, const ModelRecord *student)
{
	MechanismModel model = {.spec = &student->spec, .ensemble = ensemble_load(student->predictor)};
	double		   sum = 0;

	for (int64 i = 0; i < task->asked; i++)
	{
		double number = task->number[i];

		CHECK_FOR_INTERRUPTS();
		if (!isnan(number))
		{
			number -= distill_mechanism.plain_score(&model, task->x + i * task->width);
			sum += number * number;
		}
	}
	return task->labelled > 0 ? sqrt(sum / task->labelled) : 0;
}

/* The share of the labels that the student would have given. */
static double
agreement(const Distillation *task, const ModelRecord *student)
{
	MechanismModel model = {.spec = &student->spec, .ensemble = ensemble_load(student->predictor)};
	int64		   agreed = 0;

	for (int64 i = 0; i < task->asked; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (task->label[i] == teachers_majority(&model, task->x + i * task->width))
			agreed++;
	}
	return task->labelled > 0 ? (double) agreed / task->labelled : 0;
}

/* ---------- the price ---------- */

/* Mechanisms that label make one kind of draw for an answer. */
static void
add_draws(Charge *sum, const Charge *charge, int64 times)
{
	ChargePart *part = &sum->part[sum->part[0].times > 0 ? 1 : 0];

	if (times == 0)
		return;
	*part = charge->part[0];
	part->times *= times;
}

Charge
student_charge(const LedgerPrice *labels, int64 by_finite, int64 by_infinite)
{
	Charge charge = {0};

	add_draws(&charge, &labels->finite, by_finite);
	add_draws(&charge, &labels->infinite, by_infinite);
	return charge;
}

/*
 * What everybody pays once for the labels: the draws as they were made.  Those
 * of a stream cost what the stream cost, however many labels came through it.
 */
static void
set_price(const Distillation *task, const LedgerPrice *labels, ModelRecord *student)
{
	int64  by_finite = task->asked - task->by_infinite;
	Charge charge = {0};

	if (task->stream != NULL)
	{
		StreamTerms terms;

		ledger_stream_terms(task->stream, &terms);
		charge = stream_price(task->teacher->record, &terms).finite;
	}
	else
		charge = student_charge(labels, by_finite, task->by_infinite);
	student->charge = charge_to_text(&charge, palloc(CHARGE_TEXT_SIZE));
	student->pure_charge = charge_has_gaussian(&charge) ? NULL : student->charge;
	student->spec.epsilon = charge_units(&charge, RENYI_ORDER_INFINITE);
	if (student->spec.epsilon == PG_INT64_MAX)
		student->spec.epsilon = task->teacher->record->spec.epsilon;
}

/* ---------- requests ---------- */

static Jsonb *
report(const Distillation *task, const ModelRecord *student)
{
	int64 unstable = task->asked - task->labelled;
	char *figures = psprintf("{\"labels\": " INT64_FORMAT ", \"unstable\": " INT64_FORMAT
							 ", \"unstable_share\": %.4f, \"%s\": %.4f, \"charge\": \"%s\"}",
							 task->labelled, unstable, (double) unstable / task->asked,
							 task->numbers ? "rmse" : "agreement",
							 task->numbers ? distance(task, student) : agreement(task, student),
							 student->charge);

	return DatumGetJsonbP(
		DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(model_card(student->name)),
							DirectFunctionCall1(jsonb_in, CStringGetDatum(figures))));
}

Jsonb *
request_distill(const DistillRequest *request)
{
	Distillation	   task = {0};
	const ModelRecord *teacher;
	ModelRecord		  *student;
	LedgerPrice		   labels;
	LedgerPrice		   price;

	task.teacher = known_model_decoded(request->teacher, CurrentMemoryContext, asking_role());
	teacher = task.teacher->record;
	(void) protected_relation_hold(teacher->relid);
	task.width = teacher->spec.width;
	task.learner = find_learner(request->learner);
	task.numbers = teacher->spec.nclasses == 0 || !mechanism_gives_answers(teacher->mechanism);
	check_teacher(teacher);
	check_learner(task.learner);
	check_public(request->public_relation, teacher->features);
	(void) owner_code_check(task.teacher);
	/* The rows that are counted are public, and the caller pays for the labels. */
	progress_begin(request->student, teacher->relid);
	progress_show_to(asking_role());
	student = declare_student(&task, request->student, request->options);
	read_rows(&task, request->public_relation, request->labels);

	labels = request_price(teacher);
	labels.stats = task.stats = request_stats(teacher, CurrentMemoryContext);
	open_purse(&task, &labels);
	label_rows(&task);
	set_price(&task, &labels, student);
	if (task.numbers)
		student_train_numbers(student, task.asked, task.x, task.number);
	else
		student_train(student, task.asked, task.x, task.label);
	progress_phase("storing", -1);
	model_insert(student);
	price = request_price(student);
	if (task.lease != NULL)
		ledger_mark_paid(&price, task.lease);
	else if (task.stream != NULL)
		ledger_stream_mark_paid(&price, task.stream);
	progress_end();
	return report(&task, student);
}
