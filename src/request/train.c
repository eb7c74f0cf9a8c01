/*
 * train.c
 *		Training: one query over the protected table, grouped by teacher.
 *
 * The server's own grouping gives parallelism, spilling, partitions and
 * foreign tables.  What the query returns depends on rows; what this file
 * refuses depends on declarations only, apart from memory, and is seen by
 * the owner alone.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/request.h"
#include "sampler/sampler.h"

#define MAX_PREDICTOR_BYTES		(INT64CONST(512) * 1024 * 1024)

/*
 * ---------- what the owner declares ----------
 */

static void
check_name(const char *name)
{
	if (name[0] == '\0' || strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("a model's name must have 1 to %d bytes", NAMEDATALEN - 1),
				 errhint("Choose a short name, as for a table.")));
	if (model_exists(name))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("model \"%s\" already exists", name),
				 errhint("Use privpred.retrain, or privpred.drop_model first.")));
}

static void
check_numbers(const CreateModelRequest *request, ModelRecord *model)
{
	if (request->teachers < 1 || request->teachers > PRIVPRED_MAX_TEACHERS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("teachers must be between 1 and %d", PRIVPRED_MAX_TEACHERS),
				 errhint("A few hundred rows per teacher is a good start.")));
	model->teachers = request->teachers;
	if (!epsilon_to_units(request->epsilon, EPSILON_PER_ANSWER_MAX, &model->epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be a number from %g to %g", EPSILON_MIN,
						EPSILON_PER_ANSWER_MAX),
				 errdetail("It is the privacy loss of one answer."),
				 errhint("Useful values lie between 0.01 and 2.")));
}

static void
check_size(const ModelRecord *model)
{
	int64		bytes = (int64) model->teachers * model->nclasses *
		(2 * model->features->width + 1) * sizeof(double);

	if (bytes > MAX_PREDICTOR_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the model would need up to " INT64_FORMAT " MB, more than the limit of " INT64_FORMAT " MB",
						bytes / (1024 * 1024), MAX_PREDICTOR_BYTES / (1024 * 1024)),
				 errhint("Declare fewer teachers, classes, columns or levels.")));
}

static void
check_plugins(const CreateModelRequest *request, ModelRecord *model)
{
	model->mechanism = mechanism_lookup(request->mechanism);
	if (model->mechanism == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("mechanism \"%s\" does not exist", request->mechanism),
				 errhint("The mechanisms are: %s.", mechanism_names())));
	model->learner = learner_lookup(request->learner);
	if (model->learner == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("learner \"%s\" does not exist", request->learner),
				 errhint("The learners are: %s.", learner_names())));
}

/* The model's options and its classes, as the learner's aggregate wants them. */
static Jsonb *
learner_options(const ModelRecord *model)
{
	StringInfoData classes;
	Datum		declared;

	initStringInfo(&classes);
	appendStringInfoString(&classes, "{\"classes\": [");
	for (int i = 0; i < model->nclasses; i++)
	{
		if (i > 0)
			appendStringInfoString(&classes, ", ");
		escape_json(&classes, model->classes[i]);
	}
	appendStringInfoString(&classes, "]}");
	declared = DirectFunctionCall1(jsonb_in, CStringGetDatum(classes.data));
	return DatumGetJsonbP(DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(model->options),
											  declared));
}

static void
check_options(const ModelRecord *model, Oid label_type)
{
	LearnerOptions parsed;
	JsonbValue	storage;

	if (!JB_ROOT_IS_OBJECT(model->options))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options must be a JSON object"),
				 errhint("Pass options => '{\"key\": value}'.")));
	if (getKeyJsonValueFromContainer(&model->options->root, "classes", 7, &storage) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("classes are not an option"),
				 errhint("Pass them as the argument classes.")));
	learner_parse_options(model->learner, learner_options(model), &parsed);
	if (model->learner->runs_user_code)
		learner_check_sql_functions(&parsed, label_type);
}

