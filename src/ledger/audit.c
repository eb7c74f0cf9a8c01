/*
 * audit.c
 *		Receipts for draws on made-up rows.
 *
 * A receipt says that an answer was paid for; whoever holds one may draw.  An
 * audit draws without paying, so its receipts must not be good for anything
 * else.  They are given for a model that was trained on rows which the audit
 * itself made up: model_get() never returns such a record and model_insert()
 * refuses it, so it cannot be one that knows protected rows, nor become one that
 * somebody asks.  And test/check_floors.sh refuses any other caller than
 * request/audit*.c.
 *
 * Audited streams live in the session's own memory.  They are made of the parts
 * of real ones: the runs of stream_run.c and a board of board.c.
 */
#include "postgres.h"

#include "catalog/store.h"
#include "draw/receipt_maker.h"
#include "ledger/asking.h"

struct LedgerAuditStream
{
	Receipt		receipt;
	StreamRun	run;
	StreamBoard board; /* nobody else's */
};

static void
check_made_up(const ModelRecord *model)
{
	if (model->made_up_rows == NULL || model->model_id != 0)
		elog(ERROR, "only models of made-up rows are audited without a charge");
}

const Receipt *
ledger_audit_receipt(const ModelRecord *made_up, bool order_is_infinite)
{
	static const Receipt receipts[2] = {{.order_is_infinite = false}, {.order_is_infinite = true}};

	check_made_up(made_up);
	return &receipts[order_is_infinite ? 1 : 0];
}

/* What the ledger's process would put up. */
static void
put_up(LedgerAuditStream *stream, bool over)
{
	StreamReply reply = {.run = stream->run.failed,
						 .unstable = stream->run.unstable,
						 .over = over,
						 .threshold = stream->run.threshold,
						 .epsilon = stream->run.epsilon};

	board_put_up(&stream->board, &reply);
}

void
ledger_audit_stream_open(LedgerAuditStream *stream, const StreamTerms *terms)
{
	stream_run_first(&stream->run, terms);
	stream->board.run = -1;
	put_up(stream, false);
}

const Receipt *
ledger_audit_stream_answer(LedgerAuditStream *stream)
{
	return stream->board.state == BOARD_OVER ? NULL : &stream->receipt;
}

static bool
audit_stream_stable(void *run, int64 distance)
{
	LedgerAuditStream *stream = run;
	int64			   noisy = stream_noisy_distance(stream->run.epsilon, distance);

	if (board_compare(&stream->board, noisy) == BOARD_PASSED)
		return true;
	/* Nobody else can have marked the board. */
	put_up(stream, !stream_run_next(&stream->run));
	return false;
}

static int64
audit_stream_failures_left(void *run)
{
	LedgerAuditStream *stream = run;

	return board_left(&stream->board, stream->run.unstable);
}

LedgerAuditStream *
ledger_audit_stream(const ModelRecord *made_up)
{
	static const StabilityTest stability_test = {audit_stream_stable, audit_stream_failures_left};
	LedgerAuditStream		  *stream = palloc0_object(LedgerAuditStream);

	check_made_up(made_up);
	stream->receipt.test = &stability_test;
	stream->receipt.run = stream;
	stream->board.state = BOARD_OVER;
	SpinLockInit(&stream->board.mutex);
	return stream;
}
