/*
 * describe.c
 *		A private description of a table: bounds, cuts and levels of its columns.
 *
 * Rows are counted, then everybody pays, then noise is drawn: whatever can fail because of rows
 * fails before the debit, and nothing of them is seen before it.
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "account/accountant.h"
#include "request/describe.h"
#include "server/json_text.h"
#include "server/progress.h"

#define MAX_DELTA 0.1
#define MAX_CUTS 256
#define UNITS_PER_SIGMA 50 /* fewer units than that: most columns will be left out */

/* ---------- what is asked for ---------- */

static EpsilonUnits
check_request(const DescribeRequest *request)
{
	EpsilonUnits epsilon;

	if (!epsilon_to_units(request->epsilon, EPSILON_PER_ANSWER_MAX, &epsilon))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("epsilon must be a number from %g to %g", EPSILON_MIN,
							   EPSILON_PER_ANSWER_MAX),
						errhint("It is what the description costs everybody; useful values lie "
								"between 0.1 and 1.")));
	if (!(request->delta > 0 && request->delta <= MAX_DELTA))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("delta must be positive, and %g at most", MAX_DELTA),
						errhint("Use less than one over the number of units, such as 1e-6.")));
	if (request->cuts != 0 && (request->cuts < 2 || request->cuts > MAX_CUTS))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("cuts must be 0, or from 2 to %d", MAX_CUTS),
						errhint("Use 16, or 0 for no cuts.")));
	return epsilon;
}

/* From the arguments, the columns' types and what is declared of the relation. */
static void
plan_description(Description *description, const DescribeRequest *request,
				 const ProtectedRelation *protected)
{
	int categories = 0;

	*description = (Description){
		.request = request, .protected = protected, .epsilon = check_request(request)};
	if (protected->protects_labels)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" protects labels only", get_rel_name(protected->relid)),
				 errdetail("Its other columns are public, and a description of the label would "
						   "need another promise."),
				 errhint("Look at the public columns, and declare what the label may be.")));
	if (protected->declared_units == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("relation \"%s\" has no declared_units", get_rel_name(protected->relid)),
				 errdetail("Shares of NULLs are shares of it: how many units there are is "
						   "secret."),
				 errhint("Declare it with privpred.protect(..., declared_units => ...).")));
	describe_columns(description);
	for (int i = 0; i < description->nhistograms; i++)
		categories += description->histograms[i].kind == DESCRIBED_CATEGORY;
	if (description->nhistograms > 0 &&
		!describe_noise(epsilon_real(description->epsilon), request->delta,
						description->nhistograms, categories, &description->noise))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%d columns cannot be described with epsilon %g and delta %g",
					description->nhistograms, epsilon_real(description->epsilon), request->delta),
			 errdetail("The noise would be beyond what can be drawn."),
			 errhint("Give a larger epsilon, such as 0.3, or a larger delta, such as 1e-6.")));
}

DescribeCost
request_describe_cost(const DescribeRequest *request)
{
	DescribeCost cost = {0};
	Description	 description;

	/* Whoever has no budget is not told whether the relation is protected. */
	if (!relation_is_protected(request->relid) || !relation_is_known(request->relid, GetUserId()))
		check_relation_owner(request->relid);
	plan_description(&description, request, protected_relation_get(request->relid));
	cost.histograms = description.nhistograms;
	if (cost.histograms == 0)
		return cost;
	cost.sigma = sqrt((double) description.noise.variance);
	cost.smallest_level = description.noise.level_threshold;
	for (int i = 0; i < description.nhistograms; i++)
		if (description.histograms[i].kind != DESCRIBED_CATEGORY)
			cost.smallest_cell =
				Max(cost.smallest_cell,
					describe_cell_threshold(&description.noise, description.histograms[i].kind));
	return cost;
}

/* ---------- the result ---------- */

