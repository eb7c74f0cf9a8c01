/*
 * audit_rows.c
 *		Made-up tables, and models trained on them by the real code.
 *
 * A made-up table is a VALUES list that takes the place of the protected
 * relation in the training query (train.c, units.c); all the rest is what
 * create_model() does.  Nothing is created in the database, so nothing can be
 * left behind.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "miscadmin.h"

#include "server/progress.h"
#include "mechanism/teachers.h"
#include "request/audit.h"
#include "request/train.h"

#define UNIT_COLUMN "unit"
#define FEATURE_COLUMN "x"
#define LABEL_COLUMN "y"

/* ---------- declarations ---------- */

TupleDesc
made_up_columns(const ModelRecord *model)
{
	TupleDesc columns = CreateTemplateTupleDesc(3);
	bool levels = model->features != NULL && model->features->features[0].kind == FEATURE_CATEGORY;

	TupleDescInitEntry(columns, 1, UNIT_COLUMN, INT8OID, -1, 0);
	TupleDescInitEntry(columns, 2, FEATURE_COLUMN, levels ? TEXTOID : FLOAT8OID, -1, 0);
	TupleDescInitEntry(columns, 3, LABEL_COLUMN, model->spec.nclasses > 0 ? TEXTOID : FLOAT8OID, -1,
					   0);
	return columns;
}

static FeatureSpec *
declare_feature(bool levels)
{
	TupleDesc	columns = CreateTemplateTupleDesc(1);
	const char *json =
		levels ? "{\"x\": {\"levels\": [\"a\", \"b\"]}}" : "{\"x\": {\"min\": 0, \"max\": 1}}";

	TupleDescInitEntry(columns, 1, FEATURE_COLUMN, levels ? TEXTOID : FLOAT8OID, -1, 0);
	return feature_spec_declare(CStringGetTextDatum(json), columns, "made-up rows");
}

static Jsonb *
read_options(const char *options)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(options)));
}

static void
begin_rows(MadeUp *table)
{
	initStringInfo(&table->rows);
	/* "ctid": where a row lies, which nothing may depend on. */
	appendStringInfo(&table->rows,
					 "(SELECT v.* FROM (VALUES (NULL::pg_catalog.int8, NULL::pg_catalog.int8,"
					 " NULL::pg_catalog.%s, NULL::pg_catalog.%s)",
					 table->levels ? "text" : "float8",
					 table->record.spec.nclasses > 0 ? "text" : "float8");
	table->nrows = 0;
}

MadeUp *
made_up_create(const Audit *audit, const Mechanism *mechanism, bool levels, int nclasses,
			   const char *options)
{
	const ModelRecord *model = audit->model;
	MadeUp			  *table = palloc0_object(MadeUp);
	ModelRecord		  *record = &table->record;

	record->name = model->name;
	record->relation_id = model->relation_id;
	record->relid = model->relid; /* whose owner trains; its rows are not touched */
	record->made_up_rows = "";
	record->label = LABEL_COLUMN;
	record->mechanism = mechanism;
	record->version = 1;
	memcpy(record->salt, model->salt, MODEL_SALT_LENGTH);
	record->features = declare_feature(levels);
	record->spec.epsilon = model->spec.epsilon;
	record->spec.nclasses = nclasses;
	record->spec.classes = palloc_array(char *, Max(nclasses, 1));
	for (int i = 0; i < nclasses; i++)
		record->spec.classes[i] = psprintf("%c", 'a' + i);
	record->spec.label_min = -1;
	record->spec.label_max = 1;
	record->spec.width = record->features->width;
	record->spec.columns = feature_columns(record->features);
	record->spec.protects_labels = mechanism->labels_only;
	record->spec.options = read_options(options);
	table->levels = levels;
	table->units.relation_id = model->relation_id;
	table->units.relid = model->relid;
	table->units.nunits = 1;
	table->units.unit_columns = palloc_array(char *, 1);
	table->units.unit_columns[0] = UNIT_COLUMN;
	table->x = palloc0_array(double, record->spec.width);
	begin_rows(table);
	return table;
}

MadeUp *
made_up_like(const MadeUp *other)
{
	MadeUp *table = palloc_object(MadeUp);

	*table = *other;
	table->x = palloc0_array(double, other->record.spec.width);
	table->source = NULL;
	memset(&table->model, 0, sizeof(MechanismModel));
	begin_rows(table);
	return table;
}

void
made_up_row(MadeUp *table, int64 unit, double x, double label)
{
	appendStringInfo(&table->rows, ", (" INT64_FORMAT ", " INT64_FORMAT ", ", table->nrows++, unit);
	if (table->levels)
		appendStringInfo(&table->rows, "'%c', ", 'a' + (int) x);
	else
		appendStringInfo(&table->rows, "%.17g, ", x);
	if (table->record.spec.nclasses > 0)
		appendStringInfo(&table->rows, "'%c')", 'a' + (int) label);
	else
		appendStringInfo(&table->rows, "%.17g)", label);
}

