/*
 * train.c
 *		create_model, retrain, drop_model.
 *
 * What queries return depends on rows; what is refused here depends on
 * declarations only, apart from memory, and is seen by the owner alone.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "catalog/store.h"
#include "account/charge.h"
#include "ledger/ledger.h"
#include "server/progress.h"
#include "request/forget.h"
#include "request/train.h"
#include "server/citus.h"

/* Columns may have been renamed or dropped since they were declared. */
static void
check_columns(const ModelRecord *model)
{
	static const char *const hint = "Create a new model with the columns as they are now.";

	require_column(model->relid, model->label, hint);
	require_features(model->relid, model->features, hint);
}

/* Mechanisms that learn from units themselves. */
static RowCounts
train_on_units(ModelRecord *model, const ProtectedRelation *protected, const ViewProof *proof)
{
	MemoryContext  caller = CurrentMemoryContext;
	MemoryContext  training;
	MemoryContext  spi;
	CatalogSession session;
	UnitSource	  *units;
	bytea		  *state;
	RowCounts	   rows;
	bool one_row_each = units_are_rows(protected, proof); /* before the snapshot is taken */

	relation_owner_begin(&session, model->relid);
	/* Rows are grouped; else a view has what its own SELECT would have. */
	if (!one_row_each)
		session_set("work_mem", psprintf("%d", maintenance_work_mem));
	session_set("jit", "off");
	/* Units whose rows lie on several nodes are put together here. */
	citus_settings(true);
	if (!owner_listens(model) && client_min_messages < WARNING)
		session_set("client_min_messages", "warning");
	training =
		AllocSetContextCreate(CurrentMemoryContext, "privpred training", ALLOCSET_DEFAULT_SIZES);
	spi = MemoryContextSwitchTo(training);
	units = units_open(model, protected, one_row_each, false);
	progress_phase_rows("reading rows", estimated_rows(model->relid));
	state = model->mechanism->train(&model->spec, units, (Size) maintenance_work_mem * 1024);
	rows = units_close(units);
	MemoryContextSwitchTo(caller);
	model->state = (bytea *) PG_DETOAST_DATUM_COPY(PointerGetDatum(state));
	MemoryContextSwitchTo(spi);
	MemoryContextDelete(training);
	catalog_end(&session);
	return rows;
}

/* What this version costs, for views and for the choice of orders. */
static void
set_charges(ModelRecord *model)
{
	Charge charge;

	model->charge = model->pure_charge = NULL;
	if (mechanism_charge(model->mechanism, &model->spec, false, &charge))
		model->charge = charge_to_text(&charge, palloc(CHARGE_TEXT_SIZE));
	if (mechanism_charge(model->mechanism, &model->spec, true, &charge))
		model->pure_charge = charge_to_text(&charge, palloc(CHARGE_TEXT_SIZE));
	if (model->charge == NULL && !model->mechanism->owner_only)
		elog(ERROR, "mechanism \"%s\" has no valid charge", model->mechanism->name);
}

/* Other teachers would learn from another view, or units would belong to other teachers. */
bool
definition_has_changed(const ModelRecord *model, const ProtectedRelation *protected)
{
	const char *before = model_definition(model->name);

	return before == NULL || strcmp(before, definition_now(protected)) != 0;
}

static void
check_rows(const ProtectedRelation *protected)
{
	check_unit_columns(protected);
	check_protected_once(protected->relid);
	check_spent_once(protected->relid, protected->population, 0);
}

/* What was proved is kept by locks, and holds for all rows that are seen from now on. */
const ViewProof *
before_rows_are_held(ProtectedRelation *protected)
{
	const ViewProof *proof;

	check_rows(protected);
	proof = view_prove_protected(protected);
	note_units_are_rows(protected, proof);
	return proof;
}

/* Sets the definition of what was read. */
static RowCounts
train(ModelRecord *model, const ProtectedRelation *protected, const ViewProof *proof, int teacher,
	  const char **definition)
{
	RowCounts rows;

	set_charges(model);
	check_rows(protected);
	check_view_paid_once(proof);
	check_name_given(model->relid);
	*definition = definition_now(protected);
	/* Teachers of one version see one view, and a unit is in one of them. */
	if (definition_has_changed(model, protected))
	{
		report_change(model);
		teacher = TEACHERS_ALL;
	}
	check_columns(model);
	if (model->mechanism->asks_teachers)
		rows = train_teachers(model, protected, teacher);
	else
		rows = train_on_units(model, protected, proof);
	view_still_proved(proof);
	if (teacher == TEACHERS_ALL)
		report_training(model, protected, rows);
	progress_phase("storing", -1);
	return rows;
}

