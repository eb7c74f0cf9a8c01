/*
 * lease.c
 *		The asking side: reserve answers ahead, hand out receipts.
 *
 * A lease asks for one answer first and then for as many as it has used, so
 * that a statement which takes a single answer pays for one, a crash costs at
 * most what the statement had already spent, and a million rows need a hundred
 * round trips.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "draw/receipt_maker.h"
#include "ledger/asking.h"
#include "server/fault.h"
#include "server/session.h"

struct LedgerLease
{
	Receipt				  receipt;
	LedgerPrice			  price;
	Oid					  payer;
	LedgerReply			  block; /* what was last granted; granted = 0: nothing */
	int32				  unused;
	int64				  used;
	int64				  in_a_row;		  /* of those, by the present payer */
	bool				  several_payers; /* not one account has paid for all that was used */
	uint64				  epoch;		  /* as it was before the block was asked for */
	TimestampTz			  expires;
	UsedUp				  used_up;
	MemoryContextCallback at_reset;
};

void
ledger_mark_paid(const LedgerPrice *price, const LedgerLease *lease)
{
	LedgerRequest request = {.kind = REQUEST_MARK_PAID};

	ledger_lease_describe(lease, &request);
	ledger_request_describe(&request, price, lease->payer);
	if (!lease->several_payers)
		ledger_call_mark_paid(price, &request);
}

void
ledger_call_mark_paid(const LedgerPrice *price, const LedgerRequest *request)
{
	if (ledger_call(request).outcome != OUTCOME_GRANTED)
		ereport(WARNING,
				errmsg("the privacy ledger did not record that model \"%s\" is paid for",
					   price->model_name),
				errdetail("Its first use will be charged."));
}

const Receipt *
ledger_owner_receipt(void)
{
	static const Receipt receipt = {.order_is_infinite = false};

	return &receipt;
}

void
ledger_lease_describe(const LedgerLease *lease, LedgerRequest *request)
{
	ledger_request_describe(request, &lease->price, lease->payer);
	request->paid = lease->block.paid;
}

/*
 * Gives back what is left of the block.  Nothing of it was released: an
 * answer counts as used before it is computed.  How much is returned says how
 * many answers were taken, which the caller knows, and nothing about the data.
 */
static void
drop_block(LedgerLease *lease)
{
	LedgerRequest	   request = {0};
	const LedgerReply *block = &lease->block;

	/* A block of one that is used up is closed already. */
	if (block->granted > 1 || lease->unused > 0)
	{
		request.kind = block->granted > 1 ? REQUEST_SETTLE : REQUEST_GIVE_BACK;
		ledger_lease_describe(lease, &request);
		request.fresh = lease->used == 0;
		request.answers = lease->unused;
		ledger_post(&request);
	}
	lease->block.granted = 0;
	lease->block.paid.lease = 0;
	lease->unused = 0;
}

static void
lease_reset(void *arg)
{
	drop_block((LedgerLease *) arg);
}

LedgerLease *
ledger_open(MemoryContext context, const LedgerPrice *price)
{
	LedgerLease *lease;

	PreventCommandDuringRecovery("private_predict()");
	(void) ledger_shared();

	lease = MemoryContextAllocZero(context, sizeof(LedgerLease));
	lease->price = *price;
	lease->price.model_name = MemoryContextStrdup(context, price->model_name);
	lease->payer = asking_role();
	lease->used_up.context = context;
	lease->at_reset.func = lease_reset;
	lease->at_reset.arg = lease;
	MemoryContextRegisterResetCallback(context, &lease->at_reset);
	return lease;
}

void
ledger_request_describe(LedgerRequest *request, const LedgerPrice *price, Oid asker)
{
	request->role = asker;
	request->relation_id = price->relation_id;
	request->asked_id = price->asked_id;
	request->model_id = price->model_id;
	request->version = price->version;
	request->training_id = price->training_id;
	request->finite = price->finite;
	request->infinite = price->infinite;
}