/* A bound or a fill in the column's own spelling. */
static void
put_number(StringInfo json, const char *key, const DescribedColumn *column, double value)
{
	if (time_type_ok(column->type))
		json_string(json, key, time_to_text(value, column->type));
	else
		json_number(json, key, value);
}

static void
put_bounds(StringInfo json, const Description *description, DescribedColumn *column)
{
	const Histogram *histogram = &description->histograms[column->histogram];
	int64			 threshold = describe_cell_threshold(&description->noise, histogram->kind);
	double			 min;
	double			 max;

	if (!histogram_bounds(histogram, threshold, &min, &max))
	{
		column->left_out = "no cell";
		return;
	}
	json_open(json, column->name, '{');
	put_number(json, "min", column, min);
	put_number(json, "max", column, max);
	if (description->request->cuts > 0)
		json_number(json, "cuts", description->request->cuts);
	if (histogram->nulls >= threshold)
	{
		json_open(json, "null", '{');
		put_number(json, "fill", column, histogram_middle(histogram));
		json_close(json, '}');
	}
	json_close(json, '}');
}

static void
put_levels(StringInfo json, const Description *description, DescribedColumn *column)
{
	const Histogram *histogram = &description->histograms[column->histogram];

	if (histogram->nlevels == 0)
	{
		column->left_out = "no level was frequent enough";
		return;
	}
	json_open(json, column->name, '{');
	json_open(json, "levels", '[');
	for (int i = 0; i < histogram->nlevels; i++)
		json_string(json, NULL, histogram->levels[i].level);
	json_close(json, ']');
	if (histogram->nulls >= describe_cell_threshold(&description->noise, histogram->kind))
	{
		json_open(json, "null", '{');
		json_string(json, "fill", histogram_level(histogram));
		json_close(json, '}');
	}
	json_close(json, '}');
}

/* What was given; numbers get cuts unless these are given, too, or there is no room for them. */
static void
put_given(StringInfo json, const Description *description, const DescribedColumn *column)
{
	char *given = pstrdup(column->given);

	if (column->given_cuts)
	{
		*strrchr(given, '}') = '\0';
		given = psprintf("%s, \"cuts\": %d}", given, description->request->cuts);
	}
	json_literal(json, column->name, given);
}

/* As create_model() takes it.  What cannot be described is left out, with the reason. */
static char *
features_json(Description *description)
{
	StringInfoData json;

	initStringInfo(&json);
	json_open(&json, NULL, '{');
	for (int i = 0; i < description->ncolumns; i++)
	{
		DescribedColumn *column = &description->columns[i];

		if (column->given != NULL)
			put_given(&json, description, column);
		else if (column->histogram < 0 && column->left_out == NULL)
			json_literal(&json, column->name, "{}");
		else if (column->left_out == NULL &&
				 description->histograms[column->histogram].kind == DESCRIBED_CATEGORY)
			put_levels(&json, description, column);
		else if (column->left_out == NULL)
			put_bounds(&json, description, column);
	}
	json_close(&json, '}');
	return json.data;
}

static char *
null_shares_json(const Description *description)
{
	double		   units = (double) description->protected->declared_units;
	StringInfoData json;

	initStringInfo(&json);
	json_open(&json, NULL, '{');
	for (int i = 0; i < description->nhistograms; i++)
		json_number(&json, description->described[i]->name,
					Min(Max((double) description->histograms[i].nulls / units, 0), 1));
	json_close(&json, '}');
	return json.data;
}

static char *
left_out_json(const Description *description)
{
	StringInfoData json;

	initStringInfo(&json);
	json_open(&json, NULL, '{');
	for (int i = 0; i < description->ncolumns; i++)
		if (description->columns[i].left_out != NULL)
			json_string(&json, description->columns[i].name, description->columns[i].left_out);
	json_close(&json, '}');
	return json.data;
}

