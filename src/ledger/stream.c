/*
 * stream.c
 *		The asking side of streams, see stream.h.
 *
 * Answers are reserved in blocks, as leases are: first one, then as many as
 * the statement has used.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "draw/receipt_maker.h"
#include "ledger/asking.h"
#include "server/fault.h"
#include "server/query.h"
#include "server/session.h"

struct LedgerStream
{
	Receipt				  receipt;
	LedgerPrice			  price;
	Oid					  user;
	StreamReply			  held; /* id 0: nothing */
	LedgerPayment		  paid;
	int64				  first;   /* the stream that gave the first answer; 0: none yet */
	bool				  several; /* not one stream has given all that was used */
	int32				  unused;
	int64				  used;
	int64				  ceiling;	/* as the block's grant said */
	bool				  tested;	/* a test of the present answer has failed */
	int					  recorded; /* tests of the present answer that were written */
	uint64				  epoch;	/* as it was before the block was asked for */
	TimestampTz			  expires;
	bool				  softly;  /* a refusal is wanted, not an error */
	bool				  refused; /* there is one for the present answer */
	UsedUp				  used_up;
	MemoryContextCallback at_reset;
};

static bool	 stream_stable(void *run, int64 distance);
static int64 stream_failures_left(void *run);

static const StabilityTest stability_test = {stream_stable, stream_failures_left};

static LedgerRequest
request_about(RequestKind kind, const LedgerPrice *price, Oid role)
{
	LedgerRequest request = {.kind = kind};

	ledger_request_describe(&request, price, role);
	return request;
}

static bool
stream_has_ended(LedgerOutcome outcome)
{
	return outcome == OUTCOME_NO_STREAM || outcome == OUTCOME_STREAM_USED_UP ||
		   outcome == OUTCOME_STREAM_ANSWERS;
}

/* ---------- opening and closing ---------- */

int64
ledger_stream_open(const LedgerPrice *price, const StreamTerms *terms)
{
	LedgerRequest request = request_about(REQUEST_STREAM_OPEN, price, asking_role());
	LedgerReply	  reply;

	PreventCommandDuringRecovery("privpred.open_stream()");
	request.want = 1;
	request.stream.terms = *terms;
	reply = ledger_call(&request);
	ledger_report_refusal(price, request.role, &reply);
	return reply.stream.id;
}

void
ledger_stream_close(const LedgerPrice *price)
{
	LedgerRequest request = request_about(REQUEST_STREAM_CLOSE, price, asking_role());
	LedgerReply	  reply;

	PreventCommandDuringRecovery("privpred.close_stream()");
	reply = ledger_call(&request);
	/* What is used up is closed already. */
	if (stream_has_ended(reply.outcome))
		reply.outcome = OUTCOME_NO_STREAM;
	ledger_report_refusal(price, request.role, &reply);
}

/* ---------- answers ---------- */

/* Runs while transactions abort; a failure that was not recorded is on the board. */
static void
let_go(LedgerStream *stream)
{
	LedgerRequest request;

	if (stream->held.id == 0)
		return;
	request = request_about(REQUEST_STREAM_LEAVE, &stream->price, stream->user);
	request.stream.id = stream->held.id;
	request.stream.generation = stream->paid.generation;
	request.stream.leaves = true;
	request.stream.had_board = stream->held.board >= 0;
	request.answers = stream->unused;
	stream->held.id = 0;
	stream->unused = 0;
	ledger_post(&request);
}

static void
stream_reset(void *arg)
{
	let_go((LedgerStream *) arg);
}

LedgerStream *
ledger_stream_use(MemoryContext context, const LedgerPrice *price)
{
	LedgerStream *stream;

	PreventCommandDuringRecovery("private_predict()");
	(void) ledger_shared();

	stream = MemoryContextAllocZero(context, sizeof(LedgerStream));
	stream->receipt.test = &stability_test;
	stream->receipt.run = stream;
	stream->price = *price;
	stream->price.model_name = MemoryContextStrdup(context, price->model_name);
	stream->user = asking_role();
	stream->used_up.context = context;
	stream->at_reset.func = stream_reset;
	stream->at_reset.arg = stream;
	MemoryContextRegisterResetCallback(context, &stream->at_reset);
	return stream;
}

/* Asks for answers; the caller repeats it until there are some, or it is refused. */
static void
take_block(LedgerStream *stream, int64 allowed)
{
	LedgerRequest request = request_about(REQUEST_STREAM_TAKE, &stream->price, stream->user);
	LedgerReply	  reply;

	stream->epoch = pg_atomic_read_u64(&ledger_shared()->epoch);
	request.want = Max(1, Min(Min(stream->used, allowed), LEASE_MAX_ANSWERS));
	request.taken = statement_taken(stream->used);
	request.stream.id = stream->held.id;
	stream->refused = !ledger_call_granted(&stream->price, &request, &reply,
										   stream->softly ? &stream->used_up : NULL);
	if (stream->refused)
		return;

	stream->ceiling = reply.ceiling;
	stream->several |= stream->used > 0 && stream->first != reply.stream.id;
	if (stream->used == 0)
		stream->first = reply.stream.id;
	stream->held = reply.stream;
	stream->paid = reply.paid;
	stream->unused += reply.granted;
	stream->expires = Min(reply.valid_until, GetCurrentTimestamp() + LEASE_MAX_AGE_US);
	if (reply.stream.board < 0)
	{
		/* Whoever catches the error finds nothing held here. */
		let_go(stream);
		slot_reclaim_dropped_databases();
		ereport(
			ERROR, errcode(ERRCODE_INSUFFICIENT_RESOURCES),
			errmsg("too many streams are in use at the same time"),
			errdetail("All databases share %d places; a role may use as many as are free.",
					  LEDGER_BOARDS),
			errhint(
				"End statements and cursors of the role that use other streams, and try again."));
	}
}

