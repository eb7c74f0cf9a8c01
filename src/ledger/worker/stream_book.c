/*
 * stream_book.c
 *		What the ledger's process does about streams, see stream.h.
 *
 * As for accounts, row locks are never waited for; a function that returns
 * false has done nothing because of one.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"

#include "ledger/worker/worker.h"

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
	bool		was_closed;
	bool		uniform;
} Stream;

static SPIPlanPtr candidates_plan = NULL;
static SPIPlanPtr lock_plan = NULL;
static SPIPlanPtr exists_plan = NULL;
static SPIPlanPtr write_plan = NULL;
static SPIPlanPtr insert_plan = NULL;
static SPIPlanPtr version_plan = NULL;

void
stream_book_forget(void)
{
	SPIPlanPtr *plans[] = {&candidates_plan, &lock_plan,   &exists_plan,
						   &write_plan,		 &insert_plan, &version_plan};

	for (int i = 0; i < lengthof(plans); i++)
	{
		if (*plans[i] != NULL)
			SPI_freeplan(*plans[i]);
		*plans[i] = NULL;
	}
}

/* ---------- reading and writing ---------- */

static Datum
value_of(int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, isnull);
}

static int64
int8_of(int column, int64 absent)
{
	bool  isnull;
	Datum value = value_of(column, &isnull);

	return isnull ? absent : DatumGetInt64(value);
}

static int32
int4_of(int column)
{
	bool isnull;

	return DatumGetInt32(value_of(column, &isnull));
}

static Oid
oid_of(int column)
{
	bool isnull;

	return DatumGetObjectId(value_of(column, &isnull));
}

/* Reads a stream, open or closed, and locks its row. */
static Found
lock_stream(int64 id, Stream *stream)
{
	Oid	  argtypes[] = {INT8OID};
	Datum args[] = {Int64GetDatum(id)};
	bool  isnull;

	book_run(&lock_plan,
			 "SELECT s.stream_id, s.account_id, a.role, a.renyi_order, s.version, "
			 "m.version IS NOT DISTINCT FROM s.version, s.opened_by, s.unstable_limit, "
			 "s.unstable_used, s.epsilon_units, s.width, s.threshold, s.answers_limit, "
			 "s.answers_used, s.holders, s.incarnation, s.status, s.uniform "
			 "FROM privpred.stream s JOIN privpred.account a ON a.account_id = s.account_id "
			 "LEFT JOIN privpred.model m ON m.model_id = s.model_id "
			 "WHERE s.stream_id = $1 FOR NO KEY UPDATE OF s SKIP LOCKED",
			 1, argtypes, args, NULL);
	if (SPI_processed == 0)
	{
		book_run(&exists_plan, "SELECT FROM privpred.stream s WHERE s.stream_id = $1", 1, argtypes,
				 args, NULL);
		return SPI_processed > 0 ? ACCOUNT_LOCKED : ACCOUNT_MISSING;
	}
	memset(stream, 0, sizeof(Stream));
	stream->id = id;
	stream->account_id = int8_of(2, 0);
	stream->account_role = oid_of(3);
	stream->account_order = int8_of(4, RENYI_ORDER_INFINITE);
	stream->version = int4_of(5);
	stream->current = DatumGetBool(value_of(6, &isnull));
	stream->opened_by = oid_of(7);
	stream->run.unstable = int4_of(8);
	stream->run.failed = int4_of(9);
	stream->run.epsilon = int8_of(10, 0);
	stream->run.width = int8_of(11, 0);
	stream->run.threshold = int8_of(12, 0);
	stream->answers = int8_of(13, 0);
	stream->answers_used = int8_of(14, 0);
	stream->holders = int4_of(15);
	stream->incarnation = int8_of(16, 0);
	stream->closed = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 17);
	if (strcmp(stream->closed, "open") == 0)
		stream->closed = NULL;
	stream->was_closed = stream->closed != NULL;
	stream->uniform = DatumGetBool(value_of(18, &isnull));
	return ACCOUNT_FOUND;
}

