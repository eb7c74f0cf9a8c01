/*
 * budget.c
 *		SQL entry points of budgets and their ledger.
 */
#include "postgres.h"

#include <math.h>

#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "catalog/store.h"
#include "entry/entry.h"
#include "ledger/ledger.h"
#include "request/foresee.h"
#include "request/request.h"

PG_FUNCTION_INFO_V1(privpred_grant_budget);
PG_FUNCTION_INFO_V1(privpred_revoke_budget);
PG_FUNCTION_INFO_V1(privpred_cost);
PG_FUNCTION_INFO_V1(privpred_cost_of);
PG_FUNCTION_INFO_V1(privpred_verify_ledger);
PG_FUNCTION_INFO_V1(privpred_adopt_ledger);
PG_FUNCTION_INFO_V1(privpred_forgive_lease);
PG_FUNCTION_INFO_V1(privpred_set_ceiling);
PG_FUNCTION_INFO_V1(privpred_ledger_incarnation);
PG_FUNCTION_INFO_V1(privpred_append_only);

/* Zero ends refreshing. */
static void
read_refresh(const Interval *refresh, LedgerGrant *grant)
{
	grant->has_refresh = true;
	grant->refresh = *refresh;
	if (refresh->month != 0 || refresh->day != 0 || refresh->time != 0)
		check_refresh(refresh);
}

/* Infinity ends a limit. */
static void
read_lifetime(double epsilon, LedgerGrant *grant)
{
	grant->has_lifetime = true;
	if (!isinf(epsilon) || epsilon < 0)
		grant->lifetime = read_epsilon(epsilon, EPSILON_MAX, "lifetime_epsilon");
}

static void
read_valid_until(TimestampTz valid_until, LedgerGrant *grant)
{
	grant->has_valid_until = true;
	grant->valid_until = valid_until;
	if (valid_until <= GetCurrentTimestamp())
		refuse(errmsg("valid_until must be in the future"),
			   errhint("To end a budget now, use privpred.revoke_budget()."));
}

/*
 * grant_budget(role, relation, epsilon, delta, valid_until, refresh, lifetime_epsilon,
 *				per_answer, force)
 */
Datum
privpred_grant_budget(PG_FUNCTION_ARGS)
{
	LedgerGrant grant = {0};
	ProtectedRelation *protected;
	Oid relation;

	require_argument(fcinfo, 0, "role");
	require_argument(fcinfo, 1, "relation");
	require_argument(fcinfo, 2, "epsilon");
	PreventCommandIfReadOnly("privpred.grant_budget()");
	grant.role = PG_GETARG_OID(0);
	relation = PG_GETARG_OID(1);

	lock_own_relation(relation, AccessShareLock);
	(void) GetUserNameFromId(grant.role, false); /* does it exist? */
	protected = protected_relation_hold(relation);
	check_population_owner(protected->population);
	grant.relation_id = protected->population;
	grant.declared_units = protected->declared_units;
	grant.epsilon = read_epsilon(PG_GETARG_FLOAT8(2), EPSILON_MAX, "epsilon");
	grant.has_delta = !PG_ARGISNULL(3);
	grant.delta = grant.has_delta ? PG_GETARG_FLOAT8(3) : 0;
	check_delta(grant.delta, "delta");
	check_delta_is_small(grant.delta, "delta", !PG_ARGISNULL(8) && PG_GETARG_BOOL(8));
	if (!PG_ARGISNULL(4))
		read_valid_until(PG_GETARG_TIMESTAMPTZ(4), &grant);
	if (!PG_ARGISNULL(5))
		read_refresh(PG_GETARG_INTERVAL_P(5), &grant);
	if (!PG_ARGISNULL(6))
		read_lifetime(PG_GETARG_FLOAT8(6), &grant);
	if (!PG_ARGISNULL(7))
		grant.per_answer = read_epsilon(PG_GETARG_FLOAT8(7), EPSILON_PER_ANSWER_MAX, "per_answer");
	ledger_grant(&grant);
	PG_RETURN_VOID();
}

Datum
privpred_revoke_budget(PG_FUNCTION_ARGS)
{
	Oid relation;

	require_argument(fcinfo, 0, "role");
	require_argument(fcinfo, 1, "relation");
	PreventCommandIfReadOnly("privpred.revoke_budget()");
	relation = PG_GETARG_OID(1);
	check_relation_owner(relation);
	ledger_revoke(protected_relation_get(relation)->population, PG_GETARG_OID(0));
	PG_RETURN_VOID();
}

/* cost(model, answers) */
Datum
privpred_cost(PG_FUNCTION_ARGS)
{
	char	   *model = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int64		answers = PG_GETARG_INT64(1);
	LedgerQuote quote;
	Rows	   *row = row_begin(fcinfo);

	if (answers < 1)
		refuse(errmsg("answers must be at least 1"),
			   errhint("Give the number of questions that you intend to ask."));
	quote = request_quote(model, answers);
	if (!quote.has_account)
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("role \"%s\" has no privacy budget for model \"%s\"",
					   GetUserNameFromId(asking_role(), false), model),
				errhint("See privpred.models and privpred.budgets."));

	put_datum(row, quote.can_pay ? units_to_numeric(quote.cost) : infinite_numeric("Infinity"));
	put_datum(row, DirectFunctionCall1(float8_numeric, Float8GetDatum(quote.delta)));
	put_datum(row,
			  quote.can_pay ? units_to_numeric(quote.left_after) : infinite_numeric("-Infinity"));
	put_bool(row, answers <= quote.answers_left);
	put_int8_if(row, quote.answers_left != PG_INT64_MAX, quote.answers_left);
	PG_RETURN_DATUM(row_end(row));
}

