/*
 * models.c
 *		Rows of privpred.model.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "catalog/store.h"
#include "server/number_text.h"

#define DEFAULT_MEMO_LIMIT 10000
#define MAX_MEMO_LIMIT 10000000

/*
 * Our table stands for all models in the relation cache's invalidation
 * messages: other sessions drop their decoded copies when we commit.
 */
static void
model_changed(void)
{
	CommandCounterIncrement();
	CacheInvalidateRelcacheByRelid(
		get_relname_relid("model", get_namespace_oid(PRIVPRED_SCHEMA, false)));
}

static Oid
predictor_type(void)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("predictor"),
						   ObjectIdGetDatum(get_namespace_oid(PRIVPRED_SCHEMA, false)));
}

void
no_such_model(const char *name)
{
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("model \"%s\" does not exist", name),
					errhint("The models you may use are listed in privpred.models.")));
}

/* Columns of the SELECT below, in order. */
enum
{
	COLUMN_MODEL_ID = 1,
	COLUMN_RELATION_ID,
	COLUMN_RELATION,
	COLUMN_LABEL,
	COLUMN_CLASSES,
	COLUMN_FEATURES,
	COLUMN_MECHANISM,
	COLUMN_LEARNER,
	COLUMN_TEACHERS,
	COLUMN_EPSILON,
	COLUMN_OPTIONS,
	COLUMN_SALT,
	COLUMN_VERSION,
	COLUMN_PREDICTOR,
	COLUMN_STATE,
	COLUMN_LABEL_MIN,
	COLUMN_LABEL_MAX,
	COLUMN_BIN_EDGES,
	COLUMN_DECLARED_UNITS,
	COLUMN_MAX_ROWS_PER_UNIT,
	COLUMN_PROTECTS_LABELS,
	COLUMN_CHARGE,
	COLUMN_PURE_CHARGE,
	COLUMN_TRAINING_ID,
	COLUMN_TRAIN_FUNCTION,
	COLUMN_PREDICT_FUNCTION,
	COLUMN_FUNCTIONS_DIGEST
};

static const char *const select_model =
	"SELECT m.model_id, m.relation_id, r.relation, m.label, m.classes, m.features,"
	" m.mechanism, m.learner, m.teachers, m.epsilon_units, m.options, m.salt, m.version,"
	" m.predictor, m.state, m.label_min, m.label_max, m.bin_edges,"
	" COALESCE(m.declared_units, 0), COALESCE(m.max_rows_per_unit, 0), r.protects = 'labels', m.charge,"
	" m.pure_charge, m.training_id, m.train_function, m.predict_function, m.functions_digest"
	" FROM privpred.model m JOIN privpred.protected_relation r USING (relation_id)"
	" WHERE m.name = $1";

static char **
classes_of_array(ArrayType *array, int *nclasses)
{
	Datum *elements;
	char **classes;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL, nclasses);
	classes = palloc_array(char *, *nclasses);
	for (int i = 0; i < *nclasses; i++)
		classes[i] = TextDatumGetCString(elements[i]);
	return classes;
}

ArrayType *
array_of_classes(char **classes, int nclasses)
{
	Datum *elements = palloc_array(Datum, nclasses);

	for (int i = 0; i < nclasses; i++)
		elements[i] = CStringGetTextDatum(classes[i]);
	return construct_array(elements, nclasses, TEXTOID, -1, false, TYPALIGN_INT);
}

static void
bins_of_array(ArrayType *array, ModelRecord *model)
{
	Datum *elements;
	int	   count;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements,
					  NULL, &count);
	if (count != model->spec.nclasses + 1 || count < 2)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("stored bins of model \"%s\" do not fit its classes", model->name),
						errhint("Create the model anew.")));
	model->nbins = count - 1;
	model->bin_edges = palloc_array(double, count);
	for (int i = 0; i < count; i++)
		model->bin_edges[i] = DatumGetFloat8(elements[i]);
	/* The outer bins bound the number. */
	model->spec.label_min = model->bin_edges[0];
	model->spec.label_max = model->bin_edges[count - 1];
}

/* NULL: the learner runs no functions. */
static SqlBinding *
binding_of_row(HeapTuple row, TupleDesc columns)
{
	SqlBinding *binding;
	bool		isnull;
	Datum		digest = SPI_getbinval(row, columns, COLUMN_FUNCTIONS_DIGEST, &isnull);

	if (isnull)
		return NULL;
	binding = palloc0_object(SqlBinding);
	binding->digest = DatumGetByteaPCopy(digest);
	binding->train =
		TextDatumGetCString(SPI_getbinval(row, columns, COLUMN_TRAIN_FUNCTION, &isnull));
	binding->predict =
		TextDatumGetCString(SPI_getbinval(row, columns, COLUMN_PREDICT_FUNCTION, &isnull));
	return binding;
}

