/*
 * public_tables.c
 *		Finite classes and references: public tables that a model's options name.
 *
 * They are read when a model is declared or trained, never for an answer, with
 * the rights of the protected relation's owner.  What they hold is taken for
 * public, so whatever shares rows with a protected table is refused, each time;
 * a copy of one cannot be told, and is the owner's to know.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/varlena.h"

#include "catalog/store.h"
#include "mechanism/littlestone/littlestone.h"
#include "request/train.h"

#define ROWS_PER_FETCH 10000
#define NUMBERS_PER_FETCH 10000
#define FIRST_ROWS 64
#define MAX_REFERENCE_POINTS 100000

/* Names in the order of their first row. */
typedef struct NameList
{
	HTAB	   *numbers;
	const char *what;
	int			count;
	int			limit;
	int			last; /* found */
	char	  **names;
} NameList;

typedef struct NameNumber
{
	char name[NAMEDATALEN];
	int	 number;
} NameNumber;

typedef struct ClassReader
{
	const char *relation; /* for messages */
	NameList	hypotheses;
	NameList	points;
	int			words; /* of a row */
	uint64	   *known; /* bit p of row h: there is a label */
	uint64	   *labels;
} ClassReader;

/* ---------- the relation ---------- */

/* Inside a session of the owner: a name is looked up with its rights. */
static Oid
public_relation(const char *option, const char *name)
{
	List *names = parse_qualified_name(name);
	Oid	  relid;

	if (list_length(names) != 2)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("option \"%s\" must name a table with its schema", option),
						errhint("Write \"schema.table\".")));
	relid = RangeVarGetRelid(makeRangeVarFromNameList(names), AccessShareLock, false);
	check_public_rows(relid,
					  psprintf("Option \"%s\" makes the contents of a table public.", option));
	return relid;
}

void
require_column(Oid relid, const char *column, const char *hint)
{
	if (get_attnum(relid, column) <= 0)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("column \"%s\" of relation \"%s\" does not exist", column,
							   get_rel_name(relid)),
						errhint("%s", hint)));
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
	Size		   row_size = features->width * sizeof(double);
	int64		   capacity = FIRST_ROWS;
	double		  *rows = MemoryContextAllocHuge(context, capacity * row_size);
	StringInfoData query;
	QueryArgument  argument = ARG(JSONBOID, JsonbPGetDatum(feature_spec_write(features)));
	QueryScan	   scan;

	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT ");
	append_encoding(&query, features, 1);
	appendStringInfo(&query, " FROM %s r", relation_sql_name(relid));
	if (limit > 0)
		appendStringInfo(&query, " LIMIT " INT64_FORMAT, limit);
	/* A few rows at a time: each may have thousands of numbers. */
	scan_open(&scan, Max(1, NUMBERS_PER_FETCH / features->width), query.data, 1, &argument);
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

/* ---------- finite classes ---------- */

static void
name_list_init(NameList *list, const char *what, int limit)
{
	HASHCTL control = {.keysize = NAMEDATALEN, .entrysize = sizeof(NameNumber)};

	control.hcxt = CurrentMemoryContext;
	list->what = what;
	list->count = list->last = 0;
	list->limit = limit;
	list->names = palloc_array(char *, limit);
	list->numbers = hash_create(what, 256, &control, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
}

static bool
name_is(const NameList *list, int number, const text *name)
{
	Size length = VARSIZE_ANY_EXHDR(name);

	return number < list->count && strlen(list->names[number]) == length &&
		   memcmp(list->names[number], VARDATA_ANY(name), length) == 0;
}

/* Rows often come in order: the name of the last row again, or the one after it. */
static int
name_number(NameList *list, const ClassReader *reader, const text *name)
{
	NameNumber *entry;
	char	   *string;
	bool		found;

	for (int i = 0; i < 2; i++)
		if (name_is(list, list->last + i, name))
			return list->last += i;
	string = text_to_cstring(name);
	if (strlen(string) >= NAMEDATALEN)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("names of %s in relation \"%s\" must be shorter than %d bytes",
							   list->what, reader->relation, NAMEDATALEN),
						errhint("Use short names or numbers.")));
	entry = hash_search(list->numbers, string, HASH_ENTER, &found);
	if (!found)
	{
		if (list->count == list->limit)
			ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
							errmsg("relation \"%s\" has more than %d %s", reader->relation,
								   list->limit, list->what),
							errhint("A finite class has at most %d hypotheses over %d points.",
									FINITE_MAX_HYPOTHESES, FINITE_MAX_POINTS)));
		list->names[list->count] = string;
		entry->number = list->count++;
	}
	return list->last = entry->number;
}

