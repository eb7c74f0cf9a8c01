/*
 * public_tables.c
 *		References, and other public tables that a model's options name.
 *
 * They are read when a model is declared or trained, never for an answer, with
 * the rights of the protected relation's owner.  What they hold is taken for
 * public, so whatever shares rows with a protected table is refused, each time;
 * a copy of one cannot be told, and is the owner's to know.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/varlena.h"

#include "catalog/store.h"
#include "request/train.h"

#define NUMBERS_PER_FETCH 10000
#define FIRST_ROWS 64
#define MAX_REFERENCE_POINTS 100000

/* ---------- the relation ---------- */

Oid
option_relation(const char *option, const char *name)
{
	return public_relation(psprintf("option \"%s\"", option),
						   psprintf("Option \"%s\" makes the contents of a table public.", option),
						   name);
}

void
require_column(Oid relid, const char *column, const char *hint)
{
	if (get_attnum(relid, column) <= 0)
		ereport(
			ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
			errmsg("column \"%s\" of relation \"%s\" does not exist", column, get_rel_name(relid)),
			errhint("%s", hint));
}

void
require_features(Oid relid, const FeatureSpec *features, const char *hint)
{
	for (int i = 0; i < features->nfeatures; i++)
		require_column(relid, features->features[i].name, hint);
}

const double *
scan_features(const QueryScan *scan, int column)
{
	bool isnull;
	int	 width;

	return features_from_array(DatumGetArrayTypeP(scan_value(scan, column, &isnull)), true, &width);
}

double *
read_public_rows(Oid relid, const FeatureSpec *features, int64 limit, int64 room,
				 MemoryContext context, int64 *count)
{
	Size		  row_size = features->width * sizeof(double);
	int64		  capacity = FIRST_ROWS;
	double		 *rows = MemoryContextAllocHuge(context, capacity * row_size);
	QueryArgument argument = ARG(JSONBOID, JsonbPGetDatum(feature_spec_write(features)));
	QueryScan	  scan;

	char *query =
		psprintf("SELECT %s FROM %s r%s", encoding_sql(features, 1), relation_sql_name(relid),
				 limit > 0 ? psprintf(" LIMIT " INT64_FORMAT, limit) : "");
	/* A few rows at a time: each may have thousands of numbers. */
	scan_open(&scan, Max(1, NUMBERS_PER_FETCH / features->width), query, 1, &argument);
	for (*count = 0; *count <= room && scan_next(&scan); (*count)++)
	{
		if (*count == room)
			continue;
		if (*count == capacity)
		{
			capacity = Min(2 * capacity, room);
			rows = repalloc_huge(rows, capacity * row_size);
		}
		memcpy(rows + *count * features->width, scan_features(&scan, 1), row_size);
	}
	scan_close(&scan);
	return rows;
}

/* ---------- references ---------- */

static void
declare_reference(ModelRecord *model, const char *name)
{
	MemoryContext  caller = CurrentMemoryContext;
	CatalogSession session;
	Oid			   relid;
	int64 fitting = maintenance_work_mem * INT64CONST(1024) / (model->spec.width * sizeof(double));
	int64 room = Min(fitting, MAX_REFERENCE_POINTS);

	relation_owner_begin(&session, model->relid);
	relid = option_relation("reference", name);
	require_features(relid, model->features, "A reference has the columns of all features.");
	model->spec.reference =
		read_public_rows(relid, model->features, 0, room, caller, &model->spec.nreference);
	catalog_end(&session);
	if (model->spec.nreference > room && fitting < MAX_REFERENCE_POINTS)
		ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY),
				errmsg("the reference does not fit into maintenance_work_mem"),
				errhint("Name a view with at most " INT64_FORMAT
						" of its rows, or raise maintenance_work_mem.",
						room));
	if (model->spec.nreference == 0 || model->spec.nreference > room)
		refuse(errmsg("a reference needs 1 to %d rows", MAX_REFERENCE_POINTS),
			   errhint("Name a table or a view with a sample of public rows."));
}

void
declare_public_tables(ModelRecord *model)
{
	const Option *own = model->mechanism->options;
	Jsonb		 *options = model->spec.options;

	if (option_find(own, "class_table") && option_given(options, "class_table"))
		declare_finite_class(model, option_name(options, "class_table"));
	if (option_find(own, "reference") && option_given(options, "reference"))
		declare_reference(model, option_name(options, "reference"));
}
