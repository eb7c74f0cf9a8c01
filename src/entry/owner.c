/*
 * owner.c
 *		What the owner of a table calls.
 */
#include "postgres.h"

#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "commands/user.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "catalog/store.h"
#include "entry/entry.h"
#include "ledger/ledger.h"
#include "request/request.h"

PG_FUNCTION_INFO_V1(privpred_protect);
PG_FUNCTION_INFO_V1(privpred_unprotect);
PG_FUNCTION_INFO_V1(privpred_create_model);
PG_FUNCTION_INFO_V1(privpred_retrain);
PG_FUNCTION_INFO_V1(privpred_drop_model);
PG_FUNCTION_INFO_V1(privpred_distill);
PG_FUNCTION_INFO_V1(privpred_export_model);
PG_FUNCTION_INFO_V1(privpred_littlestone_dimension);
PG_FUNCTION_INFO_V1(privpred_begin_population);
PG_FUNCTION_INFO_V1(privpred_on_sql_drop);
PG_FUNCTION_INFO_V1(privpred_on_rename);
PG_FUNCTION_INFO_V1(privpred_on_drop_owned);

static bool
protects_labels(const char *protects)
{
	if (strcmp(protects, "labels") != 0 && strcmp(protects, "rows") != 0)
		refuse(errmsg("cannot protect \"%s\"", protects),
			   errhint("Use protects => 'rows' (the default) or 'labels'."));
	return strcmp(protects, "labels") == 0;
}

static int64
positive_or_none(FunctionCallInfo fcinfo, int number, const char *name, int64 value)
{
	if (PG_ARGISNULL(number))
		return 0;
	if (value < 1)
		refuse(errmsg("%s must be positive", name),
			   errhint("Leave it out if nothing is to be declared."));
	return value;
}

/*
 * protect(relation, unit, protects, declared_units, max_rows_per_unit, epsilon_cap, delta_cap,
 * force, same_units_as, public_tables)
 */
