/*
 * stream_book.c
 *		Streams as the ledger's process keeps them, see ledger/stream.h.
 *
 * As for accounts, row locks are never waited for; a function that returns
 * false has done nothing because of one.
 */
#include "postgres.h"

#include "catalog/by_id.h"
#include "ledger/worker/worker.h"
#include "server/query.h"

/* A row of privpred.stream. */
typedef struct Stream
{
	int64		id;
	int64		account_id;
	Oid			account_role;
	RenyiOrder	account_order;
	int32		version;
	bool		current; /* the model still has this version */
	Oid			opened_by;
	StreamRun	run;
	int64		answers; /* 0: no limit */
	int64		answers_used;
	int32		holders;	 /* call sites that use it */
	int64		incarnation; /* of the server that they use it in */
	const char *closed;		 /* why; NULL: open */
	bool		uniform;
} Stream;

/* ---------- reading and writing ---------- */

/* Reads a stream, open or closed, and locks its row. */
static Found
lock_stream(int64 id, Stream *stream)
{
	const ModelSale *model;
	int				 column = 0;

	query_write("SELECT s.account_id, a.role::oid, a.renyi_order, s.model_id, s.version, "
				"s.opened_by, s.unstable_limit, s.unstable_used, s.epsilon_units, s.width, "
				"s.threshold, s.answers_limit, s.answers_used, s.holders, s.incarnation, s.status, "
				"s.uniform FROM privpred.stream s JOIN privpred.account a USING (account_id) "
				"WHERE s.stream_id = $1 FOR NO KEY UPDATE OF s SKIP LOCKED",
				ARG_INT8(id));
	if (SPI_processed == 0)
	{
		query_write("SELECT FROM privpred.stream s WHERE s.stream_id = $1", ARG_INT8(id));
		return SPI_processed > 0 ? ACCOUNT_LOCKED : ACCOUNT_MISSING;
	}
	memset(stream, 0, sizeof(Stream));
	stream->id = id;
	stream->account_id = row_int8(0, ++column);
	stream->account_role = row_oid(0, ++column);
	stream->account_order = row_int8_or(0, ++column, RENYI_ORDER_INFINITE);
	model = model_sale(row_int8(0, ++column));
	stream->version = row_int4(0, ++column);
	stream->current = model != NULL && model->version == stream->version;
	stream->opened_by = row_oid(0, ++column);
	stream->run.unstable = row_int4(0, ++column);
	stream->run.failed = row_int4(0, ++column);
	stream->run.epsilon = row_int8(0, ++column);
	stream->run.width = row_int8(0, ++column);
	stream->run.threshold = row_int8(0, ++column);
	stream->answers = row_int8(0, ++column);
	stream->answers_used = row_int8(0, ++column);
	stream->holders = row_int4(0, ++column);
	stream->incarnation = row_int8(0, ++column);
	stream->closed = row_text(0, ++column);
	if (strcmp(stream->closed, "open") == 0)
		stream->closed = NULL;
	stream->uniform = row_bool(0, ++column);
	return ACCOUNT_FOUND;
}

/* A closed stream keeps no threshold. */
static void
write_stream(Batch *batch, const Stream *stream)
{
	const char *status = stream->closed != NULL ? stream->closed : "open";

	query_write("UPDATE privpred.stream s SET unstable_used = $2, threshold = $3, "
				"answers_used = $4, holders = $5, incarnation = $6, status = $7, "
				"closed_at = CASE WHEN $7 <> 'open' THEN coalesce(s.closed_at, $8) END "
				"WHERE s.stream_id = $1",
				ARG_INT8(stream->id), ARG_INT4(stream->run.failed),
				ARG_IF(stream->closed == NULL, ARG_INT8(stream->run.threshold)),
				ARG_INT8(stream->answers_used), ARG_INT4(stream->holders),
				ARG_IF(stream->holders > 0, ARG_INT8(stream->incarnation)), ARG_TEXT(status),
				ARG_TIME(batch->now));
}

