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
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "mechanism/teachers.h"
#include "request/audit.h"
#include "request/train.h"

#define UNIT_COLUMN "unit"
#define FEATURE_COLUMN "x"
#define LABEL_COLUMN "y"
#define MOST_ROWS 16 /* that a made-up unit may have */

/* ---------- declarations ---------- */

/* Columns that repeat the feature come last. */
static int
repeated_columns(const MechanismSpec *spec)
{
	return spec->finite_class != NULL ? 0 : Max(spec->width, 1) - 1;
}

static char *
repeated_column(int number)
{
	return psprintf(FEATURE_COLUMN "%d", number + 2);
}

TupleDesc
made_up_columns(const ModelRecord *model)
{
	int		  repeated = repeated_columns(&model->spec);
	TupleDesc columns = CreateTemplateTupleDesc(3 + repeated);
	bool	  levels = model->spec.finite_class != NULL;

	TupleDescInitEntry(columns, 1, UNIT_COLUMN, INT8OID, -1, 0);
	TupleDescInitEntry(columns, 2, FEATURE_COLUMN, levels ? TEXTOID : FLOAT8OID, -1, 0);
	TupleDescInitEntry(columns, 3, LABEL_COLUMN, model->spec.nclasses > 0 ? TEXTOID : FLOAT8OID, -1,
					   0);
	for (int i = 0; i < repeated; i++)
		TupleDescInitEntry(columns, 4 + i, repeated_column(i), FLOAT8OID, -1, 0);
	return columns;
}

/* The options of the model's own learner, without names of its classes. */
static Jsonb *
own_learner_options(const ModelRecord *model)
{
	Datum options = JsonbPGetDatum(learner_options(model));

	options = DirectFunctionCall2(jsonb_delete, options, CStringGetTextDatum("classes"));
	options = DirectFunctionCall2(jsonb_delete, options, CStringGetTextDatum("numbers"));
	return DatumGetJsonbP(
		DirectFunctionCall2(jsonb_delete, options, CStringGetTextDatum("default")));
}

static void
declare_spec(MechanismSpec *spec, const MechanismSpec *audited, const AuditCase *plan)
{
	static char *classes[] = {"a", "b", "c"};
	const char	*options = plan->options != NULL ? plan->options : "{}";

	spec->epsilon = plan->epsilon > 0 ? plan->epsilon : audited->epsilon;
	spec->nclasses = plan->numeric ? 0 : Max(plan->nclasses, 2);
	spec->classes = classes;
	spec->width = plan->columns;
	spec->label_min = -1;
	spec->label_max = 1;
	spec->declared_units = plan->declared_units;
	if (plan->cut_rows)
		spec->max_rows_per_unit = Max(1, Min(audited->max_rows_per_unit, MOST_ROWS));
	spec->options = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(options)));
	spec->finite_class = plan->finite_class;
}

/* How the features are declared. */
static char *
made_up_features(const MechanismSpec *spec)
{
	StringInfoData features;

	initStringInfo(&features);
	appendStringInfoString(&features, spec->finite_class != NULL
										  ? "{\"x\": {\"levels\": [\"a\", \"b\"]}"
										  : "{\"x\": {\"min\": 0, \"max\": 1}");
	for (int i = 0; i < repeated_columns(spec); i++)
		appendStringInfo(&features, ", \"%s\": {\"min\": 0, \"max\": 1}", repeated_column(i));
	appendStringInfoChar(&features, '}');
	return features.data;
}

static MadeUp *
declare(const ModelRecord *audited, const AuditCase *plan)
{
	static char *unit_columns[] = {UNIT_COLUMN};
	MadeUp		*table = palloc0_object(MadeUp);
	ModelRecord *record = &table->record;

	table->plan = plan;
	record->name = audited->name;
	record->relation_id = audited->relation_id;
	record->population = audited->population;
	record->relid = audited->relid; /* whose owner trains; its rows are not touched */
	record->label = LABEL_COLUMN;
	record->spec.mechanism = record->mechanism = plan->mechanism;
	record->version = 1;
	memcpy(record->salt, audited->salt, MODEL_SALT_LENGTH);
	declare_spec(&record->spec, &audited->spec, plan);
	record->features = feature_spec_declare(CStringGetTextDatum(made_up_features(&record->spec)),
											made_up_columns(record), "made-up rows");
	record->spec.width = record->features->width;
	record->spec.columns = feature_columns(record->features);
	record->spec.protects_labels = plan->mechanism->labels_only;
	if (plan->mechanism->asks_teachers)
		record->spec.teachers = plan->places;
	table->relation.relation_id = audited->relation_id;
	table->relation.population = audited->population;
	table->relation.relid = audited->relid;
	table->relation.nunits = 1;
	table->relation.unit_columns = unit_columns;
	table->model.spec = &record->spec;
	table->model.gaussian_noise = plan->gaussian;
	return table;
}

