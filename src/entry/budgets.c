/*
 * budgets.c
 *		budget_entries(): the rows of privpred.budgets.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "entry/entry.h"
#include "ledger/ledger.h"
#include "server/json_text.h"
#include "server/rows.h"
#include "server/session.h"

PG_FUNCTION_INFO_V1(privpred_budget_entries);

static const char *const status_names[] = {
	[BUDGET_ACTIVE] = "active",
	[BUDGET_FROZEN] = "frozen",
	[BUDGET_EXPIRED] = "expired",
	[BUDGET_REVOKED] = "revoked",
	[BUDGET_ROLE_DROPPED] = "role dropped",
	[BUDGET_RELATION_DROPPED] = "relation dropped",
};

static const char *const bound_names[] = {
	[BOUND_ROLE] = "role",		   [BOUND_WINDOW] = "window", [BOUND_LIFETIME] = "lifetime",
	[BOUND_RELATION] = "relation", [BOUND_DELTA] = "delta",	  [BOUND_NONE] = NULL,
};

static void
put_delta(Rows *rows, double delta)
{
	put_datum(rows, DirectFunctionCall1(float8_numeric, Float8GetDatum(delta)));
}

/* An amount as granted, which 0 says there is none of. */
static void
put_limit(Rows *rows, EpsilonUnits limit)
{
	put_if(rows, limit > 0, units_to_numeric(limit));
}

static Datum
answers_json(const LedgerBudget *budget)
{
	StringInfoData json;
	ListCell	  *cell;

	initStringInfo(&json);
	json_open(&json, NULL, '{');
	foreach(cell, budget->answers)
	{
		const LedgerAnswers *answers = lfirst(cell);

		json_literal(&json, answers->model,
					 answers->left == PG_INT64_MAX ? "\"unlimited\""
												   : psprintf(INT64_FORMAT, answers->left));
	}
	json_close(&json, '}');
	return JsonbPGetDatum(json_to_jsonb(json.data));
}

/* Half of delta is spent by conversion, once something is spent at a finite order. */
static double
delta_spent(const Account *account)
{
	bool converts = account->order != RENYI_ORDER_INFINITE && account->spent > 0;

	return account->delta_spent + (converts ? account->delta / 2 : 0);
}

/* Without a delta, what was spent at a finite order has no epsilon: a joined account may have. */
static void
put_spent(Rows *rows, const Account *account, EpsilonUnits units)
{
	EpsilonUnits epsilon = account_epsilon(account, units);

	put_datum(rows,
			  epsilon == PG_INT64_MAX ? infinite_numeric("Infinity") : units_to_numeric(epsilon));
}

static void
put_lifetime(Rows *rows, const Account *account)
{
	if (account->has_window && account->lifetime == 0)
		put_datum(rows, infinite_numeric("Infinity"));
	else
		put_limit(rows, account->has_window ? account->lifetime : account->epsilon);
	put_spent(rows, account, account->spent);
}

static void
put_budget(Rows *rows, const LedgerBudget *budget)
{
	const Account *account = &budget->account;
	double		   share = account_share_spent(account);

	put_if(rows, account->role != CAP_ROLE, ObjectIdGetDatum(account->role));
	put_if(rows, OidIsValid(account->relid), ObjectIdGetDatum(account->relid));
	put_limit(rows, account->epsilon);
	put_delta(rows, account->delta);
	put_spent(rows, account, account_counted(account));
	put_delta(rows, delta_spent(account));
	put_epsilon(rows, budget->epsilon_left);
	put_float8(rows, renyi_order_to_double(account->order));
	put_datum(rows, answers_json(budget));
	put_text(rows, bound_names[budget->bound]);
	put_if(rows, account->valid_until != DT_NOEND, TimestampTzGetDatum(account->valid_until));
	put_if(rows, account->has_window, TimestampTzGetDatum(account->window_end));
	put_text(rows, status_names[budget->status]);
	put_epsilon(rows, budget->reserved);
	put_epsilon(rows, budget->orphaned);
	put_int8(rows, account->account_id);
	put_text(rows, budget->role_name);
	put_text(rows, budget->relation_name);
	put_time(rows, budget->granted_at);
	put_text(rows, budget->granted_by);
	put_float8_if(rows, share >= 0, share);
	put_lifetime(rows, account);
	put_if(rows, account->has_window, IntervalPGetDatum(&account->refresh));
	put_bool(rows, budget->yours);
	rows_next(rows);
}

/* As the current user, who is whoever looks at the view, not its owner. */
Datum
privpred_budget_entries(PG_FUNCTION_ARGS)
{
	Rows	 *rows = rows_begin(fcinfo);
	ListCell *cell;

	foreach(cell, ledger_budgets(asking_role()))
		put_budget(rows, lfirst(cell));
	return (Datum) 0;
}