static ModelRecord *
model_of_row(const char *name, HeapTuple row, TupleDesc columns)
{
	ModelRecord *model = palloc0_object(ModelRecord);
	bool		 isnull;
	Datum		 value;
	bytea		*salt;
	bool		 no_learner;

#define COLUMN(number) SPI_getbinval(row, columns, number, &isnull)
	model->name = pstrdup(name);
	model->model_id = DatumGetInt64(COLUMN(COLUMN_MODEL_ID));
	model->relation_id = DatumGetInt64(COLUMN(COLUMN_RELATION_ID));
	value = COLUMN(COLUMN_RELATION);
	model->relid = isnull ? InvalidOid : DatumGetObjectId(value);
	model->label = pstrdup(NameStr(*DatumGetName(COLUMN(COLUMN_LABEL))));
	model->spec.classes =
		classes_of_array(DatumGetArrayTypeP(COLUMN(COLUMN_CLASSES)), &model->spec.nclasses);
	model->features = feature_spec_read(DatumGetJsonbPCopy(COLUMN(COLUMN_FEATURES)));
	model->mechanism = mechanism_lookup(TextDatumGetCString(COLUMN(COLUMN_MECHANISM)));
	value = COLUMN(COLUMN_LEARNER);
	no_learner = isnull;
	if (!no_learner)
		model->learner = learner_lookup(TextDatumGetCString(value));
	model->spec.teachers = DatumGetInt32(COLUMN(COLUMN_TEACHERS));
	model->spec.epsilon = DatumGetInt64(COLUMN(COLUMN_EPSILON));
	model->spec.options = DatumGetJsonbPCopy(COLUMN(COLUMN_OPTIONS));
	salt = DatumGetByteaPP(COLUMN(COLUMN_SALT));
	memcpy(model->salt, VARDATA_ANY(salt), Min(VARSIZE_ANY_EXHDR(salt), MODEL_SALT_LENGTH));
	model->version = DatumGetInt32(COLUMN(COLUMN_VERSION));
	value = COLUMN(COLUMN_PREDICTOR);
	if (!isnull)
		model->predictor = (Predictor *) PG_DETOAST_DATUM_COPY(value);
	value = COLUMN(COLUMN_STATE);
	if (!isnull)
		model->state = DatumGetByteaPCopy(value);
	model->spec.label_min = DatumGetFloat8(COLUMN(COLUMN_LABEL_MIN));
	model->spec.label_max = DatumGetFloat8(COLUMN(COLUMN_LABEL_MAX));
	value = COLUMN(COLUMN_BIN_EDGES);
	if (!isnull)
		bins_of_array(DatumGetArrayTypeP(value), model);
	model->spec.declared_units = DatumGetInt64(COLUMN(COLUMN_DECLARED_UNITS));
	model->spec.max_rows_per_unit = DatumGetInt32(COLUMN(COLUMN_MAX_ROWS_PER_UNIT));
	model->spec.protects_labels = DatumGetBool(COLUMN(COLUMN_PROTECTS_LABELS));
	value = COLUMN(COLUMN_CHARGE);
	model->charge = isnull ? NULL : TextDatumGetCString(value);
	value = COLUMN(COLUMN_PURE_CHARGE);
	model->pure_charge = isnull ? NULL : TextDatumGetCString(value);
	model->training_id = DatumGetInt64(COLUMN(COLUMN_TRAINING_ID));
	model->functions = binding_of_row(row, columns);
	model->spec.width = model->features->width;
	model->spec.columns = feature_columns(model->features);
	model->spec.default_class = model_default_class(model);
#undef COLUMN

	/* A model made by a newer privpred, say. */
	if (model->mechanism == NULL || (model->learner == NULL && !no_learner))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("model \"%s\" uses a mechanism or learner that this version does not know",
						name),
				 errhint("Update the extension's library, or retrain the model.")));
	if (model->mechanism->asks_teachers && model->learner == NULL)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("stored model \"%s\" has no learner for its teachers", name),
						errhint("Create the model anew.")));
	return model;
}

static bool
find_model(const char *name)
{
	Oid	  type = TEXTOID;
	Datum value = CStringGetTextDatum(name);

	SPI_execute_with_args(select_model, 1, &type, &value, NULL, true, 0);
	return SPI_processed > 0;
}

