/*
 * model_declare.c
 *		What an owner may declare of a model, checked before any row is read.
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "server/number_text.h"
#include "request/train.h"
#include "draw/sampler.h"

#define MAX_PREDICTOR_BYTES (INT64CONST(512) * 1024 * 1024)

/* Options of the model itself, beside its mechanism's and learner's. */

void
check_model_name(const char *name)
{
	if (name[0] == '\0' || strlen(name) >= NAMEDATALEN)
		ereport(ERROR, errcode(ERRCODE_INVALID_NAME),
				errmsg("a model's name must have 1 to %d bytes", NAMEDATALEN - 1),
				errhint("Choose a short name, as for a table."));
	if (model_exists(name))
		ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT),
				errmsg("model \"%s\" already exists", name),
				errhint("Use privpred.retrain, or privpred.drop_model first."));
}

static void
declare_numbers(const CreateModelRequest *request, ModelRecord *model)
{
	if (request->teachers < 1 || request->teachers > PRIVPRED_MAX_TEACHERS)
		refuse(errmsg("teachers must be between 1 and %d", PRIVPRED_MAX_TEACHERS),
			   errhint("A few hundred rows per teacher is a good start."));
	model->spec.teachers = request->teachers;
	if (!epsilon_to_units(request->epsilon, EPSILON_PER_ANSWER_MAX, &model->spec.epsilon))
		refuse(
			errmsg("epsilon must be a number from %g to %g", EPSILON_MIN, EPSILON_PER_ANSWER_MAX),
			errdetail("It is the privacy loss of one answer."),
			errhint("Useful values lie between 0.01 and 2."));
	model->holdout = holdout_declare(request->holdout);
}

static void
check_size(const ModelRecord *model, const LearnerOptions *options)
{
	const Learner *learner = model->learner;
	int			   nclasses = learner != NULL ? options->nclasses : model->spec.nclasses;
	int			   width = model->features->width;
	int64		   member = learner && learner->member_size
								? learner->member_size(nclasses, width, options)
								: (int64) nclasses * (2 * width + 1) * sizeof(double);
	int64		   bytes = model->spec.teachers * member;

	if (bytes > MAX_PREDICTOR_BYTES)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("the model would need up to " INT64_FORMAT
					   " MB, more than the limit of " INT64_FORMAT " MB",
					   bytes / (1024 * 1024), MAX_PREDICTOR_BYTES / (1024 * 1024)),
				errhint("Declare fewer teachers, classes, columns or levels, "
						"or fewer and smaller trees."));
}

const Learner *
find_learner(const char *name)
{
	const Learner *learner = learner_lookup(name);

	if (learner == NULL || learner->aggregate_only)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("learner \"%s\" does not exist", name),
				errhint("The learners are: %s.", learner_names()));
	return learner;
}

static void
declare_plugins(const CreateModelRequest *request, ModelRecord *model)
{
	model->spec.mechanism = model->mechanism = mechanism_lookup(request->mechanism);
	if (model->mechanism == NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("mechanism \"%s\" does not exist", request->mechanism),
				errhint("The mechanisms are: %s.", mechanism_names()));
	model->learner = find_learner(request->learner);
	if (model->mechanism->asks_teachers)
		return;
	/* A learner that was left out looks like the default. */
	if (strcmp(request->learner, "logistic") != 0)
		refuse(errmsg("mechanism \"%s\" takes no learner", request->mechanism),
			   errhint("Leave the argument learner out."));
	model->learner = NULL;
	model->spec.teachers = 0;
}

/* ---------- options ---------- */

/* The keys of a model's options, as C strings. */
static List *
option_keys(const ModelRecord *model)
{
	JsonbIterator	  *iterator = JsonbIteratorInit(&model->spec.options->root);
	JsonbIteratorToken token;
	JsonbValue		   value;
	List			  *keys = NIL;

	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
		if (token == WJB_KEY)
			keys = lappend(keys, pnstrdup(value.val.string.val, value.val.string.len));
	return keys;
}

/* Is it an option of the model itself or of its mechanism, and not of its learner? */
static bool
is_models_option(const ModelRecord *model, const char *key)
{
	return option_find(model_options, key) || option_find(model->mechanism->options, key);
}

char *
classes_json(const MechanismSpec *spec)
{
	ArrayType *classes = array_of_classes(spec->classes, spec->nclasses);

	return TextDatumGetCString(DirectFunctionCall1(array_to_json, PointerGetDatum(classes)));
}

