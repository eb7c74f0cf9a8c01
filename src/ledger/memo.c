/*
 * memo.c
 *		Answers that are kept for good: a role's repeats of the same question are
 *		free in every session, until the model is trained anew.
 *
 * A question is known by its digest.  Once a role has as many answers as are
 * kept, no new ones are.
 */
#include "postgres.h"

#include "common/cryptohash.h"

#include "ledger/asking.h"
#include "server/query.h"
#include "server/session.h"

static void
digest(const void *question, Size size, uint8 result[MEMO_QUESTION_SIZE])
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);

	if (context == NULL || pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, question, size) < 0 ||
		pg_cryptohash_final(context, result, MEMO_QUESTION_SIZE) < 0)
		elog(ERROR, "could not compute the digest of a question");
	pg_cryptohash_free(context);
}

/* Only what an account has paid for that is still in force. */
bool
ledger_memo_find(const LedgerPrice *price, Oid role, const void *question, Size size,
				 LedgerMemo *memo)
{
	CatalogSession session;
	text		  *key;
	bool		   found;

	digest(question, size, memo->question);
	key = cstring_to_text_with_len((const char *) memo->question, MEMO_QUESTION_SIZE);
	catalog_begin(&session);
	query_read("SELECT m.class_index, m.score FROM privpred.memo m "
			   "JOIN privpred.account a USING (account_id) "
			   "WHERE m.model_id = $1 AND m.training_id = $2 AND m.role = $3 "
			   "AND m.question = $4 AND a.revoked_at IS NULL",
			   ARG_INT8(price->model_id), ARG_INT8(price->training_id), ARG_OID(role),
			   ARG_POINTER(BYTEAOID, key));
	found = SPI_processed > 0;
	if (found)
	{
		memo->isnull = row_isnull(0, 1);
		memo->class_index = row_int4(0, 1);
		memo->score = row_float8(0, 2);
	}
	catalog_end(&session);
	return found;
}

bool
ledger_memo_keep(const LedgerLease *lease, const LedgerMemo *memo, int limit)
{
	LedgerRequest request = {0};
	LedgerReply	  reply;

	ledger_lease_describe(lease, &request);
	request.kind = REQUEST_MEMO;
	request.want = limit;
	request.memo = *memo;
	reply = ledger_call(&request);
	return reply.outcome == OUTCOME_GRANTED && reply.granted > 0;
}

int64
ledger_memo_count(const LedgerPrice *price, Oid role)
{
	CatalogSession session;
	int64		   count;

	catalog_begin(&session);
	query_read("SELECT s.entries FROM privpred.memo_size s "
			   "WHERE s.model_id = $1 AND s.training_id = $2 AND s.role = $3",
			   ARG_INT8(price->model_id), ARG_INT8(price->training_id), ARG_OID(role));
	count = SPI_processed > 0 ? row_int4(0, 1) : 0;
	catalog_end(&session);
	return count;
}

/* Whoever keeps an answer at the same time does not wait for us (worker/memo.c). */
void
ledger_forget_memos(int64 model_id)
{
	catalog_write("WITH gone AS (DELETE FROM privpred.memo WHERE model_id = $1) "
				  "DELETE FROM privpred.memo_size WHERE model_id = $1",
				  ARG_INT8(model_id));
}