static ModelRecord *
declare_model(const CreateModelRequest *request, const ProtectedRelation *protected)
{
	ModelRecord *model = palloc0_object(ModelRecord);
	Relation	relation = table_open(request->relid, AccessShareLock);
	AttrNumber	label = get_attnum(request->relid, request->label);
	uint64		salt[MODEL_SALT_LENGTH / sizeof(uint64)];
	Oid			label_type;

	model->name = pstrdup(request->name);
	model->relation_id = protected->relation_id;
	model->relid = request->relid;
	model->label = pstrdup(request->label);
	if (label <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", request->label,
						RelationGetRelationName(relation)),
				 errhint("The label is a column of the protected table.")));
	label_type = getBaseType(TupleDescAttr(RelationGetDescr(relation), label - 1)->atttypid);
	check_numbers(request, model);
	check_plugins(request, model);
	model->classes = classes_declare(request->classes, request->label, label_type,
									 &model->nclasses);
	model->features = feature_spec_declare(request->features, RelationGetDescr(relation),
										   RelationGetRelationName(relation));
	if (model->mechanism->validate)
		model->mechanism->validate(model->teachers, model->nclasses, model->epsilon);
	model->options = request->options;
	check_options(model, label_type);
	check_size(model);
	for (int i = 0; i < lengthof(salt); i++)
		salt[i] = sample_uint64();
	memcpy(model->salt, salt, MODEL_SALT_LENGTH);
	table_close(relation, AccessShareLock);
	return model;
}

/*
 * ---------- the training query ----------
 */

/* Rows as the planner estimates them; needs no scan. */
static double
estimated_rows(const char *relation)
{
	char	   *query = psprintf("SELECT FROM %s", relation);
	SPIPlanPtr	plan = SPI_prepare(query, 0, NULL);
	CachedPlan *cached;
	double		rows;

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", query);
	cached = SPI_plan_get_cached_plan(plan);
	rows = linitial_node(PlannedStmt, cached->stmt_list)->planTree->plan_rows;
	ReleaseCachedPlan(cached, NULL);	/* an unsaved plan has no owner */
	SPI_freeplan(plan);
	return rows;
}

/*
 * All teachers at once (hashing) if their states should fit into
 * maintenance_work_mem, else one teacher after the other (sorting).
 */
static void
choose_grouping(const ModelRecord *model, const char *relation)
{
	const Learner *learner = model->learner;
	int			width = model->features->width;
	double		rows = estimated_rows(relation);
	double		limit = maintenance_work_mem * 1024.0;
	double		bytes;

	if (learner->additive)
		bytes = Min(rows, model->teachers) * sizeof(int128) *
			(learner->shared_sums(width) + (double) model->nclasses * learner->class_sums(width));
	else
		bytes = rows * (width + 2) * sizeof(double);
	session_set("work_mem", psprintf("%d", maintenance_work_mem));
	session_set("jit", "off");	/* most of the time is spent in our own code */
	/* growth in steps of two, and an estimate that is only an estimate */
	if (2 * bytes > limit)
		session_set("enable_hashagg", "off");
	else
		session_set("enable_sort", "off");
	/* The user's code runs in subtransactions, which parallel mode forbids. */
	if (learner->runs_user_code)
		session_set("max_parallel_workers_per_gather", "0");
}

void
append_encoding(StringInfo query, const FeatureSpec *features, const char *parameter)
{
	bool		as_row = features->nfeatures >= FUNC_MAX_ARGS;

	appendStringInfo(query, "privpred.encode(%s, %s", parameter, as_row ? "ROW(" : "");
	for (int i = 0; i < features->nfeatures; i++)
		appendStringInfo(query, "%sr.%s", i > 0 ? ", " : "",
						 quote_identifier(features->features[i].name));
	appendStringInfoString(query, as_row ? "))" : ")");
}

static void
append_units(StringInfo query, const ProtectedRelation *protected, const char *between,
			 const char *after)
{
	for (int i = 0; i < protected->nunits; i++)
		appendStringInfo(query, "%sr.%s", i > 0 ? between : "",
						 quote_identifier(protected->unit_columns[i]));
	appendStringInfoString(query, after);
}