static void
fill_reply(const Batch *batch, const Stream *stream, LedgerReply *reply)
{
	reply->paid.generation = batch->generation;
	reply->paid.account_role = stream->account_role;
	reply->paid.account_id = stream->account_id;
	reply->stream.id = stream->id;
	reply->stream.run = stream->run.failed;
	reply->stream.unstable = stream->run.unstable;
	reply->stream.over = stream->closed != NULL;
	reply->stream.uniform = stream->uniform;
	reply->stream.threshold = stream->run.threshold;
	reply->stream.epsilon = stream->run.epsilon;
}

/* Appends an entry about a stream. */
static void
note(Batch *batch, const LedgerRequest *request, const Stream *stream, const char *kind,
	 char *detail)
{
	LedgerEntry entry = {
		.account_id = stream->account_id, .order = stream->account_order, .detail = detail};

	book_append(batch, kind, request, &entry);
}

/* How many unstable answers it has given and, unless it is NULL, why there is an entry. */
static char *
failures_text(const Stream *stream, const char *why)
{
	return psprintf("stream " INT64_FORMAT ", %d of %d unstable answers%s%s", stream->id,
					stream->run.failed, stream->run.unstable, why ? ": " : "", why ? why : "");
}

/* ---------- what happens to a stream ---------- */

static void
close_it(Batch *batch, const LedgerRequest *request, Stream *stream, const char *why)
{
	stream->closed = why;
	note(batch, request, stream, "stream closed", failures_text(stream, why));
}

/* The threshold has seen a failure: another one, or none if it was the last. */
static void
count_failure(Batch *batch, const LedgerRequest *request, Stream *stream, const char *why)
{
	bool more = stream_run_next(&stream->run);

	/* A uniform stream says "tested" of every answer instead, below. */
	if (!stream->uniform || why != NULL)
		note(batch, request, stream, "unstable", failures_text(stream, why));
	if (!more)
		close_it(batch, request, stream, STREAM_USED_UP);
}

/* The same of all answers of a uniform stream, to the last byte. */
static void
note_test(Batch *batch, const LedgerRequest *request, const Stream *stream)
{
	note(batch, request, stream, "tested",
		 psprintf("stream " INT64_FORMAT ", %07d of %07d unstable answers", stream->id,
				  stream->run.failed, stream->run.unstable));
}

/* Brings a stream up to date with what has happened to it. */
static void
catch_up(Batch *batch, const LedgerRequest *request, Stream *stream)
{
	bool crashed = stream->holders > 0 && stream->incarnation != ledger_incarnation();

	if (crashed)
		stream->holders = 0;
	if (stream->closed != NULL)
		return;
	if (crashed)
		count_failure(batch, request, stream, "in use when the server stopped");
	else if (board_has_failed(batch->generation, stream->id, stream->run.failed))
		count_failure(batch, request, stream, NULL);
	if (stream->closed == NULL && !stream->current)
		close_it(batch, request, stream, "model changed");
}

/* ---------- which stream ---------- */

/* The outcome for a stream that was closed. */
static LedgerOutcome
closed_outcome(const char *status)
{
	if (strcmp(status, STREAM_USED_UP) == 0)
		return OUTCOME_STREAM_USED_UP;
	if (strcmp(status, STREAM_ANSWERED) == 0)
		return OUTCOME_STREAM_ANSWERS;
	return OUTCOME_NO_STREAM;
}

/*
 * The stream that a role may use: its own, else one of a group whose budget it
 * inherits.  0: none; *outcome says what became of the last one.
 */
static int64
choose_stream(const LedgerRequest *request, LedgerOutcome *outcome)
{
	int64 chosen = 0;

	*outcome = OUTCOME_NO_STREAM;
	query_write("SELECT s.stream_id, a.role::oid, s.status "
				"FROM privpred.stream s JOIN privpred.account a USING (account_id) "
				"WHERE s.model_id = $1 AND (s.status = 'open' OR s.version = $2) "
				"ORDER BY s.stream_id",
				ARG_INT8(request->model_id), ARG_INT4(request->version));
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		Oid			role = row_oid(row, 2);
		const char *status = row_text(row, 3);
		bool		own = role == request->role;

		if (!own && !role_inherits_budget_of(request->role, role))
			continue;
		if (strcmp(status, "open") != 0)
		{
			*outcome = closed_outcome(status);
			continue;
		}
		if (own || chosen == 0)
			chosen = row_int8(row, 1);
		if (own)
			return chosen;
	}
	return chosen;
}

