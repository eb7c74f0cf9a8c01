/*
 * levels.c
 *		The levels of a category: listed, or read from a public table when they are declared.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "catalog/features.h"
#include "catalog/relations.h"
#include "server/privpred.h"
#include "server/query.h"
#include "server/session.h"

static const char *const hint =
	"Declare levels as in {\"ward\": {\"levels\": [\"A\", \"B\"]}}, or name a public table that "
	"lists them: {\"levels\": {\"table\": \"public.icd10\", \"column\": \"code\"}}.";

static void
check_count(const Feature *feature, int64 count)
{
	if (count < 1 || count > PRIVPRED_MAX_WIDTH)
		bad_feature(feature->name, psprintf("It must have 1 to %d levels.", PRIVPRED_MAX_WIDTH),
					hint);
}

static void
list_levels(Feature *feature, JsonbContainer *array)
{
	check_count(feature, JsonContainerSize(array));
	feature->nlevels = JsonContainerSize(array);
	feature->levels = palloc_array(char *, feature->nlevels);
	for (int i = 0; i < feature->nlevels; i++)
	{
		feature->levels[i] = json_scalar_text(getIthJsonbValueFromContainer(array, i));
		if (feature->levels[i] == NULL)
			bad_feature(feature->name, "A level must be a string, a number or a boolean.", hint);
	}
}

/* A member of {"table": ..., "column": ...}. */
static char *
source_name(const Feature *feature, JsonbContainer *source, const char *key)
{
	JsonbValue *value = getKeyJsonValueFromContainer(source, key, strlen(key), NULL);

	if (value == NULL || value->type != jbvString)
		bad_feature(feature->name, psprintf("\"%s\" of its levels must be a string.", key), hint);
	return json_scalar_text(value);
}

/* A value as encode.c compares it.  An enum could have a cast of its own, which would run. */
static char *
level_sql(Oid relid, const char *column)
{
	Oid			type = getBaseType(get_atttype(relid, get_attnum(relid, column)));
	const char *name = quote_identifier(column);

	if (!category_type_ok(type))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("column \"%s\" of type %s cannot list levels", column,
							   format_type_be(type)),
						errhint("Levels are text, integers, booleans or values of an enum.")));
	return psprintf(get_typtype(type) == TYPTYPE_ENUM ? "pg_catalog.format('%%s', r.%s)"
													  : "r.%s::pg_catalog.text",
					name);
}

/* As the owner of the relation, who must be able to read them. */
static void
read_levels(Feature *feature, JsonbContainer *source, Oid relid)
{
	char		  *table = source_name(feature, source, "table");
	char		  *column = source_name(feature, source, "column");
	CatalogSession session;
	Oid			   from;

	if (JsonContainerSize(source) != 2 || !OidIsValid(relid))
		bad_feature(feature->name,
					"Its levels have a \"table\" and a \"column\", and nothing else.", hint);
	relation_owner_begin(&session, relid);
	from = public_relation(psprintf("\"table\" of the levels of feature \"%s\"", feature->name),
						   "Levels are shown to everybody who may ask the model.", table);
	if (get_attnum(from, column) <= 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist", column, get_rel_name(from)),
			 errhint("\"column\" names the column of the public table that lists the levels.")));
	query_run(NULL,
			  psprintf("SELECT DISTINCT %s COLLATE pg_catalog.\"C\" FROM %s r"
					   " WHERE r.%s IS NOT NULL ORDER BY 1 LIMIT %d",
					   level_sql(from, column), relation_sql_name(from), quote_identifier(column),
					   PRIVPRED_MAX_WIDTH + 1),
			  true, 0, 0, NULL);
	check_count(feature, SPI_processed);
	session_keep(&session);
	feature->nlevels = (int) SPI_processed;
	feature->levels = palloc_array(char *, feature->nlevels);
	for (int i = 0; i < feature->nlevels; i++)
		feature->levels[i] = row_text(i, 1);
	catalog_end(&session);
}

void
levels_declare(Feature *feature, const JsonbValue *value, Oid relid)
{
	feature->kind = FEATURE_CATEGORY;
	if (value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data))
		list_levels(feature, value->val.binary.data);
	else if (value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data))
		read_levels(feature, value->val.binary.data, relid);
	else
		bad_feature(feature->name, "\"levels\" must be a JSON array, or name a table.", hint);
}

void
levels_check(const Feature *feature)
{
	for (int i = 1; i < feature->nlevels; i++)
	{
		const char *level = feature->levels[feature->level_order[i]];

		if (strcmp(feature->levels[feature->level_order[i - 1]], level) == 0)
			bad_feature(feature->name, psprintf("Level \"%s\" is declared twice.", level),
						"Declare each level once.");
	}
}
