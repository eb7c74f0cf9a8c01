/*
 * forget.c
 *		forget: a unit out of every model of its relation, in one transaction.
 *
 * A unit is in one chunk, and a chunk has one teacher; so that teacher alone is
 * fitted again, on the rows that its chunk has now, and the others stay as they
 * are, byte for byte.  Every model gets a new version, whether the unit had rows or
 * not: that it had is nobody's business.  The new versions and the certificate's entry
 * for the ledger are written together, so that after a crash there are all or none.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "ledger/ledger.h"
#include "request/forget.h"

typedef struct Forgetting
{
	const ForgetRequest *request;
	bool				 later; /* at the next retraining of each model */
	ProtectedRelation  **relations;
	int					 nrelations;
	int					 named;		  /* the one of them that was */
	UnitValue		   **units;		  /* in each of them */
	Certificate			*certificate; /* NULL: a dry run */
	Jsonb				*document;
	StringInfoData		 answer; /* models, for the owner */
	StringInfoData		 stays;	 /* what cannot be recalled */
	bool				 due;
} Forgetting;

static bool
is_later(const char *at)
{
	if (strcmp(at, "now") != 0 && strcmp(at, "next retrain") != 0)
		refuse(errmsg("a unit cannot be forgotten at \"%s\"", at),
			   errhint("Use 'now' or 'next retrain'."));
	return strcmp(at, "now") != 0;
}

/* ---------- the relations, and the unit's rows in them ---------- */

/* Nobody trains a model or makes one while its relation is seized. */
static void
seize_relations(Forgetting *task)
{
	const ForgetRequest *request = task->request;
	int64				 population = protected_relation_get(request->relid)->population;
	List				*relids = population_protected(population);
	ListCell			*cell;

	check_population_owner(population);
	task->relations = palloc_array(ProtectedRelation *, list_length(relids));
	task->units = palloc_array(UnitValue *, list_length(relids));
	foreach(cell, relids)
	{
		Oid relid = lfirst_oid(cell);
		ProtectedRelation *protected;

		lock_own_relation(relid, request->delete_rows ? RowExclusiveLock : AccessShareLock);
		protected =
			request->dry_run ? protected_relation_get(relid) : protected_relation_seize(relid);
		check_unit_columns(protected);
		if (!request->dry_run && models_of_relation(protected->relation_id) != NIL)
			(void) before_rows_are_held(protected);
		if (relid == request->relid)
			task->named = task->nrelations;
		task->relations[task->nrelations] = protected;
		task->units[task->nrelations++] = unit_value(protected, request->unit);
	}
}

/* From the last that was protected on: it may refer to those before. */
static int64
delete_rows(Forgetting *task)
{
	int64 rows = 0;

	for (int i = task->nrelations - 1; i >= 0; i--)
		rows += unit_delete(task->relations[i], task->units[i]);
	return rows;
}

static int64
count_rows(const Forgetting *task)
{
	int64 rows = 0;

	for (int i = 0; i < task->nrelations; i++)
		rows += unit_rows(task->relations[i], task->units[i]);
	return rows;
}

/* A certificate that is given while rows of the unit are there would not be true. */
static void
check_no_rows(const Forgetting *task)
{
	for (int i = 0; i < task->nrelations; i++)
	{
		int64 rows = unit_rows(task->relations[i], task->units[i]);

		if (rows > 0)
			ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("the unit still has " INT64_FORMAT " rows in relation \"%s\"", rows,
						   get_rel_name(task->relations[i]->relid)),
					errhint("Delete them first, or pass delete_rows => true."));
	}
}

/* ---------- models ---------- */

static void
append_item(StringInfo list, const char *json)
{
	appendStringInfo(list, "%s%s", list->len > 1 ? ", " : "", json);
}

/* Functions of an owner that have changed since would fit the others differently. */
static bool
can_fit_one(const ModelRecord *model)
{
	return model->mechanism->asks_teachers && teacher_chunks_read(model) != NULL &&
		   !functions_have_changed(model);
}

