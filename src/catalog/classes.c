/*
 * classes.c
 *		The classes a label may take: declared, never read from rows.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "catalog/features.h"
#include "server/privpred.h"
#include "server/query.h"
#include "server/session.h"

#define LABEL_OF_NUMBERS \
	"Numbers are learnt by mechanisms average, gradient, soft and stable_erm with options => " \
	"'{\"target\": {\"min\": 0, \"max\": 100}}', and by the others in bins, " \
	"'{\"bins\": [0, 10, 100]}'."

char **
enum_levels(Oid enum_type, int *nlevels)
{
	CatalogSession session;
	char		 **levels;

	catalog_begin(&session);
	query_read("SELECT enumlabel FROM pg_catalog.pg_enum"
			   " WHERE enumtypid = $1 ORDER BY enumsortorder",
			   ARG_OID(enum_type));
	session_keep(&session);
	*nlevels = (int) SPI_processed;
	levels = palloc_array(char *, Max(*nlevels, 1));
	for (int i = 0; i < *nlevels; i++)
		levels[i] = row_text(i, 1);
	catalog_end(&session);
	return levels;
}

/* A class as the label's type spells it, or NULL if it is not of that type. */
static char *
canonical_class(const char *class_name, Oid type)
{
	char *end;
	int64 value;
	bool  truth;

	switch (type)
	{
		case BOOLOID:
			if (!parse_bool(class_name, &truth))
				return NULL;
			return pstrdup(truth ? "true" : "false");
		case INT2OID:
		case INT4OID:
		case INT8OID:
			errno = 0;
			value = strtoll(class_name, &end, 10);
			if (end == class_name || *end != '\0' || errno != 0 ||
				(type == INT2OID && value != (int16) value) ||
				(type == INT4OID && value != (int32) value))
				return NULL;
			return psprintf(INT64_FORMAT, value);
		default:
			return pstrdup(class_name);
	}
}

/* The classes that follow from the label's type: an enum or a boolean needs no list. */
static char **
classes_of_type(const char *label, Oid label_type, int *nclasses)
{
	char **classes;

	if (get_typtype(label_type) == TYPTYPE_ENUM)
		return enum_levels(label_type, nclasses);
	if (label_type != BOOLOID)
		refuse(errmsg("classes of label \"%s\" must be declared", label),
			   errdetail("Reading them from the rows would reveal which labels occur."),
			   number_type_ok(label_type)
				   ? errhint("Pass them, as in classes => '{1,2}'. " LABEL_OF_NUMBERS)
				   : errhint("Pass them, as in classes => '{no,yes}'."));
	*nclasses = 2;
	classes = palloc_array(char *, 2);
	classes[0] = "false";
	classes[1] = "true";
	return classes;
}

static bool
is_among(const char *name, char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static char **
classes_of_argument(ArrayType *declared, const char *label, Oid label_type, int *nclasses)
{
	bool   is_enum = get_typtype(label_type) == TYPTYPE_ENUM;
	char **classes;
	char **possible = NULL;
	int	   npossible = 0;
	Datum *elements;
	bool  *nulls;

	if (ARR_NDIM(declared) > 1)
		refuse(errmsg("classes must be a one-dimensional array"),
			   errhint("Pass them as in classes => '{no,yes}'."));
	if (is_enum)
		possible = enum_levels(label_type, &npossible);
	deconstruct_array(declared, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, nclasses);
	classes = palloc_array(char *, Max(*nclasses, 1));
	for (int i = 0; i < *nclasses; i++)
	{
		classes[i] =
			nulls[i] ? NULL : canonical_class(TextDatumGetCString(elements[i]), label_type);
		if (classes[i] == NULL || (is_enum && !is_among(classes[i], possible, npossible)))
			refuse(errmsg("class %d is not a value of label \"%s\" of type %s", i + 1, label,
						  format_type_be(label_type)),
				   errhint("Declare each class as the label column would hold it; NULL is not a "
						   "class."));
	}
	return classes;
}

char **
classes_declare(ArrayType *declared, const char *label, Oid label_type, int *nclasses)
{
	char **classes;

	if (!category_type_ok(label_type))
		ereport(
			ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
			errmsg("column \"%s\" of type %s cannot be a label", label, format_type_be(label_type)),
			errhint("A label is boolean, integer, text or an enum. " LABEL_OF_NUMBERS));
	if (declared == NULL)
		classes = classes_of_type(label, label_type, nclasses);
	else
		classes = classes_of_argument(declared, label, label_type, nclasses);

	if (*nclasses < PRIVPRED_MIN_CLASSES || *nclasses > PRIVPRED_MAX_CLASSES)
		refuse(errmsg("a model needs %d to %d classes, not %d", PRIVPRED_MIN_CLASSES,
					  PRIVPRED_MAX_CLASSES, *nclasses),
			   errhint("Pass them, as in classes => '{no,yes}'."));
	for (int i = 1; i < *nclasses; i++)
		if (is_among(classes[i], classes, i))
			refuse(errmsg("class \"%s\" is declared more than once", classes[i]),
				   errhint("Declare each class once."));
	return classes;
}
