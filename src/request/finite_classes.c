/*
 * finite_classes.c
 *		Finite classes: public tables of hypotheses, points and labels.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "mechanism/littlestone/littlestone.h"
#include "request/train.h"

#define ROWS_PER_FETCH 10000

/* Labels that are told apart, and no more. */
#define LABEL_AS_TEXT "r.label::pg_catalog.text COLLATE pg_catalog.\"C\""

typedef struct NameList
{
	const char *what;
	int			count;
	int			limit;
	char	  **names;
} NameList;

/* A finite class is read hypothesis by hypothesis, each in the order of its points. */
typedef struct ClassReader
{
	const char *relation; /* for messages */
	NameList	hypotheses;
	NameList	points;	  /* of the first hypothesis, hence of all */
	int			labelled; /* points of the current hypothesis, so far */
	int			words;	  /* of a row */
	uint64	   *labels;	  /* of all points, row by row: labels_get() */
	int			nclasses;
	int			nlabels; /* if any are classes: how many there are */
	char	  **classes; /* NULL: labels are no names */
	bool		named;	 /* labels are names of classes */
	bool		any;	 /* labels are what there is, and are classes */
} ClassReader;

/* ---------- rows ---------- */

/* As strcmp() has it; there may be millions of rows, so nothing is copied. */
static int
name_compare(const char *name, const text *other)
{
	Size length = VARSIZE_ANY_EXHDR(other);
	int	 order = strncmp(name, VARDATA_ANY(other), length);

	return order != 0 ? order : name[length] != '\0';
}

static bool
name_is(const char *name, const text *other)
{
	return name_compare(name, other) == 0;
}

static void
add_name(NameList *list, const ClassReader *reader, const text *name)
{
	if (VARSIZE_ANY_EXHDR(name) >= NAMEDATALEN)
		refuse(errmsg("names of %s in relation \"%s\" must be shorter than %d bytes", list->what,
					  reader->relation, NAMEDATALEN),
			   errhint("Use short names or numbers."));
	if (list->count == list->limit)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("relation \"%s\" has more than %d %s", reader->relation, list->limit,
					   list->what),
				errhint("A finite class has at most %d hypotheses over %d points.",
						FINITE_MAX_HYPOTHESES, FINITE_MAX_POINTS));
	list->names[list->count++] = text_to_cstring(name);
}

pg_noreturn static void
refuse_gap(const ClassReader *reader, const char *hypothesis, const char *point)
{
	refuse(errmsg("hypothesis \"%s\" in relation \"%s\" has no label for point \"%s\"", hypothesis,
				  reader->relation, point),
		   errhint("Every hypothesis of a finite class gives every point a label."));
}

/* The hypothesis that was read must have labelled all points. */
static void
check_complete(const ClassReader *reader, int hypothesis)
{
	if (reader->labelled < reader->points.count)
		refuse_gap(reader, reader->hypotheses.names[hypothesis],
				   reader->points.names[reader->labelled]);
}

/* Adds the next point of the current hypothesis. */
static void
add_point(ClassReader *reader, const text *point, int label)
{
	NameList *points = &reader->points;
	int		  hypothesis = reader->hypotheses.count - 1;
	char	 *name = reader->hypotheses.names[hypothesis];
	int		  p = reader->labelled;

	if (p > 0 && name_is(points->names[p - 1], point))
		refuse(errmsg("relation \"%s\" labels point \"%s\" twice for hypothesis \"%s\"",
					  reader->relation, points->names[p - 1], name),
			   errhint("Every hypothesis of a finite class gives every point one label."));
	if (hypothesis == 0)
		add_name(points, reader, point);
	else if (p == points->count || name_compare(points->names[p], point) > 0)
		refuse_gap(reader, reader->hypotheses.names[0], text_to_cstring(point));
	else if (!name_is(points->names[p], point))
		refuse_gap(reader, name, points->names[p]);
	labels_set(reader->labels + hypothesis * (Size) reader->words, FINITE_MAX_POINTS,
			   reader->nclasses, p, label);
	reader->labelled++;
}