static void
tell_owner(Forgetting *task, const Renewal *renewal)
{
	const ModelRecord *after = renewal->after ? renewal->after : renewal->before;
	StringInfoData	   json;

	initStringInfo(&json);
	appendStringInfoString(&json, "{\"model\": ");
	escape_json(&json, renewal->before->name);
	appendStringInfo(&json, ", \"version_before\": %d", renewal->before->version);
	if (!task->request->dry_run)
		appendStringInfo(&json, ", \"version_after\": %d", after->version);
	appendStringInfoString(&json, ", \"how\": ");
	escape_json(&json, task->due && renewal->after == NULL && renewal->teacher != TEACHERS_NONE
						   ? "when it is retrained next"
						   : renewal_how(renewal));
	appendStringInfoChar(&json, '}');
	append_item(&task->answer, json.data);
}

static void
forget_in_model(Forgetting *task, int relation, const char *name)
{
	const ProtectedRelation *protected = task->relations[relation];
	const UnitValue *unit = task->units[relation];
	ModelRecord		*before = model_get(name);
	ModelRecord		*after = palloc_object(ModelRecord);
	Renewal			 renewal = {.before = before, .teacher = unit_teacher_of(before, unit)};

	if (before->mechanism->makes_students)
	{
		StringInfoData student;

		initStringInfo(&student);
		appendStringInfoString(&student, "{\"what\": \"student\", \"model\": ");
		escape_json(&student, name);
		appendStringInfo(&student, ", \"version\": %d}", before->version);
		append_item(&task->stays, student.data);
		return;
	}
	*after = *before;
	/* Which teacher saw the unit, or whether it was held out, is not known any more. */
	if (definition_has_changed(before, protected))
		renewal.teacher = TEACHERS_ALL;
	renewal.one = renewal.teacher >= 0 && can_fit_one(before);
	if (task->certificate != NULL && renewal.teacher != TEACHERS_NONE && task->later)
	{
		forget_later(task->certificate, before, protected, unit, renewal.teacher);
		task->due = true;
	}
	else if (task->certificate != NULL && renewal.teacher != TEACHERS_NONE)
	{
		(void) model_renew(after, protected, renewal.one ? renewal.teacher : TEACHERS_ALL);
		renewal.after = after;
	}
	if (task->certificate != NULL && task->later && renewal.teacher == TEACHERS_NONE)
		forget_later(task->certificate, before, protected, unit, renewal.teacher);
	if (task->certificate != NULL && (renewal.after != NULL || renewal.teacher == TEACHERS_NONE))
		task->document =
			certificate_with_model(task->document, renewal_json(task->certificate, &renewal));
	tell_owner(task, &renewal);
}

static void
forget_in_models(Forgetting *task)
{
	for (int i = 0; i < task->nrelations; i++)
	{
		ListCell *cell;

		foreach(cell, models_of_relation(task->relations[i]->relation_id))
			forget_in_model(task, i, lfirst(cell));
	}
}

/* ---------- the certificate ---------- */

static Datum
jsonb_of_text(const char *json)
{
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json));
}

/* Students, which are found on the way, join what was told of the relations for good. */
static void
find_what_stays(Forgetting *task)
{
	Jsonb *list = ledger_public(population_numbers(task->relations[task->named]->population));

	for (uint32 i = 0; i < JB_ROOT_COUNT(list); i++)
	{
		Jsonb *one = JsonbValueToJsonb(getIthJsonbValueFromContainer(&list->root, i));

		append_item(&task->stays, JsonbToCString(NULL, &one->root, VARSIZE_ANY_EXHDR(one)));
	}
}

/* Within the document, in place of nothing. */
static void
set_stays(Forgetting *task)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfo(&json, "{\"stays\": %s}", task->stays.data);
	task->document = DatumGetJsonbP(DirectFunctionCall2(
		jsonb_concat, JsonbPGetDatum(task->document), jsonb_of_text(json.data)));
}