/* A closed stream keeps no threshold. */
static void
write_stream(Batch *batch, const Stream *stream)
{
	Oid	  argtypes[] = {INT8OID, INT4OID, INT8OID, INT8OID,
						INT4OID, INT8OID, TEXTOID, TIMESTAMPTZOID};
	char  nulls[] = "        ";
	Datum args[8];

	args[0] = Int64GetDatum(stream->id);
	args[1] = Int32GetDatum(stream->run.failed);
	args[2] = Int64GetDatum(stream->run.threshold);
	nulls[2] = stream->closed == NULL ? ' ' : 'n';
	args[3] = Int64GetDatum(stream->answers_used);
	args[4] = Int32GetDatum(stream->holders);
	args[5] = Int64GetDatum(stream->incarnation);
	nulls[5] = stream->holders > 0 ? ' ' : 'n';
	args[6] = CStringGetTextDatum(stream->closed ? stream->closed : "open");
	args[7] = TimestampTzGetDatum(batch->now);
	book_run(&write_plan,
			 "UPDATE privpred.stream s SET unstable_used = $2, threshold = $3, answers_used = $4, "
			 "holders = $5, incarnation = $6, status = $7, "
			 "closed_at = CASE WHEN $7 <> 'open' THEN coalesce(s.closed_at, $8) END "
			 "WHERE s.stream_id = $1",
			 8, argtypes, args, nulls);
}

static void
fill_reply(const Batch *batch, const Stream *stream, LedgerReply *reply)
{
	reply->generation = batch->generation;
	reply->account_role = stream->account_role;
	reply->account_id = stream->account_id;
	reply->stream.id = stream->id;
	reply->stream.run = stream->run.failed;
	reply->stream.unstable = stream->run.unstable;
	reply->stream.over = stream->closed != NULL;
	reply->stream.uniform = stream->uniform;
	reply->stream.threshold = stream->run.threshold;
	reply->stream.epsilon = stream->run.epsilon;
}

static void
note(Batch *batch, const LedgerRequest *request, const Stream *stream, const char *kind,
	 const char *why)
{
	LedgerEntry entry = {0};

	entry.account_id = stream->account_id;
	entry.order = stream->account_order;
	entry.detail =
		psprintf("stream " INT64_FORMAT ", %d of %d unstable answers%s%s", stream->id,
				 stream->run.failed, stream->run.unstable, why ? ": " : "", why ? why : "");
	book_append(batch, kind, request, &entry);
}

/* ---------- what happens to a stream ---------- */

static void
close_it(Batch *batch, const LedgerRequest *request, Stream *stream, const char *why)
{
	stream->closed = why;
	note(batch, request, stream, "stream closed", why);
}

/* The threshold has seen a failure: another one, or none if it was the last. */
static void
count_failure(Batch *batch, const LedgerRequest *request, Stream *stream, const char *why)
{
	bool more = stream_run_next(&stream->run);

	/* A uniform stream says "tested" of every answer instead, below. */
	if (!stream->uniform || why != NULL)
		note(batch, request, stream, "unstable", why);
	if (!more)
		close_it(batch, request, stream, STREAM_USED_UP);
}

/* The same of all answers of a uniform stream, to the last byte. */
static void
note_test(Batch *batch, const LedgerRequest *request, const Stream *stream)
{
	LedgerEntry entry = {0};

	entry.account_id = stream->account_id;
	entry.order = stream->account_order;
	entry.detail = psprintf("stream " INT64_FORMAT ", %07d of %07d unstable answers", stream->id,
							stream->run.failed, stream->run.unstable);
	book_append(batch, "tested", request, &entry);
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

/* What to say of a stream that was closed. */
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
	Oid	  argtypes[] = {INT8OID, INT4OID};
	Datum args[] = {Int64GetDatum(request->model_id), Int32GetDatum(request->version)};
	int64 chosen = 0;

	*outcome = OUTCOME_NO_STREAM;
	book_run(&candidates_plan,
			 "SELECT s.stream_id, a.role::oid, s.status "
			 "FROM privpred.stream s JOIN privpred.account a ON a.account_id = s.account_id "
			 "WHERE s.model_id = $1 AND (s.status = 'open' OR s.version = $2) "
			 "ORDER BY s.stream_id",
			 2, argtypes, args, NULL);
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[row];
		TupleDesc	columns = SPI_tuptable->tupdesc;
		bool		isnull;
		Oid			role = DatumGetObjectId(SPI_getbinval(tuple, columns, 2, &isnull));
		bool		own = role == request->role;
		const char *status = SPI_getvalue(tuple, columns, 3);

		if (!own && !role_inherits_budget_of(request->role, role))
			continue;
		if (strcmp(status, "open") != 0)
		{
			*outcome = closed_outcome(status);
			continue;
		}
		if (own || chosen == 0)
			chosen = DatumGetInt64(SPI_getbinval(tuple, columns, 1, &isnull));
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
						 ? account_status(account, batch->now)
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
	reply->account_role = stream->account_role;
	return false;
}

