/*
 * evaluate.c
 *		How good a model's private answers are on labelled rows.
 *
 * The expectation is computed from the exact distribution of the answer, not
 * by drawing, so it costs no budget; and it is not private, so it is for the
 * owner alone.  One scan of the rows serves all epsilons.
 */
#include "postgres.h"

#include <math.h>

#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "catalog/store.h"
#include "mechanism/estimate_plan.h"
#include "mechanism/teachers.h"
#include "mechanism/vote/vote.h"
#include "server/progress.h"
#include "request/train.h"
#include "draw/sampler.h"

#define ROWS_PER_FETCH 1000

/* The epsilons of a curve if nobody asks for others. */
static const double usual_epsilons[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5};

/* Accounts of infinite and of finite order get different answers. */
enum
{
	PURE,
	APPROXIMATE,
	ACCOUNTS
};

/* The model as it answers at one epsilon. */
typedef struct Point
{
	MechanismSpec  spec;
	MechanismModel model;
	bool		   known;	/* else nothing is computed */
	bool		   refused; /* it could be, but must not be declared */
	bool		   own;
	double		   right[ACCOUNTS];
	double		   error[ACCOUNTS]; /* squared, of numbers and of their bins */
} Point;

/* What is true of a row. */
typedef struct Truth
{
	bool has_class;
	int class;
	bool   has_number;
	double number;
} Truth;

typedef struct Tally
{
	const CachedModel *model;
	Point			  *points; /* by epsilon */
	int				   npoints;
	const Point		  *own;
	int32			  *votes;
	const double	  *x; /* encoded */
	int64			   rows;
	EstimatePlan	   plan;	/* if all is estimated */
	bool			   sampled; /* not all rows are asked about */

	/* classes, and bins of a number */
	double *probability;
	double *confusion[ACCOUNTS];
	int64  *of_class; /* rows per true class */
	int64	majority_right;
	double	noise_right[2]; /* exponential, Gaussian */

	/* numbers, and their bins */
	double plain_error; /* squared */
	double label_sum;	/* of differences to the middle of the bounds */
	double label_squares;
} Tally;

/* True class, true number, features of each row. */
static void
append_test_query(TrainingQuery *query, const ModelRecord *model, Oid test_relation)
{
	StringInfo	text = &query->text;
	const char *label = quote_identifier(model->label);

	appendStringInfoString(text, "SELECT ");
	if (model->nbins > 0)
		append_label_number(text, model);
	else
		appendStringInfo(text, "pg_catalog.array_position($%d, r.%s::pg_catalog.text) - 1",
						 PARAMETER_CLASSES, label);
	if (model->nbins > 0 || model->spec.nclasses == 0)
	{
		appendStringInfo(text, ", CASE WHEN r.%s IS NOT NULL THEN ", label);
		append_scaled_label(text, model);
		appendStringInfoString(text, " END, ");
	}
	else
		appendStringInfoString(text, ", NULL, ");
	append_encoding(text, model->features, psprintf("$%d", PARAMETER_FEATURES));
	appendStringInfo(text, " FROM %s r", relation_sql_name(test_relation));
}

/* ---------- one row ---------- */

static void
tally_confusion(Tally *tally, int account, int truth)
{
	int		nclasses = tally->model->record->spec.nclasses;
	double *line = &tally->confusion[account][(Size) truth * (nclasses + 1)];
	double	stable = 0;

	for (int i = 0; i < nclasses; i++)
	{
		line[i] += tally->probability[i];
		stable += tally->probability[i];
	}
	/* Sums of doubles are a little off 1. */
	if (tally->model->record->mechanism->charge_kind == CHARGE_PER_STREAM)
		line[nclasses] += Max(1 - stable, 0);
}

/* What private_score is off by, squared, in expectation. */
static double
squared_error(const Tally *tally, const Point *point, int account, double plain, double truth)
{
	const ModelRecord *record = tally->model->record;
	double			   sum = 0;

	if (record->nbins == 0 && record->mechanism->squared_error != NULL)
		return record->mechanism->squared_error(account == PURE, &point->model, tally->x, truth);
	if (record->nbins == 0)
		return (plain - truth) * (plain - truth);
	for (int i = 0; i < record->nbins; i++)
		sum += tally->probability[i] * (bin_middle(record, i) - truth) *
			   (bin_middle(record, i) - truth);
	return sum;
}