/* The certificate is complete, or waits for models that are due. */
static void
write_certificate(Forgetting *task)
{
	set_stays(task);
	if (task->due)
		(void) certificate_write(task->certificate, task->document, false);
	else
	{
		certificate_complete(task->certificate, task->document);
		forget_dues_end(task->certificate->certificate_id);
	}
}

static Jsonb *
answer_owner(const Forgetting *task, int64 rows)
{
	StringInfoData result;

	initStringInfo(&result);
	appendStringInfo(&result, "{\"%s\": " INT64_FORMAT,
					 task->request->dry_run ? "rows" : "rows_deleted", rows);
	if (task->certificate != NULL)
		appendStringInfo(&result, ", \"certificate\": " INT64_FORMAT,
						 task->certificate->certificate_id);
	appendStringInfo(&result, ", \"models\": %s, \"stays\": %s}", task->answer.data,
					 task->stays.data);
	return DatumGetJsonbP(jsonb_of_text(result.data));
}

/* With the rows held that a certificate is true of. */
static void
forget_unit(void *argument)
{
	Forgetting *task = argument;

	initStringInfo(&task->answer);
	initStringInfo(&task->stays);
	appendStringInfoChar(&task->answer, '[');
	appendStringInfoChar(&task->stays, '[');
	if (!task->request->dry_run)
	{
		const ProtectedRelation *named = task->relations[task->named];
		const UnitValue			*unit = task->units[task->named];

		check_no_rows(task);
		task->certificate =
			certificate_begin(named->relation_id, unit->n, unit->types, unit->typmods);
		task->document =
			DatumGetJsonbP(jsonb_of_text(certificate_document(task->certificate, named, unit)));
	}
	forget_in_models(task);
	find_what_stays(task);
	appendStringInfoChar(&task->answer, ']');
	appendStringInfoChar(&task->stays, ']');
	if (task->certificate != NULL)
		write_certificate(task);
}

Jsonb *
request_forget(const ForgetRequest *request)
{
	Forgetting task = {.request = request};
	int64	   rows = 0;

	check_relation_owner(request->relid);
	task.later = is_later(request->at);
	seize_relations(&task);
	if (request->dry_run)
		rows = count_rows(&task);
	else if (request->delete_rows)
		rows = delete_rows(&task);
	CommandCounterIncrement();
	with_rows_held(forget_unit, &task);
	return answer_owner(&task, rows);
}

/* ---------- an index by teacher ---------- */

char *
request_chunk_index(const char *name)
{
	ModelRecord *model = own_model(name);
	ProtectedRelation *protected = protected_relation_get(model->relid);
	char		   salt[2 * MODEL_SALT_LENGTH + 1];
	StringInfoData columns;

	if (!model->mechanism->asks_teachers || model->mechanism->makes_students)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("model \"%s\" has no teachers that saw rows", name),
				errhint("An index serves models of mechanisms that ask teachers."));
	if (get_rel_relkind(model->relid) == RELKIND_VIEW)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("a view cannot have an index"),
				errhint("The tables under it can, for models of theirs."));
	check_unit_columns(protected);
	salt[hex_encode(model->salt, MODEL_SALT_LENGTH, salt)] = '\0';
	initStringInfo(&columns);
	for (int i = 0; i < protected->nunits; i++)
		appendStringInfo(&columns, "%s%s", i > 0 ? ", " : "",
						 quote_identifier(protected->unit_columns[i]));
	return psprintf(
		"CREATE INDEX ON %s (privpred.teacher_of(%s%s%s, '\\x%s'::pg_catalog.bytea, %d))",
		relation_sql_name(model->relid), protected->nunits > 1 ? "ROW(" : "", columns.data,
		protected->nunits > 1 ? ")" : "", salt, model->spec.teachers);
}
