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
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"

#include "ledger/worker/worker.h"
#include "server/session.h"
#include "ledger/worker/returns.h"

static uint64 seen_epoch = 0; /* 0: look at everything anew */

static SPIPlanPtr open_plan = NULL;
static SPIPlanPtr close_plan = NULL;

void
debit_forget(void)
{
	SPIPlanPtr *plans[] = {&open_plan, &close_plan};

	for (int i = 0; i < lengthof(plans); i++)
	{
		if (*plans[i] != NULL)
			SPI_freeplan(*plans[i]);
		*plans[i] = NULL;
	}
	book_forget();
	payer_forget();
	release_forget();
	stream_book_forget();
	memo_forget();
	seen_epoch = 0;
	chain_forget();
}

/*
 * Blocks of more than one answer are listed while they are out, so that what a
 * crash costs can be shown.
 */
static void
list_block(const LedgerRequest *request, const LedgerReply *reply, TimestampTz now)
{
	Oid	  argtypes[] = {INT8OID, INT8OID,		 INT8OID, INT8OID, INT4OID,		  INT8OID,
						INT8OID, TIMESTAMPTZOID, INT4OID, INT8OID, TIMESTAMPTZOID};
	char  nulls[] = "           ";
	Datum args[11];

	args[0] = Int64GetDatum(reply->lease);
	args[1] = Int64GetDatum(request->relation_id);
	args[2] = Int64GetDatum(reply->account_id);
	args[3] = Int64GetDatum(reply->cap_id);
	nulls[3] = reply->cap_id != 0 ? ' ' : 'n';
	args[4] = Int32GetDatum(reply->granted);
	args[5] = Int64GetDatum(reply->charge);
	args[6] = Int64GetDatum(reply->cap_charge);
	args[7] = TimestampTzGetDatum(now);
	args[8] = Int32GetDatum(request->pid);
	args[9] = Int64GetDatum(ledger_incarnation());
	args[10] = TimestampTzGetDatum(reply->window);
	nulls[10] = reply->window != 0 ? ' ' : 'n';
	book_run(
		&open_plan,
		"INSERT INTO privpred.open_lease AS o (lease, relation_id, account_id, cap_id, answers, "
		"charge, cap_charge, at, pid, incarnation, window_start) "
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
		"ON CONFLICT (lease) DO UPDATE SET account_id = excluded.account_id, "
		"cap_id = excluded.cap_id, answers = excluded.answers, charge = excluded.charge, "
		"cap_charge = excluded.cap_charge, at = excluded.at, "
		"window_start = excluded.window_start",
		11, argtypes, args, nulls);
}

/* Answers of the block that was listed, or -1 if none was. */
static int64
unlist_block(int64 lease)
{
	Oid	  argtypes[] = {INT8OID};
	Datum args[] = {Int64GetDatum(lease)};
	bool  isnull;

	book_run(&close_plan, "DELETE FROM privpred.open_lease WHERE lease = $1 RETURNING answers", 1,
			 argtypes, args, NULL);
	if (SPI_processed == 0)
		return -1;
	return DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
}