/* ---------- rows ---------- */

/* An id that the hash of units puts in each place, or several for the first. */
static int64 *
ids_for_places(const MadeUp *table)
{
	UnitHasher *hasher = unit_hasher_create(INT8OID, InvalidOid);
	int			n = table->plan->places;
	bool		one = table->plan->one_place;
	int			missing = one ? table->plan->table[0].nunits : n;
	int64	   *ids = palloc0_array(int64, missing);

	for (int64 id = 1; missing > 0; id++)
	{
		uint64 place =
			unit_hash(hasher, Int64GetDatum(id), (const unsigned char *) table->record.salt) % n;

		if (id % 10000 == 0)
			CHECK_FOR_INTERRUPTS();
		if (one && place == 0)
			ids[--missing] = id;
		else if (!one && ids[place] == 0)
		{
			ids[place] = id;
			missing--;
		}
	}
	return ids;
}

/* A level or a class, or a number. */
static const char *
cell(bool is_text, double value)
{
	return is_text ? psprintf("'%c'", 'a' + (int) value) : psprintf("%.17g", value);
}

static void
add_unit(MadeUp *table, StringInfo rows, int64 id, const AuditUnit *unit)
{
	const MechanismSpec *spec = &table->record.spec;
	int times = unit->times * (table->plan->cut_rows ? 2 * spec->max_rows_per_unit : 1);

	for (int i = 0; i < times * unit->nrows; i++)
		appendStringInfo(rows, ", (%d, " INT64_FORMAT ", %s, %s)", table->nrows++, id,
						 cell(spec->finite_class != NULL, unit->row[i % unit->nrows].x),
						 cell(spec->nclasses > 0, unit->row[i % unit->nrows].label));
}

static void
add_rows(MadeUp *table, const AuditTable *units)
{
	StringInfoData rows;
	int64		  *ids = table->plan->places > 0 ? ids_for_places(table) : NULL;

	initStringInfo(&rows);
	appendStringInfoString(&rows, "(SELECT v.*");
	for (int i = 0; i < repeated_columns(&table->record.spec); i++)
		appendStringInfo(&rows, ", v." FEATURE_COLUMN " AS %s", repeated_column(i));
	/* "ctid": where a row lies, which nothing may depend on. */
	appendStringInfo(&rows,
					 " FROM (VALUES (NULL::pg_catalog.int8, NULL::pg_catalog.int8,"
					 " NULL::pg_catalog.%s, NULL::pg_catalog.%s)",
					 table->record.spec.finite_class != NULL ? "text" : "float8",
					 table->record.spec.nclasses > 0 ? "text" : "float8");
	for (int i = 0; i < units->nunits; i++)
		add_unit(table, &rows, ids != NULL ? ids[i] : i + 1, &units->units[i]);
	appendStringInfoString(&rows,
						   ") v (ctid, " UNIT_COLUMN ", " FEATURE_COLUMN ", " LABEL_COLUMN ")"
						   " WHERE v." UNIT_COLUMN " IS NOT NULL)");
	table->record.made_up_rows = rows.data;
}

/* ---------- units ---------- */

static bool
next_unit(UnitSource *source, UnitRows *unit)
{
	MadeUp *table = (MadeUp *) source;

	if (table->position >= table->nunits)
		return false;
	*unit = table->units[table->position++];
	return true;
}

static void
rewind_units(UnitSource *source)
{
	((MadeUp *) source)->position = 0;
}

static double *
copy_numbers(const double *numbers, int count)
{
	return memcpy(palloc_array(double, Max(count, 1)), numbers, count * sizeof(double));
}