Jsonb *
learner_options(const ModelRecord *model)
{
	Datum		   options = JsonbPGetDatum(model->spec.options);
	StringInfoData declared;
	ListCell	  *cell;

	/* Learners know the default class, but no other option of the model. */
	foreach(cell, option_keys(model))
		if (strcmp(lfirst(cell), "default") != 0 && is_models_option(model, lfirst(cell)))
			options = DirectFunctionCall2(jsonb_delete, options, CStringGetTextDatum(lfirst(cell)));

	initStringInfo(&declared);
	if (model->spec.nclasses > 0)
		appendStringInfo(&declared, "{\"classes\": %s", classes_json(&model->spec));
	else
		appendStringInfoString(&declared, "{\"numbers\": true");
	if (model->functions != NULL)
	{
		/* in place of names, which somebody else might overload */
		appendStringInfoString(&declared, ", \"train\": ");
		escape_json(&declared, model->functions->train);
		appendStringInfoString(&declared, ", \"predict\": ");
		escape_json(&declared, model->functions->predict);
	}
	appendStringInfoChar(&declared, '}');
	return DatumGetJsonbP(DirectFunctionCall2(
		jsonb_concat, options, DirectFunctionCall1(jsonb_in, CStringGetDatum(declared.data))));
}

/* Learners refuse unknown options; without a learner it is done here. */
static void
check_option_keys(const ModelRecord *model)
{
	StringInfoData known;
	ListCell	  *cell;

	initStringInfo(&known);
	options_append_keys(&known, model->mechanism->options);
	options_append_keys(&known, model_options);
	known.len -= strlen(", ");
	foreach(cell, option_keys(model))
		if (!is_models_option(model, lfirst(cell)))
			refuse(errmsg("unknown option \"%s\" of mechanism \"%s\"", (char *) lfirst(cell),
						  model->mechanism->name),
				   errhint("Its options are: %.*s.", known.len, known.data));
}

static void
check_options(ModelRecord *model, Oid label_type, LearnerOptions *parsed)
{
	if (model->learner == NULL)
	{
		check_option_keys(model);
		return;
	}
	learner_parse_options(model->learner, learner_options(model), parsed);
	if (model->learner->runs_user_code)
		owner_code_bind(model, parsed, label_type);
	if (model->learner->prepare)
		model->learner->prepare();
}

/* ---------- labels ---------- */

pg_noreturn static void
bad_number_label(const char *problem)
{
	refuse(errmsg("%s", problem),
		   errhint("Declare a number by options => '{\"target\": {\"min\": 0, "
				   "\"max\": 100}}', or its bins by '{\"bins\": [0, 10, 100]}'."));
}

static double
finite_number(const JsonbValue *value)
{
	double number = json_double(value);

	if (!isfinite(number))
		bad_number_label("bounds and bins of a label must be finite numbers");
	return number;
}

static void
declare_target(const JsonbValue *target, ModelRecord *model)
{
	JsonbValue min;
	JsonbValue max;

	if (target->type != jbvBinary || !JsonContainerIsObject(target->val.binary.data) ||
		JsonContainerSize(target->val.binary.data) != 2)
		bad_number_label("option \"target\" must be an object with \"min\" and \"max\"");
	model->spec.label_min =
		finite_number(getKeyJsonValueFromContainer(target->val.binary.data, "min", 3, &min));
	model->spec.label_max =
		finite_number(getKeyJsonValueFromContainer(target->val.binary.data, "max", 3, &max));
	if (!(model->spec.label_min < model->spec.label_max))
		bad_number_label("the minimum of option \"target\" must be below its maximum");
}

static void
declare_bins(JsonbValue *bins, ModelRecord *model)
{
	JsonbContainer *array;
	int				count;

	if (bins->type != jbvBinary || !JsonContainerIsArray(bins->val.binary.data) ||
		JsonContainerIsScalar(bins->val.binary.data))
		bad_number_label("option \"bins\" must be an array of numbers");
	array = bins->val.binary.data;
	count = JsonContainerSize(array);
	if (count < PRIVPRED_MIN_CLASSES + 1 || count > PRIVPRED_MAX_CLASSES + 1)
		bad_number_label("option \"bins\" must have at least 3 edges, and not too many");
	model->nbins = count - 1;
	model->bin_edges = palloc_array(double, count);
	for (int i = 0; i < count; i++)
	{
		model->bin_edges[i] = finite_number(getIthJsonbValueFromContainer(array, i));
		if (i > 0 && !(model->bin_edges[i - 1] < model->bin_edges[i]))
			bad_number_label("the edges of option \"bins\" must increase");
	}
	model->spec.bin_edges = model->bin_edges;
	model->spec.label_min = model->bin_edges[0];
	model->spec.label_max = model->bin_edges[count - 1];
	model->spec.nclasses = model->nbins;
	model->spec.classes = palloc_array(char *, model->nbins);
	for (int i = 0; i < model->nbins; i++)
	{
		char low[NUMBER_TEXT_SIZE];
		char high[NUMBER_TEXT_SIZE];

		model->spec.classes[i] =
			psprintf("[%s,%s%c", number_text(model->bin_edges[i], low),
					 number_text(model->bin_edges[i + 1], high), i == model->nbins - 1 ? ']' : ')');
	}
}

