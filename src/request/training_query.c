/*
 * training_query.c
 *		What queries that read rows for training share: parameters, and the parts that say
 *		features, units and labels of a row r.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "catalog/store.h"
#include "request/train.h"
#include "server/citus.h"

char *
encoding_sql(const FeatureSpec *features, int parameter)
{
	bool		   as_row = features->nfeatures >= FUNC_MAX_ARGS;
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < features->nfeatures; i++)
		appendStringInfo(&columns, ", r.%s", quote_identifier(features->features[i].name));
	return psprintf("privpred.encode($%d, %s%s%s)", parameter, as_row ? "ROW(" : "",
					columns.data + strlen(", "), as_row ? ")" : "");
}

char *
units_sql(const ProtectedRelation *protected, const char *between)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < protected->nunits; i++)
		appendStringInfo(&columns, "%sr.%s", i > 0 ? between : "",
						 quote_identifier(protected->unit_columns[i]));
	return columns.data;
}

/* For comparing the label with the classes in its own type. */
const char *
label_type_name(const ModelRecord *model)
{
	AttrNumber attnum;

	if (model->made_up_rows != NULL)
		return "pg_catalog.text";
	attnum = get_attnum(model->relid, model->label);
	return format_type_extended(getBaseType(get_atttype(model->relid, attnum)), -1,
								FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

/* The inner edges of bins, as the encoding of the label scales them. */
static ArrayType *
scaled_edges(const ModelRecord *model, const FeatureSpec *label)
{
	int	   count = Max(model->nbins - 1, 0);
	Datum *edges = palloc_array(Datum, Max(count, 1));

	for (int i = 0; i < count; i++)
		edges[i] = Float8GetDatum((model->bin_edges[i + 1] - label->features[0].min) *
								  label->features[0].scale);
	return construct_array(edges, count, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
						   TYPALIGN_DOUBLE);
}

/* A label that is a number, as the rows that are trained on have it. */
static FeatureSpec *
number_label(const ModelRecord *model)
{
	FeatureSpec *label;
	Relation	 relation;

	if (model->made_up_rows != NULL)
		return label_spec(model, made_up_columns(model), model->name);
	relation = open_relation(model->relid, AccessShareLock);
	label = label_spec(model, RelationGetDescr(relation), RelationGetRelationName(relation));
	table_close(relation, AccessShareLock);
	return label;
}

/* A view may read what Citus spreads. */
bool
text_travels(Oid relid)
{
	ListCell *cell;

	if (!citus_is_installed())
		return false;
	if (get_rel_relkind(relid) == RELKIND_VIEW)
		return true;
	foreach(cell, find_all_inheritors(relid, AccessShareLock, NULL))
		if (citus_place(lfirst_oid(cell)) != CITUS_ELSEWHERE)
			return true;
	return false;
}

char *
training_secrets_sql(void)
{
	static const int parameters[] = {PARAMETER_SALT, PARAMETER_HOLDOUT_SALT, PARAMETER_KNOWN};

	return secrets_sql(lengthof(parameters), parameters);
}

const char *
query_secrets(const TrainingQuery *query)
{
	return query->travels ? training_secrets_sql() : "";
}

const char *
query_secret(const TrainingQuery *query, TrainingParameter parameter)
{
	return query->travels ? secret_sql(parameter) : psprintf("$%d", parameter);
}

static void
set_parameter(TrainingQuery *query, TrainingParameter number, Oid type, const void *value)
{
	query->arguments[number - 1] = ARG(type, PointerGetDatum(value));
}

void
training_query_begin(TrainingQuery *query, const ModelRecord *model)
{
	const MechanismSpec *spec = &model->spec;
	static char			*numbers[] = {NUMBERS_CLASS};
	FeatureSpec			 no_label = {0};
	FeatureSpec			*label = &no_label;

	initStringInfo(&query->text);
	query->travels = model->made_up_rows == NULL && text_travels(model->relid);
	query->relation =
		model->made_up_rows != NULL ? model->made_up_rows : relation_sql_name(model->relid);
	if (model->nbins > 0 || spec->nclasses == 0)
		label = number_label(model);
	set_parameter(query, PARAMETER_SALT, BYTEAOID,
				  cstring_to_text_with_len(model->salt, MODEL_SALT_LENGTH));
	query->arguments[PARAMETER_TEACHERS - 1] = ARG_INT4(spec->teachers);
	set_parameter(query, PARAMETER_FEATURES, JSONBOID, feature_spec_write(model->features));
	set_parameter(query, PARAMETER_OPTIONS, JSONBOID, learner_options(model));
	set_parameter(query, PARAMETER_CLASSES, TEXTARRAYOID,
				  spec->nclasses > 0 ? array_of_classes(spec->classes, spec->nclasses)
									 : array_of_classes(numbers, lengthof(numbers)));
	set_parameter(query, PARAMETER_LABEL, JSONBOID, feature_spec_write(label));
	set_parameter(query, PARAMETER_EDGES, FLOAT8ARRAYOID, scaled_edges(model, label));
	holdout_parameters(query, model);
	query->arguments[PARAMETER_KNOWN - 1] = ARG_POINTER(BYTEAOID, (bytea *) NULL);
	query->arguments[PARAMETER_TEACHER - 1] = ARG_IF(false, ARG_INT4(0));
	query->arguments[PARAMETER_SUMS - 1] = ARG_POINTER(BYTEAOID, (bytea *) NULL);
}

char *
scaled_label_sql(const ModelRecord *model)
{
	return psprintf("(privpred.encode($%d, r.%s))[1]", PARAMETER_LABEL,
					quote_identifier(model->label));
}

/* Values outside the outer bins count as inside. */
static char *
bin_sql(const ModelRecord *model)
{
	return psprintf("pg_catalog.width_bucket(%s, $%d)", scaled_label_sql(model), PARAMETER_EDGES);
}

char *
class_sql(const ModelRecord *model)
{
	const char *label = quote_identifier(model->label);

	if (model->spec.nclasses == 0)
		return psprintf("CASE WHEN r.%s IS NOT NULL THEN $%d[1] END", label, PARAMETER_CLASSES);
	if (model->nbins == 0)
		return psprintf("r.%s", label);
	return psprintf("CASE WHEN r.%s IS NOT NULL THEN $%d[%s + 1] END", label, PARAMETER_CLASSES,
					bin_sql(model));
}

const char *
class_type_name(const ModelRecord *model)
{
	return model->nbins > 0 || model->spec.nclasses == 0 ? "pg_catalog.text"
														 : label_type_name(model);
}

char *
label_number_sql(const ModelRecord *model)
{
	const char *label = quote_identifier(model->label);

	if (model->spec.nclasses > 0 && model->nbins == 0)
		return psprintf("pg_catalog.array_position($%d::%s[], r.%s::%s) - 1", PARAMETER_CLASSES,
						label_type_name(model), label, label_type_name(model));
	return psprintf("CASE WHEN r.%s IS NOT NULL THEN %s END", label,
					model->nbins > 0 ? bin_sql(model) : scaled_label_sql(model));
}
