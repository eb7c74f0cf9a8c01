/*
 * audit_receipt.c
 *		Receipts for draws on made-up rows.
 *
 * A receipt says that an answer was paid for; whoever holds one may draw.  An
 * audit draws without paying, so its receipts must not be good for anything
 * else.  They are given for a model that was trained on rows which the audit
 * itself made up: model_get() never returns such a record and model_insert()
 * refuses it, so it cannot be one that knows protected rows, nor become one that
 * somebody asks.
 *
 * Audited streams live in the session's own memory: no account, board or entry of
 * the ledger knows of them.  They are made of the parts of real ones
 * (ledger/stream.h).
 */
#include "postgres.h"

#include "draw/receipt_maker.h"
#include "ledger/stream.h"
#include "request/audit.h"

struct AuditReceipt
{
	Receipt		receipt;
	StreamTerms terms;
	StreamRun	run;
	StreamBoard board; /* nobody else's */
};

StreamTerms
audit_terms(const AuditCase *plan)
{
	return (StreamTerms){
		.unstable = plan->unstable, .epsilon = plan->run_epsilon, .delta = plan->run_delta};
}

/* What the ledger's process would put up. */
static void
put_up(AuditReceipt *stream, bool over)
{
	StreamReply reply = {
		.run = stream->run.failed, .over = over, .threshold = stream->run.threshold};

	board_put_up(&stream->board, &reply);
}

static bool
stream_stable(void *run, int64 distance)
{
	AuditReceipt *stream = run;
	int64		  noisy = stream_noisy_distance(stream->run.epsilon, distance);

	if (board_compare(&stream->board, noisy) == BOARD_PASSED)
		return true;
	/* Nobody else can have marked the board. */
	put_up(stream, !stream_run_next(&stream->run));
	return false;
}

static int64
stream_failures_left(void *run)
{
	AuditReceipt *stream = run;

	return board_left(&stream->board, stream->run.unstable);
}

AuditReceipt *
audit_receipt_create(const ModelRecord *made_up, const AuditCase *plan)
{
	static const StabilityTest stability_test = {stream_stable, stream_failures_left};
	AuditReceipt			  *paid = palloc0_object(AuditReceipt);

	if (made_up->made_up_rows == NULL || made_up->model_id != 0)
		elog(ERROR, "only models of made-up rows are audited without a charge");
	paid->receipt.order_is_infinite = plan->infinite;
	if (plan->unstable > 0)
	{
		paid->receipt.test = &stability_test;
		paid->receipt.run = paid;
	}
	paid->terms = audit_terms(plan);
	SpinLockInit(&paid->board.mutex);
	return paid;
}

void
audit_stream_open(AuditReceipt *stream)
{
	stream_run_first(&stream->run, &stream->terms);
	stream->board.run = -1;
	put_up(stream, false);
}

const Receipt *
audit_receipt(const AuditReceipt *paid)
{
	return paid->receipt.test != NULL && paid->board.state == BOARD_OVER ? NULL : &paid->receipt;
}
