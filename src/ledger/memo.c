/*
 * memo.c
 *		Answers that are kept for good: a role's repeats of the same question are
 *		free in every session, until the model is trained anew.
 *
 * A question is known by its digest.  Once a role has as many answers as are
 * kept, no new ones are.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "executor/spi.h"
#include "utils/builtins.h"

#include "ledger/asking.h"
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
	Oid			   argtypes[] = {INT8OID, INT8OID, REGROLEOID, BYTEAOID};
	Datum		   args[lengthof(argtypes)];
	bool		   found;

	digest(question, size, memo->question);
	args[0] = Int64GetDatum(price->model_id);
	args[1] = Int64GetDatum(price->training_id);
	args[2] = ObjectIdGetDatum(role);
	args[3] = PointerGetDatum(
		cstring_to_text_with_len((const char *) memo->question, MEMO_QUESTION_SIZE));
	catalog_begin(&session);
	if (SPI_execute_with_args("SELECT m.class_index, m.score FROM privpred.memo m "
							  "JOIN privpred.account a USING (account_id) "
							  "WHERE m.model_id = $1 AND m.training_id = $2 AND m.role = $3 "
							  "AND m.question = $4 AND a.revoked_at IS NULL",
							  lengthof(argtypes), argtypes, args, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read remembered answers");
	found = SPI_processed > 0;
	if (found)
	{
		bool isnull;

		memo->class_index = DatumGetInt32(
			SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &memo->isnull));
		memo->score =
			DatumGetFloat8(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2, &isnull));
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