/* For comparing the label with the classes in its own type. */
static char *
label_type_name(const ModelRecord *model)
{
	AttrNumber	attnum = get_attnum(model->relid, model->label);

	return format_type_extended(getBaseType(get_atttype(model->relid, attnum)), -1,
								FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

/*
 * NOT NULL is not enforced in foreign tables and can be dropped in a child
 * table; rows without a unit would make a teacher of nobody's, so they are left
 * out.
 */
static char *
training_query(const ModelRecord *model, const ProtectedRelation *protected, const char *relation)
{
	StringInfoData query;
	const char *label = quote_identifier(model->label);

	initStringInfo(&query);
	appendStringInfoString(&query,
						   "SELECT privpred.ensemble(s.m) FILTER (WHERE s.t IS NOT NULL),"
						   " pg_catalog.sum(CASE WHEN s.t IS NULL THEN s.n ELSE s.unused END)::bigint"
						   " FROM (SELECT CASE WHEN ");
	append_units(&query, protected, " IS NOT NULL AND ", " IS NOT NULL");
	appendStringInfo(&query, " THEN privpred.teacher_of(%s",
					 protected->nunits > 1 ? "ROW(" : "");
	append_units(&query, protected, ", ", protected->nunits > 1 ? ")" : "");
	appendStringInfo(&query, ", $1, $2) END AS t, privpred.%s(r.%s, ",
					 model->learner->aggregate ? model->learner->aggregate : model->learner->name,
					 label);
	append_encoding(&query, model->features, "$3");
	appendStringInfo(&query,
					 ", $4) AS m, pg_catalog.count(*) AS n, pg_catalog.count(*) FILTER"
					 " (WHERE (r.%s = ANY ($5::%s[])) IS NOT TRUE) AS unused"
					 " FROM %s r GROUP BY 1) s",
					 label, label_type_name(model), relation);
	return query.data;
}

/* Tells the owner, and nobody else, what the rows made of the declaration. */
static void
report_training(const ModelRecord *model, int64 unused_rows)
{
	int			fitted = ensemble_fitted(ensemble_load(model->predictor));

	if (unused_rows > 0)
		ereport(NOTICE,
				(errmsg(INT64_FORMAT " rows were left out of model \"%s\"", unused_rows,
						model->name),
				 errdetail("Their label is NULL or not one of the declared classes, or their unit is NULL.")));
	if (fitted < model->teachers)
		ereport(NOTICE,
				(errmsg("%d of %d teachers of model \"%s\" always vote \"%s\"",
						model->teachers - fitted, model->teachers, model->name,
						model->classes[model_default_class(model)]),
				 errdetail("They had no rows, rows of one class only, or could not be fitted."),
				 errhint("Fewer teachers get more rows each.")));
}

/* Columns may have been renamed or dropped since they were declared. */
static void
check_columns(const ModelRecord *model)
{
	for (int i = -1; i < model->features->nfeatures; i++)
	{
		const char *column = i < 0 ? model->label : model->features->features[i].name;

		if (get_attnum(model->relid, column) <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist any more", column,
							get_rel_name(model->relid)),
					 errhint("Create a new model with the columns as they are now.")));
	}
}

static void
train(ModelRecord *model, const ProtectedRelation *protected)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext spi;
	CatalogSession session;
	char	   *relation = quote_qualified_identifier(get_namespace_name(get_rel_namespace(model->relid)),
													  get_rel_name(model->relid));
	Oid			types[] = {BYTEAOID, INT4OID, JSONBOID, JSONBOID, TEXTARRAYOID};
	Datum		values[lengthof(types)];
	SPIPlanPtr	plan;
	Datum		predictor;
	bool		isnull;
	int64		unused_rows;

	check_unit_columns(protected);
	check_columns(model);
	values[0] = PointerGetDatum(cstring_to_text_with_len(model->salt, MODEL_SALT_LENGTH));
	values[1] = Int32GetDatum(model->teachers);
	values[2] = JsonbPGetDatum(feature_spec_write(model->features));
	values[3] = JsonbPGetDatum(learner_options(model));
	values[4] = PointerGetDatum(array_of_classes(model->classes, model->nclasses));

	relation_owner_begin(&session, model->relid);
	choose_grouping(model, relation);
	plan = SPI_prepare_cursor(training_query(model, protected, relation),
							  lengthof(types), types, CURSOR_OPT_PARALLEL_OK);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
	if (SPI_execute_plan(plan, values, NULL, true, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "training query failed");
	spi = MemoryContextSwitchTo(caller);
	predictor = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	model->predictor = predictor_complete(model->learner,
										  isnull ? NULL : (Predictor *) PG_DETOAST_DATUM(predictor),
										  model->teachers, model->classes, model->nclasses,
										  model->features->width, model_default_class(model));
	unused_rows = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
											  2, &isnull));
	MemoryContextSwitchTo(spi);
	catalog_end(&session);
	report_training(model, isnull ? 0 : unused_rows);
}

/*
 * ---------- requests ----------
 */

Jsonb *
request_create_model(const CreateModelRequest *request)
{
	ProtectedRelation *protected;
	ModelRecord *model;

	check_relation_owner(request->relid);
	protected = protected_relation_get(request->relid);
	check_name(request->name);
	model = declare_model(request, protected);
	train(model, protected);
	model_insert(model);
	return model_card(model->name);
}

/* A model belongs to whoever owns the relation it was trained on. */
static ModelRecord *
own_model(const char *name)
{
	ModelRecord *model = model_get(name);

	check_relation_owner(model->relid);
	return model;
}

Jsonb *
request_retrain(const char *name)
{
	ModelRecord *model = own_model(name);

	train(model, protected_relation_get(model->relid));
	model_update(model);
	ledger_invalidate_leases();
	return model_card(name);
}

void
request_drop_model(const char *name)
{
	model_delete(own_model(name));
	ledger_invalidate_leases();
}
