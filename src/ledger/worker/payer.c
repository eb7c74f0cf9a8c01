/*
 * payer.c
 *		Which account pays for a purchase, and what prevents it.
 */
#include "postgres.h"

#include "ledger/worker/worker.h"
#include "server/query.h"

const Charge *
payer_charge(const LedgerRequest *request, const Account *payer)
{
	return drawn_charge(&request->finite, &request->infinite, payer);
}

/* How many answers an account can pay for. */
static int64
affordable(const LedgerRequest *request, const Account *account)
{
	return account_affords(account, payer_charge(request, account));
}

Found
payer_groups(Batch *batch, const LedgerRequest *request, List **groups)
{
	ListCell *cell;

	*groups = NIL;
	query_write("SELECT a.role::oid FROM privpred.account a "
				"WHERE a.relation_id = $1 AND a.role NOT IN (0, $2) AND a.revoked_at IS NULL",
				ARG_INT8(request->relation_id), ARG_OID(request->role));
	foreach(cell, rows_oids(1))
	{
		Account *account;

		if (!role_inherits_budget_of(request->role, lfirst_oid(cell)))
			continue;
		if (book_account(batch, request->relation_id, lfirst_oid(cell), &account) == ACCOUNT_LOCKED)
			return ACCOUNT_LOCKED;
		if (account != NULL && account_outcome(account, batch->now) == OUTCOME_GRANTED)
			*groups = lappend(*groups, account);
	}
	return ACCOUNT_FOUND;
}

/* The group budget that buys most, among those that the role inherits. */
static Found
richest_group(Batch *batch, const LedgerRequest *request, Account **richest)
{
	List	 *groups;
	ListCell *cell;

	*richest = NULL;
	if (payer_groups(batch, request, &groups) == ACCOUNT_LOCKED)
		return ACCOUNT_LOCKED;
	foreach(cell, groups)
	{
		Account *account = lfirst(cell);

		if (*richest == NULL || affordable(request, account) > affordable(request, *richest))
			*richest = account;
	}
	return ACCOUNT_FOUND;
}

Found
payer_choose(Batch *batch, const LedgerRequest *request, LedgerReply *reply, Account **payer)
{
	Account *own;
	Account *group;

	if (book_account(batch, request->relation_id, request->role, &own) == ACCOUNT_LOCKED)
		return ACCOUNT_LOCKED;
	reply->outcome = own != NULL ? account_outcome(own, batch->now) : OUTCOME_NO_BUDGET;
	*payer = reply->outcome == OUTCOME_GRANTED ? own : NULL;
	if (*payer != NULL && affordable(request, own) > 0)
		return ACCOUNT_FOUND;

	if (richest_group(batch, request, &group) == ACCOUNT_LOCKED)
		return ACCOUNT_LOCKED;
	if (group != NULL && affordable(request, group) > 0)
	{
		reply->outcome = OUTCOME_GRANTED;
		*payer = group;
		return ACCOUNT_FOUND;
	}
	if (*payer == NULL ||
		(group != NULL && !account_can_pay(*payer, payer_charge(request, *payer))))
		*payer = group;
	if (*payer != NULL)
		reply->outcome = OUTCOME_EXHAUSTED;
	return ACCOUNT_FOUND;
}

static EpsilonUnits
reserved_units(int64 account_id)
{
	query_write(
		"SELECT least(coalesce(sum(o.answers::numeric * CASE WHEN o.account_id = $1 THEN o.charge "
		"ELSE o.cap_charge END), 0), 9223372036854775807)::int8 "
		"FROM privpred.open_lease o WHERE $1 IN (o.account_id, o.cap_id)",
		ARG_INT8(account_id));
	return row_int8(0, 1);
}

void
payer_refuse(LedgerReply *reply, const Account *bound, const Charge *drawn)
{
	EpsilonUnits charge = charge_units(drawn, bound->order);

	reply->paid.account_role = bound->role;
	reply->order = bound->order;
	reply->left = account_left(bound);
	reply->window_end = bound->window_end;
	reply->delta_charge = drawn->delta;
	reply->delta_limit = account_delta_limit(bound);
	reply->delta_spent = bound->delta_spent;
	reply->paid.charge = charge;
	if (!account_can_pay(bound, drawn))
	{
		reply->outcome = OUTCOME_CANNOT_PAY;
		return;
	}
	reply->outcome = OUTCOME_EXHAUSTED;
	if (!account_delta_fits(bound, drawn))
		reply->bound = BOUND_DELTA;
	else if (bound->role == CAP_ROLE)
		reply->bound = BOUND_RELATION;
	else if (!bound->has_window)
		reply->bound = BOUND_ROLE;
	else if (account_lifetime_left(bound) < charge)
	{
		/* Named even if the window is exhausted too: waiting would not help. */
		reply->bound = BOUND_LIFETIME;
		reply->left = account_lifetime_left(bound);
	}
	else
		reply->bound = BOUND_WINDOW;
	reply->reserved = reserved_units(bound->account_id);
}

bool
payer_refuses(LedgerReply *reply, const Account *payer, const Account *cap, const Charge *drawn)
{
	if (reply->outcome == OUTCOME_EXHAUSTED)
		payer_refuse(reply, payer, drawn);
	else if (cap != NULL && account_affords(cap, drawn) == 0)
		payer_refuse(reply, cap, drawn);
	else
		return false;
	return true;
}

void
payer_pay(Account *payer, Account *cap, const Charge *drawn, int64 times, LedgerEntry *entry)
{
	EpsilonUnits none;

	/* A delta comes with one purchase at a time, and is never returned. */
	entry->delta = drawn->delta;
	entry->units = account_debit(payer, drawn, times, &entry->window_units);
	book_describe(entry, payer);
	if (cap != NULL)
	{
		entry->cap_id = cap->account_id;
		entry->cap_units = account_debit(cap, drawn, times, &none);
	}
}
