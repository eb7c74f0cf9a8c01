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
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "catalog/store.h"

/*
 * Our table stands for all models in the relation cache's invalidation
 * messages: other sessions drop their decoded copies when we commit.
 */
static void
model_changed(void)
{
	CommandCounterIncrement();
	CacheInvalidateRelcacheByRelid(get_relname_relid("model",
													 get_namespace_oid(PRIVPRED_SCHEMA, false)));
}

static Oid
predictor_type(void)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("predictor"),
						   ObjectIdGetDatum(get_namespace_oid(PRIVPRED_SCHEMA, false)));
}

static void
no_such_model(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("model \"%s\" does not exist", name),
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
	COLUMN_PREDICTOR
};

static const char *const select_model =
"SELECT m.model_id, m.relation_id, r.relation, m.label, m.classes, m.features,"
" m.mechanism, m.learner, m.teachers, m.epsilon_units, m.options, m.salt, m.version,"
" m.predictor"
" FROM privpred.model m JOIN privpred.protected_relation r USING (relation_id)"
" WHERE m.name = $1";

static char **
classes_of_array(ArrayType *array, int *nclasses)
{
	Datum	   *elements;
	char	  **classes;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL, nclasses);
	classes = palloc_array(char *, *nclasses);
	for (int i = 0; i < *nclasses; i++)
		classes[i] = TextDatumGetCString(elements[i]);
	return classes;
}

ArrayType *
array_of_classes(char **classes, int nclasses)
{
	Datum	   *elements = palloc_array(Datum, nclasses);

	for (int i = 0; i < nclasses; i++)
		elements[i] = CStringGetTextDatum(classes[i]);
	return construct_array(elements, nclasses, TEXTOID, -1, false, TYPALIGN_INT);
}

static ModelRecord *
model_of_row(const char *name, HeapTuple row, TupleDesc columns)
{
	ModelRecord *model = palloc0_object(ModelRecord);
	bool		isnull;
	Datum		value;
	bytea	   *salt;

#define COLUMN(number) SPI_getbinval(row, columns, number, &isnull)
	model->name = pstrdup(name);
	model->model_id = DatumGetInt64(COLUMN(COLUMN_MODEL_ID));
	model->relation_id = DatumGetInt64(COLUMN(COLUMN_RELATION_ID));
	value = COLUMN(COLUMN_RELATION);
	model->relid = isnull ? InvalidOid : DatumGetObjectId(value);
	model->label = pstrdup(NameStr(*DatumGetName(COLUMN(COLUMN_LABEL))));
	model->classes = classes_of_array(DatumGetArrayTypeP(COLUMN(COLUMN_CLASSES)),
									  &model->nclasses);
	model->features = feature_spec_read(DatumGetJsonbPCopy(COLUMN(COLUMN_FEATURES)));
	model->mechanism = mechanism_lookup(TextDatumGetCString(COLUMN(COLUMN_MECHANISM)));
	model->learner = learner_lookup(TextDatumGetCString(COLUMN(COLUMN_LEARNER)));
	model->teachers = DatumGetInt32(COLUMN(COLUMN_TEACHERS));
	model->epsilon = DatumGetInt64(COLUMN(COLUMN_EPSILON));
	model->options = DatumGetJsonbPCopy(COLUMN(COLUMN_OPTIONS));
	salt = DatumGetByteaPP(COLUMN(COLUMN_SALT));
	memcpy(model->salt, VARDATA_ANY(salt), Min(VARSIZE_ANY_EXHDR(salt), MODEL_SALT_LENGTH));
	model->version = DatumGetInt32(COLUMN(COLUMN_VERSION));
	model->predictor = (Predictor *) PG_DETOAST_DATUM_COPY(COLUMN(COLUMN_PREDICTOR));
#undef COLUMN

	/* A model made by a newer privpred, say. */
	if (model->mechanism == NULL || model->learner == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("model \"%s\" uses a mechanism or learner that this version does not know",
						name),
				 errhint("Update the extension's library, or retrain the model.")));
	return model;
}

static bool
find_model(const char *name)
{
	Oid			type = TEXTOID;
	Datum		value = CStringGetTextDatum(name);

	SPI_execute_with_args(select_model, 1, &type, &value, NULL, true, 0);
	return SPI_processed > 0;
}

ModelRecord *
model_get(const char *name)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext spi;
	CatalogSession session;
	ModelRecord *model;

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
	bool		found;

	catalog_begin(&session);
	found = find_model(name);
	catalog_end(&session);
	return found;
}