/* ---------- requests ---------- */

/* What is to be forgotten is looked for among the rows that are trained on. */
typedef struct Training
{
	ModelRecord *model;
	const ProtectedRelation *protected;
	const ViewProof *proof; /* of a model that is new */
	RowCounts		 rows;
} Training;

static void
create_model(void *argument)
{
	Training   *task = argument;
	List	   *dues = forget_begin_dues(task->model, task->protected);
	const char *definition;

	task->rows = train(task->model, task->protected, task->proof, TEACHERS_ALL, &definition);
	model_insert(task->model);
	model_store_definition(task->model->name, definition);
	forget_end_dues(dues, NULL, task->model, task->protected->population);
}

Jsonb *
request_create_model(const CreateModelRequest *request)
{
	ProtectedRelation *protected;
	Training task = {0};

	lock_own_relation(request->relid, AccessShareLock);
	protected = protected_relation_hold(request->relid);
	task.proof = before_rows_are_held(protected);
	progress_begin(request->name, request->relid);
	task.protected = protected;
	task.model = model_declare(request, protected, task.proof);
	with_rows_held(create_model, &task);
	progress_end();
	return model_card(request->name);
}

/* A model belongs to whoever owns the relation it was trained on. */
ModelRecord *
own_model(const char *name)
{
	ModelRecord *model = known_model(name);

	check_relation_owner(model->relid);
	return model;
}

/* The owner takes the functions as they are now, if they are the same by name and types. */
static void
rebind_functions(ModelRecord *model)
{
	LearnerOptions options;

	if (model->learner == NULL || !model->learner->runs_user_code)
		return;
	learner_parse_options(model->learner, learner_options(model), &options);
	owner_code_bind(model, &options,
					get_atttype(model->relid, get_attnum(model->relid, model->label)));
}

RowCounts
model_renew(ModelRecord *model, const ProtectedRelation *protected, int teacher)
{
	RowCounts	rows;
	ViewProof  *proof;
	const char *definition;

	check_unit_columns(protected);
	proof = view_prove_protected(protected);
	check_columns(model);
	rebind_functions(model);
	progress_begin(model->name, model->relid);
	model_declare_sizes(model, protected, proof);
	rows = train(model, protected, proof, teacher, &definition);
	model_update(model);
	model_store_definition(model->name, definition);
	ledger_forget_memos(model->model_id);
	progress_end();
	ledger_invalidate_leases();
	return rows;
}

/* The number of teachers is for the owner: it says how much of the table has changed. */
static Jsonb *
card_of_version(const ModelRecord *model, RowCounts rows)
{
	Jsonb *card = model_card(model->name);
	char  *more;

	if (!model->mechanism->asks_teachers)
		return card;
	more = psprintf("{\"refitted\": %d}", rows.changed);
	return DatumGetJsonbP(DirectFunctionCall2(
		jsonb_concat, JsonbPGetDatum(card), DirectFunctionCall1(jsonb_in, CStringGetDatum(more))));
}

bool
functions_have_changed(const ModelRecord *model)
{
	ModelRecord now = *model;

	if (model->functions == NULL)
		return false;
	rebind_functions(&now);
	return VARSIZE_ANY(now.functions->digest) != VARSIZE_ANY(model->functions->digest) ||
		   memcmp(VARDATA_ANY(now.functions->digest), VARDATA_ANY(model->functions->digest),
				  VARSIZE_ANY_EXHDR(model->functions->digest)) != 0;
}

static void
retrain(void *argument)
{
	Training   *task = argument;
	List	   *dues = forget_begin_dues(task->model, task->protected);
	ModelRecord before = *task->model;

	task->rows = model_renew(task->model, task->protected, TEACHERS_ALL);
	forget_end_dues(dues, &before, task->model, task->protected->population);
}

Jsonb *
request_retrain(const char *name)
{
	ModelRecord *model = own_model(name);
	ProtectedRelation *protected;
	Training task;

	lock_own_relation(model->relid, AccessShareLock);
	protected = protected_relation_hold(model->relid);
	model = model_get(name); /* as it is now that we need not wait for anybody */
	if (model->relid != protected->relid)
		no_such_model(name);
	(void) before_rows_are_held(protected);
	task = (Training){.model = model, .protected = protected};
	with_rows_held(retrain, &task);
	return card_of_version(model, task.rows);
}

void
request_drop_model(const char *name)
{
	ModelRecord *model = own_model(name);

	ledger_forget_memos(model->model_id);
	model_delete(model);
	forget_dropped(protected_relation_get(model->relid)->population);
	ledger_invalidate_leases();
}
