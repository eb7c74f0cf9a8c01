/*
 * train_report.c
 *		What an owner is told of training: rows, values and declarations of no use.
 *
 * Nothing of it is private, so nobody else hears it.  What values are like is read
 * from the first rows of the table alone, by a query of its own.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "mechanism/vote/vote.h"
#include "request/train.h"
#include "server/citus.h"
#include "server/query.h"

#define SAMPLED_ROWS 10000
#define ROWS_PER_FETCH 100
#define WORTH_TELLING 0.01 /* share of a column's values */
#define COLUMNS_NAMED 10

/* The defaults of create_model (install/owner.sql). */
#define DEFAULT_TEACHERS 100
#define DEFAULT_EPSILON (EPSILON_UNITS_PER_ONE / 10)

bool
owner_listens(const ModelRecord *model)
{
	return object_ownercheck(RelationRelationId, model->relid, GetOuterUserId());
}

/* ---------- rows and teachers ---------- */

static void
report_rows(const ModelRecord *model, RowCounts rows)
{
	static const char *const reason =
		"Their label is NULL or not one of the declared classes, or their unit is NULL.";

	if (rows.all == rows.unused)
		ereport(NOTICE, errmsg("model \"%s\" has learnt nothing", model->name),
				rows.all == 0
					? errdetail("There are no rows.")
					: errdetail("All " INT64_FORMAT " rows were left out. %s", rows.unused, reason),
				rows.all == 0
					? errhint("Retrain it with privpred.retrain once there are rows.")
					: errhint("Compare the declared classes with the values of column \"%s\".",
							  model->label));
	else if (rows.unused > 0)
		ereport(
			NOTICE,
			errmsg(INT64_FORMAT " rows were left out of model \"%s\"", rows.unused, model->name),
			errdetail("%s", reason));
}

static void
report_teachers(const ModelRecord *model)
{
	int fitted = model->predictor != NULL ? ensemble_fitted(ensemble_load(model->predictor))
										  : model->spec.teachers;

	if (fitted < model->spec.teachers)
		ereport(
			NOTICE,
			errmsg("%d of %d teachers of model \"%s\" always vote for the same class",
				   model->spec.teachers - fitted, model->spec.teachers, model->name),
			errdetail("Teachers whose rows are all of one class vote for it; those without rows, "
					  "or that could not be fitted, vote for \"%s\".",
					  model->spec.classes[model->spec.default_class]),
			errhint("Fewer teachers get more rows each."));
}

/* ---------- teachers and epsilon ---------- */

/* What the owner's guide says: 25 for two classes, 50 for ten. */
static double
votes_wanted(const ModelRecord *model)
{
	return 25 * (1 + Min(model->spec.nclasses - 2, 8) / 8.0);
}

/* The defaults are for tables of any size, and below what the guide asks for. */
static void
report_defaults(const ModelRecord *model)
{
	double epsilon = model->spec.epsilon / (double) EPSILON_UNITS_PER_ONE;
	int	   teachers = (int) (votes_wanted(model) / epsilon) | 1;

	if (model->mechanism != &vote_mechanism || model->spec.teachers != DEFAULT_TEACHERS ||
		model->spec.epsilon != DEFAULT_EPSILON)
		return;
	ereport(NOTICE,
			errmsg("%d teachers at epsilon %g are few for %d classes", model->spec.teachers,
				   epsilon, model->spec.nclasses),
			errdetail("These are the defaults. Teachers times epsilon should be %g or more, "
					  "so that noise seldom overrules a clear majority.",
					  votes_wanted(model)),
			errhint("Use teachers => %d if there are %d units or more, or a larger "
					"epsilon; privpred.plan recommends both.",
					teachers, 100 * teachers));
}

/* ---------- the declaration ---------- */

