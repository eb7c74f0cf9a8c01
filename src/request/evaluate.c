/*
 * evaluate.c
 *		How good a model's private answers are on labelled rows.
 *
 * One scan sums the exact distributions of the answers.  Nothing is drawn, so it costs
 * no budget; it is not private, so it is for the owner alone.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "draw/sampler.h"
#include "request/estimate_plan.h"
#include "mechanism/teachers.h"
#include "mechanism/vote/vote.h"
#include "request/train.h"
#include "server/citus.h"
#include "server/progress.h"
#include "server/query.h"

#define ROWS_PER_FETCH 1000

/* The epsilons of a curve if none are asked for. */
static const double usual_epsilons[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5};

/* One evaluation while it is under way. */
typedef struct Tally
{
	Evaluation		  *sums;
	const CachedModel *model;
	EstimatePlan	   plan;	  /* if expectations are estimated */
	bool			   sampled;	  /* not all rows are asked about */
	double			   label_sum; /* of differences to the middle of the bounds */
	double			   label_squares;

	/* the current row */
	int class;				   /* -1: none of those declared */
	double		  number;	   /* NaN: none */
	const double *x;		   /* encoded */
	double		  plain;	   /* the number that would be answered without noise */
	int32		 *votes;	   /* NULL unless the mechanism asks teachers for classes */
	double		 *scores;	   /* NULL unless it asks them for numbers */
	double		 *probability; /* of each class */
} Tally;

enum
{
	COLUMN_CLASS = 1,
	COLUMN_NUMBER,
	COLUMN_FEATURES
};

static void
append_test_query(TrainingQuery *query, const ModelRecord *model)
{
	const char *label = quote_identifier(model->label);
	const char *class = psprintf("pg_catalog.array_position($%d, r.%s::pg_catalog.text) - 1",
								 PARAMETER_CLASSES, label);
	const char *number = "NULL";

	if (model->nbins > 0 || model->spec.nclasses == 0)
		number = psprintf("CASE WHEN r.%s IS NOT NULL THEN %s END", label, scaled_label_sql(model));
	appendStringInfo(&query->text, "%sSELECT %s, %s, %s FROM %s r", query_secrets(query),
					 model->nbins > 0 ? label_number_sql(model) : class, number,
					 encoding_sql(model->features, PARAMETER_FEATURES), query->relation);
}

/* ---------- one row ---------- */

static double
square(double x)
{
	return x * x;
}

static void
tally_confusion(Tally *tally, int account)
{
	int		nclasses = tally->sums->spec->nclasses;
	int		nanswers = tally->sums->nanswers;
	double *line = &tally->sums->confusion[account][(Size) tally->class * nanswers];
	double	stable = 0;

	for (int i = 0; i < nclasses; i++)
	{
		line[i] += tally->probability[i];
		stable += tally->probability[i];
	}
	/* Sums of doubles are a little off 1. */
	if (nanswers > nclasses)
		line[nclasses] += Max(1 - stable, 0);
}

/* The expected squared error of private_score. */
static double
squared_error(const Tally *tally, const EvaluationPoint *point, int account)
{
	const ModelRecord *record = tally->model->record;
	double			   sum = 0;

	if (record->nbins == 0 && record->mechanism->squared_error != NULL)
		return record->mechanism->squared_error(account == PURE_ACCOUNT, &point->model, tally->x,
												tally->number);
	if (record->nbins == 0)
		return square(tally->plain - tally->number);
	for (int i = 0; i < record->nbins; i++)
		sum += tally->probability[i] * square(bin_middle(record, i) - tally->number);
	return sum;
}

static void
tally_point(Tally *tally, EvaluationPoint *point)
{
	const Mechanism *mechanism = tally->model->record->mechanism;

	for (int account = 0; account < ACCOUNT_KINDS; account++)
	{
		/* Estimates are the same for both kinds of accounts, and drawn once. */
		if (tally->sums->has_classes && (account == PURE_ACCOUNT || tally->sums->exact))
			mechanism_distribution(mechanism, account == PURE_ACCOUNT, &point->model, tally->x,
								   tally->probability);
		if (tally->class >= 0)
			point->accuracy[account] += tally->probability[tally->class];
		if (tally->class >= 0 && point->own)
			tally_confusion(tally, account);
		if (!isnan(tally->number))
			point->rmse[account] += squared_error(tally, point, account);
	}
}

