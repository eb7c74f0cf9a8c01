/*
 * debit.c
 *		What the ledger's process does with a batch of requests, in one
 *		transaction: lock the accounts, decide, write accounts and entries.
 *
 * Row locks are never waited for.  Whoever holds one may be waiting for us,
 * which no deadlock detector could see; the request is put back and tried
 * again until its patience ends, without holding up other accounts.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"

#include "ledger/worker/worker.h"
#include "server/query.h"
#include "server/session.h"
#include "ledger/worker/returns.h"

static uint64 seen_epoch = 0; /* 0: look at everything anew */

void
debit_forget(void)
{
	query_forget_plans();
	book_forget_rows();
	chain_forget();
	seen_epoch = 0;
}

/*
 * Blocks of more than one answer are listed while they are out, so that what a
 * crash costs can be shown.
 */
static void
list_block(const LedgerRequest *request, const LedgerReply *reply, TimestampTz now)
{
	query_write(
		"INSERT INTO privpred.open_lease AS o (lease, relation_id, account_id, cap_id, answers, "
		"charge, cap_charge, at, pid, incarnation, window_start) "
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
		"ON CONFLICT (lease) DO UPDATE SET account_id = excluded.account_id, "
		"cap_id = excluded.cap_id, answers = excluded.answers, charge = excluded.charge, "
		"cap_charge = excluded.cap_charge, at = excluded.at, "
		"window_start = excluded.window_start",
		ARG_INT8(reply->paid.lease), ARG_INT8(request->relation_id),
		ARG_INT8(reply->paid.account_id), ARG_INT8_OR_NULL(reply->paid.cap_id),
		ARG_INT4(reply->granted), ARG_INT8(reply->paid.charge), ARG_INT8(reply->paid.cap_charge),
		ARG_TIME(now), ARG_INT4(request->pid), ARG_INT8(ledger_incarnation()),
		ARG_IF(reply->paid.window != 0, ARG_TIME(reply->paid.window)));
}

/* Answers of the block that was listed, or -1 if none was. */
static int64
unlist_block(int64 lease)
{
	query_write("DELETE FROM privpred.open_lease WHERE lease = $1 RETURNING answers",
				ARG_INT8(lease));
	return SPI_processed == 0 ? -1 : row_int4(0, 1);
}

/* Is a grant that nobody took what the request would be granted now? */
static bool
still_fits(const Batch *batch, const LedgerRequest *request, const LedgerRequest *grant,
		   const Account *payer, const Account *cap)
{
	const Charge *drawn;

	if (payer == NULL || payer->account_id != grant->paid.account_id ||
		!(payer->role == request->role || role_inherits_budget_of(request->role, payer->role)) ||
		grant->paid.generation != batch->generation ||
		account_outcome(payer, batch->now) != OUTCOME_GRANTED ||
		grant->paid.window != (payer->has_window ? payer->window_start : 0) ||
		grant->paid.cap_id != (cap != NULL ? cap->account_id : 0))
		return false;
	drawn = payer_charge(request, payer);
	return grant->paid.charge == charge_units(drawn, payer->order) &&
		   grant->paid.cap_charge == (cap != NULL ? charge_units(drawn, cap->order) : 0);
}

/* Says in the reply what the ceiling is; false, with the outcome, if it is reached. */
static bool
within_ceiling(const LedgerRequest *request, const Account *payer, LedgerReply *reply)
{
	reply->ceiling = ceiling_of(request->role, payer->role);
	if (request->taken < reply->ceiling)
		return true;
	reply->outcome = OUTCOME_CEILING;
	return false;
}