/* The rows as a subquery; more may follow, and then it is to be called again. */
static void
finish_rows(MadeUp *table)
{
	table->record.made_up_rows =
		psprintf("%s) v (ctid, " UNIT_COLUMN ", " FEATURE_COLUMN ", " LABEL_COLUMN ")"
				 " WHERE v." UNIT_COLUMN " IS NOT NULL)",
				 table->rows.data);
}

/* ---------- ids ---------- */

static uint64
hash_of_id(UnitHasher *hasher, const MadeUp *table, int64 id)
{
	return unit_hash(hasher, Int64GetDatum(id), (const unsigned char *) table->record.salt);
}

int64 *
made_up_ids(const MadeUp *table, int n)
{
	UnitHasher *hasher = unit_hasher_create(INT8OID, InvalidOid);
	int64	   *ids = palloc0_array(int64, n);
	int			missing = n;

	for (int64 id = 1; missing > 0; id++)
	{
		uint64 place = hash_of_id(hasher, table, id) % n;

		if (id % 10000 == 0)
			CHECK_FOR_INTERRUPTS();
		if (ids[place] == 0)
		{
			ids[place] = id;
			missing--;
		}
	}
	return ids;
}

int64 *
made_up_ids_of_first(const MadeUp *table, int n, int count)
{
	UnitHasher *hasher = unit_hasher_create(INT8OID, InvalidOid);
	int64	   *ids = palloc_array(int64, count);

	for (int64 id = 1; count > 0; id++)
	{
		if (id % 10000 == 0)
			CHECK_FOR_INTERRUPTS();
		if (hash_of_id(hasher, table, id) % n == 0)
			ids[--count] = id;
	}
	return ids;
}

/* ---------- teachers ---------- */

void
made_up_ask(MadeUp *table, double x)
{
	table->x[0] = x;
	table->model.votes = NULL;
	teachers_votes(&table->model, table->x, table->votes);
	table->model.votes = table->votes;
}

void
made_up_teach(MadeUp *table, const Learner *learner, double x)
{
	ModelRecord *record = &table->record;

	finish_rows(table);
	record->learner = learner;
	(void) train_teachers(record, &table->units);
	memset(&table->model, 0, sizeof(MechanismModel));
	table->model.spec = &record->spec;
	table->model.ensemble = ensemble_load(record->predictor);
	made_up_ask(table, x);
}

/* ---------- units ---------- */

/* Units as they were read, to be given again and again. */
struct MadeUpUnits
{
	UnitSource source;
	int		   count;
	int		   position;
	UnitRows  *units;
};

static bool
next_unit(UnitSource *source, UnitRows *unit)
{
	MadeUpUnits *units = (MadeUpUnits *) source;

	if (units->position >= units->count)
		return false;
	*unit = units->units[units->position++];
	return true;
}

static void
rewind_units(UnitSource *source)
{
	((MadeUpUnits *) source)->position = 0;
}

static void *
copy_numbers(const double *numbers, Size count)
{
	return memcpy(palloc_array(double, Max(count, 1)), numbers, count * sizeof(double));
}

static void
keep_unit(MadeUpUnits *units, const UnitRows *unit, int width)
{
	UnitRows *kept;

	units->units = units->count == 0 ? palloc_array(UnitRows, 1)
									 : repalloc_array(units->units, UnitRows, units->count + 1);
	kept = &units->units[units->count++];
	*kept = *unit;
	kept->label = copy_numbers(unit->label, unit->nrows);
	kept->x = copy_numbers(unit->x, (Size) unit->nrows * width);
}

void
made_up_read(MadeUp *table)
{
	MemoryContext  caller = CurrentMemoryContext;
	MemoryContext  spi;
	MadeUpUnits	  *units = palloc0_object(MadeUpUnits);
	CatalogSession session;
	UnitSource	  *source;
	UnitRows	   unit;

	finish_rows(table);
	relation_owner_begin(&session, table->record.relid);
	spi = CurrentMemoryContext;
	source = units_open(&table->record, &table->units, false);
	while (source->next(source, &unit))
	{
		MemoryContextSwitchTo(caller);
		keep_unit(units, &unit, table->record.spec.width);
		MemoryContextSwitchTo(spi);
	}
	units_close(source);
	catalog_end(&session);
	MemoryContextSwitchTo(caller);
	units->source.next = next_unit;
	units->source.rewind = rewind_units;
	table->source = units;
}

void
made_up_train(MadeUp *table)
{
	ModelRecord *record = &table->record;

	rewind_units(&table->source->source);
	record->state = record->mechanism->train(&record->spec, &table->source->source,
											 (Size) maintenance_work_mem * 1024);
}

void
made_up_load(MadeUp *table)
{
	table->model.spec = &table->record.spec;
	table->model.state = table->record.mechanism->load(&table->record.spec, table->record.state);
}

/* ---------- answers ---------- */

int
made_up_answer(MadeUp *table)
{
	return mechanism_answer(table->record.mechanism, table->receipt, &table->model, table->x);
}