static void
tally_class(Tally *tally)
{
	const Mechanism		 *mechanism = tally->model->record->mechanism;
	const MechanismModel *model = &tally->sums->own->model;
	Evaluation			 *sums = tally->sums;

	sums->of_class[tally->class]++;
	for (int gaussian = 0; gaussian < 2 && sums->has_noises; gaussian++)
	{
		mechanism->noise_distribution(gaussian, model, tally->x, tally->probability);
		sums->noise_accuracy[gaussian] += tally->probability[tally->class];
	}
	if (mechanism->majority(model, tally->x) == tally->class)
		sums->majority_accuracy++;
}

static void
tally_number(Tally *tally)
{
	const ModelRecord	 *record = tally->model->record;
	const MechanismModel *model = &tally->sums->own->model;
	double off_middle = tally->number - (record->spec.label_min / 2 + record->spec.label_max / 2);

	tally->plain = record->nbins > 0
					   ? bin_middle(record, record->mechanism->majority(model, tally->x))
					   : record->mechanism->plain_score(model, tally->x);
	tally->sums->plain_rmse += square(tally->plain - tally->number);
	tally->label_sum += off_middle;
	tally->label_squares += square(off_middle);
}

static void
tally_row(Tally *tally, const QueryScan *scan)
{
	const MechanismSpec *spec = tally->sums->spec;
	CatalogSession		 session;
	Oid					 owner;
	bool				 isnull;
	Datum				 value;

	value = scan_value(scan, COLUMN_CLASS, &isnull);
	tally->class = isnull ? -1 : DatumGetInt32(value);
	value = scan_value(scan, COLUMN_NUMBER, &isnull);
	tally->number =
		isnull ? NAN
			   : spec->label_min + DatumGetFloat8(value) * (spec->label_max - spec->label_min);
	if (tally->class < 0 && isnull)
		return;
	tally->x = scan_features(scan, COLUMN_FEATURES);
	tally->sums->rows++;
	owner = owner_code_check(tally->model);
	owner_code_enter(&session, owner);
	if (tally->votes != NULL)
		teachers_votes(&tally->model->mechanism_model, tally->x, tally->votes);
	if (tally->scores != NULL)
		memcpy(tally->scores, teachers_scores(&tally->model->mechanism_model, tally->x),
			   sizeof(double) * spec->teachers);
	if (tally->class >= 0)
		tally_class(tally);
	if (!isnull)
		tally_number(tally);
	for (int i = 0; i < tally->sums->npoints; i++)
		if (tally->sums->points[i].known)
			tally_point(tally, &tally->sums->points[i]);
	owner_code_leave(&session, owner);
}

/* ---------- epsilons ---------- */

/* Adds an epsilon to a list in order, unless it is there. */
static void
add_epsilon(EpsilonUnits *list, int *count, EpsilonUnits epsilon)
{
	int place = *count;

	while (place > 0 && list[place - 1] > epsilon)
		place--;
	if (place > 0 && list[place - 1] == epsilon)
		return;
	memmove(&list[place + 1], &list[place], (*count - place) * sizeof(EpsilonUnits));
	list[place] = epsilon;
	(*count)++;
}

/* Those that are asked for, or the usual ones, and the model's own. */
static EpsilonUnits *
list_epsilons(const ModelRecord *record, const EpsilonUnits *asked, int *count)
{
	int			  nasked = asked != NULL ? *count : 0;
	EpsilonUnits *list = palloc_array(EpsilonUnits, nasked + lengthof(usual_epsilons) + 1);

	*count = 0;
	add_epsilon(list, count, record->spec.epsilon);
	for (int i = 0; i < nasked; i++)
		add_epsilon(list, count, asked[i]);
	if (asked == NULL && record->mechanism->answers_at != NULL)
		for (int i = 0; i < lengthof(usual_epsilons); i++)
			add_epsilon(list, count, rint(usual_epsilons[i] * EPSILON_UNITS_PER_ONE));
	return list;
}