/* Hands on a grant that is paid for, and that nobody took; *locked as below. */
static bool
hand_on(Batch *batch, const LedgerRequest *request, LedgerReply *reply, bool *locked)
{
	int					 place = request->paid.lease == 0 ? returns_find_grant(request) : -1;
	const LedgerRequest *grant;
	Account				*payer;
	Account				*cap;

	if (place < 0)
		return false;
	grant = returns_request(place);
	*locked = book_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED ||
			  book_account(batch, request->relation_id, grant->paid.account_role, &payer) ==
				  ACCOUNT_LOCKED;
	if (*locked || !still_fits(batch, request, grant, payer, cap))
		return false;
	if (!within_ceiling(request, payer, reply))
		return true;
	returns_settle(place);
	reply->outcome = OUTCOME_GRANTED;
	reply->paid = grant->paid;
	reply->granted = grant->answers;
	reply->order_is_infinite = payer->order == RENYI_ORDER_INFINITE;
	reply->valid_until = Min(payer->valid_until, payer->window_end);
	return true;
}

/* Debits a block; false if an account is locked by another transaction. */
static bool
grant_block(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
{
	Account		 *payer = NULL;
	Account		 *cap;
	const Charge *drawn;
	LedgerEntry	  entry = {0};
	int64		  answers;
	bool		  locked = false;

	if (hand_on(batch, request, reply, &locked))
		return true;
	if (locked || book_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED ||
		payer_choose(batch, request, reply, &payer) == ACCOUNT_LOCKED)
		return false;
	if (payer == NULL)
		return true;

	drawn = payer_charge(request, payer);
	if (payer_refuses(reply, payer, cap, drawn))
		return true;
	reply->paid.charge = charge_units(drawn, payer->order);
	answers = account_affords(payer, drawn);
	if (cap != NULL)
	{
		reply->paid.cap_id = cap->account_id;
		reply->paid.cap_charge = charge_units(drawn, cap->order);
		answers = Min(answers, account_affords(cap, drawn));
	}
	if (!within_ceiling(request, payer, reply))
		return true;
	answers = Max(1, Min(request->want, answers / LEASE_SHARE));
	answers = Min(answers, reply->ceiling - request->taken);

	payer_pay(payer, cap, drawn, answers, &entry);
	entry.lease = request->paid.lease != 0 ? request->paid.lease : -1;
	entry.answers = answers;
	book_append(batch, "lease", request, &entry);

	reply->granted = answers;
	reply->paid.lease = entry.lease;
	reply->paid.generation = batch->generation;
	reply->paid.account_id = payer->account_id;
	reply->paid.account_role = payer->role;
	reply->paid.window = payer->has_window ? payer->window_start : 0;
	reply->order_is_infinite = payer->order == RENYI_ORDER_INFINITE;
	reply->valid_until = Min(payer->valid_until, payer->window_end);
	if (answers > 1)
		list_block(request, reply, batch->now);
	else if (request->paid.lease != 0)
		(void) unlist_block(request->paid.lease);
	return true;
}

/*
 * Returns unused answers.  Whatever does not match what was debited is ignored:
 * an error here can only over-charge.
 */
static bool
take_back(Batch *batch, const LedgerRequest *request)
{
	Account		*payer;
	Account		*cap = NULL;
	LedgerEntry	 entry = {0};
	EpsilonUnits window_units;
	int64		 listed;

	if (request->paid.generation != batch->generation)
		return true; /* the extension was dropped in between */
	if (book_account(batch, request->relation_id, request->paid.account_role, &payer) ==
		ACCOUNT_LOCKED)
		return false;
	if (request->paid.cap_id != 0 &&
		book_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED)
		return false;

	listed = unlist_block(request->paid.lease);
	if (request->kind == REQUEST_SETTLE && listed < request->answers)
		return true;
	if (payer == NULL || payer->account_id != request->paid.account_id ||
		(request->paid.cap_id != 0 && (cap == NULL || cap->account_id != request->paid.cap_id)))
		return true;

	entry.account_id = request->paid.account_id;
	entry.order = payer->order;
	entry.cap_id = request->paid.cap_id;
	entry.lease = request->paid.lease;
	entry.answers = -(int64) request->answers;
	entry.units = -account_owed(payer, request->answers, request->paid.charge);
	if (cap != NULL)
		entry.cap_units = -account_owed(cap, request->answers, request->paid.cap_charge);
	if (payer->spent + entry.units < 0 || (cap != NULL && cap->spent + entry.cap_units < 0))
		return true;
	/* A window that has ended keeps what it was charged. */
	window_units = renyi_charge_times(request->paid.charge, request->answers);
	if (payer->has_window && payer->window_start == request->paid.window &&
		payer->window_spent >= window_units)
		entry.window_units = -window_units;
	payer->window_spent += entry.window_units;
	payer->spent += entry.units;
	payer->dirty = true;
	if (cap != NULL)
	{
		cap->spent += entry.cap_units;
		cap->dirty = true;
	}
	book_append(batch, "settle", request, &entry);
	return true;
}

/* Blocks that were out when the server crashed stay spent, and are shown. */
static void
note_orphans(Batch *batch)
{
	/* Whoever forgives one holds it. */
	query_write("UPDATE privpred.open_lease o SET orphaned_at = $2 "
				"WHERE o.lease IN (SELECT l.lease FROM privpred.open_lease l "
				"WHERE l.incarnation <> $1 AND l.orphaned_at IS NULL FOR UPDATE SKIP LOCKED) "
				"RETURNING o.lease, o.account_id, o.relation_id, o.answers, o.pid, "
				"(SELECT a.renyi_order FROM privpred.account a "
				"WHERE a.account_id = o.account_id)",
				ARG_INT8(ledger_incarnation()), ARG_TIME(batch->now));
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		LedgerEntry	  entry = {.lease = row_int8(row, 1),
							   .account_id = row_int8(row, 2),
							   .answers = row_int4(row, 4),
							   .order = row_int8_or(row, 6, RENYI_ORDER_INFINITE)};
		LedgerRequest request = {.relation_id = row_int8(row, 3), .pid = row_int4(row, 5)};

		book_append(batch, "orphan", &request, &entry);
	}
}