Datum
privpred_protect(PG_FUNCTION_ARGS)
{
	ProtectOptions options = {0};
	LedgerGrant	   cap = {.role = InvalidOid};
	bool		   set_cap;

	require_arguments(fcinfo, "relation", "", "protects");
	PreventCommandIfReadOnly("privpred.protect()");
	options.unit = PG_ARGISNULL(1) ? NULL : NameStr(*PG_GETARG_NAME(1));
	options.protects_labels = protects_labels(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	options.declared_units = positive_or_none(fcinfo, 3, "declared_units", PG_GETARG_INT64(3));
	options.max_rows_per_unit =
		positive_or_none(fcinfo, 4, "max_rows_per_unit", PG_GETARG_INT32(4));
	/* Infinity takes a cap away. */
	set_cap = !PG_ARGISNULL(5);
	if (set_cap && PG_GETARG_FLOAT8(5) != get_float8_infinity())
		cap.epsilon = read_epsilon(PG_GETARG_FLOAT8(5), EPSILON_MAX, "epsilon_cap");
	cap.has_delta = !PG_ARGISNULL(6);
	cap.delta = cap.has_delta ? PG_GETARG_FLOAT8(6) : 0;
	check_delta(cap.delta, "delta_cap");
	check_delta_is_small(cap.delta, "delta_cap", !PG_ARGISNULL(7) && PG_GETARG_BOOL(7));
	if (cap.has_delta && cap.epsilon == 0)
		refuse(errmsg("delta_cap needs epsilon_cap"), errhint("Give both, or neither."));
	/* The function of 0.1.0 has no more, until the extension is updated. */
	if (PG_NARGS() > 8 && !PG_ARGISNULL(8))
	{
		options.same_units_as = PG_GETARG_OID(8);
		(void) relation_sql_name(options.same_units_as); /* does it exist? */
	}
	if (PG_NARGS() > 9 && !PG_ARGISNULL(9))
		options.public_tables = PG_GETARG_ARRAYTYPE_P(9);
	request_protect(PG_GETARG_OID(0), &options, set_cap ? &cap : NULL);
	PG_RETURN_VOID();
}

Datum
privpred_unprotect(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("privpred.unprotect()");
	request_unprotect(PG_GETARG_OID(0));
	PG_RETURN_VOID();
}

/*
 * create_model(name, relation, label, features, classes, mechanism, learner,
 * teachers, epsilon, options, holdout)
 */
Datum
privpred_create_model(PG_FUNCTION_ARGS)
{
	CreateModelRequest request;

	require_arguments(fcinfo, "name", "relation", "label", "features", "", "mechanism", "learner",
					  "teachers", "epsilon", "options", "holdout");
	PreventCommandIfReadOnly("privpred.create_model()");
	request.name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	request.relid = PG_GETARG_OID(1);
	request.label = NameStr(*PG_GETARG_NAME(2));
	request.features = PG_GETARG_DATUM(3);
	request.classes = PG_ARGISNULL(4) ? NULL : PG_GETARG_ARRAYTYPE_P(4);
	request.mechanism = text_to_cstring(PG_GETARG_TEXT_PP(5));
	request.learner = text_to_cstring(PG_GETARG_TEXT_PP(6));
	request.teachers = PG_GETARG_INT32(7);
	request.epsilon = PG_GETARG_FLOAT8(8);
	request.options = PG_GETARG_JSONB_P(9);
	request.holdout = PG_GETARG_FLOAT8(10);
	PG_RETURN_JSONB_P(request_create_model(&request));
}

Datum
privpred_retrain(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("privpred.retrain()");
	PG_RETURN_JSONB_P(request_retrain(text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

Datum
privpred_drop_model(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("privpred.drop_model()");
	request_drop_model(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}

/* distill(student, teacher, public_relation, learner, labels, options) */
Datum
privpred_distill(PG_FUNCTION_ARGS)
{
	DistillRequest request;

	require_arguments(fcinfo, "student", "teacher", "public_relation", "learner", "", "options");
	PreventCommandIfReadOnly("privpred.distill()");
	request.student = text_to_cstring(PG_GETARG_TEXT_PP(0));
	request.teacher = text_to_cstring(PG_GETARG_TEXT_PP(1));
	request.public_relation = PG_GETARG_OID(2);
	request.learner = text_to_cstring(PG_GETARG_TEXT_PP(3));
	request.labels = positive_or_none(fcinfo, 4, "labels", PG_GETARG_INT64(4));
	request.options = PG_GETARG_JSONB_P(5);
	PG_RETURN_JSONB_P(request_distill(&request));
}

Datum
privpred_export_model(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(request_export(text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

Datum
privpred_littlestone_dimension(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(request_littlestone_dimension(PG_GETARG_OID(0)));
}

/* Before a protected relation is inserted: one that joins no other is the first of its own. */
Datum
privpred_begin_population(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BY_INSERT(data->tg_event) ||
		!TRIGGER_FIRED_BEFORE(data->tg_event) || !TRIGGER_FIRED_FOR_ROW(data->tg_event))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("this function must be called before rows are inserted"));
	PG_RETURN_POINTER(population_begin(data->tg_relation, data->tg_trigtuple));
}

static EventTriggerData *
event_trigger_data(FunctionCallInfo fcinfo)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("function is not called by the event trigger manager"),
				errhint("The extension's own event trigger calls it."));
	return (EventTriggerData *) fcinfo->context;
}

/* Fires after any DROP in the database. */
Datum
privpred_on_sql_drop(PG_FUNCTION_ARGS)
{
	(void) event_trigger_data(fcinfo);
	request_forget_dropped_relations();
	PG_RETURN_VOID();
}

Datum
privpred_on_rename(PG_FUNCTION_ARGS)
{
	(void) event_trigger_data(fcinfo);
	request_note_names();
	PG_RETURN_VOID();
}

/*
 * Fires after DROP OWNED BY.  As with other privileges, it ends nothing unless the
 * caller has the rights of the budgets' owner.
 */
Datum
privpred_on_drop_owned(PG_FUNCTION_ARGS)
{
	Node	 *statement = event_trigger_data(fcinfo)->parsetree;
	ListCell *cell;

	if (!IsA(statement, DropOwnedStmt) || !has_privs_of_role(GetUserId(), catalog_owner()))
		PG_RETURN_VOID();
	foreach(cell, roleSpecsToIds(((DropOwnedStmt *) statement)->roles))
		ledger_disown(lfirst_oid(cell));
	PG_RETURN_VOID();
}