/* Classes, bins of a number, or a number. */
static void
declare_label(const CreateModelRequest *request, Oid label_type, Relation relation,
			  ModelRecord *model)
{
	JsonbValue	storage[2];
	JsonbValue *target = option_value(model->spec.options, "target", &storage[0]);
	JsonbValue *bins = option_value(model->spec.options, "bins", &storage[1]);

	if ((target != NULL) + (bins != NULL) + (request->classes != NULL) > 1)
		bad_number_label("a label has classes, bins or a target, not several of them");
	if (target != NULL)
		declare_target(target, model);
	else if (bins != NULL)
		declare_bins(bins, model);
	else
		model->spec.classes =
			classes_declare(request->classes, request->label, label_type, &model->spec.nclasses);
	if (target != NULL && !model->mechanism->numeric_labels)
		refuse(
			errmsg("mechanism \"%s\" learns classes, not numbers", model->mechanism->name),
			errhint("Use mechanism average, gradient, soft or stable_erm, or declare bins of the "
					"number by options => '{\"bins\": [0, 10, 100]}'."));
	/* Raises an error if the column cannot be such a label. */
	if (target != NULL || bins != NULL)
		(void) label_spec(model, RelationGetDescr(relation), RelationGetRelationName(relation));
}

/* ---------- all of it ---------- */

static void
check_memoize(const ModelRecord *model)
{
	if (model_memo_limit(model) > 0 &&
		(model->mechanism->charge_kind != CHARGE_PER_ANSWER || model->mechanism->owner_only))
		refuse(errmsg("answers of mechanism \"%s\" are free, so there is nothing to memoize",
					  model->mechanism->name),
			   errhint("Leave the option \"memoize\" out."));
}

/* A student has its teacher's labels and price; only its learner and default are declared. */
void
check_student(const ModelRecord *student)
{
	static const char *const keys[] = {"classes", "target", "bins", "memoize", "memoize_limit"};
	LearnerOptions			 options;

	for (int i = 0; i < lengthof(keys); i++)
		if (option_given(student->spec.options, keys[i]))
			refuse(errmsg("option \"%s\" cannot be used for a student", keys[i]),
				   errdetail("Its labels are its teacher's, and its answers are free."),
				   errhint("A student has its learner's options, and \"default\"."));
	check_missing(student);
	learner_parse_options(student->learner, learner_options(student), &options);
	check_size(student, &options);
	if (student->learner->prepare)
		student->learner->prepare();
}

void
model_declare_sizes(ModelRecord *model, const ProtectedRelation *protected, const ViewProof *proof)
{
	model->spec.declared_units = protected->declared_units;
	model->spec.max_rows_per_unit = protected->max_rows_per_unit;
	model->spec.protects_labels = protected->protects_labels;
	if (model->spec.max_rows_per_unit == 0 && units_are_rows(protected, proof))
		model->spec.max_rows_per_unit = 1;
	if (model->mechanism->labels_only && !model->spec.protects_labels)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("mechanism \"%s\" protects labels only", model->mechanism->name),
				errdetail("The relation was protected with protects => 'rows', "
						  "so features are secret, too."),
				errhint("Use another mechanism."));
	declare_public_tables(model);
	mechanism_validate(model->mechanism, &model->spec);
}

static void
draw_salt(ModelRecord *model)
{
	for (int i = 0; i < MODEL_SALT_LENGTH; i += sizeof(uint64))
	{
		uint64 word = sample_uint64();

		memcpy(model->salt + i, &word, sizeof(word));
	}
}

ModelRecord *
model_declare(const CreateModelRequest *request, const ProtectedRelation *protected,
			  const ViewProof		   *proof)
{
	ModelRecord	  *model = palloc0_object(ModelRecord);
	Relation	   relation = open_relation(request->relid, AccessShareLock);
	AttrNumber	   label = get_attnum(request->relid, request->label);
	LearnerOptions options;
	Oid			   label_type;

	check_model_name(request->name);
	model->name = pstrdup(request->name);
	model->relation_id = protected->relation_id;
	model->population = protected->population;
	model->relid = request->relid;
	model->label = pstrdup(request->label);
	if (label <= 0)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", request->label,
					   RelationGetRelationName(relation)),
				errhint("The label is a column of the protected table."));
	label_type = getBaseType(TupleDescAttr(RelationGetDescr(relation), label - 1)->atttypid);
	declare_numbers(request, model);
	declare_plugins(request, model);
	model->spec.options = options_object(request->options);
	if (option_given(model->spec.options, "classes"))
		refuse(errmsg("classes are not an option"), errhint("Pass them as the argument classes."));
	declare_label(request, label_type, relation, model);
	model->spec.default_class = model_default_class(model);
	declare_features(model, request->features, relation);
	model_declare_sizes(model, protected, proof);
	check_missing(model);
	check_options(model, label_type, &options);
	check_memoize(model);
	check_size(model, &options);
	draw_salt(model);
	table_close(relation, AccessShareLock);
	return model;
}
