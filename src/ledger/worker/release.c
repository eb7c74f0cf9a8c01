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
	query_write("SELECT FROM privpred.release r WHERE r.account_id = $1 AND r.training_id = $2",
				ARG_INT8(account_id), ARG_INT8(request->training_id));
	return SPI_processed > 0;
}

/* Charges are kept for those who come after an export. */
static void
mark_paid(Batch *batch, int64 account_id, const LedgerRequest *request)
{
	const ModelSale *model = model_sale(request->model_id);
	const char		*name = model != NULL ? model->name : NULL;
	char			 finite[CHARGE_TEXT_SIZE];
	char			 infinite[CHARGE_TEXT_SIZE];

	query_write("INSERT INTO privpred.release (account_id, training_id, relation_id, model_id, "
				"model, version, at, charge, pure_charge, accuracy) "
				"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
				ARG_INT8(account_id), ARG_INT8(request->training_id),
				ARG_INT8(request->relation_id), ARG_INT8(request->model_id), ARG_TEXT(name),
				ARG_INT4(request->version), ARG_TIME(batch->now),
				ARG_TEXT(charge_to_text(&request->finite, finite)),
				ARG_TEXT(charge_to_text(&request->infinite, infinite)),
				ARG_BOOL(request->kind == REQUEST_ACCURACY));
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
	const char *what = request->kind == REQUEST_DESCRIBE   ? "description"
					   : request->kind == REQUEST_ACCURACY ? "accuracy"
														   : "training";

	return psprintf("%s " INT64_FORMAT, what, request->training_id);
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

/* ---------- exports, descriptions and accuracies ---------- */

/*
 * All accounts of the relation that have not paid, the cap among them.  An
 * expired budget's holder reads what is exported, too; one whose budget was
 * revoked, or whose role has gone, is beyond our counting.
 */
static Found
find_unpaid(Batch *batch, const LedgerRequest *request, List **unpaid)
{
	ListCell *cell;

	*unpaid = NIL;
	query_write("SELECT a.role::oid FROM privpred.account a "
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
	book_append(batch,
				request->kind == REQUEST_DESCRIBE	? "describe"
				: request->kind == REQUEST_ACCURACY ? "accuracy"
													: "export",
				request, &entry);
}

/* Names an account in the reply if it has no room, or could not pay for this whatever it had. */
static void
check_unable(const LedgerRequest *request, LedgerReply *reply, const Account *account)
{
	const Charge *drawn = payer_charge(request, account);

	if (account_affords(account, drawn) > 0)
		return;
	if (!account_can_pay(account, drawn))
		reply->outcome = OUTCOME_CANNOT_PAY;
	else if (reply->outcome != OUTCOME_CANNOT_PAY)
		reply->outcome = OUTCOME_EXHAUSTED;
	if (reply->nunable < UNABLE_NAMED)
		reply->unable[reply->nunable] = account->role;
	reply->nunable++;
}

/* The version that an accuracy tells of, as if it were exported. */
static LedgerRequest *
told_version(const LedgerRequest *request)
{
	LedgerRequest *told = palloc_object(LedgerRequest);

	*told = *request;
	told->kind = REQUEST_EXPORT;
	told->training_id = request->told_of;
	told->finite = request->told_finite;
	told->infinite = request->told_infinite;
	return told;
}

/* The same for an account that pays for two draws, the first of them if it has not paid. */
static void
check_unable_both(const LedgerRequest *told, bool pays_told, const LedgerRequest *request,
				  LedgerReply *reply, const Account *account)
{
	Account		 after = *account;
	EpsilonUnits window;
	int			 unable = reply->nunable;

	if (pays_told)
	{
		check_unable(told, reply, account);
		if (reply->nunable > unable)
			return;
		(void) account_debit(&after, payer_charge(told, account), 1, &window);
	}
	check_unable(request, reply, &after);
}

/*
 * Grants pass the relation's gate before they look for exports, and we pass it
 * alone, so that no budget slips between: either we see it or it sees us.
 */
bool
release_export(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
{
	LedgerRequest *told = request->told_of != 0 ? told_version(request) : NULL;
	List		  *told_unpaid = NIL;
	List		  *unpaid;
	ListCell	  *cell;

	if (!batch->careful)
	{
		reply->outcome = OUTCOME_FAILED; /* to be served again carefully */
		return true;
	}
	if (!gate_pass(request->relation_id, true, false))
		return false;
	/* Later budgets find the charge by the relation's number, which must be there for good. */
	if (population_brief(request->relation_id).name == NULL)
	{
		reply->outcome = OUTCOME_NO_BUDGET;
		return true;
	}
	if (has_paid(EVERYBODY, request))
		return true;
	if (find_unpaid(batch, request, &unpaid) == ACCOUNT_LOCKED ||
		(told != NULL && find_unpaid(batch, told, &told_unpaid) == ACCOUNT_LOCKED))
		return false;
	foreach(cell, unpaid)
		check_unable_both(told, list_member_ptr(told_unpaid, lfirst(cell)), request, reply,
						  lfirst(cell));
	if (reply->nunable > 0)
		return true;
	foreach(cell, told_unpaid)
		charge_export(batch, told, lfirst(cell));
	foreach(cell, unpaid)
		charge_export(batch, request, lfirst(cell));
	if (told != NULL && !has_paid(EVERYBODY, told))
		mark_paid(batch, EVERYBODY, told);
	mark_paid(batch, EVERYBODY, request);
	ledger_make_ours(); /* it is in use now, even if there are no accounts yet */
	return true;
}