bool
model_find_relation(const char *name, int64 *relation_id, Oid *relid)
{
	CatalogSession session;
	Oid			   type = TEXTOID;
	Datum		   value = CStringGetTextDatum(name);
	bool		   found;
	bool		   isnull;

	catalog_begin(&session);
	SPI_execute_with_args("SELECT m.relation_id, r.relation FROM privpred.model m"
						  " JOIN privpred.protected_relation r ON r.relation_id = m.relation_id"
						  " WHERE m.name = $1",
						  1, &type, &value, NULL, true, 0);
	found = SPI_processed > 0;
	if (found)
	{
		HeapTuple row = SPI_tuptable->vals[0];
		Datum	  relation = SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &isnull);

		*relid = isnull ? InvalidOid : DatumGetObjectId(relation);
		*relation_id = DatumGetInt64(SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &isnull));
	}
	catalog_end(&session);
	return found;
}

ModelRecord *
model_get(const char *name)
{
	MemoryContext  caller = CurrentMemoryContext;
	MemoryContext  spi;
	CatalogSession session;
	ModelRecord	  *model;

	catalog_begin(&session);
	if (!find_model(name))
		no_such_model(name);
	spi = MemoryContextSwitchTo(caller);
	model = model_of_row(name, SPI_tuptable->vals[0], SPI_tuptable->tupdesc);
	MemoryContextSwitchTo(spi);
	catalog_end(&session);
	return model;
}

bool
model_exists(const char *name)
{
	CatalogSession session;
	bool		   found;

	catalog_begin(&session);
	found = find_model(name);
	catalog_end(&session);
	return found;
}

bool
relation_has_models(int64 relation_id)
{
	CatalogSession session;
	Oid			   type = INT8OID;
	Datum		   value = Int64GetDatum(relation_id);
	bool		   found;

	catalog_begin(&session);
	SPI_execute_with_args("SELECT FROM privpred.model WHERE relation_id = $1", 1, &type, &value,
						  NULL, true, 1);
	found = SPI_processed > 0;
	catalog_end(&session);
	return found;
}

static ArrayType *
array_of_bins(const ModelRecord *model)
{
	Datum *elements = palloc_array(Datum, model->nbins + 1);

	for (int i = 0; i <= model->nbins; i++)
		elements[i] = Float8GetDatum(model->bin_edges[i]);
	return construct_array(elements, model->nbins + 1, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
						   TYPALIGN_DOUBLE);
}

/* Parameters predictor and state. */
static void
set_learnt(const ModelRecord *model, Datum values[2], char nulls[2])
{
	values[0] = PointerGetDatum(model->predictor);
	nulls[0] = model->predictor != NULL ? ' ' : 'n';
	values[1] = PointerGetDatum(model->state);
	nulls[1] = model->state != NULL ? ' ' : 'n';
}

/* Parameters declared_units and max_rows_per_unit. */
static void
set_sizes(const ModelRecord *model, Datum values[2], char nulls[2])
{
	values[0] = Int64GetDatum(model->spec.declared_units);
	nulls[0] = model->spec.declared_units > 0 ? ' ' : 'n';
	values[1] = Int32GetDatum(model->spec.max_rows_per_unit);
	nulls[1] = model->spec.max_rows_per_unit > 0 ? ' ' : 'n';
}

/* Parameters charge and pure_charge. */
static void
set_charges(const ModelRecord *model, Datum values[2], char nulls[2])
{
	nulls[0] = model->charge != NULL ? ' ' : 'n';
	values[0] = model->charge != NULL ? CStringGetTextDatum(model->charge) : (Datum) 0;
	nulls[1] = model->pure_charge != NULL ? ' ' : 'n';
	values[1] = model->pure_charge != NULL ? CStringGetTextDatum(model->pure_charge) : (Datum) 0;
}

/* Parameters train_function, predict_function and functions_digest. */
static void
set_functions(const ModelRecord *model, Datum values[3], char nulls[3])
{
	const SqlBinding *binding = model->functions;

	memset(nulls, binding != NULL ? ' ' : 'n', 3);
	if (binding == NULL)
		return;
	values[0] = CStringGetTextDatum(binding->train);
	values[1] = CStringGetTextDatum(binding->predict);
	values[2] = PointerGetDatum(binding->digest);
}

/* Nobody may be asked to pay for it, nor be given answers for it. */
static void
check_not_made_up(const ModelRecord *model)
{
	if (model->made_up_rows != NULL)
		elog(ERROR, "a model of made-up rows cannot be stored");
}