/* Asks for what the lease is about; returns whether it is granted, or raises. */
static bool
call_for_lease(LedgerLease *lease, LedgerRequest *request, LedgerRefusal *refusal)
{
	uint64		epoch = ledger_epoch();
	LedgerReply reply;

	ledger_request_describe(request, &lease->price, lease->payer);
	if (!ledger_call_granted(&lease->price, request, &reply,
							 refusal != NULL ? &lease->used_up : NULL))
	{
		*refusal = lease->used_up.message;
		return false;
	}

	lease->several_payers |=
		lease->block.paid.account_id != 0 && lease->block.paid.account_id != reply.paid.account_id;
	lease->block = reply;
	lease->epoch = epoch;
	lease->expires = Min(reply.valid_until, GetCurrentTimestamp() + LEASE_MAX_AGE_US);
	lease->receipt.order_is_infinite = reply.order_is_infinite;
	return true;
}

static bool
request_block(LedgerLease *lease, int64 allowed, LedgerRefusal *refusal)
{
	LedgerRequest request = {.kind = REQUEST_LEASE};

	request.want = Max(1, Min(Min(lease->in_a_row, allowed), LEASE_MAX_ANSWERS));
	request.taken = statement_taken(lease->used);
	request.paid.lease = lease->block.paid.lease;
	if (!call_for_lease(lease, &request, refusal))
		return false;
	lease->unused = lease->block.granted;
	return true;
}

/* ---------- charged once ---------- */

/*
 * That a role may use a version is remembered for as long as a lease would be
 * good, so that not every statement asks the ledger's process.
 */
typedef struct PaidRelease
{
	Oid			role;
	int64		training_id; /* 0: unused */
	uint64		epoch;
	TimestampTz expires;
	bool		order_is_infinite;
} PaidRelease;

#define PAID_RELEASES 16

static PaidRelease paid_releases[PAID_RELEASES];

static bool
still_good(uint64 epoch, TimestampTz expires)
{
	return epoch == ledger_epoch() && !ledger_time_has_come(expires);
}

static const Receipt *
use_release(LedgerLease *lease, LedgerRefusal *refusal)
{
	int64		 training_id = lease->price.training_id;
	PaidRelease *paid = &paid_releases[training_id % PAID_RELEASES];
	Oid			 role = asking_role();

	if (lease->payer == role && still_good(lease->epoch, lease->expires))
		return &lease->receipt;
	lease->payer = role;
	if (paid->training_id != training_id || paid->role != role ||
		!still_good(paid->epoch, paid->expires))
	{
		LedgerRequest request = {.kind = REQUEST_RELEASE};

		CHECK_FOR_INTERRUPTS();
		if (!call_for_lease(lease, &request, refusal))
			return NULL;
		paid->role = role;
		paid->training_id = training_id;
		paid->epoch = lease->epoch;
		paid->expires = lease->expires;
		paid->order_is_infinite = lease->receipt.order_is_infinite;
	}
	lease->epoch = paid->epoch;
	lease->expires = paid->expires;
	lease->receipt.order_is_infinite = paid->order_is_infinite;
	return &lease->receipt;
}

const Receipt *
ledger_spend(LedgerLease *lease, LedgerRefusal *refusal)
{
	LedgerShared *shared = ledger_shared();
	Oid			  role = asking_role();
	int64		  allowed;

	if (lease->price.kind == CHARGE_ONCE)
		return use_release(lease, refusal);
	allowed = statement_allowance(lease->used);

	/* Roles may change under a call site: each pays for what it asks. */
	if (unlikely(lease->payer != role))
	{
		drop_block(lease);
		lease->payer = role;
		lease->in_a_row = 0;
	}

	for (;;)
	{
		if (likely(lease->unused > 0))
		{
			if (likely(lease->epoch == pg_atomic_read_u64(&shared->epoch) &&
					   !ledger_time_has_come(lease->expires)))
				break;
			/* Revoked, expired or merely old: ask again. */
			drop_block(lease);
		}
		CHECK_FOR_INTERRUPTS();
		if (!request_block(lease, allowed, refusal))
			return NULL;
	}

	/* Other call sites may have used up what there was when the block was granted. */
	if (unlikely(statement_taken(lease->used) >= lease->block.ceiling))
		ceiling_report(lease->block.ceiling);
	lease->unused--;
	lease->used++;
	lease->in_a_row++;
	statement_count_answer(true);
	FAULT_POINT("answer_paid");
	return &lease->receipt;
}
