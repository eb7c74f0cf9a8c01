/*
 * forget_due.c
 *		Forgetting at the next retraining.
 *
 * Until then a unit is known by its mark alone, a hash of the bytes that stood for it.  A
 * certificate is completed when every model about these units was trained, or dropped, after
 * the unit was to be forgotten, and was trained on rows among which there was no such mark.
 * Where that cannot be told it stays incomplete: if ids are encoded otherwise by then; if a
 * model was created meanwhile, or came with a relation that joined the others.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/lsyscache.h"

#include "catalog/store.h"
#include "request/forget.h"

void
forget_later(const Certificate *certificate, const ModelRecord	 *model,
			 const ProtectedRelation *protected, const UnitValue *unit, int teacher)
{
	uint8	  salt[TEACHER_SALT_BYTES];
	ForgetDue due = {.certificate_id = certificate->certificate_id,
					 .model_id = model->model_id,
					 .teacher = teacher,
					 .encoding = unit_encoding(protected),
					 .done = teacher == TEACHERS_NONE};

	certificate_mark_salt(certificate, salt);
	due.mark = (int64) unit_hash_columns(unit->hasher, unit->values, salt);
	forget_due_write(&due);
}

static void
warn_incomplete(const ModelRecord *model, const ForgetDue *due, const char *problem,
				const char *hint)
{
	if (owner_listens(model))
		ereport(WARNING, errmsg(problem, get_rel_name(model->relid)),
				errdetail("Certificate " INT64_FORMAT " stays incomplete.", due->certificate_id),
				errhint("%s", hint));
}

/* Does the model learn from rows among which the unit is certainly not? */
static bool
is_absent(const ModelRecord *model, const ProtectedRelation *protected, const ForgetDue *due,
		  const Certificate *certificate, int teacher)
{
	uint8 salt[TEACHER_SALT_BYTES];

	if (strcmp(due->encoding, unit_encoding(protected)) != 0)
	{
		warn_incomplete(model, due,
						"ids of relation \"%s\" are of another type than when a unit was to be "
						"forgotten",
						"Forget the unit anew, or give the ids their type back and retrain.");
		return false;
	}
	certificate_mark_salt(certificate, salt);
	if (unit_is_marked(model, protected, salt, due->mark, teacher))
	{
		warn_incomplete(model, due,
						"a unit that was to be forgotten has rows again in relation \"%s\"",
						"Delete them and retrain, or forget the unit anew.");
		return false;
	}
	return true;
}

List *
forget_begin_dues(const ModelRecord *model, const ProtectedRelation *protected)
{
	List	 *dues = NIL;
	ListCell *cell;

	foreach(cell, forget_dues(model->model_id, protected->population))
	{
		ForgetDue	*due = lfirst(cell);
		Certificate *certificate = certificate_get(due->certificate_id);

		if (model->model_id == 0 || definition_has_changed(model, protected))
			due->teacher = TEACHERS_ALL;
		if (certificate != NULL && is_absent(model, protected, due, certificate, due->teacher))
			dues = lappend(dues, due);
	}
	return dues;
}

/* Those that need not wait any longer. */
static void
complete_certificates(int64 population)
{
	ListCell *cell;

	foreach(cell, open_certificates(population))
	{
		int64 number = *(int64 *) lfirst(cell);

		if (forget_waits_for(number) == NIL)
		{
			const Certificate *certificate = certificate_get(number);

			certificate_complete(certificate, certificate->document);
			forget_dues_end(number);
		}
	}
}

void
forget_end_dues(List *dues, const ModelRecord *before, const ModelRecord *after, int64 population)
{
	ListCell *cell;

	foreach(cell, dues)
	{
		ForgetDue	*due = lfirst(cell);
		Certificate *certificate = certificate_get(due->certificate_id);
		Renewal		 renewal = {
				 .before = before ? before : after, .after = after, .teacher = due->teacher};

		due->model_id = after->model_id;
		due->done = true;
		forget_due_write(due);
		(void) certificate_write(
			certificate,
			certificate_with_model(certificate->document, renewal_json(certificate, &renewal)),
			false);
	}
	if (dues != NIL)
		complete_certificates(population);
}

void
forget_dropped(int64 population)
{
	forget_dues_of_dropped();
	complete_certificates(population);
}