/* What is done with a stream that there is. */
static bool
serve_stream(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
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
	Oid	   argtypes[] = {INT8OID, INT8OID};
	Datum  args[] = {Int64GetDatum(account_id), Int64GetDatum(request->model_id)};
	Stream stream;
	Found  found;

	book_run(&version_plan,
			 "SELECT m.version, s.stream_id FROM privpred.model m LEFT JOIN privpred.stream s "
			 "ON s.model_id = m.model_id AND s.account_id = $1 AND s.status = 'open' "
			 "WHERE m.model_id = $2",
			 2, argtypes, args, NULL);
	if (SPI_processed == 0 || int4_of(1) != request->version)
	{
		reply->outcome = OUTCOME_STREAM_VERSION;
		return true;
	}
	if (int8_of(2, 0) == 0)
		return true;
	found = lock_stream(int8_of(2, 0), &stream);
	if (found != ACCOUNT_FOUND)
		return found == ACCOUNT_MISSING;
	catch_up(batch, request, &stream);
	if (stream.closed == NULL)
	{
		reply->outcome = OUTCOME_STREAM_EXISTS;
		reply->account_role = stream.account_role;
	}
	write_stream(batch, &stream);
	return true;
}

/* Once it is paid for; returns what the ledger says about it. */
static char *
insert_stream(Batch *batch, const LedgerRequest *request, int64 account_id, LedgerReply *reply)
{
	const StreamTerms *terms = &request->stream.terms;
	Oid		  argtypes[] = {INT8OID,   INT8OID, INT8OID, INT4OID, OIDOID,		  INT4OID, INT8OID,
							FLOAT8OID, INT8OID, INT8OID, INT8OID, TIMESTAMPTZOID, BOOLOID};
	char	  nulls[] = "             ";
	Datum	  args[lengthof(argtypes)];
	StreamRun run;

	stream_run_first(&run, terms);
	args[0] = Int64GetDatum(account_id);
	args[1] = Int64GetDatum(request->relation_id);
	args[2] = Int64GetDatum(request->model_id);
	args[3] = Int32GetDatum(request->version);
	args[4] = ObjectIdGetDatum(request->role);
	args[5] = Int32GetDatum(terms->unstable);
	args[6] = Int64GetDatum(terms->epsilon);
	args[7] = Float8GetDatum(terms->delta);
	args[8] = Int64GetDatum(run.width);
	args[9] = Int64GetDatum(run.threshold);
	args[10] = Int64GetDatum(terms->answers);
	nulls[10] = terms->answers > 0 ? ' ' : 'n';
	args[11] = TimestampTzGetDatum(batch->now);
	args[12] = BoolGetDatum(terms->uniform);
	book_run(&insert_plan,
			 "INSERT INTO privpred.stream (account_id, relation_id, model_id, model, version, "
			 "opened_by, unstable_limit, epsilon_units, delta, width, threshold, answers_limit, "
			 "opened_at, uniform) "
			 "SELECT $1, $2, $3, m.name, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 "
			 "FROM privpred.model m WHERE m.model_id = $3 RETURNING stream_id",
			 lengthof(argtypes), argtypes, args, nulls);
	reply->stream.id = int8_of(1, 0);
	return psprintf("stream " INT64_FORMAT ", %d unstable answers, width " INT64_FORMAT,
					reply->stream.id, terms->unstable, run.width);
}

/* Stays bought, even if the client has gone before it knows. */
static bool
buy_stream(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
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

bool
stream_book_serve(Batch *batch, const LedgerRequest *request, LedgerReply *reply)
{
	if (request->kind == REQUEST_STREAM_OPEN)
		return buy_stream(batch, request, reply);
	return serve_stream(batch, request, reply);
}