static void
tally_point(Tally *tally, Point *point, const Truth *truth, double plain)
{
	const ModelRecord *record = tally->model->record;

	for (int account = 0; account < ACCOUNTS; account++)
	{
		/* Estimates are drawn once for both: they are the same. */
		if (record->spec.nclasses > 0 &&
			(account == PURE || record->mechanism->estimate_steps == NULL))
			mechanism_distribution(record->mechanism, account == PURE, &point->model, tally->x,
								   tally->probability);
		if (truth->has_class)
		{
			point->right[account] += tally->probability[truth->class];
			if (point->own)
				tally_confusion(tally, account, truth->class);
		}
		if (truth->has_number)
			point->error[account] += squared_error(tally, point, account, plain, truth->number);
	}
}

static void
tally_class(Tally *tally, int truth)
{
	const Mechanism *mechanism = tally->model->record->mechanism;

	tally->of_class[truth]++;
	for (int i = 0; i < 2 && mechanism->noise_distribution != NULL; i++)
	{
		mechanism->noise_distribution(i == 1, &tally->own->model, tally->x, tally->probability);
		tally->noise_right[i] += tally->probability[truth];
	}
	if (mechanism->majority(&tally->own->model, tally->x) == truth)
		tally->majority_right++;
}

/* Returns the answer without noise. */
static double
tally_number(Tally *tally, double truth)
{
	const ModelRecord	 *record = tally->model->record;
	const MechanismModel *model = &tally->own->model;
	double off_middle = truth - (record->spec.label_min / 2 + record->spec.label_max / 2);
	double plain = record->nbins > 0
					   ? bin_middle(record, record->mechanism->majority(model, tally->x))
					   : record->mechanism->plain_score(model, tally->x);

	tally->plain_error += (plain - truth) * (plain - truth);
	tally->label_sum += off_middle;
	tally->label_squares += off_middle * off_middle;
	return plain;
}

static void
tally_truth(Tally *tally, const Truth *truth)
{
	double plain = 0;

	if (tally->votes != NULL)
		teachers_votes(&tally->model->mechanism_model, tally->x, tally->votes);
	if (truth->has_class)
		tally_class(tally, truth->class);
	if (truth->has_number)
		plain = tally_number(tally, truth->number);
	for (int i = 0; i < tally->npoints; i++)
		if (tally->points[i].known)
			tally_point(tally, &tally->points[i], truth, plain);
}

static void
tally_row(Tally *tally, HeapTuple row, TupleDesc columns)
{
	const MechanismSpec *spec = &tally->model->record->spec;
	CatalogSession		 session;
	Truth				 truth = {0};
	Oid					 owner;
	bool				 isnull;
	Datum				 number;
	int					 width;

	truth.class = DatumGetInt32(SPI_getbinval(row, columns, 1, &isnull));
	truth.has_class = !isnull;
	number = SPI_getbinval(row, columns, 2, &isnull);
	truth.has_number = !isnull;
	if (!truth.has_class && !truth.has_number)
		return; /* not one of the declared classes */
	if (truth.has_number)
		truth.number =
			spec->label_min + DatumGetFloat8(number) * (spec->label_max - spec->label_min);
	tally->x = features_from_array(DatumGetArrayTypeP(SPI_getbinval(row, columns, 3, &isnull)),
								   true, &width);
	tally->rows++;
	owner = owner_code_check(tally->model);
	owner_code_enter(&session, owner);
	tally_truth(tally, &truth);
	owner_code_leave(&session, owner);
}

/* ---------- all of them ---------- */

static double
root_mean(double sum, int64 rows)
{
	return rows > 0 ? sqrt(Max(sum, 0) / rows) : 0;
}

static void
summarise_point(const Point *point, int64 rows, char *remark, EvaluationPoint *result)
{
	result->epsilon = point->spec.epsilon;
	result->own = point->own;
	result->known = point->known && rows > 0;
	result->remark = point->refused ? "create_model would refuse this epsilon" : remark;
	if (!result->known)
		return;
	result->private_accuracy = point->right[PURE] / rows;
	result->approximate_accuracy = point->right[APPROXIMATE] / rows;
	result->private_rmse = root_mean(point->error[PURE], rows);
	result->approximate_rmse = root_mean(point->error[APPROXIMATE], rows);
}

/* What has to be said beside the figures; NULL: nothing. */
static char *
remark_on(const Tally *tally)
{
	const Mechanism *mechanism = tally->model->record->mechanism;

	if (mechanism->charge_kind == CHARGE_ONCE)
		return "charged once, at this epsilon; for another it must be trained anew";
	if (mechanism->estimate_steps != NULL)
		return "estimated by drawing; for another epsilon it must be trained anew";
	if (mechanism->answers_at == NULL)
		return "for another epsilon it must be trained anew";
	return mechanism->answers_at_if == NULL ? NULL : mechanism->answers_at_if(&tally->own->model);
}