/* Does a column alone identify rows, or whose they are? */
static bool
is_key(Relation relation, const ProtectedRelation *protected, AttrNumber attnum)
{
	List	 *indexes = RelationGetIndexList(relation);
	ListCell *cell;
	bool	  found = false;

	for (int i = 0; i < protected->nunits; i++)
		found = found || get_attnum(protected->relid, protected->unit_columns[i]) == attnum;
	foreach(cell, indexes)
	{
		Relation	  index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index form = index->rd_index;

		found = found ||
				(form->indisunique && form->indnkeyatts == 1 && form->indkey.values[0] == attnum);
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return found;
}

static void
report_features(const ModelRecord *model, const ProtectedRelation *protected)
{
	Relation relation = open_relation(model->relid, AccessShareLock);

	for (int i = 0; i < model->features->nfeatures; i++)
	{
		const char *name = model->features->features[i].name;

		if (strcmp(name, model->label) == 0)
			ereport(NOTICE, errmsg("the label \"%s\" is among the features", name),
					errdetail("Whoever asks has to know the answer."));
		else if (is_key(relation, protected, get_attnum(model->relid, name)))
			ereport(NOTICE, errmsg("feature \"%s\" is a key", name),
					errdetail("It tells rows apart, and nothing about other people."));
	}
	table_close(relation, NoLock);
}

/* ---------- values ---------- */

typedef struct Misfits
{
	int64 values;  /* that are not NULL */
	int64 misfits; /* outside the bounds, or no declared level */
} Misfits;

/* Columns: the encoded row, then each feature's own. */
static bool
misfit(const Feature *feature, Datum value, Oid type, const double *x)
{
	double number;

	if (feature->kind == FEATURE_NUMERIC)
	{
		number = number_of_datum(value, type);
		return number < feature->min || number > feature->max;
	}
	for (int i = 0; i < feature->nlevels; i++)
		if (x[feature->offset + i] != 0)
			return false;
	return feature->kind == FEATURE_CATEGORY;
}

static char *
sample_sql(const ModelRecord *model, TrainingQuery *query, const ProtectedRelation *protected)
{
	training_query_begin(query, model);
	appendStringInfo(&query->text, "%sSELECT %s", query_secrets(query),
					 encoding_sql(model->features, PARAMETER_FEATURES));
	for (int i = 0; i < model->features->nfeatures; i++)
		appendStringInfo(&query->text, ", r.%s",
						 quote_identifier(model->features->features[i].name));
	appendStringInfo(&query->text, " FROM %s r WHERE %s LIMIT %d", query->relation,
					 trains_sql(query, model, protected), SAMPLED_ROWS);
	return query->text.data;
}

static void
add_row(const ModelRecord *model, const QueryScan *scan, const Oid *types, Misfits *counts)
{
	const double *x = scan_features(scan, 1);

	for (int i = 0; i < model->features->nfeatures; i++)
	{
		bool  isnull;
		Datum value = scan_value(scan, 2 + i, &isnull);

		if (isnull)
			continue;
		counts[i].values++;
		counts[i].misfits += misfit(&model->features->features[i], value, types[i], x);
	}
}

static int64
count_misfits(const ModelRecord *model, const ProtectedRelation *protected, Misfits *counts)
{
	int			   nfeatures = model->features->nfeatures;
	Oid			  *types = palloc_array(Oid, nfeatures);
	int64		   rows = 0;
	MemoryContext  row_context;
	CatalogSession session;
	TrainingQuery  query;
	QueryScan	   scan;

	for (int i = 0; i < nfeatures; i++)
		types[i] = getBaseType(
			get_atttype(model->relid, get_attnum(model->relid, model->features->features[i].name)));
	relation_owner_begin(&session, model->relid);
	row_context =
		AllocSetContextCreate(CurrentMemoryContext, "privpred sampled row", ALLOCSET_DEFAULT_SIZES);
	scan_open(&scan, ROWS_PER_FETCH, sample_sql(model, &query, protected), TRAINING_PARAMETERS,
			  query.arguments);
	for (; scan_next(&scan); rows++)
	{
		MemoryContext caller = MemoryContextSwitchTo(row_context);

		add_row(model, &scan, types, counts);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(row_context);
	}
	scan_close(&scan);
	catalog_end(&session);
	return rows;
}

/* Rows of other nodes stay there.  Of Citus, each shard would send as many as are wanted. */
static bool
has_foreign_rows(Oid relid)
{
	ListCell *cell;

	if (citus_spreads(relid))
		return true;
	foreach(cell, find_all_inheritors(relid, AccessShareLock, NULL))
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return true;
	return false;
}

static void
report_values(const ModelRecord *model, const ProtectedRelation *protected)
{
	int			   nfeatures = model->features->nfeatures;
	Misfits		  *counts = palloc0_array(Misfits, nfeatures);
	int64		   rows = count_misfits(model, protected, counts);
	bool		   undeclared = false;
	int			   named = 0;
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < nfeatures; i++)
	{
		const Feature *feature = &model->features->features[i];
		bool		   numeric = feature->kind == FEATURE_NUMERIC;

		if (counts[i].misfits < Max(counts[i].values * WORTH_TELLING, 1))
			continue;
		undeclared = undeclared || (numeric && feature->min == 0 && feature->max == 1);
		if (named++ < COLUMNS_NAMED)
			appendStringInfo(&columns, "%s%.4g%% of \"%s\" %s", named > 1 ? ", " : "",
							 100.0 * counts[i].misfits / counts[i].values, feature->name,
							 numeric ? "lie outside its bounds" : "are no declared level");
	}
	if (named > COLUMNS_NAMED)
		appendStringInfo(&columns, ", and so on in %d more columns", named - COLUMNS_NAMED);
	if (named > 0)
		ereport(NOTICE, errmsg("not all values are as declared for model \"%s\"", model->name),
				errdetail("Of values in the first " INT64_FORMAT " rows, %s. Such numbers count as "
						  "the bound, other values as no level at all.",
						  rows, columns.data),
				undeclared
					? errhint("A name alone declares a number within [0, 1]. Declare bounds: "
							  "{\"age\": {\"min\": 0, \"max\": 110}}.")
					: errhint("Declare wider bounds, or more levels, as far as they are "
							  "known without looking at the rows."));
}

void
report_training(const ModelRecord *model, const ProtectedRelation *protected, RowCounts rows)
{
	if (!owner_listens(model) || client_min_messages > NOTICE)
		return;
	report_rows(model, rows);
	if (rows.unused < rows.all)
		report_teachers(model);
	report_features(model, protected);
	if (!has_foreign_rows(model->relid))
		report_values(model, protected);
	report_defaults(model);
}

void
report_change(const ModelRecord *model)
{
	if (get_rel_relkind(model->relid) != RELKIND_VIEW || model_definition(model->name) == NULL)
		return;
	ereport(NOTICE,
			errmsg("view \"%s\" was changed since model \"%s\" was trained",
				   get_rel_name(model->relid), model->name),
			errdetail("The new version learns from the view as it is now."));
}
