/*
 * models.c
 *		Rows of privpred.model.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "catalog/store.h"
#include "server/query.h"

void
no_such_model(const char *name)
{
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("model \"%s\" does not exist", name),
			errhint("The models you may use are listed in privpred.models."));
}

/* ---------- reading ---------- */

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
	COLUMN_FUNCTIONS_DIGEST,
	COLUMN_HOLDOUT,
	COLUMN_POPULATION,
	COLUMN_CHUNKS
};

static const char *const select_model =
	"SELECT m.model_id, m.relation_id, r.relation, m.label, m.classes, m.features,"
	" m.mechanism, m.learner, m.teachers, m.epsilon_units, m.options, m.salt, m.version,"
	" m.predictor, m.state, m.label_min, m.label_max, m.bin_edges,"
	" m.declared_units, m.max_rows_per_unit, r.protects = 'labels', m.charge,"
	" m.pure_charge, m.training_id, m.train_function, m.predict_function, m.functions_digest,"
	" m.holdout, r.population, m.chunks"
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

static void
bins_of_array(ArrayType *array, ModelRecord *model)
{
	Datum *elements;
	int	   count;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements,
					  NULL, &count);
	if (count != model->spec.nclasses + 1 || count < 2)
		ereport(ERROR, errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("stored bins of model \"%s\" do not fit its classes", model->name),
				errhint("Drop the model and create it again."));
	model->nbins = count - 1;
	model->bin_edges = palloc_array(double, count);
	for (int i = 0; i < count; i++)
		model->bin_edges[i] = DatumGetFloat8(elements[i]);
	/* The outer bins bound the number. */
	model->spec.bin_edges = model->bin_edges;
	model->spec.label_min = model->bin_edges[0];
	model->spec.label_max = model->bin_edges[count - 1];
}

/* NULL: the learner runs no functions. */
static SqlBinding *
read_functions(void)
{
	SqlBinding *binding;

	if (row_isnull(0, COLUMN_FUNCTIONS_DIGEST))
		return NULL;
	binding = palloc0_object(SqlBinding);
	binding->digest = row_varlena(0, COLUMN_FUNCTIONS_DIGEST);
	binding->train = row_text(0, COLUMN_TRAIN_FUNCTION);
	binding->predict = row_text(0, COLUMN_PREDICT_FUNCTION);
	return binding;
}

static void
read_spec(MechanismSpec *spec, const FeatureSpec *features)
{
	spec->classes = classes_of_array(row_varlena(0, COLUMN_CLASSES), &spec->nclasses);
	spec->teachers = row_int4(0, COLUMN_TEACHERS);
	spec->epsilon = row_int8(0, COLUMN_EPSILON);
	spec->options = row_varlena(0, COLUMN_OPTIONS);
	spec->label_min = row_float8(0, COLUMN_LABEL_MIN);
	spec->label_max = row_float8(0, COLUMN_LABEL_MAX);
	spec->declared_units = row_int8(0, COLUMN_DECLARED_UNITS);
	spec->max_rows_per_unit = row_int4(0, COLUMN_MAX_ROWS_PER_UNIT);
	spec->protects_labels = row_bool(0, COLUMN_PROTECTS_LABELS);
	spec->width = features->width;
	spec->columns = feature_columns(features);
}

/* The model in the first row of the result, in the current context. */
static ModelRecord *
read_model(const char *name)
{
	ModelRecord *model = palloc0_object(ModelRecord);
	char		*learner = row_text(0, COLUMN_LEARNER);
	bytea		*salt = row_varlena(0, COLUMN_SALT);

	model->name = pstrdup(name);
	model->model_id = row_int8(0, COLUMN_MODEL_ID);
	model->relation_id = row_int8(0, COLUMN_RELATION_ID);
	model->population = row_int8(0, COLUMN_POPULATION);
	model->relid = row_oid(0, COLUMN_RELATION);
	model->label = row_text(0, COLUMN_LABEL);
	model->features = feature_spec_read(row_varlena(0, COLUMN_FEATURES));
	model->spec.mechanism = model->mechanism = mechanism_lookup(row_text(0, COLUMN_MECHANISM));
	model->learner = learner != NULL ? learner_lookup(learner) : NULL;
	memcpy(model->salt, VARDATA_ANY(salt), Min(VARSIZE_ANY_EXHDR(salt), MODEL_SALT_LENGTH));
	model->holdout = row_float8(0, COLUMN_HOLDOUT);
	model->version = row_int4(0, COLUMN_VERSION);
	model->predictor = row_varlena(0, COLUMN_PREDICTOR);
	model->chunks = row_varlena(0, COLUMN_CHUNKS);
	model->state = row_varlena(0, COLUMN_STATE);
	model->charge = row_text(0, COLUMN_CHARGE);
	model->pure_charge = row_text(0, COLUMN_PURE_CHARGE);
	model->training_id = row_int8(0, COLUMN_TRAINING_ID);
	model->functions = read_functions();
	read_spec(&model->spec, model->features);
	if (!row_isnull(0, COLUMN_BIN_EDGES))
		bins_of_array(row_varlena(0, COLUMN_BIN_EDGES), model);
	model->spec.default_class = model_default_class(model);

	/* A model made by a newer privpred, for example. */
	if (model->mechanism == NULL || (model->learner == NULL && learner != NULL))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("model \"%s\" uses a mechanism or learner that this version does not know",
					   name),
				errhint("Update the extension's library, or retrain the model."));
	if (model->mechanism->asks_teachers && model->learner == NULL)
		ereport(ERROR, errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("stored model \"%s\" has no learner for its teachers", name),
				errhint("Drop the model and create it again."));
	return model;
}