/* Among labels that are in order there may be a thousand. */
static int
find_label(const ClassReader *reader, const text *label)
{
	int low = 0;
	int high = reader->nlabels;

	while (low < high)
	{
		int middle = (low + high) / 2;
		int order = name_compare(reader->classes[middle], label);

		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

/* The number of the class; -1: it is none. */
static int
read_label(const ClassReader *reader, Datum label)
{
	if (!reader->named)
		return DatumGetInt32(label);
	if (reader->any)
		return find_label(reader, DatumGetTextPP(label));
	for (int i = 0; i < reader->nclasses; i++)
		if (name_is(reader->classes[i], DatumGetTextPP(label)))
			return i;
	return -1;
}

static void
read_class_row(ClassReader *reader, const QueryScan *scan)
{
	NameList *hypotheses = &reader->hypotheses;
	bool	  nulls[3];
	Datum	  hypothesis = scan_value(scan, 1, &nulls[0]);
	Datum	  point = scan_value(scan, 2, &nulls[1]);
	Datum	  label = scan_value(scan, 3, &nulls[2]);

	int number = nulls[2] ? -1 : read_label(reader, label);

	if (nulls[0] || nulls[1] || number < 0 || number >= reader->nclasses)
		refuse(
			reader->any ? errmsg("relation \"%s\" has a row with a NULL", reader->relation)
			: reader->nclasses == 2 && !reader->named
				? errmsg(
					  "relation \"%s\" has a row with a NULL, or with a label other than 0 and 1",
					  reader->relation)
				: errmsg("relation \"%s\" has a row with a NULL, or with a label that is none of "
						 "the %d classes",
						 reader->relation, reader->nclasses),
			errhint("Every hypothesis of a finite class gives every point a label."));
	if (hypotheses->count == 0 ||
		!name_is(hypotheses->names[hypotheses->count - 1], DatumGetTextPP(hypothesis)))
	{
		add_name(hypotheses, reader, DatumGetTextPP(hypothesis));
		check_complete(reader, hypotheses->count - 2);
		reader->labelled = 0;
	}
	add_point(reader, DatumGetTextPP(point), number);
}

/* ---------- labels ---------- */

/* The different labels that there are, as names in the order of their bytes. */
static void
read_labels(Oid relid, ClassReader *reader)
{
	QueryScan scan;
	bool	  isnull;
	int		  count = 0;

	reader->classes = palloc_array(char *, PRIVPRED_MAX_CLASSES);
	scan_open(&scan, ROWS_PER_FETCH,
			  psprintf("SELECT DISTINCT %s FROM %s r WHERE r.label IS NOT NULL ORDER BY 1 LIMIT %d",
					   LABEL_AS_TEXT, relation_sql_name(relid), PRIVPRED_MAX_CLASSES + 1),
			  0, NULL);
	for (; scan_next(&scan); count++)
	{
		if (count == PRIVPRED_MAX_CLASSES)
			ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("relation \"%s\" has more than %d different labels", reader->relation,
						   PRIVPRED_MAX_CLASSES),
					errhint("A finite class has at most that many."));
		reader->classes[count] = TextDatumGetCString(scan_value(&scan, 1, &isnull));
	}
	scan_close(&scan);
	reader->nlabels = count;
	reader->nclasses = Max(count, PRIVPRED_MIN_CLASSES);
}

/*
 * The label in SQL: the number of a class, from 0, NULL for numbers of none, or its
 * name.
 */
static const char *
label_expression(Oid relid, ClassReader *reader)
{
	Oid	 type = getBaseType(get_atttype(relid, get_attnum(relid, "label")));
	bool string = type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type_is_enum(type);
	bool may_name = reader->classes != NULL || reader->any;
	bool integer = type == INT2OID || type == INT4OID || type == INT8OID;

	reader->named =
		reader->any ? string || integer || type == BOOLOID : string && reader->classes != NULL;
	if (reader->named)
		return "r.label::pg_catalog.text";
	if (type == BOOLOID)
		return "r.label::pg_catalog.bool::pg_catalog.int4";
	if (!integer)
		ereport(
			ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("column \"label\" of relation \"%s\" is neither boolean nor integer%s",
				   reader->relation, may_name ? " nor text" : ""),
			may_name
				? errhint("Labels of a finite class are names of classes, their numbers from 0, "
						  "or booleans.")
				: errhint("Labels of a finite class are booleans, or 0 and 1."));
	return psprintf("CASE WHEN r.label::pg_catalog.int8 OPERATOR(pg_catalog.>=) 0 AND"
					" r.label::pg_catalog.int8 OPERATOR(pg_catalog.<) %d"
					" THEN r.label::pg_catalog.int4 END",
					reader->nclasses);
}

/* ---------- classes ---------- */

/* Inside a session with the rights to read the relation; nclasses 0: any labels. */
static void
read_class(Oid relid, int nclasses, char **classes, ClassReader *reader)
{
	static const char *const columns[] = {"hypothesis", "point", "label"};
	char					*name = relation_sql_name(relid);
	const char				*label;
	char					*query;
	QueryScan				 scan;

	for (int i = 0; i < lengthof(columns); i++)
		require_column(relid, columns[i],
					   "A finite class is a table with the columns hypothesis, point and label.");
	*reader = (ClassReader){
		.relation = get_rel_name(relid),
		.hypotheses = {"hypotheses", 0, FINITE_MAX_HYPOTHESES},
		.points = {"points", 0, FINITE_MAX_POINTS},
		.nclasses = nclasses,
		.classes = classes,
		.any = nclasses == 0,
	};
	label = label_expression(relid, reader);
	if (reader->any)
		read_labels(relid, reader);
	reader->words = LABELS_WORDS(FINITE_MAX_POINTS, reader->nclasses);
	reader->hypotheses.names = palloc_array(char *, FINITE_MAX_HYPOTHESES);
	reader->points.names = palloc_array(char *, FINITE_MAX_POINTS);
	reader->labels = palloc0_array(uint64, FINITE_MAX_HYPOTHESES * (Size) reader->words);
	query = psprintf("SELECT r.hypothesis::pg_catalog.text COLLATE pg_catalog.\"C\","
					 " r.point::pg_catalog.text COLLATE pg_catalog.\"C\", %s FROM %s r"
					 " ORDER BY 1 NULLS FIRST, 2 NULLS FIRST",
					 label, name);
	scan_open(&scan, ROWS_PER_FETCH, query, 0, NULL);
	while (scan_next(&scan))
		read_class_row(reader, &scan);
	scan_close(&scan);
	check_complete(reader, reader->hypotheses.count - 1);
	if (reader->hypotheses.count == 0)
		refuse(errmsg("relation \"%s\" has no hypotheses", reader->relation),
			   errhint("A finite class has at least one."));
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
	finite->planes = class_bits(reader->nclasses);
	finite->columns = palloc0_array(uint64, finite->planes * finite->npoints * (Size) words);
	for (int h = 0; h < finite->nhypotheses; h++)
	{
		finite->names[h] = pstrdup(reader->hypotheses.names[h]);
		for (int p = 0; p < finite->npoints; p++)
		{
			int label = labels_get(reader->labels + h * (Size) reader->words, FINITE_MAX_POINTS,
								   reader->nclasses, order ? order[p] : p);

			for (int i = 0; i < finite->planes; i++)
				if (label >> i & 1)
					bits_add(finite->columns + (i * finite->npoints + p) * (Size) words, h);
		}
	}
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
		refuse(
			errmsg("a finite class needs one feature whose levels are its points"),
			errdetail("Relation \"%s\" has %d points.", reader->relation, reader->points.count),
			errhint("Declare features => '{\"column\": {\"levels\": [...]}}' with every point of "
					"the class."));
	order = palloc_array(int, feature->nlevels);
	for (int i = 0; i < reader->points.count; i++)
	{
		const char *name = reader->points.names[i];
		int			level = feature_level(feature, name, strlen(name));

		if (level < 0)
			refuse(errmsg("point \"%s\" of relation \"%s\" is not a level of feature \"%s\"", name,
						  reader->relation, feature->name),
				   errhint("Declare every point of the class as a level."));
		order[level] = i;
	}
	return order;
}

void
declare_finite_class(ModelRecord *model, const char *name)
{
	MemoryContext  caller = CurrentMemoryContext;
	MemoryContext  spi;
	CatalogSession session;
	ClassReader	   reader;
	int			  *order;

	relation_owner_begin(&session, model->relid);
	read_class(option_relation("class_table", name), Max(model->spec.nclasses, 2),
			   model->spec.classes, &reader);
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
	read_class(relid, 0, NULL, &reader);
	dimension = littlestone_dimension_of_class(make_class(&reader, NULL), LITTLESTONE_WORK);
	if (dimension < 0)
		ereport(
			ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("the Littlestone dimension of \"%s\" takes too long to compute",
				   reader.relation),
			errdetail("The search is exponential in the dimension, and stops after a fixed number "
					  "of steps."),
			errhint("Use fewer hypotheses, points or labels."));
	catalog_end(&session);
	return dimension;
}