/* Is a grant that nobody took what the request would be granted now? */
static bool
still_fits(const Batch *batch, const LedgerRequest *request, const LedgerRequest *grant,
		   const Account *payer, const Account *cap)
{
	const Charge *drawn;

	if (payer == NULL || payer->account_id != grant->account_id ||
		!(payer->role == request->role || role_inherits_budget_of(request->role, payer->role)) ||
		grant->generation != batch->generation ||
		account_status(payer, batch->now) != OUTCOME_GRANTED ||
		grant->window != (payer->has_window ? payer->window_start : 0) ||
		grant->cap_id != (cap != NULL ? cap->account_id : 0))
		return false;
	drawn = payer_charge(request, payer);
	return grant->charge == charge_units(drawn, payer->order) &&
		   grant->cap_charge == (cap != NULL ? charge_units(drawn, cap->order) : 0);
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
	int					 place = request->lease == 0 ? returns_find_grant(request) : -1;
	const LedgerRequest *grant;
	Account				*payer;
	Account				*cap;

	if (place < 0)
		return false;
	grant = returns_request(place);
	*locked =
		book_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED ||
		book_account(batch, request->relation_id, grant->account_role, &payer) == ACCOUNT_LOCKED;
	if (*locked || !still_fits(batch, request, grant, payer, cap))
		return false;
	if (!within_ceiling(request, payer, reply))
		return true;
	returns_settle(place);
	reply->outcome = OUTCOME_GRANTED;
	reply->granted = grant->answers;
	reply->lease = grant->lease;
	reply->generation = grant->generation;
	reply->account_id = grant->account_id;
	reply->account_role = grant->account_role;
	reply->cap_id = grant->cap_id;
	reply->charge = grant->charge;
	reply->cap_charge = grant->cap_charge;
	reply->order_is_infinite = payer->order == RENYI_ORDER_INFINITE;
	reply->window = grant->window;
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
	reply->charge = charge_units(drawn, payer->order);
	answers = account_affords(payer, drawn);
	if (cap != NULL)
	{
		reply->cap_id = cap->account_id;
		reply->cap_charge = charge_units(drawn, cap->order);
		answers = Min(answers, account_affords(cap, drawn));
	}
	if (!within_ceiling(request, payer, reply))
		return true;
	answers = Max(1, Min(request->want, answers / LEASE_SHARE));
	answers = Min(answers, reply->ceiling - request->taken);

	payer_pay(payer, cap, drawn, answers, &entry);
	entry.lease = request->lease != 0 ? request->lease : -1;
	entry.answers = answers;
	book_append(batch, "lease", request, &entry);

	reply->granted = answers;
	reply->lease = entry.lease;
	reply->generation = batch->generation;
	reply->account_id = payer->account_id;
	reply->account_role = payer->role;
	reply->order_is_infinite = payer->order == RENYI_ORDER_INFINITE;
	reply->window = payer->has_window ? payer->window_start : 0;
	reply->valid_until = Min(payer->valid_until, payer->window_end);
	if (answers > 1)
		list_block(request, reply, batch->now);
	else if (request->lease != 0)
		(void) unlist_block(request->lease);
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

	if (request->generation != batch->generation)
		return true; /* the extension was dropped in between */
	if (book_account(batch, request->relation_id, request->account_role, &payer) == ACCOUNT_LOCKED)
		return false;
	if (request->cap_id != 0 &&
		book_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED)
		return false;

	listed = unlist_block(request->lease);
	if (request->kind == REQUEST_SETTLE && listed < request->answers)
		return true;
	if (payer == NULL || payer->account_id != request->account_id ||
		(request->cap_id != 0 && (cap == NULL || cap->account_id != request->cap_id)))
		return true;

	entry.account_id = request->account_id;
	entry.order = payer->order;
	entry.cap_id = request->cap_id;
	entry.lease = request->lease;
	entry.answers = -(int64) request->answers;
	entry.units = -account_owed(payer, request->answers, request->charge);
	if (cap != NULL)
		entry.cap_units = -account_owed(cap, request->answers, request->cap_charge);
	if (payer->spent + entry.units < 0 || (cap != NULL && cap->spent + entry.cap_units < 0))
		return true;
	/* A window that has ended keeps what it was charged. */
	window_units = renyi_charge_times(request->charge, request->answers);
	if (payer->has_window && payer->window_start == request->window &&
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
	Oid			   argtypes[] = {INT8OID, TIMESTAMPTZOID};
	Datum		   args[] = {Int64GetDatum(ledger_incarnation()), TimestampTzGetDatum(batch->now)};
	SPITupleTable *table;
	uint64		   rows;

	/* Whoever forgives one holds it. */
	if (SPI_execute_with_args("UPDATE privpred.open_lease o SET orphaned_at = $2 "
							  "WHERE o.lease IN (SELECT l.lease FROM privpred.open_lease l "
							  "WHERE l.incarnation <> $1 AND l.orphaned_at IS NULL "
							  "FOR UPDATE SKIP LOCKED) "
							  "RETURNING o.lease, o.account_id, o.relation_id, o.answers, o.pid, "
							  "(SELECT a.renyi_order FROM privpred.account a "
							  "WHERE a.account_id = o.account_id)",
							  2, argtypes, args, NULL, false, 0) != SPI_OK_UPDATE_RETURNING)
		elog(ERROR, "could not mark orphaned leases");
	table = SPI_tuptable;
	rows = SPI_processed;
	for (uint64 row = 0; row < rows; row++)
	{
		LedgerRequest request = {0};
		LedgerEntry	  entry = {0};
		bool		  isnull;

#define GET(column) SPI_getbinval(table->vals[row], table->tupdesc, column, &isnull)
		entry.order = DatumGetInt64(GET(6));
		if (isnull)
			entry.order = RENYI_ORDER_INFINITE;
		entry.lease = DatumGetInt64(GET(1));
		entry.account_id = DatumGetInt64(GET(2));
		request.relation_id = DatumGetInt64(GET(3));
		entry.answers = DatumGetInt32(GET(4));
		request.pid = DatumGetInt32(GET(5));
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
	switch (slot->request.kind)
	{
		case REQUEST_LEASE:
			return grant_block(batch, &slot->request, &slot->reply);
		case REQUEST_RELEASE:
			return release_grant(batch, &slot->request, &slot->reply);
		case REQUEST_EXPORT:
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
		case REQUEST_STREAM_OPEN:
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
		passed[i] = slots[i]->request.relation_id == 0 ||
					gate_pass(slots[i]->request.relation_id, false, false);
	chain_read_end(&batch.end, batch.generation);
	ours = look_around(&batch);
	done = serve_all(&batch, slots, nslots, passed, ours);
	catalog_end(&session);
	return done;
}