void
model_insert(ModelRecord *model)
{
	CatalogSession session;
	Oid			   types[] = {TEXTOID,	 INT8OID,		 NAMEOID,	 TEXTARRAYOID, JSONBOID,
							  TEXTOID,	 TEXTOID,		 INT4OID,	 INT8OID,	   JSONBOID,
							  BYTEAOID,	 NAMEOID,		 InvalidOid, BYTEAOID,	   FLOAT8OID,
							  FLOAT8OID, FLOAT8ARRAYOID, INT8OID,	 INT4OID,	   TEXTOID,
							  TEXTOID,	 TEXTOID,		 TEXTOID,	 TEXTOID,	   BYTEAOID};
	Datum		   values[lengthof(types)];
	char		   nulls[lengthof(types)];
	bool		   isnull;
	char		  *user = GetUserNameFromId(GetUserId(), false);

	check_not_made_up(model);
	values[0] = CStringGetTextDatum(model->name);
	values[1] = Int64GetDatum(model->relation_id);
	values[2] = DirectFunctionCall1(namein, CStringGetDatum(model->label));
	values[3] = PointerGetDatum(array_of_classes(model->spec.classes, model->spec.nclasses));
	values[4] = JsonbPGetDatum(feature_spec_write(model->features));
	values[5] = CStringGetTextDatum(model->mechanism->name);
	memset(nulls, ' ', sizeof(nulls));
	if (model->learner != NULL)
		values[6] = CStringGetTextDatum(model->learner->name);
	else
		nulls[6] = 'n';
	values[7] = Int32GetDatum(model->spec.teachers);
	values[8] = Int64GetDatum(model->spec.epsilon);
	values[9] = JsonbPGetDatum(model->spec.options);
	values[10] = PointerGetDatum(cstring_to_text_with_len(model->salt, MODEL_SALT_LENGTH));
	values[11] = DirectFunctionCall1(namein, CStringGetDatum(user));
	set_learnt(model, &values[12], &nulls[12]);
	types[12] = predictor_type();
	values[14] = Float8GetDatum(model->spec.label_min);
	values[15] = Float8GetDatum(model->spec.label_max);
	nulls[14] = nulls[15] = model->spec.nclasses == 0 ? ' ' : 'n';
	if (model->nbins > 0)
		values[16] = PointerGetDatum(array_of_bins(model));
	else
		nulls[16] = 'n';
	set_sizes(model, &values[17], &nulls[17]);
	values[19] = CStringGetTextDatum(charge_kind_name(model->mechanism->charge_kind));
	set_charges(model, &values[20], &nulls[20]);
	set_functions(model, &values[22], &nulls[22]);

	catalog_begin(&session);
	SPI_execute_with_args(
		"INSERT INTO privpred.model (name, relation_id, label, classes, features,"
		" mechanism, learner, teachers, epsilon_units, options, salt, created_by,"
		" predictor, state, label_min, label_max, bin_edges, declared_units,"
		" max_rows_per_unit, charge_kind, charge, pure_charge, train_function,"
		" predict_function, functions_digest, version, status)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
		" $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, 1, 'ready')"
		" ON CONFLICT (name) DO NOTHING RETURNING model_id, training_id",
		lengthof(types), types, values, nulls, false, 0);
	if (SPI_processed == 0)
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
						errmsg("model \"%s\" already exists", model->name),
						errhint("Use privpred.retrain, or privpred.drop_model first.")));
	model->model_id =
		DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	model->training_id =
		DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2, &isnull));
	model->version = 1;
	model_changed();
	catalog_end(&session);
}

void
model_update(ModelRecord *model)
{
	CatalogSession session;
	Oid			   types[] = {INT8OID, InvalidOid, BYTEAOID, INT8OID, INT4OID,
							  TEXTOID, TEXTOID,	   TEXTOID,	 TEXTOID, BYTEAOID};
	Datum		   values[lengthof(types)];
	char		   nulls[] = "          ";
	bool		   isnull;

	check_not_made_up(model);
	values[0] = Int64GetDatum(model->model_id);
	set_learnt(model, &values[1], &nulls[1]);
	set_sizes(model, &values[3], &nulls[3]);
	set_charges(model, &values[5], &nulls[5]);
	set_functions(model, &values[7], &nulls[7]);
	types[1] = predictor_type();
	catalog_begin(&session);
	SPI_execute_with_args("UPDATE privpred.model SET predictor = $2, state = $3,"
						  " declared_units = $4, max_rows_per_unit = $5, charge = $6,"
						  " pure_charge = $7, train_function = $8, predict_function = $9,"
						  " functions_digest = $10, version = version + 1, training_id = DEFAULT,"
						  " trained_at = pg_catalog.now() WHERE model_id = $1 RETURNING version",
						  lengthof(types), types, values, nulls, false, 0);
	if (SPI_processed == 0)
		no_such_model(model->name);
	model->version =
		DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	model_changed();
	catalog_end(&session);
}

