/*
 * release.c
 *		Versions of models that are charged once.
 *
 * What training drew is released to whoever pays for it, and then answers for
 * nothing.  An account pays once.  The cap of a relation counts what all
 * roles together hold, in which the draw is there once, however many of them
 * pay; so it pays with the first of them and never again.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "catalog/by_id.h"
#include "ledger/worker/worker.h"
#include "server/query.h"

#define EVERYBODY 0 /* in the place of an account: it was exported */

static bool
has_paid(int64 account_id, const LedgerRequest *request)
{
	static SPIPlanPtr plan = NULL;

	query_kept(&plan,
			   "SELECT FROM privpred.release r WHERE r.account_id = $1 AND r.training_id = $2",
			   ARG_INT8(account_id), ARG_INT8(request->training_id));
	return SPI_processed > 0;
}

/* Charges are kept for those who come after an export. */
static void
mark_paid(Batch *batch, int64 account_id, const LedgerRequest *request)
{
	static SPIPlanPtr plan = NULL;
	const ModelSale	 *model = model_sale(request->model_id);
	const char		 *name = model != NULL ? model->name : NULL;
	char			  finite[CHARGE_TEXT_SIZE];
	char			  infinite[CHARGE_TEXT_SIZE];

	query_kept(&plan,
			   "INSERT INTO privpred.release (account_id, training_id, relation_id, model_id, "
			   "model, version, at, charge, pure_charge) "
			   "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
			   ARG_INT8(account_id), ARG_INT8(request->training_id), ARG_INT8(request->relation_id),
			   ARG_INT8(request->model_id), ARG_TEXT(name), ARG_INT4(request->version),
			   ARG_TIME(batch->now), ARG_TEXT(charge_to_text(&request->finite, finite)),
			   ARG_TEXT(charge_to_text(&request->infinite, infinite)));
}

/* An account of the role or of its groups that has paid already; NULL: none. */
static Found
find_paid(Batch *batch, const LedgerRequest *request, Account **payer)
{
	Account	 *own;
	List	 *groups;
	ListCell *cell;

	*payer = NULL;
	if (book_account(batch, request->relation_id, request->role, &own) == ACCOUNT_LOCKED)
		return ACCOUNT_LOCKED;
	if (own != NULL && account_outcome(own, batch->now) == OUTCOME_GRANTED &&
		has_paid(own->account_id, request))
	{
		*payer = own;
		return ACCOUNT_FOUND;
	}
	if (payer_groups(batch, request, &groups) == ACCOUNT_LOCKED)
		return ACCOUNT_LOCKED;
	foreach(cell, groups)
	{
		Account *group = lfirst(cell);

		if (*payer == NULL && has_paid(group->account_id, request))
			*payer = group;
	}
	return ACCOUNT_FOUND;
}

/* How entries name what was drawn. */
static char *
training_text(const LedgerRequest *request)
{
	return psprintf("training " INT64_FORMAT, request->training_id);
}

/* Charges an account, and the cap unless it has paid; false: refused. */
static bool
charge_release(Batch *batch, const LedgerRequest *request, LedgerReply *reply, Account *payer,
			   Account *cap)
{
	const Charge *drawn = payer_charge(request, payer);
	LedgerEntry	  entry = {0};

	if (cap != NULL && has_paid(cap->account_id, request))
		cap = NULL;
	if (payer_refuses(reply, payer, cap, drawn))
		return false;
	payer_pay(payer, cap, drawn, 1, &entry);
	mark_paid(batch, payer->account_id, request);
	if (cap != NULL)
		mark_paid(batch, cap->account_id, request);
	entry.detail = training_text(request);
	book_append(batch, "release", request, &entry);
	return true;
}

/*
 * Nothing is ever returned: whoever paid may have had an answer.  So the
 * reply grants no answers that could come back.
 */