/* Makes sure that the stream is held, for a role, with an answer to give, unless it is refused. */
static void
hold(LedgerStream *stream, Oid role, int64 allowed)
{
	LedgerShared *shared = ledger_shared();

	/* Another role, revoked, retrained, expired or merely old: ask again. */
	if (stream->user != role ||
		(stream->held.id != 0 && (stream->epoch != pg_atomic_read_u64(&shared->epoch) ||
								  ledger_time_has_come(stream->expires))))
		let_go(stream);
	stream->user = role;
	while (stream->unused == 0 && !stream->refused)
	{
		CHECK_FOR_INTERRUPTS();
		take_block(stream, allowed);
	}
}

LedgerRefusal
ledger_stream_refusal(const LedgerStream *stream)
{
	return stream->refused ? stream->used_up.message : NULL;
}

const Receipt *
ledger_stream_answer(LedgerStream *stream, LedgerRefusal *refusal)
{
	stream->softly = refusal != NULL;
	stream->refused = false;
	hold(stream, asking_role(), statement_allowance(stream->used));
	if (stream->refused)
	{
		*refusal = stream->used_up.message;
		return NULL;
	}
	if (unlikely(statement_taken(stream->used) >= stream->ceiling))
		ceiling_report(stream->ceiling);
	stream->unused--;
	stream->used++;
	statement_count_answer(false);
	stream->tested = false;
	stream->recorded = 0;
	return &stream->receipt;
}

void
ledger_stream_mark_paid(const LedgerPrice *price, const LedgerStream *stream)
{
	LedgerRequest request = request_about(REQUEST_MARK_PAID, price, stream->user);

	/* Whether the cap has paid is not known here; it may pay once more. */
	request.paid = stream->paid;
	if (!stream->several)
		ledger_call_mark_paid(price, &request);
}

void
ledger_stream_terms(const LedgerStream *stream, StreamTerms *terms)
{
	CatalogSession session;

	memset(terms, 0, sizeof(StreamTerms));
	if (stream->several)
		ereport(
			ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("the stream on model \"%s\" was closed meanwhile, and another took its place",
				   stream->price.model_name),
			errdetail("Answers that came through two streams cannot be priced together. "
					  "Both streams stay charged."),
			errhint("Try again, and let nobody close the stream before the end."));
	catalog_begin(&session);
	query_read("SELECT s.unstable_limit, s.epsilon_units, s.delta FROM privpred.stream s "
			   "WHERE s.stream_id = $1",
			   ARG_INT8(stream->held.id));
	if (SPI_processed != 1)
		elog(ERROR, "could not read stream " INT64_FORMAT, stream->held.id);
	terms->unstable = row_int4(0, 1);
	terms->epsilon = row_int8(0, 2);
	terms->delta = row_float8(0, 3);
	catalog_end(&session);
}

/* Has the failure on the board recorded, whosever it is; and a test of ours, if it was one. */
static void
have_test_recorded(LedgerStream *stream, bool tested)
{
	LedgerRequest request = request_about(REQUEST_STREAM_FAILED, &stream->price, stream->user);
	LedgerReply	  reply;

	CHECK_FOR_INTERRUPTS();
	request.stream.id = stream->held.id;
	request.stream.tested = tested;
	reply = ledger_call_counted(&stream->price, &request);
	ledger_report_refusal(&stream->price, stream->user, &reply);
	stream->recorded += tested ? 1 : 0;
}

/*
 * The stream was closed under us: perhaps there is another, else it is an
 * error.  Here the current user may be the owner, whose functions are teachers.
 */
static void
hold_another(LedgerStream *stream)
{
	let_go(stream);
	hold(stream, stream->user, 1);
	if (!stream->refused)
		stream->unused--;
}

static bool
stream_stable(void *run, int64 distance)
{
	LedgerStream *stream = run;

	while (!stream->refused)
	{
		int64 noisy = stream_noisy_distance(stream->held.epsilon, distance);

		switch (board_compare(&ledger_shared()->boards[stream->held.board], noisy))
		{
			case BOARD_PASSED:
				return true;
			case BOARD_NOT_PASSED:
				FAULT_POINT("stream_marked");
				stream->tested = true;
				have_test_recorded(stream, true);
				return false;
			case BOARD_WAITS:
				have_test_recorded(stream, false);
				break;
			case BOARD_CLOSED:
				/* In the middle of an answer: it stays unstable. */
				if (stream->tested)
					return false;
				hold_another(stream);
				break;
		}
	}
	return false; /* nothing will be answered */
}

static int64
stream_failures_left(void *run)
{
	const LedgerStream *stream = run;

	return stream->refused
			   ? 0
			   : board_left(&ledger_shared()->boards[stream->held.board], stream->held.unstable);
}

bool
ledger_stream_is_uniform(const LedgerStream *stream)
{
	return stream->held.uniform;
}

void
ledger_stream_even_out(LedgerStream *stream, int tests)
{
	while (stream->held.uniform && stream->recorded < tests)
		have_test_recorded(stream, true);
}