ModelRecord *
model_get(const char *name)
{
	CatalogSession session;
	ModelRecord	  *model;

	catalog_begin(&session);
	query_run(PLAN_HERE, select_model, true, 0, QUERY_ARGUMENTS(ARG_TEXT(name)));
	if (SPI_processed == 0)
		no_such_model(name);
	session_keep(&session);
	model = read_model(name);
	catalog_end(&session);
	return model;
}

bool
model_find_relation(const char *name, int64 *population, Oid *relid)
{
	CatalogSession session;
	bool		   found;

	catalog_begin(&session);
	query_read("SELECT r.population, r.relation FROM privpred.model m"
			   " JOIN privpred.protected_relation r ON r.relation_id = m.relation_id"
			   " WHERE m.name = $1",
			   ARG_TEXT(name));
	found = SPI_processed > 0;
	if (found)
	{
		*population = row_int8(0, 1);
		*relid = row_oid(0, 2);
	}
	catalog_end(&session);
	return found;
}

bool
model_exists(const char *name)
{
	return catalog_finds("SELECT FROM privpred.model WHERE name = $1", ARG_TEXT(name));
}

bool
relation_has_models(int64 relation_id)
{
	return catalog_finds("SELECT FROM privpred.model WHERE relation_id = $1 LIMIT 1",
						 ARG_INT8(relation_id));
}

List *
models_of_relation(int64 relation_id)
{
	CatalogSession session;
	List		  *names = NIL;

	catalog_begin(&session);
	query_read("SELECT m.name FROM privpred.model m WHERE m.relation_id = $1 ORDER BY m.name",
			   ARG_INT8(relation_id));
	session_keep(&session);
	for (uint64 row = 0; row < SPI_processed; row++)
		names = lappend(names, row_text(row, 1));
	catalog_end(&session);
	return names;
}

/* ---------- writing ---------- */

/*
 * Our table stands for all models in the relation cache's invalidation
 * messages: other sessions drop their decoded copies when we commit.
 */
void
models_changed(void)
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

/* NULL: the label has no bins. */
static ArrayType *
array_of_bins(const ModelRecord *model)
{
	Datum *elements;

	if (model->nbins == 0)
		return NULL;
	elements = palloc_array(Datum, model->nbins + 1);
	for (int i = 0; i <= model->nbins; i++)
		elements[i] = Float8GetDatum(model->bin_edges[i]);
	return construct_array(elements, model->nbins + 1, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
						   TYPALIGN_DOUBLE);
}

/* Nobody may be asked to pay for such a model, nor be given answers of it. */
static void
check_not_made_up(const ModelRecord *model)
{
	if (model->made_up_rows != NULL)
		elog(ERROR, "a model of made-up rows cannot be stored");
}

/* What training has brought forth, in the order of the statements below. */
#define TRAINED_ARGUMENTS(model, functions) \
	ARG_POINTER(predictor_type(), (model)->predictor), ARG_POINTER(BYTEAOID, (model)->state), \
		ARG_INT8_OR_NULL((model)->spec.declared_units), \
		ARG_INT4_OR_NULL((model)->spec.max_rows_per_unit), ARG_TEXT((model)->charge), \
		ARG_TEXT((model)->pure_charge), ARG_TEXT((functions)->train), \
		ARG_TEXT((functions)->predict), ARG_POINTER(BYTEAOID, (functions)->digest), \
		ARG_POINTER(BYTEAOID, (model)->chunks)

static const SqlBinding no_functions = {0};