/* What has to be said beside the figures; NULL: nothing. */
static char *
remark_on(const CachedModel *model)
{
	const Mechanism *mechanism = model->record->mechanism;

	if (mechanism->charge_kind == CHARGE_ONCE)
		return "charged once, at this epsilon; for another it must be trained anew";
	if (mechanism->estimate_steps != NULL)
		return "estimated by drawing; for another epsilon it must be trained anew";
	if (mechanism->answers_at == NULL)
		return "for another epsilon it must be trained anew";
	return mechanism->answers_at_if == NULL ? NULL
											: mechanism->answers_at_if(&model->mechanism_model);
}

static void
set_point(Tally *tally, EvaluationPoint *point, EpsilonUnits epsilon)
{
	const ModelRecord *record = tally->model->record;
	const Mechanism	  *mechanism = record->mechanism;

	point->spec = record->spec;
	point->spec.epsilon = epsilon;
	point->model = tally->model->mechanism_model;
	point->model.spec = &point->spec;
	point->model.votes = tally->votes;
	point->model.scores = tally->scores;
	point->own = epsilon == record->spec.epsilon;
	point->known =
		point->own || (mechanism->answers_at != NULL && mechanism->answers_at(&point->spec));
	point->remark = point->known || mechanism->answers_at == NULL
						? remark_on(tally->model)
						: "create_model would refuse this epsilon";
	if (point->own)
		tally->sums->own = point;
	else if (point->known && mechanism->asks_teachers)
		point->model.gaussian_noise = vote_noise_is_gaussian(&point->spec);
}

/* ---------- beginning and end ---------- */

static void
tally_begin(Tally *tally, const EpsilonUnits *asked, int count)
{
	const ModelRecord *record = tally->model->record;
	Evaluation		  *sums = tally->sums = palloc0_object(Evaluation);
	Size			   nclasses = Max(record->spec.nclasses, 1);
	EpsilonUnits	  *epsilons = list_epsilons(record, asked, &count);

	sums->spec = &record->spec;
	sums->exact = record->mechanism->estimate_steps == NULL;
	sums->has_classes = record->spec.nclasses > 0;
	sums->has_numbers = record->spec.nclasses == 0 || record->nbins > 0;
	sums->has_noises = record->mechanism->noise_distribution != NULL;
	sums->nanswers =
		record->spec.nclasses + (record->mechanism->charge_kind == CHARGE_PER_STREAM ? 1 : 0);
	sums->of_class = palloc0_array(int64, nclasses);
	for (int i = 0; i < ACCOUNT_KINDS; i++)
		sums->confusion[i] = palloc0_array(double, nclasses *(nclasses + 1));
	tally->probability = palloc_array(double, nclasses);
	if (tally->model->mechanism_model.ensemble != NULL && sums->has_classes)
		tally->votes = palloc_array(int32, nclasses);
	else if (tally->model->mechanism_model.ensemble != NULL)
		tally->scores = palloc_array(double, record->spec.teachers);
	sums->npoints = count;
	sums->points = palloc0_array(EvaluationPoint, count);
	for (int i = 0; i < count; i++)
		set_point(tally, &sums->points[i], epsilons[i]);
}

static double
root_mean(double sum, double rows)
{
	return sqrt(Max(sum, 0) / rows);
}

/* Makes means of sums; without rows nothing is known. */
static void
tally_end(Tally *tally)
{
	Evaluation *means = tally->sums;
	double		rows = Max(means->rows, 1);
	int64		most = 0;

	for (int i = 0; i < means->spec->nclasses; i++)
		most = Max(most, means->of_class[i]);
	for (int i = 0; i < means->npoints; i++)
	{
		EvaluationPoint *point = &means->points[i];

		point->known = point->known && means->rows > 0;
		for (int account = 0; account < ACCOUNT_KINDS; account++)
		{
			point->accuracy[account] /= rows;
			point->rmse[account] = root_mean(point->rmse[account], rows);
		}
	}
	if (!means->exact)
		means->margin = estimate_margin(means->rows, tally->plan.draws, tally->sampled);
	for (int i = 0; i < lengthof(means->noise_accuracy); i++)
		means->noise_accuracy[i] /= rows;
	means->majority_accuracy /= rows;
	means->baseline_accuracy = most / rows;
	means->plain_rmse = root_mean(means->plain_rmse, rows);
	means->baseline_rmse = root_mean(tally->label_squares - square(tally->label_sum) / rows, rows);
}