bool
relation_has_models(int64 relation_id)
{
	CatalogSession session;
	Oid			type = INT8OID;
	Datum		value = Int64GetDatum(relation_id);
	bool		found;

	catalog_begin(&session);
	SPI_execute_with_args("SELECT FROM privpred.model WHERE relation_id = $1",
						  1, &type, &value, NULL, true, 1);
	found = SPI_processed > 0;
	catalog_end(&session);
	return found;
}

void
model_insert(ModelRecord *model)
{
	CatalogSession session;
	Oid			types[] = {TEXTOID, INT8OID, NAMEOID, TEXTARRAYOID, JSONBOID, TEXTOID, TEXTOID,
	INT4OID, INT8OID, JSONBOID, BYTEAOID, NAMEOID, InvalidOid};
	Datum		values[lengthof(types)];
	bool		isnull;
	char	   *user = GetUserNameFromId(GetUserId(), false);

	values[0] = CStringGetTextDatum(model->name);
	values[1] = Int64GetDatum(model->relation_id);
	values[2] = DirectFunctionCall1(namein, CStringGetDatum(model->label));
	values[3] = PointerGetDatum(array_of_classes(model->classes, model->nclasses));
	values[4] = JsonbPGetDatum(feature_spec_write(model->features));
	values[5] = CStringGetTextDatum(model->mechanism->name);
	values[6] = CStringGetTextDatum(model->learner->name);
	values[7] = Int32GetDatum(model->teachers);
	values[8] = Int64GetDatum(model->epsilon);
	values[9] = JsonbPGetDatum(model->options);
	values[10] = PointerGetDatum(cstring_to_text_with_len(model->salt, MODEL_SALT_LENGTH));
	values[11] = DirectFunctionCall1(namein, CStringGetDatum(user));
	values[12] = PointerGetDatum(model->predictor);
	types[12] = predictor_type();

	catalog_begin(&session);
	SPI_execute_with_args("INSERT INTO privpred.model (name, relation_id, label, classes, features,"
						  " mechanism, learner, teachers, epsilon_units, options, salt, created_by,"
						  " predictor, version, status)"
						  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1, 'ready')"
						  " ON CONFLICT (name) DO NOTHING RETURNING model_id",
						  lengthof(types), types, values, NULL, false, 0);
	if (SPI_processed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("model \"%s\" already exists", model->name),
				 errhint("Use privpred.retrain, or privpred.drop_model first.")));
	model->model_id = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
												  SPI_tuptable->tupdesc, 1, &isnull));
	model->version = 1;
	model_changed();
	catalog_end(&session);
}

void
model_update(ModelRecord *model)
{
	CatalogSession session;
	Oid			types[] = {INT8OID, InvalidOid};
	Datum		values[] = {Int64GetDatum(model->model_id), PointerGetDatum(model->predictor)};
	bool		isnull;

	types[1] = predictor_type();
	catalog_begin(&session);
	SPI_execute_with_args("UPDATE privpred.model SET predictor = $2, version = version + 1,"
						  " trained_at = pg_catalog.now() WHERE model_id = $1 RETURNING version",
						  2, types, values, NULL, false, 0);
	if (SPI_processed == 0)
		no_such_model(model->name);
	model->version = DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0],
												 SPI_tuptable->tupdesc, 1, &isnull));
	model_changed();
	catalog_end(&session);
}

void
model_delete(const ModelRecord *model)
{
	CatalogSession session;
	Oid			type = INT8OID;
	Datum		value = Int64GetDatum(model->model_id);

	catalog_begin(&session);
	SPI_execute_with_args("DELETE FROM privpred.model WHERE model_id = $1",
						  1, &type, &value, NULL, false, 0);
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
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext spi;
	CatalogSession session;
	Oid			type = TEXTOID;
	Datum		value = CStringGetTextDatum(name);
	Jsonb	   *card;
	bool		isnull;

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
	card = DatumGetJsonbPCopy(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
											1, &isnull));
	MemoryContextSwitchTo(spi);
	catalog_end(&session);
	return card;
}

int
model_default_class(const ModelRecord *model)
{
	JsonbValue	storage;
	JsonbValue *value;
	char	   *name;

	value = getKeyJsonValueFromContainer(&model->options->root, "default", 7, &storage);
	name = value ? json_scalar_text(value) : NULL;
	for (int i = 0; i < model->nclasses && name != NULL; i++)
		if (strcmp(model->classes[i], name) == 0)
			return i;
	return 0;
}