/* After a start, an error, a grant or a changed model; false if not ours. */
static bool
look_around(Batch *batch)
{
	uint64 epoch = pg_atomic_read_u64(&ledger_shared()->epoch);
	bool   moved;

	if (seen_epoch == epoch && !returns_have_orphans())
		return true;
	if (!ledger_is_ours(&moved))
		return false;
	if (moved)
	{
		holders_record_all();
		ledger_make_ours();
	}
	book_forget_rows();
	ceilings_read();
	returns_list_orphans();
	if (seen_epoch == 0 || returns_have_orphans())
		note_orphans(batch);
	chain_drain_outbox(&batch->end);
	seen_epoch = epoch;
	return true;
}

static bool
serve(Batch *batch, LedgerSlot *slot)
{
	if (!answers_allow(slot->request.kind))
	{
		slot->reply.outcome = OUTCOME_OFF;
		return true;
	}
	switch (slot->request.kind)
	{
		case REQUEST_LEASE:
			return grant_block(batch, &slot->request, &slot->reply);
		case REQUEST_RELEASE:
			return release_grant(batch, &slot->request, &slot->reply);
		case REQUEST_EXPORT:
		case REQUEST_DESCRIBE:
		case REQUEST_ACCURACY:
			return release_export(batch, &slot->request, &slot->reply);
		case REQUEST_SETTLE:
		case REQUEST_GIVE_BACK:
			return take_back(batch, &slot->request);
		case REQUEST_MARK_PAID:
			return release_mark(batch, &slot->request, &slot->reply);
		case REQUEST_MEMO:
			memo_keep(&slot->request, &slot->reply);
			return true;
		case REQUEST_SYNC:
			chain_drain_outbox(&batch->end);
			slot->reply.outcome = OUTCOME_GRANTED;
			return true;
		case REQUEST_MAY_ANSWER:
			slot->reply.outcome = OUTCOME_GRANTED;
			return true;
		case REQUEST_STREAM_OPEN:
			return stream_book_buy(batch, &slot->request, &slot->reply);
		case REQUEST_STREAM_TAKE:
		case REQUEST_STREAM_FAILED:
		case REQUEST_STREAM_LEAVE:
		case REQUEST_STREAM_CLOSE:
			return stream_book_serve(batch, &slot->request, &slot->reply);
	}
	return true;
}