static Evaluation *
summarise(const Tally *tally)
{
	const ModelRecord *record = tally->model->record;
	Evaluation		  *result = palloc0_object(Evaluation);
	int64			   rows = tally->rows;
	int64			   most = 0;

	for (int i = 0; i < record->spec.nclasses; i++)
		most = Max(most, tally->of_class[i]);
	result->record = record;
	result->rows = rows;
	result->exact = record->mechanism->estimate_steps == NULL;
	result->margin = result->exact ? 0 : estimate_margin(rows, tally->plan.draws, tally->sampled);
	result->has_noises = record->mechanism->noise_distribution != NULL;
	result->has_classes = record->spec.nclasses > 0;
	result->has_numbers = record->spec.nclasses == 0 || record->nbins > 0;
	result->remark = remark_on(tally);
	result->npoints = tally->npoints;
	result->points = palloc0_array(EvaluationPoint, tally->npoints);
	for (int i = 0; i < tally->npoints; i++)
	{
		summarise_point(&tally->points[i], rows, result->remark, &result->points[i]);
		if (tally->points[i].own)
			result->own = &result->points[i];
	}
	result->of_class = tally->of_class;
	result->private_confusion = tally->confusion[PURE];
	result->approximate_confusion = tally->confusion[APPROXIMATE];
	if (rows == 0)
		return result;
	result->exponential_accuracy = tally->noise_right[0] / rows;
	result->gaussian_accuracy = tally->noise_right[1] / rows;
	result->majority_accuracy = (double) tally->majority_right / rows;
	result->baseline_accuracy = (double) most / rows;
	result->plain_rmse = root_mean(tally->plain_error, rows);
	result->baseline_rmse =
		root_mean(tally->label_squares - tally->label_sum * tally->label_sum / rows, rows);
	return result;
}

/* ---------- epsilons ---------- */

static int
compare_epsilons(const void *a, const void *b)
{
	EpsilonUnits left = *(const EpsilonUnits *) a;
	EpsilonUnits right = *(const EpsilonUnits *) b;

	return left < right ? -1 : left > right;
}

/* In order, each once, and the model's own among them. */
static EpsilonUnits *
list_epsilons(const ModelRecord *record, const EpsilonUnits *asked, int *count)
{
	bool		  usual = asked == NULL && record->mechanism->answers_at != NULL;
	int			  n = usual ? lengthof(usual_epsilons) : asked == NULL ? 0 : *count;
	EpsilonUnits *list = palloc_array(EpsilonUnits, n + 1);

	for (int i = 0; i < n; i++)
		list[i] = usual ? (EpsilonUnits) rint(usual_epsilons[i] * EPSILON_UNITS_PER_ONE) : asked[i];
	list[n] = record->spec.epsilon;
	qsort(list, n + 1, sizeof(EpsilonUnits), compare_epsilons);
	*count = 1;
	for (int i = 1; i <= n; i++)
		if (list[i] != list[*count - 1])
			list[(*count)++] = list[i];
	return list;
}

static void
set_point(Tally *tally, Point *point, EpsilonUnits epsilon)
{
	const ModelRecord *record = tally->model->record;

	point->spec = record->spec;
	point->spec.epsilon = epsilon;
	point->model = tally->model->mechanism_model;
	point->model.spec = &point->spec;
	point->model.votes = tally->votes;
	point->own = epsilon == record->spec.epsilon;
	point->refused = !point->own && record->mechanism->answers_at != NULL &&
					 !record->mechanism->answers_at(&point->spec);
	point->known = point->own || (record->mechanism->answers_at != NULL && !point->refused);
	if (point->own)
		tally->own = point;
	else if (record->mechanism->asks_teachers && point->known)
		point->model.gaussian_noise = vote_noise_is_gaussian(&point->spec);
}

/* Some mechanisms cannot tell what to expect of their answers. */
static void
check_evaluable(const ModelRecord *record)
{
	const Mechanism *mechanism = record->mechanism;

	if (record->spec.nclasses > 0 ? !mechanism_gives_answers(mechanism)
								  : mechanism->plain_score == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("models of mechanism \"%s\" cannot be evaluated", mechanism->name),
				 errdetail("What to expect of their answers is not known without drawing them."),
				 errhint("Evaluate a model of mechanism \"vote\" with the same teachers.")));
}

/* Said before the query would, which nobody outside has seen. */
static void
check_test_columns(const ModelRecord *record, Oid test_relation)
{
	static const char *const hint = "Rows to evaluate on need the model's label and all its "
									"features, under the same names; a view can rename them.";

	/* It is there until the figures are. */
	LockRelationOid(test_relation, AccessShareLock);
	(void) relation_sql_name(test_relation);
	require_column(test_relation, record->label, hint);
	for (int i = 0; i < record->features->nfeatures; i++)
		require_column(test_relation, record->features->features[i].name, hint);
}