/* ---------- rows ---------- */

/* Returns how many rows there are, and plans how many of them will be asked about. */
static int64
plan_rows(Tally *tally, const TrainingQuery *query, Oid test_relation)
{
	const Mechanism *mechanism = tally->model->record->mechanism;
	int64			 rows;

	if (tally->sums->exact)
		return (int64) estimated_rows(test_relation);
	query_run(
		NULL,
		psprintf("%sSELECT pg_catalog.count(*) FROM %s r", query_secrets(query), query->relation),
		true, 0, TRAINING_PARAMETERS, query->arguments);
	rows = row_int8(0, 1);
	tally->plan = estimate_plan(rows, mechanism->estimate_steps(&tally->sums->own->model));
	tally->sampled = tally->plan.rows < rows;
	for (int i = 0; i < tally->sums->npoints; i++)
		tally->sums->points[i].model.estimate_draws = tally->plan.draws;
	return rows;
}

/* Is the next row one of the sample?  Each set of the planned size is equally likely. */
static bool
take_row(const Tally *tally, int64 left, int64 *wanted)
{
	bool taken = !tally->sampled || (left > 0 && (int64) sample_uniform(left) < *wanted);

	*wanted -= taken;
	return taken;
}

/* All rows once, with memory for one of them. */
static void
tally_rows(Tally *tally, const TrainingQuery *query, Oid test_relation)
{
	MemoryContext  row_context;
	CatalogSession session;
	QueryScan	   scan;
	int64		   left;
	int64		   wanted;

	caller_begin(&session);
	citus_settings(false);
	row_context =
		AllocSetContextCreate(CurrentMemoryContext, "privpred test row", ALLOCSET_DEFAULT_SIZES);
	left = plan_rows(tally, query, test_relation);
	wanted = tally->plan.rows;
	progress_phase("evaluating rows", tally->sampled ? wanted : left);
	scan_open(&scan, ROWS_PER_FETCH, query->text.data, TRAINING_PARAMETERS, query->arguments);
	while (scan_next(&scan))
	{
		MemoryContext caller = MemoryContextSwitchTo(row_context);

		if (take_row(tally, left--, &wanted))
			tally_row(tally, &scan);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(row_context);
		progress_update(tally->sums->rows);
	}
	scan_close(&scan);
	catalog_end(&session);
}

/* ---------- the request ---------- */

/* Some mechanisms cannot tell what to expect of their answers. */
static void
check_evaluable(const ModelRecord *record)
{
	const Mechanism *mechanism = record->mechanism;

	if (record->spec.nclasses > 0 ? !mechanism_gives_answers(mechanism)
								  : mechanism->plain_score == NULL)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("models of mechanism \"%s\" cannot be evaluated", mechanism->name),
				errdetail("What to expect of their answers is not known without drawing them."),
				errhint("Evaluate a model of mechanism \"vote\" with the same teachers."));
}

Evaluation *
request_evaluate(const char *name, const Oid *test_relation, const EpsilonUnits *epsilons,
				 int count)
{
	Tally			   tally = {0};
	const ModelRecord *record;
	TrainingQuery	   query;
	Oid				   rows_of;

	tally.model = known_model_decoded(name, CurrentMemoryContext, GetUserId());
	record = tally.model->record;
	check_relation_owner(record->relid);
	check_evaluable(record);
	training_query_begin(&query, record);
	rows_of = choose_test_rows(&query, record, test_relation);
	progress_begin(name, record->relid);
	tally_begin(&tally, epsilons, count);
	append_test_query(&query, record);
	tally_rows(&tally, &query, rows_of);
	progress_end();
	tally_end(&tally);
	return tally.sums;
}