/* Finds and locks what a request is about; sets the outcome unless it is found. */
static Found
find_stream(const LedgerRequest *request, LedgerReply *reply, Stream *stream)
{
	int64		  id = request->stream.id;
	LedgerOutcome otherwise = OUTCOME_NO_STREAM;
	Found		  found = ACCOUNT_MISSING;

	if (id == 0)
		id = choose_stream(request, &otherwise);
	if (id != 0)
		found = lock_stream(id, stream);
	if (found == ACCOUNT_MISSING)
		reply->outcome = otherwise;
	return found;
}

/* May answers be had from it now? */
static Found
check_stream(Batch *batch, const LedgerRequest *request, const Stream *stream, LedgerReply *reply)
{
	Account *account;

	if (book_account(batch, request->relation_id, stream->account_role, &account) == ACCOUNT_LOCKED)
		return ACCOUNT_LOCKED;
	reply->outcome = account != NULL && account->account_id == stream->account_id
						 ? account_outcome(account, batch->now)
						 : OUTCOME_NO_BUDGET;
	if (reply->outcome != OUTCOME_GRANTED)
		return ACCOUNT_FOUND;
	reply->valid_until = account->valid_until;
	if (stream->closed != NULL)
		reply->outcome = closed_outcome(stream->closed);
	else if (stream->version != request->version)
		reply->outcome = OUTCOME_STREAM_VERSION;
	else if (stream->answers > 0 && stream->answers_used >= stream->answers)
		reply->outcome = OUTCOME_STREAM_ANSWERS;
	return ACCOUNT_FOUND;
}

/* ---------- requests ---------- */

/* A block of answers for a session, which holds the stream from the first on. */
static Found
grant_answers(Batch *batch, const LedgerRequest *request, Stream *stream, LedgerReply *reply)
{
	if (check_stream(batch, request, stream, reply) == ACCOUNT_LOCKED)
		return ACCOUNT_LOCKED;
	if (reply->outcome != OUTCOME_GRANTED)
		return ACCOUNT_FOUND;
	reply->ceiling = ceiling_of(request->role, stream->account_role);
	if (request->taken >= reply->ceiling)
	{
		reply->outcome = OUTCOME_CEILING;
		return ACCOUNT_FOUND;
	}
	reply->granted = Min(request->want, reply->ceiling - request->taken);
	if (stream->answers > 0)
		reply->granted =
			Max(1, Min(reply->granted, (stream->answers - stream->answers_used) / LEASE_SHARE));
	stream->answers_used += reply->granted;
	if (request->stream.id == 0)
	{
		stream->holders++;
		stream->incarnation = ledger_incarnation();
	}
	return ACCOUNT_FOUND;
}

/* Unused answers come back, and the session with them if it leaves. */
static void
return_answers(Batch *batch, const LedgerRequest *request, Stream *stream)
{
	stream->answers_used = Max(stream->answers_used - request->answers, 0);
	if (request->stream.leaves && stream->holders > 0)
		stream->holders--;
	if (stream->closed == NULL && stream->holders == 0 && stream->answers > 0 &&
		stream->answers_used >= stream->answers)
		close_it(batch, request, stream, STREAM_ANSWERED);
}

/* By whoever opened it, or whose budget paid. */
static bool
may_close(const LedgerRequest *request, const Stream *stream, LedgerReply *reply)
{
	if (request->role == stream->account_role || request->role == stream->opened_by)
		return true;
	reply->outcome = OUTCOME_STREAM_OF_OTHERS;
	reply->paid.account_role = stream->account_role;
	return false;
}