/* What nobody took may be what is missing: puts all back that the relation is owed. */
static bool
take_back_kept(Batch *batch, int64 relation_id)
{
	bool any = false;
	int	 place = -1;

	while ((place = returns_find_relation(relation_id, place)) >= 0)
		if (take_back(batch, returns_request(place)))
		{
			returns_settle(place);
			any = true;
		}
	return any;
}

static void
clear_reply(LedgerReply *reply)
{
	memset(reply, 0, sizeof(LedgerReply));
	reply->valid_until = DT_NOEND;
}

/* False if it must be tried again later. */
static bool
serve_fully(Batch *batch, LedgerSlot *slot)
{
	if (!serve(batch, slot))
		return false;
	if (!batch->careful || slot->reply.outcome != OUTCOME_EXHAUSTED ||
		!take_back_kept(batch, slot->request.relation_id))
		return true;
	clear_reply(&slot->reply);
	return serve(batch, slot);
}

/* A refusal must not rest on memory. */
static bool
rests_on_memory(const Batch *batch, const LedgerSlot *slot)
{
	return !batch->careful && slot->wants_reply && slot->reply.outcome != OUTCOME_GRANTED;
}

static bool
serve_all(Batch *batch, LedgerSlot **slots, int nslots, const bool *passed, bool ours)
{
	for (int i = 0; i < nslots; i++)
	{
		LedgerReply *reply = &slots[i]->reply;

		clear_reply(reply);
		if (slot_state(slots[i]) == SLOT_ABANDONED)
		{
			reply->outcome = OUTCOME_FAILED; /* nobody would take it */
			continue;
		}
		if (!ours)
			reply->outcome = OUTCOME_FOREIGN;
		else if (!passed[i] || !serve_fully(batch, slots[i]))
			reply->outcome = OUTCOME_LOCKED;
		else if (rests_on_memory(batch, slots[i]))
			return false;
	}
	for (int i = 0; i < batch->naccounts; i++)
		if (batch->accounts[i]->account.dirty && !book_write(batch, batch->accounts[i]))
			return false;
	return true;
}

/*
 * Serves the slots in the given order.  An outcome of OUTCOME_LOCKED means
 * that nothing was done and the request may be tried again.  Returns false if
 * the transaction must be rolled back, debit_forget() called, and the batch
 * served again carefully.
 */
bool
debit_batch(LedgerSlot **slots, int nslots, bool careful)
{
	CatalogSession session;
	Batch		   batch = {.careful = careful};
	bool		  *passed;
	bool		   ours;
	bool		   done;

	catalog_begin(&session);
	returns_begin_batch();
	batch.now = GetCurrentTimestamp();
	batch.generation = get_relname_relid("account", get_namespace_oid(PRIVPRED_SCHEMA, false));
	batch.size = nslots + 2;
	batch.accounts = palloc(batch.size * sizeof(HeldAccount *));

	LockRelationOid(batch.generation, RowExclusiveLock);

	/*
	 * Whoever was alone behind a gate has changed the epoch before letting us
	 * in, and we look at the epoch after.
	 */
	passed = palloc(nslots * sizeof(bool));
	for (int i = 0; i < nslots; i++)
		passed[i] = book_pass(&slots[i]->request);
	chain_read_end(&batch.end, batch.generation);
	ours = look_around(&batch);
	for (int i = 0; ours && i < nslots; i++)
		passed[i] = passed[i] && book_is_present(&slots[i]->request);
	done = serve_all(&batch, slots, nslots, passed, ours);
	catalog_end(&session);
	return done;
}