static void
tally_begin(Tally *tally, const EpsilonUnits *asked, int count)
{
	const ModelRecord *record = tally->model->record;
	Size			   nclasses = Max(record->spec.nclasses, 1);
	EpsilonUnits	  *epsilons = list_epsilons(record, asked, &count);

	if (tally->model->mechanism_model.ensemble != NULL)
		tally->votes = palloc_array(int32, nclasses);
	tally->probability = palloc_array(double, nclasses);
	tally->of_class = palloc0_array(int64, nclasses);
	for (int i = 0; i < ACCOUNTS; i++)
		tally->confusion[i] = palloc0_array(double, nclasses *(nclasses + 1));
	tally->points = palloc0_array(Point, count);
	tally->npoints = count;
	for (int i = 0; i < count; i++)
		set_point(tally, &tally->points[i], epsilons[i]);
}

/* ---------- rows ---------- */

static int64
count_rows(Oid test_relation)
{
	bool isnull;

	SPI_execute(psprintf("SELECT pg_catalog.count(*) FROM %s", relation_sql_name(test_relation)),
				true, 0);
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
}

/* How many rows there are, and how many of them will be asked about. */
static int64
plan_rows(Tally *tally, Oid test_relation)
{
	const Mechanism *mechanism = tally->model->record->mechanism;
	int64			 rows;

	if (mechanism->estimate_steps == NULL)
		return (int64) estimated_rows(relation_sql_name(test_relation));
	rows = count_rows(test_relation);
	tally->plan = estimate_plan(rows, mechanism->estimate_steps(&tally->own->model));
	tally->sampled = tally->plan.rows < rows;
	for (int i = 0; i < tally->npoints; i++)
		tally->points[i].model.estimate_draws = tally->plan.draws;
	return rows;
}

/*
 * Is the next of the rows that are left one of the sample?  Each set of the
 * planned size is equally likely.
 */
static bool
take_row(const Tally *tally, int64 left, int64 *wanted)
{
	if (!tally->sampled)
		return true;
	if (left <= 0 || (int64) sample_uniform(left) >= *wanted)
		return false;
	(*wanted)--;
	return true;
}

/* All rows once, in memory for one of them. */
static void
tally_rows(Tally *tally, TrainingQuery *query, Oid test_relation)
{
	MemoryContext  row_context;
	CatalogSession session;
	Portal		   portal;
	uint64		   count;
	int64		   left;
	int64		   wanted;

	caller_begin(&session);
	row_context =
		AllocSetContextCreate(CurrentMemoryContext, "privpred test row", ALLOCSET_DEFAULT_SIZES);
	left = plan_rows(tally, test_relation);
	wanted = tally->plan.rows;
	progress_phase("evaluating rows", tally->sampled ? wanted : left);
	portal = SPI_cursor_open_with_args(NULL, query->text.data, TRAINING_PARAMETERS, query->types,
									   query->values, NULL, true, CURSOR_OPT_NO_SCROLL);
	do
	{
		SPITupleTable *rows;

		SPI_cursor_fetch(portal, true, ROWS_PER_FETCH);
		rows = SPI_tuptable;
		count = SPI_processed;
		for (uint64 i = 0; i < count; i++)
		{
			MemoryContext caller = MemoryContextSwitchTo(row_context);

			CHECK_FOR_INTERRUPTS();
			if (take_row(tally, left--, &wanted))
				tally_row(tally, rows->vals[i], rows->tupdesc);
			MemoryContextSwitchTo(caller);
			MemoryContextReset(row_context);
			progress_update(tally->rows);
		}
		SPI_freetuptable(rows);
	} while (count > 0);
	SPI_cursor_close(portal);
	catalog_end(&session);
}

Evaluation *
request_evaluate(const char *name, Oid test_relation, const EpsilonUnits *epsilons, int count)
{
	Tally		  tally = {0};
	TrainingQuery query;

	tally.model = known_model_decoded(name, CurrentMemoryContext, GetUserId());
	check_relation_owner(tally.model->record->relid);
	check_evaluable(tally.model->record);
	check_test_columns(tally.model->record, test_relation);
	progress_begin(name, tally.model->record->relid);
	tally_begin(&tally, epsilons, count);
	training_query_begin(&query, tally.model->record);
	append_test_query(&query, tally.model->record, test_relation);
	tally_rows(&tally, &query, test_relation);
	progress_end();
	return summarise(&tally);
}