bool
stream_book_serve(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
{
	Stream stream;
	Found  found;
	Found  account = ACCOUNT_FOUND;

	if (request->kind == REQUEST_STREAM_LEAVE && request->stream.generation != batch->generation)
		return true; /* the extension was dropped in between */
	found = find_stream(request, reply, &stream);
	if (found != ACCOUNT_FOUND)
		return found == ACCOUNT_MISSING;
	if (request->kind == REQUEST_STREAM_CLOSE && !may_close(request, &stream, reply))
		return true;
	catch_up(batch, request, &stream);
	if (request->stream.tested && stream.uniform)
		note_test(batch, request, &stream);
	if (request->kind == REQUEST_STREAM_TAKE)
		account = grant_answers(batch, request, &stream, reply);
	if (request->kind == REQUEST_STREAM_LEAVE)
		return_answers(batch, request, &stream);
	if (request->kind == REQUEST_STREAM_CLOSE && stream.closed == NULL)
		close_it(batch, request, &stream, "closed");
	/* What it has caught up with is in the chain, and must be here. */
	fill_reply(batch, &stream, reply);
	write_stream(batch, &stream);
	return account != ACCOUNT_LOCKED;
}

/* ---------- buying one ---------- */

/*
 * Before an account pays: may it have a stream on this version of the model?
 * One that has outlived its version makes room.  Sets the outcome if it may
 * not; false if a row is locked.
 */
static bool
make_room(Batch *batch, const LedgerRequest *request, int64 account_id, LedgerReply *reply)
{
	const ModelSale *model = model_sale(request->model_id);
	Stream			 stream;
	Found			 found;

	if (model == NULL || model->version != request->version)
	{
		reply->outcome = OUTCOME_STREAM_VERSION;
		return true;
	}
	query_write("SELECT s.stream_id FROM privpred.stream s WHERE s.model_id = $1 "
				"AND s.account_id = $2 AND s.status = 'open'",
				ARG_INT8(request->model_id), ARG_INT8(account_id));
	if (SPI_processed == 0)
		return true;
	found = lock_stream(row_int8(0, 1), &stream);
	if (found != ACCOUNT_FOUND)
		return found == ACCOUNT_MISSING;
	catch_up(batch, request, &stream);
	if (stream.closed == NULL)
	{
		reply->outcome = OUTCOME_STREAM_EXISTS;
		reply->paid.account_role = stream.account_role;
	}
	write_stream(batch, &stream);
	return true;
}

/* Once it is paid for; returns what the ledger says about it. */
static char *
insert_stream(Batch *batch, const LedgerRequest *request, int64 account_id, LedgerReply *reply)
{
	const StreamTerms *terms = &request->stream.terms;
	const ModelSale	  *model = model_sale(request->model_id);
	StreamRun		   run;

	stream_run_first(&run, terms);
	query_write("INSERT INTO privpred.stream (account_id, relation_id, model_id, model, version, "
				"opened_by, unstable_limit, epsilon_units, delta, width, threshold, "
				"answers_limit, opened_at, uniform) "
				"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) "
				"RETURNING stream_id",
				ARG_INT8(account_id), ARG_INT8(request->relation_id), ARG_INT8(request->model_id),
				ARG_TEXT(model->name), ARG_INT4(request->version), ARG_OID(request->role),
				ARG_INT4(terms->unstable), ARG_INT8(terms->epsilon), ARG_FLOAT8(terms->delta),
				ARG_INT8(run.width), ARG_INT8(run.threshold),
				ARG_IF(terms->answers > 0, ARG_INT8(terms->answers)), ARG_TIME(batch->now),
				ARG_BOOL(terms->uniform));
	reply->stream.id = row_int8(0, 1);
	return psprintf("stream " INT64_FORMAT ", %d unstable answers, width " INT64_FORMAT,
					reply->stream.id, terms->unstable, run.width);
}

bool
stream_book_buy(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
{
	Account		 *payer = NULL;
	Account		 *cap;
	const Charge *drawn;
	LedgerEntry	  entry = {0};

	if (book_account(batch, request->relation_id, CAP_ROLE, &cap) == ACCOUNT_LOCKED ||
		payer_choose(batch, request, reply, &payer) == ACCOUNT_LOCKED)
		return false;
	if (payer == NULL)
		return true;
	drawn = payer_charge(request, payer);
	if (payer_refuses(reply, payer, cap, drawn))
		return true;
	if (!make_room(batch, request, payer->account_id, reply))
		return false;
	if (reply->outcome != OUTCOME_GRANTED)
		return true;

	payer_pay(payer, cap, drawn, 1, &entry);
	entry.detail = insert_stream(batch, request, payer->account_id, reply);
	book_append(batch, "stream", request, &entry);
	return true;
}