void
model_insert(ModelRecord *model)
{
	const SqlBinding *functions = model->functions ? model->functions : &no_functions;
	char			 *user = GetUserNameFromId(GetUserId(), false);
	ArrayType		 *classes = array_of_classes(model->spec.classes, model->spec.nclasses);
	ArrayType		 *bins = array_of_bins(model);
	bool			  is_number = model->spec.nclasses == 0;
	CatalogSession	  session;

	check_not_made_up(model);
	catalog_begin(&session);
	query_write(
		"INSERT INTO privpred.model (predictor, state, declared_units, max_rows_per_unit,"
		" charge, pure_charge, train_function, predict_function, functions_digest, chunks,"
		" name, relation_id, label, classes, features, mechanism, learner, teachers,"
		" epsilon_units, options, salt, created_by, label_min, label_max, bin_edges,"
		" charge_kind, holdout, version, status)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,"
		" $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, 1, 'ready')"
		" ON CONFLICT (name) DO NOTHING RETURNING model_id, training_id",
		TRAINED_ARGUMENTS(model, functions), ARG_TEXT(model->name), ARG_INT8(model->relation_id),
		ARG_NAME(model->label), ARG_POINTER(TEXTARRAYOID, classes),
		ARG(JSONBOID, JsonbPGetDatum(feature_spec_write(model->features))),
		ARG_TEXT(model->mechanism->name), ARG_TEXT(model->learner ? model->learner->name : NULL),
		ARG_INT4(model->spec.teachers), ARG_INT8(model->spec.epsilon),
		ARG(JSONBOID, JsonbPGetDatum(model->spec.options)),
		ARG(BYTEAOID, PointerGetDatum(cstring_to_text_with_len(model->salt, MODEL_SALT_LENGTH))),
		ARG_NAME(user), ARG_IF(is_number, ARG_FLOAT8(model->spec.label_min)),
		ARG_IF(is_number, ARG_FLOAT8(model->spec.label_max)), ARG_POINTER(FLOAT8ARRAYOID, bins),
		ARG_TEXT(charge_kind_name(model->mechanism->charge_kind)), ARG_FLOAT8(model->holdout));
	if (SPI_processed == 0)
		ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT),
				errmsg("model \"%s\" already exists", model->name),
				errhint("Use privpred.retrain, or privpred.drop_model first."));
	model->model_id = row_int8(0, 1);
	model->training_id = row_int8(0, 2);
	model->version = 1;
	models_changed();
	catalog_end(&session);
}

void
model_update(ModelRecord *model)
{
	const SqlBinding *functions = model->functions ? model->functions : &no_functions;
	CatalogSession	  session;

	check_not_made_up(model);
	catalog_begin(&session);
	query_write(
		"UPDATE privpred.model SET predictor = $1, state = $2,"
		" declared_units = $3, max_rows_per_unit = $4, charge = $5,"
		" pure_charge = $6, train_function = $7, predict_function = $8,"
		" functions_digest = $9, chunks = $10, version = version + 1, training_id = DEFAULT,"
		" trained_at = pg_catalog.now(), accuracy = NULL, accuracy_error = NULL,"
		" accuracy_at = NULL WHERE model_id = $11 RETURNING version, training_id",
		TRAINED_ARGUMENTS(model, functions), ARG_INT8(model->model_id));
	if (SPI_processed == 0)
		no_such_model(model->name);
	model->version = row_int4(0, 1);
	model->training_id = row_int8(0, 2);
	models_changed();
	catalog_end(&session);
}

/* A version that was replaced meanwhile is no longer shown, nor is its accuracy. */
void
model_store_accuracy(const ModelRecord *model, double accuracy, double error)
{
	catalog_write("UPDATE privpred.model SET accuracy = $1, accuracy_error = $2,"
				  " accuracy_at = pg_catalog.now() WHERE training_id = $3",
				  ARG_FLOAT8(accuracy), ARG_FLOAT8(error), ARG_INT8(model->training_id));
}

void
model_delete(const ModelRecord *model)
{
	CatalogSession session;

	catalog_begin(&session);
	query_write("DELETE FROM privpred.model WHERE model_id = $1", ARG_INT8(model->model_id));
	models_changed();
	catalog_end(&session);
}

void
models_of_dropped_relations_delete(void)
{
	query_write("DELETE FROM privpred.model WHERE relation_id IN"
				" (SELECT relation_id FROM privpred.protected_relation WHERE relation IS NULL)");
	query_write("DELETE FROM privpred.description WHERE relation_id IN"
				" (SELECT relation_id FROM privpred.protected_relation WHERE relation IS NULL)");
	models_changed();
}

Jsonb *
model_card(const char *name)
{
	CatalogSession session;
	Jsonb		  *card;

	catalog_begin(&session);
	query_read("SELECT pg_catalog.jsonb_build_object("
			   "'name', m.name, 'relation', r.relation_name, 'unit', r.unit_columns,"
			   " 'protects', r.protects, 'label', m.label, 'classes', m.classes,"
			   " 'features', m.features, 'mechanism', m.mechanism, 'learner', m.learner,"
			   " 'teachers', m.teachers, 'options', m.options, 'version', m.version,"
			   " 'epsilon', pg_catalog.trim_scale(m.epsilon_units / 1000000000000.0))"
			   " || CASE WHEN m.holdout > 0 THEN"
			   " pg_catalog.jsonb_build_object('holdout', m.holdout) ELSE '{}' END"
			   " FROM privpred.model m JOIN privpred.protected_relation r"
			   " USING (relation_id) WHERE m.name = $1",
			   ARG_TEXT(name));
	if (SPI_processed == 0)
		no_such_model(name);
	session_keep(&session);
	card = row_varlena(0, 1);
	catalog_end(&session);
	return card;
}