/* Reads the units as training does, to be given again and again. */
static void
read_units(MadeUp *table)
{
	MemoryContext  caller = CurrentMemoryContext;
	MemoryContext  spi;
	CatalogSession session;
	UnitSource	  *source;
	UnitRows	   unit;

	table->source.next = next_unit;
	table->source.rewind = rewind_units;
	table->units = palloc_array(UnitRows, Max(table->nrows, 1));
	relation_owner_begin(&session, table->record.relid);
	spi = CurrentMemoryContext;
	source = units_open(&table->record, &table->relation, false, false);
	table->source.form = source->form;
	while (source->next(source, &unit))
	{
		MemoryContextSwitchTo(caller);
		unit.label = copy_numbers(unit.label, unit.nrows);
		unit.x = copy_numbers(unit.x, unit.nrows * table->record.spec.width);
		table->units[table->nunits++] = unit;
		MemoryContextSwitchTo(spi);
	}
	units_close(source);
	catalog_end(&session);
	MemoryContextSwitchTo(caller);
}

/* ---------- models ---------- */

void
made_up_train(MadeUp *table)
{
	ModelRecord *record = &table->record;

	rewind_units(&table->source);
	record->state =
		record->mechanism->train(&record->spec, &table->source, (Size) maintenance_work_mem * 1024);
}

void
made_up_load(MadeUp *table)
{
	table->model.state = table->record.mechanism->load(&table->record.spec, table->record.state);
}

static void
encode_questions(MadeUp *table, int questions)
{
	int width = table->record.spec.width;

	table->x = palloc0_array(double, questions *width);
	for (int i = 0; i < questions; i++)
	{
		double question = table->plan->question[i];

		if (table->plan->finite_class != NULL)
			table->x[i * width + (int) question] = 1;
		else
			for (int j = 0; j < width; j++)
				table->x[i * width + j] = question;
	}
}

static void
teach(MadeUp *table, int questions)
{
	ModelRecord *record = &table->record;

	(void) train_teachers(record, &table->relation, TEACHERS_ALL);
	table->model.ensemble = ensemble_load(record->predictor);
	for (int i = 0; i < questions; i++)
		teachers_votes(&table->model, table->x + i * record->spec.width, table->votes[i]);
}

static MadeUp *
make_table(const Audit *audit, const AuditCase *plan, int number, const Learner *learner)
{
	MadeUp		*table = declare(audit->model, plan);
	ModelRecord *record = &table->record;
	int			 questions = Max(plan->questions, 1);

	add_rows(table, &plan->table[number]);
	encode_questions(table, questions);
	if (plan->mechanism->asks_teachers)
	{
		record->learner = learner != NULL ? learner : learner_lookup("stump");
		if (learner != NULL)
			record->spec.options = own_learner_options(audit->model);
		teach(table, questions);
	}
	else
	{
		read_units(table);
		made_up_train(table);
		made_up_load(table);
	}
	table->paid = audit_receipt_create(record, plan);
	table->student = *record;
	table->student.spec.mechanism = table->student.mechanism = audit->model->mechanism;
	table->student.spec.teachers = 1;
	return table;
}

/* Does every teacher say what its unit's first row does? */
static bool
votes_as_planned(const MadeUp *table, const AuditTable *units)
{
	int32 planned[AUDIT_MAX_OUTPUTS] = {0};

	for (int i = 0; i < units->nunits; i++)
		planned[(int) units->units[i].row[0].label]++;
	return memcmp(planned, table->votes[0], table->record.spec.nclasses * sizeof(int32)) == 0;
}

/*
 * Teachers learn as the model's own do, unless those run the user's functions,
 * or make something else of so few rows.
 */
void
made_up_pair(const Audit *audit, const AuditCase *plan, MadeUp *tables[2])
{
	const Learner *learner = plan->own_learner ? audit->model->learner : NULL;
	bool		   as_planned;

	if (learner != NULL && learner->runs_user_code)
		learner = NULL;
	do
	{
		as_planned = true;
		for (int i = 0; i < 2; i++)
		{
			tables[i] = make_table(audit, plan, i, learner);
			as_planned &= learner == NULL || votes_as_planned(tables[i], &plan->table[i]);
		}
		learner = NULL;
	} while (!as_planned);
}
