/*
 * memo.c
 *		Answers that are kept for good: writing them.
 *
 * The ledger's process writes them, so that they outlive the transaction in
 * which they were given, as their price does.
 */
#include "postgres.h"

#include "ledger/worker/worker.h"
#include "server/query.h"

/* Whoever trains or drops the model throws the answers away, and must not be waited for. */
static bool
are_thrown_away(const LedgerRequest *request)
{
	query_write("WITH free AS (SELECT FROM privpred.memo_size s WHERE s.model_id = $1 "
				"AND s.training_id = $2 AND s.role = $3 FOR NO KEY UPDATE SKIP LOCKED) "
				"SELECT EXISTS (SELECT FROM privpred.memo_size s WHERE s.model_id = $1 "
				"AND s.training_id = $2 AND s.role = $3) AND NOT EXISTS (SELECT FROM free)",
				ARG_INT8(request->model_id), ARG_INT8(request->training_id),
				ARG_OID(request->role));
	return row_bool(0, 1);
}

void
memo_keep(const LedgerRequest *request, LedgerReply *reply)
{
	const LedgerMemo *memo = &request->memo;
	text *question = cstring_to_text_with_len((const char *) memo->question, MEMO_QUESTION_SIZE);

	reply->outcome = OUTCOME_GRANTED;
	if (are_thrown_away(request))
		return;
	query_write(
		"WITH room AS (INSERT INTO privpred.memo_size AS s (model_id, training_id, role, entries) "
		"VALUES ($1, $2, $3, 1) ON CONFLICT (model_id, training_id, role) "
		"DO UPDATE SET entries = s.entries + 1 WHERE s.entries < $8 RETURNING 1) "
		"INSERT INTO privpred.memo (model_id, training_id, role, question, class_index, score, "
		"account_id) SELECT $1, $2, $3, $4, $5, $6, $7 FROM room ON CONFLICT DO NOTHING",
		ARG_INT8(request->model_id), ARG_INT8(request->training_id), ARG_OID(request->role),
		ARG_POINTER(BYTEAOID, question), ARG_IF(!memo->isnull, ARG_INT4(memo->class_index)),
		ARG_IF(!memo->isnull, ARG_FLOAT8(memo->score)), ARG_INT8(request->paid.account_id),
		ARG_INT4(request->want));
	reply->granted = SPI_processed > 0 ? 1 : 0;
}