/* cost_of(statement) */
Datum
privpred_cost_of(PG_FUNCTION_ARGS)
{
	Rows	 *rows = rows_begin(fcinfo);
	ListCell *cell;

	foreach(cell, request_cost_of(text_to_cstring(PG_GETARG_TEXT_PP(0))))
	{
		const StatementCost *cost = lfirst(cell);
		bool				 priced = cost->model != NULL && cost->kind != CHARGE_PER_STREAM;
		bool				 paid = priced && cost->quote.has_account;

		put_text(rows, cost->model);
		put_int8(rows, (int64) cost->answers);
		put_if(rows, paid,
			   cost->quote.can_pay ? units_to_numeric(cost->quote.cost)
								   : infinite_numeric("Infinity"));
		put_if(rows, paid, DirectFunctionCall1(float8_numeric, Float8GetDatum(cost->quote.delta)));
		put_int8_if(rows, priced, cost->quote.answers_left);
		put_if(rows, priced, BoolGetDatum(cost->fits));
		put_text(rows, cost->model == NULL ? "The model is known once the statement runs."
					   : !priced		   ? "Answers come through a stream, which is bought first."
					   : cost->unsure ? "The planner guesses a number of rows; ANALYZE new tables."
									  : NULL);
		rows_next(rows);
	}
	return (Datum) 0;
}

/* verify_ledger(expected_head, incremental) */
Datum
privpred_verify_ledger(PG_FUNCTION_ARGS)
{
	const uint8	 *expected = NULL;
	LedgerVerdict verdict;
	Rows		 *row = row_begin(fcinfo);
	bytea		 *head = palloc(VARHDRSZ + sizeof(verdict.head));

	check_insider();
	if (!PG_ARGISNULL(0))
	{
		bytea *given = PG_GETARG_BYTEA_PP(0);

		if (VARSIZE_ANY_EXHDR(given) != sizeof(verdict.head))
			refuse(errmsg("a head of the ledger has %d bytes", (int) sizeof(verdict.head)),
				   errhint("Give it as \\x followed by the digits of the server log."));
		expected = (uint8 *) VARDATA_ANY(given);
	}

	verdict = ledger_verify(expected, !PG_ARGISNULL(1) && PG_GETARG_BOOL(1));
	/* A head that was never there proves nothing, unless it comes from who keeps them. */
	if (expected == NULL || verdict.problem == NULL || superuser())
		ledger_note_verification(verdict.problem == NULL);
	SET_VARSIZE(head, VARHDRSZ + sizeof(verdict.head));
	memcpy(VARDATA(head), verdict.head, sizeof(verdict.head));
	put_bool(row, verdict.problem == NULL);
	put_text(row, verdict.problem);
	put_int8_if(row, verdict.entry != 0, verdict.entry);
	put_datum(row, PointerGetDatum(head));
	put_int8(row, verdict.entries);
	put_int4(row, verdict.frozen_accounts);
	put_int4(row, verdict.orphaned_leases);
	PG_RETURN_DATUM(row_end(row));
}

Datum
privpred_adopt_ledger(PG_FUNCTION_ARGS)
{
	if (!superuser())
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("only superusers can adopt a ledger"));
	ledger_adopt();
	PG_RETURN_VOID();
}

/* set_ceiling(role, answers); no role: all of them, no answers: no ceiling */
Datum
privpred_set_ceiling(PG_FUNCTION_ARGS)
{
	Oid	  role = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	int64 answers = PG_ARGISNULL(1) ? PG_INT64_MAX : PG_GETARG_INT64(1);

	if (!superuser())
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("only superusers can set ceilings"));
	if (OidIsValid(role) && answers != PG_INT64_MAX)
		(void) GetUserNameFromId(role, false); /* does it exist? */
	if (answers < 0)
		refuse(errmsg("answers must not be negative"), errhint("Give NULL to remove a ceiling."));
	ledger_set_ceiling(role, answers);
	PG_RETURN_VOID();
}

Datum
privpred_forgive_lease(PG_FUNCTION_ARGS)
{
	int64 lease = PG_GETARG_INT64(0);
	bool  owned;
	bool  found = ledger_lease_is_owned(lease, GetUserId(), &owned);

	/* Others do not learn whether there is one. */
	if (!superuser() && !owned)
		ereport(
			ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			errmsg("must be owner of the relation of lease " INT64_FORMAT, lease),
			errhint(
				"See privpred.leases. Once the relation is dropped, a superuser can forgive its "
				"leases."));
	if (!found)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("lease " INT64_FORMAT " is not open", lease),
				errhint("See privpred.leases."));
	ledger_forgive(lease);
	PG_RETURN_VOID();
}

Datum
privpred_ledger_incarnation(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(ledger_incarnation());
}

/* A guard against accidents; a superuser can disable the trigger, and verify_ledger tells. */
Datum
privpred_append_only(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("this function must be called as a trigger"));
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("entries of the privacy ledger cannot be changed or removed"));
	PG_RETURN_NULL();
}