static void
read_class_row(ClassReader *reader, const QueryScan *scan)
{
	bool	nulls[3];
	Datum	hypothesis = scan_value(scan, 1, &nulls[0]);
	Datum	point = scan_value(scan, 2, &nulls[1]);
	Datum	label = scan_value(scan, 3, &nulls[2]);
	uint64 *known;
	int		h;
	int		p;

	if (nulls[0] || nulls[1] || nulls[2])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("relation \"%s\" has a row with a NULL, or with a label other than 0 and 1",
						reader->relation),
				 errhint("Every hypothesis of a finite class gives every point a label.")));
	h = name_number(&reader->hypotheses, reader, DatumGetTextPP(hypothesis));
	p = name_number(&reader->points, reader, DatumGetTextPP(point));
	known = reader->known + h * (Size) reader->words;
	if (bits_member(known, p))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("relation \"%s\" labels point \"%s\" twice for hypothesis \"%s\"",
						reader->relation, reader->points.names[p], reader->hypotheses.names[h]),
				 errhint("Every hypothesis of a finite class gives every point one label.")));
	bits_add(known, p);
	if (DatumGetBool(label))
		bits_add(reader->labels + h * (Size) reader->words, p);
}

/* The label in SQL: a boolean, NULL for numbers that are none. */
static const char *
label_expression(Oid relid)
{
	Oid type = getBaseType(get_atttype(relid, get_attnum(relid, "label")));

	if (type == BOOLOID)
		return "r.label::pg_catalog.bool";
	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("column \"label\" of relation \"%s\" is neither boolean nor integer",
							   get_rel_name(relid)),
						errhint("Labels of a finite class are booleans, or 0 and 1.")));
	return "CASE r.label::pg_catalog.int8 WHEN 0 THEN false WHEN 1 THEN true END";
}

/* Inside a session with the rights to read the relation. */
static void
read_class(Oid relid, ClassReader *reader)
{
	static const char *const columns[] = {"hypothesis", "point", "label"};
	char					*query;
	QueryScan				 scan;

	for (int i = 0; i < lengthof(columns); i++)
		require_column(relid, columns[i],
					   "A finite class is a table with the columns hypothesis, point and label.");
	reader->relation = get_rel_name(relid);
	name_list_init(&reader->hypotheses, "hypotheses", FINITE_MAX_HYPOTHESES);
	name_list_init(&reader->points, "points", FINITE_MAX_POINTS);
	reader->words = BITS_WORDS(FINITE_MAX_POINTS);
	reader->known = palloc0_array(uint64, FINITE_MAX_HYPOTHESES * (Size) reader->words);
	reader->labels = palloc0_array(uint64, FINITE_MAX_HYPOTHESES * (Size) reader->words);
	query = psprintf("SELECT r.hypothesis::pg_catalog.text, r.point::pg_catalog.text, %s FROM %s r",
					 label_expression(relid), relation_sql_name(relid));
	scan_open(&scan, ROWS_PER_FETCH, query, 0, NULL);
	while (scan_next(&scan))
		read_class_row(reader, &scan);
	scan_close(&scan);
}

