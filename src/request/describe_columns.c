/*
 * describe_columns.c
 *		Which columns are described, and what their owner gives of them.
 *
 * Everything here follows from the arguments and the columns' types.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "request/describe.h"
#include "server/query.h"

#define MAX_COLUMNS 1600

static void
bad_columns(const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("columns cannot be described"),
			 errdetail("%s", problem),
			 errhint("Name columns of the relation, each once, without the unit; or leave columns "
					 "out, to describe all of them.")));
}

/* ---------- which ---------- */

/* Marks what the argument names, by attribute. */
static bool *
named_columns(const Description *description, TupleDesc columns)
{
	ArrayType *argument = description->request->columns;
	bool	  *named = palloc0_array(bool, Max(columns->natts, 1));
	Datum	  *names;
	bool	  *nulls;
	int		   count;

	if (ARR_NDIM(argument) > 1)
		bad_columns("They must be a one-dimensional array.");
	deconstruct_array(argument, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &names, &nulls, &count);
	if (count == 0)
		bad_columns("None is named.");
	if (count > MAX_COLUMNS)
		bad_columns(psprintf("More than %d are named.", MAX_COLUMNS));
	for (int i = 0; i < count; i++)
	{
		const char *name = nulls[i] ? NULL : NameStr(*DatumGetName(names[i]));
		AttrNumber	number;

		if (name == NULL)
			bad_columns("A name is NULL.");
		number = get_attnum(description->protected->relid, name);
		if (number <= 0)
			bad_columns(psprintf("There is no column \"%s\".", name));
		if (is_unit_column(description->protected, name))
			bad_columns(psprintf("Column \"%s\" says whose row it is.", name));
		if (named[number - 1])
			bad_columns(psprintf("Column \"%s\" is named twice.", name));
		named[number - 1] = true;
	}
	return named;
}

/* All that are named or, if none are, all but the unit and what is computed from others. */
static void
find_columns(Description *description, TupleDesc columns)
{
	bool *named =
		description->request->columns != NULL ? named_columns(description, columns) : NULL;

	description->columns = palloc0_array(DescribedColumn, Max(columns->natts, 1));
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(columns, i);
		DescribedColumn	 *column = &description->columns[description->ncolumns];

		if (attribute->attisdropped)
			continue;
		if (named != NULL ? !named[i]
						  : attribute->attgenerated != '\0' ||
								is_unit_column(description->protected, NameStr(attribute->attname)))
			continue;
		column->name = pstrdup(NameStr(attribute->attname));
		column->type = getBaseType(attribute->atttypid);
		column->histogram = -1;
		description->ncolumns++;
	}
	if (description->ncolumns == 0)
		bad_columns("The relation has none besides the unit.");
}

/* ---------- what is given ---------- */

static DescribedColumn *
given_column(Description *description, const char *name)
{
	for (int i = 0; i < description->ncolumns; i++)
		if (strcmp(description->columns[i].name, name) == 0)
			return &description->columns[i];
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("column \"%s\" is given and is not described", name),
					errhint("Give bounds or levels of columns that are described.")));
	return NULL; /* keep compiler quiet */
}

/* The owner's words for each column; they are checked as create_model() will check them. */
static void
read_given(Description *description)
{
	CatalogSession session;

	catalog_begin(&session);
	query_read("SELECT e.key, e.value::pg_catalog.text, "
			   "e.value::pg_catalog.jsonb OPERATOR(pg_catalog.?) 'cuts' "
			   "FROM pg_catalog.json_each($1) e",
			   ARG(JSONOID, description->request->given));
	session_keep(&session);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		DescribedColumn *column = given_column(description, row_text(row, 1));

		column->given = row_text(row, 2);
		column->given_cuts = !row_bool(row, 3);
	}
	catalog_end(&session);
}

static bool
something_is_given(const Description *description)
{
	CatalogSession session;
	bool		   result;

	catalog_begin(&session);
	query_read("SELECT pg_catalog.json_typeof($1)", ARG(JSONOID, description->request->given));
	if (strcmp(row_text(0, 1), "object") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("given must be a JSON object"),
				 errhint("Give what is known of columns without looking at rows, as in "
						 "{\"age\": {\"min\": 0, \"max\": 110}}.")));
	query_read("SELECT FROM pg_catalog.json_each($1)", ARG(JSONOID, description->request->given));
	result = SPI_processed > 0;
	catalog_end(&session);
	return result;
}

static void
take_given(Description *description, Relation relation)
{
	FeatureSpec *declared;

	if (!something_is_given(description))
		return;
	declared = feature_spec_declare(description->request->given, RelationGetDescr(relation),
									RelationGetRelationName(relation));
	read_given(description);
	for (int i = 0; i < declared->nfeatures; i++)
	{
		DescribedColumn *column = given_column(description, declared->features[i].name);

		/* days may be fewer than cuts */
		column->given_cuts = column->given_cuts && description->request->cuts > 0 &&
							 declared->features[i].kind == FEATURE_NUMERIC &&
							 cuts_have_room(&declared->features[i], description->request->cuts);
	}
}

/* ---------- histograms ---------- */

/* Booleans and enums need none, nor does what is given. */
static void
make_histograms(Description *description)
{
	description->histograms = palloc0_array(Histogram, description->ncolumns);
	description->described = palloc0_array(DescribedColumn *, description->ncolumns);
	for (int i = 0; i < description->ncolumns; i++)
	{
		DescribedColumn *column = &description->columns[i];
		Histogram		*histogram = &description->histograms[description->nhistograms];

		if (column->given != NULL || column->type == BOOLOID ||
			get_typtype(column->type) == TYPTYPE_ENUM)
			continue;
		if (!described_kind(column->type, &histogram->kind))
		{
			column->left_out = "type";
			continue;
		}
		if (histogram->kind != DESCRIBED_CATEGORY)
			histogram->cells = palloc0_array(int64, described_cells(histogram->kind));
		column->histogram = description->nhistograms++;
		description->described[column->histogram] = column;
	}
}

void
describe_columns(Description *description)
{
	Relation relation = open_relation(description->protected->relid, AccessShareLock);

	find_columns(description, RelationGetDescr(relation));
	take_given(description, relation);
	make_histograms(description);
	table_close(relation, AccessShareLock);
}