void
model_delete(const ModelRecord *model)
{
	CatalogSession session;
	Oid			   type = INT8OID;
	Datum		   value = Int64GetDatum(model->model_id);

	catalog_begin(&session);
	SPI_execute_with_args("DELETE FROM privpred.model WHERE model_id = $1", 1, &type, &value, NULL,
						  false, 0);
	model_changed();
	catalog_end(&session);
}

void
models_of_dropped_relations_delete(void)
{
	SPI_execute("DELETE FROM privpred.model WHERE relation_id IN"
				" (SELECT relation_id FROM privpred.protected_relation WHERE relation IS NULL)",
				false, 0);
	model_changed();
}

Jsonb *
model_card(const char *name)
{
	MemoryContext  caller = CurrentMemoryContext;
	MemoryContext  spi;
	CatalogSession session;
	Oid			   type = TEXTOID;
	Datum		   value = CStringGetTextDatum(name);
	Jsonb		  *card;
	bool		   isnull;

	catalog_begin(&session);
	SPI_execute_with_args("SELECT pg_catalog.jsonb_build_object("
						  "'name', m.name, 'relation', r.relation_name, 'unit', r.unit_columns,"
						  " 'protects', r.protects, 'label', m.label, 'classes', m.classes,"
						  " 'features', m.features, 'mechanism', m.mechanism, 'learner', m.learner,"
						  " 'teachers', m.teachers, 'options', m.options, 'version', m.version,"
						  " 'epsilon', pg_catalog.trim_scale(m.epsilon_units / 1000000000000.0))"
						  " FROM privpred.model m JOIN privpred.protected_relation r"
						  " USING (relation_id) WHERE m.name = $1",
						  1, &type, &value, NULL, true, 0);
	if (SPI_processed == 0)
		no_such_model(name);
	spi = MemoryContextSwitchTo(caller);
	card =
		DatumGetJsonbPCopy(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	MemoryContextSwitchTo(spi);
	catalog_end(&session);
	return card;
}

SpecColumn *
feature_columns(const FeatureSpec *features)
{
	SpecColumn *columns = palloc0_array(SpecColumn, Max(features->width, 1));

	for (int i = 0; i < features->nfeatures; i++)
	{
		const Feature *feature = &features->features[i];

		for (int j = 0; j < feature->width; j++)
		{
			SpecColumn *column = &columns[feature->offset + j];

			column->name = feature->name;
			column->level = feature->kind == FEATURE_CATEGORY ? feature->levels[j] : NULL;
			column->binary = feature->kind != FEATURE_NUMERIC;
			column->min = feature->kind == FEATURE_NUMERIC ? feature->min : 0;
			column->max = feature->kind == FEATURE_NUMERIC ? feature->max : 1;
		}
	}
	return columns;
}

int
model_memo_limit(const ModelRecord *model)
{
	int limit =
		option_integer(&model->spec, "memoize_limit", DEFAULT_MEMO_LIMIT, 1, MAX_MEMO_LIMIT);

	return option_flag(&model->spec, "memoize", false) ? limit : 0;
}

int
model_default_class(const ModelRecord *model)
{
	JsonbValue	storage;
	JsonbValue *value;
	char	   *name;

	value = getKeyJsonValueFromContainer(&model->spec.options->root, "default", 7, &storage);
	name = value ? json_scalar_text(value) : NULL;
	for (int i = 0; i < model->spec.nclasses && name != NULL; i++)
		if (strcmp(model->spec.classes[i], name) == 0)
			return i;
	return 0;
}

FeatureSpec *
label_spec(const ModelRecord *model, TupleDesc columns, const char *relation_name)
{
	StringInfoData json;
	char		   min[NUMBER_TEXT_SIZE];
	char		   max[NUMBER_TEXT_SIZE];

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	escape_json(&json, model->label);
	appendStringInfo(&json, ": {\"min\": %s, \"max\": %s}}",
					 number_text(model->spec.label_min, min),
					 number_text(model->spec.label_max, max));
	return feature_spec_declare(CStringGetTextDatum(json.data), columns, relation_name);
}