bool
release_grant(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
{
	Account *payer;
	Account *cap;

	if (book_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED ||
		find_paid(batch, request, &payer) == ACCOUNT_LOCKED)
		return false;
	if (payer == NULL)
	{
		if (payer_choose(batch, request, reply, &payer) == ACCOUNT_LOCKED)
			return false;
		if (payer == NULL || !charge_release(batch, request, reply, payer, cap))
			return true;
	}
	reply->outcome = OUTCOME_GRANTED;
	reply->paid.account_id = payer->account_id;
	reply->paid.account_role = payer->role;
	reply->order_is_infinite = payer->order == RENYI_ORDER_INFINITE;
	reply->valid_until = payer->valid_until;
	return true;
}

/* Made of answers that the account and the cap have paid for already. */
bool
release_mark(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
{
	Account	   *payer;
	Account	   *cap = NULL;
	LedgerEntry entry = {0};

	if (book_account(batch, request->relation_id, request->paid.account_role, &payer) ==
		ACCOUNT_LOCKED)
		return false;
	if (request->paid.cap_id != 0 &&
		book_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED)
		return false;
	reply->outcome = OUTCOME_NO_BUDGET;
	if (request->paid.generation != batch->generation || payer == NULL ||
		payer->account_id != request->paid.account_id)
		return true;
	mark_paid(batch, payer->account_id, request);
	book_describe(&entry, payer);
	if (cap != NULL && cap->account_id == request->paid.cap_id)
	{
		entry.cap_id = cap->account_id;
		mark_paid(batch, cap->account_id, request);
	}
	entry.detail = training_text(request);
	book_append(batch, "release", request, &entry);
	reply->outcome = OUTCOME_GRANTED;
	return true;
}

/* ---------- export ---------- */

/*
 * All accounts of the relation that have not paid, the cap among them.  An
 * expired budget's holder reads what is exported, too; one whose budget was
 * revoked, or whose role has gone, is beyond our counting.
 */
static Found
find_unpaid(Batch *batch, const LedgerRequest *request, List **unpaid)
{
	static SPIPlanPtr plan = NULL;
	ListCell		 *cell;

	*unpaid = NIL;
	query_kept(&plan,
			   "SELECT a.role::oid FROM privpred.account a "
			   "WHERE a.relation_id = $1 AND a.revoked_at IS NULL ORDER BY a.account_id",
			   ARG_INT8(request->relation_id));
	foreach(cell, rows_oids(1))
	{
		Account *account;

		/* Missing: granted while an earlier request of the batch was served. */
		if (book_account(batch, request->relation_id, lfirst_oid(cell), &account) != ACCOUNT_FOUND)
			return ACCOUNT_LOCKED;
		if (account->live_role && !has_paid(account->account_id, request))
			*unpaid = lappend(*unpaid, account);
	}
	return ACCOUNT_FOUND;
}

static void
charge_export(Batch *batch, const LedgerRequest *request, Account *account)
{
	const Charge *drawn = payer_charge(request, account);
	LedgerEntry	  entry = {0};

	payer_pay(account, NULL, drawn, 1, &entry);
	mark_paid(batch, account->account_id, request);
	entry.detail = training_text(request);
	entry.actor = GetUserNameFromId(request->role, true);
	book_append(batch, "export", request, &entry);
}

/*
 * Grants pass the relation's gate before they look for exports, and we pass it
 * alone, so that no budget slips between: either we see it or it sees us.
 */
bool
release_export(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
{
	List	 *unpaid;
	ListCell *cell;

	if (!batch->careful)
	{
		reply->outcome = OUTCOME_FAILED; /* to be served again carefully */
		return true;
	}
	if (!gate_pass(request->relation_id, true, false))
		return false;
	if (has_paid(EVERYBODY, request))
		return true;
	if (find_unpaid(batch, request, &unpaid) == ACCOUNT_LOCKED)
		return false;
	foreach(cell, unpaid)
	{
		Account *account = lfirst(cell);

		if (account_affords(account, payer_charge(request, account)) > 0)
			continue;
		if (reply->nunable < UNABLE_NAMED)
			reply->unable[reply->nunable] = account->role;
		reply->nunable++;
	}
	if (reply->nunable > 0)
	{
		reply->outcome = OUTCOME_EXHAUSTED;
		return true;
	}
	foreach(cell, unpaid)
		charge_export(batch, request, lfirst(cell));
	mark_paid(batch, EVERYBODY, request);
	return true;
}