/* Point p of the class is number order[p] of the reader, or p itself. */
static FiniteClass *
make_class(const ClassReader *reader, const int *order)
{
	FiniteClass *finite = palloc0_object(FiniteClass);
	int			 words = BITS_WORDS(reader->hypotheses.count);

	finite->nhypotheses = reader->hypotheses.count;
	finite->npoints = reader->points.count;
	finite->names = palloc_array(char *, finite->nhypotheses);
	finite->columns = palloc0_array(uint64, finite->npoints * (Size) words);
	for (int h = 0; h < finite->nhypotheses; h++)
	{
		finite->names[h] = pstrdup(reader->hypotheses.names[h]);
		for (int p = 0; p < finite->npoints; p++)
		{
			int number = order != NULL ? order[p] : p;

			if (!bits_member(reader->known + h * (Size) reader->words, number))
				ereport(
					ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("hypothesis \"%s\" in relation \"%s\" has no label for point \"%s\"",
							finite->names[h], reader->relation, reader->points.names[number]),
					 errhint("Every hypothesis of a finite class gives every point a label.")));
			if (bits_member(reader->labels + h * (Size) reader->words, number))
				bits_add(finite->columns + p * (Size) words, h);
		}
	}
	if (finite->nhypotheses == 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("relation \"%s\" has no hypotheses", reader->relation),
						errhint("A finite class has at least one.")));
	return finite;
}

/* The points of a class must be the levels of the only feature. */
static int *
order_by_levels(const FeatureSpec *features, const ClassReader *reader)
{
	const Feature *feature = &features->features[0];
	int			  *order;

	if (features->nfeatures != 1 || feature->kind != FEATURE_CATEGORY ||
		feature->nlevels != reader->points.count)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a finite class needs one feature whose levels are its points"),
			 errdetail("Relation \"%s\" has %d points.", reader->relation, reader->points.count),
			 errhint(
				 "Declare features => '{\"column\": {\"levels\": [...]}}' with every point of the class.")));
	order = palloc_array(int, feature->nlevels);
	for (int i = 0; i < reader->points.count; i++)
	{
		const char *name = reader->points.names[i];
		int			level = feature_level(feature, name, strlen(name));

		if (level < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("point \"%s\" of relation \"%s\" is not a level of feature \"%s\"",
							name, reader->relation, feature->name),
					 errhint("Declare every point of the class as a level.")));
		order[level] = i;
	}
	return order;
}

static void
declare_finite_class(ModelRecord *model, const char *name)
{
	MemoryContext  caller = CurrentMemoryContext;
	MemoryContext  spi;
	CatalogSession session;
	ClassReader	   reader;
	int			  *order;

	relation_owner_begin(&session, model->relid);
	read_class(public_relation("class_table", name), &reader);
	order = order_by_levels(model->features, &reader);
	spi = MemoryContextSwitchTo(caller);
	model->spec.finite_class = make_class(&reader, order);
	MemoryContextSwitchTo(spi);
	catalog_end(&session);
}

int
request_littlestone_dimension(Oid relid)
{
	CatalogSession session;
	ClassReader	   reader;
	int			   dimension;

	caller_begin(&session);
	read_class(relid, &reader);
	dimension = littlestone_dimension_of_class(make_class(&reader, NULL), LITTLESTONE_WORK);
	if (dimension < 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the Littlestone dimension of \"%s\" takes too long to compute",
					reader.relation),
			 errdetail(
				 "The search is exponential in the dimension, and stops after a fixed number of steps."),
			 errhint("Use fewer hypotheses or points.")));
	catalog_end(&session);
	return dimension;
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
	relid = public_relation("reference", name);
	require_features(relid, model->features, "A reference has the columns of all features.");
	model->spec.reference =
		read_public_rows(relid, model->features, 0, room, caller, &model->spec.nreference);
	catalog_end(&session);
	if (model->spec.nreference > room && fitting < MAX_REFERENCE_POINTS)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY),
						errmsg("the reference does not fit into maintenance_work_mem"),
						errhint("Name a view with " INT64_FORMAT
								" of its rows at most, or raise maintenance_work_mem.",
								room)));
	if (model->spec.nreference == 0 || model->spec.nreference > room)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("a reference needs 1 to %d rows", MAX_REFERENCE_POINTS),
						errhint("Name a table or a view with a sample of public rows.")));
}

void
declare_public_tables(ModelRecord *model)
{
	const char *keys = model->mechanism->option_keys;
	char	   *name;

	name = option_key_listed(keys, "class_table") ? option_text(&model->spec, "class_table") : NULL;
	if (name != NULL)
		declare_finite_class(model, name);
	name = option_key_listed(keys, "reference") ? option_text(&model->spec, "reference") : NULL;
	if (name != NULL)
		declare_reference(model, name);
}