/* A function of noisy counts and types, so that whoever calls may hear it. */
static void
report_left_out(const Description *description)
{
	StringInfoData words;
	int			   count = 0;

	initStringInfo(&words);
	for (int i = 0; i < description->ncolumns; i++)
	{
		const DescribedColumn *column = &description->columns[i];

		if (column->left_out != NULL)
			appendStringInfo(&words, "%s\"%s\" (%s)", count++ > 0 ? ", " : "", column->name,
							 column->left_out);
	}
	if (count > 0)
		ereport(NOTICE,
				(errmsg_plural("%d of %d columns was left out", "%d of %d columns were left out",
							   count, count, description->ncolumns),
				 errdetail("These were: %s.", words.data),
				 errhint("Declare them by hand, or spend more: see "
						 "privpred.describe_cost().")));
}

/* ---------- the request ---------- */

static void
warn_if_small(const Description *description)
{
	double sigma = sqrt((double) description->noise.variance);

	if (description->protected->declared_units < UNITS_PER_SIGMA * sigma)
		ereport(WARNING,
				(errmsg("relation \"%s\" is small for such a description",
						get_rel_name(description->protected->relid)),
				 errdetail("The noise has a standard deviation of %.4g units, and " INT64_FORMAT
						   " units are declared: most columns may be left out.",
						   sigma, description->protected->declared_units),
				 errhint("Describe fewer columns, give what is known of them, or spend more: see "
						 "privpred.describe_cost().")));
}

static ArrayType *
column_names(const Description *description)
{
	Datum *names = palloc_array(Datum, description->ncolumns);

	for (int i = 0; i < description->ncolumns; i++)
		names[i] = DirectFunctionCall1(namein, CStringGetDatum(description->columns[i].name));
	return construct_array(names, description->ncolumns, NAMEOID, NAMEDATALEN, false,
						   TYPALIGN_CHAR);
}

/* Counts, has everybody pay, and draws.  Returns the charge. */
static const char *
draw_description(Description *description, int64 number)
{
	const Charge   charge = describe_charge(&description->noise);
	LedgerPrice	   price = {.relation_id = description->protected->population,
							.asked_id = description->protected->relation_id,
							.training_id = number,
							.model_name = get_rel_name(description->protected->relid),
							.kind = CHARGE_ONCE,
							.finite = charge};
	LevelSource	  *levels = describe_rows(description);
	const Receipt *receipt;

	progress_phase("charging", -1);
	receipt = ledger_describe(&price);
	progress_phase("drawing noise", -1);
	mechanism_describe(receipt, &description->noise, description->nhistograms,
					   description->histograms, levels);
	describe_rows_end(levels);
	return charge_to_text(&charge, palloc(CHARGE_TEXT_SIZE));
}

text *
request_describe(const DescribeRequest *request)
{
	ProtectedRelation *protected;
	const ViewProof	 *proof;
	Description		  description;
	DescriptionRecord record;

	lock_own_relation(request->relid, AccessShareLock);
	PreventCommandDuringRecovery("privpred.describe()");
	PreventCommandIfReadOnly("privpred.describe()");
	protected = protected_relation_hold(request->relid);
	check_unit_columns(protected);
	check_protected_once(request->relid);
	check_spent_once(request->relid, protected->population, 0);
	proof = view_prove_protected(protected);
	check_view_paid_once(proof);
	check_name_given(request->relid);
	plan_description(&description, request, protected);
	description.proof = proof;
	progress_begin("", request->relid);
	record = (DescriptionRecord){.id = description_number(),
								 .relation_id = protected->relation_id,
								 .epsilon = description.epsilon,
								 .delta = request->delta,
								 .columns = column_names(&description)};
	if (description.nhistograms > 0)
	{
		warn_if_small(&description);
		record.charge = draw_description(&description, record.id);
	}
	progress_phase("storing", -1);
	record.features = features_json(&description);
	record.null_shares = null_shares_json(&description);
	record.left_out = left_out_json(&description);
	description_insert(&record);
	progress_end();
	report_left_out(&description);
	return cstring_to_text(record.features);
}
